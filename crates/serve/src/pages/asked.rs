//! The facts about a job's specification, with links.

use std::time::Duration;

use super::views::Fact;
use super::words::{self, attributes_in_words, bytes, list, moment};
use crate::operations::projects::days as days_of;
use crate::service::Service;
use crate::store::{DataSet, Job, JobState, Model, Scope};
use probity_indirect::people::Sources;

/// The facts about the specification of `job`. Of things that were deleted since, nothing is said.
pub(super) async fn facts(service: &Service, scope: &Scope, job: &Job) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(id) = job.specification.model()
        && let Ok(model) = service.find::<Model>(scope, id).await
    {
        facts.push(Fact::linked("Model", model.label, format!("/models/{id}")));
    }
    let id = job.specification.data();
    if let Ok(data) = service.find::<DataSet>(scope, id).await {
        facts.push(Fact::linked("Data", data.label, format!("/data/{id}")));
    }
    if let Some(id) = job.specification.counterfactuals()
        && let Ok(data) = service.find::<DataSet>(scope, id).await
    {
        let address = format!("/data/{id}");
        facts.push(Fact::linked("Counterfactuals", data.label, address));
    }
    for id in job.specification.runs() {
        if let Ok(audit) = service.find::<Job>(scope, id).await {
            let address = format!("/runs/{id}");
            facts.push(Fact::linked("Learns from", audit.label, address));
        }
    }
    if let Some(audit) = job.specification.as_audit() {
        let protected = attributes_in_words(&audit.protected, audit.modality);
        facts.push(Fact::new("Protected", protected));
        facts.push(Fact::new("Seed", audit.seed.to_string()));
    }
    if let Some(people) = job.specification.people() {
        facts.extend(people_facts(&people));
    }
    if let Some(bound) = job.specification.fail_above() {
        facts.push(Fact::new("Largest acceptable share", words::bound(bound)));
    }
    facts.push(Fact::new("Asked for", moment(job.created)));
    if let Some(started) = job.started {
        facts.push(Fact::new("Started", moment(started)));
    }
    if let Some(ended) = job.ended {
        facts.push(Fact::new("Ended", moment(ended)));
        if let Ok(stored) = service.stored_as(job).await {
            facts.push(Fact::new("Takes", bytes(stored)));
        }
        if let Some(time) = kept(service, scope, job).await {
            facts.push(Fact::new("Kept until", moment(ended.after(time))));
        }
    }
    facts
}

/// The facts about a comparison of `people`.
fn people_facts(people: &Sources<'_>) -> Vec<Fact> {
    let protected = match people.protected {
        [] => "what the description of the data marks".to_owned(),
        named => list(named),
    };
    let mut facts = vec![Fact::new("Protected", protected)];
    if people.label {
        facts.push(Fact::new("Decisions", "the outcomes in the data"));
    }
    let favourable = people.favourable;
    facts.extend(favourable.map(|outcome| Fact::new("Good for the person", outcome)));
    facts
}

/// How long `job` is kept; `None` where it is kept for good, or for as long as the model that it
/// made.
async fn kept(service: &Service, scope: &Scope, job: &Job) -> Option<Duration> {
    if job.kind.makes_model() && job.state == JobState::Done {
        return None;
    }
    let seen = scope.clone();
    let project = service.store(move |store| store.seen_project(&seen)).await;
    let days = service.limits.kept_days(project.ok()??.quotas.kept_days)?;
    days_of(days).ok()
}
