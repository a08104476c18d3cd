//! Li, Wang, Wang: Systematic Testing of the Data-Poisoning Robustness of KNN (ISSTA 2023), Tables
//! 2 and 3.

mod paper;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::interrupt::{Interrupt, Interrupted};
use crate::options::{DataFolders, Hardware, Only};
use crate::output::{Output, count, table};
use crate::reproduction::{Asked, Reproduction};
use paper::{MNIST_INPUTS, PaperCase, PaperFigures, paper_table};
use probity_knn::run::{
    Effort, Learning, RobustnessFigures, RobustnessProgress, decide_all, learn_once,
};
use probity_knn::{Candidates, Method, Metric};
use probity_tensor::device::ComputeDevice;

const PAPER: &str =
    "Li, Wang, Wang: Systematic Testing of the Data-Poisoning Robustness of KNN. ISSTA 2023";
/// The template of the progress bar.
const BAR: &str = "{prefix} [{bar:28}] {pos}/{len} inputs, {msg}, {eta} left";

/// Reads a method from the name that files have for it.
fn method(name: &str) -> Result<Method, String> {
    serde_json::from_value(name.into())
        .map_err(|_| "auto, baseline, jia or li is expected".to_owned())
}

/// Arguments of `probity-reproduce knn`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity-reproduce knn --table 3 --data-dir data --threads 1\n\
                        Data sets lie in folders of their own, such as iris/iris.data and mnist/train-images-idx3-ubyte.gz."
)]
pub struct KnnArgs {
    /// Table: 2 or 3
    #[arg(long, value_parser = clap::value_parser!(u8).range(2..=3))]
    table: u8,
    #[command(flatten)]
    only: Only,
    #[command(flatten)]
    data: DataFolders,
    /// Test inputs for each row of the table [default: all; 100 of MNIST]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    inputs: Option<u32>,
    /// How robustness is decided
    #[arg(long, default_value = "auto", value_parser = method)]
    method: Method,
    /// Time for each test input
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    time_limit: Duration,
    /// Seed of the split, of the poison and of the folds
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Serialize)]
struct ReproducedRow {
    data_set: &'static str,
    poison: usize,
    training_rows: usize,
    mutated_rows: usize,
    paper: PaperFigures,
    ours: RobustnessFigures,
}

/// Runs `probity-reproduce knn`.
pub fn run(args: &KnnArgs, output: &Output) -> anyhow::Result<()> {
    let device = args.hardware.open()?;
    let whole = format!("table {}", args.table);
    let cases = args.only.choose(&paper_table(args.table), &whole)?;
    let interrupt = Interrupt::listen()?;
    let asked = Asked {
        table: args.table,
        seed: args.seed,
        repeats: None,
    };
    let mut found = Reproduction::new("reproduce knn", PAPER, asked, &args.data);
    found.over(&cases, |case, files, rows| {
        let (row, finished) = args.reproduce(case, files, &device, &interrupt, output)?;
        rows.push(row);
        Interrupted::unless(finished)
    })?;
    found.print(render(&found), output)
}

impl KnnArgs {
    fn reproduce(
        &self,
        case: &PaperCase,
        files: &[PathBuf],
        device: &ComputeDevice,
        interrupt: &Interrupt,
        output: &Output,
    ) -> anyhow::Result<(ReproducedRow, bool)> {
        let (inputs, mutated_rows) = case.inputs(files, self.seed)?;
        let learning = Learning {
            folds: 10,
            smallest_k: 1,
            largest_k: Candidates::share(inputs.training.rows(), 10).last,
            metric: Metric::Euclidean,
            seed: self.seed,
        };
        let setup = learning.check(inputs.training.clone(), case.paper.poison)?;
        let default = (case.name == "mnist").then_some(MNIST_INPUTS);
        let wanted = self.inputs.map(|inputs| inputs as usize).or(default);
        let drawn = inputs.drawn(wanted, self.seed);
        let effort = Effort {
            method: self.method,
            time_limit: Some(self.time_limit),
            stop: interrupt.flag(),
        };
        let bar = output.progress(1, BAR);
        bar.set_prefix(case.name);
        bar.set_message("learning");
        bar.tick();
        let (ours, finished) = match learn_once(&inputs, setup, device, effort.stop)? {
            None => (RobustnessFigures::default(), false),
            Some((system, seconds)) => {
                let (mut ours, finished) =
                    decide_all(&inputs, &system, &drawn, effort, &mut |_| {}, &mut |step| {
                        show(&bar, step);
                    })?;
                ours.learn_seconds = seconds;
                (ours, finished)
            }
        };
        bar.finish_and_clear();
        let row = ReproducedRow {
            data_set: case.name,
            poison: case.paper.poison,
            training_rows: inputs.training.rows(),
            mutated_rows,
            paper: case.paper.figures,
            ours,
        };
        Ok((row, finished))
    }
}

/// Shows progress on the bar.
fn show(bar: &ProgressBar, progress: RobustnessProgress) {
    match progress {
        RobustnessProgress::Learning { .. } => bar.set_message("learning"),
        RobustnessProgress::Bounding { .. } => bar.set_message("bounding K"),
        RobustnessProgress::Inputs {
            done,
            all,
            falsified,
            ..
        } => {
            bar.set_length(all);
            bar.set_position(done);
            bar.set_message(format!("{falsified} falsified"));
        }
    }
}

fn render(found: &Reproduction<Asked<u8>, ReproducedRow>) -> String {
    let beside = |paper: f64, ours: u64, inputs: u64| {
        let ours = 100.0 * ours as f64 / inputs.max(1) as f64;
        format!("{paper:.1} / {ours:.1}")
    };
    let cells = found.rows.iter().map(|row| {
        let (paper, ours) = (&row.paper, &row.ours);
        let original = count((row.training_rows - row.mutated_rows) as u64);
        vec![
            row.data_set.to_owned(),
            row.poison.to_string(),
            format!("{original} + {}", row.mutated_rows),
            count(ours.inputs),
            beside(paper.certified, ours.all_certified(), ours.inputs),
            beside(paper.falsified, ours.falsified, ours.inputs),
            beside(paper.unknown, ours.unknown, ours.inputs),
            format!("{} / {:.4}", paper.seconds, ours.seconds_per_input.mean),
            format!("{:.2}", ours.seconds_per_input.max),
            format!("{:.2}", ours.learn_seconds + ours.k_set_seconds),
        ]
    });
    let mut text = format!(
        "Table {} of {}. Paper / ours:\n",
        found.heading.table, found.paper
    );
    text.push_str(&table(
        "data | n | rows | inputs | certified % | falsified % | unknown % | mean s | max s | learn s",
        cells,
    ));
    text.push_str(
        "rows: training rows + mutated rows inserted. Splits and mutations are ours (seeded); the paper gives none.\n",
    );
    if found.rows.iter().any(|row| row.data_set == "mnist") {
        text.push_str(
            "mnist: averages of 4 x 4-pixel blocks, the central 6 x 6 of them (central 24 x 24 of 28 x 28 pixels).\n",
        );
    }
    text
}
