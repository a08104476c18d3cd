//! Reports in the forms that rules and registers ask for: the figures counted anew from the files,
//! the documents held against their published schemas.

mod probity_command;
mod report_page;

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::process::Command;

use flate2::read::GzDecoder;
use probity::run::run_directory::file_sha256;
use probity_command::Workspace;
use probity_command::refusal::refuses;
use probity_testing::{Needed, data, skip};
use report_page::Page;
use serde_json::Value;

/// A person as the files say it.
struct Person {
    sex: String,
    race: String,
    /// What a model learns from.
    numbers: [String; 2],
    label: &'static str,
}

fn unpacked(folder: &std::path::Path, file: &str) -> String {
    let mut text = String::new();
    let packed = std::fs::File::open(folder.join(file)).unwrap();
    GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text
}

/// The people of the census; of every 23rd the sex is not known, of every 17th the race.
fn census() -> Option<Vec<Person>> {
    let text = unpacked(&data(&["adult/adult.data.gz"])?, "adult/adult.data.gz");
    let person = |line: &str| {
        let cells: Vec<&str> = line.split(", ").collect();
        (cells.len() == 15).then(|| Person {
            sex: cells[9].to_owned(),
            race: cells[8].to_owned(),
            numbers: [0, 12].map(|at| cells[at].to_owned()),
            label: if cells[14] == ">50K" { "1" } else { "0" },
        })
    };
    Some(with_unknown(text.lines().filter_map(person).collect()))
}

/// Those of Broward County.
fn compas() -> Option<Vec<Person>> {
    let file = "compas/compas-two-years-anonymised.csv.gz";
    let text = unpacked(&data(&[file])?, file);
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let person = |record: csv::StringRecord| Person {
        sex: record[1].to_owned(),
        race: record[4].to_owned(),
        numbers: [2, 9].map(|at| record[at].to_owned()),
        label: if &record[44] == "1" { "1" } else { "0" },
    };
    let people = table.records().map(|record| person(record.unwrap()));
    Some(with_unknown(people.collect()))
}

fn with_unknown(mut people: Vec<Person>) -> Vec<Person> {
    for (place, person) in people.iter_mut().enumerate() {
        if place % 23 == 0 {
            person.sex = "?".to_owned();
        }
        if place % 17 == 0 {
            person.race = "Not said".to_owned();
        }
    }
    people
}

/// Writes `people.csv` and `people.toml`, and trains `model` with them.
fn prepare(workspace: &Workspace, people: &[Person]) {
    let mut table = String::from("age,work,sex,race,good\n");
    for person in people {
        let [age, work] = &person.numbers;
        let (sex, race) = (&person.sex, &person.race);
        writeln!(table, "{age},{work},{sex},{race},{}", person.label).unwrap();
    }
    workspace.write("people.csv", table);
    let mut races: Vec<&str> = people.iter().map(|person| person.race.as_str()).collect();
    races.sort_unstable();
    races.dedup();
    workspace.write(
        "people.toml",
        format!(
            "name = \"people\"\n[label]\nname = \"good\"\nclasses = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"age\"\nkind = \"integer\"\nmin = 17\nmax = 100\noutside = \"clip\"\n\
             [[attribute]]\nname = \"work\"\nkind = \"integer\"\nmin = 0\nmax = 100\noutside = \"clip\"\n\
             [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"Female\", \"Male\"]\nmissing = \"?\"\n\
             outside = \"level\"\nprotected = true\n\
             [[attribute]]\nname = \"race\"\nkind = \"categorical\"\nlevels = {races:?}\nprotected = true\n"
        ),
    );
    workspace
        .line("train --data people.csv --schema people.toml --hidden 6 --epochs 2 --batch 512 --out model -q")
        .exits(0);
}

/// One line of a table of results: people, counted, rate, ratio.
type Figures = (usize, usize, Option<f64>, Option<f64>);

/// What the rule says of `people` with their scores, counted from the cells of the files.
fn by_hand(
    people: &[Person],
    is_counted: &[bool],
    key: impl Fn(&Person) -> Vec<String>,
) -> (usize, BTreeMap<Vec<String>, Figures>) {
    let mut unknown = 0;
    let mut groups: BTreeMap<Vec<String>, (usize, usize)> = BTreeMap::new();
    for (person, &is_counted) in people.iter().zip(is_counted) {
        let key = key(person);
        if key.iter().any(|value| value == "?" || value == "Not said") {
            unknown += 1;
            continue;
        }
        let group = groups.entry(key).or_default();
        group.0 += 1;
        group.1 += usize::from(is_counted);
    }
    let is_small = |rows: usize| 50 * rows < people.len();
    let highest = groups
        .values()
        .filter(|group| !is_small(group.0))
        .map(|group| group.1 as f64 / group.0 as f64)
        .fold(0.0, f64::max);
    let figures = groups.into_iter().map(|(key, (rows, counted))| {
        let rate = counted as f64 / rows as f64;
        let ratio = (!is_small(rows)).then_some(rate / highest);
        (key, (rows, counted, Some(rate), ratio))
    });
    (unknown, figures.collect())
}

const AUDIT: &str = "groups --model model --data people.csv --sex sex --race-ethnicity race --unknown Sought \
    --favourable 1 --min-group 1 --resamples 20 --tool Sorter --distribution-date 2026-07-01 \
    --data-kind historical -q";

#[test]
fn the_figures_of_a_bias_audit_are_those_counted_by_hand() {
    for people in [census(), compas()].into_iter().flatten() {
        let workspace = Workspace::new();
        prepare(&workspace, &people);
        workspace
            .line("predict --model model --data people.csv --out scores.csv -q")
            .exits(0);
        let text = workspace.read("scores.csv");
        let mut scores = csv::Reader::from_reader(text.as_bytes());
        let headers = scores.headers().unwrap().clone();
        let column = |name: &str| headers.iter().position(|other| other == name).unwrap();
        let (predicted, probability) = (column("predicted"), column("probability_1"));
        let (mut selected, mut score): (Vec<bool>, Vec<f64>) = (Vec::new(), Vec::new());
        for record in scores.records() {
            let record = record.unwrap();
            selected.push(&record[predicted] == "1");
            score.push(record[probability].parse().unwrap());
        }
        let mut sorted = score.clone();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = ((sorted.len() - 1) / 2, sorted.len() / 2);
        let median = (sorted[low] + sorted[high]) / 2.0;
        let above: Vec<bool> = score.iter().map(|&score| score > median).collect();
        for (rate, is_counted) in [("selection", &selected), ("scoring", &above)] {
            let line = AUDIT.replace("Sought", "\"Not said\"");
            let words = shlex::split(&line).unwrap();
            let reason = ["--exclusion-reason", "Ratios of so few people are chance"];
            let more = ["--impact-rate", rate, "--out", rate];
            let words = words.iter().map(String::as_str);
            workspace.run(words.chain(reason).chain(more)).exits(0);
            workspace
                .line(&format!("report {rate} --format ll144 --out {rate}.csv"))
                .exits(0);
            let mut table = csv::Reader::from_path(workspace.path(&format!("{rate}.csv"))).unwrap();
            let lines: Vec<BTreeMap<String, String>> =
                table.deserialize().map(|line| line.unwrap()).collect();
            let mut small = 0;
            type Key = fn(&Person) -> Vec<String>;
            let sets: [(&str, Key); 3] = [
                ("sex", |it| vec![it.sex.clone()]),
                ("race_ethnicity", |it| vec![it.race.clone()]),
                ("sex_and_race_ethnicity", |it| {
                    vec![it.sex.clone(), it.race.clone()]
                }),
            ];
            for (by, key) in sets {
                let (unknown, expected) = by_hand(&people, is_counted, key);
                let of_set = lines.iter().filter(|line| line["by"] == by);
                let (mut found, mut listed) = (BTreeMap::new(), 0);
                for line in of_set {
                    let number = |name: &str| line[name].parse::<f64>().ok();
                    let rows = number("applicants").unwrap() as usize;
                    assert_eq!(line["tool"], "Sorter");
                    assert_eq!(line["data_source"], "TO BE FILLED IN");
                    if line["applicants"] == "0" {
                        // A combination that the schema knows and nobody has.
                        assert_eq!(
                            (line["rate"].as_str(), line["impact_ratio"].as_str()),
                            ("", "")
                        );
                        continue;
                    }
                    listed += rows;
                    let values = [&line["sex"], &line["race_ethnicity"]].into_iter();
                    let values: Vec<String> =
                        values.filter(|value| !value.is_empty()).cloned().collect();
                    if values.iter().any(|value| value == "unknown") {
                        assert_eq!((rows, number("rate")), (unknown, None));
                        continue;
                    }
                    let is_out = line["excluded"] == "true";
                    assert_eq!(is_out, !line["exclusion_reason"].is_empty());
                    small += u32::from(is_out);
                    let counted = number("counted").unwrap() as usize;
                    let figures = (rows, counted, number("rate"), number("impact_ratio"));
                    found.insert(values, figures);
                }
                assert_eq!(listed, people.len());
                assert!(unknown > 0);
                let keys = |all: &BTreeMap<Vec<String>, Figures>| -> Vec<Vec<String>> {
                    all.keys().cloned().collect()
                };
                assert_eq!(keys(&found), keys(&expected));
                let is_near = |a: Option<f64>, b: Option<f64>| match (a, b) {
                    (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                    (a, b) => a == b,
                };
                for (found, expected) in found.values().zip(expected.values()) {
                    let is_same = (found.0, found.1) == (expected.0, expected.1)
                        && is_near(found.2, expected.2)
                        && is_near(found.3, expected.3);
                    assert!(is_same, "{rate} by {by}: {found:?} {expected:?}");
                }
            }
            // Two races of either file are below 2 %, and more of the intersections.
            assert!(small >= 4, "{small}");
        }
        bias_audit_pages(&workspace);
    }
}

/// What the page of a bias audit says, and what it is not made of.
fn bias_audit_pages(workspace: &Workspace) {
    let html = workspace
        .line("report scoring --format ll144")
        .exits(0)
        .stdout;
    let page = Page::of(&html);
    page.is_self_contained();
    page.is_accessible();
    for words in [
        "Bias audit of Sorter: summary of results",
        "Median score",
        "Tool distributed from",
        "2026-07-01",
        "TO BE FILLED IN",
        "Ratios of so few people are chance",
        "because theirs is unknown",
        "excluded",
    ] {
        assert!(page.text.contains(words), "{words} in {}", page.text);
    }
    let again = workspace.line("report scoring --format ll144").stdout;
    assert!(again == html, "the same run gives the same bytes");
    let without = "groups --model model --data people.csv --resamples 20 --out plain -q";
    workspace.line(without).exits(0);
    refuses(
        workspace,
        "report scoring plain --format ll144",
        2,
        &["--sex and --race-ethnicity", "plain is a run of 'groups'"],
    );
}

/// Runs `script` with the workspace's Python, where it has the module of that name; else `None`
/// after saying so.
fn python(workspace: &Workspace, module: &str, script: &str) -> Option<Outcome> {
    let python = env::var("PROBITY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_it = Command::new(&python)
        .args(["-c", &format!("import {module}")])
        .output();
    if !has_it.is_ok_and(|output| output.status.success()) {
        skip(Needed::Python, &format!("no {module}"));
        return None;
    }
    let output = Command::new(&python)
        .args(["-c", script])
        .current_dir(workspace.path("."))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let problems = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((output.status.success(), said, problems))
}

/// Whether a program succeeded, and its two outputs.
type Outcome = (bool, String, String);

/// A classifier of tables with every kind of run of it.
fn with_runs() -> Workspace {
    let workspace = Workspace::with_demo(1500);
    let data = "--data demo/people.csv";
    for line in [
        format!(
            "repair --model demo/model {data} --run demo/audit --repeats 1 --epochs 2 --estimate 500 --save-anyway --out fairer"
        ),
        format!(
            "groups --model demo/model {data} --protected sex,age --edges age=30,50 --sex sex --race-ethnicity origin --resamples 50 --out groups"
        ),
        format!("certify --model demo/model {data} --part test --splits 2 --out proofs"),
        "data generate people --rows 20 --seed 2 --out new.csv".to_owned(),
        "knn --train demo/people.csv --test new.csv --schema synthetic-census --poison 1 --out knn"
            .to_owned(),
    ] {
        let code = workspace.line(&line).code;
        assert!(code == Some(0) || code == Some(1), "{line}: {code:?}");
    }
    workspace
}

const VALID_BOM: &str = "
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
for file in ('one.json', 'all.json'):
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(file).read())
    if problem: sys.exit(f'{file}: {problem}')
";

#[test]
fn bills_of_materials_are_valid_and_hold_the_figures() {
    let workspace = with_runs();
    let all = "demo groups fairer proofs";
    for (runs, file) in [("demo", "one.json"), (all, "all.json")] {
        let line = format!("report {runs} --format cyclonedx --out {file}");
        workspace.line(&line).exits(0);
    }
    let again = workspace.line(&format!("report {all} --format cyclonedx"));
    assert!(again.exits(0).stdout == workspace.read("all.json"));
    let bom = workspace.json("all.json");
    assert_ne!(
        bom["serialNumber"],
        workspace.json("one.json")["serialNumber"]
    );
    let components = bom["components"].as_array().unwrap();
    let of = |kind: &str| -> Vec<&Value> {
        let all = components.iter();
        all.filter(|component| component["type"] == kind).collect()
    };
    let (models, data) = (of("machine-learning-model"), of("data"));
    assert_eq!((models.len(), data.len()), (2, 1));
    let summary = workspace.summary("demo/audit");
    let hash = |component: &Value| component["hashes"][0]["content"].clone();
    let audited = workspace.json("groups/summary.json");
    assert_eq!(hash(models[0]), audited["model_sha256"]);
    assert_eq!(hash(data[0]), audited["data_sha256"]);
    let repaired = workspace.summary("fairer");
    assert_eq!(hash(models[1]), repaired["repaired_sha256"]);
    let ancestor = &models[1]["pedigree"]["ancestors"][0];
    assert_eq!(ancestor["hashes"][0]["content"], audited["model_sha256"]);
    let card = &models[0]["modelCard"];
    let parameters = &card["modelParameters"];
    assert_eq!(
        parameters["architectureFamily"],
        "feed-forward neural network"
    );
    assert_eq!(parameters["datasets"][0]["ref"], data[0]["bom-ref"]);
    let metrics = card["quantitativeAnalysis"]["performanceMetrics"]
        .as_array()
        .unwrap();
    let metric = |kind: &str, slice: &str| {
        let mut metrics = metrics.iter();
        let found = metrics.find(|it| it["type"] == kind && it["slice"] == slice);
        found.unwrap_or_else(|| panic!("no {kind} {slice} in {metrics:?}"))
    };
    let number = |text: &Value| text.as_str().unwrap().parse::<f64>().unwrap();
    let joint = summary["population"]["shares"]
        .as_array()
        .unwrap()
        .last()
        .unwrap();
    let shown = metric(
        "Discriminatory share of the rows of the data",
        "by sex × origin",
    );
    assert!((number(&shown["value"]) - joint["rate"].as_f64().unwrap()).abs() < 1e-12);
    let low = number(&shown["confidenceInterval"]["lowerBound"]);
    assert!((low - joint["ci95"][0].as_f64().unwrap()).abs() < 1e-12);
    let group = &audited["sets"][0]["groups"][0];
    let slice = format!("of sex={}", group["values"][0].as_str().unwrap());
    let rate = number(&metric("Selection rate", &slice)["value"]);
    assert!((rate - group["selection_rate"]["value"].as_f64().unwrap()).abs() < 1e-12);
    let assessments = card["considerations"]["fairnessAssessments"]
        .as_array()
        .unwrap();
    assert!(assessments.len() > 4, "{assessments:?}");
    refuses(
        &workspace,
        "report demo knn --format cyclonedx",
        2,
        &["--format cyclonedx is made of", "knn is a run of 'knn'"],
    );
    if let Some((is_valid, _, problems)) = python(
        &workspace,
        "cyclonedx.validation.json, jsonschema",
        VALID_BOM,
    ) {
        assert!(is_valid, "{problems}");
    }
}

#[test]
fn annexes_of_the_ai_act_say_what_runs_know_and_leave_the_rest_open() {
    let workspace = with_runs();
    let runs = "report demo groups fairer proofs knn --format ai-act";
    let html = workspace.line(runs).exits(0).stdout;
    let page = Page::of(&html);
    page.is_self_contained();
    page.is_accessible();
    workspace.line(&format!("{runs} --out annex.md")).exits(0);
    let markdown = workspace.read("annex.md");
    let text = page.text.replace('\u{a0}', " ");
    let audited = workspace.json("groups/summary.json");
    let summary = file_sha256(&workspace.path("demo/audit/summary.json")).unwrap();
    for words in [
        "Regulation (EU) 2024/1689",
        "Annex IV, point 2(g)",
        "Signed by the responsible person",
        "TO BE FILLED IN",
        "Origin of the data",
        "probity run demo/audit",
        "Accuracy",
        "Discriminatory share of the rows of the data by sex × origin",
        "Selection rate of sex=",
        "Predictions proved to stand",
        audited["model_sha256"].as_str().unwrap(),
        audited["data_sha256"].as_str().unwrap(),
        summary.as_str(),
    ] {
        assert!(text.contains(words), "{words} in {text}");
        let plain = markdown.replace('\\', "").replace('\u{a0}', " ");
        assert!(plain.contains(words), "{words} in {plain}");
    }
    assert!(markdown.starts_with("# AI Act"), "{markdown}");
    // Without k-NN nothing is known of robustness, and that is said.
    let without = workspace
        .line("report groups --format ai-act")
        .exits(0)
        .stdout;
    assert!(
        Page::of(&without)
            .text
            .contains("none of the runs measured this")
    );
}

const VALID_CROISSANT: &str = "
import sys, mlcroissant
for file in ('audit.json', 'groups.json'):
    data = mlcroissant.Dataset(jsonld=file)
    rai = data.metadata.data_biases, data.metadata.data_limitations
    if data.metadata.ctx.issues.errors or not all(rai):
        sys.exit(f'{file}: {data.metadata.ctx.issues.report()} {rai}')
    print(len(rai[0]), len(rai[1]), data.metadata.distribution[0].sha256)
";

#[test]
fn data_are_described_as_croissant() {
    let workspace = with_runs();
    for (run, file) in [("demo", "audit.json"), ("groups", "groups.json")] {
        let line = format!("report {run} --format croissant --out {file}");
        workspace.line(&line).exits(0);
    }
    let described = workspace.json("groups.json");
    let summary = workspace.json("groups/summary.json");
    assert_eq!(
        described["distribution"][0]["sha256"],
        summary["data_sha256"]
    );
    assert_eq!(
        described["rai:personalSensitiveInformation"],
        serde_json::json!(["sex", "age"])
    );
    let biases = described["rai:dataBiases"].to_string();
    let rows = summary["sets"][0]["groups"][0]["rows"].as_u64().unwrap();
    assert!(
        biases.contains(&format!(
            "sex = {}: {rows} of",
            summary["sets"][0]["groups"][0]["values"][0]
                .as_str()
                .unwrap()
        )),
        "{biases}"
    );
    refuses(
        &workspace,
        "report demo groups --format croissant",
        2,
        &["--format croissant is made of one run, not of 2"],
    );
    refuses(
        &workspace,
        "report proofs --format croissant",
        2,
        &["--format croissant is made of a run of audit or groups"],
    );
    if let Some((is_valid, said, problems)) = python(&workspace, "mlcroissant", VALID_CROISSANT) {
        assert!(is_valid, "{problems}");
        assert!(
            said.contains(summary["data_sha256"].as_str().unwrap()),
            "{said}"
        );
    }
}

#[test]
fn a_page_is_printed_by_a_browser_that_loads_nothing() {
    let workspace = Workspace::with_demo(400);
    // A browser that is not there, and one that does nothing.
    let named = |browser: &str, out: &str| {
        let line = format!("report demo --format pdf --out {out}");
        let mut command = workspace.prepared(&line);
        command.env("PROBITY_CHROMIUM", browser).output().unwrap()
    };
    let absent = named("/nowhere/chromium", "absent.pdf");
    let said = String::from_utf8_lossy(&absent.stderr).into_owned();
    assert_eq!(absent.status.code(), Some(2), "{said}");
    assert!(
        said.contains("/nowhere/chromium cannot be started"),
        "{said}"
    );
    let idle = named("/bin/true", "idle.pdf");
    let said = String::from_utf8_lossy(&idle.stderr).into_owned();
    assert!(said.contains("/bin/true printed no PDF"), "{said}");
    assert!(!workspace.path("idle.pdf").exists() && !workspace.path("absent.pdf").exists());
    let mut command = workspace.prepared("report demo --format pdf --out none.pdf");
    let none = command
        .env_remove("PROBITY_CHROMIUM")
        .env("PATH", "/nowhere");
    let said = String::from_utf8_lossy(&none.output().unwrap().stderr).into_owned();
    assert!(
        said.contains("no Chromium or Chrome on the search path"),
        "{said}"
    );

    let printed = workspace.line("report demo --format pdf --out demo.pdf");
    if printed
        .stderr
        .contains("no Chromium or Chrome on the search path")
    {
        return skip(Needed::Browser, "no Chromium");
    }
    printed.exits(0);
    let pdf = fs::read(workspace.path("demo.pdf")).unwrap();
    assert!(
        pdf.starts_with(b"%PDF-") && pdf.len() > 20_000,
        "{}",
        pdf.len()
    );
    let pages = String::from_utf8_lossy(&pdf)
        .matches("/Type /Page\n")
        .count();
    assert!(pages > 1, "{pages}");
}
