//! Numbers of the data and of bins.

use std::collections::HashSet;

use probity::data::schema::{Encoded, Encoder, Schema};

use crate::fake;
use crate::probity_command::{Outcome, Workspace};

/// 300 people whose wages are no edges of any bins; `sex` does not go along with anything.
fn wages() -> Vec<(u32, f64, &'static str)> {
    let person = |row: u32| {
        let wage = 5.0 + f64::from(row * 37 % 300) / 10.0;
        (20 + row * 7 % 60, wage, fake::LIMITS[row as usize % 2].0)
    };
    (0..300).map(person).collect()
}

fn with_wages() -> Workspace {
    let workspace = Workspace::new();
    let mut text = "age,wage,sex,income\n".to_owned();
    for (age, wage, sex) in wages() {
        let class = if wage < 20.0 { "low" } else { "high" };
        text += &format!("{age},{wage},{sex},{class}\n");
    }
    workspace.write("people.csv", text);
    workspace
}

fn audit_wages(workspace: &Workspace, schema: &str, out: &str) -> Outcome {
    let source = format!("command:{}", fake::command("wages"));
    let line = format!(
        "audit --schema {schema} --data people.csv --protected sex --seeds 300 --local 5 --estimate 200 \
         --samples csv --strategy random-walk --out {out}"
    );
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--predictor", &source]);
    workspace.run(arguments)
}

/// Rows of the data are asked about with their own numbers, others with one of their bin that rows
/// have; how far the two lie apart is said.
#[test]
fn numbers_of_the_data_are_kept_and_what_bins_change_is_said() {
    let workspace = with_wages();
    let infer = "schema infer people.csv --label-column income --protected sex --out";
    workspace.line(&format!("{infer} people.toml")).exits(0);
    let schema = Schema::from_toml(&workspace.read("people.toml")).unwrap();
    let wage = &schema.attributes[schema.index_of("wage").unwrap()];
    let encoder = Encoder::new(wage);
    let bin = |wage: f64| match encoder.encode_number(wage) {
        Ok(Encoded::Code(bin)) => bin,
        other => panic!("{wage}: {other:?}"),
    };
    let stands_for = |wage_of: f64| wage.decode(bin(wage_of)).parse::<f64>().unwrap();
    let decides = |wage: f64, sex: &str| {
        let limit = fake::LIMITS.iter().find(|(name, _)| *name == sex);
        wage >= limit.unwrap().1
    };
    let people = wages();
    let changed = people.iter().filter(|(_, wage, sex)| {
        assert!(people.iter().any(|other| other.1 == stands_for(*wage)));
        decides(*wage, sex) != decides(stands_for(*wage), sex)
    });
    let changed = changed.count() as u64;
    assert!(changed > 3 && changed < 60, "{changed}");
    audit_wages(&workspace, "people.toml", "run")
        .exits(0)
        .complains(&[
            &format!("{changed} of 300 rows of the data"),
            "WARNING",
            "--bins exact",
        ]);
    let bins = &workspace.json("run/summary.json")["bins"];
    assert_eq!(
        (&bins["rows"], &bins["changed"]),
        (&300.into(), &changed.into())
    );
    // All rows are seeds. Bins know nothing between the limits: only wages of the data are there,
    // the same on both sides.
    let individuals: HashSet<(u32, i32)> = people
        .iter()
        .map(|(age, wage, _)| (*age, bin(*wage)))
        .collect();
    let first = |key: &(u32, i32)| {
        let mut same = people
            .iter()
            .filter(|(age, wage, _)| (*age, bin(*wage)) == *key);
        same.next().unwrap().1
    };
    let between = |wage: &f64| decides(*wage, "male") && !decides(*wage, "female");
    // The share of the rows is of each with its own wage.
    let flips = people.iter().filter(|(_, wage, _)| between(wage)).count();
    let shares = &workspace.json("run/summary.json")["population"]["shares"][0];
    assert_eq!(shares["discriminatory"], flips, "{shares}");
    let expected = individuals.iter().map(first).filter(between).count();
    assert!(expected > 2, "{expected}");
    let samples = workspace.read("run/samples.csv");
    let mut rows = csv::Reader::from_reader(samples.as_bytes());
    let names = rows.headers().unwrap().clone();
    let at = |name: &str| names.iter().position(|found| found == name).unwrap();
    let mut found = 0;
    for row in rows.records() {
        let row = row.unwrap();
        let [own, other] =
            ["x_wage", "other_wage"].map(|name| row[at(name)].parse::<f64>().unwrap());
        assert_eq!(own, other);
        assert!(
            between(&own) && people.iter().any(|(_, wage, _)| *wage == own),
            "{row:?}"
        );
        found += 1;
    }
    assert!(found >= expected, "{found} of {expected}");
    let median = (0..wage.levels() as i32).any(|bin| between(&wage.decode(bin).parse().unwrap()));
    assert!(!median, "the seeds alone show what is between the limits");
    workspace.line("verify run").exits(0).says(&[" 0 rejected"]);
    workspace.line("report run --out report.html").exits(0);
    assert!(
        workspace
            .read("report.html")
            .contains("get another class from the predictor")
    );
    // The numbers that are written count, not their bins.
    let line = samples.lines().nth(1).unwrap();
    let own = line.split(',').nth(at("other_wage")).unwrap();
    let shifted = stands_for(own.parse().unwrap()).to_string();
    let cells = line
        .split(',')
        .enumerate()
        .map(|(place, cell)| match place == at("other_wage") {
            true => shifted.as_str(),
            false => cell,
        });
    workspace.edit(
        "run/samples.csv",
        line,
        &cells.collect::<Vec<_>>().join(","),
    );
    workspace
        .line("verify run")
        .exits(1)
        .says(&["1 rejected", "differ in 'wage', which is not protected"]);
    // One number a bin: nothing is lost. A schema that names none: those of the data.
    workspace
        .line(&format!("{infer} exact.toml --bins exact"))
        .exits(0);
    let exact = audit_wages(&workspace, "exact.toml", "exact").exits(0);
    assert!(
        !exact.stderr.contains("get another class"),
        "{}",
        exact.stderr
    );
    assert_eq!(workspace.json("exact/summary.json")["bins"]["changed"], 0);
    let mut bare: toml::Table = workspace.read("people.toml").parse().unwrap();
    for attribute in bare["attribute"].as_array_mut().unwrap() {
        attribute.as_table_mut().unwrap().remove("values");
    }
    workspace.write("bare.toml", toml::to_string(&bare).unwrap());
    audit_wages(&workspace, "people.toml --predictor-rows 7", "small").exits(0);
    assert!(workspace.read("small/samples.csv") == samples);
    audit_wages(&workspace, "bare.toml", "bare").exits(0);
    assert_eq!(workspace.json("bare/summary.json")["bins"], *bins);
    assert!(workspace.read("bare/samples.csv") == samples);
    workspace
        .line("verify bare")
        .exits(0)
        .says(&[" 0 rejected"]);
}

/// Everything that is made of a person keeps the person's own numbers, wherever it has the same bin.
#[test]
fn an_explanation_keeps_own_numbers() {
    let workspace = with_wages();
    let infer = "schema infer people.csv --label-column income --protected sex --out";
    workspace.line(&format!("{infer} people.toml")).exits(0);
    let schema = Schema::from_toml(&workspace.read("people.toml")).unwrap();
    let place = schema.index_of("wage").unwrap();
    let wage = &schema.attributes[place];
    let encoder = Encoder::new(wage);
    let people = wages();
    let [(_, women), (_, men)] = fake::LIMITS;
    let is_between = |wage: f64| men <= wage && wage < women;
    let (mut flipping, mut binned) = (0, 0);
    for (row, &(_, own, _)) in people.iter().enumerate() {
        let Ok(Encoded::Code(bin)) = encoder.encode_number(own) else {
            panic!("{own}");
        };
        let stands_for = |bin: i32| wage.decode(bin).parse::<f64>().unwrap();
        binned += usize::from(is_between(stands_for(bin)) && !is_between(own));
        if !is_between(own) || flipping == 4 {
            continue;
        }
        flipping += 1;
        let source = format!("command:{}", fake::command("wages"));
        let line = format!(
            "explain --schema people.toml --data people.csv --protected sex --json --row {}",
            row + 1
        );
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend(["--predictor", &source]);
        let said = workspace.run(arguments).exits(0).json();
        assert_eq!(said["flips"], 1, "{own}");
        let own_wage = own.to_string();
        let is_own = |value: &serde_json::Value| {
            value["attribute"] == "wage" && value["value"] == own_wage.as_str()
        };
        assert!(said["input"].as_array().unwrap().iter().any(is_own));
        let (min, max) = wage.domain();
        let nearest = (min..=max)
            .filter(|&to| to != bin && !is_between(stands_for(to)))
            .min_by_key(|to| ((to - bin).abs(), *to));
        let change = &said["undoing"]["changes"][0];
        assert_eq!(change["changes"].as_array().unwrap().len(), 1);
        assert_eq!(change["changes"][0]["from"], own.to_string());
        assert_eq!(change["changes"][0]["to"], wage.decode(nearest.unwrap()));
        // Nothing else matters to this predictor.
        assert_eq!(said["undoing"]["ending"], "exhausted");
        assert_eq!(said["undoing"]["changes"].as_array().unwrap().len(), 1);
    }
    assert!(flipping == 4, "{flipping}, {binned}");
}

/// Rates of groups and figures of an evaluation are of the predictor's answers to the rows as they are.
#[test]
fn groups_and_evaluations_ask_about_the_rows_as_they_are() {
    let workspace = with_wages();
    let infer = "schema infer people.csv --label-column income --protected sex --out";
    workspace.line(&format!("{infer} people.toml")).exits(0);
    let source = format!("command:{}", fake::command("wages"));
    let ask = |line: &str| {
        let line = format!("{line} --schema people.toml --data people.csv");
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend(["--predictor", &source]);
        workspace.run(arguments)
    };
    let options = "--favourable high --min-group 1 --resamples 20";
    ask(&format!("groups {options} --out measured")).exits(0);
    let found = workspace.summary("measured");
    let decides = |wage: f64, sex: &str| {
        let limit = fake::LIMITS.iter().find(|(name, _)| *name == sex);
        wage >= limit.unwrap().1
    };
    let people = wages();
    let groups = found["sets"][0]["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    for group in groups {
        let sex = group["values"][0].as_str().unwrap();
        let of_sex: Vec<f64> = people
            .iter()
            .filter(|it| it.2 == sex)
            .map(|it| it.1)
            .collect();
        let selected = of_sex.iter().filter(|wage| decides(**wage, sex)).count();
        let rate = selected as f64 / of_sex.len() as f64;
        assert!((group["selection_rate"]["value"].as_f64().unwrap() - rate).abs() < 1e-12);
    }
    let right = people
        .iter()
        .filter(|it| decides(it.1, it.2) == (it.1 >= 20.0))
        .count();
    let judged = ask("evaluate --json").exits(0).json();
    let accuracy = right as f64 / people.len() as f64;
    assert!((judged["accuracy"].as_f64().unwrap() - accuracy).abs() < 1e-12);
    let part = ask("groups --part test");
    part.exits(2)
        .complains(&["--part is given, but must be left out"]);
    // A specification written by hand sees the predictor's files from its own folder.
    std::fs::create_dir(workspace.path("below")).unwrap();
    let run = format!(
        "kind = \"groups\"\ndata = \"../people.csv\"\n[groups]\nfavourable = \"high\"\nmin_group = 1\n\
         resamples = 20\n[predictor]\nsource = {source:?}\nschema = \"../people.toml\"\n"
    );
    workspace.write("below/run.toml", &run);
    workspace.line("run below/run.toml --out again").exits(0);
    assert_eq!(workspace.summary("again"), found);
    let elsewhere = run.replace("../people.toml", "people.toml") + "directory = \"..\"\n";
    workspace.write("below/run.toml", elsewhere);
    workspace.line("run below/run.toml --out third").exits(0);
    assert_eq!(workspace.summary("third"), found);
}
