//! Models of Hugging Face compared with PyTorch's answers (scripts/make-transformers.py), and
//! models that are refused.

mod masked;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{TransformerModel, TransformerNetwork, export, import};
use crate::text_classifier::{DifferentiableTexts, TextClassifier};
use crate::transformer::kernels::Kernels;

#[derive(Deserialize)]
struct Answer {
    text: String,
    pieces: Vec<i32>,
    values: Vec<f32>,
    gradients: Option<Vec<f32>>,
}

fn directory(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transformers");
    root.join(name)
}

fn model(name: &str) -> TransformerModel {
    import(&directory(name), &[], None).unwrap().0
}

/// Makes a copy of a directory in which `change` has changed the text of `file`.
fn changed(name: &str, file: &str, change: impl Fn(String) -> String) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::copy(directory(name).join(file), copy.path().join(file)).unwrap();
    }
    let file = copy.path().join(file);
    let text = change(fs::read_to_string(&file).unwrap());
    fs::write(&file, text).unwrap();
    copy
}

fn refusal(copy: &tempfile::TempDir) -> String {
    import(copy.path(), &[], None)
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

/// Compares logits (of an encoder the means of its last states) and gradients.
fn agrees(model: &TransformerModel, directory: &Path, longest: usize) {
    let answers = fs::read_to_string(directory.join("expected.json")).unwrap();
    let answers: Vec<Answer> = serde_json::from_str(&answers).unwrap();
    assert_eq!(answers.len(), 100);
    let kernels = Kernels::new(model.weights.clone());
    let mut gradients = 0;
    for answer in answers {
        let pieces = model.tokenizer.read(&answer.text, longest).unwrap();
        assert_eq!(pieces.ids, answer.pieces, "{}", answer.text);
        let values = match model.is_encoder() {
            true => kernels.pooled(&[&pieces.ids]),
            false => kernels.logits(&[&pieces.ids]),
        };
        for (value, expected) in values.iter().zip(&answer.values) {
            assert!((value - expected).abs() < 1e-4, "{value} {expected}");
        }
        if let Some(expected) = answer.gradients.filter(|_| !model.is_encoder()) {
            let mut cotangents = vec![0.0; values.len()];
            cotangents[0] = 1.0;
            cotangents[values.len() - 1] = -0.5;
            let found = kernels.input_gradients(&[&pieces.ids], &cotangents);
            assert_eq!(found.len(), expected.len());
            for (value, expected) in found.iter().zip(&expected) {
                assert!((value - expected).abs() < 1e-3, "{value} {expected}");
            }
            gradients += 1;
        }
    }
    assert!(model.is_encoder() || gradients == 4);
}

/// The names of masked language models.
const MASKED: [&str; 4] = [
    "bert-masked",
    "distilbert-masked",
    "roberta-masked",
    "xlm-roberta-masked",
];

#[test]
fn answers_and_gradients_are_those_of_pytorch() {
    for name in ["bert", "distilbert", "roberta", "xlm-roberta", "encoder"] {
        let model = model(name);
        agrees(&model, &directory(name), model.weights.shape.longest());
    }
}

#[test]
#[ignore = "needs a model in the directory PROBITY_TRANSFORMER; see scripts/make-transformers.py"]
fn answers_of_a_large_model_are_those_of_pytorch() {
    let directory = PathBuf::from(std::env::var_os("PROBITY_TRANSFORMER").unwrap());
    let (model, _) = import(&directory, &[], None).unwrap();
    agrees(&model, &directory, 64);
}

#[test]
fn saved_and_loaded_and_exported_is_the_same_model() {
    for name in ["bert", "distilbert", "roberta", "xlm-roberta", "encoder"]
        .iter()
        .chain(&MASKED)
    {
        let mut model = model(name);
        // Fewer pieces than tokenizer and network have, which the export must say.
        model.max_length -= 3;
        let place = tempfile::tempdir().unwrap();
        model.save(place.path()).unwrap();
        let loaded = TransformerModel::load(place.path()).unwrap();
        assert_eq!(loaded.sha256(), model.sha256());
        let exported = tempfile::tempdir().unwrap();
        export(&loaded, exported.path()).unwrap();
        let (again, report) = import(exported.path(), &[], None).unwrap();
        assert_eq!(again.sha256(), model.sha256(), "{name}");
        assert!(report.unused.is_empty());
        let mut other = model.clone();
        other.weights.values[7] += 1.0;
        assert_ne!(other.sha256(), model.sha256());
        let Some(head) = &model.masked else {
            continue;
        };
        assert_eq!(again.masked.as_ref(), Some(head));
        assert!(report.architecture.ends_with("ForMaskedLM"));
        let mut other = model.clone();
        if let Some(head) = &mut other.masked {
            head.values[7] += 1.0;
        }
        assert_ne!(other.sha256(), model.sha256());
    }
}

#[test]
fn the_report_says_what_was_found() {
    let (model, report) = import(&directory("encoder"), &[], None).unwrap();
    assert!(model.is_encoder());
    assert_eq!(report.architecture, "BertModel");
    assert_eq!(report.unused, ["pooler.dense.bias", "pooler.dense.weight"]);
    assert_eq!(report.missing, ["classifier.weight", "classifier.bias"]);
    assert_eq!(report.matched.len(), 5 + 2 * 16);
    assert!(TransformerNetwork::new(model).is_err());
    let (model, report) = import(&directory("bert"), &[], Some(9)).unwrap();
    assert_eq!((report.missing.len(), model.max_length), (0, 9));
    assert_eq!(model.classes, ["calm", "rude", "hateful"]);
    let long = "the old woman writes her unbelievable stories";
    let pieces = model.pieces(long).unwrap();
    assert!(pieces.is_truncated && pieces.ids.len() == 9);
    assert_eq!(
        (pieces.bytes[0].clone(), pieces.bytes[8].clone()),
        (None, None)
    );
}

/// Encoders are mostly published with the head that they were trained with.
#[test]
fn masked_language_models_are_read_as_encoders() {
    for (name, class) in [
        ("bert", "Bert"),
        ("distilbert", "DistilBert"),
        ("roberta", "Roberta"),
    ] {
        let copy = changed(name, "config.json", |text| {
            let from = format!("\"{class}ForSequenceClassification\"");
            assert!(text.contains(&from));
            text.replacen(&from, &format!("\"{class}ForMaskedLM\""), 1)
        });
        let (encoder, report) = import(copy.path(), &[], None).unwrap();
        assert!(encoder.is_encoder() && encoder.masked.is_none());
        assert_eq!(report.architecture, format!("{class}ForMaskedLM"));
        assert_eq!(report.missing.len(), 2 + 5, "{:?}", report.missing);
        assert!(
            report
                .unused
                .iter()
                .any(|name| name.starts_with("classifier."))
        );
        let classifier = model(name).weights;
        let start = classifier.shape.head_start();
        assert_eq!(encoder.weights.values, classifier.values[..start]);
    }
}

#[test]
fn what_is_not_such_a_network_is_refused_by_name() {
    let cases = [
        (
            "BertForSequenceClassification",
            "GPT2Model",
            "names GPT2Model; expected one of Bert",
        ),
        (
            "\"is_decoder\": false",
            "\"is_decoder\": true",
            "`is_decoder` is true",
        ),
        ("\"gelu\"", "\"silu\"", "`hidden_act` is silu"),
        (
            "\"hidden_size\": 16",
            "\"hidden_size\": 32",
            "config.json says [150, 32]",
        ),
        (
            "\"hidden_size\": 16",
            "\"hidden_size\": 17",
            "17 units, which 2 heads",
        ),
        (
            "\"vocab_size\": 150",
            "\"vocab_size\": 99999999",
            "99999999 pieces",
        ),
        (
            "\"vocab_size\": 150",
            "\"vocab_size\": 70",
            "it has a piece number 149",
        ),
        (
            "\"hidden_size\"",
            "\"other\"",
            "missing field `hidden_size`",
        ),
        ("\"1\": \"rude\"", "\"1\": \"calm\"", "the same name"),
        ("\"1\": \"rude\"", "\"1\": \" \"", "a class without a name"),
        (
            "\"model_type\": \"bert\"",
            "\"model_type\": \"roberta\"",
            "`model_type` is roberta",
        ),
        (
            "{",
            "{\"quantization_config\": {\"load_in_8bit\": true},",
            "`quantization_config` is given",
        ),
        ("{", "", "not a configuration"),
    ];
    for (from, to, needle) in cases {
        let copy = changed("bert", "config.json", |text| {
            assert!(text.contains(from));
            text.replacen(from, to, 1)
        });
        let error = refusal(&copy);
        assert!(error.contains(needle), "{error}");
    }
    let copy = changed("bert", "tokenizer.json", |text| {
        text.replacen("\"WordPiece\",\n    \"unk", "\"Other\",\n    \"unk", 1)
    });
    assert!(refusal(&copy).contains("not a usable tokenizer.json"));
    let weights = copy.path().join("model.safetensors");
    fs::copy(
        directory("bert").join("tokenizer.json"),
        copy.path().join("tokenizer.json"),
    )
    .unwrap();
    let bytes = fs::read(&weights).unwrap();
    fs::write(&weights, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refusal(&copy).contains("model.safetensors"));
    fs::copy(directory("distilbert").join("model.safetensors"), &weights).unwrap();
    assert!(refusal(&copy).contains("'bert.embeddings.word_embeddings.weight' is missing"));
    fs::remove_file(&weights).unwrap();
    assert!(refusal(&copy).contains("model.safetensors"));
    fs::remove_file(copy.path().join("config.json")).unwrap();
    assert!(refusal(&copy).contains("config.json"));
}

/// A tokenizer keeps capitals, and its settings leave out that it does: `transformers` takes them
/// away then, unless its class is none of BERT's.
#[test]
fn capitals_are_kept_where_the_settings_say_so() {
    let cased = |settings: &str| {
        let copy = changed("bert", "tokenizer.json", |text| {
            assert!(text.contains("\"lowercase\": true"));
            text.replacen("\"lowercase\": true", "\"lowercase\": false", 1)
        });
        if !settings.is_empty() {
            fs::write(copy.path().join("tokenizer_config.json"), settings).unwrap();
        }
        import(copy.path(), &[], None).map_err(|error| error.to_string())
    };
    for settings in [
        "",
        r#"{"do_lower_case": false}"#,
        r#"{"tokenizer_class": "PreTrainedTokenizerFast"}"#,
    ] {
        cased(settings).unwrap();
    }
    for settings in ["{}", r#"{"tokenizer_class": "BertTokenizer"}"#] {
        assert!(
            cased(settings)
                .unwrap_err()
                .contains("`do_lower_case` true")
        );
    }
    with_settings(
        "bert",
        r#"{"strip_accents": true, "cls_token": "[CLS]", "bos_token": null}"#,
    )
    .unwrap();
}

/// Imports the model `name` with `settings` beside its files.
fn with_settings(name: &str, settings: &str) -> Result<TransformerModel, String> {
    let copy = changed(name, "config.json", |text| text);
    fs::write(copy.path().join("tokenizer_config.json"), settings).unwrap();
    let imported = import(copy.path(), &[], None);
    imported
        .map(|(model, _)| model)
        .map_err(|error| error.to_string())
}

#[test]
fn settings_of_the_tokenizer_are_followed_or_refused() {
    let long = "the old woman writes her unbelievable stories";
    let model = with_settings(
        "bert",
        r#"{"model_max_length": 6, "truncation_side": "left", "do_lower_case": true}"#,
    )
    .unwrap();
    assert_eq!(model.max_length, 6);
    let all = self::model("bert").pieces(long).unwrap().ids;
    let kept = model.pieces(long).unwrap().ids;
    assert_eq!(kept[1..5], all[all.len() - 5..all.len() - 1]);
    let place = tempfile::tempdir().unwrap();
    model.save(place.path()).unwrap();
    let loaded = TransformerModel::load(place.path()).unwrap();
    assert_eq!(loaded.pieces(long).unwrap().ids, kept);
    let exported = tempfile::tempdir().unwrap();
    export(&loaded, exported.path()).unwrap();
    let (again, _) = import(exported.path(), &[], None).unwrap();
    assert_eq!(again.pieces(long).unwrap().ids, kept);
    // A limit that nobody set.
    let free = with_settings(
        "bert",
        r#"{"model_max_length": 1000000000000000019884624838656}"#,
    );
    assert_eq!(free.unwrap().max_length, self::model("bert").max_length);
    for (name, settings, needle) in [
        (
            "bert",
            r#"{"do_lower_case": false}"#,
            "`do_lower_case` false",
        ),
        (
            "bert",
            r#"{"tokenize_chinese_chars": false}"#,
            "`tokenize_chinese_chars`",
        ),
        (
            "roberta",
            r#"{"add_prefix_space": true}"#,
            "`add_prefix_space` true",
        ),
        ("bert", r#"{"cls_token": "[MASK]"}"#, "`cls_token` [MASK]"),
        (
            "bert",
            r#"{"unk_token": {"content": "the"}}"#,
            "`unk_token` the",
        ),
        (
            "roberta",
            r#"{"extra_special_tokens": ["hate"]}"#,
            "of its own, hate",
        ),
        (
            "bert",
            r#"{"added_tokens_decoder": {"7": {"content": "you"}}}"#,
            "of its own, you",
        ),
        (
            "bert",
            r#"{"split_special_tokens": true}"#,
            "`split_special_tokens`",
        ),
        ("bert", "[]", "not the settings of a tokenizer"),
    ] {
        let error = with_settings(name, settings).unwrap_err();
        assert!(error.contains(needle), "{error}");
    }
}

#[test]
fn tokenizers_that_a_network_of_one_text_cannot_follow_are_refused() {
    type Change = fn(&mut serde_json::Value);
    let cases: [(&str, Change, &str); 3] = [
        (
            "bert",
            |json| {
                json["post_processor"] = serde_json::json!({
                    "type": "TemplateProcessing",
                    "single": [{"Sequence": {"id": "A", "type_id": 1}}],
                    "pair": [],
                    "special_tokens": {}
                });
            },
            "into segment 1",
        ),
        (
            "bert",
            |json| {
                json["post_processor"] = serde_json::json!({
                    "type": "BertProcessing", "sep": ["[SEP]", 9999], "cls": ["[CLS]", 2]
                });
            },
            "it gives a piece number 9999",
        ),
        (
            "roberta",
            |json| json["model"]["dropout"] = 0.5.into(),
            "a dropout of 0.5",
        ),
    ];
    for (name, change, needle) in cases {
        let copy = changed(name, "tokenizer.json", |text| {
            let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
            change(&mut json);
            json.to_string()
        });
        let error = refusal(&copy);
        assert!(error.contains(needle), "{error}");
    }
}

#[test]
fn weights_in_several_files_are_named() {
    let copy = changed("bert", "config.json", |text| text);
    fs::remove_file(copy.path().join("model.safetensors")).unwrap();
    fs::write(copy.path().join("model.safetensors.index.json"), "{}").unwrap();
    assert!(refusal(&copy).contains("several files"));
}

#[test]
fn a_changed_model_is_refused() {
    let place = tempfile::tempdir().unwrap();
    model("bert").save(place.path()).unwrap();
    let tokenizer = place.path().join("tokenizer.json");
    let text = fs::read_to_string(&tokenizer).unwrap();
    fs::write(&tokenizer, format!("{text} ")).unwrap();
    assert!(TransformerModel::load(place.path()).is_err());
}

#[test]
fn gradients_of_words_are_sums_over_their_pieces() {
    for name in ["bert", "roberta", "xlm-roberta"] {
        let model = model(name);
        let network = TransformerNetwork::new(model.clone()).unwrap();
        let text = "my friend insulted the café";
        let words = [0..2, 3..9, 10..18, 19..22, 23..28];
        let cotangents = [1.0, 0.0, -1.0];
        let of_words = network
            .word_gradients(&[(text, &words)], &cotangents)
            .unwrap()
            .remove(0);
        let pieces = model.pieces(text).unwrap();
        let of_pieces = network
            .kernels()
            .input_gradients(&[&pieces.ids], &cotangents);
        let units = network.units();
        let mut sums = vec![0.0; 5 * units];
        let mut counts = [0; 5];
        for (piece, bytes) in pieces.bytes.iter().enumerate() {
            // Marks, and spaces between words, belong to none.
            let spelled = bytes
                .as_ref()
                .filter(|b| !text[(*b).clone()].trim().is_empty());
            let Some(bytes) = spelled else {
                continue;
            };
            let word = words.iter().position(|word| bytes.end <= word.end).unwrap();
            counts[word] += 1;
            for (sum, value) in sums[word * units..]
                .iter_mut()
                .zip(&of_pieces[piece * units..][..units])
            {
                *sum += value;
            }
        }
        assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
        assert_eq!(of_words, sums, "{name}");
        let vector = network.word_vector("friend").unwrap();
        assert!(vector.iter().any(|&value| value != 0.0));
        let alone = network.logits(&[text]).unwrap();
        assert_eq!(network.logits(&["you", text]).unwrap()[3..], alone);
    }
}
