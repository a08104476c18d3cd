//! Attributes that are spread over several columns, each of which says of one value whether a row
//! has it: `sex_female` and `sex_male`. Of some rows the value may not be known, and one value may have
//! no column (as where the first one is dropped): no column holds then.
//!
//! Where a protected attribute is named that is no column, and columns are called by it and a value, it is
//! the attribute that is spread over them ([`found`]).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::column::{Column, MANY};
use super::error::InferError;
use super::note::{Note, Way};
use super::options::InferOptions;
use crate::number_form::NumberForm;
use crate::read::{OfRow, ReadError, Records};
use crate::schema::{Attribute, Format, Kind, OutOfDomain, Spread, is_missing};
use crate::source::DataFile;
use crate::spelling::{number, truth};
use crate::spread::answer;
use crate::unicode;
use crate::words::quoted;

/// The signs that may stand between the name of an attribute and a value.
const SIGNS: [char; 6] = ['_', '-', '.', '=', ':', ' '];

/// The number of rows of which one may hold something else than an answer by mistake.
const SELDOM: usize = 20;

/// The level of rows in which no column holds.
const BASE: &str = "(none of these)";

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
                "{} are one attribute, as {how} one of them holds in every row: changed alone or together they make people that cannot be, {which}, and shares count these",
                quoted(&all)
            );
            notes.push(match self.name_of(&group, names, options) {
                Some(name) => {
                    let effect = "in place of their names takes them for one";
                    Note::new(&names[at], said).or(Way::of_all("protected", [name], effect))
                }
                None => Note::new(&names[at], said + "; make them one column of words"),
            });
            seen.extend(group);
        }
        notes
    }

    /// Returns the name by which [`found`] takes the columns at `group` for one attribute, if there is one.
    fn name_of<'n>(
        &self,
        group: &[usize],
        names: &'n [String],
        options: &InferOptions,
    ) -> Option<&'n str> {
        let first = &names[*group.first()?];
        let is_shared = |end: usize| {
            let mut others = group.iter();
            others.all(|&at| names[at].starts_with(&first[..end]))
        };
        let mut ends = first.rmatch_indices(SIGNS).map(|(end, _)| end);
        let end = ends.find(|&end| end > 0 && is_shared(end + 1))?;
        let name = &first[..end];
        let called = called(name, names, options).into_iter();
        let of_answers = called.map(|(at, _)| at);
        let of_answers = of_answers.filter(|&at| self.columns[at].is_some());
        (of_answers.eq(group.iter().copied()) && unicode::place(names, name).is_none())
            .then_some(name)
    }
}

/// Returns the places of the columns that are called by the attribute `name` and a value, and the values.
fn called(name: &str, names: &[String], options: &InferOptions) -> Vec<(usize, String)> {
    // In any case: one column of several may be spelt otherwise than the others.
    let value = |column: &str| {
        let (own, value) = column.split_at_checked(name.len())?;
        let value = value.strip_prefix(SIGNS)?;
        if own.to_lowercase() != name.to_lowercase() {
            return None;
        }
        let value = unicode::trimmed(value);
        (!value.is_empty()).then(|| value.to_owned())
    };
    let is_asked = |column: &String| {
        !options.ignore.iter().any(|it| unicode::same(it, column))
            && !unicode::same(&options.label, column)
    };
    let columns = names.iter().enumerate();
    let columns = columns.filter(|&(_, column)| is_asked(column));
    columns
        .filter_map(|(at, column)| Some((at, value(column)?)))
        .collect()
}

/// Finds the attributes that `options` name as protected and that `file`, laid out as `format` says,
/// spreads over columns; also what a person should know of them. Rows in which the columns say no one level
/// are for whoever reads the rows, who says where they stand, or leaves them out.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn found(
    file: &DataFile,
    format: &Format,
    options: &InferOptions,
) -> Result<(BTreeMap<String, Spread>, Vec<Note>), InferError> {
    let (mut spread, mut notes) = (format.spread.clone(), Vec::new());
    if options.protected.is_empty() {
        return Ok((spread, notes));
    }
    file.rewind()?;
    let mut records = Records::from_file(file, format)?;
    let names = records.names().to_vec();
    let sought = options.protected.iter();
    let sought = sought.filter(|name| unicode::place(&names, name).is_none());
    let mut sought: Vec<Sought> = sought
        .map(|name| Sought::new(name, called(name, &names, options)))
        .filter(|sought| sought.columns.len() > 1)
        .collect();
    if sought.is_empty() {
        return Ok((spread, notes));
    }
    loop {
        let record = match records.advance() {
            Ok(None) => break,
            Ok(Some(record)) => record,
            // Whoever reads the rows says what is wrong, and where.
            Err(error) if error.reason().is_some() => continue,
            Err(error) => return Err(error.into()),
        };
        for one in &mut sought {
            for column in &mut one.columns {
                let said = match record.cell(column.at) {
                    Ok(cell) => match answer(cell, NumberForm::PLAIN) {
                        None if !is_missing(cell) => {
                            column.others += 1;
                            None
                        }
                        said => {
                            column.keep(cell, said);
                            said
                        }
                    },
                    Err(ReadError::ColumnType { .. }) => {
                        column.others += 1;
                        None
                    }
                    Err(error) if error.reason().is_some() => None,
                    Err(error) => return Err(error.into()),
                };
                column.said.push(said);
            }
        }
    }
    for one in sought {
        if let Some((columns, note)) = one.spread(&names) {
            spread.insert(one.name, columns);
            notes.push(note);
        }
    }
    Ok((spread, notes))
}

/// An attribute that is sought in columns which are called by it.
struct Sought {
    name: String,
    columns: Vec<Called>,
}

/// A column that is called by an attribute and a value.
struct Called {
    at: usize,
    value: String,
    /// What the column says of each row; nothing where that is missing.
    said: Vec<Option<bool>>,
    /// The number of rows of which it says something else.
    others: usize,
    /// The first two spellings of no, and of yes.
    spellings: [Vec<String>; 2],
}

impl Called {
    /// Keeps how a cell spells what it says.
    fn keep(&mut self, cell: &str, said: Option<bool>) {
        let Some(said) = said else {
            return;
        };
        let spellings = &mut self.spellings[usize::from(said)];
        if spellings.len() < 2 && !spellings.iter().any(|known| known == cell) {
            spellings.push(cell.to_owned());
        }
    }

    /// Returns whether the column says yes or no more often than something else.
    fn is_mostly_of_answers(&self) -> bool {
        self.others == 0 || self.said.iter().flatten().count() > self.others
    }

    /// Returns whether the column says something else so rarely that this may be a mistake.
    fn may_be_of_answers(&self) -> bool {
        self.is_mostly_of_answers() && self.others <= (self.said.len() / SELDOM).max(1)
    }
}

impl Sought {
    fn new(name: &str, called: Vec<(usize, String)>) -> Sought {
        let column = |(at, value)| Called {
            at,
            value,
            said: Vec::new(),
            others: 0,
            spellings: [Vec::new(), Vec::new()],
        };
        Sought {
            name: name.to_owned(),
            columns: called.into_iter().map(column).collect(),
        }
    }

    /// Returns the columns of the attribute, and what a person should know of them; nothing where there
    /// are less than two.
    fn spread(&self, names: &[String]) -> Option<(Spread, Note)> {
        let clean = self.columns.iter().filter(|column| column.others == 0);
        // Without two of them it is these columns or none.
        let are_all = clean.count() < 2;
        let is_taken = |column: &&Called| match are_all {
            true => column.is_mostly_of_answers(),
            false => column.may_be_of_answers(),
        };
        let (columns, others): (Vec<&Called>, Vec<&Called>) =
            self.columns.iter().partition(is_taken);
        if columns.len() < 2 {
            return None;
        }
        let named = |columns: &[&Called]| {
            let names = columns.iter().map(|column| names[column.at].clone());
            names.collect::<Vec<String>>()
        };
        let none_holds = |row: &usize| {
            let mut columns = columns.iter();
            columns.all(|column| column.said[*row] == Some(false))
        };
        let without = (0..columns[0].said.len()).filter(none_holds).count();
        let levels: Vec<String> = columns.iter().map(|column| column.value.clone()).collect();
        let mut base = BASE.to_owned();
        while levels.contains(&base) {
            base = format!("({base})");
        }
        let mut said = format!(
            "taken together as one attribute ([format.spread]): {}",
            quoted(&named(&columns))
        );
        if without > 0 {
            said += &format!(
                "; in {without} rows none of them holds, which is the level '{base}': call it what it is, as base and among the levels"
            );
        }
        if columns.windows(2).any(|pair| pair[0].at + 1 != pair[1].at) {
            said += "; they do not stand side by side, but a model that takes a matrix, which has no names, gets them so: such a model needs an input for each column, or a table in which they do";
        }
        if !others.is_empty() {
            said += &format!(
                "; {}: a column of its own, which holds other things than yes and no",
                quoted(&named(&others))
            );
        }
        let spread = Spread {
            columns: named(&columns),
            levels,
            base: (without > 0).then_some(base),
            answers: answers(&columns),
        };
        Some((spread, Note::new(&self.name, said)))
    }
}

/// Returns the words by which `columns` say no and yes, where these are one each that a model does not know
/// as 0 and 1: it does know a truth of programs so.
fn answers(columns: &[&Called]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for said in 0..2 {
        let spellings = columns.iter().flat_map(|column| &column.spellings[said]);
        let mut spellings: Vec<&String> = spellings.collect();
        spellings.sort();
        spellings.dedup();
        match spellings[..] {
            [word] if number(word).is_none() && truth(word).is_none() => words.push(word.clone()),
            _ => return Vec::new(),
        }
    }
    words
}

/// Returns the attribute called `name` that is spread over columns, which were read as `column`, and what
/// a person should know of it. A word that one is about is no level where it is a mark of missing values,
/// as `nan` of `race_nan`.
pub(super) fn attribute(
    name: &str,
    spread: &Spread,
    column: &Column,
    options: &InferOptions,
) -> (Attribute, Option<Note>) {
    let marks = column.marks_among(spread.all_levels());
    let levels = spread.all_levels().filter(|level| !marks.contains(level));
    let known = column.marks();
    let is_new = |mark: &&String| !known.marks().contains(mark);
    let new: Vec<&String> = marks.iter().copied().filter(is_new).collect();
    let attribute = Attribute {
        name: name.to_owned(),
        kind: Kind::Categorical {
            levels: levels.cloned().collect(),
            ordered: false,
        },
        protected: options.protected.iter().any(|have| have == name),
        named: Vec::new(),
        missing: known
            .marks()
            .iter()
            .chain(new.iter().copied())
            .cloned()
            .collect(),
        merge: BTreeMap::new(),
        outside: match column.has_missing() {
            true => OutOfDomain::Level,
            false => OutOfDomain::Reject,
        },
    };
    let note = (!new.is_empty()).then(|| {
        let said = format!(
            "no row has {}, for which there is a column: a mark of missing values",
            quoted(&new)
        );
        let none: [&str; 0] = [];
        let effect = "if that is a level";
        Note::new(name, said).or(Way::of_column("missing", name, none, effect))
    });
    (attribute, note)
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
