//! `probity repair --texts`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::audit::StrategyArg;
use super::audit_texts::strategy;
use super::inputs::{absolute, new_run};
use super::interrupt::Interrupt;
use super::output::Output;
use super::render::{count, percent, table};
use super::repair::RepairArgs;
use crate::device::{DeviceName, use_threads};
use crate::fairness::certify::parts::text_training;
use crate::fairness::repair::options::RepairMethod;
use crate::fairness::text::protected::open_lexicon;
use crate::fairness::text::repair::run::TextRepairProgress;
use crate::fairness::text::repair::{
    PreparedTextRepair, RepairedText, TextRepairOptions, TextRepairSummary, repair_texts,
};
use crate::nn::Objective;
use crate::nn::text_model::{TextModel, is_text_model};
use crate::nn::text_train::Course;
use crate::report::mean::Mean;
use crate::report::run_directory::file_sha256;

/// Share of the samples, where none is given: the paper's.
const SHARE: f64 = 0.05;

/// Accuracy that a repair may cost, where none is given.
const MAX_ACCURACY_LOSS: f64 = 0.02;

/// Arguments of a repair of a classifier of texts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Texts")]
pub(super) struct TextRepairArgs {
    /// Labelled texts that the model was trained on; the searches that give samples are run on their parts
    #[arg(long, requires = "protected", conflicts_with_all = [
        "data", "run", "outside", "sweep", "label", "weight", "counterfactuals", "estimate", "start", "epochs", "batch",
        "learning_rate", "weight_decay", "favourable", "bins", "min_group", "calibration_bins", "resamples",
    ])]
    pub(super) texts: Option<PathBuf>,
    /// Protected attributes, of the lexicon
    #[arg(long, requires = "texts", value_delimiter = ',', value_name = "NAMES")]
    protected: Vec<String>,
    /// Lexicon of protected terms (TOML) [default: the shipped ones]
    #[arg(long, requires = "texts")]
    lexicon: Option<PathBuf>,
    /// Search strategy [default: adf-asc]
    #[arg(long, value_enum, requires = "texts")]
    strategy: Option<StrategyArg>,
    /// Seeds of a search
    #[arg(long, requires = "texts", default_value_t = 1000)]
    seeds: usize,
    /// Local trials from each text that a search finds globally
    #[arg(long, requires = "texts", default_value_t = 1000)]
    local: u32,
    /// Texts that a search finds at most
    #[arg(long, requires = "texts", default_value_t = 20_000, value_name = "N")]
    max_found: u64,
    /// Weight of the worst case in the end, for --method certified
    #[arg(long, requires = "texts", default_value_t = Course::default().kappa)]
    kappa: f64,
    /// How often the boxes of a text may be split for its certificate
    #[arg(long, requires = "texts", default_value_t = 64, value_name = "N")]
    splits: u32,
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
    // Everything that can be wrong with the input is found before anything is written.
    let prepared = PreparedTextRepair::new(options(args)?)?;
    let directory = new_run(args.out.as_ref(), "repair")?;
    let interrupt = Interrupt::listen()?;
    let bar = output.progress(1, "repair [{bar:28}] {msg} {pos}/{len} epochs, {eta} left");
    let summary = repair_texts(&prepared, &directory, &mut |progress| {
        match progress {
            TextRepairProgress::Search => bar.set_message("searching,"),
            TextRepairProgress::Train(done, all) => {
                bar.set_message("training,");
                bar.set_length(all);
                bar.set_position(done);
            }
        }
        interrupt.flow()
    })
    .with_context(|| format!("repairing {}", args.model.display()))?;
    bar.finish_and_clear();
    let path = directory.path().display();
    let mut text = render(&summary);
    text.push_str(&format!(
        "Model: {path}\nNext: probity certify --model {path} --texts {}{} --protected {} --part test --exhaustive\n",
        prepared.options().training.texts.display(),
        prepared
            .options()
            .training
            .text_column
            .as_ref()
            .map_or(String::new(), |name| format!(" --text-column {name}")),
        summary.protected.join(",")
    ));
    output.result(&summary, &text)?;
    let fails = args.repair.max_accuracy_loss.is_some() && !summary.within;
    Ok(ExitCode::from(u8::from(fails)))
}

fn options(args: &RepairArgs) -> anyhow::Result<TextRepairOptions> {
    let own = &args.texts;
    let Some(texts) = &own.texts else {
        bail!("--texts is needed");
    };
    if !is_text_model(&args.model) {
        bail!(
            "{} classifies tables, not texts; give --data and --run instead of --texts",
            args.model.display()
        );
    }
    let model = TextModel::load(&args.model)?;
    let mut training = text_training(&args.model)
        .context("a repair trains as the model was trained, so it needs to know how")?;
    let texts_sha256 = file_sha256(texts)?;
    if texts_sha256 != training.texts_sha256 {
        bail!(
            "{} is not the file that {} was trained on (SHA-256 {texts_sha256}, trained on {})",
            texts.display(),
            args.model.display(),
            training.texts_sha256
        );
    }
    training.texts = absolute(texts);
    let (_, lexicon_sha256) = open_lexicon(own.lexicon.as_deref())?;
    let repair = &args.repair;
    Ok(TextRepairOptions {
        command: "repair".to_owned(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        method: repair.method,
        model: absolute(&args.model),
        model_sha256: model.sha256()?,
        texts_sha256,
        lexicon: own.lexicon.as_deref().map(absolute),
        lexicon_sha256,
        protected: own.protected.clone(),
        strategy: strategy(own.strategy)?,
        objective: Objective::Loss,
        seeds: own.seeds,
        max_iter: 10,
        local: own.local,
        max_found: own.max_found,
        share: repair.share.unwrap_or(SHARE),
        repeats: repair.repeats,
        max_accuracy_loss: repair.max_accuracy_loss.unwrap_or(MAX_ACCURACY_LOSS),
        course: Course {
            kappa: own.kappa,
            ..Course::default()
        },
        splits: own.splits,
        seed: repair.seed,
        training,
    })
}

/// A mean over networks in percent, with its interval where there is one.
pub(super) fn mean(networks: &[RepairedText], figure: impl Fn(&RepairedText) -> f64) -> String {
    if networks.is_empty() {
        return "-".to_owned();
    }
    let spread = Mean::of(&networks.iter().map(figure).collect::<Vec<_>>());
    let interval = spread.ci95.map_or(String::new(), |[low, high]| {
        format!(" ({:.2} – {:.2})", 100.0 * low, 100.0 * high)
    });
    format!("{}{interval}", percent(spread.mean))
}

fn render(summary: &TextRepairSummary) -> String {
    let mut text = format!(
        "Found {} discriminatory texts from the training texts; independent set: {} from the test texts. {} of the test texts \
         hold a term of {}.\n",
        count(summary.found),
        count(summary.independent),
        count(summary.test_texts),
        summary.protected.join(", ")
    );
    let samples = summary
        .repaired
        .first()
        .map_or(0, |network| network.samples);
    text.push_str(&match summary.method {
        RepairMethod::Samples => format!(
            "Retrained with {} of the texts found; means of {} networks (95 % interval)\n",
            count(samples),
            summary.repaired.len()
        ),
        RepairMethod::Certified => format!(
            "Trained against the worst substitution; means of {} networks (95 % interval)\n",
            summary.repaired.len()
        ),
    });
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
                mean(&summary.repaired, figure),
            ]
        })
        .collect();
    text.push_str(&table(
        &["figure", "before", "retrained without", "after"],
        &rows,
    ));
    let chosen = &summary.repaired[summary.chosen];
    text.push_str(&format!(
        "Saved: network {} of {}; {} of the independent set repaired, {} of the test texts certified, accuracy {}{}\n",
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
    if !summary.finished {
        text.push_str("Interrupted: this is what was complete by then.\n");
    }
    text
}
