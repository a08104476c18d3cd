//! kill -9 before each system call that changes a file, or before some drawn by a seed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::probity_command::{Workspace, figures};
use crate::traced::{drawn, is_possible, killed, moments};
use crate::{AUDIT, copy_of, files, is_passing, prepared};

/// Seed of the moments that are drawn.
const SEED: u64 = 16;

/// A summary without what the clock decides.
fn timeless(bytes: &[u8]) -> Value {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| {
                    !(name.contains("second")
                        || ["ended", "sha256", "seal"].contains(&name.as_str()))
                });
                members.values_mut().for_each(forget);
            }
            Value::Array(values) => values.iter_mut().for_each(forget),
            _ => {}
        }
    }
    let mut value: Value = serde_json::from_slice(bytes).unwrap();
    forget(&mut value);
    value
}

/// Every file of `workspace` is one of `before`, or wholly as it is in `whole`.
fn holds_whole_files(
    workspace: &Workspace,
    before: &BTreeMap<PathBuf, Vec<u8>>,
    whole: &BTreeMap<PathBuf, Vec<u8>>,
    moment: usize,
) {
    for (path, bytes) in files(workspace) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if is_passing(&path) || name == "checkpoint.bin" || before.get(&path) == Some(&bytes) {
            continue;
        }
        let written = whole.get(&path);
        let is_whole = match name.as_str() {
            "summary.json" => written.is_some_and(|written| timeless(written) == timeless(&bytes)),
            _ => written == Some(&bytes),
        };
        assert!(
            is_whole,
            "moment {moment}: {} is half written",
            path.display()
        );
    }
    for path in before.keys() {
        let is_there = workspace.path("").join(path).exists();
        assert!(
            is_there || !whole.contains_key(path),
            "moment {moment}: {} is gone",
            path.display()
        );
    }
}

/// Kills `line` at up to `most` moments in copies of `start`; `recover` is given each copy.
fn kill_at_moments(
    start: &Workspace,
    line: &str,
    most: usize,
    recover: &dyn Fn(&Workspace, &Workspace),
) {
    let whole = copy_of(start);
    let last = moments(&whole, line);
    assert!(last > 2, "{line} changes nothing");
    let before: BTreeMap<_, _> = files(start).into_iter().collect();
    let after: BTreeMap<_, _> = files(&whole).into_iter().collect();
    for moment in drawn(last, most, SEED) {
        let copy = copy_of(start);
        let outcome = killed(&copy, line, moment);
        if outcome.code == Some(0) {
            // The order of calls is that of threads; fewer than before, this time.
            continue;
        }
        holds_whole_files(&copy, &before, &after, moment);
        recover(&copy, &whole);
        let left: Vec<_> = files(&copy)
            .into_iter()
            .filter(|(path, _)| is_passing(path))
            .collect();
        assert!(left.is_empty(), "moment {moment}: {left:?} is left over");
    }
}

/// A deletion is done wholly or not at all, and the next command cleans up.
#[test]
fn deletions() {
    if !is_possible() {
        return;
    }
    let start = prepared();
    let input = "--data people.csv --schema people.toml";
    start
        .line(&format!("kmeans fit {input} --clusters 3 --out k"))
        .exits(0);
    start.line(&format!("spn fit {input} --out s")).exits(0);
    for (line, file) in [
        ("kmeans delete --model k --ids 7", "k/model.bin"),
        ("spn delete --model s --ids 7", "s/model.spn"),
    ] {
        kill_at_moments(&start, line, 60, &|copy, whole| {
            let was_done =
                std::fs::read(copy.path(file)).unwrap() == std::fs::read(whole.path(file)).unwrap();
            copy.line(line).exits(if was_done { 2 } else { 0 });
            assert_eq!(
                std::fs::read(copy.path(file)).unwrap(),
                std::fs::read(whole.path(file)).unwrap()
            );
        });
    }
}

/// A run that is killed goes on to the very result of one that is not.
#[test]
fn audits() {
    if !is_possible() {
        return;
    }
    let start = prepared();
    kill_at_moments(&start, AUDIT, 24, &|copy, whole| {
        goes_on(copy, "audit --resume --out run", AUDIT);
        assert_eq!(copy.read("run/samples.csv"), whole.read("run/samples.csv"));
        assert_eq!(
            figures(&copy.json("run/summary.json")),
            figures(&whole.json("run/summary.json"))
        );
    });
    // And again while it goes on.
    let stopped = copy_of(&start);
    stopped.line(&format!("{AUDIT} --time 1ns")).exits(0);
    kill_at_moments(&stopped, "audit --resume --out run", 16, &|copy, whole| {
        goes_on(copy, "audit --resume --out run", AUDIT);
        assert_eq!(copy.read("run/samples.csv"), whole.read("run/samples.csv"));
    });
}

/// Resumes what can be resumed, begins what was not begun, and leaves what was complete.
fn goes_on(copy: &Workspace, resume: &str, anew: &str) {
    let outcome = match copy.path("run/run.toml").exists() {
        true => copy.line(resume),
        false => copy.line(anew),
    };
    if outcome.code != Some(0) {
        outcome.exits(2).complains(&["nothing to resume"]);
        // The kill came after the last result: only the lock was left to give up.
        copy.line("verify run").exits(0);
        let lock = copy.path("run/.probity.lock");
        if lock.exists() {
            std::fs::remove_file(lock).unwrap();
        }
    }
}

#[test]
fn trainings() {
    if !is_possible() {
        return;
    }
    let start = prepared();
    let train = "train --data people.csv --schema people.toml --hidden 4 --epochs 3 --out run";
    kill_at_moments(&start, train, 24, &|copy, whole| {
        let outcome = match copy.path("run/run.toml").exists() {
            true => copy.line("train --resume --out run"),
            false => copy.line(train),
        };
        if outcome.code != Some(0) {
            outcome.exits(2).complains(&["nothing to resume"]);
            let _ = std::fs::remove_file(copy.path("run/.probity.lock"));
        }
        for file in ["model.toml", "weights.safetensors", "provenance.toml"] {
            let file = format!("run/{file}");
            assert_eq!(
                std::fs::read(copy.path(&file)).unwrap(),
                std::fs::read(whole.path(&file)).unwrap()
            );
        }
    });
}

/// What cannot be gone on with is begun again, elsewhere if the place holds a part of it.
#[test]
fn results() {
    if !is_possible() {
        return;
    }
    let start = prepared();
    start.line(AUDIT).exits(0);
    let table = "--data people.csv --schema people.toml";
    for (line, out) in [
        (format!("kmeans fit {table} --clusters 3 --out k"), "k"),
        (format!("spn fit {table} --out s"), "s"),
        ("schema infer people.csv --label-column income --out new.toml".to_owned(), "new.toml"),
        ("report run --out report.html".to_owned(), "report.html"),
        ("groups --model model --data people.csv --out g".to_owned(), "g"),
        ("certify --model model --protected sex --out c".to_owned(), "c"),
        (
            "knn --train people.csv --test people.csv --inputs 5 --schema people.toml --poison 2 --max-k 5 --folds 3 --out n".to_owned(),
            "n",
        ),
    ] {
        kill_at_moments(&start, &line, 16, &|copy, whole| {
            let again = copy.line(&line);
            match again.code {
                Some(0) => {}
                _ => {
                    let refused = match out.contains('.') {
                        true => "--force",
                        false => "is not empty",
                    };
                    again.exits(2).complains(&[refused]);
                }
            }
            let elsewhere = line.replace(&format!("--out {out}"), &format!("--out new-{out}"));
            copy.line(&elsewhere).exits(0);
            let name = |root: &str| files(whole).into_iter().filter(|(path, _)| path.starts_with(root)).count();
            let copied = files(copy).into_iter().filter(|(path, _)| path.starts_with(format!("new-{out}"))).count();
            assert_eq!(name(out), copied);
        });
    }
}

/// The ledger never counts too little: what was answered was charged.
#[test]
fn ledgers() {
    if !is_possible() {
        return;
    }
    let start = prepared();
    start
        .line("outliers budget --ledger budget.toml --data people.csv --epsilon 10 --delta 0.1")
        .exits(0);
    let count = "outliers count --data people.csv --columns age --range age=18,67 --radius 0.1 --k 3 --epsilon 1 --delta 0.01 --ledger budget.toml";
    let whole = copy_of(&start);
    let last = moments(&whole, count);
    for moment in drawn(last, 60, SEED) {
        let copy = copy_of(&start);
        let outcome = killed(&copy, count, moment);
        let spent = copy
            .line("outliers budget --ledger budget.toml --json")
            .exits(0)
            .json();
        let charged = spent["queries"].as_array().map_or(0, Vec::len);
        assert!(charged <= 1);
        assert!(
            outcome.stdout.is_empty() || charged == 1,
            "moment {moment}: answered and not charged"
        );
        copy.line(count).exits(0);
        let left: Vec<_> = files(&copy)
            .into_iter()
            .filter(|(path, _)| is_passing(path))
            .collect();
        assert!(left.is_empty(), "moment {moment}: {left:?} is left over");
    }
}
