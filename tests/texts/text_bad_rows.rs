//! Tables of texts with rows that lack a text or a label: refused, or left out and counted, while
//! all others keep their numbers.

use std::io::Read;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use serde_json::Value;

/// Rows that are put before all others.
const BAD: u64 = 7;

/// Comments, once as they are and once with bad rows before them.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace
        .line("data generate comments --rows 300 --out comments.csv")
        .exits(0);
    let comments = workspace.read("comments.csv");
    let (header, rows) = comments.split_once('\n').unwrap();
    let blank = ",".repeat(header.split(',').count() - 1);
    let bad = format!("{blank}\n").repeat(BAD as usize);
    workspace.write("gaps.csv", format!("{header}\n{bad}{rows}"));
    workspace
}

const TRAIN: &str =
    "train --text-column comment_text --label-column toxic --layers 1 --units 4 --epochs 1";
const TEXTS: &str = "--text-column comment_text --protected gender";

/// The figures of a summary that do not tell of the file.
fn same(summary: &Value, keys: &[&str]) -> Vec<Value> {
    keys.iter().map(|key| summary[key].clone()).collect()
}

#[test]
fn bad_rows_of_texts_are_left_out_and_counted_and_the_others_keep_their_numbers() {
    let workspace = workspace();
    refuses(
        &workspace,
        &format!("{TRAIN} --texts gaps.csv --out never"),
        2,
        &[
            "gaps.csv, line 2",
            "nothing in the column",
            "; --skip-bad-rows",
        ],
    );
    let said = "7 bad rows were left out: 7 because";
    workspace
        .line(&format!("{TRAIN} --texts comments.csv --out plain"))
        .exits(0);
    workspace
        .line(&format!(
            "{TRAIN} --texts gaps.csv --skip-bad-rows --out skipping"
        ))
        .exits(0)
        .says(&[said]);
    let [plain, skipping] = ["plain", "skipping"].map(|run| workspace.summary(run));
    let keys = ["model_sha256", "quality", "history"];
    assert_eq!(same(&plain, &keys), same(&skipping, &keys));
    assert_eq!(skipping["data"]["bad_rows"]["rows"], BAD);
    assert_eq!(
        skipping["data"]["bad_rows"]["reasons"][0]["first"][0],
        "line 2"
    );
    assert!(plain["data"].get("bad_rows").is_none());

    let audit = |texts: &str, rest: &str| {
        let line = format!(
            "audit --model plain --texts {texts} {TEXTS} --seeds 20 --local 2 --samples csv"
        );
        workspace.line(&format!("{line} {rest}")).exits(0)
    };
    audit("comments.csv", "--out a");
    audit("gaps.csv", "--skip-bad-rows --out b").says(&["7 bad rows were left out"]);
    assert_eq!(workspace.summary("b")["texts"]["bad_rows"]["rows"], BAD);
    let rows = |run: &str| {
        let mut samples =
            csv::Reader::from_path(workspace.path(&format!("{run}/samples.csv"))).unwrap();
        let column = samples
            .headers()
            .unwrap()
            .iter()
            .position(|name| name == "source_row");
        let rows = samples
            .records()
            .map(|row| row.unwrap()[column.unwrap()].parse::<u64>().unwrap());
        rows.collect::<Vec<u64>>()
    };
    let shifted: Vec<u64> = rows("a").iter().map(|row| row + BAD).collect();
    assert_eq!(rows("b"), shifted);

    workspace
        .line(&format!(
            "certify --model plain --texts comments.csv {TEXTS} --out c"
        ))
        .exits(0);
    workspace
        .line(&format!(
            "certify --model plain --texts gaps.csv {TEXTS} --skip-bad-rows --out d"
        ))
        .exits(0)
        .says(&["7 bad rows were left out"]);
    let numbers = |run: &str, by: u64| -> Vec<u64> {
        let file = workspace.read(&format!("{run}/certificates.csv"));
        let number = |line: &str| line.split(',').nth(1).unwrap().parse::<u64>().unwrap() + by;
        file.lines().skip(1).map(number).collect()
    };
    assert_eq!(numbers("c", BAD), numbers("d", 0));

    predictions_and_groups_keep_them_too(&workspace, said);
    workspace
        .line("lexicon check --texts gaps.csv --text-column comment_text --skip-bad-rows --protected gender")
        .exits(0)
        .says(&[said, "of 300 texts"]);
    workspace
        .line("embeddings train gaps.csv --text-column comment_text --skip-bad-rows --min-count 2 --epochs 1 --width 4 --out v.txt")
        .exits(0)
        .says(&[said, "in 300 texts"]);
}

/// The figures and predictions of the rows that are kept, with the numbers that they have in the
/// file.
fn predictions_and_groups_keep_them_too(workspace: &Workspace, said: &str) {
    for (file, skip, out) in [
        ("comments.csv", "", "plain.csv"),
        ("gaps.csv", "--skip-bad-rows", "gaps-out.csv"),
    ] {
        let predict = "predict --model plain --text-column comment_text";
        let done = workspace
            .line(&format!("{predict} --texts {file} {skip} --out {out}"))
            .exits(0);
        if !skip.is_empty() {
            done.says(&[said]);
        }
    }
    workspace
        .line(
            "predict --model plain --text-column comment_text --texts comments.csv --out p.csv.gz",
        )
        .exits(0);
    let packed = std::fs::File::open(workspace.path("p.csv.gz")).unwrap();
    let mut unpacked = String::new();
    probity::data::compressed::decompress(std::io::BufReader::new(packed))
        .unwrap()
        .read_to_string(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, workspace.read("plain.csv"));
    let rows = |file: &str, shift: u64| -> Vec<(u64, String)> {
        let mut reader = csv::Reader::from_path(workspace.path(file)).unwrap();
        let rows = reader.records().map(|row| {
            let row = row.unwrap();
            let number = row[0].parse::<u64>().unwrap() + shift;
            (number, row.iter().skip(1).collect::<Vec<_>>().join("|"))
        });
        rows.collect()
    };
    assert_eq!(rows("plain.csv", BAD), rows("gaps-out.csv", 0));

    let labelled = "--model plain --text-column comment_text --label-column toxic --json";
    let json = |line: &str| workspace.line(line).exits(0).json();
    for (command, keys) in [
        ("evaluate", ["accuracy", "log_loss", "confusion"]),
        ("groups --protected gender", ["auc", "bias", "attributes"]),
    ] {
        let run =
            |file: &str, rest: &str| json(&format!("{command} {labelled} --texts {file} {rest}"));
        let (plain, skipping) = (run("comments.csv", ""), run("gaps.csv", "--skip-bad-rows"));
        assert_eq!(same(&plain, &keys), same(&skipping, &keys), "{command}");
        assert!(!plain[keys[0]].is_null(), "{plain}");
        assert_eq!(skipping["data"]["bad_rows"]["rows"], BAD, "{command}");
        refuses(
            workspace,
            &format!("{command} {labelled} --texts gaps.csv"),
            2,
            &["line 2", "; --skip-bad-rows"],
        );
    }
}
