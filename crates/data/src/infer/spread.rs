//! Attributes that are spread over several columns, each of which says of one value whether a row
//! has it: `sex_female` and `sex_male`.

use std::cmp::Reverse;

use super::column::{MANY, quoted};
use super::note::{Note, Way};
use super::options::InferOptions;
use crate::spelling::{number, truth};

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
            match answer(cell) {
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
            let Some(group) = group((at, answers), &columns, names) else {
                continue;
            };
            let all: Vec<&String> = group.iter().map(|&at| &names[at]).collect();
            let said = format!(
                "{} are one attribute, as exactly one of them holds in every row: to change one alone makes people that cannot be, of none of its values or of two; make them one column of words",
                quoted(&all)
            );
            let note = Note::new(&names[at], said);
            let others = all
                .into_iter()
                .filter(|name| !options.protected.contains(name));
            let others: Vec<&String> = others.collect();
            notes.push(match others.is_empty() {
                true => note,
                false => {
                    let protected = options.protected.iter().chain(others);
                    note.or(Way::of_all(
                        "protected",
                        protected,
                        "protects them all, if they must stay",
                    ))
                }
            });
            seen.extend(group);
        }
        notes
    }
}

/// Returns what `cell` says: 1 and `true`, or 0 and `false`.
fn answer(cell: &str) -> Option<bool> {
    let of_number = || match number(cell)? {
        0.0 => Some(false),
        1.0 => Some(true),
        _ => None,
    };
    truth(cell).or_else(of_number)
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
    Some(group)
}
