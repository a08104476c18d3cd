//! Certificates of texts for transformers, and audits whose words are near by what a transformer
//! sees of them.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use probity::nn::predicted_class;
use probity::nn::text_classifier::{DifferentiableTexts, TextClassifier};
use probity::nn::transformer_model::{TransformerModel, TransformerNetwork};
use serde_json::Value;

/// The demo on few comments, and a small transformer trained on them.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 1000").exits(0);
    workspace
        .line(
            "train --texts demo/comments.csv --text-column comment_text --label-column toxic \
             --blocks 1 --heads 2 --width 16 --inner 16 --pieces 40 --epochs 60 --weight-decay 0 --out model -q",
        )
        .exits(0);
    workspace
}

fn network(workspace: &Workspace) -> TransformerNetwork {
    TransformerNetwork::new(TransformerModel::load(workspace.path("model")).unwrap()).unwrap()
}

const PEOPLE: [&str; 4] = ["muslim", "christian", "old woman", "man"];

/// Texts that begin with one of the terms, and hold no other.
fn texts(workspace: &Workspace) -> Vec<String> {
    let comments = workspace.read("demo/comments.csv");
    let mut comments = csv::Reader::from_reader(comments.as_bytes());
    let names = comments.headers().unwrap().clone();
    let column = names
        .iter()
        .position(|name| name == "comment_text")
        .unwrap();
    let records = comments.records().map(Result::unwrap);
    let rests = records.map(|record| record[column].to_lowercase());
    let others =
        |text: &String| !text.contains('\n') && PEOPLE.iter().all(|term| !text.contains(term));
    let texts = rests.filter(others).zip(PEOPLE.iter().cycle());
    texts
        .map(|(rest, term)| format!("{term} {rest}"))
        .take(400)
        .collect()
}

struct Line {
    text: usize,
    certificate: String,
    fair: String,
    counterexample: String,
}

fn lines(workspace: &Workspace, run: &str) -> Vec<Line> {
    let file = workspace.read(&format!("{run}/certificates.csv"));
    let mut csv = csv::Reader::from_reader(file.as_bytes());
    let records = csv.records().map(Result::unwrap);
    records
        .map(|record| Line {
            text: record[1].parse::<usize>().unwrap() - 1,
            certificate: record[2].to_owned(),
            fair: record[3].to_owned(),
            counterexample: record[4].to_owned(),
        })
        .collect()
}

#[test]
fn certificates_by_trying_are_those_of_brute_force() {
    let workspace = workspace();
    let texts = texts(&workspace);
    workspace.write("texts.txt", texts.join("\n"));
    workspace.write(
        "people.toml",
        format!("[[attribute]]\nname = \"people\"\nvalues = {PEOPLE:?}\n"),
    );
    let line =
        "certify --model model --texts texts.txt --lexicon people.toml --preset paper --json -q";
    let all = workspace.line(&format!("{line} --out all")).exits(0).json();
    assert_eq!(all, workspace.summary("all"));
    let network = network(&workspace);
    let class = |text: &str| predicted_class(&network.logits(&[text]).unwrap());
    let (mut fair, mut unfair) = (0, 0);
    for line in lines(&workspace, "all") {
        let text = &texts[line.text];
        let own = PEOPLE.iter().find(|term| text.starts_with(*term)).unwrap();
        let rest = text.strip_prefix(own).unwrap();
        let changes = |to: &str| class(&format!("{to}{rest}")) != class(text);
        let is_fair = PEOPLE.iter().all(|term| !changes(term));
        assert_eq!(line.fair, if is_fair { "yes" } else { "no" }, "{text}");
        assert_eq!(line.certificate, if is_fair { "tried" } else { "none" });
        fair += u64::from(is_fair);
        unfair += u64::from(!is_fair);
        if is_fair {
            assert_eq!(line.counterexample, "");
        } else {
            let (from, to) = line.counterexample.split_once(" -> ").unwrap();
            assert_eq!(from, format!("people: {own}"));
            assert!(changes(to), "{text}: {to}");
        }
    }
    let set = &all["sets"][0];
    let number = |set: &Value, of: &str| set[of].as_u64().unwrap();
    assert!(fair > 20 && unfair > 20, "{fair} {unfair}");
    assert_eq!(set["certified"]["count"], fair);
    assert_eq!(
        (number(set, "unfair"), number(set, "undecided")),
        (unfair, 0)
    );
    assert!(number(set, "calls") <= 4 * (fair + unfair));
    assert!(set.get("refuted").is_none(), "nothing was bounded");

    let most = number(set, "calls") / 3;
    let some = workspace
        .line(&format!(
            "{line} --max-calls {most} --out some --fail-below 0.99"
        ))
        .exits(1)
        .json();
    let set = &some["sets"][0];
    assert!(number(set, "calls") <= most && number(set, "undecided") > 0);
    let (all, some) = (lines(&workspace, "all"), lines(&workspace, "some"));
    let mut undecided = 0;
    for (all, some) in all.iter().zip(&some) {
        match some.fair.as_str() {
            "" => undecided += 1,
            fair => assert_eq!(fair, all.fair),
        }
        assert!(some.certificate == "none" || some.certificate == all.certificate);
    }
    assert_eq!(undecided, number(set, "undecided"));
    workspace
        .line("report some --format markdown --out page.md")
        .exits(0);
    let needle = "not decided before the model calls";
    assert!(workspace.read("page.md").contains(needle));
    for (line, needles) in [
        (
            format!("{line} --splits 5"),
            &["--splits is given", "no bounds"][..],
        ),
        (
            line.replace("--model model", "--model demo/model") + " --max-calls 5",
            &["--max-calls is given", "exhaustive"],
        ),
    ] {
        refuses(&workspace, &line, 2, needles);
    }
}

/// The mean cosine, of what the network sees, between words and those that took their place.
fn nearness(workspace: &Workspace, network: &TransformerNetwork, run: &str) -> f64 {
    let file = workspace.read(&format!("{run}/samples.csv"));
    let mut csv = csv::Reader::from_reader(file.as_bytes());
    let names = csv.headers().unwrap().clone();
    let column = names.iter().position(|name| name == "changed").unwrap();
    let (mut sum, mut count) = (0.0, 0);
    for record in csv.records().map(Result::unwrap) {
        for change in record[column]
            .split("; ")
            .filter(|change| !change.is_empty())
        {
            let (_, words) = change.split_once(": ").unwrap();
            let (from, to) = words.split_once(" -> ").unwrap();
            let [from, to] = [from, to].map(|word| network.word_vector(word).unwrap());
            let dot = |a: &[f32], b: &[f32]| -> f64 {
                let products = a.iter().zip(b).map(|(a, b)| f64::from(a * b));
                products.sum()
            };
            let lengths = dot(&from, &from) * dot(&to, &to);
            sum += dot(&from, &to) / lengths.sqrt().max(f64::MIN_POSITIVE);
            count += 1;
        }
    }
    assert!(count > 30, "{count} in {run}");
    sum / f64::from(count)
}

#[test]
fn words_are_near_by_vectors_by_what_the_model_sees_or_by_both() {
    let workspace = workspace();
    let network = network(&workspace);
    let audit = "--texts demo/comments.csv --text-column comment_text --protected religion \
                 --preset paper --neighbours 4 --seeds 60 --local 10 --max-found 200 --samples csv -q";
    let near = ["vectors", "both", "model"].map(|from| {
        let line = format!("audit --model model {audit} --neighbours-from {from} --out by-{from}");
        workspace.line(&line).exits(0);
        workspace.line(&format!("verify by-{from}")).exits(0);
        nearness(&workspace, &network, &format!("by-{from}"))
    });
    // Which words are replaced differs from search to search.
    assert!(near[0] + 0.05 < near[1].min(near[2]), "{near:?}");
    // With the rules of English, too.
    workspace
        .line(
            "audit --model model --texts demo/comments.csv --text-column comment_text \
               --seeds 60 --local 5 --neighbours-from both --out english -q",
        )
        .exits(0);
    // The vectors of a recurrent network are its embeddings.
    for from in ["vectors", "model"] {
        let line =
            format!("audit --model demo/model {audit} --neighbours-from {from} --out r-{from}");
        workspace.line(&line).exits(0);
    }
    let samples = |run: &str| workspace.read(&format!("{run}/samples.csv"));
    assert_eq!(samples("r-vectors"), samples("r-model"));
    let predictor = format!("audit --predictor command:false {audit} --neighbours-from model");
    refuses(&workspace, &predictor, 2, &["--neighbours-from"]);
}
