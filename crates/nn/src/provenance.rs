//! How a model came about: `provenance.toml` of its directory, where it was trained or repaired
//! here.
//!
//! The split of the inputs into parts depends on the options and the number of inputs alone, so
//! that it can be dealt again, and inputs that were held out are known as such afterwards. A
//! repaired model keeps the split of the model it was made from.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::train::TrainSpecification;
use probity_run::run_directory::RunError;
use probity_run::sealed::{Form, read_text, write_text};

/// Name of its file in a model directory.
pub const PROVENANCE: &str = "provenance.toml";

/// What the file is sealed as.
const FORM: Form = Form {
    kind: "provenance",
    version: "1",
};

/// How a network was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// SHA-256 of what was opened, by its role: `data`, `embeddings`.
    pub sha256: BTreeMap<String, String>,
    /// What was asked for; its seed and shares deal the parts.
    pub specification: TrainSpecification,
}

impl Provenance {
    /// How the model in `directory` was trained; `None` if it was imported, or the directory does
    /// not say.
    ///
    /// # Errors
    /// When the file cannot be read, was changed, or is of another form.
    pub fn of(directory: &Path) -> Result<Option<Provenance>, RunError> {
        let file = directory.join(PROVENANCE);
        if !file.exists() {
            return Ok(None);
        }
        let text = read_text(&file, FORM)?;
        toml::from_str(&text)
            .map(Some)
            .map_err(|error| RunError::Foreign {
                file,
                problem: error.to_string(),
            })
    }

    /// Writes it into the model directory `directory`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), RunError> {
        let file = directory.join(PROVENANCE);
        let text = toml::to_string(self).map_err(|error| RunError::Foreign {
            file: file.clone(),
            problem: error.to_string(),
        })?;
        write_text(&file, FORM, &text)
    }

    /// SHA-256 of the labelled inputs.
    pub fn data_sha256(&self) -> &str {
        self.sha256.get("data").map_or("", String::as_str)
    }
}
