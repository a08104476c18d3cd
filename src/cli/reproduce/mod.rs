//! `probity reproduce`: a paper's figures beside ours, on the data that are found.

mod adf;
mod kmeans;
mod knn;
mod outliers;
mod spn;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};

use super::output::Output;
use probity::data::fetch::default_cache_dir;
use probity::data::published::Absent;

/// Where the data are looked for unless --data-dir says otherwise.
const DATA_DIR_VARIABLE: &str = "PROBITY_DATA_DIR";
const DATA_DIR: &str = "../shared/data";

/// Arguments of `probity reproduce`.
#[derive(Debug, Args)]
pub(super) struct ReproduceArgs {
    #[command(subcommand)]
    paper: Paper,
}

#[derive(Debug, Subcommand)]
enum Paper {
    /// Zhang et al.: Automatic Fairness Testing of Neural Classifiers (TSE 2021)
    Adf(adf::AdfArgs),
    /// Li, Wang, Wang: Systematic Testing of the Data-Poisoning Robustness of KNN (ISSTA 2023)
    Knn(knn::KnnArgs),
    /// Ginart, Guan, Valiant, Zou: Making AI Forget You: Data Deletion in Machine Learning (NeurIPS 2019)
    Kmeans(kmeans::KMeansArgs),
    /// Okada, Fukuchi, Kakizaki, Sakuma: Differentially Private Analysis of Outliers (ECML PKDD 2015)
    Outliers(outliers::OutliersArgs),
    /// Becker, Liebig: Certified Data Removal in Sum-Product Networks (2022)
    Spn(spn::SpnArgs),
}

/// Runs `probity reproduce`.
pub(super) fn run(args: ReproduceArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.paper {
        Paper::Adf(args) => adf::run(args, output),
        Paper::Knn(args) => knn::run(args, output),
        Paper::Kmeans(args) => kmeans::run(args, output),
        Paper::Outliers(args) => outliers::run(args, output),
        Paper::Spn(args) => spn::run(args, output),
    }
}

/// Where the papers' data sets are looked for.
#[derive(Debug, Clone, Args)]
pub(super) struct DataFolders {
    /// Folder of the data sets [default: PROBITY_DATA_DIR, else ../shared/data, else what was fetched]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl DataFolders {
    /// The folders to look in, in order.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        if let Some(folder) = &self.data_dir {
            return vec![folder.clone()];
        }
        let mut folders = vec![
            std::env::var_os(DATA_DIR_VARIABLE).map_or_else(|| DATA_DIR.into(), PathBuf::from),
        ];
        folders.extend(default_cache_dir());
        folders
    }
}

/// Which data sets of a paper.
#[derive(Debug, Clone, Args)]
pub(super) struct Only {
    /// Only these data sets, by name, separated by commas
    #[arg(long = "only", value_delimiter = ',', value_name = "NAMES")]
    names: Vec<String>,
}

impl Only {
    /// Keeps what is asked for of `cases`; `of` names the paper or its table in the refusal of an unknown name.
    pub(super) fn keep<T>(
        &self,
        cases: &mut Vec<T>,
        name: impl Fn(&T) -> &str,
        of: &str,
    ) -> anyhow::Result<()> {
        let known = |asked: &String| cases.iter().any(|case| name(case) == asked);
        if let Some(other) = self.names.iter().find(|asked| !known(asked)) {
            let mut names: Vec<&str> = cases.iter().map(name).collect();
            names.dedup();
            bail!(
                "{of} has no data set '{other}'; it has {}",
                names.join(", ")
            );
        }
        if !self.names.is_empty() {
            cases.retain(|case| self.names.iter().any(|asked| asked == name(case)));
        }
        Ok(())
    }
}

/// A line for [`not_found`] on a data set that is absent.
pub(super) fn missing(data_set: &str, absent: Absent) -> String {
    match absent {
        Absent::NotOffered => format!("{data_set}: Probity has no reader for it"),
        Absent::Files(files) => format!("{data_set}: {}", files.join(", ")),
    }
}

/// The list of data sets that `folders` lack; empty when nothing is `missing`.
pub(super) fn not_found(missing: &[String], folders: &[PathBuf]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let folders: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    let mut text = format!("Not found in {}:\n", folders.join(" or "));
    for name in missing {
        text.push_str(&format!("  {name}\n"));
    }
    text
}
