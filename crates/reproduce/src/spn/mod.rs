//! Becker, Liebig: Certified Data Removal in Sum-Product Networks (2022), Tables 2 and 3.

mod paper;
#[cfg(test)]
mod tests;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::interrupt::{Interrupt, Interrupted};
use crate::options::{DataFolders, Only};
use crate::output::{Output, table};
use crate::published::Printed;
use crate::reproduction::Reproduction;
use paper::{CASES, PROTOCOL};
use probity_unlearning::spn::benchmark::{BenchmarkFigures, Protocol, run as measure};
use probity_unlearning::spn::{Independence, SpnParameters};

const PAPER: &str = "Becker, Liebig: Certified Data Removal in Sum-Product Networks. 2022";

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

/// What stands before the rows.
#[derive(Serialize)]
struct Heading {
    table: u8,
    protocol: Protocol,
}

#[derive(Serialize)]
struct ReproducedRow {
    data_set: &'static str,
    independence: Independence,
    /// The paper's times. Table 2: retraining and unlearning; Table 3: original and modified
    /// learning.
    paper: [Printed; 2],
    ours: BenchmarkFigures,
}

/// Runs `probity-reproduce spn`.
pub fn run(args: &SpnArgs, output: &Output) -> anyhow::Result<()> {
    let cases = args.only.choose(&CASES, "the paper")?;
    let interrupt = Interrupt::listen()?;
    let protocol = Protocol {
        repeats: args.repeats as usize,
        deletions: args.deletions as usize,
        ..PROTOCOL
    };
    let table = args.table;
    let heading = Heading { table, protocol };
    let mut found = Reproduction::new("reproduce spn", PAPER, heading, &args.data);
    found.over(&cases, |case, files, rows| {
        let pool = case.read(files)?;
        for &independence in args.tests.tests() {
            Interrupted::unless(!interrupt.is_asked())?;
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
            let ours = measure(parameters, &pool, protocol, &mut |repeats| {
                done = repeats;
                bar.set_position(repeats as u64);
                !interrupt.is_asked()
            })?;
            bar.finish_and_clear();
            rows.push(ReproducedRow {
                data_set: case.name,
                independence,
                paper: match table {
                    2 => case.paper.table_2,
                    _ => case.paper.table_3,
                },
                ours,
            });
            Interrupted::unless(done == protocol.repeats)?;
        }
        Ok(())
    })?;
    found.print(render(&found), output)
}

fn render(found: &Reproduction<Heading, ReproducedRow>) -> String {
    let number = found.heading.table;
    let [first, second] = match number {
        2 => ["retraining s", "unlearning s"],
        _ => ["original s", "modified s"],
    };
    let rows = found.rows.iter().map(|row| {
        let ours = &row.ours;
        let ours = match number {
            2 => [&ours.retrain_seconds, &ours.unlearn_seconds],
            _ => [&ours.learn_without_state_seconds, &ours.learn_seconds],
        };
        let mut cells = vec![
            row.data_set.to_owned(),
            format!("{:?}", row.independence).to_lowercase(),
        ];
        for ((mean, sd), ours) in row.paper.into_iter().zip(ours) {
            cells.push(format!("{mean} ± {sd}"));
            cells.push(ours.shown(4));
        }
        let likelihood = row.ours.test_log_likelihood;
        cells.extend([
            format!("{:.1}", row.paper[0].0 / row.paper[1].0),
            format!("{:.1}", ours[0].mean / ours[1].mean),
            likelihood.map_or("-".to_owned(), |spread| format!("{:.3}", spread.mean)),
            if row.ours.identical { "yes" } else { "NO" }.to_owned(),
        ]);
        cells
    });
    let header = format!(
        "data | test | paper: {first} | ours: {first} | paper: {second} | ours: {second} \
         | paper: ratio | ours: ratio | test log-likelihood | identical"
    );
    let mut text = format!("Table {number} of {}.\n", found.paper);
    text.push_str(&table(&header, rows));
    text.push_str(
        "Rows and deletions are ours (seeded). identical: deletion gave the bytes of learning anew.\n",
    );
    text
}
