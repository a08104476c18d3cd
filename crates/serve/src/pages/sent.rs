//! Forms as they arrive: only from a page of this service, and of the sender's own session.
//!
//! Two independent checks protect each form that changes something. The browser says where the
//! request comes from (`Sec-Fetch-Site`, or else `Origin`), which must be the service itself. And
//! the form carries a secret of the session, which no other site can read. Besides, the session's
//! cookie is not sent along with requests of other sites (`SameSite`).

use axum::extract::{Form as UrlEncoded, FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::form::Form;
use super::session::Visitor;
use crate::operations::form::{Form as WithFile, ReceivedFile};
use crate::operations::names::name;
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::stall::TIMES;
use crate::store::{Change, Permission};

/// The name of the field with the session's secret.
const CSRF: &str = "csrf";

/// Refuses a form that does not come from a page of this service.
/// Fails when the request comes from elsewhere, or does not say where it comes from.
pub(super) fn check_origin(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_own = match (text("sec-fetch-site"), text("origin"), text("host")) {
        (Some(site), _, _) => site == "same-origin",
        (None, Some(origin), Some(host)) => origin
            .split_once("://")
            .is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host)),
        _ => false,
    };
    if is_own {
        return Ok(());
    }
    Err(Problem::new(
        ProblemKind::Forbidden,
        "This form was not sent by a page of this service. Open the page here, and fill the form in again.",
    ))
}

fn not_of_this_session() -> Problem {
    Problem::new(
        ProblemKind::Forbidden,
        "This form belongs to another session: you logged in anew since it was opened. Load the page again.",
    )
}

/// An extractor of a form without a file, from a visitor who is logged in and whose role allows
/// what the form asks for: to change what is in the project, unless the page needs another
/// permission.
pub(super) struct SentForm<P = Change> {
    /// The visitor who sent the form.
    pub visitor: Visitor<P>,
    /// The values that were entered.
    pub form: Form,
}

impl<P> SentForm<P> {
    /// The label that was entered, else `instead`.
    pub fn label(&self, instead: &str) -> String {
        self.form.filled("label").unwrap_or(instead).to_owned()
    }
}

impl<P: Permission> FromRequest<Service> for SentForm<P> {
    type Rejection = Response;

    async fn from_request(request: Request, service: &Service) -> Result<SentForm<P>, Response> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::from_request_parts(&mut parts, service).await?;
        let is_own = check_origin(&parts.headers);
        // The form is read first: a connection whose request was not read to its end cannot be
        // reused.
        let form = read(Request::from_parts(parts, body), service).await;
        is_own?;
        let form = form?;
        if !visitor.owns_form(form.value(CSRF)) {
            return Err(not_of_this_session().into());
        }
        Ok(SentForm { visitor, form })
    }
}

/// An extractor of the form of the log-in: there is no session yet, so only its origin is checked.
pub(super) struct LoginForm(pub Form);

impl FromRequest<Service> for LoginForm {
    type Rejection = Response;

    async fn from_request(request: Request, service: &Service) -> Result<LoginForm, Response> {
        let is_own = check_origin(request.headers());
        let form = read(request, service).await;
        is_own?;
        Ok(LoginForm(form?))
    }
}

async fn read(request: Request, service: &Service) -> Result<Form, Problem> {
    let pairs = UrlEncoded::<Vec<(String, String)>>::from_request(request, service);
    let time = service.limits.idle_time * TIMES;
    match tokio::time::timeout(time, pairs).await {
        Ok(Ok(UrlEncoded(pairs))) => Ok(Form::sent(pairs)),
        Ok(Err(rejection)) => Err(unreadable(rejection.status(), &rejection.body_text())),
        Err(_) => Err(Problem::new(
            ProblemKind::TooSlow,
            "The form did not arrive in time.",
        )),
    }
}

fn unreadable(status: StatusCode, detail: &str) -> Problem {
    let kind = match status {
        StatusCode::PAYLOAD_TOO_LARGE => ProblemKind::TooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ProblemKind::UnsupportedType,
        _ => ProblemKind::Malformed,
    };
    Problem::new(kind, format!("The form cannot be read: {detail}."))
}

/// An extractor of a form with a file, from a visitor who is logged in.
pub(super) struct SentFile {
    /// The visitor who sent the form.
    pub visitor: Visitor<Change>,
    /// The other values that were entered.
    pub form: Form,
    /// The whole form as it came. An error in the file belongs to the form that comes back.
    pub received: WithFile,
}

impl SentFile {
    /// Returns the name that was entered. Fails when it is no name.
    pub fn name(&self) -> Result<String, Problem> {
        name(self.form.value("label")).map_err(|problem| Problem {
            field: Some("label".to_owned()),
            ..problem
        })
    }

    /// Records a problem in the form that comes back, and returns its status.
    pub fn refuse(&mut self, problem: Problem) -> StatusCode {
        let status = problem.status();
        let field = problem.field.unwrap_or_else(|| "file".to_owned());
        self.form.refuse(field, problem.detail);
        status
    }

    /// Returns the file. Fails when none was chosen, or something is wrong with it.
    pub fn take_file(&mut self) -> Result<ReceivedFile, Problem> {
        match self.received.file_name.is_empty() {
            true => Err(Problem::invalid("Choose a file.")),
            false => self.received.take_file(),
        }
    }
}

impl FromRequest<Service> for SentFile {
    type Rejection = Response;

    async fn from_request(request: Request, service: &Service) -> Result<SentFile, Response> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::<Change>::from_request_parts(&mut parts, service).await?;
        check_origin(&parts.headers)?;
        let is_own = |form: &WithFile| match visitor.owns_form(form.text(CSRF)) {
            true => Ok(()),
            false => Err(not_of_this_session()),
        };
        let request = Request::from_parts(parts, body);
        let received = WithFile::receive_if(service, &visitor.may, request, is_own).await?;
        is_own(&received)?;
        let texts = received.texts.clone();
        Ok(SentFile {
            visitor,
            form: Form::sent(texts.into_iter().collect()),
            received,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header;

    fn check(pairs: &[(header::HeaderName, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(name.clone(), header::HeaderValue::from_static(value));
        }
        check_origin(&headers).is_ok()
    }

    #[test]
    fn forms_come_from_the_service_itself() {
        let site = header::HeaderName::from_static("sec-fetch-site");
        let host = (header::HOST, "127.0.0.1:8080");
        let origin = |origin| (header::ORIGIN, origin);
        assert!(check(&[host.clone(), (site.clone(), "same-origin")]));
        assert!(check(&[host.clone(), origin("http://127.0.0.1:8080")]));
        assert!(check(&[
            (header::HOST, "Probity.example"),
            origin("https://probity.example")
        ]));
        for refused in [
            vec![host.clone()],
            vec![host.clone(), (site.clone(), "cross-site")],
            vec![host.clone(), (site.clone(), "same-site")],
            vec![host.clone(), (site.clone(), "none")],
            vec![host.clone(), origin("null")],
            vec![host.clone(), origin("http://127.0.0.1:8081")],
            vec![host.clone(), origin("http://evil.example")],
            vec![
                host.clone(),
                origin("http://evil.example#://127.0.0.1:8080"),
            ],
            vec![host, origin("http://127.0.0.1:8080"), (site, "cross-site")],
            vec![origin("http://127.0.0.1:8080")],
        ] {
            assert!(!check(&refused), "{refused:?}");
        }
    }
}
