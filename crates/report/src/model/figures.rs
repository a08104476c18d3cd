//! What runs of several kinds say.

use serde::{Deserialize, Serialize};

use crate::text::{inputs_of, inputs_or_part};

/// What a model classifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Modality {
    /// Rows of a table.
    Table,
    /// Texts.
    Text,
}

/// What all inputs that a model was tried on were decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedAlike {
    /// The class.
    pub class: String,
    /// The inputs.
    pub inputs: u64,
}

/// Rows that were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadCounts {
    /// Rows kept.
    pub rows: u64,
    /// Rows left out.
    pub skipped_rows: u64,
    /// Values that were mapped into their domain.
    pub mapped_values: u64,
    /// Rows whose outcome is missing, left out.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unlabelled_rows: u64,
    /// Rows kept whose outcome the schema does not know, where none is needed.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unknown_outcomes: u64,
    /// Rows with which something is wrong, left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_rows: Option<BadRows>,
}

impl ReadCounts {
    /// Rows that were left out for whatever reason.
    pub fn left_out(&self) -> u64 {
        let bad = self.bad_rows.as_ref().map_or(0, |bad| bad.rows);
        self.skipped_rows + self.unlabelled_rows + bad
    }
}

fn is_none(rows: &u64) -> bool {
    *rows == 0
}

/// Rows that were left out because something is wrong with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadRows {
    /// All of them.
    pub rows: u64,
    /// By what is wrong.
    pub reasons: Vec<BadReason>,
}

/// What is wrong with some rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadReason {
    /// What it is.
    pub reason: String,
    /// The number of rows.
    pub rows: u64,
    /// Where the first of these rows stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<String>,
}

/// A discriminatory share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// By which attributes.
    pub protected: Vec<String>,
    /// Inputs drawn.
    pub sampled: u64,
    /// Discriminatory ones.
    pub discriminatory: u64,
    /// The estimated share.
    pub rate: f64,
    /// The 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// Shares of one kind of inputs, by attributes, the joint one last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InputShares<'a> {
    /// What they are of: `the rows of the data`, `random inputs`.
    pub of: &'static str,
    /// Inputs that there are, where only some of them may have been asked about.
    pub there: Option<u64>,
    /// The shares.
    pub shares: &'a [Share],
}

impl<'a> InputShares<'a> {
    /// The share by all protected attributes jointly.
    pub fn joint(&self) -> Option<&'a Share> {
        self.shares.last()
    }

    /// What `share`, one of these, is of: `30,000 rows of the data`, `9,000 of 32,561 rows of the
    /// data`.
    pub fn inputs(&self, share: &Share) -> String {
        inputs_of(self.of, share.sampled, self.there)
    }

    /// What `share` is of, as [`InputShares::inputs`] says it, where only some were asked about, and
    /// else `the rows of the data`.
    pub fn inputs_or_part(&self, share: &Share) -> String {
        inputs_or_part(self.of, share.sampled, self.there)
    }
}

/// A declared bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The bound.
    pub bound: f64,
    /// The share that it is on: `data` or `uniform`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// `within`, `exceeds`, `inconclusive` or `not_applicable`.
    pub verdict: String,
}

/// Quality of a model on one part of its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quality {
    /// The quality of a classifier.
    Classes(ClassQuality),
    /// The quality of a regressor.
    Numbers(Errors),
}

/// Quality of a classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassQuality {
    /// Rows.
    pub rows: u64,
    /// Share predicted right.
    pub accuracy: f64,
    /// Share of the most frequent class.
    pub majority_share: f64,
    /// Mean over the classes.
    pub balanced_accuracy: f64,
    /// Area under the ROC curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// F1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Rows by their class, and in each of these by the predicted one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<u64>>,
    /// Rows of which nothing is decided.
    #[serde(default, skip_serializing_if = "is_none")]
    pub undecided: u64,
}

/// Errors of a regressor, in the unit of its label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Rows.
    pub rows: u64,
    /// Mean absolute error.
    pub mean_absolute: f64,
    /// Root of the mean squared error.
    pub root_mean_squared: f64,
    /// Coefficient of determination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_squared: Option<f64>,
    /// Mean label.
    pub mean_label: f64,
    /// Mean prediction.
    pub mean_prediction: f64,
}

impl Quality {
    /// Rows.
    pub fn rows(&self) -> u64 {
        match self {
            Quality::Classes(of) => of.rows,
            Quality::Numbers(errors) => errors.rows,
        }
    }

    /// The figure that sums it up: accuracy, or R².
    pub fn in_short(&self) -> f64 {
        match self {
            Quality::Classes(of) => of.accuracy,
            Quality::Numbers(errors) => errors.r_squared.unwrap_or_default(),
        }
    }

    /// What this figure is called.
    pub fn name(&self) -> &'static str {
        match self {
            Quality::Classes(_) => "Accuracy",
            Quality::Numbers(_) => "R²",
        }
    }
}
