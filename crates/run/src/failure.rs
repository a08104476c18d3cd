//! The message of an error, and the errors that caused it.
//!
//! An error that only passes another one on says the same and has it as its source
//! ([`Error::source`]). So whoever wants to know what kind of thing went wrong looks through the
//! causes, however deep it lies, and whoever prints them leaves out what was said already.

use std::error::Error;

/// Iterates over `error` and its causes, from the outside in.
pub fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Returns the first of `error` and its causes that is an `E`.
pub fn cause_of<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    causes(error).find_map(|cause| {
        let boxed = || cause.downcast_ref::<Box<E>>().map(Box::as_ref);
        cause.downcast_ref::<E>().or_else(boxed)
    })
}

/// Returns the message of `error` with its causes, none of which is said twice.
pub fn said(error: &(dyn Error + 'static)) -> String {
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

#[cfg(test)]
mod tests {
    use thiserror::Error;

    use super::*;

    #[derive(Debug, Error)]
    #[error("no such file")]
    struct Inner;

    #[derive(Debug, Error)]
    enum Middle {
        #[error("{0}")]
        Passed(#[from] Inner),
        #[error("cannot read the table")]
        Told(#[source] Inner),
    }

    #[derive(Debug, Error)]
    #[error("{0}")]
    struct Outer(#[source] Box<Middle>);

    #[test]
    fn causes_are_found_and_none_is_said_twice() {
        for (middle, expected) in [
            (Middle::Passed(Inner), "no such file"),
            (Middle::Told(Inner), "cannot read the table: no such file"),
        ] {
            let error = Outer(Box::new(middle));
            assert_eq!(said(&error), expected);
            assert!(cause_of::<Inner>(&error).is_some());
            assert!(cause_of::<Middle>(&error).is_some(), "in a box");
            assert!(cause_of::<Outer>(&error).is_some());
            assert!(cause_of::<std::io::Error>(&error).is_none());
        }
    }
}
