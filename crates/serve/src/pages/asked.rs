//! What a job was asked for, as facts with links.

use super::views::Fact;
use super::words::{list, moment, percent};
use crate::Service;
use crate::jobs::request::{JobRequest, Search};
use crate::operations::{data, jobs, models};
use crate::store::Job;

/// What `job` was asked for. Of things that were deleted since, nothing is said.
pub(super) async fn facts(service: &Service, job: &Job) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(id) = job.request.model()
        && let Ok(model) = models::model(service, id).await
    {
        facts.push(Fact::linked("Model", model.label, format!("/models/{id}")));
    }
    let id = job.request.data();
    if let Ok(data) = data::data_set(service, id).await {
        facts.push(Fact::linked("Data", data.label, format!("/data/{id}")));
    }
    for id in job.request.audits() {
        if let Ok(audit) = jobs::job(service, id).await {
            facts.push(Fact::linked(
                "Learns from",
                audit.job.label,
                format!("/runs/{id}"),
            ));
        }
    }
    match &job.request {
        JobRequest::AuditTable(audit) => search(&mut facts, &audit.protected, &audit.search),
        JobRequest::AuditTexts(audit) => search(&mut facts, &audit.protected, &audit.search),
        _ => {}
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

fn search(facts: &mut Vec<Fact>, protected: &[String], search: &Search) {
    facts.push(Fact::new("Protected", list(protected)));
    if let Some(bound) = search.fail_above {
        facts.push(Fact::new("Largest acceptable share", percent(bound)));
    }
    facts.push(Fact::new("Seed", search.seed.to_string()));
}
