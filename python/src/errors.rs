//! Which exception an error becomes.

use std::error::Error;

use probity::data::infer::InferError;
use probity::data::read::ReadError;
use probity::data::schema::SchemaError;
use probity::fairness::audit::AuditError;
use probity::nn::ModelError;
use probity::predictor::PredictorError;
use probity::run::specification::{FieldError, GivenError};
use pyo3::PyErr;

/// The exceptions of the package.
mod exceptions {
    pyo3::import_exception!(probity._errors, DataError);
    pyo3::import_exception!(probity._errors, ModelError);
    pyo3::import_exception!(probity._errors, NameTaken);
    pyo3::import_exception!(probity._errors, OptionError);
    pyo3::import_exception!(probity._errors, ProbityError);
}

/// The exception that says `error` and what caused it.
pub(crate) fn exception(error: &(dyn Error + 'static)) -> PyErr {
    let text = said(error);
    let is = |test: fn(&(dyn Error + 'static)) -> bool| causes(error).any(test);
    if is(|error| {
        // What a variant passes through is none of its causes.
        let is_of_predictor = |audit: &AuditError| matches!(audit, AuditError::Predictor(_));
        error.is::<ModelError>()
            || error.is::<PredictorError>()
            || error.downcast_ref().is_some_and(is_of_predictor)
    }) {
        exceptions::ModelError::new_err(text)
    } else if is(|error| error.is::<FieldError>() || error.is::<GivenError>()) {
        exceptions::OptionError::new_err(text)
    } else if is(|error| {
        error.is::<ReadError>() || error.is::<InferError>() || error.is::<SchemaError>()
    }) {
        exceptions::DataError::new_err(text)
    } else {
        exceptions::ProbityError::new_err(text)
    }
}

/// The exception of a name that something else has.
pub(crate) fn name_taken(error: &(dyn Error + 'static)) -> PyErr {
    exceptions::NameTaken::new_err(said(error))
}

/// An error and what caused it, from the outside in.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// `error` with its causes, none said twice.
pub(crate) fn said(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error) {
        let next = cause.to_string();
        if text.is_empty() {
            text = next;
        } else if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
    }
    text
}
