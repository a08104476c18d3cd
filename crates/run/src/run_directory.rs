//! Run directories, and the one way to write a file: under a temporary name, then renamed.
//!
//! A reader therefore never sees half a file under a final name, whatever ends the program.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use thiserror::Error;

/// Name of the file with all options resolved.
pub const RUN: &str = "run.toml";
/// Name of the summary.
pub const SUMMARY: &str = "summary.json";
/// Name of the checkpoint of an unfinished run.
pub const CHECKPOINT: &str = "checkpoint.bin";

/// How the names of temporary files start.
pub const TEMPORARY_PREFIX: &str = ".probity-";

const CHECKPOINT_MAGIC: &str = "probity checkpoint";

/// Why a run directory cannot be used.
#[derive(Debug, Error)]
pub enum RunError {
    /// It cannot be made or written.
    #[error("cannot write {}: {source}; choose another --out", file.display())]
    Write {
        /// The file or directory.
        file: PathBuf,
        /// The operating system's word.
        source: io::Error,
    },
    /// It holds something else already.
    #[error("{} is not empty; choose another --out (or --resume to go on with an unfinished run)", directory.display())]
    NotEmpty {
        /// The directory.
        directory: PathBuf,
    },
    /// A file of it cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The operating system's word.
        source: io::Error,
    },
    /// It is a run of another command.
    #[error("{} holds a run of '{found}', not of '{wanted}'", directory.display())]
    OtherCommand {
        /// The directory.
        directory: PathBuf,
        /// The command that it is of.
        found: String,
        /// The command asked for.
        wanted: String,
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

/// A summary, and when its run ended.
#[derive(Serialize)]
struct Ended<'a, T> {
    #[serde(flatten)]
    summary: &'a T,
    ended: String,
}

/// A directory that holds one run.
#[derive(Debug, Clone)]
pub struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Makes `path` for a new run. It may exist when it is empty.
    ///
    /// # Errors
    /// When it cannot be made or written, or holds something.
    pub fn create(path: &Path) -> Result<RunDirectory, RunError> {
        let failed = |source| RunError::Write {
            file: path.to_owned(),
            source,
        };
        fs::create_dir_all(path).map_err(failed)?;
        if fs::read_dir(path).map_err(failed)?.next().is_some() {
            return Err(RunError::NotEmpty {
                directory: path.to_owned(),
            });
        }
        // Found out now rather than after the work.
        NamedTempFile::new_in(path).map_err(failed)?;
        Ok(RunDirectory {
            path: path.to_owned(),
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
                Ok(()) => return Self::create(&path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < u32::MAX => {
                    number += 1;
                }
                Err(source) => return Err(failed(path, source)),
            }
        }
    }

    /// The run that is already in `path`.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(path: &Path) -> Result<RunDirectory, RunError> {
        let file = path.join(RUN);
        File::open(&file).map_err(|source| RunError::Read { file, source })?;
        Ok(RunDirectory {
            path: path.to_owned(),
        })
    }

    /// The run of `command` that is already in `path`, with its `run.toml`.
    ///
    /// # Errors
    /// When there is none, or one of another command.
    pub fn open_run<T: DeserializeOwned>(
        path: &Path,
        command: &str,
    ) -> Result<(RunDirectory, T), RunError> {
        let directory = Self::open(path)?;
        let written: toml::Table = directory.read_toml(RUN)?;
        let found = written.get("command").and_then(toml::Value::as_str);
        if found != Some(command) {
            return Err(RunError::OtherCommand {
                directory: path.to_owned(),
                found: found.unwrap_or("something else").to_owned(),
                wanted: command.to_owned(),
            });
        }
        let run = directory.read_toml(RUN)?;
        Ok((directory, run))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file called `name` in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a value as TOML.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_toml<T: Serialize>(&self, name: &str, value: &T) -> Result<(), RunError> {
        let file = self.file(name);
        let text = toml::to_string(value).map_err(|error| foreign(&file, &error))?;
        write_atomically(&file, text.as_bytes())
    }

    /// Reads a value back from TOML.
    ///
    /// # Errors
    /// When the file is missing or of another form.
    pub fn read_toml<T: DeserializeOwned>(&self, name: &str) -> Result<T, RunError> {
        let file = self.file(name);
        let text = fs::read_to_string(&file).map_err(|source| RunError::Read {
            file: file.clone(),
            source,
        })?;
        toml::from_str(&text).map_err(|error| foreign(&file, &error))
    }

    /// Writes a value as indented JSON.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), RunError> {
        let file = self.file(name);
        let mut text =
            serde_json::to_string_pretty(value).map_err(|error| foreign(&file, &error))?;
        text.push('\n');
        write_atomically(&file, text.as_bytes())
    }

    /// Writes `summary` as [`SUMMARY`], with the time of now, in UTC, under the key `ended`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_summary<T: Serialize>(&self, summary: &T) -> Result<(), RunError> {
        let ended = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        self.write_json(SUMMARY, &Ended { summary, ended })
    }

    /// Reads a value back from JSON.
    ///
    /// # Errors
    /// When the file is missing or of another form.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, RunError> {
        let file = self.file(name);
        let bytes = fs::read(&file).map_err(|source| RunError::Read {
            file: file.clone(),
            source,
        })?;
        serde_json::from_slice(&bytes).map_err(|error| foreign(&file, &error))
    }

    /// Writes a checkpoint. Its form is private to the version that wrote it; `run` identifies
    /// what it belongs to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_checkpoint<T: Serialize>(&self, run: &str, value: &T) -> Result<(), RunError> {
        let file = self.file(CHECKPOINT);
        write_with(&file, |writer| {
            let header = (CHECKPOINT_MAGIC, env!("CARGO_PKG_VERSION"), run);
            postcard::to_io(&header, &mut *writer)
                .and_then(|writer| postcard::to_io(value, writer))
                .map(|_| ())
                .map_err(io::Error::other)
        })
    }

    /// Reads the checkpoint of `run`, if there is one.
    ///
    /// # Errors
    /// When it cannot be read, is of another version, or belongs to another run.
    pub fn read_checkpoint<T: DeserializeOwned>(&self, run: &str) -> Result<Option<T>, RunError> {
        let file = self.file(CHECKPOINT);
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(RunError::Read { file, source }),
        };
        let (header, rest) = postcard::take_from_bytes::<(&str, &str, &str)>(&bytes)
            .map_err(|error| foreign(&file, &error))?;
        let (magic, version, owner) = header;
        let problem = if magic != CHECKPOINT_MAGIC {
            "it is no checkpoint".to_owned()
        } else if version != env!("CARGO_PKG_VERSION") {
            format!("it was written by version {version}")
        } else if owner != run {
            format!("it belongs to other options, model or data than {RUN} says")
        } else {
            return postcard::from_bytes(rest)
                .map(Some)
                .map_err(|error| foreign(&file, &error));
        };
        Err(RunError::Foreign { file, problem })
    }

    /// Removes the checkpoint of a run that is complete.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove_checkpoint(&self) -> Result<(), RunError> {
        let file = self.file(CHECKPOINT);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RunError::Write {
                file,
                source: error,
            }),
            _ => Ok(()),
        }
    }
}

fn foreign(file: &Path, error: &dyn std::fmt::Display) -> RunError {
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

/// Lets `write` fill `file` under a temporary name, then renames it.
///
/// # Errors
/// When it cannot be written; nothing is then left under the final name.
pub fn write_with(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), RunError> {
    let failed = |source| RunError::Write {
        file: file.to_owned(),
        source,
    };
    let directory = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(directory).map_err(failed)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY_PREFIX);
    // Temporary files are private by default; results are as readable as the user's umask allows.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporary = builder.tempfile_in(directory).map_err(failed)?;
    let mut writer = BufWriter::new(temporary.as_file_mut());
    write(&mut writer)
        .and_then(|()| writer.flush())
        .map_err(failed)?;
    drop(writer);
    temporary.as_file().sync_all().map_err(failed)?;
    temporary
        .persist(file)
        .map_err(|error| failed(error.error))?;
    Ok(())
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
