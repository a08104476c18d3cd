//! Processes that answer: what they are told, and how each misbehaviour ends.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use probity::fairness::domain::{Domain, TabularDomain};
use probity::nn::{Classifier, ModelError, Rows, predicted_class};
use probity::predictor::PredictorError;
use probity::predictor::command::CommandPredictor;
use probity::predictor::source::PredictorOptions;

use crate::fake;
use crate::{PATIENCE, schema, wait_until};

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
        probabilities: Default::default(),
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
    wait_until("what the process has started ends", || {
        state().map_or(true, |stat| stat.contains(") Z "))
    });
}

/// Whether a process, even a zombie, has this id.
pub fn is_running(id: &str) -> bool {
    Command::new("kill")
        .args(["-0", id])
        .output()
        .unwrap()
        .status
        .success()
}
