//! The numbers that words mean to those who train models: a number itself, and 1 for true and 0 for
//! false.

use crate::numbers::numbers_of;
use crate::schema::{Attribute, Kind};

/// The most levels of an attribute that a message shows.
const SHOWN: usize = 8;

/// The pairs of words for true and for false, in any case.
pub const TRUTHS: [[&str; 2]; 5] = [
    ["true", "false"],
    ["yes", "no"],
    ["t", "f"],
    ["y", "n"],
    ["1", "0"],
];

/// Returns whether `word` means true; nothing where it means neither true nor false.
///
/// ```
/// use probity_data::meant::truth;
///
/// assert_eq!(truth("TRUE"), Some(true));
/// assert_eq!(truth("n"), Some(false));
/// assert_eq!(truth("maybe"), None);
/// ```
pub fn truth(word: &str) -> Option<bool> {
    TRUTHS.iter().find_map(|[yes, no]| match word {
        word if word.eq_ignore_ascii_case(yes) => Some(true),
        word if word.eq_ignore_ascii_case(no) => Some(false),
        _ => None,
    })
}

/// Returns the numbers that all of `words` mean: those that they are in plain decimals, or 1 for true
/// and 0 for false; nothing where some are other words, such as 02139.
pub fn meant(words: &[String]) -> Option<Vec<f64>> {
    let of_truth = |word: &String| truth(word).map(|is_true| f64::from(u8::from(is_true)));
    numbers_of(words).or_else(|| words.iter().map(of_truth).collect())
}

/// Returns for each of `classes` the number by which those call it who count classes from 0: its rank
/// where all of them mean numbers, none twice, and else its place.
///
/// ```
/// use probity_data::meant::counted;
///
/// let classes = |names: [&str; 2]| names.map(str::to_owned);
/// assert_eq!(counted(&classes(["1", "0"])), [1, 0]);
/// assert_eq!(counted(&classes(["yes", "no"])), [1, 0]);
/// assert_eq!(counted(&classes(["low", "high"])), [0, 1]);
/// assert_eq!(counted(&classes(["2", "1"])), [1, 0]);
/// assert_eq!(counted(&classes(["1", "-1"])), [1, 0]);
/// ```
pub fn counted(classes: &[String]) -> Vec<usize> {
    let numbers = meant(classes).unwrap_or_default();
    let rank = |number: &f64| numbers.iter().filter(|other| *other < number).count();
    let ranks: Vec<usize> = numbers.iter().map(rank).collect();
    let is_each = (0..classes.len()).all(|rank| ranks.contains(&rank));
    match !numbers.is_empty() && is_each {
        true => ranks,
        false => (0..classes.len()).collect(),
    }
}

/// Returns what a model that is given codes is given for `attribute`, if that is not what stands in the
/// data: `sex: Female = 0, Male = 1`, or `wage: its bin, from 0 to 9`.
pub fn entering(attribute: &Attribute) -> Option<String> {
    let levels = match &attribute.kind {
        Kind::Categorical { levels, .. } => levels,
        Kind::Integer { .. } => return None,
        Kind::Numeric { .. } => {
            let (min, max) = attribute.domain();
            return Some(format!("{}: its bin, from {min} to {max}", attribute.name));
        }
    };
    let numbers = meant(levels);
    let number = |place: usize| match &numbers {
        Some(numbers) => numbers[place],
        None => place as f64,
    };
    let shown = levels.iter().take(SHOWN).enumerate();
    let mut shown: Vec<String> = shown
        .map(|(place, level)| format!("{level} = {}", number(place)))
        .collect();
    if levels.len() > SHOWN {
        shown.push("…".to_owned());
    }
    Some(format!("{}: {}", attribute.name, shown.join(", ")))
}
