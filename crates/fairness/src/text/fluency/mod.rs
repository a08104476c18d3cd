//! The fluency of a text after a search has changed it: how much less it sounds like the others.
//!
//! A text that a search made of a seed by changing n words keeps a share of its probability for each
//! of them: what a change costs does not hang on how long the text is. Two models say how probable
//! texts are, and their shares differ in scale:
//!
//! * [`ngrams`]: the share is (P(text) / P(seed))^(1/n), by trigrams;
//! * [`masked`]: it is the geometric mean of P(new word | rest) / P(old word | rest), where the rest
//!   is that of the changed text, by a masked language model.
//!
//! Both also say which words suit a place of a seed before a search begins.

pub mod masked;
pub mod ngrams;

use std::sync::Arc;

use self::ngrams::NgramFluency;
use probity_nn::ModelError;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_nn::transformer_model::MaskedLanguageModel;

/// The model that says how probable texts are.
#[derive(Debug)]
pub enum FluencyModel {
    /// Trigrams, and the seeds by their numbers.
    Ngrams(Box<NgramFluency>),
    /// A masked language model.
    Masked(Arc<MaskedLanguageModel>),
}

/// Measures changes of seeds.
#[derive(Debug, Clone, Copy)]
pub struct Fluency<'a> {
    /// The model by which changes are measured.
    pub model: &'a FluencyModel,
    /// The reader that splits the seeds into the words that a search changes.
    pub reader: &'a TextReader,
    /// The seeds, by number.
    pub seeds: &'a [EncodedText],
    /// The least share that a text may keep.
    pub least: f32,
}

impl Fluency<'_> {
    /// The share of its probability that seed `seed` keeps for each word in which `text` differs
    /// from it; 1 for the seed itself.
    ///
    /// # Errors
    /// When a model that is asked cannot answer.
    pub fn kept(&self, seed: usize, text: &[i32]) -> Result<f64, ModelError> {
        let Some(original) = self.seeds.get(seed) else {
            return Ok(1.0);
        };
        match self.model {
            FluencyModel::Ngrams(ngrams) => Ok(ngrams.kept(seed, &original.ids, text)),
            FluencyModel::Masked(model) => {
                let kept = masked::kept(model, self.reader, original, &[text.to_vec()])?;
                Ok(kept.into_iter().next().unwrap_or(1.0))
            }
        }
    }

    /// Whether `text` keeps enough of seed `seed`.
    ///
    /// # Errors
    /// When a model that is asked cannot answer.
    pub fn allows(&self, seed: usize, text: &[i32]) -> Result<bool, ModelError> {
        Ok(self.kept(seed, text)? >= f64::from(self.least))
    }

    /// Chooses, of the words `fitting`, those that suit the others where they stand: there are as
    /// many lists as tokens of seed `seed`, and each is of words that may stand in its token's
    /// place. By trigrams they must occur between such words, and a masked language model must say
    /// that they alone keep enough.
    ///
    /// # Errors
    /// When a model that is asked cannot answer.
    pub fn suited(
        &self,
        seed: usize,
        mut fitting: Vec<Vec<i32>>,
    ) -> Result<Vec<Vec<i32>>, ModelError> {
        match self.model {
            FluencyModel::Ngrams(ngrams) => {
                for (position, words) in fitting.iter_mut().enumerate() {
                    words.retain(|&word| ngrams.is_attested(seed, position, word));
                }
            }
            FluencyModel::Masked(model) => {
                let Some(original) = self.seeds.get(seed) else {
                    return Ok(fitting);
                };
                let places = fitting.iter().enumerate();
                let texts = places.flat_map(|(position, words)| {
                    words.iter().map(move |&word| {
                        let mut text = original.ids.clone();
                        text[position] = word;
                        text
                    })
                });
                let texts: Vec<Vec<i32>> = texts.collect();
                let mut kept = masked::kept(model, self.reader, original, &texts)?.into_iter();
                let least = f64::from(self.least);
                for words in &mut fitting {
                    words.retain(|_| kept.next().is_some_and(|kept| kept >= least));
                }
            }
        }
        Ok(fitting)
    }
}
