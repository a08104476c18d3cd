//! Detection of words that are spoken with a vowel first, and so take `an`.

use super::dictionary::Dictionary;
use super::function_words::is_function_word;

/// Words in capitals that are spelled out although they could be read as words.
const SPELLED: &[&str] = &[
    "US", "USA", "UK", "UN", "EU", "UAE", "IT", "IQ", "ID", "AI", "UFO", "SUV", "LED", "MIT",
    "IRA", "IRS", "ER", "OS", "PA", "PR", "AM", "MA", "SOS", "ATM", "EMT", "IED", "URL", "MOT",
];

/// Words in capitals that are read as words although the dictionary lacks them or has them as
/// names.
const READ: &[&str] = &[
    "NASA", "NATO", "FEMA", "OPEC", "NAFTA", "UNESCO", "UNICEF", "AIDS", "FIFA", "UEFA", "LAN",
    "RAM", "ROM", "SIM", "SWAT", "MAGA", "MENA", "NAACP", "SARS", "MERS", "RICO", "LIDAR", "NIMBY",
    "HEPA", "HIPAA", "HAMAS", "ISIS", "LOL", "SCUBA", "LASER", "RADAR", "YOLO", "FOMO",
];

/// The letters whose names begin with a vowel.
const VOWEL_NAMES: &str = "aefhilmnorsx";

/// Beginnings with a silent h.
const SILENT_H: &[&str] = &["hour", "honest", "honor", "honour", "heir", "hors"];

/// Beginnings in u that sound like `you`.
const YOU: &[&str] = &[
    "uni", "use", "usa", "usu", "usi", "uti", "uto", "ute", "uta", "ubiq", "ura", "uri", "uro",
    "ure", "uru", "ukr", "uku", "uga", "ufo", "uly", "unanim", "unary", "uvul", "uyg", "uke",
    "ukip",
];

/// Beginnings in uni that are un- before an i.
const UN_BEFORE_I: &[&str] = &["unim", "unin", "unide", "unidi", "unir", "uniss"];

/// Words without a vowel that are read, not spelled.
const HISSES: &[&str] = &["hm", "sh", "ps", "ts", "pf", "br", "gr", "zz", "pst", "bz"];

/// Returns whether `word` begins with the sound of a vowel, and so takes `an`: `hour`, `heir`,
/// `FBI`, `8`, `X-ray`; but not `user`, `one`, `European`, `US`. Capitals tell words that are
/// spelled out.
pub fn begins_with_vowel_sound(word: &str) -> bool {
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return number_begins_with_vowel(word);
    }
    // What stands before a hyphen is a word of its own, and so is the letter of `e-mail`.
    let end = word
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(word.len());
    let (first, rest) = word.split_at(end);
    let abbreviation = rest.starts_with('.') && rest.len() > 1 && first.chars().count() == 1;
    if first.chars().count() == 1 && (rest.starts_with('-') || rest.is_empty() || abbreviation) {
        return letter_begins_with_vowel(first);
    }
    if is_spelled(first) {
        return letter_begins_with_vowel(first);
    }
    // An inner apostrophe is no boundary: o'clock.
    let read = plain(word);
    read_begins_with_vowel(&read)
}

/// Converts a word to lower case, with the letters of most European alphabets without their marks.
fn plain(word: &str) -> String {
    let small = word.chars().flat_map(char::to_lowercase);
    small
        .map(|c| match c {
            'à'..='å' | 'æ' | 'ā' | 'ą' => 'a',
            'è'..='ë' | 'ē' | 'ę' => 'e',
            'ì'..='ï' | 'ī' => 'i',
            'ò'..='ö' | 'ø' | 'œ' | 'ō' => 'o',
            'ù'..='ü' | 'ū' => 'w',
            c => c,
        })
        // The marked u of ü, ú is never that of `you`; what follows only tells those apart.
        .enumerate()
        .map(|(i, c)| {
            if c == 'w' && i == 0 && !word.starts_with(['w', 'W']) {
                'i'
            } else {
                c
            }
        })
        .collect()
}

/// Returns whether the number that `word` begins with is spoken with a vowel first: eight, eleven,
/// eighteen, eighty.
fn number_begins_with_vowel(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    if word.starts_with('8') {
        return true;
    }
    // 11 and 18, also of thousands and millions, and of hundreds: 1800 is eighteen hundred.
    (word.starts_with("11") || word.starts_with("18")) && (digits % 3 == 2 || digits == 4)
}

fn letter_begins_with_vowel(word: &str) -> bool {
    let first = word.chars().next().and_then(|c| c.to_lowercase().next());
    first.is_some_and(|letter| VOWEL_NAMES.contains(letter))
}

/// Returns whether `word` is spoken letter by letter.
fn is_spelled(word: &str) -> bool {
    let vowel = |c: char| matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    let letters = word.chars().filter(|c| c.is_alphabetic());
    if word.is_ascii() && !letters.clone().any(vowel) {
        let lower = word.to_ascii_lowercase();
        return !HISSES.iter().any(|hiss| lower.starts_with(hiss))
            || word.contains(char::is_numeric);
    }
    // The plural of an abbreviation: MPs, UFOs.
    let singular = word
        .strip_suffix('s')
        .filter(|word| word.len() > 1)
        .unwrap_or(word);
    if singular.len() < 2
        || !singular
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    {
        return false;
    }
    if SPELLED.contains(&singular) || singular.contains(|c: char| c.is_ascii_digit()) {
        return true;
    }
    let lower = singular.to_ascii_lowercase();
    let known = || {
        Dictionary::shipped()
            .get(&lower)
            .is_some_and(|lemma| !lemma.is_proper())
    };
    !READ.contains(&singular) && singular.len() <= 4 && !is_function_word(&lower) && !known()
}

/// Returns whether a word in lower case that is read, not spelled, begins with a vowel.
fn read_begins_with_vowel(word: &str) -> bool {
    let begins = |beginnings: &[&str]| beginnings.iter().any(|begin| word.starts_with(begin));
    let until_hyphen = word.split(['-', '\'']).next().unwrap_or_default();
    let second = word.chars().nth(1).unwrap_or(' ');
    match word.chars().next() {
        Some('a' | 'i') => true,
        Some('e') => !begins(&["eu", "ewe"]),
        Some('o') => {
            let one = [
                "one", "ones", "once", "oneself", "oneness", "onetime", "oncer",
            ];
            !one.contains(&until_hyphen) && !begins(&["oui"])
        }
        Some('u') => !begins(YOU) || begins(UN_BEFORE_I) && !begins(&["unidir"]),
        Some('h') => begins(SILENT_H) && !begins(&["houri", "horse"]),
        Some('x') => !matches!(second, 'a' | 'e' | 'i' | 'o' | 'u' | 'y'),
        Some('y') => begins(&["ytt", "yv", "ypr", "ygg"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_take_an() {
        let words = "hour hours hourly honest honesty honor honour honourable heir heiress apple \
                     idiot orange umbrella uncle ugly urban urgent utter usher ulcer unhappy \
                     unimportant uninteresting unidentified unintended under old ox owl only \
                     onerous oncologist eight eleven eighteen egg elephant ear Earl ewok American \
                     Asian Indian Irish Italian Arab Englishman immigrant atheist FBI MBA MP MPs \
                     NBC LGBT LGBTQ HIV NHS SUV RPG X-ray xbox XL 8 80 8th 800 8,000 11 11th 18 \
                     18th 1800 1800s 11,000 18-year-old 8.5 hors A I e-mail F-word L-shaped IQ ID \
                     IT AI EU M16 mp3 ATM IRS NGO NGOs AIDS ISIS élan éclair \
                     \u{201c}apple IDIOT HOUR hour-long x-rated eyebrow"
            .split_whitespace();
        let wrong: Vec<&str> = words
            .filter(|word| !begins_with_vowel_sound(word))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn words_that_take_a() {
        let words = "user users university universal unicorn union unit uniform unique unanimous \
                     European euro eulogy Eurasian one one-time once ones useful useless usual \
                     usage utensil utility utopia uterus ubiquitous uranium urine Ukrainian \
                     ukulele Ugandan ewe ouija historic history historian hotel horse house home \
                     human hero herb happy dog banana year yellow young Yemeni white woman wrong \
                     US UK UN USA UFO UFOs PhD BBC CIA DVD GPS TV PC NASA NATO SWAT FIFA U-turn \
                     T-shirt B-movie 1 7 10 110 180 100 1,100 1,800 12 19 111,000 1.8 2nd \
                     xenophobe xylophone Xavier hmm shh WOMAN HOUSE DOG UNIVERSITY U.S. U.K. \
                     unilateral unidirectional Uyghur z \u{201c}dog this \
                     180-degree"
            .split_whitespace();
        let wrong: Vec<&str> = words.filter(|word| begins_with_vowel_sound(word)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(!begins_with_vowel_sound("") && !begins_with_vowel_sound("..."));
    }
}
