use super::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Inner {
    /// How many.
    #[schemars(range(min = 1))]
    seeds: u32,
    /// Shares.
    shares: Vec<f64>,
    /// Seconds.
    batch: Option<u32>,
    /// How deep.
    #[schemars(range(min = 1, max = 100))]
    depth: u32,
}

impl Default for Inner {
    fn default() -> Inner {
        Inner {
            seeds: 1,
            shares: Vec::new(),
            batch: None,
            depth: 7,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Whole {
    /// What is read.
    data: String,
    #[serde(default)]
    #[schemars(extend("x-flag" = "yes"))]
    is_so: bool,
    #[serde(default)]
    inner: Inner,
}

impl Specification for Whole {
    const KIND: &'static str = "whole";
    const FREE: &'static [&'static str] = &["inner.batch"];

    fn rules(&self) -> Result<(), FieldError> {
        match self.is_so && self.inner.depth != 7 {
            true => Err(FieldError::new(
                "inner.depth",
                "given",
                "left out with is_so",
            )),
            false => Ok(()),
        }
    }
}

/// A value that is the default says nothing to a specification, but somebody meant something by
/// it.
#[test]
fn an_option_without_a_meaning_is_refused_at_its_default_too() {
    let of = |words: &[&str]| parsed(words).unwrap().specification();
    for depth in ["7", "8"] {
        let refused = of(&["--data", "x", "--yes", "--depth", depth]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "--depth is given, but must be left out with is_so"
        );
        assert!(of(&["--data", "x", "--depth", depth]).is_ok());
    }
    assert!(of(&["--data", "x", "--yes"]).is_ok());
}

fn parsed(words: &[&str]) -> Result<Fields<Whole>, clap::Error> {
    let command = Fields::<Whole>::augment_args(Command::new("test").no_binary_name(true));
    Fields::from_arg_matches(&command.try_get_matches_from(words)?)
}

#[test]
fn arguments_become_a_specification() {
    let words = [
        "--data", "x", "--seeds", "3", "--shares", "0.1,0.2", "--yes",
    ];
    let whole = parsed(&words)
        .unwrap()
        .specification()
        .unwrap()
        .into_inner();
    assert_eq!(
        whole,
        Whole {
            data: "x".into(),
            is_so: true,
            inner: Inner {
                seeds: 3,
                shares: vec![0.1, 0.2],
                batch: None,
                depth: 7,
            }
        }
    );
    let refused = |words: &[&str]| {
        parsed(words)
            .unwrap()
            .specification()
            .unwrap_err()
            .to_string()
    };
    assert_eq!(refused(&["--seeds", "3"]), "--data is needed: What is read");
    assert_eq!(
        refused(&["--data", "x", "--seeds", "0"]),
        "--seeds is 0, but must be at least 1"
    );
    assert!(parsed(&["--seeds", "many"]).is_err());
}

#[test]
fn a_resumed_run_keeps_what_determines_it() {
    let began = parsed(&["--data", "x", "--seeds", "3"]).unwrap();
    let began = began.specification().unwrap();
    let resumed = parsed(&["--batch", "7"]).unwrap().resumed(&began).unwrap();
    assert_eq!((resumed.inner.seeds, resumed.inner.batch), (3, Some(7)));
    let refused = parsed(&["--seeds", "4"])
        .unwrap()
        .resumed(&began)
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("--seeds cannot be given with --resume")
    );
}
