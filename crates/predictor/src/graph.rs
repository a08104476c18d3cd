//! The use of an ONNX graph: its inputs, and the meaning of its outputs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How words become numbers for an ONNX graph.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Categories {
    /// Position among the levels, from 0; levels that are all numbers as these, words for true and
    /// false as 1 and 0
    #[default]
    Codes,
    /// One column of 0 or 1 a level; ordered categories as by codes
    Onehot,
}

/// What an ONNX graph gives.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// Probabilities, or that of the second of two classes
    #[default]
    Probabilities,
    /// Logits, or the log-odds of the second of two classes
    Logits,
}

/// Options for the use of an ONNX graph.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GraphOptions {
    /// The way in which words become numbers.
    pub categories: Categories,
    /// The output that is read; where absent, the only one of floating-point numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The kind of numbers that the output holds.
    pub gives: OutputKind,
}

/// Options for the use of an ONNX graph of texts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct TextGraph {
    /// The `tokenizer.json` of the graph; where absent, the one beside the graph. The name of the
    /// file has no influence.
    #[serde(skip)]
    pub tokenizer: Option<PathBuf>,
    /// The output that is read; where absent, `logits`, or the only one of floating-point numbers.
    pub output: Option<String>,
    /// The kind of numbers that the output holds; where absent, logits.
    pub gives: Option<OutputKind>,
}

/// Returns the error of a build that cannot run the graph in `file`.
#[cfg(not(feature = "onnx"))]
pub(crate) fn no_onnx(file: &std::path::Path) -> crate::error::PredictorError {
    crate::error::PredictorError::Graph {
        file: file.display().to_string(),
        problem: "this build has no ONNX; build it with --features onnx".to_owned(),
    }
}
