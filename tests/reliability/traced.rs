//! Commands under strace, which kills them before a system call, or lets calls fail.
//!
//! No fault has to be built into the product for this, and none can be missed: every call that
//! changes a file is one of [`CHANGING`], whoever makes it.

use std::collections::HashMap;
use std::process::{Command, Stdio};

use probity_testing::{Needed, skip};

use crate::probity_command::{Outcome, Workspace, binary};

/// The calls that change files or directories.
const CHANGING: &str = "write,pwrite64,writev,pwritev,fsync,fdatasync,truncate,ftruncate,fallocate,copy_file_range,sendfile,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,flock";

/// A moment of a command: before a call of one of its threads, by the name of the call and how many
/// calls of that name the thread makes up to it. So strace counts, *each name by itself*: one
/// number for all names would reach no moment but the first calls of each.
#[derive(Debug, Clone)]
pub struct Moment {
    pub call: String,
    pub number: usize,
}

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
        .args(["-f", "-qq"])
        .args(options)
        .arg(binary())
        .args(line.split_whitespace())
        // One worker: the calls then come in one order.
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::null());
    Outcome::new(command.output().unwrap())
}

/// What `probity LINE` does, and its moments in their order.
pub fn moments(workspace: &Workspace, line: &str) -> (Outcome, Vec<Moment>) {
    let log = workspace.path("calls.log");
    let trace = format!("trace={CHANGING}");
    let outcome = strace(workspace, &["-o", "calls.log", "-e", &trace], line);
    let calls = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(log).unwrap();
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    let moments = calls.lines().filter_map(|line| {
        let (thread, call) = line.split_once(' ')?;
        // A call that another thread's interrupted in the log is resumed on a line of its own.
        let (call, _) = call.trim_start().split_once('(')?;
        if !CHANGING.split(',').any(|changing| changing == call) {
            return None;
        }
        let number = counts.entry((thread, call)).or_default();
        *number += 1;
        Some(Moment {
            call: call.to_owned(),
            number: *number,
        })
    });
    (outcome, moments.collect())
}

/// What is left of `probity LINE`, killed at a moment.
pub fn killed(workspace: &Workspace, line: &str, moment: &Moment) -> Outcome {
    let Moment { call, number } = moment;
    let trace = format!("trace={call}");
    let inject = format!("inject={call}:signal=KILL:when={number}");
    strace(
        workspace,
        &["-o", "/dev/null", "-e", &trace, "-e", &inject],
        line,
    )
}

/// What `probity LINE` does when `calls` fail with `error`, each from its `number`-th on.
pub fn failing(
    workspace: &Workspace,
    line: &str,
    (calls, error, number): (&str, &str, usize),
) -> Outcome {
    let trace = format!("trace={calls}");
    let inject = format!("inject={calls}:error={error}:when={number}+");
    strace(
        workspace,
        &["-o", "/dev/null", "-e", &trace, "-e", &inject],
        line,
    )
}

/// All of `moments` if they are `most` at most, else `most` of them drawn by `seed`, with the first
/// and the last.
pub fn drawn(moments: &[Moment], most: usize, seed: u64) -> Vec<Moment> {
    if moments.len() <= most {
        return moments.to_vec();
    }
    let mut drawn = vec![0, moments.len() - 1];
    let mut state = seed;
    while drawn.len() < most {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        let moment = (word % moments.len() as u64) as usize;
        if !drawn.contains(&moment) {
            drawn.push(moment);
        }
    }
    drawn.sort_unstable();
    drawn
        .into_iter()
        .map(|moment| moments[moment].clone())
        .collect()
}
