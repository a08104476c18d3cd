//! What a report says, in the order it says it, before it is HTML or Markdown.
//!
//! Everything is text, a table or a figure with the table behind it, so that nothing is said by a
//! picture alone.

use std::collections::BTreeSet;

use super::chart::{self, Chart};
use super::text::{Text, is_figure};
use super::verdict::Verdict;

/// Whether cells of a column are figures: one has digits, and all that have are figures.
fn are_figures<'t>(cells: impl Iterator<Item = &'t Text>) -> bool {
    let digits = |text: &&Text| text.as_str().contains(|c: char| c.is_ascii_digit());
    let mut cells = cells.filter(digits).peekable();
    cells.peek().is_some() && cells.all(|cell| is_figure(cell.as_str()))
}

/// Rows of figures that stand beside their chart without being asked for.
const FEW_ROWS: usize = 12;

/// A whole report.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The title of the document.
    pub title: Text,
    /// One for each run, and one for comparisons of runs.
    pub sections: Vec<Section>,
}

/// What is said of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The name of its place in the page.
    pub id: String,
    /// The heading of the section.
    pub title: Text,
    /// Whether what was declared or promised holds, if anything was.
    pub outcome: Option<Outcome>,
    /// The verdict in plain words: the first thing that is read.
    pub verdict: Vec<Text>,
    /// What follows.
    pub parts: Vec<Part>,
}

/// Whether what was declared or promised holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What came of it.
    pub verdict: Verdict,
    /// What was declared, and what was found.
    pub text: Text,
}

impl Outcome {
    /// What came of checking a promise, which holds or does not.
    pub fn from_check(holds: bool, text: impl Into<Text>) -> Outcome {
        let verdict = match holds {
            true => Verdict::Within,
            false => Verdict::Exceeds,
        };
        Outcome::new(verdict, text)
    }

    /// What came of it in words.
    pub fn new(verdict: Verdict, text: impl Into<Text>) -> Outcome {
        let text = text.into();
        Outcome { verdict, text }
    }

    /// With another sentence.
    pub fn and(self, sentence: &str) -> Outcome {
        Outcome::new(self.verdict, format!("{} {sentence}", self.text))
    }

    /// The word that stands before it.
    pub fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Within => "PASS",
            Verdict::Exceeds => "FAIL",
            Verdict::Inconclusive => "NOT SHOWN",
            Verdict::NotApplicable => "NOT APPLICABLE",
        }
    }

    /// The class of its colour.
    pub fn class(&self) -> &'static str {
        match self.verdict {
            Verdict::Within => "pass",
            Verdict::Exceeds => "fail",
            Verdict::Inconclusive | Verdict::NotApplicable => "open",
        }
    }
}

/// One subject of a section.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The heading of the part.
    pub title: Text,
    /// What it says.
    pub blocks: Vec<Block>,
    /// Places of the blocks without which the verdict is not understood: a terminal shows these.
    pub essential: BTreeSet<usize>,
    /// Whether a page shows its heading alone until it is asked for.
    pub is_folded: bool,
}

impl Part {
    /// An empty part.
    pub fn new(title: &str) -> Part {
        Part {
            title: title.into(),
            blocks: Vec::new(),
            essential: BTreeSet::new(),
            is_folded: false,
        }
    }

    /// Folded: for readers who want more than to understand the verdict.
    pub fn folded(self) -> Part {
        Part {
            is_folded: true,
            ..self
        }
    }

    /// What a run does not show.
    pub fn limits<T: Into<Text>>(sentences: impl IntoIterator<Item = T>) -> Part {
        let sentences = sentences.into_iter().map(Into::into);
        Part::new("What this does not say").with(Block::List(sentences.collect()))
    }

    /// Whether its one chart has the width of the page: no other chart and no narrow table has a place
    /// beside it.
    pub fn is_alone(&self) -> bool {
        let beside = self.blocks.iter().filter(|block| match block {
            Block::Figure(_) => true,
            Block::Table(table) => table.is_narrow(),
            _ => false,
        });
        beside.count() == 1
    }

    /// With a paragraph.
    pub fn say(mut self, text: impl Into<Text>) -> Part {
        self.blocks.push(Block::Paragraph(text.into()));
        self
    }

    /// With a block.
    pub fn with(mut self, block: Block) -> Part {
        self.blocks.push(block);
        self
    }

    /// With a block that is shown wherever the verdict is.
    pub fn with_essential(mut self, block: Block) -> Part {
        self.essential.insert(self.blocks.len());
        self.with(block)
    }
}

/// A piece of a part.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph.
    Paragraph(Text),
    /// Sentences, each by itself.
    List(Vec<Text>),
    /// Names and values.
    Facts(Vec<(Text, Text)>),
    /// A table.
    Table(Table),
    /// A chart.
    Figure(Figure),
    /// Pairs to browse.
    Pairs(PairTable),
    /// Names and values that few readers want.
    Folded {
        /// What they are.
        title: Text,
        /// The names and values.
        facts: Vec<(Text, Text)>,
    },
    /// A command to type.
    Command(Text),
}

impl Block {
    /// A chart with what it shows in words and as a table, whose caption is also its title.
    pub fn figure(
        chart: &impl Chart,
        id: String,
        description: impl Into<Text>,
        data: Table,
    ) -> Block {
        Block::titled_figure(chart, id, data.caption.clone(), description, data)
    }

    /// A chart with a title other than that of its table.
    pub fn titled_figure(
        chart: &impl Chart,
        id: String,
        title: impl Into<Text>,
        description: impl Into<Text>,
        data: Table,
    ) -> Block {
        let (title, description) = (title.into(), description.into());
        Block::Figure(Figure {
            svg: chart::part(chart, &id, (&title, &description)),
            id,
            title,
            description,
            data,
        })
    }
}

/// A table whose first column names its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub caption: Text,
    /// Names of the columns.
    pub header: Vec<Text>,
    /// The rows.
    pub rows: Vec<Vec<Text>>,
}

impl Table {
    /// A table.
    pub fn new(caption: impl Into<Text>, header: &[&str], rows: Vec<Vec<String>>) -> Table {
        Table {
            caption: caption.into(),
            header: header.iter().map(|&name| name.into()).collect(),
            rows: rows
                .into_iter()
                .map(|row| row.into_iter().map(Text::from).collect())
                .collect(),
        }
    }

    /// The columns, and which of them hold figures, which stand at the right: all of their cells are
    /// some, or say in words that there is none.
    pub fn columns(&self) -> Vec<(&Text, bool)> {
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        // The first column names the rows.
        let columns = self.header.iter().enumerate();
        let columns = columns.map(|(place, name)| (name, place > 0 && are_figures(cells(place))));
        columns.collect()
    }

    /// Whether it has a place beside something else.
    pub fn is_narrow(&self) -> bool {
        self.header.len() <= 4
    }
}

/// A chart with what it shows in words and as a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The name of its place in the page.
    pub id: String,
    /// The title of the figure.
    pub title: Text,
    /// What is to be seen, for those who do not see it.
    pub description: Text,
    /// The elements of the SVG, escaped.
    pub svg: String,
    /// The figures behind it.
    pub data: Table,
}

impl Figure {
    /// Whether its figures are so few that they are shown without being asked for.
    pub fn is_few(&self) -> bool {
        self.data.rows.len() <= FEW_ROWS
    }
}

/// Pairs of inputs, the differences marked.
#[derive(Debug, Clone, PartialEq)]
pub struct PairTable {
    /// The name of its place in the page.
    pub id: String,
    /// What it shows.
    pub caption: Text,
    /// Names of the columns.
    pub header: Vec<Text>,
    /// What pairs can be filtered by: attributes.
    pub attributes: Vec<Text>,
    /// Whether they can be filtered and sorted by how plausible they are.
    pub has_plausibility: bool,
    /// What their inputs are, where they can be filtered by whether these are as they were in the file.
    pub unmodified: Option<&'static str>,
    /// Whether they come in the order of the samples file, the worst first.
    pub are_ranked: bool,
    /// The pairs.
    pub rows: Vec<PairRow>,
}

impl PairTable {
    /// The columns, and which of them hold figures that are the same on both sides.
    pub fn columns(&self) -> Vec<(&Text, bool)> {
        let is_one = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
            let texts: Option<Vec<&Text>> = cells
                .map(|cell| match cell {
                    PairCell::Same(text) => Some(text),
                    _ => None,
                })
                .collect();
            texts.is_some_and(|texts| are_figures(texts.into_iter()))
        };
        // The first column, the number of the pair, is no cell.
        let columns = self.header.iter().enumerate();
        let columns = columns.map(|(place, name)| (name, place > 0 && is_one(place - 1)));
        columns.collect()
    }
}

/// One pair.
#[derive(Debug, Clone, PartialEq)]
pub struct PairRow {
    /// The number of the pair in the samples file, from 1.
    pub number: u64,
    /// How far the score moves.
    pub gap: f64,
    /// Which attributes differ: places in [`PairTable::attributes`].
    pub attributes: Vec<usize>,
    /// Share of the real rows that are no likelier, where it is known.
    pub plausibility: Option<f64>,
    /// Whether its first side is as it was in the file.
    pub is_unmodified: bool,
    /// What is shown after the number.
    pub cells: Vec<PairCell>,
}

impl PairRow {
    /// The places of its attributes with blanks between them.
    pub fn places(&self) -> String {
        let places: Vec<String> = self.attributes.iter().map(usize::to_string).collect();
        places.join(" ")
    }

    /// The gap, for sorting.
    pub fn sortable_gap(&self) -> String {
        format!("{:.6}", self.gap)
    }
}

/// A cell of a pair.
#[derive(Debug, Clone, PartialEq)]
pub enum PairCell {
    /// A value that is the same on both sides.
    Same(Text),
    /// Another value on each side.
    Changed(Text, Text),
    /// A long value that is the same on both sides.
    Long(Text),
    /// A text in pieces.
    Pieces(Vec<Piece>),
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// What stands on both sides.
    Plain(Text),
    /// What differs.
    Marked(Text),
}
