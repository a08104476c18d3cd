//! Why nobody can log in by the provider.

use thiserror::Error;

/// Characters of a line of the log about the provider.
const LINE: usize = 300;

/// Why nobody can log in by the provider at present: what it did, for the log.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub(crate) struct Failure(String);

impl Failure {
    /// From a text that may hold what the provider answered.
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
