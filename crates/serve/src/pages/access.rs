//! The page on which somebody who logged in by the identity provider chooses among their accesses;
//! a session belongs to one of them.

use axum::Extension;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;

use super::answer::{Answer, page_with, redirect};
use super::form::Form;
use super::landing::{NEXT, landing};
use super::sent::SentForm;
use super::session::{self, Visitor};
use super::views::{AccessPage, ListedAccess};
use crate::sender::Sender;
use crate::service::Service;
use crate::store::{Caller, SessionKey};

async fn draw(
    service: &Service,
    status: StatusCode,
    visitor: &Visitor<Caller>,
    form: &Form,
) -> Answer {
    let own = visitor.caller().clone();
    let accesses = service.store(move |store| store.accesses(&own)).await?;
    let listed = |access: &Caller| ListedAccess {
        id: access.token().to_string(),
        project: access
            .project()
            .map_or(String::new(), |(_, name)| name.to_owned()),
        role: access.role().name(),
        is_own: access.token() == visitor.caller().token(),
    };
    let page = AccessPage {
        frame: &visitor.frame("access"),
        form,
        accesses: &accesses.iter().map(listed).collect::<Vec<_>>(),
        next: landing(form.value(NEXT)),
    };
    page_with(status, &page)
}

/// Shows the visitor's accesses.
pub(super) async fn show(
    State(service): State<Service>,
    visitor: Visitor<Caller>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Answer {
    draw(&service, StatusCode::OK, &visitor, &Form::sent(pairs)).await
}

/// Opens a session of another access in place of this one.
pub(super) async fn choose(
    State(service): State<Service>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
    mut sent: SentForm<Caller>,
) -> Answer {
    let (own, chosen) = (sent.visitor.caller().clone(), sent.form.value("access"));
    let chosen = chosen.to_owned();
    let before = session::cookie(&service, &headers);
    let before = before.as_deref().map(SessionKey::from_cookie);
    let secrets = service
        .store(move |store| {
            let accesses = store.accesses(&own)?;
            let found = accesses
                .into_iter()
                .find(|access| access.token().as_str() == chosen);
            let opened = found.map(|access| store.open_session(&access, before));
            opened.transpose()
        })
        .await?;
    let Some(secrets) = secrets else {
        let said = "Choose one of these: what you chose is over or was withdrawn.";
        sent.form.refuse("", said);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return draw(&service, status, &sent.visitor, &sent.form).await;
    };
    let cookie = session::set_cookie(&service, &secrets.cookie, &sender)?;
    let page = redirect(landing(sent.form.value(NEXT)));
    Ok(([(header::SET_COOKIE, cookie)], page).into_response())
}
