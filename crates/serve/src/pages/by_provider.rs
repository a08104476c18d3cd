//! The log-in by the identity provider: to the provider and back.
//!
//! The session's cookie does not come along when the provider sends the browser back, since
//! browsers keep it from requests that another site leads to. So a log-in that was begun has a
//! cookie with a looser rule, which is sent to the addresses of these two steps only and says which
//! session the browser had. And the last step answers with a page that goes on by itself, because a
//! redirect would still count as one of the other site.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum_extra::extract::cookie::{CookieJar, SameSite};

use super::answer::{Answer, page_with, redirect};
use super::form::Form;
use super::landing::{ACCESS, NEXT, by_way_of, landing};
use super::login;
use super::named::no_page;
use super::session::{self, Given};
use super::views::LoggedInPage;
use crate::address::{Address, Peer};
use crate::host;
use crate::log;
use crate::problem::{Problem, ProblemKind};
use crate::provider::begun::{self, Begins, Begun};
use crate::provider::failure::Failure;
use crate::provider::flow::Returned;
use crate::provider::{BEGIN, Provider, RETURN};
use crate::sender::Sender;
use crate::service::Service;
use crate::store::{Caller, Identity, SessionKey};

/// The number of log-ins that a browser may have under way, such as in several tabs.
const UNDER_WAY: usize = 4;

/// The number of characters of a state that the name of its cookie holds.
const NAME: usize = 16;

/// A step of a log-in by the provider.
pub(super) struct Step {
    service: Service,
    provider: Arc<Provider>,
    sender: Sender,
    headers: HeaderMap,
    client: Address,
    /// The address that the provider sends the browser back to.
    back: String,
    /// The values in the query of the address.
    query: Form,
}

impl FromRequestParts<Service> for Step {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Step, Response> {
        let provider = service.provider.clone().ok_or_else(no_page)?;
        let pairs = Query::<Vec<(String, String)>>::from_request_parts(parts, service).await;
        let Query(pairs) = pairs.map_err(IntoResponse::into_response)?;
        let missing = || Problem::internal(&"a request without a sender");
        let sender = parts.extensions.get::<Sender>().cloned();
        let sender = sender.ok_or_else(missing)?;
        let peer = parts.extensions.get::<Peer>().ok_or_else(missing)?;
        let name = host::asked(&parts.uri, &parts.headers).ok_or_else(missing)?;
        let scheme = match sender.is_over_tls {
            true => "https",
            false => "http",
        };
        Ok(Step {
            service: service.clone(),
            provider,
            sender,
            client: peer.client(&parts.headers, &service.proxies),
            back: format!("{scheme}://{name}{RETURN}"),
            query: Form::sent(pairs),
            headers: parts.headers.clone(),
        })
    }
}

/// The reason why somebody is not let in, in words for them.
struct Refusal {
    status: StatusCode,
    said: String,
}

impl Refusal {
    fn new(status: StatusCode, said: impl Into<String>) -> Refusal {
        Refusal {
            status,
            said: said.into(),
        }
    }
}

/// The refusal of a browser that comes back from a log-in that it does not have.
fn no_log_in() -> Refusal {
    Refusal::new(
        StatusCode::BAD_REQUEST,
        "This log-in was not begun in this browser, took longer than ten minutes, or was finished before. Begin it again.",
    )
}

impl Step {
    /// Does `work` with the provider, away from the threads that answer requests.
    async fn with_provider<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Provider) -> Result<T, Failure> + Send + 'static,
    ) -> Result<Result<T, Refusal>, Problem> {
        let Some(place) = self.provider.enter(self.client, Instant::now()) else {
            return Err(Problem::new(
                ProblemKind::TooManyRequests,
                "Too many people log in at present. Try again in a moment.",
            ));
        };
        let provider = self.provider.clone();
        let done = self.service.blocking(move || {
            let done = work(&provider);
            drop(place);
            Ok(done)
        });
        Ok(done.await?.map_err(|failure| {
            let host = self.provider.host();
            log::line(&format_args!("a log-in by {host} failed: {failure}"));
            Refusal::new(
                StatusCode::BAD_GATEWAY,
                format!(
                    "{host} could not be asked who you are, or its answer does not hold. Try again later, or log in with a token; the log of this service says more to those who run it."
                ),
            )
        }))
    }

    /// The name of the cookie of a log-in.
    fn cookie(&self, state: &str) -> String {
        let start = state.get(..NAME).unwrap_or_default();
        format!("{}{start}", self.service.begun_cookie)
    }

    /// The log-ins of this browser that are under way, the oldest first, and the names of the
    /// cookies of those that are over.
    fn under_way(&self) -> (Vec<Begun>, Vec<String>) {
        let jar = CookieJar::from_headers(&self.headers);
        let own = jar.iter();
        let own = own.filter(|one| one.name().starts_with(&self.service.begun_cookie));
        let (mut begun, mut over) = (Vec::new(), Vec::new());
        for cookie in own {
            match self.provider.begins.opened(cookie.value()) {
                Some(one) => begun.push(one),
                None => over.push(cookie.name().to_owned()),
            }
        }
        begun.sort_by(Begins::older_first);
        (begun, over)
    }

    /// Gives the browser a cookie with `response`; an empty value takes the cookie away.
    fn give(&self, response: &mut Response, name: &str, value: &str) -> Result<(), Problem> {
        let cookie = Given {
            name,
            value,
            path: BEGIN,
            site: SameSite::Lax,
            time: match value.is_empty() {
                true => Duration::ZERO,
                false => begun::TIME,
            },
        };
        let header = cookie.header(&self.sender)?;
        response.headers_mut().append(header::SET_COOKIE, header);
        Ok(())
    }

    /// Shows the log-in page again, with the refusal; the log-in then leads to the page `next`.
    fn refused(&self, refusal: Refusal, next: &str) -> Answer {
        login::refused(&self.service, refusal.status, &refusal.said, next)
    }

    /// Returns the log-in that the browser comes back from.
    /// Fails where this browser has no such log-in, or it is over.
    fn begun(&self) -> Result<Begun, Refusal> {
        let is_once = |name: &str| self.query.all(name).len() <= 1;
        if !["state", "code", "error", "iss"].into_iter().all(is_once) {
            return Err(no_log_in());
        }
        let state = self.query.value("state");
        if !begun::is_state(state) {
            return Err(no_log_in());
        }
        let (under_way, _) = self.under_way();
        let found = under_way.into_iter().find(|begun| begun.state == state);
        found.ok_or_else(no_log_in)
    }

    /// Returns the code that the provider gave.
    /// Fails with the provider's message where it gave none.
    fn code(&self) -> Result<&str, Refusal> {
        let host = self.provider.host();
        match (self.query.value("error"), self.query.value("code")) {
            ("", "") => Err(Refusal::new(
                StatusCode::BAD_GATEWAY,
                format!("{host} did not say who you are. Begin again."),
            )),
            ("", code) => Ok(code),
            ("access_denied", _) => Err(Refusal::new(
                StatusCode::FORBIDDEN,
                format!("{host} did not let you in, or you went back. Begin again."),
            )),
            _ => {
                // Anybody may have written the address, so its message is not repeated.
                log::line(&format_args!("{host} refused a log-in"));
                Err(Refusal::new(
                    StatusCode::BAD_GATEWAY,
                    format!(
                        "{host} refused the log-in. Begin again; if it does so again, tell those who run this service."
                    ),
                ))
            }
        }
    }

    /// Returns the accesses of `identity`.
    /// Where it has none, fails with the names that an access can be given to.
    async fn accesses(&self, identity: Identity) -> Result<Result<Vec<Caller>, Refusal>, Problem> {
        let named = match &identity.email {
            Some(email) => format!("the address {email}"),
            None => format!(
                "the identifier {} (no e-mail address of yours is verified there)",
                identity.subject
            ),
        };
        let found = self.service.store(move |store| store.let_in(&identity));
        let found = found.await?;
        Ok(match found.is_empty() {
            false => Ok(found),
            true => Err(Refusal::new(
                StatusCode::FORBIDDEN,
                format!(
                    "{} knows you, but nobody gave you access here, or it is over, or somebody else has it. Ask an owner of a project, and name {named}.",
                    self.provider.host()
                ),
            )),
        })
    }

    /// Finds out who came back, and returns their accesses.
    async fn who(&self, begun: &Begun) -> Result<Result<Vec<Caller>, Refusal>, Problem> {
        let code = match self.code() {
            Ok(code) => code.to_owned(),
            Err(refusal) => return Ok(Err(refusal)),
        };
        let named = self.query.filled("iss").map(str::to_owned);
        let (asked, back) = (begun.clone(), self.back.clone());
        let identity = self.with_provider(move |provider| {
            let returned = Returned {
                code: &code,
                issuer: named.as_deref(),
            };
            provider.identity(&asked, &back, &returned)
        });
        match identity.await? {
            // Only after somebody has proved who they are: log-ins that strangers begin are not
            // remembered.
            Ok(_) if !self.provider.begins.end(begun) => Ok(Err(no_log_in())),
            Ok(identity) => self.accesses(identity).await,
            Err(refusal) => Ok(Err(refusal)),
        }
    }
}

/// Sends the browser to the provider.
pub(super) async fn begin(step: Step) -> Answer {
    let next = landing(step.query.value(NEXT));
    let before = session::cookie(&step.service, &step.headers);
    let before = before.as_deref().map(SessionKey::from_cookie);
    let begins = &step.provider.begins;
    let begun = begins.begin(next, before).map_err(Problem::from)?;
    let sealed = begins.sealed(&begun);
    let sealed = sealed.map_err(|error| Problem::internal(&error))?;
    let (asked, back) = (begun.clone(), step.back.clone());
    let address = step.with_provider(move |provider| provider.address(&asked, &back));
    let address = match address.await? {
        Ok(address) => address,
        Err(refusal) => return step.refused(refusal, next),
    };
    let mut response = redirect(&address);
    let (under_way, mut over) = step.under_way();
    let too_many = under_way.len().saturating_sub(UNDER_WAY - 1);
    let oldest = under_way.iter().take(too_many);
    over.extend(oldest.map(|begun| step.cookie(&begun.state)));
    for name in over {
        step.give(&mut response, &name, "")?;
    }
    step.give(&mut response, &step.cookie(&begun.state), &sealed)?;
    Ok(response)
}

/// Lets somebody who comes back from the provider in, or says why not.
pub(super) async fn come_back(step: Step) -> Answer {
    let begun = match step.begun() {
        Ok(begun) => begun,
        Err(refusal) => return step.refused(refusal, ""),
    };
    let mut response = match step.who(&begun).await? {
        Ok(accesses) => open(&step, &begun, &accesses).await?,
        Err(refusal) => step.refused(refusal, &begun.next)?,
    };
    step.give(&mut response, &step.cookie(&begun.state), "")?;
    Ok(response)
}

/// Opens a session of the first of `accesses`, and leads to the choice where there are more.
async fn open(step: &Step, begun: &Begun, accesses: &[Caller]) -> Answer {
    let first = accesses.first().cloned();
    let first = first.ok_or_else(|| Problem::internal(&"nobody is let in"))?;
    let before = begun.before;
    let secrets = step
        .service
        .store(move |store| store.open_session(&first, before))
        .await?;
    let cookie = session::set_cookie(&step.service, &secrets.cookie, &step.sender)?;
    // The cookie is unchanged; whether there is such a page is checked again all the same.
    let next = match accesses.len() {
        1 => landing(&begun.next).to_owned(),
        _ => by_way_of(ACCESS, &begun.next),
    };
    let page = LoggedInPage {
        frame: &session::frame(None, ""),
        next: &next,
    };
    let headers = [(header::SET_COOKIE, cookie)];
    // This works without a script, too.
    let refresh = [(header::REFRESH, format!("0; url={next}"))];
    let page = page_with(StatusCode::OK, &page)?;
    Ok((headers, refresh, page).into_response())
}
