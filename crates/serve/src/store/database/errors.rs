//! What errors of PostgreSQL say, and what becomes of them.

use std::io;

use tokio_postgres::error::SqlState;

use super::super::StoreError;

/// The words of an error: what the server says, without its details, which may be what users sent;
/// else what happened, and what caused it.
pub(crate) fn said(error: &tokio_postgres::Error) -> String {
    if let Some(told) = error.as_db_error() {
        let code = told.code().code();
        let advice = match code {
            "42501" => "; the user has to own the database, or its schema probity",
            "42P07" => "; its schema probity holds tables of something else",
            "3D000" => "; createdb makes it",
            "25006" => "; it takes no changes, and has to take them",
            _ => "",
        };
        return format!("{} (SQLSTATE {code}){advice}", told.message());
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    if text.ends_with("password missing") {
        text += "; --database-password names the file that holds it";
    }
    text
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> StoreError {
        match says_away(&error) {
            true => StoreError::Away(said(&error)),
            false => StoreError::Postgres(error),
        }
    }
}

/// Whether an error says that the server cannot be used at present: the connection broke, or the
/// server ends, begins, has no place for a connection, takes no changes, or took too long.
fn says_away(error: &tokio_postgres::Error) -> bool {
    let Some(told) = error.as_db_error() else {
        let cause = std::error::Error::source(error);
        return error.is_closed() || cause.is_some_and(|cause| cause.is::<io::Error>());
    };
    let code = told.code().code();
    ["08", "57P"].iter().any(|class| code.starts_with(class))
        || ["53300", "55P03", "57014", "25P03", "25006"].contains(&code)
}

/// Whether an error of the server says that its disk is full.
pub(crate) fn says_full(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::DISK_FULL)
}

/// Whether an error of the server says that it undid a transaction for the sake of another.
pub(crate) fn says_undone(error: &tokio_postgres::Error) -> bool {
    let undone = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    error.code().is_some_and(|code| undone.contains(code))
}
