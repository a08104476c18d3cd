//! What earlier versions wrote is read: the directories of runs and models that `scripts/keep-runs.sh` kept of
//! each release, as `docs/stability.md` promises.

use std::fs;
use std::path::{Path, PathBuf};

use crate::probity_command::Workspace;
use crate::seal_command::write_key;

/// The folders of the releases that were kept, by version.
fn releases() -> Vec<PathBuf> {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/releases");
    let mut folders: Vec<PathBuf> = fs::read_dir(kept)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    folders
}

/// Copies all of `folder` to `to`.
fn copy(folder: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}

/// A workspace with all of the release in `folder`, and its runs. They name their files by absolute paths:
/// those of the folder in which they were made become those of the workspace.
fn workspace_with(folder: &Path) -> (Workspace, Vec<String>) {
    let workspace = Workspace::new();
    copy(folder, &workspace.path(""));
    let runs = fs::read_dir(workspace.path("runs")).unwrap();
    let names = runs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut runs: Vec<String> = names.map(|name| format!("runs/{name}")).collect();
    runs.extend(["model", "text-model"].map(str::to_owned));
    runs.sort();
    let version = folder.file_name().unwrap().to_str().unwrap();
    let (made, here) = (format!("/tmp/probity-{version}/"), workspace.path(""));
    for run in &runs {
        let file = format!("{run}/run.toml");
        let text = workspace.read(&file);
        assert!(text.contains(&made), "{text}");
        workspace.write(&file, text.replace(&made, here.to_str().unwrap()));
        workspace.seal_run(run);
    }
    (workspace, runs)
}

#[test]
fn runs_of_earlier_versions_are_reported_compared_and_sealed() {
    for folder in releases() {
        let (workspace, runs) = workspace_with(&folder);
        assert!(runs.len() >= 19, "{}: {runs:?}", folder.display());
        write_key(&workspace, "auditor", 1);
        let mut all = String::new();
        for run in &runs {
            // What a summary says, a report of today says as well: first of all what kind of run it was.
            let summary = workspace.json(&format!("{run}/summary.json"));
            let report = workspace
                .line(&format!("report {run} --format json"))
                .exits(0)
                .json();
            assert_eq!(report["runs"][0]["command"], summary["command"], "{run}");
            workspace
                .line(&format!("seal {run} --key auditor.pem"))
                .exits(0);
            all += &format!(" {run}");
        }
        workspace
            .line(&format!("report{all} --out all.html"))
            .exits(0);
    }
}

#[test]
fn what_earlier_versions_found_is_verified() {
    for folder in releases() {
        let (workspace, _) = workspace_with(&folder);
        for run in ["audit", "audit-of-texts", "prove", "knn"] {
            workspace.line(&format!("verify runs/{run}")).exits(0);
        }
    }
}

#[test]
fn models_of_earlier_versions_decide_as_they_did() {
    for folder in releases() {
        let (workspace, _) = workspace_with(&folder);
        workspace
            .line("predict --model model --data people.csv --out now.csv")
            .exits(0);
        // Another processor may round otherwise in the last digits of what is not the class.
        let classes = |file: &str| -> Vec<Vec<String>> {
            let text = workspace.read(file);
            let cells = |line: &str| line.split(',').take(2).map(str::to_owned).collect();
            text.lines().map(cells).collect()
        };
        assert!(classes("now.csv").len() > 300);
        assert_eq!(classes("now.csv"), classes("predictions.csv"));
        workspace
            .line("predict --model text-model --texts comments.csv --text-column comment_text --out texts.csv")
            .exits(0);
        for model in [
            "kmeans delete --model clusters",
            "spn delete --model density",
        ] {
            workspace.line(&format!("{model} --ids 7")).exits(0);
        }
        // A repair reads the audit that it learns from, and how the model came about.
        let repair = "repair --model model --data people.csv --run runs/audit --share 0.1 --repeats 1 --estimate 100 \
                      --epochs 1 --save-anyway --out again";
        let repaired = workspace.line(repair);
        assert!(matches!(repaired.code, Some(0 | 1)), "{repaired:#?}");
    }
}
