//! `probity train`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::fields::Fields;
use super::inputs::{Hardware, directory_of, unfinished};
use super::interrupt::Interrupt;
use super::output::Output;
use super::render::{self, count, percent};
use super::render_quality::quality;
use super::run::{At, Performed};
use probity::data::schema::Schema;
use probity::data::specification::located_schema;
use probity::nn::metrics::Quality;
use probity::nn::modality::ModalityName;
use probity::nn::train::options::Categories;
use probity::nn::train::run::{DataCounts, Trainable, Training, TrainingSummary};
use probity::nn::train::table_set::TableSet;
use probity::nn::train::text_set::TextSet;
use probity::nn::train::transformer_set::TransformerSet;
use probity::nn::train::{EpochReport, TrainSpecification};
use probity::run::place::Place;
use probity::run::specification::{Checked, Specification};
use probity::tensor::device::{ComputeDevice, DeviceName};

/// Arguments of `probity train`.
#[derive(Debug, Args)]
pub(super) struct TrainArgs {
    #[command(flatten)]
    fields: Fields<TrainSpecification>,
    /// Labelled texts to learn from: CSV, TSV (also .gz, .xz) or Parquet
    #[arg(
        long,
        conflicts_with_all = ["data", "resume"],
        value_name = "FILE",
        help_heading = "Recurrent"
    )]
    texts: Option<PathBuf>,
    /// Directory for the model [default: the next free runs/train-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the unfinished training in --out; all other options come from there
    #[arg(long, requires = "out")]
    resume: bool,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity train`.
pub(super) fn run(mut args: TrainArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if args.resume {
        let (specification, place) = unfinished(args.out, &args.fields)?;
        return TrainSpecification::perform(
            specification,
            At::whole(place, &args.hardware, output),
        );
    }
    match &args.texts {
        Some(texts) => args.fields.set_texts(texts)?,
        None => args.fields.set("modality", ModalityName::Table.name()),
    }
    let mut specification = args.fields.specification()?.into_inner();
    specification.schema = specification.schema.map(|name| located_schema(&name));
    let at = At::new(args.out, &args.hardware, output);
    TrainSpecification::perform(specification.check()?, at)
}

impl Performed for TrainSpecification {
    fn perform(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = device_for(specification.modality, at.hardware, at.output)?;
        at.place.expect_device(device.name(), None)?;
        match specification.modality {
            ModalityName::Table => {
                let training = Training::<TableSet>::open(specification, &device)?;
                remark_on_codes(
                    training.specification(),
                    &training.inputs().schema,
                    at.output,
                );
                train(&training, at.place, at.output)
            }
            ModalityName::Text => match specification.transformer.is_some() {
                true => train(
                    &Training::<TransformerSet>::open(specification, &device)?,
                    at.place,
                    at.output,
                ),
                false => train(
                    &Training::<TextSet>::open(specification, &device)?,
                    at.place,
                    at.output,
                ),
            },
        }
    }
}

/// The device that trains networks for inputs of `modality`: those of texts are trained on the CPU
/// unless another one is named.
pub(super) fn device_for(
    modality: ModalityName,
    hardware: &Hardware,
    output: &Output,
) -> anyhow::Result<ComputeDevice> {
    match (modality, hardware.device) {
        (ModalityName::Text, DeviceName::Auto) => {
            hardware.threads.apply()?;
            Ok(ComputeDevice::flex())
        }
        _ => hardware.open(output),
    }
}

fn train<T: Trainable>(
    training: &Training<T>,
    place: Place,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if let Some(began) = place.began() {
        training.expect_unchanged(began)?;
    }
    let (directory, resume) = directory_of(place, "train")?;
    let specification = training.specification();
    let bar = TrainingBar::new(
        training.pace().epochs,
        training.inputs().is_number(),
        output,
    )?;
    let summary = training
        .run(&directory, resume, &mut |report| bar.observe(report))
        .with_context(|| format!("training on {}", specification.data.display()))?;
    bar.clear();
    let text = render_summary(&summary) + &what_next(&summary, training, directory.path());
    output.result(&summary, &text)
}

/// Shows the epochs of a training and passes Ctrl-C on.
pub(super) struct TrainingBar {
    bar: indicatif::ProgressBar,
    interrupt: Interrupt,
    /// Whether R² is shown in place of accuracy.
    is_number: bool,
}

impl TrainingBar {
    /// A bar of `epochs` epochs, of a regressor where `is_number` says so.
    pub fn new(epochs: u32, is_number: bool, output: &Output) -> anyhow::Result<TrainingBar> {
        Ok(TrainingBar {
            is_number,
            interrupt: Interrupt::listen()?,
            bar: output.progress(
                u64::from(epochs),
                "train  [{bar:28}] {pos}/{len} epochs, {msg}, {eta} left",
            ),
        })
    }

    /// One epoch.
    pub fn observe(&self, report: &EpochReport) -> std::ops::ControlFlow<()> {
        self.bar.set_position(u64::from(report.epoch));
        let accuracy = report
            .validation_accuracy
            .map_or(String::new(), |accuracy| match self.is_number {
                true => format!(", validation R² {accuracy:.4}"),
                false => format!(", validation accuracy {}", percent(accuracy)),
            });
        self.bar
            .set_message(format!("loss {:.4}{accuracy}", report.loss));
        self.interrupt.flow()
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// What listens to Ctrl-C.
    pub fn into_interrupt(self) -> Interrupt {
        self.clear();
        self.interrupt
    }
}

/// Codes of unordered words are rarely what a user wants; the paper's data sets are coded so.
fn remark_on_codes(specification: &TrainSpecification, schema: &Schema, output: &Output) {
    if specification.table_options().network.categories != Categories::Codes {
        return;
    }
    let attributes = schema.attributes.iter();
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

/// Quality part by part, and what reading the data gave.
pub(super) fn render_summary(summary: &TrainingSummary) -> String {
    let mut parts: Vec<(&str, &Quality)> = vec![("training", &summary.train)];
    if let Some(validation) = &summary.validation {
        parts.push(("validation", validation));
    }
    if let Some(test) = &summary.test {
        parts.push(("test", test));
    }
    let inputs = match &summary.data {
        DataCounts::Table(_) => "rows of the data",
        DataCounts::Text(_) => "texts of the data",
    };
    let mut text = render::alike(
        summary.decides_alike.as_ref(),
        inputs,
        "It has learnt to tell nobody in these data apart; what an audit finds of it are inputs unlike them.",
    );
    text.push_str(&quality(&parts, &summary.classes));
    match &summary.data {
        DataCounts::Table(counts) => {
            text.push_str(&render::read_counts(counts));
        }
        DataCounts::Text(data) => {
            text.push_str(&format!(
            "{} texts of {} tokens, {} of which have a word vector; {} texts were cut to the length limit. \
             The model knows {} words.\n",
            count(data.texts),
            count(data.tokens),
            percent(data.known_tokens as f64 / data.tokens.max(1) as f64),
            count(data.truncated),
            count(data.words)
        ));
            text.push_str(&render::bad_rows(&data.bad_rows));
        }
    }
    text
}

fn what_next<T: Trainable>(
    summary: &TrainingSummary,
    training: &Training<T>,
    model: &Path,
) -> String {
    let specification = training.specification();
    let (model, data) = (model.display(), specification.data.display());
    if !summary.finished {
        return format!(
            "Interrupted after {} of {} epochs; the model so far is in {model}.\n\
             Go on with: probity train --resume --out {model}\n",
            summary.history.len(),
            training.pace().epochs
        );
    }
    let inputs = match (specification.modality, &specification.text_column) {
        (ModalityName::Table, _) if training.inputs().is_number() => {
            format!("--data {data} --gap <difference that counts>")
        }
        (ModalityName::Table, _) => format!("--data {data}"),
        (ModalityName::Text, None) => format!("--texts {data} --protected gender"),
        (ModalityName::Text, Some(column)) => {
            format!("--texts {data} --text-column {column} --protected gender")
        }
    };
    format!("Model: {model}\nNext: probity audit --model {model} {inputs}\n")
}
