//! All searches by name, and the access to a model that each needs.
//!
//! [`adf`](super::adf) and what came before and after it, on one driver and under one count.
//! docs/strategies.md says what was chosen where a published description is silent.

pub mod aequitas;
pub mod eidig;
pub mod finite_differences;
pub mod frontier;
mod name;
mod plausible;
pub mod random_walk;
pub mod sg;
pub mod themis;
pub mod tuning;

use super::adf::Adf;
use super::domain::TabularDomain;
use super::model_under_test::ModelAccess;
use super::rank::Rank;
use super::strategy::Strategy;
use aequitas::{Aequitas, Directed};
use eidig::Eidig;
use finite_differences::FiniteDifferences;
use frontier::Frontier;
pub use name::StrategyName;
pub(crate) use plausible::{Bound, WithinBound};
use probity_nn::Objective;
use probity_nn::modality::ModalityName;
use probity_run::specification::FieldError;
use random_walk::RandomWalk;
use sg::SymbolicGeneration;
use themis::Themis;
use tuning::Tuning;

/// The parts that strategies are made of.
#[derive(Clone, Copy)]
pub struct Ingredients<'a> {
    /// The model under audit, as far as it can be asked.
    pub model: ModelAccess<'a>,
    /// The domain of the model's inputs.
    pub domain: &'a TabularDomain,
    /// The objective that is differentiated.
    pub objective: Objective,
    /// Codes an attribute moves in one global step.
    pub step_global: u32,
    /// Codes an attribute moves in one local step.
    pub step_local: u32,
    /// Options of single strategies.
    pub tuning: &'a Tuning,
    /// The rank that says which pairs are the worst, and so where a search goes that is told.
    pub rank: Option<Rank>,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Work to do with a strategy, whatever its type.
pub trait WithStrategy {
    /// The result of the work.
    type Output;

    /// Does the work with `strategy`.
    fn with<S: Strategy>(self, strategy: &S) -> Self::Output;
}

/// Makes the strategy `name` of tables and does `work` with it.
///
/// # Errors
/// When it needs gradients and the model gives none, or searches texts.
pub fn with_strategy<W: WithStrategy>(
    name: StrategyName,
    of: &Ingredients<'_>,
    work: W,
) -> Result<W::Output, FieldError> {
    let gradients = || match of.model {
        ModelAccess::Gradients(model) => Ok(model),
        ModelAccess::Outputs(_) => Err(name.refused_without_gradients("strategy")),
    };
    let adf = |model| Adf {
        model,
        domain: of.domain,
        objective: of.objective,
        step_global: of.step_global,
        step_local: of.step_local,
        seed: of.seed,
    };
    let aequitas = |directed| Aequitas {
        directed,
        domain: of.domain,
        step_local: of.step_local,
        seed: of.seed,
    };
    let frontier = |model| {
        let steps = (of.step_global, of.step_local);
        Frontier::new(model, of.domain, steps, of.rank, of.seed)
    };
    Ok(match name {
        StrategyName::Frontier => work.with(&frontier(ModelAccess::Gradients(gradients()?))),
        StrategyName::FrontierZeroOrder => {
            let outputs = ModelAccess::Outputs(of.model.classifier());
            work.with(&frontier(outputs))
        }
        StrategyName::Adf => work.with(&adf(gradients()?)),
        StrategyName::Eidig => work.with(&Eidig {
            adf: adf(gradients()?),
            refresh: of.tuning.refresh,
        }),
        StrategyName::AdfZeroOrder => {
            let differences = FiniteDifferences::new(of.model.classifier(), of.domain);
            work.with(&adf(&differences))
        }
        StrategyName::Sg => work.with(&SymbolicGeneration {
            model: of.model.classifier(),
            domain: of.domain,
            rows: of.tuning.surrogate_rows,
            seed: of.seed,
        }),
        StrategyName::AequitasFully => work.with(&aequitas(Directed::Fully)),
        StrategyName::AequitasSemi => work.with(&aequitas(Directed::Semi)),
        StrategyName::AequitasRandom => work.with(&aequitas(Directed::Random)),
        StrategyName::Themis => work.with(&Themis {
            domain: of.domain,
            confidence: of.tuning.confidence,
            error_bound: of.tuning.error_bound,
            seed: of.seed,
        }),
        StrategyName::RandomWalk => work.with(&RandomWalk {
            domain: of.domain,
            step_global: of.step_global,
            step_local: of.step_local,
            seed: of.seed,
        }),
        StrategyName::AdfAsc
        | StrategyName::AdfHf
        | StrategyName::Asc
        | StrategyName::Hf
        | StrategyName::Rp => {
            let fits = name.expect_fitting("strategy", ModalityName::Table);
            return Err(fits
                .err()
                .unwrap_or_else(|| name.refused_without_gradients("strategy")));
        }
    })
}
