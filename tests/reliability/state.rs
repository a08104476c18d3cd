//! The files of a workspace without what depends on the clock and on where the workspace is: what
//! must be the same after a kill and a recovery, and after a race.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::probity_command::Workspace;

/// Files by their names in a workspace.
pub type State = BTreeMap<PathBuf, Vec<u8>>;

/// The same files in another folder.
pub fn copy_of(workspace: &Workspace) -> Workspace {
    let copy = Workspace::new();
    for (path, content) in workspace.snapshot() {
        let to = copy
            .path("")
            .join(path.strip_prefix(workspace.path("")).unwrap());
        match content {
            None => fs::create_dir_all(to).unwrap(),
            Some(bytes) => {
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::write(to, bytes).unwrap();
            }
        }
    }
    copy
}

/// The files of a workspace, as far as they last.
pub fn state(workspace: &Workspace) -> State {
    let root = workspace.path("");
    let files = workspace.snapshot().into_iter();
    files
        .filter_map(|(path, content)| {
            let path = path.strip_prefix(&root).unwrap().to_owned();
            let bytes = lasting(&path, &content?);
            Some((path, bytes))
        })
        .collect()
}

/// Whether a file is one of those that come and go.
pub fn is_passing(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(".probity"))
}

/// Holds that no file is left that comes and goes.
#[track_caller]
pub fn nothing_is_left(workspace: &Workspace, when: &str) {
    let left: Vec<_> = state(workspace)
        .into_keys()
        .filter(|path| is_passing(path))
        .collect();
    assert!(left.is_empty(), "{when}: {left:?} is left over");
}

/// Holds that two states are one, and names the files that are not.
#[track_caller]
pub fn are_same(found: &State, expected: &State, when: &str) {
    let differing = differing(found, expected);
    assert!(differing.is_empty(), "{when}: {differing:?} differ");
}

/// The files in which two states differ.
pub fn differing(one: &State, other: &State) -> Vec<PathBuf> {
    let names = one.keys().chain(other.keys()).cloned();
    let mut names: Vec<PathBuf> = names
        .filter(|name| one.get(name) != other.get(name))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// What of a file lasts.
fn lasting(path: &Path, bytes: &[u8]) -> Vec<u8> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name == "checkpoint.bin" {
        // It holds what was done by then, and in what time; whether it is whole, its seal says.
        return b"a checkpoint".to_vec();
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return bytes.to_owned();
    };
    match &*name {
        "summary.json" | "report.json" => match serde_json::from_str(text) {
            Ok(summary) => serde_json::to_vec(&timeless(summary)).unwrap(),
            Err(_) => bytes.to_owned(),
        },
        "verdicts.csv" => without_seconds(text, ","),
        "table.md" => without_seconds(text, "|"),
        // Plots against time: whether they are whole is all that can be said.
        "found-by-time.svg" | "deletions.svg" if text.trim_end().ends_with("</svg>") => {
            b"a plot".to_vec()
        }
        _ => placeless(text).into_bytes(),
    }
}

/// A summary without what the clock decides, and without hashes of what has it or is of a place.
fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            members.retain(|name, _| {
                let is_of_time = name.contains("second") || name.starts_with("speed");
                !is_of_time && !["curve", "ended", "sha256", "seal"].contains(&name.as_str())
            });
            for member in members.values_mut() {
                *member = timeless(member.take());
            }
        }
        Value::Array(values) => {
            for value in values {
                *value = timeless(value.take());
            }
        }
        Value::String(text) => *text = placeless(text),
        _ => {}
    }
    value
}

/// A table without the columns that say how long something took.
fn without_seconds(text: &str, separator: &str) -> Vec<u8> {
    let header = text.lines().next().unwrap_or_default();
    let is_time: Vec<bool> = header
        .split(separator)
        .map(|name| name.contains("second"))
        .collect();
    let kept = |line: &str| {
        let cells = line.split(separator).zip(&is_time);
        let kept = cells.filter(|(_, is_time)| !**is_time);
        let kept: Vec<&str> = kept.map(|(cell, _)| cell.trim()).collect();
        kept.join(separator) + "\n"
    };
    // The rule below the header of a Markdown table is as wide as what was left out.
    let lines = text.lines().filter(|line| !line.starts_with("|-"));
    lines.map(kept).collect::<String>().into_bytes()
}

/// A text without where workspaces are: texts name the paths that were opened, and their seals are
/// of that; without the times of queries; and without the hashes of the audits that a repair learns
/// from, whose summaries say how many seconds they took.
fn placeless(text: &str) -> String {
    let mut parts = text.split("/.tmp");
    let first = parts.next().unwrap_or_default().to_owned();
    // The random end of the name of a temporary folder.
    let text = parts.fold(first, |text, part| text + part.get(6..).unwrap_or(part));
    let lines = text.lines().filter(|line| {
        let passing = ["# probity ", "time = ", "audit_"];
        !passing.iter().any(|start| line.starts_with(start))
    });
    lines.collect::<Vec<_>>().join("\n")
}
