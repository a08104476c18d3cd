//! `probity outliers exact`: for the owner of the data.

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use super::inputs::RangeArgs;
use crate::cli::exit_code::ExitCode;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::output::Output;
use crate::cli::render::{count, table};
use probity::privacy::calibration::Guarantee;
use probity::privacy::count::{
    CountOptions, CountPlan, Outliers, PublicNoise, Revealed, Sensitivity, count_outliers,
};
use probity::privacy::error::PrivacyError;
use probity::privacy::query::{Data, outliers};
use probity::privacy::sensitivity::Method;
use probity::privacy::specification::ExactSpecification;
use probity::privacy::subspaces::{Choice, SubspacePlan};
use probity::report::model::CountNoise;
use probity::report::text::signed;
use probity::run::number::readable;
use probity::run::specification::Checked;

/// Said above and below every result.
const WARNING: &str = "NOT PRIVATE: for the owner of the data only.\n";
/// Subspaces that are printed.
const SHOWN: usize = 20;

/// Arguments of `probity outliers exact`.
#[derive(Debug, Args)]
#[command(
    after_help = "With --epsilon and --delta it also says how much noise a private count would get, and how loose the bound is."
)]
pub(super) struct ExactArgs {
    #[command(flatten)]
    fields: Fields<ExactSpecification>,
    #[command(flatten)]
    ranges: RangeArgs,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Serialize)]
struct ExactSummary {
    private: bool,
    rows: usize,
    columns: Vec<String>,
    radius: f64,
    k: usize,
    count: Option<i64>,
    noise: Option<NoiseFigures>,
    subspaces: Option<Vec<SubspaceCount>>,
}

#[derive(Serialize)]
struct SubspaceCount {
    columns: Vec<String>,
    count: i64,
}

#[derive(Serialize)]
struct NoiseFigures {
    /// Which sensitivity scales the noise.
    scaled_by: Sensitivity,
    method: Option<Method>,
    #[serde(flatten)]
    public: PublicNoise,
    #[serde(flatten)]
    revealed: Revealed,
    /// The deviation by an exact method, where another one answered and the work limit allowed it.
    exact_standard_deviation: Option<f64>,
}

/// Runs `probity outliers exact`.
pub(super) fn run(mut args: ExactArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.ranges.set(&mut args.fields)?;
    run_specification(&args.fields.specification()?, &args.hardware, output)
}

/// Counts what is specified. It makes no run directory.
pub(crate) fn run_specification(
    specification: &Checked<ExactSpecification>,
    hardware: &Hardware,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let options = specification.noise;
    let table = &specification.table;
    let device = hardware.open(output)?;
    let data = Data::read_as_owner(&specification.data, &specification.columns, table)?;
    let data = data.on(&device);
    let dimension = specification.dims.unwrap_or(data.records.columns());
    if dimension > data.records.columns() {
        bail!(PrivacyError::Dimensions {
            dimensions: dimension,
            columns: data.records.columns(),
        });
    }
    let (radius, k) = (specification.radius, specification.k);
    let outliers = outliers(&data.grid, radius, k, dimension)?;
    probity::privacy::count::check_threshold(outliers.k, data.records.rows())?;
    let noise = match (specification.epsilon, specification.delta) {
        (Some(epsilon), Some(delta)) => {
            let guarantee = Guarantee::new(epsilon, delta)?;
            Some(noise_figures(&data, outliers, guarantee, options)?)
        }
        _ => None,
    };
    let subspaces = specification
        .dims
        .map(|dims| subspace_counts(&data, outliers, dims))
        .transpose()?;
    let summary = ExactSummary {
        private: false,
        rows: data.records.rows(),
        columns: data.options.columns.clone(),
        radius,
        k,
        count: match specification.dims {
            None => Some(count_outliers(&data.records, outliers)),
            Some(_) => None,
        },
        noise,
        subspaces,
    };
    output.summary("outliers exact", &summary, &render(&summary))
}

fn noise_figures(
    data: &Data,
    outliers: Outliers,
    guarantee: Guarantee,
    options: CountOptions,
) -> anyhow::Result<NoiseFigures> {
    let (rows, dimension) = (data.records.rows(), data.records.columns());
    let plan = CountPlan::new(outliers, guarantee, options, rows, dimension)?;
    let revealed = plan.reveal(&data.records)?;
    let exact = plan.measure_exactly(&data.records)?;
    Ok(NoiseFigures {
        scaled_by: plan.sensitivity(),
        method: plan.method(),
        public: plan.public_noise(),
        revealed,
        exact_standard_deviation: exact.map(|exact| plan.standard_deviation(&exact)),
    })
}

fn subspace_counts(
    data: &Data,
    outliers: Outliers,
    dims: usize,
) -> anyhow::Result<Vec<SubspaceCount>> {
    let choice = Choice {
        dimensions: dims,
        top: 1,
        epsilon: 1.0,
    };
    let (rows, columns) = (data.records.rows(), data.records.columns());
    let plan = SubspacePlan::new(choice, None, outliers, rows, columns)?;
    let mut counts: Vec<SubspaceCount> = plan
        .reveal(&data.records)
        .into_iter()
        .enumerate()
        .map(|(at, count)| SubspaceCount {
            columns: plan
                .columns(at)
                .iter()
                .map(|&column| data.options.columns[column].clone())
                .collect(),
            count,
        })
        .collect();
    counts.sort_by_key(|subspace| std::cmp::Reverse(subspace.count));
    Ok(counts)
}

fn render(summary: &ExactSummary) -> String {
    let mut text = WARNING.to_owned();
    if let Some(outliers) = summary.count {
        text.push_str(&format!(
            "{} of {} records are outliers in {} (fewer than {} other records within {}).\n",
            signed(outliers),
            count(summary.rows as u64),
            summary.columns.join(" × "),
            summary.k,
            readable(summary.radius)
        ));
    }
    if let Some(subspaces) = &summary.subspaces {
        let rows: Vec<Vec<String>> = subspaces
            .iter()
            .take(SHOWN)
            .map(|subspace| vec![subspace.columns.join(" × "), signed(subspace.count)])
            .collect();
        text.push_str(&table(&["subspace", "outliers"], &rows));
        if subspaces.len() > SHOWN {
            text.push_str(&format!(
                "and {} more; --json prints all.\n",
                subspaces.len() - SHOWN
            ));
        }
    }
    if let Some(noise) = &summary.noise {
        text.push_str(&figures_text(noise));
    }
    text.push_str(WARNING);
    text
}

fn figures_text(noise: &NoiseFigures) -> String {
    let revealed = &noise.revealed;
    let mut text = format!(
        "A private count would get noise of standard deviation {:.2}",
        revealed.standard_deviation
    );
    match (noise.scaled_by, noise.method) {
        (Sensitivity::Smooth, Some(method)) => {
            text.push_str(&format!(" (smooth bound by {}).\n", method.name()));
        }
        (_, Some(method)) => text.push_str(&format!(
            " (inverse sensitivity, bounds by {}).\n",
            method.name()
        )),
        (_, None) => text.push_str(" (global sensitivity).\n"),
    }
    text.push_str(&format!(
        "Here one record changes the count by at most {}; anywhere by {} to {}.\n",
        revealed.local_sensitivity_at_most,
        revealed.global_sensitivity_at_least,
        revealed.global_sensitivity_at_most
    ));
    let public = CountNoise {
        standard_deviation_at_least: noise.public.standard_deviation_at_least,
        standard_deviation_at_most: noise.public.standard_deviation_at_most,
        global_standard_deviation: noise.public.global_standard_deviation,
    };
    text.push_str(&(public.shown() + "\n"));
    match (noise.exact_standard_deviation, noise.method) {
        (Some(exact), _) => text.push_str(&format!(
            "With exact bounds it would be {exact:.2}: it is {:.2} times as large.\n",
            revealed.standard_deviation / exact
        )),
        (None, Some(method)) if !method.is_exact() => {
            text.push_str("Exact bounds were stopped by --work-limit.\n");
        }
        _ => {}
    }
    text
}
