//! The errors of ledgers.

use std::io;
use std::path::PathBuf;

use probity_run::number::readable;
use thiserror::Error;

use crate::composition::Remaining;
use crate::error::PrivacyError;

/// The reason why a ledger cannot be used, or refuses a query.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The ledger's file does not exist.
    #[error("there is no ledger {}; declare a budget with `probity outliers budget`", file.display())]
    Missing {
        /// The ledger.
        file: PathBuf,
    },
    /// The ledger exists already.
    #[error("the ledger {} exists already; a budget is declared once", file.display())]
    Exists {
        /// The ledger.
        file: PathBuf,
    },
    /// The key exists without its ledger.
    #[error(
        "{} is there without its ledger: the ledger was moved, or its declaration was stopped; bring the ledger back, or delete the key",
        file.display()
    )]
    KeyAlone {
        /// The key.
        file: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("cannot use the ledger {}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not what [`super::declare`] wrote.
    #[error("{} is not a ledger that can be trusted: {problem}", file.display())]
    Foreign {
        /// The ledger.
        file: PathBuf,
        /// The problem with the file.
        problem: String,
    },
    /// The key of the ledger does not exist.
    #[error(
        "there is no {}, the key of the ledger; without it nobody can tell whether the data are the ledger's",
        file.display()
    )]
    NoKey {
        /// The key.
        file: PathBuf,
    },
    /// The ledger has a second name, which would go on with a copy of its own once this one is
    /// replaced.
    #[error(
        "the ledger {} has a second name (a hard link), by which its budget could be spent again; delete one of the two",
        file.display()
    )]
    SecondName {
        /// The ledger.
        file: PathBuf,
    },
    /// The ledger belongs to other data.
    #[error("the ledger {} is of another data set than this one", file.display())]
    OtherData {
        /// The ledger.
        file: PathBuf,
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
        /// The ε of the query.
        epsilon: f64,
        /// The δ of the query.
        delta: f64,
        /// The part of the budget that is left.
        left: Remaining,
    },
    /// The operating system gives no random bits for a key.
    #[error("{0}")]
    Entropy(#[from] PrivacyError),
}
