//! Model directories: what a clustering and its later deletions need, and nothing of what was deleted.
//!
//! | file         | content                                                                 |
//! |--------------|-------------------------------------------------------------------------|
//! | `model.toml` | columns, declared bounds, options: nothing that the rows have a say in   |
//! | `model.bin`  | the remaining rows in fixed point, and the trace of the clustering       |
//!
//! A deletion replaces `model.bin` under a temporary name and renames it, so that a crash leaves the old or the new
//! model. Temporary files of earlier crashes hold rows that may have been deleted since; they are removed.
//! `model.bin` ends with the SHA-256 of both files. There is no log, and no hash of the data file: both would be
//! functions of deleted rows.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::dataset::Column;
use super::errors::KMeansError;
use super::model::{Algorithm, FitOptions, Model};
use probity_run::run_directory::{RunDirectory, RunError, TEMPORARY_PREFIX, write_with};

/// Name of the description.
pub const DESCRIPTION: &str = "model.toml";
/// Name of the file with rows and trace.
pub const MODEL: &str = "model.bin";
/// What `command` says in the description.
const COMMAND: &str = "kmeans fit";
const MAGIC: &[u8; 16] = b"probity kmeans 1";
const HASH_BYTES: usize = 32;

/// Why a model directory cannot be used.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// A file of it cannot be read or written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It is not a k-means model.
    #[error("{} is not the description of a k-means model: {problem}", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It is not what was written.
    #[error(
        "{} does not match its SHA-256: it or {DESCRIPTION} was changed or damaged; fit the model again, or restore both files",
        file.display()
    )]
    Tampered {
        /// The file.
        file: PathBuf,
    },
    /// Its content does not fit together.
    #[error("{}: {source}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: KMeansError,
    },
}

/// What `model.toml` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Always `kmeans fit`.
    pub command: String,
    /// The version that wrote it.
    pub probity_version: String,
    /// The algorithm with its options.
    pub algorithm: String,
    /// Number of clusters.
    pub clusters: usize,
    /// Iterations at most.
    pub iterations: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The label column, which is no feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The id column; ids are row numbers without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// The columns.
    #[serde(rename = "column")]
    pub columns: Vec<Column>,
}

impl Description {
    /// The description of a model with `options` over `columns`.
    pub fn new(
        options: &FitOptions,
        columns: Vec<Column>,
        label: Option<String>,
        id_column: Option<String>,
    ) -> Description {
        Description {
            command: COMMAND.to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            algorithm: describe(&options.algorithm),
            clusters: options.clusters,
            iterations: options.iterations,
            seed: options.seed,
            label,
            id_column,
            columns,
        }
    }
}

/// An algorithm with its options, in words.
pub fn describe(algorithm: &Algorithm) -> String {
    match algorithm {
        Algorithm::Lloyd => "lloyd".to_owned(),
        Algorithm::Quantized { epsilon, gamma } => {
            format!("quantized, epsilon {epsilon}, gamma {gamma}")
        }
        Algorithm::DivideConquer { tree } => format!("divide-conquer, tree {tree}"),
    }
}

/// A directory that holds a k-means model.
#[derive(Debug, Clone)]
pub struct ModelDirectory {
    path: PathBuf,
    description: Description,
    text: String,
}

impl ModelDirectory {
    /// Writes a new model into an empty directory.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(
        directory: &RunDirectory,
        description: Description,
        model: &Model,
    ) -> Result<ModelDirectory, DirectoryError> {
        let file = directory.file(DESCRIPTION);
        let text = toml::to_string(&description).map_err(|error| DirectoryError::Foreign {
            file: file.clone(),
            problem: error.to_string(),
        })?;
        let created = ModelDirectory {
            path: directory.path().to_owned(),
            description,
            text,
        };
        // The model first: without the other file it is no model directory yet.
        created.save(model)?;
        write_with(&file, |writer| {
            std::io::Write::write_all(writer, created.text.as_bytes())
        })?;
        Ok(created)
    }

    /// Opens the model in `path`.
    ///
    /// # Errors
    /// When there is none, or it was tampered with.
    pub fn open(path: &Path) -> Result<(ModelDirectory, Model), DirectoryError> {
        let file = path.join(DESCRIPTION);
        let text = fs::read_to_string(&file).map_err(|source| RunError::Read {
            file: file.clone(),
            source,
        })?;
        let description: Description =
            toml::from_str(&text).map_err(|error| DirectoryError::Foreign {
                file,
                problem: error.to_string(),
            })?;
        let directory = ModelDirectory {
            path: path.to_owned(),
            description,
            text,
        };
        let model = directory.load()?;
        Ok((directory, model))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What `model.toml` says.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Replaces the model, all at once, and removes what earlier crashes have left.
    ///
    /// # Errors
    /// When it cannot be written; the model that was there is then still there.
    pub fn save(&self, model: &Model) -> Result<(), DirectoryError> {
        let file = self.path.join(MODEL);
        let body = model.to_bytes();
        let hash = self.hash(&body);
        write_with(&file, |writer| {
            use std::io::Write;
            writer.write_all(MAGIC)?;
            writer.write_all(&body)?;
            writer.write_all(&hash)
        })?;
        self.remove_leftovers()
    }

    fn remove_leftovers(&self) -> Result<(), DirectoryError> {
        let failed = |file: &Path, source| RunError::Write {
            file: file.to_owned(),
            source,
        };
        for entry in fs::read_dir(&self.path).map_err(|source| failed(&self.path, source))? {
            let entry = entry.map_err(|source| failed(&self.path, source))?;
            if entry
                .file_name()
                .to_string_lossy()
                .starts_with(TEMPORARY_PREFIX)
            {
                fs::remove_file(entry.path()).map_err(|source| failed(&entry.path(), source))?;
            }
        }
        Ok(())
    }

    fn load(&self) -> Result<Model, DirectoryError> {
        let file = self.path.join(MODEL);
        let bytes = fs::read(&file).map_err(|source| RunError::Read {
            file: file.clone(),
            source,
        })?;
        let body = bytes
            .strip_prefix(MAGIC.as_slice())
            .and_then(|rest| rest.split_last_chunk::<HASH_BYTES>())
            .filter(|(body, hash)| self.hash(body) == **hash)
            .map(|(body, _)| body)
            .ok_or_else(|| DirectoryError::Tampered { file: file.clone() })?;
        let damaged = |source| DirectoryError::Content {
            file: file.clone(),
            source,
        };
        let model = Model::from_bytes(body).map_err(damaged)?;
        if model.columns() != self.description.columns.len() {
            return Err(damaged(KMeansError::Damaged {
                problem: "it has another number of columns than its description",
            }));
        }
        Ok(model)
    }

    fn hash(&self, body: &[u8]) -> [u8; HASH_BYTES] {
        let mut hasher = Sha256::new();
        hasher.update(self.text.as_bytes());
        hasher.update(body);
        hasher.finalize().into()
    }
}
