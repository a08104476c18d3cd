//! What kind of thing went wrong: one reading of errors, for exit codes and exceptions.
//!
//! All errors of the library have what they pass on as their source, so that nothing is listed here
//! but the errors that decide ([`crate::run::failure`]).

use std::error::Error;

use probity_data::infer::InferError;
use probity_data::read::ReadError;
use probity_data::schema::SchemaError;
use probity_nn::ModelError;
use probity_nn::model::StoreError;
use probity_predictor::PredictorError;
use probity_run::failure::cause_of;
use probity_run::specification::{FieldError, GivenError};
use probity_tensor::device::DeviceError;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A model or a predictor, its files, or what it answers.
    Model,
    /// An option, or a field of a specification.
    Option,
    /// A table, or its schema.
    Data,
    /// Something else, such as a file that cannot be written.
    Other,
}

impl Subject {
    /// What `error` is about.
    pub fn from_error(error: &(dyn Error + 'static)) -> Subject {
        let is_of_model = has::<ModelError>(error) || has::<StoreError>(error);
        if is_of_model || has::<PredictorError>(error) {
            Subject::Model
        } else if has::<FieldError>(error) || has::<GivenError>(error) {
            Subject::Option
        } else if has::<ReadError>(error) || has::<InferError>(error) || has::<SchemaError>(error) {
            Subject::Data
        } else {
            Subject::Other
        }
    }
}

/// Whether this machine is the problem, rather than what was asked: no such device, a device that
/// failed, a predictor that ended or was too slow.
pub fn is_of_machine(error: &(dyn Error + 'static)) -> bool {
    let model = cause_of::<ModelError>(error);
    let predictor = cause_of::<PredictorError>(error);
    has::<DeviceError>(error)
        || model.is_some_and(|error| matches!(error, ModelError::Device(_)))
        || predictor.is_some_and(PredictorError::is_circumstance)
}

fn has<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    cause_of::<E>(error).is_some()
}

#[cfg(test)]
mod tests {
    use probity_fairness::audit::AuditError;
    use probity_fairness::certify::run::CertifyError;
    use probity_fairness::group::GroupError;
    use probity_fairness::group::run::GroupRunError;
    use probity_fairness::prove::run::ProveError;
    use probity_fairness::repair::error::RepairError;
    use probity_nn::import_run::ImportRunError;
    use probity_nn::train::TrainError;
    use probity_nn::train::run::TrainingError;

    use super::*;

    type Any = Box<dyn Error>;

    /// Errors of `inner` in all that passes audits' errors on.
    fn of_audits<E: Into<AuditError>>(inner: impl Fn() -> E) -> Vec<Any> {
        let audit = || -> AuditError { inner().into() };
        vec![
            audit().into(),
            CertifyError::from(audit()).into(),
            ProveError::from(audit()).into(),
            RepairError::from(audit()).into(),
            GroupRunError::from(audit()).into(),
        ]
    }

    fn are(errors: Vec<Any>, subject: Subject, of_machine: bool) {
        for error in errors {
            let found = (
                Subject::from_error(error.as_ref()),
                is_of_machine(error.as_ref()),
            );
            assert_eq!(found, (subject, of_machine), "{error:?}");
        }
    }

    #[test]
    fn errors_keep_their_kind_however_deep_they_lie() {
        let device = || ModelError::Device("lost".to_owned());
        are(of_audits(device), Subject::Model, true);
        let train = || TrainError::from(device());
        are(
            vec![
                train().into(),
                TrainingError::from(train()).into(),
                RepairError::from(train()).into(),
                RepairError::from(TrainingError::from(train())).into(),
                ImportRunError::from(device()).into(),
                GroupError::from(device()).into(),
                GroupRunError::from(GroupError::from(device())).into(),
            ],
            Subject::Model,
            true,
        );
        let field = || FieldError::new("search.seeds", 0, "above 0");
        are(of_audits(field), Subject::Option, false);
        let fields: Vec<Any> = vec![
            TrainingError::from(field()).into(),
            RepairError::from(field()).into(),
            GivenError::from(field()).into(),
        ];
        are(fields, Subject::Option, false);
        let store = || StoreError::Read {
            file: "model.toml".into(),
            source: std::io::Error::other("gone"),
        };
        are(of_audits(store), Subject::Model, false);
        let schema = || SchemaError::Format("no such mark".to_owned());
        are(of_audits(schema), Subject::Data, false);
        let slow = || PredictorError::Slow {
            rows: 1,
            seconds: 1.0,
            errors: String::new(),
        };
        are(of_audits(slow), Subject::Model, true);
        let wrong = || PredictorError::Source("nothing".to_owned());
        are(of_audits(wrong), Subject::Model, false);
        let other: Any = std::io::Error::other("no room").into();
        are(vec![other], Subject::Other, false);
    }
}
