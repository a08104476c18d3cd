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
use probity::fairness::modality::{Modality, ModalityName, TableCase, TextCase, Witness};
use probity::fairness::verify::{Verification, verify};
use probity::knn::specification::RobustnessSpecification;
use probity::run::run_directory::{RUN, RunDirectory, SUMMARY};
use probity::run::specification::Specification;
use probity::run::specification::file::{Record, kind_of};

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
    let (directory, specification, record) =
        RunDirectory::open_specified::<AuditSpecification>(&args.run)?;
    if !directory.file(SUMMARY).is_file() {
        bail!(
            "{} has no {SUMMARY}: the run is unfinished; go on with probity audit --resume --out {}",
            args.run.display(),
            args.run.display()
        );
    }
    let summary: serde_json::Value = directory.read_summary()?;
    let stated = summary["total"]["discriminatory_rows"]
        .as_u64()
        .unwrap_or(0);
    let bar = output.progress(0, "verify {pos} pairs, {per_sec}");
    let progress = &mut |done| bar.set_position(done);
    let model = args.model.as_deref();
    ensure!(
        model.is_none() || specification.predictor.source.is_none(),
        "--model has no meaning for a run on a predictor: it is where {RUN} says"
    );
    let mut result = match specification.modality {
        ModalityName::Table => {
            let witness = TableCase::witness(&specification, model)?;
            check(&witness, &directory, (&specification, &record), progress)?
        }
        ModalityName::Text => {
            let witness = TextCase::witness(&specification, model)?;
            check(&witness, &directory, (&specification, &record), progress)?
        }
    };
    bar.finish_and_clear();
    if result.pairs != stated {
        result.problems.push(format!(
            "{SUMMARY} counts {stated} pairs, but the file holds {}",
            result.pairs
        ));
        result.rejected += stated.abs_diff(result.pairs);
    }
    output.summary("verify", &result, &render(&result))?;
    Ok(verdict(result.rejected == 0))
}

/// Re-checks the pairs in `directory`, if `witness` is of what the audit opened.
fn check(
    witness: &dyn Witness,
    directory: &RunDirectory,
    (specification, record): (&AuditSpecification, &Record),
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<Verification> {
    for (role, now) in witness.sha256() {
        let then = record.sha256_of(role);
        ensure!(
            now == then,
            "the {role} is not the one that was audited (SHA-256 {now}, audited {then})"
        );
    }
    if witness.ender().is_some() {
        Interrupt::end_at_once(ending(witness.ender()))?;
    }
    let samples = directory.file(specification.samples_format.file_name());
    verify(&samples, witness, progress).with_context(|| specification.name_of("model"))
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
