//! The pages of `probity serve` over a real socket, without a browser: who gets in, which forms are taken, what every answer
//! tells the browser, and that what users type stays text.

#![cfg(feature = "serve")]

#[path = "browser/census.rs"]
mod census;
mod probity_command;

use std::io::{Cursor, Write};
use std::thread;
use std::time::{Duration, Instant};

use census::census;
use probity_command::Workspace;
use probity_command::service::Service;
use ureq::Agent;
use ureq::http::{Request, Response};

/// How long a job may take.
const DEADLINE: Duration = Duration::from_secs(300);

/// A name that would be a script, leave an attribute and close a title, if anything let it.
const NAME: &str = "\"><script>alert('x')</script></title><img src=x onerror=alert(1)>&amp;";

/// A visitor: speaks HTTP as a browser does, with a cookie and the origin of its forms.
struct Visitor<'a> {
    service: &'a Service,
    agent: Agent,
    cookie: String,
}

/// An answer, read.
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    text: String,
}

impl Answer {
    fn of(mut response: Response<ureq::Body>) -> Answer {
        let headers = response.headers().iter();
        let headers = headers
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        Answer {
            status: response.status().as_u16(),
            headers,
            text: response.body_mut().read_to_string().unwrap(),
        }
    }

    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(have, _)| have == name);
        found.map_or("", |(_, value)| value)
    }

    /// The secret that the forms of the page carry.
    fn secret(&self) -> String {
        let (_, rest) = self.text.split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

impl<'a> Visitor<'a> {
    fn new(service: &'a Service) -> Visitor<'a> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            // The service may close a connection whose request it refused before the end.
            .max_idle_connections(0)
            .proxy(None)
            .build();
        Visitor {
            service,
            agent: config.into(),
            cookie: String::new(),
        }
    }

    fn logged_in(service: &'a Service) -> Visitor<'a> {
        let mut visitor = Visitor::new(service);
        let answer = visitor.post("/login", &[("token", service.token())]);
        assert_eq!(answer.status, 303, "{}", answer.text);
        assert_eq!(answer.header("location"), "/");
        let cookie = answer.header("set-cookie");
        visitor.cookie = cookie.split(';').next().unwrap().to_owned();
        visitor
    }

    fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], Vec::new())
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.post_from(self.service.address("").as_str(), path, fields)
    }

    fn post_from(&self, origin: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let pairs: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("origin", origin),
        ];
        let sent = match origin.is_empty() {
            true => &headers[..1],
            false => &headers[..],
        };
        self.send("POST", path, sent, pairs.join("&").into_bytes())
    }

    /// Sends a form with a file.
    fn upload(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        name: &str,
        content: impl AsRef<[u8]>,
    ) -> Answer {
        let boundary = "a-boundary-that-is-not-in-the-file";
        let mut body = String::new();
        for (field, value) in fields {
            body.push_str(&format!(
                "--{boundary}\r\ncontent-disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n"
            ));
        }
        body.push_str(&format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
        ));
        let mut body = body.into_bytes();
        body.extend_from_slice(content.as_ref());
        body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        let kind = format!("multipart/form-data; boundary={boundary}");
        let origin = self.service.address("");
        let headers = [("content-type", kind.as_str()), ("origin", &origin)];
        self.send("POST", path, &headers, body)
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(self.service.address(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !self.cookie.is_empty() {
            request = request.header("cookie", &self.cookie);
        }
        let answer = match method {
            "GET" | "HEAD" => self.agent.run(request.body(()).unwrap()),
            _ => self.agent.run(request.body(body).unwrap()),
        };
        Answer::of(answer.unwrap())
    }

    /// Starts a job by its form; gives its identifier once it is done.
    fn does(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let secret = self.get("/").secret();
        let mut sent = vec![("csrf", secret.as_str())];
        sent.extend_from_slice(fields);
        let answer = self.post(path, &sent);
        assert_eq!(answer.status, 303, "{path}: {}", answer.text);
        let job = answer.header("location").to_owned();
        let start = Instant::now();
        loop {
            let page = self.get(&job);
            assert!(
                !page.text.contains("data-state=\"failed\""),
                "{}",
                page.text
            );
            if page.text.contains("data-state=\"done\"") {
                return job.trim_start_matches("/jobs/").to_owned();
            }
            assert!(start.elapsed() < DEADLINE, "{}", page.text);
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Uploads a small table called `label`; gives its identifier.
    fn with_table(&self, label: &str) -> String {
        let secret = self.get("/").secret();
        let table = "age,sex,income\n30,Male,high\n40,Female,low\n50,Male,high\n35,Female,low\n";
        let fields = [
            ("csrf", secret.as_str()),
            ("label", label),
            ("kind", "table"),
        ];
        let answer = self.upload("/data/new", &fields, "../../people.csv", table);
        assert_eq!(answer.status, 303, "{}", answer.text);
        let address = answer.header("location").to_owned();
        address.split('/').nth(2).unwrap().to_owned()
    }
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[test]
fn only_a_valid_token_gets_in() {
    let workspace = Workspace::new();
    let service = Service::start(&workspace);
    let stranger = Visitor::new(&service);
    for path in [
        "/",
        "/data/new",
        "/runs/0123456789abcdef/samples",
        "/compare",
    ] {
        let answer = stranger.get(path);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, "/login"),
            "{path}"
        );
    }
    for token in [
        "",
        "probity_",
        "probity_0123456789abcdef_00",
        &service.token()[1..],
    ] {
        let answer = stranger.post("/login", &[("token", token)]);
        assert_eq!(answer.status, 422, "{token}");
        assert!(answer.text.contains("not known here"));
        assert!(token.is_empty() || !answer.text.contains(&format!("value=\"{token}\"")));
        assert_eq!(answer.header("set-cookie"), "");
    }
    let answer = stranger.post("/login", &[("token", service.token())]);
    let cookie = answer.header("set-cookie");
    for part in [
        "; HttpOnly",
        "; SameSite=Strict",
        "; Path=/",
        "; Max-Age=43200",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let visitor = Visitor::logged_in(&service);
    assert_eq!(visitor.get("/").status, 200);
    let forged = Visitor {
        cookie: "probity_session=0000".to_owned(),
        ..Visitor::new(&service)
    };
    assert_eq!(forged.get("/").status, 303);
}

#[test]
fn sessions_end() {
    let workspace = Workspace::new();
    let service = Service::start(&workspace);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let answer = visitor.post("/logout", &[("csrf", &secret)]);
    assert_eq!((answer.status, answer.header("location")), (303, "/login"));
    assert!(answer.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(
        visitor.get("/").status,
        303,
        "the cookie is worth nothing any more"
    );

    let visitor = Visitor::logged_in(&service);
    let database = rusqlite::Connection::open(workspace.path("service/probity.sqlite")).unwrap();
    database
        .execute("UPDATE sessions SET expires = 1", [])
        .unwrap();
    assert_eq!(
        visitor.get("/").status,
        303,
        "sessions last for a while only"
    );
    let answer = visitor.post("/logout", &[("csrf", "")]);
    assert_eq!(answer.status, 401);
    assert!(answer.text.contains("not logged in any more"));

    let visitor = Visitor::logged_in(&service);
    let id = service.token().split('_').nth(1).unwrap();
    workspace
        .line(&format!("serve revoke --data-dir service {id}"))
        .exits(0);
    assert_eq!(
        visitor.get("/").status,
        303,
        "a withdrawn token ends its sessions"
    );
}

#[test]
fn forms_are_taken_from_the_own_session_only() {
    let workspace = Workspace::new();
    let service = Service::start(&workspace);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let foreign = Visitor::logged_in(&service).get("/").secret();
    assert_ne!(secret, foreign);
    let id = visitor.with_table("people");
    let posts = [
        "/logout".to_owned(),
        format!("/data/{id}/columns"),
        format!("/data/{id}/schema"),
        format!("/data/{id}/train"),
        format!("/data/{id}/delete"),
        format!("/models/{id}/audit"),
        format!("/models/{id}/delete"),
        format!("/jobs/{id}/stop"),
        format!("/jobs/{id}/resume"),
        format!("/jobs/{id}/delete"),
        format!("/runs/{id}/repair"),
    ];
    for path in &posts {
        for wrong in ["", "0", &foreign] {
            let answer = visitor.post(path, &[("csrf", wrong)]);
            assert_eq!(answer.status, 403, "{path}");
        }
        for origin in ["", "null", "http://evil.example"] {
            let answer = visitor.post_from(origin, path, &[("csrf", &secret)]);
            assert_eq!(answer.status, 403, "{path} from '{origin}'");
        }
    }
    for path in ["/data/new", "/models/new"] {
        let answer = visitor.upload(path, &[("csrf", &foreign)], "people.csv", "a,b\n1,2\n");
        assert_eq!(answer.status, 403, "{path}");
        let answer = visitor.upload(path, &[], "people.csv", "a,b\n1,2\n");
        assert_eq!(answer.status, 403, "{path}");
    }
    let answer = visitor.post_from(
        "http://evil.example",
        "/login",
        &[("token", service.token())],
    );
    assert_eq!(answer.status, 403);
    assert_eq!(
        visitor.get(&format!("/data/{id}")).status,
        200,
        "nothing was deleted"
    );
    let answer = visitor.post(&format!("/data/{id}/delete"), &[("csrf", &secret)]);
    assert_eq!((answer.status, answer.header("location")), (303, "/"));
    assert_eq!(visitor.get(&format!("/data/{id}")).status, 404);
}

#[test]
fn every_answer_tells_the_browser_what_to_refuse() {
    let workspace = Workspace::new();
    let service = Service::start(&workspace);
    let visitor = Visitor::logged_in(&service);
    let id = visitor.with_table("people");
    let page = visitor.get("/");
    let linked = |attribute: &str| {
        let (_, rest) = page
            .text
            .split_once(&format!("{attribute}=\"/static/"))
            .unwrap();
        format!("/static/{}", rest.split('"').next().unwrap())
    };
    let assets = [linked("rel=\"stylesheet\" href"), linked("src")];
    let mut paths = vec![
        "/".to_owned(),
        "/login".to_owned(),
        "/nowhere".to_owned(),
        "/static/nothing.css".to_owned(),
        "/favicon.ico".to_owned(),
        "/compare".to_owned(),
        "/compare?run=x".to_owned(),
        "/data/new".to_owned(),
        "/models/new".to_owned(),
        "/data/..%2F..%2Fetc".to_owned(),
        format!("/data/{id}"),
        format!("/data/{id}/columns"),
        format!("/data/{id}/train"),
        format!("/data/{id}/delete"),
        "/runs/0123456789abcdef".to_owned(),
        "/runs/0123456789abcdef/report".to_owned(),
        "/runs/0123456789abcdef/samples".to_owned(),
        "/jobs/0123456789abcdef/events".to_owned(),
    ];
    paths.extend(assets.clone());
    for who in [&visitor, &Visitor::new(&service)] {
        for path in &paths {
            let answer = who.get(path);
            let policy = answer.header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
            assert!(!policy.contains("unsafe"), "{path}: {policy}");
            assert!(
                policy.contains("frame-ancestors 'none'"),
                "{path}: {policy}"
            );
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
            assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
            assert_eq!(
                answer.header("cross-origin-opener-policy"),
                "same-origin",
                "{path}"
            );
            let is_asset = assets.contains(path);
            let kept = answer.header("cache-control");
            assert_eq!(kept.contains("immutable"), is_asset, "{path}: {kept}");
            assert_eq!(kept == "no-store", !is_asset, "{path}: {kept}");
            assert!(
                !answer.text.contains("<script>") && !answer.text.contains(" style="),
                "{path}"
            );
        }
    }
}

#[test]
fn what_users_type_stays_text() {
    let workspace = Workspace::new();
    let service = Service::start(&workspace);
    let visitor = Visitor::logged_in(&service);
    let id = visitor.with_table(NAME);
    for path in [
        "/".to_owned(),
        format!("/data/{id}"),
        format!("/data/{id}/columns"),
        format!("/data/{id}/delete"),
    ] {
        let answer = visitor.get(&path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(
            !answer.text.contains("<script>alert") && !answer.text.contains("<img"),
            "{path}"
        );
        assert!(
            answer.text.contains("alert(&#39;x&#39;)"),
            "{path}: {}",
            answer.text
        );
    }
    // A form that comes back holds what was entered, as text.
    let secret = visitor.get("/").secret();
    let fields = [
        ("csrf", secret.as_str()),
        ("role-0", "\"><script>"),
        ("role-1", "label"),
        ("role-2", "label"),
    ];
    let answer = visitor.post(&format!("/data/{id}/columns"), &fields);
    assert_eq!(answer.status, 422);
    assert!(!answer.text.contains("<script>"), "{}", answer.text);
    // The names in the file are a user's too.
    let table = "age,\"<script>alert(2)</script>\",income\n30,\"<b>x</b>\",high\n40,y,low\n";
    let fields = [("csrf", secret.as_str()), ("label", "names")];
    let answer = visitor.upload("/data/new", &fields, "x.csv", table);
    let columns = visitor.get(answer.header("location"));
    assert!(columns.text.contains("alert(2)") && columns.text.contains("x&#60;/b&#62;"));
    assert!(!columns.text.contains("<script>") && !columns.text.contains("<b>"));
}

#[test]
fn addresses_and_methods_that_do_not_exist_are_pages_too() {
    let workspace = Workspace::new();
    let service = Service::start(&workspace);
    let visitor = Visitor::logged_in(&service);
    for path in [
        "/nowhere",
        "/data/0123456789abcdef",
        "/data/0123456789ABCDEF",
        "/data/..%2f..%2fetc%2fpasswd",
        "/models/%00",
        "/jobs/0123456789abcdef",
        "/runs/0123456789abcdef/report",
        "/runs/0123456789abcdef/samples",
        "/compare?run=../x&run=y",
    ] {
        let answer = visitor.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            answer.header("content-type").starts_with("text/html"),
            "{path}"
        );
        assert!(answer.text.contains("Back to the overview"), "{path}");
    }
    for (method, path) in [
        ("PUT", "/"),
        ("DELETE", "/data/new"),
        ("POST", "/compare"),
        ("PATCH", "/login"),
    ] {
        let answer = visitor.send(method, path, &[], Vec::new());
        assert_eq!(answer.status, 405, "{method} {path}");
        assert!(
            answer.text.contains("Back to the overview"),
            "{method} {path}"
        );
    }
    let answer = visitor.get("/jobs/0123456789abcdef/stop");
    assert_eq!(answer.status, 405, "no GET changes anything");
}

#[test]
fn broken_forms_are_refused() {
    let workspace = Workspace::new();
    let service = Service::start(&workspace);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let csrf = ("csrf", secret.as_str());
    let origin = service.address("");
    let json = [
        ("content-type", "application/json"),
        ("origin", origin.as_str()),
    ];
    assert_eq!(
        visitor
            .send("POST", "/logout", &json, b"{}".to_vec())
            .status,
        415
    );
    let broken = [
        ("content-type", "multipart/form-data; boundary=x"),
        ("origin", origin.as_str()),
    ];
    let answer = visitor.send("POST", "/data/new", &broken, b"--x\r\nnonsense".to_vec());
    assert_eq!(answer.status, 400, "{}", answer.text);
    let long = "x".repeat(70_000);
    let answer = visitor.upload(
        "/data/new",
        &[csrf, ("label", &long)],
        "a.csv",
        "a,b\n1,2\n",
    );
    assert_eq!(answer.status, 413);
    for (name, content, status, needle) in [
        ("", "a,b\n1,2\n", 422, "Choose a file"),
        ("people.exe", "a,b\n1,2\n", 422, "must end in .csv"),
        ("people.csv", "", 422, "empty"),
        ("people.csv", "a,b\n1,2,3\n", 422, ""),
        ("people.parquet", "no parquet", 422, ""),
    ] {
        let answer = visitor.upload("/data/new", &[csrf, ("label", "x")], name, content);
        assert_eq!(answer.status, status, "{name} {content}: {}", answer.text);
        assert!(
            answer.text.contains("id=\"file-wrong\"") && answer.text.contains(needle),
            "{name}: {}",
            answer.text
        );
        assert!(
            answer.text.contains("href=\"#file\""),
            "the summary links to the field"
        );
    }
    let answer = visitor.upload(
        "/models/new",
        &[csrf, ("label", "x")],
        "m.zip",
        "no archive",
    );
    assert_eq!(answer.status, 422, "{}", answer.text);
    assert!(answer.text.contains("id=\"file-wrong\""));
}

#[test]
fn texts_are_audited_and_repaired() {
    let workspace = Workspace::new();
    workspace
        .line("data generate comments --rows 600 --out comments.csv")
        .exits(0);
    let service = Service::start(&workspace);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let fields = [
        ("csrf", secret.as_str()),
        ("label", "comments"),
        ("kind", "texts"),
    ];
    let comments = workspace.read("comments.csv");
    let answer = visitor.upload("/data/new", &fields, "comments.csv", &comments);
    assert_eq!(answer.status, 303, "{}", answer.text);
    let data = answer.header("location").to_owned();
    assert!(visitor.get(&data).text.contains("600\u{a0}texts"));
    assert_eq!(visitor.get(&format!("{data}/columns")).status, 404);

    let form = visitor.get(&format!("{data}/train")).text;
    assert!(form.contains("Column with the texts"), "{form}");
    let network = [
        ("text_column", "0"),
        ("label_column", "1"),
        ("layers", "1"),
        ("epochs", "3"),
    ];
    let model = visitor.does(&format!("{data}/train"), &network);
    let page = visitor.get(&format!("/models/{model}")).text;
    assert!(page.contains("decides about texts"), "{page}");

    let form = visitor.get(&format!("/models/{model}/audit")).text;
    assert!(form.contains("comments, column comment_text"), "{form}");
    let start = format!("{}.0", data.trim_start_matches("/data/"));
    let search = [
        ("data", start.as_str()),
        ("protected", "gender"),
        ("effort", "quick"),
        ("seeds", "20"),
        ("local", "5"),
    ];
    let audit = visitor.does(&format!("/models/{model}/audit"), &search);
    let page = visitor.get(&format!("/runs/{audit}")).text;
    assert!(
        page.contains("of texts with a protected term are decided differently"),
        "{page}"
    );
    let report = visitor.get(&format!("/runs/{audit}/report"));
    assert_eq!(report.status, 200, "{}", report.text);
    let policy = report.header("content-security-policy");
    assert!(
        policy.contains("style-src 'sha256-") && !policy.contains("'self'"),
        "{policy}"
    );

    let form = visitor.get(&format!("/runs/{audit}/repair"));
    assert_eq!(form.status, 200, "{}", form.text);
}

#[test]
fn a_model_is_uploaded_and_audited() {
    let workspace = Workspace::new();
    workspace.write("people.csv", census(300));
    workspace
        .line("schema infer people.csv --label income --protected sex --out people.toml")
        .exits(0);
    workspace
        .line("train --data people.csv --schema people.toml --epochs 3 --out model")
        .exits(0);
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["model.toml", "weights.safetensors", "run.toml"] {
        let options = zip::write::SimpleFileOptions::default();
        archive
            .start_file(format!("people/{name}"), options)
            .unwrap();
        let file = std::fs::read(workspace.path("model").join(name)).unwrap();
        archive.write_all(&file).unwrap();
    }
    let archive = archive.finish().unwrap().into_inner();

    let service = Service::start(&workspace);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let fields = [("csrf", secret.as_str()), ("label", "ours")];
    let answer = visitor.upload("/models/new", &fields, "model.zip", &archive);
    assert_eq!(answer.status, 303, "{}", answer.text);
    let model = answer.header("location").to_owned();
    let page = visitor.get(&model).text;
    assert!(page.contains("ours") && page.contains("uploaded"), "{page}");
    // Without data that fit, an audit has nothing to start from.
    visitor.with_table("other columns");
    let form = visitor.get(&format!("{model}/audit")).text;
    assert!(form.contains("Data are needed"), "{form}");
    let fields = [("csrf", secret.as_str()), ("label", "people")];
    let people = workspace.read("people.csv");
    let answer = visitor.upload("/data/new", &fields, "people.csv", &people);
    let data = answer
        .header("location")
        .split('/')
        .nth(2)
        .unwrap()
        .to_owned();
    let search = [
        ("data", data.as_str()),
        ("protected", "sex"),
        ("effort", "quick"),
        ("seeds", "20"),
    ];
    let audit = visitor.does(&format!("{model}/audit"), &search);
    let page = visitor.get(&format!("/runs/{audit}")).text;
    assert!(
        page.contains("of random inputs are decided differently"),
        "{page}"
    );
    let answer = visitor.post(&format!("/jobs/{audit}/delete"), &[("csrf", &secret)]);
    assert_eq!(answer.status, 303, "{}", answer.text);
    assert_eq!(visitor.get(&format!("/runs/{audit}")).status, 404);
    let answer = visitor.post(&format!("{model}/delete"), &[("csrf", &secret)]);
    assert_eq!(answer.status, 303, "{}", answer.text);
    assert_eq!(visitor.get(&model).status, 404);
}
