//! The overview: all things, the newest first, with what was found, and with who brought them.

use axum::extract::{Query, State};

use super::answer::{Answer, page, redirect};
use super::form::Form;
use super::lines::{self, Filter, Owners, line};
use super::projects::PROJECTS;
use super::session::Visitor;
use super::things;
use super::views::{HomePage, JobLine, Thing};
use super::words::bytes;
use crate::identifier::Id;
use crate::operations::{jobs, results};
use crate::problem::Problem;
use crate::service::{LISTED, Service};
use crate::store::{Caller, DataSet, Job, JobState, Model, Permission, Record, Scope, WhichJobs};

/// The number of things of a kind on a page.
const ON_A_PAGE: u32 = 25;

/// A part of a list, and the address of the page with the next part; empty where there is none.
/// `name` is the field of the query with the thing after which the list goes on.
async fn part<T: Record>(
    service: &Service,
    scope: &Scope,
    filter: &Filter,
    which: T::Which,
    name: &str,
) -> Result<(Vec<T>, String), Problem> {
    let before: Option<Id> = filter.form.value(name).parse().ok();
    let mut things: Vec<T> = service.list(scope, which, before, ON_A_PAGE + 1).await?;
    let has_more = things.len() > ON_A_PAGE as usize;
    things.truncate(ON_A_PAGE as usize);
    let next = match things.last() {
        Some(last) if has_more => filter.after(name, last.id()),
        _ => String::new(),
    };
    Ok((things, next))
}

/// Shows the overview.
pub(super) async fn show(
    State(service): State<Service>,
    visitor: Visitor<Caller>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Answer {
    let Ok(scope) = Scope::grant(visitor.caller()) else {
        // An administrator belongs to no project.
        return Ok(redirect(PROJECTS));
    };
    let (service, scope) = (&service, &scope);
    let frame = &visitor.frame("home");
    let filter = Filter::from_form(Form::sent(pairs));
    let seen = scope.clone();
    let owners = service.store(move |store| store.owners(&seen)).await?;
    let people = lines::people(&owners);
    let owners = &Owners::new(owners);
    let of = |states: &[JobState]| WhichJobs {
        states: states.to_vec(),
        ..filter.jobs.clone()
    };
    // Jobs that are not at an end come first, unless one state is asked for.
    let (active, ended) = match filter.jobs.states.is_empty() {
        true => {
            let active = of(&JobState::UNFINISHED);
            let active: Vec<Job> = service.list(scope, active, None, LISTED).await?;
            (active, of(&JobState::FINAL))
        }
        false => (Vec::new(), filter.jobs.clone()),
    };
    let active = jobs::views(service, active);
    let (runs, older_runs) = part::<Job>(service, scope, &filter, ended, "jobs").await?;
    let runs = lines(service, scope, runs, owners).await?;
    let (mut models, mut older_models) = (Vec::new(), String::new());
    let (mut data, mut older_data) = (Vec::new(), String::new());
    if !filter.is_of_jobs() {
        let found: Vec<Model>;
        (found, older_models) =
            part(service, scope, &filter, filter.which.clone(), "models").await?;
        for model in &found {
            let thing = things::of_model(model, frame);
            models.push(told(service, model, thing, owners).await?);
        }
        let found: Vec<DataSet>;
        (found, older_data) = part(service, scope, &filter, filter.which.clone(), "data").await?;
        for data_set in &found {
            let thing = things::of_data(data_set, frame);
            data.push(told(service, data_set, thing, owners).await?);
        }
    }
    let all_models: Vec<Model> = service.newest(scope).await?;
    page(&HomePage {
        frame,
        form: &filter.form,
        is_filtered: filter.is_set(),
        is_first: !["jobs", "models", "data"]
            .iter()
            .any(|name| filter.form.filled(name).is_some()),
        kinds: &lines::kinds(),
        states: &lines::states(),
        people: &people,
        all_models: &lines::models(&all_models),
        active: &active
            .iter()
            .map(|view| things::of_job(view, Default::default()))
            .collect::<Vec<_>>(),
        can_compare: runs.iter().filter(|run| run.can_be_picked).count() > 1,
        runs: &runs,
        models: &models,
        data: &data,
        older_runs: &older_runs,
        older_models: &older_models,
        older_data: &older_data,
    })
}

/// Jobs as lines of a table.
async fn lines(
    service: &Service,
    scope: &Scope,
    found: Vec<Job>,
    owners: &Owners,
) -> Result<Vec<JobLine>, Problem> {
    let mut shown = Vec::with_capacity(found.len());
    for view in jobs::views(service, found) {
        let stored = service.stored_as(&view.job).await?;
        let compared = results::compared(service, scope, view).await?;
        shown.push(line(&compared, stored, owners));
    }
    Ok(shown)
}

/// A model or a data set as a line of a list, with who brought it and the room that it takes.
async fn told<T: Record>(
    service: &Service,
    about: &T,
    thing: Thing,
    owners: &Owners,
) -> Result<Thing, Problem> {
    let stored = bytes(service.stored_as(about).await?);
    let detail = format!(
        "{} · {} · {stored}",
        thing.detail,
        owners.name(about.owner())
    );
    Ok(Thing { detail, ..thing })
}
