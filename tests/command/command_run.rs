//! `probity run` performs what a specification says, and repeats what a run directory did.

use crate::probity_command::refusal::refuses;
use crate::probity_command::{Workspace, figures};

const AUDIT: &str = "audit --model demo/model --data demo/people.csv --protected sex --seeds 40 \
                     --local 20 --estimate 500 --samples csv";

/// A directory is repeated to the same bytes, from wherever; what it read must still be there.
#[test]
fn a_directory_is_repeated() {
    let workspace = Workspace::with_demo(500);
    workspace.line(&format!("{AUDIT} --out first")).exits(0);
    workspace.line("run first --out again").exits(0);
    assert_eq!(
        figures(&workspace.json("first/summary.json")),
        figures(&workspace.json("again/summary.json"))
    );
    assert!(workspace.read("first/samples.csv") == workspace.read("again/samples.csv"));

    let people = workspace.read("demo/people.csv");
    let fewer: Vec<&str> = people.lines().take(400).collect();
    workspace.write("demo/people.csv", fewer.join("\n"));
    refuses(
        &workspace,
        "run first --out out",
        2,
        &["people.csv", "changed"],
    );
    // The specification alone is run on whatever is there.
    workspace.line("run first/run.toml --out fewer").exits(0);
}

/// So is one of every kind that leaves a directory: on what it read, or not at all.
#[test]
fn no_kind_is_repeated_on_other_data() {
    let workspace = Workspace::with_demo(500);
    let of_people = "--data demo/people.csv --protected sex";
    let kinds = [
        ("groups", format!("groups --model demo/model {of_people}")),
        (
            "counterparts",
            format!("counterparts --model demo/model {of_people}"),
        ),
        (
            "situations",
            format!("situations --model demo/model {of_people} --k 5"),
        ),
        ("proxies", format!("proxies --schema synthetic-census {of_people}")),
        (
            "certify",
            format!("certify --model demo/model {of_people}"),
        ),
        (
            "kmeans",
            "kmeans bench --schema synthetic-census --data demo/people.csv --clusters 3 --deletions 2 --repeats 1".to_owned(),
        ),
        (
            "spn",
            "spn bench --schema synthetic-census --data demo/people.csv --rows 60 --deletions 2 --repeats 1".to_owned(),
        ),
    ];
    for (name, line) in &kinds {
        workspace.line(&format!("{line} --out {name}")).exits(0);
        workspace
            .line(&format!("run {name} --out {name}-again"))
            .exits(0);
    }
    let people = workspace.read("demo/people.csv");
    let fewer: Vec<&str> = people.lines().take(400).collect();
    workspace.write("demo/people.csv", fewer.join("\n"));
    for (name, _) in &kinds {
        let needles = ["the data changed since the run began", "run.toml"];
        let other = format!("{name}-other");
        refuses(
            &workspace,
            &format!("run {name} --out {other}"),
            2,
            &needles,
        );
        assert!(!workspace.path(&other).exists());
        workspace
            .line(&format!("run {name}/run.toml --out {other}"))
            .exits(0);
    }
}

/// A run that its limit of time stopped goes on to its end.
#[test]
fn a_run_that_goes_on_has_no_limit_of_time() {
    let workspace = Workspace::with_demo(500);
    let audit = format!("{AUDIT} --local 300").replace("--local 20 ", "");
    workspace
        .line(&format!("{audit} --out run --time 1ns"))
        .exits(0);
    assert_eq!(workspace.json("run/summary.json")["ending"], "time");
    workspace.line("run run --resume").exits(0);
    assert_eq!(workspace.json("run/summary.json")["ending"], "complete");
}

/// What is wrong in a file is said in one line, by its field, and nothing is written.
#[test]
fn wrong_specifications_are_refused() {
    let workspace = Workspace::with_demo(500);
    let audit = "kind = 'audit'\nmodel = 'demo/model'\ndata = 'demo/people.csv'\n";
    for (text, needles) in [
        (
            format!("{audit}fail_above = nan"),
            ["fail_above is NaN", "from 0 to 1"],
        ),
        (
            format!("{audit}fail_above = -inf"),
            ["fail_above is -inf", "from 0 to 1"],
        ),
        (
            format!("{audit}seed = nan"),
            ["seed is 'nan'", "whole number"],
        ),
        (
            format!("{audit}[budget]\nmax_found = inf"),
            ["budget.max_found", "whole number"],
        ),
        (
            format!("{audit}version = '1'"),
            ["of version \"1\"", "version 1"],
        ),
        (
            format!("{audit}seed = 9223372036854775808"),
            ["line 4", "too large"],
        ),
        (format!("{audit}seeds"), ["line 4", "spec.toml"]),
        ("kind = 3".to_owned(), ["kind is 3", "is expected"]),
        (
            "kind = 'audti'".to_owned(),
            ["'audti'", "train, import, audit"],
        ),
        (
            "kind = 'train'\ndata = ''".to_owned(),
            ["data is missing", "given"],
        ),
    ] {
        workspace.write("spec.toml", text);
        let outcome = refuses(&workspace, "run spec.toml --out out", 2, &needles);
        outcome.complains(&["spec.toml"]);
    }
    let line = format!("{AUDIT} --seed 9223372036854775808 --out out");
    refuses(
        &workspace,
        &line,
        2,
        &["--seed", "at most 9223372036854775807"],
    );
}

/// An answer with noise is not repeated in passing: another one is paid for.
#[test]
fn a_private_answer_is_not_repeated() {
    let workspace = Workspace::with_demo(500);
    workspace
        .line("outliers budget --ledger budget.toml --data demo/people.csv --epsilon 2 --delta 0.1")
        .exits(0);
    let count = "outliers count --data demo/people.csv --columns age --range age=17,90 --radius 0.01 \
                 --k 3 --epsilon 0.5 --delta 0.01 --ledger budget.toml";
    workspace.line(&format!("{count} --out first")).exits(0);
    let paid = workspace.read("budget.toml");
    refuses(
        &workspace,
        "run first --out out",
        2,
        &["private", "run.toml"],
    );
    assert!(workspace.read("budget.toml") == paid);
    let line = count.replace("17,90", "17,90,nan");
    refuses(&workspace, &line, 2, &["age=17,90"]);
    assert!(workspace.read("budget.toml") == paid);
    workspace.line("run first/run.toml --out second").exits(0);
    assert!(workspace.read("budget.toml") != paid);
}
