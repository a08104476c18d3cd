//! `probity outliers subspaces`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use super::inputs::{
    Bill, Data, DataArgs, NoiseArgs, OutlierArgs, PrivacyArgs, answer_text, not_private_text,
};
use crate::cli::inputs::new_run;
use crate::cli::output::Output;
use probity::privacy::calibration::Guarantee;
use probity::privacy::error::PrivacyError;
use probity::privacy::interval::Interval;
use probity::privacy::source::TableOptions;
use probity::privacy::subspaces::{Choice, Chosen, SubspacePlan, ThenCount};
use probity::run::run_directory::RUN;

/// Arguments of `probity outliers subspaces`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity outliers subspaces --data d.csv --columns a,b,c --schema d.toml --dims 1 --top 2\n  \
                        --radius 0.02 --k 3 --epsilon 1.6 --ledger budget.toml\n\
                        The price is charged before the answer is computed and stays spent if that fails."
)]
pub(super) struct SubspacesArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    outliers: OutlierArgs,
    /// Dimensions of a subspace
    #[arg(long, value_name = "N", help_heading = "Outliers")]
    dims: usize,
    /// How many subspaces are chosen
    #[arg(long, value_name = "N", help_heading = "Outliers")]
    top: usize,
    /// Also count the outliers in each chosen subspace, within the same price
    #[arg(long, requires = "delta", help_heading = "Outliers")]
    then_count: bool,
    /// Share of epsilon for these counts [default: 0.5]
    #[arg(
        long,
        value_name = "SHARE",
        requires = "then_count",
        help_heading = "Outliers"
    )]
    count_share: Option<f64>,
    /// Epsilon of everything
    #[arg(long, allow_hyphen_values = true, help_heading = "Privacy")]
    epsilon: f64,
    /// Delta of everything, with --then-count
    #[arg(
        long,
        requires = "then_count",
        allow_hyphen_values = true,
        help_heading = "Privacy"
    )]
    delta: Option<f64>,
    #[command(flatten)]
    privacy: PrivacyArgs,
    #[command(flatten)]
    noise: NoiseArgs,
}

/// Everything that decides the answer but the random bits: `run.toml`.
#[derive(Serialize)]
struct SubspacesRun<'r> {
    command: &'static str,
    probity_version: &'static str,
    file: &'r PathBuf,
    sha256: &'r str,
    radius: f64,
    k: usize,
    dims: usize,
    top: usize,
    epsilon: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count_share: Option<f64>,
    table: &'r TableOptions,
}

#[derive(Serialize)]
struct SubspacesSummary {
    schema_version: u32,
    command: &'static str,
    private: bool,
    rows: usize,
    radius: f64,
    k: usize,
    dims: usize,
    candidates: usize,
    subspaces: Vec<SubspaceFigures>,
    data_sha256: String,
    #[serde(flatten)]
    bill: Bill,
}

#[derive(Serialize)]
struct SubspaceFigures {
    columns: Vec<String>,
    count: Option<i64>,
    interval: Option<Interval>,
}

/// Runs `probity outliers subspaces`.
pub(super) fn run(args: SubspacesArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let (choice, then_count) = args.split()?;
    args.privacy.check()?;
    let data = args.data.read()?;
    if args.dims == 0 || args.dims > data.records.columns() {
        bail!(PrivacyError::Dimensions {
            dimensions: args.dims,
            columns: data.records.columns(),
        });
    }
    let outliers = args.outliers.outliers(&data.grid, args.dims)?;
    let (rows, columns) = (data.records.rows(), data.records.columns());
    let plan = SubspacePlan::new(choice, then_count, outliers, rows, columns)?;
    let (radius, k) = args.outliers.given();
    let directory = args
        .privacy
        .out
        .as_ref()
        .map(|out| new_run(Some(out), "outliers"))
        .transpose()?;
    let counts = if args.then_count { " with counts" } else { "" };
    let mechanism = format!(
        "top {} of {} subspaces of {} dimensions{counts}, radius {radius}, k {k}",
        args.top,
        plan.subspaces(),
        args.dims
    );
    let cost = plan.cost();
    let (ledger, mut bits) = args.privacy.charge(&data, mechanism, cost, output)?;
    let chosen = plan.answer(&data.records, &mut *bits)?;
    let bill = Bill::new(&args.privacy, cost, &ledger);
    let private = args.privacy.is_private();
    let mut text = not_private_text(private).to_owned();
    for (at, chosen) in chosen.iter().enumerate() {
        text.push_str(&format!("{}. {}", at + 1, names(chosen, &data).join(" × ")));
        if let Some(answer) = &chosen.answer {
            text.push_str(&format!(": {}", answer_text(answer)));
        }
        text.push('\n');
    }
    text.push_str(&format!(
        "Chosen among {} subspaces, in the order of choice.\n{}",
        plan.subspaces(),
        bill.text()
    ));
    let summary = SubspacesSummary {
        schema_version: 1,
        command: "outliers subspaces",
        private,
        rows,
        radius,
        k,
        dims: args.dims,
        candidates: plan.subspaces(),
        subspaces: chosen
            .iter()
            .map(|chosen| SubspaceFigures {
                columns: names(chosen, &data),
                count: chosen.answer.as_ref().map(|answer| answer.count),
                interval: chosen.answer.as_ref().and_then(|answer| answer.interval),
            })
            .collect(),
        data_sha256: data.sha256.clone(),
        bill,
    };
    if let Some(directory) = directory {
        let run = SubspacesRun {
            command: "outliers subspaces",
            probity_version: env!("CARGO_PKG_VERSION"),
            file: &data.file,
            sha256: &data.sha256,
            radius,
            k,
            dims: args.dims,
            top: args.top,
            epsilon: args.epsilon,
            delta: args.delta,
            count_share: args.then_count.then(|| args.share()),
            table: &data.options,
        };
        directory.write_toml(RUN, &run)?;
        directory.write_summary(&summary)?;
    }
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

impl SubspacesArgs {
    fn share(&self) -> f64 {
        self.count_share.unwrap_or(0.5)
    }

    /// How the price is divided between the choice and the counts.
    fn split(&self) -> anyhow::Result<(Choice, Option<ThenCount>)> {
        probity::privacy::calibration::check_epsilon(self.epsilon)?;
        let choice = Choice {
            dimensions: self.dims,
            top: self.top,
            epsilon: self.epsilon,
        };
        let Some(delta) = self.delta.filter(|_| self.then_count) else {
            anyhow::ensure!(
                !self.noise.is_given(),
                "the options on noise are for counts; add --then-count, or leave them out"
            );
            return Ok((choice, None));
        };
        let share = self.share();
        if !(share > 0.0 && share < 1.0) {
            bail!(PrivacyError::Share { share });
        }
        let then_count = ThenCount {
            guarantee: Guarantee::new(self.epsilon * share, delta)?,
            options: self.noise.options()?,
        };
        let choice = Choice {
            epsilon: self.epsilon * (1.0 - share),
            ..choice
        };
        Ok((choice, Some(then_count)))
    }
}

fn names(chosen: &Chosen, data: &Data) -> Vec<String> {
    let columns = chosen.columns.iter();
    columns
        .map(|&column| data.options.columns[column].clone())
        .collect()
}
