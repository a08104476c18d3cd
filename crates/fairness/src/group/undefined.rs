//! Figures of groups that are not defined, and why: rates of no rows, and gaps between such rates.

use std::collections::BTreeMap;

use super::tally::{Measure, Tally};

/// The figures, by the names that they have in a summary, each with the reason.
pub type Undefined = BTreeMap<&'static str, &'static str>;

/// The reasons why a figure that compares decisions with outcomes is not defined for rows among
/// which `known` have an outcome and `positive` the favourable one.
struct Reasons {
    known: u64,
    positive: u64,
}

impl Reasons {
    fn reason(&self, measure: Measure) -> Option<&'static str> {
        match measure {
            Measure::Selection => None,
            _ if self.known == 0 => Some("no outcomes"),
            Measure::TruePositive if self.positive == 0 => Some("no outcome is the favourable one"),
            Measure::FalsePositive if self.positive == self.known => {
                Some("every outcome is the favourable one")
            }
            _ => None,
        }
    }
}

fn named<const N: usize>(figures: [(&'static str, Option<&'static str>); N]) -> Undefined {
    let undefined = figures.into_iter();
    undefined
        .filter_map(|(name, reason)| Some((name, reason?)))
        .collect()
}

/// The rates of a group that are shares of no rows.
pub(super) fn of_rates(tally: &Tally) -> Undefined {
    let reasons = Reasons {
        known: tally.known(),
        positive: tally.positive(),
    };
    named([
        ("true_positive_rate", reasons.reason(Measure::TruePositive)),
        (
            "false_positive_rate",
            reasons.reason(Measure::FalsePositive),
        ),
        ("accuracy", reasons.reason(Measure::Accuracy)),
        ("calibration_error", reasons.reason(Measure::Accuracy)),
    ])
}

/// The gaps between groups with the counts `tallies` that no group has the rows for.
pub(super) fn of_gaps(tallies: &[Tally]) -> Undefined {
    let reasons = Reasons {
        known: tallies.iter().map(Tally::known).sum(),
        positive: tallies.iter().map(Tally::positive).sum(),
    };
    let [own, other] = [Measure::TruePositive, Measure::FalsePositive].map(|m| reasons.reason(m));
    let selected: u64 = tallies
        .iter()
        .map(|t| t.numerator(Measure::Selection))
        .sum();
    let nobody = (selected == 0).then_some("nothing is predicted the favourable class");
    named([
        ("demographic_parity_ratio", nobody),
        ("equalised_odds_difference", own.or(other)),
        ("equal_opportunity_difference", own),
        ("accuracy_difference", reasons.reason(Measure::Accuracy)),
        ("calibration_difference", reasons.reason(Measure::Accuracy)),
    ])
}
