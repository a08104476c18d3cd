//! The loss of the worst case as burn operations; see [`crate::recurrent::interval`] for what it
//! bounds, and its kernels for the CPU. Here nothing is widened for rounding: a training needs no
//! proof.

use burn::tensor::activation::{log_softmax, sigmoid, tanh};
use burn::tensor::{Device, Int, Tensor, TensorData};

use super::{DirectionModule, RecurrentNetwork, choose};
use crate::recurrent::interval::WorstCase;
use crate::recurrent::kernels::EmbeddingTable;
use crate::recurrent::network::CellKind;

/// Lower and upper bounds on the numbers of a matrix.
#[derive(Clone)]
struct Bounds {
    low: Tensor<2>,
    high: Tensor<2>,
}

impl Bounds {
    fn of_point(value: Tensor<2>) -> Bounds {
        Bounds {
            low: value.clone(),
            high: value,
        }
    }

    fn plus(self, other: Bounds) -> Bounds {
        Bounds {
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }

    /// Applies `rising`, which rises with its argument.
    fn through(self, rising: impl Fn(Tensor<2>) -> Tensor<2>) -> Bounds {
        Bounds {
            low: rising(self.low),
            high: rising(self.high),
        }
    }

    /// Bounds x·`weight` + `bias`.
    fn affine(self, weight: &Tensor<2>, bias: &Tensor<2>) -> Bounds {
        let middle = (self.low.clone() + self.high.clone()).mul_scalar(0.5);
        let half = (self.high - self.low).mul_scalar(0.5);
        let middle = middle.matmul(weight.clone()) + bias.clone();
        let half = half.matmul(weight.clone().abs());
        Bounds {
            low: middle.clone() - half.clone(),
            high: middle + half,
        }
    }

    /// Bounds `factor` times these numbers, where the factor is in [0, 1].
    fn times(self, factor: &Bounds) -> Bounds {
        let (least, largest) = (&factor.low, &factor.high);
        Bounds {
            low: (self.low.clone() * least.clone()).min_pair(self.low * largest.clone()),
            high: (self.high.clone() * least.clone()).max_pair(self.high * largest.clone()),
        }
    }

    fn narrow(&self, dimension: usize, start: usize, length: usize) -> Bounds {
        Bounds {
            low: self.low.clone().narrow(dimension, start, length),
            high: self.high.clone().narrow(dimension, start, length),
        }
    }

    /// Takes `new` where `active` is 1, `old` where it is 0.
    fn chosen(active: &Tensor<2>, new: Bounds, old: Bounds) -> Bounds {
        Bounds {
            low: choose(active, new.low, old.low),
            high: choose(active, new.high, old.high),
        }
    }

    fn beside(all: Vec<Bounds>, dimension: usize) -> Bounds {
        let (low, high) = all.into_iter().map(|own| (own.low, own.high)).unzip();
        Bounds {
            low: Tensor::cat(low, dimension),
            high: Tensor::cat(high, dimension),
        }
    }
}

/// Texts with runs of replacements, as a device is given them.
struct Replaced {
    /// The embeddings of the tokens outside the runs, `[steps · texts, inputs]`, zeros elsewhere.
    outside: Tensor<2>,
    /// The embeddings of the replacements at each position of a run, `[positions · most, inputs]`;
    /// the first one again where a text has fewer than the most.
    by: Tensor<2>,
    /// The embeddings of the texts' own tokens there, `[positions, inputs]`, and 1 where they are
    /// known, `[positions, 1]`.
    own: Tensor<2>,
    is_known: Tensor<2>,
    /// For each step and text the number of its row among those outside, or behind them of its
    /// position in a run.
    rows: Tensor<1, Int>,
    /// 1 where a text has a token, `[steps · texts, 1]`.
    mask: Tensor<2>,
    positions: usize,
    most: usize,
}

impl Replaced {
    fn new(table: EmbeddingTable<'_>, items: &[WorstCase<'_>], device: &Device) -> Replaced {
        let (count, inputs) = (items.len(), table.dimension);
        let vector = |token: i32| &table.values[token as usize * inputs..][..inputs];
        let length = |item: &WorstCase<'_>| {
            let text = &item.text;
            text.before.len() + text.length() + text.after.len()
        };
        let steps = items.iter().map(length).max().unwrap_or(0).max(1);
        let most = items.iter().map(|item| item.text.by.len()).max();
        let most = most.unwrap_or(0).max(1);
        let mut outside = vec![0.0; steps * count * inputs];
        let mut mask = vec![0.0; steps * count];
        let mut rows: Vec<i32> = (0..(steps * count) as i32).collect();
        let (mut by, mut own, mut is_known) = (Vec::new(), Vec::new(), Vec::new());
        for (number, item) in items.iter().enumerate() {
            let text = &item.text;
            let mut places = (0..length(item)).map(|t| t * count + number);
            let mut outside_at = |row: usize, token: i32| {
                outside[row * inputs..][..inputs].copy_from_slice(vector(token));
            };
            for (&token, row) in text.before.iter().zip(places.by_ref()) {
                outside_at(row, token);
            }
            for (position, row) in (0..text.length()).zip(places.by_ref()) {
                rows[row] = (steps * count + is_known.len()) as i32;
                let first = text.by.first().into_iter().cycle();
                for replacement in text.by.iter().chain(first).take(most) {
                    by.extend_from_slice(vector(replacement[position]));
                }
                is_known.push(f32::from(u8::from(item.own.is_some())));
                match item.own {
                    Some(tokens) => own.extend_from_slice(vector(tokens[position])),
                    None => own.resize(own.len() + inputs, 0.0),
                }
            }
            for (&token, row) in text.after.iter().zip(places) {
                outside_at(row, token);
            }
            for t in 0..length(item) {
                mask[t * count + number] = 1.0;
            }
        }
        let matrix = |values: Vec<f32>, columns: usize| {
            let shape = [values.len() / columns.max(1), columns];
            Tensor::<2>::from_data(TensorData::new(values, shape), device)
        };
        Replaced {
            positions: is_known.len(),
            most,
            rows: Tensor::from_data(TensorData::new(rows, [steps * count]), device),
            outside: matrix(outside, inputs),
            by: matrix(by, inputs),
            own: matrix(own, inputs),
            is_known: matrix(is_known, 1),
            mask: matrix(mask, 1),
        }
    }

    /// Bounds the input products of `direction` of the first layer, `[steps · texts, rows]`, with
    /// hulls of which `radius` is left.
    fn projected(&self, direction: &DirectionModule, radius: f32) -> Bounds {
        let project = |vectors: &Tensor<2>| {
            vectors.clone().matmul(direction.input.clone()) + direction.input_bias.clone()
        };
        let by = project(&self.by);
        let gates = by.dims()[1];
        let by = by.reshape([self.positions, self.most, gates]);
        let low = by.clone().min_dim(1).reshape([self.positions, gates]);
        let high = by.max_dim(1).reshape([self.positions, gates]);
        let middle = (low.clone() + high.clone()).mul_scalar(0.5);
        let centre = choose(&self.is_known, project(&self.own), middle);
        let outside = project(&self.outside);
        let bound = |end: Tensor<2>| {
            let shrunk = centre.clone() + (end - centre.clone()).mul_scalar(radius);
            Tensor::cat(vec![outside.clone(), shrunk], 0).select(0, self.rows.clone())
        };
        Bounds {
            low: bound(low),
            high: bound(high),
        }
    }
}

impl RecurrentNetwork {
    /// Computes Σ weight · loss of the worst case of `items`, of which there is at least one, as
    /// [`IntervalKernels::worst_case_gradients`] does.
    ///
    /// [`IntervalKernels::worst_case_gradients`]: crate::recurrent::interval::IntervalKernels::worst_case_gradients
    pub fn worst_case_loss(
        &self,
        table: EmbeddingTable<'_>,
        items: &[WorstCase<'_>],
        radius: f32,
        device: &Device,
    ) -> Tensor<1> {
        let texts = Replaced::new(table, items, device);
        let mut below: Option<Bounds> = None;
        let mut last = Vec::new();
        for directions in &self.layers {
            let run = |(d, direction): (usize, &DirectionModule)| {
                let projected = match &below {
                    None => texts.projected(direction, radius),
                    Some(below) => below
                        .clone()
                        .affine(&direction.input, &direction.input_bias),
                };
                direction.bound(&projected, &texts.mask, items.len(), d == 1)
            };
            let (outputs, states): (Vec<_>, Vec<_>) =
                directions.iter().enumerate().map(run).unzip();
            below = Some(Bounds::beside(outputs, 1));
            last = states;
        }
        let last = Bounds::beside(last, 1);
        let mut loss = Tensor::zeros([1], device);
        for label in 0..self.shape.classes {
            let weights = items.iter().map(|item| match item.label as usize == label {
                true => item.weight,
                false => 0.0,
            });
            let weights = TensorData::new(weights.collect::<Vec<f32>>(), [items.len(), 1]);
            // The largest leads of every class over `label`, which are 0 for `label` itself.
            let weight = self.head.clone() - self.head.clone().narrow(1, label, 1);
            let bias = self.head_bias.clone() - self.head_bias.clone().narrow(1, label, 1);
            let leads = last.clone().affine(&weight, &bias).high;
            let of_label = log_softmax(leads, 1).narrow(1, label, 1);
            loss = loss - (of_label * Tensor::from_data(weights, device)).sum();
        }
        loss
    }
}

impl DirectionModule {
    /// Bounds the hidden states at all steps, `[steps · batch, units]`, and the last one, `[batch,
    /// units]`, given those of the input products.
    fn bound(
        &self,
        projected: &Bounds,
        mask: &Tensor<2>,
        batch: usize,
        reverse: bool,
    ) -> (Bounds, Bounds) {
        let device = mask.device();
        let steps = mask.dims()[0] / batch.max(1);
        let mut hidden = Bounds::of_point(Tensor::zeros([batch, self.units], &device));
        let mut cell = hidden.clone();
        let mut outputs = vec![hidden.clone(); steps];
        for i in 0..steps {
            let t = if reverse { steps - 1 - i } else { i };
            let from_input = projected.narrow(0, t * batch, batch);
            let from_hidden = hidden.clone();
            let from_hidden = from_hidden.affine(&self.recurrent, &self.recurrent_bias);
            let active = mask.clone().narrow(0, t * batch, batch);
            let (next, next_cell) = self.bound_step(&from_input, &from_hidden, &hidden, &cell);
            hidden = Bounds::chosen(&active, next, hidden);
            cell = Bounds::chosen(&active, next_cell, cell);
            outputs[t] = hidden.clone();
        }
        (Bounds::beside(outputs, 0), hidden)
    }

    /// Bounds the new hidden and cell state.
    fn bound_step(
        &self,
        from_input: &Bounds,
        from_hidden: &Bounds,
        hidden: &Bounds,
        cell: &Bounds,
    ) -> (Bounds, Bounds) {
        let gate = |all: &Bounds, gate: usize| all.narrow(1, gate * self.units, self.units);
        let sum = |number: usize| gate(from_input, number).plus(gate(from_hidden, number));
        let open = |number: usize| sum(number).through(sigmoid);
        match self.cell {
            CellKind::Lstm => {
                let new = sum(2).through(tanh).times(&open(0));
                let cell = cell.clone().times(&open(1)).plus(new);
                (cell.clone().through(tanh).times(&open(3)), cell)
            }
            CellKind::Gru => {
                let from_state = gate(from_hidden, 2).times(&open(0));
                let new = gate(from_input, 2).plus(from_state).through(tanh);
                // n + z·(h − n) rises with n and with h: each end has the same n in both places.
                let difference = Bounds {
                    low: hidden.low.clone() - new.low.clone(),
                    high: hidden.high.clone() - new.high.clone(),
                };
                (difference.times(&open(1)).plus(new), cell.clone())
            }
        }
    }
}
