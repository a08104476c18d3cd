//! A query as a whole: from the specification, by what is public, over the ledger, to the answer.
//!
//! Opening a query refuses all that can be refused by what is public, and only then opens the data.
//! Answering it charges the ledger first: from then on the price is paid, whatever becomes of the
//! answer.

mod count;
mod declaration;
mod kinds;
mod subspaces;

use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::composition::{Cost, Remaining};
use crate::count::Outliers;
use crate::error::PrivacyError;
use crate::ledger::{Charge, LedgerError, charge, read};
use crate::noise::{Bits, SeededBits, SystemBits};
use crate::records::{Grid, Records};
use crate::source::{DeclaredNumbers, DeclaredTable, SourceError, TableOptions};
use crate::specification::TableSpecification;
use probity_data::named_schema::NamedSchemaError;
use probity_data::source::Hashed;
use probity_data::specification::record_schema;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;
use probity_tensor::proposer::Proposer;

pub use self::count::{CountQuery, CountSummary};
pub use self::declaration::Declaration;
pub use self::kinds::Unwritten;
pub use self::subspaces::{SubspaceFigures, SubspacesQuery, SubspacesSummary};

/// The reason why a query is not answered.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The query has no private answer.
    #[error("{0}")]
    Privacy(#[from] PrivacyError),
    /// The data cannot be read as declared.
    #[error("{0}")]
    Source(#[from] SourceError),
    /// The ledger cannot be read or does not cover the price.
    #[error("{0}")]
    Ledger(#[from] LedgerError),
    /// The schema cannot be read.
    #[error("{0}")]
    Schema(#[from] NamedSchemaError),
}

/// A remark that is made while a query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark<'q> {
    /// Another process is charging this ledger, and this one waits.
    Waits(&'q Path),
    /// The noise follows from a seed: whoever knows it can take it off.
    NotPrivate,
}

/// The data of a query, read as declared.
pub struct Data {
    /// The SHA-256 of the data, for the ledger: it goes into nothing that is printed or written.
    sha256: String,
    /// The options by which the data are read.
    pub options: TableOptions,
    /// The grid of the columns.
    pub grid: Grid,
    /// The records.
    pub records: Records,
}

impl Data {
    /// Reads `file` to answer whoever asks.
    fn read(file: &Path, options: TableOptions) -> Result<Data, QueryError> {
        let read = options.read(file)?;
        Self::new(options, read)
    }

    /// Reads `columns` of `file` for its owner.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read_as_owner(
        file: &Path,
        columns: &[String],
        table: &TableSpecification,
    ) -> Result<Data, QueryError> {
        let options = table.options(columns)?;
        let read = options.read_as_owner(file)?;
        Self::new(options, read)
    }

    /// Returns the data with `device` to propose how many records are near each other; no answer
    /// depends on it ([`Records::on`]).
    #[must_use]
    pub fn on(mut self, device: &ComputeDevice) -> Data {
        self.records = self.records.on(&Proposer::new(device));
        self
    }

    fn new(options: TableOptions, read: Hashed<DeclaredNumbers>) -> Result<Data, QueryError> {
        let Hashed {
            value: numbers,
            sha256,
        } = read;
        let records = numbers.grid.place(&numbers.values)?;
        Ok(Data {
            sha256,
            options,
            grid: numbers.grid,
            records,
        })
    }
}

/// Returns the definition of an outlier in `dimension` dimensions of `grid`.
///
/// # Errors
/// A radius that is none.
pub fn outliers(
    grid: &Grid,
    radius: f64,
    k: usize,
    dimension: usize,
) -> Result<Outliers, PrivacyError> {
    Ok(Outliers {
        k,
        squared_radius: grid.squared_radius(radius, dimension)?,
    })
}

/// The payment for a query: the ledger that is charged, and the source of the random bits.
struct Payment<'q> {
    ledger: &'q Path,
    not_private_seed: Option<u64>,
}

impl Payment<'_> {
    /// Charges the query; from here on the price is paid. Returns its bill and the random bits.
    fn charge(
        &self,
        data: &Data,
        mechanism: String,
        cost: Cost,
        tell: &mut dyn FnMut(Remark<'_>),
    ) -> Result<(Bill, Box<dyn Bits>), QueryError> {
        let charged = Charge {
            sha256: data.sha256.clone(),
            mechanism,
            cost,
            not_private: self.not_private_seed.is_some(),
        };
        let paid = charge(self.ledger, charged, || tell(Remark::Waits(self.ledger)))?;
        let bits: Box<dyn Bits> = match self.not_private_seed {
            Some(seed) => {
                tell(Remark::NotPrivate);
                Box::new(SeededBits::not_private(seed, paid.queries.len() as u64))
            }
            None => Box::new(SystemBits::new()),
        };
        let last = paid.queries.last();
        let bill = Bill {
            charged: last.map_or_else(String::new, |entry| entry.time.clone()),
            cost,
            left: paid.remaining(),
            ledger: self.ledger.to_owned(),
        };
        Ok((bill, bits))
    }

    /// Returns the public properties of the table, before it is opened.
    fn table(&self) -> Result<DeclaredTable, QueryError> {
        Ok(read(self.ledger)?.table)
    }
}

/// The bill of a query: its price, when it was charged, and what is left.
#[derive(Debug, Serialize)]
pub struct Bill {
    /// The time of the charge.
    pub charged: String,
    /// The price of the query.
    pub cost: Cost,
    /// The part of the budget that is left.
    pub left: Remaining,
    /// The ledger.
    pub ledger: PathBuf,
}

fn payment(ledger: &Path, not_private_seed: Option<u64>) -> Payment<'_> {
    Payment {
        ledger,
        not_private_seed,
    }
}

/// Returns `record` with the device of a run, which is public.
fn on_device(record: Record, device: &ComputeDevice) -> Record {
    Record {
        device: Some(device.name().to_string()),
        hardware: Some(device.hardware()),
        ..record
    }
}

fn record(table: &TableSpecification) -> Result<Record, NamedSchemaError> {
    record_schema(Record::new(), table.schema.as_deref())
}
