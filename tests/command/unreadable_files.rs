//! Whatever a command is told to read and cannot: the message names it, the exit code is 2, and
//! nothing is written.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::probity_command::{Outcome, Workspace, binary};

/// Every option and argument that names something to read, as `{}`, on things that are there.
const LINES: &[&str] = &[
    "schema infer {} --label-column y",
    "schema check {} --schema synthetic-census",
    "schema check people.csv --schema {}",
    "schema show {}",
    "train --data {} --schema synthetic-census",
    "train --data people.csv --schema {}",
    "train --texts {} --text-column comment_text --label-column toxic",
    "train --texts comments.csv --text-column comment_text --label-column toxic --embeddings {}",
    "import --weights {} --config adf-fnn --schema census",
    "audit --model {} --data people.csv",
    "audit --model model --data {}",
    "audit --model text --texts {} --text-column comment_text",
    "audit --model text --texts comments.csv --text-column comment_text --lexicon {}",
    "audit --predictor onnx:{} --schema synthetic-census --data people.csv",
    "audit --predictor command:false --schema {} --data people.csv",
    "compare --model {} --data people.csv",
    "compare --model model --data {}",
    "certify --model {} --data people.csv",
    "certify --model model --data {}",
    "groups --model {} --data people.csv",
    "groups --model model --data {}",
    "repair --model {} --data people.csv --run model",
    "repair --model model --data people.csv --run {}",
    "knn --train {} --test test.csv --label-column y --poison 1",
    "knn --train train.csv --test {} --label-column y --poison 1",
    "knn --train images.idx --train-labels {} --test images.idx --poison 1",
    "knn verify {}",
    "knn predict --train {} --test test.csv --label-column y",
    "kmeans fit --data {} --clusters 2 --bounds 0,1",
    "kmeans fit --data images.idx --labels {} --clusters 2",
    "kmeans bench --data {} --clusters 2 --bounds 0,1",
    "kmeans assign --model {}",
    "kmeans assign --model clusters --data {}",
    "kmeans delete --model {} --ids 1",
    "kmeans delete --model clusters --ids-file {}",
    "kmeans delete --model clusters --ids 1 --verify --data {}",
    "spn fit --data {} --schema synthetic-census",
    "spn fit --data people.csv --schema {}",
    "spn bench --data {} --schema synthetic-census",
    "spn show --model {}",
    "spn query likelihood --model {} --data people.csv",
    "spn delete --model {} --ids 1",
    "outliers exact --data {} --columns a --range a=0,1 --radius 1 --k 1",
    "outliers count --data train.csv --columns a --range a=0,1 --radius 1 --k 1 --epsilon 1 --delta 0.1 --ledger {}",
    "outliers budget --ledger {}",
    "embeddings train {} --out vectors.txt",
    "embeddings neighbours {} man",
    "lexicon check --texts {} --text-column a",
    "lexicon check --texts comments.csv --text-column comment_text --lexicon {}",
    "report {}",
    "verify {}",
    "run {}",
];

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    let line = |line: &str| workspace.line(line).exits(0);
    line("data generate people --rows 300 --out people.csv");
    line("data generate comments --rows 300 --out comments.csv");
    line("train --data people.csv --schema synthetic-census --epochs 1 --out model");
    line(
        "train --texts comments.csv --text-column comment_text --label-column toxic --layers 1 --epochs 1 --out text",
    );
    workspace.write("train.csv", "a,y\n0.1,0\n0.2,1\n0.3,0\n");
    workspace.write("test.csv", "a,y\n0.1,0\n");
    let head = [0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1];
    workspace.write(
        "images.idx",
        head.into_iter().chain([1, 2, 3]).collect::<Vec<u8>>(),
    );
    line("kmeans fit --data train.csv --label-column y --bounds 0,1 --clusters 2 --out clusters");
    workspace
}

/// Holds that every command refuses `name`, says so by that name, and leaves everything as it was.
fn refused(workspace: &Workspace, name: &str) {
    let before = workspace.snapshot();
    for line in LINES {
        let outcome = workspace.line(&line.replace("{}", name));
        assert_eq!(outcome.code, Some(2), "{line}: {outcome:#?}");
        let is_named = outcome.stderr.contains(name) && !outcome.stderr.contains("panicked");
        assert!(is_named, "{line}: {outcome:#?}");
        assert!(before == workspace.snapshot(), "{line} changed files");
    }
}

#[test]
fn what_is_missing_empty_or_a_directory_is_named() {
    let workspace = workspace();
    refused(&workspace, "missing.txt");
    workspace.write("empty.txt", "");
    refused(&workspace, "empty.txt");
    std::fs::create_dir(workspace.path("folder.txt")).unwrap();
    refused(&workspace, "folder.txt");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;

    let workspace = workspace();
    let file = workspace.path("closed.csv");
    workspace.write("closed.csv", "a,y\n0.1,0\n");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o0)).unwrap();
    if File::open(&file).is_ok() {
        eprintln!("not tried: this user may read everything");
        return;
    }
    for line in LINES {
        let outcome = workspace.line(&line.replace("{}", "closed.csv"));
        assert_eq!(outcome.code, Some(2), "{line}: {outcome:#?}");
        assert!(
            outcome.stderr.contains("closed.csv"),
            "{line}: {outcome:#?}"
        );
    }
}

/// What run.toml and JSON cannot name is refused before anything is done, be it read or written.
#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_are_refused_at_once() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    let workspace = workspace();
    let name = OsString::from_vec(b"bad\xff.csv".to_vec());
    std::fs::copy(workspace.path("train.csv"), workspace.path("").join(&name)).unwrap();
    let before = workspace.snapshot();
    let written = [
        "demo --rows 100 --out {}",
        "kmeans assign --model clusters --out {}",
    ];
    for line in LINES.iter().chain(&written) {
        let words = line
            .split_whitespace()
            .map(|word| match word.split_once("{}") {
                None => OsString::from(word),
                Some((front, _)) => {
                    let mut word = OsString::from(front);
                    word.push(&name);
                    word
                }
            });
        let mut command = Command::new(binary());
        command
            .current_dir(workspace.path(""))
            .args(words)
            .stdin(Stdio::null());
        let outcome = Outcome::new(command.output().unwrap()).exits(2);
        outcome.complains(&["bad\u{fffd}.csv' is not in UTF-8"]);
        assert!(before == workspace.snapshot(), "{line} changed files");
    }
}
