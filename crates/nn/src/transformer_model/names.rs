//! The networks of Hugging Face that are read, and how each names its tensors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transformer::shape::{HeadActivation, InnerActivation, Shape};

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

/// The kind of network that a class of Hugging Face is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A classifier.
    Classifier,
    /// An encoder.
    Encoder,
    /// An encoder with the head of a masked language model, which is what most are published as.
    Masked,
}

impl Kind {
    /// Returns the end of the names of such classes.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Kind::Classifier => "ForSequenceClassification",
            Kind::Encoder => "Model",
            Kind::Masked => "ForMaskedLM",
        }
    }
}

impl Family {
    const ALL: [Family; 4] = [
        Family::Bert,
        Family::Distilbert,
        Family::Roberta,
        Family::XlmRoberta,
    ];

    /// Returns the network that `architectures` of a configuration names, and the kind that it is
    /// read as.
    pub(super) fn of_architecture(name: &str) -> Option<(Family, Kind)> {
        Family::ALL.into_iter().find_map(|family| {
            let rest = name.strip_prefix(family.class())?;
            let mut kinds = [Kind::Classifier, Kind::Encoder, Kind::Masked].into_iter();
            let kind = kinds.find(|kind| kind.suffix() == rest)?;
            Some((family, kind))
        })
    }

    /// Returns the network whose configurations call it `name`.
    pub(super) fn of_model_type(name: &str) -> Option<Family> {
        let mut all = Family::ALL.into_iter();
        all.find(|family| family.model_type() == name)
    }

    /// Lists all names that [`Family::of_architecture`] knows.
    pub(super) fn architectures() -> String {
        let names = Family::ALL.map(|family| {
            let class = family.class();
            format!("{class}ForSequenceClassification, {class}Model, {class}ForMaskedLM")
        });
        names.join(", ")
    }

    /// Returns the beginning of the names of the family's classes.
    pub(super) fn class(self) -> &'static str {
        match self {
            Family::Bert => "Bert",
            Family::Distilbert => "DistilBert",
            Family::Roberta => "Roberta",
            Family::XlmRoberta => "XLMRoberta",
        }
    }

    /// Returns the `model_type` of the family's configurations.
    pub(super) fn model_type(self) -> &'static str {
        match self {
            Family::Bert => "bert",
            Family::Distilbert => "distilbert",
            Family::Roberta => "roberta",
            Family::XlmRoberta => "xlm-roberta",
        }
    }

    /// Returns the beginning of the names of the encoder's tensors in a classifier of the family.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Family::Bert => "bert.",
            Family::Distilbert => "distilbert.",
            Family::Roberta | Family::XlmRoberta => "roberta.",
        }
    }

    /// Returns the activation of the hidden layer of the family's classifiers.
    pub(super) fn head(self) -> HeadActivation {
        match self {
            Family::Distilbert => HeadActivation::Relu,
            _ => HeadActivation::Tanh,
        }
    }

    /// Returns the activation of the hidden layer of the head of the family's masked language
    /// models, where the encoder has `inner`.
    pub(super) fn masked(self, inner: InnerActivation) -> InnerActivation {
        match self {
            Family::Bert | Family::Distilbert => inner,
            Family::Roberta | Family::XlmRoberta => InnerActivation::Gelu,
        }
    }

    /// Returns the piece that masks another, where the settings of the tokenizer name none.
    pub(super) fn mask(self) -> &'static str {
        match self {
            Family::Bert | Family::Distilbert => "[MASK]",
            Family::Roberta | Family::XlmRoberta => "<mask>",
        }
    }

    /// Returns another name of the bias over the vocabulary, which a head may have in place of its
    /// own or beside it.
    pub(super) fn tied_bias(self) -> Option<&'static str> {
        match self {
            Family::Bert => Some("cls.predictions.bias"),
            Family::Distilbert => None,
            Family::Roberta | Family::XlmRoberta => Some("lm_head.bias"),
        }
    }

    /// Whether positions are counted from behind the number of the padding.
    pub(super) fn skips_padding(self) -> bool {
        matches!(self, Family::Roberta | Family::XlmRoberta)
    }

    /// Returns the number of the piece that fills texts up in a network of `shape`.
    pub(super) fn padding(self, shape: &Shape) -> usize {
        match self.skips_padding() {
            true => shape.first_position.saturating_sub(1),
            false => 0,
        }
    }

    /// Returns the name of the tensor `name` of [`crate::transformer::shape::Shape::tensors`], or
    /// of [`crate::transformer::masked::MaskedHead::tensors`], in a file whose encoder's tensors
    /// begin with `prefix`.
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
        if let Some(part) = part.strip_prefix("masked.") {
            return format!("{}.{kind}", self.in_masked_head(part));
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

    fn in_masked_head(self, part: &str) -> &'static str {
        match (self, part) {
            (Family::Bert, "dense") => "cls.predictions.transform.dense",
            (Family::Bert, "norm") => "cls.predictions.transform.LayerNorm",
            (Family::Bert, _) => "cls.predictions.decoder",
            (Family::Distilbert, "dense") => "vocab_transform",
            (Family::Distilbert, "norm") => "vocab_layer_norm",
            (Family::Distilbert, _) => "vocab_projector",
            (_, "dense") => "lm_head.dense",
            (_, "norm") => "lm_head.layer_norm",
            _ => "lm_head.decoder",
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
