//! Tables VIII, IX and XI as text, the paper's figures beside ours.

use super::super::args::{AdfArgs, AdfTable};
use super::paper::{ATTRIBUTES, SEEDS, VALIDITY, effectiveness, seconds};
use super::{Heading, RepeatFigures, ReproducedRow};
use crate::output::{count, table};
use crate::reproduction::Reproduction;

/// The mean over the repeats of one figure.
fn mean(runs: &[RepeatFigures], of: impl Fn(&RepeatFigures) -> f64) -> f64 {
    runs.iter().map(of).sum::<f64>() / runs.len().max(1) as f64
}

/// Renders the table that `args` ask for.
pub fn render(args: &AdfArgs, found: &Reproduction<Heading, ReproducedRow>) -> String {
    let means = match args.repeats {
        1 => String::new(),
        repeats => format!(" (means of {repeats})"),
    };
    let mut text = format!(
        "Table {} of {}. Paper / ours{means}:\n",
        found.heading.asked.table, found.paper
    );
    let rows = found.rows.iter().filter(|row| !row.runs.is_empty());
    let rows: Vec<&ReproducedRow> = rows.collect();
    match args.table {
        AdfTable::Validity => text.push_str(&validity_table(&rows)),
        AdfTable::TextSeconds => text.push_str(&seconds_table(&rows)),
        _ => text.push_str(&effectiveness_table(&rows)),
    }
    for difference in &found.heading.differences {
        let interval = difference.ci95.map_or(String::new(), |[low, high]| {
            format!(" (95 % interval {low:+.1} to {high:+.1})")
        });
        text.push_str(&format!(
            "Globally found in all rows, {}: {:+.1}{interval}\n",
            difference.of, difference.mean
        ));
    }
    if !rows.is_empty() {
        text.push_str(
            "Paper: 313,000 Jigsaw comments (Table IX: Wikipedia comments), its own terms. Ours: 11,170 of the Jigsaw comments.\n",
        );
    }
    text
}

fn place(attribute: &str) -> usize {
    let place = ATTRIBUTES.iter().position(|name| *name == attribute);
    place.unwrap_or(0)
}

fn effectiveness_table(rows: &[&ReproducedRow]) -> String {
    let beside = |paper: u32, ours: f64| format!("{} / {ours:.0}", count(paper.into()));
    let cells = rows.iter().map(|row| {
        let paper = effectiveness(row.model)[place(row.attribute)];
        let mut cells = vec![
            format!("{:?} {}", row.model, row.attribute),
            beside(SEEDS, mean(&row.runs, |run| run.seeds as f64)),
            beside(paper.raw, mean(&row.runs, |run| run.raw as f64)),
        ];
        for (strategy, paper) in paper.global.into_iter().enumerate() {
            let ours = mean(&row.runs, |run| run.global[strategy] as f64);
            cells.push(beside(paper, ours));
        }
        for local in 0..2 {
            let ours = mean(&row.runs, |run| run.local[local] as f64);
            let success = 100.0 * mean(&row.runs, |run| run.local_success[local]);
            cells.push(format!(
                "{} ({:.1} %) / {} ({success:.1} %)",
                count(paper.local[local].into()),
                paper.local_success[local],
                count(ours.round() as u64)
            ));
        }
        cells
    });
    table(
        "network, attribute | seeds | raw | rp | asc | adf-asc | hf | adf-hf | local rp | local adf",
        cells,
    )
}

fn validity_table(rows: &[&ReproducedRow]) -> String {
    let names = ["L0", "L2", "Jaccard", "BLEU", "similarity"];
    let cells = rows.iter().flat_map(|row| {
        names.iter().enumerate().map(|(metric, name)| {
            let mut cells = vec![(*name).to_owned()];
            for (strategy, paper) in VALIDITY.iter().enumerate() {
                let ours = mean(&row.runs, |run| run.validity[strategy][metric]);
                cells.push(format!("{:.4} / {ours:.4}", paper[metric]));
            }
            cells
        })
    });
    table("Lstm, race | asc | adf-asc | hf | adf-hf", cells)
}

fn seconds_table(rows: &[&ReproducedRow]) -> String {
    let cells = rows.iter().map(|row| {
        let paper = seconds(row.model)[place(row.attribute)];
        let mut cells = vec![format!("{:?} {}", row.model, row.attribute)];
        for (strategy, paper) in paper.iter().enumerate() {
            let ours = mean(&row.runs, |run| run.seconds[strategy]);
            let found = mean(&row.runs, |run| run.found[strategy] as f64);
            let short = match found < 5000.0 {
                true => format!(" ({found:.0} found)"),
                false => String::new(),
            };
            cells.push(format!("{paper:.1} / {ours:.2}{short}"));
        }
        cells
    });
    table(
        "network, attribute | rp, seconds to 5,000 | adf-asc, seconds to 5,000",
        cells,
    )
}
