//! The lock of a directory that is read, changed and written: a model, a run.
//!
//! Whoever reads something in order to write it back holds the lock from before it reads until
//! after it has written, so that no change is lost between the two. The lock is that of the
//! operating system on the file [`LOCK`] *in* the directory: all paths to the directory lead to it,
//! and it is given up when its process ends, however it ends. The file is removed with the lock;
//! one that a killed process left is taken over.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

pub use crate::atomic::is_at;
use crate::atomic::{folder_of, remove_leftovers};
use crate::error::RunError;

/// The name of the file that is locked.
pub const LOCK: &str = ".probity.lock";

/// The exclusive right to change a directory, until it is dropped.
#[derive(Debug)]
pub struct DirectoryLock {
    path: PathBuf,
    // The operating system unlocks it when it is closed.
    file: File,
}

impl DirectoryLock {
    /// Locks `directory`, and removes what killed processes left in it. `waiting` is told once when
    /// another process has the lock, for which this one then waits.
    ///
    /// # Errors
    /// When the directory is not there or cannot be written.
    pub fn wait(directory: &Path, waiting: impl FnOnce()) -> Result<DirectoryLock, RunError> {
        let mut waiting = Some(waiting);
        Self::acquire(directory, |file| {
            lock_or_wait(file, || {
                if let Some(waiting) = waiting.take() {
                    waiting();
                }
            })
        })
    }

    /// Locks `directory`, and removes what killed processes left in it.
    ///
    /// # Errors
    /// [`RunError::Busy`] when another process has the lock; when the directory is not there or
    /// cannot be written.
    pub fn now(directory: &Path) -> Result<DirectoryLock, RunError> {
        let lock = Self::acquire(directory, |file| match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::ResourceBusy.into()),
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        });
        match lock {
            Err(RunError::Write { source, .. }) if source.kind() == io::ErrorKind::ResourceBusy => {
                Err(RunError::Busy {
                    directory: directory.to_owned(),
                })
            }
            lock => lock,
        }
    }

    fn acquire(
        directory: &Path,
        mut lock: impl FnMut(&File) -> io::Result<()>,
    ) -> Result<DirectoryLock, RunError> {
        let path = directory.join(LOCK);
        let failed = |source| RunError::Write {
            file: directory.to_owned(),
            source,
        };
        let file = loop {
            let file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)
                .map_err(failed)?;
            lock(&file).map_err(failed)?;
            // Its last holder may have removed it in between: then it locks nothing any more.
            if is_at(&file, &path).map_err(failed)? {
                break file;
            }
        };
        remove_leftovers(directory);
        Ok(DirectoryLock { path, file })
    }

    /// Checks that the locked directory still is where it was locked: what is written by its path
    /// would else change another, which another process may have locked.
    ///
    /// # Errors
    /// [`RunError::Moved`]
    pub fn expect_in_place(&self) -> Result<(), RunError> {
        match is_at(&self.file, &self.path) {
            Ok(true) => Ok(()),
            _ => Err(RunError::Moved {
                directory: folder_of(&self.path).to_owned(),
            }),
        }
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // While it is still held, and is not another's by now. A file that stays behind locks
        // nobody out.
        #[cfg(unix)]
        if self.expect_in_place().is_ok() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Locks `file` exclusively. `waiting` is told when another process has the lock, for which this
/// one then waits.
///
/// # Errors
/// When the file cannot be locked.
pub fn lock_or_wait(file: &File, waiting: impl FnOnce()) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            waiting();
            file.lock()
        }
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn one_at_a_time_by_any_path() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        fs::create_dir(&model).unwrap();
        let counter = model.join("counter");
        fs::write(&counter, "0").unwrap();
        let other = folder.path().join("model/../model");
        let (told, hears) = mpsc::channel();
        std::thread::scope(|scope| {
            let held = DirectoryLock::now(&model).unwrap();
            for worker in 0..8_usize {
                let (path, counter, told) = (
                    if worker % 2 == 0 { &model } else { &other },
                    &counter,
                    told.clone(),
                );
                scope.spawn(move || {
                    for _ in 0..50 {
                        let said = || told.send(worker).unwrap();
                        let _lock = DirectoryLock::wait(path, said).unwrap();
                        let count: u32 = fs::read_to_string(counter).unwrap().parse().unwrap();
                        std::thread::yield_now();
                        fs::write(counter, (count + 1).to_string()).unwrap();
                    }
                });
            }
            // By either path it is waited for, and nothing is done meanwhile.
            let mut waits = [false; 2];
            while waits != [true; 2] {
                let worker = hears.recv_timeout(Duration::from_secs(300));
                waits[worker.expect("somebody waits") % 2] = true;
            }
            assert_eq!(fs::read_to_string(&counter).unwrap(), "0");
            drop(held);
        });
        assert_eq!(fs::read_to_string(&counter).unwrap(), "400");
        assert!(!model.join(LOCK).exists());
    }

    #[test]
    fn a_directory_that_was_moved_is_not_written_to_by_its_old_name() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        fs::create_dir(&old).unwrap();
        let lock = DirectoryLock::now(&old).unwrap();
        lock.expect_in_place().unwrap();
        fs::rename(&old, &new).unwrap();
        assert!(lock.expect_in_place().is_err());
        fs::create_dir(&old).unwrap();
        let other = DirectoryLock::now(&old).unwrap();
        let moved = lock.expect_in_place().unwrap_err();
        assert!(matches!(moved, RunError::Moved { .. }), "{moved}");
        other.expect_in_place().unwrap();
        drop(lock);
        other.expect_in_place().unwrap();
    }

    #[test]
    fn a_busy_directory_is_refused_at_once_and_free_again_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let lock = DirectoryLock::now(folder.path()).unwrap();
        assert!(matches!(
            DirectoryLock::now(folder.path()),
            Err(RunError::Busy { .. })
        ));
        drop(lock);
        DirectoryLock::now(folder.path()).unwrap();
        // What a kill leaves behind.
        fs::write(folder.path().join(LOCK), "").unwrap();
        DirectoryLock::now(folder.path()).unwrap();
        assert!(matches!(
            DirectoryLock::now(&folder.path().join("absent")),
            Err(RunError::Write { .. })
        ));
    }
}
