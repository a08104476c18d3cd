//! Robustness runs, as the runner performs them.

use std::path::Path;

use super::{
    MergedVerdicts, RobustnessProgress, RobustnessSummary, ShardedInputs, check, decide_robustness,
};
use crate::inputs::Inputs;
use crate::specification::RobustnessSpecification;
use probity_run::run_directory::RunDirectory;
use probity_run::runner::{
    Failure, Merged, Observer, OpenedRun, Outcome, Progress, RunKind, Setting, Target, perform,
};
use probity_run::shards::{Shard, ShardFolder, Worked, merged, work};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// A robustness run whose inputs are read and checked; nothing is written yet.
pub struct Robustness {
    specification: RobustnessSpecification,
    record: Record,
    inputs: Inputs,
    device: ComputeDevice,
}

impl Robustness {
    /// Reads the files that `specification` names, and checks them for every threshold.
    ///
    /// # Errors
    /// When a file cannot be read, or parameters do not fit what it holds.
    pub fn open(
        specification: Checked<RobustnessSpecification>,
        device: ComputeDevice,
    ) -> Result<Robustness, Failure> {
        let inputs = specification.read()?;
        let specification = specification.into_inner().resolved(inputs.training.rows());
        let record = Record {
            device: Some(device.name().to_string()),
            hardware: Some(device.hardware()),
            ..specification.record(&inputs)?
        };
        for &poison in &specification.analysis.poison {
            check(&specification.learning, &inputs, poison)?;
        }
        Ok(Robustness {
            specification,
            record,
            inputs,
            device,
        })
    }

    /// The training set T and the test inputs.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Returns the test inputs as items of shards.
    fn items<'a>(
        &'a self,
        observer: &'a dyn Observer,
        observe: &'a mut dyn FnMut(RobustnessProgress),
    ) -> ShardedInputs<'a> {
        ShardedInputs {
            run: &self.specification,
            inputs: &self.inputs,
            device: &self.device,
            stop: observer.stop(),
            observe,
        }
    }
}

impl RunKind for RobustnessSpecification {
    const DIRECTORY: Option<&'static str> = Some("knn");
    const IS_DIVISIBLE: bool = true;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = ComputeDevice::open(setting.device)?;
        perform(Robustness::open(specification, device)?, setting)?.written()
    }
}

/// Shows `observer` how far a run is; it is stopped by [`Observer::stop`].
fn watching(observer: &dyn Observer) -> impl FnMut(RobustnessProgress) {
    move |progress| {
        let _ = match progress {
            RobustnessProgress::Learning { poison } => {
                let message = || format!("n = {poison}");
                observer.observe(Progress::new("learn", (0, 0), &message))
            }
            RobustnessProgress::Bounding { poison } => {
                let message = || format!("K, n = {poison}");
                observer.observe(Progress::new("bound", (0, 0), &message))
            }
            RobustnessProgress::Inputs {
                done,
                all,
                falsified,
                ..
            } => {
                let message = || format!("{falsified} falsified");
                observer.observe(Progress::new("inputs", (done, all), &message))
            }
        };
    }
}

impl OpenedRun for Robustness {
    type Kind = RobustnessSpecification;
    type Summary = RobustnessSummary;

    fn record(&self) -> Option<&Record> {
        Some(&self.record)
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        Ok(decide_robustness(
            &self.specification,
            &self.record,
            &self.inputs,
            target.needed()?,
            &self.device,
            observer.stop(),
            &mut watching(observer),
        )?)
    }

    fn folder(&self, path: &Path) -> Result<ShardFolder, Failure> {
        let (specification, record) = (&self.specification, &self.record);
        Ok(ShardFolder::for_run(path, specification, record)?)
    }

    fn work(
        &self,
        folder: &ShardFolder,
        shard: Shard,
        observer: &dyn Observer,
    ) -> Result<Worked, Failure> {
        let mut observe = watching(observer);
        work(&mut self.items(observer, &mut observe), folder, shard)
    }

    fn merge(
        &self,
        folder: &ShardFolder,
        directory: &mut dyn FnMut() -> Result<RunDirectory, Failure>,
        observer: &dyn Observer,
    ) -> Result<Merged<Self::Summary>, Failure> {
        let mut observe = watching(observer);
        let verdicts = merged(&self.items(observer, &mut observe), folder)?;
        let (specification, inputs) = (&self.specification, &self.inputs);
        let verdicts = MergedVerdicts::merge(specification, folder.path(), verdicts)?;
        let summary = verdicts.write(specification, &self.record, inputs, &directory()?)?;
        Ok(Merged::Complete(summary))
    }
}
