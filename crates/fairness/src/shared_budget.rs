//! Compares strategies by what they found for the same number of model calls.
//!
//! A budget stops searches at different numbers of calls, and rates over different lengths do not
//! compare: what a search finds for its calls falls as it goes on. So two strategies are held
//! against each other at the calls that every search of both reached. What a search had found by
//! then is read off its curve, between two points of it on the straight line. One strategy found
//! *more* only if its 95 % interval lies above the other's; intervals that overlap, or that a
//! single search has none of, tell nothing.
//!
//! More finds are worth more only if they are not more of the same: at a number of finds that every
//! search of both reached, the cells that so many lie in are held against each other alike
//! ([`super::finds`]).

use serde::Serialize;

use super::finds::CellsOf;
use super::strategies::StrategyName;
use super::trial::CurvePoint;
use crate::statistics::Mean;

/// The curves by which searches are compared.
#[derive(Debug, Clone, Copy)]
pub struct SearchCurves<'a> {
    /// The number of finds after a number of calls.
    pub curve: &'a [CurvePoint],
    /// The number of cells that a number of finds lie in.
    pub cells_of: &'a [CellsOf],
}

/// A strategy, and the curves of its searches.
pub type Searches<'a> = (StrategyName, Vec<SearchCurves<'a>>);

/// Two strategies at the calls that both reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The names of the two strategies.
    pub strategies: [StrategyName; 2],
    /// Model calls that every search of both reached.
    pub model_calls: u64,
    /// Distinct individuals found by then.
    pub found: [Mean; 2],
    /// The strategy that found more, by more than chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<StrategyName>,
    /// The comparison at a number of finds that both reached, if they reached ten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_finds: Option<SameFinds>,
}

/// The numbers of places that the finds of two strategies lie in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SameFinds {
    /// Number of finds drawn of those of each search.
    pub finds: u64,
    /// Number of cells that these finds are expected to lie in.
    pub cells: [Mean; 2],
    /// The strategy whose finds lie in more cells, by more than chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<StrategyName>,
}

/// The comparison of all pairs of strategies, and what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharedBudget {
    /// The strategy that found more than every other, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<StrategyName>,
    /// The strategies that no other strategy beat: none found more.
    pub unbeaten: Vec<StrategyName>,
    /// The strategies with narrower finds than `best`: as many finds of `best` lie in more cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wider: Vec<StrategyName>,
    /// Every two strategies.
    pub pairs: Vec<Pair>,
}

impl SharedBudget {
    /// Compares the curves of `searches`, by strategy; one without a search takes no part.
    pub fn compare(searches: &[Searches<'_>]) -> SharedBudget {
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
        let best = names().find(|&name| !pairs.is_empty() && beats(name) + 1 == searches.len());
        let of_best = pairs.iter().filter(|pair| {
            let both = pair.strategies.map(Some);
            best.is_some() && both.contains(&best)
        });
        let wider = of_best.filter_map(|pair| pair.same_finds.as_ref()?.more);
        SharedBudget {
            best,
            wider: wider.filter(|&name| Some(name) != best).collect(),
            unbeaten: names().filter(|&name| !is_beaten(name)).collect(),
            pairs,
        }
    }
}

fn pair(first: &Searches<'_>, second: &Searches<'_>) -> Pair {
    let both = || first.1.iter().chain(&second.1);
    let ends = both().map(|search| calls(search.curve));
    let model_calls = ends.min().unwrap_or_default();
    let found = [first, second].map(|(_, runs)| {
        let found: Vec<f64> = runs
            .iter()
            .map(|search| found_at(search.curve, model_calls))
            .collect();
        Mean::of_amounts(&found)
    });
    let last = |search: &SearchCurves<'_>| search.cells_of.last().map(|of| of.finds);
    // Nothing where one search of them has no such number.
    let finds = both().map(last).min().flatten();
    let strategies = [first.0, second.0];
    Pair {
        strategies,
        model_calls,
        more: more(strategies, &found),
        found,
        same_finds: finds.map(|finds| {
            let cells = [first, second].map(|(_, runs)| {
                let cells = runs.iter().flat_map(|search| search.cells_of);
                let cells = cells.filter(|of| of.finds == finds).map(|of| of.cells);
                Mean::of_amounts(&cells.collect::<Vec<f64>>())
            });
            SameFinds {
                finds,
                more: more(strategies, &cells),
                cells,
            }
        }),
    }
}

/// The strategy of the two whose interval lies above the other's.
fn more(strategies: [StrategyName; 2], means: &[Mean; 2]) -> Option<StrategyName> {
    let is_more = |a: &Mean, b: &Mean| match (a.ci95, b.ci95) {
        (Some([low, _]), Some([_, high])) => low > high,
        _ => false,
    };
    let [a, b] = means;
    match (is_more(a, b), is_more(b, a)) {
        (true, _) => Some(strategies[0]),
        (_, true) => Some(strategies[1]),
        _ => None,
    }
}

/// The number of calls at the end of `curve`.
fn calls(curve: &[CurvePoint]) -> u64 {
    curve.last().map_or(0, |point| point.model_calls)
}

/// The number of finds of `curve` after `calls`, on the straight line between its points, which
/// begins at nothing.
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
            diversity: None,
        };
        points.iter().map(point).collect()
    }

    fn build_searches(name: StrategyName, curves: &[Vec<CurvePoint>]) -> Searches<'_> {
        let curves = curves.iter().map(|curve| SearchCurves {
            curve,
            cells_of: &[],
        });
        (name, curves.collect())
    }

    /// The strategy that found more may have found more of the same: the other lies in more cells
    /// at the largest number of finds that all searches of both have.
    #[test]
    fn cells_are_compared_at_the_same_number_of_finds() {
        let steep = [300, 310, 320].map(|found| search(&[(100, found)]));
        let flat = [30, 31, 32].map(|found| search(&[(100, found)]));
        let cells = |finds: &[(u64, f64)]| -> Vec<CellsOf> {
            let of = |&(finds, cells)| CellsOf { finds, cells };
            finds.iter().map(of).collect()
        };
        let narrow = [4.0, 4.5, 5.0].map(|of| cells(&[(10, of), (20, 6.0), (50, 7.0)]));
        let wide = [8.0, 8.5, 9.0].map(|of| cells(&[(10, of), (20, 16.0)]));
        let short = cells(&[(10, 8.2)]);
        let wide = [wide[0].clone(), short, wide[2].clone()];
        fn both<'a>(
            curves: &'a [Vec<CurvePoint>],
            cells: &'a [Vec<CellsOf>],
        ) -> Vec<SearchCurves<'a>> {
            let both = curves.iter().zip(cells);
            both.map(|(curve, cells_of)| SearchCurves { curve, cells_of })
                .collect()
        }
        let searches = [
            (StrategyName::Adf, both(&steep, &narrow)),
            (StrategyName::Sg, both(&flat, &wide)),
        ];
        let shared = SharedBudget::compare(&searches);
        assert_eq!(
            (shared.best, shared.wider),
            (Some(StrategyName::Adf), vec![StrategyName::Sg])
        );
        let same = shared.pairs[0].same_finds.clone().unwrap();
        assert_eq!((same.finds, same.more), (10, Some(StrategyName::Sg)));
        assert!((same.cells[0].mean - 4.5).abs() < 1e-12);
        assert!((same.cells[1].mean - 25.2 / 3.0).abs() < 1e-12);
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
        let shared = SharedBudget::compare(&[
            build_searches(StrategyName::Adf, &a),
            build_searches(StrategyName::Sg, &b),
        ]);
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
            build_searches(StrategyName::Adf, &a),
            build_searches(StrategyName::Eidig, &b),
            build_searches(StrategyName::Themis, &c),
        ];
        let shared = SharedBudget::compare(&searches);
        assert_eq!(shared.pairs[0].more, None);
        assert_eq!(shared.best, None);
        assert_eq!(shared.unbeaten, [StrategyName::Adf, StrategyName::Eidig]);
        let [low, _] = shared.pairs[1].found[1].ci95.unwrap();
        assert!(low >= 0.0, "finds are not negative: {low}");
        // One search each has no interval, however far they are apart.
        let alone = SharedBudget::compare(&[
            build_searches(StrategyName::Adf, &a[..1]),
            build_searches(StrategyName::Themis, &c[..1]),
        ]);
        assert_eq!((alone.best, alone.unbeaten.len()), (None, 2));
        // A strategy alone has beaten nobody.
        assert_eq!(SharedBudget::compare(&searches[..1]).best, None);
        let nothing = SharedBudget::compare(&[build_searches(StrategyName::Adf, &[])]);
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
