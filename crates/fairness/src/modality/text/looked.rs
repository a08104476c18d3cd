//! A text that was looked at: what may be exchanged in it, and which values it names.

use std::collections::BTreeSet;

use super::subject::TextSubject;
use crate::audit_error::AuditError;
use crate::text::edits::Tokens;
use crate::text::protected::{Naming, Protected};
use crate::text::source::Source;

/// A text that was looked at.
pub(super) struct Looked {
    /// The text with what may be exchanged in it, if anything.
    pub(super) source: Option<Source>,
    pub(super) is_truncated: bool,
    pub(super) is_foreign: bool,
    /// The attributes of which it names a value.
    pub(super) named: Vec<Naming>,
    /// The words of the text, as far as the model reads.
    pub(super) words: Vec<String>,
}

impl Looked {
    /// The attributes of which the text names a value that nothing takes the place of.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Naming> {
        let sites = self.source.iter().flat_map(|source| &source.sites);
        let exchanged: BTreeSet<usize> = sites.map(|site| site.attribute).collect();
        let named = self.named.iter();
        named.filter(move |naming| !exchanged.contains(&naming.attribute))
    }

    /// Whether the text has no word: nothing but marks, or nothing at all.
    pub(super) fn is_blank(&self) -> bool {
        let mut words = self.words.iter();
        !words.any(|word| word.contains(char::is_alphanumeric))
    }

    /// Leaves out what may be exchanged for one of `values` alone.
    pub(super) fn without(self, values: &BTreeSet<u32>) -> Looked {
        let source = self.source.map(|source| source.without_values(values));
        Looked {
            source: source.filter(Source::can_vary),
            ..self
        }
    }

    /// Looks at `text`: finds what may be exchanged in it, as `protected` says, and whether
    /// `subject` reads all of it.
    pub(super) fn at(
        text: &str,
        tokens: &Tokens<'_>,
        (subject, protected): (&TextSubject<'_>, &Protected),
    ) -> Result<Looked, AuditError> {
        let encoded = subject.reader().encode(text)?;
        let read = protected.read(tokens, &encoded)?;
        Ok(Looked {
            source: Some(read.source).filter(Source::can_vary),
            is_truncated: encoded.is_truncated || subject.cuts(text)?,
            is_foreign: !read.is_english,
            named: read.named,
            words: encoded.words,
        })
    }
}
