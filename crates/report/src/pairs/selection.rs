//! Which pairs are shown: the most severe of all, of each attribute, and of unmodified texts.

use std::collections::BTreeMap;

use super::findings::ShownPair;

/// Pairs kept at most.
pub(crate) const MOST: usize = 300;

/// The most severe pairs so far, of all and of each attribute.
pub(super) struct Selection {
    all: Best,
    of: Vec<(String, Best)>,
    /// Those of texts as they are: a search can make more severe ones of each.
    unmodified: Best,
}

/// The `limit` most severe pairs, and now and then some more that are yet to be dropped.
struct Best {
    limit: usize,
    /// A gap that is no larger is not among the most severe.
    enough: f64,
    pairs: Vec<ShownPair>,
}

impl Best {
    fn new(limit: usize) -> Best {
        Best {
            limit,
            enough: -1.0,
            pairs: Vec::new(),
        }
    }

    fn offer(&mut self, pair: &ShownPair) {
        // Of equal gaps the one found first is kept.
        if pair.gap <= self.enough {
            return;
        }
        self.pairs.push(pair.clone());
        if self.pairs.len() >= 2 * self.limit.max(32) {
            self.tidy();
        }
    }

    fn tidy(&mut self) {
        sort(&mut self.pairs);
        self.pairs.truncate(self.limit);
        if self.pairs.len() == self.limit {
            self.enough = self.pairs.last().map_or(-1.0, |pair| pair.gap);
        }
    }
}

/// The most severe first; of equal ones, the one found first.
fn sort(pairs: &mut [ShownPair]) {
    pairs.sort_by(|a, b| b.gap.total_cmp(&a.gap).then(a.number.cmp(&b.number)));
}

impl Selection {
    pub fn new(attributes: &[String]) -> Selection {
        let each = MOST / 2 / attributes.len().max(1);
        let of = attributes
            .iter()
            .map(|name| (name.clone(), Best::new(each.max(3))));
        Selection {
            all: Best::new(MOST),
            of: of.collect(),
            unmodified: Best::new(MOST / 4),
        }
    }

    pub fn offer(&mut self, pair: ShownPair) {
        for (name, best) in &mut self.of {
            if pair
                .differences
                .iter()
                .any(|difference| difference.attribute == *name)
            {
                best.offer(&pair);
            }
        }
        if pair.is_unmodified() {
            self.unmodified.offer(&pair);
        }
        self.all.offer(&pair);
    }

    /// The pairs, the most severe first: those of each attribute and of unmodified texts,
    /// filled up with the most severe of all.
    pub fn finish(mut self) -> Vec<ShownPair> {
        let mut chosen = BTreeMap::new();
        let of = self.of.iter_mut().map(|(_, best)| best);
        for best in of.chain([&mut self.unmodified, &mut self.all]) {
            best.tidy();
            for pair in best.pairs.drain(..) {
                if chosen.len() < MOST {
                    chosen.entry(pair.number).or_insert(pair);
                }
            }
        }
        let mut pairs: Vec<ShownPair> = chosen.into_values().collect();
        sort(&mut pairs);
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings::{Difference, ShownInputs};
    use super::*;

    fn pair(number: u64, gap: f64, attribute: &str) -> ShownPair {
        ShownPair {
            number,
            gap,
            plausibility: None,
            labels: ["a".to_owned(), "b".to_owned()],
            scores: [gap, 0.0],
            differences: vec![Difference {
                attribute: attribute.to_owned(),
                from: "1".to_owned(),
                to: "2".to_owned(),
            }],
            inputs: ShownInputs::Values(Vec::new()),
        }
    }

    #[test]
    fn the_most_severe_are_kept_and_no_attribute_is_crowded_out() {
        let names = ["often", "rare"].map(str::to_owned);
        let mut selection = Selection::new(&names);
        for number in 1..=20_000_u64 {
            let is_rare = number % 2000 == 0;
            let gap = if is_rare {
                0.01
            } else {
                (number % 997) as f64 / 1000.0
            };
            selection.offer(pair(number, gap, &names[usize::from(is_rare)]));
        }
        let shown = selection.finish();
        assert_eq!(shown.len(), MOST);
        assert!(shown.is_sorted_by(|a, b| a.gap >= b.gap));
        assert_eq!(shown[0].gap, 0.996);
        let rare = shown
            .iter()
            .filter(|pair| pair.differences[0].attribute == "rare");
        assert_eq!(rare.count(), 10);
        // The 290 others are the most severe ones.
        let least = shown
            .iter()
            .filter(|pair| pair.gap > 0.01)
            .map(|pair| pair.gap)
            .fold(1.0, f64::min);
        assert!(least > 0.97, "{least}");
    }

    /// A search can make texts of each that move further than any text does as it is.
    #[test]
    fn unmodified_texts_are_not_crowded_out() {
        let mut selection = Selection::new(&["a".to_owned()]);
        for number in 1..=1000_u64 {
            let is_unmodified = number % 100 == 0;
            let changed = if is_unmodified { "" } else { "0: a -> b" };
            let gap = if is_unmodified { 0.01 } else { 0.5 };
            let inputs = ShownInputs::Texts {
                x: String::new(),
                other: String::new(),
                changed: changed.to_owned(),
                source: String::new(),
                source_row: number,
                more: 0,
            };
            selection.offer(ShownPair {
                inputs,
                ..pair(number, gap, "a")
            });
        }
        let shown = selection.finish();
        assert_eq!(shown.len(), MOST);
        let unmodified = shown.iter().filter(|pair| pair.is_unmodified()).count();
        assert_eq!(unmodified, 10);
    }
}
