//! Labelled rows of numbers: what distance-based methods read, from tables, from IDX images, or from record
//! batches in memory.
//!
//! Without a schema every column but the label must hold finite numbers. With one, integers and
//! numeric attributes are taken as they are, ordered categories as their position, and unordered
//! ones as one indicator column a level, so that any two of them are equally far apart. How one cell
//! becomes a number is [`Column`]'s affair, which other readers of numbers share.
//!
//! Scaling uses *declared* bounds only. Bounds taken from the rows would be something learnt: removing
//! a row could change them, and every distance with them.

mod column;
mod error;
mod rows;

use std::path::Path;

use arrow_array::RecordBatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::column::{Column, Reading};
pub use self::error::NumbersError;
use self::rows::TableReader;
use super::idx::{Idx, IdxContent, Reduction};
use super::read::{IN_MEMORY, Place, ReadError, Records};
use super::schema::{Format, Kind, Schema};
use super::source::{Content, DataFile, Source};
use super::table::Labels;

/// Bounds declared for one column, or for all that have none of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
pub struct NumbersOptions {
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

/// Rows of finite numbers, with labels where they have them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Numbers {
    /// The files that they are from.
    pub source: Source,
    /// One name a feature.
    pub columns: Vec<String>,
    /// Row-major, `[rows, columns]`.
    pub features: Vec<f64>,
    /// One label a row, or none at all.
    pub labels: Vec<String>,
    /// The number of each row in its file or its batches, from 1, headers not counted.
    pub numbers: Vec<u64>,
    /// Rows left out by an `outside = "skip"` policy.
    pub skipped_rows: u64,
}

/// Where the rows to read are.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'a> {
    /// A table, or IDX images with a second file that holds their labels.
    File {
        /// CSV, Parquet or IDX.
        file: &'a Path,
        /// IDX.
        labels: Option<&'a Path>,
    },
    /// Record batches in memory.
    Batches(&'a [RecordBatch]),
}

impl<'a> From<&'a Path> for Rows<'a> {
    fn from(file: &'a Path) -> Self {
        Rows::File { file, labels: None }
    }
}

impl<'a> From<(&'a Path, Option<&'a Path>)> for Rows<'a> {
    fn from((file, labels): (&'a Path, Option<&'a Path>)) -> Self {
        Rows::File { file, labels }
    }
}

impl<'a> From<&'a Source> for Rows<'a> {
    fn from(source: &'a Source) -> Self {
        Rows::File {
            file: &source.file,
            labels: source.labels.as_deref(),
        }
    }
}

impl<'a> From<&'a [RecordBatch]> for Rows<'a> {
    fn from(batches: &'a [RecordBatch]) -> Self {
        Rows::Batches(batches)
    }
}

impl<'a> Rows<'a> {
    /// The file, or what errors call batches in its place.
    pub fn name(self) -> &'a Path {
        match self {
            Rows::File { file, .. } => file,
            Rows::Batches(_) => Path::new(IN_MEMORY),
        }
    }
}

impl Numbers {
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

    /// Reads labelled rows to learn from: [`Numbers::training`] of a table in a file.
    ///
    /// # Errors
    /// See [`NumbersError`].
    pub fn read(file: &Path, options: &NumbersOptions) -> Result<Numbers, NumbersError> {
        Self::training(file, options)
    }

    /// The same from record batches in memory.
    ///
    /// # Errors
    /// See [`NumbersError`].
    pub fn from_arrow(
        batches: &[RecordBatch],
        options: &NumbersOptions,
    ) -> Result<Numbers, NumbersError> {
        Self::training(batches, options)
    }

    /// Reads labelled rows to learn from.
    ///
    /// # Errors
    /// See [`NumbersError`].
    pub fn training<'a>(
        rows: impl Into<Rows<'a>>,
        options: &NumbersOptions,
    ) -> Result<Numbers, NumbersError> {
        let rows = rows.into();
        let numbers = Self::decode(rows, options, None, Labels::Required)?;
        let numbers = numbers.or_empty(rows, "training rows")?;
        if numbers.labels.is_empty() {
            return Err(NumbersError::NoLabels {
                file: rows.name().to_owned(),
            });
        }
        Ok(numbers)
    }

    /// Reads test rows with the columns of `training`, in any order; labels are optional.
    ///
    /// # Errors
    /// See [`NumbersError`].
    pub fn test<'a>(
        rows: impl Into<Rows<'a>>,
        options: &NumbersOptions,
        training: &Numbers,
    ) -> Result<Numbers, NumbersError> {
        let rows = rows.into();
        Self::decode(rows, options, Some(training), Labels::Required)?.or_empty(rows, "test rows")
    }

    /// Reads rows that need no labels, as they are: not scaled, whatever bounds are declared. With `like`,
    /// they must have its columns.
    ///
    /// # Errors
    /// See [`NumbersError`].
    pub fn unscaled<'a>(
        rows: impl Into<Rows<'a>>,
        options: &NumbersOptions,
        like: Option<&Numbers>,
    ) -> Result<Numbers, NumbersError> {
        let rows = rows.into();
        let unscaled = NumbersOptions {
            bounds: Vec::new(),
            scale_by_schema: false,
            ..options.clone()
        };
        Self::decode(rows, &unscaled, like, Labels::Optional)?.or_empty(rows, "rows")
    }

    fn or_empty(self, rows: Rows<'_>, expected: &'static str) -> Result<Numbers, NumbersError> {
        if self.rows() > 0 {
            return Ok(self);
        }
        let file = rows.name().to_owned();
        Err(ReadError::Empty { file, expected }.into())
    }

    fn decode(
        rows: Rows<'_>,
        options: &NumbersOptions,
        training: Option<&Numbers>,
        needed: Labels,
    ) -> Result<Numbers, NumbersError> {
        for bounds in &options.bounds {
            let (min, max) = (bounds.min, bounds.max);
            if !(min.is_finite() && max.is_finite() && min < max) {
                return Err(NumbersError::EmptyBounds { min, max });
            }
        }
        let layout = options
            .schema
            .as_ref()
            .map_or(&options.format, |schema| &schema.format);
        let table = |records| TableReader::new(records, options, training, needed)?.read();
        let mut numbers = match rows {
            Rows::Batches(batches) => table(Records::from_arrow(batches, layout)?)?,
            Rows::File { file, labels } => {
                let opened = DataFile::open(file)?;
                let content = match opened.content()? {
                    Content::Stream(stream) => Idx::read_if(file, stream)?,
                    parquet => IdxContent::Other(parquet),
                };
                let mut numbers = match content {
                    IdxContent::Idx(images) => {
                        images.into_numbers(file, labels, options.reduction)?
                    }
                    IdxContent::Other(_) if labels.is_some() => {
                        return Err(NumbersError::LabelsOfATable {
                            file: file.to_owned(),
                        });
                    }
                    IdxContent::Other(content) => {
                        table(Records::of_content(file, content, layout)?)?
                    }
                };
                numbers.source.file = file.to_owned();
                numbers.source.sha256 = opened.sha256()?;
                numbers
            }
        };
        if let Some(training) = training
            && numbers.columns.len() != training.columns.len()
        {
            return Err(NumbersError::OtherWidth {
                file: rows.name().to_owned(),
                found: numbers.columns.len(),
                expected: training.columns.len(),
                training: training.name().to_owned(),
            });
        }
        numbers.scale(rows.name(), options)?;
        Ok(numbers)
    }

    /// The file that they are from, or what errors call batches in its place.
    pub fn name(&self) -> &Path {
        match self.source.file.as_os_str().is_empty() {
            true => Path::new(IN_MEMORY),
            false => &self.source.file,
        }
    }

    fn scale(&mut self, file: &Path, options: &NumbersOptions) -> Result<(), NumbersError> {
        for column in options.bounds.iter().filter_map(|b| b.column.as_ref()) {
            if !self.columns.contains(column) {
                return Err(NumbersError::NoSuchColumn {
                    option: "bounds",
                    column: column.clone(),
                    file: file.to_owned(),
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
                return Err(NumbersError::OutOfBounds {
                    file: file.to_owned(),
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
pub fn bounds_of(options: &NumbersOptions, column: &str) -> Option<(f64, f64)> {
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
