//! The gaps between groups, each with an interval: that of calibration errors holds for any number
//! of rows, the others are the bootstrap's.
//!
//! **Interval of a difference.** The difference of a rate v is max_g v_g − min_g v_g over the
//! groups judged. A percentile interval of it would be wrong where the groups are alike: resampled
//! differences are never below 0 and lie above the true one on average. Here the deviations d_g =
//! v*_g − v_g of a bootstrap sample are used instead. Two vectors of rates u, v satisfy
//!
//! |(max u − min u) − (max v − min v)| ≤ max_{g,h} |(u_g − v_g) − (u_h − v_h)| = max_g d_g − min_g d_g,
//!
//! since a difference of two coordinates moves by at most the right side, and the largest of
//! several differences moves no further than any one of them does. So if q is the 95 % quantile of
//! the right side, estimated by the bootstrap, the difference ± q covers the true difference with
//! probability of at least 95 % as far as the bootstrap's distribution of the deviations is right,
//! for any number of groups and also where the truth is 0. For two groups it is the symmetric
//! bootstrap interval of their difference.
//!
//! **Ratio.** The same on the logarithms of the rates.
//!
//! **Equalised odds.** The larger of the differences in true and in false positive rates, with the
//! larger of both right sides.
//!
//! **Rates of 0 and 1** do not vary when rows are resampled. For each such group the distance to
//! the far end of its exact 95 % interval is known; the largest is added to q.
//!
//! **Calibration errors.** Each of the G errors judged has an interval \[l_g, u_g\] that holds with
//! probability 1 − 0.05/G ([`super::calibration`]), so all hold at once with 95 %. Then the gap,
//! the largest v_g − v_h, is at least the largest l_g − u_h and at most the largest u_g − l_h of
//! two groups.
//!
//! **Clearest difference.** The largest difference is often that of the smallest groups, whose rates
//! scatter most. [`Differences`] therefore names the two groups whose difference is farthest from 0 for
//! certain: of all m pairs of judged groups the one with the highest lower end of its interval. Each
//! pair has the interval of Zou and Donner (2008) for the difference of two independent shares,
//! made of their exact intervals at 1 − 0.05/m, so that those of all pairs hold at once with 95 %
//! (Bonferroni) and the choice among them breaks none. Two groups are one pair, whose difference is the
//! gap itself.

use serde::Serialize;

use super::bootstrap::{Deviations, quantile};
use super::calibration::CalibrationError;
use super::tally::{Measure, Tally};
use crate::statistics::clopper_pearson;

/// The gap between groups in a rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gap {
    /// The difference (0 is equal), or the ratio (1 is equal).
    pub value: f64,
    /// The 95 % interval of the gap.
    pub ci95: [f64; 2],
    /// The group with the lowest rate: values of the attributes.
    pub lowest: Vec<String>,
    /// The group with the highest rate.
    pub highest: Vec<String>,
}

/// The gaps of one partition; each is absent when fewer than two groups are large enough.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gaps {
    /// Largest minus smallest share of favourable predictions.
    pub demographic_parity_difference: Option<Gap>,
    /// Smallest share of favourable predictions over the largest; absent too if nothing is
    /// predicted favourably.
    pub demographic_parity_ratio: Option<Gap>,
    /// The larger of the differences in true and in false positive rates.
    pub equalised_odds_difference: Option<Gap>,
    /// Difference in true positive rates.
    pub equal_opportunity_difference: Option<Gap>,
    /// Difference in accuracy.
    pub accuracy_difference: Option<Gap>,
    /// Difference in expected calibration errors.
    pub calibration_difference: Option<Gap>,
}

/// The two groups of one partition whose difference is the clearest, for each rate; absent when fewer
/// than two groups are large enough.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Differences {
    /// In the share of favourable predictions.
    pub selection_rate: Option<Gap>,
    /// In the true positive rate.
    pub true_positive_rate: Option<Gap>,
    /// In the false positive rate.
    pub false_positive_rate: Option<Gap>,
}

/// Name of the ratio, the only gap that is best at 1.
pub const PARITY_RATIO: &str = "demographic parity ratio";

impl Gaps {
    /// The gaps with their names, which are those of the summary with blanks.
    pub fn named(&self) -> [(&'static str, Option<&Gap>); 6] {
        [
            (
                "demographic parity difference",
                self.demographic_parity_difference.as_ref(),
            ),
            (PARITY_RATIO, self.demographic_parity_ratio.as_ref()),
            (
                "equalised odds difference",
                self.equalised_odds_difference.as_ref(),
            ),
            (
                "equal opportunity difference",
                self.equal_opportunity_difference.as_ref(),
            ),
            ("accuracy difference", self.accuracy_difference.as_ref()),
            (
                "calibration difference",
                self.calibration_difference.as_ref(),
            ),
        ]
    }
}

/// The groups of one partition, with the results of resampling them.
pub(super) struct Compared<'a> {
    /// Names of the groups.
    pub names: &'a [Vec<String>],
    /// Counts of the groups.
    pub tallies: &'a [Tally],
    /// Number of rows that a rate must be a share of to be judged.
    pub min_group: u64,
    /// Deviations of bootstrap samples.
    pub deviations: &'a Deviations,
}

impl Compared<'_> {
    /// All gaps.
    pub fn gaps(&self) -> Gaps {
        Gaps {
            demographic_parity_difference: self.difference(Measure::Selection),
            demographic_parity_ratio: self.ratio(),
            equalised_odds_difference: self.equalised_odds(),
            equal_opportunity_difference: self.difference(Measure::TruePositive),
            accuracy_difference: self.difference(Measure::Accuracy),
            calibration_difference: self.calibration_difference(),
        }
    }

    /// The clearest difference in each rate.
    pub fn differences(&self) -> Differences {
        Differences {
            selection_rate: self.clearest(Measure::Selection),
            true_positive_rate: self.clearest(Measure::TruePositive),
            false_positive_rate: self.clearest(Measure::FalsePositive),
        }
    }

    fn clearest(&self, measure: Measure) -> Option<Gap> {
        let judged = self.judged(measure);
        if judged.len() <= 2 {
            return self.difference(measure);
        }
        let pairs = judged.len() * (judged.len() - 1) / 2;
        let reaches: Vec<[f64; 2]> = judged
            .iter()
            .map(|&(group, rate)| {
                let tally = &self.tallies[group];
                let (count, rows) = (tally.numerator(measure), tally.denominator(measure));
                let [low, high] = clopper_pearson(count, rows, 0.05 / pairs as f64);
                [rate - low, high - rate]
            })
            .collect();
        let differences = (0..judged.len()).flat_map(|one| {
            let (judged, reaches) = (&judged, &reaches);
            (one + 1..judged.len()).map(move |other| {
                let (low, high) = match judged[other].1 < judged[one].1 {
                    true => (other, one),
                    false => (one, other),
                };
                let value = judged[high].1 - judged[low].1;
                let ends = [
                    value - reaches[high][0].hypot(reaches[low][1]),
                    value + reaches[high][1].hypot(reaches[low][0]),
                ];
                (value, ends, judged[low].0, judged[high].0)
            })
        });
        let (value, [from, to], low, high) =
            differences.reduce(|best, of| if of.1[0] > best.1[0] { of } else { best })?;
        Some(self.gap(value, [from.max(0.0), to.min(1.0)], low, high))
    }

    /// The groups whose rate is judged, each with its rate.
    fn judged(&self, measure: Measure) -> Vec<(usize, f64)> {
        let groups = self.tallies.iter().enumerate();
        groups
            .filter(|(_, tally)| tally.denominator(measure) >= self.min_group)
            .filter_map(|(group, tally)| Some((group, tally.rate(measure)?)))
            .collect()
    }

    /// Lowest and highest of at least two judged rates.
    fn extremes(&self, measure: Measure) -> Option<((usize, f64), (usize, f64))> {
        extremes(&self.judged(measure))
    }

    /// The largest distance from a rate of 0 or 1 to the far end of its exact interval.
    fn unseen(&self, measure: Measure) -> f64 {
        let fixed = self.judged(measure).into_iter();
        fixed
            .filter(|&(_, rate)| rate == 0.0 || rate == 1.0)
            .map(|(group, rate)| {
                let tally = &self.tallies[group];
                let (count, rows) = (tally.numerator(measure), tally.denominator(measure));
                let [low, high] = clopper_pearson(count, rows, 0.05);
                (high - rate).max(rate - low)
            })
            .fold(0.0, f64::max)
    }

    fn gap(&self, value: f64, ci95: [f64; 2], low: usize, high: usize) -> Gap {
        Gap {
            value,
            ci95,
            lowest: self.names[low].clone(),
            highest: self.names[high].clone(),
        }
    }

    fn difference(&self, measure: Measure) -> Option<Gap> {
        let (low, high) = self.extremes(measure)?;
        let reach = quantile(self.deviations.ranges(measure)) + self.unseen(measure);
        Some(self.around(high.1 - low.1, reach, low.0, high.0))
    }

    fn equalised_odds(&self) -> Option<Gap> {
        let measures = [Measure::TruePositive, Measure::FalsePositive];
        let [own, other] = measures.map(|measure| self.extremes(measure));
        let (own, other) = (own?, other?);
        let larger: Vec<f64> = self
            .deviations
            .ranges(measures[0])
            .iter()
            .zip(self.deviations.ranges(measures[1]))
            .map(|(a, b)| a.max(*b))
            .collect();
        let reach = quantile(&larger)
            + measures
                .map(|m| self.unseen(m))
                .into_iter()
                .fold(0.0, f64::max);
        let width = |((_, low), (_, high)): &((usize, f64), (usize, f64))| high - low;
        let wider = if width(&other) > width(&own) {
            other
        } else {
            own
        };
        Some(self.around(width(&wider), reach, wider.0.0, wider.1.0))
    }

    fn calibration_difference(&self) -> Option<Gap> {
        let tallies = self.tallies.iter().enumerate();
        let judged: Vec<(usize, CalibrationError)> = tallies
            .filter(|(_, tally)| tally.known() >= self.min_group)
            .filter_map(|(group, tally)| Some((group, tally.calibration()?)))
            .collect();
        let values: Vec<(usize, f64)> = judged.iter().map(|(g, error)| (*g, error.value)).collect();
        let (low, high) = extremes(&values)?;
        let alpha = 0.05 / judged.len() as f64;
        let intervals: Vec<[f64; 2]> = judged.iter().map(|(_, e)| e.interval(alpha)).collect();
        let mut ci95 = [0.0_f64; 2];
        for (one, [low, high]) in intervals.iter().enumerate() {
            for (other, [other_low, other_high]) in intervals.iter().enumerate() {
                if one != other {
                    ci95[0] = ci95[0].max(low - other_high);
                    ci95[1] = ci95[1].max(high - other_low);
                }
            }
        }
        Some(self.gap(high.1 - low.1, ci95, low.0, high.0))
    }

    fn around(&self, value: f64, reach: f64, low: usize, high: usize) -> Gap {
        let ci95 = [(value - reach).max(0.0), (value + reach).min(1.0)];
        self.gap(value, ci95, low, high)
    }

    fn ratio(&self) -> Option<Gap> {
        let (low, high) = self.extremes(Measure::Selection)?;
        if high.1 == 0.0 {
            return None;
        }
        let ratio = low.1 / high.1;
        let ci95 = if low.1 == 0.0 {
            // No logarithm: exact intervals that hold for all groups at once.
            let alpha = 0.05 / self.judged(Measure::Selection).len() as f64;
            let end = |group: usize| {
                let tally = &self.tallies[group];
                clopper_pearson(tally.numerator(Measure::Selection), tally.rows(), alpha)
            };
            [0.0, (end(low.0)[1] / end(high.0)[0]).min(1.0)]
        } else {
            let reach = quantile(self.deviations.log_ranges());
            [ratio * (-reach).exp(), (ratio * reach.exp()).min(1.0)]
        };
        Some(self.gap(ratio, ci95, low.0, high.0))
    }
}

/// Lowest and highest of at least two rates of groups; the first of equal ones, and two groups also
/// where all are equal.
fn extremes(rates: &[(usize, f64)]) -> Option<((usize, f64), (usize, f64))> {
    if rates.len() < 2 {
        return None;
    }
    let rates = rates.iter().copied();
    let low = rates.clone().reduce(|a, b| if b.1 < a.1 { b } else { a })?;
    let others = rates.filter(|(group, _)| *group != low.0);
    let high = others.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    Some((low, high))
}
