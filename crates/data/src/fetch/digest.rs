//! SHA-256 of streams, in the hexadecimal form that the catalogue pins.

use std::fmt::Write as _;
use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

/// The reason why a copy failed: a broken source and a full disk call for different answers.
#[derive(Debug)]
pub(super) enum CopyFault {
    /// The source could not be read.
    Read(io::Error),
    /// The target could not be written.
    Write(io::Error),
}

/// Returns the digest in lowercase hexadecimal.
pub(super) fn hex(hasher: Sha256) -> String {
    hasher
        .finalize()
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// Returns the digest of all that is left in `reader`.
pub(super) fn sha256_of(reader: &mut impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    feed(reader, &mut hasher)?;
    Ok(hex(hasher))
}

/// Feeds all that is left in `reader` to `hasher`; returns the number of bytes.
pub(super) fn feed(reader: &mut impl Read, hasher: &mut Sha256) -> io::Result<u64> {
    let mut length = 0;
    each_piece(reader, |piece| {
        hasher.update(piece);
        length += piece.len() as u64;
        Ok(())
    })
    .map_err(|fault| match fault {
        CopyFault::Read(error) | CopyFault::Write(error) => error,
    })?;
    Ok(length)
}

/// Copies `reader` to `writer` and returns the digest of all that `reader` held.
///
/// Writes no more than `size` bytes: whatever is longer is hashed to its end, so that the digest is
/// the one that other tools show, but it isn't the file wanted and must not fill the disk.
pub(super) fn copy_hashed(
    reader: &mut (impl Read + ?Sized),
    writer: &mut impl Write,
    size: u64,
) -> Result<String, CopyFault> {
    let mut hasher = Sha256::new();
    let mut room = size;
    each_piece(reader, |piece| {
        hasher.update(piece);
        let kept = piece.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        room -= kept as u64;
        writer.write_all(&piece[..kept])
    })?;
    Ok(hex(hasher))
}

fn each_piece(
    reader: &mut (impl Read + ?Sized),
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), CopyFault> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => take(&buffer[..count]).map_err(CopyFault::Write)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(CopyFault::Read(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of "abc" from FIPS 180-4's examples.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_digest_is_the_standard_one() {
        assert_eq!(sha256_of(&mut &b"abc"[..]).unwrap(), ABC);
    }

    #[test]
    fn a_copy_stops_at_its_size_but_is_hashed_whole() {
        let mut target = Vec::new();
        assert_eq!(copy_hashed(&mut &b"abc"[..], &mut target, 2).unwrap(), ABC);
        assert_eq!(target, b"ab");
    }
}
