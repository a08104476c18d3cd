//! The specification of impact ratios, and the statements of their publication that no figure
//! makes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ImpactOptions;
use crate::specification::rules::unused;
use probity_run::moment::is_date;
use probity_run::specification::FieldError;

/// What is counted of the people of a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImpactRate {
    /// Those predicted as the favourable class
    #[default]
    Selection,
    /// Those whose probability of the favourable class is above the median of the sample
    Scoring,
}

/// What data a bias audit was made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    /// From the use of the tool
    Historical,
    /// Made or taken for the audit
    Test,
}

/// Impact ratios by sex and race/ethnicity, and the facts that are published with them (New York
/// City Local Law 144).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ImpactSpecification {
    /// Attribute that says the sex; given with the one of race/ethnicity, impact ratios by them are
    /// computed, as Local Law 144 of New York City asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sex: Option<String>,
    /// Attribute that says race or ethnicity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub race_ethnicity: Option<String>,
    /// Values of both attributes that mean that the category is not known, beside missing and
    /// outside values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// What is counted of the people of a category.
    #[schemars(extend("x-flag" = "impact-rate"))]
    pub rate: ImpactRate,
    /// Why categories below 2 % of the data are left out of the ratios; without it none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusion_reason: Option<String>,
    /// Name of the tool that is audited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Day from which the tool is distributed or used, such as 2026-07-01.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution_date: Option<String>,
    /// Day of the bias audit, such as 2026-06-15; by default that of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_date: Option<String>,
    /// Whether the data come from the use of the tool or are test data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_kind: Option<DataKind>,
    /// Where the data come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_source: Option<String>,
    /// What the data are; of test data, why there are no historical ones, and how they were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_explanation: Option<String>,
}

impl ImpactSpecification {
    /// Checks the fields against each other.
    pub(in crate::group) fn rules(&self) -> Result<(), FieldError> {
        let beside = |field: &str, other: &str| {
            Err(FieldError::new(
                format!("impact.{field}"),
                "missing",
                format!("given beside impact.{other}"),
            ))
        };
        match (&self.sex, &self.race_ethnicity) {
            (Some(_), None) => return beside("race_ethnicity", "sex"),
            (None, Some(_)) => return beside("sex", "race_ethnicity"),
            (Some(sex), Some(race)) if sex == race => {
                let expected = "another attribute than impact.sex";
                return Err(FieldError::new("impact.race_ethnicity", race, expected));
            }
            (None, None) => {
                let is_left_out = *self == ImpactSpecification::default();
                return unused("impact", is_left_out, "runs without impact.sex");
            }
            _ => {}
        }
        for (field, date) in [
            ("impact.distribution_date", &self.distribution_date),
            ("impact.audit_date", &self.audit_date),
        ] {
            if let Some(date) = date.as_ref().filter(|date| !is_date(date)) {
                let shown = format!("'{date}'");
                return Err(FieldError::new(field, shown, "a day such as 2026-07-01"));
            }
        }
        for (field, text) in [
            ("impact.exclusion_reason", &self.exclusion_reason),
            ("impact.tool", &self.tool),
            ("impact.data_source", &self.data_source),
            ("impact.data_explanation", &self.data_explanation),
        ] {
            if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                return Err(FieldError::new(field, "empty", "words, or left out"));
            }
        }
        Ok(())
    }

    /// The options of impact ratios, if they are asked for.
    pub(in crate::group) fn options(&self) -> Option<ImpactOptions> {
        Some(ImpactOptions {
            sex: self.sex.clone()?,
            race_ethnicity: self.race_ethnicity.clone()?,
            unknown: self.unknown.clone(),
            rate: self.rate,
            exclusion_reason: self.exclusion_reason.clone(),
        })
    }
}
