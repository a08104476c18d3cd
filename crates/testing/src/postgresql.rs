//! Servers of PostgreSQL for tests.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{Needed, skip};

/// How long a test waits for a server to begin or to end.
const PATIENCE: Duration = Duration::from_secs(120);

/// The user of the database.
const USER: &str = "probity";

/// The password of that user.
const PASSWORD: &str = "a secret: 100 %";

/// A server of PostgreSQL on a Unix socket in a folder of its own; ends when dropped.
pub struct Postgresql {
    folder: TempDir,
    programs: PathBuf,
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
            is_by_nobody: nobody::gets(folder.path()).expect("its own folder"),
            folder,
            programs,
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

    /// The address of the database.
    pub fn url(&self) -> String {
        let folder = self.folder.path().display().to_string();
        format!(
            "postgres://{USER}@{}/postgres",
            folder.replace('%', "%25").replace('/', "%2F")
        )
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
        let log = self.folder.path().join("log");
        let file = File::create(&log).expect("a file");
        // What it holds is of no value after a crash of the machine.
        let settings = ["fsync=off", "full_page_writes=off"];
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data());
        command.arg("-k").arg(self.folder.path());
        command.args(["-c", "listen_addresses="]);
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
            let ended = server.try_wait().expect("a process");
            let said = || fs::read_to_string(&log).unwrap_or_default();
            assert!(ended.is_none(), "{ended:?}: {}", said());
            assert!(began.elapsed() < PATIENCE, "it does not begin: {}", said());
            thread::sleep(Duration::from_millis(20));
        }
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

    /// Gives `folder` to nobody, if it is root's; returns whether it is theirs now.
    pub fn gets(folder: &Path) -> io::Result<bool> {
        if metadata(folder)?.uid() != 0 {
            return Ok(false);
        }
        set_permissions(folder, Permissions::from_mode(0o711))?;
        chown(folder, Some(NOBODY), Some(NOBODY))?;
        Ok(true)
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

    pub fn gets(_: &Path) -> io::Result<bool> {
        Ok(false)
    }

    pub fn runs(_: &mut Command) {}
}
