//! Table XII of the ADF paper: the discriminatory share of random inputs before and after
//! retraining.
//!
//! The paper does not say how accurate its retrained networks are, nor on which rows. Here a fifth
//! of the rows is held out from everything.

use std::path::PathBuf;

use serde::Serialize;

use super::super::tables::paper::DataSet;
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaperSet {
    /// The data set.
    pub data: DataSet,
    /// The number of rows of a training step: few for the small data set.
    pub batch: usize,
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
    PaperSet {
        data: DataSet::Census,
        batch: 512,
        rows: &[
            row("age", 10.88, [4.03, 2.41, 2.26]),
            row("race", 9.75, [7.05, 6.89, 6.15]),
            row("sex", 3.14, [2.33, 1.90, 1.65]),
        ],
    },
    PaperSet {
        data: DataSet::Bank,
        batch: 512,
        rows: &[row("age", 4.60, [1.68, 2.04, 1.19])],
    },
    PaperSet {
        data: DataSet::Credit,
        batch: 32,
        rows: &[
            row("age", 27.93, [13.91, 13.19, 12.05]),
            row("sex", 7.68, [4.58, 4.66, 3.93]),
        ],
    },
];

impl PaperSet {
    /// The path of the data set's file in the first of `folders` that has it.
    pub fn find(&self, folders: &[PathBuf]) -> Option<PathBuf> {
        let places = folders.iter().map(|folder| folder.join(self.data.file()));
        places.into_iter().find(|file| file.is_file())
    }

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

/// How samples enter the training in one column of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Protocol {
    /// The share of the found individuals that is used.
    pub share: f64,
    /// The weight of all added rows together, in units of the training rows.
    pub weight: Option<f64>,
}

/// The paper's protocol: a random 5 % of the samples, each variant weighing as much as a training
/// row.
pub const PAPER_PROTOCOL: Protocol = Protocol {
    share: 0.05,
    weight: None,
};
