//! One pass over a file of data: its rows, its columns, and the form of their cells.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::error::InspectionError;
use crate::store::{COUNTED, ColumnKind, ColumnSketch, DataKind, Layout, Sketch};
use probity_data::compressed;
use probity_data::infer::{is_missing, text_layout};
use probity_data::read::Records;
use probity_data::schema::Format;

/// The number of values of a column that are shown.
const EXAMPLES: usize = 5;
/// The greatest number of different values of a column that are all named.
const NAMED: usize = 12;
/// The number of characters of a value that are shown, unless there are very many columns.
const EXAMPLE: usize = 60;
/// The number of rows that are shown.
const FIRST_ROWS: usize = 5;
/// The greatest number of columns.
const COLUMNS: usize = 2000;
/// The greatest number of bytes of the name of a column.
const NAME: usize = 256;
/// The greatest number of bytes of all names of columns.
const NAMES: usize = 128 << 10;
/// The number of characters of all values that are shown.
const SHOWN: usize = 256 << 10;

/// The bounds beyond which a file is refused.
pub(super) struct Bounds {
    pub bytes: u64,
    pub rows: u64,
    pub cell_bytes: usize,
}

impl Bounds {
    /// Unpacks `file` without keeping anything: a packed file may be small and yet take long to
    /// read.
    fn check_bytes(&self, file: &Path) -> Result<(), InspectionError> {
        let bytes = compressed::open(file)
            .and_then(|input| io::copy(&mut input.take(self.bytes + 1), &mut io::sink()))
            .map_err(|source| InspectionError::Io {
                file: file.to_owned(),
                source,
            })?;
        if bytes > self.bytes {
            return Err(InspectionError::Refused(format!(
                "unpacked, the file has more than {} bytes, the most that are taken here",
                self.bytes
            )));
        }
        Ok(())
    }

    fn check_rows(&self, rows: u64) -> Result<(), InspectionError> {
        if rows > self.rows {
            return Err(InspectionError::Refused(format!(
                "there are more than {} rows, the most that are taken here",
                self.rows
            )));
        }
        Ok(())
    }

    fn check_cell(&self, bytes: usize, row: u64) -> Result<(), InspectionError> {
        if bytes > self.cell_bytes {
            return Err(InspectionError::Refused(format!(
                "row {row} holds a text of {bytes} bytes; at most {} are taken here",
                self.cell_bytes
            )));
        }
        Ok(())
    }
}

/// Reads a table, and returns its sketch.
pub(super) fn table(
    file: &Path,
    kind: DataKind,
    (layout, finds_separator): (&Layout, bool),
    bounds: &Bounds,
) -> Result<Sketch, InspectionError> {
    bounds.check_bytes(file)?;
    let format = match kind {
        DataKind::Table => text_layout(file, &layout.format(), finds_separator)?,
        // As for readers of texts: the form of the file decides how columns are separated.
        DataKind::Texts => Format {
            separator: layout.separator,
            ignore_other_columns: true,
            ..Format::default()
        },
    };
    let mut records = Records::open(file, &format)?;
    let names = records.names().to_vec();
    check_names(&names)?;
    if names.len() > COLUMNS {
        return Err(InspectionError::Refused(format!(
            "there are {} columns; at most {COLUMNS} are taken here",
            names.len()
        )));
    }
    let mut columns: Vec<Column> = names.iter().map(|_| Column::default()).collect();
    let values = columns.len().max(1) * (EXAMPLES + NAMED + FIRST_ROWS);
    let width = EXAMPLE.min(SHOWN / values);
    let mut rows = 0;
    let mut first_rows = Vec::new();
    while let Some(record) = records.advance()? {
        rows += 1;
        bounds.check_rows(rows)?;
        let mut shown_row = Vec::new();
        for (position, column) in columns.iter_mut().enumerate() {
            let cell = record.cell(position)?;
            bounds.check_cell(cell.len(), rows)?;
            column.look(cell, width);
            if first_rows.len() < FIRST_ROWS {
                shown_row.push(shown(cell, width));
            }
        }
        if first_rows.len() < FIRST_ROWS {
            first_rows.push(shown_row);
        }
    }
    if rows == 0 {
        return Err(InspectionError::Refused(
            "the file holds no rows".to_owned(),
        ));
    }
    Ok(Sketch {
        layout: Layout {
            separator: format.separator,
            encoding: format.encoding,
            columns: layout.columns.clone(),
        },
        rows,
        columns: columns
            .into_iter()
            .zip(names)
            .map(|(column, name)| column.sketch(name, width))
            .collect(),
        first_rows,
    })
}

/// Reads a file with a text on each line, and returns its sketch.
pub(super) fn lines(file: &Path, bounds: &Bounds) -> Result<Sketch, InspectionError> {
    bounds.check_bytes(file)?;
    let failed = |source| InspectionError::Io {
        file: file.to_owned(),
        source,
    };
    let mut input = BufReader::new(compressed::open(file).map_err(failed)?);
    let (mut rows, mut number) = (0, 0);
    let mut first_rows = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        // One byte more than allowed is enough to see that a line is too long.
        let most = bounds.cell_bytes as u64 + 2;
        let read = Read::take(&mut input, most)
            .read_until(b'\n', &mut line)
            .map_err(failed)?;
        if read == 0 {
            break;
        }
        number += 1;
        bounds.check_cell(line.trim_ascii().len(), number)?;
        let text = std::str::from_utf8(&line)
            .map_err(|_| {
                InspectionError::Refused(format!(
                    "line {number} is not valid UTF-8; convert the file first"
                ))
            })?
            .trim();
        rows += u64::from(!text.is_empty());
        // Blank lines take time as well.
        bounds.check_rows(number)?;
        if !text.is_empty() && first_rows.len() < FIRST_ROWS {
            first_rows.push(vec![shown(text, EXAMPLE)]);
        }
    }
    if rows == 0 {
        return Err(InspectionError::Refused(
            "the file holds no texts".to_owned(),
        ));
    }
    Ok(Sketch {
        layout: Layout::default(),
        rows,
        columns: Vec::new(),
        first_rows,
    })
}

/// Refuses names of columns that no page or list could show.
fn check_names(names: &[String]) -> Result<(), InspectionError> {
    if let Some((position, name)) = (1..).zip(names).find(|(_, name)| name.len() > NAME) {
        return Err(InspectionError::Refused(format!(
            "the name of column {position} has {} bytes; at most {NAME} are taken here",
            name.len()
        )));
    }
    let bytes: usize = names.iter().map(String::len).sum();
    if bytes > NAMES {
        return Err(InspectionError::Refused(format!(
            "the names of the columns have {bytes} bytes; at most {NAMES} are taken here"
        )));
    }
    Ok(())
}

/// The part of a cell that is shown: `width` characters.
fn shown(cell: &str, width: usize) -> String {
    cell.chars().take(width).collect()
}

/// What has been found out about a column so far.
#[derive(Default)]
struct Column {
    distinct: HashSet<String>,
    examples: Vec<String>,
    missing: u64,
    not_whole: bool,
    not_a_number: bool,
}

impl Column {
    fn look(&mut self, cell: &str, width: usize) {
        if is_missing(cell) {
            self.missing += 1;
            return;
        }
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => self.not_whole |= value.fract() != 0.0,
            _ => self.not_a_number = true,
        }
        if (self.distinct.len() as u64) < COUNTED && !self.distinct.contains(cell) {
            self.distinct.insert(cell.to_owned());
            if self.examples.len() < EXAMPLES {
                self.examples.push(shown(cell, width));
            }
        }
    }

    fn sketch(self, name: String, width: usize) -> ColumnSketch {
        let is_short = |value: &String| value.chars().count() <= width;
        let mut values = Vec::new();
        if self.distinct.len() <= NAMED && self.distinct.iter().all(is_short) {
            values.extend(self.distinct.iter().cloned());
            values.sort();
        }
        let kind = match (
            self.not_a_number || self.distinct.is_empty(),
            self.not_whole,
        ) {
            (true, _) => ColumnKind::Words,
            (false, true) => ColumnKind::Numeric,
            (false, false) => ColumnKind::Integer,
        };
        ColumnSketch {
            name,
            kind,
            distinct: self.distinct.len() as u64,
            missing: self.missing,
            examples: self.examples,
            values,
        }
    }
}
