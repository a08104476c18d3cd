//! The curves of the figures: the noise of a private count, and how often private choices are
//! right.

use serde::Serialize;

use super::paper::{
    CHOICE_EPSILONS, COUNT_EPSILONS, DELTA, PaperData, PaperFigure, THRESHOLD, TOPS,
};
use probity_privacy::calibration::{Calibration, Guarantee};
use probity_privacy::count::{CountOptions, CountPlan, Outliers, Sensitivity};
use probity_privacy::degrees::degrees;
use probity_privacy::error::PrivacyError;
use probity_privacy::kissing::{global_sensitivity_at_least, global_sensitivity_at_most};
use probity_privacy::noise::SeededBits;
use probity_privacy::records::Records;
use probity_privacy::sensitivity::{Bound, WORK_LIMIT};
use probity_privacy::smooth::{Horizon, smooth_bound};
use probity_privacy::subspaces::{Choice, SubspacePlan};

/// A point of Figure 3 or 4: standard deviations of the noise by the different methods.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NoiseRow {
    /// The privacy parameter ε.
    pub epsilon: f64,
    /// The paper's "Global": GS_lower √(2 ln(2/δ)) / ε.
    pub global_lower: f64,
    /// The smooth bound with the constants of Theorem 2.
    pub theorem: f64,
    /// The smooth bound with the tight calibration.
    pub tight: f64,
    /// The inverse sensitivity mechanism.
    pub inverse: f64,
    /// The global sensitivity's upper bound with the tight calibration.
    pub tight_global: f64,
    /// The formula whose values are of the size that the paper states; **not private**.
    pub as_printed: f64,
}

/// The curves of Figure 3 or 4.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseCurve {
    /// The true number of outliers.
    pub outliers: i64,
    /// One point for each ε.
    pub rows: Vec<NoiseRow>,
}

impl PaperData {
    fn outliers(&self, radius: f64, dimension: usize) -> Result<Outliers, PrivacyError> {
        Ok(Outliers {
            k: THRESHOLD,
            squared_radius: self.grid.squared_radius(radius, dimension)?,
        })
    }
}

impl PaperFigure {
    /// Computes the curves of Figure 3 or 4.
    ///
    /// # Errors
    /// When parameters do not fit.
    pub fn noise_curve(&self, data: &PaperData) -> Result<NoiseCurve, PrivacyError> {
        let records = &data.records;
        let (rows, dimension) = (records.rows(), records.columns());
        let outliers = data.outliers(self.paper.radius, dimension)?;
        let cap = global_sensitivity_at_most(rows, dimension, THRESHOLD);
        let lower = global_sensitivity_at_least(rows, dimension, THRESHOLD) as f64;
        let root = (2.0 * (2.0 / DELTA).ln()).sqrt();
        let mut found = NoiseCurve {
            outliers: 0,
            rows: Vec::new(),
        };
        for epsilon in COUNT_EPSILONS {
            let guarantee = Guarantee::new(epsilon, DELTA)?;
            let deviation = |sensitivity, calibration| -> Result<(i64, f64), PrivacyError> {
                let options = CountOptions::default()
                    .sensitivity(sensitivity)
                    .calibration(calibration);
                let plan = CountPlan::new(outliers, guarantee, options, rows, dimension)?;
                let measured = plan.measure(records)?;
                Ok((measured.count, plan.standard_deviation(&measured)))
            };
            let (count, tight) = deviation(Sensitivity::Smooth, Calibration::Tight)?;
            found.outliers = count;
            found.rows.push(NoiseRow {
                epsilon,
                global_lower: lower * root / epsilon,
                theorem: deviation(Sensitivity::Smooth, Calibration::Theorem)?.1,
                tight,
                inverse: deviation(Sensitivity::Inverse, Calibration::Tight)?.1,
                tight_global: Calibration::Tight.global(guarantee)?.scale * cap as f64,
                as_printed: as_printed(records, outliers, epsilon, cap)? * root / epsilon,
            });
        }
        Ok(found)
    }
}

/// The smooth bound as printed: the maximum over t of e^{−tε} times the bound at distance t.
fn as_printed(
    records: &Records,
    outliers: Outliers,
    epsilon: f64,
    cap: u64,
) -> Result<f64, PrivacyError> {
    let horizon = Horizon::new(epsilon, cap);
    let found = degrees(
        records,
        outliers.squared_radius,
        horizon.degree_cap(outliers.k),
    );
    let method = Bound::Auto.resolve(
        records.rows(),
        records.columns(),
        horizon.calls(),
        WORK_LIMIT,
    )?;
    let ball = method.on(records, outliers.squared_radius, WORK_LIMIT);
    Ok(smooth_bound(&found, outliers.k, horizon, &*ball)?.value)
}

/// A point of Figures 5 to 7: averages over repeated choices.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChoiceRow {
    /// The number h of subspaces that are chosen.
    pub top: usize,
    /// The privacy parameter ε: the choice spends all of it and no more.
    pub epsilon: f64,
    /// The precision: the share of the chosen subspaces that are true.
    pub precision: f64,
    /// The recall: the share of the true subspaces that are chosen.
    pub recall: f64,
    /// Precision with the probabilities as Algorithm 3 prints them, which cost 2 ε.
    pub precision_as_printed: f64,
    /// Recall with the probabilities as Algorithm 3 prints them, which cost 2 ε.
    pub recall_as_printed: f64,
}

/// The curves of Figure 5, 6 or 7.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChoiceCurve {
    /// The true number of outliers in each dimension.
    pub outliers: Vec<i64>,
    /// The true subspaces.
    pub true_columns: Vec<usize>,
    /// A point for each h and ε.
    pub rows: Vec<ChoiceRow>,
}

impl PaperFigure {
    /// Computes the curves of Figure 5, 6 or 7, with `repeats` choices at each point.
    ///
    /// # Errors
    /// When parameters do not fit.
    pub fn choice_curve(
        &self,
        data: &PaperData,
        seed: u64,
        repeats: u32,
    ) -> Result<ChoiceCurve, PrivacyError> {
        let outliers = data.outliers(self.paper.radius, 1)?;
        let (rows, columns) = (data.records.rows(), data.records.columns());
        let plan = |top: usize, epsilon: f64| {
            let choice = Choice {
                dimensions: 1,
                top,
                epsilon,
            };
            SubspacePlan::new(choice, None, outliers, rows, columns)
        };
        let counts = plan(1, 1.0)?.reveal(&data.records);
        let true_columns = data
            .true_columns
            .clone()
            .unwrap_or_else(|| fullest(&counts));
        let mut found = ChoiceCurve {
            outliers: counts,
            true_columns,
            rows: Vec::new(),
        };
        for top in TOPS {
            for epsilon in CHOICE_EPSILONS {
                let hits = |epsilon: f64| -> Result<f64, PrivacyError> {
                    let plan = plan(top, epsilon)?;
                    let mut bits = SeededBits::not_private(seed, top as u64);
                    let mut hits = 0;
                    for _ in 0..repeats {
                        let chosen = plan.choose(&found.outliers, &mut bits)?;
                        hits += chosen
                            .iter()
                            .filter(|at| found.true_columns.contains(at))
                            .count();
                    }
                    Ok(hits as f64 / f64::from(repeats))
                };
                let (declared, printed) = (hits(epsilon)?, hits(2.0 * epsilon)?);
                let size = found.true_columns.len() as f64;
                let row = ChoiceRow {
                    top,
                    epsilon,
                    precision: declared / top as f64,
                    recall: declared / size,
                    precision_as_printed: printed / top as f64,
                    recall_as_printed: printed / size,
                };
                found.rows.push(row);
            }
        }
        Ok(found)
    }
}

/// The two dimensions with the most outliers; among equals the first ones.
fn fullest(counts: &[i64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(counts[at]));
    order.truncate(2);
    order.sort_unstable();
    order
}
