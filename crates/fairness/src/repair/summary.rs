//! `summary.json` of a repair; its keys are documented in docs/file-formats.md.

use std::path::PathBuf;

use serde::Serialize;

use super::change::Change;
use super::choice::Evidence;
use super::pool::Pool;
use super::specification::RepairMethod;
use super::verdict::Verdict;
use probity_nn::modality::ModalityName;
use probity_nn::train::Split;

/// Inputs of each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PartSizes {
    /// To train on.
    pub train: usize,
    /// To choose by.
    pub validation: usize,
    /// Held out, to measure on.
    pub test: usize,
}

impl PartSizes {
    pub(super) fn of(split: &Split) -> PartSizes {
        PartSizes {
            train: split.train.len(),
            validation: split.validation.len(),
            test: split.test.len(),
        }
    }
}

/// An audit that samples were drawn from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// Its directory.
    pub run: PathBuf,
    /// Its protected attributes.
    pub protected: Vec<String>,
    /// Distinct individuals that may be drawn.
    pub samples: u64,
    /// Individuals left out, found from inputs that are held out.
    pub held_out: u64,
}

impl RunSummary {
    pub(super) fn of<S>(pool: &Pool<S>) -> Option<RunSummary> {
        Some(RunSummary {
            run: pool.run.clone()?,
            protected: pool.protected.clone(),
            samples: pool.samples.len() as u64,
            held_out: pool.held_out,
        })
    }
}

/// One retrained network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkFigures<F> {
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// Seed of its training.
    pub seed: u64,
    /// Trainings until it gave its training part more than one class.
    pub attempts: u32,
    /// What the choice saw.
    pub choice: Evidence,
    /// What is reported.
    #[serde(flatten)]
    pub figures: F,
}

/// What one share of the samples gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharePoint<F> {
    /// The share.
    pub share: f64,
    /// Samples drawn for each network.
    pub samples: u64,
    /// Inputs that their variants are.
    pub variants: u64,
    /// Figures before and after.
    pub changes: Vec<Change>,
    /// The networks.
    pub networks: Vec<NetworkFigures<F>>,
}

/// The network that was chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen<F> {
    /// Its share.
    pub share: f64,
    /// Its repeat, from 1.
    pub repeat: u32,
    /// Accuracy on the held-out inputs before, less that after.
    pub accuracy_loss: f64,
    /// Whether that is at most the allowed loss.
    pub within: bool,
    /// What is reported of it.
    #[serde(flatten)]
    pub figures: F,
}

/// `summary.json` of a repair, with the figures `F` of a network and the details `D` of its
/// modality.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepairSummary<F, D> {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `repair`.
    pub command: &'static str,
    /// Version that ran.
    pub probity_version: &'static str,
    /// What the model classifies.
    pub modality: ModalityName,
    /// Whether all networks were trained.
    pub finished: bool,
    /// By what the model was repaired.
    pub method: RepairMethod,
    /// Seed of draws, networks and estimates.
    pub seed: u64,
    /// Device that trained.
    pub device: String,
    /// SHA-256 of the model before.
    pub model_sha256: String,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// SHA-256 of the model after; absent where none was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repaired_sha256: Option<String>,
    /// What is said for and against the network that was chosen.
    pub verdict: Verdict,
    /// What only this modality has.
    #[serde(flatten)]
    pub details: D,
    /// Inputs of each part.
    pub parts: PartSizes,
    /// The audits; empty where a search of the repair found the samples.
    pub runs: Vec<RunSummary>,
    /// Seconds of the repair.
    pub seconds: f64,
    /// The model before.
    pub before: F,
    /// Networks trained in the same way on the data alone.
    pub control: Vec<NetworkFigures<F>>,
    /// Each share.
    pub points: Vec<SharePoint<F>>,
    /// The network that was chosen.
    pub chosen: Chosen<F>,
}

impl<F, D> RepairSummary<F, D> {
    /// What the share of the chosen network gave.
    pub fn chosen_point(&self) -> Option<&SharePoint<F>> {
        let chosen = self.chosen.share;
        self.points.iter().find(|point| point.share == chosen)
    }
}
