//! Runs `probity serve` in a folder of its own, and asks it as a user would.

#![allow(dead_code)] // Each test program uses its own part of this.

#[cfg(target_os = "linux")]
pub mod attack;
pub mod contract;
pub mod http;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use probity::data::builtin;
use probity::data::synthetic::synthetic_census;
use probity_testing::{Authority, Gate, Postgresql};
use serde_json::{Value, json};
use tempfile::TempDir;

use contract::Contract;
use http::{Answer, form, open, read_chunk, read_head, request};

/// A folder with a service, which is started and ended as often as a test wants.
pub struct Home {
    folder: TempDir,
    database: Option<Mutex<Postgresql>>,
    token: String,
    gate: Gate,
}

/// Makes of each function that is named, which takes a home, a test for each database.
#[allow(unused_macros)] // Not all test programs use it.
macro_rules! on_each_database {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[test]
            fn with_sqlite() {
                super::$test(&$crate::service::Home::new());
            }

            #[test]
            fn with_postgresql() {
                if let Some(home) = $crate::service::Home::on_postgresql() {
                    super::$test(&home);
                }
            }
        }
    )*};
}
#[allow(unused_imports)] // The same.
pub(crate) use on_each_database;

/// A service that runs; killed when dropped.
pub struct Server {
    child: Child,
    log: Option<JoinHandle<String>>,
    /// Where it listens.
    pub address: String,
    /// The token that requests are made with.
    pub token: String,
    /// What it says about itself.
    pub contract: Contract,
}

impl Home {
    /// A folder with a data directory and a token.
    pub fn new() -> Home {
        Home::with(None)
    }

    /// The same with a database of PostgreSQL, which several services may share; `None` after saying
    /// why the test is skipped.
    pub fn on_postgresql() -> Option<Home> {
        let database = Postgresql::start_or_skip()?;
        Some(Home::with(Some(database)))
    }

    fn with(database: Option<Postgresql>) -> Home {
        let folder = TempDir::new().expect("a folder");
        let mut home = Home {
            folder,
            database: database.map(Mutex::new),
            token: String::new(),
            gate: Gate::open_at("round:2"),
        };
        home.token = home.new_token("test");
        home
    }

    /// Whether several services may run at the same time.
    pub fn is_for_several(&self) -> bool {
        self.database.is_some()
    }

    fn server(&self) -> MutexGuard<'_, Postgresql> {
        let database = self.database.as_ref().expect("a server");
        database.lock().expect("no test panicked with it")
    }

    /// Ends the server of the database at once.
    pub fn stop_database(&self) {
        self.server().stop();
    }

    /// Starts it again.
    pub fn start_database(&self) {
        self.server().start();
    }

    /// Carries out a statement in the database, beside the service, and returns the number that it
    /// answers, if it answers one.
    ///
    /// # Errors
    /// What the database says that is wrong with it.
    pub fn ask_database(&self, statement: &str) -> Result<Option<i64>, String> {
        if self.is_for_several() {
            let answer = self.server().ask(statement)?;
            return Ok(answer.parse().ok());
        }
        let ask = || -> rusqlite::Result<Option<i64>> {
            let file = self.data_dir().join("probity.sqlite");
            let database = rusqlite::Connection::open(file)?;
            // The service writes there, too.
            database.busy_timeout(http::PATIENCE)?;
            let mut statement = database.prepare(statement)?;
            let mut rows = statement.query([])?;
            rows.next()?.map(|row| row.get(0)).transpose()
        };
        ask().map_err(|error| error.to_string())
    }

    /// The address of the server's database, and the password of its user.
    pub fn database_address(&self) -> (String, &'static str) {
        let database = self.server();
        (database.url(), database.password())
    }

    /// Lets the server of the database speak TLS, beside its socket, and returns its address by
    /// `name`.
    pub fn encrypted_address(&self, name: &str, authority: &Authority) -> String {
        let mut database = self.server();
        database.encrypt(authority);
        database.url_at(name)
    }

    /// Adds the options that say where the service keeps what it has.
    pub fn storage(&self, command: &mut Command) {
        self.storage_in(&self.data_dir(), command);
    }

    /// The same with another data directory.
    fn storage_in(&self, data_dir: &Path, command: &mut Command) {
        command.arg("--data-dir").arg(data_dir);
        if self.is_for_several() {
            let database = self.server();
            command.args(["--database", &database.url(), "--database-password"]);
            command.arg(database.password_file());
        }
    }

    /// Holds the jobs of the service and of its workers in the middle of their work, in their second
    /// round or epoch, from now on.
    pub fn hold(&self) {
        self.gate.close();
    }

    /// Waits until `jobs` of them are held.
    #[track_caller]
    pub fn held(&self, jobs: usize) {
        self.gate.wait_for(jobs, || None);
    }

    /// Lets the jobs that are held go on to their next round.
    pub fn step(&self) {
        self.gate.step();
    }

    /// Lets all jobs go on.
    pub fn go_on(&self) {
        self.gate.open();
    }

    /// A training of the table `data` that does not end by itself: it is held from now on.
    pub fn endless(&self, data: &str) -> Value {
        self.hold();
        json!({
            "kind": "train", "modality": "table", "data": data, "network": {"hidden": [4]},
            "training": {"epochs": 1000}
        })
    }

    /// The environment variable with which processes heed the gate.
    pub fn gate(&self) -> (&'static str, String) {
        self.gate.variable()
    }

    /// Makes a token.
    pub fn new_token(&self, label: &str) -> String {
        self.command(&["serve", "token", "--name", label, "--quiet"])
    }

    /// Makes a token with a role in a project, or over all.
    pub fn token_of(&self, project: &str, role: &str) -> String {
        let mut arguments = vec!["serve", "token", "--name", role, "--role", role, "--quiet"];
        // Administrators and workers are in no project.
        if !["administrator", "worker"].contains(&role) {
            arguments.extend(["--project", project]);
        }
        self.command(&arguments)
    }

    /// Makes a project.
    pub fn new_project(&self, name: &str) {
        self.command(&["serve", "project", name]);
    }

    /// What a command about the data directory prints.
    pub fn command(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
        command.args(arguments);
        self.storage(&mut command);
        let output = command.output().expect("the command runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout)
            .expect("text")
            .trim()
            .to_owned()
    }

    /// The data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data dir")
    }

    /// The run directory of a job.
    pub fn run(&self, job: &str) -> PathBuf {
        self.data_dir().join("runs").join(job)
    }

    /// A folder beside the data directory.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the service.
    pub fn serve(&self, options: &[&str]) -> Server {
        self.serve_at("0", options)
    }

    /// Starts the service at a port.
    pub fn serve_at(&self, port: &str, options: &[&str]) -> Server {
        self.begin(self.serving(port, options), self.token.clone())
    }

    /// Starts the service with more variables in its environment.
    pub fn serve_in(&self, environment: &[(&str, String)], options: &[&str]) -> Server {
        let mut command = self.serving("0", options);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        self.begin(command, self.token.clone())
    }

    /// Starts another service of the same database, whose data directory `name` lies beside the
    /// first one's.
    pub fn serve_beside(
        &self,
        name: &str,
        environment: &[(&str, String)],
        options: &[&str],
    ) -> Server {
        let mut command = self.serving_in(&self.beside(name), "0", options);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        self.begin(command, self.token.clone())
    }

    /// The command that starts the service at a port.
    pub fn serving(&self, port: &str, options: &[&str]) -> Command {
        self.serving_in(&self.data_dir(), port, options)
    }

    fn serving_in(&self, data_dir: &Path, port: &str, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
        command.args(["serve", "--port", port]);
        self.storage_in(data_dir, &mut command);
        command.args(options);
        command
    }

    /// Starts the service with a data directory on a disk of its own with so many bytes; none where
    /// this user cannot mount one.
    #[cfg(target_os = "linux")]
    pub fn serve_on_a_small_disk(&self, bytes: u64, options: &[&str]) -> Option<Server> {
        let disk = self.folder.path().join("disk");
        std::fs::create_dir(&disk).expect("a folder");
        let mount = "mount -t tmpfs -o \"size=$1\" disk \"$2\"";
        let mounts = Command::new("unshare")
            .args(["-Urm", "sh", "-c", mount, "sh", &bytes.to_string()])
            .arg(&disk)
            .output();
        if !mounts.is_ok_and(|output| output.status.success()) {
            return None;
        }
        // The disk is there for these processes alone: the token is made among them.
        let token = self.folder.path().join("token");
        let script = format!(
            "{mount} && \"$3\" serve token --quiet --data-dir \"$2/data\" > \"$4\" && \
             data=\"$2/data\" && probity=\"$3\" && shift 4 && \
             exec \"$probity\" serve --port 0 --data-dir \"$data\" \"$@\""
        );
        let mut command = Command::new("unshare");
        command
            .args(["-Urm", "sh", "-c", &script, "sh", &bytes.to_string()])
            .arg(&disk)
            .arg(env!("CARGO_BIN_EXE_probity"))
            .arg(&token)
            .args(options);
        let mut server = self.begin(command, String::new());
        let token = std::fs::read_to_string(token).expect("a token");
        server.token = token.trim().to_owned();
        Some(server)
    }

    fn begin(&self, mut command: Command, token: String) -> Server {
        let (name, gate) = self.gate();
        // Its jobs look for no GPU: to ask the drivers takes several times as long as a small run.
        let mut child = command
            .env("VK_DRIVER_FILES", "/dev/null")
            .env(name, gate)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let log = collect(child.stderr.take().expect("a log"));
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("an output"))
            .read_line(&mut line)
            .expect("the first line");
        let Some(address) = line.trim().strip_prefix("Probity listens on http://") else {
            panic!("'{line}', {}", log.join().unwrap_or_default());
        };
        let address = address.to_owned();
        let document = request(&address, "GET", "/api/v1/openapi.json", &[], &[]);
        Server {
            child,
            log: Some(log),
            contract: Contract::new(document.expect(200).json()),
            address,
            token,
        }
    }
}

/// Somebody with a token of their own.
pub struct Client<'a> {
    server: &'a Server,
    /// The token.
    pub token: String,
}

impl Client<'_> {
    /// A request without a body.
    pub fn ask(&self, method: &str, path: &str) -> Answer {
        self.send_text(method, path, "")
    }

    /// `GET`.
    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path)
    }

    /// A request with a body of JSON.
    pub fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send_text(method, path, &body.to_string())
    }

    fn send_text(&self, method: &str, path: &str, body: &str) -> Answer {
        let head = [
            format!("Authorization: Bearer {}", self.token),
            "Content-Type: application/json".to_owned(),
        ];
        let answer = request(&self.server.address, method, path, &head, body.as_bytes());
        self.server.contract.check(method, path, &answer);
        answer
    }

    /// Uploads a table; gives its identifier.
    pub fn table(&self, label: &str, file: &[u8]) -> Answer {
        let (kind, body) = form(&[("kind", "table"), ("label", label)], "a.csv", file);
        let head = [format!("Authorization: Bearer {}", self.token), kind];
        let path = "/api/v1/data";
        let answer = request(&self.server.address, "POST", path, &head, &body);
        self.server.contract.check("POST", path, &answer);
        answer
    }
}

/// Reads a log to its end, beside whatever else happens.
fn collect(mut stderr: ChildStderr) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    })
}

impl Server {
    /// The same service, asked with another token.
    pub fn with(&self, token: &str) -> Client<'_> {
        Client {
            server: self,
            token: token.to_owned(),
        }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The address of a page.
    pub fn page(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The head of requests with its token.
    pub fn head(&self) -> Vec<String> {
        vec![format!("Authorization: Bearer {}", self.token)]
    }

    /// A request without a body.
    pub fn ask(&self, method: &str, path: &str) -> Answer {
        let answer = request(&self.address, method, path, &self.head(), &[]);
        self.contract.check(method, path, &answer);
        answer
    }

    /// `GET`.
    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path)
    }

    /// A request with a body of JSON.
    pub fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send_text(method, path, &body.to_string())
    }

    /// A request with a body that says it is JSON.
    pub fn send_text(&self, method: &str, path: &str, body: &str) -> Answer {
        let mut head = self.head();
        head.push("Content-Type: application/json".to_owned());
        let answer = request(&self.address, method, path, &head, body.as_bytes());
        self.contract.check(method, path, &answer);
        answer
    }

    /// Sends a form with a file.
    pub fn upload(&self, path: &str, texts: &[(&str, &str)], name: &str, file: &[u8]) -> Answer {
        let (kind, body) = form(texts, name, file);
        let mut head = self.head();
        head.push(kind);
        let answer = request(&self.address, "POST", path, &head, &body);
        self.contract.check("POST", path, &answer);
        answer
    }

    /// Uploads the synthetic census with its schema, `sex` and `origin` protected; gives its
    /// identifier.
    pub fn census(&self, rows: usize) -> String {
        let fields = [("kind", "table"), ("label", "Census")];
        let answer = self.upload("/api/v1/data", &fields, "people.csv", &census(rows));
        let id = text(&answer.expect(201).json()["id"]);
        let draft = json!({"label": "income", "protected": ["sex", "origin"]});
        self.send("POST", &format!("/api/v1/data/{id}/schema/draft"), &draft)
            .expect(200);
        id
    }

    /// Starts a job; gives its identifier.
    pub fn start(&self, specification: &Value) -> String {
        let answer = self.send("POST", "/api/v1/jobs", specification).expect(201);
        text(&answer.json()["id"])
    }

    /// Follows the events of a job until `is_it`; gives the view that it was, and fails when the
    /// events end before.
    pub fn follow(&self, job: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let path = format!("/api/v1/jobs/{job}/events");
        let bytes = http::compose("GET", &path, &self.head(), &[]);
        let mut stream = open(&self.address, &bytes);
        let (status, headers) = read_head(&mut stream);
        assert_eq!(status, 200, "{headers:?}");
        let begun = Answer {
            status,
            headers,
            body: Vec::new(),
        };
        self.contract.check("GET", &path, &begun);
        let mut text = String::new();
        let mut last = Value::Null;
        while let Some(chunk) = read_chunk(&mut stream) {
            text.push_str(&String::from_utf8(chunk).expect("UTF-8"));
            while let Some((event, rest)) = text.split_once("\n\n") {
                if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data: ")) {
                    last = serde_json::from_str(data).expect("JSON");
                    if is_it(&last) {
                        return last;
                    }
                }
                text = rest.to_owned();
            }
        }
        panic!("the events ended with {last}");
    }

    /// Asks for a job until `is_it`; gives the view that it was.
    #[track_caller]
    pub fn poll(&self, job: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut view = Value::Null;
        wait_until("a job is as it shall be", || {
            view = self.get(&format!("/api/v1/jobs/{job}")).expect(200).json();
            is_it(&view)
        });
        view
    }

    /// Waits until a job is at an end, and gives its last view.
    pub fn end_of(&self, job: &str) -> Value {
        self.follow(job, |view| {
            ["done", "failed", "stopped"].contains(&view["state"].as_str().unwrap_or_default())
        })
    }

    /// Waits until a job is done.
    pub fn done(&self, job: &str) -> Value {
        let view = self.end_of(job);
        assert_eq!(view["state"], "done", "{view}");
        view
    }

    /// A small classifier of the census `data`; gives the identifier of the model.
    pub fn small_model(&self, data: &str) -> String {
        let job = self.start(&json!({
            "kind": "train", "modality": "table", "data": data, "network": {"hidden": [8]}, "training": {"epochs": 3}
        }));
        self.done(&job);
        job
    }

    /// Ends it at once, as the system does when it has no memory left.
    pub fn kill(mut self) -> String {
        self.child.kill().expect("it can be killed");
        self.finish()
    }

    /// Asks it to end, and waits until it has; gives its log.
    #[cfg(unix)]
    pub fn terminate(mut self) -> String {
        use nix::sys::signal::{Signal, kill};
        use nix::unistd::Pid;
        let id = i32::try_from(self.child.id()).expect("a process id");
        kill(Pid::from_raw(id), Signal::SIGTERM).expect("it can be asked");
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "{status}");
        self.finish()
    }

    fn finish(&mut self) -> String {
        self.child.wait().expect("it ends");
        let log = self.log.take().expect("a log");
        log.join().expect("the log ends")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `is_so`, which `what` says in words.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < http::PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A string in JSON.
pub fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// The synthetic census as CSV.
pub fn census(rows: usize) -> Vec<u8> {
    let schema = builtin::schema("synthetic-census")
        .expect("it is valid")
        .expect("it ships");
    let table = synthetic_census(&schema, rows, 7);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = schema.attributes.iter().map(|one| one.name.as_str());
    writer
        .write_record(names.chain([schema.label.name.as_str()]))
        .expect("memory");
    for row in 0..rows {
        let codes = table.row(row).iter().zip(&schema.attributes);
        let class = &schema.label.classes[table.labels()[row] as usize];
        let cells = codes.map(|(&code, attribute)| attribute.decode(code));
        writer
            .write_record(cells.chain([class.clone()]))
            .expect("memory");
    }
    writer.into_inner().expect("memory")
}

/// The names in a folder, sorted.
pub fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}
