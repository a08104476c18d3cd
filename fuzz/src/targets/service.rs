//! The service: requests, as bytes of a connection, and how it reads files that are sent.

use std::io::{Cursor, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use probity_run::program::Program;
use probity_run::run_directory::RunDirectory;
use probity_serve::inspection::Inspection;
use probity_serve::limits::Limits;
use probity_serve::store::{Administer, Changed, Holder, NewToken, Quotas, Role, Store};
use probity_serve::{Service, ServiceOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::fixtures::Make;
use crate::target::{Execution, Input, Seen, Target, read};

pub const ALL: &[(&str, Make)] = &[("service", service), ("service-model", sent_model)];

const NAME: &str = "request";
/// A placeholder for the token of the service, which differs each time.
const BEARER: &str = "Bearer TOKEN";
/// How long no byte must arrive for an answer to count as whole.
const SILENCE: Duration = Duration::from_millis(30);
/// The number of bytes that a connection buffers.
const ROOM: usize = 1 << 16;

/// Makes a request with the length of its body in the head.
fn request(head: &str, body: &str) -> Input {
    let (line, headers) = head.split_once('\n').unwrap_or((head, ""));
    let headers: String = headers.lines().map(|line| format!("{line}\r\n")).collect();
    let length = body.len();
    Input::one(
        NAME,
        format!(
            "{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {BEARER}\r\n{headers}\
             Content-Length: {length}\r\n\r\n{body}"
        ),
    )
}

/// Writes the length of the body into the head, so that the body is read whole.
fn seal(input: &mut Input) {
    for (_, bytes) in &mut input.files {
        let find = |word: &[u8]| bytes.windows(word.len()).position(|part| part == word);
        let (Some(start), Some(end)) = (find(b"Content-Length: "), find(b"\r\n\r\n")) else {
            continue;
        };
        let (start, length) = (start + b"Content-Length: ".len(), bytes.len() - end - 4);
        let digits = bytes[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let digits = digits.count();
        bytes.splice(start..start + digits, length.to_string().bytes());
    }
}

fn seeds() -> Vec<Input> {
    let id = "0123456789abcdef0123456789abcdef";
    let json = "\nContent-Type: application/json";
    let form = "\nContent-Type: application/x-www-form-urlencoded";
    let audit = format!(
        "{{\"kind\": \"audit\", \"model\": \"{id}\", \"data\": \"{id}\", \
         \"protected\": [\"sex\"], \"search\": {{\"seeds\": 500}}, \"seed\": 3}}"
    );
    let draft = "{\"label\": \"income\", \"protected\": [\"sex\"], \"ignore\": []}";
    vec![
        request("GET /api/v1/service", ""),
        request("GET /api/v1/jobs", ""),
        request("GET /api/v1/data", ""),
        request(&format!("GET /api/v1/comparison?jobs={id},{id}"), ""),
        request(&format!("GET /api/v1/jobs/{id}/report?form=markdown"), ""),
        request(&format!("DELETE /api/v1/models/{id}"), ""),
        request(&format!("POST /api/v1/jobs?label=First{json}"), &audit),
        request(&format!("POST /api/v1/data/{id}/schema/draft{json}"), draft),
        request(
            &format!("PUT /api/v1/data/{id}/schema{json}"),
            "{\"name\": \"a\"}",
        ),
        request(&format!("POST /login{form}"), "token=probity_0_0&next=%2F"),
        request("GET /\nAccept: text/html\nCookie: session=a", ""),
        request("GET /static/style.css", ""),
    ]
}

/// Returns the request with the token of the service.
fn with_token(request: &[u8], bearer: &str) -> Vec<u8> {
    let place = request
        .windows(BEARER.len())
        .position(|part| part == BEARER.as_bytes());
    let mut sent = request.to_vec();
    if let Some(place) = place {
        sent.splice(place..place + BEARER.len(), bearer.bytes());
    }
    sent
}

/// Whether a request brings a file, which this target does not look at.
fn brings_file(request: &[u8]) -> bool {
    request
        .windows(10)
        .any(|part| part.eq_ignore_ascii_case(b"multipart/"))
}

/// Whether an answer has as many bytes as its head says.
fn is_whole(answer: &[u8]) -> bool {
    let find = |word: &[u8]| answer.windows(word.len()).position(|part| part == word);
    let (Some(end), Some(at)) = (find(b"\r\n\r\n"), find(b"\r\ncontent-length: ")) else {
        return false;
    };
    let digits = answer[at + b"\r\ncontent-length: ".len()..].iter();
    let length = digits
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0_usize, |all, digit| {
            all.saturating_mul(10)
                .saturating_add(usize::from(digit - b'0'))
        });
    answer.len() >= (end + 4).saturating_add(length)
}

/// Makes a token of an owner of a project.
fn token(store: &Store) -> anyhow::Result<String> {
    let administer = Administer::at_the_machine();
    let Changed::Done(project) = store.create_project(&administer, "fuzz", Quotas::default())?
    else {
        anyhow::bail!("a new database has a project");
    };
    let new = NewToken {
        holder: Holder::Bearer("fuzz".to_owned()),
        role: Role::Owner,
        expires: None,
    };
    let made = store.create_token(&administer.manages(&project.id), &new)?;
    let made = made.context("the project is there")?;
    made.text.context("it is a token with a text")
}

/// A target that sends requests: whatever is sent, there is an answer, and it never says that the
/// service has failed.
fn service(folder: &Path) -> anyhow::Result<Target> {
    let data_dir = folder.join("data");
    std::fs::create_dir_all(&data_dir)?;
    let token = token(&Store::open(&data_dir)?)?;
    let most = 1_000_000_000;
    let mut limits = Limits::default();
    limits.rate = most;
    limits.rate_per_token = most;
    limits.rate_per_project = most;
    limits.rate_per_address = most;
    limits.queue = most as usize;
    limits.queue_per_project = most as usize;
    limits.upload_bytes = 1 << 20;
    // The other target looks at files that are sent: this one sends none.
    let mut options = ServiceOptions::new(data_dir, Program::new("/bin/false"));
    options.limits = limits;
    let service = Service::open(options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let bearer = format!("Bearer {token}");
    let check = move |execution: &Execution<'_>| {
        let sent = with_token(execution.bytes(), &bearer);
        let answer = runtime.block_on(async {
            let (mut client, server) = tokio::io::duplex(ROOM);
            let sent = &sent;
            let ask = async move {
                // A service that has answered enough may hang up before everything is sent.
                let _ = client.write_all(sent).await;
                let mut answer = Vec::new();
                while !is_whole(&answer) {
                    let read = client.read_buf(&mut answer);
                    match tokio::time::timeout(SILENCE, read).await {
                        Ok(Ok(1..)) => {}
                        // The service waits for more of the request, or has hung up.
                        _ => break,
                    }
                }
                answer
            };
            tokio::join!(service.converse(server), ask).1
        });
        let status = answer
            .strip_prefix(b"HTTP/1.")
            .and_then(|rest| rest.get(2..5));
        match status {
            Some(b"500") if !brings_file(&sent) => Err(format!(
                "it has failed: {}",
                String::from_utf8_lossy(&answer[answer.len().saturating_sub(200)..])
            )),
            Some([b'2' | b'3', ..]) => Ok(Seen::Accepted),
            _ => Ok(Seen::Refused),
        }
    };
    let words = &[
        "GET ",
        "POST ",
        "PUT ",
        "DELETE ",
        "HEAD ",
        "/api/v1/",
        "?",
        "&",
        "%00",
        "%ff",
        "%2e%2e%2f",
        "Transfer-Encoding: chunked\r\n",
        "Content-Length: ",
        "Expect: 100-continue\r\n",
        "Range: bytes=0-\r\n",
        "boundary=",
        "kind",
        "audit",
        "seeds",
        "Connection: close\r\n",
    ];
    Ok(Target::new("service", seeds(), check)
        .words(words)
        .sealed_by(seal)
        .memory(256, 24 << 20))
}

/// Makes an archive of the files of `folder`.
fn archive(folder: &Path, method: CompressionMethod) -> anyhow::Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in Input::folder(folder)?.files {
        archive.start_file(format!("model/{name}"), options)?;
        archive.write_all(&bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// A target that sends a model as an archive: nothing is written outside its directory.
fn sent_model(folder: &Path) -> anyhow::Result<Target> {
    let own = RunDirectory::create(&folder.join("model"))?;
    super::fixtures::model()?.save(own.path())?;
    let seeds = [CompressionMethod::Stored, CompressionMethod::Deflated]
        .into_iter()
        .map(|method| Ok(Input::one("model.zip", archive(own.path(), method)?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let check = |execution: &Execution<'_>| {
        let directory = execution.folder.join("unpacked");
        std::fs::create_dir(&directory).map_err(|error| error.to_string())?;
        let inspection = Inspection::Unpack {
            archive: execution.file(),
            directory,
            bytes: 1 << 20,
        };
        let verdict = read(inspection.run());
        let here = std::fs::read_dir(execution.folder).map_err(|error| error.to_string())?;
        match here.count() {
            2 => verdict,
            _ => Err("something was written beside the directory".to_owned()),
        }
    };
    let words = &[
        "model.toml",
        "weights.safetensors",
        "../",
        "/",
        "PK\x01\x02",
        "PK\x05\x06",
    ];
    Ok(Target::new("service-model", seeds, check)
        .words(words)
        .sealed_by(super::archives::seal)
        .memory(1024, 24 << 20))
}
