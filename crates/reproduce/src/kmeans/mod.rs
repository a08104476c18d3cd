//! Ginart, Guan, Valiant, Zou: Making AI Forget You: Data Deletion in Machine Learning (NeurIPS
//! 2019), Tables 1 to 4.

mod paper;

use clap::Args;
use serde::Serialize;

use crate::interrupt::{Interrupt, Interrupted};
use crate::options::{DataFolders, Only, Threads};
use crate::output::{Output, table};
use crate::published::Printed;
use crate::reproduction::{Asked, Reproduction};
use paper::{CASES, PaperCase, PaperRow};
use probity_unlearning::kmeans::benchmark::{AlgorithmFigures, BenchmarkOptions, Labelled};
use probity_unlearning::kmeans::comparison::{
    BaselineFigures, Comparison, ComparisonProgress, compare,
};
use probity_unlearning::kmeans::{Algorithm, Points, Tree};
use probity_unlearning::spread::Spread;

const PAPER: &str = "Ginart, Guan, Valiant, Zou: Making AI Forget You: Data Deletion in Machine Learning. NeurIPS 2019";
/// The number of decimals of the figures.
const DECIMALS: usize = 3;
/// The number of iterations of every training, as in the paper.
const ITERATIONS: usize = 10;
/// The template of the progress bar.
const BAR: &str = "{prefix} [{bar:28}] {pos}/{len} deletions, {msg}, {eta} left";
/// The balance γ of quantized k-means.
const GAMMA: f64 = 0.2;

/// Arguments of `probity-reproduce kmeans`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity-reproduce kmeans --table 4 --only covtype,gaussian\n\
                        Tables: 1 loss ratio, 2 silhouette, 3 normalized mutual information, 4 run time.\n\
                        Data sets lie in folders of their own, such as covtype/covtype_15120.csv.gz; Gaussian is drawn."
)]
pub struct KMeansArgs {
    /// Table: 1 to 4
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=4))]
    table: u8,
    #[command(flatten)]
    only: Only,
    #[command(flatten)]
    data: DataFolders,
    /// Rows to delete, one after the other
    #[arg(long, default_value_t = 1000)]
    deletions: usize,
    /// Replicates, with seeds from --seed on
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    repeats: u64,
    /// Timed trainings of the baseline for each replicate, which stand for one a deletion
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    retrainings: u32,
    /// Rows that the silhouette is taken of
    #[arg(long, default_value_t = 2000)]
    silhouette_rows: usize,
    /// First seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Serialize)]
struct ReproducedRow {
    data_set: &'static str,
    rows: usize,
    columns: usize,
    clusters: usize,
    paper: PaperRow,
    ours: Comparison,
}

/// Runs `probity-reproduce kmeans`.
pub fn run(args: &KMeansArgs, output: &Output) -> anyhow::Result<()> {
    args.threads.apply()?;
    let cases = args.only.choose(&CASES, "the paper")?;
    let interrupt = Interrupt::listen()?;
    let asked = Asked {
        table: args.table,
        seed: args.seed,
        repeats: None,
    };
    let mut found = Reproduction::new("reproduce kmeans", PAPER, asked, &args.data);
    found.over(&cases, |case, files, rows| {
        let (points, labels) = case.read(files, args.seed)?;
        let row = args.reproduce(case, points, &labels, &interrupt, output)?;
        let finished = row.ours.finished;
        rows.push(row);
        Interrupted::unless(finished)
    })?;
    found.print(render(&found), output)
}

impl KMeansArgs {
    fn reproduce(
        &self,
        case: &PaperCase,
        points: Points,
        labels: &[Option<u32>],
        interrupt: &Interrupt,
        output: &Output,
    ) -> anyhow::Result<ReproducedRow> {
        let algorithms = [
            Algorithm::Quantized {
                epsilon: case.paper.epsilon,
                gamma: GAMMA,
            },
            Algorithm::DivideConquer {
                tree: Tree::flat(case.paper.leaves)?,
            },
        ];
        let clusters = case.paper.shape[2];
        let options = BenchmarkOptions {
            clusters,
            iterations: ITERATIONS,
            // The paper's algorithms have one seeding.
            restarts: 1,
            deletions: self.deletions,
            silhouette_rows: self.silhouette_rows,
            retrainings: self.retrainings as usize,
        };
        let data = Labelled {
            points: &points,
            labels,
        };
        let seeds: Vec<u64> = (0..self.repeats)
            .map(|at| self.seed.wrapping_add(at))
            .collect();
        let bar = output.progress(options.deletions as u64, BAR);
        let ours = compare(data, &algorithms, &options, &seeds, &mut |progress| {
            match progress {
                ComparisonProgress::Baseline { seed } => {
                    bar.set_prefix(format!("{}, k-means", case.name));
                    bar.set_message(format!("seed {seed}"));
                    bar.set_position(0);
                }
                ComparisonProgress::Deletions { algorithm, done } => {
                    bar.set_prefix(format!("{}, {algorithm}", case.name));
                    bar.set_position(done as u64);
                }
            }
            interrupt.flow()
        })?;
        bar.finish_and_clear();
        Ok(ReproducedRow {
            data_set: case.name,
            rows: points.len(),
            columns: points.columns(),
            clusters,
            paper: case.paper,
            ours,
        })
    }
}

/// The figure that a table is about: its title, and where the paper, we and the baseline have it.
struct Figure {
    title: &'static str,
    paper: fn(&PaperRow) -> [Printed; 3],
    ours: fn(&AlgorithmFigures) -> Option<Spread>,
    baseline: fn(&BaselineFigures) -> Option<Spread>,
}

/// Makes the [`Figure`] of the field `name`, which the paper's figures, ours and the baseline's
/// have.
macro_rules! figure {
    ($name:ident, $title:literal) => {
        Figure {
            title: $title,
            paper: |paper| paper.$name,
            ours: |ours| ours.$name,
            baseline: |baselines| baselines.$name,
        }
    };
}

/// The figures of Tables 1 to 4.
const FIGURES: [Figure; 4] = [
    figure!(
        loss_ratio,
        "loss over the loss of k-means that has converged"
    ),
    figure!(silhouette, "silhouette coefficient"),
    figure!(nmi, "normalized mutual information"),
    figure!(seconds, "seconds of one training and all deletions"),
];

/// Writes a mean ± standard deviation with this many decimals.
fn spread(spread: Option<Spread>, decimals: usize) -> String {
    spread.map_or_else(|| "-".to_owned(), |spread| spread.shown(decimals))
}

/// Writes the paper's figure beside ours.
fn beside((mean, sd): Printed, ours: Option<Spread>) -> String {
    let paper = Spread { mean, sd: Some(sd) };
    format!("{} / {}", paper.shown(DECIMALS), spread(ours, DECIMALS))
}

/// The cells of a row: the figures of k-means and of each algorithm, with speed-ups if `speeds`.
fn cells(row: &ReproducedRow, figure: &Figure, speeds: bool) -> Vec<String> {
    let [k_means, algorithms @ ..] = (figure.paper)(&row.paper);
    let deletions = row.ours.algorithms.first().map_or(0, deletions_of);
    let baseline = (figure.baseline)(&row.ours.baseline_figures(deletions));
    let mut cells = vec![row.data_set.to_owned(), beside(k_means, baseline)];
    let paper = algorithms.into_iter().zip(row.paper.speedup);
    for ((figures, speedup), ours) in paper.zip(&row.ours.algorithms) {
        cells.push(beside(figures, (figure.ours)(ours)));
        if speeds {
            cells.push(format!("{speedup:.1} / {}", spread(ours.speedup, 1)));
        }
    }
    cells
}

fn render(found: &Reproduction<Asked<u8>, ReproducedRow>) -> String {
    let number = found.heading.table;
    let figure = &FIGURES[usize::from(number) - 1];
    let speeds = number == 4;
    let header = match speeds {
        true => "data | k-means | Q-k-means | speed-up | DC-k-means | speed-up",
        false => "data | k-means | Q-k-means | DC-k-means",
    };
    let rows = found.rows.iter().map(|row| cells(row, figure, speeds));
    let mut text = format!(
        "Table {number} of {}: {}. Paper / ours:\n",
        found.paper, figure.title
    );
    text.push_str(&table(header, rows));
    for row in &found.rows {
        let algorithms = row.ours.algorithms.iter();
        let names: Vec<&str> = algorithms.map(|ours| ours.algorithm.as_str()).collect();
        text.push_str(&format!(
            "{}: {} x {}, {} clusters; {}.\n",
            row.data_set,
            row.rows,
            row.columns,
            row.clusters,
            names.join("; ")
        ));
        if row
            .ours
            .algorithms
            .iter()
            .any(|ours| ours.exact == Some(false))
        {
            text.push_str("NOT EXACT: a model differed from a retraining after its deletions; please report this.\n");
        }
    }
    if found.rows.iter().any(|row| row.data_set == "gaussian") {
        text.push_str(
            "gaussian: a mixture of ours; the paper does not say how its own was drawn.\n",
        );
    }
    text
}

/// The number of deletions that were made.
fn deletions_of(figures: &AlgorithmFigures) -> usize {
    let last = figures
        .replicates
        .first()
        .and_then(|replicate| replicate.curve.last());
    last.map_or(0, |&(deletions, _)| deletions)
}
