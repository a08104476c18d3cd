//! How good a model is, as people read it.

use super::shares::four_digits;
use crate::model::Quality;
use crate::text::{number, percent};

impl Quality {
    /// The figure as people read it.
    pub fn shown(&self) -> String {
        match self {
            Quality::Classes(of) => percent(of.accuracy),
            Quality::Numbers(errors) => four_digits(errors.r_squared),
        }
    }

    /// The names of its columns in a table.
    pub fn header(&self) -> &'static [&'static str] {
        match self {
            Quality::Classes(_) => &[
                "Accuracy",
                "Majority class",
                "Balanced accuracy",
                "AUC",
                "F1",
            ],
            Quality::Numbers(_) => &["R²", "Mean absolute error", "Root mean squared error"],
        }
    }

    /// The cells of these columns.
    pub fn row(&self) -> Vec<String> {
        match self {
            Quality::Classes(of) => vec![
                percent(of.accuracy),
                percent(of.majority_share),
                percent(of.balanced_accuracy),
                four_digits(of.auc),
                four_digits(of.f1),
            ],
            Quality::Numbers(errors) => vec![
                four_digits(errors.r_squared),
                number(errors.mean_absolute),
                number(errors.root_mean_squared),
            ],
        }
    }
}
