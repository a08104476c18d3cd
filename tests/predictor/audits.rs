//! Audits, verifications and comparisons of predictors.

use crate::fake;
use crate::probity_command::figures;
use crate::{SEARCH, audit, census, schema};

#[test]
fn audited_verified_and_measured() {
    let workspace = census();
    for strategy in ["adf-zero-order", "random-walk"] {
        let more = format!("--strategy {strategy} --out {strategy}");
        audit(&workspace, "good", &more).exits(0).says(&["By sex"]);
        let summary = workspace.json(&format!("{strategy}/summary.json"));
        assert!(
            summary["predictor"]
                .as_str()
                .unwrap()
                .starts_with("command:sh")
        );
        assert!(summary["total"]["discriminatory"].as_u64().unwrap() > 0);
        // The rule discriminates exactly the individuals below 40.
        let [low, high] = [0, 1].map(|end| summary["fairness"][0]["ci95"][end].as_f64().unwrap());
        let age = &schema().attributes[schema().index_of("age").unwrap()];
        let (min, max) = age.domain();
        let share = f64::from(40 - min) / f64::from(max - min + 1);
        assert!(low <= share && share <= high, "{low} {share} {high}");
        workspace
            .line(&format!("verify {strategy}"))
            .exits(0)
            .says(&[" 0 rejected"]);
    }
    // A changed pair is rejected by the predictor itself.
    let samples = workspace.read("random-walk/samples.csv");
    let first = samples.lines().nth(1).unwrap();
    let swapped = first
        .replacen(",low,high,", ",HIGH,low,", 1)
        .replacen(",high,low,", ",low,high,", 1)
        .replace("HIGH", "high");
    workspace.edit("random-walk/samples.csv", first, &swapped);
    workspace
        .line("verify random-walk")
        .exits(1)
        .says(&["1 rejected", "the file says class"]);
}

#[test]
fn threads_and_request_sizes_change_nothing() {
    let workspace = census();
    audit(&workspace, "good", "--out one --threads 1").exits(0);
    audit(
        &workspace,
        "good",
        "--out two --threads 3 --predictor-rows 5",
    )
    .exits(0);
    let [one, two] = ["one", "two"].map(|run| workspace.json(&format!("{run}/summary.json")));
    assert_eq!(figures(&one), figures(&two));
    assert!(workspace.read("one/samples.csv") == workspace.read("two/samples.csv"));
}

/// Predictors have no gradients, nothing to retrain, and default strategies of their own.
#[test]
fn predictors_are_compared_but_not_repaired() {
    let workspace = census();
    let compare = |more: &str| {
        let source = format!("command:{}", fake::command("good"));
        let line = format!(
            "compare --schema synthetic-census --data people.csv --protected sex --seeds 10 --local 3 --repeats 1 {more}"
        );
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend(["--predictor", &source]);
        workspace.run(arguments)
    };
    for strategy in ["adf", "eidig", "themis,adf"] {
        compare(&format!("--strategies {strategy} --out refused"))
            .exits(2)
            .complains(&["needs gradients"]);
    }
    assert!(!workspace.path("refused").exists());
    compare("--out usual").exits(0);
    let usual = workspace.json("usual/summary.json");
    let names: Vec<&str> = usual["strategies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|strategy| strategy["strategy"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "aequitas-fully",
            "adf-zero-order",
            "sg",
            "themis",
            "random-walk"
        ]
    );
    audit(&workspace, "good", "--out run").exits(0);
    workspace
        .line("repair --model demo/model --data people.csv --run run --out repaired")
        .exits(2)
        .complains(&["run searched command:", "only answers"]);
    assert!(!workspace.path("repaired").exists());
}

#[test]
fn another_script_is_another_predictor() {
    let workspace = census();
    workspace.write("predict.sh", format!("exec {}", fake::command("crash:42")));
    let source = ["--predictor", "command:sh predict.sh", "--out", "run"];
    let line = format!("audit --schema synthetic-census --data people.csv {SEARCH}");
    workspace
        .run(line.split_whitespace().chain(source))
        .exits(3);
    workspace.write("predict.sh", format!("exec {}", fake::command("good")));
    workspace
        .line("audit --resume --out run")
        .exits(2)
        .complains(&["changed since the run began"]);
}

#[test]
fn refused_before_anything_is_written() {
    let workspace = census();
    let before = workspace.snapshot();
    for (mode, more, needles) in [
        ("random", "", &["not a function of the row", "age = "][..]),
        (
            "good",
            "--strategy adf",
            &["needs gradients", "random-walk"],
        ),
        (
            "good",
            "--onnx-output p",
            &["--onnx-output", "has no meaning for a command"],
        ),
        ("good", "--predictor-rows 0", &["--predictor-rows is 0"]),
        (
            "good",
            "--device ndarray",
            &["--device is ndarray, but must be auto or flex"],
        ),
        (
            "good",
            "--outside level",
            &["--outside is level", "skip, which leaves such rows out"],
        ),
        ("talkative", "", &["'Loading the model ...'"]),
    ] {
        audit(&workspace, mode, more).exits(2).complains(needles);
    }
    audit(&workspace, "crash", "")
        .exits(3)
        .complains(&["exit status: 7"]);
    for (line, needle) in [
        (
            "audit --predictor onnx:m.onnx --data people.csv",
            "--schema",
        ),
        (
            "audit --predictor onnx:m.onnx --schema synthetic-census --data people.csv",
            "m.onnx",
        ),
        (
            "audit --predictor python:x --schema synthetic-census --data people.csv",
            "onnx:FILE",
        ),
        (
            "audit --schema synthetic-census --model demo/model --data people.csv",
            "--schema is given",
        ),
        (
            "audit --onnx-output p --model demo/model --data people.csv",
            "option of a predictor",
        ),
        (
            "audit --model demo/model --data people.csv --predictor-rows 5",
            "--predictor-rows",
        ),
        (
            "audit --predictor command:/nowhere/x --schema synthetic-census --data people.csv",
            "cannot start",
        ),
        (
            "audit --predictor command:sh --schema nothing --data people.csv",
            "neither a schema file",
        ),
        (
            "audit --predictor command:sh --schema synthetic-census --data nothing.csv",
            "nothing.csv",
        ),
    ] {
        workspace.line(line).exits(2).complains(&[needle]);
    }
    assert_eq!(workspace.snapshot(), before);
}

/// Sums of 0.99 are refused with what to say, and then divided: the decisions are those of the honest
/// predictor.
#[test]
fn rounded_probabilities_are_taken_where_that_is_said() {
    let workspace = census();
    audit(&workspace, "rounded", "--out refused")
        .exits(2)
        .complains(&["sum to 0.99", "age = ", "--probabilities rounded"]);
    audit(
        &workspace,
        "rounded",
        "--probabilities rounded --out rounded",
    )
    .exits(0)
    .complains(&["do not sum to 1 and were divided by their sum"]);
    audit(&workspace, "good", "--out good").exits(0);
    let [rounded, good] =
        ["rounded", "good"].map(|run| workspace.json(&format!("{run}/summary.json")));
    assert_eq!(rounded["fairness"], good["fairness"]);
    assert_eq!(
        rounded["population"]["shares"],
        good["population"]["shares"]
    );
    let of = &rounded["rounded"];
    assert!(
        of["rows"].as_u64().unwrap() > 0 && of["rows"] == of["divided"],
        "{of}"
    );
    assert_eq!(good["rounded"], serde_json::Value::Null);
    // What only asks about rows says so in the same words, of all of them.
    let source = format!("command:{}", fake::command("rounded"));
    for command in ["predict", "evaluate", "groups --protected sex"] {
        let line = format!(
            "{command} --schema synthetic-census --data people.csv --probabilities rounded --json"
        );
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend(["--predictor", &source]);
        let said = "of 400 rows of the data, the predictor's probabilities of 400 do not sum to 1 \
                    and were divided by their sum";
        let outcome = workspace.run(arguments).exits(0).complains(&[said]);
        assert_eq!(outcome.json()["rounded"]["divided"], 400, "{command}");
    }
    // Percentages are none, whatever is said; nor has the option a meaning for a model.
    audit(
        &workspace,
        "unnormalised",
        "--probabilities rounded --out percent",
    )
    .exits(2)
    .complains(&["sum to 1.8", "percentages"]);
    workspace
        .line("audit --model m --data people.csv --probabilities rounded --out none")
        .exits(2)
        .complains(&["is an option of a predictor"]);
}
