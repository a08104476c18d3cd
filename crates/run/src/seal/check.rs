//! Checking of the seal of a run and the seals of all runs that it was made from.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::envelope::Envelope;
use super::files::changed_files;
use super::key::PublicKey;
use super::statement::{MadeFrom, Statement};
use crate::hash::sha256_of;
use crate::names::{SEAL, SUMMARY};

/// A file that is not as it was sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The problem with the file, in words that follow its name: `was changed after it was sealed`.
    pub problem: String,
}

/// A run whose seal is signed by a key that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckedRun {
    /// The directory of the run.
    pub directory: PathBuf,
    /// The kind of the run.
    pub kind: String,
    /// The time when the run was sealed, by the signer's clock.
    pub sealed: String,
    /// The key that signed it.
    pub key: String,
    /// The way in which the search of the run ended, where the run says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// The number of files that the seal stands for.
    pub files: usize,
    /// The runs that it was made from.
    pub made_from: Vec<MadeFrom>,
}

/// The result of checking the seals of a chain of runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CheckedSeals {
    /// The runs, the one which was asked about first, each before those that it was made from.
    pub runs: Vec<CheckedRun>,
    /// All problems; none where everything is as it was sealed.
    pub problems: Vec<Problem>,
}

/// Checks the run in `directory`, and each that it was made from: seal, signature by one of `keys`,
/// every file. `elsewhere` is where runs are now that have moved since; each of them must be one
/// that these were made from.
pub fn check(directory: &Path, keys: &[PublicKey], elsewhere: &[PathBuf]) -> CheckedSeals {
    let mut checked = CheckedSeals::default();
    let mut seen = HashSet::new();
    let mut found = HashSet::new();
    let mut next = VecDeque::from([Step {
        directory: directory.to_owned(),
        expected: None,
    }]);
    while let Some(step) = next.pop_front() {
        match opened(&step.directory, keys) {
            Ok((statement, key, digest)) => {
                if let Some((child, opened)) = &step.expected
                    && !has_made(&statement, opened)
                {
                    checked.problems.push(Problem {
                        file: child.join(SEAL),
                        problem: format!(
                            "names a run that did not make what it opened: {}",
                            step.directory.display()
                        ),
                    });
                }
                if seen.insert(digest) {
                    let parents = checked.add(step.directory, key, statement, elsewhere);
                    found.extend(parents.iter().map(|parent| parent.directory.clone()));
                    next.extend(parents);
                }
            }
            Err(problem) => checked.problems.push(Problem {
                file: step.directory.join(SEAL),
                problem,
            }),
        }
    }
    let foreign = elsewhere.iter().filter(|place| !found.contains(*place));
    checked.problems.extend(foreign.map(|directory| Problem {
        file: directory.join(SEAL),
        problem: "is not the seal of a run that these were made from".to_owned(),
    }));
    checked
}

/// Checks the run in `directory` alone, whatever has become of those that it was made from.
pub fn check_alone(directory: &Path, keys: &[PublicKey]) -> CheckedSeals {
    let mut checked = CheckedSeals::default();
    match opened(directory, keys) {
        Ok((statement, key, _)) => {
            checked.problems = changed_in(directory, &statement);
            checked.runs = vec![CheckedRun::new(directory.to_owned(), key, &statement)];
        }
        Err(problem) => checked.problems.push(Problem {
            file: directory.join(SEAL),
            problem,
        }),
    }
    checked
}

/// Returns the problems with the files in `directory`, which `statement` is about.
fn changed_in(directory: &Path, statement: &Statement) -> Vec<Problem> {
    let changed = changed_files(directory, &statement.files()).into_iter();
    let problems = changed.map(|(name, problem)| Problem {
        file: match name.is_empty() {
            true => directory.to_owned(),
            false => directory.join(name),
        },
        problem,
    });
    problems.collect()
}

impl CheckedRun {
    fn new(directory: PathBuf, key: String, statement: &Statement) -> CheckedRun {
        let predicate = &statement.predicate;
        CheckedRun {
            directory,
            kind: predicate.run.kind.clone(),
            sealed: predicate.sealed.clone(),
            key,
            ending: predicate.run.ending.clone(),
            files: statement.subject.len(),
            made_from: predicate.made_from.clone(),
        }
    }
}

/// A run that is still to be checked.
struct Step {
    directory: PathBuf,
    /// The run that was made from this one, and the hash of what that one opened; none for the run
    /// that was asked about.
    expected: Option<(PathBuf, String)>,
}

impl CheckedSeals {
    /// Returns the place of the run that the run which was asked about opened as `role`: where it
    /// was, or among those of `elsewhere`.
    pub fn place_of(&self, role: &str, elsewhere: &[PathBuf]) -> Option<PathBuf> {
        let mut parents = self.runs.first()?.made_from.iter();
        let parent = parents.find(|parent| parent.role == role)?;
        located(parent, parent.seal.as_ref()?, elsewhere).ok()
    }

    /// Adds a run whose seal is sound, and the problems with its files; returns the runs that it
    /// was made from.
    fn add(
        &mut self,
        directory: PathBuf,
        key: String,
        statement: Statement,
        elsewhere: &[PathBuf],
    ) -> Vec<Step> {
        self.problems.extend(changed_in(&directory, &statement));
        let predicate = &statement.predicate;
        let mut parents = Vec::new();
        for parent in &predicate.made_from {
            let Some(seal) = &parent.seal else {
                continue;
            };
            match located(parent, seal, elsewhere) {
                Ok(found) => parents.push(Step {
                    directory: found,
                    expected: Some((
                        directory.clone(),
                        predicate
                            .opened
                            .get(&parent.role)
                            .cloned()
                            .unwrap_or_default(),
                    )),
                }),
                Err(problem) => self.problems.push(Problem {
                    file: parent.directory.join(SEAL),
                    problem: format!("{problem}: {} was made from it", directory.display()),
                }),
            }
        }
        self.runs.push(CheckedRun::new(directory, key, &statement));
        parents
    }
}

/// Returns the statement of the seal in `directory`, the key that signed it, and the SHA-256 of the
/// seal.
fn opened(directory: &Path, keys: &[PublicKey]) -> Result<(Statement, String, String), String> {
    let bytes = read_seal(directory)?;
    let digest = sha256_of(&mut &bytes[..]).map_err(|error| error.to_string())?;
    let envelope = Envelope::from_bytes(&bytes)?;
    let statement = envelope.statement_by(keys)?;
    Ok((statement, envelope.key().to_owned(), digest))
}

/// Returns the bytes of the seal in `directory`, or the reason why there are none.
pub(super) fn read_seal(directory: &Path) -> Result<Vec<u8>, String> {
    let file = directory.join(SEAL);
    if fs::symlink_metadata(&file).is_ok_and(|found| found.is_symlink()) {
        return Err("is a link to another place".to_owned());
    }
    fs::read(&file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "is not there: the run is not sealed".to_owned(),
        _ => format!("cannot be read: {error}"),
    })
}

/// Returns the present place of the run `parent`: the directory with the seal of this hash.
fn located(parent: &MadeFrom, seal: &str, elsewhere: &[PathBuf]) -> Result<PathBuf, &'static str> {
    let is_it = |directory: &&PathBuf| {
        let bytes = read_seal(directory).ok();
        let digest = bytes.and_then(|bytes| sha256_of(&mut &bytes[..]).ok());
        digest.as_deref() == Some(seal)
    };
    let mut candidates = elsewhere.iter().chain([&parent.directory]);
    match candidates.find(is_it) {
        Some(found) => Ok(found.clone()),
        None if read_seal(&parent.directory).is_ok() => Err("is not the seal that was there"),
        None => Err("is not there"),
    }
}

/// Returns whether the run of `statement` made what has the hash `opened`.
fn has_made(statement: &Statement, opened: &str) -> bool {
    let summary = statement.files().get(SUMMARY).copied();
    [statement.predicate.made.as_deref(), summary].contains(&Some(opened))
}
