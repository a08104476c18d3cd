//! The pages that upload and show data sets.

use axum::extract::State;
use axum::http::StatusCode;

use super::answer::{Answer, page, page_with, redirect};
use super::form::{Choice, Form};
use super::named::Named;
use super::sent::SentFile;
use super::session::Visitor;
use super::things;
use super::views::{DataNewPage, DataPage, DescribedColumn, Fact, Preview, Thing};
use super::words::{bytes, list, moment};
use crate::operations::data::{self, NewDataSet};
use crate::operations::schema::{AttributeColumn, AttributeKind, TableSchema};
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Change, DataKind, DataSet, Model};

/// The number of values of a column that are shown.
const SHOWN: usize = 8;

/// Shows the form of an upload.
pub(super) async fn show_new(State(service): State<Service>, visitor: Visitor<Change>) -> Answer {
    draw_new(StatusCode::OK, &service, &visitor, &Form::default())
}

/// Stores an upload.
pub(super) async fn upload(State(service): State<Service>, mut sent: SentFile) -> Answer {
    match store(&service, &mut sent).await {
        Ok(data) if data.kind == DataKind::Table => {
            Ok(redirect(&format!("/data/{}/columns", data.id)))
        }
        Ok(data) => Ok(redirect(&format!("/data/{}", data.id))),
        Err(problem) => {
            let status = sent.refuse(problem);
            draw_new(status, &service, &sent.visitor, &sent.form)
        }
    }
}

async fn store(service: &Service, sent: &mut SentFile) -> Result<DataSet, Problem> {
    sent.name()?;
    let file = sent.take_file()?;
    let received = &mut sent.received;
    let kind = match received.text("kind") {
        "texts" => "texts",
        _ => "table",
    };
    received.texts.insert("kind".to_owned(), kind.to_owned());
    let new = NewDataSet::of_form(received)?;
    data::upload_data(service, &sent.visitor.may, new, file).await
}

fn draw_new(
    status: StatusCode,
    service: &Service,
    visitor: &Visitor<Change>,
    form: &Form,
) -> Answer {
    let page = DataNewPage {
        frame: &visitor.frame("data"),
        form,
        separators: &Choice::list(&[
            (
                "",
                "What the file says: tabs in .tsv, else what cuts its lines into most fields",
            ),
            ("comma", "Commas"),
            ("semicolon", "Semicolons"),
            ("tab", "Tabs"),
            ("space", "Spaces"),
        ]),
        limit: bytes(service.limits.upload_bytes),
    };
    page_with(status, &page)
}

/// Shows a data set.
pub(super) async fn show(Named(service, visitor, id): Named) -> Answer {
    let frame = &visitor.frame("");
    let data: DataSet = service.find(&visitor.may, &id).await?;
    let schema = match data.has_schema {
        true => Some(data::schema(&service, &visitor.may, &id).await?),
        false => None,
    };
    let left_out = match &schema {
        Some(schema) => data::left_out(&service, &data, schema).await?,
        None => Vec::new(),
    };
    let models: Vec<Model> = service.newest(&visitor.may).await?;
    let trained: Vec<Thing> = models
        .iter()
        .filter(|model| model.data.as_ref() == Some(&id))
        .map(|model| things::of_model(model, frame))
        .collect();
    page(&DataPage {
        frame,
        id: id.as_str(),
        label: &data.label,
        facts: &[
            Fact::new("Holds", things::size(&data)),
            Fact::new("Size of the file", bytes(data.bytes)),
            Fact::new("Takes", bytes(service.stored_as(&data).await?)),
            Fact::new("Uploaded", moment(data.created)),
        ],
        is_described: schema.is_some() || data.kind == DataKind::Texts,
        is_text: data.kind == DataKind::Texts,
        columns: &schema.as_ref().map_or(Vec::new(), described),
        left_out: &left_out,
        models: &trained,
        rows: &preview(&data),
    })
}

fn described(schema: &TableSchema) -> Vec<DescribedColumn> {
    let decision = DescribedColumn {
        name: schema.label.name.clone(),
        role: "decision",
        values: list(&schema.label.classes),
    };
    let inputs = schema.attributes.iter().map(|attribute| DescribedColumn {
        name: attribute.name.clone(),
        role: match attribute.protected {
            true => "protected",
            false => "input",
        },
        values: values(attribute),
    });
    inputs.chain([decision]).collect()
}

/// The possible values of a column in words.
pub(super) fn values(attribute: &AttributeColumn) -> String {
    let levels = attribute.levels.as_deref().unwrap_or_default();
    let is_beside = attribute.kind != AttributeKind::Categorical && !levels.is_empty();
    let values = own_values(attribute, levels);
    match is_beside {
        true => format!("{values}, or {}", list(levels)),
        false => values,
    }
}

/// The possible values of a column in words, without levels beside numbers.
fn own_values(attribute: &AttributeColumn, levels: &[String]) -> String {
    match attribute.kind {
        AttributeKind::Integer => format!(
            "whole numbers from {} to {}",
            attribute.min.unwrap_or_default(),
            attribute.max.unwrap_or_default()
        ),
        AttributeKind::Categorical => match levels.len().checked_sub(SHOWN) {
            Some(more) if more > 0 => format!("{} and {more} more", list(&levels[..SHOWN])),
            _ => list(levels),
        },
        AttributeKind::Numeric => match attribute.bins.as_deref() {
            Some([first, .., last]) => format!("numbers from {first} to {last}, in ranges"),
            _ => "numbers".to_owned(),
        },
    }
}

/// The first rows of a data set.
pub(super) fn preview(data: &DataSet) -> Preview {
    let columns = data.sketch.columns.iter().map(|column| column.name.clone());
    let mut columns: Vec<String> = columns.collect();
    if columns.is_empty() {
        columns.push("text".to_owned());
    }
    Preview {
        columns,
        rows: data.sketch.first_rows.clone(),
    }
}
