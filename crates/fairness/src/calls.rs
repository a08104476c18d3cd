//! Counting what a search asks of its model: rows evaluated and rows differentiated.
//!
//! Strategies are compared by what they find for a number of model calls, whatever the machine.
//! [`Counted`] stands between a search and its model and counts into [`Calls`], which the search
//! reads after each round. The counts do not depend on batches, threads or interruptions: what a
//! strategy keeps of the answers is part of the checkpoint.

use std::sync::atomic::{AtomicU64, Ordering};

use probity_nn::{Classifier, Differentiable, ModelError, Rows};

/// Counters that all parts of a search share.
#[derive(Debug, Default)]
pub struct Calls {
    rows: AtomicU64,
    gradients: AtomicU64,
}

/// What was counted at some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Rows whose logits were asked for.
    pub rows: u64,
    /// Rows whose gradient was asked for.
    pub gradients: u64,
}

impl Calls {
    /// What was counted until now.
    pub fn so_far(&self) -> CallCounts {
        CallCounts {
            rows: self.rows.load(Ordering::Relaxed),
            gradients: self.gradients.load(Ordering::Relaxed),
        }
    }
}

/// A model whose calls are counted.
pub struct Counted<'a, M: ?Sized> {
    model: &'a M,
    calls: &'a Calls,
}

impl<'a, M: ?Sized> Counted<'a, M> {
    /// `model`, counted in `calls`.
    pub fn new(model: &'a M, calls: &'a Calls) -> Counted<'a, M> {
        Counted { model, calls }
    }
}

impl<M: Classifier + ?Sized> Classifier for Counted<'_, M> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn classes(&self) -> usize {
        self.model.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let count = rows.len() as u64;
        self.calls.rows.fetch_add(count, Ordering::Relaxed);
        self.model.logits(rows)
    }

    fn is_fallible(&self) -> bool {
        self.model.is_fallible()
    }
}

impl<M: Differentiable + ?Sized> Differentiable for Counted<'_, M> {
    fn features(&self) -> usize {
        self.model.features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        let count = rows.len() as u64;
        self.calls.gradients.fetch_add(count, Ordering::Relaxed);
        self.model.input_gradients(rows, cotangents)
    }
}
