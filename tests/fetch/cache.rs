//! A data set of three lines, where it may come from, and a folder to keep it in.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use probity::data::fetch::{
    DataFile, DataSet, FetchError, FetchOptions, FetchedSet, Fetcher, Source,
};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

pub fn people() -> Vec<u8> {
    (0..20_000)
        .flat_map(|row| format!("{row},{}\n", row % 7).into_bytes())
        .collect()
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

pub fn plain(url: String) -> Source {
    Source {
        url,
        members: vec![],
    }
}

/// A catalogue entry of one file with the content `people()`.
pub fn entry(sources: Vec<Source>) -> DataSet {
    let content = people();
    DataSet {
        name: "people".into(),
        title: "People".into(),
        licence: "none".into(),
        citation: "none".into(),
        page: "none".into(),
        files: vec![DataFile {
            name: "people.csv".into(),
            local_path: "folk/people-table.csv".into(),
            sha256: sha256(&content),
            size: content.len() as u64,
            sources,
        }],
    }
}

pub fn options(retries: u32) -> FetchOptions {
    let mut options = FetchOptions::default();
    options.connect_timeout = Duration::from_secs(300);
    options.silence_timeout = Duration::from_secs(300);
    options.retries = retries;
    options.backoff = Duration::ZERO;
    options.largest_body = 1 << 20;
    options
}

pub struct Cache {
    pub root: TempDir,
    pub options: FetchOptions,
}

impl Cache {
    pub fn new(options: FetchOptions) -> Self {
        Self {
            root: tempfile::tempdir().unwrap(),
            options,
        }
    }

    pub fn fetcher(&self) -> Fetcher {
        Fetcher::new(self.root.path(), self.options.clone())
    }

    pub fn download(&self, sources: Vec<Source>) -> Result<FetchedSet, FetchError> {
        self.fetcher().download(&entry(sources), &mut |_| {})
    }

    pub fn copy_from(&self, set: &DataSet, from: &Path) -> Result<FetchedSet, FetchError> {
        self.fetcher().copy_from(set, from)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("people").join(name)
    }

    pub fn put(&self, name: &str, content: &[u8]) {
        fs::create_dir_all(self.path("")).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    /// What lies in the set's folder, besides the lock.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != ".lock")
            .collect();
        names.sort();
        names
    }

    pub fn assert_holds_only_people(&self) {
        assert_eq!(self.names(), ["people.csv"]);
        assert_eq!(fs::read(self.path("people.csv")).unwrap(), people());
    }
}
