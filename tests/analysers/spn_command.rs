//! `probity spn` end to end: what it learns, answers and deletes, and what it refuses.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;

const SCHEMA: &str = r#"
name = "people"
[label]
name = "income"
classes = ["low", "high"]
[[attribute]]
name = "age"
kind = "integer"
min = 0
max = 120
[[attribute]]
name = "height"
kind = "numeric"
bins = [100.0, 150.0, 175.0, 220.0]
[[attribute]]
name = "job"
kind = "categorical"
levels = ["none", "farmer", "clerk"]
"#;

/// 120 rows of three people a group of ten, with one row that stands out.
fn table() -> String {
    let mut text = String::from("id,age,height,job,income,person\n");
    for row in 0..120u32 {
        let high = row % 3 == 0;
        let age = if high { 50 + row % 11 } else { 20 + row % 7 };
        let height = 150.0 + f64::from(row * 7 % 40) + f64::from(row) / 1024.0;
        let job = ["none", "farmer", "clerk"][(row % 5 % 3) as usize];
        let income = if high { "high" } else { "low" };
        let (id, person) = (row + 1, row / 10);
        text.push_str(&format!("{id},{age},{height},{job},{income},p{person}\n"));
    }
    text
}

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("people.toml", SCHEMA);
    workspace.write("people.csv", table());
    workspace
}

const FIT: &str = "spn fit --data people.csv --schema people.toml --id-column id --group-column person --min-rows 20";

fn fitted() -> Workspace {
    let workspace = workspace();
    workspace
        .line(&format!("{FIT} --out M"))
        .exits(0)
        .says(&["Learnt from 120 rows of 4 columns", "Next:"]);
    workspace
}

fn model(workspace: &Workspace, name: &str) -> Vec<u8> {
    std::fs::read(workspace.path(&format!("{name}/model.spn"))).unwrap()
}

/// What a draft makes of columns with gaps is learnt from: values that are missing are summed out.
#[test]
fn a_draft_of_rows_with_gaps_is_learnt_from() {
    let workspace = Workspace::new();
    let mut text = String::from("age,height,income\n");
    for row in 0..120u32 {
        let age = (row % 6 != 0).then(|| (20 + row % 40).to_string());
        let height = (row % 5 != 0).then(|| format!("{}.5", 150 + row % 50));
        let income = if row % 3 == 0 { "high" } else { "low" };
        let [age, height] = [age, height].map(Option::unwrap_or_default);
        text += &format!("{age},{height},{income}\n");
    }
    workspace.write("gaps.csv", text);
    workspace
        .line("schema infer gaps.csv --label-column income --out gaps.toml")
        .exits(0);
    workspace
        .line("spn fit --data gaps.csv --schema gaps.toml --min-rows 200 --out S")
        .exits(0)
        .says(&["Learnt from 120 rows", "Missing, and summed out: 44 values"]);
    // 40 of 120 have a high income, with one more of each class: 41/122.
    let asked = "spn query probability --model S --ask income=high --json";
    let said = workspace.line(asked).exits(0).json().to_string();
    assert!(said.contains("0.336065"), "{said}");
    workspace
        .line("spn query likelihood --model S --data gaps.csv --out l.csv")
        .exits(0);
    let likelihoods = workspace.read("l.csv").to_lowercase();
    assert!(!likelihoods.contains("nan") && !likelihoods.contains("inf"));
    workspace
        .line("spn delete --model S --ids 1,2,31 --verify")
        .exits(0)
        .says(&["Verified: the same bytes"]);
}

#[test]
fn deletions_in_any_form_end_in_the_model_of_the_remaining_rows() {
    let workspace = fitted();
    for copy in ["one", "file", "group"] {
        workspace.copy_folder("M", copy);
    }
    let ids: Vec<String> = (31..=40).rev().map(|id: u32| id.to_string()).collect();
    for id in &ids {
        workspace
            .line(&format!("spn delete --model one --ids {id} --verify"))
            .exits(0)
            .says(&["Verified: the same bytes"]);
    }
    workspace.write("ids.txt", ids.join("\n"));
    workspace
        .line("spn delete --model file --ids-file ids.txt")
        .exits(0);
    let summary = workspace
        .line("spn delete --model group --group p3 --verify --json")
        .exits(0)
        .json();
    assert_eq!(summary["rows"], 10);
    assert_eq!(summary["remaining_rows"], 110);
    assert_eq!(summary["identical"], true);
    // Learning from a file without the ten rows.
    let kept = |line: &&str| !line.ends_with(",p3");
    let kept: Vec<String> = table().lines().filter(kept).map(str::to_owned).collect();
    workspace.write("kept.csv", kept.join("\n"));
    workspace
        .line(&format!(
            "{} --out anew",
            FIT.replace("people.csv", "kept.csv")
        ))
        .exits(0)
        .says(&["110 rows"]);
    let anew = model(&workspace, "anew");
    for name in ["one", "file", "group"] {
        assert!(model(&workspace, name) == anew, "{name}");
    }
    assert!(model(&workspace, "M") != anew);
}

#[test]
fn a_deletion_is_verified_against_the_original_file() {
    let workspace = fitted();
    workspace.line("spn delete --model M --group p3").exits(0);
    workspace
        .line("spn delete --model M --ids 7 --verify --data people.csv")
        .exits(0)
        .says(&["remaining rows of people.csv"]);
    let before = model(&workspace, "M");
    let lines: Vec<String> = table().lines().map(str::to_owned).collect();
    workspace.write("short.csv", lines[..lines.len() - 1].join("\n"));
    refuses(
        &workspace,
        "spn delete --model M --ids 8 --verify --data short.csv",
        2,
        &["short.csv", "row 120, which the model has, is not there"],
    );
    let mut other = lines.clone();
    other.swap(1, 2);
    // Row 1 and row 2 under each other's ids are other rows.
    for line in &mut other[1..3] {
        let (_, rest) = line.split_once(',').unwrap();
        *line = rest.to_owned();
    }
    other[1] = format!("1,{}", other[1]);
    other[2] = format!("2,{}", other[2]);
    workspace.write("other.csv", other.join("\n"));
    workspace
        .line("spn delete --model M --ids 8 --verify --data other.csv")
        .exits(1)
        .says(&[
            "0 rows deleted",
            "deleting 1 row was undone",
            "NOT EXACT",
            "other.csv",
        ]);
    assert!(before == model(&workspace, "M"));
    refuses(
        &workspace,
        "spn delete --model M --ids 8 --data people.csv",
        2,
        &["--data", "--verify"],
    );
}

#[test]
fn the_model_directory_holds_nothing_of_a_deleted_row() {
    let workspace = Workspace::new();
    workspace.write("people.toml", SCHEMA);
    // A row whose person occurs nowhere else, and whose height has a fixed-point value of its own.
    let mut text = table();
    text.push_str("121,77,163.3271484375,clerk,low,UNIQUEPERSON\n");
    workspace.write("people.csv", text);
    workspace.line(&format!("{FIT} --out M")).exits(0);
    // round((163.3271484375 - 100) / 120 * 2^30), as the variable-length number that the file uses.
    let fixed = ((163.3271484375f64 - 100.0) / 120.0 * f64::from(1 << 30)).round() as u32;
    let mut zigzag = fixed << 1;
    let mut pattern = Vec::new();
    while zigzag >= 0x80 {
        pattern.push((zigzag as u8 & 0x7f) | 0x80);
        zigzag >>= 7;
    }
    pattern.push(zigzag as u8);
    let patterns: [&[u8]; 2] = [b"UNIQUEPERSON", &pattern];
    let found = |pattern: &[u8]| {
        let folder = std::fs::read_dir(workspace.path("M")).unwrap();
        folder
            .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
            .any(|bytes| bytes.windows(pattern.len()).any(|window| window == pattern))
    };
    assert!(patterns.iter().all(|pattern| found(pattern)));
    workspace
        .line("spn delete --model M --ids 121 --verify")
        .exits(0);
    assert!(!patterns.iter().any(|pattern| found(pattern)));
}

#[test]
fn questions_have_consistent_answers() {
    let workspace = fitted();
    let probability = |rest: &str| -> f64 {
        let line = format!("spn query probability --model M {rest} --json");
        let summary = workspace.line(&line).exits(0).json();
        summary["probability"].as_f64().unwrap()
    };
    let high = probability("--ask income=high");
    assert!((high + probability("--ask income=low") - 1.0).abs() < 1e-9);
    let both = probability("--ask income=high,job=clerk");
    let given = probability("--ask income=high --given job=clerk");
    let clerk = probability("--ask job=clerk");
    assert!((both - given * clerk).abs() < 1e-9);
    let old = probability("--ask income=high --given age=55");
    assert!(old > 0.8 && old > high, "{old} {high}");
    workspace
        .line("spn query explain --model M --given income=high")
        .exits(0)
        .says(&["income", "high", "given", "Max-product"]);
    for name in ["a.csv", "b.csv"] {
        workspace
            .line(&format!(
                "spn query sample --model M --given job=clerk --rows 200 --seed 4 --out {name}"
            ))
            .exits(0);
    }
    let drawn = workspace.read("a.csv");
    assert_eq!(drawn, workspace.read("b.csv"));
    assert_eq!(drawn.lines().count(), 201);
    assert!(
        drawn
            .lines()
            .skip(1)
            .all(|line| line.split(',').nth(2) == Some("clerk"))
    );
    let summary = workspace
        .line("spn query classify --model M --data people.csv --target income --out c.csv --json")
        .exits(0)
        .json();
    assert!(summary["accuracy"].as_f64().unwrap() > 0.95, "{summary}");
    assert!(
        workspace
            .read("c.csv")
            .starts_with("row,class,probability\n1,high,")
    );
    // An empty cell is unknown.
    workspace.write("q.csv", "age,job,income\n55,,\n");
    workspace
        .line("spn query classify --model M --data q.csv --target income")
        .exits(0)
        .says(&["1,high,"]);
}

#[test]
fn show_describes_and_draws() {
    let workspace = fitted();
    workspace
        .line("spn show --model M --dot n.dot --svg n.svg")
        .exits(0)
        .says(&["height", "gaussian", "poisson", "categorical", "120 rows"]);
    let dot = workspace.read("n.dot");
    assert!(dot.starts_with("digraph spn {") && dot.contains("shape=box"));
    let svg = workspace.read("n.svg");
    assert!(svg.starts_with("<svg") && svg.contains("mixture of"));
}

#[test]
fn the_benchmark_states_what_it_measured() {
    let workspace = workspace();
    let summary = workspace
        .line("spn bench --data people.csv --schema people.toml --ignore job --id-column id --group-column person --rows 80 --deletions 5 --repeats 2 --json")
        .exits(0)
        .json();
    assert_eq!(summary["identical"], true);
    assert_eq!(summary["variables"], 3);
    assert_eq!(summary["effort"]["rows"], 10);
    assert!(summary["test_log_likelihood"]["mean"].is_f64());
}

#[test]
fn leaves_can_be_chosen() {
    let workspace = workspace();
    workspace
        .line(&format!(
            "{FIT} --leaf age=histogram --leaf height=histogram --out H"
        ))
        .exits(0);
    workspace
        .line("spn show --model H")
        .exits(0)
        .says(&["histogram"]);
    workspace
        .line("spn delete --model H --ids 1,120 --verify")
        .exits(0)
        .says(&["Verified"]);
    workspace
        .line(&format!("{FIT} --independence rdc --clusters 3 --out R"))
        .exits(0);
    workspace
        .line("spn delete --model R --ids 1,120 --verify")
        .exits(0)
        .says(&["Verified"]);
}

#[test]
fn bad_deletions_change_nothing() {
    let workspace = fitted();
    let before = model(&workspace, "M");
    workspace.write("bad.txt", "3\nseven\n");
    let all = (1..=120).map(|id: u32| id.to_string()).collect::<Vec<_>>();
    workspace.write("all.txt", all.join("\n"));
    for (rest, says) in [
        ("--ids 3,121", "there is no row 121 in the model"),
        ("--ids 3,3", "row 3 is named twice"),
        ("--ids 1 --group p0", "row 1 is named twice"),
        (
            "--group p99",
            "no row of the model belongs to the group 'p99'",
        ),
        (
            "--ids-file bad.txt",
            "bad.txt, line 2: 'seven' is no row id",
        ),
        ("--ids-file all.txt", "deleting all 120 rows leaves nothing"),
    ] {
        refuses(
            &workspace,
            &format!("spn delete --model M {rest}"),
            2,
            &[says],
        );
    }
    assert!(before == model(&workspace, "M"));
    workspace.line("spn delete --model M --ids 3").exits(0);
    refuses(&workspace, "spn delete --model M --ids 3", 2, &["no row 3"]);
}

#[test]
fn a_model_that_was_tampered_with_is_refused() {
    let workspace = fitted();
    let mut bytes = model(&workspace, "M");
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    workspace.write("M/model.spn", &bytes);
    for line in ["spn show --model M", "spn delete --model M --ids 1"] {
        refuses(&workspace, line, 2, &["was changed after it was written"]);
    }
    workspace.write("M/model.spn", "something else");
    refuses(
        &workspace,
        "spn show --model M",
        2,
        &["it is no sum-product network"],
    );
    refuses(
        &workspace,
        "spn show --model none",
        2,
        &["cannot read none"],
    );
}

#[test]
fn bad_tables_and_options_are_refused() {
    let workspace = workspace();
    let header = "id,age,height,job,income,person\n1,";
    for (name, rows, says) in [
        (
            "high.csv",
            "121,160,none,low,a\n",
            "'121' is not a whole number from 0 to 120",
        ),
        (
            "tall.csv",
            "40,221,none,low,a\n",
            "'221' is not a number from 100 to 220",
        ),
        (
            "word.csv",
            "40,160,king,low,a\n",
            "'king' is not one of none, farmer, clerk",
        ),
        (
            "class.csv",
            "40,160,none,middle,a\n",
            "'middle' is not one of the classes",
        ),
    ] {
        workspace.write(name, format!("{header}{rows}"));
        let line = FIT.replace("people.csv", name);
        refuses(&workspace, &format!("{line} --out X"), 2, &[says]);
    }
    workspace.write("empty.csv", "id,age,height,job,income,person\n");
    let line = FIT.replace("people.csv", "empty.csv");
    refuses(
        &workspace,
        &format!("{line} --out X"),
        2,
        &["holds no rows"],
    );
    workspace.write(
        "twice.csv",
        "id,age,height,job,income\n5,1,160,none,low\n5,2,160,none,low\n",
    );
    let twice = "spn fit --data twice.csv --schema people.toml --id-column id --out X";
    refuses(&workspace, twice, 2, &["two rows have the id 5"]);
    for (rest, says) in [
        ("--threshold 0", "--threshold is 0, but must be above 0"),
        ("--clusters 1", "--clusters is 1, but must be from 2 to 16"),
        (
            "--min-rows 0",
            "--min-rows is 0, but must be from 1 to 4294967295",
        ),
        ("--bins 1", "--bins is 1, but must be from 2 to 64"),
        (
            "--smoothing=-1",
            "--smoothing is -1, but must be from 0 to 1000000000",
        ),
        (
            "--leaf job=gaussian",
            "column 'job' cannot have gaussian leaves",
        ),
        (
            "--leaf height=poisson",
            "column 'height' cannot have poisson leaves",
        ),
        ("--leaf size=gaussian", "--leaf names the column 'size'"),
        ("--ignore size", "--ignore names the column 'size'"),
    ] {
        let line = FIT.replace(" --min-rows 20", "");
        refuses(&workspace, &format!("{line} {rest} --out X"), 2, &[says]);
    }
    let line = FIT.replace("--id-column id", "--id-column size");
    refuses(
        &workspace,
        &line,
        2,
        &["--id-column names the column 'size'"],
    );
    workspace.line(&format!("{FIT} --out M")).exits(0);
    for (rest, says) in [
        (
            "probability --model M --ask size=1",
            "there is no column 'size'",
        ),
        (
            "probability --model M --ask age=200",
            "'200' for column 'age' is not a whole number",
        ),
        (
            "probability --model M --ask age",
            "is not of the form COLUMN=VALUE",
        ),
        (
            "classify --model M --data people.csv --target age",
            "'age' is not categorical",
        ),
    ] {
        refuses(&workspace, &format!("spn query {rest}"), 2, &[says]);
    }
}

#[test]
fn a_constant_column_and_a_single_row_can_be_learnt() {
    let workspace = workspace();
    let rows: String = (1..=60)
        .map(|row| format!("{row},40,{},none,low,a\n", 150 + row))
        .collect();
    let header = "id,age,height,job,income,person\n";
    workspace.write("constant.csv", format!("{header}{rows}"));
    let line = FIT.replace("people.csv", "constant.csv");
    workspace.line(&format!("{line} --out C")).exits(0);
    workspace
        .line("spn delete --model C --ids 2,3,60 --verify")
        .exits(0)
        .says(&["Verified"]);
    workspace.write("single.csv", format!("{header}1,40,150,none,low,a\n"));
    let line = FIT.replace("people.csv", "single.csv");
    workspace.line(&format!("{line} --out S")).exits(0);
    refuses(
        &workspace,
        "spn delete --model S --ids 1",
        2,
        &["leaves nothing to learn from"],
    );
}
