//! Finding Chromium and its driver, and starting the latter.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use probity_testing::{Needed, skip};
use serde_json::{Value, json};

/// Environment variable with the path of `chromedriver`.
const CHROMEDRIVER: &str = "PROBITY_CHROMEDRIVER";

/// Environment variable with the path of Chromium.
const CHROMIUM: &str = "PROBITY_CHROMIUM";

/// Chromium's flags: no window, no sandbox (which needs rights that a container lacks), no need of
/// more shared memory than a container has, and nothing that calls home.
const FLAGS: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// The two programs of a browser test.
pub struct Programs {
    /// `chromedriver`.
    pub chromedriver: PathBuf,
    /// `chromium`.
    pub chromium: PathBuf,
}

impl Programs {
    /// The programs named by the environment, else those on the path; the error says what is
    /// missing.
    pub fn find() -> Result<Programs, String> {
        Ok(Programs {
            chromedriver: program(CHROMEDRIVER, &["chromedriver"])?,
            chromium: program(CHROMIUM, &["chromium", "chromium-browser", "google-chrome"])?,
        })
    }

    /// The programs, or `None` after saying why the test is skipped.
    ///
    /// # Panics
    /// When `PROBITY_REQUIRE` names `browser` and a program is missing.
    pub fn find_or_skip() -> Option<Programs> {
        match Programs::find() {
            Ok(programs) => Some(programs),
            Err(reason) => {
                skip(Needed::Browser, &reason);
                None
            }
        }
    }
}

fn program(variable: &str, names: &[&str]) -> Result<PathBuf, String> {
    if let Some(path) = env::var_os(variable).map(PathBuf::from) {
        if path.is_file() {
            return Ok(path);
        }
        return Err(format!("{variable} names no file: {}", path.display()));
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = names.iter().find_map(|name| {
        env::split_paths(&folders)
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())
    });
    found.ok_or_else(|| format!("there is no {} on the path", names[0]))
}

/// Milliseconds that a page may take to load, and a script to call back: a machine may be busy with
/// other things, and only what never ends shall fail.
const MILLISECONDS: u32 = 300_000;

/// What the driver is asked to start.
pub fn capabilities(chromium: &Path, profile: &Path, downloads: &Path) -> Value {
    let mut flags: Vec<String> = FLAGS.map(str::to_owned).to_vec();
    flags.push(format!("--user-data-dir={}", profile.display()));
    json!({"capabilities": {"alwaysMatch": {
        "browserName": "chrome",
        "timeouts": {"pageLoad": MILLISECONDS, "script": MILLISECONDS},
        "goog:loggingPrefs": {"browser": "ALL"},
        "goog:chromeOptions": {
            "binary": chromium,
            "args": flags,
            "prefs": {
                "download.default_directory": downloads,
                "download.prompt_for_download": false,
            },
        },
    }}})
}

/// A running `chromedriver`; ends with the value.
pub struct Driver {
    process: Child,
    port: u16,
}

impl Driver {
    /// Starts the driver on a port that it chooses.
    pub fn start(program: &Path) -> Result<Driver, String> {
        let mut process = Command::new(program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let stdout = process.stdout.take().ok_or("the driver has no output")?;
        let mut driver = Driver { process, port: 0 };
        let mut lines = BufReader::new(stdout).lines();
        for line in lines.by_ref().map_while(Result::ok) {
            if let Some(port) = port_of(&line) {
                driver.port = port;
                // The driver must never wait for a reader of its remarks.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(driver);
            }
        }
        Err(format!(
            "{} ended without naming its port",
            program.display()
        ))
    }

    /// Where it listens, on the loopback address.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // One that has ended already cannot be killed, and need not be.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The port in "ChromeDriver was started successfully on port 41357."
fn port_of(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once("started successfully on port ")?;
    rest.trim_end_matches('.').trim().parse().ok()
}
