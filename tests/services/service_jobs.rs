//! Jobs of the service when things go wrong: it is killed, ends, is flooded, or the jobs are too
//! much.

use std::sync::Barrier;

use crate::service::http::request;
use crate::service::{Home, Server};
use serde_json::{Value, json};

/// An audit that has many rounds, so that it can be held in the middle of them.
fn long_audit(model: &str, data: &str) -> Value {
    json!({
        "kind": "audit", "model": model, "data": data, "samples_format": "csv",
        "search": {"seeds": 200, "local": 200}, "estimate": 1000
    })
}

/// A small one.
fn short_audit(model: &str, data: &str) -> Value {
    json!({
        "kind": "audit", "model": model, "data": data, "samples_format": "csv",
        "search": {"seeds": 20, "local": 10}, "estimate": 100
    })
}

/// A training that has many epochs.
fn long_training(data: &str) -> Value {
    json!({
        "kind": "train", "modality": "table", "data": data, "network": {"hidden": [32, 32]},
        "training": {"epochs": 50}
    })
}

fn samples(server: &Server, job: &str) -> String {
    server
        .get(&format!("/api/v1/jobs/{job}/samples"))
        .expect(200)
        .text()
}

/// The summary without times.
fn figures(server: &Server, job: &str) -> Value {
    let summary = server.get(&format!("/api/v1/jobs/{job}/summary"));
    let mut summary = summary.expect(200).json();
    forget_times(&mut summary);
    summary
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| {
                !name.contains("second") && !["ended", "sha256", "seal"].contains(&name.as_str())
            });
            fields.values_mut().for_each(forget_times);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        _ => {}
    }
}

/// Killed in the middle of two jobs, the service goes on with them to the results of uninterrupted
/// ones.
#[test]
fn killed_and_started_again() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "2"]);
    let data = server.census(1500);
    let model = server.small_model(&data);
    home.hold();
    let train = server.start(&long_training(&data));
    let audit = server.start(&long_audit(&model, &data));
    let waiting = server.start(&short_audit(&model, &data));
    home.held(2);
    server.kill();
    home.go_on();

    let server = home.serve(&["--jobs", "2"]);
    let view = server.done(&audit);
    assert_eq!(view["attempts"], 2, "{view}");
    assert_eq!(server.done(&train)["attempts"], 2);
    server.done(&waiting);
    let whole = server.start(&long_audit(&model, &data));
    let learnt = server.start(&long_training(&data));
    server.done(&whole);
    server.done(&learnt);
    assert!(samples(&server, &audit) == samples(&server, &whole));
    assert_eq!(figures(&server, &audit), figures(&server, &whole));
    let model_of = |job: &str| {
        let model = server.get(&format!("/api/v1/models/{job}")).expect(200);
        model.json()["sha256"].clone()
    };
    assert_eq!(model_of(&train), model_of(&learnt));
}

/// Asked to end, the service lets its jobs write what they have, and goes on with them at the next
/// start.
#[cfg(unix)]
#[test]
fn ended_and_started_again() {
    let home = Home::new();
    let server = home.serve(&[]);
    let data = server.census(1500);
    let model = server.small_model(&data);
    home.hold();
    let audit = server.start(&long_audit(&model, &data));
    home.held(1);
    let log = server.terminate();
    home.go_on();
    assert!(
        log.contains(&format!("job {audit} (audit) queued")),
        "{log}"
    );
    assert!(home.run(&audit).join("checkpoint.bin").is_file());
    let server = home.serve(&[]);
    assert_eq!(server.done(&audit)["attempts"], 1);
    let whole = server.start(&long_audit(&model, &data));
    server.done(&whole);
    assert!(samples(&server, &audit) == samples(&server, &whole));
}

/// Two hundred readers at once do not change what an audit finds, and each is answered.
#[test]
fn two_hundred_readers() {
    const READERS: usize = 200;
    let home = Home::new();
    let server = home.serve(&[]);
    let data = server.census(1500);
    let model = server.small_model(&data);
    home.hold();
    let audit = server.start(&long_audit(&model, &data));
    home.held(1);
    let tokens: Vec<String> = (0..4)
        .map(|n| home.new_token(&format!("reader {n}")))
        .collect();
    let start = Barrier::new(READERS);
    let paths = [
        format!("/api/v1/jobs/{audit}"),
        "/api/v1/jobs".to_owned(),
        format!("/api/v1/data/{data}/schema"),
        format!("/api/v1/models/{model}"),
        "/api/v1/openapi.json".to_owned(),
    ];
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|reader| {
                let (start, server) = (&start, &server);
                let head = [format!("Authorization: Bearer {}", tokens[reader % 4])];
                let path = &paths[reader % paths.len()];
                scope.spawn(move || {
                    start.wait();
                    let mut statuses = Vec::new();
                    for _ in 0..5 {
                        let answer = request(&server.address, "GET", path, &head, &[]);
                        server.contract.check("GET", path, &answer);
                        if answer.status != 200 {
                            assert!(!answer.header("retry-after").is_empty(), "{answer:?}");
                        }
                        statuses.push(answer.status);
                    }
                    statuses
                })
            })
            .collect();
        let all = readers.into_iter();
        all.flat_map(|reader| reader.join().unwrap()).collect()
    });
    assert_eq!(statuses.len(), 5 * READERS);
    let other = statuses
        .iter()
        .filter(|status| ![200, 429, 503].contains(status));
    assert_eq!(other.count(), 0, "{statuses:?}");
    assert!(statuses.iter().filter(|&&status| status == 200).count() > READERS);
    home.go_on();
    server.done(&audit);
    let alone = server.start(&long_audit(&model, &data));
    server.done(&alone);
    assert!(samples(&server, &audit) == samples(&server, &alone));
    assert_eq!(figures(&server, &audit), figures(&server, &alone));
}

/// The queue is bounded, and so are streams of events.
#[test]
fn places_run_out() {
    let home = Home::new();
    let server = home.serve(&[
        "--max-streams",
        "0",
        "--queue",
        "1",
        "--jobs",
        "1",
        "--max-rate-per-token",
        "100000",
        "--max-rate",
        "100000",
    ]);
    let data = server.census(300);
    let train = home.endless(&data);
    let running = server.start(&train);
    server
        .get(&format!("/api/v1/jobs/{running}/events"))
        .refuses(503, "streams");
    server.poll(&running, |view| view["state"] == "running");
    server.start(&train);
    let refused = server.send("POST", "/api/v1/jobs", &train);
    let refused = refused.refuses(429, "wait");
    assert_eq!(refused.header("retry-after"), "30");
}

/// One token may ask so often in a second, and another is not held up by it.
#[test]
fn too_many_requests_in_a_second() {
    let home = Home::new();
    let server = home.serve(&["--max-rate-per-token", "20"]);
    let refused = (0..10_000).find_map(|_| {
        let answer = server.get("/api/v1/jobs");
        (answer.status != 200).then_some(answer)
    });
    let refused = refused.expect("some are too many").refuses(429, "a second");
    assert_eq!(refused.header("retry-after"), "1");
    let head = [format!("Authorization: Bearer {}", home.new_token("other"))];
    request(&server.address, "GET", "/api/v1/jobs", &head, &[]).expect(200);
}

/// A job that waits is stopped at once.
#[test]
fn stopped_in_the_queue() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "1"]);
    let data = server.census(300);
    let train = home.endless(&data);
    let first = server.start(&train);
    let second = server.start(&train);
    let third = server.start(&train);
    server.follow(&first, |view| view["state"] == "running");
    server.follow(&third, |view| view["ahead"] == 1);
    let stopped = server.ask("POST", &format!("/api/v1/jobs/{second}/stop"));
    assert_eq!(stopped.expect(200).json()["state"], "stopped");
    server.follow(&third, |view| view["ahead"] == 0);
    for job in [&third, &first] {
        server
            .ask("POST", &format!("/api/v1/jobs/{job}/stop"))
            .expect(200);
        assert_eq!(server.end_of(job)["state"], "stopped");
    }
    assert!(!home.run(&second).exists());
}

/// A job that takes more time than it may is stopped with what it has.
#[test]
fn time_runs_out() {
    let home = Home::new();
    let server = home.serve(&["--job-time", "2s"]);
    let data = server.census(300);
    let job = server.start(&home.endless(&data));
    let view = server.end_of(&job);
    assert_eq!(view["state"], "stopped", "{view}");
    assert!(
        view["message"]
            .as_str()
            .unwrap()
            .contains("time limit of 2s"),
        "{view}"
    );
    server
        .ask("POST", &format!("/api/v1/jobs/{job}/resume"))
        .refuses(409, "run time");
}

/// A job that takes more memory than it may fails, and says so; the service goes on.
#[cfg(target_os = "linux")]
#[test]
fn memory_runs_out() {
    let home = Home::new();
    let server = home.serve(&["--job-threads", "1"]);
    let data = server.census(300);
    server.kill();
    let server = home.serve(&["--job-threads", "1", "--job-memory", "256MiB"]);
    let job = server.start(&json!({
        "kind": "train", "modality": "table", "data": data,
        "network": {"hidden": [4096, 4096, 4096, 4096]}
    }));
    let view = server.end_of(&job);
    assert_eq!(view["state"], "failed", "{view}");
    assert!(
        view["message"].as_str().unwrap().contains("256 MiB"),
        "{view}"
    );
    server.get("/api/v1/jobs").expect(200);
}

/// A data directory has one service at a time.
#[test]
fn one_service_a_directory() {
    let home = Home::new();
    let _server = home.serve(&[]);
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_probity"))
        .args(["serve", "--port", "0", "--data-dir"])
        .arg(home.data_dir())
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(2));
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(said.contains("another probity serve"), "{said}");
}
