//! Counts of the effects of exchanges of protected values on texts as they are.
//!
//! ```text
//! texts ─► each asked about once, with all of its exchanges      (count_exchanges)
//!              │ what flips, which way, by which terms
//!              ▼
//!          ExchangeCounts: they add up over any cut
//!              ├─► discriminatory texts, by each attribute alone and by all
//!              └─► what each exchange and each term does         (Exchanged)
//! ```
//!
//! That some exchange flips a text is likelier the more exchanges there are, so the share of such
//! texts grows with the list of values. The *share per exchange* does not: it is the share of a
//! text's exchanges that flip it, on average over texts. It is summed in units of 2⁻³², so that sums
//! are the same over any cut.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use hashbrown::HashMap;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::domain::TextDomain;
use super::probabilities::probability;
use crate::check::{Flip, FullyChecked, check_all};
use crate::domain::Domain;
use crate::population::Moves;
use probity_nn::decision::Decision;
use probity_nn::{Classifier, ModelError, Rows};

/// Number of texts that are checked at a time by one thread: with what may be exchanged in them a
/// few thousand, about as many as a predictor is asked about at a time.
const CHUNK: usize = 48;

/// Number of texts between two looks at whether to stop.
const BLOCK: usize = 64 * CHUNK;

/// The effects of exchanges on some texts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExchangeCounts {
    /// The terms that may be exchanged in any text of the audit, and those that they are exchanged
    /// for, by attribute: numbers of terms are places in this list.
    pub(super) terms: Vec<(usize, String)>,
    pub(super) counts: Counts,
    /// What is decided of the texts that name a value which nothing takes the place of.
    pub(super) kept: Decided,
}

/// Numbers of texts by an attribute that they name and by what is decided of them.
pub type Decided = BTreeMap<(usize, u32), u64>;

/// Counts of some texts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counts {
    pub texts: u64,
    pub flipped: u64,
    /// Texts that name each attribute.
    pub attributes: BTreeMap<usize, OfSet>,
    /// The exchanges of all attributes, in all of the texts.
    pub joint: OfSet,
    /// Numbers of texts that name each value, and of those of them that would get what is positive,
    /// or lose it, by some exchange of the value.
    pub values: BTreeMap<u32, [u64; 3]>,
    /// The counts by the exchange of one value for another.
    pub exchanges: BTreeMap<(u32, u32), [u64; 3]>,
    /// Of more than two classes, by the exchange of one value for another: from which to which the decisions
    /// change.
    pub moved: BTreeMap<(u32, u32), Moved>,
    pub to_positive: u64,
    pub from_positive: u64,
    /// What is decided of the texts as they are; nothing where scores are compared.
    pub decided: Decided,
    pub moves: Moves,
    /// Numbers of texts, flips, and flips to what is positive, by the term and the one in its
    /// place.
    pub pairs: BTreeMap<(u32, u32), [u64; 3]>,
    pub terms: BTreeMap<u32, OfTerm>,
}

/// Counts of the texts whose decision an exchange changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Moved {
    pub texts: u64,
    /// The texts by the decision on them and the one that they get.
    pub ways: BTreeMap<(u32, u32), u64>,
}

impl Moved {
    /// Counts a text that the exchange moves in these `ways`: several where it can be made in several
    /// places.
    fn add(&mut self, ways: BTreeSet<(u32, u32)>) {
        self.texts += 1;
        for way in ways {
            *self.ways.entry(way).or_default() += 1;
        }
    }

    /// Whether an exchange that can be made in so many `texts` may have moved these.
    fn is_of(&self, texts: u64) -> bool {
        self.texts <= texts && self.ways.values().all(|&way| way <= self.texts)
    }

    fn and(mut self, other: Moved) -> Moved {
        self.texts = self.texts.saturating_add(other.texts);
        for (way, more) in other.ways {
            let own = self.ways.entry(way).or_default();
            *own = own.saturating_add(more);
        }
        self
    }
}

/// Counts of the texts that some attributes are exchanged in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OfSet {
    pub texts: u64,
    pub flipped: u64,
    /// Exchanges that can be made.
    pub exchanges: u64,
    /// The sum of the share of each text's exchanges that flip it, in units of 2⁻³².
    pub parts: u64,
}

/// One, in the units of [`OfSet::parts`].
const UNIT: u64 = 1 << 32;

impl OfSet {
    /// Counts one text in which so many exchanges can be made, and so many of them flip it.
    fn add(&mut self, exchanges: u64, flips: u64) {
        self.texts += 1;
        self.flipped += u64::from(flips > 0);
        self.exchanges += exchanges;
        // A text has at most 2¹⁶ exchanges.
        self.parts += (flips * UNIT).checked_div(exchanges).unwrap_or_default();
    }

    fn and(self, other: OfSet) -> OfSet {
        OfSet {
            texts: self.texts.saturating_add(other.texts),
            flipped: self.flipped.saturating_add(other.flipped),
            exchanges: self.exchanges.saturating_add(other.exchanges),
            parts: self.parts.saturating_add(other.parts),
        }
    }

    /// The sum of the share of each text's exchanges that flip it.
    pub fn sum(&self) -> f64 {
        self.parts as f64 / UNIT as f64
    }

    /// Whether texts have so many flips.
    fn is_sound(&self) -> bool {
        self.flipped <= self.texts
            && self.parts <= self.flipped.saturating_mul(UNIT)
            && self.flipped <= self.exchanges
    }
}

/// Counts of texts that a term has to do with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OfTerm {
    pub texts: u64,
    pub flipped: u64,
    /// Number of texts every flip of which has the term in it.
    pub alone: u64,
}

/// An exchange of a text, and whether it flips the text.
struct Made {
    attribute: usize,
    terms: [u32; 2],
    values: [u32; 2],
    flips: bool,
    /// Whether the text flips to what is positive.
    is_to_positive: bool,
    /// Whether the text flips from what is positive.
    is_from_positive: bool,
    /// The decisions on the text and after the exchange, where it flips and there are more than two
    /// classes.
    moved: Option<(u32, u32)>,
}

/// Asks `model` about `texts` of `domain`, by number, with all that may be exchanged in them, and
/// counts the effects of that; directions are to and from the class numbered `positive`. `observe` is
/// told now and then how many are done, and may stop it: the counts are then of these.
///
/// # Errors
/// When the model cannot answer.
pub fn count_exchanges(
    model: &dyn Classifier,
    (domain, texts): (&TextDomain, &[u32]),
    positive: usize,
    observe: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<ExchangeCounts, ModelError> {
    let mut terms: BTreeSet<(usize, &str)> = BTreeSet::new();
    for site in domain.sources().iter().flat_map(|source| &source.sites) {
        let put = site.exchanges.iter().map(|exchange| &exchange.to[..]);
        terms.extend(
            put.chain([&site.from[..]])
                .map(|term| (site.attribute, term)),
        );
    }
    let numbers: Numbers<'_> = terms.iter().copied().zip(0..).collect();
    let mut counts = Counts::default();
    for block in texts.chunks(BLOCK) {
        let chunks = block.par_chunks(CHUNK);
        let of_block = chunks
            .map(|texts| count(model, (domain, texts), &numbers, positive))
            .try_reduce(Counts::default, |one, other| Ok(one.and(other)))?;
        counts = counts.and(of_block);
        if observe(counts.texts).is_break() {
            break;
        }
    }
    let own = |(attribute, term): (usize, &str)| (attribute, term.to_owned());
    Ok(ExchangeCounts {
        terms: terms.into_iter().map(own).collect(),
        counts,
        kept: Decided::new(),
    })
}

/// The number of each term, by its attribute and how it is written.
type Numbers<'a> = HashMap<(usize, &'a str), u32>;

fn count(
    model: &dyn Classifier,
    (domain, texts): (&TextDomain, &[u32]),
    numbers: &Numbers<'_>,
    positive: usize,
) -> Result<Counts, ModelError> {
    let codes: Vec<i32> = texts.iter().flat_map(|&text| domain.row(text)).collect();
    let rows = Rows::new(&codes, domain.width());
    let mut counts = Counts::default();
    for (row, check) in rows.iter().zip(check_all(model, domain, rows)?) {
        counts.move_of(&check, model.decision(), positive);
        let good = positive_decision(model.decision(), positive);
        // Of two classes it is to and from the positive one, and scores have no classes.
        let has_others = model.classes() > 2 && !matches!(model.decision(), Decision::Gap(_));
        let mut flips = check.checked.flips.iter().peekable();
        let made: Vec<Made> = (0..domain.variants(row))
            .filter_map(|variant| {
                let is_this = |flip: &&Flip| flip.variant as usize == variant;
                let flip = flips.next_if(is_this);
                let (site, exchange) = domain.exchange(row, variant)?;
                let number = |term| numbers.get(&(site.attribute, term)).copied();
                Some(Made {
                    attribute: site.attribute,
                    terms: [number(&site.from)?, number(&exchange.to)?],
                    values: [site.value, exchange.value],
                    flips: flip.is_some(),
                    is_to_positive: flip.is_some_and(|flip| flip.decided[1] == good),
                    is_from_positive: flip.is_some_and(|flip| flip.decided[0] == good),
                    moved: flip.filter(|_| has_others).map(|flip| flip.decided.into()),
                })
            })
            .collect();
        let sites = domain.source(row).into_iter().flat_map(|text| &text.sites);
        let attributes: BTreeSet<usize> = sites.map(|site| site.attribute).collect();
        if !matches!(model.decision(), Decision::Gap(_)) {
            let decision = model.decision().decide(row, &check.checked.logits);
            for &attribute in &attributes {
                *counts.decided.entry((attribute, decision)).or_default() += 1;
            }
        }
        counts.add(attributes, &made);
    }
    Ok(counts)
}

/// The decision where the positive class is, or the higher of two scores.
fn positive_decision(decision: &Decision, positive: usize) -> u32 {
    match decision {
        Decision::Gap(_) => 1,
        _ => positive as u32,
    }
}

impl Counts {
    /// Notes the direction in which the decision on a text changes, and how far its score moves.
    fn move_of(&mut self, check: &FullyChecked, decision: &Decision, positive: usize) {
        let flips = &check.checked.flips;
        let good = positive_decision(decision, positive);
        let is_from = |flip: &Flip| flip.decided[0] == good;
        let is_to = |flip: &Flip| flip.decided[1] == good;
        self.to_positive += u64::from(flips.iter().any(is_to));
        self.from_positive += u64::from(flips.iter().any(is_from));
        let own = probability(&check.checked.logits, positive);
        let scores = check
            .variant_logits
            .chunks_exact(check.checked.logits.len().max(1));
        let changes = scores.map(|logits| (probability(logits, positive) - own).abs());
        self.moves.add(changes.fold(0.0, f32::max));
    }

    /// Counts a text that names `attributes`, with the exchanges made in it.
    fn add(&mut self, attributes: BTreeSet<usize>, made: &[Made]) {
        let flips = made.iter().filter(|made| made.flips);
        self.texts += 1;
        self.flipped += u64::from(flips.clone().next().is_some());
        let number = |made: &[&Made]| {
            let flips = made.iter().filter(|made| made.flips);
            (made.len() as u64, flips.count() as u64)
        };
        let (all, flipping) = number(&made.iter().collect::<Vec<_>>());
        self.joint.add(all, flipping);
        for attribute in attributes {
            let of = made.iter().filter(|made| made.attribute == attribute);
            let (all, flipping) = number(&of.collect::<Vec<_>>());
            self.attributes
                .entry(attribute)
                .or_default()
                .add(all, flipping);
        }
        self.add_values(made);
        self.add_moved(made);
        let mut named: BTreeMap<u32, bool> = BTreeMap::new();
        for made in made {
            let [from, to] = made.terms;
            let counts = self.pairs.entry((from, to)).or_default();
            let [flips, to_positive] = [made.flips, made.is_to_positive].map(u64::from);
            add(counts, [1, flips, to_positive]);
            *named.entry(from).or_default() |= made.flips;
        }
        for (term, flips) in named {
            let term = self.terms.entry(term).or_default();
            term.texts += 1;
            term.flipped += u64::from(flips);
        }
        for term in common(flips) {
            self.terms.entry(term).or_default().alone += 1;
        }
    }

    /// Counts by values what the exchanges `made` in a text do to it.
    fn add_values(&mut self, made: &[Made]) {
        let mut of_values: BTreeMap<u32, [bool; 2]> = BTreeMap::new();
        let mut of_exchanges: BTreeMap<(u32, u32), [bool; 2]> = BTreeMap::new();
        for made in made {
            let [from, to] = made.values;
            let ways = [made.is_to_positive, made.is_from_positive];
            let both = [
                of_values.entry(from).or_default(),
                of_exchanges.entry((from, to)).or_default(),
            ];
            for of in both {
                (of.iter_mut().zip(ways)).for_each(|(of, is)| *of |= is);
            }
        }
        let counted = |[gains, loses]: [bool; 2]| [1, u64::from(gains), u64::from(loses)];
        for (value, ways) in of_values {
            add(self.values.entry(value).or_default(), counted(ways));
        }
        for (exchange, ways) in of_exchanges {
            add(self.exchanges.entry(exchange).or_default(), counted(ways));
        }
    }

    /// Counts by exchanges of values from what to what those `made` in a text change the decision on it.
    fn add_moved(&mut self, made: &[Made]) {
        let mut of_exchanges: BTreeMap<(u32, u32), BTreeSet<(u32, u32)>> = BTreeMap::new();
        for made in made {
            if let Some(moved) = made.moved {
                let ways = of_exchanges.entry(made.values.into()).or_default();
                ways.insert(moved);
            }
        }
        for (exchange, ways) in of_exchanges {
            self.moved.entry(exchange).or_default().add(ways);
        }
    }

    /// The sum of these counts and `other`. Those of a file may be any numbers;
    /// [`ExchangeCounts::is_of`] checks the sum.
    fn and(mut self, other: Counts) -> Counts {
        let own = [&mut self.texts, &mut self.flipped];
        let own = own
            .into_iter()
            .chain([&mut self.to_positive, &mut self.from_positive]);
        let more = [
            other.texts,
            other.flipped,
            other.to_positive,
            other.from_positive,
        ];
        own.zip(more)
            .for_each(|(own, more)| *own = own.saturating_add(more));
        self.moves = self.moves.and(&other.moves).unwrap_or_default();
        self.joint = self.joint.and(other.joint);
        self.decided = sum(self.decided, other.decided);
        for (attribute, more) in other.attributes {
            let own = self.attributes.entry(attribute).or_default();
            *own = own.and(more);
        }
        for (value, more) in other.values {
            add(self.values.entry(value).or_default(), more);
        }
        for (exchange, more) in other.exchanges {
            add(self.exchanges.entry(exchange).or_default(), more);
        }
        for (exchange, more) in other.moved {
            let own = self.moved.entry(exchange).or_default();
            *own = std::mem::take(own).and(more);
        }
        for (pair, more) in other.pairs {
            add(self.pairs.entry(pair).or_default(), more);
        }
        for (term, more) in other.terms {
            let of = self.terms.entry(term).or_default();
            let own = [&mut of.texts, &mut of.flipped, &mut of.alone];
            let more = [more.texts, more.flipped, more.alone];
            own.into_iter()
                .zip(more)
                .for_each(|(own, more)| *own = own.saturating_add(more));
        }
        self
    }
}

fn sum(mut own: Decided, other: Decided) -> Decided {
    for (of, texts) in other {
        let own = own.entry(of).or_default();
        *own = own.saturating_add(texts);
    }
    own
}

fn add<const N: usize>(own: &mut [u64; N], more: [u64; N]) {
    own.iter_mut()
        .zip(more)
        .for_each(|(own, more)| *own = own.saturating_add(more));
}

/// The terms that all of `made` name.
fn common<'m>(mut made: impl Iterator<Item = &'m Made> + Clone) -> Vec<u32> {
    let Some(first) = made.next() else {
        return Vec::new();
    };
    let mut terms = first.terms.to_vec();
    terms.retain(|term| made.clone().all(|made| made.terms.contains(term)));
    terms.dedup();
    terms
}

impl ExchangeCounts {
    /// Number of texts that name `attribute`, and of those of them that its exchanges flip.
    #[must_use]
    pub fn of_attribute(&self, attribute: usize) -> [u64; 2] {
        let counts = self.counts.attributes.get(&attribute);
        counts.map_or([0; 2], |of| [of.texts, of.flipped])
    }

    /// Number of texts, and of those that any exchange flips.
    #[must_use]
    pub fn of_all(&self) -> [u64; 2] {
        [self.counts.texts, self.counts.flipped]
    }

    /// The sum of these counts and `other`; `None` where they are not of the same audit.
    #[must_use]
    pub fn and(self, other: ExchangeCounts) -> Option<ExchangeCounts> {
        (self.terms == other.terms).then(|| ExchangeCounts {
            counts: self.counts.and(other.counts),
            terms: self.terms,
            kept: sum(self.kept, other.kept),
        })
    }

    /// Sets what is decided of the texts that name a value which nothing takes the place of.
    pub fn set_kept(&mut self, decided: Decided) {
        self.kept = decided;
    }

    /// Whether these can be the counts of so many `texts` and `flipped` ones.
    #[must_use]
    pub fn is_of(&self, texts: u64, flipped: u64) -> bool {
        let Counts {
            pairs,
            terms,
            attributes,
            joint,
            values,
            exchanges,
            moved,
            ..
        } = &self.counts;
        let are_ways = |&[texts, gain, lose]: &[u64; 3]| gain <= texts && lose <= texts;
        let are_moved = |(exchange, of): (&(u32, u32), &Moved)| {
            let texts = exchanges.get(exchange).map_or(0, |[texts, ..]| *texts);
            of.is_of(texts)
        };
        let known = |&term: &u32| (term as usize) < self.terms.len();
        let most = self.counts.to_positive.max(self.counts.from_positive);
        self.of_all() == [texts, flipped]
            && flipped <= texts
            && most <= texts
            && self.counts.moves.is_of(texts)
            && [joint.texts, joint.flipped] == [texts, flipped]
            && attributes.values().chain([joint]).all(OfSet::is_sound)
            && values.values().chain(exchanges.values()).all(are_ways)
            && moved.iter().all(are_moved)
            && pairs
                .values()
                .all(|[texts, flipped, to]| flipped <= texts && to <= flipped)
            && pairs.keys().all(|(from, to)| known(from) && known(to))
            && terms.keys().all(known)
            && terms.values().all(|of| of.alone <= flipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Checked;
    use probity_nn::decision::{Gap, Score, Thresholds};

    fn made(from: u32, to: u32, flips: bool) -> Made {
        Made {
            attribute: 0,
            terms: [from, to],
            values: [from, to],
            flips,
            is_to_positive: flips && from < to,
            is_from_positive: flips && from > to,
            moved: None,
        }
    }

    /// From what to what an exchange changes decisions is counted by texts, however often it can be made
    /// in one, and adds up.
    #[test]
    fn an_exchange_counts_a_text_once_for_each_way() {
        let of = |moved: [Option<(u32, u32)>; 2]| {
            moved.map(|moved| Made {
                moved,
                ..made(0, 1, moved.is_some())
            })
        };
        let texts = [
            of([Some((0, 2)), Some((0, 2))]),
            of([Some((0, 2)), Some((0, 1))]),
            of([None, None]),
            of([Some((1, 0)), None]),
        ];
        let count = |texts: &[[Made; 2]]| {
            let mut counts = Counts::default();
            for text in texts {
                counts.add(BTreeSet::from([0]), text);
            }
            counts
        };
        let (first, rest) = texts.split_at(2);
        let counts = count(first).and(count(rest));
        assert_eq!(counts, count(&texts));
        let moved = Moved {
            texts: 3,
            ways: BTreeMap::from([((0, 1), 1), ((0, 2), 2), ((1, 0), 1)]),
        };
        assert!(moved.is_of(3) && !moved.is_of(2));
        assert_eq!(counts.moved, BTreeMap::from([((0, 1), moved)]));
        let more = Moved {
            texts: 1,
            ways: BTreeMap::from([((0, 1), 2)]),
        };
        assert!(!more.is_of(3));
    }

    /// The share without a term is that of the other exchanges: against the flips recounted with the
    /// term's exchanges taken out.
    #[test]
    fn a_share_without_a_term_is_that_of_the_other_exchanges() {
        let texts = [
            vec![made(0, 1, true), made(0, 2, false)],
            vec![made(1, 0, true), made(1, 2, true)],
            vec![made(1, 0, false), made(1, 2, true)],
            vec![made(2, 0, false), made(2, 1, false)],
            vec![made(0, 2, true), made(1, 2, true)],
        ];
        let mut counts = Counts::default();
        for text in &texts {
            counts.add(BTreeSet::from([0]), text);
        }
        assert_eq!((counts.texts, counts.flipped), (5, 4));
        let of = counts.attributes[&0];
        assert_eq!((of.texts, of.flipped, of.exchanges), (5, 4, 10));
        assert_eq!(of.sum(), 0.5 + 1.0 + 0.5 + 0.0 + 1.0);
        assert_eq!(of, counts.joint);
        assert_eq!(counts.values[&1], [3, 3, 1]);
        assert_eq!(counts.exchanges[&(1, 2)], [3, 3, 0]);
        assert_eq!(counts.exchanges[&(1, 0)], [2, 0, 1]);
        assert_eq!(counts.pairs[&(1, 2)], [3, 3, 3]);
        assert_eq!(counts.pairs[&(1, 0)], [2, 1, 0]);
        for term in [0, 1, 2] {
            let flips = |text: &&Vec<Made>| {
                let mut left = text.iter().filter(|made| !made.terms.contains(&term));
                left.any(|made| made.flips)
            };
            let flipped = texts.iter().filter(flips).count() as u64;
            let of = &counts.terms[&term];
            assert_eq!(counts.flipped - of.alone, flipped, "{term}");
        }
        assert_eq!(counts.terms[&0].texts, 2);
        assert_eq!(counts.terms[&1].flipped, 3);
    }

    /// Texts with given probabilities of the last class, their own and after each exchange.
    #[test]
    fn moves_are_counted_by_what_is_decided() {
        let texts: [&[f32]; 5] = [
            &[0.2, 0.3, 0.65],
            &[0.7, 0.1, 0.9],
            &[0.5, 0.45],
            &[0.62, 0.61, 0.8],
            &[0.1, 0.05, 0.12],
        ];
        let decisions = [
            (Decision::Largest, [1, 1]),
            (Decision::Thresholds(Thresholds::of_two(1, 0.6)), [1, 1]),
            (
                Decision::Abstention {
                    class: 1,
                    low: 0.47,
                    high: 0.64,
                },
                [2, 1],
            ),
            (
                Decision::Gap(Gap {
                    score: Score::Probability(1),
                    most: 0.15,
                }),
                [3, 1],
            ),
        ];
        for (decision, [to, from]) in decisions {
            let mut counts = Counts::default();
            for scores in texts {
                let logits: Vec<[f32; 2]> =
                    scores.iter().map(|p| [(1.0 - p).ln(), p.ln()]).collect();
                let (own, variants) = (&logits[0][..], &logits[1..]);
                let flips = variants.iter().zip(0..).filter_map(|(other, variant)| {
                    let decided = decision.contrast((&[], own), (&[], &other[..]))?;
                    Some(Flip {
                        variant,
                        label: decision.side(&[], other),
                        logits: other[..].into(),
                        decided,
                    })
                });
                let check = FullyChecked {
                    checked: Checked {
                        label: decision.side(&[], own),
                        logits: own.into(),
                        flips: flips.collect(),
                    },
                    own: 0,
                    variant_logits: logits.concat(),
                };
                counts.move_of(&check, &decision, 1);
            }
            assert_eq!(
                [counts.to_positive, counts.from_positive],
                [to, from],
                "{decision:?}"
            );
            let changes = counts.moves.changes();
            assert!((changes.largest - 0.6).abs() < 1e-6);
            let mean = (0.45 + 0.6 + 0.05 + 0.18 + 0.05) / 5.0;
            assert!((changes.mean - mean).abs() < 1e-6, "{changes:?}");
        }
    }
}
