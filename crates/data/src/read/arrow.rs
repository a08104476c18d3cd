//! Records of Arrow batches: of a Parquet file, or in memory.
//!
//! | type                                        | read as                                       |
//! |---------------------------------------------|-----------------------------------------------|
//! | strings (plain, large, views)               | their text, trimmed like any other            |
//! | whole numbers of any width, 64-bit floats   | the number itself                             |
//! | 16- and 32-bit floats, decimals             | the number that their shortest text stands for |
//! | booleans                                    | `true`, `false`; any spelling of a level fits |
//! | dates, times, timestamps                    | ISO 8601, such as `2024-02-29`; of zones with names in UTC |
//! | dictionaries                                | their values                                  |
//! | nulls                                       | missing values                                |
//!
//! Every other type (binary, lists, structs, durations …) is refused, but only where its column is
//! asked for. A 32-bit 0.1 is 0.1, not the nearest 32-bit number, so that a table means the same
//! whether it was written as text or as floats.
//!
//! Batches are taken a few thousand rows at a time, and a column is converted, whole slice by whole
//! slice, only when one of its cells is asked for: a large table in memory is never copied.

use std::cell::OnceCell;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::reader::ChunkReader;
use probity_run::guard::guarded;

use super::error::ReadError;
use crate::source::ParquetBytes;
use crate::unicode::trimmed;

/// The number of rows converted at a time.
const SLICE: usize = 4096;
/// The bound from which on whole numbers are no longer all `f64`s.
const EXACT: f64 = 9e15;

/// An iterator over batches.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The columns of a Parquet file, and its batches.
type Opened = (SchemaRef, Batches);

/// The records of batches, one at a time.
pub(super) struct ArrowRecords {
    batches: Batches,
    schema: SchemaRef,
    /// The number of batches taken.
    taken: usize,
    batch: Option<RecordBatch>,
    /// The first row of `slice` in the batch.
    start: usize,
    slice: Vec<Column>,
    rows_in_slice: usize,
    next_in_slice: usize,
    rows_before: u64,
}

/// A few thousand values of one column, in the forms that were asked for.
struct Column {
    values: ArrayRef,
    text: OnceCell<StringArray>,
    numbers: OnceCell<Float64Array>,
}

/// A value.
pub(super) enum Value<'a> {
    Null,
    /// A number; whole numbers too large for an `f64` are texts.
    Number(f64),
    Text(&'a str),
}

impl ArrowRecords {
    /// Returns the rows of a Parquet file.
    pub(super) fn parquet(file: &Path, bytes: ParquetBytes) -> Result<ArrowRecords, ReadError> {
        let opened = decoded(|| match bytes {
            ParquetBytes::File(bytes) => opened(bytes),
            ParquetBytes::Memory(bytes) => opened(bytes),
        });
        let opened = opened.map_err(|error| broken(file, &error))?;
        let (schema, batches) = opened.map_err(|codec| ReadError::Codec {
            file: file.to_owned(),
            codec,
        })?;
        Ok(Self::new(schema, batches))
    }

    /// Returns the rows of `batches`, called `name` in errors.
    pub(super) fn batches(name: &Path, batches: &[RecordBatch]) -> Result<ArrowRecords, ReadError> {
        let Some(first) = batches.first() else {
            return Err(ReadError::Empty {
                file: name.to_owned(),
                expected: "at least one batch",
            });
        };
        let schema = first.schema();
        // A clone shares the values.
        let batches: Vec<RecordBatch> = batches.to_vec();
        Ok(Self::new(schema, Box::new(batches.into_iter().map(Ok))))
    }

    fn new(schema: SchemaRef, batches: Batches) -> ArrowRecords {
        ArrowRecords {
            batches,
            schema,
            taken: 0,
            batch: None,
            start: 0,
            slice: Vec::new(),
            rows_in_slice: 0,
            next_in_slice: 0,
            rows_before: 0,
        }
    }

    /// Returns the names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// Returns whether the column at `position` holds texts, which people may have written.
    pub(super) fn is_text(&self, position: usize) -> bool {
        let field = self.schema.fields().get(position);
        field.is_some_and(|field| is_text(field.data_type()))
    }

    /// Goes to the next record; false at the end.
    pub(super) fn advance(&mut self, file: &Path) -> Result<bool, ReadError> {
        while self.next_in_slice == self.rows_in_slice {
            self.rows_before += self.rows_in_slice as u64;
            self.start += self.rows_in_slice;
            self.next_in_slice = 0;
            self.rows_in_slice = 0;
            let batch = match self.batch.take() {
                Some(batch) if self.start < batch.num_rows() => batch,
                _ => match decoded(|| self.batches.next().transpose()) {
                    Ok(Some(batch)) => self.first_of(file, batch)?,
                    Ok(None) => return Ok(false),
                    Err(error) => return Err(broken(file, &error)),
                },
            };
            self.rows_in_slice = SLICE.min(batch.num_rows() - self.start);
            let columns = batch.columns().iter();
            self.slice = columns
                .map(|column| Column::new(column.slice(self.start, self.rows_in_slice)))
                .collect();
            self.batch = Some(batch);
        }
        self.next_in_slice += 1;
        Ok(true)
    }

    /// Begins with another batch, which must have the columns of the first.
    fn first_of(&mut self, file: &Path, batch: RecordBatch) -> Result<RecordBatch, ReadError> {
        self.start = 0;
        self.taken += 1;
        let (own, others) = (self.schema.fields(), batch.schema());
        let alike = own.len() == others.fields().len()
            && own.iter().zip(others.fields()).all(|(own, other)| {
                own.name() == other.name() && own.data_type() == other.data_type()
            });
        if alike {
            return Ok(batch);
        }
        Err(ReadError::OtherBatch {
            file: file.to_owned(),
            batch: self.taken,
        })
    }

    /// Returns the number of the current row, from 1.
    pub(super) fn row(&self) -> u64 {
        self.rows_before + self.next_in_slice as u64
    }

    /// Returns the value of the column at `position` as it is.
    pub(super) fn value(&self, file: &Path, position: usize) -> Result<Value<'_>, ReadError> {
        let (Some(column), Some(row)) =
            (self.slice.get(position), self.next_in_slice.checked_sub(1))
        else {
            return Ok(Value::Null);
        };
        if column.values.is_null(row) {
            return Ok(Value::Null);
        }
        if column.is_number() {
            let numbers = column
                .numbers()
                .map_err(|error| self.refused(file, position, &error))?;
            // Nulls within a dictionary's values come to light only now.
            if numbers.is_null(row) {
                return Ok(Value::Null);
            }
            let number = numbers.value(row);
            if number.is_nan() || number.abs() < EXACT {
                return Ok(Value::Number(number));
            }
        }
        Ok(self.text(file, position)?.map_or(Value::Null, Value::Text))
    }

    /// Returns the value of the column at `position` as text; `None` for a null.
    pub(super) fn text(&self, file: &Path, position: usize) -> Result<Option<&str>, ReadError> {
        let (Some(column), Some(row)) =
            (self.slice.get(position), self.next_in_slice.checked_sub(1))
        else {
            return Ok(None);
        };
        let text = match column.values.data_type() {
            _ if column.values.is_null(row) => None,
            DataType::Utf8 => Some(column.values.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => Some(column.values.as_string::<i64>().value(row)),
            DataType::Utf8View => Some(column.values.as_string_view().value(row)),
            _ => {
                let text = column
                    .text()
                    .map_err(|error| self.refused(file, position, &error))?;
                (!text.is_null(row)).then(|| text.value(row))
            }
        };
        Ok(text.map(trimmed))
    }

    fn refused(&self, file: &Path, position: usize, error: &ArrowError) -> ReadError {
        let field = self.schema.field(position);
        match error {
            ArrowError::NotYetImplemented(_) => ReadError::ColumnType {
                file: file.to_owned(),
                column: field.name().clone(),
                found: field.data_type().to_string(),
            },
            other => broken(file, other),
        }
    }
}

impl Column {
    fn new(values: ArrayRef) -> Column {
        Column {
            values,
            text: OnceCell::new(),
            numbers: OnceCell::new(),
        }
    }

    /// Returns whether the values are numbers whose text adds nothing.
    fn is_number(&self) -> bool {
        let kind = self.values.data_type();
        kind.is_integer() || *kind == DataType::Float64
    }

    fn text(&self) -> Result<&StringArray, ArrowError> {
        if let Some(text) = self.text.get() {
            return Ok(text);
        }
        let kind = self.values.data_type();
        if !is_read(kind) {
            return Err(ArrowError::NotYetImplemented(kind.to_string()));
        }
        let text = cast(&self.values, &DataType::Utf8).or_else(|error| match kind {
            // Where a zone lies is a table of its own; an instant is the same in UTC.
            DataType::Timestamp(unit, Some(_)) => {
                let instants = cast(&self.values, &DataType::Timestamp(*unit, None))?;
                cast(&instants, &DataType::Utf8)
            }
            _ => Err(error),
        })?;
        Ok(self.text.get_or_init(|| text.as_string().clone()))
    }

    fn numbers(&self) -> Result<&Float64Array, ArrowError> {
        if let Some(numbers) = self.numbers.get() {
            return Ok(numbers);
        }
        let numbers = cast(&self.values, &DataType::Float64)?;
        let numbers = numbers.as_primitive::<Float64Type>().clone();
        Ok(self.numbers.get_or_init(|| numbers))
    }
}

/// Returns whether values of a type are texts.
fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        other => other.is_string(),
    }
}

/// Returns whether values of a type are read at all: see the table above.
fn is_read(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_read(values),
        text if text.is_string() => true,
        DataType::Null | DataType::Boolean => true,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => true,
        DataType::Time32(_) | DataType::Time64(_) => true,
        number => number.is_numeric(),
    }
}

/// Returns the columns of a Parquet file, and its batches; or the name of its compression, if that is not
/// read.
fn opened(bytes: impl ChunkReader + 'static) -> Result<Result<Opened, &'static str>, ArrowError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
    let groups = builder.metadata().row_groups().iter();
    let mut columns = groups.flat_map(|group| group.columns());
    if let Some(codec) = columns.find_map(|column| unread(column.compression())) {
        return Ok(Err(codec));
    }
    let schema = builder.schema().clone();
    let reader = builder.with_batch_size(SLICE).build()?;
    Ok(Ok((schema, Box::new(reader))))
}

/// Returns the name of a compression that is not read.
fn unread(codec: Compression) -> Option<&'static str> {
    match codec {
        Compression::LZ4 | Compression::LZ4_RAW => Some("LZ4"),
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::ZSTD(_) => None,
    }
}

/// Calls the decoder through `work`, in the one place where it is called, and returns its result.
/// The decoder takes some of what a file says for granted and panics where that is wrong.
fn decoded<T>(work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    guarded(work).unwrap_or_else(|panic| Err(ArrowError::ParquetError(panic)))
}

fn broken(file: &Path, error: &dyn std::fmt::Display) -> ReadError {
    ReadError::Parquet {
        file: file.to_owned(),
        problem: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Int32Array;
    use parquet::arrow::ArrowWriter;

    use super::*;

    #[test]
    fn a_compression_that_is_not_read_is_named() {
        let column: ArrayRef = std::sync::Arc::new(Int32Array::from(vec![40, 41]));
        let batch = RecordBatch::try_from_iter([("age", column)]).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let open = |bytes: &[u8]| {
            let bytes = ParquetBytes::Memory(bytes.to_vec().into());
            ArrowRecords::parquet(Path::new("a.parquet"), bytes)
        };
        assert!(open(&bytes).is_ok());
        // The codec stands behind the name of the column: an i32 in Thrift's compact form.
        let name = b"\x18\x03age\x15\x00";
        let mut places = bytes.windows(name.len()).enumerate();
        let (place, _) = places.find(|(_, window)| window == name).unwrap();
        for (number, codec) in [(7, "LZ4"), (5, "LZ4"), (4, "Brotli"), (3, "LZO")] {
            let mut other = bytes.clone();
            other[place + name.len() - 1] = 2 * number;
            let error = open(&other).err().unwrap().to_string();
            let said = format!("compressed by {codec}, which is not read");
            assert!(error.contains(&said) && error.contains("snappy"), "{error}");
        }
    }
}
