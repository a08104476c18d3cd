//! What strategies found for the same number of model calls.
//!
//! A budget stops searches at different numbers of calls, and rates over different lengths do not
//! compare: what a search finds for its calls falls as it goes on. So two strategies are held
//! against each other at the calls that every search of both reached. What a search had found by
//! then is read off its curve, between two points of it on the straight line. One strategy found
//! *more* only if its 95 % interval lies above the other's; intervals that overlap, or that a
//! single search has none of, tell nothing.

use serde::Serialize;

use super::strategies::StrategyName;
use super::trial::CurvePoint;
use crate::statistics::Mean;

/// A strategy, and the curves of its searches.
pub type Searches<'a> = (StrategyName, Vec<&'a [CurvePoint]>);

/// Two strategies at the calls that both reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// Both.
    pub strategies: [StrategyName; 2],
    /// Model calls that every search of both reached.
    pub model_calls: u64,
    /// Distinct individuals found by then.
    pub found: [Mean; 2],
    /// The one that found more, by more than chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<StrategyName>,
}

/// All pairs, and what follows from them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharedBudget {
    /// The strategy that found more than every other, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<StrategyName>,
    /// Those than which none found more.
    pub unbeaten: Vec<StrategyName>,
    /// Every two strategies.
    pub pairs: Vec<Pair>,
}

impl SharedBudget {
    /// The comparison of the curves of `searches`, by strategy; one without a search takes no part.
    pub fn of(searches: &[Searches<'_>]) -> SharedBudget {
        let searches: Vec<_> = searches
            .iter()
            .filter(|(_, runs)| !runs.is_empty())
            .collect();
        let mut pairs = Vec::new();
        for (place, first) in searches.iter().enumerate() {
            for second in &searches[place + 1..] {
                pairs.push(pair(first, second));
            }
        }
        let names = || searches.iter().map(|(name, _)| *name);
        let beats = |name: StrategyName| pairs.iter().filter(|p| p.more == Some(name)).count();
        let is_beaten = |name: StrategyName| {
            let of = |pair: &&Pair| pair.strategies.contains(&name);
            let mut own = pairs.iter().filter(of);
            own.any(|pair| pair.more.is_some_and(|more| more != name))
        };
        SharedBudget {
            best: names().find(|&name| !pairs.is_empty() && beats(name) + 1 == searches.len()),
            unbeaten: names().filter(|&name| !is_beaten(name)).collect(),
            pairs,
        }
    }
}

fn pair(first: &Searches<'_>, second: &Searches<'_>) -> Pair {
    let ends = first.1.iter().chain(&second.1).map(|curve| calls(curve));
    let model_calls = ends.min().unwrap_or_default();
    let found = [first, second].map(|(_, runs)| {
        let found: Vec<f64> = runs
            .iter()
            .map(|curve| found_at(curve, model_calls))
            .collect();
        Mean::of_amounts(&found)
    });
    let is_more = |a: &Mean, b: &Mean| match (a.ci95, b.ci95) {
        (Some([low, _]), Some([_, high])) => low > high,
        _ => false,
    };
    Pair {
        strategies: [first.0, second.0],
        model_calls,
        more: match &found {
            [a, b] if is_more(a, b) => Some(first.0),
            [a, b] if is_more(b, a) => Some(second.0),
            _ => None,
        },
        found,
    }
}

/// Calls at the end of `curve`.
fn calls(curve: &[CurvePoint]) -> u64 {
    curve.last().map_or(0, |point| point.model_calls)
}

/// What `curve` had found after `calls`, on the line between its points and from nothing.
fn found_at(curve: &[CurvePoint], calls: u64) -> f64 {
    let next = curve.partition_point(|point| point.model_calls <= calls);
    let place = |point: &CurvePoint| (point.model_calls as f64, point.found as f64);
    let before = next
        .checked_sub(1)
        .map_or((0.0, 0.0), |last| place(&curve[last]));
    let Some(after) = curve.get(next).map(place) else {
        return before.1;
    };
    let share = (calls as f64 - before.0) / (after.0 - before.0);
    before.1 + share * (after.1 - before.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve of calls and finds.
    fn search(points: &[(u64, u64)]) -> Vec<CurvePoint> {
        let point = |&(model_calls, found)| CurvePoint {
            seconds: 0.0,
            model_calls,
            checks: 0,
            found,
        };
        points.iter().map(point).collect()
    }

    fn of(name: StrategyName, curves: &[Vec<CurvePoint>]) -> Searches<'_> {
        (name, curves.iter().map(Vec::as_slice).collect())
    }

    /// A steep search that its budget stops early has the better rate over its own length, and the
    /// worse curve.
    #[test]
    fn a_search_that_was_stopped_early_is_held_against_the_others_at_its_end() {
        let steady = |more: u64| search(&[(100, 300 + more), (1000, 900 + more), (100_000, 1000)]);
        let stopped = |more: u64| search(&[(100, 100 + more)]);
        let (a, b) = (
            [steady(0), steady(10), steady(20)],
            [stopped(0), stopped(9), stopped(5)],
        );
        let rate = |curve: &[CurvePoint]| {
            let last = curve[curve.len() - 1];
            last.found as f64 / last.model_calls as f64
        };
        assert!(rate(&b[0]) > rate(&a[0]), "the rate says the opposite");
        let shared = SharedBudget::of(&[of(StrategyName::Adf, &a), of(StrategyName::Sg, &b)]);
        let pair = &shared.pairs[0];
        assert_eq!(pair.model_calls, 100);
        assert_eq!(pair.found[0].mean, 310.0);
        assert_eq!(pair.more, Some(StrategyName::Adf));
        assert_eq!(shared.best, Some(StrategyName::Adf));
        assert_eq!(shared.unbeaten, [StrategyName::Adf]);
    }

    #[test]
    fn intervals_that_overlap_are_no_win() {
        let three = |finds: [u64; 3]| finds.map(|found| search(&[(50, found / 2), (100, found)]));
        let (a, b, c) = (
            three([90, 110, 130]),
            three([80, 100, 125]),
            three([1, 2, 3]),
        );
        let searches = [
            of(StrategyName::Adf, &a),
            of(StrategyName::Eidig, &b),
            of(StrategyName::Themis, &c),
        ];
        let shared = SharedBudget::of(&searches);
        assert_eq!(shared.pairs[0].more, None);
        assert_eq!(shared.best, None);
        assert_eq!(shared.unbeaten, [StrategyName::Adf, StrategyName::Eidig]);
        let [low, _] = shared.pairs[1].found[1].ci95.unwrap();
        assert!(low >= 0.0, "finds are not negative: {low}");
        // One search each has no interval, however far they are apart.
        let alone = SharedBudget::of(&[
            of(StrategyName::Adf, &a[..1]),
            of(StrategyName::Themis, &c[..1]),
        ]);
        assert_eq!((alone.best, alone.unbeaten.len()), (None, 2));
        // A strategy alone has beaten nobody.
        assert_eq!(SharedBudget::of(&searches[..1]).best, None);
        let nothing = SharedBudget::of(&[of(StrategyName::Adf, &[])]);
        assert!(nothing.unbeaten.is_empty() && nothing.pairs.is_empty());
    }

    #[test]
    fn between_two_points_of_a_curve() {
        let curve = search(&[(10, 1), (110, 11)]);
        let at = [0, 5, 10, 60, 110, 500].map(|calls| found_at(&curve, calls));
        assert_eq!(at, [0.0, 0.5, 1.0, 6.0, 11.0, 11.0]);
        assert_eq!(found_at(&[], 7), 0.0);
    }
}
