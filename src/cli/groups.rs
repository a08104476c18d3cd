//! `probity groups`

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::Hardware;
use super::output::Output;
use super::predictor::started_here;
use super::run::{At, Performed};
use probity::fairness::group::grouping::DeclaredBins;
use probity::fairness::group::run::{GroupMeasurement, GroupsSpecification};
use probity::run::specification::Checked;

/// Arguments of `probity groups`.
#[derive(Debug, Args)]
pub(super) struct GroupsArgs {
    #[command(flatten)]
    fields: Fields<GroupsSpecification>,
    /// Labelled texts that are measured: a table with --text-column and --label-column
    #[arg(
        long,
        conflicts_with = "data",
        value_name = "FILE",
        help_heading = "Text"
    )]
    texts: Option<PathBuf>,
    /// Inner edges of the groups of a numeric attribute, such as age=25,45,65; may be given for
    /// several
    #[arg(long, value_name = "COLUMN=EDGE,…", help_heading = "Groups")]
    edges: Vec<DeclaredBins>,
    /// Directory for run.toml and summary.json [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity groups`.
pub(super) fn run(mut args: GroupsArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if let Some(texts) = &args.texts {
        args.fields.set_texts(texts)?;
    }
    if !args.edges.is_empty() {
        let edges: Vec<String> = args.edges.into_iter().map(String::from).collect();
        args.fields.set("groups.edges", edges);
    }
    started_here(&mut args.fields)?;
    let specification = args.fields.specification()?;
    GroupsSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for GroupsSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(|name| specification.predictor.device(name))?;
        let name = specification.predictor.name_or(&specification.model);
        let measuring = format!("measuring {name}");
        let measurement = GroupMeasurement::open(specification, &device);
        let measurement = measurement.with_context(|| measuring.clone())?;
        at.perform(measurement, &measuring, |directory, _| Ok(directory.said()))
    }
}
