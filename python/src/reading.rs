//! Reads what runs wrote, and infers schemas of tables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow_array::{Array, Float64Array, RecordBatch};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use probity::data::infer::{InferOptions, Way, infer, typed};
use probity::data::named_schema::named_schema;
use probity::data::read::BadRows;
use probity::data::schema::{Encoding, Format};
use probity::data::specification::Separator;
use probity::data::table::{Labels, Table};
use probity::fairness::audit::AuditSpecification;
use probity::fairness::verify::verify_audit as verified;
use probity::nn::fnn::Fnn;
use probity::nn::model::Model;
use probity::nn::text_model::{self, TextModel};
use probity::nn::transformer_model::is_transformer;
use probity::nn::{Classifier, Rows};
use probity::predictor::callable::RowCells;
use probity::predictor::spread::SpreadRows;
use probity::report::model::{AuditSummary, InputShares, Share};
use probity::report::text::{self, interval, percent};
use probity::report::{Form, Report};
use probity::run::number::FIXED_SPACE;
use probity::run::run_directory::{RUN, RunDirectory};
use probity::run::specification::file::kind_of;
use probity::tensor::device::ComputeDevice;
use probity::text::corpus::{TextColumns, read_texts_hashed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::errors::exception;

/// Options for inferring a schema; an option that is not given is as on the command line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    label: String,
    classes: Vec<String>,
    protected: Vec<String>,
    ignore: Vec<String>,
    missing: BTreeMap<String, Vec<String>>,
    level: BTreeMap<String, Vec<String>>,
    merge: Vec<String>,
    favourable: Option<String>,
    number: bool,
    label_threshold: Option<f64>,
    name: String,
    layout: LayoutOptions,
}

/// Options for the layout of a text file; one that is not given is found in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LayoutOptions {
    separator: Option<Separator>,
    decimal: Option<Separator>,
    thousands: Option<Separator>,
    encoding: Option<Encoding>,
}

/// Infers the schema of the table at `path`; returns it as TOML, with the decisions that may be
/// wrong.
#[pyfunction]
pub(crate) fn infer_schema(
    py: Python<'_>,
    path: PathBuf,
    options: &str,
) -> PyResult<(String, Vec<String>)> {
    let wanted: Wanted = serde_json::from_str(options).map_err(|error| exception(&error))?;
    let mut options = InferOptions::default();
    options.label = wanted.label;
    options.classes = wanted.classes;
    options.protected = wanted.protected;
    options.ignore = wanted.ignore;
    options.missing = wanted.missing;
    options.level = wanted.level;
    options.merge = wanted.merge;
    options.favourable = wanted.favourable;
    options.number = wanted.number;
    options.label_threshold = wanted.label_threshold;
    options.name = wanted.name;
    let said = wanted.layout;
    options.finds_separator = said.separator.is_none();
    options.format.separator = said.separator.unwrap_or_default().character();
    options.format.decimal = said.decimal.map(Separator::character);
    options.format.thousands = said.thousands.map(Separator::character);
    options.format.encoding = said.encoding;
    let draft = py.detach(|| infer(&path, &options));
    let draft = draft.map_err(|error| exception(&error))?;
    let text = draft.schema.to_toml().map_err(|error| exception(&error))?;
    let notes = draft.notes.iter();
    let notes = notes.map(|note| {
        let column = match note.column.as_str() {
            "" => "''",
            column => column,
        };
        format!("{column}: {}", note.text(Way::field))
    });
    Ok((text, notes.collect()))
}

/// Reads the text file at `path`: the rows in typed columns, without the columns in `ignore`, and
/// remarks on rows that were left out. The file is laid out as `schema` says; what the schema does
/// not say is found in the file. The columns that attributes are spread over are read as they are.
#[pyfunction]
#[pyo3(signature = (path, ignore, schema=None))]
pub(crate) fn read_table(
    py: Python<'_>,
    path: PathBuf,
    ignore: Vec<String>,
    schema: Option<&str>,
) -> PyResult<(PyArrowType<RecordBatch>, Option<String>)> {
    let read = py.detach(|| -> Result<(RecordBatch, BadRows), Failure> {
        let schema = schema.map(named_schema).transpose()?.map(|it| it.schema);
        let mut options = InferOptions::default();
        options.ignore = ignore;
        if let Some(schema) = &schema {
            options.finds_separator = schema.format.separator == Format::default().separator;
            options.format = schema.format.clone();
            options.format.spread = BTreeMap::new();
        }
        Ok(typed(&path, &options, schema.as_ref())?)
    });
    let (batch, bad_rows) = read.map_err(|error| exception(error.as_ref()))?;
    let said = (!bad_rows.is_empty()).then(|| bad_rows.to_string());
    Ok((PyArrowType(batch), said))
}

/// The schema called `schema` (a file, a built-in name or TOML), as JSON.
#[pyfunction]
pub(crate) fn schema(schema: &str) -> PyResult<String> {
    let named = named_schema(schema).map_err(|error| exception(&error))?;
    serde_json::to_string(&named.schema).map_err(|error| exception(&error))
}

/// Reads the rows at `path` in the form in which a model is asked about them: a column for each
/// attribute of the schema, or those that it is spread over.
#[pyfunction]
pub(crate) fn rows_as_asked(
    py: Python<'_>,
    schema: &str,
    path: PathBuf,
) -> PyResult<PyArrowType<RecordBatch>> {
    let batch = py.detach(|| -> Result<RecordBatch, Failure> {
        let schema = named_schema(schema)?.schema;
        let table = Table::read(path, &schema, Labels::Unneeded)?;
        let asked = SpreadRows::new(&schema);
        let codes = asked.codes(Rows::new(table.codes(), table.width()));
        let rows = Rows::new(&codes, asked.schema().attributes.len());
        Ok(RowCells::new(asked.schema()).batch(asked.schema(), rows, &[])?)
    });
    batch
        .map(PyArrowType)
        .map_err(|error| exception(error.as_ref()))
}

/// Whether the model in `directory` is a model of texts.
#[pyfunction]
pub(crate) fn is_text_model(directory: PathBuf) -> bool {
    text_model::is_text_model(&directory) || is_transformer(&directory)
}

/// The kind of the run in `directory` and its specification, as JSON.
#[pyfunction]
pub(crate) fn specification(directory: PathBuf) -> PyResult<(String, String)> {
    let run = RunDirectory::open(&directory).map_err(|error| exception(&error))?;
    let file = run.file(RUN);
    let kind = kind_of(&file).map_err(|error| exception(&error))?;
    let text = std::fs::read_to_string(&file)?;
    let value: toml::Table = toml::from_str(&text).map_err(|error| exception(&error))?;
    let json = serde_json::to_string(&value).map_err(|error| exception(&error))?;
    Ok((kind, json))
}

/// The path of the file of the pairs that the audit in `directory` found, if it is unchanged since
/// it was written.
#[pyfunction]
pub(crate) fn samples_file(directory: PathBuf) -> PyResult<PathBuf> {
    let opened = RunDirectory::open_specified::<AuditSpecification>(&directory);
    let (run, specification, _) = opened.map_err(|error| exception(&error))?;
    let file = run.unchanged(specification.samples_format.file_name());
    file.map_err(|error| exception(&error))
}

/// Writes the report on the runs in `directories`, in a format of the command's; the ending of the
/// file chooses where the format has several forms.
#[pyfunction]
pub(crate) fn report(
    py: Python<'_>,
    directories: Vec<PathBuf>,
    format: &str,
    file: Option<PathBuf>,
) -> PyResult<Vec<u8>> {
    let report = py.detach(|| Report::read(&directories));
    let report = report.map_err(|error| exception(&error))?;
    let form = Form::named(format).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let bytes = report.render(form, file.as_deref());
    bytes.map_err(|error| exception(&error))
}

/// Asks the model again about every pair that the audit in `directory` found; returns how many are
/// confirmed, as JSON.
#[pyfunction]
#[pyo3(signature = (directory, model=None))]
pub(crate) fn verify_audit(
    py: Python<'_>,
    directory: PathBuf,
    model: Option<PathBuf>,
) -> PyResult<String> {
    let result = py.detach(|| verified(&directory, model.as_deref(), &mut |_| (), &mut |_| ()));
    let result = result.map_err(|error| exception(&error))?;
    serde_json::to_string(&result).map_err(|error| exception(&error))
}

/// Has the model in `directory` predict the rows, or the texts, at `path`; returns the
/// probabilities of all classes, row by row.
#[pyfunction]
pub(crate) fn probabilities(
    py: Python<'_>,
    directory: PathBuf,
    path: PathBuf,
) -> PyResult<PyArrowType<ArrayData>> {
    let logits = py.detach(|| classified(&directory, &path));
    let (logits, classes) = logits.map_err(|error| exception(error.as_ref()))?;
    let mut values = Vec::with_capacity(logits.len());
    for row in logits.chunks_exact(classes.max(1)) {
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let shares = row.iter().map(|&logit| f64::from(logit - most).exp());
        let sum: f64 = shares.clone().sum();
        values.extend(shares.map(|share| share / sum));
    }
    Ok(PyArrowType(Float64Array::from(values).into_data()))
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn classified(directory: &Path, path: &Path) -> Result<(Vec<f32>, usize), Failure> {
    if text_model::is_text_model(directory) {
        return classified_texts(&TextModel::load(directory)?, path);
    }
    let model = Model::load(directory)?;
    let table = Table::read(path, &model.schema, Labels::Unneeded)?;
    let network = Fnn::new(&model.network, &ComputeDevice::flex());
    let logits = network.logits(Rows::new(table.codes(), table.width()))?;
    Ok((logits, network.classes()))
}

/// Has `model` predict the texts in the column `text` of the file at `path`.
fn classified_texts(model: &TextModel, path: &Path) -> Result<(Vec<f32>, usize), Failure> {
    let columns = TextColumns {
        text: Some("text".to_owned()),
        label: None,
        label_threshold: None,
        skip_bad_rows: false,
        classes: Vec::new(),
    };
    let corpus = read_texts_hashed(path, &columns)?.value;
    let texts = corpus.texts.iter().map(|text| model.reader.encode(text));
    let texts: Vec<_> = texts.collect::<Result<_, _>>()?;
    let width = texts.iter().map(|text| text.ids.len()).max().unwrap_or(0);
    let mut codes = Vec::with_capacity(width * texts.len());
    for text in &texts {
        codes.extend_from_slice(&text.ids);
        // The padding at the end of a row is not a token.
        codes.resize(codes.len() + width - text.ids.len(), -1);
    }
    let network = model.network(width, &ComputeDevice::flex())?;
    let logits = network.logits(Rows::new(&codes, width))?;
    Ok((logits, network.classes()))
}

/// Who is disadvantaged by the `summary` of an audit, in a sentence for each protected attribute alone.
#[pyfunction]
pub(crate) fn disadvantaged(summary: &str) -> PyResult<Vec<String>> {
    let summary: AuditSummary = serde_json::from_str(summary).map_err(|error| exception(&error))?;
    let said = summary.disadvantaged().into_iter();
    Ok(said.map(|said| said.replace(FIXED_SPACE, " ")).collect())
}

/// The shares of an audit whose `summary.json` is `summary`: `data`, those of its rows or texts, null
/// where they were not asked about, and `uniform`, those of random inputs, null for texts; as JSON.
#[pyfunction]
pub(crate) fn shares(summary: &str) -> PyResult<String> {
    let summary: AuditSummary = serde_json::from_str(summary).map_err(|error| exception(&error))?;
    let listed = |of: InputShares<'_>| {
        let share = |share: &Share| {
            json!({
                "protected": share.protected,
                "value": share.rate,
                "low": share.ci95[0],
                "high": share.ci95[1],
                "inputs": share.sampled,
                "of": of.inputs(share),
            })
        };
        Value::from_iter(of.shares.iter().map(share))
    };
    let found = json!({
        "data": summary.of_data().map(listed),
        "uniform": summary.of_random_inputs().map(listed),
    });
    Ok(found.to_string())
}

/// A share of some inputs with its 95 % interval, in words.
#[pyfunction]
pub(crate) fn share_in_words(share: f64, ci95: [f64; 2], of: &str) -> String {
    let (share, interval) = (percent(share), interval(ci95));
    format!("{share} of {of} (95 % interval {interval})").replace(FIXED_SPACE, " ")
}

/// The sentence that says that a model does not take some `attributes` of those `protected`, if so.
#[pyfunction]
pub(crate) fn not_taken(attributes: Vec<String>, protected: Vec<String>) -> Option<String> {
    text::not_taken(&attributes, &protected)
}
