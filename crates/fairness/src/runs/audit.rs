//! Audits, as the runner performs them.

use std::path::Path;

use super::fastest::Searched;
use super::watched;
use crate::audit::{Audit, AuditSummary};
use crate::modality::{Modality, ModalityName, TableCase, TextCase};
use crate::session::AuditProgress;
use crate::shards::MergedAudit;
use crate::specification::AuditSpecification;
use probity_run::run_directory::RunDirectory;
use probity_run::runner::{
    Failure, Merged, Observer, OpenedRun, Outcome, Progress, RunKind, Setting, ShutdownHook,
    Target, perform,
};
use probity_run::shards::{Shard, ShardFolder, Worked};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;

impl RunKind for AuditSpecification {
    const DIRECTORY: Option<&'static str> = Some("audit");
    const GOES_ON: bool = true;
    const IS_DIVISIBLE: bool = true;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let searched = Searched {
            modality: specification.modality,
            model: specification.model.as_deref(),
            predictor: &specification.predictor,
        };
        let device = searched.device(&setting)?;
        setting.place.expect_device(device.name(), None)?;
        match specification.modality {
            ModalityName::Table => {
                let audit = Audit::<TableCase>::open(specification, &device)?;
                perform(audit, setting)?.written()
            }
            ModalityName::Text => {
                let audit = Audit::<TextCase>::open(specification, &device)?;
                perform(audit, setting)?.written()
            }
        }
    }
}

impl<M: Modality> OpenedRun for Audit<M> {
    type Kind = AuditSpecification;
    type Summary = AuditSummary<M::Details>;

    fn record(&self) -> Option<&Record> {
        Some(Audit::record(self))
    }

    fn name_of(&self, role: &str) -> String {
        self.specification().name_of(role)
    }

    fn ender(&self) -> Option<ShutdownHook> {
        watched::ender_of(self.case())
    }

    fn remark(&self, observer: &dyn Observer) {
        watched::remark_on(self.case(), observer);
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        // Whoever stops it here stops the first round.
        let _ = observer.observe(Progress::phase("prepare"));
        let observe =
            &mut |progress: AuditProgress<'_>| watched::observe(observer, M::NAME, progress);
        Ok(self.run(target.needed()?, target.goes_on(), observe)?)
    }

    fn folder(&self, path: &Path) -> Result<ShardFolder, Failure> {
        Ok(self.shard_folder(path)?)
    }

    fn work(
        &self,
        folder: &ShardFolder,
        shard: Shard,
        observer: &dyn Observer,
    ) -> Result<Worked, Failure> {
        let observe =
            &mut |progress: AuditProgress<'_>| watched::observe(observer, M::NAME, progress);
        Ok(Audit::work(self, folder, shard, observe)?)
    }

    fn merge(
        &self,
        folder: &ShardFolder,
        directory: &mut dyn FnMut() -> Result<RunDirectory, Failure>,
        observer: &dyn Observer,
    ) -> Result<Merged<Self::Summary>, Failure> {
        let observe =
            &mut |progress: AuditProgress<'_>| watched::observe(observer, M::NAME, progress);
        Ok(
            match Audit::merge::<Failure>(self, folder, directory, observe)? {
                MergedAudit::Starts { starts } => Merged::Starts(starts),
                MergedAudit::Complete(summary) => Merged::Complete(*summary),
            },
        )
    }
}
