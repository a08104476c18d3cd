//! What the tests of bad input share: a small table with its schema and model, and the expectation
//! that nothing is written.

use super::{Outcome, Workspace};

/// A schema with one attribute of each kind.
pub const SCHEMA: &str = r#"name = "people"
[label]
name = "income"
classes = ["low", "high"]
[[attribute]]
name = "age"
kind = "integer"
min = 17
max = 90
[[attribute]]
name = "wage"
kind = "numeric"
bins = [0.0, 10.0, 20.0]
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["female", "male"]
protected = true
"#;

/// A table that fits it.
pub const PEOPLE: &str = "age,wage,sex,income\n40,1,male,low\n41,12.5,female,high\n\
                      17,20,female,low\n90,0,male,high\n";

/// Runs `line`, which must refuse with `code`, name all `needles` and leave every file as it was.
#[track_caller]
pub fn refuses(workspace: &Workspace, line: &str, code: i32, needles: &[&str]) -> Outcome {
    let before = workspace.snapshot();
    let outcome = workspace.line(line).exits(code).complains(needles);
    assert!(outcome.stdout.is_empty(), "{outcome:#?}");
    assert!(
        before == workspace.snapshot(),
        "`probity {line}` changed files: {:#?}",
        workspace
            .snapshot()
            .into_iter()
            .map(|(path, _)| path)
            .collect::<Vec<_>>()
    );
    outcome
}

/// A workspace with [`SCHEMA`] and [`PEOPLE`].
pub fn people() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("people.toml", SCHEMA);
    workspace.write("people.csv", PEOPLE);
    workspace
}

/// [`people`] with a small model trained on them in `model/`.
pub fn people_and_model() -> Workspace {
    let workspace = people();
    workspace
        .line("train --data people.csv --schema people.toml --out model --hidden 4 --epochs 2 --test 0 --validation 0")
        .exits(0);
    workspace
}
