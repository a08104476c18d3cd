//! `probity compare`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::fields::Fields;
use super::inputs::{Hardware, Place};
use super::output::Output;
use super::predictor::{SearchArgs, device_for, interrupt_with, remark_on_instability};
use super::progress::AuditBar;
use super::render::{self, count, percent, table};
use probity::fairness::compare::{
    CompareSpecification, CompareSummary, Comparison, StrategyFigures,
};
use probity::fairness::modality::Modality;
use probity::fairness::session::AuditProgress;
use probity::fairness::statistics::Mean;
use probity::fairness::strategies::StrategyName;
use probity::run::run_directory::write_atomically;
use probity::run::specification::Checked;

/// Name of the table in the run directory.
const TABLE: &str = "table.md";

/// Arguments of `probity compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: probity compare --model models/census --data census.csv --protected sex --strategies adf,sg,aequitas-fully --time 20s\n\
                  \x20         probity compare --predictor \"command:python3 predict.py\" --schema people.toml --data people.csv --protected sex\n\
                  Every search gets the same seeds, options, checks and counting. An interrupted comparison keeps the searches that were done."
)]
pub(super) struct CompareArgs {
    #[command(flatten)]
    fields: Fields<CompareSpecification>,
    #[command(flatten)]
    search: SearchArgs,
    /// Run directory [default: the next free runs/compare-N]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Go on with the unfinished comparison in --out; all options but the limits of a predictor come from there
    #[arg(long, requires = "out")]
    resume: bool,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity compare`.
pub(super) fn run(mut args: CompareArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if args.resume {
        let (specification, place) = Place::of_unfinished(args.out, &args.fields)?;
        return run_specification(specification, place, &args.hardware, output);
    }
    args.search.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    run_specification(specification, Place::New(args.out), &args.hardware, output)
}

/// Runs the comparison that is specified.
pub(super) fn run_specification(
    specification: Checked<CompareSpecification>,
    place: Place,
    hardware: &Hardware,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let device = device_for(&specification.predictor, hardware, output)?;
    place.expect_device(&device)?;
    let name = specification.name();
    // Everything that can be wrong with the input is found before anything is written.
    let comparison =
        Comparison::open(specification, &device).with_context(|| format!("comparing on {name}"))?;
    if let Some(began) = place.began() {
        comparison.expect_unchanged(began)?;
    }
    remark_on_instability(comparison.case().instability(), output);
    let (directory, resume) = place.directory("compare")?;
    let mut bar = AuditBar::new(output, interrupt_with(comparison.case().ender())?);
    let mut under_way = None;
    let repeats = comparison.specification().repeats;
    let path = directory.path().display();
    let observe = &mut |strategy: StrategyName, repeat, progress: AuditProgress<'_>| {
        if under_way.replace((strategy, repeat)) != Some((strategy, repeat)) {
            let name = strategy.name();
            output.detail(&format!("{name}, repeat {} of {repeats}", repeat + 1));
        }
        bar.observe(progress)
    };
    let summary = comparison.run(&directory, resume, observe).with_context(|| {
        format!(
            "comparing on {name} (searches that are done are kept; go on with: probity compare --resume --out {path})"
        )
    })?;
    bar.clear();
    let markdown = markdown(&summary.strategies);
    write_atomically(&directory.file(TABLE), markdown.as_bytes())?;
    let mut text = markdown;
    text.push_str(&explanation(&summary));
    if !summary.finished {
        text.push_str(&format!(
            "Interrupted: this is what was done by then. Go on with: probity compare --resume --out {path}\n"
        ));
    }
    text.push_str(&render::plots(&directory)?);
    text.push_str(&format!("Run: {path}, with {TABLE}\n"));
    output.result(&summary, &text)
}

/// The strategies as a Markdown table, in the order asked for.
pub(super) fn markdown(strategies: &[StrategyFigures]) -> String {
    let rows: Vec<Vec<String>> = strategies
        .iter()
        .filter(|figures| !figures.runs.is_empty())
        .map(|figures| {
            vec![
                figures.strategy.name().to_owned(),
                whole(&figures.global),
                whole(&figures.local),
                whole(&figures.found),
                percent(figures.success_rate.mean),
                format!("{:.2}", figures.seconds.mean),
                whole(&figures.found_per_second),
                with_interval(&figures.found_per_thousand_calls, |value| {
                    format!("{value:.1}")
                }),
            ]
        })
        .collect();
    table(
        &[
            "strategy",
            "found, global",
            "found, local",
            "found",
            "success",
            "seconds",
            "found a second",
            "found in 1,000 calls",
        ],
        &rows,
    )
}

fn whole(mean: &Mean) -> String {
    with_interval(mean, |value| count(value.max(0.0).round() as u64))
}

fn with_interval(mean: &Mean, format: impl Fn(f64) -> String) -> String {
    match mean.ci95 {
        Some([low, high]) => {
            format!("{} ({} – {})", format(mean.mean), format(low), format(high))
        }
        None => format(mean.mean),
    }
}

fn explanation(summary: &CompareSummary) -> String {
    let mut text = format!(
        "Means of {} searches each, with 95 % intervals (Student's t). found counts distinct individuals; \
         a call is a row or a gradient that the model was asked for.\n",
        summary.repeats
    );
    for figures in &summary.strategies {
        let Some(score) = figures
            .runs
            .last()
            .and_then(|run| run.causal_discrimination.as_ref())
        else {
            continue;
        };
        text.push_str(&format!(
            "themis, last search: causal discrimination score {} ({} at confidence {}), {} inputs.\n",
            percent(score.score),
            render::interval(score.interval),
            score.confidence,
            count(score.sampled)
        ));
    }
    text
}
