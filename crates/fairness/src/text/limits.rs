//! The limits to which a search may lead a text away from its seed.

use super::fluency::Fluency;
use probity_nn::ModelError;

/// The similarity of two texts.
pub trait Similarity: Sync {
    /// The similarity of two unpadded texts: 1 for equal ones, at least −1.
    ///
    /// # Errors
    /// When a model that is asked cannot answer.
    fn similarity(&self, original: &[i32], text: &[i32]) -> Result<f32, ModelError>;
}

/// Bounds on every text that is checked, against the seed that it came from.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The seeds, unpadded, by number.
    pub seeds: &'a [Vec<i32>],
    /// Largest number of tokens that may differ.
    pub max_changed: Option<usize>,
    /// The measure of fluency, and how much of it must be left.
    pub min_fluency: Option<Fluency<'a>>,
    /// Least similarity.
    pub min_similarity: Option<(f32, &'a dyn Similarity)>,
}

impl Limits<'_> {
    /// Whether `text`, reached from seed `seed`, may be checked.
    ///
    /// # Errors
    /// When fluency or similarity cannot be computed.
    pub fn allow(&self, seed: u64, text: &[i32]) -> Result<bool, ModelError> {
        let Some(original) = self.seeds.get(seed as usize) else {
            return Ok(true);
        };
        if let Some(most) = self.max_changed
            && changed(original, text) > most
        {
            return Ok(false);
        }
        if let Some(fluency) = self.min_fluency
            && !fluency.allows(seed as usize, text)?
        {
            return Ok(false);
        }
        match self.min_similarity {
            Some((least, measure)) => Ok(measure.similarity(original, text)? >= least),
            None => Ok(true),
        }
    }
}

/// Number of positions at which two texts differ; the search keeps lengths, so none is moved.
pub fn changed(original: &[i32], text: &[i32]) -> usize {
    let common = original.iter().zip(text).filter(|(a, b)| a != b).count();
    common + original.len().abs_diff(text.len())
}
