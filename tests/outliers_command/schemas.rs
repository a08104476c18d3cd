//! Ranges and units that schemas declare.

use std::fmt::Write;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use crate::{QUERY, workspace};

/// Distances are in the units of the values, whatever kind of attribute a schema makes of them.
#[test]
fn levels_that_are_numbers_are_these_numbers() {
    let workspace = Workspace::new();
    let rows = (0..90).fold("hours,size,town,code\n".to_owned(), |mut text, at| {
        let size = ["small", "middle", "large"][at % 3];
        let town = ["Ulm", "Bonn"][at % 2];
        writeln!(
            text,
            "{}.0,{size},{town},{}",
            6 * (at % 10),
            10 + 7 * (at % 2)
        )
        .unwrap();
        text
    });
    workspace.write("d.csv", rows);
    let category = |name: &str, levels: &str, ordered: bool| {
        format!(
            "[[attribute]]\nname = \"{name}\"\nkind = \"categorical\"\nlevels = [{levels}]\nordered = {ordered}\n"
        )
    };
    let schema = format!(
        "name = \"s\"\n[format]\nignore_other_columns = true\n[label]\nname = \"label\"\nclasses = [\"0\", \"1\"]\n{}{}{}{}",
        category(
            "hours",
            "\"0\", \"6\", \"12\", \"18\", \"24\", \"30\", \"36\", \"42\", \"48\", \"54\"",
            true
        ),
        category("size", "\"small\", \"middle\", \"large\"", true),
        category("town", "\"Bonn\", \"Ulm\"", false),
        category("code", "\"10\", \"17\"", false),
    );
    workspace.write("s.toml", schema);
    let declare = "outliers budget --data d.csv --epsilon 9 --delta 0.5 --ledger";
    workspace
        .line(&format!("{declare} budget.toml --schema s.toml"))
        .exits(0)
        .says(&["numeric throughout: hours, size."]);
    workspace
        .line(&format!("{declare} plain.toml"))
        .exits(0)
        .says(&["numeric throughout: hours, code."]);
    for column in ["town", "code"] {
        refuses(
            &workspace,
            &format!("{declare} no.toml --schema s.toml --columns hours,{column}"),
            2,
            &["unordered category"],
        );
    }
    // Six units apart: within a radius of 5 there are the others of the same value alone.
    let exact = |options: &str| {
        let line = format!("outliers exact --data d.csv --columns hours --k 10 --json {options}");
        workspace.line(&line).exits(0).json()["count"].clone()
    };
    for (radius, outliers) in [("5", 90), ("7", 0)] {
        for schema in ["", "--schema s.toml"] {
            let options = format!("--range hours=0,60,1 --radius {radius} {schema}");
            assert_eq!(exact(&options), outliers, "{options}");
        }
    }
    // The range of the schema is 54 wide, in hours as well.
    assert_eq!(exact("--schema s.toml --radius 0.12"), 0);
    assert_eq!(exact("--schema s.toml --radius 0.10"), 90);

    // What is asked for, and refused, before anything is opened or paid for.
    let ledger = workspace.read("budget.toml");
    let ask = |columns: &str, rest: &str| {
        format!("outliers count --data gone.csv --columns {columns} {QUERY} {rest}")
    };
    for (columns, rest, needle) in [
        (
            "size",
            "--range size=0,2",
            "'size' holds words (small … large)",
        ),
        (
            "size",
            "--range size=0,2 --schema s.toml",
            "'size' holds words",
        ),
        (
            "town",
            "--range town=0,1",
            "'town' is an unordered category",
        ),
        ("town", "--schema s.toml", "'town' is an unordered category"),
        (
            "code",
            "--range code=0,20",
            "'code' is an unordered category",
        ),
        (
            "code",
            "--range code=0,20 --ledger plain.toml --schema s.toml",
            "'code' is an unordered category",
        ),
        (
            "hours",
            "--range hours=0,60 --range hours=0,1",
            "'hours' has two ranges",
        ),
    ] {
        let mut line = ask(columns, rest);
        if rest.contains("plain.toml") {
            line = line.replace("--ledger budget.toml", "");
        }
        refuses(&workspace, &line, 2, &[needle]);
        let subspaces = line
            .replace("outliers count", "outliers subspaces --dims 1 --top 1")
            .replace("--delta 0.01", "");
        refuses(&workspace, &subspaces, 2, &[needle]);
    }
    assert_eq!(workspace.read("budget.toml"), ledger);
    for (columns, rest) in [
        ("hours", "--range hours=0,60,17"),
        ("hours,size", "--schema s.toml"),
        ("hours,size", "--schema s.toml --range hours=0,60"),
    ] {
        let line = ask(columns, rest).replace("gone.csv", "d.csv");
        workspace.line(&line).exits(0);
    }
}

#[test]
fn a_schema_declares_ranges() {
    let workspace = workspace();
    workspace.write(
        "s.toml",
        "name = \"s\"\n[format]\nignore_other_columns = true\n[label]\nname = \"name\"\nclasses = [\"inlier\", \"outlier\"]\n\
         [[attribute]]\nname = \"x\"\nkind = \"numeric\"\nbins = [0.0, 5.0, 10.0]\n\
         [[attribute]]\nname = \"y\"\nkind = \"integer\"\nmin = 0\nmax = 10\n\
         [[attribute]]\nname = \"c\"\nkind = \"categorical\"\nlevels = [\"a\", \"b\"]\n",
    );
    let line = |columns: &str| {
        format!(
            "outliers exact --data d.csv --schema s.toml --columns {columns} --radius 0.05 --k 3"
        )
    };
    // The unit is the width of a range: 0.05 of 10 is the 0.5 of the other tests.
    workspace
        .line(&line("x,y"))
        .exits(0)
        .says(&["5 of 65 records"]);
    refuses(
        &workspace,
        &line("x,c"),
        2,
        &["'c' is an unordered category"],
    );
    refuses(
        &workspace,
        &line("x,q"),
        2,
        &["nothing is declared about the column 'q'"],
    );
}
