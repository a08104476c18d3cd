//! Cells of text in CSV files that people may open in a spreadsheet.
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or an end of line (or one of
//! the first four in full width) for a formula, and runs it; texts and names come from whoever wrote
//! the data. [`safe`] puts an apostrophe before such a cell, as OWASP recommends against CSV
//! injection. Numbers and single characters stay: nothing of them can be run. [`original`] takes the
//! apostrophe away again, so that what Probity wrote is read as it was: `original(safe(cell)) == cell`
//! for every cell, those with apostrophes of their own among them.

use std::borrow::Cow;

/// The characters that formulas begin with.
const BEGINNINGS: [char; 11] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// Returns `cell` as it is written: no formula.
pub fn safe(cell: &str) -> Cow<'_, str> {
    let bare = cell.trim_start_matches('\'');
    let is_short = || bare.chars().nth(1).is_none() || bare.parse::<f64>().is_ok();
    let is_plain = !bare.starts_with(BEGINNINGS) || (bare.len() == cell.len() && is_short());
    match is_plain {
        true => Cow::Borrowed(cell),
        false => Cow::Owned(format!("'{cell}")),
    }
}

/// Returns the cell that [`safe`] wrote as `written`.
pub fn original(written: &str) -> &str {
    let bare = written.trim_start_matches('\'');
    match written.strip_prefix('\'') {
        Some(cell) if bare.starts_with(BEGINNINGS) => cell,
        _ => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_get_an_apostrophe_and_all_else_stays() {
        for cell in [
            "=1+1", "+1 2", "-a", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1", "－ä", "--", "-1,5",
        ] {
            assert_eq!(safe(cell), format!("'{cell}"));
        }
        for cell in [
            "", "a=1", " =1", "-1.5", "+3e-7", "-inf", "-", "+", "'", "'a", "10 - 3", "a\t",
        ] {
            assert!(
                matches!(safe(cell), Cow::Borrowed(same) if same == cell),
                "{cell:?}"
            );
        }
    }

    #[test]
    fn every_cell_is_read_as_it_was() {
        let characters = ['=', '-', '\'', '1', 'a', '\t', '\u{ff20}'];
        let mut cells = vec![String::new()];
        for length in 0..5 {
            let longest: Vec<String> = cells
                .iter()
                .filter(|it| it.chars().count() == length)
                .cloned()
                .collect();
            let longer = longest
                .iter()
                .flat_map(|cell| characters.map(|last| format!("{cell}{last}")));
            cells.extend(longer);
        }
        assert!(cells.len() > 19_000);
        let mut written: Vec<_> = cells.iter().map(|cell| safe(cell)).collect();
        for (cell, written) in cells.iter().zip(&written) {
            assert_eq!(original(written), cell);
        }
        written.sort();
        written.dedup();
        assert_eq!(written.len(), cells.len());
    }
}
