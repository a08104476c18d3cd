//! The reader of texts and their labels.
//!
//! | name ends with (before `.gz`, `.xz`) | content                                      |
//! |--------------------------------------|----------------------------------------------|
//! | `.txt`                               | a text on each line; blank lines are no texts |
//! | `.tsv`                               | a table, separated by tabs                   |
//! | anything else                        | a table, separated by commas, or Parquet     |
//!
//! Labels are numbered in ascending order: as numbers if all of them are, else as words.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use thiserror::Error;

use probity_data::compressed;
use probity_data::read::{Place, ReadError, Record, Records};
use probity_data::schema::Format;
use probity_data::source::{DataFile, Hashed};

/// Why texts cannot be read.
#[derive(Debug, Error)]
pub enum CorpusError {
    /// The table is broken, or lacks a column.
    #[error(transparent)]
    Table(#[from] ReadError),
    /// It is not said which column holds the texts.
    #[error("{} has several columns; name the one with the texts by --text-column: {found}", file.display())]
    NoTextColumn {
        /// The file.
        file: PathBuf,
        /// Its columns.
        found: String,
    },
    /// A column of a file without columns.
    #[error("{} holds a text on each line and has no column '{column}'; take a table for labelled texts", file.display())]
    NoColumns {
        /// The file.
        file: PathBuf,
        /// The column asked for.
        column: String,
    },
    /// A value is missing.
    #[error("{}, {place}: there is nothing in the column '{column}'; fill it in or leave the row out", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
        /// Line or row.
        place: Place,
        /// The column.
        column: String,
    },
    /// A line is not UTF-8.
    #[error("{}, line {line}: the text is not valid UTF-8; convert the file first", file.display())]
    Utf8 {
        /// The file.
        file: PathBuf,
        /// Its number, from 1.
        line: u64,
    },
    /// There is no text.
    #[error("{} holds no texts", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// All texts have one label.
    #[error("{}: all {rows} texts have the label '{class}' in the column '{column}'; a classifier needs at least two classes", file.display())]
    OneClass {
        /// The file.
        file: PathBuf,
        /// The label column.
        column: String,
        /// Number of texts.
        rows: usize,
        /// The only label.
        class: String,
    },
}

/// Which columns hold what.
#[derive(Debug, Clone, Default)]
pub struct TextColumns {
    /// The column with the texts; may be left out for a table of one column.
    pub text: Option<String>,
    /// The column with the labels, if labels are wanted.
    pub label: Option<String>,
}

/// Texts and, where they were asked for, their labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCorpus {
    /// The texts, as they are written.
    pub texts: Vec<String>,
    /// The class of each text; empty without a label column.
    pub labels: Vec<u32>,
    /// The classes in order; empty without a label column.
    pub classes: Vec<String>,
}

/// Reads texts from a table or a file of lines.
///
/// # Errors
/// When the file cannot be read, lacks a column, has a row without text or label, holds no texts,
/// or has only one label.
pub fn read_texts(file: &Path, columns: &TextColumns) -> Result<TextCorpus, CorpusError> {
    Ok(read_texts_hashed(file, columns)?.value)
}

/// The same with the file's hash, from one pass over it.
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
        FileKind::Table { separator } => {
            let format = Format {
                separator,
                ..table_format()
            };
            read_table(Records::of(&opened, &format)?, columns)?
        }
    };
    Ok(opened.hashed(corpus)?)
}

/// Reads texts from record batches in memory.
///
/// # Errors
/// See [`read_texts`].
pub fn texts_from_arrow(
    batches: &[RecordBatch],
    columns: &TextColumns,
) -> Result<TextCorpus, CorpusError> {
    read_table(Records::from_arrow(batches, &table_format())?, columns)
}

/// A table of texts may hold anything else beside them.
fn table_format() -> Format {
    Format {
        ignore_other_columns: true,
        ..Format::default()
    }
}

enum FileKind {
    Lines,
    Table { separator: char },
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
        Some("tsv") => FileKind::Table { separator: '\t' },
        _ => FileKind::Table { separator: ',' },
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
    let mut texts = Vec::new();
    let input = compressed::decompress(BufReader::new(opened.clone())).map_err(io_error)?;
    let input = BufReader::new(input);
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
        }
    }
    if texts.is_empty() {
        return Err(CorpusError::Empty {
            file: file.to_owned(),
        });
    }
    Ok(TextCorpus {
        texts,
        labels: Vec::new(),
        classes: Vec::new(),
    })
}

fn read_table(mut records: Records, columns: &TextColumns) -> Result<TextCorpus, CorpusError> {
    let file = records.file().to_owned();
    let text_column = text_column(&records, columns.text.as_deref())?;
    let label_column = match &columns.label {
        Some(label) => Some(records.require(label)?),
        None => None,
    };
    let mut texts = Vec::new();
    let mut words: Vec<String> = Vec::new();
    while let Some(record) = records.advance()? {
        texts.push(filled(&record, text_column)?);
        if let Some(column) = label_column {
            words.push(filled(&record, column)?);
        }
    }
    if texts.is_empty() {
        return Err(CorpusError::Empty { file });
    }
    let (classes, labels) = numbered(&words);
    if let (Some(column), [class]) = (&columns.label, classes.as_slice()) {
        return Err(CorpusError::OneClass {
            file,
            column: column.clone(),
            rows: texts.len(),
            class: class.clone(),
        });
    }
    Ok(TextCorpus {
        texts,
        labels,
        classes,
    })
}

/// The column with the texts.
fn text_column(records: &Records, name: Option<&str>) -> Result<usize, CorpusError> {
    match (name, records.names()) {
        (Some(name), _) => Ok(records.require(name)?),
        (None, [_]) => Ok(0),
        (None, names) => Err(CorpusError::NoTextColumn {
            file: records.file().to_owned(),
            found: names.join(", "),
        }),
    }
}

/// The text of a cell, which must hold some.
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

/// The distinct `words` in order, and the number of each.
fn numbered(words: &[String]) -> (Vec<String>, Vec<u32>) {
    let distinct: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let mut classes: Vec<&str> = distinct.into_iter().collect();
    let number = |class: &str| class.parse::<f64>().ok().filter(|x| x.is_finite());
    if classes.iter().all(|class| number(class).is_some()) {
        classes.sort_by(|a, b| {
            let (x, y) = (number(a).unwrap_or_default(), number(b).unwrap_or_default());
            x.total_cmp(&y)
        });
    }
    let numbers: HashMap<&str, u32> = classes.iter().copied().zip(0..).collect();
    let labels = words
        .iter()
        .filter_map(|word| numbers.get(word.as_str()).copied())
        .collect();
    (classes.into_iter().map(str::to_owned).collect(), labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, content: &[u8], text: &str, label: &str) -> Result<TextCorpus, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        let mut out = std::fs::File::create(&file).unwrap();
        compressed::write_as(&file, &mut out, |out| out.write_all(content)).unwrap();
        let some = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        read_texts(
            &file,
            &TextColumns {
                text: some(text),
                label: some(label),
            },
        )
        .map_err(|error| error.to_string().replace(&file.display().to_string(), name))
    }

    #[test]
    fn tables_and_lines_are_read_whatever_their_compression() {
        let csv = "id,text,y\n1,\"A, b\n\"\"c\"\"\",10\n2,d,9\n3,e,10\n";
        let expected = TextCorpus {
            texts: vec!["A, b\n\"c\"".into(), "d".into(), "e".into()],
            labels: vec![1, 0, 1],
            classes: vec!["9".into(), "10".into()],
        };
        for name in ["a.csv", "a.csv.gz", "a.csv.xz", "a"] {
            assert_eq!(
                read(name, csv.as_bytes(), "text", "y").unwrap(),
                expected,
                "{name}"
            );
        }
        let tsv = read("a.TSV.xz", b"text\ty\na, b\tyes\nc\tno\n", "text", "y").unwrap();
        assert_eq!((tsv.texts[0].as_str(), tsv.labels), ("a, b", vec![1, 0]));
        assert_eq!(tsv.classes, ["no", "yes"]);
        let lines = read("a.txt.gz", "\u{feff}one\r\n\n two, 2 \n".as_bytes(), "", "").unwrap();
        assert_eq!(lines.texts, ["one", "two, 2"]);
        assert_eq!(read("a.csv", b"text\na\n", "", "").unwrap().texts, ["a"]);
    }

    #[test]
    fn parquet_is_read() {
        use arrow_array::{ArrayRef, RecordBatch, StringArray};
        use std::sync::Arc;
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a b"), Some("c"), None]));
        let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
        let mut bytes = Vec::new();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch.slice(0, 2)).unwrap();
        writer.close().unwrap();
        assert_eq!(
            read("a.parquet", &bytes, "text", "").unwrap().texts,
            ["a b", "c"]
        );
        let mut bytes = Vec::new();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let error = read("a.parquet", &bytes, "text", "").unwrap_err();
        assert!(
            error.contains("row 3: there is nothing in the column 'text'"),
            "{error}"
        );
    }

    #[test]
    fn bad_files_are_refused_by_what_is_wrong() {
        for (name, content, text, label, expected) in [
            (
                "a.csv",
                &b"text,y\na,1\nb,\n"[..],
                "text",
                "y",
                "a.csv, line 3: there is nothing in the column 'y'",
            ),
            (
                "a.csv.xz",
                b"text,y\n\"a\nb\",1\n,1\n",
                "text",
                "y",
                "a.csv.xz, line 4: there is nothing in the column 'text'",
            ),
            (
                "a.csv",
                b"text,y\na,1\nb,1\n",
                "text",
                "y",
                "all 2 texts have the label '1' in the column 'y'",
            ),
            (
                "a.csv",
                b"text,y\na,1\n",
                "body",
                "",
                "no column 'body'; its columns are text, y",
            ),
            (
                "a.csv",
                b"text,y\na,1\n",
                "text",
                "z",
                "no column 'z'; its columns are text, y",
            ),
            (
                "a.csv",
                b"text,y\na,1\n",
                "",
                "",
                "name the one with the texts by --text-column: text, y",
            ),
            ("a.csv", b"text,y\n", "text", "", "a.csv holds no texts"),
            ("a.txt", b"\n \n", "", "", "a.txt holds no texts"),
            (
                "a.txt",
                b"a\n\xff\n",
                "",
                "",
                "a.txt, line 2: the text is not valid UTF-8",
            ),
            ("a.txt", b"a\n", "", "y", "has no column 'y'"),
            ("a.csv", b"text\n\xff\xff\n", "text", "", "not valid UTF-8"),
            (
                "a.csv",
                b"text,y\na\n",
                "text",
                "",
                "1 fields where 2 are expected",
            ),
        ] {
            let error = read(name, content, text, label).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
