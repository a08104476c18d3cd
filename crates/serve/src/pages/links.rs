//! The pages of the links to a report for people without a token: the links of a run, and the
//! report that a link leads to.

use axum::extract::{Path as Segment, State};
use axum::http::{HeaderName, StatusCode};
use axum::response::IntoResponse;

use super::answer::{Answer, page_with, redirect};
use super::form::Form;
use super::named::{Named, Path};
use super::runs;
use super::sent::SentForm;
use super::session::Visitor;
use super::views::{LinksPage, ListedLink};
use super::words::moment;
use crate::identifier::Id;
use crate::moment::Moment;
use crate::operations::links as operations;
use crate::operations::links::LinkRequest;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Change, Job, Link};

/// The name of the header that tells search engines to leave a page alone.
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

fn listed(link: &Link) -> ListedLink {
    let is_valid = link.revoked.is_none() && link.expires > Moment::now();
    ListedLink {
        id: link.id.to_string(),
        made: moment(link.created),
        state: match link.revoked {
            Some(revoked) => format!("revoked {}", moment(revoked)),
            None if is_valid => format!("until {}", moment(link.expires)),
            None => format!("over since {}", moment(link.expires)),
        },
        class: match is_valid {
            true => "good",
            false => "bad",
        },
        is_valid,
    }
}

async fn draw(
    status: StatusCode,
    service: &Service,
    visitor: &Visitor<Change>,
    id: &Id,
    form: &Form,
    made: &str,
) -> Answer {
    let job: Job = service.find(&visitor.may, id).await?;
    let links = operations::links(service, &visitor.may, id).await?;
    page_with(
        status,
        &LinksPage {
            frame: &visitor.frame(""),
            form,
            id: id.as_str(),
            label: &job.label,
            links: &links.iter().map(listed).collect::<Vec<_>>(),
            made,
        },
    )
}

fn first() -> Form {
    Form::default().with("days", "30")
}

/// Shows the links of a run, and the form that makes one.
pub(super) async fn show(Named(service, visitor, id): Named<Change>) -> Answer {
    draw(StatusCode::OK, &service, &visitor, &id, &first(), "").await
}

/// Makes a link, and shows its address, only this once.
pub(super) async fn make(
    State(service): State<Service>,
    Path(id): Path,
    mut sent: SentForm,
) -> Answer {
    service.find::<Job>(&sent.visitor.may, &id).await?;
    let days = sent.form.number("days", "a whole number");
    if let Some(days) = days {
        let request = LinkRequest { days };
        match operations::make_link(&service, &sent.visitor.may, &id, &request).await {
            Ok(made) => {
                let status = StatusCode::CREATED;
                return draw(status, &service, &sent.visitor, &id, &first(), &made.path).await;
            }
            Err(problem) if problem.status().is_server_error() => return Err(problem.into()),
            Err(problem) => sent.form.refuse("days", problem.detail),
        }
    } else if !sent.form.has_errors() {
        sent.form.refuse("days", "Say for how many days.");
    }
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    draw(status, &service, &sent.visitor, &id, &sent.form, "").await
}

/// Revokes a link.
pub(super) async fn revoke(
    State(service): State<Service>,
    Path(id): Path,
    sent: SentForm,
) -> Answer {
    service.find::<Job>(&sent.visitor.may, &id).await?;
    let link: Result<Id, _> = sent.form.value("link").parse();
    let link = link.map_err(|_| Problem::invalid("The form names no link."))?;
    operations::revoke_link(&service, &sent.visitor.may, &id, &link).await?;
    Ok(redirect(&format!("/runs/{id}/links")))
}

/// Shows the report that a link leads to; everybody who has its address may read it.
pub(super) async fn shared(
    State(service): State<Service>,
    Segment(secret): Segment<String>,
) -> Answer {
    let document = operations::shared_report(&service, &secret).await?;
    let response = runs::shown(document)?;
    Ok(([(ROBOTS, "noindex, nofollow")], response).into_response())
}
