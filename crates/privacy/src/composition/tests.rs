use super::*;
use crate::noise::bernoulli::Ratio;
use probity_run::stream::{Purpose, stream};
use rand::RngExt;

const BUDGET: Budget = Budget {
    epsilon: 1.0,
    delta: 1e-5,
    slack: 1e-6,
};

fn how_many(budget: Budget, cost: Cost) -> usize {
    let mut spent = Spent::default();
    (0..1_000_000)
        .find(|_| {
            spent = spent.and(cost);
            !budget.admits(&spent)
        })
        .unwrap()
}

fn once(cost: Cost) -> Spent {
    Spent::default().and(cost)
}

#[test]
fn nothing_above_the_budget_is_admitted() {
    let whole = Cost::approximate(1.0, 9e-6);
    assert!(BUDGET.admits(&once(whole)));
    // The square of such an epsilon is no finite number.
    for epsilon in [1e160, 1e308] {
        assert!(!BUDGET.admits(&once(Cost::approximate(epsilon, 0.0))));
        assert!(!BUDGET.admits(&once(Cost::exponential(epsilon, 1))));
    }
    for more in [
        Cost::approximate(1e-13, 0.0),
        Cost::approximate(f64::MIN_POSITIVE, 0.0),
        Cost::approximate(0.0, 1e-20),
    ] {
        assert!(!BUDGET.admits(&once(whole).and(more)), "{more:?}");
    }
}

#[test]
fn what_is_left_of_the_largest_budget_is_finite() {
    let budget = Budget {
        epsilon: 1e308,
        ..BUDGET
    };
    let left = budget.remaining(&once(Cost::approximate(0.0, 1e-6)));
    assert!(
        left.epsilon > 0.0 && left.epsilon <= budget.epsilon,
        "{left:?}"
    );
}

#[test]
fn decimals_are_those_that_are_written() {
    let sum = [0.1, 0.2, 1e-300, 5e-324, 12_345.678, 1e22]
        .map(Decimal::from_f64)
        .iter()
        .fold(Decimal::default(), |sum, next| &sum + next);
    let digits = sum.0.to_string();
    let (whole, fraction) = digits.split_at(23);
    assert_eq!(whole, "10000000000000000012345");
    assert!(
        fraction.starts_with("9780000") && fraction.ends_with('5'),
        "{fraction}"
    );
    assert_eq!((fraction.len(), fraction.find('1')), (324, Some(299)));
    for value in [0.1, 0.3, 1e-9, 5e-324, f64::MAX, 0.1 + 0.2] {
        assert_eq!(Decimal::from_f64(value).nearest(), value);
        assert!(Decimal::from_f64(value).rounded_down() <= value);
    }
    let left = Decimal::from_f64(1.0).without(&Decimal::from_f64(0.7));
    assert_eq!((left.rounded_down(), left.nearest()), (0.3, 0.3));
    assert_eq!(
        Decimal::from_f64(0.7).without(&Decimal::from_f64(1.0)),
        Decimal::default()
    );
}

/// Sums that `f64` holds are exact, all others are above the exact one; parts add up to the
/// whole.
#[test]
fn sums_and_parts_are_exact_or_above() {
    let mut draw = stream(1, Purpose::OutlierData, 0, 0);
    let mut inexact = 0;
    for _ in 0..20_000 {
        let (a, b): (f64, f64) = (draw.random(), draw.random::<f64>() * 1e-3);
        let sum = sum_rounded_up(a, b);
        let exact = |value: f64| {
            let ratio = Ratio::from_f64(value);
            ratio.numerator * (BigUint::from(1_u32) << 1074_u32) / ratio.denominator
        };
        let true_sum = exact(a) + exact(b);
        assert!(
            exact(sum) >= true_sum && exact(sum.next_down()) < true_sum,
            "{a} {b}"
        );
        inexact += u32::from(exact(sum) > true_sum);
        let (part, rest) = split(a, b * 1e3);
        assert_eq!(exact(part) + exact(rest), exact(a), "{a} {b}");
        assert!((part - a * b * 1e3).abs() <= 1e-15 * a);
    }
    assert!(inexact > 1000);
}

/// A query of what is left is admitted, and a larger one is not, whatever was spent.
#[test]
fn what_is_left_can_be_spent() {
    let mut draw = stream(2, Purpose::OutlierData, 0, 0);
    for case in 0..500 {
        let budget = Budget {
            epsilon: f64::from(draw.random_range(1..50_u32)) / 10.0,
            delta: 0.01,
            slack: [0.0, 0.001][case % 2],
        };
        let spent: Spent = (0..draw.random_range(0..20))
            .map(|_| Cost::approximate(draw.random::<f64>() * 0.4, draw.random::<f64>() * 1e-4))
            .collect();
        if !budget.admits(&spent) {
            continue;
        }
        let left = budget.remaining(&spent);
        let whole = spent.and(Cost::approximate(left.epsilon, left.delta));
        assert!(budget.admits(&whole), "{budget:?} {left:?}");
        for more in [
            Cost::approximate(left.epsilon * (1.0 + 1e-11) + 1e-13, 0.0),
            Cost::approximate(0.0, left.delta * (1.0 + 1e-11) + 1e-13),
        ] {
            assert!(!budget.admits(&spent.and(more)), "{budget:?} {left:?}");
        }
    }
}

#[test]
fn decimal_fractions_fill_a_budget_exactly() {
    let sequential = Budget {
        slack: 0.0,
        delta: 0.0,
        ..BUDGET
    };
    assert_eq!(how_many(sequential, Cost::approximate(0.1, 0.0)), 10);
    assert_eq!(how_many(sequential, Cost::approximate(1.0, 0.0)), 1);
    assert_eq!(how_many(sequential, Cost::approximate(1.000_001, 0.0)), 0);
    assert_eq!(how_many(sequential, Cost::approximate(0.1, 1e-9)), 0);
}

#[test]
fn many_small_queries_compose_better_than_their_sum() {
    let sum = how_many(
        Budget {
            slack: 0.0,
            ..BUDGET
        },
        Cost::approximate(0.001, 0.0),
    );
    let zcdp = how_many(BUDGET, Cost::approximate(0.001, 0.0));
    assert_eq!(sum, 1000);
    // ρ of the budget is 0.01750; each query takes 5e-7.
    assert!((30_000..40_000).contains(&zcdp), "{zcdp}");
    // A few large ones do not.
    assert_eq!(how_many(BUDGET, Cost::approximate(0.5, 0.0)), 2);
    // The exponential mechanism is four times cheaper in ρ.
    let picks = how_many(BUDGET, Cost::exponential(0.001, 1));
    assert!((4 * zcdp..4 * zcdp + 8).contains(&picks));
}

#[test]
fn delta_is_spent_beside_the_slack() {
    assert_eq!(how_many(BUDGET, Cost::approximate(0.01, 3e-6)), 3);
    let left = BUDGET.remaining(&once(Cost::approximate(0.4, 3e-6)));
    assert_eq!((left.epsilon, left.delta), (0.6, 6e-6));
    let none = BUDGET.remaining(&once(Cost::approximate(5.0, 1e-4)));
    assert_eq!((none.epsilon, none.delta), (0.0, 0.0));
    assert!(
        Budget {
            slack: 1e-4,
            ..BUDGET
        }
        .check()
        .is_err()
    );
    assert!(
        Budget {
            epsilon: -1.0,
            ..BUDGET
        }
        .check()
        .is_err()
    );
}

/// The exact δ of n times randomised response, the worst ε-DP mechanism, at the ε that the
/// composition states is at most the slack.
#[test]
fn the_stated_epsilon_holds_for_randomised_response() {
    for (epsilon, times, slack) in [
        (0.05_f64, 200_usize, 1e-6),
        (0.2, 40, 1e-3),
        (0.5, 10, 0.01),
    ] {
        let budget = Budget {
            epsilon: 1.0,
            delta: 0.5,
            slack,
        };
        let one = Cost::approximate(epsilon, 0.0);
        let spent: Spent = (0..times).map(|_| one).collect();
        let stated = budget.spent_epsilon(&spent);
        let p = epsilon.exp() / (1.0 + epsilon.exp());
        // Losses are (2 j − n) ε with binomial weights.
        let mut delta = 0.0;
        let mut weight = (1.0 - p).powi(times as i32);
        for j in 0..=times {
            let loss = (2.0 * j as f64 - times as f64) * epsilon;
            delta += weight * (1.0 - (stated - loss).exp()).max(0.0);
            weight *= (times - j) as f64 / (j + 1) as f64 * p / (1.0 - p);
        }
        assert!(
            stated <= spent.total().epsilon && delta <= slack,
            "{epsilon}: {delta} at {stated}"
        );
    }
}
