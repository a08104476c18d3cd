//! Failures of the provider.

use thiserror::Error;

/// The number of characters of a line of the log about the provider.
const LINE: usize = 300;

/// The reason why nobody can log in by the provider at present, for the log.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub(crate) struct Failure(String);

impl Failure {
    /// Makes a failure from a text that may hold the provider's answer.
    pub fn new(text: &str) -> Failure {
        let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
        Failure(text.chars().map(plain).take(LINE).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_line() {
        let long = Failure::new(&format!("a\nb\u{1b}c{}", "x".repeat(1000))).to_string();
        assert!(long.starts_with("a b c") && long.chars().count() == LINE);
    }
}
