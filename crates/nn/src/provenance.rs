//! How a model directory came about: the options and the data of its training, where the directory says so.
//!
//! The split of the rows into parts depends on the options and the number of rows alone, so that it can be dealt again, and
//! rows that were held out are known as such afterwards. A repaired model keeps the split of the model it was made from.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::train_options::TrainOptions;
use super::training_run::TrainingRun;
use probity_run::run_directory::{RUN, RunDirectory, RunError};

/// How a network for tables was trained.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Provenance {
    /// Data file.
    pub data: PathBuf,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Options of the training; its seed and shares deal the parts.
    #[serde(rename = "training")]
    pub options: TrainOptions,
}

impl Provenance {
    /// How the model in `directory` was trained; `None` if it was imported, or the directory does not say.
    ///
    /// # Errors
    /// When its `run.toml` cannot be read or is of another form.
    pub fn of(directory: &Path) -> Result<Option<Provenance>, RunError> {
        if !directory.join(RUN).is_file() {
            return Ok(None);
        }
        let run = RunDirectory::open(directory)?;
        let written: toml::Table = run.read_toml(RUN)?;
        match written.get("command").and_then(toml::Value::as_str) {
            Some("train") => {
                let training: TrainingRun = run.read_toml(RUN)?;
                Ok(Some(Provenance {
                    data: training.data,
                    data_sha256: training.data_sha256,
                    options: training.options,
                }))
            }
            Some("repair") => Ok(Some(run.read_toml(RUN)?)),
            _ => Ok(None),
        }
    }
}
