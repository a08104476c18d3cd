//! The host names under which the service may be asked.
//!
//! A page of another site can have its own name point to this machine, and then talk to the service
//! as if the service were its own (DNS rebinding). So a request is answered only if its `Host` is a
//! name that the service has: `localhost`, an address in numbers, which no foreign name can be, or
//! a name that the operator of the service gave.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

/// The host names that a service has.
#[derive(Debug, Clone)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// Makes the names `localhost`, all addresses, and `names`.
    pub fn new(names: Vec<String>) -> Hosts {
        Hosts(names)
    }

    /// Whether `request` names the service.
    pub fn is_named_by(&self, request: &Request) -> bool {
        asked(request.uri(), request.headers()).is_some_and(|host| self.has(host))
    }

    /// Whether `authority`, a name with or without a port, is a name of the service.
    fn has(&self, authority: &str) -> bool {
        let Ok(parsed) = authority.parse::<Authority>() else {
            return false;
        };
        let host = parsed.host().trim_end_matches('.');
        let numbers = host.trim_start_matches('[').trim_end_matches(']');
        let is = |name: &str| host.eq_ignore_ascii_case(name.trim_end_matches('.'));
        !authority.contains('@')
            && (numbers.parse::<IpAddr>().is_ok()
                || is("localhost")
                || self.0.iter().any(|name| is(name)))
    }
}

/// The host name in a request, with the port if there is one.
pub fn asked<'r>(uri: &'r Uri, headers: &'r HeaderMap) -> Option<&'r str> {
    if let Some(authority) = uri.authority() {
        return Some(authority.as_str());
    }
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    #[test]
    fn only_own_names_are_answered() {
        let hosts = Hosts::new(vec!["audits.example.org".to_owned()]);
        for own in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:8080",
            "192.0.2.7",
            "[::1]:8080",
            "audits.example.org",
            "Audits.Example.org.:443",
        ] {
            assert!(hosts.has(own), "{own}");
        }
        for foreign in [
            "",
            "evil.example",
            "audits.example.org.evil.example",
            "xaudits.example.org",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.1@evil.example",
            "evil.example@127.0.0.1",
            "a b",
        ] {
            assert!(!hosts.has(foreign), "{foreign}");
        }
        let named = |lines: &[&str]| {
            let mut request = Request::builder().uri("/");
            for line in lines {
                request = request.header("host", *line);
            }
            hosts.is_named_by(&request.body(Body::empty()).unwrap())
        };
        assert!(named(&["localhost"]));
        assert!(!named(&[]) && !named(&["localhost", "localhost"]));
    }
}
