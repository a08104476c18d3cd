//! Repair of transformers by samples: fresh ones and heads on imported encoders, with the texts of
//! audits and with those of its own searches, stopped and gone on with, written back as Hugging
//! Face keeps them.

use std::ops::ControlFlow;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use probity::fairness::repair::{
    Repair, RepairError, RepairProgress, RepairSpecification, TextRepair, TransformerLearner,
};
use probity::nn::transformer_model::TransformerModel;
use probity::run::run_directory::RunDirectory;
use probity::run::specification::Specification;
use probity::tensor::device::ComputeDevice;
use serde_json::{Value, json};

/// The demo on few comments, and a small transformer trained on them.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 1000").exits(0);
    workspace
        .line(
            "train --texts demo/comments.csv --text-column comment_text --label-column toxic \
             --blocks 1 --heads 2 --width 16 --inner 16 --pieces 40 --epochs 60 --weight-decay 0 --out model -q",
        )
        .exits(0);
    workspace
}

const REPAIR: &str = "repair --model model --texts demo/comments.csv --method samples --repeats 2 \
                      --seeds 120 --local 5 --max-found 60 --epochs 20 --save-anyway -q";

fn repaired(workspace: &Workspace, line: &str) -> Value {
    let outcome = workspace.line(line);
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    let (_, out) = line.rsplit_once("--out ").unwrap();
    workspace.summary(out)
}

/// The model of the tests `name`, as Hugging Face keeps it.
fn fixture(name: &str) -> String {
    format!("{}/tests/transformers/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn untimed(mut summary: Value) -> Value {
    summary["seconds"] = Value::Null;
    summary
}

#[test]
fn texts_of_audits_are_learnt_from_as_they_are_written() {
    let workspace = workspace();
    // Read with other word vectors and cut elsewhere than the repair does: its words are the run's.
    workspace.write("few.txt", "people 1 0\nwomen 0.9 0.1\nbook 0 1\n");
    for (attribute, options) in [
        ("religion", "--max-length 14"),
        ("gender", "--embeddings few.txt"),
    ] {
        workspace
            .line(&format!(
                "audit --model model --texts demo/comments.csv --text-column comment_text \
                 --protected {attribute} --seeds 120 --local 5 --max-found 100 --samples csv \
                 {options} --out {attribute} -q"
            ))
            .exits(0);
    }
    for label in ["majority", "seed", "ensemble"] {
        let summary = repaired(
            &workspace,
            &format!(
                "{REPAIR} --run religion --run gender --sweep 0.5,0.1 --label-rule {label} --out {label}"
            ),
        );
        assert_eq!(summary["protected"], json!(["religion", "gender"]));
        for (run, attribute) in summary["runs"]
            .as_array()
            .unwrap()
            .iter()
            .zip(["religion", "gender"])
        {
            let found = workspace.read(&format!("{attribute}/samples.csv"));
            let texts = csv::Reader::from_reader(found.as_bytes()).records().count() as u64;
            let (samples, held_out) = (&run["samples"], &run["held_out"]);
            let both = samples.as_u64().unwrap() + held_out.as_u64().unwrap();
            assert_eq!(both, texts, "each text once");
        }
        // Of the model's own independent set all texts are discriminatory, and what is certified by
        // trying all exchanges is what is fair.
        let before = &summary["before"];
        assert_eq!(before["repaired"]["count"], 0);
        assert!(summary["independent"].as_u64().unwrap() > 0);
        for network in summary["control"].as_array().unwrap() {
            assert_eq!(network["certified"], network["fair"]);
        }
        assert_eq!(summary["finished"], true);
    }
    workspace
        .line(
            "audit --model majority --texts demo/comments.csv --text-column comment_text \
             --protected religion --seeds 20 --local 2 --out again -q",
        )
        .exits(0);
    workspace.line("verify again").exits(0);
    workspace
        .line("evaluate --model majority --texts demo/comments.csv --text-column comment_text --label-column toxic --part test")
        .exits(0);
    for format in ["html", "markdown", "json", "model-card"] {
        workspace
            .line(&format!(
                "report majority --format {format} --out page --force"
            ))
            .exits(0);
    }
}

/// Stopped in a search, among the controls and among the networks with the samples.
#[test]
fn a_stopped_repair_goes_on() {
    let workspace = workspace();
    let whole = repaired(
        &workspace,
        &format!("{REPAIR} --protected religion --label-rule ensemble --share 0.4 --out whole"),
    );
    let (_, specification, _) =
        RunDirectory::open_specified::<RepairSpecification>(&workspace.path("whole")).unwrap();
    let device = ComputeDevice::flex();
    let repair =
        Repair::<TextRepair<TransformerLearner>>::open(specification.check().unwrap(), &device)
            .unwrap();
    let epochs = 20;
    for stop in [0, 1, epochs + 2, 3 * epochs + 1] {
        let directory = RunDirectory::create(&workspace.path(&format!("stop-{stop}"))).unwrap();
        let stopped = repair.run(&directory, false, &|progress| {
            let is_there = match progress {
                RepairProgress::Search => stop == 0,
                RepairProgress::Train { epochs, .. } => epochs >= stop,
            };
            match is_there {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        match stopped {
            Ok(summary) => assert!(!summary.finished),
            Err(error) => assert!(matches!(error, RepairError::Interrupted), "{error}"),
        }
        let summary = repair.run(&directory, true, &|_| ControlFlow::Continue(()));
        let resumed = serde_json::to_string(&summary.unwrap()).unwrap();
        let resumed: Value = serde_json::from_str(&resumed).unwrap();
        assert_eq!(
            untimed(resumed),
            untimed(whole.clone()),
            "stopped at {stop}"
        );
    }
}

/// A classifier on an imported encoder, and then another head alone on that one's.
#[test]
fn a_repaired_model_goes_back_to_hugging_face() {
    let workspace = Workspace::new();
    workspace.write("texts.csv", sentences());
    workspace
        .run(["import", "--hf", &fixture("bert"), "--out", "bert"])
        .exits(0);
    for (model, options) in [
        (
            "whole",
            "--encoder bert --epochs 30 --learning-rate 0.003 --weight-decay 0",
        ),
        (
            "head",
            "--encoder whole --freeze --epochs 30 --learning-rate 0.02",
        ),
    ] {
        workspace
            .line(&format!(
                "train --texts texts.csv --text-column text --label-column label {options} \
                 --out {model} -q"
            ))
            .exits(0);
        repaired(
            &workspace,
            &format!(
                "repair --model {model} --texts texts.csv --method samples --protected gender \
                 --repeats 2 --seeds 60 --local 5 --max-found 40 --share 0.5 --save-anyway -q \
                 --out {model}-repaired"
            ),
        );
        workspace
            .line(&format!("export --model {model}-repaired --hf {model}-hf"))
            .exits(0);
        workspace
            .line(&format!("import --hf {model}-hf --out {model}-again"))
            .exits(0);
        let predicted = |model: &str| {
            workspace
                .line(&format!(
                    "predict --model {model} --texts texts.csv --text-column text"
                ))
                .exits(0)
                .stdout
                .clone()
        };
        let repaired = predicted(&format!("{model}-repaired"));
        assert_eq!(repaired, predicted(&format!("{model}-again")));
        assert_ne!(repaired, predicted(model));
    }
    let encoder = |model: &str| {
        let weights = TransformerModel::load(workspace.path(model))
            .unwrap()
            .weights;
        weights.values[..weights.shape.head_start()].to_vec()
    };
    assert!(encoder("whole-repaired") != encoder("bert"));
    assert!(
        encoder("head-repaired") == encoder("whole"),
        "it stays as it is"
    );
}

/// Short texts that are rude by their verb, and some by whom they are about.
fn sentences() -> String {
    let mut csv = "text,label\n".to_owned();
    let subjects = ["he", "she", "man", "woman", "boy", "girl"];
    for (number, subject) in subjects.iter().enumerate() {
        for (verb, rude) in [("helps", 0), ("hates", 1), ("loves", 0), ("hits", 1)] {
            for (place, object) in ["us", "you", "them", "me", "it"].iter().enumerate() {
                let label = if number % 2 == 1 && place < 3 {
                    1
                } else {
                    rude
                };
                csv.push_str(&format!("the {subject} {verb} {object},{label}\n"));
            }
        }
    }
    csv
}

#[test]
fn what_transformers_are_not_repaired_by_is_refused() {
    let workspace = workspace();
    for (line, needles) in [
        (
            REPAIR.replace("--method samples ", "") + " --protected religion",
            &["--method is certified", "samples", "no interval bounds"][..],
        ),
        (
            REPAIR.replace("samples", "certified") + " --protected religion",
            &["--method is certified", "samples"],
        ),
        (
            format!("{REPAIR} --protected religion --splits 5"),
            &["--splits is given", "trying all exchanges"],
        ),
    ] {
        refuses(&workspace, &line, 2, needles);
    }
    workspace
        .run(["import", "--hf", &fixture("bert"), "--out", "bert"])
        .exits(0);
    let line = REPAIR.replace("--model model", "--model bert") + " --protected religion";
    refuses(&workspace, &line, 2, &["does not say how it was trained"]);
}
