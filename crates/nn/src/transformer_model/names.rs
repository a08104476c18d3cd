//! The networks of Hugging Face that are read, and how each names its tensors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transformer::shape::{HeadActivation, Shape};

/// A kind of network of Hugging Face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// BERT
    Bert,
    /// DistilBERT
    Distilbert,
    /// RoBERTa
    Roberta,
    /// XLM-RoBERTa
    XlmRoberta,
}

impl Family {
    const ALL: [Family; 4] = [
        Family::Bert,
        Family::Distilbert,
        Family::Roberta,
        Family::XlmRoberta,
    ];

    /// The network that `architectures` of a configuration names, and whether it is read as an
    /// encoder. Of a masked language model, which is what most encoders are published as, the head
    /// is not read.
    pub(super) fn of_architecture(name: &str) -> Option<(Family, bool)> {
        Family::ALL.into_iter().find_map(|family| {
            let rest = name.strip_prefix(family.class())?;
            match rest {
                "ForSequenceClassification" => Some((family, false)),
                "Model" | "ForMaskedLM" => Some((family, true)),
                _ => None,
            }
        })
    }

    /// The network whose configurations call it `name`.
    pub(super) fn of_model_type(name: &str) -> Option<Family> {
        let mut all = Family::ALL.into_iter();
        all.find(|family| family.model_type() == name)
    }

    /// All names that [`Family::of_architecture`] knows.
    pub(super) fn architectures() -> String {
        let names = Family::ALL.map(|family| {
            let class = family.class();
            format!("{class}ForSequenceClassification, {class}Model, {class}ForMaskedLM")
        });
        names.join(", ")
    }

    /// What the names of its classes begin with.
    pub(super) fn class(self) -> &'static str {
        match self {
            Family::Bert => "Bert",
            Family::Distilbert => "DistilBert",
            Family::Roberta => "Roberta",
            Family::XlmRoberta => "XLMRoberta",
        }
    }

    /// `model_type` of its configurations.
    pub(super) fn model_type(self) -> &'static str {
        match self {
            Family::Bert => "bert",
            Family::Distilbert => "distilbert",
            Family::Roberta => "roberta",
            Family::XlmRoberta => "xlm-roberta",
        }
    }

    /// What the tensors of its encoder begin with in a classifier.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Family::Bert => "bert.",
            Family::Distilbert => "distilbert.",
            Family::Roberta | Family::XlmRoberta => "roberta.",
        }
    }

    /// The activation of the hidden layer of its classifiers.
    pub(super) fn head(self) -> HeadActivation {
        match self {
            Family::Distilbert => HeadActivation::Relu,
            _ => HeadActivation::Tanh,
        }
    }

    /// Whether positions are counted from behind the number of its padding.
    pub(super) fn skips_padding(self) -> bool {
        matches!(self, Family::Roberta | Family::XlmRoberta)
    }

    /// The number of the piece that fills texts up in a network of `shape`.
    pub(super) fn padding(self, shape: &Shape) -> usize {
        match self.skips_padding() {
            true => shape.first_position.saturating_sub(1),
            false => 0,
        }
    }

    /// The name of the tensor `name` of [`crate::transformer::shape::Shape::tensors`] in a file
    /// whose encoder's tensors begin with `prefix`.
    pub(super) fn tensor(self, name: &str, prefix: &str) -> String {
        let (part, kind) = name.rsplit_once('.').unwrap_or((name, ""));
        let table = match name {
            "embeddings.words" => Some("word_embeddings"),
            "embeddings.positions" => Some("position_embeddings"),
            "embeddings.segments" => Some("token_type_embeddings"),
            _ => None,
        };
        if let Some(table) = table {
            return format!("{prefix}embeddings.{table}.weight");
        }
        if let Some((number, part)) = part
            .strip_prefix("layers.")
            .and_then(|rest| rest.split_once('.'))
        {
            return format!("{prefix}{}.{kind}", self.in_block(number, part));
        }
        match (part, self) {
            ("embeddings.norm", _) => format!("{prefix}embeddings.LayerNorm.{kind}"),
            ("dense", Family::Bert) => format!("{prefix}pooler.dense.{kind}"),
            ("dense", Family::Distilbert) => format!("pre_classifier.{kind}"),
            ("dense", _) => format!("classifier.dense.{kind}"),
            (_, Family::Roberta | Family::XlmRoberta) => format!("classifier.out_proj.{kind}"),
            _ => format!("classifier.{kind}"),
        }
    }

    fn in_block(self, number: &str, part: &str) -> String {
        let distilled = self == Family::Distilbert;
        let name = match (part, distilled) {
            ("query", false) => "attention.self.query",
            ("key", false) => "attention.self.key",
            ("value", false) => "attention.self.value",
            ("attention", false) => "attention.output.dense",
            ("attention_norm", false) => "attention.output.LayerNorm",
            ("inner", false) => "intermediate.dense",
            ("outer", false) => "output.dense",
            (_, false) => "output.LayerNorm",
            ("query", true) => "attention.q_lin",
            ("key", true) => "attention.k_lin",
            ("value", true) => "attention.v_lin",
            ("attention", true) => "attention.out_lin",
            ("attention_norm", true) => "sa_layer_norm",
            ("inner", true) => "ffn.lin1",
            ("outer", true) => "ffn.lin2",
            (_, true) => "output_layer_norm",
        };
        match distilled {
            true => format!("transformer.layer.{number}.{name}"),
            false => format!("encoder.layer.{number}.{name}"),
        }
    }
}
