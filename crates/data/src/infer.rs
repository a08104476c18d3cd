//! Guesses a schema from a file, as a draft for a person to edit.
//!
//! Rules, applied to the whole file in one pass ([`column`]): a column of whole numbers is
//! `integer` over its range, or `categorical` if it holds two neighbours or a few codes with gaps
//! between them; other numbers, or whole numbers spread over more than
//! [`InferOptions::max_integer_span`] values, are `numeric` with bins at quantiles, or one for each
//! number, and for each bin the median of its rows as the number that stands for it; anything else
//! is `categorical` with its words in order of first appearance, ranges such as `35-44` and `>74` in
//! their order. Columns of one value, of dates, of free text, that count the rows or name them are
//! left out. `?`, `NA`, `N/A`, `null`, `nan` and empty cells count as missing, and signs such as
//! `.`, `<NA>` and a dash but for those of a label; in a table in memory,
//! whose missing values are nulls, such words are words where a column has no null. Words beside
//! many numbers, and numbers far away from all others that come again and again, are levels beside
//! the numbers (`infer::odd`).
//!
//! Columns of 0 and 1 of which exactly one holds in every row are one attribute, spread over them
//! (`infer::spread`), which is said where one of them is protected. Where the attribute is named that
//! they are values of, they are taken for it.
//!
//! Nothing of that is silent: what a person might want otherwise is a [`Note`], first of all which
//! class is the last one (`infer::classes`), with what to give. Columns of which nothing can be made
//! are refused together ([`InferError::Unplaced`]).

mod classes;
mod column;
mod comments;
mod error;
mod escape;
mod layout;
mod note;
mod odd;
mod options;
mod spread;
mod truths;
mod typed;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

pub use self::classes::usually_favourable;
pub use self::column::is_identifier;
use self::column::{Column, Made};
pub use self::error::{Ambiguous, InferError};
pub use self::layout::text_layout;
use self::layout::{Layout, WHOLE_FILE};
pub use self::note::{Note, Way};
pub use self::options::InferOptions;
use self::spread::Answers;
pub use self::typed::typed;
use super::memory;
use super::read::{BadRows, ReadError, Record, Records, Unnamed};
pub use super::schema::is_missing;
use super::schema::{Label, Missing, Schema};
use super::source::DataFile;
use super::unicode;

/// A schema to be edited by a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draft {
    /// The schema.
    #[serde(flatten)]
    pub schema: Schema,
    /// The decisions that may be wrong.
    pub notes: Vec<Note>,
    /// The rows that were left out because something is wrong with them.
    #[serde(skip_serializing_if = "BadRows::is_empty")]
    pub bad_rows: BadRows,
}

/// Reads `file` and drafts its schema.
///
/// # Errors
/// See [`InferError`].
pub fn infer(file: &Path, options: &InferOptions) -> Result<Draft, InferError> {
    let draft = drafted(file, options).map_err(InferError::without_schema);
    draft.map_err(|error| error.of_columns_taken_together(&options.format))
}

fn drafted(file: &Path, options: &InferOptions) -> Result<Draft, InferError> {
    let opened = DataFile::open_rereadable(file)?;
    let layout = layout::found(&opened, options)?;
    let mut records = Records::from_file(&opened, &layout.format)?;
    let names = records.names().to_vec();
    let options = &options.of_columns(&records)?;
    options.check()?;
    let in_memory = memory::is_name(file);
    let is_repeated = |at: usize| names[..at].contains(&names[at]);
    for name in names.iter().filter(|name| !options.ignore.contains(name)) {
        // From now on a row is refused in which another column of the name holds something else.
        records.require(name)?;
    }
    let mut columns: Vec<Column> = names
        .iter()
        .map(|name| Column::new(name, options))
        .collect();
    let mut answers = Answers::new(names.len(), options);
    let mut rows = 0;
    let mut bad_rows = BadRows::default();
    loop {
        let row = match records.advance() {
            Ok(None) => break,
            Ok(Some(record)) => match whole(&record, &names, options, in_memory) {
                Ok(()) => look(
                    &record,
                    (&mut columns, &mut answers),
                    &names,
                    &layout,
                    options,
                ),
                Err(error) => Err(error.into()),
            },
            Err(error) => Err(error.into()),
        };
        match row {
            Ok(()) => rows += 1,
            Err(InferError::Read(error)) => bad_rows.add(error, &records)?,
            Err(error) => return Err(error),
        }
    }
    if rows == 0 {
        let expected = "rows to learn the domains from";
        return Err(bad_rows.none_left(file, expected).into());
    }
    let mut words = options.classes.clone();
    let (mut format, mut notes) = (layout.format.clone(), layout.notes.clone());
    if records.unnamed() == Some(Unnamed::Last) {
        let said = "the rows have one field more than the header has names: the last field, which is empty, is left out";
        notes.push(Note::new(WHOLE_FILE, said));
    }
    let (mut attributes, mut kept, mut unplaced) = (Vec::new(), Vec::new(), Vec::new());
    let (mut outcomes, mut aliases) = (Missing::default(), BTreeMap::new());
    let mut leaves_out = !options.ignore.is_empty();
    for (at, (column, name)) in columns.into_iter().zip(&names).enumerate() {
        if options.ignore.contains(name) {
            if is_repeated(at) {
                let first = names.iter().position(|it| it == name).unwrap_or(at);
                let said = format!(
                    "columns {} and {} of the header have this name, and both are left out",
                    first + 1,
                    at + 1
                );
                notes.push(Note::new(name, said));
            }
            continue;
        }
        if is_repeated(at) {
            leaves_out = true;
            let why = "another column of this name before it holds the same";
            notes.push(Note::of_left_out(name, why));
            continue;
        }
        let columns = format.spread.get(name);
        // What columns are called by is a mark whether or not a table in memory has nulls in them.
        let column = column.decided(options, in_memory && columns.is_none());
        column.check()?;
        if let Some(columns) = columns {
            let (attribute, note) = spread::attribute(name, columns, &column, options);
            attributes.push(attribute);
            notes.extend(column.said_of_marks());
            notes.extend(note);
            notes.extend(column.said_of_missing(rows));
            continue;
        }
        notes.extend(column.said_of_marks());
        if *name == options.label {
            // Classes that are given are those of a model, whatever the column holds.
            outcomes = column.marks();
            notes.extend(column.said_of_outcomes(rows, options));
            if options.classes.is_empty() && !options.label_holds_numbers() {
                match column.classes(options) {
                    Ok((classes, alike, said)) => {
                        (words, aliases) = (classes, alike);
                        notes.extend(said);
                    }
                    Err(note) => unplaced.push(note),
                }
            } else if let Some(threshold) = options.label_threshold {
                unplaced.extend(column.one_side(threshold));
            }
            continue;
        }
        let is_of_numbers = !column.is_of_words();
        let is_index = at == 0 && column.holds_whole_numbers();
        match column.made(rows, options) {
            Made::Kept(..) if name.trim().is_empty() => {
                match is_index && !options.protected.contains(name) {
                    true => {
                        leaves_out = true;
                        let why = "it has no name and holds whole numbers, as the index that pandas writes";
                        notes.push(Note::of_left_out(name, why));
                    }
                    false => {
                        let said = "it has no name; give it one in the header";
                        let way = Way::of_all("ignore", [name], "leaves it out");
                        unplaced.push(Note::new(name, said).or(way));
                    }
                }
            }
            Made::Kept(attribute, said) => match layout.mixed(at, name).filter(|_| is_of_numbers) {
                Some(mixed) => unplaced.push(mixed),
                None => {
                    attributes.push(attribute);
                    kept.push(at);
                    notes.extend(said);
                }
            },
            Made::LeftOut(why) if options.protected.contains(name) => {
                let said =
                    format!("it is protected, but {why}; name another one, or change the file");
                unplaced.push(Note::new(name, said));
            }
            Made::LeftOut(why) => {
                leaves_out = true;
                notes.push(Note::of_left_out(name, &why));
            }
            Made::Unplaced(note) => unplaced.push(note),
        }
    }
    notes.extend(answers.said(&names, &kept, options));
    if !unplaced.is_empty() {
        return Err(InferError::Unplaced { notes: unplaced });
    }
    let (label, note) = match options.label_threshold {
        _ if options.number => {
            let said = "its numbers are predicted, and larger ones count as better to get";
            let note = Note::new(&options.label, said);
            (Label::of_numbers(&options.label), note)
        }
        Some(threshold) => {
            let label = Label::of_threshold(&options.label, threshold);
            let last = label.classes.last().cloned().unwrap_or_default();
            let said =
                format!("its last class is '{last}': groups --favourable names the other one");
            (label, Note::new(&options.label, said))
        }
        None => {
            let favourable = options.favourable.as_ref();
            let favourable = favourable.map(|class| aliases.get(class).unwrap_or(class).as_str());
            let (classes, note) = classes::ordered(&options.label, words, favourable)?;
            let label = Label {
                aliases,
                ..Label::of_classes(&options.label, classes)
            };
            (label, note)
        }
    };
    notes.insert(0, note);
    format.ignore_other_columns = leaves_out;
    let schema = Schema {
        name: options.name.clone(),
        format,
        label: Label {
            missing: outcomes,
            ..label
        },
        attributes,
    };
    schema.check()?;
    Ok(Draft {
        schema,
        notes,
        bad_rows,
    })
}

impl InferOptions {
    /// Returns the options with the columns called as they are in `records`, whatever Unicode form
    /// they were typed in.
    fn of_columns(&self, records: &Records) -> Result<InferOptions, InferError> {
        let names = records.names();
        let find = |wanted: &String| {
            let found = unicode::place(names, wanted).map(|place| names[place].clone());
            found.ok_or_else(|| records.missing_column(wanted))
        };
        let all = |wanted: &[String]| wanted.iter().map(find).collect::<Result<Vec<_>, _>>();
        let keys = |wanted: &BTreeMap<String, Vec<String>>| {
            let named = wanted.iter();
            let named = named.map(|(column, cells)| Ok((find(column)?, cells.clone())));
            named.collect::<Result<BTreeMap<_, _>, ReadError>>()
        };
        Ok(InferOptions {
            label: match find(&self.label) {
                Err(error) if self.classes.is_empty() => return Err(error.into()),
                found => found.unwrap_or_else(|_| self.label.clone()),
            },
            protected: all(&self.protected)?,
            ignore: all(&self.ignore)?,
            merge: all(&self.merge)?,
            missing: keys(&self.missing)?,
            level: keys(&self.level)?,
            ..self.clone()
        })
    }

    /// Returns whether the cells of the label are numbers rather than classes.
    pub(super) fn label_holds_numbers(&self) -> bool {
        self.number || self.label_threshold.is_some()
    }

    /// Refuses columns that are said to be two things, and classes of numbers.
    fn check(&self) -> Result<(), InferError> {
        let roles = |column: &String, first, second| {
            Err(InferError::TwoRoles {
                column: column.clone(),
                first,
                second,
            })
        };
        for (columns, of) in [(&self.ignore, "ignored"), (&self.protected, "protected")] {
            if columns.contains(&self.label) {
                return roles(&self.label, "the label", of);
            }
        }
        let is_ignored = |name: &&String| self.ignore.contains(name);
        if let Some(both) = self.protected.iter().find(is_ignored) {
            return roles(both, "protected", "ignored");
        }
        let said = self
            .missing
            .keys()
            .chain(self.level.keys())
            .chain(&self.merge);
        if let Some(both) = said.clone().find(is_ignored) {
            return roles(both, "described", "ignored");
        }
        for (column, cells) in &self.level {
            let marks = self.missing.get(column).into_iter().flatten();
            if let Some(both) = marks.clone().find(|mark| cells.contains(mark)) {
                return Err(InferError::TwoMeanings {
                    column: column.clone(),
                    cell: both.clone(),
                });
            }
        }
        for (field, is_given) in [
            ("classes", !self.classes.is_empty()),
            ("favourable", self.favourable.is_some()),
            (
                "label_threshold",
                self.number && self.label_threshold.is_some(),
            ),
        ] {
            if self.label_holds_numbers() && is_given {
                return Err(InferError::Numbers { field });
            }
        }
        Ok(())
    }
}

/// Refuses a row that has a cell that is no text, or no class. A null of a table in memory is an
/// outcome that is missing; an empty cell of a file may be part of a row that is broken.
fn whole(
    record: &Record<'_>,
    names: &[String],
    options: &InferOptions,
    in_memory: bool,
) -> Result<(), ReadError> {
    for (position, name) in names.iter().enumerate() {
        if options.ignore.contains(name) {
            continue;
        }
        let cell = record.cell(position)?;
        if *name != options.label {
            continue;
        }
        let marks = options.missing.get(name);
        let is_mark = match cell.is_empty() {
            true => in_memory || marks.is_some_and(|marks| marks.iter().any(String::is_empty)),
            false => marks.map_or_else(
                || is_missing(cell),
                |marks| marks.iter().any(|mark| mark == cell),
            ),
        };
        if options.label_holds_numbers() && !is_mark {
            record.target(position)?;
        } else if cell.is_empty() && !is_mark {
            return Err(record.no_class(position));
        }
    }
    Ok(())
}

/// Passes the cells of a row to their columns.
fn look(
    record: &Record<'_>,
    (columns, answers): (&mut [Column], &mut Answers),
    names: &[String],
    layout: &Layout,
    options: &InferOptions,
) -> Result<(), InferError> {
    for (position, (column, name)) in columns.iter_mut().zip(names).enumerate() {
        if !options.ignore.contains(name) {
            let cell = record.cell(position)?;
            answers.look(position, cell);
            match layout.plain(position, name, cell)? {
                // A mark or a level is what a person typed, as it stands in the file.
                Some(plain) if !column.is_said_of(cell) => column.look_at_number(&plain, options),
                Some(_) => column.look(cell, options),
                None => column.look(cell, options),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_as_they_come;
