//! The pairs of an audit: what they show in all, and the few that are shown themselves.
//!
//! A samples file may hold millions of pairs. It is read once, row by row; what is kept is counts
//! and the pairs to show, and of texts one pair of each source until all are read. *Severity* is
//! how far the score moves: the probability of the class predicted for x, at x less at the other
//! side.

mod columns;
mod findings;
mod flips;
mod gather;
mod selection;
mod sources;
mod texts;

use std::path::Path;

use super::error::PageError;
use probity_data::read::Records;
use probity_data::schema::Format;

pub use findings::{
    AttributeFlips, Difference, FoundTexts, Gaps, PairFindings, Searched, ShownInputs, ShownPair,
    Together,
};
pub(super) use findings::{GAP_BINS, OTHERS};
pub(super) use selection::MOST as MOST_SHOWN;
pub(super) use texts::replacements;

/// Reads the pairs in `file`, of an audit with these `protected` attributes.
pub(super) fn read_pairs(
    file: &Path,
    protected: &[String],
    is_text: bool,
) -> Result<PairFindings, PageError> {
    let mut records = match Records::open(file, &Format::default()) {
        // A file of CSV without a pair has a header and nothing else.
        Err(probity_data::read::ReadError::Empty { .. }) => {
            return Ok(PairFindings {
                texts: is_text.then(FoundTexts::default),
                ..PairFindings::default()
            });
        }
        other => other?,
    };
    match is_text {
        true => texts::read(&mut records, file, protected),
        false => columns::read(&mut records, file, protected),
    }
}
