//! Specifications of every kind: files in TOML and bodies in JSON.

use std::path::Path;

use probity::specifications::{Visitor, each};
use probity_run::specification::Specification;
use probity_run::specification::file::{kind_of, read, to_toml};

use super::fixtures::Make;
use crate::target::{Execution, Input, Seen, Target, Verdict};

pub const ALL: &[(&str, Make)] = &[("specification", toml_file), ("specification-json", json)];

/// Example bodies: for each kind the fields that it needs, with a value of every field that has a
/// default.
#[derive(Default)]
struct Examples(Vec<(String, serde_json::Value)>);

impl Visitor for Examples {
    fn visit<S: Specification>(&mut self) {
        self.0.push((S::KIND.to_owned(), example::<S>()));
    }
}

fn example<S: Specification>() -> serde_json::Value {
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
    // Field by field: fields that this kind does not take are left out.
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
    whole.unwrap_or(given)
}

fn examples() -> Vec<(String, serde_json::Value)> {
    let mut examples = Examples::default();
    each(&mut examples);
    examples.0
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

/// A visitor that checks that a specification which any kind accepts can be written, and read again
/// as the same.
struct SameAgain<'a> {
    execution: &'a Execution<'a>,
    verdict: Verdict,
}

impl Visitor for SameAgain<'_> {
    fn visit<S: Specification>(&mut self) {
        same_again::<S>(self.execution, &mut self.verdict);
    }
}

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
        let mut again = SameAgain {
            execution,
            verdict: Ok(Seen::Refused),
        };
        each(&mut again);
        again.verdict
    };
    Ok(Target::new("specification", seeds, check).words(WORDS))
}

/// Removes values that have no form in TOML, such as nulls.
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

/// A visitor that finds out whether any kind accepts a body.
struct OfJson {
    value: serde_json::Value,
    is_accepted: bool,
}

impl Visitor for OfJson {
    fn visit<S: Specification>(&mut self) {
        let checked = S::from_json(&self.value).map(Specification::check);
        self.is_accepted |= matches!(checked, Ok(Ok(_)));
    }
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
        let mut body = OfJson {
            value,
            is_accepted: false,
        };
        each(&mut body);
        Ok(match body.is_accepted {
            true => Seen::Accepted,
            false => Seen::Refused,
        })
    };
    Ok(Target::new("specification-json", seeds, check).words(WORDS))
}
