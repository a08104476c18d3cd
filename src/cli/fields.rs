//! Arguments made from a specification: one option for each of its fields.
//!
//! Names, help, choices and defaults come from the type ([`Specification::fields`]); a command adds
//! only what is no field, such as `--out`. What is given becomes a value of the type; what is not
//! given is left to its defaults.

use std::path::{Path, PathBuf};

use super::examples;
use anyhow::{anyhow, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use probity::run::list::words;
use probity::run::specification::{
    Checked, Field, FieldError, FieldKind, Given, GivenError, Specification,
};
use serde_json::Value;

/// The fields of a specification that were given as arguments.
#[derive(Debug, Clone)]
pub(super) struct Fields<S> {
    given: Given<S>,
}

impl<S: Specification> Fields<S> {
    /// Whether the field at `path` was given.
    pub fn is_given(&self, path: &str) -> bool {
        self.given.is_given(path)
    }

    /// The value that was given for the field at `path`.
    pub fn get(&self, path: &str) -> Option<&Value> {
        self.given.get(path)
    }

    /// Refuses all fields but that at `path`, beside the option `beside`.
    ///
    /// # Errors
    /// When another one is given.
    pub fn expect_nothing_but(&self, path: &str, beside: &str) -> anyhow::Result<()> {
        let fields = S::fields().into_iter();
        let mut others = fields.filter(|it| it.path != path && self.is_given(&it.path));
        match others.find_map(|field| field.flag()) {
            Some(flag) => bail!("--{flag} has no meaning with --{beside}, which says it"),
            None => Ok(()),
        }
    }

    /// Gives the field at `path` the value of another argument.
    pub fn set(&mut self, path: &str, value: impl Into<Value>) {
        self.given.set(path, value);
    }

    /// Texts in place of a table.
    ///
    /// # Errors
    /// When `run.toml` could not name them.
    pub fn set_texts(&mut self, texts: &Path) -> anyhow::Result<()> {
        let texts = absolute(texts);
        let Some(name) = texts.to_str() else {
            bail!("{} is no path in UTF-8", texts.display());
        };
        self.set("modality", "text");
        self.set("data", name);
        Ok(())
    }

    /// The specification of a new run.
    ///
    /// # Errors
    /// When a field that must be given is not, is out of bounds, or contradicts another one.
    pub fn specification(&self) -> anyhow::Result<Checked<S>> {
        self.given.specification().map_err(|error| {
            let missing = self.missing();
            match missing.as_slice() {
                [] | [_] => self.said(error),
                several => needed(several, examples::find_examples(S::KIND)),
            }
        })
    }

    /// The options that are missing: those of the fields that are asked for one after the other, each
    /// time that the one before is there.
    fn missing(&self) -> Vec<String> {
        let (fields, mut given) = (S::fields(), self.given.clone());
        let mut missing = Vec::new();
        loop {
            let path = match given.specification() {
                Err(GivenError::Missing(field)) => field.path,
                Err(GivenError::Field(error)) if error.value == "missing" => error.field,
                _ => return missing,
            };
            let field = fields.iter().find(|field| field.path == path);
            let Some((field, flag)) = field.and_then(|field| Some((field, field.flag()?))) else {
                return missing;
            };
            if missing.contains(&flag) {
                return missing;
            }
            missing.push(flag);
            given.set(&field.path, stand_in(&field.kind));
        }
    }

    /// The specification of a run that goes on: `began`, with what may change while it does.
    ///
    /// # Errors
    /// When a field is given that may not change.
    pub fn resumed(&self, began: &S) -> anyhow::Result<Checked<S>> {
        self.given.resumed(began).map_err(|error| self.said(error))
    }

    /// Refuses fields that a run which goes on takes from its directory.
    ///
    /// # Errors
    /// When one is given.
    pub fn expect_free(&self) -> anyhow::Result<()> {
        self.given.expect_free().map_err(|error| self.said(error))
    }

    /// `error` with the options in place of the fields.
    fn said(&self, error: GivenError) -> anyhow::Error {
        match error {
            GivenError::Missing(field) => match field.flag() {
                Some(flag) => anyhow!("--{flag} is needed: {}", without_stop(&field.help)),
                None => anyhow!("{} is needed", field.path),
            },
            GivenError::NotFree(field) => anyhow!(
                "--{} cannot be given with --resume: it comes from the run that goes on",
                field.flag().unwrap_or_else(|| field.path.clone())
            ),
            GivenError::Field(error) => self.named(error).into(),
            other => other.into(),
        }
    }

    /// `error` with the option that gave its field, or one below it.
    fn named(&self, error: FieldError) -> FieldError {
        let fields = S::fields();
        let below = format!("{}.", error.field);
        let given = |field: &&Field| self.is_given(&field.path) && field.path.starts_with(&below);
        let option = fields
            .iter()
            .find(|field| field.path == error.field)
            .or_else(|| fields.iter().find(given))
            .and_then(Field::flag);
        match option {
            Some(flag) => FieldError {
                field: format!("--{flag}"),
                ..error
            },
            None => error,
        }
    }
}

impl<S: Specification> Args for Fields<S> {
    fn augment_args(command: Command) -> Command {
        let arguments = S::fields().into_iter().filter_map(|field| {
            let flag = field.flag()?;
            Some(argument(&field, flag))
        });
        command.args(arguments)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Specification> FromArgMatches for Fields<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Fields<S>, clap::Error> {
        let mut given: Vec<(Field, Value)> = S::fields()
            .into_iter()
            .filter_map(|field| value_in(matches, &field).map(|value| (field, value)))
            .collect();
        // Of a kind whose data have a schema of their own, --schema is that one where there is no
        // predictor that it could be of.
        let is_given = |path: &str| given.iter().any(|(field, _)| field.path == path);
        if !is_given("predictor.source")
            && let Some(own) = S::fields().into_iter().find(|field| field.path == "schema")
            && own.flag().is_none()
        {
            let of_predictor = given
                .iter_mut()
                .filter(|it| it.0.path == "predictor.schema");
            for (field, value) in of_predictor {
                *field = own.clone();
                // A run is read again from elsewhere, too. What is no file is a schema that is built in.
                if let Some(file) = value.as_str().map(Path::new).filter(|file| file.is_file())
                    && let Some(file) = absolute(file).to_str()
                {
                    *value = Value::from(file);
                }
            }
        }
        Ok(Fields {
            given: Given::new(given),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The error that `missing` options are needed, with an example of the command that has them.
fn needed(missing: &[String], examples: &[&str]) -> anyhow::Error {
    let named: Vec<String> = missing.iter().map(|flag| format!("--{flag}")).collect();
    let has_all = |line: &&&str| named.iter().all(|option| line.contains(option.as_str()));
    let example = examples.iter().find(has_all);
    let example = example.map_or(String::new(), |line| format!("; for example: {line}"));
    let (last, others) = named.split_last().map_or(("", &[][..]), |(a, b)| (a, b));
    anyhow!("{} and {last} are needed{example}", others.join(", "))
}

/// A value of a field of this kind, where any will do.
fn stand_in(kind: &FieldKind) -> Value {
    match kind {
        FieldKind::Bool => Value::Bool(true),
        FieldKind::Integer | FieldKind::Number => Value::from(1),
        FieldKind::Choice(choices) => {
            let first = choices.first().map(|choice| choice.word.as_str());
            Value::from(first.unwrap_or_default())
        }
        FieldKind::List(kind) => Value::Array(vec![stand_in(kind)]),
        FieldKind::Path | FieldKind::Text | FieldKind::Time | FieldKind::Other => Value::from("-"),
    }
}

fn value_in(matches: &ArgMatches, field: &Field) -> Option<Value> {
    field.flag()?;
    let id = field.path.as_str();
    match &field.kind {
        FieldKind::Bool => matches
            .get_flag(id)
            .then(|| Value::Bool(!is_on_by_default(field))),
        FieldKind::List(_) => matches
            .get_many::<Value>(id)
            .map(|values| Value::Array(values.flat_map(listed).cloned().collect())),
        _ => matches.get_one::<Value>(id).cloned(),
    }
}

fn is_on_by_default(field: &Field) -> bool {
    field.default == Some(Value::Bool(true))
}

fn argument(field: &Field, flag: String) -> Arg {
    let mut argument = Arg::new(field.path.clone())
        .help(help(field))
        .hide_possible_values(false);
    if let Some(table) = field.table() {
        argument = argument.help_heading(heading(table));
    }
    argument = match &field.kind {
        // What is so by default can only be turned off.
        FieldKind::Bool if is_on_by_default(field) => argument
            .long(format!("no-{flag}"))
            .action(ArgAction::SetTrue),
        FieldKind::Bool => argument.long(flag).action(ArgAction::SetTrue),
        FieldKind::List(kind) if is_of_words(kind) => argument
            .long(flag)
            .action(ArgAction::Append)
            .value_parser(words_parser(field, kind)),
        FieldKind::List(kind) => argument
            .long(flag)
            .action(ArgAction::Append)
            .value_delimiter(',')
            .value_parser(parser(field, kind)),
        kind => argument.long(flag).value_parser(parser(field, kind)),
    };
    // What begins with a dash is refused as a value of this option, not as an unknown one.
    argument = match &field.kind {
        FieldKind::Text | FieldKind::Time => argument.allow_negative_numbers(true),
        _ if field.is_number() => argument.allow_hyphen_values(true),
        _ => argument,
    };
    match placeholder(field.name(), &field.kind) {
        None => argument,
        Some(_) if !field.prefix.is_empty() => argument.value_name(format!("{}DIR", field.prefix)),
        Some(placeholder) => argument.value_name(placeholder),
    }
}

/// What stands for a value in the help: what kind of thing it is.
fn placeholder(name: &str, kind: &FieldKind) -> Option<String> {
    let last = name.rsplit('_').next().unwrap_or(name);
    Some(match kind {
        FieldKind::Bool => return None,
        FieldKind::Integer => "N".to_owned(),
        FieldKind::Number => "NUMBER".to_owned(),
        FieldKind::Path if matches!(last, "model" | "runs") => "DIR".to_owned(),
        FieldKind::Path => "FILE".to_owned(),
        FieldKind::Choice(_) | FieldKind::Text | FieldKind::Time | FieldKind::Other => {
            last.to_uppercase()
        }
        FieldKind::List(kind) => {
            format!("{},…", placeholder(&singular(last), kind)?)
        }
    })
}

/// The singular of a word: `seeds` → `seed`.
fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let ending = match word.ends_with("sses") {
        true => "es",
        false => "s",
    };
    word.strip_suffix(ending).unwrap_or(word).to_owned()
}

/// `text_search` → `Text search`.
fn heading(table: &str) -> String {
    let words = table.replace(['_', '.'], " ");
    let mut letters = words.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

fn without_stop(help: &str) -> &str {
    help.strip_suffix('.').unwrap_or(help)
}

fn help(field: &Field) -> String {
    let text = without_stop(&field.help);
    match field.default.as_ref().and_then(shown) {
        Some(default) => format!("{text} [default: {default}]"),
        None => text.to_owned(),
    }
}

/// A default as one would give it; nothing for what is off or empty.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(match number.as_f64() {
            // An f32 that was made an f64 shows digits that nobody wrote.
            Some(value) if number.is_f64() => (value as f32).to_string(),
            _ => number.to_string(),
        }),
        Value::Array(values) => {
            let parts: Option<Vec<String>> = values.iter().map(shown).collect();
            parts
                .filter(|parts| !parts.is_empty())
                .map(|parts| parts.join(","))
        }
    }
}

fn parser(field: &Field, kind: &FieldKind) -> ValueParser {
    match kind {
        FieldKind::Choice(choices) => {
            let values = choices.iter().map(|choice| {
                let value = PossibleValue::new(choice.word.clone());
                match choice.help.as_str() {
                    "" => value,
                    help => value.help(without_stop(help).to_owned()),
                }
            });
            PossibleValuesParser::new(values).map(Value::String).into()
        }
        FieldKind::Integer => ValueParser::from(|text: &str| {
            let whole = text.parse::<u64>().map(Value::from);
            whole
                .or_else(|_| text.parse::<i64>().map(Value::from))
                .map_err(|_| "a whole number is expected")
        }),
        FieldKind::Number => ValueParser::from(|text: &str| {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.map(Value::from).ok_or("a number is expected")
        }),
        FieldKind::Path => {
            let field = field.clone();
            ValueParser::from(move |text: &str| {
                let mut path = Value::String(text.to_owned());
                field.locate(&mut path, Path::new(""));
                Ok::<_, String>(path)
            })
        }
        _ => ValueParser::from(|text: &str| Ok::<_, String>(Value::String(text.to_owned()))),
    }
}

/// Whether values of a list may have commas in them.
fn is_of_words(kind: &FieldKind) -> bool {
    !matches!(
        kind,
        FieldKind::Choice(_) | FieldKind::Integer | FieldKind::Number | FieldKind::Bool
    )
}

/// Reads several values between commas, those with commas of their own in double quotes.
fn words_parser(field: &Field, kind: &FieldKind) -> ValueParser {
    let (field, is_path) = (field.clone(), *kind == FieldKind::Path);
    ValueParser::from(move |text: &str| {
        let words = words(text)?.into_iter().map(Value::String);
        let mut words = Value::Array(words.collect());
        if is_path {
            field.locate(&mut words, Path::new(""));
        }
        Ok::<_, &'static str>(words)
    })
}

/// The values of an argument: one, or several that were read at once.
fn listed(value: &Value) -> &[Value] {
    value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// A path without needless parts, for run.toml: absolute where that can be found out.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests;
