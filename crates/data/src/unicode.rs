//! Names and words as people type them: in Unicode's normal form C, whatever form a file has.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

/// Returns `text` in normal form C: é is one character, not e with an accent.
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    match text.is_ascii() {
        true => Cow::Borrowed(text),
        false => ComposingNormalizerBorrowed::new_nfc().normalize(text),
    }
}

/// Returns whether two texts are the same characters.
pub(crate) fn same(one: &str, other: &str) -> bool {
    one == other || (!(one.is_ascii() && other.is_ascii()) && composed(one) == composed(other))
}

/// Returns the place of `wanted` among `names`: the first that is equal to the byte, else the only
/// one of the same characters.
pub(crate) fn place<'n>(
    names: impl IntoIterator<Item = &'n String> + Clone,
    wanted: &str,
) -> Option<usize> {
    let exact = names.clone().into_iter().position(|name| name == wanted);
    exact.or_else(|| {
        let named = names.into_iter().enumerate();
        let mut alike = named.filter(|(_, name)| same(name, wanted));
        let (place, _) = alike.next()?;
        alike.next().is_none().then_some(place)
    })
}

/// Returns `cell` without blanks at its ends: those of Unicode, such as the no-break space, and characters
/// of no width.
pub(crate) fn trimmed(cell: &str) -> &str {
    let bytes = cell.as_bytes();
    let is_plain = |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii_graphic());
    match is_plain(bytes.first()) && is_plain(bytes.last()) {
        // Nearly all cells.
        true => cell,
        false => cell.trim_matches(is_blank),
    }
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() || is_invisible(character)
}

/// Returns whether nobody sees `character`: those of no width, marks of direction, hyphens where a word
/// may be cut, and the mark of an encoding in the middle of a text.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    )
}

/// Returns `text` with the numbers of characters that nobody sees, or takes for common blanks, in their
/// places: `Fem<U+200B>ale`.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| !c.is_ascii() && is_blank(c);
    if text.is_ascii() || !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match is_hidden(character) {
            true => shown.push_str(&format!("<U+{:04X}>", u32::from(character))),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Returns the parts of a name, in lower case: `isFraud` and `IS_FRAUD` are `is` and `fraud`.
pub(crate) fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for character in name.chars() {
        let is_new = was_lower && character.is_uppercase();
        if is_new || !character.is_alphanumeric() {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut()
            && character.is_alphanumeric()
        {
            part.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the key that is equal for levels that differ only in case, blanks, characters that nobody
/// sees, Unicode form, a full stop at the end or the order of values that are joined.
pub(crate) fn key(level: &str) -> String {
    let seen: String = level.chars().filter(|c| !is_invisible(*c)).collect();
    let lower = composed(&seen).to_lowercase();
    let lower = match lower.trim_end_matches('.') {
        "" => lower.as_str(),
        bare => bare,
    };
    let values = lower.split([',', ';', '/', '|', '&', '+']);
    let mut values: Vec<String> = values
        .map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    values.sort();
    values.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_of_unicode_are_taken_off_both_ends() {
        for (cell, expected) in [
            ("female\u{a0}", "female"),
            ("\u{3000}a b\u{2009}", "a b"),
            ("\u{feff}\u{200b}x", "x"),
            ("\u{200f}x\u{200d}y\u{ad}", "x\u{200d}y"),
            ("\u{e9}", "\u{e9}"),
            ("\u{a0}", ""),
            ("", ""),
        ] {
            assert_eq!(trimmed(cell), expected);
        }
    }

    #[test]
    fn what_nobody_sees_is_shown_by_its_number() {
        for (text, expected) in [
            ("Fem\u{200b}ale", "Fem<U+200B>ale"),
            ("New\u{a0}York", "New<U+00A0>York"),
            ("New York\t", "New York\t"),
            ("Z\u{fc}rich", "Z\u{fc}rich"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn a_full_stop_at_the_end_is_no_other_level() {
        assert_eq!(key(">50K."), key(">50K"));
        assert_ne!(key("."), key(""));
        assert_ne!(key("1.5"), key("15"));
    }

    #[test]
    fn forms_of_one_name_are_the_same() {
        assert!(same("d\u{e9}cision", "de\u{301}cision") && same("a", "a"));
        assert!(!same("e", "\u{e9}") && !same("a", "A"));
        let names = ["de\u{301}cision", "d\u{e9}cision", "cafe\u{301}"].map(str::to_owned);
        assert_eq!(place(&names, "d\u{e9}cision"), Some(1));
        assert_eq!(place(&names[..1], "d\u{e9}cision"), Some(0));
        assert_eq!(place(&names, "caf\u{e9}"), Some(2));
        assert_eq!(place(&names, "cafe"), None);
    }

    #[test]
    fn names_have_parts() {
        for (name, expected) in [
            ("two_year_recid", "two year recid"),
            ("isFraud", "is fraud"),
            ("IS_FRAUD", "is fraud"),
            ("credit risk", "credit risk"),
            ("", ""),
        ] {
            assert_eq!(parts(name).join(" "), expected);
        }
    }

    #[test]
    fn levels_that_people_write_alike_have_one_key() {
        for alike in [
            &["White", "white", "WHITE", "White "][..],
            &["Hispanic, White", "White, Hispanic", "white,hispanic"],
            &["Caf\u{e9}", "Cafe\u{301}"],
            &["more  than one", "More than one", "More\u{a0}than one"],
            &["Female", "Fem\u{200b}ale", "\u{feff}fe\u{ad}male"],
        ] {
            assert!(
                alike.iter().all(|level| key(level) == key(alike[0])),
                "{alike:?}"
            );
        }
        assert_ne!(key("White"), key("Whites"));
    }
}
