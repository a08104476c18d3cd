//! The verdicts file: one row a test input, as Parquet or CSV.
//!
//! | column | meaning |
//! |---|---|
//! | `poison` | n |
//! | `row` | number of the test input in its file, from 1 |
//! | `actual` | its label in the file, empty if it has none |
//! | `label`, `k` | predicted label and learnt K |
//! | `verdict` | `certified`, `falsified` or `unknown` |
//! | `certificate` | `quick`, `k_set` or `exhaustive`; empty unless certified |
//! | `seconds` | time spent on this input |
//! | `removal` | row numbers of the removal set in the training file, from 1, separated by blanks; empty unless falsified |
//! | `removal_label`, `removal_k` | predicted label and learnt K without those rows; empty and 0 unless falsified |

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::verdict::{Certificate, Verdict};
use probity_data::read::{Place, ReadError, Records};
use probity_run::run_directory::{RunError, write_with};
use probity_run::spreadsheet::safe;

const HEADER: [&str; 11] = [
    "poison",
    "row",
    "actual",
    "label",
    "k",
    "verdict",
    "certificate",
    "seconds",
    "removal",
    "removal_label",
    "removal_k",
];

/// How verdicts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VerdictsFormat {
    /// `verdicts.parquet`
    #[default]
    Parquet,
    /// `verdicts.csv`
    Csv,
}

impl VerdictsFormat {
    /// Name of the file in the run directory.
    pub fn file_name(self) -> &'static str {
        match self {
            VerdictsFormat::Parquet => "verdicts.parquet",
            VerdictsFormat::Csv => "verdicts.csv",
        }
    }
}

/// Why a verdicts file cannot be read back.
#[derive(Debug, Error)]
pub enum VerdictsError {
    /// The file cannot be read as a table.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// A cell is not what this build writes.
    #[error("{}, {place}, column '{column}': '{value}' is not {expected}", file.display())]
    Cell {
        /// The file.
        file: PathBuf,
        /// Line or row.
        place: Place,
        /// The column.
        column: &'static str,
        /// The cell.
        value: String,
        /// What should be there.
        expected: &'static str,
    },
}

/// One row of the verdicts file.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct VerdictRow {
    /// The poisoning threshold n.
    pub poison: usize,
    /// Number of the test input in its file, from 1.
    pub row: u64,
    /// The label of the test input in its file, if it has one.
    pub actual: String,
    /// The label predicted from T.
    pub label: String,
    /// The K learnt from T.
    pub k: usize,
    /// `certified`, `falsified` or `unknown`.
    pub verdict: String,
    /// `quick`, `k_set`, `exhaustive` or nothing.
    pub certificate: String,
    /// Time spent on this input.
    pub seconds: f64,
    /// Row numbers of the removal set in the training file, from 1.
    pub removal: Vec<u64>,
    /// The label predicted without the rows of the removal set.
    pub removal_label: String,
    /// The K learnt without the rows of the removal set.
    pub removal_k: usize,
}

/// Returns the words for a verdict: `certified`, `falsified` or `unknown`, and the certificate.
pub fn words(verdict: &Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Certified(Certificate::Quick) => ("certified", "quick"),
        Verdict::Certified(Certificate::KSet) => ("certified", "k_set"),
        Verdict::Certified(Certificate::Exhaustive) => ("certified", "exhaustive"),
        Verdict::Falsified(_) => ("falsified", ""),
        Verdict::Unknown => ("unknown", ""),
    }
}

/// Writes `rows` to `file`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_verdicts(
    file: &Path,
    format: VerdictsFormat,
    rows: &[VerdictRow],
) -> Result<(), RunError> {
    write_with(file, |writer| match format {
        VerdictsFormat::Csv => csv(rows, writer),
        VerdictsFormat::Parquet => parquet(rows, writer),
    })
}

fn removal_text(row: &VerdictRow) -> String {
    let numbers: Vec<String> = row.removal.iter().map(u64::to_string).collect();
    numbers.join(" ")
}

fn csv(rows: &[VerdictRow], writer: &mut BufWriter<&mut File>) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record(HEADER)?;
    for row in rows {
        csv.write_record([
            row.poison.to_string(),
            row.row.to_string(),
            safe(&row.actual).into_owned(),
            safe(&row.label).into_owned(),
            row.k.to_string(),
            row.verdict.clone(),
            row.certificate.clone(),
            row.seconds.to_string(),
            removal_text(row),
            safe(&row.removal_label).into_owned(),
            row.removal_k.to_string(),
        ])?;
    }
    csv.flush()
}

fn parquet(rows: &[VerdictRow], writer: &mut BufWriter<&mut File>) -> io::Result<()> {
    let numbers = |value: fn(&VerdictRow) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(value)))
    };
    let texts = |value: fn(&VerdictRow) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(value)))
    };
    let columns: Vec<ArrayRef> = vec![
        numbers(|row| row.poison as u64),
        numbers(|row| row.row),
        texts(|row| row.actual.clone()),
        texts(|row| row.label.clone()),
        numbers(|row| row.k as u64),
        texts(|row| row.verdict.clone()),
        texts(|row| row.certificate.clone()),
        Arc::new(Float64Array::from_iter_values(
            rows.iter().map(|row| row.seconds),
        )),
        texts(removal_text),
        texts(|row| row.removal_label.clone()),
        numbers(|row| row.removal_k as u64),
    ];
    let fields: Vec<Field> = HEADER
        .iter()
        .zip(&columns)
        .map(|(name, column)| {
            let kind: &DataType = column.data_type();
            Field::new(*name, kind.clone(), false)
        })
        .collect();
    let schema = Arc::new(ArrowSchema::new(fields));
    let level = ZstdLevel::try_new(1).map_err(io::Error::other)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(format!("probity {}", env!("CARGO_PKG_VERSION")))
        .build();
    let batch = RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)?;
    let mut parquet =
        ArrowWriter::try_new(&mut *writer, schema, Some(properties)).map_err(io::Error::other)?;
    parquet.write(&batch).map_err(io::Error::other)?;
    parquet.close().map_err(io::Error::other)?;
    writer.flush()
}

/// Reads a verdicts file back.
///
/// # Errors
/// A file that cannot be read or is not what [`write_verdicts`] writes.
pub fn read_verdicts(file: &Path) -> Result<Vec<VerdictRow>, VerdictsError> {
    let mut records = Records::of_result(file)?;
    let mut positions = [0; HEADER.len()];
    for (position, name) in positions.iter_mut().zip(HEADER) {
        *position = records.require(name)?;
    }
    let mut rows = Vec::new();
    while let Some(record) = records.advance()? {
        let text = |column: usize| record.cell(positions[column]);
        let refused = |column: usize, value: &str, expected| VerdictsError::Cell {
            file: file.to_owned(),
            place: record.place(),
            column: HEADER[column],
            value: value.to_owned(),
            expected,
        };
        let number = |column: usize| -> Result<u64, VerdictsError> {
            let cell = text(column)?;
            cell.parse()
                .map_err(|_| refused(column, cell, "a whole number"))
        };
        let seconds = text(7)?;
        let removal = text(8)?;
        rows.push(VerdictRow {
            poison: number(0)? as usize,
            row: number(1)?,
            actual: text(2)?.to_owned(),
            label: text(3)?.to_owned(),
            k: number(4)? as usize,
            verdict: text(5)?.to_owned(),
            certificate: text(6)?.to_owned(),
            seconds: seconds
                .parse()
                .map_err(|_| refused(7, seconds, "a number"))?,
            removal: removal
                .split_whitespace()
                .map(str::parse)
                .collect::<Result<_, _>>()
                .map_err(|_| refused(8, removal, "a list of row numbers"))?,
            removal_label: text(9)?.to_owned(),
            removal_k: number(10)? as usize,
        });
    }
    Ok(rows)
}
