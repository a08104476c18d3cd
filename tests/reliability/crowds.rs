//! Twenty commands at a time where each of them changes what all share.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::Child;

use probity::run::lock::DirectoryLock;

use crate::kills::charged;
use crate::probity_command::{Outcome, Workspace};
use crate::races::{at_once, ends_of, is_done, started, successes};
use crate::state::{are_same, copy_of, nothing_is_left, state};
use crate::writers::{COUNT, SUBSPACES};
use crate::{AUDIT, prepared, spelt, with_models, with_texts};

/// Processes at a time.
const AT_ONCE: usize = 20;

/// No deletion is lost: the model is the one of all deletions one after the other.
#[test]
fn deletions() {
    let start = with_models();
    for (command, name, read) in [
        ("kmeans", "k", "kmeans assign --model k"),
        ("spn", "s", "spn show --model s"),
    ] {
        let delete = |id: usize| format!("{command} delete --model {name} --ids {id}");
        let one_by_one = copy_of(&start);
        for id in 1..=AT_ONCE {
            one_by_one.line(&delete(10 * id)).exits(0);
        }
        // By two paths to the directory.
        let raced = copy_of(&start);
        let paths = ["--model ", "--model model/../"];
        let lines: Vec<String> = (1..=AT_ONCE)
            .map(|id| delete(10 * id).replace("--model ", paths[id % 2]))
            .collect();
        // Somebody writes into the directory when they begin: they wait, and say so.
        let lock = DirectoryLock::now(&raced.path(name)).unwrap();
        let mut deletions = started(&raced, &lines);
        let mut remarks = BufReader::new(deletions[0].stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("waiting for it") {
            assert_ne!(remarks.read_line(&mut said).unwrap(), 0, "{said}");
        }
        drop(lock);
        remarks.read_to_string(&mut said).unwrap();
        assert_eq!(successes(&ends_of(deletions, &lines)), AT_ONCE);
        are_same(&state(&raced), &state(&one_by_one), command);
        // The same row twenty times: deleted once.
        assert_eq!(successes(&at_once(&raced, &vec![delete(5); AT_ONCE])), 1);
        // Readers beside writers see a whole model.
        let lines: Vec<String> = (0..AT_ONCE)
            .map(|at| match at % 2 {
                0 => delete(101 + at),
                _ => read.to_owned(),
            })
            .collect();
        assert_eq!(successes(&at_once(&raced, &lines)), AT_ONCE);
        nothing_is_left(&raced, command);
    }
}

/// One directory is one run's: who does not get it says so, and the result is that of one alone.
#[test]
fn directories() {
    let audits = prepared();
    let whole = copy_of(&audits);
    whole.line(&spelt(AUDIT)).exits(0);
    let outcomes = at_once(&audits, &vec![spelt(AUDIT); AT_ONCE]);
    assert_eq!(successes(&outcomes), 1);
    for outcome in outcomes.iter().filter(|outcome| !is_done(outcome)) {
        let said = &outcome.stderr;
        assert!(
            said.contains("another process is writing") || said.contains("is not empty"),
            "{outcome:#?}"
        );
    }
    are_same(&state(&audits), &state(&whole), "twenty audits");
}

/// Queries at once never spend more than there is, and are all counted.
#[test]
fn ledgers() {
    let workspace = prepared();
    let declare = "outliers budget --ledger budget.toml --data people.csv --epsilon 7 --delta 0.1";
    let outcomes = at_once(&workspace, &vec![declare.to_owned(); AT_ONCE]);
    assert_eq!(successes(&outcomes), 1);
    let show = "outliers budget --ledger budget.toml";
    let lines: Vec<String> = (0..AT_ONCE)
        .map(|at| match at % 4 {
            0 => show.to_owned(),
            1 => SUBSPACES.replace("--out new", &format!("--out new-{at}")),
            _ => COUNT.replace("--out new", &format!("--out new-{at}")),
        })
        .collect();
    let outcomes = at_once(&workspace, &lines);
    let of_queries = outcomes
        .iter()
        .zip(&lines)
        .filter(|(_, line)| *line != show);
    let answered = of_queries.filter(|(outcome, _)| is_done(outcome)).count();
    assert_eq!(charged(&workspace), answered);
    assert!((1..=7).contains(&answered), "{answered}");
    // One directory for all answers: who does not get it does not pay.
    let workspace = with_models();
    let outcomes = at_once(&workspace, &vec![COUNT.to_owned(); AT_ONCE]);
    assert_eq!(successes(&outcomes), 1);
    assert_eq!(charged(&workspace), 1);
}

/// Caches that all processes write: the neighbours beside a model, the vectors in the user's
/// folder.
#[test]
fn caches() {
    let start = with_texts();
    // A file that is large enough to be kept.
    let comments = start.read("comments.csv");
    let words = comments.split(|letter: char| !letter.is_ascii_lowercase());
    let words: BTreeSet<&str> = words.filter(|word| !word.is_empty()).collect();
    let made_up: Vec<String> = (0..12_000).map(|word| format!("word{word}")).collect();
    let mut vectors = String::new();
    let words = words.into_iter().chain(made_up.iter().map(String::as_str));
    for (word, name) in words.enumerate() {
        vectors.push_str(name);
        for at in 0..12 {
            vectors.push_str(&format!(" 0.{:05}", (word * 31 + at * 7919) % 100_000));
        }
        vectors.push('\n');
    }
    start.write("vectors.txt", vectors);
    let train = |out: usize| {
        spelt(&format!(
            "train TEXTS --label-column toxic --cell gru --units 2 --layers 1 --epochs 1 --max-length 10 --embeddings vectors.txt --out t{out}"
        ))
    };
    let audit = |out: usize| {
        spelt(&format!(
            "audit --model texts TEXTS --protected country --seeds 3 --local 3 --estimate 10 --samples csv --out t{out}"
        ))
    };
    let raced = copy_of(&start);
    let cache = raced.path("cache");
    let started: Vec<Child> = (0..AT_ONCE)
        .map(|at| {
            let line = if at % 4 == 0 { train(at) } else { audit(at) };
            let mut command = raced.prepared(&line);
            command.env("PROBITY_CACHE_DIR", &cache).spawn().unwrap()
        })
        .collect();
    for child in started {
        Outcome::new(child.wait_with_output().unwrap()).exits(0);
    }
    assert_eq!(
        std::fs::read_dir(cache.join("embeddings")).unwrap().count(),
        1
    );
    let file =
        |out: usize, name: &str| std::fs::read(raced.path(&format!("t{out}/{name}"))).unwrap();
    for at in 1..AT_ONCE {
        let (alike, name) = match at % 4 {
            0 => (0, "weights.safetensors"),
            _ => (1, "samples.csv"),
        };
        assert!(file(at, name) == file(alike, name), "{at}");
    }
    nothing_is_left(&raced, "caches");
    // With the cache that was made at once, the same as without any.
    let alone = copy_of(&start);
    alone.line(&train(0)).exits(0);
    let weights = std::fs::read(alone.path("t0/weights.safetensors")).unwrap();
    assert!(file(0, "weights.safetensors") == weights);
}

/// Runs that nobody gave a name are numbered, each with its own.
#[test]
fn numbered_runs() {
    let workspace = prepared();
    let unnamed = spelt(&AUDIT.replace(" --out run", ""));
    workspace.line(&spelt(AUDIT)).exits(0);
    let whole = workspace.read("run/samples.csv");
    let outcomes = at_once(&workspace, &vec![unnamed; AT_ONCE]);
    assert_eq!(successes(&outcomes), AT_ONCE);
    let said: BTreeSet<String> = outcomes
        .iter()
        .filter_map(|outcome| {
            outcome
                .stdout
                .lines()
                .find(|line| line.starts_with("Run: "))
        })
        .map(str::to_owned)
        .collect();
    assert_eq!(said.len(), AT_ONCE);
    for number in 1..=AT_ONCE {
        let run = format!("runs/audit-{number}");
        assert!(
            workspace.read(&format!("{run}/samples.csv")) == whole,
            "{run}"
        );
        workspace.line(&format!("verify {run}")).exits(0);
    }
    nothing_is_left(&workspace, "numbered runs");
}

/// No token of the service is lost.
#[test]
fn tokens() {
    let workspace = Workspace::new();
    let token = |at: usize| format!("serve token --data-dir served --name of-{at}");
    let lines: Vec<String> = (0..AT_ONCE).map(token).collect();
    let outcomes = at_once(&workspace, &lines);
    assert_eq!(successes(&outcomes), AT_ONCE);
    let listed = workspace.line("serve tokens --data-dir served").exits(0);
    for at in 0..AT_ONCE {
        listed.stdout.find(&format!("of-{at}")).unwrap();
    }
}
