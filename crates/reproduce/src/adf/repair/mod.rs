//! Table XII: discrimination before and after retraining, on tables.

mod paper;
mod render;
mod retrain;

use std::path::absolute;

use super::args::{AdfArgs, PAPER};
use crate::interrupt::Interrupt;
use crate::output::Output;
use paper::SETS;
use retrain::{Experiment, RepairTableSummary};

/// Prints table XII.
pub fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<()> {
    let wanted = args.data_sets()?;
    let device = args.hardware.open()?;
    let folders = args.data.folders();
    let mut summary = RepairTableSummary {
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
    let interrupt = Interrupt::listen()?;
    for set in SETS.iter().filter(|set| wanted.contains(&set.data)) {
        let Some(data) = set.find(&folders) else {
            summary.not_found.push(set.data.file().to_owned());
            continue;
        };
        let experiment = Experiment {
            args,
            set,
            data: absolute(&data)?,
            device: &device,
            interrupt: &interrupt,
            output,
        };
        summary.finished = experiment.fill(&mut summary.rows)?;
        if !summary.finished {
            break;
        }
    }
    let text = render::render(&summary, &folders);
    output.result(&summary, &text)
}
