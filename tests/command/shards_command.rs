//! Runs that are cut into shards: the same files as in one piece, whatever is lost on the way.

use std::process::Command;

use crate::probity_command::refusal::refuses;
use crate::probity_command::{Workspace, figures};
use probity_testing::{Needed, skip};
use serde_json::Value;

const AUDIT: &str = "audit --model demo/model --data demo/people.csv --protected sex,origin \
                     --seeds 40 --local 15 --estimate 700";

/// Runs all `of` shards of `specification` in `folder`, in an order of no meaning.
fn run_shards(workspace: &Workspace, specification: &str, folder: &str, of: u32) {
    for number in (1..=of).rev() {
        workspace
            .line(&format!(
                "run {specification} --shard {number}/{of} --out {folder}"
            ))
            .exits(0);
    }
}

/// The same for both stages of an audit, merged into `out`.
fn run_audit(workspace: &Workspace, specification: &str, out: &str, of: u32) {
    let folder = format!("{out}.shards");
    run_shards(workspace, specification, &folder, of);
    let merged = workspace
        .line(&format!("merge {folder} --json"))
        .exits(0)
        .json();
    assert_eq!(merged["complete"], false);
    run_shards(workspace, specification, &folder, of);
    workspace
        .line(&format!("merge {folder} --out {out}"))
        .exits(0);
}

#[track_caller]
fn expect_same_audit(workspace: &Workspace, whole: &str, cut: &str) {
    let summary = |run: &str| figures(&workspace.json(&format!("{run}/summary.json")));
    assert_eq!(summary(whole), summary(cut));
    for file in ["samples.csv", "run.toml"] {
        let [one, other] = [whole, cut].map(|run| workspace.read(&format!("{run}/{file}")));
        assert!(one == other, "{file} of {cut} differs");
    }
    let verified = workspace
        .line(&format!("verify {cut} --json"))
        .exits(0)
        .json();
    let pairs =
        workspace.json(&format!("{whole}/summary.json"))["total"]["discriminatory_rows"].clone();
    assert_eq!(verified["confirmed"], pairs);
}

/// Every strategy that can be cut comes to the same files in any number of shards, one a seed and
/// more than seeds among them.
#[test]
fn audits_of_tables_are_the_same_in_any_number_of_shards() {
    let workspace = Workspace::with_demo(500);
    for (strategy, cuts) in [
        ("adf", &[1, 4, 43][..]),
        ("eidig", &[3]),
        ("adf-zero-order", &[3]),
        ("frontier", &[5]),
        ("frontier-zero-order", &[3]),
        ("random-walk", &[7]),
    ] {
        let whole = format!("{strategy}-whole");
        workspace
            .line(&format!(
                "{AUDIT} --strategy {strategy} --samples csv --out {whole}"
            ))
            .exits(0);
        assert!(
            workspace.summary(&whole)["total"]["discriminatory"]
                .as_u64()
                .unwrap()
                > 20
        );
        for of in cuts {
            let cut = format!("{strategy}-{of}");
            run_audit(&workspace, &format!("{whole}/run.toml"), &cut, *of);
            expect_same_audit(&workspace, &whole, &cut);
        }
    }
    // Parquet as well, byte for byte.
    workspace.line(&format!("{AUDIT} --out whole")).exits(0);
    run_audit(&workspace, "whole/run.toml", "cut", 2);
    let samples = |run: &str| std::fs::read(workspace.path(&format!("{run}/samples.parquet")));
    assert!(samples("whole").unwrap() == samples("cut").unwrap());
    // A merge can be repeated; where it was done, it has nothing to do.
    let said = workspace.line("merge cut.shards --out cut").exits(0);
    assert!(said.stdout.contains("already"), "{said:?}");
    workspace.line("merge cut.shards --out again").exits(0);
    assert!(samples("again").unwrap() == samples("cut").unwrap());
}

#[test]
fn audits_of_texts_are_the_same_in_shards() {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 2500").exits(0);
    workspace
        .line(
            "audit --model demo/model --texts demo/comments.csv --text-column comment_text \
             --protected religion,gender --seeds 30 --local 15 --estimate 200 --samples csv --out whole",
        )
        .exits(0);
    run_audit(&workspace, "whole/run.toml", "cut", 4);
    expect_same_audit(&workspace, "whole", "cut");
}

/// Without a local phase there is one stage; a model in which nothing is found has two all the
/// same.
#[test]
fn stages_follow_from_the_specification() {
    let workspace = Workspace::with_demo(500);
    let audit = AUDIT.replace("--local 15", "--local 0");
    workspace
        .line(&format!("{audit} --samples csv --out whole"))
        .exits(0);
    run_shards(&workspace, "whole/run.toml", "cut.shards", 3);
    workspace.line("merge cut.shards --out cut").exits(0);
    expect_same_audit(&workspace, "whole", "cut");

    // Nothing of all random inputs is found from a single seed that moves nowhere.
    let audit = "audit --model demo/model --data demo/people.csv --protected sex --seeds 1 --max-iter 0 \
                 --local 5 --estimate 1 --strategy random-walk --samples csv";
    for seed in 1..30 {
        let whole = format!("nothing-{seed}");
        workspace
            .line(&format!("{audit} --seed {seed} --out {whole}"))
            .exits(0);
        if workspace.summary(&whole)["local"]["seeds"] == 0 {
            let cut = format!("{whole}-cut");
            run_audit(&workspace, &format!("{whole}/run.toml"), &cut, 2);
            expect_same_audit(&workspace, &whole, &cut);
            return;
        }
    }
    panic!("something was found from every seed");
}

/// Forgets how long things took, and so the curves of k-means, pairs of deletions and seconds.
fn without_times(summary: &Value) -> Value {
    match summary {
        Value::Object(members) => {
            let timed = ["second", "speed", "ended", "sha256", "seal"];
            let is_timed = |(name, value): &(&String, &Value)| {
                timed.iter().any(|word| name.contains(word))
                    || (*name == "curve" && value[0].is_array())
            };
            let kept = members.iter().filter(|member| !is_timed(member));
            kept.map(|(name, value)| (name.clone(), without_times(value)))
                .collect()
        }
        Value::Array(values) => values.iter().map(without_times).collect(),
        value => value.clone(),
    }
}

#[test]
fn comparisons_and_other_analyses_are_the_same_in_shards() {
    let workspace = Workspace::with_demo(500);
    workspace
        .line("schema infer demo/people.csv --label-column income --out people.toml")
        .exits(0);
    let people = workspace.read("demo/people.csv");
    let lines: Vec<&str> = people.lines().collect();
    workspace.write("train.csv", lines[..200].join("\n"));
    workspace.write(
        "test.csv",
        [&lines[..1], &lines[300..325]].concat().join("\n"),
    );
    for (kind, line, of) in [
        (
            "compare",
            "compare --model demo/model --data demo/people.csv --protected sex --seeds 20 --local 5 \
             --strategies adf,aequitas-fully,themis --repeats 2",
            4,
        ),
        (
            "situations",
            "situations --model demo/model --data demo/people.csv --protected sex=female,origin=west --k 10",
            5,
        ),
        (
            "drawn",
            "situations --label --data demo/people.csv --schema people.toml --protected sex=female --k 10 \
             --counterpart density",
            3,
        ),
        (
            "knn",
            "knn --train train.csv --test test.csv --schema people.toml --sweep 0,1,2 --verdicts csv",
            3,
        ),
        (
            "kmeans-bench",
            "kmeans bench --data train.csv --schema people.toml --clusters 3 --deletions 3 --repeats 3",
            2,
        ),
        (
            "spn-bench",
            "spn bench --data train.csv --schema people.toml --rows 60 --deletions 3 --repeats 3",
            3,
        ),
    ] {
        let (whole, cut, folder) = (
            format!("{kind}-whole"),
            format!("{kind}-cut"),
            format!("{kind}-shards"),
        );
        workspace.line(&format!("{line} --out {whole}")).exits(0);
        run_shards(&workspace, &format!("{whole}/run.toml"), &folder, of);
        workspace
            .line(&format!("merge {folder} --out {cut}"))
            .exits(0);
        let [one, other] = [&whole, &cut].map(|run| workspace.json(&format!("{run}/summary.json")));
        assert_eq!(without_times(&one), without_times(&other), "{kind}");
        assert_eq!(
            workspace.read(&format!("{whole}/run.toml")),
            workspace.read(&format!("{cut}/run.toml"))
        );
        for file in ["persons.csv", "drawn.csv"] {
            let [one, other] = [&whole, &cut].map(|run| workspace.path(&format!("{run}/{file}")));
            if one.exists() {
                assert!(std::fs::read(one).unwrap() == std::fs::read(other).unwrap());
            }
        }
        if kind == "knn" {
            let verdicts = |run: &str| {
                let text = workspace.read(&format!("{run}/verdicts.csv"));
                let mut csv = csv::Reader::from_reader(text.as_bytes());
                let seconds = csv
                    .headers()
                    .unwrap()
                    .iter()
                    .position(|name| name == "seconds");
                let rows = csv.records().map(|row| {
                    let row = row.unwrap();
                    let cells = row
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| Some(*at) != seconds);
                    cells
                        .map(|(_, cell)| cell.to_owned())
                        .collect::<Vec<String>>()
                });
                rows.collect::<Vec<_>>()
            };
            assert_eq!(verdicts(&whole), verdicts(&cut));
            assert_eq!(verdicts(&cut).len(), 75);
            workspace.line(&format!("knn verify {cut}")).exits(0);
        }
    }
}

/// What is missing, of another run, or no longer what was written, is named, and nothing is merged.
#[test]
fn gaps_and_foreign_shards_are_refused() {
    let workspace = Workspace::with_demo(500);
    workspace.line(&format!("{AUDIT} --out whole")).exits(0);
    let refused = |line: &str, needles: &[&str]| drop(refuses(&workspace, line, 2, needles));
    refused("run whole/run.toml --shard 1/4", &["--out"]);
    for shard in ["0/4", "5/4", "4", "1/4/2", "a/b", "1/100001"] {
        refused(
            &format!("run whole/run.toml --out s --shard {shard}"),
            &["3/16"],
        );
    }
    refused(
        "run whole --shard 1/4",
        &["whole holds a run that is complete"],
    );
    refused("run whole/run.toml --shard 1/4 --out demo", &["demo"]);
    refused(
        "merge nowhere",
        &["nowhere is no folder of shards", "probity run"],
    );
    refused("merge whole", &["whole holds a run that is complete"]);

    for number in [1, 2, 4] {
        workspace
            .line(&format!("run whole/run.toml --shard {number}/4 --out s"))
            .exits(0);
    }
    refused(
        "merge s",
        &["lacks", "'global'", "3/4", "probity run s --shard 3/4"],
    );
    refused(
        "run whole/run.toml --shard 3/5 --out s",
        &["one of 4 shards", "into 5"],
    );
    // A shard that is there is left as it is: no other file takes its place, not even one with the
    // same bytes.
    let shard = workspace.path("s/global-2-of-4.shard");
    let content = std::fs::read(&shard).unwrap();
    let same_file = workspace.path("same-file");
    std::fs::hard_link(&shard, &same_file).unwrap();
    let again = workspace.line("run s --shard 2/4 --json").exits(0).json();
    assert_eq!(again["was_there"], true);
    assert_eq!(std::fs::read(&shard).unwrap(), content);
    std::fs::write(&same_file, "changed by its other name").unwrap();
    assert_eq!(std::fs::read(&shard).unwrap(), b"changed by its other name");
    std::fs::write(&shard, content).unwrap();

    // One of the same audit with another seed.
    workspace
        .line(&format!("{AUDIT} --seed 2 --out other"))
        .exits(0);
    refused(
        "run other/run.toml --shard 3/4 --out s",
        &["seed is 2, but 1 in the run", "another folder"],
    );
    workspace
        .line("run other/run.toml --shard 3/4 --out t")
        .exits(0);
    std::fs::copy(
        workspace.path("t/global-3-of-4.shard"),
        workspace.path("s/global-3-of-4.shard"),
    )
    .unwrap();
    refused("merge s", &["global-3-of-4.shard", "another run"]);
    // A shard under another's name.
    std::fs::copy(
        workspace.path("s/global-2-of-4.shard"),
        workspace.path("s/global-3-of-4.shard"),
    )
    .unwrap();
    refused(
        "merge s",
        &["global-3-of-4.shard", "shard 2/4", "another name"],
    );
    std::fs::remove_file(workspace.path("s/global-3-of-4.shard")).unwrap();
    workspace.line("run s --shard 3/4").exits(0);

    // Every cut and some changed bits of a file are found.
    let file = workspace.path("s/global-3-of-4.shard");
    let bytes = std::fs::read(&file).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 20) {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        std::fs::write(&file, changed).unwrap();
        refused("merge s", &["global-3-of-4.shard"]);
        std::fs::write(&file, &bytes[..at]).unwrap();
        refused("merge s", &["global-3-of-4.shard"]);
    }
    // What was damaged is made anew.
    workspace.line("run s --shard 3/4").exits(0);
    assert!(std::fs::read(&file).unwrap() != bytes[..bytes.len() / 2]);
    workspace.line("merge s").exits(0);

    // The model changed between the stages.
    let data = workspace.read("demo/people.csv");
    workspace.write(
        "demo/people.csv",
        data.lines().take(300).collect::<Vec<_>>().join("\n"),
    );
    refused(
        "run s --shard 1/4",
        &["the data is not the one", "another folder"],
    );
}

/// A merge can be repeated wherever it was stopped, and says each time whether a bound holds.
#[test]
fn merges_can_be_repeated() {
    let workspace = Workspace::with_demo(500);
    workspace
        .line(&format!(
            "{AUDIT} --fail-above 0.001 --samples csv --out whole"
        ))
        .exits(1);
    run_shards(&workspace, "whole/run.toml", "s", 2);
    for _ in 0..2 {
        // The stage is merged; its shards are yet to be run.
        workspace.line("merge s").exits(0).says(&["Next"]);
    }
    run_shards(&workspace, "whole/run.toml", "s", 2);
    // What a merge leaves that was killed: the run without its summary.
    workspace.line("merge s --out cut").exits(1);
    std::fs::remove_file(workspace.path("cut/summary.json")).unwrap();
    workspace.write("cut/.probity-aB3dE6gH.part", "half a file");
    workspace.line("merge s --out cut").exits(1);
    expect_same_audit(&workspace, "whole", "cut");
    assert!(!workspace.path("cut/.probity-aB3dE6gH.part").exists());
    let again = workspace.line("merge s --out cut --json").exits(1).json();
    assert_eq!(again["fail_above"]["verdict"], "exceeds");
    // It is not taken for merged where the samples are not those that were written.
    workspace.write("cut/samples.csv", "x");
    refuses(
        &workspace,
        "merge s --out cut",
        2,
        &["samples.csv", "changed"],
    );
    refuses(&workspace, "merge s --out whole/run.toml", 2, &["run.toml"]);
    workspace.line("audit --model demo/model --data demo/people.csv --protected sex --seeds 5 --local 2 --estimate 10 --out other").exits(0);
    refuses(
        &workspace,
        "merge s --out other",
        2,
        &["other is not empty"],
    );
    // Nothing but shards goes on with a folder of shards.
    refuses(
        &workspace,
        "run s --resume",
        2,
        &["holds shards", "probity merge"],
    );
    refuses(
        &workspace,
        "audit --resume --out s",
        2,
        &["holds shards", "probity merge"],
    );
}

/// What cannot be cut says so, before anything is written.
#[test]
fn what_cannot_be_cut_is_refused() {
    let workspace = Workspace::with_demo(500);
    for (strategy, options) in [
        ("aequitas-fully", ""),
        ("sg", ""),
        ("themis", ""),
        ("adf", "[budget]\nmax_found = 10"),
        ("adf", "[budget]\ntime = '5s'"),
    ] {
        let text = format!(
            "kind = 'audit'\nmodel = 'demo/model'\ndata = 'demo/people.csv'\nprotected = ['sex']\n\
             strategy = '{strategy}'\n{options}"
        );
        workspace.write("spec.toml", text);
        let needle = match options {
            "" => "random-walk",
            _ => "left out",
        };
        refuses(
            &workspace,
            "run spec.toml --shard 1/2 --out s",
            2,
            &[needle],
        );
    }
    workspace.write(
        "train.toml",
        "kind = 'train'\ndata = 'demo/people.csv'\nschema = 'people'",
    );
    refuses(
        &workspace,
        "run train.toml --shard 1/2 --out s",
        2,
        &["'train' cannot be cut", "audit, compare"],
    );
}

/// Shards that run side by side, the same one twice, and one that is killed change nothing.
#[test]
fn shards_may_be_lost_and_may_meet() {
    let workspace = Workspace::with_demo(500);
    workspace
        .line(&format!("{AUDIT} --samples csv --out whole"))
        .exits(0);
    let of = 3;
    for _ in 0..2 {
        let lines: Vec<String> = (1..=of)
            .flat_map(|number| {
                let line = format!("run whole/run.toml --shard {number}/{of} --out cut.shards");
                [line.clone(), line]
            })
            .collect();
        let mut running: Vec<_> = lines
            .iter()
            .map(|line| workspace.prepared(line).spawn().unwrap())
            .collect();
        // Some are ended wherever they are.
        running[0].kill().unwrap();
        running[3].kill().unwrap();
        for (place, process) in running.iter_mut().enumerate() {
            let status = process.wait().unwrap();
            assert!(
                status.success() || [0, 3].contains(&place),
                "{}",
                lines[place]
            );
        }
        run_shards(&workspace, "whole/run.toml", "cut.shards", of);
        let last = workspace.path("cut.shards/starts.merged").exists();
        let out = if last { " --out cut" } else { "" };
        workspace.line(&format!("merge cut.shards{out}")).exits(0);
    }
    expect_same_audit(&workspace, "whole", "cut");
}

fn has(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The scripts are shell; that for GNU parallel is run, those for clusters are looked at.
#[test]
fn scripts_hand_out_all_shards() {
    let workspace = Workspace::with_demo(500);
    workspace
        .line(&format!("{AUDIT} --samples csv --out whole"))
        .exits(0);
    let script = |system: &str| {
        let line = format!(
            "shard script whole/run.toml --for {system} --shards 3 --out cut.shards --merged cut"
        );
        workspace.line(&line).exits(0).stdout
    };
    let (parallel, slurm) = (script("parallel"), script("slurm"));
    let kubernetes = script("kubernetes --image probity:1 --claim shared");
    for (name, text) in [
        ("parallel", &parallel),
        ("slurm", &slurm),
        ("kubernetes", &kubernetes),
    ] {
        let file = format!("{name}.sh");
        workspace.write(&file, text);
        let checked = Command::new("sh")
            .arg("-n")
            .arg(workspace.path(&file))
            .output()
            .unwrap();
        assert!(checked.status.success(), "{checked:?}");
        match has("shellcheck") {
            true => {
                let checked = Command::new("shellcheck")
                    .arg(workspace.path(&file))
                    .output()
                    .unwrap();
                assert!(checked.status.success(), "{checked:?}");
            }
            false => skip(Needed::Programs, "shellcheck is not here"),
        }
        assert_eq!(text.matches("probity run").count(), 2, "{name}");
        assert_eq!(text.matches("probity merge").count(), 2, "{name}");
    }
    assert_eq!(slurm.matches("--array=1-3").count(), 2);
    assert_eq!(slurm.matches("--dependency=").count(), 3);
    let jobs: Vec<Value> = kubernetes
        .split("<<'JOB'\n")
        .skip(1)
        .map(|rest| serde_json::from_str(rest.split("\nJOB\n").next().unwrap()).unwrap())
        .collect();
    assert_eq!(jobs.len(), 4);
    for (place, job) in jobs.iter().enumerate() {
        assert_eq!(job["kind"], "Job");
        assert_eq!(
            job["spec"]["completions"],
            if place % 2 == 0 { 3 } else { 1 }
        );
        let name = job["metadata"]["name"].as_str().unwrap();
        assert!(
            name.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        );
    }
    for (line, needles) in [
        ("--for slurm --shards 3 --image a", &["--image"][..]),
        ("--for kubernetes --shards 3", &["--image", "--claim"]),
        ("--for slurm --shards 0", &["from 1 to 100000"]),
        (
            "--for kubernetes --shards 3 --image a --claim b --mount elsewhere",
            &["is not on the volume", "--mount"],
        ),
    ] {
        let line = format!("shard script whole/run.toml {line} --out cut.shards --merged cut");
        refuses(&workspace, &line, 2, needles);
    }

    is_accepted_by_kubernetes(&jobs);

    workspace.write(
        "whole/sg.toml",
        workspace
            .read("whole/run.toml")
            .replace("\"adf\"", "\"sg\""),
    );
    for (line, needles) in [
        (
            "whole/sg.toml --out a --merged b",
            &["strategy", "random-walk"][..],
        ),
        ("whole/run.toml --out a --merged a", &["--merged"]),
        ("whole/run.toml --out whole --merged a", &["complete"]),
    ] {
        let line = format!("shard script --for slurm --shards 3 {line}");
        refuses(&workspace, &line, 2, needles);
    }

    if !has("parallel") {
        skip(Needed::Programs, "GNU parallel is not here");
        return;
    }
    let path = std::env::var("PATH").unwrap();
    let binary = std::path::Path::new(crate::probity_command::binary())
        .parent()
        .unwrap();
    let run = Command::new("sh")
        .arg(workspace.path("parallel.sh"))
        .current_dir(workspace.path("."))
        .env("PATH", format!("{}:{path}", binary.display()))
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    expect_same_audit(&workspace, "whole", "cut");
    // All is there: running it again changes nothing.
    let before = workspace.read("cut/summary.json");
    let again = Command::new("sh")
        .arg(workspace.path("parallel.sh"))
        .current_dir(workspace.path("."))
        .env("PATH", format!("{}:{path}", binary.display()))
        .status()
        .unwrap();
    assert!(again.success());
    assert_eq!(before, workspace.read("cut/summary.json"));
}

/// Validates `jobs` against the schemas of Kubernetes.
fn is_accepted_by_kubernetes(jobs: &[Value]) {
    let python = std::env::var("PROBITY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let code = "import json, sys, kubernetes_validate as k\n\
                for job in json.load(sys.stdin): k.validate(job, '1.29', strict=True)";
    let has_it = Command::new(&python)
        .args(["-c", "import kubernetes_validate"])
        .output();
    if !has_it.is_ok_and(|output| output.status.success()) {
        skip(Needed::Python, "kubernetes-validate is not here");
        return;
    }
    let mut child = Command::new(&python)
        .args(["-c", code])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let jobs = serde_json::to_vec(jobs).unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), &jobs).unwrap();
    let outcome = child.wait_with_output().unwrap();
    assert!(outcome.status.success(), "{outcome:?}");
}
