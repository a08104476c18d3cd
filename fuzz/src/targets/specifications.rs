//! Specifications of every kind: files in TOML and bodies in JSON.

use std::path::Path;

use probity_fairness::certify::specification::CertifySpecification;
use probity_fairness::explain::specification::ExplainSpecification;
use probity_fairness::group::specification::GroupsSpecification;
use probity_fairness::predictions::specification::{
    EvaluateSpecification, PredictSpecification as ClassifySpecification,
};
use probity_fairness::prove::specification::ProveSpecification;
use probity_fairness::repair::specification::RepairSpecification;
use probity_fairness::specification::{AuditSpecification, CompareSpecification};
use probity_knn::specification::{PredictSpecification, RobustnessSpecification};
use probity_nn::import_run::ImportSpecification;
use probity_nn::train::specification::TrainSpecification;
use probity_privacy::specification::{
    CountSpecification, ExactSpecification, SubspacesSpecification,
};
use probity_run::specification::Specification;
use probity_run::specification::file::{kind_of, read, to_toml};
use probity_unlearning::{kmeans, spn};

use super::fixtures::Make;
use crate::target::{Execution, Input, Seen, Target, Verdict};

pub const ALL: &[(&str, Make)] = &[("specification", toml_file), ("specification-json", json)];

/// Does `$task` with each kind of specification.
macro_rules! each_kind {
    ($task:ident, $($argument:expr),*) => {{
        $task::<AuditSpecification>($($argument),*);
        $task::<CompareSpecification>($($argument),*);
        $task::<TrainSpecification>($($argument),*);
        $task::<ImportSpecification>($($argument),*);
        $task::<RepairSpecification>($($argument),*);
        $task::<CertifySpecification>($($argument),*);
        $task::<ProveSpecification>($($argument),*);
        $task::<GroupsSpecification>($($argument),*);
        $task::<ClassifySpecification>($($argument),*);
        $task::<ExplainSpecification>($($argument),*);
        $task::<EvaluateSpecification>($($argument),*);
        $task::<RobustnessSpecification>($($argument),*);
        $task::<PredictSpecification>($($argument),*);
        $task::<kmeans::specification::FitSpecification>($($argument),*);
        $task::<kmeans::specification::BenchSpecification>($($argument),*);
        $task::<spn::specification::FitSpecification>($($argument),*);
        $task::<CountSpecification>($($argument),*);
        $task::<SubspacesSpecification>($($argument),*);
        $task::<ExactSpecification>($($argument),*);
    }};
}

/// What each kind needs, with a value of every field that has a default.
fn example<S: Specification>(seeds: &mut Vec<(String, serde_json::Value)>) {
    let texts = serde_json::json!({
        "data": "people.csv", "model": "model", "schema": "adf-census", "config": "adf-fnn",
        "weights": "weights.pt", "modality": "table", "clusters": 2, "train": "a.csv",
        "test": "b.csv", "columns": ["age"], "radius": 0.5, "k": 1, "epsilon": 0.5, "delta": 1e-6,
        "ledger": "budget.toml", "strategies": ["adf"], "runs": ["audit"], "protected": ["sex"],
        "input": { "label_column": "class" },
    });
    let known = S::schema();
    let mut given = texts.clone();
    if let Some(given) = given.as_object_mut() {
        given.retain(|key, _| known["properties"].get(key).is_some());
    }
    // Field by field: what this kind does not take is left out.
    for key in texts.as_object().into_iter().flat_map(|texts| texts.keys()) {
        if S::from_json(&given).is_ok() {
            break;
        }
        if let Some(given) = given.as_object_mut() {
            let removed = given.remove(key);
            if S::from_json(&serde_json::Value::Object(given.clone())).is_err()
                && let Some(removed) = removed
            {
                given.insert(key.clone(), removed);
            }
        }
    }
    let whole = S::from_json(&given)
        .ok()
        .and_then(|s| serde_json::to_value(s).ok());
    let value = whole.unwrap_or(given);
    seeds.push((S::KIND.to_owned(), value));
}

fn examples() -> Vec<(String, serde_json::Value)> {
    let mut seeds = Vec::new();
    each_kind!(example, &mut seeds);
    seeds
}

const WORDS: &[&str] = &[
    "kind",
    "version",
    "record",
    "data",
    "model",
    "search",
    "budget",
    "seeds",
    "estimate",
    "noise",
    "true",
    "nan",
    "1e999",
    "-1",
    "18446744073709551615",
    "[[",
    "]]",
    "\"none\"",
    "1979-05-27",
];

/// What is accepted can be written, and read again as the same.
fn same_again<S: Specification>(execution: &Execution<'_>, verdict: &mut Verdict) {
    let file = execution.file();
    if verdict.is_err() || kind_of(&file).is_ok_and(|kind| kind != S::KIND) {
        return;
    }
    let Ok((specification, record)) = read::<S>(&file) else {
        return;
    };
    let Ok(checked) = specification.check() else {
        return;
    };
    *verdict = Ok(Seen::Accepted);
    let again = execution.folder.join("again.toml");
    // Whole numbers above 2^63 have no form in TOML, and are refused when they are written.
    let Ok(text) = to_toml::<S>(&checked, record.as_ref()) else {
        return;
    };
    if let Err(error) = std::fs::write(&again, text) {
        *verdict = Err(error.to_string());
        return;
    }
    match read::<S>(&again) {
        Ok((other, _)) if other == *checked && other.identity() == checked.identity() => {}
        Ok(_) => *verdict = Err("it is another specification once written".to_owned()),
        Err(error) => *verdict = Err(format!("it is refused once written: {error}")),
    }
}

fn toml_file(_: &Path) -> anyhow::Result<Target> {
    let mut seeds = Vec::new();
    for (kind, value) in examples() {
        let mut table = toml::Table::try_from(strip(value))?;
        table.insert("kind".to_owned(), kind.into());
        seeds.push(Input::one("run.toml", toml::to_string(&table)?));
    }
    let check = |execution: &Execution<'_>| {
        let mut verdict = Ok(Seen::Refused);
        each_kind!(same_again, execution, &mut verdict);
        verdict
    };
    Ok(Target::new("specification", seeds, check).words(WORDS))
}

/// Without what TOML has no form for.
fn strip(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(entries) => {
            let entries = entries.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(entries.map(|(key, value)| (key, strip(value))).collect())
        }
        other => other,
    }
}

fn of_json<S: Specification>(value: &serde_json::Value, accepted: &mut bool) {
    let checked = S::from_json(value).map(Specification::check);
    *accepted |= matches!(checked, Ok(Ok(_)));
}

fn json(_: &Path) -> anyhow::Result<Target> {
    let seeds = examples()
        .into_iter()
        .map(|(_, value)| Input::one("body.json", value.to_string()))
        .collect();
    let check = |execution: &Execution<'_>| {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(execution.bytes()) else {
            return Ok(Seen::Refused);
        };
        let mut accepted = false;
        each_kind!(of_json, &value, &mut accepted);
        Ok(match accepted {
            true => Seen::Accepted,
            false => Seen::Refused,
        })
    };
    Ok(Target::new("specification-json", seeds, check).words(WORDS))
}
