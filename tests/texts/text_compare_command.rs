//! Comparing strategies on texts with the command: every search is that of an audit, and what comes
//! of it depends neither on threads, interruptions nor shards.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::probity_command::refusal::refuses;
use crate::probity_command::{Workspace, untimed};

const MODEL: &str = "--model demo/model --texts demo/comments.csv --text-column comment_text \
                     --protected religion,gender --seeds 30 --local 12";

fn demo() -> Workspace {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 2500").exits(0);
    workspace
}

/// What a phase came to, apart from its time.
fn counted(phase: &Value) -> Value {
    let mut phase = phase.clone();
    for key in ["seconds", "checks_per_second", "discriminatory_per_second"] {
        phase.as_object_mut().unwrap().remove(key);
    }
    phase
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// A repeat begins where an audit with its seed does, and finds the same.
#[test]
fn every_search_is_that_of_an_audit_with_its_seed() {
    let workspace = demo();
    let strategies = ["adf-asc", "rp", "frontier"];
    let line = format!(
        "compare {MODEL} --repeats 2 --strategies {}",
        strategies.join(",")
    );
    workspace
        .line(&format!("{line} --out compared"))
        .exits(0)
        .says(&["texts that finds were made of", "adf-asc", "Plausibility"]);
    let compared = workspace.summary("compared");
    assert_eq!(compared["texts"]["texts"], 2500);
    assert!(compared["data"].is_null());
    for (place, strategy) in strategies.iter().enumerate() {
        let of = &compared["strategies"][place];
        assert_eq!(of["strategy"], *strategy);
        let mut finds = Vec::new();
        for repeat in 0..2 {
            let run = &of["runs"][repeat];
            let audit = format!("{strategy}-{repeat}");
            workspace
                .line(&format!(
                    "audit {MODEL} --estimate 1 --strategy {strategy} --seed {} --out {audit}",
                    1 + repeat
                ))
                .exits(0);
            let audit = workspace.summary(&audit);
            for phase in ["global", "local", "total"] {
                let [a, b] = [run, &audit].map(|one| counted(&one[phase]));
                assert_eq!(a, b, "{strategy} {repeat} {phase}");
            }
            assert_eq!(run["finds"], audit["finds"], "{strategy} {repeat}");
            let curve = run["curve"].as_array().unwrap();
            assert_eq!(
                curve[curve.len() - 1]["diversity"],
                run["finds"]["diversity"]
            );
            finds.push(&run["finds"]);
        }
        assert_ne!(finds[0], finds[1], "repeats begin at other texts");
        for (figure, place) in [
            ("reached", "/reached"),
            ("hamming", "/diversity/hamming"),
            ("cells", "/diversity/cells"),
            ("clusters", "/diversity/clusters"),
            ("plausibility", "/diversity/plausibility"),
        ] {
            let [a, b] = [0, 1].map(|run: usize| number(finds[run].pointer(place).unwrap()));
            let mean = number(&of["finds"][figure]["mean"]);
            assert!((mean - (a + b) / 2.0).abs() < 1e-9, "{figure}");
        }
        assert!(of["finds"].get("l1").is_none());
    }
    // Every two are held against each other.
    assert_eq!(
        compared["shared_budget"]["pairs"].as_array().unwrap().len(),
        3
    );

    workspace.line("report compared --out page.html").exits(0);
    let page = workspace.read("page.html");
    for said in [
        "Differing words",
        "Texts that finds were made of",
        "begins at other texts",
    ] {
        assert!(page.contains(said), "{said}");
    }
    assert!(!page.contains("three parts an attribute"));
    workspace.line("report adf-asc-0 --out audit.html").exits(0);
    let page = workspace.read("audit.html");
    assert!(page.contains("of the words of the longer one"));
}

/// The samples of the same audit say which texts finds were made of, and what they keep.
#[test]
fn measures_are_those_of_the_samples() {
    let workspace = demo();
    workspace
        .line(&format!(
            "audit {MODEL} --estimate 1 --samples csv --min-fluency 0.001 --out audit"
        ))
        .exits(0);
    let text = workspace.read("audit/samples.csv");
    let mut csv = csv::Reader::from_reader(text.as_bytes());
    let names = csv.headers().unwrap().clone();
    let place = |name: &str| names.iter().position(|of| of == name).unwrap();
    let (row, phase, seed) = (place("source_row"), place("phase"), place("seed"));
    let (mut rows, mut seeds) = (BTreeSet::new(), BTreeSet::new());
    for record in csv.records() {
        let record = record.unwrap();
        rows.insert(record[row].to_owned());
        if &record[phase] == "global" {
            seeds.insert(record[seed].to_owned());
        }
    }
    let finds = &workspace.summary("audit")["finds"];
    assert_eq!(finds["seeds_reached"].as_u64(), Some(seeds.len() as u64));
    // Two texts of the file may lead to one individual, which was made of the first.
    let cells = finds["diversity"]["cells"].as_u64().unwrap();
    assert!(cells <= rows.len() as u64 && cells + 3 >= rows.len() as u64);
    let kept = number(&finds["diversity"]["plausibility"]);
    assert!(kept > 0.001 && kept <= 1.0, "{kept}");
}

#[test]
fn comparisons_of_texts_resume_and_are_cut() {
    let workspace = demo();
    let line = format!("compare {MODEL} --repeats 2 --strategies adf-hf,frontier,rp");
    workspace.line(&format!("{line} --out whole")).exits(0);
    let whole = untimed(&workspace.summary("whole"));
    let is_whole = |run: &str| assert_eq!(whole, untimed(&workspace.summary(run)), "{run}");
    workspace
        .line(&format!("{line} --threads 1 --batch 3 --out alone"))
        .exits(0);
    is_whole("alone");

    workspace
        .interrupted(&format!("{line} --out parts"), "checkpoint:3")
        .says(&["Interrupted after"]);
    workspace.line("compare --resume --out parts").exits(0);
    is_whole("parts");

    for shard in 1..=4 {
        workspace
            .line(&format!(
                "run whole/run.toml --shard {shard}/4 --out shards"
            ))
            .exits(0);
    }
    workspace.line("merge shards --out cut").exits(0);
    is_whole("cut");
}

#[test]
fn what_has_no_meaning_for_texts_is_refused() {
    let workspace = demo();
    for (more, needles) in [
        ("--strategies adf", &["one that searches texts"][..]),
        (
            "--plausibility fit",
            &["--plausibility", "no meaning for texts"],
        ),
        ("--step-local 2", &["--step-local", "no meaning for texts"]),
        (
            "--local-strategy sg",
            &["--local-strategy", "one that searches texts"],
        ),
        ("--strategies rp,rp", &["names each once"]),
    ] {
        refuses(
            &workspace,
            &format!("compare {MODEL} {more} --out refused"),
            2,
            needles,
        );
    }
    workspace.write("people.csv", "a,b\n1,2\n");
    refuses(
        &workspace,
        "compare --model demo/model --data people.csv --neighbours 5 --out refused",
        2,
        &["--neighbours", "no meaning for tables"],
    );
}
