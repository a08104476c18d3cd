//! `probity run`: performs what a specification says, one written by hand or that of an earlier
//! run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde_json::Value;

use super::inputs::{Hardware, Place};
use super::output::Output;
use super::{audit, certify, compare, groups, import, kmeans, knn, outliers, repair, spn, train};
use probity::run::run_directory::{RUN, RunDirectory};
use probity::run::specification::file::{Record, kind_of, read};
use probity::run::specification::{Checked, FieldKind, Specification};

/// Arguments of `probity run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: probity run audit.toml --out runs/friday\n\
                  \x20         probity run runs/audit-1 --out runs/again\n\
                  \x20         probity run runs/audit-2 --resume\n\
                  A specification begins with its kind, such as kind = \"audit\"; its paths are relative to its own folder.")]
pub(super) struct RunArgs {
    /// Specification (TOML), or the directory of a run
    specification: PathBuf,
    /// Run directory [default: the next free one of its kind under runs]
    #[arg(long, conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with the unfinished run in the directory given
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity run`.
pub(super) fn run(args: RunArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let is_directory = args.specification.is_dir();
    ensure!(
        is_directory || !args.resume,
        "--resume goes on with a run; {} is no directory",
        args.specification.display()
    );
    let file = match is_directory {
        true => args.specification.join(RUN),
        false => args.specification.clone(),
    };
    let (hardware, asked) = (
        &args.hardware,
        Asked {
            args: &args,
            file: &file,
        },
    );
    match kind_of(&file)?.as_str() {
        "train" => asked.perform(|it, at| train::run_specification(it, at, hardware, output)),
        "import" => asked.perform(|it, at| import::run_specification(it, at, output)),
        "audit" => asked.perform(|it, at| audit::run_specification(it, at, hardware, output)),
        "compare" => asked.perform(|it, at| compare::run_specification(it, at, hardware, output)),
        "repair" => asked.perform(|it, at| repair::run_specification(it, at, hardware, output)),
        "groups" => asked.anew(|it, out| groups::run_specification(it, out, hardware, output)),
        "certify" => asked.anew(|it, out| certify::run_specification(it, out, output)),
        "knn" => asked.anew(|it, out| knn::analyse::run_specification(it, out, hardware, output)),
        "kmeans fit" => asked.anew(|it, out| kmeans::fit::run_specification(it, out, output)),
        "kmeans bench" => asked.anew(|it, out| kmeans::bench::run_specification(it, out, output)),
        "spn fit" => asked.anew(|it, out| spn::fit::run_specification(it, out, output)),
        "spn bench" => asked.anew(|it, out| spn::bench::run_specification(it, out, output)),
        "outliers count" => {
            asked.anew(|it, out| outliers::count::run_specification(it, out, output))
        }
        "outliers subspaces" => {
            asked.anew(|it, out| outliers::subspaces::run_specification(it, out, output))
        }
        other => bail!(
            "{} is of the kind '{other}', which probity run does not know",
            file.display()
        ),
    }
}

/// What is run, and where.
struct Asked<'a> {
    args: &'a RunArgs,
    file: &'a Path,
}

impl Asked<'_> {
    fn perform<S: Specification>(
        &self,
        run: impl FnOnce(Checked<S>, Place) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        let (specification, record) = self.read()?;
        let place = match self.args.resume {
            true => Place::GoesOn(RunDirectory::open(&self.args.specification)?, record),
            false => Place::New(self.args.out.clone()),
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

    fn read<S: Specification>(&self) -> anyhow::Result<(Checked<S>, Record)> {
        let (specification, record) = read::<S>(self.file)?;
        let specification = with_absolute_paths(specification, self.file)?;
        let checked = specification
            .check()
            .with_context(|| self.file.display().to_string())?;
        Ok((checked, record.unwrap_or_default()))
    }
}

/// `specification` with the paths in it taken from the folder of `file`.
fn with_absolute_paths<S: Specification>(specification: S, file: &Path) -> anyhow::Result<S> {
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
