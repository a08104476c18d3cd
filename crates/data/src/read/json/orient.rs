//! Tables that are one object of JSON, as pandas writes them unless it is told `orient="records"`.
//!
//! | `orient`  | form                                                    | read |
//! |-----------|---------------------------------------------------------|------|
//! | `split`   | `{"columns": [names], "index": […], "data": [[values]]}` | yes |
//! | `table`   | `{"schema": {…}, "data": [objects]}`                    | yes |
//! | `columns` | `{name: {row: value}}`                                  | where the rows are called by whole numbers, and the columns are not |
//! | `index`   | `{row: {name: value}}`                                  | as `columns` |
//!
//! What the rows are called is no column, unless it has a name of its own (`table`).

use std::io;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::{Entries, Object, expect_exact, invalid};

/// The advice where nothing else helps.
const RECORDS: &str = "write it by to_json(orient=\"records\")";

/// The form of a table that is one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Orient {
    Split,
    Table,
    /// Objects by column or by row.
    Objects,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Split {
    columns: Vec<Value>,
    data: Vec<Vec<Value>>,
    /// What the rows are called.
    #[serde(rename = "index")]
    _index: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Table {
    schema: TableSchema,
    data: Vec<Object>,
}

#[derive(Deserialize)]
struct TableSchema {
    #[serde(rename = "primaryKey", default)]
    key: Vec<String>,
}

impl Orient {
    /// Returns the form of a table that is an object of these `entries`; `None` where they are a row.
    pub fn of(Entries(entries): &Object) -> Option<Orient> {
        let value = |name: &str| entries.iter().find(|(key, _)| key == name);
        let is_list = |name: &str| value(name).is_some_and(|(_, value)| value.is_array());
        let is_object = |name: &str| value(name).is_some_and(|(_, value)| value.is_object());
        let are_among = |known: &[&str]| {
            let mut keys = entries.iter().map(|(key, _)| key.as_str());
            keys.all(|key| known.contains(&key))
        };
        let are_objects = !entries.is_empty() && entries.iter().all(|(_, it)| it.is_object());
        match is_list("data") {
            true if is_list("columns") && are_among(&["columns", "index", "data"]) => {
                Some(Orient::Split)
            }
            true if is_object("schema") && are_among(&["schema", "data"]) => Some(Orient::Table),
            _ => are_objects.then_some(Orient::Objects),
        }
    }

    /// Returns the rows of `text`, an object of this form.
    ///
    /// # Errors
    /// When it is not what pandas writes, nothing tells rows from columns, or a number is too long.
    pub fn rows(self, text: &[u8]) -> io::Result<Vec<Object>> {
        let rows = match self {
            Orient::Split => of_split(parsed(text)?)?,
            Orient::Table => of_table(parsed(text)?),
            Orient::Objects => of_objects(parsed(text)?)?,
        };
        for (row, object) in (1..).zip(&rows) {
            expect_exact(object, text, row)?;
        }
        Ok(rows)
    }
}

fn parsed<T: DeserializeOwned>(text: &[u8]) -> io::Result<T> {
    serde_json::from_slice(text)
        .map_err(|error| invalid(format!("it is no table of pandas: {error}; {RECORDS}")))
}

fn of_split(split: Split) -> io::Result<Vec<Object>> {
    let name = |name: Value| match name {
        Value::String(name) => Ok(name),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(invalid(format!(
            "its columns have names that are no words, such as {other}, in the form of orient=\"split\"; give each one word"
        ))),
    };
    let names = split.columns.into_iter().map(name);
    let names: Vec<String> = names.collect::<io::Result<_>>()?;
    let row = |(number, row): (usize, Vec<Value>)| match row.len() == names.len() {
        true => Ok(Entries(names.iter().cloned().zip(row).collect())),
        false => Err(invalid(format!(
            "row {number} has {} values where there are {} columns",
            row.len(),
            names.len()
        ))),
    };
    (1..).zip(split.data).map(row).collect()
}

fn of_table(table: Table) -> Vec<Object> {
    // That is what an index is called which has no name.
    const UNNAMED: &str = "index";
    let mut rows = table.data;
    if table.schema.key == [UNNAMED] {
        for Entries(entries) in &mut rows {
            entries.retain(|(name, _)| name != UNNAMED);
        }
    }
    rows
}

/// Returns whether all `keys` are whole numbers, as rows are called of which nobody says otherwise.
fn are_numbers<V>(keys: &[(String, V)]) -> bool {
    let is_number = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    keys.iter().all(|(key, _)| is_number(key))
}

fn of_objects(Entries(outer): Entries<Object>) -> io::Result<Vec<Object>> {
    let Some((_, Entries(first))) = outer.first() else {
        return Ok(Vec::new());
    };
    match (are_numbers(&outer), are_numbers(first)) {
        (true, false) => Ok(outer.into_iter().map(|(_, row)| row).collect()),
        (false, true) => {
            let same = |Entries(column): &Object| {
                let mut keys = column.iter().zip(first);
                column.len() == first.len() && keys.all(|((key, _), (other, _))| key == other)
            };
            if let Some((name, _)) = outer.iter().find(|(_, column)| !same(column)) {
                return Err(invalid(format!(
                    "its columns have other rows, such as '{name}', in the form of orient=\"columns\"; {RECORDS}"
                )));
            }
            let rows = first.len();
            let mut columns: Vec<_> = outer
                .into_iter()
                .map(|(name, Entries(column))| (name, column.into_iter()))
                .collect();
            let row = |_| {
                let cells = columns.iter_mut();
                let cells =
                    cells.filter_map(|(name, column)| Some((name.clone(), column.next()?.1)));
                Entries(cells.collect())
            };
            Ok((0..rows).map(row).collect())
        }
        _ => Err(invalid(format!(
            "it is one object of objects, as pandas writes by orient=\"columns\" or \"index\", and its keys do not tell rows from columns; {RECORDS}"
        ))),
    }
}
