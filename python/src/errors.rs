//! Turns errors of Rust into exceptions of Python.

use std::error::Error;

use probity::failure::Subject;
use probity::run::failure::said;
use pyo3::PyErr;

/// The exceptions of the package.
mod exceptions {
    pyo3::import_exception!(probity._errors, DataError);
    pyo3::import_exception!(probity._errors, ModelError);
    pyo3::import_exception!(probity._errors, NameTaken);
    pyo3::import_exception!(probity._errors, OptionError);
    pyo3::import_exception!(probity._errors, ProbityError);
}

/// Makes the exception whose message is `error` and what caused it.
pub(crate) fn exception(error: &(dyn Error + 'static)) -> PyErr {
    let text = said(error);
    match Subject::from_error(error) {
        Subject::Model => exceptions::ModelError::new_err(text),
        Subject::Option => exceptions::OptionError::new_err(text),
        Subject::Data => exceptions::DataError::new_err(text),
        Subject::Other => exceptions::ProbityError::new_err(text),
    }
}

/// Makes the exception that says that a name is already taken.
pub(crate) fn name_taken(error: &(dyn Error + 'static)) -> PyErr {
    exceptions::NameTaken::new_err(said(error))
}
