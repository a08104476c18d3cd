//! `probity outliers` end to end: what it prints, what it charges, and what it refuses.

mod probity_command;

use std::fmt::Write;
use std::io::{BufRead, BufReader, Read};

use probity::run::run_directory::file_sha256;
use probity_command::Workspace;
use probity_command::refusal::refuses;
use serde_json::Value;

const COLUMNS: &str = "--columns x,y --range x=0,10,1 --range y=0,10,1";
const QUERY: &str = "--radius 0.5 --k 3 --epsilon 0.5 --delta 0.01 --ledger budget.toml";

/// A dense group and five records far from everything.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    let mut text = "x,y,name\n".to_owned();
    for at in 0..60 {
        let (x, y) = (at % 8, at / 8);
        writeln!(
            text,
            "{},{},inlier",
            1.0 + 0.1 * f64::from(x),
            1.0 + 0.1 * f64::from(y)
        )
        .unwrap();
    }
    for at in 0..5 {
        writeln!(text, "{},{},outlier", 9 - at, 4 + at).unwrap();
    }
    workspace.write("d.csv", text);
    workspace
}

fn with_budget(options: &str) -> Workspace {
    let workspace = workspace();
    workspace
        .line(&format!(
            "outliers budget --ledger budget.toml --data d.csv {options}"
        ))
        .exits(0)
        .says(&["Left: epsilon"]);
    workspace
}

fn count(rest: &str) -> String {
    format!("outliers count --data d.csv {COLUMNS} {QUERY} {rest}")
}

#[test]
fn a_count_is_charged_before_it_is_printed() {
    let workspace = with_budget("--epsilon 1 --delta 0.05");
    workspace.line(&count("")).exits(0).says(&[
        "In x × y (fewer than 3 other records within 0.5), of 65 records: noisy count of outliers",
        "The noise has a standard deviation of at least",
        "Cost: epsilon 0.5, delta 0.01",
        "budget.toml: epsilon 0.5",
    ]);
    let summary = workspace.line(&count("--out run --json")).exits(0).json();
    assert_eq!(summary["command"], "outliers count");
    assert_eq!(summary["private"], true);
    assert_eq!(summary["method"], "plane");
    assert!(summary["count"].is_i64() && summary["interval"].is_null());
    assert_eq!(summary["left"]["epsilon"], 0.0);
    // Nothing that is printed tells the scale of the noise.
    for key in ["sensitivity_value", "standard_deviation", "scale", "beta"] {
        assert!(summary.get(key).is_none(), "{key}");
    }
    assert_eq!(
        workspace.json("run/summary.json")["count"],
        summary["count"]
    );
    let run = workspace.read("run/run.toml");
    for line in ["kind = \"outliers count\"", "radius = 0.5", "[record]"] {
        assert!(run.contains(line), "{line}: {run}");
    }
    // Declarations; nothing that the records have a say in.
    assert!(!run.contains("rows") && !run.contains("seed"), "{run}");
    refuses(
        &workspace,
        &count(""),
        2,
        &["budget.toml", "does not cover", "epsilon 0.5"],
    );
    workspace
        .line("outliers budget --ledger budget.toml")
        .exits(0)
        .says(&["count in x × y, radius 0.5, k 3", "Spent: epsilon 1"]);
}

/// Whoever knows all records but one could try every value of that one until a hash of the file is
/// right. And a time at the end would say how long the answer took.
#[test]
fn nothing_that_is_given_away_is_exact() {
    let workspace = with_budget("--epsilon 9 --delta 0.5");
    let subspaces = format!(
        "outliers subspaces --data d.csv {COLUMNS} --radius 0.3 --k 3 --dims 1 --top 1 --epsilon 1 --ledger budget.toml"
    );
    let said: Vec<String> = [
        count("--out count"),
        count("--json"),
        count("--not-private-seed 1 --out seeded --json"),
        format!("{subspaces} --out subspaces --json"),
        "outliers budget --ledger budget.toml".to_owned(),
        "outliers budget --ledger budget.toml --json".to_owned(),
    ]
    .iter()
    .map(|line| workspace.line(line).exits(0).stdout)
    .collect();
    let hash = file_sha256(&workspace.path("d.csv")).unwrap();
    let ledger = workspace.read("budget.toml");
    let fingerprint = ledger.split("fingerprint = \"").nth(1).unwrap();
    let (fingerprint, _) = fingerprint.split_once('"').unwrap();
    assert_eq!(fingerprint.len(), hash.len());
    let key = workspace.read("budget.toml.key");
    for text in &said {
        for secret in [&hash, fingerprint, key.trim(), "ended"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    let mut files = 0;
    for (path, content) in workspace.snapshot() {
        let text = String::from_utf8(content.unwrap_or_default()).unwrap();
        assert!(!text.contains(&hash), "{}", path.display());
        if path.ends_with("run.toml") || path.ends_with("summary.json") {
            files += 1;
            for secret in [fingerprint, "ended"] {
                assert!(!text.contains(secret), "{}: {text}", path.display());
            }
            // Of what was asked, not of what was answered from.
            let hashed = text.split_once("sha256").map(|(_, rest)| rest);
            let hashed = hashed.map(|rest| rest.split_once('}').unwrap().0);
            assert!(
                hashed.is_none_or(|hashed| hashed.matches("\": \"").count() == 1
                    && hashed.contains("\"run.toml\"")),
                "{text}"
            );
        }
    }
    assert_eq!(files, 6);
    let charged = workspace.json("count/summary.json")["charged"].clone();
    assert!(ledger.contains(&format!("time = {charged}")), "{charged}");
}

/// The file is opened once, so that what is hashed is what is counted: a pipe has nothing to read
/// the second time.
#[cfg(unix)]
#[test]
fn the_data_are_opened_once() {
    let workspace = with_budget("--epsilon 9 --delta 0.5");
    for line in [
        count("--out run"),
        "outliers budget --ledger other.toml --data d.csv --epsilon 1".to_owned(),
    ] {
        let (from, to) = (workspace.path("d.csv"), workspace.path("pipe"));
        let made = std::process::Command::new("mkfifo").arg(&to).status();
        assert!(made.unwrap().success());
        let writer = std::thread::spawn(move || std::fs::copy(from, to).unwrap());
        workspace.line(&line.replace("d.csv", "pipe")).exits(0);
        writer.join().unwrap();
        std::fs::remove_file(workspace.path("pipe")).unwrap();
    }
}

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
            "the true count is",
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
        .says(&["noisy count of outliers", "The noise has a standard deviation of at least"]);
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
    let figures = |text: &str| text.split("Left in").next().map(str::to_owned);
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
    // 20.
    let answers: Vec<Value> = (0..4)
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
        .says(&["1. ", "2. ", "% confidence", "Chosen among 2 subspaces"]);
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

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let workspace = with_budget("--epsilon 1 --delta 0.05");
    for (from, to, needle) in [
        ("--k 3", "--k 65", "k = 65 does not fit 65 records"),
        ("--k 3", "--k 0", "--k is 0"),
        ("--radius 0.5", "--radius 0", "--radius is 0"),
        ("--radius 0.5", "--radius -1", "--radius is -1"),
        ("--radius 0.5", "--radius NaN", "a number is expected"),
        ("--radius 0.5", "--radius 1e-9", "too small"),
        ("--delta 0.01", "--delta 0", "--delta is 0"),
        ("--delta 0.01", "--delta 1", "--delta is 1"),
        ("--delta 0.01", "--delta -0.1", "--delta is -0.1"),
        ("--epsilon 0.5", "--epsilon 0", "--epsilon is 0"),
        ("--epsilon 0.5", "--epsilon -1", "--epsilon is -1"),
        ("--epsilon 0.5", "--epsilon inf", "a number is expected"),
        (
            "--columns x,y",
            "--columns x,y,z",
            "declared for the columns x, y, and not for 'z'",
        ),
        (
            "--columns x,y",
            "--columns x",
            "has a range in --range, but is not among",
        ),
        ("--columns x,y", "--columns x,y,x", "is named twice"),
        ("x=0,10,1", "x=10,0,1", "10 to 0, is none"),
        (
            "x=0,10,1",
            "x=-1.7e308,1.7e308,1",
            "-1.7e308 to 1.7e308, is none",
        ),
        ("x=0,10,1", "x=0,10,0", "unit of column 'x'"),
        ("x=0,10,1", "x=0", "a declaration such as"),
    ] {
        let line = count("");
        assert!(line.contains(from));
        refuses(&workspace, &line.replacen(from, to, 1), 2, &[needle]);
    }
    refuses(
        &workspace,
        &format!("outliers count --data d.csv --columns x,y {QUERY}"),
        2,
        &["'x'", "--range", "--schema", "give records away"],
    );
}

/// Nobody has paid for what stands in a cell, in which line, or in the first line of a file without
/// a header. The owner is told.
#[test]
fn a_refusal_says_nothing_of_the_records() {
    let workspace = with_budget("--epsilon 1 --delta 0.05");
    let text = workspace.read("d.csv");
    let concealed = |line: &str, needles: &[&str]| {
        let outcome = refuses(&workspace, line, 2, needles);
        for secret in [
            " line ",
            " row ",
            "inlier",
            "HIV",
            "x, y, name",
            "fields",
            "6.7",
        ] {
            assert!(!outcome.stderr.contains(secret), "{secret}: {outcome:?}");
        }
    };
    let line = |columns: &str, ranges: &str| {
        format!("outliers count --data d.csv --columns {columns} {ranges} {QUERY}")
    };
    let owner = |columns: &str, ranges: &str, needles: &[&str]| {
        refuses(
            &workspace,
            &format!("outliers exact --data d.csv --columns {columns} {ranges} --radius 0.5 --k 3"),
            2,
            needles,
        );
    };
    let words = ("x,name", "--range x=0,10 --range name=0,1");
    let undeclared =
        |column: &str| format!("declared for the columns x, y, and not for '{column}'");
    workspace.write(
        "s.toml",
        "name = \"s\"\n[label]\nname = \"x\"\nclasses = [\"0\", \"1\"]\n\
         [[attribute]]\nname = \"name\"\nkind = \"categorical\"\nlevels = [\"low\", \"high\"]\nordered = true\n",
    );
    concealed(&line(words.0, words.1), &[&undeclared("name")]);
    owner(
        words.0,
        words.1,
        &[
            "d.csv, line 2, column 'name'",
            "'inlier' is not a finite number",
        ],
    );
    concealed(&line("q", "--range q=0,1"), &[&undeclared("q")]);
    owner("q", "--range q=0,1", &["no column 'q'", "x, y, name"]);
    concealed(&line("name", "--schema s.toml"), &[&undeclared("name")]);
    owner("name", "--schema s.toml", &["'inlier' is not a level"]);
    // Another file than that of the budget may not be readable.
    let other = [
        "d.csv cannot be read as the table of the budget",
        "outliers exact",
    ];
    for bad in ["NaN", "inf", "", "HIV"] {
        workspace.write(
            "d.csv",
            text.replacen("1,1,inlier", &format!("1,{bad},inlier"), 1),
        );
        concealed(&count(""), &other);
        owner(
            "x,y",
            "--range x=0,10 --range y=0,10",
            &["d.csv, line 2, column 'y'"],
        );
    }
    workspace.write("d.csv", "x,y,name\n1,6.7\n");
    concealed(&count(""), &other);
    owner(
        "x,y",
        "--range x=0,10 --range y=0,10",
        &["line 2", "2 fields where 3"],
    );
    workspace.write("d.csv", "6.7,HIV,x\n1,2,3\n");
    concealed(&count(""), &other);
    workspace.write("d.csv", b"x,y,name\n1,\xff\xfe,a\n");
    concealed(&count(""), &other);
    workspace.write("d.csv", "x,y,name\n");
    concealed(&count(""), &other);
    concealed(&count("").replace("d.csv", "gone.csv"), &["gone.csv"]);
}

/// Levels, comments, quotes and separators decide which cells are valid and how many records there
/// are. Who asks may not choose them: each choice would be a free question to single records. The
/// refusals below come before the table is opened, so that they are the same without one.
#[test]
fn how_the_table_is_read_is_no_question() {
    let schema = |levels: &str, format: &str| {
        format!(
            "name = \"s\"\n[format]\n{format}\n[label]\nname = \"y\"\nclasses = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"age\"\nkind = \"categorical\"\nlevels = [{levels}]\nordered = true\n"
        )
    };
    let workspace = Workspace::new();
    let ages: String = (0..40)
        .map(|at| format!("v{},\"{}\"\n", 40 + at % 6, at % 2))
        .collect();
    workspace.write("d.csv", format!("age,y\n{ages}"));
    let all = "\"v40\", \"v41\", \"v42\", \"v43\", \"v44\", \"v45\", \"v46\"";
    workspace.write("s.toml", schema(all, ""));
    // Whether there is a v46 decides this; whoever is not the owner cannot ask it.
    workspace.write("without.toml", schema(&all.replace(", \"v46\"", ""), ""));
    workspace.write("absent.toml", schema(&all.replace("\"v43\", ", ""), ""));
    for (name, format) in [
        ("comment", "comment = \"4\""),
        ("quote", "quote = \"4\""),
        ("header", "header = false\ncolumns = [\"age\", \"y\"]"),
        ("separator", "separator = \"4\""),
    ] {
        workspace.write(&format!("{name}.toml"), schema(all, format));
    }
    workspace.write("skips.toml", schema(all, "skip_bad_rows = true"));
    let declare = |rest: &str| {
        format!("outliers budget --ledger {rest} --data d.csv --epsilon 9 --delta 0.5")
    };
    workspace
        .line(&declare("budget.toml --schema s.toml"))
        .exits(0)
        .says(&["there are 40 records, in which these columns are numeric throughout: age, y."]);
    let ledger = workspace.read("budget.toml");
    let ask = |rest: &str| {
        format!("outliers count --data d.csv --columns age --radius 0.2 {QUERY} {rest}")
            .replace("--radius 0.5", "")
    };
    let (levels, layout) = ("the levels of the column 'age' are not", "the layout");
    for (rest, needle) in [
        ("--schema without.toml", levels),
        ("--schema absent.toml", levels),
        ("--schema comment.toml", layout),
        ("--schema quote.toml", layout),
        ("--schema header.toml", layout),
        ("--schema separator.toml", layout),
        ("--schema skips.toml", "skip_bad_rows"),
        ("--range age=40,46 --separator 4", layout),
        ("--range age=40,46 --names age,y", layout),
        ("--range age=0,6", "holds words (v40 … v46)"),
        ("--schema s.toml --range age=0,6", "holds words (v40 … v46)"),
    ] {
        let refused = refuses(&workspace, &ask(rest), 2, &[needle]);
        let blind = ask(rest).replace("--data d.csv", "--data gone.csv");
        let blind = refuses(&workspace, &blind, 2, &[needle]);
        assert_eq!(refused.stderr, blind.stderr);
    }
    let blind = ask("--schema s.toml")
        .replace("--data d.csv", "--data gone.csv")
        .replace("--k 3", "--k 40");
    refuses(&workspace, &blind, 2, &["k = 40 does not fit 40 records"]);
    assert_eq!(workspace.read("budget.toml"), ledger);
    // As it was declared.
    let summary = workspace.line(&ask("--schema s.toml --json")).exits(0);
    assert_eq!(summary.json()["rows"], 40);
    // The owner may declare less, and what cannot be declared is refused.
    workspace
        .line(&declare("narrow.toml --columns y"))
        .exits(0)
        .says(&["throughout: y."]);
    refuses(
        &workspace,
        &declare("a.toml --schema skips.toml"),
        2,
        &["skip_bad_rows"],
    );
    refuses(
        &workspace,
        &declare("a.toml --separator ;"),
        2,
        &["nothing to ask for"],
    );
    refuses(
        &workspace,
        &declare("a.toml --schema absent.toml --columns age"),
        2,
        &["d.csv, line 5", "'v43' is not a level"],
    );
}

#[test]
fn ledgers_that_do_not_fit_are_refused() {
    let workspace = workspace();
    refuses(
        &workspace,
        &count(""),
        2,
        &["no ledger", "budget.toml", "probity outliers budget"],
    );
    refuses(
        &workspace,
        "outliers budget --ledger budget.toml",
        2,
        &["no ledger", "budget.toml"],
    );
    let declare = |rest: &str| format!("outliers budget --ledger budget.toml --data d.csv {rest}");
    for (rest, needle) in [
        (
            "--epsilon 0",
            "'--epsilon <NUMBER>': a number from 1e-9 to 1000000 is expected",
        ),
        ("--epsilon 1 --delta 1", "--delta"),
        ("--epsilon 1 --delta 0.1 --slack 0.2", "slack of 0.2"),
        ("", "--epsilon"),
    ] {
        refuses(&workspace, &declare(rest), 2, &[needle]);
    }
    workspace
        .line(&declare("--epsilon 1 --delta 0.05"))
        .exits(0);
    workspace
        .line(&declare("--epsilon 9"))
        .exits(2)
        .complains(&["exists already"]);
    let text = workspace.read("d.csv");
    workspace.write("d.csv", format!("{text}5,5,late\n"));
    workspace
        .line(&count(""))
        .exits(2)
        .complains(&["another data set"]);
    workspace.write("d.csv", text);
    workspace.edit("budget.toml", "epsilon = 1.0", "epsilon = 2.0");
    workspace
        .line(&count(""))
        .exits(2)
        .complains(&["not a ledger that can be trusted"]);
    workspace.write("budget.toml", "nonsense");
    workspace
        .line(&count(""))
        .exits(2)
        .complains(&["budget.toml"]);
}

/// Eight processes at once spend a budget for three: three answer, five are refused, and the ledger
/// says so.
#[test]
fn processes_at_the_same_time_do_not_overspend() {
    let workspace = with_budget("--epsilon 1.5 --delta 0.5 --slack 0");
    let children: Vec<_> = (0..8)
        .map(|_| workspace.prepared(&count("")).spawn().unwrap())
        .collect();
    let codes: Vec<Option<i32>> = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap().status.code())
        .collect();
    let answered = codes.iter().filter(|code| **code == Some(0)).count();
    let refused = codes.iter().filter(|code| **code == Some(2)).count();
    assert_eq!((answered, refused), (3, 5), "{codes:?}");
    assert_eq!(
        workspace.read("budget.toml").matches("[[query]]").count(),
        3
    );
}

/// Whether a query with a work limit is refused depends on nothing in the records, and it is not
/// charged then; where it is not refused, it answers.
#[test]
fn a_work_limit_refuses_all_records_alike_or_none() {
    let workspace = workspace();
    let crowded: String = (0..12).map(|_| "1,1,1\n").collect();
    let spread: String = (0..12)
        .map(|at| format!("{},{},{}\n", at % 7, at % 5, at % 3))
        .collect();
    for (name, records) in [("crowded", crowded), ("spread", spread)] {
        workspace.write(&format!("{name}.csv"), format!("x,y,z\n{records}"));
        workspace
            .line(&format!(
                "outliers budget --ledger {name}.toml --data {name}.csv --epsilon 9 --delta 0.5"
            ))
            .exits(0);
        let line = |rest: &str| {
            format!(
                "outliers count --data {name}.csv --columns x,y,z --range x=0,10,1 --range y=0,10,1 --range z=0,10,1 \
                 --radius 0.5 --k 3 --epsilon 0.5 --delta 0.01 --ledger {name}.toml --sensitivity smooth {rest}"
            )
        };
        refuses(
            &workspace,
            &line("--bound exact --work-limit 100000"),
            2,
            &[
                "12 records in 3 dimensions",
                "work_limit of 100000",
                "cover",
            ],
        );
        for (rest, method) in [
            ("--work-limit 1", "cover"),
            ("--work-limit 100000", "cover"),
            ("--bound exact", "branch_and_bound"),
            ("", "branch_and_bound"),
        ] {
            let summary = workspace
                .line(&line(&format!("{rest} --json")))
                .exits(0)
                .json();
            assert_eq!(summary["method"], method, "{name}: {rest}");
        }
    }
}

/// Distances are in the units of the values, whatever kind of attribute a schema makes of them.
#[test]
fn levels_that_are_numbers_are_these_numbers() {
    let workspace = Workspace::new();
    let rows = (0..90).fold("hours,size,town,code\n".to_owned(), |mut text, at| {
        let size = ["small", "middle", "large"][at % 3];
        let town = ["Ulm", "Bonn"][at % 2];
        writeln!(
            text,
            "{}.0,{size},{town},{}",
            6 * (at % 10),
            10 + 7 * (at % 2)
        )
        .unwrap();
        text
    });
    workspace.write("d.csv", rows);
    let category = |name: &str, levels: &str, ordered: bool| {
        format!(
            "[[attribute]]\nname = \"{name}\"\nkind = \"categorical\"\nlevels = [{levels}]\nordered = {ordered}\n"
        )
    };
    let schema = format!(
        "name = \"s\"\n[format]\nignore_other_columns = true\n[label]\nname = \"label\"\nclasses = [\"0\", \"1\"]\n{}{}{}{}",
        category(
            "hours",
            "\"0\", \"6\", \"12\", \"18\", \"24\", \"30\", \"36\", \"42\", \"48\", \"54\"",
            true
        ),
        category("size", "\"small\", \"middle\", \"large\"", true),
        category("town", "\"Bonn\", \"Ulm\"", false),
        category("code", "\"10\", \"17\"", false),
    );
    workspace.write("s.toml", schema);
    let declare = "outliers budget --data d.csv --epsilon 9 --delta 0.5 --ledger";
    workspace
        .line(&format!("{declare} budget.toml --schema s.toml"))
        .exits(0)
        .says(&["numeric throughout: hours, size."]);
    workspace
        .line(&format!("{declare} plain.toml"))
        .exits(0)
        .says(&["numeric throughout: hours, code."]);
    for column in ["town", "code"] {
        refuses(
            &workspace,
            &format!("{declare} no.toml --schema s.toml --columns hours,{column}"),
            2,
            &["unordered category"],
        );
    }
    // Six units apart: within a radius of 5 there are the others of the same value alone.
    let exact = |options: &str| {
        let line = format!("outliers exact --data d.csv --columns hours --k 10 --json {options}");
        workspace.line(&line).exits(0).json()["count"].clone()
    };
    for (radius, outliers) in [("5", 90), ("7", 0)] {
        for schema in ["", "--schema s.toml"] {
            let options = format!("--range hours=0,60,1 --radius {radius} {schema}");
            assert_eq!(exact(&options), outliers, "{options}");
        }
    }
    // The range of the schema is 54 wide, in hours as well.
    assert_eq!(exact("--schema s.toml --radius 0.12"), 0);
    assert_eq!(exact("--schema s.toml --radius 0.10"), 90);

    // What is asked for, and refused, before anything is opened or paid for.
    let ledger = workspace.read("budget.toml");
    let ask = |columns: &str, rest: &str| {
        format!("outliers count --data gone.csv --columns {columns} {QUERY} {rest}")
    };
    for (columns, rest, needle) in [
        (
            "size",
            "--range size=0,2",
            "'size' holds words (small … large)",
        ),
        (
            "size",
            "--range size=0,2 --schema s.toml",
            "'size' holds words",
        ),
        (
            "town",
            "--range town=0,1",
            "'town' is an unordered category",
        ),
        ("town", "--schema s.toml", "'town' is an unordered category"),
        (
            "code",
            "--range code=0,20",
            "'code' is an unordered category",
        ),
        (
            "code",
            "--range code=0,20 --ledger plain.toml --schema s.toml",
            "'code' is an unordered category",
        ),
        (
            "hours",
            "--range hours=0,60 --range hours=0,1",
            "'hours' has two ranges",
        ),
    ] {
        let mut line = ask(columns, rest);
        if rest.contains("plain.toml") {
            line = line.replace("--ledger budget.toml", "");
        }
        refuses(&workspace, &line, 2, &[needle]);
        let subspaces = line
            .replace("outliers count", "outliers subspaces --dims 1 --top 1")
            .replace("--delta 0.01", "");
        refuses(&workspace, &subspaces, 2, &[needle]);
    }
    assert_eq!(workspace.read("budget.toml"), ledger);
    for (columns, rest) in [
        ("hours", "--range hours=0,60,17"),
        ("hours,size", "--schema s.toml"),
        ("hours,size", "--schema s.toml --range hours=0,60"),
    ] {
        let line = ask(columns, rest).replace("gone.csv", "d.csv");
        workspace.line(&line).exits(0);
    }
}

/// What was paid for is said, also where it cannot be written.
#[cfg(unix)]
#[test]
fn a_paid_answer_is_printed_whatever_becomes_of_its_files() {
    let workspace = with_budget("--epsilon 4 --delta 0.2");
    let subspaces = format!(
        "outliers subspaces --data d.csv {COLUMNS} --dims 1 --top 1 --radius 0.5 --k 3 --epsilon 0.5 --ledger budget.toml"
    );
    for (line, says, out) in [
        (count(""), "noisy count of outliers", "o"),
        (subspaces, "Chosen among 2 subspaces", "p"),
    ] {
        let before = workspace.read("budget.toml").matches("[[query]]").count();
        // The query says that it waits for the ledger's lock, when it has made its directory.
        let lock = std::fs::File::create(workspace.path("budget.toml.lock")).unwrap();
        lock.lock().unwrap();
        let mut child = workspace
            .prepared(&format!("{line} --out {out}"))
            .spawn()
            .unwrap();
        let mut remarks = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("waiting for it") {
            assert_ne!(remarks.read_line(&mut said).unwrap(), 0, "{said}");
        }
        std::fs::remove_dir_all(workspace.path(out)).unwrap();
        workspace.write(out, "in the way");
        lock.unlock().unwrap();
        remarks.read_to_string(&mut said).unwrap();
        let ended = child.wait_with_output().unwrap();
        let text = String::from_utf8(ended.stdout).unwrap();
        assert!(text.contains(says), "{text}");
        assert_eq!(ended.status.code(), Some(2));
        assert!(said.contains("error: "), "{said}");
        let after = workspace.read("budget.toml").matches("[[query]]").count();
        assert_eq!(after, before + 1);
    }
}

#[test]
fn a_schema_declares_ranges() {
    let workspace = workspace();
    workspace.write(
        "s.toml",
        "name = \"s\"\n[format]\nignore_other_columns = true\n[label]\nname = \"name\"\nclasses = [\"inlier\", \"outlier\"]\n\
         [[attribute]]\nname = \"x\"\nkind = \"numeric\"\nbins = [0.0, 5.0, 10.0]\n\
         [[attribute]]\nname = \"y\"\nkind = \"integer\"\nmin = 0\nmax = 10\n\
         [[attribute]]\nname = \"c\"\nkind = \"categorical\"\nlevels = [\"a\", \"b\"]\n",
    );
    let line = |columns: &str| {
        format!(
            "outliers exact --data d.csv --schema s.toml --columns {columns} --radius 0.05 --k 3"
        )
    };
    // The unit is the width of a range: 0.05 of 10 is the 0.5 of the other tests.
    workspace
        .line(&line("x,y"))
        .exits(0)
        .says(&["5 of 65 records"]);
    refuses(
        &workspace,
        &line("x,c"),
        2,
        &["'c' is an unordered category"],
    );
    refuses(
        &workspace,
        &line("x,q"),
        2,
        &["nothing is declared about the column 'q'"],
    );
}
