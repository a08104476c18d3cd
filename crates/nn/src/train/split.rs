//! The split of rows into those that train, validate and test.

use super::TrainError;
use super::options::{Learning, TableOptions};
use probity_data::schema::Schema;
use probity_data::table::Table;
use probity_run::stream::{Purpose, permutation};

/// The rows that train, validate and test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The rows to train on.
    pub train: Vec<u32>,
    /// The rows to validate on.
    pub validation: Vec<u32>,
    /// The rows to test on.
    pub test: Vec<u32>,
}

impl Split {
    /// Deals `rows` rows by the keyed order of the seed, a share `validation` of them to validate
    /// on.
    pub(super) fn new(rows: usize, learning: &Learning, validation: f64) -> Split {
        let mut order = permutation(learning.seed, Purpose::Split, 0, rows as u32);
        let test = order.split_off(rows - (rows as f64 * learning.test).round() as usize);
        let kept = order.len();
        let validation = (rows as f64 * validation).round() as usize;
        let validation = order.split_off(kept.saturating_sub(validation));
        Split {
            train: order,
            validation,
            test,
        }
    }
}

/// Checks `options` and deals the rows of `table`.
///
/// # Errors
/// See [`check_split`].
pub fn plan_split(
    table: &Table,
    schema: &Schema,
    options: &TableOptions,
) -> Result<Split, TrainError> {
    let split = options.split(table.rows());
    check_split(table, schema, options, &split)?;
    Ok(split)
}

/// Checks `options`, and the rows of `table` as they were dealt.
///
/// # Errors
/// Options that do not fit, or a training part without two classes or two numbers.
pub fn check_split(
    table: &Table,
    schema: &Schema,
    options: &TableOptions,
    split: &Split,
) -> Result<(), TrainError> {
    options.check_label(&schema.label)?;
    match schema.label.is_number() {
        true => spread_of(table.targets(), &split.train).map(drop)?,
        false => {
            let classes = schema.label.classes.len();
            count_classes(table.labels(), &split.train, classes).map(drop)?;
        }
    }
    Ok(())
}

/// Computes the mean and the deviation of the numbers of the rows that train, in the 32 bits in which
/// a network learns them; at least two must differ.
pub(super) fn spread_of(targets: &[f64], train: &[u32]) -> Result<(f64, f64), TrainError> {
    let of = |&row: &u32| f64::from(targets[row as usize] as f32);
    let rows = train.len() as f64;
    let mean = train.iter().map(of).sum::<f64>() / rows;
    let squares = train.iter().map(|row| (of(row) - mean).powi(2));
    let deviation = (squares.sum::<f64>() / rows).sqrt();
    match deviation > 0.0 && deviation.is_finite() {
        true => Ok((mean, deviation)),
        false => Err(TrainError::OneNumber { rows: train.len() }),
    }
}

/// Counts the inputs of each class among those that train; at least two classes must have some.
pub(super) fn count_classes(
    labels: &[u32],
    train: &[u32],
    classes: usize,
) -> Result<Vec<u64>, TrainError> {
    let mut class_rows = vec![0u64; classes];
    for &row in train {
        class_rows[labels[row as usize] as usize] += 1;
    }
    let present = class_rows.iter().filter(|&&rows| rows > 0).count();
    if !labels.is_empty() && labels.iter().all(|label| *label == labels[0]) {
        return Err(TrainError::OneClass { rows: labels.len() });
    }
    if present < 2 {
        return Err(TrainError::TooFewRows {
            rows: train.len(),
            classes: present,
        });
    }
    Ok(class_rows)
}
