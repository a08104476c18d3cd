//! Runs the built command in a folder of its own and says what is expected of it.
//!
//! In the spirit of ripgrep's `Dir` and `TestCommand`: a [`Workspace`] is an empty temporary folder
//! that the command runs in, an [`Outcome`] is what it did, and every expectation that does not
//! hold shows the whole outcome.

#![allow(dead_code)] // Each test program uses its own part of this.

pub mod refusal;

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use probity::run::run_directory::{file_sha256, sha256_of};
use probity::run::sealed::write_json;
use probity_testing::Gate;
use serde_json::Value;
use tempfile::TempDir;

/// An empty folder for one test; gone when the test is over.
pub struct Workspace {
    folder: TempDir,
}

impl Workspace {
    /// Makes the folder.
    pub fn new() -> Workspace {
        Workspace {
            folder: TempDir::new().unwrap(),
        }
    }

    /// A folder with the model, the table and the audit of `probity demo` on `rows` people in
    /// `demo/`.
    pub fn with_demo(rows: u32) -> Workspace {
        let workspace = Workspace::new();
        workspace
            .run(["demo", "--out", "demo", "--rows", &rows.to_string()])
            .exits(0);
        workspace
    }

    /// The path of `name` in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Reads a text file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Reads a JSON file.
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The summary in the directory of a run, as the command also prints it: without the time of
    /// its end, the hashes of the files beside it and its seal.
    #[track_caller]
    pub fn summary(&self, run: &str) -> Value {
        let mut summary = self.json(&format!("{run}/summary.json"));
        let ended = summary.as_object_mut().unwrap().remove("ended");
        let ended = ended.expect("a summary says when its run ended");
        assert!(
            ended.as_str().is_some_and(|ended| ended.ends_with('Z')),
            "{ended}"
        );
        for sealing in ["sha256", "seal"] {
            assert!(summary.as_object_mut().unwrap().remove(sealing).is_some());
        }
        summary
    }

    /// Replaces the only place where `from` stands in a text file.
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert_eq!(text.matches(from).count(), 1, "'{from}' in {text}");
        self.write(name, text.replace(from, to));
    }

    /// Seals the description of the model `name` anew, with the files beside it as they are now: as
    /// somebody does who changes a model and knows how it is sealed.
    pub fn seal(&self, name: &str) {
        let description = format!("{name}/model.toml");
        let sealed = self.read(&description);
        let (first, text) = sealed.split_once('\n').unwrap();
        let lines = text.lines().map(|line| match line.split_once(" = ") {
            Some((file, hash)) if hash.len() == 66 => {
                let path = self.path(&format!("{name}/{}", file.trim_matches('"')));
                format!("{file} = \"{}\"\n", file_sha256(&path).unwrap())
            }
            _ => format!("{line}\n"),
        });
        let text: String = lines.collect();
        let (words, _) = first.split_once("sha256 ").unwrap();
        let hash = sha256_of(&mut text.as_bytes()).unwrap();
        self.write(&description, format!("{words}sha256 {hash}\n{text}"));
    }

    /// The same for the summary of the run `name`.
    pub fn seal_run(&self, name: &str) {
        let mut summary = self.json(&format!("{name}/summary.json"));
        let members = summary.as_object_mut().unwrap();
        members.remove("seal");
        let entries = fs::read_dir(self.path(name)).unwrap();
        let files = entries.map(|entry| entry.unwrap());
        let files =
            files.filter(|entry| entry.file_name() != "summary.json" && entry.path().is_file());
        let hashes = files.map(|entry| {
            let hash = file_sha256(&entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), Value::from(hash))
        });
        members.insert("sha256".to_owned(), Value::Object(hashes.collect()));
        write_json(&self.path(&format!("{name}/summary.json")), &summary).unwrap();
    }

    /// Copies a folder of files.
    pub fn copy_folder(&self, from: &str, to: &str) {
        fs::create_dir_all(self.path(to)).unwrap();
        for entry in fs::read_dir(self.path(from)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), self.path(to).join(entry.file_name())).unwrap();
        }
    }

    /// Every path under the folder with the bytes of the files, sorted: what a command that refuses
    /// its input must leave as it was.
    pub fn snapshot(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        collect(self.folder.path(), &mut found);
        found.sort();
        found
    }

    /// Runs the command in the folder to its end.
    pub fn run<I, S>(&self, arguments: I) -> Outcome
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let mut command = command();
        command
            .current_dir(self.folder.path())
            .args(arguments)
            .stdin(Stdio::null());
        Outcome::new(command.output().unwrap())
    }

    /// Runs a command line that is split at blanks; see [`Workspace::run`].
    pub fn line(&self, line: &str) -> Outcome {
        self.run(line.split_whitespace())
    }

    /// Starts `probity LINE` and waits until it is held at `point` (`begun`, `round:3`,
    /// `checkpoint`; see [`probity::run::pause`]).
    #[track_caller]
    pub fn held(&self, line: &str, point: &'static str) -> (Child, Gate) {
        let gate = Gate::closed_at(point);
        let (name, value) = gate.variable();
        let mut child = self.prepared(line).env(name, value).spawn().unwrap();
        gate.wait_for(1, || {
            let status = child.try_wait().unwrap()?;
            let mut stderr = String::new();
            child.stderr.take()?.read_to_string(&mut stderr).unwrap();
            Some(format!("{line}: {status} {stderr}"))
        });
        (child, gate)
    }

    /// What comes of `probity LINE` when Ctrl-C is pressed at `point`.
    #[track_caller]
    pub fn interrupted(&self, line: &str, point: &'static str) -> Outcome {
        let (child, _gate) = self.held(line, point);
        interrupt(&child);
        Outcome::new(child.wait_with_output().unwrap())
    }

    /// Kills `probity LINE` at `point`.
    #[track_caller]
    pub fn killed(&self, line: &str, point: &'static str) {
        let (mut child, _gate) = self.held(line, point);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// The command in the folder, split at blanks, not yet started, with piped output.
    pub fn prepared(&self, line: &str) -> Command {
        let mut command = command();
        command
            .current_dir(self.folder.path())
            .args(line.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// No drivers of GPUs, in the words of Vulkan's loader. To ask them takes several times as long as
/// a small run, of which the tests make thousands; tests/devices.rs asks them.
pub const WITHOUT_GPU: (&str, &str) = ("VK_DRIVER_FILES", "/dev/null");

/// The command that was built for these tests, which looks for no GPU.
pub fn command() -> Command {
    let mut command = Command::new(binary());
    command.env(WITHOUT_GPU.0, WITHOUT_GPU.1);
    command
}

/// The file of the command that was built for these tests.
pub fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_probity")
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.push((path.clone(), None));
            collect(&path, found);
        } else if path.is_symlink() && !path.exists() {
            found.push((path, None));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, Some(bytes)));
        }
    }
}

/// What a command did.
#[derive(Debug)]
pub struct Outcome {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it remarked.
    pub stderr: String,
}

impl Outcome {
    /// The outcome of a finished process.
    pub fn new(output: Output) -> Outcome {
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Holds the exit code; nothing may have panicked.
    #[track_caller]
    pub fn exits(self, code: i32) -> Outcome {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// Holds that stdout contains each of `needles`.
    #[track_caller]
    pub fn says(self, needles: &[&str]) -> Outcome {
        for needle in needles {
            assert!(self.stdout.contains(needle), "no '{needle}' in {self:#?}");
        }
        self
    }

    /// Holds that stderr contains each of `needles`.
    #[track_caller]
    pub fn complains(self, needles: &[&str]) -> Outcome {
        for needle in needles {
            assert!(self.stderr.contains(needle), "no '{needle}' in {self:#?}");
        }
        self
    }

    /// stdout as JSON, which must be all of it.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("{error} in {self:#?}"),
        }
    }
}

/// An audit's summary without what depends on the clock and on the form of the samples.
pub fn figures(summary: &Value) -> Value {
    let mut figures = summary.clone();
    for part in ["global", "local", "total"] {
        for key in ["seconds", "checks_per_second", "discriminatory_per_second"] {
            figures[part].as_object_mut().unwrap().remove(key);
        }
    }
    for key in ["samples_file", "ended", "sha256", "seal"] {
        figures.as_object_mut().unwrap().remove(key);
    }
    figures
}

/// A comparison's summary without what depends on the clock.
pub fn untimed(summary: &Value) -> Value {
    let mut summary = summary.clone();
    let forget = |value: &mut Value, keys: &[&str]| {
        let object = value.as_object_mut().unwrap();
        keys.iter().for_each(|key| drop(object.remove(*key)));
    };
    for strategy in summary["strategies"].as_array_mut().unwrap() {
        forget(strategy, &["seconds", "found_per_second"]);
        for run in strategy["runs"].as_array_mut().unwrap() {
            for part in ["global", "local", "total"] {
                let times = ["seconds", "checks_per_second", "discriminatory_per_second"];
                forget(&mut run[part], &times);
            }
            for point in run["curve"].as_array_mut().unwrap() {
                forget(point, &["seconds"]);
            }
        }
    }
    summary
}

/// Sends what Ctrl-C sends.
pub fn interrupt(child: &Child) {
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}
