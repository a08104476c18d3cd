//! `probity kmeans bench`

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;

use super::inputs::{AlgorithmName, ClusteringArgs, DataArgs, Threads};
use super::render;
use crate::cli::inputs::new_run;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::Output;
use crate::cli::render::plots;
use probity::unlearning::kmeans::Algorithm;
use probity::unlearning::kmeans::benchmark::{BenchmarkOptions, Labelled};
use probity::unlearning::kmeans::comparison::{Comparison, ComparisonProgress, compare};

/// The progress bar.
const BAR: &str = "{prefix} [{bar:28}] {pos}/{len} deletions, {msg}, {eta} left";

/// Arguments of `probity kmeans bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity kmeans bench --data d.csv --k 5 --bounds 0,100 --deletions 1000 --label-column y\n\
                        Exit code 1 when a model differs from a retraining after its deletions."
)]
pub(super) struct BenchArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Which algorithms, against Lloyd's that trains anew for each deletion
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "quantized,divide-conquer",
        help_heading = "Clustering"
    )]
    algorithm: Vec<AlgorithmName>,
    #[command(flatten)]
    clustering: ClusteringArgs,
    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    threads: Threads,
    /// Run directory [default: the next free runs/kmeans-bench-N]
    #[arg(long, help_heading = "Result")]
    out: Option<PathBuf>,
}

/// How much is measured.
#[derive(Debug, Args)]
#[command(next_help_heading = "Benchmark")]
struct SizeArgs {
    /// Rows to delete, one after the other
    #[arg(long, default_value_t = 1000)]
    deletions: usize,
    /// Replicates, with seeds from --seed on
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    replicates: u64,
    /// Timed trainings of the baseline for each replicate, which stand for one a deletion
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    retrainings: u32,
    /// Rows that the silhouette is taken of
    #[arg(long, default_value_t = 2000)]
    silhouette_rows: usize,
}

impl SizeArgs {
    /// The same as a value, for so many clusters and iterations.
    fn options(&self, clusters: usize, iterations: usize) -> BenchmarkOptions {
        BenchmarkOptions {
            clusters,
            iterations,
            deletions: self.deletions,
            silhouette_rows: self.silhouette_rows,
            retrainings: self.retrainings as usize,
        }
    }
}

#[derive(Serialize)]
struct BenchSummary {
    schema_version: u32,
    command: &'static str,
    probity_version: &'static str,
    data: PathBuf,
    data_sha256: String,
    rows: usize,
    columns: usize,
    options: BenchmarkOptions,
    seed: u64,
    #[serde(flatten)]
    measured: Comparison,
}

/// Runs `probity kmeans bench`.
pub(super) fn run(args: BenchArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.threads.apply()?;
    args.clustering.refuse_idle(&args.algorithm)?;
    let dataset = args.data.read()?;
    let rows = dataset.points.len();
    let options = args
        .size
        .options(args.clustering.k, args.clustering.iterations);
    if options.deletions == 0 || options.deletions + options.clusters > rows {
        bail!(
            "--deletions is {}; at least 1 and at most {} are possible with {rows} rows and {} clusters",
            options.deletions,
            rows.saturating_sub(options.clusters),
            options.clusters
        );
    }
    let algorithms = args
        .algorithm
        .iter()
        .map(|&name| args.clustering.algorithm(name, rows))
        .collect::<anyhow::Result<Vec<Algorithm>>>()?;
    let labels = dataset.numbered_labels();
    let data = Labelled {
        points: &dataset.points,
        labels: &labels,
    };
    let seed = args.clustering.seed;
    let interrupt = Interrupt::listen()?;
    let seeds: Vec<u64> = (0..args.size.replicates)
        .map(|at| seed.wrapping_add(at))
        .collect();
    let bar = output.progress(options.deletions as u64, BAR);
    let measured = compare(data, &algorithms, &options, &seeds, &mut |progress| {
        show(&bar, &interrupt, progress)
    })?;
    bar.finish_and_clear();
    let directory = new_run(args.out.as_ref(), "kmeans-bench")?;
    let summary = BenchSummary {
        schema_version: 1,
        command: "kmeans bench",
        probity_version: env!("CARGO_PKG_VERSION"),
        data: args.data.file().to_owned(),
        data_sha256: dataset.source.sha256,
        rows,
        columns: dataset.columns.len(),
        options,
        seed,
        measured,
    };
    directory.write_summary(&summary)?;
    let mut text = render::figures(&summary.measured, &options);
    text.push_str(&format!("Run: {}\n", directory.path().display()));
    text.push_str(&plots(&directory)?);
    output.result(&summary, &text)?;
    let exact = summary
        .measured
        .algorithms
        .iter()
        .all(|figures| figures.exact);
    Ok(if exact {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
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
