//! Fields of a specification as inputs of a form, and back.
//!
//! The bounds and defaults of fields come from the specification's type, what they are called from
//! [`field_words`](super::field_words). A page says only which fields it shows, and in which order.
//! Shares are shown and entered in percent.

use serde_json::Value;

use super::field_words::{Words, in_words};
use super::form::{Choice, Field as Input, Form};
use super::words::in_percent;
use crate::jobs::specification::{JobKind, JobSpecification, fields};

pub(super) use probity_run::specification::dotted::insert;
use probity_run::specification::{Field, FieldKind};

/// Some fields of the specifications of a kind, as a page shows them.
pub(super) struct Options {
    fields: Vec<Field>,
}

impl Options {
    /// The fields at `paths` of a specification of `kind`.
    pub fn new(kind: JobKind, paths: &[&str]) -> Options {
        let all = fields(kind);
        let found = paths
            .iter()
            .filter_map(|path| all.iter().find(|field| field.path == *path));
        Options {
            fields: found.cloned().collect(),
        }
    }

    /// Restricts the field at `path` to the given words to choose from.
    #[must_use]
    pub fn only(mut self, path: &str, words: &[&str]) -> Options {
        for field in &mut self.fields {
            if let (true, FieldKind::Choice(choices)) = (field.path == path, &mut field.kind) {
                choices.retain(|choice| words.contains(&choice.word.as_str()));
            }
        }
        self
    }

    /// The inputs of all fields.
    pub fn inputs(&self) -> Vec<Input> {
        self.fields.iter().map(input).collect()
    }

    /// The input of the field at `path`.
    pub fn input(&self, path: &str) -> Input {
        let field = self.fields.iter().find(|field| field.path == path);
        field.map(input).unwrap_or_default()
    }

    /// Fills the inputs of `form` in with the defaults.
    pub fn fill(&self, form: &mut Form) {
        for field in &self.fields {
            if let Some(default) = &field.default {
                form.set(field.path.as_str(), shown(default, is_share(field)));
            }
        }
    }

    /// Whether the field at `path` is among the fields.
    pub fn has(&self, path: &str) -> bool {
        self.fields.iter().any(|field| field.path == path)
    }

    /// The names of the inputs of `form` that hold anything else than their defaults.
    pub fn changed(&self, form: &Form) -> Vec<String> {
        let mut usual = Form::default();
        self.fill(&mut usual);
        let paths = self.fields.iter().map(|field| field.path.as_str());
        let is_changed = |path: &&str| {
            let entered = form.filled(path);
            entered.is_some_and(|entered| entered != usual.value(path))
        };
        paths.filter(is_changed).map(str::to_owned).collect()
    }

    /// Puts the values that were entered in `form` into `specification`; a field that is left empty
    /// keeps its default.
    pub fn read(&self, form: &mut Form, specification: &mut Value) {
        for field in &self.fields {
            let Some(entered) = form.filled(&field.path).map(str::to_owned) else {
                continue;
            };
            match value(field, &entered) {
                Some(value) => insert(specification, &field.path, value),
                None => {
                    let expected = expected(field);
                    form.refuse(
                        field.path.as_str(),
                        format!("“{entered}” is not {expected}."),
                    );
                }
            }
        }
    }
}

/// The names of `inputs`, joined with commas.
pub(super) fn names(inputs: &[Input]) -> String {
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    names.join(",")
}

/// Reads the specification in `asked`, unless something is wrong with it or was entered wrongly:
/// then `form` says so.
pub(super) fn specified(form: &mut Form, asked: Value) -> Option<JobSpecification> {
    if form.has_errors() {
        return None;
    }
    match JobSpecification::try_from(asked) {
        Ok(specification) => Some(specification),
        Err(error) => {
            let message = in_words(&error.field, &format!("{error}."));
            form.refuse(error.field, message);
            None
        }
    }
}

/// Whether a field is a share, or several.
fn is_share(field: &Field) -> bool {
    Words::find(&field.path).is_some_and(|words| words.is_share)
}

fn input(field: &Field) -> Input {
    let words = Words::find(&field.path);
    let mut hint = words
        .map_or(field.help.as_str(), |words| words.hint)
        .to_owned();
    let is_bounded = [field.minimum, field.maximum, field.above, field.below]
        .iter()
        .any(Option::is_some);
    if is_bounded {
        hint.push_str(&format!(" It is {}.", bounds(field)));
    }
    let is_open = field.default.is_none();
    let mut choices = match (words.map_or(&[][..], |words| words.choices), &field.kind) {
        ([], FieldKind::Bool) => Choice::list(&[("false", "No"), ("true", "Yes")]),
        ([], FieldKind::Choice(choices)) => choices.iter().map(labelled).collect(),
        (choices, _) => Choice::list(choices),
    };
    let has_none = choices.iter().any(|choice| choice.value.is_empty());
    if !choices.is_empty() && is_open && !has_none {
        choices.insert(0, Choice::new("", "As is best known"));
    }
    Input {
        name: field.path.clone(),
        label: words.map_or_else(|| label(field.name()), |words| words.label.to_owned()),
        hint: hint.trim_start().to_owned(),
        kind: match field.is_number() {
            true => "number",
            false => "text",
        },
        choices,
    }
}

/// The bounds of a field in words; those of a share in percent.
fn bounds(field: &Field) -> String {
    if !is_share(field) {
        return field.expected();
    }
    let percent =
        |bound: Option<f64>| bound.map(|bound| in_percent(bound).parse().unwrap_or(bound));
    let field = Field {
        minimum: percent(field.minimum),
        maximum: percent(field.maximum),
        above: percent(field.above),
        below: percent(field.below),
        ..field.clone()
    };
    format!("{}\u{a0}%", field.expected())
}

fn labelled(choice: &probity_run::specification::Choice) -> Choice {
    let label = match choice.help.as_str() {
        "" => choice.word.clone(),
        help => {
            // A page offers what goes with its inputs, and need not say so of each.
            let of_inputs = ["Tables: ", "Texts: "].iter();
            let rest = of_inputs
                .filter_map(|inputs| help.strip_prefix(inputs))
                .next();
            let help = rest.unwrap_or(help).trim_end_matches('.');
            format!("{}: {help}", choice.word)
        }
    };
    // Marks of code are for those who read the source.
    Choice::new(choice.word.clone(), label.replace('`', ""))
}

/// Writes `learning_rate` as `Learning rate`.
fn label(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Writes a value as a user would enter it.
fn shown(value: &Value, is_share: bool) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(share) if is_share => in_percent(share),
            // A number of 32 bits has digits in 64 bits that nobody wrote.
            Some(wide) if number.is_f64() => (wide as f32).to_string(),
            _ => number.to_string(),
        },
        Value::Array(values) => {
            let values = values.iter().map(|value| shown(value, is_share));
            values.collect::<Vec<_>>().join(",")
        }
        Value::Bool(is_so) => is_so.to_string(),
        Value::Null | Value::Object(_) => String::new(),
    }
}

/// Reads what was entered for `field`; none where it is nothing of its kind, or a share beyond its
/// bounds.
fn value(field: &Field, entered: &str) -> Option<Value> {
    match (&field.kind, is_share(field)) {
        (FieldKind::Number, true) => share(field, entered),
        (FieldKind::List(_), true) => {
            let shares = entered.split(',').map(|part| share(field, part));
            shares.collect::<Option<Vec<_>>>().map(Value::from)
        }
        (kind, _) => plain(kind, entered),
    }
}

/// Reads a share in percent, such as `5`, `5%` or `0.5 %`.
fn share(field: &Field, entered: &str) -> Option<Value> {
    let entered = entered.trim();
    let number = entered.strip_suffix('%').unwrap_or(entered).trim();
    let share = number.parse::<f64>().ok()? / 100.0;
    let is_within = share.is_finite()
        && field.minimum.is_none_or(|least| share >= least)
        && field.maximum.is_none_or(|most| share <= most)
        && field.above.is_none_or(|above| share > above)
        && field.below.is_none_or(|below| share < below);
    is_within.then(|| Value::from(share))
}

fn plain(kind: &FieldKind, entered: &str) -> Option<Value> {
    match kind {
        FieldKind::Bool => entered.parse::<bool>().ok().map(Value::from),
        FieldKind::Integer => entered
            .parse::<u64>()
            .map(Value::from)
            .or_else(|_| entered.parse::<i64>().map(Value::from))
            .ok(),
        FieldKind::Number => {
            let number = entered.parse::<f64>().ok()?;
            number.is_finite().then(|| Value::from(number))
        }
        FieldKind::List(kind) => entered
            .split(',')
            .map(|part| plain(kind, part.trim()))
            .collect::<Option<Vec<_>>>()
            .map(Value::from),
        FieldKind::Text | FieldKind::Time | FieldKind::Path | FieldKind::Choice(_) => {
            Some(entered.into())
        }
        FieldKind::Other => None,
    }
}

fn expected(field: &Field) -> String {
    match &field.kind {
        FieldKind::List(_) if is_share(field) => {
            format!("a list of shares such as 1,5, each {}", bounds(field))
        }
        _ if is_share(field) => format!("a share such as 5 or 5\u{a0}%, {}", bounds(field)),
        FieldKind::Integer => "a whole number".to_owned(),
        FieldKind::List(kind) if **kind == FieldKind::Integer => {
            "a list of whole numbers such as 64,32".to_owned()
        }
        FieldKind::List(_) => "a list of numbers such as 0.01,0.05".to_owned(),
        FieldKind::Number => "a number".to_owned(),
        _ => "one of the answers".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn inputs_say_what_the_type_says_and_are_read_back() {
        let paths = ["training.epochs", "training.test", "network.hidden"];
        let options = Options::new(JobKind::Train, &paths);
        let inputs = options.inputs();
        assert_eq!(names(&inputs), paths.join(","));
        assert_eq!(inputs[0].label, "Passes over the data");
        assert!(
            inputs[0].hint.contains("It is from 1 to"),
            "{}",
            inputs[0].hint
        );
        let mut form = Form::default();
        options.fill(&mut form);
        assert_eq!(form.value("training.epochs"), "");
        assert_eq!(form.value("training.test"), "20");
        assert_eq!(form.value("network.hidden"), "100");
        assert!(options.changed(&form).is_empty() && options.has("training.test"));
        form.set("training.epochs", "7");
        assert_eq!(options.changed(&form), ["training.epochs"]);
        let mut specification = json!({ "kind": "train" });
        options.read(&mut form, &mut specification);
        assert_eq!(
            specification,
            json!({
                "kind": "train", "training": { "epochs": 7, "test": 0.2 },
                "network": { "hidden": [100] }
            })
        );
        form.set("training.epochs", "many");
        options.read(&mut form, &mut specification);
        assert_eq!(
            form.error("training.epochs"),
            Some("“many” is not a whole number.")
        );
    }

    #[test]
    fn shares_are_in_percent() {
        let options = Options::new(JobKind::Audit, &["fail_above"]);
        let input = options.input("fail_above");
        assert_eq!(input.label, "Largest acceptable share (%)");
        assert!(
            input.hint.ends_with("It is from 0 to 100\u{a0}%."),
            "{}",
            input.hint
        );
        let read = |entered: &str| {
            let mut form = Form::default().with("fail_above", entered);
            let mut specification = json!({});
            options.read(&mut form, &mut specification);
            let said = form.error("fail_above").map(str::to_owned);
            (specification["fail_above"].as_f64(), said)
        };
        for (entered, share) in [("5", 0.05), ("5%", 0.05), (" 0.5 % ", 0.005), ("100", 1.0)] {
            assert_eq!(read(entered), (Some(share), None), "{entered}");
        }
        for wrong in ["101", "-1", "five", "%", "5 % of all", "NaN"] {
            let (share, said) = read(wrong);
            assert_eq!(share, None, "{wrong}");
            assert!(said.unwrap().contains("from 0 to 100"), "{wrong}");
        }
        let repair = Options::new(JobKind::Repair, &["shares", "max_accuracy_loss"]);
        let mut form = Form::default().with("shares", "1, 2.5%");
        let mut specification = json!({});
        repair.read(&mut form, &mut specification);
        assert_eq!(specification, json!({ "shares": [0.01, 0.025] }));
        assert_eq!(in_percent(0.07), "7");
        assert_eq!(in_percent(0.000_001), "0.0001");
    }

    #[test]
    fn what_the_type_refuses_is_said_in_the_words_of_the_page() {
        let mut form = Form::default();
        let asked =
            json!({ "kind": "train", "data": "0123456789abcdef", "training": { "epochs": "x" } });
        assert!(specified(&mut form, asked).is_none());
        let said = form.error("training.epochs").unwrap();
        assert!(said.starts_with("“Passes over the data” is "), "{said}");
    }
}
