//! The specifications of networks: one value a kind of run, and the parts that they share.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::Protocol;
use super::parameters::{Independence, SpnParameters};
use super::table::TableOptions;
use super::variable::LeafFamily;
use probity_data::named_schema::{NamedSchemaError, named_schema};
use probity_data::specification::located_schema;
use probity_run::specification::{FieldError, Specification};

/// How the columns of a table are used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TableSpecification {
    /// Columns to leave out of the model.
    pub ignore: Vec<String>,
    /// Column with the ids of rows, whole numbers; by default the number of the row in the file,
    /// from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// Column that says whose a row is, such as a person; for `delete --group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_column: Option<String>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    pub skip_bad_rows: bool,
    /// Families of leaves by column, where they are not the usual ones.
    #[schemars(extend("x-flag" = false))]
    pub leaves: BTreeMap<String, LeafFamily>,
}

impl TableSpecification {
    /// Returns the options with the schema called `schema` found.
    ///
    /// # Errors
    /// When the schema cannot be read.
    pub fn options(&self, schema: &str) -> Result<TableOptions, NamedSchemaError> {
        Ok(TableOptions {
            ignore: self.ignore.clone(),
            id_column: self.id_column.clone(),
            group_column: self.group_column.clone(),
            leaves: self.leaves.clone(),
            schema: named_schema(schema)?
                .schema
                .skipping_bad_rows(self.skip_bad_rows),
        })
    }
}

/// How a network is learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LearningSpecification {
    /// How dependence between columns is decided.
    pub independence: Independence,
    /// gtest: columns are dependent below this p-value, by default one that rows held out choose;
    /// rdc: above this coefficient, by default 0.3.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub threshold: Option<f64>,
    /// gtest without a threshold: so many rows choose it, an eighth of them held out.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub choice_rows: usize,
    /// Clusters of a data split.
    #[schemars(range(min = 2, max = 16))]
    pub clusters: u8,
    /// So many rows or fewer are modelled as independent columns.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub min_rows: usize,
    /// The most bins of a column of numbers in tests of independence.
    #[schemars(range(min = 2, max = 64))]
    pub bins: u16,
    /// Pseudo-observations at every leaf.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub smoothing: f64,
    /// Seed of every draw.
    pub seed: u64,
}

impl Default for LearningSpecification {
    fn default() -> LearningSpecification {
        let usual = SpnParameters::default();
        LearningSpecification {
            independence: usual.independence,
            threshold: None,
            choice_rows: usual.choice_rows,
            clusters: usual.clusters,
            min_rows: usual.min_rows,
            bins: usual.bins,
            smoothing: usual.smoothing,
            seed: usual.seed,
        }
    }
}

impl LearningSpecification {
    /// Refuses fields that are given though they have no effect.
    fn rules(&self) -> Result<(), FieldError> {
        let usual = LearningSpecification::default();
        let is_chosen = self.independence == Independence::Gtest && self.threshold.is_none();
        if !is_chosen && self.choice_rows != usual.choice_rows {
            let expected = "left out: the threshold is not chosen";
            return Err(FieldError::new("learning.choice_rows", "given", expected));
        }
        Ok(())
    }

    /// Returns the parameters that learning takes and checks.
    pub fn parameters(&self) -> SpnParameters {
        let parameters = SpnParameters::default()
            .independence(self.independence)
            .min_rows(self.min_rows)
            .choice_rows(self.choice_rows)
            .clusters(self.clusters)
            .bins(self.bins)
            .smoothing(self.smoothing)
            .seed(self.seed);
        match self.threshold {
            Some(threshold) => parameters.threshold(threshold),
            None => parameters,
        }
    }
}

/// Everything that determines a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FitSpecification {
    /// Rows to learn from: CSV (also .gz, .xz) or Parquet.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Schema file, or the name of a built-in schema; the label is one more column of the model.
    pub schema: String,
    /// How the columns are used.
    #[serde(default)]
    pub table: TableSpecification,
    /// How the network is learnt.
    #[serde(default)]
    pub learning: LearningSpecification,
}

impl Specification for FitSpecification {
    const KIND: &'static str = "spn fit";

    fn rules(&self) -> Result<(), FieldError> {
        self.learning.rules()
    }
}

impl FitSpecification {
    /// Creates the specification of a network of the rows in `data` by `schema`, everything else as
    /// it usually is.
    pub fn new(data: PathBuf, schema: String) -> FitSpecification {
        FitSpecification {
            data,
            schema,
            table: TableSpecification::default(),
            learning: LearningSpecification::default(),
        }
    }
}

/// Everything that determines a benchmark of deletions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BenchSpecification {
    /// Rows to learn from: CSV (also .gz, .xz) or Parquet.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Schema file, or the name of a built-in schema; the label is one more column of the model.
    pub schema: String,
    /// How the columns are used.
    #[serde(default)]
    pub table: TableSpecification,
    /// How the networks are learnt.
    #[serde(default)]
    pub learning: LearningSpecification,
    /// What is measured, and how often.
    #[serde(default)]
    pub protocol: Protocol,
}

impl Specification for BenchSpecification {
    const KIND: &'static str = "spn bench";

    fn rules(&self) -> Result<(), FieldError> {
        self.learning.rules()
    }
}

impl BenchSpecification {
    /// Creates the specification of deletions from networks of the rows in `data` by `schema`,
    /// everything else as it usually is.
    pub fn new(data: PathBuf, schema: String) -> BenchSpecification {
        BenchSpecification {
            data,
            schema,
            table: TableSpecification::default(),
            learning: LearningSpecification::default(),
            protocol: Protocol::default(),
        }
    }

    /// Returns the specification with paths that can be read from anywhere.
    #[must_use]
    pub fn located(mut self) -> BenchSpecification {
        self.schema = located_schema(&self.schema);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_chosen_unless_it_is_given() {
        let mut learning = LearningSpecification::default();
        assert_eq!(learning.parameters(), SpnParameters::default());
        learning.independence = Independence::Rdc;
        assert_eq!(learning.parameters().threshold, None);
        learning.threshold = Some(0.2);
        assert_eq!(learning.parameters().threshold, Some(0.2));
    }

    #[test]
    fn fields_of_no_use_are_refused() {
        let mut fit = FitSpecification::new("d.csv".into(), "s.toml".into());
        fit.learning.choice_rows = 500;
        assert!(fit.clone().check().is_ok());
        fit.learning.threshold = Some(0.1);
        assert_eq!(
            fit.clone().check().unwrap_err().field,
            "learning.choice_rows"
        );
        (fit.learning.threshold, fit.learning.independence) = (None, Independence::Rdc);
        assert_eq!(fit.check().unwrap_err().field, "learning.choice_rows");
    }

    #[test]
    fn fields_out_of_bounds_are_named() {
        let mut fit = FitSpecification::new("d.csv".into(), "s.toml".into());
        fit.learning.clusters = 1;
        assert_eq!(
            fit.check().unwrap_err().to_string(),
            "learning.clusters is 1, but must be from 2 to 16"
        );
        let mut bench = BenchSpecification::new("d.csv".into(), "s.toml".into());
        bench.protocol.deletions = 0;
        assert_eq!(bench.check().unwrap_err().field, "protocol.deletions");
    }
}
