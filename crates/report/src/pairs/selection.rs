//! Which pairs are shown: the most severe of all, of each attribute, and of unmodified rows or texts.
//! Where an audit ranked its pairs, those are the most severe that it put first.

use std::collections::BTreeMap;

use super::findings::ShownPair;

/// Pairs kept at most.
pub(crate) const MOST: usize = 300;

/// The most severe pairs so far, of all and of each attribute.
pub(super) struct Selection {
    all: Best,
    of: Vec<(String, Best)>,
    /// The most severe pairs of rows or texts as they are: a search can make more severe ones of each.
    unmodified: Best,
    are_ranked: bool,
}

/// The `limit` most severe pairs, and now and then some more that are yet to be dropped.
struct Best {
    limit: usize,
    are_ranked: bool,
    /// What is no more severe is not among the most severe.
    enough: f64,
    pairs: Vec<ShownPair>,
}

impl Best {
    fn new(limit: usize, are_ranked: bool) -> Best {
        Best {
            limit,
            are_ranked,
            enough: f64::NEG_INFINITY,
            pairs: Vec::new(),
        }
    }

    fn offer(&mut self, pair: &ShownPair) {
        // Of equal ones the first is kept.
        if severity(pair, self.are_ranked) <= self.enough {
            return;
        }
        self.pairs.push(pair.clone());
        if self.pairs.len() >= 2 * self.limit.max(32) {
            self.tidy();
        }
    }

    fn tidy(&mut self) {
        sort(&mut self.pairs, self.are_ranked);
        self.pairs.truncate(self.limit);
        if let Some(last) = self.pairs.get(self.limit - 1) {
            self.enough = severity(last, self.are_ranked);
        }
    }
}

/// How far the score moves; where pairs are ranked, how early one stands.
fn severity(pair: &ShownPair, are_ranked: bool) -> f64 {
    match are_ranked {
        true => -(pair.number as f64),
        false => pair.gap,
    }
}

/// The most severe first; of equal ones, the one found first.
fn sort(pairs: &mut [ShownPair], are_ranked: bool) {
    let severity = |pair: &ShownPair| severity(pair, are_ranked);
    pairs.sort_by(|a, b| {
        let by_severity = severity(b).total_cmp(&severity(a));
        by_severity.then(a.number.cmp(&b.number))
    });
}

impl Selection {
    /// None yet; `are_ranked` says that pairs stand in the file the worst first.
    pub fn new(attributes: &[String], are_ranked: bool) -> Selection {
        let each = MOST / 2 / attributes.len().max(1);
        let best = |limit| Best::new(limit, are_ranked);
        let of = attributes
            .iter()
            .map(|name| (name.clone(), best(each.max(3))));
        Selection {
            all: best(MOST),
            of: of.collect(),
            unmodified: best(MOST / 2),
            are_ranked,
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
        if pair.is_unmodified {
            self.unmodified.offer(&pair);
        }
        self.all.offer(&pair);
    }

    /// The pairs, those of unmodified rows or texts first unless pairs are ranked, then the most severe:
    /// those of each attribute and unmodified ones, filled up with the most severe of all.
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
        sort(&mut pairs, self.are_ranked);
        if !self.are_ranked {
            pairs.sort_by_key(|pair| !pair.is_unmodified);
        }
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
            is_unmodified: false,
            more: 0,
            inputs: ShownInputs::Values(Vec::new()),
        }
    }

    #[test]
    fn the_most_severe_are_kept_and_no_attribute_is_crowded_out() {
        let names = ["often", "rare"].map(str::to_owned);
        let mut selection = Selection::new(&names, false);
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

    /// A search can make rows of each that move further than any row does as it is.
    #[test]
    fn unmodified_rows_are_not_crowded_out_and_come_first() {
        let shown = |are_ranked: bool| {
            let mut selection = Selection::new(&["a".to_owned()], are_ranked);
            for number in 1..=1000_u64 {
                let is_unmodified = number % 100 == 0;
                let gap = if is_unmodified { 0.01 } else { 0.5 };
                selection.offer(ShownPair {
                    is_unmodified,
                    ..pair(number, gap, "a")
                });
            }
            selection.finish()
        };
        let ranked = shown(true);
        assert_eq!(ranked.len(), MOST);
        assert!(ranked.is_sorted_by(|a, b| a.number < b.number));
        // Of the first 292, and the 10 unmodified ones.
        assert!(
            ranked[..290]
                .iter()
                .zip(1..)
                .all(|(pair, at)| pair.number == at)
        );
        assert_eq!(ranked[MOST - 1].number, 1000);
        let shown = shown(false);
        assert_eq!(shown.len(), MOST);
        let unmodified = shown.iter().take_while(|pair| pair.is_unmodified).count();
        assert_eq!(unmodified, 10);
        assert!(!shown[10..].iter().any(|pair| pair.is_unmodified));
    }
}
