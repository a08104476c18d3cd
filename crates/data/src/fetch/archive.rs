//! Extraction of one file from a zip archive, which may itself lie in another.
//!
//! UCI publishes some sets as an archive of archives: `bank+marketing.zip` holds `bank.zip`, which
//! holds `bank-full.csv`.

use std::io::{self, Cursor, Read, Seek, Write};

use zip::ZipArchive;

use super::digest::{CopyFault, copy_hashed};

/// The largest archive that is unpacked from within another, in bytes; it is held in memory.
const LARGEST_INNER_ARCHIVE: u64 = 256 << 20;

/// Writes the member at the path `members`, one name for each archive, to `target`, at most `size`
/// bytes of it; returns the SHA-256 of the whole member.
pub(super) fn extract(
    archive: impl Read + Seek,
    members: &[String],
    target: &mut impl Write,
    size: u64,
) -> Result<String, CopyFault> {
    let Some((member, inner)) = members.split_first() else {
        return Err(unreadable("no member is named"));
    };
    let mut archive = ZipArchive::new(archive).map_err(unreadable)?;
    let mut content = archive
        .by_name(member)
        .map_err(|error| unreadable(format!("`{member}`: {error}")))?;
    if inner.is_empty() {
        return copy_hashed(&mut content, target, size);
    }
    let mut bytes = Vec::new();
    content
        .take(LARGEST_INNER_ARCHIVE)
        .read_to_end(&mut bytes)
        .map_err(CopyFault::Read)?;
    extract(Cursor::new(bytes), inner, target, size)
}

fn unreadable(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> CopyFault {
    CopyFault::Read(io::Error::new(io::ErrorKind::InvalidData, reason))
}
