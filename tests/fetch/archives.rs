//! Files that come packed in archives.

use std::io::{Cursor, Write};

use probity::data::fetch::{FetchError, Source};

use super::cache::*;
use super::server::*;

/// A zip archive with one deflated member.
fn zip_of(name: &str, content: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive
        .start_file(name, zip::write::SimpleFileOptions::default())
        .unwrap();
    archive.write_all(content).unwrap();
    archive.finish().unwrap().into_inner()
}

pub fn nested(url: String) -> Source {
    Source {
        url,
        members: vec!["inner.zip".into(), "deep/people.csv".into()],
    }
}

pub fn nested_zip() -> Vec<u8> {
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
