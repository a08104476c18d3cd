use super::*;
use crate::compressed;
use std::io::Write;

const SCHEMA: &str = r#"
name = "people"
[label]
name = "income"
classes = ["low", "high"]
aliases = { "high." = "high" }
[[attribute]]
name = "age"
kind = "integer"
min = 17
max = 90
outside = "skip"
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["Female", "Male"]
missing = "?"
"#;

fn read(text: &[u8], labels: Labels) -> Result<Table, ReadError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    Table::read(file.path(), &Schema::from_toml(SCHEMA).unwrap(), labels)
}

#[test]
fn columns_are_found_by_name_and_rows_counted() {
    let table = read(
        b"sex, income, age\nMale, high., 40\nFemale, low, 99\nFemale, low, 17\n",
        Labels::Required,
    )
    .unwrap();
    assert_eq!(table.codes(), [40, 1, 17, 0]);
    assert_eq!(table.labels(), [1, 0]);
    assert_eq!(table.counts.skipped_rows, 1);
    assert_eq!(table.select(&[1, 0]).codes(), [17, 0, 40, 1]);
}

#[test]
fn quotes_behind_blanks_are_none_of_the_names() {
    let text = b"age, \"sex\", \"income\"\n40, \"Male\", \"high.\" \n 17,\t\"Female\",low\n";
    let table = read(text, Labels::Required).unwrap();
    assert_eq!(
        (table.codes(), table.labels()),
        (&[40, 1, 17, 0][..], &[1, 0][..])
    );
    let error = read(
        b"age, sex, income\n40, \"Male\", \"high\"\n\n41, \"Mal\", low\n",
        Labels::Required,
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("line 4") && error.contains("'Mal'"),
        "{error}"
    );
}

#[test]
fn targets_that_are_no_numbers_are_missing_outcomes() {
    let table = Table::new(1, vec![1, 2, 3], Vec::new());
    let some = table.clone().with_targets(vec![0.5, f64::NAN, 2.0]);
    assert_eq!(some.missing_outcomes(), 1);
    assert!(some.targets().is_empty() && !some.is_labelled());
    assert_eq!(some.known_targets().collect::<Vec<_>>(), [0.5, 2.0]);
    let all = some.select(&[0, 2]);
    assert_eq!(
        (all.missing_outcomes(), all.targets()),
        (0, &[0.5, 2.0][..])
    );
    assert!(table.with_targets(vec![1.0, 2.0, 3.0]).is_labelled());
}

/// A value that is no number cannot be clipped, however it is declared, and the advice is not to
/// declare it.
#[test]
fn a_mark_that_cannot_be_clipped_asks_for_another_policy() {
    let clipping = "outside = \"clip\"\nmissing = [\"NA\", \"-50 %\"]";
    let schema = Schema::from_toml(&SCHEMA.replace("outside = \"skip\"", clipping)).unwrap();
    for (cell, expected) in [
        ("-50 %", Some(17)),
        ("-50", Some(17)),
        ("NA", None),
        ("", None),
    ] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "age,sex,income\n{cell},Male,low\n40,Male,high\n").unwrap();
        let read = Table::read(file.path(), &schema, Labels::Required);
        match (read, expected) {
            (Ok(table), Some(code)) => assert_eq!(table.row(0)[0], code, "{cell}"),
            (Err(error), None) => {
                let said = error.to_string();
                let helps = "--outside skip leaves such rows out";
                assert!(said.contains(helps) && !said.contains("declare"), "{said}");
            }
            (read, _) => panic!("{cell}: {read:?}"),
        }
    }
}

#[test]
fn compressed_files_read_the_same() {
    for name in ["people.csv.gz", "people.csv.xz"] {
        let mut bytes = Vec::new();
        let text = b"age,sex,income\n40,Male,low\n41,Female,high\n";
        compressed::write_as(Path::new(name), &mut bytes, |out| out.write_all(text)).unwrap();
        let table = read(&bytes, Labels::Required).unwrap();
        assert_eq!(table.rows(), 2);
        bytes.truncate(bytes.len() / 2);
        assert!(read(&bytes, Labels::Required).is_err());
    }
}

#[test]
fn every_fault_names_its_place() {
    for (text, needle) in [
        (&b""[..], "holds no rows"),
        (b"age,sex,income\n", "holds no rows"),
        (b"age,sex,income\n40,Male\n", "line 2: 2 fields"),
        (
            b"age,sex,income\n40,Mail,low\n",
            "line 2, column 'sex': 'Mail' is not one of Female, Male",
        ),
        (b"age,sex,income\n40,?,low\n", "'?'"),
        (
            b"age,sex,income\nNaN,Male,low\n",
            "'NaN' is not a whole number",
        ),
        (b"age,sex,income\n40,Male,middling\n", "classes low, high"),
        (
            b"age,sex,income\n40,Male,Low.\n",
            "if it is low, say so by aliases = { \"Low.\" = \"low\" }",
        ),
        (
            b"age,sex,income\n40,Male,low\n41,Male,low\n",
            "all 2 rows have the label 'low'",
        ),
        (b"age,sex\n40,Male\n", "no column 'income'"),
        (b"age,sex,income,zip\n40,Male,low,1\n", "column 'zip'"),
        (
            b"age,sex,sex,income\n40,Male,Male,low\n",
            "two columns called 'sex'",
        ),
        (b"age,sex,income\n40,M\xe4le,low\n", "UTF-8"),
    ] {
        let error = read(text, Labels::Required).unwrap_err().to_string();
        assert!(error.contains(needle), "{error} / {needle}");
    }
}

/// Two columns of a name that is read must be equal; of others they may be what they will.
#[test]
fn columns_of_one_name_are_equal() {
    let schema = format!("{SCHEMA}[format]\nignore_other_columns = true\n");
    let schema = Schema::from_toml(&schema).unwrap();
    for (text, twice) in [
        (
            "age,sex,income,age\n40,Male,low,99\n41,Male,high,41\n",
            Some("age"),
        ),
        (
            "age,sex,income,income\n40,Male,low,high\n41,Male,high,low\n",
            Some("income"),
        ),
        (
            "age,sex,income,age,age\n40,Male,low,40,40\n41,Male,high,41,41\n",
            None,
        ),
        (
            "age,sex,income,zip,zip\n40,Male,low,1,2\n41,Male,high,1,2\n",
            None,
        ),
    ] {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        for labels in [Labels::Required, Labels::Optional] {
            match (Table::read(file.path(), &schema, labels), twice) {
                (Ok(table), None) => assert_eq!(table.rows(), 2),
                (Err(error), Some(name)) => assert!(
                    error
                        .to_string()
                        .contains(&format!("line 2: two columns are called '{name}'")),
                    "{error}"
                ),
                (read, _) => panic!("{text}: {read:?}"),
            }
        }
    }
}

#[test]
fn numbers_are_kept_beside_their_bins() {
    let schema = format!(
        "{SCHEMA}[[attribute]]\nname = \"wage\"\nkind = \"numeric\"\nbins = [0, 10, 20, 30]\noutside = \"level\"\nmissing = \"-\"\n"
    );
    let schema = Schema::from_toml(&schema).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let rows = "wage,age,sex,income\n3.5,40,Male,low\n7,41,Male,high\n1,99,Male,low\n9,42,Male,low\n\
                    -,40,Male,low\n95,40,Male,low\n30,40,Female,high\n";
    file.write_all(rows.as_bytes()).unwrap();
    let (table, numbers) = Table::read_with_numbers(file.path(), &schema, Labels::Required)
        .unwrap()
        .value;
    assert_eq!(numbers.places(), [2]);
    let kept: Vec<f64> = (0..table.rows()).map(|row| numbers.row(row)[0]).collect();
    assert_eq!(
        (table.rows(), &kept[..3], kept[5]),
        (6, &[3.5, 7.0, 9.0][..], 30.0)
    );
    assert!(
        kept[3].is_nan() && kept[4].is_nan(),
        "missing and outside: {kept:?}"
    );
    // The row that is left out has no say; a bin without rows is told by its edge.
    let filled = numbers.with_values(schema.clone());
    let Kind::Numeric { values, .. } = &filled.attributes[2].kind else {
        panic!("{filled:?}");
    };
    assert_eq!(values.as_deref(), Some(&[7.0, 10.0, 30.0][..]));
    filled.check().unwrap();
    let again = Schema::from_toml(&filled.to_toml().unwrap()).unwrap();
    assert_eq!(again, filled);
    assert_eq!(
        numbers.with_values(again),
        filled,
        "what the schema says stays"
    );
}

/// Every way in which a row can be wrong, with empty lines and comments among the lines.
#[test]
fn bad_rows_are_left_out_and_counted_where_the_schema_says_so() {
    let good = "age,sex,income\n40,Male,low\n\n41,Female,high\n# no data\n42,Male,high\n";
    let bad = "age,sex,income\n40,Male,low\n\n,Male,low\n41,Female,high\n# no data\n40,Mail,low\n\
                   40,Male\n40,Male,low,1\n40,Male,\n40,Male,middling\n40,Male,low low,\n\n42,Male,high\n";
    let bad = [
        bad.as_bytes(),
        b"40,M\xe4le,low\n,,\nold,Male,low\n99,Male,low\n",
    ]
    .concat();
    let schema = SCHEMA.replace(
        "[label]",
        "[format]\ncomment = \"#\"\nskip_bad_rows = SKIP\n[label]",
    );
    let of = |skip: &str| Schema::from_toml(&schema.replace("SKIP", skip)).unwrap();
    let read = |text: &[u8], skip: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        Table::read(file.path(), &of(skip), Labels::Required)
    };
    let error = read(&bad, "false").unwrap_err().to_string();
    assert!(
        error.contains("line 4, column 'age': ''") && error.contains("; skip_bad_rows"),
        "{error}"
    );
    let (clean, table) = (
        read(good.as_bytes(), "true").unwrap(),
        read(&bad, "true").unwrap(),
    );
    assert_eq!(
        (table.codes(), table.labels()),
        (clean.codes(), clean.labels())
    );
    assert!(clean.counts.bad_rows.is_empty());
    assert_eq!(table.counts.skipped_rows, 1, "99 is the policy's affair");
    let found = &table.counts.bad_rows;
    assert_eq!(found.rows, 10);
    assert_eq!(
        found.rows,
        found.reasons.iter().map(|reason| reason.rows).sum::<u64>()
    );
    assert_eq!(
        found.to_string(),
        "10 bad rows were left out: 2 because 'age' is blank (line 4, line 16), \
             1 because 'sex' is not one of Female, Male (line 7), \
             3 because not 3 fields (line 8, line 9, line 12), \
             1 because 'income' is blank (line 10), \
             1 because 'income' is none of the classes (line 11), \
             1 because 'sex' is not UTF-8 (line 15), \
             1 because 'age' is not a whole number from 17 to 90 (line 17)"
    );
    // What is not one row's fault is refused all the same.
    for (text, needle) in [
        (&b"age,sex\n40,Male\n"[..], "no column 'income'"),
        (
            b"age,sex,income\n40,\"Male,low\n41,Male,high\n",
            "line 2: 2 fields where 3 are expected, in a row that goes over several",
        ),
        (
            b"age,sex,income\n,Male,low\n",
            "no row is left: 1 bad row was left out: 1 because",
        ),
    ] {
        let error = read(text, "true").unwrap_err().to_string();
        assert!(error.contains(needle), "{error}");
    }
}

#[test]
fn labels_may_be_absent_for_an_audit() {
    let table = read(b"age,sex\n40,Male\n", Labels::Optional).unwrap();
    assert!(table.labels().is_empty());
}

#[test]
fn rows_without_an_outcome_stay_where_only_some_figures_need_one() {
    let text = b"age,sex,income\n40,Male,NA\n41,Female,high.\n42,Male,\n43,Male,low\n44,Male,?\n";
    let table = read(text, Labels::Optional).unwrap();
    let outcomes = (0..5).map(|row| table.known_label(row));
    let expected = [None, Some(1), None, Some(0), None];
    assert_eq!(outcomes.collect::<Vec<_>>(), expected);
    assert!(table.has_label(1) && !table.has_label(0) && !table.is_labelled());
    assert_eq!(table.select(&[2, 3]).known_label(1), Some(0));
    // One class is enough, and so is none, or no column.
    let one = read(b"age,sex,income\n40,Male,low\n", Labels::Optional).unwrap();
    assert!(one.is_labelled());
    for text in [&b"age,sex,income\n40,Male,nan\n"[..], b"age,sex\n40,Male\n"] {
        let none = read(text, Labels::Optional).unwrap();
        assert!(none.labels().is_empty() && none.known_label(0).is_none());
    }
    // What is no mark is a mistake.
    let error = read(b"age,sex,income\n40,Male,lwo\n", Labels::Optional).unwrap_err();
    assert!(error.to_string().contains("lwo"), "{error}");
}

#[test]
fn unknown_outcomes_are_missing_and_counted_where_none_is_needed() {
    let text = b"age,sex,income\n40,Male,pending\n41,Female,high.\n42,Male,\n99,Male,pending\n43,Male,low\n";
    let table = read(text, Labels::Unneeded).unwrap();
    let outcomes = (0..4).map(|row| table.known_label(row));
    assert_eq!(outcomes.collect::<Vec<_>>(), [None, Some(1), None, Some(0)]);
    assert_eq!((table.missing_outcomes(), table.labels()), (2, &[][..]));
    assert_eq!(
        table.counts,
        ReadCounts {
            rows: 4,
            skipped_rows: 1,
            unknown_outcomes: 1,
            ..ReadCounts::default()
        }
    );
    assert_eq!(table.counts.read(), 5);
    // They are no bad rows, and a file of others only is as one without outcomes.
    let skipping = format!("{SCHEMA}\n[format]\nskip_bad_rows = true\n");
    let skipping = Schema::from_toml(&skipping).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"age,sex,income\n40,Male,pending\nold,Male,low\n")
        .unwrap();
    let kept = Table::read(file.path(), &skipping, Labels::Unneeded).unwrap();
    assert_eq!((kept.rows(), kept.counts.bad_rows.rows), (1, 1));
    assert_eq!(
        (kept.counts.unknown_outcomes, kept.missing_outcomes()),
        (1, 0)
    );
    // What has no unknown outcome is read as before.
    let text = b"age,sex,income\n40,Male,NA\n41,Female,high.\n";
    let before = read(text, Labels::Optional).unwrap();
    assert_eq!(read(text, Labels::Unneeded).unwrap(), before);
    assert!(read(b"age,sex,income\n40,Male,pending\n", Labels::Required).is_err());
}

#[test]
fn outcomes_that_are_no_numbers_are_missing_where_none_is_needed() {
    let (_, attributes) = SCHEMA.split_once("[[attribute]]").unwrap();
    let label = "name = \"people\"\n[label]\nname = \"wage\"\nkind = \"number\"";
    let schema = Schema::from_toml(&format!("{label}\n[[attribute]]{attributes}")).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"age,sex,wage\n40,Male,later\n41,Female,2.5\n")
        .unwrap();
    let table = Table::read(file.path(), &schema, Labels::Unneeded).unwrap();
    assert_eq!([0, 1].map(|row| table.known_target(row)), [None, Some(2.5)]);
    assert_eq!(table.counts.unknown_outcomes, 1);
    let error = Table::read(file.path(), &schema, Labels::Optional).unwrap_err();
    assert!(error.to_string().contains("later"), "{error}");
}

#[test]
fn a_blank_label_column_is_as_if_it_were_not_there() {
    let blank = b"age,sex,income\n40,Male,\n41,Female, \n";
    let table = read(blank, Labels::Optional).unwrap();
    assert!(table.labels().is_empty() && table.rows() == 2);
    let without = read(b"age,sex\n40,Male\n41,Female\n", Labels::Optional).unwrap();
    assert_eq!(table, without);
    assert!(read(blank, Labels::Required).is_err());
    // Where some rows have one, it is of use to nobody who needs all, and no row is bad.
    let some = b"age,sex,income\n40,Male,\n99,Male,\n41,Female,low\n42,Male,NA\n43,Female,high\n";
    let kept = read(some, Labels::Optional).unwrap();
    assert_eq!((kept.rows(), kept.missing_outcomes()), (4, 2));
    assert!(kept.labels().is_empty() && !kept.is_labelled());
    assert_eq!(kept.known_labels().collect::<Vec<_>>(), [0, 1]);
    let labelled = kept.select(&[1, 3]);
    assert_eq!(
        (labelled.labels(), labelled.missing_outcomes()),
        (&[0, 1][..], 0)
    );
    assert_eq!(kept.select(&[0, 1]).missing_outcomes(), 1);
}

const MISSING: &str = "classes = [\"low\", \"high\"]\nmissing = [\"none\", \"?\"]";

#[test]
fn rows_without_an_outcome_are_left_out_where_outcomes_are_needed() {
    let text =
        "age,sex,income\n40,Male,none\n99,Male,?\n41,Female,low\n42,Male,MARK\n43,Female,high\n";
    let read = |mark: &str, schema: &Schema| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.replace("MARK", mark).as_bytes())
            .unwrap();
        Table::read(file.path(), schema, Labels::Required)
    };
    let marked = SCHEMA.replace("classes = [\"low\", \"high\"]", MISSING);
    let marked = Schema::from_toml(&marked).unwrap();
    let again = Schema::from_toml(&marked.to_toml().unwrap()).unwrap();
    assert_eq!(again, marked);
    for mark in ["none", "?", ""] {
        let table = read(mark, &marked).unwrap();
        assert_eq!(
            (table.codes(), table.labels()),
            (&[41, 0, 43, 0][..], &[0, 1][..])
        );
        assert_eq!(
            (table.numbers().number(0), table.numbers().number(1)),
            (3, 5)
        );
        let counts = &table.counts;
        assert_eq!(
            (counts.rows, counts.skipped_rows, counts.unlabelled_rows),
            (2, 1, 2)
        );
    }
    // What is no mark is no class.
    let error = read("NA", &marked).unwrap_err().to_string();
    assert!(
        error.contains("'NA'") && error.contains("line 5"),
        "{error}"
    );
    // Without marks of its own, a schema knows the usual ones, but no blank.
    let plain = Schema::from_toml(SCHEMA).unwrap();
    let error = read("NA", &plain).unwrap_err().to_string();
    assert!(error.contains("'none'"), "{error}");
    let usual =
        "age,sex,income\n40,Male,NA\n42,Male,?\n41,Female,low\n43,Female,high\n44,Male,nan\n";
    let read = |text: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        Table::read(file.path(), &plain, Labels::Required)
    };
    let table = read(usual).unwrap();
    assert_eq!((table.rows(), table.counts.unlabelled_rows), (2, 3));
    let error = read(&format!("{usual}45,Male,\n")).unwrap_err().to_string();
    assert!(
        error.contains("line 7") && error.contains("; skip_bad_rows"),
        "{error}"
    );
    let error = read("age,sex,income\n40,Male,NA\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("missing in all 1 rows"), "{error}");
}

#[test]
fn numbers_that_are_missing_are_no_targets() {
    let schema = SCHEMA.replace(
        "classes = [\"low\", \"high\"]\naliases = { \"high.\" = \"high\" }",
        "kind = \"number\"\nmissing = [\"-\", \"\"]",
    );
    let schema = Schema::from_toml(&schema).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let rows = "age,sex,income\n40,Male,1.5\n41,Male,-\n42,Female,\n43,Male,7\n";
    file.write_all(rows.as_bytes()).unwrap();
    let table = Table::read(file.path(), &schema, Labels::Required).unwrap();
    assert_eq!(
        (table.targets(), table.counts.unlabelled_rows),
        (&[1.5, 7.0][..], 2)
    );
    let table = Table::read(file.path(), &schema, Labels::Optional).unwrap();
    assert_eq!(
        (
            table.rows(),
            table.targets().len(),
            table.missing_outcomes()
        ),
        (4, 0, 2)
    );
    assert_eq!(table.known_targets().collect::<Vec<_>>(), [1.5, 7.0]);
}

/// Numbers are those of the file, also where 32 bits hold only their neighbours.
#[test]
fn numbers_of_the_label_are_as_exact_as_they_are_written() {
    let schema = SCHEMA.replace(
        "classes = [\"low\", \"high\"]\naliases = { \"high.\" = \"high\" }",
        "kind = \"number\"",
    );
    let schema = Schema::from_toml(&schema).unwrap();
    let read = |label: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let rows = format!("age,sex,income\n40,Male,{label}\n41,Male,50000.1\n");
        file.write_all(rows.as_bytes()).unwrap();
        let table = Table::read(file.path(), &schema, Labels::Required);
        table.map(|table| table.targets().to_vec())
    };
    assert_eq!(read("16777217").unwrap(), [16_777_217.0, 50000.1]);
    assert!(read("1e39").unwrap_err().to_string().contains("1e39"));
}

/// Columns over which an attribute is spread are read as one, and rows of people that cannot be are
/// bad.
#[test]
fn dummies_are_one_attribute() {
    let schema = |format: &str| {
        let text = format!(
            r#"
            name = "people"
            [format]
            {format}
            [format.spread.race]
            columns = ["race_White", "race_Black"]
            levels = ["White", "Black"]
            [label]
            name = "income"
            classes = ["low", "high"]
            [[attribute]]
            name = "race"
            kind = "categorical"
            levels = ["Black", "White"]
            missing = ""
            outside = "level"
            [[attribute]]
            name = "age"
            kind = "integer"
            min = 17
            max = 90
            "#
        );
        Schema::from_toml(&text).unwrap()
    };
    let text = "race_White,age,race_Black,income\n1,40,0,low\n0,41,1,high\n1,42,1,low\n,43,,high\n0,44,0,low\n";
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let strict = schema("");
    let error = Table::read(file.path(), &strict, Labels::Required).unwrap_err();
    let said = error.to_string();
    let expected = "line 4: of the columns of 'race' more than one says yes: race_White = '1', race_Black = '1'";
    assert!(
        said.contains(expected) && said.contains("skip_bad_rows"),
        "{said}"
    );
    let skipping = schema("skip_bad_rows = true");
    let table = Table::read(file.path(), &skipping, Labels::Required).unwrap();
    assert_eq!(table.codes(), [1, 40, 0, 41, 2, 43]);
    assert_eq!(table.labels(), [0, 1, 1]);
    let bad_rows = &table.counts.bad_rows;
    assert_eq!((bad_rows.rows, bad_rows.reasons.len()), (2, 2));
    assert!(bad_rows.to_string().contains("(line 4)"), "{bad_rows}");
}
