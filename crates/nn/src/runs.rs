//! The kinds of runs of this crate, as the runner performs them: trainings and imports.

use super::import_run::{Import, ImportSpecification, ImportSummary};
use super::modality::ModalityName;
use super::train::run::{Trainable, Training, TrainingSummary};
use super::train::table_set::TableSet;
use super::train::text_set::TextSet;
use super::train::transformer_set::TransformerSet;
use super::train::{EpochReport, TrainSpecification};
use probity_run::device_name::DeviceName;
use probity_run::number::percent;
use probity_run::runner::{
    Failure, Observer, OpenedRun, Outcome, Progress, RunKind, Setting, Target, perform,
};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;
use probity_tensor::device::{ComputeDevice, DeviceError};

/// Opens the device called `name` to train networks for inputs of `modality`. Networks for texts
/// are trained on the CPU unless another device is named.
///
/// # Errors
/// When no device answers.
pub fn training_device(
    modality: ModalityName,
    name: DeviceName,
) -> Result<ComputeDevice, DeviceError> {
    match (modality, name) {
        (ModalityName::Text, DeviceName::Auto) => Ok(ComputeDevice::flex()),
        (_, name) => ComputeDevice::open(name),
    }
}

impl RunKind for TrainSpecification {
    const DIRECTORY: Option<&'static str> = Some("train");
    const GOES_ON: bool = true;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = training_device(specification.modality, setting.device)?;
        setting.place.expect_device(device.name(), None)?;
        match specification.modality {
            ModalityName::Table => {
                let training = Training::<TableSet>::open(specification, &device)?;
                perform(training, setting)?.written()
            }
            ModalityName::Text if specification.transformer.is_some() => {
                let training = Training::<TransformerSet>::open(specification, &device)?;
                perform(training, setting)?.written()
            }
            ModalityName::Text => {
                let training = Training::<TextSet>::open(specification, &device)?;
                perform(training, setting)?.written()
            }
        }
    }
}

impl<T: Trainable> OpenedRun for Training<T> {
    type Kind = TrainSpecification;
    type Summary = TrainingSummary;

    fn record(&self) -> Option<&Record> {
        Some(Training::record(self))
    }

    fn name_of(&self, role: &str) -> String {
        Training::name_of(self, role)
    }

    fn remark(&self, observer: &dyn Observer) {
        if let Some(text) = self.inputs().remark(self.specification()) {
            observer.remark(&text);
        }
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        // Whoever stops it here stops the first epoch.
        let _ = observer.observe(Progress::phase("prepare"));
        let (all, is_number) = (u64::from(self.pace().epochs), self.inputs().is_number());
        let observe = &mut |report: &EpochReport| {
            let message = || {
                let quality = report.validation_accuracy.map(|quality| match is_number {
                    true => format!(", validation R² {quality:.4}"),
                    false => format!(", validation accuracy {}", percent(quality)),
                });
                format!("loss {:.4}{}", report.loss, quality.unwrap_or_default())
            };
            let steps = (u64::from(report.epoch), all);
            observer.observe(Progress::new("train", steps, &message))
        };
        Ok(self.run(target.needed()?, target.goes_on(), observe)?)
    }
}

impl RunKind for ImportSpecification {
    const DIRECTORY: Option<&'static str> = Some("import");

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        perform(Import::open(specification)?, setting)?.written()
    }
}

impl OpenedRun for Import {
    type Kind = ImportSpecification;
    type Summary = ImportSummary;

    const STOPS: bool = false;

    fn record(&self) -> Option<&Record> {
        Some(self.record())
    }

    fn whole(self, target: Target<'_>, _: &dyn Observer) -> Result<Self::Summary, Failure> {
        self.run(target.needed()?)?;
        Ok(self.into_summary())
    }
}
