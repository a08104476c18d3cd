//! The specification of a certification.

use std::path::PathBuf;

use crate::text::preset::Preset;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parts::Part;
use crate::modality::ModalityName;
use crate::specification::{Deciding, DecisionSpecification, named_once, needed, unused};
use crate::table_model::Reading;
use probity_data::schema::OutOfDomain;
use probity_run::specification::{FieldError, Specification};

/// Largest number of splits of an input that may be asked for. Each computes bounds for two parts
/// of a box, and the parts that are still open are held in memory.
pub(crate) const MOST_SPLITS: u32 = 1_000_000;

/// Everything that determines a certification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CertifySpecification {
    /// What is classified: rows of a table, or texts.
    #[schemars(extend("x-flag" = false))]
    pub modality: ModalityName,
    /// Model directory, as `probity train`, `repair` or `import` writes it.
    #[schemars(extend("format" = "path"))]
    pub model: PathBuf,
    /// File whose inputs are certified: a table read by the model's schema, or texts.
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
    /// Protected attributes, alone and jointly; for texts, of the lexicon. By default those marked
    /// in the model's schema, or all of the lexicon that are not protected by name
    /// only.
    pub protected: Vec<String>,
    /// Compare scores in place of decisions: inputs are told apart where the probability of the
    /// favourable class, or the number that a regressor gives, differs by more than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e15))]
    pub gap: Option<f64>,
    /// Part of the data, by the split of the training that made the model.
    pub part: Part,
    /// How often the boxes of an input may be split where one over all substitutions proves
    /// nothing.
    #[schemars(range(max = MOST_SPLITS))]
    pub splits: u32,
    /// Try all substitutions as well, to count the inputs that are fair; they are what certifies for
    /// a transformer, which has no bounds.
    pub exhaustive: bool,
    /// Inputs and substitutions that the model is asked about at most in trying all, for each set of
    /// protected attributes; inputs that are not decided by then are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub max_calls: Option<u64>,
    /// Exit with 1 unless at least this share of the inputs is certified for all protected
    /// attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub fail_below: Option<f64>,
    /// How decisions are made of what the model says.
    #[serde(skip_serializing_if = "DecisionSpecification::is_usual")]
    pub decision: DecisionSpecification,
    /// What only texts have.
    pub text: TextInputsSpecification,
}

/// Where texts and protected terms are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TextInputsSpecification {
    /// Column of a table that holds the texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "text-column"))]
    pub column: Option<String>,
    /// Rules by which texts are changed: those of English, or those of the ADF paper.
    pub preset: Preset,
    /// Lexicon of protected terms (TOML), or paper for that of the ADF paper; by default that of
    /// the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path", "x-names" = ["paper"]))]
    pub lexicon: Option<PathBuf>,
}

impl Default for CertifySpecification {
    fn default() -> CertifySpecification {
        CertifySpecification {
            modality: ModalityName::Table,
            model: PathBuf::new(),
            data: PathBuf::new(),
            out_of_domain: None,
            skip_bad_rows: false,
            ignore_other_columns: false,
            protected: Vec::new(),
            gap: None,
            part: Part::All,
            splits: 64,
            exhaustive: false,
            max_calls: None,
            fail_below: None,
            decision: DecisionSpecification::default(),
            text: TextInputsSpecification::default(),
        }
    }
}

impl CertifySpecification {
    /// How the rows of the data are read, beside what the model's schema says.
    pub(crate) fn reading(&self) -> Reading {
        Reading {
            policy: self.out_of_domain,
            skips_bad_rows: self.skip_bad_rows,
            ignores_other_columns: self.ignore_other_columns,
        }
    }

    /// The way in which decisions are made.
    pub fn deciding(&self) -> Deciding<'_> {
        self.decision.or_gap(self.gap)
    }
}

impl Specification for CertifySpecification {
    const KIND: &'static str = "certify";

    fn rules(&self) -> Result<(), FieldError> {
        needed("model", &self.model)?;
        needed("data", &self.data)?;
        named_once("protected", &self.protected)?;
        self.deciding().rules()?;
        match self.modality {
            ModalityName::Text => {
                unused("out_of_domain", self.out_of_domain.is_none(), "texts")?;
                unused("ignore_other_columns", !self.ignore_other_columns, "texts")
            }
            ModalityName::Table => {
                let is_left_out = self.text == TextInputsSpecification::default();
                unused("text", is_left_out, "tables")
            }
        }
    }
}
