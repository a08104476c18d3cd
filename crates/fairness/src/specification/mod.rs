//! The specifications of runs: one value a kind of run, and the parts that several of them share.
//!
//! A specification is what `run.toml` holds, what a checkpoint belongs to and what the command
//! makes of its arguments. Whatever it leaves to the inputs (`None`, an empty list) is filled in
//! when these are opened, so that the `run.toml` of a run leaves nothing open.

mod audit;
mod compare;
mod decision;
mod population;
mod predictor;
pub mod rules;
mod searches;

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use audit::{AuditSpecification, SamplesFormat};
pub use compare::CompareSpecification;
pub use decision::{Band, ClassThreshold, Deciding, DecisionSpecification};
pub(crate) use population::FIT;
pub use population::{BoundOn, PopulationSpecification};
pub use predictor::PredictorSpecification;
pub(crate) use rules::{named_once, needed, unused};

use super::search::SearchOptions;
use super::strategies::StrategyName;
use super::text::neighbourhood::NeighboursFrom;
use super::text::preset::Preset;
use super::text::values::ExchangedValues;
use probity_nn::Objective;
use probity_nn::modality::ModalityName;
use probity_run::specification::{FieldError, Seconds};

/// Largest number of seeds of a search. The seeds of a strategy that draws its own take the memory
/// of as many rows: 400 MB for rows of 100 attributes.
pub(crate) const MOST_SEEDS: u32 = 1_000_000;

/// Largest number of distinct individuals that a search can be told to stop at.
pub(crate) const MOST_FOUND: u32 = 1_000_000_000;

/// The fields that change no result of an audit; after the first three, of any search.
const FREE: [&str; 9] = [
    "memory",
    "budget.max_calls",
    "budget.time",
    "search.batch",
    "predictor.timeout",
    "predictor.rows",
    "predictor.concurrency",
    "predictor.rate",
    "predictor.retries",
];

/// The fields that change no result of searches whose budget may not change.
const FREE_OF_SEARCHES: &[&str] = FREE.split_at(3).1;

/// How far and how finely to search, whatever the strategy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SearchSpecification {
    /// What is differentiated; by default the margin for tables and the loss for texts. Of the
    /// strategies of tables adf, eidig and adf-zero-order do so: frontier follows the lead of a
    /// decision, the others nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// Seeds of the global phase.
    ///
    /// Every seed is held in memory, also where a strategy draws its own and the data sets no
    /// limit.
    #[schemars(range(min = 1, max = MOST_SEEDS))]
    pub seeds: usize,
    /// Clusters that the seeds come from, in turn.
    ///
    /// Each round of the clustering compares every row with every centre.
    #[schemars(range(min = 1, max = 10_000))]
    pub clusters: usize,
    /// Global moves a seed at most.
    #[schemars(range(max = 2_147_483_647))]
    pub max_iter: u32,
    /// Local trials from each individual that the global phase finds.
    #[schemars(range(max = 2_147_483_647))]
    pub local: u32,
    /// Codes that a global step moves.
    ///
    /// A step beyond the domain of an attribute ends at its bound.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub step_global: u32,
    /// Codes that a local step moves.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub step_local: u32,
    /// Inputs worked on at a time by one thread; no influence on the result.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub batch: usize,
}

impl Default for SearchSpecification {
    fn default() -> SearchSpecification {
        let usual = SearchOptions::default();
        SearchSpecification {
            objective: None,
            seeds: 1000,
            clusters: 4,
            max_iter: usual.max_iter,
            local: usual.local,
            step_global: 1,
            step_local: 1,
            batch: usual.batch,
        }
    }
}

impl SearchSpecification {
    /// Refuses a field that is given though `strategy`, which searches inputs of `modality`, has no use
    /// for it.
    fn expect_used_by(
        &self,
        strategy: StrategyName,
        modality: ModalityName,
    ) -> Result<(), FieldError> {
        use StrategyName::{
            Adf, AdfZeroOrder, AequitasFully, AequitasRandom, AequitasSemi, Eidig, Sg, Themis,
        };
        let usual = SearchSpecification::default();
        let is_aequitas = matches!(strategy, AequitasFully | AequitasSemi | AequitasRandom);
        let is_themis = strategy == Themis;
        let of_tables = modality == ModalityName::Table;
        for (field, has_no_use, is_usual) in [
            // It differentiates nothing, or no objective.
            (
                "objective",
                of_tables && !matches!(strategy, Adf | Eidig | AdfZeroOrder),
                self.objective.is_none_or(|of| of == Objective::default()),
            ),
            // It draws its own seeds.
            (
                "clusters",
                is_themis || is_aequitas,
                self.clusters == usual.clusters,
            ),
            // It stops by its own rule, and searches around nothing.
            ("max_iter", is_themis, self.max_iter == usual.max_iter),
            ("local", is_themis, self.local == usual.local),
            // It draws or solves for its next inputs.
            (
                "step_global",
                is_themis || is_aequitas || strategy == Sg,
                self.step_global == usual.step_global,
            ),
            (
                "step_local",
                is_themis || strategy == Sg,
                self.step_local == usual.step_local,
            ),
        ] {
            let searched = format!("the strategy {}", strategy.name());
            unused(
                &format!("search.{field}"),
                !has_no_use || is_usual,
                &searched,
            )?;
        }
        Ok(())
    }

    /// The objective that is differentiated where inputs are of `modality`.
    pub fn objective(&self, modality: ModalityName) -> Objective {
        self.objective.unwrap_or(match modality {
            ModalityName::Table => Objective::Margin,
            ModalityName::Text => Objective::Loss,
        })
    }

    /// The options of the search with a budget, as the driver takes them.
    pub fn within(&self, budget: &BudgetSpecification) -> SearchOptions {
        SearchOptions {
            max_iter: self.max_iter,
            local: self.local,
            batch: self.batch,
            max_found: budget.max_found,
            max_calls: budget.max_calls,
            time: budget.time(),
        }
    }
}

/// When a search ends before its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BudgetSpecification {
    /// Search time at most, such as 60s or 5m, counted from the beginning of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Seconds>,
    /// Stop when this many distinct individuals are found.
    ///
    /// What is found is held in memory, which more do not fit into.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MOST_FOUND))]
    pub max_found: Option<u64>,
    /// Stop before the search asks the model about more rows or texts than this; those of the
    /// estimates are not among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub max_calls: Option<u64>,
}

impl BudgetSpecification {
    fn time(&self) -> Option<Duration> {
        self.time.map(Seconds::duration)
    }
}

/// What only searches on texts have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TextSpecification {
    /// Column of a table that holds the texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "text-column"))]
    pub column: Option<String>,
    /// Word vectors whose near words may replace each other, in an audit of a model that has none;
    /// by default those that ship, called shipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path", "x-names" = ["shipped"]))]
    pub embeddings: Option<PathBuf>,
    /// Words of a text that a model is asked about that sets no limit itself, by default 10,000; the
    /// rest is cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_length: Option<usize>,
    /// Rules by which texts are changed: those of English, or those of the ADF paper.
    pub preset: Preset,
    /// Lexicon of protected terms (TOML), or paper for that of the ADF paper; by default that of
    /// the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path", "x-names" = ["paper"]))]
    pub lexicon: Option<PathBuf>,
    /// Values that take the place of the one that a text names; by default those that occur, and all
    /// by the paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<ExchangedValues>,
    /// Sentence encoder (ONNX, tokenizer.json beside it) that measures similarity; by default
    /// frequency-weighted word vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub encoder: Option<PathBuf>,
    /// Strategy of the local phase; by default that of the global phase, and rp where that is
    /// adf-zero-order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_strategy: Option<StrategyName>,
    /// Nearest words in the embedding table that may replace a word.
    ///
    /// The neighbours of every word of the model are held in memory.
    #[schemars(range(min = 1, max = 1000))]
    pub neighbours: usize,
    /// By what words are near to each other: word vectors, the embeddings of the model, or both.
    #[serde(skip_serializing_if = "NeighboursFrom::is_usual")]
    pub neighbours_from: NeighboursFrom,
    /// Words that may differ from the seed, at most; by default 3, and any number by the paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_048_576))]
    pub max_l0: Option<usize>,
    /// Least share of its probability, by n-grams or by the fluency model, that a text keeps for each
    /// word that is changed; by default 0.001, and none by the paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub min_fluency: Option<f32>,
    /// N-gram model of texts like these, as `probity embeddings train` writes it; by default one
    /// fitted to the texts of the audit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub ngrams: Option<PathBuf>,
    /// Masked language model, as `probity import --hf` writes it, that measures fluency in place of
    /// n-grams.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub fluency_model: Option<PathBuf>,
    /// Least semantic similarity with the seed, from -1 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1, max = 1))]
    pub min_similarity: Option<f32>,
}

impl Default for TextSpecification {
    fn default() -> TextSpecification {
        TextSpecification {
            column: None,
            embeddings: None,
            max_length: None,
            preset: Preset::default(),
            lexicon: None,
            values: None,
            encoder: None,
            local_strategy: None,
            neighbours: 10,
            neighbours_from: NeighboursFrom::default(),
            max_l0: None,
            min_fluency: None,
            ngrams: None,
            fluency_model: None,
            min_similarity: None,
        }
    }
}

impl TextSpecification {
    /// The strategy of the local phase where the global phase has `global`: the same, but random
    /// words where that strategy would leave out each word of every text that a walker comes to.
    pub fn local_strategy(&self, global: StrategyName) -> StrategyName {
        self.local_strategy.unwrap_or(match global {
            StrategyName::AdfZeroOrder => StrategyName::Rp,
            global => global,
        })
    }

    /// Number of words of a text that a model is asked about that sets no limit itself.
    pub fn reads(&self) -> usize {
        self.max_length.unwrap_or(10_000)
    }

    /// The values that take the place of the one that a text names.
    pub fn exchanged_values(&self) -> ExchangedValues {
        self.values.unwrap_or(match self.preset {
            Preset::English => ExchangedValues::Occurring,
            Preset::Paper => ExchangedValues::All,
        })
    }

    /// Largest number of words that may differ from the seed.
    pub fn max_changed(&self) -> Option<usize> {
        self.max_l0.or(match self.preset {
            Preset::English => Some(3),
            Preset::Paper => None,
        })
    }

    /// Least share of its probability that a text keeps for each word changed; 0 asks for nothing.
    pub fn least_fluency(&self) -> Option<f32> {
        self.min_fluency.or(match self.preset {
            Preset::English => Some(0.001),
            Preset::Paper => None,
        })
    }

    /// Refuses options of the measure of fluency where something else measures it, or nothing is
    /// asked of it.
    pub(crate) fn expect_fluency_used(&self) -> Result<(), FieldError> {
        let model = self.fluency_model.as_ref().map(|_| "text.fluency_model");
        let ngrams = self.ngrams.as_ref().map(|_| "text.ngrams");
        let given = |field, expected: &str| Err(FieldError::new(field, "given", expected));
        if let (Some(_), Some(ngrams)) = (model, ngrams) {
            return given(
                ngrams,
                "left out: text.fluency_model measures fluency in their place",
            );
        }
        // The words of a place are those that trigrams know, whatever a text must keep.
        let is_used = match self.least_fluency() {
            None => false,
            Some(least) => least > 0.0 || model.is_none() && self.preset == Preset::English,
        };
        match model.or(ngrams) {
            Some(field) if !is_used => given(
                field,
                "left out, or text.min_fluency above 0: nothing is asked of fluency",
            ),
            _ => Ok(()),
        }
    }

    /// The first given field about the vocabulary in which a model that is asked by texts is
    /// audited.
    pub(crate) fn given_for_vocabulary(&self) -> Option<&'static str> {
        let embeddings = self.embeddings.as_ref().map(|_| "text.embeddings");
        embeddings.or(self.max_length.map(|_| "text.max_length"))
    }

    /// Whether no field is given.
    pub(crate) fn is_usual(&self) -> bool {
        self.given().is_none()
    }

    /// The first field that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let usual = TextSpecification::default();
        let fields = [
            ("text.column", self.column.is_some()),
            ("text.embeddings", self.embeddings.is_some()),
            ("text.max_length", self.max_length.is_some()),
            ("text.preset", self.preset != usual.preset),
            ("text.lexicon", self.lexicon.is_some()),
            ("text.values", self.values.is_some()),
            ("text.encoder", self.encoder.is_some()),
            ("text.local_strategy", self.local_strategy.is_some()),
            ("text.neighbours", self.neighbours != usual.neighbours),
            ("text.neighbours_from", !self.neighbours_from.is_usual()),
            ("text.max_l0", self.max_l0.is_some()),
            ("text.min_fluency", self.min_fluency.is_some()),
            ("text.ngrams", self.ngrams.is_some()),
            ("text.fluency_model", self.fluency_model.is_some()),
            ("text.min_similarity", self.min_similarity.is_some()),
        ];
        fields
            .iter()
            .find(|(_, is_given)| *is_given)
            .map(|(field, _)| *field)
    }
}
