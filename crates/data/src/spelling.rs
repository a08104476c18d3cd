//! Spellings of one value: 1 and 1.0, True and true are one level of a category.
//!
//! A word counts as it is before it counts as a number or as a truth, and as a number only in plain
//! decimals: 02139 and 1E5 may be names.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::number_form::NumberForm;
use super::unicode;

/// Returns the finite number that `text` says; 1e-400, which only looks like 0, says none.
pub(super) fn number(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = || digits.bytes().all(|byte| !(b'1'..=b'9').contains(&byte));
    // Adding zero takes the sign of -0 away.
    (number.is_finite() && (number != 0.0 || is_zero())).then_some(number + 0.0)
}

/// Returns the truth that `text` says: `true` or `false`, in any case. Tables of other forms than
/// text have values for it, which programs spell as they like.
pub(super) fn truth(text: &str) -> Option<bool> {
    let says = |word| text.eq_ignore_ascii_case(word);
    match says("true") {
        true => Some(true),
        false => says("false").then_some(false),
    }
}

/// Returns the truth that `text` says as people write it, in any case: `T`, `Y`, `yes` and 1 are true as
/// well, and their opposites false.
pub(super) fn written_truth(text: &str) -> Option<bool> {
    let says = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    let number = plain_number(text);
    match truth(text) {
        Some(truth) => Some(truth),
        None if says(["t", "y", "yes"]) || number == Some(1.0) => Some(true),
        None => (says(["f", "n", "no"]) || number == Some(0.0)).then_some(false),
    }
}

/// The first whole number that a number of 64 bits does not tell from the next one: 2⁵³.
pub(super) const INEXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the number that `text` says in plain decimals, without leading zeros, unless it is too long to
/// be told from others.
fn plain_number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.split('.').next().unwrap_or_default();
    let is_plain = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_name = whole.len() > 1 && whole.starts_with('0');
    let number = (is_plain && !is_name).then(|| number(text)).flatten();
    // Longer ones are not told apart as numbers.
    number.filter(|number| number.abs() < INEXACT)
}

/// Returns the one spelling of all that name what `name` does: of a number in plain decimals, without
/// leading zeros, that without sign of more and without zeros behind its decimals, however many digits
/// it has; of other words their normal form of Unicode.
pub fn one_spelling(name: &str) -> Cow<'_, str> {
    let digits = name.strip_prefix(['-', '+']).unwrap_or(name);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_of_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = whole.is_empty() || whole.len() > 1 && whole.starts_with('0');
    if is_name || !is_of_digits(whole) || !is_of_digits(fraction) {
        return unicode::composed(name);
    }
    let plain = match fraction.trim_end_matches('0') {
        "" => whole,
        fraction => &digits[..=whole.len() + fraction.len()],
    };
    match name.starts_with('-') && plain != "0" {
        true => Cow::Borrowed(&name[..=plain.len()]),
        false => Cow::Borrowed(plain),
    }
}

/// Returns the place of the one of `names` that is meant by `name`: the one that is written so, or else
/// the only one of which it is [another spelling](one_spelling).
pub fn place_of(names: &[String], name: &str) -> Option<usize> {
    let written = names.iter().position(|other| other == name);
    written.or_else(|| {
        let wanted = one_spelling(name);
        let mut meant = (0..names.len()).filter(|&at| one_spelling(&names[at]) == wanted);
        let only = meant.next();
        only.filter(|_| meant.next().is_none())
    })
}

/// Returns the numbers that `levels` say, in plain decimals; `None` where one of them is a word.
pub fn numbers_of(levels: &[String]) -> Option<Vec<f64>> {
    levels.iter().map(|level| plain_number(level)).collect()
}

/// An index that finds a level by any spelling.
pub struct Levels<'a> {
    words: HashMap<&'a str, i32>,
    /// The code by the bits of the number; `None` where several levels say the number.
    numbers: HashMap<u64, Option<i32>>,
    /// The code by the truth; `None` where several levels say the truth.
    truths: HashMap<bool, Option<i32>>,
}

impl<'a> Levels<'a> {
    /// Indexes `levels`, in code order.
    pub fn new(levels: &'a [String]) -> Levels<'a> {
        let mut found = Levels {
            words: HashMap::with_capacity(levels.len()),
            numbers: HashMap::new(),
            truths: HashMap::new(),
        };
        let keep = |only: &mut Option<i32>, code| *only = only.filter(|only| *only == code);
        for (code, level) in levels.iter().enumerate() {
            let code = code as i32;
            found.words.insert(level, code);
            if let Some(number) = plain_number(level) {
                keep(
                    found.numbers.entry(number.to_bits()).or_insert(Some(code)),
                    code,
                );
            }
            if let Some(truth) = truth(level) {
                keep(found.truths.entry(truth).or_insert(Some(code)), code);
            }
        }
        found
    }

    /// Returns the code of the level that `cell` spells.
    pub fn code(&self, cell: &str) -> Option<i32> {
        self.code_in(cell, NumberForm::PLAIN)
    }

    /// Returns the code of the level that says `number`.
    pub(super) fn code_of(&self, number: f64) -> Option<i32> {
        if self.numbers.is_empty() {
            return None;
        }
        // Adding zero takes the sign of -0 away.
        self.numbers
            .get(&(number + 0.0).to_bits())
            .copied()
            .flatten()
    }

    /// Returns the code of the level that `cell` spells, as [`Levels::code`] does, where numbers
    /// are written in `form`.
    pub(super) fn code_in(&self, cell: &str, form: NumberForm) -> Option<i32> {
        self.words.get(cell).copied().or_else(|| {
            if let Some(truth) = truth(cell) {
                return self.truths.get(&truth).copied().flatten();
            }
            if self.numbers.is_empty() {
                return None;
            }
            let plain = match form == NumberForm::PLAIN {
                true => plain_number(cell),
                false => None,
            };
            let number = plain.or_else(|| plain_number(&form.plain(cell)?))?;
            self.numbers.get(&number.to_bits()).copied().flatten()
        })
    }
}

/// Returns `words` without those that spell a number that another one spells shorter, or as short
/// and before; and one of those that are left out. All spellings of a number stay where one that
/// would be left out is among `apart`.
pub(super) fn merged(words: Vec<String>, apart: &[String]) -> (Vec<String>, Option<String>) {
    let mut shortest: HashMap<u64, usize> = HashMap::new();
    let numbers: Vec<_> = words.iter().map(|word| plain_number(word)).collect();
    for (at, number) in numbers.iter().enumerate() {
        if let Some(number) = number {
            let best = shortest.entry(number.to_bits()).or_insert(at);
            if words[at].len() < words[*best].len() {
                *best = at;
            }
        }
    }
    let spelt = numbers.iter().enumerate();
    let all_stay: HashSet<u64> = spelt
        .filter_map(|(at, number)| Some((at, (*number)?.to_bits())))
        .filter(|(at, bits)| shortest[bits] != *at && apart.contains(&words[*at]))
        .map(|(_, bits)| bits)
        .collect();
    let is_kept = |at: usize| {
        numbers[at].is_none_or(|number| {
            let bits = number.to_bits();
            shortest[&bits] == at || all_stay.contains(&bits)
        })
    };
    let (kept, left): (Vec<_>, Vec<_>) = words
        .into_iter()
        .enumerate()
        .partition(|(at, _)| is_kept(*at));
    let word = |(_, word): (usize, String)| word;
    (
        kept.into_iter().map(word).collect(),
        left.into_iter().map(word).next(),
    )
}

/// Returns two of `words` that differ in zeros behind decimals alone, such as 1.1 and 1.10, which may be
/// two codes; 1 and 1.0 are none.
pub(super) fn with_zeros_behind(words: &[String]) -> Option<[&str; 2]> {
    let mut first: HashMap<u64, &str> = HashMap::new();
    words.iter().find_map(|word| {
        let number = plain_number(word).filter(|number| number.fract() != 0.0)?;
        let other = *first.entry(number.to_bits()).or_insert(word);
        match other.len() > word.len() {
            _ if other == word => None,
            true => Some([word, other]),
            false => Some([other, word]),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_level_is_found_by_any_spelling_of_its_number() {
        let levels = words(&["0", "1.0", "2139", "many", "1E5", "7", "7.0"]);
        let levels = Levels::new(&levels);
        for (cell, code) in [
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("-0", Some(0)),
            ("1", Some(1)),
            ("1.00", Some(1)),
            ("02139", None),
            ("2139.0", Some(2)),
            ("many", Some(3)),
            ("1E5", Some(4)),
            ("100000", None),
            ("7", Some(5)),
            ("7.0", Some(6)),
            ("7.00", None),
            ("", None),
            (".", None),
            (&format!("0.{}1", "0".repeat(400)), None),
            ("1.0.0", None),
            ("nan", None),
        ] {
            assert_eq!(levels.code(cell), code, "{cell}");
        }
    }

    #[test]
    fn a_level_is_found_by_any_spelling_of_truth() {
        for (levels, cell, code) in [
            (["False", "True"], "true", Some(1)),
            (["False", "True"], "FALSE", Some(0)),
            (["true", "false"], "True", Some(0)),
            (["true", "unknown"], "FALSE", None),
            (["true", "True"], "True", Some(1)),
            (["true", "True"], "TRUE", None),
            (["no", "yes"], "true", None),
            (["0", "1"], "true", None),
            (["False", "True"], "t", None),
        ] {
            let levels = words(&levels);
            assert_eq!(
                Levels::new(&levels).code(cell),
                code,
                "{cell} of {levels:?}"
            );
        }
    }

    #[test]
    fn a_level_is_found_as_people_write_its_number() {
        let levels = words(&["1.5", "2000", "many"]);
        let levels = Levels::new(&levels);
        let german = NumberForm {
            decimal: ',',
            thousands: Some('.'),
        };
        for (cell, code) in [
            ("1,50", Some(0)),
            ("1.5", Some(0)),
            ("2.000", Some(1)),
            ("2.000 €", Some(1)),
            ("1.50", None),
            ("many", Some(2)),
        ] {
            assert_eq!(levels.code_in(cell, german), code, "{cell}");
        }
        assert_eq!(levels.code("2.000"), None);
        assert_eq!(levels.code("1.5 %"), Some(0));
    }

    #[test]
    fn a_name_is_found_by_any_spelling_that_means_it_alone() {
        let names = words(&["-1.0", "1", "Zu\u{308}rich", "7", "7.0", "07"]);
        for (name, place) in [
            ("-1.0", Some(0)),
            ("-1", Some(0)),
            ("1.00", Some(1)),
            ("Z\u{fc}rich", Some(2)),
            ("7.0", Some(4)),
            ("7.00", None),
            ("07", Some(5)),
            ("007", None),
            ("zurich", None),
        ] {
            assert_eq!(place_of(&names, name), place, "{name}");
        }
    }

    #[test]
    fn names_that_are_one_number_have_one_spelling() {
        for (name, expected) in [
            ("4", "4"),
            ("4.0", "4"),
            ("+4.", "4"),
            ("4.50", "4.5"),
            ("-4.0", "-4"),
            ("-4.50", "-4.5"),
            ("-0.0", "0"),
            ("0.10", "0.1"),
            ("100", "100"),
            ("9007199254740993.0", "9007199254740993"),
            ("04", "04"),
            ("1e3", "1e3"),
            (".5", ".5"),
            ("4.0.0", "4.0.0"),
            ("-", "-"),
            ("", ""),
            ("Ann", "Ann"),
            ("Jose\u{301}", "Jos\u{e9}"),
        ] {
            assert_eq!(one_spelling(name), expected, "{name}");
        }
    }

    #[test]
    fn the_shortest_spelling_stays() {
        let (kept, left) = merged(words(&["0.0", "many", "1", "0", "1.0", "01", "1E0"]), &[]);
        assert_eq!(kept, ["many", "1", "0", "01", "1E0"]);
        assert_eq!(left.as_deref(), Some("0.0"));
        let (kept, left) = merged(words(&["0.0", "1.0"]), &[]);
        assert_eq!((kept, left), (words(&["0.0", "1.0"]), None));
        let codes = words(&["1.10", "1.1", "2", "2.0", "1.100"]);
        let (kept, left) = merged(codes.clone(), &words(&["1.1", "2"]));
        assert_eq!((kept, left), (words(&["1.1", "2"]), Some("1.10".into())));
        let (kept, left) = merged(codes, &words(&["1.10", "1.1", "2"]));
        let expected = words(&["1.10", "1.1", "2", "1.100"]);
        assert_eq!((kept, left), (expected, Some("2.0".into())));
    }

    #[test]
    fn numbers_with_and_without_zeros_behind_decimals_are_told() {
        for (column, expected) in [
            (&["2", "1.10", "1.1"][..], Some(["1.1", "1.10"])),
            (&["1", "1.0", "2.00"], None),
            (&["1.10", "1.20", "3.00"], None),
            (&["1.1", "01.10", "x"], None),
        ] {
            let column = words(column);
            assert_eq!(with_zeros_behind(&column), expected, "{column:?}");
        }
    }
}
