//! A file of text as programs hold tables: with columns of whole numbers, numbers, truths and words.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};

use super::column::has_leading_zero;
use super::error::InferError;
use super::layout;
use super::options::InferOptions;
use crate::read::{BadRows, ReadError, Records};
use crate::schema::{Kind, Schema, is_missing};
use crate::source::DataFile;
use crate::spelling::truth;

/// The rows of `file`, a column for each of its own but those that `options` ignore. Cells that say
/// that their value is not known are null, but where `schema` has them for a level.
///
/// # Errors
/// When it cannot be read, or its numbers may be read in two ways.
pub fn typed(
    file: &Path,
    options: &InferOptions,
    schema: Option<&Schema>,
) -> Result<RecordBatch, InferError> {
    let opened = DataFile::open_rereadable(file)?;
    let layout = layout::found(&opened, options)?;
    let mut records = Records::of(&opened, &layout.format)?;
    let names = records.names().to_vec();
    let taken: Vec<usize> = (0..names.len())
        .filter(|&at| !options.ignore.contains(&names[at]) && !names[..at].contains(&names[at]))
        .collect();
    for &at in &taken {
        // From now on a row is refused in which another column of the name holds something else.
        records.require(&names[at])?;
    }
    let mut columns: Vec<Typed> = taken.iter().map(|_| Typed::default()).collect();
    let mut bad_rows = BadRows::default();
    loop {
        let row = match records.advance() {
            Ok(None) => break,
            Ok(Some(record)) => {
                let cells = taken.iter().map(|&position| record.cell(position));
                cells.collect::<Result<Vec<&str>, ReadError>>()
            }
            Err(error) => Err(error),
        };
        let cells = match row {
            Ok(cells) => cells,
            Err(error) => {
                bad_rows.add(error, &records)?;
                continue;
            }
        };
        for ((column, &position), cell) in columns.iter_mut().zip(&taken).zip(cells) {
            let name = &names[position];
            if is_missing(cell) && !is_level(schema, name, cell) {
                column.words.append_null();
            } else if let Some(plain) = layout.plain(position, name, cell)? {
                column.append(&plain);
            } else {
                column.append(cell);
            }
        }
    }
    let named = taken.iter().zip(columns).map(|(&position, column)| {
        let made = column.made();
        made.map(|made| (names[position].as_str(), made, true))
    });
    let batch = named
        .collect::<Result<Vec<_>, _>>()
        .and_then(RecordBatch::try_from_iter_with_nullable);
    batch.map_err(|error| ReadError::io(file, std::io::Error::other(error)).into())
}

/// Whether `schema` has `cell` for a level of the attribute called `name`.
fn is_level(schema: Option<&Schema>, name: &str, cell: &str) -> bool {
    let attributes = schema.into_iter().flat_map(|schema| &schema.attributes);
    attributes
        .filter(|attribute| attribute.name == name)
        .any(|attribute| match &attribute.kind {
            Kind::Categorical { levels, .. } => levels.iter().any(|level| level == cell),
            _ => false,
        })
}

/// A column, and what all its values are.
struct Typed {
    words: StringBuilder,
    is_whole: bool,
    is_number: bool,
    is_truth: bool,
    values: usize,
}

impl Default for Typed {
    fn default() -> Typed {
        Typed {
            words: StringBuilder::new(),
            is_whole: true,
            is_number: true,
            is_truth: true,
            values: 0,
        }
    }
}

impl Typed {
    fn append(&mut self, value: &str) {
        self.values += 1;
        self.is_whole = self.is_whole && value.parse::<i64>().is_ok() && !has_leading_zero(value);
        self.is_number =
            self.is_number && value.parse().is_ok_and(f64::is_finite) && !has_leading_zero(value);
        self.is_truth = self.is_truth && truth(value).is_some();
        self.words.append_value(value);
    }

    fn made(mut self) -> Result<ArrayRef, ArrowError> {
        let words: StringArray = self.words.finish();
        let kind = match self.values {
            0 => DataType::Utf8,
            _ if self.is_whole => DataType::Int64,
            _ if self.is_number => DataType::Float64,
            _ if self.is_truth => DataType::Boolean,
            _ => DataType::Utf8,
        };
        cast(&(Arc::new(words) as ArrayRef), &kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};

    #[test]
    fn columns_have_the_types_of_their_values() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("people.csv");
        let text = "age;wage;zip;ok;word\n40;2.345,67;02139;True;NA\n;12.500;10001;False;x\n";
        std::fs::write(&file, text).unwrap();
        let batch = typed(&file, &InferOptions::default(), None).unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let ages = column("age").as_primitive::<Int64Type>();
        assert_eq!(ages.iter().collect::<Vec<_>>(), [Some(40), None]);
        let wages = column("wage").as_primitive::<Float64Type>();
        assert_eq!(wages.values().to_vec(), [2345.67, 12500.0]);
        let zips = column("zip").as_string::<i32>();
        assert_eq!(
            zips.iter().collect::<Vec<_>>(),
            [Some("02139"), Some("10001")]
        );
        let truths = column("ok").as_boolean();
        assert_eq!(truths.iter().collect::<Vec<_>>(), [Some(true), Some(false)]);
        let words = column("word").as_string::<i32>();
        assert_eq!(words.iter().collect::<Vec<_>>(), [None, Some("x")]);
    }
}
