//! Runs: a specification from keyword arguments, performed as on the command line.

use std::error::Error;
use std::path::PathBuf;

use probity::fairness::audit::{Audit, AuditSpecification};
use probity::fairness::certify::run::{Certifiable, Certification, CertifySpecification};
use probity::fairness::certify::table::CertifiableTable;
use probity::fairness::certify::text::CertifiableTexts;
use probity::fairness::compare::{CompareSpecification, Comparison};
use probity::fairness::group::run::{GroupMeasurement, GroupsSpecification};
use probity::fairness::modality::{Modality, ModalityName, TableCase, TextCase};
use probity::fairness::repair::{
    Repair, RepairProgress, RepairSpecification, Repairable, TableRepair, TextRepair,
};
use probity::fairness::session::AuditProgress;
use probity::knn::run::{RobustnessProgress, check, decide_robustness};
use probity::knn::specification::RobustnessSpecification;
use probity::nn::import_run::{Import, ImportSpecification};
use probity::nn::train::run::{Trainable, Training};
use probity::nn::train::table_set::TableSet;
use probity::nn::train::text_set::TextSet;
use probity::nn::train::{EpochReport, TrainSpecification};
use probity::run::place::Place;
use probity::run::run_directory::RunDirectory;
use probity::run::specification::file::Record;
use probity::run::specification::{Checked, Given, Specification};
use probity::tensor::device::{ComputeDevice, DeviceName};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use super::errors;
use super::watch::Watch;

/// The limit of time of a search.
const TIME: &str = "budget.time";

type Failure = Box<dyn Error + Send + Sync>;

/// What a run needs besides its specification.
struct Setting<'a> {
    out: PathBuf,
    goes_on: bool,
    device: DeviceName,
    watch: &'a Watch,
}

impl Setting<'_> {
    fn device(&self) -> Result<ComputeDevice, Failure> {
        Ok(ComputeDevice::open(self.device)?)
    }

    /// Networks for texts are trained on the CPU.
    fn trainer(&self, modality: ModalityName) -> Result<ComputeDevice, Failure> {
        match (modality, self.device) {
            (ModalityName::Text, DeviceName::Auto) => Ok(ComputeDevice::flex()),
            _ => self.device(),
        }
    }

    fn epoch(&self, report: &EpochReport, epochs: u32) -> std::ops::ControlFlow<()> {
        let done = (u64::from(report.epoch), u64::from(epochs));
        let message = || format!("loss {:.4}", report.loss);
        self.watch.tell("train", done, message)
    }

    fn search(&self, progress: AuditProgress<'_>) -> std::ops::ControlFlow<()> {
        match progress {
            AuditProgress::Search {
                rounds: (done, all),
                is_local,
                found,
                ..
            } => {
                let phase = if is_local { "local" } else { "global" };
                let message = || format!("{found} found");
                self.watch
                    .tell(phase, (u64::from(done), u64::from(all)), message)
            }
            AuditProgress::Estimate { done, all } => {
                self.watch.tell("estimate", (done, all), String::new)
            }
            AuditProgress::Write => self.watch.tell("write", (0, 1), String::new),
        }
    }
}

/// What kinds of runs there are: the fields of each, and how it is performed.
type Kind = (
    &'static str,
    fn() -> Value,
    fn(Map<String, Value>, Setting<'_>) -> Result<(), Failure>,
);

const KINDS: [Kind; 8] = [
    (
        AuditSpecification::KIND,
        fields_of::<AuditSpecification>,
        |options, setting| {
            let (specification, place) = begun::<AuditSpecification>(options, &setting)?;
            match specification.modality {
                ModalityName::Table => audit::<TableCase>(specification, place, &setting),
                ModalityName::Text => audit::<TextCase>(specification, place, &setting),
            }
        },
    ),
    (
        TrainSpecification::KIND,
        fields_of::<TrainSpecification>,
        |options, setting| {
            let (specification, place) = begun::<TrainSpecification>(options, &setting)?;
            match specification.modality {
                ModalityName::Table => train::<TableSet>(specification, place, &setting),
                ModalityName::Text => train::<TextSet>(specification, place, &setting),
            }
        },
    ),
    (
        ImportSpecification::KIND,
        fields_of::<ImportSpecification>,
        |options, setting| {
            let (specification, place) = begun::<ImportSpecification>(options, &setting)?;
            let import = Import::open(specification)?;
            let (directory, _) = directory(place, &setting)?;
            import.run(&directory)?;
            Ok(())
        },
    ),
    (
        RepairSpecification::KIND,
        fields_of::<RepairSpecification>,
        |options, setting| {
            let (specification, place) = begun::<RepairSpecification>(options, &setting)?;
            match specification.modality {
                ModalityName::Table => repair::<TableRepair>(specification, place, &setting),
                ModalityName::Text => repair::<TextRepair>(specification, place, &setting),
            }
        },
    ),
    (
        CompareSpecification::KIND,
        fields_of::<CompareSpecification>,
        |options, setting| {
            let (specification, place) = begun(options, &setting)?;
            compare(specification, place, &setting)
        },
    ),
    (
        GroupsSpecification::KIND,
        fields_of::<GroupsSpecification>,
        |options, setting| {
            let (specification, place) = begun::<GroupsSpecification>(options, &setting)?;
            let device = setting.device()?;
            let measurement = GroupMeasurement::open(specification, &device)?;
            let summary = measurement.run(&device)?;
            let (directory, _) = directory(place, &setting)?;
            directory.write_run(measurement.specification(), measurement.record())?;
            Ok(directory.write_summary(&summary)?)
        },
    ),
    (
        CertifySpecification::KIND,
        fields_of::<CertifySpecification>,
        |options, setting| {
            let (specification, place) = begun::<CertifySpecification>(options, &setting)?;
            match specification.modality {
                ModalityName::Table => certify::<CertifiableTable>(specification, place, &setting),
                ModalityName::Text => certify::<CertifiableTexts>(specification, place, &setting),
            }
        },
    ),
    (
        RobustnessSpecification::KIND,
        fields_of::<RobustnessSpecification>,
        |options, setting| {
            let (specification, place) = begun(options, &setting)?;
            knn(specification, place, &setting)
        },
    ),
];

fn kind(name: &str) -> PyResult<&'static Kind> {
    let known = KINDS.iter().find(|(known, ..)| *known == name);
    known.ok_or_else(|| PyValueError::new_err(format!("there are no runs of the kind '{name}'")))
}

fn fields_of<S: Specification>() -> Value {
    let fields = S::fields().into_iter().map(|field| {
        json!({
            "path": field.path,
            "name": field.flag().map(|flag| flag.replace('-', "_")),
            "help": field.help,
            "default": field.default,
            "required": field.is_required,
        })
    });
    fields.collect()
}

/// The fields of the specification of a kind of run, as JSON: path, name, help, default.
#[pyfunction]
pub(crate) fn fields(of: &str) -> PyResult<String> {
    Ok(kind(of)?.1().to_string())
}

/// Performs a run of a kind, in the directory `out`. `options` are fields of its specification, by
/// name, as JSON; a run that `goes_on` has them already. `progress` is told phase, steps done, steps
/// in all, and a word.
#[pyfunction]
#[pyo3(signature = (of, options, out, goes_on=false, device="auto", progress=None))]
pub(crate) fn perform(
    py: Python<'_>,
    of: &str,
    options: &str,
    out: PathBuf,
    goes_on: bool,
    device: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let (.., perform) = kind(of)?;
    let options = serde_json::from_str(options).map_err(|error| errors::exception(&error))?;
    let device: DeviceName = device.parse().map_err(|error| errors::exception(&error))?;
    let watch = Watch::new(progress);
    let outcome = py.detach(|| {
        perform(
            options,
            Setting {
                out,
                goes_on,
                device,
                watch: &watch,
            },
        )
    });
    // An exception of Python stopped it, which is what the caller expects.
    if let Some(raised) = watch.raised() {
        return Err(raised);
    }
    outcome.map_err(|error| errors::exception(error.as_ref()))
}

/// The specification, and where its run is written.
fn begun<S: Specification>(
    options: Map<String, Value>,
    setting: &Setting<'_>,
) -> Result<(Checked<S>, Place), Failure> {
    let given = Given::<S>::named(options)?;
    if !setting.goes_on {
        return Ok((
            given.specification()?,
            Place::New(Some(setting.out.clone())),
        ));
    }
    let (place, began) = Place::unfinished::<S>(&setting.out)?;
    let mut changes = given.changes(&began);
    // Without another limit the run goes on to its end.
    if !given.is_given(TIME) {
        changes.set(TIME, Value::Null);
    }
    Ok((changes.resumed(&began)?, place))
}

fn directory(place: Place, setting: &Setting<'_>) -> Result<(RunDirectory, bool), Failure> {
    Ok(place.directory(|| RunDirectory::create(&setting.out))?)
}

fn audit<M: Modality>(
    specification: Checked<AuditSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<(), Failure> {
    let device = setting.device()?;
    place.expect_device(device.name(), None)?;
    let audit = Audit::<M>::open(specification, &device)?;
    if let Some(began) = place.began() {
        audit.expect_unchanged(began)?;
    }
    let (directory, resume) = directory(place, setting)?;
    audit.run(&directory, resume, &mut |progress| setting.search(progress))?;
    Ok(())
}

fn train<T: Trainable>(
    specification: Checked<TrainSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<(), Failure> {
    let device = setting.trainer(specification.modality)?;
    place.expect_device(device.name(), None)?;
    let training = Training::<T>::open(specification, &device)?;
    if let Some(began) = place.began() {
        training.expect_unchanged(began)?;
    }
    let (directory, resume) = directory(place, setting)?;
    let epochs = training.pace().epochs;
    training.run(&directory, resume, &mut |report| {
        setting.epoch(report, epochs)
    })?;
    Ok(())
}

fn repair<R: Repairable>(
    specification: Checked<RepairSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<(), Failure> {
    let device = setting.trainer(specification.modality)?;
    place.expect_device(device.name(), None)?;
    let repair = Repair::<R>::open(specification, &device)?;
    if let Some(began) = place.began() {
        repair.expect_unchanged(began)?;
    }
    let (directory, resume) = directory(place, setting)?;
    repair.run(&directory, resume, &|progress| match progress {
        RepairProgress::Search => setting.watch.tell("search", (0, 0), String::new),
        RepairProgress::Train { epochs, all } => {
            setting.watch.tell("train", (epochs, all), String::new)
        }
    })?;
    Ok(())
}

fn compare(
    specification: Checked<CompareSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<(), Failure> {
    let device = setting.device()?;
    place.expect_device(device.name(), None)?;
    let comparison = Comparison::open(specification, &device)?;
    if let Some(began) = place.began() {
        comparison.expect_unchanged(began)?;
    }
    let (directory, resume) = directory(place, setting)?;
    comparison.run(&directory, resume, &mut |_, _, progress| {
        setting.search(progress)
    })?;
    Ok(())
}

fn certify<M: Certifiable>(
    specification: Checked<CertifySpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<(), Failure> {
    let certification = Certification::<M>::open(specification)?;
    let (directory, _) = directory(place, setting)?;
    certification.run(&directory, &mut |set| {
        // It cannot be stopped: an exception is raised when it is done.
        let _ = setting.watch.tell("certify", (set as u64, 0), String::new);
    })?;
    Ok(())
}

fn knn(
    specification: Checked<RobustnessSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<(), Failure> {
    let device = setting.device()?;
    let inputs = specification.read()?;
    let run = specification.into_inner().resolved(inputs.training.rows());
    let record = Record {
        device: Some(device.name().to_string()),
        hardware: Some(device.hardware()),
        ..run.record(&inputs)?
    };
    for &poison in &run.analysis.poison {
        check(&run.learning, &inputs, poison)?;
    }
    let (directory, _) = directory(place, setting)?;
    let watch = setting.watch;
    let observe = &mut |progress| {
        let _ = match progress {
            RobustnessProgress::Learning { .. } => watch.tell("learn", (0, 0), String::new),
            RobustnessProgress::Bounding { .. } => watch.tell("bound", (0, 0), String::new),
            RobustnessProgress::Inputs {
                done,
                all,
                falsified,
                ..
            } => watch.tell("inputs", (done, all), || format!("{falsified} falsified")),
        };
    };
    decide_robustness(
        &run,
        &record,
        &inputs,
        &directory,
        &device,
        watch.stop(),
        observe,
    )?;
    Ok(())
}
