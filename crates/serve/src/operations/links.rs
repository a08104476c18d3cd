//! Links to a report for people without a token.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::projects::days;
use super::results;
use crate::download::{Document, ReportForm};
use crate::identifier::Id;
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::store::{Change, Job, Link, Record};

/// The path of the links, before their secret.
pub const SHARED: &str = "/shared";

/// A request to make a link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRequest {
    /// The number of days that the link is valid.
    #[schema(minimum = 1, maximum = 3650)]
    pub days: u32,
}

/// A link that was just made.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LinkView {
    /// The address of the link on this service; it is shown this once.
    pub path: String,
    /// The link as lists show it.
    #[serde(flatten)]
    pub link: Link,
}

/// Makes a link to the report of a job, and the report where it is missing.
/// Fails when there is no job, or nothing to report on.
pub async fn make_link(
    service: &Service,
    change: &Change,
    job: &Id,
    request: &LinkRequest,
) -> Result<LinkView, Problem> {
    service.find::<Job>(change, job).await?;
    let time = days(request.days)?;
    results::report(service, change, job, ReportForm::Html).await?;
    let (change, job) = (change.clone(), job.clone());
    let made = service
        .store(move |store| store.add_link(&change, &job, time))
        .await?;
    let (link, secret) = made.ok_or_else(|| Problem::missing(Job::NAME))?;
    Ok(LinkView {
        path: format!("{SHARED}/{secret}"),
        link,
    })
}

/// Returns the links to the report of a job, the newest first.
/// Fails when there is no such job.
pub async fn links(service: &Service, change: &Change, job: &Id) -> Result<Vec<Link>, Problem> {
    service.find::<Job>(change, job).await?;
    let (change, job) = (change.clone(), job.clone());
    service.store(move |store| store.links(&change, &job)).await
}

/// Revokes a link to the report of a job.
/// Fails when the job has no link with this identifier that is not revoked yet.
pub async fn revoke_link(
    service: &Service,
    change: &Change,
    job: &Id,
    link: &Id,
) -> Result<(), Problem> {
    let (change, job, link) = (change.clone(), job.clone(), link.clone());
    let is_revoked = service
        .store(move |store| store.revoke_link(&change, &job, &link))
        .await?;
    match is_revoked {
        true => Ok(()),
        false => Err(Problem::new(
            ProblemKind::NotFound,
            "The job has no valid link with this identifier.",
        )),
    }
}

/// Returns the report that the link with this secret leads to.
/// Fails when there is no such link, or it is not valid any more.
pub async fn shared_report(service: &Service, secret: &str) -> Result<Document, Problem> {
    let secret = secret.to_owned();
    let found = service.store(move |store| store.linked(&secret)).await?;
    let (scope, job) = found.ok_or_else(|| {
        Problem::new(
            ProblemKind::NotFound,
            "This link leads nowhere: it is over, was revoked, or what it led to was deleted.",
        )
    })?;
    results::report(service, &scope, &job, ReportForm::Html).await
}
