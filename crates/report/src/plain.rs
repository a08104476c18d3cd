//! A document as plain text: what a terminal shows of a run.
//!
//! What came of it first, then the verdict, then the blocks without which these are not understood
//! ([`Part::essential`](super::document::Part)), or everything. A chart is shown by the table behind
//! it, whose shares get bars. Everything is fitted to a width; what is too wide is wrapped, so that
//! nothing is cut off.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table as Grid,
    TableStyle, Width, presets,
};

use super::compose::document;
use super::document::{Block, Document, PairCell, PairRow, PairTable, Piece, Section, Table};
use super::model::Report;
use super::text::Text;

/// Pairs of each audit.
const PAIRS: usize = 5;

/// Characters of a bar that stands for 100 %.
const BAR: usize = 20;

/// Spaces between two columns of a table.
const BETWEEN: usize = 2;

/// Columns of text at least, however narrow a terminal is.
const NARROWEST: usize = 40;

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The verdict and what it is not understood without.
    Essentials,
    /// All that a page says, of the pairs a few.
    All,
}

impl Report {
    /// The report as plain text of so many columns.
    pub fn to_plain(&self, width: usize, extent: Extent) -> String {
        render(&document(self, PAIRS), width, extent)
    }
}

/// `document` as plain text.
fn render(document: &Document, width: usize, extent: Extent) -> String {
    let width = width.max(NARROWEST);
    let is_single = document.sections.len() == 1;
    let mut text = String::new();
    for section in &document.sections {
        if !is_single {
            text.push_str(&titled(&section.title, width));
        }
        text.push_str(&of_section(section, width, extent));
    }
    // Spaces of a terminal are plain, so that they can be searched for.
    text.replace('\u{a0}', " ")
}

fn of_section(section: &Section, width: usize, extent: Extent) -> String {
    let mut text = String::new();
    let outcome = section.outcome.as_ref();
    if let Some(outcome) = outcome {
        let said = format!("{}: {}", outcome.word(), outcome.text);
        text.push_str(&wrapped(&said, width));
    }
    let is_said = |sentence: &&Text| {
        outcome.is_some_and(|outcome| outcome.text.as_str().contains(sentence.as_str()))
    };
    for sentence in section.verdict.iter().filter(|it| !is_said(it)) {
        text.push_str(&wrapped(sentence.as_str(), width));
    }
    for part in &section.parts {
        if extent == Extent::All {
            text.push_str(&titled(&part.title, width));
        }
        for (place, block) in part.blocks.iter().enumerate() {
            let is_essential = part.essential.contains(&place) && !is_empty(block);
            if extent == Extent::All || is_essential {
                text.push('\n');
                text.push_str(&of_block(block, width, extent));
            }
        }
    }
    text
}

/// A heading, with a line below it.
fn titled(title: &Text, width: usize) -> String {
    let length = title.as_str().chars().count().min(width);
    format!(
        "\n{}{}\n",
        wrapped(title.as_str(), width),
        "-".repeat(length)
    )
}

fn of_block(block: &Block, width: usize, extent: Extent) -> String {
    match block {
        Block::Paragraph(text) => wrapped(text.as_str(), width),
        Block::List(sentences) => {
            let rows = sentences
                .iter()
                .map(|text| vec!["-".to_owned(), shown(text)]);
            in_columns(rows.collect(), 1, width)
        }
        Block::Facts(facts) => of_facts(facts, width),
        Block::Folded { title, facts } => {
            wrapped(&format!("{title}:"), width) + &of_facts(facts, width)
        }
        Block::Table(table) => of_table(table, width),
        Block::Figure(figure) => {
            let said = match extent {
                Extent::Essentials => String::new(),
                Extent::All => wrapped(figure.description.as_str(), width),
            };
            said + &of_table(&figure.data, width)
        }
        Block::Pairs(pairs) => of_pairs(pairs, width),
        Block::Command(text) => format!("  {text}\n"),
    }
}

/// Whether it is a table without a row.
fn is_empty(block: &Block) -> bool {
    match block {
        Block::Table(table) => table.rows.is_empty(),
        Block::Figure(figure) => figure.data.rows.is_empty(),
        _ => false,
    }
}

fn shown(text: &Text) -> String {
    text.to_string()
}

/// `text` in lines of at most `width` columns; nothing where there is none.
fn wrapped(text: &str, width: usize) -> String {
    match text.is_empty() {
        true => String::new(),
        // A number and its unit stay in one line.
        false => in_columns(vec![vec![text.replace(" %", "\u{a0}%")]], 0, width),
    }
}

/// Rows without names of columns, these set apart by so many spaces.
fn in_columns(rows: Vec<Vec<String>>, between: usize, width: usize) -> String {
    let mut grid = grid(width);
    grid.add_rows(rows);
    finished(grid, between)
}

fn grid(width: usize) -> Grid {
    let mut grid = Grid::new();
    grid.force_no_tty()
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX));
    grid
}

fn finished(mut grid: Grid, between: usize) -> String {
    let last = grid.column_count().saturating_sub(1);
    let between = u16::try_from(between).unwrap_or(u16::MAX);
    for (place, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, if place < last { between } else { 0 }));
    }
    let lines = grid.lines();
    lines
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

fn of_facts(facts: &[(Text, Text)], width: usize) -> String {
    let rows = facts
        .iter()
        .map(|(name, value)| vec![shown(name), shown(value)]);
    in_columns(rows.collect(), 2, width)
}

/// A table below its caption; where it has shares and the width leaves room, with a bar for each.
fn of_table(table: &Table, width: usize) -> String {
    let mut text = wrapped(
        &format!("{}:", table.caption.as_str().trim_end_matches('.')),
        width,
    );
    if table.caption.as_str().is_empty() {
        text.clear();
    }
    let columns = table.columns();
    let aligned = |text: &Text, place: usize| {
        let is_figure = columns.get(place).is_some_and(|(_, is_figure)| *is_figure);
        Cell::new(text).set_alignment(match is_figure {
            true => CellAlignment::Right,
            false => CellAlignment::Left,
        })
    };
    let cells = |row: &[Text]| -> Vec<Cell> {
        let cells = row.iter().enumerate();
        cells.map(|(place, text)| aligned(text, place)).collect()
    };
    let made = |bars: Option<Vec<String>>| {
        let mut grid = grid(width);
        grid.load_style(RULED);
        let mut header = cells(&table.header);
        header.extend(bars.iter().map(|_| Cell::new("")));
        grid.set_header(header);
        for (place, row) in table.rows.iter().enumerate() {
            let mut row = cells(row);
            row.extend(
                bars.iter()
                    .filter_map(|bars| bars.get(place))
                    .map(Cell::new),
            );
            grid.add_row(row);
        }
        let words = widest_words(table);
        // Names are not broken where all of them have a place.
        if words.iter().map(|&word| word + BETWEEN).sum::<usize>() <= width {
            for (column, word) in grid.column_iter_mut().zip(words) {
                let least = u16::try_from(word + BETWEEN).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
            }
        }
        grid
    };
    let plain = made(None);
    let widths = plain.column_max_content_widths();
    let taken = widths.iter().map(|&width| usize::from(width) + BETWEEN);
    let taken: usize = taken.sum();
    let bars = bars(table).filter(|_| taken + BAR <= width);
    let grid = match bars {
        Some(bars) => made(Some(bars)),
        None => plain,
    };
    text.push_str(&finished(grid, BETWEEN));
    text
}

/// Characters of the longest word of each column.
fn widest_words(table: &Table) -> Vec<usize> {
    let word = |text: &Text| {
        let words = text.as_str().split(' ').map(|word| word.chars().count());
        words.max().unwrap_or(0)
    };
    let columns = table.header.iter().enumerate().map(|(place, name)| {
        let cells = table.rows.iter().filter_map(|row| row.get(place));
        let longest = cells.map(word).max().unwrap_or(0);
        longest.max(word(name))
    });
    columns.collect()
}

/// A line below the names of the columns.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('-'));

/// Bars of the first column of shares, if there is one.
fn bars(table: &Table) -> Option<Vec<String>> {
    let mut places = (1..table.header.len()).map(|place| {
        let cells = table.rows.iter().map(|row| share(row.get(place)?.as_str()));
        cells.collect::<Option<Vec<f64>>>()
    });
    let shares = places.find_map(|shares| shares.filter(|shares| !shares.is_empty()))?;
    Some(shares.into_iter().map(bar).collect())
}

/// The share that a cell shows.
fn share(cell: &str) -> Option<f64> {
    let percent: f64 = cell.strip_suffix("\u{a0}%")?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

/// A share of a line of [`BAR`] characters, to an eighth of one.
fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share * (8 * BAR) as f64).round() as usize;
    let end = EIGHTHS[eighths % 8];
    let rest = BAR.saturating_sub(eighths / 8 + usize::from(!end.is_empty()));
    format!("{}{end}{}", "█".repeat(eighths / 8), "░".repeat(rest))
}

/// Pairs one below the other: a table of all their columns is wider than any terminal.
fn of_pairs(pairs: &PairTable, width: usize) -> String {
    let row = |row: &PairRow| {
        let cells = pairs.header.iter().skip(1).zip(&row.cells);
        let cells = cells.map(|(name, cell)| format!("{name}: {}", of_cell(cell)));
        let cells: Vec<String> = cells.collect();
        vec![format!("{}.", row.number), cells.join("; ")]
    };
    wrapped(pairs.caption.as_str(), width)
        + &in_columns(pairs.rows.iter().map(row).collect(), 1, width)
}

fn of_cell(cell: &PairCell) -> String {
    match cell {
        PairCell::Same(text) | PairCell::Long(text) => shown(text),
        PairCell::Changed(from, to) => format!("[{from} → {to}]"),
        PairCell::Pieces(pieces) => pieces.iter().map(of_piece).collect(),
    }
}

fn of_piece(piece: &Piece) -> String {
    match piece {
        Piece::Plain(text) => shown(text),
        Piece::Marked(text) if text.as_str().is_empty() => String::new(),
        Piece::Marked(text) => format!("[{text}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::{Outcome, Part};
    use super::*;

    #[test]
    fn bars_are_shares_of_a_line() {
        assert_eq!(bar(0.0), "░".repeat(BAR));
        assert_eq!(bar(1.0), "█".repeat(BAR));
        assert_eq!(bar(0.25), format!("█████{}", "░".repeat(15)));
        assert_eq!(bar(0.01).chars().next(), Some('▎'));
        for thousandth in 0..=1000 {
            let bar = bar(f64::from(thousandth) / 1000.0);
            assert_eq!(bar.chars().count(), BAR, "{thousandth}");
        }
        assert_eq!(share("17.71\u{a0}%"), Some(0.1771));
        assert_eq!(share("11.0\u{a0}% – 12.0\u{a0}%"), None);
    }

    #[test]
    fn the_outcome_comes_first_and_everything_fits() {
        let rows = [[
            "sex × a long name of an attribute of origin",
            "17.71\u{a0}%",
            "5,312",
        ]];
        let table = Table::new(
            "Shares.",
            &["Attributes changed", "Share", "Discriminatory"],
            rows.map(|row| row.map(str::to_owned).into()).into(),
        );
        let section = Section {
            id: "run1".to_owned(),
            title: "Audit".into(),
            outcome: Some(Outcome::from_check(false, "Alike. The bound is broken.")),
            verdict: vec!["Alike.".into(), "Words ".repeat(40).trim_end().into()],
            parts: vec![
                Part::new("Shares")
                    .say("What a share is.")
                    .with_essential(Block::Table(table)),
            ],
        };
        let document = Document {
            title: "Audit".into(),
            sections: vec![section],
        };
        let [brief, all] =
            [Extent::Essentials, Extent::All].map(|extent| render(&document, 60, extent));
        assert!(
            brief.starts_with("FAIL: Alike. The bound is broken.\nWords"),
            "{brief}"
        );
        assert!(
            brief.contains("\nShares:\n") && brief.contains("17.71 %"),
            "{brief}"
        );
        assert!(!brief.contains("What a share is."), "{brief}");
        assert!(
            all.contains("\nShares\n------\n\nWhat a share is.\n"),
            "{all}"
        );
        for line in all.lines() {
            assert!(line.chars().count() <= 60, "{line}");
        }
        let wide = render(&document, 100, Extent::Essentials);
        assert!(wide.contains("███▌░"), "{wide}");
    }
}
