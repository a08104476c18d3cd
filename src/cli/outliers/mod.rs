//! `probity outliers`: what can be said about outliers without giving anyone away.

mod budget;
pub(super) mod count;
mod exact;
mod inputs;
pub(super) mod subspaces;

use clap::{Args, Subcommand};

use super::exit_code::ExitCode;
use super::output::Output;

/// Arguments of `probity outliers`.
#[derive(Debug, Args)]
#[command(
    after_help = "An outlier has fewer than k other records within the radius. Declare a budget first:\n  \
                        probity outliers budget --ledger budget.toml --data d.csv --epsilon 2 --delta 0.02"
)]
pub(super) struct OutliersArgs {
    #[command(subcommand)]
    command: OutliersCommand,
}

#[derive(Debug, Subcommand)]
enum OutliersCommand {
    /// Declare a privacy budget for a data file, or show what is left of one
    Budget(budget::BudgetArgs),
    /// Count outliers, privately
    Count(Box<count::CountArgs>),
    /// Choose the subspaces with the most outliers, privately
    Subspaces(Box<subspaces::SubspacesArgs>),
    /// Count outliers exactly, for the owner of the data: NOT private
    Exact(Box<exact::ExactArgs>),
}

/// Runs `probity outliers`.
pub(super) fn run(args: OutliersArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.command {
        OutliersCommand::Budget(args) => budget::run(args, output),
        OutliersCommand::Count(args) => count::run(*args, output),
        OutliersCommand::Subspaces(args) => subspaces::run(*args, output),
        OutliersCommand::Exact(args) => exact::run(*args, output),
    }
}
