//! Reading of the rows of a table, in a file or in memory, by its schema: variables to model, ids,
//! groups, and evidence for questions.
//!
//! Every attribute of the schema is a variable, and the label is one more, categorical, at the end.
//! Integers keep their declared range, numbers the ends and edges of their declared bins. Nothing
//! is taken from the rows themselves. A value of a column of numbers that the schema gives a level
//! of its own, such as a missing one, is not known: it is summed out, where is learnt as where is
//! asked. Of words such a level is one more category.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Dataset, Domain, LeafFamily, SpnError, Variable};
use arrow_array::RecordBatch;
use probity_data::numbers::{Column, NumbersError, Reading, one_spelling};
use probity_data::read::{LeftOut, OfRow, Place, ReadError, Record, Records};
use probity_data::schema::{Attribute, Encoder, Kind, Schema, is_missing};
use probity_data::source::{DataFile, Hashed};

/// Options for reading a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TableOptions {
    /// The columns that are left out of the model.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// The column with the rows' ids; their numbers in the file, from 1, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// The column that names the group of a row, such as a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_column: Option<String>,
    /// The families of leaves by column, where they are not the usual ones.
    #[serde(default)]
    pub leaves: BTreeMap<String, LeafFamily>,
    /// The schema of the columns.
    pub schema: Schema,
}

/// The reason why a table cannot be used.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file, or a value of it, cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// A value is no number.
    #[error("{0}")]
    Numbers(#[from] NumbersError),
    /// The variables, or the rows as a whole, cannot be used.
    #[error("{0}")]
    Spn(#[from] SpnError),
    /// A field names a column that is not described, or is not in the file.
    #[error("{field} names the column '{column}', which {place} does not have")]
    NoSuchColumn {
        /// The field of the specification.
        field: &'static str,
        /// The column.
        column: String,
        /// The place where the column was looked for.
        place: String,
    },
    /// An id is no whole number.
    #[error("{}, {place}, id column '{column}': '{value}' is not a whole number from 0", file.display())]
    Id {
        /// The file.
        file: PathBuf,
        /// The line or row.
        place: Place,
        /// The column.
        column: String,
        /// The cell.
        value: String,
    },
}

impl OfRow for TableError {
    fn reason(&self) -> Option<String> {
        match self {
            TableError::Read(error) => error.reason(),
            TableError::Numbers(error) => error.reason(),
            TableError::Id { column, value, .. } if value.is_empty() => {
                Some(format!("'{column}' is blank"))
            }
            _ => None,
        }
    }

    fn avoidable(self) -> TableError {
        match self {
            TableError::Read(error) => error.avoidable().into(),
            TableError::Numbers(error) => error.avoidable().into(),
            other => other,
        }
    }
}

/// Rows with some values unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Questions {
    /// The values of the rows, one entry a variable; `None` where the cell is empty, or says of the
    /// label that it is missing, or there is no such column.
    pub rows: Vec<Vec<Option<f64>>>,
    /// The number of each row in its file, from 1.
    pub numbers: Vec<u64>,
    /// The rows that are left out.
    pub left_out: LeftOut,
}

impl TableOptions {
    /// Creates options for all columns of `schema`, with the usual families of leaves, and rows
    /// without ids.
    pub fn new(schema: Schema) -> TableOptions {
        TableOptions {
            ignore: Vec::new(),
            id_column: None,
            group_column: None,
            leaves: BTreeMap::new(),
            schema,
        }
    }

    /// Returns the variables: attributes in the order of the schema, then the label.
    ///
    /// # Errors
    /// A column of a field that the schema does not describe, or a family that a column cannot
    /// have.
    pub fn variables(&self) -> Result<Vec<Variable>, TableError> {
        let schema = &self.schema;
        let known = |name: &String| {
            *name == schema.label.name || schema.attributes.iter().any(|a| a.name == *name)
        };
        let named = [
            ("table.ignore", self.ignore.iter().collect::<Vec<_>>()),
            ("table.leaves", self.leaves.keys().collect()),
        ];
        for (field, columns) in named {
            if let Some(column) = columns.into_iter().find(|column| !known(column)) {
                return Err(TableError::NoSuchColumn {
                    field,
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
        // Numbers have no levels; a network of the other columns is learnt.
        if !self.left_out(&schema.label.name) && !schema.label.is_number() {
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

    /// Reads the rows of `file` to learn from, and says what is left out.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn read(&self, file: &Path) -> Result<Hashed<(Dataset, LeftOut)>, TableError> {
        let file = DataFile::open(file)?;
        let rows = self.decode(Records::from_file(&file, &self.schema.format)?)?;
        Ok(file.hashed(rows)?)
    }

    /// Reads rows to learn from, from record batches in memory, and says what is left out.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn from_arrow(&self, batches: &[RecordBatch]) -> Result<(Dataset, LeftOut), TableError> {
        self.decode(Records::from_arrow(batches, &self.schema.format)?)
    }

    fn decode(&self, records: Records) -> Result<(Dataset, LeftOut), TableError> {
        let variables = self.variables()?;
        let mut reader = Reader::new(self, records, Columns::All)?;
        let mut ids = Vec::new();
        let mut groups = Vec::new();
        let mut values = Vec::new();
        while let Some(row) = reader.advance()? {
            let Some(cells) = row.cells else {
                continue;
            };
            let known = |cell: Option<f64>| cell.unwrap_or(f64::NAN);
            values.extend(cells.into_iter().map(known));
            ids.push(row.id.unwrap_or(reader.number));
            groups.extend(row.group);
        }
        if ids.is_empty() {
            return Err(reader.empty());
        }
        let data = Dataset::new(variables, &ids, &groups, &values)?;
        Ok((data, reader.left_out))
    }

    /// Reads rows to ask about: empty cells, missing labels and missing columns are unknown.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn read_questions(&self, file: &Path) -> Result<Questions, TableError> {
        self.decode_questions(Records::open(file, &self.schema.format)?)
    }

    /// Reads rows to ask about from record batches in memory: empty cells, missing labels and missing
    /// columns are unknown.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn questions_from_arrow(&self, batches: &[RecordBatch]) -> Result<Questions, TableError> {
        self.decode_questions(Records::from_arrow(batches, &self.schema.format)?)
    }

    fn decode_questions(&self, records: Records) -> Result<Questions, TableError> {
        let mut reader = Reader::new(self, records, Columns::Some)?;
        let mut questions = Questions {
            rows: Vec::new(),
            numbers: Vec::new(),
            left_out: LeftOut::default(),
        };
        while let Some(row) = reader.advance()? {
            if let Some(cells) = row.cells {
                questions.rows.push(cells);
                questions.numbers.push(reader.number);
            }
        }
        if questions.rows.is_empty() {
            return Err(reader.empty());
        }
        questions.left_out = reader.left_out;
        Ok(questions)
    }
}

/// Returns the domain of an attribute; a level of its own for outside values is one more category.
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
        Kind::Numeric { bins, .. } => Domain::Real {
            edges: bins.clone(),
        },
    }
}

/// The columns that a file must have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    All,
    Some,
}

/// Returns whether the cell of `column` in a row that is asked about says nothing: it is empty, or, of
/// the label, a mark of what is missing.
fn is_unknown(column: &Column<'_>, record: &Record<'_>) -> Result<bool, ReadError> {
    let cell = record.cell(column.position)?;
    let Reading::Class(label) = &column.reading else {
        return Ok(cell.is_empty());
    };
    let is_marked = cell.is_empty() || label.is_missing(cell) || is_missing(cell);
    Ok(is_marked && record.known_class(column.position, label)?.is_none())
}

struct Reader<'s> {
    records: Records,
    /// The columns of the variables; `None` where the column is missing.
    values: Vec<Option<Column<'s>>>,
    id: Option<usize>,
    group: Option<usize>,
    columns: Columns,
    /// The number of the current row, from 1.
    number: u64,
    left_out: LeftOut,
}

/// A row of the table; without cells where the schema leaves it out.
struct Row {
    cells: Option<Vec<Option<f64>>>,
    id: Option<u64>,
    group: Option<String>,
}

impl<'s> Reader<'s> {
    fn new(
        options: &'s TableOptions,
        records: Records,
        columns: Columns,
    ) -> Result<Reader<'s>, TableError> {
        let schema = &options.schema;
        let mut modelled: Vec<(&String, Reading<'s>)> = schema
            .attributes
            .iter()
            .map(|attribute| (&attribute.name, Reading::Value(Encoder::new(attribute))))
            .collect();
        modelled.push((&schema.label.name, Reading::Class(&schema.label)));
        modelled.retain(|(name, _)| !options.left_out(name));
        let known = |name: &String| {
            options.left_out(name) || modelled.iter().any(|(modelled, _)| *modelled == name)
        };
        let extra = records.names().iter().filter(|name| !known(name));
        let extra: Vec<String> = extra.cloned().collect();
        let mut values = Vec::with_capacity(modelled.len());
        for (name, reading) in modelled {
            let position = match columns {
                Columns::All => Some(records.require(name)?),
                Columns::Some => records.position(name),
            };
            values.push(position.map(|position| Column { position, reading }));
        }
        let place = |field: &'static str, column: &Option<String>| match column {
            Some(column) if columns == Columns::All => match records.position(column) {
                Some(position) => Ok(Some(position)),
                None => Err(TableError::NoSuchColumn {
                    field,
                    column: column.clone(),
                    place: records.file().display().to_string(),
                }),
            },
            _ => Ok(None),
        };
        let id = place("table.id_column", &options.id_column)?;
        let group = place("table.group_column", &options.group_column)?;
        if !extra.is_empty() && !schema.format.ignore_other_columns {
            let (file, columns) = (records.file().to_owned(), extra);
            return Err(ReadError::ExtraColumns { file, columns }.into());
        }
        Ok(Reader {
            id,
            group,
            records,
            values,
            columns,
            number: 0,
            left_out: LeftOut::default(),
        })
    }

    /// Returns the next row; a row with which something is wrong is counted and passed over, or is
    /// an error.
    fn advance(&mut self) -> Result<Option<Row>, TableError> {
        loop {
            self.number += 1;
            match self.row() {
                Ok(row) => {
                    let is_skipped = row.as_ref().is_some_and(|row| row.cells.is_none());
                    self.left_out.skipped_rows += u64::from(is_skipped);
                    return Ok(row);
                }
                Err(error) => self.left_out.bad_rows.add(error, &self.records)?,
            }
        }
    }

    fn row(&mut self) -> Result<Option<Row>, TableError> {
        let Some(record) = self.records.advance()? else {
            return Ok(None);
        };
        let mut cells = Vec::with_capacity(self.values.len());
        let mut kept = true;
        for column in &self.values {
            let Some(column) = column else {
                cells.push(None);
                continue;
            };
            if self.columns == Columns::Some && is_unknown(column, &record)? {
                cells.push(None);
                continue;
            }
            let Some(value) = column.value(&record)? else {
                kept = false;
                break;
            };
            cells.push((!value.is_nan()).then_some(value));
        }
        let id = match self.id {
            None => None,
            Some(position) => {
                let cell = record.cell(position)?;
                // A column with blanks is one of decimals to many programs: 3.0.
                let id = cell.parse::<u64>();
                let id = id.or_else(|_| one_spelling(cell).parse());
                let id = id.map_err(|_| TableError::Id {
                    file: record.file().to_owned(),
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

    fn empty(self) -> TableError {
        let expected = "at least one row that the schema keeps";
        let bad_rows = self.left_out.bad_rows;
        bad_rows.none_left(self.records.file(), expected).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns options for a table of `name`, `id`, a number and a class.
    fn options() -> TableOptions {
        let schema = Schema::from_toml(
            r#"
            name = "small"
            [label]
            name = "class"
            classes = ["no", "yes"]
            [[attribute]]
            name = "wage"
            kind = "integer"
            min = 1
            max = 30
            "#,
        )
        .unwrap();
        TableOptions {
            id_column: Some("id".to_owned()),
            group_column: Some("name".to_owned()),
            ..TableOptions::new(schema)
        }
    }

    fn read(text: &str) -> Result<(Dataset, LeftOut), TableError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("small.csv");
        std::fs::write(&file, text).unwrap();
        Ok(options().read(&file)?.value)
    }

    #[test]
    fn a_group_has_all_rows_however_it_is_spelled() {
        let text = "name,id,wage,class\n4,1,1,no\n4.0,2.0,2,yes\n5,3,3,no\n04,4,4,yes\n";
        let (data, _) = read(text).unwrap();
        for group in ["4", "4.0", "4.00"] {
            assert_eq!(data.members(group).unwrap(), [1, 2], "{group}");
        }
        assert_eq!(data.members("5.0").unwrap(), [3]);
        assert_eq!(data.members("04").unwrap(), [4]);
        assert!(data.members("6").is_err());
        // What is kept is what the file has.
        assert_eq!(data.group(1), Some("4.0"));
    }

    #[test]
    fn rows_without_a_label_can_be_asked_about() {
        let text = "wage,class\n1,no\n2,NA\n3,\n4,?\n5,n/a\n";
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new.csv");
        std::fs::write(&file, text).unwrap();
        for marks in ["", "missing = \"?\""] {
            let schema = options().schema.to_toml().unwrap();
            let schema = schema.replace("[label]", &format!("[label]\n{marks}"));
            let asked = TableOptions::new(Schema::from_toml(&schema).unwrap());
            let asked = asked.read_questions(&file).unwrap();
            let classes: Vec<Option<f64>> = asked.rows.iter().map(|row| row[1]).collect();
            assert_eq!(classes, [Some(0.0), None, None, None, None], "{marks}");
            assert_eq!(asked.left_out, LeftOut::default());
        }
        // To learn from them, the label is needed.
        let text = "name,id,wage,class\na,1,1,no\na,2,2,NA\n";
        assert_eq!(read(text).unwrap().1.skipped_rows, 1);
    }

    #[test]
    fn ids_are_whole_numbers_however_they_are_written() {
        let of = |id: &str| read(&format!("name,id,wage,class\na,{id},1,no\n"));
        for (id, expected) in [("7", 7), ("7.0", 7), ("18446744073709551615.0", u64::MAX)] {
            assert_eq!(of(id).unwrap().0.id(0), expected);
        }
        for id in ["7.5", "-7", "seven", "1e400"] {
            let error = of(id).unwrap_err().to_string();
            assert!(error.contains("is not a whole number"), "{error}");
        }
    }
}
