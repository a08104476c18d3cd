//! How unequal decisions by these columns can be.
//!
//! # The bound
//!
//! Let a classifier give the favourable class to a share α > 0 of the others and to a share β of the
//! members, and let ε be the least balanced error rate with which any predictor of the same columns
//! tells members from others, (P(called other | member) + P(called member | other))/2. Then
//!
//! β/α ≥ 1 − (1 − 2ε)/α.
//!
//! *Proof.* The classifier is itself a predictor: call a member whoever does not get the favourable
//! class. It errs on a share β of the members and 1 − α of the others, so (β + 1 − α)/2 ≥ ε, that is
//! β ≥ α − (1 − 2ε); divide by α. ∎
//!
//! With β = 0.8·α it is 1/2 − β/8 ≥ ε, as Feldman, Friedler, Moeller, Scheidegger and
//! Venkatasubramanian (KDD 2015, section 4) state it for the rule of four fifths. The bound is met: a predictor with error ε, turned round, is a classifier with
//! α = 1 − P(called member | other) and β = P(called other | member).
//!
//! # What is shown
//!
//! That turning round is what a predictor that was found shows for certain: *there is* a classifier of
//! these columns that is as unequal as it, so no larger impact ratio can be guaranteed of all of them.
//! The other direction cannot be shown from data: ε is the error of the best predictor, ours is only at
//! least as large, and with a better one the bound would be lower. The figures for given α are
//! therefore what this bound *could at most* guarantee.
//!
//! # The intervals
//!
//! Those of the two shares are exact (Clopper and Pearson) at 97.5 % each, so both hold with 95 %
//! (Bonferroni), and with them whatever is computed from both: the balanced accuracy, which rises with
//! either, and the ratio, which rises with one and falls with the other. Folds teach each other, so
//! the variance of what networks call people can be twice that of independent folds (see
//! `auc`): the intervals of these shares are those of half as many people.

use serde::Serialize;

use super::auc::Estimate;
use probity_fairness::statistics::clopper_pearson;

/// The shares of others for which the largest guarantee is told.
const GIVEN: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// The level of each of two intervals that hold together with 95 %.
const EACH: f64 = 0.025;

/// People who are called something, among all of a group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Called {
    /// The number of them.
    pub count: u64,
    /// The number of the group.
    pub of: u64,
    /// The share.
    pub share: f64,
    /// The interval of the share, at 97.5 %: with that of the other group it holds with 95 %.
    pub ci975: [f64; 2],
}

impl Called {
    /// Creates the share of `count` among `of`, each decided independently of all others.
    pub fn new(count: u64, of: u64) -> Called {
        Called {
            count,
            of,
            share: count as f64 / of.max(1) as f64,
            ci975: clopper_pearson(count, of, EACH),
        }
    }

    /// Creates the share of `count` among `of` by networks of which each learnt from the rows of the
    /// others.
    pub fn of_folds(count: u64, of: u64) -> Called {
        let half = of.div_ceil(2);
        // Rounding makes the interval wider, never narrower.
        let [low, _] = clopper_pearson(count / 2, half, EACH);
        let [missing, _] = clopper_pearson((of - count) / 2, half, EACH);
        Called {
            ci975: [low, 1.0 - missing],
            ..Called::new(count, of)
        }
    }

    /// Returns the share of those who are not called so.
    #[must_use]
    fn turned(self) -> Called {
        let count = self.of - self.count;
        let [low, high] = self.ci975;
        Called {
            count,
            share: count as f64 / self.of.max(1) as f64,
            ci975: [1.0 - high, 1.0 - low],
            ..self
        }
    }
}

/// How well people are called members or others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Balanced {
    /// The mean of both shares that are called rightly.
    pub value: f64,
    /// The 95 % interval.
    pub ci95: [f64; 2],
    /// Members who are called members.
    pub members: Called,
    /// Others who are called others.
    pub others: Called,
}

impl Balanced {
    /// Creates the accuracy of calling members whoever `is_called` says, by networks of folds.
    pub fn new(is_called: &[bool], is_member: &[bool]) -> Balanced {
        let called = |wanted: bool| {
            let of_side = is_called.iter().zip(is_member);
            let of_side = of_side.filter(|(_, is_member)| **is_member == wanted);
            let right = of_side.clone().filter(|(called, _)| **called == wanted);
            Called::of_folds(right.count() as u64, of_side.count() as u64)
        };
        let (members, others) = (called(true), called(false));
        Balanced {
            value: f64::midpoint(members.share, others.share),
            ci95: [0, 1].map(|end| f64::midpoint(members.ci975[end], others.ci975[end])),
            members,
            others,
        }
    }
}

/// The largest impact ratio that the bound could guarantee of every classifier of some columns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Guarantee {
    /// The share of the others who get the favourable class.
    pub others: f64,
    /// The largest ratio that the bound could guarantee, at least 0: only if no predictor tells members
    /// better than the one that was found.
    pub ratio: f64,
    /// The largest ratio at both ends of the interval of the balanced accuracy.
    pub ci95: [f64; 2],
}

impl Guarantee {
    fn new(others: f64, accuracy: &Balanced) -> Guarantee {
        let ratio = |accuracy: f64| least_ratio(1.0 - accuracy, others);
        let [low, high] = accuracy.ci95;
        Guarantee {
            others,
            ratio: ratio(accuracy.value),
            ci95: [ratio(high), ratio(low)],
        }
    }
}

/// Returns the least impact ratio of a classifier that gives the favourable class to the share
/// `others` of the others, where no predictor's balanced error rate is below `error`: 1 − (1 − 2ε)/α,
/// and at least 0.
pub fn least_ratio(error: f64, others: f64) -> f64 {
    match others > 0.0 {
        true => (1.0 - (1.0 - 2.0 * error) / others).clamp(0.0, 1.0),
        false => 0.0,
    }
}

/// What was decided about members and others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DecidedImpact {
    /// Members who get the favourable class.
    pub members: Called,
    /// Others who get it.
    pub others: Called,
    /// The share of members by that of others, if any of these get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Estimate>,
    /// What the bound could at most guarantee of a classifier that gives it to as many others.
    pub guarantee: Guarantee,
}

/// How unequal decisions by some columns can be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Impact {
    /// Members who get the favourable class where whoever is called a member does not.
    pub members: Called,
    /// Others who get it then.
    pub others: Called,
    /// The share of members by that of others: so unequal *can* a classifier of these columns be;
    /// absent where no other gets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Estimate>,
    /// The largest guarantees, by the share of others who get the favourable class.
    pub guarantees: Vec<Guarantee>,
    /// The impact of what was decided, where anything was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<DecidedImpact>,
}

impl Impact {
    /// Computes the impact that follows from `accuracy`; `is_favoured` tells what was decided, one a
    /// person.
    pub fn new(accuracy: &Balanced, is_member: &[bool], is_favoured: Option<&[bool]>) -> Impact {
        let members = accuracy.members.turned();
        let decided = is_favoured.map(|is_favoured| {
            let favoured = |wanted: bool| {
                let of_side = is_favoured.iter().zip(is_member);
                let of_side = of_side.filter(|(_, is_member)| **is_member == wanted);
                let favoured = of_side.clone().filter(|(favoured, _)| **favoured);
                Called::new(favoured.count() as u64, of_side.count() as u64)
            };
            let (members, others) = (favoured(true), favoured(false));
            DecidedImpact {
                ratio: ratio(&members, &others),
                guarantee: Guarantee::new(others.share, accuracy),
                members,
                others,
            }
        });
        Impact {
            ratio: ratio(&members, &accuracy.others),
            members,
            others: accuracy.others,
            guarantees: GIVEN.map(|others| Guarantee::new(others, accuracy)).into(),
            decided,
        }
    }
}

/// The share of members by that of others, with its interval, if any of the others count.
fn ratio(members: &Called, others: &Called) -> Option<Estimate> {
    // Of one or more, the lower end of the interval is above 0.
    (others.count > 0).then(|| Estimate {
        value: members.share / others.share,
        ci95: [
            members.ci975[0] / others.ci975[1],
            members.ci975[1] / others.ci975[0],
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every predictor of a column of a few values, and every classifier of it.
    #[test]
    fn the_bound_holds_for_all_classifiers_and_is_met() {
        let columns: [&[[f64; 2]]; 2] = [
            &[[0.5, 0.1], [0.3, 0.2], [0.1, 0.3], [0.1, 0.4]],
            &[[0.25, 0.2], [0.25, 0.3], [0.25, 0.25], [0.25, 0.25]],
        ];
        for cells in columns {
            let sums = |set: u32| {
                let chosen = (0..4).filter(|cell| set >> cell & 1 == 1);
                chosen.fold([0.0, 0.0], |sum, cell| {
                    [sum[0] + cells[cell][0], sum[1] + cells[cell][1]]
                })
            };
            let error = |set: u32| {
                let [member, other] = sums(set);
                f64::midpoint(1.0 - member, other)
            };
            let best = (0..16).map(error).fold(1.0, f64::min);
            let mut least = f64::INFINITY;
            for set in 1..16 {
                let [beta, alpha] = sums(set);
                let slack = beta / alpha - least_ratio(best, alpha);
                assert!(slack > -1e-12, "{set}: {slack}");
                least = least.min(slack);
            }
            assert!(least.abs() < 1e-12, "{least}");
        }
    }

    #[test]
    fn four_fifths_are_feldmans_case() {
        // With β = 0.8·α and ε = 1/2 − β/8 the bound is 0.8.
        for alpha in [0.2, 0.5, 0.9] {
            let error = 0.5 - 0.8 * alpha / 8.0;
            assert!((least_ratio(error, alpha) - 0.8).abs() < 1e-12);
        }
        assert_eq!(least_ratio(0.5, 0.3), 1.0);
        assert_eq!(least_ratio(0.1, 0.3), 0.0);
        assert_eq!(least_ratio(0.1, 0.0), 0.0);
    }

    #[test]
    fn a_predictor_is_a_classifier() {
        let is_member: Vec<bool> = (0..100).map(|row| row < 40).collect();
        // 30 of 40 members and 12 of 60 others are called members.
        let is_called: Vec<bool> = (0..100).map(|row| !(30..88).contains(&row)).collect();
        let accuracy = Balanced::new(&is_called, &is_member);
        assert_eq!((accuracy.members.count, accuracy.others.count), (30, 48));
        assert!((accuracy.value - 0.775).abs() < 1e-12);
        let decided: Vec<bool> = (0..100).map(|row| row % 2 == 0).collect();
        let impact = Impact::new(&accuracy, &is_member, Some(&decided));
        let found = impact.ratio.unwrap();
        assert!((found.value - 0.25 / 0.8).abs() < 1e-12);
        assert!((found.value - least_ratio(1.0 - accuracy.value, 0.8)).abs() < 1e-12);
        assert!(found.ci95[0] < found.value && found.value < found.ci95[1]);
        let decided = impact.decided.unwrap();
        assert_eq!(decided.ratio.unwrap().value, 1.0);
        assert_eq!(decided.guarantee.ratio, 0.0);
        let [low, high] = accuracy.ci95;
        assert!(low < 0.775 && 0.775 < high);
        let nobody = Impact::new(&Balanced::new(&[true; 100], &is_member), &is_member, None);
        assert!(nobody.ratio.is_none() && nobody.decided.is_none());
    }
}
