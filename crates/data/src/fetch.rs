//! Published data sets, fetched once and verified: the library side of `probity data fetch NAME`.
//!
//! A [`DataSet`] names its files, where the publisher keeps them, and the SHA-256 of each file's
//! content as published. [`catalogue`] lists the sets that Probity knows; any other value of the
//! same type works alike. A [`Fetcher`] brings a set into a cache folder, laid out as
//! `CACHE/SET/FILE`, by one of two ways:
//!
//! - [`Fetcher::download`] asks the publisher. What has arrived is kept in `FILE.part`, so that an
//!   interrupted download goes on where it stopped; a dropped connection is tried again a few
//!   times.
//! - [`Fetcher::copy_from`] takes the files from a folder on this machine, plain, gzipped, or in
//!   the publisher's archive.
//!
//! A file gets its final name only after its hash was found right, so whatever lies in the cache
//! under a final name was whole when it was put there. It is hashed again before it is used: a
//! cached file that is right costs no network, one that has been altered since is fetched anew.
//!
//! ```no_run
//! use probity_data::fetch::{FetchOptions, Fetcher, data_set, default_cache_dir};
//!
//! let fetcher = Fetcher::new(default_cache_dir()?, FetchOptions::default());
//! let census = fetcher.download(&data_set("census")?, &mut |progress| {
//!     eprintln!("{} {} of {:?} bytes", progress.file, progress.done, progress.total);
//! })?;
//! println!("{}", census.files[0].path.display());
//! # Ok::<(), probity_data::fetch::FetchError>(())
//! ```

mod archive;
mod catalogue;
mod digest;
mod error;
mod local;
mod place;
mod transfer;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use place::{check_hash, holds, lock, put_in_place, remove_if_there, unpack};
use transfer::Transfer;

pub use catalogue::{DataFile, DataSet, Source, catalogue, data_set};
pub use error::FetchError;
pub use transfer::FetchOptions;

/// The environment variable that names the cache folder instead of the system's usual place.
pub const CACHE_DIR_VARIABLE: &str = "PROBITY_CACHE_DIR";

/// The progress of one file; handed to the caller's callback as bytes arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The file's name in the cache.
    pub file: &'a str,
    /// The number of bytes on disk, those of an earlier, interrupted download among them.
    pub done: u64,
    /// The number of bytes in all, where the server says so.
    pub total: Option<u64>,
}

/// A data set whose files all lie verified in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedSet {
    /// The folder that holds the files.
    pub folder: PathBuf,
    /// The files, in the order of [`DataSet::files`].
    pub files: Vec<FetchedFile>,
}

/// A verified file in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The origin of the file in this call.
    pub origin: Origin,
}

/// The origin of a verified file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The file lay in the cache already.
    Cache,
    /// The file was downloaded from this address.
    Download(String),
    /// The file was copied from this local file.
    Copy(PathBuf),
}

/// Returns the cache folder: the environment's `PROBITY_CACHE_DIR` where it is set, else the user's
/// cache folder by the system's convention (`~/.cache/probity` on Linux).
///
/// # Errors
///
/// [`FetchError::NoCacheDir`] where the system knows no home folder for the user.
pub fn default_cache_dir() -> Result<PathBuf, FetchError> {
    cache_dir(std::env::var_os(CACHE_DIR_VARIABLE))
}

fn cache_dir(from_environment: Option<OsString>) -> Result<PathBuf, FetchError> {
    match from_environment {
        // An empty variable means unset, as in the XDG base directory specification.
        Some(path) if !path.is_empty() => Ok(PathBuf::from(path)),
        _ => directories::ProjectDirs::from("", "", "probity")
            .map(|dirs| dirs.cache_dir().to_owned())
            .ok_or(FetchError::NoCacheDir {
                variable: CACHE_DIR_VARIABLE,
            }),
    }
}

/// A fetcher, which brings data sets into one cache folder.
#[derive(Debug, Clone)]
pub struct Fetcher {
    cache: PathBuf,
    options: FetchOptions,
}

impl Fetcher {
    /// Creates a fetcher into `cache`, which is made when the first set is fetched.
    pub fn new(cache: impl Into<PathBuf>, options: FetchOptions) -> Self {
        Self {
            cache: cache.into(),
            options,
        }
    }

    /// Returns the set, where every file of it already lies in the cache with the right hash.
    ///
    /// # Errors
    ///
    /// [`FetchError::Io`] where a cached file cannot be read.
    pub fn cached(&self, set: &DataSet) -> Result<Option<FetchedSet>, FetchError> {
        let folder = self.cache.join(&set.name);
        let mut files = Vec::with_capacity(set.files.len());
        for file in &set.files {
            let path = folder.join(&file.name);
            if !holds(&path, file)? {
                return Ok(None);
            }
            files.push(FetchedFile {
                path,
                origin: Origin::Cache,
            });
        }
        Ok(Some(FetchedSet { folder, files }))
    }

    /// Downloads the files of the set that the cache lacks, resuming what was interrupted.
    ///
    /// # Errors
    ///
    /// Every variant of [`FetchError`] that speaks of a server, an archive, a hash or the file
    /// system. After [`FetchError::Interrupted`] a repeat goes on from the bytes received.
    pub fn download(
        &self,
        set: &DataSet,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<FetchedSet, FetchError> {
        let transfer = Transfer::new(&self.options);
        self.fetch(set, |file, folder| {
            self.download_file(&transfer, file, folder, progress)
        })
    }

    /// Copies the files of the set that the cache lacks from the local folder `from`.
    ///
    /// Each file is looked for under its own name, under the name that the publisher's address ends
    /// in (a zip archive is opened), and under [`DataFile::local_path`] with and without its
    /// folder; each also gzipped, with `.gz` appended.
    ///
    /// # Errors
    ///
    /// [`FetchError::NotInFolder`] where no such file exists, [`FetchError::WrongHash`] or
    /// [`FetchError::Archive`] where none of those that exist is the published one.
    pub fn copy_from(&self, set: &DataSet, from: &Path) -> Result<FetchedSet, FetchError> {
        self.fetch(set, |file, folder| {
            local::copy_file(file, from, folder).map(Origin::Copy)
        })
    }

    /// Runs `bring` for each file that isn't in the cache yet, one process at a time.
    fn fetch(
        &self,
        set: &DataSet,
        mut bring: impl FnMut(&DataFile, &Path) -> Result<Origin, FetchError>,
    ) -> Result<FetchedSet, FetchError> {
        let folder = self.cache.join(&set.name);
        fs::create_dir_all(&folder).map_err(FetchError::io("create the folder", &folder))?;
        // Two processes that append to one part file would spoil it; the lock ends with this value.
        let _lock = lock(&folder)?;
        let mut files = Vec::with_capacity(set.files.len());
        for file in &set.files {
            let path = folder.join(&file.name);
            let origin = if holds(&path, file)? {
                Origin::Cache
            } else {
                bring(file, &folder)?
            };
            files.push(FetchedFile { path, origin });
        }
        Ok(FetchedSet { folder, files })
    }

    fn download_file(
        &self,
        transfer: &Transfer,
        file: &DataFile,
        folder: &Path,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Origin, FetchError> {
        let mut failures = Vec::new();
        for source in &file.sources {
            match self.download_source(transfer, file, source, folder, progress) {
                Ok(()) => return Ok(Origin::Download(source.url.clone())),
                // A full disk isn't the source's fault: the next one would fail alike.
                Err(error @ FetchError::Io { .. }) => return Err(error),
                Err(error) => failures.push(error),
            }
        }
        match <[FetchError; 1]>::try_from(failures) {
            Ok([only]) => Err(only),
            Err(failures) => Err(FetchError::EverySourceFailed {
                file: file.name.clone(),
                failures,
            }),
        }
    }

    fn download_source(
        &self,
        transfer: &Transfer,
        file: &DataFile,
        source: &Source,
        folder: &Path,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), FetchError> {
        // Plain sources share one part file, for they serve the same pinned bytes. An archive has
        // one of its own.
        let (part, known_size) = if source.members.is_empty() {
            (folder.join(format!("{}.part", file.name)), Some(file.size))
        } else {
            (
                folder.join(format!("{}.{}.part", file.name, source.file_name())),
                None,
            )
        };
        let mut report = |done, total| {
            progress(Progress {
                file: &file.name,
                done,
                total,
            })
        };

        let mut body = transfer.to_part(&source.url, &part, known_size, &mut report)?;
        let mut installed = self.install(file, source, &part, &body.sha256, folder);
        if installed.is_err() && body.resumed {
            // The kept beginning may stem from another edition of the file: once more, from its
            // first byte, before the publisher is blamed.
            remove_if_there(&part)?;
            body = transfer.to_part(&source.url, &part, known_size, &mut report)?;
            installed = self.install(file, source, &part, &body.sha256, folder);
        }
        // Right or wrong, the part file has served: a wrong one must not be resumed.
        remove_if_there(&part)?;
        installed
    }

    /// Gives the complete body in `part` its final name, if it is (or holds) the published content.
    fn install(
        &self,
        file: &DataFile,
        source: &Source,
        part: &Path,
        sha256: &str,
        folder: &Path,
    ) -> Result<(), FetchError> {
        if !source.members.is_empty() {
            return unpack(file, source, part, &source.url, folder);
        }
        check_hash(file, &source.url, sha256)?;
        put_in_place(part, &folder.join(&file.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_cache_folder() {
        let named = cache_dir(Some("/somewhere/else".into())).unwrap();
        assert_eq!(named, Path::new("/somewhere/else"));
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        // Where the system knows no home at all, both are the same error.
        match (cache_dir(Some(OsString::new())), cache_dir(None)) {
            (Ok(empty), Ok(unset)) => {
                assert_eq!(empty, unset);
                assert!(empty.to_string_lossy().to_lowercase().contains("probity"));
            }
            (Err(FetchError::NoCacheDir { .. }), Err(FetchError::NoCacheDir { .. })) => {}
            other => panic!("{other:?}"),
        }
    }
}
