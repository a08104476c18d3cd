//! The conditions that a group of people is told by, in words.

use super::super::model::PersonValue;
use super::super::text::{Text, listed};

/// Returns `sex=female, race=black`, or `race=black beside race=white` where people are compared with those
/// of `reference` alone.
pub(crate) fn named(conditions: &[PersonValue], reference: &[PersonValue]) -> String {
    let all = |conditions: &[PersonValue]| {
        let named = conditions.iter();
        let named = named.map(|it| format!("{}={}", it.attribute, it.value));
        named.collect::<Vec<_>>().join(", ")
    };
    match reference {
        [] => all(conditions),
        reference => format!("{} beside {}", all(conditions), all(reference)),
    }
}

/// Returns `sex ‘female’ and race ‘black’`.
pub(super) fn in_words(conditions: &[PersonValue]) -> String {
    let conditions = conditions.iter();
    let named = conditions.map(|it| {
        format!(
            "{} ‘{}’",
            Text::value(&it.attribute),
            Text::value(&it.value)
        )
    });
    listed(&named.collect::<Vec<_>>(), "and")
}

/// Returns `race ‘black’`, or `race ‘black’ beside race ‘white’` where people are compared with those of
/// `reference` alone.
pub(super) fn beside(conditions: &[PersonValue], reference: &[PersonValue]) -> String {
    match reference {
        [] => in_words(conditions),
        reference => format!("{} beside {}", in_words(conditions), in_words(reference)),
    }
}

/// Returns where those are with whom people of a group are compared: `outside of the group`, or `with
/// race ‘white’`.
pub(super) fn elsewhere(reference: &[PersonValue]) -> String {
    match reference {
        [] => "outside of the group".to_owned(),
        reference => format!("with {}", in_words(reference)),
    }
}
