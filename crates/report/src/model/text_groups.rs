//! What a measurement of the texts that name protected values found.

use serde::{Deserialize, Serialize};

use super::impact::Rate;

/// A run of `probity groups` on texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextGroupFindings {
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the texts.
    pub data_sha256: String,
    /// The positive class.
    pub positive: String,
    /// Whether somebody said that it is; else it is the second of two.
    pub is_positive_given: bool,
    /// Texts.
    pub texts: u64,
    /// Texts of the positive class.
    pub positive_texts: u64,
    /// Texts that are not English, in which no value was looked for.
    #[serde(default, skip_serializing)]
    pub foreign: u64,
    /// Texts that a subgroup must have to be judged.
    pub min_group: u64,
    /// AUC of all texts.
    pub auc: Option<Rate>,
    /// The final bias metric over the values of all attributes.
    pub bias: TextBias,
    /// Attribute by attribute.
    pub attributes: Vec<TextAttribute>,
}

/// The final bias metric over some subgroups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextBias {
    /// Subgroups that are judged.
    pub subgroups: u64,
    /// The metric.
    pub metric: Option<Rate>,
}

/// The subgroups of an attribute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextAttribute {
    /// The attribute.
    pub attribute: String,
    /// Texts that name any of its values.
    pub naming: u64,
    /// The final bias metric over its values.
    pub bias: TextBias,
    /// The values of the attribute, those with the lowest area first.
    pub values: Vec<TextSubgroup>,
}

/// The texts that name one value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextSubgroup {
    /// The value.
    pub value: String,
    /// Texts.
    pub texts: u64,
    /// Texts of the positive class.
    pub positive_texts: u64,
    /// Whether these are too few to be judged.
    pub too_small: bool,
    /// AUC within the subgroup.
    pub subgroup_auc: Option<Rate>,
    /// Background positive, subgroup negative.
    pub bpsn_auc: Option<Rate>,
    /// Background negative, subgroup positive.
    pub bnsp_auc: Option<Rate>,
    /// Negative texts predicted positive.
    pub false_positive_rate: Option<Rate>,
    /// Positive texts predicted negative.
    pub false_negative_rate: Option<Rate>,
}

impl TextSubgroup {
    /// The lowest of its areas.
    pub fn worst(&self) -> Option<&Rate> {
        let areas = [&self.subgroup_auc, &self.bpsn_auc, &self.bnsp_auc];
        let areas = areas.into_iter().flatten();
        areas.min_by(|a, b| a.value.total_cmp(&b.value))
    }
}
