//! The specification of a training: one for tables and texts.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Split;
use super::options::{
    Learning, NetworkOptions, RecurrentOptions, TableOptions, TextOptions, TransformerTraining,
    USUAL_LEARNING_RATE,
};
use super::transformer::TransformerOptions;
use crate::modality::ModalityName;
use probity_data::schema::{LEAST_THRESHOLD, MOST_THRESHOLD, OutOfDomain};
use probity_run::specification::{FieldError, Specification};

/// Everything that determines a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TrainSpecification {
    /// What the model shall classify.
    #[serde(default)]
    #[schemars(extend("x-flag" = false))]
    pub modality: ModalityName,
    /// Labelled rows or texts to learn from: CSV or TSV (also .gz, .xz) or Parquet.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Schema file, or the name of a built-in schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Missing and outside values, where the schema expects any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Column that holds the texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
    /// Column that holds the labels of texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_column: Option<String>,
    /// Labels that are numbers, such as shares of raters: those below this one are one class, the
    /// others the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LEAST_THRESHOLD, max = MOST_THRESHOLD))]
    pub label_threshold: Option<f64>,
    /// How the network learns.
    #[serde(default)]
    pub training: Learning,
    /// The network, for tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkOptions>,
    /// The network, for texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrent: Option<RecurrentOptions>,
    /// A transformer, for texts, in place of a recurrent network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transformer: Option<TransformerOptions>,
}

impl TrainSpecification {
    /// Specifies a training on the table in `data`, read by `schema`: a file or the name of a
    /// built-in one.
    pub fn of_table(data: impl Into<PathBuf>, schema: impl Into<String>) -> TrainSpecification {
        TrainSpecification {
            schema: Some(schema.into()),
            network: Some(NetworkOptions::default()),
            ..TrainSpecification::new(ModalityName::Table, data.into())
        }
    }

    /// Specifies a training on the texts in `data`, which are labelled in the column `label`.
    pub fn of_texts(data: impl Into<PathBuf>, label: impl Into<String>) -> TrainSpecification {
        TrainSpecification {
            label_column: Some(label.into()),
            recurrent: Some(RecurrentOptions::default()),
            ..TrainSpecification::new(ModalityName::Text, data.into())
        }
    }

    fn new(modality: ModalityName, data: PathBuf) -> TrainSpecification {
        TrainSpecification {
            modality,
            data,
            schema: None,
            out_of_domain: None,
            skip_bad_rows: false,
            text_column: None,
            label_column: None,
            label_threshold: None,
            training: Learning::default(),
            network: None,
            recurrent: None,
            transformer: None,
        }
    }

    /// Returns the options of the network for tables, and how it learns.
    pub fn table_options(&self) -> TableOptions {
        TableOptions {
            network: self.network.clone().unwrap_or_default(),
            learning: self.training.clone(),
        }
    }

    /// Deals `inputs` inputs into the parts of the training.
    pub fn split(&self, inputs: usize) -> Split {
        self.training.split(self.modality, inputs)
    }

    /// Returns the options of the transformer, and how it learns.
    pub fn transformer_options(&self) -> TransformerTraining {
        TransformerTraining {
            network: self.transformer.clone().unwrap_or_default(),
            learning: self.training.clone(),
        }
    }

    /// Fills in what the kind of network suggests where nothing is given.
    pub(super) fn settle_kind(&mut self) {
        let (rate, epochs) = match &self.transformer {
            Some(transformer) => transformer.usual(),
            None => (USUAL_LEARNING_RATE, None),
        };
        self.training.learning_rate.get_or_insert(rate);
        self.training.epochs = self.training.epochs.or(epochs);
    }

    /// Returns the options of the network for texts, and how it learns.
    pub fn text_options(&self) -> TextOptions {
        TextOptions {
            network: self.recurrent.clone().unwrap_or_default(),
            learning: self.training.clone(),
        }
    }
}

impl Specification for TrainSpecification {
    const KIND: &'static str = "train";

    fn rules(&self) -> Result<(), FieldError> {
        let of_texts = [
            ("text_column", self.text_column.is_some()),
            ("label_column", self.label_column.is_some()),
            ("label_threshold", self.label_threshold.is_some()),
            ("recurrent", self.recurrent.is_some()),
            ("transformer", self.transformer.is_some()),
        ];
        let of_tables = [
            ("schema", self.schema.is_some()),
            ("out_of_domain", self.out_of_domain.is_some()),
            ("network", self.network.is_some()),
        ];
        let (needed, foreign) = match self.modality {
            ModalityName::Table => (of_tables[0], &of_texts[..]),
            ModalityName::Text => (of_texts[1], &of_tables[..]),
        };
        let modality = self.modality;
        if let (field, false) = needed {
            let expected = format!("given where modality is {modality}");
            return Err(FieldError::new(field, "missing", expected));
        }
        if let Some((field, _)) = foreign.iter().find(|(_, is_given)| *is_given) {
            let expected = format!("left out where modality is {modality}");
            return Err(FieldError::new(*field, "given", expected));
        }
        if let Some(network) = &self.network {
            network.rules()?;
        }
        if let Some(recurrent) = &self.recurrent {
            recurrent.rules()?;
        }
        if let Some(transformer) = &self.transformer {
            if self.recurrent.is_some() {
                let expected = "left out where transformer is given";
                return Err(FieldError::new("recurrent", "given", expected));
            }
            transformer.rules()?;
        }
        self.training.rules()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_modality_has_its_own_fields_and_defaults() {
        let table = TrainSpecification::of_table("a.csv", "census");
        let texts = TrainSpecification::of_texts("a.csv", "toxic");
        assert!(table.clone().check().is_ok() && texts.clone().check().is_ok());
        let refused =
            |specification: TrainSpecification| specification.check().unwrap_err().to_string();
        let mut other = table.clone();
        other.label_column = Some("y".into());
        assert_eq!(
            refused(other),
            "label_column is given, but must be left out where modality is table"
        );
        let mut other = texts.clone();
        other.label_column = None;
        assert!(refused(other).starts_with("label_column is missing"));
        let mut other = table.clone();
        other.training.epochs = Some(0);
        assert!(refused(other).starts_with("training.epochs is 0"));
        let mut other = table;
        other.training.patience = 2;
        other.training.validation = Some(0.0);
        assert!(refused(other).starts_with("training.patience is 2"));
        let mut other = texts;
        other.recurrent.get_or_insert_default().units = 0;
        assert!(refused(other).starts_with("recurrent.units is 0"));
    }
}
