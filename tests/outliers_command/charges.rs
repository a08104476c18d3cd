//! What a count costs: it is charged before it is printed, once, whoever asks at the same time and
//! whatever becomes of its files.

use std::io::{BufRead, BufReader, Read};

use probity::run::run_directory::file_sha256;

use crate::probity_command::refusal::refuses;
use crate::{COLUMNS, count, with_budget};

#[test]
fn a_count_is_charged_before_it_is_printed() {
    let workspace = with_budget("--epsilon 1 --delta 0.05");
    workspace.line(&count("")).exits(0).says(&[
        "The noisy count of outliers in x × y is",
        "of 65 records",
        "The noise has a standard deviation of at least",
        "has fewer than 3 other records within 0.5",
        "ε 0.5, δ 0.01",
        "Ledger: ",
        "budget.toml",
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
        (subspaces, "Of 2 subspaces of 1 column, 1 was drawn", "p"),
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
