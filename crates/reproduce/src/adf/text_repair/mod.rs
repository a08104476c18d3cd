//! Tables XIII and XIV: discriminatory texts that retraining and certified training mend.

mod render;
mod retrain;

use std::path::absolute;

use anyhow::ensure;

use super::args::{AdfArgs, PAPER};
use super::texts::paper::find;
use crate::interrupt::Interrupt;
use crate::output::Output;
use retrain::{Experiment, TextRepairTableSummary, rows};

/// Prints table XIII or XIV.
pub fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<()> {
    let rows = rows(args)?;
    ensure!(
        !rows.is_empty(),
        "table {} has no such row: it has LSTM by race and GRU by ethnicity",
        args.table.name()
    );
    args.hardware.threads.apply()?;
    let folders = args.data.folders();
    let mut summary = TextRepairTableSummary {
        // Version 2: a row has its remedies in a list.
        schema_version: 2,
        command: "reproduce adf",
        paper: PAPER,
        table: args.table.name(),
        seed: args.seed,
        finished: true,
        rows: Vec::new(),
        not_found: Vec::new(),
    };
    match find(&folders) {
        Err(missing) => summary.not_found = missing,
        Ok((texts, vectors)) => {
            let interrupt = Interrupt::listen()?;
            let experiment = Experiment {
                args,
                files: (absolute(&texts)?, absolute(&vectors)?),
                interrupt: &interrupt,
                output,
            };
            summary.finished = experiment.fill(&rows, &mut summary.rows)?;
        }
    }
    let text = render::render(&summary, &folders);
    output.result(&summary, &text)
}
