//! Counting what a search asks of its model: rows evaluated and rows differentiated.
//!
//! Strategies are compared by what they find for a number of model calls, whatever the machine.
//! [`CountedModel`] stands between a search and its model and counts into [`Calls`], which the
//! search reads after each round. The counts do not depend on batches, threads or interruptions:
//! what a strategy keeps of the answers is part of the checkpoint. A budget of calls is kept here as
//! well.
//!
//! Chunks of walkers may be in different rounds at a time. So that each round has its own calls, a
//! `tally` counts those that one thread makes for a piece of work.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use probity_nn::decision::Decision;
use probity_nn::{Classifier, Differentiable, ModelError, Rows};

/// Counters that all parts of a search share.
#[derive(Debug, Default)]
pub struct Calls {
    rows: AtomicU64,
    gradients: AtomicU64,
    /// The largest sum of rows and gradients that is allowed.
    limit: Mutex<Option<u64>>,
}

/// The rows and gradients counted up to some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Rows whose logits were asked for.
    pub rows: u64,
    /// Rows whose gradient was asked for.
    pub gradients: u64,
}

thread_local! {
    /// The calls of the innermost tally of this thread.
    static TALLY: Cell<CallCounts> = const { Cell::new(CallCounts { rows: 0, gradients: 0 }) };
}

/// Does `work`, and counts the calls that this thread makes in it. Work of another tally that the
/// thread takes up while it waits counts there.
pub(super) fn tally<T>(work: impl FnOnce() -> T) -> (T, CallCounts) {
    let outer = TALLY.replace(CallCounts::default());
    let done = work();
    (done, TALLY.replace(outer))
}

fn add_to_tally(rows: u64, gradients: u64) {
    let so_far = TALLY.get();
    TALLY.set(CallCounts {
        rows: so_far.rows + rows,
        gradients: so_far.gradients + gradients,
    });
}

impl Calls {
    /// Allows this number of calls from now on; `None` is any number.
    pub fn limit(&self, left: Option<u64>) {
        let CallCounts { rows, gradients } = self.so_far();
        let limit = left.map(|left| (rows + gradients).saturating_add(left));
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = limit;
    }

    /// Counts `count` calls more in `counter`, unless they are too many: before they are made.
    ///
    /// Whether any of the calls of a round is refused depends on their number alone: as long as
    /// none is, all are counted, and the last to be counted is refused if the sum is too large.
    fn count(&self, counter: &AtomicU64, count: u64) -> Result<(), ModelError> {
        let limit = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        counter.fetch_add(count, Ordering::Relaxed);
        let CallCounts { rows, gradients } = self.so_far();
        match *limit {
            Some(limit) if rows + gradients > limit => Err(ModelError::Spent),
            _ => Ok(()),
        }
    }

    /// The calls counted until now.
    pub fn so_far(&self) -> CallCounts {
        CallCounts {
            rows: self.rows.load(Ordering::Relaxed),
            gradients: self.gradients.load(Ordering::Relaxed),
        }
    }
}

/// A model whose calls are counted.
pub struct CountedModel<'a, M: ?Sized> {
    model: &'a M,
    calls: &'a Calls,
}

impl<'a, M: ?Sized> CountedModel<'a, M> {
    /// Wraps `model` so that its calls are counted in `calls`.
    pub fn new(model: &'a M, calls: &'a Calls) -> CountedModel<'a, M> {
        CountedModel { model, calls }
    }
}

impl<M: Classifier + ?Sized> Classifier for CountedModel<'_, M> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn classes(&self) -> usize {
        self.model.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.logits_with(rows, &[])
    }

    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        let count = rows.len() as u64;
        self.calls.count(&self.calls.rows, count)?;
        add_to_tally(count, 0);
        match numbers.is_empty() {
            true => self.model.logits(rows),
            false => self.model.logits_with(rows, numbers),
        }
    }

    fn is_fallible(&self) -> bool {
        self.model.is_fallible()
    }

    fn decision(&self) -> &Decision {
        self.model.decision()
    }

    fn decides_on_device(&self) -> bool {
        self.model.decides_on_device()
    }

    fn decide(&self, rows: Rows<'_>) -> Result<Vec<u32>, ModelError> {
        let count = rows.len() as u64;
        self.calls.count(&self.calls.rows, count)?;
        add_to_tally(count, 0);
        self.model.decide(rows)
    }
}

impl<M: Differentiable + ?Sized> Differentiable for CountedModel<'_, M> {
    fn features(&self) -> usize {
        self.model.features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        let count = rows.len() as u64;
        self.calls.count(&self.calls.gradients, count)?;
        add_to_tally(0, count);
        self.model.input_gradients(rows, cotangents)
    }
}
