//! A transformer laid out for the CPU, and its logits.
//!
//! Texts are put one behind the other, without padding, until there are `CHUNK` pieces; chunks are
//! worked on in parallel. Everything but attention treats pieces one by one, and attention texts one
//! by one, by operations whose order depends on nothing else: a text's bits are the same alone and
//! in any batch, on any number of threads.

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::attention::{AttentionSpace, Heads, set_zero};
use super::product::{Lines, Multiply, Panels};
use super::rows::{Activate, Normalise, Normalised};
use super::shape::{Affine, HeadActivation, LayerSpans, Pooling, Shape, Spans, TransformerWeights};
use crate::lanes::dispatch;

/// The number of pieces from which on a chunk is full: enough that the weights, which no near cache
/// holds, are read for many rows at once.
const CHUNK: usize = 128;

/// The matrices of a block.
#[derive(Debug)]
pub(super) struct LayerPanels {
    /// The matrices of queries, keys and values, side by side.
    pub projections: Panels,
    pub attention: Panels,
    pub inner: Panels,
    pub outer: Panels,
}

/// A transformer, ready to answer.
#[derive(Debug)]
pub struct Kernels {
    pub(super) weights: TransformerWeights,
    pub(super) spans: Spans,
    pub(super) layers: Vec<LayerPanels>,
    /// The biases of queries, keys and values, layer by layer.
    projection_biases: Vec<Vec<f32>>,
    pub(super) head: HeadPanels,
    /// The transposed matrices, which only gradients need.
    pub(super) back: OnceLock<(Vec<LayerPanels>, HeadPanels)>,
}

/// The matrices of the head.
#[derive(Debug)]
pub(super) struct HeadPanels {
    pub dense: Option<Panels>,
    pub classifier: Panels,
}

/// The values that a forward pass of a block leaves behind.
#[derive(Debug, Default)]
pub(super) struct LayerTrace {
    /// The states before the block, `[pieces, units]`.
    pub input: Vec<f32>,
    /// The queries, keys and values, `[pieces, 3·units]`.
    pub projected: Vec<f32>,
    /// The result of attention, `[pieces, units]`.
    pub mixed: Vec<f32>,
    pub attention_norm: Normalised,
    /// The states between attention and the inner layer, `[pieces, units]`.
    pub middle: Vec<f32>,
    /// The values of the inner layer before its activation, `[pieces, inner]`, and behind it.
    pub inner: Vec<f32>,
    pub activated: Vec<f32>,
    pub output_norm: Normalised,
}

/// The values that a forward pass of the embeddings and the head leaves behind.
#[derive(Debug, Default)]
pub(super) struct EndsTrace {
    pub norm: Normalised,
    /// The values that the head reads, `[texts, units]`.
    pub pooled: Vec<f32>,
    /// The values of the head's hidden layer behind its activation, `[texts, units]`; empty without
    /// one.
    pub dense: Vec<f32>,
}

/// The memory of a chunk, used again from chunk to chunk.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The states, `[pieces, units]`.
    pub states: Vec<f32>,
    /// The values of one block, or of each block where a backward pass follows.
    pub layers: Vec<LayerTrace>,
    pub ends: EndsTrace,
    pub attention: AttentionSpace,
    /// The logits, `[texts, classes]`.
    pub logits: Vec<f32>,
}

/// A choice of whether a backward pass follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Nothing,
    All,
}

impl Kernels {
    /// Lays out `weights`.
    pub fn new(weights: TransformerWeights) -> Kernels {
        let (shape, spans) = (weights.shape, weights.shape.spans());
        let values = &weights.values;
        let rows = |affine: &Affine, outputs, inputs| {
            Panels::of_rows(outputs, inputs, &values[affine.weight.clone()])
        };
        let units = shape.units;
        let layers = spans.layers.par_iter().map(|layer| LayerPanels {
            projections: Panels::of_rows(3 * units, units, &joined(values, layer)),
            attention: rows(&layer.attention, units, units),
            inner: rows(&layer.inner, shape.inner, units),
            outer: rows(&layer.outer, units, shape.inner),
        });
        let layers = layers.collect();
        let biases = spans.layers.iter().map(|layer| {
            let biases = layer.projections.iter();
            biases
                .flat_map(|part| &values[part.bias.clone()])
                .copied()
                .collect()
        });
        Kernels {
            layers,
            projection_biases: biases.collect(),
            head: HeadPanels {
                dense: spans.dense.as_ref().map(|dense| rows(dense, units, units)),
                classifier: rows(&spans.classifier, shape.classes, units),
            },
            back: OnceLock::new(),
            spans,
            weights,
        }
    }

    /// The shape of the network.
    pub fn shape(&self) -> &Shape {
        &self.weights.shape
    }

    /// The parameters of the network.
    pub fn weights(&self) -> &TransformerWeights {
        &self.weights
    }

    /// Returns the parameters of the network, to be changed.
    pub fn into_weights(self) -> TransformerWeights {
        self.weights
    }

    /// Computes the logits of `texts`, row-major `[texts, classes]`. Pieces are below the size of
    /// the vocabulary, texts have at least one and at most [`Shape::longest`], which the caller has
    /// checked.
    pub fn logits(&self, texts: &[&[i32]]) -> Vec<f32> {
        self.chunks(texts, |workspace, _| workspace.logits.clone())
    }

    /// Computes the values that the head reads of `texts`, `[texts, units]`.
    pub fn pooled(&self, texts: &[&[i32]]) -> Vec<f32> {
        self.chunks(texts, |workspace, _| workspace.ends.pooled.clone())
    }

    /// Returns what `work` gives for chunks of the texts, one behind the other. `work` is given
    /// what a forward pass has left, and which of the texts the chunk has.
    pub(super) fn chunks<T: Send>(
        &self,
        texts: &[&[i32]],
        work: impl Fn(&mut Workspace, Range<usize>) -> Vec<T> + Sync,
    ) -> Vec<T> {
        let chunks = chunks_of(texts).into_par_iter().with_max_len(1);
        let worked = chunks.map_init(Workspace::default, |workspace, chunk| {
            self.forward(&texts[chunk.clone()], workspace, Keep::Nothing);
            work(workspace, chunk)
        });
        let worked: Vec<Vec<T>> = worked.collect();
        worked.into_iter().flatten().collect()
    }

    pub(super) fn values(&self, range: &Range<usize>) -> &[f32] {
        &self.weights.values[range.clone()]
    }

    /// Computes the logits of a chunk into `workspace.logits`.
    pub(super) fn forward(&self, texts: &[&[i32]], workspace: &mut Workspace, keep: Keep) {
        self.embed(texts, workspace, keep);
        let traces = match keep {
            Keep::Nothing => 1,
            Keep::All => self.layers.len(),
        };
        workspace
            .layers
            .resize_with(traces.max(1), LayerTrace::default);
        for layer in 0..self.layers.len() {
            self.block(layer, texts, workspace, keep);
        }
        self.pool(texts, workspace);
        self.classify(workspace);
    }

    fn embed(&self, texts: &[&[i32]], workspace: &mut Workspace, keep: Keep) {
        let pieces: usize = texts.iter().map(|text| text.len()).sum();
        let states = &mut workspace.states;
        states.clear();
        states.reserve(pieces * self.shape().units);
        for text in texts {
            embed(&self.weights, &self.spans, text, states);
        }
        let kept = match keep {
            Keep::Nothing => None,
            Keep::All => Some(&mut workspace.ends.norm),
        };
        self.normalise(&self.spans.norm, states, kept);
    }

    fn normalise(&self, norm: &Affine, rows: &mut [f32], kept: Option<&mut Normalised>) {
        dispatch(Normalise {
            rows,
            gain: self.values(&norm.weight),
            bias: self.values(&norm.bias),
            epsilon: self.shape().epsilon,
            kept,
        });
    }

    /// Runs one block, on `workspace.states`.
    fn block(&self, layer: usize, texts: &[&[i32]], workspace: &mut Workspace, keep: Keep) {
        let (units, inner) = (self.shape().units, self.shape().inner);
        let (panels, spans) = (&self.layers[layer], &self.spans.layers[layer]);
        let Workspace {
            states,
            layers,
            attention,
            ..
        } = workspace;
        let keeps = keep == Keep::All;
        let trace = &mut layers[if keeps { layer } else { 0 }];
        let pieces = states.len() / units;
        let scratch = &mut attention.scratch;
        fill(&mut trace.projected, &self.projection_biases[layer], pieces);
        multiply(
            states,
            units,
            &panels.projections,
            &mut trace.projected,
            scratch,
        );
        set_zero(&mut trace.mixed, pieces * units);
        let heads = Heads::new(self.shape());
        let mut from = 0;
        for text in texts {
            let to = from + text.len();
            let mixed = &mut trace.mixed[from * units..to * units];
            let projected = &trace.projected[from * 3 * units..to * 3 * units];
            heads.attend(projected, mixed, attention);
            from = to;
        }
        let scratch = &mut attention.scratch;
        if keeps {
            trace.input.clone_from(states);
        }
        add_bias(states, self.values(&spans.attention.bias));
        multiply(&trace.mixed, units, &panels.attention, states, scratch);
        let kept = keeps.then_some(&mut trace.attention_norm);
        self.normalise(&spans.attention_norm, states, kept);
        fill(&mut trace.inner, self.values(&spans.inner.bias), pieces);
        multiply(states, units, &panels.inner, &mut trace.inner, scratch);
        trace.activated.resize(pieces * inner, 0.0);
        let activation = self.shape().activation;
        dispatch(Activate(activation, &trace.inner, &mut trace.activated));
        if keeps {
            trace.middle.clone_from(states);
        }
        add_bias(states, self.values(&spans.outer.bias));
        multiply(&trace.activated, inner, &panels.outer, states, scratch);
        let kept = keeps.then_some(&mut trace.output_norm);
        self.normalise(&spans.output_norm, states, kept);
    }

    /// Computes the values that the head reads, into `workspace.ends.pooled`.
    fn pool(&self, texts: &[&[i32]], workspace: &mut Workspace) {
        let (shape, units) = (self.shape(), self.shape().units);
        let ends = &mut workspace.ends;
        set_zero(&mut ends.pooled, texts.len() * units);
        let mut rows = workspace.states.chunks_exact(units);
        for (text, pooled) in texts.iter().zip(ends.pooled.chunks_exact_mut(units)) {
            let share = share(shape.pooling, text.len());
            for (number, row) in rows.by_ref().take(text.len()).enumerate() {
                let share = if number == 0 { share.0 } else { share.1 };
                for (pooled, value) in pooled.iter_mut().zip(row) {
                    *pooled = value.mul_add(share, *pooled);
                }
            }
        }
    }

    /// Computes the logits of what the head reads.
    pub(super) fn classify(&self, workspace: &mut Workspace) {
        let (shape, spans) = (self.shape(), &self.spans);
        let (units, ends) = (shape.units, &mut workspace.ends);
        let texts = ends.pooled.len() / units;
        let scratch = &mut workspace.attention.scratch;
        ends.dense.clear();
        if let (Some(panels), Some(dense), Some(activation)) =
            (&self.head.dense, &spans.dense, shape.head)
        {
            fill(&mut ends.dense, self.values(&dense.bias), texts);
            multiply(&ends.pooled, units, panels, &mut ends.dense, scratch);
            for value in &mut ends.dense {
                *value = match activation {
                    HeadActivation::Tanh => value.tanh(),
                    HeadActivation::Relu => value.max(0.0),
                };
            }
        }
        let read = if ends.dense.is_empty() {
            &ends.pooled
        } else {
            &ends.dense
        };
        fill(
            &mut workspace.logits,
            self.values(&spans.classifier.bias),
            texts,
        );
        multiply(
            read,
            units,
            &self.head.classifier,
            &mut workspace.logits,
            scratch,
        );
    }
}

/// Appends the sums of the embeddings of the pieces of `text`, `[pieces, units]`, to `states`.
pub(super) fn embed(
    weights: &TransformerWeights,
    spans: &Spans,
    text: &[i32],
    states: &mut Vec<f32>,
) {
    let (units, values) = (weights.shape.units, &weights.values);
    let (words, positions) = (
        &values[spans.words.clone()],
        &values[spans.positions.clone()],
    );
    let segment = values[spans.segments.clone()].get(..units);
    for (position, &id) in weights.shape.positions_of(text).zip(text) {
        let word = &words[id as usize * units..][..units];
        let position = &positions[position * units..][..units];
        let start = states.len();
        states.extend(
            word.iter()
                .zip(position)
                .map(|(word, position)| word + position),
        );
        if let Some(segment) = segment {
            let state = states[start..].iter_mut();
            state
                .zip(segment)
                .for_each(|(state, value)| *state += value);
        }
    }
}

/// Puts texts one behind the other until there are [`CHUNK`] pieces.
pub(super) fn chunks_of(texts: &[&[i32]]) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let (mut first, mut pieces) = (0, 0);
    for (number, text) in texts.iter().enumerate() {
        pieces += text.len();
        if pieces >= CHUNK || number + 1 == texts.len() {
            chunks.push(first..number + 1);
            (first, pieces) = (number + 1, 0);
        }
    }
    chunks
}

/// Returns the factors of the state of the first piece and of the others in what the head reads of
/// a text.
pub(super) fn share(pooling: Pooling, pieces: usize) -> (f32, f32) {
    match pooling {
        Pooling::First => (1.0, 0.0),
        Pooling::Mean => {
            let share = 1.0 / pieces.max(1) as f32;
            (share, share)
        }
    }
}

/// Returns the matrices of queries, keys and values one above the other: `[3·units, units]`.
pub(super) fn joined(values: &[f32], layer: &LayerSpans) -> Vec<f32> {
    let parts = layer.projections.iter();
    parts
        .flat_map(|part| &values[part.weight.clone()])
        .copied()
        .collect()
}

/// Adds x·W to `y`, for all rows of `x`, of `inputs` numbers each.
pub(super) fn multiply(
    x: &[f32],
    inputs: usize,
    by: &Panels,
    y: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    let rows = x.len() / inputs;
    dispatch(Multiply {
        x: Lines::rows(x, inputs),
        rows,
        by,
        y_stride: y.len() / rows.max(1),
        y,
        scratch,
    });
}

/// Fills `values` with `rows` copies of `row`.
pub(super) fn fill(values: &mut Vec<f32>, row: &[f32], rows: usize) {
    values.clear();
    for _ in 0..rows {
        values.extend_from_slice(row);
    }
}

/// Adds `bias` to every row.
fn add_bias(rows: &mut [f32], bias: &[f32]) {
    for row in rows.chunks_exact_mut(bias.len().max(1)) {
        row.iter_mut()
            .zip(bias)
            .for_each(|(value, bias)| *value += bias);
    }
}
