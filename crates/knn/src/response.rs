//! Which rows a softened adversary removes, given what each removal weighs.
//!
//! Nothing here proves anything: any popularity of rows makes for sound charges (see `events`). It decides how tight
//! they get.

use super::charges::{Demand, PairCharges};

/// Rows less popular than this count as not popular: they would only cost time.
const UNPOPULAR: f64 = 0.01;
/// Rows that trail the threshold by more than this, in units of softness, are left out.
const TAIL: f64 = 12.0;
/// Halvings of the interval of a threshold.
const HALVINGS: usize = 24;

/// The softened choice of removals that weigh most: row r goes with popularity p(r) = 1 / (1 + exp((t - w(r)) / softness)),
/// where the threshold t meets the demand on average.
///
/// This p maximises the sum of p(r) w(r) plus softness times the entropy of p. The maximum (`bound`) is a smooth function of
/// the weights, and p its gradient: what a search for better weights needs.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    /// One value in 0 ..= 1 a row.
    pub(crate) popularity: Vec<f32>,
    /// The softened total weight: at least that of the heaviest removals.
    pub(crate) bound: f64,
    /// The entropy of the popularity.
    pub(crate) entropy: f64,
}

impl Response {
    /// The answer to `weights`.
    pub(crate) fn to(weights: &[i64], demand: &Demand<'_>, softness: f64) -> Self {
        let weigh = |row: u32| (weights[row as usize] as f64, row);
        let worth: Vec<(f64, u32)> = (0..weights.len() as u32)
            .map(weigh)
            .filter(|&(weight, _)| weight > 0.0)
            .collect();
        let free = Self::none(weights.len()).choose(worth.clone(), demand.budget, softness, 0.0);
        let met: f32 = demand
            .window
            .iter()
            .map(|&row| free.popularity[row as usize])
            .sum();
        if f64::from(met) >= demand.forced as f64 {
            return free;
        }
        // The demand binds: its rows and the others have a threshold each.
        let mut inside = vec![false; weights.len()];
        for &row in demand.window {
            inside[row as usize] = true;
        }
        let others = worth
            .into_iter()
            .filter(|&(_, row)| !inside[row as usize])
            .collect();
        let forced = demand.window.iter().map(|&row| weigh(row)).collect();
        Self::none(weights.len())
            .choose(
                others,
                demand.budget.saturating_sub(demand.forced),
                softness,
                0.0,
            )
            .choose(forced, demand.forced, softness, f64::NEG_INFINITY)
    }

    fn none(rows: usize) -> Self {
        Self {
            popularity: vec![0.0; rows],
            bound: 0.0,
            entropy: 0.0,
        }
    }

    /// Spreads `count` removals over `rows`; the threshold is not below `floor`.
    fn choose(
        mut self,
        mut rows: Vec<(f64, u32)>,
        count: usize,
        softness: f64,
        floor: f64,
    ) -> Self {
        if count >= rows.len() {
            for (weight, row) in rows {
                self.popularity[row as usize] = 1.0;
                self.bound += weight;
            }
            return self;
        }
        if count == 0 {
            return self;
        }
        rows.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let pivot = rows[count].0;
        let (mut low, mut high) = (pivot - TAIL * softness, pivot + TAIL * softness);
        rows.retain(|&(weight, _)| weight >= low);
        // Sums in a fixed order: the selection above leaves none.
        rows.sort_unstable_by_key(|&(_, row)| row);
        let part =
            |weight: f64, threshold: f64| 1.0 / (1.0 + ((threshold - weight) / softness).exp());
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
            let lead = (weight - threshold) / softness;
            self.bound += softness
                * if lead > 30.0 {
                    lead
                } else {
                    lead.exp().ln_1p()
                };
            if part > UNPOPULAR {
                self.popularity[row as usize] = part as f32;
            }
            if part > 1e-9 && part < 1.0 - 1e-9 {
                self.entropy -= part * part.ln() + (1.0 - part) * (1.0 - part).ln();
            }
        }
        self
    }

    /// How much room a bound leaves on average: gain less slack.
    pub(crate) fn room(&self, bound: &PairCharges) -> f64 {
        let gain: f64 = self
            .popularity
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

    /// The answer meets its demand on average, and a hard answer is that of the heaviest rows.
    #[test]
    fn the_demand_is_met_and_hard_answers_are_the_heaviest() {
        let weights: Vec<i64> = (0..60).map(|row| (row * 37 % 61) - 10).collect();
        let window: Vec<u32> = (0..12).collect();
        for (budget, forced) in [(5, 0), (9, 4), (12, 12), (20, 11)] {
            let demand = Demand {
                budget,
                forced,
                window: &window,
            };
            let sum = |rows: &[u32], answer: &Response| -> f64 {
                let parts = rows.iter().map(|&row| answer.popularity[row as usize]);
                parts.map(f64::from).sum()
            };
            let all: Vec<u32> = (0..60).collect();
            let soft = Response::to(&weights, &demand, 3.0);
            assert!(sum(&all, &soft) < budget as f64 + 0.5);
            assert!(sum(&window, &soft) > forced as f64 - 0.5);
            let hard = Response::to(&weights, &demand, 1e-3);
            let bound = PairCharges {
                slack: 0,
                top: super::super::charges::top_rows(&weights, 2 * budget, |_| true),
                weights: weights.clone(),
                strict: false,
            };
            let best = bound.best_gain_with(&demand).unwrap() as f64;
            assert!((hard.bound - best).abs() < 0.1, "{} {best}", hard.bound);
            assert!((hard.room(&bound) - best).abs() < 0.1);
            assert!(soft.bound >= best && soft.entropy >= hard.entropy);
        }
    }
}
