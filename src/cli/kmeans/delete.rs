//! `probity kmeans delete`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde::Serialize;

use crate::cli::inputs::Threads;
use crate::cli::output::Output;
use crate::cli::render::count;
use probity::unlearning::kmeans::Model;
use probity::unlearning::kmeans::directory::ModelDirectory;

/// Arguments of `probity kmeans delete`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity kmeans delete --model M --rows 3,17 --verify\n\
                        Exit code 1, and the model is left as it was, when --verify finds a difference."
)]
pub(super) struct DeleteArgs {
    /// Model directory
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Ids of the rows to delete
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "IDS",
        required_unless_present = "ids"
    )]
    rows: Vec<u64>,
    /// File with ids, one a line
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,
    /// Also train on the remaining rows, and compare byte by byte
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Serialize)]
struct DeleteSummary {
    deleted: usize,
    remaining: usize,
    free: bool,
    seconds: f64,
    verified: Option<bool>,
    retraining_seconds: Option<f64>,
}

/// Runs `probity kmeans delete`.
pub(super) fn run(args: DeleteArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.threads.apply()?;
    let mut ids = args.rows.clone();
    if let Some(file) = &args.ids {
        ids.extend(read_ids(file)?);
    }
    if ids.is_empty() {
        bail!("no row is named");
    }
    let (directory, mut model) = ModelDirectory::open(&args.model)?;
    let start = Instant::now();
    let deleted = model.delete(&ids)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut summary = DeleteSummary {
        deleted: deleted.rows,
        remaining: model.rows(),
        free: deleted.free,
        seconds,
        verified: None,
        retraining_seconds: None,
    };
    if args.verify {
        let start = Instant::now();
        let retrained = Model::fit(model.points()?, &model.options())?;
        summary.retraining_seconds = Some(start.elapsed().as_secs_f64());
        summary.verified = Some(retrained.to_bytes()? == model.to_bytes()?);
    }
    let agrees = summary.verified != Some(false);
    if agrees {
        directory.save(&model)?;
    }
    output.summary("kmeans delete", &summary, &render(&summary))?;
    Ok(if agrees {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn read_ids(file: &Path) -> anyhow::Result<Vec<u64>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            line.trim().parse().map_err(|_| {
                anyhow!(
                    "{}, line {}: '{}' is no row id; one whole number a line is expected",
                    file.display(),
                    number + 1,
                    line.trim()
                )
            })
        })
        .collect()
}

fn render(summary: &DeleteSummary) -> String {
    let what = if summary.free {
        "no centroid of any round changed"
    } else {
        "centroids changed"
    };
    let mut text = format!(
        "{} rows deleted, {} remain: {what} ({:.6} s).\n",
        count(summary.deleted as u64),
        count(summary.remaining as u64),
        summary.seconds
    );
    match (summary.verified, summary.retraining_seconds) {
        (Some(true), Some(seconds)) => text.push_str(&format!(
            "Verified: training on the remaining rows ({seconds:.6} s) gives the same bytes.\n"
        )),
        (Some(false), _) => text.push_str(
            "NOT EXACT: training on the remaining rows gives other bytes. The model is left as it was; please report this.\n",
        ),
        _ => {}
    }
    text
}
