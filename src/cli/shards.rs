//! How a run of one stage is worked on in shards and merged; what is said of a shard that is done,
//! and of a merge that waits for another stage.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::Value;

use super::inputs::RUNS;
use super::output::{Output, verdict};
use super::render::count;
use probity::run::run_directory::{RunDirectory, RunError};
use probity::run::shards::{Items, Part, Shard, ShardFolder, Worked, merged, work};
use probity::run::specification::Specification;
use probity::run::specification::file::Record;

/// The exit code of what Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// A run of a specification `S` whose [`Items`] are cut, as the command was asked for it.
pub(super) struct Cut<'a, S> {
    folder: ShardFolder,
    /// The shard to work on; none to merge them all.
    shard: Option<Shard>,
    /// Where the shards are merged.
    out: Option<&'a Path>,
    run: PhantomData<fn(&S)>,
}

impl<'a, S: Specification> Cut<'a, S> {
    /// The run of `specification` that opened what `record` says, unless `part` is all of it.
    pub(super) fn of(
        part: &Part,
        specification: &S,
        record: &Record,
        out: Option<&'a Path>,
    ) -> anyhow::Result<Option<Cut<'a, S>>> {
        let (folder, shard) = match part {
            Part::Whole => return Ok(None),
            Part::Shard { folder, shard } => (folder, Some(*shard)),
            Part::Merge { folder } => (folder, None),
        };
        Ok(Some(Cut {
            folder: ShardFolder::for_run(folder, specification, record)?,
            shard,
            out,
            run: PhantomData,
        }))
    }

    /// Works on the shard, or merges all: breaks where nothing is left to do than what was said,
    /// and otherwise goes on with what came of all `items`, in their order. `passes` is that of
    /// [`merged_before`].
    pub(super) fn work_or_merge<R>(
        &self,
        mut items: R,
        passes: fn(&Value) -> bool,
        bar: &ProgressBar,
        output: &Output,
    ) -> anyhow::Result<ControlFlow<ExitCode, impl Outcomes<R::Item> + use<R, S>>>
    where
        R: Items,
        anyhow::Error: From<R::Error>,
    {
        if let Some(shard) = self.shard {
            let done = work::<_, anyhow::Error>(&mut items, &self.folder, shard);
            bar.finish_and_clear();
            let said = worked(done?, shard, &self.folder, output)?;
            return Ok(ControlFlow::Break(said));
        }
        if let Some(said) = merged_before::<S>(&self.folder, self.out, passes, output)? {
            bar.finish_and_clear();
            return Ok(ControlFlow::Break(said));
        }
        Ok(ControlFlow::Continue(merged(&items, &self.folder)?))
    }

    /// The folder that the shards share.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The directory that the shards are merged into.
    pub(super) fn directory(&self, name: &str) -> anyhow::Result<RunDirectory> {
        directory::<S>(&self.folder, self.out, name)
    }
}

/// What comes of the items of all shards, read one by one.
pub(super) trait Outcomes<T>: Iterator<Item = Result<T, RunError>> {}

impl<T, I: Iterator<Item = Result<T, RunError>>> Outcomes<T> for I {}

/// What is said of a shard, as JSON.
#[derive(Serialize)]
struct ShardSummary<'a> {
    schema_version: u32,
    command: &'static str,
    shard: String,
    stage: &'static str,
    /// Whether it was there already.
    was_there: bool,
    folder: &'a Path,
}

/// Says what became of `shard`.
pub(super) fn worked(
    worked: Worked,
    shard: Shard,
    folder: &ShardFolder,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let (stage, was_there, text) = match worked {
        Worked::Done { stage, items } => {
            let items = count(items);
            (
                stage,
                false,
                format!("Shard {shard} of the stage '{stage}' is done: {items} items.\n"),
            )
        }
        Worked::WasThere { stage } => (
            stage,
            true,
            format!("Shard {shard} of the stage '{stage}' was done already.\n"),
        ),
        Worked::Stopped => {
            output.remark("The shard was stopped; nothing of it is kept.");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    let path = folder.path();
    let summary = ShardSummary {
        schema_version: 1,
        command: "shard",
        shard: shard.to_string(),
        stage,
        was_there,
        folder: path,
    };
    let next = format!(
        "When all {} are done: probity merge {}\n",
        shard.of(),
        path.display()
    );
    output.result(&summary, &(text + &next))
}

/// Says that the shards of a run of `S` are merged in `out` already, where they are; `passes` says
/// of its summary whether what was declared holds.
pub(super) fn merged_before<S: Specification>(
    folder: &ShardFolder,
    out: Option<&Path>,
    passes: fn(&Value) -> bool,
    output: &Output,
) -> anyhow::Result<Option<ExitCode>> {
    let merged = out.map(|out| folder.merged_in::<S>(out)).transpose()?;
    let Some(run) = merged.flatten() else {
        return Ok(None);
    };
    let summary: Value = run.read_summary()?;
    let text = format!(
        "The shards in {} are merged in {} already.\n",
        folder.path().display(),
        run.path().display()
    );
    output.result(&summary, &text)?;
    Ok(Some(match passes(&summary) {
        true => ExitCode::SUCCESS,
        false => verdict(false),
    }))
}

/// The directory that shards are merged into: see [`ShardFolder::directory`].
pub(super) fn directory<S: Specification>(
    folder: &ShardFolder,
    out: Option<&Path>,
    name: &str,
) -> anyhow::Result<RunDirectory> {
    let choose = || RunDirectory::create_numbered(Path::new(RUNS), name);
    Ok(folder.directory::<S>(out, choose)?)
}

/// What is said of a merge after which another stage follows, as JSON.
#[derive(Serialize)]
struct StageSummary<'a> {
    schema_version: u32,
    command: &'static str,
    complete: bool,
    starts: u64,
    folder: &'a Path,
}

/// Says that the global stage of an audit is merged.
pub(super) fn merged_starts(
    starts: u64,
    folder: &ShardFolder,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let path = folder.path();
    let summary = StageSummary {
        schema_version: 1,
        command: "merge",
        complete: false,
        starts,
        folder: path,
    };
    let text = format!(
        "The global stage is merged: {} starts of the local one.\nNext: run all shards again, such as with probity run {path} --shard 1/N, then probity merge {path}\n",
        count(starts),
        path = path.display()
    );
    output.result(&summary, &text)
}
