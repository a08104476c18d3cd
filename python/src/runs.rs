//! Runs: a specification from keyword arguments, performed as on the command line.

use std::error::Error;
use std::path::PathBuf;

use probity::data::specification::{Separator, layout};
use probity::fairness::audit::{Audit, AuditSpecification};
use probity::fairness::certify::run::{Certifiable, Certification, CertifySpecification};
use probity::fairness::certify::table::CertifiableTable;
use probity::fairness::certify::text::CertifiableTexts;
use probity::fairness::compare::{CompareSpecification, Comparison};
use probity::fairness::explain::explain;
use probity::fairness::explain::specification::ExplainSpecification;
use probity::fairness::group::run::{GroupMeasurement, GroupsSpecification};
use probity::fairness::modality::{Modality, ModalityName, TableCase, TextCase};
use probity::fairness::prove::run::{Proof, ProofProgress, ProveSpecification};
use probity::fairness::repair::{
    Repair, RepairProgress, RepairSpecification, Repairable, TableRepair, TextRepair,
    TransformerLearner,
};
use probity::fairness::session::AuditProgress;
use probity::fairness::shards::MergedAudit;
use probity::fairness::strategies::StrategyName;
use probity::knn::run::{
    MergedVerdicts, RobustnessProgress, ShardedInputs, check, decide_robustness,
};
use probity::knn::specification::RobustnessSpecification;
use probity::nn::import_run::{Import, ImportSpecification};
use probity::nn::train::run::{Trainable, Training};
use probity::nn::train::table_set::TableSet;
use probity::nn::train::text_set::TextSet;
use probity::nn::train::transformer_set::TransformerSet;
use probity::nn::train::{EpochReport, TrainSpecification};
use probity::nn::transformer_model::is_transformer;
use probity::privacy::ledger::read;
use probity::privacy::query::{CountQuery, Declaration, SubspacesQuery};
use probity::privacy::specification::{CountSpecification, SubspacesSpecification};
use probity::run::place::Place;
use probity::run::run_directory::RunDirectory;
use probity::run::shards::{Part, ShardFolder, Worked, merged, work};
use probity::run::specification::file::Record;
use probity::run::specification::{Checked, FieldError, Given, Specification};
use probity::tensor::device::{ComputeDevice, DeviceName, most_threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use serde_json::{Map, Value, json};

use super::errors;
use super::watch::Watch;

type Failure = Box<dyn Error + Send + Sync>;

/// What a run needs besides its specification.
struct Setting<'a> {
    out: PathBuf,
    goes_on: bool,
    part: Part,
    /// Whether a shard is only opened, so that all that can be refused is.
    is_check: bool,
    device: DeviceName,
    watch: &'a Watch,
}

impl Setting<'_> {
    fn device(&self) -> Result<ComputeDevice, Failure> {
        Ok(ComputeDevice::open(self.device)?)
    }

    /// Networks for texts are trained on the CPU unless another device is named.
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
            AuditProgress::Population { done, all } => {
                self.watch.tell("population", (done, all), String::new)
            }
            AuditProgress::Estimate { done, all } => {
                self.watch.tell("estimate", (done, all), String::new)
            }
            AuditProgress::Write => self.watch.tell("write", (0, 1), String::new),
        }
    }
}

/// What is said of a part of a run that is done (stage and items of a shard, starts after a merge),
/// and the answer to what leaves no run.
type Said = Value;

/// What kinds of runs there are: the fields of each, and how it is performed.
type Kind = (
    &'static str,
    fn() -> Value,
    fn(Map<String, Value>, Setting<'_>) -> Result<Said, Failure>,
);

fn said(worked: Worked) -> Said {
    match worked {
        Worked::Done { stage, items } => json!({ "stage": stage, "items": items }),
        Worked::WasThere { stage } => json!({ "stage": stage }),
        Worked::Stopped => json!({ "stopped": true }),
    }
}

fn expect_threads(threads: usize) -> Result<(), FieldError> {
    let most = most_threads();
    match (1..=most).contains(&threads) {
        true => Ok(()),
        false => Err(FieldError::new(
            "threads",
            threads,
            format!("from 1 to {most}"),
        )),
    }
}

/// Refuses to do a part of a run of a kind that cannot be cut.
fn expect_whole<S: Specification>(setting: &Setting<'_>) -> Result<(), Failure> {
    match setting.part {
        Part::Whole => Ok(()),
        _ => Err(format!("a run of the kind '{}' cannot be cut into shards", S::KIND).into()),
    }
}

const KINDS: [Kind; 12] = [
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
                ModalityName::Text if specification.transformer.is_some() => {
                    train::<TransformerSet>(specification, place, &setting)
                }
                ModalityName::Text => train::<TextSet>(specification, place, &setting),
            }
        },
    ),
    (
        ImportSpecification::KIND,
        fields_of::<ImportSpecification>,
        |options, setting| {
            let (specification, place) = begun::<ImportSpecification>(options, &setting)?;
            expect_whole::<ImportSpecification>(&setting)?;
            let import = Import::open(specification)?;
            let (directory, _) = directory(place, &setting)?;
            import.run(&directory)?;
            Ok(Value::Null)
        },
    ),
    (
        RepairSpecification::KIND,
        fields_of::<RepairSpecification>,
        |options, setting| {
            let (specification, place) = begun::<RepairSpecification>(options, &setting)?;
            match specification.modality {
                ModalityName::Table => repair::<TableRepair>(specification, place, &setting),
                ModalityName::Text if is_transformer(&specification.model) => {
                    repair::<TextRepair<TransformerLearner>>(specification, place, &setting)
                }
                ModalityName::Text => repair::<TextRepair>(specification, place, &setting),
            }
        },
    ),
    (
        CompareSpecification::KIND,
        fields_of::<CompareSpecification>,
        |options, setting| {
            let (specification, place) = begun::<CompareSpecification>(options, &setting)?;
            match specification.modality {
                ModalityName::Table => compare::<TableCase>(specification, place, &setting),
                ModalityName::Text => compare::<TextCase>(specification, place, &setting),
            }
        },
    ),
    (
        GroupsSpecification::KIND,
        fields_of::<GroupsSpecification>,
        |options, setting| {
            let (specification, place) = begun::<GroupsSpecification>(options, &setting)?;
            expect_whole::<GroupsSpecification>(&setting)?;
            let device = setting.device()?;
            let measurement = GroupMeasurement::open(specification, &device)?;
            let summary = measurement.run(&device)?;
            let (directory, _) = directory(place, &setting)?;
            directory.write_whole(measurement.specification(), measurement.record(), &summary)?;
            Ok(Value::Null)
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
        ProveSpecification::KIND,
        fields_of::<ProveSpecification>,
        |options, setting| {
            let (specification, place) = begun(options, &setting)?;
            prove(specification, place, &setting)
        },
    ),
    (
        ExplainSpecification::KIND,
        fields_of::<ExplainSpecification>,
        |options, _| {
            let specification = Given::<ExplainSpecification>::named(options)?.specification()?;
            Ok(serde_json::to_value(explain(&specification)?)?)
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
    (
        CountSpecification::KIND,
        fields_of::<CountSpecification>,
        |options, setting| {
            expect_whole::<CountSpecification>(&setting)?;
            let (specification, place) = begun(options, &setting)?;
            let query = CountQuery::open(specification)?;
            let (directory, _) = directory(place, &setting)?;
            let answer = query.answer(&mut |_| {})?;
            directory.write_run(query.specification(), query.record())?;
            directory.write_summary_without_time(&answer)?;
            Ok(Value::Null)
        },
    ),
    (
        SubspacesSpecification::KIND,
        fields_of::<SubspacesSpecification>,
        |options, setting| {
            expect_whole::<SubspacesSpecification>(&setting)?;
            let (specification, place) = begun(options, &setting)?;
            let query = SubspacesQuery::open(specification)?;
            let (directory, _) = directory(place, &setting)?;
            let answer = query.answer(&mut |_| {})?;
            directory.write_run(query.specification(), query.record())?;
            directory.write_summary_without_time(&answer)?;
            Ok(Value::Null)
        },
    ),
];

/// What the owner of data says of a budget.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    data: PathBuf,
    epsilon: f64,
    #[serde(default)]
    delta: f64,
    slack: Option<f64>,
    #[serde(default)]
    columns: Vec<String>,
    schema: Option<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    separator: Separator,
}

/// Declares a budget in the new `ledger`: data, epsilon, delta, slack, columns, schema, as JSON.
#[pyfunction]
pub(crate) fn declare_budget(ledger: PathBuf, declared: &str) -> PyResult<()> {
    let declared: Declared =
        serde_json::from_str(declared).map_err(|error| errors::exception(&error))?;
    let declaration = Declaration {
        data: declared.data,
        epsilon: declared.epsilon,
        delta: declared.delta,
        slack: declared.slack,
        columns: declared.columns,
        schema: declared.schema,
        layout: layout(declared.separator, &declared.names),
    };
    declaration
        .declare(&ledger)
        .map_err(|error| errors::exception(&error))?;
    Ok(())
}

/// What is left in `ledger`: ε, and δ.
#[pyfunction]
pub(crate) fn budget_left(ledger: PathBuf) -> PyResult<(f64, f64)> {
    let ledger = read(&ledger).map_err(|error| errors::exception(&error))?;
    let left = ledger.remaining();
    Ok((left.epsilon, left.delta))
}

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

/// Performs a run of a kind, in the directory `out`. With `check` a shard is only opened, and all is
/// refused that can be. `options` are fields of its specification, by
/// name, as JSON; a run that `goes_on` has them already. With `shard`, such as `3/16`, that shard
/// is done, and `out` is the folder of all of them; with `merge`, a folder of shards, they are put
/// together in `out`. `progress` is told phase, steps done, steps in all, and a word. What is said
/// of a part comes back as JSON, and so does an explanation, which leaves no run in `out`.
#[pyfunction]
#[pyo3(signature = (of, options, out, goes_on=false, device="auto", progress=None, shard=None, merge=None, threads=None, check=false))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn perform(
    py: Python<'_>,
    of: &str,
    options: &str,
    out: PathBuf,
    goes_on: bool,
    device: &str,
    progress: Option<Py<PyAny>>,
    shard: Option<&str>,
    merge: Option<PathBuf>,
    threads: Option<usize>,
    check: bool,
) -> PyResult<String> {
    let (.., perform) = kind(of)?;
    let part = match (shard, merge) {
        (Some(shard), _) => Part::Shard {
            folder: out.clone(),
            shard: shard.parse().map_err(|error| errors::exception(&error))?,
        },
        (None, Some(folder)) => Part::Merge { folder },
        (None, None) => Part::Whole,
    };
    let options = serde_json::from_str(options).map_err(|error| errors::exception(&error))?;
    let device: DeviceName = device.parse().map_err(|error| errors::exception(&error))?;
    let watch = Watch::new(progress);
    let setting = Setting {
        out,
        goes_on,
        part,
        is_check: check,
        device,
        watch: &watch,
    };
    let outcome = py.detach(|| match threads {
        None => perform(options, setting),
        Some(threads) => {
            expect_threads(threads)?;
            let threads = ThreadPoolBuilder::new().num_threads(threads).build()?;
            watch.during(|| threads.install(|| perform(options, setting)))
        }
    });
    // An exception of Python stopped it, which is what the caller expects.
    if let Some(raised) = watch.raised() {
        return Err(raised);
    }
    let said = outcome.map_err(|error| errors::exception(error.as_ref()))?;
    Ok(said.to_string())
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
    if let Some(limit) = S::limit_of_time().filter(|limit| !given.is_given(limit)) {
        changes.set(limit, Value::Null);
    }
    Ok((changes.resumed(&began)?, place))
}

/// The directory that shards are merged into, which may hold what a merge that was stopped left.
fn merged_into<S: Specification>(
    folder: &ShardFolder,
    setting: &Setting<'_>,
) -> Result<RunDirectory, Failure> {
    let out = &setting.out;
    Ok(folder.directory::<S>(Some(out), || RunDirectory::create(out))?)
}

fn directory(place: Place, setting: &Setting<'_>) -> Result<(RunDirectory, bool), Failure> {
    Ok(place.directory(|| RunDirectory::create(&setting.out))?)
}

fn audit<M: Modality>(
    specification: Checked<AuditSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<Said, Failure> {
    let device = setting.device()?;
    place.expect_device(device.name(), None)?;
    let audit = Audit::<M>::open(specification, &device)?;
    if let Some(began) = place.began() {
        audit.expect_unchanged(began)?;
    }
    let observe = &mut |progress: AuditProgress<'_>| setting.search(progress);
    match &setting.part {
        Part::Whole => {
            let (directory, resume) = directory(place, setting)?;
            audit.run(&directory, resume, observe)?;
        }
        Part::Shard { folder, shard } => {
            let folder = audit.shard_folder(folder)?;
            if setting.is_check {
                return Ok(json!({}));
            }
            return Ok(said(audit.work(&folder, *shard, observe)?));
        }
        Part::Merge { folder } => {
            let folder = audit.shard_folder(folder)?;
            let make = || merged_into::<AuditSpecification>(&folder, setting);
            if let MergedAudit::Starts { starts } = audit.merge(&folder, make, observe)? {
                return Ok(json!({ "starts": starts }));
            }
        }
    }
    Ok(Value::Null)
}

fn train<T: Trainable>(
    specification: Checked<TrainSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<Said, Failure> {
    expect_whole::<TrainSpecification>(setting)?;
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
    Ok(Value::Null)
}

fn repair<R: Repairable>(
    specification: Checked<RepairSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<Said, Failure> {
    expect_whole::<RepairSpecification>(setting)?;
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
    Ok(Value::Null)
}

fn compare<M: Modality>(
    specification: Checked<CompareSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<Said, Failure> {
    let device = setting.device()?;
    place.expect_device(device.name(), None)?;
    let comparison = Comparison::<M>::open(specification, &device)?;
    if let Some(began) = place.began() {
        comparison.expect_unchanged(began)?;
    }
    let observe =
        &mut |_: StrategyName, _: u32, progress: AuditProgress<'_>| setting.search(progress);
    match &setting.part {
        Part::Whole => {
            let (directory, resume) = directory(place, setting)?;
            comparison.run(&directory, resume, observe)?;
        }
        Part::Shard { folder, shard } => {
            let folder = comparison.shard_folder(folder)?;
            if setting.is_check {
                return Ok(json!({}));
            }
            let mut searches = comparison.searches(observe);
            return Ok(said(work::<_, Failure>(&mut searches, &folder, *shard)?));
        }
        Part::Merge { folder } => {
            let folder = comparison.shard_folder(folder)?;
            let searches = merged(&comparison.searches(observe), &folder)?;
            let into = merged_into::<CompareSpecification>(&folder, setting)?;
            comparison.merge(searches, &into)?;
        }
    }
    Ok(Value::Null)
}

fn certify<M: Certifiable>(
    specification: Checked<CertifySpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<Said, Failure> {
    expect_whole::<CertifySpecification>(setting)?;
    let certification = Certification::<M>::open(specification)?;
    let (directory, _) = directory(place, setting)?;
    certification.run(&directory, &mut |set| {
        // It cannot be stopped: an exception is raised when it is done.
        let _ = setting.watch.tell("certify", (set as u64, 0), String::new);
    })?;
    Ok(Value::Null)
}

fn prove(
    specification: Checked<ProveSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<Said, Failure> {
    expect_whole::<ProveSpecification>(setting)?;
    place.expect_device(DeviceName::Flex, None)?;
    let proof = Proof::open(specification, place.began())?;
    let (directory, resume) = directory(place, setting)?;
    let watch = setting.watch;
    proof.run(&directory, resume, &mut |progress| match progress {
        ProofProgress::Prove(now) => watch.tell("prove", (now.boxes, 0), || {
            let undecided = 100.0 * (1.0 - now.fair - now.discriminatory);
            format!("{undecided:.2} % undecided")
        }),
        ProofProgress::Search(found) => watch.tell("search", (0, 0), || format!("{found} found")),
        ProofProgress::Write => watch.tell("write", (0, 1), String::new),
    })?;
    Ok(Value::Null)
}

fn knn(
    specification: Checked<RobustnessSpecification>,
    place: Place,
    setting: &Setting<'_>,
) -> Result<Said, Failure> {
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
    let (Part::Shard { folder, .. } | Part::Merge { folder }) = &setting.part else {
        let (directory, _) = directory(place, setting)?;
        let stop = watch.stop();
        decide_robustness(&run, &record, &inputs, &directory, &device, stop, observe)?;
        return Ok(Value::Null);
    };
    let folder = ShardFolder::for_run(folder, &run, &record)?;
    let mut items = ShardedInputs {
        run: &run,
        inputs: &inputs,
        device: &device,
        stop: watch.stop(),
        observe,
    };
    if let Part::Shard { shard, .. } = &setting.part {
        if setting.is_check {
            return Ok(json!({}));
        }
        return Ok(said(work::<_, Failure>(&mut items, &folder, *shard)?));
    }
    let verdicts = MergedVerdicts::of(&run, folder.path(), merged(&items, &folder)?)?;
    let directory = merged_into::<RobustnessSpecification>(&folder, setting)?;
    verdicts.write(&run, &record, &inputs, &directory)?;
    Ok(Value::Null)
}
