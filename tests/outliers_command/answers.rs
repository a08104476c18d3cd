//! What is answered and at which price, and what the owner of the data sees.

use serde_json::Value;

use crate::probity_command::refusal::refuses;
use crate::{COLUMNS, count, with_budget, workspace};

/// A count of a few dozen records drowns in its noise, and must not read as a fact.
#[test]
fn what_is_public_of_the_noise_stands_beside_every_count() {
    let workspace = with_budget("--epsilon 9 --delta 0.5");
    let summary = workspace.line(&count("--json")).exits(0).json();
    assert_eq!(summary["sensitivity"], "inverse");
    let noise = |summary: &Value, key: &str| summary["noise"][key].as_f64().unwrap();
    let [least, most, global] = [
        "standard_deviation_at_least",
        "standard_deviation_at_most",
        "global_standard_deviation",
    ]
    .map(|key| noise(&summary, key));
    assert!(
        5.0 < least && least < global && global < most,
        "{least} {global} {most}"
    );
    workspace.line(&count("")).exits(0).says(&[
        &format!("at least {least:.1} and at most {most:.1}"),
        "depends on the records",
        &format!("With --sensitivity global it would be {global:.1} at this price"),
    ]);
    // None of it depends on the records.
    let other = self::workspace();
    let crowd: String = (0..65).map(|at| format!("5,{},x\n", at % 2)).collect();
    other.write("d.csv", format!("x,y,name\n{crowd}"));
    other
        .line("outliers budget --ledger budget.toml --data d.csv --epsilon 9 --delta 0.5")
        .exits(0);
    let crowded = other.line(&count("--json")).exits(0).json();
    assert_eq!(crowded["noise"], summary["noise"]);
    // The noise of the global sensitivity is known, and its interval free.
    let line = count("").replace(
        "x,y --range x=0,10,1 --range y=0,10,1",
        "x --range x=0,10,1",
    );
    let line = line.replace("--k 3", "--k 1");
    let chosen = workspace
        .line(&format!("{line} --sensitivity global --json"))
        .exits(0)
        .json();
    assert!(chosen["interval"].is_object() && chosen["method"].is_null());
    let global = noise(&chosen, "global_standard_deviation");
    assert_eq!(noise(&chosen, "standard_deviation_at_least"), global);
    workspace
        .line(&format!("{line} --sensitivity global"))
        .exits(0)
        .says(&[
            &format!("The noise has a standard deviation of {global:.1}."),
            "interval of the true count",
        ]);
    workspace
        .line(&format!("{line} --sensitivity smooth"))
        .exits(0)
        .says(&[
            "With --sensitivity global it would be",
            "always less, so take that",
        ]);
    // An interval is asked for: here the global sensitivity has less noise than the smooth bound,
    // and all of the price goes to the count.
    let shared = workspace
        .line(&format!("{line} --interval-share 0.2 --json"))
        .exits(0)
        .json();
    assert_eq!(shared["sensitivity"], "global");
    assert_eq!(
        (&shared["noise"], &shared["cost"]),
        (&chosen["noise"], &chosen["cost"])
    );
    for (options, needle) in [
        ("--interval-share 0.2", "an interval needs"),
        ("--calibration theorem", "normal noise"),
    ] {
        let line = count(&format!("--sensitivity inverse {options}"));
        refuses(&workspace, &line, 2, &[needle]);
    }
    workspace
        .line(&format!(
            "outliers subspaces --data d.csv {COLUMNS} --radius 0.3 --k 3 --dims 2 --top 1 --epsilon 2 --then-count --delta 0.01 --ledger budget.toml"
        ))
        .exits(0)
        .says(&["Noisy count", "The noise has a standard deviation of at least"]);
}

#[test]
fn an_interval_is_paid_for_or_free() {
    let workspace = with_budget("--epsilon 9 --delta 0.5");
    let summary = workspace
        .line(&count("--interval-share 0.2 --json"))
        .exits(0)
        .json();
    let interval = &summary["interval"];
    assert!(interval["low"].as_i64() <= interval["high"].as_i64());
    assert_eq!(interval["confidence"], 0.95);
    assert_eq!(summary["cost"]["epsilon"], 0.5);
    let free = workspace
        .line(&count("--sensitivity global --json"))
        .exits(0)
        .json();
    assert!(free["interval"].is_object() && free["method"].is_null());
    for (options, method) in [("--bound cover", "cover"), ("--bound exact", "plane")] {
        let summary = workspace
            .line(&count(&format!("{options} --json")))
            .exits(0)
            .json();
        assert_eq!(summary["method"], method);
    }
    workspace
        .line(&count("--calibration theorem --sensitivity smooth"))
        .exits(0);
    refuses(
        &workspace,
        &count("--sensitivity global --interval-share 0.2"),
        2,
        &["--interval-share", "the interval is free"],
    );
    for share in ["0", "1", "-0.5", "NaN"] {
        refuses(
            &workspace,
            &count(&format!("--interval-share {share}")),
            2,
            &["--interval-share"],
        );
    }
    refuses(
        &workspace,
        &count("--bound reference"),
        2,
        &["at most 24 records, not for 65"],
    );
}

#[test]
fn a_seeded_run_says_that_it_is_not_private() {
    let workspace = with_budget("--epsilon 9 --delta 0.5");
    let outcome = workspace.line(&count("--not-private-seed 7")).exits(0);
    let outcome = outcome.says(&["NOT PRIVATE"]).complains(&["NOT PRIVATE"]);
    let again = with_budget("--epsilon 9 --delta 0.5");
    // The ledgers lie in folders of their own.
    let figures = |text: &str| text.split("Ledger:").next().map(str::to_owned);
    assert_eq!(
        figures(&outcome.stdout),
        figures(&again.line(&count("--not-private-seed 7")).stdout)
    );
    let summary = workspace
        .line(&count("--not-private-seed 7 --json"))
        .exits(0)
        .json();
    assert_eq!(summary["private"], false);
    workspace
        .line("outliers budget --ledger budget.toml")
        .says(&["(NOT PRIVATE)"]);
    // With bits of the system two answers differ sooner or later: the noise has a deviation above
    // 20, so ten that are the same come once in 10^17 times.
    let answers: Vec<Value> = (0..10)
        .map(|_| workspace.line(&count("--json")).exits(0).json()["count"].clone())
        .collect();
    assert!(
        answers.iter().any(|answer| *answer != answers[0]),
        "{answers:?}"
    );
}

#[test]
fn subspaces_are_chosen_and_counted_at_one_price() {
    let workspace = with_budget("--epsilon 100 --delta 0.5 --slack 0");
    let line = |rest: &str| {
        format!(
            "outliers subspaces --data d.csv {COLUMNS} --radius 0.3 --k 3 --dims 1 --ledger budget.toml {rest}"
        )
    };
    let summary = workspace
        .line(&line("--top 2 --epsilon 1.6 --json"))
        .exits(0)
        .json();
    assert_eq!(summary["subspaces"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&summary["candidates"], &summary["cost"]["delta"]),
        (&Value::from(2), &Value::from(0.0))
    );
    assert_eq!(summary["cost"]["epsilon"], 1.6);
    let outcome = workspace
        .line(&line(
            "--top 1 --epsilon 2 --then-count --delta 0.01 --count-share 0.75 --json --out run",
        ))
        .exits(0)
        .json();
    assert_eq!(outcome["cost"]["epsilon"], 2.0);
    assert_eq!(outcome["cost"]["delta"], 0.01);
    assert!(outcome["subspaces"][0]["count"].is_i64());
    assert!(
        workspace
            .read("run/run.toml")
            .contains("count_share = 0.75")
    );
    workspace
        .line(&line(
            "--top 2 --epsilon 4 --then-count --delta 0.01 --interval-share 0.2",
        ))
        .exits(0)
        .says(&[
            "Of 2 subspaces of 1 column, 2 were drawn",
            "Noisy count",
            "%)",
        ]);
    for (rest, needle) in [
        ("--top 3 --epsilon 1", "the top 3 of 2 subspaces"),
        ("--top 0 --epsilon 1", "--top is 0"),
        ("--top 1 --epsilon 0", "--epsilon is 0"),
        ("--top 1 --epsilon 1 --delta 0.1", "then_count"),
        ("--top 1 --epsilon 1 --then-count", "--delta"),
        ("--top 1 --epsilon 1 --then-count --delta 1", "--delta is 1"),
        (
            "--top 1 --epsilon 1 --then-count --delta 0.1 --count-share 1",
            "--count-share is 1",
        ),
        ("--top 1 --epsilon 1 --bound cover", "then_count"),
    ] {
        refuses(&workspace, &line(rest), 2, &[needle]);
    }
    let dims =
        |dims: &str| line("--top 1 --epsilon 1").replace("--dims 1", &format!("--dims {dims}"));
    refuses(&workspace, &dims("3"), 2, &["3 dimensions", "2 columns"]);
    refuses(&workspace, &dims("0"), 2, &["--dims is 0"]);
}

#[test]
fn the_owner_sees_everything_and_is_told_so() {
    let workspace = workspace();
    let line =
        |rest: &str| format!("outliers exact --data d.csv {COLUMNS} --radius 0.5 --k 3 {rest}");
    let outcome = workspace
        .line(&line(""))
        .exits(0)
        .says(&["5 of 65 records are outliers"]);
    assert!(outcome.stdout.starts_with("NOT PRIVATE") && outcome.stdout.ends_with("only.\n"));
    workspace
        .line(&line("--epsilon 0.5 --delta 0.01 --bound cover"))
        .exits(0)
        .says(&[
            "inverse sensitivity, bounds by cover",
            "With exact bounds it would be",
            "times as large",
        ]);
    let summary = workspace
        .line(&line("--epsilon 0.5 --delta 0.01 --json"))
        .exits(0)
        .json();
    let noise = &summary["noise"];
    assert_eq!(
        (&summary["count"], &summary["private"]),
        (&Value::from(5), &Value::from(false))
    );
    let deviation = |key: &str| noise[key].as_f64().unwrap();
    let found = deviation("standard_deviation");
    assert!(deviation("standard_deviation_at_least") <= found);
    assert!(found <= deviation("standard_deviation_at_most"));
    assert_eq!(noise["global_sensitivity_at_most"], 16);
    let subspaces = workspace.line(&line("--dims 1 --json")).exits(0).json();
    assert_eq!(subspaces["subspaces"].as_array().unwrap().len(), 2);
    refuses(
        &workspace,
        &line("--bound exact"),
        2,
        &["--bound is given", "epsilon"],
    );
    refuses(&workspace, &line("--dims 3"), 2, &["3 dimensions"]);
}
