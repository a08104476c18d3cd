//! What the pairs of an audit show, as plain data.

use serde::Serialize;

/// What values beyond the twelfth are called.
pub(crate) const OTHERS: &str = "other values";

/// Bins of the distribution of gaps.
pub(crate) const GAP_BINS: usize = 20;

/// What the pairs of an audit show.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PairFindings {
    /// Pairs in the file.
    pub pairs: u64,
    /// Names of the columns of tables; empty for texts.
    pub columns: Vec<String>,
    /// Predicted classes, in their order.
    pub classes: Vec<String>,
    /// The class of two whose probability the scores are; absent where each pair is scored by the
    /// class of its x, or by a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_class: Option<String>,
    /// For each protected attribute, which of its values flip decisions.
    pub flips: Vec<AttributeFlips>,
    /// Which attributes differ together, the most frequent first.
    pub together: Vec<Together>,
    /// What the search changed besides.
    pub searched: Option<Searched>,
    /// How far scores move.
    pub gaps: Gaps,
    /// Texts: how many different ones were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texts: Option<FoundTexts>,
    /// Tables: from how many rows of the data, where the search begins at rows of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<FoundRows>,
    /// The pairs that are shown, one of each source: unmodified ones first, then the most severe.
    pub shown: Vec<ShownPair>,
}

/// From how many rows of the data pairs were found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FoundRows {
    /// The rows.
    pub rows: u64,
    /// The number of them that flip as they are.
    pub unmodified: u64,
}

/// The numbers of different texts that were found; equal ones count once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FoundTexts {
    /// Different texts.
    pub texts: u64,
    /// Different texts of the file that they were made from.
    pub sources: u64,
    /// The number of the latter that flip as they are.
    pub unmodified: u64,
}

/// Pairs that differ in exactly these attributes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Together {
    /// The attributes.
    pub attributes: Vec<String>,
    /// The pairs.
    pub pairs: u64,
}

/// What the search changed that is not protected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Searched {
    /// Pairs that were compared with what the search had started from.
    pub compared: u64,
    /// Attributes (tables) or words (texts) and how many of those pairs had them changed, the most
    /// frequent first.
    pub changed: Vec<(String, u64)>,
    /// Words that are not listed.
    pub others: u64,
}

/// How far scores move.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Gaps {
    /// Where the last bin ends: at 1, but for numbers.
    pub end: f64,
    /// Whether the scores are the numbers of a regressor, rather than probabilities.
    pub are_numbers: bool,
    /// Pairs by their gap in equal bins from 0.
    pub bins: Vec<u64>,
    /// Mean gap.
    pub mean: f64,
    /// The largest gap.
    pub largest: f64,
}

/// A pair that is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownPair {
    /// The number of the pair in the samples file, from 1.
    pub number: u64,
    /// How far the score moves.
    pub gap: f64,
    /// Share of the real rows that are no likelier than x, where the file says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plausibility: Option<f64>,
    /// Predicted class of x and of the other.
    pub labels: [String; 2],
    /// Probability of [`PairFindings::score_class`], else of the class of x, at x and at the other.
    pub scores: [f64; 2],
    /// What differs.
    pub differences: Vec<Difference>,
    /// Whether x is a row or a text of the file as it is.
    #[serde(rename = "unmodified")]
    pub is_unmodified: bool,
    /// Further pairs that were found from the same row, or other texts from the same text.
    pub more: u64,
    /// The inputs.
    #[serde(flatten)]
    pub inputs: ShownInputs,
}

/// A protected attribute that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The attribute.
    pub attribute: String,
    /// The value in x, or the term of a text.
    pub from: String,
    /// The value in the other input, or the term of the other text.
    pub to: String,
}

/// The inputs of a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownInputs {
    /// Values of x, in the order of the columns.
    Values(Vec<String>),
    /// Two texts.
    Texts {
        /// x.
        x: String,
        /// The other.
        other: String,
        /// What the search changed in the source.
        changed: String,
        /// The text of the file that x was made from.
        source: String,
        /// The place of the source in the file, from 1.
        source_row: u64,
    },
}

/// Pairs by the values of one attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttributeFlips {
    /// The attribute.
    pub attribute: String,
    /// Pairs that differ in it.
    pub pairs: u64,
    /// The classes of rows and columns, if there are two.
    pub classes: Option<[String; 2]>,
    /// The values, or ranges of them.
    pub values: Vec<String>,
    /// `counts[row][column]`: pairs whose first side has the value of the row and whose second side
    /// that of the column.
    pub counts: Vec<Vec<u64>>,
}

/// A pair as it is read.
pub(super) struct Pair {
    pub labels: [String; 2],
    pub scores: [f64; 2],
    pub differences: Vec<Difference>,
    pub inputs: ShownInputs,
}
