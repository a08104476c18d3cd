//! Downloads that are verified, kept, and gone on with after they broke off.

use std::fs;

use probity::data::fetch::{FetchError, Origin};

use super::cache::*;
use super::server::*;

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
