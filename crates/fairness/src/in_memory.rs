//! An audit as a few lines of Rust: a model and a table in memory, findings in memory.
//!
//! [`Audit::new`] begins one. What is not said is as in an [`AuditSpecification`]; nothing is written.

use std::fmt;
use std::ops::ControlFlow;

use super::audit::{Audit, AuditError, AuditSpecification};
use super::estimate::Estimate;
use super::modality::{Modality, TableCase};
use super::model_under_test::ModelUnderTest;
use super::opened::{Opened, protected_or_marked};
use super::pairs::{Pair, PairStore};
use super::search::Ending;
use super::session::AuditProgress;
use super::strategies::StrategyName;
use crate::domain::Domain;
use probity_data::schema::Schema;
use probity_data::table::Table;
use probity_nn::model::Model;
use probity_run::specification::Specification;
use probity_tensor::device::ComputeDevice;

/// Stands for a file where a specification asks for one and the value is in memory.
const IN_MEMORY: &str = "memory";

/// An audit that is not begun yet.
#[derive(Clone)]
pub struct AuditBuilder<'a> {
    model: &'a Model,
    table: &'a Table,
    device: ComputeDevice,
    specification: AuditSpecification,
}

impl Audit<TableCase> {
    /// An audit of `model` that begins at rows of `table`, which was read by the model's schema.
    #[allow(clippy::new_ret_no_self)] // reads as what it is: a new audit, not begun yet
    pub fn new<'a>(model: &'a Model, table: &'a Table) -> AuditBuilder<'a> {
        let mut specification = AuditSpecification::default();
        specification.model = Some(IN_MEMORY.into());
        specification.data = IN_MEMORY.into();
        AuditBuilder {
            model,
            table,
            device: ComputeDevice::flex(),
            specification,
        }
    }
}

impl AuditBuilder<'_> {
    /// Protects these attributes, jointly; otherwise those that the schema marks.
    #[must_use]
    pub fn protected<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.specification.protected = names.into_iter().map(Into::into).collect();
        self
    }

    /// Searches by `strategy`; otherwise by ADF.
    #[must_use]
    pub fn strategy(mut self, strategy: StrategyName) -> Self {
        self.specification.strategy = Some(strategy);
        self
    }

    /// Begins at so many rows.
    #[must_use]
    pub fn seeds(mut self, seeds: usize) -> Self {
        self.specification.search.seeds = seeds;
        self
    }

    /// Makes so many local trials from each individual that the global phase finds.
    #[must_use]
    pub fn local(mut self, trials: u32) -> Self {
        self.specification.search.local = trials;
        self
    }

    /// Estimates each share by so many uniform random inputs.
    #[must_use]
    pub fn estimate(mut self, inputs: u64) -> Self {
        self.specification.estimate = inputs;
        self
    }

    /// Takes `seed` for everything random.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.specification.seed = seed;
        self
    }

    /// Searches on `device`; otherwise on the CPU.
    #[must_use]
    pub fn device(mut self, device: &ComputeDevice) -> Self {
        self.device = device.clone();
        self
    }

    /// Runs the audit to its end.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn run(self) -> Result<Findings, AuditError> {
        self.run_observed(&mut |_| ControlFlow::Continue(()))
    }

    /// Runs the audit; `observe` sees every round and may stop it.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn run_observed(
        self,
        observe: &mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Findings, AuditError> {
        let schema = self.model.schema.clone();
        let protected = protected_or_marked(&self.specification.protected, &schema);
        let inputs = (schema.clone(), self.model.network.layout.clone());
        let model = Opened {
            value: ModelUnderTest::network(&self.model.network, &self.device),
            sha256: self.model.sha256(),
        };
        let table = Opened {
            value: self.table.clone(),
            sha256: String::new(),
        };
        let case = TableCase::new(inputs, model, table, protected)?;
        let audit = Audit::of(self.specification.check()?, case, &self.device)?;
        let (ending, pairs) = audit.search(observe)?;
        let (shares, _) = audit.estimates(observe)?;
        let domain = Box::new(audit.case().domain().clone());
        Ok(Findings {
            schema,
            domain,
            ending,
            shares,
            pairs,
        })
    }
}

/// What an audit found.
pub struct Findings {
    schema: Schema,
    domain: Box<dyn Domain>,
    ending: Ending,
    shares: Vec<Estimate>,
    pairs: PairStore,
}

impl Findings {
    /// The discriminatory share of uniform random inputs, by all protected attributes jointly.
    pub fn share(&self) -> &Estimate {
        // There is one for each attribute, and the joint one last; an audit protects at least one.
        &self.shares[self.shares.len() - 1]
    }

    /// The share for each protected attribute alone and, if there are several, for all jointly.
    pub fn shares(&self) -> &[Estimate] {
        &self.shares
    }

    /// How the search ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// The pairs that were found: inputs that differ in protected attributes alone and are classified
    /// differently.
    pub fn pairs(&self) -> impl Iterator<Item = FoundPair<'_>> {
        self.pairs.iter().map(|pair| {
            let mut right = Vec::new();
            self.domain
                .write_variant(pair.row, pair.variant as usize, &mut right);
            FoundPair {
                schema: &self.schema,
                right,
                pair,
            }
        })
    }
}

/// Two inputs that differ in protected attributes alone and are classified differently.
pub struct FoundPair<'a> {
    schema: &'a Schema,
    pair: Pair<'a>,
    right: Vec<i32>,
}

impl<'a> FoundPair<'a> {
    /// The input that was found.
    pub fn left(&self) -> Input<'_> {
        self.input(self.pair.row, self.pair.label)
    }

    /// The variant that is classified differently.
    pub fn right(&self) -> Input<'_> {
        self.input(&self.right, self.pair.other_label)
    }

    fn input<'i>(&'i self, codes: &'i [i32], label: u32) -> Input<'i> {
        Input {
            schema: self.schema,
            codes,
            label,
        }
    }

    /// Names of the attributes in which they differ.
    pub fn changed(&self) -> Vec<&'a str> {
        let sides = self.pair.row.iter().zip(&self.right);
        let attributes = self.schema.attributes.iter().zip(sides);
        attributes
            .filter(|(_, (left, right))| left != right)
            .map(|(attribute, _)| attribute.name.as_str())
            .collect()
    }
}

/// An input in the schema's words, and the class that it is given.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    schema: &'a Schema,
    codes: &'a [i32],
    label: u32,
}

impl<'a> Input<'a> {
    /// Its codes, one an attribute.
    pub fn codes(&self) -> &'a [i32] {
        self.codes
    }

    /// Its value of the attribute `name`, if there is one.
    pub fn value(&self, name: &str) -> Option<String> {
        let attributes = self.schema.attributes.iter().zip(self.codes);
        attributes
            .into_iter()
            .find(|(attribute, _)| attribute.name == name)
            .map(|(attribute, &code)| attribute.decode(code))
    }

    /// The class that it is given.
    pub fn class(&self) -> &'a str {
        &self.schema.label.classes[self.label as usize]
    }
}

/// `age=30, sex=female: no`
impl fmt::Display for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (attribute, &code)) in self.schema.attributes.iter().zip(self.codes).enumerate()
        {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{}={}", attribute.name, attribute.decode(code))?;
        }
        write!(f, ": {}", self.class())
    }
}
