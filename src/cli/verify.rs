//! `probity verify`: what a run claims of single inputs, checked again one by one.
//!
//! Two kinds of run leave what each claim can be checked by alone: an audit its pairs, a k-NN run
//! the rows whose removal changes a label. What the others state is checked by doing it again.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::Args;

use super::interrupt::Interrupt;
use super::knn;
use super::output::{Output, verdict};
use super::predictor::ending;
use super::render::count;
use probity::fairness::audit::AuditSpecification;
use probity::fairness::verify::{Verification, verify_audit};
use probity::knn::specification::RobustnessSpecification;
use probity::predictor::Ender;
use probity::run::run_directory::{RUN, RunDirectory};
use probity::run::specification::Specification;
use probity::run::specification::file::kind_of;

/// Arguments of `probity verify`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 1 when a claim is rejected.\n\
                  The pairs of an audit are asked about again, the removal sets of a k-NN run learnt without again.\n\
                  Runs of other kinds leave nothing of the sort: probity run RUN does them again, certify has --exhaustive, kmeans and spn delete have --verify.")]
pub(super) struct VerifyArgs {
    /// Run directory of an audit or of `probity knn`
    run: PathBuf,
    /// Model directory of an audit, if the model has moved since
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
}

/// Runs `probity verify`.
pub(super) fn run(args: VerifyArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let file = RunDirectory::open(&args.run)?.file(RUN);
    match kind_of(&file)?.as_str() {
        AuditSpecification::KIND => audit(&args, output),
        RobustnessSpecification::KIND => {
            ensure!(
                args.model.is_none(),
                "--model has no meaning for a k-NN run: it learns from the rows that {RUN} names"
            );
            knn::verify::verify_run(&args.run, output)
        }
        kind => bail!(
            "{} is of a run of the kind '{kind}', whose results leave nothing to check them by one by \
             one; verify takes runs of the kinds '{}' and '{}'",
            file.display(),
            AuditSpecification::KIND,
            RobustnessSpecification::KIND
        ),
    }
}

/// Checks the pairs of an audit.
fn audit(args: &VerifyArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let bar = output.progress(0, "verify {pos} pairs, {per_sec}");
    let mut listens = Ok(());
    let opened = &mut |ender: Option<&Ender>| {
        if ender.is_some() {
            listens = Interrupt::end_at_once(ending(ender));
        }
    };
    let progress = &mut |done| bar.set_position(done);
    let result = verify_audit(&args.run, args.model.as_deref(), opened, progress)
        .with_context(|| args.run.display().to_string())?;
    listens?;
    bar.finish_and_clear();
    output.summary("verify", &result, &render(&result))?;
    Ok(verdict(result.rejected == 0))
}

fn render(result: &Verification) -> String {
    let mut text = format!(
        "{} pairs: {} confirmed, {} rejected.\n",
        count(result.pairs),
        count(result.confirmed),
        count(result.rejected)
    );
    if result.decided_by_rounding > 0 {
        text.push_str(&format!(
            "{} of the confirmed pairs hang on the rounding of 32-bit arithmetic.\n",
            count(result.decided_by_rounding)
        ));
    }
    for problem in &result.problems {
        text.push_str(&format!("  {problem}\n"));
    }
    text
}
