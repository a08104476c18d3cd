//! The content of `summary.json` of a repair; its keys are documented in docs/file-formats.md.

use std::path::PathBuf;

use serde::Serialize;

use super::change::Change;
use super::choice::Evidence;
use super::pool::Pool;
use super::specification::RepairMethod;
use super::verdict::Verdict;
use probity_nn::modality::ModalityName;
use probity_nn::train::Split;

/// Number of inputs of each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PartSizes {
    /// Inputs to train on.
    pub train: usize,
    /// Inputs to choose by.
    pub validation: usize,
    /// Inputs that are held out, to measure on.
    pub test: usize,
}

impl PartSizes {
    pub(super) fn new(split: &Split) -> PartSizes {
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
    /// The directory of the run.
    pub run: PathBuf,
    /// The protected attributes of the run.
    pub protected: Vec<String>,
    /// Distinct individuals that may be drawn.
    pub samples: u64,
    /// Individuals left out, found from inputs that are held out.
    pub held_out: u64,
}

impl RunSummary {
    pub(super) fn from_pool<S>(pool: &Pool<S>) -> Option<RunSummary> {
        Some(RunSummary {
            run: pool.run.clone()?,
            protected: pool.protected.clone(),
            samples: pool.samples.len() as u64,
            held_out: pool.held_out,
        })
    }
}

/// The figures of one retrained network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkFigures<F> {
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// Seed of the training of the network.
    pub seed: u64,
    /// Number of trainings until the network gave its training part more than one class.
    pub attempts: u32,
    /// The figures that the choice saw.
    pub choice: Evidence,
    /// The figures that are reported.
    #[serde(flatten)]
    pub figures: F,
}

/// The figures of one share of the samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharePoint<F> {
    /// The share.
    pub share: f64,
    /// Samples drawn for each network.
    pub samples: u64,
    /// Inputs that the variants of these samples are.
    pub variants: u64,
    /// Figures before and after.
    pub changes: Vec<Change>,
    /// The networks.
    pub networks: Vec<NetworkFigures<F>>,
}

/// The network that was chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen<F> {
    /// The share of the network.
    pub share: f64,
    /// The repeat of the network, from 1.
    pub repeat: u32,
    /// Accuracy on the held-out inputs before, less that after.
    pub accuracy_loss: f64,
    /// Whether that loss is at most the allowed one.
    pub within: bool,
    /// The figures that are reported of it.
    #[serde(flatten)]
    pub figures: F,
}

/// The content of `summary.json` of a repair, with the figures `F` of a network and the details `D`
/// of its modality.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepairSummary<F, D> {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `repair`.
    pub command: &'static str,
    /// Version that ran.
    pub probity_version: &'static str,
    /// The kind of inputs that the model classifies.
    pub modality: ModalityName,
    /// Whether all networks were trained.
    pub finished: bool,
    /// The method by which the model was repaired.
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
    /// The verdict on the network that was chosen.
    pub verdict: Verdict,
    /// Details that only this modality has.
    #[serde(flatten)]
    pub details: D,
    /// Inputs of each part.
    pub parts: PartSizes,
    /// The audits; empty where a search of the repair found the samples.
    pub runs: Vec<RunSummary>,
    /// Seconds of the repair.
    pub seconds: f64,
    /// The figures of the model before.
    pub before: F,
    /// Networks trained in the same way on the data alone.
    pub control: Vec<NetworkFigures<F>>,
    /// The figures of each share.
    pub points: Vec<SharePoint<F>>,
    /// The network that was chosen.
    pub chosen: Chosen<F>,
}

impl<F, D> RepairSummary<F, D> {
    /// The figures of the share of the chosen network.
    pub fn chosen_point(&self) -> Option<&SharePoint<F>> {
        let chosen = self.chosen.share;
        self.points.iter().find(|point| point.share == chosen)
    }
}
