//! A specification in a file: `run.toml` of a run directory, or one written by hand.
//!
//! ```toml
//! kind = "audit"
//! version = 1
//! model = "models/census"
//! # … the fields of the specification
//!
//! [record]          # only in a run directory: what was opened, and on what it ran
//! probity_version = "0.1.0"
//! device = "flex"
//! changed = ["model", "search.seeds"]
//!
//! [record.sha256]
//! model = "…"
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::Specification;
use super::canonical::json_of;
use super::dotted;
use super::fields::{FieldError, changed_of};
use super::parse::parse;
use crate::error::RunError;
use crate::names::RUN;
use crate::pause::{self, Point};
use crate::pipe::expect_rereadable;
use crate::run_directory::RunDirectory;

/// The reason why a specification cannot be read from a file.
#[derive(Debug, Error)]
pub enum SpecificationError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is no TOML, or says what no specification of its kind says.
    #[error("{}: {problem}", file.display())]
    Form {
        /// The file.
        file: PathBuf,
        /// The problem, and its place.
        problem: String,
    },
    /// The file is of another kind.
    #[error("{} specifies a run of the kind '{found}', not '{expected}'", file.display())]
    Kind {
        /// The file.
        file: PathBuf,
        /// The kind of the file.
        found: String,
        /// The kind that is needed.
        expected: &'static str,
    },
    /// The file is of another version.
    #[error(
        "{} is of version {found} of the kind '{kind}'; this build of probity knows version {known}",
        file.display()
    )]
    Version {
        /// The file.
        file: PathBuf,
        /// The kind of the file.
        kind: &'static str,
        /// The version of the file.
        found: String,
        /// The version of this build.
        known: u32,
    },
    /// A field has no such value, is out of bounds, or contradicts another.
    #[error("{}: {source}", file.display())]
    Field {
        /// The file.
        file: PathBuf,
        /// The field.
        source: FieldError,
    },
    /// The run directory cannot be read or written.
    #[error("{0}")]
    Run(#[from] RunError),
}

/// What a run opened, and on what it ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Version of Probity that began the run.
    pub probity_version: String,
    /// Device that computed, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// What that device calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<String>,
    /// The fields that were not as their defaults when the run was written, which whoever reads the
    /// file without knowing its type cannot tell; [`RunDirectory::write_run`] fills them in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// SHA-256 of what was opened, by its role: `model`, `data`, `lexicon`, `audit_1`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sha256: BTreeMap<String, String>,
}

impl Record {
    /// Creates the record of a run by this version that has opened nothing yet.
    pub fn new() -> Record {
        Record {
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Record::default()
        }
    }

    /// Adds that `role` was opened and has the hash `sha256`.
    #[must_use]
    pub fn opened(mut self, role: &str, sha256: impl Into<String>) -> Record {
        self.sha256.insert(role.to_owned(), sha256.into());
        self
    }

    /// Returns the first difference between this record and `now`, of something that was opened
    /// otherwise, or not at all, in one of them: its role, its hash now and its hash then.
    pub fn changed_since<'r>(&'r self, now: &'r BTreeMap<String, String>) -> Option<Changed<'r>> {
        let mut roles = now.keys().chain(self.sha256.keys());
        let of = |opened: &'r BTreeMap<String, String>, role: &str| {
            opened.get(role).map_or("none", String::as_str)
        };
        roles.find_map(|role| {
            let (now, then) = (of(now, role), of(&self.sha256, role));
            (now != then).then_some(Changed { role, now, then })
        })
    }

    /// Returns the hash of what was opened as `role`; empty where nothing was.
    pub fn sha256_of(&self, role: &str) -> &str {
        self.sha256.get(role).map_or("", String::as_str)
    }
}

/// Something that two records differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed<'r> {
    /// The role in which it was opened.
    pub role: &'r str,
    /// The hash now; `none` where there is nothing.
    pub now: &'r str,
    /// The hash then; `none` where there is nothing.
    pub then: &'r str,
}

#[derive(Serialize)]
struct Written<'a, S> {
    kind: &'static str,
    version: u32,
    #[serde(flatten)]
    specification: &'a S,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a Record>,
}

/// Returns `specification` as TOML, with the `record` of its run if there is one.
///
/// # Errors
/// When a value has no form in TOML (whole numbers above 2^63).
pub fn to_toml<S: Specification>(
    specification: &S,
    record: Option<&Record>,
) -> Result<String, toml::ser::Error> {
    toml::to_string(&Written {
        kind: S::KIND,
        version: S::VERSION,
        specification,
        record,
    })
}

/// Returns the text of `file`, a `run.toml`, with `specification` and the `record` of its run.
///
/// # Errors
/// When a value has no form in TOML.
pub(crate) fn to_run_toml<S: Specification>(
    specification: &S,
    record: &Record,
    file: &Path,
) -> Result<String, SpecificationError> {
    let record = Record {
        changed: changed_of(specification),
        ..record.clone()
    };
    to_toml(specification, Some(&record)).map_err(|error| SpecificationError::Form {
        file: file.to_owned(),
        problem: error.to_string(),
    })
}

/// Returns the kind of the specification in `file`.
///
/// # Errors
/// When it cannot be read or names no kind.
pub fn kind_of(file: &Path) -> Result<String, SpecificationError> {
    let table = table_of(file)?;
    match table.get("kind").and_then(toml::Value::as_str) {
        Some(kind) => Ok(kind.to_owned()),
        None => {
            let found = match table.get("kind") {
                None => "it names no kind".to_owned(),
                Some(found) => format!("kind is {found}"),
            };
            Err(SpecificationError::Form {
                file: file.to_owned(),
                problem: format!("{found}; a line such as kind = \"audit\" is expected"),
            })
        }
    }
}

fn table_of(file: &Path) -> Result<toml::Table, SpecificationError> {
    let text = expect_rereadable(file).and_then(|()| fs::read_to_string(file));
    let text = text.map_err(|source| SpecificationError::Read {
        file: file.to_owned(),
        source,
    })?;
    text.parse()
        .map_err(|error: toml::de::Error| SpecificationError::Form {
            file: file.to_owned(),
            problem: {
                let before = error.span().and_then(|span| text.get(..span.start));
                let line = before.unwrap_or_default().matches('\n').count() + 1;
                format!("line {line}: {}", error.message().replace('\n', ", "))
            },
        })
}

/// Reads the specification in `file`, unchecked, and the record of its run if it is of one.
///
/// # Errors
/// See [`SpecificationError`].
pub fn read<S: Specification>(file: &Path) -> Result<(S, Option<Record>), SpecificationError> {
    let kind = kind_of(file)?;
    if kind != S::KIND {
        return Err(SpecificationError::Kind {
            file: file.to_owned(),
            found: kind,
            expected: S::KIND,
        });
    }
    let mut table = table_of(file)?;
    table.remove("kind");
    of_table(table, file)
}

/// Reads a specification as [`read`] does, from a `table` of `file` that does not name a kind.
///
/// # Errors
/// See [`SpecificationError`].
pub fn of_table<S: Specification>(
    mut table: toml::Table,
    file: &Path,
) -> Result<(S, Option<Record>), SpecificationError> {
    match table.remove("version") {
        None => {}
        Some(version) if version.as_integer() == Some(S::VERSION.into()) => {}
        Some(version) => {
            return Err(SpecificationError::Version {
                file: file.to_owned(),
                kind: S::KIND,
                found: version.to_string(),
                known: S::VERSION,
            });
        }
    }
    let mut recorded = table.clone();
    recorded.retain(|key, _| key == "record");
    let Recorded { record } = of_toml(recorded, file)?;
    table.remove("record");
    Ok((of_toml(table, file)?, record))
}

/// The parts of a file that tell what a run opened, whatever its kind is.
pub(crate) struct Opening {
    /// The kind of the run.
    pub kind: String,
    /// The record of what the run opened.
    pub record: Record,
    /// All texts of the specification, among them the paths that it names.
    pub texts: Vec<String>,
}

/// Reads what `file`, of whatever kind, says that was opened, and by which names.
///
/// # Errors
/// See [`SpecificationError`].
pub(crate) fn opening_of(file: &Path) -> Result<Opening, SpecificationError> {
    let kind = kind_of(file)?;
    let mut table = table_of(file)?;
    let mut recorded = toml::Table::new();
    if let Some(record) = table.remove("record") {
        recorded.insert("record".to_owned(), record);
    }
    let Recorded { record } = of_toml(recorded, file)?;
    let mut texts = Vec::new();
    collect_texts(&toml::Value::Table(table), &mut texts);
    Ok(Opening {
        kind,
        record: record.unwrap_or_default(),
        texts,
    })
}

fn collect_texts(value: &toml::Value, texts: &mut Vec<String>) {
    match value {
        toml::Value::String(text) => texts.push(text.clone()),
        toml::Value::Array(values) => {
            values.iter().for_each(|value| collect_texts(value, texts));
        }
        toml::Value::Table(table) => {
            table.values().for_each(|value| collect_texts(value, texts));
        }
        _ => {}
    }
}

/// A file but for its specification.
#[derive(Deserialize, JsonSchema)]
struct Recorded {
    record: Option<Record>,
}

/// Returns `value` in JSON, for messages: what JSON has no form for is shown as it is written.
fn shown(value: &toml::Value) -> Value {
    match value {
        toml::Value::Table(table) => {
            let entries = table.iter().map(|(key, value)| (key.clone(), shown(value)));
            Value::Object(entries.collect())
        }
        toml::Value::Array(values) => values.iter().map(shown).collect(),
        toml::Value::Datetime(_) => Value::from(value.to_string()),
        toml::Value::Float(number) if !number.is_finite() => Value::from(value.to_string()),
        other => json_of(other),
    }
}

fn of_toml<T: DeserializeOwned + JsonSchema>(
    written: toml::Table,
    file: &Path,
) -> Result<T, SpecificationError> {
    let shown = shown(&toml::Value::Table(written.clone()));
    parse(written, &shown).map_err(|source| SpecificationError::Field {
        file: file.to_owned(),
        source,
    })
}

/// Returns `path` as it is seen from the run directory `directory`, if it begins with `..`: so a
/// run names what it opened where the same files lie in other folders on other machines.
pub(crate) fn seen_from_run(path: &Path, directory: &Path) -> Option<PathBuf> {
    path.starts_with("..").then(|| directory.join(path))
}

/// Returns `specification` with those of its paths that begin with `..` seen from the run directory
/// `directory`.
///
/// # Errors
/// When a value of it has no form in JSON.
pub fn seen_from<S: Specification>(specification: S, directory: &Path) -> Result<S, FieldError> {
    fn locate(value: &mut Value, directory: &Path) {
        match value {
            Value::String(path) => {
                let whole = seen_from_run(Path::new(path), directory);
                if let Some(whole) =
                    whole.and_then(|whole| whole.into_os_string().into_string().ok())
                {
                    *path = whole;
                }
            }
            Value::Array(paths) => paths.iter_mut().for_each(|path| locate(path, directory)),
            _ => {}
        }
    }
    let mut value = json_of(&specification);
    let before = value.clone();
    // A schema is named, or is a file.
    let fields = S::fields().into_iter();
    for field in fields.filter(|field| field.is_path() || field.name() == "schema") {
        if let Some(found) = dotted::get_mut(&mut value, &field.path) {
            locate(found, directory);
        }
    }
    match value == before {
        true => Ok(specification),
        false => S::from_json(&value),
    }
}

impl RunDirectory {
    /// Writes `run.toml`: the specification and the record of what was opened.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_run<S: Specification>(
        &self,
        specification: &S,
        record: &Record,
    ) -> Result<(), SpecificationError> {
        let text = to_run_toml(specification, record, &self.file(RUN))?;
        self.write_options(&text)?;
        pause::at(Point::Begun);
        Ok(())
    }

    /// Writes a run that is done at once: `run.toml` and the `summary`. Where the summary cannot be
    /// written, neither is left.
    ///
    /// # Errors
    /// When one of them cannot be written.
    pub fn write_whole<S: Specification, T: Serialize>(
        &self,
        specification: &S,
        record: &Record,
        summary: &T,
    ) -> Result<(), SpecificationError> {
        self.write_run(specification, record)?;
        if let Err(error) = self.write_summary(summary) {
            self.remove(RUN)?;
            return Err(error.into());
        }
        Ok(())
    }

    /// Opens the run in `path`: its specification and the record of what it opened.
    ///
    /// # Errors
    /// When there is no run of the kind of `S`.
    pub fn open_specified<S: Specification>(
        path: &Path,
    ) -> Result<(RunDirectory, S, Record), SpecificationError> {
        let run = RunDirectory::open(path)?;
        let file = run.file(RUN);
        let (specification, record) = read::<S>(&file)?;
        let specification =
            seen_from(specification, path).map_err(|source| SpecificationError::Field {
                file: file.clone(),
                source,
            })?;
        Ok((run, specification, record.unwrap_or_default()))
    }

    /// Opens the run in `path` as [`RunDirectory::open_specified`] does, locked, to go on with it.
    ///
    /// # Errors
    /// When there is no run of the kind of `S`, or another process has it locked.
    pub fn resume_specified<S: Specification>(
        path: &Path,
    ) -> Result<(RunDirectory, S, Record), SpecificationError> {
        let run = RunDirectory::open_to_write(path)?;
        let (specification, record) = read(&run.file(RUN))?;
        Ok((run, specification, record.unwrap_or_default()))
    }
}
