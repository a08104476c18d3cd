//! What was looked at, and how: the facts of `run.toml`.

use super::files::RunFiles;
use crate::model::{Fact, Role};

/// Keys that say what was looked at.
const SUBJECT: [(&str, Role); 27] = [
    ("model", Role::Model),
    ("model_sha256", Role::ModelHash),
    ("record.sha256.model", Role::ModelHash),
    ("predictor.source", Role::Predictor),
    ("data", Role::Data),
    ("data_sha256", Role::DataHash),
    ("record.sha256.data", Role::DataHash),
    ("texts", Role::Texts),
    ("texts_sha256", Role::TextsHash),
    ("text_column", Role::TextColumn),
    ("text.column", Role::TextColumn),
    ("inputs_sha256", Role::InputsHash),
    ("lexicon", Role::Lexicon),
    ("text.lexicon", Role::Lexicon),
    ("lexicon_sha256", Role::LexiconHash),
    ("record.sha256.lexicon", Role::LexiconHash),
    ("protected", Role::Protected),
    ("runs", Role::Audits),
    ("train", Role::Training),
    ("record.sha256.train", Role::TrainingHash),
    ("test", Role::Test),
    ("record.sha256.test", Role::TestHash),
    ("options.protected", Role::Protected),
    ("part", Role::Part),
    ("hardware", Role::Hardware),
    ("record.hardware", Role::Hardware),
    ("record.device", Role::Device),
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
    for (key, role) in SUBJECT {
        if let Some(place) = all.iter().position(|fact| fact.name == key) {
            let value = all.remove(place).value;
            // A predictor has no model directory.
            if !value.is_empty() {
                subject.push(Fact {
                    name: role.name().to_owned(),
                    value,
                    called: None,
                    role: Some(role),
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
                called: None,
                role: None,
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
