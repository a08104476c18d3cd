//! Requests to the provider: bounded in time and size, without redirects, over TLS.

use std::time::{Duration, Instant};

use axum::http::{Request, Response};
use thiserror::Error;
use ureq::tls::RootCerts;

use crate::outside;

/// How long one request may take.
const TIME: Duration = Duration::from_secs(4);

/// How long all requests of a log-in may take together: less than the service itself waits for
/// strangers, so that they are told which machine does not answer.
const TIME_OF_ALL: Duration = Duration::from_secs(8);

/// The greatest number of bytes of an answer. Metadata and keys take a few thousand.
const BYTES: u64 = 256 << 10;

/// The reason why the provider was not asked, or did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Unanswered {
    /// The provider's machine did or did not do something.
    #[error("it {0}")]
    Machine(&'static str),
    /// An address in the provider's metadata has no TLS.
    #[error("its metadata lead to an address without TLS")]
    Plain,
    /// The time of the log-in is over.
    #[error("it took too long")]
    TooLong,
}

/// A client that asks the provider, for as long as the time of a log-in lasts.
pub(crate) struct Asking {
    until: Instant,
    allows_plain: bool,
    roots: RootCerts,
}

impl Asking {
    /// Begins to ask: the time of the log-in runs from now on. Plain HTTP is spoken only where the
    /// issuer's own address has it.
    pub fn begin(allows_plain: bool, roots: RootCerts) -> Asking {
        Asking {
            until: Instant::now() + TIME_OF_ALL,
            allows_plain,
            roots,
        }
    }

    /// Sends one request, and returns its answer.
    pub fn ask(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, Unanswered> {
        match request.uri().scheme_str() {
            Some("https") => {}
            Some("http") if self.allows_plain => {}
            _ => return Err(Unanswered::Plain),
        }
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Unanswered::TooLong);
        }
        let roots = self.roots.clone();
        outside::ask(request, left.min(TIME), BYTES, roots).map_err(Unanswered::Machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_asked_once_the_time_is_over() {
        let asking = Asking {
            until: Instant::now(),
            allows_plain: true,
            roots: RootCerts::WebPki,
        };
        let request = |address: &str| Request::get(address).body(Vec::new()).unwrap();
        let asked = asking.ask(request("http://127.0.0.1:1/"));
        assert_eq!(asked.unwrap_err(), Unanswered::TooLong);
        let asked = asking.ask(request("ftp://127.0.0.1:1/"));
        assert_eq!(asked.unwrap_err(), Unanswered::Plain);
    }
}
