//! The removal problem relaxed to fractions of rows and smoothed by entropy: a best answer that
//! changes smoothly.
//!
//! Nothing here proves anything: any fractions make for sound charges (see `cost_sharing`). They
//! decide how tight the bound gets.

use crate::certify::amortised_bound::{AmortisedBound, RemovalConstraint};

/// Fractions smaller than this count as none, since they would only cost time.
const NEGLIGIBLE: f64 = 0.01;
/// Rows that trail the threshold by more than this, in units of temperature, are left out.
const TAIL: f64 = 12.0;
/// Halvings of the interval of a threshold.
const HALVINGS: usize = 24;

/// The smoothed choice of removals that weigh most: of row r the fraction
/// p(r) = 1 / (1 + exp((t - w(r)) / temperature)) goes, where the threshold t meets the constraint
/// in total.
///
/// This p maximises the sum of p(r) w(r) plus temperature times the entropy of p. The maximum
/// (`bound`) is a smooth function of the weights, and p its gradient: what a search for better
/// weights needs.
#[derive(Debug, Clone)]
pub(crate) struct FractionalRemoval {
    /// The fraction of each row that is removed, from 0 to 1.
    pub(crate) fraction: Vec<f32>,
    /// The smoothed total weight: at least that of the heaviest removals.
    pub(crate) bound: f64,
    /// The entropy of the fractions.
    pub(crate) entropy: f64,
}

impl FractionalRemoval {
    /// Returns the smoothed choice of removals for `weights`.
    pub(crate) fn to(
        weights: &[i64],
        constraint: &RemovalConstraint<'_>,
        temperature: f64,
    ) -> Self {
        let weigh = |row: u32| (weights[row as usize] as f64, row);
        let worth: Vec<(f64, u32)> = (0..weights.len() as u32)
            .map(weigh)
            .filter(|&(weight, _)| weight > 0.0)
            .collect();
        let free =
            Self::none(weights.len()).choose(worth.clone(), constraint.budget, temperature, 0.0);
        let met: f32 = constraint
            .window
            .iter()
            .map(|&row| free.fraction[row as usize])
            .sum();
        if f64::from(met) >= constraint.forced as f64 {
            return free;
        }
        // The constraint binds: its rows and the others have a threshold each.
        let mut inside = vec![false; weights.len()];
        for &row in constraint.window {
            inside[row as usize] = true;
        }
        let others = worth
            .into_iter()
            .filter(|&(_, row)| !inside[row as usize])
            .collect();
        let forced = constraint.window.iter().map(|&row| weigh(row)).collect();
        Self::none(weights.len())
            .choose(
                others,
                constraint.budget.saturating_sub(constraint.forced),
                temperature,
                0.0,
            )
            .choose(forced, constraint.forced, temperature, f64::NEG_INFINITY)
    }

    fn none(rows: usize) -> Self {
        Self {
            fraction: vec![0.0; rows],
            bound: 0.0,
            entropy: 0.0,
        }
    }

    /// Spreads `count` removals over `rows`; the threshold is not below `floor`.
    fn choose(
        mut self,
        mut rows: Vec<(f64, u32)>,
        count: usize,
        temperature: f64,
        floor: f64,
    ) -> Self {
        if count >= rows.len() {
            for (weight, row) in rows {
                self.fraction[row as usize] = 1.0;
                self.bound += weight;
            }
            return self;
        }
        if count == 0 {
            return self;
        }
        rows.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let pivot = rows[count].0;
        let (mut low, mut high) = (pivot - TAIL * temperature, pivot + TAIL * temperature);
        rows.retain(|&(weight, _)| weight >= low);
        // Sums in a fixed order: the selection above leaves none.
        rows.sort_unstable_by_key(|&(_, row)| row);
        let part =
            |weight: f64, threshold: f64| 1.0 / (1.0 + ((threshold - weight) / temperature).exp());
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let total: f64 = rows.iter().map(|&(weight, _)| part(weight, middle)).sum();
            if total > count as f64 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let threshold = (0.5 * (low + high)).max(floor);
        self.bound += threshold * count as f64;
        for (weight, row) in rows {
            let part = part(weight, threshold);
            let lead = (weight - threshold) / temperature;
            self.bound += temperature
                * if lead > 30.0 {
                    lead
                } else {
                    lead.exp().ln_1p()
                };
            if part > NEGLIGIBLE {
                self.fraction[row as usize] = part as f32;
            }
            if part > 1e-9 && part < 1.0 - 1e-9 {
                self.entropy -= part * part.ln() + (1.0 - part) * (1.0 - part).ln();
            }
        }
        self
    }

    /// Returns how much room a bound leaves on average: gain less slack.
    pub(crate) fn room(&self, bound: &AmortisedBound) -> f64 {
        let gain: f64 = self
            .fraction
            .iter()
            .zip(&bound.weights)
            .filter(|&(&part, _)| part > 0.0)
            .map(|(&part, &weight)| f64::from(part) * weight as f64)
            .sum();
        gain - bound.slack as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer meets its constraint on average, and a hard answer is that of the heaviest rows.
    #[test]
    fn the_demand_is_met_and_hard_answers_are_the_heaviest() {
        let weights: Vec<i64> = (0..60).map(|row| (row * 37 % 61) - 10).collect();
        let window: Vec<u32> = (0..12).collect();
        for (budget, forced) in [(5, 0), (9, 4), (12, 12), (20, 11)] {
            let constraint = RemovalConstraint {
                budget,
                forced,
                window: &window,
            };
            let sum = |rows: &[u32], answer: &FractionalRemoval| -> f64 {
                let parts = rows.iter().map(|&row| answer.fraction[row as usize]);
                parts.map(f64::from).sum()
            };
            let all: Vec<u32> = (0..60).collect();
            let soft = FractionalRemoval::to(&weights, &constraint, 3.0);
            assert!(sum(&all, &soft) < budget as f64 + 0.5);
            assert!(sum(&window, &soft) > forced as f64 - 0.5);
            let hard = FractionalRemoval::to(&weights, &constraint, 1e-3);
            let bound = AmortisedBound {
                slack: 0,
                top: crate::certify::amortised_bound::top_rows(&weights, 2 * budget, |_| true),
                weights: weights.clone(),
                strict: false,
            };
            let best = bound.best_gain_with(&constraint).unwrap() as f64;
            assert!((hard.bound - best).abs() < 0.1, "{} {best}", hard.bound);
            assert!((hard.room(&bound) - best).abs() < 0.1);
            assert!(soft.bound >= best && soft.entropy >= hard.entropy);
        }
    }
}
