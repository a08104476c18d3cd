//! Rows of a table with what a classifier says of them: a network of a model directory, or what only
//! answers, which is asked with the numbers that rows have in their file.

use std::path::Path;

use super::audit_error::AuditError;
use super::opened::{Opened, open_model, predictor_options, reading_schema};
use super::specification::PredictorSpecification;
use probity_data::schema::{OutOfDomain, Schema};
use probity_data::table::{CellNumbers, Labels, Table};
use probity_nn::Rows;
use probity_nn::fnn::{Fnn, Network};
use probity_nn::train::parallel_logits;
use probity_predictor::probabilities::RoundedRows;
use probity_predictor::source::PredictorOptions;
use probity_predictor::stability::{LOOKED_AT, check_stability};
use probity_run::stream::{Purpose, drawn};
use probity_tensor::device::ComputeDevice;

/// A classifier of rows, opened for what it says of those of a file.
pub struct RowScorer {
    schema: Schema,
    reading: Schema,
    asked: Asked,
}

enum Asked {
    Network(Box<Network>),
    Predictor(Box<PredictorOptions>),
}

/// The rows of a file.
pub struct ReadRows {
    /// They.
    pub table: Table,
    /// Their own numbers, where they are asked about with them.
    numbers: CellNumbers,
}

/// What is said of rows.
pub struct Said {
    /// The logits, row-major `[rows, classes]`.
    pub logits: Vec<f32>,
    /// How many rows have rounded probabilities, where a predictor may give such.
    pub rounded: Option<RoundedRows>,
}

impl ReadRows {
    /// Those of these numbers, from 0.
    #[must_use]
    pub fn select(&self, indices: &[u32]) -> ReadRows {
        ReadRows {
            table: self.table.select(indices),
            numbers: self.numbers.select(indices),
        }
    }
}

impl RowScorer {
    /// The `predictor`, if one is named, or the model in the directory `model`; what its rows do
    /// with values outside their domains, and whether bad ones are left out, is `policy` and `skips`.
    ///
    /// # Errors
    /// When it cannot be opened, or the policy has nothing to act on.
    pub fn open(
        model: &Path,
        predictor: &PredictorSpecification,
        (policy, skips): (Option<OutOfDomain>, bool),
    ) -> Result<Opened<RowScorer>, AuditError> {
        if let Some(options) = predictor_options(predictor, policy, skips)? {
            return Ok(Opened {
                sha256: options.sha256()?,
                value: RowScorer {
                    schema: options.schema.clone(),
                    reading: options.schema.clone(),
                    asked: Asked::Predictor(Box::new(options)),
                },
            });
        }
        let Opened { value, sha256 } = open_model(model)?;
        Ok(Opened {
            value: RowScorer {
                reading: reading_schema(&value.schema, policy, skips)?,
                schema: value.schema,
                asked: Asked::Network(Box::new(value.network)),
            },
            sha256,
        })
    }

    /// Its schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The schema that rows are read by.
    pub fn reading(&self) -> &Schema {
        &self.reading
    }

    /// The rows in `file`.
    ///
    /// # Errors
    /// When they cannot be read or do not fit the schema.
    pub fn read(&self, file: &Path, labels: Labels) -> Result<Opened<ReadRows>, AuditError> {
        let read = match &self.asked {
            Asked::Network(_) => {
                let read = Table::read_hashed(file, &self.reading, labels)?;
                (read.value, CellNumbers::default(), read.sha256)
            }
            Asked::Predictor(_) => {
                let read = Table::read_with_numbers(file, &self.reading, labels)?;
                (read.value.0, read.value.1, read.sha256)
            }
        };
        let (table, numbers, sha256) = read;
        Ok(Opened {
            value: ReadRows { table, numbers },
            sha256,
        })
    }

    /// What is said of `rows`, by a network on `device`. A predictor is started now, and asked twice
    /// about some of the rows ([`check_stability`]).
    ///
    /// # Errors
    /// When it cannot be started, cannot answer, or is no function of the row.
    pub fn say(&self, rows: &ReadRows, device: &ComputeDevice) -> Result<Said, AuditError> {
        let (table, numbers) = (&rows.table, &rows.numbers);
        match &self.asked {
            Asked::Network(network) => Ok(Said {
                logits: parallel_logits(&Fnn::new(network, device), table)?,
                rounded: None,
            }),
            Asked::Predictor(options) => {
                let predictor = PredictorOptions {
                    schema: numbers.with_values(self.schema.clone()),
                    ..PredictorOptions::clone(options)
                };
                let opened = predictor.open()?;
                let predictor = opened.predictor;
                let some = drawn(0, Purpose::LookedAt, 0, table.rows() as u32, LOOKED_AT);
                let some = table.select(&some);
                let some = Rows::new(some.codes(), some.width());
                check_stability(predictor.as_ref(), &self.schema, some)?;
                let own = (0..table.rows()).flat_map(|row| numbers.row(row));
                let own: Vec<f64> = own.copied().collect();
                let before = opened.taken.divided();
                let logits =
                    predictor.logits_with(Rows::new(table.codes(), table.width()), &own)?;
                let rounded = opened.taken.since(before, table.rows());
                Ok(Said {
                    logits,
                    rounded: rounded.filter(|_| !self.schema.label.is_number()),
                })
            }
        }
    }
}
