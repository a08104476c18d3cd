//! A provider that does whatever an attacker wants it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ed25519_dalek::{Signer, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{CLIENT, SECRET};

/// The name of its key.
const KEY: &str = "first";

/// What is answered at an address.
#[derive(Clone)]
pub enum Reply {
    /// JSON with a status.
    Json(u16, Value),
    /// Anything else, after the status line and the headers.
    Raw(String),
    /// Nothing, until whoever asked has gone.
    Silence,
}

/// What it is asked with, and what it answers.
#[derive(Default)]
struct Talk {
    metadata: Option<Reply>,
    keys: Option<Reply>,
    token: Option<Reply>,
    user: Option<Reply>,
    asked: Vec<String>,
    /// The form that the code was exchanged with, and its authorisation.
    exchange: Option<(String, String)>,
}

/// A provider that does what it is told.
pub struct Fake {
    /// Its issuer.
    pub issuer: String,
    talk: Arc<Mutex<Talk>>,
    key: SigningKey,
}

/// What a log-in asked for, as it stands in the address that the browser is sent to.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The state.
    pub state: String,
    /// The nonce.
    pub nonce: String,
    /// The challenge of PKCE.
    pub challenge: String,
}

/// The value of a field of a query or a form, decoded.
pub fn field(query: &str, name: &str) -> String {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let found = pairs.into_iter().find(|(have, _)| *have == name);
    let (_, value) = found.unwrap_or_else(|| panic!("no {name} in {query}"));
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().expect("a digit"), rest.next().expect("a digit")];
                let digits = std::str::from_utf8(&digits).expect("digits");
                u8::from_str_radix(digits, 16).expect("digits")
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).expect("text")
}

impl Asked {
    /// From the address.
    pub fn of(address: &str) -> Asked {
        let (_, query) = address.split_once('?').expect("a query");
        assert_eq!(field(query, "response_type"), "code");
        assert_eq!(field(query, "client_id"), CLIENT);
        assert_eq!(field(query, "scope"), "openid email");
        assert_eq!(field(query, "code_challenge_method"), "S256");
        Asked {
            state: field(query, "state"),
            nonce: field(query, "nonce"),
            challenge: field(query, "code_challenge"),
        }
    }
}

/// Seconds since 1970, so many from now.
pub fn seconds(later: i64) -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("now");
    i64::try_from(since.as_secs()).expect("a few") + later
}

/// A part of a token.
pub fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

impl Fake {
    /// A provider with a key of its own.
    pub fn start() -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let talk: Arc<Mutex<Talk>> = Arc::default();
        let key = SigningKey::from_bytes(&[7; 32]);
        let fake = Fake { issuer, talk, key };
        fake.hears(listener);
        fake
    }

    fn hears(&self, listener: TcpListener) {
        let usual = (self.metadata(), self.keys(&[KEY]));
        let talk = self.talk.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (talk, usual) = (talk.clone(), usual.clone());
                thread::spawn(move || answer(stream.expect("a stream"), &talk, &usual));
            }
        });
    }

    /// What it says about itself where it is honest.
    pub fn metadata(&self) -> Value {
        let at = |path: &str| format!("{}{path}", self.issuer);
        json!({
            "issuer": self.issuer,
            "authorization_endpoint": at("/authorize"),
            "token_endpoint": at("/token"),
            "userinfo_endpoint": at("/user"),
            "jwks_uri": at("/keys"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA"],
        })
    }

    /// Its key, under these names.
    pub fn keys(&self, names: &[&str]) -> Value {
        let x = URL_SAFE_NO_PAD.encode(self.key.verifying_key().as_bytes());
        let keys = names
            .iter()
            .map(|name| json!({"kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": name, "x": x}));
        json!({ "keys": keys.collect::<Vec<_>>() })
    }

    /// Answers so where it is asked about itself.
    pub fn says_of_itself(&self, reply: Reply) {
        self.talk.lock().expect("no panic").metadata = Some(reply);
    }

    /// Answers so where it is asked for its keys.
    pub fn has_keys(&self, reply: Reply) {
        self.talk.lock().expect("no panic").keys = Some(reply);
    }

    /// Answers so where a code is exchanged.
    pub fn exchanges(&self, reply: Reply) {
        self.talk.lock().expect("no panic").token = Some(reply);
    }

    /// Answers so where it is asked about a person.
    pub fn knows(&self, reply: Reply) {
        self.talk.lock().expect("no panic").user = Some(reply);
    }

    /// The addresses that it was asked for since the last time.
    pub fn was_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.talk.lock().expect("no panic").asked)
    }

    /// The claims of an honest ID token of `subject`.
    pub fn claims(&self, asked: &Asked, subject: &str) -> Value {
        json!({
            "iss": self.issuer, "aud": CLIENT, "sub": subject, "nonce": asked.nonce,
            "iat": seconds(0), "exp": seconds(300),
            "email": format!("{subject}@example.org"), "email_verified": true,
        })
    }

    /// A token with these claims and this header, signed.
    pub fn signed(&self, header: &Value, claims: &Value) -> String {
        let text = format!("{}.{}", part(header), part(claims));
        let signature = self.key.sign(text.as_bytes()).to_bytes();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// Gives an ID token with these claims for the next code.
    pub fn gives(&self, claims: &Value) {
        let header = json!({"alg": "EdDSA", "kid": KEY});
        self.gives_token(&self.signed(&header, claims));
    }

    /// Gives this ID token for the next code.
    pub fn gives_token(&self, token: &str) {
        let answer = json!({"access_token": "access", "token_type": "Bearer", "id_token": token});
        self.exchanges(Reply::Json(200, answer));
    }

    /// Holds that the code was exchanged as PKCE and the client's secret ask for.
    pub fn holds_exchange(&self, asked: &Asked, code: &str, back: &str) {
        let exchange = self.talk.lock().expect("no panic").exchange.take();
        let (form, authorisation) = exchange.expect("an exchange");
        assert_eq!(field(&form, "grant_type"), "authorization_code");
        assert_eq!(field(&form, "code"), code);
        assert_eq!(field(&form, "redirect_uri"), back);
        let challenge = Sha256::digest(field(&form, "code_verifier"));
        assert_eq!(URL_SAFE_NO_PAD.encode(challenge), asked.challenge);
        let (_, login) = authorisation.split_once("Basic ").expect("HTTP Basic");
        let login = String::from_utf8(STANDARD.decode(login).expect("base64")).expect("text");
        let (client, secret) = login.split_once(':').expect("a colon");
        let secret = field(&format!("secret={secret}"), "secret");
        assert_eq!((client, secret.as_str()), (CLIENT, SECRET));
    }
}

fn answer(mut stream: TcpStream, talk: &Mutex<Talk>, (metadata, keys): &(Value, Value)) {
    let mut reader = BufReader::new(stream.try_clone().expect("the same"));
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        // Whoever waited long enough has gone.
        match reader.read_line(&mut line) {
            Ok(1..) if !line.trim().is_empty() => head.push(line.trim().to_owned()),
            _ => break,
        }
    }
    let Some(first) = head.first() else { return };
    let path = first.split(' ').nth(1).expect("an address").to_owned();
    let header = |name: &str| {
        let lines = head.iter().filter_map(|line| line.split_once(": "));
        let found = lines
            .into_iter()
            .find(|(have, _)| have.eq_ignore_ascii_case(name));
        found.map_or(String::new(), |(_, value)| value.to_owned())
    };
    let length = header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the form");
    let reply = {
        let mut talk = talk.lock().expect("no panic");
        talk.asked.push(path.clone());
        let usual = |value: &Value| Reply::Json(200, value.clone());
        match path.as_str() {
            "/.well-known/openid-configuration" => {
                talk.metadata.clone().unwrap_or_else(|| usual(metadata))
            }
            "/keys" => talk.keys.clone().unwrap_or_else(|| usual(keys)),
            "/token" => {
                let form = String::from_utf8(body).expect("text");
                talk.exchange = Some((form, header("authorization")));
                talk.token
                    .clone()
                    .unwrap_or(Reply::Json(400, json!({"error": "invalid_grant"})))
            }
            "/user" => talk.user.clone().unwrap_or(Reply::Json(403, json!({}))),
            _ => Reply::Json(404, json!({})),
        }
    };
    let text = match reply {
        Reply::Json(status, value) => {
            let body = value.to_string();
            let length = body.len();
            format!(
                "HTTP/1.1 {status} So\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            )
        }
        Reply::Raw(text) => text,
        Reply::Silence => {
            let _ = reader.read_to_end(&mut Vec::new());
            return;
        }
    };
    // Whoever reads no more than they want to has gone.
    let _ = stream.write_all(text.as_bytes());
}
