//! `probity data`

mod generate;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

pub(super) use self::generate::comments;
use super::exit_code::ExitCode;
use crate::cli::output::Output;
use crate::cli::render::{count, table};
use probity::data::fetch::{
    DataSet, FetchOptions, Fetcher, catalogue, data_set, default_cache_dir,
};

/// Arguments of `probity data`.
#[derive(Debug, Args)]
pub(super) struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    /// Download a data set from its publisher, verify it, and keep it
    Fetch(FetchArgs),
    /// List the data sets that can be fetched
    List,
    /// Write made-up data whose discrimination is known
    Generate(generate::GenerateArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "A download that broke off goes on where it stopped. Every file is checked against a pinned SHA-256."
)]
struct FetchArgs {
    /// Name of the data set; see `probity data list`
    name: String,
    /// Take the files from this folder instead of the network
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Folder to keep data sets in [default: PROBITY_CACHE_DIR, or the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

#[derive(Serialize)]
struct FetchSummary {
    name: String,
    folder: PathBuf,
    files: Vec<PathBuf>,
    licence: String,
    citation: String,
}

/// Runs `probity data`.
pub(super) fn run(args: DataArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.command {
        DataCommand::Fetch(args) => fetch(args, output),
        DataCommand::List => list(output),
        DataCommand::Generate(args) => generate::run(&args, output),
    }
}

fn fetch(args: FetchArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let set = data_set(&args.name)?;
    let cache = match args.cache {
        Some(cache) => cache,
        None => default_cache_dir()?,
    };
    let fetcher = Fetcher::new(cache, FetchOptions::default());
    let fetched = match &args.from {
        Some(folder) => fetcher.copy_from(&set, folder)?,
        None => {
            let bar = output.progress(0, "{msg} [{bar:28}] {bytes}/{total_bytes}, {eta} left");
            let fetched = fetcher.download(&set, &mut |progress| {
                bar.set_message(progress.file.to_owned());
                if let Some(total) = progress.total {
                    bar.set_length(total);
                }
                bar.set_position(progress.done);
            })?;
            bar.finish_and_clear();
            fetched
        }
    };
    let files: Vec<PathBuf> = fetched.files.into_iter().map(|file| file.path).collect();
    let mut text = format!("{}: verified.\n", set.title);
    for file in &files {
        text.push_str(&format!("  {}\n", file.display()));
    }
    text.push_str(&format!(
        "Licence: {}\nCite: {}\n",
        set.licence, set.citation
    ));
    let summary = FetchSummary {
        name: set.name,
        folder: fetched.folder,
        files,
        licence: set.licence,
        citation: set.citation,
    };
    output.summary("data fetch", &summary, &text)
}

fn list(output: &Output) -> anyhow::Result<ExitCode> {
    let sets = catalogue();
    let bytes = |set: &DataSet| set.files.iter().map(|file| file.size).sum::<u64>();
    let rows: Vec<Vec<String>> = sets
        .iter()
        .map(|set| {
            let files: Vec<&str> = set.files.iter().map(|file| file.name.as_str()).collect();
            vec![
                set.name.clone(),
                files.join(", "),
                count(bytes(set)),
                set.licence.clone(),
            ]
        })
        .collect();
    let text = table(&["data set", "files", "bytes", "licence"], &rows);
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    let summary = serde_json::json!({"data_sets": names});
    output.summary("data list", &summary, &text)
}
