//! The model file of `probity spn`: the network with its state, and how tables are read for it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::table::TableOptions;
use super::{Spn, SpnError};
use probity_run::run_directory::{RunError, expect_one_name};
use probity_run::sealed::{Form, decode, encode, read_sealed, write_sealed};

/// The name of the model in its directory.
pub const MODEL: &str = "model.spn";

/// The form under which the file is sealed.
const FORM: Form = Form {
    kind: "sum-product network",
    version: "2",
};

/// The reason why a model cannot be stored or loaded.
#[derive(Debug, Error)]
pub enum SpnModelError {
    /// The file is not there, is another one, or was changed.
    #[error("{0}")]
    File(#[from] RunError),
    /// The content of the file is no network.
    #[error("{}: {error}", file.display())]
    Network {
        /// The file.
        file: PathBuf,
        /// The problem with the content.
        error: SpnError,
    },
}

/// A network with what is needed to read further tables for it.
#[derive(Debug)]
pub struct SpnModel {
    /// The network and its learning state.
    pub spn: Spn,
    /// The options by which the network's table was read.
    pub table: TableOptions,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    /// The table options as TOML: the description of columns is made for that.
    table: String,
    network: Vec<u8>,
}

impl SpnModel {
    /// Returns the bytes of the model: equal models have equal bytes.
    ///
    /// # Errors
    /// None for a model that could be learnt.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SpnError> {
        let refused = |problem: String| SpnError::Bytes { problem };
        let stored = Stored {
            table: toml::to_string(&self.table).map_err(|error| refused(error.to_string()))?,
            network: self.spn.to_bytes()?,
        };
        encode(&stored).map_err(refused)
    }

    /// Reads a model that [`SpnModel::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`SpnError::Bytes`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<SpnModel, SpnError> {
        let refused = |problem: String| SpnError::Bytes { problem };
        let stored: Stored = decode(bytes).map_err(refused)?;
        Ok(SpnModel {
            table: toml::from_str(&stored.table).map_err(|error| refused(error.to_string()))?,
            spn: Spn::from_bytes(&stored.network)?,
        })
    }

    /// Stores the model in `directory`, in place of the one that is there.
    ///
    /// # Errors
    /// When it cannot be written; the directory is then as it was.
    pub fn store(&self, directory: &Path) -> Result<(), SpnModelError> {
        let file = directory.join(MODEL);
        if file.exists() {
            expect_one_name(&file)?;
        }
        let bytes = self.to_bytes().map_err(|error| SpnModelError::Network {
            file: file.clone(),
            error,
        })?;
        Ok(write_sealed(&file, FORM, |writer| {
            writer.write_all(&bytes)
        })?)
    }

    /// Loads the model of `directory`.
    ///
    /// # Errors
    /// When there is none, or it was changed.
    pub fn load(directory: &Path) -> Result<SpnModel, SpnModelError> {
        let file = directory.join(MODEL);
        let bytes = read_sealed(&file, FORM)?;
        SpnModel::from_bytes(&bytes).map_err(|error| SpnModelError::Network { file, error })
    }
}
