//! The networks of a repair that are complete: what its checkpoint holds.
//!
//! A network is kept with all that was measured of it, so that nothing about it is computed again. How its inputs are
//! encoded is not kept: that is the model's own way.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::choice::Evidence;
use super::error::RepairError;
use super::figures::ModelFigures;
use probity_nn::fnn::{Dense, Embedding, Network};
use probity_run::run_directory::RunDirectory;

/// A trained network with what is known of it.
#[derive(Clone)]
pub(super) struct Trained {
    /// The network.
    pub network: Network,
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
    pub figures: ModelFigures,
    /// Samples that it learnt.
    pub samples: u64,
    /// Rows that their variants are.
    pub variants: u64,
}

/// [`Trained`] as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    embeddings: Vec<Embedding>,
    layers: Vec<Dense>,
    share: Option<u32>,
    repeat: u32,
    seed: u64,
    attempts: u32,
    evidence: Evidence,
    figures: ModelFigures,
    samples: u64,
    variants: u64,
}

/// The complete networks of a repair, in its directory.
pub(super) struct Book<'a> {
    directory: &'a RunDirectory,
    identity: String,
    kept: Mutex<Vec<Kept>>,
}

impl<'a> Book<'a> {
    /// An empty one.
    pub fn new(directory: &'a RunDirectory, identity: String) -> Book<'a> {
        Book {
            directory,
            identity,
            kept: Mutex::default(),
        }
    }

    /// The one in the checkpoint of `directory`; empty where there is none.
    ///
    /// # Errors
    /// When it is of other options.
    pub fn resume(directory: &'a RunDirectory, identity: String) -> Result<Book<'a>, RepairError> {
        let kept = directory.read_checkpoint(&identity)?.unwrap_or_default();
        Ok(Book {
            directory,
            identity,
            kept: Mutex::new(kept),
        })
    }

    /// Writes the checkpoint.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self) -> Result<(), RepairError> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.directory.write_checkpoint(&self.identity, &*kept)?)
    }

    /// Networks in it.
    pub fn len(&self) -> usize {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.len()
    }

    /// The network of (`share`, `repeat`), if it is complete; its inputs are encoded as those of `model`.
    pub fn find(&self, (share, repeat): (Option<u32>, u32), model: &Network) -> Option<Trained> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept
            .iter()
            .find(|kept| (kept.share, kept.repeat) == (share, repeat))?;
        Some(Trained {
            network: Network {
                layout: model.layout.clone(),
                embeddings: kept.embeddings.clone(),
                layers: kept.layers.clone(),
                activation: model.activation,
            },
            share,
            repeat,
            seed: kept.seed,
            attempts: kept.attempts,
            evidence: kept.evidence,
            figures: kept.figures.clone(),
            samples: kept.samples,
            variants: kept.variants,
        })
    }

    /// Adds a network and writes the checkpoint.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, trained: &Trained) -> Result<(), RepairError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(Kept {
            embeddings: trained.network.embeddings.clone(),
            layers: trained.network.layers.clone(),
            share: trained.share,
            repeat: trained.repeat,
            seed: trained.seed,
            attempts: trained.attempts,
            evidence: trained.evidence,
            figures: trained.figures.clone(),
            samples: trained.samples,
            variants: trained.variants,
        });
        Ok(self.directory.write_checkpoint(&self.identity, &*kept)?)
    }
}
