//! The sentence encoder on small ONNX files (scripts/sentence_encoder_graphs.py), against what
//! onnxruntime makes of them.
#![cfg(feature = "onnx")]

use std::path::{Path, PathBuf};

use probity::predictor::encoder::{EncoderError, SentenceEncoder, cosine};
use probity::predictor::piece_graph::PieceGraphError;
use rayon::prelude::*;
use serde_json::{Value, json};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/sentence_encoder")
        .join(name)
}

fn open(name: &str) -> Result<SentenceEncoder, EncoderError> {
    SentenceEncoder::open(&data(&format!("{name}.onnx")), None)
}

fn recorded() -> Value {
    serde_json::from_str(&std::fs::read_to_string(data("recorded.json")).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_f64().unwrap())
        .collect()
}

fn texts(recorded: &Value) -> Vec<String> {
    recorded["texts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

/// A folder with the tokenizer after `edit`.
fn edited_tokenizer(edit: impl FnOnce(&mut Value)) -> (tempfile::TempDir, PathBuf) {
    let mut tokenizer =
        serde_json::from_str(&std::fs::read_to_string(data("tokenizer.json")).unwrap()).unwrap();
    edit(&mut tokenizer);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.json");
    std::fs::write(&path, tokenizer.to_string()).unwrap();
    (folder, path)
}

fn message(result: Result<SentenceEncoder, EncoderError>) -> String {
    result.err().expect("the file must be refused").to_string()
}

#[test]
fn embeddings_equal_those_of_onnxruntime() {
    let recorded = recorded();
    for (name, width) in [("transformer", 8), ("pooled", 6), ("fixed_length", 5)] {
        let encoder = open(name).unwrap();
        assert_eq!(encoder.width(), width, "{name}");
        for (i, text) in texts(&recorded).iter().enumerate() {
            let expected = numbers(&recorded["models"][name][i]);
            let found = encoder.embed(text).unwrap();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                let off = (f64::from(*found) - expected).abs();
                assert!(
                    off < 2e-6,
                    "{name}, `{text}`: {found} where {expected} was recorded"
                );
            }
        }
    }
}

#[test]
fn similarity_is_the_cosine_of_the_recorded_embeddings() {
    let recorded = recorded();
    let texts = texts(&recorded);
    let encoder = open("transformer").unwrap();
    for (i, first) in texts.iter().enumerate() {
        assert_eq!(encoder.similarity(first, first).unwrap(), 1.0);
        for (j, second) in texts.iter().enumerate() {
            let embedding = |k: usize| numbers(&recorded["models"]["transformer"][k]);
            let expected: f64 = embedding(i)
                .iter()
                .zip(embedding(j))
                .map(|(a, b)| a * b)
                .sum();
            let found = f64::from(encoder.similarity(first, second).unwrap());
            assert!(
                (found - expected).abs() < 5e-6,
                "{first} / {second}: {found}, {expected}"
            );
        }
    }
    let [first, second] = [0, 2].map(|i: usize| encoder.embed(&texts[i]).unwrap());
    assert_eq!(
        cosine(&first, &second),
        encoder.similarity(&texts[0], &texts[2]).unwrap()
    );
    assert!(encoder.similarity(&texts[0], &texts[3]).unwrap() < 0.9);
}

#[test]
fn an_embedding_depends_on_nothing_but_the_text() {
    let encoder = open("transformer").unwrap();
    let texts = texts(&recorded());
    let alone: Vec<Vec<f32>> = texts
        .iter()
        .map(|text| open("transformer").unwrap().embed(text).unwrap())
        .collect();
    let many: Vec<usize> = (0..200).map(|i| (i * 7) % texts.len()).collect();
    let together: Vec<Vec<f32>> = many
        .par_iter()
        .map(|i| encoder.embed(&texts[*i]).unwrap())
        .collect();
    for (i, embedding) in many.iter().zip(&together) {
        assert_eq!(embedding, &alone[*i]);
    }
}

#[test]
fn words_beyond_the_limit_are_cut_and_reported() {
    let encoder = open("transformer").unwrap();
    assert_eq!(encoder.limit(), 12);
    let ten = ["people"; 10].join(" ");
    let eleven = format!("{ten} worked");
    assert!(!encoder.is_cut(&ten).unwrap());
    assert!(encoder.is_cut(&eleven).unwrap());
    assert_eq!(
        encoder.embed(&ten).unwrap(),
        encoder.embed(&eleven).unwrap()
    );
    assert_eq!(open("fixed_length").unwrap().limit(), 10);
}

#[test]
fn the_limit_is_512_without_truncation_in_the_tokenizer() {
    let (_folder, path) = edited_tokenizer(|tokenizer| tokenizer["truncation"] = Value::Null);
    let encoder = SentenceEncoder::open(&data("pooled.onnx"), Some(&path)).unwrap();
    assert_eq!(encoder.limit(), 512);
    let eleven = format!("{} worked", ["people"; 10].join(" "));
    let cut = open("pooled").unwrap();
    assert_ne!(encoder.embed(&eleven).unwrap(), cut.embed(&eleven).unwrap());
    assert!(encoder.is_cut(&["people"; 511].join(" ")).unwrap());
    assert!(!encoder.is_cut(&["people"; 510].join(" ")).unwrap());
}

#[test]
fn truncation_from_the_left_keeps_the_end() {
    let (_folder, path) =
        edited_tokenizer(|tokenizer| tokenizer["truncation"]["direction"] = "Left".into());
    let encoder = SentenceEncoder::open(&data("pooled.onnx"), Some(&path)).unwrap();
    let end = ["people"; 10].join(" ");
    assert_eq!(
        encoder.embed(&format!("worked {end}")).unwrap(),
        encoder.embed(&end).unwrap()
    );
}

#[test]
fn a_text_longer_than_the_table_of_positions_is_an_error() {
    let (_folder, path) = edited_tokenizer(|tokenizer| tokenizer["truncation"] = Value::Null);
    let encoder = SentenceEncoder::open(&data("transformer.onnx"), Some(&path)).unwrap();
    assert!(encoder.embed(&["people"; 30].join(" ")).is_ok());
    let error = encoder
        .embed(&["people"; 31].join(" "))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("transformer.onnx") && error.contains("[1, 33]"),
        "{error}"
    );
}

#[test]
fn a_text_without_a_token_is_an_error() {
    let (_folder, path) = edited_tokenizer(|tokenizer| tokenizer["post_processor"] = Value::Null);
    let encoder = SentenceEncoder::open(&data("pooled.onnx"), Some(&path)).unwrap();
    assert!(matches!(
        encoder.embed("  "),
        Err(EncoderError::Empty { .. })
    ));
    assert!(open("pooled").unwrap().embed("").is_ok());
}

#[test]
fn files_that_are_no_sentence_encoder_are_refused() {
    for (name, part) in [
        ("foreign_operator", "HashBuckets"),
        ("foreign_input", "the input `pixel_values`"),
        ("not_finite", "is not finite"),
        ("narrow_table", "of another model"),
        ("no_embedding", "the output `score` has shape []"),
        ("absent", "cannot be read"),
    ] {
        let message = message(open(name));
        assert!(
            message.contains(part) && message.contains(&format!("{name}.onnx")),
            "{message}"
        );
    }
}

#[test]
fn tokenizers_that_cannot_be_used_are_refused() {
    let model = data("pooled.onnx");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("pooled.onnx");
    std::fs::copy(&model, &copy).unwrap();
    assert!(matches!(
        SentenceEncoder::open(&copy, None),
        Err(EncoderError::Pieces(PieceGraphError::NoTokenizer { .. }))
    ));
    std::fs::write(folder.path().join("tokenizer.json"), "{\"version\": 1").unwrap();
    assert!(matches!(
        SentenceEncoder::open(&copy, None),
        Err(EncoderError::Pieces(PieceGraphError::Tokenizer(_)))
    ));

    for limit in [0, 1, 2] {
        let (_folder, path) =
            edited_tokenizer(|tokenizer| tokenizer["truncation"]["max_length"] = limit.into());
        let refused = SentenceEncoder::open(&model, Some(&path));
        let limit = |error| {
            matches!(
                error,
                EncoderError::Pieces(PieceGraphError::Limit { added: 2, .. })
            )
        };
        assert!(refused.is_err_and(limit));
    }
}

/// Where the library of tokenizers panics: an error, when the file is read or the first text is.
#[test]
fn tokenizers_that_panic_are_refused() {
    let model = data("pooled.onnx");
    for (part, content) in [
        // A sequence that single texts do not have.
        (
            "post_processor",
            json!({
                "type": "TemplateProcessing",
                "single": [{ "Sequence": { "id": "B", "type_id": 0 } }],
                "pair": [{ "Sequence": { "id": "B", "type_id": 0 } }],
                "special_tokens": {},
            }),
        ),
        // No decoder is a list.
        ("decoder", json!([1])),
    ] {
        let (_folder, path) = edited_tokenizer(|tokenizer| tokenizer[part] = content);
        let refused = message(SentenceEncoder::open(&model, Some(&path)));
        assert!(!refused.is_empty(), "{part}");
    }
}

/// Empty, cut and overwritten files: an error, or an encoder that answers or says why not.
#[test]
fn broken_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.onnx");
    let tokenizer = data("tokenizer.json");
    let whole = std::fs::read(data("transformer.onnx")).unwrap();
    let try_open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        SentenceEncoder::open(&path, Some(&tokenizer))
    };
    assert!(matches!(try_open(&[]), Err(EncoderError::Graph(_))));
    assert!(matches!(
        try_open(b"PK\x03\x04 not a graph"),
        Err(EncoderError::Graph(_))
    ));
    for cut in (0..whole.len()).step_by(97) {
        assert!(try_open(&whole[..cut]).is_err(), "cut to {cut} bytes");
    }
    let mut refused = 0;
    for i in (0..whole.len()).step_by(61) {
        let mut bytes = whole.clone();
        bytes[i] ^= 0x55;
        match try_open(&bytes) {
            Err(error) => {
                assert!(error.to_string().contains("broken.onnx"), "{error}");
                refused += 1;
            }
            Ok(encoder) => assert_eq!(encoder.embed("people").map(|found| found.len()).unwrap(), 8),
        }
    }
    assert!(refused > 0);
}
