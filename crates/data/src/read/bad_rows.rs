//! Rows that are left out because something is wrong with them.
//!
//! Where the layout says `skip_bad_rows`, a row with the wrong number of fields, with a cell that
//! is no value of its column, or without a class or an id, is left out and counted, by what is
//! wrong with it and with the places of the first such rows. Whatever else is wrong with a file
//! (a missing column, a quote that nothing closes, a broken Parquet file) still refuses it. The
//! numbers of the other rows stay what they are: a row that is left out counts.

use std::fmt;

use serde::{Serialize, Serializer};

use super::place::Place;

/// The number of rows of each reason whose places are kept.
const FIRST: usize = 3;

/// The rows that were left out, by what is wrong with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BadRows {
    /// The number of all these rows.
    pub rows: u64,
    /// The reasons, in the order in which they were met.
    pub reasons: Vec<BadReason>,
}

/// A reason why rows were left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BadReason {
    /// The text of the reason.
    pub reason: String,
    /// The number of rows.
    pub rows: u64,
    /// The places of the first of these rows.
    #[serde(serialize_with = "as_text")]
    pub first: Vec<Place>,
}

fn as_text<S: Serializer>(places: &[Place], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(places.iter().map(Place::to_string))
}

/// The rows of a table that were left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The number of rows left out by an `outside = "skip"` policy, or because their outcome is
    /// missing.
    pub skipped_rows: u64,
    /// The rows left out because something is wrong with them.
    #[serde(skip_serializing_if = "BadRows::is_empty")]
    pub bad_rows: BadRows,
}

impl BadRows {
    /// Returns whether no rows were left out.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Counts a row with which something is wrong for `reason`; `place` says where it stands, and
    /// is asked for the first such rows only.
    pub(crate) fn count(&mut self, reason: String, place: impl FnOnce() -> Place) {
        self.rows += 1;
        let known = self.reasons.iter().position(|known| known.reason == reason);
        let at = known.unwrap_or_else(|| {
            self.reasons.push(BadReason {
                reason,
                rows: 0,
                first: Vec::new(),
            });
            self.reasons.len() - 1
        });
        let reason = &mut self.reasons[at];
        reason.rows += 1;
        if reason.first.len() < FIRST {
            reason.first.push(place());
        }
    }
}

/// Writes a text such as `3 bad rows were left out: 2 because 'age' is blank (line 3, line 7), 1
/// because …`
impl fmt::Display for BadRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let were = if self.rows == 1 {
            "row was"
        } else {
            "rows were"
        };
        write!(f, "{} bad {were} left out", self.rows)?;
        for (at, reason) in self.reasons.iter().enumerate() {
            let separator = if at == 0 { ":" } else { "," };
            let first: Vec<String> = reason.first.iter().map(Place::to_string).collect();
            let more = match reason.rows > first.len() as u64 {
                true => ", …",
                false => "",
            };
            let (rows, what) = (reason.rows, &reason.reason);
            write!(
                f,
                "{separator} {rows} because {what} ({}{more})",
                first.join(", ")
            )?;
        }
        Ok(())
    }
}
