//! The charts of curves, verdicts and trade-offs: those that commands write into their run
//! directories, and those of the same figures that pages show.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::chart::{Chart, Layer, Mark, Plot, Series, Spacing, StackedBars};
use super::error::PageError;
use super::model::{
    CompareFindings, CurvePoint, KMeansFindings, KnnFigures, KnnSummary, ModelFigures, Replicate,
    SearchCurve, TextNetwork,
};
use super::read::KNOWN_RUNS;
use super::read::files::RunFiles;
use super::text::Text;
use probity_run::run_directory::write_atomically;

/// Name of the plot of a repair with several shares.
pub const TRADE_OFF: &str = "trade-off.svg";

/// Points of a curve of means.
const POINTS: usize = 24;

/// Draws the plots that belong to the run in `directory`, from its summary, into files there; which
/// ones.
///
/// A comparison has `found-by-time.svg`, `found-by-calls.svg` and `cells-by-calls.svg`, a repair
/// with several shares [`TRADE_OFF`], k-NN verdicts on several n `verdicts.svg`, a benchmark of
/// k-means `deletions.svg`. Other runs have none.
///
/// # Errors
/// See [`PageError`].
pub fn write(directory: &Path) -> Result<Vec<PathBuf>, PageError> {
    let files = RunFiles::open(directory, KNOWN_RUNS)?;
    let mut plots = Vec::new();
    match files.command.as_str() {
        "compare" => {
            let compare: CompareFindings = files.parse()?;
            let found_of = "Distinct discriminatory individuals, mean over the searches";
            let cells_of = match compare.texts.is_some() {
                true => "Texts that finds were made of, mean over the searches",
                false => "Cells of a grid of three parts an attribute, mean over the searches",
            };
            for (name, title, what, effort) in [
                ("found-by-time.svg", found_of, Yield::Found, Effort::Seconds),
                (
                    "found-by-calls.svg",
                    found_of,
                    Yield::Found,
                    Effort::ModelCalls,
                ),
                (
                    "cells-by-calls.svg",
                    cells_of,
                    Yield::Cells,
                    Effort::ModelCalls,
                ),
            ] {
                plots.push((name, found(&compare, what, effort).to_svg(title)));
            }
        }
        "repair" => plots.extend(trade_off(&files)?.map(|svg| (TRADE_OFF, svg))),
        "knn" => {
            let summary: KnnSummary = files.parse()?;
            if summary.sweep.len() > 1 {
                let title = "Verdicts against the poisoning threshold";
                plots.push(("verdicts.svg", verdicts(&summary.sweep).to_svg(title)));
            }
        }
        "kmeans bench" => {
            let bench: KMeansFindings = files.parse()?;
            let title = "One training and the deletions after it";
            plots.push(("deletions.svg", deletions(&bench).to_svg(title)));
        }
        _ => {}
    }
    plots
        .into_iter()
        .map(|(name, svg)| {
            let file = files.file(name);
            write_atomically(&file, svg.as_bytes())?;
            Ok(file)
        })
        .collect()
}

/// What a search costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Search time.
    Seconds,
    /// Rows and gradients asked for.
    ModelCalls,
}

impl Effort {
    fn cost(self, point: &CurvePoint) -> f64 {
        match self {
            Effort::Seconds => point.seconds,
            Effort::ModelCalls => point.model_calls as f64,
        }
    }
}

/// What a search comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Yield {
    /// Distinct individuals.
    Found,
    /// Cells of the grid that they lie in.
    Cells,
}

impl Yield {
    fn count(self, point: &CurvePoint) -> f64 {
        let cells = || point.diversity.as_ref().map_or(0, |of| of.cells);
        match self {
            Yield::Found => point.found as f64,
            Yield::Cells => cells() as f64,
        }
    }
}

/// What each strategy has come to, mean over its searches (ADF, Fig. 7, over more axes).
pub(super) fn found(compare: &CompareFindings, what: Yield, effort: Effort) -> Plot {
    let x_label = match effort {
        Effort::Seconds => "search seconds",
        Effort::ModelCalls => "model calls (rows and gradients)",
    };
    let curves = compare.strategies.iter().enumerate();
    Plot {
        x: (x_label.to_owned(), Spacing::Logarithmic),
        y: (
            match what {
                Yield::Found => "found".to_owned(),
                Yield::Cells => "cells with a find".to_owned(),
            },
            Spacing::Logarithmic,
        ),
        series: curves
            .map(|(number, figures)| {
                let name = Text::value(&figures.strategy);
                Series::curve(number, name, mean_found(&figures.runs, what, effort))
            })
            .collect(),
    }
}

/// What searches have found on average at evenly spaced places of a logarithmic axis: from where
/// each has a place there, as far as the shortest goes.
fn mean_found(runs: &[SearchCurve], what: Yield, effort: Effort) -> Vec<(f64, f64)> {
    let costs = |run: &SearchCurve| -> Vec<f64> {
        let costs = run.curve.iter().map(|point| effort.cost(point));
        costs.filter(|&cost| cost > 0.0).collect()
    };
    let costs: Vec<Vec<f64>> = runs.iter().map(costs).collect();
    let first = costs.iter().filter_map(|costs| costs.first()).copied();
    let last = costs.iter().filter_map(|costs| costs.last()).copied();
    let (first, last) = (
        first.fold(0.0, f64::max),
        last.fold(f64::INFINITY, f64::min),
    );
    if first <= 0.0 {
        return Vec::new();
    }
    // A search that had ended before another had a place keeps what it has found.
    let last = last.max(first);
    (0..POINTS)
        .map(|point| {
            let share = point as f64 / (POINTS - 1) as f64;
            let at = (first * (last / first).powf(share)).min(last);
            let found = runs.iter().map(|run| found_at(run, at, (what, effort)));
            let total: f64 = found.sum();
            (at, total / runs.len() as f64)
        })
        .collect()
}

/// What a search had found when it came to `at`: on the line between two points of its curve.
fn found_at(run: &SearchCurve, at: f64, (what, effort): (Yield, Effort)) -> f64 {
    let next = run.curve.partition_point(|point| effort.cost(point) <= at);
    let place = |point: &CurvePoint| (effort.cost(point), what.count(point));
    let before = next.checked_sub(1).map(|last| place(&run.curve[last]));
    let before = before.unwrap_or((0.0, 0.0));
    match run.curve.get(next).map(place) {
        Some(after) => before.1 + (at - before.0) / (after.0 - before.0) * (after.1 - before.1),
        None => before.1,
    }
}

/// Verdicts on all inputs for each n, in the order of Figure 5 of the paper on poisoning.
pub(super) fn verdicts(sweep: &[KnnFigures]) -> StackedBars {
    let layer = |name: &str, colour, value: fn(&KnnFigures) -> u64| Layer {
        name: name.into(),
        colour,
        counts: sweep.iter().map(value).collect(),
    };
    StackedBars {
        x_label: "n (rows that may be poisoned)".to_owned(),
        y_label: "share of test inputs".to_owned(),
        categories: sweep
            .iter()
            .map(|figures| figures.poison.to_string())
            .collect(),
        layers: vec![
            layer("certified: quick", 2, |figures| figures.certified.quick),
            layer("certified: K set", 0, |figures| figures.certified.k_set),
            layer("certified: exhaustive", 3, |figures| {
                figures.certified.exhaustive
            }),
            layer("falsified: can be changed", 1, |figures| figures.falsified),
            layer("unknown", 5, |figures| figures.unknown),
        ],
    }
}

/// Seconds of a training and the deletions after it, mean over the replicates.
pub(super) fn deletions(bench: &KMeansFindings) -> Plot {
    let trainings: Vec<f64> = bench
        .baselines
        .iter()
        .flat_map(|baseline| baseline.training_seconds.iter().copied())
        .collect();
    let mut series = Vec::new();
    if !trainings.is_empty() {
        let each = trainings.iter().sum::<f64>() / trainings.len() as f64;
        let all = bench.options.deletions as f64;
        let places = (1..=20).map(|step| (all * f64::from(step) / 20.0).round().max(1.0));
        let points = std::iter::once(1.0)
            .chain(places)
            .map(|deletions| (deletions, each * deletions));
        series.push(Series::curve(
            0,
            "k-means, trained anew each time",
            points.collect(),
        ));
    }
    let done = bench.algorithms.iter();
    for algorithm in done.filter(|algorithm| !algorithm.replicates.is_empty()) {
        let name = Text::value(&algorithm.algorithm);
        let points = mean_seconds(&algorithm.replicates);
        series.push(Series::curve(series.len(), name, points));
    }
    Plot {
        x: ("deletions".to_owned(), Spacing::Logarithmic),
        y: ("seconds".to_owned(), Spacing::Logarithmic),
        series,
    }
}

fn mean_seconds(replicates: &[Replicate]) -> Vec<(f64, f64)> {
    let length = replicates.iter().map(|replicate| replicate.curve.len());
    (0..length.min().unwrap_or(0))
        .map(|place| {
            let points = replicates.iter().map(|replicate| replicate.curve[place]);
            let seconds: f64 = points.map(|(_, seconds)| seconds).sum();
            let deletions = replicates[0].curve[place].0;
            (deletions as f64, seconds / replicates.len() as f64)
        })
        .collect()
}

/// The networks that learnt one share of the samples.
#[derive(Deserialize)]
struct Networks<N> {
    share: f64,
    networks: Vec<N>,
}

/// What is drawn of a repair, whatever it is of.
struct TradeOff<N> {
    title: String,
    axes: [&'static str; 2],
    before: N,
    control: Vec<N>,
    points: Vec<Networks<N>>,
    kept: N,
}

/// Accuracy and discrimination of all networks of a repair; none unless it has several shares.
fn trade_off(files: &RunFiles) -> Result<Option<String>, PageError> {
    #[derive(Deserialize)]
    struct OfTables {
        before: ModelFigures,
        control: Vec<ModelFigures>,
        points: Vec<Networks<ModelFigures>>,
        chosen: ModelFigures,
    }
    #[derive(Deserialize)]
    struct OfTexts {
        protected: Vec<String>,
        before: TextNetwork,
        control: Vec<TextNetwork>,
        points: Vec<Networks<TextNetwork>>,
        chosen: TextNetwork,
    }
    let title = |by: String| format!("Repair: accuracy and discrimination by {by}");
    if files.is_of_texts() {
        let repair: OfTexts = files.parse()?;
        let drawn = TradeOff {
            title: title(repair.protected.join(", ")),
            axes: ["accuracy on test texts, %", "independent set repaired, %"],
            kept: repair.chosen,
            before: repair.before,
            control: repair.control,
            points: repair.points,
        };
        Ok(drawn.to_svg(|network| (network.held_out.in_short(), network.repaired.share)))
    } else {
        let repair: OfTables = files.parse()?;
        let joint = repair.before.discrimination.last();
        let drawn = TradeOff {
            title: title(joint.map_or(String::new(), |joint| joint.protected.join(" × "))),
            axes: [
                "accuracy on held-out rows, %",
                "discriminatory random inputs, %",
            ],
            kept: repair.chosen,
            before: repair.before,
            control: repair.control,
            points: repair.points,
        };
        Ok(drawn.to_svg(|network| {
            let joint = network.discrimination.last();
            let rate = joint.map_or(0.0, |joint| joint.rate);
            (network.held_out.in_short(), rate)
        }))
    }
}

impl<N> TradeOff<N> {
    /// Every network, the mean of each share, the model before and the one that was kept, where
    /// `shares` of a network are.
    fn to_svg(&self, shares: impl Fn(&N) -> (f64, f64)) -> Option<String> {
        if self.points.len() < 2 {
            return None;
        }
        let place = |network: &N| {
            let (x, y) = shares(network);
            (100.0 * x, 100.0 * y)
        };
        let places = |networks: &[N]| networks.iter().map(place).collect::<Vec<_>>();
        let groups: Vec<Vec<(f64, f64)>> = self
            .points
            .iter()
            .map(|point| places(&point.networks))
            .collect();
        let mean = |points: &Vec<(f64, f64)>| {
            let of = |value: fn(&(f64, f64)) -> f64| {
                points.iter().map(value).sum::<f64>() / points.len() as f64
            };
            (of(|point| point.0), of(|point| point.1))
        };
        // An interrupted repair may lack the networks of a share.
        let means = groups
            .iter()
            .zip(&self.points)
            .filter(|(points, _)| !points.is_empty());
        let (means, labels) = means
            .map(|(points, point)| (mean(points), point.share.to_string()))
            .unzip();
        let single = |name: &str, colour, network: &N| {
            Series::new(name, colour, Mark::Points, vec![place(network)])
        };
        let plot = Plot {
            x: (self.axes[0].to_owned(), Spacing::Linear),
            y: (self.axes[1].to_owned(), Spacing::Linear),
            series: vec![
                Series::new("a network", 0, Mark::Dots, groups.concat()),
                Series::new("retrained without", 5, Mark::Dots, places(&self.control)),
                Series {
                    labels,
                    ..Series::new("mean of a share", 0, Mark::JoinedPoints, means)
                },
                single("before", 6, &self.before),
                single("kept", 2, &self.kept),
            ],
        };
        Some(plot.to_svg(&self.title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(points: &[(u64, u64)]) -> SearchCurve {
        let points = points.iter().map(|&(model_calls, found)| CurvePoint {
            seconds: 0.0,
            model_calls,
            found,
            diversity: None,
        });
        SearchCurve {
            curve: points.collect(),
        }
    }

    #[test]
    fn means_go_as_far_as_the_shortest_search() {
        let runs = [
            run(&[(10, 1), (100, 5), (1000, 9)]),
            run(&[(20, 2), (100, 3)]),
        ];
        let means = mean_found(&runs, Yield::Found, Effort::ModelCalls);
        assert_eq!(means.len(), POINTS);
        assert_eq!(means[0], (20.0, (1.0 + 4.0 / 9.0 + 2.0) / 2.0));
        assert_eq!(means[POINTS - 1], (100.0, 4.0));
        // What took no time has no place on a logarithmic axis.
        assert!(mean_found(&runs, Yield::Found, Effort::Seconds).is_empty());
        let apart = [run(&[(10, 1)]), run(&[(20, 2)])];
        assert_eq!(
            mean_found(&apart, Yield::Found, Effort::ModelCalls)[0],
            (20.0, 1.5)
        );
    }
}
