//! `probity repair --texts`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::Args;

use super::inputs::{absolute, may_resume, new_run};
use super::interrupt::Interrupt;
use super::output::Output;
use super::progress::TextRepairBar;
use super::render::{count, percent, plots, table};
use super::repair::RepairArgs;
use probity::fairness::certify::parts::text_training;
use probity::fairness::mean::Mean;
use probity::fairness::opened::open_lexicon;
use probity::fairness::repair::options::RepairMethod;
use probity::fairness::strategies::StrategyName;
use probity::fairness::text::repair::{
    PreparedTextRepair, RepairedText, TextRepairOptions, TextRepairSummary, open_audit,
    repair_texts,
};
use probity::nn::Objective;
use probity::nn::text_model::{TextModel, is_text_model};
use probity::nn::text_train::Course;
use probity::run::run_directory::{RunDirectory, file_sha256};
use probity::tensor::device::{ComputeDevice, DeviceName, use_threads};

/// Share of the samples, where none is given: the paper's.
const SHARE: f64 = 0.05;

/// Accuracy that a repair may cost, where none is given.
const MAX_ACCURACY_LOSS: f64 = 0.02;

/// Arguments of a repair of a classifier of texts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Texts")]
pub(super) struct TextRepairArgs {
    /// Labelled texts that the model was trained on; searches begin at their parts
    #[arg(long, conflicts_with_all = [
        "data", "outside", "weight", "counterfactuals", "estimate", "start", "epochs", "batch",
        "learning_rate", "weight_decay", "favourable", "bins", "min_group", "calibration_bins", "resamples",
    ])]
    pub(super) texts: Option<PathBuf>,
    /// Protected attributes, of the lexicon; with --run they are those of the audits
    #[arg(
        long,
        requires = "texts",
        conflicts_with = "run",
        value_delimiter = ',',
        value_name = "NAMES"
    )]
    protected: Vec<String>,
    /// Lexicon of protected terms (TOML) [default: the shipped ones]
    #[arg(long, requires = "texts")]
    lexicon: Option<PathBuf>,
    /// Search strategy; with --run, of the search for the independent set alone [default: adf-asc]
    #[arg(long, value_parser = strategy, requires = "texts")]
    strategy: Option<StrategyName>,
    /// Seeds of a search
    #[arg(long, requires = "texts", default_value_t = 1000)]
    seeds: usize,
    /// Local trials from each text that a search finds globally
    #[arg(long, requires = "texts", default_value_t = 1000)]
    local: u32,
    /// Texts that a search finds at most
    #[arg(long, requires = "texts", default_value_t = 20_000, value_name = "N")]
    max_found: u64,
    /// Weight of the worst case in the end, for --method certified [default: 0.8]
    #[arg(long, requires = "texts")]
    kappa: Option<f64>,
    /// How often the boxes of a text may be split for its certificate
    #[arg(long, requires = "texts", default_value_t = 64, value_name = "N")]
    splits: u32,
}

fn strategy(text: &str) -> Result<StrategyName, String> {
    let all = StrategyName::OF_TEXTS;
    let named = all.into_iter().find(|strategy| strategy.name() == text);
    named.ok_or_else(|| {
        let names = all.map(StrategyName::name).join(", ");
        format!("for texts there are {names}")
    })
}

/// Runs `probity repair --texts`.
pub(super) fn run(args: &RepairArgs, output: &Output) -> anyhow::Result<ExitCode> {
    use_threads(args.hardware.threads.map(usize::from))?;
    if !matches!(args.hardware.device, DeviceName::Auto | DeviceName::Flex) {
        bail!(
            "networks for texts are trained on the CPU; leave --device {} out",
            args.hardware.device
        );
    }
    let (prepared, directory) = match args.resume {
        true => go_on(args)?,
        false => begin(args, output)?,
    };
    let interrupt = Interrupt::listen()?;
    let mut bar = TextRepairBar::new(output, interrupt);
    let path = directory.path().display();
    let resume = format!("go on with: probity repair --resume --out {path}");
    let summary = repair_texts(&prepared, &directory, args.resume, &mut |progress| {
        bar.observe(progress)
    })
    .with_context(|| {
        let model = prepared.options().model.display();
        format!("repairing {model} (what is complete is kept; {resume})")
    })?;
    bar.clear();
    let mut text = render(&summary);
    text.push_str(&plots(&directory)?);
    if !summary.finished {
        text.push_str(&format!(
            "Interrupted: this is what was complete by then; {resume}\n"
        ));
    }
    let training = &prepared.options().training;
    let column = training.text_column.as_ref();
    text.push_str(&format!(
        "Model: {path}\nNext: probity certify --model {path} --texts {}{} --protected {} --part test --exhaustive\n",
        training.texts.display(),
        column.map_or(String::new(), |name| format!(" --text-column {name}")),
        summary.protected.join(",")
    ));
    output.result(&summary, &text)?;
    let fails = prepared.options().fails_above_loss && !summary.within;
    Ok(ExitCode::from(u8::from(fails)))
}

/// A new repair. Everything that can be wrong with the input is found before anything is written.
fn begin(args: &RepairArgs, output: &Output) -> anyhow::Result<(PreparedTextRepair, RunDirectory)> {
    args.repair.refuse_without_samples()?;
    ensure!(
        args.texts.kappa.is_none() || args.repair.method == RepairMethod::Certified,
        "--kappa is an option of --method certified"
    );
    let prepared = PreparedTextRepair::new(options(args)?)?;
    for run in prepared.runs() {
        if run.held_out > 0 {
            output.remark(&format!(
                "note: {} of the texts in {} were found from held-out texts and are left out",
                count(run.held_out),
                run.run.display()
            ));
        }
    }
    let directory = new_run(args.out.as_ref(), "repair")?;
    Ok((prepared, directory))
}

/// The unfinished repair in `--out`.
fn go_on(args: &RepairArgs) -> anyhow::Result<(PreparedTextRepair, RunDirectory)> {
    let out = args.out.as_deref().context("--out is needed")?;
    let (directory, options): (_, TextRepairOptions) = RunDirectory::open_run(out, "repair")?;
    may_resume(&directory, "flex", &ComputeDevice::flex())?;
    Ok((PreparedTextRepair::new(options)?, directory))
}

/// The attributes that `--protected` names, or those of the audits.
fn protected(args: &RepairArgs) -> anyhow::Result<Vec<String>> {
    if args.run.is_empty() {
        ensure!(
            !args.texts.protected.is_empty(),
            "--protected (or --run) is needed to repair a model of texts"
        );
        return Ok(args.texts.protected.clone());
    }
    let mut protected: Vec<String> = Vec::new();
    for run in &args.run {
        for name in open_audit(run)?.1.protected {
            if !protected.contains(&name) {
                protected.push(name);
            }
        }
    }
    Ok(protected)
}

fn options(args: &RepairArgs) -> anyhow::Result<TextRepairOptions> {
    let own = &args.texts;
    let Some(texts) = &own.texts else {
        bail!("--texts is needed");
    };
    let path = args.model()?;
    if !is_text_model(path) {
        bail!(
            "{} classifies tables, not texts; give --data and --run instead of --texts",
            path.display()
        );
    }
    let model = TextModel::load(path)?;
    let mut training = text_training(path)
        .context("a repair trains as the model was trained, so it needs to know how")?;
    let texts_sha256 = file_sha256(texts)?;
    if texts_sha256 != training.texts_sha256 {
        bail!(
            "{} is not the file that {} was trained on (SHA-256 {texts_sha256}, trained on {})",
            texts.display(),
            path.display(),
            training.texts_sha256
        );
    }
    training.texts = absolute(texts);
    let lexicon_sha256 = open_lexicon(own.lexicon.as_deref())?.sha256;
    let repair = &args.repair;
    Ok(TextRepairOptions {
        command: "repair".to_owned(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        method: repair.method,
        model: absolute(path),
        model_sha256: model.sha256()?,
        texts_sha256,
        lexicon: own.lexicon.as_deref().map(absolute),
        lexicon_sha256,
        protected: protected(args)?,
        runs: args.run.iter().map(|run| absolute(run)).collect(),
        strategy: own.strategy.unwrap_or(StrategyName::AdfAsc),
        independent: own.strategy.unwrap_or(StrategyName::AdfAsc),
        objective: Objective::Loss,
        seeds: own.seeds,
        max_iter: 10,
        local: own.local,
        max_found: own.max_found,
        shares: repair.shares(SHARE),
        label: repair.label.unwrap_or_default(),
        repeats: repair.repeats,
        max_accuracy_loss: repair.max_accuracy_loss.unwrap_or(MAX_ACCURACY_LOSS),
        fails_above_loss: repair.max_accuracy_loss.is_some(),
        course: Course {
            kappa: own.kappa.unwrap_or(Course::default().kappa),
            ..Course::default()
        },
        splits: own.splits,
        seed: repair.seed,
        training,
    })
}

/// A mean over networks in percent, with its interval where there is one.
fn mean(networks: &[RepairedText], figure: impl Fn(&RepairedText) -> f64) -> String {
    if networks.is_empty() {
        return "-".to_owned();
    }
    let spread = Mean::of_shares(&networks.iter().map(figure).collect::<Vec<_>>());
    let interval = spread.ci95.map_or(String::new(), |[low, high]| {
        format!(" ({:.2} – {:.2})", 100.0 * low, 100.0 * high)
    });
    format!("{}{interval}", percent(spread.mean))
}

fn render(summary: &TextRepairSummary) -> String {
    let mut text = String::new();
    for run in &summary.runs {
        text.push_str(&format!(
            "By {}: {} found texts to draw from.\n",
            run.protected.join(", "),
            count(run.samples)
        ));
    }
    if summary.runs.is_empty() {
        text.push_str(&format!(
            "Found {} discriminatory texts from the training texts.\n",
            count(summary.found)
        ));
    }
    text.push_str(&format!(
        "Independent set: {} discriminatory texts found from the test texts. {} of the test texts hold a term of {}.\n",
        count(summary.independent),
        count(summary.test_texts),
        summary.protected.join(", ")
    ));
    for point in &summary.points {
        let samples = point.networks.first().map_or(0, |network| network.samples);
        text.push_str(&format!(
            "Share {}: retrained with {} of the texts found; means of {} networks (95 % interval)\n",
            point.share,
            count(samples),
            point.networks.len()
        ));
        text.push_str(&figures(summary, &point.networks));
    }
    if summary.method == RepairMethod::Certified {
        text.push_str(&format!(
            "Trained against the worst substitution; means of {} networks (95 % interval)\n",
            summary.repaired.len()
        ));
        text.push_str(&figures(summary, &summary.repaired));
    }
    let chosen = &summary.repaired[summary.chosen];
    let share = summary
        .share
        .map_or(String::new(), |share| format!("share {share}, "));
    text.push_str(&format!(
        "Saved: {share}network {} of {}; {} of the independent set repaired, {} of the test texts certified, accuracy {}{}\n",
        summary.chosen + 1,
        summary.repaired.len(),
        percent(chosen.repaired.share),
        percent(chosen.certified.share),
        percent(chosen.accuracy),
        if summary.within {
            "."
        } else {
            "; it loses MORE on the validation texts than allowed."
        }
    ));
    text
}

/// The figures of `after` beside those before and of networks retrained without a remedy.
fn figures(summary: &TextRepairSummary, after: &[RepairedText]) -> String {
    type Figure = fn(&RepairedText) -> f64;
    let figures: [(&str, Figure); 4] = [
        ("independent set repaired", |network| network.repaired.share),
        ("test texts certified fair", |network| {
            network.certified.share
        }),
        ("test texts fair", |network| network.fair.share),
        ("accuracy", |network| network.accuracy),
    ];
    let rows: Vec<Vec<String>> = figures
        .into_iter()
        .map(|(name, figure)| {
            vec![
                name.to_owned(),
                percent(figure(&summary.before)),
                mean(&summary.control, figure),
                mean(after, figure),
            ]
        })
        .collect();
    table(&["figure", "before", "retrained without", "after"], &rows)
}
