//! The one way to write a file: under a temporary name, which is then renamed.
//!
//! A reader therefore never sees half a file under a final name, whatever ends the program.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, PersistError};

use crate::error::RunError;

/// The start and the end of the names of temporary files, and the number of letters and digits
/// between.
const TEMPORARY: (&str, usize, &str) = (".probity-", 8, ".part");

/// Writes `bytes` to `file` under a temporary name first; its directory is made if needed.
///
/// # Errors
/// When it cannot be written.
pub fn write_atomically(file: &Path, bytes: &[u8]) -> Result<(), RunError> {
    write_with(file, |writer| writer.write_all(bytes))
}

/// Lets `write` fill `file` under a temporary name, then renames it. Where `file` is a link, that
/// is done to the file that it leads to, so that no other name keeps the old content.
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

/// Writes `file` as [`write_with`] does, in a directory that other machines write to as well. Files
/// that killed processes left there stay: on a shared file system, locks do not always tell whether
/// a file is still being written.
///
/// # Errors
/// When it cannot be written; nothing is then left under the final name.
pub(crate) fn write_among_others(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), RunError> {
    write_and(file, write, |temporary, target| temporary.persist(target))
}

/// Writes `file` as [`write_with`] does where no file may be yet, not even one that comes to be
/// while this one is written.
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

/// Returns the file that `file` is, or leads to.
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

/// Returns the directory that `file` is in.
pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes renamings in `directory` outlast a loss of power, where the file system can.
fn sync(directory: &Path) {
    #[cfg(unix)]
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
}

/// Creates a temporary file in `directory` with the rights `mode`, as far as the umask allows. The
/// file is locked as long as it is open, which tells it from a file that a killed process left.
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

/// Removes the temporary files in `directory` that no process has open: what killed processes left,
/// which may hold rows that were deleted since. A file that cannot be removed stays.
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

/// Returns whether [`temporary_in`] gives such names; files of users have other names.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let (prefix, length, suffix) = TEMPORARY;
    let name = name.to_str().and_then(|name| name.strip_prefix(prefix));
    let drawn = name.and_then(|name| name.strip_suffix(suffix));
    drawn.is_some_and(|drawn| {
        drawn.len() == length && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Returns whether `path` still leads to the open `file`.
///
/// # Errors
/// When that cannot be found out.
#[cfg(unix)]
pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let opened = file.metadata()?;
    match fs::metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether `path` exists: on other systems, lock files are never removed.
///
/// # Errors
/// When that cannot be found out.
#[cfg(not(unix))]
pub fn is_at(_file: &File, path: &Path) -> io::Result<bool> {
    fs::exists(path)
}
