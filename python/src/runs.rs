//! Runs: a specification from keyword arguments, performed by the runner as on the command line.

use std::path::PathBuf;

use probity::data::specification::{Separator, layout};
use probity::fairness::explain::explain;
use probity::fairness::explain::specification::ExplainSpecification;
use probity::privacy::ledger::read;
use probity::privacy::query::Declaration;
use probity::run::device_name::DeviceName;
use probity::run::place::Place;
use probity::run::run_directory::RunDirectory;
use probity::run::runner::{Failure, Outcome, RunKind, Setting};
use probity::run::shards::{Part, Worked};
use probity::run::specification::{Checked, FieldError, Given, Specification};
use probity::run_kinds;
use probity::tensor::device::most_threads;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use serde_json::{Map, Value, json};

use super::errors;
use super::watch::Watch;

/// The arguments of a run besides its specification.
struct RunArguments<'a> {
    out: PathBuf,
    goes_on: bool,
    part: Part,
    /// Whether a shard is only opened, so that everything that can be refused is refused.
    is_check: bool,
    device: DeviceName,
    watch: &'a Watch,
}

/// A kind of run: its name, its fields, and the function that performs it. The function returns
/// what is said of a part that is done (stage and items of a shard, starts after a merge), and the
/// answer of a kind that leaves no run.
type Kind = (
    &'static str,
    fn() -> Value,
    fn(Map<String, Value>, RunArguments<'_>) -> Result<Value, Failure>,
);

/// Lists the kinds of runs, and the explanation of one decision, which leaves no run.
macro_rules! kinds {
    ($($kind:ty,)*) => {
        const KINDS: &[Kind] = &[
            $((<$kind>::KIND, fields_of::<$kind>, run::<$kind>),)*
            (ExplainSpecification::KIND, fields_of::<ExplainSpecification>, |options, _| {
                let specification = Given::<ExplainSpecification>::named(options)?.specification()?;
                Ok(serde_json::to_value(explain(&specification)?)?)
            }),
        ];
    };
}

run_kinds!(kinds);

/// Performs a run of the kind `K`.
fn run<K: RunKind>(options: Map<String, Value>, asked: RunArguments<'_>) -> Result<Value, Failure> {
    let (specification, place) = begun::<K>(options, &asked)?;
    let choose = |_: &str| RunDirectory::create(&asked.out);
    let setting = Setting {
        place,
        part: asked.part,
        is_check: asked.is_check,
        device: asked.device,
        choose: &choose,
        observer: asked.watch,
    };
    Ok(match K::perform(specification, setting)? {
        Outcome::Ended { .. } | Outcome::Merged { .. } => Value::Null,
        Outcome::Opened => json!({}),
        Outcome::Worked { worked, .. } => match worked {
            Worked::Done { stage, items } => json!({ "stage": stage, "items": items }),
            Worked::WasThere { stage } => json!({ "stage": stage }),
            Worked::Stopped => json!({ "stopped": true }),
        },
        Outcome::Starts { starts, .. } => json!({ "starts": starts }),
    })
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

/// The owner's declaration of a privacy budget for data.
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

/// What is left of the privacy budget in `ledger`: ε, and δ.
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

/// The fields of the specification of a kind of run, as JSON: path, name, help and default of each.
#[pyfunction]
pub(crate) fn fields(of: &str) -> PyResult<String> {
    Ok(kind(of)?.1().to_string())
}

/// Performs a run of a kind, in the directory `out`. With `check` a shard is only opened, and
/// everything that can be refused is refused. `options` are fields of its specification, by name,
/// as JSON; a run that `goes_on` has them already. With `shard`, such as `3/16`, that shard is
/// done, and `out` is the folder of all of them; with `merge`, a folder of shards, they are put
/// together in `out`. `progress` is called with phase, steps done, steps in all, and a word. The
/// result of a part is returned as JSON, and so is an explanation, which leaves no run in `out`.
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
    let asked = RunArguments {
        out,
        goes_on,
        part,
        is_check: check,
        device,
        watch: &watch,
    };
    let outcome = py.detach(|| match threads {
        None => perform(options, asked),
        Some(threads) => {
            expect_threads(threads)?;
            let threads = ThreadPoolBuilder::new().num_threads(threads).build()?;
            watch.during(|| threads.install(|| perform(options, asked)))
        }
    });
    // An exception of Python stopped the run; the caller expects that exception.
    if let Some(raised) = watch.raised() {
        return Err(raised);
    }
    let said = outcome.map_err(|error| errors::exception(error.as_ref()))?;
    Ok(said.to_string())
}

/// Makes the specification, and the directory to which its run is written.
fn begun<S: Specification>(
    options: Map<String, Value>,
    asked: &RunArguments<'_>,
) -> Result<(Checked<S>, Place), Failure> {
    let given = Given::<S>::named(options)?;
    if !asked.goes_on {
        return Ok((given.specification()?, Place::New(Some(asked.out.clone()))));
    }
    let (place, began) = Place::unfinished::<S>(&asked.out)?;
    let mut changes = given.changes(&began);
    // Where no other limit is given the run goes on to its end.
    if let Some(limit) = S::limit_of_time().filter(|limit| !given.is_given(limit)) {
        changes.set(limit, Value::Null);
    }
    Ok((changes.resumed(&began)?, place))
}
