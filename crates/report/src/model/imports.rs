//! An import, as its summary says it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::figures::{DecidedAlike, Modality, ReadCounts};

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportFindings {
    /// What the model classifies.
    pub modality: Modality,
    /// The format of the weights, in words.
    pub format: String,
    /// The SHA-256 of the model.
    pub model_sha256: String,
    /// What all random inputs are decided, if they are all decided alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// How the network agrees with the original, where answers of that were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Agreement>,
    /// Numbers of the network.
    pub parameters: u64,
    /// Tensors of the file that are parts of the network, with their shapes.
    pub matched: Vec<(String, Vec<u64>)>,
    /// Tensors of the file that are not.
    pub unused: Vec<String>,
    /// The class that each output of a network for tables counts, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// What enters a network for tables for each attribute of words, bins or more than numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Tensors of heads that an encoder lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The class of Hugging Face, of a transformer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// The shape of a network for texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<ImportedNetwork>,
    /// The classes of a network for texts; none of an encoder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Pieces of a text that a transformer reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// The head of a masked language model, where an encoder has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<Value>,
    /// Whether a single output became two classes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single_output: bool,
    /// Words with a vector, of a recurrent network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
    /// The row of the table of vectors that stands for unknown words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_row: Option<u64>,
    /// The row that pads texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub padding_row: Option<u64>,
    /// Words that no text can contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable_words: Option<u64>,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreachable_examples: Vec<String>,
}

/// How an imported network agrees with the original.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Inputs that both answered.
    pub inputs: u64,
    /// Rows without an answer of the original, left out.
    #[serde(default)]
    pub rows_without_outcome: u64,
    /// Texts without a word, left out.
    #[serde(default)]
    pub blank: u64,
    /// What reading a table gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<ReadCounts>,
    /// The largest difference of a probability, or of a regressor's number, where the original gave these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_difference: Option<f64>,
}

/// The shape of a network for texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ImportedNetwork {
    /// A recurrent network.
    Recurrent {
        /// `lstm` or `gru`.
        cell: String,
        /// Length of a word's vector.
        inputs: u64,
        /// Units of a layer and direction.
        units: u64,
        /// Layers.
        layers: u64,
        /// Whether each layer also reads texts backwards.
        bidirectional: bool,
    },
    /// A transformer.
    Transformer {
        /// Pieces of the vocabulary.
        vocabulary: u64,
        /// Blocks.
        layers: u64,
        /// Heads of each block.
        heads: u64,
        /// Width of a state.
        units: u64,
    },
}
