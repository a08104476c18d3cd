//! `probity counterparts`

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::Hardware;
use super::output::Output;
use super::predictor::started_here;
use super::run::{At, Performed};
use probity::indirect::counterparts::run::{CounterpartTest, CounterpartsSpecification};
use probity::run::specification::Checked;

/// Arguments of `probity counterparts`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without a predictor --schema is that of the people, with all columns that are compared or protected; the model may know fewer of them.\nWith --fail-above the exit code is 1 if a larger share of a group is decided worse than their counterparts."
)]
pub(super) struct CounterpartsArgs {
    #[command(flatten)]
    fields: Fields<CounterpartsSpecification>,
    /// Directory for run.toml, summary.json and pairs.csv [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity counterparts`.
pub(super) fn run(mut args: CounterpartsArgs, output: &Output) -> anyhow::Result<ExitCode> {
    started_here(&mut args.fields)?;
    let specification = args.fields.specification()?;
    CounterpartsSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for CounterpartsSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(|name| specification.predictor.device(name))?;
        let matching = format!("matching the people in {}", specification.data.display());
        let test = CounterpartTest::open(specification, &device);
        let test = test.with_context(|| matching.clone())?;
        at.perform(test, &matching, |directory, _| Ok(directory.said()))
    }

    fn passes(summary: &serde_json::Value) -> bool {
        let bound = summary["fail_above"].as_f64();
        let groups = summary["groups"].as_array();
        let shares = groups.into_iter().flatten();
        let mut shares = shares.filter_map(|group| group["against"]["share"].as_f64());
        bound.is_none_or(|bound| shares.all(|share| share <= bound))
    }
}
