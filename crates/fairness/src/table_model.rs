//! The models that answer about rows of a table: a network of a model directory, or a predictor
//! that only answers, which is asked with the numbers that rows have in their file.

use std::path::Path;

use super::audit_error::AuditError;
use super::opened::{Opened, open_model, open_table};
use super::specification::PredictorSpecification;
use probity_data::schema::{Attribute, Format, OutOfDomain, Schema};
use probity_data::table::{CellNumbers, Labels, Table};
use probity_nn::Rows;
use probity_nn::fnn::Fnn;
use probity_nn::model::Model;
use probity_nn::train::parallel_logits;
use probity_predictor::probabilities::RoundedRows;
use probity_predictor::remarks::remarks;
use probity_predictor::source::PredictorOptions;
use probity_predictor::stability::{LOOKED_AT, check_stability};
use probity_run::specification::FieldError;
use probity_run::stream::{Purpose, drawn};
use probity_tensor::device::ComputeDevice;

/// What is said of the rows of a model, beside its own schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// The policy for values outside their domains, in place of the schema's.
    pub policy: Option<OutOfDomain>,
    /// Whether bad rows are left out even where the schema does not say so.
    pub skips_bad_rows: bool,
    /// Whether columns that the schema does not describe are passed over even where it does not say
    /// so.
    pub ignores_other_columns: bool,
}

impl Reading {
    /// Returns `schema` with what is said of columns that it does not describe and of bad rows.
    fn of_rows(self, schema: Schema) -> Schema {
        schema
            .skipping_bad_rows(self.skips_bad_rows)
            .ignoring_other_columns(self.ignores_other_columns)
    }
}

/// A model that answers about rows of a table.
pub enum TableModel {
    /// A network.
    Network(Box<TableNetwork>),
    /// A predictor, which is not started yet; its schema is the one that rows are read by.
    Predictor(Box<PredictorOptions>),
}

/// A network of a model directory, and how rows are read for it.
pub struct TableNetwork {
    /// The network, with its schema.
    pub model: Opened<Model>,
    reading: Reading,
}

/// The rows of a file.
pub struct ReadRows {
    /// The rows, encoded by the schema.
    pub table: Table,
    /// The numbers that the rows have in their file, where the model is asked about them with
    /// these.
    pub(crate) numbers: CellNumbers,
}

/// The answers about rows.
pub struct Said {
    /// The logits, row-major `[rows, classes]`.
    pub logits: Vec<f32>,
    /// Number of rows that have rounded probabilities, where a predictor may give such.
    pub rounded: Option<RoundedRows>,
    /// What users are to know of the answers of a predictor.
    pub remarks: Vec<String>,
}

impl ReadRows {
    /// The rows of these numbers, from 0.
    #[must_use]
    pub fn select(&self, indices: &[u32]) -> ReadRows {
        ReadRows {
            table: self.table.select(indices),
            numbers: self.numbers.select(indices),
        }
    }
}

impl TableNetwork {
    /// The network in `directory`, for which rows are read as `reading` says.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(directory: &Path, reading: Reading) -> Result<TableNetwork, AuditError> {
        let model = open_model(directory)?;
        Ok(TableNetwork { model, reading })
    }

    /// The schema by which rows are read.
    ///
    /// # Errors
    /// When the policy has nothing to act on, or gives values a level that the network does not know.
    pub fn reading(&self) -> Result<Schema, AuditError> {
        reading_schema(&self.model.value.schema, self.reading)
    }

    /// The rows in `file`.
    ///
    /// # Errors
    /// When they cannot be read or do not fit the schema.
    pub fn read(&self, file: &Path, labels: Labels) -> Result<Opened<Table>, AuditError> {
        open_table(file, &self.reading()?, labels)
    }
}

impl TableModel {
    /// The `predictor`, if one is named, or the network in the directory that `model` gives, for which
    /// rows are read as `reading` says.
    ///
    /// # Errors
    /// When it cannot be opened, or the policy has nothing to act on in the schema of a predictor.
    pub fn open<'a>(
        model: impl FnOnce() -> Result<&'a Path, FieldError>,
        predictor: &PredictorSpecification,
        reading: Reading,
    ) -> Result<TableModel, AuditError> {
        let Some(mut predictor) = predictor.options()? else {
            let network = TableNetwork::open(model()?, reading)?;
            return Ok(TableModel::Network(Box::new(network)));
        };
        if let Some(policy) = reading.policy {
            predictor.schema = predictor.schema.with_policy(policy)?;
        }
        predictor.schema = reading.of_rows(predictor.schema);
        Ok(TableModel::Predictor(Box::new(predictor)))
    }

    /// The schema of the model.
    pub fn schema(&self) -> &Schema {
        match self {
            TableModel::Network(network) => &network.model.value.schema,
            TableModel::Predictor(predictor) => &predictor.schema,
        }
    }

    /// The schema by which rows are read.
    ///
    /// # Errors
    /// When the policy has nothing to act on, or gives values a level that the network does not know.
    pub fn reading(&self) -> Result<Schema, AuditError> {
        match self {
            TableModel::Network(network) => network.reading(),
            TableModel::Predictor(predictor) => Ok(predictor.schema.clone()),
        }
    }

    /// Returns the model reading files laid out as `format` says, and whatever other columns they
    /// have: those that only others know of, such as an attribute that the model never sees. Which
    /// columns an attribute is spread over is up to the model, which is asked with them.
    #[must_use]
    pub fn reading_as(mut self, format: &Format) -> TableModel {
        let schema = match &mut self {
            TableModel::Network(network) => &mut network.model.value.schema,
            TableModel::Predictor(predictor) => &mut predictor.schema,
        };
        let skip_bad_rows = schema.format.skip_bad_rows || format.skip_bad_rows;
        schema.format = Format {
            ignore_other_columns: true,
            skip_bad_rows,
            spread: std::mem::take(&mut schema.format.spread),
            ..format.clone()
        };
        self
    }

    /// The SHA-256 of the model.
    ///
    /// # Errors
    /// When the file of a predictor cannot be read.
    pub fn sha256(&self) -> Result<String, AuditError> {
        match self {
            TableModel::Network(network) => Ok(network.model.sha256.clone()),
            TableModel::Predictor(predictor) => Ok(predictor.sha256()?),
        }
    }

    /// The rows in `file`.
    ///
    /// # Errors
    /// When they cannot be read or do not fit the schema.
    pub fn read(&self, file: &Path, labels: Labels) -> Result<Opened<ReadRows>, AuditError> {
        match self {
            TableModel::Network(network) => Ok(network.read(file, labels)?.map(|table| ReadRows {
                table,
                numbers: CellNumbers::default(),
            })),
            TableModel::Predictor(predictor) => {
                let read = Table::read_with_numbers(file, &predictor.schema, labels)?;
                let (table, numbers) = read.value;
                Ok(Opened {
                    value: ReadRows { table, numbers },
                    sha256: read.sha256,
                })
            }
        }
    }

    /// The answers about `rows`, of a network on `device`. A predictor is started now, and asked
    /// twice about some of the rows ([`check_stability`]).
    ///
    /// # Errors
    /// When it cannot be started, cannot answer, or is no function of the row.
    pub fn say(&self, rows: &ReadRows, device: &ComputeDevice) -> Result<Said, AuditError> {
        let (table, numbers) = (&rows.table, &rows.numbers);
        match self {
            TableModel::Network(network) => Ok(Said {
                logits: parallel_logits(&Fnn::new(&network.model.value.network, device), table)?,
                rounded: None,
                remarks: Vec::new(),
            }),
            TableModel::Predictor(options) => {
                let schema = &options.schema;
                let predictor = PredictorOptions {
                    schema: numbers.with_values(schema.clone()),
                    ..PredictorOptions::clone(options)
                };
                let opened = predictor.open()?;
                let predictor = opened.predictor;
                let some = drawn(0, Purpose::LookedAt, 0, table.rows() as u32, LOOKED_AT);
                let some = table.select(&some);
                let some = Rows::new(some.codes(), some.width());
                check_stability(predictor.as_ref(), schema, some)?;
                let own = (0..table.rows()).flat_map(|row| numbers.row(row));
                let own: Vec<f64> = own.copied().collect();
                let before = opened.taken.divided();
                let logits =
                    predictor.logits_with(Rows::new(table.codes(), table.width()), &own)?;
                let rounded = opened.taken.since(before, table.rows());
                let rounded = rounded.filter(|_| !schema.label.is_number());
                let answers = (table, logits.as_slice());
                Ok(Said {
                    remarks: remarks(predictor.as_ref(), &schema.label, answers, rounded),
                    logits,
                    rounded,
                })
            }
        }
    }
}

/// The schema by which data are read for a model of `schema`: that one, with the policy of `reading`
/// for values outside their domains in place of its own, and without bad rows and other columns if it
/// says so.
///
/// # Errors
/// When the policy has nothing to act on, or gives values a level that the model does not know.
pub(crate) fn reading_schema(schema: &Schema, reading: Reading) -> Result<Schema, AuditError> {
    let own = reading.of_rows(schema.clone());
    let Some(policy) = reading.policy else {
        return Ok(own);
    };
    let read = own.clone().with_policy(policy)?;
    let grows = |(own, read): (&Attribute, &Attribute)| read.domain().1 > own.domain().1;
    if schema.attributes.iter().zip(&read.attributes).any(grows) {
        let expected = "clip, skip or reject: this model was trained without such a level";
        return Err(FieldError::new("out_of_domain", "level", expected).into());
    }
    Ok(read)
}
