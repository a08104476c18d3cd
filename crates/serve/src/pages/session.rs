//! The session of a visitor: its cookie, and what a page may do with it.

use std::time::Duration;

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};

use super::answer::{page_with, redirect};
use super::views::{Frame, ProblemPage};
use super::{assets, landing};
use crate::problem::{Problem, ProblemKind};
use crate::sender::Sender;
use crate::service::Service;
use crate::store::{Caller, Permission, Role, SESSION_TIME, Scope, Session};

/// The open session of a request, if there is one.
#[derive(Clone, Default)]
pub(super) struct MaybeSession(pub Option<Session>);

/// An extractor of a visitor who is logged in and whose role allows what the page does: to see,
/// unless the page asks for more. A page that takes one sends everybody else to the log-in.
#[derive(Clone)]
pub(super) struct Visitor<P = Scope> {
    session: Session,
    /// The permission that the role gives.
    pub may: P,
}

impl<P> Visitor<P> {
    /// The caller that the session belongs to.
    pub fn caller(&self) -> &Caller {
        &self.session.caller
    }

    /// Whether a form with this secret belongs to the session.
    pub fn owns_form(&self, secret: &str) -> bool {
        self.session.owns_form(secret)
    }

    /// The frame of a page, with `section` as its entry of the navigation.
    pub fn frame(&self, section: &'static str) -> Frame {
        frame(Some(&self.session), section)
    }
}

impl<P: Permission, S: Sync> FromRequestParts<S> for Visitor<P> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Visitor<P>, Response> {
        match parts.extensions.get::<MaybeSession>() {
            Some(MaybeSession(Some(session))) => {
                let may = P::grant(&session.caller).map_err(Problem::from)?;
                let session = session.clone();
                Ok(Visitor { session, may })
            }
            _ if parts.method == Method::GET || parts.method == Method::HEAD => {
                Err(redirect(&landing::login_for(&parts.uri)))
            }
            _ => Err(Problem::new(
                ProblemKind::NotAuthenticated,
                "You are not logged in any more. Log in, and fill the form in again.",
            )
            .into()),
        }
    }
}

/// The frame of a page, with `section` as its entry of the navigation.
pub(super) fn frame(session: Option<&Session>, section: &'static str) -> Frame {
    let caller = session.map(|session| &session.caller);
    let is_at_least = |role| caller.is_some_and(|caller| caller.is_at_least(role));
    let project = caller.and_then(Caller::project);
    Frame {
        is_administrator: caller.is_some_and(|caller| caller.project().is_none()),
        may_change: is_at_least(Role::Editor),
        may_manage: is_at_least(Role::Owner),
        project: project.map_or(String::new(), |(_, name)| name.to_owned()),
        project_address: project.map_or(String::new(), |(id, _)| format!("/projects/{id}")),
        is_person: session.is_some_and(|session| session.is_person),
        csrf: session.map_or(String::new(), |session| session.form_secret().to_owned()),
        section,
        styles: assets::styles(),
        script: assets::script(),
        icon: assets::icon(),
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// Hands the session of a request on to its page, and draws the page of a problem.
pub(super) async fn with_session(mut request: Request, next: Next) -> Response {
    let sender = request.extensions().get::<Sender>();
    let session = sender.and_then(|sender| sender.session.clone());
    request
        .extensions_mut()
        .insert(MaybeSession(session.clone()));
    let response = next.run(request).await;
    match response.extensions().get::<Problem>() {
        Some(problem) => problem_page(problem, session.as_ref()),
        None => response,
    }
}

/// Draws a problem as a page.
pub(crate) fn problem_page(problem: &Problem, session: Option<&Session>) -> Response {
    let (back, back_text) = match session {
        Some(_) => ("/", "Back to the overview"),
        None => (landing::LOGIN, "Log in"),
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
        // The page of a problem cannot be drawn itself: its status still says what is wrong.
        Err(response) => response,
    };
    if let Some(seconds) = problem.retry_after() {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Reads the value of the session's cookie.
pub(crate) fn cookie(service: &Service, headers: &HeaderMap) -> Option<String> {
    cookie_called(&service.cookie, headers)
}

fn cookie_called(name: &str, headers: &HeaderMap) -> Option<String> {
    let jar = CookieJar::from_headers(headers);
    jar.get(name).map(|cookie| cookie.value().to_owned())
}

/// Makes the header that gives the browser the session's cookie. Behind a proxy that speaks TLS, it
/// may be sent over TLS only.
pub(super) fn set_cookie(
    service: &Service,
    secret: &str,
    sender: &Sender,
) -> Result<HeaderValue, Problem> {
    let cookie = Given {
        name: &service.cookie,
        value: secret,
        path: "/",
        site: SameSite::Strict,
        time: SESSION_TIME,
    };
    cookie.header(sender)
}

/// Makes the header that takes the session's cookie away.
pub(super) fn unset_cookie(service: &Service, sender: &Sender) -> Result<HeaderValue, Problem> {
    let cookie = Given {
        name: &service.cookie,
        value: "",
        path: "/",
        site: SameSite::Strict,
        time: Duration::ZERO,
    };
    cookie.header(sender)
}

/// A cookie that is given to a browser.
pub(super) struct Given<'c> {
    pub name: &'c str,
    pub value: &'c str,
    /// The path of the cookie: it is sent to this address and those below it.
    pub path: &'static str,
    /// Whether the cookie is sent after a link of another site.
    pub site: SameSite,
    /// How long the cookie lasts; zero takes it away.
    pub time: Duration,
}

impl Given<'_> {
    /// Makes the header that gives the cookie to `sender`.
    pub fn header(&self, sender: &Sender) -> Result<HeaderValue, Problem> {
        let age = self.time.try_into();
        let age = age.map_err(|_| Problem::internal(&"a cookie lasts too long"))?;
        let cookie = Cookie::build((self.name, self.value))
            .path(self.path)
            .max_age(age)
            .http_only(true)
            .same_site(self.site)
            .secure(sender.is_over_tls);
        Ok(HeaderValue::try_from(cookie.to_string())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        let cookie = |headers: &HeaderMap| cookie_called("probity_session_1", headers);
        assert_eq!(cookie(&headers), None);
        headers.append(
            header::COOKIE,
            HeaderValue::from_static(
                "other=probity_session_1=no; probity_session=no; probity_session_2=no",
            ),
        );
        assert_eq!(cookie(&headers), None);
        headers.append(
            header::COOKIE,
            HeaderValue::from_static("a=b;probity_session_1=secret; c=d"),
        );
        assert_eq!(cookie(&headers).as_deref(), Some("secret"));
    }

    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        let given = |value, time| Given {
            name: "probity_session",
            value,
            path: "/",
            site: SameSite::Strict,
            time,
        };
        let over_tls = |is_over_tls| Sender {
            is_over_tls,
            ..Sender::default()
        };
        let plain = given("secret", SESSION_TIME).header(&over_tls(false));
        assert_eq!(
            plain.unwrap(),
            "probity_session=secret; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200"
        );
        let secure = given("", Duration::ZERO).header(&over_tls(true));
        assert_eq!(
            secure.unwrap(),
            "probity_session=; HttpOnly; SameSite=Strict; Secure; Path=/; Max-Age=0"
        );
    }
}
