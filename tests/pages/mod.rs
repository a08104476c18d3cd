//! A visitor of the pages of `probity serve` without a browser.

#![allow(dead_code)] // Each test program uses its own part of this.

use std::thread;
use std::time::{Duration, Instant};

use ureq::Agent;
use ureq::http::{Request, Response};

use crate::service::Server;

/// How long a job may take.
const DEADLINE: Duration = Duration::from_secs(300);

/// A visitor: speaks HTTP as a browser does, with a cookie and the origin of its forms.
pub struct Visitor<'a> {
    service: &'a Server,
    agent: Agent,
    /// The cookie that is sent; empty for none.
    pub cookie: String,
}

/// An answer, read.
pub struct Answer {
    /// Its status.
    pub status: u16,
    headers: Vec<(String, String)>,
    /// Its body.
    pub text: String,
}

impl Answer {
    fn of(mut response: Response<ureq::Body>) -> Answer {
        let headers = response.headers().iter();
        let headers = headers
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        Answer {
            status: response.status().as_u16(),
            headers,
            text: response.body_mut().read_to_string().unwrap(),
        }
    }

    /// The value of a header; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(have, _)| have == name);
        found.map_or("", |(_, value)| value)
    }

    /// The secret that the forms of the page carry.
    pub fn secret(&self) -> String {
        let (_, rest) = self.text.split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

impl<'a> Visitor<'a> {
    /// Somebody who has not logged in.
    pub fn new(service: &'a Server) -> Visitor<'a> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            // The service may close a connection whose request it refused before the end.
            .max_idle_connections(0)
            .proxy(None)
            .build();
        Visitor {
            service,
            agent: config.into(),
            cookie: String::new(),
        }
    }

    /// Somebody who has.
    pub fn logged_in(service: &'a Server) -> Visitor<'a> {
        let mut visitor = Visitor::new(service);
        let answer = visitor.post("/login", &[("token", &service.token)]);
        assert_eq!(answer.status, 303, "{}", answer.text);
        assert_eq!(answer.header("location"), "/");
        let cookie = answer.header("set-cookie");
        visitor.cookie = cookie.split(';').next().unwrap().to_owned();
        visitor
    }

    /// Asks for a page.
    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], Vec::new())
    }

    /// Sends a form as a page of the service does.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.post_from(&self.service.page(""), path, fields)
    }

    /// Sends a form as a page of `origin` does; empty: without saying so.
    pub fn post_from(&self, origin: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let pairs: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("origin", origin),
        ];
        let sent = match origin.is_empty() {
            true => &headers[..1],
            false => &headers[..],
        };
        self.send("POST", path, sent, pairs.join("&").into_bytes())
    }

    /// Sends a form with a file.
    pub fn upload(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        name: &str,
        content: impl AsRef<[u8]>,
    ) -> Answer {
        let boundary = "a-boundary-that-is-not-in-the-file";
        let mut body = String::new();
        for (field, value) in fields {
            body.push_str(&format!(
                "--{boundary}\r\ncontent-disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n"
            ));
        }
        body.push_str(&format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
        ));
        let mut body = body.into_bytes();
        body.extend_from_slice(content.as_ref());
        body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        let kind = format!("multipart/form-data; boundary={boundary}");
        let origin = self.service.page("");
        let headers = [("content-type", kind.as_str()), ("origin", &origin)];
        self.send("POST", path, &headers, body)
    }

    /// Sends a request.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(self.service.page(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !self.cookie.is_empty() {
            request = request.header("cookie", &self.cookie);
        }
        let answer = match method {
            "GET" | "HEAD" => self.agent.run(request.body(()).unwrap()),
            _ => self.agent.run(request.body(body).unwrap()),
        };
        Answer::of(answer.unwrap())
    }

    /// Starts a job by its form; gives its identifier once it is done.
    pub fn does(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let secret = self.get("/").secret();
        let mut sent = vec![("csrf", secret.as_str())];
        sent.extend_from_slice(fields);
        let answer = self.post(path, &sent);
        assert_eq!(answer.status, 303, "{path}: {}", answer.text);
        let job = answer.header("location").to_owned();
        let start = Instant::now();
        loop {
            let page = self.get(&job);
            assert!(
                !page.text.contains("data-state=\"failed\""),
                "{}",
                page.text
            );
            if page.text.contains("data-state=\"done\"") {
                return job.trim_start_matches("/jobs/").to_owned();
            }
            assert!(start.elapsed() < DEADLINE, "{}", page.text);
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Uploads a small table called `label`; gives its identifier.
    pub fn with_table(&self, label: &str) -> String {
        let secret = self.get("/").secret();
        let table = "age,sex,income\n30,Male,high\n40,Female,low\n50,Male,high\n35,Female,low\n";
        let fields = [
            ("csrf", secret.as_str()),
            ("label", label),
            ("kind", "table"),
        ];
        let answer = self.upload("/data/new", &fields, "../../people.csv", table);
        assert_eq!(answer.status, 303, "{}", answer.text);
        let address = answer.header("location").to_owned();
        address.split('/').nth(2).unwrap().to_owned()
    }
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}
