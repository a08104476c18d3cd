//! A masked language model that computes how likely words are where they stand.
//!
//! All pieces of a word are masked at once, and log P(word | rest) is the sum of the logarithms
//! that the head gives for each (pseudo-log-likelihoods, Salazar et al. 2020; the pieces of a word
//! must not see each other, Kauf and Ivanova 2023). A text is split as a whole, so that a word's
//! pieces are those that it has there. Where a text is longer than the network reads, the network
//! reads the pieces around the word, as many on both sides where there are.
//!
//! The head's result for a place answers for all words of as many pieces there. The result is kept,
//! and found again by the pieces of the text: an answer does not depend on what was asked before.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::network::beginning;
use super::pieces::MaskedPieces;
use super::{PieceTokenizer, TransformerModel};
use crate::ModelError;
use crate::transformer::masked::{Hidden, Masked, MaskedHead, MaskedKernels};

/// The most numbers that are kept for places: 128 MiB.
const MOST_KEPT: usize = 1 << 25;
/// The number of places that are asked about together.
const BLOCK: usize = 1024;

/// The description of a head in the description of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaskedDescription {
    /// The number of the piece that masks another.
    pub mask: i32,
    /// Whether the matrix over the vocabulary is the table of words.
    pub is_tied: bool,
}

impl MaskedDescription {
    /// Returns the description of `head`.
    pub fn new(head: &MaskedHead) -> MaskedDescription {
        MaskedDescription {
            mask: head.mask,
            is_tied: head.is_tied,
        }
    }
}

/// An encoder with the head of a masked language model.
#[derive(Debug)]
pub struct MaskedLanguageModel {
    tokenizer: PieceTokenizer,
    max_length: usize,
    mask: i32,
    kernels: MaskedKernels,
    kept: Mutex<Kept>,
}

/// The results for places that were asked about.
#[derive(Debug, Default)]
struct Kept {
    places: HashMap<Masked, Arc<Hidden>>,
    numbers: usize,
}

impl MaskedLanguageModel {
    /// Makes the network of `model` ready to answer.
    ///
    /// # Errors
    /// When the model has no such head.
    pub fn new(model: TransformerModel) -> Result<MaskedLanguageModel, ModelError> {
        let head = model.masked.ok_or(ModelError::NoMaskedHead)?;
        let activation = model.family.masked(model.weights.shape.activation);
        Ok(MaskedLanguageModel {
            tokenizer: model.tokenizer,
            max_length: model.max_length,
            mask: head.mask,
            kernels: MaskedKernels::new(model.weights, head, activation),
            kept: Mutex::default(),
        })
    }

    /// Computes for each of `words`, a text and the bytes in which a word of it stands, the
    /// logarithm of the word's probability there, after all others. `None` where the word has no
    /// piece, or more than are read, or one that stands for any unknown.
    ///
    /// # Errors
    /// When a text cannot be split, or an answer is not finite.
    pub fn log_probabilities(
        &self,
        words: &[(&str, Range<usize>)],
    ) -> Result<Vec<Option<f64>>, ModelError> {
        let mut answers = Vec::with_capacity(words.len());
        for block in words.chunks(BLOCK) {
            let masked = block.par_iter().map(|(text, word)| self.masked(text, word));
            let masked = masked.collect::<Result<Vec<_>, _>>()?;
            let hidden = self.hidden(masked.iter().flatten().map(|pieces| &pieces.masked));
            for ((text, _), pieces) in block.iter().zip(&masked) {
                let found = pieces.as_ref().and_then(|MaskedPieces { masked, own }| {
                    let hidden = hidden.get(masked)?;
                    Some(self.kernels.log_probability(hidden, own))
                });
                if found.is_some_and(|value| !value.is_finite()) {
                    let text = beginning(text);
                    return Err(ModelError::NotFiniteText { text });
                }
                answers.push(found);
            }
        }
        Ok(answers)
    }

    fn masked(&self, text: &str, word: &Range<usize>) -> Result<Option<MaskedPieces>, ModelError> {
        let read = self
            .tokenizer
            .masked(text, word, self.mask, self.max_length);
        read.map_err(|error| ModelError::Pieces {
            text: beginning(text),
            problem: error.to_string(),
        })
    }

    /// Returns the head's result for each of `places`.
    fn hidden<'p>(
        &self,
        places: impl Iterator<Item = &'p Masked>,
    ) -> HashMap<&'p Masked, Arc<Hidden>> {
        let mut found = HashMap::new();
        let mut new = Vec::new();
        let mut seen = HashSet::new();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for place in places.filter(|place| seen.insert(*place)) {
            if let Some(hidden) = kept.places.get(place) {
                found.insert(place, hidden.clone());
            } else {
                new.push(place);
            }
        }
        drop(kept);
        if new.is_empty() {
            return found;
        }
        let answers = self.kernels.hidden(&new);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, hidden) in new.into_iter().zip(answers) {
            let numbers = hidden.numbers() + place.ids.len();
            if kept.numbers + numbers > MOST_KEPT {
                *kept = Kept::default();
            }
            kept.numbers += numbers;
            let hidden = Arc::new(hidden);
            kept.places.insert(place.clone(), hidden.clone());
            found.insert(place, hidden);
        }
        found
    }
}
