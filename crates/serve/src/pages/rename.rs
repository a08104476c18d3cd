//! The page that gives a data set, a model or a job another name.

use axum::http::StatusCode;
use axum::response::Response;

use super::answer::{Answer, page_with};
use super::filled::{FormPage, Taken};
use super::form::Form;
use super::sent::SentForm;
use super::session::Visitor;
use super::things;
use super::views::RenamePage;
use crate::identifier::Id;
use crate::jobs::specification::JobKind;
use crate::operations::names::rename;
use crate::service::Service;
use crate::store::{Change, DataSet, Job, Model, ModelOrigin, Record};

/// A thing that has a page.
pub(super) trait HasPage: Record {
    /// The path below which the pages of such things lie.
    const AT: &'static str;

    /// The address of the thing's page.
    fn page(&self) -> String {
        format!("{}/{}", Self::AT, self.id())
    }

    /// A word for the other thing that has the same name; empty where there is none.
    fn also(&self) -> &'static str;
}

impl HasPage for DataSet {
    const AT: &'static str = "/data";

    fn also(&self) -> &'static str {
        ""
    }
}

impl HasPage for Model {
    const AT: &'static str = "/models";

    fn also(&self) -> &'static str {
        match self.origin {
            ModelOrigin::Uploaded => "",
            ModelOrigin::Trained => "Its training gets the same name.",
            ModelOrigin::Repaired => "Its repair gets the same name.",
        }
    }
}

impl HasPage for Job {
    const AT: &'static str = "/jobs";

    fn page(&self) -> String {
        things::address(self)
    }

    fn also(&self) -> &'static str {
        match self.kind {
            JobKind::Audit => "Audits that are called alike are shown over time.",
            kind if kind.makes_model() => "The model that it makes gets the same name.",
            _ => "",
        }
    }
}

/// The page on which a thing gets another name.
pub(super) struct RenameForm<T>(T);

impl<T: HasPage + Sync> FormPage for RenameForm<T> {
    async fn about(service: &Service, change: &Change, id: &Id) -> Result<Self, Response> {
        Ok(RenameForm(service.find(change, id).await?))
    }

    fn first(&self) -> Form {
        Form::default().with("label", self.0.label())
    }

    async fn take(&self, service: &Service, sent: &mut SentForm) -> Taken {
        let label = sent.form.value("label");
        match rename::<T>(service, &sent.visitor.may, self.0.id(), label).await {
            Ok(()) => Some(Ok(self.0.page())),
            Err(problem) if problem.status() == StatusCode::UNPROCESSABLE_ENTITY => {
                sent.form.refuse("label", problem.detail);
                None
            }
            Err(problem) => Some(Err(problem)),
        }
    }

    fn draw(&self, status: StatusCode, visitor: &Visitor<Change>, form: &Form) -> Answer {
        let page = RenamePage {
            frame: &visitor.frame(""),
            form,
            label: self.0.label(),
            page: &self.0.page(),
            action: &format!("{}/{}/rename", T::AT, self.0.id()),
            also: self.0.also(),
        };
        page_with(status, &page)
    }
}
