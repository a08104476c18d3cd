//! System calls that fail: a full disk, a disk that is read-only, no descriptors left; and clocks
//! that jump.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::kills::holds_whole_files;
use crate::probity_command::{Outcome, Workspace, binary};
use crate::state::{State, are_same, copy_of, differing, is_passing, state};
use crate::traced::{drawn, failing, is_possible, moments};
use crate::writers::{COUNT, Kind, SUBSPACES, WRITERS, Writer};
use crate::{AUDIT, prepared, spelt, with_models, with_texts};
use probity_testing::Gate;

/// What may come of a command whose calls fail: an error, never a panic, and no half file; or all
/// of its work.
fn is_refused(
    writer: &Writer,
    outcome: &Outcome,
    found: &State,
    [before, after]: [&State; 2],
    when: &str,
) {
    assert!(!outcome.stderr.contains("panicked"), "{when}: {outcome:#?}");
    holds_whole_files(found, before, after, when);
    if writer.is_done(outcome) {
        // What is not there when it is not needed, or not gone when it is of no use any more.
        let passing = ["neighbours.bin", "checkpoint.bin"];
        let mut differing = differing(found, after).into_iter();
        let lost = differing.find(|path| !passing.iter().any(|name| path.ends_with(name)));
        assert!(lost.is_none(), "{when}: {lost:?} of {outcome:#?}");
    } else {
        assert_eq!(outcome.code, Some(2), "{when}: {outcome:#?}");
    }
    if writer.kind == Kind::Deletion {
        assert!(found == before || found == after, "{when}: {outcome:#?}");
    }
}

/// A disk that is full, or fails, from the n-th write, sync or renaming on.
#[test]
fn full_and_failing_disks() {
    if !is_possible() {
        return;
    }
    let start = with_texts();
    let before = state(&start);
    for writer in WRITERS {
        let line = writer.line();
        let whole = copy_of(&start);
        let (outcome, all) = moments(&whole, &line);
        assert!(writer.is_done(&outcome), "{line}: {outcome:#?}");
        let after = state(&whole);
        for (calls, error) in [
            ("write,pwrite64,ftruncate", "ENOSPC"),
            ("fsync,fdatasync", "EIO"),
            ("rename,renameat,renameat2,link,linkat", "EROFS"),
            ("mkdir,mkdirat,unlink,unlinkat", "EROFS"),
        ] {
            let is_of = |call: &str| calls.split(',').any(|name| name == call);
            let own: Vec<_> = all
                .iter()
                .filter(|moment| is_of(&moment.call))
                .cloned()
                .collect();
            for moment in drawn(&own, 3, 7).into_iter().rev().take(2) {
                let copy = copy_of(&start);
                let outcome = failing(&copy, &line, (calls, error, moment.number));
                let mut found = state(&copy);
                let when = format!("{line}, {error} from {} {}", moment.call, moment.number);
                let is_left = |path: &PathBuf| is_passing(path) && !path.ends_with(".probity.lock");
                assert!(
                    calls.contains("unlink") || !found.keys().any(is_left),
                    "{when}: {outcome:#?}"
                );
                found.retain(|path, _| !is_passing(path));
                is_refused(&writer, &outcome, &found, [&before, &after], &when);
            }
        }
    }
}

/// A price that cannot be written down is not paid, and nothing is answered for it; a budget that
/// cannot be is none.
#[test]
fn ledgers_on_full_disks() {
    if !is_possible() {
        return;
    }
    let start = with_models();
    let before = state(&start);
    let ledger = Path::new("budget.toml");
    let declare = "outliers budget --ledger b.toml --data people.csv --epsilon 1 --delta 0.1";
    for (calls, error) in [
        ("write", "ENOSPC"),
        ("fsync", "EIO"),
        ("rename,renameat,renameat2,link", "EROFS"),
    ] {
        for number in 1..=6 {
            for query in [COUNT, SUBSPACES] {
                let copy = copy_of(&start);
                let outcome = failing(&copy, query, (calls, error, number));
                let when = format!("{query}, {error} {number}: {outcome:#?}");
                assert!(matches!(outcome.code, Some(0 | 2)), "{when}");
                let is_charged = state(&copy)[ledger] != before[ledger];
                let is_written = copy.path("new/summary.json").exists();
                let is_answered = is_written || !outcome.stdout.is_empty();
                assert!(is_charged || !is_answered, "{when}");
            }
            let copy = copy_of(&start);
            let outcome = failing(&copy, declare, (calls, error, number));
            assert!(matches!(outcome.code, Some(0 | 2)), "{outcome:#?}");
            let shown = copy.line("outliers budget --ledger b.toml");
            let is_there = copy.path("b.toml").exists();
            shown.exits(if is_there { 0 } else { 2 });
            assert!(is_there || outcome.code == Some(2), "{outcome:#?}");
        }
    }
}

/// Too few file descriptors, from none at all to enough.
#[cfg(unix)]
#[test]
fn no_descriptors() {
    let start = with_texts();
    let before = state(&start);
    for writer in WRITERS {
        let line = writer.line();
        let whole = copy_of(&start);
        writer.runs(&whole, &line);
        let after = state(&whole);
        for limit in [3, 6, 10, 40] {
            let copy = copy_of(&start);
            let limited = format!("ulimit -n {limit} && exec {} {line}", binary());
            let mut shell = Command::new("sh");
            shell.current_dir(copy.path("")).args(["-c", &limited]);
            let outcome = Outcome::new(shell.stdin(Stdio::null()).output().unwrap());
            // Below this the loader finds no library: it is not our program that fails.
            if outcome.code == Some(127) {
                continue;
            }
            let when = format!("{line}, {limit} descriptors");
            let mut found = state(&copy);
            found.retain(|path, _| !is_passing(path));
            is_refused(&writer, &outcome, &found, [&before, &after], &when);
            assert!(
                limit < 40 || writer.is_done(&outcome),
                "{when}: {outcome:#?}"
            );
        }
    }
}

/// `probity LINE` while the calendar says something else.
fn calendar_of(calendar: &str, line: &str) -> Command {
    let mut command = Command::new("faketime");
    command
        .args(["-f", calendar, binary()])
        .args(line.split_whitespace())
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .stdin(Stdio::null());
    command
}

/// What `probity LINE` does while the calendar says something else.
fn at_another_time(workspace: &Workspace, calendar: &str, line: &str) -> Outcome {
    let mut command = calendar_of(calendar, line);
    let output = command.current_dir(workspace.path("")).output();
    Outcome::new(output.unwrap())
}

fn has_faketime() -> bool {
    let tried = Command::new("faketime")
        .args(["2001-01-01", "true"])
        .stdin(Stdio::null())
        .status();
    let has_faketime = tried.is_ok_and(|status| status.success());
    if !has_faketime {
        probity_testing::skip(probity_testing::Needed::Programs, "faketime is missing");
    }
    has_faketime
}

/// No result but its times depends on the calendar, before 1970 or running fast.
#[test]
fn calendars_that_are_wrong() {
    if !has_faketime() {
        return;
    }
    let start = with_texts();
    for writer in WRITERS {
        let line = writer.line();
        let whole = copy_of(&start);
        writer.runs(&whole, &line);
        for calendar in ["-60y", "-1d x1000"] {
            let copy = copy_of(&start);
            let outcome = at_another_time(&copy, calendar, &line);
            assert!(writer.is_done(&outcome), "{line}, {calendar}: {outcome:#?}");
            are_same(
                &state(&copy),
                &state(&whole),
                &format!("{line}, {calendar}"),
            );
        }
    }
}

/// A budget of time is one of the time that passes, whatever the calendar says meanwhile.
#[test]
fn clocks_that_jump() {
    if !has_faketime() {
        return;
    }
    let start = prepared();
    let audit = spelt(AUDIT);
    start.line(&format!("{audit} --time 1ns")).exits(0);
    // A day back: what is resumed began in the future.
    at_another_time(&start, "-1d", "audit --resume --out run").exits(0);
    start.line("verify run").exits(0);
    // The calendar runs on by hours while the search waits for a tenth of a second.
    let gate = Gate::closed_at("round:2");
    let line = format!("{audit} --time 1h").replace("--out run", "--out fast");
    let (name, value) = gate.variable();
    let child = calendar_of("-1d x1000000", &line)
        .current_dir(start.path(""))
        .env(name, value)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    gate.wait_for(1, || None);
    std::thread::sleep(Duration::from_millis(100));
    gate.open();
    Outcome::new(child.wait_with_output().unwrap()).exits(0);
    assert_eq!(start.json("fast/summary.json")["ending"], "complete");
    start.line("verify fast").exits(0);
}
