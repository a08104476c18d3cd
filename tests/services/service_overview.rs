//! The overview: what was found, by whom, how much it takes; filters, search and pages of lists; and
//! names, which people give and change.

#![cfg(feature = "serve")]

use crate::pages::Visitor;
use crate::service::{Home, Server, text};
use serde_json::{Value, json};

/// A small table with nothing to learn from.
const TABLE: &[u8] = b"age,sex,income\n30,Male,high\n40,Female,low\n50,Male,high\n35,Female,low\n";

fn audit(server: &Server, name: &str, model: &str, data: &str, bound: f64) -> String {
    let asked = json!({
        "kind": "audit", "model": model, "data": data, "protected": ["sex"],
        "fail_above": bound, "search": {"seeds": 20, "local": 20}, "estimate": 400
    });
    let path = format!("/api/v1/jobs?label={name}");
    let job = server.send("POST", &path, &asked).expect(201).json();
    let job = text(&job["id"]);
    server.done(&job);
    job
}

/// The names in the list at `path`.
fn names(server: &Server, path: &str) -> Vec<String> {
    let list = server.get(path).expect(200).json();
    let things = list.as_array().unwrap().iter();
    things.map(|thing| text(&thing["label"])).collect()
}

/// The line of the overview's table with the job `id`.
fn line<'p>(page: &'p str, id: &str) -> &'p str {
    let mut lines = page.split("<tr>");
    lines
        .find(|line| line.contains(&format!("/runs/{id}\"")))
        .unwrap_or_else(|| panic!("no line of {id}: {page}"))
}

#[test]
fn the_overview_says_what_was_found_and_is_searched() {
    let home = Home::new();
    let server = home.serve(&[]);
    let data = server.census(300);
    let model = server.small_model(&data);
    let strict = audit(&server, "strict", &model, &data, 0.000_001);
    let lax = audit(&server, "Lax", &model, &data, 0.999);
    let ci = home.token_of("main", "editor");
    server.with(&ci).table("of ci", TABLE).expect(201);

    let visitor = Visitor::logged_in(&server);
    let page = visitor.get("/").text;
    let compared = server.get(&format!("/api/v1/comparison?jobs={strict},{lax}"));
    let compared = compared.expect(200).json();
    for (place, id) in [&strict, &lax].into_iter().enumerate() {
        let figures = &compared["jobs"][place]["audit"];
        let share = figures["people"][0]["share"].as_f64().unwrap();
        let line = line(&page, id);
        assert!(
            line.contains(&format!("{:.2}\u{a0}%", 100.0 * share)),
            "{line}"
        );
        let verdict = match figures["fail_above"]["verdict"].as_str().unwrap() {
            "within" => ">pass</span>",
            "exceeds" => "&#62; 0.0001\u{a0}%</span>",
            _ => ">not shown</span>",
        };
        assert!(line.contains(verdict), "{line}");
        // What failed is not done in green.
        let is_green = line.contains("<span class=\"state good\">done</span>");
        let holds = figures["fail_above"]["verdict"] == "within";
        assert_eq!(is_green, holds, "{line}");
        let said = &compared["jobs"][place]["outcome"];
        assert_eq!(said["verdict"], figures["fail_above"]["verdict"]);
        let run = visitor.get(&format!("/runs/{id}")).text;
        let text = said["text"].as_str().unwrap();
        assert!(run.contains(text), "{text}: {run}");
        let report = server.get(&format!("/api/v1/jobs/{id}/report?form=markdown"));
        assert!(report.expect(200).text().contains(text), "{text}");
        assert!(
            line.contains("data-name=\"By\" class=\"who\">test<"),
            "{line}"
        );
        let takes = line.split("data-name=\"Takes\"").nth(1).unwrap();
        assert!(takes.contains("KiB") || takes.contains("MiB"), "{line}");
    }
    assert_eq!(
        compared["jobs"][1]["audit"]["fail_above"]["verdict"],
        "within"
    );
    assert!(page.contains("editor · "), "who brought data: {page}");

    // What is asked for by the API and by the page is the same.
    for (query, expected, hidden) in [
        ("name=AX", vec!["Lax"], "strict"),
        (
            "kind=audit&state=done",
            vec!["Lax", "strict"],
            "Training · ",
        ),
        ("kind=train", vec!["Classifier of Census"], "strict"),
        ("state=failed", vec![], "strict"),
        (&format!("model={model}"), vec!["Lax", "strict"], "of ci"),
        ("by=test&name=s&kind=audit", vec!["strict"], ">Lax<"),
        ("by=editor", vec![], "strict"),
        ("name=%25", vec![], "strict"),
    ] {
        let path = format!("/api/v1/jobs?{query}");
        assert_eq!(names(&server, &path), expected, "{query}");
        let page = visitor.get(&format!("/?{query}")).text;
        // The model can be chosen by its name, whatever is listed.
        let (_, lists) = page.split_once("role=\"search\"").unwrap();
        let (_, lists) = lists.split_once("</form>").unwrap();
        for name in &expected {
            assert!(lists.contains(&format!(">{name}<")), "{query}: {name}");
        }
        assert!(!lists.contains(hidden), "{query}: {lists}");
    }
    assert_eq!(names(&server, "/api/v1/data?by=editor"), ["of ci"]);
    assert_eq!(
        names(&server, "/api/v1/models?name=cens"),
        ["Classifier of Census"]
    );
    for wrong in ["kind=x", "state=x", "model=x", "nonsense=1"] {
        server
            .get(&format!("/api/v1/jobs?{wrong}"))
            .refuses(400, "");
    }
    assert_eq!(visitor.get("/?kind=x&state=y&model=z&jobs=%20").status, 200);
}

#[test]
fn lists_have_pages() {
    let home = Home::new();
    let server = home.serve(&[]);
    let client = server.with(&server.token);
    for number in 0..28 {
        client
            .table(&format!("table {number:02}"), TABLE)
            .expect(201);
    }
    let visitor = Visitor::logged_in(&server);
    let mut next = "/?name=TABLE".to_owned();
    let mut seen = Vec::new();
    let mut pages = 0;
    while !next.is_empty() {
        let page = visitor.get(&next).text;
        pages += 1;
        let titles = page.split("<div class=\"what\"><a href=\"/data/").skip(1);
        seen.extend(titles.map(|rest| rest.split(['>', '<']).nth(1).unwrap().to_owned()));
        let older = page.split_once("class=\"older\"><a href=\"");
        next = older.map_or(String::new(), |(_, rest)| {
            rest.split('"').next().unwrap().replace("&#38;", "&")
        });
        assert_eq!(next.is_empty(), pages == 2, "{next}");
        assert!(
            next.is_empty() || next.starts_with("/?name=TABLE&data="),
            "{next}"
        );
    }
    let expected: Vec<String> = (0..28)
        .rev()
        .map(|number| format!("table {number:02}"))
        .collect();
    assert_eq!(seen, expected);
    assert_eq!(visitor.get("/?data=0123456789abcdef").status, 404);
}

#[test]
fn names_are_given_and_changed_by_people() {
    let home = Home::new();
    let server = home.serve(&[]);
    let visitor = Visitor::logged_in(&server);
    let secret = visitor.get("/").secret();
    // A file's name is none that a person gave.
    let fields = [("csrf", secret.as_str()), ("label", " ")];
    for (page, file) in [("/data/new", "people.csv"), ("/models/new", "model.zip")] {
        let answer = visitor.upload(page, &fields, file, TABLE);
        assert_eq!(answer.status, 422);
        assert!(
            answer.text.contains("id=\"label-wrong\""),
            "{}",
            answer.text
        );
    }
    let data = server.census(200);
    let model = server.small_model(&data);
    let audit = audit(&server, "first", &model, &data, 0.5);
    let label = |kind: &str, id: &str| -> Value {
        server
            .get(&format!("/api/v1/{kind}/{id}"))
            .expect(200)
            .json()["label"]
            .clone()
    };
    let rename = |kind: &str, id: &str, name: &str| {
        let path = format!("/api/v1/{kind}/{id}");
        server.send("PATCH", &path, &json!({"label": name}))
    };
    let renamed = rename("data", &data, "  Applicants & others ").expect(200);
    assert_eq!(renamed.json()["label"], "Applicants & others");
    assert_eq!(label("data", &data), "Applicants & others");
    // A job and the model that it made are called alike, whichever is renamed.
    rename("models", &model, "Scoring").expect(200);
    assert_eq!(label("jobs", &model), "Scoring");
    rename("jobs", &model, "Scoring 2").expect(200);
    assert_eq!(label("models", &model), "Scoring 2");
    for wrong in ["", "  ", "a\u{7}b", &"a".repeat(101)] {
        rename("jobs", &audit, wrong).refuses(422, "");
    }
    rename("data", "0123456789abcdef", "x").refuses(404, "data set");
    let path = format!("/api/v1/data/{data}");
    let more = json!({"label": "x", "owner": "y"});
    server.send("PATCH", &path, &more).refuses(422, "owner");

    // By the pages.
    for (page, next) in [
        (format!("/data/{data}"), format!("/data/{data}")),
        (format!("/models/{model}"), format!("/models/{model}")),
        (format!("/jobs/{audit}"), format!("/runs/{audit}")),
    ] {
        let form = format!("{page}/rename");
        let fields = [("csrf", secret.as_str()), ("label", "")];
        let answer = visitor.post(&form, &fields);
        assert_eq!(answer.status, 422);
        assert!(
            answer.text.contains("id=\"label-wrong\""),
            "{}",
            answer.text
        );
        let fields = [("csrf", secret.as_str()), ("label", "<b>new</b>")];
        let answer = visitor.post(&form, &fields);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, next.as_str())
        );
        let shown = visitor.get(&next).text;
        assert!(
            shown.contains("<h1>&#60;b&#62;new&#60;/b&#62;</h1>"),
            "{shown}"
        );
    }
    let project = server.get("/api/v1/service").expect(200).json();
    let project = text(&project["project"]["id"]);
    let log = server.get(&format!("/api/v1/projects/{project}/log"));
    let log = log.expect(200).json();
    let count = |action: &str| {
        let entries = log.as_array().unwrap().iter();
        entries.filter(|entry| entry["action"] == action).count()
    };
    assert_eq!(count("data-renamed"), 2);
    assert_eq!(count("model-renamed"), 2);
    assert_eq!(count("job-renamed"), 2);
    let text = log.to_string();
    assert!(!text.contains("Scoring") && !text.contains("Applicants"));
}

#[test]
fn a_model_is_called_as_its_job_is_by_then() {
    let home = Home::new();
    let server = home.serve(&[]);
    let root = home.token_of("main", "administrator");
    let administrator = server.with(&root);
    let data = server.census(150);
    let about = server.get("/api/v1/service").expect(200).json();
    let project = format!("/api/v1/projects/{}", text(&about["project"]["id"]));
    let most = |jobs: u32| {
        let asked = json!({"name": "main", "quotas": {"jobs": jobs}});
        administrator.send("PUT", &project, &asked).expect(200);
    };
    most(0);
    let job = server.start(&json!({
        "kind": "train", "modality": "table", "data": data, "network": {"hidden": [4]},
        "training": {"epochs": 1}
    }));
    let path = format!("/api/v1/jobs/{job}");
    let renamed = server.send("PATCH", &path, &json!({"label": "late"}));
    assert_eq!(renamed.expect(200).json()["state"], "queued");
    most(1);
    // The queue looks again when a job is asked for.
    let other = server.start(&json!({
        "kind": "train", "modality": "table", "data": data, "network": {"hidden": [4]},
        "training": {"epochs": 1}
    }));
    server.done(&job);
    server.done(&other);
    let model = server.get(&format!("/api/v1/models/{job}")).expect(200);
    assert_eq!(model.json()["label"], "late");
}
