//! Labelled rows of numbers: what distance-based methods read, from tables or from IDX images.
//!
//! Without a schema every column but the label must hold finite numbers. With one, integers and
//! numeric attributes are taken as they are, ordered categories as their position, and unordered
//! ones as one indicator column a level, so that any two of them are equally far apart.
//!
//! Scaling uses *declared* bounds only. Bounds taken from the rows would be something learnt: removing
//! a row could change them, and every distance with them.

mod table_reader;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::idx::{IdxError, Reduction, read_idx};
use super::read::{Place, ReadError};
use super::schema::{Format, Kind, Schema};
use super::table::Labels;
use table_reader::TableReader;

/// Why rows cannot be used as numbers.
#[derive(Debug, Error)]
pub enum SamplesError {
    /// The file cannot be read as a table.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file cannot be read as images or labels.
    #[error(transparent)]
    Idx(#[from] IdxError),
    /// A feature is no finite number.
    #[error(
        "{}, {place}, column '{column}': '{value}' is not a finite number; correct it, leave the column out with --ignore, or describe it with --schema",
        file.display()
    )]
    NotANumber {
        /// The file.
        file: PathBuf,
        /// Line or row.
        place: Place,
        /// Column name.
        column: String,
        /// The cell.
        value: String,
    },
    /// A value is beyond the bounds that were declared for it.
    #[error(
        "{}, {place}, column '{column}': {value} is outside the declared bounds {min} to {max}",
        file.display()
    )]
    OutOfBounds {
        /// The file.
        file: PathBuf,
        /// Line or row.
        place: Place,
        /// Column name.
        column: String,
        /// The value.
        value: f64,
        /// The lower bound.
        min: f64,
        /// The upper bound.
        max: f64,
    },
    /// Training and test table differ in their columns.
    #[error(
        "{} has the column '{column}', which the training table {} lacks; leave it out with --ignore {column}",
        file.display(),
        training.display()
    )]
    OtherColumns {
        /// The file.
        file: PathBuf,
        /// The additional column.
        column: String,
        /// The training table.
        training: PathBuf,
    },
    /// Training and test images differ in size.
    #[error(
        "{} has {found} features a row, but the training rows of {} have {expected}",
        file.display(),
        training.display()
    )]
    OtherWidth {
        /// The file.
        file: PathBuf,
        /// Features a row.
        found: usize,
        /// Features of a training row.
        expected: usize,
        /// The training file.
        training: PathBuf,
    },
    /// An option names a column that is not there.
    #[error("--{option} names the column '{column}', which {} does not have", file.display())]
    NoSuchColumn {
        /// The option.
        option: &'static str,
        /// The column.
        column: String,
        /// The file.
        file: PathBuf,
    },
    /// Bounds that enclose nothing.
    #[error(
        "the bounds {min} to {max} enclose nothing; the first must be below the second, both finite"
    )]
    EmptyBounds {
        /// The lower bound.
        min: f64,
        /// The upper bound.
        max: f64,
    },
    /// Images without labels.
    #[error("{} holds images; name the file with their labels (--train-labels)", file.display())]
    NoLabels {
        /// The images.
        file: PathBuf,
    },
    /// Labels for something that is no IDX file.
    #[error("{} is no IDX file, so a separate file of labels does not fit; use --label-column", file.display())]
    LabelsOfATable {
        /// The table.
        file: PathBuf,
    },
    /// A table needs a label column.
    #[error("{} is a table; name its label column (--label-column)", file.display())]
    NoLabelColumn {
        /// The table.
        file: PathBuf,
    },
    /// A policy gives no number.
    #[error(
        "{}, {place}, column '{column}': '{value}' is mapped to a level of its own, which has no distance; use outside = \"clip\" or \"skip\"",
        file.display()
    )]
    LevelWithoutDistance {
        /// The file.
        file: PathBuf,
        /// Line or row.
        place: Place,
        /// Column name.
        column: String,
        /// The cell.
        value: String,
    },
}

/// Bounds declared for one column, or for all that have none of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The column; all of them where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Becomes 0.
    pub min: f64,
    /// Becomes 1.
    pub max: f64,
}

/// How files become rows of numbers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SamplesOptions {
    /// The label column of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Columns that are left out.
    pub ignore: Vec<String>,
    /// Whether values are scaled by the bounds that the schema declares.
    pub scale_by_schema: bool,
    /// How images are reduced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction: Option<Reduction>,
    /// The layout of a table without a schema.
    pub format: Format,
    /// Bounds for scaling.
    pub bounds: Vec<Bounds>,
    /// What the columns hold; they are numbers where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
}

/// Rows of finite numbers, with labels where the file has them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// The file they are from.
    pub file: PathBuf,
    /// One name a feature.
    pub columns: Vec<String>,
    /// Row-major, `[rows, columns]`.
    pub features: Vec<f64>,
    /// One label a row, or none at all.
    pub labels: Vec<String>,
    /// The number of each row in its file, from 1, headers not counted.
    pub numbers: Vec<u64>,
    /// Rows left out by an `outside = "skip"` policy.
    pub skipped_rows: u64,
}

impl Samples {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.numbers.len()
    }

    /// The features of row `at`; empty if there is no such row.
    pub fn row(&self, at: usize) -> &[f64] {
        let width = self.columns.len();
        let start = at.saturating_mul(width);
        self.features
            .get(start..start.saturating_add(width))
            .unwrap_or_default()
    }

    /// The label of row `at`, if it has one.
    pub fn label(&self, at: usize) -> Option<&str> {
        self.labels.get(at).map(String::as_str)
    }

    /// Reads training rows: `labels` is the file with the labels of images.
    ///
    /// # Errors
    /// See [`SamplesError`].
    pub fn read_training(
        file: &Path,
        labels: Option<&Path>,
        options: &SamplesOptions,
    ) -> Result<Samples, SamplesError> {
        let samples = Self::read(file, labels, options, None, Labels::Required)?;
        if samples.rows() == 0 {
            return Err(ReadError::Empty {
                file: file.to_owned(),
                expected: "training rows",
            }
            .into());
        }
        if samples.labels.is_empty() {
            return Err(SamplesError::NoLabels {
                file: file.to_owned(),
            });
        }
        Ok(samples)
    }

    /// Reads test rows with the columns of `training`, in any order; labels are optional.
    ///
    /// # Errors
    /// See [`SamplesError`].
    pub fn read_test(
        file: &Path,
        labels: Option<&Path>,
        options: &SamplesOptions,
        training: &Samples,
    ) -> Result<Samples, SamplesError> {
        let samples = Self::read(file, labels, options, Some(training), Labels::Required)?;
        if samples.rows() == 0 {
            return Err(ReadError::Empty {
                file: file.to_owned(),
                expected: "test rows",
            }
            .into());
        }
        Ok(samples)
    }

    /// Reads rows that need no labels, as they are in the file: not scaled, whatever bounds are declared. With
    /// `like`, they must have its columns.
    ///
    /// # Errors
    /// See [`SamplesError`].
    pub fn read_unscaled(
        file: &Path,
        labels: Option<&Path>,
        options: &SamplesOptions,
        like: Option<&Samples>,
    ) -> Result<Samples, SamplesError> {
        let unscaled = SamplesOptions {
            bounds: Vec::new(),
            scale_by_schema: false,
            ..options.clone()
        };
        let samples = Self::read(file, labels, &unscaled, like, Labels::Optional)?;
        if samples.rows() == 0 {
            return Err(ReadError::Empty {
                file: file.to_owned(),
                expected: "rows",
            }
            .into());
        }
        Ok(samples)
    }

    fn read(
        file: &Path,
        labels: Option<&Path>,
        options: &SamplesOptions,
        training: Option<&Samples>,
        needed: Labels,
    ) -> Result<Samples, SamplesError> {
        for bounds in &options.bounds {
            let (min, max) = (bounds.min, bounds.max);
            if !(min.is_finite() && max.is_finite() && min < max) {
                return Err(SamplesError::EmptyBounds { min, max });
            }
        }
        let mut samples = match read_idx(file)? {
            Some(images) => images.into_samples(file, labels, options.reduction)?,
            None if labels.is_some() => {
                return Err(SamplesError::LabelsOfATable {
                    file: file.to_owned(),
                });
            }
            None => TableReader::open(file, options, training, needed)?.read()?,
        };
        if let Some(training) = training
            && samples.columns.len() != training.columns.len()
        {
            return Err(SamplesError::OtherWidth {
                file: file.to_owned(),
                found: samples.columns.len(),
                expected: training.columns.len(),
                training: training.file.clone(),
            });
        }
        samples.scale(options)?;
        Ok(samples)
    }

    fn scale(&mut self, options: &SamplesOptions) -> Result<(), SamplesError> {
        for column in options.bounds.iter().filter_map(|b| b.column.as_ref()) {
            if !self.columns.contains(column) {
                return Err(SamplesError::NoSuchColumn {
                    option: "bounds",
                    column: column.clone(),
                    file: self.file.clone(),
                });
            }
        }
        let bounds: Vec<Option<(f64, f64)>> = self
            .columns
            .iter()
            .map(|column| bounds_of(options, column))
            .collect();
        if bounds.iter().all(Option::is_none) {
            return Ok(());
        }
        let width = self.columns.len();
        for (at, value) in self.features.iter_mut().enumerate() {
            let Some((min, max)) = bounds[at % width] else {
                continue;
            };
            if *value < min || *value > max {
                return Err(SamplesError::OutOfBounds {
                    file: self.file.clone(),
                    place: Place::Row(self.numbers[at / width]),
                    column: self.columns[at % width].clone(),
                    value: *value,
                    min,
                    max,
                });
            }
            *value = (*value - min) / (max - min);
        }
        Ok(())
    }
}

/// Bounds named for the column, else those of the schema if asked for, else those for all columns.
pub fn bounds_of(options: &SamplesOptions, column: &str) -> Option<(f64, f64)> {
    let named = options
        .bounds
        .iter()
        .find(|bounds| bounds.column.as_deref() == Some(column));
    let common = || options.bounds.iter().find(|bounds| bounds.column.is_none());
    let declared = || {
        let schema = options
            .schema
            .as_ref()
            .filter(|_| options.scale_by_schema)?;
        let attribute = schema.attributes.iter().find(|a| a.name == column)?;
        match &attribute.kind {
            Kind::Integer { .. } | Kind::Categorical { .. } => {
                let (min, max) = attribute.domain();
                (min < max).then_some((f64::from(min), f64::from(max)))
            }
            Kind::Numeric { bins } => Some((*bins.first()?, *bins.last()?)),
        }
    };
    named
        .map(|bounds| (bounds.min, bounds.max))
        .or_else(declared)
        .or_else(|| common().map(|bounds| (bounds.min, bounds.max)))
}
