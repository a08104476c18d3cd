//! Audits over time: in the API and on the pages.

#![cfg(feature = "serve")]

use std::collections::BTreeSet;

use crate::pages::Visitor;
use crate::service::{Home, Server, text};
use serde_json::{Value, json};

/// What the audits are called: a name that would be a script, if anything let it.
const NAME: &str = "weekly <script>";

fn audit(server: &Server, model: &str, data: &str, protected: &str, seed: u64) -> String {
    let asked = json!({
        "kind": "audit", "model": model, "data": data, "protected": [protected], "seed": seed,
        "samples_format": "csv", "search": {"seeds": 20, "local": 20}, "estimate": 400
    });
    let path = "/api/v1/jobs?label=weekly%20%3Cscript%3E";
    let job = server.send("POST", path, &asked).expect(201).json();
    let job = text(&job["id"]);
    server.done(&job);
    job
}

/// The sides of the pairs that an audit found, as its file of samples has them.
fn sides(server: &Server, job: &str) -> BTreeSet<[Vec<String>; 2]> {
    let samples = server.get(&format!("/api/v1/jobs/{job}/samples"));
    let mut reader = csv::Reader::from_reader(samples.body.as_slice());
    let head = reader.headers().unwrap().clone();
    let places = |prefix: &str| -> Vec<usize> {
        let names = head.iter().enumerate();
        let own = names.filter(|(_, name)| name.starts_with(prefix));
        own.map(|(place, _)| place).collect()
    };
    let (x, other) = (places("x_"), places("other_"));
    let pair = |row: csv::StringRecord| {
        let side = |places: &[usize]| places.iter().map(|&place| row[place].to_owned()).collect();
        let mut sides: [Vec<String>; 2] = [side(&x), side(&other)];
        sides.sort();
        sides
    };
    reader.records().map(|row| pair(row.unwrap())).collect()
}

#[test]
fn audits_are_seen_one_after_the_other() {
    let home = Home::new();
    let server = home.serve(&[]);
    let data = server.census(300);
    let model = server.small_model(&data);
    let first = audit(&server, &model, &data, "sex", 1);
    let aside = audit(&server, &model, &data, "origin", 1);
    let second = audit(&server, &model, &data, "sex", 2);
    // Another model of other data, whose decisions are others.
    let other_data = server.census(200);
    let other = server.start(&json!({
        "kind": "train", "modality": "table", "data": other_data, "network": {"hidden": [4]},
        "training": {"epochs": 1, "seed": 9}
    }));
    server.done(&other);
    let third = audit(&server, &other, &other_data, "sex", 1);

    let ids = |history: &Value| -> Vec<String> {
        let audits = history["audits"].as_array().unwrap().iter();
        audits.map(|audit| text(&audit["job"]["id"])).collect()
    };
    let of_model = server.get(&format!("/api/v1/models/{model}/history"));
    let of_model = of_model.expect(200).json();
    assert_eq!(ids(&of_model), [&first, &aside, &second].map(String::clone));
    let of_name = server.get(&format!("/api/v1/jobs/{second}/history"));
    let of_name = of_name.expect(200).json();
    assert_eq!(
        ids(&of_name),
        [&first, &aside, &second, &third].map(String::clone)
    );
    // Each is held against the last one of the same protected attributes.
    let audits = of_name["audits"].as_array().unwrap();
    for place in [0, 1] {
        assert_eq!(audits[place].get("since"), None);
        assert_eq!(audits[place]["changes"], json!([]));
    }
    assert_eq!(audits[2]["since"], json!(first));
    assert_eq!(audits[2]["differs"], json!([]));
    assert_eq!(audits[3]["since"], json!(second));
    assert_eq!(audits[3]["differs"], json!(["model", "data"]));
    for (audit, before) in [(&audits[2], &audits[0]), (&audits[3], &audits[2])] {
        for change in audit["changes"].as_array().unwrap() {
            let kind = change["of"].as_str().unwrap();
            assert_eq!(change["before"], before["audit"][kind][0]);
            assert_eq!(change["after"], audit["audit"][kind][0]);
            let end = |of: &str, place: usize| change[of]["ci95"][place].as_f64().unwrap();
            let expected = match () {
                () if end("after", 1) < end("before", 0) => "fell",
                () if end("after", 0) > end("before", 1) => "rose",
                () => "not-shown",
            };
            assert_eq!(change["change"], expected);
        }
        assert_eq!(audit["changes"].as_array().unwrap().len(), 2);
    }

    // Pairs are new that are not in the other file.
    let pairs = |job: &str, since: &str| {
        let path = format!("/api/v1/jobs/{job}/new-pairs?since={since}");
        server.get(&path).expect(200).json()
    };
    let (old, new) = (sides(&server, &first), sides(&server, &second));
    assert!(!old.is_empty() && !new.is_empty());
    let changes = pairs(&second, &first);
    assert_eq!(changes["new"], new.difference(&old).count());
    assert_eq!(changes["kept"], new.intersection(&old).count());
    assert_eq!(changes["gone"], old.difference(&new).count());
    for shown in changes["shown"].as_array().unwrap() {
        assert_eq!(shown["differences"][0]["attribute"], "sex");
    }
    let same = pairs(&first, &first);
    assert_eq!((&same["new"], &same["gone"]), (&json!(0), &json!(0)));
    assert_eq!(same["kept"], old.len());

    // What has no course says so.
    server
        .get(&format!("/api/v1/jobs/{model}/history"))
        .refuses(409, "Only audits");
    server
        .get(&format!("/api/v1/jobs/{first}/new-pairs?since={model}"))
        .refuses(409, "Only audits");
    server
        .get(&format!("/api/v1/jobs/{first}/new-pairs?since=x"))
        .refuses(400, "since");
    server
        .get("/api/v1/models/0123456789abcdef/history")
        .refuses(404, "model");

    pages(&server, &model, [&first, &second, &third]);
}

fn pages(server: &Server, model: &str, [first, second, third]: [&String; 3]) {
    let visitor = Visitor::logged_in(server);
    let run = visitor.get(&format!("/runs/{first}"));
    let path = format!("/runs/{first}/history");
    assert!(run.text.contains(&format!("href=\"{path}\"")));
    let page = visitor.get(&path);
    assert_eq!(page.status, 200);
    assert_eq!(page.text.matches("<svg").count(), 2, "{}", page.text);
    assert!(page.text.contains("from audit 3 to audit 4"));
    assert!(
        page.text
            .contains("other things changed, too: the model, the data")
    );
    assert!(page.text.contains("Which pairs are new in audit 4"));
    assert!(
        page.text.contains("weekly &#60;script&#62;"),
        "{}",
        page.text
    );
    assert!(!page.text.contains(NAME));
    let earlier = visitor.get(&format!("{path}?at={second}"));
    assert!(earlier.text.contains("from audit 1 to audit 3"));
    // The first one has none before it.
    let alone = visitor.get(&format!("{path}?at={first}"));
    assert!(alone.text.contains("Nothing to compare yet"));
    for wrong in ["x", "0123456789abcdef"] {
        assert_eq!(visitor.get(&format!("{path}?at={wrong}")).status, 404);
    }
    let path = format!("/models/{model}/history");
    let of_model = visitor.get(&path);
    assert!(of_model.text.contains("from audit 1 to audit 3"));
    assert_eq!(visitor.get(&format!("{path}?at={third}")).status, 404);
    let page = visitor.get(&format!("/models/{model}"));
    assert!(page.text.contains(&format!("href=\"{path}\"")));
    assert_eq!(visitor.get(&format!("/runs/{model}/history")).status, 409);
}
