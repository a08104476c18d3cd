//! Services that share a database of PostgreSQL: what one was told holds for the others, one that is
//! killed leaves its jobs to them, and a database that goes comes back.

#![cfg(all(feature = "serve", unix))]

use std::process::Command;

use crate::pages::Visitor;
use crate::service::{Home, Server, text, wait_until};
use crate::service_workers::{OFTEN, audit, expect_same, token_id, training, view};
use crate::workers::Worker;
use probity_testing::Authority;
use serde_json::{Value, json};

/// A time that a service may be silent which does not pass in a test.
const LONG: [&str; 2] = ["--lease", "1h"];

/// A short one: no shorter one counts among services.
const SHORT: [&str; 2] = ["--lease", "1s"];

fn post(server: &Server, job: &str, what: &str) -> Value {
    let path = format!("/api/v1/jobs/{job}/{what}");
    server.ask("POST", &path).expect(200).json()
}

/// Jobs, tokens, sessions, quotas and the log are those of the database, whichever service is asked.
#[test]
fn what_one_service_is_told_holds_for_the_other() {
    let Some(home) = Home::on_postgresql() else {
        return;
    };
    let one = home.serve(&[&LONG[..], &["--jobs", "0"]].concat());
    let two = home.serve(&[&LONG[..], &["--jobs", "1"]].concat());

    // The one is asked, the other does it; both show it.
    let data = one.census(300);
    let model = one.small_model(&data);
    assert_eq!(view(&two, &model)["state"], "done");
    two.get(&format!("/api/v1/models/{model}")).expect(200);
    let job = one.start(&home.endless(&data));
    home.held(1);
    one.follow(&job, |view| view["state"] == "running");
    two.follow(&job, |view| view["state"] == "running");
    let waits = two.start(&training(&data, 3));
    one.follow(&waits, |view| {
        view["state"] == "queued" && view["ahead"] == 0
    });

    // The one is told to stop what the other runs.
    assert_eq!(post(&one, &job, "stop")["state"], "stopping");
    for server in [&one, &two] {
        assert_eq!(server.end_of(&job)["state"], "stopped");
    }
    home.go_on();
    one.done(&waits);
    two.done(&waits);

    // A job that waits is stopped, and goes on, where nobody runs any.
    let root = home.token_of("main", "administrator");
    let about = one.get("/api/v1/service").expect(200).json();
    let project = format!("/api/v1/projects/{}", text(&about["project"]["id"]));
    let none = json!({"name": "main", "quotas": {"jobs": 0, "queue": 1}});
    one.with(&root).send("PUT", &project, &none).expect(200);
    let waits = one.start(&training(&data, 3));
    let asked = training(&data, 3);
    two.send("POST", "/api/v1/jobs", &asked)
        .refuses(429, "wait");
    assert_eq!(post(&two, &waits, "stop")["state"], "stopped");
    assert_eq!(one.end_of(&waits)["state"], "stopped");

    // Who logs in at one of them is logged in; a token that is revoked is so everywhere.
    let visitor = Visitor::logged_in(&one);
    let mut elsewhere = Visitor::new(&two);
    elsewhere.cookie.clone_from(&visitor.cookie);
    assert_eq!(elsewhere.get("/").status, 200);
    let editor = home.token_of("main", "editor");
    two.with(&editor).get("/api/v1/jobs").expect(200);
    home.command(&["serve", "revoke", token_id(&editor)]);
    one.with(&editor).get("/api/v1/jobs").expect(401);
    let log = two.with(&root).get("/api/v1/log").expect(200).text();
    assert_eq!(log, one.with(&root).get("/api/v1/log").expect(200).text());
    assert_eq!(one.terminate().matches("fault").count(), 0);
    assert_eq!(two.terminate().matches("fault").count(), 0);
}

/// A service is killed in the middle of its job, which another one takes up once it has been silent
/// for long enough; and a worker of a service that ended turns to another.
#[test]
fn a_service_that_is_killed_leaves_its_jobs_to_another() {
    let Some(home) = Home::on_postgresql() else {
        return;
    };
    let one = home.serve(&[&SHORT[..], &["--jobs", "1"]].concat());
    let data = one.census(600);
    let model = one.small_model(&data);
    let asked = audit(&model, &data, 150);
    let whole = one.start(&asked);
    one.done(&whole);
    home.hold();
    let job = one.start(&asked);
    home.held(1);
    let two = home.serve(&[&SHORT[..], &["--jobs", "1"]].concat());
    one.kill();
    // What the killed service left is held, and keeps the lock of the job until it ends.
    two.follow(&job, |view| view["attempts"] == 2);
    home.go_on();
    assert_eq!(two.done(&job)["attempts"], 2);
    expect_same(&home.run(&whole), &home.run(&job));
    let log = two.terminate();
    assert_eq!(log.matches("is silent for too long").count(), 1, "{log}");
}

/// A worker whose service is gone reports to another one under the same address, which takes its job
/// up as it is.
#[test]
fn a_worker_turns_to_another_service() {
    let Some(home) = Home::on_postgresql() else {
        return;
    };
    let one = home.serve(&[&LONG[..], &["--jobs", "0"]].concat());
    let token = home.token_of("main", "worker");
    let _worker = Worker::start(&home, &one.address, "one", &token, &OFTEN);
    let data = one.census(600);
    let whole = one.start(&training(&data, 40));
    one.done(&whole);
    home.hold();
    let job = one.start(&training(&data, 40));
    home.held(1);
    let port = one.address.rsplit(':').next().unwrap().to_owned();
    one.kill();
    let two = home.serve_at(&port, &[&LONG[..], &["--jobs", "0"]].concat());
    home.go_on();
    let now = two.done(&job);
    assert_eq!(
        (&now["attempts"], text(&now["worker"])),
        (&json!(1), token_id(&token).to_owned())
    );
    expect_same(&home.run(&whole), &home.run(&job));
    let log = two.terminate();
    assert!(log.contains("turned to this service"), "{log}");
}

/// While the database is away the service says so, and what came about meanwhile is written once it
/// is back.
#[test]
fn the_database_goes_and_comes_back() {
    let Some(home) = Home::on_postgresql() else {
        return;
    };
    let server = home.serve(&[&SHORT[..], &["--jobs", "1"]].concat());
    let data = server.census(300);
    let model = server.small_model(&data);
    home.hold();
    let job = server.start(&audit(&model, &data, 20));
    home.held(1);
    let visitor = Visitor::logged_in(&server);
    home.stop_database();
    let away = server.get("/api/v1/jobs");
    assert_eq!(away.header("retry-after"), "5");
    away.refuses(503, "cannot be reached at present");
    let page = visitor.get("/");
    assert_eq!(page.status, 503, "{}", page.text);
    assert!(page.text.contains("cannot be reached"), "{}", page.text);
    home.go_on();
    let summary = home.run(&job).join("summary.json");
    wait_until("the job has come to its end", || summary.exists());
    home.start_database();
    wait_until("the service is back", || {
        server.get("/api/v1/jobs").status == 200
    });
    assert_eq!(
        server.poll(&job, |view| view["state"] == "done")["attempts"],
        1
    );
    // A connection that broke is made anew without a word.
    home.stop_database();
    home.start_database();
    wait_until("the service is back", || {
        server.get("/api/v1/jobs").status == 200
    });
    let log = server.terminate();
    assert!(log.contains("the database cannot be reached"), "{log}");
    assert!(!log.contains("secret"), "{log}");
}

/// Several commands begin at the same moment, in an empty database: the tables are made once.
#[test]
fn an_empty_database_is_set_up_once() {
    let Some(home) = Home::on_postgresql() else {
        return;
    };
    home.ask_database("DROP SCHEMA probity CASCADE").unwrap();
    let begin = |n: usize| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
        command.args(["serve", "project", &format!("lending {n}")]);
        home.storage(&mut command);
        command.spawn().expect("it begins")
    };
    for mut command in [0, 1, 2, 3].map(begin) {
        assert!(command.wait().expect("it ends").success());
    }
    let count = |table: &str| home.ask_database(&format!("SELECT count(*) FROM {table}"));
    assert_eq!(count("projects"), Ok(Some(4)));
    assert_eq!(count("service"), Ok(Some(1)));
    home.ask_database("UPDATE version SET version = 99")
        .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
    command.args(["serve", "projects"]);
    home.storage(&mut command);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("version 99"), "{said}");
}

/// What is wrong with the database is said before anything is done, and no secret is told.
#[test]
fn addresses_that_cannot_be_used() {
    let Some(home) = Home::on_postgresql() else {
        return;
    };
    let wrong = home.beside("wrong");
    std::fs::write(&wrong, "guess\n").unwrap();
    let (url, password) = home.database_address();
    for (url, file, needle) in [
        (url.as_str(), None, "password"),
        (url.as_str(), Some(&wrong), "password authentication failed"),
        ("mysql://localhost/probity", None, "postgres://"),
        (
            "postgres://a:b@localhost/c",
            None,
            "PROBITY_DATABASE_PASSWORD",
        ),
        (
            "postgres://a@localhost/c?sslmode=verify-ca",
            None,
            "sslmode is require or disable",
        ),
        ("postgres://a@127.0.0.1:1/c", None, "cannot be reached"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
        command.args(["serve", "token", "--database", url]);
        command.env_remove("PROBITY_DATABASE_PASSWORD");
        if let Some(file) = file {
            command.arg("--database-password").arg(file);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{said}");
        assert!(said.contains(needle), "'{needle}' in {said}");
        assert!(!said.contains("guess"), "{said}");
    }
    // From the environment it is taken, too.
    let output = Command::new(env!("CARGO_BIN_EXE_probity"))
        .args(["serve", "tokens", "--database", &url])
        .env("PROBITY_DATABASE_PASSWORD", password)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// What leaves the machine is encrypted, and goes only to a server that proves its name.
#[test]
fn connections_over_a_network_are_encrypted() {
    let Some(authority) = Authority::make_or_skip() else {
        return;
    };
    let Some(home) = Home::on_postgresql() else {
        return;
    };
    let address = home.encrypted_address("localhost", &authority);
    let (_, password) = home.database_address();
    let ask = |address: &str, ca: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
        command.args(["serve", "tokens", "--database", address]);
        if ca {
            command.arg("--database-ca").arg(authority.certificates());
        }
        let output = command.env("PROBITY_DATABASE_PASSWORD", password).output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), said)
    };
    let (is_right, said) = ask(&address, true);
    assert!(is_right, "{said}");
    let refused = |address: &str, ca: bool, needle: &str| {
        let (is_right, said) = ask(address, ca);
        assert!(!is_right && said.contains(needle), "{said}");
    };
    // The server takes no connection that is not encrypted.
    refused(&address, false, "no encryption");
    let required = format!("{address}?sslmode=require");
    refused(&required, false, "certificate");
    let elsewhere = address.replace("localhost", "127.0.0.1");
    refused(&elsewhere, true, "certificate");
    // The socket does not speak TLS.
    refused(&home.database_address().0, true, "no use");
}
