//! `probity knn verify`, which `probity verify` does for runs of `probity knn`.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;

use crate::cli::exit_code::ExitCode;
use crate::cli::output::{Output, verdict};
use crate::cli::render::count;
use probity::knn::specification::RobustnessSpecification;
use probity::knn::verdicts::read_verdicts;
use probity::knn::verify::{ReplayCounts, replay_falsifications};
use probity::run::run_directory::{RunDirectory, SUMMARY};
use probity::run::specification::Specification;
use probity::run::specification::file::{Changed, Record};

/// What its summary says of itself.
pub(crate) const NAME: &str = "knn verify";

/// Arguments of `probity knn verify`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 1 when a falsification is rejected.")]
pub(super) struct VerifyArgs {
    /// Run directory of `probity knn`
    run: PathBuf,
}

/// Runs `probity knn verify`.
pub(super) fn run(args: VerifyArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let result = replay(&args.run, output)?;
    output.summary(NAME, &result, &render(&result))?;
    Ok(verdict(result.rejected == 0))
}

/// Replays every falsification of the run in the directory `path`.
pub(crate) fn replay(path: &Path, output: &Output) -> anyhow::Result<ReplayCounts> {
    let (directory, run, record) = RunDirectory::open_specified::<RobustnessSpecification>(path)?;
    if !directory.file(SUMMARY).is_file() {
        bail!("{} has no {SUMMARY}: the run is unfinished", path.display());
    }
    let run = run.check()?;
    let inputs = run.read()?;
    expect_unchanged(&run, &run.record(&inputs)?, &record)?;
    let rows = read_verdicts(&directory.file(run.analysis.verdicts_format.file_name()))?;
    let falsified = rows.iter().filter(|row| row.verdict == "falsified").count();
    let bar = output.progress(
        falsified as u64,
        "replay [{bar:28}] {pos}/{len} falsifications, {eta} left",
    );
    let result = replay_falsifications(&run.learning, &inputs, &rows, &mut |done| {
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    Ok(result)
}

/// Holds that the files that were read are those that were analysed.
fn expect_unchanged(
    run: &RobustnessSpecification,
    found: &Record,
    analysed: &Record,
) -> anyhow::Result<()> {
    match analysed.changed_since(&found.sha256) {
        None => Ok(()),
        Some(Changed { role, now, then }) => bail!(
            "{} is not the file that was analysed (SHA-256 {now}, analysed {then})",
            run.file_of(role).display()
        ),
    }
}

/// What came of it, in words.
pub(crate) fn render(result: &ReplayCounts) -> String {
    let mut text = format!(
        "{} falsifications replayed: {} confirmed, {} rejected.\n",
        count(result.falsified),
        count(result.confirmed),
        count(result.rejected)
    );
    for problem in &result.problems {
        text.push_str(&format!("  {problem}\n"));
    }
    text
}
