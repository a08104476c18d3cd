//! `probity compare`

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;

use super::audit::{duration, may_resume};
use super::audited::{self, Audited, remark_on_difference};
use super::inputs::{Hardware, OutsideArg, absolute, new_run, protected_or_marked};
use super::interrupt::Interrupt;
use super::output::Output;
use super::predictor::{PredictorArgs, name_of};
use super::progress::AuditBar;
use super::render::{self, count, percent, table};
use super::tuning::TuningArgs;
use probity::fairness::compare::{
    CompareOptions, CompareSummary, PreparedComparison, StrategyFigures, compare,
};
use probity::fairness::mean::Mean;
use probity::fairness::session::AuditProgress;
use probity::fairness::strategies::StrategyName;
use probity::nn::Objective;
use probity::predictor::Ender;
use probity::run::run_directory::{RunDirectory, file_sha256, write_atomically};
use probity::tensor::device::ComputeDevice;

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
    /// Model directory, as `probity train` or `probity import` writes it
    #[arg(long, required_unless_present_any = ["resume", "predictor"])]
    model: Option<PathBuf>,
    /// Table that the seeds come from; read by the schema
    #[arg(long, required_unless_present = "resume")]
    data: Option<PathBuf>,
    /// Protected attributes, jointly [default: those marked in the schema]
    #[arg(long, value_delimiter = ',')]
    protected: Vec<String>,
    /// Strategies to compare [default: adf,eidig,aequitas-fully,sg,themis,random-walk; for predictors
    /// aequitas-fully,adf-zero-order,sg,themis,random-walk]
    #[arg(long, value_enum, value_delimiter = ',')]
    strategies: Vec<StrategyName>,
    /// Searches of each strategy, with the seeds from --seed on
    #[arg(long, default_value_t = 5)]
    repeats: u32,
    /// Run directory [default: the next free runs/compare-N]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Go on with the unfinished comparison in --out; all options but the limits of a predictor come from there
    #[arg(long, requires = "out")]
    resume: bool,
    /// Missing and outside values, where the schema expects any
    #[arg(long, value_enum)]
    outside: Option<OutsideArg>,
    #[command(flatten)]
    predictor: PredictorArgs,
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

/// The strategies that are compared unless told otherwise.
const STRATEGIES: [StrategyName; 6] = [
    StrategyName::Adf,
    StrategyName::Eidig,
    StrategyName::AequitasFully,
    StrategyName::Sg,
    StrategyName::Themis,
    StrategyName::RandomWalk,
];

/// The same on predictors, which give no gradients.
const BLACK_BOX_STRATEGIES: [StrategyName; 5] = [
    StrategyName::AequitasFully,
    StrategyName::AdfZeroOrder,
    StrategyName::Sg,
    StrategyName::Themis,
    StrategyName::RandomWalk,
];

/// Runs `probity compare`.
pub(super) fn run(args: CompareArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let (prepared, ender, directory) = match args.resume {
        true => go_on(&args, output)?,
        false => begin(&args, output)?,
    };
    let interrupt = Interrupt::listen_and(move || {
        if let Some(ender) = &ender {
            ender.end();
        }
    })?;
    let mut bar = AuditBar::new(output, interrupt);
    let mut under_way = None;
    let repeats = prepared.options().repeats;
    let resume = args.resume;
    let path = directory.path().display();
    let observe = &mut |strategy: StrategyName, repeat, progress: AuditProgress<'_>| {
        if under_way.replace((strategy, repeat)) != Some((strategy, repeat)) {
            let name = strategy.name();
            output.detail(&format!("{name}, repeat {} of {repeats}", repeat + 1));
        }
        bar.observe(progress)
    };
    let summary = compare(&prepared, &directory, resume, observe).with_context(|| {
        let options = prepared.options();
        let name = name_of(options.predictor.as_ref(), &options.model);
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
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// What to compare on, what ends its process, and where to.
type Begun = (PreparedComparison, Option<Ender>, RunDirectory);

/// A new comparison. Everything that can be wrong with the input is found before anything is written.
fn begin(args: &CompareArgs, output: &Output) -> anyhow::Result<Begun> {
    let has_predictor = args.predictor.predictor.is_some();
    let device = audited::device(&args.hardware, has_predictor, output)?;
    let (prepared, ender) = prepare(args.options(&device)?, &device, output)?;
    let directory = new_run(args.out.as_ref(), "compare")?;
    Ok((prepared, ender, directory))
}

/// The unfinished comparison in `--out`.
fn go_on(args: &CompareArgs, output: &Output) -> anyhow::Result<Begun> {
    ensure!(
        args.search.time.is_none(),
        "--time cannot be given with --resume: every search of a comparison has the same"
    );
    let out = args.out.as_deref().context("--out is needed")?;
    let (directory, mut options): (_, CompareOptions) = RunDirectory::open_run(out, "compare")?;
    let device = audited::device(&args.hardware, options.predictor.is_some(), output)?;
    may_resume(&directory, options.device, &device)?;
    match &mut options.predictor {
        Some(predictor) => args.predictor.overrule(predictor)?,
        None => args.predictor.refuse()?,
    }
    let (prepared, ender) = prepare(options, &device, output)?;
    Ok((prepared, ender, directory))
}

/// Loads what `options` name, and starts the predictor if they name one.
fn prepare(
    options: CompareOptions,
    device: &ComputeDevice,
    output: &Output,
) -> anyhow::Result<(PreparedComparison, Option<Ender>)> {
    let Some(predictor) = options.predictor.clone() else {
        return Ok((PreparedComparison::new(options, device)?, None));
    };
    let open = audited::open(&predictor)?;
    let (prepared, difference) =
        PreparedComparison::of_predictor(options, &predictor, open.classifier)
            .with_context(|| predictor.source.to_string())?;
    remark_on_difference(difference, output);
    Ok((prepared, open.ender))
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

impl CompareArgs {
    fn options(&self, device: &ComputeDevice) -> anyhow::Result<CompareOptions> {
        let data = self.data.as_deref().context("--data is needed")?;
        let audited = Audited::of(
            self.model.as_ref(),
            &self.predictor,
            self.outside,
            "strategies are compared on tables",
        )?;
        let strategies = match (self.strategies.is_empty(), &audited.predictor) {
            (false, _) => self.strategies.clone(),
            (true, None) => STRATEGIES.to_vec(),
            (true, Some(_)) => BLACK_BOX_STRATEGIES.to_vec(),
        };
        let search = &self.search;
        Ok(CompareOptions {
            command: "compare".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: audited.model,
            model_sha256: audited.sha256,
            data: absolute(data),
            data_sha256: file_sha256(data)?,
            outside: audited.outside,
            protected: protected_or_marked(&self.protected, &audited.schema),
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
            tuning: self.tuning.resolve(&strategies)?,
            strategies,
            predictor: audited.predictor,
        })
    }
}
