//! `probity situations`

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::Hardware;
use super::output::Output;
use super::predictor::started_here;
use super::run::{At, Performed};
use probity::indirect::situations::run::{SituationTest, SituationsSpecification};
use probity::run::specification::Checked;

/// Arguments of `probity situations`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without a predictor --schema is that of the people, with all columns that are compared or protected; the model may know fewer of them.\nWith --fail-above the exit code is 1 if a larger share of a group is found to be discriminated against."
)]
pub(super) struct SituationsArgs {
    #[command(flatten)]
    fields: Fields<SituationsSpecification>,
    /// Directory for run.toml, summary.json and persons.csv [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity situations`.
pub(super) fn run(mut args: SituationsArgs, output: &Output) -> anyhow::Result<ExitCode> {
    started_here(&mut args.fields)?;
    let specification = args.fields.specification()?;
    SituationsSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for SituationsSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(|name| specification.predictor.device(name))?;
        let comparing = format!("comparing the people in {}", specification.data.display());
        let test = SituationTest::open(specification, &device);
        let test = test.with_context(|| comparing.clone())?;
        at.perform(test, &comparing, |directory, _| Ok(directory.said()))
    }

    fn passes(summary: &serde_json::Value) -> bool {
        let bound = summary["fail_above"].as_f64();
        let groups = summary["groups"].as_array();
        let shares = groups.into_iter().flatten();
        let mut shares = shares.filter_map(|group| group["against"]["share"].as_f64());
        bound.is_none_or(|bound| shares.all(|share| share <= bound))
    }
}
