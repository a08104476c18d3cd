//! Which rows train, validate and test.

use super::TrainError;
use crate::train_options::TrainOptions;
use probity_data::schema::Schema;
use probity_data::table::Table;
use probity_run::stream::{Purpose, permutation};

/// Which rows train, validate and test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to train on.
    pub train: Vec<u32>,
    /// Rows to validate on.
    pub validation: Vec<u32>,
    /// Rows to test on.
    pub test: Vec<u32>,
}

impl Split {
    /// Deals `rows` rows by the keyed order of `seed`.
    pub fn new(rows: usize, options: &TrainOptions) -> Split {
        let mut order = permutation(options.seed, Purpose::Split, 0, rows as u32);
        let test = order.split_off(rows - (rows as f64 * options.test).round() as usize);
        let kept = order.len();
        let validation = (rows as f64 * options.validation).round() as usize;
        let validation = order.split_off(kept.saturating_sub(validation));
        Split {
            train: order,
            validation,
            test,
        }
    }
}

/// Checks `options`, deals the rows of `table`, and counts the training rows of each class.
///
/// # Errors
/// Options out of range, or a training part without two classes.
pub fn plan_split(
    table: &Table,
    schema: &Schema,
    options: &TrainOptions,
) -> Result<(Split, Vec<u64>), TrainError> {
    options.check(schema.label.classes.len())?;
    let split = Split::new(table.rows(), options);
    let class_rows = count_classes(table, &split, schema.label.classes.len())?;
    Ok((split, class_rows))
}

/// The training rows of each class; at least two classes must have some.
pub(super) fn count_classes(
    table: &Table,
    split: &Split,
    classes: usize,
) -> Result<Vec<u64>, TrainError> {
    let mut class_rows = vec![0u64; classes];
    for &row in &split.train {
        class_rows[table.labels()[row as usize] as usize] += 1;
    }
    let present = class_rows.iter().filter(|&&rows| rows > 0).count();
    if present < 2 {
        return Err(TrainError::TooFewRows {
            rows: split.train.len(),
            classes: present,
        });
    }
    Ok(class_rows)
}
