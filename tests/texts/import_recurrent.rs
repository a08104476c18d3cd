//! Imported recurrent classifiers against what PyTorch computed with them: see
//! scripts/recurrent_reference.py, which wrote tests/data/recurrent.

use std::fs;
use std::path::{Path, PathBuf};

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use probity::nn::import_text::{
    TextImportOptions, TextImportReport, Vocabulary, Words, import_text,
};
use probity::nn::recurrent::kernels::{EmbeddingTable as Table, Kernels};
use probity::nn::recurrent::network::{CellKind, Shape};
use probity::nn::text_model::TextModel;
use probity::nn::weights::{WeightFile, read_weights};
use probity::text::embeddings::EmbeddingTable;
use probity::text::tokenizer::Splitting;
use serde::Deserialize;

/// Two f32 computations of the same logits differ by less.
const TOLERANCE: f32 = 1e-5;

#[derive(Deserialize)]
struct Recorded {
    texts: Vec<String>,
    models: Vec<RecordedModel>,
}

#[derive(Deserialize)]
struct RecordedModel {
    name: String,
    /// The same weights in several formats.
    files: Vec<String>,
    vocabulary: Option<String>,
    embeddings: Option<String>,
    padding_row: Option<usize>,
    unknown_row: Option<usize>,
    /// `[texts][outputs]`
    logits: Vec<Vec<f32>>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recurrent")
}

fn recorded() -> Recorded {
    serde_json::from_slice(&fs::read(folder().join("recorded.json")).unwrap()).unwrap()
}

fn words(model: &RecordedModel) -> Words {
    match (&model.vocabulary, &model.embeddings) {
        (Some(file), None) => {
            let words = Vocabulary::read(&folder().join(file)).unwrap().value.words;
            Words::Rows(
                words
                    .with_rows(model.unknown_row, model.padding_row)
                    .unwrap(),
            )
        }
        (None, Some(file)) => {
            let file = folder().join(file);
            let text = fs::read(&file).unwrap();
            Words::Embeddings(EmbeddingTable::from_text(&file, &text).unwrap())
        }
        _ => panic!("{} has one kind of words", model.name),
    }
}

fn import(weights: &WeightFile, words: &Words) -> (TextModel, TextImportReport) {
    let mut options = TextImportOptions::new(Splitting::usual().unwrap());
    options.max_length = 100;
    import_text(weights, words, &options).unwrap()
}

/// Logits of `texts`, `[texts][classes]`.
fn logits(model: &TextModel, texts: &[String]) -> Vec<Vec<f32>> {
    let encoded: Vec<_> = texts
        .iter()
        .map(|text| model.reader.encode(text).unwrap())
        .collect();
    let ids: Vec<&[i32]> = encoded.iter().map(|text| text.ids.as_slice()).collect();
    let table = Table {
        values: model.reader.table.vectors(),
        dimension: model.reader.dimension(),
    };
    let logits = Kernels::new(&model.recurrent).logits(table, &ids);
    logits
        .chunks(model.classes.len())
        .map(<[f32]>::to_vec)
        .collect()
}

/// The recorded logits as Probity has them: a single output z is (0, z).
fn expected(recorded: &[f32]) -> Vec<f32> {
    match recorded {
        [z] => vec![0.0, *z],
        _ => recorded.to_vec(),
    }
}

#[test]
fn logits_are_those_of_pytorch() {
    let recorded = recorded();
    let mut checked = 0;
    for model in &recorded.models {
        for file in &model.files {
            let weights = read_weights(&folder().join(file)).unwrap();
            let (imported, report) = import(&weights, &words(model));
            assert_eq!(report.matched.len(), weights.tensors.len(), "{file}");
            let saved = tempfile::tempdir().unwrap();
            imported.save(saved.path()).unwrap();
            let loaded = TextModel::load(saved.path()).unwrap();
            assert_eq!(loaded.sha256().unwrap(), imported.sha256().unwrap());
            let ours = logits(&loaded, &recorded.texts);
            for ((text, ours), theirs) in recorded.texts.iter().zip(&ours).zip(&model.logits) {
                let theirs = expected(theirs);
                assert_eq!(ours.len(), theirs.len());
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    assert!(
                        (ours - theirs).abs() < TOLERANCE,
                        "{file}: {text}: {ours} {theirs}"
                    );
                    checked += 1;
                }
            }
        }
    }
    // 16 texts: 2 and 3 classes in two files, 2 in three and in two.
    assert_eq!(checked, 16 * (2 * 2 + 3 * 2 + 2 * 3 + 2 * 2));
}

#[test]
fn shapes_are_those_of_the_script() {
    let recorded = recorded();
    let shape = |cell, bidirectional, classes| Shape {
        cell,
        inputs: 6,
        units: 5,
        layers: 2,
        bidirectional,
        classes,
    };
    let shapes = [
        ("lstm", shape(CellKind::Lstm, false, 2), false),
        ("lstm-bidirectional", shape(CellKind::Lstm, true, 3), false),
        ("gru", shape(CellKind::Gru, false, 2), true),
        ("gru-bidirectional", shape(CellKind::Gru, true, 2), false),
    ];
    assert_eq!(recorded.models.len(), shapes.len());
    for (model, (name, shape, single_output)) in recorded.models.iter().zip(shapes) {
        let weights = read_weights(&folder().join(&model.files[0])).unwrap();
        let (imported, report) = import(&weights, &words(model));
        assert_eq!(model.name, name);
        assert_eq!(imported.recurrent.shape, shape);
        assert_eq!(report.single_output, single_output);
        assert_eq!((report.words, report.unreachable_words), (20, 0));
    }
}

/// Every tensor of every file matters: with any of them changed, some logit is another.
#[test]
fn every_tensor_reaches_the_logits() {
    let recorded = recorded();
    for model in &recorded.models {
        let file = read_weights(&folder().join(&model.files[0])).unwrap();
        let words = words(model);
        let before = logits(&import(&file, &words).0, &recorded.texts);
        for name in file.tensors.keys() {
            let mut changed = file.clone();
            let weight = changed.tensors.get_mut(name).unwrap();
            for value in &mut weight.values {
                *value += 0.05;
            }
            let after = logits(&import(&changed, &words).0, &recorded.texts);
            let largest = before
                .iter()
                .zip(&after)
                .flat_map(|(before, after)| before.iter().zip(after))
                .fold(0.0_f32, |largest, (before, after)| {
                    largest.max((before - after).abs())
                });
            assert!(largest > 1e-3, "{} {name}: {largest}", model.name);
        }
    }
}

/// A workspace with the files of the script.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        workspace.write(&name, fs::read(entry.path()).unwrap());
    }
    workspace
}

#[test]
fn the_command_writes_a_model_directory() {
    let workspace = workspace();
    workspace.write("texts.txt", "the page is good\nthe source\n");
    workspace
        .line(
            "import --weights lstm.pt --vocabulary words-special.txt --unknown-row 1 --padding-row 0 \
             --classes fine,toxic --max-length 30 --texts texts.txt --out model --verbose",
        )
        .exits(0)
        .says(&["11 tensors matched", "recurrent.weight_hh_l1", "LSTM, 2 layers of 5 units; 20 words", "fine, toxic"]);
    let model = TextModel::load(workspace.path("model")).unwrap();
    assert_eq!(
        (model.classes[1].as_str(), model.reader.max_length),
        ("toxic", 30)
    );
    assert_eq!(
        model.reader.sentences.frequencies().probability("the"),
        2.0 / 6.0
    );
    let summary = workspace.json("model/summary.json");
    assert_eq!(summary["network"]["cell"], "lstm");
    assert_eq!(summary["model_sha256"], model.sha256().unwrap().as_str());
    assert!(workspace.read("model/run.toml").contains("padding_row = 0"));

    workspace
        .line("import --weights gru.npz --vocabulary words.txt --classes fine,toxic --out gru")
        .exits(0)
        .says(&["single output is the log-odds of class ‘toxic’"]);
    workspace
        .line("import --weights gru.npz --vocabulary words.txt --out again")
        .exits(0);
    assert_eq!(
        TextModel::load(workspace.path("again")).unwrap().classes,
        ["0", "1"]
    );
    let summary = workspace
        .line("import --weights lstm-bidirectional.pt --embeddings vectors.txt --out both --json")
        .exits(0)
        .json();
    assert_eq!(summary["network"]["bidirectional"], true);
    assert_eq!(summary["single_output"], false);
}

#[test]
fn words_that_no_text_has_are_reported() {
    let workspace = workspace();
    let words = workspace.read("words-special.txt");
    workspace.write(
        "capitals.txt",
        words.replace("\nthey", "\nThey").replace("\nis", "\nIS"),
    );
    workspace
        .line("import --weights lstm.pt --vocabulary capitals.txt --out model")
        .exits(0)
        .says(&["2 words cannot occur in a text as it is split", "IS They"])
        .says(&[
            "Row 1 of the table stands for unknown words",
            "Row 0 of the table pads",
        ]);
    let summary = workspace.json("model/summary.json");
    assert_eq!(summary["unreachable_words"], 2);
    assert_eq!(
        (&summary["unknown_row"], &summary["padding_row"]),
        (&1.into(), &0.into())
    );
}

#[test]
fn bad_input_is_refused() {
    let workspace = workspace();
    let refuse = |line: &str, needles: &[&str]| {
        refuses(
            &workspace,
            &format!("import {line} --out model"),
            2,
            needles,
        );
    };
    let weights = "--weights lstm.pt";
    refuse(weights, &["--config"]);
    refuse(
        &format!("{weights} --vocabulary none"),
        &["cannot read", "none"],
    );
    refuse(&format!("{weights} --embeddings none"), &["none"]);
    refuse(
        "--weights words.txt --vocabulary words.txt",
        &["no weight file but text"],
    );
    refuse(
        &format!("{weights} --vocabulary words.txt"),
        &["words.txt", "20 words", "22 rows"],
    );
    refuse(
        &format!("{weights} --vocabulary words-special.txt --unknown-row 22"),
        &["no unknown row 22", "0 to 21"],
    );
    refuse(
        &format!("{weights} --embeddings vectors.txt"),
        &["'embedding.weight' of 22 rows", "vocabulary"],
    );
    refuse(
        "--weights lstm-bidirectional.pt --vocabulary words.txt",
        &["no embedding table", "embeddings"],
    );
    let names = "--vocabulary words-special.txt --classes a,b,c";
    refuse(
        &format!("{weights} {names}"),
        &["for 3 classes (a, b, c)", "2 classes"],
    );
    let ignore = "--vocabulary words-special.txt --ignore linear.weight,linear.bias";
    refuse(
        &format!("{weights} {ignore}"),
        &["one linear layer", "found nothing"],
    );
    refuse(
        &format!("{weights} --vocabulary words-special.txt --ignore fc"),
        &["no tensor 'fc'", "linear.bias [2]"],
    );
    for (option, needle) in [
        ("--max-length 0", "from 1 to 1048576"),
        ("--max-length x", "whole number"),
        ("--embeddings vectors.txt", "left out"),
        ("--config adf-fnn", "left out"),
        ("--schema adf-census", "left out"),
        ("--text-column text", "texts"),
        ("--texts none", "none"),
    ] {
        refuse(
            &format!("{weights} --vocabulary words-special.txt {option}"),
            &[needle],
        );
    }
    refuse(
        "--weights lstm-bidirectional.pt --embeddings vectors.txt --unknown-row 1",
        &["--unknown-row", "--vocabulary only"],
    );
    let table = "--config adf-fnn --schema adf-census";
    refuse(
        &format!("{weights} {table} --classes a,b"),
        &["--classes", "modality is table"],
    );
}
