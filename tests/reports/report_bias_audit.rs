//! `probity groups` with impact ratios and their publication: the figures of real data, counted anew
//! from the cells of the files by other code.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use crate::report_page::Page;
use flate2::read::GzDecoder;
use probity_testing::data;

/// A person as the files say it.
struct Person {
    sex: String,
    race: String,
    /// What a model learns from.
    numbers: [String; 2],
    label: &'static str,
}

fn unpacked(folder: &Path, file: &str) -> String {
    let mut text = String::new();
    let packed = File::open(folder.join(file)).unwrap();
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
    let groups = workspace.line("report scoring").exits(0).stdout;
    let groups = Page::of(&groups);
    groups.is_accessible();
    for words in [
        "Impact ratios by sex",
        "Impact ratios by race",
        "four-fifths rule",
        "are below it",
    ] {
        assert!(groups.text.contains(words), "{words} in {}", groups.text);
    }
    let again = workspace.line("report scoring --format ll144").stdout;
    assert!(again == html, "the same run gives the same bytes");
    let without = "groups --model model --data people.csv --resamples 20 --out plain -q";
    workspace.line(without).exits(0);
    refuses(
        workspace,
        "report scoring plain --format ll144",
        2,
        &[
            "impact.sex and impact.race_ethnicity",
            "plain is a run of 'groups'",
        ],
    );
}
