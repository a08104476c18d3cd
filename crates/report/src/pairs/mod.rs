//! The pairs of an audit: what they show in all, and the few that are shown themselves.
//!
//! A samples file may hold millions of pairs. It is read once, row by row; what is kept is counts
//! and the pairs to show, and of texts one pair of each source until all are read. *Severity* is
//! how far the score moves: the probability of the class decided for x, at x less at the other
//! side; where what is decided is no class, of the class whose probability falls most.

mod columns;
mod findings;
mod flips;
mod gather;
mod selection;
mod sources;
mod texts;

use std::path::Path;

use super::error::PageError;
use probity_data::read::{Record, Records};

pub use findings::{
    AttributeFlips, Difference, FoundTexts, Gaps, PairFindings, Searched, ShownInputs, ShownPair,
    Together,
};
pub(super) use findings::{GAP_BINS, OTHERS};
pub(super) use selection::MOST as MOST_SHOWN;
pub(super) use texts::replacements;

/// The pairs of an audit.
pub(super) struct PairFile<'a> {
    /// The file.
    pub file: &'a Path,
    /// Protected attributes.
    pub protected: &'a [String],
    /// What can be decided, where that is not the classes.
    pub decisions: &'a [String],
}

impl PairFile<'_> {
    /// What can be decided between `classes`.
    fn decisions<'a>(&'a self, classes: &'a [String]) -> &'a [String] {
        match self.decisions.is_empty() {
            true => classes,
            false => self.decisions,
        }
    }

    /// Which of `classes` a pair is scored by whose sides have these `labels` and probabilities.
    ///
    /// # Errors
    /// When `record` decides what cannot be.
    fn scored(
        &self,
        record: &Record<'_>,
        classes: &[String],
        labels: &[String; 2],
        [x, other]: [&[f64]; 2],
    ) -> Result<usize, PageError> {
        let decisions = self.decisions(classes);
        for (name, label) in [("label_x", &labels[0]), ("label_other", &labels[1])] {
            if !decisions.contains(label) {
                let expected = "what can be decided by the columns of logits or the summary";
                return Err(PageError::cell(self.file, record, (name, label), expected));
            }
        }
        let falls = |class: &usize| x[*class] - other[*class];
        let most = || (0..classes.len()).max_by(|a, b| falls(a).total_cmp(&falls(b)));
        let own = classes.iter().position(|class| *class == labels[0]);
        Ok(own.or_else(most).unwrap_or_default())
    }
}

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
