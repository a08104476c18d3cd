//! Texts as inputs: token ids, protected terms in them, and their variants.
//!
//! A row is a text of at most `width` tokens: ids of the model's vocabulary, then [`PADDING`]. A
//! *variant* replaces one occurrence of a protected term by another value of the same attribute
//! (ADF, Algorithm 2 and section 2: each protected token in turn, over its own domain). A term may
//! have several tokens and its replacement another number of them; what follows then moves.
//! Variant 0 is the text itself. The others are numbered by occurrence, and within one by the rank
//! of the replacement: the one that moves the model most comes first ([`Terms::rank`]).
//!
//! Two texts are the same individual when they are equal once every protected term is replaced by
//! the mark of its interchange class: the terms that can become each other by replacements. So
//! "she" and "he" are one, and "she" and "his" are not.

use std::sync::Arc;

use rand::RngExt;
use smallvec::SmallVec;

use crate::domain::{Domain, DomainError, KEY_BITS, MAX_VARIANTS};
pub use probity_nn::text::{PADDING, without_padding as text_of};
use probity_run::stream::{Purpose, stream};

/// A protected term and what may stand in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Attribute: position among the audited ones.
    pub attribute: usize,
    /// The value that it is a form of, as reports show it.
    pub value: String,
    /// Its tokens; at least one.
    pub tokens: Vec<i32>,
    /// The terms that may replace it, best first.
    pub others: Vec<u32>,
}

/// All protected terms of an audit, indexed for the search in texts.
#[derive(Debug, Clone)]
pub struct Terms {
    terms: Vec<Term>,
    /// Terms that begin with a token, longest first; by token id.
    beginning: Vec<SmallVec<[u32; 2]>>,
    /// Interchange class of each term.
    classes: Vec<u32>,
}

/// An occurrence of a protected term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// Position of its first token.
    pub start: usize,
    /// Number of its tokens.
    pub length: usize,
    /// Which term.
    pub term: u32,
}

/// All occurrences in a text, from left to right.
pub type Occurrences = SmallVec<[Occurrence; 8]>;

impl Terms {
    /// An index over `terms`. Of two terms with the same tokens the first one counts.
    pub fn new(terms: Vec<Term>) -> Terms {
        let largest = terms
            .iter()
            .filter_map(|term| term.tokens.first())
            .max()
            .map_or(0, |&id| id as usize + 1);
        let mut beginning: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); largest];
        for (number, term) in terms.iter().enumerate() {
            if let Some(&first) = term.tokens.first() {
                beginning[first as usize].push(number as u32);
            }
        }
        for candidates in &mut beginning {
            candidates.sort_by_key(|&term| std::cmp::Reverse(terms[term as usize].tokens.len()));
        }
        Terms {
            classes: interchange_classes(&terms),
            terms,
            beginning,
        }
    }

    /// The terms, by number.
    pub fn all(&self) -> &[Term] {
        &self.terms
    }

    /// The protected terms in `text`: the longest match at the leftmost place, then on after it.
    pub fn find(&self, text: &[i32]) -> Occurrences {
        let mut found = Occurrences::new();
        let mut position = 0;
        while position < text.len() {
            match self.term_at(&text[position..]) {
                Some(term) => {
                    let length = self.terms[term as usize].tokens.len();
                    found.push(Occurrence {
                        start: position,
                        length,
                        term,
                    });
                    position += length;
                }
                None => position += 1,
            }
        }
        found
    }

    fn term_at(&self, text: &[i32]) -> Option<u32> {
        let first = usize::try_from(*text.first()?).ok()?;
        let candidates = self.beginning.get(first)?;
        let fits = |&&term: &&u32| text.starts_with(&self.terms[term as usize].tokens);
        candidates.iter().find(fits).copied()
    }

    /// Whether `text` holds a term that has a replacement.
    pub fn can_vary(&self, text: &[i32]) -> bool {
        self.can_vary_within(text, text.len())
    }

    /// Whether a term that has a replacement begins among the first `reads` tokens of `text`.
    pub fn can_vary_within(&self, text: &[i32], reads: usize) -> bool {
        let has_other = |found: &Occurrence| !self.terms[found.term as usize].others.is_empty();
        let mut found = self.find(text).into_iter();
        found.any(|found| found.start < reads && has_other(&found))
    }

    /// As much of `text` as has a say in what a model sees of it that reads `reads` tokens,
    /// whatever replaces one of its terms.
    ///
    /// **Lemma.** For every replacement of a term, the first `reads` tokens of the text are those
    /// of what this returns. *Proof.* A replacement behind the first `reads` tokens does not change
    /// them. A term that begins before is found by the tokens up to its start and as many from
    /// there on as the longest term L has: they are kept. It has at most L tokens, and at least one
    /// takes their place: what is read then ends before token `reads` + L. ∎
    pub fn window<'t>(&self, text: &'t [i32], reads: usize) -> &'t [i32] {
        &text[..text.len().min(reads.saturating_add(self.longest()))]
    }

    /// Tokens of a row that holds any [`Terms::window`] and any text made of it by a replacement.
    pub fn room(&self, reads: usize) -> usize {
        reads + self.longest() + self.growth()
    }

    fn longest(&self) -> usize {
        let lengths = self.terms.iter().map(|term| term.tokens.len());
        lengths.max().unwrap_or(0)
    }

    /// Sorts the replacements of every term by falling `influence` of the replacement (by term
    /// number); equal ones keep their order.
    pub fn rank(&mut self, influence: &[f32]) {
        for term in &mut self.terms {
            term.others
                .sort_by(|&a, &b| influence[b as usize].total_cmp(&influence[a as usize]));
        }
    }

    /// Tokens by which a text can grow when one term is replaced.
    pub fn growth(&self) -> usize {
        let length = |term: u32| self.terms[term as usize].tokens.len();
        self.terms
            .iter()
            .flat_map(|term| {
                let longest = term.others.iter().map(|&other| length(other)).max();
                longest.map(|longest| longest.saturating_sub(term.tokens.len()))
            })
            .max()
            .unwrap_or(0)
    }
}

/// Connected components of "may replace".
fn interchange_classes(terms: &[Term]) -> Vec<u32> {
    let mut classes: Vec<u32> = (0..terms.len() as u32).collect();
    // Terms are few; the smallest number of a component spreads in as many passes as its diameter.
    loop {
        let before = classes.clone();
        for (number, term) in terms.iter().enumerate() {
            for &other in &term.others {
                let least = classes[number].min(classes[other as usize]);
                classes[number] = least;
                classes[other as usize] = least;
            }
        }
        if classes == before {
            return classes;
        }
    }
}

/// What variant `variant` of a text replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement {
    /// The occurrence that is replaced.
    pub occurrence: Occurrence,
    /// The term that takes its place.
    pub by: u32,
}

/// The texts of an audit.
///
/// Keys are 124 bits of XXH3 over the ids, whose chance of any collision among a billion texts is
/// below 10⁻¹⁹.
#[derive(Debug, Clone)]
pub struct TextDomain {
    width: usize,
    terms: Arc<Terms>,
    inputs: Arc<Vec<Vec<i32>>>,
}

impl TextDomain {
    /// The domain of texts of at most `width` tokens with `terms`; `inputs` are the texts that
    /// [`Domain::random_input`] draws from, unpadded, at most `width` − [`Terms::growth`] long.
    ///
    /// # Errors
    /// When a text among `inputs` has more than 65,536 variants.
    pub fn new(
        width: usize,
        terms: Arc<Terms>,
        inputs: Arc<Vec<Vec<i32>>>,
    ) -> Result<TextDomain, DomainError> {
        let domain = TextDomain {
            width,
            terms,
            inputs,
        };
        let most = domain.inputs.iter().map(|text| domain.variants(text)).max();
        match most {
            Some(variants) if variants > MAX_VARIANTS => Err(DomainError::TooManyVariants {
                variants: variants as u128,
            }),
            _ => Ok(domain),
        }
    }

    /// The protected terms.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Number of texts that the domain was given.
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Pads `text` to a row.
    pub fn row(&self, text: &[i32]) -> Vec<i32> {
        let mut row = text.to_vec();
        row.resize(self.width, PADDING);
        row
    }

    /// What `variant` of `row` replaces; `None` for the text itself.
    pub fn replacement(&self, row: &[i32], variant: usize) -> Option<Replacement> {
        let mut left = variant.checked_sub(1)?;
        for occurrence in self.terms.find(text_of(row)) {
            let others = &self.terms.terms[occurrence.term as usize].others;
            if let Some(&by) = others.get(left) {
                return Some(Replacement { occurrence, by });
            }
            left -= others.len();
        }
        None
    }

    /// Where token `position` of `row` stands in the variant made by `replacement`; `None` inside
    /// the replaced term.
    pub fn position_in(&self, replacement: &Replacement, position: usize) -> Option<usize> {
        let Occurrence { start, length, .. } = replacement.occurrence;
        if position < start {
            Some(position)
        } else if position < start + length {
            None
        } else {
            let tokens = self.terms.terms[replacement.by as usize].tokens.len();
            Some(position + tokens - length)
        }
    }
}

impl Domain for TextDomain {
    fn width(&self) -> usize {
        self.width
    }

    /// Which tokens there are, the model knows.
    fn contains(&self, row: &[i32]) -> bool {
        row.len() == self.width && text_of(row).iter().all(|&id| id > PADDING)
    }

    fn variants(&self, row: &[i32]) -> usize {
        let occurrences = self.terms.find(text_of(row));
        1 + occurrences
            .iter()
            .map(|occurrence| self.terms.terms[occurrence.term as usize].others.len())
            .sum::<usize>()
    }

    fn own_variant(&self, _row: &[i32]) -> usize {
        0
    }

    fn write_variant(&self, row: &[i32], variant: usize, out: &mut Vec<i32>) {
        let Some(Replacement { occurrence, by }) = self.replacement(row, variant) else {
            out.extend_from_slice(row);
            return;
        };
        let end = out.len() + self.width;
        let text = text_of(row);
        out.extend_from_slice(&text[..occurrence.start]);
        out.extend_from_slice(&self.terms.terms[by as usize].tokens);
        out.extend_from_slice(&text[occurrence.start + occurrence.length..]);
        out.resize(end, PADDING);
    }

    fn is_ranked(&self) -> bool {
        true
    }

    fn row_key(&self, row: &[i32]) -> u128 {
        key(text_of(row).iter().copied())
    }

    fn individual_key(&self, row: &[i32]) -> u128 {
        let text = text_of(row);
        let mut masked: Vec<i32> = Vec::with_capacity(text.len());
        let mut position = 0;
        for occurrence in self.terms.find(text) {
            masked.extend_from_slice(&text[position..occurrence.start]);
            // Marks lie below the padding, so that no token equals one.
            masked.push(PADDING - 1 - self.terms.classes[occurrence.term as usize] as i32);
            position = occurrence.start + occurrence.length;
        }
        masked.extend_from_slice(&text[position..]);
        key(masked.into_iter())
    }

    /// The `item`-th of the texts that the domain was given; beyond the last one, uniform draws
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
            .map_or_else(Vec::new, |text| self.row(text))
    }
}

fn key(ids: impl Iterator<Item = i32>) -> u128 {
    let bytes: Vec<u8> = ids.flat_map(i32::to_le_bytes).collect();
    xxhash_rust::xxh3::xxh3_128(&bytes) >> (128 - KEY_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Countries 1, 2, "3 4" (two tokens); he 5, she 6; his 7, her 8, him 9.
    pub(crate) fn terms() -> Terms {
        let term = |attribute, tokens: &[i32], others: &[u32]| Term {
            attribute,
            value: format!("{tokens:?}"),
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

    fn domain() -> TextDomain {
        let terms = terms();
        assert_eq!(terms.growth(), 1);
        TextDomain::new(8, Arc::new(terms), Arc::new(Vec::new())).unwrap()
    }

    #[test]
    fn occurrences_are_the_longest_from_the_left() {
        let terms = terms();
        let found = terms.find(&[3, 3, 4, 10, 1]);
        let places: Vec<_> = found.iter().map(|o| (o.start, o.length, o.term)).collect();
        assert_eq!(places, [(1, 2, 2), (4, 1, 0)]);
    }

    /// Whole texts, cut after a replacement, are windows cut after it.
    #[test]
    fn a_window_holds_all_that_is_read_after_a_replacement() {
        let terms = terms();
        let mut seen = 0;
        for number in 0..2000_u64 {
            let mut draw = stream(number, Purpose::UniformInput, 1, 0);
            let length = draw.random_range(1..20);
            let text: Vec<i32> = (0..length).map(|_| draw.random_range(1..12)).collect();
            let reads = draw.random_range(1..15);
            let window = terms.window(&text, reads);
            let all = |text: &[i32]| -> HashSet<Vec<i32>> {
                let width = text.len() + terms.growth();
                let domain =
                    TextDomain::new(width, Arc::new(terms.clone()), Arc::default()).unwrap();
                let row = domain.row(text);
                let variants = 0..domain.variants(&row);
                variants
                    .map(|variant| {
                        let mut other = Vec::new();
                        domain.write_variant(&row, variant, &mut other);
                        let other = text_of(&other);
                        other[..other.len().min(reads)].to_vec()
                    })
                    .collect()
            };
            assert_eq!(all(window), all(&text), "case {number}");
            assert!(window.len() + terms.growth() <= terms.room(reads));
            assert_eq!(
                terms.can_vary_within(window, reads),
                terms.can_vary_within(&text, reads)
            );
            seen += usize::from(window.len() < text.len());
        }
        assert!(seen > 300, "{seen}");
    }

    #[test]
    fn every_variant_replaces_one_occurrence_and_keeps_the_individual() {
        let domain = domain();
        let row = domain.row(&[1, 10, 3, 4, 8, 11]);
        assert_eq!(domain.variants(&row), 1 + 2 + 2 + 2);
        let mut seen = HashSet::new();
        let mut texts = Vec::new();
        for variant in 0..domain.variants(&row) {
            let mut other = Vec::new();
            domain.write_variant(&row, variant, &mut other);
            assert_eq!(other.len(), 8);
            assert_eq!(domain.individual_key(&other), domain.individual_key(&row));
            assert!(seen.insert(domain.row_key(&other)));
            if let Some(replacement) = domain.replacement(&row, variant) {
                for (position, &id) in text_of(&row).iter().enumerate() {
                    if let Some(there) = domain.position_in(&replacement, position) {
                        assert_eq!(other[there], id);
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
    fn terms_that_cannot_become_each_other_are_different_people() {
        let domain = domain();
        let key = |text: &[i32]| domain.individual_key(&domain.row(text));
        assert_eq!(key(&[5, 10]), key(&[6, 10]));
        assert_eq!(key(&[7, 10]), key(&[9, 10]), "his, her, him interchange");
        assert_ne!(key(&[5, 10]), key(&[7, 10]));
        assert_ne!(key(&[1, 10]), key(&[5, 10]));
        assert_ne!(key(&[1, 10]), key(&[10]));
    }

    #[test]
    fn ranking_puts_the_most_influential_first() {
        let mut terms = terms();
        terms.rank(&[0.0, 0.5, 2.0, 0.0, 0.0, 0.1, 0.0, 0.7]);
        assert_eq!(terms.all()[0].others, [2, 1]);
        assert_eq!(terms.all()[6].others, [7, 5]);
    }
}
