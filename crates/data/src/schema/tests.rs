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
            "min = 17\nlevels = [\"a\"]",
            "'levels' has no meaning",
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
