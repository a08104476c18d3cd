//! Validity of generated texts: how close they stay to the seed they came from.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::limits::Similarity;
use probity_nn::ModelError;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_text::validity::{Validity, ValidityMeasure};

/// A sentence encoder: a text's vector.
pub type Embed<'a> = &'a (dyn Fn(&str) -> Result<Vec<f32>, ModelError> + Sync);

/// Judges texts of one model.
pub struct Judge<'a> {
    reader: &'a TextReader,
    measure: ValidityMeasure<'a>,
    embed: Option<Embed<'a>>,
    /// Vectors of the seeds that the encoder has seen.
    seeds: Mutex<HashMap<Vec<i32>, Vec<f32>>>,
}

impl<'a> Judge<'a> {
    /// A judge with the vectors and word frequencies of `model`. Semantic similarity is the cosine
    /// of the vectors that `embed` gives, where there is one; it is asked for the words that the
    /// model knows, with blanks between them.
    pub fn new(reader: &'a TextReader, embed: Option<Embed<'a>>) -> Judge<'a> {
        Judge {
            reader,
            measure: ValidityMeasure::new(&reader.table, &reader.sentences),
            embed,
            seeds: Mutex::default(),
        }
    }

    fn words(&self, ids: &[i32]) -> Vec<&str> {
        ids.iter().map(|&id| self.reader.word(id)).collect()
    }

    fn embedded(&self, embed: Embed<'_>, ids: &[i32]) -> Result<Vec<f32>, ModelError> {
        let words = self.words(ids);
        let known: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        embed(&known.join(" "))
    }

    /// The encoder's vector of a seed, computed once.
    fn embedded_seed(&self, embed: Embed<'_>, ids: &[i32]) -> Result<Vec<f32>, ModelError> {
        let known = self.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = known.get(ids) {
            return Ok(vector.clone());
        }
        drop(known);
        let vector = self.embedded(embed, ids)?;
        let mut known = self.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(ids.to_vec(), vector.clone());
        Ok(vector)
    }

    /// The metrics of the text `ids`, which came from `seed` by replacing words one by one.
    ///
    /// # Errors
    /// When the sentence encoder fails.
    pub fn judge(&self, seed: &EncodedText, ids: &[i32]) -> Result<Validity, ModelError> {
        let changed: Vec<&str> = ids
            .iter()
            .zip(seed.ids.iter().zip(&seed.words))
            .map(|(id, (own, word))| {
                if id == own {
                    word.as_str()
                } else {
                    self.reader.word(*id)
                }
            })
            .collect();
        let original: Vec<&str> = seed.words.iter().map(String::as_str).collect();
        let mut validity = self.measure.measure(&original, &changed);
        if self.embed.is_some() {
            validity.similarity = f64::from(self.similarity(&seed.ids, ids)?);
        }
        Ok(validity)
    }
}

impl Similarity for Judge<'_> {
    fn similarity(&self, original: &[i32], text: &[i32]) -> Result<f32, ModelError> {
        if let Some(embed) = self.embed {
            let seed = self.embedded_seed(embed, original)?;
            let other = self.embedded(embed, text)?;
            let cosine: f32 = seed.iter().zip(&other).map(|(a, b)| a * b).sum();
            return Ok(cosine.clamp(-1.0, 1.0));
        }
        let cosine = self.reader.sentences.similarity(
            &self.words(original),
            &self.words(text),
            &self.reader.table,
        );
        Ok(cosine as f32)
    }
}

/// Means of the metrics over some pairs; zeros over none.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ValidityMeans {
    /// Number of pairs.
    pub pairs: u64,
    /// Number of token edits.
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
    /// Adds one more pair to the means.
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
