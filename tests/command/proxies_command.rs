//! `probity proxies` as a user meets it.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use serde_json::Value;

/// What is known of the people.
const PEOPLE: &str = "name = \"people\"\n[label]\nname = \"hired\"\nclasses = [\"no\", \"yes\"]\n\
    [[attribute]]\nname = \"score\"\nkind = \"integer\"\nmin = 0\nmax = 39\n\
    [[attribute]]\nname = \"height\"\nkind = \"integer\"\nmin = 140\nmax = 219\n\
    [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"female\", \"male\"]\nprotected = true\n";

/// What the model sees.
const SEEN: &str = "name = \"seen\"\n[format]\nignore_other_columns = true\n\
    [label]\nname = \"hired\"\nclasses = [\"no\", \"yes\"]\n\
    [[attribute]]\nname = \"score\"\nkind = \"integer\"\nmin = 0\nmax = 39\n\
    [[attribute]]\nname = \"height\"\nkind = \"integer\"\nmin = 140\nmax = 219\n";

/// People of whom the women are less tall, and the tall are hired.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    let mut table = "score,height,sex,hired\n".to_owned();
    for row in 0..400 {
        let is_female = (row / 3) % 2 == 0;
        let height = 150 + (row * 11) % 45 + if is_female { 0 } else { 20 };
        let sex = ["male", "female"][usize::from(is_female)];
        let hired = ["no", "yes"][usize::from(height > 180)];
        table += &format!("{},{height},{sex},{hired}\n", (row * 7 + row / 40) % 40);
    }
    workspace.write("people.csv", table);
    workspace.write("people.toml", PEOPLE);
    workspace.write("seen.toml", SEEN);
    workspace
}

const ASKED: &str = "proxies --data people.csv --schema people.toml";

#[test]
fn the_column_that_tells_is_named() {
    let workspace = workspace();
    let line = format!("{ASKED} --protected sex=female --out run --json -q");
    let summary = workspace.line(&line).exits(0).json();
    assert_eq!(summary, workspace.summary("run"));
    let group = &summary["groups"][0];
    assert_eq!(group["columns"][0]["attribute"], "height");
    assert_eq!(
        group["smallest"]["attributes"],
        serde_json::json!(["height"])
    );
    assert!(group["auc"]["ci95"][0].as_f64() > Some(0.6));
    assert_eq!(group["explained"], Value::Null);
    let said = workspace.line(&format!("{ASKED} --protected sex=female"));
    said.exits(0).says(&[
        "tell who has sex ‘female’",
        "a better predictor may tell more",
    ]);
    workspace.line("report run --out run.html -q").exits(0);
}

#[test]
fn threads_and_the_order_of_rows_change_nothing() {
    let workspace = workspace();
    let table = workspace.read("people.csv");
    let mut lines: Vec<&str> = table.lines().collect();
    lines[1..].reverse();
    workspace.write("turned.csv", lines.join("\n") + "\n");
    let run = |data: &str, threads: u32| -> Value {
        let line = format!(
            "proxies --data {data} --schema people.toml --protected sex --json -q --threads {threads}"
        );
        workspace.line(&line).exits(0).json()["groups"].clone()
    };
    let straight = run("people.csv", 1);
    // Telling the women is telling the men.
    assert_eq!(straight.as_array().unwrap().len(), 1);
    assert_eq!(straight, run("people.csv", 2));
    assert_eq!(straight, run("turned.csv", 2));
}

#[test]
fn a_models_score_is_explained_by_the_group_it_never_sees() {
    let workspace = workspace();
    workspace
        .line("train --data people.csv --schema seen.toml --hidden 8 --epochs 20 --batch 32 --out model -q")
        .exits(0);
    let line = format!("{ASKED} --model model --protected sex=female --json -q");
    let summary = workspace.line(&line).exits(0).json();
    let group = &summary["groups"][0];
    assert!(group["explained"]["correlation"]["value"].as_f64() < Some(0.0));
    let decided = &group["impact"]["decided"];
    assert!(decided["ratio"]["value"].as_f64() < Some(1.0));
}

#[test]
fn refusals() {
    let workspace = workspace();
    for (rest, needle) in [
        ("--protected sex=nobody", "a value of sex: female, male"),
        ("--protected sex --columns sex", "that is not protected"),
        ("--protected sex --folds 1", "folds"),
    ] {
        refuses(&workspace, &format!("{ASKED} {rest}"), 2, &[needle]);
    }
}

#[test]
fn what_a_model_does_not_know_is_asked_of_a_schema() {
    let workspace = workspace();
    workspace
        .line("train --data people.csv --schema seen.toml --hidden 4 --epochs 2 --out model -q")
        .exits(0);
    refuses(
        &workspace,
        "proxies --model model --data people.csv --protected sex",
        2,
        &["the model's schema does not know 'sex': give schema"],
    );
}
