//! The sender of a request.

use super::store::{Caller, Session};

/// The sender of a request: somebody with a valid token, by its header or a session, or a stranger.
#[derive(Clone, Default)]
pub struct Sender {
    /// The holder of the token of a request of the API.
    pub caller: Option<Caller>,
    /// The session of a request of the pages.
    pub session: Option<Session>,
    /// Whether a proxy says that the request came to it over TLS.
    pub is_over_tls: bool,
}

impl Sender {
    /// The caller, where the sender is no stranger.
    pub fn caller(&self) -> Option<&Caller> {
        let of_session = self.session.as_ref().map(|session| &session.caller);
        self.caller.as_ref().or(of_session)
    }
}
