//! Zhang et al.: Automatic Fairness Testing of Neural Classifiers through Adversarial Sampling (TSE
//! 2021), Tables IV to XIV, on tables and on texts.

mod args;
mod repair;
mod tables;
mod text_repair;
mod texts;

use anyhow::ensure;

pub use args::AdfArgs;

use crate::output::Output;
use args::AdfTable::{
    Effectiveness, Global, InTime, Repair, TextRepair, TextRepairByStrategy, TextSeconds, Validity,
};

/// Runs `probity-reproduce adf`.
pub fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<()> {
    let (table, name) = (args.table, args.table.name());
    ensure!(
        args.time.is_none() || table == InTime,
        "--time is the budget of table V; table {name} has none"
    );
    let why = match table {
        Global => "it is about the global phase alone",
        _ => "its searches go on until their time is over",
    };
    ensure!(
        args.local.is_none() || !matches!(table, Global | InTime),
        "--local has no use in table {name}: {why}"
    );
    let is_text_repair = matches!(table, TextRepair | TextRepairByStrategy);
    ensure!(
        args.max_found.is_none() || is_text_repair,
        "--max-found is of tables XIII and XIV; table {name} has its own end"
    );
    let is_of_texts = is_text_repair || matches!(table, Effectiveness | Validity | TextSeconds);
    ensure!(
        is_of_texts || args.models.is_empty(),
        "--models chooses networks for texts; table {name} is about tables"
    );
    match table {
        Repair => repair::run(args, output),
        _ if is_text_repair => text_repair::run(args, output),
        _ if is_of_texts => texts::run(args, output),
        _ => tables::run(args, output),
    }
}
