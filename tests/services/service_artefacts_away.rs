//! Storage of artefacts that does not answer, or refuses: nothing is half there, and everything goes
//! on once it is back.

#![cfg(all(feature = "serve", unix))]

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::service::{Home, Server, census, text, wait_until};
use crate::service_artefacts::STORED;
use crate::storage::{PLACE, Storage};

fn upload(server: &Server, rows: usize) -> crate::service::http::Answer {
    let fields = [("kind", "table"), ("label", "Census")];
    server.upload("/api/v1/data", &fields, "people.csv", &census(rows))
}

fn state(server: &Server, job: &str) -> String {
    let view = server.get(&format!("/api/v1/jobs/{job}"));
    text(&view.expect(200).json()["state"])
}

/// Waits until the storage has refused something, as it goes on doing.
fn has_refused(storage: &mut Storage) {
    wait_until("something is refused", || storage.tell("fails") > 0);
}

#[test]
fn an_upload_that_breaks_off_leaves_nothing() {
    let Some(mut storage) = Storage::start_or_skip() else {
        return;
    };
    let home = Home::new();
    let server = home.serve_in(&storage.environment(), &STORED);
    // Before anything is written, after the file and before its manifest, and where nobody answers.
    for behaviour in ["fails", "fails-after 1", "hangs"] {
        storage.tell(behaviour);
        let refused = upload(&server, 200);
        assert_eq!(refused.header("retry-after"), "10");
        let document = refused.json();
        assert_eq!(document["type"], "urn:probity:problem:storage-away");
        refused.refuses(503, "The storage of the service's files does not answer");
        assert!(storage.tell("well") > 0, "{behaviour}");
        let manifests = storage.keys_of("data/");
        let manifests = manifests.iter().filter(|key| key.ends_with(".json"));
        assert_eq!(manifests.count(), 0, "{behaviour}");
        let listed = server.get("/api/v1/data").expect(200).json();
        assert_eq!(listed, json!([]), "{behaviour}");
        let here = fs::read_dir(home.data_dir().join("data")).unwrap();
        assert_eq!(here.count(), 0, "{behaviour}");
    }

    // A schema that cannot be stored is not kept here either.
    let data = server.census(200);
    let path = format!("/api/v1/data/{data}/schema");
    let before = server.get(&path).expect(200).json();
    let mut changed = before.clone();
    changed["name"] = json!("changed");
    storage.tell("fails-after 1");
    server
        .send("PUT", &path, &changed)
        .refuses(503, "does not answer");
    storage.tell("well");
    assert_eq!(server.get(&path).expect(200).json(), before);
    server.send("PUT", &path, &changed).expect(200);
    assert_eq!(server.get(&path).expect(200).json(), changed);

    // What is not here cannot be read while the storage is away.
    fs::remove_dir_all(home.data_dir().join("data").join(&data)).unwrap();
    storage.tell("fails");
    server.get(&path).refuses(503, "does not answer");
    storage.tell("well");
    assert_eq!(server.get(&path).expect(200).json(), changed);
}

#[test]
fn jobs_wait_for_storage_that_is_away() {
    let Some(mut storage) = Storage::start_or_skip() else {
        return;
    };
    let home = Home::new();
    let server = home.serve_in(&storage.environment(), &STORED);
    let data = server.census(300);
    let training = json!({
        "kind": "train", "modality": "table", "data": data, "network": {"hidden": [8]},
        "training": {"epochs": 3}
    });
    // Before it begins.
    storage.tell("fails");
    let job = server.start(&training);
    has_refused(&mut storage);
    assert_eq!(state(&server, &job), "running");
    storage.tell("well");
    server.done(&job);

    // At its end: it is not done before what it found is stored.
    home.hold();
    let job = server.start(&training);
    home.held(1);
    storage.tell("fails");
    home.go_on();
    has_refused(&mut storage);
    assert_eq!(state(&server, &job), "running");
    let runs = storage.keys_of(&format!("runs/{job}/"));
    assert!(!runs.iter().any(|key| key.ends_with("manifest.json")));
    storage.tell("well");
    server.done(&job);
    server
        .get(&format!("/api/v1/jobs/{job}/summary"))
        .expect(200);

    // A service that ends meanwhile leaves the job to its next start.
    home.hold();
    let job = server.start(&training);
    home.held(1);
    storage.tell("fails");
    home.go_on();
    has_refused(&mut storage);
    server.terminate();
    storage.tell("well");
    let server = home.serve_in(&storage.environment(), &STORED);
    server.done(&job);
}

#[test]
fn a_service_does_not_begin_without_its_storage() {
    let Some(mut storage) = Storage::start_or_skip() else {
        return;
    };
    let home = Home::new();
    let begins = |address: &str, changed: Option<(&str, &str)>| {
        let mut command = home.serving("0", &["--artefacts", address]);
        command.envs(storage.environment()).envs(changed);
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    for (address, changed, said) in [
        ("artefacts", None, "is no place for artefacts"),
        ("s3://artefacts/../other", None, "is no place for artefacts"),
        ("s3://nowhere", None, "cannot use s3://nowhere"),
        (PLACE, Some(("AWS_ALLOW_HTTP", "false")), "AWS_ALLOW_HTTP"),
        (PLACE, Some(("AWS_ACCESS_KEY_ID", "wrong")), "cannot use s3"),
        (
            PLACE,
            Some(("AWS_PROXY_URL", "http://127.0.0.1:1")),
            "AWS_PROXY_URL",
        ),
    ] {
        let told = begins(address, changed);
        assert!(told.contains(said), "{told}");
    }
    storage.tell("fails");
    let mut command = home.serving("0", &STORED);
    let output = command.envs(storage.environment()).output();
    let said = String::from_utf8(output.expect("it runs").stderr).expect("text");
    assert!(said.contains("cannot use s3://artefacts"), "{said}");
}

/// What is deleted while the storage is away is swept away when the service starts again, and so is
/// what nobody knows of, but nothing that is a day old or younger.
#[test]
fn what_nobody_knows_of_is_swept_away() {
    let Some(mut storage) = Storage::start_or_skip() else {
        return;
    };
    let home = Home::new();
    let server = home.serve_in(&storage.environment(), &STORED);
    let kept = server.census(200);
    let deleted = text(&upload(&server, 200).expect(201).json()["id"]);
    storage.tell("fails");
    let path = format!("/api/v1/data/{deleted}");
    server.ask("DELETE", &path).expect(204);
    server.get(&path).expect(404);
    server.terminate();
    storage.tell("well");
    // Another service may be about to write the row of this one. It comes first in the sweep.
    let fresh = "data/0000000000000000/data.csv.00";
    let fresh_file = storage.file(&format!("teams/probity/{fresh}"));
    fs::create_dir_all(fresh_file.parent().unwrap()).unwrap();
    fs::write(&fresh_file, "a\n").unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(3 * 24 * 3600);
    for id in [&kept, &deleted] {
        for key in storage.keys_of(&format!("data/{id}/")) {
            let file = storage.file(&format!("teams/probity/{key}"));
            File::options()
                .append(true)
                .open(file)
                .and_then(|file| file.set_modified(long_ago))
                .unwrap();
        }
    }
    let before = storage.keys_of(&format!("data/{kept}/"));
    let _server = home.serve_in(&storage.environment(), &STORED);
    let deleted = format!("data/{deleted}/");
    wait_until("what was deleted is gone", || {
        storage.keys_of(&deleted).is_empty()
    });
    assert_eq!(storage.keys_of(&format!("data/{kept}/")), before);
    assert_eq!(storage.keys_of("data/0000000000000000/"), [fresh]);
}
