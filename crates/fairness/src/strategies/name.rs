//! The names of all searches, and the models and inputs that each can be used with.

use serde::{Deserialize, Serialize};

use crate::model_under_test::ModelAccess;
use probity_nn::modality::ModalityName;
use probity_run::specification::FieldError;

/// Which search strategy.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyName {
    /// Along the decision boundary, by what gradients predict of every neighbour; no individual is
    /// tried twice from a start
    Frontier,
    /// Frontier by outputs alone
    FrontierZeroOrder,
    /// Tables: gradient-guided global and local search (ADF)
    #[default]
    Adf,
    /// Tables: ADF with momentum, and gradients that serve for several steps
    Eidig,
    /// ADF with gradients from differences of outputs, for models that give no others; in texts,
    /// from leaving words out and trying their neighbours
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

/// The place where a search begins, and how it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// The search begins at inputs of the data, from each of which it goes by steps of its own.
    AtData,
    /// The search begins at inputs of the data, or near them; the next ones are solved for, or
    /// drawn.
    NearData,
    /// The search begins at inputs of its own.
    Elsewhere,
}

/// The facts that must be known of a strategy before it is made.
struct Facts {
    /// The name on the command line.
    name: &'static str,
    /// The kinds of inputs that it searches.
    searches: &'static [ModalityName],
    needs_gradients: bool,
    begins: Begins,
    /// Whether it learns from all of its walkers.
    learns: bool,
}

const TABLES: &[ModalityName] = &[ModalityName::Table];
const TEXTS: &[ModalityName] = &[ModalityName::Text];
const BOTH: &[ModalityName] = &[ModalityName::Table, ModalityName::Text];

impl Facts {
    /// The facts of a strategy that asks for gradients at inputs of the data, and goes from each by
    /// steps of its own.
    const fn new(name: &'static str, searches: &'static [ModalityName]) -> Facts {
        Facts {
            name,
            searches,
            needs_gradients: true,
            begins: Begins::AtData,
            learns: false,
        }
    }

    /// Returns these facts for a strategy that asks for outputs alone.
    const fn by_outputs(self) -> Facts {
        Facts {
            needs_gradients: false,
            ..self
        }
    }

    /// Returns these facts for a strategy that begins as `begins` says.
    const fn begins(self, begins: Begins) -> Facts {
        Facts { begins, ..self }
    }

    /// Returns these facts for a strategy that learns from all of its walkers.
    const fn learns(self) -> Facts {
        Facts {
            learns: true,
            ..self
        }
    }
}

impl StrategyName {
    /// All strategies.
    pub const ALL: [StrategyName; 16] = [
        StrategyName::Frontier,
        StrategyName::FrontierZeroOrder,
        StrategyName::Adf,
        StrategyName::Eidig,
        StrategyName::AdfZeroOrder,
        StrategyName::Sg,
        StrategyName::AequitasFully,
        StrategyName::AequitasSemi,
        StrategyName::AequitasRandom,
        StrategyName::Themis,
        StrategyName::RandomWalk,
        StrategyName::AdfAsc,
        StrategyName::AdfHf,
        StrategyName::Asc,
        StrategyName::Hf,
        StrategyName::Rp,
    ];

    /// The facts of each strategy: one that is forgotten here does not compile.
    const fn facts(self) -> Facts {
        use Begins::{Elsewhere, NearData};
        match self {
            StrategyName::Frontier => Facts::new("frontier", BOTH),
            StrategyName::FrontierZeroOrder => Facts::new("frontier-zero-order", BOTH)
                .by_outputs()
                .begins(NearData),
            StrategyName::Adf => Facts::new("adf", TABLES),
            StrategyName::Eidig => Facts::new("eidig", TABLES),
            StrategyName::AdfZeroOrder => Facts::new("adf-zero-order", BOTH).by_outputs(),
            StrategyName::Sg => Facts::new("sg", TABLES)
                .by_outputs()
                .begins(NearData)
                .learns(),
            StrategyName::AequitasFully => Facts::new("aequitas-fully", TABLES)
                .by_outputs()
                .begins(Elsewhere)
                .learns(),
            StrategyName::AequitasSemi => Facts::new("aequitas-semi", TABLES)
                .by_outputs()
                .begins(Elsewhere)
                .learns(),
            StrategyName::AequitasRandom => Facts::new("aequitas-random", TABLES)
                .by_outputs()
                .begins(Elsewhere)
                .learns(),
            StrategyName::Themis => Facts::new("themis", TABLES)
                .by_outputs()
                .begins(Elsewhere)
                .learns(),
            StrategyName::RandomWalk => Facts::new("random-walk", TABLES).by_outputs(),
            StrategyName::AdfAsc => Facts::new("adf-asc", TEXTS),
            StrategyName::AdfHf => Facts::new("adf-hf", TEXTS),
            StrategyName::Asc => Facts::new("asc", TEXTS),
            StrategyName::Hf => Facts::new("hf", TEXTS),
            StrategyName::Rp => Facts::new("rp", TEXTS).by_outputs(),
        }
    }

    /// All strategies that search inputs of `modality`.
    pub fn for_modality(modality: ModalityName) -> Vec<StrategyName> {
        let fits = |name: &StrategyName| name.fits(modality);
        StrategyName::ALL.into_iter().filter(fits).collect()
    }

    /// Whether the strategy searches inputs of `modality`.
    pub fn fits(self, modality: ModalityName) -> bool {
        self.facts().searches.contains(&modality)
    }

    /// The name of the strategy on the command line.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Whether the strategy asks a model for gradients, so that a plain classifier will not do.
    pub fn needs_gradients(self) -> bool {
        self.facts().needs_gradients
    }

    /// The best strategy of those that need no gradients, for a model of `modality` that gives
    /// none.
    pub fn without_gradients(modality: ModalityName) -> StrategyName {
        match modality {
            ModalityName::Table => StrategyName::AequitasFully,
            ModalityName::Text => StrategyName::Rp,
        }
    }

    /// Refuses this strategy, which `field` names, where inputs of `modality` are searched and it
    /// does not search them.
    ///
    /// # Errors
    /// The values that `field` may have.
    pub fn expect_fitting(self, field: &str, modality: ModalityName) -> Result<(), FieldError> {
        if self.fits(modality) {
            return Ok(());
        }
        let searched = match modality {
            ModalityName::Table => "tables",
            ModalityName::Text => "texts",
        };
        let names = names(&StrategyName::for_modality(modality), |_| true);
        let expected = format!("one that searches {searched}: {names}");
        Err(FieldError::new(field, self.name(), expected))
    }

    /// Refuses this strategy, which `field` names, where it needs gradients and `model` gives none.
    ///
    /// # Errors
    /// The values that `field` may have.
    pub fn expect_usable(self, field: &str, model: ModelAccess<'_>) -> Result<(), FieldError> {
        match model {
            ModelAccess::Outputs(_) if self.needs_gradients() => {
                Err(self.refused_without_gradients(field))
            }
            _ => Ok(()),
        }
    }

    /// Whether the strategy begins at rows of the data and goes from each by steps of its own: no
    /// strategy that draws or solves for its next inputs does.
    pub fn begins_at_data(self) -> bool {
        self.facts().begins == Begins::AtData
    }

    /// Whether the walks of the strategy begin at rows of the data, rather than at inputs of its
    /// own: see [`Strategy::own_seeds`](crate::strategy::Strategy::own_seeds).
    pub fn takes_seeds(self) -> bool {
        self.facts().begins != Begins::Elsewhere
    }

    /// Whether the walkers of the strategy have nothing to do with each other: see
    /// [`Strategy::LEARNS`](crate::strategy::Strategy::LEARNS).
    pub fn is_divisible(self) -> bool {
        !self.facts().learns
    }

    /// Refuses this strategy, which `field` names, where some of its walkers are to be on another
    /// machine.
    ///
    /// # Errors
    /// When the strategy learns from all of them.
    pub fn expect_divisible(self, field: &str) -> Result<(), FieldError> {
        match self.is_divisible() {
            true => Ok(()),
            false => Err(self.refused_as_indivisible(field)),
        }
    }

    pub(crate) fn refused_as_indivisible(self, field: &str) -> FieldError {
        let names = names(
            &StrategyName::for_modality(ModalityName::Table),
            StrategyName::is_divisible,
        );
        let expected = format!(
            "another to be cut into shards: it learns from all of its walkers; these do not: {names}"
        );
        FieldError::new(field, self.name(), expected)
    }

    pub(crate) fn refused_without_gradients(self, field: &str) -> FieldError {
        let modality = match self.fits(ModalityName::Text) {
            true => ModalityName::Text,
            false => ModalityName::Table,
        };
        let names = names(&StrategyName::for_modality(modality), |name| {
            !name.needs_gradients()
        });
        let expected = format!(
            "another: it needs gradients, which this model does not give; these need outputs only: {names}"
        );
        FieldError::new(field, self.name(), expected)
    }
}

fn names(of: &[StrategyName], is_kept: impl Fn(StrategyName) -> bool) -> String {
    let kept = of.iter().filter(|name| is_kept(**name));
    let names: Vec<&str> = kept.map(|name| name.name()).collect();
    names.join(", ")
}
