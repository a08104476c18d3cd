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

/// Three origins, of which one is refused wherever it can be.
fn origins() -> Workspace {
    let workspace = Workspace::new();
    workspace.write(
        "people.toml",
        "name = \"three\"\n[label]\nname = \"hired\"\nclasses = [\"no\", \"yes\"]\n\
         [[attribute]]\nname = \"years\"\nkind = \"integer\"\nmin = 0\nmax = 40\n\
         [[attribute]]\nname = \"origin\"\nkind = \"categorical\"\nlevels = [\"east\", \"north\", \"west\"]\nprotected = true\n",
    );
    let mut people = String::from("years,origin,hired\n");
    for row in 0..120 {
        let (years, origin) = (row / 3, ["east", "north", "west"][row % 3]);
        let bar = if origin == "east" { 30 } else { 20 };
        let hired = if years >= bar { "yes" } else { "no" };
        people.push_str(&format!("{years},{origin},{hired}\n"));
    }
    workspace.write("people.csv", people);
    workspace
}

#[test]
fn groups_are_compared_with_a_reference_or_in_pairs() {
    let workspace = origins();
    let of = |rest: &str| {
        let line = format!("{LABEL} --protected {rest} --resamples 0 --json -q");
        workspace.line(&line).exits(0).json()["groups"].clone()
    };
    let name = |side: &Value| side[0]["value"].as_str().unwrap_or("–").to_owned();
    let pairs = |groups: &Value| -> Vec<(String, String, f64)> {
        let groups = groups.as_array().unwrap().iter();
        let pair = |it: &Value| {
            let share = it["against"]["share"].as_f64().unwrap();
            (name(&it["protected"]), name(&it["reference"]), share)
        };
        groups.map(pair).collect()
    };
    let pair = |one: &str, other: &str, share: f64| (one.to_owned(), other.to_owned(), share);
    // Everybody has a counterpart of the same years: 10 of the 40 from the east are refused between the bars.
    assert_eq!(
        pairs(&of("origin --reference origin=north")),
        [pair("east", "north", 0.25), pair("west", "north", 0.0)]
    );
    assert_eq!(
        pairs(&of("origin=east --reference origin")),
        [pair("east", "north", 0.25), pair("east", "west", 0.25)]
    );
    assert_eq!(pairs(&of("origin --reference origin")).len(), 6);
    let against_both = pairs(&of("origin=east"));
    assert_eq!(against_both, [pair("east", "–", 0.25)]);
    let line = format!("{LABEL} --protected origin --reference origin=north --out run");
    workspace.line(&line).exits(0).says(&[
        "25.00 %",
        "95 % interval",
        "where their counterpart with origin ‘north’ does",
    ]);
    let pairs = workspace.read("run/pairs.csv");
    assert!(
        pairs.contains("origin=east beside origin=north,"),
        "{pairs}"
    );
    let line = "situations --label --schema people.toml --data people.csv --k 5";
    let line = format!("{line} --protected origin=east --reference origin=west");
    workspace.line(&line).exits(0).says(&["with origin ‘west’"]);
    for (rest, needle) in [
        (
            "--reference years",
            "a protected attribute that is looked at",
        ),
        (
            "--reference origin=south",
            "a value of origin: east, north, west",
        ),
        (
            "--reference origin=east",
            "another value than that of the group",
        ),
        ("--reference origin --reference origin=west", "named once"),
        (
            "--counterfactuals people.csv --reference origin=west",
            "not matched",
        ),
        ("--counterfactuals people.csv --resamples 5", "not matched"),
        ("--resamples 1", "0, or 2 and more"),
    ] {
        let line = format!("{LABEL} --protected origin=east {rest}");
        refuses(&workspace, &line, 2, &[needle]);
    }
}

#[test]
fn halves_give_intervals_whatever_the_threads_and_a_run_tells_of_one_person() {
    let workspace = origins();
    let asked = format!("{LABEL} --protected origin=east --json -q");
    let of = |rest: &str| workspace.line(&format!("{asked} {rest}")).exits(0).json();
    let group = of("--threads 1")["groups"][0].clone();
    assert_eq!(group["halves"], 100);
    let [low, high] = [0, 1].map(|end| group["against"]["ci95"][end].as_f64().unwrap());
    assert!(low < 0.25 && 0.25 < high, "{low} {high}");
    assert_eq!(of("--threads 2")["groups"][0], group);
    assert_ne!(
        of("--seed 7")["groups"][0]["against"]["ci95"],
        group["against"]["ci95"]
    );
    let without = of("--resamples 0")["groups"][0].clone();
    assert_eq!(without["halves"], 0);
    assert!(without["against"]["ci95"].is_null());

    of("--resamples 0 --out run");
    // Row 64, from the east with 21 years, stands beside those with 21 years.
    let explained = workspace
        .line("explain --run run --row 64 --json")
        .exits(0)
        .json();
    assert_eq!(explained["decision"], "no");
    let people = explained["groups"][0]["people"].as_array().unwrap();
    assert!(
        people
            .iter()
            .all(|it| it["distance"] == 0.0 && it["decision"] == "yes")
    );
    assert_eq!(people[0]["differs"][0]["attribute"], "origin");
    let shares = people.iter().map(|it| it["share"].as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
    workspace
        .line("explain --run run --row 64")
        .exits(0)
        .says(&[
            "Row 64 (years=21, origin=east) is decided ‘no’.",
            "origin west in place of east",
        ]);
    let situations = "situations --label --schema people.toml --data people.csv --k 5 --protected origin=east --out near -q";
    workspace.line(situations).exits(0);
    let explained = workspace
        .line("explain --run near --row 64 --json")
        .exits(0)
        .json();
    let people = explained["groups"][0]["people"].as_array().unwrap();
    let members = people.iter().filter(|it| it["is_member"] == true).count();
    assert!(members >= 5 && people.len() - members >= 5);
    assert!(explained["groups"][0]["tests"]["against_p"].is_number());
    workspace
        .line("explain --run near --row 64")
        .exits(0)
        .says(&["Nearest in the group (5 of"]);
    for (line, needle) in [
        (
            "explain --run run --row 65",
            "row 65 is in none of the groups",
        ),
        (
            "explain --run run --row 1000",
            "compared nobody of row 1000: there is no such row",
        ),
        ("explain --run run", "--row is needed"),
        (
            "explain --run run --row 0",
            "--row is 0; rows are counted from 1",
        ),
        (
            "explain --run run --row 1 --protected origin",
            "--protected has no meaning with --run",
        ),
        ("explain --run nowhere --row 1", "nowhere"),
    ] {
        refuses(&workspace, line, 2, &[needle]);
    }
    // From elsewhere, too, though the schema was named from here.
    let run = workspace.path("run").display().to_string();
    let line = format!("explain --run {run} --row 64 -q");
    let elsewhere = workspace.prepared(&line).current_dir("/").output().unwrap();
    assert!(elsewhere.status.success(), "{elsewhere:?}");
    workspace.write(
        "people.csv",
        workspace
            .read("people.csv")
            .replace("39,west,yes", "38,west,yes"),
    );
    refuses(
        &workspace,
        "explain --run run --row 64",
        2,
        &["the data of", "is not what it was"],
    );
}

#[test]
fn two_people_on_the_other_side_are_no_more_than_two() {
    let workspace = origins();
    let mut people = String::from("years,origin,hired\n");
    for row in 0..42 {
        let (origin, hired) = if row < 40 {
            ("west", "yes")
        } else {
            ("east", "no")
        };
        people.push_str(&format!("{},{origin},{hired}\n", row % 40));
    }
    workspace.write("people.csv", people);
    let line = format!("{LABEL} --protected origin=west --json -q");
    let favouring = &workspace.line(&line).exits(0).json()["groups"][0]["favouring"];
    assert_eq!(favouring["share"], 1.0);
    let low = favouring["ci95"][0].as_f64().unwrap();
    // The exact interval of 2 of 2 begins at the root of 0.025.
    assert!((low - 0.025_f64.sqrt()).abs() < 1e-6, "{low}");
}

#[test]
fn neighbours_outside_stand_beside_what_the_person_would_have_been() {
    let (workspace, _) = workspace("");
    let line = "situations --label --schema people.toml --data people.csv --protected sex=female --k 10 --outside clip";
    workspace
        .line(&format!("{line} --counterfactuals others.csv --out run -q"))
        .exits(0);
    let persons = workspace.read("run/persons.csv");
    let mut persons = csv::Reader::from_reader(persons.as_bytes());
    let first = persons.records().next().unwrap().unwrap();
    let explain = format!("explain --run run --row {} --json", &first[1]);
    let explained = workspace.line(&explain).exits(0).json();
    for side in [true, false] {
        let people = explained["groups"][0]["people"].as_array().unwrap();
        let of_side: Vec<&Value> = people.iter().filter(|it| it["is_member"] == side).collect();
        let distance = |it: &Value| it["distance"].as_f64().unwrap();
        for person in &of_side {
            let parts = person["differs"].as_array().unwrap().iter();
            let parts: f64 = parts.filter_map(|it| it["distance"].as_f64()).sum();
            assert!((parts - distance(person)).abs() < 1e-9, "{person}");
        }
        let mean = of_side.iter().map(|it| distance(it)).sum::<f64>() / of_side.len() as f64;
        let column = if side { 7 } else { 8 };
        let written: f64 = first[column].parse().unwrap();
        assert!((mean - written).abs() < 1e-9, "{mean} {written}");
    }
}

/// A table without some of its columns.
fn without(table: &str, columns: &[&str]) -> String {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().unwrap().clone();
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in [header.clone()]
        .into_iter()
        .chain(reader.records().map(Result::unwrap))
    {
        let cells = header.iter().zip(record.iter());
        let cells = cells.filter(|(name, _)| !columns.contains(name));
        writer.write_record(cells.map(|(_, cell)| cell)).unwrap();
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

#[test]
fn drawn_counterparts_are_decided_by_the_model_and_kept_in_a_file() {
    let (workspace, _) = workspace("");
    // The model never sees the sex.
    let schema: String = PEOPLE
        .split("[[attribute]]\nname = \"sex\"")
        .take(1)
        .collect();
    workspace.write("model.toml", schema.replace("\"hidden\"", "\"seen\""));
    let seen = without(&workspace.read("people.csv"), &["sex"]);
    workspace.write("seen.csv", seen);
    let train = "train --data seen.csv --schema model.toml --hidden 8 --epochs 10 --out model -q";
    workspace.line(train).exits(0);
    let asked = "counterparts --model model --schema people.toml --data people.csv --protected sex=female --counterpart density --unaffected age";
    let of = |rest: &str| {
        let line = format!("{asked} --json -q {rest}");
        workspace.line(&line).exits(0).json()
    };
    let summary = of("--out run --threads 1");
    assert_eq!(summary["drawn"]["unaffected"][0], "age");
    assert_eq!(of("--threads 2")["groups"], summary["groups"]);
    assert_ne!(of("--seed 5")["groups"], summary["groups"]);
    let group = &summary["groups"][0];
    assert!(group.get("comparison").is_none());
    assert_eq!(group["drawn"]["unmet"], 0);
    // The exact interval of as many pairs as both sides together tell.
    let count = |side: &str| group[side]["people"].as_f64().unwrap();
    let pairs = (count("members") * count("others") / (count("members") + count("others"))).floor();
    let [low, high] = [0, 1].map(|end| group["against"]["ci95"][end].as_f64().unwrap());
    let share = group["against"]["share"].as_f64().unwrap();
    let wide = 2.0 * 1.96 * (share * (1.0 - share) / pairs).sqrt();
    assert!(
        (high - low - wide).abs() < 0.1 * wide,
        "{low} {high} {wide}"
    );

    // What the model says of the people in the file is what was said of the counterparts.
    let drawn = workspace.read("run/drawn.csv");
    workspace.write("drawn.csv", without(&drawn, &["group", "row", "sex"]));
    workspace
        .line("predict --model model --data drawn.csv --out said.csv -q")
        .exits(0);
    let rows = |text: String| -> Vec<csv::StringRecord> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.records().map(Result::unwrap).collect()
    };
    let (drawn, pairs) = (rows(drawn), rows(workspace.read("run/pairs.csv")));
    let people = rows(workspace.read("people.csv"));
    let said = workspace.read("said.csv");
    let mut said = csv::Reader::from_reader(said.as_bytes());
    let place = said
        .headers()
        .unwrap()
        .iter()
        .position(|it| it == "predicted");
    let said: Vec<csv::StringRecord> = said.records().map(Result::unwrap).collect();
    assert_eq!(drawn.len(), pairs.len());
    let mut against = 0;
    for ((drawn, pair), said) in drawn.iter().zip(&pairs).zip(&said) {
        assert_eq!((&drawn[1], &drawn[7]), (&pair[1], "male"));
        let row: usize = drawn[1].parse().unwrap();
        let age = people[row - 1].iter().any(|cell| *cell == drawn[2]);
        assert!(age, "{drawn:?} {:?}", people[row - 1]);
        assert_eq!(pair[4], said[place.unwrap()], "{drawn:?}");
        against += u64::from(&pair[2] == "no" && &pair[4] == "yes");
    }
    assert_eq!(group["against"]["members"], against);
    workspace.line("report run").exits(0);
    workspace
        .line(&format!("explain --run run --row {}", &drawn[0][1]))
        .exits(0)
        .says(&[
            "sex male in place of female",
            "who was drawn and is nobody of the data",
        ]);
    let scores = format!("{asked} --gap 0.1 --out scored -q");
    workspace.line(&scores).exits(0);
    let line = format!("explain --run scored --row {} --json", &drawn[0][1]);
    let explained = workspace.line(&line).exits(0).json();
    assert_eq!(explained["are_drawn"], true);
    let counterpart = &explained["groups"][0]["people"][0];
    assert!(explained["score"].is_number() && counterpart["score"].is_number());
    for (rest, needle) in [
        (
            "--resamples 5",
            "counterparts that are drawn are not matched",
        ),
        (
            "--counterfactuals people.csv",
            "counterparts that are given are not matched",
        ),
        ("--unaffected sex", "by which sex=female is not told"),
    ] {
        refuses(&workspace, &format!("{asked} {rest}"), 2, &[needle]);
    }
    for (rest, needle) in [
        (
            "--counterpart density",
            "nobody decided about people who are drawn",
        ),
        (
            "--unaffected age",
            "nothing is drawn without counterpart density",
        ),
    ] {
        refuses(
            &workspace,
            &format!("{LABEL} --protected sex {rest}"),
            2,
            &[needle],
        );
    }
    let around = "situations --label --schema people.toml --data people.csv --protected sex=female --k 10 --counterpart density --unaffected age,education --out near --json -q";
    let near = workspace.line(around).exits(0).json();
    assert_eq!(near["drawn"]["unaffected"][1], "education");
}

const PAY: &str = "name = \"pay\"\n[label]\nname = \"wage\"\nkind = \"number\"\n\
    [[attribute]]\nname = \"years\"\nkind = \"integer\"\nmin = 0\nmax = 39\n\
    [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"f\", \"m\"]\nprotected = true\n";

#[test]
fn numbers_are_compared_by_a_gap_in_their_unit() {
    let workspace = Workspace::new();
    workspace.write("pay.toml", PAY);
    let mut people = String::from("years,sex,wage\n");
    for row in 0..400 {
        let (years, sex) = (row / 2 % 40, if row % 2 == 0 { "f" } else { "m" });
        let less = if sex == "f" { 300 } else { 0 };
        people.push_str(&format!("{years},{sex},{}\n", 1_000 + 100 * years - less));
    }
    workspace.write("pay.csv", people);
    let asked = "counterparts --label --schema pay.toml --data pay.csv --protected sex=f -q --json";
    let of = |rest: &str| workspace.line(&format!("{asked} {rest}")).exits(0).json();
    for (rest, worse, better) in [
        ("--gap 299", 1.0, 0.0),
        // What equals the gap is no difference.
        ("--gap 300", 0.0, 0.0),
        ("--gap 299 --favourable lower", 0.0, 1.0),
    ] {
        let summary = of(rest);
        let group = &summary["groups"][0];
        assert_eq!(summary["number"], "wage", "{rest}");
        assert_eq!(group["against"]["share"], worse, "{rest}");
        assert_eq!(group["favouring"]["share"], better, "{rest}");
        assert_eq!(group["members"]["mean"], 2650.0, "{rest}");
        assert_eq!(group["others"]["mean"], 2950.0, "{rest}");
        assert!(group["members"].get("unfavourable").is_none());
        assert!(group.get("comparison").is_none());
    }
    workspace
        .line("counterparts --label --schema pay.toml --data pay.csv --protected sex=f --gap 299 --fail-above 0.1 --out run")
        .exits(1)
        .says(&[
            "100.00 %",
            "have a lower ‘wage’ than their counterpart outside of the group, by more than 299",
            "on average they have 2,650, and the others 2,950",
        ]);
    let pairs = workspace.read("run/pairs.csv");
    let mut pairs = csv::Reader::from_reader(pairs.as_bytes());
    for pair in pairs.records() {
        let pair = pair.unwrap();
        let [own, other] = [2, 4].map(|at| pair[at].parse::<f64>().unwrap());
        assert_eq!((other - own, &pair[7]), (300.0, "member"));
    }
    workspace
        .line("explain --run run --row 1")
        .exits(0)
        .says(&["has wage=700"]);
    workspace.line("report run --out page.html -q").exits(0);

    // A regressor is asked likewise, of people and of whoever is drawn.
    workspace
        .line("train --data pay.csv --schema pay.toml --hidden 8 --epochs 2 --out model -q")
        .exits(0);
    let model = "counterparts --model model --data pay.csv --protected sex=f -q --json";
    let summary = workspace.line(&format!("{model} --gap 1")).exits(0).json();
    assert!(summary["groups"][0]["members"]["mean"].is_number());
    let drawn = format!("{model} --gap 1 --counterpart density --unaffected years");
    let drawn = workspace.line(&drawn).exits(0).json();
    let group = &drawn["groups"][0];
    assert_eq!(group["matching"]["mean_distance"], 0.0);

    for (line, needle) in [
        (
            model.to_owned(),
            "holds numbers: counterparts compare them where gap",
        ),
        (asked.to_owned(), "holds numbers"),
        (asked.replace("counterparts", "situations"), "holds numbers"),
        (
            format!("{asked} --gap 5 --favourable wage"),
            "one of lower, higher",
        ),
        (format!("{model} --gap 5 --threshold 0.5"), "threshold"),
    ] {
        refuses(&workspace, &line, 2, &[needle]);
    }
    workspace.write(
        "classes.toml",
        PAY.replace("kind = \"number\"", "classes = [\"no\", \"yes\"]"),
    );
    workspace.write(
        "classes.csv",
        format!(
            "years,sex,wage\n{}",
            "1,f,no\n2,m,yes\n1,m,no\n2,f,no\n".repeat(20)
        ),
    );
    workspace
        .line(
            "train --data classes.csv --schema classes.toml --hidden 4 --epochs 1 --out classes -q",
        )
        .exits(0);
    refuses(
        &workspace,
        "counterparts --model classes --data classes.csv --protected sex=f --gap 2",
        2,
        &["at most 1, since probabilities are compared"],
    );
}

#[test]
fn a_density_that_few_people_have_taught_shows_little() {
    let (workspace, _) = workspace("");
    let people = workspace.read("people.csv");
    let mut men = 0;
    let few: Vec<&str> = people
        .lines()
        .filter(|line| {
            men += u64::from(line.contains(",male"));
            !line.contains(",male") || men <= 3
        })
        .collect();
    workspace.write("few.csv", few.join("\n") + "\n");
    workspace
        .line("train --data people.csv --schema people.toml --hidden 8 --epochs 10 --out model -q")
        .exits(0);
    let asked = "counterparts --model model --data few.csv --protected sex=female --counterpart density --unaffected club";
    let group = &workspace
        .line(&format!("{asked} --json -q"))
        .exits(0)
        .json()["groups"][0];
    assert_eq!(group["others"]["people"], 3);
    // Two pairs tell next to nothing.
    let [low, high] = [0, 1].map(|end| group["against"]["ci95"][end].as_f64().unwrap());
    assert!(high - low > 0.5, "{low} {high}");
    // Three men are not in all clubs.
    let unmet = group["drawn"]["unmet"].as_u64().unwrap();
    if unmet > 0 {
        workspace
            .line(asked)
            .exits(0)
            .says(&["Careful", "what the density smooths alone"]);
    }
    let line = format!("{asked},age --json -q");
    let group = &workspace.line(&line).exits(0).json()["groups"][0];
    assert!(group["drawn"]["unmet"].as_u64().unwrap() > 300, "{group}");
    // Everybody else is near nobody: all three are looked at.
    assert_eq!(group["drawn"]["nearest"]["people"], 3);
    workspace.line(&format!("{asked},age")).exits(0).says(&[
        "Real people beside those who were drawn for the people with sex ‘female’",
        "of all 3 people outside of the group",
        "the chance of the draws",
        "apart in what is unaffected",
        "Careful: of",
        "what the density smooths alone",
        "no test says how much of that the smoothing of the density makes",
    ]);
}

#[test]
fn drawn_numbers_are_written_as_the_table_writes_them() {
    let workspace = Workspace::new();
    let mut people = String::from("x;y;sex;ok\n");
    for row in 0..200 {
        let (sex, ok) = (["f", "m"][row % 2], ["no", "yes"][row / 7 % 2]);
        people.push_str(&format!(
            "1.{:03},{};{};{sex};{ok}\n",
            row,
            row % 10,
            row % 5
        ));
    }
    workspace.write("people.csv", people);
    workspace
        .line("schema infer people.csv --label-column ok --protected sex --decimal , --thousands . --out people.toml -q")
        .exits(0);
    workspace
        .line("train --data people.csv --schema people.toml --hidden 4 --epochs 1 --out model -q")
        .exits(0);
    workspace
        .line("counterparts --model model --data people.csv --protected sex=f --counterpart density --out run -q")
        .exits(0);
    let drawn = workspace.read("run/drawn.csv");
    let mut drawn = csv::Reader::from_reader(drawn.as_bytes());
    for record in drawn.records() {
        let record = record.unwrap();
        let x: f64 = record[2].parse().unwrap();
        assert!(
            (1_000.0..1_200.0).contains(&x) && &record[4] == "m",
            "{record:?}"
        );
    }
}

/// Of 40 women 14 are refused where a man of the same score is hired, and 4 the other way round; people of
/// whom the sex is not known are refused.
#[test]
fn whose_group_is_not_known_is_on_neither_side() {
    let workspace = Workspace::new();
    let twins = (0..40).map(|score| {
        let [man, woman] = match score {
            0..14 => ["yes", "no"],
            14..18 => ["no", "yes"],
            _ => ["yes", "yes"],
        };
        format!("M,{score},{man}\nF,{score},{woman}\n")
    });
    let known = "sex,score,hired\n".to_owned() + &twins.collect::<String>();
    let unknown: String = (0..14).map(|score| format!(",{score},no\n")).collect();
    workspace.write("all.csv", known.clone() + &unknown);
    workspace.write("known.csv", known);
    workspace.write(
        "people.toml",
        "name = \"people\"\n[label]\nname = \"hired\"\nclasses = [\"no\", \"yes\"]\n\
         [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"F\", \"M\"]\nmissing = [\"\", \"?\"]\n\
         outside = \"level\"\n[[attribute]]\nname = \"score\"\nkind = \"integer\"\nmin = 0\nmax = 39\n",
    );
    let group = |kind: &str, data: &str, protected: &str| {
        let line = format!("{kind} --schema people.toml --data {data} --protected {protected}");
        let summary = workspace.line(&format!("{line} --json -q")).exits(0).json();
        (line, summary["groups"][0].clone())
    };
    for (kind, fields) in [
        (
            "counterparts --label --resamples 0",
            &["against/share", "favouring/share", "comparison/p"][..],
        ),
        (
            "situations --label --k 5",
            &["own_share", "others_share", "against/cases"],
        ),
        ("proxies", &["auc/value", "balanced_accuracy/value"]),
    ] {
        let (line, some) = group(kind, "all.csv", "sex=F");
        let (_, none) = group(kind, "known.csv", "sex=F");
        assert_eq!(
            (&some["unknown"], &none["unknown"]),
            (&14.into(), &0.into())
        );
        for field in fields {
            let at = format!("/{field}");
            assert!(none.pointer(&at).is_some_and(Value::is_number), "{none}");
            assert_eq!(some.pointer(&at), none.pointer(&at), "{kind}: {field}");
        }
        let said = workspace.line(&line).exits(0);
        said.says(&["14 people whose sex is not known count on neither side."]);
    }
    // They are a group that can be asked for, by each of their marks.
    let (_, unknown) = group("counterparts --label --resamples 0", "all.csv", "sex=?");
    assert_eq!(unknown["protected"][0]["value"], "(missing: ?)");
    assert_eq!(unknown["members"]["people"], 14);
    assert_eq!(unknown["others"]["people"], 80);
}

#[test]
fn more_people_than_can_be_matched_are_refused() {
    let workspace = Workspace::new();
    let both = "M,1,yes\nF,2,no\n".repeat(100_001);
    workspace.write("many.csv", format!("sex,score,hired\n{both}"));
    workspace.write(
        "people.toml",
        "name = \"people\"\n[label]\nname = \"hired\"\nclasses = [\"no\", \"yes\"]\n\
         [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"F\", \"M\"]\n\
         [[attribute]]\nname = \"score\"\nkind = \"integer\"\nmin = 0\nmax = 39\n",
    );
    refuses(
        &workspace,
        "counterparts --label --schema people.toml --data many.csv --protected sex=F",
        2,
        &[
            "sex=F: 100001 people beside 100001 others",
            "give a part of the rows, drawn at random",
        ],
    );
}
