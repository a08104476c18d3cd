//! The change of a figure by a repair: before it, after retraining without it, and after it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::statistics::Mean;
use probity_nn::metrics::Quality;

/// The name of the coefficient of determination among measures.
const R_SQUARED: &str = "R²";

/// The figures that are reported of one network.
pub trait Figures: Clone + Serialize + DeserializeOwned + Send + Sync {
    /// The figures one by one, those of every network in the same order.
    fn measures(&self) -> Vec<Measure>;

    /// The discriminatory figure by all protected attributes jointly.
    fn discriminatory(&self) -> f64;

    /// The name of what `accuracy` gives: `Accuracy`, or of a regressor `R²`.
    fn accuracy_name(&self) -> &'static str {
        let measures = self.measures();
        match measures.iter().any(|measure| measure.figure == R_SQUARED) {
            true => R_SQUARED,
            false => "Accuracy",
        }
    }

    /// Accuracy on the inputs that are held out, of a regressor R².
    fn accuracy(&self) -> f64;
}

/// The part of a summary that one modality only has.
pub trait Details: Serialize {
    /// Gaps between groups of held-out inputs: of the model before, and of the network that was
    /// kept.
    fn gaps(&self) -> Vec<(Measure, Measure)>;
}

/// The part that a measure plays in the verdict on a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Discriminatory inputs: fewer are better. The last one is what the model is repaired for.
    Protected,
    /// Fair inputs: more are better.
    Fair,
    /// A difference between groups: less is better.
    Gap,
    /// A ratio between groups: 1 is best.
    Ratio,
    /// Accuracy.
    Accuracy,
    /// The measure is shown, and not judged by.
    Shown,
}

/// A figure of one network: a share.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The name of the figure: `discriminatory`, `accuracy` …
    pub figure: &'static str,
    /// The protected attributes that it is of; empty where it is of none.
    pub protected: Vec<String>,
    /// The share.
    pub value: f64,
    /// The 95 % interval of the share, where there is one.
    pub ci95: Option<[f64; 2]>,
    /// The part that it plays in the verdict.
    pub role: Role,
}

impl Measure {
    /// Accuracy and balanced accuracy on held-out inputs; R² of a regressor.
    pub fn of_quality(held_out: &Quality) -> Vec<Measure> {
        let of = |figure, value, role| Measure {
            figure,
            protected: Vec::new(),
            value,
            ci95: None,
            role,
        };
        match held_out {
            Quality::Classes(of_classes) => vec![
                of("accuracy", of_classes.accuracy, Role::Accuracy),
                of(
                    "balanced accuracy",
                    of_classes.balanced_accuracy,
                    Role::Shown,
                ),
            ],
            Quality::Numbers(errors) => {
                let r_squared = errors.r_squared.unwrap_or_default();
                vec![of(R_SQUARED, r_squared, Role::Accuracy)]
            }
        }
    }
}

/// A figure before a repair, after retraining without it, and after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The name of the figure: `discriminatory`, `accuracy` …
    pub figure: String,
    /// The protected attributes that it is of; empty where it is of none.
    pub protected: Vec<String>,
    /// The figure of the model that was repaired.
    pub before: f64,
    /// The 95 % interval of that, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_ci95: Option<[f64; 2]>,
    /// The mean of networks retrained in the same way without any remedy, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<Mean>,
    /// The mean of the repaired networks.
    pub after: Mean,
    /// (before − after) / before; absent if it was 0 before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction: Option<f64>,
}

impl Change {
    /// The change from `before` to the networks with `after`; `control` may be empty. All are
    /// shares, or R², which may be below 0.
    fn new(before: Measure, control: &[f64], after: &[f64]) -> Change {
        let mean = |values: &[f64]| match before.figure {
            R_SQUARED => Mean::within(values, [f64::NEG_INFINITY, 1.0]),
            _ => Mean::of_shares(values),
        };
        let after = mean(after);
        Change {
            figure: before.figure.to_owned(),
            protected: before.protected,
            before: before.value,
            before_ci95: before.ci95,
            control: (!control.is_empty()).then(|| mean(control)),
            reduction: (before.value > 0.0).then(|| 1.0 - after.mean / before.value),
            after,
        }
    }
}

/// Every figure of `before` beside those of the `control` networks and the `after` ones.
pub fn changes<F: Figures>(before: &F, control: &[&F], after: &[&F]) -> Vec<Change> {
    let all = |networks: &[&F]| -> Vec<Vec<Measure>> {
        networks.iter().map(|figures| figures.measures()).collect()
    };
    let (control, after) = (all(control), all(after));
    let values = |networks: &[Vec<Measure>], place: usize| -> Vec<f64> {
        let measures = networks.iter().filter_map(|measures| measures.get(place));
        measures.map(|measure| measure.value).collect()
    };
    let before = before.measures().into_iter().enumerate();
    before
        .map(|(place, before)| {
            Change::new(before, &values(&control, place), &values(&after, place))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduction_is_of_the_mean() {
        let before = |value| Measure {
            figure: "discriminatory",
            protected: Vec::new(),
            value,
            ci95: None,
            role: Role::Protected,
        };
        let change = Change::new(before(0.1), &[], &[0.02, 0.04]);
        assert!((change.reduction.unwrap() - 0.7).abs() < 1e-12);
        assert_eq!(Change::new(before(0.0), &[], &[0.0]).reduction, None);
    }
}
