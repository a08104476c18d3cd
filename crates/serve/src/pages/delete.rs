//! Delete a data set, a model or a job: a question first, then the deed.

use axum::extract::State;

use super::answer::{Answer, page, redirect};
use super::named::Named;
use super::sent::SentForm;
use super::session::Visitor;
use super::views::DeletePage;
use crate::Service;
use crate::operations::{data, jobs, models};
use crate::store::ModelOrigin;

/// Asks about a data set.
pub(super) async fn ask_data(
    State(service): State<Service>,
    visitor: Visitor,
    Named(id): Named,
) -> Answer {
    let data = data::data_set(&service, &id).await?;
    page(&DeletePage {
        frame: &visitor.frame(""),
        label: &data.label,
        consequence: "The file and its description are deleted. Models that learnt from it and their audits stay.",
        action: &format!("/data/{id}/delete"),
        back: &format!("/data/{id}"),
    })
}

/// Deletes a data set.
pub(super) async fn data(State(service): State<Service>, Named(id): Named, _: SentForm) -> Answer {
    data::delete_data(&service, &id).await?;
    Ok(redirect("/"))
}

/// Asks about a model.
pub(super) async fn ask_model(
    State(service): State<Service>,
    visitor: Visitor,
    Named(id): Named,
) -> Answer {
    let model = models::model(&service, &id).await?;
    page(&DeletePage {
        frame: &visitor.frame(""),
        label: &model.label,
        consequence: "The model is deleted. Audits of it stay.",
        action: &format!("/models/{id}/delete"),
        back: &format!("/models/{id}"),
    })
}

/// Deletes a model, together with the job that made it.
pub(super) async fn model(State(service): State<Service>, Named(id): Named, _: SentForm) -> Answer {
    match models::model(&service, &id).await?.origin {
        ModelOrigin::Uploaded => models::delete_model(&service, &id).await?,
        ModelOrigin::Trained | ModelOrigin::Repaired => jobs::delete_job(&service, &id).await?,
    }
    Ok(redirect("/"))
}

/// Asks about a job.
pub(super) async fn ask_job(
    State(service): State<Service>,
    visitor: Visitor,
    Named(id): Named,
) -> Answer {
    let view = jobs::job(&service, &id).await?;
    page(&DeletePage {
        frame: &visitor.frame(""),
        label: &view.job.label,
        consequence: "Everything that it found is deleted, and the model that it made if it made one.",
        action: &format!("/jobs/{id}/delete"),
        back: &super::things::address(&view),
    })
}

/// Deletes a job.
pub(super) async fn job(State(service): State<Service>, Named(id): Named, _: SentForm) -> Answer {
    jobs::delete_job(&service, &id).await?;
    Ok(redirect("/"))
}
