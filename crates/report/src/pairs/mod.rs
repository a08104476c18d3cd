//! The pairs of an audit: what they show in all, and the few that are shown themselves.
//!
//! A samples file may hold millions of pairs. It is read once, row by row; what is kept is counts
//! and the pairs to show, one of each row or text of the file that they were found from. *Severity* is
//! how far the score moves: of two classes the probability of the favourable one; of more, that of the
//! class decided for x, or where what is decided is no class, of the one whose probability falls most.

mod columns;
mod findings;
mod flips;
mod gather;
mod news;
mod selection;
mod sources;
mod texts;

use super::error::PageError;
use probity_data::read::Records;

pub use findings::{
    AttributeFlips, Difference, FoundRows, FoundTexts, Gaps, PairFindings, Searched, ShownInputs,
    ShownPair, Together,
};
pub(super) use findings::{GAP_BINS, OTHERS};
pub(super) use gather::PairFile;
pub use news::{NewPair, PairChanges, pair_changes};
pub(super) use selection::MOST as MOST_SHOWN;
pub(super) use texts::replacements;

/// Reads the pairs of `from`.
pub(super) fn read_pairs(from: &PairFile<'_>, is_text: bool) -> Result<PairFindings, PageError> {
    let file = from.file;
    let mut records = match Records::of_result(file) {
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
        true => texts::read(&mut records, from),
        false => columns::read(&mut records, from),
    }
}
