//! Named points over two linear axes as SVG, those of one series joined in their order if asked for.

use svg::Document;
use svg::node::element::{Circle, Group, Line, Polyline, Title};

use super::axis::Axis;
use super::plot::{BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, rectangle, text};

/// One point.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Written beside it; may be empty.
    pub label: String,
}

/// Points of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSeries {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub color: String,
    /// Radius of its points, in pixels.
    pub radius: f64,
    /// Whether a line joins them.
    pub joined: bool,
    /// The points.
    pub points: Vec<Point>,
}

/// Points over two axes that span them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterPlot {
    /// Above the plot.
    pub title: String,
    /// Below the plot.
    pub x_label: String,
    /// Beside the plot.
    pub y_label: String,
    /// The series; later ones are drawn over earlier ones.
    pub series: Vec<PointSeries>,
}

impl ScatterPlot {
    /// The plot as an SVG document.
    pub fn to_svg(&self) -> String {
        let all = || self.series.iter().flat_map(|series| &series.points);
        let x_axis = Axis::over(all().map(|point| point.x), (LEFT + 12.0, WIDTH - RIGHT));
        let y_axis = Axis::over(all().map(|point| point.y), (HEIGHT - BOTTOM, TOP));
        let mut document = Document::new()
            .set("viewBox", (0, 0, WIDTH, HEIGHT))
            .set("font-family", "sans-serif")
            .set("font-size", 12)
            .add(rectangle(0.0, 0.0, WIDTH, HEIGHT, "white"))
            .add(text(&self.title, WIDTH / 2.0, 24.0, "middle").set("font-size", 15));
        let (left, right) = x_axis.pixels;
        for (value, label) in x_axis.ticks() {
            let x = x_axis.at(value);
            document = document
                .add(grid_line((x, TOP), (x, HEIGHT - BOTTOM)))
                .add(text(&label, x, HEIGHT - BOTTOM + 18.0, "middle"));
        }
        for (value, label) in y_axis.ticks() {
            let y = y_axis.at(value);
            document = document.add(grid_line((left, y), (right, y))).add(text(
                &label,
                left - 8.0,
                y + 4.0,
                "end",
            ));
        }
        for (place, series) in self.series.iter().enumerate() {
            let top = TOP + 22.0 * place as f64;
            let mark = Circle::new()
                .set("cx", right + 22.0)
                .set("cy", top + 6.0)
                .set("r", series.radius)
                .set("fill", series.color.as_str());
            document = document
                .add(drawn(series, &x_axis, &y_axis))
                .add(mark)
                .add(text(&series.name, right + 34.0, top + 10.0, "start"));
        }
        let middle = TOP + (HEIGHT - TOP - BOTTOM) / 2.0;
        document
            .add(text(
                &self.x_label,
                (left + right) / 2.0,
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

fn grid_line(from: (f64, f64), to: (f64, f64)) -> Line {
    Line::new()
        .set("x1", from.0)
        .set("y1", from.1)
        .set("x2", to.0)
        .set("y2", to.1)
        .set("stroke", "#dddddd")
}

fn drawn(series: &PointSeries, x_axis: &Axis, y_axis: &Axis) -> Group {
    let mut group = Group::new();
    if series.joined {
        let path: Vec<String> = series
            .points
            .iter()
            .map(|point| format!("{:.1},{:.1}", x_axis.at(point.x), y_axis.at(point.y)))
            .collect();
        group = group.add(
            Polyline::new()
                .set("points", path.join(" "))
                .set("fill", "none")
                .set("stroke", series.color.as_str())
                .set("stroke-width", 1.5),
        );
    }
    for point in &series.points {
        let (x, y) = (x_axis.at(point.x), y_axis.at(point.y));
        let hint = format!(
            "{} {}: {:.3}, {:.3}",
            series.name, point.label, point.x, point.y
        );
        group = group.add(
            Circle::new()
                .set("cx", format!("{x:.1}"))
                .set("cy", format!("{y:.1}"))
                .set("r", series.radius)
                .set("fill", series.color.as_str())
                .add(Title::new(hint)),
        );
        if !point.label.is_empty() {
            group = group.add(text(
                &point.label,
                x + series.radius + 3.0,
                y - 4.0,
                "start",
            ));
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: &[(f64, f64)]) -> PointSeries {
        PointSeries {
            name: "a < b".to_owned(),
            color: "red".to_owned(),
            radius: 4.0,
            joined: true,
            points: points
                .iter()
                .map(|&(x, y)| Point {
                    x,
                    y,
                    label: format!("{x}"),
                })
                .collect(),
        }
    }

    #[test]
    fn every_point_is_drawn_once() {
        let plot = ScatterPlot {
            title: "t".to_owned(),
            x_label: "x".to_owned(),
            y_label: "y".to_owned(),
            series: vec![series(&[(1.0, 2.0), (3.0, 1.0)]), series(&[])],
        };
        let svg = plot.to_svg();
        // Two points, and a mark in the legend for each series.
        assert_eq!(svg.matches("<circle").count(), 4, "{svg}");
        assert!(svg.contains("a &lt; b") && !svg.contains("NaN"));
        let empty = ScatterPlot {
            series: Vec::new(),
            ..plot
        };
        assert!(!empty.to_svg().contains("NaN"));
    }
}
