//! `probity seal` and `probity verify --seal`: real chains of runs, and other implementations of
//! DSSE, in-toto and Ed25519.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::EncodePrivateKey;
use ed25519_dalek::pkcs8::spki::EncodePublicKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use probity::run::seal::{PublicKey, check};
use probity::run::stream::{Purpose, stream};
use probity_testing::{Needed, skip};
use rand::RngExt;

/// Writes the key `name.pem` and its public half `name-public.pem`.
pub fn write_key(workspace: &Workspace, name: &str, secret: u8) {
    let key = SigningKey::from_bytes(&[secret; 32]);
    let private = key.to_pkcs8_pem(LineEnding::LF).unwrap();
    workspace.write(&format!("{name}.pem"), private.as_bytes());
    let public = key.verifying_key().to_public_key_pem(LineEnding::LF);
    workspace.write(&format!("{name}-public.pem"), public.unwrap());
}

/// An audit of a network, the repair that was made from it, and an audit of what that made.
const CHAIN: [&str; 3] = ["before", "fairer", "after"];

/// Their workspace, with keys.
fn runs() -> Workspace {
    let workspace = Workspace::with_demo(1500);
    let audit = "--data demo/people.csv --seeds 40 --local 20 --estimate 200 --samples csv -q";
    for line in [
        format!("audit --model demo/model {audit} --out before"),
        "repair --model demo/model --data demo/people.csv --run before --repeats 1 --epochs 2 --estimate 200 \
         --save-anyway --out fairer -q"
            .to_owned(),
        format!("audit --model fairer {audit} --out after"),
    ] {
        let outcome = workspace.line(&line);
        assert!(matches!(outcome.code, Some(0 | 1)), "{outcome:#?}");
    }
    write_key(&workspace, "auditor", 1);
    write_key(&workspace, "other", 2);
    workspace
}

fn sealed() -> Workspace {
    let workspace = runs();
    for run in CHAIN {
        workspace
            .line(&format!("seal {run} --key auditor.pem"))
            .exits(0)
            .says(&["Seal: ", "seal.json"]);
    }
    workspace
}

const VERIFY: &str = "verify after --seal auditor-public.pem";

#[test]
fn a_chain_verifies_and_its_pairs_are_replayed() {
    let workspace = sealed();
    let pairs = workspace.summary("after")["total"]["discriminatory_rows"].clone();
    let verified = workspace.line(&format!("{VERIFY} --json")).exits(0).json();
    assert_eq!(verified["confirmed"], pairs);
    assert_eq!(verified["not_replayed"], serde_json::Value::Null);
    let runs = verified["seal"]["runs"].as_array().unwrap();
    let found: Vec<(&str, u64)> = runs
        .iter()
        .map(|run| {
            (
                run["kind"].as_str().unwrap(),
                run["files"].as_u64().unwrap(),
            )
        })
        .collect();
    let files = |run: &str| fs::read_dir(workspace.path(run)).unwrap().count() as u64 - 1;
    let expected = [
        ("audit", "after"),
        ("repair", "fairer"),
        ("audit", "before"),
    ];
    assert_eq!(found, expected.map(|(kind, run)| (kind, files(run))));
    let roles = |at: usize| -> Vec<(String, bool)> {
        let from = runs[at]["made_from"].as_array().unwrap().iter();
        from.map(|from| {
            let role = from["role"].as_str().unwrap().to_owned();
            (role, from["seal"].is_string())
        })
        .collect()
    };
    assert_eq!(roles(0), [("model".to_owned(), true)]);
    // The network of the demo is a run that nobody sealed.
    let unsealed = ("model".to_owned(), false);
    assert_eq!(roles(1), [("audit_1".to_owned(), true), unsealed.clone()]);
    assert_eq!(roles(2), [unsealed]);

    let only = workspace.line(&format!("{VERIFY} --no-replay")).exits(0);
    only.says(&[
        "Every file is as it was sealed",
        "Nothing was checked one by one",
    ]);
    // A kind of run without pairs.
    workspace
        .line("verify fairer --seal auditor-public.pem")
        .exits(0)
        .says(&["leave nothing to check"]);
    // The model of a sealed run is where that is now.
    workspace.copy_folder("fairer", "moved");
    fs::remove_dir_all(workspace.path("fairer")).unwrap();
    workspace
        .line(VERIFY)
        .exits(1)
        .says(&["fairer/seal.json is not there"]);
    workspace
        .line(&format!("{VERIFY} --from moved"))
        .exits(0)
        .says(&["0 rejected"]);
    workspace
        .line(&format!("{VERIFY} --from moved --model moved"))
        .exits(0)
        .says(&["0 rejected"]);
    // Without the model the pairs are left out, and it is said.
    fs::remove_dir_all(workspace.path("demo/model")).unwrap();
    workspace
        .line("verify before --seal auditor-public.pem")
        .exits(0)
        .says(&["there is no model in"]);
}

/// 1,000 flips in all files of the chain, by the library; some by the command.
#[test]
fn every_flipped_bit_is_refused_by_the_name_of_its_file() {
    let workspace = sealed();
    let key = PublicKey::read(&workspace.path("auditor-public.pem")).unwrap();
    let of = |run: &str| fs::read_dir(workspace.path(run)).unwrap();
    let entries = CHAIN.iter().flat_map(|run| of(run));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let after = workspace.path("after");
    for item in 0..1_000 {
        let mut draw = stream(20, Purpose::UniformInput, item, 0);
        let file = &files[draw.random_range(0..files.len())];
        let bytes = fs::read(file).unwrap();
        let mut changed = bytes.clone();
        changed[draw.random_range(0..bytes.len())] ^= 1 << draw.random_range(0..8);
        fs::write(file, changed).unwrap();
        let checked = check(&after, std::slice::from_ref(&key), &[]);
        let is_named = checked.problems.iter().any(|problem| {
            let named = fs::canonicalize(&problem.file).unwrap();
            named == fs::canonicalize(file).unwrap()
        });
        assert!(is_named, "{item} in {}: {checked:#?}", file.display());
        if item % 50 == 0 {
            let run = file.parent().and_then(Path::file_name).unwrap();
            let name = Path::new(run).join(file.file_name().unwrap());
            let name = name.to_str().unwrap();
            workspace.line(VERIFY).exits(1).says(&["Refused:", name]);
        }
        fs::write(file, bytes).unwrap();
    }
    workspace.line(VERIFY).exits(0);
}

#[test]
fn what_breaks_a_seal_is_named_and_a_sealed_run_is_not_gone_on_with() {
    let workspace = runs();
    // No run is no broken seal, and an encrypted key is said to be one.
    let seal = "verify nowhere --seal auditor-public.pem";
    refuses(&workspace, seal, 2, &["nowhere"]);
    let word = "ENCRYPTED PRIVATE KEY";
    let key = format!("-----BEGIN {word}-----\nMA==\n-----END {word}-----\n");
    workspace.write("secret.pem", key);
    let line = "seal before --key secret.pem";
    refuses(
        &workspace,
        line,
        2,
        &["secret.pem", "it is encrypted", "openssl pkey"],
    );
    workspace
        .line("audit --model demo/model --data demo/people.csv --seeds 500 --local 400 --time 1ns --out stopped -q")
        .exits(0);
    workspace
        .line("seal stopped --key auditor.pem")
        .exits(0)
        .says(&["stopped before its end: time", "made from", "not sealed"]);
    for line in ["audit --resume --out stopped", "run stopped --resume"] {
        refuses(&workspace, line, 2, &["stopped is sealed", "seal.json"]);
    }
    refuses(
        &workspace,
        "seal stopped --key auditor.pem",
        2,
        &["is sealed"],
    );
    let verify = "verify stopped --no-replay --seal";
    workspace
        .line(&format!("{verify} auditor-public.pem"))
        .exits(0);
    workspace
        .line(&format!("{verify} other-public.pem"))
        .exits(1)
        .says(&["stopped/seal.json is signed by another key"]);
    workspace
        .line(&format!(
            "{verify} other-public.pem --seal auditor-public.pem"
        ))
        .exits(0);
    workspace.write("stopped/notes.txt", "added");
    fs::remove_file(workspace.path("stopped/checkpoint.bin")).unwrap();
    workspace
        .line(&format!("{verify} auditor-public.pem"))
        .exits(1)
        .says(&[
            "stopped/notes.txt was added",
            "stopped/checkpoint.bin is not there any more",
        ]);
    // Once the seal is deleted it may go on.
    fs::remove_file(workspace.path("stopped/seal.json")).unwrap();
    workspace
        .line("verify stopped --seal auditor-public.pem")
        .exits(1)
        .says(&["not sealed"]);

    let seal = "seal after --key";
    refuses(
        &workspace,
        &format!("{seal} auditor-public.pem"),
        2,
        &["is no private key"],
    );
    refuses(
        &workspace,
        &format!("{seal} absent.pem"),
        2,
        &["absent.pem"],
    );
    refuses(
        &workspace,
        "seal demo --key auditor.pem",
        2,
        &["demo/run.toml"],
    );
    refuses(
        &workspace,
        "verify after --seal auditor.pem",
        2,
        &["is no public key"],
    );
    refuses(&workspace, "verify after --no-replay", 2, &["--seal"]);
    workspace.edit("after/run.toml", "\nseed = 1\n", "\nseed = 2\n");
    refuses(
        &workspace,
        &format!("{seal} auditor.pem"),
        2,
        &["run.toml was changed"],
    );
}

/// A text model keeps a cache of words in its directory, but not once it is sealed.
#[test]
fn audits_leave_a_sealed_text_model_as_it_is() {
    let workspace = Workspace::new();
    write_key(&workspace, "auditor", 1);
    for line in [
        "data generate comments --rows 300 --out comments.csv",
        "train --texts comments.csv --text-column comment_text --label-column toxic --cell gru --units 4 --layers 1 --epochs 1 \
         --embeddings shipped --out model -q",
        "seal model --key auditor.pem",
        "audit --model model --texts comments.csv --text-column comment_text --protected country --seeds 5 --local 3 \
         --estimate 10 --out audit -q",
    ] {
        workspace.line(line).exits(0);
    }
    assert!(!workspace.path("model/neighbours.bin").exists());
    workspace.line("seal audit --key auditor.pem").exits(0);
    let verified = workspace.line("verify audit --seal auditor-public.pem --json");
    let verified = verified.exits(0).json();
    assert_eq!(verified["seal"]["runs"].as_array().unwrap().len(), 2);
    assert_eq!(verified["rejected"], 0);
}

/// The envelope by securesystemslib, the statement by the schema of in-toto, the key's name and
/// signature by `cryptography`.
#[test]
fn other_implementations_agree() {
    let python = std::env::var("PROBITY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_them = Command::new(&python)
        .args([
            "-c",
            "import cryptography, securesystemslib, in_toto_attestation",
        ])
        .output();
    if !has_them.is_ok_and(|output| output.status.success()) {
        return skip(
            Needed::Python,
            "no cryptography, securesystemslib or in-toto-attestation",
        );
    }
    let workspace = sealed();
    workspace.write("check.py", CHECK);
    let checked = Command::new(&python)
        .args(["check.py", "after", "auditor-public.pem"])
        .current_dir(workspace.path("."))
        .output()
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

const CHECK: &str = r#"
import hashlib, json, pathlib, sys
from cryptography.hazmat.primitives import serialization
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

run = pathlib.Path(sys.argv[1])
public = serialization.load_pem_public_key(pathlib.Path(sys.argv[2]).read_bytes())
der = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
keyid = hashlib.sha256(der).hexdigest()
envelope = Envelope.from_dict(json.loads((run / "seal.json").read_text()))
key = SSlibKey.from_crypto(public, keyid=keyid)
assert list(envelope.verify([key], 1)) == [keyid]
public.verify(bytes.fromhex(envelope.signatures[keyid].signature), envelope.pae())

message = json_format.Parse(envelope.payload, statement_pb2.Statement())
Statement.copy_from_pb(message).validate()
statement = json.loads(envelope.payload)
assert statement["_type"] == "https://in-toto.io/Statement/v1"
sealed = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in run.iterdir() if file.name != "seal.json"}
assert sealed == files, (sealed, files)
predicate = statement["predicate"]
[parent] = predicate["made_from"]
seal = pathlib.Path(parent["directory"]) / "seal.json"
assert parent["seal"] == hashlib.sha256(seal.read_bytes()).hexdigest()
"#;
