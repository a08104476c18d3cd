//! Log in and out.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::answer::{Answer, page, page_with, redirect};
use super::form::Form;
use super::sent::{LoginForm, SentForm};
use super::session::{self, LOGIN, MaybeSession};
use super::views::LoginPage;
use crate::Service;
use axum::Extension;

/// The page.
pub(super) async fn show(Extension(MaybeSession(session)): Extension<MaybeSession>) -> Answer {
    if session.is_some() {
        return Ok(redirect("/"));
    }
    page(&LoginPage {
        frame: &session::frame(None, ""),
        form: &Form::default(),
    })
}

/// Logs in. There is no limit to attempts: a token holds 256 random bits, and a limit would let anybody lock its owner out.
pub(super) async fn log_in(
    State(service): State<Service>,
    headers: HeaderMap,
    LoginForm(mut form): LoginForm,
) -> Answer {
    let token = form.value("token").to_owned();
    let secrets = service
        .store(move |store| match store.authenticate(&token)? {
            Some(caller) => store.open_session(&caller).map(Some),
            None => Ok(None),
        })
        .await?;
    let Some(secrets) = secrets else {
        form.refuse("token", "This token is not known here, or was withdrawn.");
        return page_with(
            StatusCode::UNPROCESSABLE_ENTITY,
            &LoginPage {
                frame: &session::frame(None, ""),
                form: &form,
            },
        );
    };
    let cookie = session::set_cookie(&secrets.cookie, &headers)?;
    Ok(([(header::SET_COOKIE, cookie)], redirect("/")).into_response())
}

/// Logs out.
pub(super) async fn log_out(
    State(service): State<Service>,
    headers: HeaderMap,
    _: SentForm,
) -> Result<Response, super::answer::Failure> {
    if let Some(secret) = session::cookie(&headers) {
        service
            .store(move |store| store.close_session(&secret))
            .await?;
    }
    let cookie = session::unset_cookie(&headers)?;
    Ok(([(header::SET_COOKIE, cookie)], redirect(LOGIN)).into_response())
}
