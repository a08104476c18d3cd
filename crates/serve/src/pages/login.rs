//! The pages that log in and out.

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;

use super::answer::{Answer, page_with, redirect};
use super::form::Form;
use super::landing::{LOGIN, NEXT, by_way_of, landing};
use super::sent::{LoginForm, SentForm};
use super::session::{self, MaybeSession};
use super::views::LoginPage;
use crate::provider::BEGIN;
use crate::sender::Sender;
use crate::service::Service;
use crate::store::{Caller, Permission, SessionKey};
use axum::Extension;

/// Draws the log-in page, with the values in `form` and their errors.
fn draw(
    service: &Service,
    status: StatusCode,
    form: &Form,
    refused: &str,
    is_from_elsewhere: bool,
) -> Answer {
    let next = landing(form.value(NEXT));
    let provider = service.provider.as_ref();
    let page = LoginPage {
        frame: &session::frame(None, ""),
        form,
        next,
        provider: provider.map_or("", |provider| provider.host()),
        by_provider: &by_way_of(BEGIN, next),
        refused,
        is_from_elsewhere,
    };
    page_with(status, &page)
}

/// Shows the log-in page. A visitor who comes by a link of another site seems not to be logged in,
/// since browsers keep the cookie back then; from this page on they send it.
pub(super) async fn show(
    State(service): State<Service>,
    Extension(MaybeSession(session)): Extension<MaybeSession>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Answer {
    let form = Form::sent(pairs);
    let site = headers.get("sec-fetch-site");
    match session {
        Some(_) => Ok(redirect(landing(form.value(NEXT)))),
        None => draw(
            &service,
            StatusCode::OK,
            &form,
            "",
            site.is_some_and(|site| site == "cross-site"),
        ),
    }
}

/// The log-in page for somebody whom the identity provider did not let in, with the message `said`
/// for them and `next` as the page that they asked for.
pub(super) fn refused(service: &Service, status: StatusCode, said: &str, next: &str) -> Answer {
    let form = Form::default().with(NEXT, next);
    draw(service, status, &form, said, false)
}

/// Logs in. Attempts are bounded by address only: a token holds 256 random bits, and a bound for a
/// token would let anybody lock its owner out.
pub(super) async fn log_in(
    State(service): State<Service>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
    LoginForm(mut form): LoginForm,
) -> Answer {
    let token = form.value("token").to_owned();
    // A visitor who logs in anew leaves no session behind.
    let before = session::cookie(&service, &headers);
    let before = before.as_deref().map(SessionKey::from_cookie);
    let secrets = service
        .store(move |store| match store.authenticate(&token)? {
            // A worker's token has no pages to look at.
            Some(caller) if <Caller as Permission>::grant(&caller).is_ok() => {
                let secrets = store.open_session(&caller, before);
                secrets.map(Some)
            }
            _ => Ok(None),
        })
        .await?;
    let Some(secrets) = secrets else {
        let detail = "This token is not known here, is over, or was withdrawn.";
        form.refuse("token", detail);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return draw(&service, status, &form, "", false);
    };
    let cookie = session::set_cookie(&service, &secrets.cookie, &sender)?;
    let page = redirect(landing(form.value(NEXT)));
    Ok(([(header::SET_COOKIE, cookie)], page).into_response())
}

/// Logs out.
pub(super) async fn log_out(
    State(service): State<Service>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
    _: SentForm<Caller>,
) -> Answer {
    if let Some(secret) = session::cookie(&service, &headers) {
        service
            .store(move |store| store.close_session(&secret))
            .await?;
    }
    let cookie = session::unset_cookie(&service, &sender)?;
    Ok(([(header::SET_COOKIE, cookie)], redirect(LOGIN)).into_response())
}
