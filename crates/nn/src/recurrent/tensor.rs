//! A recurrent network as burn operations, for devices without hand-written kernels.
//!
//! One module for both cells: the input's product of all steps at once, one recurrent product a
//! step, masks inside. Steps lie one after another in two-dimensional tensors (time-major), so that
//! a step is a contiguous part. burn differentiates it; tests hold it against burn's own `Lstm` and
//! `Gru` and against the kernels.

mod worst_case;

use std::ops::Range;

use burn::tensor::Tensor;
use burn::tensor::activation::{sigmoid, tanh};

use super::network::{CellKind, Shape};

/// A recurrent network on a device.
#[derive(Debug, Clone)]
pub struct RecurrentNetwork {
    shape: Shape,
    /// The directions, `[layers][directions]`.
    layers: Vec<Vec<DirectionModule>>,
    /// The weights of the linear layer, `[outputs, classes]`.
    head: Tensor<2>,
    /// The biases of the linear layer, `[1, classes]`.
    head_bias: Tensor<2>,
}

/// The parameters of one direction of one layer.
#[derive(Debug, Clone)]
struct DirectionModule {
    cell: CellKind,
    units: usize,
    /// The weights of the inputs, `[inputs, gates · units]`.
    input: Tensor<2>,
    /// The weights of the hidden states, `[units, gates · units]`.
    recurrent: Tensor<2>,
    /// The biases of the input product, `[1, gates · units]`.
    input_bias: Tensor<2>,
    /// The biases of the recurrent product, `[1, gates · units]`.
    recurrent_bias: Tensor<2>,
}

impl RecurrentNetwork {
    /// Makes a network of `shape` whose numbers are `values`, `[1, shape.parameters()]`, in the
    /// order of [`RecurrentWeights`](super::network::RecurrentWeights). The network is
    /// differentiable with respect to these numbers.
    pub fn new(shape: Shape, values: &Tensor<2>) -> RecurrentNetwork {
        let transposed = |range: Range<usize>, rows: usize| {
            let columns = range.len() / rows.max(1);
            let part = values.clone().narrow(1, range.start, range.len());
            part.reshape([rows, columns]).transpose()
        };
        let gates = shape.cell.gates() * shape.units;
        let direction = |layer, direction| {
            let at = shape.direction(layer, direction);
            DirectionModule {
                cell: shape.cell,
                units: shape.units,
                input: transposed(at.weight_ih, gates),
                recurrent: transposed(at.weight_hh, gates),
                input_bias: transposed(at.bias_ih, gates),
                recurrent_bias: transposed(at.bias_hh, gates),
            }
        };
        let (head, head_bias) = shape.head();
        RecurrentNetwork {
            shape,
            layers: (0..shape.layers)
                .map(|layer| {
                    (0..shape.directions())
                        .map(|d| direction(layer, d))
                        .collect()
                })
                .collect(),
            head: transposed(head, shape.classes),
            head_bias: transposed(head_bias, shape.classes),
        }
    }

    /// Computes the logits `[batch, classes]` of `batch` texts: `embedded` `[steps · batch,
    /// inputs]` and `mask` `[steps · batch, 1]`, step by step; the mask is 1 where a text has a
    /// token and 0 behind its end. What `embedded` holds there does not matter as long as it is
    /// finite.
    pub fn forward(&self, embedded: Tensor<2>, mask: Tensor<2>, batch: usize) -> Tensor<2> {
        let device = embedded.device();
        let mut inputs = embedded;
        let mut last = vec![Tensor::zeros([batch, self.shape.outputs()], &device)];
        for directions in &self.layers {
            let (outputs, states): (Vec<_>, Vec<_>) = directions
                .iter()
                .enumerate()
                .map(|(d, direction)| direction.forward(inputs.clone(), &mask, batch, d == 1))
                .unzip();
            inputs = Tensor::cat(outputs, 1);
            last = states;
        }
        Tensor::cat(last, 1).matmul(self.head.clone()) + self.head_bias.clone()
    }
}

impl DirectionModule {
    /// Computes the hidden states at all steps `[steps · batch, units]`, and the last one `[batch,
    /// units]`.
    fn forward(
        &self,
        inputs: Tensor<2>,
        mask: &Tensor<2>,
        batch: usize,
        reverse: bool,
    ) -> (Tensor<2>, Tensor<2>) {
        let device = inputs.device();
        let steps = inputs.dims()[0] / batch.max(1);
        let projected = inputs.matmul(self.input.clone()) + self.input_bias.clone();
        let mut hidden = Tensor::zeros([batch, self.units], &device);
        let mut cell = hidden.clone();
        let mut outputs = vec![hidden.clone(); steps];
        for i in 0..steps {
            let t = if reverse { steps - 1 - i } else { i };
            let from_input = projected.clone().narrow(0, t * batch, batch);
            let from_hidden =
                hidden.clone().matmul(self.recurrent.clone()) + self.recurrent_bias.clone();
            let active = mask.clone().narrow(0, t * batch, batch);
            let (next, next_cell) = self.step(from_input, from_hidden, &hidden, &cell);
            hidden = choose(&active, next, hidden);
            cell = choose(&active, next_cell, cell);
            outputs[t] = hidden.clone();
        }
        let outputs = if outputs.is_empty() {
            Tensor::zeros([0, self.units], &device)
        } else {
            Tensor::cat(outputs, 0)
        };
        (outputs, hidden)
    }

    /// Computes the new hidden and cell state from both products.
    fn step(
        &self,
        from_input: Tensor<2>,
        from_hidden: Tensor<2>,
        hidden: &Tensor<2>,
        cell: &Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>) {
        let gate = |tensor: &Tensor<2>, gate: usize| {
            tensor.clone().narrow(1, gate * self.units, self.units)
        };
        match self.cell {
            CellKind::Lstm => {
                let sum = from_input + from_hidden;
                let new = sigmoid(gate(&sum, 0)) * tanh(gate(&sum, 2));
                let cell = sigmoid(gate(&sum, 1)) * cell.clone() + new;
                (sigmoid(gate(&sum, 3)) * tanh(cell.clone()), cell)
            }
            CellKind::Gru => {
                let sum = from_input.clone() + from_hidden.clone();
                let reset = sigmoid(gate(&sum, 0));
                let update = sigmoid(gate(&sum, 1));
                let new = tanh(gate(&from_input, 2) + reset * gate(&from_hidden, 2));
                let next = new.clone() + update * (hidden.clone() - new);
                (next, cell.clone())
            }
        }
    }
}

/// Returns `new` where `active` is 1, `old` where it is 0; `active` is `[batch, 1]`.
fn choose(active: &Tensor<2>, new: Tensor<2>, old: Tensor<2>) -> Tensor<2> {
    new * active.clone() + old * active.clone().neg().add_scalar(1.0)
}

#[cfg(test)]
mod tests {
    use burn::module::Param;
    use burn::nn::{GateController, GruConfig, Linear, LstmConfig};
    use burn::tensor::{Device, TensorData};
    use rand::RngExt;

    use super::super::backward::Batch;
    use super::super::kernels::{EmbeddingTable, Kernels};
    use super::super::network::RecurrentWeights;
    use super::*;
    use crate::fnn::read;
    use probity_run::stream::{Purpose, stream};

    const BATCH: usize = 6;
    const STEPS: usize = 9;
    const INPUTS: usize = 5;

    fn shape(cell: CellKind, layers: usize, bidirectional: bool) -> Shape {
        Shape {
            cell,
            inputs: INPUTS,
            units: 4,
            layers,
            bidirectional,
            classes: 3,
        }
    }

    /// Makes every cell, number of layers and direction, with weights.
    fn networks() -> Vec<RecurrentWeights> {
        let mut networks = Vec::new();
        for cell in [CellKind::Lstm, CellKind::Gru] {
            for layers in 1..=3 {
                for bidirectional in [false, true] {
                    let mut weights =
                        RecurrentWeights::random(shape(cell, layers, bidirectional), layers as u64);
                    for (i, value) in weights.values.iter_mut().enumerate() {
                        *value += ((i * 37 % 19) as f32 - 9.0) * 0.05;
                    }
                    networks.push(weights);
                }
            }
        }
        networks
    }

    /// Returns the numbers of a network, `[1, numbers]`.
    fn values(weights: &RecurrentWeights, device: &Device) -> Tensor<2> {
        let data = TensorData::new(weights.values.clone(), [1, weights.values.len()]);
        Tensor::from_data(data, device)
    }

    /// Makes one embedding a text and step, `[BATCH, STEPS, INPUTS]`.
    fn embeddings() -> Vec<f32> {
        let mut stream = stream(3, Purpose::UniformInput, 0, 0);
        (0..BATCH * STEPS * INPUTS)
            .map(|_| stream.random_range(-1.5..1.5))
            .collect()
    }

    /// Makes texts that name those embeddings, as many of each as `lengths` says.
    fn texts(lengths: [usize; BATCH]) -> Vec<Vec<i32>> {
        let first = |text: usize| (text * STEPS) as i32;
        (0..BATCH)
            .map(|text| (first(text)..first(text) + lengths[text] as i32).collect())
            .collect()
    }

    /// Makes the embeddings step by step, and the mask.
    fn time_major(lengths: [usize; BATCH], device: &Device) -> (Tensor<2>, Tensor<2>) {
        let values = embeddings();
        let (mut rows, mut mask) = (Vec::new(), Vec::new());
        for t in 0..STEPS {
            for (text, &length) in lengths.iter().enumerate() {
                rows.extend_from_slice(&values[(text * STEPS + t) * INPUTS..][..INPUTS]);
                mask.push(if t < length { 1.0 } else { 0.0 });
            }
        }
        let rows = TensorData::new(rows, [STEPS * BATCH, INPUTS]);
        let mask = TensorData::new(mask, [STEPS * BATCH, 1]);
        (
            Tensor::from_data(rows, device),
            Tensor::from_data(mask, device),
        )
    }

    const RAGGED: [usize; BATCH] = [9, 0, 1, 5, 8, 3];

    fn close(own: &[f32], expected: &[f32], tolerance: f32) {
        assert_eq!(own.len(), expected.len());
        for (own, expected) in own.iter().zip(expected) {
            assert!((own - expected).abs() <= tolerance, "{own} {expected}");
        }
    }

    /// Returns gate `gate` of a direction as burn-nn keeps it.
    fn gate(
        weights: &RecurrentWeights,
        layer: usize,
        gate: usize,
        device: &Device,
    ) -> GateController {
        let units = weights.shape.units;
        let tensors = weights.direction(layer, 0);
        let linear = |weight: &[f32], bias: &[f32]| {
            let columns = weight.len() / (weights.shape.cell.gates() * units);
            let rows = &weight[gate * units * columns..][..units * columns];
            let weight = TensorData::new(rows.to_vec(), [units, columns]);
            let bias = TensorData::new(bias[gate * units..][..units].to_vec(), [units]);
            Linear {
                weight: Param::from_tensor(Tensor::<2>::from_data(weight, device).transpose()),
                bias: Some(Param::from_tensor(Tensor::<1>::from_data(bias, device))),
            }
        };
        GateController {
            input_transform: linear(tensors.weight_ih, tensors.bias_ih),
            hidden_transform: linear(tensors.weight_hh, tensors.bias_hh),
        }
    }

    /// Computes the last hidden states `[BATCH, units]` of burn-nn's own cells, layer upon layer.
    fn burn_nn(weights: &RecurrentWeights, device: &Device) -> Tensor<2> {
        let units = weights.shape.units;
        let data = TensorData::new(embeddings(), [BATCH, STEPS, INPUTS]);
        let mut values = Tensor::<3>::from_data(data, device);
        for layer in 0..weights.shape.layers {
            let gate = |number| gate(weights, layer, number, device);
            let inputs = weights.shape.layer_inputs(layer);
            values = match weights.shape.cell {
                CellKind::Lstm => {
                    let mut lstm = LstmConfig::new(inputs, units, true).init(device);
                    lstm.input_gate = gate(0);
                    lstm.forget_gate = Some(gate(1));
                    lstm.cell_gate = gate(2);
                    lstm.output_gate = gate(3);
                    lstm.forward(values, None).0
                }
                CellKind::Gru => {
                    let mut gru = GruConfig::new(inputs, units, true).init(device);
                    gru.reset_gate = gate(0);
                    gru.update_gate = gate(1);
                    gru.new_gate = gate(2);
                    gru.forward(values, None)
                }
            };
        }
        values.narrow(1, STEPS - 1, 1).reshape([BATCH, units])
    }

    #[test]
    fn equals_the_cells_of_burn_nn() {
        let device = Device::flex();
        for weights in networks().iter().filter(|w| !w.shape.bidirectional) {
            let network = RecurrentNetwork::new(weights.shape, &values(weights, &device));
            let last = burn_nn(weights, &device);
            let expected = last.matmul(network.head.clone()) + network.head_bias.clone();
            let expected = read(expected).unwrap();
            let (embedded, mask) = time_major([STEPS; BATCH], &device);
            let own = read(network.forward(embedded, mask, BATCH)).unwrap();
            close(&own, &expected, 1e-5);
            let embeddings = embeddings();
            let table = EmbeddingTable {
                values: &embeddings,
                dimension: INPUTS,
            };
            let texts = texts([STEPS; BATCH]);
            let texts: Vec<&[i32]> = texts.iter().map(Vec::as_slice).collect();
            close(
                &Kernels::new(weights).logits(table, &texts),
                &expected,
                1e-5,
            );
        }
    }

    #[test]
    fn logits_and_all_gradients_equal_the_kernels_on_ragged_texts() {
        let device = Device::flex();
        let embeddings = embeddings();
        let table = EmbeddingTable {
            values: &embeddings,
            dimension: INPUTS,
        };
        let texts = texts(RAGGED);
        let texts: Vec<&[i32]> = texts.iter().map(Vec::as_slice).collect();
        for weights in networks() {
            let kernels = Kernels::new(&weights);
            let values = values(&weights, &device);
            let network = RecurrentNetwork::new(weights.shape, &values);
            let (embedded, mask) = time_major(RAGGED, &device);
            let logits = network.forward(embedded.clone(), mask.clone(), BATCH);
            let logits = read(logits).unwrap();
            close(&logits, &kernels.logits(table, &texts), 1e-5);

            let values = values.autodiff().require_grad();
            let network = RecurrentNetwork::new(weights.shape, &values);
            let embedded = embedded.autodiff().require_grad();
            let logits = network.forward(embedded.clone(), mask.autodiff(), BATCH);
            let loss = burn::tensor::activation::log_softmax(logits, 1)
                .narrow(1, 1, 1)
                .mean()
                .neg();
            let all = loss.backward();
            let batch = Batch {
                texts: &texts,
                labels: &[1; BATCH],
                class_weights: &[1.0; 3],
            };
            let own = kernels.batch_gradients(table, batch, true);
            let gradient = |tensor: &Tensor<2>| read(tensor.grad(&all).unwrap()).unwrap();
            close(&own.parameters, &gradient(&values), 1e-5);
            let expected = gradient(&embedded);
            let own = own.embeddings.unwrap();
            for (&token, vector) in own.tokens.iter().zip(own.values.chunks_exact(INPUTS)) {
                let (text, t) = (token as usize / STEPS, token as usize % STEPS);
                close(
                    vector,
                    &expected[(t * BATCH + text) * INPUTS..][..INPUTS],
                    1e-5,
                );
            }
        }
    }
}
