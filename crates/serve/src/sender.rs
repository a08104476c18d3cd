//! Who sends a request.

use super::store::{Caller, Session};

/// Who sends a request: somebody with a valid token, by its header or a session, or a stranger.
#[derive(Clone, Default)]
pub struct Sender {
    /// Whose token a request of the API has.
    pub caller: Option<Caller>,
    /// The session of a request of the pages.
    pub session: Option<Session>,
    /// Whether a proxy says that the request came to it over TLS.
    pub is_over_tls: bool,
}

impl Sender {
    /// Whoever that is, where it is no stranger.
    pub fn caller(&self) -> Option<&Caller> {
        let of_session = self.session.as_ref().map(|session| &session.caller);
        self.caller.as_ref().or(of_session)
    }
}
