//! Interval bound propagation through recurrent networks (Jia, Raghunathan, Göksel, Liang:
//! Certified Robustness to Adversarial Word Substitutions, EMNLP 2019): bounds on the logits of a
//! text in which a run of tokens may be any of several.
//!
//! # Theorem
//! Let x be a text with a run that stands for any of the replacements R, and `bounds` the result of
//! [`IntervalKernels::lead_bounds`] for class y. If `bounds[c]` > 0 for every class c ≠ y, then for
//! every r in R the kernels ([`super::kernels`]), with the arithmetic of 32 bits in which they
//! compute, predict y for x with r in the run's place.
//!
//! # Proof
//! By induction over the operations, every number that the kernels compute for a text with r lies
//! between its bounds. Rounding to the nearest number is monotone, so an operation that is monotone
//! in an operand stays so after rounding, and the rounded operation at the right corner bounds the
//! rounded operation everywhere in the box. No outward rounding is needed, as long as the bounds
//! are computed by the kernels' own operations in their order:
//! * *Products.* s ← w·x + s, fused, rises with s, and with x if w ≥ 0, else falls: see
//!   `direction`.
//! * *First layer.* The numbers of a run's position are those of one of its replacements
//!   (`lines`), computed as the kernels compute them; the hull is their least and largest.
//! * *Gates times numbers.* A gate is in [0, 1], so gate · number rises with the number, and is
//!   least and largest at one of the gate's ends: see the module `bounds`.
//! * *σ and tanh* as computed are not monotone to the last bit. Over all 32-bit inputs, in
//!   ascending order, they fall at most 2⁻²⁴ (σ) and 2⁻²³ (tanh) below their running maximum, and
//!   stay in [0, 1] and [−1, 1] (an ignored test visits them all). Bounds are moved apart by 2⁻²²,
//!   of which the rounding of that move takes at most 2⁻²⁴. Where both bounds are one number, the
//!   kernels compute from that very number, and nothing is moved.
//! * *The GRU's* n + z·(h − n), as real numbers, rises with n and h and is linear in z. As
//!   computed, with |h| < 3 and |n| ≤ 1, it is off by at most 2⁻²³ + 2⁻²⁴ at each of the two places
//!   compared; bounds are moved apart by 2⁻²¹, more than twice that and its own rounding. |h| < 3
//!   since it begins at 0 and |h| grows by at most 2⁻²² a step above 1 in at most 2²⁰ steps.
//! * *Logits.* The lead of y over c is bounded as the real number Σ(w_y − w_c)·h + b_y − b_c over
//!   the box of h, in f64, less γ·Σ|terms| of both logits, which bounds the rounding of any sum of
//!   n fused terms for γ = (n+2)u/(1−(n+2)u), u = 2⁻²⁴ (Higham: Accuracy and Stability of Numerical
//!   Algorithms, section 3.1).
//! * *Overflow.* Where a gate's bound is not finite the lead's bounds are NaN, which is above
//!   nothing. ∎
//!
//! Positions before the run (behind it, for the backward direction) have equal bounds: there the
//! bounds are the kernels' own states.

mod backward;
mod direction;
mod lines;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use super::block::{Block, Keep, LayerTrace, Workspace, by_length};
use super::bounds::Slack;
use super::kernels::EmbeddingTable;
use super::layer::{Run, Source};
use super::network::{RecurrentWeights, Shape};
use crate::lanes::{LANES, Row};
pub use backward::{WorstCase, WorstCaseGradients};
use direction::IntervalDirection;
pub use lines::Substituted;
use lines::{Hull, Lines};

/// A network's weights, ready for bounds.
#[derive(Debug)]
pub struct IntervalKernels {
    shape: Shape,
    /// The weights, `[layers][directions]`.
    layers: Vec<Vec<IntervalDirection>>,
    /// The weights of the linear layer, `[classes, outputs]`.
    head: Vec<f32>,
    head_bias: Vec<f32>,
}

impl IntervalKernels {
    /// Lays out `weights`.
    pub fn new(weights: &RecurrentWeights) -> IntervalKernels {
        let shape = weights.shape;
        let (head, head_bias) = weights.head();
        let layer = |layer| {
            (0..shape.directions())
                .map(|direction| IntervalDirection::new(weights, layer, direction))
                .collect()
        };
        IntervalKernels {
            shape,
            layers: (0..shape.layers).map(layer).collect(),
            head: head.to_vec(),
            head_bias: head_bias.to_vec(),
        }
    }

    /// Computes for each text and its class y lower bounds on the lead logit_y − logit_c over all
    /// replacements: row-major `[texts, classes]`, infinite at c = y. Tokens are below the number
    /// of embeddings.
    pub fn lead_bounds(
        &self,
        table: EmbeddingTable<'_>,
        texts: &[(Substituted<'_>, u32)],
    ) -> Vec<f64> {
        let lines = self.lines(table, texts.iter().map(|(text, _)| text));
        let tokens: Vec<Vec<i32>> = texts.par_iter().map(|(text, _)| lines.text(text)).collect();
        let order = by_length(texts.len(), |item| &tokens[item]);
        let classes = self.shape.classes;
        let rows: Vec<Vec<f64>> = order
            .par_chunks(LANES)
            .map_init(Workspace::default, |workspace, items| {
                let block = Block::new(items, |item| &tokens[item]);
                let started = self.start(&block, &lines, |lane, direction| {
                    let (text, _) = &texts[items[lane] as usize];
                    let rows = self.input_rows();
                    (text.before.len(), lines.hull(text, direction, rows))
                });
                let poison = self.forward(workspace, &block, &started, Slack::SOUND);
                let label = |lane: usize| texts[items[lane] as usize].1 as usize;
                (0..items.len())
                    .flat_map(|lane| self.leads(workspace, lane, label(lane), poison.0[lane]))
                    .collect()
            })
            .collect();
        let mut bounds = vec![0.0; texts.len() * classes];
        for (items, rows) in order.chunks(LANES).zip(rows) {
            for (&item, row) in items.iter().zip(rows.chunks_exact(classes)) {
                bounds[item as usize * classes..][..classes].copy_from_slice(row);
            }
        }
        bounds
    }

    /// Splits a text's replacements, of which there are two or more, into two parts of about equal
    /// size along the gate row in which they lie furthest apart.
    pub fn split<'a>(
        &self,
        table: EmbeddingTable<'_>,
        text: &Substituted<'a>,
    ) -> [Substituted<'a>; 2] {
        let lines = self.lines(table, std::iter::once(text));
        let rows = self.input_rows();
        let mut widest = (0, 0, f32::NEG_INFINITY);
        for direction in 0..lines.values.len() {
            let hull = lines.hull(text, direction, rows);
            for (place, (low, high)) in hull.low.iter().zip(&hull.high).enumerate() {
                if high - low > widest.2 {
                    widest = (direction, place, high - low);
                }
            }
        }
        let (direction, place, _) = widest;
        let value = |by: &[i32]| {
            let line = by.get(place / rows).map_or(0, |&token| lines.line(token));
            lines.values[direction][line as usize * rows + place % rows]
        };
        let mut by = text.by.clone();
        by.sort_by(|a, b| value(a).total_cmp(&value(b)));
        let upper = by.split_off(by.len() / 2);
        [by, upper].map(|by| Substituted {
            before: text.before,
            by,
            after: text.after,
        })
    }

    /// Returns the number of numbers in a line.
    fn input_rows(&self) -> usize {
        let first = self.layers.first().and_then(|layer| layer.first());
        first.map_or(0, |direction| direction.plain.input_rows().len())
    }

    fn lines<'a, 'b: 'a>(
        &self,
        table: EmbeddingTable<'_>,
        texts: impl Iterator<Item = &'a Substituted<'b>>,
    ) -> Lines {
        let first = self.layers.first().map_or(&[][..], Vec::as_slice);
        Lines::new(first, table, texts, std::iter::empty())
    }

    /// Computes bounds on the first layer's gates before the recurrent product, direction by
    /// direction `[steps, 2 · input gate rows]`; `hull` gives (position, hull) of a lane's run.
    fn start(
        &self,
        block: &Block<'_, '_>,
        lines: &Lines,
        hull: impl Fn(usize, usize) -> (usize, Hull),
    ) -> Vec<Vec<Row>> {
        let rows = self.input_rows();
        let mut point = vec![Row::ZERO; rows];
        let mut all = Vec::with_capacity(lines.values.len());
        for (direction, values) in lines.values.iter().enumerate() {
            let mut started = Vec::with_capacity(block.steps * 2 * rows);
            for t in 0..block.steps {
                block.gather(t, values, &mut point);
                started.extend(point.iter().flat_map(|row| [*row; 2]));
            }
            for lane in 0..block.items.len() {
                let (first, hull) = hull(lane, direction);
                let places = started[first * 2 * rows..].as_chunks_mut::<2>().0;
                let bounds = hull.low.iter().zip(&hull.high);
                for (place, (&low, &high)) in places.iter_mut().zip(bounds) {
                    place[0].0[lane] = low;
                    place[1].0[lane] = high;
                }
            }
            all.push(started);
        }
        all
    }

    /// Runs all layers over a block from zero states; see [`IntervalDirection::forward`].
    fn forward(
        &self,
        workspace: &mut Workspace,
        block: &Block<'_, '_>,
        started: &[Vec<Row>],
        slack: Slack,
    ) -> Row {
        // Every number has two rows: the memory is that of a network of twice the units.
        let doubled = Shape {
            units: 2 * self.shape.units,
            ..self.shape
        };
        workspace.prepare(&doubled, block.steps, Keep::All);
        let mut poison = Row::ZERO;
        for (layer, directions) in self.layers.iter().enumerate() {
            let (below, above) = workspace.layers.split_at_mut(layer);
            let LayerTrace {
                outputs,
                directions: traces,
                ..
            } = &mut above[0];
            for (d, direction) in directions.iter().enumerate() {
                let source = match below.last() {
                    Some(below) => Source::Values(&below.outputs),
                    None => Source::Gates(&started[d]),
                };
                let run = Run {
                    block,
                    trace: &mut traces[d],
                    stride: doubled.outputs(),
                    offset: d * doubled.units,
                };
                let more = direction.forward(run, source, slack, outputs);
                for (sum, more) in poison.0.iter_mut().zip(more.0) {
                    *sum += more;
                }
            }
        }
        poison
    }

    /// Computes lower bounds on the leads of class `label` in one lane; NaN where `poison` is NaN.
    fn leads(&self, workspace: &Workspace, lane: usize, label: usize, poison: f32) -> Vec<f64> {
        let last = last_bounds(workspace, lane);
        let outputs = self.shape.outputs();
        let line = |class: usize| &self.head[class * outputs..][..outputs];
        let bias = |class: usize| f64::from(self.head_bias[class]);
        let terms = (outputs + 2) as f64 * 0.5f64.powi(24);
        // A thousandth more than γ covers the rounding of this function's own f64.
        let gamma = 1.001 * terms / (1.0 - terms);
        let size = |class: usize| -> f64 {
            let products = line(class).iter().zip(&last);
            let largest =
                products.map(|(&w, [low, high])| f64::from(w).abs() * low.abs().max(high.abs()));
            bias(class).abs() + largest.sum::<f64>()
        };
        let own = size(label);
        let lead = |class: usize| {
            if class == label {
                return f64::INFINITY;
            }
            let mut lead = bias(label) - bias(class);
            for ((&own, &other), [low, high]) in line(label).iter().zip(line(class)).zip(&last) {
                let weight = f64::from(own) - f64::from(other);
                lead += weight * if weight >= 0.0 { low } else { high };
            }
            // Underflow: each of the operations may lose 2⁻¹⁵⁰.
            let underflow = terms * 2f64.powi(-120);
            lead - gamma * (own + size(class)) - underflow + f64::from(poison)
        };
        (0..self.shape.classes).map(lead).collect()
    }
}

/// Returns the bounds on the last hidden states of the last layer in one lane, direction beside
/// direction.
fn last_bounds(workspace: &Workspace, lane: usize) -> Vec<[f64; 2]> {
    let directions = workspace.layers.iter().last();
    let directions = directions.iter().flat_map(|layer| &layer.directions);
    directions
        .flat_map(|trace| trace.hidden.as_chunks::<2>().0)
        .map(|[low, high]| [f64::from(low.0[lane]), f64::from(high.0[lane])])
        .collect()
}
