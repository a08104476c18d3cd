//! Tables of word vectors: GloVe and word2vec text files, and the cache that makes them load fast.
//!
//! A table of n words has n + 1 rows: row i is the vector of word i, and the last row, for every
//! other word, is the mean of the n (as GloVe's authors advise; section 5.1 of the ADF paper).

mod cache;
mod parse;
mod shipped;
mod table;

use std::io::BufReader;
use std::path::Path;

use probity_data::compressed;
use probity_data::read::ReadError;
use probity_data::source::{DataFile, Hashed};

use self::parse::parse;
pub use cache::{Cache, LoadOptions};
pub use shipped::{SHIPPED, shipped};
pub use table::{EmbeddingError, EmbeddingTable};

impl EmbeddingTable {
    /// Loads GloVe's text format (a word and its numbers on each line, separated by blanks or tabs)
    /// or word2vec's (the same after a line with the numbers of words and of columns); plain, `.gz`
    /// or `.xz`.
    ///
    /// With a [`Cache`], the first load of a large file leaves a binary copy there, and later ones
    /// of the same content read that. A copy that is damaged is made anew, and one that cannot be
    /// written is left out.
    ///
    /// # Errors
    /// When the file cannot be read, holds nothing, or has another width than asked for, and
    /// [`EmbeddingError::Line`] for the first bad line: another number of numbers, one that is none
    /// or not finite, text that is not UTF-8, a word that was there before.
    pub fn load(file: &Path, options: &LoadOptions) -> Result<EmbeddingTable, EmbeddingError> {
        Ok(Self::load_hashed(file, options)?.value)
    }

    /// Loads word vectors as [`EmbeddingTable::load`] does, and returns the hash of the file too.
    ///
    /// # Errors
    /// Like [`EmbeddingTable::load`].
    pub fn load_hashed(
        file: &Path,
        options: &LoadOptions,
    ) -> Result<Hashed<EmbeddingTable>, EmbeddingError> {
        let fits = |width: usize| match options.width {
            Some(expected) if expected != width => Err(EmbeddingError::Width {
                file: file.to_owned(),
                found: width,
                expected,
            }),
            _ => Ok(()),
        };
        let cache = options.cache.as_ref().filter(|cache| cache.is_for(file));
        if let Some(cache) = cache {
            let sha256 = DataFile::open(file)?.sha256()?;
            if let Some(value) = cache.read(&sha256) {
                fits(value.width)?;
                return Ok(Hashed { value, sha256 });
            }
        }
        // The hash is of the bytes that are parsed, whatever became of the file since.
        let opened = DataFile::open(file)?;
        let input = BufReader::with_capacity(1 << 16, opened.clone());
        let input = compressed::decompress(input).map_err(|source| ReadError::Io {
            file: file.to_owned(),
            source,
        })?;
        let table = opened.hashed(parse(file, input, &fits)?)?;
        if let Some(cache) = cache {
            cache.write(&table.sha256, &table.value);
        }
        Ok(table)
    }

    /// Reads the text format from memory; `file` is named in errors.
    ///
    /// # Errors
    /// Like [`EmbeddingTable::load`].
    pub fn from_text(file: &Path, text: &[u8]) -> Result<EmbeddingTable, EmbeddingError> {
        parse(file, text, &|_| Ok(()))
    }
}

#[cfg(test)]
mod tests;
