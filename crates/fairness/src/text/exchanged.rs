//! What exchanges of protected values do to texts as they are: no search, nothing else changed.
//!
//! Of the texts with a protected term, how many get another class when one of their values is
//! exchanged, term by term and direction by direction; and what that share would be without a
//! term: a lexicon's doubtful word can make a headline by itself.

use hashbrown::HashMap;
use rayon::prelude::*;
use serde::Serialize;

use super::domain::TextDomain;
use super::probabilities::probability;
use crate::check::{Flip, FullyChecked, check_all};
use crate::domain::Domain;
use crate::population::{Changes, Moves};
use crate::statistics::{Share, clopper_pearson};
use probity_nn::decision::Decision;
use probity_nn::{Classifier, ModelError, Rows};

/// Texts that are checked at a time by one thread: with what may be exchanged in them a few
/// thousand, about as many as a predictor is asked about at a time.
const CHUNK: usize = 48;

/// Kinds of exchanges that are listed at most, those with the most flips first.
const LISTED: usize = 500;

/// What exchanges of one term for another do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairEffect {
    /// The attribute.
    pub attribute: String,
    /// The term in the text.
    pub from: String,
    /// The term that takes its place.
    pub to: String,
    /// Texts in which it can.
    pub texts: u64,
    /// Those that get another class.
    pub flipped: u64,
    /// Their share.
    pub rate: f64,
    /// 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// What one term has to do with the texts that flip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermEffect {
    /// The attribute.
    pub attribute: String,
    /// The term.
    pub term: String,
    /// Texts that name it.
    pub texts: u64,
    /// Those that get another class when it is exchanged.
    pub flipped: u64,
    /// Texts whose every flip takes it away or puts it in.
    pub alone: u64,
    /// The joint share that would be left without the term in the lexicon.
    pub share_without: f64,
    /// Its 95 % interval.
    pub ci95_without: [f64; 2],
}

/// What exchanges do to texts as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Exchanged {
    /// Texts that were looked at: all that the joint share is of.
    pub texts: u64,
    /// Those that get another class by some exchange.
    pub flipped: u64,
    /// Which way what is decided of them changes, and how far their scores move.
    pub moves: TextMoves,
    /// Kinds of exchanges that were made, by term and direction.
    pub kinds: u64,
    /// Those that flip a text, by falling number of these; at most 500.
    pub pairs: Vec<PairEffect>,
    /// The terms that every flip of some text takes away or puts in, or whose exchange flips one,
    /// by falling number of these.
    pub terms: Vec<TermEffect>,
}

/// Which way what is decided of texts changes, and how far their scores move.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TextMoves {
    /// The class that directions are to and from: the last one.
    pub positive: String,
    /// Texts that do not get this class and would by some exchange; where scores are compared, that
    /// would score higher.
    pub to_positive: Share,
    /// Texts that get this class and would lose it by some exchange; where scores are compared, that
    /// would score lower.
    pub from_positive: Share,
    /// How far the probability of this class moves.
    pub changes: Changes,
}

/// A term of an attribute.
type Named<'a> = (usize, &'a str);

/// Counts of some texts.
#[derive(Default)]
struct Counts<'a> {
    texts: u64,
    flipped: u64,
    to_positive: u64,
    from_positive: u64,
    moves: Moves,
    /// Texts and flips by attribute, term and the term in its place.
    pairs: HashMap<(usize, &'a str, &'a str), [u64; 2]>,
    terms: HashMap<Named<'a>, OfTerm>,
}

#[derive(Default)]
struct OfTerm {
    texts: u64,
    flipped: u64,
    /// Texts whose every flip it has a part in.
    alone: u64,
    /// Texts whose every exchange it has a part in.
    needed: u64,
}

/// One exchange of a text, and whether it flips it.
struct Made<'a> {
    attribute: usize,
    from: &'a str,
    to: &'a str,
    flips: bool,
}

impl<'a> Made<'a> {
    fn names(&self, (attribute, term): Named<'_>) -> bool {
        self.attribute == attribute && (self.from == term || self.to == term)
    }

    fn terms(&self) -> [Named<'a>; 2] {
        [self.from, self.to].map(|term| (self.attribute, term))
    }
}

impl<'a> Counts<'a> {
    /// Which way what is decided of a text changes, and how far its score moves.
    fn move_of(&mut self, check: &FullyChecked, decision: &Decision, positive: usize) {
        let flips = &check.checked.flips;
        let good = match decision {
            // The higher score.
            Decision::Gap { .. } => 1,
            _ => positive as u32,
        };
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

    fn add(&mut self, made: &[Made<'a>]) {
        let flips: Vec<&Made<'a>> = made.iter().filter(|made| made.flips).collect();
        self.texts += 1;
        self.flipped += u64::from(!flips.is_empty());
        let mut named: HashMap<Named<'a>, bool> = HashMap::new();
        for made in made {
            let key = (made.attribute, made.from, made.to);
            let [texts, flipped] = self.pairs.entry(key).or_default();
            *texts += 1;
            *flipped += u64::from(made.flips);
            let [from, _] = made.terms();
            *named.entry(from).or_default() |= made.flips;
        }
        for (term, flips) in named {
            let term = self.terms.entry(term).or_default();
            term.texts += 1;
            term.flipped += u64::from(flips);
        }
        for term in common(flips.iter().copied()) {
            self.terms.entry(term).or_default().alone += 1;
        }
        for term in common(made.iter()) {
            self.terms.entry(term).or_default().needed += 1;
        }
    }

    fn and(mut self, other: Counts<'a>) -> Counts<'a> {
        self.texts += other.texts;
        self.flipped += other.flipped;
        self.to_positive += other.to_positive;
        self.from_positive += other.from_positive;
        // The counts of one text each cannot exceed 64 bits.
        self.moves = std::mem::take(&mut self.moves)
            .and(&other.moves)
            .unwrap_or_default();
        for (pair, [texts, flipped]) in other.pairs {
            let own = self.pairs.entry(pair).or_default();
            own[0] += texts;
            own[1] += flipped;
        }
        for (term, counts) in other.terms {
            let own = self.terms.entry(term).or_default();
            own.texts += counts.texts;
            own.flipped += counts.flipped;
            own.alone += counts.alone;
            own.needed += counts.needed;
        }
        self
    }
}

/// The terms that all of `made` name.
fn common<'m, 'a: 'm>(mut made: impl Iterator<Item = &'m Made<'a>> + Clone) -> Vec<Named<'a>> {
    let Some(first) = made.next() else {
        return Vec::new();
    };
    let [from, to] = first.terms();
    let mut terms = vec![from, to];
    terms.retain(|&term| made.clone().all(|made| made.names(term)));
    terms.dedup();
    terms
}

/// What exchanges do to the inputs of `domain`, whose attributes are called `attributes`; `positive`
/// is the last class.
///
/// # Errors
/// When the model cannot answer.
pub fn exchanged(
    model: &dyn Classifier,
    domain: &TextDomain,
    attributes: &[String],
    positive: &str,
) -> Result<Exchanged, ModelError> {
    let counts = domain
        .inputs()
        .par_chunks(CHUNK)
        .map(|texts| count(model, domain, texts))
        .try_reduce(Counts::default, |one, other| Ok(one.and(other)))?;
    let name = |attribute: usize| attributes.get(attribute).cloned().unwrap_or_default();
    let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
    let mut flipped_pairs: Vec<_> = counts
        .pairs
        .iter()
        .filter(|(_, [_, flipped])| *flipped > 0)
        .collect();
    flipped_pairs.sort();
    let mut pairs: Vec<PairEffect> = flipped_pairs
        .into_iter()
        .map(|(&(attribute, from, to), &[texts, flipped])| PairEffect {
            attribute: name(attribute),
            from: from.to_owned(),
            to: to.to_owned(),
            texts,
            flipped,
            rate: share(flipped, texts),
            ci95: clopper_pearson(flipped, texts, 0.05),
        })
        .collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.flipped));
    pairs.truncate(LISTED);
    let of_flips = counts.terms.iter();
    let mut of_flips: Vec<_> = of_flips
        .filter(|(_, of)| of.flipped > 0 || of.alone > 0)
        .collect();
    of_flips.sort_by_key(|(named, _)| **named);
    let mut terms: Vec<TermEffect> = of_flips
        .into_iter()
        .map(|(&(attribute, term), of)| {
            let (flipped, texts) = (counts.flipped - of.alone, counts.texts - of.needed);
            TermEffect {
                attribute: name(attribute),
                term: term.to_owned(),
                texts: of.texts,
                flipped: of.flipped,
                alone: of.alone,
                share_without: share(flipped, texts),
                ci95_without: clopper_pearson(flipped, texts, 0.05),
            }
        })
        .collect();
    terms.sort_by_key(|term| std::cmp::Reverse((term.alone, term.flipped)));
    Ok(Exchanged {
        texts: counts.texts,
        flipped: counts.flipped,
        moves: TextMoves {
            positive: positive.to_owned(),
            to_positive: Share::new(counts.to_positive, counts.texts),
            from_positive: Share::new(counts.from_positive, counts.texts),
            changes: counts.moves.changes(),
        },
        kinds: counts.pairs.len() as u64,
        pairs,
        terms,
    })
}

fn count<'d>(
    model: &dyn Classifier,
    domain: &'d TextDomain,
    texts: &[u32],
) -> Result<Counts<'d>, ModelError> {
    let codes: Vec<i32> = texts.iter().flat_map(|&text| domain.row(text)).collect();
    let rows = Rows::new(&codes, domain.width());
    let mut counts = Counts::default();
    let positive = model.classes().saturating_sub(1);
    for (row, check) in rows.iter().zip(check_all(model, domain, rows)?) {
        counts.move_of(&check, model.decision(), positive);
        let mut flips = check.checked.flips.iter().peekable();
        let made: Vec<Made<'d>> = (0..domain.variants(row))
            .filter_map(|variant| {
                let is_this = |flip: &&Flip| flip.variant as usize == variant;
                let flips = flips.next_if(is_this).is_some();
                let (site, exchange) = domain.exchange(row, variant)?;
                Some(Made {
                    attribute: site.attribute,
                    from: &site.from,
                    to: &exchange.to,
                    flips,
                })
            })
            .collect();
        counts.add(&made);
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Checked;
    use probity_nn::decision::Thresholds;

    fn made<'a>(from: &'a str, to: &'a str, flips: bool) -> Made<'a> {
        Made {
            attribute: 0,
            from,
            to,
            flips,
        }
    }

    /// Against the share recounted with the term's exchanges taken out.
    #[test]
    fn a_share_without_a_term_is_that_of_the_other_exchanges() {
        let texts = [
            vec![made("a", "b", true), made("a", "c", false)],
            vec![made("b", "a", true), made("b", "c", true)],
            vec![made("b", "a", false), made("b", "c", true)],
            vec![made("c", "a", false), made("c", "b", false)],
            vec![made("a", "c", true), made("b", "c", true)],
        ];
        let mut counts = Counts::default();
        texts.iter().for_each(|text| counts.add(text));
        assert_eq!((counts.texts, counts.flipped), (5, 4));
        assert_eq!(counts.pairs[&(0, "b", "c")], [3, 3]);
        for term in ["a", "b", "c"] {
            let named = (0, term);
            let left = texts.iter().map(|text| {
                let left = text.iter().filter(|made| !made.names(named));
                (left.clone().count(), left.filter(|made| made.flips).count())
            });
            let left: Vec<_> = left.filter(|(all, _)| *all > 0).collect();
            let flipped = left.iter().filter(|(_, flips)| *flips > 0).count();
            let of = &counts.terms[&named];
            assert_eq!(
                (counts.texts - of.needed, counts.flipped - of.alone),
                (left.len() as u64, flipped as u64),
                "{term}"
            );
        }
        assert_eq!(counts.terms[&(0, "a")].texts, 2);
        assert_eq!(counts.terms[&(0, "b")].flipped, 3);
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
                Decision::Gap {
                    class: 1,
                    most: 0.15,
                },
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
