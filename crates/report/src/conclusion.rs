//! What came of what a run declared or promises, and what is said of it first: for those who show it
//! beside the report.

use std::path::Path;

use super::bounds::{BoundOutcome, Verdict, of_run};
use super::compose::{concluded, said};
use super::error::PageError;
use super::read::run_without_pairs;

/// What came of what a run declared or promises, as its report says it, without advice on what to
/// do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// What came of it.
    pub verdict: Verdict,
    /// What was declared and what was found, in words.
    pub text: String,
    /// The declared bound, where one was and its share is known.
    pub bound: Option<BoundOutcome>,
}

impl Conclusion {
    /// Reads what came of the run in `directory`, from its summary alone; nothing where it declared
    /// and promises nothing.
    ///
    /// # Errors
    /// See [`PageError`].
    pub fn read(directory: &Path) -> Result<Option<Conclusion>, PageError> {
        let run = run_without_pairs(directory)?;
        Ok(concluded(&run).map(|outcome| Conclusion {
            verdict: outcome.verdict,
            text: outcome.text.to_string(),
            bound: of_run(&run).ok().flatten(),
        }))
    }
}

/// Returns what the report on the run in `directory` says first, sentence by sentence: what was found,
/// besides what came of a declared bound. It is read from the summary alone.
///
/// # Errors
/// See [`PageError`].
pub fn verdict(directory: &Path) -> Result<Vec<String>, PageError> {
    let (verdict, _) = said(&run_without_pairs(directory)?.findings, "run", 0);
    Ok(verdict.iter().map(ToString::to_string).collect())
}
