//! `probity outliers` end to end: what it prints, what it charges, and what it refuses.

#[path = "../probity_command/mod.rs"]
mod probity_command;

mod answers;
mod charges;
mod refusals;
mod schemas;

use std::fmt::Write;

use probity_command::Workspace;

const COLUMNS: &str = "--columns x,y --range x=0,10,1 --range y=0,10,1";
const QUERY: &str = "--radius 0.5 --k 3 --epsilon 0.5 --delta 0.01 --ledger budget.toml";

/// A dense group and five records far from everything.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    let mut text = "x,y,name\n".to_owned();
    for at in 0..60 {
        let (x, y) = (at % 8, at / 8);
        writeln!(
            text,
            "{},{},inlier",
            1.0 + 0.1 * f64::from(x),
            1.0 + 0.1 * f64::from(y)
        )
        .unwrap();
    }
    for at in 0..5 {
        writeln!(text, "{},{},outlier", 9 - at, 4 + at).unwrap();
    }
    workspace.write("d.csv", text);
    workspace
}

fn with_budget(options: &str) -> Workspace {
    let workspace = workspace();
    workspace
        .line(&format!(
            "outliers budget --ledger budget.toml --data d.csv {options}"
        ))
        .exits(0)
        .says(&["Left: epsilon"]);
    workspace
}

fn count(rest: &str) -> String {
    format!("outliers count --data d.csv {COLUMNS} {QUERY} {rest}")
}
