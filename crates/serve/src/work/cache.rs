//! A cache of the files that jobs read, by their hashes: several jobs of a service may read the
//! same table or model.
//!
//! The files are users' data. A file that no job has read for a while is removed, and all of them
//! are when the worker begins and ends.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use super::client::FetchError;
use crate::jobs::wire::WorkFile;
use crate::places::{gone, make_private};
use probity_run::run_directory::file_sha256;

/// How long a file that no job reads is kept.
const KEPT: Duration = Duration::from_secs(3600);

/// The folder of the files, and the time when each was used last.
pub(super) struct Cache {
    folder: PathBuf,
    used: Mutex<HashMap<String, Instant>>,
}

impl Cache {
    /// Makes an empty cache in `folder`.
    pub fn create(folder: &Path) -> io::Result<Cache> {
        gone(fs::remove_dir_all(folder))?;
        make_private(folder)?;
        Ok(Cache {
            folder: folder.to_owned(),
            used: Mutex::default(),
        })
    }

    /// Puts `file` at `target`: from the cache, else as `fetch` writes it.
    pub fn put(
        &self,
        file: &WorkFile,
        target: &Path,
        fetch: impl FnOnce(&mut fs::File) -> Result<(), FetchError>,
    ) -> Result<(), FetchError> {
        let kept = self.folder.join(&file.sha256);
        let is_kept = file_sha256(&kept).is_ok_and(|sha256| sha256 == file.sha256);
        if !is_kept {
            let mut new = NamedTempFile::new_in(&self.folder)?;
            fetch(new.as_file_mut())?;
            new.persist(&kept).map_err(|error| error.error)?;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.insert(file.sha256.clone(), Instant::now());
        drop(used);
        // Where a file cannot have two names, it is copied.
        if fs::hard_link(&kept, target).is_err() {
            fs::copy(&kept, target)?;
        }
        Ok(())
    }

    /// Removes the files that no job has read for a while.
    pub fn forget_unused(&self) -> io::Result<()> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let over: Vec<String> = used
            .iter()
            .filter(|(_, used)| used.elapsed() > KEPT)
            .map(|(sha256, _)| sha256.clone())
            .collect();
        for sha256 in over {
            gone(fs::remove_file(self.folder.join(&sha256)))?;
            used.remove(&sha256);
        }
        Ok(())
    }

    /// Removes all files.
    pub fn clear(&self) -> io::Result<()> {
        gone(fs::remove_dir_all(&self.folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_run::run_directory::sha256_of;
    use std::io::Write;

    #[test]
    fn what_is_kept_is_fetched_once_and_what_is_damaged_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::create(&folder.path().join("files")).unwrap();
        let file = WorkFile {
            path: "data/0123456789abcdef/data.csv".to_owned(),
            bytes: 3,
            sha256: sha256_of(&mut &b"a,b"[..]).unwrap(),
        };
        let mut fetched = 0;
        let mut put = |name: &str| {
            let target = folder.path().join(name);
            let fetch = |target: &mut fs::File| {
                fetched += 1;
                Ok(target.write_all(b"a,b")?)
            };
            cache.put(&file, &target, fetch).unwrap();
            (fs::read_to_string(target).unwrap(), fetched)
        };
        assert_eq!(put("one"), ("a,b".to_owned(), 1));
        assert_eq!(put("two"), ("a,b".to_owned(), 1));
        fs::write(folder.path().join("files").join(&file.sha256), "x").unwrap();
        assert_eq!(put("three"), ("a,b".to_owned(), 2));
        cache.forget_unused().unwrap();
        assert_eq!(put("four"), ("a,b".to_owned(), 2));
        cache.clear().unwrap();
        assert!(!folder.path().join("files").exists());
    }
}
