//! The samples file: one row a discriminatory pair, both sides whole, as Parquet or CSV.
//!
//! Columns of all modalities:
//!
//! | column | meaning |
//! |---|---|
//! | `seed` | number of the seed whose walk found the pair |
//! | `phase`, `step` | `global` and iteration, or `local` and trial, from 0 |
//! | `label_x`, `label_other` | predicted classes |
//!
//! Columns of rows of a table ([`crate::modality::TableColumns`]):
//!
//! | column | meaning |
//! |---|---|
//! | `x_ATTRIBUTE` … | x, as values of the schema (they encode to the very codes that were checked) |
//! | `other_ATTRIBUTE` … | x', which differs from x in protected attributes only |
//! | `logit_x_CLASS`, `logit_other_CLASS` … | logits; of a regressor `number_x`, `number_other` |
//! | `changed` | what differs, as `sex: Female -> Male; race: …` |
//! | `plausibility` | the share of real rows that are no likelier than x without its protected attributes, where that was asked for |
//!
//! A numeric attribute is written as the number that a predictor was asked with; where there is no
//! predictor, as the number that stands for its bin.
//!
//! Columns of texts:
//!
//! | column | meaning |
//! |---|---|
//! | `source_row` | the row of the texts file that the seed is, from 1 |
//! | `text` | that text, as far as the model reads it |
//! | `x`, `other` | the texts; they have the very tokens that were checked |
//! | `attribute`, `from`, `to`, `position` | the protected value in x, the one in its place in x', and the token where it stands, from 0 |
//! | `changed` | what the search replaced in the seed, as `4: good -> great; 7: …` |
//! | `p_x_CLASS`, `p_other_CLASS` … | probabilities |
//! | `l0`, `l2`, `jaccard`, `bleu`, `similarity` | validity of x against its seed ([`probity_text::validity`]) |
//!
//! Cells of text in a CSV file are no formulas to a spreadsheet ([`probity_run::spreadsheet`]); they are
//! read back as they were. A Parquet file says under the key `modality` of its metadata whether it holds rows of a table or
//! texts; of a CSV file the `run.toml` and the `summary.json` beside it say so.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::Schema as ArrowSchema;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::audit_error::AuditError;
use super::modality::{Modality, ModalityName, Sample, SampleInputs};
use super::pairs::{Pair, PairSource, Phase};
pub use super::specification::SamplesFormat;
use probity_data::read::{ReadError, Records};
use probity_run::run_directory::{RunError, write_with};
use probity_run::spreadsheet::safe;

/// Number of pairs in a block: bounds the memory of writing.
const BLOCK: usize = 16_384;

/// A function that makes a batch of a block of pairs.
type Batch<'a> = dyn FnMut(&ArrowSchema, &[Pair<'_>]) -> Result<RecordBatch, AuditError> + 'a;

/// Writes all `pairs` that a search of `case` found to `file`, and returns what was noted of them.
///
/// # Errors
/// When an input cannot be shown, or the file not be written.
pub fn write_samples<M: Modality>(
    file: &Path,
    format: SamplesFormat,
    case: &M,
    pairs: &dyn PairSource,
) -> Result<M::Tally, RunError> {
    let mut tally = M::Tally::default();
    let batch =
        &mut |columns: &ArrowSchema, pairs: &[Pair<'_>]| case.batch(columns, pairs, &mut tally);
    write_columns(file, format, (M::NAME, case.columns()), pairs, batch)?;
    Ok(tally)
}

/// Writes all `pairs` to `file` in `columns`, as `batch` makes them.
///
/// # Errors
/// When `batch` cannot make them, or the file not be written.
pub fn write_columns(
    file: &Path,
    format: SamplesFormat,
    (modality, columns): (ModalityName, ArrowSchema),
    pairs: &dyn PairSource,
    batch: &mut Batch<'_>,
) -> Result<(), RunError> {
    write_with(file, |writer| match format {
        SamplesFormat::Parquet => {
            let schema = Arc::new(columns.clone());
            let properties = Some(properties(modality)?);
            let mut parquet =
                ArrowWriter::try_new(&mut *writer, schema, properties).map_err(io::Error::other)?;
            blocks(&columns, pairs, batch, &mut |batch| {
                parquet.write(batch).map_err(io::Error::other)
            })?;
            parquet.close().map_err(io::Error::other)?;
            writer.flush()
        }
        SamplesFormat::Csv => write_csv(writer, (modality, &columns), pairs, batch),
    })
}

fn blocks(
    columns: &ArrowSchema,
    pairs: &dyn PairSource,
    batch: &mut Batch<'_>,
    write: &mut dyn FnMut(&RecordBatch) -> io::Result<()>,
) -> io::Result<()> {
    pairs.blocks(BLOCK, &mut |block| {
        write(&batch(columns, block).map_err(io::Error::other)?)
    })
}

fn write_csv(
    writer: &mut BufWriter<&mut File>,
    (modality, columns): (ModalityName, &ArrowSchema),
    pairs: &dyn PairSource,
    batch: &mut Batch<'_>,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record(columns.fields().iter().map(|field| field.name()))?;
    blocks(columns, pairs, batch, &mut |batch| {
        let options = FormatOptions::default();
        let columns = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options))
            .collect::<Result<Vec<_>, _>>()
            .map_err(io::Error::other)?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().zip(batch.columns());
            csv.write_record(cells.map(|(formatted, column)| {
                // Logits are written without exponents.
                match column.as_any().downcast_ref::<Float32Array>() {
                    Some(logits) if modality == ModalityName::Table => {
                        logits.value(row).to_string()
                    }
                    _ => safe(&formatted.value(row).to_string()).into_owned(),
                }
            }))?;
        }
        Ok(())
    })?;
    csv.flush()
}

/// The columns `seed`, `phase` and `step`, which all modalities have.
pub(super) fn walk_columns(pairs: &[Pair<'_>]) -> (ArrayRef, ArrayRef, ArrayRef) {
    let seeds = pairs.iter().map(|pair| pair.seed);
    let phases = pairs.iter().map(|pair| phase_name(pair.phase));
    let steps = pairs.iter().map(|pair| pair.step);
    (
        Arc::new(UInt64Array::from_iter_values(seeds)),
        Arc::new(StringArray::from_iter_values(phases)),
        Arc::new(UInt32Array::from_iter_values(steps)),
    )
}

/// The compression of samples files, and the metadata that they carry.
fn properties(modality: ModalityName) -> io::Result<WriterProperties> {
    let level = ZstdLevel::try_new(1).map_err(io::Error::other)?;
    let modality = KeyValue::new("modality".to_owned(), modality.name().to_owned());
    Ok(WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(format!("probity {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![modality]))
        .build())
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Global => "global",
        Phase::Local | Phase::Done => "local",
    }
}

/// Reads the pairs of a samples file one by one; `inputs` read the two inputs of each.
///
/// # Errors
/// When the file cannot be read or a value is not in its domain; `each` may stop by its own error.
pub fn read_samples<E: From<AuditError>>(
    file: &Path,
    inputs: &dyn SampleInputs,
    mut each: impl FnMut(Sample) -> Result<(), E>,
) -> Result<(), E> {
    let mut records = Records::of_result(file).map_err(AuditError::from)?;
    let names = records.names().to_vec();
    let column = |name: &str| {
        let position = names.iter().position(|found| found == name);
        position.ok_or_else(|| {
            AuditError::from(ReadError::MissingColumn {
                file: file.to_owned(),
                column: name.to_owned(),
                found: names.join(", "),
            })
        })
    };
    let seed = column("seed")?;
    let source_row = column("source_row").ok();
    let origin = column("text").ok();
    let mut sides = Vec::new();
    for side in ["x", "other"] {
        let columns = inputs.columns(side);
        let positions = columns.iter().map(|name| column(name));
        let positions = positions.collect::<Result<Vec<_>, _>>()?;
        sides.push((columns, positions, column(&format!("label_{side}"))?));
    }
    while let Some(record) = records.advance().map_err(AuditError::from)? {
        let cell = |position: usize| record.cell(position).map_err(AuditError::from);
        let refused = |column: &str, value: &str, expected: String| ReadError::Value {
            file: file.to_owned(),
            place: record.place(),
            column: column.to_owned(),
            value: value.to_owned(),
            expected,
        };
        let number = |name: &str, position: usize, what: &str| {
            let text = cell(position)?;
            let refused = |_| AuditError::from(refused(name, text, what.to_owned()));
            text.parse::<u64>().map_err(refused)
        };
        let input = |(columns, positions, label): &(Vec<String>, Vec<usize>, usize)| {
            let cells = positions.iter().map(|&position| cell(position));
            let cells = cells.collect::<Result<Vec<_>, _>>()?;
            let refuse = |place: usize, expected| refused(&columns[place], cells[place], expected);
            let row = inputs.read(&cells, &refuse)?;
            let besides = (inputs.numbers(&cells), inputs.text(&cells));
            Ok::<_, AuditError>((row, besides, cell(*label)?.to_owned()))
        };
        let (row, (numbers, text), label) = input(&sides[0])?;
        let (other, (other_numbers, other_text), other_label) = input(&sides[1])?;
        let source_row = source_row.map(|position| number("source_row", position, "a row number"));
        each(Sample {
            seed: number("seed", seed, "the number of a seed")?,
            source_row: source_row.transpose()?,
            origin: origin
                .map(|position| cell(position).map(str::to_owned))
                .transpose()?,
            row,
            other,
            numbers: [numbers, other_numbers],
            texts: [text, other_text],
            label,
            other_label,
        })?;
    }
    Ok(())
}
