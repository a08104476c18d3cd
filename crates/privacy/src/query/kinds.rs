//! The kinds of private queries, as the runner performs them.

use std::fmt::Debug;

use serde::Serialize;
use thiserror::Error;

use super::{CountQuery, CountSummary, QueryError, Remark, SubspacesQuery, SubspacesSummary};
use crate::specification::{CountSpecification, SubspacesSpecification};
use probity_run::runner::{
    Failure, Observer, OpenedRun, Outcome, RunKind, Setting, Target, perform,
};
use probity_run::specification::file::Record;
use probity_run::specification::{Checked, Specification};
use probity_tensor::device::ComputeDevice;

/// The failure to write an answer that was paid for.
#[derive(Debug, Error)]
#[error("{source}")]
pub struct Unwritten<T: Debug> {
    /// The answer.
    pub answer: T,
    /// The reason of the failure.
    source: Failure,
}

impl RunKind for CountSpecification {
    const DIRECTORY: Option<&'static str> = None;
    const IS_PAID: bool = true;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = ComputeDevice::open(setting.device)?;
        perform(CountQuery::open(specification)?.on(&device), setting)?.written()
    }
}

impl RunKind for SubspacesSpecification {
    const DIRECTORY: Option<&'static str> = None;
    const IS_PAID: bool = true;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = ComputeDevice::open(setting.device)?;
        perform(SubspacesQuery::open(specification)?.on(&device), setting)?.written()
    }
}

impl OpenedRun for CountQuery {
    type Kind = CountSpecification;
    type Summary = CountSummary;

    const STOPS: bool = false;

    /// Private answers are not repeated, and say nothing of the data.
    fn record(&self) -> Option<&Record> {
        None
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        let answer = self.answer(&mut |remark| tell(remark, observer));
        written(answer, (self.specification(), self.record()), target)
    }
}

impl OpenedRun for SubspacesQuery {
    type Kind = SubspacesSpecification;
    type Summary = SubspacesSummary;

    const STOPS: bool = false;

    /// Private answers are not repeated, and say nothing of the data.
    fn record(&self) -> Option<&Record> {
        None
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        let answer = self.answer(&mut |remark| tell(remark, observer));
        written(answer, (self.specification(), self.record()), target)
    }
}

/// Passes a remark on a query that is answered to the observer.
fn tell(remark: Remark<'_>, observer: &dyn Observer) {
    match remark {
        Remark::Waits(ledger) => observer.remark(&format!(
            "another process is charging {}; waiting for it",
            ledger.display()
        )),
        Remark::NotPrivate => observer.remark(
            "NOT PRIVATE: the noise follows from a seed; whoever knows it can take it off.",
        ),
    }
}

/// Writes an `answer` to its directory, where it has one. The time when the run ended is left out:
/// with the time of the charge it would say how long the answer took, which depends on the records.
fn written<S: Specification, T: Serialize + Debug + Send + Sync + 'static>(
    answer: Result<T, QueryError>,
    (specification, record): (&S, &Record),
    target: Target<'_>,
) -> Result<T, Failure> {
    let answer = answer?;
    if let Some(directory) = target.directory() {
        let write = || -> Result<(), Failure> {
            directory.write_run(specification, record)?;
            Ok(directory.write_summary_without_time(&answer)?)
        };
        if let Err(source) = write() {
            return Err(Unwritten { answer, source }.into());
        }
    }
    Ok(answer)
}
