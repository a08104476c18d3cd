//! The HTTP client of the storage: the one that the service asks other machines with, for
//! `object_store`.
//!
//! Requests and answers are held in memory, and bounded: files are sent and fetched in parts.
//! Redirects are not followed, and proxies of the environment are not used.

use std::time::Duration;

use async_trait::async_trait;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, Response};
use bytes::Bytes;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Error};

/// The number of bytes of the parts in which files are sent and fetched, each held in memory. The
/// protocol has parts of 5 MiB at least.
pub(super) const PART: u64 = 8 << 20;

/// The greatest number of bytes of an answer: those of a part of a file, or of a list of keys.
const ANSWER: u64 = PART + (1 << 20);

/// How long a connection is kept that nothing is sent over; storage ends those of its clients after
/// five seconds or later.
const IDLE: Duration = Duration::from_secs(3);

/// The settings of the environment that mean nothing here, and are refused rather than passed over.
const REFUSED: [ClientConfigKey; 6] = [
    ClientConfigKey::ProxyUrl,
    ClientConfigKey::ProxyCaCertificate,
    ClientConfigKey::ProxyExcludes,
    ClientConfigKey::AllowInvalidCertificates,
    ClientConfigKey::Http2Only,
    ClientConfigKey::ReadTimeout,
];

/// Makes HTTP clients that trust certain root certificates.
#[derive(Debug)]
pub(super) struct Connector {
    roots: RootCerts,
}

impl Connector {
    /// Makes a connector whose clients trust `roots`.
    pub fn new(roots: RootCerts) -> Connector {
        Connector { roots }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let value = |key: ClientConfigKey| options.get_config_value(&key);
        let is_set = |key: &ClientConfigKey| {
            let value = options.get_config_value(key);
            value.is_some_and(|value| value != "false")
        };
        if let Some(key) = REFUSED.iter().find(|key| is_set(key)) {
            let name = key.as_ref().to_uppercase();
            return Err(wrong(format!("AWS_{name} is not supported here")));
        }
        let time = |key: ClientConfigKey| match value(key) {
            None => Ok(None),
            Some(text) => humantime::parse_duration(&text).map(Some).map_err(|_| {
                let name = key.as_ref().to_uppercase();
                wrong(format!("AWS_{name}: '{text}' is no length of time"))
            }),
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_age(IDLE)
            .proxy(None)
            .timeout_global(time(ClientConfigKey::Timeout)?)
            .timeout_connect(time(ClientConfigKey::ConnectTimeout)?)
            .tls_config(TlsConfig::builder().root_certs(self.roots.clone()).build())
            .user_agent(concat!("probity/", env!("CARGO_PKG_VERSION")))
            .build();
        let plain = value(ClientConfigKey::AllowHttp).unwrap_or_default();
        Ok(HttpClient::new(Client {
            agent: config.into(),
            allows_plain: plain.eq_ignore_ascii_case("true"),
        }))
    }
}

fn wrong(what: String) -> object_store::Error {
    object_store::Error::NotSupported {
        source: what.into(),
    }
}

#[derive(Debug)]
struct Client {
    agent: Agent,
    allows_plain: bool,
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if request.uri().scheme_str() != Some("https") && !self.allows_plain {
            let plain = "the endpoint has no TLS; only AWS_ALLOW_HTTP=true allows that";
            return Err(HttpError::new_boxed(HttpErrorKind::Unknown, plain.into()));
        }
        let (head, body) = request.into_parts();
        let body = to_bytes(Body::new(body), usize::MAX).await;
        let body = body.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        let agent = self.agent.clone();
        let asked =
            tokio::task::spawn_blocking(move || ask(&agent, Request::from_parts(head, body)));
        match asked.await {
            Ok(answer) => Ok(answer.map_err(failed)?.map(HttpResponseBody::from)),
            Err(error) => Err(HttpError::new(HttpErrorKind::Interrupted, error)),
        }
    }
}

/// Sends `request`, and reads the answer.
fn ask(agent: &Agent, request: Request<Bytes>) -> Result<Response<Vec<u8>>, Error> {
    let (head, body) = request.into_parts();
    let answer = match [Method::PUT, Method::POST].contains(&head.method) {
        true => agent.run(Request::from_parts(head, &body[..]))?,
        false => agent.run(Request::from_parts(head, ()))?,
    };
    let (head, mut body) = answer.into_parts();
    let body = body.with_config().limit(ANSWER).read_to_vec()?;
    Ok(Response::from_parts(head, body))
}

/// The failure of a request, with what it means for another try.
fn failed(error: Error) -> HttpError {
    let kind = match &error {
        Error::Timeout(_) => HttpErrorKind::Timeout,
        Error::HostNotFound | Error::ConnectionFailed => HttpErrorKind::Connect,
        Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            HttpErrorKind::Connect
        }
        Error::Io(_) | Error::Protocol(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}

#[cfg(test)]
mod tests {
    use object_store::client::HttpRequestBody;

    use super::*;

    fn connected(options: &ClientOptions) -> object_store::Result<HttpClient> {
        Connector::new(RootCerts::WebPki).connect(options)
    }

    #[test]
    fn settings_that_mean_nothing_are_refused() {
        assert!(connected(&ClientOptions::new()).is_ok());
        for (key, value) in [
            (ClientConfigKey::ProxyUrl, "http://127.0.0.1:1"),
            (ClientConfigKey::AllowInvalidCertificates, "true"),
            (ClientConfigKey::Timeout, "soon"),
        ] {
            let options = ClientOptions::new().with_config(key, value);
            assert!(connected(&options).is_err(), "{key:?}");
        }
    }

    #[tokio::test]
    async fn plain_http_is_spoken_only_where_that_is_allowed() {
        let ask = async |options: ClientOptions| {
            let request = Request::get("http://127.0.0.1:1/").body(HttpRequestBody::empty());
            let client = connected(&options).unwrap();
            client.execute(request.unwrap()).await.unwrap_err()
        };
        let refused = ask(ClientOptions::new()).await;
        assert_eq!(refused.kind(), HttpErrorKind::Unknown);
        assert!(refused.to_string().contains("AWS_ALLOW_HTTP"), "{refused}");
        let tried = ask(ClientOptions::new().with_allow_http(true)).await;
        assert_eq!(tried.kind(), HttpErrorKind::Connect);
    }
}
