//! Options of the tables of the ADF paper.

use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::texts::paper::ATTRIBUTES;
use crate::options::{DataFolders, Hardware, chosen};
use crate::published::Case;
use crate::reproduction::{Asked, Reproduction};
use probity_nn::recurrent::network::CellKind;

/// The title of the paper and where it was published.
const PAPER: &str = "Zhang et al.: Automatic Fairness Testing of Neural Classifiers through Adversarial Sampling. TSE 2021";

/// Reads a kind of cell from its name.
fn cell(name: &str) -> Result<CellKind, &'static str> {
    match name {
        "lstm" => Ok(CellKind::Lstm),
        "gru" => Ok(CellKind::Gru),
        _ => Err("expected lstm or gru"),
    }
}

/// Arguments of `probity-reproduce adf`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: probity-reproduce adf --table VI --data-dir data --repeats 5\n\
                  \x20         probity-reproduce adf --table VIII --data-dir data --repeats 5\n\
                  Looked for: adf/ and peer-models/ (tables IV to VII, X and XII); toxic_wikipedia/ with the labelled comments and\n\
                  glove/ with 50-dimensional GloVe vectors (tables VIII, IX, XI, XIII and XIV)."
)]
pub struct AdfArgs {
    /// Table
    #[arg(long, value_enum, ignore_case = true)]
    pub table: AdfTable,
    #[command(flatten)]
    pub data: DataFolders,
    /// Texts: only these cells [default: both]
    #[arg(long, value_parser = cell, value_delimiter = ',')]
    pub models: Vec<CellKind>,
    /// Only these data sets (census, bank, credit); texts: only these attributes (country,
    /// ethnicity, race, religion)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Seeds of the global phase at most
    #[arg(long, default_value_t = 1000)]
    pub seeds: usize,
    /// Local trials from each input that the global phase finds [default: 1000]
    #[arg(long)]
    pub local: Option<u32>,
    /// Table V: search time of each search [default: 20s]
    #[arg(long, value_parser = humantime::parse_duration)]
    pub time: Option<Duration>,
    /// Searches, with the seeds from --seed on; for texts and table XII, networks trained and
    /// searched; for tables XIII and XIV, networks retrained. Figures are means
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeats: u32,
    /// Tables XIII and XIV: texts that a search finds at most [default: 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_found: Option<u64>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub hardware: Hardware,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AdfTable {
    /// Generated and discriminatory individuals, by aequitas-fully and adf
    #[value(name = "IV", alias = "4")]
    Overall,
    /// Generated and discriminatory individuals in a given time, by sg and adf
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
    /// Discriminatory texts that a repair mends, by the strategy whose samples it learns from
    #[value(name = "XIV", alias = "14")]
    TextRepairByStrategy,
}

impl AdfTable {
    /// The number of the table, as on the command line.
    pub fn name(self) -> String {
        self.to_possible_value()
            .map_or(String::new(), |value| value.get_name().to_owned())
    }
}

impl AdfArgs {
    /// Starts the table that the user asks for.
    pub fn reproduction<H: Serialize, R: Serialize>(&self, heading: H) -> Reproduction<H, R> {
        Reproduction::new("reproduce adf", PAPER, heading, &self.data)
    }

    /// What stands before the rows of every table.
    pub fn asked(&self) -> Asked<String> {
        Asked {
            table: self.table.name(),
            seed: self.seed,
            repeats: Some(self.repeats),
        }
    }

    /// The data sets that the user asks for; all of them unless the user names some.
    pub fn data_sets<P: Copy>(&self, cases: &[Case<P>]) -> anyhow::Result<Vec<Case<P>>> {
        let whole = ("the paper", "data set");
        chosen(&self.only, cases, |case| case.name, whole)
    }

    /// The positions in [`ATTRIBUTES`] of the attributes that the user asks for.
    pub fn attributes(&self) -> anyhow::Result<Vec<usize>> {
        let all: Vec<usize> = (0..ATTRIBUTES.len()).collect();
        let whole = ("the paper", "attribute");
        let mut asked = chosen(&self.only, &all, |&place| ATTRIBUTES[place], whole)?;
        // Table IX is about race alone.
        asked.retain(|&place| self.table != AdfTable::Validity || ATTRIBUTES[place] == "race");
        Ok(asked)
    }

    /// The number of local trials from each start.
    pub fn trials(&self) -> u32 {
        self.local.unwrap_or(1000)
    }

    /// The kinds of recurrent cells whose networks for texts are searched.
    pub fn cells(&self) -> Vec<CellKind> {
        match self.table {
            AdfTable::Validity => vec![CellKind::Lstm],
            _ if self.models.is_empty() => vec![CellKind::Lstm, CellKind::Gru],
            _ => self.models.clone(),
        }
    }
}
