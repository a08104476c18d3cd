//! The tables on texts: VIII, IX and XI.

pub mod paper;
mod render;
mod search;
pub mod training;

use std::path::absolute;

use super::args::{AdfArgs, PAPER};
use crate::interrupt::Interrupt;
use crate::output::Output;
use paper::find;
use search::{Experiment, ReproduceSummary, differences};

/// Prints the table that `args` ask for.
pub fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<()> {
    let device = args.hardware.open()?;
    let attributes = args.attributes()?;
    let folders = args.data.folders();
    let mut summary = ReproduceSummary {
        schema_version: 1,
        command: "reproduce adf",
        paper: PAPER,
        table: args.table.name(),
        seed: args.seed,
        finished: true,
        rows: Vec::new(),
        differences: Vec::new(),
        not_found: Vec::new(),
    };
    match find(&folders) {
        Err(missing) => summary.not_found = missing,
        Ok((texts, vectors)) => {
            let experiment = Experiment {
                args,
                texts: absolute(&texts)?,
                vectors: absolute(&vectors)?,
                device,
                interrupt: Interrupt::listen()?,
            };
            summary.finished = experiment.fill(&attributes, &mut summary.rows, output)?;
            summary.differences = differences(&summary.rows, args.repeats as usize);
        }
    }
    let text = render::render(args, &summary, &folders);
    output.result(&summary, &text)
}
