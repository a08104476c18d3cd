//! The seal of a run: a signed statement of the contents of every file in its directory.
//!
//! [`SEAL`] is a [DSSE](https://github.com/secure-systems-lab/dsse) envelope around an
//! [in-toto Statement v1](https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md),
//! signed with Ed25519. Its subjects are all files of the directory but the seal itself; its
//! predicate says what was opened (model, data, audits …), what was made, when, and the seals of
//! the runs that this one was made from. So the seal of the last of several runs stands for all of
//! them.
//!
//! Which directories those are, nobody need be told: of the directories that [`RUN`] names, a run
//! was made from those whose model or summary has a hash that its record says it opened.
//!
//! Whoever holds the public key can [`check`] the whole: every changed, added, removed or replaced
//! file is a [`Problem`] that names it. The time in a seal is what the signer's clock said.

mod check;
mod envelope;
mod error;
mod files;
mod key;
mod made;
mod statement;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use self::check::{CheckedRun, CheckedSeals, Problem, check, check_alone};
use self::envelope::Envelope;
pub use self::error::SealError;
use self::files::{files_of, hashes_of};
pub use self::key::{PrivateKey, PublicKey};
use self::made::Made;
pub use self::statement::{MadeFrom, PREDICATE_TYPE};
use self::statement::{Predicate, SealedRun, Statement};
use crate::hash::file_sha256;
use crate::moment;
use crate::names::{RUN, SEAL};
use crate::run_directory::{RunDirectory, write_new_with};
use crate::specification::file::{opening_of, seen_from_run};

/// The description of a seal that [`seal`] wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sealed {
    /// The file of the seal.
    pub file: PathBuf,
    /// The SHA-256 of the seal, which the seals of later runs hold.
    pub sha256: String,
    /// The key: SHA-256 of its public half, as RFC 8410 writes it.
    pub key: String,
    /// The time of the seal, in UTC.
    pub sealed: String,
    /// The way in which the search of the run ended, where the run says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// The number of files that the seal stands for.
    pub files: usize,
    /// The runs that this one was made from.
    pub made_from: Vec<MadeFrom>,
}

/// Seals the run in `directory` by `key`. `elsewhere` is where runs that it was made from are now,
/// if they have moved since.
///
/// # Errors
/// When the run is unfinished, sealed already, or written to by another process; a file of it was
/// changed; there is something else than files; a run that it was made from is not as it was
/// sealed; the seal cannot be written.
pub fn seal(
    directory: &Path,
    key: &PrivateKey,
    elsewhere: &[PathBuf],
) -> Result<Sealed, SealError> {
    let run = RunDirectory::open_to_write(directory)?;
    let Some(made) = Made::read(&run)? else {
        return Err(SealError::Unfinished {
            directory: directory.to_owned(),
        });
    };
    run.expect_unchanged_files()?;
    let opening = opening_of(&run.file(RUN))?;
    let named = opening.texts.iter().map(PathBuf::from);
    let candidates: Vec<PathBuf> = named
        .map(|path| seen_from_run(&path, directory).unwrap_or(path))
        .filter(|path| path.is_absolute())
        .chain(elsewhere.iter().cloned())
        .collect();
    let made_from = made::made_from(&opening.record.sha256, &candidates, key)?;
    let subjects = hashes_of(directory, files_of(directory)?)?;
    let statement = Statement::new(
        subjects,
        Predicate {
            run: SealedRun {
                kind: opening.kind,
                probity_version: opening.record.probity_version,
                ended: made.ended,
                ending: made.ending,
            },
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            sealed: moment::now(),
            opened: opening.record.sha256,
            made: made.model,
            made_from,
        },
    );
    let file = run.file(SEAL);
    let bytes = Envelope::signed(&statement, key)?.to_bytes();
    run.expect_in_place()?;
    write_new_with(&file, |out| out.write_all(&bytes))?;
    let predicate = statement.predicate;
    Ok(Sealed {
        sha256: file_sha256(&file)?,
        file,
        key: key.public().id().to_owned(),
        sealed: predicate.sealed,
        ending: predicate.run.ending,
        files: statement.subject.len(),
        made_from: predicate.made_from,
    })
}
