//! A file of text as programs hold tables: with columns of whole numbers, numbers, truths and words.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};

use super::column::{MANY, MOST_CODES, has_leading_zero, is_ten_to};
use super::error::InferError;
use super::layout;
use super::options::InferOptions;
use crate::read::{BadRows, ReadError, Records};
use crate::schema::{Encoded, Encoder, Kind, Label, Schema, is_missing};
use crate::source::DataFile;
use crate::spelling::truth;
use crate::unicode;

/// Returns the rows of `file`, a column for each of its own but those that `options` ignore, and
/// the rows that were left out because something is wrong with them. Cells that say that their
/// value is not known are null, but where `schema` has them for a level or a class, by any of its
/// spellings.
///
/// # Errors
/// When it cannot be read, or its numbers may be read in two ways.
pub fn typed(
    file: &Path,
    options: &InferOptions,
    schema: Option<&Schema>,
) -> Result<(RecordBatch, BadRows), InferError> {
    let opened = DataFile::open_rereadable(file)?;
    let layout = layout::found(&opened, options)?;
    let mut records = Records::from_file(&opened, &layout.format)?;
    let names = records.names().to_vec();
    let taken: Vec<usize> = (0..names.len())
        .filter(|&at| !options.ignore.contains(&names[at]) && !names[..at].contains(&names[at]))
        .collect();
    for &at in &taken {
        // From now on a row is refused in which another column of the name holds something else.
        records.require(&names[at])?;
    }
    let known: Vec<Known<'_>> = taken
        .iter()
        .map(|&at| Known::find(schema, &names[at]))
        .collect();
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
        let columns = columns.iter_mut().zip(&known);
        for (((column, known), &position), cell) in columns.zip(&taken).zip(cells) {
            if is_missing(cell) && !known.holds(cell) {
                column.words.append_null();
            } else if let Some(plain) = layout.plain(position, &names[position], cell)? {
                column.append(&plain, known);
            } else {
                column.append(cell, known);
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
    let batch = batch.map_err(|error| ReadError::io(file, std::io::Error::other(error)))?;
    Ok((batch, bad_rows))
}

/// The values of a column that a schema knows.
struct Known<'s> {
    attribute: Option<Encoder<'s>>,
    label: Option<&'s Label>,
}

impl<'s> Known<'s> {
    /// Finds the values of the column called `name`.
    fn find(schema: Option<&'s Schema>, name: &str) -> Known<'s> {
        let attributes = schema.into_iter().flat_map(|schema| &schema.attributes);
        let mut attributes = attributes.filter(|attribute| unicode::same(&attribute.name, name));
        let label = schema.map(|schema| &schema.label);
        Known {
            attribute: attributes.next().map(Encoder::new),
            label: label.filter(|label| unicode::same(&label.name, name)),
        }
    }

    /// Returns whether `cell` is one of the values.
    fn holds(&self, cell: &str) -> bool {
        let encoded = self.attribute.as_ref().map(|encoder| encoder.encode(cell));
        matches!(encoded, Some(Ok(Encoded::Code(_))))
            || self.label.is_some_and(|label| label.code(cell).is_some())
    }

    /// Returns whether `cell` is one of the words as it is written; `None` where the schema has no
    /// such attribute.
    fn has_word(&self, cell: &str) -> Option<bool> {
        let attribute = self.attribute.as_ref()?.attribute();
        let levels = match &attribute.kind {
            Kind::Categorical { levels, .. } => levels,
            _ => &attribute.named,
        };
        Some(levels.iter().any(|level| level == cell))
    }
}

/// A column, and the type that all its values have.
struct Typed {
    words: StringBuilder,
    is_whole: bool,
    is_number: bool,
    is_truth: bool,
    values: usize,
    /// Whether a cell is a number or a name, such as 12E1, which no schema tells.
    has_ten_to: bool,
    /// The first different values.
    different: HashSet<String>,
}

impl Default for Typed {
    fn default() -> Typed {
        Typed {
            words: StringBuilder::new(),
            is_whole: true,
            is_number: true,
            is_truth: true,
            values: 0,
            has_ten_to: false,
            different: HashSet::new(),
        }
    }
}

impl Typed {
    fn append(&mut self, value: &str, known: &Known<'_>) {
        self.values += 1;
        if self.different.len() <= MOST_CODES && !self.different.contains(value) {
            self.different.insert(value.to_owned());
        }
        if is_ten_to(value) {
            let has_word = known.has_word(value);
            self.has_ten_to |= has_word.is_none();
            self.is_number = self.is_number && has_word != Some(true);
        }
        self.is_whole = self.is_whole && value.parse::<i64>().is_ok() && !has_leading_zero(value);
        self.is_number =
            self.is_number && value.parse().is_ok_and(f64::is_finite) && !has_leading_zero(value);
        self.is_truth = self.is_truth && truth(value).is_some();
        self.words.append_value(value);
    }

    fn made(mut self) -> Result<ArrayRef, ArrowError> {
        // As a draft has it.
        let different = self.different.len();
        let are_few = different <= MOST_CODES && (different < self.values || different < MANY);
        self.is_number &= !(self.has_ten_to && are_few);
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
        let (batch, _) = typed(&file, &InferOptions::default(), None).unwrap();
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

    /// Digits around an E are words where they are among few, or the schema says so.
    #[test]
    fn digits_around_an_e_have_the_type_that_the_schema_says() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("people.csv");
        let text = "flat,floor,power,more\n12E1,12E1,1e5,12E1\n7,7,2E+05,1\n";
        let more: String = (0..60).map(|row| format!("7,7,3,{row}\n")).collect();
        std::fs::write(&file, text.to_owned() + &more).unwrap();
        let schema = Schema::from_toml(
            r#"
            name = "people"
            [label]
            name = "power"
            classes = ["3", "100000", "200000"]
            [[attribute]]
            name = "flat"
            kind = "categorical"
            levels = ["12E1", "7"]
            [[attribute]]
            name = "floor"
            kind = "integer"
            min = 0
            max = 200
            "#,
        )
        .unwrap();
        for (schema, is_number) in [
            (None, [false, false, true, true]),
            (Some(&schema), [false, true, true, true]),
        ] {
            let (batch, _) = typed(&file, &InferOptions::default(), schema).unwrap();
            let kinds = batch.columns().iter().map(|column| column.data_type());
            let found: Vec<bool> = kinds.map(|kind| *kind == DataType::Float64).collect();
            assert_eq!(found, is_number);
        }
    }

    /// Marks of missing values are values where the schema knows them: as levels, as spellings of
    /// levels, as classes and as spellings of classes. What is left out is counted.
    #[test]
    fn what_the_schema_knows_is_a_value() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("people.csv");
        let text = "race,town,bought\nNA,null,NA\nn/a,Ulm,?\n?,Bonn,yes\nNA,Ulm\n";
        std::fs::write(&file, text).unwrap();
        let schema = Schema::from_toml(
            r#"
            name = "people"
            [format]
            skip_bad_rows = true
            [label]
            name = "bought"
            classes = ["no", "yes"]
            aliases = { NA = "no" }
            [[attribute]]
            name = "race"
            kind = "categorical"
            levels = ["NA", "White"]
            merge = { "n/a" = "NA" }
            missing = "?"
            outside = "level"
            [[attribute]]
            name = "town"
            kind = "categorical"
            levels = ["Bonn", "Ulm"]
            "#,
        );
        let schema = schema.unwrap();
        let options = InferOptions {
            format: schema.format.clone(),
            ..InferOptions::default()
        };
        let (batch, bad_rows) = typed(&file, &options, Some(&schema)).unwrap();
        let column = |name: &str| {
            let words = batch.column_by_name(name).unwrap().as_string::<i32>();
            words.iter().collect::<Vec<_>>()
        };
        assert_eq!(column("race"), [Some("NA"), Some("n/a"), None]);
        assert_eq!(column("town"), [None, Some("Ulm"), Some("Bonn")]);
        assert_eq!(column("bought"), [Some("NA"), None, Some("yes")]);
        assert_eq!(bad_rows.rows, 1);
    }
}
