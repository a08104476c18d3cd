//! Log-in by an identity provider: OpenID Connect Core 1.0, by the authorisation code with PKCE.
//!
//! A company's people have accounts with its provider already. The provider says who somebody is;
//! the service decides what they may do, as for holders of tokens: an owner or an administrator
//! *gives access* to a person, with a project, a role and perhaps a last day. Such an access is a
//! token without a secret: a row among the tokens, which is listed, revoked, ended and logged as
//! they are, and the sessions of the pages are sessions of it. So nothing that needs a token, a
//! [`Scope`](crate::store::Scope) or a turn knows how somebody logged in.
//!
//! An access is given to an e-mail address, or to a subject, the identifier that the provider has
//! for somebody. An address counts only if the provider says that it verified it. The first log-in
//! binds the access to issuer and subject, which alone never change hands: whoever is given the
//! address later does not come in with it.
//!
//! | step | where      | what                                                               |
//! |------|------------|--------------------------------------------------------------------|
//! | 1    | `begun`    | [`BEGIN`] makes a state, of which nonce and PKCE verifier follow,  |
//! |      |            | and sends the browser to the provider, with a cookie of ours       |
//! | 2    | elsewhere  | the provider logs the person in and sends the browser to [`RETURN`]|
//! | 3    | `begun`    | the state must be that of a cookie, and no log-in have ended by it |
//! | 4    | `flow`     | the code is exchanged, and the ID token checked: signature by the  |
//! |      |            | provider's keys, issuer, audience, party, time, nonce              |
//! | 5    | `store`    | the accesses of the person are looked up; one gets a session       |
//!
//! **Nothing is held for a log-in that was begun.** Its data are in the cookie, under a message
//! authentication code with a key of this process, so somebody who begins log-ins without end fills
//! only their own browser. Nonce and verifier are derived from the state with the same key, so the
//! cookie does not hold them. The service holds the states with which somebody did log in, as long
//! as they could be used again. A restart forgets the key, and with it all log-ins under way.
//!
//! **The provider is trusted to say who somebody is, and with nothing else.** Requests to it
//! (`asking`) are bounded in time and size and follow no redirect; its answers are data of a
//! stranger until they were checked. Metadata and keys are kept for an hour, and asked for again
//! when a token names a key that is not among them.

pub(crate) mod asking;
pub(crate) mod begun;
pub(crate) mod failure;
pub(crate) mod flow;
mod metadata;
mod options;

pub(crate) use flow::Provider;
pub use options::{ProviderError, ProviderOptions};

/// The address at which a log-in by the provider begins.
pub(crate) const BEGIN: &str = "/login/provider";

/// The address that the provider sends the browser back to.
pub(crate) const RETURN: &str = "/login/provider/return";
