//! The samples file: one row a discriminatory pair, both sides whole, as Parquet or CSV.
//!
//! | column | meaning |
//! |---|---|
//! | `seed` | number of the seed whose walk found the pair |
//! | `phase`, `step` | `global` and iteration, or `local` and trial, from 0 |
//! | `x_ATTRIBUTE` … | x, as values of the schema (they encode to the very codes that were checked) |
//! | `other_ATTRIBUTE` … | x', which differs from x in protected attributes only |
//! | `label_x`, `label_other` | predicted classes |
//! | `logit_x_CLASS`, `logit_other_CLASS` … | logits |
//! | `changed` | what differs, as `sex: Female -> Male; race: …` |
//!
//! A numeric attribute is written as the lower edge of its bin.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float32Array, Int32Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema as ArrowSchema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde::{Deserialize, Serialize};

use super::domain::Domain;
use super::pairs::{Pair, PairStore};
use super::search::Phase;
use probity_data::read::{ReadError, Records};
use probity_data::schema::{Attribute, Encoded, Encoder, Format, Kind, Outside, Schema};
use probity_run::run_directory::{RunError, write_with};

/// Pairs a Parquet row group.
const GROUP: usize = 65_536;

/// How samples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum SamplesFormat {
    /// `samples.parquet`
    #[default]
    Parquet,
    /// `samples.csv`
    Csv,
}

impl SamplesFormat {
    /// Name of the file in the run directory.
    pub fn file_name(self) -> &'static str {
        match self {
            SamplesFormat::Parquet => "samples.parquet",
            SamplesFormat::Csv => "samples.csv",
        }
    }
}

/// One pair as read back from a samples file.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledPair {
    /// Number of the seed whose walk found it.
    pub seed: u64,
    /// x.
    pub row: Vec<i32>,
    /// x'.
    pub other: Vec<i32>,
    /// Predicted class of x, as stated in the file.
    pub label: String,
    /// Predicted class of x', as stated in the file.
    pub other_label: String,
}

/// Writes all `pairs` to `file`.
///
/// # Errors
/// When it cannot be written.
pub fn write_samples(
    file: &Path,
    format: SamplesFormat,
    schema: &Schema,
    domain: &dyn Domain,
    pairs: &PairStore,
) -> Result<(), RunError> {
    let columns = Columns { schema, domain };
    write_with(file, |writer| match format {
        SamplesFormat::Parquet => columns.parquet(pairs, writer),
        SamplesFormat::Csv => columns.csv(pairs, writer),
    })
}

struct Columns<'a> {
    schema: &'a Schema,
    domain: &'a dyn Domain,
}

impl Columns<'_> {
    fn other(&self, pair: &Pair<'_>) -> Vec<i32> {
        let mut other = Vec::new();
        self.domain
            .write_variant(pair.row, pair.variant as usize, &mut other);
        other
    }

    fn changed(&self, row: &[i32], other: &[i32]) -> String {
        let mut changed = Vec::new();
        for ((attribute, &from), &to) in self.schema.attributes.iter().zip(row).zip(other) {
            if from != to {
                changed.push(format!(
                    "{}: {} -> {}",
                    attribute.name,
                    attribute.decode(from),
                    attribute.decode(to)
                ));
            }
        }
        changed.join("; ")
    }

    fn header(&self) -> Vec<String> {
        let mut names: Vec<String> = ["seed", "phase", "step"].map(str::to_owned).into();
        for side in ["x", "other"] {
            let attributes = self.schema.attributes.iter();
            names.extend(attributes.map(|attribute| format!("{side}_{}", attribute.name)));
        }
        names.extend(["label_x".to_owned(), "label_other".to_owned()]);
        for side in ["x", "other"] {
            let classes = self.schema.label.classes.iter();
            names.extend(classes.map(|class| format!("logit_{side}_{class}")));
        }
        names.push("changed".to_owned());
        names
    }

    fn csv(&self, pairs: &PairStore, writer: &mut BufWriter<&mut File>) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(writer);
        csv.write_record(self.header())?;
        let class = |label: u32| self.schema.label.classes[label as usize].clone();
        for pair in pairs.iter() {
            let other = self.other(&pair);
            let mut record = vec![
                pair.seed.to_string(),
                phase_name(pair.phase).to_owned(),
                pair.step.to_string(),
            ];
            for side in [pair.row, &other] {
                let attributes = self.schema.attributes.iter().zip(side);
                record.extend(attributes.map(|(attribute, &code)| attribute.decode(code)));
            }
            record.extend([class(pair.label), class(pair.other_label)]);
            for logits in [pair.logits, pair.other_logits] {
                record.extend(logits.iter().map(f32::to_string));
            }
            record.push(self.changed(pair.row, &other));
            csv.write_record(&record)?;
        }
        csv.flush()
    }

    fn parquet(&self, pairs: &PairStore, writer: &mut BufWriter<&mut File>) -> io::Result<()> {
        let mut types = vec![DataType::UInt64, DataType::Utf8, DataType::UInt32];
        for _ in 0..2 {
            types.extend(self.schema.attributes.iter().map(|attribute| {
                if is_integer(attribute) {
                    DataType::Int32
                } else {
                    DataType::Utf8
                }
            }));
        }
        types.extend([DataType::Utf8, DataType::Utf8]);
        let classes = self.schema.label.classes.len();
        types.extend(vec![DataType::Float32; 2 * classes]);
        types.push(DataType::Utf8);
        let fields: Vec<Field> = self
            .header()
            .into_iter()
            .zip(types)
            .map(|(name, data_type)| Field::new(name, data_type, false))
            .collect();
        let arrow = Arc::new(ArrowSchema::new(fields));
        let mut parquet = ArrowWriter::try_new(&mut *writer, arrow.clone(), Some(properties()?))
            .map_err(io::Error::other)?;
        let mut group = Vec::with_capacity(GROUP.min(pairs.len()));
        for pair in pairs.iter() {
            group.push(pair);
            if group.len() == GROUP {
                let batch = self.batch(&arrow, &group).map_err(io::Error::other)?;
                parquet.write(&batch).map_err(io::Error::other)?;
                group.clear();
            }
        }
        if !group.is_empty() {
            let batch = self.batch(&arrow, &group).map_err(io::Error::other)?;
            parquet.write(&batch).map_err(io::Error::other)?;
        }
        parquet.close().map_err(io::Error::other)?;
        writer.flush()
    }

    fn batch(
        &self,
        arrow: &Arc<ArrowSchema>,
        pairs: &[Pair<'_>],
    ) -> Result<RecordBatch, ArrowError> {
        let others: Vec<Vec<i32>> = pairs.iter().map(|pair| self.other(pair)).collect();
        let rows: Vec<&[i32]> = pairs.iter().map(|pair| pair.row).collect();
        let others: Vec<&[i32]> = others.iter().map(Vec::as_slice).collect();
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(
                pairs.iter().map(|pair| pair.seed),
            )),
            Arc::new(StringArray::from_iter_values(
                pairs.iter().map(|pair| phase_name(pair.phase)),
            )),
            Arc::new(UInt32Array::from_iter_values(
                pairs.iter().map(|pair| pair.step),
            )),
        ];
        for side in [&rows, &others] {
            for (position, attribute) in self.schema.attributes.iter().enumerate() {
                let codes = side.iter().map(|row| row[position]);
                columns.push(if is_integer(attribute) {
                    Arc::new(Int32Array::from_iter_values(codes))
                } else {
                    Arc::new(StringArray::from_iter_values(
                        codes.map(|code| attribute.decode(code)),
                    ))
                });
            }
        }
        let classes = &self.schema.label.classes;
        for label in [
            |pair: &Pair<'_>| pair.label as usize,
            |pair: &Pair<'_>| pair.other_label as usize,
        ] {
            columns.push(Arc::new(StringArray::from_iter_values(
                pairs.iter().map(|pair| &classes[label(pair)]),
            )));
        }
        for own in [true, false] {
            for class in 0..classes.len() {
                columns.push(Arc::new(Float32Array::from_iter_values(pairs.iter().map(
                    |pair| {
                        if own {
                            pair.logits[class]
                        } else {
                            pair.other_logits[class]
                        }
                    },
                ))));
            }
        }
        columns.push(Arc::new(StringArray::from_iter_values(
            rows.iter()
                .zip(&others)
                .map(|(row, other)| self.changed(row, other)),
        )));
        RecordBatch::try_new(arrow.clone(), columns)
    }
}

/// How samples files are compressed.
pub(super) fn properties() -> io::Result<WriterProperties> {
    let level = ZstdLevel::try_new(1).map_err(io::Error::other)?;
    Ok(WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(format!("probity {}", env!("CARGO_PKG_VERSION")))
        .build())
}

/// Whether every code of the attribute is written as itself.
fn is_integer(attribute: &Attribute) -> bool {
    let (_, max) = attribute.domain();
    matches!(attribute.kind, Kind::Integer { .. }) && attribute.decode(max) == max.to_string()
}

pub(super) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Global => "global",
        Phase::Local | Phase::Done => "local",
    }
}

/// Reads the pairs of a samples file one by one.
///
/// # Errors
/// When the file cannot be read or a value is not in its domain; `each` may stop by its own error.
pub fn read_samples<E: From<ReadError>>(
    file: &Path,
    schema: &Schema,
    mut each: impl FnMut(SampledPair) -> Result<(), E>,
) -> Result<(), E> {
    let mut records = Records::open(file, &Format::default())?;
    let column = |name: String| {
        records
            .position(&name)
            .ok_or_else(|| ReadError::MissingColumn {
                file: file.to_owned(),
                column: name,
                found: records.names().join(", "),
            })
    };
    let seed_column = column("seed".to_owned())?;
    let mut sides = Vec::new();
    for side in ["x", "other"] {
        let positions = schema
            .attributes
            .iter()
            .map(|attribute| column(format!("{side}_{}", attribute.name)))
            .collect::<Result<Vec<_>, _>>()?;
        sides.push((positions, column(format!("label_{side}"))?));
    }
    let encoders: Vec<Encoder> = schema.attributes.iter().map(Encoder::new).collect();
    while let Some(record) = records.advance()? {
        let mut read = Vec::with_capacity(2);
        for (positions, label) in &sides {
            let mut codes = Vec::with_capacity(positions.len());
            for ((encoder, attribute), &position) in
                encoders.iter().zip(&schema.attributes).zip(positions)
            {
                let cell = record.cell(position)?;
                let refused = |expected: String| ReadError::Value {
                    file: file.to_owned(),
                    place: record.place(),
                    column: attribute.name.clone(),
                    value: cell.to_owned(),
                    expected,
                };
                match encoder.encode(cell).map_err(refused)? {
                    Encoded::Code(code) => codes.push(code),
                    // The level of outside values is a value of its own; a clipped one is none.
                    Encoded::Mapped(code) if attribute.outside == Outside::Level => {
                        codes.push(code);
                    }
                    Encoded::Mapped(_) | Encoded::Skip => {
                        return Err(refused(attribute.expected()).into());
                    }
                }
            }
            read.push((codes, record.cell(*label)?.to_owned()));
        }
        if let (Some((other, other_label)), Some((row, label))) = (read.pop(), read.pop()) {
            let cell = record.cell(seed_column)?;
            let seed = cell.parse().map_err(|_| ReadError::Value {
                file: file.to_owned(),
                place: record.place(),
                column: "seed".to_owned(),
                value: cell.to_owned(),
                expected: "the number of a seed".to_owned(),
            })?;
            each(SampledPair {
                seed,
                row,
                other,
                label,
                other_label,
            })?;
        }
    }
    Ok(())
}
