//! What a report knows, as plain data: what `--format json` prints.
//!
//! The structures that are read from a `summary.json` have its keys, so they are written as they
//! were read.

mod impact;
mod others;
mod population;
mod repair;
mod text_groups;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::pairs::PairFindings;

pub use impact::*;
pub use others::*;
pub use population::*;
pub use repair::*;
pub use text_groups::*;

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

/// What a search for individual discrimination found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditFindings {
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data or texts.
    pub inputs_sha256: String,
    /// SHA-256 of the model that this one was repaired from, where the model directory says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repaired_from: Option<String>,
    /// How the model did on rows that it had not seen, where the model directory says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// What its summary says.
    #[serde(flatten)]
    pub summary: AuditSummary,
    /// What the pairs show.
    pub pairs: PairFindings,
}

/// What a model classifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Modality {
    /// Rows of a table.
    Table,
    /// Texts.
    Text,
}

/// The part of an audit's `summary.json` that is reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditSummary {
    /// What was audited.
    pub modality: Modality,
    /// How the search ended.
    pub ending: String,
    /// The strategy.
    pub strategy: String,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// How decisions are made, where not for the most probable class.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub decision: String,
    /// What can be decided then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// What the model decides everything, if it is one class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// What was read of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<ReadCounts>,
    /// What bins change of a predictor's decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<BinEffect>,
    /// What was read of texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<TextCounts>,
    /// Texts: what exchanges do to them as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmodified: Option<Exchanged>,
    /// Texts: those of the file that pairs were made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<u64>,
    /// Texts: seeds that are discriminatory as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_discriminatory: Option<u64>,
    /// Texts: closeness of what was found to its seeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// The global phase.
    pub global: Phase,
    /// The local phase.
    pub local: Phase,
    /// Both.
    pub total: Total,
    /// What was found after how many calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// The score of the strategy `themis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causal_discrimination: Option<CausalDiscrimination>,
    /// Tables: whose decisions change, of the rows of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<Population>,
    /// Tables: how plausible the pairs are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plausibility: Option<Plausibility>,
    /// Discriminatory shares, the joint one last.
    pub fairness: Vec<Share>,
    /// The declared bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<Bound>,
    /// The file of pairs.
    pub samples_file: String,
}

/// What all inputs that a model was tried on were decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedAlike {
    /// The class.
    pub class: String,
    /// The inputs.
    pub inputs: u64,
}

/// Rows that were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadCounts {
    /// Rows kept.
    pub rows: u64,
    /// Rows left out.
    pub skipped_rows: u64,
    /// Values that were mapped into their domain.
    pub mapped_values: u64,
    /// Rows with which something is wrong, left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_rows: Option<BadRows>,
}

impl ReadCounts {
    /// Rows that were left out for whatever reason.
    pub fn left_out(&self) -> u64 {
        self.skipped_rows + self.bad_rows.as_ref().map_or(0, |bad| bad.rows)
    }
}

/// Rows that were left out because something is wrong with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadRows {
    /// All of them.
    pub rows: u64,
    /// By what is wrong.
    pub reasons: Vec<BadReason>,
}

/// What is wrong with some rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadReason {
    /// What it is.
    pub reason: String,
    /// How many rows.
    pub rows: u64,
}

/// Decisions on rows of the data with the numbers that stand for their bins in place of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BinEffect {
    /// Rows that were asked about both ways.
    pub rows: u64,
    /// Those that get another class.
    pub changed: u64,
    /// changed / rows.
    pub share: f64,
}

/// Texts that were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCounts {
    /// Texts in the file.
    pub texts: u64,
    /// Those with a protected term.
    pub with_protected_term: u64,
    /// Those without, left out.
    pub without_protected_term: u64,
    /// Those cut to the model's length.
    pub truncated: u64,
    /// Those that are not English.
    #[serde(default)]
    pub foreign: u64,
    /// Those without a word.
    #[serde(default)]
    pub blank: u64,
    /// Rows of the table left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_rows: Option<BadRows>,
}

/// What exchanges of protected terms do to texts as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchanged {
    /// Texts that were looked at.
    pub texts: u64,
    /// Those that get another class by some exchange.
    pub flipped: u64,
    /// Which way what is decided of them changes, and how far their scores move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<TextMoves>,
    /// Kinds of exchanges that were made, by term and direction.
    pub kinds: u64,
    /// Those that flip a text, by falling number of these.
    pub pairs: Vec<PairEffect>,
    /// The terms that flips depend on, by falling number of the texts that flip by them alone.
    pub terms: Vec<TermEffect>,
}

/// Which way what is decided of texts changes, and how far their scores move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextMoves {
    /// The class that directions are to and from.
    pub positive: String,
    /// Texts that would get it.
    pub to_positive: CountedRows,
    /// Texts that would lose it.
    pub from_positive: CountedRows,
    /// How far its probability moves.
    pub changes: Changes,
}

/// What exchanges of one term for another do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairEffect {
    /// The attribute.
    pub attribute: String,
    /// The term in the text.
    pub from: String,
    /// The one that takes its place.
    pub to: String,
    /// Texts in which it can.
    pub texts: u64,
    /// Those that get another class.
    pub flipped: u64,
    /// Their share.
    pub rate: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
}

/// What one term has to do with the texts that flip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TermEffect {
    /// The attribute.
    pub attribute: String,
    /// The term.
    pub term: String,
    /// Texts that name it.
    pub texts: u64,
    /// Those that get another class when it is exchanged.
    pub flipped: u64,
    /// Texts whose every flip takes it away or puts it in.
    pub alone: u64,
    /// The joint share that would be left without the term.
    pub share_without: f64,
    /// Its 95 % interval.
    pub ci95_without: [f64; 2],
}

/// Closeness of found texts to their seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// Of the global phase.
    pub global: ValidityMeans,
    /// Of the local phase.
    pub local: ValidityMeans,
}

/// Means over pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidityMeans {
    /// Pairs.
    pub pairs: u64,
    /// Token edits.
    pub l0: f64,
    /// Distance of the word vectors.
    pub l2: f64,
    /// Share of common tokens.
    pub jaccard: f64,
    /// Sentence BLEU.
    pub bleu: f64,
    /// Cosine of the sentence vectors.
    pub similarity: f64,
}

/// One phase of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Seeds or starts.
    pub seeds: u64,
    /// Moves or trials.
    #[serde(alias = "iterations", alias = "trials")]
    pub steps: u64,
    /// Distinct individuals checked.
    pub generated: u64,
    /// Distinct discriminatory individuals.
    pub discriminatory: u64,
    /// Checks.
    pub checks: u64,
    /// Seconds.
    pub seconds: f64,
}

/// Both phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// Distinct individuals checked.
    pub generated: u64,
    /// Distinct discriminatory individuals.
    pub discriminatory: u64,
    /// Pairs in the samples file.
    pub discriminatory_rows: u64,
    /// Share of the individuals checked.
    pub success_rate: f64,
    /// Checks.
    pub checks: u64,
    /// Rows that the model was asked about.
    #[serde(default)]
    pub model_rows: Option<u64>,
    /// Gradients that it was asked for.
    #[serde(default)]
    pub model_gradients: Option<u64>,
    /// Seconds.
    pub seconds: f64,
    /// Pairs that the reference device did not confirm.
    #[serde(default)]
    pub unconfirmed: u64,
}

/// What was found after how many calls: columns of equal length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Rows.
    pub model_rows: Vec<u64>,
    /// Gradients.
    pub model_gradients: Vec<u64>,
    /// Distinct individuals found.
    pub found: Vec<u64>,
}

/// A discriminatory share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// By which attributes.
    pub protected: Vec<String>,
    /// Inputs drawn.
    pub sampled: u64,
    /// Discriminatory ones.
    pub discriminatory: u64,
    /// Their share.
    pub rate: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
}

/// A declared bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The bound.
    pub bound: f64,
    /// The share that it is on: `data` or `uniform`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// `within`, `exceeds` or `inconclusive`.
    pub verdict: String,
}

/// The score of the strategy `themis`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CausalDiscrimination {
    /// Inputs drawn.
    pub sampled: u64,
    /// The share.
    pub score: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// The confidence of the interval.
    pub confidence: f64,
}

/// Quality of a model on one part of its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quality {
    /// Of a classifier.
    Classes(ClassQuality),
    /// Of a regressor.
    Numbers(Errors),
}

/// Quality of a classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassQuality {
    /// Rows.
    pub rows: u64,
    /// Share predicted right.
    pub accuracy: f64,
    /// Share of the most frequent class.
    pub majority_share: f64,
    /// Mean over the classes.
    pub balanced_accuracy: f64,
    /// Area under the ROC curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// F1.
    pub f1: f64,
}

/// Errors of a regressor, in the unit of its label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Rows.
    pub rows: u64,
    /// Mean absolute error.
    pub mean_absolute: f64,
    /// Root of the mean squared error.
    pub root_mean_squared: f64,
    /// Coefficient of determination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_squared: Option<f64>,
}

impl Quality {
    /// Rows.
    pub fn rows(&self) -> u64 {
        match self {
            Quality::Classes(of) => of.rows,
            Quality::Numbers(errors) => errors.rows,
        }
    }

    /// The figure that sums it up: accuracy, or R².
    pub fn in_short(&self) -> f64 {
        match self {
            Quality::Classes(of) => of.accuracy,
            Quality::Numbers(errors) => errors.r_squared.unwrap_or_default(),
        }
    }

    /// What this figure is called.
    pub fn name(&self) -> &'static str {
        match self {
            Quality::Classes(_) => "Accuracy",
            Quality::Numbers(_) => "R²",
        }
    }
}
