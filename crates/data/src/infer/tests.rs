use super::*;
use crate::schema::{Kind, OutOfDomain};
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
    assert_eq!(schema.attributes[1].missing.marks(), ["?"]);
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
fn codes_that_are_one_number_are_told_of_and_kept_apart() {
    let drafted = |codes: &[&str], level: &[&str]| {
        let mut text = String::from("grade,sex,income\n");
        for row in 0..40 {
            let (sex, income) = (["f", "m"][row % 2], ["yes", "no"][row / 2 % 2]);
            text += &format!("{},{sex},{income}\n", codes[row % codes.len()]);
        }
        let mut wanted = options();
        if !level.is_empty() {
            let level = level.iter().map(|&level| level.to_owned()).collect();
            wanted.level.insert("grade".into(), level);
        }
        let file = file(&text);
        let draft = infer(file.path(), &wanted).unwrap();
        let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
        let rows = 0..codes.len();
        (draft, rows.map(|row| table.row(row)[0]).collect::<Vec<_>>())
    };
    let codes = ["1.1", "1.10", "1.2", "1.9"];
    let way = "--level grade=1.1,1.10,1.2,1.9";
    let (draft, _) = drafted(&codes, &[]);
    let said = note(&draft, "grade", "'1.1' and '1.10' are taken for one number");
    assert_eq!(commands(said), [way]);
    let (draft, read) = drafted(&codes, &codes);
    assert_eq!(levels(&draft, "grade"), "1.1|1.10|1.2|1.9");
    assert_eq!(read, [0, 1, 2, 3]);
    assert_eq!(said_of_numbers(&draft), 0);
    // Beside words they are merged, unless the user names them.
    let codes = ["1.1", "1.10", "x", "1.100"];
    let (draft, _) = drafted(&codes, &[]);
    assert_eq!(levels(&draft, "grade"), "1.1|x");
    let said = note(&draft, "grade", "'1.1' and '1.10' are taken for one number");
    assert_eq!(commands(said), ["--level grade=1.1,1.10,x,1.100"]);
    assert_eq!(said_of_numbers(&draft), 1);
    let (draft, read) = drafted(&codes, &["1.1", "1.10"]);
    assert_eq!(levels(&draft, "grade"), "1.1|1.10|x|1.100");
    assert_eq!((read, said_of_numbers(&draft)), (vec![0, 1, 2, 3], 0));
    for numbers in [["1", "1.0", "2.5"], ["1.10", "1.20", "2.00"]] {
        assert_eq!(said_of_numbers(&drafted(&numbers, &[]).0), 0);
    }
}

#[test]
fn digits_around_an_e_are_names() {
    let drafted = |codes: &[&str], others: usize, protected: &[&str], level: &[&str]| {
        let mut text = String::from("flat,sex,income\n");
        for row in 0..600 {
            let at = row % (codes.len() + others);
            let code = codes
                .get(at)
                .map_or(at.to_string(), |&code| code.to_owned());
            let (sex, income) = (["f", "m"][row % 2], ["yes", "no"][row / 2 % 2]);
            text += &format!("{code},{sex},{income}\n");
        }
        let mut wanted = options();
        wanted.max_words = 100;
        wanted.protected = protected.iter().map(|&name| name.to_owned()).collect();
        if !level.is_empty() {
            let level = level.iter().map(|&level| level.to_owned()).collect();
            wanted.level.insert("flat".into(), level);
        }
        let file = file(&text);
        let draft = infer(file.path(), &wanted).unwrap();
        Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
        draft
    };
    let draft = drafted(&["12E1", "7", "120", "1E1"], 0, &[], &[]);
    assert_eq!(levels(&draft, "flat"), "12E1|7|120|1E1");
    note(&draft, "flat", "'12E1' is taken for a name, not for 120");
    // Many values are numbers, unless they are protected or named.
    let is_integer = |draft: &Draft| matches!(attribute(draft, "flat").kind, Kind::Integer { .. });
    let draft = drafted(&["12E1", "1E1"], 60, &[], &[]);
    assert!(is_integer(&draft));
    let read = note(&draft, "flat", "'12E1' is read as 120");
    assert_eq!(commands(read), ["--level flat=12E1"]);
    let draft = drafted(&["12E1", "1E1"], 60, &["flat"], &[]);
    assert_eq!(levels(&draft, "flat").split('|').count(), 62);
    let draft = drafted(&["12E1", "1E1"], 60, &[], &["12E1"]);
    assert_eq!(levels(&draft, "flat").split('|').count(), 62);
    // Programs write powers of ten with a sign, a point or a small e.
    for codes in [
        ["1E+05", "2", "30"],
        ["1e5", "2", "30"],
        ["1.5E3", "2", "30"],
    ] {
        let draft = drafted(&codes, 0, &[], &[]);
        assert!(
            said(&draft, "flat")
                .iter()
                .all(|said| !said.contains("name"))
        );
    }
    let mut text = String::from("wage,sex,income\n1E5,m,yes\n");
    for row in 0..24 {
        text += &format!("{},{},no\n", 20_000 + 173 * row, ["f", "m"][row % 2]);
    }
    let draft = infer(file(&text).path(), &options()).unwrap();
    note(&draft, "wage", "'1E5' is read as 100000");
}

/// Returns how many notes say that the file has two spellings of a number.
fn said_of_numbers(draft: &Draft) -> usize {
    let is_said =
        |note: &&Note| note.said.contains("one number") || note.said.contains("same level");
    draft.notes.iter().filter(is_said).count()
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
        ("age,sex,income\n1,?,yes\n2,?,no\n", "it holds no value"),
        ("age,sex,income\n1,m,yes\n2,f,NA\n", "two classes"),
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
            "its last class is 'high': a guess, as 'high' is usually better to get than 'low'",
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
    assert!(
        error.contains("column 'country': it is protected, but it holds 'NL'"),
        "{error}"
    );
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

#[test]
fn codes_with_gaps_of_a_protected_column_are_levels() {
    let kind = |codes: &[i32], protected: bool| {
        let mut text = String::from("race,sex,income\n");
        for row in 0..60 {
            let code = codes[row % codes.len()];
            text += &format!(
                "{code},{},{}\n",
                ["f", "m"][row % 2],
                ["yes", "no"][row / 2 % 2]
            );
        }
        let mut wanted = options();
        wanted.protected = match protected {
            true => vec!["race".into()],
            false => Vec::new(),
        };
        let draft = infer(file(&text).path(), &wanted).unwrap();
        (attribute(&draft, "race").kind.clone(), draft)
    };
    let levels = |levels: &[&str], ordered| Kind::Categorical {
        levels: levels.iter().map(|&level| level.to_owned()).collect(),
        ordered,
    };
    let (races, draft) = kind(&[2, 1, 6, 1], true);
    assert_eq!(races, levels(&["1", "2", "6"], false));
    note(
        &draft,
        "race",
        "its 3 numbers, from 1 to 6, leave some of that range out, and no change of a protected attribute is to make people who have these, so they are the levels of a category; set ordered = true",
    );
    assert_eq!(kind(&[1, 2, 6], false).0, Kind::Integer { min: 1, max: 6 });
    assert_eq!(kind(&[1, 3, 5], true).0, levels(&["1", "3", "5"], true));
    assert_eq!(
        kind(&[1, 2, 9, 99], true).0,
        levels(&["1", "2", "9", "99"], false)
    );
    assert_eq!(kind(&[1, 2, 3], true).0, Kind::Integer { min: 1, max: 3 });
    // Ages have more values, or stand in too few rows to tell.
    let ages: Vec<i32> = (20..32).chain([40]).collect();
    assert_eq!(kind(&ages, true).0, Kind::Integer { min: 20, max: 40 });
    let text = "age,sex,income\n40,m,yes\n17,f,no\n30,f,no\n";
    let mut wanted = options();
    wanted.protected = vec!["age".into()];
    let draft = infer(file(text).path(), &wanted).unwrap();
    assert_eq!(
        attribute(&draft, "age").kind,
        Kind::Integer { min: 17, max: 40 }
    );
}

/// Returns the notes on a column, or on the file.
fn said<'d>(draft: &'d Draft, column: &str) -> Vec<&'d str> {
    let notes = draft.notes.iter().filter(|note| note.column == column);
    notes.map(|note| note.said.as_str()).collect()
}

/// Returns a table of applicants as a bank in Germany saves them: 2.345,67 and 12.500, a mark at
/// the beginning, and semicolons.
fn german(rows: usize) -> String {
    let mut text =
        String::from("\u{feff}\"age\";\"wage\";\"loan\";\"rate\";\"sex\";\"income\"\r\n");
    for row in 0..rows {
        text += &format!(
            "\"{}\";\"{}.{:03},{:02}\";\"{}.500\";\"{},5 %\";\"{}\";\"{}\"\r\n",
            18 + row % 50,
            1 + row % 7,
            (row * 37) % 1000,
            row % 100,
            10 + row % 9,
            1 + row % 8,
            ["m", "w"][row % 2],
            ["ja", "nein"][row % 3 % 2],
        );
    }
    text
}

#[test]
fn numbers_are_drafted_and_read_as_people_write_them() {
    let file = file(&german(60));
    let draft = infer(file.path(), &options()).unwrap();
    let format = &draft.schema.format;
    assert_eq!(
        (format.separator, format.decimal, format.thousands),
        (';', Some(','), Some('.'))
    );
    let whole = said(&draft, "[format]").join("; ");
    assert!(
        whole.contains("separated by ';'") && whole.contains("'1.000,00' in 'wage'"),
        "{whole}"
    );
    assert!(said(&draft, "loan").contains(&"'10.500' is read as 10500"));
    assert!(said(&draft, "rate")[0].contains("'1,5 %' is read as 1.5"));
    let again = Schema::from_toml(&draft.schema.to_toml().unwrap()).unwrap();
    assert_eq!(again, draft.schema);
    let numbers = crate::numbers::Numbers::read(
        file.path(),
        &crate::numbers::NumbersOptions {
            schema: Some(again.clone()),
            ..crate::numbers::NumbersOptions::default()
        },
    )
    .unwrap();
    // Row 3, from 0: 21; 4.111,03; 13.500; 4,5 %; w as an indicator of each level.
    let width = numbers.columns.len();
    assert_eq!(
        numbers.features[3 * width..4 * width],
        [21.0, 4111.03, 13_500.0, 4.5, 0.0, 1.0]
    );
    let table = Table::read(file.path(), &again, Labels::Required).unwrap();
    assert_eq!(table.rows(), 60);
}

#[test]
fn the_columns_of_a_file_say_how_its_numbers_are_written() {
    let draft_of = |cells: &[&str; 2], more: &str, change: &dyn Fn(&mut InferOptions)| {
        let mut text = format!("amount;{more}sex;income\n");
        for row in 0..40 {
            let other = if more.is_empty() { "" } else { "1,5;" };
            let (sex, income) = (["m", "f"][row % 2], ["yes", "no"][row / 2 % 2]);
            text += &format!("{};{other}{sex};{income}\n", cells[row % 2]);
        }
        let mut options = options();
        change(&mut options);
        infer(file(&text).path(), &options)
    };
    let amounts = |draft: &Draft| draft.schema.attributes[0].clone();
    let as_is: &dyn Fn(&mut InferOptions) = &|_| {};
    let levels = |levels: [&str; 2]| Kind::Categorical {
        levels: levels.map(str::to_owned).to_vec(),
        ordered: false,
    };

    // Three digits in every row: 12.5 or 12500.
    let error = draft_of(&["12.500", "9.750"], "", as_is).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column 'amount': '12.500' is 12.5 or 12500; no other column tells, so say decimal=\".\" \
         where '.' comes before decimals, or thousands=\".\" where it is between thousands"
    );
    // One cell, another column or the user tells.
    let draft = draft_of(&["12.500", "9.75"], "", as_is).unwrap();
    assert!(matches!(amounts(&draft).kind, Kind::Numeric { ref bins, .. } if bins[0] == 9.75));
    assert_eq!(draft.schema.format.decimal, None);
    let draft = draft_of(&["12.500", "12.650"], "rate;", as_is).unwrap();
    assert_eq!(amounts(&draft).kind, levels(["12500", "12650"]));
    let draft = draft_of(&["12.500", "12.650"], "", &|options| {
        options.format.thousands = Some('.');
    })
    .unwrap();
    assert_eq!(amounts(&draft).kind, levels(["12500", "12650"]));
    assert_eq!(draft.schema.format.decimal, Some(','));
    let draft = draft_of(&["12.500", "9.750"], "", &|options| {
        options.format.decimal = Some('.');
    })
    .unwrap();
    assert!(matches!(amounts(&draft).kind, Kind::Numeric { ref bins, .. } if bins[0] == 9.75));
    // A zero in front is none of thousands, and a mark twice is none of decimals.
    assert!(draft_of(&["0.500", "1.750"], "", as_is).is_ok());
    let draft = draft_of(&["1.000.001", "1.000.002"], "", as_is).unwrap();
    assert_eq!(amounts(&draft).kind, levels(["1000001", "1000002"]));
    // Nothing is ignored in silence.
    let error = draft_of(&["12.5", "9.7"], "rate;", as_is).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("'rate' holds '1,5', but the numbers of the file have '.'"),
        "{error}"
    );
    let ignoring = draft_of(&["12.5", "9.7"], "rate;", &|options| {
        options.ignore = vec!["amount".into()];
    });
    assert!(ignoring.is_ok());
    let error = draft_of(&["1", "2"], "", &|options| {
        options.format.decimal = Some('x')
    });
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("decimal is '.' or ','")
    );
}

#[test]
fn dollars_are_thousands_where_commas_separate() {
    let mut text = String::from("salary,sex,income\n");
    for row in 0..40 {
        let (sex, income) = (["m", "f"][row % 2], ["yes", "no"][row / 2 % 2]);
        text += &format!("\"$52,{}\",{sex},{income}\n", 300 + row * 7 % 40);
    }
    let file = file(&text);
    let draft = infer(file.path(), &options()).unwrap();
    assert_eq!(
        draft.schema.attributes[0].kind,
        Kind::Integer {
            min: 52_300,
            max: 52_339
        }
    );
    assert_eq!(said(&draft, "salary")[0], "'$52,300' is read as 52300");
    let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!(table.row(3)[0], 52_321);
}

#[test]
fn encodings_are_found_and_said() {
    let text = "age\tsex\tincome\n40\tm\u{e4}nnlich\tyes\n17\tweiblich\tno\n";
    let utf_16: Vec<u8> = std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let windows: Vec<u8> = text
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    for (bytes, encoding, word) in [
        (text.as_bytes().to_vec(), None, "tabs"),
        (utf_16[2..].to_vec(), None, "utf-16le"),
        (utf_16, None, "utf-16le"),
        (windows, Some("windows-1252"), "windows-1252"),
    ] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let draft = infer(file.path(), &options()).unwrap();
        let format = &draft.schema.format;
        assert_eq!(format.separator, '\t');
        assert_eq!(format.encoding, encoding.map(|name| name.parse().unwrap()));
        assert!(said(&draft, "[format]").join("; ").contains(word));
        let Kind::Categorical { levels, .. } = &draft.schema.attributes[1].kind else {
            panic!("{:?}", draft.schema);
        };
        assert_eq!(levels, &["m\u{e4}nnlich", "weiblich"]);
        let again = Schema::from_toml(&draft.schema.to_toml().unwrap()).unwrap();
        let table = Table::read(file.path(), &again, Labels::Required).unwrap();
        assert_eq!(table.row(0), [40, 0]);
        // Rows are not bad by the encoding that they are in.
        let mut skipping = options();
        skipping.format.skip_bad_rows = true;
        let skipping = infer(file.path(), &skipping).unwrap();
        assert_eq!(skipping.bad_rows.rows, 0);
        assert_eq!(&skipping.schema.format.encoding, &format.encoding);
    }
    // What cannot be told is asked for by the name that it has here.
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let text = b"age,sex,income\n40,m\xc3\xa4n\xff,yes\n17,f,no\n";
    file.write_all(text).unwrap();
    let error = infer(file.path(), &options()).unwrap_err();
    assert!(matches!(error, InferError::Encoding { .. }), "{error}");
    for (said, way) in [
        (error.text(Way::command), "--encoding windows-1252"),
        (error.to_string(), "encoding=\"windows-1252\""),
    ] {
        let is_said = said.contains("line 2, column 'sex'") && said.contains(way);
        assert!(is_said && !said.contains("[format]"), "{said}");
    }
}

#[test]
fn the_separator_is_that_by_which_the_lines_have_most_fields() {
    for (text, separator) in [
        ("age|sex|income\n40|m|yes\n17|f|no\n", '|'),
        ("age;sex;income\n40;\"a,b\";yes\n17;f;no\n", ';'),
        ("age,sex,income\n40,a;b,yes\n17,c;d,no\n", ','),
        ("age,sex,income\n40,m,yes\n17,f,no\n", ','),
    ] {
        let draft = infer(file(text).path(), &options()).unwrap();
        assert_eq!(draft.schema.format.separator, separator, "{text}");
    }
    // What is said is not looked for.
    let mut said = options();
    said.finds_separator = false;
    let error = infer(file("age;sex;income\n40;m;yes\n").path(), &said).unwrap_err();
    assert!(error.to_string().contains("has no column"), "{error}");
}

fn note<'d>(draft: &'d Draft, column: &str, needle: &str) -> &'d Note {
    let found = draft
        .notes
        .iter()
        .find(|note| note.column == column && note.said.contains(needle));
    found.unwrap_or_else(|| panic!("{column}, {needle}: {:?}", draft.notes))
}

fn attribute<'d>(draft: &'d Draft, name: &str) -> &'d crate::schema::Attribute {
    let mut attributes = draft.schema.attributes.iter();
    attributes.find(|attribute| attribute.name == name).unwrap()
}

fn levels(draft: &Draft, name: &str) -> String {
    match &attribute(draft, name).kind {
        Kind::Categorical { levels, .. } => levels.join("|"),
        other => panic!("{other:?}"),
    }
}

fn commands(note: &Note) -> Vec<String> {
    note.ways.iter().map(Way::command).collect()
}

/// Returns a table of `people` of race `race(row)` and a label of `outcome(row)`, forty of them.
fn people(race: fn(usize) -> &'static str, outcome: fn(usize) -> &'static str) -> String {
    let mut text = String::from("age,race,sex,income\n");
    for row in 0..40 {
        let sex = ["f", "m"][row % 2];
        text += &format!("{},{},{sex},{}\n", 20 + row % 30, race(row), outcome(row));
    }
    text
}

fn yes_or_no(row: usize) -> &'static str {
    ["yes", "no"][row / 2 % 2]
}

#[test]
fn all_marks_of_a_column_are_missing() {
    let file = file(
        "age,sex,wage,income\n40,m,NA,yes\n,f,2.5,no\n30,?,N/A,no\n?,NA,9.25,yes\n31,,1.5,no\n",
    );
    let draft = infer(file.path(), &options()).unwrap();
    assert_eq!(attribute(&draft, "age").missing.marks(), ["", "?"]);
    assert_eq!(attribute(&draft, "sex").missing.marks(), ["", "?", "NA"]);
    assert_eq!(attribute(&draft, "wage").missing.marks(), ["NA", "N/A"]);
    note(
        &draft,
        "sex",
        "3 of its 5 cells count as missing: blank (1), '?' (1), 'NA' (1)",
    );
    let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    let (_, top) = attribute(&draft, "age").domain();
    assert_eq!((table.row(1)[0], table.row(3)[0]), (top, top));
    assert_eq!([table.row(2)[1], table.row(3)[1], table.row(4)[1]], [2; 3]);
}

#[test]
fn a_mark_that_may_be_a_group_is_asked_about() {
    let race = |row: usize| ["W", "B", "NA", "W"][row % 4];
    let file = file(&people(race, yes_or_no));
    let mut wanted = options();
    wanted.protected = vec!["race".into()];
    let draft = infer(file.path(), &wanted).unwrap();
    assert_eq!(
        (
            levels(&draft, "race").as_str(),
            attribute(&draft, "race").missing.marks()
        ),
        ("W|B", &["NA".to_owned()][..])
    );
    let asked = note(
        &draft,
        "race",
        "10 of its 40 cells count as missing: 'NA' (10)",
    );
    assert!(asked.said.contains("'NA' may be a group"), "{asked:?}");
    assert_eq!(
        commands(asked),
        ["--level race=NA", "--missing race=", "--missing race=NA"]
    );
    for (missing, level) in [(None, Some("NA")), (Some(vec![]), None)] {
        let mut decided = wanted.clone();
        decided
            .missing
            .extend(missing.map(|marks| ("race".to_owned(), marks)));
        decided
            .level
            .extend(level.map(|word| ("race".to_owned(), vec![word.to_owned()])));
        let draft = infer(file.path(), &decided).unwrap();
        assert_eq!(levels(&draft, "race"), "W|B|NA");
        assert!(attribute(&draft, "race").missing.is_none());
        let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
        assert_eq!(
            table.codes().chunks(3).filter(|row| row[1] == 2).count(),
            10
        );
    }
    let mut decided = wanted.clone();
    decided.missing.insert("race".into(), vec!["NA".into()]);
    let draft = infer(file.path(), &decided).unwrap();
    assert!(
        draft
            .notes
            .iter()
            .all(|note| !note.said.contains("may be a group"))
    );
    for (missing, level, needle) in [
        ("race", "race", "missing and to be a level at once"),
        ("rcae", "race", "no column 'rcae'"),
    ] {
        let mut wrong = wanted.clone();
        wrong.missing.insert(missing.into(), vec!["NA".into()]);
        wrong.level.insert(level.into(), vec!["NA".into()]);
        let error = infer(file.path(), &wrong).unwrap_err().to_string();
        assert!(error.contains(needle), "{error}");
    }
    let mut wrong = wanted.clone();
    wrong.level.insert("race".into(), vec!["N/A".into()]);
    let error = infer(file.path(), &wrong).unwrap_err().to_string();
    assert!(
        error.contains("'N/A'") && error.contains("no cell"),
        "{error}"
    );
}

#[test]
fn signs_of_nothing_are_missing() {
    let signs = [".", "-", "--", "<NA>", "#N/A", "\\N", "(null)", "NaT"];
    let drafted = |cells: &[&str], change: &dyn Fn(&mut InferOptions)| {
        let mut text = String::from("race,sex,income\n");
        for row in 0..60 {
            let (sex, income) = (["f", "m"][row % 2], ["yes", "no"][row / 2 % 2]);
            text += &format!("{},{sex},{income}\n", cells[row % cells.len()]);
        }
        let mut wanted = options();
        wanted.protected = vec!["race".into()];
        change(&mut wanted);
        let file = file(&text);
        let draft = infer(file.path(), &wanted).unwrap();
        let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
        assert_eq!(table.rows(), 60);
        draft
    };
    let as_is: &dyn Fn(&mut InferOptions) = &|_| {};
    let marks = |draft: &Draft| attribute(draft, "race").missing.marks().join(" ");
    for sign in signs {
        let draft = drafted(&["W", "B", sign], as_is);
        assert_eq!(
            (levels(&draft, "race").as_str(), marks(&draft).as_str()),
            ("W|B", sign)
        );
        let said = note(&draft, "race", "20 of its 60 cells count as missing");
        assert!(!said.said.contains("may be a group"), "{said:?}");
        assert!(commands(said)[0].starts_with("--level "), "{said:?}");
        // A person decides.
        let draft = drafted(&["W", "B", sign], &|options| {
            options.level.insert("race".into(), vec![sign.into()]);
        });
        assert_eq!(levels(&draft, "race"), format!("W|B|{sign}"));
        let draft = drafted(&["W", "B", sign], &|options| {
            options.missing.insert("race".into(), Vec::new());
        });
        assert_eq!(levels(&draft, "race"), format!("W|B|{sign}"));
    }
    let draft = drafted(&["1", "2", "."], as_is);
    assert_eq!(
        (levels(&draft, "race").as_str(), marks(&draft).as_str()),
        ("1|2", ".")
    );
    // Words that may be those of a group stay, and so does a dash that says something.
    let words = ["W", "B", "None", "missing", "n.a.", "unknown", "Nat"];
    assert_eq!(levels(&drafted(&words, as_is), "race"), words.join("|"));
    for (cells, expected) in [
        (&["+", "-"][..], "+|-"),
        (&["-", "0", "++", "+", "--"], "0|++|+|-|--"),
        (&["x", "-"], "x|-"),
        (&["1", "-"], "1|-"),
    ] {
        let draft = drafted(cells, as_is);
        assert_eq!(levels(&draft, "race"), expected);
        assert!(attribute(&draft, "race").missing.is_none());
        let said = note(&draft, "race", "is a level, as the column holds");
        assert!(commands(said)[0].contains("--missing race=-"), "{said:?}");
    }
    let outcomes = people(|row| ["W", "B"][row % 2], |row| ["+", "-", "."][row % 3]);
    let draft = infer(file(&outcomes).path(), &options()).unwrap();
    assert_eq!(draft.schema.label.classes.len(), 3);
}

#[test]
fn outcomes_that_are_missing_are_no_classes() {
    let race = |row: usize| ["W", "B"][row % 2];
    let outcome = |row: usize| ["yes", "no", "NA", "?", "yes", "no", "no", "no"][row % 8];
    let words = file(&people(race, outcome));
    let draft = infer(words.path(), &options()).unwrap();
    let label = &draft.schema.label;
    assert_eq!(
        (label.classes.join("|").as_str(), label.missing.marks()),
        ("no|yes", &["NA".to_owned(), "?".to_owned()][..])
    );
    note(
        &draft,
        "income",
        "10 of the 40 outcomes count as missing, and are no class: 'NA' (5), '?' (5)",
    );
    let table = Table::read(words.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!((table.rows(), table.counts.unlabelled_rows), (30, 10));
    let table = Table::read(words.path(), &draft.schema, Labels::Optional).unwrap();
    assert_eq!((table.rows(), table.missing_outcomes()), (40, 10));
    let mut kept = options();
    kept.missing.insert("income".into(), Vec::new());
    let draft = infer(words.path(), &kept).unwrap();
    assert_eq!(draft.schema.label.classes.len(), 4);
    // An empty cell of a file may be a broken row, unless somebody says that it is none.
    let outcome = |row: usize| ["yes", "no", "", "no"][row % 4];
    let blank = file(&people(race, outcome));
    let error = infer(blank.path(), &options()).unwrap_err().to_string();
    assert!(error.contains("line 4"), "{error}");
    let mut said = options();
    said.missing.insert("income".into(), vec![String::new()]);
    let draft = infer(blank.path(), &said).unwrap();
    assert_eq!(draft.schema.label.missing.marks(), [""]);
    let table = Table::read(blank.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!(table.counts.unlabelled_rows, 10);
}

#[test]
fn a_table_with_nulls_keeps_words_where_it_has_none() {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use arrow_schema::{DataType, Field, Schema as ArrowSchema};
    use std::sync::Arc;

    let column = |words: [Option<&'static str>; 4]| -> ArrayRef {
        let rows = (0..40).map(|row| words[row % 4]);
        Arc::new(StringArray::from_iter(rows))
    };
    let columns = [
        ("race", [Some("W"), Some("NA"), Some("B"), Some("W")]),
        ("region", [Some("EMEA"), Some("NA"), None, Some("APAC")]),
        ("job", [Some("?"), Some("a"), Some("b"), Some("a")]),
        ("income", [Some("yes"), Some("no"), None, Some("NA")]),
    ];
    let fields = columns.map(|(name, _)| Field::new(name, DataType::Utf8, true));
    let schema = Arc::new(ArrowSchema::new(fields.to_vec()));
    let arrays = columns.map(|(_, words)| column(words)).to_vec();
    let batch = RecordBatch::try_new(schema, arrays).unwrap();
    let named = crate::memory::register("words that look like marks", vec![batch]).unwrap();
    let mut wanted = options();
    wanted.protected = Vec::new();
    let draft = infer(named.path(), &wanted).unwrap();
    assert_eq!(levels(&draft, "race"), "W|B|NA");
    assert!(attribute(&draft, "race").missing.is_none());
    assert_eq!(
        commands(note(&draft, "race", "'NA' (10 cells) is a level")),
        ["--missing race=NA"]
    );
    assert_eq!(attribute(&draft, "region").missing.marks(), ["", "NA"]);
    assert_eq!(attribute(&draft, "job").missing.marks(), ["?"]);
    assert_eq!(draft.schema.label.classes, ["no", "yes"]);
    assert_eq!(draft.schema.label.missing.marks(), ["", "NA"]);
    let table = Table::read(named.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!((table.rows(), table.counts.unlabelled_rows), (20, 20));
}

#[test]
fn levels_that_are_written_alike_are_listed_and_merged() {
    let race = |row: usize| {
        [
            "White",
            "white",
            "\"Black, White\"",
            "White",
            "\"White, Black\"",
            "Asian",
            "WHITE",
            "Asian",
        ][row % 8]
    };
    let file = file(&people(race, yes_or_no));
    let draft = infer(file.path(), &options()).unwrap();
    assert_eq!(levels(&draft, "race").split('|').count(), 6);
    let said = note(&draft, "race", "differ only in case");
    assert!(
        said.said.contains(
            "'White' (10), 'white' (5), 'WHITE' (5); 'Black, White' (5), 'White, Black' (5)"
        ),
        "{said:?}"
    );
    assert_eq!(commands(said), ["--merge race"]);
    let mut merged = options();
    merged.merge = vec!["race".into()];
    let draft = infer(file.path(), &merged).unwrap();
    assert_eq!(levels(&draft, "race"), "White|Black, White|Asian");
    let again = Schema::from_toml(&draft.schema.to_toml().unwrap()).unwrap();
    assert_eq!(again, draft.schema);
    let table = Table::read(file.path(), &again, Labels::Required).unwrap();
    let races: Vec<i32> = table.codes().chunks(3).take(8).map(|row| row[1]).collect();
    assert_eq!(races, [0, 0, 1, 0, 1, 2, 0, 2]);
}

#[test]
fn names_of_columns_are_found_in_every_unicode_form() {
    let text = people(|_| "x", yes_or_no).replace("income", "de\u{301}cision");
    let file = file(
        &text
            .replace("race", "distance, km")
            .replace("distance, km", "\"distance, km\""),
    );
    let mut wanted = options();
    wanted.label = "d\u{e9}cision".into();
    let draft = infer(file.path(), &wanted).unwrap();
    assert_eq!(draft.schema.label.name, "de\u{301}cision");
    assert_eq!(draft.notes[0].column, "de\u{301}cision");
    Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
}

/// A table of 600 mortgages, as the publisher lays them out.
#[test]
fn ranges_codes_and_words_beside_numbers_are_drafted_at_once() {
    let mut text = String::from("rate,ratio,score,age,sex,tract_id,income\n");
    for row in 0..600 {
        let rate = match row % 20 {
            0 => "NA".to_owned(),
            1 => "Exempt".to_owned(),
            _ => format!("{}.{:03}", 2 + row % 6, row),
        };
        let ratio = [
            "<20%", "20%-<30%", "30%-<36%", "36", "41", "50%-60%", ">60%", "Exempt", "NA",
        ];
        let score = match row % 12 {
            0 => 8888,
            1 => 1111,
            _ => 500 + row % 351,
        };
        let ages = ["35-44", "<25", ">74", "8888", "25-34", "45-74"];
        text += &format!(
            "{rate},{},{score},{},{},{},{}\n",
            ratio[row % 9],
            ages[row % 6],
            ["f", "m"][row % 2],
            6_037_000_000_u64 + (row as u64 * 7919) % 401,
            ["yes", "no"][row / 2 % 2],
        );
    }
    let file = file(&text);
    let draft = infer(file.path(), &options()).unwrap();
    let rate = attribute(&draft, "rate");
    assert!(matches!(rate.kind, Kind::Numeric { .. }));
    assert_eq!(rate.missing.marks(), ["NA"]);
    assert_eq!(rate.named, ["Exempt"]);
    let said = note(&draft, "rate", "'Exempt' (30) are levels of their own");
    assert_eq!(commands(said), ["--missing rate=NA,Exempt"]);
    assert_eq!(
        levels(&draft, "ratio"),
        "<20%|20%-<30%|30%-<36%|36|41|50%-60%|>60%|Exempt"
    );
    let asked = note(&draft, "ratio", "ordered levels but for 'Exempt'");
    assert_eq!(commands(asked), ["--missing ratio=NA,Exempt"]);
    let score = attribute(&draft, "score");
    assert!(score.missing.is_none());
    assert_eq!(score.named, ["1111", "8888"]);
    let expected = "'1111' (50), '8888' (50) come again and again, apart from all other numbers (";
    assert_eq!(
        commands(note(&draft, "score", expected)),
        ["--missing score=1111,8888", "--missing score="]
    );
    assert_eq!(levels(&draft, "age"), "<25|25-34|35-44|45-74|>74");
    assert!(attribute(&draft, "age").is_ordered());
    assert_eq!(attribute(&draft, "age").missing.marks(), ["8888"]);
    note(
        &draft,
        "tract_id",
        "left out: it has 401 different numbers in 600 rows",
    );
    let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!(table.rows(), 600);
    let mut asked = options();
    asked
        .missing
        .insert("ratio".into(), vec!["NA".into(), "Exempt".into()]);
    asked.missing.insert("score".into(), Vec::new());
    asked
        .missing
        .insert("rate".into(), vec!["NA".into(), "Exempt".into()]);
    let draft = infer(file.path(), &asked).unwrap();
    assert!(attribute(&draft, "ratio").is_ordered());
    let score = attribute(&draft, "score");
    assert!(score.missing.is_none() && score.named.is_empty());
    let rate = attribute(&draft, "rate");
    assert_eq!(rate.missing.marks(), ["NA", "Exempt"]);
    assert!(rate.named.is_empty());
}

#[test]
fn all_columns_that_cannot_be_placed_are_refused_together() {
    let mut text = String::from("charge,town,\"name, full\",zone,sex,income\n");
    for row in 0..400 {
        text += &format!(
            "c{},t{},person {row},{},{},{}\n",
            row % 60,
            row % 70,
            "here",
            ["f", "m"][row % 2],
            ["yes", "no"][row / 2 % 2]
        );
    }
    let file = file(&text);
    let mut wanted = options();
    wanted.protected = vec!["zone".into()];
    let error = infer(file.path(), &wanted).unwrap_err();
    let InferError::Unplaced { notes } = &error else {
        panic!("{error}");
    };
    let columns: Vec<&str> = notes.iter().map(|note| note.column.as_str()).collect();
    assert_eq!(columns, ["charge", "town", "zone"], "names are left out");
    let text = error.text(Way::command);
    for needle in [
        "column 'charge': it holds 60 different words (such as 'c0'); --ignore charge leaves it out, --max-words 60 makes a category of so many",
        "column 'zone': it is protected, but it holds 'here' in every row",
        "--ignore charge,town leaves all of these out",
    ] {
        assert!(text.contains(needle), "{text}");
    }
    assert!(
        error.to_string().contains(r#"ignore=["charge", "town"]"#),
        "{error}"
    );
    wanted.protected = Vec::new();
    wanted.ignore = vec!["charge".into(), "town".into()];
    let draft = infer(file.path(), &wanted).unwrap();
    note(
        &draft,
        "name, full",
        "left out: every row has another value",
    );
}

#[test]
fn fractions_are_no_classes_until_a_threshold_makes_two_of_them() {
    let shares = ["0.0", "0.1667", "0.4", "0.5", "0.8333", "1.0"];
    let mut text = String::from("age,sex,income\n");
    for row in 0..60 {
        text += &format!("{},{},{}\n", 18 + row, ["m", "f"][row % 2], shares[row % 6]);
    }
    let file = file(&text);
    let error = infer(file.path(), &options()).unwrap_err().to_string();
    assert!(
        error.contains("such as 0.1667") && error.contains("label_threshold=0.5"),
        "{error}"
    );
    let mut two = options();
    two.label_threshold = Some(0.5);
    let draft = infer(file.path(), &two).unwrap();
    assert_eq!(draft.schema.label.classes, ["below 0.5", "0.5 or more"]);
    let again = Schema::from_toml(&draft.schema.to_toml().unwrap()).unwrap();
    let table = Table::read(file.path(), &again, Labels::Required).unwrap();
    assert_eq!(table.labels()[..6], [0, 0, 0, 1, 1, 1]);
    for (cell, code) in [
        ("0.5 or more", Some(1)),
        ("0.49", Some(0)),
        ("high", None),
        ("nan", None),
    ] {
        assert_eq!(again.label.code(cell), code, "{cell}");
    }
    two.favourable = Some("below 0.5".to_owned());
    let error = infer(file.path(), &two).unwrap_err().to_string();
    assert!(error.contains("favourable is given"), "{error}");
    // Its classes must be on their sides of it.
    for (classes, problem) in [
        (["1", "0"], "numbers below 0.5"),
        (["0", "0.2"], "numbers below 0.5"),
    ] {
        let mut schema = again.clone();
        schema.label.classes = classes.map(str::to_owned).to_vec();
        let error = schema.check().unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    let mut schema = again;
    schema.label.classes = ["0", "1"].map(str::to_owned).to_vec();
    schema.check().unwrap();
    schema.label.classes.push("2".to_owned());
    assert!(
        schema
            .check()
            .unwrap_err()
            .to_string()
            .contains("two classes")
    );
}

#[test]
fn a_column_that_stands_there_twice_is_read_once() {
    let text = |last: &str| {
        let rows = (0..40).map(|row| {
            let (age, sex, income) = (
                20 + row % 30,
                ["m", "f"][row % 2],
                ["yes", "no"][row / 2 % 2],
            );
            format!("{age},{sex},{age},{income}\n")
        });
        let rows: String = rows.collect();
        format!("age,sex,age,income\n{rows}{last}")
    };
    let same = file(&text(""));
    let draft = infer(same.path(), &options()).unwrap();
    let names = draft.schema.attributes.iter().map(|it| it.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["age", "sex"]);
    note(&draft, "age", "another column of this name");
    let table = Table::read(same.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!((table.rows(), table.row(3)[0]), (40, 23));
    let other = file(&text("60,m,61,yes\n"));
    let error = infer(other.path(), &options()).unwrap_err().to_string();
    assert!(
        error.contains("'age'") && error.contains("line 42"),
        "{error}"
    );
    // A name leaves all its columns out, and that is said.
    let mut without = options();
    without.ignore = vec!["age".into()];
    let draft = infer(other.path(), &without).unwrap();
    assert_eq!(draft.schema.attributes.len(), 1);
    note(&draft, "age", "columns 1 and 3 of the header");
}

#[test]
fn few_numbers_have_a_bin_each() {
    let mut text = String::from("rate,grade,sex,income\n");
    for row in 0..60 {
        let (rate, grade) = (
            ["1.5", "2.25"][row % 2],
            ["3.1", "3.5", "3.7", "4.0"][row % 4],
        );
        text += &format!(
            "{rate},{grade},{},{}\n",
            ["m", "f"][row / 4 % 2],
            ["yes", "no"][row % 2]
        );
    }
    let file = file(&text);
    let draft = infer(file.path(), &options()).unwrap();
    let values = |name: &str| match &attribute(&draft, name).kind {
        Kind::Numeric { values, .. } => values.clone().unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(values("rate"), [1.5, 2.25]);
    assert_eq!(values("grade"), [3.1, 3.5, 3.7, 4.0]);
    let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!((table.row(3)[0], table.row(3)[1]), (1, 3));
}

#[test]
fn codes_beside_a_range_are_levels_in_files_of_any_size() {
    for rows in [300, 1000] {
        let mut text = String::from("visits,tenure,sex,income\n");
        for row in 0..rows {
            let visits = match row % 32 {
                30 => "-1".to_owned(),
                31 => "8888".to_owned(),
                count => count.to_string(),
            };
            // A third has 60 years, which is a number like any other.
            let tenure = if row % 3 == 0 { 60 } else { row / 3 % 30 };
            let (sex, income) = (["m", "f"][row % 2], ["yes", "no"][row / 2 % 2]);
            text += &format!("{visits},{tenure},{sex},{income}\n");
        }
        let file = file(&text);
        let draft = infer(file.path(), &options()).unwrap();
        let visits = attribute(&draft, "visits");
        assert_eq!(visits.kind, Kind::Integer { min: 0, max: 29 }, "{rows}");
        assert!(visits.missing.is_none());
        assert_eq!(visits.named, ["-1", "8888"]);
        let tenure = attribute(&draft, "tenure");
        assert!(tenure.missing.is_none() && tenure.named.is_empty());
    }
}

#[test]
fn marks_that_no_cell_holds_are_kept_and_said() {
    let race = |row: usize| ["W", "B", "?", "W"][row % 4];
    let file = file(&people(race, yes_or_no));
    let mut wanted = options();
    wanted
        .missing
        .insert("race".into(), vec!["?".into(), "unknwon".into()]);
    let draft = infer(file.path(), &wanted).unwrap();
    assert_eq!(attribute(&draft, "race").missing.marks(), ["?", "unknwon"]);
    note(&draft, "race", "no cell holds 'unknwon'");
}

#[test]
fn classes_that_differ_only_in_case_are_listed_and_can_be_merged() {
    let mut text = String::from("age,sex,income\n");
    for row in 0..60 {
        let class = ["high", "low", "High", "high"][row % 4];
        text += &format!("{},{},{class}\n", 18 + row, ["m", "f"][row % 2]);
    }
    let file = file(&text);
    let draft = infer(file.path(), &options()).unwrap();
    assert_eq!(draft.schema.label.classes, ["High", "high", "low"]);
    let said: Vec<String> = draft.notes.iter().map(|n| n.text(Way::command)).collect();
    let alike = said
        .iter()
        .find(|said| said.contains("classes that differ only in case"));
    let alike = alike.unwrap();
    assert!(
        alike.contains("'high' (30), 'High' (15)") && alike.contains("--merge income"),
        "{alike}"
    );
    let mut merging = options();
    merging.merge = vec!["income".to_owned()];
    merging.favourable = Some("High".to_owned());
    let draft = infer(file.path(), &merging).unwrap();
    assert_eq!(draft.schema.label.classes, ["low", "high"]);
    let again = Schema::from_toml(&draft.schema.to_toml().unwrap()).unwrap();
    let table = Table::read(file.path(), &again, Labels::Required).unwrap();
    assert_eq!(table.labels()[..4], [1, 0, 1, 1]);
}

#[test]
fn a_threshold_with_all_numbers_on_one_side_is_refused() {
    let mut text = String::from("age,sex,income\n");
    for row in 0..60 {
        text += &format!(
            "{},{},{}\n",
            18 + row,
            ["m", "f"][row % 2],
            (row % 5) as f64 / 4.0
        );
    }
    let file = file(&text);
    let mut two = options();
    for (threshold, is_fine) in [(0.0, false), (0.25, true), (1.0, true), (1.5, false)] {
        two.label_threshold = Some(threshold);
        match infer(file.path(), &two) {
            Ok(_) => assert!(is_fine, "{threshold}"),
            Err(error) => {
                let error = error.to_string();
                assert!(
                    !is_fine
                        && error.contains("from 0 to 1, lie on one side")
                        && error.contains("label_threshold=0.5"),
                    "{threshold}: {error}"
                );
            }
        }
    }
}

#[test]
fn numbers_of_different_things_are_on_no_one_scale() {
    let draft = |cells: [&str; 3]| {
        let mut text = String::from("rate;sex;income\n");
        for row in 0..60 {
            text += &format!("{};{};{}\n", cells[row % 3], ["m", "f"][row % 2], row % 2);
        }
        infer(file(&text).path(), &options())
    };
    for cells in [
        ["5 %", "0.05", "7 %"],
        ["$100", "€120", "300"],
        ["5 %", "$3", "0"],
    ] {
        let error = draft(cells).unwrap_err().to_string();
        assert!(
            error.contains("column 'rate': its numbers count different things")
                && error.contains(&format!("'{}' (", cells[0]))
                && error.contains(r#"ignore=["rate"]"#),
            "{error}"
        );
    }
    // 0 is 0 of anything, and an amount may leave its currency out, or name it in two ways.
    for cells in [
        ["5 %", "0", "7 %"],
        ["$100", "120", "USD 300"],
        ["($100)", "$20", "$30"],
    ] {
        draft(cells).unwrap();
    }
}

#[test]
fn codes_of_places_are_said_to_be_taken_for_numbers() {
    let mut text = String::from("census_tract,zone_height,sex,income\n");
    for row in 0..200u64 {
        let (sex, income) = (["m", "f"][row as usize % 2], row % 2);
        text += &format!(
            "{},{},{sex},{income}\n",
            6_037_000_000 + row % 40 * 7,
            100 + row % 70
        );
    }
    let file = file(&text);
    let draft = infer(file.path(), &options()).unwrap();
    let said = note(&draft, "census_tract", "its name is that of a code");
    assert_eq!(commands(said), ["--ignore census_tract"]);
    let of_other = draft
        .notes
        .iter()
        .filter(|note| note.column == "zone_height");
    assert!(of_other.clone().all(|note| !note.said.contains("code")));
}

#[test]
fn marks_and_levels_are_compared_as_they_stand_in_the_file() {
    let mut text = String::from("wage;sex;income\n");
    for row in 0..200 {
        let wage = match row % 10 {
            0 => "9.999,00".to_owned(),
            1 => "7.777,00".to_owned(),
            _ => format!("{}.{:03},{:02}", 1 + row % 3, 100 + row, row % 90),
        };
        let (sex, income) = (["m", "f"][row % 2], row / 2 % 2);
        text += &format!("{wage};{sex};{income}\n");
    }
    let file = file(&text);
    let mut said = options();
    said.missing.insert("wage".into(), vec!["9.999,00".into()]);
    said.level.insert("wage".into(), vec!["7.777,00".into()]);
    let draft = infer(file.path(), &said).unwrap();
    let wage = attribute(&draft, "wage");
    assert!(matches!(wage.kind, Kind::Numeric { .. }));
    assert_eq!(wage.missing.marks(), ["9.999,00"]);
    assert_eq!(wage.named, ["7.777,00"]);
    let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    let last = wage.domain().1;
    assert_eq!((table.row(0)[0], table.row(1)[0]), (last, last - 1));
}

/// Protected columns that are one attribute with others, each of which says of one value whether a
/// row has it, are said to be.
#[test]
fn an_attribute_that_is_spread_over_columns_is_said() {
    // Of three races one holds in every row; `old` and `young` are spelt as truths; `veteran` is no
    // one's opposite.
    let text = |rows: usize| {
        let mut text = String::from("race_a,old,race_b,veteran,race_c,young,sex,income\n");
        for row in 0..rows {
            let race = |of: usize| u8::from(row % 3 == of);
            let old = row % 5 < 2;
            let sex = ["m", "f"][row % 2];
            text += &format!(
                "{},{old},{}.0,{},{},{},{sex},{}\n",
                race(0),
                race(1),
                u8::from(row % 7 == 0),
                race(2),
                ["True", "False"][usize::from(old)],
                ["yes", "no"][row % 4 / 2]
            );
        }
        text
    };
    let of = |rows: usize, protected: &[&str]| {
        let file = file(&text(rows));
        let options = InferOptions {
            protected: protected.iter().map(|&name| name.to_owned()).collect(),
            ..options()
        };
        let notes = infer(file.path(), &options).unwrap().notes;
        let notes = notes
            .iter()
            .filter(|note| note.said.contains("one attribute"));
        let notes = notes.map(|note| (note.column.clone(), note.text(Way::command)));
        notes.collect::<Vec<_>>()
    };
    let [(column, said)] = &of(60, &["sex", "race_b"])[..] else {
        panic!();
    };
    assert_eq!(column, "race_b");
    for part in [
        "'race_a', 'race_b', 'race_c' are one attribute",
        "as exactly one of them holds in every row",
        "of none of its values or of two, and shares count these; --protected race in place of",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let [(column, said)] = &of(60, &["young"])[..] else {
        panic!();
    };
    assert_eq!(column, "young");
    assert!(said.starts_with("'old', 'young' are one"), "{said}");
    assert!(said.ends_with("make them one column of words"), "{said}");
    assert_eq!(of(60, &["young", "old"]).len(), 1, "said once");
    assert_eq!(of(60, &["veteran", "sex"]), []);
    assert_eq!(of(60, &[]), []);
    assert_eq!(of(15, &["young"]), [], "too few rows to tell");
}

/// Where a value has no column, or is not known of some rows, at most one column holds.
#[test]
fn an_attribute_without_a_column_of_each_value_is_said() {
    let noted = |rows: usize, alike: bool| {
        let second = if alike { "race_white" } else { "white" };
        let mut text = format!("race_black,{second},age,income\n");
        for row in 0..rows {
            let holds = |of: usize| ["N", "Y"][usize::from(row % 4 == of)];
            text += &format!("{},{},{},{}\n", holds(0), holds(1), 20 + row % 40, row % 2);
        }
        let mut wanted = options();
        wanted.protected = vec!["race_black".into()];
        let draft = infer(file(&text).path(), &wanted).unwrap();
        let said = said(&draft, "race_black").into_iter();
        let said = said.filter(|said| said.contains("one attribute"));
        said.map(str::to_owned).collect::<Vec<String>>()
    };
    let found = noted(120, true);
    assert_eq!(found.len(), 1);
    let expected =
        "'race_black', 'race_white' are one attribute, as at most one of them holds in every row";
    assert!(found[0].starts_with(expected), "{found:?}");
    assert!(noted(120, false).is_empty(), "called otherwise");
    assert!(noted(60, true).is_empty(), "by chance");
}

/// A protected attribute that is no column is taken from the columns that are called by its values, and
/// nothing else is.
#[test]
fn columns_that_are_called_by_an_attribute_are_taken_for_it() {
    let of = |text: &str, protected: &str| {
        let wanted = InferOptions {
            protected: vec![protected.into()],
            ..options()
        };
        infer(file(text).path(), &wanted)
    };
    let mut text = String::from("race_White,age,race_nan,sex_m,race_code,income\n");
    for row in 0..30 {
        let race = [["1", "0"], ["0.0", "True"], ["no", "false"], ["", "NA"]][row % 4];
        let (age, sex, income) = (20 + row % 7, row % 2, row / 2 % 2);
        text += &format!("{},{age},{},{sex},{},{income}\n", race[0], race[1], row % 5);
    }
    let draft = of(&text, "race").unwrap();
    let spread = &draft.schema.format.spread["race"];
    assert_eq!(spread.columns, ["race_White", "race_nan"]);
    assert_eq!(spread.levels, ["White", "nan"]);
    assert_eq!(spread.base.as_deref(), Some("(none of these)"));
    let names = draft.schema.attributes.iter().map(|it| it.name.as_str());
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["race", "age", "sex_m", "race_code"]);
    let race = attribute(&draft, "race");
    let levels = ["White", "(none of these)"].map(str::to_owned).to_vec();
    assert_eq!(
        race.kind,
        Kind::Categorical {
            levels,
            ordered: false
        }
    );
    assert!(race.protected && race.missing.marks() == ["", "nan"]);
    for part in [
        "'race_White', 'race_nan'; in 7 rows none of them holds, which is the level '(none of these)'",
        "side by side",
        "'race_code': a column of its own, which holds other things",
        "15 of its 30 cells count as missing: blank (7), 'nan' (8); 'nan' may be a group of people",
    ] {
        note(&draft, "race", part);
    }
    let table = file(&text);
    let read = Table::read(table.path(), &draft.schema, Labels::Required).unwrap();
    let codes: Vec<i32> = (0..4).map(|row| read.row(row)[0]).collect();
    assert_eq!(codes, [0, 2, 1, 2]);
    // One column alone is what it is, and so are columns of an attribute that nobody names.
    for protected in ["sex", "rac", "race_"] {
        let said = of(&text, protected).unwrap_err().to_string();
        let expected = format!("has no column '{protected}'");
        assert!(said.contains(&expected), "{said}");
    }
    assert!(of(&text, "age").unwrap().schema.format.spread.is_empty());
    // Every row has a level that has a column; dots and blanks stand between name and value as well.
    let whole = "race.White,race: Black,income\n1,0,1\n0,1,0\n";
    let draft = of(whole, "race").unwrap();
    let spread = &draft.schema.format.spread["race"];
    assert_eq!(
        (spread.levels.join(","), &spread.base),
        ("White,Black".into(), &None)
    );
}

/// Rows in which the columns of an attribute do not say one level are bad rows.
#[test]
fn columns_that_do_not_say_one_level_are_named_with_their_line() {
    let of = |text: &str, skips: bool| {
        let mut wanted = options();
        wanted.protected = vec!["race".into()];
        wanted.format.skip_bad_rows = skips;
        infer(file(text).path(), &wanted)
    };
    let whole = "race.White,race: Black,income\n1,0,1\n0,1,0\n";
    for (cells, what) in [
        (
            "1,1",
            "more than one says yes: race.White = '1', race: Black = '1'",
        ),
        (
            "1,",
            "some are missing and others are not: race: Black = ''",
        ),
        ("0,2", "one says neither yes nor no: race: Black = '2'"),
    ] {
        let text = format!("{whole}{cells},1\n");
        let said = of(&text, false).unwrap_err().to_string();
        assert!(
            said.starts_with("there is no column 'race', and those"),
            "{said}"
        );
        let row = format!("line 4: of the columns of 'race' {what}");
        for part in [
            row.as_str(),
            "skip_bad_rows",
            "ignore columns",
            "[format.spread.race]",
        ] {
            assert!(said.contains(part), "no '{part}' in: {said}");
        }
        let draft = of(&text, true).unwrap();
        assert_eq!(levels(&draft, "race"), "White|Black");
        assert_eq!(draft.bad_rows.rows, 1);
        assert!(draft.bad_rows.to_string().contains("(line 4)"));
        assert!(draft.schema.format.skip_bad_rows);
        let read = Table::read(file(&text).path(), &draft.schema, Labels::Required).unwrap();
        assert_eq!(read.codes(), [0, 1]);
    }
    // Of a spread that the layout says, nothing is guessed.
    let mut wanted = options();
    wanted.protected = vec!["race".into()];
    let draft = of(whole, false).unwrap();
    wanted.format.spread = draft.schema.format.spread;
    let error = infer(file(&format!("{whole}1,1,1\n")).path(), &wanted).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("line 4: of the columns") && !said.contains("no column"),
        "{said}"
    );
}

/// A cell that says something else is a mistake where that is rare; a column of counts is another
/// attribute.
#[test]
fn seldom_cells_that_are_no_answers_are_mistakes() {
    let of = |others: usize, rows: usize, more: bool| {
        let mut text = String::from("race_White,Race_Black,race_Asian,income\n");
        for row in 0..rows {
            let holds = |of: usize| u8::from(row % 3 == of);
            let white = if row < others { 2 } else { holds(0) };
            let asian = if more {
                holds(2).to_string()
            } else {
                format!("a{}", row % 4)
            };
            text += &format!("{white},{},{asian},{}\n", holds(1), row / 2 % 2);
        }
        let mut wanted = options();
        wanted.protected = vec!["race".into()];
        infer(file(&text).path(), &wanted)
    };
    for (others, rows) in [(1, 12), (1, 60), (3, 60)] {
        let said = of(others, rows, true).unwrap_err().to_string();
        let row = "line 2: of the columns of 'race' one says neither yes nor no: race_White = '2'";
        assert!(said.contains(row), "{said}");
    }
    let draft = of(20, 60, true).unwrap();
    let spread = &draft.schema.format.spread["race"];
    assert_eq!(spread.columns, ["Race_Black", "race_Asian"]);
    note(&draft, "race", "'race_White': a column of its own");
    // Without it there would be no race.
    let said = of(20, 60, false).unwrap_err().to_string();
    assert!(said.contains("line 2: of the columns of 'race'"), "{said}");
    let draft = of(0, 60, false).unwrap();
    let spread = &draft.schema.format.spread["race"];
    assert_eq!(spread.columns, ["race_White", "Race_Black"]);
}

/// A column that is called by a mark of missing values, as pandas makes one by `dummy_na`, is about what is
/// missing, and no group of people.
#[test]
fn a_dummy_of_what_is_missing_is_no_level() {
    use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
    use std::sync::Arc;

    let table = |missing: usize| {
        let mut text = String::from("race_White,race_Black,race_nan,income\n");
        for row in 0..30 {
            let race = if row < missing { 2 } else { row % 2 };
            let holds = |of: usize| u8::from(race == of);
            let income = row / 2 % 2;
            text += &format!("{},{},{},{income}\n", holds(0), holds(1), holds(2));
        }
        file(&text)
    };
    let mut wanted = options();
    wanted.protected = vec!["race".into()];
    let draft = infer(table(4).path(), &wanted).unwrap();
    assert_eq!(levels(&draft, "race"), "White|Black");
    let race = attribute(&draft, "race");
    assert_eq!(
        (race.missing.marks(), race.known_levels()),
        (&["nan".to_owned()][..], 2)
    );
    let said = note(
        &draft,
        "race",
        "4 of its 30 cells count as missing: 'nan' (4)",
    );
    let ways = ["--level race=nan", "--missing race=", "--missing race=nan"];
    assert_eq!(commands(said), ways);
    let spread = &draft.schema.format.spread["race"];
    assert_eq!(spread.levels, ["White", "Black", "nan"]);
    assert_eq!(spread.base, None);
    let read = Table::read(table(4).path(), &draft.schema, Labels::Required).unwrap();
    let codes = [0, 3, 4, 5].map(|row| read.row(row)[0]);
    assert_eq!(codes, [2, 2, 0, 1]);
    // The column is the model's also where no row is missing, and then its rows are refused.
    let whole = infer(table(0).path(), &wanted).unwrap();
    assert_eq!(levels(&whole, "race"), "White|Black");
    let race = attribute(&whole, "race");
    assert_eq!(
        (race.missing.first(), race.outside),
        (Some("nan"), OutOfDomain::Reject)
    );
    let said = note(
        &whole,
        "race",
        "no row has 'nan', for which there is a column",
    );
    assert_eq!(commands(said), ["--missing race="]);
    assert!(Table::read(table(4).path(), &whole.schema, Labels::Required).is_err());
    // So it is of a frame, the columns of which hold no nulls.
    let truths = |of: usize| -> ArrayRef {
        let truths = (0..30).map(|row| Some(row % 3 == of));
        Arc::new(truths.collect::<BooleanArray>())
    };
    let words = (0..30).map(|row| ["0", "1"][row / 3 % 2]);
    let words: ArrayRef = Arc::new(StringArray::from_iter_values(words));
    let columns = [
        ("race_White", truths(0)),
        ("race_Black", truths(1)),
        ("race_nan", truths(2)),
        ("income", words),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let named = crate::memory::register("a dummy of what is missing", vec![batch]).unwrap();
    let frame = infer(named.path(), &wanted).unwrap();
    assert_eq!(levels(&frame, "race"), "White|Black");
    assert_eq!(attribute(&frame, "race").unknown(), Some(2));
    // A person says otherwise, as of any column.
    wanted.level.insert("race".into(), vec!["nan".into()]);
    let draft = infer(table(4).path(), &wanted).unwrap();
    assert_eq!(levels(&draft, "race"), "White|Black|nan");
    wanted.level.clear();
    wanted.missing.insert("race".into(), vec!["Black".into()]);
    let draft = infer(table(4).path(), &wanted).unwrap();
    assert_eq!(levels(&draft, "race"), "White|nan");
    assert_eq!(attribute(&draft, "race").missing.marks(), ["Black"]);
    assert!(commands(note(&draft, "race", "13 of its 30 cells")).is_empty());
    wanted
        .missing
        .insert("race".into(), vec!["nan".into(), "x".into()]);
    let draft = infer(table(4).path(), &wanted).unwrap();
    note(&draft, "race", "no cell holds 'x'");
}

/// A model that learnt words is asked with words: numbers and truths of programs are one to it.
#[test]
fn dummies_keep_their_words_for_no_and_yes() {
    let of = |no: &str, yes: &str, last: &str| {
        let mut text = String::from("race_White,race_Black,income\n");
        for row in 0..30 {
            let [white, black] = [0, 1].map(|of| [no, yes][usize::from(row % 3 == of)]);
            text += &format!("{white},{black},{}\n", row / 3 % 2);
        }
        text += &format!("{yes},{last},0\n,,1\n");
        let mut wanted = options();
        wanted.protected = vec!["race".into()];
        let draft = infer(file(&text).path(), &wanted).unwrap();
        let again = Schema::from_toml(&draft.schema.to_toml().unwrap()).unwrap();
        assert_eq!(again, draft.schema);
        draft.schema.format.spread["race"].answers.join(" ")
    };
    assert_eq!(of("no", "yes", "no"), "no yes");
    assert_eq!(of("N", "Y", "N"), "N Y");
    for (no, yes, last) in [
        ("no", "yes", "No"),
        ("0", "1", "0"),
        ("False", "True", "False"),
        ("no", "1", "no"),
    ] {
        assert_eq!(of(no, yes, last), "");
    }
}

#[test]
fn an_index_without_a_name_is_left_out() {
    fn table(header: &str, first: fn(usize) -> String) -> tempfile::NamedTempFile {
        let mut text = format!("{header}\n");
        for row in 0..60 {
            let (sex, income) = (["m", "f"][row % 2], row / 2 % 2);
            text += &format!("{},{},{sex},{income}\n", first(row % 30), 20 + row % 40);
        }
        file(&text)
    }
    fn index(row: usize) -> String {
        row.to_string()
    }
    let pandas = table(",age,sex,income", index);
    let draft = infer(pandas.path(), &options()).unwrap();
    let said = note(&draft, "", "as the index that pandas writes");
    assert!(said.left_out().is_some());
    let names: Vec<&str> = draft
        .schema
        .attributes
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["age", "sex"]);
    Table::read(pandas.path(), &draft.schema, Labels::Required).unwrap();
    // What is no index, and a protected column, are asked for.
    let of_words = table(",age,sex,income", |row| ["a", "b", "c"][row % 3].to_owned());
    let decimals = table(",age,sex,income", |row| format!("{row}.5"));
    let mut protected = options();
    protected.protected.push(String::new());
    for (file, options) in [
        (&of_words, &options()),
        (&decimals, &options()),
        (&pandas, &protected),
    ] {
        let error = infer(file.path(), options).unwrap_err();
        let said = error.text(Way::command);
        assert!(
            said.contains("column '': it has no name")
                && said.contains("--ignore '\"\"' leaves it out"),
            "{said}"
        );
    }
    let mut without = options();
    without.ignore = vec![String::new()];
    let draft = infer(of_words.path(), &without).unwrap();
    assert_eq!(draft.schema.attributes.len(), 2);
}
