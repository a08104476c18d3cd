//! Tables made to a published layout: the names, order, codes and marks of their columns.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a column holds.
pub enum Cells {
    /// One of some words, the first one most often.
    Words(&'static [&'static str]),
    /// Whole numbers from one to another, by steps.
    Steps(i64, i64, i64),
    /// Numbers from one to another, with so many digits after the point.
    Decimal(f64, f64, usize),
    /// A number of its own for each row, from the first one on.
    Count(i64),
    /// A text of its own for each row, after this word.
    Name(&'static str),
    /// The cells, but for one in so many, which holds one of these marks.
    Marked(&'static Cells, u32, &'static [&'static str]),
}

/// A column: its name, and what it holds.
pub type Column = (&'static str, Cells);

impl Cells {
    /// The cell of `row`, and where it lies among the values, from 0 to 1.
    fn cell(&self, row: i64, random: &mut Xoshiro256PlusPlus) -> (String, f64) {
        match self {
            Cells::Words(words) => {
                let (a, b) = (
                    random.random_range(0..words.len()),
                    random.random_range(0..words.len()),
                );
                let word = a.min(b);
                (words[word].to_owned(), word as f64 / words.len() as f64)
            }
            &Cells::Steps(from, to, step) => {
                let steps = (to - from) / step;
                let taken = random.random_range(0..=steps);
                (
                    (from + taken * step).to_string(),
                    taken as f64 / steps as f64,
                )
            }
            &Cells::Decimal(from, to, digits) => {
                let at: f64 = random.random();
                (format!("{:.digits$}", from + (to - from) * at), at)
            }
            Cells::Count(first) => ((first + row).to_string(), 0.5),
            Cells::Name(word) => (format!("{word} {row:05x}"), 0.5),
            Cells::Marked(cells, every, marks) => match random.random_range(0..*every) {
                0 => (marks[random.random_range(0..marks.len())].to_owned(), 0.5),
                _ => cells.cell(row, random),
            },
        }
    }
}

/// A table of `rows` rows, with a header or without. `outcome` makes the cell of the label, whose place
/// among the columns is given, from how high the other cells lie, from 0 to 1.
pub fn table(
    columns: &[Column],
    label: (usize, &str, fn(f64) -> String),
    (separator, header): (&str, bool),
    rows: i64,
) -> String {
    let (place, label, outcome) = label;
    let mut names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    names.insert(place, label);
    let mut text = String::new();
    if header {
        text += &(names.join(separator) + "\n");
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    for row in 0..rows {
        let cells = columns
            .iter()
            .map(|(_, cells)| cells.cell(row, &mut random));
        let (mut cells, places): (Vec<_>, Vec<f64>) = cells.unzip();
        // Columns of one name hold the same.
        for at in 0..cells.len() {
            let first = columns.iter().position(|(name, _)| *name == columns[at].0);
            cells[at] = first.map_or_else(String::new, |first| cells[first].clone());
        }
        // Every other column counts, and chance for a quarter.
        let (sum, count) = places
            .iter()
            .step_by(2)
            .fold((0.0, 0.0), |(sum, count), place| (sum + place, count + 1.0));
        let chance: f64 = random.random();
        // Sums of many numbers lie close together.
        let spread = (sum / count - 0.45) * f64::sqrt(count) + 0.5;
        cells.insert(
            place,
            outcome((0.75 * spread + 0.25 * chance).clamp(0.0, 1.0)),
        );
        text += &(cells.join(separator) + "\n");
    }
    text
}
