//! The page of a project's tokens: who is in the project, and what they may do.

use axum::extract::State;
use axum::http::StatusCode;

use super::answer::{Answer, page_with, redirect};
use super::form::{Choice, Form};
use super::named::{Named, Path};
use super::projects::refuse;
use super::sent::SentForm;
use super::session::Visitor;
use super::views::{ListedToken, TokensPage};
use super::words::moment;
use crate::identifier::Id;
use crate::operations::projects as operations;
use crate::operations::projects::{TokenRequest, TokenView};
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Caller, Manage, Person, Role, TokenRecord};

/// A token as its page lists it.
fn listed(token: &TokenRecord) -> ListedToken {
    let (class, state) = match (token.revoked, token.expires) {
        (Some(revoked), _) => ("bad", format!("revoked {}", moment(revoked))),
        (None, Some(expires)) if token.is_valid() => ("good", format!("until {}", moment(expires))),
        (None, Some(expires)) => ("bad", format!("over since {}", moment(expires))),
        (None, None) => ("good", "until it is revoked".to_owned()),
    };
    ListedToken {
        id: token.id.to_string(),
        name: token.label.clone(),
        role: token.role.name(),
        made: moment(token.created),
        class,
        state,
        is_valid: token.is_valid(),
        is_person: token.person.is_some(),
    }
}

struct Drawn<'a> {
    status: StatusCode,
    form: &'a Form,
    /// The token that was just made.
    made: Option<&'a TokenView>,
}

/// The hint beside the name of a token, on its page.
const NAME: &str = "Of the person or program that gets it; the log names it.";

async fn draw(
    service: &Service,
    visitor: &Visitor<Caller>,
    id: &Id,
    manage: &Manage,
    drawn: Drawn<'_>,
) -> Answer {
    let project = operations::project(service, visitor.caller(), id).await?;
    let tokens = operations::tokens(service, manage).await?;
    let roles = [
        ("viewer", "Viewer: sees everything in the project"),
        (
            "editor",
            "Editor: uploads, starts jobs, deletes, shares reports",
        ),
        (
            "owner",
            "Owner: besides, gives and revokes tokens, reads the log",
        ),
    ];
    let provider = service.provider.as_ref();
    let provider = provider.map_or("", |provider| provider.host());
    let person_hint = format!(
        "The e-mail address of somebody who logs in by {provider}, or their identifier there. They need no token."
    );
    let name_hint = match provider.is_empty() {
        true => NAME.to_owned(),
        false => format!("For a token instead. {NAME}"),
    };
    let made = drawn.made;
    let person = made.and_then(|made| made.record.person.as_ref());
    page_with(
        drawn.status,
        &TokensPage {
            frame: &visitor.frame("project"),
            form: drawn.form,
            address: &format!("/projects/{id}"),
            project: &project.project.name,
            tokens: &tokens.iter().map(listed).collect::<Vec<_>>(),
            roles: &Choice::list(&roles),
            made: made
                .and_then(|made| made.token.as_deref())
                .unwrap_or_default(),
            let_in: person.map_or("", Person::as_str),
            provider,
            person_hint: &person_hint,
            name_hint: &name_hint,
        },
    )
}

/// Shows the tokens, and the form that makes one.
pub(super) async fn show(Named(service, visitor, id): Named<Caller>) -> Answer {
    let manage = operations::manage(&service, &visitor.may, &id).await?;
    let drawn = Drawn {
        status: StatusCode::OK,
        form: &Form::default().with("role", "viewer").with("days", "90"),
        made: None,
    };
    draw(&service, &visitor, &id, &manage, drawn).await
}

/// The request that the form makes; or notes errors in the form.
fn asked(form: &mut Form) -> Option<TokenRequest> {
    let days = form.number("days", "a whole number");
    let role = form.value("role").to_owned();
    let role = Role::IN_PROJECTS.into_iter().find(|one| one.name() == role);
    if role.is_none() {
        form.refuse("role", "Choose a role.");
    }
    let entered = |name: &str| form.filled(name).map(str::to_owned);
    let (name, person) = (entered("name"), entered("person"));
    let request = TokenRequest {
        // A form that names nobody asks for a token, whose name is then missing.
        name: name.or_else(|| person.is_none().then(String::new)),
        person,
        role: role?,
        days,
    };
    (!form.has_errors()).then_some(request)
}

/// Makes a token, and shows it, only this once.
pub(super) async fn make(
    State(service): State<Service>,
    Path(id): Path,
    mut sent: SentForm<Caller>,
) -> Answer {
    let manage = operations::manage(&service, &sent.visitor.may, &id).await?;
    if let Some(request) = asked(&mut sent.form) {
        match operations::make_token(&service, &manage, request).await {
            Ok(made) => {
                let drawn = Drawn {
                    status: StatusCode::CREATED,
                    form: &Form::default().with("role", "viewer").with("days", "90"),
                    made: Some(&made),
                };
                return draw(&service, &sent.visitor, &id, &manage, drawn).await;
            }
            Err(problem) => refuse(&mut sent.form, problem)?,
        }
    }
    let drawn = Drawn {
        status: StatusCode::UNPROCESSABLE_ENTITY,
        form: &sent.form,
        made: None,
    };
    draw(&service, &sent.visitor, &id, &manage, drawn).await
}

/// Revokes a token.
pub(super) async fn revoke(
    State(service): State<Service>,
    Path(id): Path,
    sent: SentForm<Caller>,
) -> Answer {
    let manage = operations::manage(&service, &sent.visitor.may, &id).await?;
    let token: Result<Id, _> = sent.form.value("token").parse();
    let token = token.map_err(|_| Problem::invalid("The form names no token."))?;
    operations::revoke_token(&service, &manage, &token).await?;
    // A visitor who revoked their own token is sent on to the log-in.
    Ok(redirect(&format!("/projects/{id}/tokens")))
}
