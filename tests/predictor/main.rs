//! Predictors that are processes: what they are told, how each misbehaviour ends, and that nothing
//! is lost by it.
#![cfg(unix)]

mod fake;
#[path = "../probity_command/mod.rs"]
mod probity_command;

mod audits;
mod bins;
mod broken_off;
mod processes;
mod spread;

use std::thread;
use std::time::{Duration, Instant};

use probity::data::builtin;
use probity::data::schema::Schema;
use probity_command::{Outcome, Workspace};

/// Long enough for any machine; nothing here waits for it.
const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until `is_so`, which `what` says in words.
#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Not a test: what [`fake::command`] starts.
#[test]
#[ignore = "the process that the other tests start"]
fn fake_predictor() {
    fake::serve();
}

fn schema() -> Schema {
    builtin::schema("synthetic-census").unwrap().unwrap()
}

const SEARCH: &str = "--protected sex --seeds 40 --local 30 --estimate 500 --samples csv";

/// `probity audit` on a fake that behaves in `mode`.
fn audit(workspace: &Workspace, mode: &str, more: &str) -> Outcome {
    let source = format!("command:{}", fake::command(mode));
    let line = format!("audit --schema synthetic-census --data people.csv {SEARCH} {more}");
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--predictor", &source]);
    workspace.run(arguments)
}

/// A folder with `people.csv`.
fn census() -> Workspace {
    let workspace = Workspace::with_demo(400);
    std::fs::rename(
        workspace.path("demo/people.csv"),
        workspace.path("people.csv"),
    )
    .unwrap();
    workspace
}
