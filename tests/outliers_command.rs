//! `probity outliers` end to end: what it prints, what it charges, and what it refuses.

mod probity_command;

use std::fmt::Write;

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
        "outliers, with noise in x × y",
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
    for line in [
        "kind = \"outliers count\"",
        "radius = 0.5",
        "[record.sha256]",
    ] {
        assert!(run.contains(line), "{line}: {run}");
    }
    // Declarations and the hash of the file, as ever; nothing else that the records have a say in.
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
    workspace.line(&count("--calibration theorem")).exits(0);
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
            "smooth bound by cover",
            "An exact method gives",
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
    assert!(noise["sensitivity"].as_f64() >= noise["least_sensitivity"].as_f64());
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
            "nothing is declared about the column 'z'",
        ),
        (
            "--columns x,y",
            "--columns x",
            "has a range in table.ranges, but is not among columns",
        ),
        ("--columns x,y", "--columns x,y,x", "is named twice"),
        ("x=0,10,1", "x=10,0,1", "encloses nothing"),
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
        &["'x'", "table.ranges", "give records away"],
    );
}

#[test]
fn data_that_are_no_numbers_are_refused() {
    let workspace = with_budget("--epsilon 1 --delta 0.05");
    let line = |columns: &str, ranges: &str| {
        format!("outliers count --data d.csv --columns {columns} {ranges} {QUERY}")
    };
    refuses(
        &workspace,
        &line("x,name", "--range x=0,10 --range name=0,1"),
        2,
        &[
            "d.csv, line 2, column 'name'",
            "'inlier' is not a finite number",
        ],
    );
    refuses(
        &workspace,
        &line("q", "--range q=0,1"),
        2,
        &["no column 'q'", "x, y, name"],
    );
    let text = workspace.read("d.csv");
    for bad in ["NaN", "inf", ""] {
        workspace.write(
            "d.csv",
            text.replacen("1,1,inlier", &format!("1,{bad},inlier"), 1),
        );
        refuses(
            &workspace,
            &count(""),
            2,
            &["d.csv, line 2, column 'y'", "finite number"],
        );
    }
    workspace.write("d.csv", "x,y,name\n");
    refuses(&workspace, &count(""), 2, &["d.csv holds no rows"]);
    workspace.write("d.csv", "x,y,name\n1,2\n");
    refuses(&workspace, &count(""), 2, &["2 fields where 3"]);
    refuses(
        &workspace,
        &count("").replace("d.csv", "gone.csv"),
        2,
        &["gone.csv"],
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
        ("--epsilon 0", "epsilon 0"),
        ("--epsilon 1 --delta 1", "delta 1"),
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
    workspace.edit("budget.toml", "charged = 0", "charged = 1");
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

/// What happens after the entry does not give the price back: here the work limit ends the query.
#[test]
fn a_refusal_that_depends_on_the_records_stays_charged() {
    let workspace = workspace();
    let mut text = "x,y,z\n".to_owned();
    for at in 0..40 {
        writeln!(text, "{},{},{}", at % 7, at % 5, at % 3).unwrap();
    }
    workspace.write("d.csv", text);
    workspace
        .line("outliers budget --ledger budget.toml --data d.csv --epsilon 1 --delta 0.05")
        .exits(0);
    workspace
        .line(&format!(
            "outliers count --data d.csv --columns x,y,z --range x=0,10,1 --range y=0,10,1 --range z=0,10,1 {QUERY} --work-limit 1"
        ))
        .exits(2)
        .complains(&["work limit of 1", "stays spent"]);
    assert_eq!(
        workspace.read("budget.toml").matches("[[query]]").count(),
        1
    );
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
