//! Runs that a failure or an interrupt breaks off.

use std::process::Command;

use probity_testing::Gate;

use crate::fake;
use crate::probity_command::{Outcome, Workspace, figures, interrupt, untimed};
use crate::processes::is_running;
use crate::{SEARCH, census, wait_until};

/// A run that a predictor's failure broke off goes on to the very result of an unbroken one.
#[test]
fn broken_off_and_resumed() {
    let workspace = census();
    for (strategy, mode, code) in [
        ("sg", "crash:42", 3),
        ("aequitas-fully", "garbage:70", 2),
        ("adf-zero-order", "slow:70", 3),
    ] {
        // One script, that fails while there is a file to say so.
        workspace.write(
            "predict.sh",
            format!(
                "if [ -e broken ]; then rm broken; exec {}; fi\nexec {}\n",
                fake::command(mode),
                fake::command("good")
            ),
        );
        let [run, whole] = ["run", "whole"].map(|name| format!("{strategy}-{mode}-{name}"));
        let audit = |patience: &str, out: &str| {
            let line = format!(
                "audit --schema synthetic-census --data people.csv {SEARCH} --strategy {strategy} \
                 --predictor-timeout {patience} --out {out} --predictor"
            );
            let mut arguments: Vec<&str> = line.split_whitespace().collect();
            arguments.push("command:sh predict.sh");
            workspace.run(arguments)
        };
        let go_on = format!("audit --resume --out {run}");
        let is_kept = || workspace.path(&format!("{run}/checkpoint.bin")).is_file();
        // One that never answers is given up after any time. On a machine that is slower than that,
        // an answer before may be waited for in vain, the first one even, with nothing to go on from.
        let patience: &[&str] = match mode.starts_with("slow") {
            true => &["2s", "20s", "5m"],
            false => &["5m"],
        };
        let mut outcome = None;
        for patience in patience {
            // Nothing is there the first time.
            let _ = std::fs::remove_dir_all(workspace.path(&run));
            workspace.write("broken", "");
            outcome = Some(audit(patience, &run));
            if is_kept() {
                break;
            }
        }
        let outcome = outcome.expect("it was tried");
        outcome.exits(code).complains(&["predictor", &go_on]);
        assert!(is_kept());
        assert!(!workspace.path(&format!("{run}/summary.json")).exists());
        let longer = format!("{go_on} --predictor-timeout 5m --predictor-rows 100");
        workspace.line(&longer).exits(0);
        audit("5m", &whole).exits(0);
        let [resumed, unbroken] =
            [&run, &whole].map(|run| workspace.json(&format!("{run}/summary.json")));
        assert_eq!(resumed["ending"], "complete");
        assert_eq!(figures(&resumed), figures(&unbroken));
        let samples = [&run, &whole].map(|run| workspace.read(&format!("{run}/samples.csv")));
        assert!(samples[0] == samples[1]);
        assert!(!workspace.path(&format!("{run}/checkpoint.bin")).exists());
    }
}

/// A comparison of a predictor that fails goes on to the figures of an unbroken one, wherever it
/// was broken off.
#[test]
fn comparisons_broken_off_and_resumed() {
    let workspace = census();
    let compare = |mode: &str, out: &str| {
        let command = fake::command(mode);
        // One script, that fails while there is a file to say so.
        let broken = format!("if [ -e broken ]; then rm broken; exec {command}; fi\n");
        workspace.write(
            "predict.sh",
            format!("{broken}exec {}\n", fake::command("good")),
        );
        let line = format!(
            "compare --schema synthetic-census --data people.csv --protected sex --seeds 30 --local 10 \
             --repeats 2 --strategies random-walk,themis,aequitas-random --out {out} --predictor"
        );
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.push("command:sh predict.sh");
        workspace.run(arguments)
    };
    let mut sizes = Vec::new();
    for at in [42, 90, 140] {
        let run = format!("run-{at}");
        let mode = format!("crash:{at}");
        workspace.write("broken", "");
        compare(&mode, &run)
            .exits(3)
            .complains(&["predictor", &format!("compare --resume --out {run}")]);
        assert!(!workspace.path(&format!("{run}/summary.json")).exists());
        let kept = std::fs::metadata(workspace.path(&format!("{run}/checkpoint.bin")));
        sizes.push(kept.unwrap().len());
        workspace
            .line(&format!(
                "compare --resume --out {run} --predictor-rows 100"
            ))
            .exits(0)
            .says(&["random-walk"]);
        let whole = format!("whole-{at}");
        compare(&mode, &whole).exits(0);
        let [resumed, unbroken] = [&run, &whole].map(|run| workspace.summary(run));
        assert_eq!(untimed(&resumed), untimed(&unbroken));
        assert!(
            resumed["predictor"]
                .as_str()
                .unwrap()
                .starts_with("command:sh"),
            "{resumed}"
        );
    }
    assert!(sizes[0] < sizes[2], "some searches were kept: {sizes:?}");
}

/// An audit of a predictor that behaves in `mode` and writes its id to `pid`; not yet started.
fn prepared(workspace: &Workspace, mode: &str) -> Command {
    workspace.write(
        "predict.sh",
        format!("echo $$ > pid\nexec {}\n", fake::command(mode)),
    );
    let line = "audit --schema synthetic-census --data people.csv --protected sex --seeds 40 --local 50 \
                --strategy random-walk --estimate 500 --samples csv --predictor-timeout 1h --out run";
    let mut command = workspace.prepared(line);
    command.args(["--predictor", "command:sh predict.sh"]);
    command
}

fn predictor_of(workspace: &Workspace) -> String {
    workspace.read("pid").trim().to_owned()
}

#[test]
fn interrupted_leaves_a_run_and_no_process() {
    let workspace = census();
    let gate = Gate::closed_at("round:2");
    let (name, value) = gate.variable();
    let mut child = prepared(&workspace, "good")
        .env(name, value)
        .spawn()
        .unwrap();
    gate.wait_for(1, || Some(child.try_wait().unwrap()?.to_string()));
    let predictor = predictor_of(&workspace);
    assert!(is_running(&predictor));
    interrupt(&child);
    Outcome::new(child.wait_with_output().unwrap())
        .exits(0)
        .says(&["Interrupted after", "--resume"]);
    assert!(!is_running(&predictor));
    assert!(workspace.path("run/checkpoint.bin").is_file());
    workspace.line("verify run").exits(0).says(&[" 0 rejected"]);
}

#[test]
fn a_second_interrupt_ends_a_predictor_that_hangs() {
    let workspace = census();
    // In the middle of the search: before it, nobody listens for an interrupt yet.
    let mut child = prepared(&workspace, "hangs:45").spawn().unwrap();
    wait_until("the predictor hangs", || {
        assert_eq!(child.try_wait().unwrap(), None, "ended too early");
        workspace.path("hangs").is_file()
    });
    let predictor = predictor_of(&workspace);
    assert!(is_running(&predictor));
    // Two that come at once may be one for the process.
    wait_until("the audit ends", || {
        let has_ended = child.try_wait().unwrap().is_some();
        if !has_ended {
            interrupt(&child);
        }
        has_ended
    });
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!is_running(&predictor));
    // Without a checkpoint the run begins again.
    workspace
        .line("audit --resume --out run --predictor-timeout 300ms")
        .exits(3)
        .complains(&["gave no answer"]);
}
