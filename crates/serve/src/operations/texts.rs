//! Checks of texts that users type.

use crate::problem::Problem;

/// The greatest number of characters of a label.
pub const LABEL: usize = 100;

/// Returns `label` without blanks at its ends, or `instead` where nothing else is left. Fails when
/// it is too long, or holds a control character.
pub fn label(label: &str, instead: &str) -> Result<String, Problem> {
    let label = label.trim();
    if label.is_empty() {
        return Ok(instead.to_owned());
    }
    if label.chars().count() > LABEL {
        return Err(Problem::invalid(format!(
            "A label has at most {LABEL} characters."
        )));
    }
    if label.chars().any(char::is_control) {
        return Err(Problem::invalid("A label holds no control characters."));
    }
    Ok(label.to_owned())
}

/// Refuses the name of a column that a list of names on the command line cannot hold.
/// Fails when it has a comma in it, or is no plain text.
pub fn column_name(name: &str) -> Result<(), Problem> {
    if name.contains(',') || name.chars().any(char::is_control) {
        return Err(Problem::invalid(format!(
            "The column name '{}' has a comma or a control character in it; rename the column.",
            name.escape_default()
        )));
    }
    Ok(())
}
