//! Jobs that are deleted since they were kept for long enough.

#![cfg(all(feature = "serve", unix))]

use crate::pages::Visitor;
use crate::service::{Home, Server, on_each_database, text, wait_until};
use serde_json::{Value, json};

on_each_database! {
    jobs_are_deleted_after_their_days,
}

const DAY: i64 = 24 * 3600;

fn audit(server: &Server, model: &str, data: &str) -> String {
    let job = server.start(&json!({
        "kind": "audit", "model": model, "data": data, "protected": ["sex"],
        "search": {"seeds": 5, "local": 5}, "estimate": 50
    }));
    server.done(&job);
    job
}

/// Has a job ended so many days and a second ago: moments are whole seconds, and a job that is kept
/// for a day is there until the day is over.
fn age(home: &Home, job: &str, days: i64) {
    let sql = format!(
        "UPDATE jobs SET ended = ended - {} WHERE id = '{job}'",
        days * DAY + 1
    );
    home.ask_database(&sql).unwrap();
}

fn is_there(server: &Server, job: &str) -> bool {
    server.get(&format!("/api/v1/jobs/{job}")).status == 200
}

fn waits_for_end_of(server: &Server, job: &str) {
    wait_until("a job is deleted", || !is_there(server, job));
}

fn jobs_are_deleted_after_their_days(home: &Home) {
    let server = home.serve(&[]);
    let data = server.census(150);
    let model = server.small_model(&data);
    let [old, needed, young] = [(); 3].map(|()| audit(&server, &model, &data));
    // A repair that waits for good reads one of them.
    let about = server.get("/api/v1/service").expect(200).json();
    let project = format!("/api/v1/projects/{}", text(&about["project"]["id"]));
    let root = home.token_of("main", "administrator");
    let none = json!({"name": "main", "quotas": {"jobs": 0, "kept_days": 5}});
    server.with(&root).send("PUT", &project, &none).expect(200);
    server.start(&json!({
        "kind": "repair", "modality": "table", "model": model, "data": data, "runs": [needed]
    }));
    assert!(home.run(&old).is_dir());
    server.terminate();
    age(home, &old, 3);
    age(home, &needed, 3);
    age(home, &model, 30);
    age(home, &young, 1);

    // The service keeps them for less than the project.
    let server = home.serve(&["--keep-jobs", "2"]);
    waits_for_end_of(&server, &old);
    assert!(is_there(&server, &needed) && is_there(&server, &young));
    assert!(is_there(&server, &model), "its model is there");
    server.get(&format!("/api/v1/data/{data}")).expect(200);
    // Its files go after its row.
    wait_until("its files are deleted", || !home.run(&old).exists());
    let log = server.get(&format!("{project}/log")).expect(200).json();
    let entries: Vec<&Value> = log.as_array().unwrap().iter().collect();
    let expired: Vec<&&Value> = entries
        .iter()
        .filter(|entry| entry["action"] == "job-expired")
        .collect();
    assert_eq!(expired.len(), 1, "{log}");
    assert_eq!(expired[0]["subject"], json!(old));
    assert_eq!(
        (&expired[0]["name"], expired[0].get("token")),
        (&json!("service"), Some(&Value::Null))
    );
    let limits = server.get("/api/v1/service").expect(200).json();
    assert_eq!(limits["limits"]["kept_days"], 2);
    let page = Visitor::logged_in(&server).get(&format!("/runs/{young}"));
    assert!(page.text.contains("Kept until"), "{}", page.text);
    let log = server.terminate();
    let line = format!("job {old} (audit) deleted: it was kept");
    assert!(log.contains(&line), "{log}");
    assert!(!log.contains(&format!("job {needed} (audit) deleted")));

    // The project keeps them for less than the service.
    let server = home.serve(&["--keep-jobs", "100"]);
    let one = json!({"name": "main", "quotas": {"jobs": 0, "kept_days": 1}});
    server.with(&root).send("PUT", &project, &one).expect(200);
    let page = Visitor::logged_in(&server).get(&project.replace("/api/v1", ""));
    assert!(
        page.text.contains("1\u{a0}day after their end"),
        "{}",
        page.text
    );
    for wrong in [0, 3651] {
        let wrong = json!({"name": "main", "quotas": {"kept_days": wrong}});
        server
            .with(&root)
            .send("PUT", &project, &wrong)
            .refuses(422, "number of days");
    }
    server.terminate();
    let server = home.serve(&["--keep-jobs", "100"]);
    waits_for_end_of(&server, &young);
}
