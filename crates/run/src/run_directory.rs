//! Run directories: the files in them, and the order in which they are written.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::atomic::is_temporary;
pub use crate::atomic::{
    expect_one_name, folder_of, remove_leftovers, temporary_in, write_atomically, write_new_with,
    write_with,
};
pub use crate::error::RunError;
use crate::error::foreign;
pub use crate::hash::{file_sha256, hex, sha256_of};
use crate::lock::{DirectoryLock, LOCK};
use crate::moment;
pub use crate::names::{CHECKPOINT, RUN, SEAL, SUMMARY, is_spilled, spilled};
use crate::pause::{self, Point};
use crate::sealed::{Form, decode, read_json, read_sealed, write_json, write_sealed};

/// The form of checkpoints, which are private to the version that writes them.
const CHECKPOINT_FORM: Form = Form {
    kind: "checkpoint",
    version: env!("CARGO_PKG_VERSION"),
};

/// A summary with the end of its run and the hashes of the files that it is about.
#[derive(Serialize)]
struct Sealing<'a, T> {
    #[serde(flatten)]
    summary: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    sha256: BTreeMap<String, String>,
}

/// The hashes that a summary holds of the files beside it.
#[derive(Deserialize)]
struct Hashes {
    sha256: BTreeMap<String, String>,
}

/// A directory that holds one run. Whoever writes a run holds the directory's lock.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    path: PathBuf,
    held: Option<Arc<Held>>,
}

/// The lock of a directory that is written.
#[derive(Debug)]
struct Held {
    lock: Option<DirectoryLock>,
    /// The path of the directory, where it was made for the run.
    made: Option<PathBuf>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.lock.take();
        if let Some(made) = &self.made {
            // Only an empty directory can be removed: that of a run which failed before its first
            // file.
            let _ = fs::remove_dir(made);
        }
    }
}

impl RunDirectory {
    /// Makes `path` for a new run, and locks it. The directory may exist when it is empty. If
    /// nothing is written, it is removed again.
    ///
    /// # Errors
    /// When it cannot be made or written, or holds something.
    pub fn create(path: &Path) -> Result<RunDirectory, RunError> {
        let failed = |source| RunError::Write {
            file: path.to_owned(),
            source,
        };
        let made = match fs::exists(path).map_err(failed)? {
            true => None,
            false => Some(path.to_owned()),
        };
        fs::create_dir_all(path).map_err(failed)?;
        // Whether it can be written is found out now rather than after the work.
        let lock = Some(DirectoryLock::now(path)?);
        let held = Some(Arc::new(Held { lock, made }));
        for entry in fs::read_dir(path).map_err(failed)? {
            if entry.map_err(failed)?.file_name() != LOCK {
                return Err(RunError::NotEmpty {
                    directory: path.to_owned(),
                });
            }
        }
        Ok(RunDirectory {
            path: path.to_owned(),
            held,
        })
    }

    /// Makes the first of `parent/NAME-1`, `parent/NAME-2` … that does not exist, for a new run.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create_numbered(parent: &Path, name: &str) -> Result<RunDirectory, RunError> {
        let failed = |file: PathBuf, source| RunError::Write { file, source };
        fs::create_dir_all(parent).map_err(|source| failed(parent.to_owned(), source))?;
        let mut number = 1u32;
        loop {
            let path = parent.join(format!("{name}-{number}"));
            match fs::create_dir(&path) {
                Ok(()) => {
                    let mut created = Self::create(&path)?;
                    let held = created.held.as_mut().and_then(Arc::get_mut);
                    if let Some(held) = held {
                        held.made = Some(path);
                    }
                    return Ok(created);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < u32::MAX => {
                    number += 1;
                }
                Err(source) => return Err(failed(path, source)),
            }
        }
    }

    /// Opens the run that is already in `path`, to be read. Whoever reads [`RUN`] comes through
    /// here: once there is a summary, it is still the one that the summary was written beside.
    ///
    /// # Errors
    /// When there is none, or its [`RUN`] was changed.
    pub fn open(path: &Path) -> Result<RunDirectory, RunError> {
        let run = RunDirectory {
            path: path.to_owned(),
            held: None,
        };
        let file = run.file(RUN);
        File::open(&file).map_err(|source| RunError::Read { file, source })?;
        if run.has_summary() {
            run.unchanged(RUN)?;
        }
        Ok(run)
    }

    /// Opens the run in `path` as [`RunDirectory::open`] does, where a run may have been done
    /// without a [`RUN`]. A run whose summary speaks of the file must have it.
    ///
    /// # Errors
    /// When its [`RUN`] was changed or deleted.
    pub fn open_if_specified(path: &Path) -> Result<Option<RunDirectory>, RunError> {
        let run = RunDirectory {
            path: path.to_owned(),
            held: None,
        };
        let is_needed = run.has_summary() && run.sealed()?.contains_key(RUN);
        match is_needed || run.file(RUN).is_file() {
            true => Self::open(path).map(Some),
            false => Ok(None),
        }
    }

    pub(crate) fn has_summary(&self) -> bool {
        self.file(SUMMARY).is_file()
    }

    /// Returns the hashes that the summary holds of the files beside it.
    fn sealed(&self) -> Result<BTreeMap<String, String>, RunError> {
        let Hashes { sha256 } = self.read_summary()?;
        Ok(sha256)
    }

    /// Opens the run that is already in `path`, and locks it, to go on with it.
    ///
    /// # Errors
    /// When there is none, it is sealed, or another process has it locked.
    pub fn open_to_write(path: &Path) -> Result<RunDirectory, RunError> {
        let mut run = Self::open(path)?;
        if is_sealed(path) {
            return Err(RunError::Sealed {
                directory: path.to_owned(),
            });
        }
        if holds_shards(path) {
            return Err(RunError::Shards {
                directory: path.to_owned(),
            });
        }
        let lock = Some(DirectoryLock::now(path)?);
        run.held = Some(Arc::new(Held { lock, made: None }));
        Ok(run)
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that what is written by the directory's path goes there: asked before anything is
    /// written.
    ///
    /// # Errors
    /// [`RunError::Moved`], where it is locked.
    pub fn expect_in_place(&self) -> Result<(), RunError> {
        let lock = self.held.as_ref().and_then(|held| held.lock.as_ref());
        lock.map_or(Ok(()), DirectoryLock::expect_in_place)
    }

    /// Returns the path of the file called `name` in the directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes `text` as [`RUN`]. A summary that was written beside another is of the run as it was
    /// asked for then, and goes first.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_options(&self, text: &str) -> Result<(), RunError> {
        self.expect_in_place()?;
        let file = self.file(RUN);
        if fs::read(&file).ok().as_deref() != Some(text.as_bytes()) {
            self.remove(SUMMARY)?;
        }
        write_atomically(&file, text.as_bytes())
    }

    /// Writes `summary` as [`SUMMARY`], with the time of now, in UTC, under the key `ended`, the
    /// hashes of the other files of the run under `sha256`, and a seal. The summary is the last
    /// file of a run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_summary<T: Serialize>(&self, summary: &T) -> Result<(), RunError> {
        self.seal(summary, Some(moment::now()))
    }

    /// Writes `summary` as [`RunDirectory::write_summary`] does, but without the time, for a run
    /// whose end is of no interest.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_summary_without_time<T: Serialize>(&self, summary: &T) -> Result<(), RunError> {
        self.seal(summary, None)
    }

    fn seal<T: Serialize>(&self, summary: &T, ended: Option<String>) -> Result<(), RunError> {
        self.expect_in_place()?;
        let file = self.file(SUMMARY);
        let sealing = Sealing {
            summary,
            ended,
            sha256: self.hashes()?,
        };
        write_json(&file, &sealing)
    }

    /// Returns the hashes of the files of the run, but for what comes and goes.
    fn hashes(&self) -> Result<BTreeMap<String, String>, RunError> {
        let failed = |source| RunError::Read {
            file: self.path.clone(),
            source,
        };
        let mut hashes = BTreeMap::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let passing = [CHECKPOINT, SUMMARY, LOCK];
            if let Ok(name) = entry.file_name().into_string()
                && entry.file_type().map_err(failed)?.is_file()
                && !passing.contains(&name.as_str())
                && !is_temporary(OsStr::new(&name))
                && !is_spilled(&name)
            {
                hashes.insert(name, file_sha256(&entry.path())?);
            }
        }
        Ok(hashes)
    }

    /// Reads the summary of the run.
    ///
    /// # Errors
    /// When it is missing, was changed or is of another form.
    pub fn read_summary<T: DeserializeOwned>(&self) -> Result<T, RunError> {
        read_json(&self.file(SUMMARY))
    }

    /// Returns the path of the file called `name` of a complete run, which is still as the run
    /// wrote it.
    ///
    /// # Errors
    /// When it or the summary is missing or was changed.
    pub fn unchanged(&self, name: &str) -> Result<PathBuf, RunError> {
        let file = self.file(name);
        match self.sealed()?.get(name) {
            Some(written) if *written == file_sha256(&file)? => Ok(file),
            _ => Err(RunError::Changed { file }),
        }
    }

    /// Checks that every file which the summary speaks of is as it was written.
    ///
    /// # Errors
    /// When one is missing or was changed.
    pub fn expect_unchanged_files(&self) -> Result<(), RunError> {
        let files = self.sealed()?;
        files
            .keys()
            .try_for_each(|name| self.unchanged(name).map(|_| ()))
    }

    /// Writes a checkpoint. The form of a checkpoint is private to the version that wrote it; `run`
    /// identifies what it belongs to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_checkpoint<T: Serialize>(&self, run: &str, value: &T) -> Result<(), RunError> {
        self.expect_in_place()?;
        write_sealed(&self.file(CHECKPOINT), CHECKPOINT_FORM, |writer| {
            postcard::to_io(run, &mut *writer)
                .and_then(|writer| postcard::to_io(value, writer))
                .map(|_| ())
                .map_err(io::Error::other)
        })?;
        pause::at(Point::Checkpoint);
        Ok(())
    }

    /// Reads the checkpoint of `run`, if there is one. `check` says what in it cannot be of this
    /// run: its seal can be made anew ([`super::sealed`]).
    ///
    /// # Errors
    /// When it cannot be read, was changed, is of another version, or belongs to another run.
    pub fn read_checkpoint<T: DeserializeOwned>(
        &self,
        run: &str,
        check: impl FnOnce(&T) -> Result<(), String>,
    ) -> Result<Option<T>, RunError> {
        let file = self.file(CHECKPOINT);
        if !fs::exists(&file).is_ok_and(|is_there| is_there) {
            return Ok(None);
        }
        let bytes = read_sealed(&file, CHECKPOINT_FORM)?;
        let (owner, rest) =
            postcard::take_from_bytes::<&str>(&bytes).map_err(|error| foreign(&file, &error))?;
        if owner != run {
            let problem = format!("it belongs to other options, model or data than {RUN} says");
            return Err(foreign(&file, &problem));
        }
        let state = decode(rest).map_err(|problem| foreign(&file, &problem))?;
        match check(&state) {
            Ok(()) => Ok(Some(state)),
            Err(problem) => Err(foreign(
                &file,
                &format!("it does not fit its run: {problem}"),
            )),
        }
    }

    /// Removes the checkpoint of a run that is complete, and what was kept beside it.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove_checkpoint(&self) -> Result<(), RunError> {
        self.remove(CHECKPOINT)?;
        self.remove_spilled()
    }

    /// Removes what was kept beside a checkpoint that is not there.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove_spilled(&self) -> Result<(), RunError> {
        let entries = fs::read_dir(&self.path).map_err(|source| RunError::Read {
            file: self.path.clone(),
            source,
        })?;
        for entry in entries.flatten() {
            if let Ok(name) = entry.file_name().into_string()
                && is_spilled(&name)
            {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), RunError> {
        let file = self.file(name);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RunError::Write {
                file,
                source: error,
            }),
            _ => Ok(()),
        }
    }
}

/// Returns whether a seal stands in `directory`, in which nothing may be written any more.
pub fn is_sealed(directory: &Path) -> bool {
    fs::symlink_metadata(directory.join(SEAL)).is_ok()
}

/// Returns whether shards of a run are written to `directory`.
pub fn holds_shards(directory: &Path) -> bool {
    let is_shard = |entry: fs::DirEntry| {
        let name = entry.file_name();
        Path::new(&name)
            .extension()
            .is_some_and(|end| end == "shard")
    };
    fs::read_dir(directory).is_ok_and(|entries| entries.flatten().any(is_shard))
}
