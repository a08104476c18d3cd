//! `probity verify`: what a run claims of single inputs, checked again one by one, and with `--seal`
//! before that whether its files are those that somebody signed.
//!
//! Three kinds of run leave what each claim can be checked by alone: an audit its pairs, a proof its
//! boxes, a k-NN run the rows whose removal changes a label. What the others state is checked by doing it again.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde::Serialize;

use super::exit_code::ExitCode;
use super::interrupt::Interrupt;
use super::knn;
use super::output::{Output, verdict};
use super::predictor::ending;
use super::render::count;
use super::seal::{SealChecks, render_checked};
use probity::fairness::audit::AuditSpecification;
use probity::fairness::prove::specification::ProveSpecification;
use probity::fairness::prove::verify::{ProofVerification, verify_proof};
use probity::fairness::verify::{Verification, verify_audit};
use probity::knn::specification::RobustnessSpecification;
use probity::knn::verify::ReplayCounts;
use probity::predictor::KillHandle;
use probity::run::run_directory::{RUN, RunDirectory};
use probity::run::seal::CheckedSeals;
use probity::run::specification::Specification;
use probity::run::specification::file::{kind_of, read};

/// Arguments of `probity verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 1 when a claim is rejected, or a file is not as it was sealed.\n\
                  The pairs of an audit are asked about again, the boxes of a proof put together again and drawn ones replayed, the removal sets of a k-NN run learnt without again.\n\
                  Runs of other kinds leave nothing of the sort: probity run RUN does them again, certify has --exhaustive, kmeans and spn delete have --verify.\n\
                  With --seal, every file of the run and of all sealed runs that it was made from is compared with its seal; any run can be sealed. \
                  The pairs are left out where the model is not there."
)]
pub(super) struct VerifyArgs {
    /// Directory of an audit, a proof or of `probity knn`; with --seal, of any run
    run: PathBuf,
    /// Model directory of an audit or a proof, if the model has moved since
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    #[command(flatten)]
    seal: SealChecks,
}

impl VerifyArgs {
    /// Takes the model of an audit from where its sealed run is now, where it is not where it was
    /// and nothing else is said.
    fn take_moved(&mut self, moved: Option<PathBuf>) -> anyhow::Result<()> {
        if moved.is_none() {
            return Ok(());
        }
        let file = RunDirectory::open(&self.run)?.file(RUN);
        if self.model.is_none()
            && kind_of(&file)? == AuditSpecification::KIND
            && absent_model(self, &file)?.is_some()
        {
            self.model = moved;
        }
        Ok(())
    }
}

/// What came of it.
#[derive(Serialize)]
struct Verified {
    #[serde(flatten)]
    replay: Option<Replay>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seal: Option<CheckedSeals>,
    /// Why the claims were not checked one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_replayed: Option<String>,
}

/// The claims of a run, checked one by one.
#[derive(Serialize)]
#[serde(untagged)]
enum Replay {
    Pairs(Verification),
    Proof(ProofVerification),
    Removals(ReplayCounts),
}

/// Runs `probity verify`.
pub(super) fn run(mut args: VerifyArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let seal = args.seal.check(&args.run)?;
    let moved = seal.as_ref().and_then(|seal| args.seal.model_by(seal));
    let is_broken = |seal: &CheckedSeals| !seal.problems.is_empty();
    let replayed = match &seal {
        // What is in the files is nobody's claim then.
        Some(seal) if is_broken(seal) => Err("its files are not as they were sealed".to_owned()),
        Some(_) if args.seal.is_all() => Err("only the seals were to be checked".to_owned()),
        _ => {
            args.take_moved(moved)?;
            replay(&args, seal.is_some(), output)?
        }
    };
    let name = match replayed {
        Ok(Replay::Removals(_)) => knn::verify::NAME,
        _ => "verify",
    };
    let mut text = seal.as_ref().map(render_checked).unwrap_or_default();
    let mut holds = seal.as_ref().is_none_or(|seal| !is_broken(seal));
    match &replayed {
        Ok(Replay::Pairs(pairs)) => {
            text.push_str(&render(pairs));
            holds &= pairs.rejected == 0;
        }
        Ok(Replay::Proof(proof)) => {
            text.push_str(&render_proof(proof));
            holds &= proof.holds();
        }
        Ok(Replay::Removals(removals)) => {
            text.push_str(&knn::verify::render(removals));
            holds &= removals.rejected == 0;
        }
        Err(reason) => text.push_str(&format!("Nothing was checked one by one: {reason}.\n")),
    }
    let (replay, not_replayed) = match replayed {
        Ok(replay) => (Some(replay), None),
        Err(reason) => (None, Some(reason)),
    };
    let figures = Verified {
        replay,
        seal,
        not_replayed,
    };
    output.summary(name, &figures, &text)?;
    Ok(verdict(holds))
}

/// Checks the claims of the run one by one, or says why not where that was not all that was asked.
fn replay(
    args: &VerifyArgs,
    is_sealed: bool,
    output: &Output,
) -> anyhow::Result<Result<Replay, String>> {
    let file = RunDirectory::open(&args.run)?.file(RUN);
    match kind_of(&file)?.as_str() {
        AuditSpecification::KIND => match absent_model(args, &file)? {
            Some(model) if is_sealed => {
                let model = model.display();
                Ok(Err(format!(
                    "there is no model in {model} (--model says where it is)"
                )))
            }
            _ => Ok(Ok(Replay::Pairs(audit(args, output)?))),
        },
        ProveSpecification::KIND => Ok(Ok(Replay::Proof(proof(args, output)?))),
        RobustnessSpecification::KIND => {
            ensure!(
                args.model.is_none(),
                "--model has no meaning for a k-NN run: it learns from the rows that {RUN} names"
            );
            Ok(Ok(Replay::Removals(knn::verify::replay(
                &args.run, output,
            )?)))
        }
        kind if is_sealed => Ok(Err(format!(
            "runs of the kind '{kind}' leave nothing to check them by so"
        ))),
        kind => bail!(
            "{} is of a run of the kind '{kind}', whose results leave nothing to check them by one by \
             one; verify takes runs of the kinds '{}', '{}' and '{}'",
            file.display(),
            AuditSpecification::KIND,
            ProveSpecification::KIND,
            RobustnessSpecification::KIND
        ),
    }
}

/// Where the model of an audit is looked for, if nothing is there.
fn absent_model(args: &VerifyArgs, file: &Path) -> anyhow::Result<Option<PathBuf>> {
    let (specification, _) = read::<AuditSpecification>(file)?;
    let model = args.model.clone().or(specification.model);
    let is_predictor = specification.predictor.source.is_some();
    Ok(model.filter(|model| !is_predictor && !model.exists()))
}

/// Checks the pairs of an audit.
fn audit(args: &VerifyArgs, output: &Output) -> anyhow::Result<Verification> {
    let bar = output.progress(0, "verify {pos} pairs, {per_sec}");
    let mut listens = Ok(());
    let opened = &mut |ender: Option<&KillHandle>| {
        if ender.is_some() {
            listens = Interrupt::end_at_once(ending(ender));
        }
    };
    let progress = &mut |done| bar.set_position(done);
    let result = verify_audit(&args.run, args.model.as_deref(), opened, progress)
        .with_context(|| args.run.display().to_string())?;
    listens?;
    bar.finish_and_clear();
    Ok(result)
}

/// Checks the boxes of a proof.
fn proof(args: &VerifyArgs, output: &Output) -> anyhow::Result<ProofVerification> {
    let bar = output.progress(0, "verify {pos} boxes, {per_sec}");
    Interrupt::end_at_once(|| {})?;
    let progress = &mut |done| bar.set_position(done);
    let result = verify_proof(&args.run, args.model.as_deref(), progress)
        .with_context(|| args.run.display().to_string())?;
    bar.finish_and_clear();
    Ok(result)
}

fn render_proof(result: &ProofVerification) -> String {
    let parts = match result.adds_up {
        true => "are the whole domain and add up to what is proven",
        false => "are not what the summary says",
    };
    let mut text = format!(
        "{} boxes {parts}. {} were replayed: {} refuted.\n",
        count(result.boxes),
        count(result.replayed),
        count(result.refuted)
    );
    for problem in &result.problems {
        text.push_str(&format!("  {problem}\n"));
    }
    text + &render(&result.pairs)
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
