//! All searches by name, and what each needs of a model.
//!
//! [`adf`](super::adf) and what came before and after it, on one driver and under one count.
//! docs/strategies.md says what was chosen where a published description is silent.

pub mod aequitas;
pub mod eidig;
pub mod finite_differences;
pub mod random_walk;
pub mod sg;
pub mod themis;
pub mod tuning;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::adf::Adf;
use super::audit_error::AuditError;
use super::domain::TabularDomain;
use super::modality::ModalityName;
use super::model_under_test::{ModelAccess, ModelUnderTest};
use super::strategy::Strategy;
use aequitas::{Aequitas, Directed};
use eidig::Eidig;
use finite_differences::FiniteDifferences;
use probity_nn::Objective;
use random_walk::RandomWalk;
use sg::SymbolicGeneration;
use themis::Themis;
use tuning::Tuning;

/// Which search strategy.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyName {
    /// Tables: gradient-guided global and local search (ADF)
    #[default]
    Adf,
    /// Tables: ADF with momentum, and gradients that serve for several steps
    Eidig,
    /// Tables: ADF with gradients from differences of outputs, for models that give no others
    AdfZeroOrder,
    /// Tables: surrogate trees around inputs, their path constraints negated (symbolic generation)
    Sg,
    /// Tables: random inputs, then steps whose attribute and direction are learnt
    AequitasFully,
    /// Tables: random inputs, then steps whose direction is learnt
    AequitasSemi,
    /// Tables: random inputs, then random steps
    AequitasRandom,
    /// Tables: random inputs until their discriminatory share is known well enough
    Themis,
    /// Tables: random steps from the data, the floor that any guided search must beat
    RandomWalk,
    /// Texts: ADF, token by importance, word by direction (Algorithm 5)
    AdfAsc,
    /// Texts: ADF, token and word by first-order effect (Algorithm 6)
    AdfHf,
    /// Texts: adf-asc without the second input, an attack on the text alone
    Asc,
    /// Texts: adf-hf without the second input (HotFlip)
    Hf,
    /// Texts: random token, random neighbour
    Rp,
}

impl StrategyName {
    /// All that search tables.
    pub const OF_TABLES: [StrategyName; 9] = [
        StrategyName::Adf,
        StrategyName::Eidig,
        StrategyName::AdfZeroOrder,
        StrategyName::Sg,
        StrategyName::AequitasFully,
        StrategyName::AequitasSemi,
        StrategyName::AequitasRandom,
        StrategyName::Themis,
        StrategyName::RandomWalk,
    ];

    /// All that search texts.
    pub const OF_TEXTS: [StrategyName; 5] = [
        StrategyName::AdfAsc,
        StrategyName::AdfHf,
        StrategyName::Asc,
        StrategyName::Hf,
        StrategyName::Rp,
    ];

    /// All that search inputs of `modality`.
    pub fn of(modality: ModalityName) -> &'static [StrategyName] {
        match modality {
            ModalityName::Table => &StrategyName::OF_TABLES,
            ModalityName::Text => &StrategyName::OF_TEXTS,
        }
    }

    /// Whether it searches inputs of `modality`.
    pub fn fits(self, modality: ModalityName) -> bool {
        StrategyName::of(modality).contains(&self)
    }

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            StrategyName::Adf => "adf",
            StrategyName::Eidig => "eidig",
            StrategyName::AdfZeroOrder => "adf-zero-order",
            StrategyName::Sg => "sg",
            StrategyName::AequitasFully => "aequitas-fully",
            StrategyName::AequitasSemi => "aequitas-semi",
            StrategyName::AequitasRandom => "aequitas-random",
            StrategyName::Themis => "themis",
            StrategyName::RandomWalk => "random-walk",
            StrategyName::AdfAsc => "adf-asc",
            StrategyName::AdfHf => "adf-hf",
            StrategyName::Asc => "asc",
            StrategyName::Hf => "hf",
            StrategyName::Rp => "rp",
        }
    }

    /// Whether it asks a model for gradients, so that a plain classifier will not do.
    pub fn needs_gradients(self) -> bool {
        !matches!(
            self,
            StrategyName::AdfZeroOrder
                | StrategyName::Sg
                | StrategyName::AequitasFully
                | StrategyName::AequitasSemi
                | StrategyName::AequitasRandom
                | StrategyName::Themis
                | StrategyName::RandomWalk
                | StrategyName::Rp
        )
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
    let names: Vec<&str> = StrategyName::OF_TABLES
        .into_iter()
        .filter(|strategy| !strategy.needs_gradients())
        .map(StrategyName::name)
        .collect();
    names.join(", ")
}

/// Refuses a strategy that needs gradients where the model gives none.
///
/// # Errors
/// See [`NeedsGradients`].
pub fn expect_usable(strategy: StrategyName, model: &ModelUnderTest) -> Result<(), NeedsGradients> {
    match model.access() {
        ModelAccess::Outputs(_) if strategy.needs_gradients() => Err(NeedsGradients { strategy }),
        _ => Ok(()),
    }
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
    /// Options of single strategies.
    pub tuning: &'a Tuning,
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

/// Refuses `strategy` where inputs of `modality` are searched that it does not search.
///
/// # Errors
/// [`AuditError::OtherModality`]
pub fn expect_fitting(strategy: StrategyName, modality: ModalityName) -> Result<(), AuditError> {
    if strategy.fits(modality) {
        return Ok(());
    }
    let names = StrategyName::of(modality).iter().map(|name| name.name());
    Err(AuditError::OtherModality {
        strategy,
        searched: match modality {
            ModalityName::Table => "tables",
            ModalityName::Text => "texts",
        },
        fitting: names.collect::<Vec<_>>().join(", "),
    })
}

/// Makes the strategy `name` of tables and does `work` with it.
///
/// # Errors
/// When it needs gradients and the model gives none, or searches texts.
pub fn with_strategy<W: WithStrategy>(
    name: StrategyName,
    of: &Ingredients<'_>,
    work: W,
) -> Result<W::Output, AuditError> {
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
    let aequitas = |directed| Aequitas {
        directed,
        domain: of.domain,
        step_local: of.step_local,
        seed: of.seed,
    };
    Ok(match name {
        StrategyName::Adf => work.with(&adf(gradients()?)),
        StrategyName::Eidig => work.with(&Eidig {
            model: gradients()?,
            domain: of.domain,
            objective: of.objective,
            step_global: of.step_global,
            step_local: of.step_local,
            refresh: of.tuning.refresh,
            seed: of.seed,
        }),
        StrategyName::AdfZeroOrder => {
            let differences = FiniteDifferences::new(of.model.classifier(), of.domain);
            work.with(&adf(&differences))
        }
        StrategyName::Sg => work.with(&SymbolicGeneration {
            model: of.model.classifier(),
            domain: of.domain,
            samples: of.tuning.surrogate_samples,
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
            expect_fitting(name, ModalityName::Table)?;
            return Err(NeedsGradients { strategy: name }.into());
        }
    })
}
