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
use args::AdfTable;

/// Runs `probity-reproduce adf`.
pub fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<()> {
    let name = args.table.name();
    ensure!(
        args.time.is_none() || args.table == AdfTable::InTime,
        "--time is the budget of table V; table {name} has none"
    );
    ensure!(
        args.local.is_none() || !matches!(args.table, AdfTable::Global | AdfTable::InTime),
        "--local has no use in table {name}: {}",
        match args.table {
            AdfTable::Global => "it is about the global phase alone",
            _ => "its searches go on until their time is over",
        }
    );
    let is_text_repair = matches!(
        args.table,
        AdfTable::TextRepair | AdfTable::TextRepairByStrategy
    );
    ensure!(
        args.max_found.is_none() || is_text_repair,
        "--max-found is of tables XIII and XIV; table {name} has its own end"
    );
    let is_of_texts = is_text_repair
        || matches!(
            args.table,
            AdfTable::Effectiveness | AdfTable::Validity | AdfTable::TextSeconds
        );
    ensure!(
        is_of_texts || args.models.is_empty(),
        "--models chooses networks for texts; table {name} is about tables"
    );
    match (is_of_texts, is_text_repair, args.table) {
        (_, true, _) => text_repair::run(args, output),
        (true, _, _) => texts::run(args, output),
        (_, _, AdfTable::Repair) => repair::run(args, output),
        _ => tables::run(args, output),
    }
}
