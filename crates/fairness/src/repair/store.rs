//! The checkpoint store: the searches and networks of a repair that are complete, in its directory.
//!
//! A search that is over and a network that is complete, with all that was measured of it, are
//! never computed again.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::change::Figures;
use super::choice::Evidence;
use super::error::RepairError;
use super::repairable::Repairable;
use super::specification::RepairSpecification;
use probity_run::run_directory::RunDirectory;

/// A complete network with the facts that are known of it.
pub(super) struct Trained<R: Repairable> {
    /// The network.
    pub network: R::Network,
    /// The facts that are known of it.
    pub known: Known<R::Figures>,
}

/// The facts that are known of a complete network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Known<F> {
    /// Position of the share of the network; `None` for a control.
    pub share: Option<u32>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Seed of the training.
    pub seed: u64,
    /// Number of networks trained until one was of use.
    pub attempts: u32,
    /// The figures that the choice sees.
    pub evidence: Evidence,
    /// The figures that are reported.
    pub figures: F,
    /// Number of samples that the network learnt.
    pub samples: u64,
    /// Number of inputs that their variants are.
    pub variants: u64,
}

/// The complete part of a repair: the content of its checkpoint.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct RepairState<R: Repairable> {
    /// The results of the repair's own searches.
    pub(super) searched: R::Searched,
    /// The networks that are complete.
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
    /// Checks that `specification`, for `subject`, can go on from this state.
    ///
    /// # Errors
    /// A message about what does not fit.
    pub(super) fn expect_fits(
        &self,
        subject: &R,
        specification: &RepairSpecification,
    ) -> Result<(), String> {
        if !subject.is_searched(&self.searched) {
            return Err("what was found is not of this model".to_owned());
        }
        let shares = specification.shares().len();
        let names = |known: &Known<R::Figures>| -> Vec<_> {
            let measures = known.figures.measures().into_iter();
            measures.map(|of| (of.figure, of.protected)).collect()
        };
        let mut seen = HashSet::new();
        let first = self.networks.first().map(|(_, known)| names(known));
        for (stored, known) in &self.networks {
            let is_job = known.share.is_none_or(|share| (share as usize) < shares)
                && known.repeat < specification.repeats
                && seen.insert((known.share, known.repeat));
            let is_share = |share: f64| (0.0..=1.0).contains(&share);
            let is_measured = is_share(known.evidence.discriminatory)
                && known.evidence.validation_accuracy.is_none_or(is_share)
                && first.as_ref() == Some(&names(known));
            if !(is_job && is_measured && subject.is_stored(stored)) {
                let repeat = known.repeat;
                return Err(format!(
                    "a network of repeat {repeat} is none of this repair"
                ));
            }
        }
        Ok(())
    }

    /// The part that a repair by another method, with all else equal, can take over: the searches
    /// and the controls.
    #[must_use]
    pub fn for_other_method(mut self) -> Self {
        self.networks.retain(|(_, known)| known.share.is_none());
        self
    }

    /// The part that a repair whose searches differ as `change` says, with all else equal, can take
    /// over: the other searches and the controls.
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

    /// The results of the searches.
    pub fn searched(&self) -> R::Searched {
        self.with(|state| state.searched.clone())
    }

    /// Keeps the results of the searches.
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

    /// Number of networks in the store.
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
