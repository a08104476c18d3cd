//! Where the service keeps what it has, as options.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;

use probity::serve::make_private;
use probity::serve::store::{DATABASE_PASSWORD, DatabaseOptions, Store};

/// Where the service keeps what it has.
#[derive(Debug, Clone, Args)]
pub(super) struct DataDirectory {
    /// Folder for the database, uploads, models and runs
    #[arg(long, default_value = "probity-data", value_name = "DIR")]
    pub data_dir: PathBuf,
    /// Database of PostgreSQL, which several services may share, such as
    /// postgres://probity@db.example.org/probity; connections to other machines are encrypted unless
    /// it ends in ?sslmode=disable [default: one of SQLite in the data directory]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// File with the password of that database, and nothing else [default: PROBITY_DATABASE_PASSWORD
    /// of the environment]
    #[arg(long, value_name = "FILE", requires = "database")]
    database_password: Option<PathBuf>,
    /// File with the certificates, as PEM, that stand behind the database's [default: those that
    /// browsers trust]
    #[arg(long, value_name = "FILE", requires = "database")]
    database_ca: Option<PathBuf>,
}

impl DataDirectory {
    /// The database of a server, if one is named.
    pub fn database(&self) -> anyhow::Result<Option<DatabaseOptions>> {
        let Some(url) = &self.database else {
            return Ok(None);
        };
        let password = self.password()?;
        let options = DatabaseOptions::new(url, password, self.database_ca.as_deref());
        let options = options.context("--database")?;
        Ok(Some(options))
    }

    /// The password, from where nobody else sees it.
    fn password(&self) -> anyhow::Result<Option<String>> {
        let Some(file) = &self.database_password else {
            return match std::env::var(DATABASE_PASSWORD) {
                Ok(password) => Ok(Some(password)),
                Err(std::env::VarError::NotPresent) => Ok(None),
                Err(error) => Err(error).context(DATABASE_PASSWORD),
            };
        };
        let name = file.display();
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the password of the database in {name}"))?;
        let password = text.trim();
        if password.is_empty() {
            bail!("{name} holds no password");
        }
        Ok(Some(password.to_owned()))
    }

    /// The database, which is made where there is none.
    pub fn store(&self) -> anyhow::Result<Store> {
        if let Some(database) = self.database()? {
            return Store::connect(&database).context("cannot use the database");
        }
        let name = || format!("cannot use {}", self.data_dir.display());
        make_private(&self.data_dir).with_context(name)?;
        Store::open(&self.data_dir).with_context(name)
    }

    /// The options of a command that uses the same database.
    pub fn words(&self) -> String {
        let Some(url) = &self.database else {
            return format!("--data-dir {}", self.data_dir.display());
        };
        let mut words = format!("--database {url}");
        for (option, file) in [
            ("--database-password", &self.database_password),
            ("--database-ca", &self.database_ca),
        ] {
            if let Some(file) = file {
                words = format!("{words} {option} {}", file.display());
            }
        }
        words
    }
}
