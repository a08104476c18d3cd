//! Projects, their tokens, and the log of who did what.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tokio_stream::{Stream, StreamExt};
use utoipa::ToSchema;

use super::names::name;
use crate::identifier::Id;
use crate::moment::Moment;
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::store::{
    Administer, Caller, Changed, Holder, LOG_HEAD, LogEntry, MadeToken, Manage, NewToken,
    Permission, Person, Project, Quotas, Role, Scope, TokenRecord, log_lines,
};

/// The greatest number of days that a token or a link may be valid.
const MOST_DAYS: u32 = 3650;

/// The number of entries of the log that are read at a time.
const ENTRIES: u32 = 500;

/// A request to make or change a project: its name and its quotas.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectRequest {
    /// The name of the project: no two have the same.
    pub name: String,
    /// The quotas of the project.
    #[serde(default)]
    pub quotas: Quotas,
}

/// A request for a token, or for an access of a person: one of `name` and `person` is needed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// The name of the token, such as that of the person who gets it.
    #[serde(default)]
    pub name: Option<String>,
    /// The person who gets access by logging in with the identity provider, without a token: their
    /// e-mail address, or the identifier that the provider has for them.
    #[serde(default)]
    pub person: Option<String>,
    /// The role, which says what the holder may do: `viewer`, `editor` or `owner`.
    pub role: Role,
    /// The number of days that the token is valid; left out: until it is revoked.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 3650)]
    pub days: Option<u32>,
}

/// A token that was just made.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TokenView {
    /// The token itself; it is shown this once. None for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The token as lists show it.
    #[serde(flatten)]
    pub record: TokenRecord,
}

impl From<MadeToken> for TokenView {
    fn from(made: MadeToken) -> TokenView {
        TokenView {
            token: made.text,
            record: made.record,
        }
    }
}

/// A project, and how much it stores.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProjectView {
    /// The project.
    #[serde(flatten)]
    pub project: Project,
    /// The bytes that the project stores; not for administrators, who see nothing in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_bytes: Option<u64>,
}

/// The duration of this many days.
/// Fails when the number is 0, or too large.
pub fn days(days: u32) -> Result<Duration, Problem> {
    match (1..=MOST_DAYS).contains(&days) {
        true => Ok(Duration::from_secs(u64::from(days) * 24 * 3600)),
        false => Err(Problem::invalid(format!(
            "The number of days is from 1 to {MOST_DAYS}."
        ))),
    }
}

/// Checks quotas, and returns them.
/// Fails when jobs would be kept for no day, or for too many.
fn quotas(quotas: Quotas) -> Result<Quotas, Problem> {
    quotas.kept_days.map(days).transpose()?;
    Ok(quotas)
}

fn no_project() -> Problem {
    Problem::missing("project")
}

fn changed<T>(changed: Changed<T>) -> Result<T, Problem> {
    match changed {
        Changed::Done(value) => Ok(value),
        Changed::Missing => Err(no_project()),
        Changed::NameTaken => Err(Problem::conflict("Another project has this name.")),
        Changed::Busy(job) => Err(Problem::conflict(format!(
            "The job {job} of the project is not at an end; let its members stop it first."
        ))),
    }
}

/// Returns the projects that `caller` has to do with: its own, or all for an administrator.
pub async fn projects(service: &Service, caller: &Caller) -> Result<Vec<Project>, Problem> {
    let caller = caller.clone();
    service.store(move |store| store.projects(&caller)).await
}

/// Returns the project `id`, and how much it stores.
/// Fails when `caller` has nothing to do with it.
pub async fn project(service: &Service, caller: &Caller, id: &Id) -> Result<ProjectView, Problem> {
    let own = projects(service, caller).await?;
    let found = own.into_iter().find(|project| project.id == *id);
    let project = found.ok_or_else(no_project)?;
    let used_bytes = match scope_of(caller) {
        Some(scope) => Some(service.stored_by(&scope).await?),
        None => None,
    };
    Ok(ProjectView {
        project,
        used_bytes,
    })
}

fn scope_of(caller: &Caller) -> Option<Scope> {
    Scope::grant(caller).ok()
}

/// Makes a project.
/// Fails when another project has this name.
pub async fn make_project(
    service: &Service,
    administer: &Administer,
    request: ProjectRequest,
) -> Result<Project, Problem> {
    let (administer, name) = (administer.clone(), name(&request.name)?);
    let quotas = quotas(request.quotas)?;
    let made = service
        .store(move |store| store.create_project(&administer, &name, quotas))
        .await?;
    changed(made)
}

/// Gives a project another name and other quotas.
/// Fails when there is no such project, or another one has the name.
pub async fn change_project(
    service: &Service,
    administer: &Administer,
    id: &Id,
    request: ProjectRequest,
) -> Result<Project, Problem> {
    let (administer, id, name) = (administer.clone(), id.clone(), name(&request.name)?);
    let quotas = quotas(request.quotas)?;
    let made = service
        .store(move |store| store.change_project(&administer, &id, &name, quotas))
        .await?;
    changed(made)
}

/// Deletes a project with everything in it.
/// Fails when there is no such project, or a job of it is not at an end.
pub async fn delete_project(
    service: &Service,
    administer: &Administer,
    id: &Id,
) -> Result<(), Problem> {
    let (administer, id) = (administer.clone(), id.clone());
    let removed = service
        .store(move |store| {
            let tokens = store.tokens_of(&administer.manages(&id))?;
            Ok((store.remove_project(&administer, &id)?, tokens))
        })
        .await?;
    let contents = changed(removed.0)?;
    service.saw_end_of(removed.1.into_iter().map(|token| token.id));
    service.discard(contents).await
}

/// Returns the permission of `caller` to manage the project `id`.
/// Fails when the role does not allow it, or there is no such project.
pub async fn manage(service: &Service, caller: &Caller, id: &Id) -> Result<Manage, Problem> {
    let manage = caller.manages(id)?;
    let found = manage.clone();
    match service
        .store(move |store| store.managed_project(&found))
        .await?
    {
        Some(_) => Ok(manage),
        None => Err(no_project()),
    }
}

/// Returns the tokens of a project, the oldest first.
pub async fn tokens(service: &Service, manage: &Manage) -> Result<Vec<TokenRecord>, Problem> {
    let manage = manage.clone();
    service.store(move |store| store.tokens_of(&manage)).await
}

/// Reads from a request who is to use a token.
/// Fails unless either a name or a person is given, or when no person can log in.
fn holder(service: &Service, request: &TokenRequest) -> Result<Holder, Problem> {
    let of_field = |field: &str, problem: Problem| Problem {
        field: Some(field.to_owned()),
        ..problem
    };
    match (&request.name, &request.person) {
        (Some(text), None) => Ok(Holder::Bearer(name(text)?)),
        (None, Some(_)) if service.provider.is_none() => Err(of_field(
            "person",
            Problem::invalid(
                "This service has no identity provider, so nobody could log in; make a token.",
            ),
        )),
        (None, Some(text)) => {
            let person = text.parse::<Person>();
            let person = person.map_err(|error| Problem::invalid(format!("Expected: {error}.")));
            Ok(Holder::Person(
                person.map_err(|problem| of_field("person", problem))?,
            ))
        }
        _ => Err(Problem::invalid(
            "Say either a name, for a token, or a person, who logs in without one.",
        )),
    }
}

/// Makes a token of a project, or gives a person access to it.
/// Fails when the request makes no sense.
pub async fn make_token(
    service: &Service,
    manage: &Manage,
    request: TokenRequest,
) -> Result<TokenView, Problem> {
    if !Role::IN_PROJECTS.contains(&request.role) {
        return Err(Problem::invalid(
            "The role of a token of a project is 'viewer', 'editor' or 'owner'.",
        ));
    }
    let time = request.days.map(days).transpose()?;
    let new = NewToken {
        holder: holder(service, &request)?,
        role: request.role,
        expires: time.map(|time| Moment::now().after(time)),
    };
    let manage = manage.clone();
    let made = service
        .store(move |store| store.create_token(&manage, &new))
        .await?;
    made.map(TokenView::from).ok_or_else(no_project)
}

/// Revokes a token of a project.
/// Fails when the project has no valid token with this identifier.
pub async fn revoke_token(service: &Service, manage: &Manage, token: &Id) -> Result<(), Problem> {
    let (manage, revoked) = (manage.clone(), token.clone());
    let is_revoked = service
        .store(move |store| store.revoke_token(&manage, &revoked))
        .await?;
    match is_revoked {
        true => {
            service.saw_end_of([token.clone()]);
            Ok(())
        }
        false => Err(Problem::new(
            ProblemKind::NotFound,
            "The project has no valid token with this identifier.",
        )),
    }
}

/// The log that is read.
#[derive(Debug, Clone)]
pub enum LogOf {
    /// The log of a project.
    Project(Manage),
    /// The whole log.
    Everything(Administer),
}

/// Returns the newest entries of a log before the entry `before`, the newest first.
pub async fn log(
    service: &Service,
    of: &LogOf,
    before: Option<i64>,
) -> Result<Vec<LogEntry>, Problem> {
    let (of, before) = (of.clone(), before.unwrap_or(i64::MAX));
    service
        .store(move |store| match of {
            LogOf::Project(manage) => store.log_of(&manage, before, ENTRIES),
            LogOf::Everything(administer) => store.whole_log(&administer, before, ENTRIES),
        })
        .await
}

/// Makes the answer that sends a log as a file of CSV, the newest entry first; no cell is a formula
/// to a spreadsheet.
pub fn log_file(service: Service, of: LogOf) -> Response {
    let parts = parts(service, of);
    let texts = tokio_stream::once(Ok(LOG_HEAD.to_owned())).chain(parts);
    let bytes = texts.map(|text: Result<String, std::io::Error>| text.map(Bytes::from));
    let name = "attachment; filename=\"log.csv\"";
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, name),
    ];
    (headers, Body::from_stream(bytes)).into_response()
}

/// The position of the reading of a log.
enum At {
    Before(Option<i64>),
    End,
}

fn parts(service: Service, of: LogOf) -> impl Stream<Item = Result<String, std::io::Error>> + Send {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        let mut at = At::Before(None);
        while let At::Before(before) = at {
            let part = log(&service, &of, before).await;
            let part = part.map_err(|problem| std::io::Error::other(problem.detail));
            at = match &part {
                Ok(entries) => entries
                    .last()
                    .map_or(At::End, |entry| At::Before(Some(entry.number))),
                Err(_) => At::End,
            };
            let text = part.and_then(|entries| log_lines(&entries));
            // Nobody reads the answer any more.
            if sender.send(text).await.is_err() {
                return;
            }
        }
    });
    tokio_stream::wrappers::ReceiverStream::new(receiver)
}
