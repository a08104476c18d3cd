//! The page that a log-in leads to: the one that was asked for before it. Anybody may have written
//! the address that the browser brings back, so only an address of this service counts: a link to
//! the log-in must not lead to another site.

use std::sync::LazyLock;

use axum::http::Uri;
use axum::http::uri::PathAndQuery;
use form_urlencoded::Serializer;

use crate::identifier::Id;
use crate::provider::{BEGIN, RETURN};

/// The address of the log-in.
pub(crate) const LOGIN: &str = "/login";
/// The address of the log-out.
pub(super) const LOGOUT: &str = "/logout";
/// The address at which somebody who has several accesses chooses one.
pub(super) const ACCESS: &str = "/access";

/// The name of the field with the address of the next page.
pub(super) const NEXT: &str = "next";

/// The address of the overview.
pub(super) const HOME: &str = "/";

/// The greatest number of bytes of the next page's address: it must fit into another address.
const LENGTH: usize = 600;

/// The addresses of all pages.
static PAGES: LazyLock<Vec<&str>> = LazyLock::new(super::addresses);

/// The address of the log-in that leads to the page `asked`.
pub(super) fn login_for(asked: &Uri) -> String {
    let asked = asked.path_and_query().map_or(HOME, PathAndQuery::as_str);
    by_way_of(LOGIN, asked)
}

/// The address of `step` on the way to the page `asked`.
pub(super) fn by_way_of(step: &str, asked: &str) -> String {
    match landing(asked) {
        HOME => step.to_owned(),
        page => {
            let mut query = Serializer::new(String::new());
            format!("{step}?{}", query.append_pair(NEXT, page).finish())
        }
    }
}

/// Returns `asked` if it is the address of a page of this service, else that of the overview.
pub(super) fn landing(asked: &str) -> &str {
    let (path, _) = asked.split_once('?').unwrap_or((asked, ""));
    // Characters that browsers leave out or read in another way are in no address of this service.
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'#');
    let is_page = asked.len() <= LENGTH
        && asked.bytes().all(is_plain)
        && ![LOGIN, LOGOUT, ACCESS, BEGIN, RETURN].contains(&path)
        && PAGES.iter().any(|page| fits(page, path));
    match is_page {
        true => asked,
        false => HOME,
    }
}

/// Whether `path` is one of the addresses that `page` stands for.
fn fits(page: &str, path: &str) -> bool {
    let (mut known, mut given) = (page.split('/'), path.split('/'));
    loop {
        match (known.next(), given.next()) {
            (None, None) => return true,
            (Some("{id}"), Some(id)) if id.parse::<Id>().is_ok() => {}
            (Some(word), Some(given)) if word == given && !word.starts_with('{') => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_service_are_gone_on_to() {
        for page in [
            "/",
            "/data/new",
            "/runs/0123456789abcdef",
            "/runs/0123456789abcdef/report",
            "/compare?run=0123456789abcdef&run=fedcba9876543210",
            "/?name=a%20b&kind=audit",
            "/projects/0123456789abcdef/log.csv",
        ] {
            assert_eq!(landing(page), page);
        }
        let login = login_for(&"/compare?run=0123456789abcdef".parse().unwrap());
        assert_eq!(login, "/login?next=%2Fcompare%3Frun%3D0123456789abcdef");
        assert_eq!(login_for(&"/".parse().unwrap()), LOGIN);
        assert_eq!(login_for(&"/nowhere".parse().unwrap()), LOGIN);
    }

    #[test]
    fn nothing_else_is() {
        let long = format!("/?name={}", "a".repeat(LENGTH));
        for hostile in [
            "",
            "data/new",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "/%2f/evil.example",
            "/%5cevil.example",
            "/.//evil.example",
            "/..//evil.example",
            "/data/new/../..//evil.example",
            "/data/new@evil.example",
            "@evil.example",
            ".evil.example",
            "http:evil.example",
            "http://evil.example",
            "https://evil.example/data/new",
            "http://127.0.0.1/data/new",
            "javascript:alert(1)",
            "data:text/html,<script>alert(1)</script>",
            "/data/new\r\nSet-Cookie: a=b",
            "/data/new\u{202e}",
            "/?name=a\\b",
            "/?name=a b",
            "/data/new#//evil.example",
            " /data/new",
            "/login",
            "/login?next=/login",
            "/logout",
            "/login/provider?next=/login/provider",
            "/login/provider/return?code=1",
            "/access",
            "/nowhere",
            "/runs/..",
            "/runs/{id}",
            "/runs/0123456789ABCDEF",
            "/shared/0123",
            "/static/style.css",
            "/api/v1/jobs",
            long.as_str(),
        ] {
            assert_eq!(landing(hostile), HOME, "{hostile:?}");
        }
    }
}
