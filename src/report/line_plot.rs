//! Curves over a common axis as SVG, some of them as points only.

use svg::Document;
use svg::node::element::{Circle, Group, Line, Polyline, Title};

use super::plot::{BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, rectangle, text};

/// Colours that differ in lightness as well.
pub const COLORS: [&str; 6] = [
    "#1b7837", "#762a83", "#e08214", "#2166ac", "#b2182b", "#4d4d4d",
];

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A line through its points.
    Line,
    /// A dashed line.
    Dashed,
    /// Points only.
    Points,
}

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub color: String,
    /// How it is drawn.
    pub mark: Mark,
    /// Its points, from left to right; a logarithmic axis leaves out what is not above zero.
    pub points: Vec<(f64, f64)>,
}

/// Curves over one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct LinePlot {
    /// Above the plot.
    pub title: String,
    /// Below the axis.
    pub x_label: String,
    /// Beside the values.
    pub y_label: String,
    /// Whether values are spaced by their logarithm.
    pub logarithmic: bool,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// Where values are on paper.
struct Scale {
    x: (f64, f64),
    y: (f64, f64),
    logarithmic: bool,
}

impl Scale {
    fn of(plot: &LinePlot) -> Scale {
        let drawn = || {
            let points = plot.curves.iter().flat_map(|curve| &curve.points);
            points.filter(|point| !plot.logarithmic || point.1 > 0.0)
        };
        let span = |value: fn(&(f64, f64)) -> f64| {
            drawn()
                .map(value)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                })
        };
        let (x, y) = (span(|point| point.0), span(|point| point.1));
        let x = if x.0 < x.1 { x } else { (x.0 - 1.0, x.0 + 1.0) };
        let y = match plot.logarithmic {
            true => (
                10_f64.powf(y.0.log10().floor()),
                10_f64.powf(y.1.log10().ceil()),
            ),
            false => (0.0_f64.min(y.0), if y.1 > 0.0 { y.1 } else { 1.0 }),
        };
        Scale {
            x,
            y,
            logarithmic: plot.logarithmic,
        }
    }

    fn left(&self, x: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (x - self.x.0) / (self.x.1 - self.x.0)
    }

    fn top(&self, y: f64) -> f64 {
        let share = match self.logarithmic {
            true => (y / self.y.0).ln() / (self.y.1 / self.y.0).ln(),
            false => (y - self.y.0) / (self.y.1 - self.y.0),
        };
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let decades = (self.y.1 / self.y.0).log10().round() as i32;
            return (0..=decades)
                .map(|decade| self.y.0 * 10_f64.powi(decade))
                .collect();
        }
        (0..=5)
            .map(|tick| self.y.0 + (self.y.1 - self.y.0) * f64::from(tick) / 5.0)
            .collect()
    }
}

impl LinePlot {
    /// The plot as an SVG document.
    pub fn to_svg(&self) -> String {
        let mut document = Document::new()
            .set("viewBox", (0, 0, WIDTH, HEIGHT))
            .set("font-family", "sans-serif")
            .set("font-size", 12)
            .add(rectangle(0.0, 0.0, WIDTH, HEIGHT, "white"))
            .add(text(&self.title, WIDTH / 2.0, 24.0, "middle").set("font-size", 15));
        if self.curves.iter().all(|curve| curve.points.is_empty()) {
            return document.to_string();
        }
        let scale = Scale::of(self);
        for tick in scale.ticks() {
            let top = scale.top(tick);
            let line = Line::new()
                .set("x1", LEFT)
                .set("x2", WIDTH - RIGHT)
                .set("y1", top)
                .set("y2", top)
                .set("stroke", "#dddddd");
            document = document
                .add(line)
                .add(text(&short(tick), LEFT - 8.0, top + 4.0, "end"));
        }
        let mut places: Vec<f64> = self
            .curves
            .iter()
            .flat_map(|c| &c.points)
            .map(|p| p.0)
            .collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        for place in places {
            let at = scale.left(place);
            document = document.add(text(&short(place), at, HEIGHT - BOTTOM + 18.0, "middle"));
        }
        for (at, curve) in self.curves.iter().enumerate() {
            document = document.add(drawn(curve, &scale));
            let top = TOP + 22.0 * at as f64;
            let left = WIDTH - RIGHT + 16.0;
            document = document
                .add(rectangle(left, top, 12.0, 12.0, &curve.color))
                .add(text(&curve.name, left + 18.0, top + 10.0, "start"));
        }
        let middle = TOP + (HEIGHT - TOP - BOTTOM) / 2.0;
        let turned = format!("rotate(-90 16 {middle})");
        document
            .add(text(
                &self.x_label,
                LEFT + (WIDTH - LEFT - RIGHT) / 2.0,
                HEIGHT - 14.0,
                "middle",
            ))
            .add(text(&self.y_label, 16.0, middle, "middle").set("transform", turned))
            .to_string()
    }
}

fn drawn(curve: &Curve, scale: &Scale) -> Group {
    let points = || {
        let points = curve
            .points
            .iter()
            .filter(|point| !scale.logarithmic || point.1 > 0.0);
        points.map(|&(x, y)| (x, y, scale.left(x), scale.top(y)))
    };
    let mut group = Group::new();
    if curve.mark != Mark::Points {
        let path: Vec<String> = points()
            .map(|(_, _, left, top)| format!("{left:.2},{top:.2}"))
            .collect();
        let mut line = Polyline::new()
            .set("points", path.join(" "))
            .set("fill", "none")
            .set("stroke", curve.color.as_str())
            .set("stroke-width", 2);
        if curve.mark == Mark::Dashed {
            line = line.set("stroke-dasharray", "6 4");
        }
        group = group.add(line);
    }
    let radius = if curve.mark == Mark::Points { 5.0 } else { 2.5 };
    for (x, y, left, top) in points() {
        let hint = Title::new(format!("{}: {} at {}", curve.name, short(y), short(x)));
        let mark = Circle::new()
            .set("cx", left)
            .set("cy", top)
            .set("r", radius)
            .set("fill", curve.color.as_str());
        group = group.add(Group::new().add(hint).add(mark));
    }
    group
}

/// A number with at most four significant digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_drawn_and_text_is_escaped() {
        let curve = |name: &str, mark, points: &[(f64, f64)]| Curve {
            name: name.to_owned(),
            color: COLORS[0].to_owned(),
            mark,
            points: points.to_vec(),
        };
        let plot = LinePlot {
            title: "a < b".to_owned(),
            x_label: "epsilon".to_owned(),
            y_label: "noise".to_owned(),
            logarithmic: true,
            curves: vec![
                curve("one", Mark::Line, &[(0.1, 30.0), (0.2, 3.0), (0.3, 0.0)]),
                curve("two", Mark::Points, &[(0.2, 7.0)]),
            ],
        };
        let svg = plot.to_svg();
        assert!(svg.contains("a &lt; b") && svg.starts_with("<svg"));
        // Zero has no place on a logarithmic axis.
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let flat = LinePlot {
            logarithmic: false,
            curves: vec![curve("zero", Mark::Dashed, &[(1.0, 0.0)])],
            ..plot.clone()
        };
        assert!(!flat.to_svg().contains("NaN"));
        let empty = LinePlot {
            curves: Vec::new(),
            ..plot
        };
        assert!(empty.to_svg().starts_with("<svg"));
    }
}
