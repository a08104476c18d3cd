//! `probity kmeans delete`

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;

use crate::cli::deletion::{Counts, DeletionArgs, in_words};
use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::output::{Output, verdict};
use probity::data::specification::ReadingSpecification;
use probity::tensor::proposer::Proposer;
use probity::unlearning::kmeans::dataset::read_for_model;
use probity::unlearning::kmeans::directory::{Description, MODEL, ModelDirectory};
use probity::unlearning::kmeans::specification::RetrainingSpecification;
use probity::unlearning::kmeans::{Model, Points};

/// Arguments of `probity kmeans delete`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 1, and the model is left as it was, when --verify finds a difference."
)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    deletion: DeletionArgs,
    #[command(flatten)]
    retraining: Fields<RetrainingSpecification>,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Serialize)]
struct DeleteSummary {
    /// Rows that are gone from the model in its directory; none where a difference was found.
    deleted: usize,
    remaining: usize,
    /// Rows that were asked for.
    asked: usize,
    free: bool,
    seconds: f64,
    verified: Option<bool>,
    retraining_seconds: Option<f64>,
}

/// Runs `probity kmeans delete`.
pub(super) fn run(args: DeleteArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let ids = args.deletion.ids()?;
    if ids.is_empty() {
        bail!("no row is named; give --ids or --ids-file");
    }
    let retraining = args.retraining.specification()?;
    let data = retraining.data.as_deref();
    args.deletion.expect_verified(data)?;
    let device = args.hardware.open(output)?;
    let lock = args.deletion.lock(MODEL, output)?;
    let (directory, model) = ModelDirectory::open(&args.deletion.model)?;
    let mut model = model.on(&Proposer::new(&device));
    let start = Instant::now();
    let deleted = model.delete(&ids)?;
    let seconds = start.elapsed().as_secs_f64();
    let verified = args.deletion.verified(|| {
        let retrained = match data {
            None => Model::fit(model.points()?, &model.options())?,
            Some(file) => {
                let rows = rows_of(file, directory.description(), &retraining.reading)?;
                let named = || file.display().to_string();
                model.retrained_on(&rows).with_context(named)?
            }
        };
        Ok(retrained.to_bytes()? == model.to_bytes()?)
    })?;
    let is_exact = verified.is_none_or(|(is_same, _)| is_same);
    if is_exact {
        lock.expect_in_place()?;
        directory.save(&model)?;
    }
    let counts = Counts::new(is_exact, deleted.rows, model.rows());
    let summary = DeleteSummary {
        deleted: counts.deleted,
        remaining: counts.remaining,
        asked: deleted.rows,
        free: deleted.free,
        seconds,
        verified: verified.map(|(is_same, _)| is_same),
        retraining_seconds: verified.map(|(_, seconds)| seconds),
    };
    let what = match deleted.free {
        true => "no centroid of any round changed",
        false => "centroids changed",
    };
    let text = format!(
        "{}: {what} ({seconds:.6} s).\n{}",
        counts.in_words(deleted.rows),
        in_words(verified, data)
    );
    output.summary("kmeans delete", &summary, &text)?;
    Ok(verdict(is_exact))
}

/// The rows of `file`, read as `reading` says, with the columns of the model.
fn rows_of(
    file: &Path,
    description: &Description,
    reading: &ReadingSpecification,
) -> anyhow::Result<Points> {
    let mut options = reading.options()?;
    options.label = description.label.clone();
    options.id = description.id_column.clone();
    Ok(read_for_model(file, &options, &description.columns)?.0)
}
