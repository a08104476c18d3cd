//! `probity kmeans`: clusterings from which rows can be deleted exactly.

mod assign;
pub(super) mod bench;
mod delete;
pub(super) mod fit;

use clap::{Args, Subcommand};

use super::exit_code::ExitCode;
use super::output::Output;

/// Arguments of `probity kmeans`.
#[derive(Debug, Args)]
pub(super) struct KMeansArgs {
    #[command(subcommand)]
    command: KMeansCommand,
}

#[derive(Debug, Subcommand)]
enum KMeansCommand {
    /// Cluster the rows of a table, or images
    Fit(Box<fit::FitArgs>),
    /// Delete rows from a model: it becomes what training on the others gives, bit for bit
    Delete(delete::DeleteArgs),
    /// Print the cluster of every row
    Assign(Box<assign::AssignArgs>),
    /// Measure deletions against training anew
    Bench(Box<bench::BenchArgs>),
}

/// Runs `probity kmeans`.
pub(super) fn run(args: KMeansArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.command {
        KMeansCommand::Fit(args) => fit::run(*args, output),
        KMeansCommand::Delete(args) => delete::run(args, output),
        KMeansCommand::Assign(args) => assign::run(*args, output),
        KMeansCommand::Bench(args) => bench::run(*args, output),
    }
}
