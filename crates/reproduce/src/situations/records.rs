//! The applicants of a data set and what they would have been: read, and scaled as the authors do.
//!
//! # The order of sums
//!
//! Counts hang on the last bit of scaled scores (see [`super::paper`]), so columns are summed in the
//! order that gives them: NumPy before version 2.3 reads a column in buffers of 8,192 numbers and
//! adds up the sums of these one by one. Within a buffer, blocks of at most 128 numbers are
//! summed in eight interleaved parts, and halves are added to each other.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::paper::{Protected, Set};
use probity_data::compressed;
use probity_indirect::coordinates::{Cell, Column, Coordinates};

/// Numbers that are summed before their sum is added to the others.
const BUFFER: usize = 8192;
/// Numbers that are summed without halving.
const BLOCK: usize = 128;
/// Parts in which a block is summed.
const PARTS: usize = 8;

/// The weights of grades and of the test in the decision of the law school.
const WEIGHTS: [f64; 2] = [0.6, 0.4];
/// The score from which on the law school admits.
const LEAST_SCORE: f64 = 20.8;

/// The applicants of a data set.
#[derive(Debug)]
pub struct Applicants {
    /// The applicants.
    pub people: Table,
    /// The applicants, had they not been in the protected group.
    pub counterfactuals: Table,
    /// Whether each is in the protected group.
    pub members: Vec<bool>,
}

/// A table of applicants.
#[derive(Debug)]
pub struct Table {
    /// Whether each is decided unfavourably.
    pub unfavourable: Vec<bool>,
    numbers: [Vec<f64>; 2],
    /// The sex, where it is compared; else one level.
    levels: Vec<Cell>,
}

impl Applicants {
    /// Reads the files of the people and of their counterfactuals.
    ///
    /// # Errors
    /// When they cannot be read, or are not about the same people.
    pub fn read(set: Set, files: &[PathBuf]) -> anyhow::Result<Applicants> {
        let [people, counterfactuals] = files else {
            bail!("two files are expected");
        };
        let (people, counterfactuals) = (Cells::read(people)?, Cells::read(counterfactuals)?);
        if people.rows.len() != counterfactuals.rows.len() {
            bail!(
                "{} has {} rows, where {} are expected",
                counterfactuals.file.display(),
                counterfactuals.rows.len(),
                people.rows.len()
            );
        }
        match set {
            Set::Loans => loans(&people, &counterfactuals),
            Set::LawSchool(protected) => law_school(protected, &people, &counterfactuals),
        }
    }
}

impl Table {
    fn new(numbers: [Vec<f64>; 2], levels: Vec<Cell>, unfavourable: Vec<bool>) -> Table {
        Table {
            unfavourable,
            numbers,
            levels,
        }
    }

    /// Scales every column of numbers, as it is by now, to mean 0 and standard deviation 1.
    pub fn standardise(&mut self) {
        self.numbers.iter_mut().for_each(|column| scale(column));
    }

    /// Returns the coordinates of the applicants, by three attributes.
    pub fn coordinates(&self) -> Coordinates {
        let numbers = self.numbers.iter();
        let numbers = numbers.map(|column| Column::ordered("number", column.clone()));
        // In the authors' order of attributes: a distance is a sum in that order.
        let levels = Column::new("level", 1.0, &self.levels);
        Coordinates::new([levels].into_iter().chain(numbers).collect())
    }
}

fn loans(people: &Cells, counterfactuals: &Cells) -> anyhow::Result<Applicants> {
    let table = |cells: &Cells| -> anyhow::Result<Table> {
        let numbers = [
            cells.numbers("AnnualSalary")?,
            cells.numbers("AccountBalance")?,
        ];
        let approvals = cells.numbers("LoanApproval")?;
        let refused = approvals.iter().map(|&it| it == -1.0).collect();
        Ok(Table::new(numbers, one_level(cells), refused))
    };
    let genders = people.numbers("Gender")?;
    Ok(Applicants {
        people: table(people)?,
        counterfactuals: table(counterfactuals)?,
        members: genders.iter().map(|&it| it == 1.0).collect(),
    })
}

fn law_school(
    protected: Protected,
    people: &Cells,
    counterfactuals: &Cells,
) -> anyhow::Result<Applicants> {
    let women = people.are("sex", "Female")?;
    let non_white = people.are("race_nonwhite", "NonWhite")?;
    let levels = match protected {
        Protected::Race => women.iter().map(|&it| Cell::Level(i32::from(it))).collect(),
        Protected::Sex | Protected::Both => one_level(people),
    };
    let table = |cells: &Cells, names: [&str; 2]| -> anyhow::Result<Table> {
        let (lsat, ugpa) = (cells.numbers(names[0])?, cells.numbers(names[1])?);
        let scores = ugpa.iter().zip(&lsat);
        let scores = scores.map(|(ugpa, lsat)| WEIGHTS[0] * ugpa + WEIGHTS[1] * lsat);
        let refused = scores.map(|score| score < LEAST_SCORE).collect();
        Ok(Table::new([lsat, ugpa], levels.clone(), refused))
    };
    let both = women
        .iter()
        .zip(&non_white)
        .map(|(a, b)| *a && *b)
        .collect();
    Ok(Applicants {
        people: table(people, ["LSAT", "UGPA"])?,
        counterfactuals: table(counterfactuals, ["scf_LSAT", "scf_UGPA"])?,
        members: match protected {
            Protected::Sex => women,
            Protected::Race => non_white,
            Protected::Both => both,
        },
    })
}

/// Returns one level for everybody: an attribute that counts, and does not tell people apart.
fn one_level(cells: &Cells) -> Vec<Cell> {
    vec![Cell::Level(0); cells.rows.len()]
}

/// The cells of a file, which are separated by bars.
struct Cells {
    file: PathBuf,
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Cells {
    fn read(file: &Path) -> anyhow::Result<Cells> {
        let unreadable = || format!("cannot read {}", file.display());
        let text = BufReader::new(compressed::open(file).with_context(unreadable)?);
        let mut rows = Vec::new();
        for line in text.lines() {
            let line = line.with_context(unreadable)?;
            let cells = line.split('|').map(|cell| cell.trim_matches('"'));
            rows.push(cells.map(str::to_owned).collect::<Vec<String>>());
        }
        let mut rows = rows.into_iter();
        let names = rows.next().unwrap_or_default();
        let rows: Vec<Vec<String>> = rows.collect();
        // R writes the names of rows before the others, and no name above them.
        let is_whole =
            |row: &Vec<String>| [0, 1].map(|more| names.len() + more).contains(&row.len());
        if let Some(place) = rows.iter().position(|row| !is_whole(row)) {
            bail!(
                "{}, line {}: {} fields where {} are expected",
                file.display(),
                place + 2,
                rows[place].len(),
                names.len()
            );
        }
        Ok(Cells {
            file: file.to_owned(),
            names,
            rows,
        })
    }

    /// Returns the cells of the column `name`.
    fn column(&self, name: &str) -> anyhow::Result<impl Iterator<Item = &str>> {
        let place = self.names.iter().position(|other| other == name);
        let Some(place) = place else {
            bail!("{} has no column '{name}'", self.file.display());
        };
        let from_the_end = self.names.len() - place;
        let rows = self.rows.iter();
        Ok(rows.map(move |row| row[row.len() - from_the_end].as_str()))
    }

    fn numbers(&self, name: &str) -> anyhow::Result<Vec<f64>> {
        let number = |cell: &str| {
            cell.parse::<f64>()
                .with_context(|| format!("{}, column '{name}': '{cell}'", self.file.display()))
        };
        self.column(name)?.map(number).collect()
    }

    /// Returns which cells of the column `name` are `value`.
    fn are(&self, name: &str, value: &str) -> anyhow::Result<Vec<bool>> {
        Ok(self.column(name)?.map(|cell| cell == value).collect())
    }
}

/// Scales a column to mean 0 and standard deviation 1.
fn scale(column: &mut [f64]) {
    let n = column.len() as f64;
    let mean = total(column) / n;
    for value in column.iter_mut() {
        *value -= mean;
    }
    let squares: Vec<f64> = column.iter().map(|value| value * value).collect();
    let deviation = (total(&squares) / n).sqrt();
    for value in column.iter_mut() {
        *value /= deviation;
    }
}

/// Sums numbers in the order of the published counts: see the head of this module.
fn total(numbers: &[f64]) -> f64 {
    numbers
        .chunks(BUFFER)
        .fold(0.0, |sum, chunk| sum + pairwise(chunk))
}

fn pairwise(numbers: &[f64]) -> f64 {
    if numbers.len() < PARTS {
        return numbers.iter().fold(-0.0, |sum, number| sum + number);
    }
    if numbers.len() > BLOCK {
        let half = numbers.len() / 2;
        let (first, second) = numbers.split_at(half - half % PARTS);
        return pairwise(first) + pairwise(second);
    }
    let (whole, rest) = numbers.split_at(numbers.len() - numbers.len() % PARTS);
    let mut parts = [-0.0; PARTS];
    for eight in whole.chunks_exact(PARTS) {
        for (part, number) in parts.iter_mut().zip(eight) {
            *part += number;
        }
    }
    let [a, b, c, d, e, f, g, h] = parts;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    rest.iter().fold(sum, |sum, number| sum + number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of NumPy 1.23.5, along the first axis of an array in the order of columns.
    #[test]
    fn sums_are_those_of_numpy_before_2_3() {
        for (n, bits) in SUMS {
            let numbers: Vec<f64> = (1..=n).map(|i| 1.0 / f64::from(i)).collect();
            assert_eq!(total(&numbers).to_bits(), bits, "{n} numbers");
        }
    }

    const SUMS: [(u32, u64); 6] = [
        (5, 0x4002_4444_4444_4444),
        (100, 0x4014_bfdf_e459_1243),
        (1_000, 0x401d_f11f_45f4_e61a),
        (4_993, 0x4022_2fab_da77_4492),
        (21_790, 0x4025_2205_158a_b7d3),
        (50_000, 0x4026_cb44_1a05_1160),
    ];

    #[test]
    fn scaled_columns_have_mean_0_and_deviation_1() {
        let mut column: Vec<f64> = (0..10_000).map(|i| f64::from(i * i % 977)).collect();
        scale(&mut column);
        let n = column.len() as f64;
        assert!((total(&column) / n).abs() < 1e-12);
        let squares: f64 = column.iter().map(|value| value * value).sum();
        assert!((squares / n - 1.0).abs() < 1e-12);
    }

    #[test]
    fn names_of_rows_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("table.csv");
        std::fs::write(&file, "\"a\"|\"b\"\n\"1\"|2.5|\"x\"\n\"2\"|3|\"y\"\n").unwrap();
        let cells = Cells::read(&file).unwrap();
        assert_eq!(cells.numbers("a").unwrap(), [2.5, 3.0]);
        assert_eq!(cells.are("b", "y").unwrap(), [false, true]);
        assert!(cells.numbers("b").is_err() && cells.are("c", "y").is_err());
        std::fs::write(&file, "a|b\n1\n").unwrap();
        assert!(Cells::read(&file).is_err());
    }
}
