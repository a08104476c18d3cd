//! Which values of a protected attribute flip decisions: pairs by both values.
//!
//! With two classes a pair is turned so that the row is the value that got the first class and the
//! column the value that got the second: what differs between a matrix and its mirror image is the
//! direction of the discrimination. With more classes the row is the value of x.

use std::collections::HashMap;

use super::findings::{AttributeFlips, OTHERS, Pair};

/// Values that a matrix has at most; others are put together.
const VALUES: usize = 12;
/// Value pairs that are told apart while counting; what comes later counts as other values.
const KINDS: usize = 200_000;
/// Ranges that numbers are put into.
const RANGES: usize = 8;

/// What was counted so far of one attribute.
pub(super) struct FlipCounts {
    attribute: String,
    classes: Option<[String; 2]>,
    counts: HashMap<(String, String), u64>,
}

impl FlipCounts {
    pub fn new(attribute: &str, classes: &[String]) -> FlipCounts {
        FlipCounts {
            attribute: attribute.to_owned(),
            classes: <[String; 2]>::try_from(classes.to_vec()).ok(),
            counts: HashMap::new(),
        }
    }

    pub fn add(&mut self, pair: &Pair) {
        let differences = pair.differences.iter();
        for difference in differences.filter(|difference| difference.attribute == self.attribute) {
            let is_turned = self
                .classes
                .as_ref()
                .is_some_and(|classes| pair.labels[0] == classes[1]);
            let (row, column) = match is_turned {
                true => (&difference.to, &difference.from),
                false => (&difference.from, &difference.to),
            };
            let key = (row.clone(), column.clone());
            if self.counts.len() < KINDS || self.counts.contains_key(&key) {
                *self.counts.entry(key).or_default() += 1;
            } else {
                *self
                    .counts
                    .entry((OTHERS.to_owned(), OTHERS.to_owned()))
                    .or_default() += 1;
            }
        }
    }

    /// The matrix; none if no pair differs in the attribute.
    pub fn finish(self) -> Option<AttributeFlips> {
        let pairs = self.counts.values().sum();
        let mut totals: HashMap<&str, u64> = HashMap::new();
        for ((row, column), count) in &self.counts {
            *totals.entry(row).or_default() += count;
            *totals.entry(column).or_default() += count;
        }
        let groups = Groups::from_totals(&totals);
        let values = groups.names();
        let mut counts = vec![vec![0; values.len()]; values.len()];
        for ((row, column), count) in &self.counts {
            counts[groups.place(row)][groups.place(column)] += count;
        }
        (pairs > 0).then_some(AttributeFlips {
            attribute: self.attribute,
            pairs,
            classes: self.classes,
            values,
            counts,
        })
    }
}

/// Values put into at most [`VALUES`] groups.
enum Groups {
    /// Each value by itself, and perhaps the rest.
    Values {
        values: Vec<String>,
        has_others: bool,
    },
    /// Numbers in ranges of equal width, with the smallest and largest number that occurs in each.
    Ranges {
        first: f64,
        width: f64,
        ends: Vec<Option<(f64, f64)>>,
    },
}

impl Groups {
    fn from_totals(totals: &HashMap<&str, u64>) -> Groups {
        let numbers: Option<Vec<f64>> = totals
            .keys()
            .map(|value| {
                value
                    .parse::<f64>()
                    .ok()
                    .filter(|number| number.is_finite())
            })
            .collect();
        match numbers {
            Some(numbers) if numbers.len() > VALUES => Groups::ranges(&numbers),
            numbers => {
                let mut values: Vec<&str> = totals.keys().copied().collect();
                // The most frequent ones are kept.
                values.sort_by(|a, b| totals[b].cmp(&totals[a]).then_with(|| a.cmp(b)));
                let has_others = values.len() > VALUES;
                if has_others {
                    values.truncate(VALUES - 1);
                }
                let number = |value: &str| value.parse::<f64>().unwrap_or(0.0);
                match numbers {
                    Some(_) => values.sort_by(|a, b| number(a).total_cmp(&number(b))),
                    None => values.sort_unstable(),
                }
                Groups::Values {
                    values: values.into_iter().map(str::to_owned).collect(),
                    has_others,
                }
            }
        }
    }

    fn ranges(numbers: &[f64]) -> Groups {
        let first = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let last = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let width = (last - first) / RANGES as f64;
        let mut ends = vec![None; RANGES];
        for &number in numbers {
            let end = &mut ends[range(first, width, number)];
            let (low, high) = end.unwrap_or((number, number));
            *end = Some((number.min(low), number.max(high)));
        }
        Groups::Ranges { first, width, ends }
    }

    fn names(&self) -> Vec<String> {
        match self {
            Groups::Values { values, has_others } => {
                let others = has_others.then(|| OTHERS.to_owned());
                values.iter().cloned().chain(others).collect()
            }
            Groups::Ranges { ends, .. } => ends
                .iter()
                .flatten()
                .map(|(low, high)| {
                    if low == high {
                        format!("{low}")
                    } else {
                        format!("{low}–{high}")
                    }
                })
                .collect(),
        }
    }

    fn place(&self, value: &str) -> usize {
        match self {
            Groups::Values { values, .. } => {
                let place = values.iter().position(|known| known == value);
                place.unwrap_or(values.len())
            }
            Groups::Ranges { first, width, ends } => {
                let number = value.parse().unwrap_or(*first);
                // Empty ranges have no place.
                let full = &ends[..range(*first, *width, number)];
                full.iter().flatten().count()
            }
        }
    }
}

/// Which range a number lies in.
fn range(first: f64, width: f64, number: f64) -> usize {
    let place = (number - first) / width;
    (place.max(0.0) as usize).min(RANGES - 1)
}

#[cfg(test)]
mod tests {
    use super::super::findings::{Difference, ShownInputs};
    use super::*;

    fn counted(classes: &[&str], pairs: &[(&str, &str, &str)]) -> Option<AttributeFlips> {
        let classes: Vec<String> = classes.iter().map(|&class| class.to_owned()).collect();
        let mut counts = FlipCounts::new("a", &classes);
        for &(from, to, label) in pairs {
            counts.add(&Pair {
                labels: [label.to_owned(), "?".to_owned()],
                scores: [1.0, 0.0],
                differences: vec![Difference {
                    attribute: "a".to_owned(),
                    from: from.to_owned(),
                    to: to.to_owned(),
                }],
                inputs: ShownInputs::Values(Vec::new()),
            });
        }
        counts.finish()
    }

    #[test]
    fn pairs_are_turned_by_their_decision() {
        // x is f and gets "low", and x is m and gets "high": both say that f gets "low" and m
        // "high".
        let flips = counted(&["low", "high"], &[("f", "m", "low"), ("m", "f", "high")]).unwrap();
        assert_eq!(flips.values, ["f", "m"]);
        assert_eq!(flips.counts, [[0, 2], [0, 0]]);
        let three = counted(&["a", "b", "c"], &[("f", "m", "a"), ("m", "f", "b")]).unwrap();
        assert_eq!(three.counts, [[0, 1], [1, 0]]);
        assert_eq!(counted(&["a", "b"], &[]), None);
    }

    #[test]
    fn many_values_are_put_together_and_none_is_lost() {
        let numbers: Vec<String> = (17..=90).map(|age| age.to_string()).collect();
        let pairs: Vec<(&str, &str, &str)> = numbers
            .windows(2)
            .map(|two| (two[0].as_str(), two[1].as_str(), "a"))
            .collect();
        let flips = counted(&["a", "b"], &pairs).unwrap();
        assert_eq!(flips.values.len(), 8);
        assert_eq!(flips.values[0], "17–26");
        assert_eq!(flips.counts.iter().flatten().sum::<u64>(), 73);
        let words: Vec<String> = (0..40).map(|word| format!("w{word:02}")).collect();
        let pairs: Vec<(&str, &str, &str)> = words
            .windows(2)
            .map(|two| (two[0].as_str(), two[1].as_str(), "a"))
            .collect();
        let flips = counted(&["a", "b"], &pairs).unwrap();
        assert_eq!(flips.values.len(), VALUES);
        assert_eq!(flips.values.last().map(String::as_str), Some(OTHERS));
        assert_eq!(flips.counts.iter().flatten().sum::<u64>(), flips.pairs);
        let mixed = counted(&["a", "b"], &[("10", "9", "a"), ("2", "10", "a")]).unwrap();
        assert_eq!(mixed.values, ["2", "9", "10"]);
    }
}
