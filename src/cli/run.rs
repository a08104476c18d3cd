//! `probity run`: performs what a specification says, one written by hand or that of an earlier
//! run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde_json::Value;

use super::inputs::Hardware;
use super::output::Output;
use super::{audit, certify, compare, groups, import, kmeans, knn, outliers, repair, spn, train};
use probity::run::place::Place;
use probity::run::run_directory::{RUN, RunDirectory};
use probity::run::specification::file::{Record, kind_of, read};
use probity::run::specification::{Checked, FieldKind, Specification};

/// Arguments of `probity run`.
#[derive(Debug, Args)]
#[command(
    after_help = "A specification begins with its kind, such as kind = \"audit\"; its paths are relative to its own folder.\nA directory is repeated on what its run read, which must not have changed if it is a training, audit, comparison or repair; its run.toml is run on whatever is there."
)]
pub(super) struct RunArgs {
    /// Specification (TOML), or the directory of a run
    specification: PathBuf,
    /// Run directory [default: the next free one of its kind under runs]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with the unfinished run in the directory given
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    hardware: Hardware,
}

/// The limit of time of a search.
const TIME: &str = "budget.time";

type Performs = fn(&Asked<'_>) -> anyhow::Result<ExitCode>;

/// How a run of each kind is performed.
const RUNS: [(&str, Performs); 14] = [
    ("train", |asked| {
        asked.perform(|it, at| train::run_specification(it, at, asked.hardware(), asked.output))
    }),
    ("import", |asked| {
        asked.perform(|it, at| import::run_specification(it, at, asked.output))
    }),
    ("audit", |asked| {
        asked.perform(|it, at| audit::run_specification(it, at, asked.hardware(), asked.output))
    }),
    ("compare", |asked| {
        asked.perform(|it, at| compare::run_specification(it, at, asked.hardware(), asked.output))
    }),
    ("repair", |asked| {
        asked.perform(|it, at| repair::run_specification(it, at, asked.hardware(), asked.output))
    }),
    ("groups", |asked| {
        asked.anew(|it, out| groups::run_specification(it, out, asked.hardware(), asked.output))
    }),
    ("certify", |asked| {
        asked.anew(|it, out| certify::run_specification(it, out, asked.output))
    }),
    ("knn", |asked| {
        asked.anew(|it, out| {
            knn::analyse::run_specification(it, out, asked.hardware(), asked.output)
        })
    }),
    ("kmeans fit", |asked| {
        asked.anew(|it, out| kmeans::fit::run_specification(it, out, asked.output))
    }),
    ("kmeans bench", |asked| {
        asked.anew(|it, out| kmeans::bench::run_specification(it, out, asked.output))
    }),
    ("spn fit", |asked| {
        asked.anew(|it, out| spn::fit::run_specification(it, out, asked.output))
    }),
    ("spn bench", |asked| {
        asked.anew(|it, out| spn::bench::run_specification(it, out, asked.output))
    }),
    ("outliers count", |asked| {
        asked.private(|it, out| outliers::count::run_specification(it, out, asked.output))
    }),
    ("outliers subspaces", |asked| {
        asked.private(|it, out| outliers::subspaces::run_specification(it, out, asked.output))
    }),
];

/// Runs `probity run`.
pub(super) fn run(args: RunArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let is_directory = args.specification.is_dir();
    ensure!(
        is_directory || !args.resume,
        "--resume goes on with a run; {} is no directory",
        args.specification.display()
    );
    let file = match is_directory {
        true => RunDirectory::open(&args.specification)?.file(RUN),
        false => args.specification.clone(),
    };
    let kind = kind_of(&file)?;
    let Some((_, perform)) = RUNS.iter().find(|(known, _)| *known == kind) else {
        let known = RUNS.map(|(kind, _)| kind);
        bail!(
            "{} is of the kind '{kind}', which probity run does not know; it knows {}",
            file.display(),
            known.join(", ")
        );
    };
    perform(&Asked {
        args: &args,
        file: &file,
        output,
    })
}

/// What is run, and where.
struct Asked<'a> {
    args: &'a RunArgs,
    file: &'a Path,
    output: &'a Output,
}

impl Asked<'_> {
    fn hardware(&self) -> &Hardware {
        &self.args.hardware
    }

    fn perform<S: Specification>(
        &self,
        run: impl FnOnce(Checked<S>, Place) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        let (specification, record) = self.read()?;
        let (directory, out) = (&self.args.specification, self.args.out.clone());
        let place = match record {
            record if self.args.resume => Place::GoesOn(
                RunDirectory::open_to_write(directory)?,
                record.unwrap_or_default(),
            ),
            Some(record) if directory.is_dir() => Place::Again(out, record),
            _ => Place::New(out),
        };
        run(specification, place)
    }

    /// The same for a kind of run that cannot be interrupted and gone on with.
    fn anew<S: Specification>(
        &self,
        run: impl FnOnce(Checked<S>, Option<PathBuf>) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        ensure!(
            !self.args.resume,
            "a run of the kind '{}' cannot be gone on with; leave --resume out",
            S::KIND
        );
        run(self.read()?.0, self.args.out.clone())
    }

    /// The same for an answer with noise: another answer to the same question is paid for again.
    fn private<S: Specification>(
        &self,
        run: impl FnOnce(Checked<S>, Option<PathBuf>) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        ensure!(
            !self.args.specification.is_dir(),
            "a private answer cannot be repeated: to ask anew, and to pay for it again, give {} itself",
            self.file.display()
        );
        self.anew(run)
    }

    fn read<S: Specification>(&self) -> anyhow::Result<(Checked<S>, Option<Record>)> {
        let (specification, record) = read::<S>(self.file)?;
        let named = || self.file.display().to_string();
        let checked = specification.check().with_context(named)?.into_inner();
        let located = with_absolute_paths(checked, self.file, self.args.resume)?;
        Ok((located.check().with_context(named)?, record))
    }
}

/// `specification` with the paths in it taken from the folder of `file`; without its limit of time
/// where it is of a run that goes on, which then goes on to its end.
fn with_absolute_paths<S: Specification>(
    specification: S,
    file: &Path,
    goes_on: bool,
) -> anyhow::Result<S> {
    let file = std::path::absolute(file)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut value = serde_json::to_value(specification)?;
    for field in S::fields() {
        let is_path = match &field.kind {
            FieldKind::Path => true,
            FieldKind::List(kind) => **kind == FieldKind::Path,
            _ => false,
        };
        let pointer = format!("/{}", field.path.replace('.', "/"));
        if let Some(found) = value.pointer_mut(&pointer).filter(|_| is_path) {
            make_absolute(found, folder);
        }
    }
    if goes_on && S::FREE.contains(&TIME) {
        value["budget"]["time"] = Value::Null;
    }
    Ok(S::from_json(&value)?)
}

fn make_absolute(value: &mut Value, folder: &Path) {
    match value {
        Value::String(path) if !path.is_empty() => {
            if let Some(whole) = folder.join(&*path).to_str() {
                *path = whole.to_owned();
            }
        }
        Value::Array(paths) => paths
            .iter_mut()
            .for_each(|path| make_absolute(path, folder)),
        _ => {}
    }
}
