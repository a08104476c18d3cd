//! Combinations of protected values that are at a disadvantage together, beyond what each value is by
//! itself.
//!
//! Changing one attribute alone hides whom two of them meet together: if women from the south are
//! decided worse than everybody else, some women and some people from the south gain as others, and
//! neither figure says that it is always the same persons.
//!
//! A combination is told of if two things are shown. Its rows gain with other values more often than
//! they lose: the exact interval of the former among both lies above one half. And the share of them that
//! gains is larger than the shares of the other rows with each of its values, added up: of women from
//! elsewhere and of men from the south, here. The lower end of its exact interval lies above the sum of
//! the upper ends of theirs, so that if the rows are drawn independently, and it is in truth no larger
//! than the sum, one in twenty audits at most tells of any combination: the level is divided by the
//! number of all intervals (Bonferroni). Where two values are a disadvantage each, and both together are
//! one that is as large as both, no combination is told of.

use std::collections::BTreeMap;

use serde::Serialize;

use super::people::Groups;
use super::tally::GroupCounts;
use crate::statistics::{Share, clopper_pearson};

/// Largest number of combinations that are told of.
const LISTED: usize = 20;

/// The rows with some values of several protected attributes, all of which may be changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Intersection {
    /// The attributes.
    pub attributes: Vec<String>,
    /// The value, or the range of values, of each.
    pub values: Vec<String>,
    /// Number of rows with all of them.
    pub rows: u64,
    /// Share of these that would gain with other values.
    pub gain: Share,
    /// Share of these that would lose with other values.
    pub lose: Share,
    /// For each attribute, the share that would gain of the other rows with its value.
    pub others: Vec<Share>,
}

/// Returns the combinations of `by` that are at a disadvantage together, by the `counts` of each: those
/// of which most gain first, by the lower ends of their intervals, at most 20.
pub(super) fn intersections(by: &Groups, counts: &[GroupCounts]) -> Vec<Intersection> {
    let attributes = by.attributes.len();
    let present = counts.iter().filter(|counts| counts[0] > 0).count();
    if attributes < 2 || present < 2 {
        return Vec::new();
    }
    let alpha = 0.05 / (present * (attributes + 1)) as f64;
    // For each attribute and value, the rows with it and those of them that gain.
    let mut with_value: Vec<BTreeMap<&str, [u64; 2]>> = vec![BTreeMap::new(); attributes];
    for (values, counts) in by.values.iter().zip(counts) {
        for (with_value, value) in with_value.iter_mut().zip(values) {
            let sums = with_value.entry(value.as_str()).or_default();
            sums[0] += counts[0];
            sums[1] += counts[2];
        }
    }
    let told = by.values.iter().zip(counts).filter_map(|(values, counts)| {
        let &[rows, _, gain, lose, _] = counts;
        let is_against = gain > 0 && clopper_pearson(gain, gain + lose, alpha)[0] > 0.5;
        if !is_against {
            return None;
        }
        let least = clopper_pearson(gain, rows, alpha)[0];
        let others = with_value.iter().zip(values).map(|(with_value, value)| {
            let [all, gaining] = with_value.get(value.as_str())?;
            let (rest, gaining) = (all - rows, gaining - gain);
            (rest > 0).then(|| (clopper_pearson(gaining, rest, alpha)[1], gaining, rest))
        });
        let others: Vec<(f64, u64, u64)> = others.collect::<Option<_>>()?;
        let most: f64 = others.iter().map(|(most, ..)| most).sum();
        let shares = others
            .into_iter()
            .map(|(_, count, of)| Share::new(count, of));
        (least > most).then(|| {
            let intersection = Intersection {
                attributes: by.attributes.clone(),
                values: values.clone(),
                rows,
                gain: Share::new(gain, rows),
                lose: Share::new(lose, rows),
                others: shares.collect(),
            };
            (least, intersection)
        })
    });
    let mut told: Vec<(f64, Intersection)> = told.collect();
    // Stable: of equal ones the first.
    told.sort_by(|a, b| b.0.total_cmp(&a.0));
    told.truncate(LISTED);
    told.into_iter().map(|(_, it)| it).collect()
}

#[cfg(test)]
mod tests {
    use probity_run::stream::{Purpose, stream};
    use rand::RngExt;

    use super::*;

    /// Two values of sex by three of origin, and how many of 1,000 rows of each gain and lose.
    fn told(ways: [[u64; 2]; 6]) -> Vec<Intersection> {
        let values = ["f", "m"].iter().flat_map(|sex| {
            let origins = ["north", "south", "east"];
            origins.map(|origin| vec![(*sex).to_owned(), origin.to_owned()])
        });
        let by = Groups {
            attributes: vec!["sex".to_owned(), "origin".to_owned()],
            values: values.collect(),
            of_variant: (0..6).collect(),
        };
        let counts = ways.map(|[gain, lose]| [1000, gain + lose, gain, lose, 500]);
        intersections(&by, &counts)
    }

    #[test]
    fn a_combination_is_told_of_where_its_values_alone_do_not_explain_it() {
        // Women from the south alone.
        let found = told([[5, 0], [280, 0], [4, 0], [0, 90], [3, 95], [0, 90]]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].values, ["f", "south"]);
        assert_eq!((found[0].gain.count, found[0].rows), (280, 1000));
        let others: Vec<(u64, f64)> = found[0]
            .others
            .iter()
            .map(|it| (it.count, it.share))
            .collect();
        assert_eq!(others, [(9, 0.0045), (3, 0.003)]);
        // All women alike, wherever they are from.
        assert_eq!(
            told([[200, 0], [205, 0], [195, 0], [0, 99], [0, 99], [0, 99]]),
            []
        );
        // Women, and people from the south, and for those who are both it adds up.
        assert_eq!(
            told([[120, 0], [180, 0], [120, 0], [0, 60], [60, 0], [0, 60]]),
            []
        );
        // As many lose as gain: nobody's disadvantage.
        assert_eq!(
            told([[5, 5], [280, 270], [4, 4], [3, 3], [3, 3], [3, 3]]),
            []
        );
        assert_eq!(told([[0, 0]; 6]), []);
    }

    #[test]
    fn chance_tells_of_no_combination() {
        let is_told = |seed: u64| {
            let mut draw = stream(seed, Purpose::Synthetic, 0, 50);
            let ways = std::array::from_fn(|_| {
                let gain = (0..1000).filter(|_| draw.random_bool(0.06)).count() as u64;
                [gain, 0]
            });
            !told(ways).is_empty()
        };
        let told = (0..200).filter(|&seed| is_told(seed)).count();
        assert!(told <= 10, "{told}");
    }
}
