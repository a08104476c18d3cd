//! Train a model on a data set.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use super::answer::{Answer, Failure, note, page_with, redirect};
use super::form::{Choice, Form};
use super::named::Named;
use super::options::{Options, insert, names, specified};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::TrainPage;
use crate::Service;
use crate::jobs::specification::JobSpecification;
use crate::operations::{data, jobs};
use crate::problem::Problem;
use crate::store::{ColumnKind, DataKind, DataSet, JobKind};
use probity_nn::modality::ModalityName;

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
    if data.kind == DataKind::Texts && data.sketch.columns.len() < 2 {
        return Err(Failure(Problem::invalid(
            "A training needs texts with a label: a table with a column of texts and one of labels.",
        )));
    }
    if let Some(asked) = specification(&mut form, &data) {
        let label = form.filled("label").unwrap_or(&data.label).to_owned();
        match jobs::start_job(&service, sent.visitor.caller(), &label, asked).await {
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

/// The fields of a training on `data` that the page shows.
fn options(data: &DataSet) -> Options {
    let network: &[&str] = match data.kind {
        DataKind::Table => &["network.categories", "network.hidden"],
        DataKind::Texts => &[
            "recurrent.cell",
            "recurrent.layers",
            "recurrent.units",
            "recurrent.bidirectional",
        ],
    };
    let training = [
        "training.epochs",
        "training.learning_rate",
        "training.weight_decay",
        "training.class_weights",
        "training.test",
        "training.validation",
        "training.seed",
    ];
    Options::of(JobKind::Train, &[network, &training].concat())
}

fn initial(data: &DataSet) -> Form {
    let mut form = Form::default().with("label", &data.label);
    options(data).fill(&mut form);
    match data.kind {
        // People's tables have categories without an order.
        DataKind::Table => form.with("network.categories", "onehot"),
        DataKind::Texts => {
            let columns = &data.sketch.columns;
            let texts = columns.iter().position(|column| column.distinct > 100);
            let label = columns.iter().rposition(|column| column.distinct <= 20);
            let position = |found: Option<usize>| found.unwrap_or_default().to_string();
            form.set("text_column", position(texts));
            form.with("label_column", position(label))
        }
    }
}

/// What the form asks for, or errors in the form.
fn specification(form: &mut Form, data: &DataSet) -> Option<JobSpecification> {
    let mut asked = match data.kind {
        DataKind::Table => json!({ "modality": ModalityName::Table }),
        DataKind::Texts => {
            let text_column = column(form, "text_column", data);
            let label_column = column(form, "label_column", data);
            if text_column == label_column {
                form.refuse(
                    "label_column",
                    "Texts and labels cannot be the same column.",
                );
            }
            json!({
                "modality": ModalityName::Text, "text_column": text_column, "label_column": label_column,
            })
        }
    };
    insert(&mut asked, "kind", json!(JobKind::Train));
    insert(&mut asked, "data", json!(data.id));
    options(data).read(form, &mut asked);
    specified(form, asked)
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

/// The columns of texts, or of anything, to choose from.
fn columns(data: &DataSet, is_offered: impl Fn(ColumnKind) -> bool) -> Vec<Choice> {
    let columns = data.sketch.columns.iter().enumerate();
    columns
        .filter(|(_, column)| is_offered(column.kind))
        .map(|(position, column)| Choice::new(position.to_string(), &column.name))
        .collect()
}

fn draw(status: StatusCode, visitor: &Visitor, data: &DataSet, form: &Form) -> Answer {
    let fields = options(data).inputs();
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
