//! What can be wrong with a ledger.

use std::io;
use std::path::PathBuf;

use probity_run::number::readable;
use thiserror::Error;

use crate::composition::Remaining;
use crate::error::PrivacyError;

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
    /// There is its key without it.
    #[error(
        "{} is there without its ledger: the ledger was moved, or its declaration was stopped; bring the ledger back, or delete the key",
        file.display()
    )]
    KeyAlone {
        /// The key.
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
    /// It is not what [`super::declare`] wrote.
    #[error("{} is not a ledger that can be trusted: {problem}", file.display())]
    Foreign {
        /// The ledger.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Its key is not there.
    #[error(
        "there is no {}, the key of the ledger; without it nobody can tell whether the data are the ledger's",
        file.display()
    )]
    NoKey {
        /// The key.
        file: PathBuf,
    },
    /// It has another name, which would go on with a copy of its own once this one is replaced.
    #[error(
        "the ledger {} has a second name (a hard link), by which its budget could be spent again; delete one of the two",
        file.display()
    )]
    SecondName {
        /// The ledger.
        file: PathBuf,
    },
    /// It belongs to other data.
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
        /// ε of the query.
        epsilon: f64,
        /// δ of the query.
        delta: f64,
        /// What is left.
        left: Remaining,
    },
    /// The operating system gives no random bits for a key.
    #[error("{0}")]
    Entropy(#[from] PrivacyError),
}
