//! A small HTTP client over a plain socket, so that a test can send exactly what it wants to.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Long enough for anything that a test waits for; an answer that never comes fails the test.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers: lower-case names and values.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The value of a header; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(have, _)| have == name);
        found.map_or("", |(_, value)| value)
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("the body is UTF-8")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {} {}", self.status, self.text()))
    }

    /// Itself, if it has this status.
    pub fn expect(self, status: u16) -> Answer {
        assert_eq!(
            self.status,
            status,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        self
    }

    /// Itself, if it is a problem document with this status whose detail has `needle` in it.
    pub fn refuses(self, status: u16, needle: &str) -> Answer {
        assert_eq!(
            self.status,
            status,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        assert_eq!(self.header("content-type"), "application/problem+json");
        let document = self.json();
        assert_eq!(document["status"], status);
        assert!(
            document["type"]
                .as_str()
                .is_some_and(|kind| kind.starts_with("urn:probity:problem:")),
            "{document}"
        );
        assert!(document["title"].is_string(), "{document}");
        let detail = document["detail"].as_str().expect("a detail");
        assert!(detail.contains(needle), "'{needle}' in '{detail}'");
        self
    }
}

/// Sends `bytes` to `address` and reads the answer.
pub fn raw(address: &str, bytes: &[u8]) -> Answer {
    let mut stream = open(address, bytes);
    read_answer(&mut stream)
}

/// A request with a body; `head` holds lines such as `Authorization: …`.
pub fn request(address: &str, method: &str, path: &str, head: &[String], body: &[u8]) -> Answer {
    raw(address, &compose(method, path, head, body))
}

/// The bytes of a request.
pub fn compose(method: &str, path: &str, head: &[String], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for line in head {
        bytes.push_str(line);
        bytes.push_str("\r\n");
    }
    if !body.is_empty() {
        bytes.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    bytes.push_str("\r\n");
    [bytes.as_bytes(), body].concat()
}

/// Connects and sends.
pub fn open(address: &str, bytes: &[u8]) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).expect("the service listens");
    stream
        .set_read_timeout(Some(PATIENCE))
        .expect("a time limit");
    // A service that refuses early may close while the rest is still being sent.
    let _ = stream.write_all(bytes);
    BufReader::new(stream)
}

/// Reads status and headers.
pub fn read_head(stream: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    stream.read_line(&mut line).expect("a status line");
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or_else(|| panic!("no status in '{line}'"));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return (status, headers);
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// Reads a whole answer.
pub fn read_answer(stream: &mut impl BufRead) -> Answer {
    let (status, headers) = read_head(stream);
    let mut answer = Answer {
        status,
        headers,
        body: Vec::new(),
    };
    if answer.header("transfer-encoding") == "chunked" {
        while let Some(chunk) = read_chunk(stream) {
            answer.body.extend(chunk);
        }
    } else if let Ok(length) = answer.header("content-length").parse::<usize>() {
        answer.body = vec![0; length];
        stream.read_exact(&mut answer.body).expect("the whole body");
    } else {
        stream.read_to_end(&mut answer.body).expect("the body");
    }
    answer
}

/// Reads one chunk of a chunked body; `None` at its end.
pub fn read_chunk(stream: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    stream.read_line(&mut line).expect("the length of a chunk");
    let length = usize::from_str_radix(line.trim(), 16).ok()?;
    let mut chunk = vec![0; length + 2];
    stream.read_exact(&mut chunk).expect("a chunk");
    chunk.truncate(length);
    (length > 0).then_some(chunk)
}

/// A form with texts and a file, and its content type.
pub fn form(texts: &[(&str, &str)], file_name: &str, file: &[u8]) -> (String, Vec<u8>) {
    let mark = "----probity-test-7f3a";
    let mut body = Vec::new();
    for (name, value) in texts {
        let part = format!(
            "--{mark}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        body.extend(part.as_bytes());
    }
    let head = format!(
        "--{mark}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{file_name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    body.extend(head.as_bytes());
    body.extend(file);
    body.extend(format!("\r\n--{mark}--\r\n").as_bytes());
    (
        format!("Content-Type: multipart/form-data; boundary={mark}"),
        body,
    )
}
