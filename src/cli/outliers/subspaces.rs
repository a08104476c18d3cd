//! `probity outliers subspaces`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use super::inputs::{
    Bill, Data, Payment, SpecialArgs, answer_text, noise_text, not_private_text, outliers, record,
    write,
};
use crate::cli::fields::Fields;
use crate::cli::inputs::new_run;
use crate::cli::output::{Output, Summary};
use probity::privacy::composition::readable;
use probity::privacy::count::{CountPlan, PublicNoise};
use probity::privacy::error::PrivacyError;
use probity::privacy::interval::Interval;
use probity::privacy::specification::SubspacesSpecification;
use probity::privacy::subspaces::{Chosen, SubspacePlan};
use probity::run::specification::Checked;

/// Arguments of `probity outliers subspaces`.
#[derive(Debug, Args)]
#[command(
    after_help = "The price is charged before the answer is computed and stays spent if that fails."
)]
pub(super) struct SubspacesArgs {
    #[command(flatten)]
    fields: Fields<SubspacesSpecification>,
    #[command(flatten)]
    special: SpecialArgs,
    /// Also write run.toml and summary.json to this new directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct SubspacesSummary {
    private: bool,
    rows: usize,
    radius: f64,
    k: usize,
    dims: usize,
    candidates: usize,
    subspaces: Vec<SubspaceFigures>,
    /// Of each count, if they were asked for.
    noise: Option<PublicNoise>,
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
pub(super) fn run(mut args: SubspacesArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.special.apply(&mut args.fields)?;
    run_specification(args.fields.specification()?, args.out, output)
}

/// Answers the query that is specified.
pub(crate) fn run_specification(
    specification: Checked<SubspacesSpecification>,
    out: Option<PathBuf>,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let specification = specification.into_inner().resolved();
    let (choice, then_count) = specification.split()?;
    let payment = Payment {
        ledger: &specification.ledger,
        not_private_seed: specification.not_private_seed,
    };
    // All that can be refused is, by what is public, before the data are opened.
    let declared = payment.table()?;
    let table = &specification.table;
    let options = table.query(&specification.columns, &declared)?;
    let grid = options.grid()?;
    let (radius, k, dims) = (specification.radius, specification.k, specification.dims);
    let (rows, columns) = (declared.records, grid.columns().len());
    if dims > columns {
        bail!(PrivacyError::Dimensions {
            dimensions: dims,
            columns,
        });
    }
    let outliers = outliers(&grid, radius, k, dims)?;
    let plan = SubspacePlan::new(choice, then_count, outliers, rows, columns)?;
    let data = Data::read(&specification.data, options)?;
    let record = record(table)?;
    let directory = out.map(|out| new_run(Some(&out), "outliers")).transpose()?;
    let counts = match specification.then_count {
        true => " with counts",
        false => "",
    };
    let mechanism = format!(
        "top {} of {} subspaces of {} dimensions{counts}, radius {}, k {k}",
        specification.top,
        plan.subspaces(),
        dims,
        readable(radius)
    );
    let cost = plan.cost();
    let (ledger, mut bits) = payment.charge(&data, mechanism, cost, output)?;
    let chosen = plan.answer(&data.records, &mut *bits)?;
    let bill = Bill::new(payment, cost, &ledger);
    let private = payment.is_private();
    let mut text = not_private_text(private).to_owned();
    for (at, chosen) in chosen.iter().enumerate() {
        text.push_str(&format!("{}. {}", at + 1, names(chosen, &data).join(" × ")));
        if let Some(answer) = &chosen.answer {
            text.push_str(&format!(": {}", answer_text(answer)));
        }
        text.push('\n');
    }
    if let Some(count) = plan.counts() {
        text.push_str(&noise_text(count.public_noise(), count.sensitivity()));
    }
    text.push_str(&format!(
        "Chosen among {} subspaces, in the order of choice.\n{}",
        plan.subspaces(),
        bill.text()
    ));
    let summary = Summary::of(
        "outliers subspaces",
        SubspacesSummary {
            private,
            rows,
            radius,
            k,
            dims,
            candidates: plan.subspaces(),
            subspaces: chosen
                .iter()
                .map(|chosen| SubspaceFigures {
                    columns: names(chosen, &data),
                    count: chosen.answer.as_ref().map(|answer| answer.count),
                    interval: chosen.answer.as_ref().and_then(|answer| answer.interval),
                })
                .collect(),
            noise: plan.counts().map(CountPlan::public_noise),
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

fn names(chosen: &Chosen, data: &Data) -> Vec<String> {
    let columns = chosen.columns.iter();
    columns
        .map(|&column| data.options.columns[column].clone())
        .collect()
}
