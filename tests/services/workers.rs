//! Runs `probity work` beside a service, and asks the service as a worker does.

use std::io::Read;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use crate::service::http::{Answer, request};
use crate::service::{Home, Server, text, wait_until};
use serde_json::{Value, json};

/// The SHA-256 of `content`.
pub fn sha256(mut content: &[u8]) -> String {
    probity::run::run_directory::sha256_of(&mut content).expect("memory")
}

/// A worker that runs; killed when dropped.
pub struct Worker {
    child: Child,
    log: Option<JoinHandle<String>>,
}

impl Worker {
    /// Starts the worker called `name` of the service at `address`, with `token`, in a folder of its
    /// own.
    pub fn start(home: &Home, address: &str, name: &str, token: &str, options: &[&str]) -> Worker {
        Worker::start_with(home, address, (name, token), options, home.gate())
    }

    /// The same, with the gate of its jobs.
    pub fn start_with(
        home: &Home,
        address: &str,
        (name, token): (&str, &str),
        options: &[&str],
        gate: (&'static str, String),
    ) -> Worker {
        let mut child = Command::new(env!("CARGO_BIN_EXE_probity"))
            .args(["work", "--service", &format!("http://{address}")])
            .arg("--work-dir")
            .arg(home.beside(name))
            .args(options)
            .env("PROBITY_TOKEN", token)
            .env(gate.0, gate.1)
            // Its jobs look for no GPU.
            .env("VK_DRIVER_FILES", "/dev/null")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the worker starts");
        let mut stderr = child.stderr.take().expect("a log");
        let log = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Worker {
            child,
            log: Some(log),
        }
    }

    /// What it said, once it has ended by itself.
    pub fn has_ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().expect("a process")?;
        let log = self.log.take()?.join().expect("the log ends");
        Some(format!("{status}: {log}"))
    }

    /// Ends it at once.
    pub fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }

    /// Sends a signal.
    #[cfg(unix)]
    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let id = i32::try_from(self.child.id()).expect("a process id");
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), signal).expect("it can be sent");
    }

    /// Waits for its end; gives its exit code and its log.
    pub fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("it ends");
        let log = self.log.take().expect("a log").join();
        (status.code(), log.expect("the log ends"))
    }

    /// Asks it to end, and waits until it has; gives its log.
    #[cfg(unix)]
    pub fn terminate(self) -> String {
        self.signal(nix::sys::signal::Signal::SIGTERM);
        let (code, log) = self.end();
        assert_eq!(code, Some(0), "{log}");
        log
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Somebody with the token of a worker who asks as one does.
pub struct Hand<'a> {
    server: &'a Server,
    /// The token.
    pub token: String,
}

impl<'a> Hand<'a> {
    /// One with a token of its own.
    pub fn new(home: &Home, server: &'a Server) -> Hand<'a> {
        Hand::with(server, &home.token_of("main", "worker"))
    }

    /// One with this token.
    pub fn with(server: &'a Server, token: &str) -> Hand<'a> {
        Hand {
            server,
            token: token.to_owned(),
        }
    }

    fn ask(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        let head = [
            format!("Authorization: Bearer {}", self.token),
            format!("Content-Type: {kind}"),
        ];
        let answer = request(&self.server.address, method, path, &head, body);
        self.server.contract.check(method, path, &answer);
        answer
    }

    /// Asks for a job in the words of a worker of `version`.
    pub fn take_as(&self, version: &str) -> Answer {
        let body = json!({ "version": version }).to_string();
        self.ask("POST", "/api/v1/work", "application/json", body.as_bytes())
    }

    /// Takes a job; asks until there is one.
    pub fn take(&self) -> Value {
        let mut taken = Value::Null;
        wait_until("there is a job", || {
            let answer = self.take_as(env!("CARGO_PKG_VERSION"));
            let is_there = answer.status == 200;
            if is_there {
                taken = answer.json();
            } else {
                answer.expect(204);
            }
            is_there
        });
        taken
    }

    /// Says something about a job.
    pub fn report(&self, leased: &Value, more: Value) -> Answer {
        let mut report = json!({ "lease": leased["lease"] });
        let fields = report.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        let path = format!("/api/v1/work/{}", text(&leased["job"]));
        let body = report.to_string();
        self.ask("POST", &path, "application/json", body.as_bytes())
    }

    /// Asks for a file of a job.
    pub fn fetch(&self, leased: &Value, path: &str) -> Answer {
        let query = format!("lease={}&path={path}", leased["lease"]);
        let path = format!("/api/v1/work/{}/file?{query}", text(&leased["job"]));
        self.ask("GET", &path, "text/plain", &[])
    }

    /// Sends a file of a run that is announced with `bytes` and `sha256`.
    pub fn send_as(
        &self,
        leased: &Value,
        name: &str,
        (bytes, sha256): (usize, &str),
        content: &[u8],
    ) -> Answer {
        let query = format!(
            "lease={}&name={name}&bytes={bytes}&sha256={sha256}",
            leased["lease"]
        );
        let path = format!("/api/v1/work/{}/file?{query}", text(&leased["job"]));
        self.ask("PUT", &path, "application/octet-stream", content)
    }

    /// Sends a file of a run.
    pub fn send(&self, leased: &Value, name: &str, content: &[u8]) -> Answer {
        let sha256 = sha256(content);
        self.send_as(leased, name, (content.len(), &sha256), content)
    }
}

/// Has a worker take a job on `data`, send a file, fetch it, and say that the job failed, while the
/// service is busy with others.
pub fn by_hand(home: &Home, server: &Server, data: &str) {
    let endless = home.endless(data);
    let jobs = [(); 3].map(|()| server.start(&endless));
    home.held(2);
    let hand = Hand::new(home, server);
    let leased = hand.take();
    assert_eq!(text(&leased["job"]), jobs[2]);
    hand.send(&leased, "run.toml", b"kind = 1").expect(204);
    let files = json!({"files": {"run.toml": sha256(b"kind = 1")}});
    hand.report(&leased, files).expect(200);
    let file = hand.fetch(&leased, &format!("runs/{}/run.toml", jobs[2]));
    assert_eq!(file.expect(200).body, b"kind = 1");
    let failed = json!({"ended": {"ending": "failed", "message": "It fails."}});
    hand.report(&leased, failed).expect(200);
    assert_eq!(server.end_of(&jobs[2])["message"], "It fails.");
    for job in &jobs[..2] {
        server
            .ask("POST", &format!("/api/v1/jobs/{job}/stop"))
            .expect(200);
        server.end_of(job);
    }
    home.go_on();
    for job in jobs {
        let path = format!("/api/v1/jobs/{job}");
        server.ask("DELETE", &path).expect(204);
    }
}

/// A way to the service at `address` on which connections are cut again and again, some at once and
/// some in the middle of a file; gives where it begins.
pub fn bad_network(address: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let begins = listener.local_addr().expect("an address").to_string();
    let address = address.to_owned();
    std::thread::spawn(move || {
        for (n, near) in listener.incoming().enumerate() {
            let (Ok(near), Ok(far)) = (near, TcpStream::connect(&address)) else {
                return;
            };
            let most = [100, 700, 3000, 20_000, u64::MAX][n % 5];
            let pair = |one: &TcpStream, other: &TcpStream| {
                Some((one.try_clone().ok()?, other.try_clone().ok()?))
            };
            for ends in [pair(&near, &far), pair(&far, &near)] {
                let Some((from, mut to)) = ends else { return };
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut (&from).take(most), &mut to);
                    let _ = from.shutdown(Shutdown::Both);
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        }
    });
    begins
}
