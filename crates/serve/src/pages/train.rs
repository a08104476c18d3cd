//! Train a model on a data set.

use axum::extract::State;
use axum::http::StatusCode;

use super::answer::{Answer, note, page_with, redirect};
use super::form::{Choice, Field, Form};
use super::named::Named;
use super::options::{choice, choices, names, number, text, value};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::TrainPage;
use crate::Service;
use crate::jobs::request::{CategoryCodes, Course, JobRequest, TrainTable, TrainTexts};
use crate::operations::{data, jobs};
use crate::problem::Problem;
use crate::store::{ColumnKind, DataKind, DataSet};
use probity_nn::recurrent::network::CellKind;

/// The form.
pub(super) async fn show(
    State(service): State<Service>,
    visitor: Visitor,
    Named(id): Named,
) -> Answer {
    let data = data::data_set(&service, &id).await?;
    if data.kind == DataKind::Table && !data.has_schema {
        return Ok(redirect(&format!("/data/{id}/columns")));
    }
    let form = initial(&data);
    draw(StatusCode::OK, &visitor, &data, &form)
}

/// Starts the training.
pub(super) async fn start(
    State(service): State<Service>,
    Named(id): Named,
    sent: SentForm,
) -> Answer {
    let data = data::data_set(&service, &id).await?;
    let mut form = sent.form;
    let request = match data.kind {
        DataKind::Table => table_request(&mut form, &data),
        DataKind::Texts => texts_request(&mut form, &data)?,
    };
    if !form.has_errors() {
        let label = form.filled("label").unwrap_or(&data.label).to_owned();
        match jobs::start_job(&service, sent.visitor.caller(), &label, request).await {
            Ok(view) => return Ok(redirect(&format!("/jobs/{}", view.job.id))),
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

fn initial(data: &DataSet) -> Form {
    let course = Course::default();
    let form = Form::default()
        .with("label", &data.label)
        .with("learning_rate", course.learning_rate.to_string())
        .with("weight_decay", course.weight_decay.to_string())
        .with("test", (course.test * 100.0).to_string())
        .with("validation", (course.validation * 100.0).to_string())
        .with("seed", course.seed.to_string());
    match data.kind {
        DataKind::Table => form
            .with("epochs", "30")
            .with("categories", "onehot")
            .with("hidden", "64,32,16,8,4"),
        DataKind::Texts => {
            let columns = &data.sketch.columns;
            let texts = columns.iter().position(|column| column.distinct > 100);
            let label = columns.iter().rposition(|column| column.distinct <= 20);
            let position = |found: Option<usize>| found.unwrap_or_default().to_string();
            form.with("epochs", "8")
                .with("text_column", position(texts))
                .with("label_column", position(label))
                .with("cell", "lstm")
                .with("layers", "3")
                .with("units", "10")
        }
    }
}

fn course(form: &mut Form) -> Course {
    let defaults = Course::default();
    let whole = "a whole number";
    Course {
        epochs: form.number("epochs", whole),
        learning_rate: form
            .number("learning_rate", "a number")
            .unwrap_or(defaults.learning_rate),
        weight_decay: form
            .number("weight_decay", "a number")
            .unwrap_or(defaults.weight_decay),
        balance_classes: form.has("balance", "yes"),
        test: form.percentage("test").unwrap_or(defaults.test),
        validation: form.percentage("validation").unwrap_or(defaults.validation),
        seed: form.number("seed", whole).unwrap_or(defaults.seed),
        ..defaults
    }
}

fn table_request(form: &mut Form, data: &DataSet) -> JobRequest {
    let widths = form.value("hidden").to_owned();
    let hidden: Result<Vec<u32>, _> = widths
        .split(',')
        .map(|width| width.trim().parse())
        .collect();
    if hidden.is_err() {
        form.refuse(
            "hidden",
            format!("“{widths}” is not a list of whole numbers such as 64,32."),
        );
    }
    JobRequest::TrainTable(TrainTable {
        data: data.id.clone(),
        hidden: hidden.unwrap_or_default(),
        activation: Default::default(),
        categories: match form.value("categories") {
            "codes" => CategoryCodes::Codes,
            "embed" => CategoryCodes::Embed,
            _ => CategoryCodes::OneHot,
        },
        dropout: 0.0,
        course: course(form),
    })
}

fn texts_request(form: &mut Form, data: &DataSet) -> Result<JobRequest, Problem> {
    if data.sketch.columns.len() < 2 {
        return Err(Problem::invalid(
            "A training needs texts with a label: a table with a column of texts and one of labels.",
        ));
    }
    let text_column = column(form, "text_column", data);
    let label_column = column(form, "label_column", data);
    if text_column == label_column {
        form.refuse(
            "label_column",
            "Texts and labels cannot be the same column.",
        );
    }
    let whole = "a whole number";
    Ok(JobRequest::TrainTexts(TrainTexts {
        data: data.id.clone(),
        text_column,
        label_column,
        cell: value::<CellKind>(form.value("cell")).unwrap_or_default(),
        layers: form.number("layers", whole).unwrap_or(3),
        units: form.number("units", whole).unwrap_or(10),
        bidirectional: form.has("bidirectional", "yes"),
        max_length: 200,
        course: course(form),
    }))
}

/// The name of the column that was chosen by its position.
fn column(form: &mut Form, name: &str, data: &DataSet) -> String {
    let position = form.value(name).parse::<usize>();
    match position
        .ok()
        .and_then(|position| data.sketch.columns.get(position))
    {
        Some(column) => column.name.clone(),
        None => {
            form.refuse(name, "Choose a column.");
            String::new()
        }
    }
}

fn yes_or_no() -> Vec<Choice> {
    Choice::list(&[("no", "No"), ("yes", "Yes")])
}

fn course_fields() -> Vec<Field> {
    vec![
        number(
            "epochs",
            "Passes over the data",
            "More can learn more, and take longer.",
        ),
        number("learning_rate", "Learning rate", ""),
        number(
            "weight_decay",
            "Weight decay",
            "0 lets a network learn its data by heart.",
        ),
        choice(
            "balance",
            "Let rare outcomes weigh as much as frequent ones",
            "",
            yes_or_no(),
        ),
        number("test", "Rows kept for testing, in percent", ""),
        number("validation", "Rows kept for choosing, in percent", ""),
        number("seed", "Seed", "The same seed gives the same model."),
    ]
}

fn fields(data: &DataSet) -> Vec<Field> {
    let mut fields = match data.kind {
        DataKind::Table => vec![
            choice(
                "categories",
                "Categories enter as",
                "",
                Choice::list(&[
                    ("onehot", "One input for each category"),
                    ("embed", "Four learnt numbers for each category"),
                    ("codes", "Their position in the list"),
                ]),
            ),
            text(
                "hidden",
                "Units of the hidden layers",
                "From the first to the last, separated by commas.",
            ),
        ],
        DataKind::Texts => vec![
            choice("cell", "Kind of network", "", choices::<CellKind>()),
            number("layers", "Layers", ""),
            number("units", "Units of a layer", ""),
            choice(
                "bidirectional",
                "Read the texts backwards as well",
                "",
                yes_or_no(),
            ),
        ],
    };
    fields.extend(course_fields());
    fields
}

/// The columns of texts, or of anything, to choose from.
fn columns(data: &DataSet, is_offered: impl Fn(ColumnKind) -> bool) -> Vec<Choice> {
    let columns = data.sketch.columns.iter().enumerate();
    columns
        .filter(|(_, column)| is_offered(column.kind))
        .map(|(position, column)| Choice::new(position.to_string(), &column.name))
        .collect()
}

fn draw(status: StatusCode, visitor: &Visitor, data: &DataSet, form: &Form) -> Answer {
    let fields = fields(data);
    let is_text = data.kind == DataKind::Texts;
    page_with(
        status,
        &TrainPage {
            frame: &visitor.frame(""),
            form,
            id: data.id.as_str(),
            label: &data.label,
            is_text,
            can_train: !is_text || data.sketch.columns.len() > 1,
            text_columns: &columns(data, |kind| kind == ColumnKind::Words),
            label_columns: &columns(data, |_| true),
            advanced: &names(&fields),
            fields: &fields,
        },
    )
}
