//! Predictors of texts that are ONNX files (scripts/make-text-graphs.py), against what PyTorch makes
//! of them.
#![cfg(feature = "onnx")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::probity_command::{Outcome, Workspace, figures};
use probity::predictor::source::OutputKind;
use probity::predictor::texts::{OpenTextPredictor, TextGraph, TextPredictorOptions};
use serde_json::Value;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/transformers")
        .join(name)
}

fn options(file: &Path) -> TextPredictorOptions {
    TextPredictorOptions {
        source: format!("onnx:{}", file.display()).parse().unwrap(),
        directory: PathBuf::new(),
        timeout: Duration::from_secs(60),
        texts: 4096,
        classes: None,
        concurrency: 1,
        rate: None,
        retries: 3,
        votes: 1,
        tolerance: 1e-5,
        probabilities: Default::default(),
        graph: TextGraph::default(),
    }
}

/// `name.onnx`, the numbers of which are `gives`.
fn open(name: &str, gives: Option<OutputKind>) -> OpenTextPredictor {
    let mut options = options(&data(name));
    options.graph.gives = gives;
    options.open().unwrap()
}

fn recorded(name: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = std::fs::read_to_string(data(name).join("expected.json")).unwrap();
    let answers: Vec<Value> = serde_json::from_str(&text).unwrap();
    let numbers = |answer: &Value| -> Vec<f64> {
        let values = answer["values"].as_array().unwrap().iter();
        values.map(|value| value.as_f64().unwrap()).collect()
    };
    let text = |answer: &Value| answer["text"].as_str().unwrap().to_owned();
    (
        answers.iter().map(text).collect(),
        answers.iter().map(numbers).collect(),
    )
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let powers: Vec<f64> = logits.iter().map(|logit| logit.exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

const GRAPHS: [(&str, &str, Option<OutputKind>); 3] = [
    ("bert", "bert/model.onnx", None),
    (
        "distilbert",
        "distilbert/model.onnx",
        Some(OutputKind::Logits),
    ),
    (
        "roberta",
        "roberta/model.onnx",
        Some(OutputKind::Probabilities),
    ),
];

#[test]
fn probabilities_equal_those_of_pytorch() {
    for (name, file, gives) in GRAPHS {
        let opened = open(file, gives);
        assert_eq!(opened.classes, ["calm", "rude", "hateful"]);
        let (texts, expected) = recorded(name);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let logits = opened.classifier().logits(&texts).unwrap();
        for ((text, logits), expected) in texts.iter().zip(logits.chunks_exact(3)).zip(expected) {
            let logits: Vec<f64> = logits.iter().copied().map(f64::from).collect();
            for (found, expected) in softmax(&logits).iter().zip(softmax(&expected)) {
                assert!((found - expected).abs() < 1e-5, "{name}: {text}");
            }
        }
        let classifier = opened.classifier();
        assert!(!classifier.cuts("my friend").unwrap());
        assert!(classifier.cuts(&"my friend ".repeat(20)).unwrap());
    }
}

/// Also where the numbers of a run are scaled by what is in it.
#[test]
fn a_text_alone_has_the_bits_that_it_has_in_any_batch() {
    let (texts, _) = recorded("bert");
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let quantized = ("bert", "bert/quantized.onnx", None);
    for (_, file, gives) in GRAPHS.into_iter().chain([quantized]) {
        let whole = open(file, gives).classifier().logits(&texts).unwrap();
        let opened = open(file, gives);
        assert_eq!(opened.check_stability(&texts).unwrap(), 0.0);
        let classifier = opened.classifier();
        for (text, expected) in texts.iter().zip(whole.chunks_exact(3)).rev() {
            let alone = classifier.logits(&[text]).unwrap();
            assert_eq!(alone, expected, "{file}: {text}");
        }
        assert!(classifier.logits(&[]).unwrap().is_empty());
    }
}

/// A copy of `name` in `folder`, in which `change` has changed the text of `file`.
fn copied(folder: &Path, name: &str, file: &str, change: impl Fn(String) -> Option<String>) {
    for name in [
        format!("{name}/model.onnx"),
        format!("{name}/config.json"),
        format!("{name}/tokenizer.json"),
    ] {
        let to = folder.join(Path::new(&name).file_name().unwrap());
        std::fs::copy(data(&name), to).unwrap();
    }
    let place = folder.join(file);
    let text = std::fs::read_to_string(&place).unwrap_or_default();
    match change(text) {
        Some(text) => std::fs::write(place, text).unwrap(),
        None => std::fs::remove_file(place).unwrap(),
    }
}

fn refusal(file: &Path, change: impl Fn(&mut TextPredictorOptions)) -> String {
    let mut options = options(file);
    change(&mut options);
    match options.open() {
        Ok(_) => panic!("{} must be refused", file.display()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_no_classifier_of_texts_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.onnx");
    let names = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
    type Change = fn(String) -> Option<String>;
    let cases: [(&str, Change, &str); 8] = [
        ("config.json", |_| None, "name them in predictor.classes"),
        (
            "config.json",
            |_| Some("{".to_owned()),
            "config.json: not a configuration",
        ),
        (
            "config.json",
            |text| Some(text.replace("\"2\": \"hateful\"", "\"5\": \"hateful\"")),
            "`id2label` has 3 labels, but none for 2",
        ),
        (
            "config.json",
            |text| Some(text.replacen('{', "{\"problem_type\": \"regression\",", 1)),
            "`problem_type` is regression",
        ),
        (
            "config.json",
            |text| Some(text.replace("\"vocab_size\": 150", "\"vocab_size\": 15")),
            "it has a piece number 149, the network only 15",
        ),
        ("tokenizer.json", |_| None, "tokenizer.json: no such file"),
        (
            "tokenizer.json",
            |_| Some("{}".to_owned()),
            "not a usable tokenizer.json",
        ),
        (
            "model.onnx",
            |_| Some("nonsense".to_owned()),
            "model.onnx: not an ONNX model",
        ),
    ];
    for (file, change, needle) in cases {
        copied(folder.path(), "bert", file, change);
        let error = refusal(&model, |_| ());
        assert!(error.contains(needle), "{error}");
    }
    // A table of pieces, or of positions, that is shorter than the tokenizer needs.
    copied(folder.path(), "bert", "config.json", |text| {
        Some(text.replace(
            "\"max_position_embeddings\": 24",
            "\"max_position_embeddings\": 25",
        ))
    });
    let error = refusal(&model, |_| ());
    assert!(error.contains("it fails on 25 pieces"), "{error}");
    copied(folder.path(), "bert", "config.json", |text| {
        Some(text.replace("\"vocab_size\": 150", "\"vocab_size\": 1500"))
    });
    let roberta = data("roberta/tokenizer.json");
    let error = refusal(&model, |options| {
        options.graph.tokenizer = Some(roberta.clone());
    });
    assert!(
        error.contains("the tokenizer.json is of another model"),
        "{error}"
    );

    let bert = data("bert/model.onnx");
    let error = refusal(&bert, |options| {
        options.classes = names(&["rude", "calm", "hateful"])
    });
    assert!(
        error.contains("its classes calm, rude, hateful, in this order"),
        "{error}"
    );
    let error = refusal(&bert, |options| options.classes = names(&["yes", "no"]));
    assert!(error.contains("expected [texts, 2]"), "{error}");
    let error = refusal(&bert, |options| options.graph.output = Some("x".to_owned()));
    assert!(
        error.contains("no output 'x'; its outputs are logits"),
        "{error}"
    );
    let error = refusal(&data("roberta/model.onnx"), |_| ());
    assert!(
        error.contains("look like probabilities; say which they are"),
        "{error}"
    );
    // A graph of rows.
    let rows = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/predictors/matrix.onnx");
    let error = refusal(&rows, |options| options.classes = names(&["yes", "no"]));
    assert!(
        error.contains("is none that a text gives: input_ids"),
        "{error}"
    );
    // Others than those of the configuration are other names for the same.
    let mut renamed = options(&bert);
    renamed.classes = names(&["a", "b", "c"]);
    assert_eq!(renamed.open().unwrap().classes, ["a", "b", "c"]);
}

#[test]
fn what_it_answers_by_counts_and_where_it_lies_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.onnx");
    let here = options(&data("bert/model.onnx")).sha256().unwrap();
    copied(folder.path(), "bert", "config.json", Some);
    assert_eq!(options(&model).sha256().unwrap(), here);
    copied(folder.path(), "bert", "tokenizer.json", |text| {
        Some(text + "\n")
    });
    assert_ne!(options(&model).sha256().unwrap(), here);
    copied(folder.path(), "bert", "config.json", |text| {
        Some(text + "\n")
    });
    assert_ne!(options(&model).sha256().unwrap(), here);
    let mut other = options(&data("bert/model.onnx"));
    other.graph.gives = Some(OutputKind::Probabilities);
    assert_ne!(other.sha256().unwrap(), here);
}

/// Texts with a label, of people whom a search can exchange.
fn texts() -> String {
    let mut texts = String::from("text,label\n");
    for number in 0..60 {
        let who = [
            "The old woman",
            "My muslim neighbour",
            "A young man",
            "That christian friend",
        ][number % 4];
        let does = [
            "writes",
            "never forgets",
            "praised",
            "insulted",
            "understands",
        ][number % 5];
        let what = ["the café", "her stories", "you", "the doctor"][number / 2 % 4];
        let label = ["calm", "rude", "hateful"][number % 3];
        texts.push_str(&format!("{who} {does} {what},{label}\n"));
    }
    let long = "she praised the old man and ".repeat(9);
    texts.push_str(&format!("{long},calm\n"));
    texts
}

fn ask(workspace: &Workspace, file: &str, command: &str) -> Outcome {
    let predictor = format!("onnx:{}", data(file).display());
    let mut arguments: Vec<&str> = command.split_whitespace().collect();
    arguments.extend(["--texts", "texts.csv", "--text-column", "text"]);
    arguments.extend(["--predictor", &predictor]);
    workspace.run(arguments)
}

#[test]
fn a_graph_is_audited_verified_evaluated_and_measured() {
    let workspace = Workspace::new();
    workspace.write("texts.csv", texts());
    let audit =
        "audit --protected gender,religion --seeds 30 --local 10 --min-fluency 0 --values all";
    for (file, options) in [
        ("bert/model.onnx", ""),
        ("distilbert/model.onnx", "--strategy adf-zero-order"),
        ("roberta/model.onnx", "--onnx-gives probabilities"),
    ] {
        let run = file.split('/').next().unwrap();
        ask(&workspace, file, &format!("{audit} {options} --out {run}")).exits(0);
        let summary = workspace.summary(run);
        assert!(summary["texts"]["truncated"].as_u64().unwrap() > 0);
        let pairs = summary["total"]["discriminatory_rows"].as_u64().unwrap();
        // The others give one class to all texts.
        assert!(pairs > 0 || run != "distilbert");
        let verified = workspace
            .line(&format!("verify {run} --json"))
            .exits(0)
            .json();
        assert_eq!(verified["confirmed"], pairs);
    }
    let alone = format!("{audit} --threads 1 --out alone");
    ask(&workspace, "bert/model.onnx", &alone).exits(0);
    let found = figures(&workspace.summary("alone"));
    assert_eq!(found, figures(&workspace.summary("bert")));

    ask(&workspace, "bert/model.onnx", "predict --out said.csv").exits(0);
    assert_eq!(workspace.read("said.csv").lines().count(), 62);
    let evaluate = "evaluate --label-column label --json";
    let evaluation = ask(&workspace, "bert/model.onnx", evaluate).exits(0).json();
    assert!(evaluation["accuracy"].as_f64().unwrap() < 1.0);
    let groups = "groups --label-column label --positive rude --min-group 5 --json";
    let groups = ask(&workspace, "bert/model.onnx", groups).exits(0).json();
    assert_eq!(groups["modality"], "text");
    for (options, needle) in [
        ("--strategy adf-asc", "it needs gradients"),
        (
            "--predictor-concurrency 2",
            "has no meaning for an ONNX file",
        ),
        ("--predictor-votes 3", "has no meaning for an ONNX file"),
        ("--onnx-categories onehot", "has no meaning for texts"),
        ("--onnx-tokenizer absent.json", "absent.json: no such file"),
    ] {
        ask(
            &workspace,
            "bert/model.onnx",
            &format!("{audit} {options} --out no"),
        )
        .exits(2)
        .complains(&[needle]);
    }
}
