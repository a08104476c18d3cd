//! Repair of text classifiers: with the texts of audits, swept, labelled by each rule, stopped and
//! gone on with.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::probity_command::refusal::refuses;
use crate::probity_command::{Outcome, Workspace};
use probity::fairness::repair::{
    Repair, RepairError, RepairProgress, RepairSpecification, TextRepair,
};
use probity::run::run_directory::RunDirectory;
use probity::run::sealed::{Form, write_text};
use probity::run::specification::Specification;
use probity::tensor::device::ComputeDevice;
use serde_json::Value;

/// The demo on few comments, audited by religion and by gender.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 2500").exits(0);
    for attribute in ["religion", "gender"] {
        workspace
            .line(&format!(
                "audit --model demo/model --texts demo/comments.csv --text-column comment_text --protected {attribute} \
                 --seeds 300 --local 20 --max-found 400 --samples csv --out {attribute} -q"
            ))
            .exits(0);
    }
    workspace
}

const REPAIR: &str = "repair --model demo/model --texts demo/comments.csv --method samples --repeats 2 --seeds 100 --local 20 --max-found 200 -q";

/// A repair that is saved whatever is said against it.
fn repaired(workspace: &Workspace, line: &str) -> Outcome {
    let outcome = workspace.line(&format!("{line} --save-anyway"));
    assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    outcome
}

/// A summary without its time.
fn untimed(mut summary: Value) -> Value {
    summary["seconds"] = Value::Null;
    summary
}

#[test]
fn texts_of_audits_are_learnt_from_and_held_out_ones_are_not() {
    let workspace = workspace();
    let line = format!("{REPAIR} --run religion --run gender --sweep 0.5,0.1");
    let mut saved = Vec::new();
    for label in ["majority", "seed", "ensemble"] {
        let line = format!("{line} --label-rule {label} --out {label} --json");
        let summary = repaired(&workspace, &line).json();
        assert_eq!(summary, workspace.summary(label));
        assert_eq!(
            summary["protected"],
            serde_json::json!(["religion", "gender"])
        );
        let mut all = 0;
        for (run, attribute) in summary["runs"]
            .as_array()
            .unwrap()
            .iter()
            .zip(["religion", "gender"])
        {
            let found = workspace.read(&format!("{attribute}/samples.csv"));
            let mut csv = csv::Reader::from_reader(found.as_bytes());
            let texts = csv.records().count() as u64;
            let (samples, held_out) = (
                run["samples"].as_u64().unwrap(),
                run["held_out"].as_u64().unwrap(),
            );
            assert_eq!(samples + held_out, texts, "each text once");
            // 30 % of the texts validate or test; seeds are taken from all of them.
            assert!(held_out > 0 && samples > held_out, "{run}");
            all += samples;
        }
        assert_eq!(summary["found"].as_u64(), Some(all));
        let points = summary["points"].as_array().unwrap();
        let shares: Vec<f64> = points
            .iter()
            .map(|point| point["share"].as_f64().unwrap())
            .collect();
        assert_eq!(shares, [0.1, 0.5]);
        for point in points {
            let networks = point["networks"].as_array().unwrap();
            assert_eq!(networks.len(), 2);
            let samples = point["samples"].as_f64().unwrap();
            let share = point["share"].as_f64().unwrap();
            // Each run's share is rounded up.
            assert!(
                (0.0..2.0).contains(&(samples - share * all as f64)),
                "{point}"
            );
            assert_eq!(point["variants"].as_f64(), Some(2.0 * samples));
        }
        let chosen = &summary["chosen"];
        let point = &points[usize::from(chosen["share"] == 0.5)];
        let of_chosen = |network: &&Value| network["repeat"] == chosen["repeat"];
        let networks = point["networks"].as_array().unwrap();
        let saved_one = networks.iter().find(of_chosen).unwrap();
        assert_eq!(saved_one["repaired"], chosen["repaired"]);
        // Of two, the one with more of it is kept.
        let figure = |network: &Value| network["choice"]["discriminatory"].as_f64().unwrap();
        assert!(
            networks
                .iter()
                .all(|network| figure(saved_one) >= figure(network))
        );
        assert!(
            workspace
                .read(&format!("{label}/trade-off.svg"))
                .starts_with("<svg")
        );
        saved.push(summary["points"].to_string());
    }
    assert!(
        saved[0] != saved[1] || saved[1] != saved[2],
        "the rules differ in something"
    );
    // The saved model is a model like any other.
    workspace
        .line("audit --model majority --texts demo/comments.csv --text-column comment_text --protected religion --seeds 20 --local 2 --out again -q")
        .exits(0);
}

/// Stopped in a search, among the controls and among the networks with the remedy.
#[test]
fn a_stopped_repair_goes_on() {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 1000").exits(0);
    // A small network: what goes on is a matter of bookkeeping.
    workspace
        .line("train --texts demo/comments.csv --text-column comment_text --label-column toxic --layers 1 --units 6 --epochs 6 --out small -q")
        .exits(0);
    let repair = REPAIR
        .replace("demo/model", "small")
        .replace("--max-found 200", "--max-found 60");
    repaired(
        &workspace,
        &format!("{repair} --protected religion --label-rule ensemble --sweep 0.1,0.4 --out whole"),
    );
    let whole = workspace.summary("whole");
    let (_, specification, _) =
        RunDirectory::open_specified::<RepairSpecification>(&workspace.path("whole")).unwrap();
    let epochs = 6;
    let device = ComputeDevice::flex();
    let repair = Repair::<TextRepair>::open(specification.check().unwrap(), &device).unwrap();
    // Several networks are trained at a time, so that how many are complete is not known in
    // advance.
    for stop in [0, 1, epochs + 2, 4 * epochs + 1] {
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
        let (searched, first) = (AtomicBool::new(false), AtomicU64::new(u64::MAX));
        let summary = repair
            .run(&directory, true, &|progress| {
                match progress {
                    RepairProgress::Search => searched.store(true, Ordering::SeqCst),
                    RepairProgress::Train { epochs, .. } => {
                        first.fetch_min(epochs, Ordering::SeqCst);
                    }
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(searched.into_inner(), stop == 0, "stopped at {stop}");
        let first = first.into_inner();
        assert_eq!(
            first % epochs,
            1,
            "whole networks are kept, stopped at {stop}"
        );
        assert!(stop < 4 * epochs || first > epochs, "stopped at {stop}");
        let resumed = serde_json::from_str(&serde_json::to_string(&summary).unwrap()).unwrap();
        assert_eq!(untimed(resumed), untimed(whole.clone()));
        assert!(!directory.file("checkpoint.bin").exists());
    }
    workspace
        .line("repair --resume --out whole")
        .exits(2)
        .complains(&["is complete"]);
}

/// What a repair of texts learns from, and how its model was trained, is what it began with.
#[test]
fn a_stopped_repair_goes_on_with_what_it_began_with() {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 1000").exits(0);
    let audit = |options: &str| {
        workspace
            .line(&format!(
                "audit --model demo/model --texts demo/comments.csv --text-column comment_text --local 10 \
                 --max-found 60 -q {options}"
            ))
            .exits(0);
    };
    audit("--protected religion --seeds 100 --out ra");
    audit("--protected gender --seeds 100 --out other");
    let line = REPAIR.replace("--max-found 200", "--max-found 40");
    let line = format!("{line} --run ra --share 0.3 --epochs 30");
    workspace
        .interrupted(&format!("{line} --out z"), "checkpoint")
        .exits(2);
    let resume = "repair --resume --out z";
    let says = |what| [what, "changed since the run began"];
    std::fs::rename(workspace.path("ra"), workspace.path("kept")).unwrap();
    workspace.copy_folder("other", "ra");
    refuses(&workspace, resume, 2, &says("/ra"));
    std::fs::remove_dir_all(workspace.path("ra")).unwrap();
    std::fs::rename(workspace.path("kept"), workspace.path("ra")).unwrap();
    let provenance = workspace.read("demo/model/provenance.toml");
    // Sealed anew by somebody who knows how.
    let (_, text) = provenance.split_once('\n').unwrap();
    let text = text.replace("patience = ", "patience = 1");
    assert!(!provenance.contains(&text));
    write_text(
        &workspace.path("demo/model/provenance.toml"),
        Form {
            kind: "provenance",
            version: "2",
        },
        &text,
    )
    .unwrap();
    refuses(&workspace, resume, 2, &says("demo/model/provenance.toml"));
    workspace.write("demo/model/provenance.toml", &provenance);
    let resumed = workspace.line("repair --resume --out z --save-anyway -q");
    assert!(matches!(resumed.code, Some(0 | 1)), "{}", resumed.stderr);
}

#[test]
fn what_cannot_be_repaired_is_refused_before_anything_is_written() {
    let workspace = workspace();
    workspace.line("demo --out tables --rows 1000").exits(0);
    workspace
        .line("train --texts demo/comments.csv --text-column comment_text --label-column toxic --epochs 1 --seed 9 --out other -q")
        .exits(0);
    let certified = REPAIR.replace("--method samples", "--method certified");
    let by_default = REPAIR.replace("--method samples ", "");
    for (line, needles) in [
        (REPAIR.to_owned(), &["--protected is missing", "runs"][..]),
        (
            format!("{REPAIR} --run tables/audit"),
            &["searched a table", "texts"],
        ),
        (
            format!("{REPAIR} --run religion --run religion"),
            &["--run is", "given once"],
        ),
        (
            format!("{REPAIR} --run religion --protected religion"),
            &["--protected"],
        ),
        (
            format!("{} --run religion", REPAIR.replace("demo/model", "other")),
            &["searched another model than"],
        ),
        (
            format!("{REPAIR} --run religion --kappa 0.5"),
            &["--kappa is given", "method certified"],
        ),
        (
            format!("{certified} --run religion --label-rule seed"),
            &["--label-rule is given", "samples"],
        ),
        (
            format!("{certified} --run religion --sweep 0.1,0.2"),
            &["--share is given", "samples"],
        ),
        (
            format!("{by_default} --run religion --share 0.1"),
            &["--share is given", "unless method is samples"],
        ),
        (
            format!(
                "{} --run religion",
                REPAIR.replace("--repeats 2", "--repeats 1")
            ),
            &["--repeats is 1", "save_anyway"],
        ),
        (
            format!("{REPAIR} --run religion --sweep 0.1,2"),
            &["--sweep <SHARE", "from 0.000001 to 1"],
        ),
        (
            format!("{REPAIR} --run religion --weight 1"),
            &["--weight is given", "modality is text"],
        ),
        (
            "repair --model tables/model --data tables/people.csv --run religion".to_owned(),
            &["searched texts", "tables"],
        ),
    ] {
        refuses(&workspace, &line, 2, needles);
    }
}

/// Texts are certified unless samples are asked for; those must do better than retraining alone.
/// Both have pages.
#[test]
fn texts_are_certified_and_samples_must_gain_something() {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 1200").exits(0);
    let repair = REPAIR.replace("--max-found 200", "--max-found 60");
    let by_default = repair.replace("--method samples ", "");
    repaired(
        &workspace,
        &format!("{by_default} --protected religion --out certified"),
    );
    assert_eq!(workspace.summary("certified")["method"], "certified");
    // One sample gains nothing that could be told from chance.
    let line = format!("{repair} --protected religion --share 0.000001 --out samples");
    let repaired = workspace.line(&line).exits(1);
    let summary = workspace.summary("samples");
    assert_eq!(summary["points"][0]["samples"], 1);
    let control = &summary["verdict"]["against_control"];
    assert_eq!(control["standing"], "alike");
    // Of two networks on few texts the interval may be so wide that nothing is told.
    let ends = [0_usize, 1].map(|end| control["gained"]["ci95"][end].as_f64().unwrap_or_default());
    assert!(ends[0] >= -1.0 && ends[1] <= 1.0, "{control}");
    let alike = match ends[1] - ends[0] > 0.5 {
        true => "Too few texts were found, or networks trained, to tell",
        false => "Training anew without a remedy does as well",
    };
    let repaired = repaired.says(&["nothing was saved", alike]);
    let is_told = [
        "The repair did not help: ",
        "Whether the repair helped is not shown",
    ];
    let is_told = is_told.map(|said| repaired.stdout.contains(said));
    assert_ne!(is_told[0], is_told[1], "{}", repaired.stdout);
    assert!(!workspace.path("samples/model.toml").exists());
    for format in ["html", "markdown", "json", "model-card"] {
        workspace
            .line(&format!(
                "report samples certified --format {format} --out page --force"
            ))
            .exits(0);
        let page = workspace.read("page");
        let needle = match format {
            "json" => "\"standing\": \"alike\"",
            "model-card" => "Fair texts after",
            _ => alike,
        };
        assert!(page.contains(needle), "{format}: {page}");
    }
    workspace
        .line("repair --resume --out samples --save-anyway -q")
        .exits(1)
        .says(&["; the model was saved all the same."]);
    assert!(workspace.path("samples/model.toml").exists());
}
