//! Repair a model with what an audit found.

use axum::extract::State;
use axum::http::StatusCode;

use super::answer::{Answer, note, page_with, redirect};
use super::form::{Field, Form};
use super::named::Named;
use super::options::{names, number};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::RepairPage;
use crate::Service;
use crate::identifier::Id;
use crate::jobs::request::{JobRequest, RepairTable, RepairTexts};
use crate::operations::{jobs, models};
use crate::problem::Problem;
use crate::store::{Job, JobState, Model};

/// An audit, and the model that it is of.
struct Subject {
    audit: Job,
    model: Model,
}

/// The form.
pub(super) async fn show(
    State(service): State<Service>,
    visitor: Visitor,
    Named(id): Named,
) -> Answer {
    let subject = Subject::of(&service, &id).await?;
    let name = format!("{}, repaired", subject.model.label);
    let form = Form::default()
        .with("label", name)
        .with("max_accuracy_loss", "1")
        .with("share", "1")
        .with("repeats", "5")
        .with("seed", "1");
    draw(StatusCode::OK, &visitor, &subject, &form)
}

/// Starts the repair.
pub(super) async fn start(
    State(service): State<Service>,
    Named(id): Named,
    sent: SentForm,
) -> Answer {
    let subject = Subject::of(&service, &id).await?;
    let mut form = sent.form;
    let request = subject.request(&mut form);
    if !form.has_errors() {
        let label = form
            .filled("label")
            .unwrap_or(&subject.model.label)
            .to_owned();
        match jobs::start_job(&service, sent.visitor.caller(), &label, request).await {
            Ok(view) => return Ok(redirect(&format!("/jobs/{}", view.job.id))),
            Err(problem) => note(&mut form, problem)?,
        }
    }
    draw(
        StatusCode::UNPROCESSABLE_ENTITY,
        &sent.visitor,
        &subject,
        &form,
    )
}

impl Subject {
    async fn of(service: &Service, id: &Id) -> Result<Subject, Problem> {
        let audit = jobs::job(service, id).await?.job;
        let is_audit = matches!(
            audit.request,
            JobRequest::AuditTable(_) | JobRequest::AuditTexts(_)
        );
        let model = match audit.request.model() {
            Some(model) if is_audit && audit.state == JobState::Done => {
                models::model(service, model).await?
            }
            _ => {
                return Err(Problem::conflict(
                    "A model is repaired with what an audit found, once the audit is done.",
                ));
            }
        };
        Ok(Subject { audit, model })
    }

    /// What the form asks for. The model learns anew from the data that it learnt from.
    fn request(&self, form: &mut Form) -> JobRequest {
        let whole = "a whole number";
        let audited = self.audit.request.data();
        let data = self.model.data.as_ref().unwrap_or(audited).clone();
        let model = self.model.id.clone();
        let share = form.percentage("share");
        let repeats = form.number("repeats", whole).unwrap_or(5);
        let max_accuracy_loss = form.percentage("max_accuracy_loss");
        let seed = form.number("seed", whole).unwrap_or(1);
        match &self.audit.request {
            JobRequest::AuditTexts(audit) => JobRequest::RepairTexts(RepairTexts {
                model,
                data,
                protected: audit.protected.clone(),
                method: Default::default(),
                share,
                repeats,
                seeds: audit.search.seeds,
                local: audit.search.local,
                max_accuracy_loss,
                seed,
            }),
            _ => JobRequest::RepairTable(RepairTable {
                model,
                data,
                audits: vec![self.audit.id.clone()],
                method: Default::default(),
                share,
                repeats,
                label_rule: Default::default(),
                max_accuracy_loss,
                estimate: 10_000,
                seed,
            }),
        }
    }
}

fn fields() -> Vec<Field> {
    vec![
        number(
            "share",
            "Found individuals to learn from, in percent",
            "More of them repair more, and may cost accuracy.",
        ),
        number(
            "repeats",
            "Models to train",
            "The fairest that is accurate enough is kept.",
        ),
        number("seed", "Seed", "The same seed gives the same model."),
    ]
}

fn draw(status: StatusCode, visitor: &Visitor, subject: &Subject, form: &Form) -> Answer {
    let fields = fields();
    page_with(
        status,
        &RepairPage {
            frame: &visitor.frame(""),
            form,
            id: subject.audit.id.as_str(),
            label: &subject.audit.label,
            advanced: &names(&fields),
            fields: &fields,
        },
    )
}
