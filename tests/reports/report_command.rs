//! `probity report`: pages of every kind of run, of hostile data, and of what is no run.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::probity_command::Workspace;
use crate::report_page::Page;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use probity::report::{LARGEST_PAGE, content_security};
use probity::run::run_directory::{RunDirectory, file_sha256};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

#[track_caller]
fn page(workspace: &Workspace, runs: &str) -> (Page, String) {
    workspace
        .line(&format!("report {runs} --out page.html --force"))
        .exits(0)
        .says(&["Report: page.html"]);
    let html = workspace.read("page.html");
    assert!(html.len() <= LARGEST_PAGE, "{}", html.len());
    let page = Page::of(&html);
    page.is_self_contained();
    page.is_accessible();
    (page, html)
}

#[track_caller]
fn holds(page: &Page, needles: &[&str]) {
    let text = page.text.replace('\u{a0}', " ");
    for needle in needles {
        assert!(text.contains(needle), "no '{needle}' in {text}");
    }
}

/// An audit, its model repaired, and the audit of that: the page, its comparison, and the commands
/// that do it all again.
#[test]
fn audits_repairs_groups_and_certificates_have_pages() {
    let workspace = Workspace::with_demo(1500);
    let data = "--data demo/people.csv";
    for line in [
        format!(
            "repair --model demo/model {data} --run demo/audit --repeats 1 --epochs 2 --estimate 500 --save-anyway --out fairer"
        ),
        format!(
            "audit --model fairer {data} --seeds 40 --local 20 --estimate 500 --samples csv --out after"
        ),
        format!(
            "groups --model demo/model {data} --protected sex,age --edges age=30,50 --resamples 50 --out groups"
        ),
        format!(
            "certify --model demo/model {data} --part test --splits 2 --exhaustive --out certificates"
        ),
        format!(
            "compare --model demo/model {data} --strategies adf,themis --seeds 20 --local 5 --repeats 1 --out compared"
        ),
    ] {
        let code = workspace.line(&line).code;
        assert!(code == Some(0) || code == Some(1), "{line}: {code:?}");
    }
    let (audit, html) = page(&workspace, "demo");
    holds(
        &audit,
        &[
            "of the rows of the data get another decision when only sex or origin is changed (95 % interval",
            "of random inputs get another decision when only sex or origin is changed (95 % interval",
            "By sex, ‘female’ is at a disadvantage: as ‘male’, ",
            " ‘female’ rows would get ‘high’ (95 % interval ",
            "; as ‘female’, 0.00 % of the ",
            "Planted and found",
            "Who is disadvantaged",
            "Who these people are",
            "Somebody with sex ‘female’ (",
            ", and all else as it is, this person would be decided ‘high’: the score of ‘high’ goes from",
            "Rows that get another decision, by sex × origin",
            "Impact ratios by sex × origin",
            "The line at 0.8 is the four-fifths rule",
            "as they stand in the data",
            "How far the scores of the rows move",
            "SHA-256 of the model",
            "Distinct discriminatory individuals against model calls",
            "Pairs by the values of sex",
            "Pairs with a changed attribute",
            "Pairs by how far their score moves",
            "What this does not say",
            "probity run demo/audit",
            "Options that were given or settled",
        ],
    );
    let again = workspace.line("report demo").exits(0).stdout;
    assert!(again == html, "the same run gives the same bytes");
    let first = audit
        .text
        .find("of the rows of the data get another decision")
        .unwrap();
    assert!(first < audit.text.find("What was looked at").unwrap());

    let (both, _) = page(&workspace, "demo/audit after");
    holds(
        &both,
        &[
            "Before and after the repair: 1 and 2",
            "The second model is what probity repair made of the first",
        ],
    );
    let outcome = match workspace.json("fairer/summary.json")["verdict"]["holds"] == true {
        true => "PASS",
        false => "FAIL",
    };
    let (repair, _) = page(&workspace, "fairer");
    holds(
        &repair,
        &[
            outcome,
            "these networks cannot tell",
            "After the repair:",
            "Quality before and after",
            "Group metrics before and after",
            "Demographic parity difference",
        ],
    );
    let (groups, _) = page(&workspace, "groups");
    holds(
        &groups,
        &[
            "Groups by sex × age",
            "Equalised odds difference",
            "Impact ratios by sex × age",
            "What these words mean",
        ],
    );
    let (certificates, _) = page(&workspace, "certificates");
    holds(
        &certificates,
        &["are proved fair by sex × origin (95 % interval"],
    );
    let (compared, _) = page(&workspace, "compared");
    holds(
        &compared,
        &[
            "One search of each strategy does not tell which finds more",
            "Found for the same number of calls",
            "themis",
        ],
    );
    let (all, _) = page(&workspace, "demo fairer after groups certificates compared");
    assert_eq!(all.count("section"), 7);

    let card = workspace
        .line("report demo after groups certificates --format model-card")
        .exits(0)
        .stdout;
    for field in [
        "## Model details",
        "## Intended use",
        "TO BE FILLED IN",
        "## Metrics",
        "Discriminatory share of the rows of the data by sex × origin",
        "## Evaluation data",
        "## Caveats",
    ] {
        assert!(card.contains(field), "{field} in {card}");
    }
    let markdown = workspace
        .line("report demo fairer --format markdown")
        .exits(0)
        .stdout;
    assert!(
        markdown
            .starts_with("# Report on 2 runs\n\n## 1. Audit: demo on people (demo/audit)\n\n**"),
        "{}",
        &markdown[..300]
    );
    assert!(markdown.contains("| female → male") || markdown.contains("**female → male**"));

    let report: Value = serde_json::from_str(
        &workspace
            .line("report demo fairer groups certificates compared --format json")
            .exits(0)
            .stdout,
    )
    .unwrap();
    assert_eq!(report["schema_version"], 1);
    let summary = workspace.json("demo/audit/summary.json");
    assert_eq!(
        report["runs"][0]["findings"]["fairness"],
        summary["fairness"]
    );
    assert_eq!(report["runs"][0]["ended"], summary["ended"]);
    assert_eq!(
        report["runs"][0]["findings"]["pairs"]["pairs"],
        summary["total"]["discriminatory_rows"]
    );
    for run in report["runs"].as_array().unwrap() {
        let command = run["reproduce"].as_str().unwrap();
        let mut words = shlex::split(command).unwrap();
        assert_eq!(words.remove(0), "probity");
        let out = format!("again-{}", run["command"].as_str().unwrap());
        words.extend(["--out".to_owned(), out.clone()]);
        let code = workspace.run(&words).code;
        assert!(code == Some(0) || code == Some(1), "{command}");
        let model = |summary: &Value| summary.get("repaired_sha256").cloned();
        let first = format!("{}/summary.json", run["directory"].as_str().unwrap());
        let (first, again) = (
            workspace.json(&first),
            workspace.json(&format!("{out}/summary.json")),
        );
        assert_eq!(first["fairness"], again["fairness"]);
        assert_eq!(first["trace"], again["trace"]);
        assert_eq!(
            (model(&first), &first["sets"][0]["groups"]),
            (model(&again), &again["sets"][0]["groups"])
        );
    }
}

/// Found against calls is the same whatever the number of threads, and ends at the totals.
#[test]
fn the_trace_of_an_audit_does_not_depend_on_threads() {
    let workspace = Workspace::with_demo(400);
    let mut traces = Vec::new();
    for threads in [1, 3] {
        let line = format!(
            "audit --model demo/model --data demo/people.csv --seeds 30 --local 60 --estimate 100 --threads {threads} --out t{threads}"
        );
        workspace.line(&line).exits(0);
        let summary = workspace.json(&format!("t{threads}/summary.json"));
        let trace = &summary["trace"];
        for (column, total) in [
            ("model_rows", "model_rows"),
            ("model_gradients", "model_gradients"),
            ("found", "discriminatory"),
        ] {
            let column = trace[column].as_array().unwrap();
            assert_eq!(column.last(), Some(&summary["total"][total]));
            assert!(column.len() > 10 && column.is_sorted_by_key(|value| value.as_u64()));
        }
        traces.push(trace.clone());
    }
    assert_eq!(traces[0], traces[1]);
}

#[test]
fn audits_of_texts_have_pages() {
    let workspace = Workspace::new();
    workspace.write("texts.txt", "");
    workspace.line("demo text --out demo --rows 800").exits(0);
    let (page, _) = page(&workspace, "demo");
    holds(
        &page,
        &[
            "of the texts with a protected term get another decision as they are, unmodified",
            "by at least one exchange of a term of",
            "Which exchanges and terms flip the texts as they are",
            "Share without it",
            "distinct texts from",
            "Source text",
            "unmodified only",
            "Which words the search replaced",
            "How close the found texts are to their seeds",
            "Replaced term",
        ],
    );
    let text = page.text.as_str();
    let [exchanges, search] = [
        "Which exchanges and terms flip",
        "What the search found for how many",
    ]
    .map(|heading| text.find(heading).unwrap());
    assert!(exchanges < search);
    let card = workspace
        .line("report demo --format model-card")
        .exits(0)
        .stdout;
    assert!(card.contains("with a protected term") && card.contains("found by search, from"));
    let report = workspace.line("report demo --format json").exits(0).json();
    let findings = &report["runs"][0]["findings"];
    let summary = workspace.json("demo/audit/summary.json");
    let pick = |of: &Value| {
        let exchanged = &of["unmodified"];
        let [pairs, terms] =
            ["pairs", "terms"].map(|list| exchanged[list].as_array().unwrap().len());
        let counts = ["texts", "flipped", "kinds"].map(|key| exchanged[key].clone());
        let told = ["sources", "texts"].map(|key| of[key].clone());
        (counts, pairs, terms, told)
    };
    assert_eq!(pick(findings), pick(&summary));
    // The share of texts as they are is the one that a bound is held against.
    let joint = summary["fairness"].as_array().unwrap().last().unwrap();
    assert_eq!(joint["discriminatory"], summary["unmodified"]["flipped"]);
    assert_eq!(joint["sampled"], summary["unmodified"]["texts"]);
    let found = &findings["pairs"]["texts"];
    let number = |value: &Value| value.as_u64().unwrap();
    assert!(number(&found["texts"]) <= number(&findings["pairs"]["pairs"]));
    assert!(number(&found["unmodified"]) <= number(&found["sources"]));
    assert!(number(&found["sources"]) <= number(&summary["sources"]));
    let shown = findings["pairs"]["shown"].as_array().unwrap();
    assert!(!shown.is_empty() && shown.len() as u64 <= number(&found["sources"]));
    let sources: BTreeSet<&str> = shown
        .iter()
        .map(|pair| pair["texts"]["source"].as_str().unwrap())
        .collect();
    assert_eq!(sources.len(), shown.len(), "one pair of each source");
    for pair in shown {
        let texts = &pair["texts"];
        assert_eq!(
            texts["changed"] == "",
            texts["x"] == texts["source"],
            "{pair}"
        );
    }
    let unmodified = shown
        .iter()
        .filter(|pair| pair["texts"]["changed"] == "")
        .count();
    let marked = page.tags.iter();
    let marked = marked.filter(|tag| tag.name == "tr" && tag.get("data-unmodified").is_some());
    assert_eq!(marked.count(), unmodified);
    // Labels, terms and both sides of each pair are marked, and the source where it differs.
    assert!(page.count("mark") >= 5 * shown.len());
}

/// Texts of the file are markup nowhere on the page, beside what was made of them either.
#[test]
fn nothing_in_a_text_is_markup() {
    let workspace = Workspace::new();
    let source = format!("{HOSTILE} he good");
    let mut csv = csv::Writer::from_writer(Vec::new());
    let header = "seed,source_row,phase,step,text,x,other,attribute,from,to,position,changed,\
                  label_x,label_other,p_x_no,p_x_yes,p_other_no,p_other_yes,l0,l2,jaccard,bleu,\
                  similarity";
    csv.write_record(header.split(',')).unwrap();
    let (x, other) = (
        format!("{HOSTILE} he <i>fine</i>"),
        format!("{HOSTILE} she <i>fine</i>"),
    );
    csv.write_record([
        "0",
        "1",
        "local",
        "0",
        &source,
        &x,
        &other,
        "gender",
        "<b>he</b>",
        "<b>she</b>",
        "0",
        "9: <b>good</b> -> <i>fine</i>",
        "no",
        "yes",
        "0.9",
        "0.1",
        "0.4",
        "0.6",
        "1",
        "1",
        "0.5",
        "0.5",
        "0.9",
    ])
    .unwrap();
    let samples = csv.into_inner().unwrap();
    let phase =
        json!({"seeds": 1, "generated": 1, "discriminatory": 1, "checks": 1, "seconds": 0.1});
    let (mut global, mut local) = (phase.clone(), phase);
    global["iterations"] = json!(0);
    local["trials"] = json!(1);
    let pair = json!({
        "attribute": "gender", "from": "<b>he</b>", "to": HOSTILE, "texts": 2, "flipped": 1,
        "rate": 0.5, "ci95": [0.01, 0.99],
    });
    let term = json!({
        "attribute": "gender", "term": "<b>he</b>", "texts": 2, "flipped": 1, "alone": 1,
        "share_without": 0.0, "ci95_without": [0.0, 0.98],
    });
    let summary = json!({
        "schema_version": 1, "command": "audit", "modality": "text", "probity_version": "0.1.0",
        "ending": "complete", "strategy": "adf-asc", "model_sha256": "m", "texts_sha256": "d",
        "protected": ["gender"],
        "texts": {
            "texts": 4, "with_protected_term": 2, "without_protected_term": 2, "truncated": 0,
            "foreign": 1, "blank": 1,
        },
        "unmodified": {"texts": 2, "flipped": 1, "kinds": 1, "pairs": [pair], "terms": [term]},
        "sources": 1, "raw_discriminatory": 0, "global": global, "local": local,
        "total": {
            "generated": 1, "discriminatory": 1, "discriminatory_rows": 1, "success_rate": 1.0,
            "checks": 1, "seconds": 0.2,
        },
        "fairness": [{
            "protected": ["gender"], "sampled": 2, "discriminatory": 1, "rate": 0.5,
            "ci95": [0.01, 0.99],
        }],
        "samples_file": "samples.csv",
    });
    std::fs::create_dir_all(workspace.path("run")).unwrap();
    workspace.write("run/samples.csv", samples);
    workspace.write("run/summary.json", summary.to_string());
    let run = toml::Table::from_iter([("kind".to_owned(), "audit".into())]);
    workspace.write("run/run.toml", toml::to_string(&run).unwrap());
    workspace.seal_run("run");
    let (page, html) = page(&workspace, "run");
    assert_eq!(
        (
            page.count("script"),
            page.count("img"),
            page.count("b"),
            page.count("i")
        ),
        (1, 0, 0, 0)
    );
    assert!(!html.contains('\u{202e}'));
    holds(
        &page,
        &[
            "50.00 % of the texts with a protected term get another decision as they are",
            "1 of 2 (95 % interval 1.00 % – 99.00 %)",
            "1 text is not English: no term was looked for in it. 1 text has no word.",
            "The search, which also changes other words, found 1 distinct text from 1 source text, none of which flips as it is",
            "<b>good</b> → <i>fine</i>",
        ],
    );
}

#[test]
fn knn_unlearning_and_outliers_have_pages() {
    let workspace = Workspace::new();
    let mut train = String::from("a,b,y\n");
    for row in 0..60_i32 {
        let (a, b) = ((row * 37) % 17, (row * 23) % 13);
        writeln!(
            train,
            "{a},{b},{}",
            if a + (row % 5) > 9 { "p" } else { "q" }
        )
        .unwrap();
    }
    workspace.write("train.csv", &train);
    workspace.write("test.csv", "a,b,y\n9,3,p\n1,1,q\n8,8,p\n7,2,q\n");
    workspace.line("knn --train train.csv --test test.csv --label-column y --sweep 1,3 --verdicts csv --out knn").exits(0);
    let (knn, _) = page(&workspace, "knn");
    holds(
        &knn,
        &[
            "With up to 3 of 60 training rows poisoned",
            "Verdicts against the number of poisoned rows",
            "rows whose removal does it",
        ],
    );
    let report: Value =
        serde_json::from_str(&workspace.line("report knn --format json").exits(0).stdout).unwrap();
    let words = shlex::split(report["runs"][0]["reproduce"].as_str().unwrap()).unwrap();
    workspace
        .run(
            words[1..]
                .iter()
                .cloned()
                .chain(["--out", "knn2"].map(str::to_owned)),
        )
        .exits(0);
    assert_eq!(
        workspace.json("knn/summary.json")["certified"],
        workspace.json("knn2/summary.json")["certified"]
    );

    workspace.line("kmeans bench --data train.csv --label-column y --bounds 0,20 --clusters 2 --deletions 5 --out kmeans").exits(0);
    let (kmeans, _) = page(&workspace, "kmeans");
    holds(
        &kmeans,
        &["bit for bit", "Seconds against deletions", "train.csv"],
    );
    workspace
        .line("schema infer train.csv --label-column y --out s.toml")
        .exits(0);
    workspace.line("spn bench --data train.csv --schema s.toml --rows 40 --deletions 3 --repeats 1 --out spn").exits(0).says(&["Run: spn"]);
    let (spn, _) = page(&workspace, "spn");
    holds(
        &spn,
        &["Deleting 3 of 40 rows", "Learning anew after each deletion"],
    );

    workspace
        .line("outliers budget --ledger b.toml --data train.csv --epsilon 4 --delta 0.04")
        .exits(0);
    let columns =
        "--data train.csv --columns a,b --range a=0,20,5 --range b=0,20,5 --ledger b.toml --k 3";
    workspace
        .line(&format!(
            "outliers count {columns} --radius 0.35 --epsilon 0.5 --delta 0.01 --out count"
        ))
        .exits(0);
    workspace.line(&format!("outliers subspaces {columns} --radius 0.02 --dims 1 --top 2 --epsilon 1 --out subspaces")).exits(0);
    let (count, html) = page(&workspace, "count");
    holds(
        &count,
        &[
            "The noisy count of outliers in a × b is",
            "The noise has a standard deviation of",
            "Left of the budget",
        ],
    );
    // Nothing but the answer: neither file nor hash.
    let hash = file_sha256(&workspace.path("train.csv")).unwrap();
    for secret in ["train.csv", &hash, "0,20,5"] {
        assert!(!html.contains(secret), "{secret}");
    }
    let (subspaces, _) = page(&workspace, "subspaces");
    holds(&subspaces, &["Of 2 subspaces of 1 column, 2 were drawn"]);
}

/// A run directory made by hand, with these columns, classes and rows of values; the first column
/// is protected and differs.
fn made_up(
    workspace: &Workspace,
    directory: &str,
    columns: &[&str],
    classes: [&str; 2],
    rows: &[Vec<String>],
) {
    let mut header: Vec<String> = ["seed", "phase", "step"].map(str::to_owned).into();
    for side in ["x", "other"] {
        header.extend(columns.iter().map(|column| format!("{side}_{column}")));
    }
    header.extend(["label_x", "label_other"].map(str::to_owned));
    for side in ["x", "other"] {
        header.extend(classes.iter().map(|class| format!("logit_{side}_{class}")));
    }
    header.push("changed".to_owned());
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(&header).unwrap();
    for (number, row) in rows.iter().enumerate() {
        let mut record = vec![number.to_string(), "global".to_owned(), "0".to_owned()];
        record.extend(row.iter().cloned());
        let mut other = row.clone();
        other[0] = format!("not {}", other[0]);
        record.extend(other);
        record.extend([classes[0].to_owned(), classes[1].to_owned()]);
        record.extend(["2.5", "-1", "-0.5", "0.25"].map(str::to_owned));
        record.push("?".to_owned());
        csv.write_record(&record).unwrap();
    }
    let phase = json!({"seeds": 1, "iterations": 0, "trials": 0, "generated": 1, "discriminatory": 1, "checks": 1, "seconds": 0.1});
    let (mut global, mut local) = (phase.clone(), phase);
    global.as_object_mut().unwrap().remove("trials");
    local.as_object_mut().unwrap().remove("iterations");
    let summary = json!({
        "schema_version": 1, "command": "audit", "modality": "table", "probity_version": "0.1.0", "ending": "complete",
        "strategy": "adf",
        "model_sha256": "m", "data_sha256": "d", "protected": [columns[0]], "data": {"rows": 1, "skipped_rows": 0, "mapped_values": 0},
        "global": global, "local": local,
        "total": {"generated": 1, "discriminatory": 1, "discriminatory_rows": rows.len(), "success_rate": 1.0, "checks": 1, "seconds": 0.2},
        "fairness": [{"protected": [columns[0]], "sampled": 10, "discriminatory": 5, "rate": 0.5, "ci95": [0.2, 0.8]}],
        "samples_file": "samples.csv",
    });
    std::fs::create_dir_all(workspace.path(directory)).unwrap();
    workspace.write(
        &format!("{directory}/samples.csv"),
        csv.into_inner().unwrap(),
    );
    workspace.write(&format!("{directory}/summary.json"), summary.to_string());
    let run = toml::Table::from_iter([
        ("kind".to_owned(), "audit".into()),
        ("model".to_owned(), rows[0][1].as_str().into()),
        ("protected".to_owned(), vec![columns[0]].into()),
    ]);
    workspace.write(
        &format!("{directory}/run.toml"),
        toml::to_string(&run).unwrap(),
    );
    workspace.seal_run(directory);
}

const HOSTILE: &str = "<script>alert('1')</script></style></title>\"'><img src=x onerror=alert(1)> &lt; {{ 7 }} \u{202e}abc\u{2066}\u{200b} \u{7}";

#[test]
fn nothing_in_the_data_is_markup() {
    let workspace = Workspace::new();
    let rows: Vec<Vec<String>> = (0..5)
        .map(|row| {
            vec![
                format!("{HOSTILE}{row}"),
                HOSTILE.to_owned(),
                "é".repeat(10_000),
            ]
        })
        .collect();
    let columns = [HOSTILE, "<b>b</b>", "c"];
    made_up(&workspace, "run", &columns, ["</script>", "a'b\"c"], &rows);
    let (page, html) = page(&workspace, "run");
    assert_eq!(
        (
            page.count("script"),
            page.count("style"),
            page.count("img"),
            page.count("b")
        ),
        (1, 1, 0, 0)
    );
    holds(
        &page,
        &[
            "<script>alert('1')</script></style></title>",
            "⟨U+202E⟩abc⟨U+2066⟩⟨U+200B⟩",
            "… (10000 characters)",
            "{{ 7 }}",
        ],
    );
    for character in ['\u{202e}', '\u{2066}', '\u{200b}', '\u{7}'] {
        assert!(!html.contains(character));
    }
    for format in ["markdown", "model-card"] {
        let text = workspace
            .line(&format!("report run --format {format}"))
            .exits(0)
            .stdout;
        assert!(!text.contains('\u{202e}'));
        // Between fences stands the command, as it is to be typed.
        for part in text.split("```").step_by(2) {
            assert!(
                !part.contains("<script>") && !part.contains("<img"),
                "{part}"
            );
        }
    }
    let command = page.tags.iter().any(|tag| tag.name == "code");
    assert!(command, "the command is shown");
}

#[test]
fn a_page_of_much_data_is_bounded() {
    let workspace = Workspace::new();
    let names: Vec<String> = (0..60)
        .map(|column| format!("{}{column}", "<&\"".repeat(300)))
        .collect();
    let columns: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = (0..400)
        .map(|row| {
            columns
                .iter()
                .map(|_| format!("{row}{}", "\"𝄞<".repeat(100)))
                .collect()
        })
        .collect();
    for run in ["a", "b", "c"] {
        made_up(&workspace, run, &columns, ["no", "yes"], &rows);
    }
    let (page, html) = page(&workspace, "a b c");
    assert!(
        html.len() > 400_000,
        "pairs are shown as far as there is place: {}",
        html.len()
    );
    holds(&page, &["400 pairs from 400 rows of the data"]);
}

#[test]
fn hashes_are_those_of_the_page() {
    let workspace = Workspace::new();
    made_up(
        &workspace,
        "run",
        &["a", "b"],
        ["no", "yes"],
        &[vec!["1".to_owned(), "2".to_owned()]],
    );
    let (page, _) = page(&workspace, "run");
    let source = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let allowed = content_security();
    assert_eq!(
        (source(&page.styles[0]), source(&page.scripts[0])),
        (allowed.style, allowed.script)
    );
}

#[test]
fn what_is_no_finished_run_is_refused() {
    let workspace = Workspace::with_demo(300);
    std::fs::create_dir_all(workspace.path("empty")).unwrap();
    for (name, from) in [
        ("unfinished", "demo/audit"),
        ("version", "demo/audit"),
        ("torn", "demo/audit"),
        ("lost", "demo/audit"),
        ("short", "demo/audit"),
        ("changed", "demo/audit"),
        ("kind", "demo/audit"),
    ] {
        workspace.copy_folder(from, name);
    }
    std::fs::remove_file(workspace.path("unfinished/summary.json")).unwrap();
    workspace.edit(
        "version/summary.json",
        "\"schema_version\": 1",
        "\"schema_version\": 2",
    );
    workspace.seal_run("version");
    let summary = workspace.read("torn/summary.json");
    workspace.write("torn/summary.json", &summary[..summary.len() / 2]);
    std::fs::remove_file(workspace.path("lost/samples.parquet")).unwrap();
    workspace.write("short/samples.parquet", "PAR1 and nothing else");
    workspace.seal_run("short");
    workspace.write("changed/samples.parquet", "PAR1 and nothing else");
    workspace.edit("kind/summary.json", "\"fairness\"", "\"unfairness\"");
    workspace.seal_run("kind");
    let clusters = RunDirectory::create(&workspace.path("clusters")).unwrap();
    clusters.write_options("kind = \"kmeans fit\"\n").unwrap();
    let summary = json!({ "schema_version": 1, "command": "kmeans fit" });
    clusters.write_summary(&summary).unwrap();
    let before = workspace.snapshot();
    for (runs, words) in [
        ("empty", ["empty is no run directory", "runs/audit-1"]),
        ("missing", ["missing is no run directory", "summary.json"]),
        ("demo/people.csv", ["demo/people.csv", "run"]),
        (
            "unfinished",
            ["is unfinished", "probity run unfinished --resume"],
        ),
        (
            "version",
            ["version/summary.json has schema_version 2", "reads 1"],
        ),
        (
            "torn",
            [
                "torn/summary.json",
                "is not what this version of probity writes",
            ],
        ),
        ("lost", ["cannot read", "lost/samples.parquet"]),
        (
            "short",
            ["short/samples.parquet", "not a readable Parquet file"],
        ),
        ("changed", ["changed/samples.parquet", "was changed"]),
        ("kind", ["kind/summary.json", "fairness"]),
        ("clusters", ["holds a run of 'kmeans fit'", "audit, repair"]),
        ("demo demo/audit", ["is given twice", "demo/audit"]),
    ] {
        workspace
            .line(&format!("report {runs} --out page.html"))
            .exits(2)
            .complains(&words);
        assert_eq!(workspace.snapshot(), before, "{runs}");
    }
    workspace.line("report").exits(2).complains(&["<RUN>"]);
    workspace
        .line("report demo --format docx")
        .exits(2)
        .complains(&["html", "markdown"]);
    workspace
        .line("report demo --json")
        .exits(2)
        .complains(&["--format json"]);
    let said = workspace
        .line("report demo --out page.html --json")
        .exits(0)
        .json();
    assert_eq!(
        (said["command"].as_str(), said["runs"].as_u64()),
        (Some("report"), Some(1))
    );
    let keys: BTreeSet<&str> = said
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        BTreeSet::from(["bytes", "command", "file", "runs", "schema_version"])
    );
}

/// Samples that are not what the summary says, or not what an audit writes, are told apart from a
/// run.
#[test]
fn samples_are_read_with_care() {
    let workspace = Workspace::new();
    let rows: Vec<Vec<String>> = (0..3)
        .map(|row| vec![row.to_string(), "b".to_owned()])
        .collect();
    made_up(&workspace, "run", &["a", "b"], ["no", "yes"], &rows);
    let whole = workspace.read("run/samples.csv");
    for (from, to, words) in [
        (
            "label_x",
            "label",
            ["samples.csv", "there is no column 'label_x'"],
        ),
        (
            "other_b",
            "other_c",
            ["samples.csv", "the columns of both sides differ"],
        ),
        (
            "logit_other_yes",
            "logit_other_no2",
            ["samples.csv", "the logits of both sides differ"],
        ),
        ("2.5", "many", ["line 2", "'many' is not a number"]),
        (
            "no,yes,2.5",
            "perhaps,yes,2.5",
            ["'perhaps'", "what can be decided"],
        ),
        (
            "2,global,0,2,b,not 2,b,no,yes,2.5,-1,-0.5,0.25,?\n",
            "",
            ["counts 3 pairs", "holds 2"],
        ),
    ] {
        assert!(whole.contains(from), "{from} in {whole}");
        workspace.write("run/samples.csv", whole.replacen(from, to, 1));
        workspace.seal_run("run");
        workspace.line("report run").exits(2).complains(&words);
    }
    let nothing: String = whole
        .lines()
        .take(1)
        .map(|line| format!("{line}\n"))
        .collect();
    workspace.write("run/samples.csv", nothing);
    let summary = workspace
        .read("run/summary.json")
        .replace("\"discriminatory_rows\": 3", "\"discriminatory_rows\": 0");
    workspace.write("run/summary.json", summary);
    workspace.seal_run("run");
    let (page, _) = page(&workspace, "run");
    holds(&page, &["The search found no pair."]);
}
