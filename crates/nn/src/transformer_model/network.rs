//! A transformer that answers about texts as they are written.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::{PieceTokenizer, Pieces, TransformerModel};
use crate::ModelError;
use crate::text_classifier::{DifferentiableTexts, TextClassifier};
use crate::transformer::kernels::Kernels;
use crate::transformer::tensor::TransformerTiles;
use probity_tensor::device::{ComputeDevice, DeviceName};

/// The number of texts whose pieces are in memory together.
const BLOCK: usize = 1024;
/// The number of characters of a text that a message shows.
const SHOWN: usize = 60;

/// A transformer with classes.
#[derive(Debug)]
pub struct TransformerNetwork {
    tokenizer: PieceTokenizer,
    max_length: usize,
    kernels: Arc<Kernels>,
    /// The network on a device without kernels, where it is to answer there.
    tiles: Option<TransformerTiles>,
}

impl TransformerNetwork {
    /// Makes the network of `model` ready to answer.
    ///
    /// # Errors
    /// When the model is an encoder without classes.
    pub fn new(model: TransformerModel) -> Result<TransformerNetwork, ModelError> {
        match model.is_encoder() {
            true => Err(ModelError::NoClasses),
            false => Ok(TransformerNetwork {
                tokenizer: model.tokenizer,
                max_length: model.max_length,
                kernels: Arc::new(Kernels::new(model.weights)),
                tiles: None,
            }),
        }
    }

    /// Returns the network as it answers on `device`. The CPU's answers come from the kernels,
    /// those of other devices from burn, and differ from them in their last digits.
    #[must_use]
    pub fn on(&self, device: &ComputeDevice) -> TransformerNetwork {
        let is_flex = device.name() == DeviceName::Flex;
        let tiles = (!is_flex).then(|| TransformerTiles::new(self.kernels.weights(), device));
        TransformerNetwork {
            tokenizer: self.tokenizer.clone(),
            max_length: self.max_length,
            kernels: Arc::clone(&self.kernels),
            tiles,
        }
    }

    /// The network on numbers of pieces.
    pub fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// Splits `text` into pieces, `most` at most.
    fn split(&self, text: &str, most: usize) -> Result<Pieces, ModelError> {
        let refused = |problem: String| ModelError::Pieces {
            text: beginning(text),
            problem,
        };
        let read = self.tokenizer.read(text, most);
        let pieces = read.map_err(|error| refused(error.to_string()))?;
        match pieces.ids.is_empty() {
            true => Err(refused("it has none".to_owned())),
            false => Ok(pieces),
        }
    }

    /// Splits all `texts` into the pieces that are read.
    fn pieces(&self, texts: &[&str]) -> Result<Vec<Pieces>, ModelError> {
        let split = texts
            .par_iter()
            .map(|text| self.split(text, self.max_length));
        split.collect()
    }
}

/// Returns the beginning of `text` that a message shows.
pub(super) fn beginning(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

fn expect_finite(values: &[f32], text: &str) -> Result<(), ModelError> {
    match values.iter().all(|value| value.is_finite()) {
        true => Ok(()),
        false => Err(ModelError::NotFiniteText {
            text: beginning(text),
        }),
    }
}

impl TextClassifier for TransformerNetwork {
    fn classes(&self) -> usize {
        self.kernels.shape().classes
    }

    fn cuts(&self, text: &str) -> Result<bool, ModelError> {
        Ok(self.split(text, self.max_length)?.is_truncated)
    }

    fn logits(&self, texts: &[&str]) -> Result<Vec<f32>, ModelError> {
        let classes = self.classes();
        let mut logits = Vec::with_capacity(texts.len() * classes);
        for block in texts.chunks(BLOCK) {
            let pieces = self.pieces(block)?;
            let ids: Vec<&[i32]> = pieces.iter().map(|pieces| &pieces.ids[..]).collect();
            let answers = match &self.tiles {
                Some(tiles) => tiles.logits(self.kernels.weights(), &ids)?,
                None => self.kernels.logits(&ids),
            };
            for (text, row) in block.iter().zip(answers.chunks_exact(classes)) {
                expect_finite(row, text)?;
            }
            logits.extend(answers);
        }
        Ok(logits)
    }
}

impl DifferentiableTexts for TransformerNetwork {
    fn units(&self) -> usize {
        self.kernels.shape().units
    }

    fn on_device(&self, device: &ComputeDevice) -> Arc<dyn DifferentiableTexts> {
        Arc::new(self.on(device))
    }

    fn word_vector(&self, word: &str) -> Result<Vec<f32>, ModelError> {
        let mut vector = vec![0.0; self.units()];
        let pieces = self.split(&format!(" {word}"), usize::MAX)?;
        let own = pieces.ids.iter().zip(&pieces.bytes);
        let own: Vec<i32> = own
            .filter(|(_, bytes)| bytes.is_some())
            .map(|(id, _)| *id)
            .collect();
        for &id in &own {
            let values = self.kernels.weights().embedding(id);
            vector
                .iter_mut()
                .zip(values)
                .for_each(|(sum, value)| *sum += value);
        }
        let count = own.len().max(1) as f32;
        vector.iter_mut().for_each(|value| *value /= count);
        Ok(vector)
    }

    fn word_gradients(
        &self,
        texts: &[(&str, &[Range<usize>])],
        cotangents: &[f32],
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let units = self.units();
        let strings: Vec<&str> = texts.iter().map(|(text, _)| *text).collect();
        let pieces = self.pieces(&strings)?;
        let ids: Vec<&[i32]> = pieces.iter().map(|pieces| &pieces.ids[..]).collect();
        let gradients = match &self.tiles {
            Some(tiles) => tiles.input_gradients(self.kernels.weights(), &ids, cotangents)?,
            None => self.kernels.input_gradients(&ids, cotangents),
        };
        let mut rest = &gradients[..];
        let mut of_texts = Vec::with_capacity(texts.len());
        for (pieces, (text, words)) in pieces.iter().zip(texts) {
            let (own, others) = rest.split_at(pieces.ids.len() * units);
            rest = others;
            expect_finite(own, text)?;
            let mut sums = vec![0.0; words.len() * units];
            let of_words = pieces.of_words(words).into_iter();
            for (of_word, sum) in of_words.zip(sums.chunks_exact_mut(units)) {
                for piece in of_word {
                    let gradient = &own[piece * units..][..units];
                    sum.iter_mut()
                        .zip(gradient)
                        .for_each(|(sum, value)| *sum += value);
                }
            }
            of_texts.push(sums);
        }
        Ok(of_texts)
    }
}
