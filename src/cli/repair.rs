//! `probity repair`

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::{Hardware, unfinished};
use super::numbers::number;
use super::output::Output;
use super::render::plots;
use super::run::{At, Performed};
use probity::fairness::repair::summary::RepairSummary;
use probity::fairness::repair::{
    LEAST_SHARE, Repair, RepairSpecification, Repairable, TableRepair, TextRepair,
    TransformerLearner,
};
use probity::nn::modality::ModalityName;
use probity::nn::provenance::Provenance;
use probity::nn::runs::training_device;
use probity::nn::transformer_model::is_transformer;
use probity::report::plots::TRADE_OFF;
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;

/// Arguments of `probity repair`.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is saved and the exit code is 1 when accuracy or a fairness measure gets worse than allowed, or when samples of texts do no better than retraining without them; --save-anyway saves it all the same."
)]
pub(super) struct RepairArgs {
    #[command(flatten)]
    fields: Fields<RepairSpecification>,
    /// Labelled texts that the model was trained on; searches begin at their parts
    #[arg(
        long,
        conflicts_with_all = ["data", "resume"],
        value_name = "FILE",
        help_heading = "Text"
    )]
    texts: Option<PathBuf>,
    /// Share of the found individuals to learn from; the ADF paper takes 0.05 [default: 0.01;
    /// texts: 0.05]
    #[arg(
        long,
        value_name = "NUMBER",
        conflicts_with = "resume",
        value_parser = number(LEAST_SHARE..=1.0),
        allow_hyphen_values = true
    )]
    share: Option<f64>,
    /// Several shares one after the other: a table, a plot, and the fairest one that is accurate
    /// enough
    #[arg(
        long,
        value_name = "SHARE,SHARE,…",
        value_delimiter = ',',
        value_parser = number(LEAST_SHARE..=1.0),
        allow_hyphen_values = true,
        conflicts_with_all = ["share", "resume"]
    )]
    sweep: Vec<f64>,
    /// Directory for the repaired model [default: the next free runs/repair-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the unfinished repair in --out; all options come from there
    #[arg(long, requires = "out")]
    resume: bool,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity repair`.
pub(super) fn run(mut args: RepairArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if args.resume {
        let (specification, place) = unfinished(args.out, &args.fields)?;
        return RepairSpecification::perform_at(
            specification,
            At::whole(place, &args.hardware, output),
        );
    }
    if let Some(texts) = &args.texts {
        args.fields.set_texts(texts)?;
    }
    let shares: Vec<f64> = args.share.into_iter().chain(args.sweep).collect();
    if !shares.is_empty() {
        args.fields.set("shares", shares);
    }
    let specification = args.fields.specification()?;
    RepairSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for RepairSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(|name| training_device(specification.modality, name))?;
        let is_sweep = specification.shares().len() > 1;
        at.place
            .expect_device(device.name(), is_sweep.then_some(TRADE_OFF))?;
        match specification.modality {
            ModalityName::Table => repair::<TableRepair>(specification, at, &device),
            ModalityName::Text if is_transformer(&specification.model) => {
                repair::<TextRepair<TransformerLearner>>(specification, at, &device)
            }
            ModalityName::Text => repair::<TextRepair>(specification, at, &device),
        }
    }

    /// Whether nothing speaks against it.
    fn passes(summary: &Value) -> bool {
        summary["verdict"]["holds"] == true
    }
}

fn repair<R: Repairable>(
    specification: Checked<RepairSpecification>,
    at: At<'_>,
    device: &ComputeDevice,
) -> anyhow::Result<ExitCode> {
    let output = at.output;
    let modality = specification.modality;
    let repair = output.while_reading(modality, || Repair::<R>::open(specification, device))?;
    let data = repair.specification().data.display().to_string();
    let doing = format!("repairing {}", repair.specification().model.display());
    at.perform(repair, &doing, |directory, summary| {
        Ok(plots(directory.run())? + &what_next::<R>(directory.path(), &data, summary)?)
    })
}

/// Where the model is, if it was saved, and what to do with it.
fn what_next<R: Repairable>(
    directory: &Path,
    data: &str,
    summary: &RepairSummary<R::Figures, R::Details>,
) -> anyhow::Result<String> {
    let path = directory.display();
    let go_on = format!("go on with: probity repair --resume --out {path}");
    let next = match R::MODALITY {
        ModalityName::Table => format!("audit --model {path} --data {data}"),
        ModalityName::Text => {
            let trained = summary.repaired_sha256.as_deref();
            let trained = trained.map(|sha256| Provenance::read(directory, sha256));
            let trained = trained.transpose()?.flatten();
            let column = trained.and_then(|trained| trained.specification.text_column);
            let column = column.map_or(String::new(), |name| format!(" --text-column {name}"));
            format!("audit --model {path} --texts {data}{column}")
        }
    };
    Ok(match (summary.finished, summary.verdict.saved) {
        (true, true) => format!("Model: {path}\nNext: probity {next}\n"),
        (true, false) => format!(
            "Nothing was saved. To save the chosen network all the same: \
             probity repair --resume --out {path} --save-anyway\n"
        ),
        (false, true) => format!("Interrupted: the model so far is in {path}; {go_on}\n"),
        (false, false) => format!("Interrupted, and nothing was saved; {go_on}\n"),
    })
}
