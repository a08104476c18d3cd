//! Pages with a form that are about one thing: shown with their first values, and again with the
//! values that were entered while something is wrong with them.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::answer::{Answer, redirect};
use super::field_words::in_words;
use super::form::Form;
use super::named::{Named, Path};
use super::sent::SentForm;
use super::session::Visitor;
use crate::identifier::Id;
use crate::jobs::specification::JobSpecification;
use crate::operations::jobs::start_job;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::Change;

/// The result of a form: the address of the next page, or a problem; nothing where the form now has
/// errors.
pub(super) type Taken = Option<Result<String, Problem>>;

/// A page with a form.
pub(super) trait FormPage: Sized {
    /// Makes the page about the thing `id`, or the answer that is given in its place.
    async fn about(service: &Service, change: &Change, id: &Id) -> Result<Self, Response>;

    /// The form with its first values.
    fn first(&self) -> Form;

    /// Does what the form asks for.
    async fn take(&self, service: &Service, sent: &mut SentForm) -> Taken;

    /// Draws the page with `form`.
    fn draw(&self, status: StatusCode, visitor: &Visitor<Change>, form: &Form) -> Answer;
}

/// Shows the page.
pub(super) async fn show<P: FormPage>(Named(service, visitor, id): Named<Change>) -> Answer {
    let page = P::about(&service, &visitor.may, &id).await?;
    page.draw(StatusCode::OK, &visitor, &page.first())
}

/// Takes the form that was sent. A problem that the user can do something about is noted in the
/// form that comes back.
pub(super) async fn submit<P: FormPage>(
    State(service): State<Service>,
    Path(id): Path,
    mut sent: SentForm,
) -> Answer {
    let page = P::about(&service, &sent.visitor.may, &id).await?;
    match page.take(&service, &mut sent).await {
        Some(Ok(address)) => return Ok(redirect(&address)),
        Some(Err(problem)) if problem.status().is_server_error() => return Err(problem.into()),
        Some(Err(problem)) => {
            let field = problem.field.unwrap_or_default();
            let message = in_words(&field, &problem.detail);
            sent.form.refuse(field, message);
        }
        None => {}
    }
    page.draw(StatusCode::UNPROCESSABLE_ENTITY, &sent.visitor, &sent.form)
}

/// Starts the job that `asked` specifies, and returns the address of its page.
pub(super) async fn start(
    service: &Service,
    sent: &SentForm,
    label: &str,
    asked: JobSpecification,
) -> Result<String, Problem> {
    let view = start_job(service, &sent.visitor.may, label, asked).await?;
    Ok(format!("/jobs/{}", view.job.id))
}
