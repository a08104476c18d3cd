//! The files of a run that every command writes.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::PageError;
use crate::model::Planted;
use probity_run::run_directory::{RUN, RunDirectory, RunError, SUMMARY, file_sha256};
use probity_run::sealed::read_json_hashed;

/// The layout of a summary that is read.
const SCHEMA_VERSION: u64 = 1;
/// What `probity demo` calls the directory of its audit.
const AUDIT_OF_DEMO: &str = "audit";

/// The files of a run that every command writes.
pub(crate) struct RunFiles {
    /// Where they are.
    pub directory: PathBuf,
    /// The command.
    pub command: String,
    /// `run.toml`; empty where the command writes none.
    pub options: toml::Table,
    /// The SHA-256 of `summary.json`.
    pub summary_sha256: String,
    summary: Value,
    /// The summary of the demonstration that this run is part of, if it was given.
    demonstration: Value,
}

impl RunFiles {
    /// Opens the run in `directory`, which must be of one of the kinds that are `known`.
    pub fn open(directory: &Path, known: &'static [&'static str]) -> Result<RunFiles, PageError> {
        // Who goes on with a run removes its summary before the options change: what was read between
        // two readings of the same options is theirs.
        let mut options = options_of(directory)?;
        let summary = loop {
            let summary = summary_of(directory)?;
            let again = options_of(directory)?;
            if again == options {
                break summary;
            }
            options = again;
        };
        let said = |summary: &Value| summary["command"].as_str().map(str::to_owned);
        let asked = options
            .as_ref()
            .and_then(|options| options.get("kind").or_else(|| options.get("command")))
            .and_then(toml::Value::as_str)
            .map(str::to_owned);
        let Some((summary, summary_sha256)) = summary else {
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
            let audit = RunFiles::open(&directory.join(AUDIT_OF_DEMO), known)?;
            return Ok(RunFiles {
                demonstration: summary,
                ..audit
            });
        }
        if !known.contains(&command.as_str()) {
            return Err(PageError::Command {
                directory: directory.to_owned(),
                found: command,
                known,
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
            command,
            options: options.unwrap_or_default(),
            summary_sha256,
            summary,
            demonstration: Value::Null,
        })
    }

    /// Returns whether the run is the same still: whoever goes on with it removes its summary before
    /// they change any other file, and writes a new one last.
    pub fn are_as_opened(&self) -> bool {
        let summary = file_sha256(&self.file(SUMMARY));
        summary.is_ok_and(|now| now == self.summary_sha256)
    }

    /// The summary as a structure.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, PageError> {
        T::deserialize(&self.summary).map_err(|error| self.foreign(&error))
    }

    /// What was planted in the data of the demonstration that this run is part of.
    pub fn planted(&self) -> Result<Vec<Planted>, PageError> {
        match self.demonstration.get("recovery") {
            Some(recovery) => Vec::deserialize(recovery).map_err(|error| self.foreign(&error)),
            None => Ok(Vec::new()),
        }
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

    /// Returns the path of a file of which the summary says with which content the run wrote it.
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
        "audit" | "compare" | "train" | "repair" | "prove" => {
            format!("go on with: probity run {} --resume", directory.display())
        }
        _ => "wait for it, or run it again".to_owned(),
    }
}

/// What to call the runs in `places`, which are all different: each by the last part of its directory,
/// one called `audit` by the part before it too, and by as many parts as tell it from the others.
pub(super) fn names_of(places: &[PathBuf]) -> Vec<String> {
    let name_of = |(own, place): (usize, &PathBuf)| {
        let all = place.iter().count();
        let is_of_demo = place.ends_with(AUDIT_OF_DEMO);
        let is_alone = |parts: &usize| {
            let mut others = places.iter().enumerate();
            others.all(|(other, it)| other == own || tail(it, *parts) != tail(place, *parts))
        };
        let mut parts = if is_of_demo { 2 } else { 1 }..all;
        tail(place, parts.find(is_alone).unwrap_or(all))
    };
    places.iter().enumerate().map(name_of).collect()
}

/// The last `parts` parts of `place`.
fn tail(place: &Path, parts: usize) -> String {
    let all: Vec<_> = place.iter().map(|part| part.to_string_lossy()).collect();
    let last = &all[all.len().saturating_sub(parts)..];
    last.join("/")
}

/// Reads the options of the run in `directory`, where it has some.
fn options_of(directory: &Path) -> Result<Option<toml::Table>, PageError> {
    let run = RunDirectory::open_if_specified(directory)?;
    let options = run.map(|run| options_in(&run.file(RUN)));
    Ok(options.transpose()?)
}

/// Reads the summary of the run in `directory`, where it has one, and its SHA-256.
fn summary_of(directory: &Path) -> Result<Option<(Value, String)>, PageError> {
    let summary = directory.join(SUMMARY);
    match summary.is_file() {
        true => Ok(Some(read_json_hashed(&summary)?)),
        false => Ok(None),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_runs_apart() {
        let named = |places: &[&str]| -> Vec<String> {
            let places: Vec<PathBuf> = places.iter().map(PathBuf::from).collect();
            names_of(&places)
        };
        assert_eq!(named(&["/a/b"]), ["b"]);
        assert_eq!(named(&["/a/demo/audit", "/a/audit/b"]), ["demo/audit", "b"]);
        let alike = [
            "/x/2025/us/run",
            "/x/2026/us/run",
            "/x/2026/eu/run",
            "/x/other",
        ];
        assert_eq!(
            named(&alike),
            ["2025/us/run", "2026/us/run", "eu/run", "other"]
        );
        assert_eq!(named(&["/run", "/a/run"]), ["//run", "a/run"]);
        assert_eq!(
            named(&["/a/x/audit", "/b/x/audit"]),
            ["a/x/audit", "b/x/audit"]
        );
    }
}
