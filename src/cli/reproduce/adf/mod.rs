//! `probity reproduce adf`: the tables of the ADF paper, on tables and on texts.

mod render_tables;
mod render_text_repair;
mod render_texts;
mod repair;
mod tables;
mod text_repair;
mod texts;

use std::process::ExitCode;

use anyhow::ensure;
use clap::{Args, ValueEnum};

use super::DataFolders;
use crate::cli::inputs::Hardware;
use crate::cli::output::Output;
use probity::nn::recurrent::network::CellKind;

const PAPER: &str = "Zhang et al.: Automatic Fairness Testing of Neural Classifiers through Adversarial Sampling. TSE 2021";

/// Arguments of `probity reproduce adf`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: probity reproduce adf --table VI --data-dir data --repeats 5\n\
                  \x20         probity reproduce adf --table VIII --data-dir data --repeats 5\n\
                  Looked for: adf/ and peer-models/ (tables IV to VII, X and XII); toxic_wikipedia/ with the labelled comments and\n\
                  glove/ with 50-dimensional GloVe vectors (tables VIII, IX, XI, XIII and XIV)."
)]
pub(in crate::cli) struct AdfArgs {
    /// Table
    #[arg(long, value_enum, ignore_case = true)]
    table: AdfTable,
    #[command(flatten)]
    data: DataFolders,
    /// Texts: only these cells [default: both]
    #[arg(long, value_enum, value_delimiter = ',')]
    models: Vec<CellKind>,
    /// Only these data sets (census, bank, credit); texts: only these attributes (country, ethnicity, race, religion)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Seeds of the global phase at most
    #[arg(long, default_value_t = 1000)]
    seeds: usize,
    /// Local trials from each input that the global phase finds [default: 1000]
    #[arg(long)]
    local: Option<u32>,
    /// Table V: search time of each search [default: 20s]
    #[arg(long, value_parser = crate::cli::inputs::duration)]
    time: Option<std::time::Duration>,
    /// Searches, with the seeds from --seed on; for texts and table XII, networks trained and searched; for tables XIII and XIV, networks retrained. Figures are means
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: u32,
    /// Tables XIII and XIV: texts that a search finds at most [default: 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_found: Option<u64>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AdfTable {
    /// Generated and discriminatory individuals, by aequitas-fully and adf
    #[value(name = "IV", alias = "4")]
    Overall,
    /// The same in a given time, by sg and adf
    #[value(name = "V", alias = "5")]
    InTime,
    /// Found in the global phase, by aequitas-fully, sg and adf
    #[value(name = "VI", alias = "6")]
    Global,
    /// Found in the local phase from the same starts
    #[value(name = "VII", alias = "7")]
    Local,
    /// Texts found by each strategy
    #[value(name = "VIII", alias = "8")]
    Effectiveness,
    /// Validity of the texts found
    #[value(name = "IX", alias = "9")]
    Validity,
    /// Seconds to 1,000 individuals
    #[value(name = "X", alias = "10")]
    Seconds,
    /// Seconds to 5,000 texts
    #[value(name = "XI", alias = "11")]
    TextSeconds,
    /// Discrimination on tables before and after a repair
    #[value(name = "XII", alias = "12")]
    Repair,
    /// Discriminatory texts that a repair mends
    #[value(name = "XIII", alias = "13")]
    TextRepair,
    /// The same by the strategy whose samples it learns from
    #[value(name = "XIV", alias = "14")]
    TextRepairByStrategy,
}

impl AdfTable {
    fn name(self) -> String {
        self.to_possible_value()
            .map_or(String::new(), |value| value.get_name().to_owned())
    }

    fn is_on_texts(self) -> bool {
        matches!(
            self,
            AdfTable::Effectiveness | AdfTable::Validity | AdfTable::TextSeconds
        )
    }
}

/// Runs `probity reproduce adf`.
pub(super) fn run(args: AdfArgs, output: &Output) -> anyhow::Result<ExitCode> {
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
    if args.table.is_on_texts() {
        return texts::run(&args, output);
    }
    if is_text_repair {
        return text_repair::run(&args, output);
    }
    ensure!(
        args.models.is_empty(),
        "--models chooses networks for texts; table {name} is about tables"
    );
    if args.table == AdfTable::Repair {
        return repair::run(&args, output);
    }
    tables::run(&args, output)
}
