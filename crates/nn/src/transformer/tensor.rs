//! Transformers of burn tensors: how they answer and learn on devices without hand-written kernels,
//! and the second opinion on the [kernels](super::kernels) and their [gradients](super::backward).
//!
//! A device is given texts as the sums of their embeddings, `[texts · steps, units]`, text by text
//! and padded to one number of steps, with a mask of what is there. It gives back gradients with
//! respect to these sums, which the processor adds up by piece and by position, always in the order
//! of the texts: on one device the same batch has the same gradients every time.
//!
//! Answers come in tiles of 1,024 pieces. How wide a text's tile is depends on its length
//! alone, and every tile of a width is full, so that a device treats a text alike whatever else is
//! asked.

use std::collections::BTreeMap;
use std::ops::Range;

use burn::tensor::activation::{gelu, gelu_approximate, log_softmax, relu, softmax};
use burn::tensor::{Device, Tensor, TensorData};

use super::backward::add_places;
use super::kernels::{embed, share};
use super::shape::{
    Affine, HeadActivation, InnerActivation, LayerSpans, Shape, Spans, TransformerWeights,
};
use crate::ModelError;
use crate::fnn::read;
use crate::recurrent::backward::{Batch, BatchGradients, distinct_tokens};
use probity_tensor::device::ComputeDevice;

/// The number of pieces in a tile; a text that is longer has a tile of its own.
const TILE_PIECES: usize = 1024;
/// The fewest pieces that a text is padded to.
const LEAST_STEPS: usize = 8;
/// The number that is added to the scores of pieces that are not there: their share of attention is
/// exactly 0.
const NOT_THERE: f32 = -1e30;

/// The parameters of a linear layer, `[outputs, inputs]` and `[1, outputs]`, or of a normalisation,
/// both `[1, units]`.
#[derive(Debug)]
struct AffineTensors {
    weight: Tensor<2>,
    bias: Tensor<2>,
}

/// The parameters of a block; see [`LayerSpans`].
#[derive(Debug)]
struct BlockTensors {
    projections: [AffineTensors; 3],
    attention: AffineTensors,
    attention_norm: AffineTensors,
    inner: AffineTensors,
    outer: AffineTensors,
    output_norm: AffineTensors,
}

/// The parameters of a transformer behind its tables of embeddings, on a device.
#[derive(Debug)]
struct TransformerTensors {
    shape: Shape,
    norm: AffineTensors,
    blocks: Vec<BlockTensors>,
    dense: Option<AffineTensors>,
    classifier: AffineTensors,
}

/// Texts on a device, padded to one number of steps.
struct Padded {
    /// The sums of the embeddings of the pieces, `[texts · steps, units]`.
    embedded: Tensor<2>,
    /// 0 for a piece that is there, [`NOT_THERE`] for others: `[texts, 1, 1, steps]`.
    mask: Tensor<4>,
    /// The part of each piece in what the head reads, `[texts, steps, 1]`.
    shares: Tensor<3>,
}

impl TransformerTensors {
    /// Makes a network of `shape` whose parameters `tensor` returns, each as `[1, numbers]`, given
    /// their place in the flat list. It is asked for them in their order.
    fn new(shape: Shape, mut tensor: impl FnMut(&Range<usize>) -> Tensor<2>) -> TransformerTensors {
        let spans = shape.spans();
        let mut affine = |span: &Affine, is_linear: bool| {
            let (outputs, numbers) = (span.bias.len(), span.weight.len());
            let weight = tensor(&span.weight);
            AffineTensors {
                weight: match is_linear {
                    true => weight.reshape([outputs, numbers / outputs.max(1)]),
                    false => weight,
                },
                bias: tensor(&span.bias),
            }
        };
        let norm = affine(&spans.norm, false);
        let mut block = |spans: &LayerSpans| {
            let [q, k, v] = &spans.projections;
            BlockTensors {
                projections: [affine(q, true), affine(k, true), affine(v, true)],
                attention: affine(&spans.attention, true),
                attention_norm: affine(&spans.attention_norm, false),
                inner: affine(&spans.inner, true),
                outer: affine(&spans.outer, true),
                output_norm: affine(&spans.output_norm, false),
            }
        };
        TransformerTensors {
            shape,
            norm,
            blocks: spans.layers.iter().map(&mut block).collect(),
            dense: spans.dense.as_ref().map(|dense| affine(dense, true)),
            classifier: affine(&spans.classifier, true),
        }
    }

    /// Computes what the head reads of `texts`, `[texts, units]`.
    fn pooled(&self, texts: Padded) -> Tensor<2> {
        let [count, _, _, steps] = texts.mask.dims();
        let mut states = self.normalise(texts.embedded, &self.norm);
        for block in &self.blocks {
            let mixed = self.attend(block, &states, &texts.mask);
            let middle = states + linear(mixed, &block.attention);
            let middle = self.normalise(middle, &block.attention_norm);
            let inner = linear(middle.clone(), &block.inner);
            let activated = match self.shape.activation {
                InnerActivation::Gelu => gelu(inner),
                InnerActivation::GeluTanh => gelu_approximate(inner),
                InnerActivation::Relu => relu(inner),
            };
            let outer = middle + linear(activated, &block.outer);
            states = self.normalise(outer, &block.output_norm);
        }
        let units = self.shape.units;
        let read = states.reshape([count, steps, units]) * texts.shares;
        read.sum_dim(1).reshape([count, units])
    }

    /// Computes the result of attention, `[texts · steps, units]`.
    fn attend(&self, block: &BlockTensors, states: &Tensor<2>, mask: &Tensor<4>) -> Tensor<2> {
        let [count, _, _, steps] = mask.dims();
        let (units, heads, width) = (self.shape.units, self.shape.heads, self.shape.head_units());
        let [q, k, v] = block.projections.each_ref().map(|projection| {
            let projected = linear(states.clone(), projection);
            let by_head = projected.reshape([count, steps, heads, width]);
            by_head.swap_dims(1, 2)
        });
        let factor = 1.0 / (width as f32).sqrt();
        let scores = q.matmul(k.swap_dims(2, 3)) * factor + mask.clone();
        let mixed = softmax(scores, 3).matmul(v);
        mixed.swap_dims(1, 2).reshape([count * steps, units])
    }

    /// Computes (x − mean)/√(variance + ε)·gain + bias for each row x.
    fn normalise(&self, rows: Tensor<2>, norm: &AffineTensors) -> Tensor<2> {
        let centred = rows.clone() - rows.mean_dim(1);
        let variance = (centred.clone() * centred.clone()).mean_dim(1);
        let root = (variance + self.shape.epsilon).sqrt();
        centred / root * norm.weight.clone() + norm.bias.clone()
    }

    /// Computes the logits `[texts, classes]` of what the head reads.
    fn classify(&self, pooled: Tensor<2>) -> Tensor<2> {
        let read = match (&self.dense, self.shape.head) {
            (Some(dense), Some(HeadActivation::Tanh)) => linear(pooled, dense).tanh(),
            (Some(dense), Some(HeadActivation::Relu)) => relu(linear(pooled, dense)),
            _ => pooled,
        };
        linear(read, &self.classifier)
    }
}

fn linear(rows: Tensor<2>, layer: &AffineTensors) -> Tensor<2> {
    rows.matmul(layer.weight.clone().transpose()) + layer.bias.clone()
}

/// Returns `values` as `[rows, columns]` on `device`.
fn matrix(values: Vec<f32>, columns: usize, device: &Device) -> Tensor<2> {
    let shape = [values.len() / columns.max(1), columns];
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// Texts as numbers, padded to one number of steps; the last of them may be empty.
struct Texts<'t> {
    texts: &'t [&'t [i32]],
    count: usize,
    steps: usize,
}

impl Texts<'_> {
    /// Puts the texts on `device`.
    fn padded(&self, weights: &TransformerWeights, spans: &Spans, device: &Device) -> Padded {
        let (count, steps, shape) = (self.count, self.steps, &weights.shape);
        let rows = count * steps;
        let mut embedded = Vec::with_capacity(rows * shape.units);
        let mut mask = vec![NOT_THERE; rows];
        let mut shares = vec![0.0; rows];
        for (item, text) in self.texts.iter().enumerate() {
            embed(weights, spans, text, &mut embedded);
            embedded.resize((item + 1) * steps * shape.units, 0.0);
            let (first, others) = share(shape.pooling, text.len());
            let places = item * steps..item * steps + text.len();
            mask[places.clone()].fill(0.0);
            for (number, share) in shares[places].iter_mut().enumerate() {
                *share = if number == 0 { first } else { others };
            }
        }
        embedded.resize(rows * shape.units, 0.0);
        let mask = TensorData::new(mask, [count, 1, 1, steps]);
        let shares = TensorData::new(shares, [count, steps, 1]);
        Padded {
            embedded: matrix(embedded, shape.units, device),
            mask: Tensor::from_data(mask, device),
            shares: Tensor::from_data(shares, device),
        }
    }

    /// Returns of `rows`, `[texts · steps, units]`, those of pieces, `[pieces, units]`.
    fn pieces(&self, rows: &[f32], units: usize) -> Vec<f32> {
        let texts = rows.chunks_exact((self.steps * units).max(1));
        let own = self.texts.iter().zip(texts);
        own.flat_map(|(text, rows)| &rows[..text.len() * units])
            .copied()
            .collect()
    }
}

/// A transformer that answers on a device.
#[derive(Debug)]
pub struct TransformerTiles {
    spans: Spans,
    network: TransformerTensors,
    differentiable: TransformerTensors,
    device: Device,
}

impl TransformerTiles {
    /// Puts the network of `weights` on `device`; its tables of embeddings stay with the caller.
    pub fn new(weights: &TransformerWeights, device: &ComputeDevice) -> TransformerTiles {
        let device = device.burn().clone();
        let mut there = BTreeMap::new();
        let mut tensor = |range: &Range<usize>| -> Tensor<2> {
            let upload = || matrix(weights.values[range.clone()].to_vec(), range.len(), &device);
            there.entry(range.start).or_insert_with(upload).clone()
        };
        let network = TransformerTensors::new(weights.shape, &mut tensor);
        let differentiable =
            TransformerTensors::new(weights.shape, |range| tensor(range).autodiff());
        TransformerTiles {
            spans: weights.shape.spans(),
            network,
            differentiable,
            device,
        }
    }

    /// Computes the logits of `texts`, row-major `[texts, classes]`. `weights` are those that the
    /// network was made of; texts are as [`Kernels::logits`](super::kernels::Kernels::logits) takes
    /// them.
    ///
    /// # Errors
    /// When the device fails.
    pub fn logits(
        &self,
        weights: &TransformerWeights,
        texts: &[&[i32]],
    ) -> Result<Vec<f32>, ModelError> {
        let classes = weights.shape.classes;
        let mut logits = vec![0.0; texts.len() * classes];
        for tile in tiles(texts) {
            let (items, tile) = (&tile.items, tile.texts());
            let pooled = self
                .network
                .pooled(tile.padded(weights, &self.spans, &self.device));
            let answers = read(self.network.classify(pooled))?;
            for (item, answer) in items.iter().zip(answers.chunks_exact(classes.max(1))) {
                logits[item * classes..][..classes].copy_from_slice(answer);
            }
        }
        Ok(logits)
    }

    /// Computes what [`Kernels::input_gradients`](super::kernels::Kernels::input_gradients) does,
    /// row-major `[Σ pieces, units]`.
    ///
    /// # Errors
    /// When the device fails.
    pub fn input_gradients(
        &self,
        weights: &TransformerWeights,
        texts: &[&[i32]],
        cotangents: &[f32],
    ) -> Result<Vec<f32>, ModelError> {
        let (classes, units) = (weights.shape.classes, weights.shape.units);
        let mut starts = Vec::with_capacity(texts.len());
        let mut pieces = 0;
        for text in texts {
            starts.push(pieces);
            pieces += text.len();
        }
        let mut gradients = vec![0.0; pieces * units];
        for tile in tiles(texts) {
            let (items, tile) = (&tile.items, tile.texts());
            let mut wanted = Vec::with_capacity(tile.count * classes);
            for &item in items {
                wanted.extend_from_slice(&cotangents[item * classes..][..classes]);
            }
            wanted.resize(tile.count * classes, 0.0);
            let padded = tile.padded(weights, &self.spans, &self.device);
            let embedded = padded.embedded.autodiff().require_grad();
            let pooled = self.differentiable.pooled(Padded {
                embedded: embedded.clone(),
                mask: padded.mask.autodiff(),
                shares: padded.shares.autodiff(),
            });
            let wanted = matrix(wanted, classes, &self.device).autodiff();
            let objective = (self.differentiable.classify(pooled) * wanted).sum();
            let Some(gradient) = embedded.grad(&objective.backward()) else {
                continue;
            };
            let rows = tile.pieces(&read(gradient)?, units);
            let mut rest = &rows[..];
            for &item in items {
                let (own, others) = rest.split_at(texts[item].len() * units);
                gradients[starts[item] * units..][..own.len()].copy_from_slice(own);
                rest = others;
            }
        }
        Ok(gradients)
    }
}

/// Some of the texts that are asked about, which fill a tile together.
struct Tile<'t> {
    /// The numbers of the texts among those that are asked about.
    items: Vec<usize>,
    own: Vec<&'t [i32]>,
    steps: usize,
}

impl Tile<'_> {
    /// Returns the texts, in a tile of the height of all that are as wide.
    fn texts(&self) -> Texts<'_> {
        Texts {
            texts: &self.own,
            count: texts_of(self.steps),
            steps: self.steps,
        }
    }
}

/// Returns the number of texts in a tile of `steps` steps.
fn texts_of(steps: usize) -> usize {
    (TILE_PIECES / steps.max(1)).max(1)
}

/// Deals texts out to tiles.
fn tiles<'t>(texts: &[&'t [i32]]) -> Vec<Tile<'t>> {
    let mut by_steps: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (item, text) in texts.iter().enumerate() {
        let steps = text.len().next_power_of_two().max(LEAST_STEPS);
        by_steps.entry(steps).or_default().push(item);
    }
    let mut tiles = Vec::new();
    for (steps, items) in by_steps {
        tiles.extend(items.chunks(texts_of(steps)).map(|items| Tile {
            items: items.to_vec(),
            own: items.iter().map(|&item| texts[item]).collect(),
            steps,
        }));
    }
    tiles
}

/// A device on which transformers learn.
pub struct TransformerLearning {
    device: Device,
}

/// A network whose parameters are differentiated, and these in their order, each with its place.
struct Learning {
    network: TransformerTensors,
    leaves: Vec<(Range<usize>, Tensor<2>)>,
}

impl TransformerLearning {
    /// Makes a value that differentiates on `device`.
    pub fn on(device: &ComputeDevice) -> TransformerLearning {
        TransformerLearning {
            device: device.burn().clone().autodiff(),
        }
    }

    /// Puts the parameters of `weights` on the device.
    fn learning(&self, weights: &TransformerWeights) -> Learning {
        let mut leaves = Vec::new();
        let network = TransformerTensors::new(weights.shape, |range| {
            let values = weights.values[range.clone()].to_vec();
            let leaf = matrix(values, range.len(), &self.device).require_grad();
            leaves.push((range.clone(), leaf.clone()));
            leaf
        });
        Learning { network, leaves }
    }

    /// Computes the mean class-weighted cross-entropy of `batch` and its gradients: with respect to
    /// the parameters behind the table of pieces, and to the table at the batch's pieces.
    ///
    /// # Errors
    /// When the device fails.
    pub fn batch_gradients(
        &self,
        weights: &TransformerWeights,
        batch: Batch<'_>,
    ) -> Result<BatchGradients, ModelError> {
        let (shape, spans) = (weights.shape, weights.shape.spans());
        let texts = Texts {
            texts: batch.texts,
            count: batch.texts.len(),
            steps: batch.texts.iter().map(|text| text.len()).max().unwrap_or(1),
        };
        let Learning { network, leaves } = self.learning(weights);
        let mut padded = texts.padded(weights, &spans, &self.device);
        padded.embedded = padded.embedded.require_grad();
        let embedded = padded.embedded.clone();
        let logits = network.classify(network.pooled(padded));
        let start = spans.words.end;
        let mut parameters = vec![0.0; weights.values.len() - start];
        let (loss, rows) =
            self.descend(logits, batch, (leaves, start), &mut parameters, &embedded)?;
        let rows = texts.pieces(&rows, shape.units);
        add_places(&shape, &spans, batch.texts, &rows, (start, &mut parameters));
        let mut embeddings = distinct_tokens(batch.texts, shape.units);
        embeddings.add(batch.texts.iter().copied().flatten(), &rows);
        Ok(BatchGradients {
            loss,
            parameters,
            embeddings: Some(embeddings),
        })
    }

    /// Computes the mean class-weighted cross-entropy of texts of which the head reads `pooled`,
    /// `[texts, units]`, and its gradients with respect to the parameters of the head; `weights`
    /// are those of the head alone.
    ///
    /// # Errors
    /// When the device fails.
    pub fn head_gradients(
        &self,
        weights: &TransformerWeights,
        pooled: &[f32],
        labels: &[u32],
        class_weights: &[f32],
    ) -> Result<BatchGradients, ModelError> {
        let Learning {
            network,
            mut leaves,
        } = self.learning(weights);
        let start = weights.shape.head_start();
        leaves.retain(|(range, _)| range.start >= start);
        let pooled = matrix(pooled.to_vec(), weights.shape.units, &self.device);
        let logits = network.classify(pooled.clone());
        let batch = Batch {
            texts: &[],
            labels,
            class_weights,
        };
        let mut parameters = vec![0.0; weights.values.len() - start];
        let (loss, _) = self.descend(logits, batch, (leaves, start), &mut parameters, &pooled)?;
        Ok(BatchGradients {
            loss,
            parameters,
            embeddings: None,
        })
    }

    /// Computes the loss of `logits` and writes its gradients with respect to `leaves` into
    /// `parameters`, which are those from number `start` on; returns the loss and the gradients
    /// with respect to `embedded`, where these are wanted.
    fn descend(
        &self,
        logits: Tensor<2>,
        batch: Batch<'_>,
        (leaves, start): (Vec<(Range<usize>, Tensor<2>)>, usize),
        parameters: &mut [f32],
        embedded: &Tensor<2>,
    ) -> Result<(f64, Vec<f32>), ModelError> {
        let targets = matrix(batch.targets(), batch.class_weights.len(), &self.device);
        let loss = (log_softmax(logits, 1) * targets).sum().neg();
        let mut all = loss.backward();
        for (range, leaf) in leaves {
            if let Some(gradient) = leaf.grad_remove(&mut all) {
                let place = &mut parameters[range.start - start..range.end - start];
                place.copy_from_slice(&read(gradient)?);
            }
        }
        let rows = embedded.grad_remove(&mut all).map(read).transpose()?;
        let loss = read(loss.without_autodiff().reshape([1, 1]))?;
        let loss = loss.first().copied().map_or(0.0, f64::from);
        Ok((loss, rows.unwrap_or_default()))
    }
}
