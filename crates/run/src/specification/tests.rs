use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

use super::file::{Record, read, to_toml};
use super::*;

/// How a thing is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Way {
    /// Without haste.
    VerySlow,
    /// At once.
    Fast,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Search {
    /// Where it begins.
    ///
    /// More about that.
    #[schemars(range(min = 1, max = 1000))]
    seeds: usize,
    /// Share that is enough.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1.0))]
    share: Option<f64>,
    /// Time at most.
    time: Option<Seconds>,
    /// The way.
    way: Option<Way>,
}

impl Default for Search {
    fn default() -> Search {
        Search {
            seeds: 10,
            share: None,
            time: None,
            way: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Example {
    /// What is read.
    #[schemars(extend("format" = "path", "x-names" = ["shipped"]))]
    data: std::path::PathBuf,
    /// What it is drawn from.
    #[serde(default)]
    #[schemars(extend("format" = "path", "x-prefix" = "net:"))]
    drawn: Option<String>,
    /// Widths.
    #[serde(default)]
    #[schemars(inner(range(min = 1)))]
    widths: Vec<u32>,
    /// Whether it is so.
    #[serde(default)]
    is_so: bool,
    #[serde(default)]
    search: Search,
}

impl Specification for Example {
    const KIND: &'static str = "example";
    const FREE: &'static [&'static str] = &["search.time"];

    fn rules(&self) -> Result<(), FieldError> {
        match self.is_so && self.search.seeds > 100 {
            true => Err(FieldError::new("is_so", true, "false for many seeds")),
            false => Ok(()),
        }
    }
}

fn example(more: serde_json::Value) -> Example {
    let mut value = json!({ "data": "a.csv" });
    if let (Some(value), serde_json::Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    serde_json::from_value(value).unwrap()
}

#[test]
fn fields_come_from_the_type() {
    let fields = Example::fields();
    let field = |path: &str| fields.iter().find(|field| field.path == path).unwrap();
    assert_eq!(field("data").kind, FieldKind::Path);
    assert!(field("data").is_required && !field("widths").is_required);
    assert_eq!(
        field("widths").kind,
        FieldKind::List(Box::new(FieldKind::Integer))
    );
    assert_eq!(field("is_so").kind, FieldKind::Bool);
    let seeds = field("search.seeds");
    assert_eq!(seeds.help, "Where it begins.");
    assert_eq!(seeds.default, Some(json!(10)));
    assert_eq!(seeds.expected(), "from 1 to 1000");
    assert_eq!(field("search.share").kind, FieldKind::Number);
    assert_eq!(field("search.share").expected(), "above 0 and at most 1");
    assert_eq!(field("search.share").default, None);
    let FieldKind::Choice(ways) = &field("search.way").kind else {
        panic!("{:?}", field("search.way"));
    };
    assert_eq!(ways[0].word, "very-slow");
    assert_eq!(ways[0].help, "Without haste.");
    assert_eq!(field("search.time").kind, FieldKind::Time);
    assert_eq!(fields.len(), 8);
}

#[test]
fn paths_are_located_and_names_are_not() {
    let fields = Example::fields();
    let field = |path: &str| fields.iter().find(|field| field.path == path).unwrap();
    let folder = std::env::temp_dir();
    for (path, given, expected) in [
        ("data", "a.csv", folder.join("a.csv").to_str().unwrap()),
        (
            "data",
            "./b/a.csv",
            folder.join("b/a.csv").to_str().unwrap(),
        ),
        ("data", "shipped", "shipped"),
        (
            "data",
            "./shipped",
            folder.join("shipped").to_str().unwrap(),
        ),
        ("data", "", ""),
        (
            "drawn",
            "net:b",
            &format!("net:{}", folder.join("b").display()),
        ),
        ("drawn", "b", "b"),
        ("search.time", "a.csv", "a.csv"),
    ] {
        let mut value = json!(given);
        field(path).locate(&mut value, &folder);
        assert_eq!(value, json!(expected), "{given}");
    }
}

#[test]
fn bounds_and_rules_name_the_field() {
    let refused = |more| example(more).check().unwrap_err().to_string();
    assert!(example(json!({})).check().is_ok());
    assert_eq!(
        refused(json!({ "search": { "seeds": 0 } })),
        "search.seeds is 0, but must be from 1 to 1000"
    );
    assert_eq!(
        refused(json!({ "search": { "share": 0.0 } })),
        "search.share is 0, but must be above 0 and at most 1"
    );
    assert_eq!(
        refused(json!({ "widths": [3, 0] })),
        "widths is 0, but must be at least 1"
    );
    assert_eq!(
        refused(json!({ "is_so": true, "search": { "seeds": 200 } })),
        "is_so is true, but must be false for many seeds"
    );
    let limits = Limits::new()
        .at_most("search.seeds", 50.0)
        .at_most("widths", 1.0);
    assert!(limits.check(&example(json!({}))).is_ok());
    assert!(
        limits
            .check(&example(json!({ "search": { "seeds": 51 } })))
            .is_err()
    );
    assert!(limits.check(&example(json!({ "widths": [1, 2] }))).is_err());
}

#[test]
fn the_identity_is_that_of_what_is_said() {
    let identity = |more| example(more).identity();
    let own = identity(json!({}));
    // Pinned: a change of it makes every checkpoint foreign, which only a new VERSION may do.
    assert_eq!(own, identity(json!({ "search": { "seeds": 10 } })));
    assert_eq!(own, identity(json!({ "search": { "time": "5m" } })));
    assert_ne!(own, identity(json!({ "search": { "seeds": 11 } })));
    assert_ne!(own, identity(json!({ "is_so": true })));
    let canonical = canonical_json(&json!({ "b": [1, null, { "z": 1, "a": null }], "a": "x\"" }));
    assert_eq!(canonical, r#"{"a":"x\"","b":[1,null,{"z":1}]}"#);
    assert_eq!(
        own,
        "f1d05df652702aef3444349aa8bfdfecebfe7b2a28c76b574b5858ceacbad2df"
    );
}

#[test]
fn files_are_read_back_and_slips_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.toml");
    let whole = example(json!({ "widths": [4], "search": { "time": "90s", "way": "fast" } }));
    let record = Record::new().opened("data", "00ff");
    std::fs::write(&file, to_toml(&whole, Some(&record)).unwrap()).unwrap();
    assert_eq!(read::<Example>(&file).unwrap(), (whole, Some(record)));
    let run = crate::run_directory::RunDirectory::create(&folder.path().join("run")).unwrap();
    run.write_run(
        &example(json!({ "search": { "seeds": 11 } })),
        &Record::new(),
    )
    .unwrap();
    let (_, written) = read::<Example>(&run.file("run.toml")).unwrap();
    assert_eq!(written.unwrap().changed, ["data", "search.seeds"]);
    let refused = |text: &str| {
        std::fs::write(&file, text).unwrap();
        read::<Example>(&file).unwrap_err().to_string()
    };
    assert!(refused("data = 'x'").contains("names no kind"));
    assert!(refused("kind = 'other'").contains("'other', not 'example'"));
    assert!(refused("kind = 'example'\nversion = 9\ndata = 'x'").contains("version 9"));
    for (line, expected) in [
        ("", "data is missing, but must be given"),
        (
            "data = 'x'\nsearch.sedes = 3",
            "search.sedes is unknown, but must be one of seeds, share, time, way",
        ),
        ("data = 3", "data is 3, but must be a text"),
        (
            "data = 'x'\nrecord.probity_version = 3",
            "record.probity_version is 3, but must be a text",
        ),
    ] {
        let whole = format!("{}: {expected}", file.display());
        assert_eq!(refused(&format!("kind = 'example'\n{line}")), whole);
    }
}

/// A run of a service is opened from anywhere, and other relative paths stay as they are.
#[test]
fn paths_that_begin_above_a_run_are_seen_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs/one");
    let run = crate::run_directory::RunDirectory::create(&path).unwrap();
    for (data, seen) in [
        ("../../data/a.csv", path.join("../../data/a.csv")),
        ("data/a.csv", "data/a.csv".into()),
        ("shipped", "shipped".into()),
        ("/data/a.csv", "/data/a.csv".into()),
    ] {
        let whole = example(json!({ "data": data }));
        run.write_run(&whole, &Record::new()).unwrap();
        let opened = crate::run_directory::RunDirectory::open_specified::<Example>(&path);
        assert_eq!(opened.unwrap().1.data, seen);
        let (as_written, _) = read::<Example>(&run.file("run.toml")).unwrap();
        assert_eq!(as_written, whole);
    }
}

#[test]
fn a_value_without_meaning_is_named_by_its_field() {
    let whole = "a whole number, from 1 to 1000";
    for (more, field, value, expected) in [
        (
            json!({ "search": { "seeds": "many" } }),
            "search.seeds",
            "'many'",
            whole,
        ),
        (
            json!({ "search": { "seeds": -3 } }),
            "search.seeds",
            "-3",
            whole,
        ),
        (
            json!({ "search": { "share": true } }),
            "search.share",
            "true",
            "a number, above 0 and at most 1",
        ),
        (
            json!({ "search": { "time": "soon" } }),
            "search.time",
            "'soon'",
            "a time above 0 such as 90s, 5m or 1h",
        ),
        (
            json!({ "search": { "way": "slow" } }),
            "search.way",
            "'slow'",
            "one of very-slow, fast",
        ),
        (json!({ "search": 3 }), "search", "3", "a table"),
        (json!({ "widths": 3 }), "widths", "3", "a list"),
        (
            json!({ "widths": [1, "x"] }),
            "widths",
            "'x'",
            "a whole number, at least 1",
        ),
        (json!({ "is_so": "yes" }), "is_so", "'yes'", "true or false"),
    ] {
        let mut specification = more;
        specification["data"] = "a.csv".into();
        let refused = Example::from_json(&specification).unwrap_err();
        assert_eq!(refused, FieldError::new(field, value, expected));
    }
}

#[test]
fn fields_are_given_by_any_of_their_names() {
    let named = |options: serde_json::Value| {
        let serde_json::Value::Object(options) = options else {
            panic!("{options}");
        };
        Given::<Example>::named(options)
    };
    let of = |options| named(options).unwrap().specification();
    let ten = of(json!({ "data": "a.csv", "seeds": 3, "way": null })).unwrap();
    assert_eq!(ten.search.seeds, 3);
    for options in [
        json!({ "data": "a.csv", "search.seeds": 3 }),
        json!({ "data": "a.csv", "search": { "seeds": 3, "share": null } }),
    ] {
        assert_eq!(of(options).unwrap(), ten);
    }
    for (options, said) in [
        (
            json!({ "data": "a.csv", "seed": 3 }),
            "there is no option 'seed'; is search.seeds meant?",
        ),
        (
            json!({ "data": "a.csv", "search": 3 }),
            "search is 3, but must be a table of fields",
        ),
        (
            json!({ "data": "a.csv", "search": { "depth": 3 } }),
            "there is no option 'search.depth'",
        ),
        (
            json!({ "data": "a.csv", "seeds": 0 }),
            "search.seeds is 0, but must be from 1 to 1000",
        ),
        (json!({ "seeds": 3 }), "data is needed: What is read"),
    ] {
        let error = named(options).and_then(|given| given.specification());
        assert_eq!(error.unwrap_err().to_string(), said);
    }
    // A number of seconds is a span of time, here by any of its names.
    for options in [
        json!({ "data": "a.csv", "time": 90 }),
        json!({ "data": "a.csv", "search.time": 90.0 }),
        json!({ "data": "a.csv", "search": { "time": 90 } }),
        json!({ "data": "a.csv", "time": "90s" }),
    ] {
        let time = of(options).unwrap().search.time;
        assert_eq!(time, Some(Duration::from_secs(90).into()));
    }
    let half = of(json!({ "data": "a.csv", "time": 0.5 })).unwrap();
    assert_eq!(half.search.time, Some(Duration::from_millis(500).into()));
    for (time, said) in [
        (json!(0), "search.time is 0, but must be a time above 0"),
        (json!(-3), "search.time is -3, but must be a time above 0"),
        (
            json!(1e-12),
            "search.time is 1e-12, but must be a time above 0",
        ),
        (
            json!(1e300),
            "search.time is 1e+300, but must be a time of at most 366 days",
        ),
        (
            json!(40_000_000),
            "search.time is 40000000, but must be a time of at most 366 days",
        ),
        (json!(true), "search.time is true, but must be a text"),
    ] {
        let refused = named(json!({ "data": "a.csv", "time": time }));
        let refused = refused.and_then(|given| given.specification()).unwrap_err();
        assert!(refused.to_string().starts_with(said), "{refused}");
    }
    // A run that goes on may be asked for what it is.
    let again = named(json!({ "data": "a.csv", "seeds": 3, "time": "5s" })).unwrap();
    let resumed = again.changes(&ten).resumed(&ten).unwrap();
    assert!(resumed.search.time.is_some());
    let other = named(json!({ "data": "b.csv" })).unwrap().changes(&ten);
    let refused = other.resumed(&ten).unwrap_err().to_string();
    assert!(refused.starts_with("data cannot be given"), "{refused}");
}
