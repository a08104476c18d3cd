use super::*;

const PEOPLE: &str = r#"
name = "people"
[label]
name = "income"
classes = ["low", "high"]
[[attribute]]
name = "age"
kind = "integer"
min = 17
max = 90
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["Female", "Male"]
protected = true
missing = "?"
outside = "level"
[[attribute]]
name = "gain"
kind = "numeric"
bins = [0.0, 1.0, 1000.0, 100000.0]
outside = "clip"
"#;

#[test]
fn a_label_of_numbers_has_two_sides_and_no_classes() {
    let numbers = PEOPLE.replace("classes = [\"low\", \"high\"]", "kind = \"number\"");
    let schema = Schema::from_toml(&numbers).unwrap();
    assert_eq!(schema.label, Label::of_numbers("income"));
    let again = Schema::from_toml(&schema.to_toml().unwrap()).unwrap();
    assert_eq!(schema, again);
    let wrong = PEOPLE.replace("[label]", "[label]\nkind = \"number\"");
    let error = Schema::from_toml(&wrong).unwrap_err().to_string();
    assert!(error.contains("no classes"), "{error}");
    let kind = "the label of classes says nothing of its kind";
    assert!(
        !people().to_toml().unwrap().contains("kind = \"class\""),
        "{kind}"
    );
}

fn people() -> Schema {
    Schema::from_toml(PEOPLE).unwrap()
}

#[test]
fn reads_writes_and_reads_back() {
    let schema = people();
    assert_eq!(schema.protected(), [1]);
    let again = Schema::from_toml(&schema.to_toml().unwrap()).unwrap();
    assert_eq!(schema, again);
}

#[test]
fn words_may_be_written_as_numbers_and_truth_values() {
    let bare = PEOPLE
        .replace("[\"low\", \"high\"]", "[0, 1]")
        .replace("[\"Female\", \"Male\"]", "[false, true, -1, 2.50]")
        .replace("missing = \"?\"", "missing = [-9, \"?\"]");
    let quoted = PEOPLE
        .replace("[\"low\", \"high\"]", "[\"0\", \"1\"]")
        .replace(
            "[\"Female\", \"Male\"]",
            "[\"false\", \"true\", \"-1\", \"2.5\"]",
        )
        .replace("missing = \"?\"", "missing = [\"-9\", \"?\"]");
    assert_eq!(
        Schema::from_toml(&bare).unwrap(),
        Schema::from_toml(&quoted).unwrap()
    );
    let one = PEOPLE.replace("missing = \"?\"", "missing = 99");
    let marks = Schema::from_toml(&one)
        .unwrap()
        .attributes
        .remove(1)
        .missing;
    assert_eq!(marks.marks(), ["99"]);
    for wrong in ["[[0], 1]", "[nan, 1]", "[2020-01-01, 1]"] {
        let wrong = PEOPLE.replace("[\"low\", \"high\"]", wrong);
        let error = Schema::from_toml(&wrong).unwrap_err().to_string();
        assert!(error.contains("a word"), "{error}");
    }
}

#[test]
fn every_kind_encodes_and_decodes() {
    let schema = people();
    let [age, sex, gain] = [0, 1, 2].map(|i| Encoder::new(&schema.attributes[i]));
    assert_eq!(age.encode("40"), Ok(Encoded::Code(40)));
    assert_eq!(age.encode("40.0"), Ok(Encoded::Code(40)));
    assert!(age.encode("16").unwrap_err().contains("17 to 90"));
    assert!(age.encode("NaN").is_err());
    assert_eq!(sex.encode("Male"), Ok(Encoded::Code(1)));
    assert_eq!(sex.encode("?"), Ok(Encoded::Mapped(2)));
    assert_eq!(gain.encode("0"), Ok(Encoded::Code(0)));
    assert_eq!(gain.encode("1"), Ok(Encoded::Code(1)));
    assert_eq!(gain.encode("100000"), Ok(Encoded::Code(2)));
    assert_eq!(gain.encode("1e9"), Ok(Encoded::Mapped(2)));
    assert_eq!(gain.encode("-3"), Ok(Encoded::Mapped(0)));
    assert!(gain.encode("inf").is_err());
    for attribute in &schema.attributes {
        let encoder = Encoder::new(attribute);
        let (min, max) = attribute.domain();
        for code in min..=max {
            let (Ok(Encoded::Code(back)) | Ok(Encoded::Mapped(back))) =
                encoder.encode(&attribute.decode(code))
            else {
                panic!("{} of {}", code, attribute.name);
            };
            assert_eq!(back, code, "{}", attribute.name);
        }
    }
}

#[test]
fn a_bin_is_shown_as_its_value_where_it_has_one() {
    let values = "values = [0.25, 7.5, 100000.0]\noutside = \"clip\"";
    let schema = Schema::from_toml(&PEOPLE.replace("outside = \"clip\"", values)).unwrap();
    let again = Schema::from_toml(&schema.to_toml().unwrap()).unwrap();
    assert_eq!(schema, again);
    let gain = &schema.attributes[2];
    let shown: Vec<String> = (0..3).map(|code| gain.decode(code)).collect();
    assert_eq!(shown, ["0.25", "7.5", "100000"]);
    let lowest: Vec<String> = (0..3).map(|code| gain.lowest(code)).collect();
    assert_eq!(lowest, ["0", "1", "1000"]);
    assert_eq!(gain.between(1, 1), "1 to below 1000");
    assert_eq!(gain.between(0, 2), "0 to 100000");
    let encoder = Encoder::new(gain);
    for (code, text) in shown.iter().enumerate() {
        assert_eq!(encoder.encode(text), Ok(Encoded::Code(code as i32)));
    }
    assert_eq!(
        people().attributes[2].decode(1),
        "1",
        "else as its lower edge"
    );
}

#[test]
fn classes_that_are_numbers_have_many_spellings() {
    let mut label = people().label;
    label.classes = ["0", "1", "many"].map(str::to_owned).to_vec();
    for (cell, code) in [
        ("0", Some(0)),
        ("0.0", Some(0)),
        ("-0", Some(0)),
        ("1.0", Some(1)),
        ("1e0", Some(1)),
        ("many", Some(2)),
        ("2", None),
        ("", None),
        ("nan", None),
    ] {
        assert_eq!(label.code(cell), code, "{cell}");
    }
    // A name counts before a number.
    label.aliases.insert("1.0".to_owned(), "many".to_owned());
    assert_eq!(label.code("1.0"), Some(2));
}

#[test]
fn problems_are_named() {
    for (from, to, needle) in [
        ("\"low\", \"high\"", "\"1\", \"1.0\"", "one number"),
        ("min = 17", "min = 99", "above max"),
        ("levels = [\"Female\", \"Male\"]", "levels = []", "levels"),
        ("\"Female\", \"Male\"", "\"Male\", \"Male\"", "twice"),
        ("1.0, 1000.0", "1000.0, 1.0", "ascend"),
        ("\"low\", \"high\"", "\"low\"", "two classes"),
        ("name = \"gain\"", "name = \"age\"", "two columns"),
        ("max = 90", "max = 90000000", "too many"),
        ("protected = true", "protectd = true", "protectd"),
        (
            "min = 17",
            "min = 17\nordered = true",
            "'ordered' has no meaning",
        ),
        (
            "[label]",
            "[format]\nescape = \"é\"\n[label]",
            "escape must be one",
        ),
        (
            "[label]",
            "[format]\nescape = '\"'\n[label]",
            "another character",
        ),
        ("min = 17\n", "", "needs 'min'"),
        ("kind = \"integer\"", "kind = \"real\"", "'real'"),
        (
            "min = 17",
            "min = 17\nvalues = [1]",
            "'values' has no meaning",
        ),
        (
            "outside = \"clip\"",
            "values = [0, 5]",
            "2 numbers for 3 bins",
        ),
        (
            "outside = \"clip\"",
            "values = [0, 1000, 2000]",
            "1000 does not lie in its bin, from 1 to 1000",
        ),
        (
            "outside = \"clip\"",
            "values = [0, 1, nan]",
            "NaN does not lie in its bin",
        ),
    ] {
        let error = Schema::from_toml(&PEOPLE.replacen(from, to, 1)).unwrap_err();
        assert!(error.to_string().contains(needle), "{error}");
    }
}

#[test]
fn several_marks_and_spellings_are_read() {
    let text = PEOPLE.replace(
        "missing = \"?\"",
        "missing = [\"NA\", \"?\", \"-1\"]\nmerge = { \"male\" = \"Male\", \"MALE\" = \"Male\" }",
    );
    let schema = Schema::from_toml(&text).unwrap();
    let again = Schema::from_toml(&schema.to_toml().unwrap()).unwrap();
    assert_eq!(schema, again);
    let sex = Encoder::new(&schema.attributes[1]);
    for cell in ["NA", "?", "", "-1", "-1.0", "other"] {
        assert_eq!(sex.encode(cell), Ok(Encoded::Mapped(2)), "{cell}");
    }
    for cell in ["Male", "male", "MALE"] {
        assert_eq!(sex.encode(cell), Ok(Encoded::Code(1)), "{cell}");
    }
    assert_eq!(schema.attributes[1].decode(2), "NA");
    // A blank among numbers is missing where there is a mark.
    let gain = "outside = \"level\"\nmissing = [\"NA\", \"8888888\"]";
    let schema = Schema::from_toml(&PEOPLE.replace("outside = \"clip\"", gain)).unwrap();
    let gain = Encoder::new(&schema.attributes[2]);
    assert!(!gain.takes_numbers());
    for cell in ["NA", "", "8888888", "8888888.0"] {
        assert_eq!(gain.encode(cell), Ok(Encoded::Mapped(3)), "{cell}");
    }
    assert_eq!(gain.encode("7"), Ok(Encoded::Code(1)));
    assert!(gain.encode("N/A").is_err());
    // A mark that is a number is clipped as one, however it is written.
    let gain = "outside = \"clip\"\nmissing = [\"NA\", \"-50 %\", \"$8,888,888\", \"-1\"]";
    let schema = Schema::from_toml(&PEOPLE.replace("outside = \"clip\"", gain)).unwrap();
    let gain = Encoder::new(&schema.attributes[2]);
    let form = NumberForm {
        decimal: '.',
        thousands: Some(','),
    };
    for (cell, code) in [("-50 %", 0), ("$8,888,888", 2), ("-1", 0)] {
        assert_eq!(
            gain.encode_in(cell, form),
            Ok(Encoded::Mapped(code)),
            "{cell}"
        );
    }
    assert!(gain.encode_in("NA", form).is_err());
    for (from, to, needle) in [
        ("missing = \"?\"", "missing = [\"?\", \"?\"]", "twice"),
        (
            "missing = \"?\"",
            "missing = [\"?\", \"Male\"]",
            "'Male' is a value",
        ),
        (
            "missing = \"?\"",
            "merge = { \"m\" = \"Man\" }",
            "'Man', which is not listed",
        ),
        (
            "missing = \"?\"",
            "merge = { \"Female\" = \"Male\" }",
            "take it off",
        ),
        (
            "min = 17",
            "min = 17\nmerge = { \"a\" = \"b\" }",
            "'merge' has no meaning",
        ),
        (
            "classes = [\"low\", \"high\"]",
            "classes = [\"low\", \"high\"]\nmissing = \"low\"",
            "'low' is a value",
        ),
    ] {
        let error = Schema::from_toml(&PEOPLE.replacen(from, to, 1)).unwrap_err();
        assert!(error.to_string().contains(needle), "{error}");
    }
}

#[test]
fn names_and_levels_are_the_same_in_every_unicode_form() {
    let text = PEOPLE
        .replace("Female", "Ne\u{301}e")
        .replace("name = \"age\"", "name = \"a\u{302}ge\"");
    let schema = Schema::from_toml(&text).unwrap();
    assert_eq!(schema.index_of("\u{e2}ge").unwrap(), 0);
    let sex = Encoder::new(&schema.attributes[1]);
    for cell in ["Ne\u{301}e", "N\u{e9}e"] {
        assert_eq!(sex.encode(cell), Ok(Encoded::Code(0)));
    }
    let label = Label::of_classes("x", vec!["non".into(), "accorde\u{301}".into()]);
    assert_eq!(label.code("accord\u{e9}"), Some(1));
}

/// Returns `PEOPLE` with levels beside its numbers.
fn beside(of_age: &str, of_gain: &str) -> Result<Schema, SchemaError> {
    let text = PEOPLE
        .replace("max = 90", &format!("max = 90\n{of_age}"))
        .replace("outside = \"clip\"", of_gain);
    Schema::from_toml(&text)
}

#[test]
fn levels_beside_numbers_have_codes_above_them() {
    let of_age = "levels = [\"Exempt\", \"8888\", \"-1\"]\noutside = \"level\"\nmissing = \"NA\"";
    let schema = beside(
        of_age,
        "levels = [\"caf\u{e9}\", \"-1.5\"]\noutside = \"clip\"",
    )
    .unwrap();
    let again = Schema::from_toml(&schema.to_toml().unwrap()).unwrap();
    assert_eq!(schema, again);
    let (age, gain) = (&schema.attributes[0], &schema.attributes[2]);
    assert_eq!(age.ordered_domain(), (17, 90));
    assert_eq!(age.declared_domain(), (17, 93));
    assert_eq!(age.domain(), (17, 94));
    assert_eq!(age.levels(), 78);
    assert!(age.are_ordered(&[17, 90]) && !age.are_ordered(&[90, 91]));
    let encoder = Encoder::new(age);
    for (cell, code) in [
        ("90", 90),
        ("Exempt", 91),
        ("8888", 92),
        ("8888.0", 92),
        ("-1", 93),
    ] {
        assert_eq!(encoder.encode(cell), Ok(Encoded::Code(code)), "{cell}");
    }
    for cell in ["NA", "", "8887", "91"] {
        assert_eq!(encoder.encode(cell), Ok(Encoded::Mapped(94)), "{cell}");
    }
    assert_eq!(encoder.encode_number(8888.0), Ok(Encoded::Code(92)));
    assert!(
        encoder
            .encode("exempt")
            .unwrap_err()
            .contains("one of Exempt, 8888, -1")
    );
    assert_eq!(age.decode(91), "Exempt");
    assert_eq!(age.between(17, 90), "17 \u{2013} 90");
    assert_eq!(age.between(92, 92), "8888");
    assert_eq!(gain.ordered_domain(), (0, 2));
    assert_eq!(gain.domain(), (0, 4));
    let encoder = Encoder::new(gain);
    assert_eq!(encoder.encode("cafe\u{301}"), Ok(Encoded::Code(3)));
    assert_eq!(encoder.encode("-1.50"), Ok(Encoded::Code(4)));
    // What is clipped moves among the numbers.
    assert_eq!(encoder.encode("-2"), Ok(Encoded::Mapped(0)));
    assert_eq!(encoder.encode("1e9"), Ok(Encoded::Mapped(2)));
}

#[test]
fn levels_beside_numbers_lie_outside_of_them() {
    let of_gain = "outside = \"clip\"";
    for (levels, problem) in [
        ("levels = [\"40\"]", "'40' is one of the numbers"),
        ("levels = [\"40.0\"]", "'40.0' is one of the numbers"),
        ("levels = [\"x\", \"x\"]", "'x' is listed twice"),
        (
            "levels = [\"8888\", \"8888.0\"]",
            "'8888.0' is listed twice",
        ),
        ("levels = [\" x\"]", "blanks around it"),
        ("levels = [\"\"]", "is empty"),
        ("levels = [\"NA\"]\nmissing = \"NA\"", "NA"),
    ] {
        let error = beside(levels, of_gain).unwrap_err().to_string();
        assert!(error.contains(problem), "{levels}: {error}");
    }
    let error = beside("", "levels = [\"500.5\"]").unwrap_err().to_string();
    assert!(error.contains("one of the numbers"), "{error}");
    let mut schema = people();
    schema.attributes[1].named = vec!["Other".to_owned()];
    assert!(schema.check().is_err());
}

#[test]
fn codes_of_random_attributes_with_levels_beside_numbers_come_back() {
    use probity_run::stream::{Purpose, stream};
    use rand::RngExt;
    use rand::seq::SliceRandom;

    let mut draw = stream(8, Purpose::UniformInput, 0, 0);
    let words = [
        "Exempt",
        "8888",
        "9999.5",
        "-1",
        "-7.25",
        "refused",
        "\u{e9}t\u{e9}",
        "1111",
    ];
    for _ in 0..500 {
        let min = draw.random_range(0..40);
        let max = min + draw.random_range(0..50);
        let mut named = words.map(str::to_owned).to_vec();
        named.shuffle(&mut draw);
        named.truncate(draw.random_range(0..=words.len()));
        let mut attribute = people().attributes[0].clone();
        attribute.kind = match draw.random_range(0..2) {
            0 => Kind::Integer { min, max },
            _ => Kind::Numeric {
                bins: (min..=max + 1).map(f64::from).collect(),
                values: None,
            },
        };
        attribute.named = named;
        attribute.outside = match draw.random_range(0..2) {
            0 => OutOfDomain::Level,
            _ => OutOfDomain::Reject,
        };
        if draw.random_range(0..2) == 0 {
            attribute.missing = ["NA".to_owned()].into_iter().collect();
        }
        attribute.check().unwrap();
        let encoder = Encoder::new(&attribute);
        let (first, last) = attribute.domain();
        for code in first..=last {
            let text = attribute.decode(code);
            let (Ok(Encoded::Code(back)) | Ok(Encoded::Mapped(back))) = encoder.encode(&text)
            else {
                panic!("'{text}' of {attribute:?}");
            };
            assert_eq!(back, code, "'{text}' of {attribute:?}");
        }
    }
}

const SPREAD: &str = r#"
name = "people"
[format.spread.race]
columns = ["race_White", "race_Black"]
levels = ["White", "Black"]
base = "Other"
[label]
name = "income"
classes = ["low", "high"]
[[attribute]]
name = "race"
kind = "categorical"
levels = ["Black", "White", "Other"]
[[attribute]]
name = "age"
kind = "integer"
min = 17
max = 90
"#;

#[test]
fn an_attribute_may_be_spread_over_columns() {
    let schema = Schema::from_toml(SPREAD).unwrap();
    assert_eq!(
        schema.format.spread["race"].columns,
        ["race_White", "race_Black"],
        "in the order in which they are written"
    );
    let again = Schema::from_toml(&schema.to_toml().unwrap()).unwrap();
    assert_eq!(schema, again);
    let json = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
    assert!(!people().to_toml().unwrap().contains("spread"));
    let without_header = "[format]\nheader = false\ncolumns = ";
    let named = |columns: &str| {
        let format = format!("{without_header}{columns}\n[format.spread.race]");
        Schema::from_toml(&SPREAD.replace("[format.spread.race]", &format))
    };
    named(r#"["race_White", "age", "race_Black", "income"]"#).unwrap();
    let error = named(r#"["race", "age", "race_Black", "income"]"#).unwrap_err();
    assert!(error.to_string().contains("'race_White'"), "{error}");
}

#[test]
fn a_spread_must_be_that_of_its_attribute() {
    for (from, to, needle) in [
        (
            "spread.race]",
            "spread.sex]",
            "spread.sex: there is no attribute",
        ),
        ("spread.race]", "spread.age]", "must be categorical"),
        (
            "\"race_White\", \"race_Black\"",
            "\"race_White\"",
            "each column has its level",
        ),
        (
            "\"race_White\", \"race_Black\"",
            "\"a\", \"a\"",
            "'a' stands elsewhere",
        ),
        ("\"race_White\"", "\"age\"", "'age' stands elsewhere"),
        ("\"race_White\"", "\"income\"", "'income' stands elsewhere"),
        ("base = \"Other\"", "", "must be the same"),
        ("base = \"Other\"", "base = \"White\"", "must be the same"),
        ("base = \"Other\"", "bas = \"Other\"", "unknown field"),
    ] {
        assert!(SPREAD.contains(from), "{from}");
        let error = Schema::from_toml(&SPREAD.replace(from, to)).unwrap_err();
        assert!(error.to_string().contains(needle), "{to}: {error}");
    }
}
