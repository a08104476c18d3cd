//! Agreement: the case of a new term, the article before it, and the genitive behind it.

use std::ops::Range;

use super::analysis::Edit;
use super::sentence::{Style, Words};
use crate::english;
use crate::lexicon::Part;

/// The case in which a term is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    /// All letters are capitals.
    Upper,
    /// No letters are capitals, also where the lexicon has some.
    Lower,
    /// The first letter is a capital, as at the start of a sentence.
    First,
    /// The words begin with capitals, as in a heading.
    Title,
    /// The letters are as in the lexicon.
    Lexicon,
}

/// A term at its place in a text, and the properties that any term in that place has to agree with.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    words: &'a Words<'a>,
    place: &'a Range<usize>,
    bytes: Range<usize>,
    original: &'a str,
    case: Case,
    /// Whether the term is written without the hyphens that the lexicon has: "mother in law".
    is_spaced: bool,
    /// Whether a noun follows that the term describes.
    is_before_noun: bool,
    /// The article before the term, if it has the right form.
    article: Option<usize>,
    /// Whether the term begins with the sound of a vowel.
    is_vowel: Option<bool>,
}

impl<'a> Setting<'a> {
    pub(super) fn new(
        words: &'a Words<'a>,
        place: &'a Range<usize>,
        spelling: &str,
    ) -> Option<Setting<'a>> {
        let (first, last) = (words.get(place.start)?, words.get(place.end - 1)?);
        let bytes = first.bytes.start..last.bytes.end;
        let original = words.text.get(bytes.clone())?;
        // SIKH in a text of capitals is read, not spelled.
        let heard = if is_upper(original) {
            spelling
        } else {
            original
        };
        let is_vowel = sound(heard);
        Some(Setting {
            words,
            place,
            case: case(words, place, original, spelling),
            is_spaced: spelling.contains('-') && original.contains(' ') && !original.contains('-'),
            is_before_noun: words.described(place.end, true).is_some(),
            article: article(words, place.start, is_vowel),
            is_vowel,
            bytes,
            original,
        })
    }

    /// Returns whether a noun follows that the term describes.
    pub(super) fn is_before_noun(&self) -> bool {
        self.is_before_noun
    }

    /// Adds the edits that replace the term by `by`, as the lexicon spells it.
    pub(super) fn edits(&self, by: &str, part: Option<Part>, edits: &mut Vec<Edit>) {
        let written = self.written(by);
        edits.extend(self.article_before(by));
        let genitive = genitive(self.words, self.place.end, self.original, &written, part);
        if written != self.original {
            edits.push(Edit {
                bytes: self.bytes.clone(),
                by: written,
            });
        }
        edits.extend(genitive);
    }

    /// Returns `by` written in the way in which the term is written.
    fn written(&self, by: &str) -> String {
        let by = if self.is_spaced {
            by.replace('-', " ")
        } else {
            by.to_owned()
        };
        match self.case {
            Case::Upper => by.to_uppercase(),
            Case::Lower if !is_upper(&by) => by.to_lowercase(),
            Case::First => capitalised(&by),
            Case::Title => title_case(&by),
            Case::Lower | Case::Lexicon => by,
        }
    }

    /// Returns the edit of the article before the term, if it has to change before `by`, as the lexicon
    /// spells it.
    fn article_before(&self, by: &str) -> Option<Edit> {
        let word = self.words.get(self.article?)?;
        let is_an = sound(by)?;
        if is_an == self.is_vowel? {
            return None;
        }
        let is_upper = word.original == "AN" || word.original == "A" && is_upper(self.original);
        let article = match (is_an, is_upper, word.is_capitalised()) {
            (true, true, _) => "AN",
            (true, false, true) => "An",
            (true, false, false) => "an",
            (false, _, true) => "A",
            (false, _, false) => "a",
        };
        Some(Edit {
            bytes: word.bytes.clone(),
            by: article.to_owned(),
        })
    }
}

fn has_letters(word: &str) -> bool {
    word.contains(char::is_alphabetic)
}

/// Returns whether a word has several letters and all are capitals.
fn is_upper(word: &str) -> bool {
    let mut letters = word.chars().filter(|c| c.is_alphabetic());
    letters
        .by_ref()
        .take(2)
        .filter(|c| c.is_uppercase())
        .count()
        == 2
        && letters.all(char::is_uppercase)
}

fn starts_upper(word: &str) -> bool {
    let mut letters = word.chars().filter(|c| c.is_alphabetic());
    letters.next().is_some_and(char::is_uppercase)
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

fn title_case(words: &str) -> String {
    let mut first = true;
    let cased = words.split_inclusive([' ', '-']).map(|word| {
        let bare = word.trim_end_matches([' ', '-']);
        let is_small = !first && english::is_function_word(bare);
        first = false;
        if is_small {
            word.to_owned()
        } else {
            capitalised(word)
        }
    });
    cased.collect()
}

/// Returns the case of `original`, which the lexicon spells as `spelling`.
fn case(words: &Words, place: &Range<usize>, original: &str, spelling: &str) -> Case {
    let plain = |term: &str| term.replace(['-', '\u{2010}', '\u{2011}', '\u{2013}'], " ");
    let is_known = plain(original) == plain(spelling);
    let starts = words.get(place.start).is_some_and(|word| word.starts);
    if is_upper(original) && (!is_upper(spelling) || is_shouted(words, place)) {
        return Case::Upper;
    }
    let is_small = original == original.to_lowercase();
    if is_small && (words.style == Style::Lower || !is_known) {
        return Case::Lower;
    }
    if !starts_upper(original) {
        return Case::Lexicon;
    }
    let is_heading = is_heading(words, place);
    if is_known {
        return match (starts, is_heading) {
            (true, _) if starts_upper(spelling) => Case::First,
            (false, true) => Case::Title,
            _ => Case::Lexicon,
        };
    }
    let mut parts = original.split([' ', '-']).skip(1).peekable();
    let is_title = if parts.peek().is_some() {
        parts.any(starts_upper)
    } else {
        !starts
    };
    if (is_title || is_heading) && !starts_upper(spelling) {
        Case::Title
    } else {
        Case::First
    }
}

/// Returns whether the words around are in capitals.
fn is_shouted(words: &Words, place: &Range<usize>) -> bool {
    if words.style == Style::Upper {
        return true;
    }
    let near = [place.start.checked_sub(1), Some(place.end)];
    let near = near.into_iter().flatten().filter_map(|at| words.get(at));
    let mut near = near.filter(|word| has_letters(word.original)).peekable();
    near.peek().is_some() && near.all(|word| is_upper(word.original))
}

/// Returns whether the words of the line start with capitals.
pub(super) fn is_heading(words: &Words, place: &Range<usize>) -> bool {
    let mut start = place.start;
    while start > 0
        && place.start - start < 12
        && words.is_joined(start - 1)
        && !is_stop(words, start - 1)
    {
        start -= 1;
    }
    let mut end = place.end;
    while end < words.len()
        && end - place.end < 12
        && words.is_joined(end - 1)
        && !is_stop(words, end)
    {
        end += 1;
    }
    let others = (start..end).filter(|at| !place.contains(at));
    let others = others
        .filter_map(|at| words.get(at))
        .filter(|word| has_letters(word.original) && !english::is_function_word(word.original));
    let (mut capital, mut small) = (0, 0);
    for word in others {
        if word.is_capitalised() {
            capital += 1;
        } else {
            small += 1;
        }
    }
    small == 0 && capital > 1
}

fn is_stop(words: &Words, at: usize) -> bool {
    matches!(words.plain(at), "." | "!" | "?")
}

/// Returns whether the first word of `term` begins with the sound of a vowel.
fn sound(term: &str) -> Option<bool> {
    let first = term.split([' ', '-']).find(|word| has_letters(word));
    first.map(english::begins_with_vowel_sound)
}

/// Finds the article before the word at `start`, which begins with the sound of a vowel if `is_vowel` says
/// so. An article that is wrong before it is left as its writer wrote it.
fn article(words: &Words, start: usize, is_vowel: Option<bool>) -> Option<usize> {
    let before = words.before(start)?;
    let word = words.get(before)?;
    let is_right = match word.plain.as_str() {
        "a" => is_vowel == Some(false),
        "an" => is_vowel == Some(true),
        _ => false,
    };
    let is_apart = before + 1 < start || !words.is_glued(before);
    (is_right && is_apart && !word.is_untouched).then_some(before)
}

/// Returns the edit of the genitive behind the term, if it has to change: "ladies'" and
/// "gentlemen's".
fn genitive(
    words: &Words,
    end: usize,
    original: &str,
    by: &str,
    part: Option<Part>,
) -> Option<Edit> {
    let word = words.get(end).filter(|_| words.is_glued(end - 1))?;
    let ends = |term: &str| term.to_lowercase().ends_with('s');
    let (old, new) = (ends(original), ends(by));
    let mark = word.original.chars().next()?;
    if !matches!(mark, '\'' | '\u{2019}') || old == new || word.is_untouched {
        return None;
    }
    let by = match word.plain.as_str() {
        "'" if old && is_genitive(words, end) => {
            let s = if is_upper(original) { 'S' } else { 's' };
            format!("{mark}{s}")
        }
        "'s" if new
            && (matches!(part, Some(Part::Plural | Part::Collective))
                || original.to_lowercase().ends_with("men")) =>
        {
            mark.to_string()
        }
        _ => return None,
    };
    Some(Edit {
        bytes: word.bytes.clone(),
        by,
    })
}

/// Returns whether the apostrophe at `at` behind a plural is no closing quotation mark.
fn is_genitive(words: &Words, at: usize) -> bool {
    if words.is_glued(at) {
        return false;
    }
    let is_open = (0..at).rev().take(60).any(|before| {
        words.plain(before) == "'"
            && words.is_glued(before)
            && (before == 0 || !words.is_glued(before - 1))
    });
    !is_open
}
