//! `probity train`

use std::path::{Path, PathBuf};

use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::{Hardware, unfinished};
use super::output::Output;
use super::render::{self, count, percent};
use super::render_quality::quality;
use super::run::{At, Left, Performed};
use probity::data::specification::located_schema;
use probity::nn::metrics::Quality;
use probity::nn::modality::ModalityName;
use probity::nn::runs::training_device;
use probity::nn::train::TrainSpecification;
use probity::nn::train::run::{DataCounts, LEAST_COVERAGE, Trainable, Training, TrainingSummary};
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
    let output = at.output;
    let next = Next {
        specification: training.specification().clone(),
        is_number: training.inputs().is_number(),
        epochs: training.pace().epochs,
    };
    let doing = format!("training on {}", next.specification.data.display());
    let (directory, summary) = match at.perform(training, &doing)? {
        Left::Ended { directory, summary } => (directory, summary),
        Left::Said(code) => return Ok(code),
    };
    for warning in warnings(&summary) {
        output.remark(&warning);
    }
    let text = render_summary(&summary) + &next.said(&summary, directory.path());
    output.result(&summary, &text)
}

/// What makes a trained model one to look at again before it is audited.
fn warnings(summary: &TrainingSummary) -> Vec<String> {
    let mut warnings = Vec::new();
    if let DataCounts::Text(texts) = &summary.data {
        let coverage = texts.coverage();
        if summary.embeddings_sha256.is_some() && coverage < LEAST_COVERAGE {
            warnings.push(format!(
                "WARNING: only {} of the tokens have a word vector; the model does not read the others. \
                 Give word vectors that know these texts with --embeddings FILE (GloVe, word2vec), or make some: \
                 probity embeddings train TEXTS --out FILE",
                percent(coverage)
            ));
        }
    }
    // What the model has not learnt from tells more.
    let measured = summary.test.as_ref().or(summary.validation.as_ref());
    match measured.unwrap_or(&summary.train) {
        // That it decides everything alike is said already.
        Quality::Classes(metrics)
            if summary.decides_alike.is_none() && metrics.is_guessing(summary.classes.len()) =>
        {
            warnings.push(format!(
                "WARNING: the model does hardly better than always saying the most frequent class \
                 ({} right against {}; balanced accuracy {}); what an audit finds in it says little",
                percent(metrics.accuracy),
                percent(metrics.majority_share),
                percent(metrics.balanced_accuracy)
            ));
        }
        Quality::Numbers(errors) if errors.r_squared.is_some_and(|of| of <= 0.0) => {
            warnings.push(
                "WARNING: the model does no better than always saying the mean (R² is not above 0); \
                 what an audit finds in it says little"
                    .to_owned(),
            );
        }
        _ => {}
    }
    warnings
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
                "Interrupted after {} of {} epochs; the model so far is in {model}.\n\
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
