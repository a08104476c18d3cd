//! Rows of a table by its schema: variables to model, ids, groups, and evidence for questions.
//!
//! Every attribute of the schema is a variable, and the label is one more, categorical, at the end. Integers
//! keep their declared range, numbers the ends and edges of their declared bins. Nothing is taken from
//! the rows themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Dataset, Domain, LeafFamily, SpnError, Variable};
use probity_data::read::{Place, ReadError, Record, Records};
use probity_data::schema::{Attribute, Encoded, Encoder, Kind, Schema};

/// How a table is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableOptions {
    /// Columns that are left out of the model.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// The column with the rows' ids; their numbers in the file, from 1, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// The column that names the group of a row, such as a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_column: Option<String>,
    /// Families of leaves by column, where they are not the usual ones.
    #[serde(default)]
    pub leaves: BTreeMap<String, LeafFamily>,
    /// What the columns hold.
    pub schema: Schema,
}

/// Why a table cannot be used.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file or a value of it.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The variables or the rows as a whole.
    #[error(transparent)]
    Spn(#[from] SpnError),
    /// An option names a column that is not described, or is not in the file.
    #[error("--{option} names the column '{column}', which {place} does not have")]
    NoSuchColumn {
        /// The option.
        option: &'static str,
        /// The column.
        column: String,
        /// Where it was looked for.
        place: String,
    },
    /// An id is no whole number.
    #[error("{}, {place}, id column '{column}': '{value}' is not a whole number from 0", file.display())]
    Id {
        /// The file.
        file: PathBuf,
        /// Line or row.
        place: Place,
        /// The column.
        column: String,
        /// The cell.
        value: String,
    },
    /// A missing or outside value has a level of its own, which is no number.
    #[error(
        "{}, {place}, column '{column}': '{value}' is mapped to a level of its own, which is no number; use outside = \"clip\" or \"skip\"",
        file.display()
    )]
    LevelOfNumber {
        /// The file.
        file: PathBuf,
        /// Line or row.
        place: Place,
        /// The column.
        column: String,
        /// The cell.
        value: String,
    },
}

/// Rows with some values unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Questions {
    /// One entry a variable; `None` where the cell is empty or the column is missing.
    pub rows: Vec<Vec<Option<f64>>>,
    /// The number of each row in its file, from 1.
    pub numbers: Vec<u64>,
}

impl TableOptions {
    /// The variables: attributes in the order of the schema, then the label.
    ///
    /// # Errors
    /// A column of an option that the schema does not describe, or a family that a column cannot have.
    pub fn variables(&self) -> Result<Vec<Variable>, TableError> {
        let schema = &self.schema;
        let known = |name: &String| {
            *name == schema.label.name || schema.attributes.iter().any(|a| a.name == *name)
        };
        let named = [
            ("ignore", self.ignore.iter().collect::<Vec<_>>()),
            ("leaf", self.leaves.keys().collect()),
        ];
        for (option, columns) in named {
            if let Some(column) = columns.into_iter().find(|column| !known(column)) {
                return Err(TableError::NoSuchColumn {
                    option,
                    column: column.clone(),
                    place: format!("the schema '{}'", schema.name),
                });
            }
        }
        let mut variables = Vec::new();
        for attribute in &schema.attributes {
            if !self.left_out(&attribute.name) {
                variables.push(self.variable(&attribute.name, domain_of(attribute))?);
            }
        }
        if !self.left_out(&schema.label.name) {
            let levels = schema.label.classes.clone();
            variables.push(self.variable(&schema.label.name, Domain::Categorical { levels })?);
        }
        if variables.is_empty() {
            return Err(SpnError::NoVariables.into());
        }
        Ok(variables)
    }

    fn left_out(&self, name: &str) -> bool {
        let named = |column: &Option<String>| column.as_deref() == Some(name);
        self.ignore.iter().any(|column| column == name)
            || named(&self.id_column)
            || named(&self.group_column)
    }

    fn variable(&self, name: &str, domain: Domain) -> Result<Variable, SpnError> {
        let family = self.leaves.get(name).copied();
        let family = family.unwrap_or_else(|| Variable::usual_family(&domain));
        Variable::new(name.to_owned(), domain, family)
    }

    /// Reads the rows of `file` to learn from; also how many the schema left out.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn read(&self, file: &Path) -> Result<(Dataset, u64), TableError> {
        let variables = self.variables()?;
        let mut reader = Reader::open(self, file, Columns::All)?;
        let mut ids = Vec::new();
        let mut groups = Vec::new();
        let mut values = Vec::new();
        let mut skipped = 0;
        let mut number = 0;
        while let Some(row) = reader.advance()? {
            number += 1;
            let Some(cells) = row.cells else {
                skipped += 1;
                continue;
            };
            values.extend(cells.into_iter().map(Option::unwrap_or_default));
            ids.push(row.id.unwrap_or(number));
            groups.extend(row.group);
        }
        if ids.is_empty() {
            return Err(ReadError::Empty {
                file: file.to_owned(),
                expected: "at least one row that the schema keeps",
            }
            .into());
        }
        Ok((Dataset::new(variables, &ids, &groups, &values)?, skipped))
    }

    /// Reads rows to ask about: empty cells and missing columns are unknown.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn read_questions(&self, file: &Path) -> Result<Questions, TableError> {
        let mut reader = Reader::open(self, file, Columns::Some)?;
        let mut questions = Questions {
            rows: Vec::new(),
            numbers: Vec::new(),
        };
        let mut number = 0;
        while let Some(row) = reader.advance()? {
            number += 1;
            if let Some(cells) = row.cells {
                questions.rows.push(cells);
                questions.numbers.push(number);
            }
        }
        if questions.rows.is_empty() {
            return Err(ReadError::Empty {
                file: file.to_owned(),
                expected: "at least one row that the schema keeps",
            }
            .into());
        }
        Ok(questions)
    }
}

/// The domain of an attribute; a level of its own for outside values is one more category.
fn domain_of(attribute: &Attribute) -> Domain {
    match &attribute.kind {
        Kind::Categorical { .. } => {
            let (min, max) = attribute.domain();
            Domain::Categorical {
                levels: (min..=max).map(|code| attribute.decode(code)).collect(),
            }
        }
        Kind::Integer { min, max } => Domain::Integer {
            min: *min,
            max: *max,
        },
        Kind::Numeric { bins } => Domain::Real {
            edges: bins.clone(),
        },
    }
}

/// Which columns a file must have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    All,
    Some,
}

/// Where the values of one variable come from.
enum Source<'s> {
    Attribute(Encoder<'s>, &'s Attribute),
    Label,
}

struct Reader<'s> {
    records: Records,
    schema: &'s Schema,
    sources: Vec<(Option<usize>, Source<'s>)>,
    id: Option<usize>,
    group: Option<usize>,
    columns: Columns,
}

/// One row; no cells where the schema leaves it out.
struct Row {
    cells: Option<Vec<Option<f64>>>,
    id: Option<u64>,
    group: Option<String>,
}

impl<'s> Reader<'s> {
    fn open(
        options: &'s TableOptions,
        file: &Path,
        columns: Columns,
    ) -> Result<Reader<'s>, TableError> {
        let schema = &options.schema;
        let records = Records::open(file, &schema.format)?;
        let mut sources = Vec::new();
        for attribute in &schema.attributes {
            if !options.left_out(&attribute.name) {
                let source = Source::Attribute(Encoder::new(attribute), attribute);
                sources.push((records.position(&attribute.name), source));
            }
        }
        if !options.left_out(&schema.label.name) {
            sources.push((records.position(&schema.label.name), Source::Label));
        }
        for (position, source) in &sources {
            if position.is_none() && columns == Columns::All {
                return Err(missing(&records, source.name(schema)).into());
            }
        }
        let place = |option: &'static str, column: &Option<String>| match column {
            Some(column) if columns == Columns::All => match records.position(column) {
                Some(position) => Ok(Some(position)),
                None => Err(TableError::NoSuchColumn {
                    option,
                    column: column.clone(),
                    place: file.display().to_string(),
                }),
            },
            _ => Ok(None),
        };
        let id = place("id-column", &options.id_column)?;
        let group = place("group-column", &options.group_column)?;
        let known = |name: &String| {
            options.left_out(name) || sources.iter().any(|(_, s)| s.name(schema) == name)
        };
        if let Some(extra) = records.names().iter().find(|name| !known(name))
            && !schema.format.ignore_other_columns
        {
            return Err(ReadError::ExtraColumn {
                file: file.to_owned(),
                column: extra.clone(),
            }
            .into());
        }
        Ok(Reader {
            id,
            group,
            records,
            schema,
            sources,
            columns,
        })
    }

    fn advance(&mut self) -> Result<Option<Row>, TableError> {
        let file = self.records.file().to_owned();
        let Some(record) = self.records.advance()? else {
            return Ok(None);
        };
        let mut cells = Vec::with_capacity(self.sources.len());
        let mut kept = true;
        for (position, source) in &self.sources {
            let Some(position) = position else {
                cells.push(None);
                continue;
            };
            let cell = record.cell(*position)?;
            if cell.is_empty() && self.columns == Columns::Some {
                cells.push(None);
                continue;
            }
            match source.value(self.schema, &record, &file, cell)? {
                Some(value) => cells.push(Some(value)),
                None => {
                    kept = false;
                    break;
                }
            }
        }
        let id = match self.id {
            None => None,
            Some(position) => {
                let cell = record.cell(position)?;
                let id = cell.parse().map_err(|_| TableError::Id {
                    file: file.clone(),
                    place: record.place(),
                    column: record.column(position).to_owned(),
                    value: cell.to_owned(),
                })?;
                Some(id)
            }
        };
        let group = self.group.map(|at| record.cell(at).map(str::to_owned));
        Ok(Some(Row {
            cells: kept.then_some(cells),
            id,
            group: if kept { group.transpose()? } else { None },
        }))
    }
}

impl Source<'_> {
    fn name<'a>(&'a self, schema: &'a Schema) -> &'a str {
        match self {
            Source::Attribute(_, attribute) => &attribute.name,
            Source::Label => &schema.label.name,
        }
    }

    /// The value of a cell; `None` if the row is to be left out.
    fn value(
        &self,
        schema: &Schema,
        record: &Record<'_>,
        file: &Path,
        cell: &str,
    ) -> Result<Option<f64>, TableError> {
        let refused = |expected: String| ReadError::Value {
            file: file.to_owned(),
            place: record.place(),
            column: self.name(schema).to_owned(),
            value: cell.to_owned(),
            expected,
        };
        let (encoder, attribute) = match self {
            Source::Attribute(encoder, attribute) => (encoder, attribute),
            Source::Label => {
                let label = &schema.label;
                let name = label.aliases.get(cell).map_or(cell, String::as_str);
                let class = label.classes.iter().position(|class| class == name);
                let class = class.ok_or_else(|| ReadError::Class {
                    file: file.to_owned(),
                    place: record.place(),
                    column: label.name.clone(),
                    value: cell.to_owned(),
                    expected: label.classes.join(", "),
                })?;
                return Ok(Some(class as f64));
            }
        };
        let (code, mapped) = match encoder.encode(cell).map_err(refused)? {
            Encoded::Code(code) => (code, false),
            Encoded::Mapped(code) => (code, true),
            Encoded::Skip => return Ok(None),
        };
        let no_number = || TableError::LevelOfNumber {
            file: file.to_owned(),
            place: record.place(),
            column: attribute.name.clone(),
            value: cell.to_owned(),
        };
        let value = match &attribute.kind {
            Kind::Categorical { .. } => f64::from(code),
            Kind::Integer { max, .. } if mapped && code > *max => return Err(no_number()),
            Kind::Integer { .. } => f64::from(code),
            Kind::Numeric { bins } if mapped => {
                let edge = match code {
                    0 => bins.first(),
                    code if code == bins.len() as i32 - 2 => bins.last(),
                    _ => None,
                };
                *edge.ok_or_else(no_number)?
            }
            // The encoder has found it to be a number within the bins.
            Kind::Numeric { .. } => cell.parse().unwrap_or_default(),
        };
        Ok(Some(value))
    }
}

fn missing(records: &Records, column: &str) -> ReadError {
    ReadError::MissingColumn {
        file: records.file().to_owned(),
        column: column.to_owned(),
        found: records.names().join(", "),
    }
}
