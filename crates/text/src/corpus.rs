//! The reader of texts and their labels.
//!
//! | name ends with (before `.gz`, `.xz`) | content                                               |
//! |--------------------------------------|-------------------------------------------------------|
//! | `.txt`                               | a text on each line; blank lines are no texts         |
//! | `.tsv`                               | a table, separated by tabs                            |
//! | anything else                        | a table: JSON, Parquet, or text with the separator that its lines show |
//!
//! Text that is no UTF-8 is Windows-1252, if it can be ([`text_layout`]); what comes from a pipe, which
//! is read once, is UTF-8 and separated by commas.
//!
//! A row of a table without text or label, with the wrong number of fields or with what is no UTF-8
//! is refused, or left out and counted where [`TextColumns::skip_bad_rows`] says so. A label is missing
//! where its cell is blank or a usual mark of what is missing, such as `NA` ([`is_missing`]), unless a
//! class is called so ([`TextColumns::classes`]).
//!
//! Labels are numbered in ascending order: as numbers if all of them are, else as words. Spellings of
//! one number are one class, 1 and 1.0, which is called by the shortest. More than two numbers of which
//! some are fractions are no classes; a threshold makes two of them.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use thiserror::Error;

use probity_data::compressed;
use probity_data::encoding::decoded;
use probity_data::infer::{is_missing, text_layout};
use probity_data::numbers::class_name;
use probity_data::read::{BadRows, OfRow, Place, ReadError, Record, Records, RowNumbers};
use probity_data::schema::{Format, Label};
use probity_data::source::{DataFile, Hashed};

/// The reason why texts cannot be read.
#[derive(Debug, Error)]
pub enum CorpusError {
    /// The table is broken, or lacks a column.
    #[error("{0}")]
    Table(#[from] ReadError),
    /// The table does not say which column holds the texts.
    #[error("{} has several columns; name the one with the texts (text_column): {found}", file.display())]
    NoTextColumn {
        /// The file.
        file: PathBuf,
        /// The columns of the file.
        found: String,
    },
    /// The header of a table of one column reads as a text does.
    #[error("{} is read as a table, whose first line names its one column, but that line reads as a text: '{line}'; give the column a name, or call the file .txt where every line is a text", file.display())]
    HeaderIsText {
        /// The file.
        file: PathBuf,
        /// The first line.
        line: String,
    },
    /// A column of a file without columns.
    #[error("{} holds a text on each line and has no column '{column}'; leave out what names a column, or take a table for labelled texts", file.display())]
    NoColumns {
        /// The file.
        file: PathBuf,
        /// The column asked for.
        column: String,
    },
    /// A file without columns where some are needed.
    #[error("{} holds a text on each line; a table is needed", file.display())]
    NoTable {
        /// The file.
        file: PathBuf,
    },
    /// A value is missing.
    #[error("{}, {place}: there is nothing in the column '{column}'; fill it in or leave the row out", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column.
        column: String,
    },
    /// A label is a mark of what is missing.
    #[error("{}, {place}: the label in the column '{column}' is missing, which '{mark}' says; fill it in or leave the row out", file.display())]
    NoLabel {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column.
        column: String,
        /// The mark.
        mark: String,
    },
    /// Something is wrong with one row, which can be left out.
    #[error("{0}; skip_bad_rows leaves such rows out and counts them")]
    BadRow(Box<CorpusError>),
    /// A line is not UTF-8.
    #[error("{}, line {line}: the text is not valid UTF-8; convert the file first", file.display())]
    Utf8 {
        /// The file.
        file: PathBuf,
        /// The number of the line, from 1.
        line: u64,
    },
    /// The cell or line holds no text.
    #[error("{} holds no texts", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// The labels are numbers, of which some are fractions.
    #[error("{}: the {count} labels in the column '{column}' are numbers, such as {example}, which are no classes; say --label-threshold 0.5 (label_threshold) to make two classes of them", file.display())]
    Shares {
        /// The file.
        file: PathBuf,
        /// The label column.
        column: String,
        /// The number of different labels.
        count: usize,
        /// An example of a label that is a fraction.
        example: String,
    },
    /// All texts have the same label.
    #[error("{}: all {rows} texts have the label '{class}' in the column '{column}'; a classifier needs at least two classes", file.display())]
    OneClass {
        /// The file.
        file: PathBuf,
        /// The label column.
        column: String,
        /// The number of texts.
        rows: usize,
        /// The only label.
        class: String,
    },
}

impl OfRow for CorpusError {
    fn reason(&self) -> Option<String> {
        match self {
            CorpusError::Table(error) => error.reason(),
            CorpusError::Missing { column, .. } => Some(format!("'{column}' is blank")),
            CorpusError::NoLabel { column, .. } => Some(format!("'{column}' is missing")),
            _ => None,
        }
    }

    fn avoidable(self) -> CorpusError {
        CorpusError::BadRow(Box::new(self))
    }
}

/// The columns that hold texts and labels, and what happens to rows without a usable text or label.
#[derive(Debug, Clone, Default)]
pub struct TextColumns {
    /// The column with the texts; may be left out for a table of one column.
    pub text: Option<String>,
    /// The column with the labels, if labels are wanted.
    pub label: Option<String>,
    /// The least number that belongs to the second class, where the labels are numbers that stand
    /// for two classes.
    pub label_threshold: Option<f64>,
    /// Whether rows with an error are left out and counted.
    pub skip_bad_rows: bool,
    /// The classes of a model, if the labels are those of one: a mark of what is missing that is
    /// among them is a label.
    pub classes: Vec<String>,
}

/// Texts and, where they were asked for, their labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextCorpus {
    /// The texts, as they are written.
    pub texts: Vec<String>,
    /// The class of each text; empty without a label column.
    pub labels: Vec<u32>,
    /// The classes in order; empty without a label column.
    pub classes: Vec<String>,
    /// The positions of the texts: rows of a table, or lines of a file of lines.
    pub rows: RowNumbers,
    /// The rows that were left out because something is wrong with them.
    pub bad_rows: BadRows,
}

impl TextCorpus {
    /// Refuses texts of `file` that all have one label in `column`: nothing can be learnt of them.
    ///
    /// # Errors
    /// [`CorpusError::OneClass`].
    pub fn expect_classes(&self, file: &Path, column: &str) -> Result<(), CorpusError> {
        match self.classes.as_slice() {
            [class] => Err(CorpusError::OneClass {
                file: file.to_owned(),
                column: column.to_owned(),
                rows: self.texts.len(),
                class: class.clone(),
            }),
            _ => Ok(()),
        }
    }
}

/// Reads texts from a table or a file of lines.
///
/// # Errors
/// When the file cannot be read, lacks a column, has a row without text or label, or holds no
/// texts.
pub fn read_texts(file: &Path, columns: &TextColumns) -> Result<TextCorpus, CorpusError> {
    Ok(read_texts_hashed(file, columns)?.value)
}

/// Reads texts as [`read_texts`] does, and returns the file's hash too, from one pass over the
/// file.
///
/// # Errors
/// See [`read_texts`].
pub fn read_texts_hashed(
    file: &Path,
    columns: &TextColumns,
) -> Result<Hashed<TextCorpus>, CorpusError> {
    let opened = DataFile::open(file)?;
    let corpus = match kind_of(file) {
        FileKind::Lines => read_lines(&opened, columns)?,
        FileKind::Table { separator } => read_table(
            table_of(
                &opened,
                separator,
                (columns.skip_bad_rows, columns.text.as_deref()),
            )?,
            columns,
        )?,
    };
    Ok(opened.hashed(corpus)?)
}

/// Opens the rows of a table that holds texts among other columns.
///
/// # Errors
/// When it cannot be read, or is a file of lines.
pub fn text_records(opened: &DataFile) -> Result<Records, CorpusError> {
    match kind_of(opened.path()) {
        FileKind::Lines => Err(CorpusError::NoTable {
            file: opened.path().to_owned(),
        }),
        FileKind::Table { separator } => Ok(table_of(opened, separator, (false, None))?),
    }
}

/// Opens the rows of a table; `separator` is none where its lines show it, and the column `wanted` where
/// they show several.
fn table_of(
    opened: &DataFile,
    separator: Option<char>,
    (skip_bad_rows, wanted): (bool, Option<&str>),
) -> Result<Records, ReadError> {
    let mut format = table_format(skip_bad_rows);
    format.separator = separator.unwrap_or(format.separator);
    if opened.path().is_file() {
        format = text_layout(opened.path(), &format, separator.is_none())?;
        // Nobody would be told which field is left out.
        format.row_names = false;
        if let (Some(wanted), None) = (wanted, separator) {
            let found = [format.separator, ',', ';', '\t', '|']
                .into_iter()
                .find(|&separator| {
                    let format = Format {
                        separator,
                        ..format.clone()
                    };
                    let records = Records::open(opened.path(), &format);
                    records.is_ok_and(|records| records.position(wanted).is_some())
                });
            format.separator = found.unwrap_or(format.separator);
        }
    }
    Records::from_file(opened, &format)
}

/// Reads texts from record batches in memory.
///
/// # Errors
/// See [`read_texts`].
pub fn texts_from_arrow(
    batches: &[RecordBatch],
    columns: &TextColumns,
) -> Result<TextCorpus, CorpusError> {
    let format = table_format(columns.skip_bad_rows);
    read_table(Records::from_arrow(batches, &format)?, columns)
}

/// Returns the format in which a table of texts is read: it may hold any other columns beside them.
fn table_format(skip_bad_rows: bool) -> Format {
    Format {
        ignore_other_columns: true,
        skip_bad_rows,
        ..Format::default()
    }
}

enum FileKind {
    Lines,
    Table { separator: Option<char> },
}

fn kind_of(file: &Path) -> FileKind {
    let extension = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.unwrap_or_default().to_ascii_lowercase()
    };
    let inner = match extension(file).as_str() {
        "gz" | "xz" => file.file_stem().map(|stem| extension(Path::new(stem))),
        other => Some(other.to_owned()),
    };
    match inner.as_deref() {
        Some("txt") => FileKind::Lines,
        Some("tsv") => FileKind::Table {
            separator: Some('\t'),
        },
        _ => FileKind::Table { separator: None },
    }
}

fn read_lines(opened: &DataFile, columns: &TextColumns) -> Result<TextCorpus, CorpusError> {
    let file = opened.path();
    if let Some(column) = columns.text.as_ref().or(columns.label.as_ref()) {
        return Err(CorpusError::NoColumns {
            file: file.to_owned(),
            column: column.clone(),
        });
    }
    let io_error = |source| ReadError::Io {
        file: file.to_owned(),
        source,
    };
    let (mut texts, mut rows) = (Vec::new(), RowNumbers::default());
    let encoding = match file.is_file() {
        true => text_layout(file, &Format::default(), false)?.encoding,
        false => None,
    };
    let input = compressed::decompress(BufReader::new(opened.clone())).map_err(io_error)?;
    let input = BufReader::new(decoded(input, encoding).map_err(io_error)?);
    for (number, line) in (1..).zip(input.split(b'\n')) {
        let line = line.map_err(io_error)?;
        let text = std::str::from_utf8(&line).map_err(|_| CorpusError::Utf8 {
            file: file.to_owned(),
            line: number,
        })?;
        let text = if number == 1 {
            text.trim_start_matches('\u{feff}')
        } else {
            text
        }
        .trim();
        if !text.is_empty() {
            texts.push(text.to_owned());
            rows.keep(number);
        }
    }
    if texts.is_empty() {
        return Err(CorpusError::Empty {
            file: file.to_owned(),
        });
    }
    Ok(TextCorpus {
        texts,
        rows,
        ..TextCorpus::default()
    })
}

fn read_table(mut records: Records, columns: &TextColumns) -> Result<TextCorpus, CorpusError> {
    let file = records.file().to_owned();
    let text_column = text_column(&records, columns.text.as_deref())?;
    let label_column = match &columns.label {
        Some(label) => Some(records.require(label)?),
        None => None,
    };
    let named = columns.label.as_deref().unwrap_or_default();
    let thresholded = columns
        .label_threshold
        .map(|threshold| Label::of_threshold(named, threshold));
    let mut texts = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let (mut rows, mut bad_rows) = (RowNumbers::default(), BadRows::default());
    for row in 1.. {
        match next_text(
            &mut records,
            text_column,
            label_column,
            (thresholded.as_ref(), &columns.classes),
        ) {
            Ok(None) => break,
            Ok(Some((text, label))) => {
                texts.push(text);
                words.extend(label);
                rows.keep(row);
            }
            Err(error) => bad_rows.add(error, &records)?,
        }
    }
    if texts.is_empty() {
        return Err(match bad_rows.is_empty() {
            true => CorpusError::Empty { file },
            false => bad_rows.none_left(&file, "texts").into(),
        });
    }
    let (classes, labels) = match thresholded {
        Some(label) => {
            let codes = words.iter().filter_map(|word| label.code(word));
            let codes = codes.collect();
            (label.classes, codes)
        }
        None => numbered(&words),
    };
    if let Some(example) = share_among(&classes) {
        return Err(CorpusError::Shares {
            file,
            column: named.to_owned(),
            count: classes.len(),
            example: example.clone(),
        });
    }
    Ok(TextCorpus {
        texts,
        labels,
        classes,
        rows,
        bad_rows,
    })
}

/// Reads the text of the next row, and its label where there is a label column.
fn next_text(
    records: &mut Records,
    text: usize,
    label: Option<usize>,
    (thresholded, classes): (Option<&Label>, &[String]),
) -> Result<Option<(String, Option<String>)>, CorpusError> {
    let Some(record) = records.advance()? else {
        return Ok(None);
    };
    let label = label.map(|column| {
        let cell = filled(&record, column)?;
        if is_missing(&cell) && !classes.contains(&cell) {
            return Err(CorpusError::NoLabel {
                file: record.file().to_owned(),
                place: record.place(),
                column: record.column(column).to_owned(),
                mark: cell,
            });
        }
        if let Some(label) = thresholded {
            record.class(column, label)?;
        }
        Ok::<_, CorpusError>(cell)
    });
    let label = label.transpose();
    Ok(Some((filled(&record, text)?, label?)))
}

/// Finds the column with the texts.
fn text_column(records: &Records, name: Option<&str>) -> Result<usize, CorpusError> {
    match (name, records.names()) {
        (Some(name), _) => Ok(records.require(name)?),
        (None, [name]) if reads_as_text(name) => Err(CorpusError::HeaderIsText {
            file: records.file().to_owned(),
            line: name.clone(),
        }),
        (None, [_]) => Ok(0),
        (None, names) => Err(CorpusError::NoTextColumn {
            file: records.file().to_owned(),
            found: names.join(", "),
        }),
    }
}

/// Returns whether the name of a column is more likely a text: of more than six words, or of several
/// with the end of a sentence behind them.
fn reads_as_text(name: &str) -> bool {
    let words = name.split_whitespace().count();
    words > 6 || words > 2 && name.ends_with(['.', '!', '?'])
}

/// Returns the text of a cell, or an error where the cell holds none.
fn filled(record: &Record<'_>, column: usize) -> Result<String, CorpusError> {
    match record.cell(column)? {
        "" => Err(CorpusError::Missing {
            file: record.file().to_owned(),
            place: record.place(),
            column: record.column(column).to_owned(),
        }),
        text => Ok(text.to_owned()),
    }
}

/// Returns a fraction among more than two `classes` that are all numbers.
fn share_among(classes: &[String]) -> Option<&String> {
    let numbers: Result<Vec<f64>, _> = classes.iter().map(|class| class.parse()).collect();
    let is_fraction = |number: &f64| number.is_finite() && number.fract() != 0.0;
    let at = numbers.ok()?.iter().position(is_fraction)?;
    (classes.len() > 2).then(|| &classes[at])
}

/// Returns the distinct `words` in order, one of all that spell a number, and the number of each of the
/// `words`.
fn numbered(words: &[String]) -> (Vec<String>, Vec<u32>) {
    let distinct: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let mut shortest: HashMap<String, &str> = HashMap::new();
    for &word in &distinct {
        let known = shortest.entry(class_name(word)).or_insert(word);
        if word.len() < known.len() {
            *known = word;
        }
    }
    let mut classes: Vec<&str> = shortest.values().copied().collect();
    classes.sort_unstable();
    let number = |class: &str| class.parse::<f64>().ok().filter(|x| x.is_finite());
    if classes.iter().all(|class| number(class).is_some()) {
        classes.sort_by(|a, b| {
            let (x, y) = (number(a).unwrap_or_default(), number(b).unwrap_or_default());
            x.total_cmp(&y)
        });
    }
    let numbers: HashMap<&str, u32> = classes.iter().copied().zip(0..).collect();
    let spelled = |word: &str| {
        let class: &str = shortest.get(&class_name(word))?;
        numbers.get(class).copied()
    };
    let numbers_of: HashMap<&str, u32> = distinct
        .iter()
        .filter_map(|&word| Some((word, spelled(word)?)))
        .collect();
    let labels = words
        .iter()
        .filter_map(|word| numbers_of.get(word.as_str()).copied())
        .collect();
    (classes.into_iter().map(str::to_owned).collect(), labels)
}

#[cfg(test)]
mod tests;
