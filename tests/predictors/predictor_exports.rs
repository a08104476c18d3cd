//! What skl2onnx and onnxmltools export of scikit-learn, XGBoost and LightGBM decides here as it
//! does there (tests/predictor_exports/models.py), where Python has the libraries.
#![cfg(all(feature = "onnx", unix))]

use std::path::Path;
use std::process::{Command, Stdio};

use probity::data::schema::Schema;
use probity::nn::{Classifier, Rows};
use probity::predictor::onnx::OnnxPredictor;
use probity::predictor::source::GraphOptions;
use probity_testing::{Needed, skip};
use serde_json::Value;

/// Rows that every model is asked for.
const ROWS: usize = 10_000;

/// The models that are exported, with how far a probability may differ: by the rounding of the
/// library's numbers to 32 bits, or because the export doubles the score of two classes.
fn models() -> Vec<(&'static str, f64)> {
    let exact = [
        "scaled_logistic",
        "scaled_network",
        "tree",
        "forest",
        "pure_forest",
        "extra_trees",
        "gradient_boosting",
        "ada_boost",
        "bagging",
        "naive_bayes",
        "calibrated",
        "voting",
        "stacking",
        "bins",
        "normalised",
        "no_dictionary",
        "doubles_forest",
        "doubles_logistic",
        "three_logistic",
        "three_network",
        "three_forest",
        "three_gradient_boosting",
        "three_one_vs_rest",
        "three_xgboost",
        "three_lightgbm",
        "gaps_xgboost",
        "gaps_lightgbm",
        "gaps_imputed",
        "mixed_logistic",
        "mixed_forest",
        "mixed_network",
        "mixed_dropped",
        "mixed_xgboost",
        "mixed_lightgbm",
        "machine",
    ];
    let exact = exact.into_iter().map(|name| (name, 1e-5));
    exact.chain([("discriminant", 0.5)]).collect()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The numbers of a list of lists.
fn lists(value: &Value) -> Vec<Vec<f64>> {
    let lists = value.as_array().unwrap().iter();
    let lists = lists.map(|list| list.as_array().unwrap().iter());
    lists
        .map(|list| list.map(|number| number.as_f64().unwrap()).collect())
        .collect()
}

fn largest(numbers: &[f64]) -> usize {
    let mut best = 0;
    for (place, number) in numbers.iter().enumerate() {
        if *number > numbers[best] {
            best = place;
        }
    }
    best
}

/// Every model decides every row as the library does, ties included, but where the library prefers
/// a class by less than the precision of the export.
#[test]
fn exports_decide_as_the_library_does() {
    let python = std::env::var("PROBITY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let run = |arguments: &[&str], folder: &Path| {
        let mut command = Command::new(&python);
        command.args(arguments).current_dir(folder);
        command.stdin(Stdio::null()).output()
    };
    let folder = tempfile::tempdir().unwrap();
    let libraries = "import sklearn, skl2onnx, onnxmltools, xgboost, lightgbm, pandas";
    if !run(&["-c", libraries], folder.path()).is_ok_and(|output| output.status.success()) {
        let reason = format!("{python} cannot {libraries} (PROBITY_PYTHON names another)");
        return skip(Needed::Python, &reason);
    }
    let script = include_str!("../predictor_exports/models.py");
    let output = run(&["-c", script, &ROWS.to_string()], folder.path()).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");

    let mut wrong = Vec::new();
    for (name, tolerance) in models() {
        let file = |end: &str| folder.path().join(format!("{name}.{end}"));
        let expected = json(&file("json"));
        let data = expected["data"].as_str().unwrap();
        let schema = std::fs::read_to_string(folder.path().join(format!("{data}.toml"))).unwrap();
        let schema = Schema::from_toml(&schema).unwrap();
        let rows = lists(&json(&folder.path().join(format!("{data}.json"))));
        let codes: Vec<i32> = rows.concat().into_iter().map(|code| code as i32).collect();
        let options = GraphOptions::default();
        let predictor = match OnnxPredictor::open(&file("onnx"), &schema, &options) {
            Ok(predictor) => predictor,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        let logits = match predictor.logits(Rows::new(&codes, predictor.width())) {
            Ok(logits) => logits,
            Err(error) => {
                wrong.push(format!(
                    "{name}: {error}: {:?}",
                    std::error::Error::source(&error)
                ));
                continue;
            }
        };
        let classes = predictor.classes();
        let predicted = lists(&expected["predicted"]);
        let labels = expected["labels"].as_array().unwrap();
        assert_eq!(logits.len(), ROWS * classes);
        let (mut farthest, mut undecided, mut differ) = (0.0f64, 0, 0);
        let mut seen = vec![0; classes];
        for (row, found) in logits.chunks_exact(classes).enumerate() {
            let found: Vec<f64> = found.iter().map(|&logit| f64::from(logit).exp()).collect();
            let sum: f64 = found.iter().sum();
            let expected = &predicted[row];
            for (found, expected) in found.iter().zip(expected) {
                farthest = farthest.max((found / sum - expected).abs());
            }
            let decision = largest(&found);
            seen[decision] += 1;
            let is_undecided = {
                let mut sorted = expected.clone();
                sorted.sort_by(|one, other| other.total_cmp(one));
                sorted[0] > sorted[1] && sorted[0] - sorted[1] < 1e-6
            };
            undecided += usize::from(is_undecided);
            let label = labels[row].as_u64().unwrap() as usize;
            differ += usize::from(decision != label && !is_undecided);
        }
        println!("{name}: {farthest:.1e} {undecided} undecided, {differ} differ, {seen:?}");
        if farthest > tolerance || differ > 0 || undecided > ROWS / 50 {
            wrong.push(format!(
                "{name}: up to {farthest} from the library's probabilities, {differ} decisions differ, {undecided} rows undecided"
            ));
        }
        if seen.iter().any(|&rows| rows < ROWS / 100) {
            wrong.push(format!("{name}: decides for the classes {seen:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
