//! Commands that share a directory or a file, each with each, some of both at a time.

use std::process::Child;

use crate::kills::stopped;
use crate::probity_command::{Outcome, Workspace};
use crate::state::{State, copy_of, differing, nothing_is_left, state};
use crate::traced::is_possible;
use crate::writers::{Kind, of_kind};
use crate::{AUDIT, spelt, with_models, with_texts};

/// What comes of `lines`, all started before the first one is waited for: work that is done, or a
/// refusal that says why.
pub fn at_once(workspace: &Workspace, lines: &[String]) -> Vec<Outcome> {
    ends_of(started(workspace, lines), lines)
}

/// `lines`, started one right after the other.
pub fn started(workspace: &Workspace, lines: &[String]) -> Vec<Child> {
    let started = lines.iter().map(|line| workspace.prepared(line).spawn());
    started.map(|child| child.unwrap()).collect()
}

/// What comes of `lines` that were [`started`].
pub fn ends_of(started: Vec<Child>, lines: &[String]) -> Vec<Outcome> {
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
pub fn is_done(outcome: &Outcome) -> bool {
    matches!(outcome.code, Some(0 | 1))
}

fn says_why(outcome: &Outcome) -> bool {
    outcome.code == Some(2) && outcome.stderr.contains("error: ")
}

pub fn successes(outcomes: &[Outcome]) -> usize {
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
