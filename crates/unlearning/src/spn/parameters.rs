//! The parameters of learning, checked once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::errors::SpnError;

/// How dependence between two columns is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Independence {
    /// G-test over declared bins, updated in O(variables²) for each deleted row
    #[default]
    Gtest,
    /// Randomised dependence coefficient, computed anew at each deletion, as in the paper
    Rdc,
}

impl Independence {
    /// The coefficient above which columns are dependent, where none is given.
    pub const RDC_THRESHOLD: f64 = 0.3;
}

/// The parameters of LearnSPN.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SpnParameters {
    /// The seed of every draw.
    pub seed: u64,
    /// The paper's t: the number of rows up to which they are factorised naively.
    pub min_rows: usize,
    /// The test that decides dependence.
    pub independence: Independence,
    /// The threshold of dependence. G-test: two columns are dependent when the p-value of their
    /// table is below this; where none is given, rows that are held out choose it
    /// ([`super::choice`]). RDC: when their coefficient is above this,
    /// [`Independence::RDC_THRESHOLD`] where none is given.
    pub threshold: Option<f64>,
    /// The number of rows that choose the threshold, for a G-test without one.
    pub choice_rows: usize,
    /// The number of clusters of a data split.
    pub clusters: u8,
    /// The largest number of bins of an ordered column in a contingency table.
    pub bins: u16,
    /// The number of pseudo-observations at every leaf.
    pub smoothing: f64,
}

impl Default for SpnParameters {
    fn default() -> SpnParameters {
        SpnParameters {
            seed: 1,
            min_rows: 50,
            independence: Independence::Gtest,
            threshold: None,
            choice_rows: 8000,
            clusters: 2,
            bins: 16,
            smoothing: 1.0,
        }
    }
}

impl SpnParameters {
    /// Sets the seed of every draw.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> SpnParameters {
        self.seed = seed;
        self
    }

    /// Sets the number of rows up to which they are factorised naively.
    #[must_use]
    pub fn min_rows(mut self, min_rows: usize) -> SpnParameters {
        self.min_rows = min_rows;
        self
    }

    /// Sets the threshold of dependence.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> SpnParameters {
        self.threshold = Some(threshold);
        self
    }

    /// Sets the number of rows that choose the threshold of the G-test.
    #[must_use]
    pub fn choice_rows(mut self, choice_rows: usize) -> SpnParameters {
        self.choice_rows = choice_rows;
        self
    }

    /// Sets the number of clusters of a data split.
    #[must_use]
    pub fn clusters(mut self, clusters: u8) -> SpnParameters {
        self.clusters = clusters;
        self
    }

    /// Sets the largest number of bins of an ordered column in a contingency table.
    #[must_use]
    pub fn bins(mut self, bins: u16) -> SpnParameters {
        self.bins = bins;
        self
    }

    /// Sets the number of pseudo-observations at every leaf.
    #[must_use]
    pub fn smoothing(mut self, smoothing: f64) -> SpnParameters {
        self.smoothing = smoothing;
        self
    }

    /// Sets the test of dependence, at its usual threshold.
    #[must_use]
    pub fn independence(mut self, independence: Independence) -> SpnParameters {
        self.independence = independence;
        self.threshold = None;
        self
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`SpnError::Parameter`] that names the first one out of its range.
    pub fn check(&self) -> Result<(), SpnError> {
        let refuse = |name, value: String, expected| {
            Err(SpnError::Parameter {
                name,
                value,
                expected,
            })
        };
        if self.min_rows == 0 {
            return refuse("min_rows", "0".to_owned(), "at least 1");
        }
        if let Some(threshold) = self.threshold
            && !(threshold > 0.0 && threshold < 1.0)
        {
            return refuse("threshold", threshold.to_string(), "above 0 and below 1");
        }
        if self.choice_rows == 0 {
            return refuse("choice_rows", "0".to_owned(), "at least 1");
        }
        if !(2..=16).contains(&self.clusters) {
            return refuse("clusters", self.clusters.to_string(), "from 2 to 16");
        }
        if !(2..=64).contains(&self.bins) {
            return refuse("bins", self.bins.to_string(), "from 2 to 64");
        }
        if !(self.smoothing.is_finite() && self.smoothing >= 0.0) {
            return refuse(
                "smoothing",
                self.smoothing.to_string(),
                "a finite number of at least 0",
            );
        }
        Ok(())
    }
}

/// A threshold, and the sample that it was chosen from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The threshold that decisions use.
    pub threshold: f64,
    /// The last row of the sample, by word and id; none where no row has a say.
    pub(super) last: Option<(u64, u64)>,
}
