//! Fetching data sets from a scripted HTTP server on this machine, and from local folders.

use std::fs::{self, File};
use std::io::{Cursor, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use probity::data::fetch::{
    DataFile, DataSet, FetchError, FetchOptions, FetchedSet, Fetcher, Origin, Source, catalogue,
};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// What the server does with one connection: sends bytes, then closes it or falls silent.
struct Reply {
    bytes: Vec<u8>,
    stall: bool,
}

impl Reply {
    fn raw(head: &str, body: &[u8]) -> Self {
        let mut bytes = format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").into_bytes();
        bytes.extend_from_slice(body);
        Self {
            bytes,
            stall: false,
        }
    }

    fn ok(body: &[u8]) -> Self {
        Self::raw(&format!("200 OK\r\nContent-Length: {}", body.len()), body)
    }

    /// Announces `body`, but breaks off after `sent` bytes.
    fn truncated(body: &[u8], sent: usize) -> Self {
        Self::raw(
            &format!("200 OK\r\nContent-Length: {}", body.len()),
            &body[..sent],
        )
    }

    /// The rest of `body` from byte `from`.
    fn partial(body: &[u8], from: usize) -> Self {
        let (rest, last, size) = (&body[from..], body.len() - 1, body.len());
        let length = rest.len();
        Self::raw(
            &format!(
                "206 Partial Content\r\nContent-Length: {length}\r\nContent-Range: bytes {from}-{last}/{size}"
            ),
            rest,
        )
    }

    fn status(status: &str) -> Self {
        Self::raw(&format!("{status}\r\nContent-Length: 0"), b"")
    }

    fn stalling(mut self) -> Self {
        self.stall = true;
        self
    }
}

/// Answers one connection after the other with the scripted replies and keeps the request heads.
struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<String>>,
}

impl Server {
    fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut heads = Vec::new();
            for reply in replies {
                let (mut connection, _) = listener.accept().unwrap();
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                heads.push(read_head(&mut connection));
                // The client may hang up first, on purpose.
                let _ = connection.write_all(&reply.bytes);
                if reply.stall {
                    // Says nothing more, but keeps the connection until the client gives up.
                    let _ = connection.read(&mut [0]);
                }
            }
            heads
        });
        Self {
            address,
            stop,
            thread,
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// The heads of the requests that came.
    fn requests(self) -> Vec<String> {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes a server that waits for a connection that never came.
        let _ = TcpStream::connect(self.address);
        self.thread.join().unwrap()
    }
}

fn read_head(connection: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap().to_lowercase()
}

/// An address where nobody listens: the system never hands out port 1, so no other test can.
fn dead_url() -> String {
    "http://127.0.0.1:1/people.csv".into()
}

fn people() -> Vec<u8> {
    (0..20_000)
        .flat_map(|row| format!("{row},{}\n", row % 7).into_bytes())
        .collect()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn plain(url: String) -> Source {
    Source {
        url,
        members: vec![],
    }
}

/// A catalogue entry of one file with the content `people()`.
fn entry(sources: Vec<Source>) -> DataSet {
    let content = people();
    DataSet {
        name: "people".into(),
        title: "People".into(),
        licence: "none".into(),
        citation: "none".into(),
        page: "none".into(),
        files: vec![DataFile {
            name: "people.csv".into(),
            local_path: "folk/people-table.csv".into(),
            sha256: sha256(&content),
            size: content.len() as u64,
            sources,
        }],
    }
}

fn options(retries: u32) -> FetchOptions {
    FetchOptions {
        connect_timeout: Duration::from_secs(20),
        silence_timeout: Duration::from_secs(20),
        retries,
        backoff: Duration::ZERO,
        largest_body: 1 << 20,
    }
}

struct Cache {
    root: TempDir,
    options: FetchOptions,
}

impl Cache {
    fn new(options: FetchOptions) -> Self {
        Self {
            root: tempfile::tempdir().unwrap(),
            options,
        }
    }

    fn fetcher(&self) -> Fetcher {
        Fetcher::new(self.root.path(), self.options.clone())
    }

    fn download(&self, sources: Vec<Source>) -> Result<FetchedSet, FetchError> {
        self.fetcher().download(&entry(sources), &mut |_| {})
    }

    fn copy_from(&self, set: &DataSet, from: &Path) -> Result<FetchedSet, FetchError> {
        self.fetcher().copy_from(set, from)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("people").join(name)
    }

    fn put(&self, name: &str, content: &[u8]) {
        fs::create_dir_all(self.path("")).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    /// What lies in the set's folder, besides the lock.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != ".lock")
            .collect();
        names.sort();
        names
    }

    fn assert_holds_only_people(&self) {
        assert_eq!(self.names(), ["people.csv"]);
        assert_eq!(fs::read(self.path("people.csv")).unwrap(), people());
    }
}

#[test]
fn a_download_is_verified_reported_and_cached() {
    let server = Server::start(vec![Reply::ok(&people())]);
    let cache = Cache::new(options(0));
    let set = entry(vec![plain(server.url("people.csv"))]);
    let size = people().len() as u64;

    let mut last = None;
    let fetched = cache
        .fetcher()
        .download(&set, &mut |progress| {
            assert_eq!(progress.file, "people.csv");
            assert!(last.is_none_or(|(done, _)| done <= progress.done));
            last = Some((progress.done, progress.total));
        })
        .unwrap();
    assert_eq!(last, Some((size, Some(size))));
    assert_eq!(fetched.files[0].path, cache.path("people.csv"));
    assert_eq!(
        fetched.files[0].origin,
        Origin::Download(server.url("people.csv"))
    );
    cache.assert_holds_only_people();

    let again = cache.fetcher().download(&set, &mut |_| {}).unwrap();
    assert_eq!(again.files[0].origin, Origin::Cache);
    assert_eq!(cache.fetcher().cached(&set).unwrap(), Some(again));
    let requests = server.requests();
    assert_eq!(requests.len(), 1, "a verified file needs no network");
    assert!(requests[0].starts_with("get /people.csv "), "{requests:?}");
    assert!(!requests[0].contains("range:"), "{requests:?}");
}

#[test]
fn a_truncated_body_is_kept_and_resumed_by_a_repeat() {
    let content = people();
    let server = Server::start(vec![
        Reply::truncated(&content, 70_000),
        Reply::partial(&content, 70_000),
    ]);
    let cache = Cache::new(options(0));
    let source = plain(server.url("people.csv"));

    let error = cache.download(vec![source.clone()]).unwrap_err();
    match &error {
        FetchError::Interrupted {
            received, expected, ..
        } => {
            assert_eq!((*received, *expected), (70_000, Some(content.len() as u64)));
        }
        other => panic!("{other:?}"),
    }
    let message = error.to_string();
    assert!(
        message.contains("run the same command again to resume"),
        "{message}"
    );
    assert_eq!(
        fs::read(cache.path("people.csv.part")).unwrap(),
        content[..70_000]
    );

    cache.download(vec![source]).unwrap();
    cache.assert_holds_only_people();
    assert!(server.requests()[1].contains("range: bytes=70000-"));
}

#[test]
fn a_broken_connection_is_resumed_within_the_call() {
    let content = people();
    let server = Server::start(vec![
        Reply::truncated(&content, 1_000),
        Reply::status("503 Service Unavailable"),
        Reply::partial(&content, 1_000),
    ]);
    let cache = Cache::new(options(2));
    cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap();
    cache.assert_holds_only_people();
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn retries_are_bounded() {
    let busy = || Reply::status("503 Service Unavailable");
    let server = Server::start(vec![busy(), busy(), busy(), busy()]);
    let cache = Cache::new(options(2));
    let error = cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap_err();
    assert!(
        matches!(error, FetchError::Status { status: 503, .. }),
        "{error:?}"
    );
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_server_that_ignores_the_range_sends_everything_anew() {
    let server = Server::start(vec![Reply::ok(&people())]);
    let cache = Cache::new(options(0));
    cache.put("people.csv.part", &people()[..5_000]);
    cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap();
    cache.assert_holds_only_people();
    assert!(server.requests()[0].contains("range: bytes=5000-"));
}

#[test]
fn a_part_beyond_the_end_starts_over() {
    let server = Server::start(vec![
        Reply::status("416 Range Not Satisfiable"),
        Reply::ok(&people()),
    ]);
    let cache = Cache::new(options(0));
    cache.put("people.csv.part", b"of another edition");
    cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap();
    cache.assert_holds_only_people();
    let requests = server.requests();
    assert!(requests[0].contains("range: bytes=18-") && !requests[1].contains("range:"));
}

#[test]
fn a_part_of_another_edition_starts_over_once() {
    let content = people();
    let server = Server::start(vec![Reply::partial(&content, 18), Reply::ok(&content)]);
    let cache = Cache::new(options(0));
    cache.put("people.csv.part", b"of another edition");
    cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap();
    cache.assert_holds_only_people();
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_range_other_than_the_one_asked_for_is_not_joined() {
    let content = people();
    let server = Server::start(vec![Reply::partial(&content, 9), Reply::ok(&content)]);
    let cache = Cache::new(options(0));
    cache.put("people.csv.part", &content[..18]);
    cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap();
    cache.assert_holds_only_people();
    assert!(!server.requests()[1].contains("range:"));
}

#[test]
fn a_complete_part_needs_only_verifying() {
    let cache = Cache::new(options(0));
    cache.put("people.csv.part", &people());
    cache.download(vec![plain(dead_url())]).unwrap();
    cache.assert_holds_only_people();
}

#[test]
fn a_part_longer_than_the_file_is_thrown_away() {
    let server = Server::start(vec![Reply::ok(&people())]);
    let cache = Cache::new(options(0));
    cache.put("people.csv.part", &[people(), people()].concat());
    cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap();
    cache.assert_holds_only_people();
    assert!(!server.requests()[0].contains("range:"));
}

#[test]
fn a_wrong_hash_names_both_and_leaves_nothing() {
    let mut altered = people();
    altered[100] ^= 1;
    let server = Server::start(vec![Reply::ok(&altered)]);
    let cache = Cache::new(options(3));
    let message = cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap_err()
        .to_string();
    assert!(message.contains(&sha256(&people())), "{message}");
    assert!(message.contains(&sha256(&altered)), "{message}");
    assert!(cache.names().is_empty(), "{:?}", cache.names());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_page_in_place_of_the_file_is_a_wrong_hash() {
    let page = b"<html>please log in</html>";
    let chunked = format!(
        "{:x}\r\n{}\r\n0\r\n\r\n",
        page.len(),
        String::from_utf8_lossy(page)
    );
    let server = Server::start(vec![
        Reply::ok(page),
        Reply::raw("200 OK\r\nTransfer-Encoding: chunked", chunked.as_bytes()),
    ]);
    let cache = Cache::new(options(0));
    for _ in 0..2 {
        let error = cache
            .download(vec![plain(server.url("people.csv"))])
            .unwrap_err();
        assert!(
            matches!(&error, FetchError::WrongHash { actual, .. } if *actual == sha256(page)),
            "{error:?}"
        );
        assert!(cache.names().is_empty());
    }
    server.requests();
}

#[test]
fn a_body_that_ends_with_its_connection_is_measured_by_the_pinned_size() {
    let content = people();
    let server = Server::start(vec![
        Reply::raw("200 OK", &content[..400]),
        Reply::raw("200 OK", &content),
    ]);
    let cache = Cache::new(options(0));
    let error = cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap_err();
    assert!(
        matches!(error, FetchError::Interrupted { received: 400, .. }),
        "{error:?}"
    );
    cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap();
    cache.assert_holds_only_people();
    server.requests();
}

#[test]
fn a_dead_server_is_named_with_the_way_around_it() {
    let url = dead_url();
    let cache = Cache::new(options(1));
    let error = cache.download(vec![plain(url.clone())]).unwrap_err();
    assert!(matches!(error, FetchError::Unreachable { .. }), "{error:?}");
    let message = error.to_string();
    assert!(
        message.contains(&url) && message.contains("from its folder"),
        "{message}"
    );
}

#[test]
fn a_missing_page_is_not_asked_for_twice() {
    let server = Server::start(vec![Reply::status("404 Not Found"), Reply::ok(&people())]);
    let cache = Cache::new(options(3));
    let error = cache
        .download(vec![plain(server.url("people.csv"))])
        .unwrap_err();
    assert!(
        matches!(error, FetchError::Status { status: 404, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("404"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_server_that_falls_silent_is_given_up() {
    let content = people();
    let server = Server::start(vec![
        Reply {
            bytes: vec![],
            stall: true,
        },
        Reply::truncated(&content, 3_000).stalling(),
        Reply::partial(&content, 3_000),
    ]);
    let impatient = FetchOptions {
        silence_timeout: Duration::from_secs(1),
        ..options(0)
    };
    let cache = Cache::new(impatient);
    let source = || vec![plain(server.url("people.csv"))];

    let before_answering = cache.download(source()).unwrap_err();
    assert!(
        matches!(before_answering, FetchError::Unreachable { .. }),
        "{before_answering:?}"
    );
    assert!(
        before_answering.to_string().contains("timeout"),
        "{before_answering}"
    );
    let within_the_body = cache.download(source()).unwrap_err();
    assert!(
        matches!(
            within_the_body,
            FetchError::Interrupted {
                received: 3_000,
                ..
            }
        ),
        "{within_the_body:?}"
    );
    assert!(
        within_the_body.to_string().contains("timeout"),
        "{within_the_body}"
    );

    Fetcher::new(cache.root.path(), options(0))
        .download(&entry(source()), &mut |_| {})
        .unwrap();
    cache.assert_holds_only_people();
    server.requests();
}

#[test]
fn a_body_without_end_is_cut_off() {
    let endless = vec![b'x'; 5_000];
    let server = Server::start(vec![Reply::ok(&endless), Reply::raw("200 OK", &endless)]);
    let cache = Cache::new(FetchOptions {
        largest_body: 4_000,
        ..options(0)
    });
    for _ in 0..2 {
        let error = cache
            .download(vec![plain(server.url("people.csv"))])
            .unwrap_err();
        assert!(
            matches!(error, FetchError::TooLarge { limit: 4_000, .. }),
            "{error:?}"
        );
    }
    server.requests();
}

#[test]
fn the_second_source_serves_where_the_first_fails() {
    let server = Server::start(vec![Reply::status("404 Not Found"), Reply::ok(&people())]);
    let cache = Cache::new(options(0));
    let second = server.url("mirror/people.csv");
    let fetched = cache
        .download(vec![plain(server.url("people.csv")), plain(second.clone())])
        .unwrap();
    assert_eq!(fetched.files[0].origin, Origin::Download(second));
    server.requests();
}

#[test]
fn the_failures_of_all_sources_are_told() {
    let server = Server::start(vec![Reply::status("404 Not Found")]);
    let cache = Cache::new(options(0));
    let dead = dead_url();
    let message = cache
        .download(vec![plain(server.url("people.csv")), plain(dead.clone())])
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("404") && message.contains(&dead),
        "{message}"
    );
    server.requests();
}

#[test]
fn an_altered_cached_file_is_fetched_anew() {
    let server = Server::start(vec![Reply::ok(&people())]);
    let cache = Cache::new(options(0));
    let mut altered = people();
    altered[5] ^= 1;
    cache.put("people.csv", &altered);
    let set = entry(vec![plain(server.url("people.csv"))]);
    assert_eq!(cache.fetcher().cached(&set).unwrap(), None);
    cache.fetcher().download(&set, &mut |_| {}).unwrap();
    cache.assert_holds_only_people();
    server.requests();
}

#[test]
fn two_processes_do_not_share_a_folder() {
    let cache = Cache::new(options(0));
    cache.put(".lock", b"");
    let held = File::create(cache.path(".lock")).unwrap();
    held.lock().unwrap();
    let error = cache.download(vec![plain(dead_url())]).unwrap_err();
    assert!(matches!(error, FetchError::Busy { .. }), "{error:?}");
}

/// A zip archive with one deflated member.
fn zip_of(name: &str, content: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive
        .start_file(name, zip::write::SimpleFileOptions::default())
        .unwrap();
    archive.write_all(content).unwrap();
    archive.finish().unwrap().into_inner()
}

fn nested(url: String) -> Source {
    Source {
        url,
        members: vec!["inner.zip".into(), "deep/people.csv".into()],
    }
}

fn nested_zip() -> Vec<u8> {
    zip_of("inner.zip", &zip_of("deep/people.csv", &people()))
}

#[test]
fn a_file_in_nested_archives_is_taken_out() {
    let archive = nested_zip();
    let server = Server::start(vec![
        Reply::truncated(&archive, 90),
        Reply::partial(&archive, 90),
    ]);
    let cache = Cache::new(options(0));
    let source = nested(server.url("outer.zip"));
    let error = cache.download(vec![source.clone()]).unwrap_err();
    assert!(
        matches!(error, FetchError::Interrupted { received: 90, .. }),
        "{error:?}"
    );
    cache.download(vec![source]).unwrap();
    cache.assert_holds_only_people();
    server.requests();
}

#[test]
fn an_archive_kept_complete_is_recognised_by_the_unsatisfiable_range() {
    let server = Server::start(vec![Reply::status("416 Range Not Satisfiable")]);
    let cache = Cache::new(options(0));
    cache.put("people.csv.outer.zip.part", &nested_zip());
    cache
        .download(vec![nested(server.url("outer.zip"))])
        .unwrap();
    cache.assert_holds_only_people();
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_archive_without_the_file_is_an_error() {
    let cases: [(&str, Vec<u8>); 4] = [
        ("no such member", zip_of("other.zip", b"")),
        (
            "no such inner member",
            zip_of("inner.zip", &zip_of("other.csv", b"")),
        ),
        ("the inner one is no archive", zip_of("inner.zip", b"text")),
        ("no archive at all", b"<html>moved</html>".to_vec()),
    ];
    for (case, archive) in cases {
        let server = Server::start(vec![Reply::ok(&archive)]);
        let cache = Cache::new(options(0));
        let error = cache
            .download(vec![nested(server.url("outer.zip"))])
            .unwrap_err();
        assert!(
            matches!(error, FetchError::Archive { .. }),
            "{case}: {error:?}"
        );
        assert!(
            error.to_string().contains("inner.zip/deep/people.csv"),
            "{case}: {error}"
        );
        assert!(cache.names().is_empty(), "{case}: {:?}", cache.names());
        server.requests();
    }
}

#[test]
fn an_archived_file_of_other_content_is_a_wrong_hash() {
    let archive = zip_of("inner.zip", &zip_of("deep/people.csv", b"others"));
    let server = Server::start(vec![Reply::ok(&archive)]);
    let cache = Cache::new(options(0));
    let error = cache
        .download(vec![nested(server.url("outer.zip"))])
        .unwrap_err();
    assert!(
        matches!(&error, FetchError::WrongHash { actual, .. } if *actual == sha256(b"others")),
        "{error:?}"
    );
    assert!(cache.names().is_empty());
    server.requests();
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(content).unwrap();
    writer.finish().unwrap()
}

#[test]
fn a_local_copy_is_found_in_every_form() {
    let forms: [(&str, Vec<u8>); 7] = [
        ("people.csv", people()),
        ("people.csv.gz", gzip(&people())),
        ("folk/people-table.csv", people()),
        ("folk/people-table.csv.gz", gzip(&people())),
        ("people-table.csv", people()),
        ("raw_people", people()),
        ("outer.zip", nested_zip()),
    ];
    let set = entry(vec![
        plain("http://host/raw_people".into()),
        nested("http://host/outer.zip".into()),
    ]);
    for (path, content) in forms {
        let from = tempfile::tempdir().unwrap();
        let copy = from.path().join(path);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::write(&copy, content).unwrap();
        let cache = Cache::new(options(0));
        let fetched = cache.copy_from(&set, from.path()).unwrap();
        assert_eq!(
            fetched.files[0].origin,
            Origin::Copy(copy.clone()),
            "{path}"
        );
        cache.assert_holds_only_people();
        assert!(copy.exists(), "the original stays");
    }
}

#[test]
fn a_wrong_local_copy_gives_way_to_a_right_one() {
    let from = tempfile::tempdir().unwrap();
    fs::write(from.path().join("people.csv"), b"others").unwrap();
    fs::write(from.path().join("people.csv.gz"), gzip(&people())).unwrap();
    let cache = Cache::new(options(0));
    cache.copy_from(&entry(vec![]), from.path()).unwrap();
    cache.assert_holds_only_people();
}

#[test]
fn local_copies_that_are_not_the_published_file_are_refused() {
    let longer = [people(), people()].concat();
    let cut_gzip = gzip(&people())[..2_000].to_vec();
    for (path, content, expected) in [
        ("people.csv", b"others".to_vec(), sha256(b"others")),
        ("people.csv", longer.clone(), sha256(&longer)),
        ("people.csv.gz", cut_gzip, "people.csv.gz".into()),
    ] {
        let from = tempfile::tempdir().unwrap();
        fs::write(from.path().join(path), content).unwrap();
        let cache = Cache::new(options(0));
        let message = cache
            .copy_from(&entry(vec![]), from.path())
            .unwrap_err()
            .to_string();
        assert!(message.contains(&expected), "{message}");
        assert!(cache.names().is_empty(), "{:?}", cache.names());
    }
}

#[test]
fn a_folder_without_a_copy_says_what_was_looked_for() {
    let from = tempfile::tempdir().unwrap();
    let cache = Cache::new(options(0));
    let error = cache.copy_from(&entry(vec![]), from.path()).unwrap_err();
    assert!(matches!(error, FetchError::NotInFolder { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("`folk/people-table.csv.gz`"), "{message}");
}

#[test]
fn the_catalogue_agrees_with_the_local_copies_of_the_real_files() {
    let Some(folder) = probity_testing::data(&[]) else {
        return;
    };
    let cache = Cache::new(options(0));
    // Only a copy without names of persons is kept of the COMPAS file.
    for set in catalogue().iter().filter(|set| set.name != "compas") {
        let fetched = cache
            .copy_from(set, &folder)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(fetched.files.len(), set.files.len());
        assert!(
            cache.fetcher().cached(set).unwrap().is_some(),
            "{}",
            set.name
        );
    }
}
