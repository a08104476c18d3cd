//! The table and the plot of the deletion benchmark.

use crate::cli::render::{percent, table};
use probity::report::line_plot::{COLORS, Curve, LinePlot, Mark, Spacing};
use probity::unlearning::kmeans::benchmark::{BenchmarkOptions, Replicate, Spread};
use probity::unlearning::kmeans::comparison::Comparison;

/// Mean ± standard deviation with so many decimals.
fn spread(spread: Option<Spread>, decimals: usize) -> String {
    spread.map_or_else(
        || "-".to_owned(),
        |spread| format!("{:.decimals$} ± {:.decimals$}", spread.mean, spread.sd),
    )
}

/// All figures of one data set.
pub(super) fn figures(measured: &Comparison, options: &BenchmarkOptions) -> String {
    let baselines = measured.baseline_figures(options.deletions);
    let mut rows = vec![vec![
        "k-means, trained anew".to_owned(),
        spread(baselines.seconds, 4),
        "1".to_owned(),
        "-".to_owned(),
        "-".to_owned(),
        spread(baselines.loss_ratio, 3),
        spread(baselines.silhouette, 3),
        spread(baselines.nmi, 3),
    ]];
    rows.extend(measured.algorithms.iter().map(|figures| {
        vec![
            figures.algorithm.clone(),
            spread(figures.seconds, 4),
            spread(figures.speedup, 1),
            spread(figures.speedup_against_itself, 1),
            figures
                .free_share
                .map_or_else(|| "-".to_owned(), |share| percent(share.mean)),
            spread(figures.loss_ratio, 3),
            spread(figures.silhouette, 3),
            spread(figures.nmi, 3),
        ]
    }));
    let mut text = table(
        &[
            "algorithm",
            "seconds",
            "speed-up",
            "against itself",
            "free",
            "loss ratio",
            "silhouette",
            "NMI",
        ],
        &rows,
    );
    text.push_str(&format!(
        "seconds: one training and {} deletions; k-means: as many trainings, {} of them timed. Mean ± standard deviation of {}.\n",
        options.deletions,
        options.retrainings,
        measured.baselines.len()
    ));
    text.push_str(if measured.algorithms.iter().all(|figures| figures.exact) {
        "After the deletions every model equalled a retraining, byte for byte.\n"
    } else {
        "NOT EXACT: a model differed from a retraining after its deletions; please report this.\n"
    });
    if !measured.finished {
        text.push_str("Interrupted: this is what was measured by then.\n");
    }
    text
}

/// Seconds of training and deletions against the number of deletions, as in Figure 1 of the paper.
pub(super) fn plot(measured: &Comparison, deletions: usize) -> LinePlot {
    let curve = |name: &str, color: &str, points| Curve {
        name: name.to_owned(),
        color: color.to_owned(),
        mark: Mark::Line,
        points,
    };
    let mut curves = Vec::new();
    if let Some(seconds) = measured.baseline_figures(deletions).seconds {
        let each = seconds.mean / deletions.max(1) as f64;
        let points = vec![(1.0, each), (deletions as f64, seconds.mean)];
        curves.push(curve("k-means", "#4d4d4d", points));
    }
    for (figures, color) in measured.algorithms.iter().zip(COLORS.iter().cycle()) {
        let short = figures.algorithm.split(',').next().unwrap_or_default();
        curves.push(curve(short, color, mean_curve(&figures.replicates)));
    }
    LinePlot {
        title: "One training and the deletions after it".to_owned(),
        x_label: "deletions".to_owned(),
        y_label: "seconds".to_owned(),
        x_spacing: Spacing::Logarithmic,
        y_spacing: Spacing::Logarithmic,
        curves,
    }
}

fn mean_curve(replicates: &[Replicate]) -> Vec<(f64, f64)> {
    let Some(first) = replicates.first() else {
        return Vec::new();
    };
    (0..first.curve.len())
        .map(|at| {
            let sum: f64 = replicates
                .iter()
                .map(|replicate| replicate.curve[at].1)
                .sum();
            (first.curve[at].0 as f64, sum / replicates.len() as f64)
        })
        .collect()
}
