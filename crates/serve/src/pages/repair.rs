//! Repair a model with what an audit found.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use super::answer::{Answer, note, page_with, redirect};
use super::form::Form;
use super::named::Named;
use super::options::{Options, insert, names, specified};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::RepairPage;
use crate::Service;
use crate::identifier::Id;
use crate::jobs::specification::JobSpecification;
use crate::operations::{jobs, models};
use crate::problem::Problem;
use crate::store::{Job, JobKind, JobState, Model};
use probity_nn::modality::ModalityName;

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
    let mut form = Form::default().with("label", name);
    let (first, advanced) = options();
    first.fill(&mut form);
    advanced.fill(&mut form);
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
    if let Some(asked) = subject.specification(&mut form) {
        let label = form
            .filled("label")
            .unwrap_or(&subject.model.label)
            .to_owned();
        match jobs::start_job(&service, sent.visitor.caller(), &label, asked).await {
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
        let model = match audit.specification.model() {
            Some(model) if audit.kind == JobKind::Audit && audit.state == JobState::Done => {
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

    /// What the form asks for, or errors in the form. The model learns anew from the data that it learnt from.
    fn specification(&self, form: &mut Form) -> Option<JobSpecification> {
        let audit = &self.audit.specification;
        let mut asked = json!({
            "kind": JobKind::Repair, "modality": audit.modality(), "model": self.model.id,
            "data": self.model.data.as_ref().unwrap_or(audit.data()), "runs": [self.audit.id],
        });
        // The independent set of texts is searched for as far as the audit was.
        if let (ModalityName::Text, Some(audit)) = (audit.modality(), audit.as_audit()) {
            insert(&mut asked, "text.seeds", audit.search.seeds.into());
            insert(&mut asked, "text.local", audit.search.local.into());
        }
        let (first, advanced) = options();
        first.read(form, &mut asked);
        advanced.read(form, &mut asked);
        specified(form, asked)
    }
}

/// The fields of a repair that the page shows, those that most people leave alone from the second on.
fn options() -> (Options, Options) {
    (
        Options::of(JobKind::Repair, &["max_accuracy_loss"]),
        Options::of(JobKind::Repair, &["shares", "repeats", "seed"]),
    )
}

fn draw(status: StatusCode, visitor: &Visitor, subject: &Subject, form: &Form) -> Answer {
    let (first, advanced) = options();
    let fields = advanced.inputs();
    page_with(
        status,
        &RepairPage {
            frame: &visitor.frame(""),
            form,
            id: subject.audit.id.as_str(),
            label: &subject.audit.label,
            max_accuracy_loss: &first.input("max_accuracy_loss"),
            advanced: &names(&fields),
            fields: &fields,
        },
    )
}
