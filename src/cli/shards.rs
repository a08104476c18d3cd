//! How a run of one stage is worked on in shards and merged; what is said of a shard that is done,
//! and of a merge that waits for another stage.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::exit_code::ExitCode;
use super::output::{Output, verdict};
use super::render::count;
use probity::run::run_directory::RunDirectory;
use probity::run::shards::{Shard, Worked};

/// The exit code of what Ctrl-C ended.
const INTERRUPTED: u8 = 130;

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
    folder: &Path,
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
    let path = folder;
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
        shard.count(),
        path.display()
    );
    output.result(&summary, &(text + &next))
}

/// Says that the shards in `folder` were merged in the directory `run` before; `passes` says of its
/// summary whether what was declared holds.
pub(super) fn merged_before(
    folder: &Path,
    run: &RunDirectory,
    passes: fn(&Value) -> bool,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let summary: Value = run.read_summary()?;
    let text = format!(
        "The shards in {} are merged in {} already.\n",
        folder.display(),
        run.path().display()
    );
    output.result(&summary, &text)?;
    Ok(verdict(passes(&summary)))
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
    folder: &Path,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let path = folder;
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
