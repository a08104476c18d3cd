//! Bounds as [SARIF 2.1.0](https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html): a
//! rule for each, a result for each that does not hold.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{BoundKind, BoundOutcome, NotDone, Verdict};
use crate::text::percent;
use probity_run::run_directory::hex;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Characters of a path that stand for themselves in a URI (RFC 3986, unreserved) beside letters
/// and digits.
const UNRESERVED: &[u8] = b"-._~";

/// The log in JSON; of the checks that were `not_done` its invocation tells.
pub fn to_sarif(bounds: &[BoundOutcome], not_done: &[NotDone]) -> Value {
    let rules: Vec<Value> = bounds.iter().map(rule).collect();
    let results = bounds.iter().enumerate();
    let results: Vec<Value> = results
        .filter(|(_, bound)| !bound.verdict.holds() || bound.worse.is_some())
        .map(|(place, bound)| result(place, bound))
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Probity",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
            "invocations": [{
                "executionSuccessful": not_done.is_empty(),
                "toolExecutionNotifications": not_done.iter().map(notification).collect::<Vec<_>>(),
            }],
        }],
    })
}

fn notification(check: &NotDone) -> Value {
    json!({ "level": "error", "message": { "text": check.to_string() } })
}

fn rule(bound: &BoundOutcome) -> Value {
    let by = bound.protected.join(" × ");
    let limit = percent(bound.bound);
    let (name, short, full) = match bound.kind {
        BoundKind::FailAbove => (
            "DiscriminatoryShare",
            format!(
                "By {by}, at most {limit} of the inputs of {} are discriminatory",
                bound.name
            ),
            "The share of inputs whose decision changes when nothing but protected attributes does. \
             It fails when the 95\u{a0}% interval is not wholly at or below the bound.",
        ),
        BoundKind::FailBelow => (
            "CertifiedShare",
            format!(
                "By {by}, at least {limit} of the inputs of {} are certified",
                bound.name
            ),
            "The share of inputs of which it is proved that no change of protected attributes changes \
             their decision. It fails below the bound.",
        ),
    };
    json!({
        "id": bound.rule(),
        "name": name,
        "shortDescription": { "text": short },
        "fullDescription": { "text": full },
        "defaultConfiguration": { "level": "error" },
    })
}

fn result(place: usize, bound: &BoundOutcome) -> Value {
    let level = match bound.verdict {
        Verdict::Exceeds | Verdict::NotApplicable => "error",
        Verdict::Inconclusive | Verdict::Within => "warning",
    };
    let mut identity = Sha256::new();
    identity.update(bound.rule());
    for name in &bound.protected {
        identity.update([0]);
        identity.update(name);
    }
    json!({
        "ruleId": bound.rule(),
        "ruleIndex": place,
        "level": level,
        "message": { "text": bound.whole_message() },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&in_repository(&bound.file)) },
            "region": { "startLine": bound.line },
        }}],
        "partialFingerprints": { "declaredBound/v1": hex(&identity.finalize()) },
        "properties": {
            "verdict": bound.verdict,
            "bound": bound.bound,
            "of": bound.of,
            "share": bound.share,
            "ci95": bound.ci95,
        },
    })
}

/// `path` from the root of the Git repository that it is in, where those who show a log look for its
/// files; as it is where it is in none.
fn in_repository(path: &Path) -> PathBuf {
    let Ok(absolute) = path.canonicalize() else {
        return path.to_owned();
    };
    let mut folders = absolute.ancestors().skip(1);
    let root = folders.find(|folder| folder.join(".git").exists());
    let within = root.and_then(|root| absolute.strip_prefix(root).ok());
    within.unwrap_or(path).to_owned()
}

/// `path` as a reference of a URI: relative where it is relative.
fn uri(path: &Path) -> String {
    let escaped = |part: &str| -> String {
        let byte = |byte: u8| match byte.is_ascii_alphanumeric() || UNRESERVED.contains(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        };
        part.bytes().map(byte).collect()
    };
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(escaped(&name.to_string_lossy())),
        Component::ParentDir => Some("..".to_owned()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    let parts: Vec<String> = parts.collect();
    match path.is_absolute() {
        true => format!("file:///{}", parts.join("/")),
        false => parts.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_repository_are_named_from_its_root() {
        let folder = tempfile::tempdir().unwrap();
        let [root, deep] = ["", "a/b"].map(|part| folder.path().join("repository").join(part));
        std::fs::create_dir_all(&deep).unwrap();
        let file = deep.join("x.toml");
        std::fs::write(&file, "").unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        assert_eq!(in_repository(&file), Path::new("a/b/x.toml"));
        let around = deep.join("../b/x.toml");
        assert_eq!(in_repository(&around), Path::new("a/b/x.toml"));
        assert_eq!(in_repository(Path::new("absent")), Path::new("absent"));
    }

    #[test]
    fn paths_are_references() {
        for (path, expected) in [
            ("./runs/a b/run.toml", "runs/a%20b/run.toml"),
            ("/tmp/ä%/x", "file:///tmp/%C3%A4%25/x"),
            ("../x", "../x"),
        ] {
            assert_eq!(uri(Path::new(path)), expected);
        }
    }
}
