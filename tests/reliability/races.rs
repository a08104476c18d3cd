//! Commands that share files, twenty at a time.

use std::process::Child;

use crate::probity_command::{Outcome, Workspace, figures};
use crate::{AUDIT, copy_of, files, is_passing, prepared};

/// Processes at a time.
const AT_ONCE: usize = 20;

/// What comes of `lines`, all started before the first one is waited for.
fn at_once(workspace: &Workspace, lines: &[String]) -> Vec<Outcome> {
    let started: Vec<Child> = lines
        .iter()
        .map(|line| workspace.prepared(line).spawn().unwrap())
        .collect();
    let ended = started
        .into_iter()
        .map(|child| child.wait_with_output().unwrap());
    let outcomes: Vec<Outcome> = ended.map(Outcome::new).collect();
    for (outcome, line) in outcomes.iter().zip(lines) {
        assert!(matches!(outcome.code, Some(0..=3)), "{line}: {outcome:#?}");
        assert!(!outcome.stderr.contains("panicked"), "{line}: {outcome:#?}");
    }
    outcomes
}

fn successes(outcomes: &[Outcome]) -> usize {
    outcomes
        .iter()
        .filter(|outcome| outcome.code == Some(0))
        .count()
}

fn nothing_is_left(workspace: &Workspace) {
    let left: Vec<_> = files(workspace)
        .into_iter()
        .filter(|(path, _)| is_passing(path))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// No deletion is lost: the model is the one of all deletions one after the other.
#[test]
fn deletions() {
    let workspace = prepared();
    let table = "--data people.csv --schema people.toml";
    workspace
        .line(&format!("kmeans fit {table} --clusters 3 --out k"))
        .exits(0);
    workspace.line(&format!("spn fit {table} --out s")).exits(0);
    for (command, file) in [("kmeans", "k/model.bin"), ("spn", "s/model.spn")] {
        let name = &file[..1];
        let delete = |id: usize| format!("{command} delete --model {name} --ids {id}");
        let one_by_one = copy_of(&workspace);
        for id in 1..=AT_ONCE {
            one_by_one.line(&delete(10 * id)).exits(0);
        }
        // By two paths to the directory.
        let lines: Vec<String> = (1..=AT_ONCE)
            .map(|id| {
                delete(10 * id).replace("--model ", ["--model ", "--model model/../"][id % 2])
            })
            .collect();
        let outcomes = at_once(&workspace, &lines);
        assert_eq!(successes(&outcomes), AT_ONCE);
        let waited = outcomes
            .iter()
            .filter(|outcome| outcome.stderr.contains("waiting for it"));
        assert!(waited.count() > 0);
        assert_eq!(
            std::fs::read(workspace.path(file)).unwrap(),
            std::fs::read(one_by_one.path(file)).unwrap()
        );
        // The same row twenty times: deleted once.
        let lines = vec![delete(5); AT_ONCE];
        assert_eq!(successes(&at_once(&workspace, &lines)), 1);
        // Readers beside writers see a whole model.
        let read = match command {
            "kmeans" => "kmeans assign --model k",
            _ => "spn show --model s",
        };
        let lines: Vec<String> = (0..AT_ONCE)
            .map(|at| {
                if at % 2 == 0 {
                    delete(101 + at)
                } else {
                    read.to_owned()
                }
            })
            .collect();
        assert_eq!(successes(&at_once(&workspace, &lines)), AT_ONCE);
    }
    nothing_is_left(&workspace);
}

/// One directory is one run's: the others are refused, and the result is that of one alone.
#[test]
fn runs() {
    let workspace = prepared();
    let whole = copy_of(&workspace);
    whole.line(AUDIT).exits(0);
    let is_as_alone = || {
        assert_eq!(
            workspace.read("run/samples.csv"),
            whole.read("run/samples.csv")
        );
        assert_eq!(
            figures(&workspace.json("run/summary.json")),
            figures(&whole.json("run/summary.json"))
        );
    };
    let outcomes = at_once(&workspace, &vec![AUDIT.to_owned(); AT_ONCE]);
    assert_eq!(successes(&outcomes), 1);
    for outcome in outcomes.iter().filter(|outcome| outcome.code != Some(0)) {
        let said = &outcome.stderr;
        assert!(
            said.contains("another process is writing") || said.contains("is not empty"),
            "{outcome:#?}"
        );
    }
    is_as_alone();
    std::fs::remove_dir_all(workspace.path("run")).unwrap();
    workspace.line(&format!("{AUDIT} --time 1ns")).exits(0);
    let outcomes = at_once(
        &workspace,
        &vec!["audit --resume --out run".to_owned(); AT_ONCE],
    );
    assert_eq!(successes(&outcomes), 1);
    is_as_alone();
    // Readers of a run that is being gone on with, of another kind of run, and of a complete one.
    std::fs::remove_dir_all(workspace.path("run")).unwrap();
    workspace.line(&format!("{AUDIT} --time 1ns")).exits(0);
    let lines: Vec<String> = (0..AT_ONCE)
        .map(|at| match at % 5 {
            0 => "audit --resume --out run".to_owned(),
            1 => "verify run".to_owned(),
            2 => format!("report run --out report-{at}.html"),
            3 => "train --data people.csv --schema people.toml --hidden 4 --epochs 2 --out net".to_owned(),
            _ => "audit --model net --data people.csv --protected sex --seeds 5 --local 5 --estimate 50 --out other".to_owned(),
        })
        .collect();
    at_once(&workspace, &lines);
    is_as_alone();
    workspace.line("verify run").exits(0);
    nothing_is_left(&workspace);
}

/// Queries at once never spend more than there is.
#[test]
fn ledgers() {
    let workspace = prepared();
    workspace
        .line("outliers budget --ledger budget.toml --data people.csv --epsilon 0.7 --delta 0.1")
        .exits(0);
    let count = "outliers count --data people.csv --columns age --range age=18,67 --radius 0.1 --k 3 --epsilon 0.1 --delta 0.0001 --ledger budget.toml";
    let outcomes = at_once(&workspace, &vec![count.to_owned(); AT_ONCE]);
    let spent = workspace
        .line("outliers budget --ledger budget.toml --json")
        .exits(0)
        .json();
    assert_eq!(
        spent["queries"].as_array().unwrap().len(),
        successes(&outcomes)
    );
    assert!((1..=7).contains(&successes(&outcomes)));
}

/// Files that one command writes and another one reads, and caches that all of them write.
#[test]
fn files_and_caches() {
    let workspace = prepared();
    workspace.line(AUDIT).exits(0);
    workspace
        .line("data generate comments --rows 300 --out comments.csv")
        .exits(0);
    let train = "train --texts comments.csv --text-column comment_text --label-column toxic --cell gru --units 4 --layers 1 --epochs 1 --out texts";
    workspace.line(train).exits(0);
    let audit = |out: usize| {
        format!(
            "audit --model texts --texts comments.csv --text-column comment_text --protected gender --seeds 5 --local 5 --estimate 20 --samples csv --out t{out}"
        )
    };
    let lines: Vec<String> = (0..AT_ONCE)
        .map(|at| match at % 4 {
            0 => "schema infer people.csv --label-column income --out drafted.toml --force"
                .to_owned(),
            1 => "schema check people.csv --schema people.toml".to_owned(),
            2 => "report run --out report.html --force".to_owned(),
            _ => audit(at),
        })
        .collect();
    assert_eq!(successes(&at_once(&workspace, &lines)), AT_ONCE);
    for at in (7..AT_ONCE).step_by(4) {
        assert_eq!(
            workspace.read(&format!("t{at}/samples.csv")),
            workspace.read("t3/samples.csv")
        );
    }
    nothing_is_left(&workspace);
}
