//! `probity compare`

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;

use super::audit::duration;
use super::inputs::{Hardware, OutsideArg, absolute, new_run, protected_or_marked, with_outside};
use super::interrupt::Interrupt;
use super::output::Output;
use super::progress::AuditBar;
use super::render::{count, percent, table};
use super::tuning::TuningArgs;
use crate::device::ComputeDevice;
use crate::fairness::compare::{
    BY_CALLS, BY_TIME, CompareOptions, CompareSummary, PreparedComparison, StrategyFigures, compare,
};
use crate::fairness::strategies::StrategyName;
use crate::nn::Objective;
use crate::nn::model::Model;
use crate::nn::text_model::is_text_model;
use crate::report::mean::Mean;
use crate::report::run_directory::{file_sha256, write_atomically};

/// Name of the table in the run directory.
const TABLE: &str = "table.md";

/// Arguments of `probity compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity compare --model models/census --data census.csv --protected sex --strategies adf,sg,aequitas-fully --time 20s\n\
                  Every search gets the same seeds, options, checks and counting. An interrupted comparison keeps the searches that were done."
)]
pub(super) struct CompareArgs {
    /// Model directory, as `probity train` or `probity import` writes it
    #[arg(long)]
    model: PathBuf,
    /// Table that the seeds come from; read by the model's schema
    #[arg(long)]
    data: PathBuf,
    /// Protected attributes, jointly [default: those marked in the model's schema]
    #[arg(long, value_delimiter = ',')]
    protected: Vec<String>,
    /// Strategies to compare
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "adf,eidig,aequitas-fully,sg,themis,random-walk"
    )]
    strategies: Vec<StrategyName>,
    /// Searches of each strategy, with the seeds from --seed on
    #[arg(long, default_value_t = 5)]
    repeats: u32,
    /// Run directory [default: the next free runs/compare-N]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Missing and outside values, where the model's schema expects any
    #[arg(long, value_enum)]
    outside: Option<OutsideArg>,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    tuning: TuningArgs,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
struct SearchArgs {
    /// What is differentiated
    #[arg(long, value_enum, default_value_t)]
    objective: Objective,
    /// Seeds of the global phase, of the data or drawn, as a strategy wants
    #[arg(long, default_value_t = 1000)]
    seeds: usize,
    /// Clusters that the seeds of the data come from, in turn
    #[arg(long, default_value_t = 4)]
    clusters: usize,
    /// Global moves a seed at most
    #[arg(long, default_value_t = 10)]
    max_iter: u32,
    /// Local trials from each individual that the global phase finds
    #[arg(long, default_value_t = 1000)]
    local: u32,
    /// Codes that a global step moves
    #[arg(long, default_value_t = 1)]
    step_global: u32,
    /// Codes that a local step moves
    #[arg(long, default_value_t = 1)]
    step_local: u32,
    /// Inputs worked on at a time by one thread; no influence on the result
    #[arg(long, default_value_t = 4096)]
    batch: usize,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Search time of each search at most, such as 60s or 5m
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// Stop a search when this many distinct individuals are found
    #[arg(long, value_name = "N")]
    max_found: Option<u64>,
}

/// Runs `probity compare`.
pub(super) fn run(args: CompareArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    // Everything that can be wrong with the input is found before anything is written.
    let prepared = PreparedComparison::new(args.options(&device)?, &device)?;
    let directory = new_run(args.out.as_ref(), "compare")?;
    let mut bar = AuditBar::new(output, Interrupt::listen()?);
    let mut under_way = None;
    let repeats = prepared.options().repeats;
    let summary = compare(&prepared, &directory, &mut |strategy, repeat, progress| {
        if under_way.replace((strategy, repeat)) != Some((strategy, repeat)) {
            let name = strategy.name();
            output.detail(&format!("{name}, repeat {} of {repeats}", repeat + 1));
        }
        bar.observe(progress)
    })
    .with_context(|| format!("comparing on {}", prepared.options().model.display()))?;
    bar.clear();
    let markdown = markdown(&summary.strategies);
    write_atomically(&directory.file(TABLE), markdown.as_bytes())?;
    let mut text = markdown;
    text.push_str(&explanation(&summary));
    let path = directory.path().display();
    text.push_str(&format!(
        "Run: {path}, with {TABLE}, {BY_TIME} and {BY_CALLS}\n"
    ));
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
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
            "themis, last search: causal discrimination score {} ({} – {} at confidence {}), {} inputs.\n",
            percent(score.score),
            percent(score.interval[0]),
            percent(score.interval[1]),
            score.confidence,
            count(score.sampled)
        ));
    }
    if !summary.finished {
        text.push_str("Interrupted: this is what was done by then.\n");
    }
    text
}

impl CompareArgs {
    fn options(&self, device: &ComputeDevice) -> anyhow::Result<CompareOptions> {
        if is_text_model(&self.model) {
            bail!(
                "{} classifies texts; strategies are compared on tables",
                self.model.display()
            );
        }
        let model = Model::load(&self.model)?;
        if let Some(outside) = self.outside {
            with_outside(model.schema.clone(), outside)?;
        }
        let search = &self.search;
        Ok(CompareOptions {
            command: "compare".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: absolute(&self.model),
            model_sha256: model.sha256(),
            data: absolute(&self.data),
            data_sha256: file_sha256(&self.data)?,
            outside: self.outside.map(Into::into),
            protected: protected_or_marked(&self.protected, &model.schema),
            strategies: self.strategies.clone(),
            objective: search.objective,
            seeds: search.seeds,
            clusters: search.clusters,
            max_iter: search.max_iter,
            local: search.local,
            step_global: search.step_global,
            step_local: search.step_local,
            time_seconds: search.time.map(|time| time.as_secs_f64()),
            max_found: search.max_found,
            repeats: self.repeats,
            batch: search.batch,
            seed: search.seed,
            device: device.name(),
            hardware: device.hardware(),
            tuning: self.tuning.resolve(&self.strategies)?,
        })
    }
}
