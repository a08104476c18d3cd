//! The command line that does a run again, from its `run.toml`.

use super::read::shown;

/// How a key of `run.toml` is given on the command line.
enum Given {
    /// As the value of an option.
    Option(&'static str),
    /// As the value of an option, unless it is empty.
    Filled(&'static str),
    /// In seconds.
    Seconds(&'static str),
    /// As a flag, if it is true.
    Flag(&'static str),
    /// Once for each value.
    Each(&'static str),
    /// 0 as `never`.
    Never(&'static str),
}

use Given::{Each, Filled, Flag, Never, Option as Value, Seconds};

const AUDIT: &[(&str, Given)] = &[
    ("model", Filled("--model")),
    ("predictor.source", Value("--predictor")),
    ("data", Value("--data")),
    ("texts", Value("--texts")),
    ("text_column", Value("--text-column")),
    ("lexicon", Value("--lexicon")),
    ("encoder", Value("--encoder")),
    ("outside", Value("--outside")),
    ("protected", Value("--protected")),
    ("strategy", Value("--strategy")),
    ("local_strategy", Value("--local-strategy")),
    ("objective", Value("--objective")),
    ("neighbours", Value("--neighbours")),
    ("max_l0", Value("--max-l0")),
    ("min_similarity", Value("--min-similarity")),
    ("seeds", Value("--seeds")),
    ("clusters", Value("--clusters")),
    ("max_iter", Value("--max-iter")),
    ("local", Value("--local")),
    ("step_global", Value("--step-global")),
    ("step_local", Value("--step-local")),
    ("estimate", Value("--estimate")),
    ("time_seconds", Seconds("--time")),
    ("max_found", Value("--max-found")),
    ("fail_above", Value("--fail-above")),
    ("samples_format", Value("--samples")),
    ("seed", Value("--seed")),
    ("device", Value("--device")),
];

/// Options of single strategies: key, option, strategy.
const TUNING: [(&str, Given, &str); 4] = [
    ("refresh", Never("--refresh"), "eidig"),
    ("surrogate_samples", Value("--surrogate-samples"), "sg"),
    ("confidence", Value("--confidence"), "themis"),
    ("error_bound", Value("--error-bound"), "themis"),
];

/// The command line of a run of `command` with `options`; none where they do not say enough.
pub(super) fn of(command: &str, options: &toml::Table) -> Option<String> {
    let mut words = vec!["probity".to_owned()];
    words.extend(command.split(' ').map(str::to_owned));
    let keys = match command {
        "audit" => AUDIT,
        _ => return None,
    };
    if options.is_empty() {
        return None;
    }
    for (key, given) in keys {
        add(&mut words, options, key, given);
    }
    if command == "audit" {
        add_tuning(&mut words, options);
        if options.contains_key("predictor") {
            words.extend(["--schema", "SCHEMA.toml"].map(str::to_owned));
        }
    }
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    Some(quoted.join(" "))
}

fn add_tuning(words: &mut Vec<String>, options: &toml::Table) {
    let Some(toml::Value::Table(tuning)) = options.get("tuning") else {
        return;
    };
    let asked = options
        .get("strategy")
        .or_else(|| options.get("strategies"));
    let asked = asked.map(shown).unwrap_or_default();
    for (key, given, strategy) in &TUNING {
        if asked.split(',').any(|name| name == *strategy) {
            add(words, tuning, key, given);
        }
    }
}

/// The value at a key with dots.
fn at<'t>(options: &'t toml::Table, key: &str) -> Option<&'t toml::Value> {
    let mut parts = key.split('.');
    let first = options.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.as_table()?.get(part))
}

fn add(words: &mut Vec<String>, options: &toml::Table, key: &str, given: &Given) {
    let Some(value) = at(options, key) else {
        return;
    };
    let text = shown(value);
    let (option, text) = match given {
        Value(option) => (option, text),
        Filled(option) if !text.is_empty() => (option, text),
        Filled(_) => return,
        Seconds(option) => (option, format!("{text}s")),
        Never(option) if text == "0" => (option, "never".to_owned()),
        Never(option) => (option, text),
        Flag(option) => {
            if value.as_bool() == Some(true) {
                words.push((*option).to_owned());
            }
            return;
        }
        Each(option) => {
            for value in value.as_array().into_iter().flatten() {
                words.extend([(*option).to_owned(), shown(value)]);
            }
            return;
        }
    };
    words.extend([(*option).to_owned(), text]);
}

/// `word` as a shell takes it.
fn quote(word: &str) -> String {
    match shlex::try_quote(word) {
        Ok(quoted) => quoted.into_owned(),
        // A shell cannot be given a NUL at all.
        Err(_) => "'?'".to_owned(),
    }
}
