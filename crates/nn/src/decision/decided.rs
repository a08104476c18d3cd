//! Classifiers with a decision of their own.

use super::Decision;
use crate::{Classifier, Differentiable, ModelError, Rows};

/// A classifier with the decision that is made from its outputs.
pub struct Decided<M> {
    /// The classifier.
    pub model: M,
    /// The decision that is made from its outputs.
    pub decision: Decision,
}

impl<M: Classifier> Classifier for Decided<M> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn classes(&self) -> usize {
        self.model.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.model.logits(rows)
    }

    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        self.model.logits_with(rows, numbers)
    }

    fn is_fallible(&self) -> bool {
        self.model.is_fallible()
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}

impl<M: Differentiable> Differentiable for Decided<M> {
    fn features(&self) -> usize {
        self.model.features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        self.model.input_gradients(rows, cotangents)
    }
}
