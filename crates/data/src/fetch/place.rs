//! The cache folder of one set: its files, and how a verified file gets its final name.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use super::archive;
use super::catalogue::{DataFile, Source};
use super::digest::{CopyFault, sha256_of};
use super::error::FetchError;

/// Returns whether `path` is a file with the published content.
pub(super) fn holds(path: &Path, file: &DataFile) -> Result<bool, FetchError> {
    match fs::metadata(path) {
        // The size tells most foreign files without reading them.
        Ok(metadata) if metadata.len() != file.size => return Ok(false),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(FetchError::io("read", path)(error)),
    }
    let mut content = File::open(path).map_err(FetchError::io("read", path))?;
    let sha256 = sha256_of(&mut content).map_err(FetchError::io("read", path))?;
    Ok(sha256.eq_ignore_ascii_case(&file.sha256))
}

/// Keeps other processes out of `folder` until the returned file is dropped.
pub(super) fn lock(folder: &Path) -> Result<File, FetchError> {
    let path = folder.join(".lock");
    let lock = File::create(&path).map_err(FetchError::io("create", &path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(FetchError::Busy {
            folder: folder.to_owned(),
        }),
        // Some network file systems know no locks; without one, a race ends in a wrong hash at
        // worst, never in a wrong file.
        Err(TryLockError::Error(_)) => Ok(lock),
    }
}

/// Takes `file` out of the zip archive at `path`.
pub(super) fn unpack(
    file: &DataFile,
    source: &Source,
    path: &Path,
    shown: &str,
    folder: &Path,
) -> Result<(), FetchError> {
    let archive = File::open(path).map_err(FetchError::io("read", path))?;
    stage(
        file,
        shown,
        folder,
        |target| archive::extract(archive, &source.members, target, file.size),
        |error| FetchError::Archive {
            from: shown.to_owned(),
            member: source.members.join("/"),
            reason: error.to_string(),
        },
    )
}

/// Creates a temporary file, which `write` fills and whose hash it returns, and puts it in place if
/// the hash is right; `unreadable` names a failure to read what `write` copies.
pub(super) fn stage(
    file: &DataFile,
    from: &str,
    folder: &Path,
    write: impl FnOnce(&mut File) -> Result<String, CopyFault>,
    unreadable: impl FnOnce(io::Error) -> FetchError,
) -> Result<(), FetchError> {
    let staged = folder.join(format!("{}.new", file.name));
    let mut target = File::create(&staged).map_err(FetchError::io("create", &staged))?;
    let placed = write(&mut target)
        .map_err(|fault| match fault {
            CopyFault::Read(error) => unreadable(error),
            CopyFault::Write(error) => FetchError::io("write", &staged)(error),
        })
        .and_then(|sha256| check_hash(file, from, &sha256))
        .and_then(|()| put_in_place(&staged, &folder.join(&file.name)));
    if placed.is_err() {
        remove_if_there(&staged)?;
    }
    placed
}

/// Returns an error unless `actual` is the hash that is pinned for `file`.
pub(super) fn check_hash(file: &DataFile, from: &str, actual: &str) -> Result<(), FetchError> {
    if actual.eq_ignore_ascii_case(&file.sha256) {
        return Ok(());
    }
    Err(FetchError::WrongHash {
        file: file.name.clone(),
        from: from.to_owned(),
        expected: file.sha256.clone(),
        actual: actual.to_owned(),
    })
}

/// Renames a verified file, after its bytes have reached the disk: the name is the promise.
pub(super) fn put_in_place(from: &Path, to: &Path) -> Result<(), FetchError> {
    File::open(from)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(from, to))
        .map_err(FetchError::io("put in place", to))
}

/// Removes a file that may be absent.
pub(super) fn remove_if_there(path: &Path) -> Result<(), FetchError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FetchError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
