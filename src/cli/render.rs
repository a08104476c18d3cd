//! Tables and sentences for people.

use std::path::PathBuf;

use comfy_table::{Cell, CellAlignment, Table, presets};

use probity::data::read::{BadRows, LeftOut};
use probity::data::table::ReadCounts;
use probity::report::PageError;
use probity::report::text;
use probity::run::run_directory::RunDirectory;

pub(super) use probity::report::text::count;

/// `1 row`, `2 rows`; the space is a plain one.
pub(super) fn counted(number: u64, one: &str, more: &str) -> String {
    text::counted(number, one, more).replace('\u{a0}', " ")
}

/// A figure with six decimals; one that these would say nothing of, or fill lines, by its power.
pub(super) fn figure(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-4..1e15).contains(&size) => format!("{value:.6}"),
        _ => format!("{value:.6e}"),
    }
}

/// A Markdown table; columns after the first are right-aligned.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header.to_vec());
    for row in rows {
        table.add_row(row.iter().enumerate().map(|(column, text)| {
            let alignment = if column == 0 {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            };
            // A bar would end the cell.
            Cell::new(text.replace('|', "\\|")).set_alignment(alignment)
        }));
    }
    format!("{table}\n")
}

/// A share as everywhere; the spaces of a terminal are plain, so that they can be searched for.
pub(super) fn percent(share: f64) -> String {
    text::percent(share).replace('\u{a0}', " ")
}

/// An interval of shares.
pub(super) fn interval(ends: [f64; 2]) -> String {
    text::interval(ends).replace('\u{a0}', " ")
}

/// Draws the plots that belong to the run in `directory`; where they are, a line each.
pub(super) fn plots(directory: &RunDirectory) -> Result<String, PageError> {
    let plots = probity::report::plots::write(directory.path())?;
    let line = |plot: &PathBuf| format!("Plot: {}\n", plot.display());
    Ok(plots.iter().map(line).collect())
}

/// That the model does not take some of the attributes `protected`, where it does not.
pub(super) fn not_taken(attributes: &[String], protected: &[String]) -> String {
    text::not_taken(attributes, protected)
        .map_or_else(String::new, |said| format!("NOT TAKEN: {said}.\n\n"))
}

/// What reading did to values and rows, where it did anything.
pub(super) fn read_counts(counts: &ReadCounts) -> String {
    let said = text::read_counts(
        counts.mapped_values,
        counts.skipped_rows,
        counts.unlabelled_rows,
        counts.unknown_outcomes,
    );
    let text: String = said.iter().map(|said| format!("{said}\n")).collect();
    let text = text.replace('\u{a0}', " ");
    text + &bad_rows(&counts.bad_rows)
}

/// What was left out of rows, where anything was.
pub(super) fn left_out(found: &LeftOut) -> String {
    read_counts(&ReadCounts {
        skipped_rows: found.skipped_rows,
        bad_rows: found.bad_rows.clone(),
        ..ReadCounts::default()
    })
}

/// What was left out because something is wrong with it, where anything was.
pub(super) fn bad_rows(found: &BadRows) -> String {
    match found.is_empty() {
        true => String::new(),
        false => format!("{found}.\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(percent(0.03141), "3.14 %");
        assert_eq!(interval([0.0, 3.689e-6]), "0.00 % – 0.00037 %");
        assert_eq!(
            (counted(1, "row", "rows"), counted(0, "row", "rows")),
            ("1 row".into(), "0 rows".into())
        );
        assert_eq!(
            (figure(0.0), figure(0.25)),
            ("0.000000".into(), "0.250000".into())
        );
        assert_eq!(
            (figure(-8.5e307), figure(1e-300)),
            ("-8.500000e307".into(), "1.000000e-300".into())
        );
    }
}
