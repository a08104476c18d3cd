//! The plot of a sweep: accuracy on the test texts against the share of the independent set that is repaired.

use super::summary::{RepairedText, TextRepairSummary};
use probity_report::line_plot::COLORS;
use probity_report::scatter::{Point, PointSeries, ScatterPlot};

/// The plot of `summary` as an SVG document: every network, the mean of each share, the model before.
pub(super) fn trade_off(summary: &TextRepairSummary) -> String {
    let place = |network: &RepairedText, label: &str| Point {
        x: 100.0 * network.accuracy,
        y: 100.0 * network.repaired.share,
        label: label.to_owned(),
    };
    let places = |networks: &[RepairedText]| -> Vec<Point> {
        networks.iter().map(|network| place(network, "")).collect()
    };
    let means = summary.points.iter().map(|point| Point {
        x: 100.0 * TextRepairSummary::mean(&point.networks, |network| network.accuracy),
        y: 100.0 * TextRepairSummary::mean(&point.networks, |network| network.repaired.share),
        label: point.share.to_string(),
    });
    let series = |name: &str, color: usize, radius: f64, points: Vec<Point>| PointSeries {
        name: name.to_owned(),
        color: COLORS[color].to_owned(),
        radius,
        joined: false,
        points,
    };
    let all = summary
        .points
        .iter()
        .flat_map(|point| places(&point.networks));
    ScatterPlot {
        title: format!(
            "Repair: accuracy and discrimination by {}",
            summary.protected.join(", ")
        ),
        x_label: "accuracy on test texts, %".to_owned(),
        y_label: "independent set repaired, %".to_owned(),
        series: vec![
            series("a network", 3, 2.5, all.collect()),
            series("retrained without", 5, 2.5, places(&summary.control)),
            PointSeries {
                joined: true,
                ..series("mean of a share", 3, 5.0, means.collect())
            },
            series("before", 4, 5.0, vec![place(&summary.before, "before")]),
            series(
                "kept",
                0,
                5.0,
                vec![place(&summary.repaired[summary.chosen], "kept")],
            ),
        ],
    }
    .to_svg()
}
