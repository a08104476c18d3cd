//! The table of the deletion benchmark.

use crate::cli::render::{percent, table};
use probity::unlearning::kmeans::benchmark::BenchmarkOptions;
use probity::unlearning::kmeans::comparison::Comparison;
use probity::unlearning::spread::Spread;

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
