//! The specification of a search for proxies.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measure::ProxiesOptions;
use crate::people::Sources;
use probity_data::schema::OutOfDomain;
use probity_fairness::specification::rules::named_once;
use probity_fairness::specification::{DecisionSpecification, PredictorSpecification};
use probity_run::specification::{FieldError, Specification};

/// Everything that determines a search for proxies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ProxiesSpecification {
    /// Model directory, as `probity train` or `probity import` writes it; its schema need not know
    /// the protected attributes. Without a model or predictor only the columns are looked at.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(extend("format" = "path"))]
    pub model: PathBuf,
    /// Table of the people, with the protected attributes.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Schema of the people: a file, a built-in name, or the schema itself; by default that of the
    /// model. On the command line --schema, where there is no predictor.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = false))]
    pub schema: Option<String>,
    /// Missing and outside values, where the schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Protected groups, such as sex=female; of an attribute alone, each of its values against all
    /// others, if they are at most 12 (of two the rarer one). Of several groups also those who are in all of them. By
    /// default the attributes that the schema marks.
    pub protected: Vec<String>,
    /// Columns that are looked at, such as those that a model sees; by default all that are not
    /// protected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The class that is good to get; by default the last one of the schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub favourable: Option<String>,
    /// Parts of the rows: each is told by networks that learn from the others.
    #[schemars(range(min = 2, max = 50))]
    pub folds: u32,
    /// The share, of what all columns tell beyond chance, that a small set of them is to reach.
    #[schemars(range(min = 0.01, max = 1))]
    pub share: f64,
    /// Seed of the parts and of the networks.
    pub seed: u64,
    /// How decisions are made of what the model says.
    #[serde(skip_serializing_if = "DecisionSpecification::is_usual")]
    pub decision: DecisionSpecification,
    /// What only answers, in place of a model directory.
    pub predictor: PredictorSpecification,
}

fn is_empty(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

impl Default for ProxiesSpecification {
    fn default() -> ProxiesSpecification {
        ProxiesSpecification {
            model: PathBuf::new(),
            data: PathBuf::new(),
            schema: None,
            out_of_domain: None,
            skip_bad_rows: false,
            protected: Vec::new(),
            columns: Vec::new(),
            favourable: None,
            folds: 5,
            share: 0.95,
            seed: 1,
            decision: DecisionSpecification::default(),
            predictor: PredictorSpecification::default(),
        }
    }
}

impl ProxiesSpecification {
    /// Returns whether there is no model whose decisions and scores are looked at beside the columns.
    pub fn is_label(&self) -> bool {
        is_empty(&self.model) && self.predictor.source.is_none()
    }

    /// Returns what names the people and the decisions about them: the outcomes in the data, where
    /// there is no model.
    pub fn sources(&self) -> Sources<'_> {
        Sources {
            model: &self.model,
            predictor: &self.predictor,
            label: self.is_label(),
            data: &self.data,
            schema: self.schema.as_deref(),
            out_of_domain: self.out_of_domain,
            skip_bad_rows: self.skip_bad_rows,
            decision: &self.decision,
            gap: None,
            favourable: self.favourable.as_deref(),
            protected: &self.protected,
            reference: &[],
            weights: &[],
        }
    }

    /// Returns the options of the measurement.
    pub fn options(&self) -> ProxiesOptions {
        ProxiesOptions {
            folds: self.folds,
            share: self.share,
            seed: self.seed,
        }
    }
}

impl Specification for ProxiesSpecification {
    const KIND: &'static str = "proxies";

    fn rules(&self) -> Result<(), FieldError> {
        self.sources().rules()?;
        named_once("columns", &self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut ProxiesSpecification)) -> String {
        let mut specification = ProxiesSpecification {
            data: "d.csv".into(),
            schema: Some("s.toml".to_owned()),
            ..ProxiesSpecification::default()
        };
        change(&mut specification);
        specification
            .rules()
            .map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_model_is_no_must_but_a_schema_then_is() {
        assert_eq!(refused(|_| {}), "");
        assert_eq!(refused(|it| it.model = "m".into()), "");
        let unnamed = refused(|it| it.schema = None);
        assert!(unnamed.starts_with("schema is missing"), "{unnamed}");
        let twice = refused(|it| it.columns = vec!["a".to_owned(), "a".to_owned()]);
        assert!(twice.starts_with("columns is"), "{twice}");
    }
}
