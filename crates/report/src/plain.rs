//! A document as plain text: what a terminal shows of a run.
//!
//! What came of it first, then the verdict, then the blocks without which these are not understood
//! ([`Part::essential`](super::document::Part)), or everything. A chart is shown by the table behind
//! it, whose shares get bars. Everything is fitted to a terminal, and of what another program reads
//! the tables; what is too wide is wrapped between words, and a table whose words are too wide is cut
//! into several of fewer columns, so that nothing is cut off and no interval broken.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table as Grid,
    TableStyle, Width, presets,
};

use super::compose::{document, said};
use super::document::{Block, Document, PairCell, PairRow, PairTable, Piece, Section, Table};
use super::model::{Findings, Report};
use super::text::Text;

/// Pairs of each audit.
const PAIRS: usize = 5;

/// Characters of a bar that stands for 100 %.
const BAR: usize = 20;

/// Spaces between two columns of a table.
const BETWEEN: usize = 2;

/// Columns of text at least, however narrow a terminal is.
const NARROWEST: usize = 20;

/// Columns of a table where no terminal says how many there are.
const WIDTH: usize = 100;

/// Where the text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A terminal of so many columns: everything is fitted to it.
    Terminal(usize),
    /// A file or another program: a sentence is one line, so that it can be searched for, and tables
    /// are fitted to 100 columns.
    Stream,
}

impl Medium {
    /// Columns that sentences are wrapped to, if they are.
    fn sentence(self) -> Option<usize> {
        match self {
            Medium::Terminal(columns) => Some(columns.max(NARROWEST)),
            Medium::Stream => None,
        }
    }

    /// Columns that tables are fitted to.
    fn table(self) -> usize {
        self.sentence().unwrap_or(WIDTH)
    }
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The verdict and what it is not understood without.
    Essentials,
    /// All that a page says, of the pairs a few.
    All,
}

impl Report {
    /// The report as plain text for `medium`.
    pub fn to_plain(&self, medium: Medium, extent: Extent) -> String {
        render(&document(self, PAIRS), medium, extent)
    }
}

impl Findings {
    /// These findings, which lie in no directory, as plain text for `medium`.
    pub fn to_plain(&self, medium: Medium, extent: Extent) -> String {
        let (verdict, parts) = said(self, "run", PAIRS);
        let section = Section {
            id: String::new(),
            title: Text::default(),
            outcome: None,
            verdict,
            parts,
        };
        of_section(&section, medium, extent).replace('\u{a0}', " ")
    }
}

/// `document` as plain text.
pub(super) fn render(document: &Document, medium: Medium, extent: Extent) -> String {
    let is_single = document.sections.len() == 1;
    let mut text = String::new();
    for section in &document.sections {
        if !is_single {
            text.push_str(&titled(&section.title, medium));
        }
        text.push_str(&of_section(section, medium, extent));
    }
    // Spaces of a terminal are plain, so that they can be searched for.
    text.replace('\u{a0}', " ")
}

fn of_section(section: &Section, medium: Medium, extent: Extent) -> String {
    let mut text = String::new();
    let outcome = section.outcome.as_ref();
    if let Some(outcome) = outcome {
        let said = format!("{}: {}", outcome.word(), outcome.text);
        text.push_str(&wrapped(&said, medium));
    }
    let is_said = |sentence: &&Text| {
        outcome.is_some_and(|outcome| outcome.text.as_str().contains(sentence.as_str()))
    };
    for sentence in section.verdict.iter().filter(|it| !is_said(it)) {
        text.push_str(&wrapped(sentence.as_str(), medium));
    }
    for part in &section.parts {
        if extent == Extent::All {
            text.push_str(&titled(&part.title, medium));
        }
        for (place, block) in part.blocks.iter().enumerate() {
            let is_essential = part.essential.contains(&place) && !is_empty(block);
            if extent == Extent::All || is_essential {
                text.push('\n');
                text.push_str(&of_block(block, medium, extent));
            }
        }
    }
    text
}

/// A heading, with a line below it.
fn titled(title: &Text, medium: Medium) -> String {
    let length = title.as_str().chars().count().min(medium.table());
    format!(
        "\n{}{}\n",
        wrapped(title.as_str(), medium),
        "-".repeat(length)
    )
}

fn of_block(block: &Block, medium: Medium, extent: Extent) -> String {
    match block {
        Block::Paragraph(text) => wrapped(text.as_str(), medium),
        Block::List(sentences) => {
            let items = sentences.iter().map(|text| ("-".to_owned(), shown(text)));
            listed(items, medium)
        }
        Block::Facts(facts) => of_facts(facts, medium),
        Block::Folded { title, facts } => {
            wrapped(&format!("{title}:"), medium) + &of_facts(facts, medium)
        }
        Block::Table(table) => of_table(table, medium),
        Block::Figure(figure) => {
            let said = match extent {
                Extent::Essentials => String::new(),
                Extent::All => wrapped(figure.description.as_str(), medium),
            };
            said + &of_table(&figure.data, medium)
        }
        Block::Pairs(pairs) => of_pairs(pairs, medium),
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

/// `text` with what belongs together in one line: a number and its unit, the ends of an interval.
fn unbroken(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
        .replace(" – ", "\u{a0}–\u{a0}")
}

/// `text` in the lines of `medium`; nothing where there is none.
fn wrapped(text: &str, medium: Medium) -> String {
    match (text.is_empty(), medium.sentence()) {
        (true, _) => String::new(),
        (false, None) => format!("{text}\n"),
        (false, Some(width)) => in_columns(vec![vec![text.to_owned()]], 0, width),
    }
}

/// Sentences, each behind its mark.
fn listed(items: impl Iterator<Item = (String, String)>, medium: Medium) -> String {
    match medium.sentence() {
        None => items
            .map(|(mark, text)| format!("{mark} {text}\n"))
            .collect(),
        Some(width) => {
            let rows = items.map(|(mark, text)| vec![mark, text]);
            in_columns(rows.collect(), 1, width)
        }
    }
}

/// Rows without names of columns, these set apart by so many spaces.
fn in_columns(rows: Vec<Vec<String>>, between: usize, width: usize) -> String {
    let mut grid = grid(width);
    let rows = rows
        .into_iter()
        .map(|row| row.iter().map(|cell| unbroken(cell)).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    let words = widest(rows.iter().map(Vec::as_slice), longest_word);
    grid.add_rows(rows);
    keep_words(&mut grid, &words, between, width);
    finished(grid, between)
}

/// Has no column of `grid` break a word, where all of `words` have a place: the widest of each.
fn keep_words(grid: &mut Grid, words: &[usize], between: usize, width: usize) {
    if taken(words, between) > width {
        return;
    }
    for (column, word) in grid.column_iter_mut().zip(words) {
        let least = u16::try_from(word + between).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
    }
}

/// Columns that columns of text of these widths take, each set apart from the next.
fn taken(widths: &[usize], between: usize) -> usize {
    widths.iter().map(|width| width + between).sum()
}

/// The largest that `measure` says of the cells of each column of `rows`.
fn widest<'r>(rows: impl Iterator<Item = &'r [String]>, measure: fn(&str) -> usize) -> Vec<usize> {
    let mut widest = Vec::new();
    for row in rows {
        widest.resize(row.len().max(widest.len()), 0);
        for (widest, cell) in widest.iter_mut().zip(row) {
            *widest = measure(cell).max(*widest);
        }
    }
    widest
}

/// Characters of the longest word of `cell`.
fn longest_word(cell: &str) -> usize {
    let words = cell.split(' ').map(|word| word.chars().count());
    words.max().unwrap_or(0)
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

/// Names and values, side by side, or where a word of them would have to be broken one behind the other.
fn of_facts(facts: &[(Text, Text)], medium: Medium) -> String {
    let rows = facts
        .iter()
        .map(|(name, value)| vec![shown(name), shown(value)]);
    let rows: Vec<Vec<String>> = rows.collect();
    let words = widest(rows.iter().map(Vec::as_slice), longest_word);
    match taken(&words, BETWEEN) <= medium.table() {
        true => in_columns(rows, BETWEEN, medium.table()),
        false => rows
            .iter()
            .map(|row| wrapped(&row.join(": "), medium))
            .collect(),
    }
}

/// A table below its caption, in as many pieces as its words need to fit; where it has shares and the
/// width leaves room, with a bar for each.
fn of_table(table: &Table, medium: Medium) -> String {
    let width = medium.table();
    let mut text = match table.caption.as_str() {
        "" => String::new(),
        caption => wrapped(&format!("{}:", caption.trim_end_matches('.')), medium),
    };
    let row =
        |row: &[Text]| -> Vec<String> { row.iter().map(|it| unbroken(it.as_str())).collect() };
    let header = row(&table.header);
    let rows: Vec<Vec<String>> = table.rows.iter().map(|cells| row(cells)).collect();
    let all = || std::iter::once(header.as_slice()).chain(rows.iter().map(Vec::as_slice));
    let words = widest(all(), longest_word);
    let pieces = match words.len() < 2 || taken(&words, BETWEEN) <= width {
        true => vec![(0..words.len()).collect()],
        false => pieces(&widest(all(), |cell| cell.chars().count()), width),
    };
    let are_figures: Vec<bool> = table.columns().iter().map(|(_, is)| *is).collect();
    for (place, columns) in pieces.iter().enumerate() {
        if place > 0 {
            text.push('\n');
        }
        let cells = |row: &[String]| -> Vec<Cell> {
            let cells = columns.iter().filter_map(|&column| {
                let cell = Cell::new(row.get(column)?);
                Some(cell.set_alignment(match are_figures.get(column) {
                    Some(true) => CellAlignment::Right,
                    _ => CellAlignment::Left,
                }))
            });
            cells.collect()
        };
        let made = |bars: &[String]| {
            let mut grid = grid(width);
            grid.load_style(RULED);
            let mut header = cells(&header);
            header.extend((!bars.is_empty()).then(|| Cell::new("")));
            grid.set_header(header);
            for (place, row) in rows.iter().enumerate() {
                let bar = bars.get(place).map(Cell::new);
                grid.add_row(cells(row).into_iter().chain(bar));
            }
            let words = columns.iter().filter_map(|&column| words.get(column));
            let words: Vec<usize> = words.copied().collect();
            keep_words(&mut grid, &words, BETWEEN, width);
            grid
        };
        let plain = made(&[]);
        let widths = plain.column_max_content_widths();
        let widths: Vec<usize> = widths.into_iter().map(usize::from).collect();
        let has_room = pieces.len() == 1 && taken(&widths, BETWEEN) + BAR <= width;
        let grid = match bars(table).filter(|_| has_room) {
            Some(bars) => made(&bars),
            None => plain,
        };
        text.push_str(&finished(grid, BETWEEN));
    }
    text
}

/// Which columns of these widths stand beside each other: behind the first one, which names the rows,
/// as many as fit, and one at least.
fn pieces(widths: &[usize], width: usize) -> Vec<Vec<usize>> {
    let mut pieces: Vec<Vec<usize>> = Vec::new();
    for column in 1..widths.len() {
        let fits = |piece: &&mut Vec<usize>| {
            let all = piece.iter().chain([&column]).map(|&column| widths[column]);
            taken(&all.collect::<Vec<_>>(), BETWEEN) <= width
        };
        match pieces.last_mut().filter(fits) {
            Some(piece) => piece.push(column),
            None => pieces.push(vec![0, column]),
        }
    }
    pieces
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
fn of_pairs(pairs: &PairTable, medium: Medium) -> String {
    let item = |row: &PairRow| {
        let cells = pairs.header.iter().skip(1).zip(&row.cells);
        let cells = cells.map(|(name, cell)| format!("{name}: {}", of_cell(cell)));
        let cells: Vec<String> = cells.collect();
        (format!("{}.", row.number), cells.join("; "))
    };
    wrapped(pairs.caption.as_str(), medium) + &listed(pairs.rows.iter().map(item), medium)
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
        let [brief, all] = [Extent::Essentials, Extent::All]
            .map(|extent| render(&document, Medium::Terminal(60), extent));
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
        let wide = render(&document, Medium::Terminal(100), Extent::Essentials);
        assert!(wide.contains("███▌░"), "{wide}");
        let stream = render(&document, Medium::Stream, Extent::Essentials);
        let sentence = "Words ".repeat(40);
        assert!(
            stream.contains(&format!("\n{}\n", sentence.trim_end())),
            "{stream}"
        );
        assert!(stream.contains("███▌░"), "{stream}");
    }

    /// Words and intervals of `table` stay whole, whatever the width.
    #[test]
    fn no_interval_and_no_word_is_broken() {
        let interval = "49.52\u{a0}% (47.72\u{a0}% – 51.32\u{a0}%)";
        let mut row = vec!["female, north".to_owned(), "3,017".to_owned()];
        row.extend(vec![interval.to_owned(); 5]);
        let header = ["Group", "Rows", "One", "Two", "Three", "Four", "Five"];
        let table = Table::new("Rates", &header, vec![row]);
        for width in [40, 59, 80, 100, 200] {
            let medium = Medium::Terminal(width);
            let text = of_table(&table, medium).replace('\u{a0}', " ");
            assert_eq!(text.matches("(47.72 % – 51.32 %)").count(), 5, "{text}");
            for name in header {
                assert!(text.contains(name), "{text}");
            }
            let lines = text.lines().map(|line| line.chars().count());
            assert!(lines.max() <= Some(width), "{text}");
        }
        let facts = [(
            "What-stands-before-a-value".into(),
            "and-a-value-that-is-as-long".into(),
        )];
        let text = of_facts(&facts, Medium::Terminal(40));
        assert_eq!(
            text,
            "What-stands-before-a-value:\nand-a-value-that-is-as-long\n"
        );
        let list = Block::List(vec!["Everything stands in its place.".into()]);
        let text = of_block(&list, Medium::Terminal(20), Extent::All);
        assert_eq!(text, "- Everything stands\n  in its place.\n");
    }
}
