//! Check and correct the schema of a table.

use axum::extract::State;
use axum::http::StatusCode;

use super::answer::{Answer, note, page_with, redirect};
use super::columns::table;
use super::data::preview;
use super::form::{Choice, Form};
use super::named::Named;
use super::schema_form;
use super::sent::SentForm;
use super::session::Visitor;
use super::views::DataSchemaPage;
use crate::Service;
use crate::operations::data;
use crate::operations::schema::TableSchema;
use crate::store::DataSet;

/// The form.
pub(super) async fn show(
    State(service): State<Service>,
    visitor: Visitor,
    Named(id): Named,
) -> Answer {
    let data = table(&service, &id).await?;
    if !data.has_schema {
        return Ok(redirect(&format!("/data/{id}/columns")));
    }
    let schema = data::schema(&service, &id).await?;
    let form = schema_form::filled(&schema);
    draw(StatusCode::OK, &visitor, &data, &schema, &form)
}

/// Takes the corrected schema.
pub(super) async fn save(
    State(service): State<Service>,
    Named(id): Named,
    sent: SentForm,
) -> Answer {
    let data = table(&service, &id).await?;
    let drafted = data::schema(&service, &id).await?;
    let mut form = sent.form;
    if let Some(schema) = schema_form::schema(&mut form, &drafted) {
        match data::replace_schema(&service, &id, schema).await {
            Ok(_) => return Ok(redirect(&format!("/data/{id}"))),
            Err(problem) => note(&mut form, problem)?,
        }
    }
    draw(
        StatusCode::UNPROCESSABLE_ENTITY,
        &sent.visitor,
        &data,
        &drafted,
        &form,
    )
}

fn draw(
    status: StatusCode,
    visitor: &Visitor,
    data: &DataSet,
    schema: &TableSchema,
    form: &Form,
) -> Answer {
    page_with(
        status,
        &DataSchemaPage {
            frame: &visitor.frame(""),
            form,
            id: data.id.as_str(),
            label: &data.label,
            decision: &schema.label.name,
            columns: &schema_form::columns(form, schema),
            kinds: &Choice::list(&[
                ("integer", "Whole numbers"),
                ("categorical", "Categories"),
                ("numeric", "Numbers, sorted into ranges"),
            ]),
            outsides: &Choice::list(&[
                ("reject", "The file is refused"),
                ("level", "Counts as a value of its own"),
                ("clip", "Becomes the nearest possible value (numbers only)"),
                ("skip", "Its row is left out"),
            ]),
            rows: &preview(data),
        },
    )
}
