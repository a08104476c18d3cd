//! The log of actions, as a page and as a file.

use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;

use super::answer::{Answer, page};
use super::named::Named;
use super::session::Visitor;
use super::views::{LogLine, LogPage};
use super::words::moment;
use crate::identifier::Id;
use crate::operations::projects as operations;
use crate::operations::projects::LogOf;
use crate::service::Service;
use crate::store::{Administer, Caller, LogEntry};

/// The query of a page of the log: the list goes on after the entry with this number.
#[derive(Deserialize)]
pub(super) struct Before {
    before: Option<i64>,
}

fn line(entry: &LogEntry) -> LogLine {
    let id = |id: &Option<Id>| id.as_ref().map_or(String::new(), Id::to_string);
    LogLine {
        at: moment(entry.at),
        name: match entry.name.is_empty() {
            true => id(&entry.token),
            false => entry.name.clone(),
        },
        action: entry.action.words(),
        project: id(&entry.project),
        subject: id(&entry.subject),
    }
}

async fn draw<P>(
    service: &Service,
    visitor: &Visitor<P>,
    of: LogOf,
    address: &str,
    before: Option<i64>,
) -> Answer {
    let entries = operations::log(service, &of, before).await?;
    let last = entries.last().map(|entry| entry.number);
    let older = match last {
        Some(last) if last > 1 => format!("{address}?before={last}"),
        _ => String::new(),
    };
    page(&LogPage {
        frame: &visitor.frame("log"),
        lines: &entries.iter().map(line).collect::<Vec<_>>(),
        file: &format!("{address}.csv"),
        older: &older,
        of_all: matches!(of, LogOf::Everything(_)),
    })
}

/// Shows the log of a project.
pub(super) async fn of_project(
    Named(service, visitor, id): Named<Caller>,
    Query(Before { before }): Query<Before>,
) -> Answer {
    let manage = operations::manage(&service, &visitor.may, &id).await?;
    let address = format!("/projects/{id}/log");
    draw(&service, &visitor, LogOf::Project(manage), &address, before).await
}

/// Sends the log of a project as a file.
pub(super) async fn file_of_project(
    Named(service, visitor, id): Named<Caller>,
) -> Result<Response, Response> {
    let manage = operations::manage(&service, &visitor.may, &id).await?;
    Ok(operations::log_file(service, LogOf::Project(manage)))
}

/// Shows the whole log.
pub(super) async fn whole(
    State(service): State<Service>,
    visitor: Visitor<Administer>,
    Query(Before { before }): Query<Before>,
) -> Answer {
    let of = LogOf::Everything(visitor.may.clone());
    draw(&service, &visitor, of, "/log", before).await
}

/// Sends the whole log as a file.
pub(super) async fn whole_file(
    State(service): State<Service>,
    visitor: Visitor<Administer>,
) -> Response {
    operations::log_file(service, LogOf::Everything(visitor.may))
}
