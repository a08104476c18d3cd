//! The pages of `probity serve` over a real socket, without a browser: who gets in, which forms are
//! taken, what every answer tells the browser, and that what users type stays text.

#![cfg(feature = "serve")]

use crate::pages::Visitor;
use crate::service::{Home, on_each_database};

on_each_database! {
    sessions_end,
}

/// A name that would be a script, leave an attribute and close a title, if anything let it.
const NAME: &str = "\"><script>alert('x')</script></title><img src=x onerror=alert(1)>&amp;";

#[test]
fn only_a_valid_token_gets_in() {
    let home = Home::new();
    let service = home.serve(&[]);
    let stranger = Visitor::new(&service);
    for (path, login) in [
        ("/", "/login"),
        ("/data/new", "/login?next=%2Fdata%2Fnew"),
        ("/compare", "/login?next=%2Fcompare"),
        (
            "/runs/0123456789abcdef/samples",
            "/login?next=%2Fruns%2F0123456789abcdef%2Fsamples",
        ),
    ] {
        let answer = stranger.get(path);
        assert_eq!((answer.status, answer.header("location")), (303, login));
    }
    for token in [
        "",
        "probity_",
        "probity_0123456789abcdef_00",
        &service.token[1..],
    ] {
        let answer = stranger.post("/login", &[("token", token)]);
        assert_eq!(answer.status, 422, "{token}");
        assert!(answer.text.contains("not known here"));
        assert!(token.is_empty() || !answer.text.contains(&format!("value=\"{token}\"")));
        assert_eq!(answer.header("set-cookie"), "");
    }
    let answer = stranger.post("/login", &[("token", &service.token)]);
    let cookie = answer.header("set-cookie");
    for part in [
        "; HttpOnly",
        "; SameSite=Strict",
        "; Path=/",
        "; Max-Age=43200",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let visitor = Visitor::logged_in(&service);
    assert_eq!(visitor.get("/").status, 200);
    let mut forged = Visitor::new(&service);
    forged.cookie = "probity_session=0000".to_owned();
    assert_eq!(forged.get("/").status, 303);
}

fn sessions_end(home: &Home) {
    let service = home.serve(&[]);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let answer = visitor.post("/logout", &[("csrf", &secret)]);
    assert_eq!((answer.status, answer.header("location")), (303, "/login"));
    assert!(answer.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(
        visitor.get("/").status,
        303,
        "the cookie is worth nothing any more"
    );

    let visitor = Visitor::logged_in(&service);
    home.ask_database("UPDATE sessions SET expires = 1")
        .unwrap();
    assert_eq!(
        visitor.get("/").status,
        303,
        "sessions last for a while only"
    );
    let answer = visitor.post("/logout", &[("csrf", "")]);
    assert_eq!(answer.status, 401);
    assert!(answer.text.contains("not logged in any more"));

    let visitor = Visitor::logged_in(&service);
    let id = &service.token.split('_').nth(1).unwrap();
    home.command(&["serve", "revoke", id]);
    assert_eq!(
        visitor.get("/").status,
        303,
        "a withdrawn token ends its sessions"
    );
}

#[test]
fn forms_are_taken_from_the_own_session_only() {
    let home = Home::new();
    let service = home.serve(&[]);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let foreign = Visitor::logged_in(&service).get("/").secret();
    assert_ne!(secret, foreign);
    let id = visitor.with_table("people");
    let posts = [
        "/logout".to_owned(),
        format!("/data/{id}/columns"),
        format!("/data/{id}/schema"),
        format!("/data/{id}/train"),
        format!("/data/{id}/rename"),
        format!("/data/{id}/delete"),
        format!("/models/{id}/audit"),
        format!("/models/{id}/rename"),
        format!("/jobs/{id}/rename"),
        format!("/models/{id}/delete"),
        format!("/jobs/{id}/stop"),
        format!("/jobs/{id}/resume"),
        format!("/jobs/{id}/delete"),
        format!("/runs/{id}/repair"),
    ];
    for path in &posts {
        for wrong in ["", "0", &foreign] {
            let answer = visitor.post(path, &[("csrf", wrong)]);
            assert_eq!(answer.status, 403, "{path}");
        }
        for origin in ["", "null", "http://evil.example"] {
            let answer = visitor.post_from(origin, path, &[("csrf", &secret)]);
            assert_eq!(answer.status, 403, "{path} from '{origin}'");
        }
    }
    for path in ["/data/new", "/models/new"] {
        let answer = visitor.upload(path, &[("csrf", &foreign)], "people.csv", "a,b\n1,2\n");
        assert_eq!(answer.status, 403, "{path}");
        let answer = visitor.upload(path, &[], "people.csv", "a,b\n1,2\n");
        assert_eq!(answer.status, 403, "{path}");
    }
    let answer = visitor.post_from(
        "http://evil.example",
        "/login",
        &[("token", &service.token)],
    );
    assert_eq!(answer.status, 403);
    assert_eq!(
        visitor.get(&format!("/data/{id}")).status,
        200,
        "nothing was deleted"
    );
    let answer = visitor.post(&format!("/data/{id}/delete"), &[("csrf", &secret)]);
    assert_eq!((answer.status, answer.header("location")), (303, "/"));
    assert_eq!(visitor.get(&format!("/data/{id}")).status, 404);
}

#[test]
fn every_answer_tells_the_browser_what_to_refuse() {
    let home = Home::new();
    let service = home.serve(&[]);
    let visitor = Visitor::logged_in(&service);
    let id = visitor.with_table("people");
    let page = visitor.get("/");
    let linked = |attribute: &str| {
        let (_, rest) = page
            .text
            .split_once(&format!("{attribute}=\"/static/"))
            .unwrap();
        format!("/static/{}", rest.split('"').next().unwrap())
    };
    let assets = [linked("rel=\"stylesheet\" href"), linked("src")];
    let mut paths = vec![
        "/".to_owned(),
        "/login".to_owned(),
        "/nowhere".to_owned(),
        "/static/nothing.css".to_owned(),
        "/favicon.ico".to_owned(),
        "/compare".to_owned(),
        "/compare?run=x".to_owned(),
        "/data/new".to_owned(),
        "/models/new".to_owned(),
        "/data/..%2F..%2Fetc".to_owned(),
        format!("/data/{id}"),
        format!("/data/{id}/columns"),
        format!("/data/{id}/train"),
        format!("/data/{id}/delete"),
        "/runs/0123456789abcdef".to_owned(),
        "/runs/0123456789abcdef/report".to_owned(),
        "/runs/0123456789abcdef/report.annex.html".to_owned(),
        "/runs/0123456789abcdef/report.cdx.json".to_owned(),
        "/runs/0123456789abcdef/samples".to_owned(),
        "/jobs/0123456789abcdef/events".to_owned(),
    ];
    paths.extend(assets.clone());
    for who in [&visitor, &Visitor::new(&service)] {
        for path in &paths {
            let answer = who.get(path);
            let policy = answer.header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
            assert!(!policy.contains("unsafe"), "{path}: {policy}");
            assert!(
                policy.contains("frame-ancestors 'none'"),
                "{path}: {policy}"
            );
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
            assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
            assert_eq!(
                answer.header("cross-origin-opener-policy"),
                "same-origin",
                "{path}"
            );
            let is_asset = assets.contains(path);
            let kept = answer.header("cache-control");
            assert_eq!(kept.contains("immutable"), is_asset, "{path}: {kept}");
            assert_eq!(kept == "no-store", !is_asset, "{path}: {kept}");
            assert!(
                !answer.text.contains("<script>") && !answer.text.contains(" style="),
                "{path}"
            );
        }
    }
}

#[test]
fn what_users_type_stays_text() {
    let home = Home::new();
    let service = home.serve(&[]);
    let visitor = Visitor::logged_in(&service);
    let id = visitor.with_table(NAME);
    for path in [
        "/".to_owned(),
        format!("/data/{id}"),
        format!("/data/{id}/columns"),
        format!("/data/{id}/rename"),
        format!("/data/{id}/delete"),
        "/?name=%22%3E%3Cscript%3Ealert('x')%3C%2Fscript%3E".to_owned(),
    ] {
        let answer = visitor.get(&path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(
            !answer.text.contains("<script>alert") && !answer.text.contains("<img"),
            "{path}"
        );
        assert!(
            answer.text.contains("alert(&#39;x&#39;)"),
            "{path}: {}",
            answer.text
        );
    }
    // A form that comes back holds what was entered, as text.
    let secret = visitor.get("/").secret();
    let fields = [
        ("csrf", secret.as_str()),
        ("role-0", "\"><script>"),
        ("role-1", "label"),
        ("role-2", "label"),
    ];
    let answer = visitor.post(&format!("/data/{id}/columns"), &fields);
    assert_eq!(answer.status, 422);
    assert!(!answer.text.contains("<script>"), "{}", answer.text);
    // The names in the file are a user's too.
    let table = "age,\"<script>alert(2)</script>\",income\n30,\"<b>x</b>\",high\n40,y,low\n";
    let fields = [("csrf", secret.as_str()), ("label", "names")];
    let answer = visitor.upload("/data/new", &fields, "x.csv", table);
    let columns = visitor.get(answer.header("location"));
    assert!(columns.text.contains("alert(2)") && columns.text.contains("x&#60;/b&#62;"));
    assert!(!columns.text.contains("<script>") && !columns.text.contains("<b>"));
}

#[test]
fn addresses_and_methods_that_do_not_exist_are_pages_too() {
    let home = Home::new();
    let service = home.serve(&[]);
    let visitor = Visitor::logged_in(&service);
    for path in [
        "/nowhere",
        "/data/0123456789abcdef",
        "/data/0123456789ABCDEF",
        "/data/..%2f..%2fetc%2fpasswd",
        "/models/%00",
        "/jobs/0123456789abcdef",
        "/runs/0123456789abcdef/report",
        "/runs/0123456789abcdef/samples",
        "/compare?run=../x&run=y",
    ] {
        let answer = visitor.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            answer.header("content-type").starts_with("text/html"),
            "{path}"
        );
        assert!(answer.text.contains("Back to the overview"), "{path}");
    }
    for (method, path) in [
        ("PUT", "/"),
        ("DELETE", "/data/new"),
        ("POST", "/compare"),
        ("PATCH", "/login"),
    ] {
        let answer = visitor.send(method, path, &[], Vec::new());
        assert_eq!(answer.status, 405, "{method} {path}");
        assert!(
            answer.text.contains("Back to the overview"),
            "{method} {path}"
        );
    }
    let answer = visitor.get("/jobs/0123456789abcdef/stop");
    assert_eq!(answer.status, 405, "no GET changes anything");
}

#[test]
fn broken_forms_are_refused() {
    let home = Home::new();
    let service = home.serve(&[]);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let csrf = ("csrf", secret.as_str());
    let origin = service.page("");
    let json = [
        ("content-type", "application/json"),
        ("origin", origin.as_str()),
    ];
    assert_eq!(
        visitor
            .send("POST", "/logout", &json, b"{}".to_vec())
            .status,
        415
    );
    let broken = [
        ("content-type", "multipart/form-data; boundary=x"),
        ("origin", origin.as_str()),
    ];
    let answer = visitor.send("POST", "/data/new", &broken, b"--x\r\nnonsense".to_vec());
    assert_eq!(answer.status, 400, "{}", answer.text);
    let long = "x".repeat(70_000);
    let answer = visitor.upload(
        "/data/new",
        &[csrf, ("label", &long)],
        "a.csv",
        "a,b\n1,2\n",
    );
    assert_eq!(answer.status, 413);
    for (name, content, status, needle) in [
        ("", "a,b\n1,2\n", 422, "Choose a file"),
        ("people.exe", "a,b\n1,2\n", 422, "must end in .csv"),
        ("people.csv", "", 422, "empty"),
        ("people.csv", "a,b\n1,2,3\n", 422, ""),
        ("people.parquet", "no parquet", 422, ""),
    ] {
        let answer = visitor.upload("/data/new", &[csrf, ("label", "x")], name, content);
        assert_eq!(answer.status, status, "{name} {content}: {}", answer.text);
        assert!(
            answer.text.contains("id=\"file-wrong\"") && answer.text.contains(needle),
            "{name}: {}",
            answer.text
        );
        assert!(
            answer.text.contains("href=\"#file\""),
            "the summary links to the field"
        );
    }
    let answer = visitor.upload(
        "/models/new",
        &[csrf, ("label", "x")],
        "m.zip",
        "no archive",
    );
    assert_eq!(answer.status, 422, "{}", answer.text);
    assert!(answer.text.contains("id=\"file-wrong\""));
}
