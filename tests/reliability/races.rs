//! Commands that share a directory or a file, many at a time.

use std::collections::BTreeSet;
use std::process::Child;

use crate::kills::stopped;
use crate::probity_command::{Outcome, Workspace};
use crate::state::{State, are_same, copy_of, differing, nothing_is_left, state};
use crate::traced::is_possible;
use crate::writers::{COUNT, Kind, SUBSPACES, of_kind};
use crate::{AUDIT, prepared, spelt, with_models, with_texts};

/// Processes at a time where each changes what all of them share.
const AT_ONCE: usize = 20;

/// What comes of `lines`, all started before the first one is waited for: work that is done, or a
/// refusal that says why.
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
        assert!(!outcome.stderr.contains("panicked"), "{line}: {outcome:#?}");
        assert!(
            is_done(outcome) || says_why(outcome),
            "{line}: {outcome:#?}"
        );
    }
    outcomes
}

/// Whether a command did its work; a repair may say no to its result.
fn is_done(outcome: &Outcome) -> bool {
    matches!(outcome.code, Some(0 | 1))
}

fn says_why(outcome: &Outcome) -> bool {
    outcome.code == Some(2) && outcome.stderr.contains("error: ")
}

fn successes(outcomes: &[Outcome]) -> usize {
    outcomes.iter().filter(|outcome| is_done(outcome)).count()
}

/// A line by itself: whether it does its work the first and the second time, and the state after
/// the first.
struct Alone {
    line: String,
    is_done: [bool; 2],
    after: State,
}

impl Alone {
    fn new(start: &Workspace, line: &str) -> Alone {
        let line = spelt(line);
        let copy = copy_of(start);
        let first = is_done(&copy.line(&line));
        let after = state(&copy);
        let second = is_done(&copy.line(&line));
        Alone {
            line,
            is_done: [first, second],
            after,
        }
    }
}

/// Lets each two of `lines`, and each with itself, run `number` at a time, by turns, and holds that
/// the end is one of a serial order.
fn all_pairs(start: &Workspace, number: usize, lines: &[&str]) {
    let lines: Vec<Alone> = lines.iter().map(|line| Alone::new(start, line)).collect();
    for (at, one) in lines.iter().enumerate() {
        for other in &lines[at..] {
            is_serial(start, number, [one, other]);
        }
    }
}

fn is_serial(start: &Workspace, number: usize, pair: [&Alone; 2]) {
    let [one, other] = pair;
    let when = format!("{} & {}", one.line, other.line);
    let raced = copy_of(start);
    let turns: Vec<String> = (0..number)
        .map(|turn| pair[turn % 2].line.clone())
        .collect();
    let outcomes = at_once(&raced, &turns);
    let ends = state(&raced);
    nothing_is_left(&raced, &when);
    let mut orders = Vec::new();
    for [first, second] in [[one, other], [other, one]] {
        // A command that was refused all the time changed nothing.
        let done = |alone: &Alone| {
            let outcomes = outcomes.iter().zip(&turns);
            let own = outcomes.filter(|(_, line)| **line == alone.line);
            own.filter(|(outcome, _)| is_done(outcome)).count()
        };
        assert!(
            first.is_done[1] || done(first) <= 1,
            "{when}: {} was done {} times: {outcomes:#?}",
            first.line,
            done(first)
        );
        if done(second) == 0 {
            assert!(
                done(first) > 0 || !first.is_done[0],
                "{when}: nothing was done: {outcomes:#?}"
            );
            orders.push(first.after.clone());
        }
        if first.line != second.line {
            let copy = copy_of(start);
            copy.line(&first.line);
            copy.line(&second.line);
            orders.push(state(&copy));
        } else {
            orders.push(first.after.clone());
        }
    }
    let nearest = orders.iter().map(|order| differing(&ends, order));
    let nearest = nearest.min_by_key(Vec::len).unwrap_or_default();
    assert!(
        nearest.is_empty(),
        "{when}: {nearest:?} are those of no serial order: {outcomes:#?}"
    );
}

/// Who reads, changes and replaces a model whose rows can be deleted.
#[test]
fn models() {
    let start = with_models();
    let clusters = [
        "kmeans delete --model k --ids 7",
        "kmeans delete --model model/../k --ids 9 --verify",
        "kmeans assign --model k --out clusters.csv",
        "kmeans fit TABLE --clusters 2 --out k",
        "kmeans bench TABLE --clusters 3 --deletions 1 --repeats 1 --out k",
        "report k --out report.html",
        "verify k",
    ];
    all_pairs(&start, 6, &clusters);
    let networks = [
        "spn delete --model s --ids 7",
        "spn delete --model model/../s --ids 9 --verify",
        "spn query likelihood --model s --data people.csv --out likelihood.csv",
        "spn query sample --model s --rows 3 --out sample.csv",
        "spn show --model s --svg network.svg",
        "spn fit TABLE --out s",
    ];
    all_pairs(&start, 6, &networks);
}

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
        let outcomes = at_once(&raced, &lines);
        assert_eq!(successes(&outcomes), AT_ONCE);
        let waits = |outcome: &&Outcome| outcome.stderr.contains("waiting for it");
        assert!(outcomes.iter().any(|outcome| waits(&outcome)));
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

/// Who makes a network, and who reads it meanwhile.
#[test]
fn networks() {
    let start = with_texts();
    let lines = [
        "train TABLE --hidden 4 --epochs 2 --out new",
        "import --weights model/weights.safetensors --config network.toml --schema people.toml --out new",
        "audit --model new --data people.csv --protected sex --seeds 5 --local 5 --estimate 50 --samples csv --out run",
        "groups --model new --data people.csv --out groups",
        "certify --model new --data people.csv --protected sex --out certified",
        "verify new",
    ];
    all_pairs(&start, 4, &lines);
}

/// Who begins a run, goes on with it, checks it, shows it, learns from it and repeats it.
#[test]
fn runs() {
    let start = with_models();
    start.line(&spelt(&format!("{AUDIT} --time 1ns"))).exits(0);
    let lines = [
        "audit --resume --out run",
        AUDIT,
        "train --resume --out run",
        "verify run",
        "report run --format json --out report.json",
        "repair --model model --data people.csv --run run --repeats 2 --estimate 100 --epochs 1 --save-anyway --out new",
        "run run --out again",
        "run run --resume",
    ];
    all_pairs(&start, 4, &lines);
}

/// One directory is one run's: the others are refused, and the result is that of one alone.
#[test]
fn directories() {
    let start = with_texts();
    let lines: Vec<String> = of_kind(Kind::Run)
        .chain(of_kind(Kind::Directory))
        .map(|writer| writer.line())
        .collect();
    let alone: Vec<Alone> = lines.iter().map(|line| Alone::new(&start, line)).collect();
    for (at, one) in alone.iter().enumerate() {
        assert_eq!(one.is_done, [true, false], "{}", one.line);
        // Another kind of run in the same place.
        for other in [one, &alone[(at + 1) % alone.len()]] {
            is_serial(&start, 5, [one, other]);
        }
    }
    let audits = copy_of(&start);
    let outcomes = at_once(&audits, &vec![spelt(AUDIT); AT_ONCE]);
    assert_eq!(successes(&outcomes), 1);
    for outcome in outcomes.iter().filter(|outcome| !is_done(outcome)) {
        let said = &outcome.stderr;
        assert!(
            said.contains("another process is writing") || said.contains("is not empty"),
            "{outcome:#?}"
        );
    }
}

/// What goes on with a run that was killed goes on once.
#[test]
fn resumptions() {
    if !is_possible() {
        return;
    }
    let start = with_texts();
    for writer in of_kind(Kind::Run) {
        let stopped = stopped(&start, &writer);
        let alone = Alone::new(&stopped, &writer.resume());
        assert_eq!(alone.is_done, [true, false], "{}", alone.line);
        is_serial(&stopped, 6, [&alone, &alone]);
    }
}

/// Files that several commands write, with leave to replace them and without.
#[test]
fn files() {
    let start = with_texts();
    let lines: Vec<String> = of_kind(Kind::File)
        .map(|writer| writer.line().replace(writer.out(), "new.csv"))
        .collect();
    let alone: Vec<Alone> = lines.iter().map(|line| Alone::new(&start, line)).collect();
    for (at, one) in alone.iter().enumerate() {
        assert_eq!(one.is_done, [true, false], "{}", one.line);
        for other in [one, &alone[(at + 1) % alone.len()]] {
            // The file is one's: even of two commands of which neither saw it when it began.
            let raced = copy_of(&start);
            let lines = vec![[one, other].map(|alone| alone.line.clone()); 3].concat();
            let outcomes = at_once(&raced, &lines);
            assert_eq!(successes(&outcomes), 1, "{lines:?}: {outcomes:#?}");
            let ends = state(&raced);
            assert!(ends == one.after || ends == other.after, "{lines:?}");
            nothing_is_left(&raced, &one.line);
        }
    }
    let forced = [
        "schema infer people.csv --label-column income --out new --force",
        "schema infer people.csv --label-column sex --out new --force",
        "report done --out new --force",
    ];
    all_pairs(&start, 8, &forced);
    // One writes what another one reads.
    let read = [
        "schema infer people.csv --label-column income --protected sex,origin --out people.toml --force",
        "schema check people.csv --schema people.toml",
        "kmeans fit TABLE --clusters 3 --out new",
        "data generate people --rows 200 --out people.csv --force",
    ];
    all_pairs(&start, 4, &read);
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
    let spent = workspace.line(&format!("{show} --json")).exits(0).json();
    assert_eq!(spent["queries"].as_array().unwrap().len(), answered);
    assert!((1..=7).contains(&answered), "{answered}");
    // One directory for all answers: who does not get it does not pay.
    let outcomes = at_once(&with_models(), &vec![COUNT.to_owned(); AT_ONCE]);
    assert_eq!(successes(&outcomes), 1);
}

/// Caches that all processes write: the neighbours beside a model, the vectors in the user's folder.
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
