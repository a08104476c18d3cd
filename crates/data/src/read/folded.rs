//! Records in which each attribute that a table spreads over several columns is one column of words
//! ([`Spread`]), in the place of the first of them.
//!
//! What the columns say of a row must be one level: where two of them say yes, or none does and there is
//! no level for that, the row is wrong. Where all of them are missing, so is the level.

use std::collections::BTreeMap;

use super::error::{ReadError, SpreadProblem};
use super::{Cells, Record, Records};
use crate::schema::{Spread, is_missing};
use crate::spread::answer;
use crate::unicode;

/// Records, some columns of which are one.
pub(super) struct Folded {
    /// The records with all columns.
    records: Records,
    /// What stands at each position.
    places: Vec<Place>,
    attributes: Vec<Attribute>,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// The column at this position of the records with all columns.
    Column(usize),
    /// The attribute of this number.
    Attribute(usize),
}

/// An attribute that is spread over columns.
struct Attribute {
    name: String,
    spread: Spread,
    /// The positions of its columns.
    columns: Vec<usize>,
    /// The place of its level in the current record, behind those of the columns for a level without
    /// one; `None` where it is missing.
    level: Option<usize>,
}

/// What stands at a position of folded records.
pub(super) enum Found<'a> {
    /// A level; empty where it is missing.
    Level(&'a str),
    /// The cell at a position of the record with all columns.
    Cell(Record<'a>, usize),
}

impl Records {
    /// Returns the records with one column for each attribute of `spread`.
    ///
    /// # Errors
    /// [`ReadError::MissingColumn`] for one of its columns, unless the table has none of them, and the
    /// attribute itself.
    pub(super) fn folded(self, spread: &BTreeMap<String, Spread>) -> Result<Records, ReadError> {
        let is_there = |name: &String| unicode::place(&self.names, name).is_some();
        let mut attributes = Vec::new();
        for (name, spread) in spread {
            // So it is where Probity has written the table.
            if is_there(name) && !spread.columns.iter().any(is_there) {
                continue;
            }
            let columns = spread.columns.iter().map(|column| self.require(column));
            attributes.push(Attribute {
                name: name.clone(),
                spread: spread.clone(),
                columns: columns.collect::<Result<_, _>>()?,
                level: None,
            });
        }
        if attributes.is_empty() {
            return Ok(self);
        }
        let (mut names, mut places) = (Vec::new(), Vec::new());
        for (at, name) in self.names.iter().enumerate() {
            // Columns of the same name hold the same.
            let is_column = |column: &usize| self.names[*column] == *name;
            let is_of = |attribute: &Attribute| attribute.columns.iter().any(is_column);
            match attributes.iter().position(is_of) {
                None => {
                    names.push(name.clone());
                    places.push(Place::Column(at));
                }
                Some(attribute) if !places.contains(&Place::Attribute(attribute)) => {
                    names.push(attributes[attribute].name.clone());
                    places.push(Place::Attribute(attribute));
                }
                Some(_) => {}
            }
        }
        Ok(Records {
            file: self.file.clone(),
            names,
            skips_bad_rows: self.skips_bad_rows,
            form: self.form,
            is_result: self.is_result,
            twins: Default::default(),
            number: self.number,
            cells: Cells::Folded(Box::new(Folded {
                records: self,
                places,
                attributes,
            })),
        })
    }
}

impl Folded {
    /// Returns the records with all columns.
    pub(super) fn records(&self) -> &Records {
        &self.records
    }

    /// Goes to the next record; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
        let Some(record) = self.records.advance()? else {
            return Ok(false);
        };
        for attribute in &mut self.attributes {
            attribute.level = attribute.read(&record)?;
        }
        Ok(true)
    }

    /// Returns what stands at `position`.
    pub(super) fn find(&self, position: usize) -> Found<'_> {
        match self.places.get(position) {
            Some(Place::Column(at)) => Found::Cell(
                Record {
                    records: &self.records,
                },
                *at,
            ),
            Some(Place::Attribute(at)) => Found::Level(self.attributes[*at].word()),
            None => Found::Level(""),
        }
    }

    /// Returns the cell at `position`, where it is plain text.
    pub(super) fn plain(&self, position: usize) -> Option<&str> {
        match self.find(position) {
            Found::Level(level) => Some(level),
            Found::Cell(record, at) => record.plain(at),
        }
    }
}

impl Attribute {
    /// Returns the level of the current record.
    fn word(&self) -> &str {
        let level = self
            .level
            .and_then(|level| self.spread.all_levels().nth(level));
        level.map_or("", String::as_str)
    }

    /// Reads the place of the level of `record`; `None` where it is missing.
    fn read(&self, record: &Record<'_>) -> Result<Option<usize>, ReadError> {
        let (mut held, mut known, mut missing) = (None, 0, 0);
        for (place, &column) in self.columns.iter().enumerate() {
            let cell = record.cell(column)?;
            match answer(cell, record.form(column)) {
                Some(true) if held.is_some() => {
                    return Err(self.refused(record, SpreadProblem::Several));
                }
                Some(says_yes) => {
                    known += 1;
                    held = held.or(says_yes.then_some(place));
                }
                None if is_missing(cell) => missing += 1,
                None => return Err(self.refused(record, SpreadProblem::NoAnswer)),
            }
        }
        match (held, &self.spread.base) {
            _ if known == 0 => Ok(None),
            _ if missing > 0 => Err(self.refused(record, SpreadProblem::SomeMissing)),
            (Some(place), _) => Ok(Some(place)),
            (None, Some(_)) => Ok(Some(self.columns.len())),
            (None, None) => Err(self.refused(record, SpreadProblem::NoneHolds)),
        }
    }

    #[cold]
    fn refused(&self, record: &Record<'_>, problem: SpreadProblem) -> ReadError {
        let mut cells = Vec::new();
        for &column in &self.columns {
            let cell = match record.cell(column) {
                Ok(cell) => cell,
                Err(error) => return error,
            };
            let said = answer(cell, record.form(column));
            let is_shown = match problem {
                SpreadProblem::Several => said == Some(true),
                SpreadProblem::NoAnswer => said.is_none() && !is_missing(cell),
                SpreadProblem::SomeMissing => said.is_none(),
                SpreadProblem::NoneHolds => true,
            };
            if is_shown {
                cells.push((record.column(column).to_owned(), cell.to_owned()));
            }
        }
        ReadError::Spread {
            file: record.file().to_owned(),
            place: record.place(),
            attribute: self.name.clone(),
            problem,
            cells,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int8Array, RecordBatch, StringArray};

    use super::*;
    use crate::read::OfRow;
    use crate::schema::Format;

    fn spread(base: Option<&str>) -> BTreeMap<String, Spread> {
        let words = |words: [&str; 2]| words.map(str::to_owned).to_vec();
        let race = Spread {
            columns: words(["race_White", "race_Black"]),
            levels: words(["White", "Black"]),
            base: base.map(str::to_owned),
            answers: Vec::new(),
        };
        BTreeMap::from([("race".to_owned(), race)])
    }

    fn format(base: Option<&str>) -> Format {
        Format {
            spread: spread(base),
            ..Format::default()
        }
    }

    /// The cells of all rows, or why a row has none.
    fn read(mut records: Records) -> Vec<Result<Vec<String>, ReadError>> {
        let width = records.names().len();
        let mut rows = Vec::new();
        loop {
            match records.advance() {
                Ok(None) => return rows,
                Ok(Some(record)) => {
                    let cells = (0..width).map(|at| record.cell(at).map(str::to_owned));
                    rows.push(cells.collect());
                }
                Err(error) => {
                    let is_of_row = error.reason().is_some();
                    rows.push(Err(error));
                    if !is_of_row {
                        return rows;
                    }
                }
            }
        }
    }

    fn of_text(text: &str, format: &Format) -> Vec<Result<Vec<String>, ReadError>> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        read(Records::open(file.path(), format).unwrap())
    }

    fn good(rows: Vec<Result<Vec<String>, ReadError>>) -> Vec<Vec<String>> {
        rows.into_iter().map(Result::unwrap).collect()
    }

    #[test]
    fn columns_are_one_in_the_place_of_the_first() {
        let text =
            "age,race_Black,sex,race_White\n40,1,m,0\n41,false,f,Yes\n42,0.0,m,0\n43,,f,NA\n";
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let records = Records::open(file.path(), &format(Some("Other"))).unwrap();
        assert_eq!(records.names(), ["age", "race", "sex"]);
        assert_eq!(records.position("race_Black"), None);
        let expected = [
            ["40", "Black", "m"],
            ["41", "White", "f"],
            ["42", "Other", "m"],
            ["43", "", "f"],
        ];
        assert_eq!(good(read(records)), expected);
        let json = r#"{"race_White": true, "race_Black": false} {"race_White": null}"#;
        let json = json.replace("} {", "}\n{");
        assert_eq!(good(of_text(&json, &format(None))), [["White"], [""]]);
    }

    #[test]
    fn what_no_person_can_be_is_an_error_that_names_it() {
        for (base, row, needles) in [
            (
                None,
                "1,1",
                &[
                    "more than one says yes",
                    "race_White = '1', race_Black = '1'",
                ][..],
            ),
            (
                None,
                "0,no",
                &[
                    "none says yes",
                    "race_White = '0', race_Black = 'no'",
                    "base",
                ],
            ),
            (
                Some("Other"),
                "0,2",
                &["neither yes nor no", ": race_Black = '2'"],
            ),
            (
                Some("Other"),
                "1,?",
                &["some are missing", ": race_Black = '?'"],
            ),
        ] {
            let text = format!("race_White,race_Black\n1,0\n{row}\n0,1\n");
            let rows = of_text(&text, &format(base));
            assert_eq!(rows.len(), 3);
            assert_eq!(rows[2].as_ref().unwrap(), &["Black"]);
            let error = rows[1].as_ref().unwrap_err();
            let said = error.to_string();
            for needle in needles.iter().chain(&["line 3", "'race'"]) {
                assert!(said.contains(needle), "{said}");
            }
            let reason = error.reason().unwrap();
            assert!(reason.contains("'race'"), "{reason}");
            assert!(!reason.contains('1') && !reason.contains('?'), "{reason}");
        }
    }

    #[test]
    fn batches_are_read_by_the_same_rules() {
        let race: [(&str, ArrayRef); 4] = [
            (
                "race_White",
                Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            ),
            ("age", Arc::new(Int8Array::from(vec![40, 41, 42]))),
            (
                "race_Black",
                Arc::new(Float64Array::from(vec![
                    Some(0.0),
                    Some(f64::NAN),
                    Some(1.0),
                ])),
            ),
            (
                "sex",
                Arc::new(StringArray::from(vec![Some("m"), None, Some("f")])),
            ),
        ];
        let batch = RecordBatch::try_from_iter(race).unwrap();
        let batches = [batch.clone(), batch];
        let mut records = Records::from_arrow(&batches, &format(None)).unwrap();
        assert_eq!(records.names(), ["race", "age", "sex"]);
        let mut numbers = Vec::new();
        while let Some(record) = records.advance().unwrap() {
            numbers.push(record.number(1).unwrap());
        }
        assert_eq!(numbers[3..], [Some(40.0), Some(41.0), Some(42.0)]);
        let rows = good(read(Records::from_arrow(&batches, &format(None)).unwrap()));
        let expected = [["White", "40", "m"], ["", "41", ""], ["Black", "42", "f"]];
        assert_eq!(rows[..3], expected);
        assert_eq!(rows[3..], expected);
    }

    #[test]
    fn a_table_of_the_attribute_itself_is_read_as_it_is() {
        let rows = of_text("race,age\nWhite,40\n?,41\n", &format(None));
        assert_eq!(good(rows), [["White", "40"], ["?", "41"]]);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"race_White,race\n1,White\n").unwrap();
        let error = Records::open(file.path(), &format(None)).err().unwrap();
        assert!(
            error.to_string().contains("no column 'race_Black'"),
            "{error}"
        );
    }

    #[test]
    fn columns_of_one_name_must_be_equal() {
        let twins = Format {
            ignore_other_columns: true,
            ..format(None)
        };
        let rows = of_text("race_White,race_Black,race_White\n1,0,1\n0,1,1\n", &twins);
        assert_eq!(rows[0].as_ref().unwrap(), &["White"]);
        let said = rows[1].as_ref().unwrap_err().to_string();
        assert!(
            said.contains("two columns are called 'race_White'"),
            "{said}"
        );
    }
}
