//! Log in and out.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;

use super::answer::{Answer, page_with, redirect};
use super::form::Form;
use super::sent::{LoginForm, SentForm};
use super::session::{self, LOGIN, MaybeSession};
use super::views::LoginPage;
use crate::service::Service;
use axum::Extension;

fn draw(status: StatusCode, form: &Form) -> Answer {
    let frame = &session::frame(None, "");
    page_with(status, &LoginPage { frame, form })
}

/// The page.
pub(super) async fn show(Extension(MaybeSession(session)): Extension<MaybeSession>) -> Answer {
    match session {
        Some(_) => Ok(redirect("/")),
        None => draw(StatusCode::OK, &Form::default()),
    }
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
        return draw(StatusCode::UNPROCESSABLE_ENTITY, &form);
    };
    let cookie = session::set_cookie(&secrets.cookie, &headers)?;
    Ok(([(header::SET_COOKIE, cookie)], redirect("/")).into_response())
}

/// Logs out.
pub(super) async fn log_out(
    State(service): State<Service>,
    headers: HeaderMap,
    _: SentForm,
) -> Answer {
    if let Some(secret) = session::cookie(&headers) {
        service
            .store(move |store| store.close_session(&secret))
            .await?;
    }
    let cookie = session::unset_cookie(&headers)?;
    Ok(([(header::SET_COOKIE, cookie)], redirect(LOGIN)).into_response())
}
