//! Guesses a schema from a file, as a draft for a person to edit.
//!
//! Rules, applied to the whole file in one pass ([`column`]): a column of whole numbers is
//! `integer` over its range, or `categorical` if it holds two neighbours or a few codes with gaps
//! between them; other numbers, or whole numbers spread over more than
//! [`InferOptions::max_integer_span`] values, are `numeric` with bins at quantiles, or one for each
//! number, and for each bin the median of its rows as the number that stands for it; anything else
//! is `categorical` with its words in order of first appearance. Columns of one value, of dates,
//! that count the rows or name them are left out. `?`, `NA`, `N/A`, `null`, `nan` and empty cells
//! count as missing; a column has one marker, so a second spelling is refused rather than guessed
//! at.
//!
//! Nothing of that is silent: what a person might want otherwise is a [`Note`], first of all which
//! class is the last one (`infer::classes`).

mod classes;
mod column;
mod error;
mod options;

use std::path::Path;

use serde::Serialize;

pub use self::column::is_missing;
use self::column::{Column, Made};
pub use self::error::InferError;
pub use self::options::InferOptions;
use super::read::{BadRows, ReadError, Record, Records};
use super::schema::{Label, Schema};

/// What a person should know of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The column.
    pub column: String,
    /// What was made of it, and why.
    pub said: String,
}

/// A schema to be edited.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draft {
    /// The schema.
    #[serde(flatten)]
    pub schema: Schema,
    /// What was decided that may be wrong.
    pub notes: Vec<Note>,
    /// Rows left out because something is wrong with them.
    #[serde(skip_serializing_if = "BadRows::is_empty")]
    pub bad_rows: BadRows,
}

/// Reads `file` and drafts its schema.
///
/// # Errors
/// See [`InferError`].
pub fn infer(file: &Path, options: &InferOptions) -> Result<Draft, InferError> {
    let roles = |column: &String, first, second| {
        Err(InferError::TwoRoles {
            column: column.clone(),
            first,
            second,
        })
    };
    if options.ignore.contains(&options.label) {
        return roles(&options.label, "the label", "ignored");
    }
    if options.protected.contains(&options.label) {
        return roles(&options.label, "the label", "protected");
    }
    if let Some(both) = options
        .protected
        .iter()
        .find(|name| options.ignore.contains(name))
    {
        return roles(both, "protected", "ignored");
    }
    for (field, is_given) in [
        ("classes", !options.classes.is_empty()),
        ("favourable", options.favourable.is_some()),
    ] {
        if options.number && is_given {
            return Err(InferError::Numbers { field });
        }
    }
    let mut records = Records::open(file, &options.format)?;
    let names = records.names().to_vec();
    let label = options.classes.is_empty().then_some(&options.label);
    for wanted in options.protected.iter().chain(&options.ignore).chain(label) {
        if !names.contains(wanted) {
            return Err(ReadError::MissingColumn {
                file: file.to_owned(),
                column: wanted.clone(),
                found: names.join(", "),
            }
            .into());
        }
    }
    let mut columns: Vec<Column> = names.iter().map(|_| Column::new()).collect();
    let mut rows = 0;
    let mut bad_rows = BadRows::default();
    loop {
        let row = match records.advance() {
            Ok(None) => break,
            Ok(Some(record)) => match whole(&record, &names, options) {
                Ok(()) => look(&record, &mut columns, &names, options),
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
    let (mut attributes, mut notes) = (Vec::new(), Vec::new());
    let mut leaves_out = !options.ignore.is_empty();
    for (column, name) in columns.into_iter().zip(&names) {
        if options.ignore.contains(name) {
            continue;
        }
        let note = |said| Note {
            column: name.clone(),
            said,
        };
        if *name == options.label {
            // Classes that are given are those of a model, whatever the column holds.
            if options.classes.is_empty() && !options.number {
                words = column.classes(name, options)?;
            }
            continue;
        }
        match column.made(name, rows, options)? {
            Made::Kept(attribute, said) => {
                attributes.push(attribute);
                notes.extend(said.map(note));
            }
            Made::LeftOut(why) if options.protected.contains(name) => {
                return Err(InferError::UselessProtected {
                    column: name.clone(),
                    why,
                });
            }
            Made::LeftOut(why) => {
                leaves_out = true;
                notes.push(note(format!("left out: {why}")));
            }
        }
    }
    let (label, said) = match options.number {
        true => {
            let said = "its numbers are predicted, and larger ones count as better to get";
            (Label::of_numbers(&options.label), Some(said.to_owned()))
        }
        false => {
            let (classes, why) = classes::ordered(words, options.favourable.as_deref())?;
            let last = classes.last();
            let said = last.map(|last| format!("its last class is '{last}': {why}"));
            (Label::of_classes(&options.label, classes), said)
        }
    };
    if let Some(said) = said {
        let column = options.label.clone();
        notes.insert(0, Note { column, said });
    }
    let mut format = options.format.clone();
    format.ignore_other_columns = leaves_out;
    let schema = Schema {
        name: options.name.clone(),
        format,
        label,
        attributes,
    };
    schema.check()?;
    Ok(Draft {
        schema,
        notes,
        bad_rows,
    })
}

/// Refuses a row that has a cell that is no text, or no class.
fn whole(record: &Record<'_>, names: &[String], options: &InferOptions) -> Result<(), ReadError> {
    for (position, name) in names.iter().enumerate() {
        if options.ignore.contains(name) {
            continue;
        }
        let is_empty = record.cell(position)?.is_empty();
        if *name == options.label && is_empty && !options.number {
            return Err(record.no_class(position));
        }
        if *name == options.label && options.number {
            record.target(position)?;
        }
    }
    Ok(())
}

/// Shows the cells of a row to their columns.
fn look(
    record: &Record<'_>,
    columns: &mut [Column],
    names: &[String],
    options: &InferOptions,
) -> Result<(), InferError> {
    for (position, (column, name)) in columns.iter_mut().zip(names).enumerate() {
        let is_passed_over = options.number && *name == options.label;
        if !options.ignore.contains(name) && !is_passed_over {
            column.look(record.cell(position)?, name, options)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
