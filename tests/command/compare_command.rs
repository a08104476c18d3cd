//! `probity compare` and `probity audit --strategy` as a user runs them.

use crate::probity_command::{Workspace, figures, untimed};

/// Enough people to learn the planted rule from.
const PEOPLE: u32 = 2000;

const COMPARE: &str =
    "compare --model demo/model --data demo/people.csv --protected sex --seeds 60 --local 20";

/// Every strategy audits a table, resumes after an interruption to the same result, and what it
/// finds is confirmed one by one.
#[test]
fn every_strategy_audits_resumes_and_verifies() {
    let workspace = Workspace::with_demo(PEOPLE);
    for strategy in [
        "frontier",
        "frontier-zero-order",
        "adf",
        "eidig",
        "adf-zero-order",
        "sg",
        "aequitas-fully",
        "aequitas-semi",
        "aequitas-random",
        "themis",
        "random-walk",
    ] {
        // themis searches around nothing that it finds.
        let local = if strategy == "themis" {
            ""
        } else {
            "--local 20"
        };
        let audit = format!(
            "audit --model demo/model --data demo/people.csv --protected sex --strategy {strategy} \
             --seeds 60 {local} --estimate 200 --samples csv"
        );
        workspace
            .line(&format!("{audit} --out {strategy}"))
            .exits(0);
        let whole = workspace.json(&format!("{strategy}/summary.json"));
        assert_eq!(whole["strategy"], strategy);
        assert!(whole["total"]["discriminatory"].as_u64().unwrap() > 5);
        assert_eq!(
            whole["causal_discrimination"].is_object(),
            strategy == "themis"
        );
        workspace
            .line(&format!("verify {strategy}"))
            .exits(0)
            .says(&[" 0 rejected"]);

        let parts = format!("{strategy}-parts");
        workspace
            .line(&format!("{audit} --time 1us --out {parts}"))
            .exits(0);
        workspace
            .line(&format!("audit --resume --out {parts}"))
            .exits(0);
        let resumed = workspace.json(&format!("{parts}/summary.json"));
        assert_eq!(figures(&resumed), figures(&whole));
        assert!(
            workspace.read(&format!("{strategy}/samples.csv"))
                == workspace.read(&format!("{parts}/samples.csv"))
        );
    }
}

/// The table, the plots and the summary of a comparison; the same figures again with the same seed.
#[test]
fn a_comparison_is_complete_and_repeatable() {
    let workspace = Workspace::with_demo(PEOPLE);
    let line = format!("{COMPARE} --strategies adf,sg,aequitas-fully,themis --repeats 3");
    let outcome = workspace.line(&format!("{line} --out first")).exits(0);
    let headline = outcome.stdout.lines().next().unwrap_or_default().to_owned();
    outcome.says(&[
        "For 1,000",
        "that every search of both reached",
        "aequitas-fully",
        "Run: first, with table.md",
    ]);
    let json = workspace
        .line(&format!("{line} --threads 1 --batch 7 --out second --json"))
        .exits(0)
        .json();
    assert_eq!(json, workspace.summary("second"));
    assert_eq!(json["finished"], true);
    let first = workspace.json("first/summary.json");
    let strategies = first["strategies"].as_array().unwrap();
    assert_eq!(strategies.len(), 4);
    same_calls_decide(&first, &headline);
    for (place, strategy) in strategies.iter().enumerate() {
        let runs = strategy["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 3);
        let finds = runs.iter().map(|run| &run["total"]["discriminatory"]);
        let finds: Vec<u64> = finds.map(|found| found.as_u64().unwrap()).collect();
        let range = serde_json::json!([finds.iter().min(), finds.iter().max()]);
        assert_eq!(strategy["found_range"], range);
        for figure in [
            "found",
            "global",
            "local",
            "found_per_second",
            "found_per_thousand_calls",
        ] {
            // Runs that agree say nothing of how others would differ.
            let ends = &strategy[figure]["ci95"];
            assert!(
                ends.is_null() || ends[0].as_f64() >= Some(0.0),
                "{figure} of {strategy}"
            );
        }
        let found = |run: &serde_json::Value| run["total"]["discriminatory"].as_u64().unwrap();
        let mean = runs.iter().map(found).sum::<u64>() as f64 / 3.0;
        assert!((strategy["found"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
        match strategy["found"]["ci95"].as_array() {
            Some(ends) => {
                assert!(ends[0].as_f64().unwrap() <= mean && mean <= ends[1].as_f64().unwrap())
            }
            None => assert_eq!(finds.iter().min(), finds.iter().max()),
        }
        finds_are_means_of_the_searches(strategy);
        for (number, run) in runs.iter().enumerate() {
            assert_eq!(run["seed"], 1 + number as u64);
            let curve = run["curve"].as_array().unwrap();
            let last = &curve[curve.len() - 1];
            assert_eq!(last["found"], run["total"]["discriminatory"]);
            let calls = run["total"]["model_rows"].as_u64().unwrap()
                + run["total"]["model_gradients"].as_u64().unwrap();
            assert_eq!(last["model_calls"].as_u64().unwrap(), calls);
            assert_eq!(last["diversity"], run["finds"]["diversity"]);
            let again = &json["strategies"][place]["runs"][number];
            assert_eq!(run["finds"], again["finds"]);
            for part in ["global", "local", "total"] {
                for key in [
                    "generated",
                    "discriminatory",
                    "checks",
                    "model_rows",
                    "model_gradients",
                ] {
                    assert_eq!(run[part][key], again[part][key], "{part} {key}");
                }
            }
        }
    }
    assert!(workspace.read("first/table.md").starts_with("| strategy"));
    for plot in [
        "found-by-time.svg",
        "found-by-calls.svg",
        "cells-by-calls.svg",
    ] {
        let svg = workspace.read(&format!("first/{plot}"));
        assert!(svg.starts_with("<svg") && svg.contains("aequitas-fully"));
    }
    assert!(workspace.path("first/run.toml").is_file());
}

/// What a strategy found, as a whole, is the mean of its searches, and follows from their counts.
fn finds_are_means_of_the_searches(strategy: &serde_json::Value) {
    let runs = strategy["runs"].as_array().unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    for run in runs {
        let (total, finds) = (&run["total"], &run["finds"]);
        let found = number(&total["discriminatory"]);
        assert_eq!(number(&finds["individuals"]), found);
        let gradients = number(&total["model_gradients"]);
        let calls = number(&total["model_rows"]) + gradients;
        for (key, of) in [
            ("discriminatory_per_thousand_calls", calls / 1000.0),
            (
                "discriminatory_per_thousand_passes",
                (calls + gradients) / 1000.0,
            ),
            ("discriminatory_per_seed", number(&run["global"]["seeds"])),
        ] {
            assert!((number(&total[key]) * of - found).abs() < 1e-6, "{key}");
        }
        let sizes = finds["cells_of"].as_array().unwrap();
        assert!(sizes.iter().all(|of| number(&of["finds"]) <= found));
        let cells = sizes.iter().map(|of| number(&of["cells"]));
        let cells: Vec<f64> = cells
            .chain([number(&finds["diversity"]["cells"])])
            .collect();
        assert!(cells.is_sorted(), "{cells:?}");
    }
    for (figure, place) in [
        ("reached", "/finds/reached"),
        ("cells", "/finds/diversity/cells"),
        ("clusters", "/finds/diversity/clusters"),
        ("hamming", "/finds/diversity/hamming"),
        ("l1", "/finds/diversity/l1"),
    ] {
        let values: Vec<f64> = runs
            .iter()
            .filter_map(|run| run.pointer(place)?.as_f64())
            .collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let said = number(&strategy["finds"][figure]["mean"]);
        assert!((said - mean).abs() < 1e-9, "{figure}");
    }
    assert!(
        strategy["finds"]["plausibility"].is_null(),
        "nothing grades"
    );
}

/// A density that is at hand says how plausible finds are.
#[test]
fn finds_are_graded_where_a_network_is_at_hand() {
    let workspace = Workspace::with_demo(400);
    let line = "compare --model demo/model --data demo/people.csv --protected sex --strategies adf,aequitas-random --seeds 30 --local 20 --repeats 2 --plausibility fit";
    workspace
        .line(&format!("{line} --out graded"))
        .exits(0)
        .says(&["Plausibility", "Seeds reached"]);
    let summary = workspace.summary("graded");
    let strategies = summary["strategies"].as_array().unwrap();
    let mean = |of: &serde_json::Value| of["finds"]["plausibility"]["mean"].as_f64().unwrap();
    let (adf, random) = (mean(&strategies[0]), mean(&strategies[1]));
    assert!(
        0.0 <= random && random < adf && adf <= 1.0,
        "{random} {adf}"
    );
    workspace
        .line(&line.replace("fit", "missing"))
        .exits(2)
        .complains(&["missing"]);
}

/// Every two strategies are held against each other at the calls that all of their searches
/// reached, and the first line says what the intervals there say.
fn same_calls_decide(summary: &serde_json::Value, headline: &str) {
    let strategies = summary["strategies"].as_array().unwrap();
    let last_calls = |name: &serde_json::Value| -> u64 {
        let of = strategies
            .iter()
            .find(|of| of["strategy"] == *name)
            .unwrap();
        let runs = of["runs"].as_array().unwrap().iter();
        let ends = runs
            .map(|run| run["curve"].as_array().unwrap().last().unwrap()["model_calls"].as_u64());
        ends.min().flatten().unwrap()
    };
    let shared = &summary["shared_budget"];
    let pairs = shared["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), strategies.len() * (strategies.len() - 1) / 2);
    for pair in pairs {
        let names = [&pair["strategies"][0], &pair["strategies"][1]];
        let calls = names.map(last_calls).into_iter().min();
        assert_eq!(pair["model_calls"].as_u64(), calls);
        let end = |of: usize, side: usize| pair["found"][of]["ci95"][side].as_f64().unwrap();
        let overlap = end(0, 0) <= end(1, 1) && end(1, 0) <= end(0, 1);
        assert_eq!(pair.get("more").is_none(), overlap, "{pair}");
    }
    let unbeaten = shared["unbeaten"].as_array().unwrap();
    match shared["best"].as_str() {
        Some(best) => {
            assert!(headline.starts_with(&format!("{best} found more than every other")));
            let beaten = pairs.iter().filter(|pair| pair["more"] == best).count();
            assert_eq!((beaten, unbeaten.len()), (strategies.len() - 1, 1));
        }
        None => assert!(
            headline.starts_with("No strategy found more than every other"),
            "{headline}"
        ),
    }
}

/// A budget of time stops searches where the machine lets it: nothing is promised then, and one
/// search each tells nothing.
#[test]
fn searches_that_time_stopped_are_said_to_depend_on_the_machine() {
    let workspace = Workspace::with_demo(400);
    let line = "compare --model demo/model --data demo/people.csv --protected sex --strategies adf,random-walk --seeds 300 --local 1000";
    workspace
        .line(&format!("{line} --repeats 1 --time 20ms --out timed"))
        .exits(0)
        .says(&["One search of each strategy does not tell which finds more"]);
    let short = line.replace("--seeds 300 --local 1000", "--seeds 5 --local 2");
    workspace
        .line(&format!("{short} --repeats 2 --out whole"))
        .exits(0);
}

/// Ctrl-C, then a kill: the searches that are done are kept as they are, the others are made up
/// for.
#[cfg(unix)]
#[test]
fn stopped_comparisons_go_on() {
    let workspace = Workspace::with_demo(PEOPLE);
    let line =
        COMPARE.to_owned() + " --strategies random-walk,adf,themis,aequitas-fully --repeats 6";
    // The first checkpoint holds nothing, each other one a search more.
    workspace
        .interrupted(&format!("{line} --out parts"), "checkpoint:4")
        .exits(0)
        .says(&["Interrupted after", "probity compare --resume --out parts"]);
    let stopped = workspace.json("parts/summary.json");
    assert_eq!(stopped["finished"], false);
    workspace.killed("compare --resume --out parts", "checkpoint:3");
    let resumed = workspace
        .line("compare --resume --out parts --json")
        .exits(0)
        .json();
    assert_eq!(resumed, workspace.summary("parts"));
    assert!(!workspace.path("parts/checkpoint.bin").exists());
    workspace.line(&format!("{line} --out whole")).exits(0);
    assert_eq!(untimed(&resumed), untimed(&workspace.summary("whole")));
    // A search that was done by then was not done again: its very times are there.
    let mut searches = 0;
    for place in 0..4 {
        let runs = |summary: &serde_json::Value| summary["strategies"][place]["runs"].clone();
        for (number, run) in runs(&stopped).as_array().unwrap().iter().enumerate() {
            assert_eq!(*run, runs(&resumed)[number]);
            searches += 1;
        }
    }
    assert!((1..24).contains(&searches), "{searches}");
    workspace
        .line("compare --resume --out parts")
        .exits(2)
        .complains(&["is complete"]);
    for (option, needle) in [
        ("--time 5s", "--time cannot be given with --resume"),
        ("--seeds 5", "--seeds cannot be given with --resume"),
    ] {
        workspace
            .line(&format!("compare --resume --out parts {option}"))
            .exits(2)
            .complains(&[needle]);
    }
    workspace
        .line("compare --resume --out demo/audit")
        .exits(2)
        .complains(&["of the kind 'audit', not 'compare'"]);
}

/// What cannot be compared is refused before anything is written.
#[test]
fn bad_comparisons_are_refused() {
    let workspace = Workspace::with_demo(PEOPLE);
    let before = workspace.snapshot();
    for (options, complaint) in [
        ("--strategies adf,adff", "adff"),
        ("--strategies adf,adf", "names each once"),
        (
            "--strategies adf --refresh 3",
            "option of the strategy eidig",
        ),
        ("--strategies eidig --refresh 0", "'never'"),
        ("--strategies sg --surrogate-rows 2", "from 10 to 10000"),
        ("--strategies themis --confidence 1", "above 0 and below 1"),
        ("--repeats 0", "--repeats"),
        ("--seeds 0", "--seeds"),
        ("--data missing.csv", "missing.csv"),
    ] {
        let line = match options.strip_prefix("--data ") {
            Some(_) => COMPARE.replace("--data demo/people.csv", options),
            None => match options.strip_prefix("--seeds ") {
                Some(_) => COMPARE.replace("--seeds 60", options),
                None => format!("{COMPARE} {options}"),
            },
        };
        workspace.line(&line).exits(2).complains(&[complaint]);
    }
    workspace
        .line("audit --model demo/model --data demo/people.csv --error-bound 0.1")
        .exits(2)
        .complains(&["option of the strategy themis"]);
    for (strategy, option) in [
        ("themis", "--local"),
        ("themis", "--max-iter"),
        ("aequitas-fully", "--clusters"),
        ("sg", "--step-local"),
        ("frontier", "--objective"),
        ("frontier-zero-order", "--objective"),
        ("random-walk", "--objective"),
    ] {
        let given = if option == "--objective" { "loss" } else { "7" };
        workspace
            .line(&format!(
                "audit --model demo/model --data demo/people.csv --strategy {strategy} {option} {given}"
            ))
            .exits(2)
            .complains(&[&format!("{option} is given"), "no meaning", strategy]);
    }
    assert!(before == workspace.snapshot(), "something was written");
}
