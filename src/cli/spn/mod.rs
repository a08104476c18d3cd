//! `probity spn`: sum-product networks whose training rows can be deleted exactly.

pub(super) mod bench;
mod delete;
pub(super) mod fit;
mod inputs;
mod query;
mod show;

use clap::{Args, Subcommand};

use super::exit_code::ExitCode;
use super::output::Output;

/// Arguments of `probity spn`.
#[derive(Debug, Args)]
pub(super) struct SpnArgs {
    #[command(subcommand)]
    command: SpnCommand,
}

#[derive(Debug, Subcommand)]
enum SpnCommand {
    /// Learn a network from a table
    Fit(Box<fit::FitArgs>),
    /// Ask a network: likelihoods, probabilities, explanations, samples, classes
    Query(query::QueryArgs),
    /// Delete rows: the model is then the one that learning without them gives
    Delete(delete::DeleteArgs),
    /// Measure deletion against learning anew (the paper's protocol)
    Bench(Box<bench::BenchArgs>),
    /// Describe a network, and draw it
    Show(show::ShowArgs),
}

/// Runs `probity spn`.
pub(super) fn run(args: SpnArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.command {
        SpnCommand::Fit(args) => fit::run(*args, output),
        SpnCommand::Query(args) => query::run(args, output),
        SpnCommand::Delete(args) => delete::run(args, output),
        SpnCommand::Bench(args) => bench::run(*args, output),
        SpnCommand::Show(args) => show::run(args, output),
    }
}
