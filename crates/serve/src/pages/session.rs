//! Who is logged in: the session's cookie, and what a page may do with it.

use std::time::Duration;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};

use super::answer::{page_with, redirect};
use super::assets;
use super::views::{Frame, ProblemPage};
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::store::{Caller, SESSION_TIME, Session};

/// Name of the cookie.
const COOKIE: &str = "probity_session";

/// Where one logs in.
pub(crate) const LOGIN: &str = "/login";

/// The open session of a request, if there is one.
#[derive(Clone, Default)]
pub(super) struct MaybeSession(pub Option<Session>);

/// A visitor who is logged in. A page that takes one sends everybody else to the log-in.
#[derive(Clone)]
pub(super) struct Visitor(Session);

impl Visitor {
    /// Whose session it is.
    pub fn caller(&self) -> &Caller {
        &self.0.caller
    }

    /// Whether a form with this secret is one of the session.
    pub fn owns_form(&self, secret: &str) -> bool {
        self.0.owns_form(secret)
    }

    /// What a page has around its content, with `section` as its entry of the navigation.
    pub fn frame(&self, section: &'static str) -> Frame {
        frame(Some(&self.0), section)
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Visitor, Response> {
        match parts.extensions.get::<MaybeSession>() {
            Some(MaybeSession(Some(session))) => Ok(Visitor(session.clone())),
            _ if parts.method == Method::GET || parts.method == Method::HEAD => {
                Err(redirect(LOGIN))
            }
            _ => Err(Problem::new(
                ProblemKind::NotAuthenticated,
                "You are not logged in any more. Log in, and fill the form in again.",
            )
            .into()),
        }
    }
}

/// What a page has around its content.
pub(super) fn frame(session: Option<&Session>, section: &'static str) -> Frame {
    Frame {
        csrf: session.map_or(String::new(), |session| session.form_secret().to_owned()),
        section,
        styles: assets::styles(),
        script: assets::script(),
        icon: assets::icon(),
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// Finds the session of a request, and draws the page of a problem.
pub(super) async fn with_session(
    State(service): State<Service>,
    mut request: Request,
    next: Next,
) -> Response {
    let session = match cookie(request.headers()) {
        Some(secret) => service.store(move |store| store.session(&secret)).await,
        None => Ok(None),
    };
    let session = match session {
        Ok(session) => session,
        Err(problem) => return problem_page(&problem, None),
    };
    let place = session
        .as_ref()
        .map(|session| service.gate.enter_as(&session.caller.token));
    if let Some(Err(problem)) = &place {
        return problem_page(problem, session.as_ref());
    }
    request
        .extensions_mut()
        .insert(MaybeSession(session.clone()));
    let response = next.run(request).await;
    match response.extensions().get::<Problem>() {
        Some(problem) => problem_page(problem, session.as_ref()),
        None => response,
    }
}

/// A problem as a page.
pub(super) fn problem_page(problem: &Problem, session: Option<&Session>) -> Response {
    let (back, back_text) = match session {
        Some(_) => ("/", "Back to the overview"),
        None => (LOGIN, "Log in"),
    };
    let page = ProblemPage {
        frame: &frame(session, ""),
        title: problem.kind.title(),
        detail: &problem.detail,
        back,
        back_text,
    };
    let mut response = match page_with(problem.status(), &page) {
        Ok(response) => response,
        // The one page that cannot be drawn is that of a problem: its status still says what is the matter.
        Err(response) => response,
    };
    if let Some(seconds) = problem.retry_after() {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The value of the session's cookie.
pub(super) fn cookie(headers: &HeaderMap) -> Option<String> {
    let jar = CookieJar::from_headers(headers);
    jar.get(COOKIE).map(|cookie| cookie.value().to_owned())
}

/// The header that gives the browser its cookie. Behind a proxy that speaks TLS, it may be sent over TLS only.
pub(super) fn set_cookie(secret: &str, headers: &HeaderMap) -> Result<HeaderValue, Problem> {
    header_of(secret, SESSION_TIME, headers)
}

/// The header that takes the cookie away.
pub(super) fn unset_cookie(headers: &HeaderMap) -> Result<HeaderValue, Problem> {
    header_of("", Duration::ZERO, headers)
}

fn header_of(secret: &str, time: Duration, headers: &HeaderMap) -> Result<HeaderValue, Problem> {
    let is_tls = headers
        .get("x-forwarded-proto")
        .is_some_and(|protocol| protocol == "https");
    let age = time
        .try_into()
        .map_err(|_| Problem::internal(&"a session lasts too long"))?;
    let cookie = Cookie::build((COOKIE, secret))
        .path("/")
        .max_age(age)
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(is_tls);
    Ok(HeaderValue::try_from(cookie.to_string())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        assert_eq!(cookie(&headers), None);
        headers.append(
            header::COOKIE,
            HeaderValue::from_static("other=probity_session=no; xprobity_session=no"),
        );
        assert_eq!(cookie(&headers), None);
        headers.append(
            header::COOKIE,
            HeaderValue::from_static("a=b;probity_session=secret; c=d"),
        );
        assert_eq!(cookie(&headers).as_deref(), Some("secret"));
    }

    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        let mut headers = HeaderMap::new();
        let plain = set_cookie("secret", &headers).unwrap();
        assert_eq!(
            plain,
            "probity_session=secret; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200"
        );
        headers.insert("x-forwarded-proto", HeaderValue::from_static("https"));
        let secure = unset_cookie(&headers).unwrap();
        assert_eq!(
            secure,
            "probity_session=; HttpOnly; SameSite=Strict; Secure; Path=/; Max-Age=0"
        );
    }
}
