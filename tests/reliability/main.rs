//! What docs/reliability.md promises, kept while processes are killed, disks are full, files are
//! damaged and commands race for one directory.
//!
//! | module | what happens |
//! |---|---|
//! | [`kills`] | kill -9 before each system call that changes a file |
//! | [`faults`] | the same calls fail: disk full, read-only, no descriptors; the clock jumps |
//! | [`races`] | commands that share files, twenty at a time |
//! | [`damage`] | every file that Probity writes for itself, with bits flipped |
//! | [`outputs`] | results that would destroy what they are made from |

#[path = "../probity_command/mod.rs"]
mod probity_command;

mod damage;
mod faults;
mod kills;
mod outputs;
mod races;
mod traced;

use std::fs;
use std::path::{Path, PathBuf};

use probity_command::Workspace;

/// A workspace with 300 people, their schema, and a small network.
fn prepared() -> Workspace {
    let workspace = Workspace::new();
    for line in [
        "data generate people --rows 300 --out people.csv",
        "schema infer people.csv --label-column income --protected sex,origin --out people.toml",
        "train --data people.csv --schema people.toml --hidden 4 --epochs 2 --out model",
    ] {
        workspace.line(line).exits(0);
    }
    workspace
}

/// A small audit of its network.
const AUDIT: &str = "audit --model model --data people.csv --protected sex --seeds 40 --local 30 --estimate 200 --samples csv --out run";

/// The same files in another folder.
fn copy_of(workspace: &Workspace) -> Workspace {
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

/// The files of a workspace by their names in it.
fn files(workspace: &Workspace) -> Vec<(PathBuf, Vec<u8>)> {
    let root = workspace.path("");
    let files = workspace.snapshot().into_iter();
    files
        .filter_map(|(path, content)| {
            Some((path.strip_prefix(&root).unwrap().to_owned(), content?))
        })
        .collect()
}

/// Whether a file is one of those that come and go.
fn is_passing(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(".probity"))
}
