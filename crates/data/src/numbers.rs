//! Labelled rows of numbers: the input of distance-based methods, from tables, from IDX images, or
//! from record batches in memory.
//!
//! Without a schema every column but the label must hold finite numbers. With one, integers and
//! numeric attributes are taken as they are, ordered categories as their position, and unordered
//! ones as one indicator column a level, so that any two of them are equally far apart. How one
//! cell becomes a number is [`Column`]'s affair, which other readers of numbers share.
//!
//! Scaling uses *declared* bounds only. Bounds taken from the rows would be something learnt:
//! removing a row could change them, and every distance with them.

mod column;
mod error;
mod options;
mod rows;

use std::path::Path;

pub use self::column::{Column, Reading};
pub use self::error::NumbersError;
pub use self::options::{Bounds, NumbersOptions, bounds_of, is_scale};
use self::rows::TableReader;
pub use self::rows::{Numbers, class_name};
use super::idx::{Idx, IdxContent, labels_of};
use super::read::{IN_MEMORY, Place, Records};
use super::source::{Content, DataFile, Source};
pub use super::spelling::{Levels, numbers_of, one_spelling, place_of};
use super::table::Labels;
use arrow_array::RecordBatch;

/// The source of the rows to read.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'a> {
    /// A table, or IDX images with a second file that holds their labels.
    File {
        /// The path of the rows: a CSV, Parquet or IDX file.
        file: &'a Path,
        /// The path of the labels: an IDX file.
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
    /// Returns the file, or the name by which errors call batches.
    pub fn name(self) -> &'a Path {
        match self {
            Rows::File { file, .. } => file,
            Rows::Batches(_) => Path::new(IN_MEMORY),
        }
    }
}

impl Numbers {
    /// Reads labelled rows to learn from: [`Numbers::training`] of a table in a file.
    ///
    /// # Errors
    /// See [`NumbersError`].
    pub fn read(file: &Path, options: &NumbersOptions) -> Result<Numbers, NumbersError> {
        Self::training(file, options)
    }

    /// Reads labelled rows to learn from record batches in memory.
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
        let mut options = options.clone();
        options.ignore.extend(options.id.take());
        Self::decode(rows, &options, Some(training), Labels::Required)?.or_empty(rows, "test rows")
    }

    /// Reads rows that need no labels, as they are: not scaled, whatever bounds are declared. With
    /// `like`, the rows must have its columns.
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
        Err(self
            .left_out
            .bad_rows
            .none_left(rows.name(), expected)
            .into())
    }

    fn decode(
        rows: Rows<'_>,
        options: &NumbersOptions,
        training: Option<&Numbers>,
        needed: Labels,
    ) -> Result<Numbers, NumbersError> {
        for bounds in &options.bounds {
            let (min, max) = (bounds.min, bounds.max);
            if !is_scale(min, max) {
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
                    IdxContent::Idx(idx) => {
                        if let Some(column) = &options.id {
                            return Err(NumbersError::no_id_column(file, column));
                        }
                        let images = idx.into_images(file, options.reduction)?;
                        let labels = match labels {
                            Some(labels) => Some((labels, labels_of(file, labels, images.count)?)),
                            None => None,
                        };
                        Numbers::of_images(images, labels)
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

    fn scale(&mut self, file: &Path, options: &NumbersOptions) -> Result<(), NumbersError> {
        for column in options.bounds.iter().filter_map(|b| b.column.as_ref()) {
            if !self.columns.contains(column) {
                return Err(NumbersError::NoSuchColumn {
                    field: "bounds",
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
