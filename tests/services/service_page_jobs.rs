//! Trainings and audits by the forms of the pages of `probity serve`, without a browser.

#![cfg(feature = "serve")]

use std::io::{Cursor, Write};

use crate::census::census;
use crate::pages::Visitor;
use crate::probity_command::Workspace;
use crate::service::Home;

#[test]
fn texts_are_audited_and_repaired() {
    let workspace = Workspace::new();
    workspace
        .line("data generate comments --rows 600 --out comments.csv")
        .exits(0);
    let home = Home::new();
    let service = home.serve(&[]);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let fields = [
        ("csrf", secret.as_str()),
        ("label", "comments"),
        ("kind", "texts"),
    ];
    let comments = workspace.read("comments.csv");
    let answer = visitor.upload("/data/new", &fields, "comments.csv", &comments);
    assert_eq!(answer.status, 303, "{}", answer.text);
    let data = answer.header("location").to_owned();
    assert!(visitor.get(&data).text.contains("600\u{a0}texts"));
    assert_eq!(visitor.get(&format!("{data}/columns")).status, 404);

    let form = visitor.get(&format!("{data}/train")).text;
    assert!(form.contains("Column with the texts"), "{form}");
    let network = [
        ("text_column", "0"),
        ("label_column", "1"),
        ("recurrent.layers", "1"),
        ("training.epochs", "3"),
    ];
    let model = visitor.does(&format!("{data}/train"), &network);
    let page = visitor.get(&format!("/models/{model}")).text;
    assert!(page.contains("decides about texts"), "{page}");

    let form = visitor.get(&format!("/models/{model}/audit")).text;
    assert!(form.contains("comments, column comment_text"), "{form}");
    let start = format!("{}.0", data.trim_start_matches("/data/"));
    let search = [
        ("data", start.as_str()),
        ("protected", "gender"),
        ("effort", "quick"),
        ("search.seeds", "20"),
        ("search.local", "5"),
    ];
    let audit = visitor.does(&format!("/models/{model}/audit"), &search);
    let page = visitor.get(&format!("/runs/{audit}")).text;
    assert!(
        page.contains("of texts with a protected term are decided differently"),
        "{page}"
    );
    let report = visitor.get(&format!("/runs/{audit}/report"));
    assert_eq!(report.status, 200, "{}", report.text);
    let policy = report.header("content-security-policy");
    assert!(
        policy.contains("style-src 'sha256-") && !policy.contains("'self'"),
        "{policy}"
    );

    let form = visitor.get(&format!("/runs/{audit}/repair"));
    assert_eq!(form.status, 200, "{}", form.text);
}

#[test]
fn a_model_is_uploaded_and_audited() {
    let workspace = Workspace::new();
    workspace.write("people.csv", census(300));
    workspace
        .line("schema infer people.csv --label-column income --protected sex --out people.toml")
        .exits(0);
    workspace
        .line("train --data people.csv --schema people.toml --epochs 3 --out model")
        .exits(0);
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["model.toml", "weights.safetensors", "run.toml"] {
        let options = zip::write::SimpleFileOptions::default();
        archive
            .start_file(format!("people/{name}"), options)
            .unwrap();
        let file = std::fs::read(workspace.path("model").join(name)).unwrap();
        archive.write_all(&file).unwrap();
    }
    let archive = archive.finish().unwrap().into_inner();

    let home = Home::new();
    let service = home.serve(&[]);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let fields = [("csrf", secret.as_str()), ("label", "ours")];
    let answer = visitor.upload("/models/new", &fields, "model.zip", &archive);
    assert_eq!(answer.status, 303, "{}", answer.text);
    let model = answer.header("location").to_owned();
    let page = visitor.get(&model).text;
    assert!(page.contains("ours") && page.contains("uploaded"), "{page}");
    // Without data that fit, an audit has nothing to start from.
    visitor.with_table("other columns");
    let form = visitor.get(&format!("{model}/audit")).text;
    assert!(form.contains("Data are needed"), "{form}");
    let fields = [("csrf", secret.as_str()), ("label", "people")];
    let people = workspace.read("people.csv");
    let answer = visitor.upload("/data/new", &fields, "people.csv", &people);
    let data = answer
        .header("location")
        .split('/')
        .nth(2)
        .unwrap()
        .to_owned();
    let search = [
        ("data", data.as_str()),
        ("protected", "sex"),
        ("effort", "quick"),
        ("search.seeds", "20"),
    ];
    let audit = visitor.does(&format!("{model}/audit"), &search);
    let page = visitor.get(&format!("/runs/{audit}")).text;
    assert!(
        page.contains("of the rows are decided differently"),
        "{page}"
    );
    let answer = visitor.post(&format!("/jobs/{audit}/delete"), &[("csrf", &secret)]);
    assert_eq!(answer.status, 303, "{}", answer.text);
    assert_eq!(visitor.get(&format!("/runs/{audit}")).status, 404);
    let answer = visitor.post(&format!("{model}/delete"), &[("csrf", &secret)]);
    assert_eq!(answer.status, 303, "{}", answer.text);
    assert_eq!(visitor.get(&model).status, 404);
}
