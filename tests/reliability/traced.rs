//! Commands under strace, which kills them before a system call, or lets the call fail.
//!
//! No fault has to be built into the product for this, and none can be missed: every call that
//! changes a file is one of [`CHANGING`], whoever makes it.

use std::process::{Command, Stdio};

use probity_testing::{Needed, skip};

use crate::probity_command::{Outcome, Workspace, binary};

/// The calls that change files or directories.
const CHANGING: &str = "write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,flock";

/// Whether strace is here and may trace; says so where it is not.
#[track_caller]
pub fn is_possible() -> bool {
    let tried = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "true"])
        .stdin(Stdio::null())
        .output();
    let is_possible = tried.is_ok_and(|tried| tried.status.success());
    if !is_possible {
        skip(Needed::Programs, "strace is missing or may not trace");
    }
    is_possible
}

fn strace(workspace: &Workspace, options: &[&str], line: &str) -> Outcome {
    let mut command = Command::new("strace");
    command
        .current_dir(workspace.path(""))
        .args(["-f", "-qq", "-o", "/dev/null"])
        .args(options)
        .arg(binary())
        .args(line.split_whitespace())
        // One worker: the calls then come in one order.
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::null());
    Outcome::new(command.output().unwrap())
}

/// How many calls of `probity LINE` change something.
pub fn moments(workspace: &Workspace, line: &str) -> usize {
    let log = workspace.path("calls.log");
    let status = Command::new("strace")
        .current_dir(workspace.path(""))
        .args(["-f", "-qq", "-o"])
        .arg(&log)
        .args(["-e", &format!("trace={CHANGING}")])
        .arg(binary())
        .args(line.split_whitespace())
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(status.status.success(), "{line}: {status:?}");
    let calls = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(log).unwrap();
    calls.lines().filter(|line| !line.contains("+++")).count()
}

/// What is left of `probity LINE`, killed before its `moment`-th call that changes something.
pub fn killed(workspace: &Workspace, line: &str, moment: usize) -> Outcome {
    let inject = format!("inject={CHANGING}:signal=KILL:when={moment}");
    let trace = format!("trace={CHANGING}");
    strace(workspace, &["-e", &trace, "-e", &inject], line)
}

/// What `probity LINE` does when `calls` fail with `error`, from the `moment`-th one on.
pub fn failing(
    workspace: &Workspace,
    line: &str,
    (calls, error, moment): (&str, &str, usize),
) -> Outcome {
    let inject = format!("inject={calls}:error={error}:when={moment}+");
    let trace = format!("trace={calls}");
    strace(workspace, &["-e", &trace, "-e", &inject], line)
}

/// Moments from 1 to `last`: all of them if they are `most` at most, else `most` drawn by `seed`,
/// with the first and the last.
pub fn drawn(last: usize, most: usize, seed: u64) -> Vec<usize> {
    if last <= most {
        return (1..=last).collect();
    }
    let mut drawn = vec![1, last];
    let mut state = seed;
    while drawn.len() < most {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        let moment = 1 + (word % last as u64) as usize;
        if !drawn.contains(&moment) {
            drawn.push(moment);
        }
    }
    drawn.sort_unstable();
    drawn
}
