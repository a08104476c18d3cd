//! The checkpoint store: what of a repair is complete, in its directory.
//!
//! A search that is over and a network that is complete, with all that was measured of it, are
//! never computed again.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::choice::Evidence;
use super::error::RepairError;
use super::repairable::Repairable;
use probity_run::run_directory::RunDirectory;

/// A complete network with what is known of it.
pub(super) struct Trained<R: Repairable> {
    /// The network.
    pub network: R::Network,
    /// The rest.
    pub known: Known<R::Figures>,
}

/// What is known of a complete network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Known<F> {
    /// Position of its share; `None` for a control.
    pub share: Option<u32>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Seed of its training.
    pub seed: u64,
    /// Networks trained until one was of use.
    pub attempts: u32,
    /// What the choice sees.
    pub evidence: Evidence,
    /// What is reported.
    pub figures: F,
    /// Samples that it learnt.
    pub samples: u64,
    /// Inputs that their variants are.
    pub variants: u64,
}

/// What of a repair is complete: what its checkpoint holds.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct RepairState<R: Repairable> {
    /// What its own searches gave.
    pub(super) searched: R::Searched,
    /// Its networks.
    networks: Vec<(R::Stored, Known<R::Figures>)>,
}

impl<R: Repairable> Default for RepairState<R> {
    fn default() -> Self {
        RepairState {
            searched: R::Searched::default(),
            networks: Vec::new(),
        }
    }
}

impl<R: Repairable> RepairState<R> {
    /// What a repair by another method, with all else equal, can take over: the searches and the
    /// controls.
    #[must_use]
    pub fn for_other_method(mut self) -> Self {
        self.networks.retain(|(_, known)| known.share.is_none());
        self
    }

    /// What a repair whose searches differ as `change` says, with all else equal, can take over:
    /// the other searches and the controls.
    #[must_use]
    pub fn for_other_searches(mut self, change: impl FnOnce(&mut R::Searched)) -> Self {
        change(&mut self.searched);
        self.for_other_method()
    }
}

/// The state of a repair under way, and the directory that keeps it.
pub(super) struct CheckpointStore<'a, R: Repairable> {
    directory: &'a RunDirectory,
    identity: String,
    state: Mutex<RepairState<R>>,
}

impl<'a, R: Repairable> CheckpointStore<'a, R> {
    /// The store of `state` in the checkpoint of `directory`, which belongs to `identity`.
    pub fn new(
        directory: &'a RunDirectory,
        identity: String,
        state: RepairState<R>,
    ) -> CheckpointStore<'a, R> {
        CheckpointStore {
            directory,
            identity,
            state: Mutex::new(state),
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut RepairState<R>) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The state in the end.
    pub fn into_state(self) -> RepairState<R> {
        self.state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// What searches gave.
    pub fn searched(&self) -> R::Searched {
        self.with(|state| state.searched.clone())
    }

    /// Keeps what searches gave.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_searched(&self, searched: R::Searched) -> Result<(), RepairError> {
        self.with(|state| state.searched = searched);
        self.write()
    }

    /// Writes the checkpoint.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self) -> Result<(), RepairError> {
        Ok(self.with(|state| self.directory.write_checkpoint(&self.identity, state))?)
    }

    /// Networks in it.
    pub fn len(&self) -> usize {
        self.with(|state| state.networks.len())
    }

    /// The network of (`share`, `repeat`), if it is complete.
    pub fn find(&self, subject: &R, share: Option<u32>, repeat: u32) -> Option<Trained<R>> {
        self.with(|state| {
            let (stored, known) = state
                .networks
                .iter()
                .find(|(_, known)| (known.share, known.repeat) == (share, repeat))?;
            Some(Trained {
                network: subject.restore(stored),
                known: known.clone(),
            })
        })
    }

    /// Adds a network and writes the checkpoint.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, subject: &R, trained: &Trained<R>) -> Result<(), RepairError> {
        let kept = (subject.store(&trained.network), trained.known.clone());
        self.with(|state| state.networks.push(kept));
        self.write()
    }
}
