//! Edges of the command: values at the ends of their types, and what is easily ignored by mistake.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::{SCHEMA, people, people_and_model, refuses};

/// Empty lines and comments are no rows, but they are lines.
#[test]
fn line_numbers_count_every_line() {
    let workspace = people();
    let line = "train --data bad.csv --schema people.toml --out out";
    for (text, place) in [
        ("age,wage,sex,income\n\n\n91,1,male,low\n", "line 4,"),
        (
            "age,wage,sex,income\n40,1,male,low\n\n41,2,female\n",
            "line 4:",
        ),
        (
            "age,wage,sex,income\n40,1,\"male\n\",low\n91,2,female,low\n",
            "line 4,",
        ),
    ] {
        workspace.write("bad.csv", text);
        refuses(&workspace, line, 2, &["bad.csv", place]);
    }
}

/// A misspelt key would otherwise leave an attribute unprotected without a word.
#[test]
fn misspelt_keys_of_an_attribute() {
    let workspace = people();
    workspace.edit("people.toml", "protected = true", "protcted = true");
    let line = "train --data people.csv --schema people.toml --out out";
    refuses(&workspace, line, 2, &["people.toml", "protcted"]);
}

/// A split that leaves nothing to learn from is found before anything is written.
#[test]
fn a_split_without_two_classes() {
    let workspace = people();
    let line = "train --data people.csv --schema people.toml --out out --test 0.75";
    refuses(&workspace, line, 2, &["training part", "--test"]);
}

/// Times beyond what a clock can count to are refused, and the longest one is no reason to panic.
#[test]
fn an_enormous_time() {
    let workspace = people_and_model();
    let line = "audit --model model --data people.csv --out out --local 1 --estimate 50 --time";
    for time in ["18446744073709551615s", "367d"] {
        refuses(
            &workspace,
            &format!("{line} {time}"),
            2,
            &["--time", "at most 366 days"],
        );
    }
    workspace.line(&format!("{line} 366d")).exits(0);
    workspace.line("verify out").exits(0);
}

/// A width that no memory holds is refused, not a panic.
#[test]
fn enormous_networks() {
    let workspace = people();
    let train = "train --data people.csv --schema people.toml --out out";
    for (more, needle) in [
        ("--hidden 9223372036854775807", "--hidden"),
        (
            "--categories embed:9223372036854775807",
            "a length from 1 to 8192",
        ),
    ] {
        refuses(&workspace, &format!("{train} {more}"), 2, &[needle]);
    }
}

/// The level for outside values needs a code above the domain.
#[test]
fn no_code_is_left_for_a_level() {
    let workspace = people();
    workspace.edit(
        "people.toml",
        "min = 17\nmax = 90\n",
        "min = 2147483000\nmax = 2147483647\noutside = \"level\"\n",
    );
    let line = "schema check people.csv --schema people.toml";
    refuses(&workspace, line, 2, &["people.toml", "'age'", "2147483647"]);
}

/// A missing marker that is also a value of the domain, or a level that no trimmed cell can equal,
/// would make samples that do not read back as what was searched.
#[test]
fn values_that_do_not_read_back() {
    let workspace = people();
    let line = "schema check people.csv --schema bad.toml";
    for (from, to, needle) in [
        ("max = 90\n", "max = 90\nmissing = \"90\"\n", "'90'"),
        ("protected = true\n", "missing = \"male\"\n", "'male'"),
        ("\"male\"", "\"male \"", "'male '"),
        (
            "\"male\"]\n",
            "\"male\", \"(other)\"]\noutside = \"level\"\n",
            "(other)",
        ),
    ] {
        workspace.write("bad.toml", SCHEMA.replacen(from, to, 1));
        refuses(&workspace, line, 2, &["bad.toml", needle]);
    }
}

/// An attribute may be called `label`: its columns in the samples are still its own.
#[test]
fn an_attribute_called_label() {
    let workspace = people();
    workspace.edit("people.toml", "\"wage\"", "\"label\"");
    workspace.edit("people.csv", "wage", "label");
    workspace
        .line("train --data people.csv --schema people.toml --out model --hidden 4 --epochs 1 --test 0 --validation 0")
        .exits(0);
    for format in ["csv", "parquet"] {
        let audit = "audit --model model --data people.csv --local 5 --estimate 100";
        workspace
            .line(&format!("{audit} --samples {format} --out {format}"))
            .exits(0);
        workspace.line(&format!("verify {format}")).exits(0);
    }
}

/// The demo's audit can be verified from any folder.
#[test]
fn the_demo_from_elsewhere() {
    let workspace = Workspace::with_demo(200);
    let elsewhere = Workspace::new();
    let run = workspace.path("demo/audit").display().to_string();
    elsewhere.run(["verify", &run]).exits(0);
}
