//! The page that starts a repair of a model with what an audit found.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::answer::{Answer, page_with};
use super::filled::{FormPage, Taken, start};
use super::form::Form;
use super::options::{Options, insert, names, specified};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::RepairPage;
use crate::identifier::Id;
use crate::jobs::specification::{JobKind, JobSpecification};
use crate::service::Service;

use crate::problem::Problem;
use crate::store::{Change, Job, JobState, Model};
use probity_nn::modality::ModalityName;

/// An audit, and the model that it audited.
pub(super) struct RepairForm {
    audit: Job,
    model: Model,
}

impl FormPage for RepairForm {
    async fn about(service: &Service, change: &Change, id: &Id) -> Result<RepairForm, Response> {
        let audit: Job = service.find(change, id).await?;
        match audit.specification.model() {
            Some(model) if audit.kind == JobKind::Audit && audit.state == JobState::Done => {
                let model = service.find(change, model).await?;
                Ok(RepairForm { audit, model })
            }
            _ => Err(Problem::conflict(
                "A model is repaired with what an audit found, once the audit is done.",
            )
            .into()),
        }
    }

    fn first(&self) -> Form {
        let name = format!("{}, repaired", self.model.label);
        let mut form = Form::default().with("label", name);
        let (first, advanced) = options();
        first.fill(&mut form);
        advanced.fill(&mut form);
        form
    }

    async fn take(&self, service: &Service, sent: &mut SentForm) -> Taken {
        let asked = self.specification(&mut sent.form)?;
        let label = sent.label(&self.model.label);
        Some(start(service, sent, &label, asked).await)
    }

    fn draw(&self, status: StatusCode, visitor: &Visitor<Change>, form: &Form) -> Answer {
        let (first, advanced) = options();
        let fields = advanced.inputs();
        page_with(
            status,
            &RepairPage {
                frame: &visitor.frame(""),
                form,
                id: self.audit.id.as_str(),
                label: &self.audit.label,
                max_accuracy_loss: &first.input("max_accuracy_loss"),
                advanced: &names(&fields),
                fields: &fields,
            },
        )
    }
}

impl RepairForm {
    /// The specification that the form asks for; or notes errors in the form. The model learns anew
    /// from the data that it learnt from.
    fn specification(&self, form: &mut Form) -> Option<JobSpecification> {
        let audit = &self.audit.specification;
        let mut asked = json!({
            "kind": JobKind::Repair, "modality": audit.modality(), "model": self.model.id,
            "data": self.model.data.as_ref().unwrap_or(audit.data()), "runs": [self.audit.id],
        });
        // The independent set of texts is searched for to the same extent as the audit.
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

/// The fields of a repair that the page shows; the second value holds those that most people leave
/// alone.
fn options() -> (Options, Options) {
    (
        Options::new(JobKind::Repair, &["max_accuracy_loss"]),
        Options::new(
            JobKind::Repair,
            &[
                "method",
                "shares",
                "repeats",
                "seed",
                "max_fairness_loss",
                "save_anyway",
            ],
        ),
    )
}
