//! What the service asks of a specification, whatever its kind: which things of the service it
//! names, and where it has their paths.

use std::path::{Path, PathBuf};

use super::files::Files;
use super::kind::RunSpecification;
use crate::identifier::Id;
use probity_fairness::repair::RepairSpecification;
use probity_fairness::specification::AuditSpecification;
use probity_indirect::counterparts::{self, specification::CounterpartsSpecification};
use probity_indirect::people::Sources;
use probity_indirect::proxies::specification::ProxiesSpecification;
use probity_indirect::situations::{self, specification::SituationsSpecification};
use probity_nn::modality::ModalityName;
use probity_nn::train::TrainSpecification;
use probity_run::runner::RunKind;
use probity_run::specification::FieldError;

/// The identifiers of the things that a job reads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reads {
    pub data: Id,
    pub counterfactuals: Option<Id>,
    pub model: Option<Id>,
    pub runs: Vec<Id>,
}

impl Reads {
    /// Reads the identifier of the data, for a job that reads nothing else.
    fn of_data(data: &Path) -> Result<Reads, FieldError> {
        Ok(Reads {
            data: id("data", data)?,
            counterfactuals: None,
            model: None,
            runs: Vec::new(),
        })
    }

    /// Reads the identifiers of the data and the model of a comparison of people; without a model
    /// the outcomes in the data must be asked for.
    fn of_people(
        sources: &Sources<'_>,
        counterfactuals: Option<&Path>,
    ) -> Result<Reads, FieldError> {
        let has_model = !sources.model.as_os_str().is_empty();
        if !has_model && !sources.label {
            let expected =
                "an identifier of this service; or give label, for the outcomes in the data";
            return Err(FieldError::new("model", "missing", expected));
        }
        let counterfactuals = counterfactuals.map(|data| id("counterfactuals", data));
        let model = has_model.then(|| id("model", sources.model));
        Ok(Reads {
            counterfactuals: counterfactuals.transpose()?,
            model: model.transpose()?,
            ..Reads::of_data(sources.data)?
        })
    }
}

/// Reads the identifier that `field` holds in place of a path.
fn id(field: &str, path: &Path) -> Result<Id, FieldError> {
    let text = path.to_string_lossy();
    let value = match text.as_ref() {
        "" => "missing".to_owned(),
        text => format!("'{}'", text.escape_debug()),
    };
    text.parse()
        .map_err(|_| FieldError::new(field, value, "an identifier of this service"))
}

/// A specification that the service runs.
pub(super) trait Asked: RunKind + Into<RunSpecification> {
    /// What a job of this kind does, in a word or two that begin a sentence.
    const TITLE: &'static str;

    /// Whether a specification of this kind that can name a model must name one.
    const NEEDS_MODEL: bool = true;

    /// The kind of the data, which is also what the model classifies.
    fn modality(&self) -> ModalityName {
        ModalityName::Table
    }

    /// Reads the identifiers that stand in the fields for paths.
    fn reads(&self) -> Result<Reads, FieldError>;

    /// Puts the paths of `files` into these fields.
    fn locate(&mut self, files: &Files);

    /// Whether the run reads the schema of the data set.
    fn reads_schema(&self) -> bool {
        self.people().is_some()
    }

    /// What names people and the decisions about them, where people are compared.
    fn people(&self) -> Option<Sources<'_>> {
        None
    }

    /// The largest acceptable share, where one is declared.
    fn fail_above(&self) -> Option<f64> {
        None
    }

    /// The name of the file in the run directory that lists all that was found, where there is one.
    fn listing(&self) -> Option<&'static str> {
        None
    }
}

/// The schema of a data set as specifications name it.
fn named(schema: &Path) -> Option<String> {
    Some(schema.display().to_string())
}

impl Asked for TrainSpecification {
    const TITLE: &'static str = "Training";

    fn modality(&self) -> ModalityName {
        self.modality
    }

    fn reads(&self) -> Result<Reads, FieldError> {
        Reads::of_data(&self.data)
    }

    fn locate(&mut self, files: &Files) {
        self.data.clone_from(&files.data);
        if self.reads_schema() {
            self.schema = named(&files.schema);
        }
    }

    fn reads_schema(&self) -> bool {
        self.modality == ModalityName::Table
    }
}

impl Asked for AuditSpecification {
    const TITLE: &'static str = "Audit";

    fn modality(&self) -> ModalityName {
        self.modality
    }

    fn reads(&self) -> Result<Reads, FieldError> {
        let model = self.model.as_deref().unwrap_or(Path::new(""));
        Ok(Reads {
            model: Some(id("model", model)?),
            ..Reads::of_data(&self.data)?
        })
    }

    fn locate(&mut self, files: &Files) {
        self.data.clone_from(&files.data);
        self.model = Some(files.model.clone());
    }

    fn fail_above(&self) -> Option<f64> {
        self.fail_above
    }

    fn listing(&self) -> Option<&'static str> {
        Some(self.samples_format.file_name())
    }
}

impl Asked for RepairSpecification {
    const TITLE: &'static str = "Repair";

    fn modality(&self) -> ModalityName {
        self.modality
    }

    fn reads(&self) -> Result<Reads, FieldError> {
        let runs = self.runs.iter().map(|run| id("runs", run));
        Ok(Reads {
            model: Some(id("model", &self.model)?),
            runs: runs.collect::<Result<_, _>>()?,
            ..Reads::of_data(&self.data)?
        })
    }

    fn locate(&mut self, files: &Files) {
        self.data.clone_from(&files.data);
        self.model.clone_from(&files.model);
        self.runs.clone_from(&files.runs);
    }
}

/// Puts the paths of `files` into the fields that all comparisons of people have: the data, the
/// model, and the schema of the people, which is that of the data.
fn locate_people(
    files: &Files,
    (data, model, schema): (&mut PathBuf, &mut PathBuf, &mut Option<String>),
) {
    data.clone_from(&files.data);
    model.clone_from(&files.model);
    *schema = named(&files.schema);
}

/// Makes a comparison of people a job: of a specification, with a title and the file of all who are
/// compared.
macro_rules! comparison_of_people {
    ($kind:ty, $title:literal, $listing:expr) => {
        impl Asked for $kind {
            const TITLE: &'static str = $title;
            const NEEDS_MODEL: bool = false;

            fn reads(&self) -> Result<Reads, FieldError> {
                Reads::of_people(&self.sources(), self.counterfactuals.as_deref())
            }

            fn locate(&mut self, files: &Files) {
                locate_people(files, (&mut self.data, &mut self.model, &mut self.schema));
                self.counterfactuals.clone_from(&files.counterfactuals);
            }

            fn people(&self) -> Option<Sources<'_>> {
                Some(self.sources())
            }

            fn fail_above(&self) -> Option<f64> {
                self.fail_above
            }

            fn listing(&self) -> Option<&'static str> {
                Some($listing)
            }
        }
    };
}

comparison_of_people!(
    CounterpartsSpecification,
    "Counterparts",
    counterparts::LISTING
);
comparison_of_people!(
    SituationsSpecification,
    "Situation test",
    situations::LISTING
);

impl Asked for ProxiesSpecification {
    const TITLE: &'static str = "Proxies";
    const NEEDS_MODEL: bool = false;

    fn reads(&self) -> Result<Reads, FieldError> {
        Reads::of_people(&self.sources(), None)
    }

    fn locate(&mut self, files: &Files) {
        locate_people(files, (&mut self.data, &mut self.model, &mut self.schema));
    }

    fn people(&self) -> Option<Sources<'_>> {
        Some(self.sources())
    }
}
