//! The paper's Tables 2 and 3 on the data that are there, for a comparison side by side.
//!
//! Li, Wang and Wang (ISSTA 2023), section 7. The paper gives neither its splits nor its mutations.
//! Here the rows are shuffled by the seed and the last ones are the test inputs (15 of Iris, 180 of
//! Digits, 1,000 of Letter; MNIST keeps its own test set). Then n' rows, 1 <= n' <= n drawn by the
//! seed, are added: copies of random rows with one random feature taken from another row and
//! another label. Digits is the set of 1,797 that the paper uses (the UCI test file). MNIST is
//! reduced to 36 features: the averages of the central 6 x 6 blocks of 4 x 4 pixels, that is of the
//! central 24 x 24 of 28 x 28 pixels.

use std::path::{Path, PathBuf};

use rand::RngExt;
use serde::Serialize;

use crate::published::{Case, Source};
use probity_data::idx::Reduction;
use probity_data::numbers::{Numbers, NumbersOptions};
use probity_data::schema::Format;
use probity_knn::inputs::{Inputs, RobustnessError};
use probity_run::stream::{Purpose, permutation, stream};

/// The figures that the paper reports for one row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PaperFigures {
    /// The certified test inputs, in percent of all.
    pub certified: f64,
    /// The falsified test inputs, in percent of all.
    pub falsified: f64,
    /// The undecided test inputs, in percent of all.
    pub unknown: f64,
    /// The seconds for each test input.
    pub seconds: f64,
}

/// A row of Table 2 or 3: a data set with the paper's figures.
pub type PaperCase = Case<PaperRow>;

/// What the paper says of a row of Table 2 or 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaperRow {
    /// The bound n on the number of poisoned rows.
    pub poison: usize,
    /// The figures that the paper reports for its own method.
    pub figures: PaperFigures,
}

/// The number of test inputs of MNIST that are analysed unless told otherwise.
pub const MNIST_INPUTS: usize = 100;

const IRIS: Source = Source::Files(&["iris/iris.data"]);
const DIGITS: Source = Source::Files(&["digits/optdigits.tes"]);
const LETTER: Source = Source::Files(&["letter/letter-recognition.data"]);
const MNIST: Source = Source::Files(&[
    "mnist/train-images-idx3-ubyte",
    "mnist/train-labels-idx1-ubyte",
    "mnist/t10k-images-idx3-ubyte",
    "mnist/t10k-labels-idx1-ubyte",
]);

const fn case(
    name: &'static str,
    poison: usize,
    [certified, falsified, unknown, seconds]: [f64; 4],
    source: Source,
) -> PaperCase {
    let figures = PaperFigures {
        certified,
        falsified,
        unknown,
        seconds,
    };
    Case {
        name,
        source,
        paper: PaperRow { poison, figures },
    }
}

/// The rows of Table 2 or 3; empty for other tables.
pub fn paper_table(table: u8) -> Vec<PaperCase> {
    // Table 2 counts inputs: 15 of Iris, 180 of Digits.
    let iris = |count: f64| 100.0 * count / 15.0;
    let digits = |count: f64| 100.0 * count / 180.0;
    match table {
        2 => vec![
            case("iris", 1, [iris(15.0), 0.0, 0.0, 1.0], IRIS),
            case("iris", 2, [iris(14.0), iris(1.0), 0.0, 5.0], IRIS),
            case("iris", 3, [iris(13.0), iris(1.0), iris(1.0), 120.0], IRIS),
            case("digits", 1, [digits(179.0), digits(1.0), 0.0, 3.0], DIGITS),
        ],
        3 => vec![
            case("iris", 3, [86.6, 6.7, 6.7, 120.0], IRIS),
            case("digits", 16, [80.0, 19.0, 1.0, 19.0], DIGITS),
            case("har", 97, [71.8, 26.8, 0.8, 21.0], Source::NotOffered),
            case("letter", 190, [5.6, 94.4, 0.0, 4.0], LETTER),
            case("mnist", 180, [75.0, 23.0, 2.0, 47.0], MNIST),
            case("cifar10", 150, [36.0, 64.0, 0.0, 558.0], Source::NotOffered),
        ],
        _ => Vec::new(),
    }
}

impl PaperCase {
    /// Reads `files`, splits the rows, and adds n' <= n mutated rows; the second value is n'.
    ///
    /// # Errors
    /// When files are not what they should be.
    pub fn inputs(&self, files: &[PathBuf], seed: u64) -> Result<(Inputs, usize), RobustnessError> {
        let (mut train, test) = match (self.name, files) {
            ("iris", [file]) => split(unnamed(file, 4, 0)?, 15, seed),
            ("digits", [file]) => split(unnamed(file, 64, 0)?, 180, seed),
            ("letter", [file]) => split(unnamed(file, 0, 16)?, 1000, seed),
            (_, [images, labels, test_images, test_labels]) => {
                let mut options = NumbersOptions::default();
                options.reduction = Some(Reduction {
                    block: 4,
                    crop: Some(6),
                });
                let images = (images.as_path(), Some(labels.as_path()));
                let test_images = (test_images.as_path(), Some(test_labels.as_path()));
                let train = Numbers::training(images, &options)?;
                let test = Numbers::test(test_images, &options, &train)?;
                (train, test)
            }
            _ => (Numbers::default(), Numbers::default()),
        };
        let inserted = mutate(&mut train, self.paper.poison, seed);
        Ok((Inputs::from_numbers(train, test)?, inserted))
    }
}

/// Reads a file without a header, whose label stands between so many columns of numbers.
fn unnamed(file: &Path, before: usize, after: usize) -> Result<Numbers, RobustnessError> {
    let mut columns: Vec<String> = (0..before + after).map(|at| format!("x{at}")).collect();
    columns.insert(before, "label".to_owned());
    let mut options = NumbersOptions::default();
    options.label = Some("label".to_owned());
    options.format = Format {
        header: false,
        columns,
        ..Format::default()
    };
    Ok(Numbers::read(file, &options)?)
}

/// Shuffles the rows by `seed`, and splits off the last `test` of them.
fn split(all: Numbers, test: usize, seed: u64) -> (Numbers, Numbers) {
    let count = u32::try_from(all.rows()).unwrap_or(u32::MAX);
    let order = permutation(seed, Purpose::Split, 0, count);
    let (train, held_out) = order.split_at(order.len().saturating_sub(test));
    let part = |rows: &[u32]| Numbers {
        source: all.source.clone(),
        columns: all.columns.clone(),
        features: rows
            .iter()
            .flat_map(|&row| all.row(row as usize).iter().copied())
            .collect(),
        labels: rows
            .iter()
            .map(|&row| all.labels[row as usize].clone())
            .collect(),
        numbers: (1..=rows.len() as u64).collect(),
        ..Numbers::default()
    };
    (part(train), part(held_out))
}

/// Adds 1 to `poison` mutated rows, and returns how many.
fn mutate(train: &mut Numbers, poison: usize, seed: u64) -> usize {
    let rows = train.rows();
    let mut labels = train.labels.clone();
    labels.sort_unstable();
    labels.dedup();
    if rows == 0 || train.columns.is_empty() || labels.len() < 2 {
        return 0;
    }
    let inserted = stream(seed, Purpose::Poison, 0, 0).random_range(1..=poison.max(1));
    for number in 1..=inserted {
        let mut draw = stream(seed, Purpose::Poison, number as u64, 0);
        let original = draw.random_range(0..rows);
        let mut row = train.row(original).to_vec();
        let column = draw.random_range(0..row.len());
        row[column] = train.row(draw.random_range(0..rows))[column];
        let others: Vec<&String> = labels
            .iter()
            .filter(|label| **label != train.labels[original])
            .collect();
        let label = others[draw.random_range(0..others.len())].clone();
        train.features.extend(row);
        train.labels.push(label);
        train.numbers.push((rows + number) as u64);
    }
    inserted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::Absent;

    #[test]
    fn the_tables_are_the_paper_s() {
        assert_eq!(paper_table(2).len(), 4);
        assert_eq!(paper_table(3).len(), 6);
        assert!(paper_table(4).is_empty());
        for case in paper_table(2) {
            let paper = case.paper.figures;
            assert!((paper.certified + paper.falsified + paper.unknown - 100.0).abs() < 1e-9);
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let nowhere = [PathBuf::from("/nonexistent")];
        let iris = paper_table(2)[0].find(&nowhere);
        assert_eq!(iris, Err(Absent::Files(vec!["iris/iris.data".to_owned()])));
        assert_eq!(paper_table(3)[2].find(&nowhere), Err(Absent::NotOffered));
    }
}
