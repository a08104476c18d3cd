//! A function of this process that classifies texts: a [`Callable`] that gets a column of them.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};

use super::asking::{Backend, Unread};
use super::protocol::Reply;
use crate::callable::{Callable, TEXT, callable};
use crate::error::PredictorError;

/// A function, asked about texts.
pub(super) struct CallableBackend {
    callable: Arc<dyn Callable>,
    classes: usize,
}

impl CallableBackend {
    /// Finds the function `memory:NAME`, which gives so many probabilities for each text.
    pub(super) fn find(name: &str, classes: usize) -> Result<CallableBackend, PredictorError> {
        Ok(CallableBackend {
            callable: callable(name)?,
            classes,
        })
    }
}

impl Backend for CallableBackend {
    fn receive(&mut self, texts: &[&str]) -> Result<Unread, PredictorError> {
        let column: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        let batch = RecordBatch::try_from_iter([(TEXT, column)]);
        let batch = batch.map_err(|error| PredictorError::Raised(error.to_string()))?;
        let given = self.callable.probabilities(&batch);
        let given = given.map_err(PredictorError::Raised)?;
        if given.len() != texts.len() * self.classes {
            return Err(PredictorError::Shape {
                numbers: given.len(),
                rows: texts.len(),
                classes: self.classes,
            });
        }
        let rows = given.chunks_exact(self.classes);
        let reply = Reply {
            probabilities: rows.map(|row| Some(row.into())).collect(),
            ..Reply::default()
        };
        Ok(Box::new(|| Ok(reply)))
    }

    fn begin_anew(&mut self) {}
}
