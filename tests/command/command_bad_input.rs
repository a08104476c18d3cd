//! Bad tables, schemas, options, devices and places to the command: a message that names what is
//! wrong and where, exit code 2 (3 where the machine is the problem), and nothing written.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::{SCHEMA, people, people_and_model, refuses};

/// Every fault of a table, as `train` and `audit` meet it: the file, the place, the column and the
/// value are named.
#[test]
fn tables() {
    const HEADER: &str = "age,wage,sex,income\n40,1,male,low\n";
    let header = |rest: &[u8]| [HEADER.as_bytes(), rest].concat();
    let cases: Vec<(Vec<u8>, &[&str])> = vec![
        (header(b"41,2,female\n"), &["line 3", "3 fields where 4"]),
        (
            header(b"41,2,female,high,1\n"),
            &["line 3", "5 fields where 4"],
        ),
        (
            header(b"41,2,other,high\n"),
            &["line 3", "'sex'", "'other'", "female, male"],
        ),
        (
            header(b"16,2,female,high\n"),
            &["line 3", "'age'", "'16'", "17 to 90"],
        ),
        (
            header(b"40.5,2,female,high\n"),
            &["line 3", "'age'", "'40.5'", "whole number"],
        ),
        (
            header(b"41,20.5,female,high\n"),
            &["line 3", "'wage'", "'20.5'", "0 to 20"],
        ),
        (
            header(b"41,NaN,female,high\n"),
            &["line 3", "'wage'", "'NaN'"],
        ),
        (
            header(b"41,-inf,female,high\n"),
            &["line 3", "'wage'", "'-inf'"],
        ),
        (
            header(b"inf,2,female,high\n"),
            &["line 3", "'age'", "'inf'"],
        ),
        (header(b"41,,female,high\n"), &["line 3", "'wage'", "''"]),
        (
            header(b"41,2,f\xe9male,high\n"),
            &["line 3", "'sex'", "UTF-8"],
        ),
        (
            header(b"41,\"2,female,high\n"),
            &["line 3", "2 fields where 4", "quotes"],
        ),
        (b"\xffage,wage,sex,income\n".to_vec(), &["line 1", "UTF-8"]),
        (Vec::new(), &["no rows"]),
        (b"\n\n\n".to_vec(), &["no rows"]),
        (b"age,wage,sex,income\n".to_vec(), &["no rows"]),
        (
            b"age,wage,income\n40,1,low\n".to_vec(),
            &["no column 'sex'", "age, wage, income"],
        ),
        (
            b"age,wage,sex,income,zip\n40,1,male,low,7\n".to_vec(),
            &["column 'zip'", "ignore_other_columns"],
        ),
        (
            b"age,age,wage,sex,income\n40,40,1,male,low\n".to_vec(),
            &["two columns called 'age'"],
        ),
        (b"PAR1 and no more".to_vec(), &["Parquet"]),
        (b"\x1f\x8bno gzip".to_vec(), &["cannot read"]),
        (b"\x00\x01\x02\x03".to_vec(), &["no column 'age'"]),
    ];
    let workspace = people_and_model();
    for (bytes, needles) in cases {
        workspace.write("bad.csv", bytes);
        for line in [
            "train --data bad.csv --schema people.toml --out out",
            "audit --data bad.csv --model model --out out",
            "schema check bad.csv --schema people.toml",
        ] {
            refuses(&workspace, line, 2, needles).complains(&["bad.csv"]);
        }
    }
    // An outcome that is no class is refused where outcomes are needed.
    workspace.write("bad.csv", header(b"41,2,female,middling\n"));
    for line in [
        "train --data bad.csv --schema people.toml --out out",
        "schema check bad.csv --schema people.toml",
    ] {
        let needles = &["line 3", "'income'", "'middling'", "low, high"];
        refuses(&workspace, line, 2, needles).complains(&["bad.csv"]);
    }
    let audit = workspace.line("audit --data bad.csv --model model --out out");
    audit
        .exits(0)
        .says(&["1 row has an outcome that the schema does not know"]);
}

/// Each reader leaves out the same rows, and what is learnt is what a clean file teaches; the rows
/// that are left keep their numbers.
#[test]
fn bad_rows_are_left_out_where_it_is_asked_for() {
    let workspace = people();
    let (mut clean, mut dirty) = ("id,age,wage,sex,income\n".to_owned(), String::new());
    let bad = [
        ",45,99,male,low",
        "901,,1,male,low",
        "902,45,y,male,",
        "903,45,1,male",
        "904,45,x,male,high",
    ];
    dirty += &clean;
    for row in 0..60 {
        let line = format!(
            "{row},{},{},{},{}\n",
            17 + row % 50,
            f64::from(row % 40) / 2.0,
            ["male", "female"][row as usize % 2],
            ["low", "high"][row as usize / 3 % 2]
        );
        if let (0, Some(bad)) = (row % 9, bad.get(row as usize / 9)) {
            dirty += bad;
            dirty += "\n";
        }
        clean += &line;
        dirty += &line;
    }
    workspace.write("clean.csv", &clean);
    workspace.write("dirty.csv", &dirty);
    let other = workspace.read("people.toml") + "[format]\nignore_other_columns = true\n";
    workspace.write("people.toml", other);
    let short = "--hidden 4 --epochs 2 --test 0 --validation 0";
    let table = "--schema people.toml";
    let numbers = "--id-column id --ignore sex";
    let knn = format!(
        "{numbers} --label-column income --folds 3 --max-k 3 --poison 1 --inputs 5 --test clean.csv"
    );
    let kmeans = format!("{numbers} --label-column income --clusters 3 --bounds 0,100");
    let spn = "--id-column id --min-rows 20 --schema people.toml";
    for (fits, out, files) in [
        (
            format!("train {table} {short} --data FILE"),
            "train",
            &["weights.safetensors"][..],
        ),
        (
            format!("kmeans fit {kmeans} --data FILE"),
            "kmeans",
            &["model.toml", "model.bin"],
        ),
        (format!("spn fit {spn} --data FILE"), "spn", &["model.spn"]),
        (
            format!("knn {knn} --train FILE --verdicts csv"),
            "knn",
            &["summary.json"],
        ),
    ] {
        let line = |file: &str, out: &str| format!("{} --out {out}", fits.replace("FILE", file));
        let [of_clean, of_dirty] = ["clean", "dirty"].map(|name| format!("{out}-{name}"));
        refuses(
            &workspace,
            &line("dirty.csv", "out"),
            2,
            &["line 2", "--skip-bad-rows"],
        );
        workspace
            .line(&format!("{} --skip-bad-rows", line("clean.csv", &of_clean)))
            .exits(0);
        workspace
            .line(&format!("{} --skip-bad-rows", line("dirty.csv", &of_dirty)))
            .exits(0)
            .says(&["rows were left out", "'age' is blank"]);
        for file in files {
            let [one, other] = [&of_clean, &of_dirty]
                .map(|run| std::fs::read(workspace.path(&format!("{run}/{file}"))).unwrap());
            if out != "knn" {
                assert!(one == other, "{out}/{file}");
            }
        }
    }
    let [one, other] =
        ["clean", "dirty"].map(|name| workspace.json(&format!("knn-{name}/summary.json")));
    for key in ["k", "certified", "falsified", "accuracy", "training_rows"] {
        assert_eq!(one[key], other[key], "{key}");
    }
    assert_eq!(other["bad_rows"][0]["rows"], 5);
    workspace.write("no-class.csv", "a,y\n1,0\n2,\n3,1\n");
    let knn = "knn --train no-class.csv --test no-class.csv --label-column y --folds 2 --max-k 1 --poison 1 --out out";
    refuses(
        &workspace,
        knn,
        2,
        &["line 3", "no class", "--skip-bad-rows"],
    );
    // The record is enough to do it again, and what was deleted is deleted.
    workspace
        .line("run train-dirty --out again")
        .exits(0)
        .says(&["5 bad rows"]);
    let counts = &workspace.json("again/summary.json")["data"];
    assert_eq!(
        (&counts["rows"], &counts["bad_rows"]["rows"]),
        (&60.into(), &5.into())
    );
    assert_eq!(
        counts["bad_rows"]["reasons"][1]["first"],
        serde_json::json!(["line 12"])
    );
    for (command, model) in [("kmeans", "kmeans-dirty"), ("spn", "spn-dirty")] {
        let more = if command == "kmeans" {
            "--ignore sex --skip-bad-rows"
        } else {
            ""
        };
        workspace
            .line(&format!(
                "{command} delete --model {model} --ids 5,17 --verify --data dirty.csv {more}"
            ))
            .exits(0)
            .says(&["Verified"]);
    }
    // Without ids the rows keep the numbers of their lines.
    let unnamed = "kmeans fit --ignore id,sex --label-column income --clusters 2 --bounds 0,100 --skip-bad-rows --out unnamed";
    workspace
        .line(&format!("{unnamed} --data dirty.csv"))
        .exits(0);
    workspace
        .line("kmeans delete --model unnamed --ids 11")
        .exits(2)
        .complains(&["11"]);
    workspace
        .line("kmeans delete --model unnamed --ids 12")
        .exits(0);
    // The model leaves out what it was trained without; another one where it is asked to.
    let audit = "audit --protected sex --seeds 5 --local 2 --estimate 10 --data dirty.csv";
    workspace
        .line(&format!("{audit} --model train-dirty --out a"))
        .exits(0)
        .says(&["5 bad rows were left out"]);
    workspace
        .line(&format!(
            "train {table} {short} --data clean.csv --out plain"
        ))
        .exits(0);
    refuses(
        &workspace,
        &format!("{audit} --model plain --out b"),
        2,
        &["--skip-bad-rows"],
    );
    workspace
        .line(&format!("{audit} --model plain --skip-bad-rows --out b"))
        .exits(0)
        .says(&["5 bad rows were left out"]);
    let data = &workspace.json("b/summary.json")["data"]["bad_rows"]["rows"];
    assert_eq!(data, 5);
    workspace.line("report b --out b.html").exits(0);
    assert!(workspace.read("b.html").contains("bad rows were left out"));
    workspace
        .line("groups --model plain --data dirty.csv --skip-bad-rows")
        .exits(0);
    workspace
        .line("certify --model plain --data dirty.csv --skip-bad-rows")
        .exits(0);
    workspace
        .line("schema check dirty.csv --schema people.toml --skip-bad-rows")
        .exits(0)
        .says(&["60 rows", "5 bad rows"]);
    // How many records there are is public where answers are private.
    workspace.edit(
        "people.toml",
        "ignore_other_columns = true",
        "ignore_other_columns = true\nskip_bad_rows = true",
    );
    workspace
        .line("outliers budget --ledger ledger.toml --data clean.csv --epsilon 1 --delta 0.1")
        .exits(0);
    for query in [
        "exact",
        "count --epsilon 0.5 --delta 0.01 --ledger ledger.toml",
    ] {
        let line = format!(
            "outliers {query} --data clean.csv --columns age --schema people.toml --radius 0.5 --k 3"
        );
        refuses(&workspace, &line, 2, &["skip_bad_rows", "public"]);
    }
}

/// One class is enough to audit, but not to learn from; neither is a missing label.
#[test]
fn labels_to_learn_from() {
    let workspace = people();
    workspace.write(
        "one.csv",
        "age,wage,sex,income\n40,1,male,low\n41,2,female,low\n",
    );
    workspace.write("none.csv", "age,wage,sex\n40,1,male\n41,2,female\n");
    let train = |data: &str| format!("train --data {data} --schema people.toml --out out");
    let needles = ["one.csv", "2 rows", "'low'", "two classes"];
    refuses(&workspace, &train("one.csv"), 2, &needles);
    let needles = ["none.csv", "no column 'income'", "age, wage, sex"];
    refuses(&workspace, &train("none.csv"), 2, &needles);
    refuses(&workspace, &train("absent.csv"), 2, &["absent.csv"]);
    refuses(&workspace, &train("."), 2, &["directory"]);
}

/// Schemas that are unknown, no text, no TOML or contradictory.
#[test]
fn schemas() {
    let workspace = people();
    let cases: [(&[u8], &[&str]); 7] = [
        (b"name = \"\xff\"", &["UTF-8"]),
        (b"name = ", &["line 1"]),
        (b"name = \"x\"\n", &["label"]),
        (
            b"name = \"x\"\n[label]\nname = \"y\"\nclasses = [\"a\", \"b\"]\nattribute = []\n",
            &["bad.toml"],
        ),
        (
            SCHEMA.replace("max = 90", "max = 9").leak().as_bytes(),
            &["'age'", "min 17 is above max 9"],
        ),
        (
            SCHEMA.replace(", \"high\"", "").leak().as_bytes(),
            &["'income'", "two classes"],
        ),
        (
            SCHEMA.replace("10.0, 20.0", "nan, 20.0").leak().as_bytes(),
            &["'wage'", "NaN"],
        ),
    ];
    for (text, needles) in cases {
        workspace.write("bad.toml", text);
        let line = "train --data people.csv --schema bad.toml --out out";
        refuses(&workspace, line, 2, needles).complains(&["bad.toml"]);
    }
    let line = "train --data people.csv --schema cencus --out out";
    refuses(
        &workspace,
        line,
        2,
        &["'cencus'", "census, german-credit", "infer"],
    );
    for (line, needle) in [
        (
            "schema infer people.csv --label-column wages --out out",
            "no column 'wages'",
        ),
        (
            "schema infer people.csv --label-column income --protected creed --out out",
            "no column 'creed'",
        ),
        (
            "schema infer people.csv --label-column sex --protected sex --out out",
            "'sex' is the label and protected",
        ),
        (
            "schema infer people.csv --label-column income --separator ;; --out out",
            "one ASCII character",
        ),
    ] {
        refuses(&workspace, line, 2, &[needle]);
    }
}

/// Options out of their range, misspelt or contradictory, for every command that searches or
/// learns.
/// Who forgets several options is told of all of them, and shown a command that has them.
#[test]
fn missing_options_are_named_together() {
    let workspace = Workspace::new();
    for (line, needles) in [
        (
            "audit",
            [
                "--data and --model are needed; for example: probity audit --model",
                "--data people.csv",
            ],
        ),
        (
            "train --texts a.csv",
            ["--label-column is missing", "must be given"],
        ),
        ("audit --model m", ["--data is missing", "must be given"]),
    ] {
        workspace.line(line).exits(2).complains(&needles);
    }
}

#[test]
fn options() {
    let workspace = people_and_model();
    let audit = "audit --model model --data people.csv --out out";
    for (more, needles) in [
        ("--seeds 0", &["--seeds is 0", "from 1 to 1000000"][..]),
        ("--clusters 0", &["--clusters is 0"]),
        ("--estimate 0", &["--estimate is 0"]),
        ("--batch 0", &["--batch is 0"]),
        ("--step-global 0", &["--step-global is 0"]),
        ("--step-local 0", &["--step-local is 0"]),
        ("--max-found 0", &["--max-found is 0"]),
        ("--local 4000000000", &["--local is 4000000000"]),
        ("--fail-above 2", &["--fail-above is 2", "0 to 1"]),
        ("--fail-above NaN", &["--fail-above", "NaN"]),
        ("--fail-above=-0.1", &["--fail-above is -0.1"]),
        ("--time nonsense", &["'nonsense'"]),
        ("--seeds many", &["'many'", "--seeds"]),
        ("--seeds=-1", &["-1"]),
        ("--threads 0", &["--threads"]),
        ("--seedz 3", &["'--seedz'", "--seed"]),
        ("--strategy guess", &["'guess'", "adf"]),
        ("--protected creed", &["'creed'", "age, wage, sex"]),
        ("--protected sex,sex", &["--protected is sex", "once"]),
        ("--protected age,wage,sex", &["every attribute"]),
        ("--quiet --verbose", &["--verbose"]),
        ("--resume", &["--resume", "cannot be given"]),
    ] {
        refuses(&workspace, &format!("{audit} {more}"), 2, needles);
    }
    let train = "train --data people.csv --schema people.toml --out out";
    for (more, needles) in [
        ("--epochs 0", &["--epochs is 0"][..]),
        ("--batch 0", &["--batch is 0"]),
        ("--hidden 8,0", &["--hidden", "0"]),
        ("--learning-rate 0", &["--learning-rate is 0"]),
        ("--learning-rate NaN", &["--learning-rate"]),
        ("--dropout 1", &["--dropout is 1"]),
        ("--test 1", &["--test is 1"]),
        ("--validation=-0.1", &["--validation is -0.1"]),
        ("--class-weights 1", &["--class-weights is 1"]),
        ("--class-weights 0,0", &["--class-weights"]),
        (
            "--categories embed:0",
            &[
                "--categories is 'embed:0'",
                "embed:LENGTH with a length from 1",
            ],
        ),
        (
            "--categories words",
            &["--categories is 'words', but must be codes, onehot"],
        ),
        ("--optimizer magic", &["'magic'"]),
    ] {
        refuses(&workspace, &format!("{train} {more}"), 2, needles);
    }
    refuses(
        &workspace,
        "audit --out out",
        2,
        &["--data and --model are needed"],
    );
    refuses(&workspace, "audti", 2, &["'audti'", "audit"]);
    refuses(&workspace, "demo --rows 5 --out out", 2, &["100"]);
    refuses(&workspace, "completions fizz", 2, &["'fizz'", "bash"]);
    refuses(&workspace, "man fizz", 2, &["'fizz'"]);
    refuses(&workspace, "data fetch fizz --cache out", 2, &["fizz"]);
}

/// A device that this build lacks is the machine's problem, exit code 3; one that nobody knows is
/// the user's.
#[test]
fn devices() {
    let workspace = people_and_model();
    for command in [
        "train --data people.csv --schema people.toml --out out",
        "audit --data people.csv --model model --out out",
        "demo --out out",
    ] {
        if !cfg!(feature = "cuda") {
            let line = format!("{command} --device cuda");
            refuses(&workspace, &line, 3, &["'cuda'", "--features cuda"]);
        }
        if !cfg!(feature = "wgpu") {
            let line = format!("{command} --device wgpu");
            refuses(&workspace, &line, 3, &["'wgpu'", "--features wgpu"]);
        }
        let line = format!("{command} --device abacus");
        refuses(&workspace, &line, 2, &["'abacus'", "flex"]);
    }
}

/// Places that cannot be written to (below a regular file, which holds for root too) or already
/// hold something.
#[test]
fn outputs() {
    let workspace = people_and_model();
    for line in [
        "train --data people.csv --schema people.toml",
        "audit --data people.csv --model model",
        "demo --rows 100",
    ] {
        let below = format!("{line} --out people.csv/out");
        refuses(&workspace, &below, 2, &["cannot write people.csv/out"]);
        let onto = format!("{line} --out people.csv");
        refuses(&workspace, &onto, 2, &["cannot write people.csv"]);
        let full = format!("{line} --out model");
        refuses(
            &workspace,
            &full,
            2,
            &["model is not empty", "another directory"],
        );
    }
    let line = "schema infer people.csv --label-column income --out people.csv/out";
    refuses(&workspace, line, 2, &["people.csv/out"]);
}
