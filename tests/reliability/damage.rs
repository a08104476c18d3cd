//! Every file that Probity writes for itself and reads again, with bits flipped and ends cut off.

use std::fs;

use crate::kills::stopped;
use crate::probity_command::Workspace;
use crate::traced::is_possible;
use crate::writers::{Kind, of_kind};
use crate::{AUDIT, spelt, with_models, with_texts};

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
    let workspace = with_models();
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
        "certify --model model --data people.csv --protected sex",
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
    let workspace = with_texts();
    let audit = spelt(
        "audit --model texts TEXTS --protected country --seeds 3 --local 3 --estimate 10 --samples csv --out",
    );
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
    let workspace = with_models();
    let repair =
        "repair --model model --data people.csv --run done --share 0.01 --epochs 1 --out never";
    is_found(&workspace, "done/samples.csv", &["report done", repair]);
    is_found(
        &workspace,
        "done/summary.json",
        &["report done", "verify done"],
    );
    is_found(
        &workspace,
        "budget.toml",
        &["outliers budget --ledger budget.toml"],
    );
}

/// What goes on with a run that was stopped is given no damaged checkpoint.
#[cfg(unix)]
#[test]
fn checkpoints() {
    if !is_possible() {
        return;
    }
    let start = with_models();
    let train = spelt("train TABLE --hidden 4 --epochs 5 --out trained");
    let outcome = start.interrupted(&train, "round:2");
    outcome.exits(0).says(&["Interrupted"]);
    start.line(&spelt(&format!("{AUDIT} --time 1ns"))).exits(0);
    for (out, resume) in [
        ("trained", "train --resume --out trained"),
        ("run", "audit --resume --out run"),
    ] {
        is_found(&start, &format!("{out}/checkpoint.bin"), &[resume]);
    }
    for writer in of_kind(Kind::Run) {
        let line = writer.line();
        if line.starts_with("compare") || line.starts_with("repair --model model") {
            let stopped = stopped(&start, &writer);
            is_found(&stopped, "new/checkpoint.bin", &[&writer.resume()]);
        }
    }
}
