//! What a report knows, as plain data: what `--format json` prints.
//!
//! The structures that are read from a `summary.json` have its keys, so they are written as they
//! were read.

mod audit;
mod compare;
mod figures;
mod impact;
mod knn;
mod outliers;
mod population;
mod proofs;
mod repair;
mod text_groups;
mod unlearning;

use std::path::PathBuf;

use serde::Serialize;

pub use audit::*;
pub use compare::*;
pub use figures::*;
pub use impact::*;
pub use knn::*;
pub use outliers::*;
pub use population::*;
pub use proofs::*;
pub use repair::*;
pub use text_groups::*;
pub use unlearning::*;

/// Everything that is reported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `report`.
    pub command: &'static str,
    /// Version that made the report.
    pub probity_version: &'static str,
    /// The runs, in the order given.
    pub runs: Vec<RunReport>,
    /// Audits of one data set that can be compared.
    pub comparisons: Vec<Comparison>,
}

/// A name and a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// Last part of its directory, or as many parts as tell it from the others.
    pub name: String,
    /// Its directory, as given.
    pub directory: PathBuf,
    /// The command.
    pub command: String,
    /// Version that ran it, if the run says so.
    pub probity_version: Option<String>,
    /// When it ended, in UTC, if the run says so.
    pub ended: Option<String>,
    /// What was looked at: model, data, hashes.
    pub subject: Vec<Fact>,
    /// The other options that are not as their defaults.
    pub options: Vec<Fact>,
    /// The command that does it again, if the run says enough.
    pub reproduce: Option<String>,
    /// SHA-256 of its summary.
    pub summary_sha256: String,
    /// Whether a seal stands in its directory.
    pub is_sealed: bool,
    /// What its model is, where the model directory says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
    /// What came out.
    pub findings: Findings,
}

/// What a model is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Architecture {
    /// The kind of network.
    pub family: String,
    /// Its size.
    pub model: String,
}

/// What came out of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Findings {
    /// Of a search for individual discrimination.
    Audit(Box<AuditFindings>),
    /// Of a repair of a classifier of tables.
    Repair(Box<RepairFindings>),
    /// Of a repair of a classifier of texts.
    TextRepair(Box<TextRepairFindings>),
    /// Of a measurement of groups.
    Groups(Box<GroupRunFindings>),
    /// Of a measurement of the texts that name protected values.
    TextGroups(Box<TextGroupFindings>),
    /// Of a comparison of strategies.
    Compare(Box<CompareFindings>),
    /// Of certificates.
    Certify(Box<CertifyFindings>),
    /// Of a proof about a whole domain.
    Prove(Box<ProveFindings>),
    /// Of k-NN predictions under poisoning.
    Knn(Box<KnnFindings>),
    /// Of deletions from k-means.
    KMeans(Box<KMeansFindings>),
    /// Of deletions from sum-product networks.
    Spn(Box<SpnFindings>),
    /// Of a count of outliers that was released.
    OutlierCount(Box<OutlierCount>),
    /// Of subspaces with outliers that were released.
    OutlierSubspaces(Box<OutlierSubspaces>),
}

/// Two audits whose figures can be put side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Place of the first among the runs, from 0.
    pub first: usize,
    /// Place of the second.
    pub second: usize,
    /// Whether the second one's model is a repair of the first one's.
    pub is_repair: bool,
}
