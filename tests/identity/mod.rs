//! Identity providers for tests of the log-in by one: a real one, which people log in with, and one
//! that does whatever an attacker wants it to.

#![allow(dead_code)] // Each test program uses its own part of this.

pub mod fake;
pub mod surfer;

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use probity_testing::{Needed, skip};

use crate::service::{Home, Server};

/// Environment variable: the folder `node_modules` with the package `oidc-provider`.
const MODULES: &str = "PROBITY_IDENTITY";

/// What the providers know the service by.
pub const CLIENT: &str = "probity";

/// What it proves that with: characters that have to be written in another way on the wire.
pub const SECRET: &str = "a secret: of 100 % + more/characters";

/// A service whose people log in by `issuer`, with more options.
pub fn serve(home: &Home, issuer: &str, more: &[&str]) -> Server {
    let file = home.data_dir().with_file_name("client secret");
    std::fs::write(&file, format!("{SECRET}\n")).expect("a file");
    let file = file.display().to_string();
    let named = ["--oidc-issuer", issuer, "--oidc-client", CLIENT];
    let options = [&named[..], &["--oidc-secret", &file], more].concat();
    home.serve(&options)
}

/// A real provider; ends when dropped.
pub struct Provider {
    child: Child,
    /// What it prints; one whose output is closed ends.
    _output: BufReader<ChildStdout>,
    /// Its issuer.
    pub issuer: String,
}

impl Provider {
    /// A provider, or `None` after saying why the test is skipped; over TLS with a key and a
    /// certificate.
    ///
    /// # Panics
    /// When `PROBITY_REQUIRE` names `identity` and it cannot be had.
    pub fn start_or_skip(tls: Option<(&Path, &Path)>) -> Option<Provider> {
        let modules = env::var_os(MODULES).map(PathBuf::from);
        let Some(modules) = modules.filter(|one| one.join("oidc-provider").is_dir()) else {
            let reason = format!("{MODULES} names no folder with the package oidc-provider");
            skip(Needed::Identity, &reason);
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/identity/provider.mjs");
        let mut command = Command::new("node");
        command.arg(script).arg(modules);
        if let Some((key, certificate)) = tls {
            command.arg(key).arg(certificate);
        }
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                skip(Needed::Identity, &format!("node does not start: {error}"));
                return None;
            }
        };
        let mut issuer = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("an output"));
        output.read_line(&mut issuer).expect("the issuer");
        let issuer = issuer.trim().to_owned();
        assert!(issuer.contains("://localhost:"), "'{issuer}'");
        Some(Provider {
            child,
            _output: output,
            issuer,
        })
    }

    /// Lets it send browsers back to `server`, and lets it begin.
    pub fn knows(&mut self, server: &Server) {
        let input = self.child.stdin.as_mut().expect("an input");
        let address = server.page("/login/provider/return");
        writeln!(input, "{address}").expect("it reads");
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
