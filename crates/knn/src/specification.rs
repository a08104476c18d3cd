//! The specifications of k-NN runs: one type for each kind of run, and the parts that they share.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::errors::MOST_FOLDS;
use crate::inputs::{Inputs, RobustnessError};
use crate::learn::neighbours::Metric;
use crate::verdict::Method;
use crate::verdicts::VerdictsFormat;
use probity_data::named_schema::NamedSchemaError;
use probity_data::numbers::{Bounds, NumbersOptions};
use probity_data::specification::{ReadingSpecification, located_schema, record_schema};
use probity_run::specification::file::Record;
use probity_run::specification::{FieldError, Seconds, Specification, TIME_SPAN};

/// A time for each test input, or none: on the wire `60s` or `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeLimit(Option<Seconds>);

impl TimeLimit {
    /// The limit as a duration, if there is one.
    pub fn duration(self) -> Option<Duration> {
        self.0.map(Seconds::duration)
    }
}

impl Default for TimeLimit {
    fn default() -> TimeLimit {
        TimeLimit(Some(Duration::from_secs(60).into()))
    }
}

impl FromStr for TimeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeLimit, String> {
        match text {
            "none" => Ok(TimeLimit(None)),
            _ => text
                .parse()
                .map(|limit| TimeLimit(Some(limit)))
                .map_err(|problem| format!("{problem}, or none")),
        }
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(limit) => limit.fmt(f),
            None => f.write_str("none"),
        }
    }
}

impl TryFrom<String> for TimeLimit {
    type Error = String;

    fn try_from(text: String) -> Result<TimeLimit, String> {
        text.parse()
    }
}

impl From<TimeLimit> for String {
    fn from(value: TimeLimit) -> String {
        value.to_string()
    }
}

impl JsonSchema for TimeLimit {
    fn schema_name() -> Cow<'static, str> {
        "TimeLimit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": TIME_SPAN,
            "examples": ["60s", "5m", "none"],
        })
    }
}

/// What is known of the rows besides their columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct InputSpecification {
    /// IDX file with the labels of the training images.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub train_labels: Option<PathBuf>,
    /// IDX file with the labels of the test images.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub test_labels: Option<PathBuf>,
    /// Column with the label; all others are features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_column: Option<String>,
    /// Column with ids, which deal the training rows into folds: rows with the same id share one.
    /// By default rows with the same features do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// Scale by the domains that the schema declares.
    pub scale: bool,
    /// Scale all columns, or one, from these bounds to 0 … 1.
    #[schemars(extend("x-flag" = false))]
    pub bounds: Vec<Bounds>,
}

impl InputSpecification {
    fn rules(&self, reading: &ReadingSpecification) -> Result<(), FieldError> {
        if let (Some(label), Some(_)) = (&self.label_column, &reading.schema) {
            let expected = "left out where a schema names the label";
            return Err(FieldError::new("input.label_column", label, expected));
        }
        if self.scale && reading.schema.is_none() {
            let expected = "left out without a schema";
            return Err(FieldError::new("input.scale", self.scale, expected));
        }
        reading.rules("reading")
    }

    /// Returns the options by which files become numbers.
    ///
    /// # Errors
    /// When the schema cannot be read.
    pub fn options(
        &self,
        reading: &ReadingSpecification,
    ) -> Result<NumbersOptions, NamedSchemaError> {
        let mut options = reading.options()?;
        options.label.clone_from(&self.label_column);
        options.id.clone_from(&self.id_column);
        options.bounds.clone_from(&self.bounds);
        options.scale_by_schema = self.scale;
        Ok(options)
    }

    /// Reads and checks training rows and test inputs.
    ///
    /// # Errors
    /// A schema that cannot be read, or rows that do not fit.
    pub fn read(
        &self,
        train: &Path,
        test: &Path,
        reading: &ReadingSpecification,
    ) -> Result<Inputs, RobustnessError> {
        Inputs::read(
            (train, self.train_labels.as_deref()),
            (test, self.test_labels.as_deref()),
            &self.options(reading)?,
        )
    }
}

/// The most neighbours that are tried: every fold counts the errors of each number of them.
const MOST_NEIGHBOURS: u32 = 10_000;

/// The most rows that a row number can count.
const MOST_ROWS: u32 = 4_294_967_295;

/// How K is learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Learning {
    /// Folds of the cross-validation.
    #[schemars(range(min = 2, max = MOST_FOLDS))]
    pub folds: usize,
    /// Smallest K to try.
    #[schemars(range(min = 1, max = MOST_NEIGHBOURS), extend("x-flag" = "min-k"))]
    pub smallest_k: usize,
    /// Largest K to try. No share of the rows: it would change where rows are removed.
    ///
    /// Every input keeps as many neighbours, and as many more as rows may be poisoned.
    #[schemars(range(min = 1, max = MOST_NEIGHBOURS), extend("x-flag" = "max-k"))]
    pub largest_k: usize,
    /// Distance.
    pub metric: Metric,
    /// Seed of the folds and of the choice of inputs.
    pub seed: u64,
}

impl Learning {
    fn rules(&self) -> Result<(), FieldError> {
        let (smallest, largest) = (self.smallest_k, self.largest_k);
        if smallest > largest {
            let expected = format!("at most learning.largest_k, which is {largest}");
            return Err(FieldError::new("learning.smallest_k", smallest, expected));
        }
        Ok(())
    }
}

impl Default for Learning {
    fn default() -> Learning {
        Learning {
            folds: 10,
            smallest_k: 1,
            largest_k: 30,
            metric: Metric::default(),
            seed: 1,
        }
    }
}

/// What is decided, and how.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AnalysisSpecification {
    /// How many training rows may be poisoned: one threshold or several, one after the other.
    #[schemars(inner(range(max = MOST_ROWS)), extend("x-flag" = "sweep"))]
    pub poison: Vec<usize>,
    /// The same as a percentage of the training rows, rounded down, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 100, "x-flag" = false))]
    pub poison_percent: Option<f64>,
    /// How robustness is decided.
    pub method: Method,
    /// Time for each test input, such as 60s or 5m; `none` for no limit.
    pub time_limit: TimeLimit,
    /// Analyse so many test inputs, drawn by the seed; by default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MOST_ROWS))]
    pub inputs: Option<usize>,
    /// Form of the verdicts file.
    #[schemars(extend("x-flag" = "verdicts"))]
    pub verdicts_format: VerdictsFormat,
}

/// Everything that determines an analysis of robustness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RobustnessSpecification {
    /// Training rows: CSV, Parquet, or IDX images (also .gz, .xz).
    #[schemars(extend("format" = "path"))]
    pub train: PathBuf,
    /// Test inputs, with the columns of the training rows; labels are optional.
    #[schemars(extend("format" = "path"))]
    pub test: PathBuf,
    /// What is known of the rows besides their columns.
    #[serde(default)]
    pub input: InputSpecification,
    /// How the rows become numbers.
    #[serde(default)]
    pub reading: ReadingSpecification,
    /// What is decided, and how.
    #[serde(default)]
    pub analysis: AnalysisSpecification,
    /// How K is learnt.
    #[serde(default)]
    pub learning: Learning,
}

impl Specification for RobustnessSpecification {
    const KIND: &'static str = "knn";

    fn rules(&self) -> Result<(), FieldError> {
        self.input.rules(&self.reading)?;
        self.learning.rules()?;
        let AnalysisSpecification {
            poison,
            poison_percent,
            ..
        } = &self.analysis;
        match (poison.is_empty(), poison_percent) {
            (true, None) => Err(FieldError::new(
                "analysis.poison",
                "empty",
                "at least one threshold, unless a percentage is given",
            )),
            (false, Some(percent)) => Err(FieldError::new(
                "analysis.poison_percent",
                percent,
                "left out where thresholds are given",
            )),
            _ => Ok(()),
        }
    }
}

impl RobustnessSpecification {
    /// Asks for the robustness of the inputs in `test` to `poison` rows among those in `train`,
    /// everything else as it usually is.
    pub fn new(train: PathBuf, test: PathBuf, poison: Vec<usize>) -> RobustnessSpecification {
        RobustnessSpecification {
            train,
            test,
            input: InputSpecification::default(),
            reading: ReadingSpecification::default(),
            analysis: AnalysisSpecification {
                poison,
                ..AnalysisSpecification::default()
            },
            learning: Learning::default(),
        }
    }

    /// Reads and checks training rows and test inputs.
    ///
    /// # Errors
    /// See [`InputSpecification::read`].
    pub fn read(&self) -> Result<Inputs, RobustnessError> {
        self.input.read(&self.train, &self.test, &self.reading)
    }

    /// Returns the specification with the thresholds for `rows` training rows, ascending, and with
    /// a schema that is found from any directory.
    #[must_use]
    pub fn resolved(mut self, rows: usize) -> RobustnessSpecification {
        let analysis = &mut self.analysis;
        if let Some(percent) = analysis.poison_percent.take() {
            // The small term keeps an exact share from falling below itself.
            let share = (rows as f64 * percent / 100.0 + 1e-9) as usize;
            analysis.poison = vec![share.max(1)];
        }
        analysis.poison.sort_unstable();
        analysis.poison.dedup();
        self.reading.schema = self.reading.schema.as_deref().map(located_schema);
        self
    }

    /// Returns the record of the files that were opened to read `inputs`.
    ///
    /// # Errors
    /// When the schema cannot be read.
    pub fn record(&self, inputs: &Inputs) -> Result<Record, NamedSchemaError> {
        let mut record = Record::new();
        for (role, numbers) in [("train", &inputs.train), ("test", &inputs.test)] {
            record = record.opened(role, numbers.source.sha256.clone());
            if let Some(labels) = &numbers.source.labels_sha256 {
                record = record.opened(&format!("{role}_labels"), labels.clone());
            }
        }
        record_schema(record, self.reading.schema.as_deref())
    }

    /// Returns the file that was opened as `role`.
    pub fn file_of(&self, role: &str) -> &Path {
        match role {
            "test" => &self.test,
            "train_labels" => self.input.train_labels.as_deref().unwrap_or(&self.train),
            "test_labels" => self.input.test_labels.as_deref().unwrap_or(&self.test),
            "schema" => Path::new(self.reading.schema.as_deref().unwrap_or_default()),
            _ => &self.train,
        }
    }
}

/// What is predicted, without any analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PredictSpecification {
    /// Training rows: CSV, Parquet, or IDX images (also .gz, .xz).
    #[schemars(extend("format" = "path"))]
    pub train: PathBuf,
    /// Test inputs, with the columns of the training rows; labels are optional.
    #[schemars(extend("format" = "path"))]
    pub test: PathBuf,
    /// What is known of the rows besides their columns.
    #[serde(default)]
    pub input: InputSpecification,
    /// How the rows become numbers.
    #[serde(default)]
    pub reading: ReadingSpecification,
    /// How K is learnt.
    #[serde(default)]
    pub learning: Learning,
}

impl Specification for PredictSpecification {
    const KIND: &'static str = "knn predict";

    fn rules(&self) -> Result<(), FieldError> {
        self.input.rules(&self.reading)?;
        self.learning.rules()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_time_or_none() {
        let limit = |text: &str| text.parse::<TimeLimit>();
        assert_eq!(limit("none").unwrap().duration(), None);
        assert_eq!(TimeLimit::default().to_string(), "1m");
        assert!(limit("soon").unwrap_err().contains("none"));
        assert!(limit("366d").is_ok() && limit("367d").is_err());
        // Added to the time of the clock, it would be beyond all times.
        assert!(limit("500000000000years").is_err());
    }

    #[test]
    fn thresholds_are_given_once_and_resolved() {
        let run = |poison: Vec<usize>, percent: Option<f64>| {
            let mut run = RobustnessSpecification::new("a".into(), "b".into(), poison);
            run.analysis.poison_percent = percent;
            run
        };
        let field = |run: RobustnessSpecification| run.check().unwrap_err().field;
        assert_eq!(field(run(vec![], None)), "analysis.poison");
        assert_eq!(field(run(vec![1], Some(2.0))), "analysis.poison_percent");
        assert_eq!(field(run(vec![], Some(100.0))), "analysis.poison_percent");
        let sweep = run(vec![3, 1, 3], None).resolved(10);
        assert_eq!(sweep.analysis.poison, [1, 3]);
        let share = run(vec![], Some(0.1)).resolved(10);
        assert_eq!(share.analysis.poison, [1]);
        assert!(share.check().is_ok());
    }
}
