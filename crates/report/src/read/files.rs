//! The files of a run that every command writes.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::PageError;
use probity_run::run_directory::{RUN, RunDirectory, RunError, SUMMARY};
use probity_run::sealed::read_json;

/// The layout of a summary that is read.
const SCHEMA_VERSION: u64 = 1;
/// What `probity demo` calls the directory of its audit.
const AUDIT_OF_DEMO: &str = "audit";

/// What a report is made of.
pub const KNOWN_RUNS: &[&str] = &[
    "audit",
    "repair",
    "groups",
    "compare",
    "certify",
    "knn",
    "kmeans bench",
    "spn bench",
    "outliers count",
    "outliers subspaces",
];

/// The files of a run that every command writes.
pub(crate) struct RunFiles {
    /// Where they are.
    pub directory: PathBuf,
    /// What to call the run.
    pub name: String,
    /// The command.
    pub command: String,
    /// `run.toml`; empty where the command writes none.
    pub options: toml::Table,
    summary: Value,
}

impl RunFiles {
    /// Opens the run in `directory`.
    pub fn open(directory: &Path) -> Result<RunFiles, PageError> {
        let options: Option<toml::Table> = RunDirectory::open_if_specified(directory)?
            .map(|run| options_in(&run.file(RUN)))
            .transpose()?;
        let summary = directory.join(SUMMARY);
        let summary: Option<Value> = match summary.is_file() {
            true => Some(read_json(&summary)?),
            false => None,
        };
        let said = |summary: &Value| summary["command"].as_str().map(str::to_owned);
        let asked = options
            .as_ref()
            .and_then(|options| options.get("kind").or_else(|| options.get("command")))
            .and_then(toml::Value::as_str)
            .map(str::to_owned);
        let Some(summary) = summary else {
            return Err(match asked {
                Some(command) => PageError::Unfinished {
                    advice: advice(&command, directory),
                    directory: directory.to_owned(),
                    command,
                },
                None => PageError::NoRun {
                    directory: directory.to_owned(),
                },
            });
        };
        let command = said(&summary)
            .or(asked)
            .unwrap_or_else(|| "something else".to_owned());
        if command.starts_with("demo") {
            return RunFiles::open(&directory.join(AUDIT_OF_DEMO));
        }
        if !KNOWN_RUNS.contains(&command.as_str()) {
            return Err(PageError::Command {
                directory: directory.to_owned(),
                found: command,
                known: KNOWN_RUNS,
            });
        }
        if summary["schema_version"].as_u64() != Some(SCHEMA_VERSION) {
            return Err(PageError::Version {
                file: directory.join(SUMMARY),
                found: summary["schema_version"].to_string(),
                known: SCHEMA_VERSION,
            });
        }
        Ok(RunFiles {
            directory: directory.to_owned(),
            name: name_of(directory),
            command,
            options: options.unwrap_or_default(),
            summary,
        })
    }

    /// The summary as a structure.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, PageError> {
        T::deserialize(&self.summary).map_err(|error| self.foreign(&error))
    }

    /// A text of the summary, else of the options.
    pub fn text(&self, key: &str) -> Option<String> {
        let option = || self.options.get(key).and_then(toml::Value::as_str);
        self.summary[key]
            .as_str()
            .or_else(option)
            .map(str::to_owned)
    }

    /// Whether a run says that it is of texts.
    pub fn is_of_texts(&self) -> bool {
        self.summary["modality"] == "text"
    }

    /// A text of the summary or options that its command always writes.
    pub fn needed(&self, key: &str) -> Result<String, PageError> {
        self.text(key)
            .ok_or_else(|| self.foreign(&format!("the key '{key}' is missing")))
    }

    /// A file beside them.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The same, where the summary says with which content the run wrote it.
    pub fn unchanged(&self, name: &str) -> Result<PathBuf, RunError> {
        RunDirectory::open(&self.directory)?.unchanged(name)
    }

    /// An error about the summary.
    pub fn foreign(&self, problem: &dyn std::fmt::Display) -> PageError {
        PageError::Foreign {
            file: self.directory.join(SUMMARY),
            problem: problem.to_string(),
            command: self.command.clone(),
        }
    }
}

/// What to do with an unfinished run of `command`.
fn advice(command: &str, directory: &Path) -> String {
    match command {
        "audit" | "compare" | "train" | "repair" => {
            format!("go on with: probity run {} --resume", directory.display())
        }
        _ => "wait for it, or run it again".to_owned(),
    }
}

/// Last part of the directory; for one called `audit`, the part before it too.
fn name_of(directory: &Path) -> String {
    let full = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let mut parts = full
        .iter()
        .rev()
        .map(|part| part.to_string_lossy().into_owned());
    let last = parts.next().unwrap_or_default();
    match parts.next() {
        Some(parent) if last == AUDIT_OF_DEMO => format!("{parent}/{last}"),
        _ => last,
    }
}

/// The options in `file`.
fn options_in(file: &Path) -> Result<toml::Table, RunError> {
    let text = fs::read_to_string(file).map_err(|source| RunError::Read {
        file: file.to_owned(),
        source,
    })?;
    toml::from_str(&text).map_err(|error| RunError::Foreign {
        file: file.to_owned(),
        problem: error.to_string(),
    })
}
