//! Repairs, as the runner performs them.

use crate::modality::ModalityName;
use crate::repair::error::RepairError;
use crate::repair::summary::RepairSummary;
use crate::repair::{
    Repair, RepairProgress, RepairSpecification, Repairable, TableRepair, TextRepair,
    TransformerLearner,
};
use probity_nn::runs::training_device;
use probity_nn::transformer_model::is_transformer;
use probity_run::number::count;
use probity_run::runner::{
    Failure, Observer, OpenedRun, Outcome, Progress, RunKind, Setting, Target, perform,
};
use probity_run::specification::Checked;
use probity_run::specification::file::Record;

impl RunKind for RepairSpecification {
    const DIRECTORY: Option<&'static str> = Some("repair");
    const GOES_ON: bool = true;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = training_device(specification.modality, setting.device)?;
        setting.place.expect_device(device.name(), None)?;
        match specification.modality {
            ModalityName::Table => {
                let repair = Repair::<TableRepair>::open(specification, &device)?;
                perform(repair, setting)?.written()
            }
            ModalityName::Text if is_transformer(&specification.model) => {
                type OfTransformers = TextRepair<TransformerLearner>;
                let repair = Repair::<OfTransformers>::open(specification, &device)?;
                perform(repair, setting)?.written()
            }
            ModalityName::Text => {
                let repair = Repair::<TextRepair>::open(specification, &device)?;
                perform(repair, setting)?.written()
            }
        }
    }
}

impl<R: Repairable> OpenedRun for Repair<R> {
    type Kind = RepairSpecification;
    type Summary = RepairSummary<R::Figures, R::Details>;

    fn record(&self) -> Option<&Record> {
        Some(Repair::record(self))
    }

    fn name_of(&self, role: &str) -> String {
        Repair::name_of(self, role)
    }

    fn remark(&self, observer: &dyn Observer) {
        for run in self.runs().iter().filter(|run| run.held_out > 0) {
            observer.remark(&format!(
                "note: {} of the individuals in {} were found from held-out inputs and are left out",
                count(run.held_out),
                run.run.display()
            ));
        }
    }

    fn is_final(error: &Failure) -> bool {
        let error = error.downcast_ref();
        matches!(error, Some(RepairError::NothingFound { .. }))
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        // Whoever stops it here stops what comes first.
        let _ = observer.observe(Progress::phase("prepare"));
        let observe = &|progress| match progress {
            RepairProgress::Search => observer.observe(Progress::phase("search")),
            RepairProgress::Train { epochs, all } => {
                observer.observe(Progress::new("train", (epochs, all), &String::new))
            }
        };
        Ok(self.run(target.needed()?, target.goes_on(), observe)?)
    }
}
