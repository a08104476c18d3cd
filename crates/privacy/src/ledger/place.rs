//! The place of a ledger: one file, whatever names lead to it.
//!
//! A ledger is replaced by renaming a new file to its name. Done to a symbolic link, that would
//! leave the linked file as it was, with its budget unspent; so everything here happens to the
//! canonical path. Links to the ledger and to folders above it thus end at one file, one key and
//! one lock. A hard link is a second canonical path, and would keep the old content when the first
//! is replaced: a ledger that has one is refused.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use probity_run::lock::{is_at, lock_or_wait};
use probity_run::run_directory::{
    RunError, expect_one_name, folder_of, remove_leftovers, temporary_in,
};
use tempfile::NamedTempFile;

use super::error::LedgerError;

/// The canonical path of a ledger.
pub(super) struct Place {
    file: PathBuf,
}

impl Place {
    /// Returns the place of the ledger that `name` leads to.
    pub fn resolve(name: &Path) -> Result<Place, LedgerError> {
        match fs::canonicalize(name) {
            Ok(file) => Ok(Place { file }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(LedgerError::Missing {
                file: name.to_owned(),
            }),
            Err(source) => Err(LedgerError::Io {
                file: name.to_owned(),
                source,
            }),
        }
    }

    /// Returns the place of a ledger that is to be called `name`.
    pub fn of_new(name: &Path) -> Result<Place, LedgerError> {
        let failed = |source| LedgerError::Io {
            file: name.to_owned(),
            source,
        };
        let last = name.file_name().ok_or(io::ErrorKind::InvalidFilename);
        let last = last.map_err(|kind| failed(kind.into()))?;
        let file = fs::canonicalize(folder_of(name)).map_err(failed)?;
        Ok(Place {
            file: file.join(last),
        })
    }

    /// Returns the path of the ledger.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the path of the file beside the ledger whose name ends in `suffix`.
    pub fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.file.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    }

    /// Waits for the exclusive lock, which the operating system gives up when the file is closed or
    /// its process ends; `waiting` is told when another process has it. The lock file is never
    /// renamed, unlike the ledger.
    pub fn lock(&self, waiting: impl FnOnce()) -> Result<Lock, LedgerError> {
        let path = self.beside(".lock");
        let failed = |source| LedgerError::Io {
            file: path.clone(),
            source,
        };
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        lock_or_wait(&lock, waiting).map_err(failed)?;
        Ok(Lock { path, file: lock })
    }

    /// Refuses a ledger with a hard link.
    pub fn has_one_name(&self) -> Result<(), LedgerError> {
        expect_one_name(&self.file).map_err(|error| match error {
            RunError::Read { file, source } => LedgerError::Io { file, source },
            _ => LedgerError::SecondName {
                file: self.file.clone(),
            },
        })
    }
}

/// The lock of a ledger, until it is dropped.
pub(super) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Checks that the ledger's folder was not moved meanwhile: another ledger by its name would be
    /// overwritten. This is asked before the ledger is written.
    pub fn expect_in_place(&self) -> Result<(), LedgerError> {
        let is_there = is_at(&self.file, &self.path).unwrap_or(false);
        match is_there {
            true => Ok(()),
            false => Err(LedgerError::Io {
                file: self.path.clone(),
                source: io::Error::other("it was moved or replaced meanwhile"),
            }),
        }
    }
}

/// Writes `text` under a temporary name (with mode 0600), syncs it, gives it to `file` as `persist`
/// does, and syncs the folder.
pub(super) fn write_synced(
    file: &Path,
    text: &str,
    persist: impl FnOnce(NamedTempFile, &Path) -> io::Result<File>,
) -> io::Result<()> {
    let folder = folder_of(file);
    remove_leftovers(folder);
    let mut temporary = temporary_in(folder, 0o600)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    persist(temporary, file)?;
    // Without this the rename may be lost with the power, and the price with it.
    #[cfg(unix)]
    File::open(folder).and_then(|folder| folder.sync_all())?;
    Ok(())
}
