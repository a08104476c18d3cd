//! The protocols of the papers that Probity implements: prints their figures beside ours, on the
//! data that are found.
//!
//! One folder a paper. Its `paper.rs` holds what is printed there and how its data sets are read;
//! the rest runs the protocol through Probity's library crates and renders both side by side. What
//! all papers have in common stands beside the folders: `reproduction.rs` goes through the data sets
//! and prints what comes of it, `published.rs` finds their files, `options.rs` and `output.rs` hold
//! arguments and tables, and `interrupt.rs` listens for Ctrl-C. Nothing here is part of the product.

mod adf;
mod interrupt;
mod kmeans;
mod knn;
mod options;
mod outliers;
mod output;
mod published;
mod reproduction;
mod situations;
mod spn;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use probity_run::failure::said;

use output::{Output, Reporting};

/// Print a paper's figures beside ours.
#[derive(Debug, Parser)]
#[command(name = "probity-reproduce", version)]
#[command(after_help = "Exit codes: 0 done, 2 bad usage or input, or no such device.")]
struct Cli {
    #[command(subcommand)]
    paper: Paper,
    #[command(flatten)]
    reporting: Reporting,
}

#[derive(Debug, Subcommand)]
enum Paper {
    /// Zhang et al.: Automatic Fairness Testing of Neural Classifiers (TSE 2021)
    Adf(adf::AdfArgs),
    /// Li, Wang, Wang: Systematic Testing of the Data-Poisoning Robustness of KNN (ISSTA 2023)
    Knn(knn::KnnArgs),
    /// Ginart, Guan, Valiant, Zou: Making AI Forget You: Data Deletion in Machine Learning (NeurIPS
    /// 2019)
    Kmeans(kmeans::KMeansArgs),
    /// Okada, Fukuchi, Kakizaki, Sakuma: Differentially Private Analysis of Outliers (ECML PKDD
    /// 2015)
    Outliers(outliers::OutliersArgs),
    /// Álvarez, Ruggieri: Counterfactual Situation Testing (JAIR 2025)
    Situations(situations::SituationsArgs),
    /// Becker, Liebig: Certified Data Removal in Sum-Product Networks (2022)
    Spn(spn::SpnArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let output = Output::new(cli.reporting);
    let outcome = match cli.paper {
        Paper::Adf(args) => adf::run(&args, &output),
        Paper::Knn(args) => knn::run(&args, &output),
        Paper::Kmeans(args) => kmeans::run(&args, &output),
        Paper::Outliers(args) => outliers::run(args, &output),
        Paper::Situations(args) => situations::run(&args, &output),
        Paper::Spn(args) => spn::run(&args, &output),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", said(error.as_ref()));
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
