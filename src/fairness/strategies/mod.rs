//! All searches on tables by name, and what each needs of a model.
//!
//! [`adf`](super::adf) and what came before and after it, on one driver and under one count.
//! docs/strategies.md says what was chosen where a published description is silent.

pub mod finite_differences;
pub mod random_walk;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::adf::Adf;
use super::domain::TabularDomain;
use super::strategy::Strategy;
use super::subject::ModelAccess;
use crate::nn::Objective;
use finite_differences::FiniteDifferences;
use random_walk::RandomWalk;

/// Which search strategy.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyName {
    /// Gradient-guided global and local search (ADF)
    #[default]
    Adf,
    /// ADF with gradients from differences of outputs, for models that give no others
    AdfZeroOrder,
    /// Random steps, the floor that any guided search must beat
    RandomWalk,
}

impl StrategyName {
    /// All of them.
    pub const ALL: [StrategyName; 3] = [
        StrategyName::Adf,
        StrategyName::AdfZeroOrder,
        StrategyName::RandomWalk,
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            StrategyName::Adf => "adf",
            StrategyName::AdfZeroOrder => "adf-zero-order",
            StrategyName::RandomWalk => "random-walk",
        }
    }

    /// Whether it asks a model for gradients, so that a plain classifier will not do.
    pub fn needs_gradients(self) -> bool {
        matches!(self, StrategyName::Adf)
    }
}

/// A strategy that cannot be used with a model.
#[derive(Debug, Error)]
#[error(
    "the strategy {} needs gradients, which this model does not give; choose one that needs outputs only: {}",
    strategy.name(),
    without_gradients()
)]
pub struct NeedsGradients {
    /// The strategy.
    pub strategy: StrategyName,
}

fn without_gradients() -> String {
    let names: Vec<&str> = StrategyName::ALL
        .into_iter()
        .filter(|strategy| !strategy.needs_gradients())
        .map(StrategyName::name)
        .collect();
    names.join(", ")
}

/// What strategies are made of.
#[derive(Clone, Copy)]
pub struct Ingredients<'a> {
    /// The model under audit, as far as it can be asked.
    pub model: ModelAccess<'a>,
    /// Its inputs.
    pub domain: &'a TabularDomain,
    /// What is differentiated.
    pub objective: Objective,
    /// Codes an attribute moves in one global step.
    pub step_global: u32,
    /// Codes an attribute moves in one local step.
    pub step_local: u32,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Work to do with a strategy, whatever its type.
pub trait WithStrategy {
    /// What comes of it.
    type Output;

    /// Does the work with `strategy`.
    fn with<S: Strategy>(self, strategy: &S) -> Self::Output;
}

/// Makes the strategy `name` and does `work` with it.
///
/// # Errors
/// When it needs gradients and the model gives none.
pub fn with_strategy<W: WithStrategy>(
    name: StrategyName,
    of: &Ingredients<'_>,
    work: W,
) -> Result<W::Output, NeedsGradients> {
    let gradients = || match of.model {
        ModelAccess::Gradients(model) => Ok(model),
        ModelAccess::Outputs(_) => Err(NeedsGradients { strategy: name }),
    };
    let adf = |model| Adf {
        model,
        domain: of.domain,
        objective: of.objective,
        step_global: of.step_global,
        step_local: of.step_local,
        seed: of.seed,
    };
    Ok(match name {
        StrategyName::Adf => work.with(&adf(gradients()?)),
        StrategyName::AdfZeroOrder => {
            let differences = FiniteDifferences::new(of.model.classifier(), of.domain);
            work.with(&adf(&differences))
        }
        StrategyName::RandomWalk => work.with(&RandomWalk {
            domain: of.domain,
            step_global: of.step_global,
            step_local: of.step_local,
            seed: of.seed,
        }),
    })
}
