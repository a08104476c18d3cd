//! `probity situations` as a user meets it, beside a count by hand.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use serde_json::Value;

/// What the model sees: neither sex nor origin.
const SEEN: &str = "name = \"seen\"\n[format]\nignore_other_columns = true\n\
    [label]\nname = \"hired\"\nclasses = [\"no\", \"yes\"]\n\
    [[attribute]]\nname = \"score\"\nkind = \"integer\"\nmin = 0\nmax = 39\n\
    [[attribute]]\nname = \"height\"\nkind = \"numeric\"\nbins = [140, 165, 180, 220]\n";

/// What is known of the people.
const PEOPLE: &str = "name = \"people\"\n[label]\nname = \"hired\"\nclasses = [\"no\", \"yes\"]\n\
    [[attribute]]\nname = \"score\"\nkind = \"integer\"\nmin = 0\nmax = 39\n\
    [[attribute]]\nname = \"height\"\nkind = \"numeric\"\nbins = [140, 165, 180, 220]\n\
    [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"female\", \"male\"]\nprotected = true\n\
    [[attribute]]\nname = \"origin\"\nkind = \"categorical\"\nlevels = [\"east\", \"west\"]\nprotected = true\n";

struct Person {
    score: f64,
    height: f64,
    is_female: bool,
    origin: &'static str,
    is_hired: bool,
}

/// People of whom the women have to score more by ten.
fn people() -> Vec<Person> {
    let person = |row: usize| {
        let (score, is_female) = ((row * 7 + row / 40) % 40, (row / 3).is_multiple_of(2));
        let bar = if is_female { 25 } else { 15 };
        Person {
            score: score as f64,
            height: (150 + (row * 11) % 45) as f64 + if is_female { 0.5 } else { 12.5 },
            is_female,
            origin: ["east", "west"][(row / 5) % 2],
            is_hired: score >= bar,
        }
    };
    (0..400).map(person).collect()
}

fn table(people: &[Person]) -> String {
    let mut text = "score,height,sex,origin,hired\n".to_owned();
    for person in people {
        text += &format!(
            "{},{},{},{},{}\n",
            person.score,
            person.height,
            ["male", "female"][usize::from(person.is_female)],
            person.origin,
            ["no", "yes"][usize::from(person.is_hired)],
        );
    }
    text
}

fn workspace() -> (Workspace, Vec<Person>) {
    let (workspace, people) = (Workspace::new(), people());
    workspace.write("seen.toml", SEEN);
    workspace.write("people.toml", PEOPLE);
    workspace.write("people.csv", table(&people));
    (workspace, people)
}

const LABEL: &str = "situations --label --schema people.toml --data people.csv";

/// How many of the `k` people nearest to `row`, and of those as near, are not hired; and all of them.
fn around(people: &[Person], row: usize, k: usize, is_female: bool) -> (u64, u64) {
    let deviation = |of: fn(&Person) -> f64| {
        let count = people.len() as f64;
        let mean = people.iter().map(of).sum::<f64>() / count;
        let squares: f64 = people.iter().map(|it| (of(it) - mean).powi(2)).sum();
        (squares / count).sqrt()
    };
    let [by_score, by_height] = [deviation(|it| it.score), deviation(|it| it.height)];
    let own = &people[row];
    let mut near: Vec<(f64, bool)> = people
        .iter()
        .enumerate()
        .filter(|(other, it)| *other != row && it.is_female == is_female)
        .map(|(_, it)| {
            let score = (it.score - own.score).abs() / by_score;
            let height = (it.height - own.height).abs() / by_height;
            (score + height, it.is_hired)
        })
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Distances that are equal but for rounding are equal.
    let last = near[k - 1].0 + 1e-9;
    let near: Vec<_> = near.iter().filter(|it| it.0 <= last).collect();
    let refused = near.iter().filter(|it| !it.1).count();
    (refused as u64, near.len() as u64)
}

#[test]
fn neighbours_are_counted_as_by_hand() {
    let (workspace, people) = workspace();
    let line = format!("{LABEL} --protected sex=female --k 20 --out run --json -q");
    let summary = workspace.line(&line).exits(0).json();
    assert_eq!(summary, workspace.summary("run"));
    let group = &summary["groups"][0];
    let women = people.iter().filter(|it| it.is_female).count() as u64;
    assert_eq!(group["members"]["people"], women);
    assert_eq!(summary["compared"], serde_json::json!(["score", "height"]));
    let listed = workspace.read("run/persons.csv");
    let mut listed = csv::Reader::from_reader(listed.as_bytes());
    let mut cases = 0;
    for record in listed.records() {
        let record = record.unwrap();
        assert_eq!(&record[0], "sex=female");
        let number = |place: usize| record[place].parse::<u64>().unwrap();
        let row = number(1) as usize - 1;
        assert!(people[row].is_female);
        assert_eq!(&record[2], ["no", "yes"][usize::from(people[row].is_hired)]);
        let (own, others) = (
            around(&people, row, 20, true),
            around(&people, row, 20, false),
        );
        assert_eq!((number(3), number(4)), own, "row {row}");
        assert_eq!((number(5), number(6)), others, "row {row}");
        cases += u64::from(own.0 * others.1 > others.0 * own.1);
    }
    assert_eq!(group["against"]["cases"], cases);
    assert!(group["against"]["discoveries"].as_u64() > Some(20));
    assert_eq!(group["favouring"]["discoveries"], 0);
    let first = &group["persons"][0];
    assert_eq!(first["is_against"], true);
    assert_eq!(first["decision"], "no");
    let said = workspace.line(&format!("{LABEL} --protected sex=female --k 20"));
    said.exits(0).says(&[
        "with sex ‘female’",
        "are found to be treated worse than people like them",
    ]);
    workspace.line("report run --out run.html -q").exits(0);
}

#[test]
fn a_model_that_never_sees_the_attribute_is_asked_by_what_it_sees() {
    let (workspace, _) = workspace();
    workspace
        .line("train --data people.csv --schema seen.toml --hidden 8 --epochs 20 --batch 32 --out model -q")
        .exits(0);
    workspace
        .line("predict --model model --data people.csv --out decided.csv -q")
        .exits(0);
    let decided = workspace.read("decided.csv");
    let mut decided = csv::Reader::from_reader(decided.as_bytes());
    let decided: Vec<String> = decided
        .records()
        .map(|it| it.unwrap()[1].to_owned())
        .collect();
    let table = workspace.read("people.csv");
    let header = ["hired".to_owned()];
    let lines = table.lines().zip(header.iter().chain(&decided));
    let replaced: Vec<String> = lines
        .map(|(line, decision)| {
            let (rest, _) = line.rsplit_once(',').unwrap();
            format!("{rest},{decision}\n")
        })
        .collect();
    workspace.write("decided-people.csv", replaced.concat());
    let asked = "--schema people.toml --protected sex=female,origin=west --k 15 --json -q";
    let by_model = workspace
        .line(&format!(
            "situations --model model --data people.csv {asked}"
        ))
        .exits(0)
        .json();
    let by_label = workspace
        .line(&format!(
            "situations --label --data decided-people.csv {asked}"
        ))
        .exits(0)
        .json();
    assert_eq!(by_model["groups"], by_label["groups"]);
    assert_eq!(by_model["multiple"], by_label["multiple"]);
    // Each group, and those who are in both.
    let groups = by_model["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 3);
    assert_eq!(groups[2]["protected"].as_array().unwrap().len(), 2);
}

#[test]
fn threads_and_the_order_of_rows_change_nothing() {
    let (workspace, _) = workspace();
    let asked = "--schema people.toml --protected sex --k 15 --json -q";
    let run = |data: &str, threads: u32| -> Value {
        let line = format!("situations --label --data {data} {asked} --threads {threads}");
        workspace.line(&line).exits(0).json()
    };
    let (one, two) = (run("people.csv", 1), run("people.csv", 2));
    assert_eq!(one, two);
    assert_eq!(one["groups"].as_array().unwrap().len(), 2);
    let table = workspace.read("people.csv");
    let mut lines: Vec<&str> = table.lines().collect();
    lines[1..].reverse();
    workspace.write("turned.csv", lines.join("\n") + "\n");
    let turned = run("turned.csv", 2);
    for group in 0..2 {
        for way in ["against", "favouring"] {
            assert_eq!(one["groups"][group][way], turned["groups"][group][way]);
        }
    }
}

#[test]
fn counterfactuals_say_where_others_are_looked_for() {
    let (workspace, people) = workspace();
    let moved: Vec<Person> = people
        .into_iter()
        .map(|it| Person {
            score: (it.score + 10.0).min(39.0),
            is_hired: true,
            is_female: !it.is_female,
            ..it
        })
        .collect();
    workspace.write("moved.csv", table(&moved));
    let asked = format!("{LABEL} --protected sex=female --k 15 --json -q");
    let found = |rest: &str| workspace.line(&format!("{asked} {rest}")).exits(0).json();
    let (plain, counterfactual) = (found(""), found("--counterfactuals moved.csv"));
    let others = |it: &Value| it["groups"][0]["others_share"].as_f64().unwrap();
    assert!(others(&counterfactual) < others(&plain));
    let with_centres = found("--counterfactuals moved.csv --centres");
    // Everybody would have been hired then.
    assert_eq!(others(&with_centres), 0.0);
    workspace.write("short.csv", table(&moved[..399]));
    refuses(
        &workspace,
        &format!("{LABEL} --protected sex=female --counterfactuals short.csv"),
        2,
        &["not counterfactuals of the 400 people"],
    );
    // The data themselves: every woman would be compared with women.
    refuses(
        &workspace,
        &format!("{LABEL} --protected sex=female --counterfactuals people.csv"),
        2,
        &["of the 201 people with sex=female have it there too"],
    );
}

#[test]
fn groups_of_an_attribute_that_are_too_small_are_left_out_and_named_ones_are_refused() {
    let (workspace, people) = workspace();
    let mut people = people;
    for person in &mut people[..7] {
        person.origin = "north";
    }
    workspace.write("few.csv", table(&people));
    workspace.write(
        "few.toml",
        PEOPLE.replace("[\"east\",", "[\"north\", \"east\","),
    );
    let asked = "situations --label --schema few.toml --data few.csv --k 20";
    let found = workspace.line(&format!("{asked} --protected origin --json -q"));
    let found = found.exits(0).json();
    assert_eq!(found["groups"].as_array().unwrap().len(), 2);
    assert_eq!(found["left_out"][0]["protected"][0]["value"], "north");
    assert_eq!(found["left_out"][0]["members"], 7);
    let said = workspace.line(&format!("{asked} --protected origin"));
    said.exits(0).says(&["origin ‘north’ (7 of 400 people)"]);
    let line = format!("{asked} --protected origin=north");
    refuses(
        &workspace,
        &line,
        2,
        &["the group origin=north has 7 people"],
    );
    let line = format!("{LABEL} --protected origin --k 300");
    refuses(&workspace, &line, 2, &["too few for 300 neighbours"]);
}

#[test]
fn a_group_is_named_whatever_its_attribute_is_called() {
    let (workspace, _) = workspace();
    let renamed = |text: String| {
        text.replace("female,", "=yes,")
            .replace("sex,", "sex=female,")
    };
    workspace.write("people.csv", renamed(workspace.read("people.csv")));
    let schema = PEOPLE.replace("\"sex\"", "\"sex=female\"");
    workspace.write("people.toml", schema.replace("\"female\"", "\"=yes\""));
    let line = format!("{LABEL} --protected sex=female==yes --k 20 --json -q");
    let found = workspace.line(&line).exits(0).json();
    let protected = &found["groups"][0]["protected"][0];
    assert_eq!(protected["attribute"], "sex=female");
    assert_eq!(protected["value"], "=yes");
}

#[test]
fn too_few_neighbours_to_find_anybody_are_said_to_be() {
    let (workspace, _) = workspace();
    let said = |k: u32, ties: &str| {
        let line = format!("{LABEL} --protected sex=female --k {k} --ties {ties} --json -q");
        let found = workspace.line(&line).exits(0).json();
        let line = format!("{LABEL} --protected sex=female --k {k} --ties {ties}");
        let said = workspace.line(&line).exits(0).stdout;
        (
            found["least_p"].as_f64().unwrap(),
            said.contains("can be significant"),
        )
    };
    // Of 2 and 2 people: 1 / C(4, 2).
    let (least, is_said) = said(2, "index");
    assert!((least - 1.0 / 6.0).abs() < 1e-12 && is_said);
    assert!(!said(3, "index").1);
}

#[test]
fn bounds_and_refusals() {
    let (workspace, _) = workspace();
    let asked = format!("{LABEL} --protected sex=female --k 20 -q");
    workspace
        .line(&format!("{asked} --fail-above 0.05"))
        .exits(1);
    workspace.line(&format!("{asked} --fail-above 1")).exits(0);
    workspace.write(
        "gate.toml",
        "[[check]]\nname = \"sex\"\nkind = \"situations\"\nlabel = true\nschema = \"people.toml\"\n\
         data = \"people.csv\"\nprotected = [\"sex=female\"]\nk = 20\nfail_above = 0.05\n",
    );
    let gate = workspace.line("gate gate.toml --out gate");
    gate.exits(1)
        .says(&["EXCEEDS", "counted", "with sex ‘female’"]);
    for (rest, needle) in [
        ("--protected sex=nobody", "a value of sex: female, male"),
        ("--protected age=3", "age"),
        (
            "--protected sex=female --k 300",
            "too few for 300 neighbours",
        ),
        ("--protected sex=female --weights sex=2", "not protected"),
        ("--protected sex,sex=female", "is all of its groups"),
        (
            "--protected sex=female --weights score=0,height=0",
            "cannot be compared",
        ),
        (
            "--protected sex=female --model model",
            "the outcomes in the data are looked at",
        ),
    ] {
        refuses(&workspace, &format!("{LABEL} {rest}"), 2, &[needle]);
    }
    refuses(
        &workspace,
        "situations --data people.csv --schema people.toml --protected sex",
        2,
        &["model"],
    );
}
