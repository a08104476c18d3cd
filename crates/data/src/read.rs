//! The one reader of tables: CSV and JSON (plain, gzip or xz), Parquet, and Arrow record batches in
//! memory, as records of cells.
//!
//! The kind of a file is told by its first bytes, not by its name. Rows are streamed; nothing but
//! the current record (or a few thousand rows of a batch) is held. Everything above this module
//! ([`crate::infer`], codes in [`crate::table`], numbers in [`crate::numbers`]) sees [`Records`]
//! only, so that the rules are the same whatever rows are from:
//!
//! - A cell is text or a number. Text is trimmed; a number is what its text would be parsed to, by
//!   the marks that the layout gives ([`NumberForm`]).
//! - A null of Parquet or Arrow is a missing value: for an attribute with a missing marker it
//!   stands for that marker, everywhere else for the empty cell. (`text` and `arrow` say what the
//!   types are.)
//! - Two columns of one name that are read must hold the same in every row: nobody could tell which
//!   is meant. (Real files repeat columns, `priors_count` of COMPAS for one.)
//! - The columns over which the layout spreads an attribute ([`Spread`](super::schema::Spread)) are
//!   one column of words (`folded`).
//! - Where the header of a text is one name short, a field of the rows that has no name is passed
//!   over: the first one, if it names the rows, as R writes them, or an empty one at the end.
//! - A value, a class or a number that is not what it should be is an error that names what was
//!   read, the row, the column and the value; or the row is left out and counted ([`BadRows`]).

mod arrow;
mod bad_rows;
pub(crate) mod error;
mod folded;
mod foreign;
mod json;
mod place;
mod quotes;
mod records;
mod row_numbers;
mod separator_line;
mod text;
mod title;

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;

use self::arrow::{ArrowRecords, Value};
pub use self::bad_rows::{BadReason, BadRows, LeftOut};
use self::error::columns_in_words;
pub use self::error::{IN_MEMORY, OfRow, ReadError, SpreadProblem};
use self::folded::{Folded, Found};
pub(crate) use self::json::is_json;
pub use self::place::Place;
pub(crate) use self::records::first_records;
pub use self::row_numbers::RowNumbers;
pub(crate) use self::separator_line::said_separator;
use self::text::TextRecords;
pub(crate) use self::text::{Unnamed, has_row_names};
use super::number_form::NumberForm;
use super::schema::{Encoded, Encoder, Format, Label};
use super::source::{Content, DataFile};
use super::spelling::Levels;
use super::unicode;
use probity_run::spreadsheet::original;

/// A stream of records from one file, or from batches in memory.
pub struct Records {
    file: PathBuf,
    names: Vec<String>,
    cells: Cells,
    skips_bad_rows: bool,
    /// The way in which numbers are written where they are text.
    form: NumberForm,
    /// Whether the cells of text were written by [`safe`](probity_run::spreadsheet::safe).
    is_result: bool,
    /// The positions of columns that were asked for, each with another of the same name.
    twins: RefCell<Vec<(usize, usize)>>,
    /// The number of records so far.
    number: u64,
}

enum Cells {
    Text(TextRecords),
    Arrow(ArrowRecords),
    /// Of other records, some columns of which are one.
    Folded(Box<Folded>),
}

/// A record.
pub struct Record<'a> {
    records: &'a Records,
}

impl Records {
    /// Opens `file`; `format` says how its text is laid out.
    ///
    /// # Errors
    /// When the file cannot be read, is empty, or its header repeats a name.
    pub fn open(file: &Path, format: &Format) -> Result<Records, ReadError> {
        Self::from_file(&DataFile::open_unhashed(file)?, format)
    }

    /// Opens the result of a run: cells of CSV are as they were before they were made safe for
    /// spreadsheets ([`probity_run::spreadsheet`]).
    ///
    /// # Errors
    /// See [`Records::open`].
    pub fn of_result(file: &Path) -> Result<Records, ReadError> {
        let records = Self::open(file, &Format::default())?;
        Ok(Records {
            is_result: matches!(records.cells, Cells::Text(_)),
            ..records
        })
    }

    /// Returns the records of an opened file: it is hashed while they are read.
    ///
    /// # Errors
    /// See [`Records::open`].
    pub fn from_file(file: &DataFile, format: &Format) -> Result<Records, ReadError> {
        Self::of_content(file.path(), file.content()?, format)
    }

    /// Returns the records of batches, which must all have the columns of the first.
    ///
    /// # Errors
    /// When there is no batch, or two columns have one name.
    pub fn from_arrow(batches: &[RecordBatch], format: &Format) -> Result<Records, ReadError> {
        let name = Path::new(IN_MEMORY);
        let records = ArrowRecords::batches(name, batches)?;
        Self::new(name, records.names(), Cells::Arrow(records), format)
    }

    pub(super) fn of_content(
        file: &Path,
        content: Content,
        format: &Format,
    ) -> Result<Records, ReadError> {
        match content {
            Content::Memory(batches) => {
                let records = ArrowRecords::batches(file, &batches)?;
                Self::new(file, records.names(), Cells::Arrow(records), format)
            }
            Content::Parquet(bytes) => {
                let records = ArrowRecords::parquet(file, bytes)?;
                Self::new(file, records.names(), Cells::Arrow(records), format)
            }
            Content::Stream(text) => {
                let (records, names) = TextRecords::open(file, text, format)?;
                Self::new(file, names, Cells::Text(records), format)
            }
        }
    }

    fn new(
        file: &Path,
        names: Vec<String>,
        cells: Cells,
        format: &Format,
    ) -> Result<Records, ReadError> {
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str()))
            && !format.ignore_other_columns
        {
            return Err(ReadError::DuplicateColumn {
                file: file.to_owned(),
                column: twice.clone(),
            });
        }
        let records = Records {
            file: file.to_owned(),
            names,
            cells,
            skips_bad_rows: format.skip_bad_rows,
            form: format.number_form(),
            is_result: false,
            twins: RefCell::default(),
            number: 0,
        };
        match format.spread.is_empty() {
            true => Ok(records),
            false => records.folded(&format.spread),
        }
    }

    /// Returns the column names in file order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the position of the column `name`, if there is one, in whatever Unicode form. Where
    /// there are more of one name, [`Records::advance`] sees to it that they are equal.
    pub fn position(&self, name: &str) -> Option<usize> {
        let first = unicode::place(&self.names, name)?;
        let own = &self.names[first];
        let twins = (first + 1..self.names.len()).filter(|&at| self.names[at] == *own);
        let mut known = self.twins.borrow_mut();
        for twin in twins {
            if !known.contains(&(first, twin)) {
                known.push((first, twin));
            }
        }
        Some(first)
    }

    /// Returns the position of the column `name`; see [`Records::position`].
    ///
    /// # Errors
    /// [`ReadError::MissingColumn`] if there is none.
    pub fn require(&self, name: &str) -> Result<usize, ReadError> {
        self.position(name).ok_or_else(|| self.missing_column(name))
    }

    /// Returns the error that there is no column `name`, with what there is, and what may be wrong.
    pub(crate) fn missing_column(&self, name: &str) -> ReadError {
        let title = match &self.cells {
            Cells::Text(text) => text.title_hint(&self.file),
            Cells::Arrow(_) | Cells::Folded(_) => None,
        };
        ReadError::MissingColumn {
            file: self.file.clone(),
            column: name.to_owned(),
            found: columns_in_words(&self.names, title),
        }
    }

    /// Returns the file that is read; [`IN_MEMORY`] for batches.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the next record, or `None` at the end.
    ///
    /// # Errors
    /// When the file is broken at this place, or differs in two columns of a name that was asked
    /// for.
    pub fn advance(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        if !self.advance_cells()? {
            return Ok(None);
        }
        let record = Record { records: self };
        for &(first, twin) in self.twins.borrow().iter() {
            record.expect_equal(first, twin)?;
        }
        Ok(Some(record))
    }

    /// Goes to the next record; false at the end.
    #[inline]
    fn advance_cells(&mut self) -> Result<bool, ReadError> {
        let names = self.names.len();
        let (fields, expected) = match &mut self.cells {
            Cells::Text(text) => (text.advance(&self.file)?, text.expected(names)),
            Cells::Arrow(arrow) => (arrow.advance(&self.file)?.then_some(names), names),
            Cells::Folded(folded) => {
                let found = folded.advance();
                // A record that is wrong counts as well.
                self.number = folded.records().number;
                return found;
            }
        };
        let Some(fields) = fields else {
            return Ok(false);
        };
        self.number += 1;
        let is_broken = matches!(&self.cells, Cells::Text(text) if text.is_broken());
        let record = Record { records: self };
        if fields != expected || is_broken {
            let (file, found) = (record.file().to_owned(), fields);
            // What follows a quote that nothing closes is many rows.
            return Err(match is_broken || record.is_over_lines() {
                true => ReadError::OpenQuote {
                    file,
                    place: record.records.place(),
                    found,
                    expected,
                },
                false => ReadError::Ragged {
                    file,
                    place: record.place(),
                    found,
                    expected,
                },
            });
        }
        if let Cells::Text(text) = &self.cells
            && text.repeats(&self.names)
        {
            return Err(ReadError::RepeatedHeader {
                file: self.file.clone(),
                place: self.place(),
            });
        }
        Ok(true)
    }

    /// Returns the field of all rows that the header does not name, and that is passed over, if
    /// there is one.
    pub(crate) fn unnamed(&self) -> Option<Unnamed> {
        match &self.cells {
            Cells::Text(text) => text.unnamed(),
            Cells::Arrow(_) => None,
            Cells::Folded(folded) => folded.records().unnamed(),
        }
    }

    /// Refuses rows with a field that the header does not name, which the first rows show, for
    /// readers whose cells may not depend on what other rows hold.
    ///
    /// # Errors
    /// [`ReadError::Ragged`] for the first row.
    pub fn expect_names_of_all(&self) -> Result<(), ReadError> {
        if let Cells::Folded(folded) = &self.cells {
            return folded.records().expect_names_of_all();
        }
        let expected = self.names.len();
        match self.unnamed() {
            None | Some(Unnamed::First) => Ok(()),
            Some(Unnamed::Last) => Err(ReadError::Ragged {
                file: self.file.clone(),
                place: Place::Row(1),
                found: expected + 1,
                expected,
            }),
        }
    }

    /// Returns whether rows with which something is wrong are left out.
    pub fn skips_bad_rows(&self) -> bool {
        self.skips_bad_rows
    }

    /// Returns the place where the current record stands. A line number costs a pass over the file
    /// up to there.
    pub fn place(&self) -> Place {
        match &self.cells {
            Cells::Text(text) if text.is_json() => Place::Row(self.number),
            Cells::Text(text) => Place::Line(text.line(&self.file)),
            Cells::Arrow(arrow) => Place::Row(arrow.row()),
            Cells::Folded(folded) => folded.records().place(),
        }
    }
}

impl<'a> Record<'a> {
    /// Returns the trimmed text of the column at `position`; empty for a null.
    ///
    /// # Errors
    /// When it is not UTF-8, or of a type that is not read.
    #[inline]
    pub fn cell(&self, position: usize) -> Result<&'a str, ReadError> {
        match self.plain(position) {
            Some(cell) if self.records.is_result => Ok(original(cell)),
            Some(cell) => Ok(cell),
            None => {
                let text = self.of_arrow(position, |arrow, file, at| arrow.text(file, at))?;
                Ok(text.unwrap_or_default())
            }
        }
    }

    fn is_over_lines(&self) -> bool {
        match &self.records.cells {
            Cells::Text(text) => text.is_over_lines(),
            Cells::Arrow(_) | Cells::Folded(_) => false,
        }
    }

    /// Returns the cell of a file of text, if it is UTF-8, or a level that columns are folded to: what
    /// nearly all cells are, so it comes first.
    #[inline(always)]
    fn plain(&self, position: usize) -> Option<&'a str> {
        match &self.records.cells {
            Cells::Text(text) => text.cell(position),
            Cells::Arrow(_) => None,
            Cells::Folded(folded) => folded.plain(position),
        }
    }

    /// Reads a cell that is not plain from Arrow by `read`, which is given its position there; a cell
    /// of text is an error, because it is not UTF-8.
    fn of_arrow<T>(
        &self,
        position: usize,
        read: impl FnOnce(&'a ArrowRecords, &'a Path, usize) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        match &self.records.cells {
            Cells::Arrow(arrow) => read(arrow, &self.records.file, position),
            Cells::Folded(folded) => match folded.find(position) {
                Found::Cell(record, at) => record.of_arrow(at, read),
                Found::Level(_) => Err(self.not_utf8(position)),
            },
            Cells::Text(_) => Err(self.not_utf8(position)),
        }
    }

    /// Returns whether there is nothing in the column at `position`: an empty cell or a null.
    ///
    /// # Errors
    /// See [`Record::cell`].
    pub fn is_empty(&self, position: usize) -> Result<bool, ReadError> {
        Ok(self.cell(position)?.is_empty())
    }

    /// Returns the cell of the column at `position`, if it was written as text; `None` for a value
    /// of Arrow that is none, for a null, and for a level that columns are folded to.
    ///
    /// # Errors
    /// See [`Record::cell`].
    pub(crate) fn written(&self, position: usize) -> Result<Option<&'a str>, ReadError> {
        match &self.records.cells {
            Cells::Arrow(arrow) if !arrow.is_text(position) => Ok(None),
            Cells::Arrow(arrow) => arrow.text(&self.records.file, position),
            Cells::Text(_) => self.cell(position).map(Some),
            Cells::Folded(folded) => match folded.find(position) {
                Found::Cell(record, at) => record.written(at),
                Found::Level(_) => Ok(None),
            },
        }
    }

    /// Returns the way in which numbers are written in the column at `position`: values of Arrow
    /// that are no text are converted to text in the form of programs.
    fn form(&self, position: usize) -> NumberForm {
        match &self.records.cells {
            Cells::Arrow(arrow) if !arrow.is_text(position) => NumberForm::PLAIN,
            Cells::Arrow(_) | Cells::Text(_) => self.records.form,
            Cells::Folded(folded) => match folded.find(position) {
                Found::Cell(record, at) => record.form(at),
                Found::Level(_) => NumberForm::PLAIN,
            },
        }
    }

    /// Returns the place among `levels` of the cell in the column at `position`, if it is one of
    /// them.
    ///
    /// # Errors
    /// See [`Record::cell`].
    pub fn level(&self, position: usize, levels: &Levels<'_>) -> Result<Option<i32>, ReadError> {
        Ok(levels.code_in(self.cell(position)?, self.form(position)))
    }

    /// Returns the finite number in the column at `position`, if it is one.
    ///
    /// # Errors
    /// See [`Record::cell`].
    #[inline]
    pub fn number(&self, position: usize) -> Result<Option<f64>, ReadError> {
        let number = match self.plain(position) {
            Some(cell) => self.records.form.number(cell),
            None => match self.of_arrow(position, |arrow, file, at| arrow.value(file, at))? {
                Value::Null => None,
                Value::Number(number) => Some(number),
                Value::Text(text) => self.form(position).number(text),
            },
        };
        Ok(number.filter(|number: &f64| number.is_finite()))
    }

    /// Returns the code of the column at `position`.
    ///
    /// # Errors
    /// [`ReadError::Value`] when the attribute's policy is to refuse it.
    #[inline]
    pub fn encode(&self, position: usize, encoder: &Encoder<'_>) -> Result<Encoded, ReadError> {
        let encoded = match self.plain(position) {
            Some(cell) => encoder.encode_in(cell, self.records.form),
            None => match self.of_arrow(position, |arrow, file, at| arrow.value(file, at))? {
                Value::Null => encoder.encode_missing(),
                Value::Number(number) if encoder.takes_numbers() => encoder.encode_number(number),
                Value::Number(_) => encoder.encode(self.cell(position)?),
                Value::Text(text) => encoder.encode_in(text, self.form(position)),
            },
        };
        match encoded {
            Ok(encoded) => Ok(encoded),
            Err(expected) => Err(self.refused(position, expected)),
        }
    }

    #[cold]
    fn refused(&self, position: usize, expected: String) -> ReadError {
        match self.cell(position) {
            Ok(value) => ReadError::Value {
                file: self.records.file.clone(),
                place: self.place(),
                column: self.column(position).to_owned(),
                value: value.to_owned(),
                expected,
            },
            Err(error) => error,
        }
    }

    fn expect_equal(&self, first: usize, twin: usize) -> Result<(), ReadError> {
        let (left, right) = (self.cell(first)?, self.cell(twin)?);
        if left == right {
            return Ok(());
        }
        Err(ReadError::UnequalColumns {
            file: self.records.file.clone(),
            place: self.place(),
            column: self.column(first).to_owned(),
            values: [left, right].map(str::to_owned),
        })
    }

    #[cold]
    fn not_utf8(&self, position: usize) -> ReadError {
        ReadError::Utf8 {
            file: self.records.file.clone(),
            place: self.place(),
            column: self.column(position).to_owned(),
        }
    }

    /// Returns the error that there is no class in the column at `position`.
    pub(super) fn no_class(&self, position: usize) -> ReadError {
        ReadError::NoClass {
            file: self.records.file.clone(),
            place: self.place(),
            column: self.column(position).to_owned(),
        }
    }

    /// Returns the class in the column at `position`.
    ///
    /// # Errors
    /// [`ReadError::Class`] when it is none of the label's.
    pub fn class(&self, position: usize, label: &Label) -> Result<u32, ReadError> {
        let code = self.known_class(position, label)?;
        let cell = self.cell(position)?;
        code.ok_or_else(|| ReadError::Class {
            file: self.records.file.clone(),
            place: self.place(),
            column: self.column(position).to_owned(),
            value: cell.to_owned(),
            expected: label.classes.join(", "),
        })
    }

    /// Returns the class of `label` in the column at `position`, if it is one.
    ///
    /// # Errors
    /// See [`Record::cell`].
    pub fn known_class(&self, position: usize, label: &Label) -> Result<Option<u32>, ReadError> {
        Ok(label.code_in(self.cell(position)?, self.form(position)))
    }

    /// Returns the number in the column at `position`, unless it is too large for the 32 bits in
    /// which networks compute.
    ///
    /// # Errors
    /// See [`Record::cell`].
    pub fn finite(&self, position: usize) -> Result<Option<f64>, ReadError> {
        let number = self.number(position)?;
        Ok(number.filter(|number| (*number as f32).is_finite()))
    }

    /// Returns the number in the label column at `position`.
    ///
    /// # Errors
    /// [`ReadError::Target`] when there is none, or it is too large for 32 bits.
    pub fn target(&self, position: usize) -> Result<f64, ReadError> {
        match self.finite(position)? {
            Some(number) => Ok(number),
            None => Err(ReadError::Target {
                file: self.records.file.clone(),
                place: self.place(),
                column: self.column(position).to_owned(),
                value: self.cell(position)?.to_owned(),
            }),
        }
    }

    /// Returns the file that is read; [`IN_MEMORY`] for batches.
    pub fn file(&self) -> &'a Path {
        &self.records.file
    }

    /// Returns the name of the column at `position`; empty if there is none.
    pub fn column(&self, position: usize) -> &'a str {
        self.records.names.get(position).map_or("", String::as_str)
    }

    /// Returns the place where the record stands, for an error message; where bad rows are left
    /// out, and there may be many, only its number.
    pub fn place(&self) -> Place {
        match self.records.skips_bad_rows {
            true => Place::Row(self.records.number),
            false => self.records.place(),
        }
    }
}

impl BadRows {
    /// Counts the row at which `records` stand, and which `error` is about.
    ///
    /// # Errors
    /// `error`, where it is not about one row, or such rows are not left out.
    pub fn add<E: OfRow>(&mut self, error: E, records: &Records) -> Result<(), E> {
        let Some(reason) = error.reason() else {
            return Err(error);
        };
        if !records.skips_bad_rows() {
            return Err(error.avoidable());
        }
        self.count(reason, || records.place());
        Ok(())
    }
}
