//! The specification of an audit.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{named_once, needed, unused};
use super::searches::tuned;
use super::{
    BoundOn, BudgetSpecification, Deciding, DecisionSpecification, FREE, PopulationSpecification,
    PredictorSpecification, SearchSpecification, TextSpecification,
};
use crate::rank::Rank;
use crate::strategies::StrategyName;
use crate::strategies::tuning::Tuning;
use crate::table_model::Reading;
use probity_data::schema::OutOfDomain;
use probity_nn::modality::ModalityName;
use probity_run::specification::{Bytes, FieldError, Specification};

/// The least memory, in bytes of pairs, that a search can be told to keep to: with less it would
/// write a file every few rounds.
const LEAST_MEMORY: u64 = 1 << 20;

/// The bytes of memory for pairs by default.
const MEMORY: u64 = 256 << 20;

/// How samples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SamplesFormat {
    /// `samples.parquet`
    #[default]
    Parquet,
    /// `samples.csv`
    Csv,
}

impl SamplesFormat {
    /// Name of the file in the run directory.
    pub const fn file_name(self) -> &'static str {
        match self {
            SamplesFormat::Parquet => "samples.parquet",
            SamplesFormat::Csv => "samples.csv",
        }
    }
}

/// Everything that determines an audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AuditSpecification {
    /// What is classified: rows of a table, or texts.
    #[schemars(extend("x-flag" = false))]
    pub modality: ModalityName,
    /// Model directory, as `probity train` or `probity import` writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub model: Option<PathBuf>,
    /// File that the seeds come from: a table read by the schema, or texts.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Missing and outside values, where the schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Pass over columns that the schema does not describe.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_other_columns: bool,
    /// Protected attributes, jointly; for texts, of the lexicon. By default those marked in the
    /// schema, or all of the lexicon that are not protected by
    /// name only.
    pub protected: Vec<String>,
    /// Search strategy; by default adf for tables, aequitas-fully for predictors, adf-asc for
    /// texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<StrategyName>,
    /// Uniform random inputs for each estimate of the discriminatory share, by default 10,000; of
    /// texts, those of the file that it is of, by default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub estimate: Option<u64>,
    /// Exit with 1 unless the joint discriminatory share is shown to be at most this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub fail_above: Option<f64>,
    /// Let this bound hold, too, where a predictor does not take the protected attributes, so that
    /// nothing can flip; else it is not applicable, and the exit code is 1.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blind_ok: bool,
    /// The share that this bound is on, by default that of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundOn>,
    /// Compare scores in place of decisions: inputs are told apart where the probability of the
    /// favourable class, or the number that a regressor gives, differs by more than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e15))]
    pub gap: Option<f64>,
    /// The worst pairs first, in the samples file and in reports; with the strategy frontier and gap,
    /// the search goes where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
    /// Form of the samples file.
    #[schemars(extend("x-flag" = "samples"))]
    pub samples_format: SamplesFormat,
    /// Memory that pairs take while they are searched for, such as 1GiB, by default 256MiB; earlier
    /// ones are kept in the run directory until the end. No influence on the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Seed of everything random.
    pub seed: u64,
    /// How decisions are made of what the model says.
    #[serde(skip_serializing_if = "DecisionSpecification::is_usual")]
    pub decision: DecisionSpecification,
    /// Whose decisions the share of the data is of, and what is good to get.
    #[serde(skip_serializing_if = "PopulationSpecification::is_usual")]
    pub population: PopulationSpecification,
    /// What only answers, in place of a model directory.
    pub predictor: PredictorSpecification,
    /// How far and how finely to search.
    pub search: SearchSpecification,
    /// When to stop early.
    pub budget: BudgetSpecification,
    /// What only single strategies have.
    pub tuning: Tuning,
    /// What only searches on texts have.
    pub text: TextSpecification,
}

impl Default for AuditSpecification {
    fn default() -> AuditSpecification {
        AuditSpecification {
            modality: ModalityName::Table,
            model: None,
            data: PathBuf::new(),
            out_of_domain: None,
            skip_bad_rows: false,
            ignore_other_columns: false,
            protected: Vec::new(),
            strategy: None,
            estimate: None,
            fail_above: None,
            blind_ok: false,
            bound: None,
            gap: None,
            rank: None,
            samples_format: SamplesFormat::default(),
            memory: None,
            seed: 1,
            decision: DecisionSpecification::default(),
            population: PopulationSpecification::default(),
            predictor: PredictorSpecification::default(),
            search: SearchSpecification::default(),
            budget: BudgetSpecification::default(),
            tuning: Tuning::default(),
            text: TextSpecification::default(),
        }
    }
}

impl Specification for AuditSpecification {
    const KIND: &'static str = "audit";
    const FREE: &'static [&'static str] = &FREE;

    fn rules(&self) -> Result<(), FieldError> {
        needed("data", &self.data)?;
        if self.predictor.source.is_none() {
            self.model()?;
        }
        named_once("protected", &self.protected)?;
        self.deciding().rules()?;
        if let Some(memory) = self.memory.filter(|memory| memory.get() < LEAST_MEMORY) {
            return Err(FieldError::new("memory", memory, "1MiB or more"));
        }
        let is_text = self.modality == ModalityName::Text;
        if self.bound.is_some() && self.fail_above.is_none() {
            let expected = "left out: it says what fail_above is a bound on, which is not given";
            return Err(FieldError::new("bound", "given", expected));
        }
        if self.blind_ok && self.fail_above.is_none() {
            let expected = "left out: it says what fail_above makes of a model that does not take the \
                            protected attributes, and that is not given";
            return Err(FieldError::new("blind_ok", true, expected));
        }
        let given: Vec<StrategyName> = self.strategy.into_iter().collect();
        for strategy in given.iter().chain(&self.text.local_strategy) {
            strategy.expect_fitting("strategy", self.modality)?;
        }
        tuned(&self.tuning, &[self.strategy()])?;
        self.search.expect_used_by(self.strategy(), self.modality)?;
        if is_text {
            self.population.rules_of_texts()?;
            if self.rank == Some(Rank::Density) {
                let expected = "gap: no density is known of texts";
                return Err(FieldError::new("rank", "density", expected));
            }
            if self.bound == Some(BoundOn::Uniform) {
                let expected = "data: shares of texts are of those given, random words are no text";
                return Err(FieldError::new("bound", "uniform", expected));
            }
            self.rules_of_texts()?;
        } else {
            let given = self.text.given();
            unused(given.unwrap_or("text"), given.is_none(), "tables")?;
            self.population.rules(self.predictor.source.is_some())?;
            if self.rank == Some(Rank::Density) && self.population.plausibility.is_none() {
                let expected = "gap, or population.plausibility given: that is what has a density";
                return Err(FieldError::new("rank", "density", expected));
            }
            let strategy = self.strategy();
            if self.population.stay_plausible && !strategy.begins_at_data() {
                let searched = format!("the strategy {}", strategy.name());
                unused("population.stay_plausible", false, &searched)?;
            }
        }
        self.predictor.rules(self.model.is_some(), self.modality)
    }
}

impl AuditSpecification {
    /// Checks the rules that hold of every search on texts.
    pub(super) fn rules_of_texts(&self) -> Result<(), FieldError> {
        let (given, default) = (&self.search, SearchSpecification::default());
        for (field, is_left_out) in [
            (
                "search.step_global",
                given.step_global == default.step_global,
            ),
            ("search.step_local", given.step_local == default.step_local),
        ] {
            unused(field, is_left_out, "texts")?;
        }
        unused("out_of_domain", self.out_of_domain.is_none(), "texts")?;
        unused("ignore_other_columns", !self.ignore_other_columns, "texts")?;
        self.text.expect_fluency_used()?;
        let from = self.text.neighbours_from;
        match self.predictor.source.is_some() && !from.is_usual() {
            true => Err(from.refused()),
            false => Ok(()),
        }
    }

    /// How the rows of the data are read, beside what the model's schema says.
    pub(crate) fn reading(&self) -> Reading {
        Reading {
            policy: self.out_of_domain,
            skips_bad_rows: self.skip_bad_rows,
            ignores_other_columns: self.ignore_other_columns,
        }
    }

    /// The strategy, of the global phase at least.
    pub fn strategy(&self) -> StrategyName {
        self.strategy
            .unwrap_or(match (self.modality, &self.predictor.source) {
                (ModalityName::Text, None) => StrategyName::AdfAsc,
                (ModalityName::Table, None) => StrategyName::Adf,
                (modality, Some(_)) => StrategyName::without_gradients(modality),
            })
    }

    /// The way in which decisions are made.
    pub fn deciding(&self) -> Deciding<'_> {
        self.decision.or_gap(self.gap)
    }

    /// Largest number of inputs of each estimate.
    pub fn estimated(&self) -> u64 {
        self.estimate.unwrap_or(match self.modality {
            ModalityName::Table => 10_000,
            ModalityName::Text => u64::MAX,
        })
    }

    /// Checks that the audit can be cut into shards.
    ///
    /// # Errors
    /// The first field that keeps it from that.
    pub fn expect_divisible(&self) -> Result<(), FieldError> {
        for (field, is_given) in [
            ("budget.max_found", self.budget.max_found.is_some()),
            ("budget.max_calls", self.budget.max_calls.is_some()),
            ("budget.time", self.budget.time.is_some()),
        ] {
            if is_given {
                let expected = "left out: no shard knows what the others have found and spent";
                return Err(FieldError::new(field, "given", expected));
            }
        }
        if self.memory.is_some() {
            let expected = "left out: a shard holds all that it finds";
            return Err(FieldError::new("memory", "given", expected));
        }
        self.strategy().expect_divisible("strategy")
    }

    /// Bytes of memory for the pairs that are found.
    pub fn memory(&self) -> u64 {
        self.memory.map_or(MEMORY, Bytes::get)
    }

    /// The share that `fail_above` is a bound on.
    pub fn bound_on(&self) -> BoundOn {
        self.bound.unwrap_or(BoundOn::Data)
    }

    /// The specification with nothing left to the inputs: its protected attributes are `protected`,
    /// and `favourable`, one of `classes`, is good to get. Of texts it is not put in where nobody said so.
    #[must_use]
    pub fn resolved(
        mut self,
        protected: &[String],
        (favourable, classes): (&str, &[String]),
    ) -> AuditSpecification {
        let strategy = self.strategy();
        self.bound = self.fail_above.map(|_| self.bound_on());
        self.search.objective = Some(self.search.objective(self.modality));
        self.protected = protected.to_vec();
        self.decision = self.decision.resolved(favourable, classes);
        self.strategy = Some(strategy);
        if self.modality == ModalityName::Table {
            self.estimate = Some(self.estimated());
            let population = &mut self.population;
            population.rows = population.most(self.predictor.source.is_some());
            population.favourable = Some(favourable.to_owned());
        } else {
            if let Some(said) = &mut self.population.favourable {
                *said = favourable.to_owned();
            }
            self.text.local_strategy = Some(self.text.local_strategy(strategy));
            self.text.max_l0 = self.text.max_changed();
            self.text.min_fluency = self.text.least_fluency();
        }
        self
    }

    /// The model directory.
    ///
    /// # Errors
    /// When there is none.
    pub fn model(&self) -> Result<&Path, FieldError> {
        let missing = || FieldError::new("model", "missing", "given, or a predictor");
        self.model.as_deref().ok_or_else(missing)
    }

    /// The name that a message gives to what was opened as `role`.
    pub fn name_of(&self, role: &str) -> String {
        let path = |path: &PathBuf| path.display().to_string();
        match role {
            "model" => match (&self.predictor.source, &self.model) {
                (Some(source), _) => source.to_string(),
                (None, Some(model)) => path(model),
                (None, None) => "the model".to_owned(),
            },
            "data" => path(&self.data),
            "population" => self
                .population
                .file
                .as_ref()
                .map_or_else(|| "the population".to_owned(), path),
            "plausibility" => self
                .population
                .plausibility
                .as_ref()
                .map_or_else(|| "the network".to_owned(), path),
            "encoder" => self
                .text
                .encoder
                .as_ref()
                .map_or_else(|| "the encoder".to_owned(), path),
            "fluency_model" => self
                .text
                .fluency_model
                .as_ref()
                .map_or_else(|| "the fluency model".to_owned(), path),
            other => format!("the {other}"),
        }
    }
}
