//! What was looked at, and how: the facts of `run.toml`.

use super::RunFiles;
use crate::model::Fact;

/// Keys that say what was looked at, with their names.
const SUBJECT: [(&str, &str); 26] = [
    ("model", "Model"),
    ("model_sha256", "SHA-256 of the model"),
    ("record.sha256.model", "SHA-256 of the model"),
    ("predictor.source", "Predictor"),
    ("data", "Data"),
    ("data_sha256", "SHA-256 of the data"),
    ("record.sha256.data", "SHA-256 of the data"),
    ("texts", "Texts"),
    ("texts_sha256", "SHA-256 of the texts"),
    ("text_column", "Column of the texts"),
    ("text.column", "Column of the texts"),
    ("inputs_sha256", "SHA-256 of the inputs"),
    ("lexicon", "Lexicon"),
    ("text.lexicon", "Lexicon"),
    ("lexicon_sha256", "SHA-256 of the protected terms"),
    ("record.sha256.lexicon", "SHA-256 of the protected terms"),
    ("protected", "Protected"),
    ("runs", "Audits"),
    ("train", "Training rows"),
    ("record.sha256.train", "SHA-256 of the training rows"),
    ("test", "Test inputs"),
    ("record.sha256.test", "SHA-256 of the test inputs"),
    ("options.protected", "Protected"),
    ("part", "Part of the rows"),
    ("hardware", "Hardware"),
    ("record.hardware", "Hardware"),
];
/// Keys that are said elsewhere, or are too long to be read.
const LEFT_OUT: [&str; 8] = [
    "command",
    "kind",
    "version",
    "probity_version",
    "record.probity_version",
    "schema",
    "samples.schema",
    "table",
];
/// Options that are shown at most.
const MOST: usize = 80;

/// What was looked at, and all other options.
pub(super) fn facts(files: &RunFiles) -> (Vec<Fact>, Vec<Fact>) {
    // What a private release was made from is not released with it.
    if files.command.starts_with("outliers") {
        return (Vec::new(), Vec::new());
    }
    let mut all = Vec::new();
    flatten("", &files.options, &mut all);
    let mut subject = Vec::new();
    for (key, name) in SUBJECT {
        if let Some(place) = all.iter().position(|fact| fact.name == key) {
            let value = all.remove(place).value;
            // A predictor has no model directory.
            if !value.is_empty() {
                subject.push(Fact {
                    name: name.to_owned(),
                    value,
                });
            }
        }
    }
    all.truncate(MOST);
    (subject, all)
}

fn flatten(prefix: &str, table: &toml::Table, facts: &mut Vec<Fact>) {
    for (key, value) in table {
        let name = match prefix {
            "" => key.clone(),
            prefix => format!("{prefix}.{key}"),
        };
        if LEFT_OUT.contains(&name.as_str()) || (name.ends_with(".schema") && value.is_table()) {
            continue;
        }
        match value {
            toml::Value::Table(table) => flatten(&name, table, facts),
            value => facts.push(Fact {
                name,
                value: readable(value),
            }),
        }
    }
}

/// A value as one would read it.
fn readable(value: &toml::Value) -> String {
    match value {
        toml::Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        value => shown(value),
    }
}

/// A value as one would type it.
pub(crate) fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
