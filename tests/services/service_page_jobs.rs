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
    assert!(
        form.contains("Made from these texts first") && form.contains("come with Probity"),
        "{form}"
    );
    let network = [
        ("text_column", "0"),
        ("label_column", "1"),
        ("recurrent.embeddings", "own"),
        ("recurrent.layers", "1"),
        ("training.epochs", "3"),
    ];
    let model = visitor.does(&format!("{data}/train"), &network);
    let page = visitor.get(&format!("/models/{model}")).text;
    assert!(page.contains("decides about texts"), "{page}");

    let form = visitor.get(&format!("/models/{model}/audit")).text;
    assert!(form.contains("comments, column comment_text"), "{form}");
    assert!(form.contains(">sexual orientation</label>"), "{form}");
    // Of texts nothing is taken for good that nobody chose.
    assert!(form.contains("It is not said</option>"), "{form}");
    assert!(!form.contains("<option value=\"1\" selected>"), "{form}");
    is_in_words(&form.replace("comment_text", "the texts"));
    let start = format!("{}.0", data.trim_start_matches("/data/"));
    let search = [
        ("data", start.as_str()),
        ("protected", "gender"),
        ("effort", "quick"),
        ("search.seeds", "20"),
        ("search.local", "5"),
        ("population.favourable", "0"),
    ];
    let audit = visitor.does(&format!("/models/{model}/audit"), &search);
    let markdown = visitor.get(&format!("/runs/{audit}/report.md")).text;
    assert!(markdown.contains("population.favourable: 0"), "{markdown}");
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

/// Checks that what a reader sees of a page has no marks of code and no names of options.
#[track_caller]
pub fn is_in_words(page: &str) {
    let (_, main) = page.split_once("<main").unwrap();
    let (main, _) = main.split_once("</main>").unwrap();
    let texts = main.split('>').filter_map(|part| part.split('<').next());
    let texts: Vec<&str> = texts.collect();
    let text = texts.join(" ");
    for mark in ["`", "fail_above", "Fail above", "Exit with", "--", "_"] {
        assert!(!text.contains(mark), "{mark}: {text}");
    }
}

/// A census whose first column numbers its rows, and whose last but one is the same in all.
fn numbered_census() -> String {
    let census = census(300);
    let lines = census.lines().enumerate();
    let lines = lines.map(|(place, line)| match place {
        0 => format!("applicant_id,{line},branch\n"),
        // Numbers that do not just count the rows.
        _ => format!("{},{line},Main\n", 7 * place + 1000),
    });
    lines.collect()
}

#[test]
fn a_failed_audit_says_by_how_much_and_reports_call_things_by_their_names() {
    let home = Home::new();
    let service = home.serve(&[]);
    let visitor = Visitor::logged_in(&service);
    let secret = visitor.get("/").secret();
    let csrf = ("csrf", secret.as_str());
    let fields = [csrf, ("label", "Our applicants"), ("kind", "table")];
    let answer = visitor.upload("/data/new", &fields, "people.csv", numbered_census());
    let columns = answer.header("location").to_owned();
    let data = columns.split('/').nth(2).unwrap().to_owned();

    // What identifies people is no input, and what is good for them is chosen.
    let form = visitor.get(&columns).text;
    is_in_words(&form.replace("applicant_id", "the number"));
    let role = |position: usize| {
        let (_, rest) = form
            .split_once(&format!("name=\"role-{position}\""))
            .unwrap();
        let (options, _) = rest.split_once("</select>").unwrap();
        let chosen = options.lines().find(|line| line.contains(" selected"));
        chosen.unwrap().split('"').nth(1).unwrap().to_owned()
    };
    assert_eq!(
        [role(0), role(1), role(6), role(7)].join(" "),
        "ignore protected label ignore"
    );
    assert!(
        form.contains("Left out unless you say otherwise: it numbers the rows"),
        "{form}"
    );
    assert!(
        form.contains("Which outcome is good for the person?"),
        "{form}"
    );
    let roles = [
        "ignore",
        "input",
        "input",
        "input",
        "protected",
        "input",
        "label",
        "ignore",
    ];
    let names: Vec<String> = (0..8).map(|place| format!("role-{place}")).collect();
    let mut fields = vec![csrf, ("then", "train"), ("outcome-6", "")];
    fields.extend(names.iter().map(String::as_str).zip(roles));
    let answer = visitor.post(&columns, &fields);
    assert_eq!(answer.status, 422);
    assert!(
        answer
            .text
            .contains("Say which outcome is good for the person.")
    );
    fields[2] = ("outcome-6", "low");
    let model = visitor.does(&columns, &fields);
    let page = visitor.get(&format!("/data/{data}")).text;
    assert!(page.contains("<h3>Left out</h3>"), "{page}");
    assert!(page.contains("<dt>applicant_id</dt><dd>"), "{page}");
    assert!(page.contains("<dt>branch</dt><dd>it holds"), "{page}");
    let schema = visitor.get(&format!("/data/{data}/schema")).text;
    assert!(
        schema.contains("<option value=\"low\" selected>"),
        "{schema}"
    );

    // The share is entered in percent, and a failed audit says by how much it failed.
    let audit_form = format!("/models/{model}/audit");
    let form = visitor.get(&audit_form).text;
    is_in_words(&form.replace("applicant_id", "the number"));
    assert!(form.contains("Largest acceptable share (%)"), "{form}");
    assert!(form.contains("<option value=\"low\" selected>"), "{form}");
    let search = [
        ("data", data.as_str()),
        ("protected", "sex"),
        ("effort", "quick"),
        ("search.seeds", "20"),
        ("population.favourable", "high"),
        ("label", "The first audit"),
    ];
    let with = |bound| [&[csrf, ("fail_above", bound)][..], &search].concat();
    let answer = visitor.post(&audit_form, &with("101 %"));
    assert_eq!(answer.status, 422);
    assert!(
        answer.text.contains("is not a share such as 5"),
        "{}",
        answer.text
    );
    let asked = [&[("fail_above", "0.5%")][..], &search].concat();
    let audit = visitor.does(&audit_form, &asked);
    let run = visitor.get(&format!("/runs/{audit}")).text;
    assert!(run.contains("the bound is broken"), "{run}");
    // Who is disadvantaged is said as in the report.
    let markdown = visitor.get(&format!("/runs/{audit}/report.md")).text;
    let mut lines = markdown.lines();
    let who = lines.find_map(|line| line.find("By sex, ‘").map(|at| &line[at..]));
    let who = who.unwrap_or_else(|| panic!("{markdown}"));
    assert!(who.contains(" rows would get ‘high’"), "{who}");
    let run = run.replace("&#39;", "'");
    assert!(run.contains(who.trim_end_matches('*')), "{who}: {run}");
    assert!(run.contains("Largest acceptable share"), "{run}");
    for page in [
        "/".to_owned(),
        format!("/jobs/{audit}"),
        format!("/models/{model}"),
    ] {
        let text = visitor.get(&page).text;
        assert!(text.contains("&#62; 0.5\u{a0}%</span>"), "{page}: {text}");
        assert!(
            !text.contains(">done</span>") || page == "/",
            "{page}: {text}"
        );
    }

    // What is passed on calls things as people do, and follows when they are called otherwise.
    let report = visitor.get(&format!("/runs/{audit}/report.md"));
    let kept = "attachment; filename=\"report-The-first-audit.md\"";
    assert_eq!(report.header("content-disposition"), kept);
    let title = "# Audit: The first audit (Classifier of Our applicants on Our applicants)";
    assert_eq!(report.text.lines().next(), Some(title));
    assert!(!report.text.contains("data.csv"), "{}", report.text);
    assert!(
        report.text.contains("population.favourable: high"),
        "{}",
        report.text
    );
    let renamed = visitor.post(
        &format!("/data/{data}/rename"),
        &[csrf, ("label", "People")],
    );
    assert_eq!(renamed.status, 303, "{}", renamed.text);
    let report = visitor.get(&format!("/runs/{audit}/report.md"));
    let title = "# Audit: The first audit (Classifier of Our applicants on People)";
    assert_eq!(report.text.lines().next(), Some(title));
    let page = visitor.get(&format!("/runs/{audit}/report")).text;
    assert!(page.contains("<title>Audit: The first audit"), "{page}");
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
