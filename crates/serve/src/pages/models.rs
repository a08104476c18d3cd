//! The pages that upload and show models.

use axum::extract::State;
use axum::http::StatusCode;

use super::answer::{Answer, page, page_with, redirect};
use super::figures::{doubts, qualities, result_of};
use super::form::Form;
use super::named::Named;
use super::sent::SentFile;
use super::session::Visitor;
use super::things;
use super::views::{Fact, ModelNewPage, ModelPage};
use super::words::{bytes, count, list, moment};
use crate::operations::{jobs, models, results};
use crate::problem::Problem;
use crate::service::{LISTED, Service};
use crate::store::{Change, DataSet, Job, Model, ModelKind, ModelOrigin, Scope, WhichJobs};

/// Shows the form of an upload.
pub(super) async fn show_new(State(service): State<Service>, visitor: Visitor<Change>) -> Answer {
    draw_new(StatusCode::OK, &service, &visitor, &Form::default())
}

/// Stores an upload.
pub(super) async fn upload(State(service): State<Service>, mut sent: SentFile) -> Answer {
    match store(&service, &mut sent).await {
        Ok(model) => Ok(redirect(&format!("/models/{}", model.id))),
        Err(problem) => {
            let status = sent.refuse(problem);
            draw_new(status, &service, &sent.visitor, &sent.form)
        }
    }
}

fn draw_new(
    status: StatusCode,
    service: &Service,
    visitor: &Visitor<Change>,
    form: &Form,
) -> Answer {
    let page = ModelNewPage {
        frame: &visitor.frame("models"),
        form,
        limit: bytes(service.limits.upload_bytes),
    };
    page_with(status, &page)
}

async fn store(service: &Service, sent: &mut SentFile) -> Result<Model, Problem> {
    let label = sent.name()?;
    let file = sent.take_file()?;
    models::upload_model(service, &sent.visitor.may, label, file).await
}

/// Shows a model.
pub(super) async fn show(Named(service, visitor, id): Named) -> Answer {
    let model: Model = service.find(&visitor.may, &id).await?;
    let of_it = WhichJobs {
        model: Some(id.clone()),
        ..WhichJobs::default()
    };
    let found: Vec<Job> = service.list(&visitor.may, of_it, None, LISTED).await?;
    let mut runs = Vec::with_capacity(found.len());
    for view in jobs::views(&service, found) {
        let result = result_of(&service, &visitor.may, &view).await?;
        runs.push(things::of_job(&view, result));
    }
    let (parts, doubts) = match model.origin {
        // A model without a summary is as good as before; only its quality is unknown.
        ModelOrigin::Trained => results::summary(&service, &visitor.may, &id)
            .await
            .map_or((Vec::new(), Vec::new()), |summary| {
                (qualities(&summary), doubts(&summary))
            }),
        ModelOrigin::Uploaded | ModelOrigin::Repaired => (Vec::new(), Vec::new()),
    };
    let facts = facts(&service, &visitor.may, &model).await?;
    page(&ModelPage {
        frame: &visitor.frame(""),
        id: id.as_str(),
        label: &model.label,
        facts: &facts,
        parts: &parts,
        doubts: &doubts,
        has_history: runs.iter().any(|run| run.can_be_picked),
        runs: &runs,
        is_of_rows: model.description.kind == ModelKind::Table,
    })
}

async fn facts(service: &Service, scope: &Scope, model: &Model) -> Result<Vec<Fact>, Problem> {
    let about = &model.description;
    let mut facts = vec![
        Fact::new("What it does", things::origin(model)),
        Fact::new("Outcomes", list(&about.classes)),
    ];
    if !about.attributes.is_empty() {
        facts.push(Fact::new("Looks at", list(&about.attributes)));
        let protected = match about.protected.is_empty() {
            true => "no column is marked".to_owned(),
            false => list(&about.protected),
        };
        facts.push(Fact::new("Protected", protected));
    }
    if let Some(id) = &model.data {
        // The data of a model may have been deleted since.
        if let Ok(data) = service.find::<DataSet>(scope, id).await {
            facts.push(Fact::linked("Data", data.label, format!("/data/{id}")));
        }
    }
    if model.origin == ModelOrigin::Repaired {
        let address = format!("/runs/{}", model.id);
        facts.push(Fact::linked("Made by", "a repair", address));
    }
    facts.push(Fact::new("Numbers that it learnt", count(about.parameters)));
    facts.push(Fact::new("Made", moment(model.created)));
    facts.push(Fact::new("Takes", bytes(service.stored_as(model).await?)));
    facts.push(Fact::new("SHA-256", &about.sha256));
    Ok(facts)
}
