//! Becker, Liebig: Certified Data Removal in Sum-Product Networks (2022), Tables 2 and 3.

mod paper;
#[cfg(test)]
mod tests;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::interrupt::Interrupt;
use crate::options::{DataFolders, Only, not_found};
use crate::output::{Output, table};
use paper::{CASES, PROTOCOL, PaperCase, PaperSeconds};
use probity_unlearning::spn::benchmark::{BenchmarkFigures, Protocol, run as measure};
use probity_unlearning::spn::{Independence, SpnParameters};
use probity_unlearning::spread::Spread;

/// Arguments of `probity-reproduce spn`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity-reproduce spn --table 2 --only wine,abalone --repeats 3\n\
                        Data sets lie in folders of their own, such as wine/wine.data and debd/plants.train.data.xz."
)]
pub struct SpnArgs {
    /// Table: 2 (deleting 100 rows) or 3 (learning once)
    #[arg(long, value_parser = clap::value_parser!(u8).range(2..=3))]
    table: u8,
    #[command(flatten)]
    only: Only,
    #[command(flatten)]
    data: DataFolders,
    /// Tests of independence to measure
    #[arg(long, value_enum, default_value = "both")]
    tests: TestsArg,
    /// Repeats
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Rows to delete one after the other
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    deletions: u32,
    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Which tests of independence are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TestsArg {
    /// The G-test
    Gtest,
    /// The randomised dependence coefficient
    Rdc,
    /// One after the other
    Both,
}

impl TestsArg {
    /// The tests, in order.
    fn tests(self) -> &'static [Independence] {
        match self {
            TestsArg::Gtest => &[Independence::Gtest],
            TestsArg::Rdc => &[Independence::Rdc],
            TestsArg::Both => &[Independence::Gtest, Independence::Rdc],
        }
    }
}

#[derive(Serialize)]
struct ReproduceSummary {
    schema_version: u32,
    command: &'static str,
    paper: &'static str,
    table: u8,
    protocol: Protocol,
    finished: bool,
    rows: Vec<ReproducedRow>,
    not_found: Vec<String>,
}

#[derive(Serialize)]
struct ReproducedRow {
    data_set: &'static str,
    independence: Independence,
    /// The paper's times. Table 2: retraining and unlearning; Table 3: original and modified
    /// learning.
    paper: [PaperSeconds; 2],
    ours: BenchmarkFigures,
}

/// Runs `probity-reproduce spn`.
pub fn run(args: &SpnArgs, output: &Output) -> anyhow::Result<()> {
    let mut cases: Vec<&PaperCase> = CASES.iter().collect();
    args.only.keep(&mut cases, |case| case.name, "the paper")?;
    let folders = args.data.folders();
    let interrupt = Interrupt::listen()?;
    let mut summary = ReproduceSummary {
        schema_version: 1,
        command: "reproduce spn",
        paper: "Becker, Liebig: Certified Data Removal in Sum-Product Networks. 2022",
        table: args.table,
        protocol: Protocol {
            repeats: args.repeats as usize,
            deletions: args.deletions as usize,
            ..PROTOCOL
        },
        finished: true,
        rows: Vec::new(),
        not_found: Vec::new(),
    };
    for case in cases {
        let Some(file) = case.find(&folders) else {
            let missing = format!("{}: {}", case.name, case.file());
            summary.not_found.push(missing);
            continue;
        };
        let pool = case.read(&file)?;
        for &independence in args.tests.tests() {
            if interrupt.is_asked() {
                summary.finished = false;
                break;
            }
            let parameters = SpnParameters::default()
                .independence(independence)
                .seed(args.seed);
            // The paper has no choice of the threshold to delete from.
            let parameters = match independence {
                Independence::Gtest => parameters.threshold(0.01),
                Independence::Rdc => parameters,
            };
            let template = format!("{} {{pos}}/{{len}} repeats, {{eta}} left", case.name);
            let bar = output.progress(u64::from(args.repeats), &template);
            let mut done = 0;
            let ours = measure(parameters, &pool, summary.protocol, &mut |repeats| {
                done = repeats;
                bar.set_position(repeats as u64);
                !interrupt.is_asked()
            })?;
            bar.finish_and_clear();
            summary.finished &= done == summary.protocol.repeats;
            summary.rows.push(ReproducedRow {
                data_set: case.name,
                independence,
                paper: match args.table {
                    2 => [case.retraining, case.unlearning],
                    _ => [case.original, case.modified],
                },
                ours,
            });
        }
    }
    let mut text = render(&summary);
    text.push_str(&not_found(&summary.not_found, &folders));
    output.result(&summary, &text)
}

/// Writes a mean time with its standard deviation.
fn seconds(spread: &Spread) -> String {
    spread.shown(4)
}

fn render(summary: &ReproduceSummary) -> String {
    let header = match summary.table {
        2 => ["retraining s", "unlearning s"],
        _ => ["original s", "modified s"],
    };
    let rows: Vec<Vec<String>> = summary
        .rows
        .iter()
        .map(|row| {
            let ours = match summary.table {
                2 => [&row.ours.retrain_seconds, &row.ours.unlearn_seconds],
                _ => [
                    &row.ours.learn_without_state_seconds,
                    &row.ours.learn_seconds,
                ],
            };
            let paper = |at: usize| {
                let figures = &row.paper[at];
                format!("{} ± {}", figures.mean, figures.deviation)
            };
            let likelihood = row.ours.test_log_likelihood;
            vec![
                row.data_set.to_owned(),
                format!("{:?}", row.independence).to_lowercase(),
                paper(0),
                seconds(ours[0]),
                paper(1),
                seconds(ours[1]),
                format!("{:.1}", row.paper[0].mean / row.paper[1].mean),
                format!("{:.1}", ours[0].mean / ours[1].mean),
                likelihood.map_or("-".to_owned(), |spread| format!("{:.3}", spread.mean)),
                if row.ours.identical { "yes" } else { "NO" }.to_owned(),
            ]
        })
        .collect();
    let mut text = format!("Table {} of {}.\n", summary.table, summary.paper);
    text.push_str(&table(
        &[
            "data",
            "test",
            &format!("paper: {}", header[0]),
            &format!("ours: {}", header[0]),
            &format!("paper: {}", header[1]),
            &format!("ours: {}", header[1]),
            "paper: ratio",
            "ours: ratio",
            "test log-likelihood",
            "identical",
        ],
        &rows,
    ));
    text.push_str(
        "Rows and deletions are ours (seeded). identical: deletion gave the bytes of learning anew.\n",
    );
    if !summary.finished {
        text.push_str("Interrupted: these are the repeats that were done by then.\n");
    }
    text
}
