//! The ledger: a TOML file with a declared budget and every query that was charged to it.
//!
//! *The entry comes first.* [`charge`] writes and syncs the entry before the caller computes
//! anything; a crash between entry and answer leaves the price paid. The file is replaced as a
//! whole: a temporary file is written and synced, then renamed, then the directory is synced. So a
//! crash leaves the old ledger or the new one, never half of one.
//!
//! *Two processes.* All of it happens under an exclusive lock on a file beside the ledger
//! (`budget.toml.lock`), which the operating system gives up when its process ends. The lock file
//! is never renamed, unlike the ledger.
//!
//! *One data set.* The ledger names the SHA-256 of the data file. Another file is refused: its
//! answers would not compose.
//!
//! A ledger protects from mistakes, not from its owner: who can edit or copy the file can spend a
//! budget twice.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::composition::{Budget, Cost, Remaining, readable};

/// Version of the file.
const FORMAT: u32 = 1;

/// Why a ledger cannot be used, or refuses a query.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// There is no such file.
    #[error("there is no ledger {}; declare a budget with `probity outliers budget`", file.display())]
    Missing {
        /// The ledger.
        file: PathBuf,
    },
    /// There is one already.
    #[error("the ledger {} exists already; a budget is declared once", file.display())]
    Exists {
        /// The ledger.
        file: PathBuf,
    },
    /// It cannot be read or written.
    #[error("cannot use the ledger {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The operating system's word.
        source: io::Error,
    },
    /// It is not what [`declare`] wrote.
    #[error("{} is not a ledger that can be trusted: {problem}", file.display())]
    Foreign {
        /// The ledger.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It belongs to other data.
    #[error(
        "the ledger {} is of another data set (SHA-256 {ledger}); this one has {data}",
        file.display()
    )]
    OtherData {
        /// The ledger.
        file: PathBuf,
        /// What it names.
        ledger: String,
        /// What was given.
        data: String,
    },
    /// The budget does not cover the query.
    #[error(
        "the budget in {} does not cover this query, which costs epsilon {} and delta {}; left are epsilon {} and delta {}",
        file.display(),
        readable(*epsilon),
        readable(*delta),
        readable(left.epsilon),
        readable(left.delta)
    )]
    Spent {
        /// The ledger.
        file: PathBuf,
        /// ε of the query.
        epsilon: f64,
        /// δ of the query.
        delta: f64,
        /// What is left.
        left: Remaining,
    },
}

/// The file's content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// Version of the file.
    pub format: u32,
    /// How many queries follow: a file that was cut short must not look like an unspent budget.
    pub charged: usize,
    /// The data that it is about.
    pub data: LedgerData,
    /// What was declared.
    pub budget: Budget,
    /// What was charged, oldest first.
    #[serde(default, rename = "query", skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<Entry>,
}

/// The data that a ledger is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerData {
    /// Name of the file, for the reader.
    pub file: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// A query that was charged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// When, in UTC.
    pub time: String,
    /// What was asked.
    pub mechanism: String,
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// ρ of zCDP.
    pub rho: f64,
    /// Whether the noise came from a seed, so that the answer is not private.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_private: bool,
}

impl Ledger {
    /// What was charged in all.
    pub fn spent(&self) -> Cost {
        self.queries.iter().fold(Cost::default(), |sum, entry| {
            sum.and(Cost {
                epsilon: entry.epsilon,
                delta: entry.delta,
                rho: entry.rho,
            })
        })
    }

    /// What is left.
    pub fn remaining(&self) -> Remaining {
        self.budget.remaining(self.spent())
    }

    fn check(&self, file: &Path) -> Result<(), LedgerError> {
        let foreign = |problem: String| LedgerError::Foreign {
            file: file.to_owned(),
            problem,
        };
        if self.format != FORMAT {
            return Err(foreign(format!(
                "its format is {}, not {FORMAT}",
                self.format
            )));
        }
        self.budget
            .check()
            .map_err(|error| foreign(error.to_string()))?;
        if self.charged != self.queries.len() {
            return Err(foreign(format!(
                "it holds {} queries where {} were charged",
                self.queries.len(),
                self.charged
            )));
        }
        let whole = |value: f64| value >= 0.0 && value.is_finite();
        match self
            .queries
            .iter()
            .position(|entry| !(whole(entry.epsilon) && whole(entry.delta) && whole(entry.rho)))
        {
            Some(at) => Err(foreign(format!("query {} has no valid price", at + 1))),
            None => Ok(()),
        }
    }
}

/// Declares a budget in a new file.
///
/// # Errors
/// When the file exists or cannot be written.
pub fn declare(file: &Path, data: LedgerData, budget: Budget) -> Result<Ledger, LedgerError> {
    let _lock = lock(file)?;
    if file.exists() {
        return Err(LedgerError::Exists {
            file: file.to_owned(),
        });
    }
    let ledger = Ledger {
        format: FORMAT,
        charged: 0,
        data,
        budget,
        queries: Vec::new(),
    };
    ledger.check(file)?;
    write(file, &ledger)?;
    Ok(ledger)
}

/// Reads a ledger.
///
/// # Errors
/// When there is none, or it cannot be trusted.
pub fn read(file: &Path) -> Result<Ledger, LedgerError> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(LedgerError::Missing {
                file: file.to_owned(),
            });
        }
        Err(source) => {
            return Err(LedgerError::Io {
                file: file.to_owned(),
                source,
            });
        }
    };
    let ledger: Ledger = toml::from_str(&text).map_err(|error| LedgerError::Foreign {
        file: file.to_owned(),
        problem: error.to_string(),
    })?;
    ledger.check(file)?;
    Ok(ledger)
}

/// What a query is charged with.
#[derive(Debug, Clone, PartialEq)]
pub struct Charge {
    /// SHA-256 of the data file.
    pub sha256: String,
    /// What is asked.
    pub mechanism: String,
    /// Its price.
    pub cost: Cost,
    /// Whether the noise comes from a seed.
    pub not_private: bool,
}

/// Charges a query, before it is answered. Gives the ledger after the entry, which is on disk by
/// then.
///
/// # Errors
/// When the ledger is of other data, or does not cover the price; nothing is written then.
pub fn charge(file: &Path, charge: Charge) -> Result<Ledger, LedgerError> {
    if !file.exists() {
        return Err(LedgerError::Missing {
            file: file.to_owned(),
        });
    }
    let _lock = lock(file)?;
    let mut ledger = read(file)?;
    if ledger.data.sha256 != charge.sha256 {
        return Err(LedgerError::OtherData {
            file: file.to_owned(),
            ledger: ledger.data.sha256,
            data: charge.sha256,
        });
    }
    let Cost {
        epsilon,
        delta,
        rho,
    } = charge.cost;
    if !ledger.budget.admits(ledger.spent().and(charge.cost)) {
        return Err(LedgerError::Spent {
            file: file.to_owned(),
            epsilon,
            delta,
            left: ledger.remaining(),
        });
    }
    ledger.queries.push(Entry {
        time: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        mechanism: charge.mechanism,
        epsilon,
        delta,
        rho,
        not_private: charge.not_private,
    });
    ledger.charged = ledger.queries.len();
    write(file, &ledger)?;
    Ok(ledger)
}

/// Waits for the exclusive lock; it is given up when the file is closed.
fn lock(file: &Path) -> Result<File, LedgerError> {
    let mut name = file.as_os_str().to_owned();
    name.push(".lock");
    let path = PathBuf::from(name);
    let failed = |source| LedgerError::Io {
        file: path.clone(),
        source,
    };
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(failed)?;
    lock.lock().map_err(failed)?;
    Ok(lock)
}

fn write(file: &Path, ledger: &Ledger) -> Result<(), LedgerError> {
    let failed = |source| LedgerError::Io {
        file: file.to_owned(),
        source,
    };
    let text = toml::to_string(ledger).map_err(|error| failed(io::Error::other(error)))?;
    let directory = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut temporary = tempfile::Builder::new()
        .prefix(".probity-ledger-")
        .tempfile_in(directory)
        .map_err(failed)?;
    temporary.write_all(text.as_bytes()).map_err(failed)?;
    temporary.as_file().sync_all().map_err(failed)?;
    temporary
        .persist(file)
        .map_err(|error| failed(error.error))?;
    // Without this the rename may be lost with the power, and the price with it.
    #[cfg(unix)]
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests;
