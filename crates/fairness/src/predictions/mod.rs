//! The answers of a model about rows and texts, and its quality on those with labels.
//!
//! *Predicting* gives each input its class, and the probability and the logit of every class.
//! *Evaluating* compares them with labels. Figures of probabilities are computed from logits in
//! 64-bit arithmetic, so that a loss stays finite where a probability is rounded to 0.

mod evaluation;
pub mod specification;

use std::io::{self, Write};

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use parquet::arrow::ArrowWriter;
use std::sync::Arc;

pub use self::evaluation::{ClassFigures, Evaluation, Judged, ProbabilityFigures, evaluate};
use self::specification::PredictSpecification;
use crate::audit_error::AuditError;
use crate::opened::open_texts;
use crate::scored::TextScorer;
use crate::specification::DecisionSpecification;
use crate::table_model::{Said, TableModel};
use probity_data::read::RowNumbers;
use probity_data::schema::Schema;
use probity_data::table::{Labels, ReadCounts};
use probity_nn::decision::Score;
use probity_nn::modality::ModalityName;
use probity_predictor::probabilities::RoundedRows;
use probity_run::spreadsheet::safe;
use probity_tensor::device::ComputeDevice;

/// Inputs with the logits of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Counts of what reading changed or left out, where that is said.
    pub data: Option<ReadCounts>,
    /// The classes.
    pub classes: Vec<String>,
    /// The numbers of the rows of their file where the inputs stand.
    pub rows: RowNumbers,
    /// The texts, where the inputs are texts.
    pub texts: Option<Vec<String>>,
    /// Whether the model gives numbers rather than classes.
    pub is_number: bool,
    /// The logits, row-major `[inputs, classes]`.
    pub logits: Vec<f32>,
    /// The names of the possible decisions: the classes, unless decisions are made otherwise.
    pub decisions: Vec<String>,
    /// The decision on each input, by number.
    pub decided: Vec<u32>,
    /// Number of rows that have rounded probabilities, where a predictor may give such.
    pub rounded: Option<RoundedRows>,
    /// What users are to know of the answers of a predictor.
    pub remarks: Vec<String>,
}

/// Predicts the inputs that `specification` names, on `device`.
///
/// # Errors
/// When something cannot be opened or read, or the model cannot answer.
pub fn predict(
    specification: &PredictSpecification,
    device: &ComputeDevice,
) -> Result<Predictions, AuditError> {
    match specification.modality {
        ModalityName::Table => {
            let (model, predictor) = (&specification.model, &specification.predictor);
            let reading = specification.reading();
            let model = TableModel::open(|| Ok(model), predictor, reading)?;
            let model_sha256 = model.sha256()?;
            let data = model.read(&specification.data, Labels::Unneeded)?;
            let said = model.say(&data.value, device)?;
            let Said {
                logits,
                rounded,
                remarks,
            } = said;
            let (own, table) = (model.schema(), data.value.table);
            let rows = (0..table.rows()).map(|row| table.row(row));
            let classes = own.label.classes.clone();
            let named = (classes.as_slice(), Some(own));
            let (decisions, decided) = decide(&specification.decision, named, rows, &logits)?;
            Ok(Predictions {
                rounded,
                remarks,
                decisions,
                decided,
                classes,
                is_number: own.label.is_number(),
                logits,
                texts: None,
                rows: table.numbers().clone(),
                data: Some(table.counts),
                model_sha256,
                data_sha256: data.sha256,
            })
        }
        ModalityName::Text => {
            let model = TextScorer::open(&specification.model, &specification.predictor)?;
            let column = specification.text_column.as_deref();
            let data = open_texts(&specification.data, column, specification.skip_bad_rows)?;
            let logits = model.value.logits(&data.value.texts, device)?;
            let classes = model.value.classes().to_vec();
            let rows = data.value.texts.iter().map(|_| &[][..]);
            let (decisions, decided) =
                decide(&specification.decision, (&classes, None), rows, &logits)?;
            Ok(Predictions {
                rounded: None,
                remarks: Vec::new(),
                decisions,
                decided,
                is_number: false,
                logits,
                classes,
                data: ReadCounts::of_bad_rows(data.value.texts.len(), data.value.bad_rows),
                texts: Some(data.value.texts),
                rows: data.value.rows,
                model_sha256: model.sha256,
                data_sha256: data.sha256,
            })
        }
    }
}

/// The names of the possible decisions on `classes`, and the decisions on `rows` of the schema, if
/// they are any, with these logits.
fn decide<'r>(
    specification: &DecisionSpecification,
    (classes, schema): (&[String], Option<&Schema>),
    rows: impl Iterator<Item = &'r [i32]>,
    logits: &[f32],
) -> Result<(Vec<String>, Vec<u32>), AuditError> {
    if schema.is_some_and(|schema| schema.label.is_number()) {
        specification.alone().expect_usual()?;
        let rows = logits.len() / classes.len().max(1);
        return Ok((classes.to_vec(), vec![1; rows]));
    }
    let favourable = classes.len().saturating_sub(1);
    let decision = specification.alone().among(classes, favourable, schema)?;
    let answers = rows.zip(logits.chunks_exact(classes.len().max(1)));
    let decided = answers.map(|(row, logits)| decision.decide(row, logits));
    Ok((decision.names(classes), decided.collect()))
}

impl Predictions {
    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.logits.len() / self.classes.len().max(1)
    }

    /// The number that a regressor gives each input; nothing of a classifier.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let pairs = self.is_number.then(|| self.logits.chunks_exact(2));
        pairs.map(|pairs| pairs.map(|logits| Score::Number.compute(logits)).collect())
    }

    /// The number of inputs of each decision, in their order.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.decisions.len()];
        for &decided in &self.decided {
            counts[decided as usize] += 1;
        }
        counts
    }

    /// The columns `row` (of the file, from 1), `text` of texts, `predicted`, and for each class its
    /// `probability` and `logit`; of a regressor `predicted` is its number, and the last one.
    ///
    /// # Errors
    /// None in practice: all columns are equally long.
    pub fn batch(&self) -> Result<RecordBatch, AuditError> {
        let classes = self.classes.len();
        let rows = || self.logits.chunks_exact(classes.max(1));
        let number = (0..self.inputs()).map(|input| self.rows.number(input));
        let mut fields = vec![Field::new("row", DataType::UInt64, false)];
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from_iter_values(number))];
        if let Some(texts) = &self.texts {
            fields.push(Field::new("text", DataType::Utf8, false));
            columns.push(Arc::new(StringArray::from_iter_values(texts)));
        }
        if let Some(numbers) = self.numbers() {
            fields.push(Field::new("predicted", DataType::Float32, false));
            let numbers = numbers.into_iter().map(|number| number as f32);
            columns.push(Arc::new(Float32Array::from_iter_values(numbers)));
            let schema = Arc::new(ArrowSchema::new(fields));
            return Ok(RecordBatch::try_new(schema, columns)?);
        }
        let decided = self.decided.iter();
        let predicted = decided.map(|&decided| &self.decisions[decided as usize]);
        fields.push(Field::new("predicted", DataType::Utf8, false));
        columns.push(Arc::new(StringArray::from_iter_values(predicted)));
        for (class, name) in self.classes.iter().enumerate() {
            let name = format!("probability_{name}");
            fields.push(Field::new(name, DataType::Float64, false));
            let probabilities = rows().map(|logits| log_probability(logits, class).exp());
            columns.push(Arc::new(Float64Array::from_iter_values(probabilities)));
        }
        for (class, name) in self.classes.iter().enumerate() {
            fields.push(Field::new(
                format!("logit_{name}"),
                DataType::Float32,
                false,
            ));
            let logits = rows().map(|logits| logits[class]);
            columns.push(Arc::new(Float32Array::from_iter_values(logits)));
        }
        Ok(RecordBatch::try_new(
            Arc::new(ArrowSchema::new(fields)),
            columns,
        )?)
    }
}

/// The logarithm of the probability of `class`.
pub fn log_probability(logits: &[f32], class: usize) -> f64 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exponents = logits.iter();
    let exponents = exponents.map(|&logit| (f64::from(logit) - f64::from(largest)).exp());
    f64::from(logits[class]) - f64::from(largest) - exponents.sum::<f64>().ln()
}

/// Writes `batch` as CSV, numbers without exponents and in as few digits as tell them apart, texts
/// so that they are no formulas to a spreadsheet ([`probity_run::spreadsheet`]).
///
/// # Errors
/// When `csv` cannot be written.
pub fn write_csv<W: Write>(batch: &RecordBatch, csv: &mut csv::Writer<W>) -> io::Result<()> {
    csv.write_record(batch.schema_ref().fields().iter().map(|field| field.name()))?;
    for row in 0..batch.num_rows() {
        csv.write_record(batch.columns().iter().map(|column| cell(column, row)))?;
    }
    csv.flush()
}

fn cell(column: &ArrayRef, row: usize) -> String {
    let column = column.as_any();
    if let Some(texts) = column.downcast_ref::<StringArray>() {
        return safe(texts.value(row)).into_owned();
    }
    if let Some(numbers) = column.downcast_ref::<UInt64Array>() {
        return numbers.value(row).to_string();
    }
    if let Some(logits) = column.downcast_ref::<Float32Array>() {
        return logits.value(row).to_string();
    }
    let probabilities = column.downcast_ref::<Float64Array>();
    probabilities.map_or_else(String::new, |shares| shares.value(row).to_string())
}

/// Writes `batch` as Parquet.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_parquet(batch: &RecordBatch, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_created_by(format!("probity {}", env!("CARGO_PKG_VERSION")))
        .build();
    let writer = ArrowWriter::try_new(out, batch.schema(), Some(properties));
    let mut writer = writer.map_err(io::Error::other)?;
    writer.write(batch).map_err(io::Error::other)?;
    writer.close().map_err(io::Error::other)?;
    Ok(())
}

#[cfg(test)]
mod tests;
