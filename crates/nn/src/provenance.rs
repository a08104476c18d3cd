//! How a model came about: `provenance.toml` of its directory, where it was trained or repaired
//! here.
//!
//! The split of the inputs into parts depends on the options and the number of inputs alone, so
//! that it can be dealt again, and inputs that were held out are known as such afterwards. A
//! repaired model keeps the split of the model it was made from. The file names its model by
//! SHA-256: that of another one beside it would deal other parts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::train::TrainSpecification;
use probity_data::source::Hashed;
use probity_run::run_directory::RunError;
use probity_run::sealed::{Form, read_text_hashed, write_text};

/// Name of its file in a model directory.
pub const PROVENANCE: &str = "provenance.toml";

/// What the file is sealed as.
const FORM: Form = Form {
    kind: "provenance",
    version: "2",
};

/// How a network was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// SHA-256 of the model that came about.
    pub model_sha256: String,
    /// SHA-256 of what was opened, by its role: `data`, `embeddings`.
    pub sha256: BTreeMap<String, String>,
    /// What was asked for; its seed and shares deal the parts.
    pub specification: TrainSpecification,
}

impl Provenance {
    /// How the model in `directory`, whose SHA-256 is given, was trained; `None` if it was
    /// imported, or the directory does not say.
    ///
    /// # Errors
    /// When the file cannot be read, was changed, is of another form, or belongs to another model.
    pub fn of(directory: &Path, model_sha256: &str) -> Result<Option<Provenance>, RunError> {
        let read = Provenance::read_hashed(directory, model_sha256)?;
        Ok(read.map(|hashed| hashed.value))
    }

    /// The same with the SHA-256 of the file.
    ///
    /// # Errors
    /// See [`Provenance::of`].
    pub fn read_hashed(
        directory: &Path,
        model_sha256: &str,
    ) -> Result<Option<Hashed<Provenance>>, RunError> {
        let file = directory.join(PROVENANCE);
        if !fs::exists(&file).unwrap_or(true) {
            return Ok(None);
        }
        let (text, sha256) = read_text_hashed(&file, FORM)?;
        let provenance: Provenance = toml::from_str(&text).map_err(|error| RunError::Foreign {
            file: file.clone(),
            problem: error.to_string(),
        })?;
        if provenance.model_sha256 != model_sha256 {
            return Err(RunError::OtherModel {
                file,
                of: provenance.model_sha256,
                beside: model_sha256.to_owned(),
            });
        }
        Ok(Some(Hashed {
            value: provenance,
            sha256,
        }))
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
