//! `probity train`

use std::path::{Path, PathBuf};

use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::{Hardware, unfinished};
use super::output::Output;
use super::run::{At, Performed};
use probity::data::specification::located_schema;
use probity::nn::modality::ModalityName;
use probity::nn::runs::training_device;
use probity::nn::train::TrainSpecification;
use probity::nn::train::run::{Trainable, Training, TrainingSummary};
use probity::nn::train::table_set::TableSet;
use probity::nn::train::text_set::TextSet;
use probity::nn::train::transformer_set::TransformerSet;
use probity::run::specification::{Checked, Specification};
use probity::tensor::device::ComputeDevice;

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
        return TrainSpecification::perform_at(
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
    TrainSpecification::perform_at(specification.check()?, at)
}

impl Performed for TrainSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(|name| training_device(specification.modality, name))?;
        at.place.expect_device(device.name(), None)?;
        match specification.modality {
            ModalityName::Table => train::<TableSet>(specification, at, &device),
            ModalityName::Text if specification.transformer.is_some() => {
                train::<TransformerSet>(specification, at, &device)
            }
            ModalityName::Text => train::<TextSet>(specification, at, &device),
        }
    }
}

fn train<T: Trainable>(
    specification: Checked<TrainSpecification>,
    at: At<'_>,
    device: &ComputeDevice,
) -> anyhow::Result<ExitCode> {
    let modality = specification.modality;
    let open = || Training::<T>::open(specification, device);
    let training = at.output.while_reading(modality, open)?;
    let next = Next {
        specification: training.specification().clone(),
        is_number: training.inputs().is_number(),
        epochs: training.pace().epochs,
    };
    let doing = format!("training on {}", next.specification.data.display());
    at.perform(training, &doing, |directory, summary| {
        Ok(next.said(summary, directory.path()))
    })
}

/// What can be done with what was trained.
struct Next {
    specification: TrainSpecification,
    /// Whether it gives numbers.
    is_number: bool,
    epochs: u32,
}

impl Next {
    fn said(&self, summary: &TrainingSummary, model: &Path) -> String {
        let specification = &self.specification;
        let (model, data) = (model.display(), specification.data.display());
        if !summary.finished {
            return format!(
                "{} of {} epochs are done; the model so far is in {model}.\n\
                 Go on with: probity train --resume --out {model}\n",
                summary.history.len(),
                self.epochs
            );
        }
        let inputs = match (specification.modality, &specification.text_column) {
            (ModalityName::Table, _) if self.is_number => {
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
}
