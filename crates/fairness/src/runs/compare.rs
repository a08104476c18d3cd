//! Comparisons of strategies, as the runner performs them.

use std::ops::ControlFlow;
use std::path::Path;

use super::fastest::Searched;
use super::watched;
use crate::compare::{CompareSummary, Comparison};
use crate::modality::{Modality, ModalityName, TableCase, TextCase};
use crate::session::AuditProgress;
use crate::specification::CompareSpecification;
use crate::strategies::StrategyName;
use probity_run::run_directory::RunDirectory;
use probity_run::runner::{
    Failure, Merged, Observer, OpenedRun, Outcome, RunKind, Setting, ShutdownHook, Target, perform,
};
use probity_run::shards::{Shard, ShardFolder, Worked, merged, work};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;

impl RunKind for CompareSpecification {
    const DIRECTORY: Option<&'static str> = Some("compare");
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
                let comparison = Comparison::<TableCase>::open(specification, &device)?;
                perform(comparison, setting)?.written()
            }
            ModalityName::Text => {
                let comparison = Comparison::<TextCase>::open(specification, &device)?;
                perform(comparison, setting)?.written()
            }
        }
    }
}

/// Shows `observer` how far each search is, and says which one begins.
fn watching(
    observer: &dyn Observer,
    modality: ModalityName,
    repeats: u32,
) -> impl FnMut(StrategyName, u32, AuditProgress<'_>) -> ControlFlow<()> {
    let mut under_way = None;
    move |strategy, repeat, progress| {
        if under_way.replace((strategy, repeat)) != Some((strategy, repeat)) {
            let name = strategy.name();
            observer.detail(&format!("{name}, repeat {} of {repeats}", repeat + 1));
        }
        watched::observe(observer, modality, progress)
    }
}

impl<M: Modality> OpenedRun for Comparison<M> {
    type Kind = CompareSpecification;
    type Summary = CompareSummary;

    fn record(&self) -> Option<&Record> {
        Some(Comparison::record(self))
    }

    fn name_of(&self, role: &str) -> String {
        self.specification().audit(0).name_of(role)
    }

    fn ender(&self) -> Option<ShutdownHook> {
        watched::ender_of(self.case())
    }

    fn remark(&self, observer: &dyn Observer) {
        watched::remark_on(self.case(), observer);
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        let mut observe = watching(observer, M::NAME, self.specification().repeats);
        Ok(self.run(target.needed()?, target.goes_on(), &mut observe)?)
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
        let mut observe = watching(observer, M::NAME, self.specification().repeats);
        work(&mut self.searches(&mut observe), folder, shard)
    }

    fn merge(
        &self,
        folder: &ShardFolder,
        directory: &mut dyn FnMut() -> Result<RunDirectory, Failure>,
        observer: &dyn Observer,
    ) -> Result<Merged<Self::Summary>, Failure> {
        let mut observe = watching(observer, M::NAME, self.specification().repeats);
        let searches = merged(&self.searches(&mut observe), folder)?;
        Ok(Merged::Complete(Comparison::merge(
            self,
            searches,
            &directory()?,
        )?))
    }
}
