//! Rules that hold in several specifications.

use std::path::Path;

use probity_run::specification::FieldError;

/// Refuses a file or directory that is not named.
///
/// # Errors
/// When it is empty.
pub fn needed(field: &str, path: &Path) -> Result<(), FieldError> {
    match path.as_os_str().is_empty() {
        true => Err(FieldError::new(field, "missing", "given")),
        false => Ok(()),
    }
}

/// Refuses a list that names something twice.
///
/// # Errors
/// The first name that stands there again.
pub fn named_once(field: &str, names: &[String]) -> Result<(), FieldError> {
    let mut again = (0..names.len()).filter(|&place| names[..place].contains(&names[place]));
    match again.next() {
        None => Ok(()),
        Some(place) => {
            let expected = "a list that names each once";
            Err(FieldError::new(field, &names[place], expected))
        }
    }
}

/// Refuses a field that is given though it has no meaning for `searched`.
pub(crate) fn unused(field: &str, is_left_out: bool, searched: &str) -> Result<(), FieldError> {
    match is_left_out {
        true => Ok(()),
        false => {
            let expected = format!("left out: it has no meaning for {searched}");
            Err(FieldError::new(field, "given", expected))
        }
    }
}
