//! Validity of generated texts: how close they stay to the seed they came from.

use serde::Serialize;

use super::limits::Similarity;
use crate::nn::ModelError;
use crate::nn::text_model::{EncodedText, TextModel};
use crate::text::validity::{Validity, ValidityMeasure};

/// Judges texts of one model.
pub struct Judge<'a> {
    model: &'a TextModel,
    measure: ValidityMeasure<'a>,
}

impl<'a> Judge<'a> {
    /// A judge with the vectors and word frequencies of `model`.
    pub fn new(model: &'a TextModel) -> Judge<'a> {
        Judge {
            model,
            measure: ValidityMeasure::new(&model.table, &model.sentences),
        }
    }

    /// The metrics of the text `ids`, which came from `seed` by replacing words one by one.
    pub fn judge(&self, seed: &EncodedText, ids: &[i32]) -> Validity {
        let changed: Vec<&str> = ids
            .iter()
            .zip(seed.ids.iter().zip(&seed.words))
            .map(|(id, (own, word))| {
                if id == own {
                    word.as_str()
                } else {
                    self.model.word(*id)
                }
            })
            .collect();
        let original: Vec<&str> = seed.words.iter().map(String::as_str).collect();
        self.measure.measure(&original, &changed)
    }
}

impl Similarity for Judge<'_> {
    fn similarity(&self, original: &[i32], text: &[i32]) -> Result<f32, ModelError> {
        let words =
            |ids: &[i32]| -> Vec<&str> { ids.iter().map(|&id| self.model.word(id)).collect() };
        let cosine =
            self.model
                .sentences
                .similarity(&words(original), &words(text), &self.model.table);
        Ok(cosine as f32)
    }
}

/// Means of the metrics over some pairs; zeros over none.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ValidityMeans {
    /// Pairs.
    pub pairs: u64,
    /// Token edits.
    pub l0: f64,
    /// Distance in the space of word vectors.
    pub l2: f64,
    /// Jaccard coefficient.
    pub jaccard: f64,
    /// BLEU.
    pub bleu: f64,
    /// Semantic similarity.
    pub similarity: f64,
}

impl ValidityMeans {
    /// Takes one more pair into the means.
    pub fn add(&mut self, validity: &Validity) {
        self.pairs += 1;
        let count = self.pairs as f64;
        for (mean, value) in [
            (&mut self.l0, validity.l0 as f64),
            (&mut self.l2, validity.l2),
            (&mut self.jaccard, validity.jaccard),
            (&mut self.bleu, validity.bleu),
            (&mut self.similarity, validity.similarity),
        ] {
            *mean += (value - *mean) / count;
        }
    }

    /// L0, L2, Jaccard, BLEU and similarity.
    pub fn means(&self) -> [f64; 5] {
        [self.l0, self.l2, self.jaccard, self.bleu, self.similarity]
    }
}
