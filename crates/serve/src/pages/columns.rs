//! Say what the columns of a table are, and get a draft of its schema.

use axum::extract::State;
use axum::http::StatusCode;

use super::answer::{Answer, note, page_with, redirect};
use super::data::preview;
use super::form::{Choice, Form};
use super::named::Named;
use super::sent::SentForm;
use super::session::Visitor;
use super::views::{DataColumnsPage, RawColumn};
use super::words::list;
use crate::Service;
use crate::operations::data;
use crate::operations::schema::DraftRequest;
use crate::problem::{Problem, ProblemKind};
use crate::store::{ColumnKind, ColumnSketch, DataKind, DataSet};

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

/// Different words from which on a column is no category.
const MANY: u64 = 100;

/// The form.
pub(super) async fn show(
    State(service): State<Service>,
    visitor: Visitor,
    Named(id): Named,
) -> Answer {
    let data = table(&service, &id).await?;
    let form = match data.has_schema {
        true => described(&data, &data::schema(&service, &id).await?),
        false => guessed(&data.sketch.columns),
    };
    draw(StatusCode::OK, &visitor, &data, &form)
}

/// Takes the form, and drafts the schema.
pub(super) async fn draft(
    State(service): State<Service>,
    Named(id): Named,
    sent: SentForm,
) -> Answer {
    let data = table(&service, &id).await?;
    let mut form = sent.form;
    if let Some(request) = request(&mut form, &data.sketch.columns) {
        match data::draft_schema(&service, &id, request).await {
            Ok(_) => return Ok(redirect(&format!("/data/{id}/schema"))),
            Err(problem) => note(&mut form, problem)?,
        }
    }
    draw(
        StatusCode::UNPROCESSABLE_ENTITY,
        &sent.visitor,
        &data,
        &form,
    )
}

/// The table `id`.
pub(super) async fn table(
    service: &Service,
    id: &crate::identifier::Id,
) -> Result<DataSet, Problem> {
    let data = data::data_set(service, id).await?;
    match data.kind {
        DataKind::Table => Ok(data),
        DataKind::Texts => Err(Problem::new(
            ProblemKind::NotFound,
            "Texts have no columns to describe; train a model on them right away.",
        )),
    }
}

fn field(position: usize) -> String {
    format!("role-{position}")
}

/// The form as the names of the columns suggest.
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

/// The form as a schema has it.
fn described(data: &DataSet, schema: &crate::operations::schema::TableSchema) -> Form {
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

/// What the form asks for, or errors in the form.
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
    })
}

fn draw(status: StatusCode, visitor: &Visitor, data: &DataSet, form: &Form) -> Answer {
    let columns: Vec<RawColumn> = data
        .sketch
        .columns
        .iter()
        .enumerate()
        .map(|(position, column)| RawColumn {
            field: field(position),
            name: column.name.clone(),
            examples: examples(column),
        })
        .collect();
    let template = DataColumnsPage {
        frame: &visitor.frame(""),
        form,
        id: data.id.as_str(),
        label: &data.label,
        columns: &columns,
        roles: &Choice::list(&[
            ("input", "An input of the model"),
            ("protected", "A protected attribute"),
            ("label", "The decision to predict"),
            ("ignore", "Nothing: leave it out"),
        ]),
        rows: &preview(data),
    };
    page_with(status, &template)
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
        // Without a telling name the last column of few values is the decision.
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
