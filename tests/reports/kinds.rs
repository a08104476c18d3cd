//! Reports know every kind of run, in the list from which the command takes them.

use std::path::Path;

use probity::report::{PageError, Report};
use probity::run::run_directory::RunDirectory;
use probity::run::runner::RunKind;
use probity::run_kinds;
use serde_json::{Value, json};

/// Kinds that leave a model, of which there is no page.
const MODELS: [&str; 2] = ["kmeans fit", "spn fit"];

/// What a report says of a run of the kind `K` in a new directory within `folder`, which has a
/// summary or none.
fn refused<K: RunKind>(folder: &Path, summary: Option<&Value>) -> PageError {
    let run = folder.join(format!("{}-{}", K::KIND, summary.is_some()));
    let directory = RunDirectory::create(&run).unwrap();
    let options = format!("kind = \"{}\"\n", K::KIND);
    directory.write_options(&options).unwrap();
    if let Some(summary) = summary {
        directory.write_summary(summary).unwrap();
    }
    Report::read(&[run]).unwrap_err()
}

fn is_known<K: RunKind>(folder: &Path) {
    let empty = json!({ "schema_version": 1, "command": K::KIND });
    let error = refused::<K>(folder, Some(&empty));
    let is_known = !matches!(error, PageError::Command { .. });
    assert_eq!(is_known, !MODELS.contains(&K::KIND), "{error}");
}

fn is_advised<K: RunKind>(folder: &Path) {
    let said = refused::<K>(folder, None).to_string();
    assert_eq!(said.contains("--resume"), K::GOES_ON, "{said}");
}

macro_rules! check_all {
    ($($kind:ty,)*) => {
        #[test]
        fn every_kind_is_known_and_told_how_it_goes_on() {
            let folder = tempfile::tempdir().unwrap();
            $(is_known::<$kind>(folder.path());)*
            $(is_advised::<$kind>(folder.path());)*
        }
    };
}

run_kinds!(check_all);
