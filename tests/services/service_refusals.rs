//! What the service refuses: always with a status of 4xx and a problem document.

use std::io::{Cursor, Write};

use crate::service::http::{compose, form, raw, request};
use crate::service::{Home, Server, census, names_in, text};
use serde_json::json;

#[test]
fn requests_that_make_no_sense() {
    let home = Home::new();
    let server = home.serve(&[]);
    let unknown = "0123456789abcdef";
    // Addresses and methods.
    for path in [
        "/api",
        "/api/v1",
        "/api/v1/nothing",
        "/api/v2/jobs",
        "/api/v1/jobs/",
    ] {
        server.get(path).refuses(404, "");
    }
    for (method, path) in [
        ("DELETE", "/api/v1/jobs"),
        ("PATCH", "/api/v1/data"),
        ("POST", "/api/v1/service"),
        ("PUT", "/api/v1/openapi.json"),
    ] {
        server.ask(method, path).refuses(405, method);
    }
    let long = format!("/api/v1/jobs/{}", "a".repeat(4000));
    server.get(&long).refuses(414, "2048");
    // Identifiers.
    for path in ["data", "models", "jobs"] {
        server
            .get(&format!("/api/v1/{path}/{unknown}"))
            .refuses(404, "no");
        for trick in [
            "..",
            "%2e%2e",
            "..%2f..%2fetc%2fpasswd",
            "0123456789ABCDEF",
            "%00",
            "nul",
            "con",
            "0123456789abcde%0a",
            "%ff%fe",
        ] {
            let path = format!("/api/v1/{path}/{trick}");
            let answer = server.get(&path);
            assert_eq!(answer.status, 404, "{path}");
        }
    }
    for what in ["summary", "report", "samples", "events"] {
        server
            .get(&format!("/api/v1/jobs/{unknown}/{what}"))
            .refuses(404, "job");
    }
    for what in ["stop", "resume"] {
        server
            .ask("POST", &format!("/api/v1/jobs/{unknown}/{what}"))
            .refuses(404, "job");
    }
    // Queries.
    server.get("/api/v1/comparison").refuses(400, "jobs");
    server
        .get("/api/v1/comparison?jobs=a,b")
        .refuses(422, "identifiers");
    server
        .get(&format!("/api/v1/comparison?jobs={unknown}"))
        .refuses(404, "job");
    let many = vec![unknown; 21].join(",");
    server
        .get(&format!("/api/v1/comparison?jobs={many}"))
        .refuses(422, "20");
    server
        .get(&format!("/api/v1/jobs/{unknown}/report?form=exe"))
        .refuses(400, "exe");
    // Bodies.
    for (body, status, needle) in [
        ("", 400, "EOF"),
        ("{", 400, "EOF"),
        ("nonsense", 400, "expected"),
        ("{}", 422, "kind"),
        ("[]", 422, ""),
        (r#"{"kind": "format-disk"}"#, 422, "format-disk"),
        (
            r#"{"kind": "audit", "model": "../..", "data": "x"}"#,
            422,
            "identifier",
        ),
        (
            r#"{"kind": "audit", "data": "0123456789abcdef", "predictor": {"source": "command:id", "schema": "x"}}"#,
            422,
            "predictor",
        ),
        (
            r#"{"kind": "audit", "modality": "text", "model": "0123456789abcdef", "data": "0123456789abcdef", "text": {"lexicon": "/etc/passwd"}}"#,
            422,
            "lexicon",
        ),
        (
            r#"{"kind": "train", "modality": "table", "data": "0123456789abcdef", "schema": "/etc/passwd"}"#,
            422,
            "schema",
        ),
    ] {
        server
            .send_text("POST", "/api/v1/jobs", body)
            .refuses(status, needle);
    }
    let large = format!("{{\"label\": \"{}\"}}", "a".repeat(2 << 20));
    server
        .send_text("POST", "/api/v1/jobs", &large)
        .refuses(413, "1048576");
    let head = [
        format!("Authorization: Bearer {}", server.token),
        "Content-Type: text/plain".to_owned(),
    ];
    request(&server.address, "POST", "/api/v1/jobs", &head, b"{}").refuses(415, "application/json");
    request(&server.address, "POST", "/api/v1/data", &head, b"{}").refuses(415, "multipart");
    // What is no HTTP is closed with 400, and harms nothing.
    assert_eq!(raw(&server.address, b"nonsense\r\n\r\n").status, 400);
    server.get("/api/v1/service").expect(200);
}

#[test]
fn tokens_that_are_wrong() {
    let home = Home::new();
    let server = home.serve(&[]);
    let other = home.new_token("other");
    let of = |header: &str| {
        let head: Vec<String> = [header]
            .map(str::to_owned)
            .into_iter()
            .filter(|one| !one.is_empty())
            .collect();
        request(&server.address, "GET", "/api/v1/jobs", &head, &[])
    };
    let (beginning, secret) = server.token.rsplit_once('_').unwrap();
    let last = if secret.ends_with('0') { "1" } else { "0" };
    let almost = format!("{beginning}_{}{last}", &secret[..secret.len() - 1]);
    let crossed = format!("{}_{secret}", other.rsplit_once('_').unwrap().0);
    for wrong in [
        String::new(),
        "Authorization:".to_owned(),
        "Authorization: Bearer".to_owned(),
        "Authorization: Bearer ".to_owned(),
        "Authorization: Bearer nonsense".to_owned(),
        "Authorization: Basic dGVzdDp0ZXN0".to_owned(),
        format!("Authorization: Bearer {almost}"),
        format!("Authorization: Bearer {crossed}"),
        format!("Authorization: Bearer {}", server.token.to_uppercase()),
        format!("Authorization: Bearer {}0", server.token),
        format!("Authorization: Bearer {beginning}_"),
        format!("X-Token: {}", server.token),
        "Authorization: Bearer probity_' OR 1=1 --_x".to_owned(),
    ] {
        let answer = of(&wrong).refuses(401, "");
        assert!(
            answer.header("www-authenticate").starts_with("Bearer"),
            "{wrong}"
        );
    }
    of(&format!("Authorization: bearer {}", server.token)).expect(200);
    // Every operation but the document needs one.
    for operation in server.contract.all() {
        let (method, path) = operation.split_once(' ').unwrap();
        let unknown = "0123456789abcdef";
        let path = path.replace("{id}", unknown).replace("{part}", unknown);
        let answer = request(&server.address, method, &path, &[], &[]);
        match path.as_str() {
            "/api/v1/openapi.json" => answer.expect(200),
            _ => answer.refuses(401, "token"),
        };
    }
    // One that is revoked while the service runs is refused from then on.
    of(&format!("Authorization: Bearer {other}")).expect(200);
    let id = other.split('_').nth(1).unwrap();
    home.command(&["serve", "revoke", id]);
    of(&format!("Authorization: Bearer {other}")).refuses(401, "revoked");
    let listed = home.command(&["serve", "tokens", "--json"]);
    assert!(!listed.contains(secret), "{listed}");
    // The secret stands nowhere on disk.
    let database = std::fs::read(home.data_dir().join("probity.sqlite")).unwrap();
    let log = std::fs::read(home.data_dir().join("probity.sqlite-wal")).unwrap_or_default();
    let has = |bytes: &[u8]| {
        bytes
            .windows(secret.len())
            .any(|part| part == secret.as_bytes())
    };
    assert!(!has(&database) && !has(&log));
}

fn table(server: &Server, name: &str, bytes: &[u8]) -> crate::service::http::Answer {
    server.upload("/api/v1/data", &[("kind", "table")], name, bytes)
}

#[test]
fn data_that_cannot_be_taken() {
    let home = Home::new();
    let server = home.serve(&[
        "--max-upload",
        "64KiB",
        "--max-rows",
        "100",
        "--max-cell",
        "1000",
        "--job-memory",
        "2GiB",
    ]);
    let good = b"age,sex,income\n40,m,yes\n17,f,no\n".as_slice();
    // Files.
    for (name, bytes, needle) in [
        ("a.csv", b"".as_slice(), "empty"),
        ("a.csv", b"age,sex\n", "no rows"),
        ("a.csv", b"age,sex\n1\n", "fields"),
        ("a.csv", b"age,age\n1,2\n", "age"),
        ("a.csv", b"age,sex\n1,\x81\xfe\n", "UTF-8"),
        ("a.csv.gz", b"\x1f\x8b\x08nonsense", ""),
        ("a.parquet", b"PAR1nonsensePAR1", ""),
        ("a.exe", good, "form"),
        ("a", good, "form"),
        ("a.txt", good, "texts"),
    ] {
        table(&server, name, bytes).refuses(422, needle);
    }
    let rows = format!("age\n{}", "1\n".repeat(101));
    table(&server, "a.csv", rows.as_bytes()).refuses(422, "100 rows");
    let cell = format!("age\n{}\n", "a".repeat(2000));
    table(&server, "a.csv", cell.as_bytes()).refuses(422, "1000");
    let lines = "a".repeat(2000);
    server
        .upload(
            "/api/v1/data",
            &[("kind", "texts")],
            "a.txt",
            lines.as_bytes(),
        )
        .refuses(422, "1000");
    table(&server, "a.csv", &vec![b'a'; 70 << 10]).refuses(413, "65536");
    let bomb = gzip(&vec![b'0'; 40 << 20]);
    assert!(bomb.len() < 64 << 10);
    let answer = table(&server, "a.csv.gz", &bomb);
    assert!([413, 422].contains(&answer.status), "{answer:?}");
    // More than is announced to be read at all is refused before it comes.
    let head = [
        format!("Authorization: Bearer {}", server.token),
        "Content-Type: multipart/form-data; boundary=x".to_owned(),
        "Content-Length: 99999999999".to_owned(),
    ];
    raw(
        &server.address,
        &compose("POST", "/api/v1/data", &head, &[]),
    )
    .refuses(413, "65536");
    // Forms.
    for (fields, needle) in [
        (vec![("label", "x")], "kind"),
        (vec![("kind", "tables")], "kind"),
        (vec![("kind", "table"), ("form", "exe")], "form"),
        (vec![("kind", "table"), ("separator", "ab")], "separator"),
        (vec![("kind", "table"), ("label", "a\u{7}b")], "control"),
        (
            vec![("kind", "table"), ("columns", "a\u{0}b,c,d")],
            "control",
        ),
    ] {
        server
            .upload("/api/v1/data", &fields, "a.csv", good)
            .refuses(422, needle);
    }
    let long = "x".repeat(101);
    server
        .upload(
            "/api/v1/data",
            &[("kind", "table"), ("label", &long)],
            "a.csv",
            good,
        )
        .refuses(422, "100");
    let huge = "x".repeat(70 << 10);
    server
        .upload("/api/v1/data", &[("kind", &huge)], "a.csv", good)
        .refuses(413, "65536");
    let many: Vec<(String, String)> = (0..30).map(|n| (format!("f{n}"), "x".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    server
        .upload("/api/v1/data", &many, "a.csv", good)
        .refuses(400, "fields");
    // A form that is cut off, and one without a file.
    let (kind, body) = form(&[("kind", "table")], "a.csv", good);
    let head = [format!("Authorization: Bearer {}", server.token), kind];
    let cut = &body[..body.len() - 40];
    request(&server.address, "POST", "/api/v1/data", &head, cut).refuses(400, "cut off");
    let end = body
        .windows(4)
        .position(|part| part == b"\r\n\r\n")
        .unwrap();
    let first = [
        &body[..end + 4 + "table\r\n".len()],
        b"------probity-test-7f3a--\r\n",
    ]
    .concat();
    request(&server.address, "POST", "/api/v1/data", &head, &first).refuses(422, "no file");
    // Nothing of all that is left.
    assert!(names_in(&home.data_dir().join("data")).is_empty());
    assert!(names_in(&home.data_dir().join("uploads")).is_empty());
    server.get("/api/v1/service").expect(200);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// A name of a user is a label, whatever it looks like.
#[test]
fn names_that_look_like_paths() {
    let home = Home::new();
    let server = home.serve(&[]);
    for name in [
        "../../../tmp/evil.csv",
        "/etc/cron.d/evil.csv",
        "..\\..\\evil.csv",
        "%2e%2e%2fevil.csv",
        "CON.csv",
        "<script>alert(1)</script>.csv",
        "a;rm -rf $HOME.csv",
        "--out=evil.csv",
        &format!("{}.csv", "n".repeat(3000)),
    ] {
        let answer = table(&server, name, b"age,sex,income\n40,m,yes\n17,f,no\n").expect(201);
        let id = text(&answer.json()["id"]);
        let files = names_in(&home.data_dir().join("data").join(&id));
        assert_eq!(files, ["data.csv"], "{name}");
    }
    let folders = [
        "data",
        "lock",
        "locks",
        "manifests",
        "models",
        "probity.sqlite",
        "reports",
        "reserve",
        "runs",
        "specifications",
        "uploads",
    ];
    let found = names_in(&home.data_dir());
    let unexpected = found
        .iter()
        .filter(|name| !folders.contains(&name.as_str()) && !name.starts_with("probity.sqlite-"));
    assert_eq!(unexpected.count(), 0, "{found:?}");
    assert_eq!(names_in(home.data_dir().parent().unwrap()), ["data dir"]);
}

#[test]
fn schemas_and_jobs_that_do_not_fit() {
    let home = Home::new();
    let server = home.serve(&[]);
    let people = b"age,sex,income\n40,m,yes\n17,f,no\n33,f,yes\n".as_slice();
    let id = text(&table(&server, "a.csv", people).expect(201).json()["id"]);
    let (draft, schema) = (
        format!("/api/v1/data/{id}/schema/draft"),
        format!("/api/v1/data/{id}/schema"),
    );
    for (body, needle) in [
        (json!({"label": "wage"}), "wage"),
        (json!({"label": "income", "protected": ["race"]}), "race"),
        (
            json!({"label": "income", "protected": ["income"]}),
            "income",
        ),
        (json!({"label": "income", "file": "/etc/passwd"}), "file"),
        (json!({}), "label"),
    ] {
        let answer = server.send("POST", &draft, &body).refuses(422, needle);
        let detail = answer.text();
        assert!(!detail.contains("data dir"), "{detail}");
    }
    // A job before there is a schema.
    let train = json!({"kind": "train", "modality": "table", "data": id});
    server
        .send("POST", "/api/v1/jobs", &train)
        .refuses(409, "schema");
    let drafted = server.send(
        "POST",
        &draft,
        &json!({"label": "income", "protected": ["sex"]}),
    );
    let good = drafted.expect(200).json();
    let mut narrow = good.clone();
    narrow["attribute"][0]["max"] = json!(20);
    let answer = server.send("PUT", &schema, &narrow).refuses(422, "40");
    assert!(!answer.text().contains("data dir"), "{}", answer.text());
    let mut one_class = good.clone();
    one_class["label"]["classes"] = json!(["yes"]);
    server
        .send("PUT", &schema, &one_class)
        .refuses(422, "two classes");
    let mut odd = good.clone();
    odd["attribute"][0]["name"] = json!("age,sex");
    server.send("PUT", &schema, &odd).refuses(422, "comma");
    assert_eq!(server.get(&schema).expect(200).json(), good);

    // Figures out of bounds, and things of the wrong kind.
    let model = {
        let census = server.census(300);
        server.small_model(&census)
    };
    let texts = server.upload("/api/v1/data", &[("kind", "texts")], "t.txt", b"a woman\n");
    let texts = text(&texts.expect(201).json()["id"]);
    for (request, status, needle) in [
        (
            json!({"kind": "train", "modality": "table", "data": id, "network": {"hidden": [0]}}),
            422,
            "hidden",
        ),
        (
            json!({"kind": "train", "modality": "table", "data": id, "network": {"hidden": vec![8; 17]}}),
            422,
            "hidden",
        ),
        (
            json!({"kind": "train", "modality": "table", "data": id, "training": {"epochs": 0}}),
            422,
            "epochs",
        ),
        (
            json!({"kind": "train", "modality": "table", "data": id, "training": {"test": 2.0}}),
            422,
            "test",
        ),
        (
            json!({"kind": "train", "modality": "table", "data": texts}),
            422,
            "texts",
        ),
        (
            json!({"kind": "train", "modality": "text", "data": id, "text_column": "a", "label_column": "b"}),
            422,
            "table",
        ),
        (
            json!({"kind": "audit", "model": model, "data": texts}),
            422,
            "texts",
        ),
        (
            json!({"kind": "audit", "model": texts, "data": id}),
            404,
            "model",
        ),
        (
            json!({"kind": "audit", "modality": "text", "model": model, "data": texts}),
            422,
            "rows",
        ),
        (
            json!({"kind": "audit", "model": model, "data": id, "protected": ["race"]}),
            422,
            "race",
        ),
        (
            json!({"kind": "audit", "model": model, "data": id, "protected": ["--out=x"]}),
            422,
            "--out=x",
        ),
        (
            json!({"kind": "audit", "model": model, "data": id, "strategy": "asc"}),
            422,
            "asc",
        ),
        (
            json!({"kind": "audit", "model": model, "data": id, "search": {"seeds": 0}}),
            422,
            "seeds",
        ),
        (
            json!({"kind": "audit", "model": model, "data": id, "search": {"seeds": -1}}),
            422,
            "",
        ),
        (
            json!({"kind": "repair", "model": model, "data": id, "runs": []}),
            422,
            "runs",
        ),
        (
            json!({"kind": "repair", "model": model, "data": id, "runs": [model]}),
            422,
            "no audit",
        ),
    ] {
        server
            .send("POST", "/api/v1/jobs", &request)
            .refuses(status, needle);
    }
    // What only the job can find out, it says; without paths.
    let job = server.start(&json!({"kind": "audit", "model": model, "data": id}));
    let view = server.end_of(&job);
    assert_eq!(view["state"], "failed", "{view}");
    let message = view["message"].as_str().unwrap();
    assert!(
        message.contains("column") && !message.contains("data dir"),
        "{message}"
    );
}

/// An archive with these entries.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn models_that_cannot_be_taken() {
    let home = Home::new();
    let server = home.serve(&["--max-model", "1MiB"]);
    let bomb = vec![0; 8 << 20];
    for (bytes, needle) in [
        (b"nonsense".to_vec(), "zip"),
        (archive(&[]), "model.toml"),
        (archive(&[("readme.md", b"x")]), "model.toml"),
        (archive(&[("../model.toml", b"x")]), "leads out"),
        (archive(&[("/etc/model.toml", b"x")]), "leads out"),
        (archive(&[("a/../../model.toml", b"x")]), "leads out"),
        (archive(&[("a\\..\\model.toml", b"x")]), "leads out"),
        (archive(&[("c:model.toml", b"x")]), "leads out"),
        (
            archive(&[("a/model.toml", b"x"), ("b/model.toml", b"x")]),
            "more than one",
        ),
        (
            archive(&[("model.toml", b"x"), ("weights.safetensors", &bomb)]),
            "1048576",
        ),
        (archive(&[("model.toml", b"nonsense")]), "model.toml"),
        (
            archive(&[("model.toml", b"format_version = 99")]),
            "model.toml",
        ),
    ] {
        let answer = server.upload("/api/v1/models", &[], "model.zip", &bytes);
        let answer = answer.refuses(422, needle);
        assert!(!answer.text().contains("data dir"), "{}", answer.text());
    }
    // Good files in which the weights are cut off, or another record of training lies.
    let data = server.census(300);
    let job = server.small_model(&data);
    let file = |name: &str| std::fs::read(home.run(&job).join(name)).unwrap();
    let (description, weights) = (file("model.toml"), file("weights.safetensors"));
    let cut = &weights[..weights.len() / 2];
    let broken = archive(&[("model.toml", &description), ("weights.safetensors", cut)]);
    server
        .upload("/api/v1/models", &[], "m.zip", &broken)
        .refuses(422, "weights.safetensors was changed");
    let foreign = b"command = \"train\"\ndata = \"/etc/passwd\"\n".as_slice();
    let odd = archive(&[
        ("m/model.toml", &description),
        ("m/weights.safetensors", &weights),
        ("m/run.toml", foreign),
        ("m/notes.txt", b"not taken"),
    ]);
    let taken = server
        .upload("/api/v1/models", &[], "m.zip", &odd)
        .expect(201)
        .json();
    assert_eq!(taken["is_training_known"], false);
    let folder = home.data_dir().join("models").join(text(&taken["id"]));
    assert_eq!(names_in(&folder), ["model.toml", "weights.safetensors"]);
    assert_eq!(names_in(&home.data_dir().join("models")).len(), 1);
}

#[test]
fn storage_that_is_full() {
    let home = Home::new();
    let server = home.serve(&["--max-storage", "1KiB"]);
    table(&server, "a.csv", &census(5)).refuses(507, "limit");
}
