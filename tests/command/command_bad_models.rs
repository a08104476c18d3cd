//! Bad models, weight files and runs to the command: a message that names the file and what is
//! wrong with it, exit code 2, and nothing written.

use std::fs;

use crate::probity_command::refusal::{PEOPLE, people, people_and_model, refuses};

/// Models that are missing, of another version, contradictory, truncated or not models at all.
#[test]
fn models() {
    let workspace = people_and_model();
    let audit = "audit --model bad --data people.csv --out out";
    refuses(&workspace, audit, 2, &["bad/model.toml", "weights"]);
    workspace.copy_folder("model", "bad");
    workspace.edit("bad/model.toml", "table model 2", "table model 9");
    refuses(
        &workspace,
        audit,
        2,
        &["bad/model.toml", "version 9, not 2"],
    );
    workspace.copy_folder("model", "bad");
    workspace.edit("bad/model.toml", "max = 90", "max = 91");
    refuses(&workspace, audit, 2, &["bad/model.toml was changed"]);
    // What the one who seals it anew has not thought of.
    let tampered: [(&str, &str, &[&str]); 7] = [
        (
            "hidden = [4]",
            "hidden = [5]",
            &["layers.0.weight", "[3, 4]", "[3, 5]"],
        ),
        (
            "hidden = [4]",
            "hidden = [4, 2]",
            &["layers.2.weight", "missing"],
        ),
        (
            "hidden = [4]",
            "hidden = []",
            &["layers.0.weight", "[3, 2]"],
        ),
        ("\"relu\"", "\"magic\"", &["magic", "relu"]),
        ("hidden = [4]", "widths = [4]", &["widths", "hidden"]),
        (
            "[network.encoding.age]",
            "[network.encoding.agee]",
            &["encoding"],
        ),
        ("max = 90", "max = 9", &["'age'", "above max"]),
    ];
    for (from, to, needles) in tampered {
        workspace.copy_folder("model", "bad");
        workspace.edit("bad/model.toml", from, to);
        workspace.seal("bad");
        refuses(&workspace, audit, 2, needles).complains(&["bad/"]);
    }
    workspace.copy_folder("model", "bad");
    let whole = fs::read(workspace.path("model/weights.safetensors")).unwrap();
    for (bytes, needle) in [
        (&whole[..whole.len() - 5], "truncated"),
        (&whole[..20], "truncated"),
        (&[], "empty"),
        (PEOPLE.as_bytes(), "text"),
        (b"\x89PNG\r\n\x1a\n", "no weight file"),
    ] {
        workspace.write("bad/weights.safetensors", bytes);
        let changed = ["bad/weights.safetensors was changed"];
        refuses(&workspace, audit, 2, &changed);
        workspace.seal("bad");
        refuses(&workspace, audit, 2, &["weights.safetensors", needle]);
        workspace.copy_folder("model", "bad");
    }
    let mut not_finite = whole.clone();
    let end = not_finite.len();
    not_finite[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    workspace.write("bad/weights.safetensors", not_finite);
    workspace.seal("bad");
    refuses(&workspace, audit, 2, &["weights.safetensors", "NaN"]);
    fs::remove_file(workspace.path("bad/weights.safetensors")).unwrap();
    refuses(&workspace, audit, 2, &["bad/weights.safetensors"]);
}

/// Weight files that do not fit what `import` is told about them.
#[test]
fn imports() {
    let workspace = people_and_model();
    let weights = "model/weights.safetensors";
    let config = "hidden = [4]\n[[layout]]\nweight = \"layers.{n}.weight\"\n\
                  bias = \"layers.{n}.bias\"\norientation = \"in-out\"\n";
    workspace.write("fits.toml", config);
    let import = |weights: &str, config: &str, schema: &str| {
        format!("import --weights {weights} --config {config} --schema {schema} --out out")
    };
    let line = import(weights, "fits.toml", "adf-census");
    refuses(
        &workspace,
        &line,
        2,
        &[weights, "layers.0.weight", "[3, 4]", "[13, 4]"],
    );
    for (from, to, needles) in [
        ("hidden = [4]", "hidden = [5]", &["[3, 4]", "[3, 5]"][..]),
        ("in-out", "out-in", &["layers.0.weight", "[4, 3]"]),
        ("in-out", "sideways", &["sideways"]),
        ("layers.{n}.bias", "shift{n}", &["shift0", "layers.0.bias"]),
        ("hidden = [4]", "hidden = 4", &["hidden"]),
        ("hidden = [4]", "layers = [4]", &["layers"]),
    ] {
        workspace.write("bad.toml", config.replacen(from, to, 1));
        let line = import(weights, "bad.toml", "people.toml");
        refuses(&workspace, &line, 2, needles);
    }
    workspace.write(
        "short.safetensors",
        &fs::read(workspace.path(weights)).unwrap()[..90],
    );
    for (weights, needle) in [
        ("people.csv", "text"),
        ("short.safetensors", "truncated"),
        ("absent.npz", "cannot read"),
    ] {
        let line = import(weights, "fits.toml", "people.toml");
        refuses(&workspace, &line, 2, &[weights, needle]);
    }
    let line = import(weights, "absent.toml", "people.toml");
    refuses(&workspace, &line, 2, &["absent.toml"]);
    let line = import(weights, "fits.toml", "absent.toml");
    refuses(&workspace, &line, 2, &["'absent.toml'", "schema"]);
}

/// A level of their own for outside values is only for models that were trained with one.
#[test]
fn a_level_that_the_model_does_not_have() {
    let workspace = people();
    workspace.edit(
        "people.toml",
        "max = 90\n",
        "max = 90\noutside = \"clip\"\n",
    );
    workspace
        .line("train --data people.csv --schema people.toml --out model --hidden 4 --epochs 1 --test 0 --validation 0")
        .exits(0);
    let line = "audit --model model --data people.csv --out out --outside level";
    let needles = ["--outside is level", "trained without"];
    refuses(&workspace, line, 2, &needles);
}

/// Columns that the schema of a model does not describe: the message names them all and the option
/// that passes over them, which every command has that reads rows by that schema, and no other one.
#[test]
fn other_columns_than_those_of_a_model() {
    let workspace = people_and_model();
    let rows =
        "40,1,male,low,7,a\n41,12.5,female,high,8,b\n17,20,female,low,9,c\n90,0,male,high,7,d\n";
    workspace.write("wide.csv", format!("age,wage,sex,income,zip,id\n{rows}"));
    let of = "--model model --data wide.csv";
    let named = [
        "the columns 'zip', 'id'",
        "; for a model that is there, --ignore-other-columns passes over them",
    ];
    for line in [
        format!("predict {of} --out p.csv"),
        format!("evaluate {of}"),
        format!("explain {of} --row 1"),
        format!("audit {of} --seeds 2 --local 1 --estimate 10 --out audit"),
        format!(
            "compare {of} --seeds 2 --local 1 --repeats 2 --strategies adf,random-walk --out compare"
        ),
        format!("certify {of}"),
        "prove --model model --marginals wide.csv".to_owned(),
        format!("groups {of} --min-group 1 --resamples 20"),
    ] {
        refuses(&workspace, &line, 2, &named);
        workspace
            .line(&format!("{line} --ignore-other-columns"))
            .exits(0);
    }
    let all = workspace.read("p.csv");
    workspace
        .line("predict --model model --data people.csv --out q.csv")
        .exits(0);
    assert_eq!(all, workspace.read("q.csv"));
    let check = "schema check wide.csv --schema people.toml";
    let said = refuses(
        &workspace,
        check,
        2,
        &[named[0], "ignore_other_columns = true"],
    );
    assert!(!said.stderr.contains("--ignore"), "{}", said.stderr);
    let texts = "audit --model model --texts wide.csv --ignore-other-columns --out texts";
    refuses(&workspace, texts, 2, &["--ignore-other-columns", "texts"]);
}

/// People whom a model was not made for: the message names what helps with a model that is there,
/// and it does, wherever rows are read by its schema.
#[test]
fn new_people_outside_the_domains_of_a_model() {
    let workspace = people_and_model();
    // One is too old, one of a sex that was not declared; five are known.
    let known =
        "40,1,male,low\n41,12.5,female,high\n17,20,female,low\n90,0,male,high\n30,3,male,low\n";
    let next = format!("age,wage,sex,income\n95,1,male,low\n{known}50,5,diverse,high\n");
    workspace.write("next.csv", next);
    let of = "--model model --data next.csv";
    let predict = format!("predict {of} --out p.csv");
    let needles = [
        "line 2",
        "'95'",
        "for a model that is there, --outside skip",
    ];
    refuses(&workspace, &predict, 2, &needles);
    // Numbers have a nearest one, words have not.
    let needles = ["line 8", "'diverse'", "--outside skip"];
    refuses(
        &workspace,
        &format!("{predict} --outside clip"),
        2,
        &needles,
    );
    let needles = ["--outside is level", "skip, which leaves such rows out"];
    refuses(
        &workspace,
        &format!("{predict} --outside level"),
        2,
        &needles,
    );
    refuses(
        &workspace,
        &format!("groups {of} --outside level"),
        2,
        &needles,
    );
    let check = "schema check next.csv --schema people.toml --outside level";
    refuses(&workspace, check, 2, &needles);
    let done = workspace
        .line(&format!("{predict} --outside skip --json"))
        .exits(0)
        .json();
    assert_eq!(done["inputs"], 5);
    assert_eq!(done["data"]["skipped_rows"], 2);
    let rows = workspace.read("p.csv");
    let rows: Vec<&str> = rows.lines().skip(1).map(|line| &line[..1]).collect();
    assert_eq!(rows, ["2", "3", "4", "5", "6"]);
    for line in [
        format!("groups {of} --min-group 1 --resamples 20"),
        format!("evaluate {of}"),
        format!("explain {of} --row 3"),
        format!("audit {of} --seeds 2 --local 2 --estimate 100 --out audit"),
        "audit --model model --data people.csv --population next.csv --seeds 2 --local 2 --estimate 100 --out people"
            .to_owned(),
    ] {
        workspace.line(&format!("{line} --outside skip")).exits(0);
    }
    assert_eq!(workspace.summary("audit")["data"]["skipped_rows"], 2);
    // The very row that is asked about may be left out, also the last one.
    for row in [1, 7] {
        let line = format!("explain {of} --outside skip --row {row}");
        let needles = ["that was not left out", "correct them, or choose another"];
        refuses(&workspace, &line, 2, &needles);
    }
    let line = format!("explain {of} --outside skip --row 8");
    refuses(&workspace, &line, 2, &["a row of the data, from 1 to 7"]);
}

/// `--resume` and `verify` of what is no run, or no longer the same run.
#[test]
fn runs() {
    let workspace = people_and_model();
    let resume = "audit --resume --out run";
    refuses(&workspace, resume, 2, &["run/run.toml"]);
    refuses(&workspace, "audit --resume", 2, &["--out"]);
    refuses(&workspace, "train --resume --out run", 2, &["run/run.toml"]);
    refuses(&workspace, "verify run", 2, &["run/run.toml"]);
    refuses(&workspace, "verify people.csv", 2, &["people.csv/run.toml"]);
    let needles = [
        "model/run.toml",
        "kind 'train'",
        "'audit', 'prove' and 'knn'",
    ];
    refuses(&workspace, "verify model", 2, &needles);
    // No time at all: the search ends after its first round and leaves a checkpoint.
    let audit = "audit --model model --data people.csv --out run --local 3 --estimate 50";
    workspace
        .line(&format!("{audit} --time 1ns"))
        .exits(0)
        .says(&["Ended by its time limit", "--time"]);
    assert!(workspace.path("run/checkpoint.bin").is_file());
    for (file, change) in [
        ("people.csv", "20,5,male,low\n"),
        ("run/run.toml", "not toml\n"),
    ] {
        let was = workspace.read(file);
        workspace.write(file, format!("{was}{change}"));
        let needle = if file == "people.csv" {
            "people.csv changed since the run began"
        } else {
            "run/run.toml"
        };
        refuses(&workspace, resume, 2, &[needle]);
        workspace.write(file, was);
    }
    let model = workspace.read("model/model.toml");
    workspace.edit("model/model.toml", "\"relu\"", "\"tanh\"");
    workspace.seal("model");
    refuses(
        &workspace,
        resume,
        2,
        &["model changed since the run began"],
    );
    refuses(
        &workspace,
        "verify run",
        2,
        &["not the one that the run was made with"],
    );
    workspace.write("model/model.toml", model);
    let checkpoint = fs::read(workspace.path("run/checkpoint.bin")).unwrap();
    workspace.write("run/checkpoint.bin", &checkpoint[..checkpoint.len() / 2]);
    refuses(&workspace, resume, 2, &["run/checkpoint.bin"]);
    workspace.write("run/checkpoint.bin", checkpoint);
    workspace.line(resume).exits(0);
    refuses(&workspace, resume, 2, &["complete", "nothing to resume"]);
    fs::remove_file(workspace.path("run/samples.parquet")).unwrap();
    refuses(&workspace, "verify run", 2, &["run/samples.parquet"]);
    workspace.write("run/samples.parquet", "PAR1");
    refuses(&workspace, "verify run", 2, &["run/samples.parquet"]);
}
