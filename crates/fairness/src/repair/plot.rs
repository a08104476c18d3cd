//! The plot of a sweep: accuracy on the held-out inputs against the discriminatory figure.

use super::change::Figures;
use super::summary::{NetworkFigures, RepairSummary};
use probity_nn::modality::ModalityName;
use probity_report::line_plot::COLORS;
use probity_report::scatter::{Point, PointSeries, ScatterPlot};

/// The plot of `summary` as an SVG document: every network, the mean of each share, the model before.
pub(super) fn trade_off<F: Figures, D>(summary: &RepairSummary<F, D>) -> String {
    let place = |figures: &F, label: String| Point {
        x: 100.0 * figures.accuracy(),
        y: 100.0 * figures.discriminatory(),
        label,
    };
    let points = |networks: &[NetworkFigures<F>]| -> Vec<Point> {
        let figures = networks.iter().map(|network| &network.figures);
        figures
            .map(|figures| place(figures, String::new()))
            .collect()
    };
    let mean = |points: &[Point], label: String| {
        let of = |value: fn(&Point) -> f64| {
            points.iter().map(value).sum::<f64>() / points.len().max(1) as f64
        };
        Point {
            x: of(|point| point.x),
            y: of(|point| point.y),
            label,
        }
    };
    let series = |name: &str, color: usize, radius: f64, points: Vec<Point>| PointSeries {
        name: name.to_owned(),
        color: COLORS[color].to_owned(),
        radius,
        joined: false,
        points,
    };
    let networks: Vec<Vec<Point>> = summary
        .points
        .iter()
        .map(|point| points(&point.networks))
        .collect();
    let shares = summary.points.iter().map(|point| point.share);
    let means = networks
        .iter()
        .zip(shares)
        .map(|(points, share)| mean(points, format!("{share}")))
        .collect();
    let (inputs, discriminatory) = match summary.modality {
        ModalityName::Table => ("rows", "discriminatory random inputs, %"),
        ModalityName::Text => ("texts", "of the independent set, discriminatory, %"),
    };
    let measures = summary.before.measures().into_iter();
    let protected = measures
        .filter(|measure| measure.figure == "discriminatory")
        .last()
        .map(|joint| joint.protected.join(" × "));
    ScatterPlot {
        title: format!(
            "Repair: accuracy and discrimination by {}",
            protected.unwrap_or_default()
        ),
        x_label: format!("accuracy on held-out {inputs}, %"),
        y_label: discriminatory.to_owned(),
        series: vec![
            series("a network", 3, 2.5, networks.concat()),
            series("retrained without", 5, 2.5, points(&summary.control)),
            PointSeries {
                joined: true,
                ..series("mean of a share", 3, 5.0, means)
            },
            series(
                "before",
                4,
                5.0,
                vec![place(&summary.before, "before".to_owned())],
            ),
            series(
                "kept",
                0,
                5.0,
                vec![place(&summary.chosen.figures, "kept".to_owned())],
            ),
        ],
    }
    .to_svg()
}
