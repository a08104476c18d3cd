//! The page that starts the training of a model on a data set.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::answer::{Answer, page_with, redirect};
use super::filled::{FormPage, Taken, start};
use super::form::{Choice, Form};
use super::options::{Options, insert, names, specified};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::TrainPage;
use crate::identifier::Id;
use crate::jobs::specification::{JobKind, JobSpecification};
use crate::operations::schema::TableSchema;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Change, ColumnKind, DataKind, DataSet, Model};
use probity_nn::modality::ModalityName;
use probity_nn::train::text_set::OWN;

/// A data set that a model can learn from.
pub(super) struct TrainForm(DataSet);

impl FormPage for TrainForm {
    async fn about(service: &Service, change: &Change, id: &Id) -> Result<TrainForm, Response> {
        let data: DataSet = service.find(change, id).await?;
        match data.kind == DataKind::Table && !data.has_schema {
            true => Err(redirect(&format!("/data/{id}/columns"))),
            false => Ok(TrainForm(data)),
        }
    }

    fn first(&self) -> Form {
        let data = &self.0;
        let mut form = Form::default().with("label", usual_name(data));
        let (first, advanced) = options(data);
        first.fill(&mut form);
        advanced.fill(&mut form);
        match data.kind {
            // Tables of people have categories without an order.
            DataKind::Table => form.with("network.categories", "onehot"),
            DataKind::Texts => {
                let columns = &data.sketch.columns;
                let texts = columns.iter().position(|column| column.distinct > 100);
                let label = columns.iter().rposition(|column| column.distinct <= 20);
                let position = |found: Option<usize>| found.unwrap_or_default().to_string();
                form.set("text_column", position(texts));
                // Few texts of people are in the words that come with Probity.
                form.set(VECTORS, OWN);
                form.with("label_column", position(label))
            }
        }
    }

    async fn take(&self, service: &Service, sent: &mut SentForm) -> Taken {
        let data = &self.0;
        if !can_train(data) {
            return Some(Err(Problem::invalid(
                "A training needs texts with a label: a table with a column of texts and one of labels.",
            )));
        }
        let asked = specification(&mut sent.form, data)?;
        let label = sent.label(&usual_name(data));
        Some(start(service, sent, &label, asked).await)
    }

    fn draw(&self, status: StatusCode, visitor: &Visitor<Change>, form: &Form) -> Answer {
        let data = &self.0;
        let (first, advanced) = options(data);
        let fields = advanced.inputs();
        page_with(
            status,
            &TrainPage {
                frame: &visitor.frame(""),
                form,
                id: data.id.as_str(),
                label: &data.label,
                is_text: data.kind == DataKind::Texts,
                can_train: can_train(data),
                text_columns: &columns(data, |kind| kind == ColumnKind::Words),
                label_columns: &columns(data, |_| true),
                vectors: &first.input(VECTORS),
                advanced: &names(&fields),
                fields: &fields,
            },
        )
    }
}

/// The usual name of a model of `data`, where the user gives none.
fn usual_name(data: &DataSet) -> String {
    let name = format!("Classifier of {}", data.label);
    name.chars().take(100).collect()
}

/// Goes on with a table that was just described by `schema`: to the audit of a model that learnt
/// from it, else to a training with the usual answers. Returns the address of the next page.
pub(super) async fn go_on(
    service: &Service,
    sent: &SentForm,
    id: &Id,
    schema: &TableSchema,
) -> Result<String, Problem> {
    let change = &sent.visitor.may;
    let models: Vec<Model> = service.newest(change).await?;
    let names = || schema.attributes.iter().map(|attribute| &attribute.name);
    let is_of_it = |model: &&Model| {
        let about = &model.description;
        model.data.as_ref() == Some(id)
            && about.classes == schema.label.classes
            && about.attributes.iter().eq(names())
    };
    if let Some(model) = models.iter().find(is_of_it) {
        return Ok(format!("/models/{}/audit", model.id));
    }
    let page = TrainForm(service.find(change, id).await?);
    let mut form = page.first();
    let asked = specification(&mut form, &page.0);
    let asked = asked.ok_or_else(|| Problem::internal(&"the usual answers are refused"))?;
    start(service, sent, form.value("label"), asked).await
}

/// Whether the data have labels to learn.
fn can_train(data: &DataSet) -> bool {
    data.kind == DataKind::Table || data.sketch.columns.len() > 1
}

/// The field of the word vectors of a network for texts.
const VECTORS: &str = "recurrent.embeddings";

/// The fields of a training on `data` that the page shows; the second value holds those that most
/// people leave alone.
fn options(data: &DataSet) -> (Options, Options) {
    let (first, network): (&[&str], &[&str]) = match data.kind {
        DataKind::Table => (&[], &["network.categories", "network.hidden"]),
        DataKind::Texts => (
            &[VECTORS],
            &[
                "recurrent.train_embeddings",
                "recurrent.cell",
                "recurrent.layers",
                "recurrent.units",
                "recurrent.bidirectional",
            ],
        ),
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
    let advanced = [network, &training].concat();
    (
        Options::new(JobKind::Train, first),
        Options::new(JobKind::Train, &advanced),
    )
}

/// The specification that the form asks for; or notes errors in the form.
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
    let (first, advanced) = options(data);
    first.read(form, &mut asked);
    advanced.read(form, &mut asked);
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

/// The columns of texts, or of any kind, to choose from.
fn columns(data: &DataSet, is_offered: impl Fn(ColumnKind) -> bool) -> Vec<Choice> {
    let columns = data.sketch.columns.iter().enumerate();
    columns
        .filter(|(_, column)| is_offered(column.kind))
        .map(|(position, column)| Choice::new(position.to_string(), &column.name))
        .collect()
}
