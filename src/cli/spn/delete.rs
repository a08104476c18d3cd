//! `probity spn delete`

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;

use crate::cli::deletion::{Counts, DeletionArgs, in_words};
use crate::cli::exit_code::ExitCode;
use crate::cli::inputs::Hardware;
use crate::cli::output::{Output, verdict};
use crate::cli::render::counted;
use probity::data::numbers::one_spelling;
use probity::tensor::proposer::Proposer;
use probity::unlearning::spn::model::{MODEL, SpnModel};
use probity::unlearning::spn::unlearn::DeletionEffort;
use probity::unlearning::spn::{Dataset, Spn};

/// Arguments of `probity spn delete`.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is changed unless all rows can be deleted; a crash leaves the old model or the new one.\nExit code 1, and the model is left as it was, when --verify finds a difference."
)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    deletion: DeletionArgs,
    /// All rows of this group, such as a person; may be repeated
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,
    /// With --verify: learn from the rows of this file that the model still has, in place of the
    /// rows in the model
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Serialize)]
struct DeleteSummary {
    model: PathBuf,
    /// Rows that are gone from the model in its directory; none where a difference was found.
    deleted: usize,
    remaining_rows: usize,
    /// What deleting the rows that were asked for took.
    #[serde(flatten)]
    effort: DeletionEffort,
    seconds: f64,
    identical: Option<bool>,
    retrain_seconds: Option<f64>,
}

/// Runs `probity spn delete`.
pub(super) fn run(args: DeleteArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let (deletion, data) = (&args.deletion, args.data.as_deref());
    deletion.expect_verified(data)?;
    let proposer = Proposer::new(&args.hardware.open(output)?);
    let lock = deletion.lock(MODEL, output)?;
    let mut model = SpnModel::load(&deletion.model)?;
    model.spn = model.spn.on(&proposer);
    let ids = args.ids(model.spn.data())?;
    if ids.is_empty() {
        bail!("no row is named; give --ids, --ids-file or --group");
    }
    let started = Instant::now();
    let effort = model.spn.delete(&ids)?;
    let seconds = started.elapsed().as_secs_f64();
    let verified = deletion.verified(|| {
        let spn = match data {
            None => model.spn.retrained()?,
            Some(file) => {
                let (rows, _) = model.table.read(file)?.value;
                let named = || file.display().to_string();
                let rows = rows.keeping(model.spn.data()).with_context(named)?;
                Spn::learn(*model.spn.parameters(), rows.on(&proposer))?
            }
        };
        let fresh = SpnModel {
            spn,
            table: model.table.clone(),
        };
        Ok(fresh.to_bytes()? == model.to_bytes()?)
    })?;
    let is_exact = verified.is_none_or(|(is_same, _)| is_same);
    if is_exact {
        lock.expect_in_place()?;
        model.store(&deletion.model)?;
    }
    let counts = Counts::new(is_exact, effort.rows, model.spn.data().rows());
    let text = format!(
        "{} ({seconds:.4} s). {} updated, {} learnt again.\n{}",
        counts.in_words(effort.rows),
        counted(effort.updated_nodes as u64, "node", "nodes"),
        counted(effort.learnt_again as u64, "sub-network", "sub-networks"),
        in_words(verified, data)
    );
    let summary = DeleteSummary {
        model: args.deletion.model,
        deleted: counts.deleted,
        remaining_rows: counts.remaining,
        effort,
        seconds,
        identical: verified.map(|(is_same, _)| is_same),
        retrain_seconds: verified.map(|(_, seconds)| seconds),
    };
    output.summary("spn delete", &summary, &text)?;
    Ok(verdict(is_exact))
}

impl DeleteArgs {
    /// The ids of all rows named, by id or by group.
    fn ids(&self, data: &Dataset) -> anyhow::Result<Vec<u64>> {
        let mut ids = self.deletion.ids()?;
        for (at, group) in self.group.iter().enumerate() {
            if data.group(0).is_none() {
                bail!("the model knows no groups; fit it with --group-column");
            }
            // Two spellings of a group name its rows once.
            let is_other_spelling =
                |named: &String| named != group && one_spelling(named) == one_spelling(group);
            if !self.group[..at].iter().any(is_other_spelling) {
                ids.extend(data.members(group)?);
            }
        }
        Ok(ids)
    }
}
