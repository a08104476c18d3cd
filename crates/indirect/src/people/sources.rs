//! What names people and the decisions about them.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use probity_data::schema::OutOfDomain;
use probity_fairness::specification::rules::{named_once, needed};
use probity_fairness::specification::{DecisionSpecification, PredictorSpecification};
use probity_nn::modality::ModalityName;
use probity_run::specification::FieldError;

/// The weight of an attribute in distances, such as `age=2`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Weight {
    /// The attribute.
    pub attribute: String,
    /// The weight; 0 leaves the attribute out.
    pub weight: f64,
}

impl TryFrom<String> for Weight {
    type Error = String;

    fn try_from(text: String) -> Result<Weight, String> {
        let parts = text.rsplit_once('=').and_then(|(attribute, weight)| {
            let weight: f64 = weight.trim().parse().ok()?;
            let attribute = attribute.trim().to_owned();
            Some(Weight { attribute, weight })
        });
        parts
            .filter(|it| (0.0..=1e6).contains(&it.weight) && !it.attribute.is_empty())
            .ok_or_else(|| "an attribute and a number from 0 to 1000000, such as age=2".to_owned())
    }
}

impl From<Weight> for String {
    fn from(weight: Weight) -> String {
        format!("{}={}", weight.attribute, weight.weight)
    }
}

/// Where the counterparts of people come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CounterpartSource {
    /// From the people on the other side, who are matched with those of the group.
    #[default]
    Matched,
    /// From a density that is learnt from the people on the other side, and of which somebody with the
    /// same unaffected attributes is drawn.
    Density,
}

/// Whoever others are looked for around.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Centre {
    /// The person.
    #[default]
    Person,
    /// A counterpart on the other side, drawn from a density that is learnt from the people there.
    Density,
}

/// The inputs that name people and what is decided about them; a specification holds them field by
/// field.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The model directory; empty where there is none.
    pub model: &'a Path,
    /// What only answers, in place of a model directory.
    pub predictor: &'a PredictorSpecification,
    /// Whether the outcomes in the data are looked at, in place of a model's decisions.
    pub label: bool,
    /// The table of the people.
    pub data: &'a Path,
    /// The schema of the people; by default that of the model.
    pub schema: Option<&'a str>,
    /// The policy for values outside their domains.
    pub out_of_domain: Option<OutOfDomain>,
    /// Whether rows with which something is wrong are left out.
    pub skip_bad_rows: bool,
    /// The decision rule.
    pub decision: &'a DecisionSpecification,
    /// By how much scores or numbers must differ to be told apart, where they are compared in place of
    /// decisions.
    pub gap: Option<f64>,
    /// The class that is good to get, or whether lower or higher numbers are.
    pub favourable: Option<&'a str>,
    /// The protected attributes, or values of them.
    pub protected: &'a [String],
    /// The groups with which those of a protected attribute are compared, in place of everybody else.
    pub reference: &'a [String],
    /// The weights of attributes.
    pub weights: &'a [Weight],
}

impl Sources<'_> {
    /// Checks the rules between the fields.
    ///
    /// # Errors
    /// The first field that contradicts another.
    pub fn rules(&self) -> Result<(), FieldError> {
        let has_model = !self.model.as_os_str().is_empty();
        let has_predictor = self.predictor.source.is_some();
        self.predictor.rules(has_model, ModalityName::Table)?;
        if self.label && (has_model || has_predictor) {
            let field = if has_model { "model" } else { "predictor" };
            let expected = "left out: with label the outcomes in the data are looked at";
            return Err(FieldError::new(field, "given", expected));
        }
        if self.label && *self.decision != DecisionSpecification::default() {
            let expected = "left out: it has no meaning for the outcomes in the data";
            return Err(FieldError::new("decision", "given", expected));
        }
        if !self.label && !has_model && !has_predictor {
            let expected = "given, or a predictor; or label, for the outcomes in the data";
            return Err(FieldError::new("model", "missing", expected));
        }
        if self.label && self.schema.is_none() {
            let expected = "given where there is no model";
            return Err(FieldError::new("schema", "missing", expected));
        }
        needed("data", self.data)?;
        self.decision.alone().rules()?;
        named_once("protected", self.protected)?;
        named_once("reference", self.reference)?;
        let weighted: Vec<String> = self.weights.iter().map(|it| it.attribute.clone()).collect();
        named_once("weights", &weighted)
    }
}
