//! A user's whole way with the command on a small synthetic census: demo, schema, training, audit,
//! verification, bounds, and what scripts need.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, pipe};

use crate::probity_command::{Outcome, Workspace, figures};
use serde_json::Value;

/// Enough people to learn the planted rule from.
const PEOPLE: u32 = 2000;

/// A small audit of the demo's model.
const AUDIT: &str =
    "audit --model demo/model --data demo/people.csv --seeds 60 --local 20 --estimate 2000";

/// The demo tells what was planted beside what was found, and everything it names is there and
/// works.
#[test]
fn demo() {
    let workspace = Workspace::new();
    let rows = PEOPLE.to_string();
    workspace
        .run(["demo", "--rows", &rows, "--out", "demo"])
        .exits(0)
        .says(&[
            "Planted",
            "95 % interval",
            "sex × origin",
            "Files: demo",
            "Next:",
            "probity verify demo/audit",
        ]);
    for file in [
        "people.csv",
        "summary.json",
        "model/model.toml",
        "model/weights.safetensors",
        "model/run.toml",
        "model/summary.json",
        "audit/run.toml",
        "audit/summary.json",
        "audit/samples.parquet",
    ] {
        assert!(workspace.path("demo").join(file).is_file(), "{file}");
    }
    assert_eq!(
        workspace.read("demo/people.csv").lines().count(),
        PEOPLE as usize + 1
    );
    let summary = workspace.json("demo/summary.json");
    let planted: Vec<f64> = numbers(&summary["recovery"], "planted");
    assert_eq!(planted.len(), 3);
    // The rule's exact shares: see `data::synthetic`.
    for (planted, share) in planted.iter().zip([0.119375, 0.059375, 0.17875]) {
        assert!((planted - share).abs() < 1e-9, "{planted} {share}");
    }
    workspace.line("verify demo/audit").exits(0);
}

/// The same seed gives the same data, model and samples, another seed others, whatever the batch
/// size and the number of threads.
#[test]
fn the_same_seed_gives_the_same_files() {
    let workspace = Workspace::new();
    let demo = |out: &str, more: &str| {
        workspace
            .line(&format!("demo --rows 500 --out {out} {more}"))
            .exits(0);
    };
    demo("first", "--threads 1");
    demo("second", "--threads 2");
    demo("other", "--seed 2");
    for file in [
        "people.csv",
        "model/weights.safetensors",
        "audit/samples.parquet",
    ] {
        let bytes = |run: &str| std::fs::read(workspace.path(run).join(file)).unwrap();
        assert!(bytes("first") == bytes("second"), "{file}");
        assert!(bytes("first") != bytes("other"), "{file}");
    }
    let audit = |out: &str, more: &str| {
        let line = format!(
            "audit --model first/model --data first/people.csv --samples csv --seeds 50 --local 20 --estimate 500 --out {out} {more}"
        );
        workspace.line(&line).exits(0);
        workspace.read(&format!("{out}/samples.csv"))
    };
    assert_eq!(audit("a", "--batch 1"), audit("b", "--batch 5000"));
    assert_ne!(audit("c", "--seed 7"), audit("d", "--seed 8"));
}

/// From a table alone to a verified audit, in both forms of the samples file.
#[test]
fn your_own_table() {
    let workspace = Workspace::with_demo(PEOPLE);
    workspace
        .line(
            "schema infer demo/people.csv --label-column income --protected sex,origin --out people.toml",
        )
        .exits(0)
        .says(&[
            "income: its last class is 'high': a guess, as 'high' is usually better to get than 'low'",
            "8 attributes",
            "people.toml",
        ]);
    assert!(
        workspace
            .read("people.toml")
            .contains("# income: its last class is 'high'")
    );
    workspace
        .line("schema check demo/people.csv --schema people.toml")
        .exits(0)
        .says(&["2,000 rows", "income = high", "income = low"]);
    workspace
        .line("train --data demo/people.csv --schema people.toml --out model --categories onehot --epochs 10")
        .exits(0)
        .says(&["test", "Majority class", "AUC", "Next: probity audit --model model"]);
    let mut found = Vec::new();
    for format in ["csv", "parquet"] {
        let out = format!("audit-{format}");
        workspace
            .line(&format!(
                "audit --model model --data demo/people.csv --seeds 60 --local 20 --samples {format} --out {out}"
            ))
            .exits(0)
            .says(&[
                "By sex",
                "sex × origin",
                "of the rows of the data get another decision",
                "of random inputs get another decision",
                "The search found",
                "Next: probity verify",
            ]);
        let verified = workspace
            .line(&format!("verify {out} --json"))
            .exits(0)
            .json();
        assert_eq!(verified["rejected"], 0, "{verified}");
        assert_eq!(verified["pairs"], verified["confirmed"]);
        let summary = workspace.json(&format!("{out}/summary.json"));
        assert_eq!(verified["pairs"], summary["total"]["discriminatory_rows"]);
        assert!(verified["pairs"].as_u64().unwrap() > 100, "{verified}");
        assert_eq!(summary["samples_file"], format!("samples.{format}"));
        found.push(figures(&summary));
    }
    assert_eq!(found[0]["total"], found[1]["total"]);
    assert_eq!(found[0]["fairness"], found[1]["fairness"]);
}

/// `--json` prints the summary and nothing else; it is the summary of the run directory and has
/// every documented key.
/// A table as it comes: several marks of missing, a group called NA, outcomes that are missing,
/// levels written in several ways and a name with a comma.
#[test]
fn a_table_as_it_comes() {
    let workspace = Workspace::new();
    let mut rows = String::from("age,\"distance, km\",race,default\n");
    for row in 0..240 {
        let age = match row % 12 {
            0 => String::new(),
            1 => "?".to_owned(),
            _ => (20 + row % 40).to_string(),
        };
        let race = ["White", "Black", "NA", "white"][row % 4];
        let outcome = match row % 10 {
            9 => "NA",
            _ if row % 40 < 20 => "no",
            _ => "yes",
        };
        rows += &format!("{age},{},{race},{outcome}\n", row % 90);
    }
    workspace.write("people.csv", rows);
    let infer = |more: &[&str]| {
        let list = r#"race,"distance, km""#;
        let line = [
            "schema",
            "infer",
            "people.csv",
            "--label-column",
            "default",
            "--protected",
            list,
        ];
        workspace.run([&line[..], more].concat())
    };
    infer(&["--out", "asked.toml"]).exits(0).says(&[
        "default: its last class is 'yes': nobody has said which is good to get",
        "--favourable no",
        "24 of the 240 outcomes count as missing, and are no class: 'NA' (24)",
        "race: 60 of its 240 cells count as missing: 'NA' (60); 'NA' may be a group of people",
        "--level race=NA",
        "--missing race=NA",
        "'White' (60), 'white' (60); --merge race",
        "age: 40 of its 240 cells count as missing: blank (20), '?' (20)",
    ]);
    infer(&[
        "--level",
        "race=NA",
        "--merge",
        "race",
        "--favourable",
        "no",
        "--out",
        "people.toml",
    ])
    .exits(0);
    let schema = workspace.read("people.toml");
    for needle in [
        "classes = [\"yes\", \"no\"]",
        "missing = \"NA\"",
        "missing = [\"\", \"?\"]",
        "levels = [\"White\", \"Black\", \"NA\"]",
        "white = \"White\"",
    ] {
        assert!(schema.contains(needle), "{needle}: {schema}");
    }
    workspace
        .line("schema check people.csv --schema people.toml")
        .exits(0)
        .says(&["default is missing: 24 rows"]);
    workspace
        .line("train --data people.csv --schema people.toml --hidden 4 --epochs 2 --out model")
        .exits(0);
    assert!(
        workspace
            .read("model/summary.json")
            .contains("\"unlabelled_rows\": 24")
    );
    // The test part is the training's own, whose rows have an outcome.
    let trained = &workspace.summary("model")["test"]["accuracy"];
    assert!(trained.is_number());
    let evaluate = "evaluate --model model --data people.csv --part test --json";
    let evaluated = workspace.line(evaluate).exits(0).json();
    assert_eq!(&evaluated["accuracy"], trained);
    let groups = "groups --model model --data people.csv --part test --json";
    let groups = workspace.line(groups).exits(0).json();
    assert_eq!(groups["rows"], 43);
    workspace
        .line(
            "audit --model model --data people.csv --seeds 5 --local 2 --estimate 100 --out found",
        )
        .exits(0);
    assert!(
        workspace
            .read("found/summary.json")
            .contains("\"rows\": 240")
    );
    for (options, needle) in [
        (["--missing", "race"], "a name, an equals sign"),
        (["--level", "race=N/A"], "no cell holds it"),
        (["--ignore", "\"race"], "not closed"),
        (["--ignore", "race"], "at once"),
    ] {
        infer(&options).exits(2).complains(&[needle]);
    }
}

#[test]
fn json() {
    let workspace = Workspace::with_demo(PEOPLE);
    let outcome = workspace
        .line(&format!("{AUDIT} --protected sex,origin --out run --json"))
        .exits(0);
    let summary = outcome.json();
    assert_eq!(summary, workspace.summary("run"));
    holds_keys(
        &summary,
        "schema_version command seed device model_sha256 data_sha256 strategy protected global local total fairness",
    );
    let phase = "generated generated_rows discriminatory discriminatory_rows seconds";
    holds_keys(&summary["global"], &format!("seeds iterations {phase}"));
    holds_keys(&summary["local"], &format!("seeds trials {phase}"));
    holds_keys(
        &summary["total"],
        "generated discriminatory discriminatory_rows success_rate checks checks_per_second discriminatory_per_second seconds",
    );
    assert_eq!(summary["schema_version"], 1);
    assert_eq!(summary["command"], "audit");
    assert_eq!(summary["protected"], serde_json::json!(["sex", "origin"]));
    let estimates = summary["fairness"].as_array().unwrap();
    assert_eq!(estimates.len(), 3, "each alone and all jointly");
    for estimate in estimates {
        holds_keys(estimate, "protected sampled discriminatory rate ci95");
        let [low, high] = [0, 1].map(|end| estimate["ci95"][end].as_f64().unwrap());
        let rate = estimate["rate"].as_f64().unwrap();
        assert!(0.0 <= low && low <= rate && rate <= high && high <= 1.0);
    }
    // The other commands' JSON is valid, too.
    for line in [
        "schema list --json",
        "schema show census --json",
        "schema check demo/people.csv --schema synthetic-census --json",
        "schema infer demo/people.csv --label-column income --json",
        "data list --json",
        "devices --json",
        "verify run --json",
        "train --data demo/people.csv --schema synthetic-census --epochs 1 --out model --json",
        "demo --rows 200 --out demo2 --json",
    ] {
        let outcome = workspace.line(line).exits(0);
        assert!(!outcome.json().is_null(), "{line}");
    }
}

/// The bound decides the exit code by the interval, and an interval that contains it says so.
#[test]
fn fail_above() {
    let workspace = Workspace::with_demo(PEOPLE);
    let bound = |bound: f64, out: &str| {
        workspace.line(&format!(
            "{AUDIT} --fail-above {bound} --out {out} --protected sex"
        ))
    };
    bound(0.99, "within")
        .exits(0)
        .says(&["PASS: By sex, ", "at most 99.00 % may be: the bound holds"]);
    bound(0.0001, "exceeds").exits(1).says(&[
        "FAIL: By sex, ",
        "at most 0.01 % may be: the bound is broken",
    ]);
    let exceeds = workspace.json("exceeds/summary.json");
    let rate = |of: &serde_json::Value| of[0]["rate"].as_f64().unwrap();
    let of_rows = rate(&exceeds["population"]["shares"]);
    bound(of_rows, "unclear")
        .exits(1)
        .says(&["NOT SHOWN: By sex, ", "More of them would tell."]);
    let of_inputs = rate(&exceeds["fairness"]);
    workspace
        .line(&format!(
            "{AUDIT} --fail-above {of_inputs} --bound uniform --out uniform --protected sex"
        ))
        .exits(1)
        .says(&["NOT SHOWN: By sex, ", "--estimate"]);
    let verdict = |run: &str| {
        let summary = workspace.json(&format!("{run}/summary.json"));
        summary["fail_above"]["verdict"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(verdict("within"), "within");
    assert_eq!(verdict("exceeds"), "exceeds");
    assert_eq!(verdict("unclear"), "inconclusive");
}

/// Samples that were changed by hand are rejected, and the first rejected pairs named.
#[test]
fn tampered_samples_are_rejected() {
    let workspace = Workspace::with_demo(PEOPLE);
    workspace
        .line(&format!("{AUDIT} --protected sex --samples csv --out run"))
        .exits(0);
    let text = workspace.read("run/samples.csv");
    let lines: Vec<&str> = text.lines().collect();
    let header: Vec<&str> = lines[0].split(',').collect();
    let column = |name: &str| header.iter().position(|have| *have == name).unwrap();
    // Puts `value` into a cell of the second pair and into `also` another one.
    let tampered = |cells: &[(&str, &str)]| {
        let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let mut row: Vec<&str> = lines[2].split(',').collect();
        for (name, value) in cells {
            row[column(name)] = value;
        }
        changed[2] = row.join(",");
        workspace.write("run/samples.csv", changed.join("\n"));
        workspace.line("verify run")
    };
    let cell = |name: &str| lines[2].split(',').nth(column(name)).unwrap();
    tampered(&[]).exits(0).says(&["0 rejected"]);
    let rejected = |outcome: Outcome, needle: &str| {
        outcome.exits(1).says(&["1 rejected", "pair 2", needle]);
    };
    let flipped = |label: &str| if label == "low" { "high" } else { "low" };
    rejected(
        tampered(&[("label_x", flipped(cell("label_x")))]),
        "the file says class",
    );
    rejected(
        tampered(&[("label_other", flipped(cell("label_other")))]),
        "the file says class",
    );
    let age = if cell("x_age") == "30" { "31" } else { "30" };
    rejected(tampered(&[("x_age", age)]), "'age', which is not protected");
    rejected(
        tampered(&[
            ("x_sex", cell("other_sex")),
            ("label_x", cell("label_other")),
        ]),
        "both sides are equal",
    );
    // A value that no person can have is no pair at all: bad input, with its place.
    tampered(&[("x_age", "200")]).exits(2).complains(&[
        "run/samples.csv",
        "line 3",
        "'200'",
        "18 to 67",
    ]);
}

/// A reader that went away ends the command quietly: no panic, no error.
#[test]
fn closed_pipes_end_quietly() {
    let workspace = Workspace::new();
    for line in [
        "completions bash",
        "man",
        "schema list",
        "schema show census",
        "--help",
        "audit --help",
    ] {
        // Nobody reads from the start.
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = workspace.prepared(line).stdout(writer).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!stderr.contains("panicked"), "{line}: {stderr}");
        assert_eq!(output.status.code(), Some(0), "{line}: {stderr}");
        // Somebody reads one line.
        let mut child = workspace.prepared(line).spawn().unwrap();
        let mut first = String::new();
        let mut reader = BufReader::with_capacity(16, child.stdout.take().unwrap());
        reader.read_line(&mut first).unwrap();
        drop(reader);
        let outcome = Outcome::new(child.wait_with_output().unwrap()).exits(0);
        assert!(outcome.stderr.is_empty(), "{line}: {outcome:#?}");
        assert!(!first.is_empty(), "{line}");
    }
}

/// A run can be replayed from its directory: run.toml resolves every option.
#[test]
fn run_toml_resolves_every_option() {
    let workspace = Workspace::with_demo(PEOPLE);
    workspace.line(&format!("{AUDIT} --out run")).exits(0);
    let run: toml::Table = toml::from_str(&workspace.read("run/run.toml")).unwrap();
    for key in "kind version modality model data protected strategy estimate samples_format seed"
        .split(' ')
    {
        assert!(run.contains_key(key), "{key}");
    }
    for key in "objective seeds clusters max_iter local step_global step_local batch".split(' ') {
        assert!(run["search"].as_table().unwrap().contains_key(key), "{key}");
    }
    assert_eq!(run["kind"].as_str(), Some("audit"));
    assert_eq!(run["search"]["seeds"].as_integer(), Some(60));
    let record = &run["record"];
    assert_eq!(record["device"].as_str(), Some("flex"), "never auto");
    let summary = workspace.json("run/summary.json");
    for role in ["model", "data"] {
        let stated = summary[format!("{role}_sha256")].as_str();
        assert_eq!(record["sha256"][role].as_str(), stated);
    }
    // Unnamed runs get a number each.
    for number in 1..=2 {
        workspace
            .line(AUDIT)
            .exits(0)
            .says(&[&format!("Run: runs/audit-{number}")]);
    }
}

/// Help, completions and the manual page name what there is.
#[test]
fn help_completions_and_manual() {
    let workspace = Workspace::new();
    let options: [(&str, &[&str]); 9] = [
        ("demo", &["--rows", "--seed", "--out"]),
        (
            "schema infer",
            &["--label-column", "--protected", "--separator", "--out"],
        ),
        ("schema check", &["--schema", "--outside"]),
        ("data fetch", &["--from", "--cache"]),
        (
            "train",
            &[
                "--data",
                "--schema",
                "--hidden",
                "--epochs",
                "--patience",
                "--class-weights",
                "--resume",
            ],
        ),
        ("import", &["--weights", "--config", "--schema"]),
        (
            "audit",
            &[
                "--model",
                "--data",
                "--protected",
                "--seeds",
                "--local",
                "--max-iter",
                "--step-global",
                "--step-local",
                "--clusters",
                "--time",
                "--max-found",
                "--fail-above",
                "--resume",
                "--samples",
                "--estimate",
            ],
        ),
        ("verify", &["--model", "<RUN>"]),
        ("devices", &[]),
    ];
    for (command, named) in options {
        workspace
            .line(&format!("{command} --help"))
            .exits(0)
            .says(named)
            .says(&["--json", "--quiet", "--verbose"]);
    }
    for command in ["demo", "train", "audit"] {
        workspace
            .line(&format!("{command} --help"))
            .says(&["--device", "--threads"]);
    }
    let commands = "demo schema data train import audit verify devices completions man";
    let commands: Vec<&str> = commands.split(' ').collect();
    workspace
        .line("--help")
        .exits(0)
        .says(&commands)
        .says(&["Exit codes"]);
    workspace.line("--version").exits(0).says(&["probity 0."]);
    for shell in ["bash", "zsh", "fish"] {
        workspace
            .line(&format!("completions {shell}"))
            .exits(0)
            .says(&commands)
            .says(&["fail-above"]);
    }
    workspace
        .line("man")
        .exits(0)
        .says(&[".TH probity 1", "audit"]);
    workspace.line("man audit").exits(0).says(&["fail\\-above"]);
}

/// The number `key` of every element of an array.
fn numbers(array: &Value, key: &str) -> Vec<f64> {
    let elements = array.as_array().unwrap().iter();
    elements
        .map(|element| element[key].as_f64().unwrap())
        .collect()
}

#[track_caller]
fn holds_keys(object: &Value, keys: &str) {
    let have: BTreeSet<&str> = object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    for key in keys.split_whitespace() {
        assert!(have.contains(key), "no {key} among {have:?}");
    }
}
