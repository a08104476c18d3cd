//! The cross-entropy of the worst case and its gradient with respect to the parameters.
//!
//! With m_c the lower bound on the lead of the true class over class c, the worst case's loss is
//! ln(1 + Σ_c e^(−m_c)): an upper bound on the cross-entropy of every text that the run of
//! replacements stands for. The chain rule goes back through the bounds by hand, as in
//! [`super::super::backward`]; a bound on a gate of the first layer is the product with one
//! replacement's embedding, the least or the largest, and sends its gradient there.
//!
//! `radius` shrinks the hull towards its centre: the text's own tokens where they are known, else
//! the middle. With radius 0 the loss is the plain cross-entropy of the centre.

use rayon::prelude::*;

use super::super::backward::through_layers;
use super::super::block::{Block, Workspace, by_length};
use super::super::bounds::Slack;
use super::super::cell::GATE_ROWS;
use super::super::kernels::EmbeddingTable;
use super::direction::IntervalDirection;
use super::lines::{Hull, Lines, Substituted};
use super::{IntervalKernels, last_bounds};
use crate::lanes::{LANES, OuterPass, Row, dispatch};

/// The number of blocks whose gradients are held at a time.
const BLOCKS_AT_ONCE: usize = 16;

/// A text to learn from in its worst case.
#[derive(Debug, Clone)]
pub struct WorstCase<'a> {
    /// The text and its replacements.
    pub text: Substituted<'a>,
    /// The tokens that the text itself has in the run's place, if they are as many as the
    /// replacements'.
    pub own: Option<&'a [i32]>,
    /// The class of the text.
    pub label: u32,
    /// The weight of the text in the loss.
    pub weight: f32,
}

/// The loss and the gradient of some worst cases.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstCaseGradients {
    /// The loss, Σ weight · loss of a text.
    pub loss: f64,
    /// The gradient of the loss with respect to the flat parameters.
    pub parameters: Vec<f32>,
}

/// A lane's run of replacements: where it begins, its hull in every direction, and its centre.
struct Replaced {
    first: usize,
    hulls: Vec<Hull>,
    /// The lines of the text's own tokens.
    own: Option<Vec<u32>>,
}

/// A bound as a mixture of lines: the shares of the centre's line, and of those of the lower and
/// the upper bound.
#[derive(Clone, Copy)]
struct Mixture {
    own: f32,
    low: f32,
    high: f32,
}

impl Replaced {
    fn new(kernels: &IntervalKernels, item: &WorstCase<'_>, lines: &Lines) -> Replaced {
        let rows = kernels.input_rows();
        let hull = |direction| lines.hull(&item.text, direction, rows);
        let line = |&token: &i32| lines.line(token) as u32;
        Replaced {
            first: item.text.before.len(),
            hulls: (0..lines.values.len()).map(hull).collect(),
            own: item.own.map(|own| own.iter().map(line).collect()),
        }
    }

    /// The number of positions of the run.
    fn length(&self, rows: usize) -> usize {
        let hull = self.hulls.first().map_or(0, |hull| hull.low.len());
        hull / rows.max(1)
    }

    /// Returns how the lower bound (or, with `upper`, the upper one) is mixed at `radius`.
    fn mixture(&self, radius: f32, upper: bool) -> Mixture {
        let (own, near) = match self.own {
            Some(_) => (1.0 - radius, 0.0),
            None => (0.0, (1.0 - radius) / 2.0),
        };
        let far = if self.own.is_some() {
            radius
        } else {
            (1.0 + radius) / 2.0
        };
        if upper {
            Mixture {
                own,
                low: near,
                high: far,
            }
        } else {
            Mixture {
                own,
                low: far,
                high: near,
            }
        }
    }

    /// Returns the hull in a direction, shrunk to `radius`.
    fn shrunk(&self, direction: usize, radius: f32, lines: &Lines, rows: usize) -> Hull {
        let hull = &self.hulls[direction];
        let bound = |upper: bool| {
            let mixture = self.mixture(radius, upper);
            let mixed = |(place, (low, high)): (usize, (&f32, &f32))| {
                let own = self.own.as_ref().map_or(0.0, |own| {
                    lines.values[direction][own[place / rows] as usize * rows + place % rows]
                });
                mixture.own * own + mixture.low * low + mixture.high * high
            };
            hull.low
                .iter()
                .zip(&hull.high)
                .enumerate()
                .map(mixed)
                .collect()
        };
        Hull {
            low: bound(false),
            high: bound(true),
            ..Hull::default()
        }
    }
}

impl IntervalKernels {
    /// Computes Σ weight · worst-case loss of `items` and its gradient; sums do not depend on
    /// threads.
    pub fn worst_case_gradients(
        &self,
        table: EmbeddingTable<'_>,
        items: &[WorstCase<'_>],
        radius: f32,
    ) -> WorstCaseGradients {
        let own = items.iter().filter_map(|item| item.own).flatten().copied();
        let first = self.layers.first().map_or(&[][..], Vec::as_slice);
        let lines = Lines::new(first, table, items.iter().map(|item| &item.text), own);
        let tokens: Vec<Vec<i32>> = items.iter().map(|item| lines.text(&item.text)).collect();
        let order = by_length(items.len(), |item| &tokens[item]);
        let mut sum = WorstCaseGradients {
            loss: 0.0,
            parameters: vec![0.0; self.shape.parameters()],
        };
        for some in order.chunks(BLOCKS_AT_ONCE * LANES) {
            let blocks: Vec<WorstCaseGradients> = some
                .par_chunks(LANES)
                .map_init(Workspace::default, |workspace, numbers| {
                    let block = Block::new(numbers, |item| &tokens[item]);
                    let some: Vec<&WorstCase<'_>> = numbers
                        .iter()
                        .map(|&number| &items[number as usize])
                        .collect();
                    self.block_worst_case(workspace, &block, &some, &lines, radius)
                })
                .collect();
            for block in blocks {
                sum.loss += block.loss;
                for (sum, value) in sum.parameters.iter_mut().zip(&block.parameters) {
                    *sum += value;
                }
            }
        }
        sum
    }

    fn block_worst_case(
        &self,
        workspace: &mut Workspace,
        block: &Block<'_, '_>,
        items: &[&WorstCase<'_>],
        lines: &Lines,
        radius: f32,
    ) -> WorstCaseGradients {
        let rows = self.input_rows();
        let runs: Vec<Replaced> = items
            .iter()
            .map(|item| Replaced::new(self, item, lines))
            .collect();
        let started = self.start(block, lines, |lane, direction| {
            let run = &runs[lane];
            (run.first, run.shrunk(direction, radius, lines, rows))
        });
        self.forward(workspace, block, &started, Slack::NONE);
        let mut gradients = WorstCaseGradients {
            loss: 0.0,
            parameters: vec![0.0; self.shape.parameters()],
        };
        let d_last = self.head_gradients(workspace, items, &mut gradients);
        through_layers(&self.layers, workspace, block, &d_last);
        for layer in 1..self.layers.len() {
            self.layer_gradients(workspace, block, layer, &mut gradients.parameters);
        }
        self.first_layer_gradients(workspace, block, lines, &runs, &mut gradients.parameters);
        for (d, direction) in self.layers[0].iter().enumerate() {
            let gates = &workspace.layers[0].directions[d].gates;
            let start = self.shape.direction(0, d).weight_ih.start;
            for (lane, run) in runs.iter().enumerate() {
                let weights = &mut gradients.parameters[start..];
                hull_gradients(direction, run, (d, lane), radius, gates, lines, weights);
            }
        }
        gradients
    }

    /// Adds the loss and the gradients of the linear layer; returns the gradient with respect to
    /// the bounds on the last states: `[2 · outputs]`.
    fn head_gradients(
        &self,
        workspace: &Workspace,
        items: &[&WorstCase<'_>],
        gradients: &mut WorstCaseGradients,
    ) -> Vec<Row> {
        let outputs = self.shape.outputs();
        let (weight_at, bias_at) = self.shape.head();
        let mut d_last = vec![Row::ZERO; 2 * outputs];
        for (lane, item) in items.iter().enumerate() {
            let last = last_bounds(workspace, lane);
            let label = item.label as usize;
            let others = || (0..self.shape.classes).filter(move |&class| class != label);
            let weight = |class: usize, i: usize| {
                f64::from(self.head[label * outputs + i])
                    - f64::from(self.head[class * outputs + i])
            };
            let side = |class: usize, i: usize| usize::from(weight(class, i) < 0.0);
            let lead = |class: usize| {
                let bias = f64::from(self.head_bias[label]) - f64::from(self.head_bias[class]);
                let terms = (0..outputs).map(|i| weight(class, i) * last[i][side(class, i)]);
                bias + terms.sum::<f64>()
            };
            let leads: Vec<f64> = others().map(lead).collect();
            let least = leads.iter().copied().fold(0.0, f64::min);
            let total = least.exp() + leads.iter().map(|m| (least - m).exp()).sum::<f64>();
            gradients.loss += f64::from(item.weight) * (total.ln() - least);
            for (class, lead) in others().zip(&leads) {
                // ∂loss/∂lead
                let d = -f64::from(item.weight) * (least - lead).exp() / total;
                for (i, bounds) in last.iter().enumerate() {
                    let side = side(class, i);
                    d_last[2 * i + side].0[lane] += (d * weight(class, i)) as f32;
                    let d_weight = (d * bounds[side]) as f32;
                    gradients.parameters[weight_at.start + label * outputs + i] += d_weight;
                    gradients.parameters[weight_at.start + class * outputs + i] -= d_weight;
                }
                gradients.parameters[bias_at.start + label] += d as f32;
                gradients.parameters[bias_at.start + class] -= d as f32;
            }
        }
        d_last
    }

    /// Adds the gradients of all weights of a layer but the first, and of the recurrent weights and
    /// biases of any layer.
    fn layer_gradients(
        &self,
        workspace: &Workspace,
        block: &Block<'_, '_>,
        layer: usize,
        parameters: &mut [f32],
    ) {
        self.recurrent_gradients(workspace, block, layer, parameters);
        let x = &workspace.layers[layer - 1].outputs;
        for (d, direction) in self.layers[layer].iter().enumerate() {
            let gates = &workspace.layers[layer].directions[d].gates;
            let start = self.shape.direction(layer, d).weight_ih.start;
            let (rows, inputs) = (direction.plain.input_rows(), direction.plain.inputs);
            let weight = &mut parameters[start..];
            dispatch(OuterPass {
                d: gates,
                d_stride: 2 * GATE_ROWS * self.shape.units,
                d_rows: 2 * rows.start..2 * rows.end,
                x,
                x_stride: 2 * inputs,
                x_rows: 0..2 * inputs,
                steps: block.steps,
                sink: &mut |row, i, sum| {
                    let stored = direction.plain.stored_row(rows.start + row / 2);
                    if direction.input_signs.takes(row, i) {
                        weight[stored * inputs + i / 2] += sum;
                    }
                },
            });
        }
    }

    fn recurrent_gradients(
        &self,
        workspace: &Workspace,
        block: &Block<'_, '_>,
        layer: usize,
        parameters: &mut [f32],
    ) {
        let units = self.shape.units;
        let stride = 2 * self.shape.outputs();
        let gate_stride = 2 * GATE_ROWS * units;
        let trace = &workspace.layers[layer];
        for (d, direction) in self.layers[layer].iter().enumerate() {
            let gates = &trace.directions[d].gates[..];
            let at = self.shape.direction(layer, d);
            // A step's recurrent input is the output at the position visited before.
            let (d_from, x_from) = if direction.plain.reverse {
                (0, 1)
            } else {
                (1, 0)
            };
            let rows = direction.plain.recurrent_rows();
            let weight = &mut parameters[at.weight_hh.start..];
            dispatch(OuterPass {
                d: gates.get(d_from * gate_stride..).unwrap_or_default(),
                d_stride: gate_stride,
                d_rows: 2 * rows.start..2 * rows.end,
                x: trace.outputs.get(x_from * stride..).unwrap_or_default(),
                x_stride: stride,
                x_rows: 2 * d * units..2 * (d + 1) * units,
                steps: block.steps.saturating_sub(1),
                sink: &mut |row, u, sum| {
                    let stored = direction.plain.stored_row(rows.start + row / 2);
                    if direction.recurrent_signs.takes(row, u) {
                        weight[stored * units + u / 2] += sum;
                    }
                },
            });
            let sums = bias_sums(gates, gate_stride, block.steps);
            for (rows, start) in [
                (direction.plain.input_rows(), at.bias_ih.start),
                (direction.plain.recurrent_rows(), at.bias_hh.start),
            ] {
                for row in rows {
                    parameters[start + direction.plain.stored_row(row)] += sums[row];
                }
            }
        }
    }

    /// Adds the gradients of the first layer, without those of its input weights at the positions
    /// of the runs ([`hull_gradients`]).
    fn first_layer_gradients(
        &self,
        workspace: &Workspace,
        block: &Block<'_, '_>,
        lines: &Lines,
        runs: &[Replaced],
        parameters: &mut [f32],
    ) {
        self.recurrent_gradients(workspace, block, 0, parameters);
        let inputs = self.shape.inputs;
        let mut x = vec![Row::ZERO; block.steps * inputs];
        for (t, rows) in x.chunks_exact_mut(inputs).enumerate() {
            block.gather(t, &lines.embeddings, rows);
        }
        for (lane, run) in runs.iter().enumerate() {
            let length = run.length(self.input_rows());
            for row in &mut x[run.first * inputs..(run.first + length) * inputs] {
                row.0[lane] = 0.0;
            }
        }
        for (d, direction) in self.layers[0].iter().enumerate() {
            let gates = &workspace.layers[0].directions[d].gates[..];
            let rows = direction.plain.input_rows();
            let start = self.shape.direction(0, d).weight_ih.start;
            let d_gates =
                sums_of_bounds(gates, 2 * GATE_ROWS * self.shape.units, &rows, block.steps);
            dispatch(OuterPass {
                d: &d_gates,
                d_stride: rows.len(),
                d_rows: 0..rows.len(),
                x: &x,
                x_stride: inputs,
                x_rows: 0..inputs,
                steps: block.steps,
                sink: &mut |row, i, sum| {
                    let stored = direction.plain.stored_row(rows.start + row);
                    parameters[start + stored * inputs + i] += sum;
                },
            });
        }
    }
}

/// Adds the gradients of a direction's input weights (`weights`, `[rows, inputs]`) at the positions
/// of the run of lane `lane`: each bound is a mixture of products with a few embeddings.
fn hull_gradients(
    direction: &IntervalDirection,
    run: &Replaced,
    (number, lane): (usize, usize),
    radius: f32,
    gates: &[Row],
    lines: &Lines,
    weights: &mut [f32],
) {
    let rows = direction.plain.input_rows();
    let inputs = direction.plain.inputs;
    let stride = 2 * GATE_ROWS * direction.plain.units;
    let hull = &run.hulls[number];
    for place in 0..hull.low.len() {
        let (position, row) = (place / rows.len(), place % rows.len());
        let stored = direction.plain.stored_row(rows.start + row);
        let weights = &mut weights[stored * inputs..][..inputs];
        for upper in [false, true] {
            let gate =
                (run.first + position) * stride + 2 * (rows.start + row) + usize::from(upper);
            let d = gates[gate].0[lane];
            let mixture = run.mixture(radius, upper);
            let own = run.own.as_ref().map_or(0, |own| own[position]);
            for (share, line) in [
                (mixture.own, own),
                (mixture.low, hull.low_line[place]),
                (mixture.high, hull.high_line[place]),
            ] {
                let embedding = &lines.embeddings[line as usize * inputs..][..inputs];
                for (weight, value) in weights.iter_mut().zip(embedding) {
                    *weight += share * d * value;
                }
            }
        }
    }
}

/// Sums the gradients with respect to lower and upper bounds: `[steps, rows]`.
fn sums_of_bounds(
    gates: &[Row],
    stride: usize,
    rows: &std::ops::Range<usize>,
    steps: usize,
) -> Vec<Row> {
    let mut sums = Vec::with_capacity(steps * rows.len());
    for gates in gates.chunks_exact(stride).take(steps) {
        let bounds = gates[2 * rows.start..2 * rows.end].as_chunks::<2>().0;
        sums.extend(bounds.iter().map(|[low, high]| {
            let mut sum = *low;
            sum.0
                .iter_mut()
                .zip(high.0)
                .for_each(|(sum, high)| *sum += high);
            sum
        }));
    }
    sums
}

/// Computes the sum over steps, lanes and both bounds of each gate row's gradient.
fn bias_sums(gates: &[Row], stride: usize, steps: usize) -> Vec<f32> {
    let mut sums = vec![Row::ZERO; stride];
    for gates in gates.chunks_exact(stride).take(steps) {
        for (sum, gate) in sums.iter_mut().zip(gates) {
            sum.0
                .iter_mut()
                .zip(gate.0)
                .for_each(|(sum, gate)| *sum += gate);
        }
    }
    let both = sums.as_chunks::<2>().0.iter();
    both.map(|[low, high]| low.sum() + high.sum()).collect()
}
