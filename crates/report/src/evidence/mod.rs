//! Runs in the forms that rules and registers ask for.
//!
//! [`ll144`] is the summary of results of a bias audit. Each form says of which runs it can be made
//! and refuses the others. What a form has a place for and no run knows is shown as [`BLANK`].

mod ll144;

use super::error::PageError;
use super::form::Form;
use super::model::RunReport;

/// What stands where only people know what to say.
const BLANK: &str = "TO BE FILLED IN";

/// That `run` is none that `form` is made of.
fn refused(form: Form, takes: &'static str, run: &RunReport) -> PageError {
    PageError::NotOf {
        form: form.name(),
        takes,
        directory: run.directory.clone(),
        command: run.command.clone(),
    }
}
