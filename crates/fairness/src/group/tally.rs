//! Counts of the decisions of a classifier on the rows of one group, and the rates that follow from
//! them.

use serde::Serialize;

use super::calibration::CalibrationError;

/// The outcome of a row whose class is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the row has the favourable class.
    pub positive: bool,
    /// Whether the predicted class, whichever it is, is the row's.
    pub right: bool,
}

/// The outcomes of the classifier on each row; the vectors are equally long.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcomes {
    /// The outcome of the row, where its class is known.
    pub known: Vec<Option<Outcome>>,
    /// Whether the favourable class was predicted for the row.
    pub selected: Vec<bool>,
    /// Predicted probability of the favourable class, from 0 to 1.
    pub probability: Vec<f64>,
}

/// A share of rows of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Share of the rows predicted favourably.
    Selection,
    /// Share of the rows of the favourable class predicted favourably.
    TruePositive,
    /// Share of the other rows predicted favourably.
    FalsePositive,
    /// Share of the rows with a known class predicted right.
    Accuracy,
}

impl Measure {
    /// All measures.
    pub const ALL: [Measure; 4] = [
        Measure::Selection,
        Measure::TruePositive,
        Measure::FalsePositive,
        Measure::Accuracy,
    ];
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct CalibrationBin {
    probability: f64,
    positive: f64,
}

/// A rate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// The rate.
    pub value: f64,
    /// For a share of rows the exact (Clopper-Pearson) interval, for the calibration error that of
    /// [`super::calibration`]: both hold for any number of rows.
    pub ci95: [f64; 2],
}

/// Counts of one group.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    rows: u64,
    selected: u64,
    /// Number of rows whose class is known: all the counts that follow are of these rows.
    known: u64,
    positive: u64,
    selected_positive: u64,
    selected_known: u64,
    right: u64,
    /// Sum of the squares of p − y: Σ (probability − 1 or 0 as the row has the favourable class or
    /// not)².
    squares: f64,
    bins: Vec<CalibrationBin>,
}

impl Tally {
    /// Counts of no rows yet; calibration will be judged in `bins` bins.
    fn new(bins: usize) -> Tally {
        Tally {
            rows: 0,
            selected: 0,
            known: 0,
            positive: 0,
            selected_positive: 0,
            selected_known: 0,
            right: 0,
            squares: 0.0,
            bins: vec![CalibrationBin::default(); bins],
        }
    }

    /// The counts of each of `groups` groups, where row i is in group `of_row[i]` and counts
    /// `times[i]` times.
    pub fn of_groups(
        outcomes: &Outcomes,
        of_row: &[u32],
        groups: usize,
        bins: usize,
        times: &[u32],
    ) -> Vec<Tally> {
        let mut tallies = vec![Tally::new(bins); groups];
        for (row, (&group, &times)) in of_row.iter().zip(times).enumerate() {
            if times > 0 {
                tallies[group as usize].add(outcomes, row, times);
            }
        }
        tallies
    }

    fn add(&mut self, outcomes: &Outcomes, row: usize, times: u32) {
        let count = u64::from(times);
        let selected = outcomes.selected[row];
        self.rows += count;
        self.selected += if selected { count } else { 0 };
        let Some(Outcome { positive, right }) = outcomes.known[row] else {
            return;
        };
        self.known += count;
        self.positive += if positive { count } else { 0 };
        self.selected_positive += if positive && selected { count } else { 0 };
        self.selected_known += if selected { count } else { 0 };
        self.right += if right { count } else { 0 };
        let probability = outcomes.probability[row];
        let label = if positive { 1.0 } else { 0.0 };
        self.squares += (probability - label).powi(2) * f64::from(times);
        let last = self.bins.len() - 1;
        let bin = &mut self.bins[((probability * (last + 1) as f64) as usize).min(last)];
        bin.probability += probability * f64::from(times);
        bin.positive += label * f64::from(times);
    }

    /// Number of rows of the group.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of rows whose class is known.
    pub fn known(&self) -> u64 {
        self.known
    }

    /// Number of rows of the favourable class.
    pub fn positive(&self) -> u64 {
        self.positive
    }

    /// Number of rows that `measure` is a share of.
    pub fn denominator(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Selection => self.rows,
            Measure::Accuracy => self.known,
            Measure::TruePositive => self.positive,
            Measure::FalsePositive => self.known - self.positive,
        }
    }

    /// Number of rows that `measure` counts.
    pub fn numerator(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Selection => self.selected,
            Measure::TruePositive => self.selected_positive,
            Measure::FalsePositive => self.selected_known - self.selected_positive,
            Measure::Accuracy => self.right,
        }
    }

    /// The rate of `measure`; `None` where it is a share of no rows.
    pub fn rate(&self, measure: Measure) -> Option<f64> {
        let rows = self.denominator(measure);
        (rows > 0).then(|| self.numerator(measure) as f64 / rows as f64)
    }

    /// The expected calibration error of the probability of the favourable class, over bins of
    /// equal width; `None` of no rows whose class is known.
    pub fn calibration(&self) -> Option<CalibrationError> {
        if self.known == 0 {
            return None;
        }
        let bins = self.bins.iter();
        let off: f64 = bins.map(|bin| (bin.probability - bin.positive).abs()).sum();
        Some(CalibrationError {
            value: off / self.known as f64,
            rows: self.known,
            mean_square: self.squares / self.known as f64,
            bins: self.bins.len(),
        })
    }
}
