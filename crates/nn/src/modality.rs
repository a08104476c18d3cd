//! The modality of a model: whether it classifies rows of a table, or texts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a model classifies, as files and specifications say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModalityName {
    /// Rows of a table
    #[default]
    Table,
    /// Texts
    Text,
}

impl ModalityName {
    /// The name of the modality in files and specifications.
    pub fn name(self) -> &'static str {
        match self {
            ModalityName::Table => "table",
            ModalityName::Text => "text",
        }
    }
}

impl std::fmt::Display for ModalityName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
