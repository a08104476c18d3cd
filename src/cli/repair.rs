//! `probity repair`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::fields::Fields;
use super::inputs::{Hardware, directory_of, unfinished};
use super::interrupt::Interrupt;
use super::numbers::number;
use super::output::{Output, verdict};
use super::progress::RepairBar;
use super::render::{count, plots};
use super::run::{At, Performed};
use super::train::device_for;
use probity::fairness::repair::error::RepairError;
use probity::fairness::repair::{
    LEAST_SHARE, Repair, RepairSpecification, Repairable, TableRepair, TextRepair,
    TransformerLearner,
};
use probity::nn::modality::ModalityName;
use probity::nn::provenance::Provenance;
use probity::nn::transformer_model::is_transformer;
use probity::report::plots::TRADE_OFF;
use probity::run::place::Place;
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
        return RepairSpecification::perform(
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
    RepairSpecification::perform(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for RepairSpecification {
    fn perform(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = device_for(specification.modality, at.hardware, at.output)?;
        let is_sweep = specification.shares().len() > 1;
        at.place
            .expect_device(device.name(), is_sweep.then_some(TRADE_OFF))?;
        match specification.modality {
            ModalityName::Table => {
                repair::<TableRepair>(specification, at.place, &device, at.output)
            }
            ModalityName::Text if is_transformer(&specification.model) => {
                repair::<TextRepair<TransformerLearner>>(
                    specification,
                    at.place,
                    &device,
                    at.output,
                )
            }
            ModalityName::Text => repair::<TextRepair>(specification, at.place, &device, at.output),
        }
    }
}

fn repair<R: Repairable>(
    specification: Checked<RepairSpecification>,
    place: Place,
    device: &ComputeDevice,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    // Everything that can be wrong with the input is found before anything is written.
    let repair = Repair::<R>::open(specification, device)?;
    if let Some(began) = place.began() {
        repair.expect_unchanged(began)?;
    }
    for run in repair.runs() {
        if run.held_out > 0 {
            output.remark(&format!(
                "note: {} of the individuals in {} were found from held-out inputs and are left out",
                count(run.held_out),
                run.run.display()
            ));
        }
    }
    let (directory, resume) = directory_of(place, "repair")?;
    let bar = RepairBar::new(output, Interrupt::listen()?);
    let path = directory.path().display();
    let go_on = format!("go on with: probity repair --resume --out {path}");
    let summary = repair
        .run(&directory, resume, &|progress| bar.observe(progress))
        .map_err(|error| {
            let model = repair.specification().model.display();
            let kept = kept_after(&error, &go_on);
            anyhow::Error::new(error).context(format!("repairing {model}{kept}"))
        })?;
    bar.clear();
    let mut text = plots(&directory)?;
    let data = repair.specification().data.display();
    let next = match R::MODALITY {
        ModalityName::Table => format!("audit --model {path} --data {data}"),
        ModalityName::Text => {
            let trained = summary.repaired_sha256.as_deref();
            let trained = trained.map(|sha256| Provenance::of(directory.path(), sha256));
            let trained = trained.transpose()?.flatten();
            let column = trained.and_then(|trained| trained.specification.text_column);
            let column = column.map_or(String::new(), |name| format!(" --text-column {name}"));
            format!("audit --model {path} --texts {data}{column}")
        }
    };
    text.push_str(&match (summary.finished, summary.verdict.saved) {
        (true, true) => format!("Model: {path}\nNext: probity {next}\n"),
        (true, false) => format!(
            "Nothing was saved. To save the chosen network all the same: probity repair --resume --out {path} --save-anyway\n"
        ),
        (false, true) => format!("Interrupted: the model so far is in {path}; {go_on}\n"),
        (false, false) => format!("Interrupted, and nothing was saved; {go_on}\n"),
    });
    output.run(&summary, directory.path(), &text)?;
    Ok(verdict(summary.verdict.holds))
}

/// What is said of a repair that ended with `error`, where going on can help.
fn kept_after(error: &RepairError, go_on: &str) -> String {
    match error {
        RepairError::NothingFound { .. } => String::new(),
        _ => format!(" (what is complete is kept; {go_on})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_go_on_where_nothing_was_found() {
        let go_on = "go on with: probity repair --resume --out run";
        let nothing = RepairError::NothingFound { part: "validation" };
        assert_eq!(kept_after(&nothing, go_on), "");
        let said = nothing.to_string();
        assert!(
            said.contains("begin a new run, in another directory"),
            "{said}"
        );
        assert!(kept_after(&RepairError::Interrupted, go_on).contains(go_on));
    }
}
