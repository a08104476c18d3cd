//! The pages of the results of an audit or a repair: the result, the report, the files.

use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;

use super::answer::{Answer, page, redirect};
use super::asked;
use super::figures::{
    caveat, has_saved, of_audit, of_repair, repair_caveat, repair_verdict, verdict,
};
use super::named::Named;
use super::views::{Fact, Link, RunPage};
use super::words::kind;
use crate::download::{Document, ReportForm};
use crate::identifier::Id;
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
        (JobKind::Audit, JobState::Done | JobState::Stopped)
        | (JobKind::Repair, JobState::Done) => {}
        _ => return Ok(redirect(&format!("/jobs/{id}"))),
    }
    let summary = results::summary(&service, &visitor.may, &id).await?;
    let compared = results::compare(&service, &visitor.may, std::slice::from_ref(&id)).await?;
    let compared = compared.jobs.into_iter().next();
    let (audit, outcome) = compared.map_or((None, None), |job| (job.audit, job.outcome));
    let (outcome, modality) = (outcome.as_ref(), job.specification.modality());
    let mut facts = asked::facts(&service, &visitor.may, &job).await;
    let (class, verdict, caveat, figures) = match &audit {
        Some(audit) => {
            let (class, text) = verdict(audit, outcome, modality);
            facts.insert(0, Fact::new("Way of searching", &audit.strategy));
            (
                class,
                said_first(audit, outcome.is_some(), text),
                caveat(audit, outcome),
                of_audit(audit, modality),
            )
        }
        None => {
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
        kind: kind(job.kind),
        heading: &job.label,
        verdict_class: class,
        verdict: &verdict,
        caveat: &caveat,
        figures: &figures,
        downloads: &downloads(&id, audit.is_some()),
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

fn downloads(id: &Id, has_samples: bool) -> Vec<Link> {
    let link = |file: &str, text: &str| Link {
        address: format!("/runs/{id}/{file}"),
        text: text.to_owned(),
    };
    let samples = has_samples.then(|| link("samples", "All pairs that were found"));
    let others = [
        link("report.md", "Report (Markdown)"),
        link("report.json", "Report (JSON)"),
        link("report.annex.html", "Annex for the AI Act"),
        link("report.cdx.json", "Bill of materials (CycloneDX)"),
        link("summary.json", "Summary (JSON)"),
    ];
    samples.into_iter().chain(others).collect()
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

/// Sends the file of samples.
pub(super) async fn samples(Named(service, visitor, id): Named) -> Answer {
    let file = results::samples(&service, &visitor.may, &id).await?;
    Ok(file.send().await?)
}
