//! Runs that a failure or an interrupt breaks off.

use std::process::Child;

use crate::fake;
use crate::probity_command::{Outcome, Workspace, figures, interrupt, untimed};
use crate::processes::is_running;
use crate::{SEARCH, census};

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
        let short = if mode.starts_with("slow") { "2s" } else { "5m" };
        let audit = |patience: &str, out: &str| {
            let line = format!(
                "audit --schema synthetic-census --data people.csv {SEARCH} --strategy {strategy} \
                 --predictor-timeout {patience} --out {out} --predictor"
            );
            let mut arguments: Vec<&str> = line.split_whitespace().collect();
            arguments.push("command:sh predict.sh");
            workspace.run(arguments)
        };
        workspace.write("broken", "");
        let go_on = format!("audit --resume --out {run}");
        audit(short, &run)
            .exits(code)
            .complains(&["predictor", &go_on]);
        assert!(workspace.path(&format!("{run}/checkpoint.bin")).is_file());
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
            .says(&["| random-walk "]);
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

/// An audit under way on a predictor that behaves in `mode` and writes its id to `pid`.
fn under_way(workspace: &Workspace, mode: &str) -> (Child, String) {
    workspace.write(
        "predict.sh",
        format!("echo $$ > pid\nexec {}\n", fake::command(mode)),
    );
    let line = "audit --schema synthetic-census --data people.csv --protected sex --seeds 400 --local 500 \
                --strategy random-walk --estimate 500 --samples csv --out run";
    let mut child = workspace
        .prepared(line)
        .args(["--predictor", "command:sh predict.sh"])
        .spawn()
        .unwrap();
    // The command listens for Ctrl-C before it writes this file.
    while !workspace.path("run/run.toml").is_file() {
        assert!(child.try_wait().unwrap().is_none(), "ended too early");
        std::thread::yield_now();
    }
    (child, workspace.read("pid").trim().to_owned())
}

#[test]
fn interrupted_leaves_a_run_and_no_process() {
    let workspace = census();
    let (child, predictor) = under_way(&workspace, "good");
    interrupt(&child);
    Outcome::new(child.wait_with_output().unwrap())
        .exits(0)
        .says(&["Interrupted", "--resume"]);
    assert!(!is_running(&predictor));
    assert!(workspace.path("run/checkpoint.bin").is_file());
    workspace.line("verify run").exits(0).says(&[" 0 rejected"]);
}

#[test]
fn a_second_interrupt_ends_a_predictor_that_hangs() {
    let workspace = census();
    let (mut child, predictor) = under_way(&workspace, "slow:42");
    assert!(is_running(&predictor));
    while child.try_wait().unwrap().is_none() {
        interrupt(&child);
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!is_running(&predictor));
    // Without a checkpoint the run begins again.
    workspace
        .line("audit --resume --out run --predictor-timeout 300ms")
        .exits(3)
        .complains(&["gave no answer"]);
}
