//! Texts in tiles of a fixed height: how devices without hand-written kernels answer.
//!
//! A tile has always the same number of texts and of steps, padded and masked, so that the device
//! treats a text alike whatever else is asked. Rows of the tensors stand step by step: row
//! t · [`TILE`] + i is step t of text i.

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::ModelError;
use super::fnn::read;
use super::recurrent::network::RecurrentWeights;
use super::recurrent::tensor::RecurrentNetwork;

/// The number of texts in a tile.
const TILE: usize = 256;

/// The network as burn operations.
#[derive(Debug)]
pub(super) struct TextTiles {
    network: RecurrentNetwork,
    differentiable: RecurrentNetwork,
    /// The embeddings, `[tokens, dimension]`.
    table: Tensor<2>,
    device: Device,
}

/// A tile on a device: at most [`TILE`] texts, padded to exactly that number.
struct Tile {
    /// The embeddings of the texts, `[width · TILE, dimension]`, step by step.
    embedded: Tensor<2>,
    /// The mask of the tokens that are there, `[width · TILE, 1]`.
    mask: Tensor<2>,
}

impl TextTiles {
    /// Puts a network on `device`; `embeddings` is row-major `[tokens, weights.shape.inputs]`.
    pub fn new(weights: &RecurrentWeights, embeddings: &[f32], device: &Device) -> TextTiles {
        let values = TensorData::new(weights.values.clone(), [1, weights.values.len()]);
        let values = Tensor::<2>::from_data(values, device);
        let dimension = weights.shape.inputs;
        let shape = [embeddings.len() / dimension.max(1), dimension];
        let table = TensorData::new(embeddings.to_vec(), shape);
        TextTiles {
            differentiable: RecurrentNetwork::new(weights.shape, &values.clone().autodiff()),
            network: RecurrentNetwork::new(weights.shape, &values),
            table: Tensor::from_data(table, device),
            device: device.clone(),
        }
    }

    /// Computes the logits `[texts, classes]` of texts of at most `width` tokens.
    pub fn logits(&self, texts: &[&[i32]], width: usize) -> Result<Vec<f32>, ModelError> {
        let mut logits = Vec::new();
        for texts in texts.chunks(TILE) {
            let tile = self.tile(texts, width);
            let values = self.network.forward(tile.embedded, tile.mask, TILE);
            let classes = values.dims()[1];
            logits.extend_from_slice(&read(values)?[..texts.len() * classes]);
        }
        Ok(logits)
    }

    /// Computes the gradients `[texts, width, dimension]` of Σ cotangents · logits, zero behind
    /// each text's end; `cotangents` is row-major `[texts, classes]`.
    pub fn input_gradients(
        &self,
        texts: &[&[i32]],
        cotangents: &[f32],
        width: usize,
    ) -> Result<Vec<f32>, ModelError> {
        let dimension = self.table.dims()[1];
        let classes = cotangents.len() / texts.len().max(1);
        let mut gradients = vec![0.0; texts.len() * width * dimension];
        for ((texts, cotangents), gradients) in texts
            .chunks(TILE)
            .zip(cotangents.chunks(TILE * classes.max(1)))
            .zip(gradients.chunks_mut(TILE * width * dimension))
        {
            let tile = self.tile(texts, width);
            let embedded = tile.embedded.autodiff().require_grad();
            let logits = self
                .differentiable
                .forward(embedded.clone(), tile.mask.autodiff(), TILE);
            let mut padded = cotangents.to_vec();
            padded.resize(TILE * classes, 0.0);
            let padded = TensorData::new(padded, [TILE, classes]);
            let weights = Tensor::<2>::from_data(padded, &self.device).autodiff();
            let objective = (logits * weights).sum();
            let Some(gradient) = embedded.grad(&objective.backward()) else {
                continue;
            };
            let values = read(gradient)?;
            let places = gradients.chunks_mut(width * dimension);
            for (item, (text, place)) in texts.iter().zip(places).enumerate() {
                for (t, place) in place.chunks_mut(dimension).take(text.len()).enumerate() {
                    place.copy_from_slice(&values[(t * TILE + item) * dimension..][..dimension]);
                }
            }
        }
        Ok(gradients)
    }

    fn tile(&self, texts: &[&[i32]], width: usize) -> Tile {
        let mut ids = vec![0i32; width * TILE];
        let mut mask = vec![0f32; width * TILE];
        for (item, text) in texts.iter().enumerate() {
            for (t, &id) in text.iter().enumerate() {
                ids[t * TILE + item] = id;
                mask[t * TILE + item] = 1.0;
            }
        }
        let ids = TensorData::new(ids, [width * TILE]);
        let ids = Tensor::<1, Int>::from_data(ids, &self.device);
        let mask = TensorData::new(mask, [width * TILE, 1]);
        Tile {
            embedded: self.table.clone().select(0, ids),
            mask: Tensor::from_data(mask, &self.device),
        }
    }
}
