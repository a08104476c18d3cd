//! The cache of word vectors: binary copies of their files in one folder, by the files' contents.
//!
//! A copy is called after the SHA-256 of its file, so a file that moved, or was changed and changed
//! back, finds its copy, and nothing is ever written beside it. The folder has a bound on its size:
//! the copies that were not used for longest give way to a new one.
//!
//! All numbers are little-endian:
//!
//! | part        | content                                                                |
//! |-------------|------------------------------------------------------------------------|
//! | magic       | `probity embeddings` and the format's version, 24 bytes                |
//! | source      | SHA-256 of the file, in hex: 64 bytes                                  |
//! | sizes       | words, width, bytes of all words: 3 u64                                |
//! | ends        | where each word ends in the text: u32 each                             |
//! | words       | the words, without anything between them, UTF-8                        |
//! | vectors     | words x width f32                                                      |
//! | checksum    | XXH3 of everything before: u64                                         |
//!
//! A copy of another version, of another source, or with a wrong checksum counts as none.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use probity_run::run_directory::temporary_in;
use xxhash_rust::xxh3::Xxh3;

use super::table::EmbeddingTable;
use crate::words::WordList;

const MAGIC: &[u8; 24] = b"probity embeddings v2\0\0\0";
/// The number of letters of a hash.
const HASH: usize = 64;
/// The number of bytes converted at a time.
const CHUNK: usize = 1 << 18;

/// Options for loading a file of word vectors.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The required width, if the caller needs a certain one.
    pub width: Option<usize>,
    /// The cache that keeps binary copies; without one, no copies are kept.
    pub cache: Option<Cache>,
}

/// A folder of binary copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    smallest: u64,
    bound: u64,
}

impl Cache {
    /// Creates a cache in `folder` for files of a megabyte or more. The folder is made when the
    /// first copy is written. All copies together take at most 4 GiB.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            folder: folder.into(),
            smallest: 1 << 20,
            bound: 1 << 32,
        }
    }

    /// Sets the least size in bytes of files whose copies are kept: smaller files are parsed as
    /// fast as a copy is found.
    #[must_use]
    pub fn smallest(mut self, bytes: u64) -> Cache {
        self.smallest = bytes;
        self
    }

    /// Sets the most bytes that all copies may take together.
    #[must_use]
    pub fn bound(mut self, bytes: u64) -> Cache {
        self.bound = bytes;
        self
    }

    /// Returns whether a copy of `file` is worth keeping.
    pub(super) fn is_for(&self, file: &Path) -> bool {
        fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() >= self.smallest)
    }

    /// Reads the copy of the file with this hash.
    pub(super) fn read(&self, sha256: &str) -> Option<EmbeddingTable> {
        read(&self.place(sha256), sha256).ok().flatten()
    }

    /// Writes a copy where that is possible: a table that cannot be kept is read anew.
    pub(super) fn write(&self, sha256: &str, table: &EmbeddingTable) {
        let place = self.place(sha256);
        if write(&place, sha256, table).is_ok() {
            let _ = self.make_room();
        }
    }

    fn place(&self, sha256: &str) -> PathBuf {
        self.folder.join(format!("{sha256}.vectors"))
    }

    /// Removes the copies that were not used for longest, and files that interrupted writers left,
    /// until the rest keeps the bound.
    fn make_room(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_file() {
                files.push((metadata.modified()?, metadata.len(), entry.path()));
            }
        }
        files.sort_by(|left, right| right.cmp(left));
        let mut kept = 0_u64;
        for (_, length, file) in files {
            kept = kept.saturating_add(length);
            if kept > self.bound {
                fs::remove_file(file)?;
            }
        }
        Ok(())
    }
}

/// A reader or writer that hashes what passes through.
struct Hashing<T> {
    inner: T,
    hash: Xxh3,
}

impl<R: Read> Hashing<R> {
    fn exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.hash.update(bytes);
        Ok(())
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads `count` values of four bytes.
    fn values<T>(&mut self, count: usize, value: fn([u8; 4]) -> T) -> io::Result<Vec<T>> {
        let mut values = Vec::with_capacity(count);
        let mut bytes = vec![0; CHUNK.min(count * 4)];
        while values.len() < count {
            let wanted = (count - values.len()).saturating_mul(4).min(CHUNK);
            self.exact(&mut bytes[..wanted])?;
            let (fours, _) = bytes[..wanted].as_chunks::<4>();
            values.extend(fours.iter().map(|&four| value(four)));
        }
        Ok(values)
    }
}

impl<W: Write> Hashing<W> {
    fn all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.inner.write_all(bytes)
    }

    fn all_values(&mut self, values: impl Iterator<Item = [u8; 4]>) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(CHUNK);
        for value in values {
            bytes.extend(value);
            if bytes.len() >= CHUNK {
                self.all(&bytes)?;
                bytes.clear();
            }
        }
        self.all(&bytes)
    }
}

/// Reads the table in `place` and notes that it is in use; `None` if `place` holds something else.
fn read(place: &Path, sha256: &str) -> io::Result<Option<EmbeddingTable>> {
    let opened = File::open(place)?;
    let length = opened.metadata()?.len();
    // Without the right to say so, the copy only counts as older than it is.
    let _ = opened.set_modified(SystemTime::now());
    let mut input = Hashing {
        inner: opened,
        hash: Xxh3::new(),
    };
    let mut magic = [0; MAGIC.len()];
    input.exact(&mut magic)?;
    if magic != *MAGIC {
        return Ok(None);
    }
    let mut source = [0; HASH];
    input.exact(&mut source)?;
    if source != sha256.as_bytes() {
        return Ok(None);
    }
    let [words, width, text] = [input.number()?, input.number()?, input.number()?];
    let Some((words, width, text)) = sizes(words, width, text, length) else {
        return Ok(None);
    };
    let ends = input.values(words, u32::from_le_bytes)?;
    let mut bytes = vec![0; text];
    input.exact(&mut bytes)?;
    let vectors = input.values(words * width, f32::from_le_bytes)?;
    let hash = input.hash.digest();
    if input.number()? != hash {
        return Ok(None);
    }
    let ends = ends.into_iter().map(|end| end as usize).collect();
    let Ok(text) = String::from_utf8(bytes) else {
        return Ok(None);
    };
    let words = WordList::from_text(text, ends).ok();
    Ok(words.map(|words| EmbeddingTable::with_mean(words, width, vectors)))
}

/// Returns the sizes, if a file of `length` bytes can have them.
fn sizes(words: u64, width: u64, text: u64, length: u64) -> Option<(usize, usize, usize)> {
    let header = (MAGIC.len() + HASH) as u64 + 3 * 8;
    let numbers = words.checked_mul(width.checked_add(1)?)?.checked_mul(4)?;
    let total = header
        .checked_add(numbers)?
        .checked_add(text)?
        .checked_add(8)?;
    let fits = total == length && words > 0 && width > 0;
    let small = |size: u64| usize::try_from(size).ok();
    fits.then_some(())?;
    Some((small(words)?, small(width)?, small(text)?))
}

fn write(place: &Path, sha256: &str, table: &EmbeddingTable) -> io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut temporary = temporary_in(folder, 0o600)?;
    let mut out = Hashing {
        inner: temporary.as_file_mut(),
        hash: Xxh3::new(),
    };
    let words = table.words();
    let sizes = [words.len(), table.width(), words.text().len()];
    out.all(MAGIC)?;
    out.all(sha256.as_bytes())?;
    for size in sizes {
        out.all(&(size as u64).to_le_bytes())?;
    }
    let mut end = 0_usize;
    let mut ends = Vec::with_capacity(words.len());
    for word in words.iter() {
        end += word.len();
        ends.push(u32::try_from(end).map_err(io::Error::other)?);
    }
    out.all_values(ends.iter().map(|end| end.to_le_bytes()))?;
    out.all(words.text().as_bytes())?;
    let rows = words.len() * table.width();
    out.all_values(table.vectors()[..rows].iter().map(|x| x.to_le_bytes()))?;
    let hash = out.hash.digest();
    out.inner.write_all(&hash.to_le_bytes())?;
    temporary.persist(place).map_err(|error| error.error)?;
    Ok(())
}
