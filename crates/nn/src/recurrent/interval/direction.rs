//! One direction of one layer over a block of texts, on bounds: forwards and backwards through
//! time.
//!
//! Every number of [`super::super::layer`] becomes two rows, its lower and its upper bound, so that
//! row r is rows 2r and 2r + 1 here. A product with W becomes one with the matrix that sends lower
//! bounds through the positive weights and upper ones through the negative weights ([`doubled`]).
//! The zeros that it adds between the terms change no number, so each bound adds the same terms in
//! the same order as the kernels do.

use super::super::block::Keep;
use super::super::bounds::Slack;
use super::super::layer::{Backward, Differentiable, Direction, Forward, Products, Run, Source};
use super::super::network::RecurrentWeights;
use crate::lanes::{Product, Row};

/// The weights of one direction of one layer, ready for bounds.
#[derive(Debug)]
pub(super) struct IntervalDirection {
    /// The weights for plain numbers.
    pub plain: Direction,
    /// The products with bounds; the product with the inputs is of no use in the first layer, whose
    /// inputs are numbers.
    pub products: Products,
    /// The signs of the input weights.
    pub input_signs: Signs,
    /// The signs of the recurrent weights.
    pub recurrent_signs: Signs,
}

/// The signs of weights: which of them are not negative.
#[derive(Debug)]
pub(super) struct Signs {
    columns: usize,
    not_negative: Vec<bool>,
}

impl Signs {
    fn new(rows: usize, columns: usize, weight: impl Fn(usize, usize) -> f32) -> Signs {
        let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Signs {
            columns,
            not_negative: all
                .map(|(row, column)| weight(row, column) >= 0.0)
                .collect(),
        }
    }

    /// Whether output bound `row` is made of input bound `column`.
    pub fn takes(&self, row: usize, column: usize) -> bool {
        let not_negative = self.not_negative[row / 2 * self.columns + column / 2];
        not_negative == (row % 2 == column % 2)
    }
}

/// Returns the weight of `input`'s bound in `output`'s, both counted in bounds.
fn doubled(output: usize, input: usize, weight: impl Fn(usize, usize) -> f32) -> f32 {
    let weight = weight(output / 2, input / 2);
    if output % 2 == input % 2 {
        weight.max(0.0)
    } else {
        weight.min(0.0)
    }
}

impl IntervalDirection {
    pub fn new(weights: &RecurrentWeights, layer: usize, direction: usize) -> IntervalDirection {
        let plain = Direction::new(weights, layer, direction);
        let (inputs, units) = (plain.inputs, plain.units);
        let tensors = weights.direction(layer, direction);
        let (input_rows, recurrent_rows) = (plain.input_rows(), plain.recurrent_rows());
        let input = |row: usize, i: usize| {
            tensors.weight_ih[plain.stored_row(input_rows.start + row) * inputs + i]
        };
        let recurrent = |row: usize, unit: usize| {
            tensors.weight_hh[plain.stored_row(recurrent_rows.start + row) * units + unit]
        };
        let (rows_in, rows_re) = (2 * input_rows.len(), 2 * recurrent_rows.len());
        IntervalDirection {
            products: Products {
                input: Product::new(rows_in, 2 * inputs, |row, i| doubled(row, i, input)),
                recurrent: Product::new(rows_re, 2 * units, |row, u| doubled(row, u, recurrent)),
                to_input: Product::new(2 * inputs, rows_in, |i, row| doubled(row, i, input)),
                to_hidden: Product::new(2 * units, rows_re, |u, row| doubled(row, u, recurrent)),
            },
            input_signs: Signs::new(input_rows.len(), inputs, input),
            recurrent_signs: Signs::new(recurrent_rows.len(), units, recurrent),
            plain,
        }
    }

    /// Runs all steps from zero states and leaves everything for a backward pass. Returns a row
    /// that is zero where all gates were finite and NaN elsewhere.
    pub fn forward(
        &self,
        run: Run<'_>,
        source: Source<'_>,
        slack: Slack,
        outputs: &mut [Row],
    ) -> Row {
        let pass = Forward::<2> {
            direction: &self.plain,
            products: &self.products,
            run,
            source,
            keep: Keep::All,
            slack,
            outputs,
        };
        pass.run()
    }
}

impl Differentiable for IntervalDirection {
    const ROWS: usize = 2;

    fn parts(&self) -> (&Direction, &Products) {
        (&self.plain, &self.products)
    }

    fn backward(&self, run: Run<'_>, outputs: &[Row], upstream: Option<&[Row]>) {
        Backward::<2>(self.parts(), run, outputs, upstream).run();
    }
}
