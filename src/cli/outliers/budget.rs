//! `probity outliers budget`: declare a budget, or show what is left.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::cli::exit_code::ExitCode;
use crate::cli::numbers::number;
use crate::cli::output::Output;
use crate::cli::render::{count, table};
use probity::data::specification::{Separator, layout};
use probity::privacy::composition::{Budget, Cost, Remaining};
use probity::privacy::error::{LARGEST_EPSILON, LEAST_EPSILON};
use probity::privacy::ledger::{Entry, Ledger, read};
use probity::privacy::query::Declaration;
use probity::privacy::source::DeclaredTable;
use probity::run::number::readable;

/// The largest δ of a budget: with 1 nothing is promised.
const MOST_DELTA: f64 = 0.999_999;

/// Arguments of `probity outliers budget`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --data it shows the ledger. A budget holds for one data file and is declared once, by the owner \
                  of the data: what is said here of the table is public from then on, and every query reads it in this way."
)]
pub(super) struct BudgetArgs {
    /// The ledger
    #[arg(long, value_name = "FILE")]
    ledger: PathBuf,
    /// Declare a budget for this file
    #[arg(long, value_name = "FILE", requires = "epsilon")]
    data: Option<PathBuf>,
    /// Epsilon in all
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "data",
        value_parser = number(LEAST_EPSILON..=LARGEST_EPSILON),
        allow_hyphen_values = true
    )]
    epsilon: Option<f64>,
    /// Delta in all; 0 admits choices of subspaces only
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "data",
        default_value_t = 0.0,
        value_parser = number(0.0..=MOST_DELTA),
        allow_hyphen_values = true
    )]
    delta: f64,
    /// Part of delta set aside so that many small queries compose by zCDP; 0 for plain sums
    /// [default: a tenth of delta]
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "data",
        value_parser = number(0.0..=MOST_DELTA),
        allow_hyphen_values = true
    )]
    slack: Option<f64>,
    /// Columns that may be asked for [default: all that hold nothing but numbers, or ordered levels
    /// of the schema]
    #[arg(
        long,
        value_name = "COLUMN,…",
        value_delimiter = ',',
        requires = "data",
        help_heading = "Table"
    )]
    columns: Vec<String>,
    /// Schema file, or the name of a built-in schema: the layout of the file, and the levels of
    /// words
    #[arg(
        long,
        value_name = "SCHEMA",
        requires = "data",
        conflicts_with_all = ["names", "separator"],
        help_heading = "Table"
    )]
    schema: Option<String>,
    /// All column names by position, for files without a header
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        requires = "data",
        help_heading = "Table"
    )]
    names: Vec<String>,
    /// Field separator: one character, 'tab' or 'space' [default: ,]
    #[arg(
        long,
        value_name = "SEPARATOR",
        requires = "data",
        help_heading = "Table"
    )]
    separator: Option<Separator>,
}

#[derive(Serialize)]
struct BudgetSummary<'l> {
    ledger: &'l Path,
    data: &'l str,
    table: &'l DeclaredTable,
    budget: Budget,
    spent: Cost,
    /// ε after composition.
    spent_epsilon: f64,
    left: Remaining,
    queries: &'l [Entry],
}

/// Runs `probity outliers budget`.
pub(super) fn run(args: BudgetArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let ledger = match (&args.data, args.epsilon) {
        (Some(data), Some(epsilon)) => {
            let declaration = Declaration {
                data: data.clone(),
                epsilon,
                delta: args.delta,
                slack: args.slack,
                columns: args.columns.clone(),
                schema: args.schema.clone(),
                layout: layout(args.separator.unwrap_or_default(), &args.names),
            };
            declaration.declare(&args.ledger)?
        }
        _ => read(&args.ledger)?,
    };
    let spent = ledger.spent();
    let spent_epsilon = ledger.budget.spent_epsilon(&spent);
    let summary = BudgetSummary {
        ledger: &args.ledger,
        data: &ledger.data.file,
        table: &ledger.table,
        budget: ledger.budget,
        spent: spent.total(),
        spent_epsilon,
        left: ledger.remaining(),
        queries: &ledger.queries,
    };
    output.summary("outliers budget", &summary, &render(&ledger, &summary))
}

fn render(ledger: &Ledger, summary: &BudgetSummary<'_>) -> String {
    let Budget {
        epsilon,
        delta,
        slack,
    } = ledger.budget;
    let mut text = format!(
        "{}: for {}\nPublic: there are {} records, in which these columns are numeric throughout: {}.\n\
         Budget: epsilon {}, delta {}, of which {} is set aside for composition.\n",
        summary.ledger.display(),
        ledger.data.file,
        count(ledger.table.records as u64),
        ledger.table.columns.join(", "),
        readable(epsilon),
        readable(delta),
        readable(slack)
    );
    if !ledger.queries.is_empty() {
        let rows: Vec<Vec<String>> = ledger
            .queries
            .iter()
            .map(|entry| {
                let note = if entry.not_private {
                    " (NOT PRIVATE)"
                } else {
                    ""
                };
                vec![
                    entry.time.clone(),
                    format!("{}{note}", entry.mechanism),
                    readable(entry.epsilon),
                    readable(entry.delta),
                ]
            })
            .collect();
        text.push_str(&table(&["time", "query", "epsilon", "delta"], &rows));
    }
    text.push_str(&format!(
        "Spent: epsilon {} ({} as a plain sum), delta {}. Left: epsilon {}, delta {}.\n",
        readable(summary.spent_epsilon),
        readable(summary.spent.epsilon),
        readable(summary.spent.delta),
        readable(summary.left.epsilon),
        readable(summary.left.delta)
    ));
    text
}
