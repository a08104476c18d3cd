//! `probity serve`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::output::Output;

/// Arguments of `probity serve`.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    data_dir: PathBuf,
}

/// Runs `probity serve`.
pub(super) fn run(_args: ServeArgs, _output: &Output) -> anyhow::Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
