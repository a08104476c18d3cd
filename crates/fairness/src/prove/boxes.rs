//! The file of boxes: every leaf of the partition, and the boxes for which more is proved as one
//! than for their parts, in the words of the schema.
//!
//! | column | meaning |
//! |---|---|
//! | `box` | its number |
//! | `is_leaf` | whether it is one of the boxes that the domain is cut into; else leaves are parts of it |
//! | `points`, `fair`, `discriminatory` | how many points it has, and how many of them are proved to be one or the other, as whole numbers in decimal digits; where points are weighted, of 2¹⁰⁰ |
//! | `ATTRIBUTE` … | of each attribute that is not protected, a list of its values: the first and the last of a range of numbers, or all levels, and all numbers where the part of the domain that is decided leaves some out between others; an attribute that is called as a column before has `attribute` before its name |
//!
//! Beside it stands a table of points drawn from undecided boxes, from which a search may begin.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::network::{SumNetwork, Terms};
use super::partition::Region;
use probity_data::schema::{Encoded, Encoder, Schema};
use probity_run::guard::guarded;
use probity_run::run_directory::{RunError, write_with};

/// Name of the file of boxes.
pub const BOXES: &str = "boxes.parquet";

/// Name of the file of points of undecided boxes.
pub const UNDECIDED: &str = "undecided.parquet";

/// The names of the columns beside those of attributes.
const COLUMNS: [&str; 5] = ["box", "is_leaf", "points", "fair", "discriminatory"];

/// Boxes a block: bounds the memory of writing.
const BLOCK: usize = 8_192;

/// The schema and the network in whose words a file of boxes is written.
pub struct BoxColumns<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// The network, laid out.
    pub network: &'a SumNetwork,
}

impl BoxColumns<'_> {
    /// The names of the columns of attributes, none of which is one of [`COLUMNS`].
    fn names(&self) -> Vec<String> {
        let names = (0..self.network.free.len()).map(|place| {
            let (attribute, _) = self.network.codes(place, [0, 0]);
            self.schema.attributes[attribute].name.clone()
        });
        let mut names: Vec<String> = names.collect();
        for place in 0..names.len() {
            if COLUMNS.contains(&names[place].as_str()) {
                let mut name = format!("attribute {}", names[place]);
                while names.contains(&name) {
                    name.insert_str(0, "attribute ");
                }
                names[place] = name;
            }
        }
        names
    }

    /// The values that are written for a range of positions: the codes of both ends, or all.
    fn shown(&self, place: usize, range: [u32; 2]) -> (usize, Vec<i32>) {
        let (attribute, mut codes) = self.network.codes(place, range);
        let free = &self.network.free[place];
        let is_gapless = free.codes.windows(2).all(|pair| pair[1] == pair[0] + 1);
        if matches!(free.terms, Terms::Scaled(_)) && is_gapless && codes.len() > 2 {
            codes.drain(1..codes.len() - 1);
        }
        (attribute, codes)
    }

    /// Writes `boxes` to `file`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(
        &self,
        file: &Path,
        mut boxes: impl Iterator<Item = Region>,
    ) -> Result<(), RunError> {
        let list = DataType::List(Arc::new(Field::new("item", DataType::Utf8, true)));
        let [number, is_leaf, counts @ ..] = COLUMNS;
        let mut fields = vec![
            Field::new(number, DataType::UInt32, false),
            Field::new(is_leaf, DataType::Boolean, false),
        ];
        fields.extend(counts.map(|name| Field::new(name, DataType::Utf8, false)));
        fields.extend(
            self.names()
                .iter()
                .map(|name| Field::new(name, list.clone(), false)),
        );
        let columns = Arc::new(ArrowSchema::new(fields));
        write_with(file, |writer| {
            let properties = Some(properties()?);
            let mut parquet = ArrowWriter::try_new(&mut *writer, columns.clone(), properties)
                .map_err(io::Error::other)?;
            loop {
                let block: Vec<Region> = boxes.by_ref().take(BLOCK).collect();
                if block.is_empty() {
                    break;
                }
                let batch = RecordBatch::try_new(columns.clone(), self.arrays(&block));
                let batch = batch.map_err(io::Error::other)?;
                parquet.write(&batch).map_err(io::Error::other)?;
            }
            parquet.close().map_err(io::Error::other)?;
            writer.flush()
        })
    }

    fn arrays(&self, boxes: &[Region]) -> Vec<ArrayRef> {
        let counts = |of: fn(&Region) -> u128| -> ArrayRef {
            let counts = boxes.iter().map(|region| of(region).to_string());
            Arc::new(StringArray::from_iter_values(counts))
        };
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from_iter_values(
                boxes.iter().map(|region| region.number),
            )),
            Arc::new(BooleanArray::from_iter(
                boxes.iter().map(|region| Some(region.is_leaf)),
            )),
            counts(|region| region.points),
            counts(|region| region.fair),
            counts(|region| region.discriminatory),
        ];
        for place in 0..self.network.free.len() {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for region in boxes {
                let (attribute, codes) = self.shown(place, region.ranges[place]);
                for code in codes {
                    lists
                        .values()
                        .append_value(self.schema.attributes[attribute].decode(code));
                }
                lists.append(true);
            }
            arrays.push(Arc::new(lists.finish()));
        }
        arrays
    }

    /// Reads the boxes in `file`.
    ///
    /// # Errors
    /// The problem with the file, in words.
    pub fn read(&self, file: &Path) -> Result<Vec<Region>, String> {
        guarded(|| self.read_unguarded(file))
            .map_err(|problem| problem.to_string())
            .and_then(|boxes| boxes)
    }

    fn read_unguarded(&self, file: &Path) -> Result<Vec<Region>, String> {
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        let opened = File::open(file).map_err(|error| failed(&error))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(opened)
            .and_then(|builder| builder.with_batch_size(BLOCK).build())
            .map_err(|error| failed(&error))?;
        let encoders: Vec<(Encoder<'_>, &[i32])> = self
            .network
            .free
            .iter()
            .map(|free| {
                (
                    Encoder::new(&self.schema.attributes[free.attribute]),
                    &free.codes[..],
                )
            })
            .collect();
        let names = self.names();
        let mut boxes = Vec::new();
        for batch in reader {
            let batch = batch.map_err(|error| failed(&error))?;
            let column = |name: &str| {
                let missing = || format!("there is no column '{name}'");
                batch.column_by_name(name).cloned().ok_or_else(missing)
            };
            let [number, is_leaf, counts @ ..] = COLUMNS;
            let counts = counts.map(|name| {
                let column = column(name)?;
                let texts = column.as_string_opt::<i32>();
                let texts = texts.ok_or_else(|| format!("the column '{name}' is not of text"))?;
                let numbers = texts
                    .iter()
                    .map(|text| text.and_then(|text| text.parse().ok()));
                let numbers: Option<Vec<u128>> = numbers.collect();
                numbers.ok_or_else(|| format!("the column '{name}' is not of whole numbers"))
            });
            let [points, fair, discriminatory] = counts;
            let (points, fair, discriminatory) = (points?, fair?, discriminatory?);
            let numbers = column(number)?;
            let numbers = numbers.as_primitive_opt::<arrow_array::types::UInt32Type>();
            let numbers = numbers.ok_or("the column 'box' is not of numbers")?.clone();
            let leaves = column(is_leaf)?;
            let leaves = leaves.as_boolean_opt();
            let leaves = leaves.ok_or("the column 'is_leaf' is not of truth values")?;
            let mut ranges = vec![Vec::with_capacity(names.len()); batch.num_rows()];
            for (name, encoder) in names.iter().zip(&encoders) {
                let column = column(name)?;
                let lists = column.as_list_opt::<i32>();
                let lists = lists.ok_or_else(|| format!("the column '{name}' is not of lists"))?;
                for (row, ranges) in ranges.iter_mut().enumerate() {
                    let values = lists.value(row);
                    let texts = values.as_string_opt::<i32>();
                    let range = texts.and_then(|texts| range_of(texts, encoder));
                    let wrong = || format!("row {}: the values of '{name}' are no range", row + 1);
                    ranges.push(range.ok_or_else(wrong)?);
                }
            }
            boxes.extend(ranges.into_iter().enumerate().map(|(row, ranges)| Region {
                number: numbers.value(row),
                is_leaf: leaves.value(row),
                ranges,
                points: points[row],
                fair: fair[row],
                discriminatory: discriminatory[row],
            }));
        }
        Ok(boxes)
    }

    /// Writes `rows` to `file`, a table that the schema reads.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_rows(&self, file: &Path, rows: &[Vec<i32>]) -> Result<(), RunError> {
        let attributes = &self.schema.attributes;
        let fields = attributes
            .iter()
            .map(|of| Field::new(&of.name, DataType::Utf8, false));
        let columns = Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()));
        let arrays = attributes
            .iter()
            .enumerate()
            .map(|(place, attribute)| -> ArrayRef {
                let values = rows.iter().map(|row| attribute.decode(row[place]));
                Arc::new(StringArray::from_iter_values(values))
            });
        let batch = RecordBatch::try_new(columns.clone(), arrays.collect());
        write_with(file, |writer| {
            let batch = batch.map_err(io::Error::other)?;
            let mut parquet = ArrowWriter::try_new(&mut *writer, columns, Some(properties()?))
                .map_err(io::Error::other)?;
            parquet.write(&batch).map_err(io::Error::other)?;
            parquet.close().map_err(io::Error::other)?;
            writer.flush()
        })
    }
}

/// The positions of the values `texts`, which are the ends of a range or all of it.
fn range_of(texts: &StringArray, (encoder, codes): &(Encoder<'_>, &[i32])) -> Option<[u32; 2]> {
    let mut positions = Vec::with_capacity(texts.len());
    for text in texts {
        let (Encoded::Code(code) | Encoded::Mapped(code)) = encoder.encode(text?).ok()? else {
            return None;
        };
        positions.push(codes.iter().position(|own| *own == code)? as u32);
    }
    let (first, last) = (*positions.iter().min()?, *positions.iter().max()?);
    let is_whole = positions.len() <= 2 || positions.len() == (last - first + 1) as usize;
    is_whole.then_some([first, last])
}

/// The compression of files of boxes.
fn properties() -> io::Result<WriterProperties> {
    let level = ZstdLevel::try_new(1).map_err(io::Error::other)?;
    Ok(WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(format!("probity {}", env!("CARGO_PKG_VERSION")))
        .build())
}
