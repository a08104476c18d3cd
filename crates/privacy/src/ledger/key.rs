//! The key of a ledger, and the fingerprint of its data.
//!
//! A ledger must know its data again. A plain hash of the file would do, but is an exact function
//! of the records: who knows all of them but one tries every value of that one until the hash is
//! right. So the ledger holds HMAC-SHA-256 of the file's SHA-256 under a key of 256 random bits,
//! which is made with the ledger and lies beside it (`budget.toml.key`, readable by its owner
//! alone). To who does not have the key, the fingerprint is a random string.

use std::fs;
use std::io;

use hmac::{Hmac, KeyInit, Mac};
use probity_run::run_directory::hex;
use sha2::Sha256;

use super::error::LedgerError;
use super::place::{Place, write_synced};
use crate::noise::{Bits, SystemBits};

/// The end of the name of the key's file.
const SUFFIX: &str = ".key";
/// The number of hex digits of the key: one block of SHA-256, which HMAC takes as it is.
const DIGITS: usize = 64;
/// The number of hex digits of a word.
const DIGITS_OF_WORD: usize = 16;

/// The key of a ledger, as hex digits.
pub(super) struct Key([u8; DIGITS]);

impl Key {
    /// Draws a new key, of bits of the operating system's generator.
    pub fn draw() -> Result<Key, LedgerError> {
        let mut bits = SystemBits::new();
        let mut digits = [0; DIGITS];
        for word in digits.chunks_exact_mut(DIGITS_OF_WORD) {
            word.copy_from_slice(format!("{:016x}", bits.word()?).as_bytes());
        }
        Ok(Key(digits))
    }

    /// Reads the key of the ledger at `place`.
    pub fn read(place: &Place) -> Result<Key, LedgerError> {
        let file = place.beside(SUFFIX);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LedgerError::NoKey { file });
            }
            Err(source) => return Err(LedgerError::Io { file, source }),
        };
        match text.trim_end().as_bytes().try_into() {
            Ok(digits) => Ok(Key(digits)),
            Err(_) => Err(LedgerError::Foreign {
                file,
                problem: "it is no key of a ledger".to_owned(),
            }),
        }
    }

    /// Writes the key beside the ledger at `place`, where there must be none: it could be that of a
    /// ledger which was moved.
    pub fn keep(&self, place: &Place) -> Result<(), LedgerError> {
        let file = place.beside(SUFFIX);
        let text = format!("{}\n", String::from_utf8_lossy(&self.0));
        let kept = write_synced(&file, &text, |temporary, file| {
            temporary
                .persist_noclobber(file)
                .map_err(|error| error.error)
        });
        kept.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => LedgerError::KeyAlone { file },
            _ => LedgerError::Io { file, source },
        })
    }

    /// Returns the fingerprint of data with this SHA-256.
    pub fn fingerprint(&self, sha256: &str) -> String {
        let mut code = Hmac::<Sha256>::new((&self.0).into());
        code.update(sha256.as_bytes());
        hex(&code.finalize().into_bytes())
    }
}
