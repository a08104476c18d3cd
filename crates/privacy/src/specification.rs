//! The specifications of queries: one value a kind of query, and the parts that they share.
//!
//! A specification holds declarations, never anything that was computed from records. The seed of
//! an answer that is not private is read but never written: with it anybody could take the noise
//! off.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calibration::{Calibration, Guarantee};
use super::composition::split;
use super::count::{CountOptions, LEAST_SHARE, MOST_SHARE, Sensitivity};
use super::error::{LARGEST_EPSILON, LEAST_DELTA, LEAST_EPSILON, PrivacyError};
use super::records::MAX_COLUMNS;
use super::source::{DeclaredRange, DeclaredTable, SourceError, TableOptions, TableReading};
use super::subspaces::{Choice, MOST_SUBSPACES, ThenCount};
use probity_data::named_schema::NamedSchemaError;
use probity_data::specification::{Separator, layout, located_schema, schema_named};
use probity_run::specification::{FieldError, Specification};

/// The part of ε for counts unless another is given.
const COUNT_SHARE: f64 = 0.5;

/// The largest number of records.
const MOST_RECORDS: u32 = 4_294_967_295;

/// What is declared about the columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TableSpecification {
    /// Declared ranges of columns; values outside are moved to their ends.
    #[schemars(extend("x-flag" = false))]
    pub ranges: Vec<DeclaredRange>,
    /// Schema file, or the name of a built-in schema: declares the ranges of the other columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// All column names by position, for files without a header.
    pub names: Vec<String>,
    /// Field separator: one character, 'tab' or 'space'.
    pub separator: Separator,
}

impl TableSpecification {
    fn rules(&self) -> Result<(), FieldError> {
        let expected = "left out where a schema gives the layout";
        match &self.schema {
            Some(_) if !self.names.is_empty() => {
                Err(FieldError::new("table.names", "given", expected))
            }
            Some(_) if self.separator != Separator::default() => {
                Err(FieldError::new("table.separator", self.separator, expected))
            }
            _ => Ok(()),
        }
    }

    /// Returns the options with the schema found, for `columns`, to be read as is said here.
    ///
    /// # Errors
    /// When the schema cannot be read.
    pub fn options(&self, columns: &[String]) -> Result<TableOptions, NamedSchemaError> {
        let schema = schema_named(self.schema.as_deref())?;
        let reading = match &schema {
            Some(schema) => TableReading::of_schema(schema),
            None => TableReading::of_format(layout(self.separator, &self.names)),
        };
        Ok(TableOptions {
            columns: columns.to_vec(),
            ranges: self.ranges.clone(),
            schema,
            reading,
        })
    }

    /// Returns the options for a query on the table that was `declared`: it is read as was
    /// declared.
    ///
    /// # Errors
    /// A column that was not declared, or another reading; when the schema cannot be read.
    pub fn query(
        &self,
        columns: &[String],
        declared: &DeclaredTable,
    ) -> Result<TableOptions, SourceError> {
        let options = self.options(columns)?;
        options.reading.check()?;
        let says_how = self.schema.is_some() || *self != self.without_layout();
        declared.admit(columns, says_how.then_some(&options.reading))?;
        Ok(TableOptions {
            reading: declared.reading.clone(),
            ..options
        })
    }

    fn without_layout(&self) -> TableSpecification {
        TableSpecification {
            names: Vec::new(),
            separator: Separator::default(),
            ..self.clone()
        }
    }

    /// Returns the specification with paths that can be read from anywhere.
    #[must_use]
    pub fn located(mut self) -> TableSpecification {
        self.schema = self.schema.as_deref().map(located_schema);
        self
    }
}

/// Refuses options that the chosen sensitivity has no use for.
fn noise_rules(noise: &CountOptions) -> Result<(), FieldError> {
    match (noise.sensitivity, noise.interval_share, noise.calibration) {
        (Sensitivity::Global, Some(share), _) => Err(FieldError::new(
            "noise.interval_share",
            share,
            "left out with the sensitivity global: that noise is public, and the interval is free",
        )),
        (Sensitivity::Inverse, Some(share), _) => Err(FieldError::new(
            "noise.interval_share",
            share,
            "left out with the sensitivity inverse: an interval needs the sensitivity smooth or global",
        )),
        (Sensitivity::Inverse, None, Calibration::Theorem) => Err(FieldError::new(
            "noise.calibration",
            "theorem",
            "left out with the sensitivity inverse: the theorems are about normal noise",
        )),
        _ => Ok(()),
    }
}

/// A private count of outliers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountSpecification {
    /// Records: CSV (also .gz) or Parquet.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Numeric columns: the dimensions.
    pub columns: Vec<String>,
    /// Radius of a neighbourhood, in units, divided by the root of the number of dimensions.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1e12))]
    pub radius: f64,
    /// An outlier has fewer than k other records within the radius.
    #[schemars(range(min = 1, max = MOST_RECORDS))]
    pub k: usize,
    /// Epsilon of the whole answer.
    #[schemars(range(min = LEAST_EPSILON, max = LARGEST_EPSILON))]
    pub epsilon: f64,
    /// Delta of the whole answer.
    #[schemars(range(min = LEAST_DELTA), extend("exclusiveMaximum" = 1))]
    pub delta: f64,
    /// Ledger that the query is charged to.
    #[schemars(extend("format" = "path"))]
    pub ledger: PathBuf,
    /// Take the noise from a seed: the answer is NOT private.
    #[serde(default, skip_serializing)]
    pub not_private_seed: Option<u64>,
    /// What is declared about the columns.
    #[serde(default)]
    pub table: TableSpecification,
    /// How the count is made private.
    #[serde(default)]
    pub noise: CountOptions,
}

impl Specification for CountSpecification {
    const KIND: &'static str = "outliers count";

    fn rules(&self) -> Result<(), FieldError> {
        self.table.rules()?;
        noise_rules(&self.noise)
    }
}

/// A private choice of subspaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubspacesSpecification {
    /// Records: CSV (also .gz) or Parquet.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Numeric columns: the dimensions.
    pub columns: Vec<String>,
    /// Radius of a neighbourhood, in units, divided by the root of the number of dimensions.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1e12))]
    pub radius: f64,
    /// An outlier has fewer than k other records within the radius.
    #[schemars(range(min = 1, max = MOST_RECORDS))]
    pub k: usize,
    /// Dimensions of a subspace.
    #[schemars(range(min = 1, max = MAX_COLUMNS))]
    pub dims: usize,
    /// How many subspaces are chosen.
    #[schemars(range(min = 1, max = MOST_SUBSPACES))]
    pub top: usize,
    /// Epsilon of everything.
    #[schemars(range(min = LEAST_EPSILON, max = LARGEST_EPSILON))]
    pub epsilon: f64,
    /// Delta of everything, where the outliers are counted too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LEAST_DELTA), extend("exclusiveMaximum" = 1))]
    pub delta: Option<f64>,
    /// Also count the outliers in each chosen subspace, within the same price.
    #[serde(default)]
    pub then_count: bool,
    /// Share of epsilon for these counts; by default 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LEAST_SHARE, max = MOST_SHARE))]
    pub count_share: Option<f64>,
    /// Ledger that the query is charged to.
    #[schemars(extend("format" = "path"))]
    pub ledger: PathBuf,
    /// Take the noise from a seed: the answer is NOT private.
    #[serde(default, skip_serializing)]
    pub not_private_seed: Option<u64>,
    /// What is declared about the columns.
    #[serde(default)]
    pub table: TableSpecification,
    /// How the counts are made private.
    #[serde(default)]
    pub noise: CountOptions,
}

impl Specification for SubspacesSpecification {
    const KIND: &'static str = "outliers subspaces";

    fn rules(&self) -> Result<(), FieldError> {
        self.table.rules()?;
        noise_rules(&self.noise)?;
        let refuse =
            |field: &str, value: &str, expected: &str| Err(FieldError::new(field, value, expected));
        match (self.then_count, self.delta) {
            (true, None) => refuse("delta", "missing", "given with then_count"),
            (false, Some(_)) => refuse("delta", "given", "left out unless then_count is true"),
            (false, None) if self.count_share.is_some() => {
                refuse("count_share", "given", "left out unless then_count is true")
            }
            (false, None) if self.noise != CountOptions::default() => refuse(
                "noise",
                "given",
                "left out unless then_count is true: it is for counts",
            ),
            _ => Ok(()),
        }
    }
}

impl SubspacesSpecification {
    /// Returns how the price is divided between the choice and the counts.
    ///
    /// # Errors
    /// Numbers that are no guarantee.
    pub fn split(&self) -> Result<(Choice, Option<ThenCount>), PrivacyError> {
        let choice = Choice {
            dimensions: self.dims,
            top: self.top,
            epsilon: self.epsilon,
        };
        let Some(delta) = self.delta.filter(|_| self.then_count) else {
            return Ok((choice, None));
        };
        let share = self.count_share.unwrap_or(COUNT_SHARE);
        let (counts, rest) = split(self.epsilon, share);
        let then_count = ThenCount {
            guarantee: Guarantee::new(counts, delta)?,
            options: self.noise,
        };
        let choice = Choice {
            epsilon: rest,
            ..choice
        };
        Ok((choice, Some(then_count)))
    }

    /// Returns the specification with nothing left open.
    #[must_use]
    pub fn resolved(mut self) -> SubspacesSpecification {
        self.table = self.table.located();
        if self.then_count {
            self.count_share.get_or_insert(COUNT_SHARE);
        }
        self
    }
}

/// An exact count of outliers, for the owner of the records. **Not private.**
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExactSpecification {
    /// Records: CSV (also .gz) or Parquet.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Numeric columns: the dimensions.
    pub columns: Vec<String>,
    /// Radius of a neighbourhood, in units, divided by the root of the number of dimensions.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1e12))]
    pub radius: f64,
    /// An outlier has fewer than k other records within the radius.
    #[schemars(range(min = 1, max = MOST_RECORDS))]
    pub k: usize,
    /// Count in every subspace of so many dimensions instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MAX_COLUMNS))]
    pub dims: Option<usize>,
    /// Epsilon of a private count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LEAST_EPSILON, max = LARGEST_EPSILON))]
    pub epsilon: Option<f64>,
    /// Delta of a private count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LEAST_DELTA), extend("exclusiveMaximum" = 1))]
    pub delta: Option<f64>,
    /// What is declared about the columns.
    #[serde(default)]
    pub table: TableSpecification,
    /// How a private count would be made.
    #[serde(default)]
    pub noise: CountOptions,
}

impl Specification for ExactSpecification {
    const KIND: &'static str = "outliers exact";

    fn rules(&self) -> Result<(), FieldError> {
        self.table.rules()?;
        noise_rules(&self.noise)?;
        let refuse =
            |field: &str, value: &str, expected: &str| Err(FieldError::new(field, value, expected));
        match (self.epsilon, self.delta) {
            (Some(_), None) => refuse("delta", "missing", "given with epsilon"),
            (None, Some(_)) => refuse("epsilon", "missing", "given with delta"),
            (Some(_), Some(_)) if self.dims.is_some() => {
                refuse("dims", "given", "left out with epsilon and delta")
            }
            (None, None) if self.noise != CountOptions::default() => refuse(
                "noise",
                "given",
                "left out, or given with epsilon and delta",
            ),
            _ if self.noise.interval_share.is_some() => refuse(
                "noise.interval_share",
                "given",
                "left out: the noise itself is shown",
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
