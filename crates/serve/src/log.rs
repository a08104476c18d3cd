//! The service's log: lines on stderr that hold identifiers, states and times, and nothing that
//! users sent.

use std::fmt::Display;
use std::io::Write;

use super::identifier::Id;
use super::jobs::specification::JobKind;
use super::moment::Moment;

/// Writes one line about a job or the service itself.
pub fn line(text: &dyn Display) {
    // Nobody is left to tell when stderr is closed.
    let _ = writeln!(std::io::stderr().lock(), "{} {text}", Moment::now());
}

/// Writes a line that says what happens to a job.
pub fn job(id: &Id, kind: JobKind, what: &str) {
    line(&format_args!("job {id} ({}) {what}", kind.name()));
}

/// Writes a line about a fault of the service: an error of the operating system or the database.
pub fn fault(cause: &dyn Display) {
    line(&format_args!("fault: {cause}"));
}
