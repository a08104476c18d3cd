//! What a comparison is asked for.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AuditSpecification, BudgetSpecification, DecisionSpecification, PredictorSpecification,
    SearchSpecification, named_once, needed, tuned,
};
use crate::modality::ModalityName;
use crate::strategies::StrategyName;
use crate::strategies::tuning::Tuning;
use probity_data::schema::OutOfDomain;
use probity_run::specification::{FieldError, Specification};

/// Strategies that are compared unless told otherwise.
const STRATEGIES: [StrategyName; 6] = [
    StrategyName::Adf,
    StrategyName::Eidig,
    StrategyName::AequitasFully,
    StrategyName::Sg,
    StrategyName::Themis,
    StrategyName::RandomWalk,
];

/// The same on predictors, which give no gradients.
const BLACK_BOX_STRATEGIES: [StrategyName; 5] = [
    StrategyName::AequitasFully,
    StrategyName::AdfZeroOrder,
    StrategyName::Sg,
    StrategyName::Themis,
    StrategyName::RandomWalk,
];

/// Everything that determines a comparison of strategies on a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CompareSpecification {
    /// Model directory, as `probity train` or `probity import` writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub model: Option<PathBuf>,
    /// Table that the seeds come from; read by the schema.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Missing and outside values, where the schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Leave rows out with which something is wrong, such as a blank cell, and count them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad_rows: bool,
    /// Protected attributes, jointly; by default those marked in the schema.
    pub protected: Vec<String>,
    /// Compare scores in place of decisions: inputs are told apart where the probability of the
    /// favourable class, or the number that a regressor gives, differs by more than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e15))]
    pub gap: Option<f64>,
    /// Strategies to compare; by default adf, eidig, aequitas-fully, sg, themis and random-walk,
    /// for predictors aequitas-fully, adf-zero-order, sg, themis and random-walk.
    pub strategies: Vec<StrategyName>,
    /// Searches of each strategy, with the seeds from the first one on.
    #[schemars(range(min = 1, max = 1000))]
    pub repeats: u32,
    /// Seed of the first repeat; the others count on from it.
    pub seed: u64,
    /// How decisions are made of what the model says.
    #[serde(skip_serializing_if = "DecisionSpecification::is_usual")]
    pub decision: DecisionSpecification,
    /// What only answers, in place of a model directory.
    pub predictor: PredictorSpecification,
    /// How far and how finely to search.
    pub search: SearchSpecification,
    /// When to stop each search early.
    pub budget: BudgetSpecification,
    /// What only single strategies have.
    pub tuning: Tuning,
}

impl Default for CompareSpecification {
    fn default() -> CompareSpecification {
        CompareSpecification {
            model: None,
            data: PathBuf::new(),
            out_of_domain: None,
            skip_bad_rows: false,
            protected: Vec::new(),
            gap: None,
            strategies: Vec::new(),
            repeats: 5,
            seed: 1,
            decision: DecisionSpecification::default(),
            predictor: PredictorSpecification::default(),
            search: SearchSpecification::default(),
            budget: BudgetSpecification::default(),
            tuning: Tuning::default(),
        }
    }
}

impl Specification for CompareSpecification {
    const KIND: &'static str = "compare";
    // Every search of a comparison has the same time.
    const FREE: &'static [&'static str] = &["search.batch", "predictor.timeout", "predictor.rows"];

    fn rules(&self) -> Result<(), FieldError> {
        needed("data", &self.data)?;
        if self.predictor.source.is_none() {
            self.audit().model()?;
        }
        named_once("protected", &self.protected)?;
        self.decision.or_gap(self.gap).rules()?;
        let names = self
            .strategies
            .iter()
            .map(|strategy| strategy.name().to_owned());
        named_once("strategies", &names.collect::<Vec<_>>())?;
        for strategy in &self.strategies {
            strategy.expect_fitting("strategies", ModalityName::Table)?;
        }
        tuned(&self.tuning, &self.strategies())?;
        self.predictor
            .rules(self.model.is_some(), ModalityName::Table)
    }
}

impl CompareSpecification {
    /// The strategies, in the order of the table.
    pub fn strategies(&self) -> Vec<StrategyName> {
        match (self.strategies.is_empty(), &self.predictor.source) {
            (false, _) => self.strategies.clone(),
            (true, None) => STRATEGIES.to_vec(),
            (true, Some(_)) => BLACK_BOX_STRATEGIES.to_vec(),
        }
    }

    /// That it can be cut into shards.
    ///
    /// # Errors
    /// The first field that keeps it from that.
    pub fn expect_divisible(&self) -> Result<(), FieldError> {
        match self.budget.time {
            None => Ok(()),
            Some(_) => {
                let expected = "left out: how far a search comes in it depends on its machine";
                Err(FieldError::new("budget.time", "given", expected))
            }
        }
    }

    /// Strategy and repeat of each search, in the order in which they are done.
    pub(crate) fn turns(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let count = self.strategies.len() as u32;
        let turn = move |repeat| (0..count).map(move |turn| ((turn + repeat) % count, repeat));
        (0..self.repeats).flat_map(turn)
    }

    /// What a message calls the model.
    pub fn name(&self) -> String {
        self.audit().name_of("model")
    }

    /// An audit of the same model from the same data: what is opened for it is what is compared on.
    pub(crate) fn audit(&self) -> AuditSpecification {
        AuditSpecification {
            model: self.model.clone(),
            data: self.data.clone(),
            out_of_domain: self.out_of_domain,
            skip_bad_rows: self.skip_bad_rows,
            protected: self.protected.clone(),
            decision: self.decision.clone(),
            gap: self.gap,
            predictor: self.predictor.clone(),
            search: self.search.clone(),
            seed: self.seed,
            ..AuditSpecification::default()
        }
    }

    /// The same with nothing left to the inputs, whose protected attributes are `protected` and of
    /// whose classes `favourable` is good to get, one of `classes`.
    #[must_use]
    pub(crate) fn resolved(
        mut self,
        protected: &[String],
        (favourable, classes): (&str, &[String]),
    ) -> CompareSpecification {
        self.decision = self.decision.resolved(favourable, classes);
        self.protected = protected.to_vec();
        self.strategies = self.strategies();
        self.search.objective.get_or_insert_default();
        self
    }
}
