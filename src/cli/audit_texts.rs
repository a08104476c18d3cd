//! `probity audit --texts` and `--text`

use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde::Serialize;

use super::audit::{AuditArgs, StrategyArg, exit_code, may_resume, what_next};
use super::inputs::{absolute, new_run};
use super::interrupt::Interrupt;
use super::output::Output;
use super::progress::AuditBar;
use super::render::{self, percent, table};
use probity::fairness::text::audit::{PreparedTextAudit, audit_texts};
use probity::fairness::text::options::TextAuditOptions;
use probity::fairness::text::protected::{ProtectedTerms, open_lexicon};
use probity::fairness::text::sentence::{Examination, examine};
use probity::fairness::text::strategy::TextStrategyName;
use probity::nn::Objective;
use probity::nn::text_model::TextModel;
use probity::run::run_directory::{RunDirectory, file_sha256};
use probity::tensor::device::ComputeDevice;
use probity::text::lexicon::Lexicon;

/// Runs `probity audit --texts`.
pub(super) fn run(args: &AuditArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    let (prepared, directory) = if args.resume {
        let out = args.out.clone().unwrap_or_default();
        let (directory, mut options): (_, TextAuditOptions) =
            RunDirectory::open_run(&out, "audit")?;
        may_resume(&directory, options.device, &device)?;
        options.time_seconds = args.budget.time.map(|time| time.as_secs_f64());
        (PreparedTextAudit::new(options, &device)?, directory)
    } else {
        // Everything that can be wrong with the input is found before anything is written.
        let prepared = PreparedTextAudit::new(options(args, &device)?, &device)?;
        (prepared, new_run(args.out.as_ref(), "audit")?)
    };
    let options = prepared.options();
    let mut bar = AuditBar::new(output, Interrupt::listen()?);
    let summary = audit_texts(&prepared, &directory, args.resume, &mut |progress| {
        bar.observe(progress)
    })
    .with_context(|| format!("auditing {}", options.model.display()))?;
    if summary.global.seeds < options.seeds as u64 {
        output.remark(&format!(
            "note: {} texts hold a protected term, so there are {} seeds, not {}",
            summary.global.seeds, summary.global.seeds, options.seeds
        ));
    }
    let text = render::text_audit(&summary) + &what_next(summary.ending, directory.path());
    output.result(&summary, &text)?;
    Ok(exit_code(summary.fail_above.as_ref()))
}

/// What `probity audit --text --json` prints.
#[derive(Serialize)]
struct ExaminationSummary {
    schema_version: u32,
    command: &'static str,
    #[serde(flatten)]
    result: Examination,
}

/// Runs `probity audit --text`.
pub(super) fn examine_one(
    args: &AuditArgs,
    text: &str,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    let Some(path) = &args.model else {
        bail!("--model is needed");
    };
    let model = TextModel::load(path)?;
    let (lexicon, _) = open_lexicon(args.texts.lexicon.as_deref())?;
    let names = attributes(&args.protected, &lexicon);
    let protected = ProtectedTerms::new(&lexicon, &names, &model)?;
    let result = examine(&model, &protected, &names, text, &device)?;
    let text = render_examination(&result);
    let summary = ExaminationSummary {
        schema_version: 1,
        command: "audit --text",
        result,
    };
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// The attributes named, or all of the lexicon.
fn attributes(named: &[String], lexicon: &Lexicon) -> Vec<String> {
    if named.is_empty() {
        let all = lexicon.attributes().iter();
        all.map(|attribute| attribute.name.clone()).collect()
    } else {
        named.to_vec()
    }
}

fn options(args: &AuditArgs, device: &ComputeDevice) -> anyhow::Result<TextAuditOptions> {
    let (Some(model_path), Some(texts)) = (&args.model, &args.texts.texts) else {
        bail!("--model and --texts are needed");
    };
    let model = TextModel::load(model_path)?;
    let (lexicon, lexicon_sha256) = open_lexicon(args.texts.lexicon.as_deref())?;
    let encoder = args.texts.encoder.as_deref();
    let (search, budget) = (&args.search, &args.budget);
    Ok(TextAuditOptions {
        command: "audit".to_owned(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        model: absolute(model_path),
        model_sha256: model.sha256()?,
        texts: absolute(texts),
        texts_sha256: file_sha256(texts)?,
        text_column: args.texts.text_column.clone(),
        lexicon: args.texts.lexicon.as_deref().map(absolute),
        lexicon_sha256,
        encoder: encoder.map(absolute),
        encoder_sha256: encoder.map(file_sha256).transpose()?,
        protected: attributes(&args.protected, &lexicon),
        strategy: strategy(search.strategy)?,
        local_strategy: strategy(args.texts.local_strategy.or(search.strategy))?,
        objective: search.objective.unwrap_or(Objective::Loss),
        neighbours: args.texts.neighbours,
        seeds: search.seeds,
        clusters: search.clusters,
        max_iter: search.max_iter,
        local: search.local,
        max_l0: args.texts.max_l0,
        min_similarity: args.texts.min_similarity,
        estimate: budget.estimate,
        time_seconds: budget.time.map(|time| time.as_secs_f64()),
        max_found: budget.max_found,
        fail_above: budget.fail_above,
        batch: search.batch,
        samples_format: search.samples_format,
        seed: search.seed,
        device: device.name(),
        hardware: device.hardware(),
    })
}

/// The strategy of texts that was `named`; the default without one.
pub(super) fn strategy(named: Option<StrategyArg>) -> anyhow::Result<TextStrategyName> {
    Ok(match named {
        None | Some(StrategyArg::AdfAsc) => TextStrategyName::AdfAsc,
        Some(StrategyArg::AdfHf) => TextStrategyName::AdfHf,
        Some(StrategyArg::Asc) => TextStrategyName::Asc,
        Some(StrategyArg::Hf) => TextStrategyName::Hf,
        Some(StrategyArg::Rp) => TextStrategyName::Rp,
        Some(other) => {
            let name = other
                .to_possible_value()
                .map_or(String::new(), |value| value.get_name().to_owned());
            bail!(
                "--strategy {name} searches tables; for texts there are adf-asc, adf-hf, asc, hf and rp"
            )
        }
    })
}

fn render_examination(result: &Examination) -> String {
    let mut text = format!(
        "Predicted: {} with {}.\n",
        result.label,
        percent(f64::from(result.probability))
    );
    if result.truncated {
        text.push_str("The text was cut to the model's length limit.\n");
    }
    let rows: Vec<Vec<String>> = result
        .swaps
        .iter()
        .map(|swap| {
            vec![
                format!("{} ({})", swap.from, swap.attribute),
                swap.to.clone(),
                swap.label.clone(),
                percent(f64::from(swap.probability)),
                format!("{:+.2}", 100.0 * swap.change),
                if swap.flips {
                    "FLIPS".into()
                } else {
                    String::new()
                },
            ]
        })
        .collect();
    let probability = format!("p({})", result.label);
    text.push_str(&table(
        &[
            "term",
            "replaced by",
            "predicted",
            &probability,
            "change in points",
            "",
        ],
        &rows,
    ));
    let flips = result.swaps.iter().filter(|swap| swap.flips).count();
    text.push_str(&if flips > 0 {
        format!(
            "Discriminatory: {flips} of {} replacements change the prediction.\n",
            result.swaps.len()
        )
    } else {
        format!(
            "Not discriminatory: none of {} replacements changes the prediction.\n",
            result.swaps.len()
        )
    });
    text
}
