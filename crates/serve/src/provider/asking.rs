//! What the provider is asked for: in bounded time and size, without redirects, over TLS.

use std::time::{Duration, Instant};

use axum::http::{Request, Response};
use thiserror::Error;
use ureq::tls::RootCerts;

use crate::outside;

/// How long one question may take.
const TIME: Duration = Duration::from_secs(4);

/// How long all questions of a log-in may take together: less than the service waits itself for
/// strangers, so that they are told which machine does not answer.
const TIME_OF_ALL: Duration = Duration::from_secs(8);

/// Bytes of an answer. Metadata and keys take a few thousand.
const BYTES: u64 = 256 << 10;

/// Why the provider was not asked, or did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Unanswered {
    /// Its machine.
    #[error("it {0}")]
    Machine(&'static str),
    /// An address of its metadata would be asked in the clear.
    #[error("its metadata lead to an address without TLS")]
    Plain,
    /// The time of the log-in is over.
    #[error("it took too long")]
    TooLong,
}

/// Asks the provider, as long as the time of a log-in lasts.
pub(crate) struct Asking {
    until: Instant,
    allows_plain: bool,
    roots: RootCerts,
}

impl Asking {
    /// From now on. Plain HTTP is spoken only where the issuer itself has it.
    pub fn begin(allows_plain: bool, roots: RootCerts) -> Asking {
        Asking {
            until: Instant::now() + TIME_OF_ALL,
            allows_plain,
            roots,
        }
    }

    /// One question and its answer.
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
