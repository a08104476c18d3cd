//! The specification of an explanation.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::specification::{
    AuditSpecification, DecisionSpecification, PredictorSpecification, TextSpecification,
    named_once, needed, unused,
};
use probity_data::schema::OutOfDomain;
use probity_nn::modality::ModalityName;
use probity_run::specification::{FieldError, Specification};

/// Everything that determines the explanation of one decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ExplainSpecification {
    /// What is classified: rows of a table, or texts.
    #[schemars(extend("x-flag" = false))]
    pub modality: ModalityName,
    /// Model directory, as `probity train`, `repair` or `import` writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub model: Option<PathBuf>,
    /// File with the row: a table read by the schema, with or without labels, or texts.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Number of the row in the file, from 1, those that are left out counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub row: Option<u64>,
    /// Missing and outside values, where the schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Pass over columns that the schema does not describe.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_other_columns: bool,
    /// Protected attributes, jointly; for texts, of the lexicon. By default those marked in the
    /// schema, or all of the lexicon that are not protected by name only.
    pub protected: Vec<String>,
    /// Attributes of a table that no change may touch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<String>,
    /// The class that is good to get, by which flips have a direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub favourable: Option<String>,
    /// Compare scores in place of decisions: inputs are told apart where the probability of the
    /// favourable class, or the number that a regressor gives, differs by more than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e15))]
    pub gap: Option<f64>,
    /// Changes that are looked for, each of another set of attributes or words.
    #[schemars(range(min = 1, max = 100))]
    pub alternatives: u32,
    /// Rows or texts that the model is asked about at most for changes, by default 1,000,000; of a
    /// predictor, and of texts, 10,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub max_calls: Option<u64>,
    /// How decisions are made of what the model says.
    #[serde(skip_serializing_if = "DecisionSpecification::is_usual")]
    pub decision: DecisionSpecification,
    /// What only answers, in place of a model directory.
    pub predictor: PredictorSpecification,
    /// What only texts have.
    pub text: TextSpecification,
}

impl Default for ExplainSpecification {
    fn default() -> ExplainSpecification {
        ExplainSpecification {
            modality: ModalityName::Table,
            model: None,
            data: PathBuf::new(),
            row: None,
            out_of_domain: None,
            skip_bad_rows: false,
            ignore_other_columns: false,
            protected: Vec::new(),
            fixed: Vec::new(),
            favourable: None,
            gap: None,
            alternatives: 3,
            max_calls: None,
            decision: DecisionSpecification::default(),
            predictor: PredictorSpecification::default(),
            text: TextSpecification::default(),
        }
    }
}

impl Specification for ExplainSpecification {
    const KIND: &'static str = "explain";

    fn rules(&self) -> Result<(), FieldError> {
        if self.predictor.source.is_none() {
            needed("model", self.model.as_deref().unwrap_or("".as_ref()))?;
        }
        needed("data", &self.data)?;
        self.row()?;
        named_once("protected", &self.protected)?;
        named_once("fixed", &self.fixed)?;
        self.decision.or_gap(self.gap).rules()?;
        if let Some(both) = self.fixed.iter().find(|name| self.protected.contains(name)) {
            let expected = "an attribute that is not protected: those are exchanged";
            return Err(FieldError::new("fixed", both, expected));
        }
        match self.modality {
            ModalityName::Table => {
                let given = self.text.given();
                unused(given.unwrap_or("text"), given.is_none(), "tables")?;
            }
            ModalityName::Text => {
                unused("out_of_domain", self.out_of_domain.is_none(), "texts")?;
                unused("ignore_other_columns", !self.ignore_other_columns, "texts")?;
                unused("fixed", self.fixed.is_empty(), "texts")?;
                let local = self.text.local_strategy.is_none();
                unused("text.local_strategy", local, "an explanation")?;
                self.text.expect_fluency_used()?;
                let from = self.text.neighbours_from;
                if self.predictor.source.is_some() && !from.is_usual() {
                    return Err(from.refused());
                }
            }
        }
        self.predictor.rules(self.model.is_some(), self.modality)
    }
}

impl ExplainSpecification {
    /// The audit whose case this is one input of.
    pub(super) fn as_audit(&self) -> AuditSpecification {
        let mut audit = AuditSpecification {
            modality: self.modality,
            model: self.model.clone(),
            data: self.data.clone(),
            out_of_domain: self.out_of_domain,
            skip_bad_rows: self.skip_bad_rows,
            ignore_other_columns: self.ignore_other_columns,
            protected: self.protected.clone(),
            predictor: self.predictor.clone(),
            text: self.text.clone(),
            decision: self.decision.clone(),
            gap: self.gap,
            ..AuditSpecification::default()
        };
        audit.population.favourable.clone_from(&self.favourable);
        audit
    }

    /// The number of the row.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn row(&self) -> Result<u64, FieldError> {
        self.row
            .ok_or_else(|| FieldError::new("row", "missing", "given"))
    }

    /// Largest number of rows or texts that are asked about.
    pub(super) fn most_calls(&self) -> u64 {
        let is_cheap = self.modality == ModalityName::Table && self.predictor.source.is_none();
        let usual = if is_cheap { 1_000_000 } else { 10_000 };
        self.max_calls.unwrap_or(usual)
    }

    /// Largest number of attributes or words that a change may touch.
    pub(super) fn most_places(&self) -> usize {
        match self.modality {
            ModalityName::Table => usize::MAX,
            ModalityName::Text => self.text.max_changed().unwrap_or(usize::MAX),
        }
    }
}
