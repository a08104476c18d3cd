//! Ginart, Guan, Valiant, Zou: Making AI Forget You: Data Deletion in Machine Learning (NeurIPS
//! 2019), Tables 1 to 4.

mod paper;

use clap::Args;
use serde::Serialize;

use crate::interrupt::Interrupt;
use crate::options::{DataFolders, Only, Threads, missing, not_found};
use crate::output::{Output, table};
use paper::{PaperCase, PaperFigures, Printed, paper_cases};
use probity_unlearning::kmeans::benchmark::{AlgorithmFigures, BenchmarkOptions, Labelled};
use probity_unlearning::kmeans::comparison::{
    BaselineFigures, Comparison, ComparisonProgress, compare,
};
use probity_unlearning::kmeans::{Algorithm, Points, Tree};
use probity_unlearning::spread::Spread;

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
struct ReproduceSummary {
    schema_version: u32,
    command: &'static str,
    paper: &'static str,
    table: u8,
    seed: u64,
    finished: bool,
    rows: Vec<ReproducedRow>,
    not_found: Vec<String>,
}

#[derive(Serialize)]
struct ReproducedRow {
    data_set: &'static str,
    rows: usize,
    columns: usize,
    clusters: usize,
    paper: [PaperFigures; 3],
    ours: Comparison,
}

/// Runs `probity-reproduce kmeans`.
pub fn run(args: &KMeansArgs, output: &Output) -> anyhow::Result<()> {
    args.threads.apply()?;
    let mut cases = paper_cases();
    args.only.keep(&mut cases, |case| case.name, "the paper")?;
    let folders = args.data.folders();
    let interrupt = Interrupt::listen()?;
    let mut summary = ReproduceSummary {
        schema_version: 1,
        command: "reproduce kmeans",
        paper: "Ginart, Guan, Valiant, Zou: Making AI Forget You: Data Deletion in Machine Learning. NeurIPS 2019",
        table: args.table,
        seed: args.seed,
        finished: true,
        rows: Vec::new(),
        not_found: Vec::new(),
    };
    for case in &cases {
        match case.find(&folders) {
            Err(absent) => summary.not_found.push(missing(case.name, absent)),
            Ok(files) => {
                let (points, labels) = case.read(&files, args.seed)?;
                let row = args.reproduce(case, points, &labels, &interrupt, output)?;
                summary.finished &= row.ours.finished;
                summary.rows.push(row);
                if !summary.finished {
                    break;
                }
            }
        }
    }
    let mut text = render(&summary);
    text.push_str(&not_found(&summary.not_found, &folders));
    output.result(&summary, &text)
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
                epsilon: case.epsilon,
                gamma: GAMMA,
            },
            Algorithm::DivideConquer {
                tree: Tree::flat(case.leaves)?,
            },
        ];
        let clusters = case.shape[2];
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
    paper: fn(&PaperFigures) -> Printed,
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

const FIGURES: [Figure; 4] = [
    figure!(
        loss_ratio,
        "loss over the loss of k-means that has converged"
    ),
    figure!(silhouette, "silhouette coefficient"),
    figure!(nmi, "normalized mutual information"),
    figure!(seconds, "seconds of one training and all deletions"),
];

/// The number of decimals of the figures.
const DECIMALS: usize = 3;

fn render(summary: &ReproduceSummary) -> String {
    let figure = &FIGURES[usize::from(summary.table) - 1];
    let beside = |paper: Printed, ours: Option<Spread>| {
        let paper = Spread {
            mean: paper.0,
            sd: Some(paper.1),
        };
        let [paper, ours] = [Some(paper), ours].map(|figure| spread(figure, DECIMALS));
        format!("{paper} / {ours}")
    };
    let speeds = summary.table == 4;
    let mut rows = Vec::new();
    for row in &summary.rows {
        let deletions = row.ours.algorithms.first().map_or(0, deletions_of);
        let baselines = row.ours.baseline_figures(deletions);
        let mut cells = vec![
            row.data_set.to_owned(),
            beside((figure.paper)(&row.paper[0]), (figure.baseline)(&baselines)),
        ];
        for (paper, ours) in row.paper[1..].iter().zip(&row.ours.algorithms) {
            cells.push(beside((figure.paper)(paper), (figure.ours)(ours)));
            if speeds {
                cells.push(format!(
                    "{:.1} / {}",
                    paper.speedup,
                    spread(ours.speedup, 1)
                ));
            }
        }
        rows.push(cells);
    }
    let header: &[&str] = if speeds {
        &[
            "data",
            "k-means",
            "Q-k-means",
            "speed-up",
            "DC-k-means",
            "speed-up",
        ]
    } else {
        &["data", "k-means", "Q-k-means", "DC-k-means"]
    };
    let mut text = format!(
        "Table {} of {}: {}. Paper / ours:\n",
        summary.table, summary.paper, figure.title
    );
    text.push_str(&table(header, &rows));
    for row in &summary.rows {
        let names: Vec<&str> = row
            .ours
            .algorithms
            .iter()
            .map(|a| a.algorithm.as_str())
            .collect();
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
            .any(|figures| figures.exact == Some(false))
        {
            text.push_str("NOT EXACT: a model differed from a retraining after its deletions; please report this.\n");
        }
    }
    if summary.rows.iter().any(|row| row.data_set == "gaussian") {
        text.push_str(
            "gaussian: a mixture of ours; the paper does not say how its own was drawn.\n",
        );
    }
    if !summary.finished {
        text.push_str("Interrupted: this is what was measured by then.\n");
    }
    text
}

/// Writes a mean ± standard deviation with this many decimals.
fn spread(spread: Option<Spread>, decimals: usize) -> String {
    spread.map_or_else(|| "-".to_owned(), |spread| spread.shown(decimals))
}

fn deletions_of(figures: &AlgorithmFigures) -> usize {
    let last = figures
        .replicates
        .first()
        .and_then(|replicate| replicate.curve.last());
    last.map_or(0, |&(deletions, _)| deletions)
}
