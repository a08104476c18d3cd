//! Looks at what users sent, in a process of its own (`probity serve inspect`), so that a file made
//! to exhaust memory or time harms nothing but itself.
//!
//! The service writes an [`Inspection`] to a file, starts the process with that file, and reads the
//! answer as JSON. An error of the process is the user's: the file is not what it should be.

mod archive;
mod error;
mod model;
mod sketch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::error::InspectionError;
use crate::operations::schema::DraftRequest;
use crate::store::{DataKind, Layout};
use probity_data::infer::{InferOptions, Note, infer};
use probity_data::schema::Schema;
use probity_data::table::{Labels, Table};
use probity_report::pair_changes;
use probity_run::run_directory::write_atomically;

/// A request to look at what a user sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Inspection {
    /// Reads a file of data once; answers with a [`super::store::Sketch`].
    Data {
        /// The file.
        file: PathBuf,
        /// The kind of the file's content.
        kind: DataKind,
        /// Whether the file holds a text on each line.
        is_lines: bool,
        /// The layout of the file's text.
        layout: Layout,
        /// Whether the process finds out which character separates the fields of a table.
        finds_separator: bool,
        /// The greatest number of bytes, unpacked.
        bytes: u64,
        /// The greatest number of rows.
        rows: u64,
        /// The greatest number of bytes of a cell.
        cell_bytes: usize,
    },
    /// Drafts the schema of a table; answers with a [`Drafted`].
    Draft {
        /// The file.
        file: PathBuf,
        /// The layout of the file's text.
        layout: Layout,
        /// The name of the table.
        name: String,
        /// The user's request for the draft.
        request: DraftRequest,
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
        /// The greatest number of bytes of all unpacked files.
        bytes: u64,
    },
    /// Loads the model in a directory; answers with a [`super::store::ModelDescription`].
    Model {
        /// The directory.
        directory: PathBuf,
    },
    /// Compares the samples of two audits; answers with [`probity_report::PairChanges`], or with
    /// nothing where they are about different columns.
    Pairs {
        /// The samples of the earlier audit.
        before: PathBuf,
        /// The samples of the later audit.
        after: PathBuf,
    },
}

/// The draft of a table's schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drafted {
    /// The schema.
    pub schema: Schema,
    /// The reasons why columns are left out that nobody said to leave out, by their names.
    pub left_out: BTreeMap<String, String>,
}

impl Inspection {
    /// Reads an inspection from the file `request`.
    ///
    /// # Errors
    /// When the file cannot be read or has another form.
    pub fn read(request: &Path) -> Result<Inspection, InspectionError> {
        Ok(serde_json::from_str(&text(request)?)?)
    }

    /// Does the inspection, and returns the answer.
    ///
    /// # Errors
    /// The error in what the user sent.
    pub fn run(&self) -> Result<serde_json::Value, InspectionError> {
        Ok(match self {
            Inspection::Data {
                file,
                kind,
                is_lines,
                layout,
                finds_separator,
                bytes,
                rows,
                cell_bytes,
            } => {
                let bounds = sketch::Bounds {
                    bytes: *bytes,
                    rows: *rows,
                    cell_bytes: *cell_bytes,
                };
                let sketch = match is_lines {
                    true => sketch::lines(file, &bounds)?,
                    false => sketch::table(file, *kind, (layout, *finds_separator), &bounds)?,
                };
                serde_json::to_value(sketch)?
            }
            Inspection::Draft {
                file,
                layout,
                name,
                request,
            } => {
                let mut options = InferOptions::default();
                options.format = layout.format();
                options.finds_separator = false;
                options.label = request.label.clone();
                options.protected = request.protected.clone();
                options.ignore = request.ignore.clone();
                options.missing = request.missing.clone();
                options.level = request.level.clone();
                options.merge = request.merge.clone();
                options.favourable = request.favourable.clone();
                options.format.decimal = request.decimal;
                options.format.thousands = request.thousands;
                options.label_threshold = request.label_threshold;
                options.number = request.number;
                if let Some(words) = request.max_words {
                    options.max_words = words.get() as usize;
                }
                options.name = name.clone();
                let draft = infer(file, &options)?;
                let why = |note: &Note| Some((note.column.clone(), note.left_out()?.to_owned()));
                serde_json::to_value(Drafted {
                    left_out: draft.notes.iter().filter_map(why).collect(),
                    schema: draft.schema,
                })?
            }
            Inspection::Check { file, schema } => {
                Table::read(file, &Schema::from_toml(&text(schema)?)?, Labels::Optional)?;
                serde_json::Value::Null
            }
            Inspection::Unpack {
                archive,
                directory,
                bytes,
            } => {
                archive::unpack(archive, directory, *bytes)?;
                let mut found = model::describe(directory)?;
                found.is_training_known = model::forget_paths(directory, &found.sha256)?;
                serde_json::to_value(found)?
            }
            Inspection::Model { directory } => serde_json::to_value(model::describe(directory)?)?,
            Inspection::Pairs { before, after } => {
                serde_json::to_value(pair_changes(before, after)?)?
            }
        })
    }

    /// Writes the inspection to `file`, for a process to read.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), InspectionError> {
        Ok(write_atomically(file, &serde_json::to_vec(self)?)?)
    }
}

fn text(file: &Path) -> Result<String, InspectionError> {
    std::fs::read_to_string(file).map_err(|source| InspectionError::Io {
        file: file.to_owned(),
        source,
    })
}
