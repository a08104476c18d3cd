//! Files as people have them: put one behind the other, out of spreadsheets, out of other programs.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, TimestampMicrosecondArray};

use super::*;
use crate::memory::register;
use crate::schema::Kind;
use crate::table::{Labels, Table};

fn options() -> InferOptions {
    InferOptions {
        label: "income".into(),
        protected: vec!["sex".into()],
        ..InferOptions::default()
    }
}

fn age(row: usize) -> usize {
    20 + row * 7 % 53
}

/// A file of 60 people, some lines of which `change` writes otherwise.
fn people(change: impl Fn(usize, String) -> String) -> tempfile::NamedTempFile {
    many(60, change)
}

/// A file of `rows` people, some lines of which `change` writes otherwise.
fn many(rows: usize, change: impl Fn(usize, String) -> String) -> tempfile::NamedTempFile {
    let mut text = String::from("age,sex,income\n");
    for row in 0..rows {
        let (sex, income) = (["m", "f"][row % 2], ["high", "low"][row / 2 % 2]);
        text += &change(row, format!("{},{sex},{income}\n", age(row)));
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn levels(draft: &Draft, at: usize) -> String {
    match &draft.schema.attributes[at].kind {
        Kind::Categorical { levels, .. } => levels.join(","),
        other => panic!("{other:?}"),
    }
}

fn said(draft: &Draft) -> String {
    let notes = draft.notes.iter();
    notes
        .map(|note| format!("{}: {}\n", note.column, note.said))
        .collect()
}

#[test]
fn a_header_in_the_middle_is_no_row() {
    let file = people(|row, line| match row {
        30 => format!("age,sex,income\n{line}"),
        _ => line,
    });
    let error = infer(file.path(), &options()).unwrap_err().to_string();
    assert!(
        error.contains("line 32") && error.contains("repeats the names"),
        "{error}"
    );
    let mut skipping = options();
    skipping.format.skip_bad_rows = true;
    let draft = infer(file.path(), &skipping).unwrap();
    assert_eq!(draft.schema.label.classes, ["low", "high"]);
    assert!(
        draft
            .bad_rows
            .to_string()
            .contains("1 because the header stands there again")
    );
}

#[test]
fn names_that_are_numbers_may_be_values() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let rows: String = (0..60)
        .map(|row| format!("{},{},{}\n", row % 3, row % 2, row % 3))
        .collect();
    file.write_all(format!("0,1,2\n0,1,2\n{rows}").as_bytes())
        .unwrap();
    let mut numbered = options();
    (numbered.label, numbered.protected) = ("2".into(), vec!["1".into()]);
    let draft = infer(file.path(), &numbered).unwrap();
    let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!(table.rows(), 61);
}

#[test]
fn a_second_line_of_names_is_told_of() {
    let file = people(|row, line| match row {
        0 => format!("How old are you?,Sex,Outcome\n{line}"),
        _ => line,
    });
    let draft = infer(file.path(), &options()).unwrap();
    assert!(
        said(&draft).contains("income: 'Outcome' stands in one row alone"),
        "{}",
        said(&draft)
    );
    // In few rows, or of classes that all are rare, that says nothing.
    let usual = infer(people(|_, line| line).path(), &options()).unwrap();
    assert!(!said(&usual).contains("one row"), "{}", said(&usual));
}

#[test]
fn blanks_of_any_kind_are_no_part_of_a_cell() {
    let file = people(|row, line| match row % 3 {
        0 => line
            .replace(",f,", ",\u{a0}f\u{2009},")
            .replace("low", "low\u{3000}"),
        _ => line,
    });
    let draft = infer(file.path(), &options()).unwrap();
    assert_eq!(levels(&draft, 1), "m,f");
    assert_eq!(draft.schema.label.classes, ["low", "high"]);
    let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!(table.rows(), 60);
}

#[test]
fn levels_that_look_alike_are_told_of() {
    let file = people(|row, line| match row % 8 {
        1 => line.replace(",f,", ",\u{ad}fem\u{200b}ale\u{200f},"),
        _ => line.replace(",f,", ",female,"),
    });
    let draft = infer(file.path(), &options()).unwrap();
    let needle = "characters that nobody sees, Unicode form, a full stop at the end or the order of joined values: 'female' (22), 'fem<U+200B>ale' (8)";
    assert!(said(&draft).contains(needle), "{}", said(&draft));
    let mut merging = options();
    merging.merge = vec!["sex".into()];
    let merged = infer(file.path(), &merging).unwrap();
    assert_eq!(levels(&merged, 1), "m,female");
    let mut schema = draft.schema;
    let Kind::Categorical { levels, .. } = &mut schema.attributes[1].kind else {
        panic!("{schema:?}");
    };
    levels.retain(|level| level.is_ascii());
    let error = Table::read(file.path(), &schema, Labels::Required).unwrap_err();
    assert!(
        error.to_string().contains("'fem<U+200B>ale' is not"),
        "{error}"
    );
}

#[test]
fn spellings_of_a_truth_are_one_level() {
    let spellings = [
        "yes", "no", "T", "0", "TRUE", "FALSE", "1", "N", "yes", "no",
    ];
    let file = people(|row, line| {
        let line = line.replacen(&age(row).to_string(), spellings[row % 10], 1);
        let truths = ["Y", "F", "yes", "N"][row / 2 % 4];
        line.replace("high", truths).replace("low", truths)
    });
    let draft = infer(file.path(), &options()).unwrap();
    assert_eq!(levels(&draft, 0), "yes,no");
    let needle = "age: it holds nothing but truths, of which all spellings are one level: 'yes' (12), 'T' (6), 'TRUE' (6), '1' (6); 'no' (12), '0' (6), 'FALSE' (6), 'N' (6)";
    assert!(said(&draft).contains(needle), "{}", said(&draft));
    let label = &draft.schema.label;
    assert_eq!(label.classes.len(), 2);
    let read = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    let codes: Vec<i32> = (0..10).map(|row| read.row(row)[0]).collect();
    assert_eq!(codes, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    let yes = label.code("yes");
    assert_eq!((label.code("Y"), label.code("N")), (yes, label.code("F")));
    assert_ne!(yes, label.code("N"));
    // What a person names stays apart.
    let mut apart = options();
    apart.level = [("age".to_owned(), vec!["T".to_owned()])].into();
    let draft = infer(file.path(), &apart).unwrap();
    assert_eq!(levels(&draft, 0), "yes,no,T,0,TRUE,FALSE,1,N");
}

#[test]
fn weights_of_a_survey_are_told_of() {
    let file = people(|_, line| line);
    let text = std::fs::read_to_string(file.path()).unwrap();
    std::fs::write(file.path(), text.replacen("age", "sample_weight", 1)).unwrap();
    let draft = infer(file.path(), &options()).unwrap();
    let note = draft
        .notes
        .iter()
        .find(|note| note.column == "sample_weight");
    let text = note.unwrap().text(Way::command);
    assert!(
        text.contains("weights of a survey") && text.contains("--ignore sample_weight"),
        "{text}"
    );
    let usual = infer(people(|_, line| line).path(), &options()).unwrap();
    assert!(!said(&usual).contains("survey"), "{}", said(&usual));
}

#[test]
fn a_full_stop_makes_no_other_class() {
    let file = people(|row, line| {
        let line = line.replace("high", ">50K").replace("low", "<=50K");
        if row < 40 {
            line
        } else {
            line.replace("50K\n", "50K.\n")
        }
    });
    let draft = infer(file.path(), &options()).unwrap();
    assert!(
        said(&draft).contains("a full stop at the end"),
        "{}",
        said(&draft)
    );
    let mut merging = options();
    merging.merge = vec!["income".into()];
    let draft = infer(file.path(), &merging).unwrap();
    assert_eq!(draft.schema.label.classes, ["<=50K", ">50K"]);
    let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!(
        table.labels().iter().filter(|&&label| label == 1).count(),
        30
    );
}

#[test]
fn digits_that_numbers_cannot_tell_apart_are_words() {
    let of = |row: usize| 9_007_199_254_740_992_u64 + (row % 2) as u64;
    let file = people(|row, line| line.replacen(&age(row).to_string(), &of(row).to_string(), 1));
    let draft = infer(file.path(), &options()).unwrap();
    assert_eq!(levels(&draft, 0), "9007199254740992,9007199254740993");
    let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!([table.row(0)[0], table.row(1)[0]], [0, 1]);
    let mut label = options();
    label.label = "age".into();
    let draft = infer(file.path(), &label).unwrap();
    assert_eq!(draft.schema.label.classes.len(), 2);
}

#[test]
fn long_numbers_that_differ_are_numbers() {
    let of = |row: usize| 1_600_000_000_000_000_000_u64 + row as u64 * 7_919_000_000;
    let file = people(|row, line| line.replacen(&age(row).to_string(), &of(row).to_string(), 1));
    let draft = infer(file.path(), &options()).unwrap();
    let kind = &draft.schema.attributes[0].kind;
    assert!(matches!(kind, Kind::Numeric { .. }), "{kind:?}");
}

#[test]
fn a_number_beyond_all_others_is_told_of() {
    let file = people(|row, line| match row {
        7 => line.replacen(&age(row).to_string(), "1.7976931348623157e+308", 1),
        _ => line.replacen(',', ".5,", 1),
    });
    let draft = infer(file.path(), &options()).unwrap();
    let text = said(&draft);
    assert!(
        text.contains("age: '1.7976931348623157e+308' lies so far beyond"),
        "{text}"
    );
    let ways: Vec<String> = draft
        .notes
        .iter()
        .flat_map(|note| note.ways.iter().map(Way::command))
        .collect();
    assert!(
        ways.iter()
            .any(|way| way.contains("1.7976931348623157e+308")),
        "{ways:?}"
    );
}

/// The file of 60 people with `first` before its header, its commas replaced by `separator`.
fn behind(first: &str, separator: &str) -> tempfile::NamedTempFile {
    let file = people(|_, line| line);
    let text = std::fs::read_to_string(file.path()).unwrap();
    let text = text.replace(',', separator);
    std::fs::write(file.path(), format!("{first}{text}")).unwrap();
    file
}

#[test]
fn what_a_file_without_a_header_may_be_is_said() {
    for (first, needle) in [
        (
            "Applicants 2024,,",
            "; line 1, 'Applicants 2024', may be a title, and line 2 name the columns (age, sex, income): remove the lines above line 2",
        ),
        ("# made by hand,a,b", "if that line is a comment, remove it"),
    ] {
        let file = behind(&format!("{first}\n"), ",");
        let mut plain = options();
        plain.finds_separator = false;
        let error = infer(file.path(), &plain).unwrap_err().to_string();
        assert!(error.contains(needle), "{first}: {error}");
    }
    // The title hides the separator, and a blank line is none of the records.
    let file = behind("\nApplicants\n\nof 2024\n", ";");
    let error = infer(file.path(), &options()).unwrap_err().to_string();
    let needle =
        "line 2, 'Applicants', may be a title, and line 5 name the columns (age, sex, income)";
    assert!(error.contains(needle), "{error}");
}

#[test]
fn tables_in_other_texts_are_called_by_their_names() {
    for (text, expected) in [
        (
            "% a bank\n@relation people\n@attribute age numeric\n@data\n40\n",
            "cannot read",
        ),
        ("<html><table><tr><td>age</td></tr></table>\n", "HTML"),
    ] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let error = infer(file.path(), &options()).unwrap_err().to_string();
        let advice = "save the table as CSV or Parquet first";
        assert!(
            error.contains(expected) && error.contains(advice),
            "{error}"
        );
    }
}

#[test]
fn a_first_line_may_say_the_separator() {
    for (first, separator) in [("sep=;\n", ";"), ("\u{feff}SEP=^\r\n", "^")] {
        let file = behind(first, separator);
        let draft = infer(file.path(), &options()).unwrap();
        assert_eq!(draft.schema.format.separator.to_string(), separator);
        assert!(
            said(&draft).contains("the first line says that"),
            "{}",
            said(&draft)
        );
        let read = |schema: &Schema| Table::read(file.path(), schema, Labels::Required);
        assert_eq!(read(&draft.schema).unwrap().rows(), 60);
        // Also of a file that another one was the schema drafted from; and lines are those of the file.
        let mut other = draft.schema.clone();
        other.format.separator = '|';
        assert_eq!(read(&other).unwrap().rows(), 60);
        let text = std::fs::read_to_string(file.path()).unwrap();
        std::fs::write(file.path(), text.replacen("41", "x", 1)).unwrap();
        let line = text.lines().position(|line| line.contains("41")).unwrap() + 1;
        let error = read(&draft.schema).unwrap_err().to_string();
        assert!(
            error.contains(&format!("line {line}, column 'age': 'x'")),
            "{error}"
        );
    }
}

#[test]
fn lines_of_comments_before_the_header_are_passed_over() {
    let file = behind("# exported 2024-03-01\n# by hand\n", ";");
    let draft = infer(file.path(), &options()).unwrap();
    assert_eq!(draft.schema.format.comment, Some('#'));
    assert_eq!(draft.schema.format.separator, ';');
    assert!(
        said(&draft).contains("[format]: the first 2 lines begin with '#'"),
        "{}",
        said(&draft)
    );
    let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
    assert_eq!(table.rows(), 60);
}

#[test]
fn an_instant_of_a_named_zone_is_a_date() {
    let instants: Vec<i64> = (0..60).map(|day| day * 86_400_000_000).collect();
    let instants = TimestampMicrosecondArray::from(instants).with_timezone("Europe/Berlin");
    let words = |of: fn(usize) -> &'static str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..60).map(of)))
    };
    let columns = [
        ("made", Arc::new(instants) as ArrayRef),
        ("sex", words(|row| ["m", "f"][row % 2])),
        ("income", words(|row| ["high", "low"][row / 2 % 2])),
        ("job", words(|row| ["cook", "clerk", "guard"][row % 3])),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let table = register("instants of a named zone", vec![batch]).unwrap();
    let draft = infer(table.path(), &options()).unwrap();
    assert!(
        said(&draft).contains("made: left out: it holds dates"),
        "{}",
        said(&draft)
    );
}

#[test]
fn json_is_a_table_like_another() {
    let csv = people(|_, line| line);
    let mut json = tempfile::NamedTempFile::new().unwrap();
    let text = std::fs::read_to_string(csv.path()).unwrap();
    for row in text.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let (age, sex, income) = (cells[0], cells[1], cells[2]);
        writeln!(
            json,
            "{{\"age\": {age}, \"sex\": \"{sex}\", \"income\": \"{income}\"}}"
        )
        .unwrap();
    }
    let drafts = [csv.path(), json.path()].map(|file| infer(file, &options()).unwrap());
    assert_eq!(drafts[0].schema, drafts[1].schema);
    let tables = [csv.path(), json.path()].map(|file| {
        let read = Table::read(file, &drafts[0].schema, Labels::Required).unwrap();
        (read.codes().to_vec(), read.labels().to_vec())
    });
    assert_eq!(tables[0], tables[1]);
    writeln!(
        json,
        "{{\"age\": \"old\", \"sex\": \"m\", \"income\": \"low\"}}"
    )
    .unwrap();
    let error = Table::read(json.path(), &drafts[0].schema, Labels::Required);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("row 61, column 'age'"), "{error}");
}

/// Names of rows, as R writes them, and a separator at the end of every row are no columns, whether
/// the header names something there or not.
#[test]
fn a_field_that_the_header_does_not_name_is_passed_over() {
    let plain = people(|_, line| line);
    let expected = infer(plain.path(), &options()).unwrap().schema;
    let named = || people(|row, line| format!("\"{}\",{line}", row + 1));
    let ended = people(|_, line| line.replace('\n', ",\n"));
    for (file, separator, what) in [
        (separated(named(), '\t'), '\t', "row_names under [format]"),
        (separated(named(), ';'), ';', "row_names under [format]"),
        (ended, ',', "which is empty"),
    ] {
        let draft = infer(file.path(), &options()).unwrap();
        assert!(said(&draft).contains(what), "{}", said(&draft));
        assert_eq!(draft.schema.format.separator, separator);
        assert_eq!(draft.schema.attributes, expected.attributes);
        let files = [(plain.path(), &expected), (file.path(), &draft.schema)];
        let tables = files.map(|(file, schema)| {
            let read = Table::read(file, schema, Labels::Required).unwrap();
            (read.codes().to_vec(), read.labels().to_vec())
        });
        assert_eq!(tables[0], tables[1]);
        let format = &draft.schema.format;
        assert_eq!(format.row_names, what.contains("row_names"));
        let again = Schema::from_toml(&draft.schema.to_toml().unwrap()).unwrap();
        assert_eq!(again, draft.schema);
        // A schema that does not say so passes over no names, and where no cell may depend on other
        // rows, what these show is not enough.
        let records = crate::read::Records::open(file.path(), format).unwrap();
        let refused = match format.row_names {
            true => {
                records.expect_names_of_all().unwrap();
                let mut unsaid = draft.schema.clone();
                unsaid.format.row_names = false;
                let refused = Table::read(file.path(), &unsaid, Labels::Required);
                refused.unwrap_err().to_string()
            }
            false => records.expect_names_of_all().unwrap_err().to_string(),
        };
        assert!(refused.contains("4 fields where 3"), "{refused}");
    }
    // Nothing tells which field it is where the last one is empty and the first one may be a name.
    let both = |name: fn(usize) -> String, rows| {
        let file = many(rows, |_, line| line.replace('\n', ",\n"));
        let text = std::fs::read_to_string(file.path()).unwrap();
        let mut lines = text.lines();
        let mut named = format!("id,{}\n", lines.next().unwrap());
        for (row, line) in lines.enumerate() {
            named += &format!("{},{line}\n", name(row));
        }
        std::fs::write(file.path(), named).unwrap();
        let draft = infer(file.path(), &options());
        draft.map(|draft| draft.schema.attributes.len())
    };
    let refused = |name, rows| {
        let error = both(name, rows).unwrap_err().to_string();
        assert!(error.contains("name the first column"), "{error}");
    };
    refused(|row| (row + 1).to_string(), 60);
    refused(|row| (row + 1).to_string(), 5);
    refused(|row| format!("\"case {row}\""), 60);
    // It is none where it repeats, has decimals, or may differ by chance.
    for (name, rows) in [
        ((|row| (row / 2).to_string()) as fn(usize) -> String, 60),
        (|row| format!("{row}.5"), 60),
        (|row| (row + 20).to_string(), 5),
    ] {
        assert!(both(name, rows).is_ok(), "{rows}");
    }
    let one = many(1, |_, line| line.replace('\n', ",\n"));
    let read = Table::read(one.path(), &expected, Labels::Optional);
    assert_eq!(read.unwrap().rows(), 1);
    // With commas it may be ids, and a number that is written with one.
    let error = infer(named().path(), &options()).unwrap_err().to_string();
    assert!(error.contains("4 fields where 3"), "{error}");
    assert!(error.contains("name the first column"), "{error}");
    // Few rows differ by chance.
    let few = many(19, |row, line| format!("{row},{line}"));
    let few = separated(few, ';');
    let refused = infer(few.path(), &options()).unwrap_err().to_string();
    assert!(refused.contains("4 fields where 3"), "{refused}");
}

/// The file with `separator` in the place of commas.
fn separated(file: tempfile::NamedTempFile, separator: char) -> tempfile::NamedTempFile {
    let text = std::fs::read_to_string(file.path()).unwrap();
    std::fs::write(file.path(), text.replace(',', &separator.to_string())).unwrap();
    file
}

/// A field more in some rows, or one that is neither empty everywhere nor another in every row, is a
/// fault.
#[test]
fn other_fields_that_the_header_does_not_name_are_refused() {
    type Change = fn(usize, String) -> String;
    let some: Change = |row, line| match row % 3 {
        0 => format!("{row},{line}"),
        _ => line,
    };
    let later: Change = |row, line| match row {
        50 => line,
        _ => format!("{row},{line}"),
    };
    let mut by_tabs = options();
    (by_tabs.format.separator, by_tabs.finds_separator) = ('\t', false);
    let repeated: Change = |row, line| format!("{},{line}", row % 7);
    let last: Change = |row, line| match row {
        0..50 => line.replace('\n', ",\n"),
        _ => line.replace('\n', ",x\n"),
    };
    for (change, needle) in [
        (some, "line 2: 4 fields where 3"),
        (later, "line 2: 4 fields where 3"),
        (repeated, "line 2: 4 fields where 3"),
        (last, "line 2: 4 fields where 3"),
    ] {
        let file = separated(people(change), '\t');
        let error = infer(file.path(), &by_tabs).unwrap_err();
        assert!(error.to_string().contains(needle), "{error}");
    }
    // Behind the rows by which the field is found.
    for (change, needle) in [
        (
            (|row, line| match row {
                150 => line,
                _ => format!("{row},{line}"),
            }) as Change,
            "line 152: 3 fields where 4",
        ),
        (
            |row, line| match row {
                150 => line.replace('\n', ",x\n"),
                _ => line.replace('\n', ",\n"),
            },
            "line 152: 4 fields where 3",
        ),
        (
            |row, line| match row {
                150 => line.replacen(',', "", 1).replace('\n', ",\n"),
                _ => line.replace('\n', ",\n"),
            },
            "line 152: 3 fields where 4",
        ),
    ] {
        let file = separated(many(160, change), '\t');
        let error = infer(file.path(), &by_tabs).unwrap_err();
        assert!(error.to_string().contains(needle), "{error}");
    }
}

/// A quote that nothing closes in the last column swallows rows, whose numbers of fields do not tell.
#[test]
fn a_quote_that_is_not_closed_swallows_no_rows() {
    let with_notes = |note: fn(usize) -> String| {
        let file = many(200, |_, line| line);
        let text = std::fs::read_to_string(file.path()).unwrap();
        let mut lines = text.lines().map(str::to_owned);
        let mut noted = lines.next().unwrap() + ",note\n";
        for (row, line) in lines.enumerate() {
            noted += &format!("{line},{}\n", note(row));
        }
        std::fs::write(file.path(), noted).unwrap();
        infer(file.path(), &options()).map(|draft| said(&draft))
    };
    for note in [
        (|row| match row {
            10 => "\"remark".to_owned(),
            _ => format!("remark {row}"),
        }) as fn(usize) -> String,
        |row| match row {
            10 => "\"remark".to_owned(),
            _ => format!("\"remark {row}\""),
        },
        |row| match row {
            150 => "\"remark".to_owned(),
            _ => format!("\"two\nlines, {row}\""),
        },
    ] {
        let error = with_notes(note).unwrap_err().to_string();
        assert!(
            error.contains("does not end where its quotes do"),
            "{error}"
        );
        assert!(error.contains("a quote may not be closed"), "{error}");
        assert!(
            error.contains("line 12:") || error.contains("line 302:"),
            "{error}"
        );
    }
    with_notes(|row| format!("\"two\nlines, \"\"{row}\"\"\"")).unwrap();
    with_notes(|row| format!("{row}\" nail")).unwrap();
}

/// A backslash before quotes, as Spark and MySQL write it, is found and kept in the schema; without
/// it the fields of such rows are others.
#[test]
fn quotes_behind_a_backslash_are_read() {
    let jobs = ["the \"boss\", retired", "clerk", "a \\ b"];
    let written = |escape: bool, separator: &str| {
        let mut text = ["age", "sex", "job", "income"].join(separator) + "\n";
        for row in 0..60 {
            let (sex, income) = (["m", "f"][row % 2], ["high", "low"][row / 2 % 2]);
            let job = match escape {
                true => jobs[row % 3].replace('\\', r"\\").replace('"', "\\\""),
                false => jobs[row % 3].replace('"', "\"\""),
            };
            let cells = [&age(row).to_string(), sex, &format!("\"{job}\""), income];
            text += &(cells.join(separator) + "\n");
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    };
    let plain = infer(written(false, ",").path(), &options()).unwrap();
    assert_eq!(plain.schema.format.escape, None);
    for separator in [",", ";", "\t"] {
        let file = written(true, separator);
        let draft = infer(file.path(), &options()).unwrap();
        assert!(
            said(&draft).contains("escape under [format]"),
            "{}",
            said(&draft)
        );
        assert_eq!(draft.schema.format.escape, Some('\\'));
        assert_eq!(draft.schema.attributes, plain.schema.attributes);
        let again = Schema::from_toml(&draft.schema.to_toml().unwrap()).unwrap();
        assert_eq!(again, draft.schema);
        let table = Table::read(file.path(), &again, Labels::Required).unwrap();
        assert_eq!((table.rows(), table.row(0)[2]), (60, 0));
    }
}

/// A minus behind a number, where SAP writes it, is its sign, in whatever form numbers are written;
/// school marks such as 2- and 2+ are words.
#[test]
fn a_minus_behind_a_number_is_its_sign() {
    let of = |balance: fn(usize) -> String| {
        let mut text = String::from("balance;sex;income\n");
        for row in 0..60 {
            let (sex, income) = (["m", "f"][row % 2], ["high", "low"][row / 2 % 2]);
            text += &format!("{};{sex};{income}\n", balance(row));
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let draft = infer(file.path(), &options()).unwrap();
        let table = Table::read(file.path(), &draft.schema, Labels::Required).unwrap();
        (draft, table)
    };
    let (draft, table) = of(|row| match row % 5 {
        0 => format!("{}-", row + 1),
        _ => row.to_string(),
    });
    let note = "balance: a minus behind a number is its sign: '1-' is -1\n";
    assert!(said(&draft).contains(note), "{}", said(&draft));
    assert!(!said(&draft).contains("signs of what it counts"));
    assert_eq!(
        draft.schema.attributes[0].kind,
        Kind::Integer { min: -56, max: 59 }
    );
    assert_eq!((table.row(10)[0], table.row(11)[0]), (-11, 11));
    let (draft, _) = of(|row| match row % 5 {
        1 => format!("1.2{row:02},50-"),
        _ => format!("{row},25"),
    });
    let note = "'1.201,50-' is -1201.50";
    assert!(said(&draft).contains(note), "{}", said(&draft));
    let Kind::Numeric { bins, .. } = &draft.schema.attributes[0].kind else {
        panic!("{:?}", draft.schema.attributes[0]);
    };
    assert_eq!(bins[0], -1256.5);
    let (draft, _) = of(|row| ["1", "2", "2-", "3+", "3"][row % 5].to_owned());
    assert_eq!(levels(&draft, 0), "1,2,2-,3+,3");
    let (draft, _) = of(|row| ["1", "2", "2-", "1-2", "3"][row % 5].to_owned());
    assert_eq!(levels(&draft, 0), "1,2,2-,1-2,3");
}
