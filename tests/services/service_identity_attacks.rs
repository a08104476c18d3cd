//! Log-in by an identity provider that lies, and by browsers that come back with
//! what is not theirs.

#![cfg(feature = "serve")]

use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::identity::fake::{Asked, Fake, Reply, field, part, seconds};
use crate::identity::surfer::{Page, Surfer};
use crate::identity::{SECRET, serve};
use crate::service::http::{open, raw, read_answer, request};
use crate::service::{Home, Server};
use crate::service_hooks::hmac;
use crate::service_identity::give;

/// A service with a provider that does what it is told, and an access for the subject `ada`.
pub struct Attacked {
    pub fake: Fake,
    pub server: Server,
    _home: Home,
}

impl Attacked {
    pub fn new(options: &[&str]) -> Attacked {
        let fake = Fake::start();
        let home = Home::new();
        give(&home, "ada@example.org", "main", "viewer");
        let server = serve(&home, &fake.issuer, options);
        Attacked {
            fake,
            server,
            _home: home,
        }
    }

    pub fn begin(&self, surfer: &mut Surfer) -> Asked {
        let begin = surfer.get(&self.server.page("/login/provider"));
        assert_eq!(begin.status, 303, "{}", begin.text);
        Asked::of(begin.header("location"))
    }

    fn back(&self, surfer: &mut Surfer, query: &str) -> Page {
        surfer.get(&self.server.page(&format!("/login/provider/return?{query}")))
    }

    pub fn returns(&self, surfer: &mut Surfer, asked: &Asked) -> Page {
        self.back(surfer, &format!("code=a%20code&state={}", asked.state))
    }
}

pub fn has_session(surfer: &Surfer, server: &Server) -> bool {
    let cookies = surfer.cookies(&server.page("/"));
    cookies
        .iter()
        .any(|(name, _)| name.starts_with("probity_session_"))
}

/// Waits until steps of log-ins from this address are let in again.
pub fn rest() {
    thread::sleep(Duration::from_millis(450));
}

#[test]
fn an_honest_provider_is_believed() {
    let attacked = Attacked::new(&[]);
    let Attacked { fake, server, .. } = &attacked;
    let mut ada = Surfer::new();
    let asked = attacked.begin(&mut ada);
    fake.gives(&fake.claims(&asked, "ada"));
    let page = attacked.returns(&mut ada, &asked);
    assert_eq!(page.header("refresh"), "0; url=/");
    assert!(
        page.header("set-cookie")
            .contains("HttpOnly; SameSite=Strict; Path=/")
    );
    page.says(200, "You are logged in");
    let back = server.page("/login/provider/return");
    fake.holds_exchange(&asked, "a code", &back);
    ada.visit(&server.page("/")).says(200, "Overview");
    // Nothing of the log-in is left in the browser.
    assert_eq!(ada.cookies(&server.page("/")).len(), 1);
    // It was not asked more than it had to be: metadata and keys at the start, once.
    let questions = fake.was_asked();
    assert_eq!(
        questions,
        ["/.well-known/openid-configuration", "/keys", "/token"]
    );

    // Two tabs at once, in any order.
    let mut tabs = Surfer::new();
    let (first, second) = (attacked.begin(&mut tabs), attacked.begin(&mut tabs));
    for asked in [&second, &first] {
        fake.gives(&fake.claims(asked, "ada"));
        attacked
            .returns(&mut tabs, asked)
            .says(200, "You are logged in");
    }
    rest();

    // A key that came since is asked for, but not by everybody who names one.
    let asked = attacked.begin(&mut ada);
    fake.has_keys(Reply::Json(200, fake.keys(&["second"])));
    let header = json!({"alg": "EdDSA", "kid": "second"});
    fake.gives_token(&fake.signed(&header, &fake.claims(&asked, "ada")));
    fake.was_asked();
    attacked
        .returns(&mut ada, &asked)
        .says(502, "does not hold");
    assert_eq!(
        fake.was_asked(),
        ["/token"],
        "the keys are not a minute old"
    );
}

#[test]
fn what_does_not_hold_lets_nobody_in() {
    let attacked = Attacked::new(&[]);
    let Attacked { fake, server, .. } = &attacked;
    let mut ada = Surfer::new();
    type Forge = fn(&Fake, Value) -> String;
    let forgeries: [(&str, Forge); 6] = [
        ("no signature", |_, claims| {
            let header = part(&json!({"alg": "none"}));
            format!("{header}.{}.", part(&claims))
        }),
        ("the secret as the key", |_, claims| {
            let header = part(&json!({"alg": "HS256", "kid": "first"}));
            let text = format!("{header}.{}", part(&claims));
            let code = hmac(SECRET, &text);
            format!("{text}.{}", URL_SAFE_NO_PAD.encode(code))
        }),
        ("a key of nobody's", |fake, claims| {
            fake.signed(&json!({"alg": "EdDSA", "kid": "other"}), &claims)
        }),
        ("a changed claim", |fake, mut claims| {
            let header = json!({"alg": "EdDSA", "kid": "first"});
            let token = fake.signed(&header, &claims);
            claims["sub"] = json!("root");
            let parts: Vec<&str> = token.split('.').collect();
            let changed = part(&claims);
            format!("{}.{changed}.{}", parts[0], parts[2])
        }),
        ("no token at all", |_, _| "a.b.c".to_owned()),
        ("nothing", |_, _| String::new()),
    ];
    for (what, forge) in forgeries {
        let asked = attacked.begin(&mut ada);
        fake.gives_token(&forge(fake, fake.claims(&asked, "ada")));
        let page = attacked.returns(&mut ada, &asked);
        assert_eq!(page.status, 502, "{what}: {}", page.text);
        assert!(!has_session(&ada, server), "{what}");
        rest();
    }
    let changes: [(&str, Value); 9] = [
        ("iss", json!("https://login.example.net")),
        ("aud", json!("another")),
        ("aud", json!(["probity", "another"])),
        ("azp", json!("another")),
        ("exp", json!(seconds(-1))),
        ("nonce", json!("another")),
        ("nonce", Value::Null),
        ("sub", Value::Null),
        ("exp", json!("never")),
    ];
    for (claim, value) in changes {
        let asked = attacked.begin(&mut ada);
        let mut claims = fake.claims(&asked, "ada");
        claims[claim] = value.clone();
        fake.gives(&claims);
        let page = attacked.returns(&mut ada, &asked);
        assert_eq!(page.status, 502, "{claim} {value}: {}", page.text);
        assert!(!has_session(&ada, server), "{claim} {value}");
        rest();
    }
    // Known, but by an address that is not verified, or as somebody else.
    for (claim, value) in [("email_verified", json!(false)), ("email", Value::Null)] {
        let asked = attacked.begin(&mut ada);
        let mut claims = fake.claims(&asked, "ada");
        claims[claim] = value;
        fake.gives(&claims);
        fake.knows(Reply::Json(200, json!({"sub": "ada"})));
        attacked
            .returns(&mut ada, &asked)
            .says(403, "the identifier ada");
        // What is said of somebody else is not said of her.
        let asked = attacked.begin(&mut ada);
        claims["nonce"] = json!(asked.nonce);
        fake.gives(&claims);
        let other = json!({"sub": "bob", "email": "ada@example.org", "email_verified": true});
        fake.knows(Reply::Json(200, other));
        attacked
            .returns(&mut ada, &asked)
            .says(502, "does not hold");
        rest();
    }
    // The provider may say it beside the token.
    let asked = attacked.begin(&mut ada);
    let mut claims = fake.claims(&asked, "ada");
    claims["email"] = Value::Null;
    fake.gives(&claims);
    let own = json!({"sub": "ada", "email": "ada@example.org", "email_verified": true});
    fake.knows(Reply::Json(200, own));
    attacked
        .returns(&mut ada, &asked)
        .says(200, "You are logged in");
    rest();
    // The address is given to somebody else in time.
    let mut heir = Surfer::new();
    let asked = attacked.begin(&mut heir);
    let mut claims = fake.claims(&asked, "heir");
    claims["email"] = json!("ada@example.org");
    fake.gives(&claims);
    attacked
        .returns(&mut heir, &asked)
        .says(403, "somebody else has it");
}

#[test]
fn a_browser_comes_back_from_its_own_log_in_once() {
    let attacked = Attacked::new(&[]);
    let Attacked { fake, server, .. } = &attacked;
    let refusal = "not begun in this browser";
    let mut ada = Surfer::new();
    let asked = attacked.begin(&mut ada);
    fake.gives(&fake.claims(&asked, "ada"));
    // Somebody else's browser, an invented state, none, two.
    attacked
        .returns(&mut Surfer::new(), &asked)
        .says(400, refusal);
    let state = asked.state.clone();
    for query in [
        String::new(),
        "code=1".to_owned(),
        format!("code=1&state={}", "0".repeat(64)),
        format!("code=1&state={}", state.to_uppercase()),
        format!("code=1&state={state}x"),
        format!("code=1&state={state}&state={state}"),
        format!("code=1&code=2&state={state}"),
    ] {
        attacked.back(&mut ada, &query).says(400, refusal);
    }
    // A cookie that was changed or is called like another log-in.
    let cookie = ada.cookies(&server.page("/")).pop().unwrap();
    assert!(cookie.0.starts_with("probity_login_"), "{cookie:?}");
    let mut forger = Surfer::new();
    for forged in [
        cookie.1.replacen('.', ".1", 1),
        cookie.1.replace(&state, &"0".repeat(64)),
        cookie.1[..cookie.1.len() - 1].to_owned(),
        "x".repeat(2000),
    ] {
        forger.set_cookie(&server.page("/"), &cookie.0, &forged);
        attacked.returns(&mut forger, &asked).says(400, refusal);
    }
    // None of these used it up, or asked the provider for anything.
    assert!(!fake.was_asked().contains(&"/token".to_owned()));
    attacked
        .returns(&mut ada, &asked)
        .says(200, "You are logged in");
    attacked.returns(&mut ada, &asked).says(400, refusal);
    // Nor does its cookie help, with a provider that takes a code twice.
    rest();
    let mut thief = Surfer::new();
    thief.set_cookie(&server.page("/"), &cookie.0, &cookie.1);
    attacked.returns(&mut thief, &asked).says(400, refusal);
    assert!(!has_session(&thief, server));
    // After a restart nobody knows of it.
    rest();
    let asked = attacked.begin(&mut thief);
    let cookie = thief.cookies(&server.page("/")).pop().unwrap();
    let other = Attacked::new(&[]);
    let mut stranger = Surfer::new();
    stranger.set_cookie(&other.server.page("/"), &cookie.0, &cookie.1);
    other.returns(&mut stranger, &asked).says(400, refusal);
}

#[test]
fn the_log_in_says_what_the_provider_did() {
    let attacked = Attacked::new(&[]);
    let Attacked { fake, .. } = &attacked;
    let mut ada = Surfer::new();
    let with = |surfer: &mut Surfer, more: &str| {
        let asked = attacked.begin(surfer);
        fake.gives(&fake.claims(&asked, "ada"));
        attacked.back(surfer, &format!("state={}&{more}", asked.state))
    };
    with(&mut ada, "error=access_denied").says(403, "did not let you in");
    let page = with(&mut ada, "error=%3Cscript%3E&error_description=%3Cb%3E");
    for said in ["<script>", "&#60;script", "&#60;b"] {
        assert!(!page.text.contains(said), "{said}");
    }
    page.says(502, "refused the log-in");
    with(&mut ada, "").says(502, "did not say who you are");
    rest();
    // Another provider sends the browser back: a mix-up.
    let other = with(&mut ada, "code=1&iss=https%3A%2F%2Flogin.example.net");
    other.says(502, "does not hold");
    let own = format!(
        "code=1&iss={}",
        fake.issuer.replace(':', "%3A").replace('/', "%2F")
    );
    with(&mut ada, &own).says(200, "You are logged in");
}

#[test]
fn a_log_in_leads_to_pages_of_the_service_alone() {
    let attacked = Attacked::new(&[]);
    let Attacked { fake, server, .. } = &attacked;
    for (next, to) in [
        ("https%3A%2F%2Fevil.example", "/"),
        ("%2F%2Fevil.example", "/"),
        ("%2Flogin%2Fprovider", "/"),
        ("%2Fdata%2Fnew", "/data/new"),
    ] {
        let mut ada = Surfer::new();
        let begin = ada.get(&server.page(&format!("/login/provider?next={next}")));
        let asked = Asked::of(begin.header("location"));
        fake.gives(&fake.claims(&asked, "ada"));
        let page = attacked.returns(&mut ada, &asked);
        assert_eq!(page.header("refresh"), format!("0; url={to}"), "{next}");
        rest();
    }
}

#[test]
fn log_ins_that_are_begun_fill_nothing() {
    let attacked = Attacked::new(&[]);
    let Attacked { fake, server, .. } = &attacked;
    let mut ada = Surfer::new();
    let first = attacked.begin(&mut ada);
    // It is known to be the oldest by the second in which it was begun.
    thread::sleep(Duration::from_millis(1100));
    for _ in 0..8 {
        attacked.begin(&mut ada);
    }
    // A browser has the newest four.
    assert_eq!(ada.cookies(&server.page("/")).len(), 4);
    fake.gives(&fake.claims(&first, "ada"));
    attacked
        .returns(&mut ada, &first)
        .says(400, "not begun in this browser");
    // One address begins so many at once; others are let in meanwhile, by tokens from there, too.
    // All are sent before the first is answered: they come as fast as the service takes them.
    let begin = "GET /login/provider HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut stream = open(&server.address, begin.repeat(400).as_bytes());
    let refused = (0..400).find_map(|_| {
        let answer = read_answer(&mut stream);
        assert!(matches!(answer.status, 303 | 429), "{}", answer.text());
        (answer.status == 429).then(|| answer.text())
    });
    let refused = refused.expect("somebody is refused");
    assert!(refused.contains("Too many people log in"), "{refused}");
    server.get("/api/v1/service").expect(200);
}

#[test]
fn the_address_to_come_back_to_is_that_of_the_browser() {
    let attacked = Attacked::new(&["--host", "audits.example.org", "--proxy", "127.0.0.1"]);
    let back = |head: &[&str]| {
        let head: Vec<String> = head.iter().map(|&line| line.to_owned()).collect();
        let mut lines = format!(
            "GET /login/provider HTTP/1.1\r\n{}\r\n\r\n",
            head.join("\r\n")
        );
        lines = lines.replace("HTTP/1.1\r\n", "HTTP/1.1\r\nConnection: close\r\n");
        let answer = raw(&attacked.server.address, lines.as_bytes());
        let answer = answer.expect(303);
        let cookie = answer.header("set-cookie").to_owned();
        let (_, query) = answer.header("location").split_once('?').unwrap();
        (field(query, "redirect_uri"), cookie.contains("; Secure"))
    };
    let path = "/login/provider/return";
    let tls = "X-Forwarded-Proto: https";
    assert_eq!(
        back(&["Host: audits.example.org", tls]),
        (format!("https://audits.example.org{path}"), true)
    );
    assert_eq!(
        back(&["Host: localhost:8080"]),
        (format!("http://localhost:8080{path}"), false)
    );
    let foreign = "GET /login/provider HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    raw(&attacked.server.address, foreign.as_bytes()).expect(421);
    // Whoever is no proxy says nothing of TLS.
    let plain = Attacked::new(&[]);
    let head = [tls.to_owned()];
    let answer = request(&plain.server.address, "GET", "/login/provider", &head, &[]);
    assert!(!answer.expect(303).header("set-cookie").contains("Secure"));
}
