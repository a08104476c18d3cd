//! The file of one shard: a sealed file of a head and of sections, lists of any length that are
//! written and read a block at a time.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Shard, ShardError};
use crate::atomic::write_among_others;
use crate::error::{RunError, foreign};
use crate::sealed::{Form, check_sealed, decode, encode, seal_into};

/// The form of the files of shards, which are private to the version that writes them.
const FORM: Form = Form {
    kind: "shard",
    version: env!("CARGO_PKG_VERSION"),
};

/// The number of bytes of a block at which it is written. A merge holds one block a section and
/// shard.
const BLOCK: usize = 1 << 14;

/// The run and the shard that a file belongs to.
#[derive(Serialize, Deserialize)]
struct Owner {
    identity: String,
    stage: String,
    number: u32,
    of: u32,
}

/// A writer of the sections of a file, one after the other.
pub struct Writer<'w> {
    out: &'w mut dyn Write,
}

impl Writer<'_> {
    /// Writes `items` as the next section.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn section<T: Serialize>(&mut self, items: impl IntoIterator<Item = T>) -> io::Result<()> {
        let mut items = items.into_iter().map(Ok);
        self.fallible_section(&mut items)
    }

    /// Writes `items` as the next section, where each item has to be read first.
    ///
    /// # Errors
    /// The first error among `items`; when they cannot be written.
    pub fn fallible_section<T: Serialize>(
        &mut self,
        items: &mut dyn Iterator<Item = io::Result<T>>,
    ) -> io::Result<()> {
        let (mut count, mut bytes) = (0_u32, Vec::new());
        for item in items {
            bytes = postcard::to_extend(&item?, bytes).map_err(io::Error::other)?;
            count += 1;
            if bytes.len() >= BLOCK {
                self.block(count, &bytes)?;
                (count, bytes) = (0, Vec::new());
            }
        }
        if count > 0 {
            self.block(count, &bytes)?;
        }
        self.block(0, &[])
    }

    fn block(&mut self, count: u32, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        self.out.write_all(&count.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(bytes)
    }
}

/// Writes the file of `shard` of the run `identity`: `head`, and what `sections` writes.
pub(super) fn write(
    file: &Path,
    (identity, stage, shard): (&str, &str, Shard),
    head: &impl Serialize,
    sections: impl FnOnce(&mut Writer<'_>) -> io::Result<()>,
) -> Result<(), RunError> {
    write_among_others(file, |out| {
        seal_into(out, FORM, |out| {
            let mut writer = Writer { out };
            let owner = Owner {
                identity: identity.to_owned(),
                stage: stage.to_owned(),
                number: shard.number,
                of: shard.of,
            };
            let (owner, head) = (encode(&owner), encode(head));
            for part in [owner, head] {
                writer.block(1, &part.map_err(io::Error::other)?)?;
            }
            sections(&mut writer)
        })
    })
}

/// The file of a shard, found whole and of its run. The sections are read from the file as they are
/// needed.
#[derive(Debug)]
pub struct ShardFile {
    path: PathBuf,
    /// The places of the head and the sections.
    parts: Vec<(u64, u64)>,
}

impl ShardFile {
    /// Opens the file of `shard` of the run `identity` in `path`, once its hash is checked.
    ///
    /// # Errors
    /// When it cannot be read, was changed, or belongs to something else.
    pub(super) fn open(
        path: &Path,
        (identity, stage, shard): (&str, &str, Shard),
    ) -> Result<ShardFile, ShardError> {
        let (begin, end) = check_sealed(path, FORM)?;
        let mut parts = Blocks::new(path, begin, end);
        let read = |source| RunError::Read {
            file: path.to_owned(),
            source,
        };
        let owner: Owner = match parts.next_block().map_err(read)? {
            Some((1, bytes)) => decode(&bytes).map_err(|problem| foreign(path, &problem))?,
            _ => return Err(foreign(path, &"it names no run").into()),
        };
        if owner.identity != identity {
            return Err(ShardError::Foreign {
                file: path.to_owned(),
            });
        }
        if (&*owner.stage, owner.number, owner.of) != (stage, shard.number, shard.of) {
            let Owner {
                stage, number, of, ..
            } = owner;
            return Err(ShardError::Misnamed {
                file: path.to_owned(),
                found: format!("shard {number}/{of} of the stage '{stage}'"),
            });
        }
        let mut places = Vec::new();
        let mut at = parts.at;
        while parts.at < end {
            let is_head = places.is_empty();
            let Some((count, length)) = parts.next_header().map_err(read)? else {
                break;
            };
            parts.at += u64::from(length);
            if is_head || count == 0 {
                places.push((at, parts.at));
                at = parts.at;
            }
        }
        if at != end || places.is_empty() || parts.at != end {
            return Err(foreign(path, &"it ends within a section").into());
        }
        Ok(ShardFile {
            path: path.to_owned(),
            parts: places,
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the head.
    ///
    /// # Errors
    /// When it is of another form.
    pub fn head<T: DeserializeOwned>(&self) -> Result<T, RunError> {
        let (begin, end) = self.parts[0];
        let block = Blocks::new(&self.path, begin, end).next_block();
        match block {
            Ok(Some((_, bytes))) => decode(&bytes).map_err(|problem| foreign(&self.path, &problem)),
            Ok(None) => Err(foreign(&self.path, &"it has no head")),
            Err(source) => Err(RunError::Read {
                file: self.path.clone(),
                source,
            }),
        }
    }

    /// Returns the section `number`, from 0. A section that is not there has no items.
    pub fn section<T: DeserializeOwned>(&self, number: usize) -> Section<T> {
        let end = self.parts.last().map_or(0, |part| part.1);
        let (begin, end) = *self.parts.get(number + 1).unwrap_or(&(end, end));
        Section {
            blocks: Blocks::new(&self.path, begin, end),
            ready: VecDeque::new(),
            items: PhantomData,
        }
    }

    /// Returns the number of bytes of section `number`.
    pub fn section_bytes(&self, number: usize) -> u64 {
        self.parts
            .get(number + 1)
            .map_or(0, |(begin, end)| end - begin)
    }

    /// Returns an error that names a problem with the file.
    pub fn refuse(&self, problem: &str) -> RunError {
        foreign(&self.path, &problem)
    }
}

/// A reader of the blocks of a part of a file, which is opened anew for each: many shards are read
/// side by side, and a process may have only so many files open.
struct Blocks {
    path: PathBuf,
    at: u64,
    end: u64,
}

impl Blocks {
    fn new(path: &Path, at: u64, end: u64) -> Blocks {
        Blocks {
            path: path.to_owned(),
            at,
            end,
        }
    }

    fn read(&mut self, length: u64) -> io::Result<Vec<u8>> {
        if self.end - self.at < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.at))?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += length;
        Ok(bytes)
    }

    /// Reads the numbers of items and bytes of the next block.
    fn next_header(&mut self) -> io::Result<Option<(u32, u32)>> {
        if self.at >= self.end {
            return Ok(None);
        }
        let bytes = self.read(8)?;
        let (count, length) = bytes.split_at(4);
        let number = |bytes: &[u8]| {
            let bytes: Result<[u8; 4], _> = bytes.try_into();
            bytes.map_or(0, u32::from_le_bytes)
        };
        let (count, length) = (number(count), number(length));
        if self.end - self.at < u64::from(length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some((count, length)))
    }

    fn next_block(&mut self) -> io::Result<Option<(u32, Vec<u8>)>> {
        match self.next_header()? {
            Some((count, length)) => Ok(Some((count, self.read(length.into())?))),
            None => Ok(None),
        }
    }
}

/// An iterator over the items of a section, in their order.
pub struct Section<T> {
    blocks: Blocks,
    ready: VecDeque<T>,
    items: PhantomData<T>,
}

impl<T: DeserializeOwned> Section<T> {
    /// Skips `count` items.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn skip_items(&mut self, mut count: u64) -> Result<(), RunError> {
        while count > 0 {
            if self.ready.is_empty() {
                let before = self.blocks.at;
                let (items, length) = match self.blocks.next_header() {
                    Ok(Some((items, length))) if items > 0 => (items, length),
                    Ok(_) => return Ok(()),
                    Err(source) => return Err(self.failed(source)),
                };
                if u64::from(items) <= count {
                    self.blocks.at += u64::from(length);
                    count -= u64::from(items);
                    continue;
                }
                self.blocks.at = before;
                self.fill()?;
            }
            self.ready.pop_front();
            count -= 1;
        }
        Ok(())
    }

    fn failed(&self, source: io::Error) -> RunError {
        RunError::Read {
            file: self.blocks.path.clone(),
            source,
        }
    }

    fn fill(&mut self) -> Result<(), RunError> {
        let block = self.blocks.next_block();
        let Some((count, bytes)) = block.map_err(|source| self.failed(source))? else {
            return Ok(());
        };
        let mut rest = bytes.as_slice();
        for _ in 0..count {
            let taken = postcard::take_from_bytes(rest);
            let (item, after) = taken.map_err(|error| foreign(&self.blocks.path, &error))?;
            rest = after;
            self.ready.push_back(item);
        }
        match rest {
            [] => Ok(()),
            _ => Err(foreign(
                &self.blocks.path,
                &"a block is longer than its items",
            )),
        }
    }
}

impl<T: DeserializeOwned> Iterator for Section<T> {
    type Item = Result<T, RunError>;

    fn next(&mut self) -> Option<Result<T, RunError>> {
        if self.ready.is_empty()
            && let Err(error) = self.fill()
        {
            // Nothing follows what cannot be read.
            self.blocks.at = self.blocks.end;
            return Some(Err(error));
        }
        self.ready.pop_front().map(Ok)
    }
}
