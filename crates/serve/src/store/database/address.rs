//! The address of a database of PostgreSQL, and how its server is connected to.
//!
//! What is sent over a network is encrypted, and the server has to prove by a certificate that it has
//! the name in the address: an address says `sslmode=disable` where that cannot be. A Unix socket and
//! the loopback address lead nowhere else, and are spoken to as they are.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use rustls::ClientConfig;
use thiserror::Error;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::errors::said;
use crate::outside;

/// The name of the environment variable that may hold the password of the database.
pub const DATABASE_PASSWORD: &str = "PROBITY_DATABASE_PASSWORD";

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);

/// How long what was sent may be without an answer of the network.
const NETWORK: Duration = Duration::from_secs(15);

/// The address of a database of PostgreSQL, and what it takes to use it.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    config: Config,
    tls: ClientConfig,
}

/// The reason why an address of a database cannot be used.
#[derive(Debug, Error)]
pub enum DatabaseOptionsError {
    /// The text is no address of PostgreSQL.
    #[error("the address of a database reads like postgres://probity@db.example.org/probity")]
    NotAnAddress,
    /// Something in the address is wrong.
    #[error("the address of the database: {0}")]
    Wrong(String),
    /// The address says how connections are encrypted in a way that is not known.
    #[error(
        "sslmode is require or disable; a server that is required to encrypt has to prove its name, too"
    )]
    Mode,
    /// The password is in the address.
    #[error(
        "a password in the address can be seen by others of this machine; put it into a file, or into {DATABASE_PASSWORD}"
    )]
    Password,
    /// There are certificates for connections that are not encrypted.
    #[error("connections to this address are not encrypted, so certificates have no use")]
    Unencrypted,
    /// The certificates cannot be read.
    #[error("{0}")]
    Authorities(String),
}

impl DatabaseOptions {
    /// Reads the address `url`, such as `postgres://probity@db.example.org/probity`, for a user with
    /// this password, if the server wants one. The server's certificate has to be of one of those in
    /// the file `authorities`, as PEM; without it, of those that browsers trust.
    ///
    /// # Errors
    /// When `url` is no such address, or holds the password; when the certificates cannot be read,
    /// or have no use.
    pub fn new(
        url: &str,
        password: Option<String>,
        authorities: Option<&Path>,
    ) -> Result<DatabaseOptions, DatabaseOptionsError> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(DatabaseOptionsError::NotAnAddress);
        }
        let parsed: Result<Config, _> = url.parse();
        let mut config = parsed.map_err(|error| match said(&error) {
            what if what.contains("sslmode") => DatabaseOptionsError::Mode,
            what => DatabaseOptionsError::Wrong(what),
        })?;
        if config.get_password().is_some() {
            return Err(DatabaseOptionsError::Password);
        }
        let mode = match config.get_ssl_mode() {
            SslMode::Prefer if leads_elsewhere(&config) || authorities.is_some() => {
                SslMode::Require
            }
            SslMode::Prefer => SslMode::Disable,
            mode => mode,
        };
        let is_socket = |host: &Host| !matches!(host, Host::Tcp(_));
        let has_no_use = mode == SslMode::Disable || config.get_hosts().iter().all(is_socket);
        if authorities.is_some() && has_no_use {
            return Err(DatabaseOptionsError::Unencrypted);
        }
        let roots = outside::roots(authorities);
        let tls = roots.and_then(|roots| outside::tls(&roots));
        if let Some(password) = password {
            config.password(password);
        }
        config
            .application_name("probity")
            .connect_timeout(CONNECT)
            .tcp_user_timeout(NETWORK)
            .keepalives_idle(NETWORK)
            .ssl_mode(mode);
        Ok(DatabaseOptions {
            config,
            tls: tls.map_err(DatabaseOptionsError::Authorities)?,
        })
    }

    /// Connects to the server. What goes over the connection does so on the runtime that waits.
    pub(super) async fn client(&self) -> Result<Client, tokio_postgres::Error> {
        let tls = MakeRustlsConnect::new(self.tls.clone());
        let (client, connection) = self.config.connect(tls).await?;
        tokio::spawn(connection);
        Ok(client)
    }
}

/// Whether what is sent to the address may leave this machine.
fn leads_elsewhere(config: &Config) -> bool {
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => {
            let address: Result<IpAddr, _> = name.parse();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    let mut addresses = config.get_hostaddrs().iter();
    !config.get_hosts().iter().all(is_here) || addresses.any(|address| !address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<DatabaseOptions, DatabaseOptionsError> {
        DatabaseOptions::new(url, Some("guess what".to_owned()), None)
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted() {
        for (url, is_encrypted) in [
            ("postgres://probity@db.example.org/probity", true),
            ("postgres://probity@10.1.2.3/probity", true),
            ("postgres://probity@db/probity?sslmode=prefer", true),
            ("postgres://probity@localhost,db/probity", true),
            (
                "postgres://probity@localhost/probity?hostaddr=10.1.2.3",
                true,
            ),
            ("postgres://probity@localhost/probity?sslmode=require", true),
            ("postgres://probity@localhost/probity", false),
            ("postgres://probity@127.0.0.1:5433/probity", false),
            ("postgres://probity@[::1]/probity", false),
            (
                "postgresql://probity@%2Fvar%2Frun%2Fpostgresql/probity",
                false,
            ),
            ("postgres://probity@db/probity?sslmode=disable", false),
        ] {
            let options = read(url).unwrap();
            let mode = match is_encrypted {
                true => SslMode::Require,
                false => SslMode::Disable,
            };
            assert_eq!(options.config.get_ssl_mode(), mode, "{url}");
            assert!(!format!("{options:?}").contains("guess what"));
        }
    }

    #[test]
    fn addresses_that_are_none_are_refused() {
        for (url, needle) in [
            ("/var/lib/probity", "reads like"),
            ("host=localhost", "reads like"),
            ("postgres://a:b@localhost/c", DATABASE_PASSWORD),
            (
                "postgres://a@db/c?sslmode=verify-full",
                "require or disable",
            ),
            ("postgres://a@localhost/c?colour=red", "colour"),
        ] {
            let refused = read(url).unwrap_err().to_string();
            assert!(refused.contains(needle), "{refused}");
        }
    }

    #[test]
    fn certificates_without_a_use_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |url: &str| {
            let options = DatabaseOptions::new(url, None, Some(file.path()));
            options.unwrap_err().to_string()
        };
        for url in [
            "postgres://a@db.example.org/c?sslmode=disable",
            "postgres://a@%2Fvar%2Frun%2Fpostgresql/c",
        ] {
            assert!(read(url).contains("have no use"), "{url}");
        }
        let empty = read("postgres://a@localhost/c");
        assert!(empty.contains("there is none as PEM"), "{empty}");
    }
}
