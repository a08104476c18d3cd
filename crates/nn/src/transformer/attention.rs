//! Attention of the pieces of one text to each other: for each head softmax(Q·Kᵀ/√n)·V, where n is
//! the number of the head's units (Vaswani et al. 2017, section 3.2).
//!
//! A text's queries, keys and values lie in one matrix, `[pieces, 3·units]`. Weights of attention
//! are not kept for the way back but made again there, by the same operations: they would take the
//! square of a text's length.

use super::product::{Lines, Multiply, Panels};
use super::rows::{Softmax, SoftmaxBack};
use super::shape::Shape;
use crate::lanes::dispatch;

/// The memory that attention works in.
#[derive(Debug, Default)]
pub struct AttentionSpace {
    panels: Panels,
    /// The weights of attention, `[pieces, pieces]`.
    weights: Vec<f32>,
    /// The gradients with respect to the weights of attention, `[pieces, pieces]`.
    gradients: Vec<f32>,
    pub scratch: Vec<f32>,
}

/// One text's part of a matrix: its rows begin at its first piece.
#[derive(Clone, Copy)]
pub struct Heads {
    units: usize,
    heads: usize,
    /// The number of units of a head.
    width: usize,
    factor: f32,
}

impl Heads {
    /// Returns the heads of a network.
    pub fn new(shape: &Shape) -> Heads {
        let width = shape.head_units();
        Heads {
            units: shape.units,
            heads: shape.heads,
            width,
            factor: 1.0 / (width as f32).sqrt(),
        }
    }

    /// Computes the weights of a head's attention, `[pieces, pieces]`, into `space.weights`.
    fn weigh(&self, projected: &[f32], pieces: usize, head: usize, space: &mut AttentionSpace) {
        let stride = 3 * self.units;
        let (queries, keys) = (head * self.width, self.units + head * self.width);
        space
            .panels
            .set_rows(pieces, self.width, &projected[keys..], stride);
        set_zero(&mut space.weights, pieces * pieces);
        dispatch(Multiply {
            x: Lines::rows(&projected[queries..], stride),
            rows: pieces,
            by: &space.panels,
            y: &mut space.weights,
            y_stride: pieces,
            scratch: &mut space.scratch,
        });
        dispatch(Softmax {
            rows: &mut space.weights,
            width: pieces,
            factor: self.factor,
        });
    }

    /// Adds what attention gives for a text to `mixed`, `[pieces, units]`.
    pub fn attend(&self, projected: &[f32], mixed: &mut [f32], space: &mut AttentionSpace) {
        let (stride, pieces) = (3 * self.units, mixed.len() / self.units);
        for head in 0..self.heads {
            self.weigh(projected, pieces, head, space);
            let at = head * self.width;
            let values = &projected[2 * self.units + at..];
            space.panels.set_columns(pieces, self.width, values, stride);
            dispatch(Multiply {
                x: Lines::rows(&space.weights, pieces),
                rows: pieces,
                by: &space.panels,
                y: &mut mixed[at..],
                y_stride: self.units,
                scratch: &mut space.scratch,
            });
        }
    }

    /// Adds the gradients with respect to `projected` to `gradients`, `[pieces, 3·units]`, given
    /// those with respect to what attention gave, `mixed`, `[pieces, units]`.
    pub fn attend_back(
        &self,
        projected: &[f32],
        mixed: &[f32],
        gradients: &mut [f32],
        space: &mut AttentionSpace,
    ) {
        let (units, width) = (self.units, self.width);
        let (stride, pieces) = (3 * units, mixed.len() / units);
        for head in 0..self.heads {
            self.weigh(projected, pieces, head, space);
            let at = head * width;
            let (query, key, value) = (at, units + at, 2 * units + at);
            let AttentionSpace {
                panels,
                weights,
                gradients: scores,
                scratch,
            } = space;
            let mut multiply = |x, by: &Panels, y: &mut [f32], y_stride| {
                dispatch(Multiply {
                    x,
                    rows: pieces,
                    by,
                    y,
                    y_stride,
                    scratch: &mut *scratch,
                });
            };
            panels.set_rows(pieces, width, &projected[value..], stride);
            set_zero(scores, pieces * pieces);
            multiply(Lines::rows(&mixed[at..], units), panels, scores, pieces);
            panels.set_columns(pieces, width, &mixed[at..], units);
            let weighed = Lines::columns(weights, pieces);
            multiply(weighed, panels, &mut gradients[value..], stride);
            dispatch(SoftmaxBack {
                gradients: scores,
                values: weights,
                width: pieces,
                factor: self.factor,
            });
            panels.set_columns(pieces, width, &projected[key..], stride);
            let rows = Lines::rows(scores, pieces);
            multiply(rows, panels, &mut gradients[query..], stride);
            panels.set_columns(pieces, width, &projected[query..], stride);
            let columns = Lines::columns(scores, pieces);
            multiply(columns, panels, &mut gradients[key..], stride);
        }
    }
}

/// Sets `values` to exactly `length` zeros.
pub fn set_zero(values: &mut Vec<f32>, length: usize) {
    values.clear();
    values.resize(length, 0.0);
}
