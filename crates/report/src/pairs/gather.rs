//! Counting pairs one by one.

use std::collections::BTreeMap;
use std::path::Path;

use super::findings::{GAP_BINS, Gaps, Pair, PairFindings, ShownPair, Together};
use super::flips::FlipCounts;
use super::selection::Selection;
use crate::error::PageError;
use probity_data::read::Record;

/// Combinations of attributes that are listed.
const COMBINATIONS: usize = 12;

/// The pairs of an audit.
pub(in super::super) struct PairFile<'a> {
    /// The file.
    pub file: &'a Path,
    /// Protected attributes.
    pub protected: &'a [String],
    /// What can be decided, where that is not the classes.
    pub decisions: &'a [String],
    /// The class that is good to get, or the positive one, where it is said.
    pub favourable: Option<&'a str>,
    /// The strategy that searched.
    pub strategy: &'a str,
    /// Whether the worst pairs come first, rather than those found first.
    pub are_ranked: bool,
}

impl PairFile<'_> {
    /// What can be decided between `classes`.
    pub(super) fn decisions<'a>(&'a self, classes: &'a [String]) -> &'a [String] {
        match self.decisions.is_empty() {
            true => classes,
            false => self.decisions,
        }
    }

    /// The class of two by whose probability all pairs are scored: the favourable one, else the
    /// last. Of more than two any may rise while the others fall, so that each pair has its own.
    pub(super) fn score_class(&self, classes: &[String]) -> Option<usize> {
        let [_, _] = classes else { return None };
        let is_favourable = |class: &String| Some(class.as_str()) == self.favourable;
        Some(classes.iter().position(is_favourable).unwrap_or(1))
    }

    /// Which of `classes` a pair is scored by whose sides have these `labels` and probabilities.
    ///
    /// # Errors
    /// When `record` decides what cannot be.
    pub(super) fn scored(
        &self,
        record: &Record<'_>,
        classes: &[String],
        labels: &[String; 2],
        [x, other]: [&[f64]; 2],
    ) -> Result<usize, PageError> {
        let decisions = self.decisions(classes);
        for (name, label) in [("label_x", &labels[0]), ("label_other", &labels[1])] {
            if !decisions.contains(label) {
                let expected = "what can be decided by the columns of logits or the summary";
                return Err(PageError::cell(self.file, record, (name, label), expected));
            }
        }
        let falls = |class: &usize| x[*class] - other[*class];
        let most = || (0..classes.len()).max_by(|a, b| falls(a).total_cmp(&falls(b)));
        let own = || classes.iter().position(|class| *class == labels[0]);
        let named = self.score_class(classes);
        Ok(named.or_else(own).or_else(most).unwrap_or_default())
    }
}

/// What was counted so far.
pub(super) struct Gather {
    classes: Vec<String>,
    score_class: Option<String>,
    pairs: u64,
    flips: Vec<FlipCounts>,
    together: BTreeMap<Vec<String>, u64>,
    bins: Vec<u64>,
    /// Where the last bin ends.
    end: f64,
    /// Whether scores are numbers, rather than probabilities.
    are_numbers: bool,
    sum: f64,
    largest: f64,
    selection: Selection,
}

impl Gather {
    pub fn new(from: &PairFile<'_>, classes: &[String]) -> Gather {
        let score_class = from
            .score_class(classes)
            .map(|place| classes[place].clone());
        let classes = from.decisions(classes).to_vec();
        let (protected, are_ranked) = (from.protected, from.are_ranked);
        let flips = protected.iter().map(|name| FlipCounts::new(name, &classes));
        Gather {
            flips: flips.collect(),
            selection: Selection::new(protected, are_ranked),
            classes,
            score_class,
            pairs: 0,
            together: BTreeMap::new(),
            bins: vec![0; GAP_BINS],
            end: 1.0,
            are_numbers: false,
            sum: 0.0,
            largest: 0.0,
        }
    }

    /// Returns it for pairs whose scores are numbers.
    pub fn of_numbers(self) -> Gather {
        Gather {
            are_numbers: true,
            ..self
        }
    }

    /// Makes room for `gap`: bins double their width until it is in one; that of the first pair is
    /// at the middle.
    fn widen(&mut self, gap: f64) {
        if self.pairs == 1 && gap > 0.0 {
            self.end = 2.0 * gap;
        }
        while gap > self.end {
            let pairs = self.bins.chunks(2).map(|two| two.iter().sum());
            let mut wider: Vec<u64> = pairs.collect();
            wider.resize(GAP_BINS, 0);
            (self.bins, self.end) = (wider, 2.0 * self.end);
        }
    }

    /// Counts `pair`, and says how it would be shown.
    pub fn count(&mut self, pair: Pair) -> ShownPair {
        self.pairs += 1;
        let gap = (pair.scores[0] - pair.scores[1]).abs();
        let gap = match (gap.is_finite(), self.are_numbers) {
            (false, _) => 0.0,
            (true, false) => gap.min(1.0),
            (true, true) => gap,
        };
        if self.are_numbers {
            self.widen(gap);
        }
        let bin = ((gap / self.end * GAP_BINS as f64) as usize).min(GAP_BINS - 1);
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
            is_unmodified: false,
            more: 0,
            inputs: pair.inputs,
        }
    }

    /// Shows those of `pairs` that are among the most severe.
    pub fn offer(&mut self, pairs: Vec<ShownPair>) {
        pairs
            .into_iter()
            .for_each(|pair| self.selection.offer(pair));
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
            score_class: self.score_class,
            flips: self
                .flips
                .into_iter()
                .filter_map(FlipCounts::finish)
                .collect(),
            together,
            searched: None,
            texts: None,
            rows: None,
            gaps: Gaps {
                bins: self.bins,
                end: self.end,
                are_numbers: self.are_numbers,
                mean: self.sum / self.pairs.max(1) as f64,
                largest: self.largest,
            },
            shown: self.selection.finish(),
        }
    }
}
