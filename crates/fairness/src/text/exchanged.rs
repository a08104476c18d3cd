//! The effects of exchanges of protected values on texts as they are: no search, nothing else
//! changed.
//!
//! The figures are, of the texts with a protected term, how many get another class when one of
//! their values is exchanged, term by term and direction by direction; and what that share would be
//! without a term: a lexicon's doubtful word can make a headline by itself.

use std::cmp::Reverse;

use serde::Serialize;

use super::exchange_counts::{Counts, Decided, ExchangeCounts, OfSet};
use crate::effect::{AttributeEffect, CountedExchange, CountedValue};
use crate::population::Changes;
use crate::statistics::{Share, bounded_mean_interval, clopper_pearson};

/// Largest number of kinds of exchanges that are listed, those with the most flips first.
const LISTED: usize = 500;

/// The effects of exchanges of one term for another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairEffect {
    /// The attribute.
    pub attribute: String,
    /// The term in the text.
    pub from: String,
    /// The term that takes its place.
    pub to: String,
    /// Number of texts in which the exchange can be made.
    pub texts: u64,
    /// Number of these texts that get another class.
    pub flipped: u64,
    /// Number of flipped texts that get the positive class by it; where scores are compared, a
    /// higher score.
    pub to_positive: u64,
    /// The share of the texts in which the exchange can be made that get another class.
    pub rate: f64,
    /// 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// The part of one term in the texts that flip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermEffect {
    /// The attribute.
    pub attribute: String,
    /// The term.
    pub term: String,
    /// Texts that name it.
    pub texts: u64,
    /// Texts that get another class when the term is exchanged.
    pub flipped: u64,
    /// Texts every flip of which takes the term away or puts it in.
    pub alone: u64,
    /// The joint share that would be left, of the same texts, were the term neither replaced nor put
    /// in the place of another.
    pub share_without: f64,
    /// The 95 % interval of that share.
    pub ci95_without: [f64; 2],
}

/// How often an exchange flips a text, whatever the number of exchanges that can be made in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExchangeShare {
    /// The attributes whose values are exchanged.
    pub protected: Vec<String>,
    /// Texts that name one of their values.
    pub texts: u64,
    /// Exchanges that can be made in a text, on average.
    pub exchanges_per_text: f64,
    /// The share of a text's exchanges that get it another class, on average over texts: the chance
    /// that a text drawn at random gets another class by one of its exchanges drawn at random.
    pub share: f64,
    /// 95 % interval of the share ([`bounded_mean_interval`]).
    pub ci95: [f64; 2],
}

impl ExchangeShare {
    fn new(protected: Vec<String>, of: OfSet) -> ExchangeShare {
        let texts = of.texts.max(1) as f64;
        let share = of.sum() / texts;
        ExchangeShare {
            protected,
            texts: of.texts,
            exchanges_per_text: of.exchanges as f64 / texts,
            share,
            ci95: bounded_mean_interval(share, of.texts, 0.05),
        }
    }
}

/// The effects of exchanges on texts as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Exchanged {
    /// Texts that were looked at: all that the joint share is of.
    pub texts: u64,
    /// Texts that get another class by some exchange.
    pub flipped: u64,
    /// The share per exchange, of each attribute alone and, if there are several, of all.
    pub per_exchange: Vec<ExchangeShare>,
    /// The texts that would get the positive class, or lose it, with another value in place of the
    /// one that they name: by each attribute alone.
    pub effects: Vec<AttributeEffect>,
    /// The directions in which the decisions on the texts change, and how far their scores move.
    pub moves: TextMoves,
    /// Of more than two classes, the exchange that changes the largest share of decisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_changed: Option<MostChanged>,
    /// What is decided of the texts as they are, by an attribute that they name, where it is not
    /// exchanged in all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<DecidedTexts>,
    /// Kinds of exchanges that were made, by term and direction.
    pub kinds: u64,
    /// The kinds that flip a text, by falling number of these; at most 500.
    pub pairs: Vec<PairEffect>,
    /// The terms that every flip of some text takes away or puts in, or whose exchange flips one,
    /// by falling number of these.
    pub terms: Vec<TermEffect>,
}

/// What is decided of texts that name an attribute, as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecidedTexts {
    /// The attribute.
    pub attribute: String,
    /// The decisions on the texts in which its value can be exchanged.
    pub exchanged: Vec<DecisionTexts>,
    /// The decisions on those in which nothing takes its place, which all other figures leave out.
    pub kept: Vec<DecisionTexts>,
}

/// Texts of which one thing is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionTexts {
    /// The decision: a class, where no other decisions were asked for.
    pub decision: String,
    /// The texts.
    pub texts: u64,
}

/// The directions in which decisions on texts change, and how far their scores move.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TextMoves {
    /// The class that directions are to and from: the one that was called good to get, else the last.
    pub positive: String,
    /// Whether somebody said that it is good to get.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_favourable_given: bool,
    /// Texts that do not get this class and would by some exchange; where scores are compared, that
    /// would score higher.
    pub to_positive: Share,
    /// Texts that get this class and would lose it by some exchange; where scores are compared, that
    /// would score lower.
    pub from_positive: Share,
    /// The largest difference that counts as none, where scores are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// The changes of the probability of this class.
    pub changes: Changes,
}

/// The exchange of a value for another that changes the largest share of decisions, by the lower ends of
/// the intervals, so that few texts alone put none in front; and between which classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MostChanged {
    /// The attribute.
    pub attribute: String,
    /// The value that texts name.
    pub from: String,
    /// The one that takes its place.
    pub to: String,
    /// Texts in which it can.
    pub texts: u64,
    /// The texts that get another class by it.
    pub changed: Share,
    /// The class that these have, and the one that they get, most often.
    pub decided: [String; 2],
    /// Texts of these two classes among those that get another.
    pub moved: u64,
}

impl MostChanged {
    fn new(
        counts: &Counts,
        (attributes, values): (&[String], &[Vec<String>]),
        decisions: &[String],
    ) -> Option<MostChanged> {
        let of_values = attributes.iter().zip(values);
        let named: Vec<(&String, &String)> = of_values
            .flat_map(|(attribute, names)| names.iter().map(move |name| (attribute, name)))
            .collect();
        let named = |value: u32| named.get(value as usize).copied();
        let share = |exchange: &(u32, u32), changed: u64| {
            let [texts, ..] = counts.exchanges.get(exchange).copied().unwrap_or_default();
            Share::new(changed, texts)
        };
        let shares = counts
            .moved
            .iter()
            .map(|(exchange, of)| (exchange, of, share(exchange, of.texts)));
        // Of those alike the first one.
        let (&(from, to), of, changed) = shares.rev().max_by(|a, b| {
            let by_share = a.2.ci95[0].total_cmp(&b.2.ci95[0]);
            by_share.then(a.2.count.cmp(&b.2.count))
        })?;
        let mut ways = of.ways.iter();
        let mut most = ways.next()?;
        for way in ways {
            if way.1 > most.1 {
                most = way;
            }
        }
        let (&(before, after), &moved) = most;
        let decision = |number: u32| decisions.get(number as usize).cloned();
        let (attribute, from_value) = named(from)?;
        Some(MostChanged {
            attribute: attribute.clone(),
            from: from_value.clone(),
            to: named(to)?.1.clone(),
            texts: counts.exchanges.get(&(from, to))?[0],
            changed,
            decided: [decision(before)?, decision(after)?],
            moved,
        })
    }
}

impl Exchanged {
    /// The effects that `counts` say, of attributes that are called `attributes` and whose values are
    /// called `values`; directions are to and from the class `positive`, and `decisions` are called so.
    #[must_use]
    pub fn new(
        counts: &ExchangeCounts,
        (attributes, values): (&[String], &[Vec<String>]),
        (positive, decisions): (&str, &[String]),
    ) -> Exchanged {
        let ExchangeCounts {
            terms: named,
            counts,
            kept,
        } = counts;
        let of_term = |term: u32| {
            let (attribute, term) = named.get(term as usize).cloned().unwrap_or_default();
            let attribute = attributes.get(attribute).cloned().unwrap_or_default();
            (attribute, term)
        };
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        let flipped_pairs = counts
            .pairs
            .iter()
            .filter(|(_, [_, flipped, _])| *flipped > 0);
        let mut pairs: Vec<PairEffect> = flipped_pairs
            .map(|(&(from, to), &[texts, flipped, to_positive])| {
                let (attribute, from) = of_term(from);
                PairEffect {
                    attribute,
                    from,
                    to: of_term(to).1,
                    texts,
                    flipped,
                    to_positive,
                    rate: share(flipped, texts),
                    ci95: clopper_pearson(flipped, texts, 0.05),
                }
            })
            .collect();
        pairs.sort_by_key(|pair| Reverse(pair.flipped));
        pairs.truncate(LISTED);
        let of_flips = counts
            .terms
            .iter()
            .filter(|(_, of)| of.flipped > 0 || of.alone > 0);
        let mut terms: Vec<TermEffect> = of_flips
            .map(|(&term, of)| {
                let (attribute, term) = of_term(term);
                let (flipped, texts) = (counts.flipped - of.alone, counts.texts);
                TermEffect {
                    attribute,
                    term,
                    texts: of.texts,
                    flipped: of.flipped,
                    alone: of.alone,
                    share_without: share(flipped, texts),
                    ci95_without: clopper_pearson(flipped, texts, 0.05),
                }
            })
            .collect();
        terms.sort_by_key(|term| Reverse((term.alone, term.flipped)));
        Exchanged {
            texts: counts.texts,
            flipped: counts.flipped,
            per_exchange: per_exchange(counts, attributes),
            effects: effects(counts, attributes, values),
            decided: decided((&counts.decided, kept), attributes, decisions),
            moves: TextMoves {
                positive: positive.to_owned(),
                is_favourable_given: false,
                to_positive: Share::new(counts.to_positive, counts.texts),
                from_positive: Share::new(counts.from_positive, counts.texts),
                gap: None,
                changes: counts.moves.changes(),
            },
            most_changed: MostChanged::new(counts, (attributes, values), decisions),
            kinds: counts.pairs.len() as u64,
            pairs,
            terms,
        }
    }
}

fn per_exchange(counts: &Counts, attributes: &[String]) -> Vec<ExchangeShare> {
    let alone = attributes.iter().enumerate().map(|(place, name)| {
        let of = counts.attributes.get(&place).copied();
        ExchangeShare::new(vec![name.clone()], of.unwrap_or_default())
    });
    let mut all: Vec<ExchangeShare> = alone.collect();
    if attributes.len() > 1 {
        all.push(ExchangeShare::new(attributes.to_vec(), counts.joint));
    }
    all
}

/// What is decided of texts by the attributes that they name: of those that are exchanged and those that
/// are `kept`, of the attributes that are kept in some text.
fn decided(
    (exchanged, kept): (&Decided, &Decided),
    attributes: &[String],
    decisions: &[String],
) -> Vec<DecidedTexts> {
    let of = |counts: &Decided, attribute: usize| -> Vec<DecisionTexts> {
        let decisions = decisions.iter().zip(0..);
        let texts = decisions.map(|(name, decision)| DecisionTexts {
            decision: name.clone(),
            texts: counts
                .get(&(attribute, decision))
                .copied()
                .unwrap_or_default(),
        });
        texts.collect()
    };
    let named = attributes.iter().enumerate();
    let named = named.filter(|(attribute, _)| kept.keys().any(|(of, _)| of == attribute));
    named
        .map(|(attribute, name)| DecidedTexts {
            attribute: name.clone(),
            exchanged: of(exchanged, attribute),
            kept: of(kept, attribute),
        })
        .collect()
}

/// The effect of each attribute, by its values.
fn effects(counts: &Counts, attributes: &[String], values: &[Vec<String>]) -> Vec<AttributeEffect> {
    let mut first = 0;
    let of_attribute = |(attribute, names): (&String, &Vec<String>)| {
        let own = first..first + names.len() as u32;
        first = own.end;
        let place = |value: u32| (value - own.start) as usize;
        let others = |value: u32| counts.exchanges.keys().filter(|of| of.0 == value).count();
        let values = counts.values.range(own.clone());
        let values = values.map(|(&value, &[texts, gain, lose])| CountedValue {
            value: place(value),
            inputs: texts,
            ways: [gain, lose],
            others: others(value),
        });
        let exchanges = counts.exchanges.iter();
        let exchanges = exchanges.filter(|((from, to), _)| own.contains(from) && own.contains(to));
        let exchanges = exchanges.map(|(&(from, to), &[texts, gain, lose])| CountedExchange {
            from: place(from),
            to: place(to),
            inputs: texts,
            ways: [gain, lose],
        });
        let attribute = (attribute.clone(), &names[..]);
        AttributeEffect::new(attribute, values.collect(), exchanges.collect())
    };
    attributes.iter().zip(values).map(of_attribute).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::exchange_counts::Moved;
    use super::*;

    #[test]
    fn few_texts_alone_do_not_change_most() {
        let moved = |texts: u64, ways: &[((u32, u32), u64)]| Moved {
            texts,
            ways: ways.iter().copied().collect(),
        };
        let mut counts = Counts {
            // Of the second attribute the values 2 and 3.
            exchanges: BTreeMap::from([
                ((0, 1), [200, 0, 0]),
                ((1, 0), [1, 1, 0]),
                ((2, 3), [40, 0, 0]),
            ]),
            moved: BTreeMap::from([
                ((0, 1), moved(20, &[((0, 1), 20)])),
                ((1, 0), moved(1, &[((0, 2), 1)])),
                (
                    (2, 3),
                    moved(30, &[((0, 1), 8), ((1, 0), 11), ((1, 2), 11)]),
                ),
            ]),
            ..Counts::default()
        };
        let names =
            |names: &[&str]| -> Vec<String> { names.iter().map(|&name| name.to_owned()).collect() };
        let (attributes, decisions) = (names(&["gender", "religion"]), names(&["a", "b", "c"]));
        let values = [names(&["female", "male"]), names(&["Jewish", "Sikh"])];
        let most = |counts: &Counts| MostChanged::new(counts, (&attributes, &values), &decisions);
        let found = most(&counts).unwrap();
        assert_eq!(
            (&*found.attribute, &*found.from, &*found.to),
            ("religion", "Jewish", "Sikh")
        );
        assert_eq!((found.texts, found.changed), (40, Share::new(30, 40)));
        assert_eq!(
            (found.decided, found.moved),
            (["b", "a"].map(str::to_owned), 11)
        );
        counts.moved.clear();
        assert_eq!(most(&counts), None);
    }
}
