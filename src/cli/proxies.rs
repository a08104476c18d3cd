//! `probity proxies`

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::Hardware;
use super::output::Output;
use super::predictor::started_here;
use super::run::{At, Performed};
use probity::indirect::proxies::run::{ProxiesSpecification, ProxySearch};
use probity::run::specification::Checked;

/// Arguments of `probity proxies`.
#[derive(Debug, Args)]
#[command(
    after_help = "That columns do not tell a group is never shown: look at the upper ends of the intervals."
)]
pub(super) struct ProxiesArgs {
    #[command(flatten)]
    fields: Fields<ProxiesSpecification>,
    /// Directory for run.toml and summary.json [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity proxies`.
pub(super) fn run(mut args: ProxiesArgs, output: &Output) -> anyhow::Result<ExitCode> {
    started_here(&mut args.fields)?;
    let specification = args.fields.specification()?;
    ProxiesSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for ProxiesSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(|name| specification.predictor.device(name))?;
        let searching = format!("looking for proxies in {}", specification.data.display());
        let search = ProxySearch::open(specification, &device);
        let search = search.with_context(|| searching.clone())?;
        at.perform(search, &searching, |directory, _| Ok(directory.said()))
    }
}
