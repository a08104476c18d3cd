//! A worker's HTTP client: its requests to the service, and their answers.
//!
//! Nothing that the service does keeps a worker waiting for good: each request has a time limit,
//! and one that moves a file has as much as a slow line needs. Redirects are not followed, and
//! proxies of the environment are not used. What arrives is bounded by the size that was announced.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use ureq::http::Response;
use ureq::{Agent, Body, Error, SendBody};

use crate::identifier::Id;
use crate::jobs::wire::{Asks, Heard, Leased, Report, WorkFile};
use probity_run::run_directory::hex;

/// How long a request may take, besides the time for its file.
const TIME: Duration = Duration::from_secs(30);

/// The least number of bytes a second that a file moves.
const RATE: f64 = 65_536.0;

/// The greatest number of bytes of an answer that is no file.
const ANSWER: u64 = 4 << 20;

/// The reason why the service refused a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The worker does not have the job, or is not to have any.
    Lost(String),
    /// The token is not, or no longer, that of a worker.
    Denied(String),
    /// The service has no room for the file.
    Full(String),
    /// The request is not as the service expects it.
    Wrong(String),
    /// The service is busy, or cannot be reached; the request may succeed later.
    Later(String),
}

impl Refusal {
    /// The text of the refusal.
    pub fn text(&self) -> &str {
        match self {
            Refusal::Lost(text)
            | Refusal::Denied(text)
            | Refusal::Full(text)
            | Refusal::Wrong(text)
            | Refusal::Later(text) => text,
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Later(error.to_string())
    }
}

/// A snapshot of a file that is sent: its content at one moment, whatever takes its place later.
pub(super) struct Snapshot {
    /// The name of the file.
    pub name: String,
    /// The SHA-256 of the file.
    pub sha256: String,
    bytes: u64,
    file: File,
}

impl Snapshot {
    /// Takes the snapshot of `file`, which has the name `name`.
    pub fn take(name: String, mut file: File) -> io::Result<Snapshot> {
        let (bytes, sha256) = hashed(&mut file, |_| Ok(()))?;
        Ok(Snapshot {
            name,
            sha256,
            bytes,
            file,
        })
    }
}

/// The service, as a worker reaches it.
pub(super) struct Client {
    agent: Agent,
    base: String,
    token: String,
}

impl Client {
    /// Makes a client of the service at `url`, for the worker with `token`.
    pub fn new(url: &str, token: &str) -> Client {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .user_agent(concat!("probity/", env!("CARGO_PKG_VERSION")))
            .build();
        Client {
            agent: config.into(),
            base: format!("{}/api/v1/work", url.trim_end_matches('/')),
            token: token.to_owned(),
        }
    }

    /// Asks for a job.
    pub fn take(&self) -> Result<Option<Leased>, Refusal> {
        let asks = Asks {
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        self.post(&self.base, &asks)
    }

    /// Sends a report on a job.
    pub fn report(&self, job: &Id, report: &Report) -> Result<Heard, Refusal> {
        let heard = self.post(&format!("{}/{job}", self.base), report)?;
        heard.ok_or_else(no_service)
    }

    fn post<T: DeserializeOwned>(
        &self,
        url: &str,
        said: &impl Serialize,
    ) -> Result<Option<T>, Refusal> {
        let body = serde_json::to_vec(said).map_err(|error| Refusal::Wrong(error.to_string()))?;
        let request = self.agent.post(url).config().timeout_global(Some(TIME));
        let request = request.build().header("authorization", self.bearer());
        let request = request.header("content-type", "application/json");
        let mut answer = accepted(request.send(&body)?)?;
        if answer.status() == 204 {
            return Ok(None);
        }
        let body = answer.body_mut().with_config().limit(ANSWER);
        let text = body.read_to_string()?;
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|_| no_service())
    }

    /// Fetches `file` of a job that is held by the number `lease`, into `target`.
    pub fn fetch(
        &self,
        job: &Id,
        lease: u64,
        file: &WorkFile,
        target: &mut File,
    ) -> Result<(), FetchError> {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("lease", &lease.to_string())
            .append_pair("path", &file.path)
            .finish();
        let request = self.agent.get(format!("{}/{job}/file?{query}", self.base));
        let request = request.config().timeout_global(Some(time_of(file.bytes)));
        let request = request.build().header("authorization", self.bearer());
        let mut answer = accepted(request.call().map_err(Refusal::from)?)?;
        let body = answer.body_mut().with_config().limit(file.bytes + 1);
        let mut unwritten = None;
        let came = hashed(&mut body.reader(), |piece| {
            target.write_all(piece).map_err(|error| {
                let kind = error.kind();
                unwritten = Some(error);
                kind.into()
            })
        });
        if let Some(error) = unwritten {
            return Err(error.into());
        }
        let (bytes, sha256) = came.map_err(|error| Refusal::Later(error.to_string()))?;
        match bytes == file.bytes && sha256 == file.sha256 {
            true => Ok(()),
            false => Err(FetchError::Damaged),
        }
    }

    /// Sends a file of the run of a job that is held by the number `lease`.
    pub fn send(&self, job: &Id, lease: u64, file: &mut Snapshot) -> Result<(), Refusal> {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("lease", &lease.to_string())
            .append_pair("name", &file.name)
            .append_pair("bytes", &file.bytes.to_string())
            .append_pair("sha256", &file.sha256)
            .finish();
        let whole = file.file.seek(SeekFrom::Start(0));
        whole.map_err(|error| Refusal::Wrong(error.to_string()))?;
        let request = self.agent.put(format!("{}/{job}/file?{query}", self.base));
        let request = request.config().timeout_global(Some(time_of(file.bytes)));
        let request = request.build().header("authorization", self.bearer());
        let request = request.header("content-type", "application/octet-stream");
        let request = request.header("content-length", file.bytes);
        let mut bytes = (&file.file).take(file.bytes);
        accepted(request.send(SendBody::from_reader(&mut bytes))?).map(drop)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

/// The reason why a file was not fetched.
#[derive(Debug)]
pub(super) enum FetchError {
    /// The service refuses the file.
    Refused(Refusal),
    /// The file differs from its announcement.
    Damaged,
    /// The file cannot be written here.
    Io(io::Error),
}

impl From<Refusal> for FetchError {
    fn from(refusal: Refusal) -> FetchError {
        FetchError::Refused(refusal)
    }
}

impl From<io::Error> for FetchError {
    fn from(error: io::Error) -> FetchError {
        FetchError::Io(error)
    }
}

/// Reads all of `reader`, passes each piece on to `each`, and returns the length and the SHA-256.
fn hashed(
    reader: &mut impl Read,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(u64, String)> {
    let (mut piece, mut bytes, mut hasher) = (vec![0; 64 << 10], 0, Sha256::new());
    loop {
        let count = match reader.read(&mut piece) {
            Ok(0) => return Ok((bytes, hex(&hasher.finalize()))),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += count as u64;
        hasher.update(&piece[..count]);
        each(&piece[..count])?;
    }
}

fn time_of(bytes: u64) -> Duration {
    TIME + Duration::from_secs_f64(bytes as f64 / RATE)
}

/// Returns `answer`, if its status is one of success, else the refusal.
fn accepted(mut answer: Response<Body>) -> Result<Response<Body>, Refusal> {
    let status = answer.status().as_u16();
    if (200..300).contains(&status) {
        return Ok(answer);
    }
    let body = answer.body_mut().with_config().limit(ANSWER);
    let document: Option<serde_json::Value> = body
        .read_to_string()
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok());
    let detail = document.as_ref().and_then(|it| it["detail"].as_str());
    let Some(detail) = detail else {
        return Err(match status {
            500..600 => Refusal::Later(format!("it answers {status}")),
            _ => no_service(),
        });
    };
    let detail = detail.to_owned();
    Err(match status {
        401 | 403 => Refusal::Denied(detail),
        404 | 409 => Refusal::Lost(detail),
        507 => Refusal::Full(detail),
        408 | 429 | 500..600 => Refusal::Later(detail),
        _ => Refusal::Wrong(detail),
    })
}

fn no_service() -> Refusal {
    Refusal::Wrong("what answers at this address is no service of probity".to_owned())
}
