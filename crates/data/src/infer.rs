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
mod tests {
    use super::*;
    use crate::schema::Kind;
    use crate::table::{Labels, Table};
    use std::io::Write;

    fn options() -> InferOptions {
        InferOptions {
            label: "income".into(),
            protected: vec!["sex".into()],
            max_words: 50,
            name: "people".into(),
            ..InferOptions::default()
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
        let schema = infer(file.path(), &options()).unwrap().schema;
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
    fn spellings_of_a_number_are_one_level() {
        let mut text = String::from("flag,grade,sex,income\n");
        for row in 0..40 {
            let flag = ["0", "1", "0.0", "1.0"][row % 4];
            let grade = ["1", "many", "1.0", "2.00", "2"][row % 5];
            text += &format!(
                "{flag},{grade},{},{}\n",
                ["m", "f"][row % 2],
                ["yes", "no"][row % 2]
            );
        }
        let file = file(&text);
        let draft = infer(file.path(), &options()).unwrap();
        let levels = |at: usize| match &draft.schema.attributes[at].kind {
            Kind::Categorical { levels, .. } => levels.join(","),
            other => panic!("{other:?}"),
        };
        assert_eq!((levels(0), levels(1)), ("0,1".into(), "1,many,2".into()));
        for (column, spelling) in [("flag", "'0.0'"), ("grade", "'1.0'")] {
            let said = draft.notes.iter().find(|note| note.column == column);
            assert!(
                said.is_some_and(|note| note.said.contains(spelling)),
                "{:?}",
                draft.notes
            );
        }
        let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
        let codes: Vec<[i32; 2]> = (0..5)
            .map(|row| [table.row(row)[0], table.row(row)[1]])
            .collect();
        assert_eq!(codes, [[0, 0], [1, 1], [0, 0], [1, 2], [0, 2]]);
    }

    #[test]
    fn bad_rows_are_left_out_of_the_draft() {
        let text = "age,sex,income\n40,m,yes\n17,f\n999,f,\n30,f,no\n1000,m,no,2\n";
        let file = file(text);
        let error = infer(file.path(), &options()).unwrap_err().to_string();
        assert!(
            error.contains("line 3") && error.contains("; skip_bad_rows"),
            "{error}"
        );
        let mut skipping = options();
        skipping.format.skip_bad_rows = true;
        let draft = infer(file.path(), &skipping).unwrap();
        assert_eq!(
            draft.schema.attributes[0].kind,
            Kind::Integer { min: 30, max: 40 }
        );
        assert_eq!(draft.schema.label.classes, ["no", "yes"]);
        assert_eq!(
            draft.bad_rows.to_string(),
            "3 bad rows were left out: 2 because not 3 fields (line 3, line 6), 1 because 'income' is blank (line 4)"
        );
        let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
        let bad = &table.counts.bad_rows;
        assert_eq!((table.rows(), bad.rows), (2, draft.bad_rows.rows));
    }

    #[test]
    fn faults_are_named() {
        for (text, needle) in [
            ("age,sex,income\n", "no rows"),
            ("age,income\n1,yes\n", "no column 'sex'"),
            ("age,sex,income\n1,m,yes\n", "two classes"),
            ("age,sex,income\nNA,m,yes\n?,f,no\n", "both as"),
            ("age,sex,income\n1,?,yes\n2,?,no\n", "it holds no value"),
        ] {
            let error = infer(file(text).path(), &options()).unwrap_err();
            assert!(error.to_string().contains(needle), "{error}");
        }
    }

    /// Every sort of column that a number or a word does not tell the meaning of, among 200 rows.
    #[test]
    fn what_a_column_is_is_decided_and_said() {
        let codes = [1, 2, 5, 20, 40, 77, 90, 111];
        let mut text = String::from(
            "row,customer_id,born,zip,flag,code,step,absences,country,ward,income,sex\n",
        );
        for row in 0..200 {
            text += &format!(
                "{},{},19{:02}-0{}-11,0{},{},{},{},{},NL,w{row},{},{}\n",
                row + 1,
                77_000 + (row * 7919) % 3001,
                row % 90,
                1 + row % 9,
                1000 + row % 9,
                row % 2,
                codes[row % 8],
                10 * (row % 5),
                if row % 3 == 0 { row % 60 } else { 0 },
                ["high", "low"][row % 2],
                ["f", "m"][row % 2],
            );
        }
        let file = file(&text);
        let draft = infer(file.path(), &options()).unwrap();
        let said = |column: &str| -> &str {
            let note = draft.notes.iter().find(|note| note.column == column);
            note.map_or("", |note| note.said.as_str())
        };
        for (column, why) in [
            ("row", "left out: it counts the rows"),
            ("customer_id", "name is that of an identifier"),
            ("born", "left out: it holds dates"),
            ("country", "left out: it holds 'NL' in every row"),
            ("ward", "left out: every row has another value"),
            ("code", "its 8 numbers, from 1 to 111"),
            ("step", "evenly spaced they are ordered"),
            ("flag", "its two numbers are the levels"),
            (
                "income",
                "its last class is 'high': 'high' is usually better to get than 'low'",
            ),
        ] {
            assert!(said(column).contains(why), "{column}: {}", said(column));
        }
        assert_eq!(draft.notes[0].column, "income", "the classes come first");
        let kind = |name: &str| {
            let attribute = draft.schema.attributes.iter().find(|a| a.name == name);
            attribute.map(|attribute| attribute.kind.clone())
        };
        let list = |levels: &[&str], ordered| {
            let levels = levels.iter().map(|&level| level.to_owned()).collect();
            Some(Kind::Categorical { levels, ordered })
        };
        assert_eq!(kind("flag"), list(&["0", "1"], false));
        let expected = ["1", "2", "5", "20", "40", "77", "90", "111"];
        assert_eq!(kind("code"), list(&expected, false));
        assert_eq!(kind("step"), list(&["0", "10", "20", "30", "40"], true));
        assert!(matches!(
            kind("absences"),
            Some(Kind::Integer { min: 0, .. })
        ));
        assert!(
            matches!(kind("zip"), Some(Kind::Categorical { .. })),
            "02139 is no number"
        );
        for column in ["row", "customer_id", "born", "country", "ward"] {
            assert_eq!(kind(column), None, "{column}");
        }
        assert!(draft.schema.format.ignore_other_columns);
        // The draft reads the whole file, codes and leading zeros included.
        let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
        assert_eq!(table.rows(), 200);
        // What is protected cannot be left out.
        let mut protected = options();
        protected.protected = vec!["country".into()];
        let error = infer(file.path(), &protected).unwrap_err().to_string();
        assert!(error.contains("'country' is protected"), "{error}");
        // A class can be said to be the good one, and must be one.
        let mut chosen = options();
        chosen.favourable = Some("low".into());
        let draft = infer(file.path(), &chosen).unwrap();
        assert_eq!(draft.schema.label.classes, ["high", "low"]);
        chosen.favourable = Some("rich".into());
        let error = infer(file.path(), &chosen).unwrap_err().to_string();
        assert!(
            error.contains("'rich'") && error.contains("high, low"),
            "{error}"
        );
    }
}
