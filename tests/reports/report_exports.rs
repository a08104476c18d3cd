//! Reports in the forms that rules and registers ask for: documents that are held against their
//! published schemas, with the figures of the runs.

use std::env;
use std::fs;
use std::process::Command;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use crate::report_page::Page;
use probity::run::run_directory::file_sha256;
use probity_testing::{Needed, skip};
use serde_json::Value;

/// Runs `script` with the workspace's Python, where it has the module of that name; else `None`
/// after saying so.
fn python(workspace: &Workspace, module: &str, script: &str) -> Option<Outcome> {
    let python = env::var("PROBITY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_it = Command::new(&python)
        .args(["-c", &format!("import {module}")])
        .output();
    if !has_it.is_ok_and(|output| output.status.success()) {
        skip(Needed::Python, &format!("no {module}"));
        return None;
    }
    let output = Command::new(&python)
        .args(["-c", script])
        .current_dir(workspace.path("."))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let problems = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((output.status.success(), said, problems))
}

/// Whether a program succeeded, and its two outputs.
type Outcome = (bool, String, String);

/// A classifier of tables with every kind of run of it.
fn with_runs() -> Workspace {
    let workspace = Workspace::with_demo(1500);
    let data = "--data demo/people.csv";
    for line in [
        format!(
            "repair --model demo/model {data} --run demo/audit --repeats 1 --epochs 2 --estimate 500 --save-anyway --out fairer"
        ),
        format!(
            "groups --model demo/model {data} --protected sex,age --edges age=30,50 --sex sex --race-ethnicity origin --resamples 50 --out groups"
        ),
        format!("certify --model demo/model {data} --part test --splits 2 --out proofs"),
        "data generate people --rows 20 --seed 2 --out new.csv".to_owned(),
        "knn --train demo/people.csv --test new.csv --schema synthetic-census --poison 1 --out knn"
            .to_owned(),
    ] {
        let code = workspace.line(&line).code;
        assert!(code == Some(0) || code == Some(1), "{line}: {code:?}");
    }
    workspace
}

const VALID_BOM: &str = "
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
for file in ('one.json', 'all.json'):
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(file).read())
    if problem: sys.exit(f'{file}: {problem}')
";

#[test]
fn bills_of_materials_are_valid_and_hold_the_figures() {
    let workspace = with_runs();
    let all = "demo groups fairer proofs";
    for (runs, file) in [("demo", "one.json"), (all, "all.json")] {
        let line = format!("report {runs} --format cyclonedx --out {file}");
        workspace.line(&line).exits(0);
    }
    let again = workspace.line(&format!("report {all} --format cyclonedx"));
    assert!(again.exits(0).stdout == workspace.read("all.json"));
    let bom = workspace.json("all.json");
    assert_ne!(
        bom["serialNumber"],
        workspace.json("one.json")["serialNumber"]
    );
    let components = bom["components"].as_array().unwrap();
    let of = |kind: &str| -> Vec<&Value> {
        let all = components.iter();
        all.filter(|component| component["type"] == kind).collect()
    };
    let (models, data) = (of("machine-learning-model"), of("data"));
    assert_eq!((models.len(), data.len()), (2, 1));
    let summary = workspace.summary("demo/audit");
    let hash = |component: &Value| component["hashes"][0]["content"].clone();
    let audited = workspace.json("groups/summary.json");
    assert_eq!(hash(models[0]), audited["model_sha256"]);
    assert_eq!(hash(data[0]), audited["data_sha256"]);
    let repaired = workspace.summary("fairer");
    assert_eq!(hash(models[1]), repaired["repaired_sha256"]);
    let ancestor = &models[1]["pedigree"]["ancestors"][0];
    assert_eq!(ancestor["hashes"][0]["content"], audited["model_sha256"]);
    let card = &models[0]["modelCard"];
    let parameters = &card["modelParameters"];
    assert_eq!(
        parameters["architectureFamily"],
        "feed-forward neural network"
    );
    assert_eq!(parameters["datasets"][0]["ref"], data[0]["bom-ref"]);
    let metrics = card["quantitativeAnalysis"]["performanceMetrics"]
        .as_array()
        .unwrap();
    let metric = |kind: &str, slice: &str| {
        let mut metrics = metrics.iter();
        let found = metrics.find(|it| it["type"] == kind && it["slice"] == slice);
        found.unwrap_or_else(|| panic!("no {kind} {slice} in {metrics:?}"))
    };
    let number = |text: &Value| text.as_str().unwrap().parse::<f64>().unwrap();
    let joint = summary["population"]["shares"]
        .as_array()
        .unwrap()
        .last()
        .unwrap();
    let shown = metric(
        "Discriminatory share of the rows of the data",
        "by sex × origin",
    );
    assert!((number(&shown["value"]) - joint["rate"].as_f64().unwrap()).abs() < 1e-12);
    let low = number(&shown["confidenceInterval"]["lowerBound"]);
    assert!((low - joint["ci95"][0].as_f64().unwrap()).abs() < 1e-12);
    let group = &audited["sets"][0]["groups"][0];
    let sex = group["values"][0].as_str().unwrap();
    let slice = format!("of sex={sex}, favourable 'high'");
    let rate = number(&metric("Selection rate", &slice)["value"]);
    assert!((rate - group["selection_rate"]["value"].as_f64().unwrap()).abs() < 1e-12);
    let assessments = card["considerations"]["fairnessAssessments"]
        .as_array()
        .unwrap();
    assert!(assessments.len() > 4, "{assessments:?}");
    let repaired = &models[1]["modelCard"]["considerations"]["fairnessAssessments"][0];
    let strategy = repaired["mitigationStrategy"].as_str().unwrap();
    assert!(
        strategy.contains("probity repair --method samples"),
        "{strategy}"
    );
    refuses(
        &workspace,
        "report demo knn --format cyclonedx",
        2,
        &["the format cyclonedx is made of", "knn is a run of 'knn'"],
    );
    if let Some((is_valid, _, problems)) = python(
        &workspace,
        "cyclonedx.validation.json, jsonschema",
        VALID_BOM,
    ) {
        assert!(is_valid, "{problems}");
    }
}

#[test]
fn annexes_of_the_ai_act_say_what_runs_know_and_leave_the_rest_open() {
    let workspace = with_runs();
    let runs = "report demo groups fairer proofs knn --format ai-act";
    let html = workspace.line(runs).exits(0).stdout;
    let page = Page::of(&html);
    page.is_self_contained();
    page.is_accessible();
    workspace.line(&format!("{runs} --out annex.md")).exits(0);
    let markdown = workspace.read("annex.md");
    let text = page.text.replace('\u{a0}', " ");
    let audited = workspace.json("groups/summary.json");
    let summary = file_sha256(&workspace.path("demo/audit/summary.json")).unwrap();
    for words in [
        "Regulation (EU) 2024/1689",
        "Annex IV, point 2(g)",
        "Signed by the responsible person",
        "TO BE FILLED IN",
        "Origin of the data",
        "probity run demo/audit",
        "Accuracy",
        "Discriminatory share of the rows of the data by sex × origin",
        "Selection rate of sex=",
        "Predictions proved to stand",
        audited["model_sha256"].as_str().unwrap(),
        audited["data_sha256"].as_str().unwrap(),
        summary.as_str(),
    ] {
        assert!(text.contains(words), "{words} in {text}");
        let plain = markdown.replace('\\', "").replace('\u{a0}', " ");
        assert!(plain.contains(words), "{words} in {plain}");
    }
    assert!(markdown.starts_with("# AI Act"), "{markdown}");
    // Without k-NN nothing is known of robustness, and that is said.
    let without = workspace
        .line("report groups --format ai-act")
        .exits(0)
        .stdout;
    assert!(
        Page::of(&without)
            .text
            .contains("none of the runs measured this")
    );
}

#[test]
fn runs_of_one_name_are_told_apart_and_figures_are_the_very_numbers() {
    let workspace = Workspace::with_demo(800);
    workspace
        .line(
            "groups --model demo/model --data demo/people.csv --sex sex --race-ethnicity origin \
             --resamples 20 --out first/run",
        )
        .exits(0);
    workspace.copy_folder("first/run", "second/run");
    let runs = "report first/run second/run demo";
    for format in ["html", "markdown", "model-card", "ai-act"] {
        let text = match format {
            "ai-act" => {
                let line = format!("{runs} --format ai-act --out annex.md");
                workspace.line(&line).exits(0);
                workspace.read("annex.md")
            }
            _ => {
                workspace
                    .line(&format!("{runs} --format {format}"))
                    .exits(0)
                    .stdout
            }
        };
        let text = text.replace('\\', "");
        for name in ["first/run", "second/run", "demo/audit"] {
            assert!(text.contains(name), "{name} in {format}");
        }
    }
    let bom = workspace
        .line(&format!("{runs} --format cyclonedx"))
        .exits(0)
        .json();
    let model = &bom["components"][0];
    let names = |list: &Value, key: &str| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|one| one[key].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let mut properties = names(&model["properties"], "name");
    for run in ["first/run", "second/run", "demo/audit"] {
        assert!(
            properties.contains(&format!("probity:{run}:summary-sha256")),
            "{properties:?}"
        );
    }
    let all = properties.len();
    properties.sort();
    properties.dedup();
    assert_eq!(properties.len(), all);
    // A figure of one run alone does not name it; one of two does; and no two are alike.
    let metrics = &model["modelCard"]["quantitativeAnalysis"]["performanceMetrics"];
    let slices = names(metrics, "slice")
        .into_iter()
        .zip(names(metrics, "type"));
    let mut slices: Vec<(String, String)> = slices.collect();
    for run in ["first", "second"] {
        let of_run = |slice: &String| slice.ends_with(&format!(" in the run {run}/run"));
        assert!(slices.iter().any(|(slice, _)| of_run(slice)), "{slices:?}");
    }
    assert!(
        !slices.iter().any(|(slice, _)| slice.contains("demo/audit")),
        "{slices:?}"
    );
    let all = slices.len();
    slices.sort();
    slices.dedup();
    assert_eq!(slices.len(), all);
    // Whatever stands in the summary as a share stands here in the same digits.
    let summary = workspace.read("first/run/summary.json");
    let values = metrics
        .as_array()
        .unwrap()
        .iter()
        .map(|metric| &metric["value"]);
    let values = values
        .map(|value| value.as_str().unwrap())
        .filter(|value| value.len() > 17);
    let exact = values.filter(|value| summary.contains(*value)).count();
    assert!(exact > 8, "{exact} of {metrics:?}");
    workspace
        .line("report first/run second/run --format ll144 --out both.csv")
        .exits(0);
    let mut table = csv::Reader::from_path(workspace.path("both.csv")).unwrap();
    let lines: Vec<csv::StringRecord> = table.records().map(|line| line.unwrap()).collect();
    let (one, other) = lines.split_at(lines.len() / 2);
    for (one, other) in one.iter().zip(other) {
        assert_eq!((&one[0], &other[0]), ("first/run", "second/run"));
        assert!(one.iter().skip(1).eq(other.iter().skip(1)));
    }
}

/// A table whose words are formulas to a spreadsheet, and a model of it.
fn with_formulas() -> Workspace {
    let workspace = Workspace::new();
    let (mut table, groups) = (String::from("n,group,sign,good\n"), ["=cmd()", "'+7", "-"]);
    for row in 0..600 {
        let (group, sign) = (groups[row % 3], ["+1", "@x"][row / 3 % 2]);
        let good = if row % 10 + 4 * (row % 3) > 8 {
            "=yes"
        } else {
            "-no"
        };
        table.push_str(&format!("{},{group},{sign},{good}\n", row % 10));
    }
    workspace.write("table.csv", table);
    let levels = format!("{groups:?}");
    workspace.write(
        "table.toml",
        format!(
            "name = \"table\"\n[label]\nname = \"good\"\nclasses = [\"-no\", \"=yes\"]\n\
             [[attribute]]\nname = \"n\"\nkind = \"integer\"\nmin = 0\nmax = 9\n\
             [[attribute]]\nname = \"group\"\nkind = \"categorical\"\nlevels = {levels}\nprotected = true\n\
             [[attribute]]\nname = \"sign\"\nkind = \"categorical\"\nlevels = [\"+1\", \"@x\"]\n"
        ),
    );
    workspace
        .line("train --data table.csv --schema table.toml --hidden 8 --epochs 20 --out model -q")
        .exits(0);
    workspace
}

/// That no cell of a file is a formula; how many begin with an apostrophe.
fn made_safe(workspace: &Workspace, file: &str) -> usize {
    let mut table = csv::Reader::from_path(workspace.path(file)).unwrap();
    let mut quoted = 0;
    for record in table.records() {
        for cell in &record.unwrap() {
            let is_formula = cell.starts_with(['=', '+', '-', '@']);
            assert!(
                !is_formula || cell == "-" || cell.parse::<f64>().is_ok(),
                "{file}: {cell}"
            );
            quoted += usize::from(cell.starts_with('\''));
        }
    }
    quoted
}

#[test]
fn no_cell_is_a_formula_and_our_own_files_are_read_as_they_were() {
    let workspace = with_formulas();
    let audit = "audit --model model --data table.csv --seeds 100 --local 20 --estimate 200 -q";
    for form in ["csv", "parquet"] {
        let line = format!("{audit} --samples {form} --out {form}");
        workspace.line(&line).exits(0);
    }
    assert!(made_safe(&workspace, "csv/samples.csv") > 10);
    let [csv, parquet] = ["csv", "parquet"].map(|run| {
        let verified = workspace
            .line(&format!("verify {run} --json"))
            .exits(0)
            .json();
        assert_eq!(verified["rejected"], 0, "{verified}");
        assert!(verified["confirmed"].as_u64().unwrap() > 10, "{verified}");
        let report = workspace
            .line(&format!("report {run} --format json"))
            .exits(0)
            .json();
        report["runs"][0]["findings"]["pairs"].clone()
    });
    // What is shown of the pairs is the same, whatever the form of their file.
    assert_eq!(csv, parquet);
    assert!(csv.to_string().contains("\"=cmd()\"") && csv.to_string().contains("\"'+7\""));
    workspace
        .line("predict --model model --data table.csv --out predicted.csv -q")
        .exits(0);
    assert_eq!(made_safe(&workspace, "predicted.csv"), 600);
    workspace
        .line("certify --model model --data table.csv --exhaustive --out proofs -q")
        .exits(0);
    made_safe(&workspace, "proofs/certificates.csv");
    let line = "groups --model model --data table.csv --sex group --race-ethnicity sign --favourable =yes \
                --tool =HYPERLINK(1) --resamples 20 --min-group 1 --out groups -q";
    workspace.line(line).exits(0);
    workspace
        .line("report groups --format ll144 --out groups.csv")
        .exits(0);
    assert!(made_safe(&workspace, "groups.csv") > 10);
    assert!(workspace.read("groups.csv").contains(",'=HYPERLINK(1),"));
    // Neighbours of poisoned rows, whose labels are such words.
    let knn = "knn --train table.csv --test table.csv --schema table.toml --poison 2 --max-k 3 --folds 3 \
               --verdicts csv --out knn -q";
    let code = workspace.line(knn).code;
    assert!(code == Some(0) || code == Some(1), "{code:?}");
    assert!(made_safe(&workspace, "knn/verdicts.csv") >= 600);
    workspace.line("verify knn").exits(0);
    workspace.line("report knn --format json").exits(0);
}

const VALID_CROISSANT: &str = "
import sys, mlcroissant
for file in ('audit.json', 'groups.json'):
    data = mlcroissant.Dataset(jsonld=file)
    rai = data.metadata.data_biases, data.metadata.data_limitations
    if data.metadata.ctx.issues.errors or not all(rai):
        sys.exit(f'{file}: {data.metadata.ctx.issues.report()} {rai}')
    print(len(rai[0]), len(rai[1]), data.metadata.distribution[0].sha256)
";

#[test]
fn data_are_described_as_croissant() {
    let workspace = with_runs();
    for (run, file) in [("demo", "audit.json"), ("groups", "groups.json")] {
        let line = format!("report {run} --format croissant --out {file}");
        workspace.line(&line).exits(0);
    }
    // Of a compressed file the type is that of its bytes.
    let people = fs::read(workspace.path("demo/people.csv")).unwrap();
    let mut packed = Vec::new();
    let name = std::path::Path::new("people.csv.xz");
    probity::data::compressed::write_as(name, &mut packed, |out| out.write_all(&people)).unwrap();
    workspace.write("people.csv.xz", packed);
    let line = "groups --model demo/model --data people.csv.xz --resamples 20 --out packed";
    workspace.line(line).exits(0);
    for (run, expected) in [("groups", "text/csv"), ("packed", "application/x-xz")] {
        let line = format!("report {run} --format croissant");
        let described = workspace.line(&line).exits(0).json();
        assert_eq!(described["distribution"][0]["encodingFormat"], expected);
    }
    let described = workspace.json("groups.json");
    let summary = workspace.json("groups/summary.json");
    assert_eq!(
        described["distribution"][0]["sha256"],
        summary["data_sha256"]
    );
    assert_eq!(
        described["rai:personalSensitiveInformation"],
        serde_json::json!(["sex", "age"])
    );
    let biases = described["rai:dataBiases"].to_string();
    let rows = summary["sets"][0]["groups"][0]["rows"].as_u64().unwrap();
    assert!(
        biases.contains(&format!(
            "sex = {}: {rows} of",
            summary["sets"][0]["groups"][0]["values"][0]
                .as_str()
                .unwrap()
        )),
        "{biases}"
    );
    refuses(
        &workspace,
        "report demo groups --format croissant",
        2,
        &["the format croissant is made of one run, not of 2"],
    );
    refuses(
        &workspace,
        "report proofs --format croissant",
        2,
        &["the format croissant is made of a run of audit or groups"],
    );
    if let Some((is_valid, said, problems)) = python(&workspace, "mlcroissant", VALID_CROISSANT) {
        assert!(is_valid, "{problems}");
        assert!(
            said.contains(summary["data_sha256"].as_str().unwrap()),
            "{said}"
        );
    }
}

#[test]
fn a_page_is_printed_by_a_browser_that_loads_nothing() {
    let workspace = Workspace::with_demo(400);
    // A browser that is not there, and one that does nothing.
    let named = |browser: &str, out: &str| {
        let line = format!("report demo --format pdf --out {out}");
        let mut command = workspace.prepared(&line);
        command.env("PROBITY_CHROMIUM", browser).output().unwrap()
    };
    let absent = named("/nowhere/chromium", "absent.pdf");
    let said = String::from_utf8_lossy(&absent.stderr).into_owned();
    assert_eq!(absent.status.code(), Some(2), "{said}");
    assert!(
        said.contains("/nowhere/chromium cannot be started"),
        "{said}"
    );
    let idle = named("/bin/true", "idle.pdf");
    let said = String::from_utf8_lossy(&idle.stderr).into_owned();
    assert!(said.contains("/bin/true printed no PDF"), "{said}");
    assert!(!workspace.path("idle.pdf").exists() && !workspace.path("absent.pdf").exists());
    let mut command = workspace.prepared("report demo --format pdf --out none.pdf");
    let none = command
        .env_remove("PROBITY_CHROMIUM")
        .env("PATH", "/nowhere");
    let said = String::from_utf8_lossy(&none.output().unwrap().stderr).into_owned();
    assert!(
        said.contains("no Chromium or Chrome on the search path"),
        "{said}"
    );

    let printed = workspace.line("report demo --format pdf --out demo.pdf");
    if printed
        .stderr
        .contains("no Chromium or Chrome on the search path")
    {
        return skip(Needed::Browser, "no Chromium");
    }
    printed.exits(0);
    let pdf = fs::read(workspace.path("demo.pdf")).unwrap();
    assert!(
        pdf.starts_with(b"%PDF-") && pdf.len() > 20_000,
        "{}",
        pdf.len()
    );
    let pages = String::from_utf8_lossy(&pdf)
        .matches("/Type /Page\n")
        .count();
    assert!(pages > 1, "{pages}");
}
