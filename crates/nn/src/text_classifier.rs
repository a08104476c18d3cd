//! Classifiers that are asked by texts as they are written.
//!
//! A recurrent network of this crate reads numbers of its own words; whatever else classifies
//! texts (another process, an ONNX file, a transformer with its own tokenizer) gets the text
//! itself, and splits it as it likes.

use super::ModelError;

/// A model that classifies texts.
pub trait TextClassifier: Send + Sync {
    /// Number of classes.
    fn classes(&self) -> usize;

    /// Logits, row-major `[texts, classes]`. A text's logits do not depend on the other texts.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn logits(&self, texts: &[&str]) -> Result<Vec<f32>, ModelError>;

    /// Whether an answer may fail to come though the model and the text are good; see
    /// [`super::Classifier::is_fallible`].
    fn is_fallible(&self) -> bool {
        false
    }
}
