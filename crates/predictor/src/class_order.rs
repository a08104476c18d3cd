//! What the outcomes of the data say of a model that does not name its classes.

use super::own_numbers::Predictor;
use probity_data::table::{CellNumbers, Table};
use probity_nn::{ModelError, Rows, predicted_class};

/// The fewest rows with an outcome that can speak against an order.
const FEWEST_ROWS: u64 = 20;

/// How often a model that does not name its classes is right, where these are taken in the schema's
/// order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassOrder {
    /// The classes of the schema, in its order.
    pub classes: Vec<String>,
    /// The number of rows with an outcome that the model was asked about.
    pub rows: u64,
    /// The number of these for which it gives the class that is the outcome.
    pub right: u64,
}

impl ClassOrder {
    /// Asks `predictor` about the rows `chosen` of `table`, whose own numbers are `numbers`.
    ///
    /// # Errors
    /// When it cannot answer.
    pub fn measure(
        predictor: &dyn Predictor,
        classes: &[String],
        (table, numbers): (&Table, &CellNumbers),
        chosen: impl Iterator<Item = usize> + Clone,
    ) -> Result<ClassOrder, ModelError> {
        let mut order = ClassOrder {
            classes: classes.to_vec(),
            rows: 0,
            right: 0,
        };
        if table.labels().is_empty() {
            return Ok(order);
        }
        let codes = chosen.clone().flat_map(|row| table.row(row));
        let codes: Vec<i32> = codes.copied().collect();
        let own = chosen.clone().flat_map(|row| numbers.row(row));
        let own: Vec<f64> = own.copied().collect();
        let logits = predictor.logits_with(Rows::new(&codes, table.width()), &own)?;
        for (row, logits) in chosen.zip(logits.chunks_exact(classes.len().max(1))) {
            order.rows += 1;
            order.right += u64::from(predicted_class(logits) == table.labels()[row]);
        }
        Ok(order)
    }

    /// The share of the rows for which the model gives the class that is the outcome.
    pub fn share_right(&self) -> f64 {
        self.right as f64 / self.rows.max(1) as f64
    }

    /// Whether there are two classes, and the other order would be right of more rows.
    pub fn is_doubtful(&self) -> bool {
        self.classes.len() == 2 && self.rows >= FEWEST_ROWS && 2 * self.right < self.rows
    }
}
