//! Masked language models of Hugging Face compared with PyTorch's answers, and heads that are not
//! whole.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;

use super::super::{MaskedLanguageModel, export, import};
use super::{MASKED, changed, directory, model, refusal, with_settings};
use crate::model::save_tensors;
use crate::transformer::masked::{Masked, MaskedKernels};
use crate::weights::{Weight, read_weights};

#[derive(Deserialize)]
struct MaskedAnswer {
    text: String,
    word: [usize; 2],
    pieces: Vec<i32>,
    at: [usize; 2],
    own: Vec<i32>,
    others: Vec<i32>,
    values: [f64; 2],
}

fn masked_answers(name: &str) -> Vec<MaskedAnswer> {
    let answers = fs::read_to_string(directory(name).join("expected.json")).unwrap();
    serde_json::from_str(&answers).unwrap()
}

#[test]
fn words_are_as_likely_as_for_pytorch() {
    for name in MASKED {
        let mut model = model(name);
        // What PyTorch was given; the tokenizer has no limit of its own.
        model.max_length = model.weights.shape.longest();
        let activation = model.family.masked(model.weights.shape.activation);
        let head = model.masked.clone().unwrap();
        let kernels = MaskedKernels::new(model.weights.clone(), head, activation);
        let network = MaskedLanguageModel::new(model.clone()).unwrap();
        let answers = masked_answers(name);
        assert!(answers.len() > 90);
        let of_text = |answer: &MaskedAnswer| answer.word[0]..answer.word[1];
        let words: Vec<(&str, _)> = answers
            .iter()
            .map(|answer| (answer.text.as_str(), of_text(answer)))
            .collect();
        let together = network.log_probabilities(&words).unwrap();
        let (mut split, mut cut) = (0, 0);
        for (answer, together) in answers.iter().zip(together) {
            let masked = Masked {
                ids: answer.pieces.clone(),
                at: answer.at[0]..answer.at[1],
            };
            let mask = model.masked.as_ref().unwrap().mask;
            let read =
                model
                    .tokenizer
                    .masked(&answer.text, &of_text(answer), mask, model.max_length);
            let read = read.unwrap().unwrap();
            assert_eq!((&read.masked, &read.own), (&masked, &answer.own));
            let hidden = kernels.hidden(&[&masked]).remove(0);
            for (pieces, expected) in [&answer.own, &answer.others].iter().zip(answer.values) {
                let found = kernels.log_probability(&hidden, pieces);
                let bound = 1e-4 * pieces.len() as f64;
                assert!(
                    (found - expected).abs() < bound,
                    "{name}: {found} {expected}"
                );
            }
            // The same bits alone, kept, and among others.
            assert_eq!(
                together,
                Some(kernels.log_probability(&hidden, &answer.own))
            );
            let word = (answer.text.as_str(), of_text(answer));
            assert_eq!(network.log_probabilities(&[word]).unwrap(), [together]);
            split += usize::from(answer.own.len() > 1);
            cut += usize::from(
                model
                    .tokenizer
                    .read(&answer.text, model.max_length)
                    .unwrap()
                    .is_truncated,
            );
        }
        assert!(split > 5 && cut > 0, "{name}: {split} {cut}");
        // A word of no bytes has no piece, and what is unknown stands for much; bytes are always
        // known. A word may have more pieces than are read.
        let nothing = network.log_probabilities(&[("you", 0..0)]).unwrap();
        assert_eq!(nothing, [None]);
        let strange = network.log_probabilities(&[("you 漢 too", 4..7)]).unwrap();
        assert_eq!(strange[0].is_some(), name == "roberta-masked");
        model.max_length = model.tokenizer.marks() + 1;
        let short = MaskedLanguageModel::new(model).unwrap();
        let long = "unbelievable stories";
        assert_eq!(
            short.log_probabilities(&[(long, 0..long.len())]).unwrap(),
            [None]
        );
    }
}

#[test]
fn shares_of_all_pieces_sum_to_one() {
    let model = model("xlm-roberta-masked");
    let last = model.tokenizer.last();
    let activation = model.family.masked(model.weights.shape.activation);
    let kernels = MaskedKernels::new(model.weights, model.masked.unwrap(), activation);
    let masked = Masked {
        ids: vec![0, 20, 21, 22, 2],
        at: 1..3,
    };
    let hidden = kernels.hidden(&[&masked]).remove(0);
    let first: f64 = (0..=last)
        .map(|piece| kernels.log_probability(&hidden, &[piece]).exp())
        .sum();
    assert!((first - 1.0).abs() < 1e-5, "{first}");
}

/// Makes a copy of the directory `name` with other tensors.
fn with_tensors(name: &str, change: impl Fn(&mut BTreeMap<String, Weight>)) -> tempfile::TempDir {
    let copy = changed(name, "config.json", |text| text);
    let file = copy.path().join("model.safetensors");
    let mut tensors = read_weights(&file).unwrap().tensors;
    change(&mut tensors);
    let tensors = tensors.iter();
    let tensors =
        tensors.map(|(name, weight)| (name.clone(), weight.shape.clone(), &weight.values[..]));
    save_tensors(&file, &tensors.collect::<Vec<_>>()).unwrap();
    copy
}

#[test]
fn the_matrix_over_the_vocabulary_is_the_one_that_the_file_has() {
    let of = |copy: &tempfile::TempDir| import(copy.path(), &[], None).unwrap();
    let tied = model("bert-masked").masked.unwrap();
    assert!(tied.is_tied && !model("roberta-masked").masked.unwrap().is_tied);
    let (words, decoder) = (
        "bert.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.weight",
    );
    // The same numbers again, as PyTorch wrote them once.
    let copy = with_tensors("bert-masked", |tensors| {
        let table = tensors[words].clone();
        tensors.insert(decoder.to_owned(), table);
        let bias = tensors["cls.predictions.bias"].clone();
        tensors.insert("cls.predictions.decoder.bias".to_owned(), bias);
    });
    let (model, report) = of(&copy);
    assert_eq!(
        (model.masked.as_ref(), report.unused.len()),
        (Some(&tied), 0)
    );
    let copy = with_tensors("bert-masked", |tensors| {
        let mut table = tensors[words].clone();
        table.values[3] += 1.0;
        tensors.insert(decoder.to_owned(), table);
    });
    let (model, _) = of(&copy);
    let own = model.masked.unwrap();
    assert!(!own.is_tied && own.values.len() == tied.values.len() + 150 * 16);
    // The bias that is not used is said to be so.
    let (_, report) = import(&directory("roberta-masked"), &[], None).unwrap();
    assert_eq!(report.unused, ["lm_head.bias"]);
    let copy = changed("bert-masked", "config.json", |text| {
        text.replacen('{', "{\"tie_word_embeddings\": false,", 1)
            .replacen("\"tie_word_embeddings\": true,", "", 1)
    });
    let error = refusal(&copy);
    assert!(
        error.contains(&format!("'{decoder}' is missing; of the head")),
        "{error}"
    );
}

#[test]
fn a_part_of_a_head_is_refused_and_none_is_named() {
    for (name, tensor) in [
        ("bert-masked", "cls.predictions.transform.LayerNorm.bias"),
        ("distilbert-masked", "vocab_projector.bias"),
        ("xlm-roberta-masked", "lm_head.dense.weight"),
    ] {
        let copy = with_tensors(name, |tensors| drop(tensors.remove(tensor).unwrap()));
        let error = refusal(&copy);
        assert!(
            error.contains(&format!("'{tensor}' is missing; of the head")),
            "{error}"
        );
        let copy = with_tensors(name, |tensors| {
            tensors.retain(|name, _| name.contains("embeddings") || name.contains("layer."));
        });
        let (model, report) = import(copy.path(), &[], None).unwrap();
        assert!(model.masked.is_none() && report.missing.iter().any(|name| name == tensor));
        let error = MaskedLanguageModel::new(model).unwrap_err().to_string();
        assert!(error.contains("ForMaskedLM"), "{error}");
    }
    let copy = with_tensors("bert-masked", |tensors| {
        tensors.get_mut("cls.predictions.bias").unwrap().shape = vec![150, 1];
    });
    assert!(refusal(&copy).contains("has shape [150, 1]"));
}

#[test]
fn the_mask_is_that_of_the_tokenizer() {
    let imported = |settings: &str| with_settings("bert-masked", settings);
    let usual = imported("{}").unwrap().masked.unwrap().mask;
    assert_eq!(usual, 4);
    for settings in [
        r#"{"mask_token": "[SEP]"}"#,
        r#"{"mask_token": {"content": "[SEP]"}}"#,
    ] {
        let model = imported(settings).unwrap();
        assert_eq!(model.masked.as_ref().unwrap().mask, 3);
        let exported = tempfile::tempdir().unwrap();
        export(&model, exported.path()).unwrap();
        let (again, _) = import(exported.path(), &[], None).unwrap();
        assert_eq!(again.sha256(), model.sha256());
    }
    let error = imported(r#"{"mask_token": "<hidden>"}"#).unwrap_err();
    assert!(error.contains("it has no piece <hidden>"), "{error}");
    let copy = changed("bert-masked", "tokenizer.json", |text| {
        text.replace("[MASK]", "[HIDE]")
    });
    assert!(refusal(&copy).contains("it has no piece [MASK]"));
}
