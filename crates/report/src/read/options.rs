//! What was looked at, and how: the facts of `run.toml`.

use super::files::RunFiles;
use crate::model::Fact;

/// Keys that say what was looked at, with their names.
const SUBJECT: [(&str, &str); 27] = [
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
    ("record.device", "Device"),
];
/// Keys that are said elsewhere, or are too long to be read.
const LEFT_OUT: [&str; 9] = [
    "command",
    "kind",
    "version",
    "probity_version",
    "record.probity_version",
    "record.changed",
    "schema",
    "samples.schema",
    "table",
];
/// Options that are shown at most.
const MOST: usize = 80;

/// What was looked at, and which options are not as their defaults.
pub(super) fn facts(files: &RunFiles) -> (Vec<Fact>, Vec<Fact>) {
    // What a private release was made from is not released with it.
    if files.command.starts_with("outliers") {
        return (Vec::new(), Vec::new());
    }
    let mut all = Vec::new();
    flatten("", &files.options, &mut all);
    if let Some(changed) = changed(&files.options) {
        all.retain(|fact| {
            fact.name.starts_with("record.") || changed.contains(&fact.name.as_str())
        });
    }
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

/// The fields that were not as their defaults, as `run.toml` has them.
fn changed(options: &toml::Table) -> Option<Vec<&str>> {
    let fields = options.get("record")?.get("changed")?.as_array()?;
    Some(fields.iter().filter_map(toml::Value::as_str).collect())
}

/// The command that repeats the run, where its directory says all that determines it.
pub(super) fn reproduction(files: &RunFiles) -> Option<String> {
    // Whoever repeats a private release pays for it again, and needs the file that it does not
    // name.
    if files.command.starts_with("outliers") || !files.options.contains_key("kind") {
        return None;
    }
    let directory = files.directory.to_str()?;
    let quoted = shlex::try_quote(directory).ok()?;
    Some(format!("probity run {quoted}"))
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
        toml::Value::Array(values) => values.iter().map(readable).collect::<Vec<_>>().join(", "),
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
