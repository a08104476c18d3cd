//! Guesses a schema from a file, as a draft for a person to edit.
//!
//! Rules, applied to the whole file in one pass: a column of whole numbers is `integer` over its
//! range; other numbers, or whole numbers spread over more than [`InferOptions::max_integer_span`]
//! values, are `numeric` with bins at quantiles; anything else is `categorical` with its
//! words in order of first appearance. `?`, `NA`, `N/A`, `null`, `nan` and empty cells count as
//! missing; a column has one marker, so a second spelling is refused rather than guessed at.

use std::collections::HashMap;
use std::path::Path;

use thiserror::Error;

use super::read::{ReadError, Records};
use super::schema::{Attribute, Format, Kind, Label, Outside, Schema, SchemaError};

/// Why no schema can be inferred.
#[derive(Debug, Error)]
pub enum InferError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The draft would not be a valid schema.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A column holds too many different words to be a category.
    #[error(
        "column '{column}' holds more than {limit} different words (such as '{example}'); name it in ignore to leave it out"
    )]
    TooManyWords {
        /// The column.
        column: String,
        /// The limit.
        limit: usize,
        /// One of its words.
        example: String,
    },
    /// A column spells "missing" in two ways.
    #[error(
        "column '{column}' marks missing values both as '{first}' and as '{second}'; use one of them"
    )]
    TwoMarkers {
        /// The column.
        column: String,
        /// One spelling.
        first: String,
        /// Another.
        second: String,
    },
    /// A column has two roles that exclude each other.
    #[error("column '{column}' is {first} and {second} at once")]
    TwoRoles {
        /// The column.
        column: String,
        /// One role.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A column holds nothing but missing values.
    #[error("column '{column}' holds no value at all; name it in ignore to leave it out")]
    NoValue {
        /// The column.
        column: String,
    },
}

/// What to look for.
#[derive(Debug, Clone)]
pub struct InferOptions {
    /// File layout.
    pub format: Format,
    /// Name of the column to predict.
    pub label: String,
    /// Names of the protected columns.
    pub protected: Vec<String>,
    /// Names of the columns to leave out.
    pub ignore: Vec<String>,
    /// Whole numbers spread over more values than this get bins.
    pub max_integer_span: i64,
    /// The most different words a category may have.
    pub max_words: usize,
    /// Name of the data set.
    pub name: String,
}

/// What is known of a column so far.
#[derive(Default)]
struct Column {
    words: HashMap<String, usize>,
    order: Vec<String>,
    too_many_words: bool,
    missing: Option<String>,
    not_a_number: bool,
    not_whole: bool,
    numbers: Vec<f64>,
}

/// Reads `file` and drafts its schema.
///
/// # Errors
/// See [`InferError`].
pub fn infer(file: &Path, options: &InferOptions) -> Result<Schema, InferError> {
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
    let mut records = Records::open(file, &options.format)?;
    let names = records.names().to_vec();
    for wanted in options
        .protected
        .iter()
        .chain(&options.ignore)
        .chain([&options.label])
    {
        if !names.contains(wanted) {
            return Err(ReadError::MissingColumn {
                file: file.to_owned(),
                column: wanted.clone(),
                found: names.join(", "),
            }
            .into());
        }
    }
    let mut columns: Vec<Column> = names.iter().map(|_| Column::default()).collect();
    let mut rows = 0u64;
    while let Some(record) = records.advance()? {
        rows += 1;
        for (position, (column, name)) in columns.iter_mut().zip(&names).enumerate() {
            if !options.ignore.contains(name) {
                column.look(record.cell(position)?, name, options)?;
            }
        }
    }
    if rows == 0 {
        return Err(ReadError::Empty {
            file: file.to_owned(),
            expected: "rows to learn the domains from",
        }
        .into());
    }
    let mut label = None;
    let mut attributes = Vec::new();
    for (column, name) in columns.into_iter().zip(&names) {
        if options.ignore.contains(name) {
            continue;
        }
        if *name == options.label {
            if column.too_many_words {
                return Err(column.too_many(name, options.max_words));
            }
            let mut classes = column.order;
            classes.sort();
            label = Some(Label {
                name: name.clone(),
                classes,
                aliases: Default::default(),
            });
        } else {
            attributes.push(column.attribute(name, options)?);
        }
    }
    let mut format = options.format.clone();
    format.ignore_other_columns = !options.ignore.is_empty();
    let schema = Schema {
        name: options.name.clone(),
        format,
        label: label.unwrap_or(Label {
            name: options.label.clone(),
            classes: Vec::new(),
            aliases: Default::default(),
        }),
        attributes,
    };
    schema.check()?;
    Ok(schema)
}

impl Column {
    fn look(&mut self, cell: &str, name: &str, options: &InferOptions) -> Result<(), InferError> {
        if is_missing(cell) && *name != options.label {
            if let Some(first) = self.missing.as_ref().filter(|first| *first != cell) {
                return Err(InferError::TwoMarkers {
                    column: name.to_owned(),
                    first: first.clone(),
                    second: cell.to_owned(),
                });
            }
            self.missing = Some(cell.to_owned());
            return Ok(());
        }
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.not_whole |= value.fract() != 0.0 || value.abs() > f64::from(i32::MAX);
                if !self.not_a_number {
                    self.numbers.push(value);
                }
            }
            _ => {
                self.not_a_number = true;
                self.numbers = Vec::new();
            }
        }
        if !self.too_many_words && !self.words.contains_key(cell) {
            if self.order.len() >= options.max_words {
                self.too_many_words = true;
            } else {
                self.words.insert(cell.to_owned(), self.order.len());
                self.order.push(cell.to_owned());
            }
        }
        Ok(())
    }

    fn too_many(mut self, name: &str, limit: usize) -> InferError {
        InferError::TooManyWords {
            column: name.to_owned(),
            limit,
            example: self.order.swap_remove(0),
        }
    }

    fn attribute(mut self, name: &str, options: &InferOptions) -> Result<Attribute, InferError> {
        if self.order.is_empty() {
            return Err(InferError::NoValue {
                column: name.to_owned(),
            });
        }
        let kind = if self.not_a_number {
            if self.too_many_words {
                return Err(self.too_many(name, options.max_words));
            }
            Kind::Categorical {
                levels: self.order,
                ordered: false,
            }
        } else {
            self.numbers.sort_by(f64::total_cmp);
            let (min, max) = (self.numbers[0], self.numbers[self.numbers.len() - 1]);
            if !self.not_whole && max - min < options.max_integer_span as f64 {
                Kind::Integer {
                    min: min as i32,
                    max: max as i32,
                }
            } else {
                Kind::Numeric {
                    bins: quantile_edges(&self.numbers),
                }
            }
        };
        Ok(Attribute {
            name: name.to_owned(),
            kind,
            protected: options.protected.iter().any(|have| have == name),
            outside: if self.missing.is_some() {
                Outside::Level
            } else {
                Outside::Reject
            },
            missing: self.missing,
        })
    }
}

/// Whether a cell says that its value is not known: empty, or a usual mark such as `?` or `NA`.
pub fn is_missing(cell: &str) -> bool {
    matches!(
        cell.to_ascii_lowercase().as_str(),
        "" | "?" | "na" | "n/a" | "null" | "nan"
    )
}

/// At most ten bins of about equal counts; the outer edges are the range itself.
fn quantile_edges(sorted: &[f64]) -> Vec<f64> {
    let last = sorted.len() - 1;
    let mut edges: Vec<f64> = (0..=10).map(|i| sorted[i * last / 10]).collect();
    edges.dedup();
    if edges.len() < 2 {
        edges.push(edges[0] + 1.0);
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Labels, Table};
    use std::io::Write;

    fn options() -> InferOptions {
        InferOptions {
            format: Format::default(),
            label: "income".into(),
            protected: vec!["sex".into()],
            ignore: Vec::new(),
            max_integer_span: 200,
            max_words: 50,
            name: "people".into(),
        }
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    #[test]
    fn the_draft_reads_its_own_file() {
        let file = file("age,sex,wage,income\n40,m,1.5,yes\n17,f,2.5,no\n30,?,9.25,no\n");
        let schema = infer(file.path(), &options()).unwrap();
        assert_eq!(
            schema.attributes[0].kind,
            Kind::Integer { min: 17, max: 40 }
        );
        assert_eq!(schema.attributes[1].missing.as_deref(), Some("?"));
        assert!(schema.attributes[1].protected);
        assert!(matches!(schema.attributes[2].kind, Kind::Numeric { .. }));
        let again = Schema::from_toml(&schema.to_toml().unwrap()).unwrap();
        let table = Table::read(file.path(), &again, Labels::Required).unwrap();
        assert_eq!(
            table.row(2),
            [30, 2, 2 - 1 + i32::from(table.row(2)[2] == 2)]
        );
        assert_eq!(table.labels(), [1, 0, 0]);
    }

    #[test]
    fn faults_are_named() {
        for (text, needle) in [
            ("age,sex,income\n", "no rows"),
            ("age,income\n1,yes\n", "no column 'sex'"),
            ("age,sex,income\n1,m,yes\n", "two classes"),
            ("age,sex,income\nNA,m,yes\n?,f,no\n", "both as"),
            ("age,sex,income\n?,m,yes\n?,f,no\n", "no value"),
        ] {
            let error = infer(file(text).path(), &options()).unwrap_err();
            assert!(error.to_string().contains(needle), "{error}");
        }
    }
}
