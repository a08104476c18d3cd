//! The tables on tabular data: IV to VII and X.

pub mod paper;
mod render;
mod search;

use super::args::{AdfArgs, PAPER};
use crate::interrupt::Interrupt;
use crate::output::Output;
use search::{Experiment, TablesSummary};

/// Prints the table that `args` ask for.
pub fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<()> {
    let wanted = args.data_sets()?;
    let device = args.hardware.open()?;
    let folders = args.data.folders();
    let mut summary = TablesSummary {
        schema_version: 1,
        command: "reproduce adf",
        paper: PAPER,
        table: args.table.name(),
        seed: args.seed,
        repeats: args.repeats,
        finished: true,
        rows: Vec::new(),
        not_found: Vec::new(),
    };
    let experiment = Experiment {
        args,
        device,
        interrupt: Interrupt::listen()?,
        output,
    };
    for data in wanted {
        match data.find(&folders) {
            Err(missing) => summary.not_found.extend(missing),
            Ok(files) => {
                let Some(rows) = experiment.data_set(data, &files)? else {
                    summary.finished = false;
                    break;
                };
                summary.rows.extend(rows);
            }
        }
    }
    let text = render::render(args, &summary, &folders);
    output.result(&summary, &text)
}
