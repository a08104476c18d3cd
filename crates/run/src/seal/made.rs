//! The results that a run made, and the runs that it was made from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::check::read_seal;
use super::envelope::Envelope;
use super::error::SealError;
use super::files::changed_files;
use super::key::PrivateKey;
use super::statement::{MadeFrom, Statement};
use crate::error::RunError;
use crate::hash::{file_sha256, sha256_of};
use crate::names::{RUN, SEAL, SUMMARY};
use crate::run_directory::{RunDirectory, is_sealed};

/// The name of the description of a model, in the directory of a run that made one.
const MODEL: &str = "model.toml";

/// The parts of a run's summary that tell what the run made.
#[derive(Debug, Deserialize)]
struct Summary {
    ended: Option<String>,
    ending: Option<String>,
    finished: Option<bool>,
    model_sha256: Option<String>,
    repaired_sha256: Option<String>,
}

/// The results of a run.
pub(super) struct Made {
    pub ended: Option<String>,
    pub ending: Option<String>,
    /// The SHA-256 of the model that the run made.
    pub model: Option<String>,
    /// The SHA-256 of the run's summary.
    summary: String,
}

impl Made {
    /// Returns the results of `run`, if it has any.
    pub fn read(run: &RunDirectory) -> Result<Option<Made>, RunError> {
        if !run.has_summary() {
            return Ok(None);
        }
        let summary: Summary = run.read_summary()?;
        let stopped = (summary.finished == Some(false)).then(|| "interrupted".to_owned());
        // The summary of a repair names the model before it, too.
        let model = summary.repaired_sha256.or(summary.model_sha256);
        Ok(Some(Made {
            ended: summary.ended,
            ending: summary.ending.or(stopped),
            model: model.filter(|_| run.file(MODEL).is_file()),
            summary: file_sha256(&run.file(SUMMARY))?,
        }))
    }
}

/// Returns those of the directories `candidates` that are runs and made what was `opened`, in the
/// order of its roles. Of several runs that made the same, the first that is sealed is taken.
pub(super) fn made_from(
    opened: &BTreeMap<String, String>,
    candidates: &[PathBuf],
    key: &PrivateKey,
) -> Result<Vec<MadeFrom>, SealError> {
    let mut runs = Vec::new();
    for directory in candidates {
        if directory.join(RUN).is_file()
            && let Some(made) = Made::read(&RunDirectory::open(directory)?)?
        {
            runs.push((directory, made));
        }
    }
    // A stable order: that of the candidates among those that are sealed, and among the others.
    runs.sort_by_key(|(directory, _)| !is_sealed(directory));
    let mut found = Vec::new();
    for (role, hash) in opened {
        let is_of = |made: &Made| made.summary == *hash || made.model.as_ref() == Some(hash);
        if let Some((directory, _)) = runs.iter().find(|(_, made)| is_of(made)) {
            let absolute = std::path::absolute(directory).map_err(|source| RunError::Read {
                file: (*directory).clone(),
                source,
            })?;
            let seal = match is_sealed(directory) {
                true => Some(sound_seal(directory, key)?),
                false => None,
            };
            found.push(MadeFrom {
                role: role.clone(),
                directory: absolute,
                seal,
            });
        }
    }
    Ok(found)
}

/// Returns the SHA-256 of the seal in `directory`, whose files are as it says. Whether it is signed
/// is checked where the key is at hand, its own.
fn sound_seal(directory: &Path, key: &PrivateKey) -> Result<String, SealError> {
    let broken = |name: &str, problem| SealError::Parent {
        file: directory.join(name),
        problem,
    };
    let in_seal = |problem| broken(SEAL, problem);
    let bytes = read_seal(directory).map_err(in_seal)?;
    let statement = stated(&bytes, key).map_err(in_seal)?;
    match changed_files(directory, &statement.files())
        .into_iter()
        .next()
    {
        Some((name, problem)) => Err(broken(&name, problem)),
        None => sha256_of(&mut &bytes[..]).map_err(|error| in_seal(error.to_string())),
    }
}

fn stated(bytes: &[u8], key: &PrivateKey) -> Result<Statement, String> {
    let envelope = Envelope::from_bytes(bytes)?;
    let public = key.public();
    match envelope.key() == public.id() {
        true => envelope.statement_by(std::slice::from_ref(public)),
        false => envelope.statement(),
    }
}
