//! Requests to other machines: to addresses that users name, and to the identity provider.
//!
//! A user who names an address must not reach through the service what they cannot reach
//! themselves: the machine of the service, its network, the metadata of its host. So the addresses
//! that a name stands for are checked when the connection is made, not before; unless the operator
//! allows it, none of them may be a private one. Redirects are not followed, proxies of the
//! environment are not used, and of an answer only the status is read. The provider is named by the
//! operator, who may well have it in their own network; its answers are bounded in time and size. So
//! is the storage of artefacts, which has a client of its own (`artefacts`), and so is the server of the
//! database.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Request, Response, Uri};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use ureq::config::Config;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

/// How long a request may take, from the name to the head of the answer.
const TIME: Duration = Duration::from_secs(10);

/// The greatest number of bytes of an address.
const LONGEST: usize = 1000;

/// Checks that `text` is an address that something can be sent to.
/// Fails with the reason why `text` is none.
pub fn url(text: &str, allows_private: bool) -> Result<String, &'static str> {
    let text = text.trim();
    if text.len() > LONGEST {
        return Err("The address is too long.");
    }
    let expected = "An address is expected such as https://hooks.example.org/probity.";
    let uri: Uri = text.parse().map_err(|_| expected)?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(expected);
    }
    let authority = uri.authority().ok_or(expected)?;
    if authority.as_str().contains('@') {
        return Err("An address must not hold a name or a password.");
    }
    let host = authority.host().trim_matches(['[', ']']);
    let is_private = match host.parse() {
        Ok(address) => !is_public(address),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    };
    match host.is_empty() {
        true => Err(expected),
        false if is_private && !allows_private => {
            Err("This service sends nothing to private addresses.")
        }
        false => Ok(uri.to_string()),
    }
}

/// Whether `address` is one of a machine on the open internet.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Whether an IPv4 address is in none of the blocks that IANA has reserved.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

/// Whether an IPv6 address is in 2000::/3, which IANA has given out, and in none of its parts that
/// stand for something else, such as IPv4 addresses.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    a & 0xe000 == 0x2000
        && !matches!(
            (a, b),
            (0x2001, 0..=0x1ff | 0xdb8) | (0x2002, _) | (0x3fff, 0..=0xfff)
        )
}

/// A resolver that finds the addresses of a name, and refuses private ones.
#[derive(Debug)]
struct Outside {
    allows_private: bool,
    names: DefaultResolver,
}

impl Resolver for Outside {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.names.resolve(uri, config, timeout)?;
        let are_public = found.iter().all(|address| is_public(address.ip()));
        match self.allows_private || are_public {
            true => Ok(found),
            false => Err(io::Error::from(io::ErrorKind::PermissionDenied).into()),
        }
    }
}

/// The result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The answer came with this status.
    Answered(u16),
    /// The request failed for this reason.
    Failed(&'static str),
}

/// The root certificates in `file`, as PEM; without a file those that browsers trust.
/// Fails with what is wrong with the file.
pub fn roots(file: Option<&Path>) -> Result<RootCerts, String> {
    let Some(file) = file else {
        return Ok(RootCerts::WebPki);
    };
    let wrong =
        |what: String| format!("cannot read the certificates in {}: {what}", file.display());
    let text = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(one) = item.map_err(|error| wrong(error.to_string()))? {
            certificates.push(one);
        }
    }
    match certificates.is_empty() {
        true => Err(wrong("there is none as PEM".to_owned())),
        false => Ok(RootCerts::new_with_certs(&certificates)),
    }
}

/// The settings of connections over TLS other than those of HTTP: the other machine has to have a
/// certificate that one of `roots` stands behind.
/// Fails with what is wrong with the certificates.
pub fn tls(roots: &RootCerts) -> Result<ClientConfig, String> {
    let mut store = RootCertStore::empty();
    match roots {
        RootCerts::Specific(certificates) => {
            for certificate in certificates.iter() {
                let added = store.add(CertificateDer::from(certificate.der().to_vec()));
                added.map_err(|error| format!("cannot use a certificate: {error}"))?;
            }
        }
        _ => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let versions = versions.map_err(|error| error.to_string())?;
    Ok(versions.with_root_certificates(store).with_no_client_auth())
}

/// Makes an HTTP client for requests of at most `time`: without redirects, proxies and connections
/// that are kept.
fn agent(time: Duration, roots: RootCerts, allows_private: bool) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(0)
        .proxy(None)
        .timeout_global(Some(time))
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .user_agent(concat!("probity/", env!("CARGO_PKG_VERSION")))
        .build();
    let outside = Outside {
        allows_private,
        names: DefaultResolver::default(),
    };
    Agent::with_parts(config, DefaultConnector::default(), outside)
}

/// The reason why a request was not sent or not answered, in words.
fn reason(error: &Error) -> &'static str {
    match error {
        Error::Timeout(_) => "did not answer in time",
        Error::HostNotFound => "is not known by this name",
        Error::BodyExceedsLimit(_) => "answers more than is read of it",
        Error::Tls(_) | Error::Rustls(_) => "could not be talked to over TLS",
        Error::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            "has a private address, to which this service sends nothing"
        }
        Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            "could not be talked to over TLS"
        }
        _ => "could not be reached",
    }
}

/// Posts `body`, which is JSON, to `url` with `headers`, and waits for the status of the answer.
pub fn post(url: &str, headers: &[(&str, &str)], body: &str, allows_private: bool) -> Sent {
    let agent = agent(TIME, RootCerts::WebPki, allows_private);
    let mut request = agent.post(url).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    match request.send(body) {
        Ok(response) => Sent::Answered(response.status().as_u16()),
        Err(error) => Sent::Failed(reason(&error)),
    }
}

/// Sends `request` wherever it leads and reads the answer, for as long as `time` and up to `bytes`
/// bytes. Fails with what the other machine did or did not do.
pub fn ask(
    request: Request<Vec<u8>>,
    time: Duration,
    bytes: u64,
    roots: RootCerts,
) -> Result<Response<Vec<u8>>, &'static str> {
    let agent = agent(time, roots, true);
    let sent = match request.method().as_str() {
        "GET" => agent.run(request.map(|_| ())),
        _ => agent.run(request),
    };
    let (head, mut body) = sent.map_err(|error| reason(&error))?.into_parts();
    let body = body.with_config().limit(bytes).read_to_vec();
    let body = body.map_err(|error| reason(&error))?;
    Ok(Response::from_parts(head, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_in_all_their_guises() {
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "100.63.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "::ffff:1.1.1.1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn addresses_are_those_of_the_web() {
        for right in [
            "https://hooks.example.org/probity?team=1",
            " http://hooks.example.org:8080 ",
            "https://1.1.1.1/",
        ] {
            assert!(url(right, false).is_ok(), "{right}");
        }
        for wrong in [
            "",
            "hooks.example.org",
            "/hooks",
            "ftp://hooks.example.org/",
            "file:///etc/passwd",
            "https://",
            "https://ada:secret@hooks.example.org/",
            "https://hooks.example.org/a b",
        ] {
            assert!(url(wrong, true).is_err(), "{wrong:?}");
        }
        for private in [
            "http://127.0.0.1:9/",
            "http://[::1]/",
            "http://LOCALHOST/",
            "http://[::ffff:169.254.169.254]/",
        ] {
            assert!(url(private, false).is_err(), "{private}");
            assert!(url(private, true).is_ok(), "{private}");
        }
        assert!(url(&format!("https://a/{}", "b".repeat(LONGEST)), true).is_err());
    }

    #[test]
    fn names_of_private_addresses_are_refused_where_the_connection_is_made() {
        // By the machine's name, and by numbers in other forms: all forms are looked up.
        for address in [
            "http://localhost:1/",
            "http://127.0.0.1:1/",
            "http://2130706433:1/",
            "http://0x7f.1:1/",
        ] {
            let sent = post(address, &[], "{}", false);
            let private = "has a private address, to which this service sends nothing";
            let unknown = [
                Sent::Failed(private),
                Sent::Failed("could not be reached"),
                Sent::Failed("is not known by this name"),
            ];
            assert!(unknown.contains(&sent), "{address}: {sent:?}");
        }
        assert_eq!(
            post("http://127.0.0.1:1/", &[], "{}", true),
            Sent::Failed("could not be reached")
        );
    }
}
