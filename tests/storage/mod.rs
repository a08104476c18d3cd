//! Storage for tests of artefacts elsewhere: a real server that speaks the protocol of Amazon S3, and
//! fails when it is told to.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use probity_testing::{Needed, skip};
use tempfile::TempDir;

/// Environment variable: the folder `node_modules` with the package `s3rver`.
const MODULES: &str = "PROBITY_STORAGE";

/// The bucket.
const BUCKET: &str = "artefacts";

/// What the server appends to the names of the files that hold objects.
const SUFFIX: &str = "._S3rver_object";

/// The place of the artefacts of a service there.
pub const PLACE: &str = "s3://artefacts/teams/probity";

/// Storage; ends when dropped.
pub struct Storage {
    child: Child,
    output: BufReader<ChildStdout>,
    folder: TempDir,
    /// Its address.
    pub address: String,
}

impl Storage {
    /// Starts it, or gives `None` after saying why the test is skipped.
    ///
    /// # Panics
    /// When `PROBITY_REQUIRE` names `storage` and it cannot be had.
    pub fn start_or_skip() -> Option<Storage> {
        let modules = env::var_os(MODULES).map(PathBuf::from);
        let Some(modules) = modules.filter(|one| one.join("s3rver").is_dir()) else {
            let reason = format!("{MODULES} names no folder with the package s3rver");
            skip(Needed::Storage, &reason);
            return None;
        };
        let folder = TempDir::new().expect("a folder");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/storage/server.mjs");
        let child = Command::new("node")
            .arg(script)
            .arg(modules)
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                skip(Needed::Storage, &format!("node does not start: {error}"));
                return None;
            }
        };
        let output = BufReader::new(child.stdout.take().expect("an output"));
        let mut storage = Storage {
            child,
            output,
            folder,
            address: String::new(),
        };
        storage.address = storage.line();
        assert!(
            storage.address.starts_with("http://127.0.0.1:"),
            "'{}'",
            storage.address
        );
        Some(storage)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line.trim().to_owned()
    }

    /// What the environment of a service says about it.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", self.address.clone()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "S3RVER".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "S3RVER".to_owned()),
            // Nobody shall wait long for one that hangs.
            ("AWS_TIMEOUT", "2s".to_owned()),
        ]
    }

    /// Has it behave in a way from now on (`server.mjs` says which there are); gives the number of
    /// requests that it has not done as it should since the last time.
    pub fn tell(&mut self, behaviour: &str) -> u64 {
        let input = self.child.stdin.as_mut().expect("an input");
        writeln!(input, "{behaviour}").expect("it reads");
        self.line().parse().expect("a number")
    }

    /// The file that holds the object with this key.
    pub fn file(&self, key: &str) -> PathBuf {
        let bucket = self.folder.path().join(BUCKET);
        bucket.join(format!("{key}{SUFFIX}"))
    }

    /// The keys of all objects, sorted.
    pub fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        let bucket = self.folder.path().join(BUCKET);
        walk(&bucket, "", &mut keys);
        keys.sort();
        keys
    }

    /// The keys that begin with the place of the service and a path below it, without the place.
    pub fn keys_of(&self, path: &str) -> Vec<String> {
        let keys = self.keys();
        let inside = keys.iter().map(|key| {
            let inside = key.strip_prefix("teams/probity/");
            inside.unwrap_or_else(|| panic!("{key} is outside of the place"))
        });
        let inside = inside.filter(|key| key.starts_with(path));
        inside.map(str::to_owned).collect()
    }
}

fn walk(folder: &Path, path: &str, keys: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            walk(&entry.path(), &format!("{path}{name}/"), keys);
        } else if let Some(name) = name.strip_suffix(SUFFIX) {
            keys.push(format!("{path}{name}"));
        }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
