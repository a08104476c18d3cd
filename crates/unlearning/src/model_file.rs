//! One file that holds a whole model: written as a whole or not at all, and sealed by a hash.
//!
//! The file is a line that names the kind of model and the version of the form, the SHA-256 of what
//! follows in hex on a line of its own, and the model in
//! [postcard](https://postcard.jamesmunns.com). It is written under a temporary name and renamed,
//! so that a crash leaves the old model or the new one. The hash finds damage and edits; it is no
//! signature against someone who computes it anew, so models check what they are made of.
//!
//! A list in the file takes memory as its elements are read, not as its length says: a forged
//! length costs no more than a small multiple of the file's size.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use thiserror::Error;

use probity_run::run_directory::{RunError, TEMPORARY_PREFIX, hex, write_with};

/// Why a model file cannot be used.
#[derive(Debug, Error)]
pub enum ModelFileError {
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] RunError),
    /// It cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The operating system's word.
        source: std::io::Error,
    },
    /// It is something else.
    #[error("{} is no {wanted} model of this version of probity", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// The kind of model.
        wanted: &'static str,
    },
    /// It is not what was written.
    #[error(
        "{} was changed after it was written (SHA-256 {found}, written {written}); restore it, or fit the model again",
        file.display()
    )]
    Changed {
        /// The file.
        file: PathBuf,
        /// The hash of what is there.
        found: String,
        /// The hash that it was sealed with.
        written: String,
    },
}

/// The bytes of `value`: the same value gives the same bytes.
///
/// # Errors
/// None for values whose lists know their lengths.
pub fn encode(value: &impl Serialize) -> Result<Vec<u8>, String> {
    postcard::to_stdvec(value).map_err(|error| error.to_string())
}

/// The value in `bytes`, all of which must be used.
///
/// # Errors
/// Bytes that [`encode`] does not write for such a value.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{} bytes follow its end", rest.len())),
        Err(postcard::Error::DeserializeUnexpectedEnd) => Err("it ends too early".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn first_line(kind: &str) -> String {
    format!("probity {kind} model 1\n")
}

/// Writes `model` to `file`; it replaces a file that is there at once. Temporary files that a crash
/// left in its directory are removed: they may hold rows that were deleted since.
///
/// # Errors
/// When it cannot be written; the file is then as it was.
pub fn write_model(file: &Path, kind: &'static str, model: &[u8]) -> Result<(), ModelFileError> {
    use std::io::Write;
    write_with(file, |writer| {
        writer.write_all(first_line(kind).as_bytes())?;
        writer.write_all(hex(&Sha256::digest(model)).as_bytes())?;
        writer.write_all(b"\n")?;
        writer.write_all(model)
    })?;
    match file.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => remove_leftovers(directory),
        _ => remove_leftovers(Path::new(".")),
    }
}

fn remove_leftovers(directory: &Path) -> Result<(), ModelFileError> {
    let failed = |source| RunError::Write {
        file: directory.to_owned(),
        source,
    };
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(TEMPORARY_PREFIX) {
            fs::remove_file(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}

/// Reads the model that [`write_model`] wrote.
///
/// # Errors
/// When it cannot be read, is of another kind, or was changed.
pub fn read_model(file: &Path, kind: &'static str) -> Result<Vec<u8>, ModelFileError> {
    let bytes = fs::read(file).map_err(|source| ModelFileError::Read {
        file: file.to_owned(),
        source,
    })?;
    let foreign = || ModelFileError::Foreign {
        file: file.to_owned(),
        wanted: kind,
    };
    let rest = bytes
        .strip_prefix(first_line(kind).as_bytes())
        .ok_or_else(foreign)?;
    let (written, rest) = rest.split_at_checked(64).ok_or_else(foreign)?;
    let model = rest.strip_prefix(b"\n").ok_or_else(foreign)?;
    let found = hex(&Sha256::digest(model));
    if found.as_bytes() != written {
        return Err(ModelFileError::Changed {
            file: file.to_owned(),
            found,
            written: String::from_utf8_lossy(written).into_owned(),
        });
    }
    Ok(model.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("model");
        let leftover = folder.path().join(".probity-left");
        fs::write(&leftover, b"rows of before").unwrap();
        write_model(&file, "spn", b"rows").unwrap();
        assert!(!leftover.exists());
        assert_eq!(read_model(&file, "spn").unwrap(), b"rows");
        assert!(matches!(
            read_model(&file, "kmeans"),
            Err(ModelFileError::Foreign { .. })
        ));
        let bytes = fs::read(&file).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            fs::write(&file, changed).unwrap();
            assert!(read_model(&file, "spn").is_err(), "byte {at}");
            fs::write(&file, &bytes[..at]).unwrap();
            assert!(read_model(&file, "spn").is_err(), "cut at {at}");
        }
    }
}
