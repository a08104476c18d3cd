//! Gradients of a transformer: with respect to the embeddings of a text's pieces, and with respect
//! to its parameters.
//!
//! The chain rule by hand, from the head down: each block's pass leaves what its way back needs
//! (`LayerTrace`), and the gradients with respect to the states are one matrix, `[pieces, units]`,
//! that goes down block by block. A batch that is learnt from is cut into `PARTS` parts whatever
//! the number of threads, and the parts' gradients are summed in their order.

use rayon::prelude::*;

use super::attention::{Heads, set_zero};
use super::kernels::{
    EndsTrace, HeadPanels, Keep, Kernels, LayerPanels, LayerTrace, Workspace, chunks_of, joined,
    multiply, share,
};
use super::product::{Lines, Multiply, Panels};
use super::rows::{ActivateBack, NormaliseBack, Normalised, add_rows};
use super::shape::{Affine, HeadActivation, Shape, Spans};
use crate::lanes::dispatch;
use crate::recurrent::backward::{Batch, BatchGradients, distinct_tokens};

/// The number of parts of a batch that are worked on side by side; each has gradients of its own in
/// memory.
const PARTS: usize = 4;

/// The parameters that learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learns {
    /// All parameters but the table of pieces, whose rows have an optimiser of their own.
    AllButPieces,
    /// All parameters.
    All,
}

/// The sums of gradients with respect to the parameters from number `start` on.
#[derive(Default)]
struct Sums {
    start: usize,
    values: Vec<f32>,
}

impl Sums {
    /// Returns the places of weight and bias.
    fn weight_and_bias(&mut self, affine: &Affine) -> (&mut [f32], &mut [f32]) {
        let both = affine.weight.start - self.start..affine.bias.end - self.start;
        self.values[both].split_at_mut(affine.weight.len())
    }
}

/// The memory of a way back.
#[derive(Default)]
struct Back {
    workspace: Workspace,
    /// The gradients with respect to the states, `[pieces, units]`.
    states: Vec<f32>,
    /// The gradients with respect to what stands between, `[pieces, units]`, `[pieces, 3·units]`
    /// and `[pieces, inner]`.
    mixed: Vec<f32>,
    projected: Vec<f32>,
    inner: Vec<f32>,
    panels: Panels,
}

/// The memory of [`Kernels::batch_gradients`]. For a large network this memory is more than all
/// else, and a training that gave it back after each step would wait for the operating system.
#[derive(Default)]
pub struct GradientSpace {
    parts: [PartSpace; PARTS],
}

/// The memory of a part of a batch.
#[derive(Default)]
struct PartSpace {
    back: Back,
    sums: Sums,
    /// The gradients with respect to the embeddings, `[pieces, units]`.
    embeddings: Vec<f32>,
    loss: f64,
}

impl Kernels {
    /// Computes for each text t and piece p Σ_c `cotangents[t, c]` · ∂logit_c/∂(embedding of p),
    /// piece by piece and text by text: row-major `[Σ pieces, units]`. `cotangents` is row-major
    /// `[texts, classes]`; texts are as [`Kernels::logits`] takes them.
    pub fn input_gradients(&self, texts: &[&[i32]], cotangents: &[f32]) -> Vec<f32> {
        let classes = self.shape().classes;
        let chunks = chunks_of(texts).into_par_iter().with_max_len(1);
        let gradients = chunks.map_init(Back::default, |back, chunk| {
            let cotangents = &cotangents[chunk.start * classes..chunk.end * classes];
            let texts = &texts[chunk];
            self.forward(texts, &mut back.workspace, Keep::All);
            self.backward(texts, cotangents, back, None);
            back.states.clone()
        });
        gradients.collect::<Vec<_>>().concat()
    }

    /// Computes the mean class-weighted cross-entropy of `batch` and its gradients: with respect to
    /// the parameters behind the table of pieces, and where the table learns to that of the batch's
    /// pieces. The content of `space` does not matter.
    pub fn batch_gradients(
        &self,
        batch: Batch<'_>,
        learns: Learns,
        space: &mut GradientSpace,
    ) -> BatchGradients {
        let scale = scale_of(batch.labels, batch.class_weights);
        let start = self.spans.words.end;
        let learnt = self.weights.values.len() - start;
        let of_part = |part: usize| {
            let at = |part: usize| batch.texts.len() * part / PARTS;
            at(part)..at(part + 1)
        };
        let parts = space.parts.par_iter_mut().enumerate().with_max_len(1);
        parts.for_each(|(number, part)| {
            part.sums.start = start;
            part.sums.values.clear();
            part.sums.values.resize(learnt, 0.0);
            part.embeddings.clear();
            part.loss = 0.0;
            let back = &mut part.back;
            let (texts, labels) = (
                &batch.texts[of_part(number)],
                &batch.labels[of_part(number)],
            );
            for chunk in chunks_of(texts) {
                let (texts, labels) = (&texts[chunk.clone()], &labels[chunk]);
                self.forward(texts, &mut back.workspace, Keep::All);
                let mut d_logits = back.workspace.logits.clone();
                part.loss += cross_entropy(&mut d_logits, labels, batch.class_weights, scale);
                self.backward(texts, &d_logits, back, Some(&mut part.sums));
                if learns == Learns::All {
                    part.embeddings.extend_from_slice(&back.states);
                }
            }
        });
        let mut sum = BatchGradients {
            loss: 0.0,
            parameters: vec![0.0; learnt],
            embeddings: (learns == Learns::All)
                .then(|| distinct_tokens(batch.texts, self.shape().units)),
        };
        for (number, part) in space.parts.iter().enumerate() {
            sum.loss += part.loss;
            add_rows(&part.sums.values, &mut sum.parameters);
            if let Some(sum) = &mut sum.embeddings {
                let texts = &batch.texts[of_part(number)];
                sum.add(texts.iter().copied().flatten(), &part.embeddings);
            }
        }
        sum
    }

    /// Computes the logits of texts of which the head reads `pooled`, `[texts, units]`: `[texts,
    /// classes]`.
    pub fn head_logits(&self, pooled: &[f32]) -> Vec<f32> {
        let mut workspace = Workspace::default();
        workspace.ends.pooled = pooled.to_vec();
        self.classify(&mut workspace);
        workspace.logits
    }

    /// Computes the mean class-weighted cross-entropy of texts of which the head reads `pooled`,
    /// `[texts, units]`, and its gradients with respect to the parameters of the head.
    pub fn head_gradients(
        &self,
        pooled: &[f32],
        labels: &[u32],
        class_weights: &[f32],
    ) -> BatchGradients {
        let start = self.shape().head_start();
        let mut sums = Sums {
            start,
            values: vec![0.0; self.weights.values.len() - start],
        };
        let mut back = Back::default();
        back.workspace.ends.pooled = pooled.to_vec();
        self.classify(&mut back.workspace);
        let mut d_logits = back.workspace.logits.clone();
        let scale = scale_of(labels, class_weights);
        let loss = cross_entropy(&mut d_logits, labels, class_weights, scale);
        self.head_back(&d_logits, &mut back, Some(&mut sums));
        BatchGradients {
            loss,
            parameters: sums.values,
            embeddings: None,
        }
    }

    /// Returns the transposed matrices, made at the first call.
    fn transposed(&self) -> &(Vec<LayerPanels>, HeadPanels) {
        self.back.get_or_init(|| {
            let (units, inner) = (self.shape().units, self.shape().inner);
            let columns = |affine: &Affine, inputs, outputs| {
                Panels::of_columns(inputs, outputs, self.values(&affine.weight))
            };
            let layers = self.spans.layers.par_iter().map(|layer| {
                let joined = joined(&self.weights.values, layer);
                LayerPanels {
                    projections: Panels::of_columns(3 * units, units, &joined),
                    attention: columns(&layer.attention, units, units),
                    inner: columns(&layer.inner, inner, units),
                    outer: columns(&layer.outer, units, inner),
                }
            });
            let dense = self.spans.dense.as_ref();
            let head = HeadPanels {
                dense: dense.map(|dense| columns(dense, units, units)),
                classifier: columns(&self.spans.classifier, self.shape().classes, units),
            };
            (layers.collect(), head)
        })
    }

    /// Computes the gradients with respect to the embeddings into `back.states`, given those with
    /// respect to the logits; those with respect to parameters are added to `sums`.
    fn backward(
        &self,
        texts: &[&[i32]],
        d_logits: &[f32],
        back: &mut Back,
        mut sums: Option<&mut Sums>,
    ) {
        let shape = self.shape();
        let units = shape.units;
        let d_pooled = self.head_back(d_logits, back, sums.as_deref_mut());
        back.states.clear();
        for (text, gradient) in texts.iter().zip(d_pooled.chunks_exact(units)) {
            let share = share(shape.pooling, text.len());
            for number in 0..text.len() {
                let share = if number == 0 { share.0 } else { share.1 };
                back.states
                    .extend(gradient.iter().map(|value| value * share));
            }
        }
        for layer in (0..self.layers.len()).rev() {
            self.block_back(layer, texts, back, sums.as_deref_mut());
        }
        let norm = &back.workspace.ends.norm;
        self.normalise_back(
            &self.spans.norm,
            &mut back.states,
            norm,
            sums.as_deref_mut(),
        );
        let Some(sums) = sums else {
            return;
        };
        let sums = (sums.start, &mut sums.values[..]);
        add_places(shape, &self.spans, texts, &back.states, sums);
    }

    /// Computes the gradients with respect to what the head reads, `[texts, units]`.
    fn head_back(
        &self,
        d_logits: &[f32],
        back: &mut Back,
        mut sums: Option<&mut Sums>,
    ) -> Vec<f32> {
        let (units, classes) = (self.shape().units, self.shape().classes);
        let (_, head) = self.transposed();
        let EndsTrace { pooled, dense, .. } = &back.workspace.ends;
        let scratch = &mut back.workspace.attention.scratch;
        let mut gradients = vec![0.0; pooled.len()];
        multiply(d_logits, classes, &head.classifier, &mut gradients, scratch);
        let read = if dense.is_empty() { pooled } else { dense };
        if let Some(sums) = sums.as_deref_mut() {
            let (d, x) = ((d_logits, classes), (&read[..], units));
            learn(
                sums,
                &self.spans.classifier,
                d,
                x,
                (&mut back.panels, scratch),
            );
        }
        let (Some(panels), Some(span), Some(activation)) =
            (&head.dense, &self.spans.dense, self.shape().head)
        else {
            return gradients;
        };
        for (gradient, value) in gradients.iter_mut().zip(dense) {
            *gradient *= match activation {
                HeadActivation::Tanh => 1.0 - value * value,
                HeadActivation::Relu => f32::from(u8::from(*value > 0.0)),
            };
        }
        if let Some(sums) = sums {
            let (d, x) = ((&gradients[..], units), (&pooled[..], units));
            learn(sums, span, d, x, (&mut back.panels, scratch));
        }
        let mut below = vec![0.0; pooled.len()];
        multiply(&gradients, units, panels, &mut below, scratch);
        below
    }

    fn normalise_back(
        &self,
        norm: &Affine,
        gradients: &mut [f32],
        kept: &Normalised,
        sums: Option<&mut Sums>,
    ) {
        dispatch(NormaliseBack {
            gradients,
            gain: self.values(&norm.weight),
            kept,
            parameters: sums.map(|sums| sums.weight_and_bias(norm)),
        });
    }

    /// Goes back through one block, on `back.states`.
    fn block_back(
        &self,
        layer: usize,
        texts: &[&[i32]],
        back: &mut Back,
        mut sums: Option<&mut Sums>,
    ) {
        let (units, inner) = (self.shape().units, self.shape().inner);
        let (panels, spans) = (&self.transposed().0[layer], &self.spans.layers[layer]);
        let Back {
            workspace,
            states,
            mixed,
            projected,
            inner: d_inner,
            panels: made,
        } = back;
        let trace: &LayerTrace = &workspace.layers[layer];
        let attention = &mut workspace.attention;
        let pieces = states.len() / units;
        let norm = &trace.output_norm;
        self.normalise_back(&spans.output_norm, states, norm, sums.as_deref_mut());
        set_zero(d_inner, pieces * inner);
        multiply(
            states,
            units,
            &panels.outer,
            d_inner,
            &mut attention.scratch,
        );
        if let Some(sums) = sums.as_deref_mut() {
            let (d, x) = ((&states[..], units), (&trace.activated[..], inner));
            learn(sums, &spans.outer, d, x, (made, &mut attention.scratch));
        }
        dispatch(ActivateBack(self.shape().activation, &trace.inner, d_inner));
        if let Some(sums) = sums.as_deref_mut() {
            let (d, x) = ((&d_inner[..], inner), (&trace.middle[..], units));
            learn(sums, &spans.inner, d, x, (made, &mut attention.scratch));
        }
        multiply(
            d_inner,
            inner,
            &panels.inner,
            states,
            &mut attention.scratch,
        );
        let norm = &trace.attention_norm;
        self.normalise_back(&spans.attention_norm, states, norm, sums.as_deref_mut());
        set_zero(mixed, pieces * units);
        multiply(
            states,
            units,
            &panels.attention,
            mixed,
            &mut attention.scratch,
        );
        if let Some(sums) = sums.as_deref_mut() {
            let (d, x) = ((&states[..], units), (&trace.mixed[..], units));
            learn(sums, &spans.attention, d, x, (made, &mut attention.scratch));
        }
        set_zero(projected, pieces * 3 * units);
        let heads = Heads::new(self.shape());
        let mut from = 0;
        for text in texts {
            let to = from + text.len();
            let (of_states, of_all) = (from * units..to * units, from * 3 * units..to * 3 * units);
            let gradients = &mut projected[of_all.clone()];
            heads.attend_back(
                &trace.projected[of_all],
                &mixed[of_states],
                gradients,
                attention,
            );
            from = to;
        }
        if let Some(sums) = sums {
            for (part, span) in spans.projections.iter().enumerate() {
                let places = Place {
                    d: Lines::columns(&projected[part * units..], 3 * units),
                    outputs: units,
                };
                let of_part = projected.chunks_exact(3 * units);
                let (_, bias) = sums.weight_and_bias(span);
                of_part.for_each(|row| add_rows(&row[part * units..][..units], bias));
                let x = (&trace.input[..], units);
                places.learn(
                    sums.weight_and_bias(span).0,
                    x,
                    (made, &mut attention.scratch),
                );
            }
        }
        multiply(
            projected,
            3 * units,
            &panels.projections,
            states,
            &mut attention.scratch,
        );
    }
}

/// The gradients with respect to a layer's outputs, output by output.
struct Place<'a> {
    d: Lines<'a>,
    outputs: usize,
}

impl Place<'_> {
    /// Adds dᵀ·x to `weight`, `[outputs, inputs]`.
    fn learn(
        &self,
        weight: &mut [f32],
        (x, inputs): (&[f32], usize),
        (panels, scratch): (&mut Panels, &mut Vec<f32>),
    ) {
        panels.set_columns(x.len() / inputs, inputs, x, inputs);
        dispatch(Multiply {
            x: self.d,
            rows: self.outputs,
            by: panels,
            y: weight,
            y_stride: inputs,
            scratch,
        });
    }
}

/// Adds the gradients of a linear layer's weight and bias to the sums of these: `d` are the
/// gradients with respect to its outputs, `[rows, outputs]`, `x` its inputs, `[rows, inputs]`, each
/// with its width.
fn learn(
    sums: &mut Sums,
    affine: &Affine,
    (d, outputs): (&[f32], usize),
    x: (&[f32], usize),
    memory: (&mut Panels, &mut Vec<f32>),
) {
    let (weight, bias) = sums.weight_and_bias(affine);
    add_rows(d, bias);
    let d = Lines::columns(d, outputs);
    Place { d, outputs }.learn(weight, x, memory);
}

/// Adds the gradients with respect to the sums of embeddings, `[pieces, units]`, to those with respect
/// to the tables of positions and segments among the gradients from number `start` on.
pub(super) fn add_places(
    shape: &Shape,
    spans: &Spans,
    texts: &[&[i32]],
    rows: &[f32],
    (start, sums): (usize, &mut [f32]),
) {
    let units = shape.units;
    let mut rows = rows.chunks_exact(units);
    for text in texts {
        for (position, row) in shape.positions_of(text).zip(rows.by_ref()) {
            let place = spans.positions.start - start + position * units;
            add_rows(row, &mut sums[place..][..units]);
            if shape.segments > 0 {
                let place = spans.segments.start - start;
                add_rows(row, &mut sums[place..][..units]);
            }
        }
    }
}

/// Computes 1/Σ weights of the labels.
fn scale_of(labels: &[u32], class_weights: &[f32]) -> f64 {
    let weight_of = |&label: &u32| f64::from(class_weights[label as usize]);
    let total: f64 = labels.iter().map(weight_of).sum();
    1.0 / total.max(f64::from(f32::MIN_POSITIVE))
}

/// Computes `scale` times the weighted cross-entropy; logits `[texts, classes]` become its
/// gradient.
fn cross_entropy(logits: &mut [f32], labels: &[u32], class_weights: &[f32], scale: f64) -> f64 {
    let classes = class_weights.len();
    let mut loss = 0.0;
    for (row, &label) in logits.chunks_exact_mut(classes).zip(labels) {
        let label = label as usize;
        let weight = scale * f64::from(class_weights[label]);
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let power = |&logit: &f32| (f64::from(logit) - f64::from(largest)).exp();
        let total: f64 = row.iter().map(power).sum();
        loss += weight * (total.ln() + f64::from(largest) - f64::from(row[label]));
        for (class, value) in row.iter_mut().enumerate() {
            let own = f64::from(u8::from(class == label));
            *value = (weight * (power(value) / total - own)) as f32;
        }
    }
    loss
}
