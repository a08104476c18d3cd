//! What docs/reliability.md promises, kept while processes are killed, disks are full, files are
//! damaged and commands race for one directory.
//!
//! | module | what happens |
//! |---|---|
//! | [`kills`] | kill -9 before system calls that change a file |
//! | [`faults`] | the same calls fail: disk full, read-only, no descriptors; the clock jumps |
//! | [`races`] | commands that share files, each with each |
//! | [`crowds`] | twenty commands at a time that change one thing |
//! | [`damage`] | every file that Probity writes for itself, with bits flipped |
//! | [`outputs`] | results that would destroy what they are made from |
//!
//! [`writers`] lists the commands that write, [`state`] says what of their files must be the same.

#[path = "../probity_command/mod.rs"]
mod probity_command;

mod crowds;
mod damage;
mod faults;
mod kills;
mod outputs;
mod races;
mod state;
mod traced;
mod writers;

use probity_command::Workspace;

/// What stands for longer words in the lines of commands.
const ABBREVIATIONS: [(&str, &str); 3] = [
    ("TABLE", "--data people.csv --schema people.toml"),
    ("NETWORK", "--model model --data people.csv --protected sex"),
    ("TEXTS", "--texts comments.csv --text-column comment_text"),
];

/// A line with its abbreviations spelt out.
fn spelt(line: &str) -> String {
    let spell = |line: String, (short, long): (&str, &str)| line.replace(short, long);
    ABBREVIATIONS.into_iter().fold(line.to_owned(), spell)
}

/// A small audit of the network.
const AUDIT: &str = "audit NETWORK --seeds 40 --local 30 --estimate 200 --samples csv --out run";

/// A workspace with 300 people, their schema, and a small network.
fn prepared() -> Workspace {
    let workspace = Workspace::new();
    for line in [
        "data generate people --rows 300 --out people.csv",
        "schema infer people.csv --label-column income --protected sex,origin --out people.toml",
        "train TABLE --hidden 4 --epochs 2 --validation 0.1 --out model",
    ] {
        workspace.line(&spelt(line)).exits(0);
    }
    workspace
}

/// The same with a k-means model `k`, a sum-product network `s`, the audit `done` and a ledger.
fn with_models() -> Workspace {
    let workspace = prepared();
    for line in [
        "kmeans fit TABLE --clusters 3 --out k",
        "spn fit TABLE --out s",
        &AUDIT.replace("--out run", "--out done"),
        "outliers budget --ledger budget.toml --data people.csv --epsilon 10 --delta 0.1",
    ] {
        workspace.line(&spelt(line)).exits(0);
    }
    workspace
}

/// The same with comments, a classifier of them, `texts`, and what an import needs.
fn with_texts() -> Workspace {
    let workspace = with_models();
    for line in [
        "data generate comments --rows 200 --out comments.csv",
        "train TEXTS --label-column toxic --cell gru --units 4 --layers 1 --epochs 40 --learning-rate 0.05 --out texts",
    ] {
        workspace.line(&spelt(line)).exits(0);
    }
    let config = "hidden = [4]\n[[layout]]\nweight = \"layers.{n}.weight\"\n\
                  bias = \"layers.{n}.bias\"\norientation = \"in-out\"\n";
    workspace.write("network.toml", config);
    workspace
}
