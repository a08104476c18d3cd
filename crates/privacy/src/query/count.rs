//! A private count of outliers.

use serde::Serialize;

use crate::calibration::{Calibration, Guarantee};
use crate::count::{CountPlan, PublicNoise, Sensitivity};
use crate::interval::Interval;
use crate::sensitivity::Method;
use crate::specification::CountSpecification;
use probity_run::number::readable;
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

use super::{Bill, Data, QueryError, Remark, on_device, outliers, payment, record};

/// The summary of a count, the contents of `summary.json`.
#[derive(Debug, Serialize)]
pub struct CountSummary {
    /// The version of this layout.
    pub schema_version: u32,
    /// The command, always `outliers count`.
    pub command: &'static str,
    /// Whether the answer is private: its noise does not come from a seed.
    pub private: bool,
    /// The number of records.
    pub rows: usize,
    /// The columns that distances are of.
    pub columns: Vec<String>,
    /// The radius: an outlier has fewer than `k` other records within it.
    pub radius: f64,
    /// The threshold `k`, as in `radius`.
    pub k: usize,
    /// The sensitivity that scales the noise.
    pub sensitivity: Sensitivity,
    /// The calibration that scales the noise.
    pub calibration: Calibration,
    /// The method by which the bounds of the sensitivity are computed.
    pub method: Option<Method>,
    /// The noisy count.
    pub count: i64,
    /// An interval for the true count, where it is public or was paid for.
    pub interval: Option<Interval>,
    /// The public part of the noise.
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

    /// Returns the query on `device`; see [`Data::on`].
    #[must_use]
    pub fn on(mut self, device: &ComputeDevice) -> CountQuery {
        self.record = on_device(self.record, device);
        self.data = self.data.on(device);
        self
    }

    /// Returns the specification of the query, with nothing left open.
    pub fn specification(&self) -> &CountSpecification {
        &self.specification
    }

    /// Returns the record of what was opened, but for the records: their hash is an exact function
    /// of them.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Pays for the answer, and returns it.
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
