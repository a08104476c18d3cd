//! Where a log-in leads: to the page that was asked for before it, and never to another site.

#![cfg(feature = "serve")]

use crate::pages::Visitor;
use crate::service::Home;

/// Addresses that a link to the log-in could carry to lead its victim elsewhere.
const HOSTILE: [&str; 24] = [
    "//evil.example",
    "///evil.example",
    "////evil.example/data/new",
    "/\\evil.example",
    "\\\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/\r\nLocation: http://evil.example",
    "/data/new\r\nSet-Cookie: a=b",
    "/%2f%2fevil.example",
    "/%5cevil.example",
    "/.//evil.example",
    "/data/..//evil.example",
    "@evil.example",
    ".evil.example",
    ":80@evil.example/",
    "http:evil.example",
    "https://evil.example/data/new",
    "javascript:alert(1)",
    "data:text/html,x",
    "/logout",
    "/login?next=//evil.example",
    "/api/v1/jobs",
];

#[test]
fn a_log_in_leads_to_the_page_that_was_asked_for() {
    let home = Home::new();
    let service = home.serve(&[]);
    let stranger = Visitor::new(&service);
    for page in [
        "/data/new",
        "/compare?run=0123456789abcdef&run=fedcba9876543210",
        "/runs/0123456789abcdef/report",
        "/?name=a%20b&kind=audit",
    ] {
        let login = stranger.get(page).header("location").to_owned();
        assert!(login.starts_with("/login?next=%2F"), "{login}");
        let form = stranger.get(&login);
        let (_, rest) = form.text.split_once("name=\"next\" value=\"").unwrap();
        let next = rest.split('"').next().unwrap().replace("&#38;", "&");
        assert_eq!(next, page);
        // A token that is not known leaves the form as it was.
        let wrong = stranger.post("/login", &[("token", "probity_"), ("next", &next)]);
        assert_eq!(wrong.status, 422);
        assert!(
            wrong.text.contains("name=\"next\" value=\"/"),
            "{}",
            wrong.text
        );
        let fields = [("token", service.token.as_str()), ("next", next.as_str())];
        let answer = stranger.post("/login", &fields);
        assert_eq!((answer.status, answer.header("location")), (303, page));
        // Who is logged in is led there right away.
        let answer = Visitor::logged_in(&service).get(&login);
        assert_eq!((answer.status, answer.header("location")), (303, page));
    }
    // Browsers keep the cookie back after a link of another site.
    let from = |site| [("sec-fetch-site", site)];
    let login = "/login?next=%2Fdata%2Fnew";
    let page = stranger.send("GET", login, &from("cross-site"), Vec::new());
    assert!(page.text.contains("<a href=\"/data/new\">Go on"));
    let page = stranger.send("GET", login, &from("same-origin"), Vec::new());
    assert!(!page.text.contains("Go on"), "{}", page.text);
}

#[test]
fn a_log_in_leads_to_no_other_site() {
    let home = Home::new();
    let service = home.serve(&[]);
    let stranger = Visitor::new(&service);
    let visitor = Visitor::logged_in(&service);
    for hostile in HOSTILE {
        let fields = [("token", service.token.as_str()), ("next", hostile)];
        let answer = stranger.post("/login", &fields);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, "/"),
            "{hostile:?}"
        );
        let encoded: String = hostile.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let login = format!("/login?next={encoded}");
        let answer = visitor.get(&login);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, "/"),
            "{hostile:?}"
        );
        let form = stranger.send("GET", &login, &[("sec-fetch-site", "cross-site")], vec![]);
        assert!(
            form.text.contains("name=\"next\" value=\"/\""),
            "{hostile:?}"
        );
        assert!(!form.text.contains("evil"), "{hostile:?}");
    }
    // Several values are no way round.
    let two = stranger.post(
        "/login",
        &[
            ("token", &service.token),
            ("next", "/"),
            ("next", "//evil.example"),
        ],
    );
    assert_eq!(two.header("location"), "/");
}
