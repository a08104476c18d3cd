//! The people whose decisions an audit asks about, beside its search.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::unused;
use crate::certify::parts::Part;
use crate::population::PLAUSIBLE;
use probity_data::numbers::place_of;
use probity_run::specification::FieldError;

/// Number of rows that a predictor is asked about where nothing is said: each costs as many answers
/// as it has substitutions.
const ROWS_OF_PREDICTORS: u64 = 10_000;

/// Whose decisions the share of the data is of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PopulationSpecification {
    /// Table whose rows the share of the data is of, read as the data are; by default the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path", "x-flag" = "population"))]
    pub file: Option<PathBuf>,
    /// Rows of the data that this share is of: all, or a part of those that the model was trained
    /// with.
    #[serde(skip_serializing_if = "is_all")]
    pub part: Part,
    /// Rows that this share asks about at most, drawn without replacement; by default all, and
    /// 10,000 of a predictor.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000), extend("x-flag" = "population-rows"))]
    pub rows: Option<u64>,
    /// Sum-product network by which pairs are graded, as `probity spn fit` makes it, or fit, which
    /// learns one from the rows that the share of the data is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path", "x-names" = ["fit"]))]
    pub plausibility: Option<PathBuf>,
    /// Least plausibility of a pair among the samples: the share of these rows that are no likelier
    /// than it is without its protected attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub min_plausibility: Option<f32>,
    /// Search only where inputs are that plausible (by default 0.05): rows of the data that are not
    /// are no seeds, and steps that lead elsewhere are not taken.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stay_plausible: bool,
    /// The class that is good to get; by default the last one of the schema, and none of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub favourable: Option<String>,
}

/// The word that stands for a network that is learnt from the rows.
pub(crate) const FIT: &str = "fit";

/// What a declared bound is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BoundOn {
    /// The share of the rows of the data, or of the texts
    Data,
    /// The share of uniform random inputs
    Uniform,
}

fn is_all(part: &Part) -> bool {
    *part == Part::All
}

impl PopulationSpecification {
    /// Whether no field is given.
    pub fn is_usual(&self) -> bool {
        *self == PopulationSpecification::default()
    }

    /// The number of the class that is good to get: the one that is named, or the last one.
    pub(crate) fn favourable_of(&self, classes: &[String]) -> Result<usize, FieldError> {
        let Some(named) = &self.favourable else {
            return Ok(classes.len().saturating_sub(1));
        };
        let place = place_of(classes, named);
        place.ok_or_else(|| {
            let expected = format!("one of the classes {}", classes.join(", "));
            FieldError::new("population.favourable", format!("'{named}'"), expected)
        })
    }

    /// Largest number of rows to ask about.
    pub fn most(&self, has_predictor: bool) -> Option<u64> {
        self.rows.or(has_predictor.then_some(ROWS_OF_PREDICTORS))
    }

    /// The plausibility that inputs must reach for a search to go to them, if it must not go
    /// anywhere.
    pub(crate) fn stays_above(&self) -> Option<f32> {
        let least = self.min_plausibility.unwrap_or(PLAUSIBLE);
        self.stay_plausible.then_some(least)
    }

    /// Refuses what only tables have: of texts it can be said which class is good to get, and no more.
    pub(super) fn rules_of_texts(&self) -> Result<(), FieldError> {
        let of_rows = PopulationSpecification {
            favourable: None,
            ..self.clone()
        };
        unused("population", of_rows.is_usual(), "texts")
    }

    /// Checks the rules between the fields, for a model in a directory or a predictor.
    pub(super) fn rules(&self, has_predictor: bool) -> Result<(), FieldError> {
        let is_whole = self.part == Part::All;
        unused("population.part", is_whole || !has_predictor, "a predictor")?;
        if self.min_plausibility.is_some() && self.plausibility.is_none() {
            let expected = "left out where population.plausibility is not given";
            return Err(FieldError::new(
                "population.min_plausibility",
                "given",
                expected,
            ));
        }
        if self.stay_plausible && self.plausibility.is_none() {
            let expected = "left out where population.plausibility is not given";
            return Err(FieldError::new(
                "population.stay_plausible",
                "given",
                expected,
            ));
        }
        let searched = "rows of a file of their own";
        unused("population.part", is_whole || self.file.is_none(), searched)
    }
}
