//! Thresholds, abstention and gaps: what every command makes of them, against decisions that are
//! made here of the probabilities that `predict` writes.

use std::collections::HashMap;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use serde_json::Value;

const SEXES: [&str; 2] = ["female", "male"];
const ORIGINS: [&str; 4] = ["east", "north", "south", "west"];

/// How decisions are made, by the option, and by a function of a person's sex and the probability
/// of the favourable class; a gap has none.
type Rule = (&'static str, Option<fn(&str, f64) -> &'static str>);

const RULES: [Rule; 5] = [
    (
        "--threshold 0.6",
        Some(|_, p| if p >= 0.6 { "high" } else { "low" }),
    ),
    (
        "--threshold low:0.3",
        Some(|_, p| if 1.0 - p >= 0.3 { "low" } else { "high" }),
    ),
    (
        "--threshold 0.3,sex=female:0.6",
        Some(|sex, p| {
            let least = if sex == "female" { 0.6 } else { 0.3 };
            if p >= least { "high" } else { "low" }
        }),
    ),
    (
        "--abstain 0.3..0.6",
        Some(|_, p| match p {
            p if p >= 0.6 => "high",
            p if p < 0.3 => "low",
            _ => "abstain",
        }),
    ),
    ("--gap 0.05", None),
];

/// A person with the probabilities of all variants by sex and origin.
struct Person {
    own: (usize, usize),
    probabilities: [[f64; 4]; 2],
}

impl Person {
    /// Whether another sex or origin changes what is decided.
    fn flips(&self, rule: &Rule) -> bool {
        let of = |(sex, origin): (usize, usize)| self.probabilities[sex][origin];
        let own = of(self.own);
        let mut others = (0..2).flat_map(|sex| (0..4).map(move |origin| (sex, origin)));
        others.any(|other| match rule.1 {
            None => (of(other) - own).abs() > 0.05,
            Some(decide) => decide(SEXES[other.0], of(other)) != decide(SEXES[self.own.0], own),
        })
    }
}

/// A network that is not sure, `soft`, and people with all their variants' probabilities.
fn soft() -> (Workspace, Vec<Person>) {
    let workspace = Workspace::with_demo(1500);
    workspace
        .line(
            "train --data demo/people.csv --schema synthetic-census --hidden 4 --epochs 6 \
             --validation 0.1 --out soft",
        )
        .exits(0);
    let people = workspace.read("demo/people.csv");
    let mut lines = people.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let (sex, origin) = (place("sex"), place("origin"));
    let (mut variants, mut own) = (vec![header.join(",")], Vec::new());
    for line in lines {
        let mut cells: Vec<&str> = line.split(',').collect();
        let number = |names: &[&str], cell: &str| names.iter().position(|name| *name == cell);
        own.push((
            number(&SEXES, cells[sex]).unwrap(),
            number(&ORIGINS, cells[origin]).unwrap(),
        ));
        for other in SEXES {
            for place in ORIGINS {
                (cells[sex], cells[origin]) = (other, place);
                variants.push(cells.join(","));
            }
        }
    }
    workspace.write("variants.csv", variants.join("\n") + "\n");
    workspace
        .line("predict --model soft --data variants.csv --out variants-predicted.csv")
        .exits(0);
    let predicted = workspace.read("variants-predicted.csv");
    let mut rows = csv::Reader::from_reader(predicted.as_bytes());
    let at = rows
        .headers()
        .unwrap()
        .iter()
        .position(|name| name == "probability_high");
    let all: Vec<f64> = rows
        .records()
        .map(|row| row.unwrap()[at.unwrap()].parse().unwrap())
        .collect();
    let people = own
        .into_iter()
        .zip(all.chunks_exact(8))
        .map(|(own, of)| Person {
            own,
            probabilities: [0, 4].map(|start| std::array::from_fn(|origin| of[start + origin])),
        });
    let people = people.collect();
    (workspace, people)
}

fn joint(summary: &Value) -> u64 {
    let shares = summary["population"]["shares"].as_array().unwrap();
    shares.last().unwrap()["discriminatory"].as_u64().unwrap()
}

#[test]
fn every_command_decides_as_the_rule_says() {
    let (workspace, people) = soft();
    let on = "--model soft --data demo/people.csv --protected sex,origin";
    let mut shares = HashMap::new();
    for (number, rule) in RULES.iter().enumerate() {
        let option = rule.0;
        let flips = people.iter().filter(|person| person.flips(rule)).count() as u64;
        assert!((50..1400).contains(&flips), "{option}: {flips}");
        shares.insert(option, flips);

        // The share of the rows, the pairs, and what re-checks them.
        let run = format!("audit{number}");
        workspace
            .line(&format!(
                "audit {on} {option} --seeds 60 --local 20 --estimate 200 --samples csv --out {run}"
            ))
            .exits(0);
        let summary = workspace.summary(&run);
        assert_eq!(joint(&summary), flips, "{option}");
        assert!(!summary["decision"].as_str().unwrap().is_empty());
        let samples = workspace.read(&format!("{run}/samples.csv"));
        let mut pairs = csv::Reader::from_reader(samples.as_bytes());
        let header = pairs.headers().unwrap().clone();
        let mut count = 0;
        for pair in pairs.records().map(Result::unwrap) {
            let cell = |name: &str| &pair[header.iter().position(|at| at == name).unwrap()];
            let sides = ["x", "other"].map(|side| {
                let logit = |class: &str| -> f64 {
                    cell(&format!("logit_{side}_{class}")).parse().unwrap()
                };
                let p = 1.0 / (1.0 + (logit("low") - logit("high")).exp());
                (
                    cell(&format!("{side}_sex")),
                    p,
                    cell(&format!("label_{side}")),
                )
            });
            let expected = match rule.1 {
                Some(decide) => sides.map(|(sex, p, _)| decide(sex, p)),
                None if sides[0].1 < sides[1].1 => ["lower", "higher"],
                None => ["higher", "lower"],
            };
            assert_eq!(sides.map(|(_, _, label)| label), expected, "{option}");
            assert_ne!(expected[0], expected[1]);
            assert!(rule.1.is_some() || (sides[0].1 - sides[1].1).abs() > 0.05);
            count += 1;
        }
        assert!(count > 30, "{option}: {count}");
        workspace
            .line(&format!("verify {run}"))
            .exits(0)
            .says(&["0 rejected"]);
        workspace
            .line(&format!("report {run} --out {run}.html"))
            .exits(0);

        // Certificates, and all substitutions tried.
        let run = format!("certified{number}");
        workspace
            .line(&format!("certify {on} {option} --exhaustive --out {run}"))
            .exits(0);
        let summary = workspace.summary(&run);
        let set = summary["sets"].as_array().unwrap().last().unwrap();
        assert_eq!(set["unfair"], flips, "{option}");
        assert_eq!(set["refuted"], 0);
        assert_eq!(set["certified"]["count"], people.len() as u64 - flips);

        // One person, explained.
        for (row, person) in people.iter().enumerate().step_by(150) {
            let line = format!(
                "explain {on} {option} --row {} --max-calls 20000 --json",
                row + 1
            );
            let said = workspace.line(&line).exits(0).json();
            assert_eq!(said["flips"] == 0, !person.flips(rule), "{option}: {said}");
            let (sex, origin) = person.own;
            if let Some(decide) = rule.1 {
                let own = decide(SEXES[sex], person.probabilities[sex][origin]);
                assert_eq!(said["class"], own, "{option}");
            }
        }

        // What is decided of each person, and of groups.
        let line =
            format!("predict --model soft --data demo/people.csv {option} --out p{number}.csv");
        let Some(decide) = rule.1 else {
            refuses(&workspace, &line, 2, &["--gap"]);
            continue;
        };
        workspace.line(&line).exits(0);
        let predicted = workspace.read(&format!("p{number}.csv"));
        let mut rows = csv::Reader::from_reader(predicted.as_bytes());
        let rows = rows.records().map(|row| row.unwrap()[1].to_owned());
        let mut selected = [0; 2];
        let mut of_sex = [0; 2];
        for (row, person) in rows.zip(&people) {
            let (sex, origin) = person.own;
            let decided = decide(SEXES[sex], person.probabilities[sex][origin]);
            assert_eq!(row, decided, "{option}");
            selected[sex] += u64::from(decided == "high");
            of_sex[sex] += 1;
        }
        let groups = format!("groups --model soft --data demo/people.csv --protected sex {option}");
        let groups = workspace.line(&format!("{groups} --json")).exits(0).json();
        for group in groups["sets"][0]["groups"].as_array().unwrap() {
            let sex = SEXES
                .iter()
                .position(|sex| group["values"][0] == *sex)
                .unwrap();
            let rate = selected[sex] as f64 / f64::from(of_sex[sex]);
            let said = group["selection_rate"]["value"].as_f64().unwrap();
            assert!((rate - said).abs() < 1e-9, "{option}: {group}");
        }
    }
    assert_ne!(shares["--threshold 0.6"], shares["--threshold low:0.3"]);
}

#[test]
fn repairs_measure_by_the_decisions_of_their_audits() {
    let (workspace, people) = soft();
    let on = "--model soft --data demo/people.csv --protected sex,origin";
    let rule = &RULES[0];
    for (run, option) in [("strict", rule.0), ("usual", "")] {
        workspace
            .line(&format!(
                "audit {on} {option} --seeds 60 --local 20 --estimate 200 --out {run}"
            ))
            .exits(0);
    }
    let repair = "repair --model soft --data demo/people.csv --repeats 1 --estimate 2000 \
                  --save-anyway";
    let saved = workspace.line(&format!("{repair} --run strict --out repaired"));
    assert!(matches!(saved.code, Some(0 | 1)), "{}", saved.stderr);
    let before = &workspace.summary("repaired")["before"];
    let evaluated = workspace
        .line(&format!(
            "evaluate --model soft --data demo/people.csv --part test {} --json",
            rule.0
        ))
        .exits(0)
        .json();
    assert_eq!(before["held_out"]["confusion"], evaluated["confusion"]);
    assert!(people.iter().any(|person| person.flips(rule)));
    refuses(
        &workspace,
        &format!("{repair} --run strict --run usual --out mixed"),
        2,
        &["other decisions are made"],
    );
    refuses(
        &workspace,
        &format!("{repair} --run strict --threshold 0.5 --out other"),
        2,
        &["--threshold", "repairs by runs"],
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let workspace = Workspace::with_demo(300);
    let audit = "audit --model demo/model --data demo/people.csv --protected sex --out run";
    for (option, needles) in [
        ("--threshold 1.2", ["--threshold", "between 0 and 1"]),
        ("--threshold mid:0.4", ["--threshold", "low, high"]),
        ("--threshold sex=other:0.4", ["--threshold", "low, high"]),
        (
            "--threshold 0.4,0.5",
            ["--threshold", "one threshold for each"],
        ),
        ("--abstain 0.6..0.4", ["--abstain", "ascending"]),
        ("--gap 1.5", ["gap", "at most 1"]),
        ("--gap 0.1 --threshold 0.4", ["--gap", "left out"]),
    ] {
        refuses(&workspace, &format!("{audit} {option}"), 2, &needles);
    }
}
