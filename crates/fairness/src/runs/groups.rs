//! Measurements of groups, as the runner performs them.

use crate::group::run::{GroupMeasurement, GroupRunSummary};
use crate::group::specification::GroupsSpecification;
use probity_run::runner::{
    Failure, Observer, OpenedRun, Outcome, RunKind, Setting, Target, perform,
};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;

impl RunKind for GroupsSpecification {
    const DIRECTORY: Option<&'static str> = None;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = specification.predictor.device(setting.device)?;
        let measurement = GroupMeasurement::open(specification, &device)?;
        perform(measurement, setting)?.written()
    }
}

impl OpenedRun for GroupMeasurement {
    type Kind = GroupsSpecification;
    type Summary = GroupRunSummary;

    const STOPS: bool = false;

    fn record(&self) -> Option<&Record> {
        Some(self.record())
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        let summary = self.run()?;
        for remark in &summary.remarks {
            observer.remark(remark);
        }
        if let Some(directory) = target.directory() {
            directory.write_whole(self.specification(), self.record(), &summary)?;
        }
        Ok(summary)
    }
}
