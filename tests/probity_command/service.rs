//! A running `probity serve` on a port of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use super::Workspace;

/// A service with its own data directory; ends with the value.
pub struct Service {
    process: Child,
    address: String,
    token: String,
    data: PathBuf,
}

impl Service {
    /// Starts the service in the folder `service` of a workspace, and makes a token.
    pub fn start(workspace: &Workspace) -> Service {
        let token = workspace
            .line("serve token --data-dir service --label tests")
            .exits(0)
            .stdout
            .trim()
            .to_owned();
        let mut process = workspace
            .prepared("serve --data-dir service --port 0")
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdout = process.stdout.take().unwrap();
        let mut lines = BufReader::new(stdout).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                let start = line.find("http://")?;
                let rest = &line[start..];
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                Some(rest[..end].trim_end_matches('/').to_owned())
            })
            .expect("the service says where it listens");
        std::thread::spawn(move || lines.for_each(drop));
        Service {
            process,
            address,
            token,
            data: workspace.path("service"),
        }
    }

    /// The address of a path.
    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// A valid token.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// A file of a run directory.
    pub fn run_file(&self, run: &str, name: &str) -> Vec<u8> {
        fs::read(self.data.join("runs").join(run).join(name)).unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // One that has ended already cannot be killed, and need not be.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
