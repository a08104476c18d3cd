//! A private choice of subspaces.

use serde::Serialize;

use crate::count::{CountPlan, PublicNoise, Sensitivity};
use crate::error::PrivacyError;
use crate::interval::Interval;
use crate::specification::SubspacesSpecification;
use crate::subspaces::{Chosen, SubspacePlan};
use probity_run::number::readable;
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

use super::{Bill, Data, QueryError, Remark, on_device, outliers, payment, record};

/// The summary of a choice of subspaces, the contents of `summary.json`.
#[derive(Debug, Serialize)]
pub struct SubspacesSummary {
    /// The version of this layout.
    pub schema_version: u32,
    /// The command, always `outliers subspaces`.
    pub command: &'static str,
    /// Whether the answer is private: its noise does not come from a seed.
    pub private: bool,
    /// The number of records.
    pub rows: usize,
    /// The radius: an outlier has fewer than `k` other records within it.
    pub radius: f64,
    /// The threshold `k`, as in `radius`.
    pub k: usize,
    /// The number of columns of a subspace.
    pub dims: usize,
    /// The number of subspaces that the choice was made among.
    pub candidates: usize,
    /// The subspaces that were chosen, in the order of choice.
    pub subspaces: Vec<SubspaceFigures>,
    /// The public part of the noise of each count, if counts were asked for.
    pub noise: Option<PublicNoise>,
    /// The sensitivity that scales the noise of each count.
    #[serde(skip)]
    pub sensitivity: Option<Sensitivity>,
    /// The bill.
    #[serde(flatten)]
    pub bill: Bill,
}

/// A subspace that was chosen.
#[derive(Debug, Serialize)]
pub struct SubspaceFigures {
    /// The columns of the subspace.
    pub columns: Vec<String>,
    /// The noisy count of outliers in the subspace.
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

    /// Returns the query on `device`; see [`Data::on`].
    #[must_use]
    pub fn on(mut self, device: &ComputeDevice) -> SubspacesQuery {
        self.record = on_device(self.record, device);
        self.data = self.data.on(device);
        self
    }

    /// Returns the specification of the query, with nothing left open.
    pub fn specification(&self) -> &SubspacesSpecification {
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
