//! Whether a share got smaller or larger from one audit to the next.

use serde::Serialize;

/// What two intervals show of a share that was estimated twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The share fell: the later interval lies below the earlier one.
    Fell,
    /// The share rose: the later interval lies above the earlier one.
    Rose,
    /// The intervals overlap.
    NotShown,
}

impl Change {
    /// From the interval `before` to the interval `after`.
    pub fn between(before: [f64; 2], after: [f64; 2]) -> Change {
        match (before[0] > after[1], after[0] > before[1]) {
            (true, _) => Change::Fell,
            (_, true) => Change::Rose,
            _ => Change::NotShown,
        }
    }

    /// What is shown, as the end of a sentence, and by what.
    pub fn said(self) -> &'static str {
        match self {
            Change::Fell => "the share fell; the intervals do not overlap",
            Change::Rose => "the share rose; the intervals do not overlap",
            Change::NotShown => "the intervals overlap, so a difference is not shown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_by_intervals_that_are_apart() {
        for (before, after, change) in [
            ([0.2, 0.3], [0.1, 0.19], Change::Fell),
            ([0.1, 0.19], [0.2, 0.3], Change::Rose),
            ([0.1, 0.2], [0.2, 0.3], Change::NotShown),
            ([0.1, f64::NAN], [0.2, 0.3], Change::NotShown),
        ] {
            assert_eq!(Change::between(before, after), change);
        }
    }
}
