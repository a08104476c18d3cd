//! The records of the figures: drawn from a distribution or from a published file.

use std::path::{Path, PathBuf};

use rand::RngExt;

use super::paper::{PaperData, PaperFigure, Set};
use probity_data::read::{ReadError, Records as TableRecords};
use probity_data::schema::Format;
use probity_privacy::records::{DeclaredColumn, Grid};
use probity_privacy::source::SourceError;
use probity_run::stream::{Purpose, permutation, stream};

impl PaperFigure {
    /// Draws the records by `seed`, from the file of the figure if it has one.
    ///
    /// # Errors
    /// When a file cannot be read, or has too few records.
    pub fn data(&self, files: &[PathBuf], seed: u64) -> Result<PaperData, SourceError> {
        let file = files.first().map_or(Path::new(""), PathBuf::as_path);
        let (mut values, columns) = match self.paper.set {
            Set::Synthetic { columns } => (self.synthetic(columns, seed), columns),
            Set::Adult => (self.drawn(adult(file)?, file, seed)?, 7),
            Set::Ionosphere => (self.drawn(ionosphere(file)?, file, seed)?, 34),
        };
        let synthetic = matches!(self.paper.set, Set::Synthetic { .. });
        if !synthetic {
            standardise(&mut values, columns);
        }
        let declared = (0..columns)
            .map(|column| span(&values, column, columns))
            .collect();
        let grid = Grid::new(declared)?;
        Ok(PaperData {
            records: grid.place(&values)?,
            grid,
            true_columns: (synthetic && columns > 2).then(|| vec![0, 1]),
        })
    }

    fn synthetic(&self, columns: usize, seed: u64) -> Vec<f64> {
        let rows = self.paper.inliers + self.paper.outliers;
        let at = |row: usize, column: usize| {
            let deviate = deviate(seed, row as u64, column as u64);
            match row >= self.paper.inliers && column < 2 {
                true => 20.0 + 10.0 * deviate,
                false => deviate,
            }
        };
        (0..rows)
            .flat_map(|row| (0..columns).map(move |column| at(row, column)))
            .collect()
    }

    /// Draws as many records of each kind as the paper has, in an order by the seed.
    fn drawn(
        &self,
        labelled: Vec<(Vec<f64>, bool)>,
        file: &Path,
        seed: u64,
    ) -> Result<Vec<f64>, SourceError> {
        let order = permutation(seed, Purpose::OutlierData, 0, labelled.len() as u32);
        let mut values = Vec::new();
        for (positive, wanted) in [(true, self.paper.inliers), (false, self.paper.outliers)] {
            let of_kind = order.iter().map(|&at| &labelled[at as usize]);
            let rows: Vec<_> = of_kind
                .filter(|row| row.1 == positive)
                .take(wanted)
                .collect();
            if rows.len() < wanted {
                return Err(ReadError::Empty {
                    file: file.to_owned(),
                    expected: "as many records of each kind as the paper has",
                }
                .into());
            }
            values.extend(rows.into_iter().flat_map(|row| row.0.iter().copied()));
        }
        Ok(values)
    }
}

fn adult(file: &Path) -> Result<Vec<(Vec<f64>, bool)>, SourceError> {
    const RACES: [&str; 5] = [
        "White",
        "Black",
        "Asian-Pac-Islander",
        "Amer-Indian-Eskimo",
        "Other",
    ];
    read(file, 15, |cells| {
        let value = |at: usize| -> Option<f64> {
            match at {
                8 => Some(RACES.iter().position(|race| *race == cells[8])? as f64),
                9 => Some(f64::from(u8::from(cells[9] == "Male"))),
                _ => cells[at].parse().ok(),
            }
        };
        let row: Option<Vec<f64>> = [0, 4, 8, 9, 10, 11, 12].into_iter().map(value).collect();
        Some((row?, cells[14].starts_with(">50K")))
    })
}

fn ionosphere(file: &Path) -> Result<Vec<(Vec<f64>, bool)>, SourceError> {
    read(file, 35, |cells| {
        let numbers = cells[..34].iter().map(|cell| cell.parse().ok());
        Some((numbers.collect::<Option<Vec<f64>>>()?, cells[34] == "g"))
    })
}

/// Reads a file without a header; a record that `take` refuses makes the file invalid.
fn read(
    file: &Path,
    width: usize,
    take: impl Fn(&[&str]) -> Option<(Vec<f64>, bool)>,
) -> Result<Vec<(Vec<f64>, bool)>, SourceError> {
    let format = Format {
        header: false,
        columns: (0..width).map(|at| at.to_string()).collect(),
        ..Format::default()
    };
    let mut records = TableRecords::open(file, &format)?;
    let mut rows = Vec::new();
    while let Some(record) = records.advance()? {
        let cells: Result<Vec<&str>, _> = (0..width).map(|at| record.cell(at)).collect();
        let row = take(&cells?).ok_or_else(|| ReadError::Csv {
            file: file.to_owned(),
            problem: format!("{} is not a record of the published file", record.place()),
        })?;
        rows.push(row);
    }
    Ok(rows)
}

/// A standard normal deviate for simulation, by the method of Box and Muller.
fn deviate(seed: u64, row: u64, column: u64) -> f64 {
    let mut draw = stream(seed, Purpose::OutlierData, row + 1, column);
    let (first, second): (f64, f64) = (1.0 - draw.random::<f64>(), draw.random());
    (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}

/// Scales every column that is not constant to mean 0 and variance 1.
fn standardise(values: &mut [f64], columns: usize) {
    let rows = (values.len() / columns) as f64;
    for column in 0..columns {
        let all: Vec<f64> = of_column(values, column, columns).collect();
        let mean = all.iter().sum::<f64>() / rows;
        let variance = all.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / rows;
        let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        for value in values.iter_mut().skip(column).step_by(columns) {
            *value = (*value - mean) / deviation;
        }
    }
}

fn span(values: &[f64], column: usize, columns: usize) -> DeclaredColumn {
    let min = of_column(values, column, columns).fold(f64::INFINITY, f64::min);
    DeclaredColumn {
        name: column.to_string(),
        min,
        max: of_column(values, column, columns).fold(min + 1.0, f64::max),
        unit: 1.0,
    }
}

/// The values of a column.
fn of_column(values: &[f64], column: usize, columns: usize) -> impl Iterator<Item = f64> {
    values.iter().skip(column).step_by(columns).copied()
}
