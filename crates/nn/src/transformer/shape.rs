//! The sizes of a transformer, and where its parameters lie in one flat list.

use std::ops::Range;

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::recurrent::network::TensorSpan;
use probity_run::stream::{Purpose, stream};

/// The most numbers that a transformer may have: 4 GB.
const MOST_PARAMETERS: usize = 1 << 30;
/// The standard deviation of fresh weights (Devlin et al. 2019, as published with the paper).
const DEVIATION: f32 = 0.02;

/// What the inner layer of a block applies to each number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InnerActivation {
    /// x·Φ(x), with the distribution function Φ of the normal distribution
    #[default]
    Gelu,
    /// x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2
    GeluTanh,
    /// max(x, 0)
    Relu,
}

/// Which of the last states the head reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// That of the first piece, the mark of the beginning
    First,
    /// The mean of those of all pieces
    #[default]
    Mean,
}

/// The activation that the hidden layer of the head applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadActivation {
    /// The hyperbolic tangent.
    Tanh,
    /// The rectifier, max(x, 0).
    Relu,
}

/// The shape of a transformer that classifies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The number of pieces of the vocabulary.
    pub vocabulary: usize,
    /// The number of rows of the table of positions.
    pub positions: usize,
    /// The row of that table for a text's first piece: 0, or behind that of padding in RoBERTa.
    pub first_position: usize,
    /// The number of rows of the table of segments, of which texts have the first; 0 without the
    /// table.
    pub segments: usize,
    /// The width of a state, in numbers.
    pub units: usize,
    /// The number of heads of attention, which share the units.
    pub heads: usize,
    /// The number of blocks of attention and inner layer.
    pub layers: usize,
    /// The number of units of the inner layer.
    pub inner: usize,
    /// The activation that the inner layer applies.
    pub activation: InnerActivation,
    /// The number ε added to the variance before a state is divided by its root.
    pub epsilon: f32,
    /// The states that the head reads.
    pub pooling: Pooling,
    /// The activation of the head's hidden layer, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<HeadActivation>,
    /// The number of classes.
    pub classes: usize,
}

/// The ranges of weight and bias of a linear layer, or of gain and bias of a normalisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affine {
    /// The range of the weight, `[outputs, inputs]`, or of the gain, `[units]`.
    pub weight: Range<usize>,
    /// The range of the bias, `[outputs]`.
    pub bias: Range<usize>,
}

/// The places where the parameters of a block lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerSpans {
    /// The layers of queries, keys and values: each `[units, units]`.
    pub projections: [Affine; 3],
    /// The layer that reads what attention gives: `[units, units]`.
    pub attention: Affine,
    /// The normalisation behind attention.
    pub attention_norm: Affine,
    /// The inner layer, `[inner, units]`.
    pub inner: Affine,
    /// The layer behind the inner layer, `[units, inner]`.
    pub outer: Affine,
    /// The normalisation behind the inner layer.
    pub output_norm: Affine,
}

/// The places where all parameters lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spans {
    /// The table of words, `[vocabulary, units]`.
    pub words: Range<usize>,
    /// The table of positions, `[positions, units]`.
    pub positions: Range<usize>,
    /// The table of segments, `[segments, units]`.
    pub segments: Range<usize>,
    /// The normalisation of the sum of embeddings.
    pub norm: Affine,
    /// The places of each block.
    pub layers: Vec<LayerSpans>,
    /// The head's hidden layer, `[units, units]`, where it has one.
    pub dense: Option<Affine>,
    /// The linear layer that gives the logits, `[classes, units]`.
    pub classifier: Affine,
}

/// A cutter that cuts ranges off the flat list one behind the other, and names them.
#[derive(Default)]
pub(super) struct Cutter {
    end: usize,
    pub tensors: Vec<TensorSpan>,
}

impl Cutter {
    pub fn cut(&mut self, name: String, rows: usize, columns: usize) -> Range<usize> {
        let range = self.end..self.end + rows * columns;
        self.end = range.end;
        self.tensors.push(TensorSpan {
            name,
            rows,
            columns,
            range: range.clone(),
        });
        range
    }

    pub fn affine(&mut self, name: &str, outputs: usize, inputs: usize) -> Affine {
        Affine {
            weight: self.cut(format!("{name}.weight"), outputs, inputs),
            bias: self.cut(format!("{name}.bias"), outputs, 1),
        }
    }
}

impl Shape {
    /// Returns what is wrong with these sizes, if anything; the sizes of a file are checked by this
    /// before memory is asked for.
    pub fn problem(&self) -> Option<String> {
        for (name, size, most) in [
            ("pieces of the vocabulary", self.vocabulary, 1 << 22),
            ("positions", self.positions, 1 << 16),
            ("units", self.units, 1 << 14),
            ("heads", self.heads, 1 << 10),
            ("layers", self.layers, 128),
            ("units of the inner layer", self.inner, 1 << 16),
        ] {
            if !(1..=most).contains(&size) {
                return Some(format!("{size} {name}; 1 to {most} are supported"));
            }
        }
        if !self.units.is_multiple_of(self.heads) {
            let (units, heads) = (self.units, self.heads);
            return Some(format!("{units} units, which {heads} heads cannot share"));
        }
        // An encoder has no classes, and DistilBERT no segments.
        for (name, size, most) in [
            ("segments", self.segments, 1 << 10),
            ("classes", self.classes, 1 << 16),
        ] {
            if size > most {
                return Some(format!("{size} {name}; 0 to {most} are supported"));
            }
        }
        if self.longest() == 0 {
            let (positions, first) = (self.positions, self.first_position);
            return Some(format!(
                "{positions} positions, of which the first is number {first}"
            ));
        }
        if !(self.epsilon > 0.0 && self.epsilon < 1.0) {
            return Some(format!(
                "an epsilon of {}; it is between 0 and 1",
                self.epsilon
            ));
        }
        let parameters = self.parameters();
        (parameters > MOST_PARAMETERS)
            .then(|| format!("{parameters} parameters; {MOST_PARAMETERS} are supported"))
    }

    /// Returns the rows of the table of positions that the pieces of `text` have. A piece that is
    /// written as the padding of RoBERTa has the row of padding, and the pieces after it do not
    /// count it.
    pub fn positions_of<'t>(&self, text: &'t [i32]) -> impl Iterator<Item = usize> + use<'t> {
        let padding = self.first_position.checked_sub(1);
        let mut next = self.first_position;
        text.iter().map(move |&id| {
            if let Some(padding) = padding.filter(|&padding| usize::try_from(id) == Ok(padding)) {
                return padding;
            }
            next += 1;
            next - 1
        })
    }

    /// The most pieces of a text.
    pub fn longest(&self) -> usize {
        self.positions.saturating_sub(self.first_position)
    }

    /// The width of a head of attention, in numbers.
    pub fn head_units(&self) -> usize {
        self.units / self.heads.max(1)
    }

    /// The number of parameters.
    pub fn parameters(&self) -> usize {
        self.spans().classifier.bias.end
    }

    /// The number of the first parameter of the head, behind those of the encoder.
    pub fn head_start(&self) -> usize {
        let spans = self.spans();
        spans
            .dense
            .map_or(spans.classifier.weight.start, |dense| dense.weight.start)
    }

    /// Returns the places where the parameters lie.
    pub fn spans(&self) -> Spans {
        self.cut().0
    }

    /// Returns all tensors of the flat list, in order. A matrix of a linear layer is `[outputs,
    /// inputs]`; vectors have one column.
    pub fn tensors(&self) -> Vec<TensorSpan> {
        self.cut().1
    }

    fn cut(&self) -> (Spans, Vec<TensorSpan>) {
        let mut cutter = Cutter::default();
        let (units, inner) = (self.units, self.inner);
        let mut table = |name: &str, rows| cutter.cut(format!("embeddings.{name}"), rows, units);
        let (words, positions) = (
            table("words", self.vocabulary),
            table("positions", self.positions),
        );
        let segments = match self.segments {
            0 => positions.end..positions.end,
            rows => table("segments", rows),
        };
        let norm = cutter.affine("embeddings.norm", units, 1);
        let mut layer = |number: usize| {
            let mut affine = |name: &str, outputs, inputs| {
                cutter.affine(&format!("layers.{number}.{name}"), outputs, inputs)
            };
            LayerSpans {
                projections: ["query", "key", "value"].map(|name| affine(name, units, units)),
                attention: affine("attention", units, units),
                attention_norm: affine("attention_norm", units, 1),
                inner: affine("inner", inner, units),
                outer: affine("outer", units, inner),
                output_norm: affine("output_norm", units, 1),
            }
        };
        let layers = (0..self.layers).map(&mut layer).collect();
        let dense = self.head.map(|_| cutter.affine("dense", units, units));
        let classifier = cutter.affine("classifier", self.classes, units);
        let spans = Spans {
            words,
            positions,
            segments,
            norm,
            layers,
            dense,
            classifier,
        };
        (spans, cutter.tensors)
    }
}

/// The parameters of a transformer.
#[derive(Debug, Clone, PartialEq)]
pub struct TransformerWeights {
    /// The shape of the transformer.
    pub shape: Shape,
    /// All parameters; see [`Shape::tensors`].
    pub values: Vec<f32>,
}

impl TransformerWeights {
    /// Draws fresh parameters: weights uniform with standard deviation 0.02, gains 1, biases 0.
    pub fn random(shape: Shape, seed: u64) -> TransformerWeights {
        let mut weights = TransformerWeights {
            shape,
            values: vec![0.0; shape.parameters()],
        };
        weights.draw(0, seed);
        weights
    }

    /// Draws the parameters from number `start` on anew, as [`TransformerWeights::random`] does.
    pub fn draw(&mut self, start: usize, seed: u64) {
        let bound = DEVIATION * 3f32.sqrt();
        for (item, tensor) in self.shape.tensors().into_iter().enumerate() {
            if tensor.range.start < start {
                continue;
            }
            let values = &mut self.values[tensor.range];
            if tensor.name.ends_with("bias") {
                values.fill(0.0);
            } else if tensor.columns == 1 && tensor.name.ends_with("norm.weight") {
                values.fill(1.0);
            } else {
                let mut stream = stream(seed, Purpose::Weights, item as u64, 0);
                values.fill_with(|| stream.random_range(-bound..=bound));
            }
        }
    }

    /// Returns the head alone, as a network that is never given a text.
    pub fn head_alone(&self) -> TransformerWeights {
        let shape = Shape {
            vocabulary: 0,
            positions: 0,
            segments: 0,
            layers: 0,
            ..self.shape
        };
        let mut values = vec![0.0; shape.head_start()];
        values.extend_from_slice(&self.values[self.shape.head_start()..]);
        TransformerWeights { shape, values }
    }

    /// Returns the embedding of the piece `id`, `[units]`.
    pub fn embedding(&self, id: i32) -> &[f32] {
        let units = self.shape.units;
        &self.values[id as usize * units..][..units]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::shape;

    #[test]
    fn tensors_tile_the_flat_list() {
        let mut end = 0;
        for tensor in shape().tensors() {
            assert_eq!(tensor.range.start, end, "{}", tensor.name);
            assert_eq!(tensor.rows * tensor.columns, tensor.range.len());
            end = tensor.range.end;
        }
        assert_eq!(end, shape().parameters());
    }

    #[test]
    fn sizes_that_no_network_has_are_named() {
        let mut other = shape();
        other.heads = 5;
        assert!(other.problem().unwrap().contains("5 heads cannot share"));
        let mut other = shape();
        other.first_position = other.positions;
        assert!(other.problem().unwrap().contains("positions, of which"));
        let mut other = shape();
        (other.units, other.inner, other.layers) = (1 << 14, 1 << 16, 128);
        other.heads = 1;
        assert!(other.problem().unwrap().contains("parameters"));
        assert_eq!(shape().problem(), None);
    }
}
