//! What reading left out of the data, or changed in it, and groups that were left out.

use std::collections::BTreeSet;

use super::super::model::{BadRows, GroupLeftOut, PersonValue, ReadCounts, UnknownRows};
use super::super::text::{Text, count, counted, listed, read_counts};
use super::conditions::beside;

/// What became of the rows of a table that were not used as they are, in sentences.
pub(super) fn rows(data: &ReadCounts) -> Vec<String> {
    let mut said = read_counts(
        data.mapped_values,
        data.skipped_rows,
        data.unlabelled_rows,
        data.unknown_outcomes,
    );
    said.extend(data.bad_rows.as_ref().map(bad_rows));
    said
}

/// That rows were left out because something is wrong with them, and where the first of them stand.
pub(super) fn bad_rows(bad: &BadRows) -> String {
    let reasons = bad.reasons.iter().map(|of| {
        let more = match of.rows > of.first.len() as u64 {
            true => ", …",
            false => "",
        };
        let places = match of.first.is_empty() {
            true => String::new(),
            false => format!(" ({}{more})", of.first.join(", ")),
        };
        format!("{} because {}{places}", count(of.rows), of.reason)
    });
    format!(
        "{} left out: {}. Whether they are like the others is not known.",
        counted(bad.rows, "bad row was", "bad rows were"),
        reasons.collect::<Vec<_>>().join(", ")
    )
}

/// That people of whom it is not known whether they are in one of `groups`, each given by its conditions and
/// their number, are on neither side.
pub(super) fn unknown<'a>(groups: impl Iterator<Item = (&'a [PersonValue], u64)>) -> Vec<String> {
    let of_attributes = groups.filter(|(_, people)| *people > 0);
    let of_attributes: BTreeSet<(Vec<String>, u64)> = of_attributes
        .map(|(conditions, people)| {
            let names = conditions.iter();
            let names = names.map(|it| Text::value(&it.attribute).to_string());
            (names.collect(), people)
        })
        .collect();
    let said = of_attributes.into_iter().map(|(names, people)| {
        let count_on = if people == 1 { "counts on" } else { "count on" };
        format!(
            "{} whose {} is not known {count_on} neither side.",
            counted(people, "person", "people"),
            listed(&names, "or")
        )
    });
    said.collect()
}

/// That rows with a protected value that is not known are on neither side. Of values that are missing and
/// those that the schema does not have there is one level.
pub(super) fn unknown_rows(unknown: &UnknownRows) -> String {
    let names = unknown.attributes.iter();
    let names: Vec<String> = names.map(|name| Text::value(name).to_string()).collect();
    let count_on = if unknown.rows == 1 {
        "counts on"
    } else {
        "count on"
    };
    format!(
        "{} whose {} is missing, or no value of the schema, {count_on} neither side.",
        counted(unknown.rows, "row", "rows"),
        listed(&names, "or")
    )
}

/// That groups of an attribute were left out because they, or all others, are too few.
pub(super) fn groups(left_out: &[GroupLeftOut]) -> Option<String> {
    let named = left_out.iter().map(|group| {
        format!(
            "{} ({} of {})",
            beside(&group.protected, &group.reference),
            count(group.members),
            counted(group.members + group.others, "person", "people")
        )
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| {
        format!(
            "Nothing is said of groups that are too few people for it, or leave too few: {}.",
            listed(&named, "and")
        )
    })
}
