//! `probity run`: performs what a specification says, one written by hand or that of an earlier
//! run, or a shard of it; `probity merge` puts shards together.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde_json::Value;

use super::exit_code::ExitCode;
use super::inputs::{Hardware, RUNS};
use super::output::{Output, verdict};
use super::progress::{Failed, Watch};
use super::shards;
use super::written::Written;
use probity::run::failure::cause_of;
use probity::run::place::Place;
use probity::run::run_directory::{RUN, RunDirectory};
use probity::run::runner::{self, Failure, Kept, OpenedRun, Outcome, RunKind, Setting};
use probity::run::shards::{Part, Shard};
use probity::run::specification::file::{Record, kind_of, read, seen_from};
use probity::run::specification::{Checked, Specification, dotted};
use probity::run_kinds;
use probity::tensor::device::{ComputeDevice, DeviceName};

/// Arguments of `probity run`.
#[derive(Debug, Args)]
#[command(
    after_help = "A specification begins with its kind, such as kind = \"audit\"; its paths are relative to its own folder.\nA directory is repeated on what its run read, which must not have changed; its run.toml is run on whatever is there."
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

/// Where a run is written, which part of it is done, on what, and where it is shown.
pub(super) struct At<'a> {
    pub place: Place,
    pub part: Part,
    pub hardware: &'a Hardware,
    pub output: &'a Output,
}

impl<'a> At<'a> {
    /// All of a run in `place`.
    pub fn whole(place: Place, hardware: &'a Hardware, output: &'a Output) -> At<'a> {
        At {
            place,
            part: Part::Whole,
            hardware,
            output,
        }
    }

    /// All of a new run, in the directory `out` or one that is chosen.
    pub fn new(out: Option<PathBuf>, hardware: &'a Hardware, output: &'a Output) -> At<'a> {
        At::whole(Place::New(out), hardware, output)
    }
}

/// A kind of run as commands perform it.
pub(super) trait Performed: RunKind {
    /// Performs what is specified, and shows what it came to.
    ///
    /// # Errors
    /// When it cannot be done.
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode>;

    /// Whether what was declared holds, by the summary of a run.
    fn passes(_summary: &Value) -> bool {
        true
    }
}

/// What is left to say of a run.
pub(super) enum Left<S> {
    /// What it came to.
    Ended { directory: Written, summary: S },
    /// Nothing: it was a shard, or shards of a stage.
    Said(ExitCode),
}

impl At<'_> {
    /// The device that `open` gives by the name that was asked for; sets the threads.
    pub fn device<E>(
        &self,
        open: impl FnOnce(DeviceName) -> Result<ComputeDevice, E>,
    ) -> anyhow::Result<ComputeDevice>
    where
        Failure: From<E>,
    {
        self.hardware.open_by(open, self.output)
    }

    /// Performs `run`, and shows what it came to with what `next` makes of it below; the exit code says
    /// whether what was declared holds. `doing` stands before errors.
    pub fn perform<R: OpenedRun>(
        self,
        run: R,
        doing: &str,
        next: impl FnOnce(&Written, &R::Summary) -> anyhow::Result<String>,
    ) -> anyhow::Result<ExitCode>
    where
        R::Kind: Performed,
    {
        let output = self.output;
        let (directory, summary) = match self.end(run, doing)? {
            Left::Ended { directory, summary } => (directory, summary),
            Left::Said(code) => return Ok(code),
        };
        let next = next(&directory, &summary)?;
        output.run(&summary, &directory, &next)?;
        let written = serde_json::to_value(&summary)?;
        Ok(verdict(<R::Kind as Performed>::passes(&written)))
    }

    /// Performs `run`; says what became of it where it was a part. `doing` stands before errors.
    pub fn end<R: OpenedRun>(self, run: R, doing: &str) -> anyhow::Result<Left<R::Summary>>
    where
        R::Kind: Performed,
    {
        let output = self.output;
        let watch = Watch::new(output);
        let is_whole = !matches!(self.part, Part::Shard { .. });
        let (place, passing) = match (R::Kind::DIRECTORY, self.place) {
            (None, Place::New(None)) if is_whole => {
                let folder = tempfile::tempdir()?;
                (Place::New(Some(folder.path().join("run"))), Some(folder))
            }
            (_, place) => (place, None),
        };
        let setting = Setting {
            place,
            part: self.part,
            is_check: false,
            device: self.hardware.device,
            choose: &|name| RunDirectory::create_numbered(Path::new(RUNS), name),
            observer: &watch,
        };
        let outcome = runner::perform(run, setting);
        watch.clear();
        let outcome = outcome.map_err(|error| {
            let doing = match cause_of(&*error) {
                Some(Kept { directory, .. }) => format!(
                    "{doing} (what was done is kept; go on with: probity {} --resume --out {})",
                    <R::Kind as Specification>::KIND,
                    directory.display()
                ),
                None => doing.to_owned(),
            };
            anyhow::Error::new(Failed(error)).context(doing)
        });
        Ok(Left::Said(match outcome? {
            Outcome::Ended { directory, summary } => {
                let directory = directory.context("the run has no directory")?;
                let directory = Written::new(directory, passing);
                return Ok(Left::Ended { directory, summary });
            }
            Outcome::Worked {
                folder,
                shard,
                worked,
            } => shards::worked(worked, shard, &folder, output)?,
            Outcome::Starts { folder, starts } => shards::merged_starts(starts, &folder, output)?,
            Outcome::Merged { folder, directory } => {
                let passes = R::Kind::passes;
                shards::merged_before(&folder, &directory, passes, output)?
            }
            Outcome::Opened => ExitCode::SUCCESS,
        }))
    }
}

/// A kind of run, found by its name.
struct Kind {
    name: &'static str,
    is_divisible: bool,
    perform: fn(RunRequest<'_>) -> anyhow::Result<ExitCode>,
}

/// How a run of each kind is performed.
macro_rules! kinds {
    ($($kind:ty,)*) => {
        const KINDS: &[Kind] = &[$(Kind {
            name: <$kind>::KIND,
            is_divisible: <$kind>::IS_DIVISIBLE,
            perform: |asked| asked.perform::<$kind>(),
        }),*];
    };
}

run_kinds!(kinds);

/// The kinds of runs that can be cut into shards.
pub(super) fn divisible() -> Vec<&'static str> {
    let kinds = KINDS.iter().filter(|kind| kind.is_divisible);
    kinds.map(|kind| kind.name).collect()
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
    perform(RunRequest {
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
    perform(RunRequest {
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

fn perform(asked: RunRequest<'_>) -> anyhow::Result<ExitCode> {
    let file = asked.file;
    let kind = kind_of(file)?;
    let Some(known) = KINDS.iter().find(|known| known.name == kind) else {
        let known: Vec<&str> = KINDS.iter().map(|known| known.name).collect();
        bail!(
            "{} is of the kind '{kind}', which probity run does not know; it knows {}",
            file.display(),
            known.join(", ")
        );
    };
    asked.output.begin("open");
    (known.perform)(asked)
}

/// What is run, and where.
struct RunRequest<'a> {
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

impl RunRequest<'_> {
    fn perform<S: Performed>(self) -> anyhow::Result<ExitCode> {
        let kind = S::KIND;
        ensure!(
            !(S::IS_PAID && self.repeats),
            "a private answer cannot be repeated: to ask anew, and to pay for it again, give {} itself",
            self.file.display()
        );
        ensure!(
            S::IS_DIVISIBLE || self.part == Part::Whole,
            "a run of the kind '{kind}' cannot be cut into shards; these can: {}",
            divisible().join(", ")
        );
        ensure!(
            S::GOES_ON || !self.resume,
            "a run of the kind '{kind}' cannot be gone on with; leave --resume out"
        );
        let (specification, record) = self.read()?;
        let place = match record {
            record if self.resume => Place::GoesOn(
                RunDirectory::open_to_write(&self.directory)?,
                record.unwrap_or_default(),
            ),
            Some(record) if self.repeats => Place::Again(self.out, record),
            _ => Place::New(self.out),
        };
        let at = At {
            place,
            part: self.part,
            hardware: self.hardware,
            output: self.output,
        };
        S::perform_at(specification, at)
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
        if let Some(found) = dotted::get_mut(&mut value, &field.path) {
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
    if let Some(time) = dotted::get_mut(&mut value, limit) {
        *time = Value::Null;
    }
    Ok(S::from_json(&value)?)
}
