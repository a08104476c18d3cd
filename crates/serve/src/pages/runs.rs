//! The pages of what a job found: the result, the report, the files.

use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;

use super::answer::{Answer, page, redirect};
use super::asked;
use super::figures::{
    caveat, has_saved, of_audit, of_people, of_repair, people_verdict, repair_caveat,
    repair_verdict, verdict,
};
use super::named::Named;
use super::views::{Fact, Link, RunPage};
use crate::download::{Document, ReportForm};
use crate::jobs::specification::JobKind;
use crate::operations::results::{self, AuditFigures};
use crate::problem::Problem;
use crate::store::{Job, JobState};
use probity_report::content_security;

/// Shows the result.
pub(super) async fn show(Named(service, visitor, id): Named) -> Answer {
    let job: Job = service.find(&visitor.may, &id).await?;
    match (job.kind, job.state) {
        (JobKind::Train, JobState::Done) => return Ok(redirect(&format!("/models/{id}"))),
        (_, JobState::Done) | (JobKind::Audit, JobState::Stopped) => {}
        _ => return Ok(redirect(&format!("/jobs/{id}"))),
    }
    let summary = results::summary(&service, &visitor.may, &id).await?;
    let compared = results::compare(&service, &visitor.may, std::slice::from_ref(&id)).await?;
    let compared = compared.jobs.into_iter().next();
    let found = compared.map(|job| (job.audit, job.people, job.outcome));
    let (audit, people, outcome) = found.unwrap_or_default();
    let (outcome, modality) = (outcome.as_ref(), job.specification.modality());
    let mut facts = asked::facts(&service, &visitor.may, &job).await;
    let (class, verdict, caveat, figures) = match (&audit, &people) {
        (Some(audit), _) => {
            let (class, text) = verdict(audit, outcome, modality);
            facts.insert(0, Fact::new("Way of searching", &audit.strategy));
            (
                class,
                said_first(audit, outcome.is_some(), text),
                caveat(audit, outcome),
                of_audit(audit, modality),
            )
        }
        (None, Some(people)) => {
            let (class, said) = people_verdict(people, outcome);
            (class, said, String::new(), of_people(people))
        }
        (None, None) => {
            let (class, text) = repair_verdict(outcome);
            if has_saved(&summary) {
                facts.insert(
                    0,
                    Fact::linked("Repaired model", &job.label, format!("/models/{id}")),
                );
            }
            (
                class,
                vec![text],
                repair_caveat(&summary),
                of_repair(&summary),
            )
        }
    };
    page(&RunPage {
        frame: &visitor.frame(""),
        id: id.as_str(),
        kind: job.kind.title(),
        heading: &job.label,
        verdict_class: class,
        verdict: &verdict,
        caveat: &caveat,
        figures: &figures,
        downloads: &downloads(&job),
        can_repair: audit.is_some() && job.state == JobState::Done,
        has_history: audit.is_some() && job.state == JobState::Done,
        repaired: match job.kind {
            JobKind::Repair if has_saved(&summary) => format!("/models/{id}"),
            _ => String::new(),
        },
        facts: &facts,
    })
}

/// What is said first of an audit: whether a declared bound holds, and who is disadvantaged, before
/// how many decisions change.
fn said_first(audit: &AuditFigures, is_declared: bool, verdict: String) -> Vec<String> {
    let place = if is_declared {
        0
    } else {
        audit.disadvantaged.len()
    };
    let mut said = audit.disadvantaged.clone();
    said.insert(place, verdict);
    said
}

/// The files that can be kept of what `job` found.
fn downloads(job: &Job) -> Vec<Link> {
    let asked = &job.specification;
    let listed = match job.kind {
        JobKind::Audit => "All pairs that were found",
        _ => "All people who were compared",
    };
    let files = [
        ("samples", listed, asked.listing().is_some()),
        ("report.md", "Report (Markdown)", true),
        ("report.json", "Report (JSON)", true),
        ("report.annex.html", "Annex for the AI Act", true),
        // It has no place for people.
        (
            "report.cdx.json",
            "Bill of materials (CycloneDX)",
            asked.people().is_none(),
        ),
        ("summary.json", "Summary (JSON)", true),
    ];
    let files = files.into_iter().filter(|(_, _, is_there)| *is_there);
    let link = |(file, text, _): (&str, &str, bool)| Link {
        address: format!("/runs/{}/{file}", job.id),
        text: text.to_owned(),
    };
    files.map(link).collect()
}

/// Shows the report: one page that loads nothing.
pub(super) async fn report(Named(service, visitor, id): Named) -> Answer {
    let document = results::report(&service, &visitor.may, &id, ReportForm::Html).await?;
    shown(document)
}

/// Makes the answer with a report, with a content-security policy by the hashes of its own parts.
pub(super) fn shown(document: Document) -> Answer {
    let sources = content_security();
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
        sources.style, sources.script
    );
    let policy = HeaderValue::try_from(policy).map_err(Problem::from)?;
    Ok(([(header::CONTENT_SECURITY_POLICY, policy)], document).into_response())
}

/// Sends the report as Markdown.
pub(super) async fn markdown(Named(service, visitor, id): Named) -> Answer {
    let document = results::report(&service, &visitor.may, &id, ReportForm::Markdown).await?;
    Ok(document.attached()?)
}

/// Sends the report as JSON.
pub(super) async fn json(Named(service, visitor, id): Named) -> Answer {
    let document = results::report(&service, &visitor.may, &id, ReportForm::Json).await?;
    Ok(document.attached()?)
}

/// Shows the annex for the AI Act.
pub(super) async fn annex(Named(service, visitor, id): Named) -> Answer {
    let document = results::report(&service, &visitor.may, &id, ReportForm::AiAct).await?;
    Ok(document.attached()?)
}

/// Sends the model as a bill of materials.
pub(super) async fn bill(Named(service, visitor, id): Named) -> Answer {
    let document = results::report(&service, &visitor.may, &id, ReportForm::Cyclonedx).await?;
    Ok(document.attached()?)
}

/// Sends the summary, as the command line writes it.
pub(super) async fn summary(Named(service, visitor, id): Named) -> Answer {
    let job: Job = service.find(&visitor.may, &id).await?;
    let summary = results::summary(&service, &visitor.may, &id).await?;
    let document = Document {
        media_type: "application/json",
        text: serde_json::to_string_pretty(&summary).map_err(Problem::from)?,
        name: results::file_name("summary", &job, "json"),
    };
    Ok(document.attached()?)
}

/// Sends the file that lists all that was found.
pub(super) async fn samples(Named(service, visitor, id): Named) -> Answer {
    let file = results::samples(&service, &visitor.may, &id).await?;
    Ok(file.send().await?)
}
