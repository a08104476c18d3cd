//! The example predictors in scripts/ with real models, where Python has the libraries.
//!
//! `PROBITY_PYTHON` names the interpreter; `python3` otherwise.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::probity_command::Workspace;
use probity_testing::{Needed, skip};

/// The interpreter, if it has `libraries`; says why not.
fn python(libraries: &str) -> Option<String> {
    let python = std::env::var("PROBITY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_libraries = Command::new(&python)
        .args(["-c", &format!("import {libraries}")])
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success());
    if has_libraries {
        return Some(python);
    }
    let reason = format!("{python} has no {libraries} (PROBITY_PYTHON names another)");
    skip(Needed::Python, &reason);
    None
}

fn script(name: &str) -> String {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let path = scripts.join(name).to_str().unwrap().to_owned();
    assert!(!path.contains('\''), "{path}");
    format!("'{path}'")
}

/// Runs Python `code` in the workspace.
fn run_python(python: &str, workspace: &Workspace, code: &str) -> String {
    let output = Command::new(python)
        .args(["-c", code])
        .current_dir(workspace.path("."))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Audits and verifies with `script` on `model`: its samples are in `out/samples.csv`.
fn audit(workspace: &Workspace, python: &str, answers: &str, model: &str, out: &str) {
    let source = format!("command:{python} {} {model}", script(answers));
    let line = format!(
        "audit --schema synthetic-census --data demo/people.csv --protected sex --strategy random-walk \
         --seeds 50 --local 20 --estimate 2000 --samples csv --out {out}"
    );
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--predictor", &source]);
    workspace.run(arguments).exits(0);
    let summary = workspace.json(&format!("{out}/summary.json"));
    let pairs = summary["total"]["discriminatory_rows"].as_u64().unwrap();
    assert!(pairs > 10, "{pairs}");
    workspace
        .line(&format!("verify {out}"))
        .exits(0)
        .says(&[" 0 rejected"]);
}

/// Prepares the demo's people: `X`, `y`, and `read(run)`: the pairs of a run as the model's inputs,
/// with the probability of `high` that the run recorded.
const PEOPLE: &str = "
import numpy as np, pandas
people = pandas.read_csv('demo/people.csv')
y = people.pop('income')
X = people
# As the schema's bins have it.
X['hours_per_week'] = (X['hours_per_week'] // 6 * 6).astype(float)
words = ['occupation', 'household', 'sex', 'origin']
def read(run):
    samples = pandas.read_csv(run + '/samples.csv')
    rows = samples[['x_' + name for name in X.columns]].set_axis(X.columns, axis=1)
    low, high = np.exp(samples['logit_x_low']), np.exp(samples['logit_x_high'])
    return rows, (high / (low + high)).to_numpy()
";

#[test]
fn scikit_learn_answers_as_it_does_in_python() {
    let Some(python) = python("sklearn, pandas, joblib") else {
        return;
    };
    let workspace = Workspace::with_demo(3000);
    run_python(
        &python,
        &workspace,
        &format!(
            "{PEOPLE}
import joblib
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
encode = make_column_transformer(
    (OneHotEncoder(handle_unknown='ignore'), words), remainder=StandardScaler())
joblib.dump(make_pipeline(encode, LogisticRegression()).fit(X, y), 'pipeline.joblib')
"
        ),
    );
    audit(
        &workspace,
        &python,
        "predict_sklearn.py",
        "pipeline.joblib",
        "pipeline",
    );
    let worst = run_python(
        &python,
        &workspace,
        &format!(
            "{PEOPLE}
import joblib
rows, recorded = read('pipeline')
model = joblib.load('pipeline.joblib')
column = list(model.classes_).index('high')
print(np.abs(model.predict_proba(rows)[:, column] - recorded).max())
"
        ),
    );
    assert!(worst.trim().parse::<f64>().unwrap() < 1e-6, "{worst}");
}

#[test]
fn a_matrix_of_codes_or_of_indicators() {
    let Some(python) = python("sklearn, pandas, joblib") else {
        return;
    };
    let workspace = Workspace::with_demo(3000);
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let columns = format!(
        "{PEOPLE}
import sys, joblib
sys.path.insert(0, '{}')
from probity_predictor import Numbers
columns = [
    {{'name': name, 'kind': 'categorical', 'values': values[name]}} if name in values else {{'name': name, 'kind': 'integer'}}
    for values in [{{
        'occupation': ['elementary', 'service', 'clerical', 'sales', 'craft', 'operator', 'technician',
                       'professional', 'manager', 'executive'],
        'household': ['single', 'couple', 'couple with children', 'single parent', 'other'],
        'sex': SEX, 'origin': ORIGIN}}]
    for name in X.columns
]
",
        scripts.display()
    );
    let schema = workspace
        .line("schema show synthetic-census")
        .exits(0)
        .stdout;
    let schema: toml::Table = schema.parse().unwrap();
    let levels = |name: &str| {
        let attributes = schema["attribute"].as_array().unwrap();
        let found = attributes.iter().find(|a| a["name"].as_str() == Some(name));
        found.unwrap()["levels"].to_string()
    };
    let columns = columns
        .replace("SEX", &levels("sex"))
        .replace("ORIGIN", &levels("origin"));
    for (name, onehot, option) in [("codes", "False", ""), ("onehot", "True", " --onehot")] {
        run_python(
            &python,
            &workspace,
            &format!(
                "{columns}
from sklearn.tree import DecisionTreeClassifier
matrix = Numbers(columns, {onehot})(X.values.tolist())
joblib.dump(DecisionTreeClassifier(max_depth=8, random_state=1).fit(matrix, y), '{name}.joblib')
"
            ),
        );
        let model = format!("{name}.joblib{option}");
        audit(&workspace, &python, "predict_sklearn.py", &model, name);
        let worst = run_python(
            &python,
            &workspace,
            &format!(
                "{columns}
rows, recorded = read('{name}')
model = joblib.load('{name}.joblib')
answers = model.predict_proba(Numbers(columns, {onehot})(rows.values.tolist()))
print(np.abs(answers[:, list(model.classes_).index('high')] - recorded).max())
"
            ),
        );
        assert!(worst.trim().parse::<f64>().unwrap() < 1e-6, "{worst}");
    }
    // The other layout has other columns, and the script says so before the run begins.
    let source = format!(
        "command:{python} {} onehot.joblib",
        script("predict_sklearn.py")
    );
    workspace
        .run([
            "audit",
            "--schema",
            "synthetic-census",
            "--data",
            "demo/people.csv",
            "--predictor",
            &source,
        ])
        .exits(2)
        .complains(&["reports: ValueError", "the model was fitted on"]);
}

#[test]
fn xgboost_answers() {
    let Some(python) = python("xgboost, pandas, sklearn") else {
        return;
    };
    let workspace = Workspace::with_demo(3000);
    run_python(
        &python,
        &workspace,
        &format!(
            "{PEOPLE}
import xgboost
levels = {{name: sorted(X[name].unique()) for name in words}}
numbers = pandas.get_dummies(X, columns=words, dtype=float)
model = xgboost.train(
    {{'objective': 'binary:logistic', 'max_depth': 4, 'seed': 1}},
    xgboost.DMatrix(numbers, label=(y == 'high').astype(float)), 30)
model.save_model('model.json')
"
        ),
    );
    audit(
        &workspace,
        &python,
        "predict_xgboost.py",
        "model.json --onehot",
        "run",
    );
    let worst = run_python(
        &python,
        &workspace,
        &format!(
            "{PEOPLE}
import xgboost
rows, recorded = read('run')
model = xgboost.Booster(model_file='model.json')
numbers = pandas.get_dummies(rows, columns=words, dtype=float).reindex(columns=model.feature_names, fill_value=0.0)
print(np.abs(model.predict(xgboost.DMatrix(numbers)) - recorded).max())
"
        ),
    );
    assert!(worst.trim().parse::<f64>().unwrap() < 1e-6, "{worst}");
}

/// A forest on 30 columns of numbers: ten bins a column, by their edges and by their medians.
#[test]
fn numbers_that_stand_for_bins_change_fewer_decisions_than_edges() {
    let Some(python) = python("sklearn, pandas, joblib, tomllib") else {
        return;
    };
    let workspace = Workspace::new();
    run_python(
        &python,
        &workspace,
        "
import joblib, numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
data = load_breast_cancer(as_frame=True)
X = data.data.rename(columns=lambda name: name.replace(' ', '_'))
y = data.target.map({0: 'malignant', 1: 'benign'})
joblib.dump(RandomForestClassifier(random_state=1).fit(X, y), 'forest.joblib')
X['class'] = y
X['sex'] = np.random.default_rng(1).choice(['f', 'm'], len(X))
X.to_csv('tumours.csv', index=False)
",
    );
    let share = |schema: &str, column: &str| {
        let text = run_python(
            &python,
            &workspace,
            &format!(
                "
import joblib, numpy as np, pandas, tomllib
model, data = joblib.load('forest.joblib'), pandas.read_csv('tumours.csv')
X = data.drop(columns=['class', 'sex'])
binned = X.copy()
for attribute in tomllib.load(open('{schema}', 'rb'))['attribute']:
    if attribute['kind'] == 'numeric':
        edges = np.array(attribute['bins'])
        values = np.array(attribute['{column}'])
        bins = np.clip(np.searchsorted(edges, X[attribute['name']], side='right') - 1, 0, len(edges) - 2)
        binned[attribute['name']] = values[bins]
print((model.predict(X) != model.predict(binned)).sum(), len(X))
"
            ),
        );
        let mut numbers = text
            .split_whitespace()
            .map(|word| word.parse::<u64>().unwrap());
        [numbers.next().unwrap(), numbers.next().unwrap()]
    };
    let source = format!(
        "command:{python} {} forest.joblib",
        script("predict_sklearn.py")
    );
    let mut changed = Vec::new();
    for bins in ["10", "exact"] {
        let schema = format!("bins-{bins}.toml");
        workspace
            .line(&format!(
                "schema infer tumours.csv --label-column class --protected sex --bins {bins} --out {schema}"
            ))
            .exits(0);
        let line = format!(
            "audit --schema {schema} --data tumours.csv --strategy random-walk --seeds 5 --local 2 --estimate 50 \
             --samples csv --out run-{bins}"
        );
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend(["--predictor", &source]);
        workspace.run(arguments).exits(0);
        let found = &workspace.json(&format!("run-{bins}/summary.json"))["bins"];
        let [by_values, rows] = share(&schema, "values");
        assert_eq!(
            (&found["rows"], &found["changed"]),
            (&rows.into(), &by_values.into())
        );
        let [by_edges, _] = share(&schema, "bins");
        changed.push((by_edges, by_values));
    }
    let (by_edges, by_medians) = changed[0];
    assert!(by_medians > 0 && 2 * by_medians < by_edges, "{changed:?}");
    assert_eq!(changed[1].1, 0, "{changed:?}");
}

/// A process and an ONNX graph that give numbers: what is found is what the numbers say.
#[test]
fn regressors_answer_with_numbers() {
    let Some(python) = python("numpy, pandas, sklearn, skl2onnx") else {
        return;
    };
    let workspace = Workspace::new();
    let made = run_python(
        &python,
        &workspace,
        "
import numpy as np, pandas
from sklearn.ensemble import RandomForestRegressor
from skl2onnx import to_onnx
draw = np.random.default_rng(3)
X = pandas.DataFrame({'age': draw.integers(18, 65, 500), 'sex': draw.integers(0, 2, 500),
                      'grade': draw.integers(0, 8, 500)})
y = 900 + 12.5 * X.age + 250 * X.grade + 700 * X.sex * (X.grade > 3)
model = RandomForestRegressor(10, random_state=1).fit(X.to_numpy(dtype=np.float32), y)
X.assign(wage=y).to_csv('pay.csv', index=False)
with open('pay.onnx', 'wb') as file:
    file.write(to_onnx(model, X.to_numpy(dtype=np.float32)[:1]).SerializeToString())
predict = lambda sex: model.predict(X.assign(sex=sex).to_numpy(dtype=np.float32))
print((np.abs(predict(1) - predict(0)) > 300).sum(), (X.grade > 3).sum())
",
    );
    let expected: Vec<u64> = made
        .split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect();
    workspace.write(
        "answer.py",
        "
import json, sys
greeting = json.loads(sys.stdin.readline())
assert greeting['gives'] == 'number' and greeting['classes'] == [], greeting
print('{\"protocol\": 1}', flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    numbers = [2000.5 * age + 700.0 * int(sex) * (grade > 3) for age, sex, grade in asked['rows']]
    print(json.dumps({'batch': asked['batch'], 'numbers': numbers}), flush=True)
",
    );
    workspace
        .line(
            "schema infer pay.csv --label-column wage --label-number --protected sex --out pay.toml",
        )
        .exits(0);
    let process = format!("command:{python} answer.py");
    for (source, beyond, out) in [
        ("onnx:pay.onnx", expected[0], "graph"),
        (process.as_str(), expected[1], "process"),
    ] {
        let line = format!(
            "audit --schema pay.toml --data pay.csv --gap 300 --seeds 30 --local 20 --estimate 200 \
             --samples csv --out {out}"
        );
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend(["--predictor", source]);
        workspace.run(arguments).exits(0);
        let summary = workspace.json(&format!("{out}/summary.json"));
        let share = &summary["population"]["shares"][0]["discriminatory"];
        assert!(beyond > 50, "{beyond}");
        assert_eq!(*share, beyond, "{source}");
        workspace
            .line(&format!("verify {out}"))
            .exits(0)
            .says(&[" 0 rejected"]);
    }
    workspace.write(
        "broken.py",
        "print('{\"protocol\": 1, \"classes\": [\"a\", \"b\"]}')\n",
    );
    let broken = format!("command:{python} broken.py");
    let line = "audit --schema pay.toml --data pay.csv --gap 300 --out broken";
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--predictor", &broken]);
    workspace.run(arguments).exits(2).complains(&["a, b"]);
}
