//! What a job was asked for, as facts with links.

use super::views::Fact;
use super::words::{list, moment, percent};
use crate::service::Service;
use crate::store::{DataSet, Job, Model};

/// What `job` was asked for. Of things that were deleted since, nothing is said.
pub(super) async fn facts(service: &Service, job: &Job) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(id) = job.specification.model()
        && let Ok(model) = service.find::<Model>(id).await
    {
        facts.push(Fact::linked("Model", model.label, format!("/models/{id}")));
    }
    let id = job.specification.data();
    if let Ok(data) = service.find::<DataSet>(id).await {
        facts.push(Fact::linked("Data", data.label, format!("/data/{id}")));
    }
    for id in job.specification.runs() {
        if let Ok(audit) = service.find::<Job>(id).await {
            let address = format!("/runs/{id}");
            facts.push(Fact::linked("Learns from", audit.label, address));
        }
    }
    if let Some(audit) = job.specification.as_audit() {
        facts.push(Fact::new("Protected", list(&audit.protected)));
        if let Some(bound) = audit.fail_above {
            facts.push(Fact::new("Largest acceptable share", percent(bound)));
        }
        facts.push(Fact::new("Seed", audit.seed.to_string()));
    }
    facts.push(Fact::new("Asked for", moment(job.created)));
    if let Some(started) = job.started {
        facts.push(Fact::new("Started", moment(started)));
    }
    if let Some(ended) = job.ended {
        facts.push(Fact::new("Ended", moment(ended)));
    }
    facts
}
