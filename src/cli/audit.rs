//! `probity audit`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};

use super::audit_texts;
use super::audited::{self, Audited, remark_on_difference};
use super::inputs::{Hardware, OutsideArg, absolute, new_run, protected_or_marked};
use super::interrupt::Interrupt;
use super::output::Output;
use super::predictor::{PredictorArgs, name_of};
use super::progress::AuditBar;
use super::render;
use super::tuning::TuningArgs;
use probity::fairness::audit::{AuditOptions, PreparedAudit, StrategyName, audit};
use probity::fairness::estimate::Verdict;
use probity::fairness::samples::SamplesFormat;
use probity::fairness::search::Ending;
use probity::fairness::summary::BoundSummary;
use probity::nn::Objective;
use probity::predictor::Ender;
use probity::run::run_directory::{CHECKPOINT, RUN, RunDirectory, SUMMARY, file_sha256};
use probity::tensor::device::{ComputeDevice, DeviceName};

/// Arguments of `probity audit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: probity audit --model models/census --data census.csv --protected sex,race --fail-above 0.05\n\
                  \x20         probity audit --model models/toxic --texts comments.csv --text-column comment --protected religion\n\
                  \x20         probity audit --model models/toxic --protected gender --text \"She is a doctor.\"\n\
                  \x20         probity audit --predictor \"command:python3 predict.py\" --schema people.toml --data people.csv\n\
                  With --fail-above the exit code is 0 only when the whole 95 % interval is at or below the bound."
)]
pub(super) struct AuditArgs {
    /// Model directory, as `probity train` or `probity import` writes it
    #[arg(long, required_unless_present_any = ["resume", "predictor"])]
    pub(super) model: Option<PathBuf>,
    /// Table that the seeds come from; read by the schema
    #[arg(long, required_unless_present_any = ["resume", "texts", "text"])]
    data: Option<PathBuf>,
    /// Protected attributes, jointly; for texts, of the lexicon [default: those marked in the schema, or all of the lexicon]
    #[arg(long, value_delimiter = ',')]
    pub(super) protected: Vec<String>,
    /// Run directory [default: the next free runs/audit-N]
    #[arg(long)]
    pub(super) out: Option<PathBuf>,
    /// Go on with the unfinished run in --out; all options but the limits of time come from there
    #[arg(long, requires = "out", conflicts_with_all = ["model", "predictor", "data", "protected", "outside", "texts", "text"])]
    pub(super) resume: bool,
    /// Missing and outside values, where the schema expects any
    #[arg(long, value_enum)]
    outside: Option<OutsideArg>,
    #[command(flatten)]
    pub(super) predictor: PredictorArgs,
    #[command(flatten)]
    pub(super) texts: TextArgs,
    #[command(flatten)]
    pub(super) search: SearchArgs,
    #[command(flatten)]
    pub(super) tuning: TuningArgs,
    #[command(flatten)]
    pub(super) budget: BudgetArgs,
    #[command(flatten)]
    pub(super) hardware: Hardware,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Texts")]
pub(super) struct TextArgs {
    /// File that the seeds come from: a text a line (.txt), or a table with --text-column
    #[arg(long, conflicts_with_all = ["data", "text", "predictor", "outside", "step_global", "step_local"])]
    pub(super) texts: Option<PathBuf>,
    /// Column of --texts that holds the text
    #[arg(long, requires = "texts")]
    pub(super) text_column: Option<String>,
    /// Examine this one text: how the score moves under each replacement of a protected term
    #[arg(long, conflicts_with_all = [
        "data", "predictor", "out", "outside", "step_global", "step_local", "strategy", "objective", "seeds", "clusters",
        "max_iter", "local", "batch", "samples_format", "seed", "time", "max_found", "estimate", "fail_above",
        "neighbours", "max_l0", "min_similarity",
    ])]
    pub(super) text: Option<String>,
    /// Lexicon of protected terms (TOML) [default: the shipped ones, see probity lexicon show]
    #[arg(long, conflicts_with = "data")]
    pub(super) lexicon: Option<PathBuf>,
    /// Strategy of the local phase [default: that of --strategy]
    #[arg(long, value_enum, conflicts_with_all = ["data", "text"])]
    pub(super) local_strategy: Option<StrategyArg>,
    /// Nearest words in the embedding table that may replace a word
    #[arg(long, default_value_t = 10, conflicts_with = "data")]
    pub(super) neighbours: usize,
    /// Words that may differ from the seed, at most
    #[arg(long, conflicts_with = "data", value_name = "N")]
    pub(super) max_l0: Option<usize>,
    /// Sentence encoder (ONNX, tokenizer.json beside it) that measures similarity [default: frequency-weighted word vectors]
    #[arg(long, conflicts_with_all = ["data", "text"], value_name = "FILE")]
    pub(super) encoder: Option<PathBuf>,
    /// Least semantic similarity with the seed, from -1 to 1
    #[arg(long, conflicts_with = "data", value_name = "COSINE")]
    pub(super) min_similarity: Option<f32>,
}

/// Which search strategy, for tables and for texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum StrategyArg {
    /// Tables: gradient-guided global and local search
    Adf,
    /// Tables: ADF with momentum and lasting gradients
    Eidig,
    /// Tables: ADF with gradients from differences of outputs
    AdfZeroOrder,
    /// Tables: surrogate trees around inputs, their path constraints negated
    Sg,
    /// Tables: random inputs, then steps whose attribute and direction are learnt
    AequitasFully,
    /// Tables: random inputs, then steps whose direction is learnt
    AequitasSemi,
    /// Tables: random inputs, then random steps
    AequitasRandom,
    /// Tables: random inputs until their discriminatory share is known well enough
    Themis,
    /// Tables: random steps, what any guided search must beat
    RandomWalk,
    /// Texts: ADF, token by importance, word by direction
    AdfAsc,
    /// Texts: ADF, token and word by first-order effect
    AdfHf,
    /// Texts: adf-asc without the second input, an attack on the text alone
    Asc,
    /// Texts: adf-hf without the second input (HotFlip)
    Hf,
    /// Texts: random token, random neighbour
    Rp,
}

impl StrategyArg {
    /// The strategy for tables; `None` for one that searches texts.
    fn on_tables(self) -> Option<StrategyName> {
        match self {
            StrategyArg::Adf => Some(StrategyName::Adf),
            StrategyArg::Eidig => Some(StrategyName::Eidig),
            StrategyArg::AdfZeroOrder => Some(StrategyName::AdfZeroOrder),
            StrategyArg::Sg => Some(StrategyName::Sg),
            StrategyArg::AequitasFully => Some(StrategyName::AequitasFully),
            StrategyArg::AequitasSemi => Some(StrategyName::AequitasSemi),
            StrategyArg::AequitasRandom => Some(StrategyName::AequitasRandom),
            StrategyArg::Themis => Some(StrategyName::Themis),
            StrategyArg::RandomWalk => Some(StrategyName::RandomWalk),
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(super) struct SearchArgs {
    /// Search strategy [default: adf for tables, aequitas-fully for predictors, adf-asc for texts]
    #[arg(long, value_enum)]
    pub(super) strategy: Option<StrategyArg>,
    /// What is differentiated [default: margin for tables, loss for texts]
    #[arg(long, value_enum)]
    pub(super) objective: Option<Objective>,
    /// Seeds of the global phase
    #[arg(long, default_value_t = 1000)]
    pub(super) seeds: usize,
    /// Clusters that the seeds come from, in turn
    #[arg(long, default_value_t = 4)]
    pub(super) clusters: usize,
    /// Global moves a seed at most
    #[arg(long, default_value_t = 10)]
    pub(super) max_iter: u32,
    /// Local trials from each individual that the global phase finds
    #[arg(long, default_value_t = 1000)]
    pub(super) local: u32,
    /// Codes that a global step moves
    #[arg(long, default_value_t = 1)]
    step_global: u32,
    /// Codes that a local step moves
    #[arg(long, default_value_t = 1)]
    step_local: u32,
    /// Inputs worked on at a time by one thread; no influence on the result
    #[arg(long, default_value_t = 4096)]
    pub(super) batch: usize,
    /// Form of the samples file
    #[arg(long = "samples", value_enum, default_value_t)]
    pub(super) samples_format: SamplesFormat,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Budget and bound")]
pub(super) struct BudgetArgs {
    /// Search time at most, such as 60s or 5m, counted from the beginning of the run
    #[arg(long, value_parser = duration)]
    pub(super) time: Option<Duration>,
    /// Stop when this many distinct individuals are found
    #[arg(long, value_name = "N")]
    pub(super) max_found: Option<u64>,
    /// Uniform random inputs (or texts of --texts) for each estimate of the discriminatory share
    #[arg(long, default_value_t = 10_000)]
    pub(super) estimate: u64,
    /// Exit with 1 unless the joint discriminatory share is shown to be at most this
    #[arg(long, value_name = "SHARE")]
    pub(super) fail_above: Option<f64>,
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "a time such as 90s, 5m or 1h is expected".into())
}

/// Runs `probity audit`.
pub(super) fn run(args: AuditArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if let Some(text) = &args.texts.text {
        args.tuning.refuse_for_texts()?;
        return audit_texts::examine_one(&args, text, output);
    }
    let resumes_texts = args.resume && is_text_run(args.out.as_deref().unwrap_or(Path::new("")));
    if args.texts.texts.is_some() || resumes_texts {
        args.tuning.refuse_for_texts()?;
        return audit_texts::run(&args, output);
    }
    let (prepared, ender, directory) = if args.resume {
        let out = args.out.clone().unwrap_or_default();
        let (directory, mut options): (_, AuditOptions) = RunDirectory::open_run(&out, "audit")?;
        let device = audited::device(&args.hardware, options.predictor.is_some(), output)?;
        may_resume(&directory, options.device, &device)?;
        options.time_seconds = args.budget.time.map(|time| time.as_secs_f64());
        match &mut options.predictor {
            Some(predictor) => args.predictor.overrule(predictor)?,
            None => args.predictor.refuse()?,
        }
        let (prepared, ender) = prepare(options, &device, output)?;
        (prepared, ender, directory)
    } else {
        // Everything that can be wrong with the input is found before anything is written.
        let has_predictor = args.predictor.predictor.is_some();
        let device = audited::device(&args.hardware, has_predictor, output)?;
        let (prepared, ender) = prepare(args.options(&device)?, &device, output)?;
        (prepared, ender, new_run(args.out.as_ref(), "audit")?)
    };
    let options = prepared.options();
    let interrupt = Interrupt::listen_and(move || {
        if let Some(ender) = &ender {
            ender.end();
        }
    })?;
    let mut bar = AuditBar::new(output, interrupt);
    let summary = audit(&prepared, &directory, args.resume, &mut |progress| {
        bar.observe(progress)
    })
    .with_context(|| {
        if options.predictor.is_some() && directory.file(CHECKPOINT).is_file() {
            let out = directory.path().display();
            output.remark(&format!(
                "note: the run is kept as it was; go on with: probity audit --resume --out {out}"
            ));
        }
        let name = name_of(options.predictor.as_ref(), &options.model);
        format!("auditing {name}")
    })?;
    if summary.global.seeds < options.seeds as u64 {
        output.remark(&format!(
            "note: the data have {} rows, so there are {} seeds, not {}",
            summary.global.seeds, summary.global.seeds, options.seeds
        ));
    }
    let text = render::audit(&summary) + &what_next(summary.ending, directory.path());
    output.result(&summary, &text)?;
    Ok(exit_code(summary.fail_above.as_ref()))
}

/// Loads what `options` name, and starts the predictor if they name one: the audit, and what ends the
/// predictor's process.
fn prepare(
    options: AuditOptions,
    device: &ComputeDevice,
    output: &Output,
) -> anyhow::Result<(PreparedAudit, Option<Ender>)> {
    let Some(predictor) = options.predictor.clone() else {
        return Ok((PreparedAudit::new(options, device)?, None));
    };
    let open = audited::open(&predictor)?;
    let (prepared, difference) = PreparedAudit::of_predictor(options, &predictor, open.classifier)
        .with_context(|| predictor.source.to_string())?;
    remark_on_difference(difference, output);
    Ok((prepared, open.ender))
}

/// Refuses to go on with a complete run, or on another device than it began on.
pub(super) fn may_resume(
    directory: &RunDirectory,
    began_on: DeviceName,
    device: &ComputeDevice,
) -> anyhow::Result<()> {
    if began_on != device.name() {
        bail!(
            "the run began on {began_on}, not on {}; add --device {began_on}",
            device.name(),
        );
    }
    if !directory.file(CHECKPOINT).is_file() && directory.file(SUMMARY).is_file() {
        bail!(
            "the run in {} is complete; there is nothing to resume",
            directory.path().display()
        );
    }
    Ok(())
}

/// Whether the run in `directory` is an audit, or a repair, of texts, as far as its options can be read.
pub(super) fn is_text_run(directory: &Path) -> bool {
    std::fs::read_to_string(directory.join(RUN))
        .ok()
        .and_then(|text| text.parse::<toml::Table>().ok())
        .is_some_and(|table| table.contains_key("texts_sha256"))
}

/// Where the run is and what to do with it.
pub(super) fn what_next(ending: Ending, directory: &Path) -> String {
    let path = directory.display();
    let go_on = match ending {
        Ending::Complete | Ending::MaxFound => String::new(),
        Ending::Time => format!(
            "Go on with: probity audit --resume --out {path} --time LONGER \
             (counted from the beginning), or without --time to the end.\n"
        ),
        Ending::Interrupted => format!("Go on with: probity audit --resume --out {path}\n"),
    };
    format!(
        "{go_on}Run: {path}\nNext: probity verify {path}\n      probity report {path} --out report.html\n"
    )
}

/// 1 unless the declared bound, if there is one, is shown to hold.
pub(super) fn exit_code(fail_above: Option<&BoundSummary>) -> ExitCode {
    match fail_above {
        Some(bound) if bound.verdict != Verdict::Within => ExitCode::from(1),
        _ => ExitCode::SUCCESS,
    }
}

impl AuditArgs {
    fn options(&self, device: &ComputeDevice) -> anyhow::Result<AuditOptions> {
        let Some(data) = &self.data else {
            bail!("--data is needed");
        };
        let default = match self.predictor.predictor {
            Some(_) => StrategyName::AequitasFully,
            None => StrategyName::Adf,
        };
        let strategy = self
            .search
            .strategy
            .map_or(Some(default), StrategyArg::on_tables);
        let Some(strategy) = strategy else {
            let names = StrategyName::ALL.map(StrategyName::name);
            bail!(
                "this --strategy searches texts; tables are searched by {}",
                names.join(", ")
            );
        };
        let audited = Audited::of(
            self.model.as_ref(),
            &self.predictor,
            self.outside,
            "give --texts (or --text) instead of --data",
        )?;
        let (search, budget) = (&self.search, &self.budget);
        Ok(AuditOptions {
            command: "audit".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: audited.model,
            model_sha256: audited.sha256,
            data: absolute(data),
            data_sha256: file_sha256(data)?,
            outside: audited.outside,
            protected: protected_or_marked(&self.protected, &audited.schema),
            strategy,
            objective: search.objective.unwrap_or_default(),
            seeds: search.seeds,
            clusters: search.clusters,
            max_iter: search.max_iter,
            local: search.local,
            step_global: search.step_global,
            step_local: search.step_local,
            estimate: budget.estimate,
            time_seconds: budget.time.map(|time| time.as_secs_f64()),
            max_found: budget.max_found,
            fail_above: budget.fail_above,
            batch: search.batch,
            samples_format: search.samples_format,
            seed: search.seed,
            device: device.name(),
            hardware: device.hardware(),
            tuning: self.tuning.resolve(&[strategy])?,
            predictor: audited.predictor,
        })
    }
}
