//! What a user can ask a job for: typed options only.
//!

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::words::{
    activations, cells, label_rules, methods, objectives, samples_formats, strategies,
    text_strategies,
};
use crate::identifier::Id;
use crate::store::JobKind;
use probity_fairness::audit::StrategyName;
use probity_fairness::repair::labels::LabelRule;
use probity_fairness::repair::specification::RepairMethod;
use probity_fairness::samples::SamplesFormat;
use probity_nn::Objective;
use probity_nn::fnn::Activation;
use probity_nn::recurrent::network::CellKind;

/// What a user asks a job for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum JobRequest {
    /// Train a classifier on a table.
    TrainTable(TrainTable),
    /// Train a classifier on texts.
    TrainTexts(TrainTexts),
    /// Audit a classifier of rows.
    AuditTable(AuditTable),
    /// Audit a classifier of texts.
    AuditTexts(AuditTexts),
    /// Repair a classifier of rows with what audits found.
    RepairTable(RepairTable),
    /// Repair a classifier of texts.
    RepairTexts(RepairTexts),
}

/// How a training runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Course {
    /// Passes over the training part.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10_000)]
    pub epochs: Option<u32>,
    /// Rows or texts a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 65_536)]
    pub batch: Option<u32>,
    /// Learning rate at the start.
    pub learning_rate: f64,
    /// Epochs without a better validation loss after which training stops; 0: it does not.
    pub patience: u32,
    /// Whether all classes weigh the same in total, however rare they are.
    pub balance_classes: bool,
    /// Weight decay.
    pub weight_decay: f32,
    /// Share of the rows to validate on.
    pub validation: f64,
    /// Share of the rows to test on.
    pub test: f64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Course {
    fn default() -> Course {
        Course {
            epochs: None,
            batch: None,
            learning_rate: 0.01,
            patience: 0,
            balance_classes: false,
            weight_decay: 0.1,
            validation: 0.1,
            test: 0.2,
            seed: 1,
        }
    }
}

/// How the categories of a table enter a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CategoryCodes {
    /// As the position of their word in the schema.
    #[default]
    Codes,
    /// As one indicator a level.
    OneHot,
    /// As a learnt vector of four numbers a level.
    Embed,
}

/// Train a classifier on a table, by the schema of its data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainTable {
    /// The data set.
    pub data: Id,
    /// Widths of the hidden layers.
    #[serde(default = "hidden")]
    #[schema(default = json!([64, 32, 16, 8, 4]))]
    pub hidden: Vec<u32>,
    /// Function between layers.
    #[serde(default)]
    #[schema(schema_with = activations)]
    pub activation: Activation,
    /// How unordered categories enter.
    #[serde(default)]
    pub categories: CategoryCodes,
    /// Share of hidden units left out at random in each step.
    #[serde(default)]
    pub dropout: f32,
    /// How the training runs.
    #[serde(default)]
    pub course: Course,
}

fn hidden() -> Vec<u32> {
    vec![64, 32, 16, 8, 4]
}

/// Train a classifier on texts, on the word vectors that ship.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainTexts {
    /// The data set.
    pub data: Id,
    /// Column with the texts.
    pub text_column: String,
    /// Column with the labels.
    pub label_column: String,
    /// Kind of recurrent cell.
    #[serde(default)]
    #[schema(schema_with = cells)]
    pub cell: CellKind,
    /// Recurrent layers.
    #[serde(default = "layers")]
    #[schema(default = 3, minimum = 1, maximum = 8)]
    pub layers: u32,
    /// Units a layer and direction.
    #[serde(default = "units")]
    #[schema(default = 10, minimum = 1, maximum = 512)]
    pub units: u32,
    /// Whether the texts are read backwards as well.
    #[serde(default)]
    pub bidirectional: bool,
    /// Tokens of a text that are read, from its beginning.
    #[serde(default = "max_length")]
    #[schema(default = 200, minimum = 1, maximum = 5000)]
    pub max_length: u32,
    /// How the training runs.
    #[serde(default)]
    pub course: Course,
}

fn layers() -> u32 {
    3
}

fn units() -> u32 {
    10
}

fn max_length() -> u32 {
    200
}

/// How far a search goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// Seeds of the global phase.
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub seeds: u32,
    /// Clusters that the seeds come from, in turn.
    #[schema(minimum = 1, maximum = 1000)]
    pub clusters: u32,
    /// Global moves a seed at most.
    #[schema(maximum = 1000)]
    pub max_iter: u32,
    /// Local trials from each individual that the global phase finds.
    #[schema(maximum = 1_000_000)]
    pub local: u32,
    /// What is differentiated; left out: the margin for tables, the loss for texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = objectives)]
    pub objective: Option<Objective>,
    /// Seconds of search at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub time_seconds: Option<u64>,
    /// Stop when this many distinct individuals are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub max_found: Option<u64>,
    /// Random inputs (or texts of the data set) for each estimate of the discriminatory share.
    #[schema(minimum = 1, maximum = 10_000_000)]
    pub estimate: u64,
    /// Discriminatory share that the report measures the classifier against.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub fail_above: Option<f64>,
    /// Form of the samples file.
    #[schema(schema_with = samples_formats)]
    pub samples: SamplesFormat,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Search {
        Search {
            seeds: 1000,
            clusters: 4,
            max_iter: 10,
            local: 1000,
            objective: None,
            time_seconds: None,
            max_found: None,
            estimate: 10_000,
            fail_above: None,
            samples: SamplesFormat::Csv,
            seed: 1,
        }
    }
}

/// Audit a classifier of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditTable {
    /// The model.
    pub model: Id,
    /// The data set that the seeds come from; it is read by the model's schema.
    pub data: Id,
    /// Protected attributes, jointly; none: those that the model's schema marks.
    #[serde(default)]
    pub protected: Vec<String>,
    /// Search strategy; left out: `adf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = strategies)]
    pub strategy: Option<StrategyName>,
    /// How far the search goes.
    #[serde(default)]
    pub search: Search,
}

/// Audit a classifier of texts, with the protected terms that ship.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditTexts {
    /// The model.
    pub model: Id,
    /// The data set that the seeds come from.
    pub data: Id,
    /// Column with the texts; left out for a file with a text on each line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
    /// Protected attributes, jointly; none: all that there are terms for.
    #[serde(default)]
    pub protected: Vec<String>,
    /// Search strategy; left out: `adf-asc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = text_strategies)]
    pub strategy: Option<StrategyName>,
    /// Nearest words that may replace a word.
    #[serde(default = "neighbours")]
    #[schema(default = 10, minimum = 1, maximum = 1000)]
    pub neighbours: u32,
    /// Words that may differ from the seed, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub max_l0: Option<u32>,
    /// Least semantic similarity with the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = -1, maximum = 1)]
    pub min_similarity: Option<f32>,
    /// How far the search goes.
    #[serde(default)]
    pub search: Search,
}

fn neighbours() -> u32 {
    10
}

/// Repair a classifier of rows with what audits of it found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RepairTable {
    /// The model.
    pub model: Id,
    /// Its labelled training data.
    pub data: Id,
    /// Audits of this model.
    #[schema(min_items = 1, max_items = 16)]
    pub audits: Vec<Id>,
    /// By what the model is repaired.
    #[serde(default)]
    #[schema(schema_with = methods)]
    pub method: RepairMethod,
    /// Share of the found individuals to learn from; left out: 0.01.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub share: Option<f64>,
    /// Networks, each with its own draw of samples and its own first weights.
    #[serde(default = "repeats")]
    #[schema(default = 5, minimum = 1, maximum = 100)]
    pub repeats: u32,
    /// The one label of all protected variants of a sample; left out: that of most of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = label_rules)]
    pub label_rule: Option<LabelRule>,
    /// Accuracy that a repair may cost; left out: 0.01.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub max_accuracy_loss: Option<f64>,
    /// Random inputs for each estimate of the discriminatory share.
    #[serde(default = "estimate")]
    #[schema(default = 10_000, minimum = 1, maximum = 10_000_000)]
    pub estimate: u64,
    /// Seed of draws, networks and estimates.
    #[serde(default = "seed")]
    #[schema(default = 1)]
    pub seed: u64,
}

fn repeats() -> u32 {
    5
}

fn estimate() -> u64 {
    10_000
}

fn seed() -> u64 {
    1
}

/// Repair a classifier of texts, by searches of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RepairTexts {
    /// The model.
    pub model: Id,
    /// The texts that it was trained on.
    pub data: Id,
    /// Protected attributes.
    #[schema(min_items = 1)]
    pub protected: Vec<String>,
    /// By what the model is repaired.
    #[serde(default)]
    #[schema(schema_with = methods)]
    pub method: RepairMethod,
    /// Share of the found texts to learn from; left out: 0.05.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub share: Option<f64>,
    /// Networks, each with its own draw of samples and its own first weights.
    #[serde(default = "repeats")]
    #[schema(default = 5, minimum = 1, maximum = 100)]
    pub repeats: u32,
    /// Seeds of a search.
    #[serde(default = "search_seeds")]
    #[schema(default = 1000, minimum = 1, maximum = 1_000_000)]
    pub seeds: u32,
    /// Local trials from each text that a search finds globally.
    #[serde(default = "search_seeds")]
    #[schema(default = 1000, maximum = 1_000_000)]
    pub local: u32,
    /// Accuracy that a repair may cost; left out: 0.02.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub max_accuracy_loss: Option<f64>,
    /// Seed of draws, networks and searches.
    #[serde(default = "seed")]
    #[schema(default = 1)]
    pub seed: u64,
}

fn search_seeds() -> u32 {
    1000
}

impl JobRequest {
    /// The command that it runs.
    pub fn kind(&self) -> JobKind {
        match self {
            JobRequest::TrainTable(_) | JobRequest::TrainTexts(_) => JobKind::Train,
            JobRequest::AuditTable(_) | JobRequest::AuditTexts(_) => JobKind::Audit,
            JobRequest::RepairTable(_) | JobRequest::RepairTexts(_) => JobKind::Repair,
        }
    }

    /// The data set that it reads.
    pub fn data(&self) -> &Id {
        match self {
            JobRequest::TrainTable(request) => &request.data,
            JobRequest::TrainTexts(request) => &request.data,
            JobRequest::AuditTable(request) => &request.data,
            JobRequest::AuditTexts(request) => &request.data,
            JobRequest::RepairTable(request) => &request.data,
            JobRequest::RepairTexts(request) => &request.data,
        }
    }

    /// The model that it reads, if it reads one.
    pub fn model(&self) -> Option<&Id> {
        match self {
            JobRequest::TrainTable(_) | JobRequest::TrainTexts(_) => None,
            JobRequest::AuditTable(request) => Some(&request.model),
            JobRequest::AuditTexts(request) => Some(&request.model),
            JobRequest::RepairTable(request) => Some(&request.model),
            JobRequest::RepairTexts(request) => Some(&request.model),
        }
    }

    /// The jobs whose runs it reads.
    pub fn audits(&self) -> &[Id] {
        match self {
            JobRequest::RepairTable(request) => &request.audits,
            _ => &[],
        }
    }
}
