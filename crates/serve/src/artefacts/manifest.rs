//! The manifest of a folder: the names, lengths and hashes of its files. It is written last, so that
//! a folder is either there as a whole or not at all.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::places::is_plain_name;
use crate::problem::Problem;
use probity_run::run_directory::{file_sha256, sha256_of, write_atomically};

/// The name of manifests in the storage; no file is called so there, since the names of files end in
/// their hash.
pub(super) const MANIFEST: &str = "manifest.json";

/// The number of characters of a SHA-256 in hexadecimal digits.
const SHA256: usize = 64;

/// The manifest of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    /// The version: each time that the folder changes a larger one. That of a run is the number by
    /// which its job was held.
    pub version: u64,
    /// The files, by their names.
    pub files: BTreeMap<String, Stored>,
}

/// A file in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    /// The number of bytes.
    pub bytes: u64,
    /// The SHA-256, in hexadecimal digits.
    pub sha256: String,
}

impl Stored {
    /// Describes a file with this content.
    pub fn of(content: &[u8]) -> Result<Stored, Problem> {
        let mut bytes = content;
        Ok(Stored {
            bytes: content.len() as u64,
            sha256: sha256_of(&mut bytes)?,
        })
    }

    /// The name of the object that holds the file called `name`: another one for each content, so
    /// that no content takes the place of another before the manifest says so.
    pub fn object(&self, name: &str) -> String {
        format!("{name}.{}", self.sha256)
    }
}

impl Manifest {
    /// Reads a manifest; none where `bytes` are none, or it names a file as no file is called.
    pub fn parse(bytes: &[u8]) -> Option<Manifest> {
        let manifest: Manifest = serde_json::from_slice(bytes).ok()?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let mut files = manifest.files.iter();
        let is_sound = files.all(|(name, stored)| {
            let sha256 = &stored.sha256;
            is_plain_name(name) && sha256.len() == SHA256 && sha256.bytes().all(is_digit)
        });
        is_sound.then_some(manifest)
    }

    /// The bytes of the manifest as it is written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Problem> {
        Ok(serde_json::to_vec(self)?)
    }

    /// Reads the manifest in `file`; none where there is none that is whole.
    pub fn read(file: &Path) -> Option<Manifest> {
        Manifest::parse(&fs::read(file).ok()?)
    }

    /// Writes the manifest into `file`.
    pub fn write(&self, file: &Path) -> Result<(), Problem> {
        Ok(write_atomically(file, &self.to_bytes()?)?)
    }

    /// The manifest of the files in `folder`, with a version.
    pub fn of_folder(folder: &Path, version: u64) -> Result<Manifest, Problem> {
        let mut files = BTreeMap::new();
        for name in plain_files(folder)? {
            let path = folder.join(&name);
            let stored = Stored {
                bytes: fs::metadata(&path)?.len(),
                sha256: file_sha256(&path)?,
            };
            files.insert(name, stored);
        }
        Ok(Manifest { version, files })
    }

    /// Whether `folder` holds the files, by their lengths; of a run that is under way, whether it
    /// is there.
    pub fn is_in(&self, folder: &Path) -> bool {
        let mut files = self.files.iter();
        folder.is_dir()
            && files.all(|(name, stored)| {
                let about = fs::metadata(folder.join(name));
                about.is_ok_and(|about| about.is_file() && about.len() == stored.bytes)
            })
    }

    /// The names of the objects of the files.
    pub fn objects(&self) -> HashSet<String> {
        let files = self.files.iter();
        files.map(|(name, stored)| stored.object(name)).collect()
    }

    /// The number of bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|stored| stored.bytes).sum()
    }
}

/// The plain names of the files in `folder`; none where there is no folder.
pub(super) fn plain_files(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        // A link or a folder is no artefact.
        let name = entry.file_name().into_string();
        if entry.file_type()?.is_file() {
            names.extend(name.ok().filter(|name| is_plain_name(name)));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_there_as_a_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let of_run = Manifest::default();
        assert!(of_run.is_in(folder.path()));
        assert!(!of_run.is_in(&folder.path().join("missing")));
        fs::write(folder.path().join("data.csv"), "a,b\n").unwrap();
        fs::write(folder.path().join(".lock"), "").unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        let manifest = Manifest::of_folder(folder.path(), 3).unwrap();
        assert_eq!((manifest.version, manifest.bytes()), (3, 4));
        assert_eq!(manifest.files.len(), 1);
        assert!(manifest.is_in(folder.path()));
        let read = Manifest::parse(&manifest.to_bytes().unwrap()).unwrap();
        assert_eq!(read, manifest);
        fs::write(folder.path().join("data.csv"), "a").unwrap();
        assert!(!manifest.is_in(folder.path()));
        fs::remove_file(folder.path().join("data.csv")).unwrap();
        assert!(!manifest.is_in(folder.path()));
    }

    #[test]
    fn names_of_a_manifest_lead_nowhere_else() {
        let hash = "0".repeat(64);
        let text = |name: &str, hash: &str| {
            let files = serde_json::json!({ name: { "bytes": 1, "sha256": hash } });
            serde_json::json!({ "version": 1, "files": files }).to_string()
        };
        assert!(Manifest::parse(text("data.csv", &hash).as_bytes()).is_some());
        for name in [
            "",
            "..",
            "../data.csv",
            "/etc/passwd",
            "a/b",
            ".lock",
            "a b",
        ] {
            assert_eq!(
                Manifest::parse(text(name, &hash).as_bytes()),
                None,
                "{name}"
            );
        }
        for hash in ["", "0", "../x", &"Z".repeat(64)] {
            assert_eq!(Manifest::parse(text("a", hash).as_bytes()), None, "{hash}");
        }
        assert_eq!(Manifest::parse(b"{\"version\": 1, \"fi"), None);
    }
}
