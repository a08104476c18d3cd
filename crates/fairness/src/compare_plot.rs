//! Found individuals against search time and against model calls (ADF, Fig. 7, over more axes).

use super::compare::StrategyFigures;
use super::trial::{CurvePoint, TrialFigures};
use probity_report::line_plot::{Curve, LinePlot, Mark, Spacing};

/// One for each strategy there is; they differ in lightness as well.
const COLORS: [&str; 9] = [
    "#1b7837", "#762a83", "#e08214", "#2166ac", "#b2182b", "#4d4d4d", "#5aae61", "#d6604d",
    "#92c5de",
];
/// Points of a line at most.
const POINTS: usize = 24;

/// Distinct individuals found against seconds, mean over repeats, as SVG.
pub fn found_by_time(strategies: &[StrategyFigures]) -> String {
    plot(strategies, "search seconds", |point| point.seconds)
}

/// Distinct individuals found against rows and gradients asked for, mean over repeats, as SVG.
pub fn found_by_calls(strategies: &[StrategyFigures]) -> String {
    plot(strategies, "model calls (rows and gradients)", |point| {
        point.model_calls as f64
    })
}

fn plot(
    strategies: &[StrategyFigures],
    x_label: &str,
    x_of: impl Fn(&CurvePoint) -> f64,
) -> String {
    let curves = strategies
        .iter()
        .enumerate()
        .map(|(number, figures)| Curve {
            name: figures.strategy.name().to_owned(),
            color: COLORS[number % COLORS.len()].to_owned(),
            mark: Mark::Line,
            points: mean_curve(&figures.runs, &x_of),
        })
        .collect();
    LinePlot {
        title: "Distinct discriminatory individuals".to_owned(),
        x_label: x_label.to_owned(),
        y_label: "found".to_owned(),
        x_spacing: Spacing::Logarithmic,
        y_spacing: Spacing::Logarithmic,
        curves,
    }
    .to_svg()
}

/// The mean over runs of what each had found at evenly spaced places of a logarithmic axis, as far
/// as the shortest run goes.
fn mean_curve(runs: &[TrialFigures], x_of: &impl Fn(&CurvePoint) -> f64) -> Vec<(f64, f64)> {
    let first = runs.iter().filter_map(|run| run.curve.first()).map(x_of);
    let last = runs.iter().filter_map(|run| run.curve.last()).map(x_of);
    let (first, last) = (
        first.fold(0.0, f64::max),
        last.fold(f64::INFINITY, f64::min),
    );
    if first <= 0.0 || !last.is_finite() || last < first {
        return Vec::new();
    }
    (0..POINTS)
        .map(|point| {
            let share = point as f64 / (POINTS - 1) as f64;
            let at = (first * (last / first).powf(share)).min(last);
            let total: u64 = runs.iter().map(|run| found_at(run, at, x_of)).sum();
            (at, total as f64 / runs.len() as f64)
        })
        .collect()
}

/// What a run had found when it came to `at`.
fn found_at(run: &TrialFigures, at: f64, x_of: &impl Fn(&CurvePoint) -> f64) -> u64 {
    let after = run.curve.partition_point(|point| x_of(point) <= at);
    match after.checked_sub(1) {
        Some(place) => run.curve[place].found,
        None => 0,
    }
}
