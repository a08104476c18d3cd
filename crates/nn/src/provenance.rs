//! The provenance of a model: `provenance.toml` in its directory, where it was trained or repaired
//! here.
//!
//! The split of the inputs into parts depends on the options and the number of inputs alone, so
//! that it can be dealt again, and inputs that were held out are known as such afterwards. A
//! repaired model keeps the split of the model it was made from. The file names its model by
//! SHA-256: the provenance of another model beside it would deal other parts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::train::TrainSpecification;
use probity_data::source::Hashed;
use probity_run::run_directory::RunError;
use probity_run::sealed::{Form, read_text_hashed, write_text};

/// The name of the provenance file in a model directory.
pub const PROVENANCE: &str = "provenance.toml";

/// The form in which the file is sealed.
const FORM: Form = Form {
    kind: "provenance",
    version: "2",
};

/// The provenance of a network: what it was trained on, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The SHA-256 of the model.
    pub model_sha256: String,
    /// The SHA-256 of each file that was opened, by its role: `data`, `embeddings`.
    pub sha256: BTreeMap<String, String>,
    /// The specification of the training; its seed and shares deal the parts.
    pub specification: TrainSpecification,
}

impl Provenance {
    /// Reads how the model in `directory`, whose SHA-256 is given, was trained; `None` if it was
    /// imported, or the directory does not say.
    ///
    /// # Errors
    /// When the file cannot be read, was changed, is of another form, or belongs to another model.
    pub fn read(directory: &Path, model_sha256: &str) -> Result<Option<Provenance>, RunError> {
        let read = Provenance::read_hashed(directory, model_sha256)?;
        Ok(read.map(|hashed| hashed.value))
    }

    /// Reads the provenance with the SHA-256 of its file.
    ///
    /// # Errors
    /// See [`Provenance::read`].
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

    /// Writes the provenance into the model directory `directory`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), RunError> {
        let file = directory.join(PROVENANCE);
        let text = toml::to_string(self).map_err(|error| RunError::Foreign {
            file: file.clone(),
            problem: error.to_string(),
        })?;
        write_text(&file, FORM, &text)
    }

    /// The SHA-256 of the labelled inputs.
    pub fn data_sha256(&self) -> &str {
        self.sha256.get("data").map_or("", String::as_str)
    }
}
