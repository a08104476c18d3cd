//! Reports on trainings: of tables, of numbers, of texts, and of one that was interrupted.

use crate::probity_command::Workspace;
use crate::report_page::Page;

/// `text` with plain spaces.
fn plain(text: String) -> String {
    text.replace('\u{a0}', " ")
}

/// The page of a classifier says the figures of its summary, is sound, and holds the loss of each epoch.
#[test]
fn a_classifier_is_told_by_the_rows_that_it_has_not_learnt_from() {
    let workspace = Workspace::with_demo(2000);
    let train = "train --data demo/people.csv --schema synthetic-census --hidden 8 --epochs 30 --validation 0.1 --out m";
    let printed = workspace.line(train).exits(0).stdout;
    let summary = workspace.summary("m");
    let test = &summary["test"];
    let share = |key: &str| format!("{:.2} %", 100.0 * test[key].as_f64().unwrap());
    let verdict = format!(
        "Of the 400 rows of the test part, which it has not learnt from, {} are classified right; always saying their most frequent class would be right for {} of them.",
        share("accuracy"),
        share("majority_share")
    );
    assert!(printed.starts_with(&verdict), "{printed}");
    assert!(printed.contains("Predicted high"), "{printed}");
    // What a terminal has no need of.
    assert!(!printed.contains("Loss by epoch"), "{printed}");

    let markdown = plain(workspace.line("report m --format markdown").exits(0).stdout);
    for part in [
        "# Training: people",
        &verdict,
        "Loss by epoch",
        "| Epoch | Loss | Validation loss | Validation accuracy |",
    ] {
        assert!(markdown.contains(part), "no {part} in {markdown}");
    }
    let confusion = test["confusion"].as_array().unwrap();
    for (class, row) in ["low", "high"].iter().zip(confusion) {
        let line = format!("| {class} | {} | {} |", row[0], row[1]);
        assert!(markdown.contains(&line), "no {line} in {markdown}");
    }
    workspace.line("report m --out m.html").exits(0);
    let page = Page::of(&workspace.read("m.html"));
    page.is_self_contained();
    page.is_accessible();

    // A card of the model holds its quality.
    let card = plain(
        workspace
            .line("report m --format model-card")
            .exits(0)
            .stdout,
    );
    assert!(card.contains(&share("accuracy")), "{card}");
}

/// A regressor is told by how far it is off, in the unit of its label.
#[test]
fn a_regressor_is_told_by_how_far_it_is_off() {
    let workspace = Workspace::new();
    let mut table = "age,sex,wage\n".to_owned();
    for person in 0..400 {
        let age = 18 + person * 7 % 48;
        let sex = ["f", "m"][person / 2 % 2];
        table += &format!("{age},{sex},{}\n", 800 + 20 * age + person * 37 % 101);
    }
    workspace.write("pay.csv", table);
    workspace
        .line("schema infer pay.csv --label-column wage --label-number --protected sex --out pay.toml")
        .exits(0);
    workspace
        .line("train --data pay.csv --schema pay.toml --hidden 8 --epochs 30 --validation 0.1 --out m")
        .exits(0)
        .says(&["predictions are off by", "on average, and R² is", "Mean label"]);
    workspace
        .line("report m --format markdown")
        .exits(0)
        .says(&["Validation R²", "Root mean squared error"]);
}

/// Texts of which the model knows few words are named as what makes an audit say little.
#[test]
fn texts_of_unknown_words_are_warned_of() {
    let workspace = Workspace::new();
    let mut texts = "text,toxic\n".to_owned();
    for number in 0..60 {
        texts += &format!(
            "good word{number} thing{number} place{number} name{number},{}\n",
            number % 2
        );
    }
    workspace.write("texts.csv", texts);
    workspace.write("vectors.txt", "good 1 0\nbad 0 1\n");
    let train = "train --texts texts.csv --text-column text --label-column toxic --embeddings vectors.txt --layers 1 --units 2 --epochs 1 --out m";
    workspace.line(train).exits(0).says(&[
        "WARNING: only 20.00 % of the tokens have a word vector",
        "60 texts of 300 tokens, 20.00 % of which have a word vector",
    ]);
    assert_eq!(workspace.summary("m")["cautions"][0], "few_known_words");
}

/// What was interrupted says so first.
#[test]
fn an_interrupted_training_says_so_first() {
    let workspace = Workspace::with_demo(1000);
    let train =
        "train --data demo/people.csv --schema synthetic-census --hidden 4 --epochs 9 --out m";
    let interrupted = workspace.interrupted(train, "round:4").exits(0);
    let said = "Interrupted after ";
    assert!(interrupted.stdout.starts_with(said), "{interrupted:#?}");
    let markdown = workspace.line("report m --format markdown").exits(0).stdout;
    assert!(markdown.contains(said), "{markdown}");
}
