//! `probity groups` and `probity repair` as a user meets them, on the synthetic census.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use probity::fairness::repair::{
    Repair, RepairError, RepairProgress, RepairSpecification, TableRepair,
};
use probity::run::run_directory::RunDirectory;
use probity::run::specification::Specification;
use probity::tensor::device::ComputeDevice;
use serde_json::Value;

/// A census with a model and an audit by sex with few samples.
fn workspace() -> Workspace {
    let workspace = Workspace::with_demo(4000);
    workspace
        .line(
            "audit --model demo/model --data demo/people.csv --protected sex --seeds 400 --local 60 --out sex -q",
        )
        .exits(0);
    workspace
}

/// What the demo plants is in the labels too: without it a network is less accurate, and groups
/// with the same rate of favourable predictions have other rates of right ones.
const REPAIR: &str = "repair --model demo/model --data demo/people.csv --run sex --share 0.1 --repeats 3 --estimate 4000 --epochs 15 \
                      --max-accuracy-loss 0.5 --max-fairness-loss 1 -q";

fn rate(change: &Value, when: &str) -> f64 {
    let change = &change["changes"][0];
    assert_eq!(change["figure"], "discriminatory");
    match when {
        "before" => change["before"].as_f64().unwrap(),
        _ => change[when]["mean"].as_f64().unwrap(),
    }
}

#[test]
fn a_repair_takes_the_planted_discrimination_away() {
    let workspace = workspace();
    let before = workspace.snapshot();
    let repaired = workspace
        .line(&format!("{REPAIR} --out fairer --json"))
        .exits(0)
        .json();
    assert_eq!(repaired, workspace.summary("fairer"));
    let point = &repaired["points"][0];
    assert_eq!(point["networks"].as_array().unwrap().len(), 3);
    // Two sexes: each individual has two variants.
    assert_eq!(
        point["variants"].as_u64(),
        point["samples"].as_u64().map(|samples| 2 * samples)
    );
    // The demo plants 11.9 % by sex. Networks retrained without samples learn it again; those with
    // samples do not. The standard error of a share is below 0.006.
    assert!(rate(point, "before") > 0.09, "{point}");
    assert!(rate(point, "control") > 0.09, "{point}");
    assert!(
        rate(point, "after") < 0.5 * rate(point, "before"),
        "{point}"
    );
    // Audits and model are as they were.
    for (path, bytes) in before {
        let now = workspace.snapshot();
        assert!(now.contains(&(path.clone(), bytes)), "{}", path.display());
    }
    // The repaired model is a model like any other, and what was measured of it holds in an audit.
    let audited = workspace
        .line("audit --model fairer --data demo/people.csv --protected sex --seeds 50 --local 5 --json -q --out again")
        .exits(0)
        .json();
    assert_eq!(audited["model_sha256"], repaired["repaired_sha256"]);
    let measured = repaired["chosen"]["discrimination"][0]["rate"]
        .as_f64()
        .unwrap();
    let again = audited["fairness"][0]["rate"].as_f64().unwrap();
    assert!((measured - again).abs() < 0.05, "{measured} {again}");
    // It can be repaired again, from the same parts.
    let again = workspace
        .line("repair --model fairer --data demo/people.csv --run again --repeats 1 --epochs 2 --estimate 500 --save-anyway --out fairest -q");
    assert!(matches!(again.code, Some(0 | 1)), "{}", again.stderr);
    again.says(&["held-out", "Model: fairest", "these networks cannot tell"]);
}

#[test]
fn a_certified_repair_leaves_a_network_whose_whole_domain_is_proved_fair() {
    let workspace = workspace();
    let repaired = workspace
        .line(
            "repair --model demo/model --data demo/people.csv --run sex --method certified --repeats 1 \
             --estimate 2000 --epochs 15 --max-accuracy-loss 0.5 --max-fairness-loss 1 --out fairer --json -q",
        )
        .exits(0)
        .json();
    assert_eq!(repaired["ignored"], serde_json::json!(["sex"]));
    assert_eq!(repaired["chosen"]["discrimination"][0]["rate"], 0.0);
    workspace
        .line("report fairer --out fairer.html -q")
        .exits(0);
    let page = std::fs::read_to_string(workspace.path("fairer.html")).unwrap();
    assert!(page.contains("gives sex no weight"), "{page}");
    let prove = |protected: &str| {
        let line = format!(
            "prove --model fairer --protected {protected} --out proof-{protected} --max-boxes 20 --json -q"
        );
        workspace.line(&line).exits(0).json()
    };
    let proof = prove("sex");
    assert_eq!(proof["fair"]["points"], proof["points"]);
    assert_eq!(proof["boxes"], 1);
    let verified = workspace.line("verify proof-sex --json -q").exits(0).json();
    assert_eq!(verified["adds_up"], true);
    assert_eq!(verified["refuted"], 0);
    // Nobody asked for a repair by origin, of which the network has weights.
    assert_ne!(prove("origin")["fair"]["points"], proof["points"]);
}

#[test]
fn the_same_seed_repairs_alike_and_draws_are_of_the_repeat() {
    let workspace = workspace();
    let run = |options: &str, out: &str| {
        let mut summary = workspace
            .line(&format!("{REPAIR} {options} --out {out} --json"))
            .exits(0)
            .json();
        summary["seconds"] = Value::Null;
        summary
    };
    let one = run("--threads 1", "one");
    assert_eq!(one, run("--threads 2", "two"));
    assert_ne!(
        one["repaired_sha256"],
        run("--seed 2", "other")["repaired_sha256"]
    );
    let seeds: std::collections::BTreeSet<String> = one["points"][0]["networks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|network| network["seed"].to_string())
        .collect();
    assert_eq!(seeds.len(), 3, "each repeat has its own first weights");
}

#[test]
fn a_sweep_draws_the_trade_off_and_keeps_the_median_network() {
    let workspace = workspace();
    let line = REPAIR
        .replace("--share 0.1", "--sweep 0.3,0.02")
        .replace("--repeats 3", "--repeats 2");
    for label in ["seed", "ensemble"] {
        let out = format!("sweep-{label}");
        let summary = workspace
            .line(&format!("{line} --label-rule {label} --out {out} --json"))
            .exits(0)
            .json();
        let shares: Vec<f64> = summary["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["share"].as_f64().unwrap())
            .collect();
        assert_eq!(shares, [0.02, 0.3]);
        assert!(
            workspace
                .read(&format!("{out}/trade-off.svg"))
                .starts_with("<svg")
        );
        let joint = |point: &Value| -> f64 {
            let networks = point["networks"].as_array().unwrap();
            let choices = networks
                .iter()
                .map(|n| n["choice"]["discriminatory"].as_f64().unwrap());
            choices.sum::<f64>() / networks.len() as f64
        };
        let chosen = summary["chosen"]["share"].as_f64().unwrap();
        for point in summary["points"].as_array().unwrap() {
            let of_chosen = &summary["points"][usize::from(chosen == 0.3)];
            assert!(joint(of_chosen) <= joint(point), "{summary}");
        }
    }
}

/// What is said first of a repair is what the samples did that retraining alone does not.
#[test]
fn the_first_lines_hold_the_repair_against_retraining_alone() {
    let workspace = workspace();
    let first_lines = |line: &str| {
        let outcome = workspace.line(line);
        assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
        let lines: Vec<&str> = outcome.stdout.lines().take(3).collect();
        lines.join("\n")
    };
    let better = first_lines(&format!("{REPAIR} --out better"));
    assert!(
        better.contains("\nThe repair does better than training anew without a remedy: "),
        "{better}"
    );
    let verdict = &workspace.summary("better")["verdict"];
    assert_eq!(verdict["against_control"]["standing"], "better");
    let low = verdict["against_control"]["gained"]["ci95"][0].as_f64();
    assert!(low > Some(0.0), "{verdict}");
    // One sample changes nothing that could be told from chance.
    let one = REPAIR.replace("--share 0.1", "--share 0.000001 --save-anyway");
    let alike = first_lines(&format!("{one} --out alike"));
    let summary = workspace.summary("alike");
    assert_eq!(summary["points"][0]["samples"], 1);
    assert_eq!(
        summary["verdict"]["against_control"]["standing"], "alike",
        "{alike}"
    );
    let stdout = workspace
        .line("report alike --format markdown")
        .exits(0)
        .stdout;
    assert!(
        stdout.contains("Training anew without a remedy does as well"),
        "{stdout}"
    );
}

/// What got worse than allowed is named, nothing is saved, and the networks are kept for those who
/// want one anyway.
#[test]
fn what_got_worse_is_not_saved() {
    let workspace = workspace();
    let line =
        |bounds: &str| REPAIR.replace("--max-accuracy-loss 0.5 --max-fairness-loss 1", bounds);
    for (out, bounds, figure) in [
        (
            "accuracy",
            "--max-accuracy-loss 0 --max-fairness-loss 1",
            "accuracy",
        ),
        (
            "odds",
            "--max-accuracy-loss 1 --max-fairness-loss 0.02",
            "equalised odds difference",
        ),
    ] {
        let refused = workspace.line(&format!("{} --out {out}", line(bounds)));
        refused.exits(1).says(&[
            "no model was saved",
            &format!("Worse than allowed: {figure}"),
            &format!("probity repair --resume --out {out} --save-anyway"),
        ]);
        assert!(!workspace.path(&format!("{out}/model.toml")).exists());
        let summary = workspace.summary(out);
        let verdict = &summary["verdict"];
        assert_eq!(
            (&verdict["holds"], &verdict["saved"]),
            (&false.into(), &false.into())
        );
        assert!(summary.get("repaired_sha256").is_none(), "{summary}");
        let worse = verdict["worse"].as_array().unwrap();
        let named = worse.iter().find(|worse| worse["figure"] == figure);
        let named = named.unwrap_or_else(|| panic!("{figure} in {verdict}"));
        let of = |key: &str| named[key].as_f64().unwrap();
        assert!(
            (of("after") - of("before")).abs() > of("allowed"),
            "{named}"
        );
        let page = workspace
            .line(&format!("report {out} --format markdown"))
            .exits(0);
        page.says(&[
            "no model was saved",
            &format!("Worse than allowed: {figure}"),
        ]);

        // No network is trained again, and what is said against it stays.
        let saved = workspace.line(&format!("repair --resume --out {out} --save-anyway -q"));
        saved.exits(1).says(&[
            "although there is something against it",
            &format!("Model: {out}"),
        ]);
        let now = workspace.summary(out);
        assert_eq!(now["points"], summary["points"]);
        assert_eq!(now["verdict"]["worse"], verdict["worse"]);
        assert!(now["repaired_sha256"].is_string());
        assert!(!workspace.path(&format!("{out}/checkpoint.bin")).exists());
        workspace
            .line(&format!("audit --model {out} --data demo/people.csv --protected sex --seeds 20 --local 2 --estimate 100 --out {out}-audit -q"))
            .exits(0);
    }
    refuses(
        &workspace,
        &format!("{} --out never", line("--max-fairness-loss 2")),
        2,
        &["--max-fairness-loss is 2"],
    );
}

/// A summary without its time.
fn untimed(mut summary: Value) -> Value {
    summary["seconds"] = Value::Null;
    summary
}

/// Stopped anywhere, a repair goes on to the model of an unbroken one, and trains no complete
/// network again.
#[test]
fn a_stopped_repair_goes_on() {
    let workspace = workspace();
    let line = REPAIR
        .replace("--share 0.1", "--sweep 0.05,0.2 --label-rule ensemble")
        .replace("--repeats 3", "--repeats 2");
    workspace.line(&format!("{line} --out whole")).exits(0);
    let whole = workspace.summary("whole");
    let (_, specification, _) =
        RunDirectory::open_specified::<RepairSpecification>(&workspace.path("whole")).unwrap();
    let epochs = 15;
    let device = ComputeDevice::flex();
    let repair = Repair::<TableRepair>::open(specification.check().unwrap(), &device).unwrap();
    // Six networks of 15 epochs: stopped in the first, among the controls, and among those of the
    // shares.
    for stop in [3, 20, 50, 80] {
        let directory = RunDirectory::create(&workspace.path(&format!("stop-{stop}"))).unwrap();
        let seen = AtomicU64::new(0);
        let stopped = repair.run(
            &directory,
            false,
            &|_| match seen.fetch_add(1, Ordering::SeqCst) + 1 >= stop {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            },
        );
        match stopped {
            Ok(summary) => assert!(!summary.finished),
            Err(error) => assert!(matches!(error, RepairError::Interrupted), "{error}"),
        }
        let (trained, first) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let summary = repair
            .run(&directory, true, &|progress| {
                if let RepairProgress::Train { epochs, .. } = progress {
                    trained.fetch_add(1, Ordering::SeqCst);
                    first.fetch_min(epochs, Ordering::SeqCst);
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        let resumed: Value =
            serde_json::from_str(&serde_json::to_string(&summary).unwrap()).unwrap();
        let again: u64 = resumed["control"]
            .as_array()
            .unwrap()
            .iter()
            .chain(
                resumed["points"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .flat_map(|point| point["networks"].as_array().unwrap()),
            )
            .map(|network| network["attempts"].as_u64().unwrap() - 1)
            .sum();
        assert_eq!(again, 0, "no network collapsed, so the count is exact");
        let kept = (first.into_inner() - 1) / epochs;
        assert_eq!(
            trained.into_inner(),
            (6 - kept) * epochs,
            "stopped at {stop}"
        );
        assert!(stop < 80 || kept >= 2, "stopped at {stop}, kept {kept}");
        assert_eq!(untimed(resumed), untimed(whole.clone()));
        assert!(!directory.file("checkpoint.bin").exists());
    }
}

/// Ctrl-C before the first network says how to go on; so does one after it.
#[cfg(unix)]
#[test]
fn an_interrupted_repair_says_how_to_go_on() {
    let workspace = workspace();
    let line = REPAIR;
    workspace
        .interrupted(&format!("{line} --out parts"), "checkpoint")
        .exits(2)
        .complains(&["interrupted before", "probity repair --resume --out parts"]);
    assert!(workspace.path("parts/run.toml").is_file());
    assert!(!workspace.path("parts/summary.json").exists());
    assert!(workspace.path("parts/checkpoint.bin").is_file());
    workspace.killed("repair --resume --out parts -q", "checkpoint:2");
    let resumed = workspace
        .line("repair --resume --out parts --json -q")
        .exits(0)
        .json();
    let whole = workspace
        .line(&format!("{line} --out whole --json"))
        .exits(0)
        .json();
    assert_eq!(untimed(resumed), untimed(whole));
    refuses(
        &workspace,
        "repair --resume --out parts",
        2,
        &["is complete"],
    );
    refuses(
        &workspace,
        "repair --resume --out parts --repeats 3",
        2,
        &["--repeats cannot be given with --resume"],
    );
    refuses(&workspace, "repair --resume --out nowhere", 2, &["nowhere"]);
}

#[test]
fn several_audits_are_repaired_at_once() {
    let workspace = workspace();
    workspace
        .line("audit --model demo/model --data demo/people.csv --protected origin --seeds 200 --local 40 --out origin -q")
        .exits(0);
    let summary = workspace
        .line(&format!("{REPAIR} --run origin --out both --json"))
        .exits(0)
        .json();
    let measured: Vec<&Value> = summary["before"]["discrimination"]
        .as_array()
        .unwrap()
        .iter()
        .map(|estimate| &estimate["protected"])
        .collect();
    assert_eq!(
        measured,
        [
            &serde_json::json!(["sex"]),
            &serde_json::json!(["origin"]),
            &serde_json::json!(["sex", "origin"])
        ]
    );
    let sets = summary["groups_after"]["sets"].as_array().unwrap().len();
    assert_eq!(sets, 3);
}

#[test]
fn what_cannot_be_repaired_is_refused_before_anything_is_written() {
    let workspace = workspace();
    workspace
        .line("train --data demo/people.csv --schema synthetic-census --epochs 1 --seed 9 --out other -q")
        .exits(0);
    workspace
        .line("train --data demo/people.csv --schema synthetic-census --epochs 1 --test 0 --out whole -q")
        .exits(0);
    workspace
        .line("audit --model whole --data demo/people.csv --protected sex --seeds 20 --local 2 --out whole-sex -q")
        .exits(0);
    let people = workspace.read("demo/people.csv");
    workspace.write(
        "fewer.csv",
        people.lines().take(3000).collect::<Vec<_>>().join("\n"),
    );
    let unlabelled: Vec<String> = people
        .lines()
        .map(|line| line.rsplit_once(',').unwrap().0.to_owned())
        .collect();
    workspace.write("unlabelled.csv", unlabelled.join("\n"));
    let line = |from: &str, to: &str| REPAIR.replace(from, to);
    for (line, needles) in [
        (
            line("--model demo/model", "--model other"),
            vec!["another model", "probity audit"],
        ),
        (line("people.csv", "absent.csv"), vec!["absent.csv"]),
        (
            line("demo/people.csv", "fewer.csv"),
            vec!["trained on", "fewer.csv"],
        ),
        (
            line("demo/people.csv", "unlabelled.csv"),
            vec!["no column 'income'"],
        ),
        (line("--run sex", "--run demo"), vec!["run.toml"]),
        (
            line("--run sex", "--run sex --run sex"),
            vec!["--run is", "once"],
        ),
        (
            line("--share 0.1", "--share 0"),
            vec!["'--share <", "from 0.000001 to 1"],
        ),
        (
            line("--share 0.1", "--share 1.5"),
            vec!["'--share <", "from 0.000001 to 1"],
        ),
        (line("--share 0.1", "--weight 0"), vec!["--weight"]),
        (
            line("--share 0.1", "--share 0.1 --method certified"),
            vec!["--share is given", "certified"],
        ),
        (
            line("--share 0.1", "--label-rule seed --method certified"),
            vec!["--label-rule is given", "samples"],
        ),
        (line("--repeats 3", "--repeats 0"), vec!["--repeats is 0"]),
        (line("--epochs 15", "--epochs 0"), vec!["--epochs is 0"]),
        (
            line("--epochs 15", "--favourable rich"),
            vec!["favourable is 'rich'", "low, high"],
        ),
        (
            line("--model demo/model", "--model whole").replace("--run sex", "--run whole-sex"),
            vec!["without a test part"],
        ),
    ] {
        refuses(&workspace, &line, 2, &needles);
    }
    // Nothing found.
    workspace
        .line("audit --model other --data demo/people.csv --protected region --seeds 1 --local 0 --max-iter 0 --out nothing -q")
        .exits(0);
    let line = REPAIR
        .replace("demo/model", "other")
        .replace("--run sex", "--run nothing");
    refuses(&workspace, &line, 2, &["no discriminatory sample"]);
}

#[test]
fn groups_are_measured_and_written() {
    let workspace = workspace();
    let line = "groups --model demo/model --data demo/people.csv --protected sex,age --edges age=40 --favourable high";
    workspace.line(line).exits(0).says(&[
        "Gaps between groups of sex × age",
        "below 40",
        "Demographic parity difference",
        "By sex: ",
        "By sex × age: ",
        "get ‘high’",
    ]);
    let summary = workspace
        .line(&format!("{line} --part test --out groups --json"))
        .exits(0)
        .json();
    assert_eq!(summary, workspace.summary("groups"));
    assert_eq!(summary["rows"], 800);
    assert_eq!(summary["sets"].as_array().unwrap().len(), 3);
    // Men have 2 points more: they are predicted high more often.
    let gap = &summary["sets"][0]["gaps"]["demographic_parity_difference"];
    assert!(gap["value"].as_f64().unwrap() > 0.05, "{gap}");
    assert_eq!(gap["highest"][0], "male");
    // Nobody said which class is good to get: the figures say which was taken, and why.
    workspace
        .line(&line.replace(" --favourable high", ""))
        .exits(0)
        .says(&["was not said: it is the last one of the schema"]);
    // Every group is too small to judge.
    workspace
        .line(&format!("{line} --min-group 100000"))
        .exits(0)
        .says(&["By sex no two groups are large enough", "too few groups"]);
    for (change, needles) in [
        (
            "--favourable rich",
            vec!["favourable is 'rich'", "low, high"],
        ),
        ("--edges sex=1", vec!["words"]),
        ("--edges region=3", vec!["not protected"]),
        ("--edges age", vec!["age=25,45,65"]),
        ("--resamples 1", vec!["--resamples is 1"]),
    ] {
        let line = format!(
            "{} {change}",
            line.replace(" --favourable high", "")
                .replace(" --edges age=40", "")
        );
        refuses(&workspace, &line, 2, &needles);
    }
    refuses(
        &workspace,
        &line.replace("sex,age", "age,size"),
        2,
        &["size"],
    );
    let other = line.replace("people.csv", "other.csv") + " --part test";
    let people = workspace.read("demo/people.csv");
    let fewer: Vec<&str> = people.lines().take(3000).collect();
    workspace.write("demo/other.csv", fewer.join("\n"));
    refuses(
        &workspace,
        &other,
        2,
        &["other.csv is not the file that the model was trained on"],
    );
}
