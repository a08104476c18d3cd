//! Models that give numbers: what every command makes of them, against numbers that `predict` writes
//! of all variants of all people, and against a network whose numbers are known.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use serde_json::Value;

const GAP: f64 = 400.0;

/// What someone earns: men with an education above 4 get 900 more.
fn wage(age: i64, sex: &str, hours: i64, education: i64, noise: i64) -> i64 {
    let more = if sex == "m" && education > 4 { 900 } else { 0 };
    800 + 20 * age + 45 * hours + 210 * education + more + noise
}

/// A table of 600 people, and one of all their variants, with a network that learnt their wages.
struct Paid {
    workspace: Workspace,
    /// The numbers of both variants of each person, women first, and which they are.
    people: Vec<([f64; 2], usize)>,
}

fn paid() -> Paid {
    let workspace = Workspace::new();
    let (mut data, mut variants) = (String::new(), String::new());
    for table in [&mut data, &mut variants] {
        table.push_str("age,sex,hours,education,wage\n");
    }
    let mut own = Vec::new();
    for person in 0..600_i64 {
        // Steps that have no factor in common with the ranges visit all of them.
        let (age, hours) = (18 + person * 7 % 48, 10 + person * 11 % 41);
        let (education, sex) = (person * 13 / 3 % 10, (person / 2 % 2) as usize);
        let noise = person * 37 % 101 - 50;
        for (other, name) in ["f", "m"].into_iter().enumerate() {
            let label = wage(age, name, hours, education, noise);
            let line = format!("{age},{name},{hours},{education},{label}\n");
            variants.push_str(&line);
            if other == sex {
                data.push_str(&line);
            }
        }
        own.push(sex);
    }
    workspace.write("pay.csv", data);
    workspace.write("variants.csv", variants);
    workspace
        .line("schema infer pay.csv --label-column wage --label-number --protected sex --out pay.toml")
        .exits(0);
    let trained = workspace
        .line(
            "train --data pay.csv --schema pay.toml --hidden 16,8 --epochs 60 --batch 16 \
             --learning-rate 0.005 --out m --json",
        )
        .exits(0)
        .json();
    let test = &trained["test"];
    assert!(test["r_squared"].as_f64().unwrap() > 0.9, "{test}");
    assert!(test.get("accuracy").is_none(), "{test}");
    workspace
        .line("predict --model m --data variants.csv --out variants-predicted.csv")
        .exits(0);
    let numbers = predicted(&workspace, "variants-predicted.csv");
    let people = numbers.chunks_exact(2).zip(own);
    let people = people
        .map(|(pair, own)| ([pair[0], pair[1]], own))
        .collect();
    Paid { workspace, people }
}

/// The column `predicted` of a file.
fn predicted(workspace: &Workspace, file: &str) -> Vec<f64> {
    let text = workspace.read(file);
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(rows.headers().unwrap(), vec!["row", "predicted"]);
    let rows = rows.records().map(|row| row.unwrap()[1].parse().unwrap());
    rows.collect()
}

#[test]
fn people_whose_number_moves_beyond_the_gap_are_found_and_proved() {
    let Paid { workspace, people } = paid();
    let moves: Vec<f64> = people.iter().map(|([f, m], _)| (f - m).abs()).collect();
    let beyond = moves.iter().filter(|moved| **moved > GAP).count() as u64;
    assert!((100..500).contains(&beyond), "{beyond}");
    let audit = format!("audit --model m --data pay.csv --gap {GAP} --seeds 60 --local 30");
    workspace
        .line(&format!("{audit} --estimate 200 --samples csv --out a"))
        .exits(0);
    let summary = workspace.summary("a");
    let population = &summary["population"];
    assert_eq!(population["number"], "wage");
    assert_eq!(population["shares"][0]["discriminatory"], beyond);
    let higher = |&&([f, m], own): &&([f64; 2], usize)| {
        let to_other = if own == 0 { m - f } else { f - m };
        to_other > GAP
    };
    let gain = people.iter().filter(higher).count() as u64;
    assert_eq!(population["directions"]["to_favourable"]["count"], gain);
    let ways = &population["directions"]["from_favourable"];
    assert_eq!(ways["count"], beyond - gain);
    let changes = &population["changes"];
    let close = |found: &Value, expected: f64| {
        let found = found.as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 2e-3, "{found} {expected}");
    };
    close(&changes["mean"], moves.iter().sum::<f64>() / 600.0);
    close(
        &changes["largest"],
        moves.iter().copied().fold(0.0, f64::max),
    );
    assert_eq!(changes["bins"].as_array().unwrap().len(), 20);

    // Every pair moves by more than the gap, in what the file says and in what is computed anew.
    let samples = workspace.read("a/samples.csv");
    let mut rows = csv::Reader::from_reader(samples.as_bytes());
    let header = rows.headers().unwrap().clone();
    let at = |name: &str| header.iter().position(|column| column == name).unwrap();
    let numbers = [at("number_x"), at("number_other")];
    let labels = [at("label_x"), at("label_other")];
    let mut pairs = 0;
    for row in rows.records().map(Result::unwrap) {
        let [x, other] = numbers.map(|at| row[at].parse::<f64>().unwrap());
        assert!((x - other).abs() > GAP, "{row:?}");
        let expected = if x < other {
            ["lower", "higher"]
        } else {
            ["higher", "lower"]
        };
        assert_eq!(labels.map(|at| &row[at]), expected);
        pairs += 1;
    }
    assert!(pairs > 100, "{pairs}");
    workspace
        .line("verify a")
        .exits(0)
        .says(&[&format!("{pairs} confirmed, 0 rejected")]);

    // Rows that are certified are exactly those of which nothing moves beyond the gap.
    workspace
        .line(&format!(
            "certify --model m --data pay.csv --gap {GAP} --out c"
        ))
        .exits(0);
    let certified = &workspace.summary("c")["sets"][0]["certified"];
    assert_eq!(certified["count"], 600 - beyond, "{certified}");

    for strategy in ["eidig", "sg", "aequitas-fully", "random-walk"] {
        let run = format!("a-{strategy}");
        workspace
            .line(&format!("{audit} --strategy {strategy} --out {run}"))
            .exits(0);
        workspace
            .line(&format!("verify {run}"))
            .exits(0)
            .says(&[" 0 rejected"]);
        let found = workspace.summary(&run)["total"]["discriminatory"]
            .as_u64()
            .unwrap();
        assert!(found > 20, "{strategy}: {found}");
    }
    let page = workspace.line("report a --out a.html").exits(0);
    drop(page);
    let html = workspace.read("a.html");
    assert!(
        html.contains("‘wage’ moves at most"),
        "the page says what moves"
    );
}

#[test]
fn a_regressor_is_repaired_and_explained() {
    let Paid { workspace, people } = paid();
    workspace
        .line(&format!(
            "audit --model m --data pay.csv --gap {GAP} --seeds 60 --local 30 --out a"
        ))
        .exits(0);
    let before = people
        .iter()
        .filter(|([f, m], _)| (f - m).abs() > GAP)
        .count();
    for (number, method) in ["--share 0.5", "--method certified"]
        .into_iter()
        .enumerate()
    {
        let out = format!("r{number}");
        let repaired = workspace.line(&format!(
            "repair --model m --data pay.csv --run a {method} --repeats 1 --estimate 500 \
                 --save-anyway --out {out}"
        ));
        assert!(matches!(repaired.code, Some(0 | 1)), "{repaired:#?}");
        workspace
            .line(&format!(
                "predict --model {out} --data variants.csv --out {out}.csv"
            ))
            .exits(0);
        let numbers = predicted(&workspace, &format!("{out}.csv"));
        let pairs = numbers.chunks_exact(2);
        let after = pairs.filter(|pair| (pair[0] - pair[1]).abs() > GAP).count();
        assert!(5 * after < before, "{method}: {before} to {after}");
        let held_out = &workspace.summary(&out)["before"]["held_out"];
        assert!(held_out["r_squared"].as_f64().unwrap() > 0.9, "{held_out}");
    }

    let row = people
        .iter()
        .position(|([f, m], _)| (f - m).abs() > GAP)
        .unwrap();
    let explained = workspace
        .line(&format!(
            "explain --model m --data pay.csv --gap {GAP} --row {} --json",
            row + 1
        ))
        .exits(0)
        .json();
    assert_eq!(explained["flips"], 1);
    let variants = explained["variants"].as_array().unwrap();
    for (variant, expected) in variants.iter().zip(people[row].0) {
        let number = variant["number"].as_f64().unwrap();
        assert!((number - expected).abs() < 0.01, "{number} {expected}");
        assert!(variant["probabilities"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_number_that_is_imported_is_the_sum_that_it_was() {
    let workspace = Workspace::new();
    workspace.write("pay.csv", "a,b,wage\n0,0,5\n1,3,-3.5\n2,1,9\n");
    workspace.write(
        "pay.toml",
        "name = \"pay\"\n[label]\nname = \"wage\"\nkind = \"number\"\n\
         [[attribute]]\nname = \"a\"\nkind = \"integer\"\nmin = 0\nmax = 2\nprotected = true\n\
         [[attribute]]\nname = \"b\"\nkind = \"integer\"\nmin = 0\nmax = 3\n",
    );
    // 5 + 4 a - 4.25 b: -3.75, not -3.5, in the second row.
    let header = r#"{"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}"#;
    let mut weights = (header.len() as u64).to_le_bytes().to_vec();
    weights.extend(header.as_bytes());
    weights.extend([4.0_f32, -4.25, 5.0].into_iter().flat_map(f32::to_le_bytes));
    workspace.write("w.safetensors", weights);
    let config = "hidden = []\noutput = \"number\"\n\
                  [[layout]]\nweight = \"w\"\nbias = \"b\"\norientation = \"out-in\"\n";
    workspace.write("import.toml", config);
    workspace.write("classes.toml", config.replace("number", "sigmoid"));
    let import = "import --weights w.safetensors --schema pay.toml --config";
    workspace
        .line(&format!("{import} import.toml --out m"))
        .exits(0);
    workspace
        .line("predict --model m --data pay.csv --out predicted.csv")
        .exits(0);
    assert_eq!(predicted(&workspace, "predicted.csv"), [5.0, -3.75, 8.75]);
    let line = format!("{import} import.toml --reference pay.csv --out other");
    refuses(&workspace, &line, 2, &["row 2: -3.75, not -3.5"]);
    let line = format!("{import} classes.toml --out other");
    refuses(&workspace, &line, 2, &["numbers", "\"number\""]);

    // A gap is beyond what is exactly it.
    for (gap, found) in [("7.999", 2), ("8", 0), ("4", 2), ("3.999", 3)] {
        let run = format!("a{gap}");
        workspace
            .line(&format!(
                "audit --model m --data pay.csv --gap {gap} --out {run}"
            ))
            .exits(0);
        let summary = workspace.summary(&run);
        let share = &summary["population"]["shares"][0]["discriminatory"];
        assert_eq!(share, found, "{gap}");
    }
}

#[test]
fn what_numbers_do_not_go_with_is_named() {
    let workspace = Workspace::new();
    workspace.write(
        "pay.csv",
        "a,b,wage\n0,0,1\n1,1,2\n2,0,4\n3,1,8\n4,1,9\n0,0,1\n1,1,2\n2,0,4\n3,1,8\n4,1,9\n",
    );
    let infer = "schema infer pay.csv --label-column wage --label-number --out pay.toml";
    workspace.line(&format!("{infer} --protected a")).exits(0);
    refuses(
        &workspace,
        &format!("{infer} --force --favourable 9"),
        2,
        &["favourable", "numbers"],
    );
    for (name, label, said) in [
        ("huge", "1e300", "'1e300' is not a finite number"),
        ("word", "much", "'much' is not a finite number"),
        ("blank", "", "'' is not a finite number"),
    ] {
        let rows = format!("a,b,wage\n0,0,1\n1,1,{label}\n2,1,3\n3,0,4\n4,0,5\n");
        workspace.write(&format!("{name}.csv"), rows);
        let train = format!("train --data {name}.csv --schema pay.toml --out m-{name}");
        refuses(&workspace, &train, 2, &["line 3", "wage", said]);
        workspace
            .line(&format!(
                "{train} --skip-bad-rows --test 0 --validation 0 --epochs 1"
            ))
            .exits(0)
            .says(&["1 bad row"]);
    }
    // A number that is not there is a missing outcome.
    let rows = "a,b,wage\n0,0,1\n1,1,nan\n2,1,3\n3,0,4\n4,0,5\n";
    workspace.write("nan.csv", rows);
    workspace
        .line("train --data nan.csv --schema pay.toml --epochs 1 --out m-nan")
        .exits(0)
        .says(&["1 row was left out because the outcome is missing"]);
    workspace.write("one.csv", "a,b,wage\n0,0,3\n1,1,3\n");
    let train = "train --schema pay.toml --out m";
    refuses(
        &workspace,
        &format!("{train} --data one.csv"),
        2,
        &["label 3", "two numbers"],
    );
    let weights = format!("{train} --data pay.csv --class-weights balanced");
    refuses(&workspace, &weights, 2, &["--class-weights", "numbers"]);
    workspace
        .line(&format!("{train} --data pay.csv --epochs 2"))
        .exits(0);
    let audit = "audit --model m --data pay.csv";
    refuses(&workspace, audit, 2, &["gap", "unit of the label"]);
    refuses(
        &workspace,
        &format!("{audit} --gap 1 --threshold 0.7"),
        2,
        &["--threshold"],
    );
    refuses(
        &workspace,
        &format!("{audit} --threshold 0.7"),
        2,
        &["--threshold", "numbers"],
    );
    refuses(&workspace, &format!("{audit} --gap -1"), 2, &["--gap"]);
    refuses(
        &workspace,
        &format!("{audit} --gap 1 --objective loss"),
        2,
        &["--objective"],
    );
    refuses(
        &workspace,
        "groups --model m --data pay.csv",
        2,
        &["wage", "numbers"],
    );
    refuses(
        &workspace,
        "predict --model m --data pay.csv --threshold 0.7",
        2,
        &["numbers"],
    );
}
