//! `probity verify`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use super::output::Output;
use super::render::count;
use crate::fairness::audit::AuditOptions;
use crate::fairness::verify::{Verification, verify};
use crate::nn::model::Model;
use crate::report::run_directory::{RunDirectory, SUMMARY};

/// Arguments of `probity verify`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 1 when a pair is rejected.")]
pub(super) struct VerifyArgs {
    /// Run directory of an audit
    run: PathBuf,
    /// Model directory, if the model has moved since
    #[arg(long)]
    model: Option<PathBuf>,
}

#[derive(Serialize)]
struct VerifySummary<'a> {
    schema_version: u32,
    command: &'static str,
    #[serde(flatten)]
    result: &'a Verification,
}

/// Runs `probity verify`.
pub(super) fn run(args: VerifyArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let (directory, options): (_, AuditOptions) = RunDirectory::open_run(&args.run, "audit")?;
    let model = Model::load(args.model.as_ref().unwrap_or(&options.model))?;
    if model.sha256() != options.model_sha256 {
        bail!(
            "the model is not the one that was audited (SHA-256 {}, audited {})",
            model.sha256(),
            options.model_sha256
        );
    }
    let protected = options
        .protected
        .iter()
        .map(|name| model.schema.index_of(name))
        .collect::<Result<Vec<_>, _>>()?;
    let samples = directory.file(options.samples_format.file_name());
    if !directory.file(SUMMARY).is_file() {
        bail!(
            "{} has no {SUMMARY}: the run is unfinished; go on with probity audit --resume --out {}",
            args.run.display(),
            args.run.display()
        );
    }
    let summary: serde_json::Value = directory.read_json(SUMMARY)?;
    let stated = summary["total"]["discriminatory_rows"]
        .as_u64()
        .unwrap_or(0);
    let bar = output.progress(0, "verify {pos} pairs, {per_sec}");
    let mut result = verify(&samples, &model, &protected, &mut |done| {
        bar.set_position(done)
    })?;
    bar.finish_and_clear();
    if result.pairs != stated {
        result.problems.push(format!(
            "{SUMMARY} counts {stated} pairs, but the file holds {}",
            result.pairs
        ));
        result.rejected += stated.abs_diff(result.pairs);
    }
    let summary = VerifySummary {
        schema_version: 1,
        command: "verify",
        result: &result,
    };
    output.result(&summary, &render(&result))?;
    Ok(if result.rejected == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
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
