//! Somebody with a browser that has no scripts: keeps cookies, follows redirects, fills in forms.

use std::collections::BTreeMap;

use ureq::Agent;
use ureq::http::{Request, Response};

/// Redirects that are followed.
const HOPS: usize = 10;

/// Somebody with a browser.
pub struct Surfer {
    agent: Agent,
    /// Cookies by the name of their site and their own.
    cookies: BTreeMap<(String, String), String>,
}

/// What was got.
#[derive(Debug)]
pub struct Page {
    /// Its address.
    pub address: String,
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub text: String,
}

impl Page {
    /// The value of a header; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(have, _)| have == name);
        found.map_or("", |(_, value)| value)
    }

    /// Itself, if it has this status and text.
    #[track_caller]
    pub fn says(self, status: u16, text: &str) -> Page {
        assert_eq!(self.status, status, "{}", self.text);
        assert!(self.text.contains(text), "no '{text}' in {}", self.text);
        self
    }

    /// What follows `before` in its text, up to the next `after`.
    #[track_caller]
    pub fn between(&self, before: &str, after: &str) -> String {
        let found = self.text.split_once(before);
        let (_, rest) = found.unwrap_or_else(|| panic!("no '{before}' in {}", self.text));
        let found = rest.split_once(after).expect("an end").0;
        found.replace("&#38;", "&").replace("&amp;", "&")
    }
}

/// The part of an address before its path, and the rest.
fn parts(address: &str) -> (&str, &str) {
    let start = address.find("://").expect("an address") + 3;
    let path = address[start..].find('/').map(|place| place + start);
    address.split_at(path.unwrap_or(address.len()))
}

/// The machine that an address names; cookies are sent to all of its ports.
fn site(address: &str) -> String {
    let (origin, _) = parts(address);
    let authority = origin.split_once("://").expect("an address").1;
    authority.split(':').next().expect("a name").to_owned()
}

/// `reference` as it is meant on the page `base`.
fn resolved(base: &str, reference: &str) -> String {
    match reference.starts_with('/') {
        true => parts(base).0.to_owned() + reference,
        false => reference.to_owned(),
    }
}

impl Surfer {
    /// Somebody who was nowhere yet.
    pub fn new() -> Surfer {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .proxy(None)
            .build();
        Surfer {
            agent: config.into(),
            cookies: BTreeMap::new(),
        }
    }

    /// The names and values of the cookies of the site of `address`.
    pub fn cookies(&self, address: &str) -> Vec<(String, String)> {
        let site = site(address);
        let own = self.cookies.iter().filter(|((of, _), _)| *of == site);
        own.map(|((_, name), value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Puts a cookie of the site of `address` in place.
    pub fn set_cookie(&mut self, address: &str, name: &str, value: &str) {
        let key = (site(address), name.to_owned());
        self.cookies.insert(key, value.to_owned());
    }

    /// Asks for an address, and no further.
    pub fn get(&mut self, address: &str) -> Page {
        self.send("GET", address, None)
    }

    /// Asks for an address and goes where it leads.
    pub fn visit(&mut self, address: &str) -> Page {
        let page = self.get(address);
        self.follow(page)
    }

    /// Sends a form to an address and goes where it leads.
    pub fn post(&mut self, address: &str, fields: &[(&str, &str)]) -> Page {
        let mut body = form_urlencoded(fields);
        let page = self.send("POST", address, Some(std::mem::take(&mut body)));
        self.follow(page)
    }

    /// Goes where redirects lead, and pages that go on by themselves.
    pub fn follow(&mut self, mut page: Page) -> Page {
        for _ in 0..HOPS {
            let to = match (page.header("location"), page.header("refresh")) {
                ("", "") => return page,
                ("", refresh) => refresh.split_once("url=").expect("an address").1,
                (location, _) => location,
            };
            let to = resolved(&page.address, to);
            page = self.get(&to);
        }
        panic!("too many redirects, the last to {}", page.address);
    }

    fn send(&mut self, method: &str, address: &str, body: Option<String>) -> Page {
        let cookies: Vec<String> = self
            .cookies(address)
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let mut request = Request::builder().method(method).uri(address);
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        let sent = match body {
            None => self.agent.run(request.body(()).expect("a request")),
            Some(body) => {
                let request = request
                    .header("origin", parts(address).0)
                    .header("content-type", "application/x-www-form-urlencoded");
                self.agent.run(request.body(body).expect("a request"))
            }
        };
        let page = read(address, sent.expect("an answer"));
        for (name, value) in &page.headers {
            if name == "set-cookie" {
                self.keep(address, value);
            }
        }
        page
    }

    fn keep(&mut self, address: &str, header: &str) {
        let cookie = header.split(';').next().expect("a cookie");
        let (name, value) = cookie.split_once('=').expect("a value");
        let key = (site(address), name.trim().to_owned());
        let is_gone = value.is_empty() || header.contains("Max-Age=0");
        match is_gone {
            true => self.cookies.remove(&key),
            false => self.cookies.insert(key, value.to_owned()),
        };
    }
}

fn read(address: &str, mut response: Response<ureq::Body>) -> Page {
    let headers = response.headers().iter();
    let headers = headers
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or("").to_owned()))
        .collect();
    Page {
        address: address.to_owned(),
        status: response.status().as_u16(),
        headers,
        text: response.body_mut().read_to_string().expect("text"),
    }
}

/// A form as browsers send it.
fn form_urlencoded(fields: &[(&str, &str)]) -> String {
    let encoded = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte.is_ascii_alphanumeric() {
                true => char::from(byte).to_string(),
                false => format!("%{byte:02X}"),
            })
            .collect()
    };
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    pairs.join("&")
}
