//! What the service does not let workers do: have a job without a word, come back with an old lease,
//! read or write anything but the files of their jobs, claim what is not so.

#![cfg(all(feature = "serve", unix))]

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::service::http::{compose, open};
use crate::service::{Home, Server, names_in, text, wait_until};
use crate::workers::{Hand, sha256};
use serde_json::{Value, json};
use std::io::Write;

fn started(server: &Server) -> (String, String) {
    let data = server.census(150);
    let job = server.start(&json!({
        "kind": "train", "modality": "table", "data": data, "network": {"hidden": [4]},
        "training": {"epochs": 2}
    }));
    (data, job)
}

/// A worker of which nothing is heard loses its job, and is refused when it comes back; the number
/// by which a job is held grows.
#[test]
fn a_silent_worker_loses_its_job() {
    let home = Home::new();
    let patient: [&str; 4] = ["--jobs", "0", "--lease", "1h"];
    let server = home.serve(&patient);
    let (_, job) = started(&server);
    let token = home.token_of("main", "worker");
    let silent = Hand::with(&server, &token);
    let first = silent.take();
    assert_eq!(text(&first["job"]), job);
    assert_eq!(first["lease_seconds"], 3600.0);
    let path = text(&first["reads"][0]["path"]);
    // As long as its lease lasts, it keeps it.
    silent.report(&first, json!({})).expect(200);
    let version = env!("CARGO_PKG_VERSION");
    let other = Hand::new(&home, &server);
    assert_eq!(other.take_as(version).status, 204);
    server.terminate();

    // A service that has less patience hears nothing of it.
    let server = home.serve(&["--jobs", "0", "--lease", "100ms"]);
    server.poll(&job, |view| view["state"] == "queued");
    server.terminate();

    let server = home.serve(&patient);
    let silent = Hand::with(&server, &token);
    let other = Hand::new(&home, &server);
    let second = other.take();
    assert_eq!(second["job"], first["job"]);
    assert!(second["lease"].as_u64() > first["lease"].as_u64());
    let ended = json!({"files": {}, "ended": {"ending": "failed", "message": "x"}});
    for lease in [&first, &second] {
        // The second one is that of the other.
        silent
            .report(lease, json!({}))
            .refuses(409, "does not have");
        silent
            .report(lease, ended.clone())
            .refuses(409, "does not have");
        silent
            .send(lease, "run.toml", b"x")
            .refuses(409, "does not have");
        silent.fetch(lease, &path).refuses(409, "does not have");
    }
    other.report(&second, json!({})).expect(200);
    let view = server
        .get(&format!("/api/v1/jobs/{job}"))
        .expect(200)
        .json();
    assert_eq!(
        (&view["state"], &view["attempts"]),
        (&json!("running"), &json!(2))
    );
    assert!(!home.run(&job).exists());
    // Given back, it is anybody's again, and the attempt does not count.
    let paused = json!({"ended": {"ending": "paused"}});
    other.report(&second, paused).expect(200);
    other
        .report(&second, json!({}))
        .refuses(409, "does not have");
    let third = silent.take();
    assert!(third["lease"].as_u64() > second["lease"].as_u64());
    let view = server
        .get(&format!("/api/v1/jobs/{job}"))
        .expect(200)
        .json();
    assert_eq!(view["attempts"], 2);
}

/// A worker that is heard of keeps its job for longer than one lease.
#[test]
fn a_worker_that_reports_keeps_its_job() {
    let lease = Duration::from_secs(1);
    let home = Home::new();
    let server = home.serve(&["--jobs", "0", "--lease", "1s"]);
    let hand = Hand::new(&home, &server);
    // A machine may keep a worker from reporting in time. It loses its job then, and takes another.
    wait_until("a worker reports in time", || {
        started(&server);
        let mut heard = Instant::now();
        let leased = hand.take();
        let taken = Instant::now();
        while taken.elapsed() < 3 * lease {
            let asked = Instant::now();
            let status = hand.report(&leased, json!({})).status;
            // Since the word before was sent; it was heard later than that.
            let silent = heard.elapsed();
            if status != 200 {
                assert!(silent >= lease, "{status} after {silent:?}");
                return false;
            }
            heard = asked;
            thread::sleep(lease / 20);
        }
        true
    });
}

/// A job whose workers are never heard of again is taken for the cause in the end.
#[test]
fn a_job_that_no_worker_comes_back_from_fails() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "0", "--lease", "200ms"]);
    let (_, job) = started(&server);
    let hand = Hand::new(&home, &server);
    for _ in 0..5 {
        hand.take();
    }
    let view = server.end_of(&job);
    assert_eq!(view["state"], "failed", "{view}");
    assert!(
        view["message"].as_str().unwrap().contains("each time"),
        "{view}"
    );
}

/// Another version than that of the service gets no job, and hears why.
#[test]
fn another_version_is_refused() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "0"]);
    let (_, job) = started(&server);
    let hand = Hand::new(&home, &server);
    let refused = hand.take_as("0.0.1").refuses(409, "0.0.1");
    assert!(refused.text().contains(env!("CARGO_PKG_VERSION")));
    let view = server
        .get(&format!("/api/v1/jobs/{job}"))
        .expect(200)
        .json();
    assert_eq!(view["state"], "queued");
}

fn all_files(folder: &Path, into: &mut Vec<(String, Vec<u8>)>) {
    for name in names_in(folder) {
        let path = folder.join(&name);
        // The database changes with every request.
        match path.is_dir() {
            true => all_files(&path, into),
            false if name.starts_with("probity.sqlite") => {}
            false => into.push((path.display().to_string(), fs::read(path).unwrap())),
        }
    }
}

/// Nothing that a worker sends gets to another place than that of a file of its run, and nothing but
/// what was announced; until the report that names them, files are nowhere.
#[test]
fn what_a_worker_sends_stays_where_it_belongs() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "0"]);
    let (data, job) = started(&server);
    let hand = Hand::new(&home, &server);
    let leased = hand.take();
    let state = || {
        let mut files = Vec::new();
        all_files(&home.data_dir(), &mut files);
        files
    };
    let before = state();
    let content = b"kind = 1";
    let sha256 = sha256(content);
    for name in [
        "..%2Frun.toml",
        "..%2F..%2Fdata%2Fx",
        "%2Fetc%2Fpasswd",
        ".probity.lock",
        "seal.json",
        "neighbours.bin",
        "a%00b",
        "RUN.TOML",
        "run.toml%2F",
        "",
    ] {
        hand.send(&leased, name, content)
            .refuses(422, "No file of a run");
    }
    for (bytes, sha, status) in [
        (content.len() - 1, sha256.as_str(), 413),
        (content.len() + 1, sha256.as_str(), 422),
        (content.len(), "00", 422),
        (1 << 50, sha256.as_str(), 507),
    ] {
        let answer = hand.send_as(&leased, "run.toml", (bytes, sha), content);
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    for name in ["../run.toml", "x", "", "/etc/passwd"] {
        let report = json!({"files": {name: sha256}});
        hand.report(&leased, report)
            .refuses(422, "No file of a run");
    }
    // Cut off in the middle.
    let query = format!(
        "lease={}&name=run.toml&bytes=100&sha256=00",
        leased["lease"]
    );
    let head = [
        format!("Authorization: Bearer {}", hand.token),
        "Content-Length: 100".to_owned(),
    ];
    let path = format!("/api/v1/work/{job}/file?{query}");
    let mut stream = open(&server.address, &compose("PUT", &path, &head, &[]));
    stream.get_mut().write_all(b"half").unwrap();
    drop(stream);
    // What was sent and not named, and what was named and not sent.
    hand.send(&leased, "run.toml", content).expect(204);
    let both = json!({"files": {"run.toml": sha256, "summary.json": "00"}});
    let heard = hand.report(&leased, both).expect(200).json();
    assert_eq!(heard["missing"], json!(["summary.json"]));
    assert!(!home.run(&job).exists());
    // It is not done because a worker says so.
    let done = json!({"ended": {"ending": "done"}});
    hand.report(&leased, done).refuses(422, "is not");
    // Only what the job reads is given.
    let of_data = format!("data/{data}/data.csv");
    hand.fetch(&leased, &of_data).expect(200);
    for path in [
        "probity.sqlite",
        "data/../probity.sqlite",
        "..%2Fx",
        "%2Fetc%2Fpasswd",
        "runs",
        "",
    ] {
        hand.fetch(&leased, path).refuses(404, "file");
    }
    let is_on_its_way = |name: &str| name.contains("/uploads/");
    let after: Vec<_> = state()
        .into_iter()
        .filter(|(name, _)| !is_on_its_way(name))
        .collect();
    assert!(
        before == after,
        "{:?}",
        after.iter().map(|file| &file.0).collect::<Vec<_>>()
    );
    // In the end exactly what was named is there.
    let named = json!({"files": {"run.toml": sha256}});
    assert_eq!(
        hand.report(&leased, named).expect(200).json()["missing"],
        json!([])
    );
    assert_eq!(names_in(&home.run(&job)), ["run.toml"]);
    hand.fetch(&leased, &format!("runs/{job}/run.toml"))
        .expect(200);
    let none = json!({"files": {}, "ended": {"ending": "failed", "message": "no\u{7}good"}});
    hand.report(&leased, none).expect(200);
    assert!(names_in(&home.run(&job)).is_empty());
    let view = server.end_of(&job);
    assert_eq!(
        (&view["state"], &view["message"]),
        (&json!("failed"), &json!("nogood"))
    );
    let uploads = home.data_dir().join("uploads");
    wait_until("nothing is on its way any more", || {
        names_in(&uploads).is_empty()
    });
}

/// What a worker brings counts as what its project stores.
#[test]
fn the_quota_of_the_project_holds() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "0", "--max-storage-per-project", "1MiB"]);
    let (_, job) = started(&server);
    let hand = Hand::new(&home, &server);
    let leased = hand.take();
    let half = vec![b'x'; 600 << 10];
    hand.send(&leased, "samples.csv", &half).expect(204);
    hand.send(&leased, "checkpoint.bin", &half)
        .refuses(507, "limit");
    let full = json!({"ended": {"ending": "out-of-space"}});
    hand.report(&leased, full).expect(200);
    let view = server.end_of(&job);
    assert_eq!(view["state"], "stopped");
    assert!(
        view["message"].as_str().unwrap().contains("no room"),
        "{view}"
    );
}

/// A stop reaches a worker with the answer to its next report.
#[test]
fn a_worker_hears_of_a_stop() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "0"]);
    let (_, job) = started(&server);
    let hand = Hand::new(&home, &server);
    let leased = hand.take();
    let progress = json!({"progress": {"phase": "global", "done": 3, "all": 9, "message": "m"}});
    let heard = hand.report(&leased, progress).expect(200).json();
    assert_eq!(heard["call"], "go-on");
    let view: Value = server
        .get(&format!("/api/v1/jobs/{job}"))
        .expect(200)
        .json();
    assert_eq!(view["progress"]["done"], 3);
    server
        .ask("POST", &format!("/api/v1/jobs/{job}/stop"))
        .expect(200);
    assert_eq!(
        hand.report(&leased, json!({})).expect(200).json()["call"],
        "stop"
    );
    hand.report(&leased, json!({"ended": {"ending": "stopped"}}))
        .expect(200);
    assert_eq!(server.end_of(&job)["state"], "stopped");
}
