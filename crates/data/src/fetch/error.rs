//! The errors of fetching a data set.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The reason why a data set could not be fetched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No data set has that name.
    #[error("there is no data set named `{name}`; the known ones are {known}")]
    UnknownDataSet {
        /// The name asked for.
        name: String,
        /// The names of the catalogue, separated by commas.
        known: String,
    },
    /// The system names no cache folder.
    #[error("this system names no cache folder for the user; set {variable} to a folder")]
    NoCacheDir {
        /// The environment variable that can name one.
        variable: &'static str,
    },
    /// The file system refused.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The path of the action.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process has locked the set's folder.
    #[error("another process is fetching into `{}`; wait for it to end, then try again", folder.display())]
    Busy {
        /// The set's folder in the cache.
        folder: PathBuf,
    },
    /// The server did not answer.
    #[error(
        "no answer from {url}: {reason}; check the connection, or download the file by hand and fetch it from its folder"
    )]
    Unreachable {
        /// The address.
        url: String,
        /// The reason why there was no answer.
        reason: String,
    },
    /// The server answered with something other than the file.
    #[error(
        "{url} answered with HTTP status {status}; the publisher may have moved the file: download it by hand and fetch it from its folder"
    )]
    Status {
        /// The address.
        url: String,
        /// The HTTP status code.
        status: u16,
    },
    /// The body ended early; what arrived is kept.
    #[error(
        "{url} broke off after {received} of {} bytes ({reason}); run the same command again to resume from there",
        expected.map_or_else(|| "an unknown number of".to_owned(), |bytes| bytes.to_string())
    )]
    Interrupted {
        /// The address.
        url: String,
        /// The number of bytes that are kept.
        received: u64,
        /// The number of bytes that the server announced, where it did.
        expected: Option<u64>,
        /// The reason why the transfer broke off.
        reason: String,
    },
    /// The server sent more than is accepted.
    #[error(
        "{url} sends more than {limit} bytes, so it is not the expected file; nothing was kept"
    )]
    TooLarge {
        /// The address.
        url: String,
        /// The largest accepted body in bytes.
        limit: u64,
    },
    /// The content isn't the published one.
    #[error(
        "`{file}` from {from} has SHA-256 {actual}, expected {expected}; it is not the published file, and nothing was kept in the cache"
    )]
    WrongHash {
        /// The file's name in the cache.
        file: String,
        /// The address or path that gave it.
        from: String,
        /// The pinned hash.
        expected: String,
        /// The hash of the content that came.
        actual: String,
    },
    /// The archive that should hold the file doesn't.
    #[error(
        "cannot take `{member}` out of the zip archive from {from}: {reason}; nothing was kept in the cache"
    )]
    Archive {
        /// The address or path of the archive.
        from: String,
        /// The path inside, archives separated by `/`.
        member: String,
        /// The reason why the file cannot be extracted.
        reason: String,
    },
    /// The folder of local copies lacks the file.
    #[error("`{}` holds no copy of `{file}`; looked for {looked_for}", folder.display())]
    NotInFolder {
        /// The file's name in the cache.
        file: String,
        /// The folder.
        folder: PathBuf,
        /// The paths tried below it, separated by commas.
        looked_for: String,
    },
    /// All of several addresses failed to give the file.
    #[error("no source gave `{file}`: {}", failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and "))]
    EverySourceFailed {
        /// The file's name in the cache.
        file: String,
        /// The failures of the sources, in order.
        failures: Vec<FetchError>,
    },
}

impl FetchError {
    /// Makes a function for `map_err` that names the action and the path of a file-system failure.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}
