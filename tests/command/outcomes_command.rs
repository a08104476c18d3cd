//! Rows whose outcomes nobody knows, and rows of one outcome: what `groups` and `evaluate` say of
//! them, against decisions that are counted here.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use serde_json::Value;

const SCHEMA: &str = "name = \"people\"\n[label]\nname = \"hired\"\nclasses = [\"no\", \"yes\"]\n\
    [[attribute]]\nname = \"score\"\nkind = \"integer\"\nmin = 0\nmax = 39\n\
    [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"female\", \"male\"]\nprotected = true\n\
    [[attribute]]\nname = \"origin\"\nkind = \"categorical\"\nlevels = [\"east\", \"north\", \"west\"]\nprotected = true\n";

const GROUPS: &str = "groups --model model --min-group 1 --resamples 20 --json --data";

/// A person: score, sex, origin.
type Person = (usize, &'static str, &'static str);

fn people() -> Vec<Person> {
    let person = |row: usize| {
        (
            (row * 7 + row / 40) % 40,
            ["female", "male"][(row / 3) % 2],
            ["east", "north", "west"][(row / 7) % 3],
        )
    };
    (0..600).map(person).collect()
}

/// The people with a column of outcomes, by their number.
fn table(people: &[Person], outcome: impl Fn(usize) -> &'static str) -> String {
    let mut text = "score,sex,origin,hired\n".to_owned();
    for (row, (score, sex, origin)) in people.iter().enumerate() {
        text += &format!("{score},{sex},{origin},{}\n", outcome(row));
    }
    text
}

/// A trained model, people, and which of them it would hire.
fn hiring() -> (Workspace, Vec<Person>, Vec<bool>) {
    let (workspace, people) = (Workspace::new(), people());
    let truth = |row: usize| if people[row].0 >= 20 { "yes" } else { "no" };
    workspace.write("people.toml", SCHEMA);
    workspace.write("people.csv", table(&people, truth));
    workspace
        .line("train --data people.csv --schema people.toml --hidden 8 --epochs 40 --batch 32 --out model -q")
        .exits(0);
    workspace
        .line("predict --model model --data people.csv --out decided.csv -q")
        .exits(0);
    let text = workspace.read("decided.csv");
    let mut decided = csv::Reader::from_reader(text.as_bytes());
    let selected = decided.records().map(|row| &row.unwrap()[1] == "yes");
    let selected: Vec<bool> = selected.collect();
    assert!(selected.contains(&true) && selected.contains(&false));
    (workspace, people, selected)
}

/// The share of those that `is_of` that is hired.
fn share(selected: &[bool], is_of: impl Fn(usize) -> bool) -> f64 {
    let of: Vec<usize> = (0..selected.len()).filter(|&row| is_of(row)).collect();
    let hired = of.iter().filter(|&&row| selected[row]).count();
    hired as f64 / of.len() as f64
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-12, "{value} {expected}");
}

#[test]
fn selection_rates_and_impact_ratios_need_no_outcomes() {
    let (workspace, people, selected) = hiring();
    workspace.write("blank.csv", table(&people, |_| ""));
    workspace.write("marks.csv", table(&people, |row| ["NA", "", "?"][row % 3]));
    let without = table(&people, |_| "").replace(",\n", "\n");
    workspace.write("without.csv", without.replace(",hired", ""));
    let asked = "--sex sex --race-ethnicity origin --favourable yes";
    for file in ["blank", "marks", "without"] {
        let line = format!("{GROUPS} {file}.csv {asked} --out {file}");
        let summary = workspace.line(&line).exits(0).json();
        assert_eq!(
            (&summary["rows"], &summary["rows_with_outcome"]),
            (&600.into(), &0.into())
        );
        let impact = &summary["impact"]["sets"][0]["categories"];
        let sexes = ["female", "male"];
        let rates = sexes.map(|sex| share(&selected, |row| people[row].1 == sex));
        let best = rates[0].max(rates[1]);
        for (place, sex) in sexes.into_iter().enumerate() {
            assert_eq!(impact[place]["values"][0], sex);
            near(&impact[place]["rate"]["value"], rates[place]);
            near(&impact[place]["impact_ratio"], rates[place] / best);
            let group = &summary["sets"][0]["groups"][place];
            near(&group["selection_rate"]["value"], rates[place]);
            for name in [
                "true_positive_rate",
                "false_positive_rate",
                "accuracy",
                "calibration_error",
            ] {
                assert!(group[name].is_null());
                assert_eq!(group["not_defined"][name], "no outcomes");
            }
            assert!(group["favourable_rows"].is_null());
        }
        let plain = "groups --model model --min-group 1 --resamples 20";
        let said = workspace.line(&format!("{plain} --data {file}.csv {asked}"));
        said.exits(0)
            .says(&["rows no outcome is known.", "Rates and impact ratios"]);
        workspace
            .line(&format!(
                "report {file} --format ll144 --out {file}-ll144.csv"
            ))
            .exits(0);
        let page = workspace
            .line(&format!("report {file} --format markdown"))
            .exits(0);
        page.says(&["not defined: no outcomes", "no outcome is known"]);
        refuses(
            &workspace,
            &format!("evaluate --model model --data {file}.csv"),
            2,
            &[&format!("{file}.csv"), "'hired'", "no row"],
        );
    }
}

#[test]
fn rows_with_an_outcome_are_judged_beside_rows_without() {
    let (workspace, people, selected) = hiring();
    let outcome = |row: usize| match row % 3 {
        0 => "NA",
        _ if people[row].0 >= 20 => "yes",
        _ => "no",
    };
    workspace.write("some.csv", table(&people, outcome));
    let summary = workspace
        .line(&format!("{GROUPS} some.csv"))
        .exits(0)
        .json();
    let group = &summary["sets"][0]["groups"][0];
    let is_female = |row: usize| people[row].1 == "female";
    near(
        &group["selection_rate"]["value"],
        share(&selected, is_female),
    );
    let is_good = |row: usize| is_female(row) && outcome(row) == "yes";
    near(
        &group["true_positive_rate"]["value"],
        share(&selected, is_good),
    );
    let known = (0..600)
        .filter(|&row| is_female(row) && row % 3 != 0)
        .count();
    assert_eq!(group["rows_with_outcome"], known);
    let evaluated = workspace
        .line("evaluate --model model --data some.csv --json")
        .exits(0)
        .json();
    assert_eq!(
        (&evaluated["rows"], &evaluated["rows_without_outcome"]),
        (&400.into(), &200.into())
    );
}

#[test]
fn rows_of_one_outcome_have_the_figures_that_it_defines() {
    let (workspace, people, selected) = hiring();
    workspace.write("good.csv", table(&people, |_| "yes"));
    let evaluated = workspace
        .line("evaluate --model model --data good.csv --json")
        .exits(0)
        .json();
    near(&evaluated["accuracy"], share(&selected, |_| true));
    assert!(evaluated["auc"].is_null() && evaluated["f1"].is_number());
    assert!(
        evaluated["log_loss"]["mean"].is_number() && evaluated["brier_score"]["mean"].is_number()
    );
    let said = workspace
        .line("evaluate --model model --data good.csv")
        .exits(0);
    said.says(&["AUC is not defined, and balanced accuracy is of the other classes"]);
    let summary = workspace
        .line(&format!("{GROUPS} good.csv"))
        .exits(0)
        .json();
    let set = &summary["sets"][0];
    let rate = share(&selected, |row| people[row].1 == "female");
    near(&set["groups"][0]["true_positive_rate"]["value"], rate);
    assert!(set["groups"][0]["false_positive_rate"].is_null());
    assert!(set["gaps"]["equalised_odds_difference"].is_null());
    let reason = "every outcome is the favourable one";
    assert_eq!(set["not_defined"]["equalised_odds_difference"], reason);
    // Nothing can be learnt of them.
    let train = "train --data good.csv --schema people.toml --out other";
    refuses(&workspace, train, 2, &["needs at least two classes"]);
}
