//! Log-in by an identity provider that fails, is slow or says nonsense of itself.

#![cfg(feature = "serve")]

use serde_json::{Value, json};

use crate::identity::fake::{Fake, Reply};
use crate::identity::surfer::Surfer;
use crate::identity::{SECRET, serve};
use crate::service::Home;
use crate::service_identity_attacks::{Attacked, has_session, rest};

#[test]
fn a_provider_that_fails_is_named() {
    // The provider is given up long before the service gives up who waits for it.
    let attacked = Attacked::new(&["--idle-time", "10m"]);
    let Attacked { fake, server, .. } = &attacked;
    let elsewhere = Fake::start();
    let mut ada = Surfer::new();
    let to = format!("{}/token", elsewhere.issuer);
    let huge = "x".repeat(1 << 20);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    let broken = json!({"access_token": "a\r\nb", "token_type": "Bearer", "id_token": "a.b.c"});
    let replies = [
        Reply::Json(400, json!({"error": "invalid_grant"})),
        Reply::Json(500, json!({})),
        Reply::Json(200, json!({"error": "nothing of use"})),
        Reply::Json(200, broken),
        Reply::Raw(format!(
            "HTTP/1.1 307 There\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
        )),
        Reply::Raw(format!("{head}{{\"access_token\": \"{huge}\"}}")),
        Reply::Raw(format!("{head}not JSON")),
        Reply::Raw("SSH-2.0-OpenSSH\r\n".to_owned()),
        Reply::Raw(String::new()),
        // It never answers: the service gives it up by itself.
        Reply::Silence,
    ];
    for (place, reply) in replies.into_iter().enumerate() {
        let asked = attacked.begin(&mut ada);
        fake.exchanges(reply);
        let page = attacked.returns(&mut ada, &asked);
        assert_eq!(page.status, 502, "{place}: {}", page.text);
        assert!(
            page.text
                .contains("127.0.0.1 could not be asked who you are"),
            "{place}"
        );
        assert!(!has_session(&ada, server), "{place}");
        rest();
    }
    assert!(elsewhere.was_asked().is_empty(), "a redirect was followed");
    // An access token that cannot be a header.
    let asked = attacked.begin(&mut ada);
    let mut claims = fake.claims(&asked, "ada");
    claims["email"] = Value::Null;
    let token = fake.signed(&json!({"alg": "EdDSA", "kid": "first"}), &claims);
    let answer = json!({"access_token": "a\nb", "token_type": "Bearer", "id_token": token});
    fake.exchanges(Reply::Json(200, answer));
    attacked
        .returns(&mut ada, &asked)
        .says(502, "does not hold");
    let log = attacked.server.terminate();
    assert!(log.contains("a log-in by 127.0.0.1 failed"), "{log}");
    assert!(
        !log.contains("ada@example.org") && !log.contains(SECRET),
        "{log}"
    );
}

#[test]
fn a_provider_that_says_nonsense_of_itself_lets_nobody_begin() {
    let elsewhere = Fake::start();
    let huge = "x".repeat(1 << 20);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    let to = format!("{}/.well-known/openid-configuration", elsewhere.issuer);
    let changed = |name: &'static str, value: Value| {
        move |fake: &Fake| {
            let mut metadata = fake.metadata();
            metadata[name] = value.clone();
            Reply::Json(200, metadata)
        }
    };
    type Say<'s> = Box<dyn Fn(&Fake) -> Reply + 's>;
    let sayings: Vec<(&str, Say<'_>)> = vec![
        (
            "unexpected issuer",
            Box::new(changed("issuer", json!("https://login.example.net"))),
        ),
        (
            "lead to an address without TLS",
            Box::new(changed("jwks_uri", json!("ftp://a/keys"))),
        ),
        (
            "address without TLS",
            Box::new(changed("authorization_endpoint", json!("ftp://a/b"))),
        ),
        ("Failed to parse", Box::new(|_| Reply::Json(200, json!({})))),
        ("500", Box::new(|_| Reply::Json(500, json!({})))),
        (
            "answers more than is read",
            Box::new(|_| Reply::Raw(format!("{head}{{\"issuer\": \"{huge}\"}}"))),
        ),
        (
            "301",
            Box::new(|_| {
                Reply::Raw(format!(
                    "HTTP/1.1 301 There\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
                ))
            }),
        ),
        ("did not answer in time", Box::new(|_| Reply::Silence)),
    ];
    for (expected, says) in sayings {
        let fake = Fake::start();
        fake.says_of_itself(says(&fake));
        let home = Home::new();
        let server = serve(&home, &fake.issuer, &["--idle-time", "10m"]);
        let mut ada = Surfer::new();
        let page = ada.get(&server.page("/login/provider"));
        assert_eq!(page.status, 502, "{expected}: {}", page.text);
        // A token lets in all the same.
        let page = page.says(502, "name=\"token\"");
        assert!(page.text.contains("or log in with a token"));
        let log = server.terminate();
        assert!(log.contains(expected), "no '{expected}' in {log}");
    }
    assert!(elsewhere.was_asked().is_empty(), "a redirect was followed");
    // Nobody at all.
    let home = Home::new();
    let server = serve(&home, "http://127.0.0.1:1", &[]);
    let page = Surfer::new().get(&server.page("/login/provider"));
    page.says(502, "127.0.0.1 could not be asked who you are");
    assert!(server.terminate().contains("could not be reached"));
}
