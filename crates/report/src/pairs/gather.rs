//! Counting pairs one by one.

use std::collections::BTreeMap;

use super::findings::{GAP_BINS, Gaps, Pair, PairFindings, ShownPair, Together};
use super::flips::FlipCounts;
use super::selection::Selection;

/// Combinations of attributes that are listed.
const COMBINATIONS: usize = 12;

/// What was counted so far.
pub(super) struct Gather {
    classes: Vec<String>,
    pairs: u64,
    flips: Vec<FlipCounts>,
    together: BTreeMap<Vec<String>, u64>,
    bins: Vec<u64>,
    sum: f64,
    largest: f64,
    selection: Selection,
}

impl Gather {
    pub fn new(protected: &[String], classes: Vec<String>) -> Gather {
        let flips = protected.iter().map(|name| FlipCounts::new(name, &classes));
        Gather {
            flips: flips.collect(),
            selection: Selection::new(protected),
            classes,
            pairs: 0,
            together: BTreeMap::new(),
            bins: vec![0; GAP_BINS],
            sum: 0.0,
            largest: 0.0,
        }
    }

    /// Counts `pair`, and says how it would be shown.
    pub fn count(&mut self, pair: Pair) -> ShownPair {
        self.pairs += 1;
        let gap = (pair.scores[0] - pair.scores[1]).abs();
        let gap = if gap.is_finite() { gap.min(1.0) } else { 0.0 };
        let bin = ((gap * GAP_BINS as f64) as usize).min(GAP_BINS - 1);
        self.bins[bin] += 1;
        self.sum += gap;
        self.largest = self.largest.max(gap);
        for flips in &mut self.flips {
            flips.add(&pair);
        }
        let attributes: Vec<String> = pair
            .differences
            .iter()
            .map(|difference| difference.attribute.clone())
            .collect();
        *self.together.entry(attributes).or_default() += 1;
        ShownPair {
            number: self.pairs,
            gap,
            plausibility: None,
            labels: pair.labels,
            scores: pair.scores,
            differences: pair.differences,
            inputs: pair.inputs,
        }
    }

    /// Shows `pair` if it is among the most severe.
    pub fn offer(&mut self, pair: ShownPair) {
        self.selection.offer(pair);
    }

    pub fn finish(self) -> PairFindings {
        let mut together: Vec<Together> = self
            .together
            .into_iter()
            .map(|(attributes, pairs)| Together { attributes, pairs })
            .collect();
        together.sort_by_key(|together| std::cmp::Reverse(together.pairs));
        together.truncate(COMBINATIONS);
        PairFindings {
            pairs: self.pairs,
            columns: Vec::new(),
            classes: self.classes,
            flips: self
                .flips
                .into_iter()
                .filter_map(FlipCounts::finish)
                .collect(),
            together,
            searched: None,
            texts: None,
            gaps: Gaps {
                bins: self.bins,
                mean: self.sum / self.pairs.max(1) as f64,
                largest: self.largest,
            },
            shown: self.selection.finish(),
        }
    }
}
