//! `probity outliers count`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::inputs::{
    Bill, DataArgs, NoiseArgs, OutlierArgs, PrivacyArgs, answer_text, not_private_text,
};
use crate::cli::inputs::new_run;
use crate::cli::output::Output;
use probity::privacy::calibration::{Calibration, Guarantee};
use probity::privacy::count::{CountPlan, Sensitivity};
use probity::privacy::interval::Interval;
use probity::privacy::sensitivity::{Bound, Method};
use probity::privacy::source::TableOptions;
use probity::run::run_directory::RUN;

/// Arguments of `probity outliers count`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity outliers count --data d.csv --columns age,hours --range age=17,90,13.6 --range hours=1,99,12.3\n  \
                        --radius 0.35 --k 3 --epsilon 0.5 --delta 0.01 --ledger budget.toml\n\
                        The price is charged before the answer is computed and stays spent if that fails."
)]
pub(super) struct CountArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    outliers: OutlierArgs,
    /// Epsilon of the whole answer
    #[arg(long, allow_hyphen_values = true, help_heading = "Privacy")]
    epsilon: f64,
    /// Delta of the whole answer
    #[arg(long, allow_hyphen_values = true, help_heading = "Privacy")]
    delta: f64,
    #[command(flatten)]
    privacy: PrivacyArgs,
    #[command(flatten)]
    noise: NoiseArgs,
}

/// Everything that decides the answer but the random bits: `run.toml`.
#[derive(Serialize)]
struct CountRun<'r> {
    command: &'static str,
    probity_version: &'static str,
    file: &'r PathBuf,
    sha256: &'r str,
    radius: f64,
    k: usize,
    epsilon: f64,
    delta: f64,
    sensitivity: Sensitivity,
    calibration: Calibration,
    bound: Bound,
    work_limit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_share: Option<f64>,
    confidence: f64,
    table: &'r TableOptions,
}

#[derive(Serialize)]
struct CountSummary {
    schema_version: u32,
    command: &'static str,
    private: bool,
    rows: usize,
    columns: Vec<String>,
    radius: f64,
    k: usize,
    sensitivity: Sensitivity,
    calibration: Calibration,
    method: Option<Method>,
    count: i64,
    interval: Option<Interval>,
    data_sha256: String,
    #[serde(flatten)]
    bill: Bill,
}

/// Runs `probity outliers count`.
pub(super) fn run(args: CountArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let guarantee = Guarantee::new(args.epsilon, args.delta)?;
    let options = args.noise.options()?;
    args.privacy.check()?;
    let data = args.data.read()?;
    let dimension = data.records.columns();
    let outliers = args.outliers.outliers(&data.grid, dimension)?;
    let plan = CountPlan::new(outliers, guarantee, options, data.records.rows(), dimension)?;
    let (radius, k) = args.outliers.given();
    let directory = args
        .privacy
        .out
        .as_ref()
        .map(|out| new_run(Some(out), "outliers"))
        .transpose()?;
    let columns = data.options.columns.clone();
    let mechanism = format!("count in {}, radius {radius}, k {k}", columns.join(" × "));
    let cost = plan.cost();
    let (ledger, mut bits) = args.privacy.charge(&data, mechanism, cost, output)?;
    let answer = plan.answer(&data.records, &mut *bits)?;
    let bill = Bill::new(&args.privacy, cost, &ledger);
    let private = args.privacy.is_private();
    let text = format!(
        "{}{} in {} (fewer than {k} other records within {radius}).\n{}",
        not_private_text(private),
        answer_text(&answer),
        columns.join(" × "),
        bill.text()
    );
    let summary = CountSummary {
        schema_version: 1,
        command: "outliers count",
        private,
        rows: data.records.rows(),
        columns,
        radius,
        k,
        sensitivity: options.sensitivity,
        calibration: options.calibration,
        method: plan.method(),
        count: answer.count,
        interval: answer.interval,
        data_sha256: data.sha256.clone(),
        bill,
    };
    if let Some(directory) = directory {
        let run = CountRun {
            command: "outliers count",
            probity_version: env!("CARGO_PKG_VERSION"),
            file: &data.file,
            sha256: &data.sha256,
            radius,
            k,
            epsilon: args.epsilon,
            delta: args.delta,
            sensitivity: options.sensitivity,
            calibration: options.calibration,
            bound: options.bound,
            work_limit: options.work_limit,
            interval_share: options.interval_share,
            confidence: options.confidence,
            table: &data.options,
        };
        directory.write_toml(RUN, &run)?;
        directory.write_summary(&summary)?;
    }
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}
