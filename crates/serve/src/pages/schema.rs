//! The page on which users check and correct the schema of a table.

use axum::http::StatusCode;
use axum::response::Response;

use super::answer::{Answer, page_with, redirect};
use super::data::preview;
use super::filled::{FormPage, Taken};
use super::form::{Choice, Form};
use super::schema_form;
use super::sent::SentForm;
use super::session::Visitor;
use super::views::DataSchemaPage;
use crate::identifier::Id;
use crate::operations::data;
use crate::operations::schema::TableSchema;
use crate::service::Service;
use crate::store::{Change, DataSet};

/// A table with the schema that it has at present.
pub(super) struct SchemaForm {
    data: DataSet,
    schema: TableSchema,
    left_out: Vec<(String, String)>,
}

impl FormPage for SchemaForm {
    async fn about(service: &Service, change: &Change, id: &Id) -> Result<SchemaForm, Response> {
        let data: DataSet = service.find(change, id).await?;
        if !data.has_schema {
            return Err(redirect(&format!("/data/{id}/columns")));
        }
        let schema = data::schema(service, change, id).await?;
        let left_out = data::left_out(service, &data, &schema).await?;
        Ok(SchemaForm {
            data,
            schema,
            left_out,
        })
    }

    fn first(&self) -> Form {
        schema_form::filled(&self.schema)
    }

    async fn take(&self, service: &Service, sent: &mut SentForm) -> Taken {
        let schema = schema_form::schema(&mut sent.form, &self.schema)?;
        let id = &self.data.id;
        let replaced = data::replace_schema(service, &sent.visitor.may, id, schema).await;
        Some(replaced.map(|_| format!("/data/{id}")))
    }

    fn draw(&self, status: StatusCode, visitor: &Visitor<Change>, form: &Form) -> Answer {
        let outcomes = self.schema.label.classes.iter();
        let outcomes = outcomes.map(|outcome| Choice::new(outcome, outcome));
        page_with(
            status,
            &DataSchemaPage {
                frame: &visitor.frame(""),
                form,
                id: self.data.id.as_str(),
                label: &self.data.label,
                decision: &self.schema.label.name,
                outcomes: &outcomes.collect::<Vec<_>>(),
                left_out: &self.left_out,
                columns: &schema_form::columns(form, &self.schema),
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
                rows: &preview(&self.data),
            },
        )
    }
}
