//! Line plots over two logarithmic axes, as SVG.

use svg::Document;
use svg::node::element::{Circle, Group, Line, Polyline, Rectangle, Text, Title};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 188.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct LineSeries {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub color: String,
    /// Points from left to right; those that are not above 0 in both coordinates are left out.
    pub points: Vec<(f64, f64)>,
}

/// Lines over logarithmic axes.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLogLines {
    /// Above the plot.
    pub title: String,
    /// Below the plot.
    pub x_label: String,
    /// Beside the plot.
    pub y_label: String,
    /// The lines.
    pub series: Vec<LineSeries>,
}

impl LogLogLines {
    /// The plot as an SVG document.
    pub fn to_svg(&self) -> String {
        let drawn: Vec<(&LineSeries, Vec<(f64, f64)>)> = self
            .series
            .iter()
            .map(|series| (series, logarithms(&series.points)))
            .collect();
        let all = || drawn.iter().flat_map(|(_, points)| points);
        let x_axis = Axis::over(all().map(|point| point.0), (LEFT, WIDTH - RIGHT));
        let y_axis = Axis::over(all().map(|point| point.1), (HEIGHT - BOTTOM, TOP));
        let mut document = Document::new()
            .set("viewBox", (0, 0, WIDTH, HEIGHT))
            .set("font-family", "sans-serif")
            .set("font-size", 12)
            .add(
                Rectangle::new()
                    .set("width", WIDTH)
                    .set("height", HEIGHT)
                    .set("fill", "white"),
            )
            .add(text(&self.title, WIDTH / 2.0, 24.0, "middle").set("font-size", 15));
        for decade in x_axis.decades() {
            let x = x_axis.at(f64::from(decade));
            document = document
                .add(grid_line(x, x, TOP, HEIGHT - BOTTOM))
                .add(text(&power(decade), x, HEIGHT - BOTTOM + 18.0, "middle"));
        }
        for decade in y_axis.decades() {
            let y = y_axis.at(f64::from(decade));
            document = document.add(grid_line(LEFT, WIDTH - RIGHT, y, y)).add(text(
                &power(decade),
                LEFT - 8.0,
                y + 4.0,
                "end",
            ));
        }
        for (at, (series, points)) in drawn.iter().enumerate() {
            document = document
                .add(curve(series, points, &x_axis, &y_axis))
                .add(legend(series, TOP + 22.0 * at as f64));
        }
        let middle = (TOP + HEIGHT - BOTTOM) / 2.0;
        let centre = (LEFT + WIDTH - RIGHT) / 2.0;
        document
            .add(text(&self.x_label, centre, HEIGHT - 14.0, "middle"))
            .add(
                text(&self.y_label, 16.0, middle, "middle")
                    .set("transform", format!("rotate(-90 16 {middle})")),
            )
            .to_string()
    }
}

/// A logarithmic axis from one power of ten to another.
struct Axis {
    decades: (i32, i32),
    pixels: (f64, f64),
}

impl Axis {
    fn over(logarithms: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Axis {
        let (least, most) = logarithms.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| {
            (a.min(value), b.max(value))
        });
        let (first, last) = if least <= most {
            (least, most)
        } else {
            (0.0, 1.0)
        };
        let first = first.floor() as i32;
        Axis {
            decades: (first, (last.ceil() as i32).max(first + 1)),
            pixels,
        }
    }

    fn decades(&self) -> std::ops::RangeInclusive<i32> {
        self.decades.0..=self.decades.1
    }

    fn at(&self, logarithm: f64) -> f64 {
        let (first, last) = (f64::from(self.decades.0), f64::from(self.decades.1));
        let share = (logarithm - first) / (last - first);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }
}

fn logarithms(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    points
        .iter()
        .filter(|(x, y)| *x > 0.0 && *y > 0.0)
        .map(|(x, y)| (x.log10(), y.log10()))
        .collect()
}

fn curve(series: &LineSeries, points: &[(f64, f64)], x_axis: &Axis, y_axis: &Axis) -> Group {
    let places: Vec<(f64, f64)> = points
        .iter()
        .map(|&(x, y)| (x_axis.at(x), y_axis.at(y)))
        .collect();
    let path: Vec<String> = places
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    let mut group = Group::new().add(Title::new(series.name.clone())).add(
        Polyline::new()
            .set("points", path.join(" "))
            .set("fill", "none")
            .set("stroke", series.color.as_str())
            .set("stroke-width", 2),
    );
    if let Some(&(x, y)) = places.last() {
        let end = Circle::new().set("cx", x).set("cy", y).set("r", 3);
        group = group.add(end.set("fill", series.color.as_str()));
    }
    group
}

fn legend(series: &LineSeries, top: f64) -> Group {
    let left = WIDTH - RIGHT + 16.0;
    Group::new()
        .add(
            Line::new()
                .set("x1", left)
                .set("x2", left + 14.0)
                .set("y1", top + 6.0)
                .set("y2", top + 6.0)
                .set("stroke", series.color.as_str())
                .set("stroke-width", 3),
        )
        .add(text(&series.name, left + 20.0, top + 10.0, "start"))
}

fn grid_line(x1: f64, x2: f64, y1: f64, y2: f64) -> Line {
    Line::new()
        .set("x1", x1)
        .set("x2", x2)
        .set("y1", y1)
        .set("y2", y2)
        .set("stroke", "#dddddd")
}

/// 10 to the power of `decade`, as short as it can be read.
fn power(decade: i32) -> String {
    if (-3..=4).contains(&decade) {
        format!("{}", 10_f64.powi(decade))
    } else {
        format!("1e{decade}")
    }
}

fn text(content: &str, x: f64, y: f64, anchor: &str) -> Text {
    Text::new(content)
        .set("x", x)
        .set("y", y)
        .set("text-anchor", anchor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_over_whole_decades() {
        let plot = LogLogLines {
            title: "a < b".to_owned(),
            x_label: "n".to_owned(),
            y_label: "s".to_owned(),
            series: vec![LineSeries {
                name: "one".to_owned(),
                color: "red".to_owned(),
                points: vec![(0.0, 1.0), (1.0, 0.02), (100.0, 2.0)],
            }],
        };
        let svg = plot.to_svg();
        // Axes from 1 to 100 and from 0.01 to 10; the point at 0 has no place.
        assert!(svg.contains("points=\"76.0,") && svg.matches("<polyline").count() == 1);
        let words: Vec<&str> = svg.split(['<', '>', '\n']).collect();
        for label in ["100", "0.01", "10", "one"] {
            assert!(words.contains(&label), "{label} in {svg}");
        }
        assert!(svg.contains("a &lt; b"));
        let empty = LogLogLines {
            series: Vec::new(),
            ..plot
        };
        assert!(!empty.to_svg().contains("NaN"));
    }
}
