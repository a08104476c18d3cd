//! Texts as inputs: token ids, protected terms in them, and their variants.
//!
//! A row begins with the number of the text that it was made of ([`Source`]); then the ids of its
//! tokens, of the model's vocabulary, and [`PADDING`] up to the width. A search replaces tokens that
//! are free in the source and no others, so that everything that the source says of places holds in
//! the row. A *variant* is the text after one of the source's exchanges. Variant 0 is the text
//! itself. The others are numbered by site, and within one by rank: the exchange that moves the
//! model most comes first ([`Source::rank`]).
//!
//! Two texts are the same individual when they are equal once the tokens of every site are replaced
//! by the mark of its class.

use std::sync::Arc;

use rand::RngExt;

use super::source::{Exchange, Site, Source};
use crate::domain::{Domain, DomainError, KEY_BITS, MAX_VARIANTS};
pub use probity_nn::text::PADDING;
use probity_nn::text::without_padding;
use probity_run::stream::{Purpose, stream};

/// The texts of an audit.
///
/// Keys are 124 bits of XXH3 over the ids, whose chance of any collision among a billion texts is
/// below 10⁻¹⁹.
#[derive(Debug, Clone)]
pub struct TextDomain {
    tokens: usize,
    sources: Arc<Vec<Source>>,
    inputs: Arc<Vec<u32>>,
    /// The attributes whose values are exchanged; all where nothing is said.
    attributes: Option<Vec<usize>>,
}

/// The tokens in a row.
pub fn text_of(row: &[i32]) -> &[i32] {
    without_padding(row.get(1..).unwrap_or_default())
}

/// The number of the text that a row was made of.
pub(super) fn source_of(row: &[i32]) -> Option<usize> {
    row.first().and_then(|&source| usize::try_from(source).ok())
}

impl TextDomain {
    /// The domain of what can be made of `sources`, in rows of as many tokens as that takes, but at
    /// least `tokens`; `inputs` are the texts, by number, that [`Domain::random_input`] draws from.
    ///
    /// # Errors
    /// When a text has more than 65,536 variants.
    pub fn new(
        tokens: usize,
        sources: Arc<Vec<Source>>,
        inputs: Arc<Vec<u32>>,
    ) -> Result<TextDomain, DomainError> {
        let most = sources.iter().map(|source| 1 + source.exchanges()).max();
        if let Some(variants) = most.filter(|&most| most > MAX_VARIANTS) {
            return Err(DomainError::TooManyVariants {
                variants: variants as u128,
            });
        }
        let needed = sources.iter().map(|s| s.ids.len() + s.growth()).max();
        Ok(TextDomain {
            tokens: tokens.max(needed.unwrap_or(0)),
            sources,
            inputs,
            attributes: None,
        })
    }

    /// The domain of all of `sources`.
    ///
    /// # Errors
    /// Like [`TextDomain::new`].
    pub fn from_sources(sources: Vec<Source>) -> Result<TextDomain, DomainError> {
        let inputs = (0u32..).take(sources.len()).collect();
        TextDomain::new(1, Arc::new(sources), Arc::new(inputs))
    }

    /// Returns these texts with values of `attributes` alone exchanged, and with these `inputs`.
    #[must_use]
    pub fn only(&self, attributes: Vec<usize>, inputs: Vec<u32>) -> TextDomain {
        TextDomain {
            tokens: self.tokens,
            sources: Arc::clone(&self.sources),
            inputs: Arc::new(inputs),
            attributes: Some(attributes),
        }
    }

    /// The sites of `source` whose values are exchanged.
    fn sites<'s>(&'s self, source: &'s Source) -> impl Iterator<Item = &'s Site> {
        let is_exchanged = |site: &&Site| {
            let attributes = self.attributes.as_ref();
            attributes.is_none_or(|attributes| attributes.contains(&site.attribute))
        };
        source.sites.iter().filter(is_exchanged)
    }

    /// Number of tokens that a row has room for.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Puts the exchanges first in every text that have the most `influence`; see [`Source::rank`].
    pub fn rank(&mut self, influence: &[f32]) {
        let sources = Arc::make_mut(&mut self.sources).iter_mut();
        sources.for_each(|source| source.rank(influence));
    }

    /// The texts.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The texts, shared.
    pub(super) fn shared_sources(&self) -> Arc<Vec<Source>> {
        Arc::clone(&self.sources)
    }

    /// The texts that [`Domain::random_input`] draws from, by number.
    pub fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// The text that `row` was made of.
    pub fn source(&self, row: &[i32]) -> Option<&Source> {
        self.sources.get(source_of(row)?)
    }

    /// The row of the text of that number; nothing but padding if there is none.
    pub fn row(&self, source: u32) -> Vec<i32> {
        let mut row = vec![source as i32];
        if let Some(source) = self.sources.get(source as usize) {
            row.extend_from_slice(&source.ids);
        }
        row.resize(1 + self.tokens, PADDING);
        row
    }

    /// The rows of all texts, one after another.
    pub fn rows(&self) -> Vec<i32> {
        (0u32..)
            .take(self.sources.len())
            .flat_map(|source| self.row(source))
            .collect()
    }

    /// The exchange that variant `variant` of `row` makes, with its site; `None` for the text
    /// itself.
    pub fn exchange(&self, row: &[i32], variant: usize) -> Option<(&Site, &Exchange)> {
        let mut left = variant.checked_sub(1)?;
        for site in self.sites(self.source(row)?) {
            if let Some(exchange) = site.exchanges.get(left) {
                return Some((site, exchange));
            }
            left -= site.exchanges.len();
        }
        None
    }

    /// The tokens of `row` that no exchange changes.
    pub fn unprotected(&self, row: &[i32]) -> Vec<i32> {
        let mut tokens = self.masked(row);
        tokens.retain(|&token| token > PADDING);
        tokens
    }

    /// The tokens of `row`, with those of every site replaced by the mark of its class.
    fn masked(&self, row: &[i32]) -> Vec<i32> {
        let text = text_of(row);
        let mut masked: Vec<i32> = Vec::with_capacity(text.len());
        let mut position = 0;
        let sites = self.source(row).into_iter();
        let mut spans: Vec<_> = sites
            .flat_map(|source| self.sites(source))
            .flat_map(|site| site.spans.iter().map(move |span| (span, site.class)))
            .collect();
        spans.sort_by_key(|(span, _)| (span.start, span.end));
        for (span, class) in spans {
            if span.start < position {
                continue;
            }
            masked.extend_from_slice(&text[position..span.start]);
            // Marks lie below the padding, so that no token equals one.
            masked.push(PADDING - 1 - class as i32);
            position = span.end;
        }
        masked.extend_from_slice(&text[position..]);
        masked
    }
}

impl Domain for TextDomain {
    fn width(&self) -> usize {
        1 + self.tokens
    }

    /// Whether the row may be an input: the model knows which tokens there are.
    fn contains(&self, row: &[i32]) -> bool {
        let text = text_of(row);
        row.len() == self.width()
            && text.iter().all(|&id| id > PADDING)
            && self.source(row).is_some_and(|source| source.is_made(text))
    }

    fn variants(&self, row: &[i32]) -> usize {
        let Some(source) = self.source(row) else {
            return 1;
        };
        let exchanges = self.sites(source).map(|site| site.exchanges.len());
        1 + exchanges.sum::<usize>()
    }

    fn own_variant(&self, _row: &[i32]) -> usize {
        0
    }

    fn write_variant(&self, row: &[i32], variant: usize, out: &mut Vec<i32>) {
        let Some((_, exchange)) = self.exchange(row, variant) else {
            out.extend_from_slice(row);
            return;
        };
        let end = out.len() + self.width();
        out.push(row[0]);
        exchange.write(text_of(row), out);
        out.resize(end, PADDING);
    }

    fn is_ranked(&self) -> bool {
        true
    }

    fn row_key(&self, row: &[i32]) -> u128 {
        key(text_of(row).iter().copied())
    }

    fn individual_key(&self, row: &[i32]) -> u128 {
        key(self.masked(row).into_iter())
    }

    /// The `item`-th of the inputs that the domain was given; beyond the last one, uniform draws
    /// among them.
    fn random_input(&self, seed: u64, item: u64) -> Vec<i32> {
        let count = self.inputs.len() as u64;
        let number = if item < count {
            item
        } else {
            stream(seed, Purpose::UniformInput, item, 0).random_range(0..count.max(1))
        };
        self.inputs
            .get(number as usize)
            .map_or_else(Vec::new, |&source| self.row(source))
    }
}

fn key(ids: impl Iterator<Item = i32>) -> u128 {
    let bytes: Vec<u8> = ids.flat_map(i32::to_le_bytes).collect();
    xxhash_rust::xxh3::xxh3_128(&bytes) >> (128 - KEY_BITS)
}

#[cfg(test)]
mod tests {
    use super::super::terms::{Term, Terms};
    use super::*;
    use std::collections::HashSet;

    /// Countries 1, 2, "3 4" (two tokens); he 5, she 6; his 7, her 8, him 9.
    fn terms() -> Terms {
        let term = |attribute, tokens: &[i32], others: &[u32]| Term {
            attribute,
            value: 0,
            spelled: String::new(),
            tokens: tokens.to_vec(),
            others: others.to_vec(),
        };
        Terms::new(vec![
            term(0, &[1], &[1, 2]),
            term(0, &[2], &[0, 2]),
            term(0, &[3, 4], &[0, 1]),
            term(1, &[5], &[4]),
            term(1, &[6], &[3]),
            term(1, &[7], &[6]),
            term(1, &[8], &[5, 7]),
            term(1, &[9], &[6]),
        ])
    }

    fn source(text: &[i32]) -> Source {
        Source::new(text.to_vec(), terms().sites(text), Vec::new())
    }

    fn domain(texts: &[&[i32]]) -> TextDomain {
        TextDomain::from_sources(texts.iter().map(|text| source(text)).collect()).unwrap()
    }

    /// Whole texts, cut after an exchange, are windows cut after it.
    #[test]
    fn a_window_holds_all_that_is_read_after_an_exchange() {
        let mut seen = 0;
        for number in 0..2000_u64 {
            let mut draw = stream(number, Purpose::UniformInput, 1, 0);
            let length = draw.random_range(1..20);
            let text: Vec<i32> = (0..length).map(|_| draw.random_range(1..12)).collect();
            let reads = draw.random_range(1..15);
            let whole = source(&text);
            let window = whole.window(reads);
            let all = |source: &Source| -> HashSet<Vec<i32>> {
                let domain = TextDomain::from_sources(vec![source.clone()]).unwrap();
                let row = domain.row(0);
                (0..domain.variants(&row))
                    .map(|variant| {
                        let mut other = Vec::new();
                        domain.write_variant(&row, variant, &mut other);
                        let other = text_of(&other);
                        other[..other.len().min(reads)].to_vec()
                    })
                    .collect()
            };
            assert_eq!(all(&window), all(&whole), "case {number}");
            let mut sites = whole.sites.iter();
            let begins = |site: &Site| site.spans[0].start < reads;
            assert_eq!(window.can_vary(), sites.any(begins));
            seen += usize::from(window.ids.len() < text.len());
        }
        assert!(seen > 300, "{seen}");
    }

    #[test]
    fn every_variant_makes_one_exchange_and_keeps_the_individual() {
        let text = [1, 10, 3, 4, 8, 11];
        let domain = domain(&[&text]);
        let row = domain.row(0);
        assert_eq!(domain.variants(&row), 1 + 2 + 2 + 2);
        let mut seen = HashSet::new();
        let mut texts = Vec::new();
        for variant in 0..domain.variants(&row) {
            let mut other = Vec::new();
            domain.write_variant(&row, variant, &mut other);
            assert_eq!(other.len(), domain.width());
            assert!(seen.insert(domain.row_key(&other)));
            let alone = self::domain(&[text_of(&other)]);
            assert_eq!(
                alone.individual_key(&alone.row(0)),
                domain.individual_key(&row)
            );
            if let Some((_, exchange)) = domain.exchange(&row, variant) {
                for (position, &id) in text_of(&row).iter().enumerate() {
                    if let Some(there) = exchange.position_in(position) {
                        assert_eq!(text_of(&other)[there], id);
                    }
                }
            }
            texts.push(text_of(&other).to_vec());
        }
        assert_eq!(texts[0], [1, 10, 3, 4, 8, 11]);
        assert_eq!(texts[2], [3, 4, 10, 3, 4, 8, 11]);
        assert_eq!(texts[4], [1, 10, 2, 8, 11]);
        assert_eq!(texts[6], [1, 10, 3, 4, 9, 11]);
    }

    #[test]
    fn rows_are_made_of_their_sources() {
        let domain = domain(&[&[1, 10, 11], &[9, 10]]);
        let row = domain.row(0);
        assert!(domain.contains(&row));
        let with = |place: usize, id: i32| {
            let mut other = row.clone();
            other[place] = id;
            domain.contains(&other)
        };
        assert!(with(2, 12), "a free word");
        assert!(!with(1, 2), "a protected term");
        assert!(!with(0, 1), "another text");
        assert!(!with(0, 2), "no text");
        assert!(!with(4, 10), "a longer text");
    }

    #[test]
    fn terms_that_cannot_become_each_other_are_different_people() {
        let key = |text: &[i32]| {
            let domain = domain(&[text]);
            domain.individual_key(&domain.row(0))
        };
        assert_eq!(key(&[5, 10]), key(&[6, 10]));
        assert_eq!(key(&[7, 10]), key(&[9, 10]), "his, her, him interchange");
        assert_ne!(key(&[5, 10]), key(&[7, 10]));
        assert_ne!(key(&[1, 10]), key(&[5, 10]));
        assert_ne!(key(&[1, 10]), key(&[10]));
    }

    /// Edits in several places are one run between the first and the last of them.
    #[test]
    fn stretches_hold_what_is_between_edits() {
        use super::super::source::{Stretch, TokenEdit};
        let edit = |at: usize, by: &[i32]| TokenEdit {
            tokens: at..at + 1,
            by: by.to_vec(),
            spelled: String::new(),
        };
        let exchange = |edits: Vec<TokenEdit>| Exchange {
            to: String::new(),
            number: 0,
            value: 0,
            edits: edits.into(),
        };
        let site = Site {
            attribute: 0,
            from: String::new(),
            value: 0,
            spans: [1..2, 3..4].into_iter().collect(),
            class: 0,
            exchanges: vec![
                exchange(vec![edit(1, &[7]), edit(3, &[8])]),
                exchange(vec![edit(1, &[9]), edit(3, &[6])]),
                exchange(vec![edit(1, &[5, 5]), edit(3, &[6])]),
                exchange(vec![edit(3, &[6])]),
            ],
        };
        let source = Source::new(vec![0, 1, 2, 3, 4], vec![site], Vec::new());
        let stretch = |tokens, by: &[&[i32]]| Stretch {
            tokens,
            by: by.iter().map(|by| by.to_vec()).collect(),
        };
        assert_eq!(
            source.stretches(),
            [
                stretch(1..4, &[&[7, 2, 8], &[9, 2, 6]]),
                stretch(1..4, &[&[5, 5, 2, 6]]),
                stretch(3..4, &[&[6]])
            ]
        );
    }

    #[test]
    fn ranking_puts_the_most_influential_first() {
        let mut source = source(&[1, 10, 8]);
        source.rank(&[0.0, 0.5, 2.0, 0.0, 0.0, 0.1, 0.0, 0.7]);
        let numbers = |site: usize| -> Vec<u32> {
            let exchanges = source.sites[site].exchanges.iter();
            exchanges.map(|exchange| exchange.number).collect()
        };
        assert_eq!((numbers(0), numbers(1)), (vec![2, 1], vec![7, 5]));
    }
}
