//! `probity train --texts`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::inputs::{absolute, new_run};
use super::interrupt::Interrupt;
use super::output::Output;
use super::render::{self, count, percent};
use super::train::TrainArgs;
use probity::nn::metrics::Metrics;
use probity::nn::recurrent::network::CellKind;
use probity::nn::text_train_options::TextTrainOptions;
use probity::nn::text_training_run::{
    COMMON_WORDS, TextSet, TextTrainingRun, TextTrainingSummary, embeddings_sha256,
    run_text_training,
};
use probity::run::run_directory::{CHECKPOINT, RunDirectory, SUMMARY, file_sha256};
use probity::tensor::device::{DeviceName, use_threads};
use probity::text::embeddings::SHIPPED;

/// Arguments of a training on texts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Texts and their network")]
pub(super) struct TextTrainArgs {
    /// Labelled texts to learn from: CSV, TSV (also .gz, .xz) or Parquet
    #[arg(long, requires = "label_column", conflicts_with_all = [
        "data", "schema", "outside", "hidden", "activation", "categories", "dropout",
    ])]
    pub(super) texts: Option<PathBuf>,
    /// Column that holds the texts
    #[arg(long, requires = "texts")]
    text_column: Option<String>,
    /// Column that holds the labels
    #[arg(long, requires = "texts")]
    label_column: Option<String>,
    /// Word vectors in GloVe's or word2vec's text format (also .gz, .xz), or the small table that ships
    #[arg(long, default_value = SHIPPED, value_name = "FILE", conflicts_with = "data")]
    embeddings: PathBuf,
    /// Rows from the beginning of the word vectors that the model keeps, beside the words of its texts
    #[arg(
        long,
        default_value_t = COMMON_WORDS,
        value_name = "N",
        conflicts_with = "data"
    )]
    common_words: u32,
    /// Kind of recurrent cell
    #[arg(long = "model", value_enum, default_value_t, conflicts_with = "data")]
    cell: CellKind,
    /// Recurrent layers
    #[arg(long, default_value_t = 3, conflicts_with = "data")]
    layers: usize,
    /// Units a layer and direction
    #[arg(long, default_value_t = 10, conflicts_with = "data")]
    units: usize,
    /// Read the texts backwards as well
    #[arg(long, conflicts_with = "data")]
    bidirectional: bool,
    /// Tokens of a text that are read, from its beginning
    #[arg(long, default_value_t = 200, conflicts_with = "data")]
    max_length: usize,
    /// Let the word vectors learn too
    #[arg(long, conflicts_with = "data")]
    train_embeddings: bool,
    /// Largest norm of a step's gradient; a larger one is scaled down to it
    #[arg(long, default_value_t = 1.0, conflicts_with = "data")]
    clip_norm: f64,
}

/// Runs `probity train --texts`.
pub(super) fn run(args: &TrainArgs, output: &Output) -> anyhow::Result<ExitCode> {
    use_threads(args.hardware.threads.map(usize::from))?;
    if !matches!(args.hardware.device, DeviceName::Auto | DeviceName::Flex) {
        bail!(
            "networks for texts are trained on the CPU; leave --device {} out (audits of them run on every device)",
            args.hardware.device
        );
    }
    let set;
    let (training, directory) = if args.resume {
        let out = args.out.clone().unwrap_or_default();
        let (directory, training): (_, TextTrainingRun) = RunDirectory::open_run(&out, "train")?;
        if !directory.file(CHECKPOINT).is_file() && directory.file(SUMMARY).is_file() {
            bail!(
                "the training in {} is complete; there is nothing to resume",
                directory.path().display()
            );
        }
        set = TextSet::read(&training)?;
        (training, directory)
    } else {
        let training = training(args)?;
        // Everything that can be wrong with the input is found before anything is written.
        set = TextSet::read(&training)?;
        (training, new_run(args.out.as_ref(), "train")?)
    };
    let interrupt = Interrupt::listen()?;
    let bar = output.progress(
        u64::from(training.options.epochs),
        "train  [{bar:28}] {pos}/{len} epochs, {msg}, {eta} left",
    );
    let summary = run_text_training(&training, &set, &directory, args.resume, &mut |report| {
        bar.set_position(u64::from(report.epoch));
        let accuracy = report
            .validation_accuracy
            .map_or(String::new(), |accuracy| {
                format!(", validation accuracy {}", percent(accuracy))
            });
        bar.set_message(format!("loss {:.4}{accuracy}", report.loss));
        interrupt.flow()
    })
    .with_context(|| format!("training on {}", training.texts.display()))?;
    bar.finish_and_clear();
    let text = render_summary(&summary) + &what_next(&summary, &training, directory.path());
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn training(args: &TrainArgs) -> anyhow::Result<TextTrainingRun> {
    let texts = &args.texts;
    let (Some(file), Some(label_column)) = (&texts.texts, &texts.label_column) else {
        bail!("--texts and --label-column are needed");
    };
    let embeddings = if texts.embeddings == Path::new(SHIPPED) {
        texts.embeddings.clone()
    } else {
        absolute(&texts.embeddings)
    };
    let course = &args.course;
    let defaults = TextTrainOptions::default();
    Ok(TextTrainingRun {
        command: "train".to_owned(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        texts: absolute(file),
        texts_sha256: file_sha256(file)?,
        text_column: texts.text_column.clone(),
        label_column: label_column.clone(),
        embeddings_sha256: embeddings_sha256(&embeddings)?,
        embeddings,
        common_words: texts.common_words,
        options: TextTrainOptions {
            cell: texts.cell,
            layers: texts.layers,
            units: texts.units,
            bidirectional: texts.bidirectional,
            max_length: texts.max_length,
            train_embeddings: texts.train_embeddings,
            epochs: course.epochs.unwrap_or(defaults.epochs),
            batch: course.batch.unwrap_or(defaults.batch),
            optimizer: course.optimizer,
            learning_rate: course.learning_rate,
            schedule: course.schedule,
            patience: course.patience,
            class_weights: course.class_weights.clone(),
            weight_decay: course.weight_decay,
            clip_norm: texts.clip_norm,
            validation: course.validation,
            test: course.test,
            seed: course.seed,
        },
    })
}

/// Quality part by part, and what the vocabulary covers.
pub(super) fn render_summary(summary: &TextTrainingSummary) -> String {
    let mut parts: Vec<(&str, &Metrics)> = vec![("training", &summary.train)];
    if let Some(validation) = &summary.validation {
        parts.push(("validation", validation));
    }
    if let Some(test) = &summary.test {
        parts.push(("test", test));
    }
    let data = &summary.data;
    let mut text = render::metrics(&parts, &summary.classes);
    text.push_str(&format!(
        "{} texts of {} tokens, {} of which have a word vector; {} texts were cut to the length limit. \
         The model knows {} words.\n",
        count(data.texts),
        count(data.tokens),
        percent(data.known_tokens as f64 / data.tokens.max(1) as f64),
        count(data.truncated),
        count(data.words)
    ));
    text
}

fn what_next(summary: &TextTrainingSummary, training: &TextTrainingRun, model: &Path) -> String {
    let model = model.display();
    if summary.finished {
        let column = training
            .text_column
            .as_ref()
            .map_or(String::new(), |name| format!(" --text-column {name}"));
        format!(
            "Model: {model}\nNext: probity audit --model {model} --texts {}{column} --protected gender\n",
            training.texts.display()
        )
    } else {
        format!(
            "Interrupted after {} of {} epochs; the model so far is in {model}.\n\
             Go on with: probity train --resume --out {model}\n",
            summary.history.len(),
            training.options.epochs
        )
    }
}
