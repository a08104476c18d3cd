//! A whole robustness run: from checked inputs to a run directory with verdicts.

mod kind;
mod shards;
mod summary;
mod worker_pool;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub use self::kind::Robustness;
pub use self::shards::{InputVerdicts, MergedVerdicts, ShardedInputs};
pub use self::summary::{CertifiedCounts, RobustnessFigures, RobustnessSummary, SecondsPerInput};
use self::worker_pool::WorkerPool;
pub use self::worker_pool::{Effort, RobustnessProgress};
use crate::analysis::Analysis;
use crate::dataset::TrainingSet;
use crate::deadline::Deadline;
use crate::errors::PoisoningError;
use crate::inputs::{Inputs, RobustnessError};
use crate::parameters::{Candidates, Parameters, Setup};
pub use crate::specification::Learning;
use crate::specification::RobustnessSpecification;
use crate::system::KnnSystem;
use crate::verdict::{Decision, Verdict};
use crate::verdicts::{VerdictRow, words, write_verdicts};
use probity_run::run_directory::RunDirectory;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

impl Learning {
    /// Binds the parameters to `training`.
    ///
    /// # Errors
    /// See [`Parameters::check`].
    pub fn check(&self, training: TrainingSet, poison: usize) -> Result<Setup, PoisoningError> {
        Parameters {
            folds: self.folds,
            seed: self.seed,
            candidates: Candidates {
                first: self.smallest_k,
                last: self.largest_k,
            },
            poison,
            metric: self.metric,
        }
        .check(training)
    }
}

/// The results of some inputs.
struct Sweep {
    /// The figures, by threshold.
    figures: Vec<RobustnessFigures>,
    /// The rows of the verdicts file, by threshold, then by input.
    rows: Vec<VerdictRow>,
    finished: bool,
}

/// Decides the robustness of every input and writes the run directory.
///
/// T is learnt once, for the largest threshold. Once `stop` is set learning ends, and no input is
/// begun; what is decided by then is written, and the summary says `finished: false`.
///
/// # Errors
/// Parameters that do not fit, or a directory that cannot be written.
pub fn decide_robustness(
    run: &RobustnessSpecification,
    record: &Record,
    inputs: &Inputs,
    directory: &RunDirectory,
    device: &ComputeDevice,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(RobustnessProgress),
) -> Result<RobustnessSummary, RobustnessError> {
    directory.write_run(run, record)?;
    let drawn = inputs.drawn(run.analysis.inputs, run.learning.seed);
    let swept = sweep(run, inputs, &drawn, device, stop, observe)?;
    write_robustness(run, inputs, directory, swept)
}

/// Decides the inputs `drawn` for every threshold.
fn sweep(
    run: &RobustnessSpecification,
    inputs: &Inputs,
    drawn: &[usize],
    device: &ComputeDevice,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(RobustnessProgress),
) -> Result<Sweep, RobustnessError> {
    let (analysis, learning) = (&run.analysis, &run.learning);
    let effort = Effort {
        method: analysis.method,
        time_limit: analysis.time_limit.duration(),
        stop,
    };
    let mut rows = Vec::new();
    let mut figures_of_all = Vec::new();
    let mut finished = true;
    let mut learned = None;
    if let Some(&largest) = analysis.poison.iter().max() {
        observe(RobustnessProgress::Learning { poison: largest });
        let setup = check(learning, inputs, largest)?;
        learned = learn_once(inputs, setup, device, stop)?;
        finished = learned.is_some();
    }
    for &poison in &analysis.poison {
        let Some((system, seconds)) = learned.take() else {
            break;
        };
        let system = system
            .with_poison(poison)
            .map_err(about(inputs.train.name()))?;
        let mut sink = |row| rows.push(row);
        let (mut figures, done) = decide_all(inputs, &system, drawn, effort, &mut sink, observe)?;
        figures.learn_seconds = seconds;
        figures_of_all.push(figures);
        if !done {
            finished = false;
            break;
        }
        learned = Some((system, seconds));
    }
    Ok(Sweep {
        figures: figures_of_all,
        rows,
        finished,
    })
}

/// Writes the results of all inputs to `directory`.
fn write_robustness(
    run: &RobustnessSpecification,
    inputs: &Inputs,
    directory: &RunDirectory,
    Sweep {
        figures: sweep,
        rows,
        finished,
    }: Sweep,
) -> Result<RobustnessSummary, RobustnessError> {
    let analysis = &run.analysis;
    directory.expect_in_place()?;
    write_verdicts(
        &directory.file(analysis.verdicts_format.file_name()),
        analysis.verdicts_format,
        &rows,
    )?;
    let last = sweep.last().cloned().unwrap_or_default();
    let judged: Vec<&VerdictRow> = rows
        .iter()
        .filter(|row| row.poison == last.poison && !row.actual.is_empty())
        .collect();
    let right = judged.iter().filter(|row| row.actual == row.label).count();
    let left_out = [&inputs.train, &inputs.test].map(|rows| &rows.left_out);
    let summary = RobustnessSummary {
        schema_version: 1,
        command: "knn",
        figures: last,
        method: analysis.method,
        training_rows: inputs.training.rows(),
        features: inputs.training.columns(),
        classes: inputs.classes.clone(),
        accuracy: (!judged.is_empty()).then(|| right as f64 / judged.len() as f64),
        skipped_rows: left_out.map(|left_out| left_out.skipped_rows),
        bad_rows: left_out.map(|left_out| left_out.bad_rows.clone()),
        finished,
        verdicts_file: analysis.verdicts_format.file_name().to_owned(),
        train_sha256: inputs.train.source.sha256.clone(),
        test_sha256: inputs.test.source.sha256.clone(),
        sweep,
    };
    directory.write_summary(&summary)?;
    Ok(summary)
}

/// Returns the parameters of `learning` for one threshold, bound to the training set.
///
/// # Errors
/// Parameters that do not fit.
pub fn check(
    learning: &Learning,
    inputs: &Inputs,
    poison: usize,
) -> Result<Setup, RobustnessError> {
    learning
        .check(inputs.training.clone(), poison)
        .map_err(about(inputs.train.name()))
}

/// Learns from T; the second value is how many seconds that took. Returns nothing if `stop` was set
/// before learning was done.
///
/// # Errors
/// Distances that have no order.
pub fn learn_once(
    inputs: &Inputs,
    setup: Setup,
    device: &ComputeDevice,
    stop: &AtomicBool,
) -> Result<Option<(KnnSystem, f64)>, RobustnessError> {
    let started = Instant::now();
    match KnnSystem::learn_on(setup, device, Deadline::never().or_when(stop)) {
        Ok(system) => Ok(Some((system, started.elapsed().as_secs_f64()))),
        Err(PoisoningError::Stopped) => Ok(None),
        Err(error) => Err(about(inputs.train.name())(error)),
    }
}

/// Decides the inputs `drawn`, as many at a time as there are threads, each on one thread. The
/// second value says whether all of them were decided before `effort.stop` was set.
///
/// Verdicts do not depend on the number of threads, but for *unknown*: the time limit is wall time.
///
/// # Errors
/// A test input that cannot be compared with the training rows, or threads that cannot be started.
pub fn decide_all(
    inputs: &Inputs,
    system: &KnnSystem,
    drawn: &[usize],
    effort: Effort<'_>,
    sink: &mut dyn FnMut(VerdictRow),
    observe: &mut dyn FnMut(RobustnessProgress),
) -> Result<(RobustnessFigures, bool), RobustnessError> {
    let candidates = system.setup().parameters().candidates;
    let poison = system.poison();
    let started = Instant::now();
    observe(RobustnessProgress::Bounding { poison });
    let analysis = Analysis::until(system, Deadline::never().or_when(effort.stop));
    let mut figures = RobustnessFigures {
        poison,
        candidates: [candidates.first, candidates.last],
        k: system.k(),
        certified_k_set: analysis.certified_k_set().ks().len(),
        k_set_seconds: started.elapsed().as_secs_f64(),
        ..RobustnessFigures::default()
    };
    let workers = WorkerPool::new(&analysis, inputs, drawn, effort);
    let mut all_done = true;
    for (&at, outcome) in drawn.iter().zip(workers.work(observe)?) {
        let Some(outcome) = outcome else {
            all_done = false;
            continue;
        };
        let (decision, seconds) = outcome.map_err(about(inputs.test.name()))?;
        let row = row_of(inputs, poison, at, &decision, seconds);
        figures.count(&row);
        sink(row);
    }
    Ok((figures, all_done))
}

/// Returns a function that adds to an error the file that it is about.
fn about(file: &Path) -> impl Fn(PoisoningError) -> RobustnessError + use<> {
    let file = file.to_owned();
    move |source| RobustnessError::Poisoning {
        file: file.clone(),
        source,
    }
}

fn row_of(
    inputs: &Inputs,
    poison: usize,
    at: usize,
    decision: &Decision,
    seconds: f64,
) -> VerdictRow {
    let (verdict, certificate) = words(&decision.verdict);
    let violation = match &decision.verdict {
        Verdict::Falsified(violation) => Some(violation),
        _ => None,
    };
    VerdictRow {
        poison,
        row: inputs.test.numbers[at],
        actual: inputs.test.label(at).unwrap_or_default().to_owned(),
        label: inputs.class(decision.label).to_owned(),
        k: decision.k,
        verdict: verdict.to_owned(),
        certificate: certificate.to_owned(),
        seconds,
        removal: violation.map_or_else(Vec::new, |violation| {
            let rows = violation.removal.iter();
            rows.map(|&row| inputs.train.numbers[row]).collect()
        }),
        removal_label: violation.map_or_else(String::new, |violation| {
            inputs.class(violation.label).to_owned()
        }),
        removal_k: violation.map_or(0, |violation| violation.k),
    }
}

/// Returns the labels predicted for all test inputs, with the K learnt from T.
///
/// # Errors
/// Parameters that do not fit.
pub fn predict_all(
    inputs: &Inputs,
    learning: &Learning,
    device: &ComputeDevice,
) -> Result<(KnnSystem, Vec<u16>), RobustnessError> {
    let setup = learning
        .check(inputs.training.clone(), 0)
        .map_err(about(inputs.train.name()))?;
    let system = KnnSystem::learn_on(setup, device, Deadline::never())
        .map_err(about(inputs.train.name()))?;
    let labels = (0..inputs.test.rows())
        .map(|at| system.classify(inputs.test.row(at)))
        .collect::<Result<_, _>>()
        .map_err(about(inputs.test.name()))?;
    Ok((system, labels))
}
