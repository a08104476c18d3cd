//! The command line that does a run again, from its `run.toml`.

use super::read::shown;

/// How a key of `run.toml` is given on the command line.
enum Given {
    /// As the value of an option.
    Option(&'static str),
    /// As the value of an option, unless it is empty.
    Filled(&'static str),
    /// As a flag, if it is true.
    Flag(&'static str),
    /// Once for each value.
    Each(&'static str),
    /// 0 as `never`.
    Never(&'static str),
}

use Given::{Each, Filled, Flag, Never, Option as Value};

const AUDIT: &[(&str, Given)] = &[
    ("model", Value("--model")),
    ("predictor.source", Value("--predictor")),
    ("predictor.schema", Value("--schema")),
    ("data", Value("--data")),
    ("text.column", Value("--text-column")),
    ("text.lexicon", Value("--lexicon")),
    ("text.encoder", Value("--encoder")),
    ("out_of_domain", Value("--outside")),
    ("protected", Value("--protected")),
    ("strategy", Value("--strategy")),
    ("text.local_strategy", Value("--local-strategy")),
    ("search.objective", Value("--objective")),
    ("text.neighbours", Value("--neighbours")),
    ("text.max_l0", Value("--max-l0")),
    ("text.min_similarity", Value("--min-similarity")),
    ("search.seeds", Value("--seeds")),
    ("search.clusters", Value("--clusters")),
    ("search.max_iter", Value("--max-iter")),
    ("search.local", Value("--local")),
    ("search.step_global", Value("--step-global")),
    ("search.step_local", Value("--step-local")),
    ("estimate", Value("--estimate")),
    ("budget.time", Value("--time")),
    ("budget.max_found", Value("--max-found")),
    ("fail_above", Value("--fail-above")),
    ("samples_format", Value("--samples")),
    ("seed", Value("--seed")),
    ("record.device", Value("--device")),
];

const COMPARE: &[(&str, Given)] = &[
    ("model", Value("--model")),
    ("predictor.source", Value("--predictor")),
    ("predictor.schema", Value("--schema")),
    ("data", Value("--data")),
    ("out_of_domain", Value("--outside")),
    ("protected", Value("--protected")),
    ("strategies", Value("--strategies")),
    ("repeats", Value("--repeats")),
    ("search.objective", Value("--objective")),
    ("search.seeds", Value("--seeds")),
    ("search.clusters", Value("--clusters")),
    ("search.max_iter", Value("--max-iter")),
    ("search.local", Value("--local")),
    ("search.step_global", Value("--step-global")),
    ("search.step_local", Value("--step-local")),
    ("budget.time", Value("--time")),
    ("budget.max_found", Value("--max-found")),
    ("seed", Value("--seed")),
    ("record.device", Value("--device")),
];

const CERTIFY: &[(&str, Given)] = &[
    ("model", Value("--model")),
    ("data", Value("--data")),
    ("text.column", Value("--text-column")),
    ("text.lexicon", Value("--lexicon")),
    ("out_of_domain", Value("--outside")),
    ("protected", Value("--protected")),
    ("part", Value("--part")),
    ("splits", Value("--splits")),
    ("exhaustive", Flag("--exhaustive")),
    ("fail_below", Value("--fail-below")),
];

const GROUPS: &[(&str, Given)] = &[
    ("model", Value("--model")),
    ("data", Value("--data")),
    ("out_of_domain", Value("--outside")),
    ("part", Value("--part")),
    ("protected", Value("--protected")),
    ("groups.favourable", Value("--favourable")),
    ("groups.bins", Each("--bins")),
    ("groups.min_group", Value("--min-group")),
    ("groups.calibration_bins", Value("--calibration-bins")),
    ("groups.resamples", Value("--resamples")),
    ("seed", Value("--seed")),
    ("record.device", Value("--device")),
];

const REPAIR: &[(&str, Given)] = &[
    ("model", Value("--model")),
    ("data", Value("--data")),
    ("runs", Each("--run")),
    ("outside", Value("--outside")),
    ("method", Value("--method")),
    ("shares", Value("--sweep")),
    ("repeats", Value("--repeats")),
    ("label", Value("--label")),
    ("weight", Value("--weight")),
    ("counterfactuals", Value("--counterfactuals")),
    ("max_accuracy_loss", Value("--max-accuracy-loss")),
    ("estimate", Value("--estimate")),
    ("start", Value("--start")),
    ("training.epochs", Value("--epochs")),
    ("training.batch", Value("--batch")),
    ("training.learning_rate", Value("--learning-rate")),
    ("training.weight_decay", Value("--weight-decay")),
    ("groups.favourable", Value("--favourable")),
    ("groups.bins", Each("--bins")),
    ("groups.min_group", Value("--min-group")),
    ("groups.calibration_bins", Value("--calibration-bins")),
    ("groups.resamples", Value("--resamples")),
    ("seed", Value("--seed")),
    ("device", Value("--device")),
];

const TEXT_REPAIR: &[(&str, Given)] = &[
    ("model", Value("--model")),
    ("training.texts", Value("--texts")),
    ("runs", Each("--run")),
    ("protected", Value("--protected")),
    ("lexicon", Value("--lexicon")),
    ("method", Value("--method")),
    ("independent", Value("--strategy")),
    ("seeds", Value("--seeds")),
    ("local", Value("--local")),
    ("max_found", Value("--max-found")),
    ("shares", Value("--sweep")),
    ("label", Value("--label")),
    ("repeats", Value("--repeats")),
    ("max_accuracy_loss", Value("--max-accuracy-loss")),
    ("course.kappa", Value("--kappa")),
    ("splits", Value("--splits")),
    ("seed", Value("--seed")),
];

const KNN: &[(&str, Given)] = &[
    ("train", Value("--train")),
    ("input.train_labels", Value("--train-labels")),
    ("test", Value("--test")),
    ("input.test_labels", Value("--test-labels")),
    ("input.label_column", Value("--label-column")),
    ("reading.ignore", Filled("--ignore")),
    ("analysis.poison", Value("--sweep")),
    ("analysis.method", Value("--method")),
    ("analysis.time_limit", Value("--time-limit")),
    ("analysis.inputs", Value("--inputs")),
    ("learning.folds", Value("--folds")),
    ("learning.smallest_k", Value("--min-k")),
    ("learning.largest_k", Value("--max-k")),
    ("learning.metric", Value("--metric")),
    ("learning.seed", Value("--seed")),
    ("analysis.verdicts_format", Value("--verdicts")),
    ("record.device", Value("--device")),
];

/// Options of single strategies: key, option, strategy.
const TUNING: [(&str, Given, &str); 4] = [
    ("refresh", Never("--refresh"), "eidig"),
    ("surrogate_samples", Value("--surrogate-samples"), "sg"),
    ("confidence", Value("--confidence"), "themis"),
    ("error_bound", Value("--error-bound"), "themis"),
];

/// What a predictor has besides: of a command, or of an ONNX graph.
const PREDICTOR: &[(&str, Given, &str)] = &[
    ("timeout", Value("--predictor-timeout"), "command:"),
    ("rows", Value("--predictor-rows"), "command:"),
    ("categories", Value("--onnx-categories"), "onnx:"),
    ("output", Value("--onnx-output"), "onnx:"),
    ("gives", Value("--onnx-gives"), "onnx:"),
];

/// Whether the samples of a k-NN run are read without a schema, bounds and such, which have no short form.
fn has_plain_columns(options: &toml::Table) -> bool {
    let at = |key: &str| at(options, key);
    let is_empty = |key: &str| {
        at(key)
            .and_then(toml::Value::as_array)
            .is_none_or(Vec::is_empty)
    };
    let separator = at("reading.separator").and_then(toml::Value::as_str);
    at("reading.schema").is_none()
        && at("reading.image_blocks").is_none()
        && is_empty("input.bounds")
        && is_empty("reading.columns")
        && separator.is_none_or(|separator| separator == ",")
}

/// The command line of a run of `command` with `options`; none where they do not say enough.
pub(super) fn of(command: &str, options: &toml::Table) -> Option<String> {
    let mut words = vec!["probity".to_owned()];
    words.extend(command.split(' ').map(str::to_owned));
    let keys = match command {
        "audit" => AUDIT,
        "compare" => COMPARE,
        "certify" => CERTIFY,
        "groups" => GROUPS,
        "repair" if options.contains_key("data") => REPAIR,
        "repair" => TEXT_REPAIR,
        "knn" if has_plain_columns(options) => KNN,
        _ => return None,
    };
    if options.is_empty() {
        return None;
    }
    let source = at(options, "predictor.source").map(shown);
    let is_text = options.get("modality").and_then(toml::Value::as_str) == Some("text");
    for (key, given) in keys {
        // A predictor runs where it is.
        let is_needless = source.is_some() && *key == "record.device";
        if is_needless || is_refused(command, options, key) {
            continue;
        }
        match *key {
            "data" if is_text => add(&mut words, options, key, &Value("--texts")),
            key if key.starts_with("text.") && !is_text => {}
            key => add(&mut words, options, key, given),
        }
    }
    add_tuning(&mut words, options);
    if let (Some(source), Some(toml::Value::Table(predictor))) = (source, options.get("predictor"))
    {
        for (key, given, of) in PREDICTOR {
            if source.starts_with(of) {
                add(&mut words, predictor, key, given);
            }
        }
    }
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    Some(quoted.join(" "))
}

/// Whether `command` refuses what stands at `key`, because another option leaves it without effect.
fn is_refused(command: &str, options: &toml::Table, key: &str) -> bool {
    let is_certified = options.get("method").and_then(toml::Value::as_str) == Some("certified");
    let has_runs = options
        .get("runs")
        .is_some_and(|runs| !shown(runs).is_empty());
    match (command, key) {
        ("repair", "shares" | "label" | "weight") => is_certified,
        ("repair", "course.kappa") => !is_certified,
        ("repair", "protected") => has_runs,
        _ => false,
    }
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
