//! What a text says of protected attributes, and what it becomes with other values.

use std::ops::Range;

use crate::english::Tag;

/// What a text says of protected attributes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Whether the text is English; nothing is found in others.
    pub is_english: bool,
    /// The values that the text names and that others can take the place of, in the order of their
    /// first occurrence.
    pub sites: Vec<Site>,
    /// Every term that names a value, from left to right, also where no other value can take its
    /// place.
    pub named: Vec<Named>,
    /// All tokens, marks among them.
    pub words: Vec<Word>,
}

/// A term that names a protected value at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The attribute: its position in [`super::Substitution::attributes`].
    pub attribute: usize,
    /// The value: its position in [`super::Substitution::values`].
    pub value: usize,
    /// The term, as the lexicon spells it.
    pub term: String,
    /// Its bytes in the text.
    pub bytes: Range<usize>,
}

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its bytes in the text.
    pub bytes: Range<usize>,
    /// Its class.
    pub tag: Tag,
    /// Whether no other word may take its place: a mark, a number, a part of an address, of markup
    /// or of a user's name, a word of a protected term of any attribute of the lexicon in whatever
    /// sense, the article before a term, the genitive behind it.
    pub is_fixed: bool,
}

/// A protected value that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The attribute: its position in [`super::Substitution::attributes`].
    pub attribute: usize,
    /// The value: its position in [`super::Substitution::values`].
    pub value: usize,
    /// The first occurrence's term, as the lexicon spells it.
    pub term: String,
    /// The bytes of every place that is exchanged.
    pub occurrences: Vec<Range<usize>>,
    /// What can take its place, in the order of the values; never empty.
    pub exchanges: Vec<Exchange>,
}

/// Another value in the place of one that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The other value.
    pub value: usize,
    /// Its term at the first occurrence, as the lexicon spells it.
    pub term: String,
    /// What changes in the text: ascending, disjoint.
    pub edits: Vec<Edit>,
}

/// A change of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Bytes of the text.
    pub bytes: Range<usize>,
    /// What is there instead.
    pub by: String,
}

/// `text` with `edits`, which are ascending and disjoint, made. An edit that does not lie on the
/// borders of characters, or not behind the one before, is left out.
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
