//! Predictors: the answers of a process, ONNX graphs, sentence encoders.

use std::path::Path;

use probity_nn::{Classifier, Rows};
use probity_predictor::encoder::SentenceEncoder;
use probity_predictor::onnx::OnnxPredictor;
use probity_predictor::probabilities::of_score;
use probity_predictor::protocol::{Answer, Welcome};
use probity_predictor::source::{Categories, GraphOptions, OutputKind};
use probity_predictor::texts::protocol;

use super::fixtures::{Make, people, schema};
use super::weights::recorded;
use crate::target::{Execution, Input, Seen, Target, Verdict, read};

pub const ALL: &[(&str, Make)] = &[
    ("welcome", welcome),
    ("answer", answer),
    ("text-welcome", text_welcome),
    ("text-answer", text_answer),
    ("onnx", onnx),
    ("encoder", encoder),
];

fn welcome(_: &Path) -> anyhow::Result<Target> {
    let schema = schema()?;
    let seeds = vec![
        Input::one("line", "{\"protocol\": 1}"),
        Input::one(
            "line",
            "{\"protocol\": 1, \"classes\": [\"high\", \"low\"]}",
        ),
        Input::one("line", "{\"error\": \"no model\"}"),
    ];
    let classes = schema.label.classes.len();
    let check = move |execution: &Execution<'_>| match Welcome::read(execution.bytes(), 1, &schema)
    {
        Ok(order) if order.len() == classes && order.iter().all(|&at| at < classes) => {
            Ok(Seen::Accepted)
        }
        Ok(_) => Err("the order is not of the classes".to_owned()),
        Err(_) => Ok(Seen::Refused),
    };
    Ok(Target::new("welcome", seeds, check).words(&["protocol", "classes", "error", "NaN"]))
}

fn answer(_: &Path) -> anyhow::Result<Target> {
    let seeds = vec![
        Input::one(
            "line",
            "{\"batch\": 7, \"probabilities\": [[0.25, 0.75], [1, 0]]}",
        ),
        Input::one("line", "{\"batch\": 7, \"scores\": [0.5, 1e-3]}"),
        Input::one("line", "{\"batch\": 7, \"error\": \"no\"}"),
    ];
    let check = |execution: &Execution<'_>| {
        let Ok(answer) = Answer::read(execution.bytes(), 2, 7, 2) else {
            return Ok(Seen::Refused);
        };
        if answer.len() != 2 {
            return Err("it is no answer to two rows".to_owned());
        }
        let scores = answer.iter().flatten().map(|&score| of_score(score));
        std::hint::black_box(scores.count());
        Ok(Seen::Accepted)
    };
    Ok(Target::new("answer", seeds, check).words(&["batch", "probabilities", "scores", "NaN"]))
}

/// A target that reads the message in which a process of texts describes itself.
fn text_welcome(_: &Path) -> anyhow::Result<Target> {
    let seeds = vec![
        Input::one(
            "line",
            "{\"protocol\": 1, \"classes\": [\"rude\", \"fine\"], \"texts_at_most\": 64}",
        ),
        Input::one(
            "line",
            "{\"protocol\": 1, \"classes\": [\"a\", \"b\", \"c\"]}",
        ),
        Input::one("line", "{\"error\": \"no model\"}"),
    ];
    let given = ["fine", "rude"].map(str::to_owned);
    let check = move |execution: &Execution<'_>| {
        let mut seen = Seen::Refused;
        for given in [None, Some(&given[..])] {
            let Ok(welcome) = protocol::Welcome::read(execution.bytes(), 1, given) else {
                continue;
            };
            let classes = welcome.classes.len();
            let mut order = welcome.order.clone();
            order.sort_unstable();
            if classes < 2 || !order.into_iter().eq(0..classes) || welcome.texts_at_most == Some(0)
            {
                return Err(format!("{welcome:?} is no welcome"));
            }
            seen = Seen::Accepted;
        }
        Ok(seen)
    };
    Ok(Target::new("text-welcome", seeds, check).words(&[
        "protocol",
        "classes",
        "texts_at_most",
        "error",
        "null",
    ]))
}

/// A target that reads the answers of a process of texts.
fn text_answer(_: &Path) -> anyhow::Result<Target> {
    let seeds = vec![
        Input::one(
            "line",
            "{\"batch\": 7, \"probabilities\": [[0.25, 0.75], null], \"retry_after\": 2.5, \"reason\": \"busy\"}",
        ),
        Input::one("line", "{\"batch\": 7, \"scores\": [0.5, null]}"),
        Input::one("line", "{\"batch\": 7, \"error\": \"no\"}"),
    ];
    let check = |execution: &Execution<'_>| {
        let Ok(reply) = protocol::Reply::read(execution.bytes(), 2, 7, 2) else {
            return Ok(Seen::Refused);
        };
        match reply.probabilities.len() {
            2 => Ok(Seen::Accepted),
            _ => Err("it is no answer to two texts".to_owned()),
        }
    };
    Ok(Target::new("text-answer", seeds, check).words(&[
        "batch",
        "probabilities",
        "scores",
        "retry_after",
        "reason",
        "null",
        "NaN",
        "-1",
        "1e999",
    ]))
}

const GRAPH: &[&str] = &[
    "Gather",
    "Expand",
    "ConstantOfShape",
    "Range",
    "Tile",
    "Pad",
    "OneHot",
    "Resize",
    "Loop",
    "If",
    "Concat",
    "Reshape",
    "MatMul",
    "Softmax",
    "ai.onnx.ml",
    "TreeEnsembleClassifier",
    "input_ids",
    "\x12\u{7f}",
];

/// A target that asks an ONNX graph as a predictor: it gives finite numbers, and the same ones
/// again, or an error.
fn onnx(_: &Path) -> anyhow::Result<Target> {
    let folder = recorded("predictors");
    let names = ["matrix", "indicators", "columns", "trees", "words"];
    let seeds = names
        .iter()
        .map(|name| {
            let file = folder.join(format!("{name}.onnx"));
            Ok(Input::one("graph.onnx", std::fs::read(file)?))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let (schema, table) = people(3)?;
    let check = move |execution: &Execution<'_>| {
        let mut seen = Seen::Refused;
        let mut indicators = GraphOptions::default();
        indicators.categories = Categories::Onehot;
        indicators.gives = OutputKind::Logits;
        for options in [GraphOptions::default(), indicators] {
            let Ok(predictor) = OnnxPredictor::open(&execution.file(), &schema, &options) else {
                continue;
            };
            let rows = Rows::new(table.codes(), table.width());
            let (first, second) = (predictor.logits(rows), predictor.logits(rows));
            let (Ok(first), Ok(second)) = (first, second) else {
                continue;
            };
            if first.iter().any(|number| !number.is_finite()) {
                return Err("an answer is not finite".to_owned());
            }
            if first != second {
                return Err("the same rows have other answers".to_owned());
            }
            seen = Seen::Accepted;
        }
        Ok(seen)
    };
    Ok(Target::new("onnx", seeds, check)
        .words(GRAPH)
        .memory(1024, 64 << 20))
}

/// A target that reads a sentence encoder with its tokenizer.
fn encoder(_: &Path) -> anyhow::Result<Target> {
    let folder = recorded("sentence_encoder");
    let tokenizer = std::fs::read(folder.join("tokenizer.json"))?;
    let seeds = ["transformer", "pooled", "fixed_length"]
        .iter()
        .map(|name| {
            let graph = std::fs::read(folder.join(format!("{name}.onnx")))?;
            Ok(Input {
                files: vec![
                    ("graph.onnx".to_owned(), graph),
                    ("tokenizer.json".to_owned(), tokenizer.clone()),
                ],
            })
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let check = |execution: &Execution<'_>| -> Verdict {
        match SentenceEncoder::open(&execution.file(), None) {
            Ok(encoder) => read(encoder.embed("She is Norwegian.")),
            Err(_) => Ok(Seen::Refused),
        }
    };
    Ok(Target::new("encoder", seeds, check)
        .words(GRAPH)
        .memory(1024, 64 << 20))
}
