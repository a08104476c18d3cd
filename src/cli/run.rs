//! `probity run`: performs what a specification says, one written by hand or that of an earlier
//! run, or a shard of it; `probity merge` puts shards together.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde_json::Value;

use super::inputs::Hardware;
use super::output::Output;
use super::{
    audit, certify, compare, groups, import, kmeans, knn, outliers, prove, repair, spn, train,
};
use probity::run::place::Place;
use probity::run::run_directory::{RUN, RunDirectory};
use probity::run::shards::{Part, Shard};
use probity::run::specification::file::{Record, kind_of, read, seen_from};
use probity::run::specification::{Checked, Specification};

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
    /// Do one of so many shards, such as 3/16; --out is then the folder that all of them share
    #[arg(long, value_name = "I/N", conflicts_with = "resume")]
    shard: Option<Shard>,
    /// Keep paths as they are, seen from the run directory, in which the process is started: where
    /// they lead is then the same on every machine of a service
    #[arg(long, hide = true)]
    keep_paths: bool,
    #[command(flatten)]
    hardware: Hardware,
}

/// The kinds of runs that can be cut into shards.
pub(super) const DIVISIBLE: [&str; 5] = ["audit", "compare", "knn", "kmeans bench", "spn bench"];

type Performs = fn(&Asked<'_>) -> anyhow::Result<ExitCode>;

/// How a run of each kind is performed.
const RUNS: [(&str, Performs); 15] = [
    ("train", |asked| {
        asked.perform(|it, at| train::run_specification(it, at, asked.hardware, asked.output))
    }),
    ("import", |asked| {
        asked.perform(|it, at| import::run_specification(it, at, asked.output))
    }),
    ("audit", |asked| {
        asked.perform_part(|it, at| {
            audit::run_specification(it, at, &asked.part, asked.hardware, asked.output)
        })
    }),
    ("compare", |asked| {
        asked.perform_part(|it, at| {
            compare::run_specification(it, at, &asked.part, asked.hardware, asked.output)
        })
    }),
    ("repair", |asked| {
        asked.perform(|it, at| repair::run_specification(it, at, asked.hardware, asked.output))
    }),
    ("groups", |asked| {
        asked.anew(|it, out| groups::run_specification(it, out, asked.hardware, asked.output))
    }),
    ("certify", |asked| {
        asked.anew(|it, out| certify::run_specification(it, out, asked.output))
    }),
    ("prove", |asked| {
        asked.perform(|it, at| {
            asked.hardware.threads.apply()?;
            prove::run_specification(it, at, asked.output)
        })
    }),
    ("knn", |asked| {
        asked.anew_part(|it, out| {
            knn::analyse::run_specification(it, out, &asked.part, asked.hardware, asked.output)
        })
    }),
    ("kmeans fit", |asked| {
        asked.anew(|it, out| kmeans::fit::run_specification(it, out, asked.hardware, asked.output))
    }),
    ("kmeans bench", |asked| {
        asked.anew_part(|it, out| {
            kmeans::bench::run_specification(it, out, &asked.part, asked.hardware, asked.output)
        })
    }),
    ("spn fit", |asked| {
        asked.anew(|it, out| spn::fit::run_specification(it, out, asked.hardware, asked.output))
    }),
    ("spn bench", |asked| {
        asked.anew_part(|it, out| {
            spn::bench::run_specification(it, out, &asked.part, asked.hardware, asked.output)
        })
    }),
    ("outliers count", |asked| {
        asked.private(|it, out| {
            outliers::count::run_specification(it, out, asked.hardware, asked.output)
        })
    }),
    ("outliers subspaces", |asked| {
        asked.private(|it, out| {
            outliers::subspaces::run_specification(it, out, asked.hardware, asked.output)
        })
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
    let part = match args.shard {
        None => Part::Whole,
        Some(shard) => Part::Shard {
            folder: match (&args.out, is_directory) {
                (Some(folder), _) => folder.clone(),
                (None, true) => args.specification.clone(),
                (None, false) => bail!("--shard needs --out, the folder that all shards share"),
            },
            shard,
        },
    };
    perform(&Asked {
        // A shard is of a run that others work on as well: it repeats none.
        repeats: is_directory && part == Part::Whole,
        resume: args.resume,
        keep_paths: args.keep_paths,
        out: args.out,
        directory: args.specification,
        part,
        hardware: &args.hardware,
        file: &file,
        output,
    })
}

/// Arguments of `probity merge`.
#[derive(Debug, Args)]
pub(super) struct MergeArgs {
    /// The folder that all shards share
    folder: PathBuf,
    /// Run directory [default: the next free one of its kind under runs]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity merge`.
pub(super) fn merge(args: MergeArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let file = args.folder.join(RUN);
    ensure!(
        file.is_file(),
        "{0} is no folder of shards; begin with: probity run SPECIFICATION --shard 1/N --out {0}",
        args.folder.display()
    );
    perform(&Asked {
        repeats: false,
        resume: false,
        keep_paths: false,
        out: args.out,
        directory: args.folder.clone(),
        part: Part::Merge {
            folder: args.folder,
        },
        hardware: &args.hardware,
        file: &file,
        output,
    })
}

fn perform(asked: &Asked<'_>) -> anyhow::Result<ExitCode> {
    let file = asked.file;
    let kind = kind_of(file)?;
    let Some((_, perform)) = RUNS.iter().find(|(known, _)| *known == kind) else {
        let known = RUNS.map(|(kind, _)| kind);
        bail!(
            "{} is of the kind '{kind}', which probity run does not know; it knows {}",
            file.display(),
            known.join(", ")
        );
    };
    perform(asked)
}

/// What is run, and where.
struct Asked<'a> {
    /// The directory that is repeated or gone on with, where `file` is its specification.
    directory: PathBuf,
    repeats: bool,
    resume: bool,
    keep_paths: bool,
    out: Option<PathBuf>,
    part: Part,
    hardware: &'a Hardware,
    file: &'a Path,
    output: &'a Output,
}

impl Asked<'_> {
    fn perform<S: Specification>(
        &self,
        run: impl FnOnce(Checked<S>, Place) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        self.expect_whole(S::KIND)?;
        self.perform_part(run)
    }

    fn expect_whole(&self, kind: &str) -> anyhow::Result<()> {
        ensure!(
            self.part == Part::Whole,
            "a run of the kind '{kind}' cannot be cut into shards; these can: {}",
            DIVISIBLE.join(", ")
        );
        Ok(())
    }

    /// The same for a kind of run that can be cut into shards.
    fn perform_part<S: Specification>(
        &self,
        run: impl FnOnce(Checked<S>, Place) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        let (specification, record) = self.read()?;
        let out = self.out.clone();
        let place = match record {
            record if self.resume => Place::GoesOn(
                RunDirectory::open_to_write(&self.directory)?,
                record.unwrap_or_default(),
            ),
            Some(record) if self.repeats => Place::Again(out, record),
            _ => Place::New(out),
        };
        run(specification, place)
    }

    /// The same for a kind of run that cannot be interrupted and gone on with.
    fn anew<S: Specification>(
        &self,
        run: impl FnOnce(Checked<S>, Option<PathBuf>) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        self.expect_whole(S::KIND)?;
        self.anew_part(run)
    }

    /// The same for one that can be cut into shards.
    fn anew_part<S: Specification>(
        &self,
        run: impl FnOnce(Checked<S>, Option<PathBuf>) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        ensure!(
            !self.resume,
            "a run of the kind '{}' cannot be gone on with; leave --resume out",
            S::KIND
        );
        run(self.read()?.0, self.out.clone())
    }

    /// The same for an answer with noise: another answer to the same question is paid for again.
    fn private<S: Specification>(
        &self,
        run: impl FnOnce(Checked<S>, Option<PathBuf>) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        ensure!(
            !self.repeats,
            "a private answer cannot be repeated: to ask anew, and to pay for it again, give {} itself",
            self.file.display()
        );
        self.anew(run)
    }

    fn read<S: Specification>(&self) -> anyhow::Result<(Checked<S>, Option<Record>)> {
        let (specification, record) = read::<S>(self.file)?;
        let named = || self.file.display().to_string();
        let checked = specification.check().with_context(named)?.into_inner();
        let located = match self.keep_paths {
            true => without_limit_of_time(checked, self.resume)?,
            false => with_absolute_paths(checked, self.file, self.resume)?,
        };
        Ok((located.check().with_context(named)?, record))
    }
}

/// `specification` with the paths in it taken from the folder of `file`; without its limit of time
/// where it is of a run that goes on, which then goes on to its end.
pub(super) fn with_absolute_paths<S: Specification>(
    specification: S,
    file: &Path,
    goes_on: bool,
) -> anyhow::Result<S> {
    let file = std::path::absolute(file)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut value = serde_json::to_value(seen_from(specification, folder)?)?;
    for field in S::fields() {
        let pointer = format!("/{}", field.path.replace('.', "/"));
        if let Some(found) = value.pointer_mut(&pointer) {
            field.locate(found, folder);
        }
    }
    // What a predictor names is seen from a folder of its own: from that of the file, unless it says
    // another.
    if let Some(Value::Object(predictor)) = value.get_mut("predictor")
        && predictor
            .get("source")
            .and_then(Value::as_str)
            .is_some_and(|it| !it.starts_with("memory:"))
        && predictor.get("directory").is_none_or(Value::is_null)
    {
        let Some(folder) = folder.to_str() else {
            bail!("{} is no path in UTF-8", folder.display());
        };
        predictor.insert("directory".to_owned(), folder.into());
    }
    without_limit_of_time(S::from_json(&value)?, goes_on)
}

/// `specification` without its limit of time where it is of a run that goes on.
fn without_limit_of_time<S: Specification>(specification: S, goes_on: bool) -> anyhow::Result<S> {
    let limit = S::limit_of_time().filter(|_| goes_on);
    let Some(limit) = limit else {
        return Ok(specification);
    };
    let mut value = serde_json::to_value(specification)?;
    if let Some(time) = value.pointer_mut(&format!("/{}", limit.replace('.', "/"))) {
        *time = Value::Null;
    }
    Ok(S::from_json(&value)?)
}
