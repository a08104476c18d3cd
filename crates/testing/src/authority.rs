//! Certificates for servers of tests that speak TLS.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{Needed, skip};

/// A certificate authority of a test's own, and a server's certificate by it for `localhost`.
pub struct Authority(TempDir);

impl Authority {
    /// A new authority, or `None` after saying why the test is skipped.
    ///
    /// # Panics
    /// When `openssl` fails; when `PROBITY_REQUIRE` names `programs` and it cannot be had.
    #[track_caller]
    pub fn make_or_skip() -> Option<Authority> {
        let authority = Authority(TempDir::new().expect("a folder"));
        let names = authority.file("names");
        std::fs::write(&names, "subjectAltName=DNS:localhost\n").expect("a file");
        let new = [
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
        ];
        let [ca_key, request] = ["ca.key", "leaf.csr"].map(|name| authority.file(name));
        let [ca, key, certificate] = [
            authority.certificates(),
            authority.key(),
            authority.certificate(),
        ];
        let option =
            |name: &'static str, file: &PathBuf| [name.to_owned(), file.display().to_string()];
        let lines: [(&[&str], Vec<[String; 2]>); 3] = [
            (
                &["req", "-x509", "-subj", "/CN=Ours", "-days", "2"],
                vec![option("-keyout", &ca_key), option("-out", &ca)],
            ),
            (
                &["req", "-subj", "/CN=localhost"],
                vec![option("-keyout", &key), option("-out", &request)],
            ),
            (
                &["x509", "-req", "-CAcreateserial", "-days", "2"],
                vec![
                    option("-in", &request),
                    option("-CA", &ca),
                    option("-CAkey", &ca_key),
                    option("-extfile", &names),
                    option("-out", &certificate),
                ],
            ),
        ];
        for (words, files) in lines {
            let mut command = Command::new("openssl");
            command.args(words);
            if words[0] == "req" {
                command.args(new);
            }
            match command.args(files.as_flattened()).output() {
                Ok(output) => assert!(output.status.success(), "{words:?}: {output:?}"),
                Err(error) => {
                    skip(Needed::Programs, &format!("openssl: {error}"));
                    return None;
                }
            }
        }
        Some(authority)
    }

    /// The file with the authority's own certificate.
    pub fn certificates(&self) -> PathBuf {
        self.file("ca.pem")
    }

    /// The file with the private key of the server.
    pub fn key(&self) -> PathBuf {
        self.file("leaf.key")
    }

    /// The file with the certificate of the server.
    pub fn certificate(&self) -> PathBuf {
        self.file("leaf.pem")
    }

    fn file(&self, name: &str) -> PathBuf {
        let folder: &Path = self.0.path();
        folder.join(name)
    }
}
