//! What a report knows, as plain data: what `--format json` prints.
//!
//! The structures that are read from a `summary.json` have its keys, so they are written as they
//! were read.

mod audit;
mod compare;
mod counterparts;
mod figures;
mod impact;
mod imports;
mod knn;
mod outliers;
mod population;
mod proofs;
mod proxies;
mod repair;
mod situations;
mod text_groups;
mod training;
mod unlearning;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use audit::*;
pub use compare::*;
pub use counterparts::*;
pub use figures::*;
pub use impact::*;
pub use imports::*;
pub use knn::*;
pub use outliers::*;
pub use population::*;
pub use proofs::*;
pub use proxies::*;
pub use repair::*;
pub use situations::*;
pub use text_groups::*;
pub use training::*;
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
    /// The name, for people.
    pub name: String,
    /// The value.
    pub value: String,
    /// What people call that which lies at the path in `value`, where somebody said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// What it says of what was looked at, if it says something of that: exports find it by this.
    #[serde(skip)]
    pub role: Option<Role>,
}

/// What a fact says of what a run looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The model directory.
    Model,
    /// The SHA-256 of the model.
    ModelHash,
    /// The predictor that was asked in place of a model.
    Predictor,
    /// The file of the data.
    Data,
    /// The SHA-256 of the data.
    DataHash,
    /// The file of the texts.
    Texts,
    /// The SHA-256 of the texts.
    TextsHash,
    /// The column that holds the texts.
    TextColumn,
    /// The SHA-256 of the inputs.
    InputsHash,
    /// The lexicon.
    Lexicon,
    /// The SHA-256 of the protected terms.
    LexiconHash,
    /// The protected attributes.
    Protected,
    /// The audits that a repair learnt from.
    Audits,
    /// The file of the training rows.
    Training,
    /// The SHA-256 of the training rows.
    TrainingHash,
    /// The file of the test inputs.
    Test,
    /// The SHA-256 of the test inputs.
    TestHash,
    /// The part of the rows.
    Part,
    /// The hardware.
    Hardware,
    /// The device.
    Device,
}

impl Role {
    /// Returns what it is called on pages.
    pub fn name(self) -> &'static str {
        match self {
            Role::Model => "Model",
            Role::ModelHash => "SHA-256 of the model",
            Role::Predictor => "Predictor",
            Role::Data => "Data",
            Role::DataHash => "SHA-256 of the data",
            Role::Texts => "Texts",
            Role::TextsHash => "SHA-256 of the texts",
            Role::TextColumn => "Column of the texts",
            Role::InputsHash => "SHA-256 of the inputs",
            Role::Lexicon => "Lexicon",
            Role::LexiconHash => "SHA-256 of the protected terms",
            Role::Protected => "Protected",
            Role::Audits => "Audits",
            Role::Training => "Training rows",
            Role::TrainingHash => "SHA-256 of the training rows",
            Role::Test => "Test inputs",
            Role::TestHash => "SHA-256 of the test inputs",
            Role::Part => "Part of the rows",
            Role::Hardware => "Hardware",
            Role::Device => "Device",
        }
    }

    /// Returns whether it is the fingerprint of a file.
    pub fn is_hash(self) -> bool {
        matches!(
            self,
            Role::ModelHash
                | Role::DataHash
                | Role::TextsHash
                | Role::InputsHash
                | Role::LexiconHash
                | Role::TrainingHash
                | Role::TestHash
        )
    }
}

impl Report {
    /// Calls runs, and what they looked at, by the names that people gave them: `names` has them by
    /// the paths that the runs and their directories are named by. What has no name there is called
    /// as its path.
    pub fn call(&mut self, names: &BTreeMap<String, String>) {
        for run in &mut self.runs {
            let directory = run.directory.to_str();
            run.called = directory.and_then(|path| names.get(path)).cloned();
            for fact in run.subject.iter_mut().filter(|fact| fact.is_place()) {
                let several = || {
                    let parts = fact.value.split(", ").map(|path| names.get(path).cloned());
                    Some(parts.collect::<Option<Vec<_>>>()?.join(", "))
                };
                fact.called = names.get(&fact.value).cloned().or_else(several);
            }
        }
    }
}

impl Fact {
    /// Returns whether it names files or directories.
    fn is_place(&self) -> bool {
        self.is_of(&[
            Role::Model,
            Role::Data,
            Role::Texts,
            Role::Audits,
            Role::Training,
            Role::Test,
        ])
    }

    /// Returns what it is called without where it lies: by its name, else as the last part of its
    /// path.
    pub fn last_part(&self) -> String {
        let last = || {
            let name = Path::new(&self.value).file_name()?;
            Some(name.to_string_lossy().into_owned())
        };
        let called = self.called.clone().or_else(last);
        called.unwrap_or_else(|| self.value.clone())
    }

    /// Returns whether it says one of these things.
    pub fn is_of(&self, roles: &[Role]) -> bool {
        self.role.is_some_and(|role| roles.contains(&role))
    }
}

impl RunReport {
    /// Returns what the run says of the first of these things of which it says something.
    pub fn fact(&self, roles: &[Role]) -> Option<&str> {
        self.named(roles).map(|fact| fact.value.as_str())
    }

    /// Returns the fact about the first of these things of which the run says something.
    pub fn named(&self, roles: &[Role]) -> Option<&Fact> {
        let of = |role: &Role| self.subject.iter().find(|fact| fact.role == Some(*role));
        roles.iter().find_map(of)
    }

    /// Returns what the run is called: by the name that somebody gave it, else by its directory.
    pub fn shown_name(&self) -> &str {
        self.called.as_deref().unwrap_or(&self.name)
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// Last part of its directory, or as many parts as tell it from the others.
    pub name: String,
    /// What people call it, where somebody said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// The directory of the run, as it was given.
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
    /// The size of the model.
    pub model: String,
}

/// What came out of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Findings {
    /// The results of a training.
    Training(Box<TrainingFindings>),
    /// Of an evaluation, which leaves no directory: a terminal alone tells of it.
    Evaluation(Box<EvaluationFindings>),
    /// The results of an import.
    Import(Box<ImportFindings>),
    /// The results of a search for individual discrimination.
    Audit(Box<AuditFindings>),
    /// The results of a repair of a classifier of tables.
    Repair(Box<RepairFindings>),
    /// The results of a repair of a classifier of texts.
    TextRepair(Box<TextRepairFindings>),
    /// The results of a measurement of groups.
    Groups(Box<GroupRunFindings>),
    /// The results of a measurement of the texts that name protected values.
    TextGroups(Box<TextGroupFindings>),
    /// The results of a comparison of strategies.
    Compare(Box<CompareFindings>),
    /// The results of a test by counterparts.
    Counterparts(Box<CounterpartsFindings>),
    /// The results of a search for proxies.
    Proxies(Box<ProxiesFindings>),
    /// The results of a situation test.
    Situations(Box<SituationsFindings>),
    /// The results of a certification.
    Certify(Box<CertifyFindings>),
    /// The results of a proof about a whole domain.
    Prove(Box<ProveFindings>),
    /// The results of k-NN predictions under poisoning.
    Knn(Box<KnnFindings>),
    /// The results of deletions from k-means.
    KMeans(Box<KMeansFindings>),
    /// The results of deletions from sum-product networks.
    Spn(Box<SpnFindings>),
    /// Of a clustering. Its directory is what training without the deleted rows leaves, file for file, and
    /// holds no summary: a terminal alone tells of it.
    KMeansFit(Box<KMeansFit>),
    /// The results of learning a sum-product network; likewise.
    SpnFit(Box<SpnFit>),
    /// A count of outliers that was released.
    OutlierCount(Box<OutlierCount>),
    /// Subspaces with outliers that were released.
    OutlierSubspaces(Box<OutlierSubspaces>),
}

impl Findings {
    /// What a run is, in a word or two.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Findings::Training(_) => "Training",
            Findings::Import(_) => "Import",
            Findings::Evaluation(_) => "Evaluation",
            Findings::Audit(_) => "Audit",
            Findings::Repair(_) | Findings::TextRepair(_) => "Repair",
            Findings::Groups(_) | Findings::TextGroups(_) => "Groups",
            Findings::Counterparts(_) => "Counterparts",
            Findings::Proxies(_) => "Proxies",
            Findings::Situations(_) => "Situation test",
            Findings::Compare(_) => "Comparison of strategies",
            Findings::Certify(_) => "Certificates",
            Findings::Prove(_) => "Proof",
            Findings::Knn(_) => "k-NN under poisoning",
            Findings::KMeans(_) => "Deletion from k-means",
            Findings::Spn(_) => "Deletion from sum-product networks",
            Findings::KMeansFit(_) => "Clustering",
            Findings::SpnFit(_) => "Sum-product network",
            Findings::OutlierCount(_) | Findings::OutlierSubspaces(_) => "Outliers, privately",
        }
    }
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
