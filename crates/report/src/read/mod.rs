//! From run directories to a [`Report`].

mod audit;
mod knn;
pub(super) mod options;

pub(super) use options::shown;

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::PageError;
use super::model::{AuditFindings, Comparison, Findings, Report, RunReport};
use super::{KNOWN_RUNS, command_line};
use probity_run::run_directory::{RUN, RunError, SUMMARY};

/// The layout of a summary that is read.
const SCHEMA_VERSION: u64 = 1;
/// What `probity demo` calls the directory of its audit.
const AUDIT_OF_DEMO: &str = "audit";

impl Report {
    /// Reads `runs`: directories that a command has written. That of `probity demo` stands for the audit in it.
    ///
    /// # Errors
    /// See [`PageError`].
    pub fn read(runs: &[PathBuf]) -> Result<Report, PageError> {
        let mut seen: Vec<PathBuf> = Vec::new();
        let mut reports = Vec::new();
        for directory in runs {
            let files = RunFiles::open(directory)?;
            let place =
                fs::canonicalize(&files.directory).unwrap_or_else(|_| files.directory.clone());
            if seen.contains(&place) {
                return Err(PageError::Twice {
                    directory: directory.clone(),
                });
            }
            seen.push(place);
            reports.push(read_run(&files)?);
        }
        Ok(Report {
            schema_version: 1,
            command: "report",
            probity_version: env!("CARGO_PKG_VERSION"),
            comparisons: comparisons(&reports),
            runs: reports,
        })
    }
}

fn read_run(files: &RunFiles) -> Result<RunReport, PageError> {
    let findings = match files.command.as_str() {
        "repair" if files.is_text_repair() => Findings::TextRepair(files.parse()?),
        "repair" => Findings::Repair(files.parse()?),
        "groups" => Findings::Groups(files.parse()?),
        "compare" => Findings::Compare(files.parse()?),
        "certify" => Findings::Certify(files.parse()?),
        "knn" => Findings::Knn(Box::new(knn::read(files)?)),
        "kmeans bench" => Findings::KMeans(files.parse()?),
        "spn bench" => Findings::Spn(files.parse()?),
        "outliers count" => Findings::OutlierCount(files.parse()?),
        "outliers subspaces" => Findings::OutlierSubspaces(files.parse()?),
        _ => Findings::Audit(Box::new(audit::read(files)?)),
    };
    let (subject, options) = options::facts(files);
    Ok(RunReport {
        name: files.name.clone(),
        directory: files.directory.clone(),
        command: files.command.clone(),
        probity_version: files.text("probity_version"),
        ended: files.text("ended"),
        subject,
        options,
        reproduce: command_line::of(&files.command, &files.options),
        findings,
    })
}

/// Audits of the same inputs and protected attributes, but of two models: a repair beside what it was made from, else an audit
/// beside the first like it.
fn comparisons(runs: &[RunReport]) -> Vec<Comparison> {
    let audits: Vec<(usize, &AuditFindings)> = runs
        .iter()
        .enumerate()
        .filter_map(|(place, run)| match &run.findings {
            Findings::Audit(audit) => Some((place, audit.as_ref())),
            _ => None,
        })
        .collect();
    let repairs: Vec<(&str, &str)> = runs.iter().filter_map(repaired).collect();
    let is_repair = |a: &AuditFindings, b: &AuditFindings| {
        b.repaired_from.as_ref() == Some(&a.model_sha256)
            || repairs.contains(&(a.model_sha256.as_str(), b.model_sha256.as_str()))
    };
    let mut comparisons = Vec::new();
    for (later, (second, b)) in audits.iter().enumerate() {
        let alike = |a: &AuditFindings| {
            a.inputs_sha256 == b.inputs_sha256
                && a.summary.protected == b.summary.protected
                && a.model_sha256 != b.model_sha256
        };
        let origin = audits.iter().find(|(_, a)| alike(a) && is_repair(a, b));
        let earlier = audits[..later]
            .iter()
            .find(|(_, a)| alike(a) && !is_repair(b, a));
        if let Some((first, _)) = origin.or(earlier) {
            comparisons.push(Comparison {
                first: *first,
                second: *second,
                is_repair: origin.is_some(),
            });
        }
    }
    comparisons
}

/// The hashes of the model before and after, of a repair.
fn repaired(run: &RunReport) -> Option<(&str, &str)> {
    match &run.findings {
        Findings::Repair(repair) => Some((&repair.model_sha256, &repair.repaired_sha256)),
        Findings::TextRepair(repair) => Some((&repair.model_sha256, &repair.repaired_sha256)),
        _ => None,
    }
}

/// The files of a run that every command writes.
pub(super) struct RunFiles {
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
        let options: Option<toml::Table> = read_text(&directory.join(RUN))?
            .map(|text| toml::from_str(&text).map_err(|error| foreign(directory, RUN, &error)))
            .transpose()?;
        let summary: Option<Value> = read_text(&directory.join(SUMMARY))?
            .map(|text| {
                serde_json::from_str(&text).map_err(|error| foreign(directory, SUMMARY, &error))
            })
            .transpose()?;
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

    /// Whether a repair is of a classifier of texts.
    pub fn is_text_repair(&self) -> bool {
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
        "audit" | "train" => format!(
            "go on with: probity {command} --resume --out {}",
            directory.display()
        ),
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

/// The text of `file`; none if there is no such file.
fn read_text(file: &Path) -> Result<Option<String>, RunError> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(RunError::Read {
            file: file.to_owned(),
            source,
        }),
    }
}

fn foreign(directory: &Path, name: &str, error: &dyn std::fmt::Display) -> RunError {
    RunError::Foreign {
        file: directory.join(name),
        problem: error.to_string(),
    }
}
