//! The labelled texts that a training reads.

use crate::recurrent::backward::EmbeddingGradients;
use crate::recurrent::kernels::{EmbeddingTable, Kernels};
use probity_run::stream::{Purpose, permutation};

/// The number of batches that are sorted by length together.
const POOL: usize = 16;

/// The key of the order of batches, beside that of texts: item = this + epoch.
const BATCH_ORDER: u64 = 1 << 32;

/// Labelled texts as token ids.
#[derive(Debug, Clone, Copy)]
pub struct LabelledTexts<'a> {
    /// The token ids of each text: rows of the embedding table.
    pub texts: &'a [Vec<i32>],
    /// The class of each text, below `classes`.
    pub labels: &'a [u32],
    /// The number of classes.
    pub classes: usize,
}

impl<'a> LabelledTexts<'a> {
    /// Returns the first `max_length` tokens of text `item`.
    pub(crate) fn text(&self, item: u32, max_length: usize) -> &'a [i32] {
        let text = &self.texts[item as usize];
        &text[..text.len().min(max_length)]
    }

    /// Returns the batches of an epoch over the texts `train`: texts of similar length together, in
    /// random order by the keys, a seed and the number of the epoch.
    pub(crate) fn batches(
        &self,
        train: &[u32],
        (seed, epoch): (u64, u32),
        size: usize,
        max_length: usize,
    ) -> Vec<Vec<u32>> {
        let key = u64::from(epoch);
        let order = permutation(seed, Purpose::Shuffle, key, train.len() as u32);
        let mut batches: Vec<Vec<u32>> = Vec::new();
        for pool in order.chunks(POOL.saturating_mul(size)) {
            let mut pool: Vec<u32> = pool.iter().map(|&i| train[i as usize]).collect();
            pool.sort_by_key(|&item| self.text(item, max_length).len());
            batches.extend(pool.chunks(size).map(<[u32]>::to_vec));
        }
        let count = batches.len() as u32;
        permutation(seed, Purpose::Shuffle, BATCH_ORDER + key, count)
            .into_iter()
            .map(|i| std::mem::take(&mut batches[i as usize]))
            .collect()
    }
}

/// Scales all gradients down when their joint norm is above `largest`.
pub(crate) fn clip(
    parameters: &mut [f32],
    embeddings: Option<&mut EmbeddingGradients>,
    largest: f64,
) {
    let embeddings = embeddings.map_or(&mut [][..], |gradients| &mut gradients.values);
    let squares = parameters.iter().chain(embeddings.iter());
    let norm = squares.map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
    if norm > largest {
        let factor = (largest / norm) as f32;
        for value in parameters.iter_mut().chain(embeddings) {
            *value *= factor;
        }
    }
}

/// Computes the logits of some texts of `corpus`, row-major `[items, classes]`.
pub fn text_logits(
    kernels: &Kernels,
    table: EmbeddingTable<'_>,
    corpus: LabelledTexts<'_>,
    items: &[u32],
    max_length: usize,
) -> Vec<f32> {
    let texts: Vec<&[i32]> = items
        .iter()
        .map(|&item| corpus.text(item, max_length))
        .collect();
    kernels.logits(table, &texts)
}
