//! An HTTP download into a part file: resuming, hashing on the way, trying again.
//!
//! The part file holds the beginning of the body and nothing else, so its length is the point to
//! resume from (RFC 9110, section 14). A server may ignore the range and send everything (200), or
//! find it beyond the end (416); both are taken for what they are. Whether the joined bytes are the
//! published ones is settled by the hash alone.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use ureq::http::{Response, header};
use ureq::{Agent, Body};

use super::digest::{feed, hex};
use super::error::FetchError;

/// The limits of a download's patience. The default suits a slow but living connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchOptions {
    /// The longest time to establish a connection.
    pub connect_timeout: Duration,
    /// The longest time that the server may stay silent, before its answer and between two pieces
    /// of it.
    pub silence_timeout: Duration,
    /// The number of times that a passing fault (a broken connection, an overloaded server) is
    /// tried again.
    pub retries: u32,
    /// The wait before the first further try; it doubles with each.
    pub backoff: Duration,
    /// The largest number of bytes that are taken from one address, whatever the server goes on to
    /// send.
    pub largest_body: u64,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(15),
            silence_timeout: Duration::from_secs(30),
            retries: 3,
            backoff: Duration::from_millis(500),
            largest_body: 1 << 30,
        }
    }
}

/// The callback that a caller gets while bytes arrive: with those on disk, and those in all where
/// known.
type Report<'a> = dyn FnMut(u64, Option<u64>) + 'a;

/// A body that lies complete in its part file.
pub(super) struct Downloaded {
    /// The SHA-256 of the body in hexadecimal.
    pub(super) sha256: String,
    /// Whether a beginning was kept from an earlier connection.
    pub(super) resumed: bool,
}

/// A downloader with one configuration.
pub(super) struct Transfer<'a> {
    options: &'a FetchOptions,
    agent: Agent,
    direct_agent: Agent,
}

impl<'a> Transfer<'a> {
    pub(super) fn new(options: &'a FetchOptions) -> Self {
        let config = || {
            Agent::config_builder()
                .http_status_as_error(false)
                .timeout_connect(Some(options.connect_timeout))
                .timeout_recv_response(Some(options.silence_timeout))
                .timeout_per_read(Some(options.silence_timeout))
                .timeout_per_write(Some(options.silence_timeout))
                .user_agent(concat!("probity/", env!("CARGO_PKG_VERSION")))
                // A compressed transfer could neither be resumed by byte nor counted.
                .accept_encoding("identity")
        };
        Self {
            options,
            agent: config().build().into(),
            direct_agent: config().proxy(None).build().into(),
        }
    }

    /// Completes the body of `url` in the file `part`, trying again after passing faults.
    ///
    /// `known_size` is the size of the body where it is pinned: a part file of that size needs no
    /// request any more.
    pub(super) fn to_part(
        &self,
        url: &str,
        part: &Path,
        known_size: Option<u64>,
        report: &mut Report<'_>,
    ) -> Result<Downloaded, FetchError> {
        let mut tries = 0;
        loop {
            match self.attempt(url, part, known_size, report) {
                Err(fault) if fault.passing && tries < self.options.retries => {
                    let wait = self.options.backoff.saturating_mul(1 << tries.min(16));
                    std::thread::sleep(wait);
                    tries += 1;
                }
                other => return other.map_err(|fault| fault.error),
            }
        }
    }

    fn attempt(
        &self,
        url: &str,
        part: &Path,
        known_size: Option<u64>,
        report: &mut Report<'_>,
    ) -> Result<Downloaded, Fault> {
        let mut part = PartFile::open(part)?;
        if known_size.is_some_and(|size| part.length > size) {
            part.clear()?;
        }
        if part.length > 0 && known_size == Some(part.length) {
            return Ok(part.complete(true));
        }

        let mut response = self.request(url, part.length)?;
        let mut resumed = part.length > 0;
        match response.status().as_u16() {
            206 if resumed && starts_at(&response, part.length) => {}
            // A range other than the one asked for can't be joined: ask for everything.
            206 => {
                part.clear()?;
                resumed = false;
                response = self.request(url, 0)?;
                if response.status().as_u16() != 200 {
                    return Err(status_fault(url, response.status().as_u16()));
                }
            }
            200 => {
                part.clear()?;
                resumed = false;
            }
            // Nothing beyond what is here. Either it was complete already, or it is of another
            // edition; the caller's look at the hash tells.
            416 if resumed => return Ok(part.complete(true)),
            status => return Err(status_fault(url, status)),
        }
        self.receive(url, response, &mut part, known_size, report)?;
        Ok(part.complete(resumed))
    }

    fn request(&self, url: &str, from: u64) -> Result<Response<Body>, Fault> {
        let agent = if is_loopback(url) {
            &self.direct_agent
        } else {
            &self.agent
        };
        let mut request = agent.get(url);
        if from > 0 {
            request = request.header(header::RANGE, format!("bytes={from}-"));
        }
        request.call().map_err(|error| Fault {
            passing: matches!(
                error,
                ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::ConnectionFailed
            ),
            error: FetchError::Unreachable {
                url: url.to_owned(),
                reason: error.to_string(),
            },
        })
    }

    /// Appends the response's body to the part file.
    fn receive(
        &self,
        url: &str,
        response: Response<Body>,
        part: &mut PartFile,
        known_size: Option<u64>,
        report: &mut Report<'_>,
    ) -> Result<(), Fault> {
        let announced = response
            .body()
            .content_length()
            .map(|rest| part.length + rest);
        let chunked = response.headers().contains_key(header::TRANSFER_ENCODING);
        // A body without either ends where the connection does, for better or worse; then only the
        // pinned size tells that something is missing.
        let expected = if chunked {
            announced
        } else {
            announced.or(known_size)
        };
        let interrupted = |received, reason: String| Fault {
            passing: true,
            error: FetchError::Interrupted {
                url: url.to_owned(),
                received,
                expected,
                reason,
            },
        };

        let too_large = || FetchError::TooLarge {
            url: url.to_owned(),
            limit: self.options.largest_body,
        };
        if expected.is_some_and(|expected| expected > self.options.largest_body) {
            part.clear()?;
            return Err(too_large().into());
        }

        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        report(part.length, expected);
        loop {
            match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => part.append(&buffer[..count])?,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(interrupted(part.length, error.to_string())),
            }
            if part.length > self.options.largest_body {
                part.clear()?;
                return Err(too_large().into());
            }
            report(part.length, expected);
        }
        if expected.is_some_and(|expected| part.length < expected) {
            return Err(interrupted(
                part.length,
                "the connection was closed".to_owned(),
            ));
        }
        Ok(())
    }
}

/// A failed attempt, and whether it may pass by itself.
struct Fault {
    error: FetchError,
    passing: bool,
}

impl From<FetchError> for Fault {
    fn from(error: FetchError) -> Self {
        Self {
            error,
            passing: false,
        }
    }
}

fn status_fault(url: &str, status: u16) -> Fault {
    Fault {
        // Request timeout, too early, too many requests, and every fault of the server's own.
        passing: matches!(status, 408 | 425 | 429 | 500..=599),
        error: FetchError::Status {
            url: url.to_owned(),
            status,
        },
    }
}

/// Returns whether a partial response (206) begins at byte `from`.
fn starts_at(response: &Response<Body>, from: u64) -> bool {
    response
        .headers()
        .get(header::CONTENT_RANGE)
        .and_then(|range| range.to_str().ok())
        .and_then(|range| range.trim().strip_prefix("bytes "))
        .and_then(|range| range.split('-').next())
        .and_then(|start| start.trim().parse::<u64>().ok())
        == Some(from)
}

/// Returns whether the address is of this machine, which no proxy of the environment can reach.
fn is_loopback(url: &str) -> bool {
    let host = url
        .parse::<ureq::http::Uri>()
        .ok()
        .and_then(|uri| uri.host().map(str::to_owned));
    matches!(host.as_deref(), Some("127.0.0.1" | "[::1]" | "localhost"))
}

/// The beginning of a body on disk, with the hash of the part so far.
struct PartFile {
    path: PathBuf,
    file: File,
    hasher: Sha256,
    length: u64,
}

impl PartFile {
    fn open(path: &Path) -> Result<Self, FetchError> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(FetchError::io("open", path))?;
        let mut hasher = Sha256::new();
        // Reading to the end also leaves the file where the next byte belongs.
        let length = feed(&mut file, &mut hasher).map_err(FetchError::io("read", path))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            hasher,
            length,
        })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        self.file
            .write_all(bytes)
            .map_err(FetchError::io("write", &self.path))?;
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn clear(&mut self) -> Result<(), FetchError> {
        self.file
            .set_len(0)
            .and_then(|()| self.file.seek(SeekFrom::Start(0)))
            .map_err(FetchError::io("empty", &self.path))?;
        self.hasher = Sha256::new();
        self.length = 0;
        Ok(())
    }

    fn complete(self, resumed: bool) -> Downloaded {
        Downloaded {
            sha256: hex(self.hasher),
            resumed,
        }
    }
}
