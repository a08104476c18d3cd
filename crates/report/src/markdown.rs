//! A document as Markdown (CommonMark with tables).

use super::compose::document;
use super::document::{Block, Document, PairCell, PairTable, Piece, Section, Table};
use super::model::Report;
use super::text::Text;

/// Pairs of each audit.
const PAIRS: usize = 20;

impl Report {
    /// The report as Markdown: the same sentences and figures as the page, tables in place of
    /// charts, and few pairs.
    pub fn to_markdown(&self) -> String {
        render(&document(self, PAIRS))
    }
}

/// `document` as Markdown.
pub(super) fn render(document: &Document) -> String {
    let is_single = document.sections.len() == 1;
    let mut text = format!("# {}\n", escaped(&document.title));
    for section in &document.sections {
        text.push_str(&of_section(section, is_single));
    }
    text
}

fn of_section(section: &Section, is_single: bool) -> String {
    let mut text = String::new();
    if !is_single {
        text.push_str(&format!("\n## {}\n", escaped(&section.title)));
    }
    if let Some(outcome) = &section.outcome {
        text.push_str(&format!(
            "\n**{}**: {}\n",
            outcome.word(),
            escaped(&outcome.text)
        ));
    }
    for (place, sentence) in section.verdict.iter().enumerate() {
        let sentence = escaped(sentence);
        text.push_str(&if place == 0 {
            format!("\n**{sentence}**\n")
        } else {
            format!("\n{sentence}\n")
        });
    }
    let level = if is_single { "##" } else { "###" };
    for part in &section.parts {
        text.push_str(&format!("\n{level} {}\n", escaped(&part.title)));
        for block in &part.blocks {
            text.push('\n');
            text.push_str(&of_block(block));
        }
    }
    text
}

fn of_block(block: &Block) -> String {
    match block {
        Block::Paragraph(text) => format!("{}\n", escaped(text)),
        Block::List(sentences) => sentences
            .iter()
            .map(|sentence| format!("- {}\n", escaped(sentence)))
            .collect(),
        Block::Facts(facts) => of_facts(facts),
        Block::Folded { title, facts } => format!("{}:\n\n{}", escaped(title), of_facts(facts)),
        Block::Table(table) => of_table(table),
        Block::Figure(figure) => {
            format!(
                "{}\n\n{}",
                escaped(&figure.description),
                of_table(&figure.data)
            )
        }
        Block::Pairs(pairs) => of_pairs(pairs),
        Block::Command(text) => code_block(text),
    }
}

/// A block of code, fenced by more backticks than it holds in a row.
pub(super) fn code_block(text: &Text) -> String {
    let longest = text
        .as_str()
        .split(|character| character != '`')
        .map(str::len)
        .max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}sh\n{text}\n{fence}\n")
}

fn of_facts(facts: &[(Text, Text)]) -> String {
    let fact = |(name, value): &(Text, Text)| format!("- {}: {}\n", escaped(name), escaped(value));
    facts.iter().map(fact).collect()
}

fn of_table(table: &Table) -> String {
    let columns = table.columns();
    let header: Vec<String> = columns.iter().map(|(name, _)| escaped(name)).collect();
    let at_right: Vec<bool> = columns.iter().map(|(_, is_figure)| *is_figure).collect();
    let rows = table
        .rows
        .iter()
        .map(|row| row.iter().map(escaped).collect());
    format!(
        "{}:\n\n{}",
        escaped(&table.caption).trim_end_matches('.'),
        aligned(&header, &at_right, rows)
    )
}

/// Rows of cells that are Markdown already.
pub(super) fn grid(header: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    aligned(header, &vec![false; header.len()], rows)
}

/// Writes a table with some of the columns at the right.
fn aligned(
    header: &[String],
    at_right: &[bool],
    rows: impl Iterator<Item = Vec<String>>,
) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header);
    let rules = at_right.iter();
    let rules: String = rules
        .map(|&at_right| if at_right { " ---: |" } else { " --- |" })
        .collect();
    text.push_str(&format!("|{rules}\n"));
    for row in rows {
        text.push_str(&line(&row));
    }
    text
}

fn of_pairs(pairs: &PairTable) -> String {
    let header: Vec<String> = pairs.header.iter().map(escaped).collect();
    let rows = pairs.rows.iter().map(|row| {
        let cells = row.cells.iter().map(of_cell);
        std::iter::once(row.number.to_string())
            .chain(cells)
            .collect()
    });
    format!("{}\n\n{}", escaped(&pairs.caption), grid(&header, rows))
}

fn of_cell(cell: &PairCell) -> String {
    match cell {
        PairCell::Same(text) | PairCell::Long(text) => escaped(text),
        PairCell::Changed(from, to) => format!("**{} → {}**", escaped(from), escaped(to)),
        PairCell::Pieces(pieces) => pieces.iter().map(of_piece).collect(),
    }
}

fn of_piece(piece: &Piece) -> String {
    match piece {
        Piece::Plain(text) => escaped(text),
        Piece::Marked(text) if text.as_str().is_empty() => String::new(),
        Piece::Marked(text) => format!("**{}**", escaped(text)),
    }
}

/// `text` without a meaning to Markdown or HTML.
pub(super) fn escaped(text: &Text) -> String {
    let mut clean = String::with_capacity(text.as_str().len());
    for character in text.as_str().chars() {
        match character {
            '<' => clean.push_str("&lt;"),
            '>' => clean.push_str("&gt;"),
            '&' => clean.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' | '$' => {
                clean.push('\\');
                clean.push(character);
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_the_data_has_no_meaning() {
        let text = Text::new("<b>a</b> | *x* [y](z) `c`");
        assert_eq!(
            escaped(&text),
            "&lt;b&gt;a&lt;/b&gt; \\| \\*x\\* \\[y\\](z) \\`c\\`"
        );
        assert_eq!(code_block(&Text::new("a ``` b")), "````sh\na ``` b\n````\n");
    }
}
