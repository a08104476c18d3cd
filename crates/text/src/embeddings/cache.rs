//! The binary copy of a file of word vectors.
//!
//! All numbers are little-endian:
//!
//! | part        | content                                                                |
//! |-------------|------------------------------------------------------------------------|
//! | magic       | `probity embeddings` and the format's version, 24 bytes                |
//! | source      | size, time of change (s, ns), XXH3 of its first and last 64 KiB: 4 u64 |
//! | sizes       | words, width, bytes of all words: 3 u64                                |
//! | ends        | where each word ends in the text: u32 each                             |
//! | words       | the words, without anything between them, UTF-8                        |
//! | vectors     | words x width f32                                                      |
//! | checksum    | XXH3 of everything before: u64                                         |
//!
//! A copy of another version, of another state of its source, or with a wrong checksum counts as
//! none.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::table::EmbeddingTable;
use crate::words::WordList;

const MAGIC: &[u8; 24] = b"probity embeddings v1\0\0\0";
/// Bytes of each end of the source that are hashed.
const SAMPLE: u64 = 1 << 16;
/// Smaller sources are parsed as fast as they are found in a cache.
const WORTH: u64 = 1 << 20;
/// Bytes converted at a time.
const CHUNK: usize = 1 << 18;

/// Whether the binary cache is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CachePolicy {
    /// For files of a megabyte or more.
    #[default]
    Large,
    /// Whatever the size.
    Always,
    /// Neither read nor written.
    Never,
}

/// How to load a file of word vectors.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The width that is needed, if the caller cannot take any.
    pub width: Option<usize>,
    /// Whether the binary cache is used.
    pub cache: CachePolicy,
    /// A folder for the cache where the file's own folder cannot be written.
    pub user_cache: Option<PathBuf>,
}

/// Where the copy of a file lies or may lie.
pub(super) struct Cache {
    places: Vec<PathBuf>,
    source: [u64; 4],
}

impl Cache {
    /// The cache of `file`; `None` if there shall be none.
    pub(super) fn of(file: &Path, options: &LoadOptions) -> Option<Cache> {
        let worth = match options.cache {
            CachePolicy::Never => return None,
            CachePolicy::Always => 0,
            CachePolicy::Large => WORTH,
        };
        let source = state_of(file).ok()?;
        let [size, ..] = source;
        let name = file.file_name()?.to_string_lossy().into_owned();
        if size < worth {
            return None;
        }
        let mut places = Vec::new();
        // An administrator could write to a folder that is marked read-only, but was asked not to.
        if fs::metadata(folder_of(file)).is_ok_and(|folder| !folder.permissions().readonly()) {
            places.push(file.with_file_name(format!("{name}.probity-cache")));
        }
        if let Some(folder) = &options.user_cache {
            let path = fs::canonicalize(file).ok()?;
            let key = xxh3_64(path.as_os_str().as_encoded_bytes());
            places.push(folder.join("embeddings").join(format!("{name}-{key:016x}")));
        }
        Some(Cache { places, source })
    }

    /// The table of the first place that holds it.
    pub(super) fn read(&self) -> Option<EmbeddingTable> {
        self.places
            .iter()
            .find_map(|place| read(place, &self.source).ok().flatten())
    }

    /// Writes the table to the first place where that succeeds, if any.
    pub(super) fn write(&self, table: &EmbeddingTable) {
        for place in &self.places {
            if write(place, &self.source, table).is_ok() {
                return;
            }
        }
    }
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// What tells one state of a file from another.
fn state_of(file: &Path) -> io::Result<[u64; 4]> {
    let mut opened = File::open(file)?;
    let metadata = opened.metadata()?;
    let changed = metadata
        .modified()?
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let mut sample = Vec::new();
    (&opened).take(SAMPLE).read_to_end(&mut sample)?;
    opened.seek(SeekFrom::Start(metadata.len().saturating_sub(SAMPLE)))?;
    opened.take(SAMPLE).read_to_end(&mut sample)?;
    Ok([
        metadata.len(),
        changed.as_secs(),
        u64::from(changed.subsec_nanos()),
        xxh3_64(&sample),
    ])
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

    /// `count` values of four bytes.
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

/// The table in `place`; `None` if it holds something else.
fn read(place: &Path, source: &[u64; 4]) -> io::Result<Option<EmbeddingTable>> {
    let opened = File::open(place)?;
    let length = opened.metadata()?.len();
    let mut input = Hashing {
        inner: opened,
        hash: Xxh3::new(),
    };
    let mut magic = [0; MAGIC.len()];
    input.exact(&mut magic)?;
    if magic != *MAGIC {
        return Ok(None);
    }
    for expected in source {
        if input.number()? != *expected {
            return Ok(None);
        }
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

/// The sizes, if a file of `length` bytes can have them.
fn sizes(words: u64, width: u64, text: u64, length: u64) -> Option<(usize, usize, usize)> {
    let header = MAGIC.len() as u64 + 7 * 8;
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

fn write(place: &Path, source: &[u64; 4], table: &EmbeddingTable) -> io::Result<()> {
    let folder = folder_of(place);
    fs::create_dir_all(folder)?;
    let mut temporary = tempfile::Builder::new()
        .prefix(".probity-")
        .tempfile_in(folder)?;
    let mut out = Hashing {
        inner: temporary.as_file_mut(),
        hash: Xxh3::new(),
    };
    let words = table.words();
    let sizes = [words.len(), table.width(), words.text().len()];
    out.all(MAGIC)?;
    for number in source.iter().copied().chain(sizes.map(|size| size as u64)) {
        out.all(&number.to_le_bytes())?;
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
