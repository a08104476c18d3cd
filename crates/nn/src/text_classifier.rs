//! Classifiers that are given texts as they are written.
//!
//! A recurrent network of this crate reads numbers of its own words. All other classifiers of texts
//! (another process, an ONNX file, a transformer with its own tokenizer) get the text itself, and
//! split it as they like.

use std::ops::Range;
use std::sync::Arc;

use super::ModelError;
use probity_tensor::device::ComputeDevice;

/// A model that classifies texts.
pub trait TextClassifier: Send + Sync {
    /// The number of classes.
    fn classes(&self) -> usize;

    /// Returns the logits, row-major `[texts, classes]`. A text's logits do not depend on the other
    /// texts.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn logits(&self, texts: &[&str]) -> Result<Vec<f32>, ModelError>;

    /// Whether an answer may fail to come though the model and the text are good; see
    /// [`super::Classifier::is_fallible`].
    fn is_fallible(&self) -> bool {
        false
    }

    /// Whether `text` is longer than what is read of it, as far as that is known.
    ///
    /// # Errors
    /// When the text cannot be split.
    fn cuts(&self, _text: &str) -> Result<bool, ModelError> {
        Ok(false)
    }
}

/// A classifier of texts whose outputs can be differentiated with respect to their words.
///
/// The classifier splits words into pieces as it likes, and sees a vector of
/// [`DifferentiableTexts::units`] numbers for each. The vector of a word is the mean of the vectors
/// of its pieces; its gradient is the sum of their gradients, which is the derivative when all of
/// its pieces are moved alike. To first order, another word in its place changes an output by the
/// product of the gradient with the difference of the words' vectors, exactly so where both have
/// one piece.
pub trait DifferentiableTexts: TextClassifier {
    /// Returns the number of numbers in a vector.
    fn units(&self) -> usize;

    /// Returns the classifier as it answers on `device`.
    fn on_device(&self, device: &ComputeDevice) -> Arc<dyn DifferentiableTexts>;

    /// Returns the vector of `word`, `[units]`, where it stands behind a space; zeros for a word
    /// without a piece.
    ///
    /// # Errors
    /// When the word cannot be split.
    fn word_vector(&self, word: &str) -> Result<Vec<f32>, ModelError>;

    /// Computes for each text Σ_c `cotangents[t, c]` · ∂logit_c/∂vector of each of its words, which
    /// are given by their bytes in ascending order: row-major `[words, units]`, text by text, zeros
    /// for words that are not read. `cotangents` is row-major `[texts, classes]`.
    ///
    /// # Errors
    /// When the model cannot answer, or a gradient is not finite.
    fn word_gradients(
        &self,
        texts: &[(&str, &[Range<usize>])],
        cotangents: &[f32],
    ) -> Result<Vec<Vec<f32>>, ModelError>;
}

impl<C: TextClassifier + ?Sized> TextClassifier for &C {
    fn classes(&self) -> usize {
        (**self).classes()
    }

    fn logits(&self, texts: &[&str]) -> Result<Vec<f32>, ModelError> {
        (**self).logits(texts)
    }

    fn is_fallible(&self) -> bool {
        (**self).is_fallible()
    }

    fn cuts(&self, text: &str) -> Result<bool, ModelError> {
        (**self).cuts(text)
    }
}
