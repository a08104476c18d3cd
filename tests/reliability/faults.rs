//! System calls that fail: a full disk, a disk that is read-only, no descriptors left; and clocks
//! that jump.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::probity_command::{Outcome, Workspace, binary};
use crate::traced::{drawn, failing, is_possible};
use crate::{AUDIT, copy_of, files, is_passing, prepared};

/// Commands that write, with what they need and where they write it.
fn writers() -> Workspace {
    let start = prepared();
    let table = "--data people.csv --schema people.toml";
    for line in [
        format!("kmeans fit {table} --clusters 3 --out k"),
        format!("spn fit {table} --out s"),
        AUDIT.replace("--out run", "--out done"),
    ] {
        start.line(&line).exits(0);
    }
    start
}

const LINES: [&str; 5] = [
    "kmeans delete --model k --ids 7",
    "spn delete --model s --ids 7",
    AUDIT,
    "train --data people.csv --schema people.toml --hidden 4 --epochs 2 --out net",
    "report done --out report.html",
];

/// What may come of a command whose calls fail: an error, never a panic; models as they were.
fn is_refused(start: &Workspace, copy: &Workspace, outcome: &Outcome, line: &str) {
    assert!(matches!(outcome.code, Some(0 | 2)), "{line}: {outcome:#?}");
    assert!(!outcome.stderr.contains("panicked"), "{line}: {outcome:#?}");
    if outcome.code == Some(2) {
        for file in ["k/model.bin", "s/model.spn", "model/weights.safetensors"] {
            assert_eq!(
                std::fs::read(start.path(file)).unwrap(),
                std::fs::read(copy.path(file)).unwrap(),
                "{line}: {outcome:#?}"
            );
        }
    }
}

/// A disk that is full, or fails, from the n-th write, sync or renaming on.
#[test]
fn full_and_failing_disks() {
    if !is_possible() {
        return;
    }
    let start = writers();
    for line in LINES {
        for (calls, error) in [
            ("write,pwrite64,ftruncate", "ENOSPC"),
            ("fsync,fdatasync", "EIO"),
            ("rename,renameat,renameat2", "EROFS"),
            ("mkdir,mkdirat,unlink,unlinkat", "EROFS"),
        ] {
            for moment in drawn(40, 5, 7) {
                let copy = copy_of(&start);
                let outcome = failing(&copy, line, (calls, error, moment));
                is_refused(&start, &copy, &outcome, line);
                let temporary = files(&copy)
                    .into_iter()
                    .any(|(path, _)| is_passing(&path) && !path.ends_with(".probity.lock"));
                assert!(
                    !temporary || calls.contains("unlink"),
                    "{line}: {outcome:#?}"
                );
            }
        }
    }
}

/// Too few file descriptors, from none at all to enough.
#[cfg(unix)]
#[test]
fn no_descriptors() {
    let start = writers();
    for line in LINES {
        let mut was_enough = false;
        for limit in [3, 4, 5, 6, 8, 10, 14, 20, 40] {
            let copy = copy_of(&start);
            let limited = format!("ulimit -n {limit} && exec {} {line}", binary());
            let output = Command::new("sh")
                .current_dir(copy.path(""))
                .args(["-c", &limited])
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let outcome = Outcome::new(output);
            // Below this the loader finds no library: it is not our program that fails.
            if outcome.code == Some(127) {
                continue;
            }
            is_refused(&start, &copy, &outcome, line);
            was_enough |= outcome.code == Some(0);
        }
        assert!(was_enough, "{line}");
    }
}

/// A budget of time is one of the time that passes, whatever the calendar says meanwhile.
#[test]
fn clocks_that_jump() {
    let has_faketime = Command::new("faketime")
        .args(["2001-01-01", "true"])
        .stdin(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !has_faketime {
        probity_testing::skip(probity_testing::Needed::Programs, "faketime is missing");
        return;
    }
    let start = prepared();
    start.line(&format!("{AUDIT} --time 1ns")).exits(0);
    // A day back: what is resumed began in the future.
    let began = Instant::now();
    let output = Command::new("faketime")
        .current_dir(start.path(""))
        .args(["-m", "-1d", binary(), "audit", "--resume", "--out", "run"])
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Outcome::new(output).exits(0);
    assert!(began.elapsed() < Duration::from_secs(60));
    start.line("verify run").exits(0);
    // The clock runs a hundred times as fast, and back and forth, while it searches.
    let endless = AUDIT.replace("--seeds 40 --local 30", "--seeds 300 --local 100000");
    let began = Instant::now();
    let line = format!("{endless} --time 2s").replace("--out run", "--out fast");
    let output = Command::new("faketime")
        .current_dir(start.path(""))
        .args(["-m", "-f", "-1d x1000", binary()])
        .args(line.split_whitespace())
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let outcome = Outcome::new(output).exits(0);
    assert!(began.elapsed() >= Duration::from_secs(2), "{outcome:#?}");
    start.line("verify fast").exits(0);
}
