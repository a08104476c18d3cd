//! The page on which users say what the columns of a table are, and get a draft of its schema.

use axum::http::StatusCode;
use axum::response::Response;

use super::answer::{Answer, page_with};
use super::data::preview;
use super::filled::{FormPage, Taken};
use super::form::{Choice, Form};
use super::sent::SentForm;
use super::session::Visitor;
use super::train;
use super::views::{DataColumnsPage, RawColumn};
use super::words::list;
use crate::identifier::Id;
use crate::operations::data;
use crate::operations::schema::{DraftRequest, TableSchema};
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::store::{Change, ColumnSketch, DataKind, DataSet};
use probity_data::infer::usually_favourable;

/// Words in the names of columns that usually hold a protected attribute.
const PROTECTED: [&str; 14] = [
    "sex",
    "gender",
    "race",
    "ethnicity",
    "ethnic",
    "origin",
    "nationality",
    "religion",
    "age",
    "disability",
    "disabled",
    "marital",
    "orientation",
    "skin",
];

/// Names of columns that usually hold the decision.
const DECISION: [&str; 10] = [
    "label", "class", "target", "decision", "outcome", "income", "approved", "hired", "y",
    "default",
];

/// The greatest number of values of a column that is taken for the decision by its name.
const MANY: u64 = 100;

/// A table, and its schema where it has one.
pub(super) struct ColumnsForm {
    data: DataSet,
    schema: Option<TableSchema>,
}

impl FormPage for ColumnsForm {
    async fn about(service: &Service, change: &Change, id: &Id) -> Result<ColumnsForm, Response> {
        let data: DataSet = service.find(change, id).await?;
        if data.kind == DataKind::Texts {
            return Err(Problem::new(
                ProblemKind::NotFound,
                "Texts have no columns to describe; train a model on them right away.",
            )
            .into());
        }
        let schema = match data.has_schema {
            true => Some(data::schema(service, change, id).await?),
            false => None,
        };
        Ok(ColumnsForm { data, schema })
    }

    fn first(&self) -> Form {
        match &self.schema {
            Some(schema) => described(&self.data, schema),
            None => guessed(&self.data.sketch.columns, self.data.sketch.rows),
        }
    }

    async fn take(&self, service: &Service, sent: &mut SentForm) -> Taken {
        let request = request(&mut sent.form, &self.data.sketch.columns)?;
        let id = &self.data.id;
        let drafted = data::draft_schema(service, &sent.visitor.may, id, request).await;
        Some(match drafted {
            Ok(schema) if sent.form.value("then") == "train" => {
                train::go_on(service, sent, id, &schema).await
            }
            drafted => drafted.map(|_| format!("/data/{id}/schema")),
        })
    }

    fn draw(&self, status: StatusCode, visitor: &Visitor<Change>, form: &Form) -> Answer {
        let columns = self.data.sketch.columns.iter().enumerate();
        let rows = self.data.sketch.rows;
        let columns = columns.map(|(position, column)| RawColumn {
            field: field(position),
            name: column.name.clone(),
            examples: examples(column),
            why_left_out: column.why_left_out(rows).unwrap_or_default(),
            outcome: outcome(position),
            outcomes: outcomes(column),
        });
        page_with(
            status,
            &DataColumnsPage {
                frame: &visitor.frame(""),
                form,
                id: self.data.id.as_str(),
                label: &self.data.label,
                columns: &columns.collect::<Vec<_>>(),
                roles: &Choice::list(&[
                    ("input", "An input of the model"),
                    ("protected", "A protected attribute"),
                    ("label", "The decision to predict"),
                    ("ignore", "Nothing: leave it out"),
                ]),
                rows: &preview(&self.data),
            },
        )
    }
}

fn field(position: usize) -> String {
    format!("role-{position}")
}

/// The name of the field that says which value of a column is good to get.
fn outcome(position: usize) -> String {
    format!("outcome-{position}")
}

/// The values of a column of which one can be chosen as good to get; none where a decision has no
/// such values, or they are not all known here.
fn outcomes(column: &ColumnSketch) -> Vec<Choice> {
    let values = column.values.iter();
    match column.values.len() {
        0 | 1 => Vec::new(),
        _ => [Choice::new("", "Choose the outcome")]
            .into_iter()
            .chain(values.map(|value| Choice::new(value, value)))
            .collect(),
    }
}

/// The form filled in as the names of the columns and their values suggest, in a table of so many
/// `rows`.
fn guessed(columns: &[ColumnSketch], rows: u64) -> Form {
    let is_decision = |column: &&ColumnSketch| {
        column.distinct > 1
            && column.distinct <= MANY
            && words(&column.name).any(|word| DECISION.contains(&word.as_str()))
    };
    let last = columns
        .iter()
        .rev()
        .find(|column| column.distinct > 1 && column.distinct <= 20);
    let decision = columns.iter().rev().find(is_decision).or(last);
    let mut form = Form::default();
    for (position, column) in columns.iter().enumerate() {
        let is_protected = words(&column.name).any(|word| PROTECTED.contains(&word.as_str()));
        let role = if decision.is_some_and(|decision| decision.name == column.name) {
            "label"
        } else if column.why_left_out(rows).is_some() {
            "ignore"
        } else if is_protected {
            "protected"
        } else {
            "input"
        };
        form.set(field(position), role);
        set_outcome(&mut form, position, column, None);
    }
    form
}

/// Fills in which value of a column is good to get: `chosen`, else what its words say.
fn set_outcome(form: &mut Form, position: usize, column: &ColumnSketch, chosen: Option<&String>) {
    let usual = || usually_favourable(&column.name, &column.values);
    let good = chosen.cloned().or_else(usual);
    form.set(outcome(position), good.unwrap_or_default());
}

/// The words of a name such as `marital_status` or `Age at start`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let lower = name.to_lowercase();
    let words: Vec<String> = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

/// The form filled in from a schema.
fn described(data: &DataSet, schema: &TableSchema) -> Form {
    let mut form = Form::default();
    for (position, column) in data.sketch.columns.iter().enumerate() {
        let attribute = schema
            .attributes
            .iter()
            .find(|attribute| attribute.name == column.name);
        let role = match attribute {
            _ if schema.label.name == column.name => "label",
            Some(attribute) if attribute.protected => "protected",
            Some(_) => "input",
            None => "ignore",
        };
        form.set(field(position), role);
        // The last outcome of a schema is the one that is good to get.
        let good = schema.label.classes.last();
        let good = good.filter(|good| role == "label" && column.values.contains(good));
        set_outcome(&mut form, position, column, good);
    }
    form
}

/// The request that the form makes; or notes errors in the form.
fn request(form: &mut Form, columns: &[ColumnSketch]) -> Option<DraftRequest> {
    let with = |role: &str, form: &Form| -> Vec<String> {
        let has_role = |(position, column): (usize, &ColumnSketch)| {
            form.has(&field(position), role)
                .then(|| column.name.clone())
        };
        columns.iter().enumerate().filter_map(has_role).collect()
    };
    let mut labels = with("label", form);
    match labels.len() {
        0 => form.refuse(field(0), "Say which column is the decision to predict."),
        1 => {}
        _ => {
            let second = (0..columns.len())
                .filter(|&position| form.has(&field(position), "label"))
                .nth(1)
                .unwrap_or_default();
            form.refuse(
                field(second),
                format!(
                    "Only one column can be the decision to predict, not {}.",
                    list(&labels)
                ),
            );
        }
    }
    let inputs = with("input", form).len() + with("protected", form).len();
    if inputs == 0 {
        form.refuse(
            field(0),
            "Leave the model at least one input or protected attribute.",
        );
    }
    let favourable = favourable(form, columns);
    if form.has_errors() {
        return None;
    }
    Some(DraftRequest {
        label: labels.pop()?,
        favourable,
        protected: with("protected", form),
        ignore: with("ignore", form),
        ..DraftRequest::default()
    })
}

/// The outcome that is good to get, of the column that is the decision; or notes an error in the
/// form where it can be chosen and was not. A form without such a field leaves it to the words.
fn favourable(form: &mut Form, columns: &[ColumnSketch]) -> Option<String> {
    let is_decision = |(position, _): &(usize, &ColumnSketch)| form.has(&field(*position), "label");
    let (position, column) = columns.iter().enumerate().find(is_decision)?;
    let name = outcome(position);
    if form.all(&name).is_empty() || outcomes(column).is_empty() {
        return None;
    }
    let chosen = form.value(&name).to_owned();
    match column.values.contains(&chosen) {
        true => Some(chosen),
        false => {
            form.refuse(name, "Say which outcome is good for the person.");
            None
        }
    }
}

fn examples(column: &ColumnSketch) -> String {
    let shown = list(&column.examples);
    let more = column.distinct.saturating_sub(column.examples.len() as u64);
    match more {
        0 => shown,
        _ => format!("{shown}, …"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ColumnKind;

    fn column(name: &str, distinct: u64) -> ColumnSketch {
        ColumnSketch {
            name: name.to_owned(),
            kind: ColumnKind::Words,
            distinct,
            missing: 0,
            examples: Vec::new(),
            values: Vec::new(),
        }
    }

    fn roles(columns: &[ColumnSketch]) -> Vec<String> {
        let form = guessed(columns, 100_000);
        (0..columns.len())
            .map(|position| form.value(&field(position)).to_owned())
            .collect()
    }

    #[test]
    fn names_suggest_what_columns_are() {
        let columns = [
            column("id", 5000),
            column("Age", 60),
            column("marital-status", 7),
            column("wage", 80),
            column("country", 1),
            column("income", 2),
            column("page", 12),
        ];
        assert_eq!(
            roles(&columns),
            [
                "ignore",
                "protected",
                "protected",
                "input",
                "ignore",
                "label",
                "input"
            ]
        );
        // Without a telling name, the last column with few values is the decision.
        assert_eq!(
            roles(&[column("a", 2), column("b", 2), column("c", 500)]),
            ["input", "label", "ignore"]
        );
    }

    #[test]
    fn identifiers_are_no_inputs() {
        let whole = |name: &str, distinct: u64| ColumnSketch {
            kind: ColumnKind::Integer,
            ..column(name, distinct)
        };
        let columns = [
            whole("applicant_id", 1000),
            whole("hours", 60),
            whole("id", 30),
            column("granted", 2),
        ];
        assert_eq!(roles(&columns), ["ignore", "input", "input", "label"]);
        let why = |column: &ColumnSketch, rows| column.why_left_out(rows).unwrap_or_default();
        assert!(why(&columns[0], 100_000).contains("identifier"));
        // Of forty rows, thirty numbers are nearly all; of many rows, they are codes.
        assert!(why(&columns[2], 40).contains("identifier"));
        assert!(why(&column("name", 40), 40).contains("another value"));
        assert_eq!(why(&whole("hours", 40), 40), "");
        assert!(why(&column("country", 1), 40).contains("same value"));
        assert!(why(&column("remark", 0), 40).contains("no value"));
    }

    #[test]
    fn the_good_outcome_is_chosen_among_the_values_of_the_decision() {
        let decision = |name: &str, values: [&str; 2]| ColumnSketch {
            values: values.map(str::to_owned).to_vec(),
            ..column(name, 2)
        };
        let told = [column("hours", 9), decision("income", ["high", "low"])];
        let mut form = guessed(&told, 100);
        assert_eq!(form.value("outcome-1"), "high");
        let asked = request(&mut form, &told).unwrap();
        assert_eq!(asked.favourable.as_deref(), Some("high"));
        let mut other = guessed(&told, 100).with("outcome-1", "low");
        let asked = request(&mut other, &told).unwrap();
        assert_eq!(asked.favourable.as_deref(), Some("low"));
        // Of what nobody can tell, somebody must say it.
        let open = [column("hours", 9), decision("default", ["no", "yes"])];
        let mut form = guessed(&open, 100);
        assert_eq!(form.value("outcome-1"), "");
        assert!(request(&mut form, &open).is_none());
        let said = form.error("outcome-1").unwrap();
        assert!(said.contains("good for the person"), "{said}");
    }

    #[test]
    fn one_decision_is_needed() {
        let columns = [column("a", 2), column("b", 2), column("c", 2)];
        let roles = |roles: [&str; 3]| {
            let mut form = Form::default();
            for (position, role) in roles.into_iter().enumerate() {
                form.set(field(position), role);
            }
            let request = request(&mut form, &columns);
            (request, form)
        };
        let (request, _) = roles(["input", "protected", "label"]);
        let request = request.unwrap();
        assert_eq!((request.label.as_str(), request.protected.len()), ("c", 1));
        let (request, form) = roles(["input", "protected", "ignore"]);
        assert!(request.is_none() && form.error("role-0").is_some());
        let (request, form) = roles(["input", "label", "label"]);
        assert!(request.is_none() && form.error("role-2").is_some());
        let (request, form) = roles(["ignore", "ignore", "label"]);
        assert!(request.is_none() && form.error("role-0").is_some());
    }
}
