//! `probity lexicon`, `probity embeddings` and `probity data generate` end to end: what they write
//! and say, and what they refuse.

use crate::probity_command::refusal::refuses;
use crate::probity_command::{Outcome, Workspace};
use probity::text::ngrams::NgramModel;
use serde_json::Value;

const VECTORS: &str = "she 1 0 0\nhe 0.9 0.1 0\ncat 0 1 0\ndog 0 0.9 0.1\nperu 0 0 1\n";

const LEXICON: &str = r#"[[attribute]]
name = "origin"
values = ["peru", "new zealand", "turkey"]
"#;

const TEXTS: &str = "id,text\n1,She saw a TURKEY in Peru.\n2,\"Nothing, really\"\n3,New Zealand's cat\n4,peru peru\n";

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("v.txt", VECTORS);
    workspace.write("origin.toml", LEXICON);
    workspace.write("texts.csv", TEXTS);
    workspace
}

fn refuses_all(workspace: &Workspace, cases: &[(&str, &[&str])]) {
    for (line, needles) in cases {
        refuses(workspace, line, 2, needles);
    }
}

fn terms(outcome: &Value, attribute: usize) -> Vec<(&str, u64)> {
    let terms = outcome["attributes"][attribute]["terms"]
        .as_array()
        .unwrap();
    terms
        .iter()
        .map(|term| {
            (
                term["term"].as_str().unwrap(),
                term["texts"].as_u64().unwrap(),
            )
        })
        .collect()
}

#[test]
fn coverage_is_counted_with_and_without_vectors() {
    let workspace = workspace();
    let line = "lexicon check --texts texts.csv --text-column text --lexicon origin.toml";
    let plain = workspace.line(&format!("{line} --json")).exits(0).json();
    assert_eq!(
        terms(&plain, 0),
        [("peru", 2), ("new zealand", 1), ("turkey", 1)]
    );
    assert_eq!(plain["attributes"][0]["naming"], 3);
    assert_eq!(plain["attributes"][0]["exchangeable"], 3);
    assert_eq!(plain["attributes"][0]["common_words"][0]["also"], "a bird");
    assert!(plain["attributes"][0]["terms"][1]["without_embedding"].is_null());
    let known = workspace
        .line(&format!("{line} --embeddings v.txt --json"))
        .exits(0)
        .json();
    let lacking = &known["attributes"][0]["terms"][1]["without_embedding"];
    assert_eq!(lacking.to_string(), r#"["new","zealand"]"#);
    workspace
        .line(&format!("{line} --embeddings v.txt"))
        .exits(0)
        .says(&[
            "origin: 3 of 4 texts name a value (75.00 %); in 3 another can take its place, and an audit skips the other 1.",
            "Without embedding: new zealand, turkey.",
            "Common words too: turkey (a bird).",
        ]);
    workspace
        .line("lexicon check --texts texts.csv --text-column text --protected gender --embeddings shipped")
        .exits(0)
        .says(&["gender: 1 of 4 texts name a value"]);
}

#[test]
fn what_other_words_bind_is_counted_and_shown() {
    let workspace = workspace();
    let texts = "text\nThe mosque is open to Christians and to their friends.\n\
                 The Christians are at home with their friends.\n\
                 The people are at home with their friends.\n";
    workspace.write("bound.csv", texts);
    let line = "lexicon check --texts bound.csv --text-column text --protected religion";
    let counted = workspace.line(&format!("{line} --json")).exits(0).json();
    let counts = ["texts", "naming", "exchangeable", "bound"];
    let counts = counts.map(|count| counted["attributes"][0][count].as_u64().unwrap());
    assert_eq!(counts, [3, 2, 1, 1]);
    workspace.line(line).exits(0).says(&[
        "an audit skips the other 2, 1 of them since other words of the text bind the value.",
    ]);
    workspace
        .line("lexicon show religion")
        .exits(0)
        .says(&["[[attribute.bound]]", "{mosque,mosques}"]);
    let shown = workspace
        .line("lexicon show religion --json")
        .exits(0)
        .json();
    assert!(shown["bound"].as_array().unwrap().len() > 10);
}

#[test]
fn a_models_tokenizer_says_what_it_knows() {
    let workspace = workspace();
    let tokenizer = probity::text::tokenizer::Tokenizer::new(["peru", "new"].into_iter()).unwrap();
    std::fs::create_dir(workspace.path("model")).unwrap();
    workspace.write("model/tokenizer.json", tokenizer.to_json().unwrap());
    let line = "lexicon check --texts texts.csv --text-column text --lexicon origin.toml --model";
    workspace
        .line(&format!("{line} model"))
        .exits(0)
        .says(&["Without embedding: new zealand, turkey."]);
    workspace.write("model/tokenizer.json", "{}");
    refuses_all(
        &workspace,
        &[
            (
                &format!("{line} model"),
                &["tokenizer.json is not a readable tokenizer"],
            ),
            (
                &format!("{line} no"),
                &["cannot read no/tokenizer.json", "text model"],
            ),
        ],
    );
}

#[test]
fn shipped_lexica_are_listed_and_printed_as_files_that_are_read() {
    let workspace = workspace();
    workspace
        .line("lexicon list")
        .exits(0)
        .says(&["country: 201 values", "gender: 2 values"]);
    let listed = workspace.line("lexicon list --json").exits(0).json();
    for name in listed["attributes"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let shown = workspace.line(&format!("lexicon show {name}")).exits(0);
        workspace.write("shown.toml", &shown.stdout);
        let line = format!(
            "lexicon check --texts texts.csv --text-column text --json --lexicon shown.toml --protected {name}"
        );
        let own = workspace.line(&line).exits(0).json();
        let shipped = workspace
            .line(&format!(
                "lexicon check --texts texts.csv --text-column text --json --protected {name}"
            ))
            .exits(0)
            .json();
        assert_eq!(own["attributes"], shipped["attributes"]);
    }
    refuses(
        &workspace,
        "lexicon show hair",
        2,
        &["no attribute 'hair'; its attributes are country"],
    );
}

#[test]
fn bad_lexica_texts_and_vectors_are_refused() {
    let workspace = workspace();
    workspace.write(
        "one.toml",
        "[[attribute]]\nname = \"x\"\nvalues = [\"a\"]\n",
    );
    workspace.write(
        "twice.toml",
        "[[attribute]]\nname = \"x\"\nvalues = [\"a\", \"a\"]\n",
    );
    workspace.write(
        "key.toml",
        "[[attribute]]\nname = \"x\"\nvalues = [\"a\", \"b\"]\nterms = 1\n",
    );
    workspace.write("bad.txt", "a 1 2\nb 1\n");
    workspace.write("empty.csv", "text\n");
    workspace.write("hole.csv", "text,y\na,1\n,2\n");
    workspace.write("latin.txt", b"caf\x81\n");
    let check = |rest: &str| format!("lexicon check --text-column text {rest}");
    refuses_all(
        &workspace,
        &[
            (
                &check("--texts texts.csv --lexicon one.toml"),
                &["one.toml", "'x': it has 1 value"],
            ),
            (
                &check("--texts texts.csv --lexicon twice.toml"),
                &["twice.toml", "'a' is listed twice"],
            ),
            (
                &check("--texts texts.csv --lexicon key.toml"),
                &["key.toml", "unknown field `terms`"],
            ),
            (
                &check("--texts texts.csv --lexicon no.toml"),
                &["cannot read no.toml"],
            ),
            (
                &check("--texts texts.csv --protected height"),
                &["no attribute 'height'"],
            ),
            (
                &check("--texts texts.csv --embeddings bad.txt"),
                &["bad.txt, line 2: 1 numbers where 2 are expected"],
            ),
            (
                &check("--texts texts.csv --embeddings no.txt"),
                &["cannot read no.txt"],
            ),
            (
                &check("--texts texts.csv --embeddings v.txt --model m"),
                &["cannot be used with"],
            ),
            (&check("--texts empty.csv"), &["empty.csv holds no texts"]),
            (
                &check("--texts hole.csv"),
                &["hole.csv, line 3: there is nothing in the column 'text'"],
            ),
            (
                &check("--texts latin.txt"),
                &["latin.txt", "has no column 'text'"],
            ),
            (
                "lexicon check --texts latin.txt",
                &["latin.txt, line 1: the text is not valid UTF-8"],
            ),
            (
                "lexicon check --texts texts.csv",
                &["--text-column", "id, text"],
            ),
            (
                "lexicon check --texts texts.csv --text-column body",
                &["no column 'body'; its columns are id, text"],
            ),
        ],
    );
}

#[test]
fn neighbours_are_shown_by_falling_cosine() {
    let workspace = workspace();
    let line = "embeddings neighbours v.txt she Cat -k 2 --device flex";
    let found = workspace.line(&format!("{line} --json")).exits(0).json();
    let near = |word: usize| {
        let near = found["words"][word]["neighbours"]
            .as_array()
            .unwrap()
            .iter();
        near.map(|near| near["word"].as_str().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!((near(0), near(1)), (vec!["he", "cat"], vec!["dog", "he"]));
    let cosine = found["words"][0]["neighbours"][0]["cosine"]
        .as_f64()
        .unwrap();
    assert!((cosine - 0.9 / 0.82_f64.sqrt()).abs() < 1e-7);
    workspace
        .line(line)
        .exits(0)
        .says(&["she", "0.9939", "dog"]);
    workspace
        .line("embeddings neighbours shipped soup -k 3")
        .exits(0)
        .says(&["soup"]);
    refuses_all(
        &workspace,
        &[
            (
                "embeddings neighbours v.txt horse",
                &["v.txt has no vector for 'horse'"],
            ),
            ("embeddings neighbours v.txt", &["required"]),
            (
                "embeddings neighbours v.txt she -k 0",
                &["a whole number from 1 to 1000"],
            ),
        ],
    );
}

fn trained(workspace: &Workspace, rest: &str) -> Outcome {
    let line =
        "embeddings train c.csv --text-column comment_text --width 12 --epochs 6 --min-count 2";
    workspace.line(&format!("{line} {rest}"))
}

#[test]
fn vectors_are_fitted_to_generated_comments_whatever_the_threads() {
    let workspace = workspace();
    workspace
        .line("data generate comments --rows 1500 --out c.csv.xz")
        .exits(0)
        .says(&["1,500 comments", "burdened", "neutral"]);
    workspace
        .line("data generate comments --rows 1500 --out c.csv")
        .exits(0);
    let summary = trained(&workspace, "--out a.txt --threads 1 --json")
        .exits(0)
        .json();
    let words = summary["words"].as_u64().unwrap();
    assert!(
        words > 400 && summary["loss"].as_f64().unwrap() < 1.0,
        "{summary}"
    );
    trained(&workspace, "--out b.txt --threads 3 --ngrams b.ngrams")
        .exits(0)
        .says(&["vectors of 12 numbers", "b.ngrams", "Next:"]);
    let model = NgramModel::read(&workspace.path("b.ngrams")).unwrap();
    assert_eq!(model.words().len() as u64, words);
    trained(&workspace, "--out c.txt.xz").exits(0);
    workspace
        .line("embeddings train c.csv.xz --text-column comment_text --width 12 --epochs 6 --min-count 2 --out d.txt")
        .exits(0);
    let text = workspace.read("a.txt");
    assert_eq!(
        (text.lines().count() as u64, text.as_str()),
        (words, workspace.read("b.txt").as_str())
    );
    assert_eq!(text, workspace.read("d.txt"));
    assert!(text.lines().all(|line| line.split(' ').count() == 13));
    for file in ["a.txt", "c.txt.xz"] {
        workspace
            .line(&format!("embeddings neighbours {file} soup"))
            .exits(0)
            .says(&["soup"]);
    }
    trained(&workspace, "--out other.txt --seed 2").exits(0);
    assert_ne!(workspace.read("other.txt"), text);
}

#[test]
fn generated_comments_are_keyed_by_row() {
    let workspace = workspace();
    let few = workspace
        .line("data generate comments --rows 50")
        .exits(0)
        .stdout;
    let many = workspace
        .line("data generate comments --rows 60")
        .exits(0)
        .stdout;
    assert!(many.starts_with(&few) && few.lines().count() == 51);
    assert!(few.starts_with("comment_text,toxic\n"));
    assert_ne!(
        workspace
            .line("data generate comments --rows 50 --seed 2")
            .exits(0)
            .stdout,
        few
    );
    let line = "data generate comments --rows 4000 --out c.csv --json";
    let summary = workspace.line(line).exits(0).json();
    let cells = summary["planted"].as_array().unwrap();
    let sum = |key: &str| {
        cells
            .iter()
            .map(|cell| cell[key].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(
        (sum("comments"), sum("toxic")),
        (4000, summary["toxic"].as_u64().unwrap())
    );
    let toxic = workspace
        .read("c.csv")
        .lines()
        .filter(|line| line.ends_with(",1"))
        .count();
    assert_eq!(toxic as u64, sum("toxic"));
    refuses_all(
        &workspace,
        &[
            ("data generate comments --json", &["no JSON form"]),
            ("data generate comments --rows 0", &["--rows"]),
            ("data generate houses", &["comments"]),
        ],
    );
}

#[test]
fn bad_options_and_corpora_are_refused_before_anything_is_written() {
    let workspace = workspace();
    let train =
        |rest: &str| format!("embeddings train texts.csv --text-column text --out o.txt {rest}");
    refuses_all(
        &workspace,
        &[
            (
                &train(""),
                &["only 0 words occur 5 times or more", "min_count"],
            ),
            (
                &train("--width 0"),
                &["--width is 0, but must be from 1 to 4096"],
            ),
            (&train("--x-max NaN"), &["a number is expected"]),
            (
                &train("--alpha 2"),
                &["--alpha is 2, but must be from 0 to 1"],
            ),
            (&train("--learning-rate 0"), &["--learning-rate is 0"]),
            (&train("--epochs 0"), &["epochs is 0"]),
            (&train("--window 0"), &["window is 0"]),
            (
                &train("--min-count 1 --ngrams o.txt"),
                &["--ngrams and --out both name o.txt"],
            ),
            (
                &train("--min-count 1 --ngrams texts.csv"),
                &["texts.csv is read by this command"],
            ),
            (&train("--digits 12"), &["a whole number from 1 to 9"]),
            ("embeddings train no.csv --out o.txt", &["no.csv"]),
        ],
    );
}

#[test]
fn tables_are_read_from_xz() {
    let workspace = crate::probity_command::refusal::people();
    let mut out = std::fs::File::create(workspace.path("people.csv.xz")).unwrap();
    let text = workspace.read("people.csv");
    let file = workspace.path("people.csv.xz");
    probity::data::compressed::write_as(&file, &mut out, |out| out.write_all(text.as_bytes()))
        .unwrap();
    let check = |name: &str| {
        workspace
            .line(&format!("schema check {name} --schema people.toml --json"))
            .exits(0)
            .json()
    };
    assert_eq!(check("people.csv.xz")["data"], check("people.csv")["data"]);
    let whole = std::fs::read(&file).unwrap();
    workspace.write("cut.csv.xz", &whole[..whole.len() - 20]);
    refuses(
        &workspace,
        "schema check cut.csv.xz --schema people.toml",
        2,
        &["cannot read cut.csv.xz"],
    );
}

/// Words that no table has get vectors where a training makes its own, the same ones each time.
#[test]
fn a_training_makes_word_vectors_of_its_own_texts() {
    let workspace = Workspace::new();
    let mut texts = "text,label\n".to_owned();
    for row in 0..200 {
        let (word, label) = [("gluvon", "yes"), ("bremka", "no")][row % 2];
        let other = ["alpin", "brusk", "celto"][row % 3];
        texts += &format!("der {word} tirnet {other} sehr,{label}\n");
    }
    workspace.write("texts.csv", texts);
    let train = "train --texts texts.csv --text-column text --label-column label --layers 1 --units 4 --epochs 2 --json";
    let trained = |out: &str| {
        let line = format!("{train} --embeddings own --out {out}");
        workspace.line(&line).exits(0).json()
    };
    let (first, second) = (trained("first"), trained("second"));
    assert_eq!(first["data"]["tokens"], 1000);
    assert_eq!(first["data"]["known_tokens"], 1000);
    assert_eq!(first["model_sha256"], second["model_sha256"]);
    workspace.write("one.csv", "text,label\nder,yes\nder,no\nder,yes\nder,no\n");
    let line =
        "train --texts one.csv --text-column text --label-column label --embeddings own --out one";
    refuses(&workspace, line, 2, &["no word vectors can be fitted"]);
}
