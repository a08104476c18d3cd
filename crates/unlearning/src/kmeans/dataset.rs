//! Reading of files and record batches as points: columns, their declared bounds, and the ids of
//! the rows.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::errors::KMeansError;
use super::points::Points;
use probity_data::numbers::{Numbers, NumbersError, NumbersOptions, Rows, bounds_of, is_scale};
use probity_data::read::{LeftOut, Place, ReadError};
use probity_data::schema::{Kind, Schema};
use probity_data::source::Source;

/// The name of a model in messages where they would name the training table.
const MODEL: &str = "the model";

/// The reason why a file cannot be clustered.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// The file cannot be read.
    #[error("{0}")]
    Numbers(#[from] NumbersError),
    /// The rows and the options do not fit.
    #[error("{}: {source}", file.display())]
    Points {
        /// The file.
        file: PathBuf,
        /// The problem with the rows or options.
        source: KMeansError,
    },
    /// A column without declared bounds.
    #[error(
        "{}: the column '{column}' has no declared bounds; declare them in input.bounds, for it or for all columns, or name a schema in reading.schema. Bounds are not taken from the rows, because a deletion could change them",
        file.display()
    )]
    NoBounds {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
    },
    /// An id that is no whole number.
    #[error(
        "{}, {place}, column '{column}': '{value}' is no row id; ids are whole numbers from 0",
        file.display()
    )]
    NoId {
        /// The file.
        file: PathBuf,
        /// The row.
        place: Place,
        /// The id column.
        column: String,
        /// The cell.
        value: String,
    },
    /// The file has no columns but the id.
    #[error("{} has no column but the ids", file.display())]
    OnlyIds {
        /// The file.
        file: PathBuf,
    },
}

/// A column by name, with the bounds that its values are scaled by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name of the column.
    pub name: String,
    /// The lower bound, which becomes 0.
    pub min: f64,
    /// The upper bound, which becomes 1.
    pub max: f64,
}

/// Points with their columns, and labels where the file has them.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows. Their ids are those of the id column, else their numbers in the file, from 1.
    pub points: Points,
    /// The label of each id, in the order of the ids, empty where it is missing; no entries without
    /// labels.
    pub labels: Vec<(u64, String)>,
    /// The rows that are left out.
    pub left_out: LeftOut,
    /// The files that the rows are from.
    pub source: Source,
}

impl Dataset {
    /// Returns the labels as numbers, in the order of their text; `None` for one that is missing.
    pub fn numbered_labels(&self) -> Vec<Option<u32>> {
        let known = |label: &&str| !label.is_empty();
        let labels = || self.labels.iter().map(|(_, label)| label.as_str());
        let mut classes: Vec<&str> = labels().filter(known).collect();
        classes.sort_unstable();
        classes.dedup();
        labels()
            .map(|label| {
                let number = classes.partition_point(|class| *class < label) as u32;
                known(&label).then_some(number)
            })
            .collect()
    }
}

/// Reads rows as points. Every column needs declared bounds: of `options`, of its schema, or 0 to
/// 255 for images.
///
/// # Errors
/// Rows that cannot be read, a column without bounds, a value outside of them, ids that are no ids.
pub fn read_dataset<'a>(
    rows: impl Into<Rows<'a>>,
    options: &NumbersOptions,
) -> Result<Dataset, DatasetError> {
    let rows = rows.into();
    let file = rows.name();
    for bounds in &options.bounds {
        let (min, max) = (bounds.min, bounds.max);
        if !is_scale(min, max) {
            return Err(NumbersError::EmptyBounds { min, max }.into());
        }
    }
    let numbers = Numbers::unscaled(rows, options, None)?;
    let ids = ids_of(&numbers, options)?;
    for column in options.bounds.iter().filter_map(|b| b.column.as_ref()) {
        if !numbers.columns.contains(column) {
            return Err(NumbersError::NoSuchColumn {
                field: "bounds",
                column: column.clone(),
                file: file.to_owned(),
            }
            .into());
        }
    }
    let is_image = options.schema.is_none()
        && numbers
            .columns
            .first()
            .is_some_and(|name| name == FIRST_BLOCK);
    let columns = numbers
        .columns
        .iter()
        .map(|name| {
            let (min, max) = bounds_of_column(options, name)
                .or(is_image.then_some((0.0, 255.0)))
                .ok_or_else(|| DatasetError::NoBounds {
                    file: file.to_owned(),
                    column: name.clone(),
                })?;
            Ok(Column {
                name: name.clone(),
                min,
                max,
            })
        })
        .collect::<Result<Vec<Column>, DatasetError>>()?;
    let mut labels: Vec<(u64, String)> = ids.iter().copied().zip(numbers.labels.clone()).collect();
    labels.sort_unstable();
    let left_out = numbers.left_out.clone();
    let source = numbers.source.clone();
    let points = points_of(numbers, ids, &columns)?;
    Ok(Dataset {
        columns,
        points,
        labels,
        left_out,
        source,
    })
}

/// The name that the reader of images gives the first of its columns.
const FIRST_BLOCK: &str = "block_0_0";

/// Scales rows by the bounds of `columns`.
fn points_of(numbers: Numbers, ids: Vec<u64>, columns: &[Column]) -> Result<Points, DatasetError> {
    let file = numbers.name().to_owned();
    let bounds: Vec<(f64, f64)> = columns.iter().map(|c| (c.min, c.max)).collect();
    if bounds.is_empty() {
        return Err(DatasetError::OnlyIds { file });
    }
    let outside = numbers.features.iter().enumerate().find(|&(at, &value)| {
        let (min, max) = bounds[at % bounds.len()];
        !(value >= min && value <= max)
    });
    if let Some((at, &value)) = outside {
        let column = &columns[at % bounds.len()];
        return Err(NumbersError::OutOfBounds {
            file,
            place: Place::Row(numbers.numbers[at / bounds.len()]),
            column: column.name.clone(),
            value,
            min: column.min,
            max: column.max,
        }
        .into());
    }
    Points::from_values(ids, &numbers.features, &bounds)
        .map_err(|source| DatasetError::Points { file, source })
}

/// Reads rows with the columns of a model, in any order, and returns what is left out too. The ids
/// of the rows are those of the id column, else their numbers in the file, from 1.
///
/// # Errors
/// Rows that cannot be read, a table that lacks a column of the model, or has a value outside of
/// the bounds; ids that are no ids.
pub fn read_for_model<'a>(
    rows: impl Into<Rows<'a>>,
    options: &NumbersOptions,
    columns: &[Column],
) -> Result<(Points, LeftOut), DatasetError> {
    let like = Numbers {
        columns: columns.iter().map(|column| column.name.clone()).collect(),
        source: Source {
            file: MODEL.into(),
            ..Source::default()
        },
        ..Numbers::default()
    };
    let numbers = Numbers::unscaled(rows, options, Some(&like))?;
    let at = columns
        .iter()
        .map(|column| {
            numbers
                .columns
                .iter()
                .position(|name| *name == column.name)
                .ok_or_else(|| {
                    ReadError::MissingColumn {
                        file: numbers.name().to_owned(),
                        column: column.name.clone(),
                        found: numbers.columns.join(", "),
                    }
                    .into()
                })
        })
        .collect::<Result<Vec<usize>, NumbersError>>()?;
    let features = (0..numbers.rows())
        .flat_map(|row| {
            let row = numbers.row(row);
            at.iter().map(move |&column| row[column])
        })
        .collect();
    let ids = ids_of(&numbers, options)?;
    let left_out = numbers.left_out.clone();
    let chosen = Numbers {
        features,
        columns: like.columns,
        ..numbers
    };
    Ok((points_of(chosen, ids, columns)?, left_out))
}

/// Returns the bounds that are declared for a column.
fn bounds_of_column(options: &NumbersOptions, name: &str) -> Option<(f64, f64)> {
    let mut by_schema = options.clone();
    by_schema.scale_by_schema = true;
    bounds_of(&by_schema, name).or_else(|| in_schema(options.schema.as_ref()?, name))
}

/// Returns the bounds of columns that [`bounds_of`] leaves out: indicators of a level, and domains
/// of one value.
fn in_schema(schema: &Schema, name: &str) -> Option<(f64, f64)> {
    if let Some(attribute) = schema.attributes.iter().find(|a| a.name == name) {
        let (min, _) = attribute.domain();
        return (!matches!(attribute.kind, Kind::Numeric { .. }))
            .then_some((f64::from(min), f64::from(min) + 1.0));
    }
    let of = |attribute: &str| {
        name.strip_prefix(attribute)
            .is_some_and(|rest| rest.starts_with('='))
    };
    schema
        .attributes
        .iter()
        .any(|attribute| of(&attribute.name))
        .then_some((0.0, 1.0))
}

/// Returns the ids of rows: what the id column holds, else their numbers.
fn ids_of(numbers: &Numbers, options: &NumbersOptions) -> Result<Vec<u64>, DatasetError> {
    let Some(column) = &options.id else {
        return Ok(numbers.numbers.clone());
    };
    let ids = numbers.ids.iter().zip(&numbers.numbers);
    ids.map(|(text, &number)| {
        id_in(text).ok_or_else(|| DatasetError::NoId {
            file: numbers.name().to_owned(),
            place: Place::Row(number),
            column: column.clone(),
            value: text.clone(),
        })
    })
    .collect()
}

/// Parses a whole number, also where it is written as `3.0`.
fn id_in(text: &str) -> Option<u64> {
    text.parse().ok().or_else(|| {
        let value: f64 = text.parse().ok()?;
        let is_whole = value >= 0.0 && value <= (1_u64 << 53) as f64 && value.fract() == 0.0;
        is_whole.then_some(value as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(options: &NumbersOptions, cells: &[&str]) -> Vec<Option<u32>> {
        let rows: String = cells.iter().map(|cell| format!("1,{cell}\n")).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("x,y\n{rows}")).unwrap();
        read_dataset(file.path(), options)
            .unwrap()
            .numbered_labels()
    }

    fn by_schema(label: &str) -> NumbersOptions {
        let schema = format!(
            "name = \"s\"\n[label]\nname = \"y\"\n{label}\n\
             [[attribute]]\nname = \"x\"\nkind = \"integer\"\nmin = 0\nmax = 9\n"
        );
        let mut options = NumbersOptions::default();
        options.schema = Some(Schema::from_toml(&schema).unwrap());
        options
    }

    #[test]
    fn labels_are_classes_of_the_schema_and_may_be_missing() {
        let aliases = "classes = [\"low\", \"high\"]\naliases = { \"high.\" = \"high\" }";
        assert_eq!(
            labels(&by_schema(aliases), &["low", "high.", "", "high", "NA"]),
            [Some(1), Some(0), None, Some(0), None]
        );
        let threshold = "classes = [\"few\", \"many\"]\nthreshold = 0.5";
        assert_eq!(
            labels(&by_schema(threshold), &["0.1", "0.7", "0.2", "?"]),
            [Some(0), Some(1), Some(0), None]
        );
        // Numbers are no classes.
        assert_eq!(
            labels(&by_schema("kind = \"number\""), &["0.1", "0.7"]),
            [None, None]
        );
        let mut words = NumbersOptions::default();
        words.label = Some("y".to_owned());
        words.bounds = vec![probity_data::numbers::Bounds {
            column: None,
            min: 0.0,
            max: 9.0,
        }];
        assert_eq!(
            labels(&words, &["b", "?", "a", "", "b"]),
            [Some(1), None, Some(0), None, Some(1)]
        );
    }
}
