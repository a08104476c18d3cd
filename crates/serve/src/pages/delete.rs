//! The pages that delete a data set, a model or a job: a question first, then the deletion.

use axum::extract::State;

use super::answer::{Answer, page, redirect};
use super::named::{Named, Path};
use super::sent::SentForm;
use super::session::Visitor;
use super::things;
use super::views::DeletePage;
use crate::operations::{data, jobs, models};
use crate::service::Service;
use crate::store::{Change, DataSet, Model, ModelOrigin};

/// Asks whether the thing at the address `at` shall be deleted.
fn ask(visitor: &Visitor<Change>, label: &str, consequence: &str, at: &str, back: &str) -> Answer {
    page(&DeletePage {
        frame: &visitor.frame(""),
        label,
        consequence,
        action: &format!("{at}/delete"),
        back,
    })
}

/// Asks whether a data set shall be deleted.
pub(super) async fn ask_data(Named(service, visitor, id): Named<Change>) -> Answer {
    let data: DataSet = service.find(&visitor.may, &id).await?;
    let at = format!("/data/{id}");
    let consequence = "The file and its description are deleted. Models that learnt from it and their audits stay.";
    ask(&visitor, &data.label, consequence, &at, &at)
}

/// Deletes a data set.
pub(super) async fn data(State(service): State<Service>, Path(id): Path, sent: SentForm) -> Answer {
    data::delete_data(&service, &sent.visitor.may, &id).await?;
    Ok(redirect("/"))
}

/// Asks whether a model shall be deleted.
pub(super) async fn ask_model(Named(service, visitor, id): Named<Change>) -> Answer {
    let model: Model = service.find(&visitor.may, &id).await?;
    let at = format!("/models/{id}");
    let consequence = "The model is deleted. Audits of it stay.";
    ask(&visitor, &model.label, consequence, &at, &at)
}

/// Deletes a model, together with the job that made it.
pub(super) async fn model(
    State(service): State<Service>,
    Path(id): Path,
    sent: SentForm,
) -> Answer {
    let change = &sent.visitor.may;
    let model: Model = service.find(change, &id).await?;
    match model.origin {
        ModelOrigin::Uploaded => models::delete_model(&service, change, &id).await?,
        ModelOrigin::Trained | ModelOrigin::Repaired => {
            jobs::delete_job(&service, change, &id).await?;
        }
    }
    Ok(redirect("/"))
}

/// Asks whether a job shall be deleted.
pub(super) async fn ask_job(Named(service, visitor, id): Named<Change>) -> Answer {
    let view = jobs::job(&service, &visitor.may, &id).await?;
    let at = format!("/jobs/{id}");
    let consequence =
        "Everything that it found is deleted, and the model that it made if it made one.";
    let back = things::address(&view.job);
    ask(&visitor, &view.job.label, consequence, &at, &back)
}

/// Deletes a job.
pub(super) async fn job(State(service): State<Service>, Path(id): Path, sent: SentForm) -> Answer {
    jobs::delete_job(&service, &sent.visitor.may, &id).await?;
    Ok(redirect("/"))
}
