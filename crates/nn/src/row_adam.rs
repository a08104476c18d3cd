//! Adam on the rows of a table of which each step changes only a few.
//!
//! Moments of a row change only when a batch holds it (as PyTorch's `SparseAdam` does), so that a
//! step costs what the batch holds, not what the table does, and a row never seen stays as it is.

use serde::{Deserialize, Serialize};

use super::flat_optimizer::are_moments;
use super::recurrent::backward::EmbeddingGradients;

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The state of the optimiser of one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RowAdam {
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
}

impl RowAdam {
    /// Returns a fresh state for a table of `numbers` numbers.
    pub fn new(numbers: usize) -> RowAdam {
        RowAdam {
            first: vec![0.0; numbers],
            second: vec![0.0; numbers],
            steps: 0,
        }
    }

    /// Whether the state is of a table of `numbers` numbers, and a possible one.
    pub fn fits(&self, numbers: usize) -> bool {
        self.first.len() == numbers
            && self.second.len() == numbers
            && self.steps >= 0
            && are_moments(&self.first, &self.second)
    }

    /// Moves the rows of `table` that have a gradient.
    pub fn step(&mut self, learning_rate: f64, table: &mut [f32], gradients: &EmbeddingGradients) {
        self.steps = self.steps.saturating_add(1);
        let dimension = gradients.values.len() / gradients.tokens.len().max(1);
        let correction1 = 1.0 - BETA1.powi(self.steps);
        let correction2 = 1.0 - BETA2.powi(self.steps);
        let rate = learning_rate / correction1;
        for (&token, gradient) in gradients
            .tokens
            .iter()
            .zip(gradients.values.chunks_exact(dimension.max(1)))
        {
            let row = token as usize * dimension..(token as usize + 1) * dimension;
            let moments = self.first[row.clone()]
                .iter_mut()
                .zip(&mut self.second[row.clone()]);
            for ((value, (first, second)), &g) in table[row].iter_mut().zip(moments).zip(gradient) {
                let g = f64::from(g);
                let mean = BETA1 * f64::from(*first) + (1.0 - BETA1) * g;
                let square = BETA2 * f64::from(*second) + (1.0 - BETA2) * g * g;
                let change = rate * mean / ((square / correction2).sqrt() + EPSILON);
                (*first, *second) = (mean as f32, square as f32);
                *value = (f64::from(*value) - change) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_the_learning_rate_against_the_sign() {
        let mut table = vec![1.0; 6];
        let gradients = EmbeddingGradients {
            tokens: vec![1],
            values: vec![0.3, -20.0],
        };
        RowAdam::new(6).step(0.01, &mut table, &gradients);
        let expected = [1.0, 1.0, 0.99, 1.01, 1.0, 1.0];
        for (value, expected) in table.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn finds_the_least_of_a_parabola() {
        let mut table = vec![0.0, 5.0];
        let mut adam = RowAdam::new(2);
        for _ in 0..2000 {
            let gradients = EmbeddingGradients {
                tokens: vec![0, 1],
                values: table.iter().map(|x| 2.0 * (x - 3.0)).collect(),
            };
            adam.step(0.02, &mut table, &gradients);
        }
        assert!(table.iter().all(|x| (x - 3.0f32).abs() < 1e-2), "{table:?}");
    }
}
