//! `probity knn`: predictions of a k-nearest-neighbour classifier, and whether poison can change
//! them.

pub(super) mod analyse;
mod predict;
pub(super) mod verify;

use clap::{Args, Subcommand};

use super::exit_code::ExitCode;
use super::output::Output;

/// Arguments of `probity knn`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(
    after_help = "A removal set is a proof: probity knn verify RUN replays every one of them."
)]
pub(super) struct KnnArgs {
    #[command(subcommand)]
    command: Option<KnnCommand>,
    #[command(flatten)]
    analyse: analyse::AnalyseArgs,
}

#[derive(Debug, Subcommand)]
enum KnnCommand {
    /// Replay every falsification of a run through the plain learner
    Verify(verify::VerifyArgs),
    /// Learn K and predict, without any analysis
    Predict(Box<predict::PredictArgs>),
}

/// Runs `probity knn`.
pub(super) fn run(args: KnnArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.command {
        None => analyse::run(args.analyse, output),
        Some(KnnCommand::Verify(args)) => verify::run(args, output),
        Some(KnnCommand::Predict(args)) => predict::run(*args, output),
    }
}
