//! Projects of the service: who gets in and for how long, what is shared, what is noted, what a
//! project may take, and that what is deleted is gone.

#![cfg(feature = "serve")]

use std::path::Path;
use std::sync::Barrier;

use crate::pages::Visitor;
use crate::service::http::{compose, raw, request};
use crate::service::{Client, Home, Server, on_each_database, text};
use serde_json::{Value, json};

on_each_database! {
    owners_give_tokens_and_take_them_back,
    a_link_leads_to_one_report_for_a_while,
    the_log_says_who_did_what_and_cannot_be_changed,
    administrators_make_projects_and_see_nothing_in_them,
    a_project_takes_no_more_than_its_quotas,
    turns_go_round_the_projects,
    a_start_and_a_deletion_at_the_same_time,
}

const PEOPLE: &[u8] = b"age,sex,income\n40,m,yes\n17,f,no\n33,f,yes\n";

fn id_of(token: &str) -> String {
    token.split('_').nth(1).expect("an identifier").to_owned()
}

fn project_of(client: &Client<'_>) -> String {
    let about = client.get("/api/v1/service").expect(200).json();
    text(&about["project"]["id"])
}

/// A data set with a schema, large enough for a training.
fn described(client: &Client<'_>) -> String {
    let (head, rows) = PEOPLE.split_at(PEOPLE.iter().position(|&byte| byte == b'\n').unwrap() + 1);
    described_as(client, &[head, &rows.repeat(500)].concat())
}

/// The data set `people` with a schema.
fn described_as(client: &Client<'_>, people: &[u8]) -> String {
    let data = text(&client.table("people", people).expect(201).json()["id"]);
    let path = format!("/api/v1/data/{data}/schema/draft");
    let draft = json!({"label": "income", "protected": ["sex"]});
    client.send("POST", &path, &draft).expect(200);
    data
}

/// An audit that is done, of a model of the synthetic census in the project of the server's token.
fn audited(server: &Server) -> String {
    let data = server.census(150);
    let model = server.small_model(&data);
    let audit = server.start(&json!({
        "kind": "audit", "model": model, "data": data, "protected": ["sex"],
        "search": {"seeds": 5, "local": 5}, "estimate": 50
    }));
    server.done(&audit);
    audit
}

fn owners_give_tokens_and_take_them_back(home: &Home) {
    home.new_project("lending");
    let owner = home.token_of("lending", "owner");
    let server = home.serve(&[]);
    let client = server.with(&owner);
    let project = project_of(&client);
    let tokens = format!("/api/v1/projects/{project}/tokens");
    let asked = json!({"name": "ci", "role": "editor", "days": 1});
    let made = client.send("POST", &tokens, &asked).expect(201).json();
    let editor = server.with(&text(&made["token"]));
    let about = editor.get("/api/v1/service").expect(200).json();
    assert_eq!(about["role"], "editor");
    assert_eq!(about["project"]["name"], "lending");
    assert_eq!(about["token_label"], "ci");
    // A token cannot give what it does not have.
    let asked = json!({"name": "x", "role": "owner"});
    editor
        .send("POST", &tokens, &asked)
        .refuses(403, "role owner");
    for (asked, needle) in [
        (json!({"name": "x", "role": "administrator"}), "role"),
        (json!({"name": " ", "role": "viewer"}), "name"),
        (json!({"name": "x", "role": "viewer", "days": 0}), "days"),
        (json!({"name": "x", "role": "viewer", "days": 9999}), "days"),
    ] {
        client.send("POST", &tokens, &asked).refuses(422, needle);
    }
    // It is over on its day.
    let id = text(&made["id"]);
    home.ask_database(&format!("UPDATE tokens SET expires = 1 WHERE id = '{id}'"))
        .expect("a token");
    editor.get("/api/v1/jobs").refuses(401, "over");
    let listed = client.get(&tokens).expect(200).json();
    assert_eq!(listed[1]["id"], made["id"]);
    assert!(!listed.to_string().contains(&editor.token), "{listed}");
    let dead = format!("{tokens}/{id}");
    client.ask("DELETE", &dead).refuses(404, "no valid token");
    // A token of another project cannot be revoked from this one.
    let foreign = format!("{tokens}/{}", id_of(&server.token));
    client
        .ask("DELETE", &foreign)
        .refuses(404, "no valid token");
    server.get("/api/v1/jobs").expect(200);
    // The own one can; then it is worth nothing.
    let own = format!("{tokens}/{}", id_of(&owner));
    client.ask("DELETE", &own).expect(204);
    client.get("/api/v1/jobs").refuses(401, "revoked");
}

fn a_link_leads_to_one_report_for_a_while(home: &Home) {
    let server = home.serve(&[]);
    let audit = audited(&server);
    let links = format!("/api/v1/jobs/{audit}/links");
    let make = || {
        let made = server.send("POST", &links, &json!({"days": 7}));
        made.expect(201).json()
    };
    let open = |path: &str| request(&server.address, "GET", path, &[], &[]);
    let made = make();
    let path = text(&made["path"]);
    let report = open(&path).expect(200);
    assert!(report.text().contains("<title>"), "it is a report");
    assert!(!report.text().contains("data dir/"), "it tells no paths");
    assert_eq!(report.header("x-robots-tag"), "noindex, nofollow");
    assert_eq!(report.header("cache-control"), "no-store");
    let policy = report.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    // Nothing else is open to whoever has it, and almost the same address leads nowhere.
    for other in ["/samples", "/report.json", "/..", "x"] {
        assert_eq!(open(&format!("{path}{other}")).status, 404, "{other}");
    }
    let almost = format!("{}0", &path[..path.len() - 1]);
    let almost = if almost == path {
        format!("{path}1")
    } else {
        almost
    };
    open(&almost).expect(404);
    let listed = server.get(&links).expect(200).text();
    let secret = path.rsplit('/').next().expect("a secret");
    assert!(!listed.contains(secret), "{listed}");
    let bytes = std::fs::read(home.data_dir().join("probity.sqlite-wal")).unwrap_or_default();
    assert!(
        !has(&bytes, secret.as_bytes()),
        "it is stored as a hash only"
    );

    let one = format!("{links}/{}", text(&made["id"]));
    server.ask("DELETE", &one).expect(204);
    open(&path).expect(404);
    server.ask("DELETE", &one).refuses(404, "no valid link");
    // Its day comes, or the job goes.
    let (second, third) = (make(), make());
    let second_id = text(&second["id"]);
    home.ask_database(&format!(
        "UPDATE links SET expires = 1 WHERE id = '{second_id}'"
    ))
    .expect("a link");
    open(&text(&second["path"])).expect(404);
    open(&text(&third["path"])).expect(200);
    server
        .ask("DELETE", &format!("/api/v1/jobs/{audit}"))
        .expect(204);
    open(&text(&third["path"])).expect(404);
}

fn the_log_says_who_did_what_and_cannot_be_changed(home: &Home) {
    let root = home.token_of("main", "administrator");
    home.new_project("lending");
    let owner = home.token_of("lending", "owner");
    let server = home.serve(&[]);
    let (root, client) = (server.with(&root), server.with(&owner));
    let project = project_of(&client);
    let data = text(&client.table("=1+1", PEOPLE).expect(201).json()["id"]);
    client
        .ask("DELETE", &format!("/api/v1/data/{data}"))
        .expect(204);
    let asked = json!({"name": "=cmd|'/c calc'!A1", "role": "viewer"});
    let tokens = format!("/api/v1/projects/{project}/tokens");
    client.send("POST", &tokens, &asked).expect(201);
    let log = format!("/api/v1/projects/{project}/log");
    let entries = client.get(&log).expect(200).json();
    let actions: Vec<String> = entries
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| text(&entry["action"]))
        .collect();
    let expected = [
        "token-made",
        "data-deleted",
        "data-uploaded",
        "token-made",
        "project-made",
    ];
    assert_eq!(actions, expected);
    assert_eq!(entries[1]["token"], id_of(&owner));
    assert_eq!(entries[1]["name"], "owner");
    assert_eq!(entries[1]["subject"], data);
    assert_eq!(entries[3]["token"], Value::Null, "by the command");
    let before = format!("{log}?before={}", entries[2]["number"]);
    let older = client.get(&before).expect(200).json();
    assert_eq!(older.as_array().map(Vec::len), Some(2));
    // The administrator reads all of it, others what is theirs.
    let whole = root.get("/api/v1/log?form=csv").expect(200);
    assert_eq!(
        whole.header("content-disposition"),
        "attachment; filename=\"log.csv\""
    );
    let lines = whole.text().lines().count();
    assert!(lines > 1 + expected.len(), "{}", whole.text());
    let csv = client.get(&format!("{log}?form=csv")).expect(200).text();
    assert_eq!(csv.lines().count(), 1 + expected.len());
    assert_eq!(home.command(&["serve", "log"]).lines().count(), lines);
    // Who has such a name does something: its cell is no formula.
    let csv_of = |name: &str| {
        let token = home.command(&["serve", "token", "--name", name, "--quiet"]);
        server.with(&token).table("a", PEOPLE).expect(201);
        home.command(&["serve", "log"])
    };
    assert!(csv_of("=1+1").contains(",'=1+1,"));

    for statement in [
        "UPDATE log SET name = 'nobody'",
        "DELETE FROM log",
        "DELETE FROM log WHERE number = 1",
    ] {
        let refused = home.ask_database(statement).unwrap_err();
        assert!(refused.contains("append-only"), "{refused}");
    }
}

fn administrators_make_projects_and_see_nothing_in_them(home: &Home) {
    let root = home.token_of("main", "administrator");
    let server = home.serve(&[]);
    let client = server.with(&root);
    let asked = json!({"name": "lending", "quotas": {"queue": 1}});
    let made = client.send("POST", "/api/v1/projects", &asked).expect(201);
    let project = text(&made.json()["id"]);
    client
        .send("POST", "/api/v1/projects", &asked)
        .refuses(409, "name");
    let path = format!("/api/v1/projects/{project}");
    let tokens = format!("{path}/tokens");
    let asked = json!({"name": "ada", "role": "owner"});
    let ada = client.send("POST", &tokens, &asked).expect(201).json();
    let ada = server.with(&text(&ada["token"]));
    let data = described(&ada);
    client
        .get(&format!("/api/v1/data/{data}"))
        .refuses(403, "administrator");
    let seen = client.get(&path).expect(200).json();
    assert_eq!(seen["used_bytes"], Value::Null);
    let seen = ada.get(&path).expect(200).json();
    assert!(
        seen["used_bytes"].as_u64() >= Some(PEOPLE.len() as u64),
        "{seen}"
    );
    let asked = json!({"name": "loans"});
    let changed = client.send("PUT", &path, &asked).expect(200).json();
    assert_eq!(changed["quotas"], json!({}));
    ada.send("PUT", &path, &asked).refuses(403, "administrator");
    // It is deleted with everything in it, once its jobs are at an end.
    let job = ada
        .send("POST", "/api/v1/jobs", &home.endless(&data))
        .expect(201);
    let job = text(&job.json()["id"]);
    client.ask("DELETE", &path).refuses(409, &job);
    ada.ask("POST", &format!("/api/v1/jobs/{job}/stop"))
        .expect(200);
    ada.get(&format!("/api/v1/jobs/{job}/events")).expect(200);
    client.ask("DELETE", &path).expect(204);
    ada.get("/api/v1/data").refuses(401, "");
    assert!(!home.data_dir().join("data").join(&data).exists());
    assert!(!home.run(&job).exists());
    let log = client.get("/api/v1/log").expect(200).json();
    assert_eq!(log[0]["action"], "project-deleted");
    assert_eq!(log[0]["subject"], project);
}

fn a_project_takes_no_more_than_its_quotas(home: &Home) {
    home.command(&[
        "serve",
        "project",
        "small",
        "--max-storage",
        "200B",
        "--queue",
        "1",
    ]);
    let small = home.token_of("small", "owner");
    let server = home.serve(&["--jobs", "1", "--queue-per-project", "2"]);
    let client = server.with(&small);
    let large = [PEOPLE, &b"40,m,yes\n".repeat(30)].concat();
    client.table("large", &large).refuses(507, "project");
    let data = described_as(&client, PEOPLE);
    // It has a file, a schema, and no room for another one.
    client.table("again", PEOPLE).refuses(507, "project");
    // What one project has is nothing to another.
    server
        .with(&server.token)
        .table("large", &large)
        .expect(201);
    let first = described(&server.with(&server.token));
    let running = server.start(&home.endless(&first));
    server.follow(&running, |view| view["state"] == "running");
    // Others may have two that wait, this one none: its storage is full.
    client
        .send("POST", "/api/v1/jobs", &home.endless(&data))
        .refuses(507, "project");
    for _ in 0..2 {
        server.start(&home.endless(&first));
    }
    server
        .send("POST", "/api/v1/jobs", &home.endless(&first))
        .refuses(429, "2 jobs wait");
}

/// Whoever asks for many jobs does not wait longer for the first one than others for theirs.
fn turns_go_round_the_projects(home: &Home) {
    for project in ["many", "few"] {
        home.new_project(project);
    }
    let (many, few) = (
        home.token_of("many", "editor"),
        home.token_of("few", "editor"),
    );
    let colleague = home.token_of("many", "editor");
    let server = home.serve(&["--jobs", "1"]);
    let start = |client: &Client<'_>, data: &str| {
        let job = client.send("POST", "/api/v1/jobs", &home.endless(data));
        text(&job.expect(201).json()["id"])
    };
    let ahead = |client: &Client<'_>, job: &str| {
        let view = client
            .get(&format!("/api/v1/jobs/{job}"))
            .expect(200)
            .json();
        view["ahead"].as_u64()
    };
    let (many, few) = (server.with(&many), server.with(&few));
    let colleague = server.with(&colleague);
    let data = described(&many);
    let running = start(&many, &data);
    server
        .with(&many.token)
        .get(&format!("/api/v1/jobs/{running}"))
        .expect(200);
    // Until it runs: then it waits no more.
    while ahead(&many, &running).is_some() {}
    let waiting: Vec<String> = (0..3).map(|_| start(&many, &data)).collect();
    let of_colleague = start(&colleague, &data);
    let other = described(&few);
    let of_few: Vec<String> = (0..2).map(|_| start(&few, &other)).collect();
    assert_eq!(ahead(&few, &of_few[0]), Some(0));
    assert_eq!(ahead(&colleague, &of_colleague), Some(1));
    assert_eq!(ahead(&few, &of_few[1]), Some(2));
    assert_eq!(ahead(&many, &waiting[0]), Some(3));
    assert_eq!(ahead(&many, &waiting[2]), Some(5));
    many.ask("POST", &format!("/api/v1/jobs/{running}/stop"))
        .expect(200);
    let events = format!("/api/v1/jobs/{running}/events");
    many.get(&events).expect(200);
    // The next one is that of the others.
    while ahead(&few, &of_few[0]).is_some() {}
    let view = few.get(&format!("/api/v1/jobs/{}", of_few[0])).json();
    assert_ne!(view["state"], "queued", "{view}");
    // What is shown of the others follows in a moment.
    while ahead(&colleague, &of_colleague) == Some(1) {}
    assert_eq!(ahead(&colleague, &of_colleague), Some(0));
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// The files under `folder` that have `part` in them or in their names.
fn holding(folder: &Path, part: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(holding(&path, part));
            continue;
        }
        let name = path.display().to_string();
        let bytes = std::fs::read(&path).unwrap_or_default();
        if name.contains(part) || has(&bytes, part.as_bytes()) {
            found.push(name);
        }
    }
    found
}

#[test]
fn what_was_deleted_is_gone_from_the_disk() {
    let home = Home::new();
    let server = home.serve(&[]);
    let client = server.with(&server.token);
    let mark = "Zweiundvierzigstein";
    let table = format!("age,sex,income\n40,{mark},yes\n17,f,no\n33,f,yes\n");
    let data = text(&client.table(mark, table.as_bytes()).expect(201).json()["id"]);
    let draft = json!({"label": "income", "protected": ["sex"]});
    let path = format!("/api/v1/data/{data}/schema/draft");
    server.send("POST", &path, &draft).expect(200);
    let job = format!("/api/v1/jobs?label={mark}");
    let job = server.send("POST", &job, &home.endless(&data)).expect(201);
    let job = text(&job.json()["id"]);
    server.follow(&job, |view| view["state"] == "running");
    assert!(!holding(&home.data_dir(), mark).is_empty());
    server
        .ask("DELETE", &format!("/api/v1/data/{data}"))
        .refuses(409, &job);
    server
        .ask("POST", &format!("/api/v1/jobs/{job}/stop"))
        .expect(200);
    server.end_of(&job);
    server
        .ask("DELETE", &format!("/api/v1/jobs/{job}"))
        .expect(204);
    server
        .ask("DELETE", &format!("/api/v1/data/{data}"))
        .expect(204);
    assert_eq!(holding(&home.data_dir(), mark), [""; 0]);
    assert_eq!(
        holding(&home.data_dir(), &data).len(),
        1,
        "the log alone names it"
    );
}

/// What a service left that was killed in the middle is removed by the next one, and nothing else.
#[test]
fn what_nobody_knows_of_is_swept_away() {
    let home = Home::new();
    let server = home.serve(&[]);
    let data = described(&server.with(&server.token));
    server.kill();
    let folder = home.data_dir().join("data");
    for name in ["0123456789abcdef", "notes"] {
        std::fs::create_dir(folder.join(name)).expect("a folder");
        std::fs::write(folder.join(name).join("data.csv"), "left over").expect("a file");
    }
    let _server = home.serve(&[]);
    let mut expected = [data, "notes".to_owned()];
    expected.sort();
    assert_eq!(crate::service::names_in(&folder), expected);
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;

    fn modes(folder: &Path) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            // Files of SQLite and of uploads come and go.
            let Ok(about) = std::fs::metadata(&path) else {
                continue;
            };
            let mode = about.permissions().mode() & 0o777;
            let most = if about.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode & !most, 0, "{}: {mode:o}", path.display());
            if about.is_dir() {
                modes(&path);
            }
        }
    }
    let home = Home::new();
    let server = home.serve(&[]);
    let audit = audited(&server);
    server
        .get(&format!("/api/v1/jobs/{audit}/report"))
        .expect(200);
    let about = std::fs::metadata(home.data_dir()).expect("a folder");
    assert_eq!(about.permissions().mode() & 0o777, 0o700);
    modes(&home.data_dir());
}

#[test]
fn the_service_answers_under_its_own_names_only() {
    let home = Home::new();
    let server = home.serve(&["--host", "audits.example.org"]);
    let with = |host: &str| {
        let bytes = String::from_utf8(compose("GET", "/login", &[], &[])).expect("text");
        raw(&server.address, bytes.replace("localhost", host).as_bytes()).status
    };
    for (host, status) in [
        ("localhost", 200),
        ("127.0.0.1:1", 200),
        ("audits.example.org", 200),
        ("evil.example", 421),
        ("audits.example.org.evil.example", 421),
    ] {
        assert_eq!(with(host), status, "{host}");
    }
    let head = ["Host: evil.example".to_owned()];
    let twice = request(&server.address, "GET", "/api/v1/jobs", &head, &[]);
    twice.refuses(421, "--host");
}

#[test]
fn cookies_are_those_of_one_service_and_one_login() {
    let (home, other) = (Home::new(), Home::new());
    let (service, second) = (home.serve(&[]), other.serve(&[]));
    let name = |visitor: &Visitor<'_>| visitor.cookie.split('=').next().unwrap().to_owned();
    let mut visitor = Visitor::logged_in(&service);
    assert_ne!(name(&visitor), name(&Visitor::logged_in(&second)));
    // Logging in again ends the session that the browser had.
    let before = visitor.cookie.clone();
    let answer = visitor.post("/login", &[("token", &service.token)]);
    assert_eq!(answer.status, 303);
    let cookie = answer.header("set-cookie").split(';').next().unwrap();
    assert_ne!(cookie, before);
    visitor.cookie = cookie.to_owned();
    assert_eq!(visitor.get("/").status, 200);
    visitor.cookie = before;
    assert_eq!(visitor.get("/").status, 303);
    drop(visitor);

    // That it came over TLS is believed of a named proxy alone.
    drop(service);
    let logs_in = |options: &[&str]| {
        let service = home.serve(options);
        let visitor = Visitor::new(&service);
        let origin = service.page("");
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("origin", origin.as_str()),
            ("x-forwarded-proto", "https"),
        ];
        let body = format!("token={}", service.token).into_bytes();
        let answer = visitor.send("POST", "/login", &headers, body);
        answer.header("set-cookie").to_owned()
    };
    assert!(!logs_in(&[]).contains("Secure"));
    assert!(logs_in(&["--proxy", "127.0.0.1"]).contains("; Secure"));
}

/// Of a job that starts and a data set that is deleted at the same time, one finds what the other
/// did: no job waits for data that are gone.
fn a_start_and_a_deletion_at_the_same_time(home: &Home) {
    let server = home.serve(&["--jobs", "1", "--max-rate-per-token", "10000"]);
    let busy = described(&server.with(&server.token));
    let running = server.start(&home.endless(&busy));
    server.follow(&running, |view| view["state"] == "running");
    for _ in 0..8 {
        let data = described(&server.with(&server.token));
        let start = Barrier::new(2);
        let path = format!("/api/v1/data/{data}");
        let (started, deleted) = std::thread::scope(|scope| {
            let starts = scope.spawn(|| {
                start.wait();
                server
                    .send("POST", "/api/v1/jobs", &home.endless(&data))
                    .status
            });
            start.wait();
            let deleted = server.ask("DELETE", &path).status;
            (starts.join().expect("an answer"), deleted)
        });
        match (started, deleted) {
            (201, 409) => {}
            (404 | 409, 204) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// A disk that is full: uploads and jobs are refused with 507, what is there can be deleted, and
/// then everything goes on.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_lets_people_delete() {
    let home = Home::new();
    let Some(server) = home.serve_on_a_small_disk(24 << 20, &[]) else {
        return probity_testing::skip(probity_testing::Needed::Programs, "unshare and mount");
    };
    let client = server.with(&server.token);
    let data = described(&client);
    let job = server.start(&home.endless(&data));
    home.held(1);
    let refused = (0..40).find_map(|number| {
        // No two rows are alike, so that nothing is stored smaller.
        let row = |row: usize| format!("{row},{number},yes\n");
        let rows: String = (0..100_000).map(row).collect();
        let file = format!("age,sex,income\n{rows}");
        let answer = client.table("large", file.as_bytes());
        (answer.status != 201).then_some(answer)
    });
    refused.expect("the disk is small").refuses(507, "disk");
    // A training that cannot write its state stops with what it had, if nobody stops it before.
    let stopped = server.ask("POST", &format!("/api/v1/jobs/{job}/stop"));
    assert!([200, 409].contains(&stopped.status), "{}", stopped.text());
    assert_eq!(server.end_of(&job)["state"], "stopped");
    // Nothing writes and removes now; small files fill the rest.
    while client.table("small", PEOPLE).status == 201 {}
    client
        .send("POST", "/api/v1/jobs", &home.endless(&data))
        .refuses(507, "");
    let visitor = Visitor::logged_in(&server);
    assert_eq!(visitor.get("/").status, 200, "people get in");
    let listed = server.get("/api/v1/data").expect(200).json();
    for one in listed.as_array().expect("a list") {
        if one["id"] != data {
            let path = format!("/api/v1/data/{}", text(&one["id"]));
            server.ask("DELETE", &path).expect(204);
        }
    }
    client.table("again", PEOPLE).expect(201);
    server
        .ask("POST", &format!("/api/v1/jobs/{job}/resume"))
        .expect(200);
    server.follow(&job, |view| view["state"] == "running");
    server
        .ask("POST", &format!("/api/v1/jobs/{job}/stop"))
        .expect(200);
    server.end_of(&job);
}
