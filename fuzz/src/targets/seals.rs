//! Computes the seals of files that the product writes for itself again: see `probity_run::sealed`.

use probity_run::run_directory::hex;
use sha2::{Digest, Sha256};

use crate::target::Input;

/// The bytes at which binary files begin, and the length in bytes of the hash at their end.
const BINARY: &[u8] = b"probity ";
const HASH: usize = 32;
/// The bytes at which texts begin, and those before the hash of the lines after the first.
const TEXT: &[u8] = b"# probity ";
const SHA256: &[u8] = b", sha256 ";
/// The bytes in JSON before the hash of everything before them.
const MEMBER: &[u8] = b",\n  \"seal\": \"";

/// Computes the seal of each file that has one again.
pub fn seal(input: &mut Input) {
    for (_, bytes) in &mut input.files {
        if bytes.starts_with(BINARY) {
            seal_binary(bytes);
        } else if bytes.starts_with(TEXT) {
            seal_text(bytes);
        } else if let Some(at) = bytes.windows(MEMBER.len()).rposition(|part| part == MEMBER) {
            let hash = hex(&Sha256::digest(&bytes[..at]));
            bytes.truncate(at + MEMBER.len());
            bytes.extend(hash.bytes());
            bytes.extend(b"\"\n}\n");
        }
    }
}

fn seal_binary(bytes: &mut [u8]) {
    if let Some((content, hash)) = bytes.split_last_chunk_mut::<HASH>() {
        hash.copy_from_slice(&Sha256::digest(content));
    }
}

fn seal_text(bytes: &mut Vec<u8>) {
    let Some(line) = bytes.iter().position(|&byte| byte == b'\n') else {
        return;
    };
    let first = &bytes[..line];
    if let Some(at) = first.windows(SHA256.len()).position(|part| part == SHA256) {
        let hash = hex(&Sha256::digest(&bytes[line + 1..]));
        bytes.splice(at + SHA256.len()..line, hash.bytes());
    }
}

#[cfg(test)]
mod tests {
    use probity_run::sealed::{Form, read_text, read_value, write_text, write_value};

    use super::*;

    #[test]
    fn a_changed_file_is_read_once_sealed() {
        let form = Form {
            kind: "test",
            version: "1",
        };
        let folder = tempfile::tempdir().unwrap();
        let (value, text) = (folder.path().join("value"), folder.path().join("text"));
        write_value(&value, form, &"rows").unwrap();
        write_text(&text, form, "rows").unwrap();
        let mut input = Input::folder(folder.path()).unwrap();
        for (_, bytes) in &mut input.files {
            let at = bytes.windows(4).rposition(|part| part == b"rows").unwrap();
            bytes[at] = b'R';
        }
        input.write(folder.path()).unwrap();
        assert!(read_value::<String>(&value, form).is_err() && read_text(&text, form).is_err());
        seal(&mut input);
        input.write(folder.path()).unwrap();
        assert_eq!(read_value::<String>(&value, form).unwrap(), "Rows");
        assert_eq!(read_text(&text, form).unwrap(), "Rows");
    }
}
