//! The page of a project's webhook: the address at which the project hears that its jobs are at an
//! end.

use axum::extract::State;
use axum::http::StatusCode;

use super::answer::{Answer, page_with, redirect};
use super::form::Form;
use super::named::{Named, Path};
use super::projects::address;
use super::sent::SentForm;
use super::session::Visitor;
use super::views::{Fact, HookPage};
use super::words::moment;
use crate::identifier::Id;
use crate::operations::hooks as operations;
use crate::operations::hooks::HookRequest;
use crate::operations::projects::{manage, project};
use crate::service::Service;
use crate::store::{Caller, Hook};

fn facts(hook: &Hook) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("Address", &hook.url),
        Fact::new("Set", moment(hook.created)),
    ];
    facts.push(match &hook.last {
        Some(last) => Fact::new(
            "Last notification",
            format!("{}: it {}", moment(last.at), last.said),
        ),
        None => Fact::new("Last notification", "none was sent yet"),
    });
    facts
}

async fn draw(
    status: StatusCode,
    service: &Service,
    visitor: &Visitor<Caller>,
    id: &Id,
    form: &Form,
    secret: &str,
) -> Answer {
    let may = manage(service, visitor.caller(), id).await?;
    let view = project(service, visitor.caller(), id).await?;
    let hook = operations::hook(service, &may).await?;
    page_with(
        status,
        &HookPage {
            frame: &visitor.frame("project"),
            form,
            address: &address(id),
            project: &view.project.name,
            facts: &hook.as_ref().map_or(Vec::new(), facts),
            secret,
        },
    )
}

/// Shows the webhook, and the form that sets one.
pub(super) async fn show(Named(service, visitor, id): Named<Caller>) -> Answer {
    let form = Form::default();
    draw(StatusCode::OK, &service, &visitor, &id, &form, "").await
}

/// Sets the webhook, and shows its secret, only this once.
pub(super) async fn set(
    State(service): State<Service>,
    Path(id): Path,
    mut sent: SentForm<Caller>,
) -> Answer {
    let may = manage(&service, sent.visitor.caller(), &id).await?;
    let request = HookRequest {
        url: sent.form.value("url").to_owned(),
    };
    let (status, secret) = match operations::set_hook(&service, &may, &request).await {
        Ok(set) => {
            sent.form = Form::default();
            (StatusCode::CREATED, set.secret)
        }
        Err(problem) if problem.status().is_server_error() => return Err(problem.into()),
        Err(problem) => {
            sent.form.refuse("url", problem.detail);
            (StatusCode::UNPROCESSABLE_ENTITY, String::new())
        }
    };
    draw(status, &service, &sent.visitor, &id, &sent.form, &secret).await
}

/// Removes the webhook.
pub(super) async fn remove(
    State(service): State<Service>,
    Path(id): Path,
    sent: SentForm<Caller>,
) -> Answer {
    let may = manage(&service, sent.visitor.caller(), &id).await?;
    operations::remove_hook(&service, &may).await?;
    Ok(redirect(&format!("{}/webhook", address(&id))))
}
