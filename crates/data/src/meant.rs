//! The numbers that words mean to those who train models: a number itself, and 1 for true and 0 for
//! false.

use crate::numbers::numbers_of;
use crate::schema::{Attribute, Kind, OutOfDomain};

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
/// data: `sex: Female = 0, Male = 1`, `wage: its bin, from 0 to 9`, or `debt: its number, 8888 = 10` of a
/// level beside numbers. The code of what is missing or outside the domain comes last.
///
/// ```
/// use probity_data::meant::entering;
/// use probity_data::schema::Attribute;
///
/// let written = "name = \"age\"\nkind = \"integer\"\nmin = 1\nmax = 5\nlevels = [\"none\"]\n\
///                missing = \"99\"\noutside = \"level\"";
/// let age: Attribute = toml::from_str(written)?;
/// let entered = "age: its number, none = 6, 99 and what is outside = 7";
/// assert_eq!(entering(&age).as_deref(), Some(entered));
/// # Ok::<(), toml::de::Error>(())
/// ```
pub fn entering(attribute: &Attribute) -> Option<String> {
    let (min, max) = attribute.ordered_domain();
    let mut shown: Vec<String> = match &attribute.kind {
        Kind::Categorical { levels, .. } => {
            let levels = levels.iter().take(SHOWN).enumerate();
            levels
                .map(|(place, level)| format!("{level} = {}", entered(attribute, place)))
                .collect()
        }
        Kind::Integer { .. } => vec!["its number".to_owned()],
        Kind::Numeric { .. } => vec![format!("its bin, from {min} to {max}")],
    };
    let beside = attribute.named.iter().take(SHOWN).zip(1_i64..);
    shown.extend(beside.map(|(level, above)| format!("{level} = {}", i64::from(max) + above)));
    let listed = match &attribute.kind {
        Kind::Categorical { levels, .. } => levels.len(),
        Kind::Integer { .. } | Kind::Numeric { .. } => attribute.named.len(),
    };
    if listed > SHOWN {
        shown.push("…".to_owned());
    }
    if attribute.outside == OutOfDomain::Level {
        let number = match &attribute.kind {
            Kind::Categorical { levels, .. } => entered(attribute, levels.len()),
            Kind::Integer { .. } | Kind::Numeric { .. } => f64::from(attribute.domain().1),
        };
        let which = match attribute.missing.first().filter(|mark| !mark.is_empty()) {
            Some(mark) => format!("{mark} and what is outside"),
            None => "what is outside".to_owned(),
        };
        shown.push(format!("{which} = {number}"));
    }
    let is_itself = matches!(attribute.kind, Kind::Integer { .. }) && shown.len() == 1;
    (!is_itself).then(|| format!("{}: {}", attribute.name, shown.join(", ")))
}

/// Returns the number that enters for the code `place` of levels, which may be the one above them: where
/// they mean numbers, these go on in the step of the first two.
fn entered(attribute: &Attribute, place: usize) -> f64 {
    let numbers = match &attribute.kind {
        Kind::Categorical { levels, .. } => meant(levels).unwrap_or_default(),
        Kind::Integer { .. } | Kind::Numeric { .. } => Vec::new(),
    };
    let step = |first: f64| numbers.get(1).map_or(1.0, |second| second - first);
    match (numbers.get(place), numbers.first()) {
        (Some(number), _) => *number,
        (None, Some(first)) => first + step(*first) * place as f64,
        (None, None) => place as f64,
    }
}
