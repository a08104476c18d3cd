//! The verdict on a repair: the reasons for and against it, and whether its network is saved.
//!
//! *Against the control.* The networks with the remedy and those retrained without it come in
//! pairs: those of one repeat begin at the same first weights, unless one had to be trained again.
//! What a remedy gained is the mean of the differences of the discriminatory figure within the
//! pairs, with its interval by Student's t.
//! It is a gain only where that interval lies above 0; a single pair shows nothing. A remedy that
//! gains nothing still gives a model that is as fair as it is said to be, so it is saved, and the
//! verdict says that retraining alone does as well. The exception are *samples of texts*, whose
//! independent set lies near the old decision boundary: there, almost anything that trains anew
//! looks like a repair, and only what is gained over the control counts.
//!
//! *Against the model before.* The network that would be saved is held against the model on the
//! same held-out inputs. It must not lose more accuracy than allowed; what it was repaired for, the
//! discriminatory figure by all protected attributes, must not rise; every other fairness measure
//! may get worse by the allowed amount. A gap between groups is of few rows and moves with every
//! training, so that it counts only when it also leaves the 95 % interval that it had before.

use serde::Serialize;

use super::change::{Details, Figures, Measure, Role};
use crate::statistics::Mean;

/// The comparison of the networks with the remedy with those retrained without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// The networks with the remedy are less discriminatory, by more than chance.
    Better,
    /// No difference is shown.
    Alike,
    /// The networks with the remedy are more discriminatory, by more than chance.
    Worse,
    /// The pairs of networks cannot tell: there is but one, or none, or all gained the same.
    Unknown,
}

/// The gain of the remedy over retraining without it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AgainstControl {
    /// Mean discriminatory figure of the networks retrained without the remedy.
    pub control: f64,
    /// Mean discriminatory figure of the networks retrained with the remedy.
    pub repaired: f64,
    /// Control less repaired, mean over the repeats.
    pub gained: Mean,
    /// The conclusion from that gain.
    pub standing: Standing,
}

impl AgainstControl {
    /// The comparison of `pairs`: the discriminatory figures without and with the remedy.
    pub fn new(pairs: &[(f64, f64)]) -> AgainstControl {
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| -> Mean {
            Mean::new(&pairs.iter().map(of).collect::<Vec<f64>>())
        };
        let gains: Vec<f64> = pairs.iter().map(|of| of.0 - of.1).collect();
        // No two shares differ by more than 1.
        let gained = Mean::within(&gains, [-1.0, 1.0]);
        let standing = match gained.ci95 {
            None if pairs.len() > 1 && gained.mean == 0.0 => Standing::Alike,
            None => Standing::Unknown,
            Some([low, _]) if low > 0.0 => Standing::Better,
            Some([_, high]) if high < 0.0 => Standing::Worse,
            Some(_) => Standing::Alike,
        };
        AgainstControl {
            control: mean(&|(control, _)| *control).mean,
            repaired: mean(&|(_, repaired)| *repaired).mean,
            gained,
            standing,
        }
    }
}

/// A measure that got worse than allowed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worse {
    /// The name of the figure: `accuracy`, `discriminatory`, `equalised odds difference` …
    pub figure: &'static str,
    /// The protected attributes that it is of; empty where it is of none.
    pub protected: Vec<String>,
    /// The figure of the model before.
    pub before: f64,
    /// The figure of the network that would be saved.
    pub after: f64,
    /// The amount by which it might have got worse.
    pub allowed: f64,
}

/// The amounts by which measures may get worse.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowed {
    pub accuracy: f64,
    pub fairness: f64,
}

/// The verdict on a repair: the reasons for and against it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether nothing speaks against the network: all were trained, nothing got worse than
    /// allowed, and, of texts by samples, it is better than retraining alone.
    pub holds: bool,
    /// Whether the network was saved: the verdict holds, or it was to be saved anyway.
    pub saved: bool,
    /// The gain of the remedy over retraining without it.
    pub against_control: AgainstControl,
    /// The measures that got worse than allowed.
    pub worse: Vec<Worse>,
}

/// The measures whose second value is worse than the first by more than `allowed`.
pub(super) fn worse<F: Figures, D: Details>(
    (before, after): (&F, &F),
    details: &D,
    allowed: Allowed,
) -> Vec<Worse> {
    let (measures, now) = (before.measures(), after.measures());
    let joint = measures.iter().rposition(|m| m.role == Role::Protected);
    let own = measures.iter().zip(now).enumerate();
    let own = own.map(|(place, (before, after))| (before.clone(), after, Some(place) == joint));
    let gaps = details.gaps().into_iter();
    own.chain(gaps.map(|(before, after)| (before, after, false)))
        .filter_map(|(before, after, is_joint)| {
            let allowed = match before.role {
                Role::Accuracy => allowed.accuracy,
                Role::Protected if is_joint => 0.0,
                Role::Protected | Role::Fair | Role::Gap | Role::Ratio => allowed.fairness,
                Role::Shown => return None,
            };
            is_worse(&before, &after, allowed).then_some(Worse {
                figure: before.figure,
                protected: before.protected,
                before: before.value,
                after: after.value,
                allowed,
            })
        })
        .collect()
}

/// Whether a `change` of a share is larger than what is `allowed`. Differences of shares that are
/// decimal fractions have rounding errors: 0.95 - 0.94 is allowed where 0.01 is.
pub(super) fn is_beyond(change: f64, allowed: f64) -> bool {
    change > allowed + 1e-12
}

fn is_worse(before: &Measure, after: &Measure, allowed: f64) -> bool {
    let sign = match before.role {
        Role::Protected | Role::Gap => 1.0,
        Role::Accuracy | Role::Fair | Role::Ratio | Role::Shown => -1.0,
    };
    let is_beyond = is_beyond(sign * (after.value - before.value), allowed);
    let has_left = match (before.role, before.ci95) {
        (Role::Gap, Some([_, high])) => after.value > high,
        (Role::Ratio, Some([low, _])) => after.value < low,
        _ => true,
    };
    is_beyond && has_left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(role: Role, value: f64, ci95: Option<[f64; 2]>) -> Measure {
        Measure {
            figure: "a figure",
            protected: Vec::new(),
            value,
            ci95,
            role,
        }
    }

    #[test]
    fn a_gain_is_one_beyond_chance() {
        let standing = |pairs: &[(f64, f64)]| AgainstControl::new(pairs).standing;
        assert_eq!(standing(&[(0.3, 0.1)]), Standing::Unknown);
        assert_eq!(standing(&[]), Standing::Unknown);
        // A difference of 0.1 in every pair, however far the pairs are apart.
        let steady = [(0.3, 0.2), (0.7, 0.6), (0.5, 0.39)];
        assert_eq!(standing(&steady), Standing::Better);
        assert_eq!(standing(&steady.map(|(a, b)| (b, a))), Standing::Worse);
        // The same mean, by chance.
        let loose = [(0.3, 0.0), (0.7, 0.8), (0.5, 0.39)];
        assert_eq!(standing(&loose), Standing::Alike);
        // Two pairs leave a wide interval: it does not go beyond what shares can differ by.
        let two = AgainstControl::new(&[(0.9, 0.7), (0.3, 0.2)]);
        assert_eq!(
            (two.standing, two.gained.ci95.unwrap()[0] < 0.0),
            (Standing::Alike, true)
        );
        let far = AgainstControl::new(&[(0.9, 0.1), (0.2, 0.9)]);
        assert_eq!(far.gained.ci95, Some([-1.0, 1.0]));
        assert_eq!(standing(&[(0.2, 0.2), (0.1, 0.1)]), Standing::Alike);
        assert_eq!(standing(&[(0.5, 0.25), (0.5, 0.25)]), Standing::Unknown);
        let all = AgainstControl::new(&steady);
        assert!((all.control - 0.5).abs() < 1e-12 && (all.repaired - 1.19 / 3.0).abs() < 1e-12);
        assert!((all.gained.mean - 0.31 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn each_role_has_its_bad_side() {
        let pair = |role, before, after, ci95| {
            let (before, after) = (measure(role, before, ci95), measure(role, after, None));
            is_worse(&before, &after, 0.02)
        };
        for role in [Role::Accuracy, Role::Fair] {
            assert!(pair(role, 0.90, 0.87, None) && !pair(role, 0.90, 0.88, None));
            assert!(!pair(role, 0.90, 0.99, None));
        }
        assert!(pair(Role::Protected, 0.10, 0.13, None));
        assert!(!pair(Role::Protected, 0.10, 0.12, None));
        assert!(!pair(Role::Protected, 0.10, 0.01, None));
        // A gap within what it was is chance; a small step out of a narrow one is allowed.
        assert!(!pair(Role::Gap, 0.10, 0.18, Some([0.0, 0.2])));
        assert!(pair(Role::Gap, 0.10, 0.21, Some([0.0, 0.2])));
        assert!(!pair(Role::Gap, 0.10, 0.11, Some([0.095, 0.105])));
        assert!(pair(Role::Ratio, 0.8, 0.6, Some([0.7, 0.9])));
        assert!(!pair(Role::Ratio, 0.8, 0.75, Some([0.7, 0.9])));
        assert!(!pair(Role::Ratio, 0.8, 1.0, Some([0.7, 0.9])));
    }
}
