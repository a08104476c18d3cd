//! SHA-256 of files, and bytes in hex.

use std::fs::File;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::RunError;

/// Returns the SHA-256 of a file's bytes, in hex.
///
/// # Errors
/// When it cannot be read.
pub fn file_sha256(file: &Path) -> Result<String, RunError> {
    let failed = |source| RunError::Read {
        file: file.to_owned(),
        source,
    };
    sha256_of(&mut File::open(file).map_err(failed)?).map_err(failed)
}

/// Returns the SHA-256, in hex, of what is left in `reader`.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of(reader: &mut impl io::Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// Writes bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
