//! `probity explain`, end to end, against answers asked for one by one.

use std::collections::HashSet;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use probity::Model;
use probity::data::table::{Labels, Table};
use probity::nn::fnn::Fnn;
use probity::nn::{Classifier, Rows};
use probity::tensor::device::ComputeDevice;
use serde_json::{Value, json};

const EXPLAIN: &str = "explain --model demo/model --data demo/people.csv --protected sex,origin";

/// The model and the people of the demonstration, in codes.
struct Demo {
    workspace: Workspace,
    model: Model,
    network: Fnn,
    people: Table,
}

impl Demo {
    fn new() -> Demo {
        let workspace = Workspace::with_demo(1500);
        let model = Model::load(workspace.path("demo/model")).unwrap();
        let data = workspace.path("demo/people.csv");
        Demo {
            people: Table::read(data, &model.schema, Labels::Optional).unwrap(),
            network: Fnn::new(&model.network, &ComputeDevice::flex()),
            workspace,
            model,
        }
    }

    fn place(&self, name: &str) -> usize {
        self.model.schema.index_of(name).unwrap()
    }

    /// Class and probabilities.
    fn answer(&self, row: &[i32]) -> (usize, Vec<f64>) {
        let logits = self.network.logits(Rows::new(row, row.len())).unwrap();
        let shares: Vec<f64> = logits.iter().map(|&logit| f64::from(logit).exp()).collect();
        let sum: f64 = shares.iter().sum();
        let class = (0..logits.len())
            .rev()
            .max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
        (
            class.unwrap(),
            shares.iter().map(|share| share / sum).collect(),
        )
    }

    /// The classes of all variants.
    fn classes(&self, row: &[i32]) -> HashSet<usize> {
        let (sex, origin) = (self.place("sex"), self.place("origin"));
        let values = (0..2).flat_map(|a| (0..4).map(move |b| (a, b)));
        let class = values.map(|(a, b)| {
            let mut other = row.to_vec();
            (other[sex], other[origin]) = (a, b);
            self.answer(&other).0
        });
        class.collect()
    }

    /// The code of what an explanation names.
    fn code(&self, attribute: &str, value: &Value) -> i32 {
        let attribute = &self.model.schema.attributes[self.place(attribute)];
        let (min, max) = attribute.domain();
        let mut codes = min..=max;
        let code = codes.find(|&code| attribute.decode(code) == value.as_str().unwrap());
        code.unwrap()
    }

    /// `row` after `changes`.
    fn changed(&self, row: &[i32], changes: &Value) -> Vec<i32> {
        let mut other = row.to_vec();
        for change in changes.as_array().unwrap() {
            let name = change["attribute"].as_str().unwrap();
            let place = self.place(name);
            assert_eq!(other[place], self.code(name, &change["from"]));
            other[place] = self.code(name, &change["to"]);
        }
        other
    }

    /// Single attributes that are not `fixed`, each with its smallest change that undoes the flips.
    fn single(&self, row: &[i32], fixed: &[&str]) -> Vec<(f64, usize)> {
        let mut found = Vec::new();
        for (place, attribute) in self.model.schema.attributes.iter().enumerate() {
            let name = attribute.name.as_str();
            if fixed.contains(&name) || ["sex", "origin"].contains(&name) {
                continue;
            }
            let (min, max) = attribute.domain();
            let distances = (min..=max).filter_map(|code| {
                let mut other = row.to_vec();
                other[place] = code;
                let apart = f64::from((code - row[place]).abs()) / f64::from(max - min);
                let distance = if name == "household" { 1.0 } else { apart };
                (self.classes(&other).len() == 1).then_some(distance)
            });
            found.extend(distances.min_by(f64::total_cmp).map(|least| (least, place)));
        }
        found.sort_by(|a, b| a.partial_cmp(b).unwrap());
        found
    }
}

#[test]
fn variants_and_smallest_changes_are_those_of_the_model() {
    let demo = Demo::new();
    let rows = 0..demo.people.rows();
    let is_burdened = |&row: &usize| demo.classes(demo.people.row(row)).len() > 1;
    let flipping: Vec<usize> = rows.clone().filter(is_burdened).take(4).collect();
    let mut singles = 0;
    for &at in &flipping {
        let row = demo.people.row(at);
        for fixed in [&[][..], &["education", "region"]] {
            let options = match fixed.join(",") {
                names if names.is_empty() => names,
                names => format!(" --fixed {names}"),
            };
            let line = format!(
                "{EXPLAIN}{options} --favourable high --alternatives 20 --json --row {}",
                at + 1
            );
            let said = demo.workspace.line(&line).exits(0).json();
            let (own, shares) = demo.answer(row);
            let classes = ["low", "high"];
            assert_eq!(said["class"], classes[own]);
            let mut flips = 0;
            let variants = said["variants"].as_array().unwrap();
            assert_eq!(variants.len(), 8);
            for variant in variants {
                let other = demo.changed(row, &variant["changed"]);
                let (class, shares) = demo.answer(&other);
                assert_eq!(variant["class"], classes[class]);
                for (said, share) in variant["probabilities"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .zip(shares)
                {
                    assert!((said.as_f64().unwrap() - share).abs() < 1e-6);
                }
                assert_eq!(variant["flips"], class != own);
                let way = match (class == own, class) {
                    (true, _) => Value::Null,
                    (false, 1) => json!("to_favourable"),
                    (false, _) => json!("from_favourable"),
                };
                assert_eq!(variant["direction"], way);
                flips += usize::from(class != own);
            }
            assert_eq!(said["flips"], flips);
            let own_share = said["probabilities"][own].as_f64().unwrap();
            assert!((own_share - shares[own]).abs() < 1e-6);
            let undoing = &said["undoing"];
            assert_eq!(undoing["proven"], true, "{undoing}");
            let found = undoing["changes"].as_array().unwrap();
            for change in found {
                let other = demo.changed(row, &change["changes"]);
                let classes_of_all = demo.classes(&other);
                assert_eq!(classes_of_all.len(), 1);
                assert_eq!(
                    change["class"],
                    classes[*classes_of_all.iter().next().unwrap()]
                );
            }
            // All that change one attribute come first, by distance.
            let single = demo.single(row, fixed);
            let is_single = |change: &&Value| change["changes"].as_array().unwrap().len() == 1;
            let said: Vec<(f64, usize)> = found
                .iter()
                .take_while(is_single)
                .map(|change| {
                    let name = change["changes"][0]["attribute"].as_str().unwrap();
                    (change["distance"].as_f64().unwrap(), demo.place(name))
                })
                .collect();
            assert_eq!(said, single);
            singles += said.len();
        }
    }
    assert!(singles > 4, "{singles}");
    let line = format!("{EXPLAIN} --row {}", flipping[0] + 1);
    let says = ["FLIPS", " *", "Discriminatory: ", "Proven smallest", "p("];
    demo.workspace.line(&line).exits(0).says(&says);
    let line = format!("{EXPLAIN} --max-calls 7 --row {}", flipping[0] + 1);
    let says = ["the budget of 7 questions ended"];
    demo.workspace.line(&line).exits(0).says(&says);
    let fair = rows.clone().find(|row| !is_burdened(row)).unwrap();
    let said = demo
        .workspace
        .line(&format!("{EXPLAIN} --json --row {}", fair + 1));
    let said = said.exits(0).json();
    assert_eq!(
        (&said["flips"], &said["undoing"]),
        (&json!(0), &Value::Null)
    );
    for (options, needles) in [
        ("", &["--row is missing, but must be given"][..]),
        ("--row 0", &["--row is 0, but must be from 1"]),
        ("--row 1501", &["--row", "1501", "from 1 to 1500"]),
        ("--row 1 --fixed sex", &["--fixed", "not protected"]),
        ("--row 1 --fixed height", &["height"]),
        ("--row 1 --favourable rich", &["--favourable", "low, high"]),
        (
            "--row 1 --lexicon paper",
            &["--lexicon", "no meaning for tables"],
        ),
    ] {
        refuses(&demo.workspace, &format!("{EXPLAIN} {options}"), 2, needles);
    }
}

/// Rows are counted as `predict` counts them, and what an explanation says of a text is what
/// `audit --text` says.
#[test]
fn texts_are_explained_word_by_word() {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 2500").exits(0);
    let texts = "--model demo/model --texts demo/comments.csv --text-column comment_text";
    let predicted = workspace.line(&format!("predict {texts} --out predicted.csv"));
    predicted.exits(0);
    let file = workspace.read("predicted.csv");
    let mut predicted = csv::Reader::from_reader(file.as_bytes());
    let predicted: Vec<csv::StringRecord> = predicted.records().map(Result::unwrap).collect();
    let (mut explained, mut undone, mut tried_alone) = (0, 0, 0);
    let mut last = String::new();
    for record in &predicted {
        if explained == 6 {
            break;
        }
        let (row, text) = (&record[0], &record[1]);
        let examine = ["audit", "--model", "demo/model", "--json", "--text", text];
        // A text without a protected term is refused.
        let examined = workspace.run(examine);
        if examined.code != Some(0) || examined.json()["discriminatory"] == false {
            continue;
        }
        let examined = examined.json();
        explained += 1;
        let said = workspace
            .line(&format!("explain {texts} --row {row} --json"))
            .exits(0)
            .json();
        assert_eq!(
            (&said["class"], &said["input"][0]["value"]),
            (&json!(&record[2]), &json!(text))
        );
        let swaps: HashSet<(String, String, bool)> = examined["swaps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|swap| swap_of(&swap["text"], swap, "label"))
            .collect();
        let variants = said["variants"].as_array().unwrap();
        let others = variants
            .iter()
            .filter(|it| it["changed"].as_array().is_some_and(|it| !it.is_empty()));
        let variants: HashSet<(String, String, bool)> = others
            .map(|variant| swap_of(&variant["values"][0]["value"], variant, "class"))
            .collect();
        assert_eq!(variants, swaps);
        let alone = ["explain", "--model", "demo/model", "--json", "--text", text];
        let alone = workspace.run(alone).exits(0).json();
        assert_eq!(alone["variants"], said["variants"]);
        // A text alone does not say which words go together; others beside it do.
        let mut beside = vec!["explain", "--model", "demo/model", "--json", "--text", text];
        beside.extend([
            "--texts",
            "demo/comments.csv",
            "--text-column",
            "comment_text",
        ]);
        let beside = workspace.run(beside).exits(0).json();
        assert_eq!(
            (&beside["row"], &beside["variants"]),
            (&json!(1), &said["variants"])
        );
        let all = predicted.len();
        let texts = [&alone, &said, &beside].map(|said| &said["fluency_texts"]);
        assert_eq!(texts, [&json!(0), &json!(all), &json!(all + 1)]);
        tried_alone += alone["undoing"]["tried"].as_u64().unwrap();
        text.clone_into(&mut last);
        let changes = [&said, &beside].map(|said| said["undoing"]["changes"].as_array());
        for change in changes.into_iter().flat_map(Option::unwrap) {
            undone += 1;
            let text = change["input"][0]["value"].as_str().unwrap();
            let examine = ["audit", "--model", "demo/model", "--json", "--text", text];
            let examined = workspace.run(examine).exits(0).json();
            assert_eq!(examined["discriminatory"], false, "{text}");
            assert_eq!(examined["label"], change["class"]);
        }
    }
    assert!(explained == 6 && undone > 0, "{explained} {undone}");
    assert!(tried_alone > 0);
    workspace
        .run(["explain", "--model", "demo/model", "--text", &last])
        .exits(0)
        .says(&["No other texts say which words go together"]);
    let words = [
        "explain",
        "--model",
        "demo/model",
        "--min-fluency",
        "0.1",
        "--text",
        &last,
    ];
    let refused = workspace.run(words).exits(2);
    assert!(
        refused
            .stderr
            .contains("--min-fluency is 0.1, but must be left out: there are no texts besides"),
        "{}",
        refused.stderr
    );
    // Where nothing may change, nothing is said to have been tried.
    let row = predicted.iter().find(|record| record[1] == last).unwrap();
    workspace
        .line(&format!("explain {texts} --row {} --max-l0 0", &row[0]))
        .exits(0)
        .says(&[
            "No change was tried: no word may change",
            "A word is tried where it stands",
        ]);
    let explain = format!("explain {texts} --row 1");
    refuses(
        &workspace,
        &format!("{explain} --fixed good"),
        2,
        &["--fixed", "texts"],
    );
    refuses(
        &workspace,
        "explain --model demo/model --text she --text-column words",
        2,
        &["--text-column has no meaning with --text"],
    );
    refuses(
        &workspace,
        &format!("{explain} --local-strategy rp"),
        2,
        &["--local-strategy"],
    );
}

fn swap_of(text: &Value, of: &Value, class: &str) -> (String, String, bool) {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    (word(text), word(&of[class]), of["flips"] == true)
}
