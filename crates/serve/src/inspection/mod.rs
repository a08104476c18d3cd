//! Looks at what users sent, in a process of its own (`probity serve inspect`), so that a file made to exhaust memory or
//! time harms nothing but itself.
//!
//! The service writes an [`Inspection`] to a file, starts the process with that file, and reads the answer as JSON. An
//! error of the process is the user's: the file is not what it should be.

mod archive;
mod model;
mod sketch;

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::store::{DataKind, Layout};
use probity_data::infer::{InferError, InferOptions, infer};
use probity_data::read::ReadError;
use probity_data::schema::{Format, Schema, SchemaError};
use probity_data::table::{Labels, Table};
use probity_nn::model::StoreError;
use probity_run::run_directory::{RunError, write_atomically};

/// Whole numbers spread over more values than this get bins in a draft.
const MAX_INTEGER_SPAN: i64 = 200;
/// The most different words that a category may have in a draft.
const MAX_WORDS: usize = 100;

/// What is to be looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Inspection {
    /// Reads a file of data once; answers with a [`super::store::Sketch`].
    Data {
        /// The file.
        file: PathBuf,
        /// What it holds.
        kind: DataKind,
        /// Whether it holds a text on each line.
        is_lines: bool,
        /// How its text is laid out.
        layout: Layout,
        /// Rows at most.
        rows: u64,
        /// Bytes of a cell at most.
        cell_bytes: usize,
    },
    /// Drafts the schema of a table; answers with it.
    Draft {
        /// The file.
        file: PathBuf,
        /// How its text is laid out.
        layout: Layout,
        /// What the table is called.
        name: String,
        /// The column to predict.
        label: String,
        /// Protected columns.
        protected: Vec<String>,
        /// Columns to leave out.
        ignore: Vec<String>,
    },
    /// Reads a whole table by a schema; answers with nothing.
    Check {
        /// The file.
        file: PathBuf,
        /// The file of the schema.
        schema: PathBuf,
    },
    /// Unpacks a model from a .zip file into a directory and loads it; answers with a
    /// [`super::store::ModelDescription`].
    Unpack {
        /// The archive.
        archive: PathBuf,
        /// The directory, which is empty.
        directory: PathBuf,
        /// Bytes of all unpacked files at most.
        bytes: u64,
    },
    /// Loads the model in a directory; answers with a [`super::store::ModelDescription`].
    Model {
        /// The directory.
        directory: PathBuf,
    },
}

/// What is wrong with what a user sent.
#[derive(Debug, Error)]
pub enum InspectionError {
    /// The table or the texts cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No schema can be inferred.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// The schema is wrong.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The model cannot be loaded.
    #[error(transparent)]
    Model(#[from] StoreError),
    /// A file cannot be written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A file cannot be read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The operating system's word.
        source: std::io::Error,
    },
    /// The answer or the request has no JSON form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The archive is none.
    #[error("the file is no .zip archive that can be read: {0}")]
    Archive(#[from] zip::result::ZipError),
    /// Anything else.
    #[error("{0}")]
    Refused(String),
}

impl Inspection {
    /// Reads what is to be done from the file `request`.
    ///
    /// # Errors
    /// When it cannot be read or is of another form.
    pub fn read(request: &Path) -> Result<Inspection, InspectionError> {
        let mut text = String::new();
        std::fs::File::open(request)
            .and_then(|mut file| file.read_to_string(&mut text))
            .map_err(|source| InspectionError::Io {
                file: request.to_owned(),
                source,
            })?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Does it, and gives the answer.
    ///
    /// # Errors
    /// Whatever is wrong with what the user sent.
    pub fn run(&self) -> Result<serde_json::Value, InspectionError> {
        Ok(match self {
            Inspection::Data {
                file,
                kind,
                is_lines,
                layout,
                rows,
                cell_bytes,
            } => {
                let bounds = sketch::Bounds {
                    rows: *rows,
                    cell_bytes: *cell_bytes,
                };
                let sketch = match is_lines {
                    true => sketch::lines(file, &bounds)?,
                    false => sketch::table(file, *kind, layout, &bounds)?,
                };
                serde_json::to_value(sketch)?
            }
            Inspection::Draft {
                file,
                layout,
                name,
                label,
                protected,
                ignore,
            } => {
                let options = InferOptions {
                    format: format(layout),
                    label: label.clone(),
                    protected: protected.clone(),
                    ignore: ignore.clone(),
                    max_integer_span: MAX_INTEGER_SPAN,
                    max_words: MAX_WORDS,
                    name: name.clone(),
                };
                serde_json::to_value(infer(file, &options)?)?
            }
            Inspection::Check { file, schema } => {
                let text =
                    std::fs::read_to_string(schema).map_err(|source| InspectionError::Io {
                        file: schema.clone(),
                        source,
                    })?;
                Table::read(file, &Schema::from_toml(&text)?, Labels::Optional)?;
                serde_json::Value::Null
            }
            Inspection::Unpack {
                archive,
                directory,
                bytes,
            } => {
                archive::unpack(archive, directory, *bytes)?;
                model::forget_paths(directory)?;
                serde_json::to_value(model::describe(directory)?)?
            }
            Inspection::Model { directory } => serde_json::to_value(model::describe(directory)?)?,
        })
    }

    /// Writes it to `file`, for a process to read.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), InspectionError> {
        Ok(write_atomically(file, &serde_json::to_vec(self)?)?)
    }
}

/// The layout of a table as its readers take it.
fn format(layout: &Layout) -> Format {
    Format {
        separator: layout.separator,
        header: layout.columns.is_empty(),
        columns: layout.columns.clone(),
        ..Format::default()
    }
}
