//! Pairs by the rows or texts of the file that they were made from: one of each is shown, the nearest
//! to it; where an audit ranked its pairs, the worst.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::findings::ShownPair;

/// How near an input is to its source. The nearest one stands for all that were made from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nearness {
    /// What was changed: words of a text, moves of a row.
    pub changes: u64,
    /// How close it is to the source: the nearest of those with equally many changes has the largest.
    pub closeness: f64,
}

impl Nearness {
    fn is_nearer(self, other: Nearness) -> bool {
        let closer = || other.closeness.total_cmp(&self.closeness);
        self.changes.cmp(&other.changes).then_with(closer) == Ordering::Less
    }
}

/// The pairs seen so far.
pub(super) struct Sources {
    /// Whether the first pair of a source stands for it.
    are_ranked: bool,
    of: HashMap<u64, Source>,
}

/// The pairs of one source.
struct Source {
    nearness: Nearness,
    shown: ShownPair,
    /// Whether it flips as it is.
    is_unmodified: bool,
    pairs: u64,
}

impl Sources {
    /// None yet; `are_ranked` says that pairs come the worst first.
    pub fn new(are_ranked: bool) -> Sources {
        Sources {
            are_ranked,
            of: HashMap::new(),
        }
    }

    /// Counts `pair`, which was made from the source with this key. It is unmodified where nothing was
    /// changed.
    pub fn see(&mut self, key: u64, pair: ShownPair, nearness: Nearness) {
        let pair = ShownPair {
            is_unmodified: nearness.changes == 0,
            ..pair
        };
        let Some(source) = self.of.get_mut(&key) else {
            let source = Source {
                nearness,
                is_unmodified: pair.is_unmodified,
                shown: pair,
                pairs: 1,
            };
            self.of.insert(key, source);
            return;
        };
        source.pairs += 1;
        source.is_unmodified |= pair.is_unmodified;
        if !self.are_ranked && nearness.is_nearer(source.nearness) {
            (source.nearness, source.shown) = (nearness, pair);
        }
    }

    /// The pair of each source, in the order of the file; how many sources flip as they are.
    pub fn finish(self) -> (Vec<ShownPair>, u64) {
        let unmodified = self.of.values().filter(|source| source.is_unmodified);
        let unmodified = unmodified.count() as u64;
        let shown = self.of.into_values().map(|source| ShownPair {
            more: source.pairs - 1,
            ..source.shown
        });
        let mut shown: Vec<ShownPair> = shown.collect();
        shown.sort_by_key(|pair| pair.number);
        (shown, unmodified)
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings::ShownInputs;
    use super::*;

    /// The numbers of the pairs shown, whether they are unmodified and how many more there are; and how
    /// many sources are.
    fn shown(are_ranked: bool) -> (Vec<(u64, bool, u64)>, u64) {
        let mut sources = Sources::new(are_ranked);
        // Sources, changes and closeness, numbered in this order.
        let seen = [
            (7, 2, 0.9),
            (7, 1, 0.7),
            (7, 1, 0.8),
            (3, 0, 1.0),
            (3, 1, 0.9),
        ];
        for (number, (key, changes, closeness)) in (1..).zip(seen) {
            let pair = ShownPair {
                number,
                gap: 0.5,
                plausibility: None,
                labels: ["a", "b"].map(str::to_owned),
                scores: [0.75, 0.25],
                differences: Vec::new(),
                is_unmodified: false,
                more: 0,
                inputs: ShownInputs::Values(Vec::new()),
            };
            let nearness = Nearness { changes, closeness };
            sources.see(key, pair, nearness);
        }
        let (shown, unmodified) = sources.finish();
        let shown = shown
            .iter()
            .map(|pair| (pair.number, pair.is_unmodified, pair.more));
        (shown.collect(), unmodified)
    }

    #[test]
    fn the_nearest_pair_stands_for_its_source_and_the_worst_where_pairs_are_ranked() {
        assert_eq!(shown(false), (vec![(3, false, 2), (4, true, 1)], 1));
        assert_eq!(shown(true), (vec![(1, false, 2), (4, true, 1)], 1));
    }
}
