//! What errors of PostgreSQL say, and what becomes of them.

use std::io;

use ::postgres::error::SqlState;

use super::super::StoreError;

/// The words of an error: what the server says, without its details, which may be what users sent;
/// else what happened, and what caused it.
pub(crate) fn said(error: &::postgres::Error) -> String {
    if let Some(told) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", told.message(), told.code().code());
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

impl From<::postgres::Error> for StoreError {
    fn from(error: ::postgres::Error) -> StoreError {
        match says_away(&error) {
            true => StoreError::Away(said(&error)),
            false => StoreError::Postgres(error),
        }
    }
}

/// Whether an error says that the server cannot be used at present: the connection broke, or the
/// server ends, begins, has no place for a connection, takes no changes, or took too long.
fn says_away(error: &::postgres::Error) -> bool {
    let Some(told) = error.as_db_error() else {
        let cause = std::error::Error::source(error);
        return error.is_closed() || cause.is_some_and(|cause| cause.is::<io::Error>());
    };
    let code = told.code().code();
    ["08", "57P"].iter().any(|class| code.starts_with(class))
        || ["53300", "55P03", "57014", "25P03", "25006"].contains(&code)
}

/// Whether an error of the server says that its disk is full.
pub(crate) fn says_full(error: &::postgres::Error) -> bool {
    error.code() == Some(&SqlState::DISK_FULL)
}

/// Whether an error of the server says that it undid a transaction for the sake of another.
pub(crate) fn says_undone(error: &::postgres::Error) -> bool {
    let undone = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    error.code().is_some_and(|code| undone.contains(code))
}
