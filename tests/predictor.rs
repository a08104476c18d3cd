//! Predictors that are processes: what they are told, how each misbehaviour ends, and that nothing
//! is lost by it.
#![cfg(unix)]

#[path = "predictor/fake.rs"]
mod fake;
mod probity_command;

use std::collections::HashSet;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use probity::data::builtin;
use probity::data::schema::{Encoded, Encoder, Schema};
use probity::fairness::domain::{Domain, TabularDomain};
use probity::nn::{Classifier, ModelError, Rows, predicted_class};
use probity::predictor::PredictorError;
use probity::predictor::command::CommandPredictor;
use probity::predictor::source::PredictorOptions;
use probity_command::{Outcome, Workspace, figures, interrupt, untimed};

/// Long enough for any machine; nothing here waits for it.
const PATIENCE: Duration = Duration::from_secs(300);

/// Not a test: what [`fake::command`] starts.
#[test]
#[ignore = "the process that the other tests start"]
fn fake_predictor() {
    fake::serve();
}

fn schema() -> Schema {
    builtin::schema("synthetic-census").unwrap().unwrap()
}

fn start(mode: &str, patience: Duration, rows: usize) -> Result<CommandPredictor, PredictorError> {
    CommandPredictor::start(
        &fake::command(mode),
        Path::new("/"),
        &schema(),
        patience,
        rows,
    )
}

/// `count` random rows of the census.
fn random_rows(count: u64) -> Vec<i32> {
    let options = PredictorOptions {
        source: "command:true".parse().unwrap(),
        directory: "/".into(),
        timeout_seconds: 1.0,
        rows: 1,
        graph: Default::default(),
        schema: schema(),
    };
    let sex = options.schema.index_of("sex").unwrap();
    let domain = TabularDomain::new(&options.schema, &options.layout(), &[sex]).unwrap();
    (0..count)
        .flat_map(|row| domain.random_input(1, row))
        .collect()
}

/// Asks for three rows twice, in requests of at most two rows: four requests.
fn failure(mode: &str, patience: Duration) -> (PredictorError, String) {
    let error = match start(mode, patience, 2) {
        Err(error) => error,
        Ok(predictor) => {
            let codes = random_rows(3);
            let rows = Rows::new(&codes, predictor.width());
            let asked = predictor.logits(rows).and_then(|_| predictor.logits(rows));
            let Err(ModelError::Predictor(error)) = asked else {
                panic!("{mode}: {asked:?}");
            };
            let again = predictor.logits(rows).unwrap_err();
            let Err(ModelError::Predictor(same)) = Err::<(), _>(again) else {
                panic!("{mode}: another error the second time");
            };
            assert_eq!(
                same.to_string(),
                error.to_string(),
                "everybody gets the first error"
            );
            error.downcast_ref::<PredictorError>().unwrap().clone()
        }
    };
    let text = error.to_string();
    (error, text)
}

#[test]
fn rows_arrive_as_words_and_numbers_and_classes_in_any_order() {
    let schema = schema();
    let (age, sex) = (
        schema.index_of("age").unwrap(),
        schema.index_of("sex").unwrap(),
    );
    let codes = random_rows(500);
    let rows = Rows::new(&codes, schema.attributes.len());
    let mut burdened = 0;
    for (mode, rows_at_most) in [("good", 7), ("reversed", 1000)] {
        let predictor = start(mode, PATIENCE, rows_at_most).unwrap();
        let logits = predictor.logits(rows).unwrap();
        for (row, logits) in rows.iter().zip(logits.chunks_exact(2)) {
            let is_burdened = schema.attributes[sex].decode(row[sex]) == "female" && row[age] < 40;
            let expected: f32 = if is_burdened { 0.2 } else { 0.7 };
            assert!(
                (logits[1].exp() - expected).abs() < 1e-6,
                "{row:?} {logits:?}"
            );
            assert_eq!(predicted_class(logits), u32::from(!is_burdened));
            burdened += usize::from(is_burdened);
        }
        assert!(
            predictor
                .logits(Rows::new(&[], rows.width))
                .unwrap()
                .is_empty()
        );
    }
    assert!(burdened > 10 && burdened < 900, "{burdened}");
}

#[test]
fn threads_share_one_process() {
    use rayon::prelude::*;
    let predictor = start("good", PATIENCE, 3).unwrap();
    let codes = random_rows(200);
    let width = predictor.width();
    let whole = predictor.logits(Rows::new(&codes, width)).unwrap();
    let parts: Vec<Vec<f32>> = codes
        .par_chunks(width)
        .map(|row| predictor.logits(Rows::new(row, width)).unwrap())
        .collect();
    assert_eq!(parts.concat(), whole);
}

#[test]
fn every_misbehaviour_has_its_error() {
    for (mode, needles) in [
        (
            "crash:2",
            &[
                "exit status: 7",
                "after 1 answered batches",
                "no memory left",
            ][..],
        ),
        ("rings", &["exit status: 7", "bell"]),
        ("garbage:2", &["line 3", "'0.2 0.7 0.7'", "standard error"]),
        ("list", &["line 2", "an object is expected"]),
        ("nan", &["line 2", "NaN and Infinity are no probabilities"]),
        (
            "negative",
            &["gave -0.5 as the probability of 'high'", "age = "],
        ),
        ("few", &["answered 1 rows where 2", "batch 1"]),
        ("classes", &["3 numbers where there are 2 classes"]),
        ("unnormalised", &["sum to 1.8", "age = "]),
        (
            "endless",
            &["line 2", "more than any answer to 2 rows needs"],
        ),
        // Seen before the next request is sent, or as the answer to it.
        ("unasked:2", &["line 4"]),
        ("confesses:3", &["reports: ValueError: unknown word"]),
        ("talkative", &["line 1", "'Loading the model ...'"]),
        ("foreign", &["yes, no", "low, high"]),
    ] {
        let (error, text) = failure(mode, PATIENCE);
        for needle in needles {
            assert!(text.contains(needle), "{mode}: no '{needle}' in: {text}");
        }
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{mode}: {text:?}");
        let is_circumstance = mode.starts_with("crash") || mode == "rings";
        assert_eq!(error.is_circumstance(), is_circumstance, "{mode}");
    }
}

#[test]
fn a_process_that_is_silent_is_given_up() {
    for mode in ["silent", "slow:2"] {
        let (error, text) = failure(mode, Duration::from_millis(300));
        assert!(text.contains("within 0.3 s"), "{text}");
        assert!(text.contains("predictor.timeout"), "{text}");
        assert!(error.is_circumstance());
    }
}

#[test]
fn streams_that_close_are_told_apart() {
    let greet = "read -r greeting; echo '{\\\"protocol\\\": 1}'";
    for (script, needle) in [
        ("exit 3".to_owned(), "exit status: 3"),
        ("kill -9 $$".to_owned(), "signal: 9"),
        (
            "exec 1>&-; read -r a; read -r b; sleep 600".to_owned(),
            "closed its standard output",
        ),
        (
            format!("{greet}; exec 0<&-; sleep 600"),
            "closed its standard input",
        ),
        (format!("{greet}; exit 0"), "exit status: 0"),
    ] {
        let line = format!("sh -c \"{}\"", script.replace('$', "\\$"));
        let started = CommandPredictor::start(&line, Path::new("/"), &schema(), PATIENCE, 1 << 20);
        let error = match started {
            Err(error) => error,
            Ok(predictor) => {
                // More than a pipe holds, so that it must be read to go through.
                let codes = random_rows(5000);
                let rows = Rows::new(&codes, predictor.width());
                let error = predictor.logits(rows).unwrap_err();
                let ModelError::Predictor(error) = error else {
                    panic!("{error}");
                };
                error.downcast_ref::<PredictorError>().unwrap().clone()
            }
        };
        let text = error.to_string();
        assert!(text.contains(needle), "{script}: {text}");
        assert!(error.is_circumstance(), "{text}");
    }
}

#[test]
fn what_cannot_be_started() {
    for (line, needle) in [
        (
            "/nowhere/predict",
            "cannot start the predictor '/nowhere/predict'",
        ),
        ("python3 'predict.py", "quote"),
    ] {
        let error = CommandPredictor::start(line, Path::new("/"), &schema(), PATIENCE, 1)
            .err()
            .unwrap();
        assert!(error.to_string().contains(needle), "{error}");
        assert!(!error.is_circumstance());
    }
}

/// No process outlives its predictor, whether it heeds the end of its input or not.
#[test]
fn processes_end_with_their_predictor() {
    let folder = tempfile::tempdir().unwrap();
    for (number, tail) in ["cat >/dev/null", "trap '' HUP TERM; sleep 600"]
        .iter()
        .enumerate()
    {
        let file = folder.path().join(format!("pid-{number}"));
        let line = format!(
            "sh -c \"echo \\$\\$ > {}; read -r greeting; echo '{{\\\"protocol\\\": 1}}'; {tail}\"",
            file.display()
        );
        let predictor =
            CommandPredictor::start(&line, Path::new("/"), &schema(), PATIENCE, 1).unwrap();
        let id = std::fs::read_to_string(&file).unwrap();
        assert!(is_running(id.trim()), "{tail}");
        drop(predictor);
        assert!(!is_running(id.trim()), "{tail}");
    }
}

/// What a process has started ends with it, also where the process ends by itself.
#[test]
fn processes_that_end_leave_nobody_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("child");
    let line = format!(
        "sh -c \"sleep 600 & echo \\$! > {}; read -r greeting; echo '{{\\\"protocol\\\": 1}}'; read -r request\"",
        file.display()
    );
    let predictor = CommandPredictor::start(&line, Path::new("/"), &schema(), PATIENCE, 1).unwrap();
    let child = std::fs::read_to_string(&file).unwrap();
    assert!(is_running(child.trim()));
    let codes = random_rows(2);
    predictor
        .logits(Rows::new(&codes, predictor.width()))
        .unwrap_err();
    drop(predictor);
    // It is nobody's child any more; whoever inherits it takes a moment to notice that it ended.
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
    let is_over = || state().map_or(true, |stat| stat.contains(") Z "));
    let asked = std::time::Instant::now();
    while !is_over() {
        assert!(asked.elapsed() < PATIENCE, "{:?}", state());
        std::thread::yield_now();
    }
}

/// Whether a process, even a zombie, has this id.
fn is_running(id: &str) -> bool {
    Command::new("kill")
        .args(["-0", id])
        .output()
        .unwrap()
        .status
        .success()
}

const SEARCH: &str = "--protected sex --seeds 40 --local 30 --estimate 500 --samples csv";

/// `probity audit` on a fake that behaves in `mode`.
fn audit(workspace: &Workspace, mode: &str, more: &str) -> Outcome {
    let source = format!("command:{}", fake::command(mode));
    let line = format!("audit --schema synthetic-census --data people.csv {SEARCH} {more}");
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--predictor", &source]);
    workspace.run(arguments)
}

/// A folder with `people.csv`.
fn census() -> Workspace {
    let workspace = Workspace::with_demo(400);
    std::fs::rename(
        workspace.path("demo/people.csv"),
        workspace.path("people.csv"),
    )
    .unwrap();
    workspace
}

#[test]
fn audited_verified_and_measured() {
    let workspace = census();
    for strategy in ["adf-zero-order", "random-walk"] {
        let more = format!("--strategy {strategy} --out {strategy}");
        audit(&workspace, "good", &more).exits(0).says(&["By sex"]);
        let summary = workspace.json(&format!("{strategy}/summary.json"));
        assert!(
            summary["predictor"]
                .as_str()
                .unwrap()
                .starts_with("command:sh")
        );
        assert!(summary["total"]["discriminatory"].as_u64().unwrap() > 0);
        // The rule discriminates exactly the individuals below 40.
        let [low, high] = [0, 1].map(|end| summary["fairness"][0]["ci95"][end].as_f64().unwrap());
        let age = &schema().attributes[schema().index_of("age").unwrap()];
        let (min, max) = age.domain();
        let share = f64::from(40 - min) / f64::from(max - min + 1);
        assert!(low <= share && share <= high, "{low} {share} {high}");
        workspace
            .line(&format!("verify {strategy}"))
            .exits(0)
            .says(&[" 0 rejected"]);
    }
    // A changed pair is rejected by the predictor itself.
    let samples = workspace.read("random-walk/samples.csv");
    let first = samples.lines().nth(1).unwrap();
    let swapped = first
        .replacen(",low,high,", ",HIGH,low,", 1)
        .replacen(",high,low,", ",low,high,", 1)
        .replace("HIGH", "high");
    workspace.edit("random-walk/samples.csv", first, &swapped);
    workspace
        .line("verify random-walk")
        .exits(1)
        .says(&["1 rejected", "the file says class"]);
}

/// 300 people whose wages are no edges of any bins; `sex` does not go along with anything.
fn wages() -> Vec<(u32, f64, &'static str)> {
    let person = |row: u32| {
        let wage = 5.0 + f64::from(row * 37 % 300) / 10.0;
        (20 + row * 7 % 60, wage, fake::LIMITS[row as usize % 2].0)
    };
    (0..300).map(person).collect()
}

fn with_wages() -> Workspace {
    let workspace = Workspace::new();
    let mut text = "age,wage,sex,income\n".to_owned();
    for (age, wage, sex) in wages() {
        let class = if wage < 20.0 { "low" } else { "high" };
        text += &format!("{age},{wage},{sex},{class}\n");
    }
    workspace.write("people.csv", text);
    workspace
}

fn audit_wages(workspace: &Workspace, schema: &str, out: &str) -> Outcome {
    let source = format!("command:{}", fake::command("wages"));
    let line = format!(
        "audit --schema {schema} --data people.csv --protected sex --seeds 300 --local 5 --estimate 200 \
         --samples csv --strategy random-walk --out {out}"
    );
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--predictor", &source]);
    workspace.run(arguments)
}

/// Rows of the data are asked about with their own numbers, others with one of their bin that rows
/// have; how far the two lie apart is said.
#[test]
fn numbers_of_the_data_are_kept_and_what_bins_change_is_said() {
    let workspace = with_wages();
    let infer = "schema infer people.csv --label-column income --protected sex --out";
    workspace.line(&format!("{infer} people.toml")).exits(0);
    let schema = Schema::from_toml(&workspace.read("people.toml")).unwrap();
    let wage = &schema.attributes[schema.index_of("wage").unwrap()];
    let encoder = Encoder::new(wage);
    let bin = |wage: f64| match encoder.encode_number(wage) {
        Ok(Encoded::Code(bin)) => bin,
        other => panic!("{wage}: {other:?}"),
    };
    let stands_for = |wage_of: f64| wage.decode(bin(wage_of)).parse::<f64>().unwrap();
    let decides = |wage: f64, sex: &str| {
        let limit = fake::LIMITS.iter().find(|(name, _)| *name == sex);
        wage >= limit.unwrap().1
    };
    let people = wages();
    let changed = people.iter().filter(|(_, wage, sex)| {
        assert!(people.iter().any(|other| other.1 == stands_for(*wage)));
        decides(*wage, sex) != decides(stands_for(*wage), sex)
    });
    let changed = changed.count() as u64;
    assert!(changed > 3 && changed < 60, "{changed}");
    audit_wages(&workspace, "people.toml", "run")
        .exits(0)
        .says(&[&format!("{changed} of 300 rows of the data")])
        .complains(&["WARNING", "--bins exact"]);
    let bins = &workspace.json("run/summary.json")["bins"];
    assert_eq!(
        (&bins["rows"], &bins["changed"]),
        (&300.into(), &changed.into())
    );
    // All rows are seeds. Bins know nothing between the limits: only wages of the data are there,
    // the same on both sides.
    let individuals: HashSet<(u32, i32)> = people
        .iter()
        .map(|(age, wage, _)| (*age, bin(*wage)))
        .collect();
    let first = |key: &(u32, i32)| {
        let mut same = people
            .iter()
            .filter(|(age, wage, _)| (*age, bin(*wage)) == *key);
        same.next().unwrap().1
    };
    let between = |wage: &f64| decides(*wage, "male") && !decides(*wage, "female");
    let expected = individuals.iter().map(first).filter(between).count();
    assert!(expected > 2, "{expected}");
    let samples = workspace.read("run/samples.csv");
    let mut rows = csv::Reader::from_reader(samples.as_bytes());
    let names = rows.headers().unwrap().clone();
    let at = |name: &str| names.iter().position(|found| found == name).unwrap();
    let mut found = 0;
    for row in rows.records() {
        let row = row.unwrap();
        let [own, other] =
            ["x_wage", "other_wage"].map(|name| row[at(name)].parse::<f64>().unwrap());
        assert_eq!(own, other);
        assert!(
            between(&own) && people.iter().any(|(_, wage, _)| *wage == own),
            "{row:?}"
        );
        found += 1;
    }
    assert!(found >= expected, "{found} of {expected}");
    let median = (0..wage.levels() as i32).any(|bin| between(&wage.decode(bin).parse().unwrap()));
    assert!(!median, "the seeds alone show what is between the limits");
    workspace.line("verify run").exits(0).says(&[" 0 rejected"]);
    workspace.line("report run --out report.html").exits(0);
    assert!(
        workspace
            .read("report.html")
            .contains("get another class from the predictor")
    );
    // The numbers that are written count, not their bins.
    let line = samples.lines().nth(1).unwrap();
    let own = line.split(',').nth(at("other_wage")).unwrap();
    let shifted = stands_for(own.parse().unwrap()).to_string();
    let cells = line
        .split(',')
        .enumerate()
        .map(|(place, cell)| match place == at("other_wage") {
            true => shifted.as_str(),
            false => cell,
        });
    workspace.edit(
        "run/samples.csv",
        line,
        &cells.collect::<Vec<_>>().join(","),
    );
    workspace
        .line("verify run")
        .exits(1)
        .says(&["1 rejected", "differ in 'wage', which is not protected"]);
    // One number a bin: nothing is lost. A schema that names none: those of the data.
    workspace
        .line(&format!("{infer} exact.toml --bins exact"))
        .exits(0);
    let exact = audit_wages(&workspace, "exact.toml", "exact").exits(0);
    assert!(
        !exact.stderr.contains("get another class"),
        "{}",
        exact.stderr
    );
    assert_eq!(workspace.json("exact/summary.json")["bins"]["changed"], 0);
    let mut bare: toml::Table = workspace.read("people.toml").parse().unwrap();
    for attribute in bare["attribute"].as_array_mut().unwrap() {
        attribute.as_table_mut().unwrap().remove("values");
    }
    workspace.write("bare.toml", toml::to_string(&bare).unwrap());
    audit_wages(&workspace, "people.toml --predictor-rows 7", "small").exits(0);
    assert!(workspace.read("small/samples.csv") == samples);
    audit_wages(&workspace, "bare.toml", "bare").exits(0);
    assert_eq!(workspace.json("bare/summary.json")["bins"], *bins);
    assert!(workspace.read("bare/samples.csv") == samples);
    workspace
        .line("verify bare")
        .exits(0)
        .says(&[" 0 rejected"]);
}

#[test]
fn threads_and_request_sizes_change_nothing() {
    let workspace = census();
    audit(&workspace, "good", "--out one --threads 1").exits(0);
    audit(
        &workspace,
        "good",
        "--out two --threads 3 --predictor-rows 5",
    )
    .exits(0);
    let [one, two] = ["one", "two"].map(|run| workspace.json(&format!("{run}/summary.json")));
    assert_eq!(figures(&one), figures(&two));
    assert!(workspace.read("one/samples.csv") == workspace.read("two/samples.csv"));
}

/// A run that a predictor's failure broke off goes on to the very result of an unbroken one.
#[test]
fn broken_off_and_resumed() {
    let workspace = census();
    for (strategy, mode, code) in [
        ("sg", "crash:42", 3),
        ("aequitas-fully", "garbage:70", 2),
        ("adf-zero-order", "slow:70", 3),
    ] {
        // One script, that fails while there is a file to say so.
        workspace.write(
            "predict.sh",
            format!(
                "if [ -e broken ]; then rm broken; exec {}; fi\nexec {}\n",
                fake::command(mode),
                fake::command("good")
            ),
        );
        let [run, whole] = ["run", "whole"].map(|name| format!("{strategy}-{mode}-{name}"));
        let short = if mode.starts_with("slow") { "2s" } else { "5m" };
        let audit = |patience: &str, out: &str| {
            let line = format!(
                "audit --schema synthetic-census --data people.csv {SEARCH} --strategy {strategy} \
                 --predictor-timeout {patience} --out {out} --predictor"
            );
            let mut arguments: Vec<&str> = line.split_whitespace().collect();
            arguments.push("command:sh predict.sh");
            workspace.run(arguments)
        };
        workspace.write("broken", "");
        let go_on = format!("audit --resume --out {run}");
        audit(short, &run)
            .exits(code)
            .complains(&["predictor", &go_on]);
        assert!(workspace.path(&format!("{run}/checkpoint.bin")).is_file());
        assert!(!workspace.path(&format!("{run}/summary.json")).exists());
        let longer = format!("{go_on} --predictor-timeout 5m --predictor-rows 100");
        workspace.line(&longer).exits(0);
        audit("5m", &whole).exits(0);
        let [resumed, unbroken] =
            [&run, &whole].map(|run| workspace.json(&format!("{run}/summary.json")));
        assert_eq!(resumed["ending"], "complete");
        assert_eq!(figures(&resumed), figures(&unbroken));
        let samples = [&run, &whole].map(|run| workspace.read(&format!("{run}/samples.csv")));
        assert!(samples[0] == samples[1]);
        assert!(!workspace.path(&format!("{run}/checkpoint.bin")).exists());
    }
}

/// A comparison of a predictor that fails goes on to the figures of an unbroken one, wherever it
/// was broken off.
#[test]
fn comparisons_broken_off_and_resumed() {
    let workspace = census();
    let compare = |mode: &str, out: &str| {
        let command = fake::command(mode);
        // One script, that fails while there is a file to say so.
        let broken = format!("if [ -e broken ]; then rm broken; exec {command}; fi\n");
        workspace.write(
            "predict.sh",
            format!("{broken}exec {}\n", fake::command("good")),
        );
        let line = format!(
            "compare --schema synthetic-census --data people.csv --protected sex --seeds 30 --local 10 \
             --repeats 2 --strategies random-walk,themis,aequitas-random --out {out} --predictor"
        );
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.push("command:sh predict.sh");
        workspace.run(arguments)
    };
    let mut sizes = Vec::new();
    for at in [42, 90, 140] {
        let run = format!("run-{at}");
        let mode = format!("crash:{at}");
        workspace.write("broken", "");
        compare(&mode, &run)
            .exits(3)
            .complains(&["predictor", &format!("compare --resume --out {run}")]);
        assert!(!workspace.path(&format!("{run}/summary.json")).exists());
        let kept = std::fs::metadata(workspace.path(&format!("{run}/checkpoint.bin")));
        sizes.push(kept.unwrap().len());
        workspace
            .line(&format!(
                "compare --resume --out {run} --predictor-rows 100"
            ))
            .exits(0)
            .says(&["| random-walk "]);
        let whole = format!("whole-{at}");
        compare(&mode, &whole).exits(0);
        let [resumed, unbroken] = [&run, &whole].map(|run| workspace.summary(run));
        assert_eq!(untimed(&resumed), untimed(&unbroken));
        assert!(
            resumed["predictor"]
                .as_str()
                .unwrap()
                .starts_with("command:sh"),
            "{resumed}"
        );
    }
    assert!(sizes[0] < sizes[2], "some searches were kept: {sizes:?}");
}

/// Predictors have no gradients, nothing to retrain, and default strategies of their own.
#[test]
fn predictors_are_compared_but_not_repaired() {
    let workspace = census();
    let compare = |more: &str| {
        let source = format!("command:{}", fake::command("good"));
        let line = format!(
            "compare --schema synthetic-census --data people.csv --protected sex --seeds 10 --local 3 --repeats 1 {more}"
        );
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend(["--predictor", &source]);
        workspace.run(arguments)
    };
    for strategy in ["adf", "eidig", "themis,adf"] {
        compare(&format!("--strategies {strategy} --out refused"))
            .exits(2)
            .complains(&["needs gradients"]);
    }
    assert!(!workspace.path("refused").exists());
    compare("--out usual").exits(0);
    let usual = workspace.json("usual/summary.json");
    let names: Vec<&str> = usual["strategies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|strategy| strategy["strategy"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "aequitas-fully",
            "adf-zero-order",
            "sg",
            "themis",
            "random-walk"
        ]
    );
    audit(&workspace, "good", "--out run").exits(0);
    workspace
        .line("repair --model demo/model --data people.csv --run run --out repaired")
        .exits(2)
        .complains(&["run searched command:", "only answers"]);
    assert!(!workspace.path("repaired").exists());
}

/// An audit under way on a predictor that behaves in `mode` and writes its id to `pid`.
fn under_way(workspace: &Workspace, mode: &str) -> (Child, String) {
    workspace.write(
        "predict.sh",
        format!("echo $$ > pid\nexec {}\n", fake::command(mode)),
    );
    let line = "audit --schema synthetic-census --data people.csv --protected sex --seeds 400 --local 500 \
                --strategy random-walk --estimate 500 --samples csv --out run";
    let mut child = workspace
        .prepared(line)
        .args(["--predictor", "command:sh predict.sh"])
        .spawn()
        .unwrap();
    // The command listens for Ctrl-C before it writes this file.
    while !workspace.path("run/run.toml").is_file() {
        assert!(child.try_wait().unwrap().is_none(), "ended too early");
        std::thread::yield_now();
    }
    (child, workspace.read("pid").trim().to_owned())
}

#[test]
fn interrupted_leaves_a_run_and_no_process() {
    let workspace = census();
    let (child, predictor) = under_way(&workspace, "good");
    interrupt(&child);
    Outcome::new(child.wait_with_output().unwrap())
        .exits(0)
        .says(&["Interrupted", "--resume"]);
    assert!(!is_running(&predictor));
    assert!(workspace.path("run/checkpoint.bin").is_file());
    workspace.line("verify run").exits(0).says(&[" 0 rejected"]);
}

#[test]
fn a_second_interrupt_ends_a_predictor_that_hangs() {
    let workspace = census();
    let (mut child, predictor) = under_way(&workspace, "slow:42");
    assert!(is_running(&predictor));
    while child.try_wait().unwrap().is_none() {
        interrupt(&child);
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!is_running(&predictor));
    // Without a checkpoint the run begins again.
    workspace
        .line("audit --resume --out run --predictor-timeout 300ms")
        .exits(3)
        .complains(&["gave no answer"]);
}

#[test]
fn another_script_is_another_predictor() {
    let workspace = census();
    workspace.write("predict.sh", format!("exec {}", fake::command("crash:42")));
    let source = ["--predictor", "command:sh predict.sh", "--out", "run"];
    let line = format!("audit --schema synthetic-census --data people.csv {SEARCH}");
    workspace
        .run(line.split_whitespace().chain(source))
        .exits(3);
    workspace.write("predict.sh", format!("exec {}", fake::command("good")));
    workspace
        .line("audit --resume --out run")
        .exits(2)
        .complains(&["changed since the run began"]);
}

#[test]
fn refused_before_anything_is_written() {
    let workspace = census();
    let before = workspace.snapshot();
    for (mode, more, needles) in [
        ("random", "", &["not a function of the row", "age = "][..]),
        (
            "good",
            "--strategy adf",
            &["needs gradients", "random-walk"],
        ),
        (
            "good",
            "--onnx-output p",
            &["--onnx-output", "has no meaning for a command"],
        ),
        ("good", "--predictor-rows 0", &["--predictor-rows is 0"]),
        (
            "good",
            "--device ndarray",
            &["--device ndarray has no meaning"],
        ),
        ("good", "--outside level", &["has nothing to act on"]),
        ("talkative", "", &["'Loading the model ...'"]),
    ] {
        audit(&workspace, mode, more).exits(2).complains(needles);
    }
    audit(&workspace, "crash", "")
        .exits(3)
        .complains(&["exit status: 7"]);
    for (line, needle) in [
        (
            "audit --predictor onnx:m.onnx --data people.csv",
            "--schema",
        ),
        (
            "audit --predictor onnx:m.onnx --schema synthetic-census --data people.csv",
            "m.onnx",
        ),
        (
            "audit --predictor python:x --schema synthetic-census --data people.csv",
            "onnx:FILE",
        ),
        (
            "audit --schema synthetic-census --model demo/model --data people.csv",
            "--schema is given",
        ),
        (
            "audit --onnx-output p --model demo/model --data people.csv",
            "option of a predictor",
        ),
        (
            "audit --model demo/model --data people.csv --predictor-rows 5",
            "--predictor-rows",
        ),
        (
            "audit --predictor command:/nowhere/x --schema synthetic-census --data people.csv",
            "cannot start",
        ),
        (
            "audit --predictor command:sh --schema nothing --data people.csv",
            "neither a schema file",
        ),
        (
            "audit --predictor command:sh --schema synthetic-census --data nothing.csv",
            "nothing.csv",
        ),
    ] {
        workspace.line(line).exits(2).complains(&[needle]);
    }
    assert_eq!(workspace.snapshot(), before);
}
