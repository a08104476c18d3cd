//! Impact ratios by sex and race/ethnicity, as the summary of a measurement of groups says them, and
//! what its `run.toml` says to be published with them.

use serde::{Deserialize, Serialize};

/// Impact ratios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Impact {
    /// What was counted.
    pub rate: ImpactRate,
    /// Median score of the sample, of scoring rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// People in the sample.
    pub rows: u64,
    /// Why small categories are left out of the ratios, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusion_reason: Option<String>,
    /// By sex, by race/ethnicity, by both.
    pub sets: Vec<ImpactSet>,
}

/// What is counted of the people of a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImpactRate {
    /// The share of a category that is selected.
    Selection,
    /// The share of a category whose score is above the median.
    Scoring,
}

/// The categories of one attribute or of both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImpactSet {
    /// The attributes.
    pub attributes: Vec<String>,
    /// People whose category is not known.
    pub unknown: u64,
    /// The categories.
    pub categories: Vec<ImpactCategory>,
}

/// One category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImpactCategory {
    /// The value of each attribute.
    pub values: Vec<String>,
    /// People.
    pub rows: u64,
    /// The share of the sample that is of the category.
    pub share: f64,
    /// The number of people who are selected, or scored above the median.
    pub counted: u64,
    /// The share of the category that these are.
    pub rate: Option<Rate>,
    /// Whether it is left out of the ratios.
    pub excluded: bool,
    /// The rate of the category over the highest one.
    pub impact_ratio: Option<f64>,
}

/// What is published with impact ratios, as far as somebody said it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publication {
    /// Name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Day from which it is distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution_date: Option<String>,
    /// Day of the audit; else that of the run counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_date: Option<String>,
    /// `historical` or `test`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_kind: Option<String>,
    /// Where the data come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_source: Option<String>,
    /// What they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_explanation: Option<String>,
}

/// A rate with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The rate.
    pub value: f64,
    /// The 95 % interval of the rate.
    pub ci95: [f64; 2],
}
