//! Every file that Probity writes for itself and reads again, with bits flipped and ends cut off.

use std::fs;

use crate::probity_command::Workspace;
use crate::{AUDIT, prepared};

/// Holds that `line` finds that `file` was damaged, at places all over it.
#[track_caller]
fn is_found(workspace: &Workspace, file: &str, lines: &[&str]) {
    let path = workspace.path(file);
    let whole = fs::read(&path).unwrap();
    for place in 0..12 {
        let at = (whole.len() - 1) * place / 11;
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (place % 8);
        fs::write(&path, &flipped).unwrap();
        for line in lines {
            let outcome = workspace.line(line).exits(2);
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            outcome.complains(&[&name]);
        }
    }
    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        for line in lines {
            workspace.line(line).exits(2);
        }
    }
    fs::write(&path, whole).unwrap();
}

#[test]
fn models() {
    let workspace = prepared();
    let table = "--data people.csv --schema people.toml";
    workspace
        .line(&format!("kmeans fit {table} --clusters 3 --out k"))
        .exits(0);
    workspace.line(&format!("spn fit {table} --out s")).exits(0);
    is_found(
        &workspace,
        "k/model.bin",
        &["kmeans assign --model k", "kmeans delete --model k --ids 1"],
    );
    is_found(
        &workspace,
        "s/model.spn",
        &["spn show --model s", "spn delete --model s --ids 1"],
    );
    let reads = [
        "groups --model model --data people.csv",
        "certify --model model --protected sex",
    ];
    is_found(&workspace, "model/model.toml", &reads);
    is_found(&workspace, "model/weights.safetensors", &reads);
    is_found(
        &workspace,
        "model/provenance.toml",
        &["groups --model model --data people.csv --part test"],
    );
}

#[test]
fn text_models() {
    let workspace = Workspace::new();
    workspace
        .line("data generate comments --rows 300 --out comments.csv")
        .exits(0);
    workspace
        .line("train --texts comments.csv --text-column comment_text --label-column toxic --cell gru --units 4 --layers 1 --epochs 1 --out texts")
        .exits(0);
    let audit = "audit --model texts --texts comments.csv --text-column comment_text --protected gender --seeds 5 --local 5 --estimate 20 --samples csv --out";
    for file in [
        "model.toml",
        "weights.safetensors",
        "tokenizer.json",
        "sentences.json",
    ] {
        is_found(
            &workspace,
            &format!("texts/{file}"),
            &[&format!("{audit} never")],
        );
    }
    // A cache that was damaged is made anew.
    workspace.line(&format!("{audit} first")).exits(0);
    let cache = workspace.path("texts/neighbours.bin");
    let whole = fs::read(&cache).unwrap();
    for place in 0..6 {
        let mut flipped = whole.clone();
        flipped[(whole.len() - 1) * place / 5] ^= 1 << place;
        fs::write(&cache, flipped).unwrap();
        let out = format!("again-{place}");
        workspace.line(&format!("{audit} {out}")).exits(0);
        assert_eq!(
            workspace.read("first/samples.csv"),
            workspace.read(&format!("{out}/samples.csv"))
        );
        assert_eq!(fs::read(&cache).unwrap(), whole);
    }
}

#[test]
fn runs() {
    let workspace = prepared();
    workspace.line(AUDIT).exits(0);
    let repair =
        "repair --model model --data people.csv --run run --share 0.01 --epochs 1 --out never";
    is_found(&workspace, "run/samples.csv", &["report run", repair]);
    is_found(
        &workspace,
        "run/summary.json",
        &["report run", "verify run"],
    );
    workspace
        .line(&format!("{AUDIT} --time 1ns").replace("--out run", "--out stopped"))
        .exits(0);
    is_found(
        &workspace,
        "stopped/checkpoint.bin",
        &["audit --resume --out stopped"],
    );
    let train = "train --data people.csv --schema people.toml --hidden 4 --epochs 50 --time 1ns --out trained";
    if workspace.line(train).code == Some(0) && workspace.path("trained/checkpoint.bin").exists() {
        is_found(
            &workspace,
            "trained/checkpoint.bin",
            &["train --resume --out trained"],
        );
    }
    workspace
        .line("outliers budget --ledger budget.toml --data people.csv --epsilon 10 --delta 0.1")
        .exits(0);
    is_found(
        &workspace,
        "budget.toml",
        &["outliers budget --ledger budget.toml"],
    );
}
