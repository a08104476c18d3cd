//! `probity counterparts` as a user meets it, and people whose sex is hidden and moves them.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use serde_json::Value;

const PEOPLE: &str = "name = \"hidden\"\n[label]\nname = \"hired\"\nclasses = [\"no\", \"yes\"]\n\
    [[attribute]]\nname = \"age\"\nkind = \"integer\"\nmin = 20\nmax = 65\n\
    [[attribute]]\nname = \"education\"\nkind = \"integer\"\nmin = 8\nmax = 20\n\
    [[attribute]]\nname = \"experience\"\nkind = \"integer\"\nmin = 0\nmax = 51\n\
    [[attribute]]\nname = \"hours\"\nkind = \"integer\"\nmin = 20\nmax = 45\n\
    [[attribute]]\nname = \"club\"\nkind = \"categorical\"\nlevels = [\"choir\", \"chess\", \"football\"]\n\
    [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"female\", \"male\"]\nprotected = true\n";

const LABEL: &str = "counterparts --label --schema people.toml --data people.csv";

/// A folder with hidden people, and what they would have been; and what was planted.
fn workspace(rest: &str) -> (Workspace, Value) {
    let workspace = Workspace::new();
    workspace.write("people.toml", PEOPLE);
    let line = format!(
        "data generate people --hidden --rows 1000 --seed 3 --counterfactuals others.csv --out people.csv --json {rest}"
    );
    let planted = workspace.line(&line).exits(0).json();
    (workspace, planted)
}

#[test]
fn given_counterparts_find_what_was_planted() {
    let (workspace, planted) = workspace("");
    let line = format!("{LABEL} --protected sex=female --counterfactuals others.csv --json -q");
    let summary = workspace.line(&line).exits(0).json();
    let group = &summary["groups"][0];
    assert_eq!(group["members"]["people"], planted["women"]);
    assert_eq!(group["against"]["members"], planted["unfair"]);
    assert_eq!(group["favouring"]["members"], 0);
    assert_eq!(group["comparison"]["test"], "mcnemar");
    let (workspace, planted) = self::workspace("--effect 0");
    assert_eq!(planted["unfair"], 0);
    let group = &workspace.line(&line).exits(0).json()["groups"][0];
    assert_eq!(group["against"]["share"], 0.0);
    assert_eq!(group["matching"]["mean_distance"], 0.0);
    let line = format!("{LABEL} --protected sex=female --counterfactuals others.csv");
    let said = workspace.line(&line).exits(0);
    said.says(&["Careful: the counterfactuals", "equal the people"]);
}

#[test]
fn matched_counterparts_use_both_groups_up() {
    let (workspace, _) = workspace("");
    let line = format!("{LABEL} --protected sex=female --out run --json -q");
    let summary = workspace
        .line(&format!("{line} --threads 1"))
        .exits(0)
        .json();
    assert_eq!(summary, workspace.summary("run"));
    let group = &summary["groups"][0];
    assert_eq!(group["matching"]["is_exact"], true);
    assert_eq!(group["comparison"]["test"], "fisher");
    let number = |value: &Value| value.as_f64().unwrap();
    let [own, others] =
        ["members", "others"].map(|side| number(&group[side]["unfavourable"]["share"]));
    let [worse, better] = ["against", "favouring"].map(|way| number(&group[way]["share"]));
    assert!((worse - better - (own - others)).abs() < 1e-9);
    let pairs = workspace.read("run/pairs.csv");
    let mut pairs = csv::Reader::from_reader(pairs.as_bytes());
    let (mut shares, mut against) = (0.0, 0.0);
    for record in pairs.records() {
        let record = record.unwrap();
        let share: f64 = record[5].parse().unwrap();
        shares += share;
        let is_worse = &record[2] == "no" && &record[4] == "yes";
        assert_eq!(is_worse, &record[7] == "member");
        against += if is_worse { share } else { 0.0 };
    }
    let members = number(&group["members"]["people"]);
    assert!((shares - members).abs() < 1e-6);
    assert!((against / members - worse).abs() < 1e-9);
    let again = format!("{LABEL} --protected sex=female --json -q --threads 2");
    let mut again = workspace.line(&again).exits(0).json();
    again["pairs"] = summary["pairs"].clone();
    assert_eq!(again, summary);
    let said = workspace.line(&format!("{LABEL} --protected sex=female"));
    said.exits(0)
        .says(&["with sex ‘female’", "against the group", "What stands out"]);
    workspace.line("report run --out run.html -q").exits(0);
}

#[test]
fn bounds_and_refusals() {
    let (workspace, _) = workspace("");
    let asked = format!("{LABEL} --protected sex=female -q");
    workspace
        .line(&format!("{asked} --fail-above 0.05"))
        .exits(1);
    workspace.line(&format!("{asked} --fail-above 1")).exits(0);
    workspace.write(
        "gate.toml",
        "[[check]]\nname = \"sex\"\nkind = \"counterparts\"\nlabel = true\nschema = \"people.toml\"\n\
         data = \"people.csv\"\nprotected = [\"sex=female\"]\nfail_above = 0.05\n",
    );
    let gate = workspace.line("gate gate.toml --out gate");
    gate.exits(1)
        .says(&["EXCEEDS", "counted", "with sex ‘female’"]);
    refuses(
        &workspace,
        "counterparts --model m --data people.csv --protected sex --gap 0.1 --threshold 0.6",
        2,
        &["with gap scores are compared"],
    );
    workspace.write(
        "alike.csv",
        workspace.read("people.csv").replace(",yes\n", ",no\n"),
    );
    refuses(
        &workspace,
        "counterparts --label --schema people.toml --data alike.csv --protected sex=female",
        2,
        &["all 1000 rows have the outcome 'no', so nobody was decided otherwise"],
    );
    for (rest, needle) in [
        ("--protected sex=female --gap 0.1", "have no scores"),
        (
            "--protected sex=female --counterfactuals others.csv --matching-gap 0.1",
            "not matched",
        ),
        ("--protected sex=female --weights sex=1", "not protected"),
    ] {
        refuses(&workspace, &format!("{LABEL} {rest}"), 2, &[needle]);
    }
    for rest in [
        "comments --hidden",
        "people --effect 0.5",
        "people --hidden --effect 2",
    ] {
        refuses(
            &workspace,
            &format!("data generate {rest} --out new.csv"),
            2,
            &[""],
        );
    }
}
