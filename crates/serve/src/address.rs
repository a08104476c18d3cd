//! The client of a request, as far as bounds go: an IPv4 address, or the /64 of an IPv6 address,
//! which is what one household or machine has.
//!
//! The peer of a connection is believed. Where the peer is a proxy that the operator of the service
//! named, the client is the last address in `X-Forwarded-For` that is no such proxy; from any other
//! peer that header is ignored, since every sender of a request can write it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::HeaderMap;

/// The address of a client, to which bounds apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Address(IpAddr);

/// The peer of the connection that a request came over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// The header in which a proxy names the client that it forwards a request for.
const FORWARDED: &str = "x-forwarded-for";

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Address {
        Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            plain @ IpAddr::V4(_) => plain,
        })
    }
}

impl Peer {
    /// Whether the peer is one of the `proxies`.
    pub fn is_among(self, proxies: &[IpAddr]) -> bool {
        is_among(self.0, proxies)
    }

    /// The address of the client of a request that this peer sent with `headers`.
    pub fn client(self, headers: &HeaderMap, proxies: &[IpAddr]) -> Address {
        let mut client = self.0;
        let values = headers.get_all(FORWARDED).into_iter();
        let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
        let hops = values.iter().rev().flat_map(|value| value.rsplit(','));
        for hop in hops {
            if !is_among(client, proxies) {
                break;
            }
            let Some(before) = parsed(hop.trim()) else {
                break;
            };
            client = before;
        }
        client.into()
    }
}

fn is_among(address: IpAddr, proxies: &[IpAddr]) -> bool {
    let address = address.to_canonical();
    proxies.iter().any(|proxy| proxy.to_canonical() == address)
}

/// Reads an address, with or without a port.
fn parsed(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse().map(|address: SocketAddr| address.ip());
    text.parse().or_else(|_| with_port()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn client(peer: &str, forwarded: &[&'static str], proxies: &[&str]) -> Address {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED, HeaderValue::from_static(value));
        }
        let proxies: Vec<IpAddr> = proxies.iter().map(|proxy| ip(proxy)).collect();
        Peer(ip(peer)).client(&headers, &proxies)
    }

    #[test]
    fn an_ipv6_address_counts_by_its_network() {
        let one = Address::from(ip("2001:db8:1:2::1"));
        assert_eq!(one, ip("2001:db8:1:2:ffff::9").into());
        assert_ne!(one, ip("2001:db8:1:3::1").into());
        assert_eq!(
            Address::from(ip("::ffff:192.0.2.1")),
            ip("192.0.2.1").into()
        );
        assert_ne!(Address::from(ip("192.0.2.2")), ip("192.0.2.1").into());
    }

    #[test]
    fn only_a_proxy_speaks_for_others() {
        let is = |text: &str| Address::from(ip(text));
        let named = ["10.0.0.1", "10.0.0.2"];
        let lie = ["192.0.2.1"];
        assert_eq!(client("198.51.100.7", &lie, &named), is("198.51.100.7"));
        assert_eq!(client("10.0.0.1", &lie, &[]), is("10.0.0.1"));
        assert_eq!(client("10.0.0.1", &lie, &named), is("192.0.2.1"));
        assert_eq!(client("10.0.0.1", &[], &named), is("10.0.0.1"));
        // The client wrote the first; the proxy wrote the last.
        let chain = ["203.0.113.5, 192.0.2.1:4711 , 10.0.0.2"];
        assert_eq!(client("::ffff:10.0.0.1", &chain, &named), is("192.0.2.1"));
        let lines = ["203.0.113.5", "192.0.2.9"];
        assert_eq!(client("10.0.0.1", &lines, &named), is("192.0.2.9"));
        assert_eq!(
            client("10.0.0.1", &["192.0.2.1, nobody"], &named),
            is("10.0.0.1")
        );
    }
}
