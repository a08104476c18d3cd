//! `probity outliers count`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::inputs::{
    Bill, Data, Payment, SpecialArgs, answer_text, noise_text, not_private_text, outliers, record,
    write,
};
use crate::cli::fields::Fields;
use crate::cli::inputs::new_run;
use crate::cli::output::{Output, Summary};
use crate::cli::render::count as grouped;
use probity::privacy::calibration::{Calibration, Guarantee};
use probity::privacy::composition::readable;
use probity::privacy::count::{CountPlan, PublicNoise, Sensitivity};
use probity::privacy::interval::Interval;
use probity::privacy::sensitivity::Method;
use probity::privacy::specification::CountSpecification;
use probity::run::specification::Checked;

/// Arguments of `probity outliers count`.
#[derive(Debug, Args)]
#[command(
    after_help = "The price is charged before the answer is computed and stays spent if that fails."
)]
pub(super) struct CountArgs {
    #[command(flatten)]
    fields: Fields<CountSpecification>,
    #[command(flatten)]
    special: SpecialArgs,
    /// Also write run.toml and summary.json to this new directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct CountSummary {
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
    noise: PublicNoise,
    #[serde(flatten)]
    bill: Bill,
}

/// Runs `probity outliers count`.
pub(super) fn run(mut args: CountArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.special.apply(&mut args.fields)?;
    run_specification(args.fields.specification()?, args.out, output)
}

/// Answers the query that is specified.
pub(crate) fn run_specification(
    specification: Checked<CountSpecification>,
    out: Option<PathBuf>,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let mut specification = specification.into_inner();
    specification.table = specification.table.located();
    let guarantee = Guarantee::new(specification.epsilon, specification.delta)?;
    let options = specification.noise;
    let payment = Payment {
        ledger: &specification.ledger,
        not_private_seed: specification.not_private_seed,
    };
    // All that can be refused is, by what is public, before the data are opened.
    let declared = payment.table()?;
    let table = &specification.table;
    let table_options = table.query(&specification.columns, &declared)?;
    let grid = table_options.grid()?;
    let dimension = grid.columns().len();
    let (radius, k) = (specification.radius, specification.k);
    let outliers = outliers(&grid, radius, k, dimension)?;
    let plan = CountPlan::new(outliers, guarantee, options, declared.records, dimension)?;
    let data = Data::read(&specification.data, table_options)?;
    let record = record(table)?;
    let directory = out.map(|out| new_run(Some(&out), "outliers")).transpose()?;
    let columns = data.options.columns.clone();
    let shown = readable(radius);
    let mechanism = format!("count in {}, radius {shown}, k {k}", columns.join(" × "));
    let cost = plan.cost();
    let (ledger, mut bits) = payment.charge(&data, mechanism, cost, output)?;
    let answer = plan.answer(&data.records, &mut *bits)?;
    let bill = Bill::new(payment, cost, &ledger);
    let private = payment.is_private();
    let text = format!(
        "{}In {} (fewer than {k} other records within {shown}), of {} records: {}.\n{}{}",
        not_private_text(private),
        columns.join(" × "),
        grouped(data.records.rows() as u64),
        answer_text(&answer),
        noise_text(answer.noise, plan.sensitivity()),
        bill.text()
    );
    let summary = Summary::of(
        "outliers count",
        CountSummary {
            private,
            rows: data.records.rows(),
            columns,
            radius,
            k,
            sensitivity: plan.sensitivity(),
            calibration: options.calibration,
            method: plan.method(),
            count: answer.count,
            interval: answer.interval,
            noise: answer.noise,
            bill,
        },
    );
    // What was paid for is said, whatever becomes of its files.
    let said = output.result(&summary, &text);
    if let Some(directory) = directory {
        write(&directory, &specification, &record, &summary)?;
    }
    said
}
