//! The texts that a training reads.

use crate::recurrent::kernels::{EmbeddingTable, Kernels};

/// Labelled texts as token ids.
#[derive(Debug, Clone, Copy)]
pub struct LabelledTexts<'a> {
    /// Token ids of each text: rows of the embedding table.
    pub texts: &'a [Vec<i32>],
    /// Class of each text, below `classes`.
    pub labels: &'a [u32],
    /// Number of classes.
    pub classes: usize,
}

impl<'a> LabelledTexts<'a> {
    /// The first `max_length` tokens of text `item`.
    pub(super) fn text(&self, item: u32, max_length: usize) -> &'a [i32] {
        let text = &self.texts[item as usize];
        &text[..text.len().min(max_length)]
    }
}

/// Logits of some texts of `corpus`, row-major `[items, classes]`.
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
