//! Bounds of the layers after the first, and the errors of their 32-bit sums.

use super::super::network::Terms;
use super::super::product::{Lined, product};
use super::Relaxation;
use super::lines::{Lines, Sums};

impl Relaxation<'_> {
    /// Lays out the columns that a weighted sum of the first layer's sums consists of, of those
    /// that are `kept`.
    #[inline(always)]
    pub(super) fn lay_columns(&mut self, kept: Vec<usize>) {
        let (network, width) = (self.network, self.width());
        self.starts.push(0);
        let mut columns = 0;
        for (free, range) in network.free.iter().zip(self.ranges) {
            columns += match free.terms {
                Terms::Scaled(_) => 1,
                Terms::Levels => (range[1] - range[0] + 1) as usize,
            };
            self.starts.push(columns);
        }
        columns += network.combinations;
        let mut values = vec![0.0; width * columns];
        let mut lay = |start: usize, lines: &[f64]| {
            for (column, line) in lines.chunks_exact(width).enumerate() {
                for &j in &kept {
                    values[j * columns + start + column] = line[j];
                }
            }
        };
        for (place, (free, range)) in network.free.iter().zip(self.ranges).enumerate() {
            let lines = match free.terms {
                Terms::Scaled(_) => &free.lines[..],
                Terms::Levels => {
                    &free.lines[range[0] as usize * width..(range[1] as usize + 1) * width]
                }
            };
            lay(self.starts[place], lines);
        }
        lay(self.starts[network.free.len()], &network.protected);
        (self.columns, self.kept) = (values, kept);
    }

    /// Takes lower bounds over the activations of the last layer of which there are lines back to
    /// sums over the columns, `[columns, rows]`.
    #[inline(always)]
    pub(super) fn back(&self, sums: &mut Sums, out: &mut Vec<f64>) {
        for (depth, lines) in self.lines.iter().enumerate().rev() {
            let Sums {
                rows,
                weights,
                slopes,
                constants,
            } = sums;
            lines.back(weights, *rows, slopes, constants);
            if depth > 0 {
                sums.below(lines, &self.network.layers[depth - 1]);
            }
        }
        self.over_columns(&sums.slopes, sums.rows, out);
    }

    /// Sums over the columns of the first layer's sums, weighted by `slopes`.
    #[inline(always)]
    pub(super) fn over_columns(&self, slopes: &[f64], rows: usize, out: &mut Vec<f64>) {
        let columns = Lined {
            values: &self.columns,
            columns: self.starts[self.starts.len() - 1] + self.network.combinations,
            kept: &self.kept,
        };
        product(slopes, rows, &columns, out);
    }

    /// Bounds the sums of the layer after the first `depth`, by the bounds of the layers below it.
    #[inline(always)]
    pub(super) fn bound_layer(&mut self, depth: usize) {
        let layer = &self.network.layers[depth - 1];
        let attributes = self.network.free.len();
        let (outputs, padded) = (layer.outputs, layer.padded);
        let rows = 2 * padded;
        let mut sums = Sums {
            rows,
            weights: layer.signed.clone(),
            constants: layer.signed_bias.repeat(self.groups),
            slopes: Vec::new(),
        };
        let mut columns = Vec::new();
        self.back(&mut sums, &mut columns);
        let mut moves = vec![0.0; attributes * outputs];
        let mut least = vec![0.0; rows];
        let (mut low, mut high) = (vec![0.0; rows], vec![0.0; rows]);
        for (place, free) in self.network.free.iter().enumerate() {
            let own = &columns[self.starts[place] * rows..self.starts[place + 1] * rows];
            match free.terms {
                Terms::Scaled(_) => {
                    let [from, to] = self.ends[place];
                    for (row, slope) in own.iter().enumerate() {
                        let (a, b) = (slope * from, slope * to);
                        low[row] = if a < b { a } else { b };
                        high[row] = if a < b { b } else { a };
                    }
                }
                Terms::Levels => {
                    low.copy_from_slice(&own[..rows]);
                    high.copy_from_slice(&own[..rows]);
                    for level in own.chunks_exact(rows) {
                        for (row, &sum) in level.iter().enumerate() {
                            low[row] = if sum < low[row] { sum } else { low[row] };
                            high[row] = if sum > high[row] { sum } else { high[row] };
                        }
                    }
                }
            }
            for (least, low) in least.iter_mut().zip(&low) {
                *least += low;
            }
            let moves = &mut moves[place * outputs..][..outputs];
            for (output, moved) in moves.iter_mut().enumerate() {
                let both =
                    (high[output] - low[output]) + (high[padded + output] - low[padded + output]);
                *moved = 0.5 * both;
            }
        }
        let mut lines = Lines {
            group_low: Vec::with_capacity(self.groups * outputs),
            group_high: Vec::with_capacity(self.groups * outputs),
            ..Lines::default()
        };
        let slack = self.network.double_error[depth];
        for group in 0..self.groups {
            let mut bounds = vec![f64::INFINITY; rows];
            for combination in self.of_group(group) {
                let own = &columns[(self.starts[attributes] + combination) * rows..][..rows];
                for (bound, &own) in bounds.iter_mut().zip(own) {
                    *bound = if own < *bound { own } else { *bound };
                }
            }
            let constants = &sums.constants[group * rows..][..rows];
            for ((bound, least), constant) in bounds.iter_mut().zip(&least).zip(constants) {
                *bound += least + constant - slack;
            }
            lines.group_low.extend_from_slice(&bounds[..outputs]);
            for bound in &bounds[padded..padded + outputs] {
                lines.group_high.push(-bound);
            }
        }
        lines.draw(self.network.activation, self.groups, &self.at_middle[depth]);
        self.lines.push(lines);
        self.moves.push(moves);
    }

    /// Bounds the errors of the last hidden layer's activations.
    #[inline(always)]
    pub(super) fn bound_errors(&mut self) {
        let mut error = Vec::new();
        self.network.first_error(&self.low, &self.high, &mut error);
        for (depth, lines) in self.lines.iter().enumerate() {
            if depth > 0 {
                let (values, before) = (&self.values, &self.errors);
                self.network.error(depth, values, before, &mut error);
            }
            self.errors.clear();
            self.values.clear();
            for (j, &error) in error.iter().enumerate() {
                let (low, high) = (lines.low[j], lines.high[j]);
                let (error, value) = self.network.activation_error(low, high, error);
                self.errors.push(error);
                self.values.push(value);
            }
        }
    }
}
