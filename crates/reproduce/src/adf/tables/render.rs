//! Tables IV to VII and X as text, the paper's figures beside ours.

use super::super::args::{AdfArgs, AdfTable};
use super::{ENOUGH, Row};
use crate::output::{count, interval, table};
use crate::reproduction::{Asked, Reproduction};
use probity_fairness::statistics::Mean;

/// Renders the table that `args` ask for.
pub fn render(args: &AdfArgs, found: &Reproduction<Asked<String>, Row>) -> String {
    let means = match args.repeats {
        1 => String::new(),
        repeats => format!(" (means of {repeats}, with 95 % intervals)"),
    };
    let mut text = format!(
        "Table {} of {}. Paper / ours{means}:\n",
        found.heading.table, found.paper
    );
    if !found.rows.is_empty() {
        let cells = found.rows.iter().map(|row| line(args, row));
        text.push_str(&table(header(args.table), cells));
        text.push_str(&remarks(args, &found.rows));
    }
    text
}

fn header(table: AdfTable) -> &'static str {
    match table {
        AdfTable::Overall => {
            "data, attribute | aequitas, generated | aequitas, found | adf, generated | adf, found"
        }
        AdfTable::InTime => {
            "data, attribute | sg, generated | sg, found | adf, generated | adf, found"
        }
        AdfTable::Global => {
            "data, attribute | aequitas | sg | adf | aequitas, equal tries | sg, equal tries"
        }
        _ => "data, attribute | aequitas | sg | adf",
    }
}

fn line(args: &AdfArgs, row: &Row) -> Vec<String> {
    let paper = &row.paper;
    let mut line = vec![format!("{} {}", paper.data, paper.attribute)];
    let pairs = match args.table {
        AdfTable::Overall => Some(paper.overall),
        AdfTable::InTime => Some(paper.in_time),
        _ => None,
    };
    if let Some(pairs) = pairs {
        for (cell, [generated, found]) in row.cells.iter().zip(pairs) {
            line.push(beside(generated, &cell.generated));
            line.push(beside(found, &cell.discriminatory));
        }
        return line;
    }
    for (place, cell) in row.cells.iter().enumerate() {
        line.push(match args.table {
            AdfTable::Global => match paper.global.get(place) {
                Some(&paper) => beside(paper, &cell.discriminatory),
                None => interval(&cell.discriminatory, whole),
            },
            AdfTable::Local => {
                let mean = cell.for_each_start.as_ref().unwrap_or(&cell.discriminatory);
                beside(paper.local[place], mean)
            }
            _ => {
                let short = match cell.discriminatory.mean < ENOUGH as f64 {
                    true => format!(" ({:.0} found)", cell.discriminatory.mean),
                    false => String::new(),
                };
                let ours = interval(&cell.seconds, |value| format!("{value:.3}"));
                format!("{:.2} / {ours}{short}", paper.seconds[place])
            }
        });
    }
    line
}

fn beside(paper: u32, ours: &Mean) -> String {
    format!("{} / {}", whole(f64::from(paper)), interval(ours, whole))
}

fn whole(value: f64) -> String {
    count(value.max(0.0).round() as u64)
}

/// Remarks on what the figures say of the paper's order, and on how they differ from the paper's in
/// kind.
fn remarks(args: &AdfArgs, rows: &[Row]) -> String {
    let mut text = String::new();
    if matches!(args.table, AdfTable::Global | AdfTable::Local) && args.repeats > 1 {
        let holds = |row: &&Row| {
            row.cells[..3].windows(2).all(|pair| {
                match (pair[0].discriminatory.ci95, pair[1].discriminatory.ci95) {
                    (Some([_, below]), Some([above, _])) => below < above,
                    _ => false,
                }
            })
        };
        let count = rows.iter().filter(holds).count();
        text.push_str(&format!(
            "adf before sg before aequitas, with intervals that do not overlap: {count} of {} rows.\n",
            rows.len()
        ));
    }
    text.push_str(match args.table {
        AdfTable::InTime => "Paper: in 500 seconds.\n",
        AdfTable::Local => {
            "Ours: distinct individuals for each start; the starts are those of adf's global phase.\n"
        }
        AdfTable::Global => {
            "aequitas and sg generate one sample a seed, as in the paper; with equal tries they generate up to eleven, as adf does.\n"
        }
        _ => "",
    });
    text.push_str("The paper's networks for bank and credit were not published; ours are trained on the same data.\n");
    text
}
