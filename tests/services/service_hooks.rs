//! Webhooks: what is sent when a job is at an end, by what it is known to be of the service, how often
//! it is tried, and where nothing is sent to.

#![cfg(feature = "serve")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::pages::Visitor;
use crate::service::http::PATIENCE;
use crate::service::{Home, Server, on_each_database, text, wait_until};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

on_each_database! {
    the_end_of_a_job_is_told_and_signed_until_it_is_taken,
}

/// A request that a webhook got.
struct Got {
    head: Vec<String>,
    body: String,
    /// What it is answered.
    answer: String,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        let line = self.head.iter().find_map(|line| {
            let (have, value) = line.split_once(':')?;
            have.eq_ignore_ascii_case(name).then_some(value.trim())
        });
        line.unwrap_or_default()
    }
}

/// A server that gives one answer until it is told another.
struct Hook {
    url: String,
    got: Receiver<Got>,
    answer: Arc<Mutex<String>>,
}

impl Hook {
    fn new(answer: &str) -> Hook {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook?team=1", listener.local_addr().unwrap());
        let (sender, got) = channel();
        let answer = Arc::new(Mutex::new(answer.to_owned()));
        let says = answer.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut head = Vec::new();
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    match line.trim_end() {
                        "" => break,
                        line => head.push(line.to_owned()),
                    }
                }
                let mut got = Got {
                    head,
                    body: String::new(),
                    answer: says.lock().unwrap().clone(),
                };
                let mut body = vec![0; got.header("content-length").parse().unwrap()];
                reader.read_exact(&mut body).unwrap();
                got.body = String::from_utf8(body).unwrap();
                let said = format!(
                    "HTTP/1.1 {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                    got.answer
                );
                // Before the answer: whoever hears of that finds what was got.
                if sender.send(got).is_err() {
                    return;
                }
                stream.write_all(said.as_bytes()).unwrap();
            }
        });
        Hook { url, got, answer }
    }

    fn answers(&self, answer: &str) {
        *self.answer.lock().unwrap() = answer.to_owned();
    }

    /// What it gets next.
    #[track_caller]
    fn next(&self) -> Got {
        self.got.recv_timeout(PATIENCE).expect("a notification")
    }

    /// What it gets next that is answered so.
    #[track_caller]
    fn next_answered(&self, answer: &str) -> Got {
        let mut got = self.next();
        while got.answer != answer {
            got = self.next();
        }
        got
    }

    /// Whether it got nothing that was not looked at.
    fn got_nothing(&self) -> bool {
        self.got.try_recv().is_err()
    }
}

/// HMAC-SHA256 (RFC 2104), anew.
pub fn hmac(key: &str, message: &str) -> [u8; 32] {
    let block = |with: u8| {
        let mut block = [with; 64];
        let own = block.iter_mut().zip(key.bytes());
        own.for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new()
        .chain_update(block(0x36))
        .chain_update(message)
        .finalize();
    let outer = Sha256::new()
        .chain_update(block(0x5c))
        .chain_update(inner)
        .finalize();
    outer.into()
}

/// The signature of a notification.
fn signature(secret: &str, body: &str) -> String {
    let code = hmac(secret, body);
    let digits: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={digits}")
}

fn project(server: &Server) -> String {
    let about = server.get("/api/v1/service").expect(200).json();
    format!("/api/v1/projects/{}", text(&about["project"]["id"]))
}

/// Sets the webhook; gives its secret.
fn set(server: &Server, url: &str) -> String {
    let path = format!("{}/webhook", project(server));
    let set = server.send("PUT", &path, &json!({ "url": url }));
    text(&set.expect(200).json()["secret"])
}

fn last(server: &Server) -> Value {
    let path = format!("{}/webhook", project(server));
    server.get(&path).expect(200).json()["webhook"]["last"].clone()
}

/// Waits until the last attempt is said to have been `expected`.
#[track_caller]
fn waits_for(server: &Server, expected: &str) {
    wait_until(&format!("the last attempt {expected}"), || {
        last(server)["said"] == expected
    });
}

/// How many notifications wait to be sent.
fn waiting(home: &Home) -> Option<i64> {
    home.ask_database("SELECT count(*) FROM notifications")
        .unwrap()
}

/// Lets those that wait be sent at once, after so many attempts.
fn hurry(home: &Home, attempts: u32) {
    let sql = format!("UPDATE notifications SET attempts = {attempts}, next = 0");
    home.ask_database(&sql).unwrap();
}

/// What the log of the project says was done to `job` by the service itself.
fn done_to(server: &Server, job: &str) -> Vec<String> {
    let log = server.get(&format!("{}/log", project(server)));
    let log = log.expect(200).json();
    let entries = log.as_array().unwrap().iter();
    let own = entries.filter(|entry| entry["subject"] == job && entry["name"] == "service");
    own.map(|entry| text(&entry["action"])).collect()
}

fn the_end_of_a_job_is_told_and_signed_until_it_is_taken(home: &Home) {
    let server = home.serve(&["--private-hooks"]);
    let taken = "204 Taken";
    let hook = Hook::new("500 Broken");
    let secret = set(&server, &hook.url);
    let data = server.census(150);
    let model = server.small_model(&data);

    let first = hook.next();
    assert_eq!(first.head[0], "POST /hook?team=1 HTTP/1.1");
    assert_eq!(first.header("content-type"), "application/json");
    let signature = signature(&secret, &first.body);
    assert_eq!(first.header("x-probity-signature"), signature);
    let said: Value = serde_json::from_str(&first.body).unwrap();
    assert_eq!(said["event"], "job-ended");
    assert_eq!(said["id"], first.header("x-probity-notification"));
    assert_eq!(said["project"]["name"], "main");
    assert_eq!(said["job"]["id"], json!(model));
    assert_eq!(said["job"]["state"], "done");
    waits_for(&server, "answered 500");
    assert!(done_to(&server, &model).is_empty());

    // The same again, which is taken.
    hook.answers(taken);
    hurry(home, 1);
    let second = hook.next_answered(taken);
    assert_eq!(second.body, first.body);
    assert_eq!(second.header("x-probity-signature"), signature);
    waits_for(&server, "took it with status 204");
    assert_eq!(done_to(&server, &model), ["notification-sent"]);
    // Nothing more is to be sent.
    assert_eq!(waiting(home), Some(0));
    assert!(hook.got_nothing());

    // A job that is stopped before its turn is at an end, too.
    let root = server.with(&home.token_of("main", "administrator"));
    let quotas = json!({"name": "main", "quotas": {"jobs": 0}});
    root.send("PUT", &project(&server), &quotas).expect(200);
    let waits = server.start(&json!({"kind": "train", "modality": "table", "data": data}));
    let stop = format!("/api/v1/jobs/{waits}/stop");
    server.ask("POST", &stop).expect(200);
    let stopped = hook.next();
    let said: Value = serde_json::from_str(&stopped.body).unwrap();
    assert_eq!(
        (&said["job"]["id"], &said["job"]["state"]),
        (&json!(waits), &json!("stopped"))
    );
    let log = server.kill();
    assert!(
        log.contains(&format!("of job {model} it answered 500; it is sent again")),
        "{log}"
    );
    assert!(!log.contains("team=1"), "{log}");
}

#[test]
fn a_webhook_is_given_up_and_redirects_lead_nowhere() {
    let home = Home::new();
    let server = home.serve(&["--private-hooks"]);
    let elsewhere = Hook::new("200 OK");
    let hook = Hook::new(&format!("307 There\r\nLocation: {}", elsewhere.url));
    set(&server, &hook.url);
    let data = server.census(150);
    let model = server.small_model(&data);
    hook.next();
    waits_for(&server, "answered 307");
    // As after all attempts but one.
    wait_until("the notification is given up", || {
        // An attempt that is under way may have begun before.
        hurry(&home, 5);
        done_to(&server, &model) == ["notification-given-up"]
    });
    assert!(elsewhere.got_nothing(), "the redirect was followed");
}

#[test]
fn nothing_is_sent_to_private_addresses() {
    let home = Home::new();
    let server = home.serve(&[]);
    let hook = Hook::new("200 OK");
    let url = &hook.url;
    let path = format!("{}/webhook", project(&server));
    for (wrong, why) in [
        (url.as_str(), "private"),
        ("http://[::1]:80/", "private"),
        ("ftp://hooks.example.org/", "https://"),
        ("https://ada:secret@hooks.example.org/", "password"),
        ("hooks", "https://"),
    ] {
        server
            .send("PUT", &path, &json!({ "url": wrong }))
            .refuses(422, why);
    }
    assert_eq!(server.get(&path).expect(200).json(), json!({}));
    // A name that leads there once the webhook is set, as names do that change.
    set(&server, "http://hooks.example.org/");
    let local = url.replace("127.0.0.1", "localhost");
    home.ask_database(&format!("UPDATE hooks SET url = '{local}'"))
        .unwrap();
    let data = server.census(150);
    server.small_model(&data);
    waits_for(
        &server,
        "has a private address, to which this service sends nothing",
    );
    assert!(hook.got_nothing());

    // What was to be said goes with the webhook.
    assert_eq!(waiting(&home), Some(1));
    server.ask("DELETE", &path).expect(204);
    assert_eq!(waiting(&home), Some(0));
    server.ask("DELETE", &path).expect(204);
}

#[test]
fn owners_set_webhooks_on_a_page() {
    let home = Home::new();
    let server = home.serve(&[]);
    let visitor = Visitor::logged_in(&server);
    let path = project(&server).replace("/api/v1", "") + "/webhook";
    let page = visitor.get(&path);
    let csrf = page.secret();
    assert!(page.text.contains("Set a webhook"));
    let fields = |url| [("csrf", csrf.as_str()), ("url", url)];
    let wrong = visitor.post(&path, &fields("hooks"));
    assert_eq!(wrong.status, 422);
    assert!(wrong.text.contains("value=\"hooks\""));
    let set = visitor.post(&path, &fields("https://hooks.example.org/<b>"));
    assert_eq!(set.status, 422, "it is no address");
    let set = visitor.post(&path, &fields("https://hooks.example.org/b"));
    assert_eq!(set.status, 201);
    assert!(set.text.contains("id=\"made\""));
    let page = visitor.get(&path);
    assert!(
        page.text.contains("https://hooks.example.org/b") && !page.text.contains("id=\"made\"")
    );
    assert!(page.text.contains("none was sent yet"));
    let removed = visitor.post(&format!("{path}/remove"), &[("csrf", &csrf)]);
    assert_eq!(
        (removed.status, removed.header("location")),
        (303, path.as_str())
    );
    assert!(visitor.get(&path).text.contains("Set a webhook"));
}
