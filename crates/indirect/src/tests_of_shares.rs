//! Tests of two shares, and the correction for there being many.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::factorial::ln_factorial;

/// The level of the papers, and the quantile of the normal distribution that they use for it.
const PUBLISHED: (f64, f64) = (0.05, 1.645);

/// How much a p-value may be above a level that it equals but for rounding, as a share of it.
const ROUNDING: f64 = 1e-9;

/// Returns whether a p-value, or the level of a discovery, is at most `level`, but for rounding: 1 in 10
/// is at most 0.1, whatever the last bit of its sum.
pub(crate) fn is_at_most(p: f64, level: f64) -> bool {
    p <= level * (1.0 + ROUNDING)
}

/// Returns Fisher's exact one-sided p-value of counts `[unfavourable, of]`: the probability of at least
/// as many unfavourable ones among `more`, given how many there are on both sides together.
///
/// The probabilities of the counts from the observed one on are summed, each from the one before by
/// their ratio, so the relative error stays within some rounding errors a term.
pub(crate) fn fisher(more: [u32; 2], less: [u32; 2]) -> f64 {
    let ([x, n], [y, m]) = (more.map(u64::from), less.map(u64::from));
    let unfavourable = x + y;
    let least = unfavourable.saturating_sub(m);
    let most = unfavourable.min(n);
    if x <= least {
        return 1.0;
    }
    // The tail that does not hold the bulk is summed, so that no small number is a difference of large
    // ones.
    let mean = unfavourable as f64 * n as f64 / (n + m) as f64;
    match x as f64 > mean {
        true => tail([n, m], unfavourable, x..=most).min(1.0),
        // The other tail from its largest term on: those of the other side.
        false => {
            let most = (unfavourable - least).min(m);
            (1.0 - tail([m, n], unfavourable, unfavourable + 1 - x..=most)).max(0.0)
        }
    }
}

/// The probability that a hypergeometric number lies in `range`: of `unfavourable` out of `n + m`
/// people those among the `n`.
fn tail([n, m]: [u64; 2], unfavourable: u64, range: std::ops::RangeInclusive<u64>) -> f64 {
    let choose = |n: u64, k: u64| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    let first = *range.start();
    let logarithm =
        choose(n, first) + choose(m, unfavourable - first) - choose(n + m, unfavourable);
    let (mut term, mut sum) = (logarithm.exp(), 0.0);
    for x in range {
        sum += term;
        let (rest, gone) = ((n - x) as f64, (x + 1) as f64);
        let other = (unfavourable - x) as f64;
        // Beyond the last count the term is not used.
        let other_rest = (m + x + 1).saturating_sub(unfavourable).max(1) as f64;
        term *= rest * other / (gone * other_rest);
    }
    sum
}

/// Returns the probability that at least `least` of `n` are heads, where each is by a chance of one half.
pub(crate) fn binomial_half(least: u64, n: u64) -> f64 {
    // Half of all is below the tail, so that no small number is a difference of large ones.
    if 2 * least <= n {
        return 1.0;
    }
    let logarithm =
        ln_factorial(n) - ln_factorial(least) - ln_factorial(n - least) - n as f64 * 2f64.ln();
    let (mut term, mut sum) = (logarithm.exp(), 0.0);
    for heads in least..=n {
        sum += term;
        term *= (n - heads) as f64 / (heads + 1) as f64;
    }
    sum.min(1.0)
}

/// Returns whether the share of `more`, counts `[unfavourable, of]`, is above that of `less` when
/// rounded to three decimals, and whether it is still when the one-sided margin of Wald's interval at
/// `level` is taken off, as the papers have it.
pub(crate) fn is_beyond_wald(more: [u32; 2], less: [u32; 2], level: f64) -> (bool, bool) {
    let share = |[x, n]: [u32; 2]| f64::from(x) / f64::from(n.max(1));
    let variance = |counts: [u32; 2]| {
        let p = share(counts);
        p * (1.0 - p) / f64::from(counts[1].max(1))
    };
    let difference = share(more) - share(less);
    let quantile = match level == PUBLISHED.0 {
        true => PUBLISHED.1,
        false => Normal::standard().inverse_cdf(1.0 - level),
    };
    let margin = quantile * (variance(more) + variance(less)).sqrt();
    let is_above_zero = |value: f64| (value * 1000.0).round_ties_even() > 0.0;
    (
        is_above_zero(difference),
        is_above_zero(difference - margin),
    )
}

/// Returns, for each of the p-values `p`, the least expected share of false discoveries at which it
/// is one (Benjamini and Hochberg 1995): the least p₍ⱼ₎·m/j of those that are not below it.
pub(crate) fn discoveries(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut q = vec![1.0; p.len()];
    let mut least = 1.0_f64;
    for (rank, &place) in order.iter().enumerate().rev() {
        least = least.min(p[place] * p.len() as f64 / (rank + 1) as f64);
        q[place] = least;
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By enumerating all tables.
    fn by_counting([x, n]: [u64; 2], [y, m]: [u64; 2]) -> f64 {
        let choose =
            |n: u64, k: u64| -> f64 { (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product() };
        let all = choose(n + m, x + y);
        let from = x.max((x + y).saturating_sub(m));
        (from..=n.min(x + y))
            .map(|i| choose(n, i) * choose(m, x + y - i) / all)
            .sum()
    }

    #[test]
    fn fishers_test_is_the_sum_over_all_tables() {
        for n in 1..=9_u32 {
            for m in 1..=9_u32 {
                for x in 0..=n {
                    for y in 0..=m {
                        let found = fisher([x, n], [y, m]);
                        let expected = by_counting([x, n].map(u64::from), [y, m].map(u64::from));
                        assert!((found - expected).abs() < 1e-12, "{x}/{n} {y}/{m}: {found}");
                    }
                }
            }
        }
        // Fisher's tea: 3 of 4 and 1 of 4.
        assert!((fisher([3, 4], [1, 4]) - 17.0 / 70.0).abs() < 1e-14);
        assert!(fisher([500, 500], [0, 500]) < 1e-290);
        assert!((fisher([250, 500], [250, 500]) - 0.525).abs() < 1e-2);
        // Both tails of large groups, of which the observed number is in each.
        for (x, y) in [(4_900, 5_000), (5_000, 5_000), (4_990, 5_010)] {
            let [one, other] = [
                fisher([x, 9_000], [y, 9_000]),
                fisher([y, 9_000], [x, 9_000]),
            ];
            assert!((1.0..1.02).contains(&(one + other)), "{one} {other}");
        }
    }

    #[test]
    fn tails_of_coins_are_sums_of_binomials() {
        for n in 0..=20_u64 {
            for least in 0..=n {
                let choose =
                    |k: u64| -> f64 { (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product() };
                let expected: f64 = (least..=n).map(choose).sum::<f64>() / 2f64.powi(n as i32);
                let found = binomial_half(least, n);
                match 2 * least <= n {
                    true => assert_eq!(found, 1.0),
                    false => assert!((found - expected).abs() < 1e-12, "{least} of {n}: {found}"),
                }
            }
        }
    }

    #[test]
    fn walds_interval_calls_one_of_one_significant() {
        assert_eq!(is_beyond_wald([1, 1], [0, 1], 0.05), (true, true));
        assert!((fisher([1, 1], [0, 1]) - 0.5).abs() < 1e-15);
        assert_eq!(is_beyond_wald([3, 15], [3, 15], 0.05), (false, false));
        // 0.0004 rounds to nothing.
        assert_eq!(is_beyond_wald([1, 2500], [0, 2500], 0.05), (false, false));
        // 0.4 less 1.645·√(0.048) is 0.04; at one in ten thousand 3.72 of them are 0.81.
        assert_eq!(is_beyond_wald([2, 5], [0, 5], 0.05), (true, true));
        assert_eq!(is_beyond_wald([2, 5], [0, 5], 0.0001), (true, false));
    }

    #[test]
    fn discoveries_are_those_of_the_definition() {
        let p = [0.03, 0.001, 0.2, 0.012, 0.9, 0.04];
        let q = discoveries(&p);
        for level in [0.01, 0.05, 0.06, 0.08, 0.3, 1.0] {
            let mut sorted = p.to_vec();
            sorted.sort_by(f64::total_cmp);
            let last = sorted
                .iter()
                .enumerate()
                .filter(|(i, p)| **p <= level * (i + 1) as f64 / 6.0)
                .map(|(_, p)| *p)
                .fold(f64::NEG_INFINITY, f64::max);
            for (p, q) in p.iter().zip(&q) {
                assert_eq!(*p <= last, *q <= level + 1e-12, "{p} at {level}");
            }
        }
        assert!(discoveries(&[]).is_empty());
    }
}
