//! What is measured of a model before and after its repair, and how the two compare.
//!
//! [`Change`] is one figure of one kind: of tables or texts, by whatever method the model was repaired.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::error::RepairError;
use crate::domain::TabularDomain;
use crate::estimate::{Estimate, discriminatory_share};
use crate::mean::Mean;
use probity_data::table::Table;
use probity_nn::Classifier;
use probity_nn::metrics::Metrics;
use probity_nn::train::parallel_logits;

/// A figure of a network on labelled rows.
type Measure = fn(&Metrics) -> f64;

/// One figure before a repair, after retraining without it, and after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What it is: `discriminatory`, `accuracy` …
    pub figure: String,
    /// Of which protected attributes; empty where it is of none.
    pub protected: Vec<String>,
    /// Of the model that was repaired.
    pub before: f64,
    /// Its 95 % interval, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_ci95: Option<[f64; 2]>,
    /// Of networks retrained in the same way without any remedy, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<Mean>,
    /// Of the repaired networks.
    pub after: Mean,
    /// (before − after) / before; absent if it was 0 before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction: Option<f64>,
}

impl Change {
    /// The change from `before` (with its interval) to the networks with `after`; `control` may be empty. All are shares.
    pub fn new(
        figure: &str,
        protected: Vec<String>,
        (before, before_ci95): (f64, Option<[f64; 2]>),
        control: &[f64],
        after: &[f64],
    ) -> Change {
        let after = Mean::of_shares(after);
        Change {
            figure: figure.to_owned(),
            protected,
            before,
            before_ci95,
            control: (!control.is_empty()).then(|| Mean::of_shares(control)),
            reduction: (before > 0.0).then(|| 1.0 - after.mean / before),
            after,
        }
    }
}

/// What is measured of one network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFigures {
    /// Discriminatory share of uniform random inputs: for each protected set that was audited and, if there are several, for all
    /// of their attributes jointly.
    pub discrimination: Vec<Estimate>,
    /// Quality on the rows that are held out.
    pub held_out: Metrics,
}

/// Protected sets to measure by, the last of them the widest.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Names of the attributes of each set.
    pub names: Vec<Vec<String>>,
    /// Its variants.
    pub domains: Vec<TabularDomain>,
}

impl Measured {
    /// The estimates of `model` from `samples` uniform inputs of `seed` for each set.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn discrimination(
        &self,
        model: &dyn Classifier,
        samples: u64,
        seed: u64,
    ) -> Result<Vec<Estimate>, RepairError> {
        let sets = self.names.iter().zip(&self.domains);
        sets.map(|(names, domain)| {
            let whole = &mut |_| ControlFlow::Continue(());
            Ok(discriminatory_share(
                model,
                domain,
                names.clone(),
                samples,
                seed,
                whole,
            )?)
        })
        .collect()
    }

    /// All figures of `model`: the estimates, and its quality on `held_out`.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn figures(
        &self,
        model: &dyn Classifier,
        held_out: &Table,
        samples: u64,
        seed: u64,
    ) -> Result<ModelFigures, RepairError> {
        let logits = parallel_logits(model, held_out)?;
        Ok(ModelFigures {
            discrimination: self.discrimination(model, samples, seed)?,
            held_out: Metrics::new(&logits, model.classes(), held_out.labels()),
        })
    }
}

/// Every figure of `before` beside those of the `control` networks and the `after` ones.
pub fn changes(
    before: &ModelFigures,
    control: &[&ModelFigures],
    after: &[&ModelFigures],
) -> Vec<Change> {
    let of = |figures: &[&ModelFigures], value: &dyn Fn(&ModelFigures) -> f64| -> Vec<f64> {
        figures.iter().map(|figures| value(figures)).collect()
    };
    let mut changes = Vec::new();
    for (set, estimate) in before.discrimination.iter().enumerate() {
        let rate = |figures: &ModelFigures| figures.discrimination[set].rate;
        changes.push(Change::new(
            "discriminatory",
            estimate.protected.clone(),
            (estimate.rate, Some(estimate.ci95)),
            &of(control, &rate),
            &of(after, &rate),
        ));
    }
    let of_metrics: [(&str, Measure); 2] = [
        ("accuracy", |metrics| metrics.accuracy),
        ("balanced accuracy", |metrics| metrics.balanced_accuracy),
    ];
    for (name, of_metrics) in of_metrics {
        let value = |figures: &ModelFigures| of_metrics(&figures.held_out);
        let after = of(after, &value);
        let before = (value(before), None);
        changes.push(Change::new(
            name,
            Vec::new(),
            before,
            &of(control, &value),
            &after,
        ));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduction_is_of_the_mean() {
        let change = Change::new("discriminatory", vec![], (0.1, None), &[], &[0.02, 0.04]);
        assert!((change.reduction.unwrap() - 0.7).abs() < 1e-12);
        assert_eq!(
            Change::new("x", vec![], (0.0, None), &[], &[0.0]).reduction,
            None
        );
    }
}
