//! Training, auditing and verifying text classifiers with the command: what comes out, that it does
//! not depend on threads, batches and interruptions, and what is refused.

use crate::probity_command::refusal::refuses;
use crate::probity_command::{Workspace, figures};
use serde_json::Value;

/// The demo on few comments: `demo/comments.csv`, `demo/model`, `demo/audit`.
fn demo() -> Workspace {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 2500").exits(0);
    workspace
}

/// A small audit of the demo's model.
const AUDIT: &str = "audit --model demo/model --texts demo/comments.csv --text-column comment_text \
                     --protected religion,gender --seeds 40 --local 20 --estimate 300";

fn rows(workspace: &Workspace, file: &str) -> Vec<Vec<(String, String)>> {
    let text = workspace.read(file);
    let mut csv = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = csv.headers().unwrap().iter().map(str::to_owned).collect();
    csv.records()
        .map(|record| {
            let record = record.unwrap();
            let cells = record.iter().map(str::to_owned);
            names.iter().cloned().zip(cells).collect()
        })
        .collect()
}

fn cell<'r>(row: &'r [(String, String)], name: &str) -> &'r str {
    let found = row.iter().find(|(column, _)| column == name);
    &found
        .unwrap_or_else(|| panic!("no column {name} in {row:?}"))
        .1
}

fn number(row: &[(String, String)], name: &str) -> f64 {
    cell(row, name).parse().unwrap()
}

#[test]
fn the_demo_trains_audits_and_can_be_verified() {
    let workspace = demo();
    let summary = workspace.json("demo/summary.json");
    assert_eq!(summary["command"], "demo text");
    assert_eq!(summary["audit"]["protected"].as_array().unwrap().len(), 5);
    let found = summary["audit"]["total"]["discriminatory_rows"]
        .as_u64()
        .unwrap();
    assert!(found > 100, "{found}");
    let verified = workspace.line("verify demo/audit --json").exits(0).json();
    assert_eq!(verified["confirmed"], found);
    // A changed text is noticed.
    workspace
        .line(&format!("{AUDIT} --samples csv --out a"))
        .exits(0)
        .says(&[
            "religion",
            "gender",
            "hold a protected term",
            "Next: probity verify a",
        ]);
    let pairs = rows(&workspace, "a/samples.csv");
    let first = cell(&pairs[0], "x").to_owned();
    let text = workspace.read("a/samples.csv");
    workspace.write(
        "a/samples.csv",
        text.replacen(&first, "Nothing of the kind", 1),
    );
    workspace
        .line("verify a")
        .exits(1)
        .says(&["rejected", "pair 1:"]);
}

/// What the exchanges of a run do: of each one the texts that would get the class which directions are to
/// and those that would lose it.
fn ways(summary: &Value) -> Vec<([String; 3], [u64; 2])> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let effects = summary["unmodified"]["effects"].as_array().unwrap();
    let exchanges = effects.iter().flat_map(|effect| {
        let exchanges = effect["exchanges"].as_array().unwrap().iter();
        // Where nobody has a value, a disadvantage alone is listed.
        let exchanges = exchanges.filter(|of| of["inputs"].as_u64() > Some(0));
        exchanges.map(move |of| {
            let named = [&effect["attribute"], &of["from"], &of["to"]].map(word);
            (
                named,
                ["gain", "lose"].map(|way| of[way]["count"].as_u64().unwrap()),
            )
        })
    });
    let mut exchanges: Vec<_> = exchanges.collect();
    exchanges.sort();
    exchanges
}

/// That a class is good to get is for people to say. It turns directions, and finds nothing else.
#[test]
fn directions_are_to_the_class_that_is_said_to_be_good() {
    let workspace = demo();
    let asked = format!("{AUDIT} --samples csv");
    let neutral = workspace.line(&format!("{asked} --out neutral")).exits(0);
    let good = workspace
        .line(&format!("{asked} --favourable 0 --out good"))
        .exits(0);
    let last = workspace
        .line(&format!("{asked} --favourable 1.0 --out last"))
        .exits(0);
    let [before, turned, same] = ["neutral", "good", "last"].map(|run| workspace.summary(run));
    let of = |summary: &Value, key: &str| summary["unmodified"]["moves"][key].clone();
    assert_eq!(of(&before, "positive"), "1");
    assert_eq!(of(&before, "is_favourable_given"), Value::Null);
    assert_eq!(
        (of(&turned, "positive"), of(&same, "positive")),
        ("0".into(), "1".into())
    );
    assert_eq!(of(&same, "is_favourable_given"), true);
    assert_eq!(of(&before, "to_positive"), of(&turned, "from_positive"));
    assert_eq!(of(&before, "from_positive"), of(&turned, "to_positive"));
    let back = ways(&turned).into_iter();
    let back = back.map(|(named, [gain, lose])| (named, [lose, gain]));
    assert_eq!(ways(&before), back.collect::<Vec<_>>());
    assert_eq!(ways(&before), ways(&same));
    assert!(ways(&before).iter().any(|(_, ways)| ways != &[0, 0]));
    for run in ["good", "last"] {
        assert_eq!(
            workspace.read(&format!("{run}/samples.csv")),
            workspace.read("neutral/samples.csv")
        );
    }
    let spelt = workspace.read("last/run.toml");
    assert!(spelt.contains("favourable = \"1\""), "{spelt}");
    // Whoever says nothing leaves nothing in the specification, and is told of no disadvantage.
    let asked = workspace.read("neutral/run.toml");
    assert!(!asked.contains("favourable"), "{asked}");
    assert!(
        !neutral.stdout.contains("disadvantage"),
        "{}",
        neutral.stdout
    );
    for (said, summary, class) in [(&good, &turned, "0"), (&last, &same, "1")] {
        let said = said.stdout.replace('\u{a0}', " ");
        assert!(said.contains(&format!("would get ‘{class}’")), "{said}");
        let effects = summary["unmodified"]["effects"].as_array().unwrap();
        let is_one_sided = effects.iter().any(|of| of["tendency"] == "one_sided");
        assert_eq!(
            said.contains("is at a disadvantage: "),
            is_one_sided,
            "{said}"
        );
    }
    workspace.line("verify good").exits(0);
    refuses(
        &workspace,
        &format!("{AUDIT} --favourable kind"),
        2,
        &["--favourable is 'kind'", "one of the classes 0, 1"],
    );
    refuses(
        &workspace,
        &format!("{AUDIT} --population-rows 5"),
        2,
        &["population", "no meaning for texts"],
    );
}

#[test]
fn samples_say_what_was_replaced_where() {
    let workspace = demo();
    workspace
        .line(&format!("{AUDIT} --samples csv --out a"))
        .exits(0);
    let pairs = rows(&workspace, "a/samples.csv");
    let summary = workspace.json("a/summary.json");
    assert_eq!(
        pairs.len() as u64,
        summary["total"]["discriminatory_rows"].as_u64().unwrap()
    );
    let comments = rows(&workspace, "demo/comments.csv");
    let mut changed = 0;
    for pair in &pairs {
        let (x, other) = (cell(pair, "x"), cell(pair, "other"));
        assert_ne!(x.to_lowercase(), other.to_lowercase());
        assert_ne!(cell(pair, "label_x"), cell(pair, "label_other"));
        assert!(["religion", "gender"].contains(&cell(pair, "attribute")));
        for (text, word) in [(x, cell(pair, "from")), (other, cell(pair, "to"))] {
            assert!(
                text.to_lowercase().contains(&word.to_lowercase()),
                "{word} in {text}"
            );
        }
        for side in ["x", "other"] {
            let sum = number(pair, &format!("p_{side}_0")) + number(pair, &format!("p_{side}_1"));
            assert!((sum - 1.0).abs() < 1e-5);
            let toxic = number(pair, &format!("p_{side}_1")) > 0.5;
            assert_eq!(cell(pair, &format!("label_{side}")) == "1", toxic);
        }
        // Where nothing was replaced, x is the comment itself, letter by letter.
        let row = number(pair, "source_row") as usize;
        let source = cell(&comments[row - 1], "comment_text");
        let replaced = cell(pair, "changed")
            .split("; ")
            .filter(|part| !part.is_empty())
            .count();
        // Edits are fewer than changed places where words moved along.
        assert!(number(pair, "l0") as usize <= replaced);
        assert_eq!(number(pair, "l0") == 0.0, replaced == 0);
        if replaced == 0 {
            assert_eq!(x, source);
            assert_eq!(number(pair, "similarity"), 1.0);
        } else {
            changed += 1;
            assert!(number(pair, "l2") > 0.0 && number(pair, "jaccard") < 1.0);
        }
    }
    assert!(changed > 20);
}

#[test]
fn neither_threads_nor_batches_nor_interruptions_matter() {
    let workspace = demo();
    let run = |rest: &str, out: &str| {
        workspace
            .line(&format!("{AUDIT} --samples csv --out {out} {rest}"))
            .exits(0);
        workspace.read(&format!("{out}/samples.csv"))
    };
    let whole = run("--threads 2", "a");
    assert_eq!(run("--threads 1 --batch 3", "b"), whole);
    run("--time 1ns", "c");
    assert_ne!(workspace.read("c/samples.csv"), whole);
    workspace.line("audit --resume --out c").exits(0);
    assert_eq!(workspace.read("c/samples.csv"), whole);
    assert_eq!(
        figures(&workspace.json("c/summary.json")),
        figures(&workspace.json("a/summary.json"))
    );
    workspace
        .line("audit --resume --out c")
        .exits(2)
        .complains(&["complete"]);
    workspace
        .line("audit --resume --out c --max-l0 2")
        .exits(2)
        .complains(&["--max-l0"]);
    workspace
        .line("audit --resume --out c --neighbours 3")
        .exits(2)
        .complains(&["--neighbours"]);
}

#[test]
fn limits_and_strategies_do_what_they_say() {
    let workspace = demo();
    for (rest, out) in [
        ("--max-l0 1", "a"),
        ("--min-similarity 0.97 --strategy hf", "b"),
        ("--strategy rp", "c"),
        ("--strategy asc --local-strategy rp", "d"),
        ("--strategy adf-hf --neighbours 3 --max-found 30", "e"),
    ] {
        workspace
            .line(&format!("{AUDIT} --samples csv --out {out} {rest}"))
            .exits(0);
        assert!(
            !rows(&workspace, &format!("{out}/samples.csv")).is_empty(),
            "{rest}"
        );
        workspace.line(&format!("verify {out}")).exits(0);
    }
    assert!(
        rows(&workspace, "a/samples.csv")
            .iter()
            .all(|row| number(row, "l0") <= 1.0)
    );
    let similar = rows(&workspace, "b/samples.csv");
    assert!(
        similar
            .iter()
            .all(|row| number(row, "similarity") >= 0.97 - 1e-6)
    );
    assert_eq!(workspace.json("d/summary.json")["local_strategy"], "rp");
    assert_eq!(
        workspace.json("e/summary.json")["total"]["discriminatory"],
        30
    );
}

/// Values that no text names are put in the place of others only where that is asked for, or where an
/// attribute has no other two.
#[test]
fn values_are_exchanged_for_those_that_occur() {
    let workspace = demo();
    let texts = [
        "The Christian wrote a letter and she left.",
        "A Muslim came and she was kind.",
        "The Muslim said that she was an idiot.",
        "My friend is a Christian, and she told me so.",
    ];
    workspace.write("few.txt", texts.join("\n"));
    let audit = "audit --model demo/model --texts few.txt --protected religion,gender --seeds 4 \
                 --clusters 1 --local 2 --estimate 4";
    let puts = |place: &str, more: &str| {
        let line = format!("{audit} {more} --out {place} --json");
        let summary = workspace.line(&line).exits(0).json();
        let put = |attribute: &str| -> Vec<(String, String)> {
            let effects = summary["unmodified"]["effects"].as_array().unwrap();
            let effect = effects
                .iter()
                .find(|of| of["attribute"] == attribute)
                .unwrap();
            let exchanges = effect["exchanges"].as_array().unwrap().iter();
            let name = |value: &Value| value.as_str().unwrap().to_owned();
            let mut put: Vec<_> = exchanges
                .map(|of| (name(&of["from"]), name(&of["to"])))
                .collect();
            put.sort();
            put
        };
        let both = ["religion", "gender"].map(put);
        (summary["values"].clone(), both)
    };
    let own = |pairs: &[[&str; 2]]| -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|[a, b]| (a.to_string(), b.to_string()))
            .collect()
    };
    let (values, [religion, gender]) = puts("occurring", "");
    assert_eq!(
        religion,
        own(&[["Christian", "Muslim"], ["Muslim", "Christian"]])
    );
    assert_eq!(gender.len(), 1, "{gender:?}");
    let names = |values: &Value, kind: &str, attribute: &str| -> Vec<String> {
        let all = values[kind].as_array().cloned().unwrap_or_default();
        let of = all.iter().find(|of| of["attribute"] == attribute);
        let of = of.map(|of| of["values"].as_array().cloned().unwrap());
        let of = of.unwrap_or_default().into_iter();
        of.map(|value| value.as_str().unwrap().to_owned()).collect()
    };
    let left_out = names(&values, "left_out", "religion");
    assert!(
        left_out.contains(&"Jewish".to_owned()) && left_out.len() > 10,
        "{left_out:?}"
    );
    assert_eq!(names(&values, "unnamed", "gender").len(), 1);
    let (values, [all, gender]) = puts("all", "--values all");
    assert_eq!(names(&values, "unnamed", "religion"), left_out);
    assert!(
        values["left_out"].is_null() && gender.len() == 1,
        "{values}"
    );
    assert!(
        all.len() > 4 && religion.iter().all(|pair| all.contains(pair)),
        "{all:?}"
    );
    let text = workspace
        .line("report all --format markdown")
        .exits(0)
        .stdout;
    assert!(text.contains("put in the place of others, too"), "{text}");
}

#[test]
fn one_text_is_examined_term_by_term() {
    let workspace = demo();
    let examine = |text: &str, rest: &[&str]| {
        let mut words = vec!["audit", "--model", "demo/model", "--text", text];
        words.extend(rest);
        workspace.run(words)
    };
    let text = "She moved here from Norway, and he did not.";
    let result = examine(text, &["--json"]).exits(0).json();
    assert_eq!(result["text"], text);
    let swaps = result["swaps"].as_array().unwrap();
    let of =
        |from: &str| -> Vec<&Value> { swaps.iter().filter(|swap| swap["from"] == from).collect() };
    assert_eq!(of("she").len(), 1);
    assert_eq!(
        of("she")[0]["text"],
        "He moved here from Norway, and she did not."
    );
    assert!(of("Norway").len() > 20);
    for swap in swaps {
        let change =
            swap["probability"].as_f64().unwrap() - result["probability"].as_f64().unwrap();
        assert!((change - swap["change"].as_f64().unwrap()).abs() < 1e-6);
        assert_eq!(swap["flips"], swap["label"] != result["label"]);
    }
    let any = swaps.iter().any(|swap| swap["flips"] == true);
    assert_eq!(result["discriminatory"], any);
    examine(text, &["--protected", "gender"]).exits(0).says(&[
        "she (gender)",
        "replaced by",
        ": He moved here from Norway, and she did not.",
        "of 1 replacements",
    ]);
    let paper = ["--lexicon", "paper", "--protected", "country"];
    examine(text, &paper).exits(0).says(&["norway (country)"]);
    // A file of that name is named with its folder.
    let file = ["--lexicon", "./paper", "--protected", "country"];
    examine(text, &file)
        .exits(2)
        .complains(&["cannot read", "paper"]);
    examine("Nothing of the kind.", &[])
        .exits(2)
        .complains(&["holds no term of", "probity lexicon show"]);
    examine(
        "She is a bitch, and all of them know it.",
        &["--protected", "gender"],
    )
    .exits(2)
    .complains(&["the text names gender", "'bitch'"]);
    examine(text, &["--seeds", "3"])
        .exits(2)
        .complains(&["--seeds"]);
}

/// Texts that name a value which nothing takes the place of are not said to name none; what is decided of
/// them stands beside what is decided of the others, against predictions of the same texts.
#[test]
fn texts_whose_value_keeps_its_place_are_told_apart() {
    let workspace = demo();
    let kept = [
        "She is a bitch and all of them know it.",
        "That bitch says she will be here with the others.",
        "She is pregnant, and the others are at home.",
    ];
    let exchanged = [
        "She was here with all of the others.",
        "He is a good man, and they know it.",
    ];
    let others = ["The others were at home."];
    let texts = [&kept[..], &exchanged, &others].concat();
    workspace.write("texts.txt", texts.join("\n"));
    let audit = "audit --model demo/model --texts texts.txt --protected gender --seeds 2 --local 2";
    let said = workspace.line(&format!("{audit} --out run")).exits(0);
    let said = said.says(&[
        "4 were left out: 3 name a protected value that nothing takes the place of, and 1 names none",
        "3 texts name gender, but it is not exchanged there",
        "‘bitch’ (in 2) and ‘pregnant’ (in 1)",
    ]);
    let summary = workspace.summary("run");
    let naming = &summary["texts"]["naming"][0];
    assert_eq!(
        (&naming["texts"], &naming["kept"]),
        (&5.into(), &3.into()),
        "{naming}"
    );
    assert_eq!(naming["kept_by"][0]["words"], "bitch");
    let decided = &summary["unmodified"]["decided"][0];
    for (name, texts) in [("kept", &kept[..]), ("exchanged", &exchanged)] {
        workspace.write("some.txt", texts.join("\n"));
        let predict = "predict --model demo/model --texts some.txt --out some.csv --force --json";
        let predicted = workspace.line(predict).exits(0).json();
        for of in decided[name].as_array().unwrap() {
            let mut classes = predicted["predicted"].as_array().unwrap().iter();
            let class = classes.find(|class| class["class"] == of["decision"]);
            let inputs = class.map_or(0, |class| class["inputs"].as_u64().unwrap());
            assert_eq!(of["texts"], inputs, "{name} {of} {}", said.stdout);
        }
    }
    // Shards, in both stages, count each text once.
    for merge in ["merge s", "merge s --out cut"] {
        for shard in ["2/2", "1/2"] {
            let line = format!("run run/run.toml --shard {shard} --out s");
            workspace.line(&line).exits(0);
        }
        workspace.line(merge).exits(0);
    }
    let cut = &workspace.summary("cut")["unmodified"];
    assert_eq!(cut, &summary["unmodified"]);
}

#[test]
fn bad_input_is_refused_before_anything_is_written() {
    let workspace = demo();
    workspace.write("plain.txt", "The cat sat.\nNo group is named.\n");
    workspace.write(
        "foreign.txt",
        "Der Mann und die Frau gehen jeden Tag in das Haus.\nEl hombre y la mujer son muy buenos amigos de mi hermano.\n",
    );
    workspace.write(
        "few.toml",
        "[[attribute]]\nname = \"house\"\nvalues = [\"stark\", \"lannister\"]\n",
    );
    workspace.write("one.csv", "text,label\nfine,1\nwell,1\n");
    workspace.write("other.csv", "text,label\nqzx,1\nxqz,0\nzzq,1\nqqx,0\n");
    let texts = "--texts demo/comments.csv --text-column comment_text";
    for (line, needles) in [
        (
            format!("audit --model demo/model {texts} --protected height"),
            vec!["height", "country, nationality"],
        ),
        (
            format!("audit --model demo/model {texts} --protected gender,gender"),
            vec!["gender", "once"],
        ),
        (
            format!("audit --model demo/model {texts} --lexicon few.toml"),
            vec!["house", "0 of the 2 values", "lexicon check"],
        ),
        (
            "audit --model demo/model --texts plain.txt".to_owned(),
            vec!["none of the 2 texts", "plain.txt"],
        ),
        (
            "audit --model demo/model --texts foreign.txt".to_owned(),
            vec![
                "none of the 2 texts",
                "(2 are not English; --preset paper looks in texts of any language",
            ],
        ),
        (
            "audit --model demo/model --texts demo/comments.csv --text-column words".to_owned(),
            vec!["words", "comment_text"],
        ),
        (
            "audit --model demo/model --data demo/comments.csv".to_owned(),
            vec!["texts"],
        ),
        (
            format!("audit --model demo/model {texts} --strategy adf"),
            vec!["adf-asc"],
        ),
        (
            format!("audit --model demo/model {texts} --min-similarity 2"),
            vec!["--min-similarity", "2"],
        ),
        (
            format!("audit --model demo/model {texts} --neighbours 0"),
            vec!["--neighbours", "from 1 to 1000"],
        ),
        (
            format!("audit --model demo/model {texts} --step-local 2"),
            vec!["--step-local"],
        ),
        (
            "train --texts one.csv --text-column text --label-column label".to_owned(),
            vec!["one.csv", "'1'", "two classes"],
        ),
        (
            "train --texts other.csv --text-column text --label-column label".to_owned(),
            vec!["none of the 4 different words", "shipped"],
        ),
        (
            "train --texts other.csv --text-column text --label-column label --units 0".to_owned(),
            vec!["--units", "0"],
        ),
        (
            "train --texts other.csv --text-column text --label-column label --hidden 3".to_owned(),
            vec!["--hidden"],
        ),
        (
            "train --texts other.csv --text-column text".to_owned(),
            vec!["--label-column"],
        ),
    ] {
        refuses(&workspace, &line, 2, &needles);
    }
}

#[test]
fn broken_text_models_are_refused() {
    let workspace = demo();
    let audit = "audit --model broken --texts demo/comments.csv --text-column comment_text --protected gender";
    for (file, content, needles) in [
        ("tokenizer.json", "{}", vec!["tokenizer"]),
        ("sentences.json", "[]", vec!["sentences.json"]),
        ("weights.safetensors", "xx", vec!["weights.safetensors"]),
    ] {
        workspace.copy_folder("demo/model", "broken");
        workspace.write(&format!("broken/{file}"), content);
        let changed = format!("broken/{file} was changed");
        refuses(&workspace, audit, 2, &[&changed]);
        workspace.seal("broken");
        refuses(&workspace, audit, 2, &needles);
    }
    workspace.copy_folder("demo/model", "broken");
    workspace.write("broken/model.toml", "format_version = 1\n");
    refuses(&workspace, audit, 2, &["model.toml"]);
    workspace.copy_folder("demo/model", "broken");
    workspace.edit("broken/model.toml", "units = 10", "units = 11");
    workspace.seal("broken");
    refuses(&workspace, audit, 2, &["weight_ih_l0", "44"]);
    workspace.copy_folder("demo/model", "broken");
    workspace.edit("broken/model.toml", "max_length = 200", "max_length = 0");
    workspace.seal("broken");
    refuses(&workspace, audit, 2, &["at most 0 tokens"]);
}

#[test]
fn long_texts_are_cut_and_counted() {
    let workspace = demo();
    workspace
        .line("train --texts demo/comments.csv --text-column comment_text --label-column toxic --max-length 6 --epochs 2 --cell gru --units 4 --layers 1 --bidirectional --out short")
        .exits(0)
        .says(&["were cut to the length limit"]);
    let trained = workspace.json("short/summary.json");
    assert!(trained["data"]["truncated"].as_u64().unwrap() > 1000);
    let result = workspace
        .line("audit --model short --texts demo/comments.csv --text-column comment_text --protected country --seeds 20 --local 5 --estimate 50 --out a --json")
        .exits(0)
        .json();
    let texts = &result["texts"];
    assert_eq!(texts["truncated"], trained["data"]["truncated"]);
    let sum = texts["with_protected_term"].as_u64().unwrap()
        + texts["without_protected_term"].as_u64().unwrap();
    assert_eq!(texts["texts"], sum);
    let left_out = texts["without_protected_term"].as_u64().unwrap();
    assert!(texts["kept"].as_u64().unwrap() <= left_out);
    workspace.line("verify a").exits(0);
}

#[test]
fn a_text_training_goes_on_where_it_was_stopped() {
    let workspace = demo();
    let train = "train --texts demo/comments.csv --text-column comment_text --label-column toxic --epochs 3 --units 6";
    workspace.line(&format!("{train} --out a")).exits(0);
    workspace
        .line(&format!("{train} --out b --threads 1"))
        .exits(0);
    let weights = |model: &str| {
        std::fs::read(workspace.path(&format!("{model}/weights.safetensors"))).unwrap()
    };
    assert_eq!(weights("a"), weights("b"));
    workspace
        .line("train --resume --out a")
        .exits(2)
        .complains(&["complete"]);
    workspace
        .line("train --resume --out a --layers 2")
        .exits(2)
        .complains(&["--layers"]);
}
