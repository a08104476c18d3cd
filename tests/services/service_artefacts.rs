//! Artefacts in storage that speaks the protocol of Amazon S3: the data directory is a cache, and
//! what is stored there is all that another machine needs beside the database.

#![cfg(all(feature = "serve", unix))]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::service::{Home, Server, text, wait_until};
use crate::service_journey::pack;
use crate::storage::{PLACE, Storage};
use crate::workers::Worker;

/// The folders that whoever runs the service may empty.
const CACHE: [&str; 4] = ["data", "models", "runs", "reports"];

/// The options of a service whose artefacts are stored elsewhere.
pub const STORED: [&str; 2] = ["--artefacts", PLACE];

fn audit(model: &str, data: &str) -> Value {
    json!({
        "kind": "audit", "model": model, "data": data, "samples_format": "csv",
        "search": {"seeds": 200, "local": 100}, "estimate": 500
    })
}

/// Empties the cache of a service.
fn empty(home: &Home) {
    for folder in CACHE {
        let folder = home.data_dir().join(folder);
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => fs::remove_dir_all(path).unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
    }
}

/// Copies the database of a service that has ended to the data directory of another one.
fn copy_database(from: &Home, to: &Home) {
    for name in ["probity.sqlite", "probity.sqlite-wal", "probity.sqlite-shm"] {
        let (from, to) = (from.data_dir().join(name), to.data_dir().join(name));
        if from.exists() {
            fs::copy(from, to).unwrap();
        } else if to.exists() {
            fs::remove_file(to).unwrap();
        }
    }
}

fn samples(server: &Server, job: &str) -> Vec<u8> {
    let samples = server.get(&format!("/api/v1/jobs/{job}/samples"));
    samples.expect(200).body
}

fn report(server: &Server, job: &str) -> String {
    let report = server.get(&format!("/api/v1/jobs/{job}/report?form=markdown"));
    report.expect(200).text()
}

/// The names of the files of a folder in the storage, without their hashes; whatever the manifest names
/// is there.
fn files_of(storage: &Storage, folder: &str) -> Vec<String> {
    let keys = storage.keys_of(&format!("{folder}/"));
    let named = |key: &&String| !key.ends_with("/manifest.json");
    let objects: Vec<&str> = keys
        .iter()
        .filter(named)
        .map(|key| key.rsplit('/').next().unwrap())
        .collect();
    let manifest = storage.file(&format!("teams/probity/{folder}/manifest.json"));
    let manifest: Value = serde_json::from_slice(&fs::read(manifest).unwrap()).unwrap();
    let files = manifest["files"].as_object().unwrap();
    for (name, about) in files {
        let object = format!("{name}.{}", text(&about["sha256"]));
        assert!(objects.contains(&object.as_str()), "{folder}: {object}");
    }
    files.keys().cloned().collect()
}

fn holds(path: &Path) -> bool {
    path.read_dir()
        .is_ok_and(|mut entries| entries.next().is_some())
}

#[test]
fn the_cache_is_emptied_between_all_steps() {
    let Some(storage) = Storage::start_or_skip() else {
        return;
    };
    let home = Home::new();
    let server = home.serve_in(&storage.environment(), &STORED);
    let data = server.census(600);
    let of_data = format!("data/{data}");
    let expected = ["data.csv", "left-out.json", "schema.toml"];
    assert_eq!(files_of(&storage, &of_data), expected);
    empty(&home);
    // A schema is changed on its own: the table is not fetched before it is read.
    let path = format!("/api/v1/data/{data}/schema");
    let mut schema = server.get(&path).expect(200).json();
    schema["name"] = json!("renamed");
    empty(&home);
    server.send("PUT", &path, &schema).expect(200);
    assert_eq!(files_of(&storage, &of_data), expected);
    empty(&home);
    assert_eq!(server.get(&path).expect(200).json(), schema);

    empty(&home);
    let model = server.small_model(&data);
    let of_model = files_of(&storage, &format!("runs/{model}"));
    for name in [
        "model.toml",
        "run.toml",
        "summary.json",
        "weights.safetensors",
    ] {
        assert!(of_model.iter().any(|file| file == name), "{of_model:?}");
    }
    let packed = pack(&home.run(&model), "census/");
    empty(&home);
    let found = server.start(&audit(&model, &data));
    server.done(&found);
    let (pairs, told) = (samples(&server, &found), report(&server, &found));
    let shown = server.get(&format!("/api/v1/jobs/{found}/summary"));
    let shown = shown.expect(200).json();
    for _ in 0..2 {
        empty(&home);
        assert!(samples(&server, &found) == pairs);
        assert_eq!(report(&server, &found), told);
        let summary = server.get(&format!("/api/v1/jobs/{found}/summary"));
        assert_eq!(summary.expect(200).json(), shown);
    }

    // A model that was uploaded, and a repair that reads the model, the table and the audit.
    let uploaded = server.upload("/api/v1/models", &[], "census.zip", &packed);
    let uploaded = text(&uploaded.expect(201).json()["id"]);
    empty(&home);
    let again = server.start(&audit(&uploaded, &data));
    server.done(&again);
    assert!(samples(&server, &again) == pairs);
    empty(&home);
    let repair = server.start(&json!({
        "kind": "repair", "modality": "table", "model": model, "data": data, "runs": [found],
        "training": {"epochs": 3}
    }));
    server.done(&repair);
    // What is stored is counted, wherever it lies.
    let projects = server.get("/api/v1/projects").expect(200).json();
    let project = format!("/api/v1/projects/{}", text(&projects[0]["id"]));
    let used = |server: &Server| server.get(&project).expect(200).json()["used_bytes"].as_u64();
    let before = used(&server);
    empty(&home);
    // Reports are made again when they are missing, and count where they lie.
    assert!(used(&server).unwrap() * 2 > before.unwrap());

    // Nobody else's artefacts are touched.
    let other = Home::new();
    let mut command = other.serving("0", &STORED);
    command.envs(storage.environment());
    let refused = command.output().unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("another service"), "{said}");

    for path in [
        format!("/api/v1/jobs/{repair}"),
        format!("/api/v1/jobs/{again}"),
        format!("/api/v1/jobs/{found}"),
        format!("/api/v1/models/{uploaded}"),
        format!("/api/v1/jobs/{model}"),
        format!("/api/v1/data/{data}"),
    ] {
        server.ask("DELETE", &path).expect(204);
    }
    assert_eq!(storage.keys(), ["teams/probity/service.json"]);
    for folder in CACHE {
        assert!(!holds(&home.data_dir().join(folder)), "{folder}");
    }
}

/// A job that was stopped on one machine goes on at another, which has the database and nothing
/// else; what is found is what a service finds that keeps everything in its data directory.
#[test]
fn another_machine_sees_the_same_bytes() {
    let Some(storage) = Storage::start_or_skip() else {
        return;
    };
    let home = Home::new();
    let server = home.serve_in(&storage.environment(), &STORED);
    let data = server.census(600);
    let model = server.small_model(&data);
    let found = server.start(&audit(&model, &data));
    server.done(&found);
    home.hold();
    let stopped = server.start(&audit(&model, &data));
    home.held(1);
    server
        .ask("POST", &format!("/api/v1/jobs/{stopped}/stop"))
        .expect(200);
    assert_eq!(server.end_of(&stopped)["state"], "stopped");
    home.go_on();
    let kept = files_of(&storage, &format!("runs/{stopped}"));
    assert!(kept.iter().any(|name| name == "checkpoint.bin"), "{kept:?}");
    let interrupted = report(&server, &stopped);
    let (pairs, told) = (samples(&server, &found), report(&server, &found));
    let token = server.token.clone();
    server.terminate();

    let other = Home::new();
    copy_database(&home, &other);
    let mut server = other.serve_in(&storage.environment(), &STORED);
    server.token = token.clone();
    assert!(samples(&server, &found) == pairs);
    assert_eq!(report(&server, &found), told);
    server
        .ask("POST", &format!("/api/v1/jobs/{stopped}/resume"))
        .expect(200);
    server.done(&stopped);
    assert!(samples(&server, &stopped) == pairs);
    let whole = report(&server, &stopped);
    assert_ne!(whole, interrupted);
    let kept = files_of(&storage, &format!("runs/{stopped}"));
    assert!(
        !kept.iter().any(|name| name == "checkpoint.bin"),
        "{kept:?}"
    );
    server.terminate();

    // The first machine has the run as it was when it stopped, and sees how it ended.
    copy_database(&other, &home);
    let mut server = home.serve_in(&storage.environment(), &STORED);
    server.token = token.clone();
    assert_eq!(report(&server, &stopped), whole);
    assert!(samples(&server, &stopped) == pairs);
    server.terminate();

    // Without storage: the same, of what is here.
    let alone = Home::new();
    let server = alone.serve(&[]);
    let data = server.census(600);
    let model = server.small_model(&data);
    let found = server.start(&audit(&model, &data));
    server.done(&found);
    assert!(samples(&server, &found) == pairs);
}

/// A service that kept everything in its data directory brings it to the storage that it is given.
#[test]
fn what_is_here_is_brought_there() {
    let Some(storage) = Storage::start_or_skip() else {
        return;
    };
    let home = Home::new();
    let server = home.serve(&[]);
    let data = server.census(600);
    let model = server.small_model(&data);
    server.terminate();
    let server = home.serve_in(&storage.environment(), &STORED);
    let expected = ["data.csv", "left-out.json", "schema.toml"];
    assert_eq!(files_of(&storage, &format!("data/{data}")), expected);
    files_of(&storage, &format!("runs/{model}"));
    empty(&home);
    let found = server.start(&audit(&model, &data));
    server.done(&found);
}

/// Workers bring their runs to the service, which stores them; what they read is fetched for them.
#[test]
fn workers_need_no_storage() {
    let Some(storage) = Storage::start_or_skip() else {
        return;
    };
    let home = Home::new();
    let options = [&STORED[..], &["--jobs", "0"]].concat();
    let server = home.serve_in(&storage.environment(), &options);
    let token = home.token_of("main", "worker");
    let worker = Worker::start(&home, &server.address, "worker", &token, &[]);
    let data = server.census(600);
    let model = server.small_model(&data);
    empty(&home);
    let first = server.start(&audit(&model, &data));
    server.done(&first);
    worker.terminate();
    files_of(&storage, &format!("runs/{first}"));
    let pairs = samples(&server, &first);
    empty(&home);
    assert!(samples(&server, &first) == pairs);
    // A worker that dies gives its job back, and the next one goes on.
    home.hold();
    let second = server.start(&audit(&model, &data));
    let worker = Worker::start(&home, &server.address, "another", &token, &[]);
    home.held(1);
    worker.terminate();
    home.go_on();
    wait_until("the job is given back", || {
        let view = server.get(&format!("/api/v1/jobs/{second}")).json();
        view["state"] == "queued"
    });
    let _worker = Worker::start(&home, &server.address, "third", &token, &[]);
    server.done(&second);
    assert!(samples(&server, &second) == pairs);
}

/// A service that is killed in the middle of a job and starts again stores what there is of the run
/// once the process that it left has ended, and goes on from there.
#[test]
fn a_service_that_is_killed_goes_on_where_it_was() {
    let Some(storage) = Storage::start_or_skip() else {
        return;
    };
    let home = Home::new();
    let server = home.serve_in(&storage.environment(), &STORED);
    let data = server.census(600);
    let model = server.small_model(&data);
    let whole = server.start(&audit(&model, &data));
    server.done(&whole);
    let pairs = samples(&server, &whole);
    home.hold();
    let job = server.start(&audit(&model, &data));
    home.held(1);
    server.kill();
    home.go_on();
    let server = home.serve_in(&storage.environment(), &STORED);
    assert_eq!(server.done(&job)["attempts"], 2);
    assert!(samples(&server, &job) == pairs);
    files_of(&storage, &format!("runs/{job}"));
}

/// The environments of the processes that a service has begun.
#[cfg(target_os = "linux")]
fn environments(server: &Server) -> Vec<String> {
    let parent = format!("PPid:\t{}", server.id());
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").unwrap() {
        let process = process.unwrap().path();
        // Others may end meanwhile.
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        if status.lines().any(|line| line == parent) {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&environment).into_owned());
        }
    }
    found
}

/// Services that share a database and a bucket, each with a data directory of its own: what one was
/// given the others read, and a job of one that is killed is done by another.
#[test]
fn services_of_one_database_share_a_bucket() {
    let Some(storage) = Storage::start_or_skip() else {
        return;
    };
    let Some(home) = Home::on_postgresql() else {
        return;
    };
    let environment = storage.environment();
    let options = |jobs: &'static str| [&STORED[..], &["--lease", "1h", "--jobs", jobs]].concat();
    let one = home.serve_in(&environment, &options("0"));
    let two = home.serve_beside("second", &environment, &options("1"));
    let data = one.census(600);
    let model = one.small_model(&data);
    let found = one.start(&audit(&model, &data));
    one.done(&found);
    let pairs = samples(&one, &found);
    assert!(samples(&two, &found) == pairs);
    assert_eq!(report(&one, &found), report(&two, &found));

    // A schema that one of them changes is the other's.
    let path = format!("/api/v1/data/{data}/schema");
    let mut schema = one.get(&path).expect(200).json();
    assert_eq!(two.get(&path).expect(200).json(), schema);
    for (server, other, name) in [(&one, &two, "renamed"), (&two, &one, "again")] {
        schema["name"] = json!(name);
        server.send("PUT", &path, &schema).expect(200);
        assert_eq!(other.get(&path).expect(200).json(), schema);
    }

    // A data directory is one service's.
    let mut command = home.serving("0", &STORED);
    let refused = command.envs(storage.environment()).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("another probity serve uses"), "{said}");

    // One is killed in the middle of a job, another one does it.
    home.hold();
    let job = one.start(&audit(&model, &data));
    home.held(1);
    #[cfg(target_os = "linux")]
    {
        let seen = environments(&two);
        assert!(!seen.is_empty());
        assert!(!seen.iter().any(|text| text.contains("AWS_")), "{seen:?}");
    }
    two.kill();
    let options = [&STORED[..], &["--lease", "1s", "--jobs", "1"]].concat();
    let three = home.serve_beside("third", &environment, &options);
    home.go_on();
    assert_eq!(three.done(&job)["attempts"], 2);
    assert!(samples(&one, &job) == pairs);
    files_of(&storage, &format!("runs/{job}"));

    for path in [
        format!("/api/v1/jobs/{job}"),
        format!("/api/v1/jobs/{found}"),
        format!("/api/v1/jobs/{model}"),
        format!("/api/v1/data/{data}"),
    ] {
        one.ask("DELETE", &path).expect(204);
        three.get(&path).expect(404);
    }
    assert_eq!(storage.keys(), ["teams/probity/service.json"]);
}
