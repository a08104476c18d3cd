//! `probity kmeans bench`

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::Value;

use crate::cli::fields::Fields;
use crate::cli::inputs::{BoundsArgs, Hardware, directory_of};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::{Output, Summary, verdict};
use crate::cli::render::plots;
use crate::cli::run::{At, Performed};
use crate::cli::shards::Cut;
use probity::data::read::LeftOut;
use probity::data::specification::record_schema;
use probity::run::specification::Checked;
use probity::run::specification::file::Record;
use probity::tensor::proposer::Proposer;
use probity::unlearning::kmeans::benchmark::{BenchmarkOptions, Labelled};
use probity::unlearning::kmeans::comparison::{Comparison, ComparisonProgress, Seeds, compare};
use probity::unlearning::kmeans::specification::BenchSpecification;

/// The progress bar.
const BAR: &str = "{prefix} [{bar:28}] {pos}/{len} deletions, {msg}, {eta} left";

/// Arguments of `probity kmeans bench`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 1 when a model differs from a retraining after its deletions.")]
pub(super) struct BenchArgs {
    #[command(flatten)]
    fields: Fields<BenchSpecification>,
    #[command(flatten)]
    bounds: BoundsArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Run directory [default: the next free runs/kmeans-bench-N]
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct BenchSummary {
    probity_version: &'static str,
    data: PathBuf,
    data_sha256: String,
    rows: usize,
    #[serde(flatten)]
    left_out: LeftOut,
    columns: usize,
    options: BenchmarkOptions,
    seed: u64,
    #[serde(flatten)]
    measured: Comparison,
}

/// Runs `probity kmeans bench`.
pub(super) fn run(mut args: BenchArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.bounds.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    BenchSpecification::perform(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for BenchSpecification {
    fn perform(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let At {
            place,
            part,
            hardware,
            output,
        } = at;
        let device = hardware.open(output)?;
        let specification = specification.into_inner().located();
        let input = &specification.input;
        let mut dataset = input.read(&specification.data, &specification.reading)?;
        dataset.points = dataset.points.on(&Proposer::of(&device));
        let rows = dataset.points.len();
        specification.expect_rows(rows)?;
        let options = specification.options();
        let algorithms = specification.algorithms();
        let record = Record {
            device: Some(device.name().to_string()),
            hardware: Some(device.hardware()),
            ..Record::new().opened("data", dataset.source.sha256.clone())
        };
        let record = record_schema(record, specification.reading.schema.as_deref())?;
        let labels = dataset.numbered_labels();
        let data = Labelled {
            points: &dataset.points,
            labels: &labels,
        };
        let interrupt = Interrupt::listen()?;
        let seeds = specification.seeds();
        let bar = output.progress(options.deletions as u64, BAR);
        let observe = &mut |progress: ComparisonProgress<'_>| show(&bar, &interrupt, progress);
        let mut merged_into = None;
        let measured = match Cut::of(&part, &specification, &record, place.new_directory())? {
            None => compare(data, &algorithms, &options, &seeds, observe)?,
            Some(cut) => {
                let items = Seeds {
                    data,
                    algorithms: &algorithms,
                    options: &options,
                    seeds: &seeds,
                    observe,
                };
                let of_seeds = match cut.work_or_merge(items, are_exact, &bar, output)? {
                    ControlFlow::Continue(of_seeds) => of_seeds,
                    ControlFlow::Break(said) => return Ok(said),
                };
                merged_into = Some(cut.directory("kmeans-bench")?);
                Comparison::merged(&algorithms, &options, &seeds, of_seeds)?
            }
        };
        bar.finish_and_clear();
        let directory = match merged_into {
            Some(directory) => directory,
            None => directory_of(place, "kmeans-bench")?.0,
        };
        directory.write_run(&specification, &record)?;
        let summary = Summary::of(
            "kmeans bench",
            BenchSummary {
                probity_version: env!("CARGO_PKG_VERSION"),
                data: specification.data.clone(),
                data_sha256: dataset.source.sha256,
                rows,
                left_out: dataset.left_out,
                columns: dataset.columns.len(),
                options,
                seed: specification.clustering.seed,
                measured,
            },
        );
        directory.write_summary(&summary)?;
        let plots = plots(&directory)?;
        let next = format!("{plots}Run: {}\n", directory.path().display());
        output.run(&summary, directory.path(), &next)?;
        let exact = summary
            .measured
            .algorithms
            .iter()
            .all(|figures| figures.exact);
        Ok(verdict(exact))
    }
}

/// Whether every model equalled a retraining, by a summary.
fn are_exact(summary: &Value) -> bool {
    let algorithms = summary["algorithms"].as_array();
    algorithms.is_some_and(|all| all.iter().all(|figures| figures["exact"] == true))
}

/// Shows progress on the bar and passes Ctrl-C on.
fn show(
    bar: &ProgressBar,
    interrupt: &Interrupt,
    progress: ComparisonProgress<'_>,
) -> ControlFlow<()> {
    match progress {
        ComparisonProgress::Baseline { seed } => {
            bar.reset();
            bar.set_prefix("k-means");
            bar.set_message(format!("seed {seed}"));
            bar.tick();
        }
        ComparisonProgress::Deletions { algorithm, done } => {
            if bar.prefix() != algorithm {
                bar.reset();
                bar.set_prefix(algorithm.to_owned());
            }
            bar.set_position(done as u64);
        }
    }
    interrupt.flow()
}
