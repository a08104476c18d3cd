//! The samples file of a text audit: one row a discriminatory pair, both texts whole, as Parquet or
//! CSV.
//!
//! | column | meaning |
//! |---|---|
//! | `seed`, `source_row` | number of the seed, and the row of the texts file that it is, from 1 |
//! | `phase`, `step` | `global` and iteration, or `local` and trial, from 0 |
//! | `x`, `other` | the texts; they have the very tokens that were checked |
//! | `attribute`, `from`, `to`, `position` | the protected value in x, the one in its place in x', and the token where it stands, from 0 |
//! | `changed` | what the search replaced in the seed, as `4: good -> great; 7: …` |
//! | `label_x`, `label_other` | predicted classes |
//! | `p_x_CLASS`, `p_other_CLASS` … | probabilities |
//! | `l0`, `l2`, `jaccard`, `bleu`, `similarity` | validity of x against its seed ([`probity_text::validity`]) |

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema as ArrowSchema};
use parquet::arrow::ArrowWriter;
use rayon::prelude::*;

use super::domain::{TextDomain, text_of};
use super::judge::Judge;
use super::render::{render, words};
use crate::pairs::{Pair, PairStore};
use crate::samples::{SamplesFormat, phase_name, properties};
use probity_data::read::{ReadError, Records};
use probity_data::schema::Format;
use probity_nn::text_model::{EncodedText, TextModel};
use probity_run::run_directory::{RunError, write_with};
use probity_text::validity::Validity;

/// Pairs a block: bounds the memory of writing.
const BLOCK: usize = 16_384;

/// What the texts of an audit come from.
pub struct TextSamples<'a> {
    /// The model that was audited.
    pub model: &'a TextModel,
    /// The texts that were searched.
    pub domain: &'a TextDomain,
    /// The seeds, by number.
    pub seeds: &'a [EncodedText],
    /// Row of the texts file of each seed, from 1.
    pub source_rows: &'a [u64],
    /// Names of the audited attributes.
    pub attributes: &'a [String],
    /// Judges validity.
    pub judge: &'a Judge<'a>,
}

/// One pair, rendered and judged.
struct Row<'p> {
    pair: Pair<'p>,
    x: String,
    other: String,
    attribute: String,
    from: String,
    to: String,
    position: u32,
    changed: String,
    validity: Validity,
}

impl TextSamples<'_> {
    /// Writes all `pairs` to `file`; `each` is told the phase and the validity of every pair.
    ///
    /// # Errors
    /// When the file cannot be written or the similarity cannot be computed.
    pub fn write(
        &self,
        file: &Path,
        format: SamplesFormat,
        pairs: &PairStore,
        each: &mut dyn FnMut(&Pair<'_>, &Validity),
    ) -> Result<(), RunError> {
        let arrow = Arc::new(self.schema());
        write_with(file, |writer| match format {
            SamplesFormat::Parquet => {
                let mut parquet =
                    ArrowWriter::try_new(&mut *writer, arrow.clone(), Some(properties()?))
                        .map_err(io::Error::other)?;
                self.blocks(&arrow, pairs, each, &mut |batch| {
                    parquet.write(batch).map_err(io::Error::other)
                })?;
                parquet.close().map_err(io::Error::other)?;
                Ok(())
            }
            SamplesFormat::Csv => {
                let mut csv = csv::Writer::from_writer(&mut *writer);
                csv.write_record(arrow.fields().iter().map(|field| field.name()))?;
                self.blocks(&arrow, pairs, each, &mut |batch| write_csv(&mut csv, batch))?;
                csv.flush()
            }
        })
    }

    fn schema(&self) -> ArrowSchema {
        let mut fields = vec![
            ("seed".to_owned(), DataType::UInt64),
            ("source_row".to_owned(), DataType::UInt64),
            ("phase".to_owned(), DataType::Utf8),
            ("step".to_owned(), DataType::UInt32),
        ];
        for name in ["x", "other", "attribute", "from", "to"] {
            fields.push((name.to_owned(), DataType::Utf8));
        }
        fields.push(("position".to_owned(), DataType::UInt32));
        for name in ["changed", "label_x", "label_other"] {
            fields.push((name.to_owned(), DataType::Utf8));
        }
        for side in ["x", "other"] {
            let classes = self.model.classes.iter();
            fields.extend(classes.map(|class| (format!("p_{side}_{class}"), DataType::Float32)));
        }
        fields.push(("l0".to_owned(), DataType::UInt32));
        for name in ["l2", "jaccard", "bleu", "similarity"] {
            fields.push((name.to_owned(), DataType::Float32));
        }
        ArrowSchema::new(
            fields
                .into_iter()
                .map(|(name, data_type)| Field::new(name, data_type, false))
                .collect::<Vec<_>>(),
        )
    }

    fn blocks(
        &self,
        arrow: &Arc<ArrowSchema>,
        pairs: &PairStore,
        each: &mut dyn FnMut(&Pair<'_>, &Validity),
        write: &mut dyn FnMut(&RecordBatch) -> io::Result<()>,
    ) -> io::Result<()> {
        let all: Vec<Pair<'_>> = pairs.iter().collect();
        for block in all.chunks(BLOCK) {
            let rows = block
                .par_iter()
                .map(|pair| self.row(*pair))
                .collect::<Result<Vec<_>, _>>()
                .map_err(io::Error::other)?;
            for row in &rows {
                each(&row.pair, &row.validity);
            }
            write(&self.batch(arrow, &rows).map_err(io::Error::other)?)?;
        }
        Ok(())
    }

    fn row<'p>(&self, pair: Pair<'p>) -> Result<Row<'p>, Box<dyn Error + Send + Sync>> {
        let seed = &self.seeds[pair.seed as usize];
        let text = text_of(pair.row);
        let replacement = self.domain.replacement(pair.row, pair.variant as usize);
        let terms = self.domain.terms().all();
        let x = render(self.model, seed, text, None)?;
        let (other, attribute, from, to, position) = match &replacement {
            None => (x.clone(), String::new(), String::new(), String::new(), 0),
            Some(replacement) => {
                let from = &terms[replacement.occurrence.term as usize];
                let to = &terms[replacement.by as usize];
                let other = render(self.model, seed, text, Some((replacement, &to.tokens)))?;
                (
                    other,
                    self.attributes[from.attribute].clone(),
                    words(self.model, &from.tokens),
                    words(self.model, &to.tokens),
                    replacement.occurrence.start as u32,
                )
            }
        };
        let changed: Vec<String> = seed
            .ids
            .iter()
            .zip(text)
            .enumerate()
            .filter(|(_, (from, to))| from != to)
            .map(|(position, (_, to))| {
                format!(
                    "{position}: {} -> {}",
                    seed.words[position],
                    words(self.model, &[*to])
                )
            })
            .collect();
        Ok(Row {
            validity: self.judge.judge(seed, text)?,
            pair,
            x,
            other,
            attribute,
            from,
            to,
            position,
            changed: changed.join("; "),
        })
    }

    fn batch(&self, arrow: &Arc<ArrowSchema>, rows: &[Row<'_>]) -> Result<RecordBatch, ArrowError> {
        let text = |of: &dyn Fn(&Row<'_>) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
        };
        let number = |of: &dyn Fn(&Row<'_>) -> f32| -> ArrayRef {
            Arc::new(Float32Array::from_iter_values(rows.iter().map(of)))
        };
        let small = |of: &dyn Fn(&Row<'_>) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(of)))
        };
        let large = |of: &dyn Fn(&Row<'_>) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(of)))
        };
        let class = |label: u32| self.model.classes[label as usize].clone();
        let mut columns = vec![
            large(&|row| row.pair.seed),
            large(&|row| self.source_rows[row.pair.seed as usize]),
            text(&|row| phase_name(row.pair.phase).to_owned()),
            small(&|row| row.pair.step),
            text(&|row| row.x.clone()),
            text(&|row| row.other.clone()),
            text(&|row| row.attribute.clone()),
            text(&|row| row.from.clone()),
            text(&|row| row.to.clone()),
            small(&|row| row.position),
            text(&|row| row.changed.clone()),
            text(&|row| class(row.pair.label)),
            text(&|row| class(row.pair.other_label)),
        ];
        for number_of in 0..self.model.classes.len() {
            columns.push(number(&|row| softmax(row.pair.logits)[number_of]));
        }
        for number_of in 0..self.model.classes.len() {
            columns.push(number(&|row| softmax(row.pair.other_logits)[number_of]));
        }
        columns.push(small(&|row| row.validity.l0 as u32));
        columns.push(number(&|row| row.validity.l2 as f32));
        columns.push(number(&|row| row.validity.jaccard as f32));
        columns.push(number(&|row| row.validity.bleu as f32));
        columns.push(number(&|row| row.validity.similarity as f32));
        RecordBatch::try_new(arrow.clone(), columns)
    }
}

fn write_csv<W: io::Write>(csv: &mut csv::Writer<W>, batch: &RecordBatch) -> io::Result<()> {
    let options = FormatOptions::default();
    let columns = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options))
        .collect::<Result<Vec<_>, _>>()
        .map_err(io::Error::other)?;
    for row in 0..batch.num_rows() {
        csv.write_record(columns.iter().map(|column| column.value(row).to_string()))?;
    }
    Ok(())
}

/// Probabilities of the classes.
pub fn softmax(logits: &[f32]) -> Vec<f32> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shares: Vec<f32> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let total: f32 = shares.iter().sum();
    shares.into_iter().map(|share| share / total).collect()
}

/// One pair as read back from a samples file.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledTexts {
    /// Row of the texts file that x was found from, from 1.
    pub source_row: u64,
    /// x.
    pub x: String,
    /// x'.
    pub other: String,
    /// Predicted class of x, as stated in the file.
    pub label: String,
    /// Predicted class of x', as stated in the file.
    pub other_label: String,
}

/// Reads the pairs of a samples file one by one.
///
/// # Errors
/// When the file cannot be read; `each` may stop by its own error.
pub fn read_text_samples<E: From<ReadError>>(
    file: &Path,
    mut each: impl FnMut(SampledTexts) -> Result<(), E>,
) -> Result<(), E> {
    let mut records = Records::open(file, &Format::default())?;
    let column = |name: &str| {
        records
            .position(name)
            .ok_or_else(|| ReadError::MissingColumn {
                file: file.to_owned(),
                column: name.to_owned(),
                found: records.names().join(", "),
            })
    };
    let columns = [
        column("x")?,
        column("other")?,
        column("label_x")?,
        column("label_other")?,
        column("source_row")?,
    ];
    while let Some(record) = records.advance()? {
        let cell = |which: usize| record.cell(columns[which]).map(str::to_owned);
        let source_row = cell(4)?;
        let refused = |_| ReadError::Value {
            file: file.to_owned(),
            place: record.place(),
            column: "source_row".to_owned(),
            value: source_row.clone(),
            expected: "a row number".to_owned(),
        };
        each(SampledTexts {
            source_row: source_row.parse().map_err(refused)?,
            x: cell(0)?,
            other: cell(1)?,
            label: cell(2)?,
            other_label: cell(3)?,
        })?;
    }
    Ok(())
}
