//! `probity spn delete`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;

use crate::cli::output::Output;
use crate::cli::render::count;
use probity::unlearning::spn::Dataset;
use probity::unlearning::spn::model::SpnModel;
use probity::unlearning::spn::unlearn::DeletionEffort;

/// Arguments of `probity spn delete`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity spn delete --model M --group 7 --verify\n\
                        Nothing is changed unless all rows can be deleted; a crash leaves the old model or the new one.\n\
                        Exit code 1 when --verify finds a difference (the model is then left as it was)."
)]
pub(super) struct DeleteArgs {
    /// Model directory
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Ids of rows
    #[arg(long, value_delimiter = ',', value_name = "IDS", required_unless_present_any = ["ids", "group"])]
    rows: Vec<u64>,
    /// File with one id a line
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,
    /// All rows of this group, such as a person; may be repeated
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,
    /// Learn anew from the remaining rows and compare all bytes before anything is written
    #[arg(long)]
    verify: bool,
}

#[derive(Serialize)]
struct DeleteSummary {
    model: PathBuf,
    remaining_rows: usize,
    #[serde(flatten)]
    effort: DeletionEffort,
    seconds: f64,
    identical: Option<bool>,
    retrain_seconds: Option<f64>,
}

/// Runs `probity spn delete`.
pub(super) fn run(args: DeleteArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let mut model = SpnModel::load(&args.model)?;
    let ids = args.wanted(model.spn.data())?;
    if ids.is_empty() {
        bail!("no row is named; give --rows, --ids or --group");
    }
    let started = Instant::now();
    let effort = model.spn.delete(&ids)?;
    let seconds = started.elapsed().as_secs_f64();
    let (mut identical, mut retrain_seconds) = (None, None);
    if args.verify {
        let started = Instant::now();
        let fresh = SpnModel {
            spn: model.spn.retrained()?,
            table: model.table.clone(),
        };
        retrain_seconds = Some(started.elapsed().as_secs_f64());
        identical = Some(fresh.to_bytes()? == model.to_bytes()?);
    }
    if identical != Some(false) {
        model.store(&args.model)?;
    }
    let summary = DeleteSummary {
        model: args.model,
        remaining_rows: model.spn.data().rows(),
        effort,
        seconds,
        identical,
        retrain_seconds,
    };
    output.summary("spn delete", &summary, &render(&summary))?;
    Ok(match identical {
        Some(false) => ExitCode::from(1),
        _ => ExitCode::SUCCESS,
    })
}

impl DeleteArgs {
    /// The ids of all rows named, by id or by group; a row that is named twice is named twice here.
    fn wanted(&self, data: &Dataset) -> anyhow::Result<Vec<u64>> {
        let mut ids = self.rows.clone();
        if let Some(file) = &self.ids {
            ids.extend(read_ids(file)?);
        }
        for group in &self.group {
            if data.group(0).is_none() {
                bail!("the model knows no groups; fit it with --group-column");
            }
            ids.extend(data.members(group)?);
        }
        Ok(ids)
    }
}

/// One id a line; empty lines are skipped.
fn read_ids(file: &Path) -> anyhow::Result<Vec<u64>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut ids = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        match line.parse() {
            Ok(id) => ids.push(id),
            Err(_) => bail!(
                "{}, line {}: '{line}' is no row id; a whole number from 0 is expected",
                file.display(),
                at + 1
            ),
        }
    }
    Ok(ids)
}

fn render(summary: &DeleteSummary) -> String {
    let effort = &summary.effort;
    let mut text = format!(
        "Deleted {} rows in {:.4} s; {} remain. {} nodes updated, {} sub-networks learnt again.\n",
        count(effort.rows as u64),
        summary.seconds,
        count(summary.remaining_rows as u64),
        count(effort.updated_nodes as u64),
        count(effort.learnt_again as u64)
    );
    match (summary.identical, summary.retrain_seconds) {
        (Some(true), Some(seconds)) => text.push_str(&format!(
            "Verified: the same bytes as learning anew from the remaining rows ({seconds:.4} s).\n"
        )),
        (Some(false), _) => text.push_str(
            "NOT IDENTICAL to learning anew from the remaining rows; the model was left as it was.\n",
        ),
        _ => {}
    }
    text
}
