//! WebDriver's wire: JSON over HTTP on the loopback address.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::Response;

/// No command takes longer, also on a busy machine: longer than the driver itself waits for a page.
const LIMIT: Duration = Duration::from_secs(360);

/// The way to one driver.
pub struct Wire {
    agent: Agent,
    port: u16,
}

impl Wire {
    /// The driver that listens on `port`.
    pub fn new(port: u16) -> Wire {
        let config = Agent::config_builder()
            .timeout_global(Some(LIMIT))
            .http_status_as_error(false)
            .proxy(None)
            .build();
        Wire {
            agent: config.into(),
            port,
        }
    }

    /// A command with arguments.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        let answer = self
            .agent
            .post(self.address(path))
            .header("content-type", "application/json; charset=utf-8")
            .send(body.to_string());
        value(answer)
    }

    /// A question.
    pub fn get(&self, path: &str) -> Result<Value, String> {
        value(self.agent.get(self.address(path)).call())
    }

    /// Takes something away.
    pub fn delete(&self, path: &str) -> Result<Value, String> {
        value(self.agent.delete(self.address(path)).call())
    }

    fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

/// The `value` of an answer, or the message of an error.
fn value(answer: Result<Response<ureq::Body>, ureq::Error>) -> Result<Value, String> {
    let mut answer = answer.map_err(|error| format!("the driver does not answer: {error}"))?;
    let is_success = answer.status().is_success();
    let text = answer
        .body_mut()
        .with_config()
        .limit(256 << 20)
        .read_to_string()
        .map_err(|error| error.to_string())?;
    let body: Value =
        serde_json::from_str(&text).map_err(|error| format!("{error} in the answer {text}"))?;
    let value = body["value"].clone();
    if is_success {
        return Ok(value);
    }
    Err(format!(
        "{}: {}",
        value["error"].as_str().unwrap_or("error"),
        value["message"].as_str().unwrap_or_default()
    ))
}

/// The bytes that a text in base 64 stands for (RFC 4648, section 4); other characters are passed
/// over.
pub fn from_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for character in text.bytes() {
        let Some(digit) = ALPHABET.iter().position(|&letter| letter == character) else {
            continue;
        };
        bits = bits << 6 | digit as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    bytes
}
