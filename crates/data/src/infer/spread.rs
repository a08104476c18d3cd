//! Attributes that are spread over several columns, each of which says of one value whether a row
//! has it: `sex_female` and `sex_male`. Of some rows the value may not be known, and one value may have
//! no column (as where the first one is dropped): no column holds then.

use std::cmp::Reverse;

use super::column::{MANY, quoted};
use super::note::Note;
use super::options::InferOptions;
use crate::number_form::NumberForm;
use crate::spread::answer;

/// The least number of rows that two columns of one attribute would both hold in if they had nothing to do
/// with each other: by chance alone there are then none in at most seven of a thousand tables.
const EXPECTED: f64 = 5.0;

/// The columns in which every row says yes or no.
pub(super) struct Answers {
    /// The answers of each column, by row; none of a column with other cells.
    columns: Vec<Option<Vec<bool>>>,
}

impl Answers {
    /// Creates the answers of `width` columns. Only protected ones are asked about.
    pub fn new(width: usize, options: &InferOptions) -> Answers {
        let none = (!options.protected.is_empty()).then(Vec::new);
        Answers {
            columns: vec![none; width],
        }
    }

    /// Takes one cell of the column at `position` into account.
    pub fn look(&mut self, position: usize, cell: &str) {
        if let Some(answers) = &mut self.columns[position] {
            match answer(cell, NumberForm::PLAIN) {
                Some(answer) => answers.push(answer),
                None => self.columns[position] = None,
            }
        }
    }

    /// Returns the notes on protected columns that are one attribute with others, of those at `kept`
    /// among `names`.
    pub fn said(&self, names: &[String], kept: &[usize], options: &InferOptions) -> Vec<Note> {
        let columns = kept
            .iter()
            .filter_map(|&at| Some((at, self.columns[at].as_deref()?)));
        let columns: Vec<(usize, &[bool])> = columns
            .filter(|(_, answers)| answers.len() >= MANY)
            .collect();
        let is_protected = |at: usize| options.protected.contains(&names[at]);
        let (mut notes, mut seen) = (Vec::new(), Vec::new());
        for &(at, answers) in columns.iter().filter(|(at, _)| is_protected(*at)) {
            if seen.contains(&at) {
                continue;
            }
            let whole = group((at, answers), &columns, names);
            let (group, how, which) = match whole {
                Some(group) => (group, "exactly", "of none of its values or of two"),
                None => match apart((at, answers), &columns, names) {
                    Some(group) => (group, "at most", "of two of its values"),
                    None => continue,
                },
            };
            let all: Vec<&String> = group.iter().map(|&at| &names[at]).collect();
            let said = format!(
                "{} are one attribute, as {how} one of them holds in every row: changed alone or together they make people that cannot be, {which}, and shares count these; make them one column of words",
                quoted(&all)
            );
            notes.push(Note::new(&names[at], said));
            seen.extend(group);
        }
        notes
    }
}

/// Returns the places of the column at `first` and of others of `columns` that are called alike up to the
/// first sign between words, no two of which hold in one row although they would by chance; nothing where
/// there is no other.
fn apart(
    (first, answers): (usize, &[bool]),
    columns: &[(usize, &[bool])],
    names: &[String],
) -> Option<Vec<usize>> {
    let stem = stem(&names[first])?;
    let mut group = vec![(first, answers)];
    for &(at, other) in columns.iter().filter(|(at, _)| *at != first) {
        let is_alike = self::stem(&names[at]) == Some(stem);
        if is_alike && group.iter().all(|(_, one)| are_apart(one, other)) {
            group.push((at, other));
        }
    }
    let mut group: Vec<usize> = group.into_iter().map(|(at, _)| at).collect();
    group.sort_unstable();
    (group.len() > 1).then_some(group)
}

/// Returns whether two columns never hold in one row, and not by chance.
fn are_apart(one: &[bool], other: &[bool]) -> bool {
    let holding = |answers: &[bool]| answers.iter().filter(|holds| **holds).count() as f64;
    let expected = holding(one) * holding(other) / one.len().max(1) as f64;
    expected >= EXPECTED && !one.iter().zip(other).any(|(a, b)| *a && *b)
}

/// Returns what stands in `name` before the first sign between words: `race` of `race_white`.
fn stem(name: &str) -> Option<&str> {
    let end = name.find(|character: char| !character.is_alphanumeric())?;
    (end > 0).then(|| &name[..end])
}

/// Returns the places of the column at `first` and of others of `columns`, of all of which exactly
/// one says yes in every row: one other column, if that is enough, or else those that are called
/// like it or stand near it before others.
fn group(
    (first, answers): (usize, &[bool]),
    columns: &[(usize, &[bool])],
    names: &[String],
) -> Option<Vec<usize>> {
    let is_opposite =
        |(_, other): &&(usize, &[bool])| answers.iter().zip(*other).all(|(a, b)| a != b);
    let mut group = vec![first];
    if let Some((opposite, _)) = columns.iter().find(is_opposite) {
        group.push(*opposite);
    } else {
        let alike = |at: usize| {
            let pairs = names[first].chars().zip(names[at].chars());
            pairs.take_while(|(a, b)| a == b).count()
        };
        let mut others: Vec<_> = columns.iter().filter(|(at, _)| *at != first).collect();
        others.sort_by_key(|(at, _)| (Reverse(alike(*at)), at.abs_diff(first)));
        let mut taken = answers.to_vec();
        for (at, other) in others {
            if taken
                .iter()
                .zip(*other)
                .any(|(taken, other)| *taken && *other)
            {
                continue;
            }
            taken
                .iter_mut()
                .zip(*other)
                .for_each(|(taken, other)| *taken |= other);
            group.push(*at);
            if taken.iter().all(|taken| *taken) {
                break;
            }
        }
        if taken.contains(&false) {
            return None;
        }
    }
    group.sort_unstable();
    (group.len() > 1).then_some(group)
}
