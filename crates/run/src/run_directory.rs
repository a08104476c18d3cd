//! Run directories, and the one way to write a file: under a temporary name, then renamed.
//!
//! A reader therefore never sees half a file under a final name, whatever ends the program.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::{NamedTempFile, PersistError};
use thiserror::Error;

use crate::lock::{DirectoryLock, LOCK, is_at};
use crate::moment;
use crate::sealed::{Form, decode, read_json, read_sealed, write_json, write_sealed};

/// Name of the file with all options resolved.
pub const RUN: &str = "run.toml";
/// Name of the summary.
pub const SUMMARY: &str = "summary.json";
/// Name of the checkpoint of an unfinished run.
pub const CHECKPOINT: &str = "checkpoint.bin";

/// How the names of temporary files start and end, and how many letters and digits are between.
const TEMPORARY: (&str, usize, &str) = (".probity-", 8, ".part");

/// Checkpoints are private to the version that writes them.
const CHECKPOINT_FORM: Form = Form {
    kind: "checkpoint",
    version: env!("CARGO_PKG_VERSION"),
};

/// Why a run directory cannot be used.
#[derive(Debug, Error)]
pub enum RunError {
    /// It cannot be made or written.
    #[error("cannot write {}: {source}", file.display())]
    Write {
        /// The file or directory.
        file: PathBuf,
        /// The operating system's word.
        source: io::Error,
    },
    /// A file that is not to be replaced is there.
    #[error("{} exists; add --force to replace it", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// It holds something else already.
    #[error("{} is not empty{}; choose another --out", directory.display(), unfinished_in(directory))]
    NotEmpty {
        /// The directory.
        directory: PathBuf,
    },
    /// It is no longer where it was.
    #[error(
        "{} was moved or replaced while it was written; nothing more is written there",
        directory.display()
    )]
    Moved {
        /// The directory, as it was named.
        directory: PathBuf,
    },
    /// Another process writes into it.
    #[error(
        "another process is writing into {}; wait until it ends, or choose another directory",
        directory.display()
    )]
    Busy {
        /// The directory.
        directory: PathBuf,
    },
    /// A file that is to be replaced has another name, which would keep what it holds now.
    #[error(
        "{} has a second name (a hard link), which would keep what is to be replaced; delete one of the two",
        file.display()
    )]
    SecondName {
        /// The file.
        file: PathBuf,
    },
    /// A file of it was changed or damaged after it was written.
    #[error(
        "{} was changed after it was written: its content does not have the hash that it was sealed with; restore it, or make it anew",
        file.display()
    )]
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// A file of it cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The operating system's word.
        source: io::Error,
    },
    /// A file stands beside a model that it does not belong to.
    #[error(
        "{} belongs to the model of SHA-256 {of}, and the model beside it has {beside}; restore the two that go together, or delete the file",
        file.display()
    )]
    OtherModel {
        /// The file.
        file: PathBuf,
        /// The hash of the model that it names.
        of: String,
        /// The hash of the model that is there.
        beside: String,
    },
    /// A file of it is not what this build writes.
    #[error("{} is not what this version of probity writes: {problem}", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

/// Of a directory with an unfinished run: what goes on with it.
fn unfinished_in(directory: &Path) -> String {
    if !directory.join(CHECKPOINT).is_file() {
        return String::new();
    }
    let kind = fs::read_to_string(directory.join(RUN))
        .ok()
        .and_then(|text| {
            let table: toml::Table = text.parse().ok()?;
            Some(table.get("kind")?.as_str()?.to_owned())
        });
    match kind {
        Some(kind) => format!(
            " but holds an unfinished run, with which `probity {kind} --resume --out {}` goes on",
            directory.display()
        ),
        None => String::new(),
    }
}

/// A summary with when its run ended and the hashes of the files that it is about.
#[derive(Serialize)]
struct Sealing<'a, T> {
    #[serde(flatten)]
    summary: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    sha256: BTreeMap<String, String>,
}

/// What a summary says of the files beside it.
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
    /// The directory, where it was made for the run.
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
    /// Makes `path` for a new run, and locks it. It may exist when it is empty. If nothing is
    /// written, it is removed again.
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

    /// The run that is already in `path`, to be read. Whoever reads [`RUN`] comes through here: once
    /// there is a summary, it is still the one that the summary was written beside.
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

    /// The same, where a run may have been done without a [`RUN`]. One whose summary speaks of the
    /// file must have it.
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

    fn has_summary(&self) -> bool {
        self.file(SUMMARY).is_file()
    }

    /// What the summary says of the files beside it.
    fn sealed(&self) -> Result<BTreeMap<String, String>, RunError> {
        let Hashes { sha256 } = self.read_summary()?;
        Ok(sha256)
    }

    /// The run that is already in `path`, locked, to go on with it.
    ///
    /// # Errors
    /// When there is none, or another process has it locked.
    pub fn open_to_write(path: &Path) -> Result<RunDirectory, RunError> {
        let mut run = Self::open(path)?;
        let lock = Some(DirectoryLock::now(path)?);
        run.held = Some(Arc::new(Held { lock, made: None }));
        Ok(run)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// That what is written by its path goes there: asked before anything is written.
    ///
    /// # Errors
    /// [`RunError::Moved`], where it is locked.
    pub fn expect_in_place(&self) -> Result<(), RunError> {
        let lock = self.held.as_ref().and_then(|held| held.lock.as_ref());
        lock.map_or(Ok(()), DirectoryLock::expect_in_place)
    }

    /// The file called `name` in it.
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
    /// hashes of the other files of the run under `sha256`, and a seal. It is the last file of a
    /// run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_summary<T: Serialize>(&self, summary: &T) -> Result<(), RunError> {
        self.seal(summary, Some(moment::now()))
    }

    /// The same for a run whose end is nobody's business.
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

    /// The hashes of the files of the run, but for what comes and goes.
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
            {
                hashes.insert(name, file_sha256(&entry.path())?);
            }
        }
        Ok(hashes)
    }

    /// The summary of the run.
    ///
    /// # Errors
    /// When it is missing, was changed or is of another form.
    pub fn read_summary<T: DeserializeOwned>(&self) -> Result<T, RunError> {
        read_json(&self.file(SUMMARY))
    }

    /// The file called `name` of a complete run, which is still as the run wrote it.
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

    /// Writes a checkpoint. Its form is private to the version that wrote it; `run` identifies
    /// what it belongs to.
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
        })
    }

    /// Reads the checkpoint of `run`, if there is one. `check` says what in it cannot be of this run:
    /// its seal can be made anew ([`super::sealed`]).
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

    /// Removes the checkpoint of a run that is complete.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove_checkpoint(&self) -> Result<(), RunError> {
        self.remove(CHECKPOINT)
    }

    fn remove(&self, name: &str) -> Result<(), RunError> {
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

pub(crate) fn foreign(file: &Path, error: &dyn std::fmt::Display) -> RunError {
    RunError::Foreign {
        file: file.to_owned(),
        problem: error.to_string(),
    }
}

/// Writes `bytes` to `file` under a temporary name first; its directory is made if needed.
///
/// # Errors
/// When it cannot be written.
pub fn write_atomically(file: &Path, bytes: &[u8]) -> Result<(), RunError> {
    write_with(file, |writer| writer.write_all(bytes))
}

/// Lets `write` fill `file` under a temporary name, then renames it. Where `file` is a link, that is
/// done to the file that it leads to, so that no other name keeps the old content.
///
/// # Errors
/// When it cannot be written; nothing is then left under the final name.
pub fn write_with(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), RunError> {
    remove_leftovers_beside(file)?;
    write_and(file, write, |temporary, target| temporary.persist(target))
}

/// The same in a directory that other machines write to as well. What killed processes left there
/// stays: whether a file on a shared file system is still being written, its locks do not always
/// tell.
///
/// # Errors
/// When it cannot be written; nothing is then left under the final name.
pub(crate) fn write_among_others(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), RunError> {
    write_and(file, write, |temporary, target| temporary.persist(target))
}

/// The same where no file may be yet, not even one that comes to be while this one is written.
///
/// # Errors
/// [`RunError::Exists`]; when it cannot be written.
pub fn write_new_with(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), RunError> {
    remove_leftovers_beside(file)?;
    let written = write_and(file, write, |temporary, target| {
        temporary.persist_noclobber(target)
    });
    match written {
        Err(RunError::Write { file, source }) if source.kind() == io::ErrorKind::AlreadyExists => {
            Err(RunError::Exists { file })
        }
        written => written,
    }
}

/// The file that `file` is, or leads to.
fn target_of(file: &Path) -> Result<PathBuf, RunError> {
    match fs::symlink_metadata(file) {
        Ok(found) if found.is_symlink() => {
            fs::canonicalize(file).map_err(|source| RunError::Write {
                file: file.to_owned(),
                source,
            })
        }
        _ => Ok(file.to_owned()),
    }
}

fn remove_leftovers_beside(file: &Path) -> Result<(), RunError> {
    remove_leftovers(folder_of(&target_of(file)?));
    Ok(())
}

fn write_and(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
    persist: impl FnOnce(NamedTempFile, &Path) -> Result<File, PersistError>,
) -> Result<(), RunError> {
    let failed = |source| RunError::Write {
        file: file.to_owned(),
        source,
    };
    let target = target_of(file)?;
    let directory = folder_of(&target);
    fs::create_dir_all(directory).map_err(failed)?;
    // Temporary files are private by default; results are as readable as the user's umask allows.
    let mut temporary = temporary_in(directory, 0o666).map_err(failed)?;
    let mut writer = BufWriter::new(temporary.as_file_mut());
    write(&mut writer)
        .and_then(|()| writer.flush())
        .map_err(failed)?;
    drop(writer);
    if let Ok(found) = fs::metadata(&target) {
        // Whom the file was kept from, what replaces it is kept from.
        let kept = temporary.as_file().set_permissions(found.permissions());
        kept.map_err(failed)?;
    }
    temporary.as_file().sync_all().map_err(failed)?;
    persist(temporary, &target).map_err(|error| failed(error.error))?;
    sync(directory);
    Ok(())
}

/// Refuses a file that has a second name (a hard link), which would keep the old content when the
/// file is replaced.
///
/// # Errors
/// [`RunError::SecondName`]; when the file is not there.
pub fn expect_one_name(file: &Path) -> Result<(), RunError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = fs::metadata(file).map_err(|source| RunError::Read {
            file: file.to_owned(),
            source,
        })?;
        if found.nlink() > 1 {
            return Err(RunError::SecondName {
                file: file.to_owned(),
            });
        }
    }
    Ok(())
}

/// The directory that `file` is in.
pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes renamings in `directory` outlast a loss of power, where the file system can.
pub(crate) fn sync(directory: &Path) {
    #[cfg(unix)]
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
}

/// A temporary file in `directory` with the rights `mode`, as far as the umask allows. It is locked
/// as long as it is open, which tells it from what a killed process left.
///
/// # Errors
/// When it cannot be made.
pub fn temporary_in(directory: &Path, mode: u32) -> io::Result<NamedTempFile> {
    loop {
        let mut builder = tempfile::Builder::new();
        let (prefix, length, suffix) = TEMPORARY;
        builder.prefix(prefix).rand_bytes(length).suffix(suffix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
        let temporary = builder.tempfile_in(directory)?;
        let is_ours = match temporary.as_file().try_lock() {
            Ok(()) => is_at(temporary.as_file(), temporary.path())?,
            // Somebody takes it for a leftover, and is about to remove it.
            Err(TryLockError::WouldBlock) => false,
            // Where there are no locks, nothing is taken for a leftover either.
            Err(TryLockError::Error(_)) => true,
        };
        if is_ours {
            return Ok(temporary);
        }
    }
}

/// Removes the temporary files in `directory` that no process has open: what killed ones left,
/// which may hold rows that were deleted since. What cannot be removed stays.
pub fn remove_leftovers(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        if !is_temporary(&entry.file_name()) {
            continue;
        }
        let path = entry.path();
        let is_dead = File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        if is_dead {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Whether [`temporary_in`] gives such names; files of users are none of ours.
fn is_temporary(name: &OsStr) -> bool {
    let (prefix, length, suffix) = TEMPORARY;
    let name = name.to_str().and_then(|name| name.strip_prefix(prefix));
    let drawn = name.and_then(|name| name.strip_suffix(suffix));
    drawn.is_some_and(|drawn| {
        drawn.len() == length && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// SHA-256 of a file's bytes, in hex.
///
/// # Errors
/// When it cannot be read.
pub fn file_sha256(file: &Path) -> Result<String, RunError> {
    let failed = |source| RunError::Read {
        file: file.to_owned(),
        source,
    };
    sha256_of(&mut File::open(file).map_err(failed)?).map_err(failed)
}

/// SHA-256, in hex, of what is left in `reader`.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of(reader: &mut impl io::Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
