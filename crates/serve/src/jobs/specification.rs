//! The specification of a job: that of a run, whose files are things of the service.
//!
//! The body of a request is the specification that the command runs, with `kind` beside its fields.
//! Where it names a file that a run reads, the service's form names a data set, a model or a job by
//! its identifier; [`FileSpecification`](super::files::FileSpecification) puts the paths in. Where a
//! word may stand for a file, such as `shipped` for word vectors, only such words are taken. Fields
//! that would have the service open other files or start programs are refused.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::openapi::{Object, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::asked::{Asked, Reads};
pub use super::kind::JobKind;
use super::kind::{RunSpecification, of_kind, whichever};
use crate::identifier::Id;
use probity_fairness::repair::RepairSpecification;
use probity_fairness::specification::AuditSpecification;
use probity_indirect::people::Sources;
use probity_nn::modality::ModalityName;
use probity_nn::train::TrainSpecification;
use probity_run::specification::{Choice, Field, FieldError, FieldKind, Specification, dotted};

/// The fields that hold identifiers of the service.
pub(super) const IDENTIFIERS: [&str; 4] = ["data", "counterfactuals", "model", "runs"];

/// Fields and tables that name files or programs although they are no paths.
pub(super) const REFUSED: [&str; 2] = ["predictor", "schema"];

/// A specification that names the data set, the model and the jobs by identifiers in place of
/// paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct JobSpecification {
    pub(super) asked: RunSpecification,
    reads: Reads,
}

/// The fields that a specification of `kind` can have here; those for which a word may stand for a
/// file are choices of such words.
pub fn fields(kind: JobKind) -> Vec<Field> {
    let mut fields = of_kind!(kind, S => S::fields());
    fields.retain(|field| !is_refused(field));
    for field in fields.iter_mut().filter(|field| is_named(field)) {
        let names = field.names.iter().cloned();
        let choice = |word| Choice {
            word,
            help: String::new(),
        };
        field.kind = FieldKind::Choice(names.map(choice).collect());
    }
    fields
}

/// Whether a field holds a path for which words may stand that name no file.
fn is_named(field: &Field) -> bool {
    field.kind == FieldKind::Path && !field.names.is_empty()
}

/// The fields of `S` that take only words which name no file, and these words.
pub(super) fn named<S: Specification>() -> impl Iterator<Item = Field> {
    let fields = S::fields().into_iter();
    fields.filter(|field| is_named(field) && !is_refused(field))
}

/// Whether a field would have the service open files of its machine or start programs.
fn is_refused(field: &Field) -> bool {
    let is_within = |table: &&str| {
        let rest = field.path.strip_prefix(*table);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let names_files = field.is_path() && !is_named(field);
    (names_files && !IDENTIFIERS.contains(&field.path.as_str())) || REFUSED.iter().any(is_within)
}

/// The paths of the fields of `S` that are refused.
pub(super) fn refused<S: Specification>() -> impl Iterator<Item = String> {
    let fields = S::fields().into_iter();
    fields.filter(is_refused).map(|field| field.path)
}

/// The value at the dotted `path`, unless it is null.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    dotted::get(value, path).filter(|value| !value.is_null())
}

impl JobSpecification {
    /// The kind of the job.
    pub fn kind(&self) -> JobKind {
        self.asked.kind()
    }

    /// The kind of the data, which is also what the model classifies.
    pub fn modality(&self) -> ModalityName {
        whichever!(&self.asked, one => one.modality())
    }

    /// The data set that the job is about.
    pub fn data(&self) -> &Id {
        &self.reads.data
    }

    /// The data set of what the people in the data would have been, if the job reads one.
    pub fn counterfactuals(&self) -> Option<&Id> {
        self.reads.counterfactuals.as_ref()
    }

    /// All data sets that the job reads.
    pub fn data_sets(&self) -> impl Iterator<Item = &Id> {
        [self.data()].into_iter().chain(self.counterfactuals())
    }

    /// The model that the job reads, if it reads one.
    pub fn model(&self) -> Option<&Id> {
        self.reads.model.as_ref()
    }

    /// The jobs whose runs the job reads.
    pub fn runs(&self) -> &[Id] {
        &self.reads.runs
    }

    /// Whether the job reads the schema of its data set.
    pub fn reads_schema(&self) -> bool {
        whichever!(&self.asked, one => one.reads_schema())
    }

    /// What names people and the decisions about them, where the job compares people.
    pub fn people(&self) -> Option<Sources<'_>> {
        whichever!(&self.asked, one => one.people())
    }

    /// The largest acceptable share, where the job declares one.
    pub fn fail_above(&self) -> Option<f64> {
        whichever!(&self.asked, one => one.fail_above())
    }

    /// The name of the file in the run directory that lists all that was found, where there is one.
    pub fn listing(&self) -> Option<&'static str> {
        whichever!(&self.asked, one => one.listing())
    }

    /// The specification as a training, if it is one.
    pub fn as_train(&self) -> Option<&TrainSpecification> {
        match &self.asked {
            RunSpecification::Train(train) => Some(train),
            _ => None,
        }
    }

    /// The specification as an audit, if it is one.
    pub fn as_audit(&self) -> Option<&AuditSpecification> {
        match &self.asked {
            RunSpecification::Audit(audit) => Some(audit),
            _ => None,
        }
    }

    /// The specification as a repair, if it is one.
    pub fn as_repair(&self) -> Option<&RepairSpecification> {
        match &self.asked {
            RunSpecification::Repair(repair) => Some(repair),
            _ => None,
        }
    }
}

/// Reads a specification of the type `S` from JSON; it must name no file of the machine.
fn read<S: Specification>(value: Value) -> Result<S, FieldError> {
    if let Some(field) = refused::<S>().find(|field| at(&value, field).is_some()) {
        let expected = "left out: the service reads its own files and starts no program";
        return Err(FieldError::new(field, "given", expected));
    }
    for field in named::<S>() {
        let given = at(&value, &field.path).and_then(Value::as_str);
        // An empty path is none.
        if let Some(given) = given.filter(|given| !given.is_empty())
            && !field.names.iter().any(|name| name == given)
        {
            let expected = format!(
                "{}: the service reads its own files and starts no program",
                field.names.join(" or ")
            );
            let given = format!("'{}'", given.escape_debug());
            return Err(FieldError::new(field.path, given, expected));
        }
    }
    S::from_json(&value)
}

impl TryFrom<Value> for JobSpecification {
    type Error = FieldError;

    fn try_from(mut value: Value) -> Result<JobSpecification, FieldError> {
        let kind = value.as_object_mut().and_then(|map| map.remove("kind"));
        let kind = kind.ok_or_else(|| FieldError::new("kind", "missing", JobKind::names()))?;
        let Some(kind) = kind.as_str().and_then(JobKind::called) else {
            return Err(FieldError::new("kind", kind, JobKind::names()));
        };
        let asked = of_kind!(kind, S => RunSpecification::from(read::<S>(value)?));
        let reads = whichever!(&asked, one => one.reads()?);
        Ok(JobSpecification { asked, reads })
    }
}

impl From<JobSpecification> for Value {
    fn from(specification: JobSpecification) -> Value {
        fn written<S: Specification>(asked: &S) -> Value {
            // A specification that was read from JSON has a form in it.
            let mut value = serde_json::to_value(asked).unwrap_or_default();
            for path in refused::<S>().chain(REFUSED.map(str::to_owned)) {
                dotted::remove(&mut value, &path);
            }
            if let Some(map) = value.as_object_mut() {
                map.insert("kind".to_owned(), S::KIND.into());
            }
            value
        }
        whichever!(&specification.asked, one => written(&**one))
    }
}

impl PartialSchema for JobSpecification {
    /// A stand-in for [`super::schema::schema`], which the document gets instead.
    fn schema() -> RefOr<Schema> {
        Object::new().into()
    }
}

impl ToSchema for JobSpecification {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("JobSpecification")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ID: &str = "0123456789abcdef";

    fn read_job(kind: &str, more: Value) -> Result<JobSpecification, FieldError> {
        let mut value = json!({ "kind": kind, "data": ID });
        if kind != "train" {
            value["model"] = ID.into();
        }
        let Value::Object(more) = more else {
            panic!("no object: {more}")
        };
        value.as_object_mut().unwrap().extend(more);
        JobSpecification::try_from(value)
    }

    #[test]
    fn a_specification_is_written_as_it_is_read() {
        for (kind, more) in [
            (
                "train",
                json!({ "modality": "table", "training": { "epochs": 3 } }),
            ),
            (
                "audit",
                json!({ "modality": "text", "search": { "seeds": 7 } }),
            ),
            ("repair", json!({ "modality": "table", "runs": [ID] })),
            (
                "counterparts",
                json!({ "protected": ["sex=female"], "counterfactuals": ID, "fail_above": 0.1 }),
            ),
            (
                "situations",
                json!({ "model": "", "label": true, "k": 8, "weights": ["age=2"] }),
            ),
            ("proxies", json!({ "columns": ["age"] })),
            ("proxies", json!({ "model": "" })),
        ] {
            let specification = read_job(kind, more).unwrap();
            assert_eq!(specification.kind().name(), kind);
            let is_of_people = !["train", "audit", "repair"].contains(&kind);
            assert_eq!(specification.people().is_some(), is_of_people);
            let written = Value::from(specification.clone());
            assert_eq!(JobSpecification::try_from(written), Ok(specification));
        }
    }

    #[test]
    fn programs_and_files_cannot_be_named() {
        for (kind, more, field) in [
            (
                "audit",
                json!({ "predictor": { "source": "command:id", "schema": "x" } }),
                "predictor.",
            ),
            (
                "audit",
                json!({ "text": { "lexicon": "/etc/passwd" } }),
                "text.lexicon",
            ),
            (
                "audit",
                json!({ "text": { "encoder": "/etc/passwd" } }),
                "text.encoder",
            ),
            (
                "audit",
                json!({ "text": { "fluency_model": "/etc" } }),
                "text.fluency_model",
            ),
            ("audit", json!({ "model": "../../etc" }), "model"),
            ("audit", json!({ "data": "/etc/passwd" }), "data"),
            (
                "train",
                json!({ "modality": "table", "schema": "/etc/passwd" }),
                "schema",
            ),
            (
                "train",
                json!({ "modality": "text", "recurrent": { "embeddings": "/x" } }),
                "recurrent.embeddings",
            ),
            ("repair", json!({ "runs": ["/x"] }), "runs"),
            (
                "repair",
                json!({ "text": { "lexicon": "/x" } }),
                "text.lexicon",
            ),
            ("audit", json!({ "out": "/x" }), "out"),
            (
                "counterparts",
                json!({ "predictor": { "source": "command:id", "schema": "x" } }),
                "predictor.",
            ),
            ("counterparts", json!({ "schema": "/etc/passwd" }), "schema"),
            ("situations", json!({ "schema": "census" }), "schema"),
            ("proxies", json!({ "schema": "/etc/passwd" }), "schema"),
            (
                "counterparts",
                json!({ "counterfactuals": "/etc/passwd" }),
                "counterfactuals",
            ),
            ("situations", json!({ "model": "/x" }), "model"),
            ("situations", json!({ "model": "" }), "model"),
            ("proxies", json!({ "data": "/x" }), "data"),
            (
                "proxies",
                json!({ "counterfactuals": ID }),
                "counterfactuals",
            ),
            ("format-disk", json!({}), "kind"),
        ] {
            let refused = read_job(kind, more).unwrap_err();
            let said = refused.to_string();
            assert!(
                refused.field.starts_with(field) || said.contains(field),
                "{said}"
            );
        }
    }
}
