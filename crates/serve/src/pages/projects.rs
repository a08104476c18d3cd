//! Projects: a list for administrators, and a page of each for all who are in it.

use axum::extract::State;
use axum::http::StatusCode;

use super::answer::{Answer, page, page_with, redirect};
use super::form::Form;
use super::named::{Named, Path};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::{
    DeletePage, Fact, ProjectPage, ProjectSettingsPage, ProjectsPage, State as Mark, Thing,
};
use super::words::{bytes, count, counted, moment};
use crate::identifier::Id;
use crate::operations::projects as operations;
use crate::operations::projects::ProjectRequest;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Administer, Caller, Project, Quotas};

/// The address of the list of all projects.
pub(super) const PROJECTS: &str = "/projects";

pub(super) fn address(id: &Id) -> String {
    format!("{PROJECTS}/{id}")
}

fn thing(project: &Project) -> Thing {
    Thing {
        id: project.id.to_string(),
        address: address(&project.id),
        title: project.name.clone(),
        detail: format!("made {}", moment(project.created)),
        state: Mark::default(),
        can_be_picked: false,
        links: Vec::new(),
    }
}

async fn draw_list(
    status: StatusCode,
    service: &Service,
    visitor: &Visitor<Administer>,
    form: &Form,
) -> Answer {
    let projects = operations::projects(service, visitor.caller()).await?;
    page_with(
        status,
        &ProjectsPage {
            frame: &visitor.frame("projects"),
            form,
            projects: &projects.iter().map(thing).collect::<Vec<_>>(),
        },
    )
}

/// Shows all projects, and the form that makes one.
pub(super) async fn list(State(service): State<Service>, visitor: Visitor<Administer>) -> Answer {
    draw_list(StatusCode::OK, &service, &visitor, &Form::default()).await
}

/// Makes a project.
pub(super) async fn make(State(service): State<Service>, mut sent: SentForm<Administer>) -> Answer {
    if let Some(request) = asked(&mut sent.form) {
        match operations::make_project(&service, &sent.visitor.may, request).await {
            Ok(project) => return Ok(redirect(&address(&project.id))),
            Err(problem) => refuse(&mut sent.form, problem)?,
        }
    }
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    draw_list(status, &service, &sent.visitor, &sent.form).await
}

/// Records a problem that the user can do something about in the form that comes back.
pub(super) fn refuse(form: &mut Form, problem: Problem) -> Result<(), Problem> {
    match problem.status() {
        StatusCode::UNPROCESSABLE_ENTITY | StatusCode::CONFLICT => {
            let field = problem.field.unwrap_or_else(|| "name".to_owned());
            form.refuse(field, problem.detail);
            Ok(())
        }
        _ => Err(problem),
    }
}

/// The settings that the form of a project asks for; or notes errors in the form.
fn asked(form: &mut Form) -> Option<ProjectRequest> {
    let expected = "a whole number";
    let mebibytes: Option<u64> = form.number("stored_mebibytes", expected);
    let quotas = Quotas {
        stored_bytes: mebibytes.map(|number| number.saturating_mul(1 << 20)),
        jobs: form.number("jobs", expected),
        queue: form.number("queue", expected),
        kept_days: form.number("kept_days", expected),
    };
    if quotas.stored_bytes.is_some_and(|bytes| bytes > MOST_BYTES) {
        form.refuse("stored_mebibytes", "This is more than any disk has.");
    }
    if let Some(Err(problem)) = quotas.kept_days.map(operations::days) {
        form.refuse("kept_days", problem.detail);
    }
    let name = form.value("name").to_owned();
    (!form.has_errors()).then_some(ProjectRequest { name, quotas })
}

/// The largest quota in bytes: 1 PiB.
const MOST_BYTES: u64 = 1 << 50;

/// Shows a project.
pub(super) async fn show(Named(service, visitor, id): Named<Caller>) -> Answer {
    let view = operations::project(&service, &visitor.may, &id).await?;
    let quotas = view.project.quotas;
    let limit = |quota: Option<u32>| match quota {
        Some(most) => count(most.into()),
        None => "as the service allows".to_owned(),
    };
    let mut facts = vec![
        Fact::new("Identifier", id.as_str()),
        Fact::new("Made", moment(view.project.created)),
    ];
    if let Some(used) = view.used_bytes {
        facts.push(Fact::new("Stores", bytes(used)));
        facts.push(Fact::new("Your role", visitor.caller().role().name()));
    }
    let stored = quotas.stored_bytes.map(bytes);
    let stored = stored.unwrap_or_else(|| bytes(service.limits.stored_bytes_per_project));
    facts.push(Fact::new("May store", stored));
    facts.push(Fact::new("Jobs at the same time", limit(quotas.jobs)));
    facts.push(Fact::new("Jobs that wait", limit(quotas.queue)));
    let kept = match service.limits.kept_days(quotas.kept_days) {
        Some(days) => format!(
            "{} after their end; trainings and repairs as long as their models",
            counted(days.into(), "day", "days")
        ),
        None => "until somebody deletes them".to_owned(),
    };
    facts.push(Fact::new("Jobs are kept", kept));
    page(&ProjectPage {
        frame: &visitor.frame("project"),
        address: &address(&id),
        name: &view.project.name,
        facts: &facts,
    })
}

fn draw_settings(
    status: StatusCode,
    visitor: &Visitor<Administer>,
    id: &Id,
    form: &Form,
) -> Answer {
    page_with(
        status,
        &ProjectSettingsPage {
            frame: &visitor.frame("projects"),
            address: &address(id),
            form,
        },
    )
}

/// Shows the form of a project's settings.
pub(super) async fn show_settings(Named(service, visitor, id): Named<Administer>) -> Answer {
    let view = operations::project(&service, visitor.caller(), &id).await?;
    let quotas = view.project.quotas;
    let number = |quota: Option<u32>| quota.map_or(String::new(), |most| most.to_string());
    let stored = quotas.stored_bytes.map(|bytes| (bytes >> 20).to_string());
    let form = Form::default()
        .with("name", view.project.name)
        .with("stored_mebibytes", stored.unwrap_or_default())
        .with("jobs", number(quotas.jobs))
        .with("queue", number(quotas.queue))
        .with("kept_days", number(quotas.kept_days));
    draw_settings(StatusCode::OK, &visitor, &id, &form)
}

/// Changes a project's settings.
pub(super) async fn change(
    State(service): State<Service>,
    Path(id): Path,
    mut sent: SentForm<Administer>,
) -> Answer {
    operations::project(&service, sent.visitor.caller(), &id).await?;
    if let Some(request) = asked(&mut sent.form) {
        match operations::change_project(&service, &sent.visitor.may, &id, request).await {
            Ok(_) => return Ok(redirect(&address(&id))),
            Err(problem) => refuse(&mut sent.form, problem)?,
        }
    }
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    draw_settings(status, &sent.visitor, &id, &sent.form)
}

/// Asks whether a project shall be deleted.
pub(super) async fn ask(Named(service, visitor, id): Named<Administer>) -> Answer {
    let view = operations::project(&service, visitor.caller(), &id).await?;
    let at = address(&id);
    page(&DeletePage {
        frame: &visitor.frame("projects"),
        label: &view.project.name,
        consequence: "Its data, models, jobs, reports and tokens are deleted; the log stays.",
        action: &format!("{at}/delete"),
        back: &at,
    })
}

/// Deletes a project.
pub(super) async fn delete(
    State(service): State<Service>,
    Path(id): Path,
    sent: SentForm<Administer>,
) -> Answer {
    operations::delete_project(&service, &sent.visitor.may, &id).await?;
    Ok(redirect(PROJECTS))
}
