//! Imports of networks whose texts are split in other ways, whose words come in other forms, and
//! which are held against answers of the original: tests/data/recurrent has PyTorch's.

use std::fs;
use std::path::Path;

use crate::probity_command::refusal::refuses;
use crate::probity_command::{Outcome, Workspace};
use probity::nn::text_model::TextModel;
use serde_json::{Map, Value, json};

/// The network of [`WEIGHTS`] has row 0 for padding and row 1 for unknown words.
const WEIGHTS: &str = "import --weights lstm.pt --classes fine,toxic";

fn recorded() -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recurrent");
    serde_json::from_slice(&fs::read(folder.join("recorded.json")).unwrap()).unwrap()
}

/// The first recorded network, its words in every form, and PyTorch's answers as tables.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recurrent");
    for name in ["lstm.pt", "words-special.txt"] {
        workspace.write(name, fs::read(folder.join(name)).unwrap());
    }
    let words = workspace.read("words-special.txt");
    let words: Vec<&str> = words.lines().collect();
    let numbers: Map<String, Value> = words
        .iter()
        .zip(0..)
        .map(|(word, row)| ((*word).to_owned(), json!(row)))
        .collect();
    workspace.write("itos.json", json!(words).to_string());
    workspace.write("stoi.json", json!({"stoi": numbers}).to_string());
    let mut index = numbers.clone();
    index.remove("<pad>");
    index.remove("<unk>");
    workspace.write("no-oov.json", json!({"other": 1, "words": 2}).to_string());
    index.insert("<OOV>".to_owned(), json!(1));
    workspace.write("word_index.json", json!(index).to_string());
    let keras = json!({"class_name": "Tokenizer", "config": {
        "num_words": null, "filters": ".", "lower": false, "split": " ", "char_level": false,
        "oov_token": "<OOV>", "word_index": json!(index).to_string(),
    }});
    workspace.write("keras.json", keras.to_string());
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": numbers, "unk_token": "<unk>"},
    });
    workspace.write("tokenizer.json", tokenizer.to_string());

    let recorded = recorded();
    let (mut labels, mut probabilities) = ("text,label\n".to_owned(), "text,toxic\n".to_owned());
    let (mut numbers, mut wrong) = (labels.clone(), probabilities.clone());
    let texts = recorded["texts"].as_array().unwrap().iter();
    for (text, logits) in texts.zip(recorded["models"][0]["logits"].as_array().unwrap()) {
        let text = text.as_str().unwrap();
        let lead = logits[1].as_f64().unwrap() - logits[0].as_f64().unwrap();
        let (class, probability) = (usize::from(lead > 0.0), 1.0 / (1.0 + (-lead).exp()));
        labels.push_str(&format!("{text},{}\n", ["fine", "toxic"][class]));
        numbers.push_str(&format!("{text},{class}\n"));
        probabilities.push_str(&format!("{text},{probability}\n"));
        wrong.push_str(&format!("{text},{}\n", (probability - 0.002).abs()));
    }
    workspace.write("labels.csv", labels);
    workspace.write("numbers.csv", numbers);
    workspace.write("probabilities.csv", probabilities.replace("text,", "body,"));
    workspace.write("wrong.csv", wrong);
    workspace
}

fn imported(workspace: &Workspace, out: &str, rest: &str) -> Outcome {
    workspace
        .line(&format!("{WEIGHTS} {rest} --out {out}"))
        .exits(0)
}

/// Tokens of a text, and what each is made of.
fn split(model: &TextModel, text: &str) -> Vec<(i32, String)> {
    let encoded = model.reader.encode(text).unwrap();
    let parts = encoded
        .bytes
        .iter()
        .map(|bytes| text[bytes.clone()].to_owned());
    encoded.ids.iter().copied().zip(parts).collect()
}

#[test]
fn every_form_of_a_vocabulary_gives_the_same_network() {
    let workspace = workspace();
    let mut hashes = Vec::new();
    for form in [
        "words-special.txt",
        "itos.json",
        "stoi.json",
        "word_index.json",
    ] {
        let rest = format!("--vocabulary {form} --reference labels.csv");
        imported(&workspace, form.split('.').next().unwrap(), &rest).says(&[
            "class of each of 16 inputs",
            "Row 1 of the table stands for unknown words",
        ]);
        let folder = form.split('.').next().unwrap();
        let summary = workspace.json(&format!("{folder}/summary.json"));
        assert_eq!(summary["reference"]["inputs"], 16);
        assert_eq!(
            (&summary["unknown_row"], &summary["padding_row"]),
            (&json!(1), &json!(0))
        );
        hashes.push(summary["model_sha256"].as_str().unwrap().to_owned());
    }
    hashes.dedup();
    assert_eq!(hashes.len(), 1, "{hashes:?}");
    imported(
        &workspace,
        "foreign",
        "--tokenizer tokenizer.json --reference numbers.csv",
    );
    let summary = workspace.json("foreign/summary.json");
    assert_eq!(
        (&summary["words"], &summary["unknown_row"]),
        (&json!(20), &json!(1))
    );
    assert!(workspace.read("foreign/run.toml").contains("reference = "));
}

#[test]
fn texts_are_split_as_the_original_did() {
    let workspace = workspace();
    // Words of the file from row 2 on: the is 0, good is 10, bad is 11, unknown is 20.
    let text = "The, good.bad \"GOOD\" good";
    let the = |word: &str| (0, word.to_owned());
    let good = |word: &str| (10, word.to_owned());
    let bad = |word: &str| (11, word.to_owned());
    let unknown = |word: &str| (20, word.to_owned());
    let words = "--vocabulary words-special.txt";
    for (out, rest, expected) in [
        (
            "space",
            format!("{words} --tokenizer whitespace"),
            vec![
                unknown("The,"),
                unknown("good.bad"),
                unknown("\"GOOD\""),
                good("good"),
            ],
        ),
        (
            "lower",
            format!("{words} --tokenizer whitespace-lower"),
            vec![
                unknown("The,"),
                unknown("good.bad"),
                unknown("\"GOOD\""),
                good("good"),
            ],
        ),
        (
            "english",
            format!("{words} --tokenizer basic-english"),
            vec![
                the("The"),
                unknown(","),
                good("good"),
                unknown("."),
                bad("bad"),
                good("GOOD"),
                good("good"),
            ],
        ),
        (
            "filters",
            format!("{words} --tokenizer keras"),
            vec![
                the("The"),
                good("good"),
                bad("bad"),
                good("GOOD"),
                good("good"),
            ],
        ),
        (
            "matches",
            format!("{words} --tokenizer regex:[a-z]+"),
            vec![unknown("he"), good("good"), bad("bad"), good("good")],
        ),
        (
            "own-filters",
            "--vocabulary keras.json".to_owned(),
            vec![
                unknown("The,"),
                good("good"),
                bad("bad"),
                unknown("\"GOOD\""),
                good("good"),
            ],
        ),
        (
            "own-filters-by-name",
            "--vocabulary keras.json --tokenizer keras".to_owned(),
            vec![
                unknown("The,"),
                good("good"),
                bad("bad"),
                unknown("\"GOOD\""),
                good("good"),
            ],
        ),
        (
            "foreign",
            "--tokenizer tokenizer.json".to_owned(),
            vec![
                unknown("The,"),
                unknown("good.bad"),
                unknown("\"GOOD\""),
                good("good"),
            ],
        ),
    ] {
        imported(&workspace, out, &rest);
        let model = TextModel::load(workspace.path(out)).unwrap();
        let found = split(&model, text);
        match out {
            // "he" is a word, and "T" is none.
            "matches" => assert_eq!(found[1..], expected[1..], "{out}"),
            _ => assert_eq!(found, expected, "{out}"),
        }
    }
}

#[test]
fn a_network_that_answers_otherwise_is_not_saved() {
    let workspace = workspace();
    let words = "--vocabulary words-special.txt";
    imported(
        &workspace,
        "by-probability",
        &format!("{words} --reference probabilities.csv --text-column body"),
    );
    let summary = workspace.json("by-probability/summary.json");
    assert!(
        summary["reference"]["largest_difference"].as_f64().unwrap() < 1e-5,
        "{summary}"
    );
    let refuse = |rest: &str, needles: &[&str]| {
        let line = format!("{WEIGHTS} {rest} --out model");
        refuses(&workspace, &line, 2, needles);
    };
    refuse(
        &format!("{words} --reference wrong.csv"),
        &[
            "wrong.csv",
            "16 of 16 texts otherwise",
            "\"source\": toxic 0.",
            ", not 0.",
            "; …",
        ],
    );
    refuse(
        &format!("{words} --unknown-row 8 --reference probabilities.csv --text-column body"),
        &["of 16 texts otherwise", "\"good this i source"],
    );
    let text = "very ".repeat(40);
    workspace.write(
        "long.csv",
        format!("text,fine,toxic\n{text},0.9999,0.0001\n"),
    );
    refuse(
        &format!("{words} --reference long.csv"),
        &["1 of 1 texts", &format!("\"{}…\"", &text[..80])],
    );
    for (content, needles) in [
        (
            "text,kind\na,1\n",
            &["neither a column 'label'", "(fine, toxic)", "text, kind"][..],
        ),
        ("body,label\na,1\n", &["no column 'text'"]),
        (
            "text,label\na,2\n",
            &["line 2: '2' is no class", "fine, toxic"],
        ),
        (
            "text,label\n,1\n",
            &["no texts that the network could be asked about"],
        ),
        (
            "text,toxic\na,1.5\n",
            &["line 2", "'toxic' is no probability"],
        ),
    ] {
        workspace.write("odd.csv", content);
        refuse(&format!("{words} --reference odd.csv"), needles);
    }
    workspace.write("lines.txt", "a\n");
    refuse(
        &format!("{words} --reference lines.txt"),
        &["a table is needed"],
    );
}

#[test]
fn tokenizers_and_vocabularies_that_do_not_fit_are_refused() {
    let workspace = workspace();
    let refuse = |rest: &str, needles: &[&str]| {
        let line = format!("{WEIGHTS} {rest} --out model");
        refuses(&workspace, &line, 2, needles);
    };
    let words = "--vocabulary words-special.txt";
    refuse(
        &format!("{words} --tokenizer regex:("),
        &["--tokenizer is regex:(", "is no pattern"],
    );
    refuse(
        &format!("{words} --tokenizer spaces"),
        &[
            "--tokenizer is spaces",
            "basic-english",
            "tokenizer.json, which is not there",
        ],
    );
    refuse(
        &format!("{words} --tokenizer tokenizer.json"),
        &["--vocabulary", "left out where --tokenizer is a file"],
    );
    refuse(
        "--tokenizer whitespace",
        &["--vocabulary or --embeddings is missing"],
    );
    refuse(
        "--vocabulary no-oov.json",
        &["leaves them out of texts", "--unknown-row"],
    );
    let cut = workspace.read("tokenizer.json").replace(
        r#""truncation":null"#,
        r#""truncation":{"direction":"Right","max_length":9,"strategy":"LongestFirst","stride":0}"#,
    );
    workspace.write("cut.json", cut);
    refuse(
        "--tokenizer cut.json",
        &["--max-length is 200", "at most 9"],
    );
    workspace.write("gaps.json", r#"{"a": 0, "b": 2}"#);
    refuse(
        "--vocabulary gaps.json",
        &["gaps.json", "no word has the number 1"],
    );
}
