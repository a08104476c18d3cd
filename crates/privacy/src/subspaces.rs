//! The private choice of subspaces with many outliers (Section 5, Algorithm 3).
//!
//! Utility of a subspace: u = count / G with G the upper bound on the global sensitivity of the
//! count (equations 18 and 51), so one record changes u by at most 1. The exponential mechanism
//! that draws S with probability proportional to exp(ε′ u / 2) is ε′-DP (McSherry and Talwar; the
//! paper's Theorem 7 says the same of exp(ε′ u), which costs 2 ε′). Algorithm 3 draws until h
//! different subspaces are found: that is *peeling*, a draw among those that are left. h draws with
//! ε′ = ε/h cost ε together, exactly what is declared; with exp((ε/h) u) as the algorithm is
//! printed they would cost 2 ε.
//!
//! A draw is exact: a subspace is picked uniformly and kept with probability exp(−(ε/2hG) (c_max −
//! c)) for the integer counts c, by whole numbers and random bits only. Accepted subspaces have the
//! required distribution; the number of tries shows only in time.

use serde::{Deserialize, Serialize};

use super::calibration::{Guarantee, check_epsilon, spendable};
use super::composition::Cost;
use super::count::{
    CountAnswer, CountOptions, CountPlan, Outliers, check_threshold, count_outliers,
};
use super::error::PrivacyError;
use super::kissing::global_sensitivity_at_most;
use super::noise::bernoulli::{Ratio, bernoulli_exp};
use super::noise::{Bits, small_below};
use super::records::Records;

/// The largest number of subspaces that is enumerated.
pub const MOST_SUBSPACES: u64 = 20_000;

/// The parameters of a choice of subspaces.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The number of dimensions of a subspace.
    pub dimensions: usize,
    /// The number of subspaces that are chosen.
    pub top: usize,
    /// The ε of the choice.
    pub epsilon: f64,
}

/// The counts that follow the choice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThenCount {
    /// The ε and δ of all counts together.
    pub guarantee: Guarantee,
    /// The options of each count.
    pub options: CountOptions,
}

/// The checked parameters of one choice.
#[derive(Debug, Clone, PartialEq)]
pub struct SubspacePlan {
    choice: Choice,
    outliers: Outliers,
    rows: usize,
    subspaces: Vec<Vec<usize>>,
    cap: u64,
    counts: Option<CountPlan>,
    cost: Cost,
}

/// A chosen subspace.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The columns of the subspace.
    pub columns: Vec<usize>,
    /// The count in the subspace, if asked for.
    pub answer: Option<CountAnswer>,
}

impl SubspacePlan {
    /// Makes the plan for `rows` records of `columns` columns. `outliers.squared_radius` is that of
    /// the subspaces' dimension.
    ///
    /// # Errors
    /// Any parameter that does not fit.
    pub fn new(
        choice: Choice,
        then_count: Option<ThenCount>,
        outliers: Outliers,
        rows: usize,
        columns: usize,
    ) -> Result<SubspacePlan, PrivacyError> {
        check_epsilon(choice.epsilon)?;
        check_threshold(outliers.k, rows)?;
        let Choice {
            dimensions, top, ..
        } = choice;
        if dimensions == 0 || dimensions > columns {
            return Err(PrivacyError::Dimensions {
                dimensions,
                columns,
            });
        }
        let subspaces = binomial(columns as u64, dimensions as u64);
        if subspaces > MOST_SUBSPACES {
            return Err(PrivacyError::ManySubspaces {
                subspaces,
                dimensions,
                most: MOST_SUBSPACES,
            });
        }
        if top == 0 || top as u64 > subspaces {
            return Err(PrivacyError::Top { top, subspaces });
        }
        let counts = then_count
            .map(|then| {
                let each = Guarantee {
                    epsilon: then.guarantee.epsilon / top as f64,
                    delta: then.guarantee.delta / top as f64,
                };
                CountPlan::new(outliers, each, then.options, rows, dimensions)
            })
            .transpose()?;
        let mut cost = Cost::exponential(choice.epsilon, top);
        if let (Some(then), Some(count)) = (then_count, &counts) {
            let Guarantee { epsilon, delta } = then.guarantee;
            let each = count.cost().rho;
            cost = cost.and(Cost {
                epsilon,
                delta,
                rho: (each * top as f64).next_up(),
            });
        }
        Ok(SubspacePlan {
            choice,
            cost,
            outliers,
            rows,
            subspaces: combinations(columns, dimensions),
            cap: global_sensitivity_at_most(rows, dimensions, outliers.k),
            counts,
        })
    }

    /// Returns the price of everything.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Returns the plan of each count that follows.
    pub fn counts(&self) -> Option<&CountPlan> {
        self.counts.as_ref()
    }

    /// Returns the number of subspaces.
    pub fn subspaces(&self) -> usize {
        self.subspaces.len()
    }

    /// Chooses, and counts if asked to; returns the subspaces in the order of choice.
    ///
    /// # Errors
    /// No random bits.
    pub fn answer(
        &self,
        records: &Records,
        bits: &mut dyn Bits,
    ) -> Result<Vec<Chosen>, PrivacyError> {
        let counts = self.reveal(records);
        self.choose(&counts, bits)?
            .into_iter()
            .map(|at| {
                let columns = self.subspaces[at].clone();
                let answer = self
                    .counts
                    .as_ref()
                    .map(|plan| plan.answer(&records.subspace(&columns), bits))
                    .transpose()?;
                Ok(Chosen { columns, answer })
            })
            .collect()
    }

    /// Counts the true number of outliers in every subspace, in the order of their columns. **Not
    /// private.**
    pub fn reveal(&self, records: &Records) -> Vec<i64> {
        self.subspaces
            .iter()
            .map(|columns| count_outliers(&records.subspace(columns), self.outliers))
            .collect()
    }

    /// Returns the columns of subspace `at`.
    pub fn columns(&self, at: usize) -> &[usize] {
        &self.subspaces[at]
    }

    /// Peels subspaces off, given their true counts, in the order of [`SubspacePlan::reveal`].
    ///
    /// # Errors
    /// No random bits.
    pub fn choose(&self, counts: &[i64], bits: &mut dyn Bits) -> Result<Vec<usize>, PrivacyError> {
        debug_assert!(counts.iter().all(|&count| count <= self.rows as i64));
        let share = Ratio::from_f64(spendable(self.choice.epsilon))
            .times(&Ratio::new(1, 2 * self.choice.top as u64))
            .times(&Ratio::new(1, self.cap));
        let mut left: Vec<usize> = (0..counts.len()).collect();
        (0..self.choice.top)
            .map(|_| {
                let most = left.iter().map(|&at| counts[at]).max().unwrap_or(0);
                let slot = loop {
                    let slot = small_below(left.len() as u64, bits)? as usize;
                    let behind = (most - counts[left[slot]]).unsigned_abs();
                    if bernoulli_exp(&share.times(&Ratio::new(behind, 1)), bits)? {
                        break slot;
                    }
                };
                Ok(left.remove(slot))
            })
            .collect()
    }
}

/// Returns the number of ways to take `taken` of `from`; the largest integer where it is larger.
fn binomial(from: u64, taken: u64) -> u64 {
    (0..taken.min(from - taken)).fold(1_u64, |product, at| {
        let grown = u128::from(product) * u128::from(from - at) / u128::from(at + 1);
        u64::try_from(grown).unwrap_or(u64::MAX)
    })
}

/// Returns all sets of `taken` of the numbers below `from`, in lexicographic order.
fn combinations(from: usize, taken: usize) -> Vec<Vec<usize>> {
    let mut current: Vec<usize> = (0..taken).collect();
    let mut all = Vec::new();
    loop {
        all.push(current.clone());
        let Some(at) = (0..taken).rev().find(|&at| current[at] < from - taken + at) else {
            return all;
        };
        current[at] += 1;
        for later in at + 1..taken {
            current[later] = current[later - 1] + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededBits;
    use crate::noise::tests::follows;

    fn plan(
        columns: usize,
        dimensions: usize,
        top: usize,
        epsilon: f64,
    ) -> Result<SubspacePlan, PrivacyError> {
        let choice = Choice {
            dimensions,
            top,
            epsilon,
        };
        let outliers = Outliers {
            k: 1,
            squared_radius: 1.0,
        };
        SubspacePlan::new(choice, None, outliers, 100, columns)
    }

    #[test]
    fn subspaces_are_enumerated() {
        assert_eq!(combinations(4, 2).len() as u64, binomial(4, 2));
        assert_eq!(combinations(3, 3), [[0, 1, 2]]);
        assert_eq!(combinations(5, 1).last(), Some(&vec![4]));
        assert_eq!(binomial(34, 17), 2_333_606_220);
        assert_eq!(binomial(128, 64), u64::MAX);
        assert!(plan(3, 4, 1, 1.0).is_err() && plan(3, 0, 1, 1.0).is_err());
        assert!(plan(3, 1, 4, 1.0).is_err() && plan(3, 1, 0, 1.0).is_err());
        assert!(plan(40, 20, 1, 1.0).is_err() && plan(3, 1, 1, 0.0).is_err());
    }

    /// The order of two picks follows the product of the two exponential distributions.
    #[test]
    fn picks_follow_the_exponential_mechanism() {
        let (epsilon, top) = (3.0, 2);
        let plan = plan(4, 1, top, epsilon).unwrap();
        assert_eq!(plan.cap, 3);
        let counts = [9, 4, 0, 9];
        let weight: Vec<f64> = counts
            .iter()
            .map(|&count| (epsilon / top as f64 * f64::from(count) / 3.0 / 2.0).exp())
            .collect();
        let sum: f64 = weight.iter().sum();
        let mut observed = Vec::new();
        let mut probabilities = Vec::new();
        let mut bits = SeededBits::not_private(31, 0);
        let mut tally = std::collections::HashMap::new();
        for _ in 0..60_000 {
            let picked = plan.choose(&[9, 4, 0, 9], &mut bits).unwrap();
            *tally.entry(picked).or_insert(0_u64) += 1;
        }
        for (first, first_weight) in weight.iter().enumerate() {
            for (second, second_weight) in weight.iter().enumerate() {
                if second != first {
                    observed.push(*tally.get(&vec![first, second]).unwrap_or(&0));
                    let left = sum - first_weight;
                    probabilities.push(first_weight / sum * second_weight / left);
                }
            }
        }
        follows(&observed, &probabilities);
    }
}
