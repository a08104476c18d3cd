//! How well scores tell members of a group from others: the area under the ROC curve.
//!
//! The area is the probability that a member drawn at random has a higher score than somebody else
//! drawn at random, half of it where both have the same. Scores of different folds come from different
//! networks and do not compare, and the share of members in a fold moves the scores of the others the
//! opposite way; so only pairs of one fold are looked at. The area is the share of these pairs that
//! are in order, U = Σ w_f·U_f with w_f the fold's share of all pairs.
//!
//! # The interval
//!
//! Given the networks, the variance of U_f is estimated by DeLong, DeLong and Clarke-Pearson (1988):
//! with m members and n others, S₁₀/m + S₀₁/n, where S₁₀ is the sample variance, over members, of the
//! share of others below them, and S₀₁ that, over others, of the share of members above them.
//!
//! The folds are not independent: each teaches the networks of the others. Where columns do tell, this
//! vanishes from the limit, and the variances add up with the squares of the weights (LeDell, Petersen,
//! van der Laan, Electronic Journal of Statistics 9, 2015, Theorem 1). Where they tell nothing it does
//! not. Let what is learnt be linear in the labels by a symmetric kernel, as frequencies are and, near
//! their start, networks; then U_f − 1/2 is a sum of terms a(f, g) over the other folds g that teach,
//! with a(f, g) = a(g, f), expectation 0, and uncorrelated but for this symmetry. In Σ U_f each of them
//! stands twice, so its variance is twice the sum of the variances. The variance is doubled
//! *everywhere*: the interval is then right where columns tell nothing, and too wide where they tell
//! much. It is that of a normal distribution on the scale ln(U/(1−U)).
//!
//! Where hardly a pair is out of order (or in order), DeLong's estimate is next to 0 and says nothing.
//! There a bound takes its place: let k = min(m, n). U_f is the mean, over all ways to put k members
//! and k others into disjoint pairs, of the mean of k independent values from 0 to 1 with expectation
//! θ. Each of these means has variance at most θ(1−θ)/k, and the variance of a mean of variables is at
//! most the largest of theirs; so is that of U_f (van Dantzig 1951). The interval are all θ with
//! (U − θ)² ≤ z²·θ(1−θ)/K, where 1/K = 2·Σ w_f²/k_f, as Wilson's is of a share of K.
//!
//! What is estimated is how well *these networks* tell, each taught by a part of the rows; what the
//! best one could do is at least that.

use serde::Serialize;

use super::folds::Folds;

/// The 97.5 % quantile of the normal distribution.
pub(super) const QUANTILE: f64 = 1.959_963_984_540_054;

/// The number of independent pairs that must lie in order, and out of order, for DeLong's variance to
/// be taken: K·U·(1−U).
const TRUSTED: f64 = 5.0;

/// How many times a term of one fold teaching another stands in the sum of all folds.
pub(super) const TWICE: f64 = 2.0;

/// A figure and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The 95 % interval of what it estimates.
    pub ci95: [f64; 2],
}

/// What a fold's pairs say.
struct FoldAuc {
    /// The number of pairs.
    pairs: f64,
    /// The share of them that are in order.
    auc: f64,
    /// DeLong's variance of that share.
    variance: f64,
    /// The number of independent pairs.
    independent: f64,
}

/// Returns the area under the ROC curve of `scores` for telling members from others, among pairs of
/// one fold; 0.5, with the interval from 0 to 1, where no fold has a pair.
pub fn auc(scores: &[f64], is_member: &[bool], folds: &Folds) -> Estimate {
    let mut of_fold: Vec<Vec<(f64, bool)>> = vec![Vec::new(); folds.count as usize];
    for ((&score, &is_member), &fold) in scores.iter().zip(is_member).zip(&folds.of_row) {
        of_fold[fold as usize].push((score, is_member));
    }
    let folds = of_fold.iter_mut().filter_map(|rows| of_rows(rows));
    combined(&folds.collect::<Vec<FoldAuc>>())
}

/// Returns only the area: see [`auc`].
pub(super) fn area(scores: &[f64], is_member: &[bool], folds: &Folds) -> f64 {
    auc(scores, is_member, folds).value
}

fn combined(folds: &[FoldAuc]) -> Estimate {
    let pairs: f64 = folds.iter().map(|fold| fold.pairs).sum();
    if pairs == 0.0 {
        return Estimate {
            value: 0.5,
            ci95: [0.0, 1.0],
        };
    }
    let sum = |of: fn(&FoldAuc, f64) -> f64| -> f64 {
        folds.iter().map(|fold| of(fold, fold.pairs / pairs)).sum()
    };
    let value = sum(|fold, weight| weight * fold.auc).clamp(0.0, 1.0);
    let variance = TWICE * sum(|fold, weight| weight * weight * fold.variance);
    let independent = 1.0 / (TWICE * sum(|fold, weight| weight * weight / fold.independent));
    let spread = value * (1.0 - value);
    let ci95 = match spread * independent >= TRUSTED && variance > 0.0 {
        true => {
            let logit = (value / (1.0 - value)).ln();
            let half = QUANTILE * variance.sqrt() / spread;
            [logit - half, logit + half].map(|it| 1.0 / (1.0 + (-it).exp()))
        }
        false => wilson(value, independent),
    };
    Estimate { value, ci95 }
}

/// Returns Wilson's interval of a share `value` of `of` independent ones.
fn wilson(value: f64, of: f64) -> [f64; 2] {
    let squared = QUANTILE * QUANTILE;
    let middle = value + squared / (2.0 * of);
    let half = QUANTILE * (value * (1.0 - value) / of + squared / (4.0 * of * of)).sqrt();
    let below = 1.0 + squared / of;
    // Rounding must not cut off the share itself.
    [
        ((middle - half) / below).clamp(0.0, value),
        ((middle + half) / below).clamp(value, 1.0),
    ]
}

/// Returns what the pairs among `rows` say, scores with whether they are a member's; sorts the rows.
fn of_rows(rows: &mut [(f64, bool)]) -> Option<FoldAuc> {
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let members = rows.iter().filter(|row| row.1).count() as f64;
    let others = rows.len() as f64 - members;
    if members == 0.0 || others == 0.0 {
        return None;
    }
    // Sums and sums of squares of the shares of the other side that are below, or above.
    let (mut of_members, mut of_others) = ([0.0; 2], [0.0; 2]);
    let mut below = [0.0; 2];
    for equal in rows.chunk_by(|a, b| a.0 == b.0) {
        let own = equal.iter().filter(|row| row.1).count() as f64;
        let other = equal.len() as f64 - own;
        let below_member = (below[0] + other / 2.0) / others;
        let above_other = (members - below[1] - own / 2.0) / members;
        for (sums, count, share) in [
            (&mut of_members, own, below_member),
            (&mut of_others, other, above_other),
        ] {
            sums[0] += count * share;
            sums[1] += count * share * share;
        }
        below = [below[0] + other, below[1] + own];
    }
    let auc = of_members[0] / members;
    let variance_of = |[_, squares]: [f64; 2], count: f64| match count > 1.0 {
        true => (squares - count * auc * auc).max(0.0) / (count - 1.0) / count,
        // A single one shows no spread; the largest that is possible stands for it.
        false => auc * (1.0 - auc),
    };
    Some(FoldAuc {
        pairs: members * others,
        auc,
        variance: variance_of(of_members, members) + variance_of(of_others, others),
        independent: members.min(others),
    })
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::proxies::column::Values;
    use crate::proxies::folds::EqualRows;
    use probity_run::stream::{Purpose, stream};

    fn dealt(of_row: Vec<u32>, count: u32) -> Folds {
        Folds {
            of_row,
            count,
            equal_rows: EqualRows::Apart,
        }
    }

    /// Scores of which many are equal, and folds.
    fn drawn(seed: u64, rows: usize, shift: f64, levels: f64) -> (Vec<f64>, Vec<bool>, Folds) {
        let mut random = stream(seed, Purpose::Synthetic, 0, 1);
        let is_member: Vec<bool> = (0..rows).map(|_| random.random::<f64>() < 0.3).collect();
        let scores = is_member.iter().map(|&is_member| {
            let score: f64 = random.random::<f64>() + if is_member { shift } else { 0.0 };
            (score * levels).round() / levels
        });
        let scores = scores.collect();
        let of_row = (0..rows).map(|_| random.random_range(0..5)).collect();
        (scores, is_member, dealt(of_row, 5))
    }

    #[test]
    fn the_area_is_that_of_counting_all_pairs() {
        for seed in 0..20 {
            let (scores, is_member, folds) = drawn(seed, 120, 0.3, 8.0);
            let (mut in_order, mut pairs) = (0.0, 0.0);
            for a in (0..120).filter(|&a| is_member[a]) {
                for b in (0..120).filter(|&b| !is_member[b] && folds.of_row[a] == folds.of_row[b]) {
                    pairs += 1.0;
                    in_order += match scores[a].total_cmp(&scores[b]) {
                        std::cmp::Ordering::Greater => 1.0,
                        std::cmp::Ordering::Equal => 0.5,
                        std::cmp::Ordering::Less => 0.0,
                    };
                }
            }
            let found = auc(&scores, &is_member, &folds);
            assert!((found.value - in_order / pairs).abs() < 1e-12);
            assert!(found.ci95[0] < found.value && found.value < found.ci95[1]);
        }
    }

    #[test]
    fn delongs_variance_is_that_of_its_definition() {
        let (scores, is_member, _) = drawn(3, 80, 0.4, 10.0);
        let mut rows: Vec<(f64, bool)> = scores.iter().copied().zip(is_member).collect();
        let found = of_rows(&mut rows).unwrap();
        let side = |wanted: bool| -> Vec<f64> {
            let of_side = rows.iter().filter(|row| row.1 == wanted);
            of_side.map(|row| row.0).collect()
        };
        let (x, y) = (side(true), side(false));
        let order = |x: f64, y: f64| f64::from(x > y) + f64::from(x == y) / 2.0;
        let spread = |shares: &[f64]| {
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            let squares: f64 = shares.iter().map(|it| (it - mean).powi(2)).sum();
            squares / (shares.len() - 1) as f64 / shares.len() as f64
        };
        let of = |of: &[f64], others: &[f64], order: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
            let share = |&x: &f64| others.iter().map(|&y| order(x, y)).sum::<f64>();
            of.iter().map(|x| share(x) / others.len() as f64).collect()
        };
        let expected = spread(&of(&x, &y, &order)) + spread(&of(&y, &x, &|y, x| order(x, y)));
        assert!((found.variance - expected).abs() < 1e-12);
    }

    #[test]
    fn intervals_hold_the_true_area_as_often_as_they_say() {
        // Uniform scores on [s, 1 + s] and [0, 1]: the area is 1 − (1 − s)²/2.
        for (shift, rows) in [
            (0.0, 60),
            (0.0, 400),
            (0.3, 60),
            (0.3, 400),
            (0.9, 100),
            (0.9, 800),
        ] {
            let truth = 1.0 - (1.0_f64 - shift).powi(2) / 2.0;
            let repeats = 1000;
            let held = (0..repeats).filter(|&seed| {
                let (scores, is_member, folds) = drawn(100 + seed, rows, shift, 1e9);
                let [low, high] = auc(&scores, &is_member, &folds).ci95;
                (low..=high).contains(&truth)
            });
            let held = held.count();
            assert!(
                held >= 940,
                "{held} of {repeats}: shift {shift}, {rows} rows"
            );
        }
    }

    /// Frequencies of other folds, of a column that has nothing to do with the group: the folds teach
    /// each other, and what they have in common by chance counts twice.
    #[test]
    fn intervals_hold_a_half_where_nothing_is_told() {
        for (rows, values) in [(200, 3), (200, 12), (1000, 6)] {
            let held = (0..1000).filter(|&seed| {
                let mut random = stream(seed, Purpose::Synthetic, 1, 1);
                let mut next = |below: i32| random.random_range(0..below);
                let codes: Vec<i32> = (0..rows).map(|_| next(values)).collect();
                let is_member: Vec<bool> = (0..rows).map(|_| next(10) < 3).collect();
                let folds = dealt((0..rows).map(|_| next(5) as u32).collect(), 5);
                let column = Values::new(&codes, |_| true);
                let scores = column.frequencies(&is_member, &folds);
                let [low, high] = auc(&scores, &is_member, &folds).ci95;
                (low..=high).contains(&0.5)
            });
            let held = held.count();
            assert!(held >= 940, "{held} of 1000: {rows} rows, {values} values");
        }
    }

    #[test]
    fn perfect_scores_have_an_interval_too() {
        let is_member: Vec<bool> = (0..40).map(|row| row % 2 == 0).collect();
        let scores: Vec<f64> = is_member.iter().map(|it| f64::from(*it)).collect();
        let found = auc(&scores, &is_member, &dealt(vec![0; 40], 1));
        assert_eq!(found.value, 1.0);
        // Wilson's of 10 of 10.
        assert!((found.ci95[0] - 10.0 / (10.0 + 3.8415)).abs() < 1e-4);
        assert_eq!(found.ci95[1], 1.0);
    }

    #[test]
    fn without_a_pair_nothing_is_known() {
        let found = auc(&[1.0, 2.0], &[true, false], &dealt(vec![0, 1], 2));
        assert_eq!((found.value, found.ci95), (0.5, [0.0, 1.0]));
        let alone = auc(
            &[1.0, 2.0, 0.0],
            &[true, false, false],
            &dealt(vec![0; 3], 1),
        );
        assert_eq!(alone.value, 0.5);
        assert!(alone.ci95[0] < 0.1 && alone.ci95[1] > 0.9);
    }
}
