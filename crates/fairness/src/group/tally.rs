//! What a classifier does with the rows of one group, as counts, and the rates that follow from
//! them.

/// What the classifier did with each labelled row; the vectors are equally long.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcomes {
    /// Whether the row has the favourable class.
    pub positive: Vec<bool>,
    /// Whether that is what was predicted.
    pub selected: Vec<bool>,
    /// Whether the predicted class, whichever it is, is the row's.
    pub right: Vec<bool>,
    /// Predicted probability of the favourable class, from 0 to 1.
    pub probability: Vec<f64>,
}

/// A rate of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Share of the rows predicted favourably.
    Selection,
    /// Share of the rows of the favourable class predicted favourably.
    TruePositive,
    /// Share of the other rows predicted favourably.
    FalsePositive,
    /// Share of the rows predicted right.
    Accuracy,
    /// Expected calibration error of the favourable class's probability: over bins of equal width,
    /// the mean of
    /// |mean probability − share of the favourable class|, weighted by the rows of the bin (Naeini, Cooper, Hauskrecht 2015).
    Calibration,
}

impl Measure {
    /// All of them.
    pub const ALL: [Measure; 5] = [
        Measure::Selection,
        Measure::TruePositive,
        Measure::FalsePositive,
        Measure::Accuracy,
        Measure::Calibration,
    ];

    /// Whether it is a share of rows, so that its count is binomial.
    pub fn is_share(self) -> bool {
        self != Measure::Calibration
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct CalibrationBin {
    probability: f64,
    positive: f64,
}

/// Counts of one group.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    rows: u64,
    positive: u64,
    selected: u64,
    selected_positive: u64,
    right: u64,
    bins: Vec<CalibrationBin>,
}

impl Tally {
    /// No rows yet; calibration will be judged in `bins` bins.
    fn new(bins: usize) -> Tally {
        Tally {
            rows: 0,
            positive: 0,
            selected: 0,
            selected_positive: 0,
            right: 0,
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
        let (positive, selected) = (outcomes.positive[row], outcomes.selected[row]);
        self.rows += count;
        self.positive += if positive { count } else { 0 };
        self.selected += if selected { count } else { 0 };
        self.selected_positive += if positive && selected { count } else { 0 };
        self.right += if outcomes.right[row] { count } else { 0 };
        let probability = outcomes.probability[row];
        let last = self.bins.len() - 1;
        let bin = &mut self.bins[((probability * (last + 1) as f64) as usize).min(last)];
        bin.probability += probability * f64::from(times);
        bin.positive += if positive { f64::from(times) } else { 0.0 };
    }

    /// Rows of the group.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows of the favourable class.
    pub fn positive(&self) -> u64 {
        self.positive
    }

    /// What `measure` is a share of.
    pub fn denominator(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Selection | Measure::Accuracy | Measure::Calibration => self.rows,
            Measure::TruePositive => self.positive,
            Measure::FalsePositive => self.rows - self.positive,
        }
    }

    /// The rows that `measure` counts; for the calibration error there are none.
    pub fn numerator(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Selection => self.selected,
            Measure::TruePositive => self.selected_positive,
            Measure::FalsePositive => self.selected - self.selected_positive,
            Measure::Accuracy => self.right,
            Measure::Calibration => 0,
        }
    }

    /// The rate; `None` of no rows.
    pub fn rate(&self, measure: Measure) -> Option<f64> {
        let rows = self.denominator(measure);
        if rows == 0 {
            return None;
        }
        if measure.is_share() {
            return Some(self.numerator(measure) as f64 / rows as f64);
        }
        let off: f64 = self
            .bins
            .iter()
            .map(|bin| (bin.probability - bin.positive).abs())
            .sum();
        Some(off / rows as f64)
    }
}
