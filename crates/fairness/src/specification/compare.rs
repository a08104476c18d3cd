//! The specification of a comparison.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{named_once, needed, unused};
use super::searches::tuned;
use super::{
    AuditSpecification, BudgetSpecification, DecisionSpecification, FREE_OF_SEARCHES,
    PopulationSpecification, PredictorSpecification, SearchSpecification, TextSpecification,
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

/// Strategies that are compared on predictors, which give no gradients, unless told otherwise.
const BLACK_BOX_STRATEGIES: [StrategyName; 5] = [
    StrategyName::AequitasFully,
    StrategyName::AdfZeroOrder,
    StrategyName::Sg,
    StrategyName::Themis,
    StrategyName::RandomWalk,
];

/// Strategies that are compared on texts, unless told otherwise.
const TEXT_STRATEGIES: [StrategyName; 6] = [
    StrategyName::AdfAsc,
    StrategyName::AdfHf,
    StrategyName::Asc,
    StrategyName::Hf,
    StrategyName::Rp,
    StrategyName::Frontier,
];

/// Strategies that are compared on texts with predictors, unless told otherwise.
const BLACK_BOX_TEXT_STRATEGIES: [StrategyName; 3] = [
    StrategyName::AdfZeroOrder,
    StrategyName::Rp,
    StrategyName::FrontierZeroOrder,
];

/// Everything that determines a comparison of strategies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CompareSpecification {
    /// What is classified: rows of a table, or texts.
    #[serde(skip_serializing_if = "is_table")]
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
    /// Compare scores in place of decisions: inputs are told apart where the probability of the
    /// favourable class, or the number that a regressor gives, differs by more than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e15))]
    pub gap: Option<f64>,
    /// Sum-product network by which finds are graded, as `probity spn fit` makes it, or fit, which
    /// learns one from the data: comparisons then say how plausible finds are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path", "x-names" = ["fit"]))]
    pub plausibility: Option<PathBuf>,
    /// Strategies to compare; by default adf, eidig, aequitas-fully, sg, themis and random-walk,
    /// for predictors aequitas-fully, adf-zero-order, sg, themis and random-walk; of texts adf-asc,
    /// adf-hf, asc, hf, rp and frontier, for predictors adf-zero-order, rp and frontier-zero-order.
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
    /// What only searches on texts have.
    #[serde(skip_serializing_if = "TextSpecification::is_usual")]
    pub text: TextSpecification,
}

fn is_table(modality: &ModalityName) -> bool {
    *modality == ModalityName::Table
}

impl Default for CompareSpecification {
    fn default() -> CompareSpecification {
        CompareSpecification {
            modality: ModalityName::Table,
            model: None,
            data: PathBuf::new(),
            out_of_domain: None,
            skip_bad_rows: false,
            ignore_other_columns: false,
            protected: Vec::new(),
            gap: None,
            plausibility: None,
            strategies: Vec::new(),
            repeats: 5,
            seed: 1,
            decision: DecisionSpecification::default(),
            predictor: PredictorSpecification::default(),
            search: SearchSpecification::default(),
            budget: BudgetSpecification::default(),
            tuning: Tuning::default(),
            text: TextSpecification::default(),
        }
    }
}

impl Specification for CompareSpecification {
    const KIND: &'static str = "compare";
    // Every search of a comparison has the same budget.
    const FREE: &'static [&'static str] = FREE_OF_SEARCHES;

    fn rules(&self) -> Result<(), FieldError> {
        needed("data", &self.data)?;
        if self.predictor.source.is_none() {
            self.audit(0).model()?;
        }
        named_once("protected", &self.protected)?;
        self.decision.or_gap(self.gap).rules()?;
        let names = self
            .strategies
            .iter()
            .map(|strategy| strategy.name().to_owned());
        named_once("strategies", &names.collect::<Vec<_>>())?;
        for strategy in &self.strategies {
            strategy.expect_fitting("strategies", self.modality)?;
        }
        if let Some(strategy) = &self.text.local_strategy {
            strategy.expect_fitting("text.local_strategy", self.modality)?;
        }
        tuned(&self.tuning, &self.strategies())?;
        match self.modality {
            ModalityName::Text => {
                unused("plausibility", self.plausibility.is_none(), "texts")?;
                self.audit(0).rules_of_texts()?;
            }
            ModalityName::Table => {
                let given = self.text.given();
                unused(given.unwrap_or("text"), given.is_none(), "tables")?;
            }
        }
        self.predictor.rules(self.model.is_some(), self.modality)
    }
}

impl CompareSpecification {
    /// The strategies, in the order of the table.
    pub fn strategies(&self) -> Vec<StrategyName> {
        if !self.strategies.is_empty() {
            return self.strategies.clone();
        }
        match (self.modality, &self.predictor.source) {
            (ModalityName::Table, None) => STRATEGIES.to_vec(),
            (ModalityName::Table, Some(_)) => BLACK_BOX_STRATEGIES.to_vec(),
            (ModalityName::Text, None) => TEXT_STRATEGIES.to_vec(),
            (ModalityName::Text, Some(_)) => BLACK_BOX_TEXT_STRATEGIES.to_vec(),
        }
    }

    /// Checks that the comparison can be cut into shards.
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

    /// The name that a message gives to the model.
    pub fn name(&self) -> String {
        self.audit(0).name_of("model")
    }

    /// The seed of a repeat, by its number from 0.
    pub(crate) fn seed_of(&self, repeat: u32) -> u64 {
        self.seed.wrapping_add(u64::from(repeat))
    }

    /// An audit of the same model from the same data with the seed of a repeat: the strategies are
    /// compared on what is opened for it.
    pub(crate) fn audit(&self, repeat: u32) -> AuditSpecification {
        AuditSpecification {
            modality: self.modality,
            text: self.text.clone(),
            model: self.model.clone(),
            data: self.data.clone(),
            out_of_domain: self.out_of_domain,
            skip_bad_rows: self.skip_bad_rows,
            ignore_other_columns: self.ignore_other_columns,
            protected: self.protected.clone(),
            decision: self.decision.clone(),
            gap: self.gap,
            predictor: self.predictor.clone(),
            search: self.search.clone(),
            population: PopulationSpecification {
                plausibility: self.plausibility.clone(),
                ..PopulationSpecification::default()
            },
            seed: self.seed_of(repeat),
            ..AuditSpecification::default()
        }
    }

    /// The specification with nothing left to the inputs: its protected attributes are `protected`,
    /// and `favourable`, one of `classes`, is good to get.
    #[must_use]
    pub(crate) fn resolved(
        mut self,
        protected: &[String],
        (favourable, classes): (&str, &[String]),
    ) -> CompareSpecification {
        self.decision = self.decision.resolved(favourable, classes);
        self.protected = protected.to_vec();
        self.strategies = self.strategies();
        self.search.objective = Some(self.search.objective(self.modality));
        if self.modality == ModalityName::Text {
            self.text.max_l0 = self.text.max_changed();
            self.text.min_fluency = self.text.least_fluency();
        }
        self
    }
}
