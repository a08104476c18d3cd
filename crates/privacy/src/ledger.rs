//! The ledger: a TOML file with a declared budget and every query that was charged to it.
//!
//! *The entry comes first.* [`charge`] writes and syncs the entry before the caller computes
//! anything; a crash between entry and answer leaves the price paid. The file is replaced as a
//! whole: a temporary file is written and synced, then renamed, then the directory is synced. So a
//! crash leaves the old ledger or the new one, never half of one.
//!
//! *Two processes, two names.* All of it happens to the file that the given name leads to, and
//! under an exclusive lock on a file beside it (`ledger::place`): whoever comes by another name
//! meets the same lock and the same entries.
//!
//! *One data set.* The ledger knows its data by a fingerprint that only the holder of its key can
//! compute (`ledger::key`). Another file is refused: its answers would not compose. Beside it
//! stands what is public of the data: N, the columns that may be asked for, and how the file is
//! read. No query reads it in another way ([`super::source`]).
//!
//! A ledger protects from mistakes, not from its owner: who can edit or copy the file can spend a
//! budget twice.

mod error;
mod key;
mod place;

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use probity_run::moment;
use probity_run::run_directory::RunError;
use probity_run::sealed::{Form, read_text, seal_text};

pub use self::error::LedgerError;
use self::key::Key;
use self::place::{Place, write_synced};
use super::composition::{Budget, Cost, Remaining, Spent};
use super::source::DeclaredTable;
use probity_data::source::Hashed;

/// The form under which a ledger is sealed.
const FORM: Form = Form {
    kind: "ledger",
    version: "4",
};

/// The content of a ledger file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// The data that it is about.
    pub data: LedgerData,
    /// The public properties of the data.
    pub table: DeclaredTable,
    /// The declared budget.
    pub budget: Budget,
    /// The queries that were charged, oldest first.
    #[serde(default, rename = "query", skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<Entry>,
}

/// The data that a ledger is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerData {
    /// The name of the file, for the reader.
    pub file: String,
    /// The HMAC-SHA-256, under the ledger's key, of the SHA-256 of the file's bytes.
    pub fingerprint: String,
}

/// A query that was charged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The time of the charge, in UTC.
    pub time: String,
    /// The query, in words.
    pub mechanism: String,
    /// The ε of the query.
    pub epsilon: f64,
    /// The δ of the query.
    pub delta: f64,
    /// The ρ of zCDP.
    pub rho: f64,
    /// Whether the noise came from a seed, so that the answer is not private.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_private: bool,
}

impl Ledger {
    /// Returns the sum of all charges.
    pub fn spent(&self) -> Spent {
        let prices = self.queries.iter().map(|entry| Cost {
            epsilon: entry.epsilon,
            delta: entry.delta,
            rho: entry.rho,
        });
        prices.collect()
    }

    /// Returns what is left of the budget.
    pub fn remaining(&self) -> Remaining {
        self.budget.remaining(&self.spent())
    }

    fn check(&self, file: &Path) -> Result<(), LedgerError> {
        let foreign = |problem: String| LedgerError::Foreign {
            file: file.to_owned(),
            problem,
        };
        self.budget
            .check()
            .map_err(|error| foreign(error.to_string()))?;
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

/// Declares a budget in a new file, for the data called `name` of which `table` is public, and
/// makes the ledger's key.
///
/// # Errors
/// When the ledger or its key exists or cannot be written.
pub fn declare(
    file: &Path,
    name: &str,
    table: Hashed<DeclaredTable>,
    budget: Budget,
) -> Result<Ledger, LedgerError> {
    let place = Place::of_new(file)?;
    let _lock = place.lock(|| ())?;
    if fs::symlink_metadata(place.file()).is_ok() {
        return Err(LedgerError::Exists {
            file: place.file().to_owned(),
        });
    }
    let key = Key::draw()?;
    let ledger = Ledger {
        data: LedgerData {
            file: name.to_owned(),
            fingerprint: key.fingerprint(&table.sha256),
        },
        table: table.value,
        budget,
        queries: Vec::new(),
    };
    ledger.check(place.file())?;
    key.keep(&place)?;
    write(&place, &ledger)?;
    Ok(ledger)
}

/// Reads a ledger.
///
/// # Errors
/// When there is none, or it cannot be trusted.
pub fn read(file: &Path) -> Result<Ledger, LedgerError> {
    of_place(&Place::resolve(file)?)
}

fn of_place(place: &Place) -> Result<Ledger, LedgerError> {
    let file = place.file();
    let text = read_text(file, FORM).map_err(|error| match error {
        RunError::Read { file, source } => LedgerError::Io { file, source },
        other => LedgerError::Foreign {
            file: file.to_owned(),
            problem: other.to_string(),
        },
    })?;
    let ledger: Ledger = toml::from_str(&text).map_err(|error| LedgerError::Foreign {
        file: file.to_owned(),
        problem: error.to_string(),
    })?;
    ledger.check(file)?;
    Ok(ledger)
}

/// A charge for a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Charge {
    /// The SHA-256 of the data file, which is written nowhere.
    pub sha256: String,
    /// The query, in words.
    pub mechanism: String,
    /// The price of the query.
    pub cost: Cost,
    /// Whether the noise comes from a seed.
    pub not_private: bool,
}

/// Charges a query, before it is answered. Returns the ledger after the entry, which is on disk by
/// then. `waiting` is called when another process is at the ledger, whose end this one awaits.
///
/// # Errors
/// When the ledger is of other data, or does not cover the price; nothing is written then.
pub fn charge(file: &Path, charge: Charge, waiting: impl FnOnce()) -> Result<Ledger, LedgerError> {
    let place = Place::resolve(file)?;
    let lock = place.lock(waiting)?;
    place.has_one_name()?;
    let mut ledger = of_place(&place)?;
    let file = || place.file().to_owned();
    if ledger.data.fingerprint != Key::read(&place)?.fingerprint(&charge.sha256) {
        return Err(LedgerError::OtherData { file: file() });
    }
    let Cost {
        epsilon,
        delta,
        rho,
    } = charge.cost;
    let is_covered = || ledger.budget.admits(&ledger.spent().and(charge.cost));
    if !(charge.cost.is_price() && is_covered()) {
        return Err(LedgerError::Spent {
            file: file(),
            epsilon,
            delta,
            left: ledger.remaining(),
        });
    }
    ledger.queries.push(Entry {
        time: moment::now(),
        mechanism: charge.mechanism,
        epsilon,
        delta,
        rho,
        not_private: charge.not_private,
    });
    lock.expect_in_place()?;
    write(&place, &ledger)?;
    Ok(ledger)
}

fn write(place: &Place, ledger: &Ledger) -> Result<(), LedgerError> {
    let failed = |source| LedgerError::Io {
        file: place.file().to_owned(),
        source,
    };
    let text = toml::to_string(ledger).map_err(|error| failed(io::Error::other(error)))?;
    write_synced(place.file(), &seal_text(FORM, &text), |temporary, file| {
        temporary.persist(file).map_err(|error| error.error)
    })
    .map_err(failed)
}

#[cfg(test)]
mod tests;
