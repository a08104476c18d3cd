//! Workers beside a service: they are killed, end, are stopped, and the service goes and comes back;
//! the results are those of uninterrupted jobs.

#![cfg(all(feature = "serve", unix))]

use std::fs;
use std::mem;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::service::{Home, Server, names_in, on_each_database, text};
use crate::workers::{Worker, bad_network};
use probity_testing::Gate;
use serde_json::{Value, json};

on_each_database! {
    killed_twenty_times,
    a_worker_that_ends_gives_its_job_back,
    the_service_goes_and_comes_back,
}

/// Kills of workers.
const KILLS: usize = 20;

/// A job that began so often is let be: one more time, and it would be given up.
const SPARED: u64 = 4;

/// How often a worker looks for checkpoints here.
pub const OFTEN: [&str; 2] = ["--save-every", "200ms"];

pub fn training(data: &str, epochs: u32) -> Value {
    json!({
        "kind": "train", "modality": "table", "data": data, "network": {"hidden": [16, 16]},
        "training": {"epochs": epochs}
    })
}

pub fn audit(model: &str, data: &str, seeds: u32) -> Value {
    json!({
        "kind": "audit", "model": model, "data": data, "samples_format": "csv",
        "search": {"seeds": seeds, "local": seeds}, "estimate": 500
    })
}

fn repair(model: &str, data: &str, audit: &str) -> Value {
    json!({
        "kind": "repair", "modality": "table", "model": model, "data": data, "runs": [audit],
        "training": {"epochs": 20}
    })
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| {
                !name.contains("second") && !["ended", "seal"].contains(&name.as_str())
            });
            fields.values_mut().for_each(forget_times);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        _ => {}
    }
}

/// That two run directories hold the same files, byte for byte but for the times in summaries.
pub fn expect_same(one: &Path, other: &Path) {
    // What killed processes leave is of no value.
    let names = |folder: &Path| -> Vec<String> {
        let names = names_in(folder).into_iter();
        names.filter(|name| !name.starts_with(".probity")).collect()
    };
    assert_eq!(names(one), names(other));
    for name in names(one) {
        let [one, other] = [one, other].map(|folder| fs::read(folder.join(&name)).unwrap());
        match name.as_str() {
            "summary.json" => {
                let [one, other] = [one, other].map(|bytes| {
                    let mut summary: Value = serde_json::from_slice(&bytes).unwrap();
                    forget_times(&mut summary);
                    summary
                });
                assert_eq!(one, other);
            }
            _ => assert!(one == other, "{name}"),
        }
    }
}

/// Whether a file called `name` lies somewhere in `folder`.
fn holds(folder: &Path, name: &str) -> bool {
    let mut entries = fs::read_dir(folder).expect("a folder");
    entries.any(|entry| {
        let path = entry.expect("an entry").path();
        path.ends_with(name) || (path.is_dir() && holds(&path, name))
    })
}

pub fn token_id(token: &str) -> &str {
    token.split('_').nth(1).expect("an identifier")
}

pub fn view(server: &Server, job: &str) -> Value {
    server
        .get(&format!("/api/v1/jobs/{job}"))
        .expect(200)
        .json()
}

/// Where jobs are held when their worker is killed, by turns.
const PLACES: [&str; 4] = ["round:2", "round:5", "checkpoint", "round:9"];

/// Two workers share a queue and are killed twenty times, each time in the middle of a job: every job
/// ends once, with the files of an uninterrupted one. Where the database is for several services,
/// each works for another one.
fn killed_twenty_times(home: &Home) {
    let begin = || {
        home.serve(&[
            "--jobs",
            "0",
            "--lease",
            "4s",
            "--max-rate-per-token",
            "1000",
        ])
    };
    let server = begin();
    let other = home.is_for_several().then(begin);
    let services = [&server, other.as_ref().unwrap_or(&server)];
    let tokens = [(); 2].map(|()| home.token_of("main", "worker"));
    let start = |n: usize, gate: &Gate| {
        let name = (["one", "two"][n], tokens[n].as_str());
        Worker::start_with(home, &services[n].address, name, &OFTEN, gate.variable())
    };
    let mut gates = [0, 1].map(|n| Gate::open_at(PLACES[n]));
    let mut workers = [0, 1].map(|n| Some(start(n, &gates[n])));
    let data = server.census(600);
    let model = server.small_model(&data);
    let first = server.start(&audit(&model, &data, 20));
    server.done(&first);
    let asked = [
        training(&data, 40),
        audit(&model, &data, 150),
        repair(&model, &data, &first),
        training(&data, 50),
        audit(&model, &data, 200),
    ];
    let whole: Vec<String> = asked.iter().map(|asked| server.start(asked)).collect();
    for job in &whole {
        server.done(job);
    }

    let mut jobs: Vec<(usize, String)> = Vec::new();
    let (mut kills, mut passed) = (0, Vec::new());
    while kills < KILLS {
        let n = kills % 2;
        gates[n].close();
        let worker = workers[n].as_mut().expect("it runs");
        gates[n].wait_for(1, || {
            if let Some(said) = worker.has_ended() {
                return Some(said);
            }
            let is_waiting = |(_, job): &&(usize, String)| view(&server, job)["state"] == "queued";
            if jobs.iter().rev().take(4).filter(is_waiting).count() < 2 {
                let next = jobs.len() % asked.len();
                jobs.push((next, server.start(&asked[next])));
            }
            None
        });
        let is_held =
            |view: &Value| view["state"] == "running" && view["worker"] == token_id(&tokens[n]);
        let mut views = jobs.iter().map(|(_, job)| view(&server, job));
        let held = views.find(is_held).expect("the worker has a job");
        if held["attempts"].as_u64() >= Some(SPARED) {
            gates[n].open();
            server.done(held["id"].as_str().expect("an identifier"));
            continue;
        }
        workers[n].take().expect("it runs").kill();
        kills += 1;
        // What the killed worker left is held there until it ends by itself.
        let next = Gate::open_at(PLACES[kills % PLACES.len()]);
        passed.push(mem::replace(&mut gates[n], next));
        workers[n] = Some(start(n, &gates[n]));
    }
    let mut attempts = 0;
    for (which, job) in &jobs {
        attempts += server.done(job)["attempts"].as_u64().unwrap();
        expect_same(&home.run(&whole[*which]), &home.run(job));
    }
    // A worker that is held up may lose a job besides.
    assert!(attempts as usize >= jobs.len() + KILLS, "{attempts}");
    let mut log = server.terminate();
    log.extend(other.map(Server::terminate));
    for (_, job) in &jobs {
        let ends = |line: &&str| {
            let is_end = ["done", "failed", "stopped"]
                .iter()
                .any(|end| line.ends_with(end));
            line.contains(job.as_str()) && is_end
        };
        assert_eq!(log.lines().filter(ends).count(), 1, "{log}");
    }
    println!("{} jobs, {attempts} attempts", jobs.len());
}

/// A worker that is asked to end gives its job back at once with its checkpoint, and the service
/// itself goes on from there; what comes of it says nothing of where it was done.
fn a_worker_that_ends_gives_its_job_back(home: &Home) {
    let server = home.serve(&["--jobs", "0"]);
    let token = home.token_of("main", "worker");
    let worker = Worker::start(home, &server.address, "one", &token, &OFTEN);
    let data = server.census(1500);
    let model = server.small_model(&data);
    // With a part of its pairs beside the checkpoint.
    let mut long = audit(&model, &data, 800);
    long["memory"] = json!("1MiB");
    home.hold();
    let job = server.start(&long);
    home.held(1);
    while !holds(&home.beside("one"), "spilled-000000") {
        home.step();
        home.held(1);
    }
    assert_eq!(view(&server, &job)["worker"], token_id(&token));
    let log = worker.terminate();
    assert!(log.contains(&format!("job {job} (audit) paused")), "{log}");
    let now = view(&server, &job);
    assert_eq!(
        (&now["state"], &now["attempts"]),
        (&json!("queued"), &json!(0))
    );
    assert!(home.run(&job).join("checkpoint.bin").is_file());
    assert!(home.run(&job).join("spilled-000000").is_file());
    assert_eq!(names_in(&home.beside("one")), ["jobs", "lock"]);
    server.terminate();
    home.go_on();

    let server = home.serve(&["--jobs", "1"]);
    let now = server.done(&job);
    assert_eq!(
        (&now["attempts"], &now["worker"]),
        (&json!(1), &Value::Null)
    );
    assert!(!home.run(&job).join("spilled-000000").exists());
    let whole = server.start(&long);
    server.done(&whole);
    expect_same(&home.run(&whole), &home.run(&job));
    let verified = std::process::Command::new(env!("CARGO_BIN_EXE_probity"))
        .arg("verify")
        .arg(home.run(&job))
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
}

/// Comparisons of people leave the same files at a worker as at the service.
#[test]
fn people_are_compared_at_a_worker() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "1"]);
    let data = server.census(300);
    let model = server.small_model(&data);
    let asked = [
        json!({ "kind": "counterparts", "data": data, "model": model, "protected": ["sex"] }),
        json!({ "kind": "situations", "data": data, "label": true, "k": 8 }),
        json!({ "kind": "proxies", "data": data, "folds": 2, "protected": ["sex"] }),
    ];
    let all = |server: &Server| {
        let jobs = asked.iter().map(|asked| server.start(asked));
        let jobs: Vec<String> = jobs.collect();
        let workers = jobs.iter().map(|job| server.done(job)["worker"].clone());
        (jobs.clone(), workers.collect::<Vec<_>>())
    };
    let (here, _) = all(&server);
    server.terminate();
    let server = home.serve(&["--jobs", "0"]);
    let token = home.token_of("main", "worker");
    let _worker = Worker::start(&home, &server.address, "one", &token, &OFTEN);
    let (there, workers) = all(&server);
    assert_eq!(workers, [(); 3].map(|()| token_id(&token)));
    for (here, there) in here.iter().zip(&there) {
        expect_same(&home.run(here), &home.run(there));
    }
}

/// A user stops a job that a worker has; what it had by then is kept, and it can go on.
#[test]
fn stopped_at_a_worker() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "0"]);
    let token = home.token_of("main", "worker");
    let _worker = Worker::start(&home, &server.address, "one", &token, &OFTEN);
    let data = server.census(300);
    let job = server.start(&home.endless(&data));
    home.held(1);
    let path = format!("/api/v1/jobs/{job}/stop");
    let stopping = server.ask("POST", &path).expect(200).json();
    assert_eq!(stopping["state"], "stopping");
    assert_eq!(server.end_of(&job)["state"], "stopped");
    assert!(home.run(&job).join("checkpoint.bin").is_file());
    home.step();
    let path = format!("/api/v1/jobs/{job}/resume");
    server.ask("POST", &path).expect(200);
    home.held(1);
    let path = format!("/api/v1/jobs/{job}");
    server.ask("DELETE", &path).refuses(409, "job");
}

/// The service is killed and comes back while a worker has a job: the worker keeps it.
fn the_service_goes_and_comes_back(home: &Home) {
    let server = home.serve(&["--jobs", "0", "--lease", "20s"]);
    let token = home.token_of("main", "worker");
    let worker = Worker::start(home, &server.address, "one", &token, &OFTEN);
    let data = server.census(1500);
    let model = server.small_model(&data);
    home.hold();
    let job = server.start(&audit(&model, &data, 200));
    home.held(1);
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    server.kill();
    thread::sleep(Duration::from_secs(2));
    let server = home.serve_at(&port, &["--jobs", "0", "--lease", "20s"]);
    home.go_on();
    let now = server.done(&job);
    assert_eq!(now["attempts"], 1);
    assert_eq!(now["worker"], token_id(&token));
    drop(worker);
}

/// On a network on which four of five connections are cut, files arrive in the end, and as they were.
#[test]
fn the_network_is_cut_again_and_again() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "0", "--lease", "30s"]);
    let token = home.token_of("main", "worker");
    let bad = bad_network(&server.address);
    let worker = Worker::start(&home, &bad, "one", &token, &OFTEN);
    let data = server.census(600);
    let job = server.start(&training(&data, 60));
    server.done(&job);
    worker.kill();
    let _worker = Worker::start(&home, &server.address, "two", &token, &OFTEN);
    let other = server.start(&training(&data, 60));
    server.done(&other);
    expect_same(&home.run(&job), &home.run(&other));
}

/// A worker whose token is revoked ends, and says why; its job goes to others.
#[test]
fn a_revoked_worker_ends() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "0", "--lease", "2s"]);
    let tokens = [(); 2].map(|()| home.token_of("main", "worker"));
    let worker = Worker::start(&home, &server.address, "one", &tokens[0], &OFTEN);
    let data = server.census(300);
    let job = server.start(&home.endless(&data));
    home.held(1);
    home.command(&["serve", "revoke", token_id(&tokens[0])]);
    let (code, log) = worker.end();
    assert_eq!(code, Some(2), "{log}");
    assert!(log.contains("is dropped"), "{log}");
    assert!(log.contains("refuses this worker"), "{log}");
    let _second = Worker::start(&home, &server.address, "two", &tokens[1], &OFTEN);
    server.follow(&job, |view| {
        view["worker"] == token_id(&tokens[1]) && view["state"] == "running"
    });
}

/// What is wrong with the command line is said before anything is done.
#[test]
fn a_worker_needs_a_token_and_a_service() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "0"]);
    let owner = &server.token;
    let url = format!("http://{}", server.address);
    for (service, token, needle) in [
        (url.as_str(), Some(owner.as_str()), "takes the role worker"),
        (url.as_str(), Some("nothing"), "not known"),
        (url.as_str(), Some("two words"), "holds no token"),
        (url.as_str(), None, "--token-file"),
        ("ftp://localhost", Some(owner.as_str()), "--service"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_probity"));
        command.args(["work", "--service", service, "--work-dir"]);
        command.arg(home.beside("one")).env_remove("PROBITY_TOKEN");
        if let Some(token) = token {
            let file = home.beside("token");
            fs::write(&file, format!("{token}\n")).unwrap();
            command.arg("--token-file").arg(file);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(needle), "'{needle}' in {said}");
    }
}

/// A service that runs nothing itself leaves all jobs to workers.
#[test]
fn jobs_wait_for_workers() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "0"]);
    let data = server.census(150);
    let job = server.start(&training(&data, 3));
    thread::sleep(Duration::from_secs(1));
    assert_eq!(view(&server, &job)["state"], "queued");
    let token = home.token_of("main", "worker");
    let _worker = Worker::start(&home, &server.address, "one", &token, &["--jobs", "2"]);
    server.done(&job);
    let model = server.get(&format!("/api/v1/models/{job}")).expect(200);
    assert_eq!(text(&model.json()["id"]), job);
}
