//! A data file: opened once, and hashed by the bytes that its decoder takes.
//!
//! [`DataFile`] is a handle on an open file. Whoever decodes it reads through a clone of the
//! handle, so that every byte is read once and goes to the decoder and to the hash together;
//! [`DataFile::sha256`] then reads whatever the decoder left over. Parquet is read from its end and
//! in places: its bytes are taken into memory where they are hashed or come from a pipe, and
//! decoded from there.
//!
//! A table in memory that has a name ([`super::memory`]) is opened by that name like a file.
//!
//! A reader hands on what it made of a file as [`Hashed`]. Rows in memory that have no name have no
//! hash.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use probity_run::run_directory::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::compressed;
use super::memory::{self, Batches};
use super::read::error::ReadError;

/// The number of bytes taken from the file at a time.
const BUFFER: usize = 1 << 16;
/// The beginning of a Parquet file.
const PARQUET: &[u8] = b"PAR1";
/// The number of bytes that tell Parquet, gzip and xz apart.
const SIGNATURE: u64 = 6;

/// The result of reading a file, with the file's hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashed<T> {
    /// The result of reading the file.
    pub value: T,
    /// The SHA-256 of the file's bytes, in hex.
    pub sha256: String,
}

impl<T> Hashed<T> {
    /// Converts the value by `make`, and keeps the hash.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Hashed<U> {
        Hashed {
            value: make(self.value),
            sha256: self.sha256,
        }
    }
}

/// The origin of rows of numbers: a file and, for images, the file with their labels, by path and
/// content. All of it is empty for rows in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file of the rows.
    pub file: PathBuf,
    /// The SHA-256 of the rows' file.
    pub sha256: String,
    /// The file of the labels of images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<PathBuf>,
    /// The SHA-256 of the labels' file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels_sha256: Option<String>,
}

/// An open file. Clones share its place and its hash.
#[derive(Debug, Clone)]
pub struct DataFile {
    path: PathBuf,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    origin: Origin,
    /// The hasher of the bytes that were read; none where nobody asks for the hash.
    hasher: Option<Sha256>,
}

#[derive(Debug)]
enum Origin {
    File(File),
    Memory(Batches),
}

/// The content of a file, by its first bytes.
pub(super) enum Content {
    Memory(Batches),
    Parquet(ParquetBytes),
    /// Content other than Parquet, decompressed.
    Stream(Box<dyn Read + Send>),
}

/// The bytes of a Parquet file, to be read in places.
pub(super) enum ParquetBytes {
    File(File),
    Memory(Bytes),
}

impl DataFile {
    /// Opens the file at `path`, to be hashed while it is read.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> Result<DataFile, ReadError> {
        Self::with_hasher(path, Some(Sha256::new()))
    }

    /// Opens the file at `path` for a reader that has no use for its hash.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_unhashed(path: &Path) -> Result<DataFile, ReadError> {
        Self::with_hasher(path, None)
    }

    /// Opens the file at `path` for a reader that goes over it more than once
    /// ([`DataFile::rewind`]): what comes from a pipe is put into a file that has no name.
    ///
    /// # Errors
    /// When it cannot be opened, or a pipe cannot be read or kept.
    pub(crate) fn open_rereadable(path: &Path) -> Result<DataFile, ReadError> {
        let opened = Self::open_unhashed(path)?;
        let failed = |source| ReadError::io(path, source);
        if let Origin::File(file) = &mut opened.state().origin
            && !file.metadata().is_ok_and(|data| data.is_file())
        {
            let mut kept = tempfile::tempfile().map_err(failed)?;
            io::copy(file, &mut kept).map_err(failed)?;
            *file = kept;
        }
        opened.rewind()?;
        Ok(opened)
    }

    /// Goes back to the beginning of a file that [`DataFile::open_rereadable`] opened.
    ///
    /// # Errors
    /// When that fails.
    pub(crate) fn rewind(&self) -> Result<(), ReadError> {
        if let Origin::File(file) = &mut self.state().origin {
            let moved = file.seek(SeekFrom::Start(0));
            moved.map_err(|source| ReadError::io(&self.path, source))?;
        }
        Ok(())
    }

    fn with_hasher(path: &Path, hasher: Option<Sha256>) -> Result<DataFile, ReadError> {
        let origin = match memory::table(path) {
            Some(batches) => Origin::Memory(batches),
            None if memory::is_name(path) && !path.exists() => {
                let why = "no table of this process has this name";
                return Err(ReadError::io(
                    path,
                    io::Error::new(io::ErrorKind::NotFound, why),
                ));
            }
            None => Origin::File(File::open(path).map_err(|source| ReadError::io(path, source))?),
        };
        Ok(DataFile {
            path: path.to_owned(),
            state: Arc::new(Mutex::new(State { origin, hasher })),
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads what is left, and returns the SHA-256 of the whole file in hex.
    ///
    /// # Errors
    /// When it cannot be read to its end.
    pub fn sha256(mut self) -> Result<String, ReadError> {
        let failed = |source| ReadError::io(&self.path, source);
        if let Some(batches) = self.batches() {
            let hashed = memory::hash(&batches).map_err(|error| failed(io::Error::other(error)))?;
            return Ok(hex(&hashed.finalize()));
        }
        io::copy(&mut self, &mut io::sink()).map_err(|source| ReadError::io(&self.path, source))?;
        let mut state = self.state();
        let hasher = state.hasher.take().unwrap_or_default();
        Ok(hex(&hasher.finalize()))
    }

    /// Returns `value`, which was made of the file, with the hash of the file.
    ///
    /// # Errors
    /// When what is left of it cannot be read.
    pub fn hashed<T>(self, value: T) -> Result<Hashed<T>, ReadError> {
        Ok(Hashed {
            value,
            sha256: self.sha256()?,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rows, where they are in memory.
    fn batches(&self) -> Option<Batches> {
        match &self.state().origin {
            Origin::Memory(batches) => Some(Arc::clone(batches)),
            Origin::File(_) => None,
        }
    }

    /// Returns the content of the file, from its beginning: call it once, and first.
    pub(super) fn content(&self) -> Result<Content, ReadError> {
        if let Some(batches) = self.batches() {
            return Ok(Content::Memory(batches));
        }
        let failed = |source| ReadError::io(&self.path, source);
        let mut input = self.clone();
        let mut start = Vec::new();
        let mut signature = input.by_ref().take(SIGNATURE);
        signature.read_to_end(&mut start).map_err(failed)?;
        if !start.starts_with(PARQUET) {
            let whole = BufReader::with_capacity(BUFFER, Cursor::new(start).chain(input));
            return Ok(Content::Stream(
                compressed::decompress(whole).map_err(failed)?,
            ));
        }
        if let State {
            origin: Origin::File(file),
            hasher,
        } = &*self.state()
        {
            let (is_regular, length) = file
                .metadata()
                .map_or((false, 0), |data| (data.is_file(), data.len()));
            if hasher.is_none() && is_regular {
                let file = file.try_clone().map_err(failed)?;
                return Ok(Content::Parquet(ParquetBytes::File(file)));
            }
            start.reserve_exact(usize::try_from(length).unwrap_or(0));
        }
        input.read_to_end(&mut start).map_err(failed)?;
        Ok(Content::Parquet(ParquetBytes::Memory(start.into())))
    }
}

impl Read for DataFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state();
        let read = match &mut state.origin {
            Origin::File(file) => file.read(buffer)?,
            Origin::Memory(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "a table in memory has no bytes, and what is read here is no table",
                ));
            }
        };
        if let Some(hasher) = &mut state.hasher {
            hasher.update(&buffer[..read]);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_run::run_directory::file_sha256;

    #[test]
    fn the_hash_is_that_of_the_file_whatever_the_decoder_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for bytes in [&b""[..], b"PA", b"PAR1 and more", b"a,b\n1,2\n"] {
            std::fs::write(file.path(), bytes).unwrap();
            let expected = file_sha256(file.path()).unwrap();
            let opened = DataFile::open(file.path()).unwrap();
            assert_eq!(opened.sha256().unwrap(), expected);
            let opened = DataFile::open(file.path()).unwrap();
            if let Content::Stream(mut stream) = opened.content().unwrap() {
                let mut one = [0; 1];
                let _ = stream.read(&mut one).unwrap();
            }
            let hashed = opened.hashed(7).unwrap().map(|seven| seven + 1);
            assert_eq!((hashed.value, hashed.sha256), (8, expected));
        }
    }
}
