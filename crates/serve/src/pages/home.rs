//! The overview: everything that there is.

use axum::extract::State;

use super::answer::{Answer, page};
use super::session::Visitor;
use super::things;
use super::views::{HomePage, Thing};
use crate::jobs::board::JobView;
use crate::jobs::specification::JobKind;
use crate::operations::jobs;
use crate::service::Service;
use crate::store::{DataSet, JobState, Model};

/// The page.
pub(super) async fn show(State(service): State<Service>, visitor: Visitor) -> Answer {
    let jobs = jobs::list_jobs(&service).await?;
    let models: Vec<Model> = service.all().await?;
    let data: Vec<DataSet> = service.all().await?;
    let active: Vec<&JobView> = jobs
        .iter()
        .filter(|view| !view.job.state.is_final())
        .collect();
    // A training that succeeded is there as its model.
    let is_shown = |view: &&JobView| {
        view.job.state.is_final()
            && !(view.job.kind == JobKind::Train && view.job.state == JobState::Done)
    };
    let runs: Vec<Thing> = jobs.iter().filter(is_shown).map(things::of_job).collect();
    let comparable = runs.iter().filter(|run| run.can_be_picked).count();
    page(&HomePage {
        frame: &visitor.frame("home"),
        active: &active.into_iter().map(things::of_job).collect::<Vec<_>>(),
        runs: &runs,
        can_compare: comparable > 1,
        models: &models.iter().map(things::of_model).collect::<Vec<_>>(),
        data: &data.iter().map(things::of_data).collect::<Vec<_>>(),
    })
}
