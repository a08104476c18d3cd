//! `probity train`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::inputs::{Hardware, OutsideArg, absolute, new_run, schema, with_outside};
use super::interrupt::Interrupt;
use super::output::Output;
use super::render;
use super::text_inputs::is_text_run;
use super::train_texts::{self, TextTrainArgs};
use probity::data::table::{Labels, Table};
use probity::nn::fnn::Activation;
use probity::nn::metrics::Metrics;
use probity::nn::optimizer::OptimizerName;
use probity::nn::train::plan_split;
use probity::nn::train_options::{Categories, ClassWeights, Schedule, TrainOptions};
use probity::nn::training_run::{TrainingRun, TrainingSummary, run_training};
use probity::run::run_directory::{CHECKPOINT, RunDirectory, SUMMARY, file_sha256};

/// Arguments of `probity train`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: probity train --data people.csv --schema people.toml --out models/people\n\
                  \x20         probity train --texts comments.csv --text-column comment_text --label-column toxic \\\n\
                  \x20             --model lstm --embeddings glove.6B.50d.txt --out models/toxic"
)]
pub(super) struct TrainArgs {
    /// Table to learn from: CSV (also .gz, .xz) or Parquet
    #[arg(long, required_unless_present_any = ["resume", "texts"])]
    data: Option<PathBuf>,
    /// Schema file, or the name of a built-in schema
    #[arg(long, required_unless_present_any = ["resume", "texts"])]
    schema: Option<String>,
    /// Directory for the model [default: the next free runs/train-N]
    #[arg(long)]
    pub(super) out: Option<PathBuf>,
    /// Go on with the unfinished training in --out; all other options come from there
    #[arg(long, requires = "out", conflicts_with_all = ["data", "schema", "outside", "texts"])]
    pub(super) resume: bool,
    /// Missing and outside values, where the schema expects any
    #[arg(long, value_enum)]
    outside: Option<OutsideArg>,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    pub(super) texts: TextTrainArgs,
    #[command(flatten)]
    pub(super) course: CourseArgs,
    #[command(flatten)]
    pub(super) hardware: Hardware,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Network for tables")]
struct NetworkArgs {
    /// Hidden layer widths
    #[arg(long, value_delimiter = ',', default_value = "64,32,16,8,4")]
    hidden: Vec<usize>,
    /// Function between layers
    #[arg(long, value_enum, default_value_t)]
    activation: Activation,
    /// How unordered categories enter: codes, onehot or embed:LENGTH
    #[arg(long, default_value = "codes", value_parser = categories)]
    categories: Categories,
    /// Share of hidden units left out at random in each step
    #[arg(long, default_value_t = 0.0)]
    dropout: f32,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Training")]
pub(super) struct CourseArgs {
    /// Passes over the training part [default: 30; texts: 8]
    #[arg(long)]
    pub(super) epochs: Option<u32>,
    /// Rows a step [default: 512; texts: 64]
    #[arg(long)]
    pub(super) batch: Option<usize>,
    /// Optimiser
    #[arg(long, value_enum, default_value_t)]
    pub(super) optimizer: OptimizerName,
    /// Learning rate at the start
    #[arg(long, default_value_t = 0.01)]
    pub(super) learning_rate: f64,
    /// Course of the learning rate
    #[arg(long, value_enum, default_value_t)]
    pub(super) schedule: Schedule,
    /// Stop after this many epochs without a better validation loss (0: never)
    #[arg(long, default_value_t = 0)]
    pub(super) patience: u32,
    /// Class weights: none, balanced, or one number a class
    #[arg(long, default_value = "none", value_parser = class_weights)]
    pub(super) class_weights: ClassWeights,
    /// Weight decay; 0 lets a network learn its training part by heart
    #[arg(long, default_value_t = 0.1)]
    pub(super) weight_decay: f32,
    /// Share of rows to validate on; the epoch with the least loss there is kept
    #[arg(long, default_value_t = 0.1)]
    pub(super) validation: f64,
    /// Share of rows to test on
    #[arg(long, default_value_t = 0.2)]
    pub(super) test: f64,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
}

fn categories(text: &str) -> Result<Categories, String> {
    match text.split_once(':') {
        None if text == "codes" => Ok(Categories::Codes),
        None if text == "onehot" => Ok(Categories::OneHot),
        Some(("embed", length)) => length
            .parse()
            .map(Categories::Embedded)
            .map_err(|_| format!("'{length}' is not a vector length")),
        _ => Err("codes, onehot or embed:LENGTH is expected".to_owned()),
    }
}

fn class_weights(text: &str) -> Result<ClassWeights, String> {
    match text {
        "none" => Ok(ClassWeights::None),
        "balanced" => Ok(ClassWeights::Balanced),
        numbers => numbers
            .split(',')
            .map(|number| number.trim().parse::<f32>())
            .collect::<Result<Vec<_>, _>>()
            .map(ClassWeights::Given)
            .map_err(|_| "none, balanced or numbers like 1,2.5 are expected".to_owned()),
    }
}

/// Runs `probity train`.
pub(super) fn run(args: TrainArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let resumes_texts = args.resume && is_text_run(args.out.as_deref().unwrap_or(Path::new("")));
    if args.texts.texts.is_some() || resumes_texts {
        return train_texts::run(&args, output);
    }
    let device = args.hardware.open(output)?;
    let table;
    let (training, directory) = if args.resume {
        let out = args.out.clone().unwrap_or_default();
        let (directory, training): (_, TrainingRun) = RunDirectory::open_run(&out, "train")?;
        if training.device != device.name() {
            bail!(
                "the training began on {}, not on {}; add --device {}",
                training.device,
                device.name(),
                training.device
            );
        }
        if !directory.file(CHECKPOINT).is_file() && directory.file(SUMMARY).is_file() {
            bail!(
                "the training in {} is complete; there is nothing to resume",
                directory.path().display()
            );
        }
        table = training.read_table()?;
        (training, directory)
    } else {
        let (Some(data), Some(name)) = (&args.data, &args.schema) else {
            bail!("--data and --schema are needed");
        };
        let mut schema = schema(name)?;
        if let Some(outside) = args.outside {
            schema = with_outside(schema, outside)?;
        }
        let training = TrainingRun {
            command: "train".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            data: absolute(data),
            data_sha256: file_sha256(data)?,
            device: device.name(),
            hardware: device.hardware(),
            options: args.options(),
            schema,
        };
        // Everything that can be wrong with the input is found before anything is written.
        training
            .options
            .check(training.schema.label.classes.len())?;
        table = Table::read(data, &training.schema, Labels::Required)?;
        plan_split(&table, &training.schema, &training.options)?;
        remark_on_codes(&training, output);
        (training, new_run(args.out.as_ref(), "train")?)
    };
    let interrupt = Interrupt::listen()?;
    let bar = output.progress(
        u64::from(training.options.epochs),
        "train  [{bar:28}] {pos}/{len} epochs, {msg}, {eta} left",
    );
    let summary = run_training(
        &training,
        &table,
        &directory,
        &device,
        args.resume,
        &mut |report| {
            bar.set_position(u64::from(report.epoch));
            let accuracy = report
                .validation_accuracy
                .map_or(String::new(), |accuracy| {
                    format!(", validation accuracy {}", render::percent(accuracy))
                });
            bar.set_message(format!("loss {:.4}{accuracy}", report.loss));
            interrupt.flow()
        },
    )
    .with_context(|| format!("training on {}", training.data.display()))?;
    bar.finish_and_clear();
    let mut text = render_summary(&summary, &training);
    let model = directory.path().display();
    if summary.finished {
        text.push_str(&format!(
            "Model: {model}\nNext: probity audit --model {model} --data {}\n",
            training.data.display()
        ));
    } else {
        text.push_str(&format!(
            "Interrupted after {} of {} epochs; the model so far is in {model}.\n\
             Go on with: probity train --resume --out {model}\n",
            summary.history.len(),
            training.options.epochs
        ));
    }
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Codes of unordered words are rarely what a user wants; the paper's data sets are coded so.
fn remark_on_codes(training: &TrainingRun, output: &Output) {
    if training.options.categories != Categories::Codes {
        return;
    }
    let attributes = training.schema.attributes.iter();
    let unordered: Vec<&str> = attributes
        .filter(|attribute| !attribute.is_ordered() && attribute.levels() > 2)
        .map(|attribute| attribute.name.as_str())
        .collect();
    if !unordered.is_empty() {
        output.remark(&format!(
            "note: {} enter as the position of their word in the schema, though their order means nothing; \
             --categories onehot or embed:4 usually learns more",
            unordered.join(", ")
        ));
    }
}

/// Quality part by part.
pub(super) fn render_summary(summary: &TrainingSummary, training: &TrainingRun) -> String {
    let mut parts: Vec<(&str, &Metrics)> = vec![("training", &summary.train)];
    if let Some(validation) = &summary.validation {
        parts.push(("validation", validation));
    }
    if let Some(test) = &summary.test {
        parts.push(("test", test));
    }
    let mut text = render::metrics(&parts, &training.schema.label.classes);
    if summary.data.mapped_values > 0 || summary.data.skipped_rows > 0 {
        text.push_str(&format!(
            "Of the data, {} values outside their domains were mapped and {} rows were left out, as the schema asks.\n",
            render::count(summary.data.mapped_values),
            render::count(summary.data.skipped_rows)
        ));
    }
    text
}

impl TrainArgs {
    fn options(&self) -> TrainOptions {
        let (network, course) = (&self.network, &self.course);
        let defaults = TrainOptions::default();
        TrainOptions {
            hidden: network.hidden.clone(),
            activation: network.activation,
            categories: network.categories,
            dropout: network.dropout,
            epochs: course.epochs.unwrap_or(defaults.epochs),
            batch: course.batch.unwrap_or(defaults.batch),
            optimizer: course.optimizer,
            learning_rate: course.learning_rate,
            schedule: course.schedule,
            patience: course.patience,
            class_weights: course.class_weights.clone(),
            weight_decay: course.weight_decay,
            validation: course.validation,
            test: course.test,
            seed: course.seed,
        }
    }
}
