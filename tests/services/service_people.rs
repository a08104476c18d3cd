//! Comparisons of people as jobs of the service: by the API and by the pages, of a model that never
//! sees who is in the group and of the outcomes in the data.

#![cfg(feature = "serve")]

use crate::pages::Visitor;
use crate::service::{Home, Server, text};
use probity::data::schema::Schema;
use probity::indirect::hidden::{SCHEMA, hidden_person, write_csv};
use serde_json::{Value, json};

/// The number of people.
const PEOPLE: u64 = 240;

/// People whose sex moves what they are hired by, or what each would have been as somebody of the
/// other sex, as CSV.
fn people(is_other: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let people = (0..PEOPLE).map(|item| hidden_person(3, item, 1.0)[usize::from(is_other)]);
    write_csv(&mut file, people).unwrap();
    file
}

/// The schema of these people, with `sex` or without it.
fn schema(has_sex: bool) -> Value {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let mut schema = serde_json::to_value(schema).unwrap();
    let attributes = schema["attribute"].as_array_mut().unwrap();
    attributes.retain(|attribute| has_sex || attribute["name"] != "sex");
    if !has_sex {
        schema["format"]["ignore_other_columns"] = true.into();
    }
    schema
}

/// Uploads a table; gives its identifier.
fn upload(server: &Server, label: &str, file: &[u8]) -> String {
    let fields = [("kind", "table"), ("label", label)];
    let answer = server.upload("/api/v1/data", &fields, "people.csv", file);
    text(&answer.expect(201).json()["id"])
}

/// The people with their schema, and a model of them that never sees their sex.
fn blind_model(server: &Server) -> (String, String) {
    let data = upload(server, "Applicants", &people(false));
    let path = format!("/api/v1/data/{data}/schema");
    server.send("PUT", &path, &schema(false)).expect(200);
    let model = start(
        server,
        &json!({
            "kind": "train", "modality": "table", "data": data, "network": {"hidden": [8]},
            "training": {"epochs": 60}
        }),
    );
    server.send("PUT", &path, &schema(true)).expect(200);
    (data, model)
}

fn start(server: &Server, asked: &Value) -> String {
    let job = server.start(asked);
    server.done(&job);
    job
}

/// What a comparison says of a job.
fn compared(server: &Server, job: &str) -> Value {
    let answer = server.get(&format!("/api/v1/comparison?jobs={job}"));
    answer.expect(200).json()["jobs"][0].clone()
}

#[test]
fn people_are_compared_whatever_the_model_sees() {
    let home = Home::new();
    let server = home.serve(&[]);
    let (data, model) = blind_model(&server);
    let seen = server.get(&format!("/api/v1/models/{model}")).expect(200);
    assert!(!seen.text().contains("sex"));

    // Matched with others, by a model; with a bound that is broken, and said to be.
    let strict = start(
        &server,
        &json!({
            "kind": "counterparts", "data": data, "model": model, "protected": ["sex=female"],
            "favourable": "yes", "fail_above": 0.0
        }),
    );
    let view = server.get(&format!("/api/v1/jobs/{strict}")).expect(200);
    let said = text(&view.json()["message"]);
    assert!(said.contains("are decided worse than their"), "{said}");
    assert_eq!(
        view.json()["label"],
        "Counterparts: Classifier of Applicants"
    );
    let found = compared(&server, &strict);
    assert_eq!(found["outcome"]["verdict"], "exceeds", "{found}");
    let share = &found["people"]["shares"][0];
    assert_eq!(share["protected"], json!(["sex=female"]), "{found}");
    assert_eq!(found["outcome"]["share"], json!([share["share"], 0.0]));
    assert!(found.get("audit").is_none() && found.get("repair").is_none());
    let report = server.get(&format!("/api/v1/jobs/{strict}/report?form=markdown"));
    let report = report.expect(200).text();
    let first = text(&found["people"]["said"][0]);
    assert!(report.contains(&first), "{first}: {report}");
    assert!(report.starts_with("# Counterparts: "), "{report}");
    assert!(!report.contains("data dir"), "{report}");
    let page = server.get(&format!("/api/v1/jobs/{strict}/report"));
    assert!(page.expect(200).text().contains("Counterparts"));
    let bill = format!("/api/v1/jobs/{strict}/report?form=cyclonedx");
    server.get(&bill).refuses(409, "is made of");
    let pairs = server.get(&format!("/api/v1/jobs/{strict}/samples"));
    let pairs = pairs.expect(200);
    let disposition = pairs.header("content-disposition").to_owned();
    assert!(disposition.contains("pairs-Counterparts"), "{disposition}");
    assert!(pairs.text().starts_with("group,row,decision,"));
    let run = std::fs::read_to_string(home.run(&strict).join("run.toml")).unwrap();
    let named = format!("schema = \"../../data/{data}/schema.toml\"");
    assert!(run.contains(&named), "{run}");

    // With what each would have been, which is another data set.
    let others = upload(&server, "The others", &people(true));
    let told = start(
        &server,
        &json!({
            "kind": "counterparts", "data": data, "label": true, "counterfactuals": others,
            "protected": ["sex=female"], "fail_above": 1.0
        }),
    );
    let found = compared(&server, &told);
    assert_eq!(found["outcome"]["verdict"], "within", "{found}");
    let summary = server.get(&format!("/api/v1/jobs/{told}/summary"));
    assert!(summary.expect(200).json()["counterfactuals_sha256"].is_string());

    // Beside those most like them, by the outcomes in the data.
    let situations = start(
        &server,
        &json!({ "kind": "situations", "data": data, "label": true, "k": 20 }),
    );
    let found = compared(&server, &situations);
    assert_eq!(found["people"]["shares"].as_array().unwrap().len(), 2);
    assert!(found.get("outcome").is_none(), "{found}");
    let persons = server.get(&format!("/api/v1/jobs/{situations}/samples"));
    assert!(persons.expect(200).text().starts_with("group,row,"));

    // What the columns tell, with a model and without one.
    for model in [json!(model), json!("")] {
        let proxies = start(
            &server,
            &json!({
                "kind": "proxies", "data": data, "model": model, "folds": 2,
                "columns": ["hours", "club"]
            }),
        );
        let found = compared(&server, &proxies);
        assert_eq!(found["people"]["shares"], json!([]), "{found}");
        let said = text(&found["people"]["said"][0]);
        assert!(said.contains("2\u{a0}columns"), "{said}");
        server
            .get(&format!("/api/v1/jobs/{proxies}/samples"))
            .refuses(409, "list all");
    }

    // Lists know the kinds, and audits alone have a history.
    let listed = server.get("/api/v1/jobs?kind=situations&state=done");
    let listed = listed.expect(200).json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(text(&listed[0]["id"]), situations);
    server
        .get(&format!("/api/v1/jobs/{strict}/history"))
        .refuses(409, "Only audits");
    let pairs = format!("/api/v1/jobs/{strict}/new-pairs?since={told}");
    server.get(&pairs).refuses(409, "Only audits");
    server
        .send(
            "POST",
            "/api/v1/jobs",
            &json!({
                "kind": "repair", "modality": "table", "model": model, "data": data,
                "runs": [strict]
            }),
        )
        .refuses(422, "no audit");
}

#[test]
fn comparisons_that_make_no_sense() {
    let home = Home::new();
    let server = home.serve(&[]);
    let (data, model) = blind_model(&server);
    let bare = upload(&server, "bare", &people(false));
    let texts = server.upload(
        "/api/v1/data",
        &[("kind", "texts")],
        "t.csv",
        b"text,label\na woman,no\na man,yes\na girl,no\na boy,yes\n",
    );
    let texts = text(&texts.expect(201).json()["id"]);
    let of_texts = start(
        &server,
        &json!({
            "kind": "train", "modality": "text", "data": texts, "text_column": "text",
            "label_column": "label", "training": {"epochs": 1, "test": 0, "validation": 0}
        }),
    );
    home.new_project("other");
    let other = home.token_of("other", "editor");
    let foreign = server.with(&other).table("theirs", &people(false));
    let foreign = text(&foreign.expect(201).json()["id"]);
    for kind in ["counterparts", "situations", "proxies"] {
        for (more, status, needle) in [
            (
                json!({ "predictor": {"source": "command:id", "schema": "x"} }),
                422,
                "starts no program",
            ),
            (
                json!({ "schema": "/etc/passwd" }),
                422,
                "reads its own files",
            ),
            (json!({ "protected": ["race"] }), 422, "age, education"),
            (
                json!({ "protected": ["race=black"] }),
                422,
                "age, education",
            ),
            (json!({ "data": texts }), 422, "columns of a table"),
            (json!({ "data": bare }), 409, "no schema"),
            (json!({ "data": foreign }), 404, "data"),
            (json!({ "model": of_texts }), 422, "classifies texts"),
            (json!({ "model": foreign }), 404, "model"),
            (json!({ "model": "../.." }), 422, "identifier"),
            (json!({ "modality": "table" }), 422, "modality"),
        ] {
            let mut asked = json!({ "kind": kind, "data": data, "model": model });
            let fields = asked.as_object_mut().unwrap();
            fields.extend(more.as_object().unwrap().clone());
            server
                .send("POST", "/api/v1/jobs", &asked)
                .refuses(status, needle);
        }
    }
    for (asked, status, needle) in [
        (
            json!({ "kind": "situations", "data": data }),
            422,
            "give label",
        ),
        (
            json!({ "kind": "situations", "data": data, "model": model, "label": true }),
            422,
            "left out",
        ),
        (
            json!({ "kind": "situations", "data": data, "model": model, "k": 0 }),
            422,
            "k",
        ),
        (
            json!({
                "kind": "counterparts", "data": data, "label": true, "counterfactuals": "/etc/passwd"
            }),
            422,
            "identifier",
        ),
        (
            json!({ "kind": "counterparts", "data": data, "label": true, "counterfactuals": foreign }),
            404,
            "data",
        ),
        (
            json!({ "kind": "counterparts", "data": data, "label": true, "counterfactuals": texts }),
            422,
            "columns of a table",
        ),
        (
            json!({ "kind": "counterparts", "data": data, "label": true, "fail_above": 2 }),
            422,
            "fail_above",
        ),
    ] {
        server
            .send("POST", "/api/v1/jobs", &asked)
            .refuses(status, needle);
    }
    // Without a name, what the schema marks is protected; it must mark something.
    let path = format!("/api/v1/data/{bare}/schema");
    server.send("PUT", &path, &schema(false)).expect(200);
    let asked = json!({ "kind": "situations", "data": bare, "label": true });
    server
        .send("POST", "/api/v1/jobs", &asked)
        .refuses(422, "marks no attribute");
    // What only the job can find out, it says; without paths.
    let asked = json!({ "kind": "situations", "data": data, "label": true, "k": 5000 });
    let view = server.end_of(&server.start(&asked));
    assert_eq!(view["state"], "failed", "{view}");
    let said = text(&view["message"]);
    assert!(
        said.contains("too few") && !said.contains("data dir"),
        "{said}"
    );
}

/// What waits holds all that it reads, and what was stopped begins anew.
#[test]
fn a_comparison_waits_is_stopped_and_begins_anew() {
    let home = Home::new();
    let server = home.serve(&["--jobs", "1"]);
    let data = upload(&server, "Applicants", &people(false));
    let others = upload(&server, "The others", &people(true));
    for data in [&data, &others] {
        let path = format!("/api/v1/data/{data}/schema");
        server.send("PUT", &path, &schema(true)).expect(200);
    }
    let endless = server.start(&home.endless(&data));
    home.held(1);
    let job = server.start(&json!({
        "kind": "counterparts", "data": data, "label": true, "counterfactuals": others
    }));
    for data in [&data, &others] {
        let path = format!("/api/v1/data/{data}");
        server.ask("DELETE", &path).refuses(409, "job");
    }
    let path = format!("/api/v1/jobs/{job}/stop");
    let stopped = server.ask("POST", &path).expect(200).json();
    assert_eq!(stopped["state"], "stopped");
    let visitor = Visitor::logged_in(&server);
    let page = visitor.get(&format!("/jobs/{job}")).text;
    assert!(page.contains("<button>Begin anew</button>"), "{page}");
    let path = format!("/api/v1/jobs/{job}/resume");
    server.ask("POST", &path).expect(200);
    let path = format!("/api/v1/jobs/{endless}/stop");
    server.ask("POST", &path).expect(200);
    home.go_on();
    server.done(&job);
    server.end_of(&endless);
    let path = format!("/api/v1/data/{others}");
    server.ask("DELETE", &path).expect(204);
    let page = visitor.get(&format!("/runs/{job}")).text;
    assert!(!page.contains("Counterfactuals"), "{page}");
}

#[test]
fn people_are_compared_by_the_pages() {
    let home = Home::new();
    let server = home.serve(&[]);
    let (data, model) = blind_model(&server);
    let others = upload(&server, "The others", &people(true));
    let visitor = Visitor::logged_in(&server);
    for page in [format!("/data/{data}"), format!("/models/{model}")] {
        let link = format!("href=\"{page}/people\"");
        let page = visitor.get(&page).text;
        assert!(page.contains(&link), "{page}");
    }
    let form = visitor.get(&format!("/models/{model}/people")).text;
    let chosen = format!("<option value=\"{model}\" selected>The model Classifier of Applicants");
    assert!(form.contains(&chosen), "{form}");
    assert!(form.contains("The outcomes in the data (hired)"), "{form}");
    assert!(
        form.contains("value=\"sex\" id=\"protected-6\" checked"),
        "{form}"
    );
    assert!(form.contains("<option value=\"yes\" selected>"), "{form}");
    assert!(form.contains("Largest acceptable share (%)"), "{form}");
    crate::service_page_jobs::is_in_words(&form);
    let given =
        format!("<option value=\"{others}\">What they would have been by the table The others");
    assert!(form.contains(&given), "{form}");
    assert_eq!(form.matches("id=\"seed\"").count(), 1, "{form}");

    let address = format!("/data/{data}/people");
    let usual = [
        ("model", model.as_str()),
        ("protected", "sex"),
        ("favourable", "yes"),
    ];
    let secret = visitor.get("/").secret();
    let refused = |fields: &[(&str, &str)], said: &str| {
        let csrf = [("csrf", secret.as_str())];
        let answer = visitor.post(&address, &[&csrf, fields].concat());
        assert_eq!(answer.status, 422, "{}", answer.text);
        assert!(answer.text.contains(said), "{said}: {}", answer.text);
    };
    refused(&[], "Choose what is asked.");
    refused(&usual[..1], "Choose at least one protected attribute.");
    refused(&[("model", "0123456789abcdef")], "Choose whose decisions");
    let bound = |kind| [&[("kind", kind), ("fail_above", "5 %")], &usual[..]].concat();
    refused(&bound("proxies"), "has no such setting");
    let odd = [("kind", "counterparts"), ("k", "7")];
    refused(&[&odd[..], &usual].concat(), "has no such setting");
    let odd = [
        ("kind", "counterparts"),
        ("model", ""),
        ("protected", "sex"),
        ("favourable", "maybe"),
    ];
    refused(&odd, "decides for one of no, yes");
    let many = [("kind", "situations"), ("fail_above", "101")];
    refused(&[&many[..], &usual].concat(), "is not a share such as 5");

    let drawn = [("beside", "density"), ("unaffected", "age")];
    let of_proxies = [&[("kind", "proxies")], &drawn[..1], &usual].concat();
    refused(&of_proxies, "compares nobody");
    let matched = [&[("kind", "counterparts")], &drawn[1..], &usual].concat();
    refused(&matched, "only where somebody is drawn");
    let odd = [("kind", "counterparts"), ("beside", data.as_str())];
    refused(
        &[&odd[..], &usual].concat(),
        "Choose whom they are compared",
    );
    let itself = [("unaffected", "sex")];
    let itself = [&[("kind", "counterparts")], &drawn[..1], &itself, &usual].concat();
    refused(&itself, "is what tells the group");

    let drawn = [&[("kind", "counterparts")], &drawn[..], &usual].concat();
    let drawn = visitor.does(&address, &drawn);
    let report = visitor.get(&format!("/runs/{drawn}/report.md")).text;
    assert!(
        report.contains("is drawn from the density of the others, with the age"),
        "{report}"
    );
    let given = [
        ("kind", "situations"),
        ("k", "20"),
        ("beside", others.as_str()),
    ];
    let given = visitor.does(&address, &[&given[..], &usual].concat());
    let run = visitor.get(&format!("/runs/{given}")).text;
    assert!(run.contains("The others"), "{run}");

    let strict = visitor.does(&address, &bound("counterparts"));
    let run = visitor.get(&format!("/runs/{strict}")).text;
    let run = run.replace("&#39;", "'");
    assert!(
        run.contains("<h1>Counterparts: Classifier of Applicants by sex</h1>"),
        "{run}"
    );
    let found = compared(&server, &strict);
    let (verdict, class) = match found["outcome"]["verdict"].as_str().unwrap() {
        "within" => (">pass</span>", "notice good"),
        _ => ("&#62; 5\u{a0}%</span>", "notice bad"),
    };
    assert!(run.contains(class), "{run}");
    for said in found["people"]["said"].as_array().unwrap() {
        let said = text(said);
        assert!(run.contains(&said), "{said}: {run}");
    }
    assert!(run.contains("All people who were compared"), "{run}");
    assert!(!run.contains("Repair the model"), "{run}");
    let page = visitor.get("/").text;
    assert!(page.contains(verdict), "{page}");
    assert!(
        page.contains("<option value=\"situations\">Situation test"),
        "{page}"
    );
    let page = visitor.get(&format!("/models/{model}")).text;
    assert!(page.contains(&format!("/runs/{strict}\"")), "{page}");
    let report = visitor.get(&format!("/runs/{strict}/report"));
    assert_eq!(report.status, 200, "{}", report.text);

    assert!(!run.contains("Bill of materials"), "{run}");

    // The outcomes in the data need no model.
    let outcomes = [
        ("kind", "situations"),
        ("model", ""),
        ("protected", "sex"),
        ("k", "20"),
        ("label", "Of outcomes"),
    ];
    let outcomes = visitor.does(&address, &outcomes);
    let run = visitor.get(&format!("/runs/{outcomes}")).text;
    assert!(run.contains("<dd>the outcomes in the data</dd>"), "{run}");
    let report = visitor.get(&format!("/runs/{outcomes}/report.md")).text;
    assert!(
        report.starts_with("# Situation test: Of outcomes (Applicants)"),
        "{report}"
    );
    let annex = visitor.get(&format!("/runs/{outcomes}/report.annex.html"));
    assert_eq!(annex.status, 200, "{}", annex.text);
    let proxies = [
        ("kind", "proxies"),
        ("model", ""),
        ("protected", "sex"),
        ("folds", "2"),
    ];
    let proxies = visitor.does(&address, &proxies);
    let run = visitor.get(&format!("/runs/{proxies}")).text;
    assert!(run.contains("columns tell who has"), "{run}");

    // Texts are not compared.
    let fields = [
        ("csrf", secret.as_str()),
        ("label", "texts"),
        ("kind", "texts"),
    ];
    let texts = visitor.upload("/data/new", &fields, "t.txt", "a woman\na man\n");
    let texts = texts.header("location").to_owned();
    assert!(!visitor.get(&texts).text.contains("Compare people"));
    assert_eq!(visitor.get(&format!("{texts}/people")).status, 409);
}
