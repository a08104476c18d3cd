//! Sentences with slots: `A {person} called.`

use crate::english::begins_with_vowel_sound;

/// Fills each `{slot}` of `template` with what `word` gives for it; an article `a` or `an` before a
/// slot agrees with the word in the slot, and the first letter is a capital.
pub(crate) fn filled(template: &str, mut word: impl FnMut(&str) -> String) -> String {
    let mut text = String::new();
    for (i, part) in template.split(['{', '}']).enumerate() {
        if i % 2 == 0 {
            text.push_str(part);
            continue;
        }
        let word = word(part);
        let before = text.strip_suffix("an ").or_else(|| text.strip_suffix("a "));
        let is_article = |before: &&str| !before.ends_with(char::is_alphanumeric);
        if let Some(before) = before.filter(is_article) {
            let article = match begins_with_vowel_sound(&word) {
                true => "an ",
                false => "a ",
            };
            text = before.to_owned() + article;
        } else if text == "A " || text == "An " {
            text = match begins_with_vowel_sound(&word) {
                true => "An ".to_owned(),
                false => "A ".to_owned(),
            };
        }
        text.push_str(&word);
    }
    capitalised(&text)
}

/// Returns `text` with a capital as its first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_and_capitals_agree() {
        for (template, word, expected) in [
            ("a {x} called.", "hour", "An hour called."),
            ("I am an {x}.", "European", "I am a European."),
            ("A {x} called.", "Afghan", "An Afghan called."),
            (
                "I met a {x}, not Linda {x}.",
                "Irish cook",
                "I met an Irish cook, not Linda Irish cook.",
            ),
            ("{x} is here.", "élan", "Élan is here."),
        ] {
            assert_eq!(filled(template, |_| word.to_owned()), expected);
        }
    }
}
