//! The specification that a process of a job runs, with paths in place of identifiers.

use std::path::PathBuf;

use super::asked::Asked;
use super::kind::{RunSpecification, whichever};
use super::specification::JobSpecification;
use crate::identifier::Id;
use crate::places::Places;
use crate::store::{DataSet, Model};
use probity_run::specification::file::to_toml;
use probity_run::specification::{FieldError, Limits, Specification};

/// The things that a job reads, besides runs.
#[derive(Debug, Clone)]
pub struct Things {
    /// The data set that the job is about.
    pub data: DataSet,
    /// The data set of what the people in the data would have been.
    pub counterfactuals: Option<DataSet>,
    /// The model.
    pub model: Option<Model>,
}

/// The paths of the files that a job reads, as seen from its run directory: so a run names them
/// alike on every machine.
#[derive(Debug, Clone)]
pub struct Files {
    pub(super) data: PathBuf,
    pub(super) schema: PathBuf,
    pub(super) counterfactuals: Option<PathBuf>,
    pub(super) model: PathBuf,
    pub(super) runs: Vec<PathBuf>,
}

/// A specification of a run with paths, which a process of a job can begin with.
#[derive(Debug, Clone, PartialEq)]
pub struct FileSpecification(RunSpecification);

impl JobSpecification {
    /// Makes the specification with the paths of `files` in place of identifiers, which the command
    /// runs.
    pub fn of_files(&self, files: &Files) -> FileSpecification {
        let mut asked = self.asked.clone();
        whichever!(&mut asked, one => one.locate(files));
        FileSpecification(asked)
    }
}

impl Files {
    /// The paths of the files of `things` and of the runs `runs` in `places`.
    pub fn new(places: &Places, things: &Things, runs: &[Id]) -> Files {
        let seen = |path: PathBuf| places.seen_from_run(&path);
        let file_of = |data: &DataSet| seen(places.file_of(data));
        let model = things.model.as_ref();
        Files {
            data: file_of(&things.data),
            schema: seen(places.schema(&things.data.id)),
            counterfactuals: things.counterfactuals.as_ref().map(file_of),
            model: model.map_or_else(PathBuf::new, |model| seen(places.model(model))),
            runs: runs.iter().map(|id| seen(places.run(id))).collect(),
        }
    }
}

impl FileSpecification {
    /// Refuses a specification outside the bounds of its type or of `limits`.
    pub fn check(&self, limits: &Limits) -> Result<(), FieldError> {
        fn checked<S: Specification>(asked: &S, limits: &Limits) -> Result<(), FieldError> {
            limits.check(&*asked.clone().check()?)
        }
        whichever!(&self.0, one => checked(&**one, limits)?);
        // A value that has no form in TOML cannot be passed to a process.
        self.to_toml().map(drop).map_err(|problem| {
            let expected = format!("one that TOML can say: {problem}");
            FieldError::new(
                "the specification",
                "none that a process can read",
                expected,
            )
        })
    }

    /// Writes the specification as a file that the command runs.
    /// Fails when a value has no form in TOML.
    pub fn to_toml(&self) -> Result<String, String> {
        let text = whichever!(&self.0, one => to_toml(&**one, None));
        text.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ID: &str = "0123456789abcdef";

    #[test]
    fn a_process_gets_paths_and_the_bounds_are_those_of_the_type() {
        let files = Files {
            data: "/d/data.csv".into(),
            schema: "/d/schema.toml".into(),
            counterfactuals: None,
            model: "/m".into(),
            runs: vec!["/r/1".into()],
        };
        let limits = Limits::new().at_most("training.epochs", 10.0);
        let asked = json!({ "kind": "train", "modality": "table", "data": ID });
        let train = JobSpecification::try_from(asked).unwrap();
        let toml = train.of_files(&files).to_toml().unwrap();
        for line in [
            "kind = \"train\"",
            "data = \"/d/data.csv\"",
            "schema = \"/d/schema.toml\"",
        ] {
            assert!(toml.contains(line), "{toml}");
        }
        assert_eq!(train.of_files(&files).check(&limits), Ok(()));
        let asked = json!({ "kind": "situations", "data": ID, "model": ID, "protected": ["sex"] });
        let situations = JobSpecification::try_from(asked).unwrap().of_files(&files);
        let toml = situations.to_toml().unwrap();
        for line in ["model = \"/m\"", "schema = \"/d/schema.toml\""] {
            assert!(toml.contains(line), "{toml}");
        }
        assert!(!toml.contains("counterfactuals"), "{toml}");
        assert_eq!(situations.check(&limits), Ok(()));
        for (more, field) in [
            (json!({ "epochs": 0 }), "training.epochs"),
            (json!({ "epochs": 11 }), "training.epochs"),
            (json!({ "test": 2.0 }), "training.test"),
        ] {
            let asked = json!({
                "kind": "train", "modality": "table", "data": ID, "training": more
            });
            let train = JobSpecification::try_from(asked).unwrap();
            let refused = train.of_files(&files).check(&limits).unwrap_err();
            assert_eq!(refused.field, field);
        }
    }
}
