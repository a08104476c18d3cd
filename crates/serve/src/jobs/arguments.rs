//! The arguments of a job's process, from its typed request.
//!
//! They are built here and nowhere else: there is no way to name a file, a program or an option that is not listed. A text
//! of a user stands behind the `=` of its own option, so it cannot be an option; a name with a comma, which would be two, is
//! refused before it comes here.

use std::ffi::OsString;
use std::path::Path;

use super::request::{
    AuditTable, AuditTexts, CategoryCodes, Course, JobRequest, RepairTable, RepairTexts, Search,
    TrainTable, TrainTexts,
};
use super::words::word;

/// The files that a request reads, found by their identifiers.
#[derive(Debug, Clone)]
pub struct Inputs<'a> {
    /// The file of the data set.
    pub data: &'a Path,
    /// Its schema, for a training on a table.
    pub schema: &'a Path,
    /// The directory of the model; empty where none is read.
    pub model: &'a Path,
    /// The run directories of the audits.
    pub audits: &'a [std::path::PathBuf],
}

/// A list of arguments.
#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    /// `--name=value`.
    fn option(&mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) {
        let mut argument = OsString::from(format!("--{name}="));
        argument.push(value);
        self.0.push(argument);
    }

    fn number(&mut self, name: &str, value: impl ToString) {
        self.option(name, value.to_string());
    }

    fn maybe<T: ToString>(&mut self, name: &str, value: Option<T>) {
        if let Some(value) = value {
            self.number(name, value);
        }
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.0.push(format!("--{name}").into());
        }
    }

    fn protected(&mut self, names: &[String]) {
        for name in names {
            self.option("protected", name);
        }
    }

    fn course(&mut self, course: &Course) {
        self.maybe("epochs", course.epochs);
        self.maybe("batch", course.batch);
        self.number("learning-rate", course.learning_rate);
        self.number("patience", course.patience);
        let weights = if course.balance_classes {
            "balanced"
        } else {
            "none"
        };
        self.option("class-weights", weights);
        self.number("weight-decay", course.weight_decay);
        self.number("validation", course.validation);
        self.number("test", course.test);
        self.number("seed", course.seed);
    }

    fn search(&mut self, search: &Search) {
        self.number("seeds", search.seeds);
        self.number("clusters", search.clusters);
        self.number("max-iter", search.max_iter);
        self.number("local", search.local);
        self.maybe("objective", search.objective.map(word));
        self.maybe("time", search.time_seconds.map(|time| format!("{time}s")));
        self.maybe("max-found", search.max_found);
        self.number("estimate", search.estimate);
        self.maybe("fail-above", search.fail_above);
        self.option("samples", word(search.samples));
        self.number("seed", search.seed);
    }
}

/// The subcommand of `request` and its options, without those of where it writes and how it is watched.
pub fn arguments(request: &JobRequest, inputs: &Inputs<'_>) -> Vec<OsString> {
    let mut arguments = Arguments(vec![subcommand(request).into()]);
    match request {
        JobRequest::TrainTable(request) => train_table(&mut arguments, request, inputs),
        JobRequest::TrainTexts(request) => train_texts(&mut arguments, request, inputs),
        JobRequest::AuditTable(request) => audit_table(&mut arguments, request, inputs),
        JobRequest::AuditTexts(request) => audit_texts(&mut arguments, request, inputs),
        JobRequest::RepairTable(request) => repair_table(&mut arguments, request, inputs),
        JobRequest::RepairTexts(request) => repair_texts(&mut arguments, request, inputs),
    }
    arguments.0
}

/// The subcommand that goes on with an unfinished run of `request`, if it has one, with its options.
pub fn resuming(request: &JobRequest) -> Vec<OsString> {
    let mut arguments = Arguments(vec![subcommand(request).into(), "--resume".into()]);
    if let JobRequest::AuditTable(AuditTable { search, .. })
    | JobRequest::AuditTexts(AuditTexts { search, .. }) = request
    {
        arguments.maybe("time", search.time_seconds.map(|time| format!("{time}s")));
    }
    arguments.0
}

/// The subcommand of `request`.
fn subcommand(request: &JobRequest) -> &'static str {
    match request {
        JobRequest::TrainTable(_) | JobRequest::TrainTexts(_) => "train",
        JobRequest::AuditTable(_) | JobRequest::AuditTexts(_) => "audit",
        JobRequest::RepairTable(_) | JobRequest::RepairTexts(_) => "repair",
    }
}

fn train_table(arguments: &mut Arguments, request: &TrainTable, inputs: &Inputs<'_>) {
    arguments.option("data", inputs.data);
    arguments.option("schema", inputs.schema);
    let hidden: Vec<String> = request.hidden.iter().map(u32::to_string).collect();
    arguments.option("hidden", hidden.join(","));
    arguments.option("activation", word(request.activation));
    let categories = match request.categories {
        CategoryCodes::Codes => "codes",
        CategoryCodes::OneHot => "onehot",
        CategoryCodes::Embed => "embed:4",
    };
    arguments.option("categories", categories);
    arguments.number("dropout", request.dropout);
    arguments.course(&request.course);
}

fn train_texts(arguments: &mut Arguments, request: &TrainTexts, inputs: &Inputs<'_>) {
    arguments.option("texts", inputs.data);
    arguments.option("text-column", &request.text_column);
    arguments.option("label-column", &request.label_column);
    arguments.option("model", word(request.cell));
    arguments.number("layers", request.layers);
    arguments.number("units", request.units);
    arguments.flag("bidirectional", request.bidirectional);
    arguments.number("max-length", request.max_length);
    arguments.course(&request.course);
}

fn audit_table(arguments: &mut Arguments, request: &AuditTable, inputs: &Inputs<'_>) {
    arguments.option("model", inputs.model);
    arguments.option("data", inputs.data);
    arguments.protected(&request.protected);
    arguments.maybe("strategy", request.strategy.map(word));
    arguments.search(&request.search);
}

fn audit_texts(arguments: &mut Arguments, request: &AuditTexts, inputs: &Inputs<'_>) {
    arguments.option("model", inputs.model);
    arguments.option("texts", inputs.data);
    arguments.maybe("text-column", request.text_column.as_ref());
    arguments.protected(&request.protected);
    arguments.maybe("strategy", request.strategy.map(word));
    arguments.number("neighbours", request.neighbours);
    arguments.maybe("max-l0", request.max_l0);
    arguments.maybe("min-similarity", request.min_similarity);
    arguments.search(&request.search);
}

fn repair_table(arguments: &mut Arguments, request: &RepairTable, inputs: &Inputs<'_>) {
    arguments.option("model", inputs.model);
    arguments.option("data", inputs.data);
    for audit in inputs.audits {
        arguments.option("run", audit);
    }
    arguments.option("method", word(request.method));
    arguments.maybe("share", request.share);
    arguments.number("repeats", request.repeats);
    arguments.maybe("label", request.label_rule.map(word));
    arguments.maybe("max-accuracy-loss", request.max_accuracy_loss);
    arguments.number("estimate", request.estimate);
    arguments.number("seed", request.seed);
}

fn repair_texts(arguments: &mut Arguments, request: &RepairTexts, inputs: &Inputs<'_>) {
    arguments.option("model", inputs.model);
    arguments.option("texts", inputs.data);
    arguments.protected(&request.protected);
    arguments.option("method", word(request.method));
    arguments.maybe("share", request.share);
    arguments.number("repeats", request.repeats);
    arguments.number("seeds", request.seeds);
    arguments.number("local", request.local);
    arguments.maybe("max-accuracy-loss", request.max_accuracy_loss);
    arguments.number("seed", request.seed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ID: &str = "0123456789abcdef";

    fn of(request: serde_json::Value) -> Vec<String> {
        let request: JobRequest = serde_json::from_value(request).unwrap();
        let inputs = Inputs {
            data: Path::new("/d/data.csv"),
            schema: Path::new("/d/schema.toml"),
            model: Path::new("/m"),
            audits: &["/r/1".into(), "/r/2".into()],
        };
        arguments(&request, &inputs)
            .into_iter()
            .map(|argument| argument.into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_text_of_a_user_stays_one_value() {
        for hostile in ["--out=/etc", "-q", "a b", "$(id)", "", "=", "--resume"] {
            let arguments = of(json!({
                "kind": "audit-table", "model": ID, "data": ID, "protected": [hostile, hostile]
            }));
            let expected = format!("--protected={hostile}");
            let found = arguments.iter().filter(|argument| **argument == expected);
            assert_eq!(found.count(), 2, "{arguments:?}");
            let plain = of(json!({"kind": "audit-table", "model": ID, "data": ID}));
            assert_eq!(arguments.len(), plain.len() + 2);
            let arguments = of(json!({
                "kind": "train-texts", "data": ID, "text_column": hostile, "label_column": hostile
            }));
            assert!(arguments.contains(&format!("--text-column={hostile}")));
            assert!(arguments.contains(&format!("--label-column={hostile}")));
        }
    }

    #[test]
    fn every_argument_is_the_subcommand_or_an_option() {
        for (request, subcommand) in [
            (json!({"kind": "train-table", "data": ID}), "train"),
            (
                json!({"kind": "train-texts", "data": ID, "text_column": "t", "label_column": "l", "bidirectional": true}),
                "train",
            ),
            (
                json!({"kind": "audit-table", "model": ID, "data": ID}),
                "audit",
            ),
            (
                json!({"kind": "audit-texts", "model": ID, "data": ID}),
                "audit",
            ),
            (
                json!({"kind": "repair-table", "model": ID, "data": ID, "audits": [ID, ID]}),
                "repair",
            ),
            (
                json!({"kind": "repair-texts", "model": ID, "data": ID, "protected": ["gender"]}),
                "repair",
            ),
        ] {
            let arguments = of(request.clone());
            assert_eq!(arguments[0], subcommand);
            for argument in &arguments[1..] {
                assert!(argument.starts_with("--"), "{argument}");
            }
            let request: JobRequest = serde_json::from_value(request).unwrap();
            assert_eq!(resuming(&request)[..2], [subcommand, "--resume"]);
        }
    }

    #[test]
    fn programs_and_files_cannot_be_named() {
        for (kind, field) in [
            ("audit-table", "predictor"),
            ("audit-table", "out"),
            ("audit-texts", "lexicon"),
            ("audit-texts", "encoder"),
            ("train-texts", "embeddings"),
            ("train-table", "schema"),
        ] {
            let request = json!({
                "kind": kind, "model": ID, "data": ID, "text_column": "t", "label_column": "l", field: "/etc/passwd"
            });
            assert!(
                serde_json::from_value::<JobRequest>(request).is_err(),
                "{field}"
            );
        }
    }
}
