//! Operations: what users can do, one function for each, shared by the API and the pages.
//!
//! Every function checks its arguments, does its work, and returns the result or a
//! [`super::problem::Problem`]. A value of a type of `store::access` says what it may see or
//! change.

pub mod data;
pub mod form;
pub mod history;
pub mod hooks;
pub mod inspect;
pub mod jobs;
pub mod links;
pub mod models;
pub mod names;
pub mod projects;
pub mod results;
pub mod schema;
pub mod specifications;
mod texts;

use super::problem::Problem;
use super::store::Removal;

/// Turns the result of a deletion of a thing of the kind `name` into a problem, unless the thing is
/// gone from the database.
fn removed(removal: Removal, name: &str) -> Result<(), Problem> {
    match removal {
        Removal::Done => Ok(()),
        Removal::Missing => Err(Problem::missing(name)),
        Removal::Needed(job) => Err(Problem::conflict(format!(
            "The job {job} needs it; stop it first."
        ))),
        Removal::AtWork => Err(Problem::conflict(format!(
            "The {name} is not at an end; stop it first."
        ))),
    }
}
