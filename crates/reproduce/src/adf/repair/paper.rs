//! Table XII of the ADF paper: the discriminatory share of random inputs before and after
//! retraining.
//!
//! The paper does not say how accurate its retrained networks are, nor on which rows. Here a fifth
//! of the rows is held out from everything.

use serde::Serialize;

use super::super::tables::paper::{BANK, CENSUS, CREDIT};
use crate::published::{Case, Source};
use probity_nn::train::options::Learning;

/// One row of Table XII, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PaperRow {
    /// The protected attribute, as the built-in schema calls it.
    pub attribute: &'static str,
    /// The share before the repair.
    pub before: f64,
    /// The shares after retraining with samples of AEQUITAS, SG and ADF.
    pub after: [f64; 3],
}

/// One data set of Table XII.
pub type PaperSet = Case<Repairs>;

/// What Table XII says of a data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repairs {
    /// The number of rows of a training step: few for the small data set.
    batch: usize,
    /// The rows of the table about this data set.
    pub rows: &'static [PaperRow],
}

const fn row(attribute: &'static str, before: f64, after: [f64; 3]) -> PaperRow {
    PaperRow {
        attribute,
        before,
        after,
    }
}

/// The data sets of Table XII.
#[expect(clippy::approx_constant, reason = "the paper's 3.14 is a percentage")]
pub const SETS: [PaperSet; 3] = [
    Case {
        name: "census",
        source: Source::Files(&[CENSUS]),
        paper: Repairs {
            batch: 512,
            rows: &[
                row("age", 10.88, [4.03, 2.41, 2.26]),
                row("race", 9.75, [7.05, 6.89, 6.15]),
                row("sex", 3.14, [2.33, 1.90, 1.65]),
            ],
        },
    },
    Case {
        name: "bank",
        source: Source::Files(&[BANK]),
        paper: Repairs {
            batch: 512,
            rows: &[row("age", 4.60, [1.68, 2.04, 1.19])],
        },
    },
    Case {
        name: "credit",
        source: Source::Files(&[CREDIT]),
        paper: Repairs {
            batch: 32,
            rows: &[
                row("age", 27.93, [13.91, 13.19, 12.05]),
                row("sex", 7.68, [4.58, 4.66, 3.93]),
            ],
        },
    },
];

impl Repairs {
    /// The options for training the network of the data set, with `seed`.
    pub fn training(&self, seed: u64) -> Learning {
        Learning {
            epochs: Some(30),
            batch: Some(self.batch),
            weight_decay: Some(0.1),
            validation: Some(0.1),
            seed,
            ..Learning::default()
        }
    }
}

/// The share of the found individuals that the paper learns from, at random; each variant weighs as
/// much as a training row.
pub const PAPER_SHARE: f64 = 0.05;
