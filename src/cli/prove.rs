//! `probity prove`

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::{Hardware, Threads, unfinished};
use super::output::Output;
use super::run::{At, Performed};
use probity::fairness::prove::run::{Proof, ProveSpecification};
use probity::fairness::prove::summary::{ProofEnding, ProveSummary};
use probity::run::place::Place;
use probity::run::run_directory::CHECKPOINT;
use probity::run::specification::Checked;
use probity::tensor::device::DeviceName;

/// Arguments of `probity prove`.
#[derive(Debug, Args)]
#[command(
    after_help = "With --fail-above the exit code is 0 only when it is proven that the share is at or below the bound."
)]
pub(super) struct ProveArgs {
    #[command(flatten)]
    fields: Fields<ProveSpecification>,
    /// Run directory [default: the next free runs/prove-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the unfinished run in --out; all options but the limits come from there
    #[arg(long, requires = "out")]
    resume: bool,
    #[command(flatten)]
    threads: Threads,
}

/// Runs `probity prove`.
pub(super) fn run(mut args: ProveArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let (specification, place) = match args.resume {
        true => {
            // Without another limit the run goes on to its end.
            if !args.fields.is_given("time") {
                args.fields.set("time", Value::Null);
            }
            unfinished(args.out, &args.fields)?
        }
        false => (args.fields.specification()?, Place::New(args.out)),
    };
    let hardware = Hardware::cpu(args.threads);
    ProveSpecification::perform_at(specification, At::whole(place, &hardware, output))
}

impl Performed for ProveSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        at.hardware.threads.apply()?;
        at.place.expect_device(DeviceName::Flex, None)?;
        let model = specification.model.clone();
        let proof = Proof::open(specification, &at.place)?;
        let doing = format!("proving {}", model.display());
        at.perform(proof, &doing, |directory, summary| {
            Ok(what_next(&model, summary, directory.path()))
        })
    }

    /// A declared bound has to be shown to hold.
    fn passes(summary: &Value) -> bool {
        let bound = &summary["fail_above"];
        bound.is_null() || bound["verdict"] == "within"
    }
}

/// Where the run is and what to do with it.
fn what_next(model: &Path, summary: &ProveSummary, directory: &Path) -> String {
    let path = directory.display();
    let go_on = match summary.ending {
        ProofEnding::Decided if !directory.join(CHECKPOINT).is_file() => String::new(),
        ProofEnding::Decided => {
            format!("Go on with: probity prove --resume --out {path} --until-undecided 0\n")
        }
        ProofEnding::Time => format!(
            "Go on with: probity prove --resume --out {path} --time LONGER \
             (counted from the beginning), or without --time to the end.\n"
        ),
        ProofEnding::MaxBoxes => {
            format!("Go on with: probity prove --resume --out {path} --max-boxes MORE\n")
        }
        ProofEnding::Interrupted => format!("Go on with: probity prove --resume --out {path}\n"),
    };
    let search = summary.undecided_file.as_ref().map(|file| {
        format!(
            "      probity audit --model {} --data {path}/{file} --protected {}\n",
            model.display(),
            summary.protected.join(",")
        )
    });
    format!(
        "{go_on}Run: {path}\nNext: probity verify {path}\n      probity report {path} --out report.html\n{}",
        search.unwrap_or_default()
    )
}
