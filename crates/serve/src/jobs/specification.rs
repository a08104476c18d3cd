//! The specification of a job: that of a run, whose files are things of the service.
//!
//! The body of a request is the specification that the command runs, with `kind` beside its fields.
//! Where it names a file that a run reads, the service's form names a data set, a model or a job by
//! its identifier; [`FileSpecification`](super::files::FileSpecification) puts the paths in. Where a
//! word may stand for a file, such as `shipped` for word vectors, only such words are taken. Fields
//! that would have the service open other files or start programs are refused.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::openapi::{Object, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::identifier::Id;
use probity_fairness::repair::RepairSpecification;
use probity_fairness::specification::AuditSpecification;
use probity_nn::modality::ModalityName;
use probity_nn::train::TrainSpecification;
use probity_run::specification::{Choice, Field, FieldError, FieldKind, Specification, dotted};

/// The fields that hold identifiers of the service.
pub(super) const IDENTIFIERS: [&str; 3] = ["data", "model", "runs"];

/// Fields and tables that name files or programs although they are no paths.
pub(super) const REFUSED: [&str; 2] = ["predictor", "schema"];

/// The command that a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobKind {
    /// `probity train`.
    Train,
    /// `probity audit`.
    Audit,
    /// `probity repair`.
    Repair,
}

impl JobKind {
    /// The name of the kind, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            JobKind::Train => "train",
            JobKind::Audit => "audit",
            JobKind::Repair => "repair",
        }
    }
}

/// A specification that names the data set, the model and the jobs by identifiers in place of
/// paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct JobSpecification {
    pub(super) asked: RunSpecification,
    reads: Reads,
}

/// The specification of a kind that the service runs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RunSpecification {
    Train(Box<TrainSpecification>),
    Audit(Box<AuditSpecification>),
    Repair(Box<RepairSpecification>),
}

/// Evaluates the same expression with the specification of any kind.
macro_rules! whichever {
    ($asked:expr, $one:ident => $result:expr) => {
        match $asked {
            RunSpecification::Train($one) => $result,
            RunSpecification::Audit($one) => $result,
            RunSpecification::Repair($one) => $result,
        }
    };
}
pub(super) use whichever;

/// The identifiers of the things that a job reads.
#[derive(Debug, Clone, PartialEq)]
struct Reads {
    data: Id,
    model: Option<Id>,
    runs: Vec<Id>,
}

/// The fields that a specification of `kind` can have here; those for which a word may stand for a
/// file are choices of such words.
pub fn fields(kind: JobKind) -> Vec<Field> {
    let mut fields = match kind {
        JobKind::Train => TrainSpecification::fields(),
        JobKind::Audit => AuditSpecification::fields(),
        JobKind::Repair => RepairSpecification::fields(),
    };
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
        match &self.asked {
            RunSpecification::Train(_) => JobKind::Train,
            RunSpecification::Audit(_) => JobKind::Audit,
            RunSpecification::Repair(_) => JobKind::Repair,
        }
    }

    /// The kind of the data, which is also what the model classifies.
    pub fn modality(&self) -> ModalityName {
        whichever!(&self.asked, one => one.modality)
    }

    /// The data set that the job reads.
    pub fn data(&self) -> &Id {
        &self.reads.data
    }

    /// The model that the job reads, if it reads one.
    pub fn model(&self) -> Option<&Id> {
        self.reads.model.as_ref()
    }

    /// The jobs whose runs the job reads.
    pub fn runs(&self) -> &[Id] {
        &self.reads.runs
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

fn id(field: &str, path: &Path) -> Result<Id, FieldError> {
    let text = path.to_string_lossy();
    let value = match text.as_ref() {
        "" => "missing".to_owned(),
        text => format!("'{}'", text.escape_debug()),
    };
    text.parse()
        .map_err(|_| FieldError::new(field, value, "an identifier of this service"))
}

impl TryFrom<Value> for JobSpecification {
    type Error = FieldError;

    fn try_from(mut value: Value) -> Result<JobSpecification, FieldError> {
        let kind = value.as_object_mut().and_then(|map| map.remove("kind"));
        let Some(kind) = kind else {
            return Err(FieldError::new("kind", "missing", "train, audit or repair"));
        };
        let (asked, reads) = match kind.as_str() {
            Some(TrainSpecification::KIND) => {
                let train: TrainSpecification = read(value)?;
                let reads = Reads {
                    data: id("data", &train.data)?,
                    model: None,
                    runs: Vec::new(),
                };
                (RunSpecification::Train(Box::new(train)), reads)
            }
            Some(AuditSpecification::KIND) => {
                let audit: AuditSpecification = read(value)?;
                let model = audit.model.as_deref().unwrap_or(Path::new(""));
                let reads = Reads {
                    data: id("data", &audit.data)?,
                    model: Some(id("model", model)?),
                    runs: Vec::new(),
                };
                (RunSpecification::Audit(Box::new(audit)), reads)
            }
            Some(RepairSpecification::KIND) => {
                let repair: RepairSpecification = read(value)?;
                let runs = repair.runs.iter().map(|run| id("runs", run));
                let reads = Reads {
                    data: id("data", &repair.data)?,
                    model: Some(id("model", &repair.model)?),
                    runs: runs.collect::<Result<_, _>>()?,
                };
                (RunSpecification::Repair(Box::new(repair)), reads)
            }
            _ => return Err(FieldError::new("kind", kind, "train, audit or repair")),
        };
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
        ] {
            let specification = read_job(kind, more).unwrap();
            assert_eq!(specification.kind().name(), kind);
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
