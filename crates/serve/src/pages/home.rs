//! The overview: everything that there is.

use axum::extract::State;

use super::answer::{Answer, page};
use super::session::Visitor;
use super::things;
use super::views::{HomePage, Thing};
use crate::Service;
use crate::jobs::board::JobView;
use crate::operations::{data, jobs, models};
use crate::store::{JobKind, JobState};

/// The page.
pub(super) async fn show(State(service): State<Service>, visitor: Visitor) -> Answer {
    let jobs = jobs::list_jobs(&service).await?;
    let models = models::list_models(&service).await?;
    let data = data::list_data(&service).await?;
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
