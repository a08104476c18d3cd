//! Long work that is stopped, by Ctrl-C or by a budget, leaves what it has and goes on to the very
//! result of uninterrupted work.

use std::fs;

use crate::probity_command::{Workspace, figures};

/// Enough people to learn the planted rule from.
const PEOPLE: u32 = 2000;

/// A small audit of the demo's model.
const AUDIT: &str =
    "audit --model demo/model --data demo/people.csv --seeds 60 --local 20 --estimate 2000";

/// Ctrl-C ends a running audit with what it has; resumed, it ends with the very files of an
/// uninterrupted one.
#[cfg(unix)]
#[test]
fn interrupted_and_resumed() {
    let workspace = Workspace::with_demo(PEOPLE);
    let audit = "audit --model demo/model --data demo/people.csv --protected sex --seeds 300 \
                 --local 100 --estimate 500 --samples csv";
    let outcome = workspace.interrupted(&format!("{audit} --out run"), "round:3");
    outcome.exits(0).says(&["Interrupted after", "--resume"]);
    let summary = workspace.json("run/summary.json");
    assert_eq!(summary["ending"], "interrupted");
    assert!(workspace.path("run/checkpoint.bin").is_file());
    workspace.line("verify run").exits(0).says(&[" 0 rejected"]);

    workspace.line("audit --resume --out run").exits(0);
    assert_eq!(workspace.json("run/summary.json")["ending"], "complete");
    assert!(!workspace.path("run/checkpoint.bin").exists());
    workspace.line(&format!("{audit} --out whole")).exits(0);
    assert_eq!(
        figures(&workspace.json("run/summary.json")),
        figures(&workspace.json("whole/summary.json"))
    );
    assert!(workspace.read("run/samples.csv") == workspace.read("whole/samples.csv"));
}

/// Pairs beyond a bound of memory lie in the run until its end, and are the same in the end.
#[test]
fn pairs_beyond_a_bound_of_memory() {
    let workspace = Workspace::with_demo(PEOPLE);
    let audit = "audit --model demo/model --data demo/people.csv --seeds 400 --local 400 --estimate 500 --samples csv -q";
    workspace.line(&format!("{audit} --out whole")).exits(0);
    let line = format!("{audit} --memory 1MiB --max-calls 150000 --out run");
    workspace.line(&line).exits(0);
    assert_eq!(workspace.summary("run")["ending"], "max_calls");
    let file = workspace.path("run/spilled-000000");
    let honest = fs::read(&file).unwrap();
    assert!(honest.len() < 1 << 20);
    workspace.line("verify run -q").exits(0);
    // They are part of the checkpoint.
    fs::write(&file, &honest[1..]).unwrap();
    let changed = ["checkpoint.bin", "spilled-000000", "changed"];
    workspace
        .line("audit --resume --out run -q")
        .exits(2)
        .complains(&changed);
    fs::write(&file, &honest).unwrap();
    workspace
        .line("audit --resume --memory 2MiB --out run -q")
        .exits(0);
    assert!(!file.exists());
    assert_eq!(
        figures(&workspace.json("run/summary.json")),
        figures(&workspace.json("whole/summary.json"))
    );
    assert!(workspace.read("run/samples.csv") == workspace.read("whole/samples.csv"));
    workspace
        .line(&format!("{audit} --memory 10KiB --out small"))
        .exits(2)
        .complains(&["--memory", "1MiB or more"]);
}

/// A killed audit leaves no half file under a final name, and `--resume` makes it whole.
#[test]
fn killed_and_resumed() {
    let workspace = Workspace::with_demo(PEOPLE);
    let audit = format!("{AUDIT} --samples csv");
    workspace.killed(&format!("{audit} --out run"), "round:2");
    assert!(!workspace.path("run/summary.json").exists());
    assert!(!workspace.path("run/samples.csv").exists());
    workspace
        .line("verify run")
        .exits(2)
        .complains(&["unfinished", "--resume"]);
    workspace.line("audit --resume --out run").exits(0);
    workspace.line(&format!("{audit} --out whole")).exits(0);
    assert_eq!(
        figures(&workspace.json("run/summary.json")),
        figures(&workspace.json("whole/summary.json"))
    );
    assert!(workspace.read("run/samples.csv") == workspace.read("whole/samples.csv"));
}

/// Killed after a checkpoint was written: interrupted, gone on with, killed, gone on with again.
#[cfg(unix)]
#[test]
fn killed_after_a_checkpoint() {
    let workspace = Workspace::with_demo(PEOPLE);
    let audit = format!("{AUDIT} --samples csv");
    workspace
        .interrupted(&format!("{audit} --out run"), "round:2")
        .exits(0);
    assert!(workspace.path("run/checkpoint.bin").is_file());
    workspace.killed("audit --resume --out run", "round:2");
    workspace.line("audit --resume --out run").exits(0);
    workspace.line(&format!("{audit} --out whole")).exits(0);
    assert_eq!(
        figures(&workspace.json("run/summary.json")),
        figures(&workspace.json("whole/summary.json"))
    );
    assert!(workspace.read("run/samples.csv") == workspace.read("whole/samples.csv"));
    assert!(!workspace.path("run/checkpoint.bin").exists());
}

/// The same for training: the resumed model is the uninterrupted one, bit for bit.
#[cfg(unix)]
#[test]
fn interrupted_training_and_resumed() {
    let workspace = Workspace::with_demo(PEOPLE);
    let train = "train --data demo/people.csv --schema synthetic-census --hidden 16,8 --epochs 12";
    let outcome = workspace.interrupted(&format!("{train} --out model"), "round:4");
    outcome
        .exits(0)
        .says(&["Interrupted after", "train --resume --out model"]);
    assert_eq!(workspace.json("model/summary.json")["finished"], false);
    workspace.line("train --resume --out model").exits(0);
    workspace.line(&format!("{train} --out whole")).exits(0);
    let [resumed, whole] =
        ["model", "whole"].map(|run| workspace.json(&format!("{run}/summary.json")));
    assert_eq!(resumed["finished"], true);
    assert_eq!(resumed["history"], whole["history"]);
    assert_eq!(resumed["model_sha256"], whole["model_sha256"]);
}

/// A checkpoint of which somebody changed a number, and sealed it anew, is refused by its name.
#[cfg(unix)]
#[test]
fn a_changed_checkpoint_of_a_training_is_named() {
    use probity::run::run_directory::sha256_of;
    let workspace = Workspace::with_demo(PEOPLE);
    // Without validation the model so far has the numbers of the checkpoint.
    let train = "train --data demo/people.csv --schema synthetic-census --hidden 4 --epochs 12 --validation 0";
    workspace
        .interrupted(&format!("{train} --out model"), "round:4")
        .exits(0);
    let weights = std::fs::read(workspace.path("model/weights.safetensors")).unwrap();
    let last = &weights[weights.len() - 4..];
    let file = workspace.path("model/checkpoint.bin");
    let good = std::fs::read(&file).unwrap();
    for number in [f32::NAN, f32::INFINITY] {
        let mut bytes = good[..good.len() - 32].to_vec();
        let at = bytes.windows(4).position(|four| four == last).unwrap();
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        let hash = sha256_of(&mut bytes.as_slice()).unwrap();
        let pairs = hash.as_bytes().chunks(2);
        let hex = pairs.map(|pair| std::str::from_utf8(pair).unwrap());
        bytes.extend(hex.map(|pair| u8::from_str_radix(pair, 16).unwrap()));
        std::fs::write(&file, bytes).unwrap();
        workspace
            .line("train --resume --out model")
            .exits(2)
            .complains(&["model/checkpoint.bin", "changed", "begin anew"]);
    }
}

/// A budget ends the search; a larger one takes it up again.
#[test]
fn budgets() {
    let workspace = Workspace::with_demo(PEOPLE);
    workspace
        .line(&format!("{AUDIT} --time 1ns --out timed"))
        .exits(0)
        .says(&["Ended by its time limit", "--time"]);
    assert_eq!(workspace.json("timed/summary.json")["ending"], "time");
    workspace
        .line("audit --resume --out timed --time 1h")
        .exits(0);
    workspace.line(&format!("{AUDIT} --out whole")).exits(0);
    assert_eq!(
        figures(&workspace.json("timed/summary.json")),
        figures(&workspace.json("whole/summary.json"))
    );
    workspace
        .line(&format!("{AUDIT} --max-found 25 --out few"))
        .exits(0)
        .says(&["ended at the number of individuals it was told to find"]);
    let summary = workspace.json("few/summary.json");
    assert_eq!(summary["ending"], "max_found");
    assert_eq!(summary["total"]["discriminatory"], 25);
    workspace.line("verify few").exits(0).says(&["0 rejected"]);
}
