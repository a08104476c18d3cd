//! Servers of PostgreSQL for tests.

use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{Authority, Needed, skip};

/// How long a test waits for a server to begin or to end.
const PATIENCE: Duration = Duration::from_secs(120);

/// The user of the database.
const USER: &str = "probity";

/// The password of that user.
const PASSWORD: &str = "a secret: 100 %";

/// The port that names the socket of a server which listens nowhere else.
const PORT: u16 = 5432;

/// How often another port is tried, where somebody else took the one that was free.
const PORTS: usize = 20;

/// Who may connect to a server that speaks TLS, and how.
const ACCESS: &str = "local all all scram-sha-256\nhostssl all all localhost scram-sha-256\n";

/// A server of PostgreSQL on a Unix socket in a folder of its own; ends when dropped.
pub struct Postgresql {
    folder: TempDir,
    programs: PathBuf,
    /// Where it speaks TLS, if it does, and the name of its socket.
    port: u16,
    speaks_tls: bool,
    is_by_nobody: bool,
    server: Option<Child>,
}

impl Postgresql {
    /// A server with an empty database, or `None` after saying why the test is skipped.
    ///
    /// # Panics
    /// When `PROBITY_REQUIRE` names `postgresql` and it cannot be had.
    #[track_caller]
    pub fn start_or_skip() -> Option<Postgresql> {
        let Some(programs) = programs() else {
            skip(Needed::Postgresql, "there are no programs of PostgreSQL");
            return None;
        };
        let folder = TempDir::new().expect("a folder");
        let mut server = Postgresql {
            is_by_nobody: nobody::gets(folder.path(), 0o711).expect("its own folder"),
            folder,
            programs,
            port: PORT,
            speaks_tls: false,
            server: None,
        };
        let password = server.folder.path().join("password");
        fs::write(&password, PASSWORD).expect("a file");
        let made = server
            .command("initdb")
            .args(["--auth=scram-sha-256", "--encoding=UTF8", "--no-locale"])
            .args(["--no-sync", "--username", USER, "--pwfile"])
            .arg(&password)
            .arg("--pgdata")
            .arg(server.data())
            .output();
        if let Some(reason) = failure(made) {
            skip(Needed::Postgresql, &format!("initdb fails: {reason}"));
            return None;
        }
        server.start();
        Some(server)
    }

    /// The address of the database, by the socket.
    pub fn url(&self) -> String {
        let folder = self.folder.path().display().to_string();
        self.url_at(&folder.replace('%', "%25").replace('/', "%2F"))
    }

    /// The address of the database under another name of this machine.
    pub fn url_at(&self, name: &str) -> String {
        format!("postgres://{USER}@{name}:{}/postgres", self.port)
    }

    /// The file with the password of its user.
    pub fn password_file(&self) -> PathBuf {
        self.folder.path().join("password")
    }

    /// The password of its user.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// Starts the server after an end, and waits until it answers.
    ///
    /// # Panics
    /// When it does not begin.
    pub fn start(&mut self) {
        let failed = self.begin();
        assert!(failed.is_none(), "the server does not begin: {failed:?}");
    }

    /// Lets the server speak TLS from now on, beside its socket, and nothing else.
    ///
    /// # Panics
    /// When it does not begin.
    pub fn encrypt(&mut self, authority: &Authority) {
        self.stop();
        let data = self.data();
        for (from, to) in [
            (authority.key(), data.join("server.key")),
            (authority.certificate(), data.join("server.crt")),
        ] {
            fs::copy(from, &to).expect("a copy");
            nobody::gets(&to, 0o600).expect("its own file");
        }
        fs::write(data.join("pg_hba.conf"), ACCESS).expect("a file");
        self.speaks_tls = true;
        for _ in 0..PORTS {
            let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
            self.port = free.expect("a port").port();
            match self.begin() {
                None => return,
                Some(said) => assert!(said.contains("could not bind"), "{said}"),
            }
        }
        panic!("others take every port");
    }

    /// Starts the server, and waits until it answers; returns why it ended, if it did.
    fn begin(&mut self) -> Option<String> {
        let log = self.folder.path().join("log");
        let file = File::create(&log).expect("a file");
        // What it holds is of no value after a crash of the machine.
        let mut settings = vec!["fsync=off", "full_page_writes=off"];
        settings.extend(match self.speaks_tls {
            true => ["ssl=on", "listen_addresses=127.0.0.1"].as_slice(),
            false => ["listen_addresses="].as_slice(),
        });
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data());
        command.arg("-k").arg(self.folder.path());
        command.args(["-p", &self.port.to_string()]);
        for setting in settings {
            command.args(["-c", setting]);
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn();
        self.server = Some(child.expect("the server starts"));
        let began = Instant::now();
        while !self.is_ready() {
            let server = self.server.as_mut().expect("it was started");
            let said = || fs::read_to_string(&log).unwrap_or_default();
            if server.try_wait().expect("a process").is_some() {
                self.server = None;
                return Some(said());
            }
            assert!(began.elapsed() < PATIENCE, "it does not begin: {}", said());
            thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// Carries out `statements` in the schema of Probity, and returns what the last of them answers.
    ///
    /// # Errors
    /// What the server says that is wrong with them.
    ///
    /// # Panics
    /// When `psql` cannot be run.
    pub fn ask(&self, statements: &str) -> Result<String, String> {
        let output = self
            .command("psql")
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"])
            .args(["--set", "ON_ERROR_STOP=1", "--command", statements])
            .arg(self.url())
            .env("PGPASSWORD", PASSWORD)
            .env("PGOPTIONS", "-c search_path=probity")
            .output()
            .expect("psql runs");
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Ends the server at once, as a crash does, and with it all connections.
    ///
    /// # Panics
    /// When it does not end.
    pub fn stop(&mut self) {
        let failed = self.end();
        assert!(failed.is_none(), "the server does not end: {failed:?}");
    }

    /// Ends the server, and returns why it does not end by itself, if so.
    fn end(&mut self) -> Option<String> {
        let mut server = self.server.take()?;
        let stopped = self
            .command("pg_ctl")
            .args(["stop", "--mode=immediate", "--silent", "--pgdata"])
            .arg(self.data())
            .output();
        let failed = failure(stopped);
        if failed.is_some() {
            // It may have ended already.
            let _ = server.kill();
        }
        let _ = server.wait();
        failed
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Whether the server says that it takes connections.
    fn is_ready(&self) -> bool {
        let file = self.data().join("postmaster.pid");
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines()
            .nth(7)
            .is_some_and(|line| line.trim() == "ready")
    }

    /// The program `name` of PostgreSQL, in the folder of the server.
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(self.folder.path());
        if self.is_by_nobody {
            nobody::runs(&mut command);
        }
        command
    }
}

impl Drop for Postgresql {
    fn drop(&mut self) {
        self.end();
    }
}

/// Why a command failed, if it did.
fn failure(output: io::Result<Output>) -> Option<String> {
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// The folder with the programs of a server: of the one on the path, or the newest where Debian has
/// them.
#[cfg(unix)]
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // What is on the path may be a link to one of them.
    let on_the_path = std::env::split_paths(&path).filter_map(|folder| {
        let program = fs::canonicalize(folder.join("initdb")).ok()?;
        program.parent().map(Path::to_owned)
    });
    let mut installed: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .collect();
    installed.sort();
    let all = ["initdb", "postgres", "pg_ctl", "psql"];
    let has_all = |folder: &PathBuf| all.iter().all(|name| folder.join(name).exists());
    on_the_path.chain(installed.into_iter().rev()).find(has_all)
}

/// On other systems a server would need something else than a socket in a folder.
#[cfg(not(unix))]
fn programs() -> Option<PathBuf> {
    None
}

/// The user that the server runs as where the test runs as root, which it refuses.
#[cfg(unix)]
mod nobody {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::Command;

    /// User and group `nobody`.
    const NOBODY: u32 = 65_534;

    /// Gives a file or a folder to nobody, with a mode, if it is root's; returns whether it is theirs
    /// now.
    pub fn gets(path: &Path, mode: u32) -> io::Result<bool> {
        set_permissions(path, Permissions::from_mode(mode))?;
        let is_roots = metadata(path)?.uid() == 0;
        if is_roots {
            chown(path, Some(NOBODY), Some(NOBODY))?;
        }
        Ok(is_roots)
    }

    /// Lets nobody run `command`.
    pub fn runs(command: &mut Command) {
        command.uid(NOBODY).gid(NOBODY);
    }
}

#[cfg(not(unix))]
mod nobody {
    use std::io;
    use std::path::Path;
    use std::process::Command;

    pub fn gets(_: &Path, _: u32) -> io::Result<bool> {
        Ok(false)
    }

    pub fn runs(_: &mut Command) {}
}
