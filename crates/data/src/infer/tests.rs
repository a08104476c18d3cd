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
    let mut text =
        String::from("row,customer_id,born,zip,flag,code,step,absences,country,ward,income,sex\n");
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
