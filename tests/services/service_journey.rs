//! The whole way through the API of the service, as a program goes it; every answer is checked
//! against the OpenAPI document.

use std::io::{Cursor, Write};
use std::process::Command;
use std::sync::Arc;

use crate::service::{Home, Server, census, names_in, on_each_database, text};
use crate::workers::by_hand;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

on_each_database! {
    a_table_is_audited_and_its_model_repaired,
}

/// A small audit of `model`.
fn audit_of(model: &str, data: &str) -> Value {
    json!({
        "kind": "audit", "model": model, "data": data, "samples_format": "csv",
        "search": {"seeds": 30, "local": 20}, "estimate": 500
    })
}

fn a_table_is_audited_and_its_model_repaired(home: &Home) {
    let server = home.serve(&[]);
    let about = server.get("/api/v1/service").expect(200).json();
    assert_eq!(about["token_label"], "test");
    let document = server.get("/api/v1/openapi.json").expect(200).json();
    let specifications = &document["components"]["schemas"]["JobSpecification"]["oneOf"];
    assert_eq!(specifications.as_array().map(Vec::len), Some(6));
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));

    // Upload, draft a schema, change it.
    let fields = [("kind", "table"), ("label", "Census of nobody")];
    let uploaded = server.upload("/api/v1/data", &fields, "people.csv", &census(1500));
    let data = uploaded.expect(201).json();
    assert_eq!(data["rows"], 1500);
    assert_eq!(data["columns"].as_array().unwrap().len(), 9);
    let id = text(&data["id"]);
    server
        .get(&format!("/api/v1/data/{id}/schema"))
        .refuses(404, "no schema yet");
    let draft = json!({"label": "income", "protected": ["sex"]});
    let drafted = server.send("POST", &format!("/api/v1/data/{id}/schema/draft"), &draft);
    let mut schema = drafted.expect(200).json();
    let attributes = schema["attribute"].as_array_mut().unwrap();
    for attribute in attributes.iter_mut() {
        if attribute["name"] == "origin" {
            attribute["protected"] = json!(true);
        }
    }
    schema["label"]["classes"] = json!(["low", "high"]);
    let kept = server.send("PUT", &format!("/api/v1/data/{id}/schema"), &schema);
    assert_eq!(kept.expect(200).json(), schema);
    let shown = server.get(&format!("/api/v1/data/{id}/schema"));
    assert_eq!(shown.expect(200).json(), schema);
    assert_eq!(
        server.get(&format!("/api/v1/data/{id}")).expect(200).json()["has_schema"],
        true
    );

    // Train; the model bears the identifier of its job.
    let model = server.small_model(&id);
    let described = server.get(&format!("/api/v1/models/{model}")).expect(200);
    assert_eq!(described.json()["origin"], "trained");
    assert_eq!(described.json()["protected"], json!(["sex", "origin"]));
    let trained = server.get(&format!("/api/v1/jobs/{model}/summary"));
    assert_eq!(trained.expect(200).json()["finished"], true);
    let report = server.get(&format!("/api/v1/jobs/{model}/report"));
    let report = report.expect(200).text();
    assert!(
        report.contains("Training: Classifier of Census"),
        "{report}"
    );
    server
        .get(&format!("/api/v1/jobs/{model}/samples"))
        .refuses(409, "Only audits");

    // Audit, with progress.
    let audit = server.start(&audit_of(&model, &id));
    let view = server.done(&audit);
    assert_eq!(view["kind"], "audit");
    let shown = server.get(&format!("/api/v1/jobs/{audit}"));
    assert_eq!(shown.expect(200).json(), view);
    assert!(
        view["started"].is_string() && view["ended"].is_string(),
        "{view}"
    );
    let summary = server.get(&format!("/api/v1/jobs/{audit}/summary"));
    let summary = summary.expect(200).json();
    assert_eq!(summary["protected"], json!(["sex", "origin"]));
    assert_eq!(summary["ending"], "complete");
    let samples = server.get(&format!("/api/v1/jobs/{audit}/samples"));
    let samples = samples.expect(200);
    assert_eq!(
        samples.header("content-disposition"),
        "attachment; filename=\"samples-Audit-of-Classifier-of-Census-of-nobody.csv\""
    );
    let lines = samples.text().lines().count() as u64;
    assert!(lines > summary["total"]["discriminatory_rows"].as_u64().unwrap());
    for (form, begins) in [("html", "<!"), ("markdown", "#"), ("json", "{")] {
        let report = server.get(&format!("/api/v1/jobs/{audit}/report?form={form}"));
        let report = report.expect(200).text();
        assert!(
            report.trim_start().to_lowercase().starts_with(begins),
            "{form}"
        );
        // It calls things as people do; where they lie in the data directory only programs hear.
        assert!(
            report.contains("Audit of Classifier of Census"),
            "{form}: {report}"
        );
        let names_place = report.contains(&format!("runs/{model}"));
        assert_eq!(names_place, form == "json", "{form}");
        assert!(!report.contains("data dir/"), "{form}");
        assert_eq!(
            server
                .get(&format!("/api/v1/jobs/{audit}/report?form={form}"))
                .text(),
            report
        );
    }

    for (form, says) in [
        ("ai-act", "Annex IV, point 2(g)"),
        ("cyclonedx", "machine-learning-model"),
    ] {
        let report = server.get(&format!("/api/v1/jobs/{audit}/report?form={form}"));
        let report = report.expect(200).text();
        assert!(
            report.contains(says) && !report.contains("data dir/"),
            "{report}"
        );
    }

    // The run directory is the command line's own.
    let verified = Command::new(env!("CARGO_BIN_EXE_probity"))
        .arg("verify")
        .arg(home.run(&audit))
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");

    // Repair with what was found, and compare.
    let repair = server.start(&json!({
        "kind": "repair", "modality": "table", "model": model, "data": id, "runs": [audit],
        "repeats": 1, "shares": [0.1], "table": {"estimate": 500}, "save_anyway": true
    }));
    server.done(&repair);
    let again = server.start(&audit_of(&repair, &id));
    server.done(&again);
    let compared = server.get(&format!("/api/v1/comparison?jobs={audit},{again}"));
    let compared = compared.expect(200).json();
    let figures = &compared["jobs"][0]["audit"];
    assert_eq!(
        figures["discriminatory"],
        summary["total"]["discriminatory"]
    );
    assert_eq!(figures["shares"].as_array().unwrap().len(), 3);
    assert_eq!(compared["jobs"][0]["data_label"], "Census of nobody");
    for path in [
        format!("/api/v1/models/{model}/history"),
        format!("/api/v1/jobs/{audit}/history"),
        format!("/api/v1/jobs/{again}/new-pairs?since={audit}"),
    ] {
        server.get(&path).expect(200);
    }

    // A model that was packed comes back as the same model, called as its file.
    let packed = pack(&home.run(&model), "census/");
    let uploaded = server.upload("/api/v1/models", &[], "census.zip", &packed);
    let uploaded = uploaded.expect(201).json();
    assert_eq!(uploaded["label"], "census.zip");
    assert_eq!(uploaded["sha256"], described.json()["sha256"]);
    assert_eq!(uploaded["is_training_known"], true);
    let other = text(&uploaded["id"]);
    let run = home
        .data_dir()
        .join("models")
        .join(&other)
        .join("provenance.toml");
    let run = std::fs::read_to_string(run).unwrap();
    assert!(run.contains("data = \"uploaded\""), "{run}");
    let audit_of_other = server.start(&audit_of(&other, &id));
    server.done(&audit_of_other);
    assert_eq!(
        server
            .get(&format!("/api/v1/jobs/{audit_of_other}/samples"))
            .text(),
        samples.text()
    );

    // Lists, and deleting in an order that is refused at first.
    assert_eq!(
        server.get("/api/v1/jobs").json().as_array().unwrap().len(),
        5
    );
    assert_eq!(
        server.get("/api/v1/data").json().as_array().unwrap().len(),
        1
    );
    assert_eq!(
        server
            .get("/api/v1/models")
            .json()
            .as_array()
            .unwrap()
            .len(),
        3
    );
    server
        .ask("DELETE", &format!("/api/v1/models/{model}"))
        .refuses(409, "delete the job");
    stop_and_resume(home, &server, &model, &id);
    administered(home, &server, &audit);
    by_hand(home, &server, &id);
    for path in [
        format!("/api/v1/models/{other}"),
        format!("/api/v1/jobs/{model}"),
        format!("/api/v1/data/{id}"),
    ] {
        let renamed = server.send("PATCH", &path, &json!({"label": "over"}));
        assert_eq!(renamed.expect(200).json()["label"], "over");
        server.ask("DELETE", &path).expect(204);
        server.get(&path).refuses(404, "no");
    }
    assert!(names_in(&home.data_dir().join("data")).is_empty());
    assert!(!names_in(&home.data_dir().join("runs")).contains(&model));
    assert_eq!(server.contract.unseen(), Vec::<String>::new());

    // The log has identifiers and states, and nothing of what was sent.
    let log = server.kill();
    assert!(log.contains(&format!("job {audit} (audit) done")), "{log}");
    for word in ["Census", "people.csv", "income", "census.zip", "probity_"] {
        assert!(!log.contains(word), "'{word}' in {log}");
    }
}

/// Whatever is done about projects, tokens, links and the log is as the document says.
fn administered(home: &Home, server: &Server, audit: &str) {
    let root = home.token_of("main", "administrator");
    let root = server.with(&root);
    let asked = json!({"name": "lending", "quotas": {"jobs": 1}});
    let made = root.send("POST", "/api/v1/projects", &asked).expect(201);
    let project = format!("/api/v1/projects/{}", text(&made.json()["id"]));
    root.send("PUT", &project, &asked).expect(200);
    root.get("/api/v1/projects").expect(200);
    root.get(&project).expect(200);
    let tokens = format!("{project}/tokens");
    let asked = json!({"name": "ada", "role": "viewer", "days": 7});
    let token = root.send("POST", &tokens, &asked).expect(201).json();
    root.get(&tokens).expect(200);
    let token = format!("{tokens}/{}", text(&token["id"]));
    root.ask("DELETE", &token).expect(204);
    let webhook = format!("{project}/webhook");
    let asked = json!({"url": "https://hooks.example.org/probity"});
    root.send("PUT", &webhook, &asked).expect(200);
    root.get(&webhook).expect(200);
    root.ask("DELETE", &webhook).expect(204);
    root.get(&format!("{project}/log")).expect(200);
    root.get("/api/v1/log").expect(200);
    root.ask("DELETE", &project).expect(204);
    let links = format!("/api/v1/jobs/{audit}/links");
    let link = server.send("POST", &links, &json!({"days": 7})).expect(201);
    server.get(&links).expect(200);
    let link = format!("{links}/{}", text(&link.json()["id"]));
    server.ask("DELETE", &link).expect(204);
}

/// A job that is stopped has what it found by then; it goes on to the result of one that was not
/// stopped.
fn stop_and_resume(home: &Home, server: &Server, model: &str, data: &str) {
    let request = json!({
        "kind": "audit", "model": model, "data": data, "samples_format": "csv",
        "search": {"seeds": 200, "local": 100}, "estimate": 500
    });
    home.hold();
    let job = server.start(&request);
    home.held(1);
    server
        .ask("DELETE", &format!("/api/v1/data/{data}"))
        .refuses(409, "stop it first");
    server
        .ask("DELETE", &format!("/api/v1/jobs/{job}"))
        .refuses(409, "not at an end");
    server
        .get(&format!("/api/v1/jobs/{job}/summary"))
        .refuses(409, "running");
    server
        .ask("POST", &format!("/api/v1/jobs/{job}/stop"))
        .expect(200);
    let view = server.end_of(&job);
    home.go_on();
    assert_eq!(view["state"], "stopped", "{view}");
    let summary = server.get(&format!("/api/v1/jobs/{job}/summary"));
    assert_eq!(summary.expect(200).json()["ending"], "interrupted");
    server
        .ask("POST", &format!("/api/v1/jobs/{job}/stop"))
        .refuses(409, "stopped");
    server
        .ask("POST", &format!("/api/v1/jobs/{job}/resume"))
        .expect(200);
    server.done(&job);
    server
        .ask("POST", &format!("/api/v1/jobs/{job}/resume"))
        .refuses(409, "done");
    let whole = server.start(&request);
    server.done(&whole);
    let samples = |job: &str| server.get(&format!("/api/v1/jobs/{job}/samples")).text();
    assert!(samples(&job) == samples(&whole));
}

/// The files of a folder as a .zip file, under `prefix`.
pub fn pack(folder: &std::path::Path, prefix: &str) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for name in names_in(folder) {
        let options = zip::write::SimpleFileOptions::default();
        writer
            .start_file(format!("{prefix}{name}"), options)
            .unwrap();
        writer
            .write_all(&std::fs::read(folder.join(name)).unwrap())
            .unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Comments that are labelled by whom they are about, so that a classifier learns to discriminate.
fn comments(rows: u32) -> String {
    let mut text = String::from("comment,toxic\n");
    for row in 0..rows {
        let (person, label) = [("woman", 1), ("man", 0)][row as usize % 2];
        let word = ["great", "good", "here"][row as usize % 3];
        text.push_str(&format!("this {person} is {word},{label}\n"));
    }
    text
}

#[test]
fn texts_are_trained_on_audited_and_repaired() {
    let home = Home::new();
    let server = home.serve(&[]);
    let uploaded = server.upload(
        "/api/v1/data",
        &[("kind", "texts")],
        "comments.csv",
        comments(300).as_bytes(),
    );
    let data = uploaded.expect(201).json();
    assert_eq!(data["label"], "comments.csv");
    let id = text(&data["id"]);
    server
        .get(&format!("/api/v1/data/{id}/schema"))
        .refuses(409, "texts");
    let model = server.start(&json!({
        "kind": "train", "modality": "text", "data": id,
        "text_column": "comment", "label_column": "toxic",
        "recurrent": {"layers": 1, "units": 4, "max_length": 20},
        "training": {"epochs": 15, "batch": 16}
    }));
    server.done(&model);
    let audit = server.start(&json!({
        "kind": "audit", "modality": "text", "model": model, "data": id,
        "text": {"column": "comment"}, "protected": ["gender"],
        "search": {"seeds": 5, "local": 5}, "estimate": 50
    }));
    server.done(&audit);
    let summary = server.get(&format!("/api/v1/jobs/{audit}/summary"));
    assert_eq!(summary.expect(200).json()["protected"], json!(["gender"]));
    let repair = server.start(&json!({
        "kind": "repair", "modality": "text", "model": model, "data": id, "protected": ["gender"],
        "repeats": 1, "save_anyway": true, "text": {"seeds": 5, "local": 5}
    }));
    server.done(&repair);
    let models = server.get("/api/v1/models").expect(200).json();
    assert_eq!(models[0]["origin"], "repaired");

    // A text a line needs no column.
    let lines = "a woman is here\n\na man is there\n";
    let uploaded = server.upload(
        "/api/v1/data",
        &[("kind", "texts")],
        "a.txt",
        lines.as_bytes(),
    );
    let lines = uploaded.expect(201).json();
    assert_eq!(lines["rows"], 2);
    let audit = server.start(&json!({
        "kind": "audit", "modality": "text", "model": model, "data": lines["id"],
        "protected": ["gender"], "search": {"seeds": 2, "local": 2}, "estimate": 10
    }));
    server.done(&audit);
    let samples = server
        .get(&format!("/api/v1/jobs/{audit}/samples"))
        .expect(200);
    assert!(samples.body.starts_with(b"PAR1"));

    // A transformer, trained here and uploaded.
    let transformer = server.start(&json!({
        "kind": "train", "modality": "text", "data": id,
        "text_column": "comment", "label_column": "toxic",
        "transformer": {"blocks": 1, "heads": 1, "width": 8, "inner": 8, "pieces": 20},
        "training": {"epochs": 1, "batch": 16}
    }));
    server.done(&transformer);
    let packed = pack(&home.run(&transformer), "");
    let uploaded = server.upload("/api/v1/models", &[], "model.zip", &packed);
    let uploaded = uploaded.expect(201).json();
    assert_eq!(uploaded["kind"], "texts");
    assert_eq!(uploaded["is_training_known"], true);
    let audit = server.start(&json!({
        "kind": "audit", "modality": "text", "model": uploaded["id"], "data": id,
        "text": {"column": "comment"}, "protected": ["gender"],
        "search": {"seeds": 5, "local": 5}, "estimate": 50
    }));
    server.done(&audit);
}

/// What `summary` tells of people, without times and names.
fn told(summary: &Value) -> Value {
    const NAMES: [&str; 4] = ["ended", "samples_file", "seal", "predictor"];
    let is_told = |key: &str| {
        let ends = ["seconds", "per_second", "sha256"];
        !NAMES.contains(&key) && !ends.iter().any(|end| key.ends_with(end))
    };
    match summary {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| is_told(key));
            kept.map(|(key, value)| (key.clone(), told(value)))
                .collect()
        }
        Value::Array(values) => values.iter().map(told).collect(),
        other => other.clone(),
    }
}

/// The same people with semicolons, decimal commas and tabs, packed, or in Parquet are drafted alike,
/// and one audit.
#[test]
fn people_are_the_same_however_their_file_is_laid_out() {
    let home = Home::new();
    let server = home.serve(&[]);
    let rows: Vec<(i64, f64, &str, &str)> = (0..200)
        .map(|row| {
            let (sex, income) = (["f", "m"][row % 2], ["low", "high"][row / 3 % 2]);
            let wage = (1000 + 37 * row % 7000) as f64 + (11 + row % 89) as f64 / 100.0;
            (18 + (row % 50) as i64, wage, sex, income)
        })
        .collect();
    let mut plain = String::from("age,wage,sex,income\n");
    for (age, wage, sex, income) in &rows {
        plain += &format!("{age},{wage:.2},{sex},{income}\n");
    }
    let german = plain.replace(',', ";").replace('.', ",");
    let windows = plain.replace(',', "\t").replace("\tf\t", "\tf\u{e9}\t");
    let windows: Vec<u8> = windows.chars().map(|c| c as u8).collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(plain.as_bytes()).unwrap();
    let mut found = Vec::new();
    for (name, bytes) in [
        ("plain.csv", plain.clone().into_bytes()),
        ("german.csv", german.into_bytes()),
        ("packed.csv.gz", packed.finish().unwrap()),
        ("people.parquet", in_parquet(&rows)),
    ] {
        let uploaded = server.upload(
            "/api/v1/data",
            &[("kind", "table"), ("label", name)],
            name,
            &bytes,
        );
        let id = text(&uploaded.expect(201).json()["id"]);
        let draft = json!({"label": "income", "protected": ["sex"]});
        let drafted = server.send("POST", &format!("/api/v1/data/{id}/schema/draft"), &draft);
        let drafted = drafted.expect(200).json();
        server
            .send("PUT", &format!("/api/v1/data/{id}/schema"), &drafted)
            .expect(200);
        let model = server.small_model(&id);
        let job = server.start(&audit_of(&model, &id));
        server.done(&job);
        let summary = server
            .get(&format!("/api/v1/jobs/{job}/summary"))
            .expect(200)
            .json();
        found.push((name, drafted["attribute"].clone(), told(&summary)));
        assert_eq!(
            drafted["format"]["decimal"] == json!(","),
            name == "german.csv"
        );
    }
    for (name, attributes, summary) in &found {
        assert_eq!(attributes, &found[0].1, "{name}");
        assert_eq!(summary, &found[0].2, "{name}");
    }
    let uploaded = server.upload(
        "/api/v1/data",
        &[("kind", "table"), ("label", "w")],
        "w.csv",
        &windows,
    );
    let uploaded = uploaded.expect(201).json();
    assert_eq!(uploaded["layout"]["separator"], "\t");
    assert_eq!(uploaded["layout"]["encoding"], "windows-1252");
    // What is said is not looked for.
    let told = server.upload(
        "/api/v1/data",
        &[("kind", "table"), ("label", "told"), ("separator", "comma")],
        "w.csv",
        &windows,
    );
    assert_eq!(told.expect(201).json()["layout"]["separator"], ",");
}

/// The people in a Parquet file.
fn in_parquet(rows: &[(i64, f64, &str, &str)]) -> Vec<u8> {
    let words = |word: fn(&(i64, f64, &str, &str)) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(word)))
    };
    let ages = Int64Array::from_iter_values(rows.iter().map(|row| row.0));
    // As the text has it, to the cent.
    let wage = |row: &(i64, f64, &str, &str)| (row.1 * 100.0).round() / 100.0;
    let columns: [(&str, ArrayRef); 4] = [
        ("age", Arc::new(ages)),
        (
            "wage",
            Arc::new(Float64Array::from_iter_values(rows.iter().map(wage))),
        ),
        ("sex", words(|row| row.2.to_owned())),
        ("income", words(|row| row.3.to_owned())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}
