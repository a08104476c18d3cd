//! The specifications of a prediction and of an evaluation.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::certify::parts::Part;
use crate::specification::{DecisionSpecification, PredictorSpecification, needed, unused};
use crate::table_model::Reading;
use probity_data::schema::{LEAST_THRESHOLD, MOST_THRESHOLD, OutOfDomain};
use probity_nn::modality::ModalityName;
use probity_run::specification::{FieldError, Specification};

/// Everything that determines predictions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PredictSpecification {
    /// What is classified: rows of a table, or texts.
    #[schemars(extend("x-flag" = false))]
    pub modality: ModalityName,
    /// Model directory, as `probity train`, `repair` or `import` writes it.
    #[schemars(extend("format" = "path"))]
    pub model: PathBuf,
    /// Table, read by the model's schema, with or without labels; or texts.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Missing and outside values, where the model's schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Pass over columns that the schema does not describe.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_other_columns: bool,
    /// Column of a table that holds the texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
    /// How decisions are made of what the model says.
    #[serde(skip_serializing_if = "DecisionSpecification::is_usual")]
    pub decision: DecisionSpecification,
    /// What only answers, in place of a model directory.
    pub predictor: PredictorSpecification,
}

impl PredictSpecification {
    /// How the rows of the data are read, beside what the model's schema says.
    pub(crate) fn reading(&self) -> Reading {
        Reading {
            policy: self.out_of_domain,
            skips_bad_rows: self.skip_bad_rows,
            ignores_other_columns: self.ignore_other_columns,
        }
    }
}

impl Specification for PredictSpecification {
    const KIND: &'static str = "predict";

    fn rules(&self) -> Result<(), FieldError> {
        self.predictor.rules_beside(&self.model, self.modality)?;
        needed("data", &self.data)?;
        self.decision.alone().rules()?;
        match self.modality {
            ModalityName::Table => unused("text_column", self.text_column.is_none(), "tables"),
            ModalityName::Text => {
                unused("out_of_domain", self.out_of_domain.is_none(), "texts")?;
                unused("ignore_other_columns", !self.ignore_other_columns, "texts")
            }
        }
    }
}

/// Everything that determines an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EvaluateSpecification {
    /// What is classified: rows of a table, or texts.
    #[schemars(extend("x-flag" = false))]
    pub modality: ModalityName,
    /// Model directory, as `probity train`, `repair` or `import` writes it.
    #[schemars(extend("format" = "path"))]
    pub model: PathBuf,
    /// Labelled table, read by the model's schema; or labelled texts.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Missing and outside values, where the model's schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Pass over columns that the schema does not describe.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_other_columns: bool,
    /// Column of a table that holds the texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
    /// Column of a table of texts that holds their labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_column: Option<String>,
    /// Labels that are numbers, such as shares of raters: those below this one are one class, the
    /// others the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LEAST_THRESHOLD, max = MOST_THRESHOLD))]
    pub label_threshold: Option<f64>,
    /// Part of the data, by the split of the training that made the model.
    pub part: Part,
    /// Bins of the calibration errors.
    #[schemars(range(min = 1, max = 1000))]
    pub calibration_bins: u32,
    /// How decisions are made of what the model says.
    #[serde(skip_serializing_if = "DecisionSpecification::is_usual")]
    pub decision: DecisionSpecification,
    /// What only answers, in place of a model directory.
    pub predictor: PredictorSpecification,
}

impl Default for EvaluateSpecification {
    fn default() -> EvaluateSpecification {
        EvaluateSpecification {
            modality: ModalityName::Table,
            model: PathBuf::new(),
            data: PathBuf::new(),
            out_of_domain: None,
            skip_bad_rows: false,
            ignore_other_columns: false,
            text_column: None,
            label_column: None,
            label_threshold: None,
            part: Part::All,
            calibration_bins: 10,
            decision: DecisionSpecification::default(),
            predictor: PredictorSpecification::default(),
        }
    }
}

impl EvaluateSpecification {
    /// How the rows of the data are read, beside what the model's schema says.
    pub(crate) fn reading(&self) -> Reading {
        Reading {
            policy: self.out_of_domain,
            skips_bad_rows: self.skip_bad_rows,
            ignores_other_columns: self.ignore_other_columns,
        }
    }
}

impl Specification for EvaluateSpecification {
    const KIND: &'static str = "evaluate";

    fn rules(&self) -> Result<(), FieldError> {
        self.predictor.rules_beside(&self.model, self.modality)?;
        needed("data", &self.data)?;
        self.decision.alone().rules()?;
        let is_whole = self.part == Part::All || self.predictor.source.is_none();
        unused("part", is_whole, "a predictor")?;
        match (self.modality, &self.label_column) {
            (ModalityName::Table, label) => {
                unused("text_column", self.text_column.is_none(), "tables")?;
                unused("label_column", label.is_none(), "tables")?;
                unused("label_threshold", self.label_threshold.is_none(), "tables")
            }
            (ModalityName::Text, None) => Err(FieldError::new(
                "label_column",
                "missing",
                "given for texts",
            )),
            (ModalityName::Text, Some(_)) => {
                unused("out_of_domain", self.out_of_domain.is_none(), "texts")?;
                unused("ignore_other_columns", !self.ignore_other_columns, "texts")
            }
        }
    }
}
