//! Log-ins that were begun and wait for the provider, in cookies, and the memory of those that
//! ended.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::digest::InvalidLength;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::identifier::{NoRandomness, random_bytes};
use crate::moment::Moment;
use crate::store::SessionKey;
use probity_run::run_directory::hex;

/// How long somebody may take to log in with the provider.
pub(crate) const TIME: Duration = Duration::from_secs(10 * 60);

/// The number of characters of a state.
const STATE: usize = 64;

/// What a message authentication code is for; codes for different things have different inputs.
const COOKIE: &str = "cookie";
const NONCE: &str = "nonce";
const VERIFIER: &str = "verifier";

/// A log-in that was begun, as its cookie holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Begun {
    /// The state: 256 random bits in hexadecimal digits, which go to the provider and come back.
    pub state: String,
    /// The page that the log-in leads to.
    pub next: String,
    /// The session that the browser had before. The last step, which another site leads to, does
    /// not come with the session's cookie.
    pub before: Option<SessionKey>,
    begun: Moment,
}

/// The key of log-ins that are begun, and the states of the log-ins that ended.
pub(crate) struct Begins {
    key: [u8; 32],
    /// The states with which somebody logged in, each with the time when it can no longer be used.
    ended: Mutex<HashMap<String, Moment>>,
}

impl Begins {
    /// Makes a random key of its own.
    pub fn new() -> Result<Begins, NoRandomness> {
        Ok(Begins {
            key: random_bytes()?,
            ended: Mutex::default(),
        })
    }

    /// Begins a log-in that leads to the page `next` and takes the place of the session `before`.
    pub fn begin(&self, next: &str, before: Option<SessionKey>) -> Result<Begun, NoRandomness> {
        Ok(Begun {
            state: hex(&random_bytes::<32>()?),
            next: next.to_owned(),
            before,
            begun: Moment::now(),
        })
    }

    /// The content of the cookie of a log-in.
    pub fn sealed(&self, begun: &Begun) -> Result<String, InvalidLength> {
        let next = URL_SAFE_NO_PAD.encode(&begun.next);
        let before = begun.before.map(|key| URL_SAFE_NO_PAD.encode(key.0));
        let before = before.unwrap_or_default();
        let text = format!("{}.{}.{next}.{before}", begun.state, begun.begun.0);
        let code = self.code(COOKIE, &text)?;
        Ok(format!("{text}.{code}"))
    }

    /// Returns the log-in whose cookie holds `sealed`, unless it is of another process or over.
    pub fn opened(&self, sealed: &str) -> Option<Begun> {
        let (text, code) = sealed.rsplit_once('.')?;
        let own = self.code(COOKIE, text).ok()?;
        if !bool::from(own.as_bytes().ct_eq(code.as_bytes())) {
            return None;
        }
        let mut parts = text.split('.');
        let (state, begun) = (parts.next()?, parts.next()?);
        let mut decoded = || URL_SAFE_NO_PAD.decode(parts.next()?).ok();
        let (next, before) = (decoded()?, decoded()?);
        let begun = Moment(begun.parse().ok()?);
        (begun.after(TIME) > Moment::now()).then_some(Begun {
            state: state.to_owned(),
            next: String::from_utf8(next).ok()?,
            before: before.try_into().ok().map(SessionKey),
            begun,
        })
    }

    /// Compares two log-ins that were begun: the older one comes first.
    pub fn older_first(one: &Begun, other: &Begun) -> std::cmp::Ordering {
        one.begun.cmp(&other.begun)
    }

    /// The nonce of a log-in, which the ID token must have.
    pub fn nonce(&self, begun: &Begun) -> Result<String, InvalidLength> {
        self.code(NONCE, &begun.state)
    }

    /// The PKCE verifier of a log-in: 43 characters of those that RFC 7636 allows.
    pub fn verifier(&self, begun: &Begun) -> Result<String, InvalidLength> {
        self.code(VERIFIER, &begun.state)
    }

    /// Ends a log-in whose person has proved who they are; false if a log-in with its state has
    /// ended before.
    pub fn end(&self, begun: &Begun) -> bool {
        let now = Moment::now();
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|_, until| *until > now);
        let until = begun.begun.after(TIME);
        ended.insert(begun.state.clone(), until).is_none()
    }

    fn code(&self, purpose: &str, text: &str) -> Result<String, InvalidLength> {
        let mut code = Hmac::<Sha256>::new_from_slice(&self.key)?;
        code.update(purpose.as_bytes());
        code.update(b":");
        code.update(text.as_bytes());
        Ok(URL_SAFE_NO_PAD.encode(code.finalize().into_bytes()))
    }
}

/// Whether `text` has the form of a state.
pub(crate) fn is_state(text: &str) -> bool {
    text.len() == STATE
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_holds_its_log_in_and_no_other() {
        let begins = Begins::new().unwrap();
        let begun = begins
            .begin("/data/new?a=b.c", Some(SessionKey([7; 32])))
            .unwrap();
        assert!(is_state(&begun.state));
        let sealed = begins.sealed(&begun).unwrap();
        assert_eq!(begins.opened(&sealed), Some(begun.clone()));
        // A cookie of another process is refused, and one with any character changed.
        assert_eq!(Begins::new().unwrap().opened(&sealed), None);
        for place in 0..sealed.len() {
            let mut other = sealed.clone().into_bytes();
            other[place] = if other[place] == b'0' { b'1' } else { b'0' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(begins.opened(&other), None, "{other}");
        }
        assert_eq!(begins.opened(""), None);
        assert_eq!(begins.opened("..."), None);
        // The secrets follow from the state, differ, and are not in the cookie.
        let (nonce, verifier) = (begins.nonce(&begun), begins.verifier(&begun));
        let (nonce, verifier) = (nonce.unwrap(), verifier.unwrap());
        assert_eq!((nonce.len(), verifier.len()), (43, 43));
        assert_ne!(nonce, verifier);
        assert!(!sealed.contains(&nonce) && !sealed.contains(&verifier));
        let second = begins.begin("/", None).unwrap();
        assert_ne!(begins.nonce(&second).unwrap(), nonce);
    }

    #[test]
    fn a_log_in_is_over_after_a_while() {
        let begins = Begins::new().unwrap();
        let mut begun = begins.begin("/", None).unwrap();
        let old = Moment::now().0.saturating_sub(TIME.as_secs());
        begun.begun = Moment(old);
        assert_eq!(begins.opened(&begins.sealed(&begun).unwrap()), None);
    }

    #[test]
    fn a_state_ends_one_log_in_and_is_forgotten_once_it_is_over() {
        let begins = Begins::new().unwrap();
        let mut begun = begins.begin("/", None).unwrap();
        assert!(begins.end(&begun));
        assert!(!begins.end(&begun));
        begun.begun = Moment(0);
        begun.state = "0".repeat(STATE);
        assert!(begins.end(&begun));
        assert!(begins.end(&begins.begin("/", None).unwrap()));
        assert_eq!(begins.ended.lock().unwrap().len(), 2);
    }
}
