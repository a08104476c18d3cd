//! A query as a whole: from what is asked, by what is public, over the ledger, to the answer.
//!
//! Opening a query refuses all that can be refused by what is public, and only then opens the data.
//! Answering it charges the ledger first: from then on the price is paid, whatever becomes of the
//! answer.

use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::calibration::{Calibration, Guarantee};
use crate::composition::{Budget, Cost, Remaining};
use crate::count::{CountPlan, Outliers, PublicNoise, Sensitivity};
use crate::error::PrivacyError;
use crate::interval::Interval;
use crate::ledger::{Charge, Ledger, LedgerError, charge, declare, read};
use crate::noise::{Bits, SeededBits, SystemBits};
use crate::records::{Grid, Records};
use crate::sensitivity::Method;
use crate::source::{DeclaredNumbers, DeclaredTable, SourceError, TableOptions, TableReading};
use crate::specification::{CountSpecification, SubspacesSpecification, TableSpecification};
use crate::subspaces::{Chosen, SubspacePlan};
use probity_data::named_schema::NamedSchemaError;
use probity_data::schema::Format;
use probity_data::source::Hashed;
use probity_data::specification::{record_schema, schema_named};
use probity_run::number::readable;
use probity_run::specification::Checked;
use probity_run::specification::file::Record;

/// Why a query is not answered.
#[derive(Debug, Error)]
pub enum QueryError {
    /// What is asked has no private answer.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
    /// The data cannot be read as declared.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The ledger cannot be read or does not cover the price.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The schema cannot be read.
    #[error(transparent)]
    Schema(#[from] NamedSchemaError),
}

/// What is to be said while a query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark<'q> {
    /// Another process is charging this ledger.
    Waits(&'q Path),
    /// The noise follows from a seed: whoever knows it can take it off.
    NotPrivate,
}

/// The data as declared.
pub struct Data {
    /// For the ledger: it goes into nothing that is printed or written.
    sha256: String,
    /// How they are read.
    pub options: TableOptions,
    /// Their columns.
    pub grid: Grid,
    /// The records.
    pub records: Records,
}

impl Data {
    /// Reads `file` to answer whoever asks.
    fn read(file: &Path, options: TableOptions) -> Result<Data, QueryError> {
        let read = options.read(file)?;
        Self::of(options, read)
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
        Self::of(options, read)
    }

    fn of(options: TableOptions, read: Hashed<DeclaredNumbers>) -> Result<Data, QueryError> {
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

/// What an outlier is in `dimension` dimensions of `grid`.
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

/// Who pays, and where the random bits come from.
struct Payment<'q> {
    ledger: &'q Path,
    not_private_seed: Option<u64>,
}

impl Payment<'_> {
    /// Charges the query; from here on the price is paid. Gives its bill and the random bits.
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

    /// What is public of the table, before it is opened.
    fn table(&self) -> Result<DeclaredTable, QueryError> {
        Ok(read(self.ledger)?.table)
    }
}

/// What a query cost, when it was charged, and what is left.
#[derive(Debug, Serialize)]
pub struct Bill {
    /// When it was charged.
    pub charged: String,
    /// Its price.
    pub cost: Cost,
    /// What is left.
    pub left: Remaining,
    /// The ledger.
    pub ledger: PathBuf,
}

/// `summary.json` of a count.
#[derive(Debug, Serialize)]
pub struct CountSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `outliers count`.
    pub command: &'static str,
    /// Whether the noise is nobody's knowledge.
    pub private: bool,
    /// Records.
    pub rows: usize,
    /// Columns that distances are of.
    pub columns: Vec<String>,
    /// An outlier has fewer than `k` other records within this.
    pub radius: f64,
    /// See `radius`.
    pub k: usize,
    /// What scales the noise.
    pub sensitivity: Sensitivity,
    /// How it is scaled.
    pub calibration: Calibration,
    /// How its bounds are computed.
    pub method: Option<Method>,
    /// The noisy count.
    pub count: i64,
    /// An interval for the true count, where it is public or was paid for.
    pub interval: Option<Interval>,
    /// What is public of the noise.
    pub noise: PublicNoise,
    /// The bill.
    #[serde(flatten)]
    pub bill: Bill,
}

/// A count of outliers that is about to be paid for.
pub struct CountQuery {
    specification: CountSpecification,
    record: Record,
    plan: CountPlan,
    data: Data,
}

impl CountQuery {
    /// Refuses what can be refused by what is public, then opens the data.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn open(specification: Checked<CountSpecification>) -> Result<CountQuery, QueryError> {
        let mut specification = specification.into_inner();
        specification.table = specification.table.located();
        let guarantee = Guarantee::new(specification.epsilon, specification.delta)?;
        let declared = payment(&specification.ledger, specification.not_private_seed).table()?;
        let options = specification
            .table
            .query(&specification.columns, &declared)?;
        let grid = options.grid()?;
        let dimension = grid.columns().len();
        let outliers = outliers(&grid, specification.radius, specification.k, dimension)?;
        let noise = specification.noise;
        let plan = CountPlan::new(outliers, guarantee, noise, declared.records, dimension)?;
        let data = Data::read(&specification.data, options)?;
        Ok(CountQuery {
            record: record(&specification.table)?,
            specification,
            plan,
            data,
        })
    }

    /// What is asked, with nothing left open.
    pub fn specification(&self) -> &CountSpecification {
        &self.specification
    }

    /// What was opened, but for the records: their hash is an exact function of them.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Pays for the answer, and gives it.
    ///
    /// # Errors
    /// When the budget does not cover it; see [`QueryError`].
    pub fn answer(&self, tell: &mut dyn FnMut(Remark<'_>)) -> Result<CountSummary, QueryError> {
        let specification = &self.specification;
        let columns = self.data.options.columns.clone();
        let (radius, k) = (specification.radius, specification.k);
        let named = columns.join(" × ");
        let mechanism = format!("count in {named}, radius {}, k {k}", readable(radius));
        let payment = payment(&specification.ledger, specification.not_private_seed);
        let (bill, mut bits) = payment.charge(&self.data, mechanism, self.plan.cost(), tell)?;
        let answer = self.plan.answer(&self.data.records, &mut *bits)?;
        Ok(CountSummary {
            schema_version: 1,
            command: "outliers count",
            private: specification.not_private_seed.is_none(),
            rows: self.data.records.rows(),
            columns,
            radius,
            k,
            sensitivity: self.plan.sensitivity(),
            calibration: specification.noise.calibration,
            method: self.plan.method(),
            count: answer.count,
            interval: answer.interval,
            noise: answer.noise,
            bill,
        })
    }
}

/// `summary.json` of a choice of subspaces.
#[derive(Debug, Serialize)]
pub struct SubspacesSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `outliers subspaces`.
    pub command: &'static str,
    /// Whether the noise is nobody's knowledge.
    pub private: bool,
    /// Records.
    pub rows: usize,
    /// An outlier has fewer than `k` other records within this.
    pub radius: f64,
    /// See `radius`.
    pub k: usize,
    /// Columns of a subspace.
    pub dims: usize,
    /// Subspaces that it was chosen among.
    pub candidates: usize,
    /// Those that were chosen, in the order of choice.
    pub subspaces: Vec<SubspaceFigures>,
    /// Of each count, if they were asked for.
    pub noise: Option<PublicNoise>,
    /// What scales the noise of each count.
    #[serde(skip)]
    pub sensitivity: Option<Sensitivity>,
    /// The bill.
    #[serde(flatten)]
    pub bill: Bill,
}

/// A subspace that was chosen.
#[derive(Debug, Serialize)]
pub struct SubspaceFigures {
    /// Its columns.
    pub columns: Vec<String>,
    /// The noisy count of outliers in it.
    pub count: Option<i64>,
    /// An interval for the true count.
    pub interval: Option<Interval>,
}

/// A choice of subspaces that is about to be paid for.
pub struct SubspacesQuery {
    specification: SubspacesSpecification,
    record: Record,
    plan: SubspacePlan,
    data: Data,
    records: usize,
}

impl SubspacesQuery {
    /// Refuses what can be refused by what is public, then opens the data.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn open(
        specification: Checked<SubspacesSpecification>,
    ) -> Result<SubspacesQuery, QueryError> {
        let specification = specification.into_inner().resolved();
        let (choice, then_count) = specification.split()?;
        let declared = payment(&specification.ledger, specification.not_private_seed).table()?;
        let options = specification
            .table
            .query(&specification.columns, &declared)?;
        let grid = options.grid()?;
        let (dims, records, columns) = (specification.dims, declared.records, grid.columns().len());
        if dims > columns {
            return Err(PrivacyError::Dimensions {
                dimensions: dims,
                columns,
            }
            .into());
        }
        let outliers = outliers(&grid, specification.radius, specification.k, dims)?;
        let plan = SubspacePlan::new(choice, then_count, outliers, records, columns)?;
        let data = Data::read(&specification.data, options)?;
        Ok(SubspacesQuery {
            record: record(&specification.table)?,
            specification,
            plan,
            data,
            records,
        })
    }

    /// What is asked, with nothing left open.
    pub fn specification(&self) -> &SubspacesSpecification {
        &self.specification
    }

    /// What was opened, but for the records: their hash is an exact function of them.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Pays for the answer, and gives it.
    ///
    /// # Errors
    /// When the budget does not cover it; see [`QueryError`].
    pub fn answer(&self, tell: &mut dyn FnMut(Remark<'_>)) -> Result<SubspacesSummary, QueryError> {
        let specification = &self.specification;
        let (radius, k, dims) = (specification.radius, specification.k, specification.dims);
        let counts = match specification.then_count {
            true => " with counts",
            false => "",
        };
        let mechanism = format!(
            "top {} of {} subspaces of {dims} dimensions{counts}, radius {}, k {k}",
            specification.top,
            self.plan.subspaces(),
            readable(radius)
        );
        let payment = payment(&specification.ledger, specification.not_private_seed);
        let (bill, mut bits) = payment.charge(&self.data, mechanism, self.plan.cost(), tell)?;
        let chosen = self.plan.answer(&self.data.records, &mut *bits)?;
        let figures = chosen.iter().map(|chosen| SubspaceFigures {
            columns: self.names(chosen),
            count: chosen.answer.as_ref().map(|answer| answer.count),
            interval: chosen.answer.as_ref().and_then(|answer| answer.interval),
        });
        Ok(SubspacesSummary {
            schema_version: 1,
            command: "outliers subspaces",
            private: specification.not_private_seed.is_none(),
            rows: self.records,
            radius,
            k,
            dims,
            candidates: self.plan.subspaces(),
            subspaces: figures.collect(),
            noise: self.plan.counts().map(CountPlan::public_noise),
            sensitivity: self.plan.counts().map(CountPlan::sensitivity),
            bill,
        })
    }

    fn names(&self, chosen: &Chosen) -> Vec<String> {
        let columns = chosen.columns.iter();
        let name = |&column: &usize| self.data.options.columns[column].clone();
        columns.map(name).collect()
    }
}

fn payment(ledger: &Path, not_private_seed: Option<u64>) -> Payment<'_> {
    Payment {
        ledger,
        not_private_seed,
    }
}

fn record(table: &TableSpecification) -> Result<Record, NamedSchemaError> {
    record_schema(Record::new(), table.schema.as_deref())
}

/// A budget that the owner of a file declares.
#[derive(Debug, Clone)]
pub struct Declaration {
    /// The file.
    pub data: PathBuf,
    /// ε in all.
    pub epsilon: f64,
    /// δ in all.
    pub delta: f64,
    /// Part of δ that is set aside for composition; by default a tenth.
    pub slack: Option<f64>,
    /// Columns that may be asked for; by default all that hold nothing but numbers, or ordered
    /// levels of the schema.
    pub columns: Vec<String>,
    /// Schema file, or the name of a built-in schema.
    pub schema: Option<String>,
    /// The layout of the file, where there is no schema.
    pub layout: Format,
}

impl Declaration {
    /// Declares it in the new `ledger`.
    ///
    /// # Errors
    /// Numbers that are no budget; data that cannot be read; a ledger that is there already.
    pub fn declare(self, ledger: &Path) -> Result<Ledger, QueryError> {
        let budget = Budget {
            epsilon: self.epsilon,
            delta: self.delta,
            slack: self.slack.unwrap_or_else(|| tenth(self.delta)),
        }
        .check()?;
        let reading = match schema_named(self.schema.as_deref())? {
            Some(schema) => TableReading::of_schema(&schema),
            None => TableReading::of_format(self.layout),
        };
        let name = self.data.file_name().unwrap_or(self.data.as_os_str());
        let table = reading.declare(&self.data, &self.columns)?;
        Ok(declare(ledger, &name.to_string_lossy(), table, budget)?)
    }
}

/// A tenth of a decimal number, as a decimal number; what is none stays none.
fn tenth(number: f64) -> f64 {
    format!("{number}e-1").parse().unwrap_or(number)
}
