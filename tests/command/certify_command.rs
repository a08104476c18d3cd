//! `probity certify` and the repair of text classifiers as a user meets them.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use probity::nn::text::{PADDING, TextNetwork};
use probity::nn::text_model::TextModel;
use probity::nn::{Classifier, Rows, predicted_class};
use probity::tensor::device::ComputeDevice;
use serde_json::Value;

fn count(set: &Value, of: &str) -> u64 {
    set[of]["count"].as_u64().unwrap()
}

/// More boxes certify more, no certificate is false, and the file holds what the summary counts.
fn certificates_hold(workspace: &Workspace, line: &str, sets: usize) -> Value {
    let one = workspace
        .line(&format!("{line} --splits 0 --out one --json -q"))
        .exits(0)
        .json();
    let all = workspace
        .line(&format!(
            "{line} --splits 400 --exhaustive --out all --json -q"
        ))
        .exits(0)
        .json();
    assert_eq!(all, workspace.summary("all"));
    assert_eq!(all["sets"].as_array().unwrap().len(), sets);
    for (one, all) in one["sets"]
        .as_array()
        .unwrap()
        .iter()
        .zip(all["sets"].as_array().unwrap())
    {
        assert_eq!(count(one, "certified"), count(one, "one_box"));
        assert_eq!(count(one, "one_box"), count(all, "one_box"));
        assert!(count(one, "one_box") <= count(all, "certified"));
        assert!(count(all, "certified") <= count(all, "fair"));
        assert!(one.get("fair").is_none());
        assert_eq!(all["refuted"], 0);
    }
    let lines = workspace.read("all/certificates.csv");
    let inputs: u64 = all["sets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| set["inputs"].as_u64().unwrap())
        .sum();
    assert_eq!(lines.lines().count() as u64, 1 + inputs);
    assert!(!lines.contains("split,no") && !lines.contains("one-box,no"));
    all
}

#[test]
fn rows_are_certified_and_what_is_wrong_is_refused() {
    let workspace = Workspace::with_demo(3000);
    let line = "certify --model demo/model --data demo/people.csv --protected sex,origin";
    let all = certificates_hold(&workspace, line, 3);
    let joint = &all["sets"][2];
    assert!(count(joint, "certified") > 100, "{joint}");
    // The demo plants discrimination, so not all are fair, and a high bound fails.
    assert!(count(joint, "fair") < joint["inputs"].as_u64().unwrap());
    workspace
        .line(&format!("{line} --fail-below 1 --out gate -q"))
        .exits(1);
    workspace
        .line(&format!("{line} --part test --out part -q"))
        .exits(0);
    refuses(
        &workspace,
        &line.replace("origin", "colour"),
        2,
        &["colour"],
    );
    refuses(
        &workspace,
        &line.replace("people.csv", "nobody.csv"),
        2,
        &["nobody.csv"],
    );
    refuses(
        &workspace,
        &line.replace("demo/model", "nowhere"),
        2,
        &["nowhere"],
    );
    refuses(
        &workspace,
        &line.replace("--data", "--texts"),
        2,
        &["classifies tables"],
    );
    refuses(
        &workspace,
        &format!("{line} --fail-below 2"),
        2,
        &["--fail-below"],
    );
}

#[test]
fn texts_are_certified_and_certified_training_certifies_more() {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 2500").exits(0);
    let line = "certify --model demo/model --texts demo/comments.csv --text-column comment_text --protected religion,gender --part test";
    certificates_hold(&workspace, line, 3);
    let repair = "repair --model demo/model --texts demo/comments.csv --protected religion,gender --repeats 2 \
                  --seeds 200 --local 50 --max-found 500 -q --json";
    let samples = workspace
        .line(&format!(
            "{repair} --method samples --save-anyway --out samples"
        ))
        .json();
    let certified = workspace
        .line(&format!("{repair} --save-anyway --out certified"))
        .json();
    let share = |summary: &Value, of: &str| {
        let networks = summary["points"][0]["networks"].as_array().unwrap();
        let all = networks
            .iter()
            .map(|network| network[of]["share"].as_f64().unwrap());
        all.sum::<f64>() / networks.len() as f64
    };
    assert!(share(&samples, "repaired") > 0.3, "{samples}");
    let before = certified["before"]["certified"]["share"].as_f64().unwrap();
    let after = share(&certified, "certified");
    assert!(after >= 0.6 && after >= before, "{before} {after}");
    // What the repair says of the saved model is what certify finds, by the split of its training.
    let again = workspace
        .line(
            &line
                .replace("demo/model", "certified")
                .replace("certify --", "certify --json -q --out again --"),
        )
        .exits(0)
        .json();
    let joint = &again["sets"][2];
    assert_eq!(joint["certified"], certified["chosen"]["certified"]);
    assert_eq!(again["model_sha256"], certified["repaired_sha256"]);
    refuses(
        &workspace,
        "repair --model demo/model --texts demo/comments.csv",
        2,
        &["--protected"],
    );
    refuses(
        &workspace,
        "repair --model demo/model --texts demo/comments.csv --protected nonsense",
        2,
        &["nonsense"],
    );
}

/// A certificate is about the model that is deployed, which reads eight tokens of whatever text it
/// gets: two words in the place of one push a word out, one in the place of two lets one in.
#[test]
fn certificates_of_texts_that_are_cut_hold_for_what_the_model_reads_of_each() {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 2500").exits(0);
    workspace.edit(
        "demo/model/model.toml",
        "max_length = 200",
        "max_length = 8",
    );
    workspace.seal("demo/model");
    let people = ["muslim", "white woman", "christian"];
    workspace.write(
        "people.toml",
        format!("[[attribute]]\nname = \"people\"\nvalues = {people:?}\n"),
    );
    let comments = workspace.read("demo/comments.csv");
    let mut comments = csv::Reader::from_reader(comments.as_bytes());
    let column = comments
        .headers()
        .unwrap()
        .iter()
        .position(|name| name == "comment_text");
    let texts: Vec<String> = comments
        .records()
        .zip(people.iter().cycle())
        .map(|(record, term)| format!("{term} {}", &record.unwrap()[column.unwrap()]))
        .filter(|text| !text.contains('\n'))
        .take(1200)
        .collect();
    workspace.write("texts.txt", texts.join("\n"));
    workspace
        .line("certify --model demo/model --texts texts.txt --lexicon people.toml --preset paper --splits 400 --out run -q")
        .exits(0);

    let model = TextModel::load(workspace.path("demo/model")).unwrap();
    let deployed = model.network(8, &ComputeDevice::flex()).unwrap();
    let extended = model.network(9, &ComputeDevice::flex()).unwrap().reading(9);
    let class = |network: &TextNetwork, ids: &[i32]| {
        let mut row = ids.to_vec();
        row.resize(network.width(), PADDING);
        predicted_class(&network.logits(Rows::new(&row, row.len())).unwrap())
    };
    let read = |text: &str| model.reader.encode(text).unwrap().ids;
    let certificates = workspace.read("run/certificates.csv");
    let mut certificates = csv::Reader::from_reader(certificates.as_bytes());
    let (mut certified, mut unlike_extended) = (0, 0);
    for record in certificates.records().map(Result::unwrap) {
        let text = &texts[record[1].parse::<usize>().unwrap() - 1];
        let own = people.iter().find(|term| text.starts_with(*term)).unwrap();
        let rest = text.strip_prefix(own).unwrap();
        let others = || people.iter().filter(|term| *term != own);
        let label = class(&deployed, &read(text));
        let fair = others().all(|term| class(&deployed, &read(&format!("{term}{rest}"))) == label);
        if &record[2] != "none" {
            assert!(fair, "'{text}' is certified, but not fair");
            certified += 1;
        }
        let words = read(own).len();
        let fair_extended = others().all(|term| {
            let ids = [&read(term)[..], &read(text)[words..]].concat();
            class(&extended, &ids) == label
        });
        unlike_extended += usize::from(fair_extended && !fair);
    }
    // A network that went on reading would have certified some of these.
    assert!(
        certified > 300 && unlike_extended > 0,
        "{certified} {unlike_extended}"
    );
}
