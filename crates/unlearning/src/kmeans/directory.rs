//! Model directories: they hold what a clustering and its later deletions need, and nothing of what
//! was deleted.
//!
//! | file         | content                                                                 |
//! |--------------|-------------------------------------------------------------------------|
//! | `model.toml` | columns, declared bounds, options: nothing that the rows have a say in   |
//! | `model.bin`  | the remaining rows in fixed point, and the trace of the clustering       |
//!
//! `model.bin` is a [sealed](probity_run::sealed), which a deletion replaces at once. It repeats
//! `model.toml`, so that its hash is one of both files. There is no log, and no hash of the data
//! file: both would be functions of deleted rows.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::dataset::Column;
use super::errors::KMeansError;
use super::model::{Algorithm, KMeans, Model};
use probity_run::run_directory::{RunDirectory, RunError, expect_one_name, write_atomically};
use probity_run::sealed::{Form, decode, encode, read_sealed, write_sealed};

/// The name of the description.
pub const DESCRIPTION: &str = "model.toml";
/// The name of the file with rows and trace.
pub const MODEL: &str = "model.bin";
/// The value of `command` in the description.
const COMMAND: &str = "kmeans fit";
/// The form under which the model file is sealed.
const FORM: Form = Form {
    kind: "k-means model",
    version: "2",
};

/// The reason why a model directory cannot be used.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// A file of the directory cannot be read or written, is another one, or was changed.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The directory is not that of a k-means model.
    #[error("{} is not the description of a k-means model: {problem}", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// The problem with the file.
        problem: String,
    },
    /// The two files of the directory are not of one model.
    #[error(
        "{} is not the description that {MODEL} was written with; restore it, or fit the model again",
        file.display()
    )]
    OtherDescription {
        /// The description.
        file: PathBuf,
    },
    /// The content of the model does not fit together.
    #[error("{}: {source}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// The problem with the content.
        source: KMeansError,
    },
}

/// The contents of `model.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The command that made the model, always `kmeans fit`.
    pub command: String,
    /// The version of Probity that wrote the description.
    pub probity_version: String,
    /// The algorithm with its options.
    pub algorithm: String,
    /// The number of clusters.
    pub clusters: usize,
    /// The largest number of iterations.
    pub iterations: usize,
    /// The number of clusterings from other seeds, of which the best one is kept.
    pub restarts: usize,
    /// The seed of all random numbers.
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
    /// Creates the description of a model with `options` over `columns`.
    pub fn new(
        options: &KMeans,
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
            restarts: options.restarts,
            seed: options.seed,
            label,
            id_column,
            columns,
        }
    }
}

/// Describes an algorithm with its options, in words.
pub fn describe(algorithm: &Algorithm) -> String {
    match algorithm {
        Algorithm::Lloyd => "lloyd".to_owned(),
        Algorithm::Quantized { epsilon, gamma } => {
            format!("quantized, epsilon {epsilon}, gamma {gamma}")
        }
        Algorithm::DivideConquer { tree } => format!("divide-conquer, tree {tree}"),
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    /// The description as it is in the other file.
    description: String,
    model: Vec<u8>,
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
        write_atomically(&file, created.text.as_bytes())?;
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

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the contents of `model.toml`.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Replaces the model, all at once, and removes what earlier crashes have left.
    ///
    /// # Errors
    /// When it cannot be written; the model that was there is then still there.
    pub fn save(&self, model: &Model) -> Result<(), DirectoryError> {
        let file = self.path.join(MODEL);
        if file.exists() {
            expect_one_name(&file)?;
        }
        let stored = |model| {
            let description = self.text.clone();
            encode(&Stored { description, model }).map_err(|problem| KMeansError::Bytes { problem })
        };
        match model.to_bytes().and_then(stored) {
            Ok(bytes) => Ok(write_sealed(&file, FORM, |writer| {
                writer.write_all(&bytes)
            })?),
            Err(source) => Err(DirectoryError::Content { file, source }),
        }
    }

    fn load(&self) -> Result<Model, DirectoryError> {
        let file = self.path.join(MODEL);
        let bytes = read_sealed(&file, FORM)?;
        let damaged = |source| DirectoryError::Content {
            file: file.clone(),
            source,
        };
        let stored: Stored =
            decode(&bytes).map_err(|problem| damaged(KMeansError::Bytes { problem }))?;
        if stored.description != self.text {
            return Err(DirectoryError::OtherDescription {
                file: self.path.join(DESCRIPTION),
            });
        }
        let model = Model::from_bytes(&stored.model).map_err(damaged)?;
        if model.columns() != self.description.columns.len() {
            return Err(damaged(KMeansError::Damaged {
                problem: "it has another number of columns than its description",
            }));
        }
        Ok(model)
    }
}
