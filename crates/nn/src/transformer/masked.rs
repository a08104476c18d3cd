//! The head of a masked language model (Devlin et al. 2019): how likely pieces are where a text is
//! masked.
//!
//! A text in which some pieces are replaced by the mask goes through the encoder. With the notation
//! of [`super`], and x the last state of a masked piece:
//!
//! ```text
//! h = N(act(x·Wmᵀ + bm))                                                    [u]
//! log P(piece | rest) = h·D[piece] + b[piece] − log Σ exp(h·Dᵀ + b)
//! ```
//! D is the table of words or one of its own, `[vocabulary, u]`. Only masked pieces are multiplied
//! by D. Several masked pieces side by side are each as likely as they are beside masks.
//!
//! The result for a place ([`Hidden`]) answers for every piece that may stand there.

use std::ops::Range;

use super::attention::set_zero;
use super::kernels::{Kernels, Workspace, fill, multiply};
use super::product::Panels;
use super::rows::{Activate, LogSum, Normalise};
use super::shape::{Affine, Cutter, InnerActivation, Shape, TransformerWeights};
use crate::lanes::dispatch;
use crate::recurrent::network::TensorSpan;

/// The number of masked pieces whose logits are in memory together: as many as the products take at
/// a time.
const ROWS: usize = 12;

/// The parameters of a head.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskedHead {
    /// The number of the piece that masks another.
    pub mask: i32,
    /// Whether D is the encoder's table of words.
    pub is_tied: bool,
    /// All parameters; see [`MaskedHead::tensors`].
    pub values: Vec<f32>,
}

/// The places where the parameters of a head lie.
#[derive(Debug)]
struct MaskedSpans {
    /// The hidden layer, `[units, units]`.
    dense: Affine,
    norm: Affine,
    /// The matrix D, `[vocabulary, units]`; empty where it is the table of words.
    table: Range<usize>,
    /// The biases of the pieces, `[vocabulary]`.
    bias: Range<usize>,
}

impl MaskedHead {
    /// Returns all tensors of the head of an encoder of `shape`, in the order of its parameters; D
    /// is among them unless it is the table of words.
    pub fn tensors(shape: &Shape, is_tied: bool) -> Vec<TensorSpan> {
        cut(shape, is_tied).1
    }
}

fn cut(shape: &Shape, is_tied: bool) -> (MaskedSpans, Vec<TensorSpan>) {
    let mut cutter = Cutter::default();
    let (units, vocabulary) = (shape.units, shape.vocabulary);
    let dense = cutter.affine("masked.dense", units, units);
    let norm = cutter.affine("masked.norm", units, 1);
    let table = match is_tied {
        true => 0..0,
        false => cutter.cut("masked.decoder.weight".to_owned(), vocabulary, units),
    };
    let spans = MaskedSpans {
        dense,
        norm,
        table,
        bias: cutter.cut("masked.decoder.bias".to_owned(), vocabulary, 1),
    };
    (spans, cutter.tensors)
}

/// A text in which pieces that stand side by side are masked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Masked {
    /// All pieces of the text.
    pub ids: Vec<i32>,
    /// The places of the pieces that are masks.
    pub at: Range<usize>,
}

/// The values that the head computes for the masked pieces of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Hidden {
    /// The h of each masked piece, `[masks, units]`.
    states: Vec<f32>,
    /// The log Σ exp of the logits of each masked piece, `[masks]`.
    totals: Vec<f32>,
}

impl Hidden {
    /// Returns the number of numbers that are held for the masked pieces.
    pub fn numbers(&self) -> usize {
        self.states.len() + self.totals.len()
    }
}

/// An encoder with the head of a masked language model, ready to answer.
#[derive(Debug)]
pub struct MaskedKernels {
    encoder: Kernels,
    head: MaskedHead,
    spans: MaskedSpans,
    activation: InnerActivation,
    dense: Panels,
    table: Panels,
}

impl MaskedKernels {
    /// Lays out the encoder of `weights` and its `head`, whose hidden layer has `activation`.
    pub fn new(
        weights: TransformerWeights,
        head: MaskedHead,
        activation: InnerActivation,
    ) -> MaskedKernels {
        let Shape {
            units, vocabulary, ..
        } = weights.shape;
        let (spans, _) = cut(&weights.shape, head.is_tied);
        let encoder = Kernels::new(weights);
        let dense = Panels::of_rows(units, units, &head.values[spans.dense.weight.clone()]);
        let table = Panels::of_rows(vocabulary, units, table(&encoder, &head, &spans));
        MaskedKernels {
            encoder,
            head,
            spans,
            activation,
            dense,
            table,
        }
    }

    /// Computes the head's values for the masked pieces of each of `texts`, whose pieces are as in
    /// [`Kernels::logits`].
    pub fn hidden(&self, texts: &[&Masked]) -> Vec<Hidden> {
        let ids: Vec<&[i32]> = texts.iter().map(|text| &text.ids[..]).collect();
        self.encoder.chunks(&ids, |workspace, chunk| {
            let mut rows = Vec::new();
            let units = self.encoder.shape().units;
            let mut first = 0;
            for text in &texts[chunk.clone()] {
                let at = (first + text.at.start) * units..(first + text.at.end) * units;
                rows.extend_from_slice(&workspace.states[at]);
                first += text.ids.len();
            }
            let (states, totals) = self.head(&rows, workspace);
            let mut done = 0;
            let texts = texts[chunk].iter().map(|text| {
                let own = done..done + text.at.len();
                done = own.end;
                Hidden {
                    states: states[own.start * units..own.end * units].to_vec(),
                    totals: totals[own].to_vec(),
                }
            });
            texts.collect()
        })
    }

    /// Computes the logarithm of the probability that `pieces` stand where the masks of `hidden`
    /// do, each beside masks. There are as many as masks, all below the size of the vocabulary.
    pub fn log_probability(&self, hidden: &Hidden, pieces: &[i32]) -> f64 {
        let units = self.encoder.shape().units;
        let table = table(&self.encoder, &self.head, &self.spans);
        let biases = &self.head.values[self.spans.bias.clone()];
        let states = hidden.states.chunks_exact(units).zip(&hidden.totals);
        let each = states.zip(pieces).map(|((state, total), &piece)| {
            let row = &table[piece as usize * units..][..units];
            let terms = state.iter().zip(row);
            // In the order of the products, so that the same logit is in their sum.
            let logit = terms.fold(biases[piece as usize], |sum, (a, b)| a.mul_add(*b, sum));
            f64::from(logit) - f64::from(*total)
        });
        each.sum()
    }

    /// Computes h of the last states `rows`, and log Σ exp of their logits.
    fn head(&self, rows: &[f32], workspace: &mut Workspace) -> (Vec<f32>, Vec<f32>) {
        let Shape {
            units,
            vocabulary,
            epsilon,
            ..
        } = *self.encoder.shape();
        let scratch = &mut workspace.attention.scratch;
        let values = &self.head.values;
        let count = rows.len() / units;
        let mut inner = Vec::with_capacity(rows.len());
        fill(&mut inner, &values[self.spans.dense.bias.clone()], count);
        multiply(rows, units, &self.dense, &mut inner, scratch);
        let mut states = Vec::new();
        set_zero(&mut states, inner.len());
        dispatch(Activate(self.activation, &inner, &mut states));
        dispatch(Normalise {
            rows: &mut states,
            gain: &values[self.spans.norm.weight.clone()],
            bias: &values[self.spans.norm.bias.clone()],
            epsilon,
            kept: None,
        });
        let mut totals = Vec::with_capacity(count);
        let mut logits = Vec::with_capacity(ROWS.min(count) * vocabulary);
        for states in states.chunks(ROWS * units) {
            let biases = &values[self.spans.bias.clone()];
            fill(&mut logits, biases, states.len() / units);
            multiply(states, units, &self.table, &mut logits, scratch);
            let each = logits.chunks_exact_mut(vocabulary);
            totals.extend(each.map(|row| dispatch(LogSum(row))));
        }
        (states, totals)
    }
}

/// Returns D, `[vocabulary, units]`.
fn table<'a>(encoder: &'a Kernels, head: &'a MaskedHead, spans: &MaskedSpans) -> &'a [f32] {
    match head.is_tied {
        true => encoder.values(&encoder.spans.words),
        false => &head.values[spans.table.clone()],
    }
}
