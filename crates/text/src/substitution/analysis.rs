//! The analysis of a text: the protected values that it names, and the edits that exchange them.

use std::ops::Range;

use crate::english::Tag;

/// The result of the analysis of a text for protected attributes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Whether the text is English; no values are found in texts of other languages.
    pub is_english: bool,
    /// The values that the text names and that other values can replace, in the order of their
    /// first occurrence.
    pub sites: Vec<Site>,
    /// The values that the text names and that other values could replace, if no other words of the
    /// text spoke of them.
    pub bound: Vec<Site>,
    /// The words by which the lexicon binds values of the attributes of `bound`, and the given names
    /// that do; other words may do so, too.
    pub binding: Vec<Binding>,
    /// Every term that names a value, from left to right, also where no other value can replace it.
    pub named: Vec<Named>,
    /// All tokens of the text, with the marks.
    pub words: Vec<Word>,
}

/// Words that speak of values of an attribute without being exchanged, with their place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The attribute: its position in [`super::Substitution::attributes`].
    pub attribute: usize,
    /// The bytes of the words in the text.
    pub bytes: Range<usize>,
}

/// A term that names a protected value, with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The attribute: its position in [`super::Substitution::attributes`].
    pub attribute: usize,
    /// The value: its position in [`super::Substitution::values`].
    pub value: usize,
    /// The term, as the lexicon spells it.
    pub term: String,
    /// The bytes of the term in the text.
    pub bytes: Range<usize>,
}

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The bytes of the token in the text.
    pub bytes: Range<usize>,
    /// The class of the token.
    pub tag: Tag,
    /// Whether no other word may take the place of the token: a mark, a number, a part of an
    /// address, of markup or of a user's name, a word of a protected term of any attribute of the
    /// lexicon in whatever sense, the article before a term, the genitive behind it.
    pub is_fixed: bool,
}

/// A protected value that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The attribute: its position in [`super::Substitution::attributes`].
    pub attribute: usize,
    /// The value: its position in [`super::Substitution::values`].
    pub value: usize,
    /// The term of the first occurrence, as the lexicon spells it.
    pub term: String,
    /// The bytes of every place that is exchanged.
    pub occurrences: Vec<Range<usize>>,
    /// The exchanges that can be made, in the order of the values; never empty.
    pub exchanges: Vec<Exchange>,
}

/// An exchange of the value that a text names for another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The other value.
    pub value: usize,
    /// The term of the other value at the first occurrence, as the lexicon spells it.
    pub term: String,
    /// The changes to the text: ascending, disjoint.
    pub edits: Vec<Edit>,
}

/// A change of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes of the text that are replaced.
    pub bytes: Range<usize>,
    /// The replacement.
    pub by: String,
}

/// Returns `text` with `edits` made, which are ascending and disjoint. An edit that does not lie on
/// the borders of characters, or not behind the one before, is left out.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        let kept = text.get(done..edit.bytes.start);
        if let (Some(kept), Some(_)) = (kept, text.get(edit.bytes.clone())) {
            out.push_str(kept);
            out.push_str(&edit.by);
            done = edit.bytes.end;
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}
