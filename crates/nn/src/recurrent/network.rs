//! A recurrent classifier on the host: its shape and its numbers, in PyTorch's layout.
//!
//! Embeddings of the tokens → layers of LSTM or GRU, each in one or both directions → the last
//! hidden states (forward direction: after the last token; backward direction: after the first)
//! → one linear layer → logits. A text without a token has the zero state.
//!
//! All parameters lie in one flat list of row-major tensors in the order of [`Shape::tensors`]:
//! for each layer and direction `weight_ih` `[gates · units, inputs]`, `weight_hh`
//! `[gates · units, units]`, `bias_ih` and `bias_hh` `[gates · units]`; then `weight`
//! `[classes, directions · units]` and `bias` `[classes]` of the linear layer. Gates stand in
//! PyTorch's order (LSTM i, f, g, o; GRU r, z, n with bias_hh of n inside the product with r), so
//! that the tensors of `torch.nn.LSTM` and `torch.nn.GRU` are taken as they are. burn's `Lstm` and
//! `Gru` (with `reset_after`) keep one transposed matrix a gate.

use std::ops::Range;

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cell::{Cell, Gru, Lstm};
use probity_run::stream::{Purpose, stream};

/// The kind of recurrent cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CellKind {
    /// Long short-term memory
    #[default]
    Lstm,
    /// Gated recurrent unit
    Gru,
}

impl CellKind {
    /// The number of gates of the cell's weights.
    pub fn gates(self) -> usize {
        match self {
            CellKind::Lstm => Lstm::GATES,
            CellKind::Gru => Gru::GATES,
        }
    }

    /// Whether the cell has a cell state beside the hidden one.
    pub fn has_cell_state(self) -> bool {
        match self {
            CellKind::Lstm => Lstm::HAS_CELL,
            CellKind::Gru => Gru::HAS_CELL,
        }
    }
}

/// The shape of a recurrent classifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// The kind of cell.
    pub cell: CellKind,
    /// The length of a token's embedding.
    pub inputs: usize,
    /// The number of units in a layer and direction.
    pub units: usize,
    /// The number of recurrent layers.
    pub layers: usize,
    /// Whether each layer also reads the text backwards.
    pub bidirectional: bool,
    /// The number of classes.
    pub classes: usize,
}

/// One tensor of the flat list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpan {
    /// The name of the tensor; in recurrent networks PyTorch's: `weight_ih_l0`,
    /// `bias_hh_l1_reverse`, …; `weight` and `bias` for the linear layer.
    pub name: String,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns; 1 for a bias.
    pub columns: usize,
    /// The range of its values in the flat list.
    pub range: Range<usize>,
}

/// The four tensors of one direction of one layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirectionTensors<T> {
    /// The weights of the inputs, `[gates · units, inputs]`.
    pub weight_ih: T,
    /// The weights of the hidden states, `[gates · units, units]`.
    pub weight_hh: T,
    /// The biases of the input product, `[gates · units]`.
    pub bias_ih: T,
    /// The biases of the recurrent product, `[gates · units]`.
    pub bias_hh: T,
}

impl Shape {
    /// Returns what is wrong with these sizes, if anything: none may be zero, and a slip of the
    /// finger must not end in an allocation failure.
    pub fn problem(&self) -> Option<String> {
        for (name, size, most) in [
            ("numbers a word vector", self.inputs, 8192),
            ("units", self.units, 4096),
            ("layers", self.layers, 64),
            ("classes", self.classes, 1 << 16),
        ] {
            if !(1..=most).contains(&size) {
                return Some(format!("{size} {name}; 1 to {most} are supported"));
            }
        }
        None
    }

    /// The number of directions: 1, or 2 when bidirectional.
    pub fn directions(&self) -> usize {
        1 + usize::from(self.bidirectional)
    }

    /// The number of values that layer `layer` reads at each step.
    pub fn layer_inputs(&self, layer: usize) -> usize {
        if layer == 0 {
            self.inputs
        } else {
            self.outputs()
        }
    }

    /// The number of values that a layer gives at each step.
    pub fn outputs(&self) -> usize {
        self.directions() * self.units
    }

    /// The number of trainable numbers, without embeddings.
    pub fn parameters(&self) -> usize {
        self.head().1.end
    }

    /// Returns where the tensors of a direction (0 forward, 1 backward) of a layer lie.
    pub fn direction(&self, layer: usize, direction: usize) -> DirectionTensors<Range<usize>> {
        let rows = self.cell.gates() * self.units;
        let length = |inputs: usize| rows * (inputs + self.units + 2);
        let before: usize = (0..layer)
            .map(|layer| self.directions() * length(self.layer_inputs(layer)))
            .sum();
        let inputs = self.layer_inputs(layer);
        let weight_ih = before + direction * length(inputs);
        let weight_hh = weight_ih + rows * inputs;
        let bias_ih = weight_hh + rows * self.units;
        let bias_hh = bias_ih + rows;
        DirectionTensors {
            weight_ih: weight_ih..weight_hh,
            weight_hh: weight_hh..bias_ih,
            bias_ih: bias_ih..bias_hh,
            bias_hh: bias_hh..bias_hh + rows,
        }
    }

    /// Returns where weight and bias of the linear layer lie.
    pub fn head(&self) -> (Range<usize>, Range<usize>) {
        let start = match self.layers.checked_sub(1) {
            Some(last) => self.direction(last, self.directions() - 1).bias_hh.end,
            None => 0,
        };
        let bias = start + self.classes * self.outputs();
        (start..bias, bias..bias + self.classes)
    }

    /// Returns all tensors of the flat list, in order.
    pub fn tensors(&self) -> Vec<TensorSpan> {
        let mut tensors = Vec::new();
        let mut push = |name: String, columns: usize, range: Range<usize>| {
            tensors.push(TensorSpan {
                name,
                rows: range.len() / columns.max(1),
                columns,
                range,
            });
        };
        for layer in 0..self.layers {
            for (direction, suffix) in ["", "_reverse"].into_iter().enumerate() {
                if direction < self.directions() {
                    let at = self.direction(layer, direction);
                    push(
                        format!("weight_ih_l{layer}{suffix}"),
                        self.layer_inputs(layer),
                        at.weight_ih,
                    );
                    push(
                        format!("weight_hh_l{layer}{suffix}"),
                        self.units,
                        at.weight_hh,
                    );
                    push(format!("bias_ih_l{layer}{suffix}"), 1, at.bias_ih);
                    push(format!("bias_hh_l{layer}{suffix}"), 1, at.bias_hh);
                }
            }
        }
        let (weight, bias) = self.head();
        push("weight".to_owned(), self.outputs(), weight);
        push("bias".to_owned(), 1, bias);
        tensors
    }
}

/// A recurrent classifier without its embeddings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecurrentWeights {
    /// The shape of the network.
    pub shape: Shape,
    /// All parameters; see the module's description.
    pub values: Vec<f32>,
}

impl RecurrentWeights {
    /// Random parameters as PyTorch draws them: uniform in ±1/√units, the linear layer in
    /// ±1/√inputs; except that the forget gates' bias_ih is 1 (Gers et al. 2000; Jozefowicz et al.
    /// 2015), so that a fresh LSTM remembers.
    pub fn random(shape: Shape, seed: u64) -> RecurrentWeights {
        let mut values = vec![0.0; shape.parameters()];
        let (head, _) = shape.head();
        for (item, tensor) in shape.tensors().into_iter().enumerate() {
            let fan = if tensor.range.start < head.start {
                shape.units
            } else {
                shape.outputs()
            };
            let bound = 1.0 / (fan as f32).sqrt();
            let mut stream = stream(seed, Purpose::Weights, item as u64, 0);
            for value in &mut values[tensor.range.clone()] {
                *value = stream.random_range(-bound..=bound);
            }
            if shape.cell == CellKind::Lstm && tensor.name.starts_with("bias_ih") {
                let forget = tensor.range.start + shape.units..tensor.range.start + 2 * shape.units;
                values[forget].fill(1.0);
            }
        }
        RecurrentWeights { shape, values }
    }

    /// Returns the tensors of a direction (0 forward, 1 backward) of a layer.
    pub fn direction(&self, layer: usize, direction: usize) -> DirectionTensors<&[f32]> {
        let at = self.shape.direction(layer, direction);
        DirectionTensors {
            weight_ih: &self.values[at.weight_ih],
            weight_hh: &self.values[at.weight_hh],
            bias_ih: &self.values[at.bias_ih],
            bias_hh: &self.values[at.bias_hh],
        }
    }

    /// Returns weight `[classes, directions · units]` and bias `[classes]` of the linear layer.
    pub fn head(&self) -> (&[f32], &[f32]) {
        let (weight, bias) = self.shape.head();
        (&self.values[weight], &self.values[bias])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_tile_the_flat_list() {
        for bidirectional in [false, true] {
            for cell in [CellKind::Lstm, CellKind::Gru] {
                let shape = Shape {
                    cell,
                    inputs: 5,
                    units: 3,
                    layers: 2,
                    bidirectional,
                    classes: 2,
                };
                let mut end = 0;
                for tensor in shape.tensors() {
                    assert_eq!(tensor.range.start, end, "{}", tensor.name);
                    assert_eq!(tensor.rows * tensor.columns, tensor.range.len());
                    end = tensor.range.end;
                }
                assert_eq!(end, shape.parameters());
            }
        }
    }
}
