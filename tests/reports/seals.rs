//! What a run was made from, how it was asked for and how a model came about are held against the
//! hashes that were written of them, by whoever reads them.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use probity::privacy::error::PrivacyError;

const REPAIR: &str = "repair --model demo/model --data demo/people.csv --share 0.1 --repeats 2 --estimate 500 --epochs 10 \
                      --save-anyway -q";

fn audit(workspace: &Workspace, options: &str) {
    workspace
        .line(&format!(
            "audit --model demo/model --data demo/people.csv --local 20 --estimate 200 -q {options}"
        ))
        .exits(0);
}

/// Whatever a repair learns from, or by what it deals its parts, is what it began with: when it
/// goes on, and when it is repeated.
#[test]
fn a_repair_goes_on_with_the_audits_and_the_provenance_that_it_began_with() {
    let workspace = Workspace::with_demo(1500);
    audit(&workspace, "--protected sex --seeds 100 --out ra");
    audit(&workspace, "--protected origin --seeds 100 --out rb");
    audit(&workspace, "--protected sex --seeds 60 --out fewer");
    audit(&workspace, "--protected sex,origin --seeds 100 --out other");
    workspace.copy_folder("demo/model", "model");
    let line = REPAIR.replace("demo/model", "model");
    let line = format!("{line} --run ra --run rb");
    workspace
        .interrupted(&format!("{line} --out z"), "checkpoint")
        .exits(2);
    let whole = workspace.line(&format!("{line} --out whole"));
    assert!(matches!(whole.code, Some(0 | 1)), "{}", whole.stderr);
    let recorded = workspace.read("z/run.toml");
    for role in ["audit_1 = ", "audit_2 = ", "provenance = "] {
        assert!(recorded.contains(role), "{recorded}");
    }

    let lines = ["repair --resume --out z", "run whole --out again"];
    let refuse = |what: &str| {
        for line in lines {
            refuses(&workspace, line, 2, &[what, "changed since the run began"]);
        }
    };
    for (mine, another) in [("ra", "fewer"), ("ra", "other"), ("rb", "other")] {
        let kept = format!("{mine}-kept");
        std::fs::rename(workspace.path(mine), workspace.path(&kept)).unwrap();
        workspace.copy_folder(another, mine);
        refuse(&format!("/{mine}"));
        std::fs::remove_dir_all(workspace.path(mine)).unwrap();
        std::fs::rename(workspace.path(&kept), workspace.path(mine)).unwrap();
    }
    let provenance = workspace.read("model/provenance.toml");
    std::fs::remove_file(workspace.path("model/provenance.toml")).unwrap();
    refuse("model/provenance.toml");
    workspace.write("model/provenance.toml", &provenance);

    let resumed = workspace.line("repair --resume --out z -q");
    assert!(matches!(resumed.code, Some(0 | 1)), "{}", resumed.stderr);
    let [went_on, whole] = ["z", "whole"].map(|run| workspace.summary(run));
    assert_eq!(went_on["points"], whole["points"]);
    assert_eq!(went_on["repaired_sha256"], whole["repaired_sha256"]);
}

/// Whoever reads a complete run reads the options that its summary was written beside.
#[test]
fn the_options_of_a_complete_run_are_its_own() {
    let workspace = Workspace::with_demo(1500);
    audit(&workspace, "--protected sex --seeds 60 --out z");
    audit(&workspace, "--protected sex --seeds 60 --seed 2 --out a2");
    workspace
        .line("groups --model demo/model --data demo/people.csv --protected sex --out g -q")
        .exits(0);
    workspace.line("certify --model demo/model --data demo/people.csv --protected sex --out c -q");
    workspace.write(
        "train.csv",
        (0..40).fold("a,b,label\n".to_owned(), |text, row| {
            format!("{text}{},{},{}\n", row, (row * 7) % 11, row % 2)
        }),
    );
    workspace.write("test.csv", "a,b,label\n3,4,1\n8,1,0\n");
    let knn = "knn --train train.csv --test test.csv --label-column label --poison 1 --folds 4 -q";
    workspace.line(&format!("{knn} --out k")).exits(0);
    workspace.line(&format!("{knn} --seed 9 --out k2")).exits(0);

    let repair = format!("{REPAIR} --run z --out never");
    for (run, another, lines) in [
        (
            "z",
            "a2",
            vec!["report z", "run z --out never", "verify z", repair.as_str()],
        ),
        ("k", "k2", vec!["report k", "run k --out never", "verify k"]),
        ("g", "z", vec!["report g", "run g --out never"]),
        ("c", "z", vec!["report c", "run c --out never"]),
    ] {
        let file = format!("{run}/run.toml");
        let own = workspace.read(&file);
        workspace.write(&file, workspace.read(&format!("{another}/run.toml")));
        for line in &lines {
            refuses(&workspace, line, 2, &[&file, "was changed"]);
        }
        std::fs::remove_file(workspace.path(&file)).unwrap();
        for line in &lines {
            refuses(&workspace, line, 2, &[&file]);
        }
        workspace.write(&file, own);
        workspace
            .line(&format!("report {run} --out {run}.html"))
            .exits(0);
    }
}

/// A run that goes on with other options has no summary that would speak of the earlier ones.
#[test]
fn options_that_change_when_a_run_goes_on_leave_no_stale_summary() {
    let workspace = Workspace::with_demo(1500);
    let audit = "audit --model demo/model --data demo/people.csv --protected sex --seeds 500 --local 400 --estimate 200 -q";
    workspace
        .line(&format!("{audit} --time 1ms --out z"))
        .exits(0);
    workspace.line("report z --out first.html").exits(0);
    let before = workspace.read("z/run.toml");
    workspace
        .line("audit --resume --out z --time 5ms -q")
        .exits(0);
    assert_ne!(workspace.read("z/run.toml"), before);
    workspace.line("report z --out second.html").exits(0);
    workspace.line("verify z").exits(0);
    // One that is killed after its new options were written is unfinished.
    let mut child = workspace
        .prepared("audit --resume --out z --time 1h")
        .spawn()
        .unwrap();
    while workspace.read("z/run.toml").contains("time = \"5ms\"") {
        assert!(child.try_wait().unwrap().is_none(), "ended without writing");
    }
    assert!(!workspace.path("z/summary.json").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    workspace
        .line("report z --out third.html")
        .exits(2)
        .complains(&["unfinished"]);
    workspace.line("audit --resume --out z -q").exits(0);
    workspace.line("verify z").exits(0);
}

/// A model is dealt its parts by how it itself was trained.
#[test]
fn provenance_belongs_to_one_model() {
    let workspace = Workspace::with_demo(1500);
    workspace
        .line("train --data demo/people.csv --schema synthetic-census --hidden 8 --epochs 3 --seed 7 --out other -q")
        .exits(0);
    audit(&workspace, "--protected sex --seeds 60 --out ra");
    workspace.copy_folder("demo/model", "model");
    let groups =
        "groups --model model --data demo/people.csv --protected sex --part test --out never";
    let certify =
        "certify --model model --data demo/people.csv --protected sex --part test --out never";
    let repair = REPAIR.replace("demo/model", "model");
    workspace.write(
        "model/provenance.toml",
        workspace.read("other/provenance.toml"),
    );
    for line in [groups, certify, &format!("{repair} --run ra --out never")] {
        let says = ["model/provenance.toml", "belongs to the model of SHA-256"];
        refuses(&workspace, line, 2, &says);
    }
    // Without parts, nothing is dealt.
    workspace
        .line("groups --model model --data demo/people.csv --protected sex --out all")
        .exits(0);

    // A repaired model has its own, and keeps the split.
    let line = REPAIR.replace("--epochs 40", "--epochs 3");
    let repaired = workspace.line(&format!("{line} --run ra --out fairer --json"));
    let hash = repaired.json()["repaired_sha256"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(workspace.read("fairer/provenance.toml").contains(&hash));
    workspace
        .line(&groups.replace("--model model", "--model fairer"))
        .exits(0);
    workspace.write(
        "fairer/provenance.toml",
        workspace.read("demo/model/provenance.toml"),
    );
    refuses(
        &workspace,
        &groups
            .replace("--model model", "--model fairer")
            .replace("never", "nor"),
        2,
        &["fairer/provenance.toml", "belongs to the model of SHA-256"],
    );
}

/// A run without its checkpoint is not called complete when it is not.
#[test]
fn a_stopped_run_without_its_checkpoint_is_not_complete() {
    let workspace = Workspace::with_demo(1500);
    workspace
        .line("audit --model demo/model --data demo/people.csv --protected sex --seeds 50 --local 40 --time 1ns --out z -q")
        .exits(0);
    std::fs::remove_file(workspace.path("z/checkpoint.bin")).unwrap();
    let says = ["z was stopped before its end", "start a new run"];
    refuses(&workspace, "audit --resume --out z", 2, &says);
    workspace
        .interrupted(
            "train --data demo/people.csv --schema synthetic-census --hidden 16,8 --epochs 5 --out m",
            "round:2",
        )
        .exits(0);
    std::fs::remove_file(workspace.path("m/checkpoint.bin")).unwrap();
    let says = ["m was stopped before its end", "start a new run"];
    refuses(&workspace, "train --resume --out m", 2, &says);
}

/// Names of columns command no terminal; messages about numbers are in words.
#[test]
fn messages_are_for_people() {
    let workspace = Workspace::new();
    let rows: String = (0..20).map(|at| format!("{at},{}\n", at * 7 % 5)).collect();
    workspace.write("d.csv", format!("x,\u{1b}[31mred\n{rows}"));
    let outcome = workspace
        .line("outliers exact --data d.csv --columns y --range y=0,1 --radius 1 --k 1")
        .exits(2);
    assert!(!outcome.stderr.contains('\u{1b}'), "{outcome:?}");
    outcome.complains(&["\\u{1b}[31mred"]);
    let outcome = workspace
        .line("outliers budget --data d.csv --epsilon 1 --ledger b.toml")
        .exits(0);
    assert!(!outcome.stdout.contains('\u{1b}'), "{outcome:?}");
    outcome.says(&["\\u{1b}[31mred"]);
    // The next number below a decimal is that decimal for people.
    let (epsilon, delta) = (30f64.next_down(), 0.1);
    for error in [
        PrivacyError::Calibration { epsilon, delta },
        PrivacyError::Theorem { epsilon, delta },
    ] {
        let text = error.to_string();
        assert!(text.contains("30") && !text.contains("29.9"), "{text}");
    }
    for command in ["kmeans", "spn"] {
        workspace
            .line(&format!("{command} delete --model M --ids -1"))
            .exits(2)
            .complains(&["ids of rows are whole numbers"]);
    }
}
