//! Who may do what: every address of the service, asked for with every method, as a stranger and in
//! each role, with identifiers of the own project and of another one. What is expected is read from
//! the table of docs/service.md, which must name every address that there is.

#![cfg(feature = "serve")]

use std::collections::BTreeSet;

use crate::service::http::{Answer, compose, form, open, read_head, request};
use crate::service::{Client, Home, Server, census, on_each_database, text};
use serde_json::json;

on_each_database! {
    every_answer_is_as_the_table_says,
}

const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"];

/// Who is said in the table to be let in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Who {
    Anyone,
    AnyToken,
    /// A role in the project of the thing, and those above it.
    Role(usize),
    /// The same, and administrators.
    RoleOr(usize),
    Administrator,
    Worker,
}

/// Roles in a project, by their rank.
const ROLES: [&str; 3] = ["viewer", "editor", "owner"];

impl Who {
    fn of(text: &str) -> Who {
        match text {
            "anyone" => Who::Anyone,
            "any token" => Who::AnyToken,
            "viewer" => Who::Role(0),
            "editor" => Who::Role(1),
            "its members, administrator" => Who::RoleOr(0),
            "its owners, administrator" => Who::RoleOr(2),
            "administrator" => Who::Administrator,
            "worker" => Who::Worker,
            other => panic!("the table says '{other}'"),
        }
    }
}

/// A line of the table.
struct Line {
    methods: Vec<String>,
    path: String,
    who: Who,
}

fn table() -> Vec<Line> {
    let page = include_str!("../../docs/service.md");
    let (_, rest) = page.split_once("| methods | address | who |").unwrap();
    let lines = rest.lines().skip(2);
    lines
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            Line {
                methods: cells[0].split(", ").map(str::to_owned).collect(),
                path: cells[1].trim_matches('`').to_owned(),
                who: Who::of(cells[2]),
            }
        })
        .collect()
}

/// What there is in a project.
struct Things {
    project: String,
    data: String,
    model: String,
    audit: String,
    link: String,
    secret: String,
    token: String,
}

fn things(server: &Server, owner: &str) -> Things {
    let client = server.with(owner);
    let project = client.get("/api/v1/service").expect(200).json();
    let project = text(&project["project"]["id"]);
    let data = client.table("people", &census(150)).expect(201).json();
    let data = text(&data["id"]);
    let draft = json!({"label": "income", "protected": ["sex", "origin"]});
    let path = format!("/api/v1/data/{data}/schema/draft");
    client.send("POST", &path, &draft).expect(200);
    let start = |asked: serde_json::Value| {
        let job = client.send("POST", "/api/v1/jobs", &asked).expect(201);
        text(&job.json()["id"])
    };
    let done = |job: &str| {
        let path = format!("/api/v1/jobs/{job}/events");
        let events = client.get(&path).expect(200).text();
        assert!(events.contains("\"state\":\"done\""), "{events}");
    };
    let model = start(json!({
        "kind": "train", "modality": "table", "data": data, "network": {"hidden": [8]},
        "training": {"epochs": 3}
    }));
    done(&model);
    let audit = start(json!({
        "kind": "audit", "model": model, "data": data, "protected": ["sex"],
        "search": {"seeds": 5, "local": 5}, "estimate": 50
    }));
    done(&audit);
    let path = format!("/api/v1/jobs/{audit}/links");
    let link = client.send("POST", &path, &json!({"days": 1})).expect(201);
    let secret = text(&link.json()["path"]);
    Things {
        token: String::new(),
        link: text(&link.json()["id"]),
        secret: secret.rsplit('/').next().unwrap().to_owned(),
        project,
        data,
        model,
        audit,
    }
}

/// Lets nothing be deleted: a repair that reads everything waits for good.
fn pin(administrator: &Client<'_>, client: &Client<'_>, name: &str, things: &Things) {
    let path = format!("/api/v1/projects/{}", things.project);
    let none = json!({"name": name, "quotas": {"jobs": 0}});
    administrator.send("PUT", &path, &none).expect(200);
    let asked = json!({
        "kind": "repair", "modality": "table", "model": things.model, "data": things.data,
        "runs": [things.audit]
    });
    client.send("POST", "/api/v1/jobs", &asked).expect(201);
}

/// Puts a token and a link that can be revoked into `things`.
fn with_parts(owner: &Client<'_>, things: &mut Things) {
    let path = format!("/api/v1/projects/{}/tokens", things.project);
    let asked = json!({"name": "spare", "role": "viewer"});
    let token = owner.send("POST", &path, &asked).expect(201);
    things.token = text(&token.json()["id"]);
    let path = format!("/api/v1/jobs/{}/links", things.audit);
    let link = owner.send("POST", &path, &json!({"days": 1})).expect(201);
    things.link = text(&link.json()["id"]);
}

/// Who asks.
struct Asker {
    name: &'static str,
    /// The rank of the role; none of a stranger, an administrator and a worker.
    rank: Option<usize>,
    token: String,
}

impl Asker {
    /// The cookie of a new session, and what its forms carry.
    fn session(&self, server: &Server) -> (String, String) {
        if !self.has_session() {
            return Default::default();
        }
        let head = [
            "Sec-Fetch-Site: same-origin".to_owned(),
            "Content-Type: application/x-www-form-urlencoded".to_owned(),
        ];
        let body = format!("token={}", self.token);
        let answer = request(&server.address, "POST", "/login", &head, body.as_bytes());
        let cookie = answer.expect(303).header("set-cookie").to_owned();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let head = [format!("Cookie: {cookie}")];
        // A page that everybody with a token sees, though it be one of a problem.
        let page = request(&server.address, "GET", "/nowhere", &head, &[]).text();
        let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
        (cookie, rest.split('"').next().unwrap().to_owned())
    }

    fn is_administrator(&self) -> bool {
        self.name == "administrator"
    }

    fn is_worker(&self) -> bool {
        self.name == "worker"
    }

    /// A worker has no pages.
    fn has_session(&self) -> bool {
        !self.token.is_empty() && !self.is_worker()
    }
}

/// What is sent to an address, in the project of `things`: the query and the body.
fn sent(method: &str, path: &str, things: &Things) -> (String, Vec<(&'static str, String)>) {
    let Things {
        data,
        model,
        audit,
        token,
        link,
        ..
    } = things;
    let json = |value: serde_json::Value| vec![("json", value.to_string())];
    let fields = |fields: &[(&'static str, &str)]| {
        let field = |&(name, value): &(&'static str, &str)| (name, value.to_owned());
        fields.iter().map(field).collect::<Vec<_>>()
    };
    let (query, body) = match (method, path) {
        ("GET" | "HEAD", "/api/v1/comparison") => (format!("?jobs={audit},{model}"), vec![]),
        ("GET" | "HEAD", "/api/v1/jobs/{id}/new-pairs") => (format!("?since={audit}"), vec![]),
        ("GET" | "HEAD", "/compare") => (format!("?run={audit}&run={model}"), vec![]),
        ("GET" | "HEAD", "/api/v1/data") => (format!("?before={data}"), vec![]),
        ("GET" | "HEAD", "/api/v1/models") => (format!("?before={model}"), vec![]),
        ("GET" | "HEAD", "/api/v1/jobs") => (format!("?before={audit}"), vec![]),
        ("POST", "/api/v1/work") => (
            String::new(),
            json(json!({"version": env!("CARGO_PKG_VERSION")})),
        ),
        ("POST", "/api/v1/work/{id}") => (String::new(), json(json!({"lease": 1}))),
        ("GET" | "HEAD", "/api/v1/work/{id}/file") => ("?lease=1&path=x".to_owned(), vec![]),
        ("PUT", "/api/v1/work/{id}/file") => {
            ("?lease=1&name=run.toml&bytes=1&sha256=x".to_owned(), vec![])
        }
        ("POST", "/api/v1/jobs") => {
            let asked = json!({
                "kind": "audit", "model": model, "data": data, "protected": ["sex"],
                "search": {"seeds": 5}
            });
            (String::new(), json(asked))
        }
        ("PUT", "/api/v1/data/{id}/schema") => {
            let label = json!({"name": "income", "classes": ["low", "high"]});
            let schema = json!({"name": "x", "label": label, "attribute": []});
            (String::new(), json(schema))
        }
        ("POST", "/api/v1/data/{id}/schema/draft") => {
            (String::new(), json(json!({"label": "nothing"})))
        }
        ("POST", "/api/v1/jobs/{id}/links") => (String::new(), json(json!({"days": 0}))),
        ("POST", "/api/v1/projects") => (String::new(), json(json!({"name": ""}))),
        ("PUT", "/api/v1/projects/{id}") => (String::new(), json(json!({"name": ""}))),
        ("PUT", "/api/v1/projects/{id}/webhook") => (
            String::new(),
            json(json!({"url": "ftp://hooks.example.org"})),
        ),
        ("POST", "/api/v1/projects/{id}/tokens") => {
            let asked = json!({"name": "x", "role": "administrator"});
            (String::new(), json(asked))
        }
        ("PATCH", path) if path.starts_with("/api/") => (String::new(), json(json!({"label": ""}))),
        ("POST", "/projects/{id}/tokens/revoke") => (String::new(), fields(&[("token", token)])),
        ("POST", "/runs/{id}/links/revoke") => (String::new(), fields(&[("link", link)])),
        _ => (String::new(), vec![]),
    };
    (query, body)
}

/// The identifier that stands in the address.
fn named(path: &str, things: &Things) -> String {
    let id = match path.trim_start_matches("/api/v1").split('/').nth(1) {
        Some("data") => &things.data,
        Some("models") => &things.model,
        Some("projects") => &things.project,
        _ => &things.audit,
    };
    let part = match path.contains("/tokens/") {
        true => &things.token,
        false => &things.link,
    };
    path.replace("{id}", id)
        .replace("{part}", part)
        .replace("{secret}", &things.secret)
        .replace("{name}", "nothing.css")
}

/// Whether a request names something that is in a project: in the address, the query or the body.
fn names_a_thing(method: &str, path: &str) -> bool {
    let queried = ["/api/v1/comparison", "/compare"];
    let listed = ["/api/v1/data", "/api/v1/models", "/api/v1/jobs"];
    path.contains("{id}")
        || queried.contains(&path)
        || (method == "POST" && path == "/api/v1/jobs")
        || (["GET", "HEAD"].contains(&method) && listed.contains(&path))
}

/// The status where the table lets in.
fn passes(method: &str, path: &str, who: &Asker) -> Vec<u16> {
    let is_form = ["/columns", "/schema", "/audit", "/people"];
    vec![match (method, path) {
        (_, "/static/{name}") => 404,
        ("POST", "/api/v1/work") => 204,
        // It does not have the job.
        (_, path) if path.starts_with("/api/v1/work/") => 409,
        // The service has no identity provider here.
        (_, path) if path.starts_with("/login/provider") => 404,
        ("GET" | "HEAD", "/" | "/login") => {
            let is_at_home = path == "/" && !who.is_administrator();
            let is_stranger = path == "/login" && !who.has_session();
            if is_at_home || is_stranger { 200 } else { 303 }
        }
        ("GET" | "HEAD", _) => 200,
        ("POST", "/login") => 422,
        ("POST", "/logout") => 303,
        ("POST", "/api/v1/data" | "/api/v1/models") => 422,
        ("POST", "/api/v1/jobs") => 201,
        // Some forms need nothing to be filled in.
        ("POST", "/data/{id}/train" | "/runs/{id}/repair") => return vec![303, 422],
        ("POST", path) if is_form.iter().any(|end| path.ends_with(end)) => 422,
        ("POST", "/jobs/{id}/stop" | "/api/v1/jobs/{id}/stop") => 409,
        ("POST", "/jobs/{id}/resume" | "/api/v1/jobs/{id}/resume") => 409,
        ("POST", path) if path.ends_with("/delete") => 409,
        ("DELETE", path) if path.ends_with("/{part}") || path.ends_with("/webhook") => 204,
        ("DELETE", _) => 409,
        ("POST", path) if path.ends_with("/revoke") || path.ends_with("/remove") => 303,
        _ => 422,
    }]
}

/// The status that the table says.
fn expected(line: Option<&Line>, method: &str, path: &str, who: &Asker, own: bool) -> Vec<u16> {
    let is_api = path.starts_with("/api/");
    let Some(line) = line else {
        return vec![405];
    };
    let is_in = |rank: usize| who.rank.is_some_and(|have| have >= rank);
    let is_let_in = match line.who {
        Who::Anyone => return passes(method, path, who),
        _ if who.token.is_empty() || (!is_api && !who.has_session()) => {
            let is_page = !is_api && (method == "GET" || method == "HEAD");
            return vec![if is_page { 303 } else { 401 }];
        }
        Who::Worker => who.is_worker(),
        _ if who.is_worker() => false,
        Who::AnyToken => true,
        Who::Role(rank) => is_in(rank),
        // To those who are not in it, there is no such project.
        Who::RoleOr(_) if !own && !who.is_administrator() => return vec![404],
        Who::RoleOr(rank) => is_in(rank) || who.is_administrator(),
        Who::Administrator => who.is_administrator(),
    };
    let is_foreign = !own && names_a_thing(method, path) && matches!(line.who, Who::Role(_));
    match (is_let_in, is_foreign) {
        (false, _) => vec![403],
        (true, true) => vec![404],
        (true, false) => passes(method, path, who),
    }
}

struct Asked<'a> {
    server: &'a Server,
    who: &'a Asker,
    method: &'a str,
    path: &'a str,
    things: &'a Things,
    session: &'a (String, String),
}

fn ask(asked: &Asked<'_>) -> Answer {
    let Asked {
        server,
        who,
        method,
        path,
        things,
        session: (cookie, secret),
    } = asked;
    let (query, body) = sent(method, path, things);
    let address = named(path, things) + &query;
    let is_api = path.starts_with("/api/");
    let mut head = vec!["Sec-Fetch-Site: same-origin".to_owned()];
    if is_api && !who.token.is_empty() {
        head.push(format!("Authorization: Bearer {}", who.token));
    }
    if !is_api && !cookie.is_empty() {
        head.push(format!("Cookie: {cookie}"));
    }
    let is_upload = ["/api/v1/data", "/api/v1/models", "/data/new", "/models/new"].contains(path);
    let bytes = match (*method, body.first()) {
        ("GET" | "HEAD" | "DELETE", _) => Vec::new(),
        ("POST", _) if is_upload => {
            let (kind, body) = form(&[("csrf", secret)], "", b"");
            head.push(kind);
            body
        }
        (_, Some(("json", text))) => {
            head.push("Content-Type: application/json".to_owned());
            text.as_bytes().to_vec()
        }
        _ if is_api => {
            head.push("Content-Type: application/json".to_owned());
            Vec::new()
        }
        _ => {
            let kind = "Content-Type: application/x-www-form-urlencoded";
            head.push(kind.to_owned());
            let mut body = format!("csrf={secret}");
            for (name, value) in sent(method, path, things).1 {
                body.push_str(&format!("&{name}={value}"));
            }
            body.into_bytes()
        }
    };
    if *method != "HEAD" {
        return request(&server.address, method, &address, &head, &bytes);
    }
    let (status, headers) = read_head(&mut open(
        &server.address,
        &compose(method, &address, &head, &[]),
    ));
    Answer {
        status,
        headers,
        body: Vec::new(),
    }
}

fn every_answer_is_as_the_table_says(home: &Home) {
    home.new_project("lending");
    home.new_project("hiring");
    let owner = home.token_of("lending", "owner");
    let other = home.token_of("hiring", "owner");
    let most = "100000";
    let server = home.serve(&[
        "--max-rate",
        most,
        "--max-rate-per-token",
        most,
        "--max-rate-per-project",
        most,
        "--max-rate-per-address",
        most,
    ]);
    let mut own = things(&server, &owner);
    let mut foreign = things(&server, &other);
    let root = home.token_of("lending", "administrator");
    let administrator = server.with(&root);
    pin(&administrator, &server.with(&owner), "lending", &own);
    pin(&administrator, &server.with(&other), "hiring", &foreign);

    let lines = table();
    let named_here: BTreeSet<&str> = lines.iter().map(|line| line.path.as_str()).collect();
    let operations = server.contract.all();
    let of_api = operations
        .iter()
        .filter_map(|operation| operation.split(' ').nth(1));
    let there_are: BTreeSet<&str> = of_api.chain(probity::serve::addresses()).collect();
    assert_eq!(named_here, there_are, "the table names every address");

    let mut askers = vec![
        Asker {
            name: "stranger",
            rank: None,
            token: String::new(),
        },
        Asker {
            name: "administrator",
            rank: None,
            token: root.clone(),
        },
        Asker {
            name: "worker",
            rank: None,
            token: home.token_of("lending", "worker"),
        },
    ];
    for (rank, name) in ROLES.into_iter().enumerate() {
        askers.push(Asker {
            name,
            rank: Some(rank),
            token: home.token_of("lending", name),
        });
    }
    let mut requests = 0;
    let mut wrong = Vec::new();
    for who in &askers {
        let session = who.session(&server);
        for path in &named_here {
            for method in METHODS {
                let asked_as = if method == "HEAD" { "GET" } else { method };
                let line = lines
                    .iter()
                    .find(|line| line.path == *path && line.methods.iter().any(|m| m == asked_as));
                for is_own in [true, false] {
                    if !is_own && !names_a_thing(method, path) {
                        continue;
                    }
                    let changes = line.is_some() && !["GET", "HEAD"].contains(&method);
                    if changes && (path.contains("{part}") || path.ends_with("/revoke")) {
                        with_parts(&server.with(&owner), &mut own);
                        with_parts(&server.with(&other), &mut foreign);
                    }
                    let logs_out = *path == "/logout" && method == "POST";
                    let other_session = match logs_out {
                        true => who.session(&server),
                        false => Default::default(),
                    };
                    let answer = ask(&Asked {
                        server: &server,
                        who,
                        method,
                        path,
                        things: if is_own { &own } else { &foreign },
                        session: if logs_out { &other_session } else { &session },
                    });
                    requests += 1;
                    let expected = expected(line, method, path, who, is_own);
                    if !expected.contains(&answer.status) {
                        let whose = if is_own { "own" } else { "foreign" };
                        wrong.push(format!(
                            "{} {method} {path} ({whose}): {} and not {expected:?}",
                            who.name, answer.status
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{requests} requests");
    assert!(requests >= 2000, "{requests}");
    // What others may not see is not in lists either, and jobs cannot read it.
    let client = server.with(&owner);
    for list in ["data", "models", "jobs"] {
        let listed = client.get(&format!("/api/v1/{list}")).expect(200).text();
        for id in [&foreign.data, &foreign.model, &foreign.audit] {
            assert!(!listed.contains(id.as_str()), "{list}");
        }
    }
    for (model, data, runs) in [
        (&foreign.model, &own.data, &own.audit),
        (&own.model, &foreign.data, &own.audit),
        (&own.model, &own.data, &foreign.audit),
    ] {
        let asked = json!({
            "kind": "repair", "modality": "table", "model": model, "data": data, "runs": [runs]
        });
        client
            .send("POST", "/api/v1/jobs", &asked)
            .refuses(404, "no");
    }
    let mixed = format!("/api/v1/comparison?jobs={},{}", own.audit, foreign.audit);
    client.get(&mixed).refuses(404, "job");
    for (audit, since) in [(&own, &foreign), (&foreign, &own)] {
        let path = format!(
            "/api/v1/jobs/{}/new-pairs?since={}",
            audit.audit, since.audit
        );
        client.get(&path).refuses(404, "job");
    }
}
