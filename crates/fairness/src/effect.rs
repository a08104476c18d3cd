//! What becomes of inputs when the value of one protected attribute changes and nothing else does.
//!
//! An input *gains* as a value if it does not get what is good, and gets it with that value in place
//! of its own. It *loses* as a value if it gets what is good, and does not with that value. Where
//! scores are compared in place of decisions, it gains if it would score better by more than the gap.
//!
//! ```text
//! counts of inputs by (value that they have, value that they are given): gain, lose
//!        ▼
//! AttributeEffect: a share for each exchange, a net for each value, and the tendency:
//!                  whether the exchange that stands first is a disadvantage or goes both ways
//! ```
//!
//! An exchange and its reverse are told apart by the pairs of an input and its twin that are decided
//! differently. Of `n` such pairs of two values, `k` have the side of the one value worse off. If the
//! inputs are drawn independently and neither value is a disadvantage, `k` is binomial with a chance
//! of one half. An exchange is one-sided only where the exact interval of `k / n`, at 95 % for all
//! pairs of values together (Bonferroni), lies above one half.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::statistics::{Share, clopper_pearson};

/// Largest number of values, and of exchanges, that are listed.
const LISTED: usize = 500;

/// A share of the pairs of two values from which they are called one-sided.
const ONE_SIDED: f64 = 2.0 / 3.0;

/// Numbers of inputs that would gain, and that would lose.
pub(crate) type Ways = [u64; 2];

/// Whether an attribute is to the disadvantage of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tendency {
    /// No input gains or loses.
    None,
    /// Inputs gain and lose as each other's value, and neither more often than by chance.
    Balanced,
    /// One value is worse off more often, but in less than two thirds of the pairs.
    Leaning,
    /// One value is worse off in at least two thirds of the pairs.
    OneSided,
}

/// What becomes of inputs when one protected attribute changes and nothing else does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributeEffect {
    /// The attribute.
    pub attribute: String,
    /// The tendency of the exchange that stands first.
    pub tendency: Tendency,
    /// The number of values, or ranges of values, that inputs have.
    pub all_values: u64,
    /// These values, at most 500, the most one-sided: first those that would gain most by others.
    pub values: Vec<ValueEffect>,
    /// Exchanges of a value that inputs have for another one: all of them, or the 500 by which most
    /// inputs gain or lose. One-sided ones stand first, and among these the one of which most inputs
    /// gain, by the lower ends of the intervals, so that few inputs alone put none in front.
    pub exchanges: Vec<ExchangeEffect>,
}

/// What becomes of the inputs of one value as other values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueEffect {
    /// The value, or the range of values.
    pub value: String,
    /// Number of inputs that have it.
    pub inputs: u64,
    /// Share of these that would gain as some other value.
    pub gain: Share,
    /// Share of these that would lose as some other value.
    pub lose: Share,
    /// The share that gains less the share that loses, as each of the other values, on average over
    /// these: from −1 to 1, and above 0 where the value is a disadvantage.
    pub net: f64,
}

/// What becomes of the inputs of one value as another one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExchangeEffect {
    /// The value, or the range of values, that inputs have.
    pub from: String,
    /// The one that they are given.
    pub to: String,
    /// Number of inputs of `from` that can be given `to`.
    pub inputs: u64,
    /// Share of these that would gain.
    pub gain: Share,
    /// Share of these that would lose.
    pub lose: Share,
}

/// Counts of the inputs of one value.
pub(crate) struct CountedValue {
    /// The place of the value among those of the attribute.
    pub value: usize,
    pub inputs: u64,
    /// Inputs that would gain, and lose, as some other value.
    pub ways: Ways,
    /// Number of values that its inputs can be given.
    pub others: usize,
}

/// Counts of an exchange: of the inputs of one value that can be given another one, and of those of
/// them that would gain, and lose, by it.
pub(crate) struct CountedExchange {
    pub from: usize,
    pub to: usize,
    pub inputs: u64,
    pub ways: Ways,
}

impl AttributeEffect {
    /// The effect of an attribute that is called `attribute` and whose values are called `names`.
    /// Exchanges by which no input gains or loses may be left out.
    pub(crate) fn new(
        (attribute, names): (String, &[String]),
        values: Vec<CountedValue>,
        mut exchanges: Vec<CountedExchange>,
    ) -> AttributeEffect {
        let mut nets: BTreeMap<usize, f64> = BTreeMap::new();
        for of in &exchanges {
            let [gain, lose] = of.ways.map(|count| count as f64);
            *nets.entry(of.from).or_default() += (gain - lose) / of.inputs.max(1) as f64;
        }
        // Whoever has a value that no input has may be worse off all the same: all others lose as them.
        let held: BTreeSet<usize> = values
            .iter()
            .filter(|of| of.inputs > 0)
            .map(|of| of.value)
            .collect();
        let back = |of: &CountedExchange| CountedExchange {
            from: of.to,
            to: of.from,
            inputs: 0,
            ways: [0, 0],
        };
        let unheld = exchanges.iter().filter(|of| !held.contains(&of.to));
        let unheld: Vec<CountedExchange> = unheld.map(back).collect();
        exchanges.extend(unheld);
        let tendencies = tendencies(&exchanges);
        exchanges.retain(|of| of.inputs > 0 || tendencies[&(of.from, of.to)] > Tendency::Balanced);
        let all_values = values.len() as u64;
        let mut values: Vec<ValueEffect> = values
            .into_iter()
            .map(|of| ValueEffect {
                value: names[of.value].clone(),
                inputs: of.inputs,
                gain: Share::new(of.ways[0], of.inputs),
                lose: Share::new(of.ways[1], of.inputs),
                net: nets.get(&of.value).copied().unwrap_or_default() / of.others.max(1) as f64,
            })
            .collect();
        // Of many the most one-sided, and of those alike the ones that most inputs have.
        values.sort_by(|a, b| {
            let by_net = b.net.abs().total_cmp(&a.net.abs());
            by_net.then(b.inputs.cmp(&a.inputs))
        });
        values.truncate(LISTED);
        values.sort_by(|a, b| b.net.total_cmp(&a.net));

        exchanges.sort_by_key(|of| Reverse(of.ways.iter().sum::<u64>()));
        exchanges.truncate(LISTED);
        let mut exchanges: Vec<(Tendency, ExchangeEffect)> = exchanges
            .into_iter()
            .map(|of| {
                let effect = ExchangeEffect {
                    from: names[of.from].clone(),
                    to: names[of.to].clone(),
                    inputs: of.inputs,
                    gain: Share::new(of.ways[0], of.inputs),
                    lose: Share::new(of.ways[1], of.inputs),
                };
                (tendencies[&(of.from, of.to)], effect)
            })
            .collect();
        // Sorting is stable: of equal ones that stands first by which most inputs gain or lose.
        exchanges.sort_by(|(a, one), (b, other)| {
            let gains = [one, other].map(|of| of.gain.ci95[0]);
            b.cmp(a).then(gains[1].total_cmp(&gains[0]))
        });
        let tendency = exchanges.first().map_or(Tendency::None, |first| first.0);
        AttributeEffect {
            attribute,
            tendency,
            all_values,
            values,
            exchanges: exchanges.into_iter().map(|(_, effect)| effect).collect(),
        }
    }

    /// Returns the exchange that the attribute is described by: that of the strongest tendency. Nothing
    /// where no input has a value.
    pub fn first(&self) -> Option<&ExchangeEffect> {
        self.exchanges.first()
    }
}

/// The tendency of each exchange: whether those who have `from` are worse off than those who have
/// `to`.
fn tendencies(exchanges: &[CountedExchange]) -> BTreeMap<(usize, usize), Tendency> {
    let ways: BTreeMap<(usize, usize), Ways> = exchanges
        .iter()
        .map(|of| ((of.from, of.to), of.ways))
        .collect();
    let is_first = |&&(from, to): &&(usize, usize)| from < to || !ways.contains_key(&(to, from));
    let comparisons = ways.keys().filter(is_first).count().max(1);
    let tendency = |&(from, to): &(usize, usize)| {
        let [gain, lose] = ways[&(from, to)];
        let [back_gain, back_lose] = ways.get(&(to, from)).copied().unwrap_or_default();
        let (worse, better) = (gain + back_lose, lose + back_gain);
        let pairs = worse + better;
        let tendency = match pairs {
            0 => Tendency::None,
            _ if clopper_pearson(worse, pairs, 0.05 / comparisons as f64)[0] <= 0.5 => {
                Tendency::Balanced
            }
            _ if (worse as f64) < ONE_SIDED * pairs as f64 => Tendency::Leaning,
            _ => Tendency::OneSided,
        };
        ((from, to), tendency)
    };
    ways.keys().map(tendency).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(values: &[(u64, Ways)], exchanges: &[(usize, usize, Ways)]) -> AttributeEffect {
        let names: Vec<String> = (0..values.len()).map(|at| format!("v{at}")).collect();
        let others = values.len() - 1;
        let counts = values.iter().enumerate();
        let counts = counts.map(|(value, &(inputs, ways))| CountedValue {
            value,
            inputs,
            ways,
            others,
        });
        let exchanges = exchanges.iter().map(|&(from, to, ways)| CountedExchange {
            from,
            to,
            inputs: values[from].0,
            ways,
        });
        let attribute = ("sex".to_owned(), &names[..]);
        AttributeEffect::new(attribute, counts.collect(), exchanges.collect())
    }

    #[test]
    fn the_exchange_of_the_strongest_tendency_stands_first() {
        // Three of three rows gain as v1, but three are few; of v0 and v2 many do.
        let sets = [(1000, [300, 0]), (3, [3, 0]), (1000, [0, 290])];
        let many = effect(
            &sets,
            &[
                (0, 2, [300, 0]),
                (2, 0, [0, 290]),
                (1, 0, [3, 0]),
                (0, 1, [0, 0]),
                (1, 2, [0, 0]),
                (2, 1, [0, 0]),
            ],
        );
        assert_eq!(many.tendency, Tendency::OneSided);
        let first = many.first().unwrap();
        assert_eq!((&*first.from, &*first.to), ("v0", "v2"));
        assert_eq!((first.gain.count, first.inputs), (300, 1000));
        let nets: Vec<(&str, f64)> = many.values.iter().map(|of| (&*of.value, of.net)).collect();
        assert_eq!(nets, [("v1", 0.5), ("v0", 0.15), ("v2", -0.145)]);
    }

    #[test]
    fn a_value_that_no_input_has_may_be_a_disadvantage() {
        let names: Vec<String> = ["White", "Native"].map(str::to_owned).into();
        let value = CountedValue {
            value: 0,
            inputs: 175,
            ways: [0, 175],
            others: 1,
        };
        let exchange = |ways| CountedExchange {
            from: 0,
            to: 1,
            inputs: 175,
            ways,
        };
        let named = || ("race".to_owned(), &names[..]);
        let effect = AttributeEffect::new(named(), vec![value], vec![exchange([0, 175])]);
        assert_eq!(effect.tendency, Tendency::OneSided);
        let first = effect.first().unwrap();
        assert_eq!(
            (&*first.from, &*first.to, first.inputs),
            ("Native", "White", 0)
        );
        assert_eq!(effect.exchanges.len(), 2);
        let unmoved = AttributeEffect::new(named(), Vec::new(), vec![exchange([0, 0])]);
        assert_eq!(
            (unmoved.tendency, unmoved.exchanges.len()),
            (Tendency::None, 1)
        );
    }

    #[test]
    fn what_goes_both_ways_is_no_disadvantage() {
        let both = |gain, back| {
            let rows = [(1000, [gain, 0]), (1000, [back, 0])];
            effect(&rows, &[(0, 1, [gain, 0]), (1, 0, [back, 0])]).tendency
        };
        assert_eq!(both(0, 0), Tendency::None);
        assert_eq!(both(50, 45), Tendency::Balanced);
        assert_eq!(both(5, 0), Tendency::Balanced);
        assert_eq!(both(6, 0), Tendency::OneSided);
        assert_eq!(both(600, 400), Tendency::Leaning);
        assert_eq!(both(900, 100), Tendency::OneSided);
        assert_eq!(both(100, 900), Tendency::OneSided);
        assert_eq!(effect(&[(7, [0, 0])], &[]).tendency, Tendency::None);
    }

    /// Of 200 attributes whose ten values make no difference, no more than one in twenty are called
    /// one-sided or leaning, by the worst of 45 pairs of values.
    #[test]
    fn chance_makes_no_tendency() {
        use probity_run::stream::{Purpose, stream};
        use rand::RngExt;
        let tried = 200;
        let is_called = |seed: u64| {
            let mut draw = stream(seed, Purpose::Synthetic, 0, 0);
            let mut exchanges = Vec::new();
            for from in 0..10 {
                for to in (0..10).filter(|&to| to != from) {
                    let gain = (0..12).filter(|_| draw.random::<bool>()).count() as u64;
                    exchanges.push((from, to, [gain, 12 - gain]));
                }
            }
            effect(&[(100, [12, 12]); 10], &exchanges).tendency >= Tendency::Leaning
        };
        let called = (0..tried).filter(|&seed| is_called(seed)).count();
        assert!(called <= 10, "{called}");
    }
}
