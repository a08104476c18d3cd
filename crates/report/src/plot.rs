//! Plots as SVG: self-contained, readable without colour vision by their order and legend.

use svg::Document;
use svg::node::element::{Group, Line, Rectangle, Text, Title};

pub(super) const WIDTH: f64 = 720.0;
pub(super) const HEIGHT: f64 = 420.0;
pub(super) const LEFT: f64 = 64.0;
pub(super) const RIGHT: f64 = 188.0;
pub(super) const TOP: f64 = 44.0;
pub(super) const BOTTOM: f64 = 56.0;

/// One layer of a stacked plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its fill.
    pub color: String,
    /// One share for each category, from 0 to 1.
    pub values: Vec<f64>,
}

/// Shares stacked to at most 1, one bar a category.
#[derive(Debug, Clone, PartialEq)]
pub struct StackedBars {
    /// Above the plot.
    pub title: String,
    /// Below the categories.
    pub x_label: String,
    /// Beside the shares.
    pub y_label: String,
    /// The names of the bars.
    pub categories: Vec<String>,
    /// The layers, lowest first.
    pub series: Vec<Series>,
}

impl StackedBars {
    /// The plot as an SVG document.
    pub fn to_svg(&self) -> String {
        let (plot_width, plot_height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        let y = |share: f64| TOP + plot_height * (1.0 - share.clamp(0.0, 1.0));
        let mut document = Document::new()
            .set("viewBox", (0, 0, WIDTH, HEIGHT))
            .set("font-family", "sans-serif")
            .set("font-size", 12)
            .add(rectangle(0.0, 0.0, WIDTH, HEIGHT, "white"))
            .add(text(&self.title, WIDTH / 2.0, 24.0, "middle").set("font-size", 15));
        for tick in 0..=5 {
            let share = f64::from(tick) / 5.0;
            document = document
                .add(
                    Line::new()
                        .set("x1", LEFT)
                        .set("x2", WIDTH - RIGHT)
                        .set("y1", y(share))
                        .set("y2", y(share))
                        .set("stroke", "#dddddd"),
                )
                .add(text(
                    &format!("{} %", tick * 20),
                    LEFT - 8.0,
                    y(share) + 4.0,
                    "end",
                ));
        }
        let slot = plot_width / self.categories.len().max(1) as f64;
        for (at, category) in self.categories.iter().enumerate() {
            let left = LEFT + slot * (at as f64 + 0.15);
            let mut below = 0.0;
            for series in &self.series {
                let share = series.values.get(at).copied().unwrap_or(0.0);
                if share <= 0.0 {
                    continue;
                }
                let height = y(below) - y(below + share);
                let bar = rectangle(left, y(below + share), slot * 0.7, height, &series.color);
                let hint = format!("{category}: {} {:.1} %", series.name, 100.0 * share);
                document = document.add(Group::new().add(Title::new(hint)).add(bar));
                below += share;
            }
            let centre = left + slot * 0.35;
            document = document.add(text(category, centre, HEIGHT - BOTTOM + 18.0, "middle"));
        }
        for (at, series) in self.series.iter().rev().enumerate() {
            let top = TOP + 22.0 * at as f64;
            let left = WIDTH - RIGHT + 16.0;
            document = document
                .add(rectangle(left, top, 12.0, 12.0, &series.color).set("stroke", "#666666"))
                .add(text(&series.name, left + 18.0, top + 10.0, "start"));
        }
        let middle = TOP + plot_height / 2.0;
        document
            .add(text(
                &self.x_label,
                LEFT + plot_width / 2.0,
                HEIGHT - 14.0,
                "middle",
            ))
            .add(
                text(&self.y_label, 16.0, middle, "middle")
                    .set("transform", format!("rotate(-90 16 {middle})")),
            )
            .to_string()
    }
}

pub(super) fn rectangle(x: f64, y: f64, width: f64, height: f64, fill: &str) -> Rectangle {
    Rectangle::new()
        .set("x", x)
        .set("y", y)
        .set("width", width)
        .set("height", height)
        .set("fill", fill)
}

pub(super) fn text(content: &str, x: f64, y: f64, anchor: &str) -> Text {
    Text::new(content)
        .set("x", x)
        .set("y", y)
        .set("text-anchor", anchor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_positive_share_is_drawn_and_text_is_escaped() {
        let series = |name: &str, values: &[f64]| Series {
            name: name.to_owned(),
            color: "red".to_owned(),
            values: values.to_vec(),
        };
        let bars = StackedBars {
            title: "a < b".to_owned(),
            x_label: "n".to_owned(),
            y_label: "share".to_owned(),
            categories: vec!["1".to_owned(), "2".to_owned()],
            series: vec![series("one", &[1.0, 0.25]), series("two", &[0.0, 0.75])],
        };
        let svg = bars.to_svg();
        assert_eq!(svg.matches("<title>").count(), 3);
        assert!(svg.contains("a &lt; b") && svg.starts_with("<svg"));
    }
}
