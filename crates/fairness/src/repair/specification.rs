//! The specification of a repair: one for tables and texts.

use std::path::PathBuf;

use crate::text::preset::Preset;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::labels::LabelRule;
use crate::certify::specification::MOST_SPLITS;
use crate::group::specification::GroupingSpecification;
use crate::specification::{
    Deciding, DecisionSpecification, MOST_FOUND, MOST_SEEDS, named_once, needed, unused,
};
use crate::strategies::StrategyName;
use probity_data::schema::OutOfDomain;
use probity_nn::Objective;
use probity_nn::modality::ModalityName;
use probity_nn::train::course::Course;
use probity_nn::train::options::{
    LEAST_LEARNING_RATE, Learning, MOST_A_STEP, MOST_EPOCHS, MOST_LEARNING_RATE, MOST_WEIGHT_DECAY,
};
use probity_run::specification::{FieldError, Specification};

/// The smallest share of the found individuals to learn from: a smaller one is none of any number
/// that fits into memory.
pub const LEAST_SHARE: f64 = 1e-6;

/// By what a model is repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RepairMethod {
    /// Retraining on the data and the samples that audits found
    Samples,
    /// Training against the worst protected substitution, by interval bounds
    Certified,
}

/// The first weights of a retraining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Random ones: the network is trained anew
    Scratch,
    /// Those of the model: the network is trained on
    Model,
}

/// Everything that determines a repair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RepairSpecification {
    /// What the model classifies.
    #[schemars(extend("x-flag" = false))]
    pub modality: ModalityName,
    /// Model directory to repair.
    #[schemars(extend("format" = "path"))]
    pub model: PathBuf,
    /// The labelled rows or texts that it was trained on.
    #[schemars(extend("format" = "path"))]
    pub data: PathBuf,
    /// Missing and outside values, where the model's schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "outside"))]
    pub out_of_domain: Option<OutOfDomain>,
    /// Run directories of audits of this model.
    #[schemars(extend("x-flag" = "run", "format" = "path"))]
    pub runs: Vec<PathBuf>,
    /// Protected attributes of the lexicon, for texts; with runs they are those of the audits.
    pub protected: Vec<String>,
    /// How decisions are made of what the model says; with runs it is as in the audits.
    #[serde(skip_serializing_if = "DecisionSpecification::is_usual")]
    pub decision: DecisionSpecification,
    /// Compare scores in place of decisions: inputs are told apart where the probability of the
    /// favourable class, or the number that a regressor gives, differs by more than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e15))]
    pub gap: Option<f64>,
    /// By what the model is repaired; samples for tables and certified for texts where it is not
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<RepairMethod>,
    /// Shares of the found individuals to learn from, one after the other; 0.01 for tables and 0.05
    /// for texts where none is given.
    #[schemars(inner(range(min = LEAST_SHARE, max = 1)), extend("x-flag" = false))]
    pub shares: Vec<f64>,
    /// Networks for each share, each with its own draw of samples and its own first weights.
    #[schemars(range(min = 1, max = 100))]
    pub repeats: u32,
    /// The one label of all protected variants of a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_rule: Option<LabelRule>,
    /// Accuracy on held-out inputs that a repair may cost; when more is lost, nothing is saved.
    /// 0.01 for tables and 0.02 for texts where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub max_accuracy_loss: Option<f64>,
    /// By how much a fairness measure that is not repaired for may get worse; when one does by
    /// more, nothing is saved.
    #[schemars(range(min = 0, max = 1))]
    pub max_fairness_loss: f64,
    /// Save the network whatever is said against it; the command still fails.
    pub save_anyway: bool,
    /// Seed of draws, networks and estimates.
    pub seed: u64,
    /// Where the retraining differs from the training of the model.
    pub training: Retraining,
    /// How the worst case comes into certified training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certified: Option<Course>,
    /// What only repairs of tables have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<TableRepairOptions>,
    /// How groups are made and judged before and after a repair of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupingSpecification>,
    /// What only repairs of texts have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<TextRepairOptions>,
}

impl Default for RepairSpecification {
    fn default() -> RepairSpecification {
        RepairSpecification {
            modality: ModalityName::Table,
            model: PathBuf::new(),
            data: PathBuf::new(),
            out_of_domain: None,
            runs: Vec::new(),
            protected: Vec::new(),
            decision: DecisionSpecification::default(),
            gap: None,
            method: None,
            shares: Vec::new(),
            repeats: 5,
            label_rule: None,
            max_accuracy_loss: None,
            max_fairness_loss: 0.02,
            save_anyway: false,
            seed: 1,
            training: Retraining::default(),
            certified: None,
            table: None,
            groups: None,
            text: None,
        }
    }
}

/// Where a retraining differs from the training of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retraining {
    /// Passes over the training part.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MOST_EPOCHS))]
    pub epochs: Option<u32>,
    /// Rows or texts a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MOST_A_STEP))]
    pub batch: Option<usize>,
    /// Learning rate at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = LEAST_LEARNING_RATE, max = MOST_LEARNING_RATE))]
    pub learning_rate: Option<f64>,
    /// Weight decay.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MOST_WEIGHT_DECAY))]
    pub weight_decay: Option<f32>,
}

impl Retraining {
    /// The options `own`, changed as this specification says.
    pub fn apply_to(&self, own: &Learning) -> Learning {
        Learning {
            epochs: self.epochs.or(own.epochs),
            batch: self.batch.or(own.batch),
            learning_rate: self.learning_rate.or(own.learning_rate),
            weight_decay: self.weight_decay.or(own.weight_decay),
            ..own.clone()
        }
    }
}

/// What only repairs of tables have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TableRepairOptions {
    /// Weight of all added variants of samples together, in units of the training rows; each weighs
    /// as much as one where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001, max = 1000))]
    pub weight: Option<f64>,
    /// Random protected variants of each training row that share its label and its weight.
    #[schemars(range(max = 100))]
    pub counterfactuals: u32,
    /// First weights; scratch, and model for an imported network, where none are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// Uniform random inputs for each estimate of the discriminatory share.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub estimate: u64,
}

impl Default for TableRepairOptions {
    fn default() -> TableRepairOptions {
        TableRepairOptions {
            weight: None,
            counterfactuals: 0,
            start: None,
            estimate: 10_000,
        }
    }
}

/// What only repairs of texts have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TextRepairOptions {
    /// Rules by which texts are changed: those of English, or those of the ADF paper.
    pub preset: Preset,
    /// Lexicon of protected terms (TOML), or paper for that of the ADF paper; by default that of
    /// the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path", "x-names" = ["paper"]))]
    pub lexicon: Option<PathBuf>,
    /// Search strategy; with runs, of the search for the independent set alone.
    pub strategy: StrategyName,
    /// Strategy of the search for the independent set, where it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = false))]
    pub independent: Option<StrategyName>,
    /// What the search differentiates.
    #[schemars(extend("x-flag" = false))]
    pub objective: Objective,
    /// Seeds of a search.
    #[schemars(range(min = 1, max = MOST_SEEDS))]
    pub seeds: usize,
    /// Global moves a seed at most.
    #[schemars(range(max = 2_147_483_647), extend("x-flag" = false))]
    pub max_iter: u32,
    /// Local trials from each text that a search finds globally.
    #[schemars(range(max = 2_147_483_647))]
    pub local: u32,
    /// Texts that a search finds at most.
    #[schemars(range(min = 1, max = MOST_FOUND))]
    pub max_found: u64,
    /// How often the boxes of a text may be split for its certificate.
    #[schemars(range(max = MOST_SPLITS))]
    pub splits: u32,
}

impl Default for TextRepairOptions {
    fn default() -> TextRepairOptions {
        TextRepairOptions {
            preset: Preset::default(),
            lexicon: None,
            strategy: StrategyName::AdfAsc,
            independent: None,
            objective: Objective::Loss,
            seeds: 1000,
            max_iter: 10,
            local: 1000,
            max_found: 20_000,
            splits: 64,
        }
    }
}

impl RepairSpecification {
    /// Shares of the samples, ascending, each once.
    pub fn shares(&self) -> Vec<f64> {
        if self.shares.is_empty() {
            return vec![match self.modality {
                ModalityName::Table => 0.01,
                ModalityName::Text => 0.05,
            }];
        }
        let mut shares = self.shares.clone();
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        shares
    }

    /// The method by which the model is repaired.
    pub fn method(&self) -> RepairMethod {
        self.method.unwrap_or(match self.modality {
            ModalityName::Table => RepairMethod::Samples,
            ModalityName::Text => RepairMethod::Certified,
        })
    }

    /// Whether a network is only worth saving if it is better than one retrained without the
    /// remedy.
    pub fn needs_gain(&self) -> bool {
        (self.modality, self.method()) == (ModalityName::Text, RepairMethod::Samples)
    }

    /// The accuracy that a repair may cost.
    pub fn max_accuracy_loss(&self) -> f64 {
        self.max_accuracy_loss.unwrap_or(match self.modality {
            ModalityName::Table => 0.01,
            ModalityName::Text => 0.02,
        })
    }

    /// The rule by which samples are labelled.
    pub fn label(&self) -> LabelRule {
        self.label_rule.unwrap_or_default()
    }

    /// The options that only repairs of tables have.
    pub fn table(&self) -> TableRepairOptions {
        self.table.clone().unwrap_or_default()
    }

    /// The options that only repairs of texts have.
    pub fn text(&self) -> TextRepairOptions {
        self.text.clone().unwrap_or_default()
    }
}

impl RepairSpecification {
    /// The way in which decisions are made where no runs say it.
    pub fn deciding(&self) -> Deciding<'_> {
        self.decision.or_gap(self.gap)
    }
}

impl Specification for RepairSpecification {
    const KIND: &'static str = "repair";
    // They decide what becomes of the networks, not which these are.
    const FREE: &'static [&'static str] = &["max_fairness_loss", "save_anyway"];

    fn rules(&self) -> Result<(), FieldError> {
        needed("model", &self.model)?;
        needed("data", &self.data)?;
        named_once("protected", &self.protected)?;
        for (place, run) in self.runs.iter().enumerate() {
            if self.runs[..place].contains(run) {
                return Err(FieldError::new("runs", run.display(), "given once"));
            }
        }
        let has_runs = !self.runs.is_empty();
        self.deciding().rules()?;
        let of_runs = "repairs by runs, which say it";
        unused("decision", !has_runs || self.decision.is_usual(), of_runs)?;
        unused("gap", !has_runs || self.gap.is_none(), of_runs)?;
        let left_out = match self.modality {
            ModalityName::Table if !has_runs => {
                let expected = "the directory of at least one audit of the model";
                return Err(FieldError::new("runs", "missing", expected));
            }
            ModalityName::Text if !has_runs && self.protected.is_empty() => {
                let expected = "given, or runs of audits";
                return Err(FieldError::new("protected", "missing", expected));
            }
            ModalityName::Table => vec![
                (
                    "protected",
                    !self.protected.is_empty(),
                    "it is that of the runs",
                ),
                ("text", self.text.is_some(), "modality is table"),
            ],
            ModalityName::Text => vec![
                (
                    "protected",
                    has_runs && !self.protected.is_empty(),
                    "it is that of the runs",
                ),
                (
                    "out_of_domain",
                    self.out_of_domain.is_some(),
                    "modality is text",
                ),
                ("table", self.table.is_some(), "modality is text"),
                ("groups", self.groups.is_some(), "modality is text"),
            ],
        };
        if self.needs_gain() && self.repeats < 2 && !self.save_anyway {
            let expected = "2 or more, or save_anyway: a single network shows no gain over retraining without the samples";
            return Err(FieldError::new("repeats", self.repeats, expected));
        }
        let by_method = match self.method() {
            RepairMethod::Certified => vec![
                ("shares", !self.shares.is_empty()),
                ("label_rule", self.label_rule.is_some()),
                (
                    "table.weight",
                    self.table
                        .as_ref()
                        .is_some_and(|table| table.weight.is_some()),
                ),
            ],
            RepairMethod::Samples => vec![("certified", self.certified.is_some())],
        };
        if let Some(course) = &self.certified
            && course.full_by < course.warm_up
        {
            let expected = format!("at least certified.warm_up, which is {}", course.warm_up);
            return Err(FieldError::new(
                "certified.full_by",
                course.full_by,
                expected,
            ));
        }
        let why = match self.method() {
            RepairMethod::Certified if self.method.is_none() => {
                "it is about the samples that are learnt from, and texts are repaired by the method certified, which learns from none, unless method is samples"
            }
            RepairMethod::Certified => {
                "it is about the samples that are learnt from, and the method certified learns from none"
            }
            RepairMethod::Samples => "it is of the method certified",
        };
        let by_method = by_method
            .into_iter()
            .map(|(field, is_given)| (field, is_given, why));
        match left_out.into_iter().chain(by_method).find(|given| given.1) {
            Some((field, _, why)) => {
                Err(FieldError::new(field, "given", format!("left out: {why}")))
            }
            None => Ok(()),
        }
    }
}
