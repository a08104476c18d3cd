//! What is told, retried and left behind when a source fails.

use std::fs::File;
use std::time::Duration;

use probity::data::fetch::{FetchError, Fetcher, Origin};

use super::cache::*;
use super::server::*;

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
fn a_server_that_never_answers_is_given_up() {
    let server = Server::start(vec![Reply {
        bytes: vec![],
        stall: true,
    }]);
    let mut impatient = options(0);
    impatient.silence_timeout = Duration::from_secs(1);
    let error = Cache::new(impatient)
        .download(vec![plain(server.url("people.csv"))])
        .unwrap_err();
    assert!(matches!(error, FetchError::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains("timeout"), "{error}");
    server.requests();
}

#[test]
fn a_server_that_falls_silent_is_given_up_and_gone_on_with() {
    let content = people();
    // How long a machine may take to send and receive three thousand bytes nobody knows: whoever was
    // given up before they came is waited for longer.
    for seconds in [1, 10, 100] {
        let server = Server::start(vec![
            Reply::truncated(&content, 3_000).stalling(),
            Reply::partial(&content, 3_000),
        ]);
        let mut impatient = options(0);
        impatient.silence_timeout = Duration::from_secs(seconds);
        let cache = Cache::new(impatient);
        let source = || vec![plain(server.url("people.csv"))];
        let error = cache.download(source()).unwrap_err();
        assert!(error.to_string().contains("timeout"), "{error}");
        let came = match &error {
            FetchError::Interrupted { received, .. } => *received,
            FetchError::Unreachable { .. } => 0,
            _ => panic!("{error:?}"),
        };
        if came < 3_000 {
            server.requests();
            continue;
        }
        assert_eq!(came, 3_000);
        Fetcher::new(cache.root.path(), options(0))
            .download(&entry(source()), &mut |_| {})
            .unwrap();
        cache.assert_holds_only_people();
        server.requests();
        return;
    }
    panic!("three thousand bytes did not come within 100 seconds");
}

#[test]
fn a_body_without_end_is_cut_off() {
    let endless = vec![b'x'; 5_000];
    let server = Server::start(vec![Reply::ok(&endless), Reply::raw("200 OK", &endless)]);
    let mut small = options(0);
    small.largest_body = 4_000;
    let cache = Cache::new(small);
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
