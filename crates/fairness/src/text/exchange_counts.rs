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
}

/// Counts of some texts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counts {
    pub texts: u64,
    pub flipped: u64,
    /// Texts that name each attribute, and those of them that its exchanges flip.
    pub attributes: BTreeMap<usize, [u64; 2]>,
    pub to_positive: u64,
    pub from_positive: u64,
    pub moves: Moves,
    /// Numbers of texts, flips, and flips to what is positive, by the term and the one in its
    /// place.
    pub pairs: BTreeMap<(u32, u32), [u64; 3]>,
    pub terms: BTreeMap<u32, OfTerm>,
}

/// Counts of texts that a term has to do with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OfTerm {
    pub texts: u64,
    pub flipped: u64,
    /// Number of texts every flip of which has the term in it.
    pub alone: u64,
    /// Number of texts every exchange of which has the term in it.
    pub needed: u64,
}

/// An exchange of a text, and whether it flips the text.
struct Made {
    attribute: usize,
    terms: [u32; 2],
    flips: bool,
    /// Whether the text flips to what is positive.
    is_to_positive: bool,
}

/// Asks `model` about `texts` of `domain`, by number, with all that may be exchanged in them, and
/// counts the effects of that. `observe` is told now and then how many are done, and may stop it:
/// the counts are then of these.
///
/// # Errors
/// When the model cannot answer.
pub fn count_exchanges(
    model: &dyn Classifier,
    domain: &TextDomain,
    texts: &[u32],
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
            .map(|texts| count(model, domain, &numbers, texts))
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
    })
}

/// The number of each term, by its attribute and how it is written.
type Numbers<'a> = HashMap<(usize, &'a str), u32>;

fn count(
    model: &dyn Classifier,
    domain: &TextDomain,
    numbers: &Numbers<'_>,
    texts: &[u32],
) -> Result<Counts, ModelError> {
    let codes: Vec<i32> = texts.iter().flat_map(|&text| domain.row(text)).collect();
    let rows = Rows::new(&codes, domain.width());
    let mut counts = Counts::default();
    let positive = model.classes().saturating_sub(1);
    for (row, check) in rows.iter().zip(check_all(model, domain, rows)?) {
        counts.move_of(&check, model.decision(), positive);
        let good = positive_decision(model.decision(), positive);
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
                    flips: flip.is_some(),
                    is_to_positive: flip.is_some_and(|flip| flip.decided[1] == good),
                })
            })
            .collect();
        let sites = domain.source(row).into_iter().flat_map(|text| &text.sites);
        counts.add(sites.map(|site| site.attribute).collect(), &made);
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
        for attribute in attributes {
            let is_flipped = flips.clone().any(|made| made.attribute == attribute);
            add(
                self.attributes.entry(attribute).or_default(),
                [1, u64::from(is_flipped)],
            );
        }
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
        for term in common(made.iter()) {
            self.terms.entry(term).or_default().needed += 1;
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
        for (attribute, more) in other.attributes {
            add(self.attributes.entry(attribute).or_default(), more);
        }
        for (pair, more) in other.pairs {
            add(self.pairs.entry(pair).or_default(), more);
        }
        for (term, more) in other.terms {
            let of = self.terms.entry(term).or_default();
            let own = [
                &mut of.texts,
                &mut of.flipped,
                &mut of.alone,
                &mut of.needed,
            ];
            let more = [more.texts, more.flipped, more.alone, more.needed];
            own.into_iter()
                .zip(more)
                .for_each(|(own, more)| *own = own.saturating_add(more));
        }
        self
    }
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
        counts.copied().unwrap_or_default()
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
        })
    }

    /// Whether these can be the counts of so many `texts` and `flipped` ones.
    #[must_use]
    pub fn is_of(&self, texts: u64, flipped: u64) -> bool {
        let Counts { pairs, terms, .. } = &self.counts;
        let known = |&term: &u32| (term as usize) < self.terms.len();
        let most = self.counts.to_positive.max(self.counts.from_positive);
        self.of_all() == [texts, flipped]
            && flipped <= texts
            && most <= texts
            && self.counts.moves.is_of(texts)
            && pairs
                .values()
                .all(|[texts, flipped, to]| flipped <= texts && to <= flipped)
            && pairs.keys().all(|(from, to)| known(from) && known(to))
            && terms.keys().all(known)
            && terms
                .values()
                .all(|of| of.alone <= flipped && of.needed <= texts)
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
            flips,
            is_to_positive: flips && from < to,
        }
    }

    /// The share without a term is that of the other exchanges: against the share recounted with
    /// the term's exchanges taken out.
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
        assert_eq!(counts.attributes[&0], [5, 4]);
        assert_eq!(counts.pairs[&(1, 2)], [3, 3, 3]);
        assert_eq!(counts.pairs[&(1, 0)], [2, 1, 0]);
        for term in [0, 1, 2] {
            let left = texts.iter().map(|text| {
                let left = text.iter().filter(|made| !made.terms.contains(&term));
                (left.clone().count(), left.filter(|made| made.flips).count())
            });
            let left: Vec<_> = left.filter(|(all, _)| *all > 0).collect();
            let flipped = left.iter().filter(|(_, flips)| *flips > 0).count();
            let of = &counts.terms[&term];
            assert_eq!(
                (counts.texts - of.needed, counts.flipped - of.alone),
                (left.len() as u64, flipped as u64),
                "{term}"
            );
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
