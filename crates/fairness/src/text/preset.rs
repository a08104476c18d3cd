//! The rules by which texts are changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rules by which protected terms and other words of texts are replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Sentences stay English: values are exchanged throughout a text, by part of speech and
    /// sense; other words by neighbours that fit the sentence.
    #[default]
    English,
    /// As in the ADF paper: one occurrence of a term at a time, and any near neighbour of a word.
    Paper,
}
