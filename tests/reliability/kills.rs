//! kill -9 before each system call that changes a file, or before some drawn by a seed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::probity_command::Workspace;
use crate::state::{State, are_same, copy_of, differing, is_passing, nothing_is_left, state};
use crate::traced::{Moment, drawn, is_possible, killed, moments};
use crate::writers::{COUNT, Kind, SUBSPACES, Writer, of_kind};
use crate::{AUDIT, prepared, spelt, with_models, with_texts};

/// Seed of the moments that are drawn.
const SEED: u64 = 16;

/// Every file of `found` is one of `before`, or wholly as it is in `whole`, and none is gone.
#[track_caller]
pub fn holds_whole_files(found: &State, before: &State, whole: &State, when: &str) {
    for (path, bytes) in found {
        let is_old = before.get(path) == Some(bytes);
        let is_checkpoint = path.ends_with("checkpoint.bin");
        if is_old || is_checkpoint || is_passing(path) {
            continue;
        }
        let is_whole = whole.get(path) == Some(bytes);
        assert!(is_whole, "{when}: {} is half written", path.display());
    }
    for path in before.keys().filter(|path| whole.contains_key(*path)) {
        let is_there = found.contains_key(path);
        assert!(is_there, "{when}: {} is gone", path.display());
    }
}

/// Kills a command at up to `most` moments in copies of `start`, what goes on with it as well, and
/// holds that its repetition ends where it would have ended itself.
fn kill_at_moments(start: &Workspace, writer: &Writer, most: usize) {
    let line = writer.line();
    let whole = copy_of(start);
    let (outcome, all) = moments(&whole, &line);
    assert!(writer.is_done(&outcome), "{line}: {outcome:#?}");
    assert!(all.len() > 2, "{line} changes nothing");
    let [before, after] = [start, &whole].map(state);
    let moments = drawn(&all, most, SEED);
    let mut kills = 0;
    for (at, moment) in moments.iter().enumerate() {
        let when = format!("{line}, killed before {} {}", moment.call, moment.number);
        let copy = copy_of(start);
        if killed(&copy, &line, moment).code.is_some() {
            // The order of calls is that of threads; fewer than before, this time.
            continue;
        }
        kills += 1;
        holds_whole_files(&state(&copy), &before, &after, &when);
        let run = Path::new(writer.out()).join("run.toml");
        if writer.kind == Kind::Run && copy.path("").join(run).exists() {
            let second = &all[(5 + 7 * at) % all.len()];
            killed(&copy, &writer.resume(), second);
            holds_whole_files(&state(&copy), &before, &after, &format!("{when}, twice"));
        }
        recover(&copy, writer, &after, &when);
        nothing_is_left(&copy, &when);
        are_same(&state(&copy), &after, &when);
    }
    assert!(2 * kills > moments.len(), "{line}: {kills} kills");
}

/// A run that was killed before its summary stood under its name.
pub fn stopped(start: &Workspace, writer: &Writer) -> Workspace {
    let line = writer.line();
    let (_, moments) = moments(&copy_of(start), &line);
    let renamings = moments.iter().filter(|moment| moment.call == "renameat");
    for moment in renamings.rev() {
        let copy = copy_of(start);
        killed(&copy, &line, moment);
        let has = |name: &str| copy.path(writer.out()).join(name).exists();
        if has("run.toml") && !has("summary.json") {
            return copy;
        }
    }
    panic!("{line} renames nothing");
}

/// What a user does who finds that a command was killed.
fn recover(copy: &Workspace, writer: &Writer, after: &State, when: &str) {
    let line = writer.line();
    let out = copy.path(writer.out());
    match writer.kind {
        Kind::Run => {
            let outcome = match out.join("run.toml").exists() {
                true => copy.line(&writer.resume()),
                false => copy.line(&line),
            };
            if !writer.is_done(&outcome) {
                // The kill came after the last file.
                outcome.exits(2).complains(&["nothing to resume"]);
            }
        }
        Kind::Directory => {
            let outcome = copy.line(&line);
            if !writer.is_done(&outcome) {
                outcome.exits(2).complains(&["is not empty"]);
                // Of directories in it that is the business of whoever writes there.
                let own = |path: &PathBuf| path.parent() == Some(Path::new(writer.out()));
                let left = state(copy)
                    .into_keys()
                    .find(|path| own(path) && is_passing(path));
                assert!(left.is_none(), "{when}: {left:?} is left over");
                fs::remove_dir_all(out).unwrap();
                writer.runs(copy, &line);
            }
        }
        Kind::File => {
            let outcome = copy.line(&line);
            if !writer.is_done(&outcome) {
                outcome.exits(2).complains(&["exists", "--force"]);
                are_same(&state(copy), after, when);
                writer.runs(copy, &format!("{line} --force"));
            }
        }
        Kind::Deletion => {
            let was_done = differing(&state(copy), after)
                .iter()
                .all(|path| is_passing(path));
            copy.line(&line).exits(if was_done { 2 } else { 0 });
        }
    }
}

/// A deletion is done wholly or not at all, and the next command cleans up.
#[test]
fn deletions() {
    if is_possible() {
        let start = with_models();
        of_kind(Kind::Deletion).for_each(|writer| kill_at_moments(&start, &writer, 30));
    }
}

/// A run that is killed goes on to the very result of one that is not.
#[test]
fn runs() {
    if is_possible() {
        let start = with_texts();
        of_kind(Kind::Run).for_each(|writer| kill_at_moments(&start, &writer, 8));
    }
}

/// What cannot be gone on with is begun again, elsewhere if the place holds a part of it.
#[test]
fn directories() {
    if is_possible() {
        let start = with_texts();
        of_kind(Kind::Directory).for_each(|writer| kill_at_moments(&start, &writer, 6));
    }
}

#[test]
fn files() {
    if is_possible() {
        let start = with_texts();
        of_kind(Kind::File).for_each(|writer| kill_at_moments(&start, &writer, 6));
    }
}

/// A search that was stopped in its middle is killed while it goes on.
#[test]
fn searches_that_go_on() {
    if !is_possible() {
        return;
    }
    let whole = prepared();
    whole.line(&spelt(AUDIT)).exits(0);
    let stopped = prepared();
    stopped
        .line(&spelt(&format!("{AUDIT} --time 1ns")))
        .exits(0);
    let resume = "audit --resume --out run";
    let (outcome, all) = moments(&copy_of(&stopped), resume);
    outcome.exits(0);
    for moment in drawn(&all, 16, SEED) {
        let copy = copy_of(&stopped);
        killed(&copy, resume, &moment);
        let again = copy.line(resume);
        if again.code != Some(0) {
            again.exits(2).complains(&["nothing to resume"]);
        }
        let when = format!("{resume}, killed before {} {}", moment.call, moment.number);
        nothing_is_left(&copy, &when);
        are_same(&state(&copy), &state(&whole), &when);
    }
}

/// The ledger never counts too little: what was answered was charged.
#[test]
fn ledgers() {
    if !is_possible() {
        return;
    }
    let start = with_models();
    for query in [COUNT, SUBSPACES] {
        let (outcome, all) = moments(&copy_of(&start), query);
        outcome.exits(0);
        for moment in drawn(&all, 20, SEED) {
            let when = format!("{query}, killed before {} {}", moment.call, moment.number);
            let copy = copy_of(&start);
            let outcome = killed(&copy, query, &moment);
            let charged = charged(&copy);
            assert!(charged <= 1, "{when}");
            let is_answered = !outcome.stdout.is_empty() || copy.path("new/summary.json").exists();
            assert!(
                !is_answered || charged == 1,
                "{when}: answered and not charged"
            );
            copy.line(&query.replace("--out new", "--out other"))
                .exits(0);
            // What was written is left to be looked at.
            copy.line(query);
            nothing_is_left(&copy, &when);
        }
    }
}

/// The queries in the ledger, which must be one.
pub fn charged(workspace: &Workspace) -> usize {
    let line = "outliers budget --ledger budget.toml --json";
    let budget = workspace.line(line).exits(0).json();
    budget["queries"].as_array().map_or(0, Vec::len)
}

/// A budget that was declared by halves is none, and says what to do.
#[test]
fn declarations() {
    if !is_possible() {
        return;
    }
    let start = prepared();
    let declare = "outliers budget --ledger b.toml --data people.csv --epsilon 10 --delta 0.1";
    let (outcome, all) = moments(&copy_of(&start), declare);
    outcome.exits(0);
    for Moment { call, number } in drawn(&all, 40, SEED) {
        let when = format!("{declare}, killed before {call} {number}");
        let copy = copy_of(&start);
        killed(&copy, declare, &Moment { call, number });
        let again = copy.line(declare);
        if again.code != Some(0) {
            let again = again.exits(2);
            if copy.path("b.toml").exists() {
                again.complains(&["a budget is declared once"]);
            } else {
                again.complains(&["b.toml.key is there without its ledger"]);
                fs::remove_file(copy.path("b.toml.key")).unwrap();
                copy.line(declare).exits(0);
            }
        }
        let count = COUNT.replace("budget.toml", "b.toml");
        copy.line(&count).exits(0);
        nothing_is_left(&copy, &when);
    }
}
