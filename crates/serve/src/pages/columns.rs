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
use crate::store::{Change, ColumnKind, ColumnSketch, DataKind, DataSet};

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

/// The number of different words from which on a column is no category.
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
            None => guessed(&self.data.sketch.columns),
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
        let columns = columns.map(|(position, column)| RawColumn {
            field: field(position),
            name: column.name.clone(),
            examples: examples(column),
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

/// The form filled in as the names of the columns suggest.
fn guessed(columns: &[ColumnSketch]) -> Form {
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
        } else if column.distinct < 2
            || (column.kind == ColumnKind::Words && column.distinct > MANY)
        {
            "ignore"
        } else if is_protected {
            "protected"
        } else {
            "input"
        };
        form.set(field(position), role);
    }
    form
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
    if form.has_errors() {
        return None;
    }
    Some(DraftRequest {
        label: labels.pop()?,
        protected: with("protected", form),
        ignore: with("ignore", form),
        ..DraftRequest::default()
    })
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

    fn column(name: &str, distinct: u64) -> ColumnSketch {
        ColumnSketch {
            name: name.to_owned(),
            kind: ColumnKind::Words,
            distinct,
            missing: 0,
            examples: Vec::new(),
        }
    }

    fn roles(columns: &[ColumnSketch]) -> Vec<String> {
        let form = guessed(columns);
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
