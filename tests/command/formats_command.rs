//! Tables as people write them: marks of numbers, separators, encodings, and labels that are shares.

use crate::probity_command::Workspace;

/// People whose `amount` is written as `amounts` say, in turn.
fn loans(amounts: &[&str], separator: char) -> String {
    let mut text = format!("amount{separator}sex{separator}ok\n");
    for row in 0..60 {
        let (amount, sex) = (amounts[row % amounts.len()], ["f", "m"][row % 2]);
        let ok = ["yes", "no"][row / 3 % 2];
        text += &format!("{amount}{separator}{sex}{separator}{ok}\n");
    }
    text
}

#[test]
fn a_draft_says_how_a_file_is_laid_out_and_asks_where_it_cannot_tell() {
    let workspace = Workspace::new();
    workspace.write("plain.csv", loans(&["1250.5", "900.25", "12500"], ','));
    workspace.write("german.csv", loans(&["1.250,5", "900,25", "12.500"], ';'));
    let infer = |more: &str| {
        workspace.line(&format!(
            "schema infer {more} --label-column ok --protected sex --favourable yes"
        ))
    };
    infer("plain.csv --out plain.toml").exits(0);
    infer("german.csv --out german.toml").exits(0).says(&[
        "fields are separated by ';'",
        "'1.250,5' in 'amount'",
        "--decimal and --thousands say otherwise",
    ]);
    let german = workspace.read("german.toml");
    assert!(
        german.contains("separator = \";\"") && german.contains("decimal = \",\""),
        "{german}"
    );
    let attributes = |name: &str| {
        let text = workspace.read(name);
        text[text.find("[[attribute]]").unwrap()..].to_owned()
    };
    assert_eq!(attributes("german.toml"), attributes("plain.toml"));
    for name in ["plain", "german"] {
        workspace
            .line(&format!("schema check {name}.csv --schema {name}.toml"))
            .exits(0)
            .says(&["60 rows"]);
    }
    // The other file's schema is refused with what to write.
    workspace
        .line("schema check german.csv --schema plain.toml")
        .exits(2)
        .complains(&["amount"]);
    // 12.5 or 12500.
    workspace.write("asked.csv", loans(&["12.500", "9.750", "13.250"], ';'));
    infer("asked.csv").exits(2).complains(&[
        "column 'amount': '12.500' is 12.5 or 12500",
        "--decimal .",
        "--thousands .",
    ]);
    infer("asked.csv --thousands . --out thousands.toml").exits(0);
    assert!(workspace.read("thousands.toml").contains("13250"));
    infer("asked.csv --decimal . --out decimal.toml").exits(0);
    assert!(workspace.read("decimal.toml").contains("13.25"));
    infer("asked.csv --decimal x")
        .exits(2)
        .complains(&["decimal is"]);
    infer("asked.csv --encoding klingon")
        .exits(2)
        .complains(&["windows-1252"]);
}

#[test]
fn shares_are_two_classes_at_a_threshold() {
    let workspace = Workspace::new();
    let shares = loans(&["17", "18", "19"], ',');
    let shares = shares.replace(",yes", ",0.8333").replace(",no", ",0.1667");
    workspace.write("shares.csv", shares.replacen("0.8333", "0.5", 5));
    let infer = |more: &str| {
        workspace.line(&format!(
            "schema infer shares.csv --label-column ok --protected sex {more}"
        ))
    };
    infer("")
        .exits(2)
        .complains(&["column 'ok'", "--label-threshold 0.5"]);
    infer("--label-threshold 0.5 --out two.toml")
        .exits(0)
        .says(&["'0.5 or more'"]);
    // Three of each six rows are no: 30 of 60.
    workspace
        .line("schema check shares.csv --schema two.toml")
        .exits(0)
        .says(&["ok = below 0.5: 30 rows", "ok = 0.5 or more: 30 rows"]);
    let mut texts = String::from("text,share\n");
    for row in 0..80 {
        let (word, share) = [
            ("good", "0.0"),
            ("bad", "0.8333"),
            ("good", "0.4"),
            ("bad", "1.0"),
        ][row % 4];
        texts += &format!("that was {word} indeed {row},{share}\n");
    }
    workspace.write("texts.csv", texts);
    let train = "train --texts texts.csv --text-column text --label-column share --embeddings shipped --epochs 1 -q";
    workspace
        .line(&format!("{train} --out refused"))
        .exits(2)
        .complains(&["4 labels", "such as 0.4", "--label-threshold 0.5"]);
    workspace
        .line(&format!("{train} --label-threshold 0.5 --out model"))
        .exits(0);
    let evaluate =
        "evaluate --model model --texts texts.csv --text-column text --label-column share";
    workspace
        .line(&format!("{evaluate} --label-threshold 0.5"))
        .exits(0);
    workspace
        .line(&format!("{evaluate} --label-threshold 0.9"))
        .exits(2)
        .complains(&["below 0.9"]);
}
