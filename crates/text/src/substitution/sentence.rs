//! The words of a text with what is known of each.

use std::ops::Range;

use super::segments::untouched;
use crate::english::{self, Tag};
use crate::tokenizer::Token;

/// A word of a text with what is known of it.
#[derive(Debug)]
pub(super) struct Known<'a> {
    pub(super) bytes: Range<usize>,
    /// The word as it is written.
    pub(super) original: &'a str,
    /// The word as the tokenizer spells it.
    pub(super) plain: String,
    pub(super) tag: Tag,
    /// Whether the word stands where no edit may be.
    pub(super) is_untouched: bool,
    /// Whether the word is the first of a sentence, a line or an item of a list.
    pub(super) starts: bool,
}

impl Known<'_> {
    pub(super) fn is_capitalised(&self) -> bool {
        self.original.starts_with(char::is_uppercase)
    }

    pub(super) fn is_hyphen(&self) -> bool {
        matches!(self.original, "-" | "\u{2010}" | "\u{2011}" | "\u{2013}")
    }

    pub(super) fn is_word(&self) -> bool {
        self.original.contains(char::is_alphanumeric)
    }

    fn is_wrapper(&self) -> bool {
        matches!(
            self.plain.as_str(),
            "\"" | "'"
                | "`"
                | "\u{2018}"
                | "\u{201c}"
                | "\u{201d}"
                | "\u{ab}"
                | "\u{bb}"
                | "("
                | "["
                | "*"
                | "_"
        )
    }
}

/// The use of capitals in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// The text has no capitals.
    Lower,
    /// The text is in capitals.
    Upper,
    /// The text has capitals as usual.
    Mixed,
}

/// The words of a text.
#[derive(Debug)]
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) all: Vec<Known<'a>>,
    pub(super) style: Style,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str, tokens: Vec<Token>) -> Words<'a> {
        let zones = untouched(text);
        let of = |bytes: &Range<usize>| text.get(bytes.clone()).unwrap_or_default();
        let originals: Vec<&str> = tokens.iter().map(|token| of(&token.bytes)).collect();
        let tags = english::tag(&originals);
        let mut zone = 0;
        let mut all: Vec<Known> = Vec::with_capacity(tokens.len());
        for ((token, original), tag) in tokens.into_iter().zip(originals).zip(tags) {
            while zones.get(zone).is_some_and(|z| z.end <= token.bytes.start) {
                zone += 1;
            }
            all.push(Known {
                is_untouched: zones.get(zone).is_some_and(|z| z.start < token.bytes.end),
                bytes: token.bytes,
                original,
                plain: token.text,
                tag,
                starts: false,
            });
        }
        let mut words = Words {
            text,
            style: style(&all),
            all,
        };
        for at in 0..words.all.len() {
            words.all[at].starts = words.is_start(at);
        }
        words
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&Known<'a>> {
        self.all.get(at)
    }

    pub(super) fn plain(&self, at: usize) -> &str {
        self.all.get(at).map_or("", |word| word.plain.as_str())
    }

    pub(super) fn tag(&self, at: usize) -> Option<Tag> {
        self.all.get(at).map(|word| word.tag)
    }

    /// Returns the text between the word at `at` and the next one.
    pub(super) fn gap(&self, at: usize) -> &'a str {
        match (self.all.get(at), self.all.get(at + 1)) {
            (Some(word), Some(next)) => {
                let gap = self.text.get(word.bytes.end..next.bytes.start);
                gap.unwrap_or_default()
            }
            _ => "\n",
        }
    }

    /// Returns whether nothing stands between the word at `at` and the next one.
    pub(super) fn is_glued(&self, at: usize) -> bool {
        self.gap(at).is_empty()
    }

    /// Returns whether the words at `at` and the next one are on one line.
    pub(super) fn is_joined(&self, at: usize) -> bool {
        !self.gap(at).contains('\n')
    }

    /// Finds the word before `at`, over quotation marks and brackets that open, in the same line.
    pub(super) fn before(&self, at: usize) -> Option<usize> {
        let mut before = at.checked_sub(1)?;
        if !self.is_joined(before) {
            return None;
        }
        while self.all[before].is_wrapper() && self.is_glued(before) {
            let next = before.checked_sub(1)?;
            if !self.is_joined(next) {
                return None;
            }
            before = next;
        }
        Some(before)
    }

    /// Finds the word that stands at `at` or behind the closing quotation marks there, in the line
    /// of the word before.
    pub(super) fn after(&self, end: usize) -> Option<usize> {
        let mut at = end;
        loop {
            let last = at.checked_sub(1)?;
            let word = self.all.get(at)?;
            if !self.is_joined(last) {
                return None;
            }
            let is_closing = matches!(word.plain.as_str(), "\"" | "'" | "\u{201d}" | "]" | "*");
            if !(is_closing && self.is_glued(last)) {
                return Some(at);
            }
            at += 1;
        }
    }

    /// Finds the first word of the compound with hyphens that the word at `at` ends:
    pub(super) fn compound_start(&self, at: usize) -> usize {
        let mut start = at;
        while start >= 2
            && self.all[start - 1].is_hyphen()
            && self.is_glued(start - 1)
            && self.is_glued(start - 2)
            && self.all[start - 2].is_word()
        {
            start -= 2;
        }
        start
    }

    /// Returns the end of the compound with hyphens that reaches over `end`.
    pub(super) fn compound_end(&self, end: usize) -> usize {
        let mut at = end;
        while at >= 1
            && self.all.get(at).is_some_and(Known::is_hyphen)
            && self.is_glued(at - 1)
            && self.is_glued(at)
            && self.all.get(at + 1).is_some_and(Known::is_word)
        {
            at += 2;
        }
        at
    }

    fn is_start(&self, at: usize) -> bool {
        let Some(mut before) = at.checked_sub(1) else {
            return true;
        };
        loop {
            if !self.is_joined(before) {
                return true;
            }
            let word = &self.all[before];
            match word.plain.as_str() {
                "." => return !self.is_abbreviation(before),
                "!" | "?" | "\u{2026}" => return true,
                _ if word.is_word() || matches!(word.plain.as_str(), "," | ";" | ":" | ")") => {
                    return false;
                }
                "-" | "\u{2013}" | "\u{2014}" | "/" | "&" | "%" | "$" => {
                    // A dash at the start of a line makes it an item.
                    return before == 0 || !self.is_joined(before - 1);
                }
                _ => {}
            }
            match before.checked_sub(1) {
                Some(next) => before = next,
                None => return true,
            }
        }
    }

    /// Returns whether the full stop at `stop` ends an abbreviation.
    fn is_abbreviation(&self, stop: usize) -> bool {
        let Some(word) = stop.checked_sub(1).and_then(|before| self.all.get(before)) else {
            return false;
        };
        let is_short = [
            "mr", "mrs", "ms", "dr", "st", "vs", "prof", "jr", "sr", "rev", "gen", "col",
        ];
        self.is_glued(stop - 1)
            && (is_short.contains(&word.plain.as_str())
                || (word.plain.chars().count() == 1
                    && word.plain != "i"
                    && word.original.contains(char::is_alphabetic)))
    }
}

fn style(words: &[Known]) -> Style {
    let (mut lower, mut upper, mut capital) = (0, 0, 0);
    for word in words.iter().filter(|word| !word.is_untouched) {
        let letters = word.original.chars().filter(|c| c.is_alphabetic());
        let (small, large) = letters.fold((0, 0), |(small, large), c| {
            if c.is_uppercase() {
                (small, large + 1)
            } else {
                (small + 1, large)
            }
        });
        match (small, large) {
            (0, 0) => {}
            (_, 0) => lower += 1,
            (0, 2..) => upper += 1,
            _ => capital += 1,
        }
    }
    // A few words without a capital are no writer's habit.
    let is_habit = lower > 5 || words.iter().any(|word| word.original == "i");
    if capital == 0 && upper * 20 <= lower && is_habit {
        return Style::Lower;
    }
    // "I" and "A" are capitals in both kinds of text.
    if upper > 1 && lower * 10 <= upper && capital <= upper {
        return Style::Upper;
    }
    Style::Mixed
}
