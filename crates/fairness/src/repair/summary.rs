//! `summary.json` of a repair; its keys are documented in docs/file-formats.md.

use std::path::PathBuf;

use serde::Serialize;

use super::basis::Origin;
use super::choice::Evidence;
use super::figures::{Change, ModelFigures};
use super::options::RepairMethod;
use super::pool::FoundRun;
use crate::certify::run::Share;
use crate::group::GroupReport;
use probity_data::table::ReadCounts;
use probity_tensor::device::DeviceName;

/// Rows of each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PartSizes {
    /// To train on.
    pub train: usize,
    /// To choose by.
    pub validation: usize,
    /// Held out, to measure on.
    pub test: usize,
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
    /// Individuals left out, found from held-out rows.
    pub held_out: u64,
}

impl RunSummary {
    pub(super) fn of(found: &FoundRun) -> RunSummary {
        RunSummary {
            run: found.directory.clone(),
            protected: found.protected.clone(),
            samples: found.samples.len() as u64,
            held_out: found.held_out,
        }
    }
}

/// One retrained network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkFigures {
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// Seed of its training.
    pub seed: u64,
    /// Trainings until it gave its training rows more than one class.
    pub attempts: u32,
    /// What the choice saw.
    pub choice: Evidence,
    /// What is reported.
    #[serde(flatten)]
    pub figures: ModelFigures,
}

/// What one share of the samples gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharePoint {
    /// The share.
    pub share: f64,
    /// Samples drawn for each network.
    pub samples: u64,
    /// Rows that their variants are.
    pub variants: u64,
    /// Before and after, over the networks.
    pub changes: Vec<Change>,
    /// The networks.
    pub networks: Vec<NetworkFigures>,
}

/// The network that was saved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    /// Its share.
    pub share: f64,
    /// Its repeat, from 1.
    pub repeat: u32,
    /// Accuracy on the held-out rows before, less that after.
    pub accuracy_loss: f64,
    /// Whether that is at most the allowed loss.
    pub within: bool,
    /// What is reported of it.
    #[serde(flatten)]
    pub figures: ModelFigures,
}

/// Held-out rows of which it is proved that no protected substitution changes their class
/// ([`crate::certify`]).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertifiedShare {
    /// Protected attributes, jointly.
    pub protected: Vec<String>,
    /// Held-out rows.
    pub rows: u64,
    /// Certified ones.
    pub certified: Share,
}

/// `summary.json` of a repair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepairSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `repair`.
    pub command: String,
    /// Version that ran.
    pub probity_version: String,
    /// Whether all networks were trained.
    pub finished: bool,
    /// By what the model was repaired.
    pub method: RepairMethod,
    /// Seed of draws, networks and estimates.
    pub seed: u64,
    /// Device that trained.
    pub device: DeviceName,
    /// SHA-256 of the model before.
    pub model_sha256: String,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// SHA-256 of the model after.
    pub repaired_sha256: String,
    /// Where the model comes from.
    pub origin: Origin,
    /// What reading the data changed or left out.
    pub data: ReadCounts,
    /// Rows of each part.
    pub parts: PartSizes,
    /// The audits.
    pub runs: Vec<RunSummary>,
    /// Seconds of the repair.
    pub seconds: f64,
    /// The model before.
    pub before: ModelFigures,
    /// Networks trained in the same way on the data alone.
    pub control: Vec<NetworkFigures>,
    /// Each share.
    pub points: Vec<SharePoint>,
    /// The network that was saved.
    pub chosen: Chosen,
    /// Held-out rows that were certified fair before.
    pub certified_before: Vec<CertifiedShare>,
    /// The same of the saved network.
    pub certified_after: Vec<CertifiedShare>,
    /// Group figures of the held-out rows before.
    pub groups_before: GroupReport,
    /// The same of the saved network.
    pub groups_after: GroupReport,
}
