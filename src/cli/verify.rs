//! `probity verify`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;

use super::audit::is_text_run;
use super::interrupt::Interrupt;
use super::output::Output;
use super::predictor::refuse_moved;
use super::render::count;
use probity::data::schema::{Schema, SchemaError};
use probity::fairness::audit::AuditOptions;
use probity::fairness::text::options::TextAuditOptions;
use probity::fairness::text::protected::{ProtectedTerms, open_lexicon};
use probity::fairness::text::verify::verify_texts;
use probity::fairness::verify::{Verification, verify, verify_predictor};
use probity::nn::model::Model;
use probity::nn::text_model::TextModel;
use probity::run::run_directory::{RunDirectory, SUMMARY};

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
    let is_text = is_text_run(&args.run);
    let (directory, audited) = if is_text {
        let (directory, options): (_, TextAuditOptions) =
            RunDirectory::open_run(&args.run, "audit")?;
        (directory, Audited::Texts(Box::new(options)))
    } else {
        let (directory, options): (_, AuditOptions) = RunDirectory::open_run(&args.run, "audit")?;
        (directory, Audited::Table(Box::new(options)))
    };
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
    let progress = &mut |done| bar.set_position(done);
    let mut result = match audited {
        Audited::Table(options) => verify_table(&args, &options, &directory, progress)?,
        Audited::Texts(options) => verify_text_run(&args, &options, &directory, progress)?,
    };
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

/// The options of the audit whose pairs are verified.
enum Audited {
    Table(Box<AuditOptions>),
    Texts(Box<TextAuditOptions>),
}

fn verify_table(
    args: &VerifyArgs,
    options: &AuditOptions,
    directory: &RunDirectory,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<Verification> {
    let samples = directory.file(options.samples_format.file_name());
    if let Some(predictor) = &options.predictor {
        refuse_moved(args.model.as_ref())?;
        is_audited_model(predictor.sha256()?, &options.model_sha256)?;
        let name = || predictor.source.to_string();
        let open = predictor.open().with_context(name)?;
        let interrupt = open.ender;
        Interrupt::end_at_once(move || {
            if let Some(ender) = &interrupt {
                ender.end();
            }
        })?;
        let (schema, classifier) = (&predictor.schema, open.classifier.as_ref());
        let protected = positions(schema, &options.protected)?;
        return verify_predictor(&samples, schema, classifier, &protected, progress)
            .with_context(name);
    }
    let model = Model::load(args.model.as_ref().unwrap_or(&options.model))?;
    is_audited_model(model.sha256(), &options.model_sha256)?;
    let protected = positions(&model.schema, &options.protected)?;
    Ok(verify(&samples, &model, &protected, progress)?)
}

fn positions(schema: &Schema, names: &[String]) -> Result<Vec<usize>, SchemaError> {
    names.iter().map(|name| schema.index_of(name)).collect()
}

fn verify_text_run(
    args: &VerifyArgs,
    options: &TextAuditOptions,
    directory: &RunDirectory,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<Verification> {
    let model = TextModel::load(args.model.as_ref().unwrap_or(&options.model))?;
    is_audited_model(model.sha256()?, &options.model_sha256)?;
    let (lexicon, sha256) = open_lexicon(options.lexicon.as_deref())?;
    if sha256 != options.lexicon_sha256 {
        bail!("the lexicon is not the one that the audit used");
    }
    let protected = ProtectedTerms::new(&lexicon, &options.protected, &model)?;
    let samples = directory.file(options.samples_format.file_name());
    Ok(verify_texts(&samples, &model, &protected, progress)?)
}

fn is_audited_model(sha256: String, audited: &str) -> anyhow::Result<()> {
    if sha256 != audited {
        bail!("the model is not the one that was audited (SHA-256 {sha256}, audited {audited})");
    }
    Ok(())
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
