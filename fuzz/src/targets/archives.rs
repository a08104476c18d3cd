//! Computes the checksums of ZIP archives again: ZIP holds the CRC of each file before and after
//! all files.

use crate::target::Input;

/// The bytes at which a file in an archive begins, and its entry in the list of files.
const LOCAL: &[u8] = b"PK\x03\x04";
const LISTED: &[u8] = b"PK\x01\x02";

/// Computes the checksums of the stored files of each archive again.
pub fn seal(input: &mut Input) {
    for (_, bytes) in &mut input.files {
        seal_archive(bytes);
    }
}

fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let part = bytes.get(at..at.checked_add(size)?)?;
    let digits = part.iter().rev();
    Some(digits.fold(0, |all, &byte| all << 8 | usize::from(byte)))
}

/// Computes the checksums of an archive again, as far as `bytes` is one; compressed files keep
/// theirs.
fn seal_archive(bytes: &mut [u8]) {
    let mut checksums = Vec::new();
    let mut at = 0;
    while at + 30 <= bytes.len() {
        if !bytes[at..].starts_with(LISTED) {
            at += 1;
            continue;
        }
        let listed = at;
        at += LISTED.len();
        let (Some(method), Some(size), Some(start)) = (
            number(bytes, listed + 10, 2),
            number(bytes, listed + 20, 4),
            number(bytes, listed + 42, 4),
        ) else {
            continue;
        };
        let (Some(name), Some(extra)) =
            (number(bytes, start + 26, 2), number(bytes, start + 28, 2))
        else {
            continue;
        };
        let from = start + 30 + name + extra;
        let held = from.checked_add(size).and_then(|end| bytes.get(from..end));
        if let Some(held) = held.filter(|_| method == 0 && bytes[start..].starts_with(LOCAL)) {
            checksums.push((listed + 16, start + 14, crc(held)));
        }
    }
    for (listed, local, checksum) in checksums {
        for place in [listed, local] {
            if let Some(place) = bytes.get_mut(place..place + 4) {
                place.copy_from_slice(&checksum.to_le_bytes());
            }
        }
    }
}

/// The CRC-32 of `bytes`, as ZIP defines it.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, &byte: &u8| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| match crc & 1 {
            0 => crc >> 1,
            _ => crc >> 1 ^ 0xedb8_8320,
        })
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read, Write};

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipArchive, ZipWriter};

    use super::*;

    #[test]
    fn a_changed_file_is_read_once_sealed() {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        archive.start_file("words", stored).unwrap();
        archive.write_all(b"one two three").unwrap();
        let mut bytes = archive.finish().unwrap().into_inner();
        let at = bytes.windows(3).position(|part| part == b"two").unwrap();
        bytes[at] = b'T';
        let read = |bytes: &[u8]| {
            let mut text = String::new();
            let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
            let mut file = archive.by_name("words").unwrap();
            file.read_to_string(&mut text).map(|_| text)
        };
        assert!(read(&bytes).is_err());
        seal_archive(&mut bytes);
        assert_eq!(read(&bytes).unwrap(), "one Two three");
    }
}
